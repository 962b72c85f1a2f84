// SPDX-License-Identifier: GPL-2.0
/*
 * Channels and their memory (appendix E, 3.2.3): setup and teardown, what is
 * registered for which channel, and where hand-built requests move data to.
 */
#include <linux/in.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include <linux/vmalloc.h>
#include "../../../../drivers/dafsd/session/peer.h"
#include "../../../../drivers/dafsd/session/server.h"
#include "../../../../drivers/dafsd/session/session.h"
#include "../../../../drivers/dafsd/request/io.h"
#include "../../../../drivers/dafsd/request/request.h"
#include "../../../dafs_common/rdma/requester.h"
#include "../../rpc/rpc_impl.h"
#include "../lib/raw.h"

/* Direct I/O with hand-built requests. */

#define CHAN_FILE_SIZE	(SZ_256K + 1234)

/**
 * struct chan_io - a file open on a session of the client
 * @fix: the fixture
 * @conn: its session's connection
 * @data: contents of the file, CHAN_FILE_SIZE bytes
 * @opened: the open
 */
struct chan_io {
	struct dafs_fixture *fix;
	struct dafs_conn *conn;
	u8 *data;
	struct dafs_opened opened;
};

static void chan_put_conn(void *conn)
{
	dafs_conn_put(conn);
}

static void chan_vfree(void *p)
{
	vfree(p);
}

static void *chan_vmalloc(struct kunit *test, size_t size)
{
	void *p = vzalloc(size);

	KUNIT_ASSERT_NOT_NULL(test, p);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, chan_vfree, p));
	return p;
}

static struct chan_io *chan_io(struct kunit *test)
{
	struct chan_io *io = kunit_kzalloc(test, sizeof(*io), GFP_KERNEL);
	struct qstr name = QSTR_INIT("file", 4);
	struct dafs_open_how how = {
		.owner = dafs_test_str("owner"),
		.access = DAFS_OPEN_SHARE_ACCESS_BOTH,
	};

	KUNIT_ASSERT_NOT_NULL(test, io);
	io->fix = dafs_fixture(test, test->param_value);
	io->data = chan_vmalloc(test, CHAN_FILE_SIZE);
	get_random_bytes(io->data, CHAN_FILE_SIZE);
	dafs_backing_write(test, io->fix, "file", io->data, CHAN_FILE_SIZE);
	KUNIT_ASSERT_EQ(test, 0, dafs_open(io->fix->clnt, current_cred(), &io->fix->dir, &name,
					   &how, &io->opened));
	io->conn = dafs_conn_get(io->fix->clnt);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, io->conn);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, chan_put_conn, io->conn));
	return io;
}

/* Return: DAFS status, or DAFS_NO_STATUS if none came; @mem is unmapped by then. */
static dafs_status_t chan_call(struct kunit *test, struct chan_io *io, u32 proc, void *args,
			       void *res, struct dafs_mem *mem)
{
	struct dafs_call *call = dafs_call_alloc(GFP_KERNEL);
	dafs_status_t status = DAFS_NO_STATUS;
	int err;

	/* other threads call this too, and only the test's own thread may assert */
	if (!call)
		return status;
	call->proc = proc;
	call->args = args;
	call->mem = mem;
	err = dafs_cred_handle(io->fix->clnt, io->conn, current_cred(), call->cred);
	if (!err)
		err = dafs_call_start(io->conn->rq, call);
	if (err && mem)
		dafs_mem_unmap(mem);
	if (!err && !dafs_call_wait(call)) {
		status = call->status;
		if (res && !status)
			KUNIT_EXPECT_EQ(test, 0, dafs_decode_res(&call->buf, proc, res));
	}
	dafs_call_put(call);
	return status;
}

/* Memory of a few pages, with a known pattern around the used part. */
static struct dafs_mem *chan_map(struct kunit *test, struct chan_io *io, void *buf, size_t len,
				 enum dma_data_direction dir)
{
	struct dafs_mem *mem = kunit_kzalloc(test, sizeof(*mem), GFP_KERNEL);
	struct kvec kvec = { buf, len };
	struct iov_iter iter;

	KUNIT_ASSERT_NOT_NULL(test, mem);
	iov_iter_kvec(&iter, dir == DMA_FROM_DEVICE ? ITER_DEST : ITER_SOURCE, &kvec, 1, len);
	KUNIT_ASSERT_EQ(test, (ssize_t)len, dafs_mem_map(io->conn->op, mem, &iter, len, dir));
	return mem;
}

static struct dafs_read_direct_args chan_read_args(const struct chan_io *io,
						   const struct dafs_direct_buf *bufs, u32 nr,
						   u64 offset, u32 count)
{
	return (struct dafs_read_direct_args) {
		.filehandle = io->opened.fh,
		.state_id = io->opened.state_id,
		.offset = offset,
		.byte_count = count,
		.read_data_buffers = { .count = nr, .elems = bufs },
	};
}

static void chan_expect_cksum(struct kunit *test, struct chan_io *io, const void *data, u32 len,
			      const struct dafs_cksum *got)
{
	struct dafs_cksum_state state;
	struct dafs_cksum sum = {};

	if (io->conn->op->cksum) {
		dafs_cksum_init(&state);
		dafs_cksum_update(&state, data, len);
		dafs_cksum_final_host(&state, io->conn->op->swab, &sum);
	}
	KUNIT_EXPECT_TRUE(test, dafs_cksum_equal(got, &sum));
}

/*
 * R-3.2.3.2.2-01 R-3.2.5-02 R-3.2.1.3-01 R-B.5-01, E-24, E-34: data fills the
 * buffers in order, for any start and length, and does not touch memory outside
 * of them
 */
static void dafs_chan_read_test(struct kunit *test)
{
	/* pieces of one region: bytes to skip, bytes to use */
	static const u32 parts[][2] = {
		{ 0, 1 }, { 3, 0 }, { 5, 4096 }, { 0, 17 }, { 4095, 8192 }, { 1, 1 },
		{ 100, 60000 }, { 7, 65537 },
	};
	struct chan_io *io = chan_io(test);
	u8 *buf = chan_vmalloc(test, SZ_256K), *want = chan_vmalloc(test, SZ_256K);
	struct dafs_direct_buf bufs[ARRAY_SIZE(parts)];
	struct dafs_read_direct_args args;
	struct dafs_read_direct_res res;
	struct dafs_mem *mem;
	u32 i, at = 0, total = 0;

	memset(buf, 0x55, SZ_256K);
	memset(want, 0x55, SZ_256K);
	mem = chan_map(test, io, buf, SZ_256K, DMA_FROM_DEVICE);
	KUNIT_ASSERT_EQ(test, 1, mem->nr);
	KUNIT_EXPECT_EQ(test, IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE,
			mem->reg[0].access);
	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		at += parts[i][0];
		bufs[i] = mem->bufs[0];
		bufs[i].buffer_address += at;
		bufs[i].buffer_byte_count = parts[i][1];
		memcpy(want + at, io->data + 321 + total, parts[i][1]);
		at += parts[i][1];
		total += parts[i][1];
	}
	args = chan_read_args(io, bufs, ARRAY_SIZE(parts), 321, total);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   chan_call(test, io, DAFS_PROC_READ_DIRECT, &args, &res, mem));
	KUNIT_EXPECT_EQ(test, total, res.bytes_read);
	KUNIT_EXPECT_EQ(test, 0, res.eof);
	KUNIT_EXPECT_TRUE(test, !memcmp(buf, want, SZ_256K));
	chan_expect_cksum(test, io, io->data + 321, total, &res.direct_checksum);
}

/* The file ends before the buffers are full. */
static void dafs_chan_read_eof_test(struct kunit *test)
{
	struct chan_io *io = chan_io(test);
	u8 *buf = chan_vmalloc(test, 2 * PAGE_SIZE), *want = chan_vmalloc(test, 2 * PAGE_SIZE);
	struct dafs_read_direct_args args;
	struct dafs_read_direct_res res;
	struct dafs_mem *mem;

	memset(buf, 0x55, 2 * PAGE_SIZE);
	memset(want, 0x55, 2 * PAGE_SIZE);
	memcpy(want, io->data + CHAN_FILE_SIZE - 1000, 1000);
	mem = chan_map(test, io, buf, 2 * PAGE_SIZE, DMA_FROM_DEVICE);
	args = chan_read_args(io, mem->bufs, mem->nr, CHAN_FILE_SIZE - 1000, 2 * PAGE_SIZE);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   chan_call(test, io, DAFS_PROC_READ_DIRECT, &args, &res, mem));
	KUNIT_EXPECT_EQ(test, 1000, res.bytes_read);
	KUNIT_EXPECT_EQ(test, 1, res.eof);
	KUNIT_EXPECT_TRUE(test, !memcmp(buf, want, 2 * PAGE_SIZE));
	chan_expect_cksum(test, io, io->data + CHAN_FILE_SIZE - 1000, 1000,
			  &res.direct_checksum);

	/* 0 bytes (E-34: the checksum of no data) */
	mem = chan_map(test, io, buf, PAGE_SIZE, DMA_FROM_DEVICE);
	args = chan_read_args(io, mem->bufs, mem->nr, 2 * CHAN_FILE_SIZE, PAGE_SIZE);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   chan_call(test, io, DAFS_PROC_READ_DIRECT, &args, &res, mem));
	KUNIT_EXPECT_EQ(test, 0, res.bytes_read);
	KUNIT_EXPECT_EQ(test, 1, res.eof);
	KUNIT_EXPECT_TRUE(test, !memcmp(buf, want, 2 * PAGE_SIZE));
	chan_expect_cksum(test, io, buf, 0, &res.direct_checksum);
}

/* E-24: buffers smaller than byte_count are refused, and nothing is transferred */
static void dafs_chan_read_sum_test(struct kunit *test)
{
	struct chan_io *io = chan_io(test);
	u8 *buf = chan_vmalloc(test, 2 * PAGE_SIZE), *want = chan_vmalloc(test, 2 * PAGE_SIZE);
	struct dafs_direct_buf bufs[2] = {};
	struct dafs_read_direct_args args;
	struct dafs_read_direct_res res;
	struct dafs_mem *mem;

	mem = chan_map(test, io, buf, 2 * PAGE_SIZE, DMA_FROM_DEVICE);
	args = chan_read_args(io, mem->bufs, 1, 0, 2 * PAGE_SIZE + 1);
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL,
			   chan_call(test, io, DAFS_PROC_READ_DIRECT, &args, &res, mem));

	mem = chan_map(test, io, buf, 2 * PAGE_SIZE, DMA_FROM_DEVICE);
	args = chan_read_args(io, NULL, 0, 0, 1);
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL,
			   chan_call(test, io, DAFS_PROC_READ_DIRECT, &args, &res, mem));

	/* a sum of lengths above 32 bits must not wrap */
	mem = chan_map(test, io, buf, 2 * PAGE_SIZE, DMA_FROM_DEVICE);
	bufs[0] = mem->bufs[0];
	bufs[0].buffer_byte_count = 100;
	bufs[1] = mem->bufs[0];
	bufs[1].buffer_byte_count = U32_MAX - 49;
	bufs[1].buffer_address += 100;
	args = chan_read_args(io, bufs, 2, 0, 200);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   chan_call(test, io, DAFS_PROC_READ_DIRECT, &args, &res, mem));
	KUNIT_EXPECT_EQ(test, 200, res.bytes_read);
	memcpy(want, io->data, 200);
	KUNIT_EXPECT_TRUE(test, !memcmp(buf, want, 2 * PAGE_SIZE));
}

#define CHAN_MANY_BUFS	256

/*
 * E-24: at least 256 buffers, and INVAL above the server's limit; R-2.3.3-04: RDMA
 * writes use no receives, of which there are fewer than buffers
 */
static void dafs_chan_many_bufs_test(struct kunit *test)
{
	struct chan_io *io = chan_io(test);
	struct dafs_direct_buf *bufs = kunit_kcalloc(test, CHAN_MANY_BUFS + 1, sizeof(*bufs),
						     GFP_KERNEL);
	u8 *buf = chan_vmalloc(test, SZ_256K), *want = chan_vmalloc(test, SZ_256K);
	struct dafs_read_direct_args args;
	struct dafs_read_direct_res res;
	struct dafs_mem *mem;
	unsigned int i;
	dafs_status_t status;

	KUNIT_ASSERT_NOT_NULL(test, bufs);
	KUNIT_EXPECT_LT(test, io->conn->op->limits.rq, CHAN_MANY_BUFS);
	mem = chan_map(test, io, buf, SZ_256K, DMA_FROM_DEVICE);
	/* 700 bytes each, 1000 bytes apart */
	for (i = 0; i <= CHAN_MANY_BUFS; i++) {
		bufs[i] = mem->bufs[0];
		bufs[i].buffer_address += 1000 * i;
		bufs[i].buffer_byte_count = 700;
		if (i < CHAN_MANY_BUFS)
			memcpy(want + 1000 * i, io->data + 700 * i, 700);
	}
	args = chan_read_args(io, bufs, CHAN_MANY_BUFS, 0, 700 * CHAN_MANY_BUFS);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   chan_call(test, io, DAFS_PROC_READ_DIRECT, &args, &res, mem));
	KUNIT_EXPECT_EQ(test, 700 * CHAN_MANY_BUFS, res.bytes_read);
	KUNIT_EXPECT_TRUE(test, !memcmp(buf, want, SZ_256K));

	mem = chan_map(test, io, buf, SZ_256K, DMA_FROM_DEVICE);
	for (i = 0; i <= CHAN_MANY_BUFS; i++)
		bufs[i].buffer_handle = mem->bufs[0].buffer_handle;
	args = chan_read_args(io, bufs, CHAN_MANY_BUFS + 1, 0, 700);
	status = chan_call(test, io, DAFS_PROC_READ_DIRECT, &args, &res, mem);
	KUNIT_EXPECT_TRUE(test, status == DAFS_STATUS_OK || status == DAFSERR_INVAL);
	KUNIT_EXPECT_EQ(test, 0, dafs_null(io->fix->clnt, current_cred()));
}

static void chan_expect_file(struct kunit *test, struct chan_io *io)
{
	u8 *now = chan_vmalloc(test, CHAN_FILE_SIZE + 1);

	KUNIT_EXPECT_EQ(test, (ssize_t)CHAN_FILE_SIZE,
			dafs_backing_read(io->fix, "file", now, CHAN_FILE_SIZE + 1, 0));
	KUNIT_EXPECT_TRUE(test, !memcmp(now, io->data, CHAN_FILE_SIZE));
}

static struct dafs_write_direct_args chan_write_args(const struct chan_io *io,
						     const struct dafs_direct_buf *bufs, u32 nr,
						     u64 offset, u32 count)
{
	return (struct dafs_write_direct_args) {
		.filehandle = io->opened.fh,
		.state_id = io->opened.state_id,
		.offset = offset,
		.byte_count = count,
		.stable_how = DAFS_DATA_SYNC,
		.write_data_buffers = { .count = nr, .elems = bufs },
	};
}

/*
 * R-3.2.3.2.1-01 R-3.2.5-02 R-3.1.2.3-02: the server reads the pieces in order; the
 * last flavour uses the RDMA-read channel with the same keys
 */
static void dafs_chan_write_test(struct kunit *test)
{
	static const u32 parts[][2] = {
		{ 1, 3000 }, { 0, 1 }, { 4096, 0 }, { 33, 70001 }, { 5, 4095 },
	};
	struct chan_io *io = chan_io(test);
	u8 *buf = chan_vmalloc(test, SZ_128K);
	struct dafs_direct_buf bufs[ARRAY_SIZE(parts)];
	struct dafs_write_direct_args args;
	struct dafs_cksum_state state;
	struct dafs_write_res res;
	struct dafs_mem *mem;
	u32 i, at = 0, total = 0;

	get_random_bytes(buf, SZ_128K);
	mem = chan_map(test, io, buf, SZ_128K, DMA_TO_DEVICE);
	KUNIT_EXPECT_EQ(test, IB_ACCESS_REMOTE_READ, mem->reg[0].access);
	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		at += parts[i][0];
		bufs[i] = mem->bufs[0];
		bufs[i].buffer_address += at;
		bufs[i].buffer_byte_count = parts[i][1];
		memcpy(io->data + 777 + total, buf + at, parts[i][1]);
		at += parts[i][1];
		total += parts[i][1];
	}
	args = chan_write_args(io, bufs, ARRAY_SIZE(parts), 777, total);
	if (io->conn->op->cksum) {
		dafs_cksum_init(&state);
		dafs_cksum_update(&state, io->data + 777, total);
		dafs_cksum_final_host(&state, io->conn->op->swab, &args.direct_checksum);
	}
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   chan_call(test, io, DAFS_PROC_WRITE_DIRECT, &args, &res, mem));
	KUNIT_EXPECT_EQ(test, total, res.count);
	KUNIT_EXPECT_GE(test, res.committed, DAFS_DATA_SYNC);
	chan_expect_file(test, io);
}

/* E-34, R-3.2.5-04: checked before the file changes, and over byte_count bytes only */
static void dafs_chan_write_cksum_test(struct kunit *test)
{
	struct chan_io *io = chan_io(test);
	u8 *buf = chan_vmalloc(test, PAGE_SIZE);
	struct dafs_write_direct_args args;
	struct dafs_write_res res;
	struct dafs_mem *mem;

	if (!io->conn->op->cksum)
		kunit_skip(test, "no checksums");
	mem = chan_map(test, io, buf, PAGE_SIZE, DMA_TO_DEVICE);
	args = chan_write_args(io, mem->bufs, 1, 0, PAGE_SIZE);
	args.direct_checksum = (struct dafs_cksum) { .s1 = 1, .s2 = 2 };
	DAFS_EXPECT_STATUS(test, DAFSERR_CHKSUM,
			   chan_call(test, io, DAFS_PROC_WRITE_DIRECT, &args, &res, mem));
	mem = chan_map(test, io, buf, PAGE_SIZE, DMA_TO_DEVICE);
	args = chan_write_args(io, mem->bufs, 1, 0, PAGE_SIZE);
	DAFS_EXPECT_STATUS(test, DAFSERR_CHKSUM,
			   chan_call(test, io, DAFS_PROC_WRITE_DIRECT, &args, &res, mem));
	chan_expect_file(test, io);
}

static void dafs_chan_write_sum_test(struct kunit *test)
{
	struct chan_io *io = chan_io(test);
	u8 *buf = chan_vmalloc(test, PAGE_SIZE);
	struct dafs_write_direct_args args;
	struct dafs_write_res res;
	struct dafs_mem *mem;

	mem = chan_map(test, io, buf, PAGE_SIZE, DMA_TO_DEVICE);
	args = chan_write_args(io, mem->bufs, 1, 0, PAGE_SIZE + 1);
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL,
			   chan_call(test, io, DAFS_PROC_WRITE_DIRECT, &args, &res, mem));
	mem = chan_map(test, io, buf, PAGE_SIZE, DMA_TO_DEVICE);
	args = chan_write_args(io, NULL, 0, 0, 1);
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL,
			   chan_call(test, io, DAFS_PROC_WRITE_DIRECT, &args, &res, mem));
	mem = chan_map(test, io, buf, PAGE_SIZE, DMA_TO_DEVICE);
	args = chan_write_args(io, mem->bufs, 1, 0, PAGE_SIZE);
	args.stable_how = 3;
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL,
			   chan_call(test, io, DAFS_PROC_WRITE_DIRECT, &args, &res, mem));
	chan_expect_file(test, io);
}

/* Keys that are invalid, or not valid for this operation. */
enum chan_key {
	CHAN_KEY_STALE,
	CHAN_KEY_FORGED,
	CHAN_KEY_OTHER_WAY,
	CHAN_KEY_BEYOND,
	CHAN_KEY_BEFORE,
};

struct chan_bad_key {
	const char *name;
	enum chan_key key;
};

static const struct chan_bad_key chan_bad_keys[] = {
	{ "invalidated", CHAN_KEY_STALE },
	{ "forged", CHAN_KEY_FORGED },
	{ "for the other direction", CHAN_KEY_OTHER_WAY },
	{ "beyond the region", CHAN_KEY_BEYOND },
	{ "before the region", CHAN_KEY_BEFORE },
};

KUNIT_ARRAY_PARAM_DESC(chan_bad_key, chan_bad_keys, name);

static void chan_spoil(struct dafs_direct_buf *buf, enum chan_key key, u32 stale)
{
	switch (key) {
	case CHAN_KEY_STALE:
		buf->buffer_handle = stale;
		break;
	case CHAN_KEY_FORGED:
		buf->buffer_handle = 0xdeadbeef;
		break;
	case CHAN_KEY_OTHER_WAY:
		break;
	case CHAN_KEY_BEYOND:
		buf->buffer_address += PAGE_SIZE;
		break;
	case CHAN_KEY_BEFORE:
		buf->buffer_address -= 8;
		break;
	}
}

/*
 * E-127 R-3.2.1.3-01 R-B.4-02: the server cannot return a status: the session is lost
 * and the client makes a new one; other sessions are not affected
 */
static void dafs_chan_bad_key_test(struct kunit *test)
{
	const struct chan_bad_key *bad = test->param_value;
	struct chan_io *io;
	struct dafs_client *bystander;
	struct dafs_client_params params;
	struct dafs_read_direct_args args;
	struct dafs_direct_buf buf;
	struct dafs_mem *mem;
	u8 *data;
	u32 stale;

	test->param_value = NULL;	/* the fixture uses the first flavour */
	io = chan_io(test);
	test->param_value = bad;
	dafs_fixture_params(NULL, &params);
	bystander = dafs_fixture_client(test, &params);
	data = chan_vmalloc(test, 2 * PAGE_SIZE);

	/* first a valid key, which is invalid after the call */
	mem = chan_map(test, io, data + PAGE_SIZE, PAGE_SIZE, DMA_FROM_DEVICE);
	stale = mem->bufs[0].buffer_handle;
	args = chan_read_args(io, mem->bufs, 1, 0, PAGE_SIZE);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   chan_call(test, io, DAFS_PROC_READ_DIRECT, &args, NULL, mem));
	memset(data, 0, 2 * PAGE_SIZE);
	mem = chan_map(test, io, data, PAGE_SIZE, bad->key == CHAN_KEY_OTHER_WAY ?
		       DMA_TO_DEVICE : DMA_FROM_DEVICE);
	buf = mem->bufs[0];
	chan_spoil(&buf, bad->key, stale);
	args = chan_read_args(io, &buf, 1, 0, 64);
	DAFS_EXPECT_STATUS(test, DAFS_NO_STATUS, chan_call(test, io, DAFS_PROC_READ_DIRECT, &args,
							   NULL, mem));
	KUNIT_EXPECT_FALSE(test, dafs_chan_is_open(io->conn->op));
	KUNIT_EXPECT_NULL(test, memchr_inv(data, 0, 2 * PAGE_SIZE));
	KUNIT_EXPECT_EQ(test, 0, dafs_null(io->fix->clnt, current_cred()));
	KUNIT_EXPECT_EQ(test, 0, dafs_null(bystander, current_cred()));
}

static void chan_unlock(void *fix)
{
	inode_unlock(d_inode(((struct dafs_fixture *)fix)->path.dentry));
}

static void chan_put_call(void *call)
{
	dafs_call_put(call);
}

/* A CREATE that the server cannot answer before chan_unlock() */
static struct dafs_call *chan_start_stuck(struct kunit *test, struct chan_io *io,
					  struct dafs_create_args *args)
{
	struct dafs_call *call = dafs_call_alloc(GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, call);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, chan_put_call, call));
	call->proc = DAFS_PROC_CREATE;
	call->args = args;
	KUNIT_ASSERT_EQ(test, 0, dafs_cred_handle(io->fix->clnt, io->conn, current_cred(),
						  call->cred));
	inode_lock(d_inode(io->fix->path.dentry));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, chan_unlock, io->fix));
	KUNIT_ASSERT_EQ(test, 0, dafs_call_start(io->conn->rq, call));
	return call;
}

/* R-2.3.3-02: one failed transfer ends all outstanding requests */
static void dafs_chan_outstanding_test(struct kunit *test)
{
	struct chan_io *io = chan_io(test);
	struct dafs_create_args create = {
		.filehandle = io->fix->dir,
		.component = dafs_test_str("stuck"),
		.obj_type = DAFS_TYPE_DIR,
	};
	u8 *data = chan_vmalloc(test, PAGE_SIZE);
	struct dafs_read_direct_args args;
	struct dafs_direct_buf buf;
	struct dafs_call *stuck;
	struct dafs_mem *mem;

	mem = chan_map(test, io, data, PAGE_SIZE, DMA_FROM_DEVICE);
	stuck = chan_start_stuck(test, io, &create);
	buf = mem->bufs[0];
	buf.buffer_handle ^= 0x40;
	args = chan_read_args(io, &buf, 1, 0, 64);
	DAFS_EXPECT_STATUS(test, DAFS_NO_STATUS, chan_call(test, io, DAFS_PROC_READ_DIRECT, &args,
							   NULL, mem));
	KUNIT_EXPECT_EQ(test, -ENOTCONN, dafs_call_wait(stuck));
	KUNIT_EXPECT_FALSE(test, dafs_chan_is_open(io->conn->op));
	kunit_release_action(test, chan_unlock, io->fix);
	KUNIT_EXPECT_EQ(test, 0, dafs_null(io->fix->clnt, current_cred()));
}

/* The same for RDMA reads; the last case uses the RDMA-read channel. */
static void dafs_chan_bad_write_key_test(struct kunit *test)
{
	struct chan_io *io = chan_io(test);
	struct dafs_write_direct_args args;
	struct dafs_direct_buf buf;
	struct dafs_mem *mem;
	u8 *data = chan_vmalloc(test, PAGE_SIZE);
	dafs_status_t status;

	mem = chan_map(test, io, data, PAGE_SIZE, DMA_TO_DEVICE);
	buf = mem->bufs[0];
	buf.buffer_handle ^= 0x40;
	args = chan_write_args(io, &buf, 1, 0, PAGE_SIZE);
	status = chan_call(test, io, DAFS_PROC_WRITE_DIRECT, &args, NULL, mem);
	KUNIT_EXPECT_TRUE(test, status == DAFS_NO_STATUS || status == DAFSERR_IO);
	KUNIT_EXPECT_EQ(test, 0, dafs_null(io->fix->clnt, current_cred()));
	chan_expect_file(test, io);
}

struct chan_reads {
	const char *name;
	struct raw_reads reads;
	dafs_status_t status;
};

static const struct chan_reads chan_reads[] = {
	{ "none", { 0, 0 }, DAFSERR_RDMA_READ_CHANNEL_UNUSABLE },
	{ "by the client only", { 0, 16 }, DAFSERR_RDMA_READ_CHANNEL_UNUSABLE },
	{ "by the server only", { 16, 0 }, DAFS_STATUS_OK },
	{ "more than anything can", { 255, 255 }, DAFS_STATUS_OK },
};

KUNIT_ARRAY_PARAM_DESC(chan_reads, chan_reads, name);

/*
 * E-126: the server uses RDMA reads if the client allows them, even if the client does not
 * ask for them; if not allowed, only writes that need RDMA reads are refused
 */
static void dafs_chan_reads_test(struct kunit *test)
{
	const struct chan_reads *param = test->param_value;
	struct raw_how how = { .type = DAFS_CHANNEL_OPERATION, .reads = &param->reads };
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct raw_conn *conn = raw_connect(test, &how);
	struct dafs_str name = dafs_test_str("file");
	u8 *data = kunit_kzalloc(test, 100, GFP_KERNEL), now[101];
	struct dafs_direct_buf buf;
	struct dafs_open_args open = {
		.dir_handle = fix->dir,
		.pathname = { .count = 1, .elems = &name },
		.open_type = DAFS_OPEN_CREATE,
		.owner = name,
		.share_access = DAFS_OPEN_SHARE_ACCESS_BOTH,
	};
	struct dafs_write_direct_args args = {
		.byte_count = 100,
		.write_data_buffers = { .count = 1, .elems = &buf },
	};
	struct raw_login login = {};
	struct dafs_open_res res;

	KUNIT_ASSERT_NOT_NULL(test, data);
	dafs_test_pattern(data, 100, 17);
	buf = raw_expose(conn, data, 100);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_login(conn, &login));
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_call(conn, DAFS_PROC_OPEN, &open, &res));
	args.filehandle = res.filehandle;
	args.state_id = res.state_id;
	DAFS_EXPECT_STATUS(test, param->status,
			   raw_call(conn, DAFS_PROC_WRITE_DIRECT, &args, NULL));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_call(conn, DAFS_PROC_NULL, NULL, NULL));
	KUNIT_EXPECT_EQ(test, param->status ? 0 : 100,
			dafs_backing_read(fix, "file", now, sizeof(now), 0));
	if (!param->status)
		KUNIT_EXPECT_MEMEQ(test, data, now, 100);
}

/* Memory registration */

/* READ_DIRECT into an iterator: checks that dafs_mem_map() mapped its bytes correctly. */
static void chan_read_iter(struct kunit *test, struct chan_io *io, struct iov_iter *iter,
			   u64 offset, ssize_t *mapped)
{
	struct dafs_mem *mem = kunit_kzalloc(test, sizeof(*mem), GFP_KERNEL);
	struct dafs_read_direct_args args;
	struct dafs_read_direct_res res;
	size_t len = iov_iter_count(iter), sum = 0;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, mem);
	*mapped = dafs_mem_map(io->conn->op, mem, iter, len, DMA_FROM_DEVICE);
	KUNIT_ASSERT_GT(test, *mapped, 0);
	KUNIT_EXPECT_LE(test, *mapped, (ssize_t)len);
	KUNIT_EXPECT_EQ(test, len, iov_iter_count(iter));
	KUNIT_EXPECT_LE(test, mem->nr, DAFS_MEM_MRS);
	for (i = 0; i < mem->nr; i++)
		sum += mem->bufs[i].buffer_byte_count;
	KUNIT_EXPECT_EQ(test, (size_t)*mapped, sum);
	args = chan_read_args(io, mem->bufs, mem->nr, offset, *mapped);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   chan_call(test, io, DAFS_PROC_READ_DIRECT, &args, &res, mem));
	KUNIT_EXPECT_EQ(test, *mapped, (ssize_t)res.bytes_read);
}

/* Pieces that do not end at page boundaries need one region each; the rest is not mapped. */
static void dafs_mem_kvec_test(struct kunit *test)
{
	struct chan_io *io = chan_io(test);
	u8 *buf = chan_vmalloc(test, 16 * PAGE_SIZE);
	u8 *want = chan_vmalloc(test, 16 * PAGE_SIZE);
	struct kvec kvec[6] = {
		{ buf + 10, 100 },
		{ buf + PAGE_SIZE + 1, 2 * PAGE_SIZE + 3 },
		{ buf + 5 * PAGE_SIZE, PAGE_SIZE },
		{ buf + 7 * PAGE_SIZE, 512 },
		{ buf + 9 * PAGE_SIZE + 77, 4000 },
		{ buf + 12 * PAGE_SIZE + 3, 1 },
	};
	size_t total = 0, left;
	struct iov_iter iter;
	ssize_t mapped;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kvec); i++)
		total += kvec[i].iov_len;
	iov_iter_kvec(&iter, ITER_DEST, kvec, ARRAY_SIZE(kvec), total);
	chan_read_iter(test, io, &iter, 5, &mapped);
	KUNIT_EXPECT_GE(test, mapped, 100 + 2 * PAGE_SIZE + 3);
	left = mapped;
	for (i = 0; i < ARRAY_SIZE(kvec) && left; i++) {
		size_t n = min(left, kvec[i].iov_len);

		memcpy(want + ((u8 *)kvec[i].iov_base - buf), io->data + 5 + mapped - left, n);
		left -= n;
	}
	KUNIT_EXPECT_TRUE(test, !memcmp(buf, want, 16 * PAGE_SIZE));
}

/* Pages adjacent in the iterator only; their addresses are not adjacent. */
static void dafs_mem_bvec_test(struct kunit *test)
{
	struct chan_io *io = chan_io(test);
	u8 *buf = chan_vmalloc(test, 8 * PAGE_SIZE);
	struct bio_vec bvec[8];
	struct iov_iter iter;
	ssize_t mapped;
	unsigned int i;

	/* in reverse order, which still takes only one region */
	for (i = 0; i < 8; i++)
		bvec_set_page(&bvec[i], vmalloc_to_page(buf + (7 - i) * PAGE_SIZE), PAGE_SIZE, 0);
	iov_iter_bvec(&iter, ITER_DEST, bvec, 8, 8 * PAGE_SIZE);
	chan_read_iter(test, io, &iter, 0, &mapped);
	KUNIT_ASSERT_EQ(test, 8 * PAGE_SIZE, mapped);
	for (i = 0; i < 8; i++)
		KUNIT_EXPECT_TRUE(test, !memcmp(buf + (7 - i) * PAGE_SIZE,
						io->data + i * PAGE_SIZE, PAGE_SIZE));

	/* from the middle of the first page to the middle of the last */
	memset(buf, 0, 8 * PAGE_SIZE);
	iov_iter_bvec(&iter, ITER_DEST, bvec, 8, 8 * PAGE_SIZE);
	iov_iter_advance(&iter, PAGE_SIZE + 100);
	iov_iter_truncate(&iter, 2 * PAGE_SIZE + 33);
	chan_read_iter(test, io, &iter, 9, &mapped);
	KUNIT_ASSERT_EQ(test, 2 * PAGE_SIZE + 33, mapped);
	KUNIT_EXPECT_TRUE(test, !memcmp(buf + 6 * PAGE_SIZE + 100, io->data + 9,
					PAGE_SIZE - 100));
	KUNIT_EXPECT_TRUE(test, !memcmp(buf + 5 * PAGE_SIZE, io->data + 9 + PAGE_SIZE - 100,
					PAGE_SIZE));
	KUNIT_EXPECT_TRUE(test, !memcmp(buf + 4 * PAGE_SIZE, io->data + 9 + 2 * PAGE_SIZE - 100,
					133));
	KUNIT_EXPECT_EQ(test, 0, buf[6 * PAGE_SIZE + 99]);
	KUNIT_EXPECT_EQ(test, 0, buf[4 * PAGE_SIZE + 133]);
}

/* Memory beyond the limit of a region is not mapped, and regions are reused. */
static void dafs_mem_limits_test(struct kunit *test)
{
	struct chan_io *io = chan_io(test);
	const struct dafs_chan_limits *lim = &io->conn->op->limits;
	size_t most = (size_t)(lim->mr_pages - 1) * PAGE_SIZE;
	u8 *buf = chan_vmalloc(test, most + SZ_64K);
	struct kvec kvec = { buf + 5, most + SZ_32K };
	struct dafs_mem *mem = kunit_kzalloc(test, sizeof(*mem), GFP_KERNEL);
	struct iov_iter iter;
	unsigned int i;
	u32 key = 0;

	KUNIT_ASSERT_NOT_NULL(test, mem);
	for (i = 0; i < 4 * lim->mrs; i++) {
		iov_iter_kvec(&iter, ITER_DEST, &kvec, 1, kvec.iov_len);
		KUNIT_ASSERT_EQ(test, (ssize_t)most,
				dafs_mem_map(io->conn->op, mem, &iter, kvec.iov_len,
					     DMA_FROM_DEVICE));
		KUNIT_EXPECT_EQ(test, 1, mem->nr);
		/* each use of a region has a new key */
		KUNIT_EXPECT_NE(test, key, mem->bufs[0].buffer_handle);
		key = mem->bufs[0].buffer_handle;
		dafs_mem_unmap(mem);
	}
}

/**
 * struct chan_reader - one of many readers that together need more regions than exist
 * @work: where it runs
 * @io: the file
 * @test: the test
 * @from: start offset in the file; different for each
 * @buf: its memory
 * @sq_used: highest number of used send queue entries it has seen
 * @status: result
 */
struct chan_reader {
	struct work_struct work;
	struct kunit *test;
	struct chan_io *io;
	unsigned int from;
	u8 *buf;
	unsigned int sq_used;
	dafs_status_t status;
};

#define CHAN_READERS	24
#define CHAN_READ_ROUNDS 8

/* Checks that the first @n bytes from @from are in the right place. */
static bool chan_pieces_right(const struct kvec *kvec, const u8 *from, size_t n)
{
	for (; n; kvec++) {
		size_t len = min(n, kvec->iov_len);

		if (memcmp(kvec->iov_base, from, len))
			return false;
		from += len;
		n -= len;
	}
	return true;
}

static void chan_reader(struct work_struct *work)
{
	struct chan_reader *rd = container_of(work, struct chan_reader, work);
	const struct dafs_requester *rq = rd->io->conn->op->requester;
	unsigned int i;

	for (i = 0; i < CHAN_READ_ROUNDS && !rd->status; i++) {
		struct dafs_mem *mem = kzalloc(sizeof(*mem), GFP_KERNEL);
		const struct kvec kvec[4] = {
			{ rd->buf + 1, 1000 }, { rd->buf + 5000, 1000 },
			{ rd->buf + 9001, 1000 }, { rd->buf + 13000, 1000 },
		};
		struct dafs_read_direct_args args;
		struct iov_iter iter;
		ssize_t n;

		if (!mem) {
			rd->status = DAFS_NO_STATUS;
			break;
		}
		iov_iter_kvec(&iter, ITER_DEST, kvec, 4, 4000);
		n = dafs_mem_map(rd->io->conn->op, mem, &iter, 4000, DMA_FROM_DEVICE);
		if (n <= 0) {
			rd->status = DAFS_NO_STATUS;
		} else {
			args = chan_read_args(rd->io, mem->bufs, mem->nr, rd->from + i, n);
			rd->status = chan_call(rd->test, rd->io, DAFS_PROC_READ_DIRECT, &args,
					       NULL, mem);
			if (!chan_pieces_right(kvec, rd->io->data + rd->from + i, n))
				rd->status = DAFS_NO_STATUS;
		}
		kfree(mem);
		rd->sq_used = max(rd->sq_used, READ_ONCE(rq->sq_used));
	}
}

/*
 * Each caller wants four regions, but there are fewer; no caller waits for ever, and
 * together they do not use more send queue entries than exist.
 */
static void dafs_mem_contention_test(struct kunit *test)
{
	struct chan_io *io = chan_io(test);
	struct chan_reader *rd = kunit_kcalloc(test, CHAN_READERS, sizeof(*rd), GFP_KERNEL);
	struct workqueue_struct *wq;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, rd);
	for (i = 0; i < CHAN_READERS; i++) {
		rd[i].test = test;
		rd[i].io = io;
		rd[i].from = i * CHAN_READ_ROUNDS;
		rd[i].buf = chan_vmalloc(test, SZ_16K);
		INIT_WORK(&rd[i].work, chan_reader);
	}
	wq = alloc_workqueue("dafs_readers", WQ_UNBOUND, CHAN_READERS);
	KUNIT_ASSERT_NOT_NULL(test, wq);
	for (i = 0; i < CHAN_READERS; i++)
		queue_work(wq, &rd[i].work);
	destroy_workqueue(wq);
	for (i = 0; i < CHAN_READERS; i++) {
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, rd[i].status);
		KUNIT_EXPECT_LT(test, rd[i].sq_used, io->conn->op->limits.sq);
	}
	KUNIT_EXPECT_TRUE(test, dafs_chan_is_open(io->conn->op));
}

/* Channels. */

static void chan_closed(struct dafs_chan *chan, enum dafs_close_reason reason)
{
	complete(chan->priv);
}

static const struct dafs_chan_ops chan_ops = {
	.closed = chan_closed,
};

static struct dafs_chan *chan_connect(struct kunit *test, struct completion *closed, u16 port,
				      u16 mrs)
{
	struct dafs_client_params sp;
	struct dafs_chan_params params = {
		.net = &init_net,
		.ops = &chan_ops,
		.priv = closed,
		.type = DAFS_CHANNEL_OPERATION,
		.send_size = SZ_8K,
		.recv_size = SZ_8K,
		.depth = 8,
		.mrs = mrs,
	};

	init_completion(closed);
	dafs_fixture_params(NULL, &sp);
	if (port)
		((struct sockaddr_in *)&sp.dst)->sin_port = htons(port);
	return dafs_chan_connect(&params, (struct sockaddr *)&sp.dst, NULL, 5000);
}

/* R-E.3-01 R-E.3-03: a channel from setup to teardown */
static void dafs_chan_life_test(struct kunit *test)
{
	struct completion closed;
	struct dafs_chan *chan = chan_connect(test, &closed, 0, 8);
	struct dafs_requester *rq;
	struct dafs_call *call;
	unsigned int posted;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, chan);
	KUNIT_EXPECT_TRUE(test, dafs_chan_is_open(chan));
	KUNIT_EXPECT_EQ(test, DAFS_CHAN_OPEN, chan->state);
	KUNIT_EXPECT_EQ(test, IB_QPT_RC, chan->qp->qp_type);
	/* R-3.2.6.3-02 E-132: a receive of at least 4 KB is posted before the first send */
	KUNIT_EXPECT_EQ(test, 1, chan->nr_posted);
	KUNIT_EXPECT_GE(test, chan->limits.recv_size, DAFS_FIRST_MSG_SIZE);
	rq = dafs_requester_create(chan, 1, 4, 0);
	KUNIT_EXPECT_FALSE(test, IS_ERR(rq));
	if (!IS_ERR(rq)) {
		/* as many receives as there are slots with buffers */
		posted = chan->nr_posted;
		KUNIT_EXPECT_GE(test, posted, 1);
		KUNIT_EXPECT_LE(test, posted, 4);
		call = dafs_call_alloc(GFP_KERNEL);
		KUNIT_EXPECT_NOT_NULL(test, call);
		if (call) {
			call->proc = DAFS_PROC_NULL;
			KUNIT_EXPECT_EQ(test, 0, dafs_call_start(rq, call));
			KUNIT_EXPECT_EQ(test, 0, dafs_call_wait(call));
			DAFS_EXPECT_STATUS(test, DAFSERR_ILLEGAL_STATE, call->status);
			dafs_call_put(call);
		}
		KUNIT_EXPECT_EQ(test, posted, chan->nr_posted);
	}
	KUNIT_EXPECT_FALSE(test, completion_done(&closed));
	dafs_chan_quiesce(chan);
	KUNIT_EXPECT_EQ(test, DAFS_CHAN_CLOSED, chan->state);
	KUNIT_EXPECT_FALSE(test, dafs_chan_is_open(chan));
	/* drained: all posted receives have completed */
	KUNIT_EXPECT_EQ(test, 0, chan->nr_posted);
	if (!IS_ERR(rq)) {
		dafs_requester_abort(rq, -ENOTCONN);
		dafs_requester_destroy(rq);
	}
	/* the side that closes gets no callback */
	KUNIT_EXPECT_FALSE(test, completion_done(&closed));
	dafs_chan_destroy(chan);
}

/* A channel that has failed: new calls and calls that are waiting. */
static void dafs_chan_fail_test(struct kunit *test)
{
	struct completion closed;
	struct dafs_chan *chan = chan_connect(test, &closed, 0, 0);
	struct dafs_requester *rq;
	struct dafs_call *call = dafs_call_alloc(GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, chan);
	rq = dafs_requester_create(chan, 1, 4, 0);
	if (IS_ERR(rq) || !call) {
		KUNIT_FAIL(test, "no memory");
		goto destroy;
	}
	call->proc = DAFS_PROC_NULL;
	dafs_chan_fail(chan, DAFS_CLOSE_PROTOCOL);
	KUNIT_EXPECT_TRUE(test, completion_done(&closed));
	KUNIT_EXPECT_EQ(test, DAFS_CLOSE_PROTOCOL, chan->reason);
	/* only the first error is reported, and only once */
	wait_for_completion(&closed);
	dafs_chan_fail(chan, DAFS_CLOSE_TIMEOUT);
	KUNIT_EXPECT_FALSE(test, completion_done(&closed));
	KUNIT_EXPECT_EQ(test, DAFS_CLOSE_PROTOCOL, chan->reason);
	KUNIT_EXPECT_EQ(test, -ENOTCONN, dafs_call_start(rq, call));
	KUNIT_EXPECT_EQ(test, -ENOTCONN, dafs_chan_post_recvs(chan, 1));
	dafs_call_put(call);
	dafs_chan_quiesce(chan);
	dafs_requester_abort(rq, -ENOTCONN);
	dafs_requester_destroy(rq);
destroy:
	dafs_chan_destroy(chan);
}

/* R-3.2.2-01 R-E.5.4-02: a disconnect by the peer is detected and reported once */
static void dafs_chan_peer_test(struct kunit *test)
{
	struct raw_server *srv = raw_server(test);
	struct completion closed;
	struct dafs_chan *chan;
	struct raw_conn *peer;

	chan = chan_connect(test, &closed,
			    ntohs(((struct sockaddr_in *)&srv->params.dst)->sin_port), 0);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, chan);
	peer = raw_accepted(srv, 0);
	KUNIT_ASSERT_NOT_NULL(test, peer);
	/* the peer learns later than we do that the connection is established */
	KUNIT_EXPECT_TRUE(test, wait_for_completion_timeout(&peer->step,
							    msecs_to_jiffies(RAW_WAIT_MS)));
	rdma_disconnect(peer->id);
	KUNIT_EXPECT_TRUE(test, wait_for_completion_timeout(&closed,
							    msecs_to_jiffies(RAW_WAIT_MS)));
	KUNIT_EXPECT_FALSE(test, dafs_chan_is_open(chan));
	dafs_chan_destroy(chan);
}

static bool chan_server_knows(const struct dafs_session_id *session_id)
{
	struct dafsd_session *ses = dafsd_session_find(&dafsd_server, session_id);

	if (ses)
		dafsd_session_put(ses);
	return ses;
}

/* R-E.5.4-02: the server frees a session without a DISCONNECT */
static void dafs_chan_dreq_test(struct kunit *test)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	struct raw_login login = {};
	struct raw_conn *conn = raw_session(test, test->param_value, &login);
	const struct dafs_session_id *session_id = &login.res.connect.session_id;

	KUNIT_EXPECT_TRUE(test, chan_server_knows(session_id));
	rdma_disconnect(conn->id);
	KUNIT_EXPECT_TRUE(test, raw_closed(conn, RAW_WAIT_MS));
	while (chan_server_knows(session_id) && time_before(jiffies, end))
		schedule_timeout_uninterruptible(1);
	KUNIT_EXPECT_FALSE(test, chan_server_knows(session_id));
}

/* R-E.5.3.1.2-01 (except MRA and redirection) R-E.5.3.2.1-02: connections that fail */
static void dafs_chan_refused_test(struct kunit *test)
{
	struct raw_server *srv = raw_server(test);
	u16 port = ntohs(((struct sockaddr_in *)&srv->params.dst)->sin_port);
	struct dafs_chan_params params = {
		.net = &init_net,
		.ops = &chan_ops,
		.depth = 1,
	};
	struct sockaddr_in nowhere = {
		.sin_family = AF_INET,
		.sin_port = htons(DAFS_DEFAULT_PORT),
		.sin_addr.s_addr = htonl(0xc0000201),	/* 192.0.2.1 */
	};
	struct completion closed;

	srv->refuse = true;
	KUNIT_EXPECT_TRUE(test, IS_ERR(chan_connect(test, &closed, port, 0)));
	dafs_unlisten(&srv->listener);
	KUNIT_EXPECT_PTR_EQ(test, ERR_PTR(-ECONNREFUSED), chan_connect(test, &closed, port, 0));
	KUNIT_EXPECT_FALSE(test, completion_done(&closed));
	KUNIT_EXPECT_TRUE(test, IS_ERR(dafs_chan_connect(&params, (struct sockaddr *)&nowhere,
							 NULL, 500)));
	params.depth = 0;
	KUNIT_EXPECT_PTR_EQ(test, ERR_PTR(-EOPNOTSUPP),
			    dafs_chan_connect(&params, (struct sockaddr *)&srv->params.dst, NULL,
					      500));
}

/* R-E.6.2-01 R-2.4.3-06 R-3.1.2.3-01 R-B.4-01 R-2.3.3-05: the channels of one session */
static void dafs_chan_session_test(struct kunit *test)
{
	struct dafs_client_params params;
	struct dafs_conn *conn;
	struct ib_mr *mr;

	dafs_fixture_params(test->param_value, &params);
	params.back_control = true;
	params.rdma_read = true;
	conn = dafs_conn_get(dafs_fixture_client(test, &params));
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, conn);
	KUNIT_EXPECT_PTR_EQ(test, conn->op->pd, conn->rr->pd);
	KUNIT_EXPECT_PTR_EQ(test, conn->op->pd, conn->bc->pd);
	KUNIT_EXPECT_PTR_EQ(test, conn->op->pd, conn->op->qp->pd);
	KUNIT_EXPECT_PTR_EQ(test, conn->op->pd, conn->rr->qp->pd);
	KUNIT_EXPECT_PTR_NE(test, conn->op->qp, conn->rr->qp);
	KUNIT_EXPECT_PTR_NE(test, conn->op->qp, conn->bc->qp);
	KUNIT_EXPECT_FALSE(test, list_empty(&conn->op->mrs));
	list_for_each_entry(mr, &conn->op->mrs, qp_entry)
		KUNIT_EXPECT_PTR_EQ(test, conn->op->pd, mr->pd);
	KUNIT_EXPECT_TRUE(test, conn->op->own_pd);
	KUNIT_EXPECT_FALSE(test, conn->rr->own_pd || conn->bc->own_pd);
	/* receives for directives are posted (E-43) */
	KUNIT_EXPECT_EQ(test, DAFS_BACK_REQUESTS, conn->bc->nr_posted);
	KUNIT_EXPECT_EQ(test, 0, conn->rr->nr_posted);
	dafs_conn_put(conn);
}

/* R-E.8-03 R-E.8-01: the port is known, and is the low half of the service id */
static void dafs_chan_port_test(struct kunit *test)
{
	struct raw_server *srv = raw_server(test);
	u16 port = ntohs(((struct sockaddr_in *)&srv->params.dst)->sin_port);
	struct completion closed;
	struct dafs_chan *chan = chan_connect(test, &closed, port, 0);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, chan);
	KUNIT_EXPECT_NOT_NULL(test, raw_accepted(srv, 0));
	KUNIT_EXPECT_EQ(test, 0x0000000001060000ULL + port,
			be64_to_cpu(rdma_get_service_id(chan->id,
							(struct sockaddr *)&srv->params.dst)));
	dafs_chan_destroy(chan);
}

static struct kunit_case dafs_channel_cases[] = {
	KUNIT_CASE_PARAM(dafs_chan_read_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_chan_read_eof_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_chan_read_sum_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_chan_many_bufs_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_chan_write_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_chan_write_cksum_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_chan_write_sum_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_chan_bad_key_test, chan_bad_key_gen_params),
	KUNIT_CASE_PARAM(dafs_chan_outstanding_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_chan_bad_write_key_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_chan_reads_test, chan_reads_gen_params),
	KUNIT_CASE_PARAM(dafs_mem_kvec_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_mem_bvec_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_mem_limits_test),
	KUNIT_CASE_PARAM(dafs_mem_contention_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_chan_life_test),
	KUNIT_CASE(dafs_chan_fail_test),
	KUNIT_CASE(dafs_chan_peer_test),
	KUNIT_CASE_PARAM(dafs_chan_dreq_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_chan_refused_test),
	KUNIT_CASE_PARAM(dafs_chan_session_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_chan_port_test),
	{}
};

static struct kunit_suite dafs_channel_suite = {
	.name = "dafs_channel",
	.test_cases = dafs_channel_cases,
};

kunit_test_suite(dafs_channel_suite);
