// SPDX-License-Identifier: GPL-2.0
/*
 * Credentials (3.1.1.2, 6.2.8, 6.2.9): handles on the server, and the client's
 * cache of handles.
 */
#include <linux/slab.h>
#include "../../rpc/rpc_impl.h"
#include "../lib/raw.h"

static const u8 cred_none[4];

static dafs_status_t cred_register(struct raw_conn *conn, struct dafs_register_cred_args *args,
				   u8 *handle)
{
	struct dafs_register_cred_res res = {};
	dafs_status_t status = raw_call(conn, DAFS_PROC_REGISTER_CRED, args, &res);

	memcpy(handle, res.cred_handle, sizeof(res.cred_handle));
	return status;
}

static dafs_status_t cred_release(struct raw_conn *conn, const u8 *handle)
{
	struct dafs_release_cred_args args;

	memcpy(args.cred_handle, handle, sizeof(args.cred_handle));
	return raw_call(conn, DAFS_PROC_RELEASE_CRED, &args, NULL);
}

static dafs_status_t cred_use(struct raw_conn *conn, const u8 *handle)
{
	return raw_call_as(conn, handle, DAFS_PROC_GET_ROOT_HANDLE, NULL, NULL);
}

/*
 * R-3.1.1-01 R-6.2.8-01 R-6.2.8-07 R-6.2.8-09 R-6.2.8-06 R-3.1.1.2-01, and
 * handle 0 of E-48
 */
static void dafs_cred_types_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct raw_login login = {};
	struct raw_conn *conn = raw_session(test, test->param_value, &login);
	struct dafs_register_cred_args args = { .cred_type = DAFS_CRED_DEFAULT };
	u8 one[4], two[4], anon[4];

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_register(conn, 1001, 2001, one));
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_register(conn, 0xfffffffe, 2002, two));
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, cred_register(conn, &args, anon));
	KUNIT_EXPECT_MEMNEQ(test, one, cred_none, 4);
	KUNIT_EXPECT_MEMNEQ(test, two, cred_none, 4);
	KUNIT_EXPECT_MEMNEQ(test, anon, cred_none, 4);
	KUNIT_EXPECT_MEMNEQ(test, one, two, 4);
	KUNIT_EXPECT_MEMNEQ(test, one, anon, 4);

	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_mkdir(conn, one, &fix->dir, "one"));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_mkdir(conn, two, &fix->dir, "two"));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_mkdir(conn, anon, &fix->dir, "anon"));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_mkdir(conn, cred_none, &fix->dir, "session"));
	dafs_backing_expect_owner(test, fix, "one", 1001, 2001);
	dafs_backing_expect_owner(test, fix, "two", 0xfffffffe, 2002);
	dafs_backing_expect_owner(test, fix, "anon", 65534, 65534);
	dafs_backing_expect_owner(test, fix, "session", 65534, 65534);
}

/* R-6.2.8-08 for a server without a name service: E-117 */
static void dafs_cred_name_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct raw_login login = {};
	struct raw_conn *conn = raw_session(test, test->param_value, &login);
	struct dafs_register_cred_args args = {
		.cred_type = DAFS_CRED_NAME,
		.name = dafs_test_str("1234"),
	};
	u8 handle[4];

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, cred_register(conn, &args, handle));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_mkdir(conn, handle, &fix->dir, "named"));
	dafs_backing_expect_owner(test, fix, "named", 1234, 65534);
	args.name = dafs_test_str("no such user");
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, cred_register(conn, &args, handle));
	args.name = dafs_test_str("");
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, cred_register(conn, &args, handle));
	args.name = dafs_test_str("4294967296");
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, cred_register(conn, &args, handle));
	args.name = dafs_test_str("1234\n");
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, cred_register(conn, &args, handle));
	args.name = (struct dafs_str) { .len = 8, .data = (const u8 *)"1234\0abc" };
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, cred_register(conn, &args, handle));
}

/* E-118, and unknown types */
static void dafs_cred_invalid_test(struct kunit *test)
{
	static const s32 groups[] = { 7, -1, 9 };
	struct raw_login login = {};
	struct raw_conn *conn = raw_session(test, test->param_value, &login);
	struct dafs_register_cred_args args = { .cred_type = DAFS_CRED_ID, .uid = -1 };
	u8 handle[4];

	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, cred_register(conn, &args, handle));
	args.uid = 1;
	args.gid = -1;
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, cred_register(conn, &args, handle));
	args.gid = 1;
	args.groups = (struct dafs_seq) { .count = 3, .elems = groups };
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, cred_register(conn, &args, handle));
	args.groups.count = 1;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, cred_register(conn, &args, handle));

	args.groups.count = 0;
	args.cred_type = DAFS_CRED_GSS;
	args.name = dafs_test_str("user@REALM");
	DAFS_EXPECT_STATUS(test, DAFSERR_NOTSUPP, cred_register(conn, &args, handle));
	args.cred_type = 4;
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, cred_register(conn, &args, handle));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, cred_use(conn, cred_none));
}

/* R-6.2.8-07: groups are used, up to the limit of a request (E-118) */
static void dafs_cred_groups_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct raw_login login = {};
	struct raw_conn *conn = raw_session(test, test->param_value, &login);
	s32 *groups = kunit_kcalloc(test, 2000, sizeof(*groups), GFP_KERNEL);
	struct dafs_register_cred_args args = {
		.cred_type = DAFS_CRED_ID,
		.uid = 1001,
		.gid = 1001,
	};
	u8 with[4], without[4];
	struct path path;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, groups);
	for (i = 0; i < 2000; i++)
		groups[i] = 100000 - i;
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, cred_register(conn, &args, without));
	args.groups = (struct dafs_seq) { .count = 2000, .elems = groups };
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, cred_register(conn, &args, with));

	/* the test's directory, accessible to one group only */
	path = fix->path;
	inode_lock(d_inode(path.dentry));
	KUNIT_EXPECT_EQ(test, 0, notify_change(&nop_mnt_idmap, path.dentry, &(struct iattr) {
			.ia_valid = ATTR_MODE | ATTR_GID,
			.ia_mode = S_IFDIR | 0770,
			.ia_gid = KGIDT_INIT(98765),
		}, NULL));
	inode_unlock(d_inode(path.dentry));
	DAFS_EXPECT_STATUS(test, DAFSERR_ACCES, raw_mkdir(conn, without, &fix->dir, "without"));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_mkdir(conn, with, &fix->dir, "with"));
}

/* Offset of the count of groups 7, 8, 9 in a message, or 0 */
static u32 cred_find_groups(const struct raw_conn *conn, const u8 *buf, u32 len)
{
	static const u32 list[] = { 3, 7, 8, 9 };
	u32 at, i;

	for (at = DAFS_HDR_SIZE; at + sizeof(list) <= len; at += 4) {
		for (i = 0; i < ARRAY_SIZE(list); i++)
			if (dafs_get32(buf + at + 4 * i, conn->swab) != list[i])
				break;
		if (i == ARRAY_SIZE(list))
			return at;
	}
	return 0;
}

/*
 * R-6.2.8-11: more groups than the limit, or more than the message contains, also by
 * one.  Such a message is malformed, so the session ends (E-134).
 */
static void dafs_cred_many_groups_test(struct kunit *test)
{
	static const u32 counts[] = { 65537, 4, U32_MAX };
	static const s32 groups[] = { 7, 8, 9 };
	struct dafs_register_cred_args args = {
		.cred_type = DAFS_CRED_ID,
		.groups = { .count = 3, .elems = groups },
	};
	u8 *buf = kunit_kzalloc(test, RAW_RECV_SIZE, GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		struct raw_login login = {};
		struct raw_conn *conn = raw_session(test, test->param_value, &login);
		struct dafs_req_hdr hdr = raw_hdr(conn, DAFS_PROC_REGISTER_CRED);
		u32 len = raw_encode(conn, &hdr, &args, buf);
		u32 at = cred_find_groups(conn, buf, len);
		struct dafs_res_hdr res;

		KUNIT_ASSERT_NE(test, 0, at);
		dafs_put32(counts[i], buf + at, conn->swab);
		if (conn->cksum)
			dafs_msg_cksum(buf, len);
		KUNIT_ASSERT_EQ(test, 0, raw_exchange(conn, buf, len, &res));
		DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, res.status);
		KUNIT_EXPECT_TRUE(test, raw_closed(conn, RAW_WAIT_MS));
		raw_close(test, conn);
	}
}

static dafs_status_t cred_read(struct raw_conn *conn, const u8 *handle, const struct dafs_fh *fh)
{
	struct dafs_read_inline_args args = { .filehandle = *fh, .byte_count = 4 };

	return raw_call_as(conn, handle, DAFS_PROC_READ_INLINE, &args, NULL);
}

static void cred_chmod(struct kunit *test, struct dafs_fixture *fix, const char *name, u32 uid,
		       umode_t mode)
{
	struct file *file = dafs_backing_open(fix, name, O_RDONLY, 0);
	struct dentry *dentry;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, file);
	dentry = file->f_path.dentry;
	inode_lock(d_inode(dentry));
	KUNIT_EXPECT_EQ(test, 0, notify_change(&nop_mnt_idmap, dentry, &(struct iattr) {
			.ia_valid = ATTR_MODE | ATTR_UID,
			.ia_mode = S_IFREG | mode,
			.ia_uid = KUIDT_INIT(uid),
		}, NULL));
	inode_unlock(d_inode(dentry));
	fput(file);
}

/* R-6.1.2-08 R-3.1.1-02 R-6.2.8-02: a handle is valid on both sessions of the client */
static void dafs_cred_sessions_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct raw_login login = { .id = "cred sessions" }, stranger = {};
	struct raw_conn *a = raw_session(test, test->param_value, &login);
	struct raw_conn *b = raw_session(test, test->param_value, &login);
	struct raw_conn *c = raw_session(test, test->param_value, &stranger);
	struct dafs_str name = dafs_test_str("private");
	struct dafs_fh fh;
	u8 mine[4], other[4];

	dafs_backing_write(test, fix, "private", "data", 4);
	cred_chmod(test, fix, "private", 1001, 0400);
	KUNIT_ASSERT_EQ(test, 0, dafs_lookup_path(fix->clnt, current_cred(), &fix->dir, &name, 1,
						  &fh));
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_register(a, 1001, 1, mine));
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_register(a, 1002, 1, other));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, cred_read(a, mine, &fh));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, cred_read(b, mine, &fh));
	DAFS_EXPECT_STATUS(test, DAFSERR_ACCES, cred_read(a, other, &fh));
	DAFS_EXPECT_STATUS(test, DAFSERR_ACCES, cred_read(b, other, &fh));
	DAFS_EXPECT_STATUS(test, DAFSERR_ACCES, cred_read(b, cred_none, &fh));
	/* for another client the handle is unknown, or is another user */
	DAFS_EXPECT_STATUS(test, DAFSERR_NO_CREDS, cred_read(c, mine, &fh));
}

/* R-6.2.9-01 and the reserved handles of E-48 */
static void dafs_cred_release_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct raw_login login = {};
	struct raw_conn *conn = raw_session(test, test->param_value, &login);
	u8 handle[4], again[4], forged[4] = { 0xde, 0xad, 0xbe, 0xef };
	struct kstat stat;

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_register(conn, 1001, 1001, handle));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, cred_use(conn, handle));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, cred_release(conn, handle));
	DAFS_EXPECT_STATUS(test, DAFSERR_NO_CREDS, raw_mkdir(conn, handle, &fix->dir, "released"));
	DAFS_EXPECT_STATUS(test, DAFSERR_NO_CREDS, raw_mkdir(conn, forged, &fix->dir, "forged"));
	KUNIT_EXPECT_EQ(test, -ENOENT, dafs_backing_stat(fix, "released", &stat));
	KUNIT_EXPECT_EQ(test, -ENOENT, dafs_backing_stat(fix, "forged", &stat));
	DAFS_EXPECT_STATUS(test, DAFSERR_NO_CREDS, cred_release(conn, handle));
	DAFS_EXPECT_STATUS(test, DAFSERR_NO_CREDS, cred_release(conn, forged));
	DAFS_EXPECT_STATUS(test, DAFSERR_NO_CREDS, cred_release(conn, cred_none));
	/* a new handle differs from the released one */
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_register(conn, 1002, 1002, again));
	KUNIT_EXPECT_MEMNEQ(test, handle, again, 4);
	/* procedures that use no credentials do not check the handle */
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   raw_call_as(conn, forged, DAFS_PROC_NULL, NULL, NULL));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   raw_call_as(conn, forged, DAFS_PROC_SECINFO, NULL, NULL));
}

static void cred_unlock(void *fix)
{
	inode_unlock(d_inode(((struct dafs_fixture *)fix)->path.dentry));
}

/* E-48: a request that started with a handle completes, even if it is released */
static void dafs_cred_release_busy_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct raw_login login = {};
	struct raw_conn *conn = raw_session(test, test->param_value, &login);
	u8 *buf = kunit_kzalloc(test, RAW_RECV_SIZE, GFP_KERNEL);
	struct dafs_create_args args = {
		.filehandle = fix->dir,
		.component = dafs_test_str("late"),
		.obj_type = DAFS_TYPE_DIR,
	};
	struct dafs_req_hdr hdr;
	struct raw_msg *msg;
	u8 handle[4];

	KUNIT_ASSERT_NOT_NULL(test, buf);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_register(conn, 1001, 1001, handle));
	inode_lock(d_inode(fix->path.dentry));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, cred_unlock, fix));
	hdr = raw_hdr(conn, DAFS_PROC_CREATE);
	hdr.stream_id = 1;
	memcpy(hdr.cred_handle, handle, sizeof(handle));
	KUNIT_ASSERT_EQ(test, 0, raw_send(conn, buf, raw_encode(conn, &hdr, &args, buf)));
	/* now the request waits for the lock of the directory */
	schedule_timeout_uninterruptible(HZ / 5);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, cred_release(conn, handle));
	kunit_release_action(test, cred_unlock, fix);
	msg = raw_recv(conn, RAW_WAIT_MS);
	KUNIT_EXPECT_NOT_NULL(test, msg);
	kfree(msg);
	dafs_backing_expect_owner(test, fix, "late", 1001, 1001);
}

/* R-3.1.1-03 R-3.1.1.1.2-01 R-3.1.1.1.2-02 R-3.1.1.1.2-03 R-6.2.2-06 R-6.2.2-09 */
static void dafs_cred_untrusted_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct raw_login login = { .auth_type = DAFS_AUTH_DEFAULT };
	struct raw_conn *conn = raw_session(test, test->param_value, &login);
	u8 handle[4], guess[4] = { 1 };
	struct kstat stat;

	KUNIT_EXPECT_EQ(test, 0, login.res.trusted);
	DAFS_EXPECT_STATUS(test, DAFSERR_NOT_AUTHORIZED, raw_register(conn, 0, 0, handle));
	DAFS_EXPECT_STATUS(test, DAFSERR_NOT_AUTHORIZED, cred_release(conn, guess));
	DAFS_EXPECT_STATUS(test, DAFSERR_CRHAND_CONFLICT, raw_mkdir(conn, guess, &fix->dir,
								    "guess"));
	KUNIT_EXPECT_EQ(test, -ENOENT, dafs_backing_stat(fix, "guess", &stat));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_mkdir(conn, cred_none, &fix->dir, "default"));
	dafs_backing_expect_owner(test, fix, "default", 65534, 65534);
}

/* R-3.1.2.2-03 R-6.2.8-10 R-6.2.1-05 */
static void dafs_cred_limit_test(struct kunit *test)
{
	struct raw_login login = { .opts.max_credentials = 5 };
	struct raw_conn *a = raw_session(test, test->param_value, &login), *b;
	u8 handles[5][4], more[4];
	unsigned int i, round;

	KUNIT_ASSERT_EQ(test, 5, login.res.connect.opts.max_credentials);
	login.opts.max_credentials = 50;
	b = raw_session(test, test->param_value, &login);
	KUNIT_EXPECT_EQ(test, 5, login.res.connect.opts.max_credentials);
	for (i = 0; i < 5; i++)
		DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
				   raw_register(i % 2 ? a : b, 1000 + i, 1, handles[i]));
	for (round = 0; round < 3; round++) {
		DAFS_EXPECT_STATUS(test, DAFSERR_RESOURCE, raw_register(a, 2000, 1, more));
		DAFS_EXPECT_STATUS(test, DAFSERR_RESOURCE, raw_register(b, 2000, 1, more));
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, cred_release(b, handles[round]));
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
				   raw_register(a, 2000 + round, 1, handles[round]));
	}
	for (i = 0; i < 5; i++)
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, cred_use(b, handles[i]));
	/* they would remain after the test: its next run is the same client */
	for (i = 0; i < 5; i++)
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, cred_release(b, handles[i]));
}

/* R-6.2.8-03: handles belong to the client-id, not to the session */
static void dafs_cred_outlive_test(struct kunit *test)
{
	struct raw_login login = { .id = "cred outlive" };
	struct raw_conn *conn = raw_session(test, test->param_value, &login);
	struct dafs_client_id client = login.res.connect.client_id;
	u8 handle[4];

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_register(conn, 1001, 1001, handle));
	raw_close(test, conn);
	conn = raw_session(test, test->param_value, &login);
	KUNIT_EXPECT_MEMEQ(test, client.b, login.res.connect.client_id.b, 8);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, cred_use(conn, handle));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_call(conn, DAFS_PROC_DISCONNECT, NULL, NULL));
	raw_close(test, conn);
	conn = raw_session(test, test->param_value, &login);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, cred_use(conn, handle));
}

/* Credentials of a former client instance are dropped, and it cannot register new ones. */
static void dafs_cred_former_instance_test(struct kunit *test)
{
	struct raw_login old = { .id = "cred former", .verifier = 1 };
	struct raw_login new = { .id = "cred former", .verifier = 2 };
	struct raw_conn *a = raw_session(test, test->param_value, &old);
	struct raw_conn *b;
	u8 handle[4];

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_register(a, 1001, 1001, handle));
	b = raw_session(test, test->param_value, &new);
	DAFS_EXPECT_STATUS(test, DAFSERR_NO_CREDS, cred_use(b, handle));
	DAFS_EXPECT_STATUS(test, DAFSERR_STALE_CLIENTID, raw_register(a, 1002, 1002, handle));
}

/* The client. */

static struct dafs_client *cred_session(struct kunit *test, const char *id)
{
	struct dafs_client_params params;

	dafs_fixture_client_params(test->param_value, &params, "%s", id);
	return dafs_fixture_client(test, &params);
}

/* A raw session of the same client, to check the server's table. */
static struct raw_conn *cred_spy(struct kunit *test, struct dafs_client *clnt)
{
	struct raw_login login = { .id = clnt->params.client_id };

	memcpy(&login.verifier, clnt->verifier.b, sizeof(login.verifier));
	return raw_session(test, test->param_value, &login);
}

static int cred_handle(struct dafs_client *clnt, const struct cred *cred, u8 *handle)
{
	struct dafs_conn *conn = dafs_conn_get(clnt);
	int err;

	if (IS_ERR(conn))
		return PTR_ERR(conn);
	err = dafs_cred_handle(clnt, conn, cred, handle);
	dafs_conn_put(conn);
	return err;
}

/* One handle per user, for any number of calls and any struct cred. */
static void dafs_cred_cache_test(struct kunit *test)
{
	struct dafs_client *clnt = cred_session(test, "cred cache");
	struct raw_conn *spy = cred_spy(test, clnt);
	u8 a[4], b[4], c[4], d[4];

	KUNIT_ASSERT_EQ(test, 0, cred_handle(clnt, dafs_fixture_user(test, 1, 1), a));
	KUNIT_ASSERT_EQ(test, 0, cred_handle(clnt, dafs_fixture_user(test, 1, 1), b));
	KUNIT_ASSERT_EQ(test, 0, cred_handle(clnt, dafs_fixture_user(test, 1, 2), c));
	KUNIT_ASSERT_EQ(test, 0, cred_handle(clnt, dafs_fixture_user(test, 2, 1), d));
	KUNIT_EXPECT_MEMEQ(test, a, b, 4);
	KUNIT_EXPECT_MEMNEQ(test, a, c, 4);
	KUNIT_EXPECT_MEMNEQ(test, a, d, 4);
	KUNIT_EXPECT_MEMNEQ(test, c, d, 4);
	KUNIT_EXPECT_EQ(test, 0, cred_handle(clnt, NULL, b));
	KUNIT_EXPECT_MEMEQ(test, b, cred_none, 4);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, cred_use(spy, a));
}

/* R-3.1.1.1.2-02 R-3.1.1.1.2-03: the client handles that the server does not trust it */
static void dafs_cred_cache_untrusted_test(struct kunit *test)
{
	struct dafs_client_params params;
	struct dafs_client *clnt;
	u8 handle[4] = { 1 };

	dafs_fixture_params(test->param_value, &params);
	params.auth_type = DAFS_AUTH_DEFAULT;
	clnt = dafs_fixture_client(test, &params);
	KUNIT_EXPECT_EQ(test, 0, cred_handle(clnt, dafs_fixture_user(test, 1, 1), handle));
	KUNIT_EXPECT_MEMEQ(test, handle, cred_none, 4);
	KUNIT_EXPECT_EQ(test, 0, dafs_null(clnt, dafs_fixture_user(test, 1, 1)));
}

#define CRED_USERS	80

/* Free entries in the server's table of this client; registers, then releases them. */
static unsigned int cred_room(struct kunit *test, struct raw_conn *spy, unsigned int most)
{
	u8 (*handles)[4] = kunit_kcalloc(test, most, 4, GFP_KERNEL);
	unsigned int nr = 0, i;

	KUNIT_ASSERT_NOT_NULL(test, handles);
	while (nr < most && !raw_register(spy, 5000 + nr, 1, handles[nr]))
		nr++;
	for (i = 0; i < nr; i++)
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, cred_release(spy, handles[i]));
	return nr;
}

/* R-3.1.1.2-02: many users, limited number of handles, all released at the end */
static void dafs_cred_cache_bound_test(struct kunit *test)
{
	struct dafs_client *clnt = cred_session(test, "cred bound");
	struct raw_conn *spy = cred_spy(test, clnt);
	struct dafs_conn *conn = dafs_conn_get(clnt);
	unsigned int max, i;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, conn);
	max = conn->opts.max_credentials;
	dafs_conn_put(conn);
	KUNIT_ASSERT_GT(test, CRED_USERS, max);
	KUNIT_EXPECT_EQ(test, max, cred_room(test, spy, max + 1));
	for (i = 0; i < CRED_USERS; i++)
		KUNIT_ASSERT_EQ(test, 0, dafs_null(clnt, dafs_fixture_user(test, 3000 + i, 1)));
	/* some may still be waiting for their release */
	KUNIT_EXPECT_GE(test, cred_room(test, spy, max), 1);
	dafs_fixture_end_client(test, clnt);
	KUNIT_EXPECT_EQ(test, max, cred_room(test, spy, max + 1));
}

#define CRED_MOUNTS	3
#define CRED_EACH	25	/* together above the default limit of a client */

/* A user has one handle for all sessions; the last session releases it. */
static void dafs_cred_cache_share_test(struct kunit *test)
{
	struct dafs_client *clnt[CRED_MOUNTS];
	struct raw_conn *spy = NULL;
	u8 first[4], handle[4];
	unsigned int i, j, max = 0;

	for (i = 0; i < CRED_MOUNTS; i++) {
		clnt[i] = cred_session(test, "cred share");
		if (!i) {
			spy = cred_spy(test, clnt[0]);
			max = cred_room(test, spy, CRED_USERS);
		}
		for (j = 0; j < CRED_EACH; j++)
			KUNIT_ASSERT_EQ(test, 0, cred_handle(clnt[i], dafs_fixture_user(test, j, 1),
							     handle));
		if (!i)
			memcpy(first, handle, sizeof(first));
		KUNIT_EXPECT_MEMEQ(test, first, handle, 4);
	}
	KUNIT_EXPECT_EQ(test, max - CRED_EACH, cred_room(test, spy, CRED_USERS));
	dafs_fixture_end_client(test, clnt[0]);
	dafs_fixture_end_client(test, clnt[1]);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, cred_use(spy, first));
	dafs_fixture_end_client(test, clnt[2]);
	KUNIT_EXPECT_EQ(test, max, cred_room(test, spy, CRED_USERS));
}

static void cred_use_many(struct kunit *test, struct dafs_client *clnt, uid_t first)
{
	unsigned int i;

	for (i = 0; i < CRED_EACH; i++)
		KUNIT_EXPECT_EQ(test, 0, dafs_null(clnt, dafs_fixture_user(test, first + i, 1)));
}

/* Each session has its own users; together they exceed the number of handles. */
static void dafs_cred_cache_many_test(struct kunit *test)
{
	struct dafs_client *clnt[CRED_MOUNTS];
	unsigned int i;

	for (i = 0; i < CRED_MOUNTS; i++) {
		clnt[i] = cred_session(test, "cred many");
		cred_use_many(test, clnt[i], 2000 + 100 * i);
	}
	for (i = 0; i < CRED_MOUNTS; i++)
		cred_use_many(test, clnt[i], 2000 + 100 * i);
}

/* A handle unused for a while is released, and registered again when needed. */
static void dafs_cred_cache_age_test(struct kunit *test)
{
	struct dafs_client *clnt = cred_session(test, "cred age");
	const struct cred *user = dafs_fixture_user(test, 1001, 1001);
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	struct raw_conn *spy = cred_spy(test, clnt);
	struct dafs_conn *conn = dafs_conn_get(clnt);
	u8 handle[4];

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, conn);
	KUNIT_ASSERT_EQ(test, 0, cred_handle(clnt, user, handle));
	dafs_cred_cache_age(clnt, conn, 60 * HZ);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, cred_use(spy, handle));
	dafs_cred_cache_age(clnt, conn, 0);
	while (!cred_use(spy, handle) && time_before(jiffies, end))
		schedule_timeout_uninterruptible(HZ / 50);
	DAFS_EXPECT_STATUS(test, DAFSERR_NO_CREDS, cred_use(spy, handle));
	KUNIT_EXPECT_EQ(test, 0, dafs_null(clnt, user));
	dafs_conn_put(conn);
}

/**
 * struct cred_apart - a server that does not answer the first REGISTER_CRED
 * @test: the test
 * @held: the request that is held back
 * @from: the connection it came on
 * @came: completed when it has arrived
 * @registered: number of REGISTER_CRED received
 */
struct cred_apart {
	struct kunit *test;
	struct dafs_req_hdr held;
	struct raw_conn *from;
	struct completion came;
	atomic_t registered;
};

static void cred_apart_request(struct raw_conn *conn, struct raw_msg *msg)
{
	struct cred_apart *apart = conn->srv->priv;
	struct dafs_req_hdr hdr;

	KUNIT_EXPECT_EQ(apart->test, 0, raw_get_hdr(conn, msg, &hdr));
	if (hdr.procedure == DAFS_PROC_REGISTER_CRED &&
	    atomic_inc_return(&apart->registered) == 1) {
		apart->held = hdr;
		apart->from = conn;
		complete(&apart->came);
		return;
	}
	raw_serve_request(conn, msg);
}

/**
 * struct cred_asker - a task that makes a request
 * @work: where it runs
 * @clnt: the client
 * @cred: its credentials
 * @err: result
 */
struct cred_asker {
	struct work_struct work;
	struct dafs_client *clnt;
	const struct cred *cred;
	int err;
};

static void cred_ask(struct work_struct *work)
{
	struct cred_asker *asker = container_of(work, struct cred_asker, work);

	asker->err = dafs_null(asker->clnt, asker->cred);
}

static void cred_apart_end(void *clnt)
{
	dafs_client_shutdown(clnt);
}

/* A user being registered waits for the server; other users do not wait, no duplicates. */
static void dafs_cred_cache_apart_test(struct kunit *test)
{
	struct cred_apart *apart = kunit_kzalloc(test, sizeof(*apart), GFP_KERNEL);
	struct cred_asker *asker = kunit_kcalloc(test, 2, sizeof(*asker), GFP_KERNEL);
	struct dafs_register_cred_res res = { .cred_handle = "two" };
	struct raw_server *srv = raw_server(test);
	struct dafs_client *clnt;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, apart);
	KUNIT_ASSERT_NOT_NULL(test, asker);
	apart->test = test;
	init_completion(&apart->came);
	srv->priv = apart;
	srv->request = cred_apart_request;
	clnt = dafs_fixture_client(test, &srv->params);
	for (i = 0; i < 2; i++) {
		asker[i].clnt = clnt;
		asker[i].cred = dafs_fixture_user(test, 1001, 1001);
		asker[i].err = 1;
		INIT_WORK(&asker[i].work, cred_ask);
		queue_work(system_unbound_wq, &asker[i].work);
	}
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, cred_apart_end, clnt));
	KUNIT_EXPECT_TRUE(test, wait_for_completion_timeout(&apart->came,
							    msecs_to_jiffies(RAW_WAIT_MS)));
	KUNIT_EXPECT_EQ(test, 0, dafs_null(clnt, dafs_fixture_user(test, 1002, 1002)));
	KUNIT_EXPECT_EQ(test, 2, atomic_read(&apart->registered));
	KUNIT_EXPECT_EQ(test, 1, READ_ONCE(asker[0].err));
	KUNIT_EXPECT_EQ(test, 1, READ_ONCE(asker[1].err));
	if (apart->from)
		raw_answer(apart->from, &apart->held, DAFS_STATUS_OK, srv->opts.max_requests,
			   &res);
	for (i = 0; i < 2; i++) {
		flush_work(&asker[i].work);
		KUNIT_EXPECT_EQ(test, 0, asker[i].err);
	}
	KUNIT_EXPECT_EQ(test, 2, atomic_read(&apart->registered));
}

/* Two sessions of one client that together need more handles than exist. */
static void dafs_cred_cache_crowd_test(struct kunit *test)
{
	struct dafs_client *a = cred_session(test, "cred crowd");
	struct raw_conn *spy = cred_spy(test, a);
	struct dafs_client *b;
	u8 handle[4];
	unsigned int i;

	/* the raw session uses most of the table */
	for (i = 0; i < 60; i++)
		DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_register(spy, 7000 + i, 1, handle));
	b = cred_session(test, "cred crowd");
	for (i = 0; i < 10; i++) {
		KUNIT_EXPECT_EQ(test, 0, dafs_null(a, dafs_fixture_user(test, 8000 + i, 1)));
		KUNIT_EXPECT_EQ(test, 0, dafs_null(b, dafs_fixture_user(test, 9000 + i % 2, 1)));
	}
}

/* A handle that the server does not know any more is registered again. */
static void dafs_cred_cache_stale_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	const struct cred *user = dafs_fixture_user(test, 1001, 1001);
	struct raw_conn *spy = cred_spy(test, fix->clnt);
	struct qstr name = QSTR_INIT("dir", 3);
	struct dafs_node node = { .type = DAFS_TYPE_DIR };
	struct dafs_change_info change;
	struct dafs_fh fh;
	u8 handle[4];

	KUNIT_ASSERT_EQ(test, 0, cred_handle(fix->clnt, user, handle));
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, cred_release(spy, handle));
	KUNIT_EXPECT_EQ(test, 0, dafs_create(fix->clnt, user, &fix->dir, &name, &node, &fh,
					     &change));
	dafs_backing_expect_owner(test, fix, "dir", 1001, 1001);
}

/*
 * After a lost connection the same client-id keeps its handles; the suite "users" tests
 * a restarted server.
 */
static void dafs_cred_cache_reconnect_test(struct kunit *test)
{
	struct dafs_client *clnt = cred_session(test, "cred reconnect");
	const struct cred *user = dafs_fixture_user(test, 1001, 1001);
	struct dafs_conn *conn = dafs_conn_get(clnt);
	u8 before[4], after[4];

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, conn);
	KUNIT_ASSERT_EQ(test, 0, cred_handle(clnt, user, before));
	dafs_conn_failed(conn);
	dafs_conn_put(conn);
	KUNIT_ASSERT_EQ(test, 0, dafs_null(clnt, user));
	KUNIT_ASSERT_EQ(test, 0, cred_handle(clnt, user, after));
	KUNIT_EXPECT_MEMEQ(test, before, after, 4);
}

/**
 * struct cred_racer - one of many that use more users than the cache holds
 * @work: where it runs
 * @fix: the fixture
 * @cred: credentials of its user
 * @uid: uid of its user
 * @wrong: objects created with a wrong owner
 * @err: error of an operation, or 0
 */
struct cred_racer {
	struct work_struct work;
	struct dafs_fixture *fix;
	const struct cred *cred;
	u32 uid;
	int wrong;
	int err;
};

#define CRED_RACERS	40
#define CRED_ROUNDS	6

static void cred_race(struct work_struct *work)
{
	struct cred_racer *racer = container_of(work, struct cred_racer, work);
	struct dafs_node node = { .type = DAFS_TYPE_DIR };
	struct dafs_change_info change;
	struct dafs_fh fh;
	struct kstat stat;
	char name[16];
	unsigned int i;

	for (i = 0; i < CRED_ROUNDS && !racer->err; i++) {
		struct qstr q = { .name = name };

		q.len = snprintf(name, sizeof(name), "%u.%u", racer->uid, i);
		racer->err = dafs_create(racer->fix->clnt, racer->cred, &racer->fix->dir, &q,
					 &node, &fh, &change);
		if (!racer->err)
			racer->err = dafs_backing_stat(racer->fix, name, &stat);
		if (!racer->err && __kuid_val(stat.uid) != racer->uid)
			racer->wrong++;
	}
}

/* Handles are moved from one user to another while both are in use. */
static void dafs_cred_cache_race_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct cred_racer *racers = kunit_kcalloc(test, CRED_RACERS, sizeof(*racers), GFP_KERNEL);
	struct workqueue_struct *wq;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, racers);
	for (i = 0; i < CRED_RACERS; i++) {
		racers[i].fix = fix;
		racers[i].uid = 10000 + i;
		racers[i].cred = dafs_fixture_user(test, racers[i].uid, 1);
		INIT_WORK(&racers[i].work, cred_race);
	}
	wq = alloc_workqueue("dafs_cred_race", WQ_UNBOUND, CRED_RACERS);
	KUNIT_ASSERT_NOT_NULL(test, wq);
	for (i = 0; i < CRED_RACERS; i++)
		queue_work(wq, &racers[i].work);
	destroy_workqueue(wq);
	for (i = 0; i < CRED_RACERS; i++) {
		KUNIT_EXPECT_EQ(test, 0, racers[i].err);
		KUNIT_EXPECT_EQ(test, 0, racers[i].wrong);
	}
}

static struct kunit_case dafs_cred_cases[] = {
	KUNIT_CASE_PARAM(dafs_cred_types_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_cred_name_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_cred_invalid_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_cred_groups_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_cred_many_groups_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_cred_sessions_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_cred_release_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_cred_release_busy_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_cred_untrusted_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_cred_limit_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_cred_outlive_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_cred_former_instance_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_cred_cache_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_cred_cache_untrusted_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_cred_cache_bound_test),
	KUNIT_CASE(dafs_cred_cache_share_test),
	KUNIT_CASE(dafs_cred_cache_many_test),
	KUNIT_CASE(dafs_cred_cache_age_test),
	KUNIT_CASE(dafs_cred_cache_apart_test),
	KUNIT_CASE(dafs_cred_cache_crowd_test),
	KUNIT_CASE_PARAM(dafs_cred_cache_stale_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_cred_cache_reconnect_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_cred_cache_race_test),
	{}
};

static struct kunit_suite dafs_cred_suite = {
	.name = "dafs_cred",
	.test_cases = dafs_cred_cases,
};

kunit_test_suite(dafs_cred_suite);
