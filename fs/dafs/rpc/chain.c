// SPDX-License-Identifier: GPL-2.0
/*
 * Several operations in one round trip (4.3).
 *
 * All of a chain is sent at once or none of it.  Operations that it did not complete (no
 * credits for the chain, connection lost, checksum mismatch, DELAY) are done by
 * dafs_op_run(), one after the other, with the results of the responses received so far
 * (4.3.4).
 */
#include "rpc_impl.h"

static u16 dafs_chain_flags(const struct dafs_op *op, bool first, bool last)
{
	u16 flags = first ? 0 : DAFS_CHF_BACK;

	if (!last)
		flags |= DAFS_CHF_FORW;
	if (op->takes_fh)
		flags |= DAFS_CHF_FH;
	return flags;
}

/* Prepares linked calls for all operations on one connection. */
static int dafs_chain_prepare(struct dafs_client *clnt, struct dafs_conn *conn,
			      struct dafs_op *ops, unsigned int nr)
{
	unsigned int i;
	int err;

	for (i = 0; i < nr; i++) {
		kref_get(&conn->ref);
		ops[i].conn = conn;
		err = dafs_op_prepare(clnt, &ops[i]);
		if (err)
			return err;
		ops[i].call->chain_flags = dafs_chain_flags(&ops[i], !i, i == nr - 1);
		if (i)
			ops[i - 1].call->behind = ops[i].call;
	}
	return 0;
}

/* Was the operation not executed, so that it must be sent alone? */
static bool dafs_chain_again(enum dafs_action action)
{
	switch (action) {
	case DAFS_ACT_LATER:
	case DAFS_ACT_RESEND:
	case DAFS_ACT_CRED:
	case DAFS_ACT_SESSION:
	case DAFS_ACT_ALONE:
		return true;
	default:
		return false;
	}
}

/* Return: 0 if the operation is done, 1 if it must be retried, or an errno. */
static int dafs_chain_wait(struct dafs_client *clnt, struct dafs_op *op)
{
	int err = dafs_op_wait(clnt, op);

	if (err)
		return err == -ENOTCONN ? 1 : dafs_op_result(clnt, op, err);
	op->status = op->call->status;
	if (dafs_chain_again(dafs_call_action(op->conn, op->call)))
		return 1;
	return dafs_op_result(clnt, op, dafs_op_decode(op) ?: dafs_status_to_errno(op->status));
}

/* What has no response is asked for before it is sent alone. */
static void dafs_chain_note(struct dafs_op *ops, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (dafs_call_wait(ops[i].call) != -ENOTCONN)
			continue;
		ops[i].lost = true;
		dafs_xid_note(&ops[i].xid, ops[i].conn, ops[i].call);
	}
}

/*
 * Return: how many operations are done. *@err is the error of the next one, or 0 if it
 * must be retried.
 */
static unsigned int dafs_chain_try(struct dafs_client *clnt, struct dafs_op *ops,
				   unsigned int nr, int *err)
{
	struct dafs_conn *conn = dafs_conn_get_unless(clnt, ops[0].leave);
	unsigned int done = 0;
	int ret;

	*err = 0;
	if (IS_ERR(conn))
		return 0;
	ret = dafs_chain_prepare(clnt, conn, ops, nr);
	if (!ret)
		ret = dafs_call_start_chain(conn->rq, ops[0].call);
	dafs_conn_put(conn);
	/* sending each operation alone reports the reason */
	if (ret)
		return 0;
	/* the last response usually comes last, so one wake-up is enough */
	dafs_call_wait(ops[nr - 1].call);
	while (done < nr && !ret) {
		ret = dafs_chain_wait(clnt, &ops[done]);
		if (!ret)
			done++;
	}
	if (ret > 0)
		dafs_chain_note(&ops[done], nr - done);
	*err = min(ret, 0);
	return done;
}

/*
 * Runs the next operation alone, with the filehandle from the one before.  Ends that one
 * first: a task that waits for a slot must not hold one, and a task that waits for a
 * connection must not hold a reference on the old one, because device removal waits for
 * that.
 */
static int dafs_chain_step(struct dafs_client *clnt, struct dafs_op *ops, unsigned int i)
{
	if (i)
		dafs_op_end(&ops[i - 1]);
	if (i && ops[i].takes_fh)
		*ops[i].takes_fh = *ops[i - 1].gives_fh;
	return dafs_op_run(clnt, &ops[i]);
}

/**
 * dafs_op_run_chain() - perform operations one after the other, in one round trip
 *	if possible
 * @clnt: the client
 * @ops: filled in, without mem and no_replay; the caller calls dafs_op_end() for all of
 *	them in any case.  Strings in the results of the last one are valid until then.
 * @nr: how many, at least 1
 * @err: 0, or the error of the first operation that failed, as dafs_op_run() returns it
 *
 * Stops at the first failure.  An operation that changes the file system must not follow
 * a bulk fetch (4.3.1), nor a simple operation, which would have to be saved in the
 * response cache.
 *
 * Context: may sleep; a fatal signal ends it.
 * Return: how many succeeded.
 */
unsigned int dafs_op_run_chain(struct dafs_client *clnt, struct dafs_op *ops, unsigned int nr,
			       int *err)
{
	unsigned int done = dafs_chain_try(clnt, ops, nr, err);
	unsigned int i;

	if (*err || done == nr)
		return done;
	for (i = 0; i < nr; i++)
		dafs_op_end(&ops[i]);
	while (done < nr) {
		*err = dafs_chain_step(clnt, ops, done);
		if (*err)
			break;
		done++;
	}
	/* after an error those behind it are not sent */
	for (i = done; i < nr; i++)
		dafs_xid_drop(&ops[i].xid);
	return done;
}
