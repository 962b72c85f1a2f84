// SPDX-License-Identifier: GPL-2.0
/*
 * Messages byte by byte, checked without the codec: layout (6.1.1), byte order
 * (6.1.1.5), and requests of the server (6.6).
 */
#include <linux/slab.h>
#include "../../../../drivers/dafsd/session/conn.h"
#include "../../../../drivers/dafsd/session/session.h"
#include "../lib/raw.h"

/* Fields of messages, 5 of wire-layout.md */
#define WIRE_REQUEST_LEN	36
#define WIRE_STATUS		28
#define WIRE_RESPONSE_LEN	32
#define WIRE_WRITE_PADDED	(DAFS_HDR_SIZE + 88)
#define WIRE_WRITE_DATA		136
#define WIRE_READ_COUNT		44
#define WIRE_READ_DATA		48

static u8 *wire_buf(struct kunit *test)
{
	u8 *buf = kunit_kzalloc(test, RAW_RECV_SIZE, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, buf);
	return buf;
}

/* The field at @at of the last response */
static u32 wire_get32(const struct raw_conn *conn, u32 at)
{
	return dafs_get32(conn->last->data + at, conn->swab);
}

static u64 wire_get64(const struct raw_conn *conn, u32 at)
{
	return dafs_get64(conn->last->data + at, conn->swab);
}

/* R-4.2.1.1-02: the data is at the same position of the message for all file offsets */
static void dafs_wire_read_test(struct kunit *test)
{
	static const u32 places[][2] = { { 0, 1 }, { 7, 100 }, { 500, 3001 }, { 4000, 5000 } };
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct raw_login login = {};
	struct raw_conn *conn = raw_session(test, test->param_value, &login);
	struct dafs_read_inline_args args = {};
	u8 *data = wire_buf(test);
	u32 i, n;

	dafs_test_pattern(data, 5000, 1);
	dafs_backing_write(test, fix, "file", data, 5000);
	args.filehandle = dafs_test_lookup(test, fix, "file");
	for (i = 0; i < ARRAY_SIZE(places); i++) {
		args.offset = places[i][0];
		args.byte_count = places[i][1];
		n = min(args.byte_count, 5000 - places[i][0]);
		DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
				   raw_call(conn, DAFS_PROC_READ_INLINE, &args, NULL));
		KUNIT_ASSERT_EQ(test, WIRE_READ_DATA + n, conn->last->len);
		KUNIT_EXPECT_EQ(test, n, wire_get32(conn, WIRE_READ_COUNT));
		KUNIT_EXPECT_MEMEQ(test, data + args.offset, conn->last->data + WIRE_READ_DATA, n);
	}
}

/* Makes a WRITE_INLINE a padded one.  Return: bytes. */
static u32 wire_pad_write(const struct raw_conn *conn, u8 *buf, u32 len, u32 header)
{
	u32 n = len - WIRE_WRITE_DATA;

	memmove(buf + header, buf + WIRE_WRITE_DATA, n);
	memset(buf + WIRE_WRITE_DATA, 0, header - WIRE_WRITE_DATA);
	dafs_put32(1, buf + WIRE_WRITE_PADDED, conn->swab);
	dafs_put32(header + n, buf + WIRE_REQUEST_LEN, conn->swab);
	if (conn->cksum)
		dafs_msg_cksum(buf, header + n);
	return header + n;
}

/*
 * R-3.1.2.2-09: the data of a padded write is at the offset that the server has
 * granted, not that which the client has asked for
 */
static void dafs_wire_padded_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct raw_login login = { .opts.inline_write_header_size = 509 };
	struct raw_conn *conn = raw_session(test, test->param_value, &login);
	u32 header = login.res.connect.opts.inline_write_header_size;
	struct dafs_write_inline_args args = { .byte_count = 1000 };
	u8 *buf = wire_buf(test), *data = wire_buf(test);
	struct dafs_req_hdr hdr = raw_hdr(conn, DAFS_PROC_WRITE_INLINE);
	struct dafs_res_hdr res;
	u32 len;

	KUNIT_ASSERT_EQ(test, 512, header);
	dafs_backing_write(test, fix, "file", "", 0);
	dafs_backing_chmod(test, fix, "file", 0666);
	dafs_test_pattern(data, 1000, 2);
	args.filehandle = dafs_test_lookup(test, fix, "file");
	args.data = data;
	len = raw_encode(conn, &hdr, &args, buf);
	KUNIT_ASSERT_EQ(test, WIRE_WRITE_DATA + 1000, len);
	KUNIT_EXPECT_MEMEQ(test, data, buf + WIRE_WRITE_DATA, 1000);
	len = wire_pad_write(conn, buf, len, header);
	KUNIT_ASSERT_EQ(test, 0, raw_exchange(conn, buf, len, &res));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, res.status);
	KUNIT_EXPECT_EQ(test, 1000, dafs_backing_read(fix, "file", buf, 2000, 0));
	KUNIT_EXPECT_MEMEQ(test, data, buf, 1000);
}

/* An attribute, and its position if all of wire_attrs[] are included */
struct wire_attr {
	u64 mask;
	u32 at;
	u32 size;
};

static const struct wire_attr wire_attrs[] = {
	{ DAFS_FATTR_OBJECT_TYPE, 16, 4 },
	{ DAFS_FATTR_MODE, 20, 4 },
	{ DAFS_FATTR_NUM_LINKS, 24, 4 },
	{ DAFS_FATTR_OBJECT_SIZE, 32, 8 },
	{ DAFS_FATTR_FILE_ID, 40, 8 },
};

/* R-6.5.13-01: in ascending order for any subset; see wire-layout.md */
static void dafs_wire_attrs_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct raw_login login = {};
	struct raw_conn *conn = raw_session(test, test->param_value, &login);
	struct dafs_getattr_args args = {};
	u64 want[ARRAY_SIZE(wire_attrs)];
	struct kstat stat;
	u32 some, i, at;

	dafs_backing_write(test, fix, "file", "some data", 9);
	dafs_backing_chmod(test, fix, "file", 0641);
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_stat(fix, "file", &stat));
	want[0] = DAFS_TYPE_REG;
	want[1] = 0641;
	want[2] = 1;
	want[3] = 9;
	want[4] = stat.ino;
	args.filehandle = dafs_test_lookup(test, fix, "file");
	for (some = 0; some < BIT(ARRAY_SIZE(wire_attrs)); some++) {
		args.attr_request_bitmap = 0;
		for (i = 0; i < ARRAY_SIZE(wire_attrs); i++)
			if (some & BIT(i))
				args.attr_request_bitmap |= wire_attrs[i].mask;
		DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
				   raw_call(conn, DAFS_PROC_GETATTR_INLINE, &args, NULL));
		at = DAFS_HDR_SIZE + wire_get32(conn, DAFS_HDR_SIZE);
		/* R-6.1.1.1-03: like all items on the heap */
		KUNIT_EXPECT_EQ(test, 0, at % 8);
		KUNIT_EXPECT_EQ(test, args.attr_request_bitmap, wire_get64(conn, at));
		KUNIT_EXPECT_EQ(test, args.attr_request_bitmap, wire_get64(conn, at + 8));
		at += 16;
		for (i = 0; i < ARRAY_SIZE(wire_attrs); i++) {
			if (!(some & BIT(i)))
				continue;
			at = round_up(at, wire_attrs[i].size);
			KUNIT_EXPECT_EQ_MSG(test, want[i], wire_attrs[i].size == 8 ?
					    wire_get64(conn, at) : wire_get32(conn, at),
					    "attribute %u of %x", i, some);
			at += wire_attrs[i].size;
		}
	}
}

/* R-6.5.1-01: a NULL and its response are only a header */
static void dafs_wire_null_test(struct kunit *test)
{
	struct raw_login login = {};
	struct raw_conn *conn = raw_session(test, test->param_value, &login);
	struct dafs_req_hdr hdr = raw_hdr(conn, DAFS_PROC_NULL);
	u8 *buf = wire_buf(test);

	KUNIT_EXPECT_EQ(test, DAFS_HDR_SIZE, raw_encode(conn, &hdr, NULL, buf));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_call(conn, DAFS_PROC_NULL, NULL, NULL));
	KUNIT_EXPECT_EQ(test, DAFS_HDR_SIZE, conn->last->len);
	KUNIT_EXPECT_EQ(test, DAFS_HDR_SIZE, wire_get32(conn, WIRE_RESPONSE_LEN));
}

static dafs_status_t wire_status(const struct raw_conn *conn)
{
	return DAFS_STATUS(wire_get32(conn, WIRE_STATUS));
}

/* R-7-01: the header has the error; most errors have no results */
static void dafs_wire_error_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct raw_login login = {};
	struct raw_conn *conn = raw_session(test, test->param_value, &login);
	struct dafs_remove_args remove = {
		.filehandle = fix->dir,
		.target = dafs_test_str("missing"),
	};
	struct dafs_getattr_args getattr = {};

	raw_call(conn, DAFS_PROC_REMOVE, &remove, NULL);
	DAFS_EXPECT_STATUS(test, DAFSERR_NOENT, wire_status(conn));
	KUNIT_EXPECT_EQ(test, DAFS_HDR_SIZE, conn->last->len);
	memset(&getattr.filehandle, 0xa5, sizeof(getattr.filehandle));
	raw_call(conn, DAFS_PROC_GETATTR_INLINE, &getattr, NULL);
	DAFS_EXPECT_STATUS(test, DAFSERR_BADHANDLE, wire_status(conn));
	KUNIT_EXPECT_EQ(test, DAFS_HDR_SIZE, conn->last->len);
	raw_call(conn, DAFS_PROC_BC_NULL, NULL, NULL);
	DAFS_EXPECT_STATUS(test, DAFSERR_NOTSUPP, wire_status(conn));
	KUNIT_EXPECT_EQ(test, DAFS_HDR_SIZE, conn->last->len);
}

/* R-6-01: one message is one request, even if bytes behind it look like another one */
static void dafs_wire_one_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct raw_login login = {};
	struct raw_conn *conn = raw_session(test, test->param_value, &login);
	struct dafs_create_args args = {
		.filehandle = fix->dir,
		.component = dafs_test_str("second"),
		.obj_type = DAFS_TYPE_DIR,
	};
	struct dafs_req_hdr hdr = raw_hdr(conn, DAFS_PROC_NULL);
	u8 *buf = wire_buf(test), *both = wire_buf(test);
	struct dafs_res_hdr res;
	struct kstat stat;
	u32 len;

	raw_encode(conn, &hdr, NULL, both);
	hdr = raw_hdr(conn, DAFS_PROC_CREATE);
	hdr.stream_id = 1;
	len = raw_encode(conn, &hdr, &args, buf);
	memcpy(both + DAFS_HDR_SIZE, buf, len);
	KUNIT_ASSERT_EQ(test, 0, raw_exchange(conn, both, DAFS_HDR_SIZE + len, &res));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, res.status);
	KUNIT_EXPECT_NULL(test, raw_recv(conn, RAW_QUIET_MS));
	KUNIT_EXPECT_EQ(test, -ENOENT, dafs_backing_stat(fix, "second", &stat));
	/* the same bytes alone are a valid request */
	KUNIT_ASSERT_EQ(test, 0, raw_exchange(conn, buf, len, &res));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, res.status);
	KUNIT_EXPECT_EQ(test, 0, dafs_backing_stat(fix, "second", &stat));
}

/*
 * R-3.2.6.4.1-01: the negotiated options do not change; R-5.2.1-02: no response
 * cache, even if the client asks for one
 */
static void dafs_wire_fixed_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct raw_login login = {
		.opts.max_request_size = DAFS_MIN_MSG_SIZE,
		.opts.max_response_size = DAFS_MIN_MSG_SIZE,
		.opts.use_response_cache = 1,
	};
	struct raw_login again = { .id = "again" };
	struct raw_conn *conn = raw_session(test, test->param_value, &login);
	struct dafs_read_inline_args args = { .byte_count = 5000 };
	u8 *data = wire_buf(test);
	unsigned int i;

	KUNIT_EXPECT_EQ(test, DAFS_MIN_MSG_SIZE, login.res.connect.opts.max_response_size);
	KUNIT_EXPECT_EQ(test, 0, login.res.connect.opts.use_response_cache);
	dafs_backing_write(test, fix, "file", data, 5000);
	args.filehandle = dafs_test_lookup(test, fix, "file");
	for (i = 0; i < 2; i++) {
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
				   raw_call(conn, DAFS_PROC_READ_INLINE, &args, NULL));
		KUNIT_EXPECT_EQ(test, DAFS_MIN_MSG_SIZE, conn->last->len);
		DAFS_EXPECT_STATUS(test, DAFSERR_ILLEGAL_STATE, raw_login(conn, &again));
	}
}

/* The requests of the server */

/* A session and its back-control channel, perhaps not bound yet */
struct wire_bound {
	struct raw_login login;
	struct raw_conn *op;
	struct raw_conn *bc;
	struct dafs_connect_bind_args args;
};

static void wire_bind(struct kunit *test, struct wire_bound *bound, bool other_order)
{
	struct dafs_flavour flavour = *(const struct dafs_flavour *)test->param_value;

	flavour.back_control = true;
	bound->op = raw_session(test, &flavour, &bound->login);
	flavour.swab ^= other_order;
	bound->bc = raw_connect_flavour(test, &flavour, DAFS_CHANNEL_BACK_CONTROL);
	bound->bc->cksum = bound->op->cksum;
	bound->args = (struct dafs_connect_bind_args) {
		.session_id = bound->login.res.connect.session_id,
		.channel_use = DAFS_BACK_CONTROL_CHANNEL,
		.max_request_size = DAFS_MIN_MSG_SIZE,
		.max_response_size = DAFS_MIN_MSG_SIZE,
		.max_requests = 3,
	};
}

/* R-6.1.1.5-01 R-6.1.1.5-02: a channel with another byte order is not bound to the session */
static void dafs_wire_bind_order_test(struct kunit *test)
{
	struct wire_bound bound = {};
	dafs_status_t status;

	wire_bind(test, &bound, true);
	/* an answer has no checksum, because the channel is not bound */
	bound.bc->cksum = false;
	status = raw_call(bound.bc, DAFS_PROC_CONNECT_BIND, &bound.args, NULL);
	KUNIT_EXPECT_TRUE(test, status != DAFS_STATUS_OK);
	KUNIT_EXPECT_TRUE(test, raw_closed(bound.bc, RAW_WAIT_MS));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   raw_call(bound.op, DAFS_PROC_NULL, NULL, NULL));
	/* then a channel with the right byte order can be bound */
	bound.bc = raw_connect_flavour(test, test->param_value, DAFS_CHANNEL_BACK_CONTROL);
	bound.bc->cksum = bound.op->cksum;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   raw_call(bound.bc, DAFS_PROC_CONNECT_BIND, &bound.args, NULL));
}

static void wire_put_call(void *call)
{
	dafs_call_put(call);
}

/* The server sends a BC_NULL. Return: 0 or a negative errno. */
static int wire_directive(struct kunit *test, struct dafs_requester *rq, struct dafs_call **sent)
{
	struct dafs_call *call = dafs_call_alloc(GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, call);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, wire_put_call, call));
	call->proc = DAFS_PROC_BC_NULL;
	*sent = call;
	return dafs_call_start_chain(rq, call);
}

static struct dafs_requester *wire_requester(struct kunit *test, struct wire_bound *bound)
{
	struct dafsd_session *ses;

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   raw_call(bound->bc, DAFS_PROC_CONNECT_BIND, &bound->args, NULL));
	ses = dafs_fixture_at_server(test, &bound->args.session_id);
	KUNIT_ASSERT_NOT_NULL(test, ses->bc);
	return ses->bc->requester;
}

/* R-6-02 R-6.1.1.5-01: the server sends requests in the byte order of the client */
static void dafs_wire_directive_test(struct kunit *test)
{
	const struct dafs_flavour *flavour = test->param_value;
	struct wire_bound bound = {};
	struct dafs_requester *rq;
	struct dafs_req_hdr hdr;
	struct dafs_call *call;
	struct raw_msg *msg;

	wire_bind(test, &bound, false);
	rq = wire_requester(test, &bound);
	KUNIT_ASSERT_EQ(test, 0, wire_directive(test, rq, &call));
	msg = raw_recv(bound.bc, RAW_WAIT_MS);
	KUNIT_ASSERT_NOT_NULL(test, msg);
	KUNIT_EXPECT_EQ(test, DAFS_HDR_SIZE, msg->len);
	KUNIT_EXPECT_EQ(test, DAFS_REQUEST_MAGIC, dafs_get32(msg->data, flavour->swab));
	KUNIT_EXPECT_EQ(test, DAFS_PROC_BC_NULL, dafs_get32(msg->data + 32, flavour->swab));
	KUNIT_EXPECT_EQ(test, 0, raw_get_hdr(bound.bc, msg, &hdr));
	raw_answer(bound.bc, &hdr, DAFS_STATUS_OK, 3, NULL);
	kfree(msg);
	KUNIT_EXPECT_EQ(test, 0, dafs_call_wait(call));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, call->status);
	/* and never on the operation channel */
	KUNIT_EXPECT_NULL(test, raw_recv(bound.op, 0));
}

/*
 * R-3.2.6.3-05 R-6.2.5-06: as many requests at once as were negotiated, then one for each
 * response
 */
static void dafs_wire_directive_limit_test(struct kunit *test)
{
	struct wire_bound bound = {};
	struct dafs_requester *rq;
	struct dafs_req_hdr hdr;
	struct dafs_call *call;
	struct raw_msg *msg;
	unsigned int i;

	wire_bind(test, &bound, false);
	rq = wire_requester(test, &bound);
	for (i = 0; i < 3; i++)
		KUNIT_ASSERT_EQ(test, 0, wire_directive(test, rq, &call));
	KUNIT_EXPECT_EQ(test, -EAGAIN, wire_directive(test, rq, &call));
	for (i = 0; i < 3; i++) {
		msg = raw_recv(bound.bc, RAW_WAIT_MS);
		KUNIT_ASSERT_NOT_NULL(test, msg);
		KUNIT_EXPECT_EQ(test, 0, raw_get_hdr(bound.bc, msg, &hdr));
		kfree(msg);
	}
	KUNIT_EXPECT_NULL(test, raw_recv(bound.bc, RAW_QUIET_MS));
	raw_answer(bound.bc, &hdr, DAFS_STATUS_OK, 3, NULL);
}

static struct kunit_case dafs_wire_cases[] = {
	KUNIT_CASE_PARAM(dafs_wire_read_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_wire_padded_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_wire_attrs_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_wire_null_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_wire_error_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_wire_one_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_wire_fixed_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_wire_bind_order_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_wire_directive_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_wire_directive_limit_test, dafs_flavours_gen),
	{}
};

static struct kunit_suite dafs_wire_suite = {
	.name = "dafs_wire",
	.test_cases = dafs_wire_cases,
};

kunit_test_suite(dafs_wire_suite);
