// SPDX-License-Identifier: GPL-2.0
/* Reading and writing, through the message and by RDMA, and COMMIT. */
#include <linux/delay.h>
#include <linux/pagemap.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include <linux/vmalloc.h>
#include "../../../../drivers/dafsd/session/session.h"
#include "../../../../drivers/dafsd/request/io.h"
#include "../../rpc/rpc_impl.h"
#include "../lib/fixture.h"

static const struct dafs_state_id dafs_no_state;

static void dafs_io_vfree(void *p)
{
	vfree(p);
}

static u8 *dafs_io_alloc(struct kunit *test, size_t len)
{
	u8 *p = vzalloc(len);

	KUNIT_ASSERT_NOT_NULL(test, p);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, dafs_io_vfree, p));
	return p;
}

/* Direct I/O */

/**
 * struct dafs_piece - a part of the memory of a direct I/O
 * @at: where it begins
 * @len: bytes
 */
struct dafs_piece {
	u32 at;
	u32 len;
};

/**
 * struct dafs_direct - one READ_DIRECT or WRITE_DIRECT
 * @data: memory of the test
 * @len: bytes of it that the server may access
 * @pieces: the buffers in the request, in this order
 * @nr: how many; 0 for one buffer of all bytes
 * @spoil: send a wrong first (1) or second (2) sum of the checksum
 * @mem: the memory while the call runs
 * @sum: checksum over what the server reads, in the session's order
 * @bufs: for the request
 */
struct dafs_direct {
	u8 *data;
	size_t len;
	const struct dafs_piece *pieces;
	unsigned int nr;
	unsigned int spoil;
	struct dafs_mem mem;
	struct dafs_cksum sum;
	struct dafs_direct_buf bufs[300];
};

static struct dafs_direct *dafs_direct_alloc(struct kunit *test, size_t len)
{
	struct dafs_direct *d = kunit_kzalloc(test, sizeof(*d), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, d);
	d->data = dafs_io_alloc(test, len);
	d->len = len;
	return d;
}

/* All of the memory is one region, so each piece is described by its start address. */
static void dafs_direct_describe(struct kunit *test, struct dafs_direct *d, struct dafs_seq *bufs)
{
	const struct dafs_piece whole = { 0, d->len };
	const struct dafs_piece *piece = d->nr ? d->pieces : &whole;
	unsigned int i;

	KUNIT_EXPECT_EQ(test, 1, d->mem.nr);
	KUNIT_EXPECT_EQ(test, d->len, d->mem.len);
	bufs->count = d->nr ?: 1;
	bufs->elems = d->bufs;
	for (i = 0; i < bufs->count; i++)
		d->bufs[i] = (struct dafs_direct_buf) {
			.buffer_address = d->mem.bufs[0].buffer_address + piece[i].at,
			.buffer_byte_count = piece[i].len,
			.buffer_handle = d->mem.bufs[0].buffer_handle,
		};
}

static void dafs_direct_sum(const struct dafs_direct *d, u32 len, bool swab,
			    struct dafs_cksum *sum)
{
	const struct dafs_piece whole = { 0, d->len };
	const struct dafs_piece *piece = d->nr ? d->pieces : &whole;
	const struct dafs_piece *end = piece + (d->nr ?: 1);
	struct dafs_cksum_state state;
	u32 n;

	dafs_cksum_init(&state);
	for (; piece < end; piece++, len -= n) {
		n = min(len, piece->len);
		dafs_cksum_update(&state, d->data + piece->at, n);
	}
	dafs_cksum_final_host(&state, swab, sum);
}

/* Sends it and waits; once call->mem is set, the requester owns the memory. */
static int dafs_direct_call(struct kunit *test, struct dafs_client *clnt, struct dafs_conn *conn,
			    const struct cred *cred, struct dafs_call *call,
			    struct dafs_direct *d)
{
	int err = dafs_cred_handle(clnt, conn, cred, call->cred);

	if (!err) {
		call->mem = &d->mem;
		err = dafs_call_start(conn->rq, call);
	}
	if (err) {
		dafs_mem_unmap(&d->mem);
		return err;
	}
	return dafs_call_wait(call);
}

static int dafs_direct_map(struct dafs_conn *conn, struct dafs_direct *d,
			   enum dma_data_direction dir)
{
	struct kvec kvec = { .iov_base = d->data, .iov_len = d->len };
	struct iov_iter iter;
	ssize_t n;

	iov_iter_kvec(&iter, dir == DMA_FROM_DEVICE ? ITER_DEST : ITER_SOURCE, &kvec, 1, d->len);
	n = dafs_mem_map(conn->op, &d->mem, &iter, d->len, dir);
	return n < 0 ? n : 0;
}

/* Differences between the two procedures. */
struct dafs_direct_op {
	u32 proc;
	enum dma_data_direction dir;
	void *args;
	struct dafs_seq *bufs;
	struct dafs_cksum *cksum;
	u32 byte_count;
	void *res;
};

static u32 dafs_direct_run(struct kunit *test, struct dafs_client *clnt, const struct cred *cred,
			   struct dafs_direct *d, const struct dafs_direct_op *op)
{
	struct dafs_conn *conn = dafs_conn_get(clnt);
	struct dafs_call *call = dafs_call_alloc(GFP_KERNEL);
	u32 status = U32_MAX;
	int err;

	KUNIT_ASSERT_FALSE(test, IS_ERR(conn) || !call);
	call->proc = op->proc;
	call->args = op->args;
	err = dafs_direct_map(conn, d, op->dir);
	if (!err) {
		dafs_direct_describe(test, d, op->bufs);
		if (op->cksum && conn->opts.use_checksums)
			dafs_direct_sum(d, op->byte_count, conn->op->swab, op->cksum);
		if (op->cksum) {
			op->cksum->s1 ^= d->spoil & 1;
			op->cksum->s2 ^= d->spoil >> 1;
		}
		err = dafs_direct_call(test, clnt, conn, cred, call, d);
	}
	if (!err) {
		status = call->status;
		if (!status)
			err = dafs_decode_res(&call->buf, op->proc, op->res);
	}
	KUNIT_EXPECT_EQ(test, 0, err);
	dafs_call_put(call);
	dafs_conn_put(conn);
	return status;
}

/* R-3.2.5-02: direct_checksum is over the bytes read, or zero without checksums. */
static void dafs_direct_check_sum(struct kunit *test, struct dafs_client *clnt,
				  const struct dafs_direct *d,
				  const struct dafs_read_direct_res *res)
{
	const struct dafs_client_params *params = &clnt->params;
	struct dafs_cksum sum = {};

	if (params->cksum)
		dafs_direct_sum(d, res->bytes_read, params->swab, &sum);
	KUNIT_EXPECT_EQ(test, sum.s1, res->direct_checksum.s1);
	KUNIT_EXPECT_EQ(test, sum.s2, res->direct_checksum.s2);
}

static u32 dafs_read_direct(struct kunit *test, struct dafs_client *clnt, const struct cred *cred,
			    const struct dafs_read_direct_args *args, struct dafs_direct *d,
			    struct dafs_read_direct_res *res)
{
	struct dafs_read_direct_args copy = *args;
	const struct dafs_direct_op op = {
		.proc = DAFS_PROC_READ_DIRECT,
		.dir = DMA_FROM_DEVICE,
		.args = &copy,
		.bufs = &copy.read_data_buffers,
		.res = res,
	};
	u32 status;

	memset(res, 0, sizeof(*res));
	status = dafs_direct_run(test, clnt, cred, d, &op);
	if (!status)
		dafs_direct_check_sum(test, clnt, d, res);
	return status;
}

static u32 dafs_write_direct(struct kunit *test, struct dafs_client *clnt, const struct cred *cred,
			     const struct dafs_write_direct_args *args, struct dafs_direct *d,
			     struct dafs_write_res *res)
{
	struct dafs_write_direct_args copy = *args;
	const struct dafs_direct_op op = {
		.proc = DAFS_PROC_WRITE_DIRECT,
		.dir = DMA_TO_DEVICE,
		.args = &copy,
		.bufs = &copy.write_data_buffers,
		.cksum = &copy.direct_checksum,
		.byte_count = args->byte_count,
		.res = res,
	};

	memset(res, 0, sizeof(*res));
	return dafs_direct_run(test, clnt, cred, d, &op);
}

/* One interface for inline and direct I/O */

/**
 * struct dafs_io_arg - arguments of an inline or direct I/O
 * @fh: the file
 * @state_id: the open
 * @offset: where
 * @count: bytes
 * @stable: DAFS_UNSTABLE ...
 * @cred: credentials, NULL for root
 */
struct dafs_io_arg {
	struct dafs_fh fh;
	struct dafs_state_id state_id;
	u64 offset;
	u32 count;
	u32 stable;
	const struct cred *cred;
};

struct dafs_io_got {
	u32 bytes;
	u32 eof;
};

static u32 dafs_do_read(struct kunit *test, struct dafs_fixture *fix, bool direct,
			const struct dafs_io_arg *io, u8 *buf, struct dafs_io_got *got)
{
	const struct cred *cred = io->cred ?: dafs_test_me();
	struct dafs_read_direct_args args = {
		.filehandle = io->fh,
		.state_id = io->state_id,
		.offset = io->offset,
		.byte_count = io->count,
	};
	const struct dafs_read_inline_args inl = {
		.filehandle = io->fh,
		.state_id = io->state_id,
		.offset = io->offset,
		.byte_count = io->count,
	};
	struct dafs_read_inline_res inl_res;
	struct dafs_read_direct_res res;
	struct dafs_direct *d;
	u32 status;

	if (!direct) {
		status = dafs_test_read(test, fix->clnt, cred, &inl, buf, &inl_res);
		*got = (struct dafs_io_got){ inl_res.bytes_read, inl_res.eof };
		return status;
	}
	d = dafs_direct_alloc(test, io->count ?: 1);
	status = dafs_read_direct(test, fix->clnt, cred, &args, d, &res);
	*got = (struct dafs_io_got){ res.bytes_read, res.eof };
	KUNIT_EXPECT_LE(test, res.bytes_read, io->count);
	if (!status)
		memcpy(buf, d->data, min(res.bytes_read, io->count));
	return status;
}

static u32 dafs_do_write(struct kunit *test, struct dafs_fixture *fix, bool direct,
			 const struct dafs_io_arg *io, const u8 *buf, struct dafs_write_res *res)
{
	const struct cred *cred = io->cred ?: dafs_test_me();
	const struct dafs_write_inline_args inl = {
		.filehandle = io->fh,
		.state_id = io->state_id,
		.offset = io->offset,
		.byte_count = io->count,
		.stable_how = io->stable,
		.data = buf,
	};
	const struct dafs_write_direct_args args = {
		.filehandle = io->fh,
		.state_id = io->state_id,
		.offset = io->offset,
		.byte_count = io->count,
		.stable_how = io->stable,
	};
	struct dafs_direct *d;

	memset(res, 0, sizeof(*res));
	if (!direct)
		return dafs_test_write(test, fix->clnt, cred, &inl, res);
	d = dafs_direct_alloc(test, io->count ?: 1);
	if (io->count)
		memcpy(d->data, buf, io->count);
	return dafs_write_direct(test, fix->clnt, cred, &args, d, res);
}

static struct dafs_io_arg dafs_io_open(struct kunit *test, struct dafs_fixture *fix,
				       const char *name, u32 access)
{
	struct dafs_open_args args = dafs_test_open_args("owner", access, 0);
	struct dafs_open_res res = {};

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, dafs_test_open(test, fix->clnt, dafs_test_me(),
								&fix->dir, name, &args, &res));
	return (struct dafs_io_arg){ .fh = res.filehandle, .state_id = res.state_id };
}

/* Makes a file of @len bytes of a pattern and returns a copy of them. */
static u8 *dafs_io_file(struct kunit *test, struct dafs_fixture *fix, const char *name,
			size_t len)
{
	u8 *data = dafs_io_alloc(test, len ?: 1);

	dafs_test_pattern(data, len, 1);
	dafs_backing_write(test, fix, name, data, len);
	return data;
}

static void dafs_io_expect_file(struct kunit *test, struct dafs_fixture *fix, const char *name,
				const u8 *data, size_t len)
{
	u8 *got = dafs_io_alloc(test, len + 1);

	KUNIT_EXPECT_EQ(test, len, dafs_backing_read(fix, name, got, len + 1, 0));
	KUNIT_EXPECT_MEMEQ(test, data, got, len);
}

/* Reading */

/* R-6.5.27-01 R-6.5.27-02: the right bytes from any offset, inline and direct. */
static void dafs_read_test(struct kunit *test)
{
	static const struct dafs_piece places[] = {
		{ 0, 1 }, { 0, 5000 }, { 1, 4998 }, { 4095, 2 }, { 4096, 904 }, { 4999, 1 },
	};
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	u8 *data = dafs_io_file(test, fix, "file", 5000);
	u8 *buf = dafs_io_alloc(test, 5000);
	struct dafs_io_arg io = dafs_io_open(test, fix, "file", DAFS_OPEN_SHARE_ACCESS_READ);
	struct dafs_io_got got;
	int i, direct;

	for (direct = 0; direct < 2; direct++) {
		for (i = 0; i < ARRAY_SIZE(places); i++) {
			io.offset = places[i].at;
			io.count = places[i].len;
			memset(buf, 0, 5000);
			DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
					   dafs_do_read(test, fix, direct, &io, buf, &got));
			KUNIT_EXPECT_EQ(test, io.count, got.bytes);
			KUNIT_EXPECT_EQ(test, io.offset + io.count == 5000, got.eof);
			KUNIT_EXPECT_MEMEQ(test, data + io.offset, buf, io.count);
		}
	}
}

/**
 * struct dafs_eof_case - a read near the end of a file of 100 or 0 bytes
 * @empty: read the empty file
 * @offset: where
 * @count: bytes asked for
 * @bytes: bytes returned
 * @eof: the end was reached
 */
struct dafs_eof_case {
	bool empty;
	u64 offset;
	u32 count;
	u32 bytes;
	u32 eof;
};

/* R-6.5.27-01 R-6.5.27-02 R-6.5.27-03 R-6.5.28-02 E-99 */
static const struct dafs_eof_case dafs_eof_cases[] = {
	{ false, 0, 99, 99, 0 },
	{ false, 0, 100, 100, 1 },
	{ false, 0, 101, 100, 1 },
	{ false, 98, 1, 1, 0 },
	{ false, 99, 1, 1, 1 },
	{ false, 99, 7000, 1, 1 },
	{ false, 100, 1, 0, 1 },
	{ false, 101, 1, 0, 1 },
	{ false, 50, 0, 0, 0 },
	{ false, 100, 0, 0, 1 },
	{ false, 1ULL << 40, 10, 0, 1 },
	{ false, MAX_LFS_FILESIZE, 10, 0, 1 },
	{ false, U64_MAX, 10, 0, 1 },
	{ true, 0, 0, 0, 1 },
	{ true, 0, 10, 0, 1 },
	{ true, 10, 10, 0, 1 },
};

static void dafs_read_eof_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_io_arg full, empty, io;
	const struct dafs_eof_case *c;
	u8 *buf = dafs_io_alloc(test, 7000);
	struct dafs_io_got got;
	int direct;

	dafs_io_file(test, fix, "full", 100);
	dafs_io_file(test, fix, "empty", 0);
	full = dafs_io_open(test, fix, "full", DAFS_OPEN_SHARE_ACCESS_READ);
	empty = dafs_io_open(test, fix, "empty", DAFS_OPEN_SHARE_ACCESS_READ);
	for (c = dafs_eof_cases; c < dafs_eof_cases + ARRAY_SIZE(dafs_eof_cases); c++) {
		io = c->empty ? empty : full;
		io.offset = c->offset;
		io.count = c->count;
		for (direct = 0; direct < 2; direct++) {
			DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
					   dafs_do_read(test, fix, direct, &io, buf, &got));
			KUNIT_EXPECT_EQ_MSG(test, c->bytes, got.bytes, "%u at %llu", c->count,
					    c->offset);
			KUNIT_EXPECT_EQ_MSG(test, c->eof, got.eof, "%u at %llu", c->count,
					    c->offset);
		}
	}
}

/* Holes read as zeros. */
static void dafs_read_hole_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	u8 *buf = dafs_io_alloc(test, 6000), *zero = dafs_io_alloc(test, 6000);
	struct dafs_write_res res;
	struct dafs_io_got got;
	struct dafs_io_arg io;
	int direct;

	dafs_io_file(test, fix, "file", 0);
	io = dafs_io_open(test, fix, "file", DAFS_OPEN_SHARE_ACCESS_BOTH);
	io.offset = SZ_1M + 5;
	io.count = 3;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_do_write(test, fix, false, &io, "end", &res));
	io.offset = SZ_1M - 5995;
	io.count = 6000;
	for (direct = 0; direct < 2; direct++) {
		memset(buf, 0xff, 6000);
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
				   dafs_do_read(test, fix, direct, &io, buf, &got));
		KUNIT_EXPECT_EQ(test, 6000, got.bytes);
		KUNIT_EXPECT_EQ(test, 0, got.eof);
		KUNIT_EXPECT_MEMEQ(test, zero, buf, 6000);
	}
}

/* R-6.5.27-05 R-3.1.2.2-05 R-3.2.6.2-02: as many bytes as fit into a response. */
static void dafs_read_inline_short_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	u8 *data = dafs_io_file(test, fix, "file", 20000);
	u8 *buf = dafs_io_alloc(test, 20000);
	struct dafs_io_arg io = dafs_io_open(test, fix, "file", DAFS_OPEN_SHARE_ACCESS_READ);
	struct dafs_io_got got;
	u32 room;

	for (room = SZ_8K; room >= DAFS_MIN_MSG_SIZE; room /= 8) {
		fix->params.msg_size = room;
		fix->clnt = dafs_fixture_client(test, &fix->params);
		io.count = 20000;
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
				   dafs_do_read(test, fix, false, &io, buf, &got));
		KUNIT_EXPECT_EQ(test, room - DAFS_READ_INLINE_DATA, got.bytes);
		KUNIT_EXPECT_EQ(test, 0, got.eof);
		KUNIT_EXPECT_MEMEQ(test, data, buf, got.bytes);
	}
}

/* Five buffers of odd lengths, not in the order of their addresses, and empty ones. */
static const struct dafs_piece dafs_odd_pieces[] = {
	{ 4097, 1 }, { 9000, 333 }, { 0, 0 }, { 1, 4095 }, { 4098, 4096 }, { 9999, 0 },
	{ 9400, 57 },
};

#define DAFS_ODD_LEN	(1 + 333 + 4095 + 4096 + 57)

static void dafs_gather(const struct dafs_direct *d, u8 *to)
{
	unsigned int i;

	for (i = 0; i < d->nr; i++) {
		memcpy(to, d->data + d->pieces[i].at, d->pieces[i].len);
		to += d->pieces[i].len;
	}
}

/* R-6.5.28-01: the buffers are filled in order, and no memory outside of them. */
static void dafs_read_direct_pieces_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	u8 *data = dafs_io_file(test, fix, "file", 2 * DAFS_ODD_LEN);
	u8 *buf = dafs_io_alloc(test, DAFS_ODD_LEN);
	struct dafs_io_arg io = dafs_io_open(test, fix, "file", DAFS_OPEN_SHARE_ACCESS_READ);
	struct dafs_direct *d = dafs_direct_alloc(test, 10000);
	struct dafs_read_direct_args args = {
		.filehandle = io.fh,
		.state_id = io.state_id,
		.offset = 3,
		.byte_count = DAFS_ODD_LEN,
	};
	struct dafs_read_direct_res res;
	unsigned int i, touched = 0;

	d->pieces = dafs_odd_pieces;
	d->nr = ARRAY_SIZE(dafs_odd_pieces);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_read_direct(test, fix->clnt, dafs_test_me(), &args, d, &res));
	KUNIT_EXPECT_EQ(test, DAFS_ODD_LEN, res.bytes_read);
	KUNIT_EXPECT_EQ(test, 0, res.eof);
	dafs_gather(d, buf);
	KUNIT_EXPECT_MEMEQ(test, data + 3, buf, DAFS_ODD_LEN);
	for (i = 0; i < d->nr; i++)
		memset(d->data + d->pieces[i].at, 0, d->pieces[i].len);
	for (i = 0; i < d->len; i++)
		touched += !!d->data[i];
	KUNIT_EXPECT_EQ(test, 0, touched);
}

/* The server returns less than fits into the buffers: the rest is unchanged. */
static void dafs_read_direct_room_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	u8 *data = dafs_io_file(test, fix, "file", 1000);
	struct dafs_io_arg io = dafs_io_open(test, fix, "file", DAFS_OPEN_SHARE_ACCESS_READ);
	struct dafs_direct *d = dafs_direct_alloc(test, 5000);
	struct dafs_read_direct_args args = {
		.filehandle = io.fh,
		.state_id = io.state_id,
		.byte_count = 5000,
	};
	struct dafs_read_direct_res res;

	memset(d->data, 0xa5, 5000);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_read_direct(test, fix->clnt, dafs_test_me(), &args, d, &res));
	KUNIT_EXPECT_EQ(test, 1000, res.bytes_read);
	KUNIT_EXPECT_EQ(test, 1, res.eof);
	KUNIT_EXPECT_MEMEQ(test, data, d->data, 1000);
	memset(d->data, 0xa5, 1000);
	KUNIT_EXPECT_PTR_EQ(test, NULL, memchr_inv(d->data, 0xa5, 5000));
	args.byte_count = 100;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_read_direct(test, fix->clnt, dafs_test_me(), &args, d, &res));
	KUNIT_EXPECT_EQ(test, 100, res.bytes_read);
	KUNIT_EXPECT_PTR_EQ(test, NULL, memchr_inv(d->data + 100, 0xa5, 4900));
}

/* E-24: buffers that hold less than is asked for, and lists that are too long. */
static void dafs_direct_bad_buffers_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	u8 *data = dafs_io_file(test, fix, "file", 4000);
	struct dafs_io_arg io = dafs_io_open(test, fix, "file", DAFS_OPEN_SHARE_ACCESS_BOTH);
	struct dafs_piece *pieces = kunit_kcalloc(test, 257, sizeof(*pieces), GFP_KERNEL);
	struct dafs_direct *d = dafs_direct_alloc(test, 4000);
	struct dafs_read_direct_args rd = {
		.filehandle = io.fh,
		.state_id = io.state_id,
		.byte_count = 4000,
	};
	struct dafs_write_direct_args wr = {
		.filehandle = io.fh,
		.state_id = io.state_id,
		.byte_count = 4000,
	};
	struct dafs_read_direct_res rd_res;
	struct dafs_write_res wr_res;

	KUNIT_ASSERT_NOT_NULL(test, pieces);
	d->pieces = pieces;
	d->nr = 2;
	pieces[0].len = 3000;
	pieces[1].at = 3000;
	pieces[1].len = 999;
	memset(d->data, 0xee, 4000);
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL,
			   dafs_read_direct(test, fix->clnt, dafs_test_me(), &rd, d, &rd_res));
	KUNIT_EXPECT_NULL(test, memchr_inv(d->data, 0xee, 4000));
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL,
			   dafs_write_direct(test, fix->clnt, dafs_test_me(), &wr, d, &wr_res));
	pieces[1].len = 1000;
	d->nr = 257;
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL,
			   dafs_read_direct(test, fix->clnt, dafs_test_me(), &rd, d, &rd_res));
	d->nr = 256;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_read_direct(test, fix->clnt, dafs_test_me(), &rd, d, &rd_res));
	dafs_io_expect_file(test, fix, "file", data, 4000);
}

/* R-6.1.6-12: MAX_READ bytes at once, and never more. */
static void dafs_read_direct_max_test(struct kunit *test)
{
	static const struct dafs_piece pieces[] = { { 0, SZ_1M }, { 0, 1 } };
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	u8 *data = dafs_io_file(test, fix, "file", SZ_1M + 1);
	struct dafs_io_arg io = dafs_io_open(test, fix, "file", DAFS_OPEN_SHARE_ACCESS_READ);
	struct dafs_direct *d = dafs_direct_alloc(test, SZ_1M);
	struct dafs_read_direct_args args = {
		.filehandle = io.fh,
		.state_id = io.state_id,
		.byte_count = SZ_1M + 1,
	};
	struct dafs_get_fsattr_res fs = {};
	struct dafs_read_direct_res res;

	KUNIT_ASSERT_EQ(test, 0, dafs_get_fsattr(fix->clnt, dafs_test_me(), &io.fh,
						 DAFS_FSATTR_MAX_READ, &fs.obj_attributes));
	KUNIT_ASSERT_EQ(test, SZ_1M, fs.obj_attributes.max_read);
	d->pieces = pieces;
	d->nr = 2;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_read_direct(test, fix->clnt, dafs_test_me(), &args, d, &res));
	KUNIT_EXPECT_EQ(test, SZ_1M, res.bytes_read);
	KUNIT_EXPECT_EQ(test, 0, res.eof);
	KUNIT_EXPECT_TRUE(test, !memcmp(data, d->data, SZ_1M));
}

/*
 * For a client with the file open the server sends the pages of the page cache.
 * Other clients get a copy: they must not see data that is written after a share
 * reservation denies them reading.
 */
static void dafs_read_lent_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafsd_session *at_server;
	struct dafs_conn *conn;
	struct dafs_io_got got;
	struct dafs_io_arg io;
	s64 before;
	u8 *buf;

	conn = dafs_conn_get(fix->clnt);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, conn);
	at_server = dafs_fixture_at_server(test, &conn->session_id);
	dafs_conn_put(conn);
	buf = dafs_io_file(test, fix, "file", SZ_64K);
	io = dafs_io_open(test, fix, "file", DAFS_OPEN_SHARE_ACCESS_READ);
	io.count = SZ_64K;
	before = atomic64_read(&at_server->bytes_borrowed);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_do_read(test, fix, true, &io, buf, &got));
	KUNIT_EXPECT_EQ(test, SZ_64K, atomic64_read(&at_server->bytes_borrowed) - before);
	io.state_id = dafs_no_state;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_do_read(test, fix, true, &io, buf, &got));
	KUNIT_EXPECT_EQ(test, SZ_64K, atomic64_read(&at_server->bytes_borrowed) - before);
}

/* Writing */

/* Inline and direct writes change the right bytes and no others. */
static void dafs_write_test(struct kunit *test)
{
	static const struct dafs_piece places[] = {
		{ 0, 1 }, { 10, 5000 }, { 4095, 2 }, { 6000, 1 }, { 5990, 100 }, { 8192, 4096 },
	};
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	u8 *expected = dafs_io_alloc(test, 20000), *buf = dafs_io_alloc(test, 5000);
	struct dafs_write_res res;
	struct dafs_io_arg io;
	size_t size = 6000;
	int i, direct;

	dafs_test_pattern(expected, size, 1);
	dafs_io_file(test, fix, "file", size);
	io = dafs_io_open(test, fix, "file", DAFS_OPEN_SHARE_ACCESS_WRITE);
	for (i = 0; i < 2 * ARRAY_SIZE(places); i++) {
		direct = i % 2;
		io.offset = places[i / 2].at;
		io.count = places[i / 2].len;
		dafs_test_pattern(buf, io.count, i + 2);
		memcpy(expected + io.offset, buf, io.count);
		size = max(size, io.offset + io.count);
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
				   dafs_do_write(test, fix, direct, &io, buf, &res));
		KUNIT_EXPECT_EQ(test, io.count, res.count);
		dafs_io_expect_file(test, fix, "file", expected, size);
	}
}

/* R-4.2.1.1-01 R-6.5.38-08: the data at any offset in the request. */
static void dafs_write_padded_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_write_inline_args args = { .byte_count = 3000 };
	u8 *data = dafs_io_alloc(test, 3000);
	struct dafs_write_res res;
	struct dafs_conn *conn;

	dafs_test_pattern(data, 3000, 5);
	args.data = data;
	fix->params.inline_header = 1020;
	fix->clnt = dafs_fixture_client(test, &fix->params);
	conn = dafs_conn_get(fix->clnt);
	KUNIT_ASSERT_FALSE(test, IS_ERR(conn));
	args.inline_header = conn->opts.inline_write_header_size;
	dafs_conn_put(conn);
	KUNIT_EXPECT_EQ(test, 1024, args.inline_header);
	for (args.write_padded = 0; args.write_padded < 2; args.write_padded++) {
		dafs_io_file(test, fix, "file", 0);
		args.filehandle = dafs_test_lookup(test, fix, "file");
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
				   dafs_test_write(test, fix->clnt, dafs_test_me(), &args, &res));
		KUNIT_EXPECT_EQ(test, 3000, res.count);
		dafs_io_expect_file(test, fix, "file", data, 3000);
	}
}

/* E-18: padded writes are refused in a session that has not negotiated the data offset. */
static void dafs_write_padded_refused_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	u8 *data = dafs_io_file(test, fix, "file", 10);
	struct dafs_write_inline_args args = {
		.filehandle = dafs_test_lookup(test, fix, "file"),
		.inline_header = 512,
		.write_padded = 1,
		.byte_count = 5,
		.data = "xxxxx",
	};
	struct dafs_write_res res;

	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL,
			   dafs_test_write(test, fix->clnt, dafs_test_me(), &args, &res));
	dafs_io_expect_file(test, fix, "file", data, 10);
}

/* R-6.5.39-01: from five buffers of odd lengths, in their order. */
static void dafs_write_direct_pieces_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	u8 *expected = dafs_io_alloc(test, DAFS_ODD_LEN);
	struct dafs_direct *d = dafs_direct_alloc(test, 10000);
	struct dafs_write_direct_args args = { .byte_count = DAFS_ODD_LEN };
	struct dafs_write_res res;
	struct dafs_io_arg io;

	dafs_io_file(test, fix, "file", 0);
	io = dafs_io_open(test, fix, "file", DAFS_OPEN_SHARE_ACCESS_WRITE);
	args.filehandle = io.fh;
	args.state_id = io.state_id;
	d->pieces = dafs_odd_pieces;
	d->nr = ARRAY_SIZE(dafs_odd_pieces);
	dafs_test_pattern(d->data, d->len, 3);
	dafs_gather(d, expected);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_write_direct(test, fix->clnt, dafs_test_me(), &args, d, &res));
	KUNIT_EXPECT_EQ(test, DAFS_ODD_LEN, res.count);
	dafs_io_expect_file(test, fix, "file", expected, DAFS_ODD_LEN);
	args.byte_count = 3000;
	args.offset = DAFS_ODD_LEN;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_write_direct(test, fix->clnt, dafs_test_me(), &args, d, &res));
	KUNIT_EXPECT_EQ(test, 3000, res.count);
}

/*
 * R-6.1.6-12 R-7-10 E-100 E-133: more than MAX_WRITE is written in part, but refused with
 * checksums, because the checksum covers all of it.
 */
static void dafs_write_direct_max_test(struct kunit *test)
{
	static const struct dafs_piece pieces[] = { { 0, SZ_1M }, { 0, 1 } };
	const struct dafs_flavour *flavour = test->param_value;
	struct dafs_fixture *fix = dafs_fixture(test, flavour);
	struct dafs_direct *d = dafs_direct_alloc(test, SZ_1M);
	struct dafs_write_direct_args args = { .byte_count = SZ_1M + 1 };
	struct dafs_write_res res;
	struct dafs_io_arg io;
	struct kstat stat;

	dafs_io_file(test, fix, "file", 0);
	io = dafs_io_open(test, fix, "file", DAFS_OPEN_SHARE_ACCESS_WRITE);
	args.filehandle = io.fh;
	args.state_id = io.state_id;
	dafs_test_pattern(d->data, d->len, 3);
	d->pieces = pieces;
	d->nr = 2;
	DAFS_EXPECT_STATUS(test, flavour->cksum ? DAFSERR_WRITE_TOOBIG : DAFS_STATUS_OK,
			   dafs_write_direct(test, fix->clnt, dafs_test_me(), &args, d, &res));
	KUNIT_EXPECT_EQ(test, flavour->cksum ? 0 : SZ_1M, res.count);
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_stat(fix, "file", &stat));
	KUNIT_EXPECT_EQ(test, flavour->cksum ? 0 : SZ_1M, stat.size);
	args.byte_count = SZ_1M;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_write_direct(test, fix->clnt, dafs_test_me(), &args, d, &res));
	KUNIT_EXPECT_EQ(test, SZ_1M, res.count);
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_stat(fix, "file", &stat));
	KUNIT_EXPECT_EQ(test, SZ_1M, stat.size);
}

/* R-3.2.5-02: data that does not match its checksum changes nothing (E-34). */
static void dafs_write_direct_cksum_test(struct kunit *test)
{
	const struct dafs_flavour *flavour = test->param_value;
	struct dafs_fixture *fix = dafs_fixture(test, flavour);
	u8 *data = dafs_io_file(test, fix, "file", 5000);
	struct dafs_io_arg io = dafs_io_open(test, fix, "file", DAFS_OPEN_SHARE_ACCESS_WRITE);
	struct dafs_direct *d = dafs_direct_alloc(test, 5000);
	struct dafs_write_direct_args args = {
		.filehandle = io.fh,
		.state_id = io.state_id,
		.byte_count = 5000,
	};
	struct dafs_write_res res;

	dafs_test_pattern(d->data, d->len, 9);
	for (d->spoil = 1; d->spoil <= 2; d->spoil++) {
		DAFS_EXPECT_STATUS(test, flavour->cksum ? DAFSERR_CHKSUM : DAFS_STATUS_OK,
				   dafs_write_direct(test, fix->clnt, dafs_test_me(), &args, d,
						     &res));
		dafs_io_expect_file(test, fix, "file", flavour->cksum ? data : d->data, 5000);
	}
	d->spoil = 0;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_write_direct(test, fix->clnt, dafs_test_me(), &args, d, &res));
	dafs_io_expect_file(test, fix, "file", d->data, 5000);
}

/* R-6.5.38-05: a write of 0 bytes changes nothing, but needs write permission. */
static void dafs_write_zero_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	const struct cred *user = dafs_fixture_user(test, 1000, 1000);
	struct iattr ia = {
		.ia_valid = ATTR_MTIME | ATTR_MTIME_SET,
		.ia_mtime = { .tv_sec = 5 },
	};
	struct dafs_io_arg io = {};
	struct dafs_write_res res;
	struct kstat stat;
	int direct;

	dafs_io_file(test, fix, "file", 100);
	dafs_backing_setattr(test, fix, "file", &ia);
	io.fh = dafs_test_lookup(test, fix, "file");
	for (direct = 0; direct < 2; direct++) {
		io.cred = NULL;
		io.offset = 500;
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
				   dafs_do_write(test, fix, direct, &io, "", &res));
		KUNIT_EXPECT_EQ(test, 0, res.count);
		KUNIT_ASSERT_EQ(test, 0, dafs_backing_stat(fix, "file", &stat));
		KUNIT_EXPECT_EQ(test, 5, stat.mtime.tv_sec);
		KUNIT_EXPECT_EQ(test, 100, stat.size);
		io.cred = user;
		DAFS_EXPECT_STATUS(test, DAFSERR_ACCES,
				   dafs_do_write(test, fix, direct, &io, "", &res));
	}
}

/* Offsets beyond the maximum file size, and the last ones below it. */
static void dafs_write_limits_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	u64 most = fix->path.dentry->d_sb->s_maxbytes;
	u8 *data = dafs_io_file(test, fix, "file", 10);
	struct dafs_io_arg io = dafs_io_open(test, fix, "file", DAFS_OPEN_SHARE_ACCESS_WRITE);
	u64 offsets[] = { most, MAX_LFS_FILESIZE - 5, MAX_LFS_FILESIZE, 1ULL << 63, U64_MAX - 4 };
	struct dafs_write_res res;
	int i, direct;

	io.count = 10;
	for (i = 0; i < 2 * ARRAY_SIZE(offsets); i++) {
		direct = i % 2;
		io.offset = offsets[i / 2];
		DAFS_EXPECT_STATUS(test, DAFSERR_FBIG,
				   dafs_do_write(test, fix, direct, &io, data, &res));
	}
	dafs_io_expect_file(test, fix, "file", data, 10);
	io.offset = most - 6;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_do_write(test, fix, false, &io, data, &res));
	KUNIT_EXPECT_EQ(test, 6, res.count);
}

/* R-6.5.38-04: the file system fills up in the middle of a write. */
static void dafs_write_nospc_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture_in(test, NULL, DAFS_TEST_SQUASH);
	const struct cred *user = dafs_fixture_user(test, 1000, 1000);
	struct dafs_open_args open = dafs_test_open_args("o", DAFS_OPEN_SHARE_ACCESS_WRITE, 0);
	struct dafs_direct *d = dafs_direct_alloc(test, SZ_1M - 1000);
	struct dafs_write_direct_args args = { .byte_count = SZ_1M - 1000 };
	struct dafs_open_res opened = {};
	struct dafs_write_res res;
	bool partly = false;
	struct kstat stat;
	u32 status;

	open.open_type = DAFS_OPEN_CREATE;
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, dafs_test_open(test, fix->clnt, user, &fix->dir,
								"file", &open, &opened));
	args.filehandle = opened.filehandle;
	args.state_id = opened.state_id;
	do {
		status = dafs_write_direct(test, fix->clnt, user, &args, d, &res);
		partly |= !status && res.count < args.byte_count;
		if (!status)
			KUNIT_EXPECT_GT(test, res.count, 0);
		args.offset += res.count;
	} while (!status && args.offset < SZ_1G);
	DAFS_EXPECT_STATUS(test, DAFSERR_NOSPC, status);
	KUNIT_EXPECT_TRUE(test, partly);
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_stat(fix, "file", &stat));
	KUNIT_EXPECT_EQ(test, args.offset, stat.size);
	/* the open keeps the file after this test, so free its blocks */
	dafs_backing_write(test, fix, "file", "", 0);
}

/* Stability */

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

static u32 dafs_try_commit(struct kunit *test, struct dafs_fixture *fix, const struct cred *cred,
			   const struct dafs_fh *fh, u64 offset, u32 count)
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

/* Rights */

/* Expected status of inline and direct reads and writes. */
static void dafs_io_expect(struct kunit *test, struct dafs_fixture *fix, struct dafs_io_arg *io,
			   u32 read, u32 write)
{
	struct dafs_write_res res;
	struct dafs_io_got got;
	int direct;
	u8 byte;

	io->count = 1;
	for (direct = 0; direct < 2; direct++) {
		DAFS_EXPECT_STATUS(test, read, dafs_do_read(test, fix, direct, io, &byte, &got));
		DAFS_EXPECT_STATUS(test, write, dafs_do_write(test, fix, direct, io, "w", &res));
	}
}

/* E-80: an open allows only I/O in its access mode. */
static void dafs_io_access_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_io_got got;
	struct dafs_io_arg io;
	u8 none;

	dafs_io_file(test, fix, "rd", 10);
	dafs_io_file(test, fix, "wr", 10);
	dafs_io_file(test, fix, "rw", 10);
	io = dafs_io_open(test, fix, "rd", DAFS_OPEN_SHARE_ACCESS_READ);
	dafs_io_expect(test, fix, &io, DAFS_STATUS_OK, DAFSERR_ACCES);
	io = dafs_io_open(test, fix, "wr", DAFS_OPEN_SHARE_ACCESS_WRITE);
	dafs_io_expect(test, fix, &io, DAFSERR_ACCES, DAFS_STATUS_OK);
	/* beyond the end of the file, too */
	io.offset = SZ_64K;
	io.count = SZ_64K;
	DAFS_EXPECT_STATUS(test, DAFSERR_ACCES, dafs_do_read(test, fix, true, &io, &none, &got));
	io = dafs_io_open(test, fix, "rw", DAFS_OPEN_SHARE_ACCESS_BOTH);
	dafs_io_expect(test, fix, &io, DAFS_STATUS_OK, DAFS_STATUS_OK);
}

/* R-6.5.27-04 R-6.5.27-08: without an open the user's rights count (E-79). */
static void dafs_io_anonymous_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	const struct cred *user = dafs_fixture_user(test, 1000, 1000);
	struct dafs_io_arg io = {};
	struct dafs_io_got got;
	int direct;
	u8 byte;

	dafs_io_file(test, fix, "file", 10);
	io.fh = dafs_test_lookup(test, fix, "file");
	dafs_io_expect(test, fix, &io, DAFS_STATUS_OK, DAFS_STATUS_OK);
	memset(&io.state_id, 0xff, sizeof(io.state_id));
	dafs_io_expect(test, fix, &io, DAFS_STATUS_OK, DAFS_STATUS_OK);
	io.cred = user;
	dafs_io_expect(test, fix, &io, DAFS_STATUS_OK, DAFSERR_ACCES);
	dafs_backing_chmod(test, fix, "file", 0622);
	dafs_io_expect(test, fix, &io, DAFSERR_ACCES, DAFS_STATUS_OK);
	io.state_id = dafs_no_state;
	dafs_backing_chmod(test, fix, "file", 0600);
	dafs_io_expect(test, fix, &io, DAFSERR_ACCES, DAFSERR_ACCES);
	io.count = 0;
	for (direct = 0; direct < 2; direct++)
		DAFS_EXPECT_STATUS(test, DAFSERR_ACCES,
				   dafs_do_read(test, fix, direct, &io, &byte, &got));
}

/*
 * R-6.5.27-08: the user who opened a file may use it until CLOSE, like a
 * process its descriptor; another user of the state-id needs permission of his
 * own.
 */
static void dafs_io_opener_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	const struct cred *owner = dafs_fixture_user(test, 1000, 1000);
	const struct cred *other = dafs_fixture_user(test, 1001, 1001);
	struct dafs_open_args args = dafs_test_open_args("o", DAFS_OPEN_SHARE_ACCESS_BOTH, 0);
	struct dafs_open_res open = {};
	struct dafs_io_arg io = {};

	dafs_io_file(test, fix, "file", 10);
	dafs_backing_chmod(test, fix, "file", 0666);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, dafs_test_open(test, fix->clnt, owner, &fix->dir,
								"file", &args, &open));
	dafs_backing_chmod(test, fix, "file", 0);
	io.fh = open.filehandle;
	io.state_id = open.state_id;
	io.cred = owner;
	dafs_io_expect(test, fix, &io, DAFS_STATUS_OK, DAFS_STATUS_OK);
	io.cred = other;
	dafs_io_expect(test, fix, &io, DAFSERR_ACCES, DAFSERR_ACCES);
	dafs_backing_chmod(test, fix, "file", 0004);
	dafs_io_expect(test, fix, &io, DAFS_STATUS_OK, DAFSERR_ACCES);
}

/* Objects without data. */
static void dafs_io_type_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_io_arg io = { .fh = fix->dir };

	dafs_io_expect(test, fix, &io, DAFSERR_ISDIR, DAFSERR_ISDIR);
	KUNIT_ASSERT_EQ(test, 0, dafs_get_root_handle(fix->clnt, dafs_test_me(), &io.fh));
	dafs_io_expect(test, fix, &io, DAFSERR_ISDIR, DAFSERR_ISDIR);
	dafs_backing_mknod(test, fix, "fifo", S_IFIFO | 0666, 0);
	dafs_backing_symlink(test, fix, "link", "fifo");
	dafs_backing_mknod(test, fix, "null", S_IFCHR | 0666, MKDEV(1, 3));
	io.fh = dafs_test_lookup(test, fix, "fifo");
	dafs_io_expect(test, fix, &io, DAFSERR_INVAL, DAFSERR_INVAL);
	io.fh = dafs_test_lookup(test, fix, "link");
	dafs_io_expect(test, fix, &io, DAFSERR_INVAL, DAFSERR_INVAL);
	io.fh = dafs_test_lookup(test, fix, "null");
	dafs_io_expect(test, fix, &io, DAFSERR_INVAL, DAFSERR_INVAL);
}

/* R-7-06: a read-only export can be read, and squashed root has no privileges. */
static void dafs_io_exports_test(struct kunit *test)
{
	struct dafs_fixture *ro = dafs_fixture_in(test, test->param_value, DAFS_TEST_RO);
	struct dafs_fixture *squash = dafs_fixture_in(test, test->param_value, DAFS_TEST_SQUASH);
	const struct cred *user = dafs_fixture_user(test, 1000, 1000);
	u8 *data = dafs_io_file(test, ro, "file", 10);
	struct dafs_io_arg io;

	io = dafs_io_open(test, ro, "file", DAFS_OPEN_SHARE_ACCESS_READ);
	dafs_io_expect(test, ro, &io, DAFS_STATUS_OK, DAFSERR_ROFS);
	io.state_id = dafs_no_state;
	dafs_io_expect(test, ro, &io, DAFS_STATUS_OK, DAFSERR_ROFS);
	dafs_io_expect_file(test, ro, "file", data, 10);
	dafs_io_file(test, squash, "file", 10);
	dafs_backing_chown(test, squash, "file", 1000, 1000);
	dafs_backing_chmod(test, squash, "file", 0640);
	memset(&io, 0, sizeof(io));
	io.fh = dafs_test_lookup(test, squash, "file");
	dafs_io_expect(test, squash, &io, DAFSERR_ACCES, DAFSERR_ACCES);
	io.cred = user;
	dafs_io_expect(test, squash, &io, DAFS_STATUS_OK, DAFS_STATUS_OK);
}

/* E-105: no value of a hint is refused. */
static void dafs_io_hint_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	u8 *data = dafs_io_file(test, fix, "file", 10);
	struct dafs_read_inline_args rd = { .byte_count = 10, .cache_hint = U32_MAX };
	struct dafs_write_inline_args wr = { .byte_count = 4, .cache_hint = U32_MAX };
	struct dafs_read_inline_res got;
	struct dafs_write_res put;
	u8 buf[10];

	rd.filehandle = dafs_test_lookup(test, fix, "file");
	wr.filehandle = rd.filehandle;
	wr.data = data;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_test_write(test, fix->clnt, dafs_test_me(), &wr, &put));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_test_read(test, fix->clnt, dafs_test_me(), &rd, buf, &got));
	KUNIT_EXPECT_MEMEQ(test, data, buf, 10);
}

/* The stubs of the client for small I/O. */
static void dafs_io_stub_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	u8 *data = dafs_io_file(test, fix, "file", 3000);
	struct dafs_io_arg io = dafs_io_open(test, fix, "file", DAFS_OPEN_SHARE_ACCESS_BOTH);
	struct dafs_read_inline_args rd = {
		.filehandle = io.fh,
		.state_id = io.state_id,
		.offset = 100,
		.byte_count = 3000,
	};
	struct dafs_write_inline_args wr = {
		.filehandle = io.fh,
		.state_id = io.state_id,
		.offset = 10,
		.byte_count = 2900,
		.stable_how = DAFS_FILE_SYNC,
	};
	u8 *buf = dafs_io_alloc(test, 3000);
	struct kvec kvec = { .iov_base = buf, .iov_len = 3000 };
	struct dafs_write_res res;
	struct iov_iter iter;
	bool eof = false;

	iov_iter_kvec(&iter, ITER_DEST, &kvec, 1, 3000);
	KUNIT_EXPECT_EQ(test, 2900, dafs_read_inline(fix->clnt, dafs_test_me(), &rd, &iter, &eof));
	KUNIT_EXPECT_TRUE(test, eof);
	KUNIT_EXPECT_MEMEQ(test, data + 100, buf, 2900);
	iov_iter_kvec(&iter, ITER_SOURCE, &kvec, 1, 2900);
	KUNIT_EXPECT_EQ(test, 0, dafs_write_inline(fix->clnt, dafs_test_me(), &wr, &iter, &res));
	KUNIT_EXPECT_EQ(test, 2900, res.count);
	KUNIT_EXPECT_EQ(test, DAFS_FILE_SYNC, res.committed);
	memmove(data + 10, data + 100, 2900);
	dafs_io_expect_file(test, fix, "file", data, 3000);
}

static struct kunit_case dafs_io_cases[] = {
	KUNIT_CASE_PARAM(dafs_read_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_read_eof_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_read_hole_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_read_inline_short_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_read_direct_pieces_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_read_direct_room_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_direct_bad_buffers_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_read_direct_max_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_read_lent_test),
	KUNIT_CASE_PARAM(dafs_write_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_write_padded_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_write_padded_refused_test),
	KUNIT_CASE_PARAM(dafs_write_direct_pieces_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_write_direct_max_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_write_direct_cksum_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_write_zero_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_write_limits_test),
	KUNIT_CASE_SLOW(dafs_write_nospc_test),
	KUNIT_CASE_PARAM(dafs_write_stable_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_commit_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_commit_args_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_write_flush_test),
	KUNIT_CASE(dafs_write_told_test),
	KUNIT_CASE(dafs_verifier_test),
	KUNIT_CASE_PARAM(dafs_verifier_hidden_test, dafs_witness_gen),
	KUNIT_CASE_PARAM(dafs_io_access_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_io_anonymous_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_io_opener_test),
	KUNIT_CASE(dafs_io_type_test),
	KUNIT_CASE_PARAM(dafs_io_exports_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_io_hint_test),
	KUNIT_CASE_PARAM(dafs_io_stub_test, dafs_flavours_gen),
	{}
};

static struct kunit_suite dafs_io_suite = {
	.name = "dafs_io",
	.test_cases = dafs_io_cases,
};

kunit_test_suite(dafs_io_suite);
