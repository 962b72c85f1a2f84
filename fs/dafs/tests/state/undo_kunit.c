// SPDX-License-Identifier: GPL-2.0
/*
 * AUTORECOVERY locks: what was written under them is undone if their owner, or the server, is
 * lost, and when the owner wants it (4.4.1.4 to 4.4.1.6); and the files of before-images, when
 * the power fails.
 *
 * The server of these tests does not restart, see persist_kunit.c.
 */
#include <kunit/static_stub.h>
#include <kunit/test-bug.h>
#include <linux/delay.h>
#include <linux/exportfs.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/prandom.h>
#include <linux/vmalloc.h>
#include "../../../../drivers/dafsd/session/client.h"
#include "../../../../drivers/dafsd/session/server.h"
#include "../../../../drivers/dafsd/state/persist_impl.h"
#include "../../../../drivers/dafsd/store/log.h"
#include "../../../../drivers/dafsd/store/store.h"
#include "../../../../drivers/dafsd/store/undo.h"
#include "../lib/holder.h"
#include "../lib/open_test.h"
#include "../lib/undo_test.h"

/* A grace period that the clients of a test may reclaim in what they were left */
static void undo_grace(bool on)
{
	WRITE_ONCE(dafsd_server.grace.on, on);
	if (!on)
		dafsd_persist_undo_later();
	raw_settle();
}

/* R-4.4.1.4-01, E-83: without failures it is as any other lock. */
static void dafs_undo_commit_test(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test);
	struct holder *a = holder(test, fix), *b = holder(test, fix);

	UNDO_OK(test, holder_lock(a, DAFS_WRITE_LT, UNDO, 0, ALL));
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, holder_lock(b, DAFS_READ_LT, 0, 0, 1));
	undo_change(test, a);
	/* once more, as if the response had been lost */
	UNDO_OK(test, holder_lock(a, DAFS_WRITE_LT, UNDO, 0, ALL));
	KUNIT_EXPECT_EQ(test, 1, dafsd_undo_count());
	UNDO_OK(test, holder_unlock(a, 0, ALL));
	KUNIT_EXPECT_EQ(test, 0, dafsd_undo_count());
	KUNIT_EXPECT_EQ(test, 0, dafsd_persist_nr);
	undo_expect_new(test, fix);
	/* a lock of another kind in its place, or CLOSE, make changes stay as well */
	UNDO_OK(test, holder_lock(a, DAFS_WRITE_LT, PERSIST | UNDO, 0, ALL));
	UNDO_OK(test, holder_truncate(a, true, 7));
	UNDO_OK(test, holder_lock(a, DAFS_WRITE_LT, PERSIST, 0, ALL));
	KUNIT_EXPECT_EQ(test, 0, dafsd_undo_count());
	UNDO_OK(test, holder_lock(a, DAFS_WRITE_LT, UNDO, 0, ALL));
	UNDO_OK(test, holder_truncate(a, true, 6));
	UNDO_OK(test, holder_lock(a, DAFS_READ_LT, 0, 0, ALL));
	UNDO_OK(test, holder_lock(a, DAFS_WRITE_LT, UNDO, 0, ALL));
	UNDO_OK(test, holder_truncate(a, true, 5));
	UNDO_OK(test, holder_close(a));
	holder_expire(test, a);
	UNDO_OK(test, holder_lock(b, DAFS_WRITE_LT, 0, 0, ALL));
	undo_expect(test, fix, UNDO_OLD, 5);
}

/* R-4.4.1.4-02 R-4.4.1.5-03: when its lease runs out */
static void dafs_undo_expire_test(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test);
	struct holder *a = holder(test, fix), *b = holder(test, fix);

	UNDO_OK(test, holder_lock(a, DAFS_WRITE_LT, UNDO, 0, ALL));
	undo_change(test, a);
	holder_expire(test, a);
	/* this request undoes it, unless the work item has done so before */
	UNDO_OK(test, holder_read(b, true, 0, FILE_BYTES));
	undo_expect_old(test, fix);
	raw_settle();
	UNDO_OK(test, holder_lock(b, DAFS_WRITE_LT, 0, 0, ALL));
	KUNIT_EXPECT_EQ(test, 0, dafsd_persist_nr);
	KUNIT_EXPECT_EQ(test, 0, dafsd_undo_count());
	UNDO_OK(test, holder_write(b, true, 0, 4));
	UNDO_OK(test, holder_unlock(b, 0, ALL));
	holder_return(test, a);
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED,
			   holder_lock(a, DAFS_WRITE_LT, UNDO | RECLAIM, 0, ALL));
	/* no request comes */
	UNDO_OK(test, holder_lock(a, DAFS_WRITE_LT, UNDO, 0, ALL));
	undo_change(test, a);
	holder_expire(test, a);
	raw_settle();
	undo_expect_old(test, fix);
}

/* Those that would be late are LOCK and I/O of any kind. */
static void dafs_undo_first_test(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test);
	struct holder *a = holder(test, fix), *b = holder(test, fix);
	unsigned int n;

	for (n = 0; n < 5; n++) {
		UNDO_OK(test, holder_lock(a, DAFS_WRITE_LT, UNDO, 0, ALL));
		UNDO_OK(test, holder_truncate(a, true, 3));
		undo_restart(test, a);
		if (n == 0)
			UNDO_OK(test, holder_write(b, true, 0, 4));
		else if (n == 1)
			UNDO_OK(test, holder_append(b, false));
		else if (n == 2)
			UNDO_OK(test, holder_truncate(b, true, FILE_BYTES + 1));
		else if (n == 3)
			UNDO_OK(test, holder_lock(b, DAFS_READ_LT, 0, 5, 1));
		else
			UNDO_OK(test, holder_test(b, DAFS_WRITE_LT, 0, ALL));
		if (n == 1)
			undo_expect(test, fix, UNDO_OLD "x", FILE_BYTES + 1);
		if (n == 0 || n == 3)
			undo_expect_old(test, fix);
		UNDO_OK(test, holder_unlock(b, 0, ALL));
		UNDO_OK(test, holder_truncate(b, false, FILE_BYTES));
		undo_expect_old(test, fix);
		holder_return(test, a);
	}
}

/* R-4.4.1.5-04: when another instance of its client is there */
static void dafs_undo_reboot_test(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test);
	struct holder *a = holder(test, fix), *b = holder(test, fix);

	UNDO_OK(test, holder_lock(a, DAFS_WRITE_LT, UNDO, 0, ALL));
	undo_change(test, a);
	holder_reboot(test, a);
	UNDO_OK(test, holder_read(b, true, 0, FILE_BYTES));
	undo_expect_old(test, fix);
	raw_settle();
	UNDO_OK(test, holder_lock(b, DAFS_WRITE_LT, 0, 0, ALL));
	UNDO_OK(test, holder_unlock(b, 0, ALL));
	/* a PERSIST lock is broken by it, also if it was left for a while */
	UNDO_OK(test, holder_lock(a, DAFS_WRITE_LT, UNDO | PERSIST, 0, ALL));
	undo_change(test, a);
	holder_expire(test, a);
	raw_settle();
	undo_expect_new(test, fix);
	holder_reboot(test, a);
	raw_settle();
	undo_expect_old(test, fix);
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCK_BROKEN, holder_lock(b, DAFS_READ_LT, 0, 0, 1));
	UNDO_OK(test, holder_lock(b, DAFS_WRITE_LT, REPAIR, 0, ALL));
}

/* R-4.4.1.4-04 R-4.4.1.5-03: with PERSIST it waits until the lock is broken. */
static void dafs_undo_persist_test(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test);
	struct holder *a = holder(test, fix), *b = holder(test, fix);

	UNDO_OK(test, holder_lock(a, DAFS_WRITE_LT, UNDO | PERSIST, 0, ALL));
	undo_change(test, a);
	holder_expire(test, a);
	raw_settle();
	UNDO_OK(test, holder_read(b, true, 0, FILE_BYTES));
	undo_expect_new(test, fix);
	/* its client goes on */
	holder_return(test, a);
	UNDO_OK(test, holder_lock(a, DAFS_WRITE_LT, UNDO | PERSIST | RECLAIM, 0, ALL));
	UNDO_OK(test, holder_write(a, true, 0, FILE_BYTES));
	holder_expire(test, a);
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, holder_test(b, DAFS_READ_LT, 0, 1));
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCK_BROKEN, holder_lock(b, DAFS_READ_LT, 0, 3, 1));
	undo_expect_old(test, fix);
	KUNIT_EXPECT_EQ(test, 0, dafsd_undo_count());
	DAFS_EXPECT_STATUS(test, DAFSERR_STALE_STATEID, holder_read(b, true, 0, 1));
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCKED, holder_write(b, false, 0, 1));
	persist_restart(test);
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCK_BROKEN, holder_lock(b, DAFS_READ_LT, 0, 3, 1));
	UNDO_OK(test, holder_lock(b, DAFS_WRITE_LT, UNDO | REPAIR, 0, ALL));
	undo_change(test, b);
	UNDO_OK(test, holder_unlock(b, 0, ALL));
	undo_expect_new(test, fix);
	holder_return(test, a);
	UNDO_OK(test, holder_lock(a, DAFS_WRITE_LT, 0, 0, ALL));
}

/* R-4.4.1.4-05, E-72: its owner undoes it, and has the lock still. */
static void dafs_undo_abort_test(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test);
	struct holder *a = holder(test, fix), *b = holder(test, fix);

	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, holder_lock(a, DAFS_ABORT_LT, 0, 0, ALL));
	UNDO_OK(test, holder_lock(a, DAFS_WRITE_LT, PERSIST, 0, ALL));
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, holder_lock(a, DAFS_ABORT_LT, 0, 0, ALL));
	UNDO_OK(test, holder_lock(a, DAFS_WRITE_LT, UNDO, 0, ALL));
	UNDO_OK(test, holder_lock(a, DAFS_ABORT_LT, 0, 0, ALL));
	undo_change(test, a);
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, holder_lock(a, DAFS_ABORT_LT, 0, 0, 10));
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, holder_lock(b, DAFS_ABORT_LT, 0, 0, ALL));
	DAFS_EXPECT_STATUS(test, DAFSERR_NOTSUPP, holder_lock(a, DAFS_ABORT_LT, 16, 0, ALL));
	undo_expect_new(test, fix);
	UNDO_OK(test, holder_lock(a, DAFS_ABORT_LT, 0, 0, ALL));
	undo_expect_old(test, fix);
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, holder_lock(b, DAFS_READ_LT, 0, 0, 1));
	/* what is written from then on is undone in its turn */
	undo_change(test, a);
	UNDO_OK(test, holder_lock(a, DAFS_ABORT_LT, 0, 0, ALL));
	undo_expect_old(test, fix);
	undo_change(test, a);
	holder_expire(test, a);
	raw_settle();
	undo_expect_old(test, fix);
}

/* R-4.4.1.6-04: when the server is back, the changes are there for who reclaims. */
static void dafs_undo_reclaim_test(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test);
	struct holder *a = holder(test, fix), *b = holder(test, fix);

	UNDO_OK(test, holder_lock(a, DAFS_WRITE_LT, UNDO, 0, ALL));
	undo_change(test, a);
	undo_restart(test, a);
	holder_return(test, a);
	undo_grace(true);
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED,
			   holder_lock(b, DAFS_WRITE_LT, UNDO | RECLAIM, 0, ALL));
	UNDO_OK(test, holder_lock(a, DAFS_WRITE_LT, UNDO | RECLAIM, 0, ALL));
	undo_grace(false);
	undo_expect_new(test, fix);
	/* all that was changed is known, before the restart and after */
	UNDO_OK(test, holder_write(a, true, 0, FILE_BYTES));
	UNDO_OK(test, holder_lock(a, DAFS_ABORT_LT, 0, 0, ALL));
	undo_expect_old(test, fix);
	undo_change(test, a);
	undo_restart(test, a);
	holder_return(test, a);
	undo_grace(true);
	UNDO_OK(test, holder_lock(a, DAFS_WRITE_LT, UNDO | RECLAIM, 0, ALL));
	UNDO_OK(test, holder_unlock(a, 0, ALL));
	undo_grace(false);
	undo_expect_new(test, fix);
}

/* R-4.4.1.6-05: what was not reclaimed is undone when the grace period is over. */
static void dafs_undo_grace_test(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test);
	struct holder *a = holder(test, fix), *b = holder(test, fix);

	UNDO_OK(test, holder_lock(a, DAFS_WRITE_LT, UNDO, 0, ALL));
	undo_change(test, a);
	WRITE_ONCE(dafsd_server.grace.on, true);
	undo_restart(test, a);
	undo_expect_new(test, fix);
	undo_grace(false);
	undo_expect_old(test, fix);
	UNDO_OK(test, holder_lock(b, DAFS_WRITE_LT, 0, 0, ALL));
	holder_return(test, a);
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED,
			   holder_lock(a, DAFS_WRITE_LT, UNDO | RECLAIM, 0, ALL));
}

/* R-4.4.1.4-06 R-4.4.1.4-07: it is for writing, of all bytes, and cannot be split. */
static void dafs_undo_options_test(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test);
	struct holder *a = holder(test, fix);

	DAFS_EXPECT_STATUS(test, DAFSERR_NOTSUPP, holder_lock(a, DAFS_WRITE_LT, UNDO, 0, 100));
	DAFS_EXPECT_STATUS(test, DAFSERR_NOTSUPP, holder_lock(a, DAFS_WRITE_LT, UNDO, 1, ALL));
	DAFS_EXPECT_STATUS(test, DAFSERR_NOTSUPP, holder_lock(a, DAFS_READ_LT, UNDO, 0, ALL));
	KUNIT_EXPECT_EQ(test, 0, dafsd_undo_count());
	UNDO_OK(test, holder_lock(a, DAFS_WRITE_LT, 0, 0, ALL));
	UNDO_OK(test, holder_lock(a, DAFS_WRITEW_LT, UNDO, 0, ALL));
	undo_change(test, a);
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCK_RANGE, holder_unlock(a, 0, 10));
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCK_RANGE, holder_lock(a, DAFS_WRITE_LT, 0, 5, 1));
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCK_RANGE, holder_lock(a, DAFS_READ_LT, PERSIST, 5, 1));
	UNDO_OK(test, holder_lock(a, DAFS_ABORT_LT, 0, 0, ALL));
	undo_expect_old(test, fix);
}

/*
 * Others do not write meanwhile: it would be undone.  R-4.4.1.2-04: the state-id shows who has
 * the lock.
 */
static void dafs_undo_others_test(struct kunit *test)
{
	struct dafs_open_args create = dafs_create_open_args(DAFS_CREATE_UNCHECKED);
	struct dafs_fixture *fix = persist_fixture(test);
	struct holder *a = holder(test, fix), *b = holder(test, fix);
	struct dafs_open_res res;
	unsigned int open;

	create.createattrs = (struct dafs_fattr) {
		.included = DAFS_FATTR_OBJECT_SIZE,
		.valid = DAFS_FATTR_OBJECT_SIZE,
	};
	UNDO_OK(test, holder_lock(a, DAFS_WRITE_LT, UNDO, 0, ALL));
	for (open = 0; open < 2; open++) {
		UNDO_OK(test, holder_read(b, open, 0, FILE_BYTES));
		DAFS_EXPECT_STATUS(test, DAFSERR_LOCKED, holder_write(b, open, 0, 1));
		DAFS_EXPECT_STATUS(test, DAFSERR_LOCKED, holder_append(b, open));
		DAFS_EXPECT_STATUS(test, DAFSERR_LOCKED, holder_truncate(b, open, 1));
	}
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCKED, dafs_try_open(test, fix, "file", &create, &res));
	undo_expect_old(test, fix);
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCKED, holder_write(a, false, 0, 1));
	UNDO_OK(test, holder_write(a, true, 0, 0));
	/* nor do they get such a lock, also if the other one is of another kind */
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, holder_lock(b, DAFS_WRITE_LT, UNDO, 0, ALL));
	UNDO_OK(test, holder_lock(a, DAFS_READ_LT, 0, 0, ALL));
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, holder_lock(b, DAFS_WRITE_LT, UNDO, 0, ALL));
	KUNIT_EXPECT_EQ(test, DAFS_READ_LT, b->res.lock_type);
	KUNIT_EXPECT_EQ(test, 0, dafsd_undo_count());
	UNDO_OK(test, holder_unlock(a, 0, ALL));
	UNDO_OK(test, holder_append(b, true));
	undo_expect(test, fix, UNDO_OLD "x", FILE_BYTES + 1);
}

/* What cannot be saved is not changed. */
static void dafs_undo_no_room_test(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test);
	struct holder *a = holder(test, fix);

	UNDO_OK(test, holder_lock(a, DAFS_WRITE_LT, UNDO, 0, ALL));
	dafs_fixture_server_param(test, &dafsd_undo_max, 0);
	DAFS_EXPECT_STATUS(test, DAFSERR_NOSPC, holder_write(a, true, 8, 8));
	DAFS_EXPECT_STATUS(test, DAFSERR_NOSPC, holder_truncate(a, true, 8));
	undo_expect_old(test, fix);
	/* in the same block */
	DAFS_EXPECT_STATUS(test, DAFSERR_NOSPC, holder_append(a, true));
	UNDO_OK(test, holder_write(a, true, 8192, 1));
	UNDO_OK(test, holder_lock(a, DAFS_ABORT_LT, 0, 0, ALL));
	undo_expect_old(test, fix);
	dafsd_undo_max = 1;
	UNDO_OK(test, holder_write(a, true, 8, 8));
	UNDO_OK(test, holder_lock(a, DAFS_ABORT_LT, 0, 0, ALL));
	undo_expect_old(test, fix);
}

/* The first byte of the file of @slot is not what it was. */
static void undo_spoil(struct kunit *test, u32 slot)
{
	struct file *filp = undo_file(slot, O_RDWR);
	loff_t pos = DAFSD_UNDO_ALIGN;

	KUNIT_ASSERT_FALSE(test, IS_ERR(filp));
	KUNIT_EXPECT_EQ(test, 1, kernel_write(filp, "?", 1, &pos));
	__fput_sync(filp);
}

static void undo_rename(struct kunit *test, const char *from, const char *to)
{
	struct file *dir = dentry_open(dafsd_store_dir(dafsd_server.store), O_RDONLY | O_DIRECTORY,
				       current_cred());

	KUNIT_ASSERT_FALSE(test, IS_ERR(dir));
	KUNIT_EXPECT_EQ(test, 0, dafsd_rename_in(dir, from, to));
	__fput_sync(dir);
}

static int undo_take_number(const struct dafsd_persist_view *view, void *arg)
{
	*(u64 *)arg = view->number;
	return 0;
}

/* It is not tried at once again. */
static bool undo_read_in_time(struct holder *h)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	dafs_status_t status;

	do {
		status = holder_read(h, true, 0, 1);
		msleep(50);
	} while (status == DAFSERR_IO && time_before(jiffies, end));
	return !status;
}

/* What cannot be undone is not used until it can. */
static dafs_status_t undo_open_truncate(struct holder *h)
{
	struct dafs_open_args args = dafs_test_open_args("truncates", DAFS_RW, 0);
	struct dafs_str name = dafs_test_str("file");
	struct dafs_open_res res = {};

	args.dir_handle = h->fix->dir;
	args.pathname = (struct dafs_seq) { .count = 1, .elems = &name };
	args.open_type = DAFS_OPEN_CREATE;
	args.createmode = DAFS_CREATE_UNCHECKED;
	args.createattrs.included = DAFS_FATTR_OBJECT_SIZE;
	args.createattrs.valid = DAFS_FATTR_OBJECT_SIZE;
	return raw_call_as(h->conn, h->handle, DAFS_PROC_OPEN, &args, &res);
}

/* What cannot be undone is tried in the background; meanwhile the answer may be DELAY. */
static dafs_status_t undo_open_truncate_at_last(struct holder *h)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	dafs_status_t status;

	do {
		status = undo_open_truncate(h);
		if (status == DAFSERR_DELAY)
			msleep(20);
	} while (status == DAFSERR_DELAY && time_before(jiffies, end));
	return status;
}

static void dafs_undo_stuck_test(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test);
	struct holder *a = holder(test, fix), *b = holder(test, fix);

	UNDO_OK(test, holder_lock(a, DAFS_WRITE_LT, UNDO, 0, ALL));
	undo_change(test, a);
	WRITE_ONCE(dafsd_server.grace.on, true);
	undo_restart(test, a);
	undo_rename(test, "undo.0", "away");
	undo_grace(false);
	DAFS_EXPECT_STATUS(test, DAFSERR_IO, holder_read(b, true, 0, 1));
	DAFS_EXPECT_STATUS(test, DAFSERR_IO, holder_append(b, true));
	DAFS_EXPECT_STATUS(test, DAFSERR_IO, holder_truncate(b, false, 0));
	DAFS_EXPECT_STATUS(test, DAFSERR_IO, undo_open_truncate_at_last(b));
	DAFS_EXPECT_STATUS(test, DAFSERR_IO, holder_lock(b, DAFS_WRITE_LT, 0, 0, ALL));
	undo_expect_new(test, fix);
	undo_rename(test, "away", "undo.0");
	KUNIT_EXPECT_TRUE(test, undo_read_in_time(b));
	undo_expect_old(test, fix);
}

/* What fails for a while is tried again, also if no client asks for the file. */
static void dafs_undo_again_test(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test);
	struct holder *a = holder(test, fix), *b = holder(test, fix);
	unsigned long end;

	UNDO_OK(test, holder_lock(a, DAFS_WRITE_LT, UNDO, 0, ALL));
	undo_change(test, a);
	WRITE_ONCE(dafsd_server.grace.on, true);
	undo_restart(test, a);
	undo_rename(test, "undo.0", "away");
	undo_grace(false);
	DAFS_EXPECT_STATUS(test, DAFSERR_IO, holder_read(b, true, 0, 1));
	undo_rename(test, "away", "undo.0");
	end = jiffies + 3 * msecs_to_jiffies(RAW_WAIT_MS);
	while (dafsd_undo_count() && time_before(jiffies, end))
		msleep(100);
	undo_expect_old(test, fix);
}

static const struct export_operations *undo_good_export;
static const struct inode *undo_looked_for;
static atomic_t undo_lookups;

static struct dentry *undo_fh_to_dentry(struct super_block *sb, struct fid *fid, int len, int type)
{
	struct dentry *dentry = undo_good_export->fh_to_dentry(sb, fid, len, type);

	if (!IS_ERR_OR_NULL(dentry) && d_inode(dentry) == undo_looked_for)
		atomic_inc(&undo_lookups);
	return dentry;
}

/* How often the server looks a file up when it tries to undo what it could not */
static int undo_count_lookups(struct kunit *test, struct dafs_fixture *fix, const char *name)
{
	static struct export_operations counting;
	struct super_block *sb;
	struct path path;

	KUNIT_ASSERT_EQ(test, 0, dafs_backing_path(fix, name, &path));
	sb = path.mnt->mnt_sb;
	undo_looked_for = d_inode(path.dentry);
	undo_good_export = sb->s_export_op;
	counting = *undo_good_export;
	counting.fh_to_dentry = undo_fh_to_dentry;
	atomic_set(&undo_lookups, 0);
	sb->s_export_op = &counting;
	dafsd_persist_undo_later();
	raw_settle();
	sb->s_export_op = undo_good_export;
	path_put(&path);
	return atomic_read(&undo_lookups);
}

/* Files in which nothing has to be undone are not looked at again and again. */
static void dafs_undo_only_due_test(struct kunit *test)
{
	struct dafs_open_args args = dafs_test_open_args("owner", DAFS_RW, 0);
	struct dafs_fixture *fix = persist_fixture(test);
	struct holder *a = holder(test, fix), *b = holder(test, fix);
	struct dafs_str name = dafs_test_str("other");

	dafs_backing_write(test, fix, "other", "", 0);
	args.dir_handle = fix->dir;
	args.pathname = (struct dafs_seq) { .count = 1, .elems = &name };
	UNDO_OK(test, raw_call_as(b->conn, b->handle, DAFS_PROC_OPEN, &args, &b->open));
	UNDO_OK(test, holder_lock(b, DAFS_WRITE_LT, PERSIST, 0, ALL));
	holder_expire(test, b);
	UNDO_OK(test, holder_lock(a, DAFS_WRITE_LT, UNDO, 0, ALL));
	undo_change(test, a);
	WRITE_ONCE(dafsd_server.grace.on, true);
	undo_restart(test, a);
	undo_rename(test, "undo.0", "away");
	undo_grace(false);
	KUNIT_EXPECT_LT(test, 0, undo_count_lookups(test, fix, "file"));
	KUNIT_EXPECT_EQ(test, 0, undo_count_lookups(test, fix, "other"));
	undo_rename(test, "away", "undo.0");
}

/* A sparse file is as long as its user likes: what cannot be saved is not looked at. */
static void dafs_undo_sparse_test(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test);
	struct holder *a = holder(test, fix);

	UNDO_OK(test, holder_truncate(a, true, 1ULL << 43));
	UNDO_OK(test, holder_lock(a, DAFS_WRITE_LT, UNDO, 0, ALL));
	DAFS_EXPECT_STATUS(test, DAFSERR_NOSPC, holder_truncate(a, true, 0));
	UNDO_OK(test, holder_unlock(a, 0, ALL));
	UNDO_OK(test, holder_truncate(a, true, 0));
}

/* Who reclaims such a lock has what it had, but cannot write before changes can be saved. */
static void dafs_undo_missing_test(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test);
	struct holder *a = holder(test, fix);

	UNDO_OK(test, holder_lock(a, DAFS_WRITE_LT, UNDO, 0, ALL));
	undo_change(test, a);
	undo_restart(test, a);
	undo_rename(test, "undo.0", "away");
	holder_return(test, a);
	undo_grace(true);
	UNDO_OK(test, holder_lock(a, DAFS_WRITE_LT, UNDO | RECLAIM, 0, ALL));
	undo_grace(false);
	UNDO_OK(test, holder_read(a, true, 0, 1));
	DAFS_EXPECT_STATUS(test, DAFSERR_IO, holder_write(a, true, 0, 1));
	DAFS_EXPECT_STATUS(test, DAFSERR_IO, holder_lock(a, DAFS_ABORT_LT, 0, 0, ALL));
	undo_expect_new(test, fix);
	undo_rename(test, "away", "undo.0");
	UNDO_OK(test, holder_write(a, true, 0, 1));
	UNDO_OK(test, holder_lock(a, DAFS_ABORT_LT, 0, 0, ALL));
	undo_expect_old(test, fix);
}

/* Or the administrator gives it up: before-images that the disk has lost do not come back. */
static void dafs_undo_damaged_test(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test);
	struct holder *a = holder(test, fix), *b = holder(test, fix);
	struct dafsd_persist_place place = {};
	u64 number = 0;

	UNDO_OK(test, holder_truncate(a, true, 10000));
	UNDO_OK(test, holder_lock(a, DAFS_WRITE_LT, UNDO | PERSIST, 0, ALL));
	UNDO_OK(test, holder_truncate(a, true, 5000));
	UNDO_OK(test, holder_truncate(a, true, 0));
	holder_expire(test, a);
	persist_restart(test);
	undo_spoil(test, 0);
	DAFS_EXPECT_STATUS(test, DAFSERR_IO, holder_lock(b, DAFS_WRITE_LT, 0, 0, ALL));
	DAFS_EXPECT_STATUS(test, DAFSERR_IO, holder_read(b, true, 0, 1));
	DAFS_EXPECT_STATUS(test, DAFSERR_IO, holder_lock(b, DAFS_WRITE_LT, REPAIR, 0, ALL));
	undo_expect(test, fix, "", 0);
	KUNIT_EXPECT_EQ(test, 0, dafsd_persist_list(&place, undo_take_number, &number));
	KUNIT_EXPECT_EQ(test, 0, dafsd_persist_forget(number));
	UNDO_OK(test, holder_read(b, true, 0, 1));
	UNDO_OK(test, holder_lock(b, DAFS_WRITE_LT, 0, 0, ALL));
	KUNIT_EXPECT_EQ(test, 0, dafsd_undo_count());
}

/*
 * The power fails at each write and flush of a file of before-images.  What the disk has of it
 * then is all that was flushed, and any sectors that were written since; and of the locked file,
 * of each sector, what was there at first or what was written last.
 */
#define CUT_SECTOR	512
#define CUT_FILE	(40 * SZ_1K + 100)
#define CUT_LOG		SZ_256K
#define CUT_CHANGES	20
#define CUT_SLOT	(DAFSD_UNDO_SLOTS - 1)

/* An image of the log */
struct undo_image {
	u8 *data;
	size_t size;
};

struct undo_cut {
	struct kunit *test;
	struct rnd_state rnd;
	struct dafsd_undo *undo;
	struct file *locked;
	u8 *before;
	u8 *now;
	size_t now_size;
	struct undo_image durable;
	struct undo_image written;
	unsigned int checks;
	bool fails;
};

static void undo_free(void *data)
{
	vfree(data);
}

static u8 *undo_alloc(struct kunit *test, size_t len)
{
	u8 *data = vzalloc(len);

	KUNIT_ASSERT_NOT_NULL(test, data);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, undo_free, data));
	return data;
}

/* A file of random sectors of one image or the other */
static void undo_mix(struct undo_cut *cut, struct file *filp, const u8 *one, const u8 *other,
		     size_t len)
{
	const u8 *from;
	loff_t pos = 0;
	size_t bytes;

	while (pos < len) {
		bytes = min_t(size_t, CUT_SECTOR, len - pos);
		from = (prandom_u32_state(&cut->rnd) % 2 ? one : other) + pos;
		KUNIT_ASSERT_EQ(cut->test, bytes, kernel_write(filp, from, bytes, &pos));
	}
}

static struct file *undo_temporary(struct undo_cut *cut, const char *name)
{
	struct file *filp = file_open_root(dafsd_store_dir(dafsd_server.store), name,
					   O_RDWR | O_CREAT | O_TRUNC, 0600);

	KUNIT_ASSERT_FALSE(cut->test, IS_ERR(filp));
	return filp;
}

static void undo_expect_before(struct undo_cut *cut, struct file *filp)
{
	u8 *data = vzalloc(CUT_FILE);
	loff_t pos = 0;

	KUNIT_ASSERT_NOT_NULL(cut->test, data);
	KUNIT_EXPECT_EQ(cut->test, CUT_FILE, i_size_read(file_inode(filp)));
	KUNIT_EXPECT_EQ(cut->test, CUT_FILE, kernel_read(filp, data, CUT_FILE, &pos));
	KUNIT_EXPECT_FALSE_MSG(cut->test, memcmp(data, cut->before, CUT_FILE), "check %u",
			       cut->checks);
	vfree(data);
}

/* After a power failure at this moment all changes are undone. */
static void undo_cut_check(struct undo_cut *cut)
{
	bool grown = prandom_u32_state(&cut->rnd) % 4;
	struct dafsd_undo *undo;
	struct file *filp;

	filp = undo_file(CUT_SLOT, O_RDWR | O_CREAT | O_TRUNC);
	KUNIT_ASSERT_FALSE(cut->test, IS_ERR(filp));
	undo_mix(cut, filp, cut->durable.data, cut->written.data,
		 grown ? cut->written.size : cut->durable.size);
	__fput_sync(filp);
	filp = undo_temporary(cut, "cut");
	undo_mix(cut, filp, cut->before, cut->now,
		 prandom_u32_state(&cut->rnd) % 2 ? cut->now_size : CUT_FILE);
	undo = dafsd_undo_known(CUT_SLOT, cut->undo->id, &in6addr_any);
	KUNIT_ASSERT_FALSE(cut->test, IS_ERR(undo));
	KUNIT_EXPECT_EQ(cut->test, 0, dafsd_undo_restore(dafsd_server.store, undo, filp));
	/* before anything was changed the size may not have been recorded */
	if (undo->armed || cut->now_size < CUT_FILE)
		undo_expect_before(cut, filp);
	dafsd_undo_delete(dafsd_server.store, undo);
	__fput_sync(filp);
	cut->checks++;
}

static int undo_cut_pwrite(struct file *filp, const void *buf, size_t len, loff_t pos)
{
	struct undo_cut *cut = kunit_get_current_test()->priv;
	loff_t end = pos + len;

	KUNIT_EXPECT_EQ(cut->test, len, kernel_write(filp, buf, len, &pos));
	if (filp != cut->undo->filp)
		return 0;
	KUNIT_ASSERT_LE(cut->test, end, CUT_LOG);
	memcpy(cut->written.data + end - len, buf, len);
	cut->written.size = max_t(size_t, cut->written.size, end);
	undo_cut_check(cut);
	return 0;
}

static int undo_cut_sync(struct file *filp)
{
	struct undo_cut *cut = kunit_get_current_test()->priv;

	if (filp != cut->undo->filp)
		return 0;
	undo_cut_check(cut);
	if (cut->fails && !(prandom_u32_state(&cut->rnd) % 4))
		return -EIO;
	memcpy(cut->durable.data, cut->written.data, CUT_LOG);
	cut->durable.size = cut->written.size;
	undo_cut_check(cut);
	return 0;
}

/* What is changed is saved first; what cannot be saved is not changed. */
static void undo_cut_change(struct undo_cut *cut)
{
	loff_t start = prandom_u32_state(&cut->rnd) % CUT_FILE;
	size_t len = 1 + prandom_u32_state(&cut->rnd) % min_t(size_t, 3 * DAFSD_UNDO_BLOCK,
							      CUT_FILE - start);

	if (dafsd_undo_save(dafsd_server.store, cut->undo, &cut->locked->f_path, start,
			    start + len))
		return;
	prandom_bytes_state(&cut->rnd, cut->now + start, len);
	cut->now_size = max_t(size_t, cut->now_size, start + len);
	KUNIT_EXPECT_EQ(cut->test, len, kernel_write(cut->locked, cut->now + start, len, &start));
	undo_cut_check(cut);
}

static void undo_cut_truncate(struct undo_cut *cut)
{
	size_t size = prandom_u32_state(&cut->rnd) % CUT_FILE;

	if (dafsd_undo_save(dafsd_server.store, cut->undo, &cut->locked->f_path, size, CUT_FILE))
		return;
	KUNIT_EXPECT_EQ(cut->test, 0, vfs_truncate(&cut->locked->f_path, size));
	cut->now_size = size;
	undo_cut_check(cut);
}

static struct undo_cut *undo_cut(struct kunit *test, u32 seed)
{
	struct undo_cut *cut = kunit_kzalloc(test, sizeof(*cut), GFP_KERNEL);
	/* the one of undo_cut_check() is taken inside of it */
	static struct lock_class_key key;

	KUNIT_ASSERT_NOT_NULL(test, cut);
	cut->test = test;
	prandom_seed_state(&cut->rnd, seed);
	cut->before = undo_alloc(test, CUT_FILE);
	cut->now = undo_alloc(test, CUT_FILE);
	cut->durable.data = undo_alloc(test, CUT_LOG);
	cut->written.data = undo_alloc(test, CUT_LOG);
	prandom_bytes_state(&cut->rnd, cut->before, CUT_FILE);
	memcpy(cut->now, cut->before, CUT_FILE);
	cut->now_size = CUT_FILE;
	cut->locked = undo_temporary(cut, "locked");
	undo_mix(cut, cut->locked, cut->before, cut->before, CUT_FILE);
	cut->undo = dafsd_undo_create(dafsd_server.store, &in6addr_any);
	KUNIT_ASSERT_FALSE(test, IS_ERR(cut->undo));
	lockdep_set_class(&cut->undo->lock, &key);
	test->priv = cut;
	kunit_activate_static_stub(test, dafsd_log_pwrite, undo_cut_pwrite);
	kunit_activate_static_stub(test, dafsd_log_sync, undo_cut_sync);
	return cut;
}

/* All is undone, as by its owner, and the lock stays. */
static void undo_cut_abort(struct undo_cut *cut)
{
	KUNIT_EXPECT_EQ(cut->test, 0,
			dafsd_undo_restore(dafsd_server.store, cut->undo, cut->locked));
	undo_expect_before(cut, cut->locked);
	memcpy(cut->now, cut->before, CUT_FILE);
	cut->now_size = CUT_FILE;
}

static void dafs_undo_cut_test(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test);
	u32 seed = get_random_u32();
	struct undo_cut *cut = undo_cut(test, seed);
	unsigned int n;

	KUNIT_ASSERT_NOT_NULL(test, fix);
	kunit_info(test, "seed %u\n", seed);
	KUNIT_ASSERT_EQ(test, 0, dafsd_undo_arm(dafsd_server.store, cut->undo, CUT_FILE));
	cut->fails = true;
	for (n = 0; n < CUT_CHANGES; n++)
		undo_cut_change(cut);
	undo_cut_abort(cut);
	for (n = 0; n < CUT_CHANGES; n++)
		undo_cut_change(cut);
	undo_cut_truncate(cut);
	for (n = 0; n < CUT_CHANGES; n++)
		undo_cut_change(cut);
	undo_cut_abort(cut);
	/* as a rule twice as many, but the seed may be such that little has to be saved */
	KUNIT_EXPECT_GT(test, cut->checks, 2 * CUT_CHANGES);
	kunit_deactivate_static_stub(test, dafsd_log_pwrite);
	kunit_deactivate_static_stub(test, dafsd_log_sync);
	dafsd_undo_delete(dafsd_server.store, cut->undo);
	__fput_sync(cut->locked);
	KUNIT_EXPECT_EQ(test, 0, dafsd_undo_count());
}

static struct kunit_case undo_cases[] = {
	KUNIT_CASE_PARAM(dafs_undo_commit_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_undo_expire_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_undo_first_test),
	KUNIT_CASE_PARAM(dafs_undo_reboot_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_undo_persist_test),
	KUNIT_CASE_PARAM(dafs_undo_abort_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_undo_reclaim_test),
	KUNIT_CASE(dafs_undo_grace_test),
	KUNIT_CASE(dafs_undo_options_test),
	KUNIT_CASE_PARAM(dafs_undo_others_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_undo_no_room_test),
	KUNIT_CASE(dafs_undo_stuck_test),
	KUNIT_CASE_SLOW(dafs_undo_again_test),
	KUNIT_CASE(dafs_undo_only_due_test),
	KUNIT_CASE(dafs_undo_sparse_test),
	KUNIT_CASE(dafs_undo_missing_test),
	KUNIT_CASE(dafs_undo_damaged_test),
	KUNIT_CASE(dafs_undo_cut_test),
	{}
};

static struct kunit_suite undo_suite = {
	.name = "dafs_undo",
	.test_cases = undo_cases,
};

kunit_test_suite(undo_suite);
