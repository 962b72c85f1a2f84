// SPDX-License-Identifier: GPL-2.0
/*
 * Chains (4.3) at the server: sent by hand, all requests at once so that some wait
 * for others, and one at a time as with a single credit.
 */
#include <linux/slab.h>
#include "../../../../drivers/dafsd/session/server.h"
#include "../../../../drivers/dafsd/session/conn.h"
#include "../../../../drivers/dafsd/session/session.h"
#include "../lib/raw.h"

#define CHAIN_MAX	8

#define CHAIN_FIRST	DAFS_CHF_FORW
#define CHAIN_MID	(DAFS_CHF_FORW | DAFS_CHF_BACK)
#define CHAIN_LAST	DAFS_CHF_BACK

/**
 * struct chain_req - one request of a chain
 * @hdr: its header
 * @args: its arguments
 * @status: of the response
 * @res: its results
 * @msg: the response, which strings in @res point into
 */
struct chain_req {
	struct dafs_req_hdr hdr;
	union dafs_args args;
	dafs_status_t status;
	union dafs_res res;
	struct raw_msg *msg;
};

/**
 * struct chain - requests in the order of sending
 * @test: the test
 * @fix: fixture with the files
 * @conn: connection to the server
 * @session_id: its session
 * @at_once: send all before any response is taken
 * @nr: number of requests
 * @req: the requests
 */
struct chain {
	struct kunit *test;
	struct dafs_fixture *fix;
	struct raw_conn *conn;
	struct dafs_session_id session_id;
	bool at_once;
	unsigned int nr;
	struct chain_req req[CHAIN_MAX];
};

static void chain_reset(struct chain *c)
{
	unsigned int i;

	for (i = 0; i < CHAIN_MAX; i++)
		kfree(c->req[i].msg);
	memset(c->req, 0, sizeof(c->req));
	c->nr = 0;
}

static void chain_free(void *p)
{
	chain_reset(p);
	kfree(p);
}

static struct chain *chain_new(struct kunit *test, bool at_once)
{
	struct raw_login login = { .opts.max_requests = at_once ? CHAIN_MAX : 1 };
	struct chain *c = kzalloc(sizeof(*c), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, c);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, chain_free, c));
	c->test = test;
	c->at_once = at_once;
	c->fix = dafs_fixture(test, test->param_value);
	c->conn = raw_session(test, test->param_value, &login);
	c->session_id = login.res.connect.session_id;
	return c;
}

/* Adds a request; the caller fills in its arguments. */
static union dafs_args *chain_add(struct chain *c, u32 proc, u16 flags)
{
	struct chain_req *req = &c->req[c->nr];

	KUNIT_ASSERT_LT(c->test, c->nr, CHAIN_MAX);
	req->hdr = raw_hdr(c->conn, proc);
	req->hdr.chain_flags = flags;
	req->hdr.stream_id = c->at_once ? c->nr : 0;
	c->nr++;
	return &req->args;
}

static void chain_send_broken(struct chain *c, unsigned int nth, bool broken)
{
	struct chain_req *req = &c->req[nth];
	u8 *buf = kzalloc(RAW_RECV_SIZE, GFP_KERNEL);
	u32 len;

	KUNIT_ASSERT_NOT_NULL(c->test, buf);
	len = raw_encode(c->conn, &req->hdr, &req->args, buf);
	if (broken)
		buf[len - 1] ^= 1;
	KUNIT_EXPECT_EQ(c->test, 0, raw_send(c->conn, buf, len));
	kfree(buf);
}

static void chain_send(struct chain *c, unsigned int nth)
{
	chain_send_broken(c, nth, false);
}

/* R-4.3-05: each request has its own response, found by stream and number. */
static void chain_take(struct chain *c, struct raw_msg *msg)
{
	struct dafs_buf buf = { .base = msg->data, .len = msg->len, .swab = c->conn->swab };
	struct dafs_res_hdr hdr;
	struct chain_req *req;
	unsigned int i;

	KUNIT_EXPECT_EQ(c->test, 0, dafs_get_res_hdr(&buf, &hdr));
	for (i = 0; i < c->nr; i++) {
		req = &c->req[i];
		if (req->msg || req->hdr.stream_id != hdr.stream_id ||
		    req->hdr.seq_number != hdr.seq_number)
			continue;
		req->msg = msg;
		req->status = hdr.status;
		buf.len = hdr.len;
		if (!hdr.status)
			KUNIT_EXPECT_EQ(c->test, 0,
					dafs_decode_res(&buf, req->hdr.procedure, &req->res));
		return;
	}
	kfree(msg);
	KUNIT_FAIL(c->test, "a response to nothing");
}

static void chain_recv(struct chain *c)
{
	struct raw_msg *msg = raw_recv(c->conn, RAW_WAIT_MS);

	KUNIT_ASSERT_NOT_NULL(c->test, msg);
	chain_take(c, msg);
}

static void chain_run(struct chain *c)
{
	unsigned int i;

	for (i = 0; i < c->nr; i++) {
		chain_send(c, i);
		if (!c->at_once)
			chain_recv(c);
	}
	for (i = 0; c->at_once && i < c->nr; i++)
		chain_recv(c);
}

#define CHAIN_EXPECT(c, nth, expected)	\
	DAFS_EXPECT_STATUS((c)->test, expected, (c)->req[nth].status)

static void chain_ok(struct chain *c)
{
	unsigned int i;

	for (i = 0; i < c->nr; i++)
		DAFS_EXPECT_STATUS_MSG(c->test, DAFS_STATUS_OK, c->req[i].status, "request %u", i);
}

/* First requests of many tests; the name must stay valid until they are sent. */
static void chain_lookup(struct chain *c, u16 flags, const struct dafs_str *name)
{
	chain_add(c, DAFS_PROC_LOOKUP, flags)->lookup = (struct dafs_lookup_args) {
		.directory = c->fix->dir,
		.path = { .count = 1, .elems = name },
	};
}

static void chain_getattr(struct chain *c, u16 flags)
{
	chain_add(c, DAFS_PROC_GETATTR_INLINE, flags)->getattr.attr_request_bitmap =
		DAFS_FATTR_FILE_ID | DAFS_FATTR_OBJECT_TYPE;
}

static void chain_create(struct chain *c, u16 flags, const struct dafs_fh *dir, const char *name)
{
	chain_add(c, DAFS_PROC_CREATE, flags)->create = (struct dafs_create_args) {
		.filehandle = dir ? *dir : (struct dafs_fh) {},
		.component = dafs_test_str(name),
		.obj_type = DAFS_TYPE_DIR,
	};
}

static void chain_remove(struct chain *c, u16 flags, const char *name)
{
	chain_add(c, DAFS_PROC_REMOVE, flags)->remove = (struct dafs_remove_args) {
		.filehandle = c->fix->dir,
		.target = dafs_test_str(name),
		.remove_mode = DAFS_REMOVE_UNCHECKED,
	};
}

static void chain_expect_ino(struct chain *c, unsigned int nth, const char *name)
{
	struct kstat stat = {};

	KUNIT_EXPECT_EQ(c->test, 0, dafs_backing_stat(c->fix, name, &stat));
	CHAIN_EXPECT(c, nth, DAFS_STATUS_OK);
	KUNIT_EXPECT_EQ(c->test, stat.ino, c->req[nth].res.getattr.obj_attributes.file_id);
}

static bool chain_exists(struct chain *c, const char *name)
{
	struct kstat stat;

	return !dafs_backing_stat(c->fix, name, &stat);
}

/* Runs each test with all requests at once and with one credit: R-4.3.3-01 R-4.3.3-04 */
static void chain_both(struct kunit *test, void (*run)(struct chain *c))
{
	run(chain_new(test, true));
	run(chain_new(test, false));
}

/* R-4.1.3.1-01 R-4.1.3.1-02 R-4.1.3.1-03 R-6.5.13-03 */
static void chain_handles(struct chain *c)
{
	struct dafs_str name = dafs_test_str("file");

	dafs_backing_write(c->test, c->fix, "file", "content", 7);
	chain_lookup(c, CHAIN_FIRST, &name);
	chain_getattr(c, CHAIN_MID | DAFS_CHF_FH);
	chain_add(c, DAFS_PROC_ACCESS, CHAIN_MID | DAFS_CHF_FH)->access.access = DAFS_ACCESS_READ;
	chain_add(c, DAFS_PROC_READ_INLINE, CHAIN_LAST | DAFS_CHF_FH)->read_inline.byte_count = 20;
	chain_run(c);
	chain_ok(c);
	chain_expect_ino(c, 1, "file");
	KUNIT_EXPECT_EQ(c->test, DAFS_ACCESS_READ, c->req[2].res.access.access);
	KUNIT_ASSERT_EQ(c->test, 7, c->req[3].res.read_inline.bytes_read);
	KUNIT_EXPECT_MEMEQ(c->test, "content", c->req[3].res.read_inline.read_data, 7);
}

static void dafs_chain_handles_test(struct kunit *test)
{
	chain_both(test, chain_handles);
}

/* R-4.3-03; the next chain is not affected */
static void chain_broken(struct chain *c)
{
	struct dafs_str missing = dafs_test_str("missing"), name = dafs_test_str("file");

	dafs_backing_write(c->test, c->fix, "file", "x", 1);
	chain_lookup(c, CHAIN_FIRST, &missing);
	chain_getattr(c, CHAIN_MID | DAFS_CHF_FH);
	chain_create(c, CHAIN_LAST, &c->fix->dir, "never");
	chain_lookup(c, CHAIN_FIRST, &name);
	chain_getattr(c, CHAIN_LAST | DAFS_CHF_FH);
	chain_run(c);
	CHAIN_EXPECT(c, 0, DAFSERR_NOENT);
	CHAIN_EXPECT(c, 1, DAFSERR_CHAIN_BROKEN);
	CHAIN_EXPECT(c, 2, DAFSERR_CHAIN_BROKEN);
	CHAIN_EXPECT(c, 3, DAFS_STATUS_OK);
	chain_expect_ino(c, 4, "file");
	KUNIT_EXPECT_FALSE(c->test, chain_exists(c, "never"));
}

static void dafs_chain_broken_test(struct kunit *test)
{
	chain_both(test, chain_broken);
}

static void chain_open(struct chain *c, u16 flags, const struct dafs_str *name)
{
	union dafs_args *args = chain_add(c, DAFS_PROC_OPEN, flags);

	args->open = dafs_test_open_args("chain", DAFS_OPEN_SHARE_ACCESS_BOTH,
					 DAFS_OPEN_SHARE_DENY_NONE);
	args->open.dir_handle = c->fix->dir;
	args->open.pathname = (struct dafs_seq) { .count = 1, .elems = name };
	args->open.open_type = DAFS_OPEN_CREATE;
	args->open.createmode = DAFS_CREATE_GUARDED;
}

static void chain_write(struct chain *c, u16 flags, const char *text)
{
	chain_add(c, DAFS_PROC_WRITE_INLINE, flags)->write_inline =
		(struct dafs_write_inline_args) {
			.byte_count = strlen(text),
			.stable_how = DAFS_UNSTABLE,
			.data = (const u8 *)text,
		};
}

/*
 * R-6.5.24-24 R-4.3.2-07: create, write and close a file with requests that contain
 * neither its filehandle nor its state-id; R-4.3-01: in this order
 */
static void chain_open_write_close(struct chain *c)
{
	struct dafs_str name = dafs_test_str("made");
	u8 buf[8] = {};

	chain_open(c, CHAIN_FIRST, &name);
	chain_write(c, CHAIN_MID | DAFS_CHF_FH | DAFS_CHF_STATEID, "older");
	chain_write(c, CHAIN_MID | DAFS_CHF_FH | DAFS_CHF_STATEID, "newer");
	chain_add(c, DAFS_PROC_COMMIT, CHAIN_MID | DAFS_CHF_FH);
	chain_add(c, DAFS_PROC_CLOSE, CHAIN_LAST | DAFS_CHF_FH | DAFS_CHF_STATEID);
	chain_run(c);
	chain_ok(c);
	KUNIT_EXPECT_EQ(c->test, 5, dafs_backing_read(c->fix, "made", buf, sizeof(buf), 0));
	KUNIT_EXPECT_MEMEQ(c->test, "newer", buf, 5);
	/* the open is closed: an OPEN that denies access succeeds */
	chain_reset(c);
	chain_open(c, 0, &name);
	c->req[0].args.open.open_type = DAFS_OPEN_NOCREATE;
	c->req[0].args.open.share_deny = DAFS_OPEN_SHARE_DENY_BOTH;
	chain_run(c);
	chain_ok(c);
}

static void dafs_chain_open_test(struct kunit *test)
{
	chain_both(test, chain_open_write_close);
}

/* R-4.3-02 R-6.5.9-04: each directory is made in the previous one */
static void chain_deep(struct chain *c)
{
	chain_create(c, CHAIN_FIRST, &c->fix->dir, "a");
	chain_create(c, CHAIN_MID | DAFS_CHF_FH, NULL, "b");
	chain_create(c, CHAIN_MID | DAFS_CHF_FH, NULL, "c");
	chain_create(c, CHAIN_MID | DAFS_CHF_FH, NULL, "d");
	chain_getattr(c, CHAIN_LAST | DAFS_CHF_FH);
	chain_run(c);
	chain_ok(c);
	chain_expect_ino(c, 4, "a/b/c/d");
}

static void dafs_chain_deep_test(struct kunit *test)
{
	chain_both(test, chain_deep);
}

/* R-6.5.17-03 R-6.5.34-07 R-4.1.4-22: a chain's directory as target, and then further */
static void chain_targets(struct chain *c)
{
	struct dafs_str dir = dafs_test_str("dir"), link = dafs_test_str("link");
	struct dafs_str moved = dafs_test_str("moved");
	union dafs_args *args;

	dafs_backing_mkdir(c->test, c->fix, "dir", 0777);
	dafs_backing_write(c->test, c->fix, "file", "x", 1);
	chain_lookup(c, CHAIN_FIRST, &dir);
	args = chain_add(c, DAFS_PROC_LINK, CHAIN_MID | DAFS_CHF_FH);
	args->link.source_object = dafs_test_lookup(c->test, c->fix, "file");
	args->link.newname = link;
	args = chain_add(c, DAFS_PROC_RENAME, CHAIN_MID | DAFS_CHF_FH);
	args->rename.sourcedir = c->fix->dir;
	args->rename.oldname = dafs_test_str("file");
	args->rename.newname = moved;
	chain_lookup(c, CHAIN_MID | DAFS_CHF_FH, &moved);
	chain_getattr(c, CHAIN_LAST | DAFS_CHF_FH);
	chain_run(c);
	chain_ok(c);
	chain_expect_ino(c, 4, "dir/link");
	chain_expect_ino(c, 4, "dir/moved");
	KUNIT_EXPECT_FALSE(c->test, chain_exists(c, "file"));
}

static void dafs_chain_targets_test(struct kunit *test)
{
	chain_both(test, chain_targets);
}

/* R-6.5.23-03 R-6.5.37-01: a failed comparison ends the chain */
static void chain_verify(struct chain *c)
{
	struct dafs_fh fh = c->fix->dir;
	u32 procs[] = { DAFS_PROC_VERIFY, DAFS_PROC_NVERIFY };
	union dafs_args *args;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(procs); i++) {
		bool is_dir = procs[i] == DAFS_PROC_VERIFY;

		/* first a comparison that succeeds, then one that fails */
		chain_reset(c);
		args = chain_add(c, procs[i], CHAIN_FIRST);
		args->verify.filehandle = fh;
		args->verify.obj_attributes.included = DAFS_FATTR_OBJECT_TYPE;
		args->verify.obj_attributes.valid = DAFS_FATTR_OBJECT_TYPE;
		args->verify.obj_attributes.object_type = is_dir ? DAFS_TYPE_DIR : DAFS_TYPE_REG;
		chain_getattr(c, CHAIN_MID | DAFS_CHF_FH);
		args = chain_add(c, procs[i], CHAIN_MID | DAFS_CHF_FH);
		args->verify.obj_attributes = c->req[0].args.verify.obj_attributes;
		args->verify.obj_attributes.object_type = is_dir ? DAFS_TYPE_REG : DAFS_TYPE_DIR;
		chain_getattr(c, CHAIN_LAST | DAFS_CHF_FH);
		chain_run(c);
		CHAIN_EXPECT(c, 0, DAFS_STATUS_OK);
		CHAIN_EXPECT(c, 1, DAFS_STATUS_OK);
		CHAIN_EXPECT(c, 2, is_dir ? DAFSERR_NOT_SAME : DAFSERR_SAME);
		CHAIN_EXPECT(c, 3, DAFSERR_CHAIN_BROKEN);
	}
}

static void dafs_chain_verify_test(struct kunit *test)
{
	chain_both(test, chain_verify);
}

/* R-4.3.1-03: data fetched by RDMA could not be fetched again after a change */
static void chain_bulk_of(struct chain *c, u32 proc)
{
	chain_reset(c);
	dafs_backing_write(c->test, c->fix, "file", "x", 1);
	chain_add(c, proc, CHAIN_FIRST)->getattr.filehandle = c->fix->dir;
	chain_add(c, DAFS_PROC_ACCESS, CHAIN_MID | DAFS_CHF_FH);
	chain_remove(c, CHAIN_MID, "file");
	chain_getattr(c, CHAIN_LAST | DAFS_CHF_FH);
	chain_run(c);
	CHAIN_EXPECT(c, 0, DAFS_STATUS_OK);
	CHAIN_EXPECT(c, 1, DAFS_STATUS_OK);
	CHAIN_EXPECT(c, 2, DAFSERR_CHAIN_FORM);
	CHAIN_EXPECT(c, 3, DAFSERR_CHAIN_BROKEN);
	KUNIT_EXPECT_TRUE(c->test, chain_exists(c, "file"));
}

static void chain_bulk(struct chain *c)
{
	struct dafs_fh file;

	chain_bulk_of(c, DAFS_PROC_GETATTR_INLINE);
	chain_bulk_of(c, DAFS_PROC_GET_FSATTR);
	chain_reset(c);
	file = dafs_test_lookup(c->test, c->fix, "file");
	chain_add(c, DAFS_PROC_GET_FSATTR, CHAIN_FIRST)->getattr.filehandle = file;
	chain_add(c, DAFS_PROC_COMMIT, CHAIN_LAST | DAFS_CHF_FH);
	chain_run(c);
	CHAIN_EXPECT(c, 0, DAFS_STATUS_OK);
	CHAIN_EXPECT(c, 1, DAFSERR_CHAIN_FORM);
}

static void dafs_chain_bulk_test(struct kunit *test)
{
	chain_both(test, chain_bulk);
}

/* R-4.3.1-07: an open is not a bulk fetch, so it may be closed later in the chain */
static void chain_lock_modify(struct chain *c)
{
	struct dafs_str name = dafs_test_str("file");
	union dafs_args *args;

	dafs_backing_write(c->test, c->fix, "file", "content", 7);
	dafs_backing_chmod(c->test, c->fix, "file", 0666);
	chain_open(c, CHAIN_FIRST, &name);
	c->req[0].args.open.open_type = DAFS_OPEN_NOCREATE;
	args = chain_add(c, DAFS_PROC_READ_INLINE, CHAIN_MID | DAFS_CHF_FH | DAFS_CHF_STATEID);
	args->read_inline.byte_count = 7;
	args = chain_add(c, DAFS_PROC_OPEN_DOWNGRADE,
			 CHAIN_LAST | DAFS_CHF_FH | DAFS_CHF_STATEID);
	args->open_downgrade.share_access = DAFS_OPEN_SHARE_ACCESS_READ;
	chain_run(c);
	chain_ok(c);
	KUNIT_EXPECT_EQ(c->test, 7, c->req[1].res.read_inline.bytes_read);
}

static void dafs_chain_lock_modify_test(struct kunit *test)
{
	chain_both(test, chain_lock_modify);
}

/* R-7-03: the client may have only two opens */
static void chain_resource(struct chain *c)
{
	struct dafs_str names[] = {
		dafs_test_str("one"), dafs_test_str("two"), dafs_test_str("three"),
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		chain_open(c, i ? CHAIN_MID : CHAIN_FIRST, &names[i]);
	chain_getattr(c, CHAIN_LAST | DAFS_CHF_FH);
	chain_run(c);
	CHAIN_EXPECT(c, 0, DAFS_STATUS_OK);
	CHAIN_EXPECT(c, 1, DAFS_STATUS_OK);
	CHAIN_EXPECT(c, 2, DAFSERR_RESOURCE);
	CHAIN_EXPECT(c, 3, DAFSERR_CHAIN_BROKEN);
}

static void dafs_chain_resource_test(struct kunit *test)
{
	dafs_fixture_server_param(test, &dafsd_max_opens, 2);
	chain_both(test, chain_resource);
}

/* E-62, E-63: no filehandle to pass on; a state-id argument that the request does not have */
static void chain_nothing(struct chain *c)
{
	struct dafs_str name = dafs_test_str("file");

	dafs_backing_write(c->test, c->fix, "file", "x", 1);
	chain_add(c, DAFS_PROC_NULL, CHAIN_FIRST);
	chain_getattr(c, CHAIN_LAST | DAFS_CHF_FH);
	chain_lookup(c, CHAIN_FIRST, &name);
	chain_add(c, DAFS_PROC_READ_INLINE, CHAIN_LAST | DAFS_CHF_FH | DAFS_CHF_STATEID);
	chain_lookup(c, CHAIN_FIRST, &name);
	chain_add(c, DAFS_PROC_NULL, CHAIN_MID | DAFS_CHF_FH | DAFS_CHF_STATEID);
	chain_getattr(c, CHAIN_LAST | DAFS_CHF_FH | DAFS_CHF_STATEID);
	chain_run(c);
	CHAIN_EXPECT(c, 1, DAFSERR_NOFILEHANDLE);
	CHAIN_EXPECT(c, 3, DAFSERR_BAD_STATEID);
	CHAIN_EXPECT(c, 5, DAFS_STATUS_OK);
	chain_expect_ino(c, 6, "file");
}

static void dafs_chain_nothing_test(struct kunit *test)
{
	chain_both(test, chain_nothing);
}

/* All procedures with a filehandle argument, and those that have a state-id too */
static const u32 chain_fh_procs[] = {
	DAFS_PROC_ACCESS, DAFS_PROC_CACHE_HINT, DAFS_PROC_COMMIT, DAFS_PROC_CREATE,
	DAFS_PROC_GETATTR_DIRECT, DAFS_PROC_GETATTR_INLINE, DAFS_PROC_GET_FSATTR,
	DAFS_PROC_LINK, DAFS_PROC_LOOKUP, DAFS_PROC_LOOKUPP, DAFS_PROC_NVERIFY, DAFS_PROC_OPEN,
	DAFS_PROC_READDIR_DIRECT, DAFS_PROC_READDIR_INLINE, DAFS_PROC_READLINK_DIRECT,
	DAFS_PROC_READLINK_INLINE, DAFS_PROC_REMOVE, DAFS_PROC_RENAME, DAFS_PROC_VERIFY,
};

static const u32 chain_state_id_procs[] = {
	DAFS_PROC_APPEND_DIRECT, DAFS_PROC_APPEND_INLINE, DAFS_PROC_CLOSE,
	DAFS_PROC_OPEN_DOWNGRADE, DAFS_PROC_READ_DIRECT, DAFS_PROC_READ_INLINE,
	DAFS_PROC_SETATTR_DIRECT, DAFS_PROC_SETATTR_INLINE, DAFS_PROC_WRITE_DIRECT,
	DAFS_PROC_WRITE_INLINE,
};

static void chain_expect_second(struct chain *c, u32 first, u32 proc, u16 flags,
				dafs_status_t expected)
{
	chain_reset(c);
	chain_add(c, first, CHAIN_FIRST);
	chain_add(c, proc, CHAIN_LAST | flags);
	chain_run(c);
	CHAIN_EXPECT(c, 0, DAFS_STATUS_OK);
	DAFS_EXPECT_STATUS_MSG(c->test, expected, c->req[1].status, "%s", dafs_proc_name(proc));
}

/* R-4.3.2-06 R-4.3.2-07: each uses the passed handle, and no other */
static void chain_every(struct chain *c)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(chain_fh_procs); i++)
		chain_expect_second(c, DAFS_PROC_NULL, chain_fh_procs[i], DAFS_CHF_FH,
				    DAFSERR_NOFILEHANDLE);
	for (i = 0; i < ARRAY_SIZE(chain_state_id_procs); i++) {
		chain_expect_second(c, DAFS_PROC_NULL, chain_state_id_procs[i], DAFS_CHF_FH,
				    DAFSERR_NOFILEHANDLE);
		chain_expect_second(c, DAFS_PROC_GET_ROOT_HANDLE, chain_state_id_procs[i],
				    DAFS_CHF_FH | DAFS_CHF_STATEID, DAFSERR_BAD_STATEID);
	}
}

static void dafs_chain_every_test(struct kunit *test)
{
	chain_both(test, chain_every);
}

/*
 * R-4.3.2-02 R-4.3.2-03 R-4.3.3-03: a neighbouring request that is not part of the chain
 * breaks it, and is not executed; R-4.3.2-04: nor is one whose flags name a missing neighbour
 */
static void chain_stranger(struct chain *c)
{
	struct dafs_str name = dafs_test_str("file");

	dafs_backing_write(c->test, c->fix, "file", "x", 1);
	chain_lookup(c, CHAIN_FIRST, &name);
	chain_create(c, 0, &c->fix->dir, "stranger");
	chain_getattr(c, CHAIN_LAST | DAFS_CHF_FH);
	chain_add(c, DAFS_PROC_NULL, 0);
	chain_create(c, CHAIN_MID, &c->fix->dir, "claims");
	chain_create(c, CHAIN_LAST, &c->fix->dir, "follows");
	chain_add(c, DAFS_PROC_NULL, 0);
	chain_run(c);
	CHAIN_EXPECT(c, 0, DAFS_STATUS_OK);
	CHAIN_EXPECT(c, 1, DAFSERR_CHAIN_FORM);
	CHAIN_EXPECT(c, 2, DAFSERR_CHAIN_FORM);
	CHAIN_EXPECT(c, 3, DAFS_STATUS_OK);
	CHAIN_EXPECT(c, 4, DAFSERR_CHAIN_FORM);
	CHAIN_EXPECT(c, 5, DAFSERR_CHAIN_BROKEN);
	CHAIN_EXPECT(c, 6, DAFS_STATUS_OK);
	KUNIT_EXPECT_FALSE(c->test, chain_exists(c, "stranger"));
	KUNIT_EXPECT_FALSE(c->test, chain_exists(c, "claims"));
	KUNIT_EXPECT_FALSE(c->test, chain_exists(c, "follows"));
}

static void dafs_chain_stranger_test(struct kunit *test)
{
	chain_both(test, chain_stranger);
}

struct chain_wrong {
	u32 proc;
	u16 flags;
};

/* R-4.3.1-01 R-4.3.2-01 R-4.3.2-05 R-4.3.2-06 R-4.3.2-07: E-61 (3), at any position */
static const struct chain_wrong chain_wrongs[] = {
	{ DAFS_PROC_SECINFO, CHAIN_FIRST },
	{ DAFS_PROC_SECINFO, CHAIN_LAST },
	{ DAFS_PROC_REGISTER_CRED, CHAIN_FIRST },
	{ DAFS_PROC_REGISTER_CRED, CHAIN_MID },
	{ DAFS_PROC_GETATTR_INLINE, CHAIN_FIRST | DAFS_CHF_SAVE },
	{ DAFS_PROC_GET_FSATTR, CHAIN_FIRST | DAFS_CHF_SAVE },
	{ DAFS_PROC_CREATE, CHAIN_MID | DAFS_CHF_SAVE },
	{ DAFS_PROC_COMMIT, CHAIN_MID | DAFS_CHF_SAVE },
	{ DAFS_PROC_LOOKUP, DAFS_CHF_SAVE },
	{ DAFS_PROC_LOOKUP, CHAIN_LAST | DAFS_CHF_SAVE },
	{ DAFS_PROC_GETATTR_INLINE, DAFS_CHF_FH },
	{ DAFS_PROC_GETATTR_INLINE, CHAIN_FIRST | DAFS_CHF_FH },
	{ DAFS_PROC_READ_INLINE, DAFS_CHF_STATEID },
	{ DAFS_PROC_NULL, CHAIN_FIRST | 0x20 },
	{ DAFS_PROC_NULL, CHAIN_LAST | 0x4000 },
};

static void chain_wrong(struct chain *c)
{
	unsigned int i, last;

	for (i = 0; i < ARRAY_SIZE(chain_wrongs); i++) {
		const struct chain_wrong *wrong = &chain_wrongs[i];

		chain_reset(c);
		if (wrong->flags & DAFS_CHF_BACK)
			chain_add(c, DAFS_PROC_NULL, CHAIN_FIRST);
		chain_add(c, wrong->proc, wrong->flags);
		if (wrong->flags & DAFS_CHF_FORW)
			chain_create(c, CHAIN_LAST, &c->fix->dir, "never");
		chain_run(c);
		last = wrong->flags & DAFS_CHF_BACK ? 1 : 0;
		DAFS_EXPECT_STATUS_MSG(c->test, DAFSERR_CHAIN_FORM, c->req[last].status, "%s %x",
				       dafs_proc_name(wrong->proc), wrong->flags);
		if (wrong->flags & DAFS_CHF_FORW)
			CHAIN_EXPECT(c, last + 1, DAFSERR_CHAIN_BROKEN);
	}
	KUNIT_EXPECT_FALSE(c->test, chain_exists(c, "never"));
}

static void dafs_chain_wrong_test(struct kunit *test)
{
	chain_both(test, chain_wrong);
}

/* A valid SAVE changes nothing (E-64) */
static void chain_save(struct chain *c)
{
	struct dafs_str dir = dafs_test_str("dir");

	dafs_backing_mkdir(c->test, c->fix, "dir", 0777);
	chain_lookup(c, CHAIN_FIRST | DAFS_CHF_SAVE, &dir);
	chain_create(c, CHAIN_LAST | DAFS_CHF_FH, NULL, "new");
	chain_run(c);
	chain_ok(c);
	KUNIT_EXPECT_TRUE(c->test, chain_exists(c, "dir/new"));
}

static void dafs_chain_save_test(struct kunit *test)
{
	chain_both(test, chain_save);
}

/* E-33: after a damaged request its chain flags are unknown */
static void chain_checksum(struct chain *c, u16 next)
{
	struct dafs_str name = dafs_test_str("file");
	unsigned int i;

	chain_reset(c);
	chain_lookup(c, CHAIN_FIRST, &name);
	chain_getattr(c, CHAIN_MID | DAFS_CHF_FH);
	chain_add(c, DAFS_PROC_NULL, next);
	chain_add(c, DAFS_PROC_NULL, 0);
	for (i = 0; i < c->nr; i++)
		chain_send_broken(c, i, i == 1);
	for (i = 0; i < c->nr; i++)
		chain_recv(c);
	CHAIN_EXPECT(c, 0, DAFS_STATUS_OK);
	CHAIN_EXPECT(c, 1, DAFSERR_CHKSUM);
	CHAIN_EXPECT(c, 2, next ? DAFSERR_CHAIN_BROKEN : DAFS_STATUS_OK);
	CHAIN_EXPECT(c, 3, DAFS_STATUS_OK);
}

static void dafs_chain_checksum_test(struct kunit *test)
{
	const struct dafs_flavour *flavour = test->param_value;
	struct chain *c = chain_new(test, true);

	if (!flavour->cksum)
		kunit_skip(test, "a session without checksums");
	dafs_backing_write(test, c->fix, "file", "x", 1);
	chain_checksum(c, CHAIN_LAST);
	chain_checksum(c, 0);
}

static void chain_unlock(void *fix)
{
	inode_unlock(d_inode(((struct dafs_fixture *)fix)->path.dentry));
}

/* Blocks changes to the test's directory until chain_unlock(). */
static void chain_lock(struct chain *c)
{
	inode_lock(d_inode(c->fix->path.dentry));
	KUNIT_ASSERT_EQ(c->test, 0, kunit_add_action_or_reset(c->test, chain_unlock, c->fix));
}

/* A chain waits for its first request, and does not delay other streams. */
static void dafs_chain_waits_test(struct kunit *test)
{
	struct chain *c = chain_new(test, true);
	unsigned int i;

	chain_create(c, CHAIN_FIRST, &c->fix->dir, "slow");
	chain_getattr(c, CHAIN_MID | DAFS_CHF_FH);
	chain_getattr(c, CHAIN_LAST | DAFS_CHF_FH);
	chain_getattr(c, CHAIN_FIRST);
	c->req[3].args.getattr.filehandle = c->fix->dir;
	chain_getattr(c, CHAIN_LAST | DAFS_CHF_FH);
	chain_add(c, DAFS_PROC_NULL, 0);
	chain_lock(c);
	for (i = 0; i < c->nr; i++)
		chain_send(c, i);
	for (i = 0; i < 3; i++)
		chain_recv(c);
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_NULL(test, c->req[i].msg);
		KUNIT_EXPECT_NOT_NULL(test, c->req[i + 3].msg);
	}
	kunit_release_action(test, chain_unlock, c->fix);
	for (i = 0; i < 3; i++)
		chain_recv(c);
	chain_ok(c);
	chain_expect_ino(c, 1, "slow");
	chain_expect_ino(c, 2, "slow");
	KUNIT_EXPECT_EQ(test, c->req[4].res.getattr.obj_attributes.file_id,
			c->req[3].res.getattr.obj_attributes.file_id);
}

/* A foreign request while the chain runs: it is refused, and the chain ends. */
static void dafs_chain_interrupted_test(struct kunit *test)
{
	struct chain *c = chain_new(test, true);
	unsigned int i;

	chain_create(c, CHAIN_FIRST, &c->fix->dir, "slow");
	chain_create(c, CHAIN_FIRST, &c->fix->dir, "stranger");
	chain_getattr(c, CHAIN_LAST | DAFS_CHF_FH);
	chain_lock(c);
	for (i = 0; i < c->nr; i++)
		chain_send(c, i);
	for (i = 0; i < 2; i++)
		chain_recv(c);
	kunit_release_action(test, chain_unlock, c->fix);
	chain_recv(c);
	CHAIN_EXPECT(c, 0, DAFS_STATUS_OK);
	CHAIN_EXPECT(c, 1, DAFSERR_CHAIN_FORM);
	CHAIN_EXPECT(c, 2, DAFSERR_CHAIN_BROKEN);
	KUNIT_EXPECT_TRUE(test, chain_exists(c, "slow"));
	KUNIT_EXPECT_FALSE(test, chain_exists(c, "stranger"));
}

/*
 * The worker of a chain runs the next request as a new work item: the memory of the
 * first request may already hold another one.
 */
static void dafs_chain_work_test(struct kunit *test)
{
	struct chain *c = chain_new(test, true);
	unsigned int i;

	chain_add(c, DAFS_PROC_NULL, CHAIN_FIRST);
	chain_create(c, CHAIN_LAST, &c->fix->dir, "slow");
	while (c->nr < CHAIN_MAX)
		chain_add(c, DAFS_PROC_NULL, 0);
	chain_lock(c);
	chain_send(c, 0);
	chain_send(c, 1);
	chain_recv(c);
	for (i = 2; i < c->nr; i++)
		chain_send(c, i);
	for (i = 2; i < c->nr; i++)
		chain_recv(c);
	KUNIT_EXPECT_NULL(test, c->req[1].msg);
	kunit_release_action(test, chain_unlock, c->fix);
	chain_recv(c);
	chain_ok(c);
}

static void chain_put_session(void *ses)
{
	dafsd_session_put(ses);
}

/* The server knows that the client has disconnected. */
static bool chain_gone(const struct dafsd_session *ses)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);

	while (dafs_chan_is_open(ses->op->chan) && time_before(jiffies, end))
		schedule_timeout_uninterruptible(1);
	return !dafs_chan_is_open(ses->op->chan);
}

/*
 * The client disconnects while a chain waits: requests already executed stay executed,
 * requests passed on later are dropped.
 */
static void dafs_chain_hangup_test(struct kunit *test)
{
	struct raw_login login = {};
	struct chain *c = chain_new(test, true);
	struct dafsd_session *ses = dafsd_session_find(&dafsd_server, &c->session_id);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, ses);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, chain_put_session, ses));
	chain_create(c, CHAIN_FIRST, &c->fix->dir, "slow");
	for (i = 0; i < 2; i++)
		chain_create(c, CHAIN_MID | DAFS_CHF_FH, NULL, "left");
	chain_lock(c);
	for (i = 0; i < c->nr; i++)
		chain_send(c, i);
	raw_close(test, c->conn);
	KUNIT_EXPECT_TRUE(test, chain_gone(ses));
	kunit_release_action(test, chain_unlock, c->fix);
	/* the dropped requests block no other session */
	c->conn = raw_session(test, test->param_value, &login);
	chain_reset(c);
	chain_create(c, 0, &c->fix->dir, "after");
	chain_run(c);
	chain_ok(c);
	KUNIT_EXPECT_TRUE(test, chain_exists(c, "after"));
	KUNIT_EXPECT_FALSE(test, chain_exists(c, "slow/left"));
}

/* R-4.3.4-03 */
static void dafs_chain_forgotten_test(struct kunit *test)
{
	struct raw_login login = {};
	struct chain *c = chain_new(test, true);

	chain_add(c, DAFS_PROC_NULL, CHAIN_FIRST);
	chain_run(c);
	chain_ok(c);
	raw_close(test, c->conn);
	c->conn = raw_session(test, test->param_value, &login);
	chain_reset(c);
	chain_add(c, DAFS_PROC_NULL, CHAIN_LAST);
	chain_run(c);
	CHAIN_EXPECT(c, 0, DAFSERR_CHAIN_FORM);
}

static struct kunit_case dafs_chain_cases[] = {
	KUNIT_CASE_PARAM(dafs_chain_handles_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_chain_broken_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_chain_open_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_chain_deep_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_chain_targets_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_chain_verify_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_chain_bulk_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_chain_lock_modify_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_chain_resource_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_chain_nothing_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_chain_every_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_chain_stranger_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_chain_wrong_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_chain_save_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_chain_checksum_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_chain_waits_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_chain_interrupted_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_chain_work_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_chain_hangup_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_chain_forgotten_test, dafs_flavours_gen),
	{}
};

static struct kunit_suite dafs_chain_suite = {
	.name = "dafs_chain",
	.test_cases = dafs_chain_cases,
};

kunit_test_suite(dafs_chain_suite);
