// SPDX-License-Identifier: GPL-2.0
/* Limits of sessions and other resources, and the memory of an idle session. */
#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include "../../../../drivers/dafsd/session/server.h"
#include "../../../../drivers/dafsd/session/peer.h"
#include "../../../../drivers/dafsd/session/conn.h"
#include "../../../../drivers/dafsd/session/session.h"
#include "../../rpc/rpc_impl.h"
#include "../lib/raw.h"

static unsigned int sessions = 32;
module_param(sessions, uint, 0444);
MODULE_PARM_DESC(sessions, "sessions that the scale suite has at a time");

/* Number of sessions over which the memory is averaged */
#define SCALE_SAMPLE	16

/* Bytes of free memory. */
static s64 scale_free(void)
{
	struct sysinfo info;

	si_meminfo(&info);
	return (s64)info.freeram * info.mem_unit;
}

/* Clients in the same hash list are distinguished by their names. */
static void scale_expect_differ(struct kunit *test, struct dafs_client **clnt)
{
	struct dafs_client_id *ids = kunit_kcalloc(test, sessions, sizeof(*ids), GFP_KERNEL);
	unsigned int i, j, same = 0;

	KUNIT_ASSERT_NOT_NULL(test, ids);
	for (i = 0; i < sessions; i++) {
		ids[i] = dafs_test_client_id(test, clnt[i]);
		for (j = 0; j < i; j++)
			same += dafs_opaque64_equal(&ids[i], &ids[j]);
	}
	KUNIT_EXPECT_EQ(test, 0, same);
}

/* Many sessions of as many clients, all of which work. */
static void dafs_scale_sessions_test(struct kunit *test)
{
	struct dafs_client **clnt = kunit_kcalloc(test, sessions, sizeof(*clnt), GFP_KERNEL);
	struct dafs_client_params params;
	s64 before = scale_free();
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, clnt);
	for (i = 0; i < sessions; i++) {
		dafs_fixture_client_params(test->param_value, &params, "scale %u", i);
		params.max_requests = 2;
		params.msg_size = DAFS_FIRST_MSG_SIZE;
		clnt[i] = dafs_fixture_client(test, &params);
	}
	for (i = 0; i < sessions; i++)
		KUNIT_EXPECT_EQ(test, 0, dafs_null(clnt[i], dafs_test_me()));
	scale_expect_differ(test, clnt);
	kunit_info(test, "%u sessions with 2 requests of 4 KiB: %lld KiB each on both sides\n",
		   sessions, div_s64(before - scale_free(), sessions * SZ_1K));
}

static void scale_add_raw(struct kunit *test, struct raw_server *srv)
{
	struct raw_how how = { .type = DAFS_CHANNEL_OPERATION, .srv = srv };
	struct raw_login login = { .opts = { .max_requests = DAFS_IDLE_REQUESTS } };

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_login(raw_connect(test, &how), &login));
}

/* A session with the options of a mount. */
static void scale_add_client(struct kunit *test, struct raw_server *srv)
{
	struct dafs_client_params params = srv->params;

	params.max_requests = 64;
	dafs_fixture_client(test, &params);
}

/* KiB of memory of a connection, both ends together. */
static s64 scale_cost(struct kunit *test, struct raw_server *srv,
		      void (*add)(struct kunit *test, struct raw_server *srv))
{
	s64 before = scale_free();
	unsigned int i;

	for (i = 0; i < SCALE_SAMPLE; i++)
		add(test, srv);
	return div_s64(before - scale_free(), SCALE_SAMPLE * SZ_1K);
}

/*
 * Prints the memory of a session on each side with default options: measured with a
 * raw peer, which costs half of a connection between two raw peers.  Other users of
 * memory disturb the result; the exact limits are tested below.
 */
static void dafs_scale_memory_test(struct kunit *test)
{
	struct raw_server *srv = raw_server(test);
	s64 raw, client, server;

	scale_cost(test, srv, scale_add_raw);	/* memory that is only allocated once */
	raw = scale_cost(test, srv, scale_add_raw) / 2;
	server = scale_cost(test, NULL, scale_add_raw) - raw;
	client = scale_cost(test, srv, scale_add_client) - raw;
	kunit_info(test, "an idle session: client %lld KiB, server %lld KiB\n", client, server);
}

/* Bytes of message buffers */
static u64 scale_msg_bytes(struct dafs_chan *chan)
{
	struct dafs_msg *msg;
	u64 bytes = 0;

	spin_lock_irq(&chan->lock);
	list_for_each_entry(msg, &chan->msgs, node)
		bytes += msg->size;
	spin_unlock_irq(&chan->lock);
	return bytes;
}

/*
 * Resources of an idle session of a mount on both sides.  Devices round queue sizes
 * up to a power of two, so each is below 128.
 */
static void dafs_scale_idle_test(struct kunit *test)
{
	struct dafs_client_params params;
	struct dafsd_session *at_server;
	struct dafs_client *clnt;
	struct dafs_conn *conn;

	dafs_fixture_params(NULL, &params);
	params.max_requests = 64;
	params.msg_size = SZ_16K;
	clnt = dafs_fixture_client(test, &params);
	conn = dafs_conn_get(clnt);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, conn);
	at_server = dafs_fixture_at_server(test, &conn->session_id);
	KUNIT_EXPECT_LE(test, scale_msg_bytes(conn->op), 48 * SZ_1K);
	KUNIT_EXPECT_LE(test, scale_msg_bytes(at_server->op->chan), 72 * SZ_1K);
	KUNIT_EXPECT_LT(test, conn->op->limits.sq, 128);
	KUNIT_EXPECT_LT(test, at_server->op->chan->limits.sq +
			      at_server->op->chan->limits.rdma_wrs, 128);
	KUNIT_EXPECT_LE(test, conn->op->nr_mrs, 1);
	KUNIT_EXPECT_EQ(test, 0, at_server->op->chan->nr_rw_mrs);
	dafs_conn_put(conn);
}

/* The status of a CLIENT_CONNECT_AUTH; retries while sessions are ending. */
static dafs_status_t scale_login(struct raw_conn *conn, bool wait)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	struct raw_login login = {};
	dafs_status_t status;

	do {
		status = raw_login(conn, &login);
		if (wait && status == DAFSERR_RESOURCE)
			msleep(20);
	} while (wait && status == DAFSERR_RESOURCE && time_before(jiffies, end));
	return status;
}

/*
 * At the limit another session is refused with RESOURCE until one has ended; the
 * same connection may try again (E-45).
 */
static void dafs_scale_limit_test(struct kunit *test)
{
	struct raw_conn *conn[3];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(conn); i++)
		conn[i] = raw_connect_flavour(test, test->param_value, DAFS_CHANNEL_OPERATION);
	dafs_fixture_server_param(test, &dafsd_max_sessions, 2);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, scale_login(conn[0], true));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, scale_login(conn[1], true));
	DAFS_EXPECT_STATUS(test, DAFSERR_RESOURCE, scale_login(conn[2], false));
	DAFS_EXPECT_STATUS(test, DAFSERR_RESOURCE, scale_login(conn[2], false));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_call(conn[1], DAFS_PROC_NULL, NULL, NULL));
	raw_close(test, conn[0]);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, scale_login(conn[2], true));
}

/* Connections without a session are limited, too. */
static void dafs_scale_connections_test(struct kunit *test)
{
	struct dafs_client_params params;
	struct dafs_client *clnt;

	dafs_fixture_params(test->param_value, &params);
	dafs_fixture_server_param(test, &dafsd_max_sessions, 0);
	clnt = dafs_client_create(&params);
	KUNIT_EXPECT_PTR_EQ(test, ERR_PTR(-ENOMEM), clnt);
	if (!IS_ERR(clnt))
		dafs_client_put(clnt);
}

/* Makes connections and a session from an address, when those of other tests have ended */
static void scale_connect(struct kunit *test, bool ipv6, struct raw_conn **conn, unsigned int nr)
{
	struct raw_how how = { .ipv6 = ipv6, .type = DAFS_CHANNEL_OPERATION };
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	struct raw_login login = {};
	struct dafsd_peer *peer;
	unsigned int i;

	for (i = 0; i < nr; i++)
		conn[i] = raw_connect(test, &how);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_login(conn[0], &login));
	peer = dafs_fixture_at_server(test, &login.res.connect.session_id)->op->peer;
	while ((READ_ONCE(peer->conns) != nr || READ_ONCE(peer->sessions) != 1) &&
	       time_before(jiffies, end))
		msleep(20);
	KUNIT_ASSERT_EQ(test, nr, READ_ONCE(peer->conns));
	KUNIT_ASSERT_EQ(test, 1, READ_ONCE(peer->sessions));
}

/* One address may use only three quarters of each limit. */
static void dafs_scale_share_test(struct kunit *test)
{
	struct raw_conn *conn[12], *other[3];
	struct dafs_client_params params;
	struct dafs_client *clnt;
	unsigned int i;

	scale_connect(test, false, conn, ARRAY_SIZE(conn));
	scale_connect(test, true, other, ARRAY_SIZE(other));
	/* 16 connections, so 12 of each */
	dafs_fixture_server_param(test, &dafsd_max_sessions, 4);
	dafs_fixture_params(NULL, &params);
	clnt = dafs_client_create(&params);
	KUNIT_EXPECT_PTR_EQ(test, ERR_PTR(-ENOMEM), clnt);
	if (!IS_ERR(clnt))
		dafs_client_put(clnt);
	/* eight sessions, so six of each */
	dafs_fixture_server_param(test, &dafsd_max_sessions, 8);
	for (i = 1; i < 6; i++)
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, scale_login(conn[i], true));
	DAFS_EXPECT_STATUS(test, DAFSERR_RESOURCE, scale_login(conn[6], false));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, scale_login(other[1], false));
	DAFS_EXPECT_STATUS(test, DAFSERR_RESOURCE, scale_login(other[2], false));
}

#define SCALE_SILENT	12	/* connections, of which only these may be silent: */
#define SCALE_NEW	8

/* Silent connections are ended to make room for new ones, the oldest first. */
static void dafs_scale_silent_test(struct kunit *test)
{
	struct raw_conn *conn[SCALE_SILENT];
	unsigned int i;

	/* a quarter of the sessions, but at least SCALE_NEW */
	dafs_fixture_server_param(test, &dafsd_max_sessions, 4 * SCALE_NEW);
	for (i = 0; i < SCALE_SILENT; i++)
		conn[i] = raw_connect_flavour(test, test->param_value, DAFS_CHANNEL_OPERATION);
	for (i = 0; i < SCALE_SILENT - SCALE_NEW; i++)
		KUNIT_EXPECT_TRUE(test, raw_closed(conn[i], RAW_WAIT_MS));
	for (; i < SCALE_SILENT; i++)
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, scale_login(conn[i], true));
	/* connections that have logged in do not count */
	for (i = 0; i < SCALE_NEW; i++)
		raw_connect_flavour(test, test->param_value, DAFS_CHANNEL_OPERATION);
	for (i = SCALE_SILENT - SCALE_NEW; i < SCALE_SILENT; i++)
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
				   raw_call(conn[i], DAFS_PROC_NULL, NULL, NULL));
}

static dafs_status_t scale_open(struct raw_conn *conn, const struct dafs_fixture *fix,
				unsigned int nr)
{
	struct dafs_str name = dafs_test_str("file");
	char owner[600];	/* long, so that few opens are enough */
	struct dafs_open_args args;

	memset(owner, 'o', sizeof(owner));
	snprintf(owner, sizeof(owner), "%u", nr);
	args = dafs_test_open_args("", DAFS_OPEN_SHARE_ACCESS_READ, DAFS_OPEN_SHARE_DENY_NONE);
	args.owner = (struct dafs_str){ .len = sizeof(owner), .data = (u8 *)owner };
	args.dir_handle = fix->dir;
	args.pathname = (struct dafs_seq) { .count = 1, .elems = &name };
	return raw_call(conn, DAFS_PROC_OPEN, &args, NULL);
}

/* More than there is room for */
#define SCALE_OPENS	6000

/* Return: how many opens there is room for, as long as others leave that */
static unsigned int scale_open_all(struct raw_conn *conn, const struct dafs_fixture *fix,
				   unsigned int nr)
{
	while (nr < SCALE_OPENS && !scale_open(conn, fix, nr))
		nr++;
	return nr;
}

/* The opens of clients are limited by memory. */
static void dafs_scale_state_test(struct kunit *test)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct raw_login login = {}, after = {};
	struct raw_conn *conn = raw_session(test, NULL, &login);
	dafs_status_t status;
	unsigned int nr;

	dafs_backing_write(test, fix, "file", "data", 4);
	/* the clients of other tests use some of it, too, for the time of a lease */
	dafs_fixture_server_param(test, &dafsd_max_state, 6);
	nr = scale_open_all(conn, fix, 0);
	while (nr <= 50 && time_before(jiffies, end)) {
		msleep(20);
		nr = scale_open_all(conn, fix, nr);
	}
	DAFS_EXPECT_STATUS(test, DAFSERR_RESOURCE, scale_open(conn, fix, nr));
	KUNIT_EXPECT_GT(test, nr, 50);
	KUNIT_EXPECT_LT(test, nr, SCALE_OPENS);
	/* the state of the former instance is freed when the next one logs in */
	after.id = login.id;
	after.verifier = login.verifier + 1;
	conn = raw_session(test, NULL, &after);
	end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	do {
		status = scale_open(conn, fix, 0);
		msleep(20);
	} while (status == DAFSERR_RESOURCE && time_before(jiffies, end));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, status);
}

/* The server may still be freeing the clients of other tests. */
static dafs_status_t scale_register_retry(struct raw_conn *conn,
					  struct dafs_register_cred_args *args)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	struct dafs_register_cred_res res;
	dafs_status_t status;

	while ((status = raw_call(conn, DAFS_PROC_REGISTER_CRED, args, &res)) ==
	       DAFSERR_RESOURCE && time_before(jiffies, end))
		msleep(20);
	return status;
}

/*
 * The maximum of users with the maximum of groups exceeds the limit; a client at
 * another address still has room, because refused users take none.
 */
static void dafs_scale_creds_test(struct kunit *test)
{
	static const struct dafs_flavour elsewhere = { .ipv6 = true };
	struct raw_login login = { .opts.max_credentials = 1024 };
	struct raw_login others = { .opts.max_credentials = 1024 };
	struct raw_conn *conn, *other;
	s32 *gids = kunit_kcalloc(test, 1000, sizeof(*gids), GFP_KERNEL);
	struct dafs_register_cred_args args = {
		.cred_type = DAFS_CRED_ID,
		.uid = 1,
		.gid = 1,
		.groups = { .count = 1000, .elems = gids },
	};
	struct dafs_register_cred_res res;
	dafs_status_t status = DAFS_STATUS_OK;
	unsigned int nr;

	KUNIT_ASSERT_NOT_NULL(test, gids);
	/* what other tests have left counts for the limit until its lease is over */
	raw_end_clients("");
	conn = raw_session(test, NULL, &login);
	other = raw_session(test, &elsewhere, &others);
	dafs_fixture_server_param(test, &dafsd_max_state, 1);
	for (nr = 0; nr < 1024 && !status; nr++)
		status = raw_call(conn, DAFS_PROC_REGISTER_CRED, &args, &res);
	DAFS_EXPECT_STATUS(test, DAFSERR_RESOURCE, status);
	KUNIT_EXPECT_LT(test, nr, 300);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_call(conn, DAFS_PROC_NULL, NULL, NULL));
	for (nr = 0; nr < 100; nr++)
		DAFS_EXPECT_STATUS(test, DAFSERR_RESOURCE,
				   raw_call(conn, DAFS_PROC_REGISTER_CRED, &args, &res));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, scale_register_retry(other, &args));
}

static void scale_unlock(void *inode)
{
	inode_unlock(inode);
	iput(inode);
}

/* Memory counted for the data of a client's requests; waits until it is more than @before. */
static long scale_data(const struct dafsd_session *ses, long before)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	long bytes;

	do {
		bytes = atomic_long_read(&ses->op->peer->bytes[DAFSD_CHARGE_DATA]);
		if (bytes > before)
			break;
		msleep(20);
	} while (time_before(jiffies, end));
	return bytes;
}

/* A one-byte write is counted with the memory allocated for it. */
static void dafs_scale_data_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct raw_login login = {};
	struct raw_conn *conn = raw_session(test, NULL, &login);
	u8 *data = kunit_kzalloc(test, 1, GFP_KERNEL);
	u8 *msg = kunit_kzalloc(test, RAW_RECV_SIZE, GFP_KERNEL);
	struct dafs_direct_buf buf;
	struct dafs_write_direct_args args = {
		.byte_count = 1,
		.write_data_buffers = { .count = 1, .elems = &buf },
	};
	struct dafs_req_hdr hdr = raw_hdr(conn, DAFS_PROC_WRITE_DIRECT);
	struct dafsd_session *ses;
	struct raw_msg *answer;
	struct inode *inode;
	struct path path;
	long before;

	KUNIT_ASSERT_NOT_NULL(test, data);
	KUNIT_ASSERT_NOT_NULL(test, msg);
	ses = dafs_fixture_at_server(test, &login.res.connect.session_id);
	dafs_backing_write(test, fix, "file", "data", 4);
	dafs_backing_chmod(test, fix, "file", 0666);
	args.filehandle = dafs_test_lookup(test, fix, "file");
	buf = raw_expose(conn, data, 1);
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_path(fix, "file", &path));
	inode = d_inode(path.dentry);
	ihold(inode);
	path_put(&path);
	inode_lock(inode);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, scale_unlock, inode));
	before = atomic_long_read(&ses->op->peer->bytes[DAFSD_CHARGE_DATA]);
	KUNIT_ASSERT_EQ(test, 0, raw_send(conn, msg, raw_encode(conn, &hdr, &args, msg)));
	KUNIT_EXPECT_GE(test, scale_data(ses, before) - before, SZ_64K);
	kunit_release_action(test, scale_unlock, inode);
	answer = raw_recv(conn, RAW_WAIT_MS);
	KUNIT_EXPECT_NOT_NULL(test, answer);
	kfree(answer);
}

static struct kunit_case dafs_scale_cases[] = {
	KUNIT_CASE_SLOW(dafs_scale_memory_test),
	KUNIT_CASE(dafs_scale_idle_test),
	KUNIT_CASE_SLOW(dafs_scale_sessions_test),
	KUNIT_CASE_PARAM(dafs_scale_limit_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_scale_connections_test),
	KUNIT_CASE(dafs_scale_share_test),
	KUNIT_CASE(dafs_scale_silent_test),
	KUNIT_CASE(dafs_scale_state_test),
	KUNIT_CASE(dafs_scale_creds_test),
	KUNIT_CASE(dafs_scale_data_test),
	{}
};

static struct kunit_suite dafs_scale_suite = {
	.name = "dafs_scale",
	.test_cases = dafs_scale_cases,
};

kunit_test_suite(dafs_scale_suite);
