// SPDX-License-Identifier: GPL-2.0
/* Locks that the server may have ended, and what tasks that were killed have left under locks. */
#include <linux/delay.h>
#include <linux/file.h>
#include <linux/filelock.h>
#include <linux/random.h>
#include "../../state/lock.h"
#include "../lib/foreign.h"

/* Seconds: longer than any lease */
#define LAPSE_LONG	7200

/* The lease has run out, and runs again, as if a NULL had been answered. */
static void lapse(struct vfsmount *mnt)
{
	struct dafs_client *clnt = DAFS_SB(mnt->mnt_sb)->clnt;

	WRITE_ONCE(clnt->renewed, ktime_sub(clnt->renewed, ktime_set(LAPSE_LONG, 0)));
	dafs_client_renewed(clnt, ktime_get_coarse_boottime());
}

/* The server knows the client, but it does not say that it has the lock before it is asked. */
static void dafs_foreign_lapse_read_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *file = foreign_file(test, mnt, "file", O_RDONLY);
	struct foreign_task *ft;

	KUNIT_ASSERT_EQ(test, 0, foreign_lock_all(file, F_RDLCK, 0));
	f->keeps = DAFS_PROC_LOCK;
	lapse(mnt);
	KUNIT_ASSERT_TRUE(test, foreign_has_come(f));
	ft = foreign_task(f, mnt, file, foreign_read_ten);
	msleep(500);
	KUNIT_EXPECT_FALSE(test, completion_done(&ft->ended));
	foreign_deny(f);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	KUNIT_EXPECT_EQ(test, -EIO, ft->err);
	__fput_sync(file);
}

static bool lapse_unlocked(struct inode *inode)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);

	while (dafs_locks_any(inode) && time_before(jiffies, end))
		msleep(20);
	return !dafs_locks_any(inode);
}

/*
 * What was written under a lock that is lost is refused.  It is not read from the cache later, also
 * if a work item has closed the file.
 */
static void dafs_foreign_lapse_refused_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *file = foreign_file(test, mnt, "file", O_RDWR), *again;
	u8 data[10];
	loff_t pos = 0;

	KUNIT_ASSERT_EQ(test, 0, foreign_lock_all(file, F_WRLCK, 0));
	/* all of the page is there, as far as the cache knows */
	KUNIT_EXPECT_EQ(test, 10, kernel_read(file, data, 10, &pos));
	foreign_make_dirty(test, file);
	f->keeps = DAFS_PROC_LOCK;
	lapse(mnt);
	KUNIT_ASSERT_TRUE(test, foreign_has_come(f));
	foreign_deny(f);
	KUNIT_EXPECT_EQ(test, -EIO, vfs_fsync(file, 0));
	KUNIT_EXPECT_NE(test, 0, memcmp(f->data, "0123456789", 10));
	again = foreign_file(test, mnt, "file", O_RDONLY);
	fput(file);
	KUNIT_EXPECT_TRUE(test, lapse_unlocked(file_inode(again)));
	pos = 0;
	KUNIT_EXPECT_EQ(test, 10, kernel_read(again, data, 10, &pos));
	KUNIT_EXPECT_MEMEQ(test, data, f->data, 10);
	__fput_sync(again);
}

/*
 * Two answers come in the other order than their requests were sent: what the server has promised
 * in between is promised by the same lease.
 */
static void dafs_foreign_lapse_order_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct dafs_client *clnt = DAFS_SB(foreign_mount(f)->mnt_sb)->clnt;
	ktime_t first = ktime_get_coarse_boottime(), second;

	msleep(50);
	second = ktime_get_coarse_boottime();
	WRITE_ONCE(clnt->renewed, ktime_sub(clnt->renewed, ktime_set(LAPSE_LONG, 0)));
	dafs_client_renewed(clnt, second);
	KUNIT_EXPECT_EQ(test, second, clnt->leased_since);
	KUNIT_EXPECT_FALSE(test, dafs_client_leased_since(clnt, first));
	dafs_client_renewed(clnt, first);
	KUNIT_EXPECT_TRUE(test, dafs_client_leased_since(clnt, first));
	/* but not if the answer has come after another lease time */
	dafs_client_renewed(clnt, ktime_sub(first, ktime_set(LAPSE_LONG, 0)));
	KUNIT_EXPECT_EQ(test, first, clnt->leased_since);
}

/* R-4.4.1.2-38: the lease runs from when a NULL was sent, however late the answer is. */
static void dafs_foreign_lapse_late_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct dafs_client *clnt = DAFS_SB(foreign_mount(f)->mnt_sb)->clnt;
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	ktime_t before = READ_ONCE(clnt->renewed), came;

	f->keeps = DAFS_PROC_NULL;
	WRITE_ONCE(clnt->hurry, true);
	KUNIT_ASSERT_TRUE(test, foreign_has_come(f));
	came = ktime_get_coarse_boottime();
	msleep(1000);
	foreign_release(f);
	while (ktime_compare(READ_ONCE(clnt->renewed), before) == 0 && time_before(jiffies, end))
		msleep(20);
	KUNIT_EXPECT_GT(test, clnt->renewed, before);
	KUNIT_EXPECT_LE(test, clnt->renewed, came);
}

static int lapse_append(struct foreign_task *ft)
{
	loff_t pos = 0;

	return kernel_write(ft->file, "0123456789", 10, &pos);
}

/*
 * An append that waits for the connection is not sent before the locks of the file are reclaimed,
 * by an open that the server knows again.
 */
static void dafs_foreign_lapse_append_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *locker = foreign_file(test, mnt, "file", O_RDONLY);
	struct file *file = foreign_file(test, mnt, "file", O_WRONLY | O_APPEND);
	struct foreign_task *ft, *stat;

	KUNIT_ASSERT_EQ(test, 0, foreign_lock_all(locker, F_RDLCK, 0));
	f->same = true;
	f->hangs_up = DAFS_PROC_GETATTR_INLINE;
	stat = foreign_task(f, mnt, NULL, foreign_stat_root);
	KUNIT_ASSERT_TRUE(test, foreign_has_come(f));
	KUNIT_ASSERT_TRUE(test, foreign_lost(DAFS_SB(mnt->mnt_sb)->clnt));
	ft = foreign_task(f, mnt, file, lapse_append);
	get_random_bytes(&f->srv->client_id, sizeof(f->srv->client_id));
	f->keeps = DAFS_PROC_LOCK;
	f->srv->refuse = false;
	KUNIT_ASSERT_TRUE(test, foreign_has_come(f));
	/* others go on, and it would have been sent by now */
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(stat));
	KUNIT_EXPECT_EQ(test, 0, stat->err);
	msleep(500);
	KUNIT_EXPECT_FALSE(test, completion_done(&ft->ended));
	KUNIT_EXPECT_EQ(test, FOREIGN_SIZE, f->size);
	foreign_deny(f);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	KUNIT_EXPECT_EQ(test, -EIO, ft->err);
	__fput_sync(file);
	__fput_sync(locker);
}

static int lapse_unlock(struct foreign_task *ft)
{
	return foreign_lock_all(ft->file, F_UNLCK, 0);
}

/* A new size whose task was killed may come to be: the file stays locked until then. */
static void dafs_foreign_lapse_truncate_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *file = foreign_file(test, mnt, "file", O_RDWR);
	struct foreign_task *ft;

	KUNIT_ASSERT_EQ(test, 0, foreign_lock_all(file, F_WRLCK, 0));
	f->keeps = DAFS_PROC_SETATTR_INLINE;
	ft = foreign_task(f, mnt, file, foreign_truncate);
	KUNIT_ASSERT_TRUE(test, foreign_has_come(f));
	KUNIT_EXPECT_TRUE(test, foreign_kill(ft));
	KUNIT_EXPECT_NE(test, 0, ft->err);
	ft = foreign_task(f, mnt, file, lapse_unlock);
	msleep(500);
	KUNIT_EXPECT_FALSE(test, completion_done(&ft->ended));
	KUNIT_EXPECT_EQ(test, 0, f->unlocks);
	foreign_release(f);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	KUNIT_EXPECT_EQ(test, 0, ft->err);
	KUNIT_EXPECT_EQ(test, 1, f->unlocks);
	__fput_sync(file);
}

static struct kunit_case dafs_foreign_lapse_cases[] = {
	KUNIT_CASE(dafs_foreign_lapse_read_test),
	KUNIT_CASE(dafs_foreign_lapse_refused_test),
	KUNIT_CASE(dafs_foreign_lapse_order_test),
	KUNIT_CASE_SLOW(dafs_foreign_lapse_late_test),
	KUNIT_CASE_SLOW(dafs_foreign_lapse_append_test),
	KUNIT_CASE(dafs_foreign_lapse_truncate_test),
	{}
};

static struct kunit_suite dafs_foreign_lapse_suite = {
	.name = "dafs_foreign_lapse",
	.test_cases = dafs_foreign_lapse_cases,
};

kunit_test_suite(dafs_foreign_lapse_suite);
