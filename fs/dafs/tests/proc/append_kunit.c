// SPDX-License-Identifier: GPL-2.0
/*
 * Appends, inline and by RDMA, with one client and with several; each answer is
 * compared with the server's own file.
 */
#include <linux/kthread.h>
#include <linux/pagemap.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "../lib/fixture.h"
#include "../lib/raw.h"

static const struct dafs_state_id append_no_state;

/**
 * struct append_file - a file to append to
 * @fix: the fixture
 * @clnt: client that appends
 * @cred: credentials to use, NULL for root
 * @fh: the file
 * @state_id: its open
 */
struct append_file {
	struct dafs_fixture *fix;
	struct dafs_client *clnt;
	const struct cred *cred;
	struct dafs_fh fh;
	struct dafs_state_id state_id;
};

static void append_vfree(void *p)
{
	vfree(p);
}

static u8 *append_alloc(struct kunit *test, size_t len)
{
	u8 *p = vzalloc(len);

	KUNIT_ASSERT_NOT_NULL(test, p);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, append_vfree, p));
	return p;
}

static void append_open(struct kunit *test, struct append_file *file, const char *name, u32 access,
			u32 deny)
{
	struct dafs_open_args args = dafs_test_open_args("owner", access, deny);
	struct dafs_open_res res = {};

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   dafs_test_open(test, file->clnt, file->cred ?: dafs_test_me(),
					  &file->fix->dir, name, &args, &res));
	file->fh = res.filehandle;
	file->state_id = res.state_id;
}

/* A file of @len bytes of a pattern, open for writing. */
static struct append_file append_file(struct kunit *test, size_t len)
{
	struct append_file file = { .fix = dafs_fixture(test, test->param_value) };
	u8 *data = append_alloc(test, len ?: 1);

	file.clnt = file.fix->clnt;
	dafs_test_pattern(data, len, 1);
	dafs_backing_write(test, file.fix, "file", data, len);
	append_open(test, &file, "file", DAFS_OPEN_SHARE_ACCESS_WRITE, 0);
	return file;
}

static u64 append_size(struct kunit *test, struct append_file *file)
{
	struct kstat stat = {};

	KUNIT_EXPECT_EQ(test, 0, dafs_backing_stat(file->fix, "file", &stat));
	return stat.size;
}

/* Calls dafs_append() of the client.  Return: the DAFS status. */
static dafs_status_t append_stable(struct kunit *test, struct append_file *file, bool direct,
				   u32 stable, const void *data, size_t len,
				   struct dafs_append_res *res)
{
	struct dafs_append append = {
		.fh = file->fh,
		.state_id = file->state_id,
		.stable = stable,
		.data = data,
		.len = len,
		.inline_max = direct ? 0 : SIZE_MAX,
		.no_direct = !direct,
	};
	dafs_status_t status;
	int err;

	memset(res, 0, sizeof(*res));
	err = dafs_append(file->clnt, file->cred ?: dafs_test_me(), &append, res, &status);
	KUNIT_EXPECT_EQ(test, dafs_status_to_errno(status), err);
	KUNIT_EXPECT_EQ(test, len, append.len);
	return status;
}

static dafs_status_t append_one(struct kunit *test, struct append_file *file, bool direct,
				const void *data, size_t len, struct dafs_append_res *res)
{
	return append_stable(test, file, direct, DAFS_DATA_SYNC, data, len, res);
}

static void append_expect_tail(struct kunit *test, struct append_file *file, u64 offset,
			       const u8 *data, size_t len)
{
	u8 *got = append_alloc(test, len + 1);

	KUNIT_EXPECT_EQ(test, (ssize_t)len,
			dafs_backing_read(file->fix, "file", got, len + 1, offset));
	KUNIT_EXPECT_MEMEQ(test, data, got, len);
}

/*
 * R-6.5.3-05 R-6.5.4-01 R-6.5.38-06: data goes to the current end of the file and the
 * response tells the offset; the verifier is the same as for writes.
 */
static void append_position_test(struct kunit *test)
{
	static const size_t lens[] = { 1, 100, 4095, 4096, 4097, 7000 };
	struct append_file file = append_file(test, 5001);
	u8 *data = append_alloc(test, 7000);
	struct dafs_append_res res;
	struct dafs_verifier verf;
	u64 size = 5001;
	int i;

	KUNIT_ASSERT_EQ(test, 0, dafs_commit(file.clnt, dafs_test_me(), &file.fh, 0, 0, &verf));
	for (i = 0; i < 2 * ARRAY_SIZE(lens); i++) {
		dafs_test_pattern(data, lens[i / 2], i);
		DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
				   append_one(test, &file, i % 2, data, lens[i / 2], &res));
		KUNIT_EXPECT_EQ(test, size, res.offset);
		KUNIT_EXPECT_MEMEQ(test, &verf, &res.verifier, sizeof(verf));
		append_expect_tail(test, &file, size, data, lens[i / 2]);
		size += lens[i / 2];
		/* another process extends the file */
		if (i == 3) {
			dafs_backing_write(test, file.fix, "file", data, 17);
			size = 17;
		}
	}
}

static bool append_dirty(struct kunit *test, struct append_file *file)
{
	struct address_space *mapping;
	struct path path;
	bool dirty;

	KUNIT_ASSERT_EQ(test, 0, dafs_backing_path(file->fix, "file", &path));
	mapping = d_inode(path.dentry)->i_mapping;
	dirty = mapping_tagged(mapping, PAGECACHE_TAG_DIRTY) ||
		mapping_tagged(mapping, PAGECACHE_TAG_WRITEBACK);
	path_put(&path);
	return dirty;
}

/* R-6.5.3-03: data is stable when the response arrives; other levels are refused (E-101) */
static void append_stable_test(struct kunit *test)
{
	static const u32 refused[] = { DAFS_UNSTABLE, DAFS_FILE_SYNC + 1, U32_MAX };
	struct append_file file = append_file(test, 10);
	u8 *data = append_alloc(test, 6000);
	struct dafs_append_res res;
	u64 size = 10;
	u32 stable;
	int i;

	for (i = 0; i < 4; i++) {
		stable = i / 2 ? DAFS_FILE_SYNC : DAFS_DATA_SYNC;
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
				   append_stable(test, &file, i % 2, stable, data, 6000, &res));
		KUNIT_EXPECT_GE(test, res.committed, stable);
		KUNIT_EXPECT_LE(test, res.committed, DAFS_FILE_SYNC);
		KUNIT_EXPECT_FALSE(test, append_dirty(test, &file));
		size += 6000;
	}
	for (i = 0; i < 2 * ARRAY_SIZE(refused); i++)
		DAFS_EXPECT_STATUS(test, DAFSERR_INVAL,
				   append_stable(test, &file, i % 2, refused[i / 2], data, 6000,
						 &res));
	KUNIT_EXPECT_EQ(test, size, append_size(test, &file));
}

static struct dafs_append_direct_args append_direct_args(const struct append_file *file, u32 count,
							 u32 buffer)
{
	return (struct dafs_append_direct_args) {
		.filehandle = file->fh,
		.state_id = file->state_id,
		.stable_how = DAFS_DATA_SYNC,
		.byte_count = count,
		.write_data_buffer.buffer_byte_count = buffer,
	};
}

static dafs_status_t append_raw(struct kunit *test, struct append_file *file, u32 proc, void *args,
				struct dafs_append_res *res)
{
	memset(res, 0, sizeof(*res));
	return dafs_test_call(test, file->clnt, file->cred ?: dafs_test_me(), proc, args, res);
}

/* R-6.1.6-06 R-6.5.3-04 R-7-10: MAX_APPEND bytes are appended, one more is refused (E-100) */
static void append_max_test(struct kunit *test)
{
	struct append_file file = append_file(test, 10);
	struct dafs_append_direct_args args;
	u8 *data = append_alloc(test, SZ_1M);
	struct dafs_fsattr attr = {};
	struct dafs_append_res res;

	KUNIT_ASSERT_EQ(test, 0, dafs_get_fsattr(file.clnt, dafs_test_me(), &file.fh,
						 DAFS_FSATTR_MAX_APPEND, &attr));
	KUNIT_ASSERT_EQ(test, SZ_1M, attr.max_append);
	args = append_direct_args(&file, SZ_1M + 1, SZ_1M + 1);
	DAFS_EXPECT_STATUS(test, DAFSERR_WRITE_TOOBIG,
			   append_raw(test, &file, DAFS_PROC_APPEND_DIRECT, &args, &res));
	KUNIT_EXPECT_EQ(test, 10, append_size(test, &file));
	dafs_test_pattern(data, SZ_1M, 7);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   append_one(test, &file, true, data, SZ_1M, &res));
	KUNIT_EXPECT_EQ(test, 10, res.offset);
	append_expect_tail(test, &file, 10, data, SZ_1M);
}

/* Buffers smaller than byte_count are refused before any transfer (E-24); 0 bytes need none. */
static void append_buffer_test(struct kunit *test)
{
	struct append_file file = append_file(test, 10);
	struct dafs_append_direct_args args = append_direct_args(&file, 5, 4);
	struct dafs_append_inline_args inl = {
		.filehandle = file.fh,
		.state_id = file.state_id,
		.stable_how = DAFS_FILE_SYNC,
	};
	struct dafs_append_res res;

	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL,
			   append_raw(test, &file, DAFS_PROC_APPEND_DIRECT, &args, &res));
	args = append_direct_args(&file, 0, 0);
	if (file.fix->params.cksum)
		args.direct_checksum = (struct dafs_cksum) { .s1 = 0x0101 };
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   append_raw(test, &file, DAFS_PROC_APPEND_DIRECT, &args, &res));
	KUNIT_EXPECT_EQ(test, 10, res.offset);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   append_raw(test, &file, DAFS_PROC_APPEND_INLINE, &inl, &res));
	KUNIT_EXPECT_EQ(test, 10, res.offset);
	KUNIT_EXPECT_EQ(test, DAFS_FILE_SYNC, res.committed);
	KUNIT_EXPECT_EQ(test, 10, append_size(test, &file));
}

/* E-18 E-105: padded data, and hints of any value */
static void append_padded_test(struct kunit *test)
{
	struct append_file file = append_file(test, 10);
	struct dafs_append_inline_args args = {
		.filehandle = file.fh,
		.stable_how = DAFS_DATA_SYNC,
		.byte_count = 3000,
		.write_padded = 1,
		.cache_hint = U32_MAX,
		.inline_header = 512,
	};
	u8 *data = append_alloc(test, 3000);
	struct dafs_append_res res;
	struct dafs_conn *conn;

	dafs_test_pattern(data, 3000, 5);
	args.data = data;
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL,
			   append_raw(test, &file, DAFS_PROC_APPEND_INLINE, &args, &res));
	file.fix->params.inline_header = 1020;
	file.clnt = dafs_fixture_client(test, &file.fix->params);
	conn = dafs_conn_get(file.clnt);
	KUNIT_ASSERT_FALSE(test, IS_ERR(conn));
	args.inline_header = conn->opts.inline_write_header_size;
	dafs_conn_put(conn);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   append_raw(test, &file, DAFS_PROC_APPEND_INLINE, &args, &res));
	append_expect_tail(test, &file, 10, data, 3000);
}

/* One APPEND_DIRECT with a checksum chosen by the test */
static dafs_status_t append_with_cksum(struct kunit *test, struct append_file *file, u8 *data,
				       size_t len, const struct dafs_cksum *cksum)
{
	struct dafs_append_direct_args args = append_direct_args(file, len, len);
	struct kvec kvec = { .iov_base = data, .iov_len = len };
	struct dafs_conn *conn = dafs_conn_get(file->clnt);
	struct dafs_call *call = dafs_call_alloc(GFP_KERNEL);
	struct iov_iter iter;
	struct dafs_mem mem;
	dafs_status_t status;

	KUNIT_ASSERT_FALSE(test, IS_ERR(conn) || !call);
	iov_iter_kvec(&iter, ITER_SOURCE, &kvec, 1, len);
	KUNIT_ASSERT_EQ(test, (ssize_t)len,
			dafs_mem_map(conn->op, &mem, &iter, len, DMA_TO_DEVICE));
	args.write_data_buffer = mem.bufs[0];
	args.direct_checksum = *cksum;
	call->proc = DAFS_PROC_APPEND_DIRECT;
	call->args = &args;
	call->mem = &mem;
	KUNIT_ASSERT_EQ(test, 0, dafs_cred_handle(file->clnt, conn, dafs_test_me(), call->cred));
	KUNIT_ASSERT_EQ(test, 0, dafs_call_start(conn->rq, call));
	KUNIT_ASSERT_EQ(test, 0, dafs_call_wait(call));
	status = call->status;
	dafs_call_put(call);
	dafs_conn_put(conn);
	return status;
}

/* R-3.2.5-02: data that does not match its checksum is not appended (E-34) */
static void append_cksum_test(struct kunit *test)
{
	struct append_file file = append_file(test, 10);
	struct dafs_cksum_state state;
	u8 *data = append_alloc(test, 5000);
	struct dafs_cksum sum;

	if (!file.fix->params.cksum)
		kunit_skip(test, "a session without checksums");
	dafs_test_pattern(data, 5000, 3);
	dafs_cksum_init(&state);
	dafs_cksum_update(&state, data, 5000);
	dafs_cksum_final_host(&state, file.fix->params.swab, &sum);
	sum.s1 ^= 1;
	DAFS_EXPECT_STATUS(test, DAFSERR_CHKSUM, append_with_cksum(test, &file, data, 5000, &sum));
	KUNIT_EXPECT_EQ(test, 10, append_size(test, &file));
	sum.s1 ^= 1;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, append_with_cksum(test, &file, data, 5000, &sum));
	append_expect_tail(test, &file, 10, data, 5000);
}

/* Both procedures return @status; nothing is appended unless it is OK. */
static void append_expect(struct kunit *test, struct append_file *file, dafs_status_t status)
{
	struct dafs_append_res res;
	int direct;

	for (direct = 0; direct < 2; direct++)
		DAFS_EXPECT_STATUS(test, status,
				   append_one(test, file, direct, "x", 1, &res));
}

/* E-79: the open, or without an open the user, must have write permission */
static void append_access_test(struct kunit *test)
{
	struct append_file file = append_file(test, 10);

	append_expect(test, &file, DAFS_STATUS_OK);
	file.state_id = append_no_state;
	append_expect(test, &file, DAFS_STATUS_OK);
	memset(&file.state_id, 0xff, sizeof(file.state_id));
	append_expect(test, &file, DAFS_STATUS_OK);
	file.cred = dafs_fixture_user(test, 1000, 1000);
	append_expect(test, &file, DAFSERR_ACCES);
	memset(&file.state_id, 0x55, sizeof(file.state_id));
	append_expect(test, &file, DAFSERR_STALE_STATEID);
	KUNIT_EXPECT_EQ(test, 16, append_size(test, &file));
}

/* E-80: an open for reading does not allow appends, not even for root. */
static void append_reader_test(struct kunit *test)
{
	struct append_file file = { .fix = dafs_fixture(test, test->param_value) };

	file.clnt = file.fix->clnt;
	dafs_backing_write(test, file.fix, "file", "0123456789", 10);
	append_open(test, &file, "file", DAFS_OPEN_SHARE_ACCESS_READ, 0);
	append_expect(test, &file, DAFSERR_ACCES);
	KUNIT_EXPECT_EQ(test, 10, append_size(test, &file));
}

/* E-80: a share reservation of another open blocks appends without an open. */
static void append_denied_test(struct kunit *test)
{
	struct append_file file = { .fix = dafs_fixture(test, test->param_value) };

	file.clnt = file.fix->clnt;
	dafs_backing_write(test, file.fix, "file", "0123456789", 10);
	append_open(test, &file, "file", DAFS_OPEN_SHARE_ACCESS_BOTH, DAFS_OPEN_SHARE_DENY_WRITE);
	append_expect(test, &file, DAFS_STATUS_OK);
	file.state_id = append_no_state;
	append_expect(test, &file, DAFSERR_LOCKED);
	KUNIT_EXPECT_EQ(test, 12, append_size(test, &file));
}

/* Objects that are not regular files, and read-only exports */
static void append_object_test(struct kunit *test)
{
	struct dafs_fixture *ro = dafs_fixture_in(test, test->param_value, DAFS_TEST_RO);
	struct append_file file = { .fix = dafs_fixture(test, test->param_value) };
	struct append_file other = { .fix = ro, .clnt = ro->clnt };

	file.clnt = file.fix->clnt;
	file.fh = file.fix->dir;
	append_expect(test, &file, DAFSERR_ISDIR);
	dafs_backing_mknod(test, file.fix, "fifo", S_IFIFO | 0666, 0);
	file.fh = dafs_test_lookup(test, file.fix, "fifo");
	append_expect(test, &file, DAFSERR_INVAL);
	dafs_backing_write(test, ro, "file", "0123456789", 10);
	other.fh = dafs_test_lookup(test, ro, "file");
	append_expect(test, &other, DAFSERR_ROFS);
	KUNIT_EXPECT_EQ(test, 10, append_size(test, &other));
}

/* R-6.5.3-02: an append that would exceed the maximum file size changes nothing */
static void append_limit_test(struct kunit *test)
{
	struct append_file file = append_file(test, 10);
	u64 most = file.fix->path.dentry->d_sb->s_maxbytes;
	struct iattr ia = { .ia_valid = ATTR_SIZE };
	struct dafs_append_res res;
	int i;

	for (i = 0; i < 4; i++) {
		ia.ia_size = most - (i < 2 ? 6 : 0);
		dafs_backing_setattr(test, file.fix, "file", &ia);
		DAFS_EXPECT_STATUS(test, DAFSERR_FBIG,
				   append_one(test, &file, i % 2, "0123456789", 10, &res));
		KUNIT_EXPECT_EQ(test, ia.ia_size, append_size(test, &file));
	}
	ia.ia_size = most - 6;
	dafs_backing_setattr(test, file.fix, "file", &ia);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   append_one(test, &file, true, "012345", 6, &res));
	KUNIT_EXPECT_EQ(test, most - 6, res.offset);
}

/* R-6.5.8-02: an old writeback error changes the verifier but does not fail the append */
static void append_verifier_test(struct kunit *test)
{
	struct append_file file = append_file(test, 10);
	struct dafs_append_res before, after;
	struct dafs_verifier verf;
	struct path path;

	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   append_one(test, &file, false, "one", 3, &before));
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_path(file.fix, "file", &path));
	mapping_set_error(d_inode(path.dentry)->i_mapping, -EIO);
	path_put(&path);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   append_one(test, &file, false, "two", 3, &after));
	KUNIT_EXPECT_MEMNEQ(test, &before.verifier, &after.verifier, sizeof(verf));
	KUNIT_EXPECT_EQ(test, 0, dafs_commit(file.clnt, dafs_test_me(), &file.fh, 0, 0, &verf));
	KUNIT_EXPECT_MEMEQ(test, &after.verifier, &verf, sizeof(verf));
	append_expect_tail(test, &file, 10, "onetwo", 6);
}

/* Many writers */

/**
 * struct append_head - header of a record; the rest is one byte repeated
 * @writer: number of the writer
 * @seq: number of the record, counted by the writer
 * @len: length of the whole record
 */
struct append_head {
	u32 writer;
	u32 seq;
	u32 len;
};

#define APPEND_WRITERS	5
#define APPEND_RECORDS	120
#define APPEND_MOST	5000
#define APPEND_LARGE	999999

/**
 * struct append_writer - a thread that appends
 * @test: the test
 * @file: what it appends to
 * @local: append locally on the server instead
 * @id: number of the writer
 * @len: length of its records, 0 for random lengths
 * @most: records to append
 * @count: records appended
 * @offsets: their offsets, as the server returned them
 * @buf: a record
 * @status: of the last append
 * @task: the thread
 */
struct append_writer {
	struct kunit *test;
	struct append_file file;
	struct file *local;
	u32 id;
	u32 len;
	u32 most;
	u32 count;
	u64 *offsets;
	u8 *buf;
	dafs_status_t status;
	struct task_struct *task;
};

static u8 append_filler(u32 writer, u32 seq)
{
	return 1 + writer * 31 + seq;
}

static u32 append_record(struct append_writer *w)
{
	struct append_head head = {
		.writer = w->id,
		.seq = w->count,
		.len = w->len ?: sizeof(head) + (w->count * 977 + w->id * 131) %
			      (APPEND_MOST - sizeof(head)),
	};

	memcpy(w->buf, &head, sizeof(head));
	memset(w->buf + sizeof(head), append_filler(w->id, w->count), head.len - sizeof(head));
	return head.len;
}

static dafs_status_t append_locally(struct append_writer *w, u32 len)
{
	loff_t pos = 0;
	ssize_t n = kernel_write(w->local, w->buf, len, &pos);

	w->offsets[w->count] = pos - len;
	return n == len ? DAFS_STATUS_OK : DAFSERR_IO;
}

static dafs_status_t append_remotely(struct append_writer *w, u32 len)
{
	struct dafs_append_res res;
	dafs_status_t status;

	status = append_one(w->test, &w->file, w->len || w->count % 2, w->buf, len, &res);
	w->offsets[w->count] = res.offset;
	return status;
}

static int append_run(void *data)
{
	struct append_writer *w = data;
	u32 len;

	while (w->count < w->most && !kthread_should_stop()) {
		len = append_record(w);
		w->status = w->local ? append_locally(w, len) : append_remotely(w, len);
		if (w->status)
			break;
		w->count++;
	}
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

static void append_start(struct kunit *test, struct append_writer *w, u32 id)
{
	w->test = test;
	w->id = id;
	w->buf = append_alloc(test, w->len ?: APPEND_MOST);
	w->offsets = (u64 *)append_alloc(test, w->most * sizeof(*w->offsets));
	w->task = kthread_run(append_run, w, "append_writer%u", id);
	KUNIT_ASSERT_FALSE(test, IS_ERR(w->task));
}

static bool append_at_work(const struct append_writer *w)
{
	return READ_ONCE(w->count) < w->most && !READ_ONCE(w->status);
}

static void append_join(struct append_writer *w)
{
	while (append_at_work(w))
		schedule_timeout_uninterruptible(1);
	kthread_stop(w->task);
}

/*
 * The record is complete, at the offset its writer was told, and follows the previous
 * one.  Returns its length, or 0 if there is no record.
 */
static u32 append_check_record(struct kunit *test, struct append_file *file, u64 at,
			       struct append_writer *writers, unsigned int nr, u32 *seen)
{
	struct append_head head;
	struct append_writer *w;
	u32 rest;

	if (dafs_backing_read(file->fix, "file", &head, sizeof(head), at) != sizeof(head) ||
	    head.writer >= nr || head.len < sizeof(head) ||
	    head.len > (writers->len ?: APPEND_MOST)) {
		KUNIT_FAIL(test, "no record at %llu", at);
		return 0;
	}
	w = &writers[head.writer];
	KUNIT_EXPECT_EQ(test, head.seq, seen[head.writer]);
	seen[head.writer]++;
	if (head.seq < w->count)
		KUNIT_EXPECT_EQ(test, at, w->offsets[head.seq]);
	rest = head.len - sizeof(head);
	KUNIT_EXPECT_EQ(test, (ssize_t)rest,
			dafs_backing_read(file->fix, "file", writers->buf, rest,
					  at + sizeof(head)));
	KUNIT_EXPECT_NULL(test, memchr_inv(writers->buf, append_filler(head.writer, head.seq),
					   rest));
	return head.len;
}

/* All writers have ended, so the buffer of the first one is free. */
static void append_check_file(struct kunit *test, struct append_file *file,
			      struct append_writer *writers, unsigned int nr)
{
	u64 size = append_size(test, file), at = 0;
	u32 seen[APPEND_WRITERS] = {};
	unsigned int i;
	u32 len;

	while (at < size) {
		len = append_check_record(test, file, at, writers, nr, seen);
		if (!len)
			return;
		at += len;
	}
	for (i = 0; i < nr; i++)
		KUNIT_EXPECT_EQ(test, writers[i].count, seen[i]);
}

static void append_put_file(void *file)
{
	dafs_backing_close(file);
}

/* Another client with its own session that opens the same file. */
static struct append_file append_client(struct kunit *test, const struct append_file *first,
					const char *id)
{
	struct append_file file = *first;

	strscpy(file.fix->params.client_id, id);
	file.clnt = dafs_fixture_client(test, &file.fix->params);
	append_open(test, &file, "file", DAFS_OPEN_SHARE_ACCESS_WRITE, 0);
	return file;
}

/*
 * R-4.2.1.2-01 R-6.5.3-01: two writers on each of two clients and one on the
 * server; every record is complete, at the returned offset, in the order of its writer.
 */
static void append_writers_test(struct kunit *test)
{
	struct append_file file = append_file(test, 0);
	struct append_file clients[2] = {
		append_client(test, &file, "append-one"),
		append_client(test, &file, "append-two"),
	};
	struct append_writer *writers;
	struct file *local;
	int i;

	writers = kunit_kcalloc(test, APPEND_WRITERS, sizeof(*writers), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, writers);
	local = dafs_backing_open(file.fix, "file", O_WRONLY | O_APPEND, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(local));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, append_put_file, local));
	writers[APPEND_WRITERS - 1].local = local;
	for (i = 0; i < APPEND_WRITERS; i++) {
		writers[i].file = clients[i % 2];
		writers[i].most = APPEND_RECORDS;
		append_start(test, &writers[i], i);
	}
	for (i = 0; i < APPEND_WRITERS; i++) {
		append_join(&writers[i]);
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, writers[i].status);
		KUNIT_EXPECT_EQ(test, APPEND_RECORDS, writers[i].count);
	}
	append_check_file(test, &file, writers, APPEND_WRITERS);
}

/* R-6.5.3-02: two clients fill the disk; an append that does not fit changes nothing. */
static void append_full_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture_in(test, NULL, DAFS_TEST_SQUASH);
	struct append_file file = {
		.fix = fix,
		.clnt = fix->clnt,
		.cred = dafs_fixture_user(test, 1000, 1000),
	};
	struct append_file other;
	struct append_writer *writers;
	struct dafs_append_res res;
	int i;

	dafs_backing_write(test, fix, "file", "", 0);
	dafs_backing_chmod(test, fix, "file", 0666);
	append_open(test, &file, "file", DAFS_OPEN_SHARE_ACCESS_WRITE, 0);
	other = append_client(test, &file, "append-full");
	writers = kunit_kcalloc(test, 2, sizeof(*writers), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, writers);
	for (i = 0; i < 2; i++) {
		writers[i].file = i ? other : file;
		writers[i].len = APPEND_LARGE;
		writers[i].most = 1000;
		append_start(test, &writers[i], i);
	}
	for (i = 0; i < 2; i++) {
		append_join(&writers[i]);
		DAFS_EXPECT_STATUS(test, DAFSERR_NOSPC, writers[i].status);
		KUNIT_EXPECT_GT(test, writers[i].count, 10);
	}
	KUNIT_EXPECT_EQ(test, (u64)APPEND_LARGE * (writers[0].count + writers[1].count),
			append_size(test, &file));
	append_check_file(test, &file, writers, 2);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, append_one(test, &file, false, "x", 1, &res));
	/* the open keeps the inode after this test, so free its blocks */
	dafs_backing_write(test, fix, "file", "", 0);
}

/* How the server treats an append: its response is lost, DELAY, or the data is not stable. */

enum append_fault {
	APPEND_HANG_UP,
	APPEND_DELAY,
	APPEND_WEAK,
};

/**
 * struct append_plan - how the server treats appends
 * @fault: fault for the first append
 * @seen: number of appends received
 */
struct append_plan {
	enum append_fault fault;
	atomic_t seen;
};

static void append_serve(struct raw_conn *conn, struct raw_msg *msg)
{
	struct append_plan *plan = conn->srv->priv;
	struct dafs_append_res res = { .offset = 4711, .committed = DAFS_FILE_SYNC };
	dafs_status_t status = DAFS_STATUS_OK;
	struct dafs_req_hdr hdr;
	bool first;

	KUNIT_EXPECT_EQ(conn->test, 0, raw_get_hdr(conn, msg, &hdr));
	if (hdr.procedure != DAFS_PROC_APPEND_INLINE) {
		raw_serve_request(conn, msg);
		return;
	}
	first = atomic_inc_return(&plan->seen) == 1;
	if (first && plan->fault == APPEND_HANG_UP) {
		rdma_disconnect(conn->id);
		return;
	}
	if (first && plan->fault == APPEND_DELAY)
		status = DAFSERR_DELAY;
	if (plan->fault == APPEND_WEAK)
		res.committed = DAFS_UNSTABLE;
	raw_answer(conn, &hdr, status, conn->srv->opts.max_requests, status ? NULL : &res);
}

/**
 * struct append_loss - a fault and its result
 * @name: for the report
 * @fault: what the server does
 * @err: what the client returns
 * @seen: number of appends that reach the server
 */
struct append_loss {
	const char *name;
	enum append_fault fault;
	int err;
	int seen;
};

static const struct append_loss append_losses[] = {
	{ "no answer", APPEND_HANG_UP, -EREMOTEIO, 1 },
	{ "later, please", APPEND_DELAY, 0, 2 },
	{ "not stable", APPEND_WEAK, -EREMOTEIO, 1 },
};

KUNIT_ARRAY_PARAM_DESC(append_losses, append_losses, name);

/* An append with unknown outcome is not sent again; a refused one is */
static void append_once_test(struct kunit *test)
{
	const struct append_loss *loss = test->param_value;
	struct append_plan plan = { .fault = loss->fault };
	struct raw_server *srv = raw_server(test);
	struct dafs_append append = {
		.stable = DAFS_DATA_SYNC,
		.data = "record",
		.len = 6,
		.inline_max = 100,
	};
	struct dafs_append_res res = {};
	struct dafs_client *clnt;
	dafs_status_t status;

	srv->priv = &plan;
	srv->request = append_serve;
	clnt = dafs_fixture_client(test, &srv->params);
	KUNIT_EXPECT_EQ(test, loss->err,
			dafs_append(clnt, dafs_test_me(), &append, &res, &status));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, status);
	KUNIT_EXPECT_EQ(test, loss->seen, atomic_read(&plan.seen));
	if (!loss->err)
		KUNIT_EXPECT_EQ(test, 4711, res.offset);
	dafs_fixture_end_client(test, clnt);
}

static struct kunit_case append_cases[] = {
	KUNIT_CASE_PARAM(append_position_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(append_stable_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(append_max_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(append_buffer_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(append_padded_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(append_cksum_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(append_access_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(append_reader_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(append_denied_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(append_object_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(append_limit_test, dafs_flavours_gen),
	KUNIT_CASE(append_verifier_test),
	KUNIT_CASE_PARAM(append_writers_test, dafs_flavours_gen),
	KUNIT_CASE_SLOW(append_full_test),
	KUNIT_CASE_PARAM(append_once_test, append_losses_gen_params),
	{}
};

static struct kunit_suite append_suite = {
	.name = "dafs_append",
	.test_cases = append_cases,
};

kunit_test_suite(append_suite);
