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
 *	(the device)	its RDMA has ended: reads, or a round of writes with more to
 *			follow; on no list
 *
 * What may keep a worker for long is the file system of an export alone, so every
 * export has a lane: a bounded share of the workers.  A session without a worker there
 * goes ahead of sessions that already have one, so that many requests of some
 * sessions do not delay the few of the others.  What a session has in other lanes does
 * not count: an export that stands still does not make it wait for those that do not.
 *
 * However many exports stand still, an eighth of the workers is left for what needs no
 * file system, and to park the rest.  So the few places that every lane has even then
 * have workers of their own, those of dafsd_least_wq, which are enough for some 100
 * exports (15 on a machine of eight equal nodes); what comes to more of them than that waits.
 *
 * Who owns a request (dafsd_rqst.owner; every hand-over asserts it):
 *
 *  1. It arrives (CHAINED) and is queued (QUEUED), or left with the request before
 *     it in its chain.
 *  2. A worker takes it (WORKER), and alone may touch it until 3 or 4.
 *  3. The worker parks it (PARKED) or posts its RDMA (DEVICE).  The event
 *     queues it again (QUEUED), once.
 *  4. The worker replies, and the responder has it (ANSWERED) until ->sent().
 *  5. When a session ends, all that it has parked is queued, and nothing of it is
 *     parked any more.  Every step finds the channel closed then.
 */
#include <linux/cpumask.h>
#include <linux/nodemask.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include <kunit/visibility.h>
#include "../session/server.h"
#include "../session/session.h"
#include "../session/trace.h"
#include "../export/lane.h"
#include "../export/export.h"
#include "io.h"
#include "request.h"

/* Places that an export has, however many of the others need theirs */
#define DAFSD_LANE_LEAST	4

/* Places that one export may have */
unsigned int dafsd_lane_most = 128;
EXPORT_SYMBOL_IF_KUNIT(dafsd_lane_most);

/* Workers of dafsd_wq; fewer in tests */
unsigned int dafsd_workers = DAFSD_WORKERS;
EXPORT_SYMBOL_IF_KUNIT(dafsd_workers);

/* Places that are taken by workers of dafsd_wq, in all lanes */
static atomic_t dafsd_lanes_running = ATOMIC_INIT(0);

/* CPUs as dafsd_cpus_count() found them: all in the upper half, see dafsd_cpus_few() */
static u32 dafsd_cpus;

static u32 dafsd_cpus_count(u32 all)
{
	u32 few = all, here;
	int node;

	for_each_online_node(node) {
		here = cpumask_weight_and(cpumask_of_node(node), cpu_online_mask);
		if (here)
			few = min(few, here);
	}
	return all << 16 | few;
}

/* Of @all CPUs, those of the node that has the fewest; counted again when CPUs came or went */
static u32 dafsd_cpus_few(u32 all)
{
	u32 cpus = READ_ONCE(dafsd_cpus);

	if (cpus >> 16 != all) {
		cpus = dafsd_cpus_count(all);
		WRITE_ONCE(dafsd_cpus, cpus);
	}
	return cpus & 0xffff;
}

/*
 * Workers of dafsd_wq that all lanes together may take.  A work queue gives each node of
 * the machine as much of the workers as it has of the CPUs, and what comes from one card
 * runs on one node, which may be the smallest.
 */
static int dafsd_lane_workers(void)
{
	u32 all = num_online_cpus();
	int workers = max(READ_ONCE(dafsd_workers) * dafsd_cpus_few(all) / all, 1U);

	return workers - workers / 8;
}

/* Guards all lists of parked requests, dafsd_lanes_short, and dafsd_session.ending. */
static DEFINE_SPINLOCK(dafsd_park_lock);

/* Lanes that requests wait for; what has got a place the longest time ago comes first */
static LIST_HEAD(dafsd_lanes_short);

/* Of requests that name no export: the directories that lead to exports. */
static struct dafsd_lane dafsd_lane_common = {
	.short_link = LIST_HEAD_INIT(dafsd_lane_common.short_link),
	.first = LIST_HEAD_INIT(dafsd_lane_common.first),
	.waiting = LIST_HEAD_INIT(dafsd_lane_common.waiting),
};

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

/* Return: false if nothing of the session may wait any more, for @what or anything else. */
static bool dafsd_park(struct dafsd_rqst *rq, struct list_head *where, const char *what)
{
	lockdep_assert_held(&dafsd_park_lock);
	if (rq->ses->ending)
		return false;
	trace_dafsd_wait(&rq->base, what);
	dafsd_rqst_hand(rq, DAFSD_OWNER_WORKER, DAFSD_OWNER_PARKED);
	list_add_tail(&rq->park_link, where);
	list_add_tail(&rq->park_own, &rq->ses->parked);
	WRITE_ONCE(rq->ses->waiting, rq->ses->waiting + 1);
	return true;
}

/* One request less waits there: it is the turn of the other lanes. */
static void dafsd_lane_served(struct dafsd_lane *lane)
{
	lockdep_assert_held(&dafsd_park_lock);
	if (dafsd_lane_is_quiet(lane))
		list_del_init(&lane->short_link);
	else
		list_move_tail(&lane->short_link, &dafsd_lanes_short);
}

static void dafsd_unpark(struct dafsd_rqst *rq)
{
	lockdep_assert_held(&dafsd_park_lock);
	list_del(&rq->park_link);
	list_del(&rq->park_own);
	if (rq->waits)
		dafsd_lane_served(rq->waits);
	rq->waits = NULL;
	WRITE_ONCE(rq->ses->waiting, rq->ses->waiting - 1);
	trace_dafsd_resume(&rq->base, "waited");
	dafsd_rqst_queue(rq, DAFSD_OWNER_PARKED);
}

static void dafsd_unpark_all(struct list_head *list)
{
	struct dafsd_rqst *rq, *next;

	list_for_each_entry_safe(rq, next, list, park_link)
		dafsd_unpark(rq);
}

/*
 * A lane may take as many places as are still free, so one that is alone gets many, and
 * the next one some.
 */
static int dafsd_lane_room(int running)
{
	int left = dafsd_lane_workers() - running;

	return min_t(int, max(left, DAFSD_LANE_LEAST), READ_ONCE(dafsd_lane_most));
}

/* One of @most places */
static bool dafsd_place_take(atomic_t *taken, int most)
{
	int have = atomic_read(taken);

	do {
		if (have >= most)
			return false;
	} while (!atomic_try_cmpxchg(taken, &have, have + 1));
	return true;
}

/* Has one of its requests a place there? */
static bool dafsd_lane_has(struct dafsd_session *ses, const struct dafsd_lane *lane)
{
	struct dafsd_rqst *rq;
	unsigned long flags;
	bool has = false;

	spin_lock_irqsave(&ses->placed_lock, flags);
	list_for_each_entry(rq, &ses->placed, place_link)
		has |= rq->lane == lane;
	spin_unlock_irqrestore(&ses->placed_lock, flags);
	return has;
}

/* Half of them is for sessions that have none there yet. */
static bool dafsd_lane_take(struct dafsd_lane *lane, struct dafsd_session *ses)
{
	int room = dafsd_lane_room(atomic_read(&dafsd_lanes_running));

	return dafsd_place_take(&lane->running, room / 2) ||
	       (!dafsd_lane_has(ses, lane) && dafsd_place_take(&lane->running, room));
}

static void dafsd_lane_join(struct dafsd_rqst *rq, struct dafsd_lane *lane)
{
	unsigned long flags;

	spin_lock_irqsave(&rq->ses->placed_lock, flags);
	rq->lane = lane;
	list_add(&rq->place_link, &rq->ses->placed);
	spin_unlock_irqrestore(&rq->ses->placed_lock, flags);
}

/* Return: the lane, in which it has no place any more; what that place was still counts. */
static struct dafsd_lane *dafsd_lane_quit(struct dafsd_rqst *rq)
{
	struct dafsd_lane *lane = rq->lane;
	unsigned long flags;

	if (!lane)
		return NULL;
	spin_lock_irqsave(&rq->ses->placed_lock, flags);
	rq->lane = NULL;
	list_del(&rq->place_link);
	spin_unlock_irqrestore(&rq->ses->placed_lock, flags);
	return lane;
}

static bool dafsd_lane_try(struct dafsd_lane *lane, struct dafsd_rqst *rq)
{
	if (!dafsd_lane_take(lane, rq->ses))
		return false;
	rq->least = !dafsd_place_take(&dafsd_lanes_running, dafsd_lane_workers());
	dafsd_lane_join(rq, lane);
	return true;
}

/*
 * Sessions with nothing running there go first, one after the other; the rest in the
 * order of arrival.  This is done under a lock of all lanes, so these are not searched.
 */
static void dafsd_lane_feed(struct dafsd_lane *lane)
{
	struct dafsd_rqst *rq;

	lockdep_assert_held(&dafsd_park_lock);
	/* pairs with dafsd_lane_drop(), which may have missed what was just moved */
	smp_mb();
	while ((rq = list_first_entry_or_null(&lane->first, struct dafsd_rqst, park_link))) {
		if (dafsd_lane_try(lane, rq)) {
			dafsd_unpark(rq);
			continue;
		}
		if (!dafsd_lane_has(rq->ses, lane))
			break;
		/* its session has something running since */
		rq->passes = false;
		list_move_tail(&rq->park_link, &lane->waiting);
		smp_mb();	/* as above */
	}
	while ((rq = list_first_entry_or_null(&lane->waiting, struct dafsd_rqst, park_link)) &&
	       dafsd_lane_try(lane, rq))
		dafsd_unpark(rq);
}

/* All lanes have more room.  Those that take more than that already are passed over. */
static void dafsd_lanes_feed(void)
{
	struct dafsd_lane *lane, *next;

	lockdep_assert_held(&dafsd_park_lock);
	list_for_each_entry_safe(lane, next, &dafsd_lanes_short, short_link)
		if (atomic_read(&lane->running) <
		    dafsd_lane_room(atomic_read(&dafsd_lanes_running)))
			dafsd_lane_feed(lane);
}

/*
 * Nothing of a session is executed in a lane: what waits longest there passes the others,
 * but for those of other such sessions, which have come before.
 */
static void dafsd_lane_advance(struct dafsd_lane *lane, struct dafsd_session *ses)
{
	struct dafsd_rqst *rq;

	lockdep_assert_held(&dafsd_park_lock);
	list_for_each_entry(rq, &ses->parked, park_own) {
		if (rq->waits != lane)
			continue;
		if (!rq->passes)
			list_move_tail(&rq->park_link, &lane->first);
		rq->passes = true;
		break;
	}
}

/* Return: true if this worker goes on; false if one of dafsd_least_wq does. */
static bool dafsd_lane_go(struct dafsd_rqst *rq)
{
	if (!rq->least)
		return true;
	dafsd_rqst_queue(rq, DAFSD_OWNER_WORKER);
	return false;
}

static bool dafsd_lane_get(struct dafsd_rqst *rq, struct dafsd_lane *lane)
{
	struct dafsd_session *ses = rq->ses;
	unsigned long flags;
	bool parked;

	/* a session that has nothing running here does not wait behind those that have */
	if (list_empty(&lane->first) &&
	    (list_empty(&lane->waiting) || !dafsd_lane_has(ses, lane)) &&
	    dafsd_lane_try(lane, rq))
		return dafsd_lane_go(rq);
	spin_lock_irqsave(&dafsd_park_lock, flags);
	parked = dafsd_park(rq, &lane->waiting, "for a worker of its export");
	if (parked) {
		rq->waits = lane;
		rq->passes = false;
		if (list_empty(&lane->short_link))
			list_add_tail(&lane->short_link, &dafsd_lanes_short);
	}
	/* pairs with smp_mb__after_atomic() in dafsd_lane_drop() */
	smp_mb();
	if (!dafsd_lane_has(ses, lane))
		dafsd_lane_advance(lane, ses);
	dafsd_lane_feed(lane);
	spin_unlock_irqrestore(&dafsd_park_lock, flags);
	return !parked;
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
	if (!fh)
		return true;
	rq->exp = dafsd_export_find(fh->fshandle);
	return dafsd_lane_get(rq, rq->exp ? &rq->exp->lane : &dafsd_lane_common);
}

/* A request of @ses had a place there, which is free now; @wider: and all have more room. */
static void dafsd_lane_drop(struct dafsd_lane *lane, struct dafsd_session *ses, bool wider)
{
	unsigned long flags;

	atomic_dec(&lane->running);
	smp_mb__after_atomic();	/* pairs with smp_mb() in dafsd_lane_get() */
	if (dafsd_lane_is_quiet(lane) && !(wider && !list_empty(&dafsd_lanes_short)))
		return;
	spin_lock_irqsave(&dafsd_park_lock, flags);
	if (!dafsd_lane_has(ses, lane))
		dafsd_lane_advance(lane, ses);
	if (wider)
		dafsd_lanes_feed();
	dafsd_lane_feed(lane);
	spin_unlock_irqrestore(&dafsd_park_lock, flags);
}

/* As dafsd_lane_get(), but without waiting; its worker stays the same. */
static bool dafsd_lane_move(struct dafsd_rqst *rq, struct dafsd_lane *lane)
{
	struct dafsd_lane *from;

	if (!list_empty(&lane->first) ||
	    (!list_empty(&lane->waiting) && dafsd_lane_has(rq->ses, lane)) ||
	    !dafsd_lane_take(lane, rq->ses))
		return false;
	from = dafsd_lane_quit(rq);
	dafsd_lane_join(rq, lane);
	dafsd_lane_drop(from, rq->ses, false);
	return true;
}

/**
 * dafsd_lane_change() - a request comes from where it began to another export
 * @rq: the request, which a worker has, in the middle of its work
 * @exp: the export
 *
 * Otherwise lookups in an export that stands still would take the places of others.
 *
 * Context: process; may sleep.
 * Return: false if all places there are taken.  The request has changed nothing yet, and
 * goes on when it has one, see dafsd_lane_await().
 */
bool dafsd_lane_change(struct dafsd_rqst *rq, struct dafsd_export *exp)
{
	struct dafsd_export *old = rq->exp;

	if (!rq->lane || rq->lane == &exp->lane)
		return true;
	kref_get(&exp->ref);
	if (!dafsd_lane_move(rq, &exp->lane)) {
		rq->wants = exp;
		return false;
	}
	WRITE_ONCE(rq->exp, exp);	/* see dafsd_late_meets() */
	if (old)
		dafsd_export_put(old);
	return true;
}

/**
 * dafsd_lane_await() - wait for a place in the export that a request found full
 * @rq: the request, with dafsd_rqst.wants; its stage is what comes next, and it is not
 *	the caller's any more
 *
 * It goes on there, see dafsd_rqst.walked: if it had to come through the other exports
 * once more, one of them might keep it, and with it the place that it has here.
 *
 * Context: process; may sleep.
 */
void dafsd_lane_await(struct dafsd_rqst *rq)
{
	struct dafsd_export *exp = rq->wants;

	rq->wants = NULL;
	dafsd_lane_leave(rq);
	rq->exp = exp;
	/* whose worker this is depends on the place that it had */
	if (dafsd_lane_get(rq, &exp->lane))
		dafsd_rqst_queue(rq, DAFSD_OWNER_WORKER);
}

/* Return: true if lanes have more room than before. */
static bool dafsd_lanes_widen(void)
{
	int running = atomic_dec_return(&dafsd_lanes_running);

	return dafsd_lane_room(running) > dafsd_lane_room(running + 1);
}

/**
 * dafsd_lane_leave() - give the worker's place back, if the request has one
 * @rq: the request
 *
 * Context: process; may sleep.
 */
void dafsd_lane_leave(struct dafsd_rqst *rq)
{
	struct dafsd_lane *lane = dafsd_lane_quit(rq);
	bool wider = lane && !rq->least && dafsd_lanes_widen();

	rq->least = false;
	if (lane)
		dafsd_lane_drop(lane, rq->ses, wider);
	if (rq->exp)
		dafsd_export_put(rq->exp);
	rq->exp = NULL;
	if (rq->wants)
		dafsd_export_put(rq->wants);
	rq->wants = NULL;
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
		parked = dafsd_park(rq, &on->sq_waiting, "for the send queue");
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
	parked = dafsd_park(rq, &ses->alone, "for the other requests");
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
