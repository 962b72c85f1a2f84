// SPDX-License-Identifier: GPL-2.0
/*
 * LOCKs that wait for others (E-83): who is woken, in which order, and what ends a wait.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include "../../../../drivers/dafsd/session/client.h"
#include "../../../../drivers/dafsd/session/server.h"
#include "../../../../drivers/dafsd/state/lock_wait.h"
#include "../../../../drivers/dafsd/store/store.h"
#include "../lib/lock_fs.h"
#include "../lib/open_test.h"
#include "../lib/raw.h"
#include "../lib/undo_test.h"

/**
 * struct waiter - a client that has "file" open, whose requests need not be answered at once
 * @login: its session
 * @conn: its connection
 * @handle: credential handle of root
 * @open: its open
 * @stream: for the next request that it does not wait for
 */
struct waiter {
	struct raw_login login;
	struct raw_conn *conn;
	u8 handle[4];
	struct dafs_open_res open;
	u16 stream;
};

/* Long enough for a test that expects an answer before, and too long for one that waits. */
#define WAIT_LONG	(10 * RAW_WAIT_MS)

static struct waiter *waiter(struct kunit *test, struct dafs_fixture *fix)
{
	struct dafs_open_args args = dafs_test_open_args("waiter", DAFS_RW, 0);
	struct waiter *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);
	struct dafs_str name = dafs_test_str("file");

	KUNIT_ASSERT_NOT_NULL(test, w);
	w->login.verifier = 1;
	w->conn = raw_session(test, test->param_value, &w->login);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_register(w->conn, 0, 0, w->handle));
	args.dir_handle = fix->dir;
	args.pathname = (struct dafs_seq) { .count = 1, .elems = &name };
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   raw_call_as(w->conn, w->handle, DAFS_PROC_OPEN, &args, &w->open));
	return w;
}

static struct dafs_fixture *waiter_fixture(struct kunit *test, unsigned int ms)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);

	dafs_backing_write(test, fix, "file", "content", 7);
	dafs_fixture_server_param(test, &dafsd_lock_wait_ms, ms);
	return fix;
}

static struct dafs_lock_args waiter_args(const struct waiter *w, u32 type, u64 offset, u64 length)
{
	return (struct dafs_lock_args) {
		.filehandle = w->open.filehandle,
		.state_id = w->open.state_id,
		.lock_type = type,
		.offset = offset,
		.length = length,
	};
}

static dafs_status_t waiter_lock(struct waiter *w, u32 type, u64 offset, u64 length)
{
	struct dafs_lock_args args = waiter_args(w, type, offset, length);

	return raw_call_as(w->conn, w->handle, DAFS_PROC_LOCK, &args, NULL);
}

static dafs_status_t waiter_unlock(struct waiter *w, u64 offset, u64 length)
{
	struct dafs_locku_args args = {
		.filehandle = w->open.filehandle,
		.state_id = w->open.state_id,
		.offset = offset,
		.length = length,
	};

	return raw_call_as(w->conn, w->handle, DAFS_PROC_LOCKU, &args, NULL);
}

static dafs_status_t waiter_close(struct waiter *w)
{
	struct dafs_close_args args = {
		.filehandle = w->open.filehandle,
		.state_id = w->open.state_id,
	};

	return raw_call_as(w->conn, w->handle, DAFS_PROC_CLOSE, &args, NULL);
}

/* Sends a request on a stream of its own, and returns that. */
static u16 waiter_ask(struct waiter *w, u32 proc, void *args, u16 chain_flags)
{
	struct dafs_req_hdr hdr = raw_hdr(w->conn, proc);

	hdr.seq_number = 0;
	hdr.stream_id = ++w->stream;
	hdr.chain_flags = chain_flags;
	memcpy(hdr.cred_handle, w->handle, sizeof(w->handle));
	w->conn->seq--;
	raw_ask(w->conn, &hdr, args);
	return hdr.stream_id;
}

static u16 waiter_wait(struct waiter *w, u32 type, u64 offset, u64 length)
{
	struct dafs_lock_args args = waiter_args(w, type, offset, length);

	return waiter_ask(w, DAFS_PROC_LOCK, &args, 0);
}

/* The status of the request on a stream, which must be the next one that is answered. */
static void waiter_expect(struct kunit *test, struct waiter *w, u16 stream, dafs_status_t expected)
{
	struct dafs_res_hdr hdr = {};

	DAFS_EXPECT_STATUS(test, expected, raw_recv_status(w->conn, RAW_WAIT_MS, &hdr));
	KUNIT_EXPECT_EQ(test, stream, hdr.stream_id);
}

static bool waiter_is_silent(struct waiter *w)
{
	struct raw_msg *msg = raw_recv(w->conn, 100);

	kfree(msg);
	return !msg;
}

/* R-4.4.1.2-12: a lock that blocks is granted when it is free. */
static void dafs_lock_wait_free_test(struct kunit *test)
{
	struct dafs_fixture *fix = waiter_fixture(test, WAIT_LONG);
	struct waiter *a = waiter(test, fix), *b = waiter(test, fix);
	u16 stream;

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, waiter_lock(a, DAFS_WRITE_LT, 0, 100));
	stream = waiter_wait(b, DAFS_WRITEW_LT, 50, 10);
	KUNIT_EXPECT_TRUE(test, waiter_is_silent(b));
	/* not what is in its way */
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, waiter_unlock(a, 0, 50));
	KUNIT_EXPECT_TRUE(test, waiter_is_silent(b));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, waiter_unlock(a, 50, 10));
	waiter_expect(test, b, stream, DAFS_STATUS_OK);
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, waiter_lock(a, DAFS_READ_LT, 59, 1));
	/* a write lock that becomes a read lock */
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, waiter_lock(a, DAFS_WRITE_LT, 200, 10));
	stream = waiter_wait(b, DAFS_READW_LT, 200, 10);
	KUNIT_EXPECT_TRUE(test, waiter_is_silent(b));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, waiter_lock(a, DAFS_READ_LT, 200, 10));
	waiter_expect(test, b, stream, DAFS_STATUS_OK);
	/* nothing in the way */
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, waiter_lock(a, DAFS_WRITEW_LT, 300, 10));
}

/* What ends the locks of others: CLOSE, a new instance of their client */
static void dafs_lock_wait_ended_test(struct kunit *test)
{
	struct dafs_fixture *fix = waiter_fixture(test, WAIT_LONG);
	struct waiter *a = waiter(test, fix), *b = waiter(test, fix), *c = waiter(test, fix);
	u16 stream;

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, waiter_lock(a, DAFS_WRITE_LT, 0, 100));
	stream = waiter_wait(b, DAFS_WRITEW_LT, 0, 100);
	KUNIT_EXPECT_TRUE(test, waiter_is_silent(b));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, waiter_close(a));
	waiter_expect(test, b, stream, DAFS_STATUS_OK);
	stream = waiter_wait(c, DAFS_WRITEW_LT, 0, 100);
	KUNIT_EXPECT_TRUE(test, waiter_is_silent(c));
	b->login.verifier++;
	raw_session(test, test->param_value, &b->login);
	waiter_expect(test, c, stream, DAFS_STATUS_OK);
}

/* R-4.4.1.2-11: those that wait get the lock in their order, and before others. */
static void dafs_lock_wait_order_test(struct kunit *test)
{
	struct dafs_fixture *fix = waiter_fixture(test, WAIT_LONG);
	struct waiter *a = waiter(test, fix), *w[4];
	u16 stream[4];
	int n;

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, waiter_lock(a, DAFS_WRITE_LT, 0, 100));
	for (n = 0; n < ARRAY_SIZE(w); n++) {
		w[n] = waiter(test, fix);
		stream[n] = waiter_wait(w[n], DAFS_WRITEW_LT, n, 10);
		KUNIT_EXPECT_TRUE(test, waiter_is_silent(w[n]));
	}
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, waiter_unlock(a, 0, 100));
	for (n = 0; n < ARRAY_SIZE(w); n++) {
		waiter_expect(test, w[n], stream[n], DAFS_STATUS_OK);
		if (n + 1 < ARRAY_SIZE(w))
			KUNIT_EXPECT_TRUE(test, waiter_is_silent(w[n + 1]));
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, waiter_unlock(w[n], 0, 100));
	}
}

/* One that is woken, and cannot have its lock, does not keep those behind it from theirs. */
static void dafs_lock_wait_behind_test(struct kunit *test)
{
	struct dafs_fixture *fix = waiter_fixture(test, WAIT_LONG);
	struct waiter *a = waiter(test, fix), *b = waiter(test, fix), *c = waiter(test, fix);
	u16 second, third;

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, waiter_lock(a, DAFS_WRITE_LT, 0, 100));
	second = waiter_wait(b, DAFS_WRITEW_LT, 0, 100);
	KUNIT_EXPECT_TRUE(test, waiter_is_silent(b));
	third = waiter_wait(c, DAFS_WRITEW_LT, 0, 10);
	KUNIT_EXPECT_TRUE(test, waiter_is_silent(c));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, waiter_unlock(a, 0, 10));
	waiter_expect(test, c, third, DAFS_STATUS_OK);
	KUNIT_EXPECT_TRUE(test, waiter_is_silent(b));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, waiter_unlock(a, 0, 100));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, waiter_unlock(c, 0, 100));
	waiter_expect(test, b, second, DAFS_STATUS_OK);
}

/* A wait ends: it has lasted long enough; its open is closed; its connection is lost. */
static void dafs_lock_wait_over_test(struct kunit *test)
{
	struct dafs_fixture *fix = waiter_fixture(test, 50);
	struct waiter *a = waiter(test, fix), *b = waiter(test, fix);
	u16 stream;

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, waiter_lock(a, DAFS_WRITE_LT, 0, 100));
	stream = waiter_wait(b, DAFS_WRITEW_LT, 0, 100);
	waiter_expect(test, b, stream, DAFSERR_DENIED);
	dafs_fixture_server_param(test, &dafsd_lock_wait_ms, WAIT_LONG);
	stream = waiter_wait(b, DAFS_WRITEW_LT, 0, 100);
	KUNIT_EXPECT_TRUE(test, waiter_is_silent(b));
	raw_close(test, b->conn);
	b = waiter(test, fix);
	stream = waiter_wait(b, DAFS_WRITEW_LT, 0, 100);
	KUNIT_EXPECT_TRUE(test, waiter_is_silent(b));
	/* the lost one does not get it */
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, waiter_unlock(a, 0, 100));
	waiter_expect(test, b, stream, DAFS_STATUS_OK);
}

static void dafs_lock_wait_close_test(struct kunit *test)
{
	struct dafs_fixture *fix = waiter_fixture(test, WAIT_LONG);
	struct waiter *a = waiter(test, fix), *b = waiter(test, fix);
	struct dafs_close_args args = {
		.filehandle = b->open.filehandle,
		.state_id = b->open.state_id,
	};
	struct dafs_res_hdr hdr[2] = {};
	dafs_status_t status[2];
	u16 stream;
	int n;

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, waiter_lock(a, DAFS_WRITE_LT, 0, 100));
	stream = waiter_wait(b, DAFS_WRITEW_LT, 0, 100);
	KUNIT_EXPECT_TRUE(test, waiter_is_silent(b));
	waiter_ask(b, DAFS_PROC_CLOSE, &args, 0);
	for (n = 0; n < 2; n++)
		status[n] = raw_recv_status(b->conn, RAW_WAIT_MS, &hdr[n]);
	n = hdr[0].stream_id == stream ? 0 : 1;
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_STATEID, status[n]);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, status[!n]);
}

/* Half of a session's requests may wait, a chain counting as four: the others are answered. */
static void dafs_lock_wait_room_test(struct kunit *test)
{
	struct dafs_fixture *fix = waiter_fixture(test, WAIT_LONG);
	struct waiter *a = waiter(test, fix), *b = waiter(test, fix);
	struct dafs_lock_args args = waiter_args(b, DAFS_WRITEW_LT, 0, 1);
	unsigned int nr = 4;

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, waiter_lock(a, DAFS_WRITE_LT, 0, 100));
	waiter_ask(b, DAFS_PROC_LOCK, &args, DAFS_CHF_FORW);
	waiter_ask(b, DAFS_PROC_LOCK, &args, DAFS_CHF_BACK);
	KUNIT_EXPECT_TRUE(test, waiter_is_silent(b));
	do {
		waiter_wait(b, DAFS_WRITEW_LT, nr, 1);
	} while (waiter_is_silent(b) && ++nr < 100);
	KUNIT_EXPECT_EQ(test, b->login.res.connect.opts.max_requests / 2, nr);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, waiter_lock(b, DAFS_WRITE_LT, 1000, 1));
}

static dafs_status_t waiter_lock_persist(struct waiter *w, u32 type, u64 offset, u64 length)
{
	struct dafs_lock_args args = waiter_args(w, type, offset, length);

	args.options = DAFS_LOCK_PERSIST;
	return raw_call_as(w->conn, w->handle, DAFS_PROC_LOCK, &args, NULL);
}

/* A write lock becomes a read lock, which there is no room for in the store. */
static void dafs_lock_wait_weaker_test(struct kunit *test)
{
	struct dafs_fixture *fix = waiter_fixture(test, WAIT_LONG);
	struct waiter *a = waiter(test, fix), *b = waiter(test, fix);
	u16 stream;

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, waiter_lock_persist(a, DAFS_WRITE_LT, 0, 100));
	stream = waiter_wait(b, DAFS_READW_LT, 0, 10);
	KUNIT_EXPECT_TRUE(test, waiter_is_silent(b));
	dafs_fixture_server_param(test, &dafsd_store_max, 0);
	DAFS_EXPECT_STATUS(test, DAFSERR_RESOURCE, waiter_lock_persist(a, DAFS_READ_LT, 0, 100));
	waiter_expect(test, b, stream, DAFS_STATUS_OK);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, waiter_unlock(a, 0, 100));
}

/* The next lock that the file system is asked for is set when the test says so. */
static bool waiter_fs_waits;
static struct completion waiter_fs_asked, waiter_fs_answer;

static void waiter_fs_lock(void)
{
	if (!xchg(&waiter_fs_waits, false))
		return;
	complete(&waiter_fs_asked);
	wait_for_completion_timeout(&waiter_fs_answer, msecs_to_jiffies(2 * RAW_WAIT_MS));
}

/*
 * While a LOCK is executed another client loses what is asked for, and that cannot be recorded: it
 * could reclaim it after a restart of the server, so nobody else gets it.
 */
static void dafs_lock_wait_unrecorded_test(struct kunit *test)
{
	struct dafs_fixture *fix = waiter_fixture(test, WAIT_LONG);
	struct waiter *a, *b;
	u16 stream;

	KUNIT_ASSERT_NOT_NULL(test, dafsd_server.store);
	init_completion(&waiter_fs_asked);
	init_completion(&waiter_fs_answer);
	lock_fs_hook(test, fix, "file", waiter_fs_lock);
	a = waiter(test, fix);
	b = waiter(test, fix);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, waiter_lock(a, DAFS_WRITE_LT, 0, 100));
	WRITE_ONCE(waiter_fs_waits, true);
	stream = waiter_wait(b, DAFS_WRITE_LT, 0, 100);
	KUNIT_EXPECT_TRUE(test, wait_for_completion_timeout(&waiter_fs_asked,
							    msecs_to_jiffies(RAW_WAIT_MS)));
	undo_break_store(test);
	KUNIT_EXPECT_EQ(test, 0, dafsd_client_end_id(&dafsd_server,
						     &a->login.res.connect.client_id));
	KUNIT_EXPECT_TRUE(test, raw_closed(a->conn, RAW_WAIT_MS));
	raw_settle();
	complete_all(&waiter_fs_answer);
	waiter_expect(test, b, stream, DAFSERR_IO);
	undo_repair_store(test);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, waiter_lock(b, DAFS_WRITE_LT, 0, 100));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, waiter_close(b));
}

static struct kunit_case dafs_lock_wait_cases[] = {
	KUNIT_CASE_PARAM(dafs_lock_wait_free_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_lock_wait_ended_test),
	KUNIT_CASE(dafs_lock_wait_order_test),
	KUNIT_CASE(dafs_lock_wait_behind_test),
	KUNIT_CASE(dafs_lock_wait_over_test),
	KUNIT_CASE(dafs_lock_wait_close_test),
	KUNIT_CASE(dafs_lock_wait_room_test),
	KUNIT_CASE(dafs_lock_wait_weaker_test),
	KUNIT_CASE(dafs_lock_wait_unrecorded_test),
	{}
};

static struct kunit_suite dafs_lock_wait_suite = {
	.name = "dafs_lock_wait",
	.test_cases = dafs_lock_wait_cases,
};

kunit_test_suite(dafs_lock_wait_suite);
