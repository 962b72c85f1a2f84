// SPDX-License-Identifier: GPL-2.0
/* READ, inline and direct. */
#include <linux/sizes.h>
#include <linux/slab.h>
#include "../../../../drivers/dafsd/session/session.h"
#include "../../rpc/rpc_impl.h"
#include "../lib/rw_test.h"

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
	io.state_id = (struct dafs_state_id){};
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_do_read(test, fix, true, &io, buf, &got));
	KUNIT_EXPECT_EQ(test, SZ_64K, atomic64_read(&at_server->bytes_borrowed) - before);
}

static struct kunit_case dafs_io_read_cases[] = {
	KUNIT_CASE_PARAM(dafs_read_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_read_eof_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_read_hole_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_read_inline_short_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_read_direct_pieces_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_read_direct_room_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_direct_bad_buffers_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_read_direct_max_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_read_lent_test),
	{}
};

static struct kunit_suite dafs_io_read_suite = {
	.name = "dafs_io_read",
	.test_cases = dafs_io_read_cases,
};

kunit_test_suite(dafs_io_read_suite);
