// SPDX-License-Identifier: GPL-2.0
/* WRITE, inline and direct. */
#include <linux/sizes.h>
#include "../../rpc/rpc_impl.h"
#include "../lib/rw_test.h"

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
	dafs_status_t status;

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

static struct kunit_case dafs_io_write_cases[] = {
	KUNIT_CASE_PARAM(dafs_write_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_write_padded_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_write_padded_refused_test),
	KUNIT_CASE_PARAM(dafs_write_direct_pieces_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_write_direct_max_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_write_direct_cksum_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_write_zero_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_write_limits_test),
	KUNIT_CASE_SLOW(dafs_write_nospc_test),
	{}
};

static struct kunit_suite dafs_io_write_suite = {
	.name = "dafs_io_write",
	.test_cases = dafs_io_write_cases,
};

kunit_test_suite(dafs_io_write_suite);
