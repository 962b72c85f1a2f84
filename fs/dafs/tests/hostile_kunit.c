// SPDX-License-Identifier: GPL-2.0
/*
 * Peers that mean harm, or do not know better.  A bad message costs its sender
 * the session and never more: whatever a client does here, another one goes
 * on undisturbed; whatever a server does, the client drops that connection and
 * makes a new one, or gives up in its time.
 */
#include <linux/prandom.h>
#include <linux/random.h>
#include <linux/slab.h>
#include "../session_impl.h"
#include "raw.h"

/* A bystander, who must not notice. */

struct hostile {
	struct dafs_session *ses;
	struct dafs_conn *conn;
};

static void hostile_put_conn(void *conn)
{
	dafs_conn_put(conn);
}

static struct hostile hostile_bystander(struct kunit *test)
{
	struct dafs_session_params params;
	struct hostile h;

	dafs_fixture_params(NULL, &params);
	h.ses = dafs_fixture_session(test, &params);
	h.conn = dafs_conn_get(h.ses);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, h.conn);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, hostile_put_conn, h.conn));
	return h;
}

static void hostile_expect_peace(struct kunit *test, struct hostile *h)
{
	KUNIT_EXPECT_EQ(test, 0, dafs_null(h->ses, current_cred()));
	KUNIT_EXPECT_TRUE(test, dafs_chan_is_open(h->conn->op));
}

/* Messages that end the connection without a word. */

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

	/* as the first message, and in a session; in either order */
	hostile_send(test, raw_connect_flavour(test, NULL, 0), test->param_value);
	hostile_send(test, raw_session(test, NULL, &login), test->param_value);
	hostile_send(test, raw_session(test, &swab, &swapped), test->param_value);
	hostile_expect_peace(test, &h);
}

/* E-11: arguments that are not there get INVAL, and who sent them goes */
static void dafs_hostile_body_test(struct kunit *test)
{
	struct hostile h = hostile_bystander(test);
	u8 *buf = kunit_kzalloc(test, RAW_RECV_SIZE, GFP_KERNEL);
	union dafs_args args = {};
	struct dafs_res_hdr res;
	struct raw_conn *conn;
	u32 proc, len;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	for (proc = DAFS_PROC_REGISTER_CRED; proc <= DAFS_PROC_LAST; proc++) {
		struct raw_login login = {};
		struct dafs_req_hdr hdr;

		conn = raw_session(test, test->param_value, &login);
		hdr = raw_hdr(conn, proc);
		memset(&args, 0, sizeof(args));
		len = raw_encode(conn, &hdr, &args, buf);
		if (len > DAFS_HDR_SIZE) {
			/* one byte of the last field of its arguments is missing */
			dafs_put32(DAFS_HDR_SIZE + 3, buf + 36, conn->swab);
			if (conn->cksum)
				dafs_msg_cksum(buf, DAFS_HDR_SIZE + 3);
			KUNIT_ASSERT_EQ(test, 0, raw_exchange(conn, buf, len, &res));
			if (res.status != DAFSERR_NOTSUPP) {
				KUNIT_EXPECT_EQ_MSG(test, DAFSERR_INVAL, res.status, "%s",
						    dafs_proc_name(proc));
				KUNIT_EXPECT_TRUE(test, raw_closed(conn, RAW_WAIT_MS));
			}
		}
		raw_close(test, conn);
	}
	hostile_expect_peace(test, &h);
}

/* R-3.2.5-03 R-3.2.5-04 and E-33: refused, echoed, not executed, and no harm done */
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
		/* the length and what is echoed are not at stake; what wishes to grow is */
		if ((i >= 12 && i < 24) || (i >= 36 && i < 40) || i >= len)
			continue;
		buf[i] ^= 0x40;
		KUNIT_ASSERT_EQ(test, 0, raw_exchange(conn, buf, len, &res));
		KUNIT_ASSERT_EQ_MSG(test, DAFSERR_CHKSUM, res.status, "byte %u", i);
		KUNIT_EXPECT_EQ(test, DAFS_HDR_SIZE, res.len);
		KUNIT_EXPECT_MEMEQ(test, hdr.analyzer, res.analyzer, 8);
		KUNIT_EXPECT_EQ(test, hdr.stream_id, res.stream_id);
		KUNIT_EXPECT_EQ(test, hdr.seq_number, res.seq_number);
		KUNIT_EXPECT_EQ(test, login.res.connect.opts.max_requests, res.target_nreq);
	}
	KUNIT_EXPECT_EQ(test, -ENOENT, dafs_backing_stat(fix, "made", &stat));
	hdr = raw_hdr(conn, DAFS_PROC_CREATE);
	KUNIT_ASSERT_EQ(test, 0, raw_call_hdr(conn, &hdr, &args, &res, NULL));
	KUNIT_EXPECT_EQ(test, DAFS_STATUS_OK, res.status);
	KUNIT_EXPECT_EQ(test, 0, dafs_backing_stat(fix, "made", &stat));
}

/* R-3.2.5-01: none at all is a wrong one, and without the agreement any is right */
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
	KUNIT_EXPECT_EQ(test, flavour->cksum ? DAFSERR_CHKSUM : DAFS_STATUS_OK, res.status);
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
		KUNIT_EXPECT_EQ_MSG(test, DAFSERR_NOTSUPP, res.status, "procedure %u", procs[i]);
	}
	KUNIT_EXPECT_EQ(test, DAFS_STATUS_OK, raw_call(conn, DAFS_PROC_NULL, NULL, NULL));
}

struct hostile_chain {
	u32 proc;
	u16 flags;
};

/* E-61: flags that are wrong whatever a server can do */
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
		KUNIT_EXPECT_EQ_MSG(test, DAFSERR_CHAIN_FORM, res.status, "%s %x",
				    dafs_proc_name(c->proc), c->flags);
		/* whatever chain that was, it ends here */
		KUNIT_EXPECT_EQ(test, DAFS_STATUS_OK, raw_call(conn, DAFS_PROC_NULL, NULL, NULL));
	}
	KUNIT_EXPECT_EQ(test, -ENOENT, dafs_backing_stat(fix, "chained", &stat));
}

/* Filehandles and state-ids. */

static u32 hostile_getattr(struct raw_conn *conn, const struct dafs_fh *fh)
{
	struct dafs_getattr_args args = {
		.filehandle = *fh,
		.attr_request_bitmap = DAFS_FATTR_FILE_ID,
	};

	return raw_call(conn, DAFS_PROC_GETATTR_INLINE, &args, NULL);
}

static bool hostile_is_no_handle(u32 status)
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
	KUNIT_ASSERT_EQ(test, 0, dafs_lookup_path(fix->ses, current_cred(), &fix->dir, &name, 1,
						  &fh));
	KUNIT_EXPECT_EQ(test, DAFS_STATUS_OK, hostile_getattr(conn, &fh));
	/* every byte of a handle counts */
	for (i = 0; i < sizeof(forged); i++) {
		forged = fh;
		((u8 *)&forged)[i] ^= 0x81;
		KUNIT_EXPECT_TRUE_MSG(test, hostile_is_no_handle(hostile_getattr(conn, &forged)),
				      "byte %u", i);
	}
	for (i = 0; i < 64; i++) {
		get_random_bytes(&forged, sizeof(forged));
		KUNIT_EXPECT_EQ(test, DAFSERR_BADHANDLE, hostile_getattr(conn, &forged));
		memcpy(forged.fshandle, fh.fshandle, sizeof(fh.fshandle));
		KUNIT_EXPECT_TRUE(test, hostile_is_no_handle(hostile_getattr(conn, &forged)));
	}
	memset(&forged, 0xff, sizeof(forged));
	KUNIT_EXPECT_EQ(test, DAFSERR_BADHANDLE, hostile_getattr(conn, &forged));
	dafs_backing_remove(fix, "file");
	KUNIT_EXPECT_EQ(test, DAFSERR_STALE, hostile_getattr(conn, &fh));
	KUNIT_EXPECT_EQ(test, DAFS_STATUS_OK, raw_call(conn, DAFS_PROC_NULL, NULL, NULL));
}

static u32 hostile_read(struct raw_conn *conn, const struct dafs_fh *fh,
			const struct dafs_opaque64 *state_id)
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

	KUNIT_ASSERT_EQ(test, DAFS_STATUS_OK, raw_call(conn, DAFS_PROC_OPEN, &args, res));
}

static u32 hostile_close(struct raw_conn *conn, const struct dafs_fh *fh,
			 const struct dafs_opaque64 *state_id)
{
	struct dafs_close_args args = { .filehandle = *fh, .state_id = *state_id };

	return raw_call(conn, DAFS_PROC_CLOSE, &args, NULL);
}

static bool hostile_is_no_state(u32 status)
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
	struct dafs_opaque64 forged;
	unsigned int i;

	dafs_backing_write(test, fix, "one", "1111", 4);
	dafs_backing_write(test, fix, "two", "2222", 4);
	hostile_open(test, fix, conn, "one", &one);
	hostile_open(test, fix, conn, "two", &two);
	KUNIT_EXPECT_EQ(test, DAFS_STATUS_OK, hostile_read(conn, &one.filehandle, &one.state_id));
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
		KUNIT_EXPECT_TRUE_MSG(test, hostile_is_no_state(hostile_read(conn,
				      &one.filehandle, &forged)), "byte %u", i);
		KUNIT_EXPECT_TRUE_MSG(test, hostile_is_no_state(hostile_close(conn,
				      &one.filehandle, &forged)), "byte %u", i);
	}
	KUNIT_EXPECT_EQ(test, DAFS_STATUS_OK, hostile_close(conn, &one.filehandle,
							    &one.state_id));
	KUNIT_EXPECT_TRUE_MSG(test, hostile_is_no_state(hostile_close(conn, &one.filehandle,
								      &one.state_id)), "twice");
	KUNIT_EXPECT_TRUE_MSG(test, hostile_is_no_state(hostile_read(conn, &one.filehandle,
								     &one.state_id)), "closed");
}
