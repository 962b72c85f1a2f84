// SPDX-License-Identifier: GPL-2.0
/*
 * Several operations in one round trip (4.3).
 *
 * All of a chain is sent at once or none of it.  What it did not bring to an end,
 * because flow control left no room for it, the connection was lost, a request was
 * damaged on the way or the server asks for patience, is done by dafs_op_run(), one
 * operation after the other, with what the responses that came have told (4.3.4).
 */
#include "session_impl.h"

static u16 dafs_chain_flags(const struct dafs_op *op, bool first, bool last)
{
	u16 flags = first ? 0 : DAFS_CHF_BACK;

	if (!last)
		flags |= DAFS_CHF_FORW;
	if (op->takes_fh)
		flags |= DAFS_CHF_FH;
	return flags;
}

/* Calls for all of them on one connection, linked. */
static int dafs_chain_prepare(struct dafs_session *ses, struct dafs_conn *conn,
			      struct dafs_op *ops, unsigned int nr)
{
	unsigned int i;
	int err;

	for (i = 0; i < nr; i++) {
		kref_get(&conn->ref);
		ops[i].conn = conn;
		err = dafs_op_prepare(ses, &ops[i]);
		if (err)
			return err;
		ops[i].call->chain_flags = dafs_chain_flags(&ops[i], !i, i == nr - 1);
		if (i)
			ops[i - 1].call->behind = ops[i].call;
	}
	return 0;
}

/* Was the operation not executed, so that it is to be done by itself? */
static bool dafs_chain_again(u32 status)
{
	switch (dafs_status_action(status)) {
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

/* Return: 0 if the operation is done, 1 if it is to be done again, or an errno. */
static int dafs_chain_wait(struct dafs_session *ses, struct dafs_op *op)
{
	int err = dafs_op_wait(ses, op);

	if (err)
		return err == -ENOTCONN ? 1 : dafs_op_result(ses, op, err);
	op->status = op->call->status;
	if (dafs_chain_again(op->status))
		return 1;
	return dafs_op_result(ses, op, dafs_op_decode(op) ?: dafs_status_to_errno(op->status));
}

/*
 * Return: how many of the operations are done.  *@err is that of the next one, or
 * 0 if it is to be done again.
 */
static unsigned int dafs_chain_try(struct dafs_session *ses, struct dafs_op *ops,
				   unsigned int nr, int *err)
{
	struct dafs_conn *conn = dafs_conn_get(ses);
	unsigned int done = 0;
	int ret;

	*err = 0;
	if (IS_ERR(conn))
		return 0;
	ret = dafs_chain_prepare(ses, conn, ops, nr);
	if (!ret)
		ret = dafs_call_start_chain(conn->rq, ops[0].call);
	dafs_conn_put(conn);
	/* why it cannot be sent is found out by sending it alone */
	if (ret)
		return 0;
	/* as a rule the last response comes last, and one wake-up is enough */
	dafs_call_wait(ops[nr - 1].call);
	while (done < nr && !ret) {
		ret = dafs_chain_wait(ses, &ops[done]);
		if (!ret)
			done++;
	}
	*err = min(ret, 0);
	return done;
}

/*
 * The next operation by itself, with what the one before it has told.  That one is
 * ended: a task that waits for a slot must not hold one, and a task that waits
 * for a connection must not keep the connection before it from going, for which
 * the removal of a device waits.
 */
static int dafs_chain_step(struct dafs_session *ses, struct dafs_op *ops, unsigned int i)
{
	if (i)
		dafs_op_end(&ops[i - 1]);
	if (i && ops[i].takes_fh)
		*ops[i].takes_fh = *ops[i - 1].gives_fh;
	return dafs_op_run(ses, &ops[i]);
}

/**
 * dafs_op_run_chain() - perform operations one after the other, in one round trip
 *	if possible
 * @ses: the session
 * @ops: filled in, without memory, and none to be sent once; all to be ended by
 *	dafs_op_end() in any case.  Strings in the results are good until then if
 *	they are those of the last one.
 * @nr: how many, at least 1
 * @err: 0, or what the first operation that failed would have got from dafs_op_run()
 *
 * Ends with the first one that fails.  What changes the file system must not come
 * behind a bulk fetch (4.3.1), nor behind a simple operation, which would have to be
 * saved in the response cache.
 *
 * Context: may sleep; a fatal signal ends it.
 * Return: how many succeeded.
 */
unsigned int dafs_op_run_chain(struct dafs_session *ses, struct dafs_op *ops, unsigned int nr,
			       int *err)
{
	unsigned int done = dafs_chain_try(ses, ops, nr, err);
	unsigned int i;

	if (*err || done == nr)
		return done;
	for (i = 0; i < nr; i++)
		dafs_op_end(&ops[i]);
	while (done < nr) {
		*err = dafs_chain_step(ses, ops, done);
		if (*err)
			break;
		done++;
	}
	return done;
}
