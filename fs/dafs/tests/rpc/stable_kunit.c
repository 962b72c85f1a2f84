// SPDX-License-Identifier: GPL-2.0
/*
 * The response cache in stable storage (5.2.4): what is known of requests after a crash.
 *
 * The server of these tests does not restart: it stops recording at a given step, forgets what it
 * has in memory, reads the store, and looks at the exports as when they are enabled.
 */
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/unaligned.h>
#include <linux/uuid.h>
#include "../../../../drivers/dafsd/export/export.h"
#include "../../../../drivers/dafsd/session/client.h"
#include "../../../../drivers/dafsd/session/respcache.h"
#include "../../../../drivers/dafsd/session/server.h"
#include "../../../../drivers/dafsd/session/session.h"
#include "../../../../drivers/dafsd/state/intent.h"
#include "../../../../drivers/dafsd/store/store.h"
#include "../lib/raw.h"

/**
 * struct stable - a client whose server remembers across a crash
 * @test: the test
 * @flavour: of its sessions, or NULL
 * @fix: where its files are
 * @login: of the first session
 * @again: of the second one
 * @conn: the first one, then the second one
 * @handle: credential handle of root
 * @hdr: header of the last request
 */
struct stable {
	struct kunit *test;
	const struct dafs_flavour *flavour;
	struct dafs_fixture *fix;
	struct raw_login login;
	struct raw_login again;
	struct raw_conn *conn;
	u8 handle[4];
	struct dafs_req_hdr hdr;
};

static void stable_reset(void *unused)
{
	dafsd_respcache_kind = DAFSD_RESPCACHE_VOLATILE;
	dafsd_intent_crash = DAFSD_CRASH_NEVER;
}

static struct raw_conn *stable_connect(struct stable *s, struct raw_login *login)
{
	struct raw_how how = {
		.type = DAFS_CHANNEL_OPERATION,
		.session = 1,
		.swab = s->flavour && s->flavour->swab,
		.ipv6 = s->flavour && s->flavour->ipv6,
	};
	struct raw_conn *conn = raw_connect(s->test, &how);

	login->opts.use_response_cache = 1;
	DAFS_ASSERT_STATUS(s->test, DAFS_STATUS_OK, raw_login(conn, login));
	return conn;
}

static struct stable *stable_by(struct kunit *test, const struct dafs_flavour *flavour)
{
	struct stable *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, s);
	KUNIT_ASSERT_NOT_NULL(test, dafsd_server.store);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, stable_reset, NULL));
	dafsd_respcache_kind = DAFSD_RESPCACHE_STABLE;
	s->test = test;
	s->flavour = flavour;
	s->fix = dafs_fixture(test, NULL);
	s->conn = stable_connect(s, &s->login);
	KUNIT_ASSERT_EQ(test, 1, s->login.res.connect.opts.use_response_cache);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_register(s->conn, 0, 0, s->handle));
	return s;
}

static struct stable *stable(struct kunit *test)
{
	return stable_by(test, NULL);
}

static dafs_status_t stable_call(struct stable *s, u32 proc, void *args, void *res)
{
	struct dafs_res_hdr res_hdr;

	s->hdr = raw_hdr(s->conn, proc);
	memcpy(s->hdr.cred_handle, s->handle, sizeof(s->hdr.cred_handle));
	if (raw_call_hdr(s->conn, &s->hdr, args, &res_hdr, res))
		return DAFS_NO_STATUS;
	return res_hdr.status;
}

static void stable_settle(struct kunit *test)
{
	struct dafsd_export *exp;
	u64 n = 0;

	KUNIT_ASSERT_EQ(test, 0, dafsd_respcaches_load(&dafsd_server, dafsd_server.store));
	while ((exp = dafsd_export_nth(n))) {
		n = exp->number + 1;
		KUNIT_EXPECT_EQ(test, 0, dafsd_intents_settle(exp));
		dafsd_export_put(exp);
	}
}

/* What the session has left is looked at when it ends. */
static void stable_await_end(struct stable *s)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	struct dafsd_session *ses;

	do {
		ses = dafsd_session_find(&dafsd_server, &s->login.res.connect.session_id);
		if (!ses)
			return;
		dafsd_session_put(ses);
		msleep(20);
	} while (time_before(jiffies, end));
	KUNIT_FAIL(s->test, "the session does not end");
}

static void stable_end(struct stable *s)
{
	struct kunit *test = s->test;

	dafsd_server.stopping = true;
	KUNIT_EXPECT_EQ(test, 0, dafsd_client_end_id(&dafsd_server,
						     &s->login.res.connect.client_id));
	KUNIT_EXPECT_TRUE(test, raw_closed(s->conn, RAW_WAIT_MS));
	raw_settle();
	stable_await_end(s);
	dafsd_server.stopping = false;
	raw_close(test, s->conn);
}

/* It crashes again, before the client is back. */
static void stable_crash_again(struct stable *s)
{
	dafsd_respcaches_unload(&dafsd_server);
	stable_settle(s->test);
}

static void stable_come_back(struct stable *s)
{
	s->again = (struct raw_login){ .id = s->login.id, .verifier = s->login.verifier };
	s->conn = stable_connect(s, &s->again);
}

/* The server crashes, has restarted, and the client is back. */
static void stable_crash(struct stable *s)
{
	stable_end(s);
	dafsd_intent_crash = DAFSD_CRASH_NEVER;
	dafsd_respcaches_unload(&dafsd_server);
	stable_settle(s->test);
	stable_come_back(s);
}

static struct dafs_check_response_args stable_args(const struct stable *s)
{
	return (struct dafs_check_response_args){
		.session_id = s->login.res.connect.session_id,
		.xid_stream = s->hdr.stream_id,
		.xid_seq = s->hdr.seq_number,
		.procedure = s->hdr.procedure,
	};
}

static dafs_status_t stable_check(struct stable *s)
{
	struct dafs_check_response_args args = stable_args(s);

	return raw_call(s->conn, DAFS_PROC_CHECK_RESPONSE, &args, NULL);
}

static dafs_status_t stable_fetch(struct stable *s, union dafs_res *res)
{
	struct dafs_check_response_args args = stable_args(s);
	struct dafs_buf in;
	dafs_status_t status;

	status = raw_call(s->conn, DAFS_PROC_FETCH_RESPONSE, &args, NULL);
	in = (struct dafs_buf){
		.base = s->conn->last->data,
		.len = s->conn->last->len,
		.swab = s->conn->swab,
	};
	if (in.len > DAFS_HDR_SIZE)
		KUNIT_EXPECT_EQ(s->test, 0, dafs_decode_res(&in, s->hdr.procedure, res));
	return status;
}

static dafs_status_t stable_discard(struct stable *s)
{
	struct dafs_discard_responses_args args = {
		.session_id = s->login.res.connect.session_id,
	};

	return raw_call(s->conn, DAFS_PROC_DISCARD_RESPONSES, &args, NULL);
}

/**
 * struct stable_counts - records of response caches
 * @requests: of requests
 * @sessions: of sessions
 */
struct stable_counts {
	unsigned int requests;
	unsigned int sessions;
};

/* A key is that of the session, and the stream, or U16_MAX. */
static int stable_count(void *priv, const struct dafsd_key *key, const void *value, u32 len)
{
	struct stable_counts *counts = priv;

	if (get_unaligned_le16(key->data + sizeof(struct dafs_session_id)) == U16_MAX)
		counts->sessions++;
	else
		counts->requests++;
	return 0;
}

static struct stable_counts stable_counts(void)
{
	struct stable_counts counts = {};

	dafsd_store_for_each(dafsd_server.store, DAFSD_RECORD_RESPONSE, stable_count, &counts);
	return counts;
}

static unsigned int stable_records(void)
{
	return stable_counts().requests;
}

static dafs_status_t stable_mkdir(struct stable *s, struct dafs_create_res *res)
{
	struct dafs_create_args args = {
		.filehandle = s->fix->dir,
		.component = dafs_test_str("made"),
		.obj_type = DAFS_TYPE_DIR,
	};

	return stable_call(s, DAFS_PROC_CREATE, &args, res);
}

/*
 * R-5.2.4-01, R-5.2.1-02: what was executed is known after a crash, with its results, until it is
 * discarded; and to nobody else.
 */
static void dafs_stable_known_test(struct kunit *test)
{
	unsigned int before = stable_records();
	struct stable *s = stable_by(test, test->param_value), *other;
	struct dafs_create_res first = {};
	union dafs_res fetched = {};

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, stable_mkdir(s, &first));
	KUNIT_EXPECT_EQ(test, before + 1, stable_records());
	stable_crash(s);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, stable_check(s));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, stable_fetch(s, &fetched));
	KUNIT_EXPECT_MEMEQ(test, &first.filehandle, &fetched.create.filehandle,
			   sizeof(first.filehandle));
	other = stable_by(test, test->param_value);
	other->login.res.connect.session_id = s->login.res.connect.session_id;
	other->hdr = s->hdr;
	DAFS_EXPECT_STATUS(test, DAFSERR_NOT_AUTHORIZED, stable_check(other));
	DAFS_EXPECT_STATUS(test, DAFSERR_NOT_AUTHORIZED, stable_discard(other));
	/* and after another one */
	dafsd_respcaches_unload(&dafsd_server);
	stable_settle(test);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, stable_check(s));
	s->hdr.seq_number++;
	DAFS_EXPECT_STATUS(test, DAFSERR_NOXID_MATCH, stable_check(s));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, stable_discard(s));
	DAFS_EXPECT_STATUS(test, DAFSERR_UNKNOWN_SESSION, stable_check(s));
	KUNIT_EXPECT_EQ(test, before, stable_records());
}

/* What a crash makes forget is not said to be not executed. */
static void dafs_stable_unrecorded_test(struct kunit *test)
{
	static const u32 unrecorded[] = {
		0, DAFS_PROC_CLOSE, DAFS_PROC_COMMIT, DAFS_PROC_LOCK, DAFS_PROC_LOCKU,
		DAFS_PROC_OPEN, DAFS_PROC_OPEN_DOWNGRADE, DAFS_PROC_WRITE_DIRECT,
		DAFS_PROC_WRITE_INLINE,
	};
	static const u32 recorded[] = {
		DAFS_PROC_APPEND_DIRECT, DAFS_PROC_APPEND_INLINE, DAFS_PROC_CREATE,
		DAFS_PROC_LINK, DAFS_PROC_REMOVE, DAFS_PROC_RENAME, DAFS_PROC_SETATTR_DIRECT,
		DAFS_PROC_SETATTR_INLINE,
	};
	struct stable *s = stable(test);
	unsigned int i;
	u16 stream;

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, stable_mkdir(s, NULL));
	stable_crash(s);
	s->hdr.seq_number++;
	/* of a stream that has a record, of one that has none, and of one that there was not */
	for (stream = 0; stream < 3; stream++) {
		s->hdr.stream_id = stream < 2 ? stream : U16_MAX;
		for (i = 0; i < ARRAY_SIZE(unrecorded); i++) {
			s->hdr.procedure = unrecorded[i];
			DAFS_EXPECT_STATUS(test, DAFSERR_UNKNOWN_SESSION, stable_check(s));
		}
		for (i = 0; i < ARRAY_SIZE(recorded); i++) {
			s->hdr.procedure = recorded[i];
			DAFS_EXPECT_STATUS(test, DAFSERR_NOXID_MATCH, stable_check(s));
		}
	}
}

/* What fails, or is not to be known after a crash, leaves nothing behind; nor does DISCONNECT. */
static void dafs_stable_clean_test(struct kunit *test)
{
	unsigned int before = stable_records();
	struct stable *s = stable(test);

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, stable_mkdir(s, NULL));
	DAFS_EXPECT_STATUS(test, DAFSERR_EXIST, stable_mkdir(s, NULL));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   raw_call(s->conn, DAFS_PROC_DISCONNECT, NULL, NULL));
	raw_close(test, s->conn);
	raw_settle();
	stable_await_end(s);
	KUNIT_EXPECT_EQ(test, before, stable_records());
}

/**
 * struct stable_case - a request during which the server crashes
 * @proc: DAFS_PROC_*
 * @crash: after what
 * @swab: by a client of the other byte order
 */
struct stable_case {
	u32 proc;
	enum dafsd_crash crash;
	bool swab;
};

static const struct stable_case stable_cases[] = {
	{ DAFS_PROC_CREATE, DAFSD_CRASH_INTENDED },
	{ DAFS_PROC_CREATE, DAFSD_CRASH_EXECUTED },
	{ DAFS_PROC_CREATE, DAFSD_CRASH_EXECUTED, true },
	{ DAFS_PROC_CREATE, DAFSD_CRASH_RECORDED },
	{ DAFS_PROC_REMOVE, DAFSD_CRASH_INTENDED },
	{ DAFS_PROC_REMOVE, DAFSD_CRASH_EXECUTED },
	{ DAFS_PROC_REMOVE, DAFSD_CRASH_RECORDED, true },
	{ DAFS_PROC_RENAME, DAFSD_CRASH_INTENDED },
	{ DAFS_PROC_RENAME, DAFSD_CRASH_EXECUTED },
	{ DAFS_PROC_RENAME, DAFSD_CRASH_RECORDED, true },
	{ DAFS_PROC_LINK, DAFSD_CRASH_INTENDED },
	{ DAFS_PROC_LINK, DAFSD_CRASH_EXECUTED },
	{ DAFS_PROC_LINK, DAFSD_CRASH_RECORDED, true },
	{ DAFS_PROC_APPEND_INLINE, DAFSD_CRASH_INTENDED },
	{ DAFS_PROC_APPEND_INLINE, DAFSD_CRASH_EXECUTED },
	{ DAFS_PROC_APPEND_INLINE, DAFSD_CRASH_EXECUTED, true },
	{ DAFS_PROC_APPEND_INLINE, DAFSD_CRASH_RECORDED },
	{ DAFS_PROC_SETATTR_INLINE, DAFSD_CRASH_INTENDED },
	{ DAFS_PROC_SETATTR_INLINE, DAFSD_CRASH_EXECUTED },
	{ DAFS_PROC_SETATTR_INLINE, DAFSD_CRASH_EXECUTED, true },
	{ DAFS_PROC_SETATTR_INLINE, DAFSD_CRASH_RECORDED },
	{ DAFS_PROC_WRITE_INLINE, DAFSD_CRASH_INTENDED },
	{ DAFS_PROC_WRITE_INLINE, DAFSD_CRASH_EXECUTED },
	{ DAFS_PROC_WRITE_INLINE, DAFSD_CRASH_EXECUTED, true },
	{ DAFS_PROC_WRITE_INLINE, DAFSD_CRASH_RECORDED },
	{ DAFS_PROC_APPEND_DIRECT, DAFSD_CRASH_EXECUTED },
	{ DAFS_PROC_SETATTR_DIRECT, DAFSD_CRASH_INTENDED },
	{ DAFS_PROC_SETATTR_DIRECT, DAFSD_CRASH_EXECUTED },
	{ DAFS_PROC_WRITE_DIRECT, DAFSD_CRASH_INTENDED },
	{ DAFS_PROC_WRITE_DIRECT, DAFSD_CRASH_EXECUTED },
};

static void stable_describe(const struct stable_case *c, char *desc)
{
	static const char *const crashes[] = {
		[DAFSD_CRASH_INTENDED] = "intended",
		[DAFSD_CRASH_EXECUTED] = "executed",
		[DAFSD_CRASH_RECORDED] = "recorded",
	};

	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "procedure %u %s%s", c->proc, crashes[c->crash],
		 c->swab ? ", swapped" : "");
}

KUNIT_ARRAY_PARAM(stable_cases, stable_cases, stable_describe);

/* The same with what follows in memory of the client */
static void stable_direct_args(struct stable *s, u32 proc, union dafs_args *args)
{
	struct dafs_fattr attr = {
		.included = DAFS_FATTR_OBJECT_SIZE,
		.valid = DAFS_FATTR_OBJECT_SIZE,
		.object_size = 8,
	};
	struct dafs_direct_buf *exposed = kunit_kzalloc(s->test, sizeof(*exposed), GFP_KERNEL);
	struct dafs_fh fh = dafs_test_lookup(s->test, s->fix, "file");
	struct dafs_buf buf = {
		.base = kunit_kzalloc(s->test, SZ_1K, GFP_KERNEL),
		.len = SZ_1K,
		.swab = s->conn->swab,
	};
	int len = 4;

	KUNIT_ASSERT_NOT_NULL(s->test, exposed);
	KUNIT_ASSERT_NOT_NULL(s->test, buf.base);
	memcpy(buf.base, "more", len);
	if (proc == DAFS_PROC_SETATTR_DIRECT)
		len = dafs_encode_fattr(&buf, &attr);
	KUNIT_ASSERT_GT(s->test, len, 0);
	*exposed = raw_expose(s->conn, buf.base, len);
	switch (proc) {
	case DAFS_PROC_APPEND_DIRECT:
		args->append_direct.filehandle = fh;
		args->append_direct.stable_how = DAFS_FILE_SYNC;
		args->append_direct.byte_count = len;
		args->append_direct.write_data_buffer = *exposed;
		break;
	case DAFS_PROC_SETATTR_DIRECT:
		args->setattr_direct.filehandle = fh;
		args->setattr_direct.obj_attributes = *exposed;
		break;
	default:
		args->write_direct.filehandle = fh;
		args->write_direct.offset = 4;
		args->write_direct.byte_count = len;
		args->write_direct.stable_how = DAFS_FILE_SYNC;
		args->write_direct.write_data_buffers.count = 1;
		args->write_direct.write_data_buffers.elems = exposed;
		break;
	}
}

static void stable_case_args(struct stable *s, u32 proc, union dafs_args *args)
{
	const struct dafs_fh *dir = &s->fix->dir;

	switch (proc) {
	case DAFS_PROC_CREATE:
		args->create = (struct dafs_create_args){
			.filehandle = *dir,
			.component = dafs_test_str("new"),
			.obj_type = DAFS_TYPE_DIR,
		};
		break;
	case DAFS_PROC_REMOVE:
		args->remove = (struct dafs_remove_args){
			.filehandle = *dir,
			.target = dafs_test_str("file"),
		};
		break;
	case DAFS_PROC_RENAME:
		args->rename = (struct dafs_rename_args){
			.sourcedir = *dir,
			.targetdir = *dir,
			.oldname = dafs_test_str("file"),
			.newname = dafs_test_str("new"),
		};
		break;
	case DAFS_PROC_LINK:
		args->link = (struct dafs_link_args){
			.source_object = dafs_test_lookup(s->test, s->fix, "file"),
			.destination_object = *dir,
			.newname = dafs_test_str("new"),
		};
		break;
	case DAFS_PROC_APPEND_DIRECT:
	case DAFS_PROC_SETATTR_DIRECT:
	case DAFS_PROC_WRITE_DIRECT:
		stable_direct_args(s, proc, args);
		break;
	case DAFS_PROC_SETATTR_INLINE:
		args->setattr_inline = (struct dafs_setattr_inline_args){
			.filehandle = dafs_test_lookup(s->test, s->fix, "file"),
			.obj_attributes.included = DAFS_FATTR_OBJECT_SIZE,
			.obj_attributes.valid = DAFS_FATTR_OBJECT_SIZE,
			.obj_attributes.object_size = 8,
		};
		break;
	case DAFS_PROC_WRITE_INLINE:
		args->write_inline = (struct dafs_write_inline_args){
			.filehandle = dafs_test_lookup(s->test, s->fix, "file"),
			.offset = 4,
			.byte_count = 4,
			.stable_how = DAFS_DATA_SYNC,
			.data = "more",
		};
		break;
	default:
		args->append_inline = (struct dafs_append_inline_args){
			.filehandle = dafs_test_lookup(s->test, s->fix, "file"),
			.byte_count = 4,
			.stable_how = DAFS_FILE_SYNC,
			.data = "more",
		};
		break;
	}
}

/* A request that has never arrived was not executed, also if the server crashes twice. */
static void dafs_stable_never_test(struct kunit *test)
{
	struct stable_counts before = stable_counts();
	struct stable *s = stable(test);
	union dafs_args args = {};

	KUNIT_EXPECT_EQ(test, before.sessions + 1, stable_counts().sessions);
	s->hdr = raw_hdr(s->conn, DAFS_PROC_APPEND_INLINE);
	stable_crash(s);
	DAFS_EXPECT_STATUS(test, DAFSERR_NOXID_MATCH, stable_check(s));
	stable_crash_again(s);
	DAFS_EXPECT_STATUS(test, DAFSERR_NOXID_MATCH, stable_check(s));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, stable_discard(s));

	/* what is settled so needs no record either */
	s = stable(test);
	dafs_backing_write(test, s->fix, "file", "data", 4);
	stable_case_args(s, DAFS_PROC_APPEND_INLINE, &args);
	dafsd_intent_crash = DAFSD_CRASH_INTENDED;
	DAFS_EXPECT_STATUS(test, DAFSERR_IO, stable_call(s, DAFS_PROC_APPEND_INLINE, &args, NULL));
	stable_crash(s);
	stable_crash_again(s);
	DAFS_EXPECT_STATUS(test, DAFSERR_NOXID_MATCH, stable_check(s));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, stable_discard(s));
	/* but those of the sessions that have asked, which are there still */
	KUNIT_EXPECT_EQ(test, before.requests, stable_counts().requests);
	KUNIT_EXPECT_EQ(test, before.sessions + 2, stable_counts().sessions);
}

static bool stable_is_there(struct stable *s, const char *name)
{
	struct kstat stat;

	return !dafs_backing_stat(s->fix, name, &stat);
}

/* Was it executed, as the file system tells? */
static bool stable_executed(struct stable *s, u32 proc)
{
	struct kstat stat = {};

	switch (proc) {
	case DAFS_PROC_REMOVE:
		return !stable_is_there(s, "file");
	case DAFS_PROC_RENAME:
		return !stable_is_there(s, "file") && stable_is_there(s, "new");
	case DAFS_PROC_APPEND_INLINE:
	case DAFS_PROC_APPEND_DIRECT:
	case DAFS_PROC_SETATTR_INLINE:
	case DAFS_PROC_SETATTR_DIRECT:
	case DAFS_PROC_WRITE_INLINE:
	case DAFS_PROC_WRITE_DIRECT:
		dafs_backing_stat(s->fix, "file", &stat);
		return stat.size == 8;
	default:
		return stable_is_there(s, "new");
	}
}

static void stable_expect_data(struct stable *s)
{
	char data[8] = {};

	dafs_backing_read(s->fix, "file", data, sizeof(data), 0);
	KUNIT_EXPECT_MEMEQ(s->test, data, "datamore", sizeof(data));
}

/* What the client is told of a request that was executed, and what there is of it */
static void stable_expect_results(struct stable *s, u32 proc, const union dafs_res *res)
{
	struct kunit *test = s->test;
	struct dafs_fh fh;

	switch (proc) {
	case DAFS_PROC_APPEND_INLINE:
	case DAFS_PROC_APPEND_DIRECT:
		KUNIT_EXPECT_EQ(test, 4, res->append.offset);
		KUNIT_EXPECT_EQ(test, DAFS_FILE_SYNC, res->append.committed);
		stable_expect_data(s);
		break;
	case DAFS_PROC_SETATTR_INLINE:
	case DAFS_PROC_SETATTR_DIRECT:
		KUNIT_EXPECT_EQ(test, DAFS_FATTR_OBJECT_SIZE, res->setattr.attr_request_bitmap);
		break;
	case DAFS_PROC_WRITE_INLINE:
	case DAFS_PROC_WRITE_DIRECT:
		KUNIT_EXPECT_EQ(test, 4, res->write.count);
		KUNIT_EXPECT_EQ(test, DAFS_FILE_SYNC, res->write.committed);
		stable_expect_data(s);
		break;
	case DAFS_PROC_CREATE:
		fh = dafs_test_lookup(test, s->fix, "new");
		KUNIT_EXPECT_MEMEQ(test, &fh, &res->create.filehandle, sizeof(fh));
		break;
	}
}

/* R-5.2.4-02: after each step, the cache and the file system agree. */
static void dafs_stable_crash_test(struct kunit *test)
{
	const struct stable_case *c = test->param_value;
	static const struct dafs_flavour swapped = { .swab = true };
	unsigned int before;
	bool executed = c->crash != DAFSD_CRASH_INTENDED;
	dafs_status_t absent = DAFSERR_NOXID_MATCH;
	union dafs_args args = {};
	union dafs_res res = {};
	struct stable *s;

	s = stable_by(test, c->swab ? &swapped : NULL);
	dafs_backing_write(test, s->fix, "file", "data", 4);
	stable_case_args(s, c->proc, &args);
	before = stable_records();
	dafsd_intent_crash = c->crash;
	DAFS_EXPECT_STATUS(test, executed ? DAFS_STATUS_OK : DAFSERR_IO,
			   stable_call(s, c->proc, &args, NULL));
	KUNIT_EXPECT_EQ(test, executed, stable_executed(s, c->proc));
	stable_crash(s);
	/* a WRITE that is not stable leaves no record */
	if (c->proc == DAFS_PROC_WRITE_INLINE || c->proc == DAFS_PROC_WRITE_DIRECT)
		absent = DAFSERR_UNKNOWN_SESSION;
	DAFS_EXPECT_STATUS(test, executed ? DAFS_STATUS_OK : absent, stable_check(s));
	DAFS_EXPECT_STATUS(test, executed ? DAFS_STATUS_OK : absent, stable_fetch(s, &res));
	KUNIT_EXPECT_EQ(test, executed, stable_executed(s, c->proc));
	if (executed)
		stable_expect_results(s, c->proc, &res);
	/* what was not executed has no record any more: it is certain that it was not */
	KUNIT_EXPECT_EQ(test, before + executed, stable_records());
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, stable_discard(s));
}

/* SETATTR of "file" */
static dafs_status_t stable_setattr(struct stable *s, const struct dafs_fattr *attr)
{
	struct dafs_setattr_inline_args args = {
		.filehandle = dafs_test_lookup(s->test, s->fix, "file"),
		.obj_attributes = *attr,
	};

	args.obj_attributes.valid = attr->included;
	return stable_call(s, DAFS_PROC_SETATTR_INLINE, &args, NULL);
}

/* Attributes to be set, with the values of stable_attr() */
static const u64 stable_attrs[] = {
	DAFS_FATTR_MODE,
	DAFS_FATTR_OWNER,
	DAFS_FATTR_OWNER_GROUP,
	DAFS_FATTR_MODE | DAFS_FATTR_OWNER | DAFS_FATTR_OBJECT_SIZE,
	DAFS_FATTR_TIME_ACCESS_SET,
	DAFS_FATTR_TIME_MODIFY_SET,
	DAFS_FATTR_MODE | DAFS_FATTR_TIME_ACCESS_SET | DAFS_FATTR_TIME_MODIFY_SET,
	DAFS_FATTR_MIME_TYPE,
};

static void stable_attr(u64 which, struct dafs_fattr *attr)
{
	*attr = (struct dafs_fattr){
		.included = which,
		.mode = 0751,
		.object_size = 2,
		.owner = dafs_test_str("12"),
		.owner_group = dafs_test_str("34"),
		.mime_type = dafs_test_str("text/plain"),
		.time_access_set.how = DAFS_SET_TO_CLIENT_TIME,
		.time_access_set.client_time = { .seconds = 1234567, .nseconds = 891 },
		.time_modify_set.how = DAFS_SET_TO_CLIENT_TIME,
		.time_modify_set.client_time = { .seconds = 7654321, .nseconds = 198 },
	};
}

static void stable_attr_crash(struct kunit *test, const struct dafs_fattr *attr, bool executed)
{
	struct stable *s = stable(test);
	union dafs_res res;

	dafs_backing_write(test, s->fix, "file", "data", 4);
	/* so that its time of change differs */
	msleep(20);
	dafsd_intent_crash = executed ? DAFSD_CRASH_EXECUTED : DAFSD_CRASH_INTENDED;
	DAFS_EXPECT_STATUS(test, executed ? DAFS_STATUS_OK : DAFSERR_IO,
			   stable_setattr(s, attr));
	stable_crash(s);
	if (!executed) {
		DAFS_EXPECT_STATUS(test, DAFSERR_NOXID_MATCH, stable_check(s));
		return;
	}
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, stable_check(s));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, stable_fetch(s, &res));
	KUNIT_EXPECT_EQ(test, attr->included, res.setattr.attr_request_bitmap);
}

/* R-5.2.4-02: all attributes that can be set tell afterwards whether they were. */
static void dafs_stable_attrs_test(struct kunit *test)
{
	struct dafs_fattr *attr = kunit_kzalloc(test, sizeof(*attr), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, attr);
	for (i = 0; i < ARRAY_SIZE(stable_attrs); i++) {
		stable_attr(stable_attrs[i], attr);
		stable_attr_crash(test, attr, false);
		stable_attr_crash(test, attr, true);
	}
}

/* Set-id bits that a file system does not keep, and who reads meanwhile, make no difference. */
static void dafs_stable_ids_test(struct kunit *test)
{
	struct dafs_fattr attr = { .included = DAFS_FATTR_MODE, .mode = 02755 };
	struct iattr atime = {
		.ia_valid = ATTR_ATIME | ATTR_ATIME_SET,
		.ia_atime.tv_sec = 99,
	};
	struct stable *s = stable(test);

	/* the owner is not in the group */
	dafs_backing_write(test, s->fix, "file", "data", 4);
	dafs_backing_chown(test, s->fix, "file", 34, 12);
	dafs_backing_chmod(test, s->fix, "file", 0755);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_register(s->conn, 34, 34, s->handle));
	msleep(20);
	dafsd_intent_crash = DAFSD_CRASH_EXECUTED;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, stable_setattr(s, &attr));
	stable_crash(s);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, stable_check(s));

	/* nothing was done: that it is the same but for these bits does not count */
	s = stable(test);
	dafs_backing_write(test, s->fix, "file", "data", 4);
	dafs_backing_chmod(test, s->fix, "file", 0755);
	dafsd_intent_crash = DAFSD_CRASH_INTENDED;
	DAFS_EXPECT_STATUS(test, DAFSERR_IO, stable_setattr(s, &attr));
	stable_crash(s);
	DAFS_EXPECT_STATUS(test, DAFSERR_NOXID_MATCH, stable_check(s));

	/* nor does a bit that is still there, though something else has changed */
	s = stable(test);
	dafs_backing_write(test, s->fix, "file", "data", 4);
	dafs_backing_chmod(test, s->fix, "file", 04755);
	msleep(20);
	attr.mode = 0755;
	dafsd_intent_crash = DAFSD_CRASH_INTENDED;
	DAFS_EXPECT_STATUS(test, DAFSERR_IO, stable_setattr(s, &attr));
	dafs_backing_link(test, s->fix, "file", "another");
	stable_crash(s);
	DAFS_EXPECT_STATUS(test, DAFSERR_NOXID_MATCH, stable_check(s));

	s = stable(test);
	dafs_backing_write(test, s->fix, "file", "data", 4);
	msleep(20);
	stable_attr(DAFS_FATTR_TIME_ACCESS_SET, &attr);
	dafsd_intent_crash = DAFSD_CRASH_EXECUTED;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, stable_setattr(s, &attr));
	dafs_backing_setattr(test, s->fix, "file", &atime);
	stable_crash(s);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, stable_check(s));
}

/* Nothing tells whether the time of the server was set, unless that was recorded. */
static void dafs_stable_now_test(struct kunit *test)
{
	const struct dafs_fattr attr = {
		.included = DAFS_FATTR_TIME_MODIFY_SET,
		.time_modify_set.how = DAFS_SET_TO_SERVER_TIME,
	};
	enum dafsd_crash crash;
	struct stable *s;

	for (crash = DAFSD_CRASH_INTENDED; crash <= DAFSD_CRASH_RECORDED; crash++) {
		s = stable(test);
		dafs_backing_write(test, s->fix, "file", "data", 4);
		dafsd_intent_crash = crash;
		DAFS_EXPECT_STATUS(test, crash == DAFSD_CRASH_INTENDED ? DAFSERR_IO :
				   DAFS_STATUS_OK, stable_setattr(s, &attr));
		stable_crash(s);
		DAFS_EXPECT_STATUS(test, crash == DAFSD_CRASH_RECORDED ? DAFS_STATUS_OK :
				   DAFSERR_UNKNOWN_SESSION, stable_check(s));
	}
}

/* A part of the data is in the file: the file can be no larger.  The client is told how much. */
static void dafs_stable_short_test(struct kunit *test)
{
	struct stable *s = stable(test);
	union dafs_args args = {};
	union dafs_res res = {};

	dafs_backing_write(test, s->fix, "file", "data", 4);
	stable_case_args(s, DAFS_PROC_WRITE_INLINE, &args);
	args.write_inline.offset = s->fix->path.mnt->mnt_sb->s_maxbytes - 3;
	dafsd_intent_crash = DAFSD_CRASH_RECORDED;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   stable_call(s, DAFS_PROC_WRITE_INLINE, &args, &res));
	KUNIT_EXPECT_EQ(test, 3, res.write.count);
	stable_crash(s);
	res.write.count = 0;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, stable_fetch(s, &res));
	KUNIT_EXPECT_EQ(test, 3, res.write.count);
}

/* A request that has no record is not taken for an earlier one of its stream and number. */
static void dafs_stable_wrapped_test(struct kunit *test)
{
	struct stable *s = stable(test);
	union dafs_args args = {};

	dafs_backing_write(test, s->fix, "file", "data", 4);
	stable_case_args(s, DAFS_PROC_WRITE_INLINE, &args);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, stable_call(s, DAFS_PROC_WRITE_INLINE, &args,
							     NULL));
	s->conn->seq--;
	args.write_inline.stable_how = DAFS_UNSTABLE;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, stable_call(s, DAFS_PROC_WRITE_INLINE, &args,
							     NULL));
	stable_crash(s);
	DAFS_EXPECT_STATUS(test, DAFSERR_UNKNOWN_SESSION, stable_check(s));
}

/* What others do later is not undone by a request that was executed before: it is not repeated. */
static void dafs_stable_later_test(struct kunit *test)
{
	struct stable *s = stable(test);
	union dafs_args args = {};

	dafs_backing_write(test, s->fix, "file", "data", 4);
	stable_case_args(s, DAFS_PROC_WRITE_INLINE, &args);
	dafsd_intent_crash = DAFSD_CRASH_RECORDED;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, stable_call(s, DAFS_PROC_WRITE_INLINE, &args,
							     NULL));
	dafs_backing_write(test, s->fix, "file", "other", 5);
	stable_crash(s);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, stable_check(s));

	s = stable(test);
	dafs_backing_write(test, s->fix, "file", "data", 4);
	stable_case_args(s, DAFS_PROC_SETATTR_INLINE, &args);
	dafsd_intent_crash = DAFSD_CRASH_RECORDED;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, stable_call(s, DAFS_PROC_SETATTR_INLINE, &args,
							     NULL));
	dafs_backing_write(test, s->fix, "file", "other", 5);
	stable_crash(s);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, stable_check(s));
}

/* What there is of a WRITE that reaches into two pages */
enum stable_found {
	STABLE_WHOLE,
	STABLE_TORN,	/* the second page is another one */
	STABLE_PART,	/* the last byte is missing */
	STABLE_GONE,	/* and so is the file */
};

/* Of data that is not all there, and of a file that is gone, it is said that it was not written. */
static void dafs_stable_torn_test(struct kunit *test)
{
	const u32 len = PAGE_SIZE + 1000;
	u8 *data = kunit_kzalloc(test, len, GFP_KERNEL);
	union dafs_args args = {};
	unsigned int before, kind;
	struct stable *s;

	KUNIT_ASSERT_NOT_NULL(test, data);
	for (kind = STABLE_WHOLE; kind <= STABLE_GONE; kind++) {
		s = stable(test);
		dafs_backing_write(test, s->fix, "file", "", 0);
		before = stable_records();
		stable_case_args(s, DAFS_PROC_WRITE_INLINE, &args);
		memset(data, 'd', len);
		args.write_inline.offset = PAGE_SIZE - 1000;
		args.write_inline.byte_count = 2000;
		args.write_inline.data = data;
		dafsd_intent_crash = DAFSD_CRASH_INTENDED;
		DAFS_EXPECT_STATUS(test, DAFSERR_IO,
				   stable_call(s, DAFS_PROC_WRITE_INLINE, &args, NULL));
		if (kind == STABLE_TORN)
			data[len - 1] = 0;
		dafs_backing_write(test, s->fix, "file", data, len - (kind == STABLE_PART));
		if (kind == STABLE_GONE)
			dafs_backing_remove(s->fix, "file");
		stable_crash(s);
		DAFS_EXPECT_STATUS(test, kind == STABLE_WHOLE ? DAFS_STATUS_OK :
				   DAFSERR_UNKNOWN_SESSION, stable_check(s));
		KUNIT_EXPECT_EQ(test, before + (kind == STABLE_WHOLE), stable_records());
	}
}

#define STABLE_SIZE	(PAGE_SIZE - 2)

/* An append is under way when the server crashes, and @found is behind the end of the file. */
static loff_t stable_part(struct kunit *test, const char *found, size_t len)
{
	u8 *data = kunit_kzalloc(test, STABLE_SIZE, GFP_KERNEL);
	struct stable *s = stable(test);
	union dafs_args args = {};
	loff_t pos = STABLE_SIZE;
	struct kstat stat = {};
	struct file *file;

	KUNIT_ASSERT_NOT_NULL(test, data);
	dafs_backing_write(test, s->fix, "file", data, STABLE_SIZE);
	stable_case_args(s, DAFS_PROC_APPEND_INLINE, &args);
	dafsd_intent_crash = DAFSD_CRASH_INTENDED;
	DAFS_EXPECT_STATUS(test, DAFSERR_IO,
			   stable_call(s, DAFS_PROC_APPEND_INLINE, &args, NULL));
	file = dafs_backing_open(s->fix, "file", O_WRONLY, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	KUNIT_EXPECT_EQ(test, len, kernel_write(file, found, len, &pos));
	dafs_backing_close(file);
	stable_crash(s);
	DAFS_EXPECT_STATUS(test, DAFSERR_NOXID_MATCH, stable_check(s));
	dafs_backing_stat(s->fix, "file", &stat);
	return stat.size;
}

/*
 * Of an append all bytes are in the file after a crash, or none: file systems write pages, in any
 * order, and the size before or after them.
 */
static void dafs_stable_part_test(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, STABLE_SIZE, stable_part(test, "mo", 2));
	KUNIT_EXPECT_EQ(test, STABLE_SIZE, stable_part(test, "\0\0re", 4));
	KUNIT_EXPECT_EQ(test, STABLE_SIZE, stable_part(test, "mo\0\0", 4));
	KUNIT_EXPECT_EQ(test, STABLE_SIZE, stable_part(test, "\0\0\0\0", 4));
	KUNIT_EXPECT_EQ(test, STABLE_SIZE, stable_part(test, "\0", 1));
}

/* What may be others' is left alone. */
static void dafs_stable_other_test(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, STABLE_SIZE + 2, stable_part(test, "mi", 2));
	KUNIT_EXPECT_EQ(test, STABLE_SIZE + 3, stable_part(test, "mor", 3));
	KUNIT_EXPECT_EQ(test, STABLE_SIZE + 4, stable_part(test, "mire", 4));
	KUNIT_EXPECT_EQ(test, STABLE_SIZE + 5, stable_part(test, "mo\0\0\0", 5));
}

/* Appends @len bytes to "file", which are not in the file. */
static void stable_lose_append(struct stable *s, const char *data, u32 len)
{
	union dafs_args args = {};

	stable_case_args(s, DAFS_PROC_APPEND_INLINE, &args);
	args.append_inline.byte_count = len;
	args.append_inline.data = (u8 *)data;
	dafsd_intent_crash = DAFSD_CRASH_INTENDED;
	DAFS_EXPECT_STATUS(s->test, DAFSERR_IO,
			   stable_call(s, DAFS_PROC_APPEND_INLINE, &args, NULL));
}

/* The same for two clients */
static void stable_crash_both(struct stable *one, struct stable *two)
{
	stable_end(one);
	stable_end(two);
	dafsd_intent_crash = DAFSD_CRASH_NEVER;
	dafsd_respcaches_unload(&dafsd_server);
	stable_settle(one->test);
	stable_come_back(one);
	stable_come_back(two);
}

/*
 * Of two that were under way, one behind the other, the second one is there, and the first one is
 * not: neither was executed.
 */
static void dafs_stable_two_test(struct kunit *test)
{
	struct stable *one = stable(test), *two = stable(test);
	struct kstat stat = {};

	dafs_backing_write(test, one->fix, "file", "data", 4);
	two->fix = one->fix;
	stable_lose_append(one, "more", 4);
	/* the size that the second one finds */
	dafs_backing_write(test, one->fix, "file", "data\0\0\0\0", 8);
	stable_lose_append(two, "last", 4);
	dafs_backing_write(test, one->fix, "file", "data\0\0\0\0last", 12);
	stable_crash_both(one, two);
	DAFS_EXPECT_STATUS(test, DAFSERR_NOXID_MATCH, stable_check(one));
	DAFS_EXPECT_STATUS(test, DAFSERR_NOXID_MATCH, stable_check(two));
	dafs_backing_stat(one->fix, "file", &stat);
	KUNIT_EXPECT_EQ(test, 4, stat.size);
}

/* R-5.2.4-02: that a request has failed is known, and others may use what it has not. */
static void dafs_stable_failed_test(struct kunit *test)
{
	struct iattr longest = { .ia_valid = ATTR_SIZE };
	struct stable *s = stable(test);
	union dafs_args args = {};
	union dafs_res res = {};
	struct kstat stat = {};

	dafs_backing_mkdir(test, s->fix, "file", 0755);
	dafs_backing_mkdir(test, s->fix, "file/full", 0755);
	stable_case_args(s, DAFS_PROC_REMOVE, &args);
	DAFS_EXPECT_STATUS(test, DAFSERR_NOTEMPTY, stable_call(s, DAFS_PROC_REMOVE, &args, NULL));
	dafs_backing_remove(s->fix, "file/full");
	dafs_backing_remove(s->fix, "file");
	stable_crash(s);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, stable_check(s));
	DAFS_EXPECT_STATUS(test, DAFSERR_NOTEMPTY, stable_fetch(s, &res));

	/* and how far it came */
	s = stable(test);
	dafs_backing_write(test, s->fix, "file", "data", 4);
	dafs_backing_chown(test, s->fix, "file", 34, 34);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_register(s->conn, 34, 34, s->handle));
	DAFS_EXPECT_STATUS(test, DAFSERR_PERM,
			   stable_setattr(s, &(struct dafs_fattr){
				.included = DAFS_FATTR_MODE | DAFS_FATTR_OWNER,
				.mode = 0640,
				.owner = dafs_test_str("12") }));
	stable_crash(s);
	DAFS_EXPECT_STATUS(test, DAFSERR_PERM, stable_fetch(s, &res));
	KUNIT_EXPECT_EQ(test, DAFS_FATTR_MODE, res.setattr.attr_request_bitmap);

	s = stable(test);
	dafs_backing_write(test, s->fix, "file", "data", 4);
	longest.ia_size = s->fix->path.mnt->mnt_sb->s_maxbytes - 2;
	dafs_backing_setattr(test, s->fix, "file", &longest);
	stable_case_args(s, DAFS_PROC_APPEND_INLINE, &args);
	DAFS_EXPECT_STATUS(test, DAFSERR_FBIG,
			   stable_call(s, DAFS_PROC_APPEND_INLINE, &args, NULL));
	/* another one writes the same there */
	longest.ia_size = s->fix->path.mnt->mnt_sb->s_maxbytes;
	dafs_backing_setattr(test, s->fix, "file", &longest);
	stable_crash(s);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, stable_check(s));
	DAFS_EXPECT_STATUS(test, DAFSERR_FBIG, stable_fetch(s, &res));
	dafs_backing_stat(s->fix, "file", &stat);
	KUNIT_EXPECT_EQ(test, longest.ia_size, stat.size);
}

static void stable_restore_store(void *store)
{
	dafsd_server.store = store;
}

/* A server that has not read its store yet does not say that it knows nothing. */
static void dafs_stable_early_test(struct kunit *test)
{
	struct dafsd_store *store = dafsd_server.store;
	unsigned long revived_at = dafsd_server.revived_at;
	struct stable *s = stable(test);

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, stable_mkdir(s, NULL));
	get_random_bytes(&s->login.res.connect.session_id,
			 sizeof(s->login.res.connect.session_id));
	DAFS_EXPECT_STATUS(test, DAFSERR_UNKNOWN_SESSION, stable_check(s));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, stable_restore_store, store));
	dafsd_server.store = NULL;
	dafsd_server.revived_at = jiffies;
	DAFS_EXPECT_STATUS(test, DAFSERR_DELAY, stable_check(s));
	DAFS_EXPECT_STATUS(test, DAFSERR_DELAY, stable_discard(s));
	/* but not for ever */
	dafsd_server.revived_at = jiffies - (dafsd_lease_seconds + 1) * HZ;
	DAFS_EXPECT_STATUS(test, DAFSERR_UNKNOWN_SESSION, stable_check(s));
	kunit_release_action(test, stable_restore_store, store);
	dafsd_server.revived_at = revived_at;
}

static void stable_withdraw(void *exp)
{
	dafsd_export_withdraw(exp);
}

/* The filehandle of what was made is one of the export that it was made by. */
static void dafs_stable_exports_test(struct kunit *test)
{
	const struct dafsd_export_conf conf = {};
	struct dafs_str name = dafs_test_str("other");
	struct stable *s = stable(test);
	struct dafsd_export *exp;
	union dafs_args args = {};
	union dafs_res res = {};
	struct dafs_fh root;

	dafs_backing_mkdir(test, s->fix, "other", 0777);
	exp = dafs_fixture_serve(test, s->fix, "other", "other", &conf);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, exp);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, stable_withdraw, exp));
	KUNIT_ASSERT_EQ(test, 0, dafs_get_root_handle(s->fix->clnt, dafs_test_me(), &root));
	stable_case_args(s, DAFS_PROC_CREATE, &args);
	KUNIT_ASSERT_EQ(test, 0, dafs_lookup_path(s->fix->clnt, dafs_test_me(), &root, &name, 1,
						  &args.create.filehandle));
	dafsd_intent_crash = DAFSD_CRASH_EXECUTED;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, stable_call(s, DAFS_PROC_CREATE, &args, NULL));
	stable_crash(s);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, stable_check(s));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, stable_fetch(s, &res));
	KUNIT_EXPECT_MEMEQ(test, args.create.filehandle.fshandle, res.create.filehandle.fshandle,
			   DAFS_FSHANDLE_SIZE);
}

/* A name was removed from a directory that does not exist any more. */
static void dafs_stable_gone_test(struct kunit *test)
{
	struct stable *s = stable(test);
	union dafs_args args = {};

	dafs_backing_mkdir(test, s->fix, "dir", 0777);
	dafs_backing_mkdir(test, s->fix, "dir/file", 0777);
	stable_case_args(s, DAFS_PROC_REMOVE, &args);
	args.remove.filehandle = dafs_test_lookup(test, s->fix, "dir");
	dafsd_intent_crash = DAFSD_CRASH_EXECUTED;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, stable_call(s, DAFS_PROC_REMOVE, &args, NULL));
	dafs_backing_remove(s->fix, "dir");
	stable_crash(s);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, stable_check(s));
}

/* In what kind of file system it is not known, the client is told that it is not. */
static void dafs_stable_unknown_test(struct kunit *test)
{
	struct stable *s = stable(test);
	struct super_block *sb = s->fix->path.mnt->mnt_sb;
	uuid_t uuid = sb->s_uuid;
	dafs_status_t status;

	/* another change of the session is known */
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, stable_mkdir(s, NULL));
	dafs_backing_remove(s->fix, "made");
	dafsd_intent_crash = DAFSD_CRASH_EXECUTED;
	uuid_copy(&sb->s_uuid, &uuid_null);
	status = stable_mkdir(s, NULL);
	uuid_copy(&sb->s_uuid, &uuid);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, status);
	stable_crash(s);
	DAFS_EXPECT_STATUS(test, DAFSERR_UNKNOWN_SESSION, stable_check(s));
}

/* R-5.2.1-02, E-59: who has not asked for it is answered FALSE, and the server may decline. */
static void dafs_stable_declined_test(struct kunit *test)
{
	struct stable *s = stable(test);
	struct raw_conn *conn = raw_connect_flavour(test, NULL, DAFS_CHANNEL_OPERATION);
	struct raw_login login = {};

	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_login(conn, &login));
	KUNIT_EXPECT_EQ(test, 0, login.res.connect.opts.use_response_cache);
	dafsd_respcache_kind = DAFSD_RESPCACHE_VOLATILE;
	s->again = (struct raw_login){};
	stable_connect(s, &s->again);
	KUNIT_EXPECT_EQ(test, 0, s->again.res.connect.opts.use_response_cache);
}

static struct kunit_case stable_kunit_cases[] = {
	KUNIT_CASE_PARAM(dafs_stable_known_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_stable_unrecorded_test),
	KUNIT_CASE(dafs_stable_never_test),
	KUNIT_CASE(dafs_stable_clean_test),
	KUNIT_CASE_PARAM(dafs_stable_crash_test, stable_cases_gen_params),
	KUNIT_CASE(dafs_stable_attrs_test),
	KUNIT_CASE(dafs_stable_ids_test),
	KUNIT_CASE(dafs_stable_now_test),
	KUNIT_CASE(dafs_stable_short_test),
	KUNIT_CASE(dafs_stable_wrapped_test),
	KUNIT_CASE(dafs_stable_later_test),
	KUNIT_CASE(dafs_stable_torn_test),
	KUNIT_CASE(dafs_stable_part_test),
	KUNIT_CASE(dafs_stable_other_test),
	KUNIT_CASE(dafs_stable_two_test),
	KUNIT_CASE(dafs_stable_failed_test),
	KUNIT_CASE(dafs_stable_exports_test),
	KUNIT_CASE(dafs_stable_gone_test),
	KUNIT_CASE(dafs_stable_early_test),
	KUNIT_CASE(dafs_stable_unknown_test),
	KUNIT_CASE(dafs_stable_declined_test),
	{}
};

static struct kunit_suite stable_suite = {
	.name = "dafs_stable",
	.test_cases = stable_kunit_cases,
};

kunit_test_suite(stable_suite);
