// SPDX-License-Identifier: GPL-2.0
/*
 * One synchronous operation, with what a caller wants to know nothing of: the
 * credential handle, a connection that is lost on the way, a server that asks
 * for patience.
 *
 * An operation whose connection was lost is sent again on the next one.  Until
 * the response cache is asked (5.2) that repeats an operation whose response
 * was lost, as NFS does over a new connection.  What must not happen twice is
 * not sent again (once).
 */
#include <linux/delay.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include "session_impl.h"

#define DAFS_PATIENCE_MIN_MS	50U
#define DAFS_PATIENCE_MAX_MS	5000U
#define DAFS_OP_SESSIONS	4	/* an operation tries, if the server knows none */
#define DAFS_OP_TRIES_ON	5	/* on a connection that all others wait for */
#define DAFS_OP_DAMAGED	4	/* attempts at what does not arrive as it was sent */
#define DAFS_OP_STARVED		6	/* attempts without memory, in some seconds */

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
EXPORT_SYMBOL_IF_KUNIT(dafs_op_end);

static int dafs_op_map(struct dafs_op *op)
{
	struct dafs_op_mem *mem = op->mem;
	struct kvec kvec = { .iov_base = mem->data, .iov_len = mem->size };
	struct iov_iter iter;
	ssize_t mapped;

	iov_iter_kvec(&iter, mem->dir == DMA_FROM_DEVICE ? ITER_DEST : ITER_SOURCE, &kvec, 1,
		      mem->size);
	mapped = dafs_mem_map(op->conn->op, &mem->map, &iter, mem->size, mem->dir);
	if (mapped < 0)
		return mapped;
	/* the server may be given less to fill, but not less to read */
	if (mem->dir == DMA_TO_DEVICE && mapped < mem->size) {
		dafs_mem_unmap(&mem->map);
		return -EMSGSIZE;
	}
	mem->room = mapped;
	op->call->mem = &mem->map;
	return 0;
}

/* Memory is unmapped by the requester, unless the call never started. */
static int dafs_op_start(struct dafs_op *op, struct dafs_call *call)
{
	int err = op->mem ? dafs_op_map(op) : 0;

	if (!err && op->prepare)
		err = op->prepare(op, call);
	if (!err)
		err = dafs_call_start(op->conn->rq, call);
	if (err && call->mem)
		dafs_mem_unmap(call->mem);
	return err;
}

/**
 * dafs_status_of_session() - does a status speak of the session?
 * @status: DAFS status of a response
 *
 * The server knows the session, or the client it belongs to, no more (E-84).
 *
 * Return: true if the request may be repeated on another connection.
 */
bool dafs_status_of_session(u32 status)
{
	switch (status) {
	case DAFSERR_UNKNOWN_SESSION:
	case DAFSERR_BAD_SESSION:
	case DAFSERR_NOT_AUTHENTICATED:
	case DAFSERR_ILLEGAL_STATE:
	case DAFSERR_STALE_CLIENTID:
		return true;
	}
	return false;
}

/**
 * struct dafs_op_tries - what the attempts at an operation have met so far
 * @delay_ms: before the next one, for a server that asks for patience
 * @lost: connections that ended without an answer
 * @starved: attempts that failed for want of memory
 * @refused: sessions that the server did not know
 * @damaged: requests that did not match their checksum
 * @forgot: the credential handle was registered anew
 */
struct dafs_op_tries {
	unsigned int delay_ms;
	unsigned int lost;
	unsigned int starved;
	unsigned int refused;
	unsigned int damaged;
	bool forgot;
};

/**
 * dafs_op_prepare() - make the call of an operation
 * @ses: session
 * @op: the operation, with op->conn; op->call is filled, also if this fails
 *
 * Context: may sleep.
 * Return: 0, -ENOMEM, or what the registration of a credential ended with.
 */
int dafs_op_prepare(struct dafs_session *ses, struct dafs_op *op)
{
	struct dafs_call *call = dafs_call_alloc(GFP_KERNEL);

	op->status = DAFS_STATUS_OK;
	if (!call)
		return -ENOMEM;
	op->call = call;
	call->proc = op->proc;
	call->args = op->args;
	call->fill = op->fill;
	call->priv = op->priv;
	call->keeps = op->keeps;
	return dafs_cred_handle(ses, op->conn, op->cred, call->cred);
}

/* One attempt on op->conn: 0 means that there is a response, whatever its status. */
static int dafs_op_send(struct dafs_session *ses, struct dafs_op *op)
{
	int err = dafs_op_prepare(ses, op);

	if (!err)
		err = dafs_op_start(op, op->call);
	if (err)
		return err;
	err = dafs_call_wait(op->call);
	if (!err)
		op->status = op->call->status;
	/* nobody knows whether the server has seen it */
	return err == -ENOTCONN && op->once ? -EREMOTEIO : err;
}

static int dafs_op_try(struct dafs_session *ses, struct dafs_op *op)
{
	struct dafs_conn *conn = dafs_conn_get(ses);

	if (IS_ERR(conn))
		return PTR_ERR(conn);
	op->conn = conn;
	return dafs_op_send(ses, op);
}

static int dafs_op_sleep(unsigned int *ms)
{
	*ms = clamp(2 * *ms, DAFS_PATIENCE_MIN_MS, DAFS_PATIENCE_MAX_MS);
	if (schedule_timeout_killable(msecs_to_jiffies(*ms)) &&
	    fatal_signal_pending(current))
		return -ERESTARTSYS;
	return 0;
}

/* Is it tried for as long as it takes? */
static bool dafs_op_insists(const struct dafs_session *ses, const struct dafs_op *op)
{
	return op->hard && !READ_ONCE(ses->params.soft);
}

/* The response is there.  Return: 1 to try again, 0 to report it, or an errno. */
static int dafs_op_judge(struct dafs_session *ses, struct dafs_op *op,
			 struct dafs_op_tries *tries)
{
	if (op->status == DAFSERR_DELAY || op->status == DAFSERR_GRACE)
		return dafs_op_sleep(&tries->delay_ms) ?: 1;
	/* nothing of it has been executed */
	if (op->status == DAFSERR_CHKSUM &&
	    (++tries->damaged < DAFS_OP_DAMAGED || dafs_op_insists(ses, op)))
		return dafs_op_sleep(&tries->delay_ms) ?: 1;
	if (op->status == DAFSERR_NO_CREDS && (!tries->forgot || dafs_op_insists(ses, op))) {
		dafs_cred_forget(ses, op->conn, op->call->cred);
		if (tries->forgot)
			return dafs_op_sleep(&tries->delay_ms) ?: 1;
		tries->forgot = true;
		return 1;
	}
	if (dafs_status_of_session(op->status)) {
		dafs_conn_stale(op->conn);
		if (++tries->refused < DAFS_OP_SESSIONS)
			return 1;
		return dafs_op_insists(ses, op) ? dafs_op_sleep(&tries->delay_ms) ?: 1 : -EIO;
	}
	return 0;
}

/* Return: 1 to try again, or @err. */
static int dafs_op_starved(const struct dafs_session *ses, const struct dafs_op *op, int err,
			   struct dafs_op_tries *tries)
{
	/* the credential did not arrive as it was sent, not in many attempts */
	if (err == -EBADMSG && dafs_op_insists(ses, op))
		return dafs_op_sleep(&tries->delay_ms) ?: 1;
	if (err != -ENOMEM && (err || op->status != DAFSERR_RESOURCE))
		return err;
	if (!op->dear || (++tries->starved >= DAFS_OP_STARVED && !dafs_op_insists(ses, op)))
		return err;
	return dafs_op_sleep(&tries->delay_ms) ?: 1;
}

/* Repeats until there is a response worth reporting. */
static int dafs_op_attempts(struct dafs_session *ses, struct dafs_op *op)
{
	struct dafs_op_tries tries = {};
	int err;

	for (;;) {
		err = dafs_op_starved(ses, op, dafs_op_try(ses, op), &tries);
		if (err < 0 && err != -ENOTCONN)
			return err;
		/* a server that connects but does not answer is no better than none */
		if (err < 0 && dafs_session_gives_up(ses, &tries.lost))
			return -ETIMEDOUT;
		if (!err) {
			err = dafs_op_judge(ses, op, &tries);
			if (err <= 0)
				return err;
		}
		dafs_op_end(op);
	}
}

static int dafs_op_offhand(struct dafs_session *ses, struct dafs_op *op)
{
	struct dafs_conn *conn = dafs_conn_try_get(ses);

	if (IS_ERR_OR_NULL(conn))
		return conn ? PTR_ERR(conn) : -ENOTCONN;
	op->conn = conn;
	return dafs_op_send(ses, op);
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
	if (!op->res || (op->status && op->call->stream.len <= DAFS_HDR_SIZE))
		return 0;
	if (!dafs_decode_res(&op->call->stream, op->proc, op->res))
		return 0;
	/* a server that cannot encode cannot be trusted (E-11) */
	dafs_conn_failed(op->conn);
	return -EIO;
}

/**
 * dafs_op_run() - perform an operation
 * @ses: the session
 * @op: filled in; to be ended by dafs_op_end() in any case
 *
 * Waits for the connection to come back as the session is told to, and for a
 * server that answers DELAY or GRACE.
 *
 * Context: may sleep; a fatal signal ends it.
 * Return: 0; the errno of the status the server answered, which is in
 * op->status; -EIO for a response that cannot be decoded or a dead session;
 * -ETIMEDOUT on a soft session; -ENOTCONN for an offhand operation without a
 * connection; -EREMOTEIO if the connection was lost while an
 * operation to be sent once was under way; what op->prepare returned; -ENOMEM;
 * -EMSGSIZE; -ERESTARTSYS.
 */
int dafs_op_run(struct dafs_session *ses, struct dafs_op *op)
{
	int err;

	err = op->offhand ? dafs_op_offhand(ses, op) : dafs_op_attempts(ses, op);
	if (!err)
		err = dafs_op_decode(op);
	return err ?: dafs_status_to_errno(op->status);
}
EXPORT_SYMBOL_IF_KUNIT(dafs_op_run);

/**
 * dafs_op_run_on() - perform an operation on a connection not yet in use
 * @ses: the session
 * @conn: its new connection; the caller holds a reference
 * @op: filled in; to be ended by dafs_op_end() in any case
 *
 * For those who recover a session: it does not wait for the session, and not
 * for long if the server asks for patience.
 *
 * Context: may sleep.
 * Return: as dafs_op_run(), and -ENOTCONN if the connection is lost.
 */
int dafs_op_run_on(struct dafs_session *ses, struct dafs_conn *conn, struct dafs_op *op)
{
	struct dafs_op_tries tries = {};
	unsigned int left = DAFS_OP_TRIES_ON;
	int err;

	do {
		dafs_op_end(op);
		kref_get(&conn->ref);
		op->conn = conn;
		err = dafs_op_send(ses, op) ?: dafs_op_judge(ses, op, &tries);
	} while (err > 0 && --left);
	if (err < 0)
		return err;
	return dafs_op_decode(op) ?: dafs_status_to_errno(op->status);
}
EXPORT_SYMBOL_IF_KUNIT(dafs_op_run_on);
