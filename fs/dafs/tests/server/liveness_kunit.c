// SPDX-License-Identifier: GPL-2.0
/*
 * No client waits for another client that falls silent, or for a frozen file
 * system that it does not use.
 */
#include <linux/delay.h>
#include <linux/slab.h>
#include "../../../../drivers/dafsd/session/server.h"
#include "../../../../drivers/dafsd/session/conn.h"
#include "../../../../drivers/dafsd/session/session.h"
#include "../../../../drivers/dafsd/export/export.h"
#include "../lib/raw.h"

#define LIVENESS_SESSIONS	17
#define LIVENESS_REQUESTS	32	/* of each client; more than workers in total */

/*
 * The server's hardware times out a silent peer after a minute, which is longer
 * than any wait in these tests, so this timeout cannot make them pass.
 */
#define LIVENESS_ACK_TIMEOUT	21

/* A session that uses up resources of the server */
struct liveness_client {
	struct raw_login login;
	struct raw_conn *conn;
	struct raw_conn *reads;
	struct dafs_session_id *id;
};

static struct raw_conn *liveness_channel(struct kunit *test, u32 type)
{
	struct raw_how how = { .type = type, .ack_timeout = LIVENESS_ACK_TIMEOUT };

	return raw_connect(test, &how);
}

static struct liveness_client *liveness_connect(struct kunit *test, bool reads)
{
	struct liveness_client *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);
	struct dafs_connect_bind_args bind = {
		.channel_use = DAFS_RDMA_READ_CHANNEL,
	};

	KUNIT_ASSERT_NOT_NULL(test, c);
	c->login.opts.max_requests = LIVENESS_REQUESTS;
	c->login.opts.use_rdma_read_channel = reads;
	c->conn = liveness_channel(test, DAFS_CHANNEL_OPERATION);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_login(c->conn, &c->login));
	KUNIT_ASSERT_EQ(test, LIVENESS_REQUESTS, c->login.res.connect.opts.max_requests);
	c->id = &c->login.res.connect.session_id;
	if (!reads)
		return c;
	bind.session_id = *c->id;
	c->reads = liveness_channel(test, DAFS_CHANNEL_RDMA_READ);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   raw_call(c->reads, DAFS_PROC_CONNECT_BIND, &bind, NULL));
	return c;
}

/* Sends as many requests as the session may have, without waiting for responses */
static void liveness_ask(struct kunit *test, struct liveness_client *c, u32 proc, void *args,
			 void (*change)(void *args, unsigned int i))
{
	struct dafs_req_hdr hdr;
	unsigned int i;

	for (i = 0; i < LIVENESS_REQUESTS; i++) {
		hdr = raw_hdr(c->conn, proc);
		hdr.stream_id = i;
		if (change)
			change(args, i);
		raw_ask(c->conn, &hdr, args);
	}
}

/* Other clients connect, are answered and disconnect. */
static void liveness_expect_peace(struct kunit *test, struct dafs_fixture *fix)
{
	struct dafs_getattr_args args = {
		.filehandle = fix->dir,
		.attr_request_bitmap = DAFS_FATTR_FILE_ID,
	};
	struct raw_login login = {};
	struct raw_conn *conn = raw_session(test, NULL, &login);

	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_call(conn, DAFS_PROC_NULL, NULL, NULL));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   raw_call(conn, DAFS_PROC_GETATTR_INLINE, &args, NULL));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_call(conn, DAFS_PROC_DISCONNECT, NULL, NULL));
	raw_close(test, conn);
	KUNIT_EXPECT_EQ(test, 0, dafs_null(fix->clnt, dafs_test_me()));
}

/* Number of unanswered requests of a session, plus one for its channel; 0 if it has ended. */
static int liveness_busy(const struct liveness_client *c)
{
	struct dafsd_session *ses = dafsd_session_find(&dafsd_server, c->id);
	int busy;

	if (!ses)
		return 0;
	busy = atomic_read(&ses->op->busy);
	dafsd_session_put(ses);
	return busy;
}

/* Number of these that wait for a worker or for the send queue */
static unsigned int liveness_waiting(const struct liveness_client *c)
{
	struct dafsd_session *ses = dafsd_session_find(&dafsd_server, c->id);
	unsigned int waiting;

	if (!ses)
		return 0;
	waiting = READ_ONCE(ses->op->waiting);
	dafsd_session_put(ses);
	return waiting;
}

static bool liveness_wait_busy(const struct liveness_client *c, int most)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);

	while (liveness_busy(c) > most && time_before(jiffies, end))
		msleep(20);
	return liveness_busy(c) <= most;
}

/* Requests for which there is no request structure have arrived, but are not busy yet. */
static bool liveness_all_busy(const struct liveness_client *c)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);

	while (liveness_busy(c) != LIVENESS_REQUESTS + 1 && time_before(jiffies, end))
		msleep(20);
	return liveness_busy(c) == LIVENESS_REQUESTS + 1;
}

/*
 * Clients send writes and fall silent: first the RDMA-read channel, then the
 * operation channel.  When the latter ends, so do the RDMA READs that are pending
 * on the former.
 */
static void dafs_liveness_silent_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_direct_buf buf = { .buffer_byte_count = 4096, .buffer_handle = 1 };
	struct dafs_write_direct_args args = {
		.byte_count = 4096,
		.write_data_buffers = { .count = 1, .elems = &buf },
	};
	struct liveness_client *c[LIVENESS_SESSIONS];
	unsigned int i;

	dafs_backing_write(test, fix, "file", "data", 4);
	dafs_backing_chmod(test, fix, "file", 0666);
	args.filehandle = dafs_test_lookup(test, fix, "file");
	for (i = 0; i < ARRAY_SIZE(c); i++) {
		c[i] = liveness_connect(test, true);
		raw_cut(test, c[i]->reads);
		liveness_ask(test, c[i], DAFS_PROC_WRITE_DIRECT, &args, NULL);
	}
	liveness_expect_peace(test, fix);
	for (i = 0; i < ARRAY_SIZE(c); i++) {
		KUNIT_EXPECT_NULL(test, raw_recv(c[i]->conn, 0));
		KUNIT_EXPECT_TRUE(test, liveness_all_busy(c[i]));
		raw_cut(test, c[i]->conn);
	}
	liveness_expect_peace(test, fix);
	for (i = 0; i < ARRAY_SIZE(c); i++) {
		KUNIT_EXPECT_EQ(test, LIVENESS_REQUESTS + 1, liveness_busy(c[i]));
		raw_close(test, c[i]->conn);
	}
	for (i = 0; i < ARRAY_SIZE(c); i++)
		KUNIT_ASSERT_TRUE(test, liveness_wait_busy(c[i], 0));
	liveness_expect_peace(test, fix);
	for (i = 0; i < ARRAY_SIZE(c); i++)
		raw_close(test, c[i]->reads);
}

/*
 * The client's memory cannot be read on the RDMA-read channel: there is no status for
 * this, and the session is lost (E-127).
 */
static void dafs_liveness_reads_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_direct_buf buf = { .buffer_byte_count = 4096, .buffer_handle = 1 };
	struct dafs_write_direct_args args = {
		.byte_count = 4096,
		.write_data_buffers = { .count = 1, .elems = &buf },
	};
	struct liveness_client *c = liveness_connect(test, true);
	struct dafs_req_hdr hdr = raw_hdr(c->conn, DAFS_PROC_WRITE_DIRECT);
	u8 *msg = kunit_kzalloc(test, RAW_RECV_SIZE, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, msg);
	dafs_backing_write(test, fix, "file", "data", 4);
	dafs_backing_chmod(test, fix, "file", 0666);
	args.filehandle = dafs_test_lookup(test, fix, "file");
	/* the send may fail, because the connection may end before */
	raw_send(c->conn, msg, raw_encode(c->conn, &hdr, &args, msg));
	KUNIT_EXPECT_TRUE(test, raw_closed(c->reads, RAW_WAIT_MS));
	KUNIT_EXPECT_TRUE(test, raw_closed(c->conn, RAW_WAIT_MS));
	KUNIT_EXPECT_NULL(test, raw_recv(c->conn, 0));
	KUNIT_EXPECT_TRUE(test, liveness_wait_busy(c, 0));
	liveness_expect_peace(test, fix);
}

/* If only the RDMA-read channel is cut off, no request waits for the data for ever. */
static void dafs_liveness_reads_cut_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_direct_buf buf = { .buffer_byte_count = 4096, .buffer_handle = 1 };
	struct dafs_write_direct_args args = {
		.byte_count = 4096,
		.write_data_buffers = { .count = 1, .elems = &buf },
	};
	struct liveness_client *c;

	dafs_backing_write(test, fix, "file", "data", 4);
	dafs_backing_chmod(test, fix, "file", 0666);
	args.filehandle = dafs_test_lookup(test, fix, "file");
	dafs_fixture_lease(test, fix, 1);
	c = liveness_connect(test, true);
	raw_cut(test, c->reads);
	liveness_ask(test, c, DAFS_PROC_WRITE_DIRECT, &args, NULL);
	KUNIT_EXPECT_TRUE(test, liveness_wait_busy(c, 0));
	KUNIT_EXPECT_TRUE(test, raw_closed(c->conn, RAW_WAIT_MS));
}

/* A unique name for each request */
static void liveness_rename(void *args, unsigned int i)
{
	struct dafs_create_args *create = args;
	static atomic_t nr = ATOMIC_INIT(0);
	static char names[LIVENESS_REQUESTS][16];

	snprintf(names[i], sizeof(names[i]), "d%d", atomic_inc_return(&nr));
	create->component = dafs_test_str(names[i]);
}

static void liveness_expect_made(struct kunit *test, struct liveness_client *c)
{
	unsigned int i;

	for (i = 0; i < LIVENESS_REQUESTS; i++)
		DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_status(c->conn));
}

/* LOOKUP from the root of the name space works, any number of times. */
static void liveness_expect_in(struct kunit *test, enum dafs_test_export where)
{
	struct dafs_str name = dafs_test_str(dafs_fixture_export_name(where));
	struct dafs_lookup_args args = { .path = { .count = 1, .elems = &name } };
	struct raw_login login = {};
	struct raw_conn *conn = raw_session(test, NULL, &login);
	struct dafs_fh_res root = {};
	unsigned int i;

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   raw_call(conn, DAFS_PROC_GET_ROOT_HANDLE, NULL, &root));
	args.directory = root.filehandle;
	for (i = 0; i < LIVENESS_REQUESTS; i++)
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
				   raw_call(conn, DAFS_PROC_LOOKUP, &args, NULL));
	raw_close(test, conn);
}

/*
 * Many requests wait for a frozen file system.  Other clients are not affected;
 * requests that have not started when their client disconnects are not executed.
 */
static void dafs_liveness_frozen_test(struct kunit *test)
{
	struct dafs_fixture *frozen = dafs_fixture_in(test, NULL, DAFS_TEST_SQUASH);
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_create_args args = {
		.filehandle = frozen->dir,
		.obj_type = DAFS_TYPE_DIR,
	};
	struct liveness_client *c[LIVENESS_SESSIONS];
	unsigned int i, last = ARRAY_SIZE(c) - 1;

	for (i = 0; i < ARRAY_SIZE(c); i++)
		c[i] = liveness_connect(test, false);
	dafs_fixture_freeze(test, frozen);
	for (i = 0; i < ARRAY_SIZE(c); i++)
		liveness_ask(test, c[i], DAFS_PROC_CREATE, &args, liveness_rename);
	liveness_expect_peace(test, fix);
	liveness_expect_in(test, DAFS_TEST_SQUASH);
	/* GETATTR works even there, for a client with few requests */
	liveness_expect_peace(test, frozen);
	raw_close(test, c[last]->conn);
	/* one request had a worker */
	KUNIT_EXPECT_TRUE(test, liveness_wait_busy(c[last], 1));
	KUNIT_EXPECT_NULL(test, raw_recv(c[0]->conn, 0));
	liveness_expect_peace(test, fix);
	dafs_fixture_thaw(test, frozen);
	for (i = 0; i < last; i++)
		liveness_expect_made(test, c[i]);
	KUNIT_EXPECT_TRUE(test, liveness_wait_busy(c[last], 0));
}

static dafs_status_t liveness_open(struct raw_conn *conn, struct dafs_fixture *fix,
				   const char *file, u32 access, u32 deny,
				   struct dafs_open_res *res)
{
	struct dafs_open_args args = dafs_test_open_args("owner", access, deny);
	struct dafs_str name = dafs_test_str(file);

	args.dir_handle = fix->dir;
	args.pathname = (struct dafs_seq) { .count = 1, .elems = &name };
	return raw_call(conn, DAFS_PROC_OPEN, &args, res);
}

static dafs_status_t liveness_close(struct raw_conn *conn, const struct dafs_open_res *open)
{
	struct dafs_close_args args = {
		.filehandle = open->filehandle,
		.state_id = open->state_id,
	};

	return raw_call(conn, DAFS_PROC_CLOSE, &args, NULL);
}

/*
 * The lease of a client with an open unlinked file in a frozen file system
 * expires: closing the file blocks, but no other client waits for it.
 */
static void dafs_liveness_expired_test(struct kunit *test)
{
	struct dafs_fixture *frozen = dafs_fixture_in(test, NULL, DAFS_TEST_SQUASH);
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct liveness_client *c;
	struct dafs_open_res res;

	dafs_backing_write(test, frozen, "file", "data", 4);
	dafs_fixture_lease(test, fix, 1);
	dafs_client_set_lease(frozen->clnt, 1);
	c = liveness_connect(test, false);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   liveness_open(c->conn, frozen, "file", DAFS_OPEN_SHARE_ACCESS_READ,
					 DAFS_OPEN_SHARE_DENY_NONE, &res));
	dafs_backing_remove(frozen, "file");
	dafs_fixture_freeze(test, frozen);
	KUNIT_EXPECT_TRUE(test, liveness_wait_busy(c, 0));
	liveness_expect_peace(test, fix);
	dafs_fixture_thaw(test, frozen);
}

static void liveness_withdraw(void *exp)
{
	dafsd_export_withdraw(exp);
}

static struct dafsd_export *liveness_serve(struct kunit *test, struct dafs_fixture *fix)
{
	const struct dafsd_export_conf conf = {};
	struct dafsd_export *exp = dafs_fixture_serve(test, fix, "dead", ".", &conf);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, exp);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, liveness_withdraw, exp));
	return exp;
}

/*
 * An export with a frozen file system is disabled: the opens of its clients end, and
 * another export may take its name.
 */
static void dafs_liveness_withdraw_test(struct kunit *test)
{
	struct dafs_fixture *frozen = dafs_fixture_in(test, NULL, DAFS_TEST_SQUASH);
	struct dafs_str name = dafs_test_str("dead");
	struct dafs_lookup_args lookup = { .path = { .count = 1, .elems = &name } };
	struct dafs_getattr_args args = { .attr_request_bitmap = DAFS_FATTR_FILE_ID };
	struct raw_login login = {};
	struct raw_conn *conn = raw_session(test, NULL, &login);
	struct dafsd_export *exp = liveness_serve(test, frozen);
	struct dafs_fixture *there = kunit_kzalloc(test, sizeof(*there), GFP_KERNEL);
	struct dafs_lookup_res found = {};
	struct dafs_fh_res root = {};
	struct dafs_open_res res;

	KUNIT_ASSERT_NOT_NULL(test, there);
	*there = *frozen;
	dafs_fixture_server_param(test, &dafsd_withdraw_seconds, 1);
	dafs_backing_write(test, frozen, "file", "data", 4);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   raw_call(conn, DAFS_PROC_GET_ROOT_HANDLE, NULL, &root));
	lookup.directory = root.filehandle;
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   raw_call(conn, DAFS_PROC_LOOKUP, &lookup, &found));
	there->dir = found.filehandle;
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   liveness_open(conn, there, "file", DAFS_OPEN_SHARE_ACCESS_READ,
					 DAFS_OPEN_SHARE_DENY_NONE, &res));
	dafs_backing_remove(frozen, "file");
	dafs_fixture_freeze(test, frozen);
	kunit_release_action(test, liveness_withdraw, exp);
	args.filehandle = found.filehandle;
	DAFS_EXPECT_STATUS(test, DAFSERR_STALE,
			   raw_call(conn, DAFS_PROC_GETATTR_INLINE, &args, NULL));
	liveness_serve(test, frozen);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   raw_call(conn, DAFS_PROC_GETATTR_INLINE, &args, NULL));
	DAFS_EXPECT_STATUS(test, DAFSERR_EXPIRED, liveness_close(conn, &res));
	dafs_fixture_thaw(test, frozen);
}

static dafs_status_t liveness_append(struct raw_conn *conn, const struct dafs_open_res *open)
{
	struct dafs_append_inline_args args = {
		.filehandle = open->filehandle,
		.state_id = open->state_id,
		.byte_count = 4,
		.data = "more",
		.stable_how = DAFS_DATA_SYNC,
	};

	return raw_call(conn, DAFS_PROC_APPEND_INLINE, &args, NULL);
}

/*
 * A write without an open waits for its file system.  Share reservations of and
 * appends to other files do not wait for it.
 */
static void dafs_liveness_locks_test(struct kunit *test)
{
	struct dafs_fixture *frozen = dafs_fixture_in(test, NULL, DAFS_TEST_SQUASH);
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_write_inline_args write = { .byte_count = 4, .data = "data" };
	struct liveness_client *c = liveness_connect(test, false);
	struct raw_login login = {};
	struct raw_conn *conn = raw_session(test, NULL, &login);
	struct dafs_open_res res;
	dafs_status_t status = DAFS_STATUS_OK;
	char name[16];
	unsigned int i;

	dafs_backing_write(test, frozen, "file", "data", 4);
	dafs_backing_chmod(test, frozen, "file", 0666);
	write.filehandle = dafs_test_lookup(test, frozen, "file");
	dafs_fixture_freeze(test, frozen);
	liveness_ask(test, c, DAFS_PROC_WRITE_INLINE, &write, NULL);
	for (i = 0; i < 128 && !status; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		dafs_backing_write(test, fix, name, "data", 4);
		dafs_backing_chmod(test, fix, name, 0666);
		status = liveness_open(conn, fix, name, DAFS_OPEN_SHARE_ACCESS_BOTH,
				       DAFS_OPEN_SHARE_DENY_BOTH, &res);
		status = status ?: liveness_append(conn, &res);
		/* open until the end, so that each has a different inode and lock */
	}
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, status);
	liveness_close(conn, &res);
	dafs_fixture_thaw(test, frozen);
	liveness_expect_made(test, c);
}

#define LIVENESS_READERS	34
#define LIVENESS_BUFS		250	/* of a few bytes each, to use most of the send queue */
#define LIVENESS_READS		(LIVENESS_REQUESTS / 2)

/* Waits until one read of the session is running and all others wait for it. */
static bool liveness_reads_wait(const struct liveness_client *c)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);

	while (liveness_waiting(c) != LIVENESS_READS - 1 && time_before(jiffies, end))
		msleep(20);
	return liveness_waiting(c) == LIVENESS_READS - 1;
}

/*
 * Clients send reads and fall silent: each read follows a CREATE in a chain, so
 * that the client is silent when the read starts.  The reads wait for the send
 * queues of their sessions; other clients are not delayed.
 */
static void dafs_liveness_reader_test(struct kunit *test)
{
	struct dafs_fixture *frozen = dafs_fixture_in(test, NULL, DAFS_TEST_SQUASH);
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_direct_buf *bufs = kunit_kcalloc(test, LIVENESS_BUFS, sizeof(*bufs),
						     GFP_KERNEL);
	u8 *msg = kunit_kzalloc(test, RAW_RECV_SIZE, GFP_KERNEL);
	struct dafs_create_args create = {
		.filehandle = frozen->dir,
		.obj_type = DAFS_TYPE_DIR,
	};
	struct dafs_read_direct_args read = {
		.byte_count = 16 * LIVENESS_BUFS,
		.read_data_buffers = { .count = LIVENESS_BUFS, .elems = bufs },
	};
	struct liveness_client *c[LIVENESS_READERS];
	struct dafs_req_hdr hdr;
	unsigned int i, j;

	KUNIT_ASSERT_NOT_NULL(test, bufs);
	KUNIT_ASSERT_NOT_NULL(test, msg);
	for (i = 0; i < LIVENESS_BUFS; i++)
		bufs[i] = (struct dafs_direct_buf){ .buffer_byte_count = 16, .buffer_handle = 1 };
	dafs_backing_write(test, fix, "file", msg, 16 * LIVENESS_BUFS);
	read.filehandle = dafs_test_lookup(test, fix, "file");
	for (i = 0; i < ARRAY_SIZE(c); i++)
		c[i] = liveness_connect(test, false);
	dafs_fixture_freeze(test, frozen);
	for (i = 0; i < ARRAY_SIZE(c); i++) {
		for (j = 0; j < LIVENESS_REQUESTS; j++) {
			hdr = raw_hdr(c[i]->conn, j % 2 ? DAFS_PROC_READ_DIRECT :
							  DAFS_PROC_CREATE);
			hdr.stream_id = j;
			hdr.chain_flags = j % 2 ? DAFS_CHF_BACK : DAFS_CHF_FORW;
			liveness_rename(&create, j);
			raw_send(c[i]->conn, msg,
				 raw_encode(c[i]->conn, &hdr, j % 2 ? (void *)&read : &create,
					    msg));
		}
		raw_cut(test, c[i]->conn);
	}
	liveness_expect_peace(test, fix);
	dafs_fixture_thaw(test, frozen);
	for (i = 0; i < ARRAY_SIZE(c); i++)
		KUNIT_ASSERT_TRUE(test, liveness_reads_wait(c[i]));
	liveness_expect_peace(test, fix);
	liveness_expect_peace(test, frozen);
	for (i = 0; i < ARRAY_SIZE(c); i++) {
		/* they still wait */
		KUNIT_EXPECT_EQ(test, LIVENESS_READS - 1, liveness_waiting(c[i]));
		KUNIT_EXPECT_EQ(test, LIVENESS_REQUESTS + 1, liveness_busy(c[i]));
		raw_close(test, c[i]->conn);
	}
	for (i = 0; i < ARRAY_SIZE(c); i++)
		KUNIT_ASSERT_TRUE(test, liveness_wait_busy(c[i], 0));
}

static struct kunit_case dafs_liveness_cases[] = {
	KUNIT_CASE(dafs_liveness_silent_test),
	KUNIT_CASE(dafs_liveness_reads_test),
	KUNIT_CASE_SLOW(dafs_liveness_reads_cut_test),
	KUNIT_CASE(dafs_liveness_frozen_test),
	KUNIT_CASE(dafs_liveness_expired_test),
	KUNIT_CASE_SLOW(dafs_liveness_withdraw_test),
	KUNIT_CASE(dafs_liveness_locks_test),
	KUNIT_CASE(dafs_liveness_reader_test),
	{}
};

static struct kunit_suite dafs_liveness_suite = {
	.name = "dafs_liveness",
	.test_cases = dafs_liveness_cases,
};

kunit_test_suite(dafs_liveness_suite);
