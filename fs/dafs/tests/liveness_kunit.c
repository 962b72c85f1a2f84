// SPDX-License-Identifier: GPL-2.0
/*
 * Nobody waits for somebody else: neither for clients that fall silent, nor for
 * file systems that stand still.
 */
#include <linux/delay.h>
#include <linux/slab.h>
#include "../../../drivers/dafsd/dafsd.h"
#include "raw.h"

#define LIVENESS_SESSIONS	17
#define LIVENESS_REQUESTS	32	/* of each; in all more than the server has workers */

/* A session that is to be in the way of others, and what it needs to be */
struct liveness_client {
	struct raw_login login;
	struct raw_conn *conn;
	struct raw_conn *reads;
	struct dafs_opaque64 *id;
};

static struct liveness_client *liveness_connect(struct kunit *test, bool reads)
{
	struct liveness_client *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);
	struct dafs_connect_bind_args bind = {
		.channel_use = DAFS_RDMA_READ_CHANNEL,
	};

	KUNIT_ASSERT_NOT_NULL(test, c);
	c->login.opts.max_requests = LIVENESS_REQUESTS;
	c->login.opts.use_rdma_read_channel = reads;
	c->conn = raw_connect_flavour(test, NULL, DAFS_CHANNEL_OPERATION);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_login(c->conn, &c->login));
	KUNIT_ASSERT_EQ(test, LIVENESS_REQUESTS, c->login.res.connect.opts.max_requests);
	c->id = &c->login.res.connect.session_id;
	if (!reads)
		return c;
	bind.session_id = *c->id;
	c->reads = raw_connect_flavour(test, NULL, DAFS_CHANNEL_RDMA_READ);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   raw_call(c->reads, DAFS_PROC_CONNECT_BIND, &bind, NULL));
	return c;
}

/* All the requests that the session may have, without waiting for responses */
static void liveness_ask(struct kunit *test, struct liveness_client *c, u32 proc, void *args,
			 void (*change)(void *args, unsigned int i))
{
	u8 *buf = kunit_kzalloc(test, RAW_RECV_SIZE, GFP_KERNEL);
	struct dafs_req_hdr hdr;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	for (i = 0; i < LIVENESS_REQUESTS; i++) {
		hdr = raw_hdr(c->conn, proc);
		hdr.stream_id = i;
		if (change)
			change(args, i);
		KUNIT_ASSERT_EQ(test, 0, raw_send(c->conn, buf,
						  raw_encode(c->conn, &hdr, args, buf)));
	}
	kunit_kfree(test, buf);
}

/* Others come and go, and are answered. */
static void liveness_expect_peace(struct kunit *test, struct dafs_fixture *fix)
{
	struct dafs_getattr_args args = {
		.filehandle = fix->dir,
		.attr_request_bitmap = DAFS_FATTR_FILE_ID,
	};
	struct raw_login login = {};
	struct raw_conn *conn = raw_session(test, NULL, &login);

	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_call(conn, DAFS_PROC_NULL, NULL, NULL));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   raw_call(conn, DAFS_PROC_GETATTR_INLINE, &args, NULL));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_call(conn, DAFS_PROC_DISCONNECT, NULL, NULL));
	raw_close(test, conn);
	KUNIT_EXPECT_EQ(test, 0, dafs_null(fix->ses, dafs_test_me()));
}

/* Requests of a session that have not been answered, and its channel; 0 if it has gone. */
static int liveness_busy(const struct liveness_client *c)
{
	struct dafsd_session *ses = dafsd_session_find(c->id);
	int busy;

	if (!ses)
		return 0;
	busy = atomic_read(&ses->busy);
	dafsd_session_put(ses);
	return busy;
}

static bool liveness_wait_busy(const struct liveness_client *c, int most)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);

	while (liveness_busy(c) > most && time_before(jiffies, end))
		msleep(20);
	return liveness_busy(c) <= most;
}

/*
 * Clients ask the server to fetch data and fall silent: first the channel that it
 * would be fetched by, then the other one.
 */
static void dafs_liveness_silent_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_direct_buf buf = { .buffer_byte_count = 4096, .buffer_handle = 1 };
	struct dafs_write_direct_args args = {
		.byte_count = 4096,
		.write_data_buffers = { .count = 1, .elems = &buf },
	};
	struct liveness_client *c[LIVENESS_SESSIONS];
	unsigned int i;

	dafs_backing_write(test, fix, "file", "data", 4);
	dafs_backing_chmod(test, fix, "file", 0666);
	args.filehandle = dafs_test_lookup(test, fix, "file");
	for (i = 0; i < ARRAY_SIZE(c); i++) {
		c[i] = liveness_connect(test, true);
		raw_cut(test, c[i]->reads);
		liveness_ask(test, c[i], DAFS_PROC_WRITE_DIRECT, &args, NULL);
	}
	liveness_expect_peace(test, fix);
	for (i = 0; i < ARRAY_SIZE(c); i++) {
		KUNIT_EXPECT_NULL(test, raw_recv(c[i]->conn, 0));
		KUNIT_EXPECT_EQ(test, LIVENESS_REQUESTS + 1, liveness_busy(c[i]));
		raw_cut(test, c[i]->conn);
	}
	liveness_expect_peace(test, fix);
	for (i = 0; i < ARRAY_SIZE(c); i++) {
		raw_close(test, c[i]->conn);
		raw_close(test, c[i]->reads);
	}
	for (i = 0; i < ARRAY_SIZE(c); i++)
		KUNIT_EXPECT_TRUE(test, liveness_wait_busy(c[i], 0));
	liveness_expect_peace(test, fix);
}

static void liveness_thaw(void *sb)
{
	thaw_super(sb, FREEZE_HOLDER_KERNEL);
}

/* A name of its own for each request */
static void liveness_rename(void *args, unsigned int i)
{
	struct dafs_create_args *create = args;
	static atomic_t nr = ATOMIC_INIT(0);
	static char names[LIVENESS_REQUESTS][16];

	snprintf(names[i], sizeof(names[i]), "d%d", atomic_inc_return(&nr));
	create->component = dafs_test_str(names[i]);
}

static void liveness_expect_made(struct kunit *test, struct liveness_client *c)
{
	struct dafs_stream s = {};
	struct dafs_res_hdr hdr;
	struct raw_msg *msg;
	unsigned int i;

	for (i = 0; i < LIVENESS_REQUESTS; i++) {
		msg = raw_recv(c->conn, RAW_WAIT_MS);
		KUNIT_ASSERT_NOT_NULL(test, msg);
		s.base = msg->data;
		s.len = msg->len;
		KUNIT_EXPECT_EQ(test, 0, dafs_get_res_hdr(&s, &hdr));
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, hdr.status);
		kfree(msg);
	}
}

/* Who comes through the root of the name space waits for nobody, but has to come again. */
static bool liveness_full(struct kunit *test, enum dafs_test_export where)
{
	struct dafs_str name = dafs_test_str(dafs_fixture_export_name(where));
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	struct dafs_lookup_args args = { .path = { .count = 1, .elems = &name } };
	struct raw_login login = {};
	struct raw_conn *conn = raw_session(test, NULL, &login);
	struct dafs_fh_res root = {};
	u32 status;

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   raw_call(conn, DAFS_PROC_GET_ROOT_HANDLE, NULL, &root));
	args.directory = root.filehandle;
	do {
		status = raw_call(conn, DAFS_PROC_LOOKUP, &args, NULL);
		msleep(20);
	} while (!status && time_before(jiffies, end));
	raw_close(test, conn);
	return status == DAFSERR_DELAY;
}

/*
 * A file system stands still, and many requests wait for it.  Others go on; what has
 * not begun when its client leaves is not done.
 */
static void dafs_liveness_frozen_test(struct kunit *test)
{
	struct dafs_fixture *frozen = dafs_fixture_in(test, NULL, DAFS_TEST_SQUASH);
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct super_block *sb = frozen->path.mnt->mnt_sb;
	struct dafs_create_args args = {
		.filehandle = frozen->dir,
		.obj_type = DAFS_TYPE_DIR,
	};
	struct liveness_client *c[LIVENESS_SESSIONS];
	unsigned int i, last = ARRAY_SIZE(c) - 1;

	for (i = 0; i < ARRAY_SIZE(c); i++)
		c[i] = liveness_connect(test, false);
	KUNIT_ASSERT_EQ(test, 0, freeze_super(sb, FREEZE_HOLDER_KERNEL));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, liveness_thaw, sb));
	for (i = 0; i < ARRAY_SIZE(c); i++)
		liveness_ask(test, c[i], DAFS_PROC_CREATE, &args, liveness_rename);
	liveness_expect_peace(test, fix);
	KUNIT_EXPECT_TRUE(test, liveness_full(test, DAFS_TEST_SQUASH));
	/* reading attributes works even there, for a client that asks for little */
	liveness_expect_peace(test, frozen);
	raw_close(test, c[last]->conn);
	/* one had a worker */
	KUNIT_EXPECT_TRUE(test, liveness_wait_busy(c[last], 1));
	KUNIT_EXPECT_NULL(test, raw_recv(c[0]->conn, 0));
	liveness_expect_peace(test, fix);
	kunit_release_action(test, liveness_thaw, sb);
	for (i = 0; i < last; i++)
		liveness_expect_made(test, c[i]);
	KUNIT_EXPECT_TRUE(test, liveness_wait_busy(c[last], 0));
}

static u32 liveness_open(struct raw_conn *conn, struct dafs_fixture *fix, const char *file,
			 u32 access, u32 deny, struct dafs_open_res *res)
{
	struct dafs_open_args args = dafs_test_open_args("owner", access, deny);
	struct dafs_str name = dafs_test_str(file);

	args.dir_handle = fix->dir;
	args.pathname = (struct dafs_seq) { .count = 1, .elems = &name };
	return raw_call(conn, DAFS_PROC_OPEN, &args, res);
}

/*
 * A client has a file open that has no name any more, in a file system that stands
 * still, and its lease expires: closing the file waits, and no other client does.
 */
static void dafs_liveness_expired_test(struct kunit *test)
{
	struct dafs_fixture *frozen = dafs_fixture_in(test, NULL, DAFS_TEST_SQUASH);
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct super_block *sb = frozen->path.mnt->mnt_sb;
	struct liveness_client *c;
	struct dafs_open_res res;

	dafs_backing_write(test, frozen, "file", "data", 4);
	dafs_fixture_lease(test, fix, 1);
	dafs_session_set_lease(frozen->ses, 1);
	c = liveness_connect(test, false);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   liveness_open(c->conn, frozen, "file", DAFS_OPEN_SHARE_ACCESS_READ,
					 DAFS_OPEN_SHARE_DENY_NONE, &res));
	dafs_backing_remove(frozen, "file");
	KUNIT_ASSERT_EQ(test, 0, freeze_super(sb, FREEZE_HOLDER_KERNEL));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, liveness_thaw, sb));
	KUNIT_EXPECT_TRUE(test, liveness_wait_busy(c, 0));
	liveness_expect_peace(test, fix);
	kunit_release_action(test, liveness_thaw, sb);
}

static u32 liveness_append(struct raw_conn *conn, const struct dafs_open_res *open)
{
	struct dafs_append_inline_args args = {
		.filehandle = open->filehandle,
		.state_id = open->state_id,
		.byte_count = 4,
		.data = "more",
		.stable_how = DAFS_DATA_SYNC,
	};

	return raw_call(conn, DAFS_PROC_APPEND_INLINE, &args, NULL);
}

static void liveness_close(struct raw_conn *conn, const struct dafs_open_res *open)
{
	struct dafs_close_args args = {
		.filehandle = open->filehandle,
		.state_id = open->state_id,
	};

	raw_call(conn, DAFS_PROC_CLOSE, &args, NULL);
}

/*
 * A write without an open waits for its file system.  That keeps no reservation of
 * another file waiting, and no append to one.
 */
static void dafs_liveness_locks_test(struct kunit *test)
{
	struct dafs_fixture *frozen = dafs_fixture_in(test, NULL, DAFS_TEST_SQUASH);
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct super_block *sb = frozen->path.mnt->mnt_sb;
	struct dafs_write_inline_args write = { .byte_count = 4, .data = "data" };
	struct liveness_client *c = liveness_connect(test, false);
	struct raw_login login = {};
	struct raw_conn *conn = raw_session(test, NULL, &login);
	struct dafs_open_res res;
	u32 status = DAFS_STATUS_OK;
	char name[16];
	unsigned int i;

	dafs_backing_write(test, frozen, "file", "data", 4);
	dafs_backing_chmod(test, frozen, "file", 0666);
	write.filehandle = dafs_test_lookup(test, frozen, "file");
	KUNIT_ASSERT_EQ(test, 0, freeze_super(sb, FREEZE_HOLDER_KERNEL));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, liveness_thaw, sb));
	liveness_ask(test, c, DAFS_PROC_WRITE_INLINE, &write, NULL);
	for (i = 0; i < 128 && !status; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		dafs_backing_write(test, fix, name, "data", 4);
		dafs_backing_chmod(test, fix, name, 0666);
		status = liveness_open(conn, fix, name, DAFS_OPEN_SHARE_ACCESS_BOTH,
				       DAFS_OPEN_SHARE_DENY_BOTH, &res);
		status = status ?: liveness_append(conn, &res);
		/* open until the end: each has an inode, and so a lock, of its own */
	}
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, status);
	liveness_close(conn, &res);
	kunit_release_action(test, liveness_thaw, sb);
	liveness_expect_made(test, c);
}

#define LIVENESS_READERS	34
#define LIVENESS_BUFS		250	/* of a few bytes: many entries of the send queue */

/*
 * Clients ask for data and take none: each read waits for a directory that is made
 * before it, in a chain, so that its client has fallen silent when its turn comes.
 */
static void dafs_liveness_reader_test(struct kunit *test)
{
	struct dafs_fixture *frozen = dafs_fixture_in(test, NULL, DAFS_TEST_SQUASH);
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct super_block *sb = frozen->path.mnt->mnt_sb;
	struct dafs_direct_buf *bufs = kunit_kcalloc(test, LIVENESS_BUFS, sizeof(*bufs),
						     GFP_KERNEL);
	u8 *msg = kunit_kzalloc(test, RAW_RECV_SIZE, GFP_KERNEL);
	struct dafs_create_args create = {
		.filehandle = frozen->dir,
		.obj_type = DAFS_TYPE_DIR,
	};
	struct dafs_read_direct_args read = {
		.byte_count = 16 * LIVENESS_BUFS,
		.read_data_buffers = { .count = LIVENESS_BUFS, .elems = bufs },
	};
	struct liveness_client *c[LIVENESS_READERS];
	struct dafs_req_hdr hdr;
	unsigned int i, j;

	KUNIT_ASSERT_NOT_NULL(test, bufs);
	KUNIT_ASSERT_NOT_NULL(test, msg);
	for (i = 0; i < LIVENESS_BUFS; i++)
		bufs[i] = (struct dafs_direct_buf){ .buffer_byte_count = 16, .buffer_handle = 1 };
	dafs_backing_write(test, fix, "file", msg, 16 * LIVENESS_BUFS);
	read.filehandle = dafs_test_lookup(test, fix, "file");
	for (i = 0; i < ARRAY_SIZE(c); i++)
		c[i] = liveness_connect(test, false);
	KUNIT_ASSERT_EQ(test, 0, freeze_super(sb, FREEZE_HOLDER_KERNEL));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, liveness_thaw, sb));
	for (i = 0; i < ARRAY_SIZE(c); i++) {
		for (j = 0; j < LIVENESS_REQUESTS; j++) {
			hdr = raw_hdr(c[i]->conn, j % 2 ? DAFS_PROC_READ_DIRECT :
							  DAFS_PROC_CREATE);
			hdr.stream_id = j;
			hdr.chain_flags = j % 2 ? DAFS_CHF_BACK : DAFS_CHF_FORW;
			liveness_rename(&create, j);
			raw_send(c[i]->conn, msg,
				 raw_encode(c[i]->conn, &hdr, j % 2 ? (void *)&read : &create,
					    msg));
		}
		raw_cut(test, c[i]->conn);
	}
	liveness_expect_peace(test, fix);
	kunit_release_action(test, liveness_thaw, sb);
	liveness_expect_peace(test, fix);
	liveness_expect_peace(test, frozen);
	for (i = 0; i < ARRAY_SIZE(c); i++)
		raw_close(test, c[i]->conn);
	for (i = 0; i < ARRAY_SIZE(c); i++)
		KUNIT_EXPECT_TRUE(test, liveness_wait_busy(c[i], 0));
}

static struct kunit_case dafs_liveness_cases[] = {
	KUNIT_CASE(dafs_liveness_silent_test),
	KUNIT_CASE(dafs_liveness_frozen_test),
	KUNIT_CASE(dafs_liveness_expired_test),
	KUNIT_CASE(dafs_liveness_locks_test),
	KUNIT_CASE(dafs_liveness_reader_test),
	{}
};

static struct kunit_suite dafs_liveness_suite = {
	.name = "dafs_liveness",
	.test_cases = dafs_liveness_cases,
};

kunit_test_suite(dafs_liveness_suite);
