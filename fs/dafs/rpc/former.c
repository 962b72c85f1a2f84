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
 * until then.  One that was not asked for is told of when its path is connected again, if ever.
 */
#include <linux/slab.h>
#include "former.h"
#include "rpc_impl.h"

/**
 * dafs_former_alloc() - make a session that may be asked for
 * @path: whose session it will be
 *
 * Context: may sleep.
 * Return: the session, for dafs_former_put(); or NULL.
 */
struct dafs_former *dafs_former_alloc(struct dafs_path *path)
{
	struct dafs_former *former = kzalloc(sizeof(*former), GFP_KERNEL);

	if (!former)
		return NULL;
	kref_init(&former->ref);
	former->path = path;
	return former;
}

/* The path owns it until the server has been told. */
static void dafs_former_push(struct dafs_former *former)
{
	struct dafs_session *ses = former->path->ses;
	unsigned long flags;

	spin_lock_irqsave(&ses->lock, flags);
	list_add_tail(&former->link, &former->path->formers);
	spin_unlock_irqrestore(&ses->lock, flags);
}

/* Nothing is asked about it any more. */
static void dafs_former_release(struct kref *ref)
{
	struct dafs_former *former = container_of(ref, struct dafs_former, ref);

	if (former->begun)
		dafs_former_push(former);
	else
		kfree(former);
}

/**
 * dafs_former_put() - drop a reference
 * @former: the session
 *
 * Context: any; the session of the client exists.
 */
void dafs_former_put(struct dafs_former *former)
{
	kref_put(&former->ref, dafs_former_release);
}

static struct dafs_former *dafs_former_pop(struct dafs_path *path)
{
	struct dafs_former *former;

	spin_lock_irq(&path->ses->lock);
	former = list_first_entry_or_null(&path->formers, struct dafs_former, link);
	if (former)
		list_del(&former->link);
	spin_unlock_irq(&path->ses->lock);
	return former;
}

/**
 * dafs_formers_discard() - let the server forget sessions that are not asked about any more
 * @path: whose sessions they were
 *
 * One that the server has not ended yet is told of the next time.  What is never told of it forgets
 * by itself, later.
 *
 * Context: may sleep, not for long.
 */
void dafs_formers_discard(struct dafs_path *path)
{
	struct dafs_conn *conn = dafs_conn_present(path->ses->clnt);
	struct dafs_former *former;
	int err = conn ? 0 : -ENOTCONN;

	while (!err && (former = dafs_former_pop(path))) {
		struct dafs_discard_responses_args args = { .session_id = former->session_id };

		err = dafs_conn_tell(conn, DAFS_PROC_DISCARD_RESPONSES, &args);
		if (err)
			dafs_former_push(former);
		else
			kfree(former);
	}
	if (conn)
		dafs_conn_put(conn);
}

/**
 * dafs_formers_free() - free the sessions that the server was not told to forget
 * @path: whose sessions they were
 *
 * Context: may sleep; no request is left.
 */
void dafs_formers_free(struct dafs_path *path)
{
	struct dafs_former *former;

	while ((former = dafs_former_pop(path)))
		kfree(former);
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
 * @xid: the request, if there is one
 *
 * Context: may sleep, not for long.
 */
void dafs_xid_drop(struct dafs_xid *xid)
{
	struct dafs_former *former = xid->former;
	struct dafs_path *path;
	bool asked;

	if (!former)
		return;
	xid->former = NULL;
	path = former->path;
	asked = READ_ONCE(former->asked);
	dafs_former_put(former);
	if (asked)
		dafs_formers_discard(path);
}
