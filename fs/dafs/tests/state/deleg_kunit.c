// SPDX-License-Identifier: GPL-2.0
/*
 * Delegations of the server: to whom they are given, what recalls them, and how they end
 * (6.5.10, 6.5.11, 6.5.24, 6.6.4, E-90).
 *
 * The delegate is a raw peer, so that each directive that it gets is seen, and it answers as
 * the test wants.
 */
#include <linux/delay.h>
#include <linux/filelock.h>
#include <linux/fs.h>
#include <linux/path.h>
#include "../../../../drivers/dafsd/session/server.h"
#include "../../../../drivers/dafsd/export/export.h"
#include "../../../../drivers/dafsd/state/deleg_impl.h"
#include "../../../../drivers/dafsd/state/file.h"
#include "../lib/lock_fs.h"
#include "../lib/open_test.h"
#include "../lib/raw.h"

#define DELEG_SHORT	3	/* seconds: a lease that is to run out, but not by accident */

/* What a delegate is asked for by deleg_ask() */
#define DELEG_ATTRS	(DAFS_FATTR_CHANGE | DAFS_FATTR_OBJECT_SIZE | DAFS_FATTR_TIME_MODIFY)

/**
 * struct deleg_client - a client that sends only requests of the test
 * @login: its session
 * @op: its operation channel
 * @bc: its back-control channel, or NULL
 * @handle: credential handle of root
 * @open: what its last OPEN returned
 */
struct deleg_client {
	struct raw_login login;
	struct raw_conn *op;
	struct raw_conn *bc;
	u8 handle[4];
	struct dafs_open_res open;
};

static struct deleg_client *deleg_new(struct kunit *test)
{
	struct deleg_client *client = kunit_kzalloc(test, sizeof(*client), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, client);
	return client;
}

static void deleg_bind(struct kunit *test, struct deleg_client *client)
{
	struct dafs_connect_bind_args args = {
		.session_id = client->login.res.connect.session_id,
		.channel_use = DAFS_BACK_CONTROL_CHANNEL,
		.max_request_size = DAFS_MIN_MSG_SIZE,
		.max_response_size = DAFS_MIN_MSG_SIZE,
		.max_requests = 2,
	};

	client->bc = raw_connect_flavour(test, test->param_value, DAFS_CHANNEL_BACK_CONTROL);
	client->bc->cksum = client->op->cksum;
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   raw_call(client->bc, DAFS_PROC_CONNECT_BIND, &args, NULL));
}

/* @id as in struct raw_login */
static void deleg_connect(struct kunit *test, struct deleg_client *client, const char *id,
			  bool back)
{
	const struct dafs_flavour *given = test->param_value;
	struct dafs_flavour flavour = given ? *given : (struct dafs_flavour) {};

	flavour.back_control = true;
	client->login = (struct raw_login) { .id = id, .verifier = 1 };
	client->op = raw_session(test, &flavour, &client->login);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_register(client->op, 0, 0, client->handle));
	if (back)
		deleg_bind(test, client);
}

/* A new instance of @client: all that @client had at the server is released */
static struct deleg_client *deleg_reboot(struct kunit *test, const struct deleg_client *client)
{
	struct deleg_client *again = deleg_new(test);

	again->login = (struct raw_login) { .id = client->login.id, .verifier = 2 };
	again->op = raw_session(test, test->param_value, &again->login);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_register(again->op, 0, 0, again->handle));
	return again;
}

static dafs_status_t deleg_call(struct deleg_client *client, u32 proc, void *args, void *res)
{
	return raw_call_as(client->op, client->handle, proc, args, res);
}

static dafs_status_t deleg_open_args(struct deleg_client *client, struct dafs_fixture *fix,
				     const char *file, struct dafs_open_args *args)
{
	struct dafs_str name = dafs_test_str(file);

	args->dir_handle = fix->dir;
	args->pathname = (struct dafs_seq) { .count = 1, .elems = &name };
	client->open = (struct dafs_open_res) {};
	return deleg_call(client, DAFS_PROC_OPEN, args, &client->open);
}

static dafs_status_t deleg_try(struct deleg_client *client, struct dafs_fixture *fix,
			       const char *owner, u32 access, u32 deny)
{
	struct dafs_open_args args = dafs_test_open_args(owner, access, deny);

	return deleg_open_args(client, fix, "file", &args);
}

/* Return: the type of the delegation that it has got. */
static u32 deleg_open(struct kunit *test, struct deleg_client *client, struct dafs_fixture *fix,
		      u32 access)
{
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, deleg_try(client, fix, "owner", access, 0));
	return client->open.delegation_type;
}

static dafs_status_t deleg_close(struct deleg_client *client)
{
	struct dafs_close_args args = {
		.filehandle = client->open.filehandle,
		.state_id = client->open.state_id,
	};

	return deleg_call(client, DAFS_PROC_CLOSE, &args, NULL);
}

static dafs_status_t deleg_return(struct deleg_client *client)
{
	struct dafs_delegreturn_args args = { .state_id = client->open.deleg_state_id };

	return deleg_call(client, DAFS_PROC_DELEGRETURN, &args, NULL);
}

/* The next directive is a BC_RECALL of what @client has; it is answered. */
static void deleg_recalled(struct kunit *test, struct deleg_client *client, dafs_status_t answer)
{
	struct raw_msg *msg = raw_recv(client->bc, RAW_WAIT_MS);
	struct dafs_bc_recall_args args = {};
	struct dafs_buf buf = { .swab = client->bc->swab };
	struct dafs_req_hdr hdr;

	KUNIT_ASSERT_NOT_NULL(test, msg);
	KUNIT_EXPECT_EQ(test, 0, raw_get_hdr(client->bc, msg, &hdr));
	KUNIT_EXPECT_EQ(test, DAFS_PROC_BC_RECALL, hdr.procedure);
	KUNIT_EXPECT_EQ(test, 0, hdr.chain_flags);
	KUNIT_EXPECT_NULL(test, memchr_inv(hdr.cred_handle, 0, sizeof(hdr.cred_handle)));
	buf.base = msg->data;
	buf.len = msg->len;
	KUNIT_EXPECT_EQ(test, 0, dafs_decode_args(&buf, hdr.procedure, &args));
	KUNIT_EXPECT_MEMEQ(test, &args.filehandle, &client->open.filehandle,
			   sizeof(args.filehandle));
	KUNIT_EXPECT_MEMEQ(test, &args.state_id, &client->open.deleg_state_id,
			   sizeof(args.state_id));
	KUNIT_EXPECT_EQ(test, 0, args.truncate);
	kfree(msg);
	raw_answer(client->bc, &hdr, answer, 2, NULL);
}

static void deleg_not_recalled(struct kunit *test, struct deleg_client *client)
{
	KUNIT_EXPECT_NULL(test, raw_recv(client->bc, RAW_QUIET_MS));
}

/* A server that delegates, a file, and one client */
static struct dafs_fixture *deleg_fixture(struct kunit *test, struct deleg_client *client)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);

	dafs_fixture_server_param(test, &dafsd_max_delegations, 100);
	dafs_fixture_server_param(test, &dafsd_deleg_rest_seconds, 0);
	dafs_fixture_server_param(test, &dafsd_recall_wait_ms, 1);
	dafs_backing_write(test, fix, "file", "content", 7);
	deleg_connect(test, client, NULL, true);
	return fix;
}

/* One that has a write delegation, and another one */
static struct dafs_fixture *deleg_writer(struct kunit *test, struct deleg_client *a,
					 struct deleg_client *b)
{
	struct dafs_fixture *fix = deleg_fixture(test, a);

	deleg_connect(test, b, NULL, false);
	KUNIT_ASSERT_EQ(test, DAFS_OPEN_DELEGATE_WRITE, deleg_open(test, a, fix, DAFS_RW));
	return fix;
}

/* What conflicts is done once more until the delegation has ended */
static dafs_status_t deleg_again(struct kunit *test, struct deleg_client *client,
				 struct dafs_fixture *fix, u32 access)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	dafs_status_t status;

	do {
		status = deleg_try(client, fix, "owner", access, 0);
		if (status == DAFSERR_DELAY)
			msleep(20);
	} while (status == DAFSERR_DELAY && time_before(jiffies, end));
	return status;
}

/*
 * A write delegation.  The file of the last one is closed in the background, and counts as open
 * until then.
 */
static void deleg_must_get(struct kunit *test, struct deleg_client *client,
			   struct dafs_fixture *fix)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);

	while (deleg_open(test, client, fix, DAFS_RW) != DAFS_OPEN_DELEGATE_WRITE) {
		KUNIT_ASSERT_TRUE(test, time_before(jiffies, end));
		DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, deleg_close(client));
		msleep(20);
	}
}

/*
 * R-6.5.24-20 R-7-02 R-6.5.11-01 R-6.2.5-01: a file that is read again is
 * delegated for reading; others may read it, too, and who is to write waits for the delegate
 */
static void dafs_deleg_read_test(struct kunit *test)
{
	struct deleg_client *a = deleg_new(test), *b = deleg_new(test);
	struct dafs_fixture *fix = deleg_fixture(test, a);

	deleg_connect(test, b, NULL, false);
	KUNIT_EXPECT_EQ(test, DAFS_OPEN_DELEGATE_NONE, deleg_open(test, a, fix, DAFS_RD));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_close(a));
	KUNIT_ASSERT_EQ(test, DAFS_OPEN_DELEGATE_READ, deleg_open(test, a, fix, DAFS_RD));
	KUNIT_EXPECT_EQ(test, 0, a->open.recall);
	KUNIT_EXPECT_EQ(test, DAFS_ACE_ACCESS_ALLOWED_ACE_TYPE, a->open.permissions_acetype);
	KUNIT_EXPECT_EQ(test, 0, a->open.who.len);
	KUNIT_EXPECT_EQ(test, DAFS_OPEN_DELEGATE_NONE, deleg_open(test, b, fix, DAFS_RD));
	deleg_not_recalled(test, a);
	DAFS_EXPECT_STATUS(test, DAFSERR_DELAY, deleg_try(b, fix, "w", DAFS_WR, 0));
	deleg_recalled(test, a, DAFS_STATUS_OK);
	DAFS_EXPECT_STATUS(test, DAFSERR_DELAY, deleg_try(b, fix, "w", DAFS_WR, 0));
	deleg_not_recalled(test, a);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_return(a));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_try(b, fix, "w", DAFS_WR, 0));
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_STATEID, deleg_return(a));
}

/* Leases of a file system of its own may not bind programs of other machines. */
static void dafs_deleg_nodes_test(struct kunit *test)
{
	struct deleg_client *a = deleg_new(test);
	struct dafs_fixture *fix = deleg_fixture(test, a);
	unsigned int n;

	lock_fs_hook_leases(test, fix, "file");
	for (n = 0; n < 3; n++) {
		KUNIT_EXPECT_EQ(test, DAFS_OPEN_DELEGATE_NONE, deleg_open(test, a, fix, DAFS_RD));
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_close(a));
	}
}

/* R-6.5.24-20: a file that is read and written is delegated for writing; nobody else uses it */
static void dafs_deleg_write_test(struct kunit *test)
{
	struct deleg_client *a = deleg_new(test), *b = deleg_new(test);
	struct dafs_fixture *fix = deleg_writer(test, a, b);
	struct file *file;

	KUNIT_EXPECT_EQ(test, DAFS_LIMIT_SIZE, a->open.limitby);
	KUNIT_EXPECT_GT(test, a->open.filesize, 7);
	DAFS_EXPECT_STATUS(test, DAFSERR_DELAY, deleg_try(b, fix, "r", DAFS_RD, 0));
	deleg_recalled(test, a, DAFS_STATUS_OK);
	/* a local program waits, too */
	file = dafs_backing_open(fix, "file", O_RDONLY | O_NONBLOCK, 0);
	KUNIT_EXPECT_TRUE(test, IS_ERR(file) && PTR_ERR(file) == -EWOULDBLOCK);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_return(a));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_try(b, fix, "r", DAFS_RD, 0));
}

/* What keeps a file from being executed.  Return: 0 or -ETXTBSY. */
static int deleg_execute(struct kunit *test, struct dafs_fixture *fix)
{
	struct file *file = dafs_backing_open(fix, "file", O_RDONLY, 0);
	int err;

	KUNIT_EXPECT_FALSE(test, IS_ERR(file));
	if (IS_ERR(file))
		return PTR_ERR(file);
	err = deny_write_access(file);
	if (!err)
		allow_write_access(file);
	dafs_backing_close(file);
	return err;
}

/* A program that has waited for the end of a delegation executes the file, before it is closed. */
static void dafs_deleg_execute_test(struct kunit *test)
{
	struct deleg_client *a = deleg_new(test), *b = deleg_new(test);
	struct dafs_fixture *fix = deleg_writer(test, a, b);
	struct dafsd_export *exp = dafsd_export_find(a->open.filehandle.fshandle);

	KUNIT_ASSERT_NOT_NULL(test, exp);
	flush_workqueue(dafsd_close_wq);
	KUNIT_EXPECT_FALSE(test, disable_work_sync(&exp->closer));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_close(a));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_return(a));
	KUNIT_EXPECT_EQ(test, 0, deleg_execute(test, fix));
	enable_work(&exp->closer);
	/* takes over the reference */
	if (!queue_work(dafsd_close_wq, &exp->closer))
		dafsd_export_put(exp);
	/* the client has it open for writing */
	deleg_must_get(test, a, fix);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_return(a));
	KUNIT_EXPECT_EQ(test, -ETXTBSY, deleg_execute(test, fix));
}

static dafs_status_t deleg_write_direct(struct deleg_client *client, const struct dafs_fh *fh,
					void *data, u32 len)
{
	struct dafs_direct_buf buf = raw_expose(client->op, data, len);
	struct dafs_write_direct_args args = {
		.filehandle = *fh,
		.byte_count = len,
		.write_data_buffers = { .count = 1, .elems = &buf },
	};

	return deleg_call(client, DAFS_PROC_WRITE_DIRECT, &args, NULL);
}

/* Data that is not fetched yet is not waited with; the file is not kept either. */
static void dafs_deleg_direct_test(struct kunit *test)
{
	struct deleg_client *a = deleg_new(test), *b = deleg_new(test);
	struct dafs_fixture *fix = deleg_writer(test, a, b);
	void *data = kunit_kzalloc(test, 512, GFP_KERNEL);
	struct path path;

	KUNIT_ASSERT_NOT_NULL(test, data);
	WRITE_ONCE(dafsd_recall_wait_ms, 10 * RAW_WAIT_MS);
	DAFS_EXPECT_STATUS(test, DAFSERR_DELAY,
			   deleg_write_direct(b, &a->open.filehandle, data, 512));
	deleg_recalled(test, a, DAFS_STATUS_OK);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_return(a));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   deleg_write_direct(b, &a->open.filehandle, data, 512));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_close(a));
	flush_workqueue(dafsd_close_wq);
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_path(fix, "file", &path));
	KUNIT_EXPECT_NULL(test, dafsd_file_find(d_inode(path.dentry)));
	path_put(&path);
}

/* Sends an OPEN on a stream of its own. */
static void deleg_send(struct deleg_client *client, u32 proc, void *args, u16 stream, u16 chain)
{
	struct dafs_req_hdr hdr = raw_hdr(client->op, proc);

	hdr.seq_number = 0;
	hdr.stream_id = stream;
	hdr.chain_flags = chain;
	memcpy(hdr.cred_handle, client->handle, sizeof(client->handle));
	client->op->seq--;
	raw_ask(client->op, &hdr, args);
}

static void deleg_ask_open(struct deleg_client *client, struct dafs_fixture *fix, u16 stream,
			   u16 chain)
{
	struct dafs_open_args args = dafs_test_open_args("w", DAFS_WR, 0);
	struct dafs_str name = dafs_test_str("file");

	args.dir_handle = fix->dir;
	args.pathname = (struct dafs_seq) { .count = 1, .elems = &name };
	deleg_send(client, DAFS_PROC_OPEN, &args, stream, chain);
}

static void deleg_answered(struct kunit *test, struct deleg_client *client, dafs_status_t expected)
{
	struct dafs_res_hdr hdr = {};

	DAFS_EXPECT_STATUS(test, expected, raw_recv_status(client->op, RAW_WAIT_MS, &hdr));
}

/* What is in its way is not answered until the delegation is over, but for every second one. */
static void dafs_deleg_wait_test(struct kunit *test)
{
	struct deleg_client *a = deleg_new(test), *b = deleg_new(test), *c = deleg_new(test);
	struct dafs_fixture *fix = deleg_writer(test, a, b);
	unsigned int waiting = b->login.res.connect.opts.max_requests / 2, i;

	deleg_connect(test, c, NULL, false);
	WRITE_ONCE(dafsd_recall_wait_ms, 10 * RAW_WAIT_MS);
	for (i = 1; i <= waiting; i++)
		deleg_ask_open(b, fix, i, 0);
	deleg_recalled(test, a, DAFS_STATUS_OK);
	KUNIT_EXPECT_NULL(test, raw_recv(b->op, RAW_QUIET_MS));
	deleg_ask_open(b, fix, i, 0);
	deleg_answered(test, b, DAFSERR_DELAY);
	/* a connection that ends does not wait */
	deleg_ask_open(c, fix, 1, 0);
	KUNIT_EXPECT_NULL(test, raw_recv(c->op, RAW_QUIET_MS));
	raw_close(test, c->op);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_return(a));
	for (i = 0; i < waiting; i++)
		deleg_answered(test, b, DAFS_STATUS_OK);
	/* not for ever */
	WRITE_ONCE(dafsd_recall_wait_ms, 100);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_try(b, fix, "w", DAFS_WR, 0));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_close(b));
	/* if the server noticed the end of the connection after the recall, the file is open */
	deleg_reboot(test, c);
	deleg_must_get(test, a, fix);
	DAFS_EXPECT_STATUS(test, DAFSERR_DELAY, deleg_try(b, fix, "w", DAFS_WR, 0));
}

/* Requests of a chain wait for what the first of them waits for. */
static void dafs_deleg_wait_chain_test(struct kunit *test)
{
	struct dafs_getattr_args attr = { .attr_request_bitmap = DAFS_FATTR_CHANGE };
	struct deleg_client *a = deleg_new(test), *b = deleg_new(test);
	struct dafs_fixture *fix = deleg_writer(test, a, b);
	unsigned int chains = b->login.res.connect.opts.max_requests / 8, i;

	KUNIT_ASSERT_GE(test, chains, 1);
	WRITE_ONCE(dafsd_recall_wait_ms, 10 * RAW_WAIT_MS);
	for (i = 0; i < chains; i++) {
		deleg_ask_open(b, fix, 2 * i + 1, DAFS_CHF_FORW);
		deleg_send(b, DAFS_PROC_GETATTR_INLINE, &attr, 2 * i + 2,
			   DAFS_CHF_BACK | DAFS_CHF_FH);
	}
	deleg_recalled(test, a, DAFS_STATUS_OK);
	KUNIT_EXPECT_NULL(test, raw_recv(b->op, RAW_QUIET_MS));
	/* some requests must not wait, or it could not return what it has itself */
	deleg_ask_open(b, fix, 2 * i + 1, DAFS_CHF_FORW);
	deleg_answered(test, b, DAFSERR_DELAY);
	deleg_send(b, DAFS_PROC_GETATTR_INLINE, &attr, 2 * i + 2, DAFS_CHF_BACK | DAFS_CHF_FH);
	deleg_answered(test, b, DAFSERR_CHAIN_BROKEN);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_return(a));
	for (i = 0; i < 2 * chains; i++)
		deleg_answered(test, b, DAFS_STATUS_OK);
}

/* R-6.5.24-20: what is not delegated */
static void dafs_deleg_none_test(struct kunit *test)
{
	struct dafs_open_args create = dafs_create_open_args(DAFS_CREATE_GUARDED);
	struct deleg_client *a = deleg_new(test), *b = deleg_new(test);
	struct dafs_fixture *fix = deleg_fixture(test, a);
	struct file *file;
	unsigned int i;

	deleg_connect(test, b, NULL, false);
	/* R-3.1.2.3.2-06: nothing without a channel for its recall */
	KUNIT_EXPECT_EQ(test, DAFS_OPEN_DELEGATE_NONE, deleg_open(test, b, fix, DAFS_RW));
	/* another client has it open */
	KUNIT_EXPECT_EQ(test, DAFS_OPEN_DELEGATE_NONE, deleg_open(test, a, fix, DAFS_RW));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_close(a));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_close(b));
	/* another client writes it */
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_try(b, fix, "owner", DAFS_WR, 0));
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, DAFS_OPEN_DELEGATE_NONE, deleg_open(test, a, fix, DAFS_RD));
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_close(a));
	}
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_close(b));
	/* a local program has it open */
	file = dafs_backing_open(fix, "file", O_RDONLY, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	KUNIT_EXPECT_EQ(test, DAFS_OPEN_DELEGATE_NONE, deleg_open(test, a, fix, DAFS_RW));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_close(a));
	dafs_backing_close(file);
	/* a new file; one that is only written */
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_open_args(a, fix, "new", &create));
	KUNIT_EXPECT_EQ(test, DAFS_OPEN_DELEGATE_NONE, a->open.delegation_type);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_close(a));
	KUNIT_EXPECT_EQ(test, DAFS_OPEN_DELEGATE_NONE, deleg_open(test, a, fix, DAFS_WR));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_close(a));
	/* the administrator does not want it */
	WRITE_ONCE(dafsd_max_delegations, 0);
	KUNIT_EXPECT_EQ(test, DAFS_OPEN_DELEGATE_NONE, deleg_open(test, a, fix, DAFS_RW));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_close(a));
	WRITE_ONCE(dafsd_max_delegations, 1);
	KUNIT_EXPECT_EQ(test, DAFS_OPEN_DELEGATE_WRITE, deleg_open(test, a, fix, DAFS_RW));
	/* it has one already; and so many it may have */
	KUNIT_EXPECT_EQ(test, DAFS_OPEN_DELEGATE_NONE, deleg_open(test, a, fix, DAFS_RW));
	dafs_backing_write(test, fix, "second", "content", 7);
	create = dafs_test_open_args("owner", DAFS_RW, 0);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_open_args(a, fix, "second", &create));
	KUNIT_EXPECT_EQ(test, DAFS_OPEN_DELEGATE_NONE, a->open.delegation_type);
}

/* After a recall the file is left alone for a while. */
static void dafs_deleg_rest_test(struct kunit *test)
{
	struct deleg_client *a = deleg_new(test), *b = deleg_new(test);
	struct dafs_fixture *fix = deleg_writer(test, a, b);

	WRITE_ONCE(dafsd_deleg_rest_seconds, 3600);
	DAFS_EXPECT_STATUS(test, DAFSERR_DELAY, deleg_try(b, fix, "r", DAFS_RD, 0));
	deleg_recalled(test, a, DAFS_STATUS_OK);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_close(a));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_return(a));
	KUNIT_EXPECT_EQ(test, DAFS_OPEN_DELEGATE_NONE, deleg_open(test, a, fix, DAFS_RW));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_close(a));
	WRITE_ONCE(dafsd_deleg_rest_seconds, 0);
	deleg_must_get(test, a, fix);
}

/* Changes of a file and its names, by whoever */
static dafs_status_t deleg_chmod(struct deleg_client *client, struct dafs_fixture *fix)
{
	struct dafs_setattr_inline_args args = {
		.filehandle = dafs_test_lookup(fix->test, fix, "file"),
		.obj_attributes = {
			.included = DAFS_FATTR_MODE,
			.valid = DAFS_FATTR_MODE,
			.mode = 0640,
		},
	};

	return deleg_call(client, DAFS_PROC_SETATTR_INLINE, &args, NULL);
}

static dafs_status_t deleg_truncate(struct deleg_client *client, struct dafs_fixture *fix)
{
	struct dafs_setattr_inline_args args = {
		.filehandle = dafs_test_lookup(fix->test, fix, "file"),
		.obj_attributes = {
			.included = DAFS_FATTR_OBJECT_SIZE,
			.valid = DAFS_FATTR_OBJECT_SIZE,
			.object_size = 3,
		},
	};

	return deleg_call(client, DAFS_PROC_SETATTR_INLINE, &args, NULL);
}

static dafs_status_t deleg_read(struct deleg_client *client, struct dafs_fixture *fix)
{
	struct dafs_read_inline_args args = {
		.filehandle = dafs_test_lookup(fix->test, fix, "file"),
		.byte_count = 3,
	};

	return deleg_call(client, DAFS_PROC_READ_INLINE, &args, NULL);
}

static dafs_status_t deleg_lockt(struct deleg_client *client, struct dafs_fixture *fix)
{
	struct dafs_lockt_args args = {
		.filehandle = dafs_test_lookup(fix->test, fix, "file"),
		.lock_type = DAFS_WRITE_LT,
		.owner = dafs_test_str("somebody"),
		.length = DAFS_LOCK_TO_EOF,
	};

	return deleg_call(client, DAFS_PROC_LOCKT, &args, NULL);
}

static dafs_status_t deleg_link(struct deleg_client *client, struct dafs_fixture *fix)
{
	struct dafs_link_args args = {
		.source_object = dafs_test_lookup(fix->test, fix, "file"),
		.destination_object = fix->dir,
		.newname = dafs_test_str("link"),
	};

	return deleg_call(client, DAFS_PROC_LINK, &args, NULL);
}

static dafs_status_t deleg_rename(struct deleg_client *client, struct dafs_fixture *fix)
{
	struct dafs_rename_args args = {
		.sourcedir = fix->dir,
		.oldname = dafs_test_str("file"),
		.targetdir = fix->dir,
		.newname = dafs_test_str("renamed"),
	};

	return deleg_call(client, DAFS_PROC_RENAME, &args, NULL);
}

static dafs_status_t deleg_remove(struct deleg_client *client, struct dafs_fixture *fix)
{
	struct dafs_remove_args args = {
		.filehandle = fix->dir,
		.target = dafs_test_str("file"),
	};

	return deleg_call(client, DAFS_PROC_REMOVE, &args, NULL);
}

static dafs_status_t (* const deleg_conflicts[])(struct deleg_client *client,
						 struct dafs_fixture *fix) = {
	deleg_chmod, deleg_truncate, deleg_read, deleg_lockt, deleg_link, deleg_rename,
	deleg_remove,
};

/* What others do to a file or its names waits for the delegate. */
static void dafs_deleg_conflicts_test(struct kunit *test)
{
	struct deleg_client *a = deleg_new(test), *b = deleg_new(test);
	struct dafs_fixture *fix = deleg_fixture(test, a);
	unsigned int i;

	deleg_connect(test, b, NULL, false);
	for (i = 0; i < ARRAY_SIZE(deleg_conflicts); i++) {
		dafs_backing_write(test, fix, "file", "content", 7);
		deleg_must_get(test, a, fix);
		DAFS_EXPECT_STATUS_MSG(test, DAFSERR_DELAY, deleg_conflicts[i](b, fix), "%u", i);
		deleg_recalled(test, a, DAFS_STATUS_OK);
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_return(a));
		DAFS_EXPECT_STATUS_MSG(test, DAFS_STATUS_OK, deleg_conflicts[i](b, fix), "%u", i);
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_close(a));
	}
}

/* What the delegate itself does recalls nothing, and needs not wait. */
static void dafs_deleg_own_test(struct kunit *test)
{
	struct deleg_client *a = deleg_new(test);
	struct dafs_fixture *fix = deleg_fixture(test, a);
	struct dafs_remove_args remove = { .filehandle = fix->dir };
	struct dafs_state_id state_id;
	unsigned int i;

	KUNIT_ASSERT_EQ(test, DAFS_OPEN_DELEGATE_WRITE, deleg_open(test, a, fix, DAFS_RW));
	state_id = a->open.deleg_state_id;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_try(a, fix, "other", DAFS_RD, 0));
	for (i = 0; i < ARRAY_SIZE(deleg_conflicts); i++) {
		if (deleg_conflicts[i] == deleg_remove)
			remove.target = dafs_test_str("renamed");
		DAFS_EXPECT_STATUS_MSG(test, DAFS_STATUS_OK, remove.target.len ?
				       deleg_call(a, DAFS_PROC_REMOVE, &remove, NULL) :
				       deleg_conflicts[i](a, fix), "%u", i);
	}
	deleg_not_recalled(test, a);
	a->open.deleg_state_id = state_id;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_return(a));
}

/* A client that knows of the recall but does not return the delegation loses it. */
static void dafs_deleg_revoke_test(struct kunit *test)
{
	struct deleg_client *a = deleg_new(test), *b = deleg_new(test);
	struct dafs_fixture *fix = deleg_writer(test, a, b);
	unsigned long since = jiffies;
	dafs_status_t status;

	dafs_fixture_lease(test, fix, DELEG_SHORT);
	DAFS_EXPECT_STATUS(test, DAFSERR_DELAY, deleg_try(b, fix, "owner", DAFS_RD, 0));
	deleg_recalled(test, a, DAFS_STATUS_OK);
	do {
		/* it is alive */
		DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
				   raw_call(a->op, DAFS_PROC_NULL, NULL, NULL));
		status = deleg_try(b, fix, "owner", DAFS_RD, 0);
		msleep(20);
	} while (status == DAFSERR_DELAY &&
		 time_before(jiffies, since + msecs_to_jiffies(RAW_WAIT_MS)));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, status);
	KUNIT_EXPECT_TRUE(test, time_after(jiffies, since + DELEG_SHORT * HZ / 2));
	DAFS_EXPECT_STATUS(test, DAFSERR_EXPIRED, deleg_return(a));
	/* its open is still there */
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_close(a));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_close(b));
	/* it is not given another one for a lease period */
	dafs_fixture_server_param(test, &dafsd_lease_seconds, 3600);
	flush_workqueue(dafsd_close_wq);
	KUNIT_EXPECT_EQ(test, DAFS_OPEN_DELEGATE_NONE, deleg_open(test, a, fix, DAFS_RW));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_close(a));
	dafs_fixture_server_param(test, &dafsd_lease_seconds, DELEG_SHORT);
	deleg_must_get(test, a, fix);
}

/* A recall may overtake the response of the OPEN: the client is asked again. */
static void dafs_deleg_disown_test(struct kunit *test)
{
	struct deleg_client *a = deleg_new(test), *b = deleg_new(test);
	struct dafs_fixture *fix = deleg_writer(test, a, b);
	unsigned int i;

	DAFS_EXPECT_STATUS(test, DAFSERR_DELAY, deleg_try(b, fix, "owner", DAFS_RD, 0));
	for (i = 0; i < 3; i++)
		deleg_recalled(test, a, i & 1 ? DAFSERR_BADHANDLE : DAFSERR_BAD_STATEID);
	DAFS_EXPECT_STATUS(test, DAFSERR_DELAY, deleg_try(b, fix, "owner", DAFS_RD, 0));
	deleg_recalled(test, a, DAFSERR_RESOURCE);
	deleg_recalled(test, a, DAFS_STATUS_OK);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_return(a));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_try(b, fix, "owner", DAFS_RD, 0));
}

/* What it still does not know after some time it does not have. */
static void dafs_deleg_unknown_test(struct kunit *test)
{
	struct deleg_client *a = deleg_new(test), *b = deleg_new(test);
	struct dafs_fixture *fix = deleg_writer(test, a, b);
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	struct dafs_req_hdr hdr;
	struct raw_msg *msg;
	dafs_status_t status;

	do {
		status = deleg_try(b, fix, "owner", DAFS_RD, 0);
		msg = raw_recv(a->bc, 20);
		if (!msg)
			continue;
		KUNIT_EXPECT_EQ(test, 0, raw_get_hdr(a->bc, msg, &hdr));
		kfree(msg);
		raw_answer(a->bc, &hdr, DAFSERR_BADHANDLE, 2, NULL);
	} while (status == DAFSERR_DELAY && time_before(jiffies, end));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, status);
	DAFS_EXPECT_STATUS(test, DAFSERR_EXPIRED, deleg_return(a));
}

/* Without its channel the delegate cannot be told, until there is another one. */
static void dafs_deleg_rebind_test(struct kunit *test)
{
	struct deleg_client *a = deleg_new(test), *b = deleg_new(test);
	struct dafs_fixture *fix = deleg_writer(test, a, b);

	raw_close(test, a->bc);
	DAFS_EXPECT_STATUS(test, DAFSERR_DELAY, deleg_try(b, fix, "owner", DAFS_RD, 0));
	deleg_bind(test, a);
	deleg_recalled(test, a, DAFS_STATUS_OK);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_return(a));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_try(b, fix, "owner", DAFS_RD, 0));
}

/* The channel ends while the client owes an answer: it is told by another session. */
static void dafs_deleg_session_test(struct kunit *test)
{
	struct deleg_client *a = deleg_new(test), *b = deleg_new(test), *second = deleg_new(test);
	struct dafs_fixture *fix = deleg_writer(test, a, b);
	struct raw_msg *msg;

	DAFS_EXPECT_STATUS(test, DAFSERR_DELAY, deleg_try(b, fix, "owner", DAFS_RD, 0));
	msg = raw_recv(a->bc, RAW_WAIT_MS);
	KUNIT_ASSERT_NOT_NULL(test, msg);
	kfree(msg);
	deleg_connect(test, second, a->login.id, true);
	raw_close(test, a->bc);
	second->open = a->open;
	deleg_recalled(test, second, DAFS_STATUS_OK);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_return(second));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_try(b, fix, "owner", DAFS_RD, 0));
}

/* A new instance of the client does not have what the former one had. */
static void dafs_deleg_reboot_test(struct kunit *test)
{
	struct deleg_client *a = deleg_new(test), *b = deleg_new(test), *again;
	struct dafs_fixture *fix = deleg_writer(test, a, b);
	struct dafs_open_args args = dafs_test_open_args("owner", DAFS_RW, 0);

	again = deleg_reboot(test, a);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_again(test, b, fix, DAFS_RD));
	args.claim_type = DAFS_CLAIM_DELEGATE_PREV;
	DAFS_EXPECT_STATUS(test, DAFSERR_NOTSUPP, deleg_open_args(again, fix, "file", &args));
}

/* An open of the delegate, perhaps used by no program, is no reason to deny anything. */
static void dafs_deleg_share_test(struct kunit *test)
{
	struct deleg_client *a = deleg_new(test), *b = deleg_new(test);
	struct dafs_fixture *fix = deleg_writer(test, a, b);
	struct dafs_remove_args remove = {
		.filehandle = fix->dir,
		.target = dafs_test_str("file"),
		.remove_mode = DAFS_REMOVE_CHECK_OPEN,
	};

	DAFS_EXPECT_STATUS(test, DAFSERR_DELAY,
			   deleg_try(b, fix, "o", DAFS_RD, DAFS_OPEN_SHARE_DENY_WRITE));
	deleg_recalled(test, a, DAFS_STATUS_OK);
	DAFS_EXPECT_STATUS(test, DAFSERR_DELAY,
			   deleg_call(b, DAFS_PROC_REMOVE, &remove, NULL));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_return(a));
	/* now it counts */
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED,
			   deleg_try(b, fix, "o", DAFS_RD, DAFS_OPEN_SHARE_DENY_WRITE));
	DAFS_EXPECT_STATUS(test, DAFSERR_DENYDISP_CONFLICT,
			   deleg_call(b, DAFS_PROC_REMOVE, &remove, NULL));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_close(a));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   deleg_try(b, fix, "o", DAFS_RD, DAFS_OPEN_SHARE_DENY_WRITE));
}

/* CLAIM_DELEGATE_CUR: what was opened by the delegation alone, while others wait for it */
static void dafs_deleg_claim_test(struct kunit *test)
{
	struct deleg_client *a = deleg_new(test), *b = deleg_new(test);
	struct dafs_fixture *fix = deleg_writer(test, a, b);
	struct dafs_open_args args = dafs_test_open_args("local", DAFS_RW, 0);
	struct dafs_open_res had = a->open;

	dafs_backing_write(test, fix, "second", "content", 7);
	args.claim_type = DAFS_CLAIM_DELEGATE_CUR;
	args.claimdelcur_stateid = had.deleg_state_id;
	DAFS_EXPECT_STATUS(test, DAFSERR_DELAY, deleg_try(b, fix, "owner", DAFS_RD, 0));
	deleg_recalled(test, a, DAFS_STATUS_OK);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_open_args(a, fix, "file", &args));
	KUNIT_EXPECT_EQ(test, DAFS_OPEN_DELEGATE_NONE, a->open.delegation_type);
	KUNIT_EXPECT_MEMEQ(test, &had.filehandle, &a->open.filehandle, sizeof(had.filehandle));
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_STATEID, deleg_open_args(a, fix, "second", &args));
	args.claimdelcur_stateid = had.state_id;
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_STATEID, deleg_open_args(a, fix, "file", &args));
	args.claimdelcur_stateid = had.deleg_state_id;
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_STATEID, deleg_open_args(b, fix, "file", &args));
	a->open = had;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_return(a));
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_STATEID, deleg_open_args(a, fix, "file", &args));
}

/* R-6.5.11-02: a state-id of something else; locks by a delegation */
static void dafs_deleg_wrong_test(struct kunit *test)
{
	struct deleg_client *a = deleg_new(test), *b = deleg_new(test);
	struct dafs_lock_args lock = { .lock_type = DAFS_WRITE_LT, .length = 1 };
	struct dafs_open_res had;

	deleg_writer(test, a, b);
	had = a->open;
	lock.filehandle = had.filehandle;
	lock.state_id = had.deleg_state_id;
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_STATEID, deleg_call(a, DAFS_PROC_LOCK, &lock, NULL));
	a->open.deleg_state_id = had.state_id;
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_STATEID, deleg_return(a));
	a->open.deleg_state_id = (struct dafs_state_id) {};
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_STATEID, deleg_return(a));
	memset(&a->open.deleg_state_id, 0xff, sizeof(a->open.deleg_state_id));
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_STATEID, deleg_return(a));
	a->open.deleg_state_id = had.deleg_state_id;
	a->open.deleg_state_id.b[0] ^= 1;
	DAFS_EXPECT_STATUS(test, DAFSERR_STALE_STATEID, deleg_return(a));
	b->open = had;
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_STATEID, deleg_return(b));
	b->open.state_id = had.deleg_state_id;
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_STATEID, deleg_close(b));
	a->open = had;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_return(a));
}

/* GETATTR of "file", which waits for the delegate */
static void deleg_ask(struct kunit *test, struct deleg_client *client, struct dafs_fixture *fix)
{
	struct dafs_getattr_args args = {
		.filehandle = dafs_test_lookup(test, fix, "file"),
		.attr_request_bitmap = DELEG_ATTRS | DAFS_FATTR_MODE,
	};
	struct dafs_req_hdr hdr = raw_hdr(client->op, DAFS_PROC_GETATTR_INLINE);

	memcpy(hdr.cred_handle, client->handle, sizeof(hdr.cred_handle));
	raw_ask(client->op, &hdr, &args);
}

static dafs_status_t deleg_told(struct kunit *test, struct deleg_client *client,
				struct dafs_fattr *attr)
{
	struct raw_msg *msg = raw_recv(client->op, RAW_WAIT_MS);
	struct dafs_getattr_res res = {};
	struct dafs_buf buf = { .swab = client->op->swab };
	struct dafs_res_hdr hdr = {};

	KUNIT_ASSERT_NOT_NULL(test, msg);
	buf.base = msg->data;
	buf.len = msg->len;
	KUNIT_EXPECT_EQ(test, 0, dafs_get_res_hdr(&buf, &hdr));
	if (!hdr.status)
		KUNIT_EXPECT_EQ(test, 0, dafs_decode_res(&buf, DAFS_PROC_GETATTR_INLINE, &res));
	*attr = res.obj_attributes;
	kfree(msg);
	return hdr.status;
}

/* The next directive is a BC_GETATTR of what @client has; filled with the way to answer. */
static void deleg_asked(struct kunit *test, struct deleg_client *client, u64 wanted,
			struct dafs_req_hdr *hdr)
{
	struct raw_msg *msg = raw_recv(client->bc, RAW_WAIT_MS);
	struct dafs_getattr_args args = {};
	struct dafs_buf buf = { .swab = client->bc->swab };

	KUNIT_ASSERT_NOT_NULL(test, msg);
	KUNIT_EXPECT_EQ(test, 0, raw_get_hdr(client->bc, msg, hdr));
	KUNIT_EXPECT_EQ(test, DAFS_PROC_BC_GETATTR, hdr->procedure);
	buf.base = msg->data;
	buf.len = msg->len;
	KUNIT_EXPECT_EQ(test, 0, dafs_decode_args(&buf, hdr->procedure, &args));
	KUNIT_EXPECT_MEMEQ(test, &args.filehandle, &client->open.filehandle,
			   sizeof(args.filehandle));
	KUNIT_EXPECT_EQ(test, wanted, args.attr_request_bitmap);
	kfree(msg);
}

/* Another client is told what the delegate knows, and all else by the file system. */
static void dafs_deleg_getattr_test(struct kunit *test)
{
	struct deleg_client *a = deleg_new(test), *b = deleg_new(test);
	struct dafs_fixture *fix = deleg_writer(test, a, b);
	struct dafs_getattr_res answer = {
		.obj_attributes = {
			.included = DAFS_FATTR_OBJECT_SIZE | DAFS_FATTR_TIME_MODIFY |
				    DAFS_FATTR_CHANGE,
			.valid = DAFS_FATTR_OBJECT_SIZE | DAFS_FATTR_TIME_MODIFY |
				 DAFS_FATTR_CHANGE,
			.change = U64_MAX,
			.object_size = 12345,
			.time_modify = { .seconds = 1000000, .nseconds = 5 },
		},
	};
	struct dafs_req_hdr hdr;
	struct dafs_fattr attr;

	deleg_ask(test, b, fix);
	deleg_asked(test, a, DELEG_ATTRS, &hdr);
	raw_answer(a->bc, &hdr, DAFS_STATUS_OK, 2, &answer);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_told(test, b, &attr));
	KUNIT_EXPECT_EQ(test, 12345, attr.object_size);
	KUNIT_EXPECT_EQ(test, 1000000, attr.time_modify.seconds);
	KUNIT_EXPECT_EQ(test, 5, attr.time_modify.nseconds);
	KUNIT_EXPECT_TRUE(test, attr.valid & DAFS_FATTR_MODE);
	KUNIT_EXPECT_EQ(test, U64_MAX, attr.change);
	/* the change attribute does not go back */
	answer.obj_attributes.change = 1;
	deleg_ask(test, b, fix);
	deleg_asked(test, a, DELEG_ATTRS, &hdr);
	raw_answer(a->bc, &hdr, DAFS_STATUS_OK, 2, &answer);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_told(test, b, &attr));
	KUNIT_EXPECT_GT(test, attr.change, 1);
	/* the delegate itself is not asked */
	deleg_ask(test, a, fix);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_told(test, a, &attr));
	KUNIT_EXPECT_EQ(test, 7, attr.object_size);
	deleg_not_recalled(test, a);
}

/* VERIFY or NVERIFY of the size of "file", for which the delegate is asked */
static dafs_status_t deleg_verify(struct kunit *test, struct deleg_client *a,
				  struct deleg_client *b, struct dafs_fixture *fix, u32 proc,
				  u64 size)
{
	struct dafs_getattr_res answer = {
		.obj_attributes = {
			.included = DAFS_FATTR_OBJECT_SIZE,
			.valid = DAFS_FATTR_OBJECT_SIZE,
			.object_size = 12345,
		},
	};
	struct dafs_verify_args args = {
		.filehandle = dafs_test_lookup(test, fix, "file"),
		.obj_attributes = {
			.included = DAFS_FATTR_OBJECT_SIZE,
			.valid = DAFS_FATTR_OBJECT_SIZE,
			.object_size = size,
		},
	};
	struct dafs_req_hdr hdr = raw_hdr(b->op, proc);

	memcpy(hdr.cred_handle, b->handle, sizeof(hdr.cred_handle));
	raw_ask(b->op, &hdr, &args);
	deleg_asked(test, a, DAFS_FATTR_OBJECT_SIZE, &hdr);
	raw_answer(a->bc, &hdr, DAFS_STATUS_OK, 2, &answer);
	return raw_recv_status(b->op, RAW_WAIT_MS, &(struct dafs_res_hdr){});
}

/* What is compared is what a GETATTR would tell. */
static void dafs_deleg_verify_test(struct kunit *test)
{
	struct deleg_client *a = deleg_new(test), *b = deleg_new(test);
	struct dafs_fixture *fix = deleg_writer(test, a, b);

	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   deleg_verify(test, a, b, fix, DAFS_PROC_VERIFY, 12345));
	DAFS_EXPECT_STATUS(test, DAFSERR_NOT_SAME,
			   deleg_verify(test, a, b, fix, DAFS_PROC_VERIFY, 7));
	DAFS_EXPECT_STATUS(test, DAFSERR_SAME,
			   deleg_verify(test, a, b, fix, DAFS_PROC_NVERIFY, 12345));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   deleg_verify(test, a, b, fix, DAFS_PROC_NVERIFY, 7));
	deleg_not_recalled(test, a);
}

/* A delegate that does not know, does not answer, or goes meanwhile */
static void dafs_deleg_getattr_fails_test(struct kunit *test)
{
	struct deleg_client *a = deleg_new(test), *b = deleg_new(test);
	struct dafs_fixture *fix = deleg_writer(test, a, b);
	struct dafs_req_hdr hdr;
	struct dafs_fattr attr;

	deleg_ask(test, b, fix);
	deleg_asked(test, a, DELEG_ATTRS, &hdr);
	raw_answer(a->bc, &hdr, DAFSERR_BADHANDLE, 2, NULL);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_told(test, b, &attr));
	KUNIT_EXPECT_EQ(test, 7, attr.object_size);
	deleg_ask(test, b, fix);
	deleg_asked(test, a, DELEG_ATTRS, &hdr);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_told(test, b, &attr));
	KUNIT_EXPECT_EQ(test, 7, attr.object_size);
	raw_answer(a->bc, &hdr, DAFSERR_BADHANDLE, 2, NULL);
	deleg_ask(test, b, fix);
	deleg_asked(test, a, DELEG_ATTRS, &hdr);
	raw_close(test, a->bc);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_told(test, b, &attr));
	KUNIT_EXPECT_EQ(test, 7, attr.object_size);
	/* there is no way to ask */
	deleg_ask(test, b, fix);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_told(test, b, &attr));
	/* who asks goes, too */
	deleg_bind(test, a);
	deleg_ask(test, b, fix);
	deleg_asked(test, a, DELEG_ATTRS, &hdr);
	raw_close(test, b->op);
	raw_answer(a->bc, &hdr, DAFSERR_BADHANDLE, 2, NULL);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_return(a));
}

/* What a delegate has told of a delegation that has ended since is not believed. */
static void dafs_deleg_getattr_late_test(struct kunit *test)
{
	struct deleg_client *a = deleg_new(test), *b = deleg_new(test);
	struct dafs_fixture *fix = deleg_writer(test, a, b);
	struct dafs_getattr_res answer = {
		.obj_attributes = {
			.included = DAFS_FATTR_OBJECT_SIZE,
			.valid = DAFS_FATTR_OBJECT_SIZE,
			.object_size = 12345,
		},
	};
	struct dafs_req_hdr hdr;
	struct dafs_fattr attr;

	deleg_ask(test, b, fix);
	deleg_asked(test, a, DELEG_ATTRS, &hdr);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_return(a));
	raw_answer(a->bc, &hdr, DAFS_STATUS_OK, 2, &answer);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_told(test, b, &attr));
	KUNIT_EXPECT_EQ(test, 7, attr.object_size);
}

/*
 * A client that does not even answer loses the delegation like one that does not return it, and
 * its session, too, by which it learns that.
 */
static void dafs_deleg_silent_test(struct kunit *test)
{
	struct deleg_client *a = deleg_new(test), *b = deleg_new(test);
	struct dafs_fixture *fix = deleg_writer(test, a, b);
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	dafs_status_t status;
	bool alive;

	dafs_fixture_lease(test, fix, DELEG_SHORT);
	do {
		alive = !raw_call(a->op, DAFS_PROC_NULL, NULL, NULL);
		status = deleg_try(b, fix, "owner", DAFS_RD, 0);
		if (status == DAFSERR_DELAY)
			KUNIT_ASSERT_TRUE(test, alive);
		msleep(20);
	} while (status == DAFSERR_DELAY && time_before(jiffies, end));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, status);
	while (alive && time_before(jiffies, end)) {
		msleep(20);
		alive = !raw_call(a->op, DAFS_PROC_NULL, NULL, NULL);
	}
	KUNIT_EXPECT_FALSE(test, alive);
}

/* Its recall waits for dafsd_server.clients_lock, to end its client, which lives. */
static bool deleg_is_late(struct kunit *test, struct deleg_client *client,
			  struct dafsd_deleg *deleg)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	unsigned int looks = 0;

	while (looks < 5 && time_before(jiffies, end)) {
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
				   raw_call(client->op, DAFS_PROC_NULL, NULL, NULL));
		if (test_bit(DAFSD_DELEG_LAST, &deleg->flags) &&
		    work_busy(&deleg->recall.work) == WORK_BUSY_RUNNING)
			looks++;
		else
			looks = 0;
		msleep(20);
	}
	return looks == 5;
}

static bool deleg_is_told(const struct dafsd_deleg *deleg)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);

	while (!test_bit(DAFSD_DELEG_TOLD, &deleg->flags) && time_before(jiffies, end))
		msleep(20);
	return test_bit(DAFSD_DELEG_TOLD, &deleg->flags);
}

/* A client that answers when it is just about to be ended for its silence is not. */
static void dafs_deleg_last_test(struct kunit *test)
{
	struct deleg_client *a = deleg_new(test), *b = deleg_new(test);
	struct dafs_fixture *fix = deleg_writer(test, a, b);
	struct dafsd_state *st = dafsd_state_get(&a->open.deleg_state_id);
	struct dafsd_deleg *deleg = container_of(st, struct dafsd_deleg, state);
	struct dafs_req_hdr hdr;
	struct raw_msg *msg;

	KUNIT_ASSERT_NOT_NULL(test, st);
	dafs_fixture_lease(test, fix, DELEG_SHORT);
	DAFS_EXPECT_STATUS(test, DAFSERR_DELAY, deleg_try(b, fix, "owner", DAFS_RD, 0));
	msg = raw_recv(a->bc, RAW_WAIT_MS);
	KUNIT_EXPECT_NOT_NULL(test, msg);
	if (msg) {
		KUNIT_EXPECT_EQ(test, 0, raw_get_hdr(a->bc, msg, &hdr));
		kfree(msg);
		mutex_lock(&dafsd_server.clients_lock);
		KUNIT_EXPECT_TRUE(test, deleg_is_late(test, a, deleg));
		raw_answer(a->bc, &hdr, DAFS_STATUS_OK, 2, NULL);
		KUNIT_EXPECT_TRUE(test, deleg_is_told(deleg));
		mutex_unlock(&dafsd_server.clients_lock);
		flush_work(&deleg->recall.work);
	}
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_call(a->op, DAFS_PROC_NULL, NULL, NULL));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_return(a));
	dafsd_state_put_later(st);
}

/* Who may not be read by others must know who reads it: also by a delegation alone. */
static void dafs_deleg_deny_test(struct kunit *test)
{
	struct deleg_client *a = deleg_new(test), *b = deleg_new(test);
	struct dafs_fixture *fix = deleg_fixture(test, a);

	deleg_connect(test, b, NULL, false);
	deleg_open(test, a, fix, DAFS_RD);
	KUNIT_ASSERT_EQ(test, DAFS_OPEN_DELEGATE_READ, deleg_open(test, a, fix, DAFS_RD));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_close(a));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   deleg_try(b, fix, "o", DAFS_RD, DAFS_OPEN_SHARE_DENY_WRITE));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_close(b));
	DAFS_EXPECT_STATUS(test, DAFSERR_DELAY,
			   deleg_try(b, fix, "o", DAFS_RD, DAFS_OPEN_SHARE_DENY_READ));
	deleg_recalled(test, a, DAFS_STATUS_OK);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_return(a));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   deleg_try(b, fix, "o", DAFS_RD, DAFS_OPEN_SHARE_DENY_READ));
}

/* What a delegate denies, perhaps for no program any more, is not denied to I/O without an open. */
static void dafs_deleg_deny_io_test(struct kunit *test)
{
	struct deleg_client *a = deleg_new(test), *b = deleg_new(test);
	struct dafs_fixture *fix = deleg_fixture(test, a);

	deleg_connect(test, b, NULL, false);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   deleg_try(a, fix, "owner", DAFS_RW, DAFS_OPEN_SHARE_DENY_WRITE));
	KUNIT_ASSERT_EQ(test, DAFS_OPEN_DELEGATE_WRITE, a->open.delegation_type);
	DAFS_EXPECT_STATUS(test, DAFSERR_DELAY, deleg_truncate(b, fix));
	deleg_recalled(test, a, DAFS_STATUS_OK);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_return(a));
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCKED, deleg_truncate(b, fix));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_close(a));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_truncate(b, fix));
}

/* By two exports one client sees a file as two, which it caches separately. */
static void dafs_deleg_exports_test(struct kunit *test)
{
	struct deleg_client *a = deleg_new(test);
	struct dafs_fixture *fix = deleg_fixture(test, a);
	const struct dafsd_export_conf conf = {};
	struct dafs_open_args args = dafs_test_open_args("owner", DAFS_RW, 0);
	struct dafs_str names[] = { dafs_test_str("twice"), dafs_test_str("file") };
	struct dafs_open_res first;
	struct dafsd_export *exp;
	struct dafs_fh root;

	dafs_backing_mkdir(test, fix, "dir", 0755);
	dafs_backing_link(test, fix, "file", "dir/file");
	exp = dafs_fixture_serve(test, fix, "twice", "dir", &conf);
	KUNIT_ASSERT_FALSE(test, IS_ERR(exp));
	KUNIT_ASSERT_EQ(test, 0, dafs_get_root_handle(fix->clnt, dafs_test_me(), &root));
	WRITE_ONCE(dafsd_max_delegations, 0);
	deleg_open(test, a, fix, DAFS_RW);
	first = a->open;
	WRITE_ONCE(dafsd_max_delegations, 100);
	args.dir_handle = root;
	args.pathname = (struct dafs_seq) { .count = 2, .elems = names };
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   deleg_call(a, DAFS_PROC_OPEN, &args, &a->open));
	KUNIT_EXPECT_EQ(test, DAFS_OPEN_DELEGATE_NONE, a->open.delegation_type);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_close(a));
	/* nor is what is delegated by one used by the other */
	a->open = first;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_close(a));
	deleg_must_get(test, a, fix);
	first = a->open;
	DAFS_EXPECT_STATUS(test, DAFSERR_DELAY, deleg_call(a, DAFS_PROC_OPEN, &args, &a->open));
	a->open = first;
	deleg_recalled(test, a, DAFS_STATUS_OK);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, deleg_return(a));
	dafsd_export_withdraw(exp);
}

static struct kunit_case dafs_deleg_cases[] = {
	KUNIT_CASE_PARAM(dafs_deleg_read_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_deleg_nodes_test),
	KUNIT_CASE_PARAM(dafs_deleg_write_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_deleg_wait_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_deleg_wait_chain_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_deleg_execute_test),
	KUNIT_CASE(dafs_deleg_direct_test),
	KUNIT_CASE_PARAM(dafs_deleg_none_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_deleg_rest_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_deleg_conflicts_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_deleg_own_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_deleg_revoke_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_deleg_disown_test, dafs_flavours_gen),
	KUNIT_CASE_SLOW(dafs_deleg_unknown_test),
	KUNIT_CASE_PARAM(dafs_deleg_rebind_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_deleg_session_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_deleg_reboot_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_deleg_share_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_deleg_claim_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_deleg_wrong_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_deleg_getattr_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_deleg_verify_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_deleg_getattr_fails_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_deleg_getattr_late_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_deleg_silent_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_deleg_last_test),
	KUNIT_CASE_PARAM(dafs_deleg_deny_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_deleg_deny_io_test),
	KUNIT_CASE_PARAM(dafs_deleg_exports_test, dafs_flavours_gen),
	{}
};

static struct kunit_suite dafs_deleg_suite = {
	.name = "dafs_deleg",
	.test_cases = dafs_deleg_cases,
};

kunit_test_suite(dafs_deleg_suite);
