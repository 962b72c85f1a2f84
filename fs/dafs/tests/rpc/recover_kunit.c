// SPDX-License-Identifier: GPL-2.0
/*
 * Recovery of a client whose state the server has discarded (4.4.1.6, E-84):
 * the server's answers to its sessions, and how the client reclaims its state
 * before any other request is sent.
 */
#include <linux/delay.h>
#include <linux/slab.h>
#include <linux/dafs/stats.h>
#include "../../../../drivers/dafsd/session/courtesy.h"
#include "../../../../drivers/dafsd/session/server.h"
#include "../../../../drivers/dafsd/session/session.h"
#include "../../rpc/rpc_impl.h"
#include "../lib/raw.h"

/* The server: clients that it discards. */

/* A new instance of the client with this id replaces it (case C of 3.1.1.3). */
static void dafs_discard(struct kunit *test, const char *id, u64 verifier)
{
	struct raw_login login = { .id = id, .verifier = verifier };

	raw_close(test, raw_session(test, NULL, &login));
}

/* E-84: a session of a former instance gets STALE_CLIENTID and ends. */
static void dafs_discarded_session_test(struct kunit *test)
{
	struct raw_login login = { .id = "discarded", .verifier = 1 };
	struct raw_conn *conn = raw_session(test, test->param_value, &login);
	union dafs_args args = {};
	u8 handle[4];
	u32 proc;

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_register(conn, 1000, 1000, handle));
	dafs_discard(test, "discarded", 2);
	for (proc = DAFS_PROC_REGISTER_CRED; proc <= DAFS_PROC_LAST; proc++) {
		if (!dafs_proc_known(proc))
			continue;
		memset(&args, 0, sizeof(args));
		DAFS_EXPECT_STATUS(test, DAFSERR_STALE_CLIENTID,
				   raw_call(conn, proc, &args, NULL));
	}
	DAFS_EXPECT_STATUS(test, DAFSERR_STALE_CLIENTID,
			   raw_call_as(conn, handle, DAFS_PROC_GET_ROOT_HANDLE, NULL, NULL));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   raw_call(conn, DAFS_PROC_DISCONNECT, NULL, NULL));
}

/* The client-id of a CLIENT_CONNECT without a CLIENT_AUTH. */
static struct raw_conn *dafs_knock(struct kunit *test, const char *id,
				   struct dafs_client_id *client)
{
	struct raw_conn *conn = raw_connect_flavour(test, test->param_value, 0);
	struct raw_login login = { .id = id };
	struct dafs_client_connect_args args;
	struct dafs_client_connect_res res;

	raw_connect_args(&login, &args);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   raw_call(conn, DAFS_PROC_CLIENT_CONNECT, &args, &res));
	*client = res.client_id;
	return conn;
}

/*
 * E-45: a client that has not authenticated is forgotten, so that such clients
 * do not accumulate; one that has is known when it comes back, by R-6.2.8-03.
 */
static void dafs_unconfirmed_test(struct kunit *test)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	struct raw_login login = { .id = "confirmed" };
	struct dafs_client_id first, second, known;
	struct raw_conn *a, *b;

	a = dafs_knock(test, "knocking", &first);
	b = dafs_knock(test, "knocking", &second);
	KUNIT_EXPECT_MEMEQ(test, first.b, second.b, 8);
	raw_close(test, a);
	raw_close(test, b);
	do {
		raw_close(test, dafs_knock(test, "knocking", &second));
	} while (!memcmp(&first, &second, sizeof(first)) && time_before(jiffies, end));
	KUNIT_EXPECT_MEMNEQ(test, first.b, second.b, 8);

	raw_close(test, raw_session(test, test->param_value, &login));
	known = login.res.connect.client_id;
	raw_close(test, dafs_knock(test, "confirmed", &second));
	KUNIT_EXPECT_MEMEQ(test, known.b, second.b, 8);
	raw_session(test, test->param_value, &login);
	KUNIT_EXPECT_MEMEQ(test, known.b, login.res.connect.client_id.b, 8);
}

/* The client: sessions that recover. */

/**
 * struct recover_hook - recovery of a session, controlled by a test
 * @who: registered with the session
 * @test: the test
 * @calls: number of calls
 * @partial: recover() does not get back all that there was
 * @fail: number of calls that fail
 * @client_id: client-id of the connection of the last call
 * @opened: the open to reclaim, or an invalid handle
 * @how: how it was opened
 * @err: result of the reclaim
 * @hold_ms: how long the call takes
 * @held: the call waits for this, or NULL
 * @other: an operation that another task starts meanwhile
 * @clnt: the client
 * @others: number of these that have ended
 * @early: one ended before the recovery did
 * @entered: completed when it is called
 */
struct recover_hook {
	struct dafs_recoverer who;
	struct kunit *test;
	unsigned int calls;
	bool partial;
	unsigned int fail;
	struct dafs_client_id client_id;
	struct dafs_opened opened;
	struct dafs_open_how how;
	int err;
	unsigned int hold_ms;
	struct completion *held;
	struct work_struct other;
	struct dafs_client *clnt;
	atomic_t others;
	bool early;
	struct completion entered;
};

/* Longer than other mounts wait for a recovery that does not end */
#define RECOVER_HELD_MS	30000

static void recover_other(struct work_struct *work)
{
	struct recover_hook *hook = container_of(work, struct recover_hook, other);

	dafs_null(hook->clnt, NULL);
	atomic_inc(&hook->others);
}

static int recover_hook(struct dafs_recoverer *who, struct dafs_client *clnt,
			struct dafs_conn *conn)
{
	struct recover_hook *hook = container_of(who, struct recover_hook, who);

	hook->calls++;
	hook->client_id = conn->client_id;
	complete(&hook->entered);
	if (hook->hold_ms) {
		queue_work(system_unbound_wq, &hook->other);
		msleep(hook->hold_ms);
		hook->early = atomic_read(&hook->others);
	}
	if (hook->held)
		hook->early = !wait_for_completion_timeout(hook->held,
							   msecs_to_jiffies(RECOVER_HELD_MS));
	if (hook->how.access)
		hook->err = dafs_open_reclaim(clnt, conn, dafs_test_me(), &hook->opened.fh,
					      &hook->how, &hook->opened);
	if (hook->fail) {
		hook->fail--;
		return -ENOTCONN;
	}
	if (hook->partial)
		who->complete = false;
	return hook->err == -ENOTCONN ? hook->err : 0;
}

static struct recover_hook *recover_hook_make(struct kunit *test)
{
	struct recover_hook *hook = kunit_kzalloc(test, sizeof(*hook), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, hook);
	hook->test = test;
	init_completion(&hook->entered);
	INIT_WORK(&hook->other, recover_other);
	return hook;
}

static void recover_end(void *hook)
{
	struct recover_hook *h = hook;

	dafs_client_del_recoverer(h->clnt, &h->who);
}

static void recover_session_by(struct recover_hook *hook,
			       const struct dafs_client_params *params)
{
	hook->clnt = dafs_fixture_client(hook->test, params);
	hook->who.recover = recover_hook;
	dafs_client_add_recoverer(hook->clnt, &hook->who);
	KUNIT_ASSERT_EQ(hook->test, 0, kunit_add_action_or_reset(hook->test, recover_end, hook));
}

/* Makes a session of a separate client that recovers by @hook. */
static void recover_session(struct recover_hook *hook, const char *id)
{
	struct dafs_client_params params;

	dafs_fixture_client_params(hook->test->param_value, &params, "%s", id);
	recover_session_by(hook, &params);
}

static void recover_break(struct kunit *test, struct dafs_client *clnt)
{
	struct dafs_conn *conn = dafs_conn_get(clnt);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, conn);
	dafs_conn_failed(conn);
	dafs_conn_put(conn);
}

/* OPEN of the fixture's file, which recovery reclaims. */
static void recover_open(struct kunit *test, struct dafs_fixture *fix, struct recover_hook *hook)
{
	struct qstr name = dafs_test_qstr("file");

	hook->how = (struct dafs_open_how) {
		.owner = dafs_test_str(hook->held ? "another owner" : "owner"),
		.access = DAFS_OPEN_SHARE_ACCESS_READ,
		.deny = DAFS_OPEN_SHARE_DENY_NONE,
	};
	KUNIT_ASSERT_EQ(test, 0, dafs_open(hook->clnt, dafs_test_me(), &fix->dir, &name, &hook->how,
					   &hook->opened));
}

static dafs_status_t recover_read(struct kunit *test, struct recover_hook *hook)
{
	struct dafs_read_inline_args args = {
		.filehandle = hook->opened.fh,
		.state_id = hook->opened.state_id,
		.byte_count = 4,
	};

	return dafs_test_call(test, hook->clnt, dafs_test_me(), DAFS_PROC_READ_INLINE, &args, NULL);
}

/*
 * R-4.4.1.1-02 R-4.4.1.6-01, E-84: the server has discarded the client
 * of a session in use.  The next operation makes a new client-id and session,
 * reclaims the open, and succeeds.
 */
static void dafs_recover_stale_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct recover_hook *hook = recover_hook_make(test);
	struct dafs_client_id client;
	struct dafs_state_id state_id;

	dafs_backing_write(test, fix, "file", "data", 4);
	recover_session(hook, "stale");
	recover_open(test, fix, hook);
	client = dafs_test_client_id(test, hook->clnt);
	KUNIT_EXPECT_MEMEQ(test, client.b, hook->opened.client_id.b, 8);
	state_id = hook->opened.state_id;
	dafs_discard(test, "stale", 1);

	KUNIT_EXPECT_EQ(test, 0, dafs_null(hook->clnt, dafs_test_me()));
	KUNIT_EXPECT_EQ(test, 1, hook->calls);
	KUNIT_EXPECT_EQ(test, 0, hook->err);
	KUNIT_EXPECT_MEMNEQ(test, client.b, hook->client_id.b, 8);
	client = dafs_test_client_id(test, hook->clnt);
	KUNIT_EXPECT_MEMEQ(test, client.b, hook->client_id.b, 8);
	KUNIT_EXPECT_MEMEQ(test, client.b, hook->opened.client_id.b, 8);
	KUNIT_EXPECT_MEMNEQ(test, state_id.b, hook->opened.state_id.b, 8);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, recover_read(test, hook));
	KUNIT_EXPECT_EQ(test, 0, dafs_close(hook->clnt, dafs_test_me(), &hook->opened.fh,
					    &hook->opened.state_id));
}

/*
 * R-4.4.1.1-02, E-84: the lease of a silent client expires, then the client
 * continues.  The server has closed its connection; it reclaims its open on a new
 * one, and the old state-id is EXPIRED.
 */
static void dafs_recover_silent_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct recover_hook *hook = recover_hook_make(test);
	struct dafs_state_id state_id;

	dafs_backing_write(test, fix, "file", "data", 4);
	dafs_fixture_lease(test, fix, 1);
	dafs_fixture_server_param(test, &dafsd_courtesy_seconds, 0);
	recover_session(hook, "silent");
	disable_delayed_work_sync(&hook->clnt->keep);
	recover_open(test, fix, hook);
	state_id = hook->opened.state_id;
	KUNIT_ASSERT_TRUE(test, wait_for_completion_timeout(&hook->entered,
							    msecs_to_jiffies(RAW_WAIT_MS)));
	/* time for the checks below */
	dafs_fixture_server_param(test, &dafsd_lease_seconds, 90);
	KUNIT_EXPECT_EQ(test, 0, dafs_null(hook->clnt, dafs_test_me()));
	KUNIT_EXPECT_EQ(test, 0, hook->err);
	KUNIT_EXPECT_MEMNEQ(test, state_id.b, hook->opened.state_id.b, 8);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, recover_read(test, hook));
	hook->opened.state_id = state_id;
	DAFS_EXPECT_STATUS(test, DAFSERR_EXPIRED, recover_read(test, hook));
}

/* The stale client-id is detected by the first REGISTER_CRED of a user. */
static void dafs_recover_stale_cred_test(struct kunit *test)
{
	struct recover_hook *hook = recover_hook_make(test);

	recover_session(hook, "stale cred");
	KUNIT_EXPECT_EQ(test, 0, dafs_null(hook->clnt, dafs_test_me()));
	dafs_discard(test, "stale cred", 1);
	KUNIT_EXPECT_EQ(test, 0, dafs_null(hook->clnt, dafs_fixture_user(test, 1001, 1001)));
	KUNIT_EXPECT_EQ(test, 1, hook->calls);
}

/* If only the connection was lost, there is nothing to recover. */
static void dafs_recover_not_test(struct kunit *test)
{
	struct recover_hook *hook = recover_hook_make(test);

	recover_session(hook, "not stale");
	recover_break(test, hook->clnt);
	KUNIT_EXPECT_EQ(test, 0, dafs_null(hook->clnt, dafs_test_me()));
	KUNIT_EXPECT_EQ(test, 0, hook->calls);
}

/* R-5.2.5-07: requests of other tasks are not sent before recovery has ended. */
static void dafs_recover_first_test(struct kunit *test)
{
	struct recover_hook *hook = recover_hook_make(test);

	hook->hold_ms = RAW_QUIET_MS;
	recover_session(hook, "first");
	dafs_discard(test, "first", 1);
	KUNIT_EXPECT_EQ(test, 0, dafs_null(hook->clnt, NULL));
	KUNIT_EXPECT_FALSE(test, hook->early);
	flush_work(&hook->other);
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&hook->others));
	KUNIT_EXPECT_EQ(test, 1, hook->calls);
}

/* A recovery that loses its connection is repeated on a new one. */
static void dafs_recover_again_test(struct kunit *test)
{
	struct recover_hook *hook = recover_hook_make(test);

	hook->fail = 2;
	recover_session(hook, "again");
	dafs_discard(test, "again", 1);
	KUNIT_EXPECT_EQ(test, 0, dafs_null(hook->clnt, NULL));
	KUNIT_EXPECT_EQ(test, 3, hook->calls);
	recover_break(test, hook->clnt);
	KUNIT_EXPECT_EQ(test, 0, dafs_null(hook->clnt, NULL));
	KUNIT_EXPECT_EQ(test, 3, hook->calls);
}

/*
 * A mount whose file system does not answer delays the others only for a while; its
 * opens are reclaimed in the background.
 */
static void dafs_recover_held_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct recover_hook *held = recover_hook_make(test);
	struct recover_hook *hook = recover_hook_make(test);
	DECLARE_COMPLETION_ONSTACK(go_on);

	dafs_backing_write(test, fix, "file", "data", 4);
	held->held = &go_on;
	recover_session(held, "held");
	recover_open(test, fix, held);
	hook->who.recover = recover_hook;
	hook->clnt = held->clnt;
	dafs_client_add_recoverer(held->clnt, &hook->who);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, recover_end, hook));
	recover_open(test, fix, hook);
	dafs_discard(test, "held", 1);

	KUNIT_EXPECT_EQ(test, 0, dafs_null(held->clnt, NULL));
	KUNIT_EXPECT_EQ(test, 1, hook->calls);
	KUNIT_EXPECT_EQ(test, 0, hook->err);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, recover_read(test, hook));
	complete(&go_on);
	kunit_release_action(test, recover_end, held);
	kunit_release_action(test, recover_end, hook);
	KUNIT_EXPECT_EQ(test, 1, held->calls);
	KUNIT_EXPECT_FALSE(test, held->early);
	KUNIT_EXPECT_EQ(test, 0, held->err);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, recover_read(test, held));
}

/* How often a client has told its server that nothing more will be reclaimed */
static u64 recover_purges(const struct recover_hook *hook)
{
	u64 sums[DAFS_NR_STATS];

	dafs_stats_read(hook->clnt->stats, DAFS_PROC_DELEGPURGE, sums);
	return sums[DAFS_STAT_CALLS];
}

static void recover_expect_purges(struct kunit *test, const struct recover_hook *a,
				  const struct recover_hook *b, u64 want)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);

	while (recover_purges(a) + recover_purges(b) < want && time_before(jiffies, end))
		msleep(20);
	KUNIT_EXPECT_EQ(test, want, recover_purges(a) + recover_purges(b));
}

/*
 * Two mounts are one client to the server.  It is told that all was reclaimed when both have
 * got back what they had, also if one of them has missed a restart of the server.
 */
static void dafs_recover_complete_test(struct kunit *test)
{
	struct recover_hook *held = recover_hook_make(test);
	struct recover_hook *hook = recover_hook_make(test);
	DECLARE_COMPLETION_ONSTACK(go_on);
	u64 before;

	held->held = &go_on;
	recover_session(held, "complete");
	recover_session(hook, "complete");
	before = recover_purges(held) + recover_purges(hook);
	dafs_discard(test, "complete", 1);
	KUNIT_EXPECT_EQ(test, 0, dafs_null(hook->clnt, NULL));
	KUNIT_EXPECT_EQ(test, 0, dafs_null(held->clnt, NULL));
	dafs_discard(test, "complete", 2);
	KUNIT_EXPECT_EQ(test, 0, dafs_null(hook->clnt, NULL));
	KUNIT_EXPECT_EQ(test, 2, hook->calls);
	msleep(RAW_QUIET_MS);
	recover_expect_purges(test, hook, held, before);
	complete_all(&go_on);
	KUNIT_EXPECT_EQ(test, 0, dafs_null(held->clnt, NULL));
	recover_expect_purges(test, hook, held, before + 1);
	kunit_release_action(test, recover_end, held);
	kunit_release_action(test, recover_end, hook);
}

/* A mount that cannot get back all keeps the others from saying so. */
static void dafs_recover_partial_test(struct kunit *test)
{
	struct recover_hook *partial = recover_hook_make(test);
	struct recover_hook *hook = recover_hook_make(test);
	u64 before;

	partial->partial = true;
	recover_session(partial, "partial");
	recover_session(hook, "partial");
	before = recover_purges(partial) + recover_purges(hook);
	dafs_discard(test, "partial", 1);
	KUNIT_EXPECT_EQ(test, 0, dafs_null(partial->clnt, NULL));
	KUNIT_EXPECT_EQ(test, 0, dafs_null(hook->clnt, NULL));
	msleep(RAW_QUIET_MS);
	recover_expect_purges(test, hook, partial, before);
	partial->partial = false;
	dafs_discard(test, "partial", 2);
	KUNIT_EXPECT_EQ(test, 0, dafs_null(hook->clnt, NULL));
	KUNIT_EXPECT_EQ(test, 0, dafs_null(partial->clnt, NULL));
	recover_expect_purges(test, hook, partial, before + 1);
	kunit_release_action(test, recover_end, partial);
	kunit_release_action(test, recover_end, hook);
}

/* More work items than a workqueue executes at a time. */
#define RECOVER_CROWD	300

struct recover_waiter {
	struct work_struct work;
	struct completion *go_on;
};

/**
 * struct recover_crowd - work items that wait in the queue of a session
 * @waiter: the work items
 * @go_on: they wait for this
 */
struct recover_crowd {
	struct recover_waiter waiter[RECOVER_CROWD];
	struct completion go_on;
};

static void recover_waits(struct work_struct *work)
{
	wait_for_completion(container_of(work, struct recover_waiter, work)->go_on);
}

static void recover_crowd_end(void *data)
{
	struct recover_crowd *crowd = data;
	unsigned int i;

	complete_all(&crowd->go_on);
	for (i = 0; i < RECOVER_CROWD; i++)
		flush_work(&crowd->waiter[i].work);
	kvfree(crowd);
}

static void recover_crowd(struct recover_hook *hook)
{
	struct recover_crowd *crowd = kvzalloc(sizeof(*crowd), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(hook->test, crowd);
	init_completion(&crowd->go_on);
	for (i = 0; i < RECOVER_CROWD; i++) {
		crowd->waiter[i].go_on = &crowd->go_on;
		INIT_WORK(&crowd->waiter[i].work, recover_waits);
		queue_work(hook->clnt->commit_wq, &crowd->waiter[i].work);
	}
	KUNIT_ASSERT_EQ(hook->test, 0, kunit_add_action_or_reset(hook->test, recover_crowd_end,
								 crowd));
}

/* Work that waits for the session does not keep a recovery from starting. */
static void dafs_recover_crowd_test(struct kunit *test)
{
	struct recover_hook *hook = recover_hook_make(test);

	recover_session(hook, "crowd");
	recover_crowd(hook);
	dafs_discard(test, "crowd", 1);
	KUNIT_EXPECT_EQ(test, 0, dafs_null(hook->clnt, NULL));
	KUNIT_EXPECT_EQ(test, 1, hook->calls);
}

/**
 * struct recover_late - an operation in a queue of the client, which ends with it
 * @work: the operation
 * @clnt: the client
 * @begun: @work runs
 * @err: how the operation ended
 */
struct recover_late {
	struct work_struct work;
	struct dafs_client *clnt;
	struct completion begun;
	int err;
};

static void recover_late_work(struct work_struct *work)
{
	struct recover_late *late = container_of(work, struct recover_late, work);
	struct dafs_op op = { .proc = DAFS_PROC_NULL };

	complete(&late->begun);
	msleep(500);
	late->err = dafs_op_run(late->clnt, &op);
	dafs_op_end(&op);
}

/* The client and its session stay until its work queues are empty. */
static void dafs_recover_late_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct recover_late *late = kunit_kzalloc(test, sizeof(*late), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, late);
	late->clnt = dafs_fixture_client(test, &fix->params);
	init_completion(&late->begun);
	INIT_WORK(&late->work, recover_late_work);
	queue_work(late->clnt->commit_wq, &late->work);
	wait_for_completion(&late->begun);
	dafs_fixture_end_client(test, late->clnt);
	KUNIT_EXPECT_EQ(test, -EIO, late->err);
}

/* Servers of the test's own. */

/* Answers only the requests that set up sessions. */
static void recover_silent(struct raw_conn *conn, struct raw_msg *msg)
{
	struct dafs_req_hdr hdr;

	KUNIT_EXPECT_EQ(conn->test, 0, raw_get_hdr(conn, msg, &hdr));
	raw_serve_setup(conn, msg, &hdr);
}

static void recover_session_with(struct recover_hook *hook, struct raw_server *srv)
{
	recover_session_by(hook, &srv->params);
}

/* umount -f does not wait for a recovery, even if the server does not answer. */
static void dafs_recover_shutdown_test(struct kunit *test)
{
	struct recover_hook *hook = recover_hook_make(test);
	struct raw_server *srv = raw_server(test);
	unsigned long begin;

	srv->request = recover_silent;
	srv->params.timeo_ms = 60000;
	recover_session_with(hook, srv);
	hook->how.access = DAFS_OPEN_SHARE_ACCESS_READ;
	hook->how.owner = dafs_test_str("owner");
	srv->client_id.b[0]++;
	recover_break(test, hook->clnt);
	KUNIT_ASSERT_TRUE(test, wait_for_completion_timeout(&hook->entered,
							    msecs_to_jiffies(RAW_WAIT_MS)));
	begin = jiffies;
	dafs_client_shutdown(hook->clnt);
	kunit_release_action(test, recover_end, hook);
	dafs_fixture_end_client(test, hook->clnt);
	KUNIT_EXPECT_LT(test, jiffies_to_msecs(jiffies - begin), 30000);
	KUNIT_EXPECT_EQ(test, -ENOTCONN, hook->err);
}

/* How often a server was told that nothing more will be reclaimed; it answers only the first */
static atomic_t recover_told;

static void recover_told_once(struct raw_conn *conn, struct raw_msg *msg)
{
	struct dafs_req_hdr hdr;

	KUNIT_EXPECT_EQ(conn->test, 0, raw_get_hdr(conn, msg, &hdr));
	if (hdr.procedure != DAFS_PROC_DELEGPURGE)
		raw_serve_request(conn, msg);
	else if (atomic_inc_return(&recover_told) == 1)
		raw_answer(conn, &hdr, DAFS_STATUS_OK, 8, NULL);
}

static void recover_expect_told(struct kunit *test, int want)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);

	while (atomic_read(&recover_told) < want && time_before(jiffies, end))
		msleep(20);
	KUNIT_EXPECT_EQ(test, want, atomic_read(&recover_told));
}

/* A connection that is lost before the server knows that all was reclaimed */
static void dafs_recover_untold_test(struct kunit *test)
{
	struct recover_hook *hook = recover_hook_make(test);
	struct raw_server *srv = raw_server(test);

	atomic_set(&recover_told, 0);
	srv->request = recover_told_once;
	recover_session_with(hook, srv);
	recover_expect_told(test, 1);
	srv->client_id.b[0]++;
	recover_break(test, hook->clnt);
	recover_expect_told(test, 2);
	recover_break(test, hook->clnt);
	recover_expect_told(test, 3);
}

/* Sets up sessions, and then knows neither them nor their client. */
static void recover_forgetful(struct raw_conn *conn, struct raw_msg *msg)
{
	struct dafs_req_hdr hdr;

	KUNIT_EXPECT_EQ(conn->test, 0, raw_get_hdr(conn, msg, &hdr));
	if (!raw_serve_setup(conn, msg, &hdr))
		raw_answer(conn, &hdr, DAFSERR_STALE_CLIENTID, 8, NULL);
}

/*
 * With a server that forgets its clients at once, operations fail: neither does
 * an operation retry for ever, nor does the client reconnect without pauses.
 */
static void dafs_recover_never_test(struct kunit *test)
{
	struct recover_hook *hook = recover_hook_make(test);
	struct raw_server *srv = raw_server(test);
	struct dafs_client *soft;

	srv->request = recover_forgetful;
	recover_session_with(hook, srv);
	KUNIT_EXPECT_EQ(test, -EIO, dafs_null(hook->clnt, NULL));
	KUNIT_EXPECT_LE(test, READ_ONCE(srv->nr_conns), 6);
	/* a credential that cannot be registered: a soft session gives up */
	srv->params.soft = true;
	srv->params.retrans = 2;
	soft = dafs_fixture_client(test, &srv->params);
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT, dafs_null(soft, dafs_test_me()));
	KUNIT_EXPECT_LE(test, READ_ONCE(srv->nr_conns), 12);
	KUNIT_EXPECT_EQ(test, 0, hook->calls);
}

/* R-6.1.3-05: leases have moved, to nowhere, as there is no migration: the client goes on. */
static void dafs_recover_moved_test(struct kunit *test)
{
	struct recover_hook *hook = recover_hook_make(test);
	struct raw_server *srv = raw_server(test);
	int nulls = atomic_read(&srv->nulls);
	unsigned int n;

	srv->spec_cond = DAFS_SPCOND_LMOVED;
	recover_session_with(hook, srv);
	for (n = 0; n < 3; n++)
		KUNIT_EXPECT_EQ(test, 0, dafs_null(hook->clnt, dafs_test_me()));
	KUNIT_EXPECT_LE(test, nulls + 3, atomic_read(&srv->nulls));
	KUNIT_EXPECT_EQ(test, 1, srv->nr_conns);
}

/* E-38: a server that grants larger requests than were asked for */
static void dafs_grant_too_much_test(struct kunit *test)
{
	struct recover_hook *hook = recover_hook_make(test);
	struct raw_server *srv = raw_server(test);
	struct dafs_conn *conn;

	srv->opts.max_request_size = SZ_1M;
	recover_session_with(hook, srv);
	conn = dafs_conn_get(hook->clnt);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, conn);
	KUNIT_EXPECT_LE(test, conn->opts.max_request_size, srv->params.msg_size);
	KUNIT_EXPECT_EQ(test, conn->opts.max_request_size, conn->op->limits.send_size);
	dafs_conn_put(conn);
}

static struct kunit_case dafs_recover_cases[] = {
	KUNIT_CASE_PARAM(dafs_discarded_session_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_unconfirmed_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_recover_stale_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_recover_silent_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_recover_stale_cred_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_recover_not_test),
	KUNIT_CASE_PARAM(dafs_recover_first_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_recover_again_test),
	KUNIT_CASE_PARAM(dafs_recover_held_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_recover_complete_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_recover_partial_test),
	KUNIT_CASE(dafs_recover_crowd_test),
	KUNIT_CASE(dafs_recover_late_test),
	KUNIT_CASE(dafs_recover_shutdown_test),
	KUNIT_CASE(dafs_recover_untold_test),
	KUNIT_CASE(dafs_recover_never_test),
	KUNIT_CASE(dafs_recover_moved_test),
	KUNIT_CASE(dafs_grant_too_much_test),
	{}
};

static struct kunit_suite dafs_recover_suite = {
	.name = "dafs_recover",
	.test_cases = dafs_recover_cases,
};

kunit_test_suite(dafs_recover_suite);
