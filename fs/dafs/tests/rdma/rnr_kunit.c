// SPDX-License-Identifier: GPL-2.0
/*
 * The peer has no receive posted: for a moment, which must not matter, or for ever.
 * By 3.2.6 there is a receive for each message, so in all other tests the device's
 * RNR counter must stay the same.  Also the ACK timeout that the peer asks for.
 */
#include <linux/slab.h>
#include <rdma/ib_verbs.h>
#include "../../../../drivers/dafsd/session/peer.h"
#include "../../../../drivers/dafsd/session/server.h"
#include "../../../../drivers/dafsd/session/conn.h"
#include "../../../../drivers/dafsd/session/session.h"
#include "../../rpc/rpc_impl.h"
#include "../lib/raw.h"

static void rnr_put_conn(void *conn)
{
	dafs_conn_put(conn);
}

/* Waits until another message has found no receive. */
static void rnr_await(struct kunit *test, struct ib_device *dev, u64 before)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);

	while (dafs_test_rnr_naks(dev) == before && time_before(jiffies, end))
		schedule_timeout_uninterruptible(1);
	KUNIT_EXPECT_GT(test, dafs_test_rnr_naks(dev), before);
}

static struct raw_conn *rnr_session(struct kunit *test, u8 rnr_retry, u8 rnr_timer)
{
	struct raw_how how = {
		.type = DAFS_CHANNEL_OPERATION,
		.rnr_retry = rnr_retry,
		.recvs = 1,
		.rnr_timer = rnr_timer,
	};
	struct raw_conn *conn = raw_connect(test, &how);
	struct raw_login login = {};

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_login(conn, &login));
	return conn;
}

/* Gets a response, and then has no receive any more. */
static void rnr_use_up(struct kunit *test, struct raw_conn *conn)
{
	conn->hold = true;
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_call(conn, DAFS_PROC_NULL, NULL, NULL));
}

static void rnr_send_null(struct kunit *test, struct raw_conn *conn)
{
	struct dafs_req_hdr hdr = raw_hdr(conn, DAFS_PROC_NULL);
	u8 msg[DAFS_HDR_SIZE];

	KUNIT_ASSERT_EQ(test, 0, raw_send(conn, msg, raw_encode(conn, &hdr, NULL, msg)));
}

/* The server retries for a while, even if the client asks for no retries ... */
static void dafs_rnr_late_client_test(struct kunit *test)
{
	struct raw_conn *conn = rnr_session(test, 0, IB_RNR_TIMER_655_36);
	struct raw_msg *msg;
	u64 before;

	rnr_use_up(test, conn);
	before = dafs_test_rnr_naks(conn->id->device);
	rnr_send_null(test, conn);
	rnr_await(test, conn->id->device, before);
	raw_release(conn);
	msg = raw_recv(conn, RAW_WAIT_MS);
	KUNIT_EXPECT_NOT_NULL(test, msg);
	kfree(msg);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_call(conn, DAFS_PROC_NULL, NULL, NULL));
}

/* ... but not for ever, even if the client asks for that. */
static void dafs_rnr_never_client_test(struct kunit *test)
{
	struct raw_conn *conn = rnr_session(test, 7, IB_RNR_TIMER_010_24);

	rnr_use_up(test, conn);
	rnr_send_null(test, conn);
	KUNIT_EXPECT_TRUE(test, raw_closed(conn, RAW_WAIT_MS));
}

/* Starts a NULL of the client */
static struct dafs_call *rnr_call(struct kunit *test, struct dafs_conn *conn)
{
	struct dafs_call *call = dafs_call_alloc(GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, call);
	call->proc = DAFS_PROC_NULL;
	KUNIT_ASSERT_EQ(test, 0, dafs_call_start(conn->rq, call));
	return call;
}

static struct dafs_conn *rnr_conn(struct kunit *test, struct raw_server *srv, u8 rnr_timer)
{
	struct dafs_client *clnt;
	struct dafs_conn *conn;

	srv->recvs = 1;
	srv->rnr_timer = rnr_timer;
	clnt = dafs_fixture_client(test, &srv->params);
	conn = dafs_conn_get(clnt);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, conn);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, rnr_put_conn, conn));
	return conn;
}

/* The first call uses up the only receive of the server, the second finds none. */
static struct dafs_call *rnr_call_after(struct kunit *test, struct dafs_conn *conn,
					struct raw_conn *peer)
{
	struct dafs_call *call;

	KUNIT_ASSERT_NOT_NULL(test, peer);
	peer->hold = true;
	call = rnr_call(test, conn);
	KUNIT_EXPECT_EQ(test, 0, dafs_call_wait(call));
	dafs_call_put(call);
	return rnr_call(test, conn);
}

/* The same with a server, whose REP asks for no retries */
static void dafs_rnr_late_server_test(struct kunit *test)
{
	struct raw_server *srv = raw_server(test);
	struct dafs_conn *conn = rnr_conn(test, srv, IB_RNR_TIMER_655_36);
	struct raw_conn *peer = raw_accepted(srv, 0);
	u64 before = dafs_test_rnr_naks(conn->op->id->device);
	struct dafs_call *call = rnr_call_after(test, conn, peer);

	rnr_await(test, conn->op->id->device, before);
	raw_release(peer);
	KUNIT_EXPECT_EQ(test, 0, dafs_call_wait(call));
	dafs_call_put(call);
	KUNIT_EXPECT_TRUE(test, dafs_chan_is_open(conn->op));
}

static void dafs_rnr_never_server_test(struct kunit *test)
{
	struct raw_server *srv = raw_server(test);
	struct dafs_conn *conn = rnr_conn(test, srv, IB_RNR_TIMER_010_24);
	struct dafs_call *call = rnr_call_after(test, conn, raw_accepted(srv, 0));

	KUNIT_EXPECT_EQ(test, -ENOTCONN, dafs_call_wait(call));
	dafs_call_put(call);
	KUNIT_EXPECT_EQ(test, DAFS_CLOSE_CREDIT, conn->op->reason);
}

/*
 * An ACK timeout of 2.4 hours for each retry is not accepted: for so long the server
 * would keep the response to a dead client.
 */
static void dafs_rnr_ack_timeout_test(struct kunit *test)
{
	struct raw_how how = {
		.type = DAFS_CHANNEL_OPERATION,
		.ack_timeout = 31,
	};
	struct raw_conn *conn = raw_connect(test, &how);
	struct ib_qp_init_attr init;
	struct raw_login login = {};
	struct dafsd_session *ses;
	struct ib_qp_attr attr;

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_login(conn, &login));
	ses = dafsd_session_find(&dafsd_server, &login.res.connect.session_id);
	KUNIT_ASSERT_NOT_NULL(test, ses);
	KUNIT_EXPECT_EQ(test, 0, ib_query_qp(ses->op->chan->qp, &attr, IB_QP_TIMEOUT, &init));
	dafsd_session_put(ses);
	KUNIT_EXPECT_GE(test, attr.timeout, 1);
	KUNIT_EXPECT_LE(test, attr.timeout, 20);
}

static struct kunit_case dafs_rnr_cases[] = {
	KUNIT_CASE(dafs_rnr_late_client_test),
	KUNIT_CASE(dafs_rnr_never_client_test),
	KUNIT_CASE(dafs_rnr_late_server_test),
	KUNIT_CASE(dafs_rnr_never_server_test),
	KUNIT_CASE(dafs_rnr_ack_timeout_test),
	{}
};

static struct kunit_suite dafs_rnr_suite = {
	.name = "dafs_rnr",
	.test_cases = dafs_rnr_cases,
};

kunit_test_suite(dafs_rnr_suite);
