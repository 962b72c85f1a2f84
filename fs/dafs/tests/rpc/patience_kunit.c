// SPDX-License-Identifier: GPL-2.0
/*
 * How long the client retries I/O: with a server that refuses it temporarily, and with
 * one that is away; neither delays other I/O.
 */
#include <linux/slab.h>
#include <linux/uio.h>
#include "../lib/io_test.h"
#include "../lib/raw.h"

#define PATIENCE_BYTES	100

/* More refusals than a soft mount retries. */
#define PATIENCE_REFUSALS	5

/* More than the retries of one registration of a credential. */
#define PATIENCE_DAMAGES	10

/**
 * struct patience - behaviour of the server
 * @status: its answer to writes and COMMIT
 * @times: how often; then they succeed
 * @damaged: number of REGISTER_CRED answered with CHKSUM
 * @registered: number of REGISTER_CRED so far
 * @silent: does not answer writes and COMMIT
 */
struct patience {
	dafs_status_t status;
	atomic_t times;
	atomic_t damaged;
	atomic_t registered;
	bool silent;
};

static void patience_answer(struct raw_conn *conn, const struct dafs_req_hdr *hdr,
			    dafs_status_t status)
{
	struct dafs_write_res written = {
		.count = PATIENCE_BYTES,
		.committed = DAFS_DATA_SYNC,
	};
	struct dafs_commit_res committed = {};
	void *res = hdr->procedure == DAFS_PROC_COMMIT ? (void *)&committed : &written;

	raw_answer(conn, hdr, status, conn->srv->opts.max_requests, status ? NULL : res);
}

static void patience_serve(struct raw_conn *conn, struct raw_msg *msg)
{
	struct patience *p = conn->srv->priv;
	struct dafs_req_hdr hdr;

	if (raw_get_hdr(conn, msg, &hdr))
		return;
	if (hdr.procedure == DAFS_PROC_REGISTER_CRED)
		atomic_inc(&p->registered);
	if (hdr.procedure == DAFS_PROC_REGISTER_CRED &&
	    atomic_dec_if_positive(&p->damaged) >= 0)
		patience_answer(conn, &hdr, DAFSERR_CHKSUM);
	else if (hdr.procedure != DAFS_PROC_WRITE_INLINE && hdr.procedure != DAFS_PROC_COMMIT)
		raw_serve_request(conn, msg);
	else if (!READ_ONCE(p->silent))
		patience_answer(conn, &hdr, atomic_dec_if_positive(&p->times) >= 0 ?
					    p->status : DAFS_STATUS_OK);
}

static struct raw_server *patience_server(struct kunit *test, bool soft)
{
	struct patience *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);
	struct raw_server *srv = raw_server(test);

	KUNIT_ASSERT_NOT_NULL(test, p);
	srv->priv = p;
	srv->request = patience_serve;
	srv->params.soft = soft;
	srv->params.timeo_ms = RAW_WAIT_MS;
	return srv;
}

static void patience_refuse(struct raw_server *srv, dafs_status_t status)
{
	struct patience *p = srv->priv;

	p->status = status;
	atomic_set(&p->times, PATIENCE_REFUSALS);
}

/**
 * struct patience_case - a status that does not refuse the data itself
 * @status: the status
 * @soft: errno on a soft mount
 */
struct patience_case {
	dafs_status_t status;
	int soft;
};

static const struct patience_case patience_cases[] = {
	{ DAFSERR_RESOURCE, -ENOMEM },
	{ DAFSERR_CHKSUM, -EIO },
	{ DAFSERR_NO_CREDS, -EIO },
};

static void patience_describe(const struct patience_case *c, char *desc)
{
	strscpy(desc, dafs_status_name(c->status), KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(patience, patience_cases, patience_describe);

/*
 * A hard mount retries writes until the server returns a final error.  A credential
 * handle that the server does not know is not used again.
 */
static void dafs_patience_write_test(struct kunit *test)
{
	const struct patience_case *c = test->param_value;
	struct raw_server *srv = patience_server(test, false);
	struct patience *p = srv->priv;
	const struct dafs_fh fh = {};
	struct dafs_verifier verf;
	struct dafs_test_file *file;
	u8 data[PATIENCE_BYTES] = {};

	file = dafs_test_file(test, dafs_fixture_client(test, &srv->params), &fh);
	patience_refuse(srv, c->status);
	KUNIT_EXPECT_EQ(test, 0, dafs_test_file_write(file, data, sizeof(data), 0));
	KUNIT_EXPECT_EQ(test, c->status == DAFSERR_NO_CREDS ? PATIENCE_REFUSALS + 1 : 1,
			atomic_read(&p->registered));
	patience_refuse(srv, c->status);
	KUNIT_EXPECT_EQ(test, 0, dafs_commit(file->sbi.clnt, dafs_test_me(), &fh, 0, 0, &verf));
	patience_refuse(srv, DAFSERR_NOSPC);
	KUNIT_EXPECT_EQ(test, -ENOSPC, dafs_test_file_write(file, data, sizeof(data), 0));
}

/* A soft mount does not. */
static void dafs_patience_soft_test(struct kunit *test)
{
	const struct patience_case *c = test->param_value;
	struct raw_server *srv = patience_server(test, true);
	const struct dafs_fh fh = {};
	struct dafs_test_file *file;
	u8 data[PATIENCE_BYTES] = {};

	file = dafs_test_file(test, dafs_fixture_client(test, &srv->params), &fh);
	patience_refuse(srv, c->status);
	KUNIT_EXPECT_EQ(test, c->soft, dafs_test_file_write(file, data, sizeof(data), 0));
}

/* A checksum error of REGISTER_CRED does not make the write fail. */
static void dafs_patience_cred_test(struct kunit *test)
{
	const struct cred *user = dafs_fixture_user(test, 1234, 1234);
	struct raw_server *srv = patience_server(test, false);
	struct patience *p = srv->priv;
	const struct dafs_fh fh = {};
	struct dafs_verifier verf;
	struct dafs_test_file *file;
	u8 data[PATIENCE_BYTES] = {};

	file = dafs_test_file(test, dafs_fixture_client(test, &srv->params), &fh);
	atomic_set(&p->damaged, PATIENCE_DAMAGES);
	KUNIT_EXPECT_EQ(test, 0, dafs_test_file_write(file, data, sizeof(data), 0));
	KUNIT_EXPECT_EQ(test, -1, atomic_dec_if_positive(&p->damaged));
	atomic_set(&p->damaged, PATIENCE_DAMAGES);
	KUNIT_EXPECT_EQ(test, 0, dafs_commit(file->sbi.clnt, user, &fh, 0, 0, &verf));
	KUNIT_EXPECT_EQ(test, -1, atomic_dec_if_positive(&p->damaged));
}

/**
 * struct patience_killed - an operation that waits for other tasks to register
 * its credential
 * @op: the operation
 * @left: number of attempts that fail because those tasks are killed
 */
struct patience_killed {
	struct dafs_op op;
	int left;
};

/* In place of the lookup of the credential handle. */
static int patience_kill(struct dafs_op *op, struct dafs_call *call)
{
	struct patience_killed *k = container_of(op, struct patience_killed, op);

	return k->left-- > 0 ? -ERESTARTSYS : 0;
}

/* A task that cannot be killed retries, if the operation does, although other tasks are killed. */
static void dafs_patience_killed_test(struct kunit *test)
{
	struct raw_server *srv = patience_server(test, false);
	struct dafs_client *clnt = dafs_fixture_client(test, &srv->params);
	struct patience_killed k = {
		.op = { .proc = DAFS_PROC_NULL, .prepare = patience_kill },
		.left = 2,
	};

	KUNIT_ASSERT_TRUE(test, current->flags & PF_KTHREAD);
	KUNIT_EXPECT_EQ(test, -ERESTARTSYS, dafs_op_run(clnt, &k.op));
	dafs_op_end(&k.op);
	KUNIT_EXPECT_EQ(test, 1, k.left);
	k.op.retry_nomem = true;
	KUNIT_EXPECT_EQ(test, 0, dafs_op_run(clnt, &k.op));
	dafs_op_end(&k.op);
	KUNIT_EXPECT_EQ(test, -1, k.left);
}

/* Many writes at once, begun by one task */

#define PATIENCE_MANY	300	/* more than a queue has workers */

/**
 * struct patience_many - concurrent writes
 * @work: starts them
 * @begun: completed when all are started
 * @left: number not yet ended, plus one while they are started
 * @failed: number that ended with an error
 * @ended: completed when all have ended
 * @file: the file
 * @data: what to write
 * @kvec: describes @data
 * @io: the writes
 */
struct patience_many {
	struct work_struct work;
	struct completion begun;
	atomic_t left;
	atomic_t failed;
	struct completion ended;
	struct dafs_test_file *file;
	u8 data[PATIENCE_BYTES];
	struct kvec kvec;
	struct dafs_io io[PATIENCE_MANY];
};

static void patience_many_put(struct patience_many *many)
{
	if (atomic_dec_and_test(&many->left))
		complete_all(&many->ended);
}

static void patience_many_complete(struct dafs_io *io, int err)
{
	struct patience_many *many = io->priv;

	if (err)
		atomic_inc(&many->failed);
	patience_many_put(many);
}

static void patience_many_work(struct work_struct *work)
{
	struct patience_many *many = container_of(work, struct patience_many, work);
	struct dafs_io *io;

	for (io = many->io; io < many->io + PATIENCE_MANY; io++) {
		io->sbi = &many->file->sbi;
		io->di = &many->file->di;
		io->cred = dafs_test_me();
		io->write = true;
		io->stable = DAFS_DATA_SYNC;
		io->len = PATIENCE_BYTES;
		io->complete = patience_many_complete;
		io->priv = many;
		iov_iter_kvec(&io->iter, ITER_SOURCE, &many->kvec, 1, PATIENCE_BYTES);
		atomic_inc(&many->left);
		dafs_io_start(io);
	}
	complete_all(&many->begun);
	patience_many_put(many);
}

static struct patience_many *patience_many_start(struct kunit *test, struct dafs_test_file *file)
{
	struct patience_many *many = kvzalloc(sizeof(*many), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, many);
	many->file = file;
	many->kvec = (struct kvec){ many->data, PATIENCE_BYTES };
	atomic_set(&many->left, 1);
	init_completion(&many->begun);
	init_completion(&many->ended);
	INIT_WORK(&many->work, patience_many_work);
	queue_work(system_unbound_wq, &many->work);
	return many;
}

static bool patience_many_ended(struct patience_many *many)
{
	return wait_for_completion_timeout(&many->ended, msecs_to_jiffies(RAW_WAIT_MS));
}

/*
 * Writes that have not ended still use the memory of the test: shut the session
 * down, and wait for them as long as the test may last.
 */
static void patience_many_end(struct kunit *test, struct patience_many *many, bool well)
{
	bool ended;

	if (!well)
		dafs_client_shutdown(many->file->sbi.clnt);
	ended = patience_many_ended(many);
	KUNIT_EXPECT_TRUE_MSG(test, ended, "%d writes have not ended", atomic_read(&many->left));
	if (!ended)
		dafs_client_shutdown(many->file->sbi.clnt);
	else if (well)
		KUNIT_EXPECT_EQ(test, 0, atomic_read(&many->failed));
	wait_for_completion(&many->ended);
	flush_work(&many->work);
	kvfree(many);
}

/*
 * No task waits while I/O waits for a server that is away.  So any amount of it
 * does not delay the I/O of other sessions, and it continues when the server is
 * back.
 */
static void dafs_patience_away_test(struct kunit *test)
{
	struct raw_server *away = patience_server(test, false);
	struct raw_server *there = patience_server(test, false);
	const struct dafs_fh fh = {};
	struct dafs_test_file *lost, *file;
	struct patience_many *many;
	u8 data[PATIENCE_BYTES] = {};
	bool begun;

	lost = dafs_test_file(test, dafs_fixture_client(test, &away->params), &fh);
	file = dafs_test_file(test, dafs_fixture_client(test, &there->params), &fh);
	/* registers the credential, so that a write is cut off with the connection */
	KUNIT_EXPECT_EQ(test, 0, dafs_test_file_write(lost, data, sizeof(data), 0));
	((struct patience *)away->priv)->silent = true;
	away->refuse = true;
	rdma_disconnect(raw_accepted(away, 0)->id);
	many = patience_many_start(test, lost);
	begun = wait_for_completion_timeout(&many->begun, msecs_to_jiffies(RAW_WAIT_MS));
	KUNIT_EXPECT_TRUE_MSG(test, begun, "the task that begins them is kept waiting");
	patience_refuse(there, DAFSERR_DELAY);
	KUNIT_EXPECT_EQ(test, 0, dafs_test_file_write(file, data, sizeof(data), 0));
	KUNIT_EXPECT_FALSE(test, completion_done(&many->ended));
	((struct patience *)away->priv)->silent = false;
	away->refuse = false;
	patience_many_end(test, many, begun);
}

/* umount -f ends parked I/O. */
static void dafs_patience_shutdown_test(struct kunit *test)
{
	struct raw_server *away = patience_server(test, false);
	const struct dafs_fh fh = {};
	struct dafs_test_file *file;
	struct patience_many *many;
	u8 data[PATIENCE_BYTES] = {};

	file = dafs_test_file(test, dafs_fixture_client(test, &away->params), &fh);
	KUNIT_EXPECT_EQ(test, 0, dafs_test_file_write(file, data, sizeof(data), 0));
	away->refuse = true;
	rdma_disconnect(raw_accepted(away, 0)->id);
	many = patience_many_start(test, file);
	wait_for_completion_timeout(&many->begun, msecs_to_jiffies(RAW_WAIT_MS));
	patience_many_end(test, many, false);
}

static struct kunit_case dafs_patience_cases[] = {
	KUNIT_CASE_PARAM(dafs_patience_write_test, patience_gen_params),
	KUNIT_CASE_PARAM(dafs_patience_soft_test, patience_gen_params),
	KUNIT_CASE(dafs_patience_cred_test),
	KUNIT_CASE(dafs_patience_killed_test),
	KUNIT_CASE(dafs_patience_away_test),
	KUNIT_CASE(dafs_patience_shutdown_test),
	{}
};

static struct kunit_suite dafs_patience_suite = {
	.name = "dafs_patience",
	.test_cases = dafs_patience_cases,
};

kunit_test_suite(dafs_patience_suite);
