// SPDX-License-Identifier: GPL-2.0
/*
 * The response cache (5.2, 6.3): what the server remembers, and that the client asks before it
 * sends a request again.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/random.h>
#include <linux/slab.h>
#include "../../../../drivers/dafsd/session/conn.h"
#include "../../../../drivers/dafsd/session/respcache.h"
#include "../../../../drivers/dafsd/session/server.h"
#include "../../../../drivers/dafsd/session/session.h"
#include "../../rpc/rpc_impl.h"
#include "../lib/io_test.h"
#include "../lib/raw.h"

/**
 * struct lost - a client that loses a session, and has another one
 * @test: the test
 * @fix: where its files are
 * @login: of the first session
 * @again: of the second one
 * @conn: the first one, then the second one
 * @handle: credential handle of root
 * @hdr: header of the last request on the first one
 */
struct lost {
	struct kunit *test;
	struct dafs_fixture *fix;
	struct raw_login login;
	struct raw_login again;
	struct raw_conn *conn;
	u8 handle[4];
	struct dafs_req_hdr hdr;
};

static struct raw_conn *lost_connect(struct lost *l, struct raw_login *login)
{
	const struct dafs_flavour *flavour = l->test->param_value;
	struct raw_how how = {
		.type = DAFS_CHANNEL_OPERATION,
		.session = 1,
		.swab = flavour && flavour->swab,
		.ipv6 = flavour && flavour->ipv6,
	};
	struct raw_conn *conn = raw_connect(l->test, &how);

	login->opts.use_checksums = flavour && flavour->cksum;
	DAFS_ASSERT_STATUS(l->test, DAFS_STATUS_OK, raw_login(conn, login));
	return conn;
}

static struct lost *lost(struct kunit *test)
{
	struct lost *l = kunit_kzalloc(test, sizeof(*l), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, l);
	l->test = test;
	l->fix = dafs_fixture(test, test->param_value);
	l->conn = lost_connect(l, &l->login);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_register(l->conn, 0, 0, l->handle));
	return l;
}

/* A request on a stream of the first session */
static dafs_status_t lost_call(struct lost *l, u16 stream, u16 flags, u32 proc, void *args,
			       void *res)
{
	struct dafs_res_hdr res_hdr;

	l->hdr = raw_hdr(l->conn, proc);
	l->hdr.stream_id = stream;
	l->hdr.chain_flags = flags;
	memcpy(l->hdr.cred_handle, l->handle, sizeof(l->hdr.cred_handle));
	if (raw_call_hdr(l->conn, &l->hdr, args, &res_hdr, res))
		return DAFS_NO_STATUS;
	return res_hdr.status;
}

static dafs_status_t lost_mkdir(struct lost *l, u16 stream, const char *name,
				struct dafs_create_res *res)
{
	struct dafs_create_args args = {
		.filehandle = l->fix->dir,
		.component = dafs_test_str(name),
		.obj_type = DAFS_TYPE_DIR,
	};

	return lost_call(l, stream, 0, DAFS_PROC_CREATE, &args, res);
}

static dafs_status_t lost_remove(struct lost *l, u16 stream, const char *name)
{
	struct dafs_remove_args args = {
		.filehandle = l->fix->dir,
		.target = dafs_test_str(name),
	};

	return lost_call(l, stream, 0, DAFS_PROC_REMOVE, &args, NULL);
}

/* The connection is lost, and there is another one. */
static void lost_lose(struct lost *l)
{
	raw_cut(l->test, l->conn);
	l->again = (struct raw_login){ .id = l->login.id, .verifier = l->login.verifier };
	l->conn = lost_connect(l, &l->again);
}

static struct dafs_check_response_args lost_args(const struct lost *l, u16 stream, u16 seq,
						 u32 proc)
{
	return (struct dafs_check_response_args){
		.session_id = l->login.res.connect.session_id,
		.xid_stream = stream,
		.xid_seq = seq,
		.procedure = proc,
	};
}

static dafs_status_t lost_check(struct lost *l, u16 stream, u16 seq, u32 proc)
{
	struct dafs_check_response_args args = lost_args(l, stream, seq, proc);

	return raw_call(l->conn, DAFS_PROC_CHECK_RESPONSE, &args, NULL);
}

/* The same when the server has noticed that the session is over */
static dafs_status_t lost_check_over(struct lost *l, u16 stream, u16 seq)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	dafs_status_t status;

	do {
		status = lost_check(l, stream, seq, 0);
	} while (status == DAFSERR_BAD_SESSION && time_before(jiffies, end));
	return status;
}

static dafs_status_t lost_discard(struct lost *l)
{
	struct dafs_discard_responses_args args = {
		.session_id = l->login.res.connect.session_id,
	};

	return raw_call(l->conn, DAFS_PROC_DISCARD_RESPONSES, &args, NULL);
}

/* Waits until the server has ended a session that was lost. */
static void lost_await_end(struct kunit *test, const struct dafs_session_id *session_id)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	struct dafsd_session *ses;

	while ((ses = dafsd_session_find(&dafsd_server, session_id)) && time_before(jiffies, end)) {
		dafsd_session_put(ses);
		msleep(20);
	}
	KUNIT_EXPECT_NULL(test, ses);
	if (ses)
		dafsd_session_put(ses);
}

/* What is not known from then on is unknown only when the session has ended. */
static dafs_status_t lost_discard_over(struct lost *l)
{
	dafs_status_t status = lost_discard(l);

	lost_await_end(l->test, &l->login.res.connect.session_id);
	return status;
}

/* FETCH_RESPONSE, whose results are those of a CREATE */
static dafs_status_t lost_fetch(struct lost *l, u16 stream, u16 seq, struct dafs_create_res *res)
{
	struct dafs_check_response_args args = lost_args(l, stream, seq, 0);
	struct dafs_buf in;
	dafs_status_t status;

	status = raw_call(l->conn, DAFS_PROC_FETCH_RESPONSE, &args, NULL);
	in = (struct dafs_buf){
		.base = l->conn->last->data,
		.len = l->conn->last->len,
		.swab = l->conn->swab,
	};
	if (res && in.len > DAFS_HDR_SIZE)
		KUNIT_EXPECT_EQ(l->test, 0, dafs_decode_res(&in, DAFS_PROC_CREATE, res));
	return status;
}

/*
 * R-5.2.5-01, R-4.3.4-02, R-5.2.5-05, R-6.3.1-01, R-6.3.2-01: what was executed is known on the
 * next session, without credentials.  R-6.3.3-01, R-6.3.3-02: until that is discarded.
 * R-6.3.1-02, R-6.3.1-03, R-6.3.2-03: what was not executed is not, nor are other sessions.
 */
static void dafs_respcache_mkdir_test(struct kunit *test)
{
	struct lost *l = lost(test);
	struct dafs_create_res first = {}, fetched = {};
	u16 seq;

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, lost_mkdir(l, 0, "made", &first));
	seq = l->hdr.seq_number;
	lost_lose(l);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, lost_check(l, 0, seq, DAFS_PROC_CREATE));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, lost_check(l, 0, seq, 0));
	DAFS_EXPECT_STATUS(test, DAFSERR_NOXID_MATCH, lost_check(l, 0, seq, DAFS_PROC_REMOVE));
	DAFS_EXPECT_STATUS(test, DAFSERR_NOXID_MATCH, lost_check(l, 0, seq + 1, 0));
	DAFS_EXPECT_STATUS(test, DAFSERR_NOXID_MATCH, lost_check(l, 1, seq, 0));
	DAFS_EXPECT_STATUS(test, DAFSERR_NOXID_MATCH, lost_check(l, U16_MAX, seq, 0));
	DAFS_EXPECT_STATUS(test, DAFSERR_NOXID_MATCH, lost_fetch(l, 0, seq + 1, &fetched));
	KUNIT_EXPECT_EQ(test, DAFS_HDR_SIZE, l->conn->last->len);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, lost_fetch(l, 0, seq, &fetched));
	KUNIT_EXPECT_MEMEQ(test, &first.filehandle, &fetched.filehandle, sizeof(struct dafs_fh));
	KUNIT_EXPECT_EQ(test, first.change_info.after, fetched.change_info.after);
	/* as often as it is asked for */
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, lost_fetch(l, 0, seq, &fetched));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, lost_discard_over(l));
	DAFS_EXPECT_STATUS(test, DAFSERR_UNKNOWN_SESSION, lost_check(l, 0, seq, 0));
	DAFS_EXPECT_STATUS(test, DAFSERR_UNKNOWN_SESSION, lost_fetch(l, 0, seq, &fetched));
	DAFS_EXPECT_STATUS(test, DAFSERR_UNKNOWN_SESSION, lost_discard(l));
}

/*
 * R-5.2.1-05: the last request of each stream that changes something is known; R-6.3.2-02: also one
 * that has failed; R-5.2.1-01: and a simple one only if it says so.
 */
static void dafs_respcache_streams_test(struct kunit *test)
{
	struct dafs_access_args access = {};
	struct lost *l = lost(test);
	u16 seq[4];

	access.filehandle = l->fix->dir;
	access.access = DAFS_ACCESS_READ;
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, lost_mkdir(l, 0, "a", NULL));
	seq[0] = l->hdr.seq_number;
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, lost_remove(l, 0, "a"));
	seq[1] = l->hdr.seq_number;
	DAFS_ASSERT_STATUS(test, DAFSERR_NOENT, lost_remove(l, 1, "a"));
	seq[2] = l->hdr.seq_number;
	/* it does not take the place of what is remembered */
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   lost_call(l, 1, 0, DAFS_PROC_ACCESS, &access, NULL));
	/* of a chain, whose other part fails */
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   lost_call(l, 2, DAFS_CHF_SAVE | DAFS_CHF_FORW, DAFS_PROC_ACCESS,
				     &access, NULL));
	seq[3] = l->hdr.seq_number;
	lost_lose(l);
	DAFS_EXPECT_STATUS(test, DAFSERR_NOXID_MATCH, lost_check(l, 0, seq[0], 0));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, lost_check(l, 0, seq[1], DAFS_PROC_REMOVE));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, lost_check(l, 1, seq[2], DAFS_PROC_REMOVE));
	DAFS_EXPECT_STATUS(test, DAFSERR_NOENT, lost_fetch(l, 1, seq[2], NULL));
	DAFS_EXPECT_STATUS(test, DAFSERR_NOXID_MATCH, lost_check(l, 1, seq[2] + 1, 0));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, lost_check(l, 2, seq[3], DAFS_PROC_ACCESS));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, lost_discard_over(l));
}

/* E-56: not while the session is connected, nor others' sessions */
static void dafs_respcache_foreign_test(struct kunit *test)
{
	struct lost *l = lost(test), *other = lost(test);
	struct dafs_session_id mine = l->login.res.connect.session_id;
	u16 seq;

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, lost_mkdir(l, 0, "made", NULL));
	seq = l->hdr.seq_number;
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_SESSION, lost_check(l, 0, seq, 0));
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_SESSION, lost_discard(l));
	l->login.res.connect.session_id = other->login.res.connect.session_id;
	DAFS_EXPECT_STATUS(test, DAFSERR_NOT_AUTHORIZED, lost_check(l, 0, seq, 0));
	DAFS_EXPECT_STATUS(test, DAFSERR_NOT_AUTHORIZED, lost_discard(l));
	memset(&l->login.res.connect.session_id, 1, sizeof(mine));
	DAFS_EXPECT_STATUS(test, DAFSERR_UNKNOWN_SESSION, lost_check(l, 0, seq, 0));
	l->login.res.connect.session_id = mine;
	lost_lose(l);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, lost_check(l, 0, seq, 0));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, lost_discard_over(l));
}

/*
 * R-5.2.5-04: another instance of the client may ask, too, whether the session of the former one
 * was lost before that was there, or after.
 */
static void dafs_respcache_reboot_test(struct kunit *test)
{
	struct raw_conn *former;
	unsigned int n;
	u16 seq;

	for (n = 0; n < 2; n++) {
		struct lost *l = lost(test);

		DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, lost_mkdir(l, 0, n ? "1" : "0", NULL));
		seq = l->hdr.seq_number;
		former = l->conn;
		if (!n)
			raw_close(test, former);
		l->again = (struct raw_login){
			.id = l->login.id,
			.verifier = l->login.verifier + 1,
		};
		l->conn = lost_connect(l, &l->again);
		if (n) {
			DAFS_EXPECT_STATUS(test, DAFSERR_BAD_SESSION, lost_check(l, 0, seq, 0));
			raw_close(test, former);
		}
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, lost_check_over(l, 0, seq));
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, lost_fetch(l, 0, seq, NULL));
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, lost_discard_over(l));
		DAFS_EXPECT_STATUS(test, DAFSERR_UNKNOWN_SESSION, lost_check(l, 0, seq, 0));
	}
}

/* R-5.2.5-03: it is known as long as the client is, here for longer than its lease. */
static void dafs_respcache_lasts_test(struct kunit *test)
{
	struct lost *l = lost(test);
	unsigned int n;
	u16 seq;

	dafs_fixture_lease(test, l->fix, 4);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, lost_mkdir(l, 0, "made", NULL));
	seq = l->hdr.seq_number;
	lost_lose(l);
	for (n = 0; n < 12; n++) {
		msleep(500);
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
				   raw_call(l->conn, DAFS_PROC_NULL, NULL, NULL));
	}
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, lost_check(l, 0, seq, 0));
}

/* R-5.2.1-03: after DISCONNECT nothing is known. */
static void dafs_respcache_disconnect_test(struct kunit *test)
{
	struct lost *l = lost(test);
	u16 seq;

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, lost_mkdir(l, 0, "made", NULL));
	seq = l->hdr.seq_number;
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   raw_call(l->conn, DAFS_PROC_DISCONNECT, NULL, NULL));
	raw_close(test, l->conn);
	raw_settle();
	l->again = (struct raw_login){ .id = l->login.id, .verifier = l->login.verifier };
	l->conn = lost_connect(l, &l->again);
	DAFS_EXPECT_STATUS(test, DAFSERR_UNKNOWN_SESSION, lost_check(l, 0, seq, 0));
}

/* Waits until the server executes a change of a session. */
static void lost_await_change(struct kunit *test, const struct dafs_session_id *session_id)
{
	struct dafsd_session *ses = dafs_fixture_at_server(test, session_id);
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);

	while (list_empty(&ses->op->changing) && time_before(jiffies, end))
		msleep(20);
	KUNIT_ASSERT_FALSE(test, list_empty(&ses->op->changing));
}

/*
 * R-5.2.5-02: while a change is executed that was begun before the connection was lost, the client
 * is not told what became of it; and what it is told then does not change.
 */
static void dafs_respcache_final_test(struct kunit *test)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	struct lost *l = lost(test);
	struct dafs_create_args args = {
		.filehandle = l->fix->dir,
		.component = dafs_test_str("made"),
		.obj_type = DAFS_TYPE_DIR,
	};
	dafs_status_t status;
	unsigned int n;
	u16 seq;

	dafs_fixture_freeze(test, l->fix);
	l->hdr = raw_hdr(l->conn, DAFS_PROC_CREATE);
	memcpy(l->hdr.cred_handle, l->handle, sizeof(l->hdr.cred_handle));
	raw_ask(l->conn, &l->hdr, &args);
	seq = l->hdr.seq_number;
	lost_await_change(test, &l->login.res.connect.session_id);
	lost_lose(l);
	DAFS_EXPECT_STATUS(test, DAFSERR_DELAY, lost_check(l, l->hdr.stream_id, seq, 0));
	dafs_fixture_thaw(test, l->fix);
	do {
		status = lost_check(l, l->hdr.stream_id, seq, 0);
	} while (status == DAFSERR_DELAY && time_before(jiffies, end));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, status);
	for (n = 0; n < 3; n++) {
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
				   lost_check(l, l->hdr.stream_id, seq, 0));
		DAFS_EXPECT_STATUS(test, DAFSERR_NOXID_MATCH,
				   lost_check(l, l->hdr.stream_id, seq + 1, 0));
	}
}

/* R-6.3.2-05: one exchange for both */
static void dafs_respcache_chain_test(struct kunit *test)
{
	struct lost *l = lost(test);
	struct dafs_check_response_args args;
	struct dafs_req_hdr hdr;
	unsigned int n;

	DAFS_ASSERT_STATUS(test, DAFSERR_NOENT, lost_remove(l, 0, "none"));
	args = lost_args(l, 0, l->hdr.seq_number, 0);
	lost_lose(l);
	for (n = 0; n < 2; n++, args.xid_seq++) {
		hdr = raw_hdr(l->conn, DAFS_PROC_CHECK_RESPONSE);
		hdr.chain_flags = DAFS_CHF_FORW;
		raw_ask(l->conn, &hdr, &args);
		hdr = raw_hdr(l->conn, DAFS_PROC_FETCH_RESPONSE);
		hdr.stream_id = 1;
		hdr.chain_flags = DAFS_CHF_BACK;
		raw_ask(l->conn, &hdr, &args);
		DAFS_EXPECT_STATUS(test, n ? DAFSERR_NOXID_MATCH : DAFS_STATUS_OK,
				   raw_status(l->conn));
		DAFS_EXPECT_STATUS(test, n ? DAFSERR_CHAIN_BROKEN : DAFSERR_NOENT,
				   raw_status(l->conn));
	}
}

/*
 * R-5.2.2-04: the server has taken a stream back; what was answered on it is known all the same,
 * until the client must have it.
 * R-3.1.2.4-01: of no more streams than there may be requests outstanding.
 */
static void dafs_respcache_shrunk_test(struct kunit *test)
{
	struct lost *l = lost(test);
	const u16 nr = l->login.res.connect.opts.max_requests;
	struct dafsd_session *ses;
	unsigned int n;
	u16 seq;

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, lost_mkdir(l, nr - 1, "made", NULL));
	seq = l->hdr.seq_number;
	ses = dafsd_session_find(&dafsd_server, &l->login.res.connect.session_id);
	KUNIT_ASSERT_NOT_NULL(test, ses);
	dafs_responder_set_target(ses->op->responder, 1);
	/* each response takes one */
	for (n = 1; n < nr; n++)
		DAFS_EXPECT_STATUS(test, DAFSERR_NOENT, lost_remove(l, 0, "none"));
	KUNIT_EXPECT_EQ(test, 1, dafs_responder_nreq(ses->op->responder));
	dafsd_session_put(ses);
	lost_lose(l);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, lost_check_over(l, nr - 1, seq));
	for (n = nr; n < 2U * nr; n++)
		DAFS_EXPECT_STATUS(test, DAFSERR_NOXID_MATCH, lost_check(l, n, seq, 0));
}

/*
 * R-5.2.2.2-01: a response on a stream that was taken back is sent late: as many requests must come
 * after that before it is forgotten.
 */
static void dafs_respcache_late_test(struct kunit *test)
{
	struct dafs_fixture *frozen = dafs_fixture_in(test, NULL, DAFS_TEST_SQUASH);
	struct lost *l = lost(test);
	const u16 nr = l->login.res.connect.opts.max_requests;
	struct dafs_create_args args = {
		.filehandle = frozen->dir,
		.component = dafs_test_str("late"),
		.obj_type = DAFS_TYPE_DIR,
	};
	struct dafs_req_hdr hdr = raw_hdr(l->conn, DAFS_PROC_CREATE);
	struct dafsd_session *ses;
	unsigned int n;

	dafs_fixture_freeze(test, frozen);
	hdr.stream_id = nr - 1;
	raw_ask(l->conn, &hdr, &args);
	lost_await_change(test, &l->login.res.connect.session_id);
	ses = dafsd_session_find(&dafsd_server, &l->login.res.connect.session_id);
	KUNIT_ASSERT_NOT_NULL(test, ses);
	/* one of them is that for which the client waits */
	dafs_responder_set_target(ses->op->responder, 2);
	for (n = 0; n < 3U * nr; n++)
		DAFS_EXPECT_STATUS(test, DAFSERR_NOENT, lost_remove(l, 0, "none"));
	KUNIT_EXPECT_NOT_NULL(test, ses->respcache->responses[nr - 1]);
	dafs_fixture_thaw(test, frozen);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_status(l->conn));
	/* of the two that there may be outstanding, one may have been sent before it arrived */
	DAFS_EXPECT_STATUS(test, DAFSERR_NOENT, lost_remove(l, 0, "none"));
	KUNIT_EXPECT_NOT_NULL(test, ses->respcache->responses[nr - 1]);
	DAFS_EXPECT_STATUS(test, DAFSERR_NOENT, lost_remove(l, 0, "none"));
	KUNIT_EXPECT_NULL(test, ses->respcache->responses[nr - 1]);
	dafsd_session_put(ses);
}

/*
 * R-5.2.2.1-01: when the client must have what was answered on streams that were
 * taken back, the server forgets that, and remembers what is done when there are more again.
 */
static void dafs_respcache_expired_test(struct kunit *test)
{
	struct lost *l = lost(test);
	const u16 nr = l->login.res.connect.opts.max_requests;
	struct dafsd_session *ses;
	unsigned int n;
	u16 seq;

	for (n = 1; n < nr; n++)
		DAFS_EXPECT_STATUS(test, DAFSERR_NOENT, lost_remove(l, n, "none"));
	ses = dafsd_session_find(&dafsd_server, &l->login.res.connect.session_id);
	KUNIT_ASSERT_NOT_NULL(test, ses);
	dafs_responder_set_target(ses->op->responder, 1);
	/* each response takes one back; then there are as many requests as there were streams */
	for (n = 1; n < nr + 2U; n++) {
		KUNIT_EXPECT_NOT_NULL(test, ses->respcache->responses[1]);
		DAFS_EXPECT_STATUS(test, DAFSERR_NOENT, lost_remove(l, 0, "none"));
	}
	for (n = 1; n < nr; n++)
		KUNIT_EXPECT_NULL(test, ses->respcache->responses[n]);
	DAFS_EXPECT_STATUS(test, DAFSERR_NOENT, lost_remove(l, 0, "none"));
	KUNIT_EXPECT_TRUE(test, llist_empty(&ses->respcache->expired));
	dafs_responder_set_target(ses->op->responder, nr);
	DAFS_EXPECT_STATUS(test, DAFSERR_NOENT, lost_remove(l, 0, "none"));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, lost_mkdir(l, nr - 1, "made", NULL));
	seq = l->hdr.seq_number;
	/* once more */
	dafs_responder_set_target(ses->op->responder, nr - 1);
	for (n = 1; n < nr + 1U; n++) {
		KUNIT_EXPECT_NOT_NULL(test, ses->respcache->responses[nr - 1]);
		DAFS_EXPECT_STATUS(test, DAFSERR_NOENT, lost_remove(l, 0, "none"));
	}
	DAFS_EXPECT_STATUS(test, DAFSERR_NOENT, lost_remove(l, 0, "none"));
	KUNIT_EXPECT_NULL(test, ses->respcache->responses[nr - 1]);
	dafsd_session_put(ses);
	lost_lose(l);
	DAFS_EXPECT_STATUS(test, DAFSERR_NOXID_MATCH, lost_check_over(l, nr - 1, seq));
}

/* A client that loses one session after the other does not fill the memory. */
static void dafs_respcache_many_test(struct kunit *test)
{
	struct dafs_session_id ids[DAFSD_RESPCACHES + 2];
	struct lost *l = lost(test);
	unsigned int n;
	u16 seq;

	DAFS_ASSERT_STATUS(test, DAFSERR_NOENT, lost_remove(l, 0, "none"));
	seq = l->hdr.seq_number;
	ids[0] = l->login.res.connect.session_id;
	for (n = 1; n < ARRAY_SIZE(ids); n++) {
		lost_lose(l);
		ids[n] = l->again.res.connect.session_id;
		/* so that they end in this order */
		lost_await_end(test, &ids[n - 1]);
	}
	DAFS_EXPECT_STATUS(test, DAFSERR_UNKNOWN_SESSION, lost_check(l, 0, seq, 0));
	l->login.res.connect.session_id = ids[1];
	DAFS_EXPECT_STATUS(test, DAFSERR_NOXID_MATCH, lost_check(l, 0, seq, 0));
}

/* The client, which asks. */

/**
 * struct lost_task - an operation of the client by a task of its own
 * @clnt: the client
 * @op: the operation
 * @file: what is written to instead, or NULL
 * @err: its result
 * @ended: it has one
 */
struct lost_task {
	struct dafs_client *clnt;
	struct dafs_op op;
	struct dafs_test_file *file;
	int err;
	struct completion ended;
};

static int lost_task_run(void *priv)
{
	struct lost_task *t = priv;

	t->err = t->file ? dafs_test_file_write(t->file, "DATA", 4, 0) :
			   dafs_op_run(t->clnt, &t->op);
	complete(&t->ended);
	return 0;
}

static void lost_task_begin(struct kunit *test, struct lost_task *t)
{
	init_completion(&t->ended);
	KUNIT_ASSERT_FALSE(test, IS_ERR(kthread_run(lost_task_run, t, "dafs_lost")));
}

static void lost_task_end(struct kunit *test, struct lost_task *t)
{
	KUNIT_ASSERT_TRUE(test, wait_for_completion_timeout(&t->ended,
							    msecs_to_jiffies(RAW_WAIT_MS)));
	dafs_op_end(&t->op);
}

static void lost_await_change_of(struct kunit *test, struct dafs_client *clnt)
{
	struct dafs_conn *conn = dafs_conn_present(clnt);
	struct dafs_session_id session_id;

	KUNIT_ASSERT_NOT_NULL(test, conn);
	session_id = conn->session_id;
	dafs_conn_put(conn);
	lost_await_change(test, &session_id);
}

static void lost_break(struct dafs_client *clnt)
{
	struct dafs_conn *conn = dafs_conn_present(clnt);

	if (!conn)
		return;
	dafs_chan_fail(conn->op, DAFS_CLOSE_PEER);
	dafs_conn_put(conn);
}

/**
 * struct lost_change - a change that cannot be done twice
 * @name: for the report
 * @proc: DAFS_PROC_*
 */
struct lost_change {
	const char *name;
	u32 proc;
};

static const struct lost_change lost_changes[] = {
	{ "CREATE", DAFS_PROC_CREATE },
	{ "REMOVE", DAFS_PROC_REMOVE },
	{ "RENAME", DAFS_PROC_RENAME },
	{ "LINK", DAFS_PROC_LINK },
	{ "APPEND_INLINE", DAFS_PROC_APPEND_INLINE },
};

KUNIT_ARRAY_PARAM_DESC(lost_changes, lost_changes, name);

static void lost_change_args(struct kunit *test, struct dafs_fixture *fix, u32 proc,
			     union dafs_args *args)
{
	switch (proc) {
	case DAFS_PROC_CREATE:
		args->create = (struct dafs_create_args){
			.filehandle = fix->dir,
			.component = dafs_test_str("new"),
			.obj_type = DAFS_TYPE_DIR,
		};
		break;
	case DAFS_PROC_REMOVE:
		args->remove = (struct dafs_remove_args){
			.filehandle = fix->dir,
			.target = dafs_test_str("file"),
		};
		break;
	case DAFS_PROC_RENAME:
		args->rename = (struct dafs_rename_args){
			.sourcedir = fix->dir,
			.targetdir = fix->dir,
			.oldname = dafs_test_str("file"),
			.newname = dafs_test_str("new"),
		};
		break;
	case DAFS_PROC_LINK:
		args->link = (struct dafs_link_args){
			.source_object = dafs_test_lookup(test, fix, "file"),
			.destination_object = fix->dir,
			.newname = dafs_test_str("new"),
		};
		break;
	default:
		args->append_inline = (struct dafs_append_inline_args){
			.filehandle = dafs_test_lookup(test, fix, "file"),
			.byte_count = 4,
			.stable_how = DAFS_FILE_SYNC,
			.data = "more",
		};
		break;
	}
}

static void lost_while_executed(struct kunit *test, struct dafs_fixture *fix, struct lost_task *t)
{
	dafs_fixture_freeze(test, fix);
	lost_task_begin(test, t);
	lost_await_change_of(test, t->clnt);
	lost_break(t->clnt);
	/* it asks, while the server still executes the change */
	KUNIT_EXPECT_FALSE(test, wait_for_completion_timeout(&t->ended, HZ / 2));
	dafs_fixture_thaw(test, fix);
	lost_task_end(test, t);
}

/*
 * R-5.1-03, R-4.3.4-01, R-3.1.2.5-03: the connection is lost while the server executes a change;
 * when it is done the client has its response, and does not send it again, which would fail.
 */
static void dafs_respcache_change_test(struct kunit *test)
{
	const struct lost_change *change = test->param_value;
	struct dafs_fixture *fix = dafs_fixture_in(test, NULL, DAFS_TEST_SQUASH);
	struct dafs_client_params *params = kunit_kzalloc(test, sizeof(*params), GFP_KERNEL);
	struct dafs_client *clnt;
	struct lost_task t;
	union dafs_args args = {};
	char found[16] = {};

	KUNIT_ASSERT_NOT_NULL(test, params);
	dafs_fixture_client_params(NULL, params, "lost %s", change->name);
	params->soft = false;
	clnt = dafs_fixture_client(test, params);
	dafs_backing_write(test, fix, "file", "data", 4);
	dafs_backing_chmod(test, fix, "file", 0666);
	dafs_backing_chmod(test, fix, ".", 0777);
	lost_change_args(test, fix, change->proc, &args);
	t = (struct lost_task){
		.clnt = clnt,
		.op = {
			.cred = dafs_test_me(),
			.proc = change->proc,
			.args = &args,
			.no_replay = true,
		},
	};
	lost_while_executed(test, fix, &t);
	KUNIT_EXPECT_EQ(test, 0, t.err);
	if (change->proc == DAFS_PROC_APPEND_INLINE) {
		dafs_backing_read(fix, "file", found, sizeof(found), 0);
		KUNIT_EXPECT_STREQ(test, "datamore", found);
	}
}

/*
 * Data is sent once, too: a second time it could overwrite what others have written since.
 * R-6.3.2-04: it is asked whether there is a response, and then for that.
 */
static void dafs_respcache_write_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture_in(test, NULL, DAFS_TEST_SQUASH);
	struct dafs_client_params params;
	u64 sums[DAFS_NR_STATS];
	struct lost_task t = {};
	char found[8] = {};
	struct dafs_fh fh;

	dafs_fixture_client_params(NULL, &params, "lost WRITE");
	params.soft = false;
	t.clnt = dafs_fixture_client(test, &params);
	dafs_backing_write(test, fix, "file", "data", 4);
	dafs_backing_chmod(test, fix, "file", 0666);
	fh = dafs_test_lookup(test, fix, "file");
	t.file = dafs_test_file(test, t.clnt, &fh);
	lost_while_executed(test, fix, &t);
	KUNIT_EXPECT_EQ(test, 0, t.err);
	KUNIT_EXPECT_EQ(test, 4, t.file->io.done);
	dafs_backing_read(fix, "file", found, sizeof(found), 0);
	KUNIT_EXPECT_STREQ(test, "DATA", found);
	dafs_stats_read(t.clnt->stats, DAFS_PROC_WRITE_INLINE, sums);
	KUNIT_EXPECT_EQ(test, 1, sums[DAFS_STAT_CALLS]);
	dafs_stats_read(t.clnt->stats, DAFS_PROC_CHECK_RESPONSE, sums);
	KUNIT_EXPECT_LE(test, 1, sums[DAFS_STAT_CALLS]);
	dafs_stats_read(t.clnt->stats, DAFS_PROC_FETCH_RESPONSE, sums);
	KUNIT_EXPECT_EQ(test, 1, sums[DAFS_STAT_CALLS]);
}

/**
 * struct lost_order - a server that executes the second of two requests, and loses both responses
 * @lock: guards what follows
 * @xids: stream and number of the first CREATEs
 * @creates: how many there were
 * @checks: how often it was asked
 * @both: two have arrived
 */
struct lost_order {
	spinlock_t lock;	/* see above */
	struct dafs_req_hdr xids[3];
	unsigned int creates;
	unsigned int checks;
	struct completion both;
};

/* Handles tell which CREATE a response is of. */
static void lost_order_answer(struct raw_conn *conn, struct dafs_req_hdr hdr, u8 number)
{
	struct dafs_create_res res = { .filehandle.fileid = { number } };

	hdr.procedure = DAFS_PROC_CREATE;
	raw_answer(conn, &hdr, DAFS_STATUS_OK, 8, &res);
}

static void lost_order_create(struct raw_conn *conn, const struct dafs_req_hdr *hdr)
{
	struct lost_order *order = conn->srv->priv;
	unsigned int nr;

	spin_lock(&order->lock);
	nr = order->creates++;
	if (nr < ARRAY_SIZE(order->xids))
		order->xids[nr] = *hdr;
	spin_unlock(&order->lock);
	if (nr == 1)
		complete(&order->both);
	else if (nr > 1)
		lost_order_answer(conn, *hdr, nr);
}

static void lost_order_query(struct raw_conn *conn, struct raw_msg *msg,
			     const struct dafs_req_hdr *hdr)
{
	struct dafs_buf buf = { .base = msg->data, .len = hdr->len, .swab = conn->swab };
	struct lost_order *order = conn->srv->priv;
	struct dafs_check_response_args args = {};
	bool known;

	KUNIT_EXPECT_EQ(conn->test, 0, dafs_decode_args(&buf, hdr->procedure, &args));
	spin_lock(&order->lock);
	order->checks += hdr->procedure == DAFS_PROC_CHECK_RESPONSE;
	known = args.xid_stream == order->xids[1].stream_id &&
		args.xid_seq == order->xids[1].seq_number;
	spin_unlock(&order->lock);
	if (known && hdr->procedure == DAFS_PROC_FETCH_RESPONSE)
		lost_order_answer(conn, *hdr, 1);
	else
		raw_answer(conn, hdr, known ? DAFS_STATUS_OK : DAFSERR_NOXID_MATCH, 8, NULL);
}

static void lost_order_request(struct raw_conn *conn, struct raw_msg *msg)
{
	struct dafs_req_hdr hdr;

	KUNIT_EXPECT_EQ(conn->test, 0, raw_get_hdr(conn, msg, &hdr));
	switch (hdr.procedure) {
	case DAFS_PROC_CREATE:
		lost_order_create(conn, &hdr);
		break;
	case DAFS_PROC_CHECK_RESPONSE:
	case DAFS_PROC_FETCH_RESPONSE:
		lost_order_query(conn, msg, &hdr);
		break;
	case DAFS_PROC_DISCARD_RESPONSES:
	case DAFS_PROC_DELEGPURGE:
		raw_answer(conn, &hdr, DAFS_STATUS_OK, 8, NULL);
		break;
	default:
		raw_serve_request(conn, msg);
	}
}

/*
 * R-5.2.5-08: that the later one of two requests was executed does not mean that the other one was:
 * each is asked for by itself, and the one that was not is sent again.
 */
static void dafs_respcache_order_test(struct kunit *test)
{
	/* tasks may outlive a test that fails, but not the client, which ends first */
	struct lost_order *order = kunit_kzalloc(test, sizeof(*order), GFP_KERNEL);
	struct lost_task *t = kunit_kcalloc(test, 2, sizeof(*t), GFP_KERNEL);
	struct dafs_create_res *res = kunit_kcalloc(test, 2, sizeof(*res), GFP_KERNEL);
	struct dafs_create_args *args = kunit_kzalloc(test, sizeof(*args), GFP_KERNEL);
	struct raw_server *srv = raw_server(test);
	struct dafs_client *clnt;
	unsigned int n;

	KUNIT_ASSERT_NOT_NULL(test, order);
	KUNIT_ASSERT_NOT_NULL(test, t);
	KUNIT_ASSERT_NOT_NULL(test, res);
	KUNIT_ASSERT_NOT_NULL(test, args);
	args->component = dafs_test_str("new");
	spin_lock_init(&order->lock);
	init_completion(&order->both);
	srv->priv = order;
	srv->request = lost_order_request;
	srv->params.soft = false;
	clnt = dafs_fixture_client(test, &srv->params);
	for (n = 0; n < 2; n++) {
		t[n] = (struct lost_task){
			.clnt = clnt,
			.op = {
				.cred = dafs_test_me(),
				.proc = DAFS_PROC_CREATE,
				.args = args,
				.res = &res[n],
				.no_replay = true,
			},
		};
		lost_task_begin(test, &t[n]);
	}
	KUNIT_ASSERT_TRUE(test, wait_for_completion_timeout(&order->both,
							    msecs_to_jiffies(RAW_WAIT_MS)));
	lost_break(clnt);
	for (n = 0; n < 2; n++) {
		lost_task_end(test, &t[n]);
		KUNIT_EXPECT_EQ(test, 0, t[n].err);
	}
	KUNIT_EXPECT_EQ(test, 2, order->checks);
	KUNIT_EXPECT_EQ(test, 3, order->creates);
	/* one was fetched, the other one is the third CREATE */
	KUNIT_EXPECT_EQ(test, 1 + 2, res[0].filehandle.fileid[0] + res[1].filehandle.fileid[0]);
	dafs_fixture_end_client(test, clnt);
}

/**
 * struct lost_breaker - a task that breaks connections
 * @clnt: of this client
 * @work: breaks one, and comes again
 * @breaks: how many
 */
struct lost_breaker {
	struct dafs_client *clnt;
	struct delayed_work work;
	unsigned int breaks;
};

static void lost_breaker_work(struct work_struct *work)
{
	struct lost_breaker *b = container_of(to_delayed_work(work), struct lost_breaker, work);

	lost_break(b->clnt);
	b->breaks++;
	schedule_delayed_work(&b->work, msecs_to_jiffies(30 + get_random_u32_below(50)));
}

/* R-4.3.4-01: whenever connections are lost, each change is executed once. */
static void dafs_respcache_random_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	unsigned long end = jiffies + 8 * HZ;
	struct lost_breaker b = {};
	struct dafs_create_args create = {
		.filehandle = fix->dir,
		.component = dafs_test_str("again"),
		.obj_type = DAFS_TYPE_DIR,
	};
	struct dafs_remove_args remove = {
		.filehandle = fix->dir,
		.target = dafs_test_str("again"),
	};
	struct dafs_client_params params;
	unsigned int n = 0;

	dafs_fixture_client_params(NULL, &params, "lost at random");
	params.soft = false;
	b.clnt = dafs_fixture_client(test, &params);
	INIT_DELAYED_WORK_ONSTACK(&b.work, lost_breaker_work);
	schedule_delayed_work(&b.work, 0);
	do {
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
				   dafs_test_call(test, b.clnt, dafs_test_me(),
						  DAFS_PROC_CREATE, &create, NULL));
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
				   dafs_test_call(test, b.clnt, dafs_test_me(),
						  DAFS_PROC_REMOVE, &remove, NULL));
		n++;
	} while (time_before(jiffies, end));
	cancel_delayed_work_sync(&b.work);
	destroy_delayed_work_on_stack(&b.work);
	kunit_info(test, "%u changes, %u connections lost\n", 2 * n, b.breaks);
	KUNIT_EXPECT_LT(test, 10, b.breaks);
}

static struct kunit_case respcache_cases[] = {
	KUNIT_CASE_PARAM(dafs_respcache_mkdir_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_respcache_streams_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_respcache_foreign_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_respcache_reboot_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_respcache_lasts_test),
	KUNIT_CASE(dafs_respcache_disconnect_test),
	KUNIT_CASE_PARAM(dafs_respcache_final_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_respcache_chain_test),
	KUNIT_CASE(dafs_respcache_shrunk_test),
	KUNIT_CASE(dafs_respcache_late_test),
	KUNIT_CASE(dafs_respcache_expired_test),
	KUNIT_CASE(dafs_respcache_many_test),
	KUNIT_CASE_PARAM(dafs_respcache_change_test, lost_changes_gen_params),
	KUNIT_CASE(dafs_respcache_write_test),
	KUNIT_CASE(dafs_respcache_order_test),
	KUNIT_CASE(dafs_respcache_random_test),
	{}
};

static struct kunit_suite respcache_suite = {
	.name = "dafs_respcache",
	.test_cases = respcache_cases,
};

kunit_test_suite(respcache_suite);
