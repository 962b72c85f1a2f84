// SPDX-License-Identifier: GPL-2.0
/*
 * What one request changes, no other changes until its outcome is durable (the note in 5.2.4).
 *
 * Most tests hold something themselves, as a request would whose outcome is not durable yet.
 */
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/namei.h>
#include <linux/slab.h>
#include <linux/stringhash.h>
#include "../../../../drivers/dafsd/session/conn.h"
#include "../../../../drivers/dafsd/session/respcache.h"
#include "../../../../drivers/dafsd/session/server.h"
#include "../../../../drivers/dafsd/session/session.h"
#include "../../../../drivers/dafsd/state/intent.h"
#include "../../../../drivers/dafsd/store/store.h"
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
 * @held: a name that is held instead, or NULL
 */
struct hold_case {
	const char *name;
	u32 proc;
	u64 offset;
	u32 stable;
	u64 first;
	u64 last;
	bool waits;
	const char *held;
};

#define HOLD_WRITE	DAFS_PROC_WRITE_INLINE
#define HOLD_APPEND	DAFS_PROC_APPEND_INLINE
#define HOLD_SETATTR	DAFS_PROC_SETATTR_INLINE
#define HOLD_MODE	U64_MAX	/* instead of the size */
#define HOLD_NAMES(what, proc, name, waits)	{ what, proc, 0, 0, 0, 0, waits, name }

static const struct hold_case hold_cases[] = {
	{ "write of others", HOLD_WRITE, 0, DAFS_FILE_SYNC, 4, 7, false },
	{ "write of the first one", HOLD_WRITE, 1, DAFS_FILE_SYNC, 4, 7, true },
	{ "write of the last one", HOLD_WRITE, 7, DAFS_FILE_SYNC, 4, 7, true },
	{ "write behind", HOLD_WRITE, 8, DAFS_FILE_SYNC, 4, 7, false },
	{ "unstable write", HOLD_WRITE, 4, DAFS_UNSTABLE, 4, 7, true },
	{ "append behind", HOLD_APPEND, 0, DAFS_FILE_SYNC, 4, 7, false },
	{ "append", HOLD_APPEND, 0, DAFS_FILE_SYNC, 11, 20, true },
	{ "truncate behind", HOLD_SETATTR, 8, 0, 4, 6, false },
	{ "truncate to what is appended", HOLD_SETATTR, 8, 0, 4, 7, true },
	{ "truncate", HOLD_SETATTR, 7, 0, 4, 7, true },
	{ "mode", HOLD_SETATTR, HOLD_MODE, 0, 4, 7, true },
	{ "write beside a mode", HOLD_WRITE, 0, DAFS_FILE_SYNC, U64_MAX, U64_MAX, false },
	{ "truncate beside a mode", HOLD_SETATTR, 8, 0, U64_MAX, U64_MAX, true },
	{ "open that empties", DAFS_PROC_OPEN, 0, 0, 4, 7, true },
	HOLD_NAMES("create", DAFS_PROC_CREATE, "new", true),
	HOLD_NAMES("create of another", DAFS_PROC_CREATE, "other", false),
	HOLD_NAMES("remove", DAFS_PROC_REMOVE, "file", true),
	HOLD_NAMES("link", DAFS_PROC_LINK, "new", true),
	HOLD_NAMES("rename of the old name", DAFS_PROC_RENAME, "file", true),
	HOLD_NAMES("rename to the new name", DAFS_PROC_RENAME, "new", true),
	HOLD_NAMES("rename beside another", DAFS_PROC_RENAME, "other", false),
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
 * @plain: a session of another client, which asks for nothing
 * @other: its login
 * @held: what the test holds; ended with it
 * @more: likewise
 */
struct hold {
	struct dafs_fixture *fix;
	struct dafs_fh fh;
	struct path path;
	struct raw_conn *conn;
	struct raw_login login;
	struct raw_conn *plain;
	struct raw_login other;
	struct dafsd_hold held;
	struct dafsd_hold more;
};

static void hold_reset(void *unused)
{
	dafsd_respcache_kind = DAFSD_RESPCACHE_VOLATILE;
	dafsd_intent_crash = DAFSD_CRASH_NEVER;
}

static void hold_end(void *priv)
{
	struct hold *h = priv;

	dafsd_hold_end(&h->held);
	dafsd_hold_end(&h->more);
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
	dafs_backing_chmod(test, h->fix, ".", 0777);
	h->fh = dafs_test_lookup(test, h->fix, "file");
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_path(h->fix, "file", &h->path));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, hold_path_put, &h->path));
	h->login.opts.use_response_cache = 1;
	h->conn = raw_session(test, NULL, &h->login);
	KUNIT_ASSERT_EQ(test, 1, h->login.res.connect.opts.use_response_cache);
	h->plain = raw_session(test, NULL, &h->other);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, hold_end, h));
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

static bool hold_is_free(const struct hold *h, u64 first, u64 last)
{
	struct dafsd_hold bytes = hold_bytes(h, first, last);
	bool free = dafsd_hold_queue(&bytes);

	dafsd_hold_end(&bytes);
	return free;
}

static struct dafsd_hold hold_name(const struct hold *h, const char *name)
{
	const struct inode *dir = d_inode(h->fix->path.dentry);
	unsigned int hash = full_name_hash(dir, name, strlen(name));

	return (struct dafsd_hold){ .inode = dir, .first = hash, .last = hash };
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

static void hold_name_args(const struct hold *h, u32 proc, union dafs_args *args)
{
	switch (proc) {
	case DAFS_PROC_CREATE:
		args->create = (struct dafs_create_args){
			.filehandle = h->fix->dir,
			.component = dafs_test_str("new"),
			.obj_type = DAFS_TYPE_DIR,
		};
		break;
	case DAFS_PROC_REMOVE:
		args->remove.filehandle = h->fix->dir;
		args->remove.target = dafs_test_str("file");
		break;
	case DAFS_PROC_LINK:
		args->link.source_object = h->fh;
		args->link.destination_object = h->fix->dir;
		args->link.newname = dafs_test_str("new");
		break;
	default:
		args->rename.sourcedir = h->fix->dir;
		args->rename.targetdir = h->fix->dir;
		args->rename.oldname = dafs_test_str("file");
		args->rename.newname = dafs_test_str("new");
		break;
	}
}

static void hold_send(struct hold *h, struct raw_conn *conn, const struct hold_case *c)
{
	struct dafs_req_hdr hdr = raw_hdr(conn, c->proc);
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
	case DAFS_PROC_OPEN:
		hold_open_args(h, &name, &args.open);
		break;
	default:
		hold_name_args(h, c->proc, &args);
		break;
	}
	raw_ask(conn, &hdr, &args);
}

/* Waits until the server executes a change of a session. */
static void hold_await_change(struct kunit *test, const struct raw_login *login)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	struct dafsd_session *ses = dafs_fixture_at_server(test,
							   &login->res.connect.session_id);

	while (list_empty(&ses->op->changing) && time_before(jiffies, end))
		msleep(20);
	KUNIT_EXPECT_FALSE(test, list_empty(&ses->op->changing));
}

/* What is there of a case after it was executed, if @done, or before */
static void hold_expect(struct kunit *test, struct hold *h, const struct hold_case *c, bool done)
{
	struct kstat file = {}, made = {};
	bool there = !dafs_backing_stat(h->fix, "file", &file);
	bool new = !dafs_backing_stat(h->fix, "new", &made);
	char data[4] = {};

	switch (c->proc) {
	case HOLD_WRITE:
		dafs_backing_read(h->fix, "file", data, sizeof(data), c->offset);
		KUNIT_EXPECT_EQ(test, done, !memcmp(data, "new ", sizeof(data)));
		break;
	case HOLD_APPEND:
		KUNIT_EXPECT_EQ(test, HOLD_SIZE + 4 * done, file.size);
		break;
	case HOLD_SETATTR:
		if (c->offset == HOLD_MODE)
			KUNIT_EXPECT_EQ(test, done, (file.mode & 0777) == 0600);
		else
			KUNIT_EXPECT_EQ(test, done ? c->offset : HOLD_SIZE, file.size);
		break;
	case DAFS_PROC_OPEN:
		KUNIT_EXPECT_EQ(test, done ? 0 : HOLD_SIZE, file.size);
		break;
	case DAFS_PROC_REMOVE:
		KUNIT_EXPECT_EQ(test, done, !there);
		break;
	case DAFS_PROC_RENAME:
		KUNIT_EXPECT_EQ(test, done, !there);
		fallthrough;
	default:
		KUNIT_EXPECT_EQ(test, done, new);
		break;
	}
}

static void hold_waits(struct kunit *test, bool plain)
{
	const struct hold_case *c = test->param_value;
	struct hold *h = hold(test, DAFS_TEST_SQUASH);
	struct raw_conn *conn = plain ? h->plain : h->conn;

	h->held = c->held ? hold_name(h, c->held) : hold_bytes(h, c->first, c->last);
	dafsd_hold_take(&h->held);
	hold_send(h, conn, c);
	if (c->waits) {
		hold_await_change(test, plain ? &h->other : &h->login);
		KUNIT_EXPECT_NULL(test, raw_recv(conn, RAW_QUIET_MS));
		hold_expect(test, h, c, false);
		dafsd_hold_end(&h->held);
	}
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_status(conn));
	hold_expect(test, h, c, true);
	dafsd_hold_end(&h->held);
	/* nothing is held any more */
	KUNIT_EXPECT_TRUE(test, hold_is_free(h, 0, U64_MAX));
}

/*
 * What others hold is not changed until they do not any more; the rest is.  By a client that has
 * asked for a stable response cache, and by one that has not.
 */
static void dafs_hold_waits_test(struct kunit *test)
{
	hold_waits(test, false);
}

static void dafs_hold_plain_test(struct kunit *test)
{
	hold_waits(test, true);
}

/* Requests that are executed, what they hold, and the size of the file after them */
static const struct hold_case hold_changes[] = {
	{ "write", HOLD_WRITE, 8, DAFS_FILE_SYNC, 8, 11 },
	{ "append", HOLD_APPEND, 0, DAFS_FILE_SYNC, 8, 11 },
	{ "truncate", HOLD_SETATTR, 6, 0, 5, U64_MAX },
};

KUNIT_ARRAY_PARAM(hold_changes, hold_changes, hold_describe);

/* It holds what it changes, and no more. */
static void hold_expect_held(struct kunit *test, const struct hold *h, const struct hold_case *c)
{
	KUNIT_EXPECT_FALSE(test, hold_is_free(h, c->first, c->first));
	KUNIT_EXPECT_FALSE(test, hold_is_free(h, c->last, c->last));
	KUNIT_EXPECT_TRUE(test, hold_is_free(h, 0, c->first - 1));
	if (c->last != U64_MAX)
		KUNIT_EXPECT_TRUE(test, hold_is_free(h, c->last + 1, U64_MAX));
}

static void hold_await(struct kunit *test, const bool *what)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);

	while (!READ_ONCE(*what) && time_before(jiffies, end))
		msleep(20);
	KUNIT_EXPECT_TRUE(test, *what);
}

/* Waits until the intent of the change of the client is durable. */
static void hold_await_intent(struct kunit *test, const struct hold *h)
{
	struct dafsd_session *ses = dafs_fixture_at_server(test,
							   &h->login.res.connect.session_id);
	struct dafsd_response *response;

	hold_await_change(test, &h->login);
	response = READ_ONCE(ses->respcache->responses[0]);
	KUNIT_ASSERT_NOT_NULL(test, response);
	hold_await(test, &response->intended);
}

static void hold_thaw(void *sb)
{
	thaw_super(sb, FREEZE_HOLDER_KERNEL);
}

static struct super_block *hold_store_sb(struct kunit *test)
{
	struct super_block *sb;
	struct path path;

	KUNIT_ASSERT_EQ(test, 0, kern_path(dafsd_state_dir, 0, &path));
	sb = path.mnt->mnt_sb;
	path_put(&path);
	return sb;
}

/*
 * R-5.2.4-02: a change is held before it is made, and until its outcome is durable: here the store
 * is frozen when it was made.
 */
static void dafs_hold_durable_test(struct kunit *test)
{
	const struct hold_case *c = test->param_value;
	struct hold *h = hold(test, DAFS_TEST_SQUASH);
	struct super_block *store = hold_store_sb(test);
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	struct kstat stat = {};

	KUNIT_ASSERT_PTR_NE(test, store, h->fix->path.mnt->mnt_sb);
	dafs_fixture_freeze(test, h->fix);
	hold_send(h, h->conn, c);
	hold_await_intent(test, h);
	hold_expect_held(test, h, c);
	KUNIT_ASSERT_EQ(test, 0, freeze_super(store, FREEZE_HOLDER_KERNEL));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, hold_thaw, store));
	dafs_fixture_thaw(test, h->fix);
	do {
		msleep(20);
		dafs_backing_stat(h->fix, "file", &stat);
	} while (stat.size == HOLD_SIZE && time_before(jiffies, end));
	hold_expect(test, h, c, true);
	KUNIT_EXPECT_NULL(test, raw_recv(h->conn, RAW_QUIET_MS));
	hold_expect_held(test, h, c);
	kunit_release_action(test, hold_thaw, store);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_status(h->conn));
	KUNIT_EXPECT_TRUE(test, hold_is_free(h, 0, U64_MAX));
}

/* A change that cannot be recorded is not made, and nothing stays held. */
static void dafs_hold_refused_test(struct kunit *test)
{
	static const struct hold_case mode = { "mode", HOLD_SETATTR, HOLD_MODE };
	const struct hold_case *c = test->param_value;
	struct hold *h = hold(test, DAFS_TEST_SQUASH);

	dafsd_intent_crash = DAFSD_CRASH_INTENDED;
	hold_send(h, h->conn, c);
	DAFS_EXPECT_STATUS(test, DAFSERR_IO, raw_status(h->conn));
	hold_expect(test, h, c, false);
	KUNIT_EXPECT_TRUE(test, hold_is_free(h, 0, U64_MAX));
	dafsd_intent_crash = DAFSD_CRASH_NEVER;
	/* nor does anybody wait for what the caller may not do */
	dafs_backing_chown(test, h->fix, "file", 1, 1);
	h->held = hold_bytes(h, 0, U64_MAX);
	dafsd_hold_take(&h->held);
	hold_send(h, h->conn, &mode);
	DAFS_EXPECT_STATUS(test, DAFSERR_PERM, raw_status(h->conn));
}

/* Who needs all of a file gets it, though others write here and there. */
static void dafs_hold_fair_test(struct kunit *test)
{
	static const struct hold_case mode = { "mode", HOLD_SETATTR, HOLD_MODE };
	struct hold *h = hold(test, DAFS_TEST_SQUASH);

	h->held = hold_bytes(h, 0, 3);
	dafsd_hold_take(&h->held);
	hold_send(h, h->conn, &mode);
	hold_await_change(test, &h->login);
	/* those that come later wait as well */
	KUNIT_EXPECT_FALSE(test, hold_is_free(h, 4, 7));
	dafsd_hold_end(&h->held);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_status(h->conn));
}

/* Waits until a request waits for a byte. */
static void hold_await_taken(struct kunit *test, const struct hold *h, u64 byte)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);

	while (hold_is_free(h, byte, byte) && time_before(jiffies, end))
		msleep(20);
	KUNIT_EXPECT_FALSE(test, hold_is_free(h, byte, byte));
}

/* An append of four bytes waits for the first one, which the test holds. */
static void hold_append_waits(struct kunit *test, struct hold *h, const struct hold_case *append)
{
	h->held = hold_bytes(h, HOLD_SIZE, HOLD_SIZE);
	dafsd_hold_take(&h->held);
	hold_send(h, h->conn, append);
	hold_await_taken(test, h, HOLD_SIZE + 3);
}

/*
 * An append keeps its place, though it gives up a lock to wait, and the end of the file has moved
 * meanwhile.
 */
static void dafs_hold_append_test(struct kunit *test)
{
	static const struct hold_case append = { "append", HOLD_APPEND, 0, DAFS_FILE_SYNC };
	static const struct hold_case truncate = { "truncate", HOLD_SETATTR, 6 };
	struct hold *h = hold(test, DAFS_TEST_SQUASH);

	hold_append_waits(test, h, &append);
	hold_send(h, h->plain, &truncate);
	hold_await_taken(test, h, HOLD_SIZE - 1);
	/* by a program of the server */
	dafs_backing_write(test, h->fix, "file", "old data.", HOLD_SIZE + 1);
	dafsd_hold_end(&h->held);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_status(h->conn));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_status(h->plain));
	hold_expect(test, h, &truncate, true);
	KUNIT_EXPECT_TRUE(test, hold_is_free(h, 0, U64_MAX));
}

/* Then it holds the bytes behind the new end. */
static void dafs_hold_moved_test(struct kunit *test)
{
	static const struct hold_case append = {
		"append", HOLD_APPEND, 0, DAFS_FILE_SYNC, HOLD_SIZE + 1, HOLD_SIZE + 4,
	};
	struct hold *h = hold(test, DAFS_TEST_SQUASH);

	hold_append_waits(test, h, &append);
	/* by a program of the server */
	dafs_backing_write(test, h->fix, "file", "old data.", HOLD_SIZE + 1);
	dafs_fixture_freeze(test, h->fix);
	dafsd_hold_end(&h->held);
	hold_await_intent(test, h);
	hold_expect_held(test, h, &append);
	dafs_fixture_thaw(test, h->fix);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_status(h->conn));
	KUNIT_EXPECT_TRUE(test, hold_is_free(h, 0, U64_MAX));
}

/* Or waits for them, while others may change what it wanted before. */
static void dafs_hold_wanted_test(struct kunit *test)
{
	static const struct hold_case append = { "append", HOLD_APPEND, 0, DAFS_FILE_SYNC };
	static const struct hold_case write = { "write", HOLD_WRITE, 5, DAFS_FILE_SYNC };
	struct hold *h = hold(test, DAFS_TEST_SQUASH);
	struct kstat stat = {};

	h->more = hold_bytes(h, HOLD_SIZE + 4, HOLD_SIZE + 4);
	dafsd_hold_take(&h->more);
	hold_append_waits(test, h, &append);
	/* up to the first byte that the append wants */
	hold_send(h, h->plain, &write);
	hold_await_taken(test, h, HOLD_SIZE - 1);
	dafs_backing_write(test, h->fix, "file", "old data.", HOLD_SIZE + 1);
	dafsd_hold_end(&h->held);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_status(h->plain));
	KUNIT_EXPECT_NULL(test, raw_recv(h->conn, RAW_QUIET_MS));
	dafsd_hold_end(&h->more);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_status(h->conn));
	KUNIT_EXPECT_EQ(test, 0, dafs_backing_stat(h->fix, "file", &stat));
	KUNIT_EXPECT_EQ(test, HOLD_SIZE + 5, stat.size);
}

/*
 * A RENAME that has one name gets the other one, though who waits for the first one has come before
 * it: otherwise they would wait for each other.
 */
static void dafs_hold_second_test(struct kunit *test)
{
	struct hold *h = hold(test, DAFS_TEST_SQUASH);
	struct dafs_setattr_inline_args args = {
		.filehandle = h->fix->dir,
		.obj_attributes.included = DAFS_FATTR_MODE,
		.obj_attributes.valid = DAFS_FATTR_MODE,
		.obj_attributes.mode = 0777,
	};
	struct dafs_req_hdr hdr = raw_hdr(h->conn, HOLD_SETATTR);
	struct dafsd_hold second;

	dafs_backing_chown(test, h->fix, ".", 65534, 65534);
	h->held = hold_name(h, "first");
	dafsd_hold_take(&h->held);
	raw_ask(h->conn, &hdr, &args);
	hold_await_change(test, &h->login);
	second = hold_name(h, "second");
	dafsd_hold_take_second(&second);
	dafsd_hold_end(&second);
	dafsd_hold_end(&h->held);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_status(h->conn));
}

/* An OPEN that denies, and empties the file, takes both in the order of I/O without an open. */
static void dafs_hold_deny_test(struct kunit *test)
{
	static const struct hold_case write = { "write", HOLD_WRITE, 0, DAFS_FILE_SYNC };
	struct hold *h = hold(test, DAFS_TEST_SQUASH);
	struct dafs_req_hdr hdr = raw_hdr(h->plain, DAFS_PROC_OPEN);
	struct dafs_str name = dafs_test_str("file");
	struct dafs_open_args args;

	h->held = hold_bytes(h, 0, 3);
	dafsd_hold_take(&h->held);
	/* it has the gate, and waits */
	hold_send(h, h->conn, &write);
	hold_await_change(test, &h->login);
	hold_open_args(h, &name, &args);
	args.share_deny = DAFS_OPEN_SHARE_DENY_WRITE;
	raw_ask(h->plain, &hdr, &args);
	hold_await_change(test, &h->other);
	dafsd_hold_end(&h->held);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_status(h->conn));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_status(h->plain));
}

static void hold_restore_streams(void *streams)
{
	spin_lock(&dafsd_server.sessions_lock);
	dafsd_server.stable_streams += (unsigned long)streams;
	spin_unlock(&dafsd_server.sessions_lock);
}

/* Others wait only while there may be clients whose changes are to be executed once. */
static void dafs_hold_nobody_test(struct kunit *test)
{
	static const struct hold_case write = { "write", HOLD_WRITE, 4, DAFS_FILE_SYNC };
	struct hold *h = hold(test, DAFS_TEST_SQUASH);
	unsigned long streams;

	h->held = hold_bytes(h, 0, U64_MAX);
	dafsd_hold_take(&h->held);
	dafsd_respcache_kind = DAFSD_RESPCACHE_VOLATILE;
	spin_lock(&dafsd_server.sessions_lock);
	streams = dafsd_server.stable_streams;
	dafsd_server.stable_streams = 0;
	spin_unlock(&dafsd_server.sessions_lock);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, hold_restore_streams,
							   (void *)streams));
	hold_send(h, h->plain, &write);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_status(h->plain));
	kunit_release_action(test, hold_restore_streams, (void *)streams);
}

static struct kunit_case hold_kunit_cases[] = {
	KUNIT_CASE_PARAM(dafs_hold_waits_test, hold_cases_gen_params),
	KUNIT_CASE_PARAM(dafs_hold_plain_test, hold_cases_gen_params),
	KUNIT_CASE_PARAM(dafs_hold_durable_test, hold_changes_gen_params),
	KUNIT_CASE_PARAM(dafs_hold_refused_test, hold_changes_gen_params),
	KUNIT_CASE(dafs_hold_fair_test),
	KUNIT_CASE(dafs_hold_append_test),
	KUNIT_CASE(dafs_hold_moved_test),
	KUNIT_CASE(dafs_hold_wanted_test),
	KUNIT_CASE(dafs_hold_second_test),
	KUNIT_CASE(dafs_hold_deny_test),
	KUNIT_CASE(dafs_hold_nobody_test),
	{}
};

static struct kunit_suite hold_suite = {
	.name = "dafs_hold",
	.test_cases = hold_kunit_cases,
};

kunit_test_suite(hold_suite);
