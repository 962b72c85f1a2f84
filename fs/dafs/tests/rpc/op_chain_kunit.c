// SPDX-License-Identifier: GPL-2.0
/*
 * Chains (4.3) of the client: with the real server, and with one that records
 * the requests and returns the statuses that the test sets.
 */
#include <linux/slab.h>
#include "../../rpc/rpc_impl.h"
#include "../lib/raw.h"

#define RECORD_MAX	16

/**
 * struct recorded - a request as it arrived
 * @proc: procedure
 * @flags: DAFS_CHF_*
 * @fh: the handle of a GETATTR_INLINE
 */
struct recorded {
	u32 proc;
	u16 flags;
	struct dafs_fh fh;
};

/**
 * struct recorder - a server with one directory, in which LOOKUP finds every name
 * @test: the test
 * @srv: the server
 * @clnt: client with it
 * @lookup: statuses of the next two LOOKUPs, then OK
 * @getattr: statuses of GETATTRs, likewise
 * @opened: statuses of OPENs, likewise
 * @hang_up: disconnect instead of answering the first GETATTR
 * @lock: guards the members below
 * @open: the last request had FORW
 * @fetched: the current chain contains a bulk fetch
 * @strangers: requests whose BACK flag does not match the FORW flag before
 * @late: requests that change the file system behind a bulk fetch
 * @nr: number of requests
 * @req: the first requests
 */
struct recorder {
	struct kunit *test;
	struct raw_server *srv;
	struct dafs_client *clnt;
	dafs_status_t lookup[2];
	dafs_status_t getattr[2];
	dafs_status_t opened[2];
	bool hang_up;
	spinlock_t lock;	/* see above */
	bool open;
	bool fetched;
	unsigned int strangers;
	unsigned int late;
	unsigned int nr;
	struct recorded req[RECORD_MAX];
};

static const struct dafs_fh recorder_fh = { .fshandle = "export", .fileid = "file" };

static bool recorder_fetches(u32 proc)
{
	switch (proc) {
	case DAFS_PROC_GETATTR_INLINE:
	case DAFS_PROC_READ_INLINE:
	case DAFS_PROC_READDIR_INLINE:
	case DAFS_PROC_READLINK_INLINE:
		return true;
	}
	return false;
}

static bool recorder_changes(u32 proc)
{
	switch (proc) {
	case DAFS_PROC_CREATE:
	case DAFS_PROC_OPEN:
	case DAFS_PROC_SETATTR_INLINE:
	case DAFS_PROC_CLOSE:
	case DAFS_PROC_WRITE_INLINE:
		return true;
	}
	return false;
}

static void recorder_follow(struct recorder *rec, const struct dafs_req_hdr *hdr)
{
	lockdep_assert_held(&rec->lock);
	if (rec->open != !!(hdr->chain_flags & DAFS_CHF_BACK))
		rec->strangers++;
	if (!(hdr->chain_flags & DAFS_CHF_BACK))
		rec->fetched = false;
	if (rec->fetched && recorder_changes(hdr->procedure))
		rec->late++;
	rec->fetched |= recorder_fetches(hdr->procedure);
	rec->open = hdr->chain_flags & DAFS_CHF_FORW;
}

static void recorder_note(struct recorder *rec, struct raw_conn *conn,
			  const struct raw_msg *msg, const struct dafs_req_hdr *hdr)
{
	struct dafs_buf buf = { .base = (u8 *)msg->data, .len = hdr->len, .swab = conn->swab };
	struct recorded *req = &rec->req[min(rec->nr, RECORD_MAX - 1U)];
	union dafs_args *args = kzalloc(sizeof(*args), GFP_KERNEL);

	KUNIT_EXPECT_NOT_NULL(rec->test, args);
	if (args)
		KUNIT_EXPECT_EQ(rec->test, 0, dafs_decode_args(&buf, hdr->procedure, args));
	spin_lock(&rec->lock);
	recorder_follow(rec, hdr);
	rec->nr++;
	req->proc = hdr->procedure;
	req->flags = hdr->chain_flags;
	if (args && hdr->procedure == DAFS_PROC_GETATTR_INLINE)
		req->fh = args->getattr.filehandle;
	spin_unlock(&rec->lock);
	kfree(args);
}

static dafs_status_t recorder_status(dafs_status_t *statuses)
{
	dafs_status_t status = statuses[0];

	statuses[0] = statuses[1];
	statuses[1] = DAFS_STATUS_OK;
	return status;
}

static dafs_status_t recorder_execute(struct recorder *rec, u32 proc, union dafs_res *res)
{
	switch (proc) {
	case DAFS_PROC_LOOKUP:
		res->lookup.filehandle = recorder_fh;
		res->lookup.component_count = 1;
		return recorder_status(rec->lookup);
	case DAFS_PROC_GETATTR_INLINE:
		res->getattr.obj_attributes.included = DAFS_FATTR_FILE_ID;
		res->getattr.obj_attributes.valid = DAFS_FATTR_FILE_ID;
		res->getattr.obj_attributes.file_id = 77;
		return recorder_status(rec->getattr);
	case DAFS_PROC_OPEN:
		return recorder_status(rec->opened);
	}
	return DAFS_STATUS_OK;
}

static void recorder_request(struct raw_conn *conn, struct raw_msg *msg)
{
	struct recorder *rec = conn->srv->priv;
	union dafs_res *res;
	struct dafs_req_hdr hdr;
	dafs_status_t status;

	KUNIT_EXPECT_EQ(rec->test, 0, raw_get_hdr(conn, msg, &hdr));
	if (raw_serve_setup(conn, msg, &hdr))
		return;
	/* it comes some time after a connection that was lost */
	if (hdr.procedure != DAFS_PROC_DISCARD_RESPONSES)
		recorder_note(rec, conn, msg, &hdr);
	if (rec->hang_up && hdr.procedure == DAFS_PROC_GETATTR_INLINE) {
		rec->hang_up = false;
		rec->open = false;
		rdma_disconnect(conn->id);
		return;
	}
	res = kzalloc(sizeof(*res), GFP_KERNEL);
	KUNIT_EXPECT_NOT_NULL(rec->test, res);
	if (!res)
		return;
	status = recorder_execute(rec, hdr.procedure, res);
	raw_answer(conn, &hdr, status, conn->srv->opts.max_requests,
		   status || hdr.procedure == DAFS_PROC_NULL ? NULL : res);
	kfree(res);
}

static void recorder_end(void *p)
{
	dafs_client_shutdown(((struct recorder *)p)->clnt);
}

static struct recorder *recorder(struct kunit *test, u16 nreq)
{
	struct recorder *rec = kunit_kzalloc(test, sizeof(*rec), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, rec);
	rec->test = test;
	spin_lock_init(&rec->lock);
	rec->srv = raw_server(test);
	rec->srv->priv = rec;
	rec->srv->request = recorder_request;
	rec->srv->opts.max_requests = nreq;
	rec->clnt = dafs_fixture_client(test, &rec->srv->params);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, recorder_end, rec));
	return rec;
}

static int recorder_lookup(struct recorder *rec, struct dafs_found *found)
{
	const struct qstr name = dafs_test_qstr("name");
	const struct dafs_fh dir = { .fileid = "dir" };

	memset(found, 0, sizeof(*found));
	return dafs_lookup_attrs(rec->clnt, NULL, &dir, &name, DAFS_FATTR_FILE_ID, found);
}

static void recorder_expect(struct recorder *rec, unsigned int nth, u32 proc, u16 flags)
{
	struct recorded *req = &rec->req[nth];
	bool handed_on = flags & DAFS_CHF_FH;

	KUNIT_ASSERT_LT(rec->test, nth, rec->nr);
	KUNIT_EXPECT_STREQ(rec->test, dafs_proc_name(proc), dafs_proc_name(req->proc));
	KUNIT_EXPECT_EQ(rec->test, flags, req->flags);
	if (proc != DAFS_PROC_GETATTR_INLINE)
		return;
	KUNIT_EXPECT_EQ(rec->test, handed_on, !memchr_inv(&req->fh, 0, sizeof(req->fh)));
	if (!handed_on)
		KUNIT_EXPECT_MEMEQ(rec->test, &recorder_fh, &req->fh, sizeof(req->fh));
}

static void recorder_expect_found(struct recorder *rec, const struct dafs_found *found)
{
	KUNIT_EXPECT_EQ(rec->test, DAFS_FOUND_ATTRS, found->done);
	KUNIT_EXPECT_EQ(rec->test, 77, found->attr.file_id);
	KUNIT_EXPECT_MEMEQ(rec->test, &recorder_fh, &found->fh, sizeof(found->fh));
}

/* One round trip */
static void dafs_op_chain_flags_test(struct kunit *test)
{
	struct recorder *rec = recorder(test, 8);
	struct dafs_found found;

	KUNIT_EXPECT_EQ(test, 0, recorder_lookup(rec, &found));
	recorder_expect_found(rec, &found);
	KUNIT_EXPECT_EQ(test, 2, rec->nr);
	recorder_expect(rec, 0, DAFS_PROC_LOOKUP, DAFS_CHF_FORW);
	recorder_expect(rec, 1, DAFS_PROC_GETATTR_INLINE, DAFS_CHF_BACK | DAFS_CHF_FH);
	KUNIT_EXPECT_EQ(test, 0, dafs_null(rec->clnt, NULL));
	recorder_expect(rec, 2, DAFS_PROC_NULL, 0);
}

/*
 * R-4.3.3-01 at the client: with a single credit the requests are sent one by one, and
 * retried after DELAY or GRACE
 */
static void dafs_op_chain_credit_test(struct kunit *test)
{
	struct recorder *rec = recorder(test, 1);
	struct dafs_found found;

	rec->lookup[0] = DAFSERR_DELAY;
	rec->getattr[0] = DAFSERR_GRACE;
	KUNIT_EXPECT_EQ(test, 0, recorder_lookup(rec, &found));
	recorder_expect_found(rec, &found);
	KUNIT_EXPECT_EQ(test, 4, rec->nr);
	recorder_expect(rec, 0, DAFS_PROC_LOOKUP, 0);
	recorder_expect(rec, 1, DAFS_PROC_LOOKUP, 0);
	recorder_expect(rec, 2, DAFS_PROC_GETATTR_INLINE, 0);
	recorder_expect(rec, 3, DAFS_PROC_GETATTR_INLINE, 0);
}

/* Statuses of a request that was not executed. */
static const dafs_status_t chain_not_done[] = {
	DAFSERR_DELAY, DAFSERR_GRACE, DAFSERR_CHKSUM, DAFSERR_CHAIN_FORM, DAFSERR_CHAIN_BROKEN,
};

/* Requests that were not executed are sent again without a chain. */
static void dafs_op_chain_again_test(struct kunit *test)
{
	struct recorder *rec = recorder(test, 8);
	struct dafs_found found;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(chain_not_done); i++) {
		rec->nr = 0;
		rec->lookup[0] = chain_not_done[i];
		rec->getattr[0] = DAFSERR_CHAIN_BROKEN;
		KUNIT_EXPECT_EQ(test, 0, recorder_lookup(rec, &found));
		recorder_expect_found(rec, &found);
		KUNIT_EXPECT_EQ(test, 4, rec->nr);
		recorder_expect(rec, 2, DAFS_PROC_LOOKUP, 0);
		recorder_expect(rec, 3, DAFS_PROC_GETATTR_INLINE, 0);

		rec->nr = 0;
		rec->getattr[0] = chain_not_done[i];
		KUNIT_EXPECT_EQ(test, 0, recorder_lookup(rec, &found));
		recorder_expect_found(rec, &found);
		KUNIT_EXPECT_EQ(test, 3, rec->nr);
		recorder_expect(rec, 2, DAFS_PROC_GETATTR_INLINE, 0);
	}
}

/* The same for an OPEN and the GETATTR behind it. */
static void dafs_op_chain_open_again_test(struct kunit *test)
{
	struct recorder *rec = recorder(test, 8);
	const struct dafs_fh dir = { .fileid = "dir" };
	const struct qstr name = dafs_test_qstr("name");
	struct dafs_open_how how = {
		.owner = dafs_test_str("chain"),
		.access = DAFS_OPEN_SHARE_ACCESS_READ,
	};
	struct dafs_opened opened = {};
	struct dafs_found found = {};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(chain_not_done); i++) {
		rec->nr = 0;
		rec->opened[0] = chain_not_done[i];
		rec->getattr[0] = DAFSERR_CHAIN_BROKEN;
		KUNIT_EXPECT_EQ(test, 0,
				dafs_open_attrs(rec->clnt, NULL, &dir, &name, &how,
						DAFS_FATTR_FILE_ID, &opened, &found));
		KUNIT_EXPECT_EQ(test, 4, rec->nr);
		recorder_expect(rec, 0, DAFS_PROC_OPEN, DAFS_CHF_FORW);
		recorder_expect(rec, 2, DAFS_PROC_OPEN, 0);
	}
}

/* After a final error nothing more is sent, and the caller knows which requests succeeded. */
static void dafs_op_chain_error_test(struct kunit *test)
{
	struct recorder *rec = recorder(test, 8);
	struct dafs_found found;

	rec->lookup[0] = DAFSERR_NOENT;
	rec->getattr[0] = DAFSERR_CHAIN_BROKEN;
	KUNIT_EXPECT_EQ(test, -ENOENT, recorder_lookup(rec, &found));
	KUNIT_EXPECT_EQ(test, 0, found.done);
	rec->getattr[0] = DAFSERR_STALE;
	KUNIT_EXPECT_EQ(test, -ESTALE, recorder_lookup(rec, &found));
	KUNIT_EXPECT_EQ(test, 1, found.done);
	KUNIT_EXPECT_EQ(test, 4, rec->nr);
}

/* R-4.3.4-04: only requests without a response are sent again */
static void dafs_op_chain_lost_test(struct kunit *test)
{
	struct recorder *rec = recorder(test, 8);
	struct dafs_found found;

	rec->hang_up = true;
	KUNIT_EXPECT_EQ(test, 0, recorder_lookup(rec, &found));
	recorder_expect_found(rec, &found);
	KUNIT_EXPECT_EQ(test, 3, rec->nr);
	recorder_expect(rec, 0, DAFS_PROC_LOOKUP, DAFS_CHF_FORW);
	recorder_expect(rec, 2, DAFS_PROC_GETATTR_INLINE, 0);
}

/* R-4.3.1-02: all chains of the client, for create, open and lookup; bulk fetches come last */
static void dafs_op_chain_order_test(struct kunit *test)
{
	struct recorder *rec = recorder(test, 8);
	const struct dafs_fh dir = { .fileid = "dir" };
	const struct qstr name = dafs_test_qstr("name");
	struct dafs_fattr mode = {
		.included = DAFS_FATTR_MODE,
		.valid = DAFS_FATTR_MODE,
		.mode = 0624,
	};
	struct dafs_node node = { .type = DAFS_TYPE_FIFO };
	struct dafs_open_how how = {
		.owner = dafs_test_str("chain"),
		.access = DAFS_OPEN_SHARE_ACCESS_READ,
		.mode = DAFS_CREATE_EXCLUSIVE,
		.attr = &mode,
	};
	struct dafs_opened opened = {};
	struct dafs_change_info change;
	struct dafs_found found = {};

	KUNIT_EXPECT_EQ(test, 0, recorder_lookup(rec, &found));
	dafs_create_attrs(rec->clnt, NULL, &dir, &name, &node, &mode, DAFS_FATTR_FILE_ID, &found,
			  &change);
	dafs_open_attrs(rec->clnt, NULL, &dir, &name, &how, DAFS_FATTR_FILE_ID, &opened, &found);
	how.create = true;
	dafs_open(rec->clnt, NULL, &dir, &name, &how, &opened);
	/*
	 * CREATE, SETATTR and GETATTR; OPEN and GETATTR; OPEN; SETATTR.  The last two make
	 * a file with O_EXCL: SETATTR overwrites the verifier, and waits for the response.
	 */
	KUNIT_EXPECT_EQ(test, 9, rec->nr);
	recorder_expect(rec, 2, DAFS_PROC_CREATE, DAFS_CHF_FORW);
	recorder_expect(rec, 5, DAFS_PROC_OPEN, DAFS_CHF_FORW);
	recorder_expect(rec, 7, DAFS_PROC_OPEN, 0);
	recorder_expect(rec, 8, DAFS_PROC_SETATTR_INLINE, 0);
	KUNIT_EXPECT_EQ(test, 0, rec->late);
	KUNIT_EXPECT_EQ(test, 0, rec->strangers);
}

#define CHAIN_CALLERS	12
#define CHAIN_ROUNDS	40

struct chain_caller {
	struct work_struct work;
	struct recorder *rec;
	bool nulls;
	int err;
};

static void chain_call(struct work_struct *work)
{
	struct chain_caller *caller = container_of(work, struct chain_caller, work);
	struct dafs_found *found = kzalloc(sizeof(*found), GFP_KERNEL);
	unsigned int i;

	caller->err = found ? 0 : -ENOMEM;
	for (i = 0; i < CHAIN_ROUNDS && !caller->err; i++)
		caller->err = caller->nulls ? dafs_null(caller->rec->clnt, NULL) :
					      recorder_lookup(caller->rec, found);
	kfree(found);
}

/* R-4.3.3-02: also with other tasks on the session no request comes between FORW and BACK */
static void dafs_op_chain_crowd_test(struct kunit *test)
{
	struct recorder *rec = recorder(test, 7);
	struct chain_caller *callers;
	unsigned int i;

	callers = kunit_kcalloc(test, CHAIN_CALLERS, sizeof(*callers), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, callers);
	for (i = 0; i < CHAIN_CALLERS; i++) {
		callers[i].rec = rec;
		callers[i].nulls = i % 3 == 0;
		INIT_WORK(&callers[i].work, chain_call);
		queue_work(system_unbound_wq, &callers[i].work);
	}
	for (i = 0; i < CHAIN_CALLERS; i++) {
		flush_work(&callers[i].work);
		KUNIT_EXPECT_EQ(test, 0, callers[i].err);
	}
	KUNIT_EXPECT_EQ(test, 0, rec->strangers);
}

static void chain_expect_like(struct kunit *test, struct dafs_fixture *fix, const char *name,
			      const struct dafs_found *found)
{
	struct kstat stat = {};

	KUNIT_EXPECT_EQ(test, 0, dafs_backing_stat(fix, name, &stat));
	KUNIT_EXPECT_EQ(test, stat.ino, found->attr.file_id);
	KUNIT_EXPECT_EQ(test, stat.mode & S_IALLUGO, found->attr.mode);
}

#define CHAIN_WANTED	(DAFS_FATTR_FILE_ID | DAFS_FATTR_MODE)

static void dafs_op_chain_lookup_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	const struct qstr name = dafs_test_qstr("file"), missing = dafs_test_qstr("missing");
	struct dafs_found found = {};
	struct dafs_fh fh;

	dafs_backing_write(test, fix, "file", "x", 1);
	KUNIT_ASSERT_EQ(test, 0, dafs_lookup_attrs(fix->clnt, dafs_test_me(), &fix->dir, &name,
						   CHAIN_WANTED, &found));
	chain_expect_like(test, fix, "file", &found);
	KUNIT_EXPECT_EQ(test, 0, dafs_lookup(fix->clnt, dafs_test_me(), &fix->dir, &name, &fh));
	KUNIT_EXPECT_MEMEQ(test, &fh, &found.fh, sizeof(fh));
	KUNIT_EXPECT_EQ(test, -ENOENT,
			dafs_lookup_attrs(fix->clnt, dafs_test_me(), &fix->dir, &missing,
					  CHAIN_WANTED, &found));
	KUNIT_EXPECT_EQ(test, 0, found.done);
}

/* Directories are created with their mode, other objects get it by SETATTR (E-30). */
static void dafs_op_chain_create_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	const struct qstr fifo = dafs_test_qstr("fifo"), dir = dafs_test_qstr("dir");
	struct dafs_fattr mode = {
		.included = DAFS_FATTR_MODE,
		.valid = DAFS_FATTR_MODE,
		.mode = 0624,
	};
	struct dafs_node node = { .type = DAFS_TYPE_FIFO };
	struct dafs_change_info change = {};
	struct dafs_found found = {};

	KUNIT_ASSERT_EQ(test, 0, dafs_create_attrs(fix->clnt, dafs_test_me(), &fix->dir, &fifo,
						   &node, &mode, CHAIN_WANTED, &found, &change));
	chain_expect_like(test, fix, "fifo", &found);
	KUNIT_EXPECT_EQ(test, 0624, found.attr.mode);
	KUNIT_EXPECT_NE(test, change.before, change.after);
	KUNIT_EXPECT_EQ(test, -EEXIST,
			dafs_create_attrs(fix->clnt, dafs_test_me(), &fix->dir, &fifo, &node,
					  &mode, CHAIN_WANTED, &found, &change));
	KUNIT_EXPECT_EQ(test, 0, found.done);
	node = (struct dafs_node) { .type = DAFS_TYPE_DIR, .attr = &mode };
	KUNIT_ASSERT_EQ(test, 0, dafs_create_attrs(fix->clnt, dafs_test_me(), &fix->dir, &dir,
						   &node, NULL, CHAIN_WANTED, &found, &change));
	chain_expect_like(test, fix, "dir", &found);
	KUNIT_EXPECT_EQ(test, 0624, found.attr.mode);
}

/* An EXCLUSIVE OPEN with its SETATTR, and an open of an existing file */
static void dafs_op_chain_open_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	const struct qstr name = dafs_test_qstr("new");
	struct dafs_fattr mode = {
		.included = DAFS_FATTR_MODE,
		.valid = DAFS_FATTR_MODE,
		.mode = 0421,
	};
	struct dafs_open_how how = {
		.owner = dafs_test_str("chain"),
		.access = DAFS_OPEN_SHARE_ACCESS_BOTH,
		.deny = DAFS_OPEN_SHARE_DENY_BOTH,
		.create = true,
		.mode = DAFS_CREATE_EXCLUSIVE,
		.attr = &mode,
		.verifier.b = "once",
	};
	struct dafs_opened opened = {};
	struct dafs_found found = {};
	struct kstat stat = {};

	KUNIT_ASSERT_EQ(test, 0, dafs_open(fix->clnt, dafs_test_me(), &fix->dir, &name, &how,
					   &opened));
	KUNIT_EXPECT_EQ(test, 0, dafs_backing_stat(fix, "new", &stat));
	KUNIT_EXPECT_EQ(test, 0421, stat.mode & S_IALLUGO);
	dafs_close(fix->clnt, dafs_test_me(), &opened.fh, &opened.state_id);

	/* an attribute is refused: the caller is told that the file is open */
	mode.included |= DAFS_FATTR_OWNER;
	mode.valid |= DAFS_FATTR_OWNER;
	mode.owner = dafs_test_str("nobody knows");
	opened.open = false;
	KUNIT_EXPECT_NE(test, 0, dafs_open(fix->clnt, dafs_test_me(), &fix->dir, &name, &how,
					   &opened));
	KUNIT_ASSERT_TRUE(test, opened.open);
	dafs_close(fix->clnt, dafs_test_me(), &opened.fh, &opened.state_id);
	how.create = false;
	KUNIT_ASSERT_EQ(test, 0, dafs_open_attrs(fix->clnt, dafs_test_me(), &fix->dir, &name, &how,
						 CHAIN_WANTED, &opened, &found));
	KUNIT_EXPECT_EQ(test, DAFS_FOUND_ATTRS, found.done);
	chain_expect_like(test, fix, "new", &found);
	dafs_close(fix->clnt, dafs_test_me(), &opened.fh, &opened.state_id);
}

static struct kunit_case dafs_op_chain_cases[] = {
	KUNIT_CASE(dafs_op_chain_flags_test),
	KUNIT_CASE(dafs_op_chain_credit_test),
	KUNIT_CASE(dafs_op_chain_again_test),
	KUNIT_CASE(dafs_op_chain_open_again_test),
	KUNIT_CASE(dafs_op_chain_error_test),
	KUNIT_CASE(dafs_op_chain_lost_test),
	KUNIT_CASE(dafs_op_chain_order_test),
	KUNIT_CASE(dafs_op_chain_crowd_test),
	KUNIT_CASE_PARAM(dafs_op_chain_lookup_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_op_chain_create_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_op_chain_open_test, dafs_flavours_gen),
	{}
};

static struct kunit_suite dafs_op_chain_suite = {
	.name = "dafs_op_chain",
	.test_cases = dafs_op_chain_cases,
};

kunit_test_suite(dafs_op_chain_suite);
