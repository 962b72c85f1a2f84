// SPDX-License-Identifier: GPL-2.0
/* Direct writes and appends at a server that delays COMMIT or refuses. */
#include <linux/file.h>
#include <linux/random.h>
#include "../lib/foreign.h"

static int foreign_write_direct(struct foreign_task *ft)
{
	loff_t pos = FOREIGN_DIRECT;

	return kernel_write(ft->file, "direct", 6, &pos);
}

static int foreign_append_some(struct foreign_task *ft)
{
	loff_t pos = 0;

	return kernel_write(ft->file, "more", 4, &pos);
}

/*
 * Data stored while a direct write waits for COMMIT is stable before the write is
 * sent.  Otherwise it would overwrite the direct write when it is sent again after a
 * server restart.
 */
static void dafs_foreign_direct_commits_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *direct = foreign_file(test, mnt, "file", O_RDWR | O_DIRECT);
	struct foreign_task *ft;

	f->unstable = true;
	foreign_store(test, direct, 0, 's');
	f->keeps = DAFS_PROC_COMMIT;
	ft = foreign_task(f, mnt, direct, foreign_write_direct);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	foreign_store(test, direct, PAGE_SIZE, 's');
	foreign_release(f);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	KUNIT_EXPECT_EQ(test, 6, ft->err);
	get_random_bytes(&f->verifier, sizeof(f->verifier));
	KUNIT_EXPECT_EQ(test, 0, vfs_fsync(direct, 0));
	KUNIT_EXPECT_EQ(test, 's', f->data[0]);
	KUNIT_EXPECT_EQ(test, 's', f->data[PAGE_SIZE]);
	KUNIT_EXPECT_MEMEQ(test, "direct", f->data + FOREIGN_DIRECT, 6);
	__fput_sync(direct);
}

/* Folios that are not stable when a direct write ends are dropped soon afterwards. */
static void dafs_foreign_direct_drops_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *direct = foreign_file(test, mnt, "file", O_RDWR | O_DIRECT);
	struct file *file = foreign_file(test, mnt, "file", O_RDWR);
	loff_t pos = FOREIGN_DIRECT;
	struct foreign_task *ft;
	char before[6], got[6];

	memcpy(before, f->data + pos, sizeof(before));
	f->unstable = true;
	f->keeps = DAFS_PROC_WRITE_INLINE;
	ft = foreign_task(f, mnt, direct, foreign_write_direct);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	/* as if the server executed the direct write after the store below */
	memcpy(f->data + pos, before, sizeof(before));
	foreign_store(test, file, PAGE_SIZE, 's');
	memcpy(f->data + pos, "direct", sizeof(got));
	foreign_release(f);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	KUNIT_EXPECT_EQ(test, 6, ft->err);
	KUNIT_EXPECT_EQ(test, 6, kernel_read(file, got, sizeof(got), &pos));
	KUNIT_EXPECT_MEMEQ(test, "direct", got, sizeof(got));
	__fput_sync(file);
	__fput_sync(direct);
}

/* A task that is killed after an append does not leave the old end of the file cached. */
static void dafs_foreign_append_killed_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *log = foreign_file(test, mnt, "file", O_RDWR | O_APPEND);
	loff_t pos = FOREIGN_SIZE - 1;
	struct foreign_task *ft;
	char got;

	f->unstable = true;
	f->keeps = DAFS_PROC_APPEND_INLINE;
	ft = foreign_task(f, mnt, log, foreign_append_some);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	foreign_store(test, log, pos, 's');
	f->keeps = DAFS_PROC_COMMIT;
	foreign_release(f);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	KUNIT_EXPECT_TRUE(test, foreign_kill(ft));
	foreign_release(f);
	f->data[pos] = 't';
	KUNIT_EXPECT_EQ(test, 1, kernel_read(log, &got, 1, &pos));
	KUNIT_EXPECT_EQ(test, 't', got);
	__fput_sync(log);
}

static struct kunit_case dafs_foreign_data_cases[] = {
	KUNIT_CASE(dafs_foreign_direct_commits_test),
	KUNIT_CASE(dafs_foreign_direct_drops_test),
	KUNIT_CASE(dafs_foreign_append_killed_test),
	{}
};

static struct kunit_suite dafs_foreign_data_suite = {
	.name = "dafs_foreign_data",
	.test_cases = dafs_foreign_data_cases,
};

kunit_test_suite(dafs_foreign_data_suite);
