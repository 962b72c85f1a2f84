// SPDX-License-Identifier: GPL-2.0
/*
 * AUTORECOVERY locks: how many there are, what their before-images take of the state directory,
 * and disks that cannot be written or read.
 */
#include <kunit/static_stub.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/uio.h>
#include "../../../../drivers/dafsd/session/server.h"
#include "../../../../drivers/dafsd/state/persist_impl.h"
#include "../../../../drivers/dafsd/store/log.h"
#include "../../../../drivers/dafsd/store/store.h"
#include "../../../../drivers/dafsd/store/undo.h"
#include "../lib/holder.h"
#include "../lib/open_test.h"
#include "../lib/undo_test.h"

/* What a block takes that is saved alone */
#define LIMIT_ENTRY	(DAFSD_UNDO_ALIGN + DAFSD_UNDO_BLOCK)

/* What a lock takes with @nr bytes that were saved at once */
static size_t limit_log(size_t nr)
{
	return DAFSD_UNDO_ALIGN + nr + DIV_ROUND_UP(nr, DAFSD_UNDO_DATA) * DAFSD_UNDO_ALIGN;
}

/* The client of @a opens another file of @bytes bytes. */
static struct holder *limit_holder(struct kunit *test, const struct holder *a, const char *name,
				   loff_t bytes)
{
	struct dafs_open_args args = dafs_test_open_args(a->owner, DAFS_RW, 0);
	struct iattr ia = { .ia_valid = ATTR_SIZE, .ia_size = bytes };
	struct holder *h = kunit_kzalloc(test, sizeof(*h), GFP_KERNEL);
	struct dafs_str str = dafs_test_str(name);

	KUNIT_ASSERT_NOT_NULL(test, h);
	*h = *a;
	dafs_backing_write(test, h->fix, name, "", 0);
	dafs_backing_setattr(test, h->fix, name, &ia);
	args.dir_handle = h->fix->dir;
	args.pathname = (struct dafs_seq) { .count = 1, .elems = &str };
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   raw_call_as(h->conn, h->handle, DAFS_PROC_OPEN, &args, &h->open));
	return h;
}

static struct holder *limit_locked(struct kunit *test, const struct holder *a, const char *name,
				   loff_t bytes)
{
	struct holder *h = limit_holder(test, a, name, bytes);

	UNDO_OK(test, holder_lock(h, DAFS_WRITE_LT, UNDO, 0, ALL));
	return h;
}

static loff_t limit_size(struct kunit *test, const struct holder *h, const char *name)
{
	struct path path;
	loff_t size;

	KUNIT_ASSERT_EQ(test, 0, dafs_backing_path(h->fix, name, &path));
	size = i_size_read(d_inode(path.dentry));
	path_put(&path);
	return size;
}

/* R-4.4.1.4-03: what was done in two files is not undone together. */
static void dafs_undo_limit_two_test(struct kunit *test)
{
	struct holder *a = holder(test, persist_fixture(test));
	struct holder *one = limit_locked(test, a, "one", FILE_BYTES);
	struct holder *two = limit_locked(test, a, "two", FILE_BYTES);

	UNDO_OK(test, holder_truncate(one, true, 1));
	UNDO_OK(test, holder_truncate(two, true, 1));
	UNDO_OK(test, holder_unlock(one, 0, ALL));
	holder_expire(test, a);
	raw_settle();
	KUNIT_EXPECT_EQ(test, 1, limit_size(test, a, "one"));
	KUNIT_EXPECT_EQ(test, FILE_BYTES, limit_size(test, a, "two"));
}

/* A quarter of a MiB */
#define LIMIT_QUARTER	(SZ_1M / 4)
/* The most blocks that fit into it */
#define LIMIT_FITS	(250 * 1024)

/* One lock has a quarter of the space, whether it uses it at once or in pieces. */
static void dafs_undo_limit_lock_test(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test);
	struct holder *a = holder(test, fix), *h;
	loff_t size = LIMIT_FITS + DAFSD_UNDO_BLOCK;
	unsigned int n;

	KUNIT_ASSERT_LE(test, limit_log(LIMIT_FITS), LIMIT_QUARTER);
	KUNIT_ASSERT_GT(test, limit_log(size), LIMIT_QUARTER);
	dafs_fixture_server_param(test, &dafsd_undo_max, 1);
	h = limit_locked(test, a, "more", size);
	DAFS_EXPECT_STATUS(test, DAFSERR_NOSPC, holder_truncate(h, true, 0));
	/* nothing was taken for what was refused */
	UNDO_OK(test, holder_truncate(h, true, DAFSD_UNDO_BLOCK));
	DAFS_EXPECT_STATUS(test, DAFSERR_NOSPC, holder_truncate(h, true, 0));
	UNDO_OK(test, holder_unlock(h, 0, ALL));
	size = LIMIT_QUARTER;
	h = limit_locked(test, a, "pieces", size);
	for (n = 0; n < (LIMIT_QUARTER - DAFSD_UNDO_ALIGN) / LIMIT_ENTRY; n++) {
		size -= DAFSD_UNDO_BLOCK;
		UNDO_OK(test, holder_truncate(h, true, size));
	}
	DAFS_EXPECT_STATUS(test, DAFSERR_NOSPC,
			   holder_truncate(h, true, size - DAFSD_UNDO_BLOCK));
	UNDO_OK(test, holder_lock(h, DAFS_ABORT_LT, 0, 0, ALL));
}

/* A locked file of @bytes, and before-images of it that are made without a client */
static struct dafsd_undo *limit_undo(struct kunit *test, struct file **locked, loff_t bytes)
{
	struct dafsd_undo *undo = dafsd_undo_create(dafsd_server.store, &in6addr_any);
	loff_t pos;

	KUNIT_ASSERT_FALSE(test, IS_ERR(undo));
	*locked = undo_state_file("locked", O_RDWR | O_CREAT | O_TRUNC);
	KUNIT_ASSERT_FALSE(test, IS_ERR(*locked));
	for (pos = 0; pos < bytes;)
		KUNIT_ASSERT_EQ(test, FILE_BYTES,
				kernel_write(*locked, UNDO_OLD, FILE_BYTES, &pos));
	KUNIT_ASSERT_EQ(test, 0, dafsd_undo_arm(dafsd_server.store, undo, bytes));
	return undo;
}

/* What was saved before a restart counts, although nobody has used it since. */
static void dafs_undo_limit_restart_test(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test);
	struct holder *a = holder(test, fix), *b = holder(test, fix), *h;

	dafs_fixture_server_param(test, &dafsd_undo_max, 1);
	h = limit_holder(test, a, "one", LIMIT_FITS);
	UNDO_OK(test, holder_lock(h, DAFS_WRITE_LT, UNDO | PERSIST, 0, ALL));
	UNDO_OK(test, holder_truncate(h, true, 0));
	h = limit_holder(test, a, "two", LIMIT_FITS);
	UNDO_OK(test, holder_lock(h, DAFS_WRITE_LT, UNDO | PERSIST, 0, ALL));
	UNDO_OK(test, holder_truncate(h, true, 0));
	holder_expire(test, a);
	raw_settle();
	persist_restart(test);
	KUNIT_EXPECT_EQ(test, 2, dafsd_undo_count());
	h = limit_locked(test, b, "three", LIMIT_FITS);
	DAFS_EXPECT_STATUS(test, DAFSERR_NOSPC, holder_truncate(h, true, 0));
	UNDO_OK(test, holder_truncate(h, true, LIMIT_FITS - 1));
}

static const struct dafs_flavour limit_elsewhere = { .name = "IPv6", .ipv6 = true };

/* Two clients of an address use up its share, half of all; a third lock has room for a block. */
static void limit_use_share(struct kunit *test, struct dafs_fixture *fix, const char *tag,
			    struct holder **last, struct holder **more)
{
	struct holder *h;
	unsigned int n;
	char name[16];

	for (n = 0; n < 3; n++) {
		snprintf(name, sizeof(name), "%s%u", tag, n);
		h = limit_locked(test, holder(test, fix), name, LIMIT_FITS);
		*last = n < 2 ? h : *last;
		if (n < 2)
			UNDO_OK(test, holder_truncate(h, true, 0));
	}
	*more = h;
	DAFS_EXPECT_STATUS(test, DAFSERR_NOSPC, holder_truncate(h, true, 0));
	UNDO_OK(test, holder_truncate(h, true, LIMIT_FITS - 1));
}

/*
 * All locks have what the administrator allows, and those of an address half of it, by whatever
 * clients it has, so that others have room; what has ended makes room.
 */
static void dafs_undo_limit_all_test(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test);
	struct holder *last, *more, *other, *none;
	struct dafsd_undo *undo;
	struct file *locked;

	dafs_fixture_server_param(test, &dafsd_undo_max, 1);
	limit_use_share(test, fix, "here", &last, &more);
	test->param_value = &limit_elsewhere;
	limit_use_share(test, fix, "there", &other, &none);
	/* both together have all of it; and what is left is too little for a third address */
	undo = limit_undo(test, &locked, SZ_128K);
	KUNIT_EXPECT_EQ(test, -ENOSPC, dafsd_undo_save(dafsd_server.store, undo, &locked->f_path,
						       0, SZ_128K));
	UNDO_OK(test, holder_unlock(last, 0, ALL));
	DAFS_EXPECT_STATUS(test, DAFSERR_NOSPC, holder_truncate(none, true, 0));
	UNDO_OK(test, holder_truncate(more, true, 0));
	UNDO_OK(test, holder_unlock(other, 0, ALL));
	KUNIT_EXPECT_EQ(test, 0, dafsd_undo_save(dafsd_server.store, undo, &locked->f_path, 0,
						 SZ_128K));
	dafsd_undo_delete(dafsd_server.store, undo);
	__fput_sync(locked);
}

/* Locks that nobody has: what is left of the number that there may be */
static void limit_take_all(struct kunit *test, struct dafsd_undo **taken)
{
	u32 slot;

	for (slot = 0; slot < DAFSD_UNDO_SLOTS; slot++) {
		taken[slot] = dafsd_undo_known(slot, 1, &in6addr_any);
		if (IS_ERR(taken[slot]))
			taken[slot] = NULL;
	}
	KUNIT_EXPECT_EQ(test, DAFSD_UNDO_SLOTS, dafsd_undo_count());
}

static void limit_give_back(struct dafsd_undo **taken)
{
	u32 slot;

	for (slot = 0; slot < DAFSD_UNDO_SLOTS; slot++)
		if (taken[slot])
			dafsd_undo_put(taken[slot]);
}

/* There are 1024 of them, and a quarter from one address, by whatever clients it has. */
static void dafs_undo_limit_number_test(struct kunit *test)
{
	struct dafsd_undo **taken = kunit_kcalloc(test, DAFSD_UNDO_SLOTS, sizeof(*taken),
						  GFP_KERNEL);
	struct dafs_fixture *fix = persist_fixture(test);
	struct holder *a = holder(test, fix), *b = holder(test, fix), *last = NULL, *c;
	unsigned int n;
	char name[16];

	KUNIT_ASSERT_NOT_NULL(test, taken);
	for (n = 0; n < DAFSD_UNDO_SLOTS / 4; n++) {
		snprintf(name, sizeof(name), "file%u", n);
		last = limit_locked(test, n % 2 ? a : b, name, 0);
	}
	DAFS_EXPECT_STATUS(test, DAFSERR_RESOURCE, holder_lock(a, DAFS_WRITE_LT, UNDO, 0, ALL));
	UNDO_OK(test, holder_lock(a, DAFS_WRITE_LT, PERSIST, 0, ALL));
	UNDO_OK(test, holder_unlock(a, 0, ALL));
	test->param_value = &limit_elsewhere;
	c = holder(test, fix);
	UNDO_OK(test, holder_lock(c, DAFS_WRITE_LT, UNDO, 0, ALL));
	UNDO_OK(test, holder_unlock(c, 0, ALL));
	limit_take_all(test, taken);
	DAFS_EXPECT_STATUS(test, DAFSERR_RESOURCE, holder_lock(c, DAFS_WRITE_LT, UNDO, 0, ALL));
	UNDO_OK(test, holder_unlock(last, 0, ALL));
	UNDO_OK(test, holder_lock(c, DAFS_WRITE_LT, UNDO, 0, ALL));
	UNDO_OK(test, holder_unlock(c, 0, ALL));
	limit_give_back(taken);
}

static int limit_failing_sync(struct file *filp)
{
	return -EIO;
}

/* What could not be saved takes no space that is not counted. */
static void dafs_undo_limit_failed_test(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test);
	struct dafsd_undo *undo;
	struct file *locked;
	unsigned int n;

	KUNIT_ASSERT_NOT_NULL(test, fix);
	undo = limit_undo(test, &locked, SZ_128K);
	kunit_activate_static_stub(test, dafsd_log_sync, limit_failing_sync);
	for (n = 0; n < 3; n++) {
		KUNIT_EXPECT_EQ(test, -EIO, dafsd_undo_save(dafsd_server.store, undo,
							    &locked->f_path, n, SZ_128K));
		KUNIT_EXPECT_EQ(test, DAFSD_UNDO_ALIGN, i_size_read(file_inode(undo->filp)));
		KUNIT_EXPECT_EQ(test, DAFSD_UNDO_ALIGN, undo->bytes);
	}
	kunit_deactivate_static_stub(test, dafsd_log_sync);
	KUNIT_EXPECT_EQ(test, 0, dafsd_undo_save(dafsd_server.store, undo, &locked->f_path, 0,
						 SZ_128K));
	KUNIT_EXPECT_EQ(test, limit_log(SZ_128K), i_size_read(file_inode(undo->filp)));
	KUNIT_EXPECT_EQ(test, limit_log(SZ_128K), undo->bytes);
	dafsd_undo_delete(dafsd_server.store, undo);
	__fput_sync(locked);
}

/* What is at @limit_bad, or behind it, cannot be read from the disk. */
static loff_t limit_bad;
static const struct file_operations *limit_good_fops;

static ssize_t limit_read_iter(struct kiocb *iocb, struct iov_iter *to)
{
	if (iocb->ki_pos >= limit_bad)
		return -EIO;
	iov_iter_truncate(to, limit_bad - iocb->ki_pos);
	return limit_good_fops->read_iter(iocb, to);
}

static const struct file_operations limit_bad_fops = {
	.owner = THIS_MODULE,
	.read_iter = limit_read_iter,
};

static void limit_break_reading(struct inode *inode)
{
	limit_good_fops = inode->i_fop;
	inode->i_fop = &limit_bad_fops;
}

/* Undoes what was written, as if the server had restarted. */
static int limit_restore(struct kunit *test, u32 slot, u64 id, struct file *locked)
{
	struct dafsd_undo *undo = dafsd_undo_known(slot, id, &in6addr_any);
	int err;

	KUNIT_ASSERT_FALSE(test, IS_ERR(undo));
	err = dafsd_undo_restore(dafsd_server.store, undo, locked);
	dafsd_undo_put(undo);
	return err;
}

static void limit_expect(struct kunit *test, struct file *locked, loff_t pos, const char *data)
{
	char now[FILE_BYTES];

	KUNIT_EXPECT_EQ(test, FILE_BYTES, kernel_read(locked, now, FILE_BYTES, &pos));
	KUNIT_EXPECT_MEMEQ(test, data, now, FILE_BYTES);
}

/* What cannot be read is not missing: nothing is undone before all of it can be read. */
static void dafs_undo_limit_read_test(struct kunit *test)
{
	static const char changed[FILE_BYTES + 1] = "what was written under the lock ";
	/* the first header, the last one, a part of it, its data */
	static const loff_t bad[] = {
		0, DAFSD_UNDO_ALIGN + LIMIT_ENTRY, DAFSD_UNDO_ALIGN + LIMIT_ENTRY + 100,
		DAFSD_UNDO_ALIGN + LIMIT_ENTRY + DAFSD_UNDO_ALIGN, 2 * LIMIT_ENTRY,
	};
	struct dafs_fixture *fix = persist_fixture(test);
	struct file *locked, *log;
	struct dafsd_undo *undo;
	unsigned int n;
	loff_t pos;
	u32 slot;
	u64 id;

	KUNIT_ASSERT_NOT_NULL(test, fix);
	undo = limit_undo(test, &locked, 4 * DAFSD_UNDO_BLOCK);
	slot = undo->slot;
	id = undo->id;
	for (n = 0; n < 2; n++) {
		pos = 2 * n * DAFSD_UNDO_BLOCK;
		KUNIT_EXPECT_EQ(test, 0, dafsd_undo_save(dafsd_server.store, undo,
							 &locked->f_path, pos, pos + 1));
		KUNIT_EXPECT_EQ(test, FILE_BYTES, kernel_write(locked, changed, FILE_BYTES, &pos));
	}
	dafsd_undo_put(undo);
	log = undo_file(slot, O_RDWR);
	KUNIT_ASSERT_FALSE(test, IS_ERR(log));
	KUNIT_ASSERT_EQ(test, DAFSD_UNDO_ALIGN + 2 * LIMIT_ENTRY, i_size_read(file_inode(log)));
	limit_break_reading(file_inode(log));
	for (n = 0; n < ARRAY_SIZE(bad); n++) {
		limit_bad = bad[n];
		KUNIT_EXPECT_EQ_MSG(test, -EIO, limit_restore(test, slot, id, locked), "at %lld",
				    bad[n]);
		limit_expect(test, locked, 0, changed);
		limit_expect(test, locked, 2 * DAFSD_UNDO_BLOCK, changed);
	}
	file_inode(log)->i_fop = limit_good_fops;
	__fput_sync(log);
	KUNIT_EXPECT_EQ(test, 0, limit_restore(test, slot, id, locked));
	limit_expect(test, locked, 0, UNDO_OLD);
	limit_expect(test, locked, 2 * DAFSD_UNDO_BLOCK, UNDO_OLD);
	__fput_sync(locked);
	dafsd_undo_clean(dafsd_server.store);
}

static struct kunit_case undo_limit_cases[] = {
	KUNIT_CASE(dafs_undo_limit_two_test),
	KUNIT_CASE(dafs_undo_limit_lock_test),
	KUNIT_CASE(dafs_undo_limit_all_test),
	KUNIT_CASE(dafs_undo_limit_restart_test),
	KUNIT_CASE(dafs_undo_limit_number_test),
	KUNIT_CASE(dafs_undo_limit_failed_test),
	KUNIT_CASE(dafs_undo_limit_read_test),
	{}
};

static struct kunit_suite undo_limit_suite = {
	.name = "dafs_undo_limit",
	.test_cases = undo_limit_cases,
};

kunit_test_suite(undo_limit_suite);
