// SPDX-License-Identifier: GPL-2.0
/* Permission to read and write. */
#include <linux/sizes.h>
#include <linux/uio.h>
#include "../lib/rw_test.h"

/* Expected status of inline and direct reads and writes. */
static void dafs_io_expect(struct kunit *test, struct dafs_fixture *fix, struct dafs_io_arg *io,
			   dafs_status_t read, dafs_status_t write)
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
	io.state_id = (struct dafs_state_id){};
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
	io.state_id = (struct dafs_state_id){};
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
