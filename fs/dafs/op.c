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

#define DAFS_PATIENCE_MIN_MS	50
#define DAFS_PATIENCE_MAX_MS	5000

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
static int dafs_op_send(struct dafs_op *op, struct dafs_call *call)
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
	return err;
}

/* One attempt: 0 means that there is a response, whatever its status. */
static int dafs_op_try(struct dafs_session *ses, struct dafs_op *op)
{
	struct dafs_call *call;
	int err;

	op->conn = dafs_conn_get(ses);
	if (IS_ERR(op->conn)) {
		err = PTR_ERR(op->conn);
		op->conn = NULL;
		return err;
	}
	call = dafs_call_alloc(GFP_KERNEL);
	if (!call)
		return -ENOMEM;
	op->call = call;
	call->proc = op->proc;
	call->args = op->args;
	call->fill = op->fill;
	call->priv = op->priv;
	err = dafs_cred_handle(ses, op->conn, op->cred, call->cred);
	if (!err)
		err = dafs_op_send(op, call);
	if (err)
		return err;
	err = dafs_call_wait(call);
	op->status = call->status;
	/* nobody knows whether the server has seen it */
	return err == -ENOTCONN && op->once ? -EREMOTEIO : err;
}

static int dafs_op_sleep(unsigned int *ms)
{
	if (schedule_timeout_killable(msecs_to_jiffies(*ms)) &&
	    fatal_signal_pending(current))
		return -ERESTARTSYS;
	*ms = min(2 * *ms, DAFS_PATIENCE_MAX_MS);
	return 0;
}

/* Repeats until there is a response worth reporting. */
static int dafs_op_attempts(struct dafs_session *ses, struct dafs_op *op)
{
	unsigned int patience = DAFS_PATIENCE_MIN_MS;
	unsigned int lost = 0;
	bool forgot = false;
	int err;

	for (;;) {
		err = dafs_op_try(ses, op);
		if (err && err != -ENOTCONN)
			return err;
		/* a server that connects but does not answer is no better than none */
		if (err && ses->params.soft && ++lost > ses->params.retrans)
			return -ETIMEDOUT;
		if (!err) {
			switch (op->status) {
			case DAFSERR_DELAY:
			case DAFSERR_GRACE:
				err = dafs_op_sleep(&patience);
				if (err)
					return err;
				break;
			case DAFSERR_NO_CREDS:
				if (forgot)
					return 0;
				forgot = true;
				dafs_cred_forget(ses, op->call->cred);
				break;
			default:
				return 0;
			}
		}
		dafs_op_end(op);
	}
}

static int dafs_op_decode(struct dafs_op *op)
{
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
 * -ETIMEDOUT on a soft session; -EREMOTEIO if the connection was lost while an
 * operation to be sent once was under way; what op->prepare returned; -ENOMEM;
 * -EMSGSIZE; -ERESTARTSYS.
 */
int dafs_op_run(struct dafs_session *ses, struct dafs_op *op)
{
	int err;

	err = dafs_op_attempts(ses, op);
	if (!err)
		err = dafs_op_decode(op);
	return err ?: dafs_status_to_errno(op->status);
}
EXPORT_SYMBOL_IF_KUNIT(dafs_op_run);
