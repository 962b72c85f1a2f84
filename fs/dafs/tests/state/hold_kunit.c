// SPDX-License-Identifier: GPL-2.0
/*
 * What one request changes, no other changes until its outcome is durable (the note in 5.2.4).
 *
 * These tests hold bytes of a file themselves, as a request would whose outcome is not durable yet.
 */
#include <linux/fs.h>
#include <linux/slab.h>
#include "../../../../drivers/dafsd/session/respcache.h"
#include "../../../../drivers/dafsd/session/server.h"
#include "../../../../drivers/dafsd/state/hold.h"
#include "../lib/open_test.h"
#include "../lib/raw.h"

#define HOLD_SIZE	8	/* of the file */

/**
 * struct hold_case - a request, and what is held
 * @name: of the case
 * @proc: DAFS_PROC_*
 * @offset: WRITE: of four bytes; SETATTR: the size
 * @stable: WRITE: DAFS_FILE_SYNC or DAFS_UNSTABLE
 * @first: the first byte that is held
 * @last: the last one
 * @waits: the request waits
 */
struct hold_case {
	const char *name;
	u32 proc;
	u64 offset;
	u32 stable;
	u64 first;
	u64 last;
	bool waits;
};

#define HOLD_WRITE	DAFS_PROC_WRITE_INLINE
#define HOLD_APPEND	DAFS_PROC_APPEND_INLINE
#define HOLD_SETATTR	DAFS_PROC_SETATTR_INLINE
#define HOLD_MODE	U64_MAX	/* instead of the size */

static const struct hold_case hold_cases[] = {
	{ "write of others", HOLD_WRITE, 0, DAFS_FILE_SYNC, 4, 7, false },
	{ "write of the first one", HOLD_WRITE, 1, DAFS_FILE_SYNC, 4, 7, true },
	{ "write of the last one", HOLD_WRITE, 7, DAFS_FILE_SYNC, 4, 7, true },
	{ "write behind", HOLD_WRITE, 8, DAFS_FILE_SYNC, 4, 7, false },
	{ "unstable write", HOLD_WRITE, 4, DAFS_UNSTABLE, 4, 7, true },
	{ "append behind", HOLD_APPEND, 0, DAFS_FILE_SYNC, 4, 7, false },
	{ "append", HOLD_APPEND, 0, DAFS_FILE_SYNC, 11, 20, true },
	{ "truncate behind", HOLD_SETATTR, 8, 0, 4, 7, false },
	{ "truncate", HOLD_SETATTR, 7, 0, 4, 7, true },
	{ "mode", HOLD_SETATTR, HOLD_MODE, 0, 4, 7, true },
	{ "write beside a mode", HOLD_WRITE, 0, DAFS_FILE_SYNC, U64_MAX, U64_MAX, false },
	{ "truncate beside a mode", HOLD_SETATTR, 8, 0, U64_MAX, U64_MAX, true },
	{ "open that empties", DAFS_PROC_OPEN, 0, 0, 4, 7, true },
};

static void hold_describe(const struct hold_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", c->name);
}

KUNIT_ARRAY_PARAM(hold_cases, hold_cases, hold_describe);

/**
 * struct hold - a client whose changes are executed once, and a file of the server
 * @fix: where the file is
 * @fh: the file
 * @path: in the server
 * @conn: to the server
 * @login: of the session
 */
struct hold {
	struct dafs_fixture *fix;
	struct dafs_fh fh;
	struct path path;
	struct raw_conn *conn;
	struct raw_login login;
};

static void hold_reset(void *unused)
{
	dafsd_respcache_kind = DAFSD_RESPCACHE_VOLATILE;
}

static void hold_path_put(void *path)
{
	path_put(path);
}

static struct hold *hold(struct kunit *test, enum dafs_test_export where)
{
	struct hold *h = kunit_kzalloc(test, sizeof(*h), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, h);
	KUNIT_ASSERT_NOT_NULL(test, dafsd_server.store);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, hold_reset, NULL));
	dafsd_respcache_kind = DAFSD_RESPCACHE_STABLE;
	h->fix = dafs_fixture_in(test, NULL, where);
	dafs_backing_write(test, h->fix, "file", "old data", HOLD_SIZE);
	dafs_backing_chown(test, h->fix, "file", 65534, 65534);
	h->fh = dafs_test_lookup(test, h->fix, "file");
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_path(h->fix, "file", &h->path));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, hold_path_put, &h->path));
	h->login.opts.use_response_cache = 1;
	h->conn = raw_session(test, NULL, &h->login);
	KUNIT_ASSERT_EQ(test, 1, h->login.res.connect.opts.use_response_cache);
	return h;
}

static struct dafsd_hold hold_bytes(const struct hold *h, u64 first, u64 last)
{
	return (struct dafsd_hold){
		.inode = d_inode(h->path.dentry),
		.first = first,
		.last = last,
	};
}

static void hold_attrs(const struct hold_case *c, struct dafs_fattr *attr)
{
	attr->included = c->offset == HOLD_MODE ? DAFS_FATTR_MODE : DAFS_FATTR_OBJECT_SIZE;
	attr->valid = attr->included;
	attr->mode = 0600;
	attr->object_size = c->offset;
}

static void hold_open_args(const struct hold *h, struct dafs_str *name,
			   struct dafs_open_args *args)
{
	*args = dafs_create_open_args(DAFS_CREATE_UNCHECKED);
	args->dir_handle = h->fix->dir;
	args->pathname.count = 1;
	args->pathname.elems = name;
	args->createattrs.included = DAFS_FATTR_OBJECT_SIZE;
	args->createattrs.valid = DAFS_FATTR_OBJECT_SIZE;
}

static void hold_send(struct hold *h, const struct hold_case *c)
{
	struct dafs_req_hdr hdr = raw_hdr(h->conn, c->proc);
	struct dafs_str name = dafs_test_str("file");
	union dafs_args args = {};

	switch (c->proc) {
	case HOLD_WRITE:
		args.write_inline.filehandle = h->fh;
		args.write_inline.offset = c->offset;
		args.write_inline.byte_count = 4;
		args.write_inline.stable_how = c->stable;
		args.write_inline.data = "new ";
		break;
	case HOLD_APPEND:
		args.append_inline.filehandle = h->fh;
		args.append_inline.byte_count = 4;
		args.append_inline.stable_how = c->stable;
		args.append_inline.data = "new ";
		break;
	case HOLD_SETATTR:
		args.setattr_inline.filehandle = h->fh;
		hold_attrs(c, &args.setattr_inline.obj_attributes);
		break;
	default:
		hold_open_args(h, &name, &args.open);
		break;
	}
	raw_ask(h->conn, &hdr, &args);
}

/* What others hold is not changed until they do not any more; the rest is. */
static void dafs_hold_waits_test(struct kunit *test)
{
	const struct hold_case *c = test->param_value;
	struct dafsd_hold held;
	struct kstat stat = {};
	struct hold *h;
	char data[HOLD_SIZE];

	test->param_value = NULL;
	h = hold(test, DAFS_TEST_SQUASH);
	held = hold_bytes(h, c->first, c->last);
	dafsd_hold_take(&held);
	hold_send(h, c);
	if (c->waits) {
		KUNIT_EXPECT_NULL(test, raw_recv(h->conn, RAW_QUIET_MS));
		dafs_backing_stat(h->fix, "file", &stat);
		KUNIT_EXPECT_EQ(test, HOLD_SIZE, stat.size);
		KUNIT_EXPECT_EQ(test, HOLD_SIZE,
				dafs_backing_read(h->fix, "file", data, sizeof(data), 0));
		KUNIT_EXPECT_MEMEQ(test, data, "old data", HOLD_SIZE);
		dafsd_hold_end(&held);
	}
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_status(h->conn));
	dafsd_hold_end(&held);
	/* nothing is held any more */
	held = hold_bytes(h, 0, U64_MAX);
	KUNIT_EXPECT_TRUE(test, dafsd_hold_try(&held));
	dafsd_hold_end(&held);
	test->param_value = c;
}

static bool hold_is_free(const struct hold *h, u64 first, u64 last)
{
	struct dafsd_hold bytes = hold_bytes(h, first, last);
	bool free = dafsd_hold_try(&bytes);

	if (free)
		dafsd_hold_end(&bytes);
	return free;
}

static bool hold_eventually(const struct hold *h, u64 first, u64 last)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);

	while (hold_is_free(h, first, last) && time_before(jiffies, end))
		msleep(20);
	return !hold_is_free(h, first, last);
}

/* A request that is being executed holds what it changes, and no more. */
static void dafs_hold_holds_test(struct kunit *test)
{
	static const struct hold_case cases[] = {
		{ "write", HOLD_WRITE, 4, DAFS_UNSTABLE, 4, 7 },
		{ "append", HOLD_APPEND, 0, DAFS_FILE_SYNC, 8, 11 },
		{ "truncate", HOLD_SETATTR, 6, 0, 6, U64_MAX },
		{ "mode", HOLD_SETATTR, HOLD_MODE, 0, 0, U64_MAX },
	};
	struct hold *h = hold(test, DAFS_TEST_SQUASH);
	const struct hold_case *c;

	for (c = cases; c < cases + ARRAY_SIZE(cases); c++) {
		dafs_fixture_freeze(test, h->fix);
		hold_send(h, c);
		KUNIT_EXPECT_TRUE_MSG(test, hold_eventually(h, c->first, c->first), c->name);
		KUNIT_EXPECT_FALSE_MSG(test, hold_is_free(h, c->last, c->last), c->name);
		if (c->first)
			KUNIT_EXPECT_TRUE_MSG(test, hold_is_free(h, 0, c->first - 1), c->name);
		if (c->last != U64_MAX)
			KUNIT_EXPECT_TRUE_MSG(test, hold_is_free(h, c->last + 1, U64_MAX),
					      c->name);
		dafs_fixture_thaw(test, h->fix);
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_status(h->conn));
		KUNIT_EXPECT_TRUE_MSG(test, hold_is_free(h, 0, U64_MAX), c->name);
		dafs_backing_write(test, h->fix, "file", "old data", HOLD_SIZE);
	}
}

/* Others wait only while there are clients whose changes are to be executed once. */
static void dafs_hold_nobody_test(struct kunit *test)
{
	static const struct hold_case write = { "write", HOLD_WRITE, 4, DAFS_FILE_SYNC };
	struct hold *h = hold(test, DAFS_TEST_SQUASH);
	unsigned int streams = dafsd_server.stable_streams;
	struct dafsd_hold held = hold_bytes(h, 0, U64_MAX);

	dafsd_hold_take(&held);
	WRITE_ONCE(dafsd_server.stable_streams, 0);
	hold_send(h, &write);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_status(h->conn));
	WRITE_ONCE(dafsd_server.stable_streams, streams);
	dafsd_hold_end(&held);
}

static struct kunit_case hold_kunit_cases[] = {
	KUNIT_CASE_PARAM(dafs_hold_waits_test, hold_cases_gen_params),
	KUNIT_CASE(dafs_hold_holds_test),
	KUNIT_CASE(dafs_hold_nobody_test),
	{}
};

static struct kunit_suite hold_suite = {
	.name = "dafs_hold",
	.test_cases = hold_kunit_cases,
};

kunit_test_suite(hold_suite);
