// SPDX-License-Identifier: GPL-2.0
/*
 * AUTORECOVERY locks in a file system that is full when changes are to be undone.
 */
#include <linux/delay.h>
#include <linux/falloc.h>
#include <linux/file.h>
#include <linux/fs.h>
#include "../../../../drivers/dafsd/session/server.h"
#include "../../../../drivers/dafsd/state/persist_impl.h"
#include "../../../../drivers/dafsd/store/undo.h"
#include "../lib/holder.h"
#include "../lib/undo_test.h"

/* What "file" has, and is cut off under the lock */
#define FULL_BYTES	SZ_256K
#define FULL_BLOCK	SZ_4K

static void full_put(void *filp)
{
	__fput_sync(filp);
}

/* A file of the fixture; it is closed when the test ends */
static struct file *full_file(struct kunit *test, struct dafs_fixture *fix, const char *name)
{
	struct file *filp = file_open_root(&fix->path, name, O_RDWR | O_CREAT | O_LARGEFILE, 0600);

	KUNIT_ASSERT_FALSE(test, IS_ERR(filp));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, full_put, filp));
	return filp;
}

/* Each block tells its number. */
static void full_write(struct kunit *test, struct dafs_fixture *fix)
{
	struct file *filp = full_file(test, fix, "file");
	char *block = kunit_kzalloc(test, FULL_BLOCK, GFP_KERNEL);
	loff_t pos = 0;

	KUNIT_ASSERT_NOT_NULL(test, block);
	while (pos < FULL_BYTES) {
		memset(block, 1 + pos / FULL_BLOCK, FULL_BLOCK);
		KUNIT_ASSERT_EQ(test, FULL_BLOCK, kernel_write(filp, block, FULL_BLOCK, &pos));
	}
	KUNIT_ASSERT_EQ(test, 0, vfs_fsync(filp, 0));
}

static void full_expect_old(struct kunit *test, struct dafs_fixture *fix)
{
	char *block = kunit_kzalloc(test, FULL_BLOCK, GFP_KERNEL);
	struct file *filp = full_file(test, fix, "file");
	loff_t pos = 0;

	KUNIT_ASSERT_NOT_NULL(test, block);
	KUNIT_EXPECT_EQ(test, FULL_BYTES, i_size_read(file_inode(filp)));
	while (pos < FULL_BYTES) {
		KUNIT_ASSERT_EQ(test, FULL_BLOCK, kernel_read(filp, block, FULL_BLOCK, &pos));
		KUNIT_EXPECT_PTR_EQ(test, NULL,
				    memchr_inv(block, pos / FULL_BLOCK, FULL_BLOCK));
	}
}

/* Others take all that is free, to the last block. */
static void full_fill(struct kunit *test, struct dafs_fixture *fix)
{
	struct file *filp = full_file(test, fix, "filler");
	loff_t part = SZ_64M, size = 0;

	while (part >= FULL_BLOCK) {
		if (vfs_fallocate(filp, 0, size, part))
			part /= 2;
		else
			size += part;
	}
	KUNIT_EXPECT_EQ(test, 0, vfs_fsync(filp, 0));
}

static void full_make_room(struct kunit *test, struct dafs_fixture *fix)
{
	dafs_backing_setattr(test, fix, "filler", &(struct iattr){ .ia_valid = ATTR_SIZE });
}

/* The changes have been undone, although no client asks for the file. */
static void full_await(struct kunit *test)
{
	unsigned long end = jiffies + 3 * msecs_to_jiffies(RAW_WAIT_MS);

	while (dafsd_undo_count() && time_before(jiffies, end))
		msleep(100);
	KUNIT_EXPECT_EQ(test, 0, dafsd_undo_count());
}

/* The answer may be DELAY while the server tries it again. */
static dafs_status_t full_truncate(struct holder *h)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	dafs_status_t status = holder_truncate(h, false, 0);

	while (status == DAFSERR_DELAY && time_before(jiffies, end)) {
		msleep(20);
		status = holder_truncate(h, false, 0);
	}
	return status;
}

/* Others have taken what was cut off: the file is kept from all until there is room. */
static void dafs_undo_full_test(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test);
	struct holder *a = holder(test, fix), *b = holder(test, fix);

	full_write(test, fix);
	UNDO_OK(test, holder_lock(a, DAFS_WRITE_LT, UNDO, 0, ALL));
	UNDO_OK(test, holder_truncate(a, true, 0));
	full_fill(test, fix);
	holder_expire(test, a);
	raw_settle();
	KUNIT_EXPECT_EQ(test, 1, dafsd_undo_count());
	DAFS_EXPECT_STATUS(test, DAFSERR_IO, holder_read(b, true, 0, 1));
	DAFS_EXPECT_STATUS(test, DAFSERR_IO, holder_append(b, true));
	DAFS_EXPECT_STATUS(test, DAFSERR_IO, full_truncate(b));
	DAFS_EXPECT_STATUS(test, DAFSERR_IO, holder_lock(b, DAFS_WRITE_LT, 0, 0, ALL));
	full_make_room(test, fix);
	full_await(test);
	full_expect_old(test, fix);
	UNDO_OK(test, holder_lock(b, DAFS_WRITE_LT, 0, 0, ALL));
}

/* What was written behind the end has the space that is needed. */
static void dafs_undo_full_own_test(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test);
	struct holder *a = holder(test, fix);
	unsigned int n;

	full_write(test, fix);
	UNDO_OK(test, holder_lock(a, DAFS_WRITE_LT, UNDO, 0, ALL));
	UNDO_OK(test, holder_truncate(a, true, 0));
	for (n = 0; n < 2 * FULL_BYTES / FULL_BLOCK; n++)
		UNDO_OK(test, holder_write(a, true, FULL_BYTES + n * FULL_BLOCK, 1));
	full_fill(test, fix);
	holder_expire(test, a);
	raw_settle();
	full_await(test);
	full_expect_old(test, fix);
}

static struct kunit_case undo_full_cases[] = {
	KUNIT_CASE_SLOW(dafs_undo_full_test),
	KUNIT_CASE_SLOW(dafs_undo_full_own_test),
	{}
};

static struct kunit_suite undo_full_suite = {
	.name = "dafs_undo_full",
	.test_cases = undo_full_cases,
};

kunit_test_suite(undo_full_suite);
