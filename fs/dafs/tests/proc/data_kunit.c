// SPDX-License-Identifier: GPL-2.0
/*
 * Data transfer with hand-built requests: OPEN, READ and WRITE inline and direct,
 * COMMIT, CLOSE, READDIR; each answer is compared with the server's own file.
 */
#include <linux/pagemap.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include "../lib/fixture.h"

#define DATA_LEN	(3 * PAGE_SIZE + 123)
#define DATA_LARGE	(38 * PAGE_SIZE + 123)

/**
 * struct data_test - an open file and memory for its data
 * @fix: the fixture
 * @open: the open file
 * @out: what is written
 * @in: what is read
 */
struct data_test {
	struct dafs_fixture *fix;
	struct dafs_open_res open;
	u8 *out;
	u8 *in;
};

static struct data_test *data_test(struct kunit *test, u32 access)
{
	struct dafs_open_args args = dafs_test_open_args("data", access, 0);
	struct data_test *dt = kunit_kzalloc(test, sizeof(*dt), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, dt);
	dt->fix = dafs_fixture(test, test->param_value);
	dt->out = kunit_kzalloc(test, DATA_LEN, GFP_KERNEL);
	dt->in = kunit_kzalloc(test, DATA_LEN, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, dt->out);
	KUNIT_ASSERT_NOT_NULL(test, dt->in);
	dafs_test_pattern(dt->out, DATA_LEN, 1);
	dafs_backing_write(test, dt->fix, "file", dt->out, DATA_LEN);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   dafs_test_open(test, dt->fix->clnt, dafs_test_me(), &dt->fix->dir,
					  "file", &args, &dt->open));
	return dt;
}

static void data_expect_file(struct kunit *test, struct data_test *dt)
{
	KUNIT_EXPECT_EQ(test, (ssize_t)DATA_LEN,
			dafs_backing_read(dt->fix, "file", dt->in, DATA_LEN, 0));
	KUNIT_EXPECT_MEMEQ(test, dt->in, dt->out, DATA_LEN);
}

/* A direct call over the pieces of memory in @vec; returns the DAFS status. */
static dafs_status_t data_direct(struct kunit *test, struct data_test *dt, u32 proc, void *args,
				 struct dafs_seq *bufs, struct kvec *vec, unsigned int nr,
				 size_t len, void *res)
{
	bool write = proc == DAFS_PROC_WRITE_DIRECT;
	struct dafs_conn *conn = dafs_conn_get(dt->fix->clnt);
	struct dafs_call *call = dafs_call_alloc(GFP_KERNEL);
	struct dafs_mem mem;
	struct iov_iter iter;
	dafs_status_t status;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, conn);
	KUNIT_ASSERT_NOT_NULL(test, call);
	iov_iter_kvec(&iter, write ? ITER_SOURCE : ITER_DEST, vec, nr, len);
	KUNIT_ASSERT_EQ(test, (ssize_t)len,
			dafs_mem_map(conn->op, &mem, &iter, len,
				     write ? DMA_TO_DEVICE : DMA_FROM_DEVICE));
	*bufs = (struct dafs_seq) { .count = mem.nr, .elems = mem.bufs };
	call->proc = proc;
	call->args = args;
	call->mem = &mem;
	KUNIT_ASSERT_EQ(test, 0, dafs_cred_handle(dt->fix->clnt, conn, dafs_test_me(),
						  call->cred));
	KUNIT_ASSERT_EQ(test, 0, dafs_call_start(conn->rq, call));
	KUNIT_ASSERT_EQ(test, 0, dafs_call_wait(call));
	status = call->status;
	if (!status)
		KUNIT_EXPECT_EQ(test, 0, dafs_decode_res(&call->buf, proc, res));
	dafs_call_put(call);
	dafs_conn_put(conn);
	return status;
}

static void data_cksum(struct data_test *dt, const void *data, size_t len,
		       struct dafs_cksum *cksum)
{
	struct dafs_cksum_state state;

	dafs_cksum_init(&state);
	dafs_cksum_update(&state, data, len);
	dafs_cksum_final_host(&state, dt->fix->params.swab, cksum);
}

/* R-4.2.2.2-01 R-6.5.28-01: two buffers, filled in the order of the list */
static void data_read_direct_test(struct kunit *test)
{
	struct data_test *dt = data_test(test, DAFS_OPEN_SHARE_ACCESS_READ);
	struct kvec vec[] = {
		{ dt->in + 2 * PAGE_SIZE, PAGE_SIZE },
		{ dt->in, PAGE_SIZE },
	};
	struct dafs_read_direct_args args = {
		.filehandle = dt->open.filehandle,
		.state_id = dt->open.state_id,
		.offset = 7,
		.byte_count = 2 * PAGE_SIZE,
	};
	struct dafs_read_direct_res res;
	struct dafs_cksum sum;

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   data_direct(test, dt, DAFS_PROC_READ_DIRECT, &args,
				       &args.read_data_buffers, vec, 2, 2 * PAGE_SIZE, &res));
	KUNIT_EXPECT_EQ(test, 2 * PAGE_SIZE, (size_t)res.bytes_read);
	KUNIT_EXPECT_EQ(test, 0, res.eof);
	KUNIT_EXPECT_MEMEQ(test, dt->in + 2 * PAGE_SIZE, dt->out + 7, PAGE_SIZE);
	KUNIT_EXPECT_MEMEQ(test, dt->in, dt->out + 7 + PAGE_SIZE, PAGE_SIZE);
	if (!dt->fix->params.cksum)
		return;
	data_cksum(dt, dt->out + 7, 2 * PAGE_SIZE, &sum);
	KUNIT_EXPECT_EQ(test, sum.s1, res.direct_checksum.s1);
	KUNIT_EXPECT_EQ(test, sum.s2, res.direct_checksum.s2);
}

/* R-6.5.28-02: EOF; the buffer behind the data is not changed */
static void data_read_direct_eof_test(struct kunit *test)
{
	struct data_test *dt = data_test(test, DAFS_OPEN_SHARE_ACCESS_READ);
	struct kvec vec = { dt->in, PAGE_SIZE };
	struct dafs_read_direct_args args = {
		.filehandle = dt->open.filehandle,
		.state_id = dt->open.state_id,
		.offset = DATA_LEN - 100,
		.byte_count = PAGE_SIZE,
	};
	struct dafs_read_direct_res res;

	memset(dt->in, 0xa5, PAGE_SIZE);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   data_direct(test, dt, DAFS_PROC_READ_DIRECT, &args,
				       &args.read_data_buffers, &vec, 1, PAGE_SIZE, &res));
	KUNIT_EXPECT_EQ(test, 100U, res.bytes_read);
	KUNIT_EXPECT_EQ(test, 1, res.eof);
	KUNIT_EXPECT_MEMEQ(test, dt->in, dt->out + DATA_LEN - 100, 100);
	KUNIT_EXPECT_NULL(test, memchr_inv(dt->in + 100, 0xa5, PAGE_SIZE - 100));
}

/*
 * A large read is sent from the pages of the page cache: it starts in the middle of a
 * page and ends at EOF, in two buffers.
 */
static void data_read_direct_large_test(struct kunit *test)
{
	struct data_test *dt = data_test(test, DAFS_OPEN_SHARE_ACCESS_READ);
	u8 *out = kunit_kzalloc(test, DATA_LARGE, GFP_KERNEL);
	u8 *in = kunit_kzalloc(test, 39 * PAGE_SIZE, GFP_KERNEL);
	struct kvec vec[] = {
		{ in + 20 * PAGE_SIZE, 19 * PAGE_SIZE },
		{ in, 20 * PAGE_SIZE },
	};
	struct dafs_read_direct_args args = {
		.filehandle = dt->open.filehandle,
		.state_id = dt->open.state_id,
		.offset = 1000,
		.byte_count = 39 * PAGE_SIZE,
	};
	struct dafs_read_direct_res res;

	KUNIT_ASSERT_NOT_NULL(test, out);
	KUNIT_ASSERT_NOT_NULL(test, in);
	dafs_test_pattern(out, DATA_LARGE, 2);
	dafs_backing_write(test, dt->fix, "file", out, DATA_LARGE);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   data_direct(test, dt, DAFS_PROC_READ_DIRECT, &args,
				       &args.read_data_buffers, vec, 2, 39 * PAGE_SIZE, &res));
	KUNIT_EXPECT_EQ(test, DATA_LARGE - 1000, (size_t)res.bytes_read);
	KUNIT_EXPECT_EQ(test, 1, res.eof);
	KUNIT_EXPECT_MEMEQ(test, vec[0].iov_base, out + 1000, 19 * PAGE_SIZE);
	KUNIT_EXPECT_MEMEQ(test, in, out + 1000 + 19 * PAGE_SIZE,
			   DATA_LARGE - 1000 - 19 * PAGE_SIZE);
}

static struct dafs_write_direct_args data_write_args(struct data_test *dt, u64 offset, u32 len)
{
	struct dafs_write_direct_args args = {
		.filehandle = dt->open.filehandle,
		.state_id = dt->open.state_id,
		.offset = offset,
		.byte_count = len,
		.stable_how = DAFS_FILE_SYNC,
	};

	data_cksum(dt, dt->out + offset, len, &args.direct_checksum);
	return args;
}

/* R-4.2.2.2-02 R-6.5.39-01 R-6.5.38-01: data is read from the client, and made stable */
static void data_write_direct_test(struct kunit *test)
{
	struct data_test *dt = data_test(test, DAFS_OPEN_SHARE_ACCESS_WRITE);
	struct kvec vec = { dt->out + PAGE_SIZE, PAGE_SIZE };
	struct dafs_write_direct_args args;
	struct dafs_write_res res;

	dafs_test_pattern(dt->out + PAGE_SIZE, PAGE_SIZE, 2);
	args = data_write_args(dt, PAGE_SIZE, PAGE_SIZE);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   data_direct(test, dt, DAFS_PROC_WRITE_DIRECT, &args,
				       &args.write_data_buffers, &vec, 1, PAGE_SIZE, &res));
	KUNIT_EXPECT_EQ(test, PAGE_SIZE, (size_t)res.count);
	KUNIT_EXPECT_EQ(test, DAFS_FILE_SYNC, res.committed);
	data_expect_file(test, dt);
}

/* R-3.2.5-02 R-3.2.5-04: data that does not match its checksum changes nothing (E-34) */
static void data_write_cksum_test(struct kunit *test)
{
	struct data_test *dt = data_test(test, DAFS_OPEN_SHARE_ACCESS_WRITE);
	u8 *other = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	struct dafs_write_direct_args args;
	struct dafs_write_res res;
	struct kvec vec = { other, PAGE_SIZE };

	if (!dt->fix->params.cksum)
		kunit_skip(test, "a session without checksums");
	KUNIT_ASSERT_NOT_NULL(test, other);
	dafs_test_pattern(other, PAGE_SIZE, 3);
	args = data_write_args(dt, 0, PAGE_SIZE);
	DAFS_EXPECT_STATUS(test, DAFSERR_CHKSUM,
			   data_direct(test, dt, DAFS_PROC_WRITE_DIRECT, &args,
				       &args.write_data_buffers, &vec, 1, PAGE_SIZE, &res));
	data_expect_file(test, dt);
}

/* Buffers smaller than byte_count are refused before any transfer (E-24). */
static void data_short_buffer_test(struct kunit *test)
{
	struct data_test *dt = data_test(test, DAFS_OPEN_SHARE_ACCESS_BOTH);
	struct dafs_write_direct_args write = data_write_args(dt, 0, PAGE_SIZE + 1);
	struct dafs_read_direct_args read = {
		.filehandle = dt->open.filehandle,
		.state_id = dt->open.state_id,
		.byte_count = PAGE_SIZE + 1,
	};
	struct kvec vec = { dt->in, PAGE_SIZE };
	union dafs_res res;

	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL,
			   data_direct(test, dt, DAFS_PROC_WRITE_DIRECT, &write,
				       &write.write_data_buffers, &vec, 1, PAGE_SIZE, &res));
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL,
			   data_direct(test, dt, DAFS_PROC_READ_DIRECT, &read,
				       &read.read_data_buffers, &vec, 1, PAGE_SIZE, &res));
	data_expect_file(test, dt);
}

static struct dafs_read_inline_args data_read_args(struct data_test *dt, u64 offset, u32 len)
{
	return (struct dafs_read_inline_args) {
		.filehandle = dt->open.filehandle,
		.state_id = dt->open.state_id,
		.offset = offset,
		.byte_count = len,
	};
}

static void data_expect_read(struct kunit *test, struct data_test *dt, u64 offset, u32 len,
			     u32 got, u32 eof)
{
	struct dafs_read_inline_args args = data_read_args(dt, offset, len);
	struct dafs_read_inline_res res;

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   dafs_test_read(test, dt->fix->clnt, dafs_test_me(), &args, dt->in,
					  &res));
	KUNIT_EXPECT_EQ_MSG(test, got, res.bytes_read, "offset %llu", offset);
	KUNIT_EXPECT_EQ_MSG(test, eof, res.eof, "offset %llu", offset);
	if (got)
		KUNIT_EXPECT_MEMEQ(test, dt->in, dt->out + offset, got);
}

/* R-6.5.27-01 R-6.5.27-02 R-6.5.27-04: EOF (E-99) */
static void data_read_inline_test(struct kunit *test)
{
	struct data_test *dt = data_test(test, DAFS_OPEN_SHARE_ACCESS_READ);

	data_expect_read(test, dt, 0, 1000, 1000, 0);
	data_expect_read(test, dt, 4095, 2, 2, 0);
	data_expect_read(test, dt, DATA_LEN - 100, 100, 100, 1);
	data_expect_read(test, dt, DATA_LEN - 100, 99, 99, 0);
	data_expect_read(test, dt, DATA_LEN - 100, 1000, 100, 1);
	data_expect_read(test, dt, DATA_LEN, 10, 0, 1);
	data_expect_read(test, dt, 1ULL << 40, 10, 0, 1);
	data_expect_read(test, dt, 5, 0, 0, 0);
}

/* R-6.5.38-05 R-6.5.38-06 R-6.5.8-03: stability levels and the verifier */
static void data_write_inline_test(struct kunit *test)
{
	struct data_test *dt = data_test(test, DAFS_OPEN_SHARE_ACCESS_WRITE);
	struct dafs_write_inline_args args = {
		.filehandle = dt->open.filehandle,
		.state_id = dt->open.state_id,
		.offset = 10,
		.byte_count = 500,
		.data = dt->out + 10,
	};
	struct dafs_verifier verf;
	struct dafs_write_res res;
	u32 how;

	for (how = DAFS_UNSTABLE; how <= DAFS_FILE_SYNC; how++) {
		dafs_test_pattern(dt->out + 10, 500, 10 + how);
		args.stable_how = how;
		DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
				   dafs_test_write(test, dt->fix->clnt, dafs_test_me(), &args,
						   &res));
		KUNIT_EXPECT_EQ(test, 500U, res.count);
		KUNIT_EXPECT_GE(test, res.committed, how);
		KUNIT_EXPECT_EQ(test, 0, dafs_commit(dt->fix->clnt, dafs_test_me(),
						     &dt->open.filehandle, 0, 0, &verf));
		KUNIT_EXPECT_MEMEQ(test, &verf, &res.verifier, sizeof(verf));
		data_expect_file(test, dt);
	}
	args.stable_how = DAFS_FILE_SYNC + 1;
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL,
			   dafs_test_write(test, dt->fix->clnt, dafs_test_me(), &args, &res));
	args.stable_how = DAFS_UNSTABLE;
	args.byte_count = 0;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_test_write(test, dt->fix->clnt, dafs_test_me(), &args, &res));
	KUNIT_EXPECT_EQ(test, 0U, res.count);
}

static struct inode *data_inode(struct kunit *test, struct data_test *dt)
{
	struct inode *inode;
	struct path path;

	KUNIT_ASSERT_EQ(test, 0, dafs_backing_path(dt->fix, "file", &path));
	inode = d_inode(path.dentry);
	path_put(&path);
	/* the test's open holds a reference */
	return inode;
}

static bool data_page_stable(struct inode *inode, pgoff_t index)
{
	return !filemap_range_has_writeback(inode->i_mapping, index << PAGE_SHIFT,
					    ((index + 1) << PAGE_SHIFT) - 1);
}

static void data_write_unstable(struct kunit *test, struct data_test *dt, u64 offset)
{
	struct dafs_write_inline_args args = {
		.filehandle = dt->open.filehandle,
		.state_id = dt->open.state_id,
		.offset = offset,
		.byte_count = 100,
		.stable_how = DAFS_UNSTABLE,
		.data = dt->out,
	};
	struct dafs_write_res res;

	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_test_write(test, dt->fix->clnt, dafs_test_me(), &args, &res));
	KUNIT_EXPECT_EQ(test, DAFS_UNSTABLE, res.committed);
}

/* R-6.5.8-01: COMMIT writes its range to disk, also a range up to EOF. */
static void data_commit_range_test(struct kunit *test)
{
	static const struct { u32 at, offset, count; } commits[] = {
		{ 0, 0, 100 },
		{ 1, PAGE_SIZE, 100 },
		{ 1, 0, 2 * PAGE_SIZE },
		{ 2, PAGE_SIZE, 0 },
		{ 2, 2 * PAGE_SIZE + 50, 0 },
		{ 0, 0, 0 },
	};
	struct data_test *dt = data_test(test, DAFS_OPEN_SHARE_ACCESS_WRITE);
	struct inode *inode = data_inode(test, dt);
	struct dafs_verifier verf;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(commits); i++) {
		data_write_unstable(test, dt, commits[i].at * PAGE_SIZE);
		KUNIT_EXPECT_FALSE(test, data_page_stable(inode, commits[i].at));
		KUNIT_EXPECT_EQ(test, 0, dafs_commit(dt->fix->clnt, dafs_test_me(),
						     &dt->open.filehandle, commits[i].offset,
						     commits[i].count, &verf));
		KUNIT_EXPECT_TRUE_MSG(test, data_page_stable(inode, commits[i].at),
				      "commit %u", i);
	}
}

/* R-6.5.2-04: ACCESS is advisory; rights are checked again by each operation */
static void data_access_advisory_test(struct kunit *test)
{
	struct data_test *dt = data_test(test, DAFS_OPEN_SHARE_ACCESS_READ);
	const struct cred *user = dafs_fixture_user(test, 1000, 1000);
	struct dafs_read_inline_args args = data_read_args(dt, 0, 10);
	struct dafs_access_res access = {};
	struct dafs_read_inline_res res;

	memset(&args.state_id, 0, sizeof(args.state_id));
	dafs_backing_chmod(test, dt->fix, "file", 0644);
	KUNIT_EXPECT_EQ(test, 0, dafs_access(dt->fix->clnt, user, &args.filehandle,
					     DAFS_ACCESS_READ, &access));
	KUNIT_EXPECT_EQ(test, DAFS_ACCESS_READ, access.access);
	dafs_backing_chmod(test, dt->fix, "file", 0600);
	DAFS_EXPECT_STATUS(test, DAFSERR_ACCES,
			   dafs_test_read(test, dt->fix->clnt, user, &args, dt->in, &res));
	KUNIT_EXPECT_EQ(test, 0, dafs_access(dt->fix->clnt, user, &args.filehandle,
					     DAFS_ACCESS_READ, &access));
	KUNIT_EXPECT_EQ(test, 0, access.access);
	dafs_backing_chmod(test, dt->fix, "file", 0644);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_test_read(test, dt->fix->clnt, user, &args, dt->in, &res));
}

/* I/O not allowed by the open mode, and after CLOSE (E-80) */
static void data_access_mode_test(struct kunit *test)
{
	struct data_test *dt = data_test(test, DAFS_OPEN_SHARE_ACCESS_READ);
	struct dafs_read_inline_args read = data_read_args(dt, 0, 10);
	struct dafs_write_inline_args write = {
		.filehandle = dt->open.filehandle,
		.state_id = dt->open.state_id,
		.byte_count = 4,
		.data = dt->in,
	};
	struct dafs_read_inline_res got;
	struct dafs_write_res res;

	DAFS_EXPECT_STATUS(test, DAFSERR_ACCES,
			   dafs_test_write(test, dt->fix->clnt, dafs_test_me(), &write, &res));
	data_expect_file(test, dt);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, dt->fix->clnt, &dt->open));
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_STATEID,
			   dafs_test_read(test, dt->fix->clnt, dafs_test_me(), &read, dt->in,
					  &got));
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_STATEID,
			   dafs_test_close(test, dt->fix->clnt, &dt->open));
}

static dafs_status_t data_create(struct kunit *test, struct data_test *dt, const char *name,
				 u32 mode, u64 verifier, const char *owner)
{
	struct dafs_open_args args = dafs_test_open_args(owner, DAFS_OPEN_SHARE_ACCESS_BOTH, 0);
	struct dafs_open_res res;

	args.open_type = DAFS_OPEN_CREATE;
	args.createmode = mode;
	memcpy(args.create_verifier.b, &verifier, sizeof(verifier));
	return dafs_test_open(test, dt->fix->clnt, dafs_test_me(), &dt->fix->dir, name, &args,
			      &res);
}

/* R-6.5.24-03 R-6.5.24-04: the three create modes */
static void data_create_test(struct kunit *test)
{
	struct data_test *dt = data_test(test, DAFS_OPEN_SHARE_ACCESS_READ);
	struct kstat stat;

	DAFS_EXPECT_STATUS(test, DAFSERR_EXIST,
			   data_create(test, dt, "file", DAFS_CREATE_GUARDED, 0, "a"));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   data_create(test, dt, "file", DAFS_CREATE_UNCHECKED, 0, "b"));
	data_expect_file(test, dt);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   data_create(test, dt, "new", DAFS_CREATE_GUARDED, 0, "c"));
	KUNIT_EXPECT_EQ(test, 0, dafs_backing_stat(dt->fix, "new", &stat));
	KUNIT_EXPECT_TRUE(test, S_ISREG(stat.mode));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   data_create(test, dt, "once", DAFS_CREATE_EXCLUSIVE, 77, "d"));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   data_create(test, dt, "once", DAFS_CREATE_EXCLUSIVE, 77, "e"));
	DAFS_EXPECT_STATUS(test, DAFSERR_EXIST,
			   data_create(test, dt, "once", DAFS_CREATE_EXCLUSIVE, 78, "f"));
}

/* R-6.5.24-01 R-6.5.24-08 R-6.5.24-09 R-6.5.24-14 R-6.5.24-15: OPENs that fail */
static void data_open_refused_test(struct kunit *test)
{
	struct data_test *dt = data_test(test, DAFS_OPEN_SHARE_ACCESS_READ);
	struct dafs_open_args args;
	struct dafs_open_res res;

	dafs_backing_mkdir(test, dt->fix, "dir", 0755);
	dafs_backing_symlink(test, dt->fix, "link", "file");
	args = dafs_test_open_args("other", DAFS_OPEN_SHARE_ACCESS_READ, 0);
#define DATA_OPEN(name) \
	dafs_test_open(test, dt->fix->clnt, dafs_test_me(), &dt->fix->dir, name, &args, &res)
	DAFS_EXPECT_STATUS(test, DAFSERR_NOENT, DATA_OPEN("none"));
	DAFS_EXPECT_STATUS(test, DAFSERR_ISDIR, DATA_OPEN("dir"));
	DAFS_EXPECT_STATUS(test, DAFSERR_SYMLINK, DATA_OPEN("link"));
	args.share_deny = DAFS_OPEN_SHARE_DENY_READ;
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, DATA_OPEN("file"));
	args.share_deny = DAFS_OPEN_SHARE_DENY_WRITE;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, DATA_OPEN("file"));
	args = dafs_test_open_args("third", DAFS_OPEN_SHARE_ACCESS_WRITE, 0);
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, DATA_OPEN("file"));
	args.share_access = 0;
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, DATA_OPEN("file"));
#undef DATA_OPEN
}

/**
 * struct data_names - entries seen by READDIR
 * @seen: how often each number was returned
 * @bad: unexpected entries
 */
struct data_names {
	u8 seen[300];
	unsigned int bad;
};

static bool data_actor(void *priv, const struct dafs_direntry *entry)
{
	struct data_names *names = priv;
	char name[8] = {};
	unsigned int nr;

	if (entry->name.len < sizeof(name))
		memcpy(name, entry->name.data, entry->name.len);
	if (entry->cookie <= 2 || kstrtouint(name, 10, &nr) || nr >= ARRAY_SIZE(names->seen))
		names->bad++;
	else
		names->seen[nr]++;
	return true;
}

/* R-6.5.29-01 R-6.5.29-02 R-6.5.29-03: every entry once, with many requests */
static void data_readdir_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct data_names *names = kunit_kzalloc(test, sizeof(*names), GFP_KERNEL);
	struct dafs_readdir_pos pos = {};
	unsigned int i, requests = 0;
	char name[8];

	KUNIT_ASSERT_NOT_NULL(test, names);
	for (i = 0; i < ARRAY_SIZE(names->seen); i++) {
		snprintf(name, sizeof(name), "%u", i);
		dafs_backing_write(test, fix, name, name, 1);
	}
	while (!pos.eof && requests++ < 100)
		KUNIT_ASSERT_EQ(test, 0, dafs_readdir(fix->clnt, dafs_test_me(), &fix->dir,
						      DAFS_FATTR_ALL, &pos, data_actor, names));
	KUNIT_EXPECT_TRUE(test, pos.eof);
	KUNIT_EXPECT_GT(test, requests, 1U);
	KUNIT_EXPECT_EQ(test, 0U, names->bad);
	for (i = 0; i < ARRAY_SIZE(names->seen); i++)
		KUNIT_EXPECT_EQ_MSG(test, 1, names->seen[i], "entry %u", i);
}

static struct kunit_case data_cases[] = {
	KUNIT_CASE_PARAM(data_read_inline_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(data_write_inline_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(data_read_direct_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(data_read_direct_eof_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(data_read_direct_large_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(data_write_direct_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(data_write_cksum_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(data_short_buffer_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(data_commit_range_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(data_access_advisory_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(data_access_mode_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(data_create_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(data_open_refused_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(data_readdir_test, dafs_flavours_gen),
	{}
};

static struct kunit_suite data_suite = {
	.name = "dafs_data",
	.test_cases = data_cases,
};

kunit_test_suite(data_suite);
