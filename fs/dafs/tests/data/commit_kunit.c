// SPDX-License-Identifier: GPL-2.0
/* Stable writes, COMMIT and the write verifier. */
#include <linux/pagemap.h>
#include "../lib/rw_test.h"

static struct address_space *dafs_io_mapping(struct kunit *test, struct dafs_fixture *fix,
					     const char *name)
{
	struct address_space *mapping;
	struct path path;

	KUNIT_ASSERT_EQ(test, 0, dafs_backing_path(fix, name, &path));
	mapping = d_inode(path.dentry)->i_mapping;
	path_put(&path);
	/* the open of the test keeps it */
	return mapping;
}

static bool dafs_io_dirty(struct address_space *mapping)
{
	return mapping_tagged(mapping, PAGECACHE_TAG_DIRTY) ||
	       mapping_tagged(mapping, PAGECACHE_TAG_WRITEBACK);
}

/*
 * R-6.5.38-02 R-6.5.38-03: data that is only in the server's memory is not
 * reported as stable, and the requested stability is granted.
 */
static void dafs_write_stable_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct address_space *mapping;
	u8 *data = dafs_io_alloc(test, 5000);
	struct dafs_write_res res;
	struct dafs_io_arg io;
	int n, direct;

	dafs_io_file(test, fix, "file", 0);
	io = dafs_io_open(test, fix, "file", DAFS_OPEN_SHARE_ACCESS_WRITE);
	mapping = dafs_io_mapping(test, fix, "file");
	io.count = 5000;
	for (n = 0; n < 6; n++) {
		direct = n % 2;
		io.stable = n / 2;
		dafs_test_pattern(data, 5000, n);
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
				   dafs_do_write(test, fix, direct, &io, data, &res));
		KUNIT_EXPECT_GE(test, res.committed, io.stable);
		KUNIT_EXPECT_LE(test, res.committed, DAFS_FILE_SYNC);
		if (res.committed >= DAFS_DATA_SYNC)
			KUNIT_EXPECT_FALSE(test, dafs_io_dirty(mapping));
		else
			KUNIT_EXPECT_TRUE(test, dafs_io_dirty(mapping));
	}
	io.stable = DAFS_FILE_SYNC + 1;
	for (direct = 0; direct < 2; direct++)
		DAFS_EXPECT_STATUS(test, DAFSERR_INVAL,
				   dafs_do_write(test, fix, direct, &io, data, &res));
}

/*
 * R-6.5.8-03 R-6.5.38-06: COMMIT leaves no dirty data in memory; the verifier is
 * the same for all files, inline and direct.
 */
static void dafs_commit_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_verifier verf, first;
	struct address_space *mapping;
	u8 *data = dafs_io_alloc(test, 9000);
	struct dafs_write_res res;
	struct dafs_io_arg io;
	int direct;

	dafs_io_file(test, fix, "file", 0);
	dafs_io_file(test, fix, "other", 10);
	io = dafs_io_open(test, fix, "other", DAFS_OPEN_SHARE_ACCESS_WRITE);
	KUNIT_EXPECT_EQ(test, 0, dafs_commit(fix->clnt, dafs_test_me(), &io.fh, 0, 0, &first));
	KUNIT_EXPECT_EQ(test, 0, dafs_commit(fix->clnt, dafs_test_me(), &io.fh, 0, 0, &verf));
	KUNIT_EXPECT_MEMEQ(test, &first, &verf, sizeof(verf));
	io = dafs_io_open(test, fix, "file", DAFS_OPEN_SHARE_ACCESS_WRITE);
	mapping = dafs_io_mapping(test, fix, "file");
	for (direct = 0; direct < 2; direct++) {
		io.count = direct ? 9000 : 4000;
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
				   dafs_do_write(test, fix, direct, &io, data, &res));
		KUNIT_EXPECT_MEMEQ(test, &first, &res.verifier, sizeof(verf));
		if (res.committed == DAFS_UNSTABLE)
			KUNIT_EXPECT_TRUE(test, dafs_io_dirty(mapping));
		KUNIT_EXPECT_EQ(test, 0, dafs_commit(fix->clnt, dafs_test_me(), &io.fh, 0,
						     direct ? 0 : 4000, &verf));
		KUNIT_EXPECT_MEMEQ(test, &first, &verf, sizeof(verf));
		KUNIT_EXPECT_FALSE(test, dafs_io_dirty(mapping));
	}
}

static dafs_status_t dafs_try_commit(struct kunit *test, struct dafs_fixture *fix,
				     const struct cred *cred, const struct dafs_fh *fh, u64 offset,
				     u32 count)
{
	struct dafs_commit_args args = { .filehandle = *fh, .offset = offset, .count = count };
	struct dafs_commit_res res;

	return dafs_test_call(test, fix->clnt, cred, DAFS_PROC_COMMIT, &args, &res);
}

/* Any range is allowed, but not every object and every user (E-102). */
static void dafs_commit_args_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_fixture *ro = dafs_fixture_in(test, test->param_value, DAFS_TEST_RO);
	const struct cred *user = dafs_fixture_user(test, 1000, 1000);
	struct dafs_fh fh;

	dafs_io_file(test, fix, "file", 10);
	dafs_io_file(test, ro, "file", 10);
	dafs_backing_mknod(test, fix, "fifo", S_IFIFO | 0666, 0);
	fh = dafs_test_lookup(test, fix, "file");
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_try_commit(test, fix, dafs_test_me(), &fh, 0, U32_MAX));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_try_commit(test, fix, dafs_test_me(), &fh, 5000, 1));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_try_commit(test, fix, dafs_test_me(), &fh, MAX_LFS_FILESIZE,
					   U32_MAX));
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL,
			   dafs_try_commit(test, fix, dafs_test_me(), &fh, U64_MAX, 0));
	DAFS_EXPECT_STATUS(test, DAFSERR_ACCES, dafs_try_commit(test, fix, user, &fh, 0, 0));
	DAFS_EXPECT_STATUS(test, DAFSERR_ISDIR,
			   dafs_try_commit(test, fix, dafs_test_me(), &fix->dir, 0, 0));
	fh = dafs_test_lookup(test, fix, "fifo");
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL,
			   dafs_try_commit(test, fix, dafs_test_me(), &fh, 0, 0));
	fh = dafs_test_lookup(test, ro, "file");
	DAFS_EXPECT_STATUS(test, DAFSERR_ROFS,
			   dafs_try_commit(test, ro, dafs_test_me(), &fh, 0, 0));
}

/* Files whose ->fsync() is replaced by the test */
static struct file_operations dafs_io_fops;
static const struct file_operations *dafs_io_real_fops;

static void dafs_io_restore_fsync(void *inode)
{
	((struct inode *)inode)->i_fop = dafs_io_real_fops;
	iput(inode);
}

/* Before it is opened */
static void dafs_io_replace_fsync(struct kunit *test, struct dafs_fixture *fix, const char *name,
				  int (*fsync)(struct file *filp, loff_t start, loff_t end,
					       int datasync))
{
	struct inode *inode;
	struct path path;

	KUNIT_ASSERT_EQ(test, 0, dafs_backing_path(fix, name, &path));
	inode = d_inode(path.dentry);
	ihold(inode);
	path_put(&path);
	dafs_io_real_fops = inode->i_fop;
	dafs_io_fops = *dafs_io_real_fops;
	dafs_io_fops.fsync = fsync;
	inode->i_fop = &dafs_io_fops;
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, dafs_io_restore_fsync, inode));
}

static void dafs_io_close(struct kunit *test, struct dafs_fixture *fix,
			  const struct dafs_io_arg *io)
{
	const struct dafs_open_res open = { .filehandle = io->fh, .state_id = io->state_id };

	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &open));
}

/* A disk whose cache flush fails; no page has a write error. */
static int dafs_io_fsync_fails(struct file *filp, loff_t start, loff_t end, int datasync)
{
	return -EIO;
}

/*
 * R-6.5.38-02: a write that could not be made stable fails, and the verifier
 * changes because earlier data may be lost too.
 */
static void dafs_write_flush_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_verifier before;
	struct dafs_write_res res;
	struct dafs_io_arg io;

	dafs_io_file(test, fix, "file", 10);
	dafs_io_replace_fsync(test, fix, "file", dafs_io_fsync_fails);
	io = dafs_io_open(test, fix, "file", DAFS_OPEN_SHARE_ACCESS_WRITE);
	io.count = 4;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_do_write(test, fix, false, &io, "data", &res));
	before = res.verifier;
	io.stable = DAFS_FILE_SYNC;
	DAFS_EXPECT_STATUS(test, DAFSERR_IO, dafs_do_write(test, fix, false, &io, "data", &res));
	io.stable = DAFS_UNSTABLE;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_do_write(test, fix, false, &io, "data", &res));
	KUNIT_EXPECT_MEMNEQ(test, &before, &res.verifier, sizeof(before));
	dafs_io_close(test, fix, &io);
}

/* As if a concurrent request by the same open had seen the write error first. */
static int dafs_io_fsync_told(struct file *filp, loff_t start, loff_t end, int datasync)
{
	mapping_set_error(filp->f_mapping, -EIO);
	return file_check_and_advance_wb_err(filp) ? 0 : -ENODATA;
}

/* R-6.5.38-02: the write fails even if another request has consumed the error. */
static void dafs_write_told_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_write_res res;
	struct dafs_io_arg io;

	dafs_io_file(test, fix, "file", 10);
	dafs_io_replace_fsync(test, fix, "file", dafs_io_fsync_told);
	io = dafs_io_open(test, fix, "file", DAFS_OPEN_SHARE_ACCESS_WRITE);
	io.count = 4;
	io.stable = DAFS_FILE_SYNC;
	DAFS_EXPECT_STATUS(test, DAFSERR_IO, dafs_do_write(test, fix, false, &io, "data", &res));
	dafs_io_close(test, fix, &io);
}

/* R-6.5.8-02: data that could not be written back is lost, and the verifier changes. */
static void dafs_verifier_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_verifier before, after;
	struct dafs_write_res res;
	struct dafs_io_arg io;

	dafs_io_file(test, fix, "file", 10);
	io = dafs_io_open(test, fix, "file", DAFS_OPEN_SHARE_ACCESS_WRITE);
	io.count = 4;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_do_write(test, fix, false, &io, "data", &res));
	before = res.verifier;
	mapping_set_error(dafs_io_mapping(test, fix, "file"), -EIO);
	DAFS_EXPECT_STATUS(test, DAFSERR_IO,
			   dafs_try_commit(test, fix, dafs_test_me(), &io.fh, 0, 0));
	KUNIT_EXPECT_EQ(test, 0, dafs_commit(fix->clnt, dafs_test_me(), &io.fh, 0, 0, &after));
	KUNIT_EXPECT_MEMNEQ(test, &before, &after, sizeof(after));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_do_write(test, fix, false, &io, "data", &res));
	KUNIT_EXPECT_MEMEQ(test, &after, &res.verifier, sizeof(after));
	/* the error is found by a write, which succeeds all the same */
	mapping_set_error(dafs_io_mapping(test, fix, "file"), -EIO);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_do_write(test, fix, true, &io, "data", &res));
	KUNIT_EXPECT_EQ(test, 0, dafs_commit(fix->clnt, dafs_test_me(), &io.fh, 0, 0, &before));
	KUNIT_EXPECT_MEMNEQ(test, &before, &after, sizeof(after));
}

/* Which operation sees a writeback error before COMMIT does */
enum dafs_witness { DAFS_WITNESS_INLINE, DAFS_WITNESS_DIRECT, DAFS_WITNESS_LOCAL };

static const void *dafs_witness_gen(const void *prev, char *desc)
{
	static const enum dafs_witness all[] = {
		DAFS_WITNESS_INLINE, DAFS_WITNESS_DIRECT, DAFS_WITNESS_LOCAL,
	};
	static const char *const names[] = { "a stable write", "a direct one", "a local fsync" };
	const enum dafs_witness *next = prev ? (const enum dafs_witness *)prev + 1 : all;

	if (next >= all + ARRAY_SIZE(all))
		return NULL;
	strscpy(desc, names[next - all], KUNIT_PARAM_DESC_SIZE);
	return next;
}

static void dafs_witness(struct kunit *test, struct dafs_fixture *fix, struct dafs_io_arg io,
			 struct file *local)
{
	enum dafs_witness who = *(const enum dafs_witness *)test->param_value;
	struct dafs_write_res res;

	io.offset = 4096;
	io.stable = DAFS_FILE_SYNC;
	if (who == DAFS_WITNESS_LOCAL)
		KUNIT_EXPECT_EQ(test, -EIO, vfs_fsync(local, 0));
	else
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
				   dafs_do_write(test, fix, who == DAFS_WITNESS_DIRECT, &io, "more",
						 &res));
}

/*
 * R-6.5.8-02: whichever operation saw the error first, and even if the open that
 * wrote the data is closed, COMMIT does not return the old verifier.
 */
static void dafs_verifier_hidden_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_verifier after;
	struct dafs_write_res res;
	struct dafs_io_arg io;
	struct file *local;

	dafs_io_file(test, fix, "file", 10);
	io = dafs_io_open(test, fix, "file", DAFS_OPEN_SHARE_ACCESS_WRITE);
	local = dafs_backing_open(fix, "file", O_RDWR, 0);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, local);
	io.count = 4;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_do_write(test, fix, false, &io, "data", &res));
	mapping_set_error(dafs_io_mapping(test, fix, "file"), -EIO);
	dafs_witness(test, fix, io, local);
	dafs_io_close(test, fix, &io);
	dafs_backing_close(local);
	KUNIT_EXPECT_EQ(test, 0, dafs_commit(fix->clnt, dafs_test_me(), &io.fh, 0, 0, &after));
	KUNIT_EXPECT_MEMNEQ(test, &res.verifier, &after, sizeof(after));
}

static struct kunit_case dafs_io_commit_cases[] = {
	KUNIT_CASE_PARAM(dafs_write_stable_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_commit_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_commit_args_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_write_flush_test),
	KUNIT_CASE(dafs_write_told_test),
	KUNIT_CASE(dafs_verifier_test),
	KUNIT_CASE_PARAM(dafs_verifier_hidden_test, dafs_witness_gen),
	{}
};

static struct kunit_suite dafs_io_commit_suite = {
	.name = "dafs_io_commit",
	.test_cases = dafs_io_commit_cases,
};

kunit_test_suite(dafs_io_commit_suite);
