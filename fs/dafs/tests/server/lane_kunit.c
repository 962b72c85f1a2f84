// SPDX-License-Identifier: GPL-2.0
/*
 * The shares of exports in the server's workers, also those of requests whose
 * connection is lost.
 */
#include <linux/delay.h>
#include <linux/exportfs.h>
#include <linux/slab.h>
#include "../../../../drivers/dafsd/session/server.h"
#include "../../../../drivers/dafsd/session/client.h"
#include "../../../../drivers/dafsd/session/conn.h"
#include "../../../../drivers/dafsd/session/respcache.h"
#include "../../../../drivers/dafsd/session/session.h"
#include "../../../../drivers/dafsd/export/export.h"
#include "../../../../drivers/dafsd/export/handle.h"
#include "../../../../drivers/dafsd/request/request.h"
#include "../lib/open_test.h"
#include "../lib/raw.h"

#define LANE_REQUESTS	32

static struct raw_conn *lane_session(struct kunit *test)
{
	struct raw_login *login = kunit_kzalloc(test, sizeof(*login), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, login);
	login->opts.max_requests = LANE_REQUESTS;
	return raw_session(test, NULL, login);
}

static void lane_send(struct raw_conn *conn, u16 stream, u32 proc, void *args)
{
	struct dafs_req_hdr hdr = raw_hdr(conn, proc);

	hdr.stream_id = stream;
	raw_ask(conn, &hdr, args);
}

/* Sends @nr changes of a directory, which block while its file system is frozen */
static void lane_ask(struct raw_conn *conn, u16 stream, const struct dafs_fh *dir,
		     unsigned int nr)
{
	struct dafs_create_args args = {
		.filehandle = *dir,
		.obj_type = DAFS_TYPE_DIR,
	};
	static unsigned int next;
	char name[16];
	unsigned int i;

	for (i = 0; i < nr; i++) {
		snprintf(name, sizeof(name), "d%u", next++);
		args.component = dafs_test_str(name);
		lane_send(conn, stream + i, DAFS_PROC_CREATE, &args);
	}
}

static void lane_send_getattr(struct raw_conn *conn, u16 stream, const struct dafs_fh *fh)
{
	struct dafs_getattr_args args = {
		.filehandle = *fh,
		.attr_request_bitmap = DAFS_FATTR_FILE_ID,
	};

	lane_send(conn, stream, DAFS_PROC_GETATTR_INLINE, &args);
}

/* Number of places in use in the export of a filehandle */
static int lane_running(const struct dafs_fh *fh)
{
	struct dafsd_export *exp = dafsd_export_find(fh->fshandle);
	int running = atomic_read(&exp->lane.running);

	dafsd_export_put(exp);
	return running;
}

static bool lane_wait_running(const struct dafs_fh *fh, int nr)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);

	while (lane_running(fh) != nr && time_before(jiffies, end))
		msleep(20);
	return lane_running(fh) == nr;
}

/* Each session takes one place, until the export is full. */
static void lane_fill(struct kunit *test, struct raw_conn **busy, unsigned int nr,
		      const struct dafs_fh *dir)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		lane_ask(busy[i], 0, dir, 1);
		KUNIT_EXPECT_TRUE(test, lane_wait_running(dir, i + 1));
	}
}

static void lane_withdraw(void *exp)
{
	dafsd_export_withdraw(exp);
}

static struct dafsd_export *lane_serve(struct kunit *test, struct dafs_fixture *fix,
				       const char *name)
{
	const struct dafsd_export_conf conf = {};
	struct dafsd_export *exp = dafs_fixture_serve(test, fix, name, ".", &conf);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, exp);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, lane_withdraw, exp));
	return exp;
}

/* Arguments of a LOOKUP of one name; they point to @name. */
static struct dafs_lookup_args lane_lookup_args(const struct dafs_fh *dir, struct dafs_str *name)
{
	return (struct dafs_lookup_args) {
		.directory = *dir,
		.path = { .count = 1, .elems = name },
	};
}

static struct dafs_fh lane_lookup(struct raw_conn *conn, const struct dafs_fh *dir,
				  const char *name)
{
	struct dafs_str str = dafs_test_str(name);
	struct dafs_lookup_args args = lane_lookup_args(dir, &str);
	struct dafs_lookup_res res = {};

	DAFS_ASSERT_STATUS(conn->test, DAFS_STATUS_OK,
			   raw_call(conn, DAFS_PROC_LOOKUP, &args, &res));
	return res.filehandle;
}

static struct dafs_fh lane_root(struct raw_conn *conn)
{
	struct dafs_fh_res root = {};

	DAFS_ASSERT_STATUS(conn->test, DAFS_STATUS_OK,
			   raw_call(conn, DAFS_PROC_GET_ROOT_HANDLE, NULL, &root));
	return root.filehandle;
}

/* One client uses all places that one client may have: others are not delayed. */
static void dafs_lane_pass_test(struct kunit *test)
{
	struct dafs_fixture *frozen = dafs_fixture_in(test, NULL, DAFS_TEST_SQUASH);
	struct raw_conn *busy = lane_session(test), *conn = lane_session(test);
	struct dafs_fh root = lane_root(conn);
	unsigned int i;

	dafs_fixture_server_param(test, &dafsd_lane_most, 8);
	dafs_fixture_freeze(test, frozen);
	lane_ask(busy, 0, &frozen->dir, LANE_REQUESTS);
	KUNIT_EXPECT_TRUE(test, lane_wait_running(&frozen->dir, 4));
	for (i = 0; i < 8; i++)
		lane_lookup(conn, &root, dafs_fixture_export_name(DAFS_TEST_SQUASH));
	dafs_fixture_thaw(test, frozen);
}

/* Three clients: four places for the first one, one for each of the others */
#define LANE_HEAVY	3
#define LANE_TAKEN	6

/*
 * Many requests of a few clients wait for a frozen export.  Requests of other clients
 * that need no write to it are executed as soon as a place is free, even if they are
 * queued behind many others.
 */
static void dafs_lane_turn_test(struct kunit *test)
{
	struct dafs_fixture *frozen = dafs_fixture_in(test, NULL, DAFS_TEST_SQUASH);
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct raw_conn *heavy, *busy[2], *conn[3];
	unsigned int i;

	dafs_fixture_server_param(test, &dafsd_lane_most, LANE_TAKEN + ARRAY_SIZE(busy));
	for (i = 0; i < ARRAY_SIZE(busy); i++)
		busy[i] = lane_session(test);
	for (i = 0; i < ARRAY_SIZE(conn); i++)
		conn[i] = lane_session(test);
	dafs_fixture_freeze(test, frozen);
	for (i = 0; i < LANE_HEAVY; i++) {
		heavy = lane_session(test);
		lane_ask(heavy, 0, &frozen->dir, LANE_REQUESTS);
		KUNIT_EXPECT_TRUE(test, lane_wait_running(&frozen->dir, LANE_TAKEN - 2 + i));
	}
	for (i = 0; i < ARRAY_SIZE(busy); i++) {
		lane_ask(busy[i], 0, &frozen->dir, 1);
		KUNIT_EXPECT_TRUE(test, lane_wait_running(&frozen->dir, LANE_TAKEN + i + 1));
	}
	lane_send_getattr(conn[0], 0, &frozen->dir);
	KUNIT_EXPECT_NULL(test, raw_recv(conn[0], RAW_QUIET_MS));
	/* there are free places, but the clients at the head of the queue may not use them */
	dafs_fixture_server_param(test, &dafsd_lane_most, 2 * (LANE_TAKEN + ARRAY_SIZE(busy)));
	lane_send_getattr(conn[1], 0, &frozen->dir);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_status(conn[1]));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_status(conn[0]));
	/* requests of a session in other exports do not count */
	dafs_fixture_freeze(test, fix);
	lane_ask(conn[2], 0, &fix->dir, 1);
	KUNIT_EXPECT_TRUE(test, lane_wait_running(&fix->dir, 1));
	lane_send_getattr(conn[2], 1, &frozen->dir);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_status(conn[2]));
	dafs_fixture_thaw(test, fix);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_status(conn[2]));
	dafs_fixture_thaw(test, frozen);
}

/* Receives the response of an earlier request */
static dafs_status_t lane_result(struct raw_conn *conn, u32 proc, union dafs_res *res)
{
	struct dafs_buf buf = { .swab = conn->swab };
	struct dafs_res_hdr hdr;

	kfree(conn->last);
	conn->last = raw_recv(conn, RAW_WAIT_MS);
	if (!conn->last)
		return DAFS_NO_STATUS;
	buf.base = conn->last->data;
	buf.len = conn->last->len;
	return dafs_get_res_hdr(&buf, &hdr) || dafs_decode_res(&buf, proc,
							       res) ? DAFS_NO_STATUS : hdr.status;
}

/* Makes lookups in the directory of a fixture block. */
static void lane_hang(struct dafs_fixture *fix)
{
	shrink_dcache_parent(fix->path.dentry);
	inode_lock(d_inode(fix->path.dentry));
}

/*
 * A request waits for a place in a full export, and then returns the same as before.
 * Meanwhile its credential is released (E-48), and lookups block in the export that its
 * path begins in, if any.
 */
static void lane_expect_await(struct kunit *test, struct dafs_fixture *frozen,
			      const struct dafs_fh *full, u32 proc, void *args,
			      struct dafs_fixture *through)
{
	struct raw_conn *busy[4], *conn = lane_session(test), *other = lane_session(test);
	union dafs_res *res = kunit_kcalloc(test, 2, sizeof(*res), GFP_KERNEL);
	struct dafs_req_hdr hdr = raw_hdr(conn, proc);
	struct dafs_release_cred_args release;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, res);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_register(conn, 1000, 1000, hdr.cred_handle));
	memcpy(release.cred_handle, hdr.cred_handle, sizeof(release.cred_handle));
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   raw_call_as(conn, hdr.cred_handle, proc, args, &res[0]));
	for (i = 0; i < ARRAY_SIZE(busy); i++)
		busy[i] = lane_session(test);
	dafs_fixture_server_param(test, &dafsd_lane_most, ARRAY_SIZE(busy));
	dafs_fixture_freeze(test, frozen);
	lane_fill(test, busy, ARRAY_SIZE(busy), full);
	hdr.stream_id = 1;
	raw_ask(conn, &hdr, args);
	KUNIT_EXPECT_NULL(test, raw_recv(conn, RAW_QUIET_MS));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   raw_call(conn, DAFS_PROC_RELEASE_CRED, &release, NULL));
	/* it does not keep a place in another export */
	lane_root(other);
	if (through)
		lane_hang(through);
	dafs_fixture_thaw(test, frozen);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, lane_result(conn, proc, &res[1]));
	KUNIT_EXPECT_MEMEQ(test, &res[0], &res[1], sizeof(res->lookup));
	if (through)
		inode_unlock(d_inode(through->path.dentry));
}

static void dafs_lane_await_test(struct kunit *test)
{
	struct dafs_fixture *frozen = dafs_fixture_in(test, NULL, DAFS_TEST_SQUASH);
	struct dafs_str name = dafs_test_str(dafs_fixture_export_name(DAFS_TEST_SQUASH));
	struct dafs_fh root = lane_root(lane_session(test));
	struct dafs_lookup_args args = lane_lookup_args(&root, &name);

	lane_expect_await(test, frozen, &frozen->dir, DAFS_PROC_LOOKUP, &args, NULL);
}

/* Exports the directory of @inner at the name "inner" in that of @outer. */
static struct dafs_fh lane_nest(struct kunit *test, struct dafs_fixture *outer,
				struct dafs_fixture *inner)
{
	char *name = kunit_kzalloc(test, PATH_MAX, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, name);
	snprintf(name, PATH_MAX, "%s/%s/inner", dafs_fixture_export_name(outer->where),
		 outer->name);
	dafs_backing_mkdir(test, outer, "inner", 0755);
	lane_serve(test, inner, name);
	return lane_lookup(lane_session(test), &outer->dir, "inner");
}

/* A path from another export into the full one */
static void dafs_lane_await_inner_test(struct kunit *test)
{
	struct dafs_fixture *frozen = dafs_fixture_in(test, NULL, DAFS_TEST_SQUASH);
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_str names[] = { dafs_test_str("inner"), dafs_test_str("further") };
	struct dafs_lookup_args args = {
		.directory = fix->dir,
		.path = { .count = ARRAY_SIZE(names), .elems = names },
	};
	struct dafs_fh inner = lane_nest(test, fix, frozen);

	dafs_backing_mkdir(test, frozen, "further", 0755);
	lane_expect_await(test, frozen, &inner, DAFS_PROC_LOOKUP, &args, fix);
}

/* LOOKUPP from the root of the inner export to the full one */
static void dafs_lane_await_outer_test(struct kunit *test)
{
	struct dafs_fixture *frozen = dafs_fixture_in(test, NULL, DAFS_TEST_SQUASH);
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_fh_args args = { .filehandle = lane_nest(test, frozen, fix) };

	lane_expect_await(test, frozen, &frozen->dir, DAFS_PROC_LOOKUPP, &args, NULL);
}

/**
 * struct lane_watch - counts filehandles decoded by a file system
 * @ops: its export operations during the test
 * @real: its own operations
 * @dir: a directory
 * @decoded: number of filehandles decoded to @dir
 */
struct lane_watch {
	struct export_operations ops;
	const struct export_operations *real;
	const struct inode *dir;
	atomic_t decoded;
};

/* Operations have no pointer to private data. */
static struct lane_watch lane_watch;

static struct dentry *lane_fh_to_dentry(struct super_block *sb, struct fid *fid, int len, int type)
{
	struct dentry *dentry = lane_watch.real->fh_to_dentry(sb, fid, len, type);

	if (!IS_ERR_OR_NULL(dentry) && d_inode(dentry) == lane_watch.dir)
		atomic_inc(&lane_watch.decoded);
	return dentry;
}

static void lane_unwatch(void *sb)
{
	((struct super_block *)sb)->s_export_op = lane_watch.real;
}

static void lane_watch_dir(struct kunit *test, const struct dafs_fixture *fix)
{
	struct super_block *sb = fix->path.mnt->mnt_sb;

	lane_watch.real = sb->s_export_op;
	lane_watch.ops = *sb->s_export_op;
	lane_watch.ops.fh_to_dentry = lane_fh_to_dentry;
	lane_watch.dir = d_inode(fix->path.dentry);
	atomic_set(&lane_watch.decoded, 0);
	sb->s_export_op = &lane_watch.ops;
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, lane_unwatch, sb));
}

/*
 * The same from a filehandle that is decoded like that of any directory: when the request
 * continues in the outer export, nothing is decoded in the inner one.
 */
static void dafs_lane_await_decoded_test(struct kunit *test)
{
	struct dafs_fixture *frozen = dafs_fixture_in(test, NULL, DAFS_TEST_SQUASH);
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_fh inner = lane_nest(test, frozen, fix);
	struct dafs_fh_args args = { .filehandle = fix->dir };

	memcpy(args.filehandle.fshandle, inner.fshandle, sizeof(inner.fshandle));
	dafsd_fh_sign(&args.filehandle);
	lane_watch_dir(test, fix);
	lane_expect_await(test, frozen, &frozen->dir, DAFS_PROC_LOOKUPP, &args, NULL);
	/* once for each of two requests, before it leaves the inner export */
	KUNIT_EXPECT_EQ(test, 2, atomic_read(&lane_watch.decoded));
}

/* A path from the root to the export in the directory of a fixture and below it */
struct lane_path {
	struct dafs_str names[4];
	struct dafs_open_args open;
	struct dafs_lookup_args lookup;
};

static void lane_path_init(struct lane_path *path, const struct dafs_fixture *fix,
			   const struct dafs_fh *root)
{
	path->names[0] = dafs_test_str(dafs_fixture_export_name(fix->where));
	path->names[1] = dafs_test_str(fix->name);
	path->names[2] = dafs_test_str("inner");
	path->names[3] = dafs_test_str("further");
	path->lookup.directory = *root;
	path->lookup.path.count = ARRAY_SIZE(path->names);
	path->lookup.path.elems = path->names;
	path->open = dafs_test_open_args("owner", DAFS_RD, 0);
	path->open.dir_handle = *root;
	path->open.pathname = path->lookup.path;
}

/* Expects that the path was resolved up to the directory of the inner export.  E-96 */
static void lane_expect_came(struct kunit *test, const struct dafs_fixture *fix,
			     const struct dafs_fh *fh, u32 count)
{
	KUNIT_EXPECT_EQ(test, 2, count);
	KUNIT_EXPECT_MEMEQ(test, fh, &fix->dir, sizeof(*fh));
}

/* Requests wait for a place in an export that is then disabled: they return DELAY. */
static void dafs_lane_await_withdrawn_test(struct kunit *test)
{
	struct dafs_fixture *frozen = dafs_fixture_in(test, NULL, DAFS_TEST_SQUASH);
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_fh root, inner = lane_nest(test, fix, frozen);
	struct dafsd_export *exp = dafsd_export_find(inner.fshandle);
	struct lane_path *path = kunit_kzalloc(test, sizeof(*path), GFP_KERNEL);
	union dafs_res *res = kunit_kzalloc(test, sizeof(*res), GFP_KERNEL);
	struct raw_conn *busy[4], *conn[2];
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, path);
	KUNIT_ASSERT_NOT_NULL(test, res);
	dafsd_export_put(exp);
	for (i = 0; i < ARRAY_SIZE(busy); i++)
		busy[i] = lane_session(test);
	for (i = 0; i < ARRAY_SIZE(conn); i++)
		conn[i] = lane_session(test);
	root = lane_root(conn[0]);
	lane_path_init(path, fix, &root);
	dafs_fixture_server_param(test, &dafsd_lane_most, ARRAY_SIZE(busy));
	dafs_fixture_freeze(test, frozen);
	lane_fill(test, busy, ARRAY_SIZE(busy), &inner);
	lane_send(conn[0], 0, DAFS_PROC_LOOKUP, &path->lookup);
	KUNIT_EXPECT_NULL(test, raw_recv(conn[0], RAW_QUIET_MS));
	lane_send(conn[1], 0, DAFS_PROC_OPEN, &path->open);
	KUNIT_EXPECT_NULL(test, raw_recv(conn[1], RAW_QUIET_MS));
	dafs_fixture_server_param(test, &dafsd_withdraw_seconds, 1);
	kunit_release_action(test, lane_withdraw, exp);
	dafs_fixture_thaw(test, frozen);
	DAFS_EXPECT_STATUS(test, DAFSERR_DELAY, lane_result(conn[0], DAFS_PROC_LOOKUP, res));
	lane_expect_came(test, fix, &res->lookup.filehandle, res->lookup.component_count);
	DAFS_EXPECT_STATUS(test, DAFSERR_DELAY, lane_result(conn[1], DAFS_PROC_OPEN, res));
	lane_expect_came(test, fix, &res->open.filehandle, res->open.component_count);
	/* then the lookup uses the directory that the export had covered */
	DAFS_EXPECT_STATUS(test, DAFSERR_NOENT,
			   raw_call(conn[0], DAFS_PROC_LOOKUP, &path->lookup, res));
	KUNIT_EXPECT_EQ(test, 3, res->lookup.component_count);
}

/* The export stays, but the next name does not exist there */
static void dafs_lane_await_missing_test(struct kunit *test)
{
	struct dafs_fixture *frozen = dafs_fixture_in(test, NULL, DAFS_TEST_SQUASH);
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_fh root, inner = lane_nest(test, fix, frozen);
	struct lane_path *path = kunit_kzalloc(test, sizeof(*path), GFP_KERNEL);
	union dafs_res *res = kunit_kzalloc(test, sizeof(*res), GFP_KERNEL);
	struct raw_conn *busy[4], *conn = lane_session(test);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, path);
	KUNIT_ASSERT_NOT_NULL(test, res);
	for (i = 0; i < ARRAY_SIZE(busy); i++)
		busy[i] = lane_session(test);
	root = lane_root(conn);
	lane_path_init(path, fix, &root);
	dafs_fixture_server_param(test, &dafsd_lane_most, ARRAY_SIZE(busy));
	dafs_fixture_freeze(test, frozen);
	lane_fill(test, busy, ARRAY_SIZE(busy), &inner);
	lane_send(conn, 0, DAFS_PROC_OPEN, &path->open);
	KUNIT_EXPECT_NULL(test, raw_recv(conn, RAW_QUIET_MS));
	dafs_fixture_thaw(test, frozen);
	DAFS_EXPECT_STATUS(test, DAFSERR_NOENT, lane_result(conn, DAFS_PROC_OPEN, res));
	KUNIT_EXPECT_EQ(test, 3, res->open.component_count);
	KUNIT_EXPECT_MEMEQ(test, &res->open.filehandle, &inner, sizeof(inner));
}

/* Idle exports take no places. */
static void dafs_lane_idle_test(struct kunit *test)
{
	struct dafs_fixture *frozen = dafs_fixture_in(test, NULL, DAFS_TEST_SQUASH);
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct raw_conn *busy = lane_session(test);
	char name[16];
	int i;

	for (i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "idle%d", i);
		lane_serve(test, fix, name);
	}
	dafs_fixture_freeze(test, frozen);
	lane_ask(busy, 0, &frozen->dir, LANE_REQUESTS);
	KUNIT_EXPECT_TRUE(test, lane_wait_running(&frozen->dir, LANE_REQUESTS));
	dafs_fixture_thaw(test, frozen);
}

/* Workers in this test, and exports that use more than these with two each */
#define LANE_WORKERS	32
#define LANE_EXPORTS	24
#define LANE_EACH	4	/* requests in each export */
#define LANE_SESSIONS	(LANE_EXPORTS * LANE_EACH / LANE_REQUESTS)

static void lane_restore_workers(void *unused)
{
	workqueue_set_max_active(dafsd_wq, DAFSD_WORKERS);
}

/* Fills all places that the exports of lane_many_serve() can get. */
static void lane_many_freeze(struct kunit *test, struct dafs_fixture *frozen,
			     struct raw_conn **busy, const struct dafs_fh *fh)
{
	unsigned int i, at;

	dafs_fixture_freeze(test, frozen);
	for (i = 0; i < LANE_EXPORTS; i++) {
		at = i * LANE_EACH;
		lane_ask(busy[at / LANE_REQUESTS], at % LANE_REQUESTS, &fh[i], LANE_EACH);
	}
	KUNIT_EXPECT_TRUE(test, lane_wait_running(&fh[LANE_EXPORTS - 1], 2));
}

static void lane_many_thaw(struct kunit *test, struct dafs_fixture *frozen,
			   struct raw_conn **busy)
{
	unsigned int i;

	dafs_fixture_thaw(test, frozen);
	for (i = 0; i < LANE_EXPORTS * LANE_EACH; i++)
		DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_status(busy[i / LANE_REQUESTS]));
}

/* While many exports are frozen, clients connect, use other exports and disconnect. Runs twice. */
static void lane_many_frozen(struct kunit *test, struct dafs_fixture *frozen,
			     struct dafs_fixture *fix, struct raw_conn **busy,
			     const struct dafs_fh *fh)
{
	struct raw_conn *conn;

	lane_many_freeze(test, frozen, busy, fh);
	conn = lane_session(test);
	lane_send_getattr(conn, 0, &fix->dir);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_status(conn));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_call(conn, DAFS_PROC_DISCONNECT, NULL, NULL));
	lane_many_thaw(test, frozen, busy);
}

static void lane_many_serve(struct kunit *test, struct dafs_fixture *frozen,
			    struct raw_conn **busy, struct dafs_fh *fh)
{
	struct dafs_fh root;
	char name[16];
	unsigned int i;

	for (i = 0; i < LANE_SESSIONS; i++)
		busy[i] = lane_session(test);
	root = lane_root(busy[0]);
	for (i = 0; i < LANE_EXPORTS; i++) {
		snprintf(name, sizeof(name), "many%u", i);
		lane_serve(test, frozen, name);
		fh[i] = lane_lookup(busy[0], &root, name);
	}
	dafs_fixture_server_param(test, &dafsd_workers, LANE_WORKERS);
	workqueue_set_max_active(dafsd_wq, LANE_WORKERS);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, lane_restore_workers, NULL));
}

static void dafs_lane_many_test(struct kunit *test)
{
	struct dafs_fixture *frozen = dafs_fixture_in(test, NULL, DAFS_TEST_SQUASH);
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_fh *fh = kunit_kcalloc(test, LANE_EXPORTS, sizeof(*fh), GFP_KERNEL);
	struct raw_conn *busy[LANE_SESSIONS];
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, fh);
	lane_many_serve(test, frozen, busy, fh);
	for (i = 0; i < 2; i++)
		lane_many_frozen(test, frozen, fix, busy, fh);
}

/*
 * A request that waits for the only export that is still frozen gets a place that the
 * others free, although no request of that export ends or arrives.
 */
static void dafs_lane_last_test(struct kunit *test)
{
	struct dafs_fixture *frozen = dafs_fixture_in(test, NULL, DAFS_TEST_SQUASH);
	struct dafs_fixture *last = dafs_fixture(test, NULL);
	struct dafs_fh *fh = kunit_kcalloc(test, LANE_EXPORTS, sizeof(*fh), GFP_KERNEL);
	struct raw_conn *busy[LANE_SESSIONS], *few[4], *conn = lane_session(test);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, fh);
	for (i = 0; i < ARRAY_SIZE(few); i++)
		few[i] = lane_session(test);
	lane_many_serve(test, frozen, busy, fh);
	lane_many_freeze(test, frozen, busy, fh);
	dafs_fixture_freeze(test, last);
	lane_fill(test, few, ARRAY_SIZE(few), &last->dir);
	lane_send_getattr(conn, 0, &last->dir);
	KUNIT_EXPECT_NULL(test, raw_recv(conn, RAW_QUIET_MS));
	lane_many_thaw(test, frozen, busy);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_status(conn));
	dafs_fixture_thaw(test, last);
}

static void lane_reset_respcache(void *unused)
{
	dafsd_respcache_kind = DAFSD_RESPCACHE_VOLATILE;
}

/* A client whose changes are executed exactly once: changes of one name wait for each other. */
static struct raw_conn *lane_stable_session(struct kunit *test)
{
	struct raw_login *login = kunit_kzalloc(test, sizeof(*login), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, login);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, lane_reset_respcache, NULL));
	dafsd_respcache_kind = DAFSD_RESPCACHE_STABLE;
	login->opts.use_response_cache = 1;
	return raw_session(test, NULL, login);
}

/* Names that are being changed in a frozen file system do not keep others in another one. */
static void dafs_lane_names_test(struct kunit *test)
{
	struct dafs_fixture *frozen = dafs_fixture_in(test, NULL, DAFS_TEST_SQUASH);
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct raw_conn *busy = lane_session(test), *conn = lane_session(test);
	unsigned int n;

	KUNIT_ASSERT_NOT_NULL(test, lane_stable_session(test));
	KUNIT_ASSERT_GT(test, READ_ONCE(dafsd_server.stable_streams), 0);
	dafs_fixture_freeze(test, frozen);
	lane_ask(busy, 0, &frozen->dir, LANE_REQUESTS);
	KUNIT_EXPECT_TRUE(test, lane_wait_running(&frozen->dir, LANE_REQUESTS));
	for (n = 0; n < 300; n++) {
		lane_ask(conn, 0, &fix->dir, 1);
		DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_status(conn));
	}
	dafs_fixture_thaw(test, frozen);
}

/* Waits until the server knows that the connection is closed */
static void lane_wait_closed(struct kunit *test, const struct dafs_session_id *id)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	struct dafsd_session *ses;
	bool open = true;

	do {
		ses = dafsd_session_find(&dafsd_server, id);
		open = ses && dafs_chan_is_open(ses->op->chan);
		if (ses)
			dafsd_session_put(ses);
		msleep(20);
	} while (open && time_before(jiffies, end));
	KUNIT_ASSERT_FALSE(test, open);
}

/* How the connection of a blocked change ends */
enum lane_loss {
	LANE_TOLD,	/* the server is told */
	LANE_UNTOLD,	/* the server notices when the client reconnects */
	LANE_ANEW,	/* as LANE_TOLD, and the export is disabled and enabled again */
};

static struct raw_conn *lane_connect(struct kunit *test, struct raw_login *login, u32 session)
{
	struct raw_how how = { .type = DAFS_CHANNEL_OPERATION, .session = session };
	struct raw_conn *conn = raw_connect(test, &how);

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_login(conn, login));
	return conn;
}

static void lane_lose(struct kunit *test, enum lane_loss loss, struct raw_conn *conn,
		      const struct raw_login *login)
{
	if (loss == LANE_UNTOLD) {
		raw_cut(test, conn);
		return;
	}
	raw_close(test, conn);
	lane_wait_closed(test, &login->res.connect.session_id);
}

static bool lane_is_open(const struct raw_login *login)
{
	const struct dafs_session_id *id = &login->res.connect.session_id;
	struct dafsd_session *ses = dafsd_session_find(&dafsd_server, id);
	bool open = ses && dafs_chan_is_open(ses->op->chan);

	if (ses)
		dafsd_session_put(ses);
	return open;
}

/* Retries until no request of the lost connection is running. */
static dafs_status_t lane_call_late(struct raw_conn *conn, u32 proc, void *args)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	dafs_status_t status;

	do {
		status = raw_call(conn, proc, args, NULL);
		msleep(20);
	} while (status == DAFSERR_DELAY && time_before(jiffies, end));
	return status;
}

/*
 * A truncation blocks, and its connection is lost.  The client reconnects and writes:
 * the write gets DELAY until the truncation has ended, so that it is not lost.
 */
static void lane_late(struct kunit *test, enum lane_loss loss)
{
	struct dafs_fixture *frozen = dafs_fixture_in(test, NULL, DAFS_TEST_SQUASH);
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_setattr_inline_args cut = {
		.obj_attributes = {
			.included = DAFS_FATTR_OBJECT_SIZE,
			.valid = DAFS_FATTR_OBJECT_SIZE,
		},
	};
	struct dafs_write_inline_args write = { .byte_count = 4, .data = "more" };
	struct dafs_write_inline_args elsewhere = write;
	struct raw_login *login = kunit_kcalloc(test, 3, sizeof(*login), GFP_KERNEL);
	struct raw_login *back = login + 1, *beside = login + 2;
	struct dafsd_export *exp = lane_serve(test, frozen, "late");
	struct dafs_fh dir;
	struct raw_conn *conn;
	char found[8] = {};

	KUNIT_ASSERT_NOT_NULL(test, login);
	dafs_backing_write(test, frozen, "file", "data", 4);
	dafs_backing_write(test, fix, "file", "data", 4);
	dafs_backing_chmod(test, fix, "file", 0666);
	elsewhere.filehandle = dafs_test_lookup(test, fix, "file");
	conn = lane_connect(test, login, 1);
	dir = lane_root(conn);
	dir = lane_lookup(conn, &dir, "late");
	cut.filehandle = lane_lookup(conn, &dir, "file");
	write.filehandle = cut.filehandle;
	/* another session of the same client */
	beside->id = login->id;
	lane_connect(test, beside, 2);
	dafs_fixture_freeze(test, frozen);
	lane_send(conn, 0, DAFS_PROC_SETATTR_INLINE, &cut);
	KUNIT_EXPECT_TRUE(test, lane_wait_running(&dir, 1));
	lane_lose(test, loss, conn, login);
	if (loss == LANE_ANEW) {
		dafs_fixture_server_param(test, &dafsd_withdraw_seconds, 1);
		kunit_release_action(test, lane_withdraw, exp);
		lane_serve(test, frozen, "late");
	}
	back->id = login->id;
	KUNIT_EXPECT_EQ(test, loss == LANE_UNTOLD, lane_is_open(login));
	conn = lane_connect(test, back, 1);
	KUNIT_EXPECT_FALSE(test, lane_is_open(login));
	KUNIT_EXPECT_TRUE(test, lane_is_open(beside));
	DAFS_EXPECT_STATUS(test, DAFSERR_DELAY,
			   raw_call(conn, DAFS_PROC_WRITE_INLINE, &write, NULL));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   raw_call(conn, DAFS_PROC_WRITE_INLINE, &elsewhere, NULL));
	dafs_fixture_thaw(test, frozen);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   lane_call_late(conn, DAFS_PROC_WRITE_INLINE, &write));
	KUNIT_EXPECT_EQ(test, 4, dafs_backing_read(frozen, "file", found, sizeof(found), 0));
	KUNIT_EXPECT_STREQ(test, "more", found);
}

static void dafs_lane_late_test(struct kunit *test)
{
	lane_late(test, LANE_TOLD);
}

static void dafs_lane_late_untold_test(struct kunit *test)
{
	lane_late(test, LANE_UNTOLD);
}

static void dafs_lane_late_anew_test(struct kunit *test)
{
	lane_late(test, LANE_ANEW);
}

/* A blocked change delays only its client, not others in that export. */
static void dafs_lane_late_other_test(struct kunit *test)
{
	static const char *const names[] = { "here", "there" };
	struct dafs_fixture *frozen = dafs_fixture_in(test, NULL, DAFS_TEST_SQUASH);
	struct raw_login *login = kunit_kcalloc(test, 3, sizeof(*login), GFP_KERNEL);
	/* an invalid stability level, which is refused without accessing the file system */
	struct dafs_write_inline_args write = {
		.stable_how = 99,
		.byte_count = 4,
		.data = "more",
	};
	struct dafs_fh dir[2], file[2];
	struct raw_conn *conn[2];
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, login);
	dafs_backing_write(test, frozen, "file", "data", 4);
	dafs_backing_chmod(test, frozen, "file", 0666);
	for (i = 0; i < 2; i++) {
		lane_serve(test, frozen, names[i]);
		conn[i] = lane_connect(test, &login[i], 1);
		dir[i] = lane_root(conn[i]);
		dir[i] = lane_lookup(conn[i], &dir[i], names[i]);
		file[i] = lane_lookup(conn[i], &dir[i], "file");
	}
	dafs_fixture_freeze(test, frozen);
	for (i = 0; i < 2; i++) {
		lane_ask(conn[i], 0, &dir[i], 1);
		KUNIT_EXPECT_TRUE(test, lane_wait_running(&dir[i], 1));
		lane_lose(test, LANE_TOLD, conn[i], &login[i]);
	}
	login[2].id = login[1].id;
	conn[1] = lane_connect(test, &login[2], 1);
	write.filehandle = file[0];
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL,
			   raw_call(conn[1], DAFS_PROC_WRITE_INLINE, &write, NULL));
	write.filehandle = file[1];
	DAFS_EXPECT_STATUS(test, DAFSERR_DELAY,
			   raw_call(conn[1], DAFS_PROC_WRITE_INLINE, &write, NULL));
	dafs_fixture_thaw(test, frozen);
}

/* A path from another export into the one with the blocked change gets DELAY, too; E-96 */
static void dafs_lane_late_path_test(struct kunit *test)
{
	struct dafs_fixture *frozen = dafs_fixture_in(test, NULL, DAFS_TEST_SQUASH);
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_str names[] = { dafs_test_str("inner"), dafs_test_str("file") };
	struct dafs_str way[] = { dafs_test_str(fix->name), names[0], names[1] };
	struct dafs_open_args open = dafs_test_open_args("owner", DAFS_RD, 0);
	struct raw_login *login = kunit_kcalloc(test, 2, sizeof(*login), GFP_KERNEL);
	struct dafs_open_res *res = kunit_kzalloc(test, sizeof(*res), GFP_KERNEL);
	struct raw_login *back = login + 1;
	struct dafs_fh inner, top;
	struct raw_conn *conn;

	KUNIT_ASSERT_NOT_NULL(test, login);
	KUNIT_ASSERT_NOT_NULL(test, res);
	inner = lane_nest(test, fix, frozen);
	dafs_backing_write(test, frozen, "file", "data", 4);
	dafs_backing_chmod(test, frozen, "file", 0666);
	open.dir_handle = fix->dir;
	open.pathname = (struct dafs_seq) { .count = ARRAY_SIZE(names), .elems = names };
	conn = lane_connect(test, login, 1);
	top = lane_root(conn);
	top = lane_lookup(conn, &top, dafs_fixture_export_name(fix->where));
	dafs_fixture_freeze(test, frozen);
	lane_ask(conn, 0, &inner, 1);
	KUNIT_EXPECT_TRUE(test, lane_wait_running(&inner, 1));
	lane_lose(test, LANE_TOLD, conn, login);
	back->id = login->id;
	conn = lane_connect(test, back, 1);
	DAFS_EXPECT_STATUS(test, DAFSERR_DELAY, raw_call(conn, DAFS_PROC_OPEN, &open, NULL));
	/* a longer path is resolved up to the directory of the inner export */
	open.dir_handle = top;
	open.pathname = (struct dafs_seq) { .count = ARRAY_SIZE(way), .elems = way };
	DAFS_EXPECT_STATUS(test, DAFSERR_DELAY, raw_call(conn, DAFS_PROC_OPEN, &open, res));
	KUNIT_EXPECT_EQ(test, 1, res->component_count);
	KUNIT_EXPECT_MEMEQ(test, &res->filehandle, &fix->dir, sizeof(fix->dir));
	dafs_fixture_thaw(test, frozen);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, lane_call_late(conn, DAFS_PROC_OPEN, &open));
}

static void lane_wait_late(struct kunit *test, const struct dafs_session_id *id)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	struct dafsd_session *ses = dafsd_session_find(&dafsd_server, id);

	KUNIT_ASSERT_NOT_NULL(test, ses);
	while (list_empty(&ses->op->late_node) && time_before(jiffies, end))
		msleep(20);
	KUNIT_EXPECT_FALSE(test, list_empty(&ses->op->late_node));
	dafsd_session_put(ses);
}

/* The same if the request already waits when the connection of that change is lost */
static void dafs_lane_late_await_test(struct kunit *test)
{
	struct dafs_fixture *frozen = dafs_fixture_in(test, NULL, DAFS_TEST_SQUASH);
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_fh root, inner = lane_nest(test, fix, frozen);
	struct raw_login *login = kunit_kcalloc(test, 2, sizeof(*login), GFP_KERNEL);
	struct lane_path *path = kunit_kzalloc(test, sizeof(*path), GFP_KERNEL);
	union dafs_res *res = kunit_kzalloc(test, sizeof(*res), GFP_KERNEL);
	struct raw_conn *busy[4], *conn, *other = lane_session(test);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, login);
	KUNIT_ASSERT_NOT_NULL(test, path);
	KUNIT_ASSERT_NOT_NULL(test, res);
	busy[0] = lane_connect(test, login, 1);
	for (i = 1; i < ARRAY_SIZE(busy); i++)
		busy[i] = lane_session(test);
	login[1].id = login->id;
	conn = lane_connect(test, &login[1], 2);
	root = lane_root(conn);
	lane_path_init(path, fix, &root);
	dafs_fixture_server_param(test, &dafsd_lane_most, ARRAY_SIZE(busy));
	dafs_fixture_freeze(test, frozen);
	lane_fill(test, busy, ARRAY_SIZE(busy), &inner);
	lane_send(conn, 0, DAFS_PROC_OPEN, &path->open);
	KUNIT_EXPECT_NULL(test, raw_recv(conn, RAW_QUIET_MS));
	lane_lose(test, LANE_TOLD, busy[0], login);
	lane_wait_late(test, &login->res.connect.session_id);
	/* now a place is free, which it gets when another request arrives */
	dafs_fixture_server_param(test, &dafsd_lane_most, 2 * ARRAY_SIZE(busy));
	lane_send_getattr(other, 0, &inner);
	DAFS_EXPECT_STATUS(test, DAFSERR_DELAY, lane_result(conn, DAFS_PROC_OPEN, res));
	lane_expect_came(test, fix, &res->open.filehandle, res->open.component_count);
	dafs_fixture_thaw(test, frozen);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_status(other));
}

/*
 * A client that expires stays as long as a change of it is executed.  What it had registered does
 * not count any more when it returns.
 */
static void dafs_lane_late_creds_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct raw_login *login = kunit_kzalloc(test, sizeof(*login), GFP_KERNEL);
	struct dafs_client_id was;
	struct raw_conn *conn;
	u8 handle[4];

	KUNIT_ASSERT_NOT_NULL(test, login);
	login->opts.max_credentials = 1;
	conn = lane_connect(test, login, 1);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_register(conn, 1000, 1000, handle));
	dafs_fixture_freeze(test, fix);
	lane_ask(conn, 0, &fix->dir, 1);
	KUNIT_EXPECT_TRUE(test, lane_wait_running(&fix->dir, 1));
	lane_lose(test, LANE_TOLD, conn, login);
	was = login->res.connect.client_id;
	KUNIT_EXPECT_EQ(test, 0, dafsd_client_end_id(&dafsd_server, &was));
	flush_workqueue(dafsd_timer_wq);
	conn = lane_connect(test, login, 1);
	KUNIT_EXPECT_MEMNEQ(test, &was, &login->res.connect.client_id, sizeof(was));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_register(conn, 1000, 1000, handle));
	DAFS_EXPECT_STATUS(test, DAFSERR_RESOURCE, raw_register(conn, 1000, 1000, handle));
	dafs_fixture_thaw(test, fix);
}

static void lane_go_on(void *unused)
{
	WRITE_ONCE(dafsd_server.stopping, false);
}

/* Have so many changes of a session not been answered, soon? */
static bool lane_unanswered(struct kunit *test, const struct raw_login *login, int nr)
{
	struct dafsd_session *ses = dafs_fixture_at_server(test, &login->res.connect.session_id);
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);

	while (atomic_read(&ses->op->unanswered) != nr && time_before(jiffies, end))
		msleep(20);
	return atomic_read(&ses->op->unanswered) == nr;
}

/* A server that stops waits for the changes that it executes, and executes no others. */
static void dafs_lane_stop_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct raw_login *login = kunit_kzalloc(test, sizeof(*login), GFP_KERNEL);
	struct raw_conn *conn;

	KUNIT_ASSERT_NOT_NULL(test, login);
	conn = lane_connect(test, login, 1);
	dafs_fixture_freeze(test, fix);
	lane_ask(conn, 0, &fix->dir, 1);
	KUNIT_EXPECT_TRUE(test, lane_wait_running(&fix->dir, 1));
	KUNIT_EXPECT_TRUE(test, lane_unanswered(test, login, 1));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action(test, lane_go_on, NULL));
	WRITE_ONCE(dafsd_server.stopping, true);
	lane_ask(conn, 1, &fix->dir, 1);
	DAFS_EXPECT_STATUS(test, DAFSERR_DELAY, raw_status(conn));
	lane_send_getattr(conn, 1, &fix->dir);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_status(conn));
	KUNIT_EXPECT_TRUE(test, lane_unanswered(test, login, 1));
	dafs_fixture_thaw(test, fix);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_status(conn));
	KUNIT_EXPECT_TRUE(test, lane_unanswered(test, login, 0));
	lane_go_on(NULL);
	lane_ask(conn, 0, &fix->dir, 1);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_status(conn));
	KUNIT_EXPECT_TRUE(test, lane_unanswered(test, login, 0));
}

static struct kunit_case dafs_lane_cases[] = {
	KUNIT_CASE(dafs_lane_pass_test),
	KUNIT_CASE(dafs_lane_turn_test),
	KUNIT_CASE(dafs_lane_await_test),
	KUNIT_CASE(dafs_lane_await_inner_test),
	KUNIT_CASE(dafs_lane_await_outer_test),
	KUNIT_CASE(dafs_lane_await_decoded_test),
	KUNIT_CASE_SLOW(dafs_lane_await_withdrawn_test),
	KUNIT_CASE(dafs_lane_await_missing_test),
	KUNIT_CASE(dafs_lane_idle_test),
	KUNIT_CASE(dafs_lane_many_test),
	KUNIT_CASE(dafs_lane_last_test),
	KUNIT_CASE(dafs_lane_names_test),
	KUNIT_CASE(dafs_lane_late_test),
	KUNIT_CASE(dafs_lane_late_untold_test),
	KUNIT_CASE_SLOW(dafs_lane_late_anew_test),
	KUNIT_CASE(dafs_lane_late_other_test),
	KUNIT_CASE(dafs_lane_late_path_test),
	KUNIT_CASE(dafs_lane_late_await_test),
	KUNIT_CASE(dafs_lane_late_creds_test),
	KUNIT_CASE(dafs_lane_stop_test),
	{}
};

static struct kunit_suite dafs_lane_suite = {
	.name = "dafs_lane",
	.test_cases = dafs_lane_cases,
};

kunit_test_suite(dafs_lane_suite);
