// SPDX-License-Identifier: GPL-2.0
/*
 * Share reservations of open files of a mount (4.4.1.2, 4.4.2): what the real server then denies
 * to another client and to other files of the mount; and how they are reclaimed from, lost and
 * given back to a server that the test plays.
 */
#include <linux/delay.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include "../../state/reserve.h"
#include "../lib/foreign.h"
#include "../lib/open_test.h"

#define DENY_RD	DAFS_OPEN_SHARE_DENY_READ
#define DENY_WR	DAFS_OPEN_SHARE_DENY_WRITE

/**
 * struct reserve - a mount of the real server, and another client of it
 * @test: the test
 * @fix: the other client, and the directory
 * @mnt: the mount
 */
struct reserve {
	struct kunit *test;
	struct dafs_fixture *fix;
	struct vfsmount *mnt;
};

static struct reserve reserve_mount(struct kunit *test)
{
	struct reserve r = { .test = test, .fix = dafs_fixture(test, NULL) };

	dafs_backing_write(test, r.fix, "file", "content", 7);
	r.mnt = foreign_mount_from(test, &r.fix->params.dst);
	return r;
}

/* O_RDONLY, O_WRONLY or O_RDWR */
static int reserve_flags(u32 access)
{
	return access - 1;
}

/* "file", opened by a program of the mount */
static struct file *reserve_open(struct reserve *r, u32 access)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/file", r->fix->name);
	return foreign_file(r->test, r->mnt, path, reserve_flags(access));
}

static int reserve_deny(struct file *file, u32 access, u32 deny)
{
	const struct dafs_reserved what = { .deny = deny };

	return dafs_reserve(file->private_data, file, access, &what);
}

static int reserve_key(struct file *file, u32 access, u64 key)
{
	const struct dafs_reserved what = { .keyed = true, .share_key = key };

	return dafs_reserve(file->private_data, file, access, &what);
}

/* Does the other client get it? */
static dafs_status_t reserve_try(struct reserve *r, const struct dafs_opener *who)
{
	struct dafs_open_res res;
	dafs_status_t status = dafs_share(r->test, r->fix, who, &res);

	if (!status)
		DAFS_EXPECT_STATUS(r->test, DAFS_STATUS_OK,
				   dafs_test_close(r->test, r->fix->clnt, &res));
	return status;
}

static dafs_status_t reserve_try_access(struct reserve *r, u32 access)
{
	const struct dafs_opener who = { "other", access };

	return reserve_try(r, &who);
}

/* R-4.4.1.2-28: what is denied to others, and no more; and for no longer than it is open. */
static void dafs_reserve_matrix_test(struct kunit *test)
{
	struct reserve r = reserve_mount(test);
	u32 access, deny, other;
	struct file *file;

	for (access = DAFS_RD; access <= DAFS_RW; access++) {
		for (deny = 0; deny <= (DENY_RD | DENY_WR); deny++) {
			file = reserve_open(&r, access);
			KUNIT_EXPECT_EQ(test, 0, reserve_deny(file, access, deny));
			for (other = DAFS_RD; other <= DAFS_RW; other++)
				DAFS_EXPECT_STATUS_MSG(test, other & deny ? DAFSERR_DENIED :
						       DAFS_STATUS_OK,
						       reserve_try_access(&r, other),
						       "access %u deny %u, then %u", access, deny,
						       other);
			__fput_sync(file);
			DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, reserve_try_access(&r, DAFS_RW));
		}
	}
}

/* Who has it open is not denied anything, and nothing is left of the attempt. */
static void dafs_reserve_busy_test(struct kunit *test)
{
	const struct dafs_opener all = { "all", DAFS_RD, DENY_WR };
	struct reserve r = reserve_mount(test);
	struct dafs_opener who = { "other" };
	struct dafs_open_res res;
	struct file *file;
	u32 deny;

	for (who.share_access = DAFS_RD; who.share_access <= DAFS_RW; who.share_access++) {
		for (deny = 0; deny <= (DENY_RD | DENY_WR); deny++) {
			res = dafs_must_share(test, r.fix, &who);
			file = reserve_open(&r, DAFS_RD);
			KUNIT_EXPECT_EQ(test, deny & who.share_access ? -EBUSY : 0,
					reserve_deny(file, DAFS_RD, deny));
			DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
					   dafs_test_close(test, r.fix->clnt, &res));
			if (deny & who.share_access)
				DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, reserve_try(&r, &all));
			__fput_sync(file);
		}
	}
}

/* Files of the mount that have one open at the server */
static void dafs_reserve_shared_test(struct kunit *test)
{
	struct reserve r = reserve_mount(test);
	struct file *one = reserve_open(&r, DAFS_RD), *two = reserve_open(&r, DAFS_RD);
	struct file *rest = reserve_open(&r, DAFS_RD), *later;

	KUNIT_EXPECT_PTR_EQ(test, one->private_data, two->private_data);
	KUNIT_EXPECT_PTR_EQ(test, one->private_data, rest->private_data);
	KUNIT_EXPECT_EQ(test, -EBUSY, reserve_deny(one, DAFS_RD, DENY_RD));
	KUNIT_EXPECT_EQ(test, 0, reserve_deny(one, DAFS_RD, DENY_WR));
	KUNIT_EXPECT_EQ(test, -EALREADY, reserve_deny(one, DAFS_RD, DENY_WR));
	KUNIT_EXPECT_EQ(test, 0, reserve_deny(two, DAFS_RD, DENY_WR));
	/* the server is to know of it */
	later = reserve_open(&r, DAFS_RD);
	KUNIT_EXPECT_PTR_NE(test, one->private_data, later->private_data);
	__fput_sync(later);
	__fput_sync(one);
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, reserve_try_access(&r, DAFS_WR));
	__fput_sync(two);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, reserve_try_access(&r, DAFS_WR));
	/* with no reservation, files join it again */
	later = reserve_open(&r, DAFS_RD);
	KUNIT_EXPECT_PTR_EQ(test, rest->private_data, later->private_data);
	__fput_sync(later);
	__fput_sync(rest);
}

/* An open that a delegation keeps may be in the way: it is returned, and the server asked again. */
static void dafs_reserve_delegated_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *file;

	f->same = true;
	f->delegates = DAFS_OPEN_DELEGATE_WRITE;
	file = foreign_file(test, mnt, "file", O_RDWR);
	f->refusal = DAFSERR_DENIED;
	f->refuses = DAFS_PROC_OPEN;
	KUNIT_EXPECT_EQ(test, -EBUSY, reserve_deny(file, DAFS_RW, DENY_WR));
	KUNIT_EXPECT_EQ(test, 2, f->refused);
	KUNIT_EXPECT_EQ(test, 1, f->returns);
	KUNIT_EXPECT_EQ(test, 0, f->deny);
	f->refuses = 0;
	f->delegates = DAFS_OPEN_DELEGATE_NONE;
	KUNIT_EXPECT_EQ(test, 0, reserve_deny(file, DAFS_RW, DENY_WR));
	__fput_sync(file);
	KUNIT_EXPECT_TRUE(test, foreign_closed(f));
}

/* R-4.4.2-01 R-4.4.2-03 R-4.4.2-04: keys, of another client and of the mount */
static void dafs_reserve_key_test(struct kunit *test)
{
	const struct dafs_opener same = { "a", DAFS_RD, 0, DAFS_OPEN_SHARE_KEY_BOTH, 7 };
	const struct dafs_opener another = { "b", DAFS_RD, 0, DAFS_OPEN_SHARE_KEY_BOTH, 8 };
	struct reserve r = reserve_mount(test);
	struct file *file = reserve_open(&r, DAFS_RD), *local = reserve_open(&r, DAFS_RD);

	KUNIT_EXPECT_EQ(test, 0, reserve_key(file, DAFS_RD, 7));
	KUNIT_EXPECT_EQ(test, -EKEYREJECTED, reserve_key(local, DAFS_RD, 8));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, reserve_try(&r, &same));
	DAFS_EXPECT_STATUS(test, DAFSERR_KEY_MISMATCH, reserve_try(&r, &another));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, reserve_try_access(&r, DAFS_RD));
	__fput_sync(file);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, reserve_try(&r, &another));
	KUNIT_EXPECT_EQ(test, 0, reserve_key(local, DAFS_RD, 8));
	DAFS_EXPECT_STATUS(test, DAFSERR_KEY_MISMATCH, reserve_try(&r, &same));
	__fput_sync(local);
}

static ssize_t reserve_read(struct file *file)
{
	loff_t pos = 0;
	char byte;

	return kernel_read(file, &byte, 1, &pos);
}

/* R-4.4.1.6-03: in a grace period nobody else has had the file. */
static void dafs_reserve_reclaimed_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct file *file = foreign_file(test, foreign_mount(f), "file", O_RDONLY);

	f->same = true;
	KUNIT_EXPECT_EQ(test, 0, reserve_deny(file, DAFS_RD, DENY_WR));
	KUNIT_EXPECT_EQ(test, DENY_WR, f->deny);
	f->forgets = 1;
	f->deny = 0;
	f->refusal = DAFSERR_GRACE;
	f->refuses = DAFS_PROC_LOCKT;
	KUNIT_EXPECT_EQ(test, 1, reserve_read(file));
	KUNIT_EXPECT_EQ(test, DENY_WR, f->deny);
	KUNIT_EXPECT_EQ(test, 3, f->opens);
	KUNIT_EXPECT_EQ(test, 1, f->refused);
	__fput_sync(file);
	/* with or without a downgrade before: the task that reclaims may still use the open */
	KUNIT_EXPECT_EQ(test, 1, f->closes);
}

/* Otherwise it may have; a file without a reservation does not mind. */
static void dafs_reserve_lost_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *file = foreign_file(test, mnt, "file", O_RDONLY);

	f->same = true;
	KUNIT_EXPECT_EQ(test, 0, reserve_deny(file, DAFS_RD, DENY_WR));
	f->forgets = 1;
	KUNIT_EXPECT_EQ(test, -EIO, reserve_read(file));
	KUNIT_EXPECT_EQ(test, 3, f->opens);
	KUNIT_EXPECT_EQ(test, 1, f->closes);
	KUNIT_EXPECT_EQ(test, -EIO, reserve_read(file));
	KUNIT_EXPECT_EQ(test, -EIO, vfs_fsync(file, 0));
	__fput_sync(file);
	KUNIT_EXPECT_EQ(test, 1, f->closes);
	file = foreign_file(test, mnt, "file", O_RDONLY);
	f->forgets = 1;
	KUNIT_EXPECT_EQ(test, 1, reserve_read(file));
	KUNIT_EXPECT_EQ(test, 5, f->opens);
	__fput_sync(file);
}

/* The server does not know the open any more. */
static int reserve_recover(struct file *file)
{
	struct dafs_state_id state_id;

	return dafs_open_state_id(file->private_data, &state_id) ?:
	       dafs_open_state_recover(file->private_data, &state_id);
}

/* Nothing is reclaimed, or closed, in the background. */
static bool reserve_is_idle(const struct dafs_open_state *os)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);

	while (READ_ONCE(os->reclaiming) && time_before(jiffies, end))
		msleep(20);
	return !READ_ONCE(os->reclaiming);
}

/* Where the server does not tell whether this is a grace period, nothing is lost yet. */
static void dafs_reserve_unknown_test(struct kunit *test)
{
	static const dafs_status_t statuses[] = {
		DAFSERR_RESOURCE, DAFSERR_IO, DAFSERR_SERVERFAULT,
	};
	struct foreign *f = foreign_server(test);
	struct file *file = foreign_file(test, foreign_mount(f), "file", O_RDONLY);
	unsigned int i;

	f->same = true;
	KUNIT_EXPECT_EQ(test, 0, reserve_deny(file, DAFS_RD, DENY_WR));
	f->refuses = DAFS_PROC_LOCKT;
	for (i = 0; i < ARRAY_SIZE(statuses); i++) {
		f->refusal = statuses[i];
		KUNIT_EXPECT_NE(test, 0, reserve_recover(file));
		KUNIT_EXPECT_EQ(test, i + 1, f->refused);
		KUNIT_EXPECT_FALSE(test, dafs_reserve_lost(file->private_data, file));
	}
	f->refusal = DAFSERR_GRACE;
	KUNIT_EXPECT_EQ(test, 0, reserve_recover(file));
	KUNIT_EXPECT_EQ(test, 1, reserve_read(file));
	KUNIT_EXPECT_EQ(test, DENY_WR, f->deny);
	KUNIT_EXPECT_EQ(test, 0, f->closes);
	__fput_sync(file);
	KUNIT_EXPECT_EQ(test, 1, f->closes);
}

/* What it has opened meanwhile, under a state-id that nobody knows, is closed, too. */
static void dafs_reserve_left_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct file *file = foreign_file(test, foreign_mount(f), "file", O_RDONLY);

	f->same = true;
	KUNIT_EXPECT_EQ(test, 0, reserve_deny(file, DAFS_RD, DENY_WR));
	f->same = false;
	f->refuses = DAFS_PROC_LOCKT;
	f->refusal = DAFSERR_IO;
	KUNIT_EXPECT_EQ(test, -EIO, reserve_recover(file));
	/* nor is it forgotten by an attempt that does not get that far */
	f->refuses = DAFS_PROC_OPEN;
	KUNIT_EXPECT_EQ(test, -EIO, reserve_recover(file));
	KUNIT_EXPECT_EQ(test, 0, f->closes);
	__fput_sync(file);
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&f->closes, 2));
	KUNIT_EXPECT_EQ_MSG(test, 1, f->strangers, "one by each state-id");
}

/* A lost open is closed, however often it takes until the server has answered. */
static void dafs_reserve_unanswered_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct file *file = foreign_file(test, foreign_mount(f), "file", O_RDONLY);

	f->same = true;
	KUNIT_EXPECT_EQ(test, 0, reserve_deny(file, DAFS_RD, DENY_WR));
	f->hangs_up = DAFS_PROC_CLOSE;
	f->forgets = 1;
	KUNIT_EXPECT_EQ_MSG(test, -EIO, reserve_read(file), "for that it needs no server");
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	KUNIT_EXPECT_EQ(test, 1, f->closes);
	f->srv->refuse = false;
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&f->closes, 2));
	KUNIT_EXPECT_EQ(test, 3, f->opens);
	__fput_sync(file);
	KUNIT_EXPECT_EQ(test, 2, f->closes);
}

/* Nor is it left there because the server has refused that, or has no file. */
static void dafs_reserve_unclosed_test(struct kunit *test)
{
	/* in the last case the client gives up */
	static const dafs_status_t statuses[] = {
		DAFSERR_IO, DAFSERR_SERVERFAULT, DAFSERR_NOTSUPP, DAFSERR_STALE,
	};
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct dafs_open_state *os;
	struct file *file;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(statuses); i++) {
		f->same = true;
		file = foreign_file(test, mnt, "file", O_RDONLY);
		os = file->private_data;
		KUNIT_EXPECT_EQ(test, 0, reserve_deny(file, DAFS_RD, DENY_WR));
		f->refused = 0;
		f->closes = 0;
		f->refusal = statuses[i];
		f->refuses = DAFS_PROC_CLOSE;
		f->forgets = 1;
		KUNIT_EXPECT_EQ(test, -EIO, reserve_read(file));
		if (statuses[i] == DAFSERR_STALE) {
			KUNIT_EXPECT_TRUE(test, reserve_is_idle(os));
			KUNIT_EXPECT_EQ(test, 2, f->refused);
			WRITE_ONCE(f->refuses, 0);
		} else {
			KUNIT_EXPECT_TRUE(test, foreign_reaches(&f->refused, 5));
			WRITE_ONCE(f->refuses, 0);
			KUNIT_EXPECT_TRUE(test, foreign_reaches(&f->closes, 1));
			KUNIT_EXPECT_EQ(test, 0, f->deny);
		}
		__fput_sync(file);
	}
}

static int reserve_widen_by_task(struct foreign_task *ft)
{
	int err;

	do {
		err = dafs_open_state_widen(ft->file->private_data, DAFS_OPEN_SHARE_ACCESS_WRITE,
					    ft->file->f_cred);
		msleep(20);
	} while (err == -EINPROGRESS && !fatal_signal_pending(current));
	return err;
}

static int reserve_by_task(struct foreign_task *ft)
{
	return reserve_deny(ft->file, DAFS_RD, DENY_WR);
}

/* What is new is not asked for where it would pass for a reclaim. */
static void dafs_reserve_grace_test(struct kunit *test)
{
	static int (*const works[])(struct foreign_task *ft) = {
		reserve_by_task, reserve_widen_by_task,
	};
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *file = foreign_file(test, mnt, "file", O_RDONLY);
	struct foreign_task *ft;
	unsigned int i;

	f->same = true;
	f->refusal = DAFSERR_GRACE;
	for (i = 0; i < ARRAY_SIZE(works); i++) {
		f->refused = 0;
		WRITE_ONCE(f->refuses, DAFS_PROC_LOCKT);
		ft = foreign_task(f, mnt, file, works[i]);
		KUNIT_EXPECT_TRUE(test, foreign_reaches(&f->refused, 2));
		KUNIT_EXPECT_EQ(test, i + 1, f->opens);
		WRITE_ONCE(f->refuses, 0);
		KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
		KUNIT_EXPECT_EQ(test, 0, ft->err);
		KUNIT_EXPECT_EQ(test, i + 2, f->opens);
	}
	KUNIT_EXPECT_EQ(test, DENY_WR, f->deny);
	KUNIT_EXPECT_EQ(test, DAFS_RW, f->access);
	__fput_sync(file);
	KUNIT_EXPECT_TRUE(test, foreign_closed(f));
}

static int reserve_writer_by_task(struct foreign_task *ft)
{
	return reserve_deny(ft->file, DAFS_RW, DENY_WR);
}

/*
 * Who waits for a delegation to be returned is not in the queue that returns it: otherwise as many
 * who wait as it has room for would wait for ever.
 */
static void dafs_reserve_crowd_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct workqueue_struct *wq = DAFS_SB(mnt->mnt_sb)->clnt->lock_wq;
	struct foreign_task *ft;
	struct file *file;

	f->same = true;
	f->delegates = DAFS_OPEN_DELEGATE_WRITE;
	file = foreign_file(test, mnt, "file", O_RDWR);
	f->delegates = DAFS_OPEN_DELEGATE_NONE;
	f->refusal = DAFSERR_DENIED;
	f->refuses = DAFS_PROC_OPEN;
	workqueue_set_max_active(wq, 1);
	ft = foreign_task(f, mnt, file, reserve_writer_by_task);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	/* also after a failure */
	workqueue_set_max_active(wq, WQ_DFL_ACTIVE);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	KUNIT_EXPECT_EQ(test, -EBUSY, ft->err);
	KUNIT_EXPECT_EQ(test, 1, f->returns);
	f->refuses = 0;
	__fput_sync(file);
	KUNIT_EXPECT_TRUE(test, foreign_closed(f));
}

/* Of what is not cached */
static int reserve_read_elsewhere(struct file *file)
{
	loff_t pos = 2 * PAGE_SIZE;
	char byte;

	return kernel_read(file, &byte, 1, &pos);
}

static bool reserve_stored(const struct foreign *f)
{
	return !memcmp(f->data, "0123456789", 10);
}

/* Waits until no other open of the file is left. */
static bool reserve_is_alone(const struct file *file)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	struct dafs_inode *di = DAFS_I(file_inode(file));
	bool alone;

	do {
		msleep(20);
		spin_lock(&di->lock);
		alone = list_is_singular(&di->opens);
		spin_unlock(&di->lock);
	} while (!alone && time_before(jiffies, end));
	return alone;
}

/*
 * What was written in reliance on a reservation is written back by the open that reserves: not by
 * a newer one of the same user, when it is lost, nor after it was closed.
 */
static void dafs_reserve_cached_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *file = foreign_file(test, mnt, "file", O_RDWR), *newer;
	loff_t pos = 0;
	char byte;

	f->same = true;
	KUNIT_EXPECT_EQ(test, 0, reserve_deny(file, DAFS_RW, DENY_WR));
	foreign_make_dirty(test, file);
	f->same = false;
	newer = foreign_file(test, mnt, "file", O_RDWR);
	KUNIT_ASSERT_PTR_NE(test, file->private_data, newer->private_data);
	KUNIT_EXPECT_EQ(test, 0, f->strangers);
	KUNIT_EXPECT_EQ(test, 0, filemap_write_and_wait(file->f_mapping));
	KUNIT_EXPECT_EQ(test, 1, f->strangers);
	KUNIT_EXPECT_TRUE(test, reserve_stored(f));

	f->data[0] = '-';
	foreign_make_dirty(test, file);
	f->forgets = 1;
	KUNIT_EXPECT_EQ(test, -EIO, reserve_read_elsewhere(file));
	KUNIT_EXPECT_EQ(test, -EIO, vfs_fsync(newer, 0));
	KUNIT_EXPECT_EQ(test, '-', f->data[0]);
	KUNIT_EXPECT_EQ(test, 1, kernel_read(newer, &byte, 1, &pos));
	KUNIT_EXPECT_EQ_MSG(test, '-', byte, "it is dropped");
	foreign_make_dirty(test, newer);
	__fput_sync(file);
	KUNIT_EXPECT_TRUE(test, reserve_is_alone(newer));
	/* tells of what was dropped */
	vfs_fsync(newer, 0);
	KUNIT_EXPECT_EQ_MSG(test, '-', f->data[0], "it is not known whose it was");
	foreign_make_dirty(test, newer);
	KUNIT_EXPECT_EQ(test, 0, vfs_fsync(newer, 0));
	KUNIT_EXPECT_TRUE(test, reserve_stored(f));
	__fput_sync(newer);
}

/* As a program that stores to the first page of a mapping all the time */
static int reserve_store_on(struct foreign_task *ft)
{
	struct address_space *mapping = ft->file->f_mapping;
	struct folio *folio;

	while (!fatal_signal_pending(current)) {
		folio = read_mapping_folio(mapping, 0, ft->file);
		if (IS_ERR(folio))
			return fatal_signal_pending(current) ? 0 : PTR_ERR(folio);
		folio_lock(folio);
		if (folio->mapping == mapping) {
			folio_wait_writeback(folio);
			memcpy_to_folio(folio, 20, "+", 1);
			folio_mark_dirty(folio);
		}
		folio_unlock(folio);
		folio_put(folio);
		usleep_range(50, 100);
	}
	return 0;
}

static bool reserve_is_dirty(const struct file *file)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);

	while (!mapping_tagged(file->f_mapping, PAGECACHE_TAG_DIRTY) && time_before(jiffies, end))
		msleep(20);
	return mapping_tagged(file->f_mapping, PAGECACHE_TAG_DIRTY);
}

/*
 * An open that has lost its reservation goes when it is closed, although another program of the
 * user writes all the time, whose data would not be written as long as it stays; and what was
 * written in reliance on it is not written then either.
 */
static void dafs_reserve_stored_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *file = foreign_file(test, mnt, "file", O_RDWR), *newer;
	struct foreign_task *ft;

	f->same = true;
	KUNIT_EXPECT_EQ(test, 0, reserve_deny(file, DAFS_RW, DENY_WR));
	f->same = false;
	newer = foreign_file(test, mnt, "file", O_RDWR);
	foreign_make_dirty(test, file);
	f->data[0] = '-';
	f->forgets = 1;
	KUNIT_EXPECT_EQ(test, -EIO, reserve_read_elsewhere(file));
	ft = foreign_task(f, mnt, newer, reserve_store_on);
	filemap_write_and_wait(newer->f_mapping);
	KUNIT_EXPECT_TRUE(test, reserve_is_dirty(newer));
	__fput_sync(file);
	KUNIT_EXPECT_TRUE(test, reserve_is_alone(newer));
	KUNIT_EXPECT_TRUE(test, foreign_kill(ft));
	KUNIT_EXPECT_EQ(test, 0, ft->err);
	vfs_fsync(newer, 0);
	KUNIT_EXPECT_EQ(test, '-', f->data[0]);
	foreign_make_dirty(test, newer);
	KUNIT_EXPECT_EQ(test, 0, vfs_fsync(newer, 0));
	KUNIT_EXPECT_TRUE(test, reserve_stored(f));
	__fput_sync(newer);
}

/* The client has noticed that the server is away. */
static bool reserve_is_away(struct vfsmount *mnt)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);

	while (!dafs_exits_while_down(DAFS_SB(mnt->mnt_sb)->clnt) && time_before(jiffies, end))
		msleep(20);
	return dafs_exits_while_down(DAFS_SB(mnt->mnt_sb)->clnt);
}

/* Nor is it given up before that is written, if the task does not wait for the server. */
static void dafs_reserve_early_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *file = foreign_file(test, mnt, "file", O_RDWR);

	f->same = true;
	KUNIT_EXPECT_EQ(test, 0, reserve_deny(file, DAFS_RW, DENY_WR));
	foreign_make_dirty(test, file);
	f->hangs_up = DAFS_PROC_WRITE_INLINE;
	filemap_flush(file->f_mapping);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	KUNIT_EXPECT_TRUE(test, reserve_is_away(mnt));
	__fput_sync(file);
	/* the lease is over, and others have written */
	f->data[0] = '-';
	f->refusal = DAFSERR_BAD_STATEID;
	f->refused = 0;
	f->refuses = DAFS_PROC_WRITE_INLINE;
	f->srv->refuse = false;
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&f->refused, 1));
	WRITE_ONCE(f->refuses, 0);
	KUNIT_EXPECT_TRUE(test, foreign_closed(f));
	KUNIT_EXPECT_EQ(test, '-', f->data[0]);
}

/* What a killed task has asked for is given back when it comes. */
static void dafs_reserve_killed_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *file = foreign_file(test, mnt, "file", O_RDONLY);
	struct foreign_task *ft;

	f->same = true;
	f->keeps = DAFS_PROC_OPEN;
	ft = foreign_task(f, mnt, file, reserve_by_task);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	KUNIT_EXPECT_TRUE(test, foreign_kill(ft));
	KUNIT_EXPECT_EQ(test, -ERESTARTSYS, ft->err);
	KUNIT_EXPECT_EQ(test, DENY_WR, f->deny);
	foreign_release(f);
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&f->downgrades, 1));
	KUNIT_EXPECT_EQ(test, 0, f->deny);
	KUNIT_EXPECT_EQ(test, 0, f->closes);
	KUNIT_EXPECT_EQ(test, 0, reserve_deny(file, DAFS_RD, DENY_WR));
	__fput_sync(file);
	KUNIT_EXPECT_TRUE(test, foreign_closed(f));
}

/* A server that gives the open another state-id each time has nothing that can be relied on. */
static void dafs_reserve_strange_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct file *file = foreign_file(test, foreign_mount(f), "file", O_RDONLY);

	KUNIT_EXPECT_EQ(test, -EIO, reserve_deny(file, DAFS_RD, DENY_WR));
	__fput_sync(file);
	KUNIT_EXPECT_TRUE(test, foreign_closed(f));
}

static struct kunit_case dafs_reserve_cases[] = {
	KUNIT_CASE_SLOW(dafs_reserve_matrix_test),
	KUNIT_CASE(dafs_reserve_busy_test),
	KUNIT_CASE(dafs_reserve_shared_test),
	KUNIT_CASE(dafs_reserve_delegated_test),
	KUNIT_CASE(dafs_reserve_key_test),
	KUNIT_CASE(dafs_reserve_reclaimed_test),
	KUNIT_CASE(dafs_reserve_lost_test),
	KUNIT_CASE(dafs_reserve_unknown_test),
	KUNIT_CASE(dafs_reserve_left_test),
	KUNIT_CASE(dafs_reserve_unanswered_test),
	KUNIT_CASE_SLOW(dafs_reserve_unclosed_test),
	KUNIT_CASE(dafs_reserve_grace_test),
	KUNIT_CASE(dafs_reserve_crowd_test),
	KUNIT_CASE(dafs_reserve_cached_test),
	KUNIT_CASE(dafs_reserve_stored_test),
	KUNIT_CASE(dafs_reserve_early_test),
	KUNIT_CASE(dafs_reserve_killed_test),
	KUNIT_CASE_SLOW(dafs_reserve_strange_test),
	{}
};

static struct kunit_suite dafs_reserve_suite = {
	.name = "dafs_reserve",
	.test_cases = dafs_reserve_cases,
};

kunit_test_suite(dafs_reserve_suite);
