// SPDX-License-Identifier: GPL-2.0
/*
 * The lease (4.4.1.1, 4.4.1.2, E-84, E-89): state of a silent client is freed,
 * and no live client loses state.
 *
 * Tests wait for events without a time limit; where something must not happen
 * for a while, timers renew the lease often enough for one to be late.
 */
#include <linux/delay.h>
#include <linux/slab.h>
#include <linux/dafs/stats.h>
#include "../../../../drivers/dafsd/session/server.h"
#include "../../../../drivers/dafsd/session/client.h"
#include "../../../../drivers/dafsd/session/conn.h"
#include "../../../../drivers/dafsd/session/session.h"
#include "../../../../drivers/dafsd/state/state.h"
#include "../../rpc/rpc_impl.h"
#include "../lib/open_test.h"
#include "../lib/raw.h"

#define LEASE_SHORT	1	/* seconds: for clients whose lease is to expire */
#define LEASE_LIVE	2	/* for clients whose lease must not expire */

/**
 * struct lease_client - a client that sends only requests of the test
 * @login: its session
 * @conn: its connection
 * @handle: credential handle of root
 * @open: its open
 */
struct lease_client {
	struct raw_login login;
	struct raw_conn *conn;
	u8 handle[4];
	struct dafs_open_res open;
};

/* @id as in struct raw_login: a client that was used before may have a lease already. */
static void lease_connect(struct kunit *test, struct lease_client *client, const char *id,
			  const struct dafs_flavour *flavour)
{
	client->login = (struct raw_login) { .id = id, .verifier = 1 };
	client->conn = raw_session(test, flavour, &client->login);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_register(client->conn, 0, 0, client->handle));
}

/* OPEN of a file in the test's directory that denies all access. */
static dafs_status_t lease_open(struct lease_client *client, struct dafs_fixture *fix,
				const char *file)
{
	struct dafs_open_args args = dafs_test_open_args("owner", DAFS_RW,
							 DAFS_OPEN_SHARE_DENY_BOTH);
	struct dafs_str name = dafs_test_str(file);

	args.dir_handle = fix->dir;
	args.pathname = (struct dafs_seq) { .count = 1, .elems = &name };
	return raw_call_as(client->conn, client->handle, DAFS_PROC_OPEN, &args, &client->open);
}

static dafs_status_t lease_reclaim(struct lease_client *client)
{
	struct dafs_open_args args = dafs_test_open_args("owner", DAFS_RW,
							 DAFS_OPEN_SHARE_DENY_BOTH);
	struct dafs_open_res res;

	args.claim_type = DAFS_CLAIM_PREVIOUS;
	args.dir_handle = client->open.filehandle;
	return raw_call_as(client->conn, client->handle, DAFS_PROC_OPEN, &args, &res);
}

static dafs_status_t lease_read(struct lease_client *client)
{
	struct dafs_read_inline_args args = {
		.filehandle = client->open.filehandle,
		.state_id = client->open.state_id,
		.byte_count = 4,
	};

	return raw_call_as(client->conn, client->handle, DAFS_PROC_READ_INLINE, &args, NULL);
}

static dafs_status_t lease_close(struct lease_client *client)
{
	struct dafs_close_args args = {
		.filehandle = client->open.filehandle,
		.state_id = client->open.state_id,
	};

	return raw_call_as(client->conn, client->handle, DAFS_PROC_CLOSE, &args, NULL);
}

static dafs_status_t lease_downgrade(struct lease_client *client)
{
	struct dafs_open_downgrade_args args = {
		.filehandle = client->open.filehandle,
		.state_id = client->open.state_id,
		.share_access = DAFS_RD,
	};

	return raw_call_as(client->conn, client->handle, DAFS_PROC_OPEN_DOWNGRADE, &args, NULL);
}

static dafs_status_t lease_claim_delegation(struct lease_client *client, struct dafs_fixture *fix)
{
	struct dafs_open_args args = dafs_test_open_args("owner", DAFS_RW, 0);
	struct dafs_str name = dafs_test_str("file");

	args.claim_type = DAFS_CLAIM_DELEGATE_CUR;
	args.claimdelcur_stateid = client->open.state_id;
	args.dir_handle = fix->dir;
	args.pathname = (struct dafs_seq) { .count = 1, .elems = &name };
	return raw_call_as(client->conn, client->handle, DAFS_PROC_OPEN, &args, NULL);
}

/* A fixture with a file; its own client renews its lease. */
static struct dafs_fixture *lease_fixture(struct kunit *test, unsigned int seconds)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);

	dafs_backing_write(test, fix, "file", "data", 4);
	dafs_fixture_lease(test, fix, seconds);
	return fix;
}

/* Opens the file as soon as no other open denies this. */
static struct dafs_open_res lease_wait(struct kunit *test, struct dafs_fixture *fix)
{
	struct dafs_open_args args = dafs_test_open_args("other", DAFS_RW, 0);
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	struct dafs_open_res res = {};
	dafs_status_t status;

	do {
		status = dafs_try_open(test, fix, "file", &args, &res);
		msleep(20);
	} while (status == DAFSERR_DENIED && time_before(jiffies, end));
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, status);
	return res;
}

/*
 * R-4.4.1.2-15 R-6.1.6-03: a silent client keeps its opens for the time of its
 * lease, and no longer; its session ends.
 */
static void dafs_lease_silent_test(struct kunit *test)
{
	struct dafs_fixture *fix = lease_fixture(test, LEASE_SHORT);
	struct lease_client client;
	struct dafs_open_res res;
	unsigned long begin;

	lease_connect(test, &client, NULL, test->param_value);
	begin = jiffies;
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, lease_open(&client, fix, "file"));
	res = lease_wait(test, fix);
	KUNIT_EXPECT_GE(test, jiffies - begin, LEASE_SHORT * HZ);
	KUNIT_EXPECT_TRUE(test, raw_closed(client.conn, RAW_WAIT_MS));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &res));
}

/*
 * R-4.4.1.2-15, E-84: when the server's lease timer expires, without waiting for
 * it: at the latest after the lease time, and for a client that was silent then a
 * quarter of it later.
 */
static void dafs_lease_length_test(struct kunit *test)
{
	struct dafs_fixture *fix = lease_fixture(test, LEASE_LIVE);
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS), expires, now;
	struct lease_client client;
	struct dafsd_session *ses;
	struct dafsd_client *at;

	lease_connect(test, &client, NULL, test->param_value);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, lease_open(&client, fix, "file"));
	ses = dafsd_session_find(&dafsd_server, &client.login.res.connect.session_id);
	KUNIT_ASSERT_NOT_NULL(test, ses);
	at = ses->client;
	expires = READ_ONCE(at->lease_work.timer.expires);
	KUNIT_EXPECT_TRUE(test, delayed_work_pending(&at->lease_work));
	KUNIT_EXPECT_FALSE(test, time_after(expires, READ_ONCE(at->renewed) + LEASE_LIVE * HZ));
	while (!READ_ONCE(at->silent) && time_before(jiffies, end))
		msleep(20);
	now = jiffies;
	KUNIT_EXPECT_TRUE(test, READ_ONCE(at->silent));
	expires = READ_ONCE(at->lease_work.timer.expires);
	KUNIT_EXPECT_FALSE(test, time_after(expires, now + LEASE_LIVE * HZ / 4));
	dafsd_session_put(ses);
}

/*
 * Runs the server's lease check as often as it takes to give up a client that was silent
 * for so long.
 */
static bool lease_given_up(struct dafsd_client *client, unsigned long silent)
{
	WRITE_ONCE(client->renewed, jiffies - silent);
	flush_delayed_work(&client->lease_work);
	flush_delayed_work(&client->lease_work);
	return dafsd_client_is_discarded(client);
}

/*
 * A client that was silent for half of the lease keeps it, one that was for twice the
 * lease does not.
 */
static void dafs_lease_bounds_test(struct kunit *test)
{
	unsigned long lease = READ_ONCE(dafsd_lease_seconds) * HZ;
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	struct lease_client client;
	struct dafsd_session *ses;
	unsigned int i;
	bool gone;

	lease_connect(test, &client, NULL, NULL);
	ses = dafs_fixture_at_server(test, &client.login.res.connect.session_id);
	/* its last response may still be in flight, and renews the lease when it is sent */
	for (i = 0; i < 10; i++) {
		KUNIT_EXPECT_FALSE(test, lease_given_up(ses->client, lease / 2));
		msleep(20);
	}
	while (!(gone = lease_given_up(ses->client, 2 * lease)) && time_before(jiffies, end))
		msleep(20);
	KUNIT_EXPECT_TRUE(test, gone);
	/* the client may learn of it later, because it has just connected */
	KUNIT_EXPECT_FALSE(test, dafs_chan_is_open(ses->op->chan));
}

/* The client continues and finds that its lease has expired. */
static void lease_revive(struct kunit *test, struct lease_client *client)
{
	struct dafs_client_id was = client->login.res.connect.client_id;

	raw_close(test, client->conn);
	client->conn = raw_session(test, test->param_value, &client->login);
	KUNIT_EXPECT_MEMNEQ(test, was.b, client->login.res.connect.client_id.b, 8);
	DAFS_EXPECT_STATUS(test, DAFSERR_NO_CREDS, lease_read(client));
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_register(client->conn, 0, 0, client->handle));
}

/*
 * R-4.4.1.2-22 R-6.2.8-04, E-84: after it is back it has another client-id and no
 * credentials; its old state-id is EXPIRED, and unknown after another lease time.
 * The file is opened by another client meanwhile, and by this one again when that
 * is gone.
 */
static void dafs_lease_revived_test(struct kunit *test)
{
	struct dafs_fixture *fix = lease_fixture(test, LEASE_SHORT);
	unsigned long end;
	struct lease_client client;
	struct dafs_open_res res;
	dafs_status_t status;

	lease_connect(test, &client, NULL, test->param_value);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, lease_open(&client, fix, "file"));
	res = lease_wait(test, fix);
	/* time for the checks below */
	dafs_fixture_server_param(test, &dafsd_lease_seconds, 90);
	lease_revive(test, &client);
	DAFS_EXPECT_STATUS(test, DAFSERR_EXPIRED, lease_read(&client));
	DAFS_EXPECT_STATUS(test, DAFSERR_EXPIRED, lease_downgrade(&client));
	DAFS_EXPECT_STATUS(test, DAFSERR_EXPIRED, lease_close(&client));
	DAFS_EXPECT_STATUS(test, DAFSERR_EXPIRED, lease_claim_delegation(&client, fix));
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, lease_reclaim(&client));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &res));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, lease_reclaim(&client));

	dafs_fixture_server_param(test, &dafsd_lease_seconds, LEASE_SHORT);
	end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	do {
		status = lease_read(&client);
	} while (status == DAFSERR_EXPIRED && time_before(jiffies, end));
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_STATEID, status);
}

#define LEASE_LONG	86400	/* seconds: nothing is forgotten */

/* That state was revoked is remembered of so much of it only, and not for longer than a lease. */
static void dafs_lease_forgotten_test(struct kunit *test)
{
	struct dafs_fixture *fix = lease_fixture(test, LEASE_LONG);
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	struct lease_client client;
	struct dafs_open_res first;

	dafs_backing_write(test, fix, "other", "data", 4);
	lease_connect(test, &client, NULL, test->param_value);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, lease_open(&client, fix, "file"));
	first = client.open;
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, lease_open(&client, fix, "other"));
	dafs_fixture_server_param(test, &dafsd_states_max_expired,
				  READ_ONCE(dafsd_states_expired) + 1);
	KUNIT_ASSERT_EQ(test, 0, dafsd_client_end_id(&dafsd_server,
						     &client.login.res.connect.client_id));
	KUNIT_EXPECT_TRUE(test, raw_closed(client.conn, RAW_WAIT_MS));
	flush_workqueue(dafsd_timer_wq);
	lease_revive(test, &client);
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_STATEID, lease_read(&client));
	client.open = first;
	DAFS_EXPECT_STATUS(test, DAFSERR_EXPIRED, lease_read(&client));

	dafs_fixture_lease(test, fix, LEASE_SHORT);
	while (READ_ONCE(dafsd_states_expired) && time_before(jiffies, end)) {
		flush_delayed_work(&dafsd_states_forget_work);
		msleep(20);
	}
	KUNIT_EXPECT_EQ(test, 0, READ_ONCE(dafsd_states_expired));
}

#define LEASE_IDLE	8	/* sessions, at most */

/* An idle session of the real client with an open file, and its number of NULLs so far */
struct lease_idle {
	struct dafs_client *clnt;
	struct dafs_conn *conn;
	struct dafs_open_res open;
	u64 nulls;
	unsigned long since;
};

static u64 lease_nulls(struct dafs_client *clnt)
{
	u64 sums[DAFS_NR_STATS];

	dafs_stats_read(clnt->stats, DAFS_PROC_NULL, sums);
	return sums[DAFS_STAT_CALLS];
}

static void lease_idle_begin(struct kunit *test, struct dafs_fixture *fix, unsigned int nr,
			     const struct dafs_flavour *flavour, struct lease_idle *idle)
{
	struct dafs_open_args args = dafs_test_open_args("idle", DAFS_RD, 0);
	struct dafs_client_params params;

	dafs_fixture_client_params(flavour, &params, "idle %u", nr);
	idle->clnt = dafs_fixture_client(test, &params);
	dafs_client_set_lease(idle->clnt, LEASE_LIVE);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   dafs_test_open(test, idle->clnt, dafs_test_me(), &fix->dir, "file",
					  &args, &idle->open));
	idle->conn = dafs_conn_get(idle->clnt);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, idle->conn);
	idle->nulls = lease_nulls(idle->clnt);
	idle->since = jiffies;
}

/* Expects the same connection and open, and enough NULLs. */
static void lease_idle_end(struct kunit *test, struct lease_idle *idle)
{
	struct dafs_conn *conn = dafs_conn_get(idle->clnt);
	unsigned long idled = jiffies - idle->since;

	KUNIT_EXPECT_GT(test, (lease_nulls(idle->clnt) - idle->nulls) * LEASE_LIVE * HZ, idled);
	KUNIT_EXPECT_PTR_EQ(test, idle->conn, conn);
	if (!IS_ERR(conn))
		dafs_conn_put(conn);
	dafs_conn_put(idle->conn);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_try_read(test, idle->clnt, &idle->open.filehandle,
					 &idle->open.state_id));
}

/*
 * R-4.4.1.1-05 R-4.4.1.1-04 R-4.4.1.2-13 R-4.4.1.2-38: idle clients of every
 * flavour, for three lease times.
 */
static void dafs_lease_idle_test(struct kunit *test)
{
	struct dafs_fixture *fix = lease_fixture(test, LEASE_LIVE);
	char desc[KUNIT_PARAM_DESC_SIZE];
	const void *flavour = NULL;
	struct lease_idle *idle = kunit_kcalloc(test, LEASE_IDLE, sizeof(*idle), GFP_KERNEL);
	unsigned int i, nr = 0;

	KUNIT_ASSERT_NOT_NULL(test, idle);
	while (nr < LEASE_IDLE && (flavour = dafs_flavours_gen(flavour, desc))) {
		lease_idle_begin(test, fix, nr, flavour, &idle[nr]);
		nr++;
	}
	msleep(3 * LEASE_LIVE * MSEC_PER_SEC);
	for (i = 0; i < nr; i++)
		lease_idle_end(test, &idle[i]);
}

/*
 * R-2.4.3-11 R-4.4.1.2-14, E-89: refused requests renew the lease, too, and requests on
 * one session renew it for all sessions of the client.  R-3.1.2.3.1-01: the server
 * sends nothing of its own there.
 */
static void dafs_lease_any_request_test(struct kunit *test)
{
	struct dafs_fixture *fix = lease_fixture(test, LEASE_LIVE);
	struct lease_client talks, listens;
	unsigned long end;

	lease_connect(test, &listens, "two sessions", test->param_value);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, lease_open(&listens, fix, "file"));
	lease_connect(test, &talks, "two sessions", test->param_value);
	end = jiffies + 2 * LEASE_LIVE * HZ;
	while (time_before(jiffies, end)) {
		DAFS_EXPECT_STATUS(test, DAFSERR_NOTSUPP,
				   raw_call(talks.conn, DAFS_PROC_LAST + 1, NULL, NULL));
		msleep(50 * LEASE_LIVE);
	}
	KUNIT_EXPECT_NULL(test, raw_recv(listens.conn, 0));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, lease_read(&listens));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, lease_close(&listens));
}

/* A MKDIR, sent without waiting for the response */
static void lease_ask(struct dafs_fixture *fix, struct lease_client *client, u16 stream,
		      const char *name)
{
	struct dafs_create_args args = {
		.filehandle = fix->dir,
		.component = dafs_test_str(name),
		.obj_type = DAFS_TYPE_DIR,
	};
	struct dafs_req_hdr hdr = raw_hdr(client->conn, DAFS_PROC_CREATE);

	hdr.stream_id = stream;
	memcpy(hdr.cred_handle, client->handle, sizeof(hdr.cred_handle));
	raw_ask(client->conn, &hdr, &args);
}

/* A client with a pending request is not silent. */
static void dafs_lease_busy_test(struct kunit *test)
{
	struct dafs_fixture *fix = lease_fixture(test, LEASE_SHORT);
	struct lease_client client;
	struct raw_msg *msg;

	lease_connect(test, &client, NULL, test->param_value);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, lease_open(&client, fix, "file"));
	dafs_fixture_freeze(test, fix);
	lease_ask(fix, &client, 0, "new");
	KUNIT_EXPECT_NULL(test, raw_recv(client.conn, 3 * LEASE_SHORT * MSEC_PER_SEC));
	dafs_fixture_thaw(test, fix);
	msg = raw_recv(client.conn, RAW_WAIT_MS);
	KUNIT_EXPECT_NOT_NULL(test, msg);
	kfree(msg);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, lease_read(&client));
}

/* Whether the server still has the session, which was cut off without notice. */
static bool lease_has_session(const struct lease_client *client)
{
	struct dafsd_session *ses;

	ses = dafsd_session_find(&dafsd_server, &client->login.res.connect.session_id);
	if (ses)
		dafsd_session_put(ses);
	return ses;
}

/*
 * A session that was cut off ends, although its client has two others: one in
 * use, and one that is silent but not cut off.  No state is lost.
 */
static void dafs_lease_cut_test(struct kunit *test)
{
	struct dafs_fixture *fix = lease_fixture(test, LEASE_SHORT);
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	struct lease_client cut, talks, idle;

	lease_connect(test, &cut, "cut off", test->param_value);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, lease_open(&cut, fix, "file"));
	lease_connect(test, &idle, "cut off", test->param_value);
	lease_connect(test, &talks, "cut off", test->param_value);
	KUNIT_EXPECT_TRUE(test, lease_has_session(&cut));
	raw_cut(test, cut.conn);
	while (lease_has_session(&cut) && time_before(jiffies, end)) {
		DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
				   raw_call(talks.conn, DAFS_PROC_NULL, NULL, NULL));
		msleep(50 * LEASE_SHORT);
	}
	KUNIT_EXPECT_FALSE(test, lease_has_session(&cut));
	KUNIT_EXPECT_TRUE(test, lease_has_session(&idle));
	talks.open = cut.open;
	memcpy(talks.handle, cut.handle, sizeof(talks.handle));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, lease_read(&talks));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, lease_close(&talks));
}

static bool lease_wait_session(const struct lease_client *client)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);

	while (lease_has_session(client) && time_before(jiffies, end))
		msleep(20);
	return !lease_has_session(client);
}

/* The lease of a client that was cut off expires even if its requests are still running. */
static void dafs_lease_cut_busy_test(struct kunit *test)
{
	struct dafs_fixture *fix = lease_fixture(test, LEASE_SHORT);
	struct lease_client client;
	struct dafs_open_res res;

	lease_connect(test, &client, NULL, test->param_value);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, lease_open(&client, fix, "file"));
	dafs_fixture_freeze(test, fix);
	lease_ask(fix, &client, 0, "new");
	lease_ask(fix, &client, 1, "newer");
	raw_cut(test, client.conn);
	res = lease_wait(test, fix);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &res));
	KUNIT_EXPECT_TRUE(test, lease_has_session(&client));
	dafs_fixture_thaw(test, fix);
	KUNIT_EXPECT_TRUE(test, lease_wait_session(&client));
}

/* Maximum of clients; a quarter of them may be just ending. */
#define LEASE_GREEDY	48

static dafs_status_t lease_greedy(struct kunit *test, struct dafs_fixture *fix, unsigned int i,
				  struct lease_client *client)
{
	char name[16];
	dafs_status_t status;

	client->login.verifier = 1;
	client->conn = raw_connect_flavour(test, NULL, DAFS_CHANNEL_OPERATION);
	status = raw_login(client->conn, &client->login);
	if (status)
		return status;
	snprintf(name, sizeof(name), "file%u", i);
	dafs_backing_write(test, fix, name, "data", 4);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   raw_register(client->conn, 0, 0, client->handle));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, lease_open(client, fix, name));
	return status;
}

/* Many clients from one address leave room for one from another address. */
static void dafs_lease_greedy_test(struct kunit *test)
{
	const struct dafs_flavour six = { .ipv6 = true };
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct raw_login login = { .verifier = 1 };
	struct lease_client *clients;
	struct raw_conn *other;
	unsigned int nr = 0;
	dafs_status_t status;

	clients = kunit_kcalloc(test, LEASE_GREEDY + 1, sizeof(*clients), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, clients);
	raw_crowd_out(test);
	dafs_fixture_server_param(test, &dafsd_server.max_clients, LEASE_GREEDY);
	do {
		status = lease_greedy(test, fix, nr, &clients[nr]);
	} while (!status && ++nr <= LEASE_GREEDY);
	DAFS_EXPECT_STATUS(test, DAFSERR_RESOURCE, status);
	other = raw_connect_flavour(test, &six, DAFS_CHANNEL_OPERATION);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_login(other, &login));
	while (nr--)
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, lease_close(&clients[nr]));
}

static struct kunit_case dafs_lease_cases[] = {
	KUNIT_CASE_PARAM(dafs_lease_silent_test, dafs_flavours_gen),
	KUNIT_CASE_SLOW(dafs_lease_length_test),
	KUNIT_CASE(dafs_lease_bounds_test),
	KUNIT_CASE_PARAM(dafs_lease_revived_test, dafs_flavours_gen),
	KUNIT_CASE_SLOW(dafs_lease_forgotten_test),
	KUNIT_CASE_SLOW(dafs_lease_idle_test),
	KUNIT_CASE_SLOW(dafs_lease_any_request_test),
	KUNIT_CASE_SLOW(dafs_lease_busy_test),
	KUNIT_CASE_PARAM(dafs_lease_cut_test, dafs_flavours_gen),
	KUNIT_CASE_SLOW(dafs_lease_cut_busy_test),
	KUNIT_CASE(dafs_lease_greedy_test),
	{}
};

static struct kunit_suite dafs_lease_suite = {
	.name = "dafs_lease",
	.test_cases = dafs_lease_cases,
};

kunit_test_suite(dafs_lease_suite);
