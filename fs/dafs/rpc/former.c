// SPDX-License-Identifier: GPL-2.0
/*
 * What became of requests whose connection was lost (5.2.5).
 *
 * The server may have executed a request that has no response.  Before one that changes something
 * is sent again, the server is asked on the next connection.  It first ends the session that was
 * lost, so what it says does not change any more.
 *
 * The server is told to forget the session when all requests that were outstanding on it are
 * settled: none of them could be asked for any more, and would be executed twice.  Each has a
 * reference from before it gives up its reference to the connection, and the connection has one
 * until then.
 */
#include <linux/slab.h>
#include "former.h"
#include "rpc_impl.h"

/**
 * dafs_former_alloc() - make a session that may be asked for
 *
 * Context: may sleep.
 * Return: the session, for dafs_former_put(); or NULL.
 */
struct dafs_former *dafs_former_alloc(void)
{
	struct dafs_former *former = kzalloc(sizeof(*former), GFP_KERNEL);

	if (former)
		kref_init(&former->ref);
	return former;
}

static void dafs_former_free(struct kref *ref)
{
	kfree(container_of(ref, struct dafs_former, ref));
}

/* If the message is lost the server forgets it by itself, later. */
static void dafs_former_discard(struct dafs_client *clnt, const struct dafs_former *former)
{
	struct dafs_discard_responses_args args = { .session_id = former->session_id };
	struct dafs_conn *conn = dafs_conn_try_get(clnt->ses);

	if (IS_ERR_OR_NULL(conn))
		return;
	dafs_conn_notify(conn, DAFS_PROC_DISCARD_RESPONSES, &args);
	dafs_conn_put(conn);
}

/**
 * dafs_former_put() - drop a reference
 * @clnt: the client; NULL if the server is not to be told
 * @former: the session
 *
 * Context: with @clnt may sleep, not for long; otherwise any.
 */
void dafs_former_put(struct dafs_client *clnt, struct dafs_former *former)
{
	/* the last one: requests take theirs while the connection has one */
	if (clnt && former->asked && kref_read(&former->ref) == 1)
		dafs_former_discard(clnt, former);
	kref_put(&former->ref, dafs_former_free);
}

/* Return: true for the fs-state-modifying and lock-state-modifying requests of 4.3.1. */
static bool dafs_proc_modifies(u32 proc)
{
	switch (proc) {
	case DAFS_PROC_APPEND_DIRECT:
	case DAFS_PROC_APPEND_INLINE:
	case DAFS_PROC_BATCH_SUBMIT:
	case DAFS_PROC_CLOSE:
	case DAFS_PROC_COMMIT:
	case DAFS_PROC_CREATE:
	case DAFS_PROC_DELEGPURGE:
	case DAFS_PROC_DELEGRETURN:
	case DAFS_PROC_HURRY_UP:
	case DAFS_PROC_LINK:
	case DAFS_PROC_OPEN:
	case DAFS_PROC_REMOVE:
	case DAFS_PROC_RENAME:
	case DAFS_PROC_SETATTR_DIRECT:
	case DAFS_PROC_SETATTR_INLINE:
	case DAFS_PROC_WRITE_DIRECT:
	case DAFS_PROC_WRITE_INLINE:
	case DAFS_PROC_OPEN_DOWNGRADE:
	case DAFS_PROC_LOCK:
	case DAFS_PROC_LOCKT:
	case DAFS_PROC_LOCKU:
		return true;
	default:
		return false;
	}
}

/**
 * dafs_xid_note() - the connection of a request was lost: its server is to be asked
 * @xid: set
 * @conn: the connection
 * @call: the call, which was sent; without a response
 *
 * Context: any.
 * Return: false if the request changes nothing, or the mount does not ask.
 */
bool dafs_xid_note(struct dafs_xid *xid, const struct dafs_conn *conn,
		   const struct dafs_call *call)
{
	if (!conn->former || !dafs_proc_modifies(call->proc))
		return false;
	if (WARN_ON_ONCE(xid->former))
		return true;
	kref_get(&conn->former->ref);
	*xid = (struct dafs_xid){
		.former = conn->former,
		.stream = call->slot,
		.seq = call->hdr.seq_number,
		.proc = call->proc,
	};
	return true;
}

/**
 * dafs_xid_drop() - the caller need not ask any more what became of a request
 * @clnt: the client
 * @xid: the request, if there is one
 *
 * Context: may sleep, not for long.
 */
void dafs_xid_drop(struct dafs_client *clnt, struct dafs_xid *xid)
{
	struct dafs_former *former = xid->former;

	xid->former = NULL;
	if (former)
		dafs_former_put(clnt, former);
}
