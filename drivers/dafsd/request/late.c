// SPDX-License-Identifier: GPL-2.0
/*
 * Late changes: changes that are still executed after their connection was closed.
 *
 * A client that loses its connection makes a new one and repeats the requests that were
 * not answered (4.3.4).  Requests that waited on the old connection are not started any
 * more.  But a change that a file system is already executing continues.  It could take
 * effect after its repetition and after the requests that followed: a late truncation
 * could cut off data that was written and committed in the meantime.  So while such a
 * change is executed, all other changes that the same client requests in the same export
 * are answered DELAY.
 *
 * The client may notice the loss before the server does.  The discriminator of a new
 * connection names the connection that it replaces, and the server ends that one before
 * the new one is used, see dafsd_sessions_supersede().
 *
 * While a change is executed it is in a list of its connection.  It is added to the list
 * before its worker checks that the channel is open.  When a channel is closed, it is
 * marked closed before the list is read.  So a change that is not in the list at that
 * time is never started.
 *
 * A client repeats a change without a response, and mkdir(2) may fail because it was executed.
 * So a server that stops executes no more changes, but answers those that it is executing before
 * it ends their connections.  It counts them (dafsd_conn.unanswered) from here until their
 * responses have left.
 */
#include "../session/server.h"
#include "../session/client.h"
#include "../session/conn.h"
#include "../session/session.h"
#include "../export/export.h"
#include "procedure.h"
#include "request.h"

static bool dafsd_late_counts(const struct dafsd_rqst *rq)
{
	return rq->proc->class >= DAFSD_FS_MODIFY && !(rq->proc->flags & DAFSD_P_REPEATABLE);
}

/**
 * dafsd_late_begin() - a request is about to be executed
 * @rq: the request; the caller checks afterwards that its channel is open
 *
 * Context: process.
 */
void dafsd_late_begin(struct dafsd_rqst *rq)
{
	INIT_LIST_HEAD(&rq->change_link);
	if (!dafsd_late_counts(rq))
		return;
	if (!rq->counted)
		atomic_inc(&rq->conn->unanswered);
	rq->counted = true;
	spin_lock_irq(&rq->conn->lock);
	list_add(&rq->change_link, &rq->conn->changing);
	spin_unlock_irq(&rq->conn->lock);
	/* pairs with dafsd_late_closed() and dafsd_conns_drain() */
	smp_mb();
}

/**
 * dafsd_late_end() - a request has been executed, or was refused
 * @rq: the request of dafsd_late_begin()
 *
 * Context: process.
 */
void dafsd_late_end(struct dafsd_rqst *rq)
{
	struct dafsd_conn *conn = rq->conn;

	if (list_empty(&rq->change_link))
		return;
	spin_lock_irq(&conn->lock);
	list_del(&rq->change_link);
	spin_unlock_irq(&conn->lock);
	/* if its channel is just being closed, dafsd_conn_finish() does this */
	if (!list_empty(&conn->late_node))
		dafsd_late_over(conn);
}

/**
 * dafsd_late_answered() - the response to a request has left, or it waits and has changed nothing
 * @rq: the request
 *
 * Context: any.
 */
void dafsd_late_answered(struct dafsd_rqst *rq)
{
	struct dafsd_server *server = rq->conn->server;

	if (!rq->counted)
		return;
	rq->counted = false;
	/* orders the count before the look at @stopping: pairs with dafsd_conns_drain() */
	if (atomic_dec_and_test(&rq->conn->unanswered) && READ_ONCE(server->stopping))
		wake_up(&server->answered);
}

/* Disabling and enabling an export makes a new object for the same files. */
static bool dafsd_late_same(const struct dafsd_export *a, const struct dafsd_export *b)
{
	return !memcmp(a->fshandle, b->fshandle, DAFS_FSHANDLE_SIZE);
}

/* A request that has not reached an export yet may go to any of them. */
static bool dafsd_late_meets(const struct dafsd_rqst *rq, struct dafsd_conn *conn)
{
	const struct dafsd_export *exp;
	struct dafsd_rqst *other;
	bool meets = false;

	guard(rcu)();	/* the other request may leave its export */
	spin_lock(&conn->lock);
	list_for_each_entry(other, &conn->changing, change_link) {
		exp = READ_ONCE(other->exp);
		meets = !rq->exp || !exp || dafsd_late_same(rq->exp, exp);
		if (meets)
			break;
	}
	spin_unlock(&conn->lock);
	return meets;
}

/*
 * The late connections are few: each has a change that is executed, and the number of
 * workers is limited.
 */
static bool dafsd_late_meets_any(const struct dafsd_rqst *rq)
{
	struct dafsd_client *client = rq->ses->client;
	struct dafsd_conn *conn;
	bool meets = false;

	/* after dafsd_late_closed(), dafsd_rqst.exp of the requests is up to date */
	spin_lock_irq(&client->late_lock);
	list_for_each_entry(conn, &client->late, late_node) {
		meets = dafsd_late_meets(rq, conn);
		if (meets)
			break;
	}
	spin_unlock_irq(&client->late_lock);
	return meets;
}

/**
 * dafsd_late_check() - may a request be executed now?
 * @rq: the request, between dafsd_late_begin() and dafsd_late_end(); its session is
 *	ready
 *
 * Context: process.
 * Return: OK; DELAY while a change of the same client is still executed whose connection
 * has been closed, or if the server stops.
 */
dafs_status_t dafsd_late_check(struct dafsd_rqst *rq)
{
	if (list_empty(&rq->change_link))
		return DAFS_STATUS_OK;
	if (READ_ONCE(rq->conn->server->stopping)) {
		/* it has changed nothing, so dafsd_conns_drain() need not wait for its response */
		dafsd_late_answered(rq);
		return DAFSERR_DELAY;
	}
	if (list_empty(&rq->ses->client->late))
		return DAFS_STATUS_OK;
	return dafsd_late_meets_any(rq) ? DAFSERR_DELAY : DAFS_STATUS_OK;
}

/**
 * dafsd_late_check_moved() - dafsd_late_check() for a request that moved to another export
 * @rq: the request; has changed nothing yet, and dafsd_rqst.exp is the new export
 *
 * Context: process.
 * Return: as dafsd_late_check(); IO if its own channel was closed in the meantime: the
 * checks of later requests may have seen @rq in the export that it came from.
 */
dafs_status_t dafsd_late_check_moved(struct dafsd_rqst *rq)
{
	if (list_empty(&rq->change_link))
		return DAFS_STATUS_OK;
	/* pairs with dafsd_late_closed() */
	smp_mb();
	if (dafs_chan_is_open(rq->base.chan))
		return dafsd_late_check(rq);
	/* it is refused, not executed: see dafsd_cached_end() */
	rq->ran = false;
	return DAFSERR_IO;
}
