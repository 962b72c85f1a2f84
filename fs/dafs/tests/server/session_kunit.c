// SPDX-License-Identifier: GPL-2.0
/*
 * Sessions (3.1, 6.2): connecting, negotiating, authenticating, binding and
 * disconnecting, step by step on a raw connection, and as the client does it.
 */
#include <linux/delay.h>
#include <linux/random.h>
#include <linux/slab.h>
#include "../../../../drivers/dafsd/session/conn.h"
#include "../../../../drivers/dafsd/session/session.h"
#include "../../rpc/rpc_impl.h"
#include "../lib/raw.h"

/* Checks of every response, for all statuses (6.1.3). */
static void dafs_expect_reply_to(struct kunit *test, struct raw_conn *conn,
				 const struct dafs_req_hdr *req, const struct dafs_res_hdr *res)
{
	const struct raw_msg *msg = conn->last;

	KUNIT_ASSERT_NOT_NULL(test, msg);
	KUNIT_EXPECT_EQ(test, DAFS_RESPONSE_MAGIC, dafs_get32(msg->data, conn->swab));
	KUNIT_EXPECT_EQ(test, 0, dafs_get32(msg->data + 36, false));
	KUNIT_EXPECT_MEMEQ(test, req->analyzer, res->analyzer, sizeof(req->analyzer));
	KUNIT_EXPECT_EQ(test, req->stream_id, res->stream_id);
	KUNIT_EXPECT_EQ(test, req->seq_number, res->seq_number);
	KUNIT_EXPECT_EQ(test, 0, res->spec_cond & ~(DAFS_SPCOND_LMOVED | DAFS_SPCOND_FAILOVER));
	KUNIT_EXPECT_EQ(test, msg->len, res->len);
	KUNIT_EXPECT_GT(test, res->target_nreq, 0);
}

static u32 dafs_msg_cksum_field(const struct raw_msg *msg)
{
	return dafs_get32(msg->data + 24, false);
}

static const u8 dafs_no_id[8];

/*
 * R-6.2.4-01 R-3.1.2.2-02 R-6.1.2-01 R-6.1.3-01 R-6.1.3-03 R-6.1.3-04
 * R-6.1.3-07 R-6.1.3-08 R-6.1.2-07 R-3.1.4-01 R-3.2.5-06 R-3.1.2.2-01
 */
static void dafs_connect_auth_test(struct kunit *test)
{
	const struct dafs_flavour *flavour = test->param_value;
	struct raw_conn *conn = raw_connect_flavour(test, flavour, DAFS_CHANNEL_OPERATION);
	struct dafs_req_hdr hdr = raw_hdr(conn, DAFS_PROC_CLIENT_CONNECT_AUTH);
	struct dafs_client_connect_auth_args args = {};
	struct raw_login login = { .id = "connect auth" };
	struct dafs_client_connect_auth_res res;
	struct dafs_res_hdr res_hdr;

	login.opts.use_checksums = flavour->cksum;
	raw_connect_args(&login, &args.connect);
	get_random_bytes(hdr.analyzer, sizeof(hdr.analyzer));
	KUNIT_ASSERT_EQ(test, 0, raw_call_hdr(conn, &hdr, &args, &res_hdr, &res));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, res_hdr.status);
	KUNIT_EXPECT_EQ(test, DAFS_PROTOCOL_VERSION, res_hdr.version);
	dafs_expect_reply_to(test, conn, &hdr, &res_hdr);
	KUNIT_EXPECT_EQ(test, 0, dafs_msg_cksum_field(conn->last));
	KUNIT_EXPECT_EQ(test, res.connect.opts.max_requests, res_hdr.target_nreq);
	KUNIT_EXPECT_MEMNEQ(test, res.connect.session_id.b, dafs_no_id, sizeof(dafs_no_id));
	KUNIT_EXPECT_EQ(test, flavour->cksum, res.connect.opts.use_checksums);
	conn->cksum = flavour->cksum;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   raw_call(conn, DAFS_PROC_GET_ROOT_HANDLE, NULL, NULL));
}

/* R-3.2.5-01 R-3.2.5-07 R-3.2.5-08 R-3.2.5-12 R-6.2.1-03 R-3.1.2.2-08 R-3.2.2-02 */
static void dafs_every_cksum_test(struct kunit *test)
{
	const struct dafs_flavour *flavour = test->param_value;
	struct raw_login login = {};
	struct raw_conn *conn = raw_session(test, flavour, &login);
	struct dafs_req_hdr hdr = raw_hdr(conn, DAFS_PROC_NULL);
	struct dafs_res_hdr res;

	/* raw_call() compares the checksum; check that there is one */
	KUNIT_ASSERT_EQ(test, 0, raw_call_hdr(conn, &hdr, NULL, &res, NULL));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, res.status);
	KUNIT_EXPECT_EQ(test, flavour->cksum, !!dafs_msg_cksum_field(conn->last));
	/* an error response has one, too */
	DAFS_EXPECT_STATUS(test, DAFSERR_NOTSUPP, raw_call(conn, DAFS_PROC_HURRY_UP, &hdr, NULL));
	KUNIT_EXPECT_EQ(test, flavour->cksum, !!dafs_msg_cksum_field(conn->last));
	KUNIT_EXPECT_EQ(test, flavour->cksum, login.res.connect.opts.use_checksums);
}

static dafs_status_t dafs_raw_connect(struct raw_conn *conn, const struct raw_login *login,
				      struct dafs_client_connect_res *res)
{
	struct dafs_client_connect_args args;

	raw_connect_args(login, &args);
	return raw_call(conn, DAFS_PROC_CLIENT_CONNECT, &args, res);
}

static dafs_status_t dafs_raw_auth(struct raw_conn *conn, u32 type,
				   struct dafs_client_auth_res *res)
{
	struct dafs_client_auth_args args = { .auth_req.auth_type = type };

	return raw_call(conn, DAFS_PROC_CLIENT_AUTH, &args, res);
}

/*
 * R-6.2.1-02 R-6.2.2-01 R-6.2.2-02 R-6.2.3-01 R-3.1.1.1-01 R-3.1.1.1-03
 * R-6.2.1-11 R-6.2.4-02 R-3.1-01
 */
static void dafs_connect_then_auth_test(struct kunit *test)
{
	const struct dafs_flavour *flavour = test->param_value;
	struct raw_conn *conn = raw_connect_flavour(test, flavour, DAFS_CHANNEL_OPERATION);
	struct raw_login login = { .id = "step by step" };
	struct dafs_client_connect_res res;
	struct dafs_client_auth_res auth;
	union dafs_args args = {};
	u32 proc;

	login.opts.use_checksums = flavour->cksum;
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, dafs_raw_connect(conn, &login, &res));
	KUNIT_EXPECT_EQ(test, 0, dafs_msg_cksum_field(conn->last));
	conn->cksum = flavour->cksum;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_call(conn, DAFS_PROC_SECINFO, NULL, NULL));
	for (proc = DAFS_PROC_REGISTER_CRED; proc <= DAFS_PROC_LAST; proc++) {
		if (!dafs_proc_known(proc) || proc == DAFS_PROC_SECINFO)
			continue;
		memset(&args, 0, sizeof(args));
		DAFS_EXPECT_STATUS_MSG(test, DAFSERR_NOT_AUTHENTICATED,
				       raw_call(conn, proc, &args, NULL), "%s",
				       dafs_proc_name(proc));
	}
	DAFS_EXPECT_STATUS(test, DAFSERR_ILLEGAL_STATE, dafs_raw_connect(conn, &login, NULL));
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, dafs_raw_auth(conn, DAFS_AUTH_NONE, &auth));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_call(conn, DAFS_PROC_NULL, NULL, NULL));
	DAFS_EXPECT_STATUS(test, DAFSERR_ILLEGAL_STATE, dafs_raw_auth(conn, DAFS_AUTH_NONE, NULL));
	DAFS_EXPECT_STATUS(test, DAFSERR_ILLEGAL_STATE, dafs_raw_connect(conn, &login, NULL));
	DAFS_EXPECT_STATUS(test, DAFSERR_ILLEGAL_STATE, raw_login(conn, &login));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_call(conn, DAFS_PROC_NULL, NULL, NULL));
}

static bool dafs_secinfo_has(struct raw_conn *conn, const struct dafs_secinfo_res *res, u32 type)
{
	struct dafs_buf buf = {
		.base = conn->last->data,
		.len = conn->last->len,
		.swab = conn->swab,
	};
	struct dafs_authtype auth;
	u32 i;

	for (i = 0; i < res->secinfo.count; i++)
		if (!dafs_get_authtype(&buf, &res->secinfo, i, &auth) && auth.auth_type == type)
			return true;
	return false;
}

/*
 * R-3.1.1.1-02 R-6.2.2-03 R-6.2.2-04 R-6.2.2-11 R-6.2.7-01
 * R-3.1.1.1.2-05
 */
static void dafs_auth_types_test(struct kunit *test)
{
	struct dafs_secinfo_res sec = {};
	struct dafs_client_auth_res auth;
	struct raw_login login = {};
	struct raw_conn *conn;
	dafs_status_t status;
	u32 type;
	char id[16];
	bool listed;

	login.id = id;
	for (type = DAFS_AUTH_NONE; type <= DAFS_AUTH_DEFAULT; type++) {
		snprintf(id, sizeof(id), "auth type %u", type);
		conn = raw_connect_flavour(test, NULL, DAFS_CHANNEL_OPERATION);
		DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, dafs_raw_connect(conn, &login, NULL));
		DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
				   raw_call(conn, DAFS_PROC_SECINFO, NULL, &sec));
		KUNIT_EXPECT_GE(test, sec.secinfo.count, 1);
		listed = dafs_secinfo_has(conn, &sec, type);
		status = dafs_raw_auth(conn, type, &auth);
		DAFS_EXPECT_STATUS_MSG(test, listed ? DAFS_STATUS_OK : DAFSERR_NOTSUPP, status,
				       "type %u", type);
		if (status)
			continue;
		KUNIT_EXPECT_EQ(test, type, auth.auth_res.auth_type);
		KUNIT_EXPECT_EQ(test, type != DAFS_AUTH_DEFAULT, auth.trusted);
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
				   raw_call(conn, DAFS_PROC_GET_ROOT_HANDLE, NULL, NULL));
	}
}

/* A refused CLIENT_AUTH may be retried, but not for ever (E-52). */
static void dafs_auth_tries_test(struct kunit *test)
{
	struct raw_conn *conn = raw_connect_flavour(test, NULL, DAFS_CHANNEL_OPERATION);
	struct raw_login login = { .id = "tries" };

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, dafs_raw_connect(conn, &login, NULL));
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, dafs_raw_auth(conn, 4, NULL));
	DAFS_EXPECT_STATUS(test, DAFSERR_NOTSUPP, dafs_raw_auth(conn, DAFS_AUTH_GSS, NULL));
	DAFS_EXPECT_STATUS(test, DAFSERR_NOT_AUTHENTICATED,
			   raw_call(conn, DAFS_PROC_NULL, NULL, NULL));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_raw_auth(conn, DAFS_AUTH_NONE, NULL));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_call(conn, DAFS_PROC_NULL, NULL, NULL));

	conn = raw_connect_flavour(test, NULL, DAFS_CHANNEL_OPERATION);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, dafs_raw_connect(conn, &login, NULL));
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, dafs_raw_auth(conn, ~0, NULL));
	DAFS_EXPECT_STATUS(test, DAFSERR_NOTSUPP, dafs_raw_auth(conn, DAFS_AUTH_TEXT, NULL));
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, dafs_raw_auth(conn, ~0, NULL));
	KUNIT_EXPECT_TRUE(test, raw_closed(conn, RAW_WAIT_MS));
}

static void dafs_server_param(struct kunit *test, const char *name, const char *value)
{
	struct file *file;
	loff_t pos = 0;
	char path[64];

	snprintf(path, sizeof(path), "/sys/module/dafsd/parameters/%s", name);
	file = filp_open(path, O_WRONLY, 0);
	if (IS_ERR(file))
		kunit_skip(test, "no %s", path);
	KUNIT_EXPECT_EQ(test, (ssize_t)strlen(value),
			kernel_write(file, value, strlen(value), &pos));
	fput(file);
}

static void dafs_trust_again(void *test)
{
	dafs_server_param(test, "auth_none", "Y");
}

/* R-3.1.1.1.2-04 R-6.2.4-03 R-6.2.2-10 */
static void dafs_distrust_test(struct kunit *test)
{
	struct raw_conn *conn = raw_connect_flavour(test, NULL, DAFS_CHANNEL_OPERATION);
	struct raw_login login = { .id = "distrusted" };
	struct dafs_secinfo_res sec = {};
	struct dafs_res_hdr res;
	struct dafs_req_hdr hdr = raw_hdr(conn, DAFS_PROC_CLIENT_CONNECT_AUTH);
	struct dafs_client_connect_auth_args args = {};

	dafs_server_param(test, "auth_none", "N");
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, dafs_trust_again, test));
	raw_connect_args(&login, &args.connect);
	KUNIT_ASSERT_EQ(test, 0, raw_call_hdr(conn, &hdr, &args, &res, NULL));
	DAFS_EXPECT_STATUS(test, DAFSERR_NOT_AUTHORIZED, res.status);
	KUNIT_EXPECT_EQ(test, DAFS_HDR_SIZE, res.len);
	DAFS_EXPECT_STATUS(test, DAFSERR_ILLEGAL_STATE, raw_call(conn, DAFS_PROC_NULL, NULL, NULL));

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, dafs_raw_connect(conn, &login, NULL));
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_call(conn, DAFS_PROC_SECINFO, NULL, &sec));
	KUNIT_EXPECT_FALSE(test, dafs_secinfo_has(conn, &sec, DAFS_AUTH_NONE));
	DAFS_EXPECT_STATUS(test, DAFSERR_NOT_AUTHORIZED, dafs_raw_auth(conn, DAFS_AUTH_NONE, NULL));
	DAFS_EXPECT_STATUS(test, DAFSERR_NOT_AUTHENTICATED,
			   raw_call(conn, DAFS_PROC_NULL, NULL, NULL));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_raw_auth(conn, DAFS_AUTH_DEFAULT, NULL));
}

/* The results are those of the client's authentication type, and empty (E-50). */
static void dafs_server_auth_test(struct kunit *test)
{
	static const u32 types[] = { DAFS_AUTH_NONE, DAFS_AUTH_DEFAULT };
	struct dafs_server_auth_args args;
	struct raw_login login;
	struct raw_conn *conn;
	u64 zero = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		login = (struct raw_login) { .auth_type = types[i] };
		conn = raw_session(test, NULL, &login);
		args.auth_type = types[i];
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
				   raw_call(conn, DAFS_PROC_SERVER_AUTH, &args, NULL));
		KUNIT_ASSERT_EQ(test, DAFS_HDR_SIZE + 8, conn->last->len);
		KUNIT_EXPECT_MEMEQ(test, conn->last->data + DAFS_HDR_SIZE, &zero, 8);
		for (args.auth_type = 0; args.auth_type < 5; args.auth_type++)
			if (args.auth_type != types[i])
				DAFS_EXPECT_STATUS(test, DAFSERR_INVAL,
						   raw_call(conn, DAFS_PROC_SERVER_AUTH, &args,
							    NULL));
	}
}

/* Return: status of a connect request that speaks version @version. */
static dafs_status_t dafs_connect_version(struct kunit *test, struct raw_conn *conn, u32 proc,
					  u32 version, u32 *offered)
{
	struct dafs_client_connect_auth_args args = {};
	struct dafs_req_hdr hdr = raw_hdr(conn, proc);
	struct raw_login login = { .id = "version" };
	struct dafs_res_hdr res = {};

	hdr.version = version;
	raw_connect_args(&login, &args.connect);
	KUNIT_EXPECT_EQ(test, 0, raw_call_hdr(conn, &hdr, &args, &res, NULL));
	KUNIT_EXPECT_EQ(test, DAFS_HDR_SIZE, res.len);
	*offered = res.version;
	return res.status;
}

/*
 * R-3.1.2.2-01 R-6.1.2-03 R-6.1.3-02 R-6.2.1-09 R-6.2.4-02.  The same
 * connection may try again (E-02).
 */
static void dafs_version_test(struct kunit *test)
{
	static const u32 procs[] = {
		DAFS_PROC_CLIENT_CONNECT, DAFS_PROC_CLIENT_CONNECT_AUTH, DAFS_PROC_CONNECT_BIND,
	};
	const struct dafs_flavour *flavour = test->param_value;
	struct raw_conn *conn = raw_connect_flavour(test, flavour, 0);
	struct raw_login login = {};
	unsigned int i;
	u32 offered;

	for (i = 0; i < ARRAY_SIZE(procs); i++) {
		DAFS_EXPECT_STATUS(test, DAFSERR_ILLEGAL_PROT,
				   dafs_connect_version(test, conn, procs[i], 9, &offered));
		KUNIT_EXPECT_EQ(test, DAFS_PROTOCOL_VERSION, offered);
		DAFS_EXPECT_STATUS(test, DAFSERR_ILLEGAL_PROT,
				   dafs_connect_version(test, conn, procs[i], 0, &offered));
		KUNIT_EXPECT_EQ(test, 0, offered);
		DAFS_EXPECT_STATUS(test, DAFSERR_ILLEGAL_PROT,
				   dafs_connect_version(test, conn, procs[i], ~0, &offered));
	}
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_login(conn, &login));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_call(conn, DAFS_PROC_NULL, NULL, NULL));
}

/* R-6.1.2-02 */
static void dafs_version_later_test(struct kunit *test)
{
	const struct dafs_flavour *flavour = test->param_value;
	struct raw_login login = {};
	struct raw_conn *conn = raw_session(test, flavour, &login);
	struct dafs_req_hdr hdr = raw_hdr(conn, DAFS_PROC_DISCONNECT);
	struct dafs_res_hdr res;

	hdr.version = 2;
	KUNIT_ASSERT_EQ(test, 0, raw_call_hdr(conn, &hdr, NULL, &res, NULL));
	DAFS_EXPECT_STATUS(test, DAFSERR_ILLEGAL_PROT, res.status);
	dafs_expect_reply_to(test, conn, &hdr, &res);
	/* if it had been executed, the session would be ended */
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_call(conn, DAFS_PROC_NULL, NULL, NULL));
}

struct dafs_size_case {
	const char *name;
	struct dafs_connect_opts ask;
	u32 request_size;
	u32 response_size;
	u32 requests;
	u32 header;
};

/* The answers are those of the server's default parameters. */
static const struct dafs_size_case dafs_size_cases[] = {
	{ "defaults", { }, 8192, 8192, 32, 0 },
	{ "too small", { .max_request_size = 1, .max_response_size = 1023, .max_requests = 1,
	  .inline_write_header_size = 1 }, 1024, 1024, 1, 136 },
	{ "odd", { .max_request_size = 2001, .max_response_size = 4095, .max_requests = 7,
	  .inline_write_header_size = 509 }, 2008, 4096, 7, 512 },
	{ "too large", { .max_request_size = ~0, .max_response_size = 8193,
	  .max_requests = 65535, .inline_write_header_size = ~0 }, 8192, 8192, 32, 8184 },
	{ "beyond the header field", { .max_request_size = 8192, .max_response_size = 8192,
	  .max_requests = ~0, .inline_write_header_size = 4096 }, 8192, 8192, 32, 4096 },
	{ "header in the way", { .max_request_size = 1024, .max_response_size = 1024,
	  .max_requests = 33, .inline_write_header_size = 1024 }, 1024, 1024, 32, 1016 },
};

KUNIT_ARRAY_PARAM_DESC(dafs_size, dafs_size_cases, name);

/* R-6.2.1-06 R-6.2.1-07 R-3.2.6.3-04 and the bounds of E-18, E-38, E-39 */
static void dafs_negotiate_test(struct kunit *test)
{
	const struct dafs_size_case *c = test->param_value;
	struct raw_login login = { .opts = c->ask };
	struct raw_conn *conn = raw_session(test, NULL, &login);
	const struct dafs_connect_opts *o = &login.res.connect.opts;

	KUNIT_EXPECT_EQ(test, c->request_size, o->max_request_size);
	KUNIT_EXPECT_EQ(test, c->response_size, o->max_response_size);
	KUNIT_EXPECT_EQ(test, c->requests, o->max_requests);
	KUNIT_EXPECT_EQ(test, c->header, o->inline_write_header_size);
	KUNIT_EXPECT_GT(test, o->max_credentials, 0);
	KUNIT_EXPECT_FALSE(test, o->use_checksums);
	KUNIT_EXPECT_FALSE(test, o->use_back_control_channel);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_call(conn, DAFS_PROC_NULL, NULL, NULL));
}

/* Any nonzero value is TRUE; the answer is 1 (E-16). */
static void dafs_negotiate_bool_test(struct kunit *test)
{
	struct raw_login login = {
		.opts.use_checksums = 0x100,
		.opts.use_back_control_channel = 2,
		.opts.use_rdma_read_channel = 0x80000000,
	};
	u8 buf[256] = {};
	struct raw_conn *conn = raw_connect_flavour(test, NULL, 0);
	struct dafs_req_hdr hdr = raw_hdr(conn, DAFS_PROC_CLIENT_CONNECT_AUTH);
	struct dafs_client_connect_auth_args args = {};
	struct dafs_res_hdr res;
	u32 len;

	login.id = "truth";
	raw_connect_args(&login, &args.connect);
	len = raw_encode(conn, &hdr, &args, buf);
	dafs_put32(0x100, buf + 40, false);		/* the encoder writes 1 */
	dafs_put32(0x80000000, buf + 72, false);
	KUNIT_ASSERT_EQ(test, 0, raw_exchange(conn, buf, len, &res));
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, res.status);
	KUNIT_EXPECT_EQ(test, 1, dafs_get32(conn->last->data + 56, false));
	KUNIT_EXPECT_EQ(test, 1, dafs_get32(conn->last->data + 84, false));
	KUNIT_EXPECT_EQ(test, 1, dafs_get32(conn->last->data + 88, false));
}

/*
 * R-3.2.6.3-01 R-D.4.4-01: messages of 4096 bytes are accepted as soon as the
 * connection is established; a late receive would end it
 */
static void dafs_first_message_size_test(struct kunit *test)
{
	struct raw_conn *conn = raw_connect_flavour(test, test->param_value, 0);
	struct dafs_req_hdr hdr = raw_hdr(conn, DAFS_PROC_CLIENT_CONNECT_AUTH);
	u8 *buf = kunit_kzalloc(test, RAW_RECV_SIZE, GFP_KERNEL);
	struct dafs_client_connect_auth_args args = {};
	struct raw_login login = { .id = "short" };
	struct dafs_res_hdr res;
	const u32 at = 3024;		/* of a string of 1024 bytes, which ends the message */

	KUNIT_ASSERT_NOT_NULL(test, buf);
	raw_connect_args(&login, &args.connect);
	hdr.len = DAFS_FIRST_MSG_SIZE;
	raw_encode(conn, &hdr, &args, buf);
	dafs_put32(at, buf + DAFS_HDR_SIZE + 40, conn->swab);
	dafs_put32(DAFS_MAX_ID_STRING, buf + DAFS_HDR_SIZE + at, conn->swab);
	memset(buf + DAFS_HDR_SIZE + at + 4, 'x', DAFS_MAX_ID_STRING);
	KUNIT_ASSERT_EQ(test, 0, raw_exchange(conn, buf, DAFS_FIRST_MSG_SIZE, &res));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, res.status);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_call(conn, DAFS_PROC_NULL, NULL, NULL));
}

/* R-6.2.1-01 R-3.2.6.3-03 R-3.1-01 */
static void dafs_first_request_test(struct kunit *test)
{
	struct raw_conn *conn = raw_connect_flavour(test, test->param_value, 0);
	static const u32 procs[] = {
		DAFS_PROC_NULL, DAFS_PROC_SECINFO, DAFS_PROC_CLIENT_AUTH, DAFS_PROC_DISCONNECT,
		DAFS_PROC_LOOKUP, DAFS_PROC_GETATTR_INLINE, DAFS_PROC_BC_NULL, 99, 107, 161,
	};
	union dafs_args args = {};
	struct raw_login login = {};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(procs); i++)
		DAFS_EXPECT_STATUS_MSG(test, DAFSERR_ILLEGAL_STATE,
				       raw_call(conn, procs[i], &args, NULL), "procedure %u",
				       procs[i]);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_login(conn, &login));
}

/* E-01, R-3.1.2.2-02 R-6.1.1.5-02: the first message fixes the order */
static void dafs_order_test(struct kunit *test)
{
	struct raw_login login = {};
	struct raw_conn *conn = raw_session(test, test->param_value, &login);
	u8 msg[DAFS_HDR_SIZE] = {};
	struct dafs_req_hdr hdr;

	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_call(conn, DAFS_PROC_NULL, NULL, NULL));
	conn->swab = !conn->swab;
	hdr = raw_hdr(conn, DAFS_PROC_NULL);
	raw_encode(conn, &hdr, NULL, msg);
	raw_send(conn, msg, sizeof(msg));
	KUNIT_EXPECT_TRUE(test, raw_closed(conn, RAW_WAIT_MS));
	KUNIT_EXPECT_NULL(test, raw_recv(conn, 0));
}

/* R-2.4.3-03: an id is any bytes; its length is limited by E-07 */
static void dafs_id_string_test(struct kunit *test)
{
	static const char binary[] = { 0xff, 0x00, 0xfe, '\0', '/', 0xc3 };
	u8 *id = kunit_kzalloc(test, DAFS_MAX_ID_STRING + 1, GFP_KERNEL);
	struct raw_login login = { .id = binary, .id_len = sizeof(binary) };
	struct dafs_client_id first;
	struct raw_conn *conn;

	KUNIT_ASSERT_NOT_NULL(test, id);
	raw_session(test, test->param_value, &login);
	first = login.res.connect.client_id;
	raw_session(test, test->param_value, &login);
	KUNIT_EXPECT_MEMEQ(test, first.b, login.res.connect.client_id.b, 8);
	login.id_len--;
	raw_session(test, test->param_value, &login);
	KUNIT_EXPECT_MEMNEQ(test, first.b, login.res.connect.client_id.b, 8);

	conn = raw_connect_flavour(test, test->param_value, 0);
	login.id = "";
	login.id_len = 0;
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, raw_login(conn, &login));
	login.id = id;
	login.id_len = DAFS_MAX_ID_STRING + 1;
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, raw_login(conn, &login));
	login.id_len = DAFS_MAX_ID_STRING;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_login(conn, &login));
}

static void dafs_fence_id_test(struct kunit *test)
{
	struct raw_conn *conn = raw_connect_flavour(test, test->param_value, 0);
	struct dafs_client_connect_auth_args args = {};
	struct raw_login login = { .id = "fenced" };
	u8 *id = kunit_kzalloc(test, DAFS_MAX_ID_STRING + 1, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, id);
	raw_connect_args(&login, &args.connect);
	args.connect.fence_id_string.data = id;
	args.connect.fence_id_string.len = DAFS_MAX_ID_STRING + 1;
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL,
			   raw_call(conn, DAFS_PROC_CLIENT_CONNECT_AUTH, &args, NULL));
	args.connect.fence_id_string.len = DAFS_MAX_ID_STRING;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   raw_call(conn, DAFS_PROC_CLIENT_CONNECT_AUTH, &args, NULL));
}

/* Return: status of a request that acts with a credential handle. */
static dafs_status_t dafs_raw_use(struct raw_conn *conn, const u8 *handle)
{
	return raw_call_as(conn, handle, DAFS_PROC_GET_ROOT_HANDLE, NULL, NULL);
}

/*
 * R-3.1.1.3-01 R-3.1.1.3-02 R-2.4.3-01 R-2.4.3-04 R-3.1.2.1-01: cases A and B of
 * 3.1.1.3 with one principal
 */
static void dafs_client_id_test(struct kunit *test)
{
	struct raw_login one = { .id = "client id", .verifier = 1 };
	struct raw_login again = one, newer = { .id = "client id", .verifier = 2 };
	struct raw_login other = { .id = "client ie", .verifier = 1 };

	raw_session(test, test->param_value, &one);
	raw_session(test, test->param_value, &again);
	raw_session(test, test->param_value, &other);
	KUNIT_EXPECT_MEMEQ(test, one.res.connect.client_id.b, again.res.connect.client_id.b, 8);
	KUNIT_EXPECT_MEMNEQ(test, one.res.connect.client_id.b, other.res.connect.client_id.b, 8);
	KUNIT_EXPECT_MEMNEQ(test, one.res.connect.session_id.b, again.res.connect.session_id.b,
			    8);
	raw_session(test, test->param_value, &newer);
	KUNIT_EXPECT_MEMNEQ(test, one.res.connect.client_id.b, newer.res.connect.client_id.b, 8);
}

static dafs_status_t dafs_raw_open(struct raw_conn *conn, const struct dafs_fh *dir,
				   const char *name, u32 deny, struct dafs_open_res *res)
{
	struct dafs_str component = dafs_test_str(name);
	struct dafs_open_args args = {
		.claim_type = DAFS_CLAIM_NULL,
		.dir_handle = *dir,
		.pathname = { .count = 1, .elems = &component },
		.open_type = DAFS_OPEN_NOCREATE,
		.owner = dafs_test_str("owner"),
		.share_access = DAFS_OPEN_SHARE_ACCESS_READ,
		.share_deny = deny,
	};

	return raw_call(conn, DAFS_PROC_OPEN, &args, res);
}

/*
 * R-3.1.1.3-03 R-3.1.1.3-05 R-6.2.4-03 R-4.4.1.2-16: the id of another principal gets
 * the status of E-45.  The owner of the id loses nothing.
 */
static void dafs_clid_inuse_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct raw_login other = { .id = "other client" };
	struct raw_login mine = { .id = "mine", .verifier = 1 };
	struct raw_login thief = { .id = "mine", .verifier = 1, .auth_type = DAFS_AUTH_DEFAULT };
	struct raw_conn *conn = raw_session(test, test->param_value, &mine);
	struct raw_conn *bad = raw_connect_flavour(test, test->param_value, 0);
	struct raw_conn *b = raw_session(test, test->param_value, &other);
	struct dafs_open_res res;
	u8 handle[4];

	dafs_backing_write(test, fix, "file", "data", 4);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   dafs_raw_open(conn, &fix->dir, "file", DAFS_OPEN_SHARE_DENY_READ, &res));
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_register(conn, 1000, 1000, handle));
	DAFS_EXPECT_STATUS(test, DAFSERR_CLID_INUSE, raw_login(bad, &thief));
	KUNIT_EXPECT_EQ(test, DAFS_HDR_SIZE, bad->last->len);
	thief.verifier = 2;
	DAFS_EXPECT_STATUS(test, DAFSERR_CLID_INUSE, raw_login(bad, &thief));
	DAFS_EXPECT_STATUS(test, DAFSERR_ILLEGAL_STATE, raw_call(bad, DAFS_PROC_NULL, NULL, NULL));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_raw_use(conn, handle));
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, dafs_raw_open(b, &fix->dir, "file", 0, &res));

	/* the same in two steps */
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_raw_connect(bad, &thief, NULL));
	DAFS_EXPECT_STATUS(test, DAFSERR_CLID_INUSE, dafs_raw_auth(bad, DAFS_AUTH_DEFAULT, NULL));
	DAFS_EXPECT_STATUS(test, DAFSERR_NOT_AUTHENTICATED,
			   raw_call(bad, DAFS_PROC_NULL, NULL, NULL));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_raw_use(conn, handle));
	/* the owner may authenticate on the same connection */
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_raw_auth(bad, DAFS_AUTH_NONE, NULL));
}

/*
 * R-3.1.1.3-06 R-3.1.1.3-07: case C.  The state of the former instance is freed
 * as soon as the new one has authenticated, not before.
 */
static void dafs_new_instance_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct raw_login old = { .id = "reborn", .verifier = 1 };
	struct raw_login new = { .id = "reborn", .verifier = 2 };
	struct raw_login other = { .id = "other client" };
	struct raw_conn *a = raw_session(test, test->param_value, &old);
	struct raw_conn *b = raw_session(test, test->param_value, &other);
	struct raw_conn *c = raw_connect_flavour(test, test->param_value, 0);
	struct raw_conn *late = raw_connect_flavour(test, test->param_value, 0);
	struct dafs_open_res res;

	dafs_backing_write(test, fix, "file", "data", 4);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   dafs_raw_open(a, &fix->dir, "file", DAFS_OPEN_SHARE_DENY_READ, &res));
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, dafs_raw_open(b, &fix->dir, "file", 0, &res));
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, dafs_raw_connect(late, &old, NULL));
	late->cksum = a->cksum;
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, dafs_raw_connect(c, &new, NULL));
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, dafs_raw_open(b, &fix->dir, "file", 0, &res));
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, dafs_raw_auth(c, DAFS_AUTH_NONE, NULL));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_raw_open(b, &fix->dir, "file", 0, &res));
	/* sessions of the former instance cannot get state any more */
	KUNIT_EXPECT_TRUE(test, dafs_raw_open(a, &fix->dir, "file", 0, &res) != DAFS_STATUS_OK);
	/* nor replace the new instance */
	DAFS_EXPECT_STATUS(test, DAFSERR_STALE_CLIENTID,
			   dafs_raw_auth(late, DAFS_AUTH_NONE, NULL));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_raw_open(c, &fix->dir, "file", 0, &res));
}

/* R-2.4.3-09: the state-id of one session on another of the same client */
static void dafs_state_of_client_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct raw_login login = { .id = "two sessions" }, stranger = {};
	struct raw_conn *a = raw_session(test, test->param_value, &login);
	struct raw_conn *b = raw_session(test, test->param_value, &login);
	struct raw_conn *c = raw_session(test, test->param_value, &stranger);
	struct dafs_read_inline_args args = { .byte_count = 4 };
	struct dafs_read_inline_res read;
	struct dafs_open_res res;

	dafs_backing_write(test, fix, "file", "data", 4);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, dafs_raw_open(a, &fix->dir, "file", 0, &res));
	args.filehandle = res.filehandle;
	args.state_id = res.state_id;
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   raw_call(b, DAFS_PROC_READ_INLINE, &args, &read));
	KUNIT_ASSERT_EQ(test, 4, read.bytes_read);
	KUNIT_EXPECT_MEMEQ(test, read.read_data, "data", 4);
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_STATEID,
			   raw_call(c, DAFS_PROC_READ_INLINE, &args, NULL));
}

#define DAFS_MANY_SESSIONS	64

/* R-2.4.3-05 R-3.1.2.1-01, within one instance of the server */
static void dafs_session_ids_test(struct kunit *test)
{
	struct dafs_session_id *ids = kunit_kcalloc(test, DAFS_MANY_SESSIONS, sizeof(*ids),
						    GFP_KERNEL);
	struct raw_login login = { .id = "ids" };
	struct raw_conn *conn;
	int i, j;

	KUNIT_ASSERT_NOT_NULL(test, ids);
	for (i = 0; i < DAFS_MANY_SESSIONS; i++) {
		conn = raw_session(test, NULL, &login);
		ids[i] = login.res.connect.session_id;
		for (j = 0; j < i; j++)
			KUNIT_EXPECT_MEMNEQ(test, ids[i].b, ids[j].b, 8);
		/* half of them stay */
		if (i % 2)
			raw_close(test, conn);
	}
}

/* Binding. */

static dafs_status_t dafs_raw_bind(struct raw_conn *conn, const struct dafs_session_id *session,
				   u16 use, u32 auth, struct dafs_connect_bind_res *res)
{
	struct dafs_connect_bind_args args = {
		.session_id = *session,
		.channel_use = use,
		.max_request_size = 4096,
		.max_response_size = 2048,
		.max_requests = 3,
		.auth_req.auth_type = auth,
	};

	return raw_call(conn, DAFS_PROC_CONNECT_BIND, &args, res);
}

/* Retries while the result is @status.  Return: the last status. */
static dafs_status_t dafs_raw_bind_after(struct raw_conn *conn,
					 const struct dafs_session_id *session, u16 use,
					 dafs_status_t status)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	dafs_status_t now;

	do {
		now = dafs_raw_bind(conn, session, use, DAFS_AUTH_NONE, NULL);
	} while (now == status && time_before(jiffies, end));
	return now;
}

static struct raw_conn *dafs_full_session(struct kunit *test, struct raw_login *login)
{
	const struct dafs_flavour *flavour = test->param_value;
	struct dafs_flavour full = flavour ? *flavour : (struct dafs_flavour) {};

	full.back_control = true;
	full.rdma_read = true;
	return raw_session(test, &full, login);
}

/* A channel that is about to be bound to a session; its messages use the session's options. */
static struct raw_conn *dafs_bind_channel(struct kunit *test, const struct raw_conn *op, u32 type)
{
	struct raw_conn *conn = raw_connect_flavour(test, test->param_value, type);

	conn->cksum = op->cksum;
	return conn;
}

/*
 * R-6.2.5-01 R-6.2.5-02 R-6.2.1-12 R-3.1.2.2-06 R-3.1.2.2-07 R-3.1.2.3-01
 * R-3.2.5-07: each negotiated channel can be bound once, in either order
 */
static void dafs_bind_test(struct kunit *test)
{
	struct raw_login login = {};
	struct raw_conn *op = dafs_full_session(test, &login);
	struct dafs_session_id *session = &login.res.connect.session_id;
	struct raw_conn *rr = dafs_bind_channel(test, op, DAFS_CHANNEL_RDMA_READ);
	struct raw_conn *bc = dafs_bind_channel(test, op, DAFS_CHANNEL_BACK_CONTROL);
	struct raw_conn *late = dafs_bind_channel(test, op, 0);
	struct dafs_connect_bind_res res;

	KUNIT_EXPECT_EQ(test, 1, login.res.connect.opts.use_back_control_channel);
	KUNIT_EXPECT_EQ(test, 1, login.res.connect.opts.use_rdma_read_channel);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_raw_bind(rr, session, DAFS_RDMA_READ_CHANNEL, 0, &res));
	KUNIT_EXPECT_EQ(test, 3, res.max_requests);	/* echoed, E-43 */
	KUNIT_EXPECT_EQ(test, 4096, res.max_request_size);
	KUNIT_EXPECT_EQ(test, 2048, res.max_response_size);
	KUNIT_EXPECT_EQ(test, 1, res.trusted);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_raw_bind(bc, session, DAFS_BACK_CONTROL_CHANNEL, 0, &res));
	KUNIT_EXPECT_GT(test, res.max_requests, 0);
	KUNIT_EXPECT_LE(test, res.max_requests, 3);
	KUNIT_EXPECT_GE(test, res.max_request_size, DAFS_MIN_MSG_SIZE);
	KUNIT_EXPECT_LE(test, res.max_request_size, 4096);
	KUNIT_EXPECT_LE(test, res.max_response_size, 2048);

	DAFS_EXPECT_STATUS(test, DAFSERR_ILLEGAL_STATE,
			   dafs_raw_bind(late, session, DAFS_BACK_CONTROL_CHANNEL, 0, NULL));
	DAFS_EXPECT_STATUS(test, DAFSERR_ILLEGAL_STATE,
			   dafs_raw_bind(late, session, DAFS_RDMA_READ_CHANNEL, 0, NULL));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_call(op, DAFS_PROC_NULL, NULL, NULL));

	/* a channel that was lost may be bound again during the session (E-53) */
	raw_close(test, bc);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_raw_bind_after(late, session, DAFS_BACK_CONTROL_CHANNEL,
					       DAFSERR_ILLEGAL_STATE));
}

/* E-33: CONNECT_BIND has a checksum if its session has negotiated them. */
static void dafs_bind_cksum_test(struct kunit *test)
{
	static const struct dafs_flavour flavour = { .cksum = true, .rdma_read = true };
	struct raw_login login = {};
	struct raw_conn *op = raw_session(test, &flavour, &login);
	struct raw_conn *conn = dafs_bind_channel(test, op, DAFS_CHANNEL_RDMA_READ);
	struct dafs_session_id *session = &login.res.connect.session_id;

	conn->cksum = false;
	DAFS_EXPECT_STATUS(test, DAFSERR_CHKSUM,
			   dafs_raw_bind(conn, session, DAFS_RDMA_READ_CHANNEL, 0, NULL));
	conn->cksum = true;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_raw_bind(conn, session, DAFS_RDMA_READ_CHANNEL, 0, NULL));
}

/* The back-control channel of a session, with a reference; its end waits for dafs_bound_end(). */
static struct dafsd_conn *dafs_bound_hold(struct kunit *test, struct dafsd_session *ses)
{
	struct dafsd_conn *bound;

	spin_lock(&ses->lock);
	bound = ses->bc;
	if (bound) {
		kref_get(&bound->ref);
		atomic_inc(&bound->busy);
	}
	spin_unlock(&ses->lock);
	KUNIT_ASSERT_NOT_NULL(test, bound);
	return bound;
}

/* Return: true when it has left its session. */
static bool dafs_bound_end(struct dafsd_conn *bound)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);

	if (atomic_dec_and_test(&bound->busy))
		dafsd_conn_idle(bound);
	/* the last one but this */
	while (kref_read(&bound->ref) > 1 && time_before(jiffies, end))
		msleep(20);
	return kref_read(&bound->ref) == 1;
}

/* E-53: a channel that has closed may be bound again, even before its own end is complete. */
static void dafs_bind_again_test(struct kunit *test)
{
	struct raw_login login = {};
	struct raw_conn *op = dafs_full_session(test, &login);
	struct dafs_session_id *session = &login.res.connect.session_id;
	struct dafsd_session *ses = dafs_fixture_at_server(test, session);
	struct raw_conn *old = dafs_bind_channel(test, op, DAFS_CHANNEL_BACK_CONTROL);
	struct raw_conn *new = dafs_bind_channel(test, op, DAFS_CHANNEL_BACK_CONTROL);
	struct raw_conn *third = dafs_bind_channel(test, op, DAFS_CHANNEL_BACK_CONTROL);
	struct dafsd_conn *bound;

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   dafs_raw_bind(old, session, DAFS_BACK_CONTROL_CHANNEL, 0, NULL));
	bound = dafs_bound_hold(test, ses);
	raw_close(test, old);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_raw_bind_after(new, session, DAFS_BACK_CONTROL_CHANNEL,
					       DAFSERR_ILLEGAL_STATE));
	KUNIT_EXPECT_TRUE(test, dafs_bound_end(bound));
	dafsd_conn_put(bound);
	/* the end of the old channel has not detached the new one */
	DAFS_EXPECT_STATUS(test, DAFSERR_ILLEGAL_STATE,
			   dafs_raw_bind(third, session, DAFS_BACK_CONTROL_CHANNEL, 0, NULL));
}

/* A refused CONNECT_BIND leaves the connection as it was: without checksums. */
static void dafs_bind_refused_cksum_test(struct kunit *test)
{
	static const struct dafs_flavour flavour = { .cksum = true };
	struct raw_login login = {}, own = {};
	struct raw_conn *op = raw_session(test, &flavour, &login);
	struct raw_conn *conn = dafs_bind_channel(test, op, 0);
	struct dafs_session_id *session = &login.res.connect.session_id;
	struct dafs_session_id unknown = {};

	/* the refusal has a checksum, which raw_call() verifies */
	DAFS_EXPECT_STATUS(test, DAFSERR_NOTSUPP,
			   dafs_raw_bind(conn, session, DAFS_RDMA_READ_CHANNEL, 0, NULL));
	KUNIT_EXPECT_NE(test, 0, dafs_msg_cksum_field(conn->last));
	conn->cksum = false;
	DAFS_EXPECT_STATUS(test, DAFSERR_CHKSUM,
			   dafs_raw_bind(conn, session, DAFS_RDMA_READ_CHANNEL, 0, NULL));
	DAFS_EXPECT_STATUS(test, DAFSERR_UNKNOWN_SESSION,
			   dafs_raw_bind(conn, &unknown, DAFS_RDMA_READ_CHANNEL, 0, NULL));
	KUNIT_EXPECT_EQ(test, 0, dafs_msg_cksum_field(conn->last));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_login(conn, &own));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_call(conn, DAFS_PROC_NULL, NULL, NULL));
}

/* E-44: no requests on a bound channel, and no directives on the operation channel */
static void dafs_bound_channel_test(struct kunit *test)
{
	struct raw_login login = {};
	struct raw_conn *op = dafs_full_session(test, &login);
	struct raw_conn *bc = dafs_bind_channel(test, op, DAFS_CHANNEL_BACK_CONTROL);
	union dafs_args args = {};
	u32 proc;

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   dafs_raw_bind(bc, &login.res.connect.session_id,
					 DAFS_BACK_CONTROL_CHANNEL, 0, NULL));
	DAFS_EXPECT_STATUS(test, DAFSERR_NOTSUPP, raw_call(bc, DAFS_PROC_NULL, NULL, NULL));
	DAFS_EXPECT_STATUS(test, DAFSERR_NOTSUPP,
			   raw_call(bc, DAFS_PROC_GET_ROOT_HANDLE, NULL, NULL));
	for (proc = DAFS_PROC_BC_GETATTR; proc <= DAFS_PROC_BC_BATCH_COMPLETION; proc++)
		DAFS_EXPECT_STATUS(test, DAFSERR_NOTSUPP, raw_call(op, proc, &args, NULL));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_call(op, DAFS_PROC_NULL, NULL, NULL));
}

/* R-6.2.5-04 and the rest of E-53; R-3.1.2.3.4.1-03 */
static void dafs_bind_errors_test(struct kunit *test)
{
	const struct dafs_flavour *flavour = test->param_value;
	const struct dafs_flavour bare = { .swab = flavour->swab, .ipv6 = flavour->ipv6 };
	struct raw_login login = {}, plain = {};
	struct raw_conn *op = dafs_full_session(test, &login);
	struct raw_conn *without = raw_session(test, &bare, &plain);
	struct dafs_session_id *session = &login.res.connect.session_id;
	struct dafs_session_id none = {}, guess = *session;
	struct raw_conn *conn = raw_connect_flavour(test, test->param_value, 0);

	/* whether an unknown session uses checksums is not known */
	DAFS_EXPECT_STATUS(test, DAFSERR_UNKNOWN_SESSION,
			   dafs_raw_bind(conn, &none, DAFS_RDMA_READ_CHANNEL, 0, NULL));
	guess.b[7] ^= 1;
	DAFS_EXPECT_STATUS(test, DAFSERR_UNKNOWN_SESSION,
			   dafs_raw_bind(conn, &guess, DAFS_RDMA_READ_CHANNEL, 0, NULL));
	DAFS_EXPECT_STATUS(test, DAFSERR_NOTSUPP,
			   dafs_raw_bind(conn, &plain.res.connect.session_id,
					 DAFS_RDMA_READ_CHANNEL, 0, NULL));
	DAFS_EXPECT_STATUS(test, DAFSERR_NOTSUPP,
			   dafs_raw_bind(conn, &plain.res.connect.session_id,
					 DAFS_BACK_CONTROL_CHANNEL, 0, NULL));

	conn->cksum = op->cksum;
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, dafs_raw_bind(conn, session, 0, 0, NULL));
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, dafs_raw_bind(conn, session, 3, 0, NULL));
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, dafs_raw_bind(conn, session, 4, 0, NULL));
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, dafs_raw_bind(conn, session, 0xffff, 0, NULL));
	DAFS_EXPECT_STATUS(test, DAFSERR_NOT_AUTHORIZED,
			   dafs_raw_bind(conn, session, DAFS_RDMA_READ_CHANNEL, DAFS_AUTH_DEFAULT,
					 NULL));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_call(op, DAFS_PROC_NULL, NULL, NULL));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_call(without, DAFS_PROC_NULL, NULL, NULL));
	/* the channel can still be bound */
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_raw_bind(conn, session, DAFS_RDMA_READ_CHANNEL, 0, NULL));
}

/* A client that guesses session ids, or has another address, is soon disconnected. */
static void dafs_bind_guess_test(struct kunit *test)
{
	static const struct dafs_flavour elsewhere = { .ipv6 = true };
	struct raw_login login = { .opts.use_rdma_read_channel = 1 };
	struct raw_conn *op = raw_session(test, NULL, &login);
	struct raw_conn *conn = raw_connect_flavour(test, NULL, 0);
	struct raw_conn *other = raw_connect_flavour(test, &elsewhere, 0);
	struct dafs_session_id *session = &login.res.connect.session_id;
	struct dafs_session_id guess = *session;
	unsigned int i;

	DAFS_EXPECT_STATUS(test, DAFSERR_UNKNOWN_SESSION,
			   dafs_raw_bind(other, session, DAFS_RDMA_READ_CHANNEL, login.auth_type,
					 NULL));
	for (i = 0; i < 3; i++) {
		guess.b[i] ^= 1;
		DAFS_EXPECT_STATUS(test, DAFSERR_UNKNOWN_SESSION,
				   dafs_raw_bind(conn, &guess, DAFS_RDMA_READ_CHANNEL,
						 login.auth_type, NULL));
	}
	KUNIT_EXPECT_TRUE(test, raw_closed(conn, RAW_WAIT_MS));
	conn = raw_connect_flavour(test, NULL, 0);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_raw_bind(conn, session, DAFS_RDMA_READ_CHANNEL, login.auth_type,
					 NULL));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_call(op, DAFS_PROC_NULL, NULL, NULL));
}

/* R-3.1.2.5-02, and no channel before authentication */
static void dafs_bind_wrong_time_test(struct kunit *test)
{
	struct raw_conn *op = raw_connect_flavour(test, test->param_value, 0);
	struct raw_conn *conn = raw_connect_flavour(test, test->param_value, 0);
	struct raw_login login = {
		.id = "too early",
		.opts.use_back_control_channel = 1,
		.opts.use_rdma_read_channel = 1,
	};
	struct dafs_client_connect_res res;

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, dafs_raw_connect(op, &login, &res));
	DAFS_EXPECT_STATUS(test, DAFSERR_NOT_AUTHENTICATED,
			   dafs_raw_bind(conn, &res.session_id, DAFS_BACK_CONTROL_CHANNEL, 0,
					 NULL));
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, dafs_raw_auth(op, DAFS_AUTH_NONE, NULL));
	raw_close(test, op);
	DAFS_EXPECT_STATUS(test, DAFSERR_UNKNOWN_SESSION,
			   dafs_raw_bind_after(conn, &res.session_id, 3, DAFSERR_INVAL));
}

/* R-6.2.5-05: each channel has separate limits; E-43 says what 0 means */
static void dafs_bind_values_test(struct kunit *test)
{
	struct raw_login login = {};
	struct raw_conn *op = dafs_full_session(test, &login);
	struct raw_conn *bc = dafs_bind_channel(test, op, 0);
	struct raw_conn *rr = dafs_bind_channel(test, op, 0);
	struct dafs_connect_bind_args args = {
		.session_id = login.res.connect.session_id,
		.channel_use = DAFS_BACK_CONTROL_CHANNEL,
	};
	struct dafs_connect_bind_res res;

	/* the client posts the receives, so it must give their size and number (E-43) */
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL,
			   raw_call(bc, DAFS_PROC_CONNECT_BIND, &args, NULL));
	args.max_requests = 65535;
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL,
			   raw_call(bc, DAFS_PROC_CONNECT_BIND, &args, NULL));
	args.max_request_size = ~0;
	args.max_response_size = ~0;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_call(bc, DAFS_PROC_CONNECT_BIND, &args, &res));
	KUNIT_EXPECT_LE(test, res.max_requests, 256);
	KUNIT_EXPECT_LE(test, res.max_request_size, SZ_64K);
	KUNIT_EXPECT_LE(test, res.max_response_size, SZ_64K);

	args = (struct dafs_connect_bind_args) {
		.session_id = login.res.connect.session_id,
		.channel_use = DAFS_RDMA_READ_CHANNEL,
	};
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_call(rr, DAFS_PROC_CONNECT_BIND, &args, &res));
	KUNIT_EXPECT_EQ(test, 0, res.max_requests);
	KUNIT_EXPECT_EQ(test, 0, res.max_request_size);
}

/* E.9 R-E.9-02 R-E.9-05, E-53, E-122: the discriminator, right, wrong and absent */
static void dafs_discriminator_test(struct kunit *test)
{
	const struct dafs_flavour *flavour = test->param_value;
	struct raw_how how = { .swab = flavour->swab, .ipv6 = flavour->ipv6 };
	struct raw_login login = {}, refused = {};
	struct raw_conn *op = dafs_full_session(test, &login), *conn;

	/* a channel of one type cannot be bound as another */
	how.type = DAFS_CHANNEL_BACK_CONTROL;
	conn = raw_connect(test, &how);
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, raw_login(conn, &refused));
	conn->cksum = op->cksum;
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL,
			   dafs_raw_bind(conn, &login.res.connect.session_id,
					 DAFS_RDMA_READ_CHANNEL, 0, NULL));
	how.type = DAFS_CHANNEL_OPERATION;
	conn = raw_connect(test, &how);
	conn->cksum = op->cksum;
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL,
			   dafs_raw_bind(conn, &login.res.connect.session_id,
					 DAFS_RDMA_READ_CHANNEL, 0, NULL));

	/* private data of another protocol is ignored */
	how.type = DAFS_CHANNEL_BACK_CONTROL;
	how.magic = 0x12345678;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_login(raw_connect(test, &how), &refused));
}

/* Disconnecting. */

/* R-6.2.6-02 */
static void dafs_disconnect_early_test(struct kunit *test)
{
	struct raw_conn *conn = raw_connect_flavour(test, test->param_value, 0);
	struct raw_login login = { .id = "early" };

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, dafs_raw_connect(conn, &login, NULL));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_call(conn, DAFS_PROC_DISCONNECT, NULL, NULL));
	KUNIT_EXPECT_TRUE(test, raw_call(conn, DAFS_PROC_SECINFO, NULL, NULL) != DAFS_STATUS_OK);
}

/* R-6.2.6-01: all channels end, even if the client does not disconnect them */
static void dafs_disconnect_test(struct kunit *test)
{
	struct raw_login login = {};
	struct raw_conn *op = dafs_full_session(test, &login);
	struct raw_conn *rr = dafs_bind_channel(test, op, DAFS_CHANNEL_RDMA_READ);
	struct raw_conn *bc = dafs_bind_channel(test, op, DAFS_CHANNEL_BACK_CONTROL);
	struct raw_conn *late = dafs_bind_channel(test, op, 0);
	struct dafs_session_id *session = &login.res.connect.session_id;

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   dafs_raw_bind(rr, session, DAFS_RDMA_READ_CHANNEL, 0, NULL));
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   dafs_raw_bind(bc, session, DAFS_BACK_CONTROL_CHANNEL, 0, NULL));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_call(op, DAFS_PROC_DISCONNECT, NULL, NULL));
	KUNIT_EXPECT_FALSE(test, raw_closed(op, 0));
	DAFS_EXPECT_STATUS(test, DAFSERR_UNKNOWN_SESSION,
			   dafs_raw_bind(late, session, DAFS_RDMA_READ_CHANNEL, 0, NULL));
	KUNIT_EXPECT_TRUE(test, raw_closed(op, RAW_WAIT_MS));
	KUNIT_EXPECT_TRUE(test, raw_closed(rr, RAW_WAIT_MS));
	KUNIT_EXPECT_TRUE(test, raw_closed(bc, RAW_WAIT_MS));
}

#define DAFS_BUSY_REQUESTS	8

static void dafs_send_mkdir(struct kunit *test, struct raw_conn *conn, const struct dafs_fh *dir,
			    unsigned int nr, u8 *buf)
{
	char name[2] = { '0' + nr };
	struct dafs_create_args args = {
		.filehandle = *dir,
		.component = dafs_test_str(name),
		.obj_type = DAFS_TYPE_DIR,
	};
	struct dafs_req_hdr hdr = raw_hdr(conn, DAFS_PROC_CREATE);

	hdr.stream_id = nr;
	KUNIT_EXPECT_EQ(test, 0, raw_send(conn, buf, raw_encode(conn, &hdr, &args, buf)));
}

/* E-51: earlier requests are executed and answered before DISCONNECT */
static void dafs_disconnect_busy_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	u8 *buf = kunit_kzalloc(test, RAW_RECV_SIZE, GFP_KERNEL);
	struct raw_login login = {};
	struct raw_conn *conn = raw_session(test, test->param_value, &login);
	struct dafs_req_hdr hdr;
	struct dafs_res_hdr res;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	for (i = 0; i < DAFS_BUSY_REQUESTS; i++)
		dafs_send_mkdir(test, conn, &fix->dir, i, buf);
	hdr = raw_hdr(conn, DAFS_PROC_DISCONNECT);
	hdr.stream_id = i;
	KUNIT_EXPECT_EQ(test, 0, raw_send(conn, buf, raw_encode(conn, &hdr, NULL, buf)));
	for (i = 0; i <= DAFS_BUSY_REQUESTS; i++) {
		DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
				   raw_recv_status(conn, RAW_WAIT_MS, &res));
		KUNIT_EXPECT_EQ(test, i == DAFS_BUSY_REQUESTS,
				res.stream_id == DAFS_BUSY_REQUESTS);
	}
}

/* Two DISCONNECTs that wait for the same request do not wait for each other. */
static void dafs_disconnect_twice_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	u8 *buf = kunit_kzalloc(test, RAW_RECV_SIZE, GFP_KERNEL);
	struct raw_login login = {};
	struct raw_conn *conn = raw_session(test, NULL, &login);
	struct dafs_req_hdr hdr;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	dafs_fixture_freeze(test, fix);
	dafs_send_mkdir(test, conn, &fix->dir, 0, buf);
	for (i = 1; i <= 2; i++) {
		hdr = raw_hdr(conn, DAFS_PROC_DISCONNECT);
		hdr.stream_id = i;
		raw_ask(conn, &hdr, NULL);
	}
	DAFS_ASSERT_STATUS(test, DAFSERR_ILLEGAL_STATE, raw_status(conn));
	dafs_fixture_thaw(test, fix);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_status(conn));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_status(conn));
	KUNIT_EXPECT_TRUE(test, raw_closed(conn, RAW_WAIT_MS));
}

/* The client's own sessions. */

/* R-2.4.3-07 R-3.1-02 R-3.1.2.3.2-05 */
static void dafs_client_session_test(struct kunit *test)
{
	const struct dafs_flavour *flavour = test->param_value;
	struct dafs_client_params params;
	struct dafs_client *clnt;
	struct dafs_conn *conn;
	u32 types[4] = {};
	int nr;

	dafs_fixture_params(flavour, &params);
	clnt = dafs_fixture_client(test, &params);
	KUNIT_EXPECT_EQ(test, 0, dafs_null(clnt, current_cred()));
	nr = dafs_secinfo(clnt, current_cred(), types, ARRAY_SIZE(types));
	KUNIT_EXPECT_EQ(test, 2, nr);
	KUNIT_EXPECT_NE(test, types[0], types[1]);
	conn = dafs_conn_get(clnt);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, conn);
	KUNIT_EXPECT_EQ(test, flavour->cksum, conn->op->cksum);
	KUNIT_EXPECT_EQ(test, flavour->swab, conn->op->swab);
	KUNIT_EXPECT_EQ(test, flavour->rdma_read, !!conn->rr);
	KUNIT_EXPECT_EQ(test, flavour->back_control, !!conn->bc);
	KUNIT_EXPECT_TRUE(test, conn->trusted);
	dafs_conn_put(conn);
}

static void dafs_client_default_test(struct kunit *test)
{
	struct dafs_client_params params;
	struct dafs_client *clnt;

	dafs_fixture_client_params(test->param_value, &params, "default");
	params.auth_type = DAFS_AUTH_DEFAULT;
	clnt = dafs_fixture_client(test, &params);
	KUNIT_EXPECT_EQ(test, 0, dafs_null(clnt, current_cred()));
	/* the same client with another principal */
	params.auth_type = DAFS_AUTH_NONE;
	KUNIT_EXPECT_PTR_EQ(test, ERR_PTR(-EBUSY), dafs_client_create(&params));
}

/* R-2.4.3-01: all sessions of this machine belong to one client */
static void dafs_client_one_test(struct kunit *test)
{
	struct dafs_client_params params;
	struct dafs_conn *a, *b;

	dafs_fixture_params(test->param_value, &params);
	a = dafs_conn_get(dafs_fixture_client(test, &params));
	b = dafs_conn_get(dafs_fixture_client(test, &params));
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, a);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, b);
	KUNIT_EXPECT_MEMEQ(test, a->client_id.b, b->client_id.b, 8);
	KUNIT_EXPECT_MEMNEQ(test, a->session_id.b, b->session_id.b, 8);
	dafs_conn_put(a);
	dafs_conn_put(b);
}

/* R-3.1.2.5-01 R-5.1-02: a session outlives its connection */
static void dafs_client_reconnect_test(struct kunit *test)
{
	struct dafs_client_params params;
	struct dafs_session_id session;
	struct dafs_client_id client;
	struct dafs_client *clnt;
	struct dafs_conn *conn;
	unsigned int i;

	dafs_fixture_params(test->param_value, &params);
	clnt = dafs_fixture_client(test, &params);
	for (i = 0; i < 3; i++) {
		conn = dafs_conn_get(clnt);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, conn);
		session = conn->session_id;
		client = conn->client_id;
		dafs_conn_failed(conn);
		dafs_conn_put(conn);
		KUNIT_EXPECT_EQ(test, 0, dafs_null(clnt, current_cred()));
		conn = dafs_conn_get(clnt);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, conn);
		KUNIT_EXPECT_MEMNEQ(test, session.b, conn->session_id.b, 8);
		KUNIT_EXPECT_MEMEQ(test, client.b, conn->client_id.b, 8);
		dafs_conn_put(conn);
	}
}

/* After umount -f no caller waits. */
static void dafs_client_shutdown_test(struct kunit *test)
{
	struct dafs_client_params params;
	struct dafs_client *clnt;

	dafs_fixture_params(test->param_value, &params);
	clnt = dafs_fixture_client(test, &params);
	KUNIT_EXPECT_EQ(test, 0, dafs_null(clnt, current_cred()));
	dafs_client_shutdown(clnt);
	KUNIT_EXPECT_EQ(test, -EIO, dafs_null(clnt, current_cred()));
	dafs_client_shutdown(clnt);
}

/* Directives of a server (6.6). */

static dafs_status_t dafs_directive(struct kunit *test, struct raw_conn *bc, u32 proc,
				    u16 chain_flags)
{
	union dafs_args args = {};
	struct dafs_req_hdr hdr = raw_hdr(bc, proc);
	struct dafs_res_hdr res = {};

	hdr.stream_id = 3;
	hdr.chain_flags = chain_flags;
	get_random_bytes(hdr.analyzer, sizeof(hdr.analyzer));
	KUNIT_ASSERT_EQ(test, 0, raw_call_hdr(bc, &hdr, &args, &res, NULL));
	dafs_expect_reply_to(test, bc, &hdr, &res);
	KUNIT_EXPECT_EQ(test, DAFS_HDR_SIZE, res.len);
	return res.status;
}

/*
 * R-3.2.2-02 R-3.1.2.3.3-01 R-3.2.5-07 R-E.9-01 R-E.9-04 R-E.8-04 R-6.6.1-01: the
 * client at the other end of a back-control channel, R-3.1.2.3.2-01 R-E.5-01
 * R-E.4-01: the client has connected it, the server only listens; R-4.3-04:
 * there are no chains there
 */
static void dafs_directives_test(struct kunit *test)
{
	const struct dafs_flavour *flavour = test->param_value;
	struct raw_server *srv = raw_server(test);
	struct raw_conn *op, *bc;

	srv->params.cksum = flavour->cksum;
	srv->params.swab = flavour->swab;
	srv->params.back_control = true;
	srv->opts.use_checksums = flavour->cksum;
	srv->opts.use_back_control_channel = 1;
	dafs_fixture_client(test, &srv->params);
	op = raw_accepted(srv, 0);
	bc = raw_accepted(srv, 1);
	KUNIT_ASSERT_NOT_NULL(test, op);
	KUNIT_ASSERT_NOT_NULL(test, bc);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_directive(test, bc, DAFS_PROC_BC_NULL, 0));
	DAFS_EXPECT_STATUS(test, DAFSERR_NOTSUPP, dafs_directive(test, bc, DAFS_PROC_NULL, 0));
	DAFS_EXPECT_STATUS(test, DAFSERR_NOTSUPP, dafs_directive(test, bc, 154, 0));
	DAFS_EXPECT_STATUS(test, DAFSERR_CHAIN_FORM,
			   dafs_directive(test, bc, DAFS_PROC_BC_NULL, DAFS_CHF_FORW));
	/* an id that the client does not know is ignored (E-109) */
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_directive(test, bc, DAFS_PROC_BC_BATCH_COMPLETION, 0));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_directive(test, bc, DAFS_PROC_BC_NULL, 0));

	KUNIT_EXPECT_GE(test, op->disc_len, sizeof(op->disc));
	KUNIT_EXPECT_EQ(test, DAFS_REQUEST_MAGIC, dafs_get32(&op->disc.magic, flavour->swab));
	KUNIT_EXPECT_EQ(test, DAFS_CHANNEL_OPERATION,
			dafs_get32(&op->disc.channel_type, flavour->swab));
	KUNIT_EXPECT_EQ(test, DAFS_CHANNEL_BACK_CONTROL,
			dafs_get32(&bc->disc.channel_type, flavour->swab));
	KUNIT_EXPECT_MEMEQ(test, op->disc.client_instance, bc->disc.client_instance, 4);
	KUNIT_EXPECT_MEMEQ(test, op->disc.client_session, bc->disc.client_session, 4);
	KUNIT_EXPECT_NE(test, op->id->qp->qp_num, bc->id->qp->qp_num);
}

/*
 * R-E.9-04: sessions of a client differ in the differentiator; R-E.9-03: clients differ
 * in the instance
 */
static void dafs_differentiator_test(struct kunit *test)
{
	struct raw_server *srv = raw_server(test);
	struct dafs_client_params other = srv->params;
	struct raw_conn *a, *b, *c;

	strscpy(other.client_id, "another client");
	dafs_fixture_client(test, &srv->params);
	dafs_fixture_client(test, &srv->params);
	dafs_fixture_client(test, &other);
	a = raw_accepted(srv, 0);
	b = raw_accepted(srv, 1);
	c = raw_accepted(srv, 2);
	KUNIT_ASSERT_NOT_NULL(test, a);
	KUNIT_ASSERT_NOT_NULL(test, b);
	KUNIT_ASSERT_NOT_NULL(test, c);
	KUNIT_EXPECT_MEMEQ(test, a->disc.client_instance, b->disc.client_instance, 4);
	KUNIT_EXPECT_MEMNEQ(test, a->disc.client_session, b->disc.client_session, 4);
	KUNIT_EXPECT_MEMNEQ(test, a->disc.client_instance, c->disc.client_instance, 4);
}

static struct kunit_case dafs_session_cases[] = {
	KUNIT_CASE_PARAM(dafs_connect_auth_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_every_cksum_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_connect_then_auth_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_auth_types_test),
	KUNIT_CASE(dafs_auth_tries_test),
	KUNIT_CASE(dafs_distrust_test),
	KUNIT_CASE(dafs_server_auth_test),
	KUNIT_CASE_PARAM(dafs_version_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_version_later_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_negotiate_test, dafs_size_gen_params),
	KUNIT_CASE(dafs_negotiate_bool_test),
	KUNIT_CASE_PARAM(dafs_first_message_size_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_first_request_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_order_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_id_string_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_fence_id_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_client_id_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_clid_inuse_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_new_instance_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_state_of_client_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_session_ids_test),
	KUNIT_CASE_PARAM(dafs_bind_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_bind_cksum_test),
	KUNIT_CASE(dafs_bind_again_test),
	KUNIT_CASE(dafs_bind_refused_cksum_test),
	KUNIT_CASE_PARAM(dafs_bound_channel_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_bind_errors_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_bind_guess_test),
	KUNIT_CASE_PARAM(dafs_bind_wrong_time_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_bind_values_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_discriminator_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_disconnect_early_test, dafs_flavours_gen),
	KUNIT_CASE_SLOW(dafs_disconnect_test),
	KUNIT_CASE_PARAM(dafs_disconnect_busy_test, dafs_flavours_gen),
	KUNIT_CASE_SLOW(dafs_disconnect_twice_test),
	KUNIT_CASE_PARAM(dafs_client_session_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_client_default_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_client_one_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_client_reconnect_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_client_shutdown_test),
	KUNIT_CASE_PARAM(dafs_directives_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_differentiator_test),
	{}
};

static struct kunit_suite dafs_session_suite = {
	.name = "dafs_session",
	.test_cases = dafs_session_cases,
};

kunit_test_suite(dafs_session_suite);
