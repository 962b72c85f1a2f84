// SPDX-License-Identifier: GPL-2.0
/*
 * Changes that outlive their connection.
 *
 * A client that loses its connection makes another one and repeats what was not
 * answered (4.3.4).  What was waiting on the old one is not begun any more, but a change
 * that was in the hands of a file system goes on, and might be done after its
 * repetition and after what came behind that: a truncation that cuts off data written
 * and committed since.  So as long as there is such a change, all others that its client
 * asks for in the same export are answered DELAY.
 *
 * The client may notice before the server does.  A connection that comes in place of
 * another one says so by its discriminator, and ends that one before it is used, see
 * dafsd_sessions_supersede().
 *
 * Every change is listed with its session while it is executed, before it looks whether
 * the channel is open.  Where a channel closes, that is done before the list is looked
 * at; so a change that is not seen there is not begun.
 */
#include "../session/client.h"
#include "../session/session.h"
#include "../export/export.h"
#include "procedure.h"
#include "request.h"

static bool dafsd_late_counts(const struct dafsd_rqst *rq)
{
	return rq->proc->class == DAFSD_FS_MODIFY && !(rq->proc->flags & DAFSD_P_REPEATABLE);
}

/**
 * dafsd_late_begin() - a request is about to be executed
 * @rq: the request; whether its channel is open is looked at after this
 *
 * Context: process.
 */
void dafsd_late_begin(struct dafsd_rqst *rq)
{
	INIT_LIST_HEAD(&rq->change_link);
	if (!dafsd_late_counts(rq))
		return;
	spin_lock(&rq->ses->lock);
	list_add(&rq->change_link, &rq->ses->changing);
	spin_unlock(&rq->ses->lock);
	/* pairs with dafsd_late_closed() */
	smp_mb();
}

/**
 * dafsd_late_end() - it has been executed, or not
 * @rq: the request of dafsd_late_begin()
 *
 * Context: process.
 */
void dafsd_late_end(struct dafsd_rqst *rq)
{
	struct dafsd_session *ses = rq->ses;

	if (list_empty(&rq->change_link))
		return;
	spin_lock(&ses->lock);
	list_del(&rq->change_link);
	if (list_empty(&ses->changing))
		dafsd_late_over(ses);
	spin_unlock(&ses->lock);
}

/* An export that is disabled and enabled again is another one with the same files. */
static bool dafsd_late_same(const struct dafsd_export *a, const struct dafsd_export *b)
{
	return !memcmp(a->fshandle, b->fshandle, DAFS_FSHANDLE_SIZE);
}

/* A request that has not come to an export yet may go to any. */
static bool dafsd_late_meets(const struct dafsd_rqst *rq, struct dafsd_session *ses)
{
	const struct dafsd_export *exp;
	struct dafsd_rqst *other;
	bool meets = false;

	guard(rcu)();	/* the other request may leave its export */
	spin_lock(&ses->lock);
	list_for_each_entry(other, &ses->changing, change_link) {
		exp = READ_ONCE(other->exp);
		if (!rq->exp || !exp || dafsd_late_same(rq->exp, exp))
			meets = true;
	}
	spin_unlock(&ses->lock);
	return meets;
}

static bool dafsd_late_session(struct dafsd_session *ses, const void *of)
{
	const struct dafsd_rqst *rq = of;

	/* pairs with dafsd_late_closed(): its requests are in the export that counts */
	return smp_load_acquire(&ses->late) && READ_ONCE(ses->client) == rq->ses->client &&
	       dafsd_late_meets(rq, ses);
}

/**
 * dafsd_late_check() - may a request be executed now?
 * @rq: the request, between dafsd_late_begin() and dafsd_late_end(); its session is
 *	ready
 *
 * Context: process.
 * Return: OK; DELAY while a change of its client is executed whose connection
 * has closed.
 */
u32 dafsd_late_check(const struct dafsd_rqst *rq)
{
	if (list_empty(&rq->change_link) || !atomic_read(&rq->ses->client->nr_late))
		return DAFS_STATUS_OK;
	return dafsd_sessions_any(dafsd_late_session, rq) ? DAFSERR_DELAY : DAFS_STATUS_OK;
}

/**
 * dafsd_late_check_moved() - as dafsd_late_check(), of a request that came to another export
 * @rq: the request; has changed nothing yet, and dafsd_rqst.exp is the new one
 *
 * Context: process.
 * Return: as dafsd_late_check(); IO if its own channel has closed meanwhile: those that come
 * behind it may have seen it in the export that it came from.
 */
u32 dafsd_late_check_moved(const struct dafsd_rqst *rq)
{
	if (list_empty(&rq->change_link))
		return DAFS_STATUS_OK;
	/* pairs with dafsd_late_closed() */
	smp_mb();
	return dafs_chan_is_open(rq->base.chan) ? dafsd_late_check(rq) : DAFSERR_IO;
}
