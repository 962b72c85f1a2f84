// SPDX-License-Identifier: GPL-2.0
/*
 * Malicious and broken peers.  A bad message ends the sender's session and does
 * no other harm: other clients are not affected by a bad client, and with a bad
 * server the client reconnects or times out.
 */
#include <linux/prandom.h>
#include <linux/random.h>
#include <linux/slab.h>
#include "../../rpc/rpc_impl.h"
#include "../lib/raw.h"

/* Another client, which must not be affected. */

struct hostile {
	struct dafs_client *clnt;
	struct dafs_conn *conn;
};

static void hostile_put_conn(void *conn)
{
	dafs_conn_put(conn);
}

static struct hostile hostile_bystander(struct kunit *test)
{
	struct dafs_client_params params;
	struct hostile h;

	dafs_fixture_params(NULL, &params);
	h.clnt = dafs_fixture_client(test, &params);
	h.conn = dafs_conn_get(h.clnt);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, h.conn);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, hostile_put_conn, h.conn));
	return h;
}

static void hostile_expect_peace(struct kunit *test, struct hostile *h)
{
	KUNIT_EXPECT_EQ(test, 0, dafs_null(h->clnt, current_cred()));
	KUNIT_EXPECT_TRUE(test, dafs_chan_is_open(h->conn->op));
}

/* Messages that end the connection without a response. */

struct hostile_message {
	const char *name;
	u32 len;
	s64 request_len;
	u32 magic;
};

static const struct hostile_message hostile_messages[] = {
	{ "nothing", 0, 40, DAFS_REQUEST_MAGIC },
	{ "one byte", 1, 40, DAFS_REQUEST_MAGIC },
	{ "half a header", 20, 40, DAFS_REQUEST_MAGIC },
	{ "almost a header", 39, 39, DAFS_REQUEST_MAGIC },
	{ "no length", 40, 0, DAFS_REQUEST_MAGIC },
	{ "length of less than a header", 40, 39, DAFS_REQUEST_MAGIC },
	{ "longer than sent", 40, 41, DAFS_REQUEST_MAGIC },
	{ "much longer than sent", 48, 0xffffffff, DAFS_REQUEST_MAGIC },
	{ "negative", 48, 0x80000000, DAFS_REQUEST_MAGIC },
	{ "another protocol", 40, 40, 0x4e465334 },
	{ "a response", 40, 40, DAFS_RESPONSE_MAGIC },
	{ "more than there is room for", RAW_RECV_SIZE, RAW_RECV_SIZE, DAFS_REQUEST_MAGIC },
};

KUNIT_ARRAY_PARAM_DESC(hostile_message, hostile_messages, name);

static void hostile_send(struct kunit *test, struct raw_conn *conn,
			 const struct hostile_message *m)
{
	struct dafs_req_hdr hdr = raw_hdr(conn, DAFS_PROC_NULL);
	u8 *buf = kunit_kzalloc(test, RAW_RECV_SIZE, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, buf);
	raw_encode(conn, &hdr, NULL, buf);
	dafs_put32(m->magic, buf, conn->swab);
	dafs_put32(m->request_len, buf + 36, conn->swab);
	raw_send(conn, buf, m->len);
	KUNIT_EXPECT_TRUE(test, raw_closed(conn, RAW_WAIT_MS));
	KUNIT_EXPECT_NULL(test, raw_recv(conn, 0));
	kunit_kfree(test, buf);
}

static void dafs_hostile_message_test(struct kunit *test)
{
	struct hostile h = hostile_bystander(test);
	struct raw_login login = { .opts.use_checksums = 1 };
	struct raw_login swapped = {};
	struct dafs_flavour swab = { .swab = true };

	/* as the first message and in a session, in both byte orders */
	hostile_send(test, raw_connect_flavour(test, NULL, 0), test->param_value);
	hostile_send(test, raw_session(test, NULL, &login), test->param_value);
	hostile_send(test, raw_session(test, &swab, &swapped), test->param_value);
	hostile_expect_peace(test, &h);
}

/* R-6.1.1.5-02: a session that changes its order ends */
static void dafs_hostile_order_test(struct kunit *test)
{
	struct hostile h = hostile_bystander(test);
	struct raw_login login = {};
	struct raw_conn *conn = raw_session(test, test->param_value, &login);
	struct dafs_req_hdr hdr;
	u8 msg[DAFS_HDR_SIZE];

	conn->swab = !conn->swab;
	hdr = raw_hdr(conn, DAFS_PROC_NULL);
	/* the send may fail, because the server disconnects at once */
	raw_send(conn, msg, raw_encode(conn, &hdr, NULL, msg));
	KUNIT_EXPECT_TRUE(test, raw_closed(conn, RAW_WAIT_MS));
	KUNIT_EXPECT_NULL(test, raw_recv(conn, 0));
	hostile_expect_peace(test, &h);
}

static bool hostile_is_served(u32 proc)
{
	switch (proc) {
	case DAFS_PROC_OPENATTR:
	case DAFS_PROC_BATCH_SUBMIT:
	case DAFS_PROC_BC_GETATTR ... DAFS_PROC_BC_BATCH_COMPLETION:
	case DAFS_PROC_GET_FENCING_LIST:
	case DAFS_PROC_SET_FENCING_LIST:
	case DAFS_PROC_HURRY_UP:
		return false;
	default:
		return true;
	}
}

/* A request of @proc whose arguments are zeros: @cut bytes, or -@cut bytes less than all */
static void hostile_cut(struct kunit *test, u32 proc, int cut, u8 *buf)
{
	struct raw_login login = {};
	struct raw_conn *conn = raw_session(test, test->param_value, &login);
	struct dafs_req_hdr hdr = raw_hdr(conn, proc);
	u32 len = raw_encode(conn, &hdr, NULL, buf);
	u32 end = cut < 0 ? max_t(u32, len + cut, DAFS_HDR_SIZE) : DAFS_HDR_SIZE + cut;
	struct dafs_res_hdr res;

	if (len > DAFS_HDR_SIZE) {
		dafs_put32(end, buf + 36, conn->swab);
		if (conn->cksum)
			dafs_msg_cksum(buf, end);
		KUNIT_ASSERT_EQ(test, 0, raw_exchange(conn, buf, len, &res));
		DAFS_EXPECT_STATUS_MSG(test, hostile_is_served(proc) ? DAFSERR_INVAL :
				       DAFSERR_NOTSUPP, res.status, "%s, %u bytes of %u",
				       dafs_proc_name(proc), end, len);
		if (hostile_is_served(proc))
			KUNIT_EXPECT_TRUE(test, raw_closed(conn, RAW_WAIT_MS));
	}
	raw_close(test, conn);
}

/*
 * E-11 E-134: truncated arguments get INVAL and end the session, whether the first or
 * the last field is incomplete.  The last four bytes may be a pad, so five are cut.
 */
static void dafs_hostile_body_test(struct kunit *test)
{
	struct hostile h = hostile_bystander(test);
	u8 *buf = kunit_kzalloc(test, RAW_RECV_SIZE, GFP_KERNEL);
	u32 proc;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	for (proc = DAFS_PROC_REGISTER_CRED; proc <= DAFS_PROC_LAST; proc++) {
		hostile_cut(test, proc, 3, buf);
		hostile_cut(test, proc, -5, buf);
	}
	hostile_expect_peace(test, &h);
}

/*
 * R-3.2.5-03 R-3.2.5-04 and E-33: refused, with the header fields echoed, not
 * executed, no harm done
 */
static void dafs_hostile_cksum_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	const struct dafs_flavour *flavour = test->param_value;
	struct dafs_flavour sums = { .swab = flavour->swab, .ipv6 = flavour->ipv6, .cksum = true };
	u8 *buf = kunit_kzalloc(test, RAW_RECV_SIZE, GFP_KERNEL);
	struct raw_login login = {};
	struct raw_conn *conn = raw_session(test, &sums, &login);
	struct dafs_create_args args = {
		.filehandle = fix->dir,
		.component = dafs_test_str("made"),
		.obj_type = DAFS_TYPE_DIR,
	};
	struct dafs_req_hdr hdr;
	struct dafs_res_hdr res;
	struct kstat stat;
	u32 len, i;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	for (i = 4; i < 200; i++) {
		hdr = raw_hdr(conn, DAFS_PROC_CREATE);
		get_random_bytes(hdr.analyzer, sizeof(hdr.analyzer));
		hdr.stream_id = i % 4;
		len = raw_encode(conn, &hdr, &args, buf);
		/* skip the length and the echoed fields, but not desired_nreq */
		if ((i >= 12 && i < 24) || (i >= 36 && i < 40) || i >= len)
			continue;
		buf[i] ^= 0x40;
		KUNIT_ASSERT_EQ(test, 0, raw_exchange(conn, buf, len, &res));
		DAFS_ASSERT_STATUS_MSG(test, DAFSERR_CHKSUM, res.status, "byte %u", i);
		KUNIT_EXPECT_EQ(test, DAFS_HDR_SIZE, res.len);
		KUNIT_EXPECT_MEMEQ(test, hdr.analyzer, res.analyzer, 8);
		KUNIT_EXPECT_EQ(test, hdr.stream_id, res.stream_id);
		KUNIT_EXPECT_EQ(test, hdr.seq_number, res.seq_number);
		KUNIT_EXPECT_EQ(test, login.res.connect.opts.max_requests, res.target_nreq);
	}
	KUNIT_EXPECT_EQ(test, -ENOENT, dafs_backing_stat(fix, "made", &stat));
	hdr = raw_hdr(conn, DAFS_PROC_CREATE);
	KUNIT_ASSERT_EQ(test, 0, raw_call_hdr(conn, &hdr, &args, &res, NULL));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, res.status);
	KUNIT_EXPECT_EQ(test, 0, dafs_backing_stat(fix, "made", &stat));
}

/* R-3.2.5-01: a zero checksum is wrong; without negotiated checksums any is right */
static void dafs_hostile_no_cksum_test(struct kunit *test)
{
	const struct dafs_flavour *flavour = test->param_value;
	struct raw_login login = {};
	struct raw_conn *conn = raw_session(test, flavour, &login);
	struct dafs_req_hdr hdr = raw_hdr(conn, DAFS_PROC_NULL);
	u8 msg[DAFS_HDR_SIZE];
	struct dafs_res_hdr res;

	raw_encode(conn, &hdr, NULL, msg);
	memset(msg + 24, flavour->cksum ? 0 : 0xa5, 4);
	KUNIT_ASSERT_EQ(test, 0, raw_exchange(conn, msg, sizeof(msg), &res));
	DAFS_EXPECT_STATUS(test, flavour->cksum ? DAFSERR_CHKSUM : DAFS_STATUS_OK, res.status);
}

/* E-33: the response that negotiates checksums has none */
static void dafs_hostile_first_sum_test(struct kunit *test)
{
	const struct dafs_flavour *flavour = test->param_value;
	struct dafs_flavour sums = { .swab = flavour->swab, .ipv6 = flavour->ipv6, .cksum = true };
	struct raw_login login = { .id = "first sum", .opts.use_checksums = 1 };
	struct raw_conn *conn = raw_connect_flavour(test, &sums, DAFS_CHANNEL_OPERATION);
	struct dafs_client_connect_args args;
	struct dafs_req_hdr hdr;
	struct raw_msg *msg;

	raw_connect_args(&login, &args);
	hdr = raw_hdr(conn, DAFS_PROC_CLIENT_CONNECT);
	raw_ask(conn, &hdr, &args);
	msg = raw_recv(conn, RAW_WAIT_MS);
	KUNIT_ASSERT_NOT_NULL(test, msg);
	KUNIT_EXPECT_GT(test, msg->len, DAFS_HDR_SIZE);
	KUNIT_EXPECT_NULL(test, memchr_inv(msg->data + 24, 0, 4));
	kfree(msg);
}

/* E-44 */
static void dafs_hostile_unknown_test(struct kunit *test)
{
	static const u32 procs[] = {
		0, 1, 99, 107, 120, 121, 151, 152, 153, 154, 155, 161, 255, 0x7fffffff,
		0x80000000, 0xffffffff,
	};
	struct raw_login login = {};
	struct raw_conn *conn = raw_session(test, test->param_value, &login);
	u8 *buf = kunit_kzalloc(test, RAW_RECV_SIZE, GFP_KERNEL);
	struct dafs_req_hdr hdr;
	struct dafs_res_hdr res;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	for (i = 0; i < ARRAY_SIZE(procs); i++) {
		hdr = raw_hdr(conn, procs[i]);
		hdr.len = 1000;
		get_random_bytes(buf, 1000);
		raw_encode(conn, &hdr, NULL, buf);
		if (conn->cksum)
			dafs_msg_cksum(buf, 1000);
		KUNIT_ASSERT_EQ(test, 0, raw_exchange(conn, buf, 1000, &res));
		DAFS_EXPECT_STATUS_MSG(test, DAFSERR_NOTSUPP, res.status, "procedure %u", procs[i]);
	}
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_call(conn, DAFS_PROC_NULL, NULL, NULL));
}

struct hostile_chain {
	u32 proc;
	u16 flags;
};

/* E-61, R-4.3.2-08: flags that are always invalid, or where chains are not allowed */
static const struct hostile_chain hostile_chains[] = {
	{ DAFS_PROC_CREATE, DAFS_CHF_BACK },
	{ DAFS_PROC_CREATE, DAFS_CHF_FH },
	{ DAFS_PROC_CREATE, DAFS_CHF_STATEID },
	{ DAFS_PROC_CREATE, DAFS_CHF_SAVE },
	{ DAFS_PROC_CREATE, 0x20 },
	{ DAFS_PROC_CREATE, 0x100 },
	{ DAFS_PROC_CREATE, 0x8000 },
	{ DAFS_PROC_NULL, DAFS_CHF_BACK },
	{ DAFS_PROC_NULL, DAFS_CHF_SAVE },
	{ DAFS_PROC_SECINFO, DAFS_CHF_FORW },
	{ DAFS_PROC_REGISTER_CRED, DAFS_CHF_FORW },
	{ DAFS_PROC_DISCONNECT, DAFS_CHF_FORW },
};

static void dafs_hostile_chain_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct raw_login login = {};
	struct raw_conn *conn = raw_session(test, test->param_value, &login);
	struct dafs_res_hdr res;
	struct kstat stat;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(hostile_chains); i++) {
		const struct hostile_chain *c = &hostile_chains[i];
		struct dafs_req_hdr hdr = raw_hdr(conn, c->proc);
		union dafs_args args = {};

		if (c->proc == DAFS_PROC_CREATE)
			args.create = (struct dafs_create_args) {
				.filehandle = fix->dir,
				.component = dafs_test_str("chained"),
				.obj_type = DAFS_TYPE_DIR,
			};
		hdr.chain_flags = c->flags;
		KUNIT_ASSERT_EQ(test, 0, raw_call_hdr(conn, &hdr, &args, &res, NULL));
		DAFS_EXPECT_STATUS_MSG(test, DAFSERR_CHAIN_FORM, res.status, "%s %x",
				       dafs_proc_name(c->proc), c->flags);
		/* this ends any chain */
		DAFS_EXPECT_STATUS(test, c->flags & DAFS_CHF_FORW ? DAFSERR_CHAIN_FORM :
				   DAFS_STATUS_OK, raw_call(conn, DAFS_PROC_NULL, NULL, NULL));
	}
	KUNIT_EXPECT_EQ(test, -ENOENT, dafs_backing_stat(fix, "chained", &stat));
}

/* Filehandles and state-ids. */

static dafs_status_t hostile_getattr(struct raw_conn *conn, const struct dafs_fh *fh)
{
	struct dafs_getattr_args args = {
		.filehandle = *fh,
		.attr_request_bitmap = DAFS_FATTR_FILE_ID,
	};

	return raw_call(conn, DAFS_PROC_GETATTR_INLINE, &args, NULL);
}

static bool hostile_is_no_handle(dafs_status_t status)
{
	return status == DAFSERR_BADHANDLE || status == DAFSERR_STALE ||
	       status == DAFSERR_FHEXPIRED;
}

/* R-7-08 R-7-09 */
static void dafs_hostile_fh_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct raw_login login = {};
	struct raw_conn *conn = raw_session(test, test->param_value, &login);
	struct dafs_str name = dafs_test_str("file");
	struct dafs_fh fh, forged;
	unsigned int i;

	dafs_backing_write(test, fix, "file", "data", 4);
	KUNIT_ASSERT_EQ(test, 0, dafs_lookup_path(fix->clnt, current_cred(), &fix->dir, &name, 1,
						  &fh));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, hostile_getattr(conn, &fh));
	/* every byte of a handle counts */
	for (i = 0; i < sizeof(forged); i++) {
		forged = fh;
		((u8 *)&forged)[i] ^= 0x81;
		KUNIT_EXPECT_TRUE_MSG(test, hostile_is_no_handle(hostile_getattr(conn, &forged)),
				      "byte %u", i);
	}
	for (i = 0; i < 64; i++) {
		get_random_bytes(&forged, sizeof(forged));
		DAFS_EXPECT_STATUS(test, DAFSERR_BADHANDLE, hostile_getattr(conn, &forged));
		memcpy(forged.fshandle, fh.fshandle, sizeof(fh.fshandle));
		KUNIT_EXPECT_TRUE(test, hostile_is_no_handle(hostile_getattr(conn, &forged)));
	}
	memset(&forged, 0xff, sizeof(forged));
	DAFS_EXPECT_STATUS(test, DAFSERR_BADHANDLE, hostile_getattr(conn, &forged));
	dafs_backing_remove(fix, "file");
	DAFS_EXPECT_STATUS(test, DAFSERR_STALE, hostile_getattr(conn, &fh));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_call(conn, DAFS_PROC_NULL, NULL, NULL));
}

static dafs_status_t hostile_read(struct raw_conn *conn, const struct dafs_fh *fh,
				  const struct dafs_state_id *state_id)
{
	struct dafs_read_inline_args args = {
		.filehandle = *fh,
		.state_id = *state_id,
		.byte_count = 4,
	};

	return raw_call(conn, DAFS_PROC_READ_INLINE, &args, NULL);
}

static void hostile_open(struct kunit *test, struct dafs_fixture *fix, struct raw_conn *conn,
			 const char *name, struct dafs_open_res *res)
{
	struct dafs_str component = dafs_test_str(name);
	struct dafs_open_args args = {
		.claim_type = DAFS_CLAIM_NULL,
		.dir_handle = fix->dir,
		.pathname = { .count = 1, .elems = &component },
		.owner = dafs_test_str("owner"),
		.share_access = DAFS_OPEN_SHARE_ACCESS_READ,
	};

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_call(conn, DAFS_PROC_OPEN, &args, res));
}

static dafs_status_t hostile_close(struct raw_conn *conn, const struct dafs_fh *fh,
				   const struct dafs_state_id *state_id)
{
	struct dafs_close_args args = { .filehandle = *fh, .state_id = *state_id };

	return raw_call(conn, DAFS_PROC_CLOSE, &args, NULL);
}

static bool hostile_is_no_state(dafs_status_t status)
{
	return status == DAFSERR_BAD_STATEID || status == DAFSERR_STALE_STATEID ||
	       status == DAFSERR_EXPIRED;
}

static void dafs_hostile_stateid_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct raw_login login = {}, stranger = {};
	struct raw_conn *conn = raw_session(test, test->param_value, &login);
	struct raw_conn *other = raw_session(test, test->param_value, &stranger);
	struct dafs_open_res one, two;
	struct dafs_state_id forged;
	unsigned int i;
	dafs_status_t status;

	dafs_backing_write(test, fix, "one", "1111", 4);
	dafs_backing_write(test, fix, "two", "2222", 4);
	hostile_open(test, fix, conn, "one", &one);
	hostile_open(test, fix, conn, "two", &two);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, hostile_read(conn, &one.filehandle,
							      &one.state_id));
	/* of another file, and of another client */
	KUNIT_EXPECT_TRUE_MSG(test, hostile_is_no_state(hostile_read(conn, &two.filehandle,
								     &one.state_id)), "file");
	KUNIT_EXPECT_TRUE_MSG(test, hostile_is_no_state(hostile_read(other, &one.filehandle,
								     &one.state_id)), "client");
	KUNIT_EXPECT_TRUE_MSG(test, hostile_is_no_state(hostile_close(other, &one.filehandle,
								      &one.state_id)), "close");
	for (i = 0; i < 8; i++) {
		forged = one.state_id;
		forged.b[i] ^= 0x10;
		status = hostile_read(conn, &one.filehandle, &forged);
		KUNIT_EXPECT_TRUE_MSG(test, hostile_is_no_state(status), "byte %u", i);
		status = hostile_close(conn, &one.filehandle, &forged);
		KUNIT_EXPECT_TRUE_MSG(test, hostile_is_no_state(status), "byte %u", i);
	}
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, hostile_close(conn, &one.filehandle,
							       &one.state_id));
	KUNIT_EXPECT_TRUE_MSG(test, hostile_is_no_state(hostile_close(conn, &one.filehandle,
								      &one.state_id)), "twice");
	KUNIT_EXPECT_TRUE_MSG(test, hostile_is_no_state(hostile_read(conn, &one.filehandle,
								     &one.state_id)), "closed");
}

/* Random requests. */

#define HOSTILE_ROUNDS	400

/**
 * struct hostile_fuzz - mutated requests
 * @test: the test
 * @fix: a directory with some entries
 * @conn: where they go
 * @rnd: reproducible
 * @buf: the request
 * @lost: number of connections lost
 */
struct hostile_fuzz {
	struct kunit *test;
	struct dafs_fixture *fix;
	struct raw_conn *conn;
	struct rnd_state rnd;
	u8 *buf;
	unsigned int lost;
};

static u32 hostile_random(struct hostile_fuzz *f, u32 below)
{
	return prandom_u32_state(&f->rnd) % below;
}

/* A random procedure with the arguments that most procedures begin with. */
static u32 hostile_request(struct hostile_fuzz *f)
{
	struct dafs_str name = dafs_test_str("file");
	union dafs_args args = {};
	struct dafs_req_hdr hdr;
	u32 proc;

	do {
		proc = DAFS_PROC_FIRST + hostile_random(f, DAFS_PROC_LAST - DAFS_PROC_FIRST + 1);
	} while (!dafs_proc_known(proc) || proc == DAFS_PROC_DISCONNECT);
	hdr = raw_hdr(f->conn, proc);
	args.fh.filehandle = f->fix->dir;
	switch (proc) {
	case DAFS_PROC_LOOKUP:
		args.lookup.path = (struct dafs_seq) { .count = 1, .elems = &name };
		break;
	case DAFS_PROC_OPEN:
		args.open = (struct dafs_open_args) {
			.dir_handle = f->fix->dir,
			.pathname = { .count = 1, .elems = &name },
			.open_type = DAFS_OPEN_CREATE,
			.owner = name,
			.share_access = DAFS_OPEN_SHARE_ACCESS_BOTH,
		};
		break;
	case DAFS_PROC_CREATE:
		args.create.component = name;
		args.create.obj_type = DAFS_TYPE_FIFO;
		break;
	case DAFS_PROC_READDIR_INLINE:
		args.readdir.attr_request_bitmap = DAFS_FATTR_ALL;
		break;
	case DAFS_PROC_GETATTR_INLINE:
	case DAFS_PROC_GET_FSATTR:
		args.getattr.attr_request_bitmap = ~0ULL;
		break;
	default:
		break;
	}
	memset(f->buf, 0, RAW_RECV_SIZE);
	return raw_encode(f->conn, &hdr, &args, f->buf);
}

/* Changes a few bytes, words or offsets of the message, but not the procedure. */
static void hostile_mutate(struct hostile_fuzz *f, u32 len)
{
	static const u32 words[] = { 0, 1, 7, 8, 0x7fffffff, 0x80000000, 0xfffffff8, 0xffffffff };
	u32 n = 1 + hostile_random(f, 3), at, word;

	while (n--) {
		at = DAFS_HDR_SIZE + hostile_random(f, max(len, DAFS_HDR_SIZE + 1) - DAFS_HDR_SIZE);
		switch (hostile_random(f, 3)) {
		case 0:
			f->buf[at] ^= BIT(hostile_random(f, 8));
			break;
		case 1:
			word = words[hostile_random(f, ARRAY_SIZE(words))];
			dafs_put32(word, f->buf + round_down(at, 4), f->conn->swab);
			break;
		default:
			dafs_put32(round_down(hostile_random(f, len), 8),
				   f->buf + round_down(at, 4), f->conn->swab);
		}
	}
	if (!hostile_random(f, 8))
		dafs_put32(DAFS_HDR_SIZE + hostile_random(f, len), f->buf + 36, f->conn->swab);
	if (!hostile_random(f, 8))
		dafs_put16(prandom_u32_state(&f->rnd), f->buf + 10, f->conn->swab);
	if (!hostile_random(f, 16))
		dafs_put16(prandom_u32_state(&f->rnd), f->buf + 12, f->conn->swab);
}

static void hostile_login(struct hostile_fuzz *f)
{
	struct raw_login login = {};
	u8 handle[4];

	f->conn = raw_session(f->test, f->test->param_value, &login);
	raw_register(f->conn, 0, 0, handle);
}

static void hostile_shoot(struct hostile_fuzz *f)
{
	u32 len = hostile_request(f), request_len;
	struct dafs_res_hdr res;
	int err;

	hostile_mutate(f, len);
	request_len = dafs_get32(f->buf + 36, f->conn->swab);
	if (f->conn->cksum && request_len <= RAW_RECV_SIZE)
		dafs_msg_cksum(f->buf, request_len);
	err = raw_exchange(f->conn, f->buf, len, &res);
	KUNIT_EXPECT_TRUE_MSG(f->test, !err || err == -ENOTCONN || err == -EIO,
			      "error %d from procedure %u", err,
			      dafs_get32(f->buf + 32, f->conn->swab));
	if (!err && !raw_closed(f->conn, 0))
		return;
	f->lost++;
	raw_close(f->test, f->conn);
	hostile_login(f);
}

static void dafs_hostile_fuzz_test(struct kunit *test)
{
	struct hostile h = hostile_bystander(test);
	struct hostile_fuzz f = {
		.test = test,
		.fix = dafs_fixture(test, test->param_value),
		.buf = kunit_kzalloc(test, 2 * RAW_RECV_SIZE, GFP_KERNEL),
	};
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, f.buf);
	prandom_seed_state(&f.rnd, 0xdaf5);
	dafs_backing_write(test, f.fix, "file", "data", 4);
	hostile_login(&f);
	for (i = 0; i < HOSTILE_ROUNDS; i++) {
		hostile_shoot(&f);
		if (i % 50 == 0)
			hostile_expect_peace(test, &h);
	}
	KUNIT_EXPECT_GT(test, f.lost, 0);
	KUNIT_EXPECT_LT(test, f.lost, HOSTILE_ROUNDS);
	hostile_expect_peace(test, &h);
}

/* Clients that only connect, or vanish while their requests are executed. */

static void hostile_vanish(struct kunit *test, struct raw_conn *conn, struct dafs_req_hdr *hdr,
			   void *args)
{
	u8 *buf = kunit_kzalloc(test, RAW_RECV_SIZE, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, buf);
	KUNIT_EXPECT_EQ(test, 0, raw_send(conn, buf, raw_encode(conn, hdr, args, buf)));
	raw_close(test, conn);
	kunit_kfree(test, buf);
}

/* R-A.5-01 */
static void dafs_hostile_vanish_test(struct kunit *test)
{
	struct hostile h = hostile_bystander(test);
	struct raw_login login = {
		.id = "vanish",
		.opts.use_back_control_channel = 1,
		.opts.use_rdma_read_channel = 1,
	};
	struct raw_conn *op = raw_session(test, NULL, &login), *conn;
	struct dafs_client_connect_auth_args connect = {};
	struct dafs_connect_bind_args bind = {
		.session_id = login.res.connect.session_id,
		.max_requests = 4,
		.max_request_size = 4096,
		.max_response_size = 4096,
	};
	struct dafs_req_hdr hdr;
	unsigned int i;
	dafs_status_t status;

	raw_connect_args(&login, &connect.connect);
	for (i = 0; i < 20; i++) {
		raw_close(test, raw_connect_flavour(test, NULL, 0));

		conn = raw_connect_flavour(test, NULL, 0);
		hdr = raw_hdr(conn, DAFS_PROC_CLIENT_CONNECT_AUTH);
		hostile_vanish(test, conn, &hdr, &connect);

		conn = raw_connect_flavour(test, NULL, 0);
		hdr = raw_hdr(conn, DAFS_PROC_CONNECT_BIND);
		bind.channel_use = 1 + i % 2;
		hostile_vanish(test, conn, &hdr, &bind);

		conn = raw_session(test, NULL, &login);
		hdr = raw_hdr(conn, DAFS_PROC_DISCONNECT);
		hostile_vanish(test, conn, &hdr, NULL);
	}
	/* the channels of vanished clients become free */
	for (i = 0; i < RAW_WAIT_MS / 10; i++) {
		conn = raw_connect_flavour(test, NULL, 0);
		status = raw_call(conn, DAFS_PROC_CONNECT_BIND, &bind, NULL);
		if (!status)
			break;
		raw_close(test, conn);
		schedule_timeout_uninterruptible(HZ / 100);
	}
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, status);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_call(op, DAFS_PROC_NULL, NULL, NULL));
	KUNIT_EXPECT_FALSE(test, raw_closed(conn, 0));
	hostile_expect_peace(test, &h);
}

/* Concurrent CLIENT_AUTHs on one connection; one of them succeeds. */
static void dafs_hostile_twice_test(struct kunit *test)
{
	struct raw_login login = { .id = "twice" };
	struct raw_conn *conn = raw_connect_flavour(test, test->param_value, 0);
	u8 *buf = kunit_kzalloc(test, RAW_RECV_SIZE, GFP_KERNEL);
	struct dafs_client_auth_args args = {};
	struct dafs_client_connect_args connect;
	unsigned int i, won = 0;
	struct dafs_req_hdr hdr;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	raw_connect_args(&login, &connect);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   raw_call(conn, DAFS_PROC_CLIENT_CONNECT, &connect, NULL));
	for (i = 0; i < 6; i++) {
		hdr = raw_hdr(conn, DAFS_PROC_CLIENT_AUTH);
		hdr.stream_id = i;
		args.auth_req.auth_type = i % 2 ? DAFS_AUTH_NONE : DAFS_AUTH_DEFAULT;
		KUNIT_ASSERT_EQ(test, 0, raw_send(conn, buf, raw_encode(conn, &hdr, &args, buf)));
	}
	for (i = 0; i < 6; i++) {
		dafs_status_t status = raw_status(conn);

		won += status == DAFS_STATUS_OK;
		KUNIT_EXPECT_TRUE(test, status == DAFS_STATUS_OK ||
				  status == DAFSERR_ILLEGAL_STATE ||
				  status == DAFSERR_CLID_INUSE);
	}
	KUNIT_EXPECT_EQ(test, 1, won);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_call(conn, DAFS_PROC_NULL, NULL, NULL));
}

/* Servers. */

enum hostile_fault {
	HOSTILE_STREAM,
	HOSTILE_FAR_STREAM,
	HOSTILE_SEQ,
	HOSTILE_CKSUM,
	HOSTILE_EMPTY,
	HOSTILE_SHORT,
	HOSTILE_LEN_LONG,
	HOSTILE_LEN_SHORT,
	HOSTILE_MAGIC,
	HOSTILE_ORDER,
	HOSTILE_REQUEST,
	HOSTILE_BIG,
	HOSTILE_TWICE,
	HOSTILE_HANG_UP,
	HOSTILE_CUT,
	HOSTILE_SILENT,
};

struct hostile_server {
	const char *name;
	enum hostile_fault fault;
};

static const struct hostile_server hostile_servers[] = {
	{ "another stream", HOSTILE_STREAM },
	{ "no stream", HOSTILE_FAR_STREAM },
	{ "another request", HOSTILE_SEQ },
	{ "wrong checksum", HOSTILE_CKSUM },
	{ "nothing", HOSTILE_EMPTY },
	{ "half a header", HOSTILE_SHORT },
	{ "longer than sent", HOSTILE_LEN_LONG },
	{ "shorter than a header", HOSTILE_LEN_SHORT },
	{ "no DAFS", HOSTILE_MAGIC },
	{ "the other order", HOSTILE_ORDER },
	{ "a request", HOSTILE_REQUEST },
	{ "larger than any receive", HOSTILE_BIG },
	{ "two responses", HOSTILE_TWICE },
	{ "disconnected", HOSTILE_HANG_UP },
	{ "cut off", HOSTILE_CUT },
};

KUNIT_ARRAY_PARAM_DESC(hostile_server, hostile_servers, name);

/**
 * struct hostile_plan - when the server misbehaves
 * @fault: the fault
 * @times: number of faults left; then it behaves
 */
struct hostile_plan {
	enum hostile_fault fault;
	atomic_t times;
};

/* A response to @hdr with the fault in it.  Return: bytes, 0 for none. */
static u32 hostile_answer(struct raw_conn *conn, struct dafs_req_hdr hdr,
			  enum hostile_fault fault, u8 *buf)
{
	bool cksum = conn->cksum;
	u32 len;

	switch (fault) {
	case HOSTILE_STREAM:
		hdr.stream_id++;
		break;
	case HOSTILE_FAR_STREAM:
		hdr.stream_id = 0xffff;
		break;
	case HOSTILE_SEQ:
		hdr.seq_number++;
		break;
	case HOSTILE_ORDER:
		conn->swab = !conn->swab;
		break;
	default:
		break;
	}
	len = raw_encode_res(conn, &hdr, DAFS_STATUS_OK, conn->srv->opts.max_requests, NULL, buf);
	switch (fault) {
	case HOSTILE_CKSUM:
		buf[24] ^= 1;
		break;
	case HOSTILE_EMPTY:
		return 0;
	case HOSTILE_SHORT:
		return 20;
	case HOSTILE_LEN_LONG:
		dafs_put32(len + 1, buf + 32, conn->swab);
		break;
	case HOSTILE_LEN_SHORT:
		dafs_put32(DAFS_HDR_SIZE - 1, buf + 32, conn->swab);
		break;
	case HOSTILE_MAGIC:
		dafs_put32(0x12345678, buf, conn->swab);
		break;
	case HOSTILE_REQUEST:
		dafs_put32(DAFS_REQUEST_MAGIC, buf, conn->swab);
		break;
	case HOSTILE_BIG:
		dafs_put32(RAW_RECV_SIZE, buf + 32, conn->swab);
		len = RAW_RECV_SIZE;
		break;
	default:
		break;
	}
	if (cksum && fault != HOSTILE_CKSUM && fault != HOSTILE_BIG)
		dafs_msg_cksum(buf, len);
	return len;
}

static void hostile_misbehave(struct raw_conn *conn, const struct dafs_req_hdr *hdr,
			      enum hostile_fault fault)
{
	u8 *buf = kzalloc(RAW_RECV_SIZE, GFP_KERNEL);
	u32 len;

	KUNIT_EXPECT_NOT_NULL(conn->test, buf);
	if (!buf || fault == HOSTILE_SILENT)
		goto out;
	if (fault == HOSTILE_HANG_UP) {
		rdma_disconnect(conn->id);
		goto out;
	}
	if (fault == HOSTILE_CUT) {
		raw_cut(conn->test, conn);
		goto out;
	}
	len = hostile_answer(conn, *hdr, fault, buf);
	raw_send(conn, buf, len);
	if (fault == HOSTILE_TWICE)
		raw_send(conn, buf, len);
out:
	kfree(buf);
}

static void hostile_serve(struct raw_conn *conn, struct raw_msg *msg)
{
	struct hostile_plan *plan = conn->srv->priv;
	struct dafs_req_hdr hdr;

	KUNIT_EXPECT_EQ(conn->test, 0, raw_get_hdr(conn, msg, &hdr));
	if (hdr.procedure == DAFS_PROC_NULL && atomic_dec_if_positive(&plan->times) >= 0)
		hostile_misbehave(conn, &hdr, plan->fault);
	else
		raw_serve_request(conn, msg);
}

static struct raw_server *hostile_new_server(struct kunit *test, enum hostile_fault fault,
					     int times)
{
	struct hostile_plan *plan = kunit_kzalloc(test, sizeof(*plan), GFP_KERNEL);
	struct raw_server *srv = raw_server(test);

	KUNIT_ASSERT_NOT_NULL(test, plan);
	plan->fault = fault;
	atomic_set(&plan->times, times);
	srv->priv = plan;
	srv->request = hostile_serve;
	srv->params.timeo_ms = 1000;
	return srv;
}

static unsigned int hostile_conns(struct raw_server *srv, unsigned int want)
{
	raw_accepted(srv, want - 1);
	return READ_ONCE(srv->nr_conns);
}

/*
 * R-3.2.5-05 R-3.1.2.5-01 R-5.1-02 R-3.1.2.3.1-01: the client drops the connection
 * to such a server, also if it sends a request on the operation channel;
 * R-6.1.1.5-02: or if it changes the byte order
 */
static void dafs_hostile_server_test(struct kunit *test)
{
	const struct hostile_server *hs = test->param_value;
	struct raw_server *srv = hostile_new_server(test, hs->fault, 1);
	struct dafs_client *clnt;

	srv->opts.use_checksums = 1;
	srv->params.cksum = true;
	clnt = dafs_fixture_client(test, &srv->params);
	KUNIT_EXPECT_EQ(test, 0, dafs_null(clnt, NULL));
	KUNIT_EXPECT_EQ(test, 2, hostile_conns(srv, 2));
	KUNIT_EXPECT_EQ(test, 0, dafs_null(clnt, NULL));
	KUNIT_EXPECT_EQ(test, 2, READ_ONCE(srv->nr_conns));
	/* once more, in the other byte order and without checksums */
	atomic_set(&((struct hostile_plan *)srv->priv)->times, 1);
	if (hs->fault == HOSTILE_CKSUM)
		return;
	srv->opts.use_checksums = 0;
	srv->params.cksum = false;
	srv->params.swab = true;
	clnt = dafs_fixture_client(test, &srv->params);
	KUNIT_EXPECT_EQ(test, 0, dafs_null(clnt, NULL));
	KUNIT_EXPECT_EQ(test, 4, hostile_conns(srv, 4));
}

static unsigned int hostile_elapsed_ms(unsigned long since)
{
	return jiffies_to_msecs(jiffies - since);
}

/* A soft session times out, whether the server accepts connections or not. */
static void dafs_hostile_silent_test(struct kunit *test)
{
	struct raw_server *srv = hostile_new_server(test, HOSTILE_SILENT, 1000);
	struct dafs_client *clnt;
	unsigned long since;

	srv->params.timeo_ms = 400;
	srv->params.retrans = 2;
	clnt = dafs_fixture_client(test, &srv->params);
	since = jiffies;
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT, dafs_null(clnt, NULL));
	KUNIT_EXPECT_GE(test, hostile_elapsed_ms(since), 400);
	KUNIT_EXPECT_LT(test, hostile_elapsed_ms(since), RAW_WAIT_MS);
	KUNIT_EXPECT_LE(test, READ_ONCE(srv->nr_conns), 4);
	/* the session still works */
	atomic_set(&((struct hostile_plan *)srv->priv)->times, 0);
	KUNIT_EXPECT_EQ(test, 0, dafs_null(clnt, NULL));
}

/* R-5.1-02: the server stops answering */
static void dafs_hostile_dead_test(struct kunit *test)
{
	struct raw_server *srv = hostile_new_server(test, HOSTILE_SILENT, 1000);
	struct dafs_client *clnt;
	unsigned long since;

	srv->params.timeo_ms = 400;
	srv->params.retrans = 2;
	clnt = dafs_fixture_client(test, &srv->params);
	srv->request = NULL;
	since = jiffies;
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT, dafs_null(clnt, NULL));
	KUNIT_EXPECT_GE(test, hostile_elapsed_ms(since), 3 * 400);
	KUNIT_EXPECT_LT(test, hostile_elapsed_ms(since), RAW_WAIT_MS);
	srv->request = hostile_serve;
	atomic_set(&((struct hostile_plan *)srv->priv)->times, 0);
}

/* The server goes away and comes back. */
static void dafs_hostile_gone_test(struct kunit *test)
{
	struct raw_server *srv = hostile_new_server(test, HOSTILE_HANG_UP, 1000);
	struct dafs_client *clnt;

	srv->params.timeo_ms = 400;
	srv->params.retrans = 2;
	clnt = dafs_fixture_client(test, &srv->params);
	srv->refuse = true;
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT, dafs_null(clnt, NULL));
	srv->refuse = false;
	srv->params.retrans = 20;
	atomic_set(&((struct hostile_plan *)srv->priv)->times, 0);
	/* the session is soft, so retry until the server is back */
	while (dafs_null(clnt, NULL) && srv->params.retrans--)
		schedule_timeout_uninterruptible(HZ / 2);
	KUNIT_EXPECT_EQ(test, 0, dafs_null(clnt, NULL));
}

/* R-E.5.3.1.2-01, except MRA and redirection: no server, or a server that rejects us */
static void dafs_hostile_refused_test(struct kunit *test)
{
	struct raw_server *srv = hostile_new_server(test, HOSTILE_SILENT, 0);
	struct dafs_client *clnt;

	srv->refuse = true;
	clnt = dafs_client_create(&srv->params);
	KUNIT_EXPECT_TRUE(test, clnt == ERR_PTR(-ENOMEM));
	dafs_unlisten(&srv->listener);
	KUNIT_EXPECT_PTR_EQ(test, ERR_PTR(-ECONNREFUSED), dafs_client_create(&srv->params));
}

/* Connecting and logging in. */

static void hostile_serve_nothing(struct raw_conn *conn, struct raw_msg *msg)
{
}

static void hostile_serve_hang_up(struct raw_conn *conn, struct raw_msg *msg)
{
	rdma_disconnect(conn->id);
}

static void hostile_serve_garbage(struct raw_conn *conn, struct raw_msg *msg)
{
	u8 garbage[200];

	get_random_bytes(garbage, sizeof(garbage));
	raw_send(conn, garbage, sizeof(garbage));
}

static void hostile_serve_short(struct raw_conn *conn, struct raw_msg *msg)
{
	u8 *buf = kzalloc(RAW_RECV_SIZE, GFP_KERNEL);
	struct dafs_req_hdr hdr;

	if (!buf || raw_get_hdr(conn, msg, &hdr))
		goto out;
	/* 20 bytes of results instead of 72 */
	raw_encode_res(conn, &hdr, DAFS_STATUS_OK, 8, NULL, buf);
	dafs_put32(60, buf + 32, conn->swab);
	raw_send(conn, buf, 60);
out:
	kfree(buf);
}

static void dafs_hostile_login_test(struct kunit *test)
{
	struct raw_server *srv = hostile_new_server(test, HOSTILE_SILENT, 0);
	unsigned long since = jiffies;

	srv->params.timeo_ms = 400;
	srv->request = hostile_serve_nothing;
	KUNIT_EXPECT_TRUE(test, IS_ERR(dafs_client_create(&srv->params)));
	KUNIT_EXPECT_GE(test, hostile_elapsed_ms(since), 400);
	KUNIT_EXPECT_LT(test, hostile_elapsed_ms(since), RAW_WAIT_MS);
	srv->request = hostile_serve_hang_up;
	KUNIT_EXPECT_TRUE(test, IS_ERR(dafs_client_create(&srv->params)));
	srv->request = hostile_serve_garbage;
	KUNIT_EXPECT_TRUE(test, IS_ERR(dafs_client_create(&srv->params)));
	srv->request = hostile_serve_short;
	KUNIT_EXPECT_PTR_EQ(test, ERR_PTR(-EPROTO), dafs_client_create(&srv->params));
}

struct hostile_status {
	const char *name;
	dafs_status_t status;
	int err;
};

static const struct hostile_status hostile_statuses[] = {
	{ "another version", DAFSERR_ILLEGAL_PROT, -EPROTONOSUPPORT },
	{ "not authorized", DAFSERR_NOT_AUTHORIZED, -EACCES },
	{ "somebody else's id", DAFSERR_CLID_INUSE, -EBUSY },
	{ "a fault", DAFSERR_SERVERFAULT, -EIO },
	{ "an unassigned number", DAFS_STATUS(54321), -EIO },
};

KUNIT_ARRAY_PARAM_DESC(hostile_status, hostile_statuses, name);

static void hostile_serve_status(struct raw_conn *conn, struct raw_msg *msg)
{
	const struct hostile_status *hs = conn->srv->priv;
	struct dafs_req_hdr hdr;

	if (!raw_get_hdr(conn, msg, &hdr))
		raw_answer(conn, &hdr, hs->status, 1, NULL);
}

/* R-7-04 and other answers to a connect request */
static void dafs_hostile_login_status_test(struct kunit *test)
{
	const struct hostile_status *hs = test->param_value;
	struct raw_server *srv = raw_server(test);

	srv->priv = (void *)hs;
	srv->request = hostile_serve_status;
	KUNIT_EXPECT_PTR_EQ(test, ERR_PTR(hs->err), dafs_client_create(&srv->params));
}

struct hostile_opts {
	const char *name;
	struct dafs_connect_opts opts;
};

#define HOSTILE_OPTS(requests, request, response, sums)			\
	{ .max_requests = (requests), .max_request_size = (request),	\
	  .max_response_size = (response), .use_checksums = (sums), .max_credentials = 1 }

static const struct hostile_opts hostile_opts[] = {
	{ "no requests", HOSTILE_OPTS(0, 8192, 8192, 0) },
	{ "more than the header can say", HOSTILE_OPTS(65536, 8192, 8192, 0) },
	{ "very many more", HOSTILE_OPTS(0xffffffff, 8192, 8192, 0) },
	{ "no request size", HOSTILE_OPTS(8, 0, 8192, 0) },
	{ "no response size", HOSTILE_OPTS(8, 8192, 0, 0) },
	{ "tiny requests", HOSTILE_OPTS(8, 1016, 8192, 0) },
	{ "tiny responses", HOSTILE_OPTS(8, 8192, 64, 0) },
	{ "responses larger than the receives", HOSTILE_OPTS(8, 8192, 16384, 0) },
	{ "much larger", HOSTILE_OPTS(8, 8192, 0xfffffff8, 0) },
	{ "checksums that were not requested", HOSTILE_OPTS(8, 8192, 8192, 1) },
};

KUNIT_ARRAY_PARAM_DESC(hostile_opts, hostile_opts, name);

/* R-6.2.1-08 */
static void dafs_hostile_opts_test(struct kunit *test)
{
	const struct hostile_opts *ho = test->param_value;
	struct raw_server *srv = raw_server(test);

	srv->opts = ho->opts;
	KUNIT_EXPECT_PTR_EQ(test, ERR_PTR(-EPROTO), dafs_client_create(&srv->params));
}

/* R-6.2.1-03 at the client: a mount with checksums fails if the server has none */
static void dafs_hostile_no_sums_test(struct kunit *test)
{
	struct raw_server *srv = raw_server(test);

	srv->params.cksum = true;
	KUNIT_EXPECT_PTR_EQ(test, ERR_PTR(-EPROTO), dafs_client_create(&srv->params));
}

/* Unusual but valid numbers: large messages, few requests. */
static void dafs_hostile_odd_opts_test(struct kunit *test)
{
	struct raw_server *srv = raw_server(test);
	struct dafs_client *clnt;
	struct dafs_conn *conn;

	srv->opts.max_requests = 65535;
	srv->opts.max_request_size = 0xffffffff;
	srv->opts.max_response_size = DAFS_MIN_MSG_SIZE;
	srv->opts.max_credentials = 0xffffffff;
	srv->opts.inline_write_header_size = 0xffffffff;
	srv->opts.use_back_control_channel = 1;		/* not asked for */
	clnt = dafs_fixture_client(test, &srv->params);
	KUNIT_EXPECT_EQ(test, 0, dafs_null(clnt, current_cred()));
	conn = dafs_conn_get(clnt);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, conn);
	KUNIT_EXPECT_LE(test, conn->op->limits.send_size, srv->params.msg_size);
	KUNIT_EXPECT_NULL(test, conn->bc);
	dafs_conn_put(conn);
}

/* R-3.1.2.3.4-02 R-3.1.2.3.4.1-04 R-3.1.2.3.4.2-01: the server asks for an RDMA-read channel */
static void dafs_hostile_rdma_read_test(struct kunit *test)
{
	struct raw_server *srv = raw_server(test);
	struct dafs_client *clnt;
	struct dafs_conn *conn;

	srv->opts.use_rdma_read_channel = 1;
	clnt = dafs_fixture_client(test, &srv->params);
	conn = dafs_conn_get(clnt);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, conn);
	KUNIT_EXPECT_NOT_NULL(test, conn->rr);
	/* R-3.2.4.1-01: no receives are posted on it */
	KUNIT_EXPECT_EQ(test, 0, conn->rr->nr_posted);
	dafs_conn_put(conn);
}

/* Responses with a valid header and invalid results. */

static void hostile_serve_bodies(struct raw_conn *conn, struct raw_msg *msg)
{
	struct dafs_req_hdr hdr;
	u8 *buf;

	if (raw_get_hdr(conn, msg, &hdr))
		return;
	if (hdr.procedure != DAFS_PROC_GET_ROOT_HANDLE && hdr.procedure != DAFS_PROC_SECINFO &&
	    hdr.procedure != DAFS_PROC_READ_INLINE) {
		raw_serve_request(conn, msg);
		return;
	}
	buf = kzalloc(RAW_RECV_SIZE, GFP_KERNEL);
	if (!buf)
		return;
	raw_encode_res(conn, &hdr, DAFS_STATUS_OK, 8, NULL, buf);
	/* eof, byte counts or offsets beyond the message; half a filehandle */
	memset(buf + DAFS_HDR_SIZE, 0xf8, 16);
	dafs_put32(DAFS_HDR_SIZE + 16, buf + 32, conn->swab);
	raw_send(conn, buf, DAFS_HDR_SIZE + 16);
	kfree(buf);
}

static void dafs_hostile_bodies_test(struct kunit *test)
{
	struct raw_server *srv = raw_server(test);
	struct dafs_read_inline_args args = { .byte_count = 16 };
	struct dafs_client *clnt;
	struct iov_iter iter;
	struct dafs_fh fh;
	u8 data[16] = {};
	struct kvec kvec = { data, sizeof(data) };
	u32 types[4];
	bool eof;

	srv->request = hostile_serve_bodies;
	clnt = dafs_fixture_client(test, &srv->params);
	KUNIT_EXPECT_EQ(test, -EIO, dafs_get_root_handle(clnt, NULL, &fh));
	KUNIT_EXPECT_EQ(test, 2, hostile_conns(srv, 2));
	KUNIT_EXPECT_EQ(test, -EIO, dafs_secinfo(clnt, NULL, types, 4));
	KUNIT_EXPECT_EQ(test, 3, hostile_conns(srv, 3));
	iov_iter_kvec(&iter, ITER_DEST, &kvec, 1, sizeof(data));
	KUNIT_EXPECT_EQ(test, -EIO, dafs_read_inline(clnt, NULL, &args, &iter, &eof));
	KUNIT_EXPECT_EQ(test, 4, hostile_conns(srv, 4));
	KUNIT_EXPECT_EQ(test, 0, data[0]);
}

static void hostile_serve_creds(struct raw_conn *conn, struct raw_msg *msg)
{
	const dafs_status_t *status = conn->srv->priv;
	struct dafs_req_hdr hdr;

	if (raw_get_hdr(conn, msg, &hdr))
		return;
	if (hdr.procedure == DAFS_PROC_REGISTER_CRED || hdr.procedure == DAFS_PROC_NULL)
		raw_answer(conn, &hdr, status[hdr.procedure == DAFS_PROC_NULL], 8, NULL);
	else
		raw_serve_request(conn, msg);
}

/* A server that has no room for a user, or forgets users at once. */
static void dafs_hostile_creds_test(struct kunit *test)
{
	static const dafs_status_t full[2] = { DAFSERR_RESOURCE, DAFS_STATUS_OK };
	static const dafs_status_t forgets[2] = { DAFS_STATUS_OK, DAFSERR_NO_CREDS };
	static const dafs_status_t distrusts[2] = { DAFSERR_NOT_AUTHORIZED, DAFS_STATUS_OK };
	struct raw_server *srv = raw_server(test);
	struct dafs_client *clnt;

	srv->request = hostile_serve_creds;
	srv->priv = (void *)full;
	clnt = dafs_fixture_client(test, &srv->params);
	KUNIT_EXPECT_EQ(test, -ENOMEM, dafs_null(clnt, current_cred()));
	srv->priv = (void *)distrusts;
	KUNIT_EXPECT_EQ(test, -EACCES, dafs_null(clnt, current_cred()));
	srv->priv = (void *)forgets;
	KUNIT_EXPECT_EQ(test, -EACCES, dafs_null(clnt, current_cred()));
}

/* The back-control channel, where the server sends the requests. */
static void dafs_hostile_directive_test(struct kunit *test)
{
	static const struct hostile_message bad[] = {
		{ "nothing", 0, 40, DAFS_REQUEST_MAGIC },
		{ "length", 40, 39, DAFS_REQUEST_MAGIC },
		{ "longer", 40, 41, DAFS_REQUEST_MAGIC },
		{ "magic", 40, 40, 0x87654321 },
		{ "response", 40, 40, DAFS_RESPONSE_MAGIC },
	};
	struct raw_server *srv = raw_server(test);
	struct dafs_client *clnt;
	struct raw_conn *bc;
	unsigned int i;

	srv->opts.use_back_control_channel = 1;
	srv->params.back_control = true;
	clnt = dafs_fixture_client(test, &srv->params);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		bc = raw_accepted(srv, 2 * i + 1);
		KUNIT_ASSERT_NOT_NULL(test, bc);
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
				   raw_call(bc, DAFS_PROC_BC_NULL, NULL, NULL));
		hostile_send(test, bc, &bad[i]);
		KUNIT_EXPECT_EQ(test, 0, dafs_null(clnt, NULL));
	}
	bc = raw_accepted(srv, 2 * i + 1);
	KUNIT_ASSERT_NOT_NULL(test, bc);
	bc->swab = !bc->swab;
	hostile_send(test, bc, &hostile_messages[0]);
	KUNIT_EXPECT_EQ(test, 0, dafs_null(clnt, NULL));
}

/* Umount does not wait long for a server that does not answer. */
static void dafs_hostile_goodbye_test(struct kunit *test)
{
	struct raw_server *srv = hostile_new_server(test, HOSTILE_SILENT, 0);
	struct dafs_client *clnt;
	unsigned long since;

	srv->params.timeo_ms = 60000;
	clnt = dafs_fixture_client(test, &srv->params);
	KUNIT_EXPECT_EQ(test, 0, dafs_null(clnt, current_cred()));
	srv->request = NULL;
	since = jiffies;
	dafs_fixture_end_client(test, clnt);
	KUNIT_EXPECT_LT(test, hostile_elapsed_ms(since), RAW_WAIT_MS);
}

static struct kunit_case dafs_hostile_cases[] = {
	KUNIT_CASE_PARAM(dafs_hostile_message_test, hostile_message_gen_params),
	KUNIT_CASE_PARAM(dafs_hostile_order_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_hostile_body_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_hostile_cksum_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_hostile_no_cksum_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_hostile_first_sum_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_hostile_unknown_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_hostile_chain_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_hostile_fh_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_hostile_stateid_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_hostile_fuzz_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_hostile_vanish_test),
	KUNIT_CASE_PARAM(dafs_hostile_twice_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_hostile_server_test, hostile_server_gen_params),
	KUNIT_CASE_SLOW(dafs_hostile_silent_test),
	KUNIT_CASE_SLOW(dafs_hostile_dead_test),
	KUNIT_CASE_SLOW(dafs_hostile_gone_test),
	KUNIT_CASE(dafs_hostile_refused_test),
	KUNIT_CASE(dafs_hostile_login_test),
	KUNIT_CASE_PARAM(dafs_hostile_login_status_test, hostile_status_gen_params),
	KUNIT_CASE_PARAM(dafs_hostile_opts_test, hostile_opts_gen_params),
	KUNIT_CASE(dafs_hostile_no_sums_test),
	KUNIT_CASE(dafs_hostile_odd_opts_test),
	KUNIT_CASE(dafs_hostile_rdma_read_test),
	KUNIT_CASE(dafs_hostile_bodies_test),
	KUNIT_CASE(dafs_hostile_creds_test),
	KUNIT_CASE(dafs_hostile_directive_test),
	KUNIT_CASE_SLOW(dafs_hostile_goodbye_test),
	{}
};

static struct kunit_suite dafs_hostile_suite = {
	.name = "dafs_hostile",
	.test_cases = dafs_hostile_cases,
};

kunit_test_suite(dafs_hostile_suite);
