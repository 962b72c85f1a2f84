// SPDX-License-Identifier: GPL-2.0
/*
 * One synchronous operation; hides from the caller the credential handle, lost
 * connections and DELAY.
 *
 * An operation whose connection was lost is sent again on the next one; if it changes something,
 * the server is asked before whether it was executed (5.2).  One that does not know, because it
 * has restarted or has no response cache, may execute it twice; what must not happen twice is not
 * sent again then (no_replay).
 */
#include <linux/delay.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include "rpc_impl.h"
#include "trace.h"

/* Attempts on a connection that all others wait for */
#define DAFS_OP_TRIES_ON	5

/* For a response that others wait for, too */
#define DAFS_OP_BRIEF		(5 * HZ)

/**
 * dafs_op_end() - drop what an operation's results point into
 * @op: the operation; may have failed
 *
 * Context: any.
 */
void dafs_op_end(struct dafs_op *op)
{
	if (op->call)
		dafs_call_put(op->call);
	op->call = NULL;
	if (op->conn)
		dafs_conn_put(op->conn);
	op->conn = NULL;
}

/**
 * dafs_op_map() - make memory reachable for the server during an attempt
 * @op: the operation, with its connection and call
 * @mem: @op's mem; or if that is NULL other memory, for @op's prepare
 *
 * Context: may sleep; a fatal signal ends it.
 * Return: 0, and @mem says how much is mapped; or a negative errno, as dafs_mem_map().
 */
int dafs_op_map(struct dafs_op *op, struct dafs_op_mem *mem)
{
	ssize_t mapped;

	mem->kvec = (struct kvec){ .iov_base = mem->data, .iov_len = mem->size };
	iov_iter_kvec(&mem->iter, mem->dir == DMA_FROM_DEVICE ? ITER_DEST : ITER_SOURCE,
		      &mem->kvec, 1, mem->size);
	mapped = dafs_xfer_map(op->conn, op->call, &mem->map, &mem->iter, mem->dir);
	if (mapped < 0)
		return mapped;
	mem->room = mapped;
	return 0;
}

static int dafs_op_start(struct dafs_op *op, struct dafs_call *call)
{
	int err = op->mem ? dafs_op_map(op, op->mem) : 0;

	if (!err && op->prepare)
		err = op->prepare(op, call);
	if (err)
		goto unmap;
	/* dafs_call_start_chain() does not wait for a slot */
	err = op->brief ? dafs_call_start_chain(op->conn->rq, call) :
			  dafs_call_start(op->conn->rq, call);
	if (!err)
		return 0;
unmap:
	dafs_xfer_unmap(call);
	return err;
}

/**
 * dafs_op_prepare() - make the call of an operation
 * @clnt: client
 * @op: the operation, with op->conn; op->call is filled
 *
 * Context: may sleep.
 * Return: 0 or a negative errno, as dafs_call_as().
 */
int dafs_op_prepare(struct dafs_client *clnt, struct dafs_op *op)
{
	struct dafs_call *call = dafs_call_as(clnt, op->conn, op->cred);

	op->status = DAFS_STATUS_OK;
	if (IS_ERR(call))
		return PTR_ERR(call);
	op->call = call;
	call->proc = op->proc;
	call->args = op->args;
	call->fill = op->fill;
	call->priv = op->priv;
	return 0;
}

/**
 * struct dafs_op_left - an operation whose task has given up
 * @work: finds out in its place what became of it
 * @clnt: the client, whose queue @work is in
 * @op: what is left of it: proc, cred, args, conn, call, prepare, priv, undo, forget, leave,
 *	unsure, xid, unsettled and lost
 */
struct dafs_op_left {
	struct work_struct work;
	struct dafs_client *clnt;
	struct dafs_op op;
};

/* Has the server executed it, as far as its response tells? */
static bool dafs_op_may_be_done(const struct dafs_op *op)
{
	dafs_status_t status = op->call->status;

	return status == DAFS_STATUS_OK ||
	       (op->unsure && (status == DAFSERR_IO || status == DAFSERR_RESOURCE));
}

/* The response comes, or the connection ends. */
static void dafs_op_left_wait(struct dafs_op *op)
{
	int err = dafs_call_wait(op->call);

	if (!err)
		return;
	op->lost = true;
	if (err == -ENOTCONN)
		dafs_xid_note(&op->xid, op->conn, op->call);
	dafs_op_end(op);
}

/* Asks for as long as the server may know of it, and the mount, or else the client, exists. */
static void dafs_op_left_ask(struct dafs_client *clnt, struct dafs_op *op)
{
	unsigned int delay_ms = 0;
	int err = 0;

	while (op->xid.former && !err && !(op->leave && READ_ONCE(*op->leave))) {
		err = dafs_op_ask(clnt, op);
		if (err == DAFS_OP_ASK_LATER || err == -ENOTCONN)
			err = dafs_op_sleep(&delay_ms);
	}
	dafs_xid_drop(&op->xid);
}

static void dafs_op_left_work(struct work_struct *work)
{
	struct dafs_op_left *left = container_of(work, struct dafs_op_left, work);
	struct dafs_op *op = &left->op;

	if (op->call)
		dafs_op_left_wait(op);
	dafs_op_left_ask(left->clnt, op);
	if (op->call && !dafs_op_may_be_done(op))
		dafs_op_end(op);
	/* a failure says nothing of an earlier attempt */
	if (op->call || op->lost)
		op->undo(left->clnt, op);
	dafs_op_end(op);
	put_cred(op->cred);
	if (op->forget)
		op->forget(op->args);
	kfree(op->args);
	kfree(left);
}

/*
 * The caller has no use for it any more, nor for its response, if there is a call, nor for what
 * the server may tell of a lost attempt.
 */
static void dafs_op_hand_over(struct dafs_client *clnt, struct dafs_op *op)
{
	struct dafs_op_left *left = kzalloc(sizeof(*left), GFP_NOFS | __GFP_NOFAIL);

	left->clnt = clnt;
	left->op = (struct dafs_op){
		.proc = op->proc,
		.cred = get_cred(op->cred),
		.args = op->copy(op->args),
		.conn = op->conn,
		.call = op->call,
		.prepare = op->prepare,
		.priv = op->priv,
		.undo = op->undo,
		.forget = op->forget,
		/* without that, what it points to may be gone first */
		.leave = op->forget ? op->leave : NULL,
		.unsure = op->unsure,
		.xid = op->xid,
		.unsettled = op->unsettled,
		.lost = op->lost,
	};
	op->conn = NULL;
	op->call = NULL;
	op->xid.former = NULL;
	op->lost = false;
	INIT_WORK(&left->work, dafs_op_left_work);
	queue_work(clnt->commit_wq, &left->work);
}

static int dafs_op_wait_call(const struct dafs_op *op)
{
	if (op->brief)
		return wait_for_completion_timeout(&op->call->finished, DAFS_OP_BRIEF) ?
		       op->call->error : -ETIMEDOUT;
	return op->interruptible ? dafs_call_wait_interruptible(op->call) :
				   dafs_call_wait(op->call);
}

/**
 * dafs_op_wait() - wait for the response of an operation that was sent
 * @clnt: the client
 * @op: the operation; if the task is killed and op->undo is set, its call is waited for
 *	in the background, and none of its caller's any more
 *
 * Context: may sleep; a fatal signal ends it, or any if op->interruptible is set.
 * Return: as dafs_call_wait(), or -ETIMEDOUT if op->brief is set.
 */
int dafs_op_wait(struct dafs_client *clnt, struct dafs_op *op)
{
	int err = dafs_op_wait_call(op);

	if (err == -ERESTARTSYS && op->undo)
		dafs_op_hand_over(clnt, op);
	else if (err)
		op->lost = true;
	return err;
}

/**
 * dafs_op_result() - an operation is not tried any more
 * @clnt: the client
 * @op: the operation
 * @err: what its caller is told
 *
 * Where that is an error, an attempt that was lost may have succeeded all the same.
 *
 * Context: may sleep.
 * Return: @err.
 */
int dafs_op_result(struct dafs_client *clnt, struct dafs_op *op, int err)
{
	if (err && op->lost && op->undo) {
		dafs_op_end(op);
		dafs_op_hand_over(clnt, op);
	}
	dafs_xid_drop(&op->xid);
	return err;
}

/* One attempt on op->conn: 0 means that there is a response, whatever its status. */
static int dafs_op_send(struct dafs_client *clnt, struct dafs_op *op)
{
	int err = dafs_op_prepare(clnt, op);

	if (!err)
		err = dafs_op_start(op, op->call);
	if (err)
		return err;
	err = dafs_op_wait(clnt, op);
	if (!err)
		op->status = op->call->status;
	/* has the server seen it? */
	if (err == -ENOTCONN && !dafs_xid_note(&op->xid, op->conn, op->call) && op->no_replay)
		return -EREMOTEIO;
	return err;
}

static int dafs_op_try(struct dafs_client *clnt, struct dafs_op *op)
{
	struct dafs_conn *conn = op->nowait ? dafs_conn_try_get(clnt->ses) :
				 dafs_conn_get_unless(clnt, op->leave);

	if (IS_ERR_OR_NULL(conn))
		return conn ? PTR_ERR(conn) : -ENOTCONN;
	op->conn = conn;
	return dafs_op_send(clnt, op);
}

/* The server has told what became of the last attempt; there may be an earlier one, unsettled. */
static void dafs_op_settled(struct dafs_client *clnt, struct dafs_op *op)
{
	op->lost = op->unsettled;
	dafs_xid_drop(&op->xid);
}

/* The server does not know, and never will. */
static int dafs_op_unsettled(struct dafs_client *clnt, struct dafs_op *op)
{
	op->unsettled = true;
	dafs_xid_drop(&op->xid);
	return op->no_replay ? -EREMOTEIO : DAFS_OP_SEND;
}

/* It has a response: have it. */
static int dafs_op_fetch(struct dafs_client *clnt, struct dafs_op *op, struct dafs_op *ask)
{
	int err;

	ask->proc = DAFS_PROC_FETCH_RESPONSE;
	err = dafs_op_try(clnt, ask);
	if (err)
		return err;
	/* the response does not fit into one of this session */
	if (ask->status == DAFSERR_TOOSMALL)
		return dafs_op_unsettled(clnt, op);
	/* this is about FETCH_RESPONSE itself: no request that was executed has these */
	if (dafs_status_action(ask->status) == DAFS_ACT_SESSION ||
	    ask->status == DAFSERR_DELAY || ask->status == DAFSERR_NOXID_MATCH)
		return DAFS_OP_ASK_LATER;
	/* of this message; or of the operation, which was not executed then (E-34) */
	if (ask->status == DAFSERR_CHKSUM && op->xid.failed++ < DAFS_OP_TRIES_ON)
		return DAFS_OP_ASK_LATER;
	op->conn = ask->conn;
	op->call = ask->call;
	op->status = ask->status;
	ask->conn = NULL;
	ask->call = NULL;
	dafs_op_settled(clnt, op);
	return 0;
}

static int dafs_op_ask_status(struct dafs_client *clnt, struct dafs_op *op, struct dafs_op *ask)
{
	dafs_status_t status = ask->status;

	switch (status) {
	case DAFSERR_NOT_AUTHENTICATED:	/* this is about the session that is asked on */
	case DAFSERR_ILLEGAL_STATE:
	case DAFSERR_STALE_CLIENTID:
		dafs_call_action(ask->conn, ask->call);
		return DAFS_OP_ASK_LATER;
	default:
		dafs_op_end(ask);
	}
	switch (status) {
	case DAFS_STATUS_OK:
		return dafs_op_fetch(clnt, op, ask);
	case DAFSERR_NOXID_MATCH:
		dafs_op_settled(clnt, op);
		return DAFS_OP_SEND;
	case DAFSERR_DELAY:		/* it is just being executed */
	case DAFSERR_BAD_SESSION:	/* the server has not ended that session yet */
	case DAFSERR_GRACE:
	case DAFSERR_CHKSUM:
	case DAFSERR_RESOURCE:
		return DAFS_OP_ASK_LATER;
	case DAFSERR_UNKNOWN_SESSION:
	case DAFSERR_NOT_AUTHORIZED:
	case DAFSERR_NOTSUPP:
		return dafs_op_unsettled(clnt, op);
	default:
		return op->xid.failed++ < DAFS_OP_TRIES_ON ? DAFS_OP_ASK_LATER :
							     dafs_op_unsettled(clnt, op);
	}
}

/**
 * dafs_op_ask() - was the attempt executed that was lost? (5.2.5)
 * @clnt: the client
 * @op: the operation; of which xid, leave, nowait and no_replay count; unsettled and lost are set
 *
 * Context: may sleep; a fatal signal ends it.
 * Return: 0 if so, and its response is that of @op; DAFS_OP_SEND; DAFS_OP_ASK_LATER; -EREMOTEIO if
 * it must not be sent again; or another negative errno as that of dafs_op_run(): ask again.
 */
int dafs_op_ask(struct dafs_client *clnt, struct dafs_op *op)
{
	struct dafs_check_response_args args = {
		.session_id = op->xid.former->session_id,
		.xid_stream = op->xid.stream,
		.xid_seq = op->xid.seq,
		.procedure = op->xid.proc,
	};
	struct dafs_op ask = {
		.proc = DAFS_PROC_CHECK_RESPONSE,
		.args = &args,
		.leave = op->leave,
		.nowait = op->nowait,
	};
	int err = dafs_op_try(clnt, &ask);

	WRITE_ONCE(op->xid.former->asked, true);
	if (!err)
		err = dafs_op_ask_status(clnt, op, &ask);
	dafs_op_end(&ask);
	/* it may have been executed all the same */
	if (err == -ENOMEM)
		err = DAFS_OP_ASK_LATER;
	trace_dafs_op_asked(op, err);
	return err;
}

static int dafs_op_attempt(struct dafs_client *clnt, struct dafs_op *op)
{
	int err = op->xid.former ? dafs_op_ask(clnt, op) : DAFS_OP_SEND;

	return err == DAFS_OP_SEND ? dafs_op_try(clnt, op) : err;
}

/**
 * dafs_op_sleep() - leave a server alone for a while
 * @ms: how long it was the last time, 0 at first; how long it is now
 *
 * A task that exits takes no signal, so it is told at once that it was killed; the background
 * undoes what can be undone.
 *
 * Context: sleeps, longer each time; a fatal signal ends it.
 * Return: 0 or -ERESTARTSYS.
 */
int dafs_op_sleep(unsigned int *ms)
{
	if (dafs_task_exits())
		return -ERESTARTSYS;
	*ms = dafs_next_delay(*ms);
	if (schedule_timeout_killable(msecs_to_jiffies(*ms)) &&
	    fatal_signal_pending(current))
		return -ERESTARTSYS;
	return 0;
}

/* Return: 1 to retry after a delay, or an errno: -EIO if @op must give up. */
static int dafs_op_pause(const struct dafs_op *op, struct dafs_tries *tries)
{
	if (op->leave && READ_ONCE(*op->leave))
		return -EIO;
	return dafs_op_sleep(&tries->delay_ms) ?: 1;
}

/* Is it retried without limit? */
static bool dafs_op_retries_forever(const struct dafs_client *clnt, const struct dafs_op *op)
{
	return op->hard && !READ_ONCE(clnt->params.soft);
}

/* Is what the server asks for, if anything, not to be done? */
static bool dafs_op_declines(const struct dafs_op *op, enum dafs_action action)
{
	/* dafs_op_check_nomem() has decided about memory */
	return action == DAFS_ACT_MEMORY || (action == DAFS_ACT_LATER && op->nodelay);
}

/* The response is there.  Return: 1 to try again, 0 to report it, or an errno. */
static int dafs_op_check_status(struct dafs_client *clnt, struct dafs_op *op,
				struct dafs_tries *tries)
{
	enum dafs_action action = dafs_call_action(op->conn, op->call);
	struct dafs_verdict verdict;

	if (dafs_op_declines(op, action))
		return 0;
	verdict = dafs_retry(DAFS_RETRY_CALL, action, dafs_op_retries_forever(clnt, op), tries);
	if (verdict.next == DAFS_NEXT_REPORT)
		return verdict.err;
	return verdict.next == DAFS_NEXT_SEND ? 1 : dafs_op_pause(op, tries);
}

/*
 * Did the call fail only because other tasks that registered the user were killed?  A
 * kernel thread retries then: it has no caller to return the error to.
 */
static bool dafs_op_others_killed(const struct dafs_op *op, int err)
{
	return err == -ERESTARTSYS && op->retry_nomem && (current->flags & PF_KTHREAD) &&
	       !fatal_signal_pending(current);
}

/* Return: 1 to try again, or @err. */
static int dafs_op_check_nomem(const struct dafs_client *clnt, const struct dafs_op *op, int err,
			       struct dafs_tries *tries)
{
	struct dafs_verdict verdict;

	/* REGISTER_CRED failed its checksum in many attempts */
	if (err == -EBADMSG && dafs_op_retries_forever(clnt, op))
		return dafs_op_pause(op, tries);
	if (dafs_op_others_killed(op, err))
		return dafs_op_pause(op, tries);
	if (err != -ENOMEM && (err || dafs_status_action(op->status) != DAFS_ACT_MEMORY))
		return err;
	if (!op->retry_nomem)
		return err;
	verdict = dafs_retry(DAFS_RETRY_CALL, DAFS_ACT_MEMORY, dafs_op_retries_forever(clnt, op),
			     tries);
	return verdict.next == DAFS_NEXT_REPORT ? err : dafs_op_pause(op, tries);
}

/* Repeats until there is a response worth reporting. */
static int dafs_op_attempts(struct dafs_client *clnt, struct dafs_op *op)
{
	struct dafs_tries tries = {};
	int err;

	for (;;) {
		err = dafs_op_check_nomem(clnt, op, dafs_op_attempt(clnt, op), &tries);
		if (err == DAFS_OP_ASK_LATER)
			err = dafs_op_pause(op, &tries);
		if (err < 0 && err != -ENOTCONN)
			return err;
		/* a server that connects but does not answer is no better than none */
		if (err < 0 && dafs_client_gives_up(clnt, &tries.lost))
			return -ETIMEDOUT;
		if (!err) {
			err = dafs_op_check_status(clnt, op, &tries);
			if (err <= 0)
				return err;
		}
		dafs_op_end(op);
	}
}

/**
 * dafs_op_decode() - have the results of an operation
 * @op: the operation; its response is there
 *
 * Context: any.
 * Return: 0, also if there are none; -EIO for a response that cannot be decoded,
 * and the connection is given up.
 */
int dafs_op_decode(struct dafs_op *op)
{
	op->client_id = op->conn->client_id;
	if (!op->res || (op->status && op->call->buf.len <= DAFS_HDR_SIZE))
		return 0;
	if (!dafs_decode_res(&op->call->buf, op->proc, op->res))
		return 0;
	/* a server that cannot encode cannot be trusted (E-11) */
	dafs_conn_failed(op->conn);
	op->lost |= !op->status;
	return -EIO;
}

/**
 * dafs_op_run() - perform an operation
 * @clnt: the client
 * @op: filled in; to be ended by dafs_op_end() in any case
 *
 * Waits for the connection to come back as the session is told to, and for a
 * server that answers DELAY or GRACE.
 *
 * Context: may sleep; a fatal signal ends it.
 * Return: 0; the errno of the status the server answered, which is in
 * op->status; -EIO for a response that cannot be decoded or a dead session;
 * -ETIMEDOUT on a soft session; -ENOTCONN for an offhand operation without a
 * connection; -EREMOTEIO if the connection was lost, op->no_replay is set, and the server cannot
 * tell whether it was executed; what op->prepare returned; -ENOMEM;
 * -EMSGSIZE; -ERESTARTSYS.
 */
int dafs_op_run(struct dafs_client *clnt, struct dafs_op *op)
{
	int err;

	err = op->nowait ? dafs_op_try(clnt, op) : dafs_op_attempts(clnt, op);
	if (!err)
		err = dafs_op_decode(op) ?: dafs_status_to_errno(op->status);
	trace_dafs_op_result(op, err);
	return dafs_op_result(clnt, op, err);
}

/**
 * dafs_op_run_on() - perform an operation on a connection not yet in use
 * @clnt: the client
 * @conn: its new connection; the caller holds a reference
 * @op: filled in; to be ended by dafs_op_end() in any case
 *
 * For those who recover a session: it does not wait for the session, and not
 * for long if the server asks for patience; and it does not ask about an attempt that was lost.
 *
 * Context: may sleep.
 * Return: as dafs_op_run(), and -ENOTCONN if the connection is lost.
 */
int dafs_op_run_on(struct dafs_client *clnt, struct dafs_conn *conn, struct dafs_op *op)
{
	struct dafs_tries tries = {};
	unsigned int left = DAFS_OP_TRIES_ON;
	int err;

	do {
		dafs_op_end(op);
		kref_get(&conn->ref);
		op->conn = conn;
		err = dafs_op_send(clnt, op) ?: dafs_op_check_status(clnt, op, &tries);
	} while (err > 0 && --left);
	dafs_xid_drop(&op->xid);
	if (err < 0)
		return err;
	return dafs_op_decode(op) ?: dafs_status_to_errno(op->status);
}
