// SPDX-License-Identifier: GPL-2.0
/*
 * The client with a server that records what it receives: how the client sets up and
 * ends a session, and how it continues after short reads and writes.
 */
#include <linux/delay.h>
#include <linux/slab.h>
#include "../../rpc/rpc_impl.h"
#include "../lib/io_test.h"
#include "../lib/raw.h"

#define RECORD_MAX	16
#define RECORD_WAIT_MS	150	/* a client that does not wait would send by then */
#define RECORD_FILE	SZ_64K

/**
 * struct client_record - what a server has seen, and how it behaves
 * @test: the test
 * @srv: the server
 * @lock: guards @nr, @proc, @users and @longest
 * @nr: requests received on all channels
 * @proc: procedures of the first requests
 * @users: number of those with the credential that raw_serve_request() registered
 * @opts: options of the last login
 * @auth_type: authentication type of the last login
 * @others: channels bound with another authentication type
 * @cuts: number of connections to disconnect at the first NULL
 * @verifier: client_verifier of the last login
 * @hasty: requests that came before the previous one was answered
 * @gone: channels already disconnected when DISCONNECT came
 * @longest: length of the longest request
 * @calls: READs and WRITEs
 * @most: maximum bytes moved by one READ or WRITE; 0 for no limit
 * @delays: how many of them are answered with DELAY first
 * @direct: status for direct requests
 * @more: bytes that each response claims in addition to what was requested
 * @weaker: report a lower stability level than requested
 * @changes: the verifier changes with each response
 * @file: the data
 */
struct client_record {
	struct kunit *test;
	struct raw_server *srv;
	spinlock_t lock;	/* see above */
	unsigned int nr;
	u32 proc[RECORD_MAX];
	unsigned int users;
	struct dafs_connect_opts opts;
	u32 auth_type;
	unsigned int others;
	unsigned int cuts;
	struct dafs_verifier verifier;
	unsigned int hasty;
	unsigned int gone;
	u32 longest;
	unsigned int calls;
	u32 most;
	unsigned int delays;
	dafs_status_t direct;
	u32 more;
	bool weaker;
	bool changes;
	u8 *file;
};

static unsigned int record_note(struct client_record *rec, const struct raw_msg *msg,
				const struct dafs_req_hdr *hdr)
{
	unsigned int nr;

	spin_lock(&rec->lock);
	nr = ++rec->nr;
	if (nr <= RECORD_MAX)
		rec->proc[nr - 1] = hdr->procedure;
	rec->users += !memcmp(hdr->cred_handle, "one", sizeof(hdr->cred_handle));
	rec->longest = max(rec->longest, msg->len);
	spin_unlock(&rec->lock);
	return nr;
}

static unsigned int record_count(struct client_record *rec, u32 proc)
{
	unsigned int i, count = 0;

	for (i = 0; i < min(rec->nr, RECORD_MAX); i++)
		count += rec->proc[i] == proc;
	return count;
}

static union dafs_args *record_args(struct raw_conn *conn, const struct raw_msg *msg,
				    const struct dafs_req_hdr *hdr)
{
	struct dafs_buf buf = { .base = (u8 *)msg->data, .len = hdr->len, .swab = conn->swab };
	union dafs_args *args = kzalloc(sizeof(*args), GFP_KERNEL);

	KUNIT_EXPECT_NOT_NULL(conn->test, args);
	if (args)
		KUNIT_EXPECT_EQ(conn->test, 0, dafs_decode_args(&buf, hdr->procedure, args));
	return args;
}

static bool record_requests_wait(struct raw_conn *conn)
{
	unsigned long flags;
	bool wait;

	spin_lock_irqsave(&conn->lock, flags);
	wait = !list_empty(&conn->requests);
	spin_unlock_irqrestore(&conn->lock, flags);
	return wait;
}

static void record_auth(struct client_record *rec, const union dafs_args *args, u32 proc)
{
	if (proc == DAFS_PROC_CONNECT_BIND) {
		rec->others += args->connect_bind.auth_req.auth_type != rec->auth_type;
		return;
	}
	rec->opts = args->client_connect_auth.connect.opts;
	rec->verifier = args->client_connect_auth.connect.client_verifier;
	rec->auth_type = args->client_connect_auth.auth_req.auth_type;
}

/* The client must send nothing on any channel until this request is answered. */
static void record_setup(struct client_record *rec, struct raw_conn *conn,
			 const struct raw_msg *msg, const struct dafs_req_hdr *hdr,
			 unsigned int nr)
{
	unsigned int conns = READ_ONCE(rec->srv->nr_conns);
	union dafs_args *args;

	msleep(RECORD_WAIT_MS);
	if (record_requests_wait(conn) || READ_ONCE(rec->nr) != nr ||
	    READ_ONCE(rec->srv->nr_conns) != conns)
		rec->hasty++;
	args = record_args(conn, msg, hdr);
	if (args)
		record_auth(rec, args, hdr->procedure);
	kfree(args);
}

static void record_leave(struct client_record *rec)
{
	struct raw_conn *conn;

	msleep(RECORD_WAIT_MS);
	spin_lock(&rec->srv->lock);
	list_for_each_entry(conn, &rec->srv->conns, node)
		rec->gone += READ_ONCE(conn->closed);
	spin_unlock(&rec->srv->lock);
}

static u32 record_part(struct client_record *rec, u64 offset, u32 count)
{
	if (rec->most)
		count = min(count, rec->most);
	return offset < RECORD_FILE ? min_t(u64, count, RECORD_FILE - offset) : 0;
}

static void record_read(struct client_record *rec, const struct dafs_read_inline_args *args,
			struct dafs_read_inline_res *res)
{
	*res = (struct dafs_read_inline_res) {
		.bytes_read = record_part(rec, args->offset, args->byte_count) + rec->more,
		.read_data = rec->file + args->offset,
	};
	res->eof = args->offset + res->bytes_read >= RECORD_FILE;
}

static void record_written(struct client_record *rec, u32 count, struct dafs_write_res *res)
{
	*res = (struct dafs_write_res) {
		.count = count + rec->more,
		.committed = rec->weaker ? DAFS_UNSTABLE : DAFS_FILE_SYNC,
		.verifier.b[0] = rec->changes ? rec->calls : 0,
	};
}

static void record_write(struct client_record *rec, const struct dafs_write_inline_args *args,
			 struct dafs_write_res *res)
{
	u32 count = record_part(rec, args->offset, args->byte_count);

	memcpy(rec->file + args->offset, args->data, count);
	record_written(rec, count, res);
}

/* Transfers no data, whatever the response says. */
static void record_direct(struct client_record *rec, const struct dafs_req_hdr *hdr,
			  const union dafs_args *args, union dafs_res *res)
{
	if (hdr->procedure == DAFS_PROC_READ_DIRECT)
		res->read_direct.bytes_read = args->read_direct.byte_count + rec->more;
	else
		record_written(rec, args->write_direct.byte_count, &res->write);
}

/* READ and WRITE.  Return: DAFS status. */
static dafs_status_t record_io(struct client_record *rec, struct raw_conn *conn,
			       const struct raw_msg *msg, const struct dafs_req_hdr *hdr,
			       union dafs_res *res)
{
	bool direct = hdr->procedure == DAFS_PROC_READ_DIRECT ||
		      hdr->procedure == DAFS_PROC_WRITE_DIRECT;
	union dafs_args *args;

	rec->calls++;
	if (direct && rec->direct)
		return rec->direct;
	if (rec->delays) {
		rec->delays--;
		return DAFSERR_DELAY;
	}
	args = record_args(conn, msg, hdr);
	if (!args)
		return DAFSERR_SERVERFAULT;
	if (direct)
		record_direct(rec, hdr, args, res);
	else if (hdr->procedure == DAFS_PROC_READ_INLINE)
		record_read(rec, &args->read_inline, &res->read_inline);
	else
		record_write(rec, &args->write_inline, &res->write);
	kfree(args);
	return DAFS_STATUS_OK;
}

static void record_serve_io(struct client_record *rec, struct raw_conn *conn,
			    const struct raw_msg *msg, const struct dafs_req_hdr *hdr)
{
	union dafs_res *res = kzalloc(sizeof(*res), GFP_KERNEL);
	dafs_status_t status;

	KUNIT_EXPECT_NOT_NULL(rec->test, res);
	if (!res)
		return;
	status = record_io(rec, conn, msg, hdr, res);
	raw_answer(conn, hdr, status, conn->srv->opts.max_requests, status ? NULL : res);
	kfree(res);
}

static void record_request(struct raw_conn *conn, struct raw_msg *msg)
{
	struct client_record *rec = conn->srv->priv;
	struct dafs_req_hdr hdr;
	unsigned int nr;

	KUNIT_EXPECT_EQ(rec->test, 0, raw_get_hdr(conn, msg, &hdr));
	nr = record_note(rec, msg, &hdr);
	switch (hdr.procedure) {
	case DAFS_PROC_CLIENT_CONNECT_AUTH:
	case DAFS_PROC_CONNECT_BIND:
		record_setup(rec, conn, msg, &hdr, nr);
		break;
	case DAFS_PROC_DISCONNECT:
		record_leave(rec);
		break;
	case DAFS_PROC_READ_INLINE:
	case DAFS_PROC_READ_DIRECT:
	case DAFS_PROC_WRITE_INLINE:
	case DAFS_PROC_WRITE_DIRECT:
		record_serve_io(rec, conn, msg, &hdr);
		return;
	}
	raw_serve_request(conn, msg);
}

static struct client_record *client_record(struct kunit *test)
{
	struct client_record *rec = kunit_kzalloc(test, sizeof(*rec), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, rec);
	rec->file = kunit_kzalloc(test, RECORD_FILE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, rec->file);
	rec->test = test;
	rec->direct = DAFSERR_NOTSUPP;
	spin_lock_init(&rec->lock);
	rec->srv = raw_server(test);
	rec->srv->priv = rec;
	rec->srv->request = record_request;
	return rec;
}

/* A server that agrees to all channels, and a client that asks for them. */
static void record_all_channels(struct client_record *rec)
{
	rec->srv->params.rdma_read = true;
	rec->srv->params.back_control = true;
	rec->srv->opts.use_rdma_read_channel = 1;
	rec->srv->opts.use_back_control_channel = 1;
}

/* R-6.2.5-03: all channels are bound with the authentication type of the login. */
static void record_setup_as(struct kunit *test, u32 auth_type)
{
	struct client_record *rec = client_record(test);

	record_all_channels(rec);
	rec->srv->params.auth_type = auth_type;
	KUNIT_EXPECT_EQ(test, 0, dafs_null(dafs_fixture_client(test, &rec->srv->params), NULL));
	KUNIT_EXPECT_EQ(test, auth_type, rec->auth_type);
	KUNIT_EXPECT_EQ(test, 2, record_count(rec, DAFS_PROC_CONNECT_BIND));
	KUNIT_EXPECT_EQ(test, 0, rec->others);
}

static void dafs_client_bind_test(struct kunit *test)
{
	record_setup_as(test, DAFS_AUTH_NONE);
	record_setup_as(test, DAFS_AUTH_DEFAULT);
}

/* R-E.9-04: all channels of a session have the same id, different from other sessions. */
static void record_expect_session(struct client_record *rec)
{
	const struct raw_conn *op = raw_accepted(rec->srv, 0), *other;
	unsigned int i;

	for (i = 1; i < 3; i++) {
		other = raw_accepted(rec->srv, i);
		KUNIT_ASSERT_NOT_NULL(rec->test, other);
		KUNIT_EXPECT_MEMEQ(rec->test, op->disc.client_session, other->disc.client_session,
				   sizeof(op->disc.client_session));
	}
}

/*
 * R-3.1.2.3.2-02 R-3.1.2.3.2-03 R-3.1.2.3.2-04: one message at a time during setup;
 * channels are bound after the login and before the first operation
 */
static void dafs_client_setup_test(struct kunit *test)
{
	static const u32 procs[] = {
		DAFS_PROC_CLIENT_CONNECT_AUTH, DAFS_PROC_CONNECT_BIND, DAFS_PROC_CONNECT_BIND,
		DAFS_PROC_NULL,
	};
	struct client_record *rec = client_record(test);
	unsigned int i;

	record_all_channels(rec);
	KUNIT_EXPECT_EQ(test, 0, dafs_null(dafs_fixture_client(test, &rec->srv->params), NULL));
	KUNIT_EXPECT_EQ(test, 0, rec->hasty);
	KUNIT_EXPECT_EQ(test, 3, READ_ONCE(rec->srv->nr_conns));
	record_expect_session(rec);
	KUNIT_ASSERT_EQ(test, ARRAY_SIZE(procs), rec->nr);
	for (i = 0; i < ARRAY_SIZE(procs); i++)
		KUNIT_EXPECT_STREQ(test, dafs_proc_name(procs[i]), dafs_proc_name(rec->proc[i]));
}

/* R-3.1.2.3.4-01 R-3.1.2.3.4.1-02: a channel that the server refuses is not made */
static void dafs_client_refused_test(struct kunit *test)
{
	struct client_record *rec = client_record(test);
	struct dafs_client *clnt;
	struct dafs_conn *conn;

	rec->srv->params.rdma_read = true;
	rec->srv->params.back_control = true;
	clnt = dafs_fixture_client(test, &rec->srv->params);
	KUNIT_EXPECT_EQ(test, 1, rec->opts.use_rdma_read_channel);
	KUNIT_EXPECT_EQ(test, 1, rec->opts.use_back_control_channel);
	KUNIT_EXPECT_EQ(test, 0, dafs_null(clnt, NULL));
	conn = dafs_conn_get(clnt);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, conn);
	KUNIT_EXPECT_NULL(test, conn->rr);
	KUNIT_EXPECT_NULL(test, conn->bc);
	dafs_conn_put(conn);
	KUNIT_EXPECT_EQ(test, 0, record_count(rec, DAFS_PROC_CONNECT_BIND));
	KUNIT_EXPECT_EQ(test, 1, READ_ONCE(rec->srv->nr_conns));

	rec->srv->params.rdma_read = false;
	dafs_fixture_client(test, &rec->srv->params);
	KUNIT_EXPECT_EQ(test, 0, rec->opts.use_rdma_read_channel);
}

/* R-E.3-02 R-E.5.4-01: the client disconnects after the DISCONNECT response, not before */
static void dafs_client_goodbye_test(struct kunit *test)
{
	struct client_record *rec = client_record(test);
	struct dafs_client *clnt;
	unsigned int i;

	record_all_channels(rec);
	clnt = dafs_fixture_client(test, &rec->srv->params);
	KUNIT_EXPECT_EQ(test, 0, record_count(rec, DAFS_PROC_DISCONNECT));
	dafs_fixture_end_client(test, clnt);
	KUNIT_EXPECT_EQ(test, 1, record_count(rec, DAFS_PROC_DISCONNECT));
	KUNIT_EXPECT_EQ(test, 0, rec->gone);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_TRUE(test, raw_closed(raw_accepted(rec->srv, i), RAW_WAIT_MS));
}

/* R-E.5.3.1.1-01: service id, port space, queue pair and private data of a REQ */
static void dafs_client_req_test(struct kunit *test)
{
	struct client_record *rec = client_record(test);
	struct sockaddr *addr = (struct sockaddr *)&rec->srv->params.dst;
	u16 port = ntohs(((struct sockaddr_in *)addr)->sin_port);
	struct dafs_conn *conn;
	struct raw_conn *peer;

	conn = dafs_conn_get(dafs_fixture_client(test, &rec->srv->params));
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, conn);
	peer = raw_accepted(rec->srv, 0);
	KUNIT_ASSERT_NOT_NULL(test, peer);
	KUNIT_EXPECT_EQ(test, conn->op->qp->qp_num, peer->peer_qp);
	KUNIT_EXPECT_EQ(test, IB_QPT_RC, conn->op->qp->qp_type);
	KUNIT_EXPECT_EQ(test, IB_QPT_RC, peer->id->qp_type);
	KUNIT_EXPECT_EQ(test, 0x0000000001060000ULL + port,
			be64_to_cpu(rdma_get_service_id(conn->op->id, addr)));
	KUNIT_EXPECT_GE(test, peer->disc_len, sizeof(peer->disc));
	KUNIT_EXPECT_EQ(test, DAFS_REQUEST_MAGIC, dafs_get32(&peer->disc.magic, false));
	dafs_conn_put(conn);
}

/* R-4.1.3.2-01: a user is registered once; then only its handle is sent */
static void dafs_client_cred_test(struct kunit *test)
{
	struct client_record *rec = client_record(test);
	const struct cred *user = dafs_fixture_user(test, 1000, 2000);
	struct dafs_client *clnt = dafs_fixture_client(test, &rec->srv->params);
	unsigned int i;

	for (i = 0; i < 5; i++)
		KUNIT_EXPECT_EQ(test, 0, dafs_null(clnt, user));
	KUNIT_EXPECT_EQ(test, 1, record_count(rec, DAFS_PROC_REGISTER_CRED));
	KUNIT_EXPECT_EQ(test, 5, record_count(rec, DAFS_PROC_NULL));
	KUNIT_EXPECT_EQ(test, 5, rec->users);
}

static bool record_cuts(struct client_record *rec, const struct raw_conn *conn)
{
	unsigned int i;

	for (i = 0; i < rec->cuts; i++)
		if (conn == raw_accepted(rec->srv, i))
			return true;
	return false;
}

/* The server answers, but the connection has already been cut. */
static void record_silent(struct raw_conn *conn, struct raw_msg *msg)
{
	struct client_record *rec = conn->srv->priv;
	struct dafs_req_hdr hdr;

	KUNIT_EXPECT_EQ(rec->test, 0, raw_get_hdr(conn, msg, &hdr));
	if (hdr.procedure == DAFS_PROC_NULL) {
		record_note(rec, msg, &hdr);
		if (record_cuts(rec, conn)) {
			raw_cut(rec->test, conn);
			return;
		}
	}
	raw_serve_request(conn, msg);
}

/*
 * A request without a response when the connection ends is sent again on a new
 * connection, and only there; R-6.1.1.5-03: in the same byte order
 */
static void dafs_client_once_test(struct kunit *test)
{
	struct client_record *rec = client_record(test);
	struct dafs_client *clnt;

	rec->cuts = 1;
	rec->srv->request = record_silent;
	rec->srv->params.timeo_ms = 1000;
	rec->srv->params.swab = true;
	clnt = dafs_fixture_client(test, &rec->srv->params);
	KUNIT_EXPECT_EQ(test, 0, dafs_null(clnt, NULL));
	KUNIT_EXPECT_EQ(test, 2, READ_ONCE(rec->srv->nr_conns));
	KUNIT_EXPECT_TRUE(test, raw_accepted(rec->srv, 0)->swab);
	KUNIT_EXPECT_TRUE(test, raw_accepted(rec->srv, 1)->swab);
	KUNIT_EXPECT_EQ(test, 2, rec->nr);
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&rec->srv->nulls));
}

/* A hard session retries after each lost connection; a soft one does not. */
static void dafs_client_hard_test(struct kunit *test)
{
	struct client_record *rec = client_record(test);
	struct dafs_client_params *params = &rec->srv->params;

	rec->cuts = 3;
	rec->srv->request = record_silent;
	params->timeo_ms = 1000;
	params->retrans = 1;
	params->soft = false;
	KUNIT_EXPECT_EQ(test, 0, dafs_null(dafs_fixture_client(test, params), NULL));
	KUNIT_EXPECT_EQ(test, 4, READ_ONCE(rec->srv->nr_conns));
	rec->cuts = 7;
	params->soft = true;
	KUNIT_EXPECT_NE(test, 0, dafs_null(dafs_fixture_client(test, params), NULL));
}

static const struct dafs_fh record_fh = { .fshandle = "export", .fileid = "file" };

static struct dafs_test_file *record_file(struct client_record *rec)
{
	return dafs_test_file(rec->test, dafs_fixture_client(rec->test, &rec->srv->params),
			      &record_fh);
}

/* R-6.5.27-06: a short read is continued; EOF is what the server reports */
static void dafs_client_short_read_test(struct kunit *test)
{
	struct client_record *rec = client_record(test);
	struct dafs_test_file *file = record_file(rec);
	u8 *buf = kunit_kzalloc(test, 2000, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, buf);
	dafs_test_pattern(rec->file, RECORD_FILE, 7);
	rec->most = 150;
	KUNIT_EXPECT_EQ(test, 0, dafs_test_file_read(file, buf, 2000, 33));
	KUNIT_EXPECT_EQ(test, 2000, file->io.done);
	KUNIT_EXPECT_FALSE(test, file->io.eof);
	KUNIT_EXPECT_MEMEQ(test, rec->file + 33, buf, 2000);
	KUNIT_EXPECT_EQ(test, DIV_ROUND_UP(2000, 150), rec->calls);

	rec->calls = 0;
	KUNIT_EXPECT_EQ(test, 0, dafs_test_file_read(file, buf, 2000, RECORD_FILE - 400));
	KUNIT_EXPECT_EQ(test, 400, file->io.done);
	KUNIT_EXPECT_TRUE(test, file->io.eof);
	KUNIT_EXPECT_MEMEQ(test, rec->file + RECORD_FILE - 400, buf, 400);
	KUNIT_EXPECT_EQ(test, 3, rec->calls);
}

/* R-6.5.38-07: a short write is continued, too */
static void dafs_client_short_write_test(struct kunit *test)
{
	struct client_record *rec = client_record(test);
	struct dafs_test_file *file = record_file(rec);
	u8 *data = kunit_kzalloc(test, 2000, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, data);
	dafs_test_pattern(data, 2000, 8);
	rec->most = 130;
	KUNIT_EXPECT_EQ(test, 0, dafs_test_file_write(file, data, 2000, 77));
	KUNIT_EXPECT_EQ(test, 2000, file->io.done);
	KUNIT_EXPECT_MEMEQ(test, data, rec->file + 77, 2000);
	KUNIT_EXPECT_EQ(test, 0, rec->file[76] | rec->file[2077]);
	KUNIT_EXPECT_EQ(test, DIV_ROUND_UP(2000, 130), rec->calls);
	/* a changed verifier would mean that data may be lost by a server restart */
	KUNIT_EXPECT_FALSE(test, file->io.verf_mixed);
	rec->changes = true;
	KUNIT_EXPECT_EQ(test, 0, dafs_test_file_write(file, data, 2000, 77));
	KUNIT_EXPECT_TRUE(test, file->io.verf_mixed);
}

/*
 * A response that claims more bytes than requested, or a lower stability level
 * (E-104), is treated as a protocol error.
 */
static void dafs_client_lies_test(struct kunit *test)
{
	static const size_t sizes[] = { 100, 20000 };	/* by message, by RDMA */
	struct client_record *rec = client_record(test);
	struct dafs_test_file *file = record_file(rec);
	u8 *buf = kunit_kzalloc(test, 20000, GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	rec->direct = DAFS_STATUS_OK;
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		rec->more = 1;
		KUNIT_EXPECT_EQ(test, -EIO, dafs_test_file_read(file, buf, sizes[i], 0));
		KUNIT_EXPECT_EQ(test, -EIO, dafs_test_file_write(file, buf, sizes[i], 0));
		rec->more = 0;
		rec->weaker = true;
		KUNIT_EXPECT_EQ(test, -EIO, dafs_test_file_write(file, buf, sizes[i], 0));
		rec->weaker = false;
		KUNIT_EXPECT_EQ(test, 0, dafs_test_file_write(file, buf, sizes[i], 0));
	}
	/* each wrong response ends a connection */
	KUNIT_EXPECT_EQ(test, 1 + 3 * ARRAY_SIZE(sizes), READ_ONCE(rec->srv->nr_conns));
}

/* Data that does not match its checksum is requested again, not returned (E-34). */
static void dafs_client_spoilt_test(struct kunit *test)
{
	struct client_record *rec = client_record(test);
	struct dafs_test_file *file;
	u8 *buf = kunit_kzalloc(test, 20000, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, buf);
	rec->srv->params.cksum = true;
	rec->srv->opts.use_checksums = 1;
	file = record_file(rec);
	/* the server sent no checksum for the data; 0 does not mean "no checksum" */
	rec->direct = DAFS_STATUS_OK;
	KUNIT_EXPECT_EQ(test, -EIO, dafs_test_file_read(file, buf, 20000, 0));
	KUNIT_EXPECT_GT(test, rec->calls, 1);
}

/* R-7-02: the client waits and retries on DELAY */
static void dafs_client_delay_test(struct kunit *test)
{
	struct client_record *rec = client_record(test);
	struct dafs_test_file *file = record_file(rec);
	unsigned long since = jiffies;
	u8 buf[100];

	dafs_test_pattern(rec->file, RECORD_FILE, 9);
	rec->delays = 2;
	KUNIT_EXPECT_EQ(test, 0, dafs_test_file_read(file, buf, sizeof(buf), 0));
	KUNIT_EXPECT_MEMEQ(test, rec->file, buf, sizeof(buf));
	KUNIT_EXPECT_EQ(test, 3, rec->calls);
	KUNIT_EXPECT_GE(test, jiffies_to_msecs(jiffies - since), 100);
}

/*
 * R-3.2.6.2-02: no request exceeds the server's limit, even if data is sent inline
 * because the server does no direct I/O
 */
static void dafs_client_size_test(struct kunit *test)
{
	struct client_record *rec = client_record(test);
	struct dafs_test_file *file;
	u8 *data = kunit_kzalloc(test, RECORD_FILE, GFP_KERNEL);
	struct dafs_str names[6];
	unsigned int i, nr;
	struct dafs_fh fh;

	KUNIT_ASSERT_NOT_NULL(test, data);
	rec->srv->opts.max_request_size = DAFS_MIN_MSG_SIZE;
	file = record_file(rec);
	dafs_test_pattern(data, RECORD_FILE, 10);
	KUNIT_EXPECT_EQ(test, 0, dafs_test_file_write(file, data, 20000, 0));
	KUNIT_EXPECT_MEMEQ(test, data, rec->file, 20000);
	KUNIT_EXPECT_EQ(test, DAFS_MIN_MSG_SIZE, rec->longest);
	/* the first was a direct one; then the client knows that the server supports none */
	KUNIT_EXPECT_EQ(test, 1 + DIV_ROUND_UP(20000, DAFS_MIN_MSG_SIZE - DAFS_WRITE_INLINE_DATA),
			rec->calls);
	/* a request that cannot be split is not sent */
	nr = rec->nr;
	for (i = 0; i < ARRAY_SIZE(names); i++)
		names[i] = (struct dafs_str) { .len = 200, .data = data };
	KUNIT_EXPECT_EQ(test, -EMSGSIZE, dafs_lookup_path(file->sbi.clnt, NULL, &record_fh, names,
							  ARRAY_SIZE(names), &fh));
	KUNIT_EXPECT_EQ(test, nr, rec->nr);
}

static struct kunit_case dafs_client_cases[] = {
	KUNIT_CASE(dafs_client_setup_test),
	KUNIT_CASE(dafs_client_bind_test),
	KUNIT_CASE(dafs_client_refused_test),
	KUNIT_CASE(dafs_client_goodbye_test),
	KUNIT_CASE(dafs_client_req_test),
	KUNIT_CASE(dafs_client_cred_test),
	KUNIT_CASE_SLOW(dafs_client_once_test),
	KUNIT_CASE_SLOW(dafs_client_hard_test),
	KUNIT_CASE(dafs_client_short_read_test),
	KUNIT_CASE(dafs_client_short_write_test),
	KUNIT_CASE(dafs_client_lies_test),
	KUNIT_CASE(dafs_client_spoilt_test),
	KUNIT_CASE(dafs_client_delay_test),
	KUNIT_CASE(dafs_client_size_test),
	{}
};

static struct kunit_suite dafs_client_suite = {
	.name = "dafs_client",
	.test_cases = dafs_client_cases,
};

kunit_test_suite(dafs_client_suite);
