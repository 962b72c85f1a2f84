// SPDX-License-Identifier: GPL-2.0
/*
 * Where requests wait, and the shares of the workers.
 *
 * No worker waits for another one, or for the network.  A request that cannot go
 * on is parked on the object that it waits for, and queued again by the event:
 *
 *	lane		a worker of its export is free
 *	sq_waiting	the send queue of a session has room
 *	alone		all other requests of the session have been answered
 *	(the device)	an RDMA read has ended; on no list
 *
 * What may keep a worker for long is the file system of an export alone, so every
 * export has a lane: a bounded share of the workers.  A session that has none of
 * the workers at the moment gets one when the others of the export are all busy
 * for those that ask for more, so that many requests of some sessions do not
 * delay the few of the others.
 *
 * Who owns a request (dafsd_rqst.owner; every hand-over asserts it):
 *
 *  1. It arrives (CHAINED) and is queued (QUEUED), or left with the request before
 *     it in its chain.
 *  2. A worker takes it (WORKER), and alone may touch it until 3 or 4.
 *  3. The worker parks it (PARKED) or posts its RDMA reads (DEVICE).  The event
 *     queues it again (QUEUED), once.
 *  4. The worker replies, and the responder has it (ANSWERED) until ->sent().
 *  5. When a session ends, all that it has parked is queued, and nothing of it is
 *     parked any more.  Every step finds the channel closed then.
 */
#include <linux/nodemask.h>
#include <linux/slab.h>
#include "dafsd.h"

/*
 * Workers that all lanes together may take; the rest is for what does not block.  A
 * work queue gives each node of the machine its part of the workers, and what comes
 * from one card runs on one node.
 */
static int dafsd_lane_workers(void)
{
	int workers = DAFSD_WORKERS / num_online_nodes();

	return workers - workers / 8;
}

/* Guards all lists of parked requests, and dafsd_session.ending. */
static DEFINE_SPINLOCK(dafsd_park_lock);

static atomic_t dafsd_nr_lanes = ATOMIC_INIT(0);

/* Of requests that name no export: the directories that lead to exports. */
static struct dafsd_lane dafsd_lane_common = {
	.waiting = LIST_HEAD_INIT(dafsd_lane_common.waiting),
};

/**
 * dafsd_lane_init() - a share of the workers for an export
 * @lane: the share
 */
void dafsd_lane_init(struct dafsd_lane *lane)
{
	atomic_set(&lane->running, 0);
	INIT_LIST_HEAD(&lane->waiting);
	atomic_inc(&dafsd_nr_lanes);
}

/**
 * dafsd_lane_exit() - the export is gone
 * @lane: its share, which no request has any more
 */
void dafsd_lane_exit(struct dafsd_lane *lane)
{
	WARN_ON_ONCE(atomic_read(&lane->running) || !list_empty(&lane->waiting));
	atomic_dec(&dafsd_nr_lanes);
}

/**
 * dafsd_rqst_hand() - a request changes hands
 * @rq: the request
 * @from: whose it is
 * @to: whose it will be
 */
void dafsd_rqst_hand(struct dafsd_rqst *rq, enum dafsd_owner from, enum dafsd_owner to)
{
	WARN_ON_ONCE(xchg(&rq->owner, to) != from);
}

/* Return: false if nothing of the session may wait any more. */
static bool dafsd_park(struct dafsd_rqst *rq, struct list_head *where)
{
	lockdep_assert_held(&dafsd_park_lock);
	if (rq->ses->ending)
		return false;
	dafsd_rqst_hand(rq, DAFSD_OWNER_WORKER, DAFSD_OWNER_PARKED);
	list_add_tail(&rq->park_link, where);
	list_add_tail(&rq->park_own, &rq->ses->parked);
	return true;
}

static void dafsd_unpark(struct dafsd_rqst *rq)
{
	lockdep_assert_held(&dafsd_park_lock);
	list_del(&rq->park_link);
	list_del(&rq->park_own);
	dafsd_rqst_queue(rq, DAFSD_OWNER_PARKED);
}

static void dafsd_unpark_all(struct list_head *list)
{
	struct dafsd_rqst *rq, *next;

	list_for_each_entry_safe(rq, next, list, park_link)
		dafsd_unpark(rq);
}

/*
 * The exports share the workers, so that all of them together leave some.  Half
 * of a share is for sessions that have nothing running.
 */
static int dafsd_lane_most(const struct dafsd_session *ses)
{
	int share = clamp(dafsd_lane_workers() / (atomic_read(&dafsd_nr_lanes) + 1), 2, 128);

	return atomic_read(&ses->running) ? share / 2 : share;
}

static bool dafsd_lane_try(struct dafsd_lane *lane, struct dafsd_rqst *rq)
{
	int most = dafsd_lane_most(rq->ses);
	int have = atomic_read(&lane->running);

	do {
		if (have >= most)
			return false;
	} while (!atomic_try_cmpxchg(&lane->running, &have, have + 1));
	atomic_inc(&rq->ses->running);
	rq->lane = lane;
	return true;
}

static void dafsd_lane_feed(struct dafsd_lane *lane)
{
	struct dafsd_rqst *rq;

	lockdep_assert_held(&dafsd_park_lock);
	while ((rq = list_first_entry_or_null(&lane->waiting, struct dafsd_rqst, park_link)) &&
	       dafsd_lane_try(lane, rq))
		dafsd_unpark(rq);
}

/**
 * dafsd_lane_enter() - take a worker's place in the export that a request names
 * @rq: the request, which a worker has; its stage is what comes next
 * @fh: the filehandle that it names, or NULL if it names none
 *
 * What names none needs no file system, and goes on.
 *
 * Context: process.
 * Return: false if @rq was parked; it is not the caller's any more.
 */
bool dafsd_lane_enter(struct dafsd_rqst *rq, const struct dafs_fh *fh)
{
	struct dafsd_lane *lane = &dafsd_lane_common;
	unsigned long flags;
	bool parked;

	if (!fh)
		return true;
	rq->exp = dafsd_export_find(fh->fshandle);
	if (rq->exp)
		lane = &rq->exp->lane;
	/* a session that has nothing running does not wait behind those that have */
	if ((!atomic_read(&rq->ses->running) || list_empty(&lane->waiting)) &&
	    dafsd_lane_try(lane, rq))
		return true;
	spin_lock_irqsave(&dafsd_park_lock, flags);
	parked = dafsd_park(rq, &lane->waiting);
	/* pairs with dafsd_lane_leave(), which may have seen no one waiting */
	smp_mb();
	dafsd_lane_feed(lane);
	spin_unlock_irqrestore(&dafsd_park_lock, flags);
	return !parked;
}

/* One place is free. */
static void dafsd_lane_drop(struct dafsd_lane *lane, struct dafsd_session *ses)
{
	unsigned long flags;

	atomic_dec(&ses->running);
	atomic_dec(&lane->running);
	smp_mb__after_atomic();	/* see dafsd_lane_enter() */
	if (list_empty(&lane->waiting))
		return;
	spin_lock_irqsave(&dafsd_park_lock, flags);
	dafsd_lane_feed(lane);
	spin_unlock_irqrestore(&dafsd_park_lock, flags);
}

/**
 * dafsd_lane_change() - a request comes from where it began to another export
 * @rq: the request, which a worker has, in the middle of its work
 * @exp: the export
 *
 * Otherwise lookups in an export that stands still would take the places of others.
 *
 * Context: process; may sleep.
 * Return: false if all places there are taken; the client has to come again.
 */
bool dafsd_lane_change(struct dafsd_rqst *rq, struct dafsd_export *exp)
{
	struct dafsd_lane *from = rq->lane;

	if (!from || from == &exp->lane)
		return true;
	if (!list_empty(&exp->lane.waiting) || !dafsd_lane_try(&exp->lane, rq))
		return false;
	dafsd_lane_drop(from, rq->ses);
	if (rq->exp)
		dafsd_export_put(rq->exp);
	kref_get(&exp->ref);
	rq->exp = exp;
	return true;
}

/**
 * dafsd_lane_leave() - give the worker's place back, if the request has one
 * @rq: the request
 *
 * Context: process; may sleep.
 */
void dafsd_lane_leave(struct dafsd_rqst *rq)
{
	struct dafsd_lane *lane = rq->lane;

	rq->lane = NULL;
	if (lane)
		dafsd_lane_drop(lane, rq->ses);
	if (rq->exp)
		dafsd_export_put(rq->exp);
	rq->exp = NULL;
}

static bool dafsd_sq_try(struct dafsd_io *io)
{
	int have = atomic_read(&io->ses->sq_avail);

	do {
		if (have < io->sq_wanted)
			return false;
	} while (!atomic_try_cmpxchg(&io->ses->sq_avail, &have, have - io->sq_wanted));
	io->sq_used = io->sq_wanted;
	return true;
}

/* In the order of arrival, so that much does not wait for ever for a few. */
static void dafsd_sq_feed(struct dafsd_session *ses)
{
	struct dafsd_rqst *rq;

	lockdep_assert_held(&dafsd_park_lock);
	while ((rq = list_first_entry_or_null(&ses->sq_waiting, struct dafsd_rqst, park_link)) &&
	       dafsd_sq_try(&rq->io))
		dafsd_unpark(rq);
}

/**
 * dafsd_sq_enter() - reserve room in the send queue for the RDMA of a request
 * @rq: the request, which a worker has; its stage is what comes next
 *
 * Context: process.
 * Return: false if @rq was parked; it is not the caller's any more.  If the
 * session has ended there is no room: io.sq_used is 0.
 */
bool dafsd_sq_enter(struct dafsd_rqst *rq)
{
	struct dafsd_session *on = rq->io.ses;
	unsigned long flags;
	bool parked = false;

	if (list_empty(&on->sq_waiting) && dafsd_sq_try(&rq->io))
		return true;
	spin_lock_irqsave(&dafsd_park_lock, flags);
	if (!on->ending)
		parked = dafsd_park(rq, &on->sq_waiting);
	/* pairs with dafsd_sq_leave() */
	smp_mb();
	dafsd_sq_feed(on);
	spin_unlock_irqrestore(&dafsd_park_lock, flags);
	return !parked;
}

/**
 * dafsd_sq_leave() - give room in the send queue back
 * @io: what had it
 *
 * Context: any.
 */
void dafsd_sq_leave(struct dafsd_io *io)
{
	unsigned long flags;

	atomic_add(io->sq_used, &io->ses->sq_avail);
	io->sq_used = 0;
	io->sq_wanted = 0;
	smp_mb__after_atomic();	/* see dafsd_sq_enter() */
	if (list_empty(&io->ses->sq_waiting))
		return;
	spin_lock_irqsave(&dafsd_park_lock, flags);
	dafsd_sq_feed(io->ses);
	spin_unlock_irqrestore(&dafsd_park_lock, flags);
}

/**
 * dafsd_park_alone() - wait until a request is the only one of its session
 * @rq: the request, which a worker has; its stage is what comes next
 *
 * Context: process.
 * Return: false if @rq was parked; it is not the caller's any more.
 */
bool dafsd_park_alone(struct dafsd_rqst *rq)
{
	struct dafsd_session *ses = rq->ses;
	unsigned long flags;
	bool parked;

	if (atomic_read(&ses->busy) == DAFSD_BUSY_ALONE)
		return true;
	spin_lock_irqsave(&dafsd_park_lock, flags);
	parked = dafsd_park(rq, &ses->alone);
	/* pairs with the decrement of @busy */
	smp_mb();
	if (parked && atomic_read(&ses->busy) == DAFSD_BUSY_ALONE)
		dafsd_unpark(rq);
	spin_unlock_irqrestore(&dafsd_park_lock, flags);
	return !parked;
}

/**
 * dafsd_unpark_alone() - one request of a session is left
 * @ses: the session
 *
 * Context: any.
 */
void dafsd_unpark_alone(struct dafsd_session *ses)
{
	unsigned long flags;

	if (list_empty(&ses->alone))
		return;
	spin_lock_irqsave(&dafsd_park_lock, flags);
	dafsd_unpark_all(&ses->alone);
	spin_unlock_irqrestore(&dafsd_park_lock, flags);
}

/**
 * dafsd_park_end() - nothing waits any more for a session, or as a part of it
 * @ses: the session; its channel is quiesced
 *
 * Context: process.
 */
void dafsd_park_end(struct dafsd_session *ses)
{
	struct dafsd_rqst *rq, *next;
	unsigned long flags;

	spin_lock_irqsave(&dafsd_park_lock, flags);
	ses->ending = true;
	list_for_each_entry_safe(rq, next, &ses->parked, park_own)
		dafsd_unpark(rq);
	/* of another session, if this one is its RDMA-read channel */
	dafsd_unpark_all(&ses->sq_waiting);
	spin_unlock_irqrestore(&dafsd_park_lock, flags);
}
