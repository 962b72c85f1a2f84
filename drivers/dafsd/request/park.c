// SPDX-License-Identifier: GPL-2.0
/*
 * Where requests wait, and how the workers are shared between exports and connections.
 *
 * A worker never waits for the network (see design.rst).  A request that cannot continue
 * is parked on the object that it waits for, and queued again by one of these events:
 *
 *	lane		a worker of its export is free
 *	sq_waiting	the send queue of a connection has room
 *	alone		all other requests of the connection have been answered
 *	dafsd_wait	an event of a folder above, such as the end of a lock
 *	(the device)	its RDMA has completed: the reads, or a round of writes that is
 *			not the last one; such a request is in no list
 *
 * Only the file system of an export can block a worker for long.  So every export has a
 * lane: a limited number of places, each of which allows one request to use a worker.
 * A connection without a place in the lane takes precedence over connections that have one, so
 * that many requests of some connections do not delay the few of others.  Places in other
 * lanes do not count: an export that hangs must not make a connection wait in other exports.
 *
 * Even if many exports hang, an eighth of the workers is left for requests that need no
 * file system, and to park the others.  So that every lane always has a few places, there
 * are extra workers, those of dafsd_least_wq.  They are enough for some 100 exports (15 on
 * a machine with eight equal nodes); requests in more hanging exports than that wait.
 *
 * The owner of a request (dafsd_rqst.owner; every change of owner asserts it):
 *
 *  1. It arrives (CHAINED) and is queued (QUEUED), or left with the request before
 *     it in its chain.
 *  2. A worker takes it (WORKER), and alone may touch it until 3 or 4.
 *  3. The worker parks it (PARKED) or posts its RDMA (DEVICE).  The event
 *     queues it again (QUEUED), once.
 *  4. The worker replies, and the responder has it (ANSWERED) until ->sent().
 *  5. When a connection ends, all of its parked requests are queued, and none is parked any
 *     more.  Each stage then finds that the channel is closed.
 */
#include <linux/cpumask.h>
#include <linux/nodemask.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include "../session/server.h"
#include "../session/conn.h"
#include "../session/trace.h"
#include "../export/lane.h"
#include "../export/export.h"
#include "io.h"
#include "procedure.h"
#include "request.h"

/* Places that an export always has, however many places other exports use */
#define DAFSD_LANE_LEAST	4

/* Upper limit of the places of one export */
unsigned int dafsd_lane_most = 128;

/*
 * Requests of a chain that waits for what clients have.  A client that makes longer ones may
 * have to wait until nothing is waited for any more.
 */
#define DAFSD_WAIT_CHAIN	4

/* Workers of dafsd_wq; fewer in tests */
unsigned int dafsd_workers = DAFSD_WORKERS;

/* Places in all lanes that are used by workers of dafsd_wq */
static atomic_t dafsd_lanes_running = ATOMIC_INIT(0);

/* Result of dafsd_cpus_count(): number of CPUs in the upper 16 bits; see dafsd_cpus_few() */
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

/* CPUs of the smallest node; counted again if the number of online CPUs, @all, has changed */
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
 * Workers of dafsd_wq that all lanes together may use.  A work queue distributes its
 * workers to the nodes of the machine in proportion to their CPUs.  The requests from one
 * RDMA adapter run on one node, which may be the smallest.
 */
static int dafsd_lane_workers(void)
{
	u32 all = num_online_cpus();
	int workers = max(READ_ONCE(dafsd_workers) * dafsd_cpus_few(all) / all, 1U);

	return workers - workers / 8;
}

/* Protects all lists of parked requests, dafsd_lanes_short, and dafsd_conn.ending. */
static DEFINE_SPINLOCK(dafsd_park_lock);

/* Lanes with waiting requests; the lane that was served longest ago is first */
static LIST_HEAD(dafsd_lanes_short);

/* Lane of requests in no export: in the directories that lead to exports. */
static struct dafsd_lane dafsd_lane_common = {
	.short_link = LIST_HEAD_INIT(dafsd_lane_common.short_link),
	.first = LIST_HEAD_INIT(dafsd_lane_common.first),
	.waiting = LIST_HEAD_INIT(dafsd_lane_common.waiting),
};

/*
 * Lane of requests without a file that may wait for the state directory: logins of clients that are
 * back, and those that there is no room for.  They leave workers to what unlocks files.
 */
static struct dafsd_lane dafsd_lane_store = {
	.short_link = LIST_HEAD_INIT(dafsd_lane_store.short_link),
	.first = LIST_HEAD_INIT(dafsd_lane_store.first),
	.waiting = LIST_HEAD_INIT(dafsd_lane_store.waiting),
};

/**
 * dafsd_rqst_hand() - change the owner of a request
 * @rq: the request
 * @from: its present owner
 * @to: its new owner
 */
void dafsd_rqst_hand(struct dafsd_rqst *rq, enum dafsd_owner from, enum dafsd_owner to)
{
	WARN_ON_ONCE(xchg(&rq->owner, to) != from);
}

/* Return: false if nothing of the connection may wait any more, for @what or anything else. */
static bool dafsd_park(struct dafsd_rqst *rq, struct list_head *where, const char *what)
{
	lockdep_assert_held(&dafsd_park_lock);
	if (rq->conn->ending)
		return false;
	trace_dafsd_wait(&rq->base, what);
	dafsd_rqst_hand(rq, DAFSD_OWNER_WORKER, DAFSD_OWNER_PARKED);
	list_add_tail(&rq->park_link, where);
	list_add_tail(&rq->park_own, &rq->conn->parked);
	WRITE_ONCE(rq->conn->waiting, rq->conn->waiting + 1);
	return true;
}

/* A waiting request of the lane was served: the other lanes are next. */
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
	WRITE_ONCE(rq->conn->waiting, rq->conn->waiting - 1);
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
 * A lane may use as many places as are still free: if it is the only busy lane it may use
 * many, and the next busy lane finds fewer.
 */
static int dafsd_lane_room(int running)
{
	int left = dafsd_lane_workers() - running;

	return min_t(int, max(left, DAFSD_LANE_LEAST), READ_ONCE(dafsd_lane_most));
}

/* Take one of @most places.  Return: false if all are taken. */
static bool dafsd_place_take(atomic_t *taken, int most)
{
	int have = atomic_read(taken);

	do {
		if (have >= most)
			return false;
	} while (!atomic_try_cmpxchg(taken, &have, have + 1));
	return true;
}

/* Does a request of the connection have a place in the lane? */
static bool dafsd_lane_has(struct dafsd_conn *conn, const struct dafsd_lane *lane)
{
	struct dafsd_rqst *rq;
	unsigned long flags;
	bool has = false;

	spin_lock_irqsave(&conn->placed_lock, flags);
	list_for_each_entry(rq, &conn->placed, place_link)
		has |= rq->lane == lane;
	spin_unlock_irqrestore(&conn->placed_lock, flags);
	return has;
}

/* Half of the places is reserved for connections that have no place in the lane yet. */
static bool dafsd_lane_take(struct dafsd_lane *lane, struct dafsd_conn *conn)
{
	int room = dafsd_lane_room(atomic_read(&dafsd_lanes_running));

	return dafsd_place_take(&lane->running, room / 2) ||
	       (!dafsd_lane_has(conn, lane) && dafsd_place_take(&lane->running, room));
}

static void dafsd_lane_join(struct dafsd_rqst *rq, struct dafsd_lane *lane)
{
	unsigned long flags;

	spin_lock_irqsave(&rq->conn->placed_lock, flags);
	rq->lane = lane;
	list_add(&rq->place_link, &rq->conn->placed);
	spin_unlock_irqrestore(&rq->conn->placed_lock, flags);
}

/*
 * Take the request out of its lane.  Return: the lane, in which the place still counts as
 * taken; or NULL.
 */
static struct dafsd_lane *dafsd_lane_quit(struct dafsd_rqst *rq)
{
	struct dafsd_lane *lane = rq->lane;
	unsigned long flags;

	if (!lane)
		return NULL;
	spin_lock_irqsave(&rq->conn->placed_lock, flags);
	rq->lane = NULL;
	list_del(&rq->place_link);
	spin_unlock_irqrestore(&rq->conn->placed_lock, flags);
	return lane;
}

static bool dafsd_lane_try(struct dafsd_lane *lane, struct dafsd_rqst *rq)
{
	if (!dafsd_lane_take(lane, rq->conn))
		return false;
	rq->least = !dafsd_place_take(&dafsd_lanes_running, dafsd_lane_workers());
	dafsd_lane_join(rq, lane);
	return true;
}

/*
 * Serve connections that have no place in the lane first, one request each; then the others
 * in the order of arrival.  The lock is shared by all lanes, so no list is searched.
 */
static void dafsd_lane_feed(struct dafsd_lane *lane)
{
	struct dafsd_rqst *rq;

	lockdep_assert_held(&dafsd_park_lock);
	/* pairs with dafsd_lane_drop(), which may have missed a request just added */
	smp_mb();
	while ((rq = list_first_entry_or_null(&lane->first, struct dafsd_rqst, park_link))) {
		if (dafsd_lane_try(lane, rq)) {
			dafsd_unpark(rq);
			continue;
		}
		if (!dafsd_lane_has(rq->conn, lane))
			break;
		/* its connection has got a place in the meantime */
		rq->passes = false;
		list_move_tail(&rq->park_link, &lane->waiting);
		smp_mb();	/* as above */
	}
	while ((rq = list_first_entry_or_null(&lane->waiting, struct dafsd_rqst, park_link)) &&
	       dafsd_lane_try(lane, rq))
		dafsd_unpark(rq);
}

/* All lanes have more room.  Skip lanes that use as many places as they may, or more. */
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
 * The connection has no place in the lane: its request that has waited longest there moves
 * ahead of others, but stays behind requests of other such connections that came earlier.
 */
static void dafsd_lane_advance(struct dafsd_lane *lane, struct dafsd_conn *conn)
{
	struct dafsd_rqst *rq;

	lockdep_assert_held(&dafsd_park_lock);
	list_for_each_entry(rq, &conn->parked, park_own) {
		if (rq->waits != lane)
			continue;
		if (!rq->passes)
			list_move_tail(&rq->park_link, &lane->first);
		rq->passes = true;
		break;
	}
}

/* Return: true if this worker continues; false if a worker of dafsd_least_wq does. */
static bool dafsd_lane_go(struct dafsd_rqst *rq)
{
	if (!rq->least)
		return true;
	dafsd_rqst_queue(rq, DAFSD_OWNER_WORKER);
	return false;
}

static bool dafsd_lane_get(struct dafsd_rqst *rq, struct dafsd_lane *lane)
{
	struct dafsd_conn *conn = rq->conn;
	unsigned long flags;
	bool parked;

	/* a connection without a place does not wait behind connections that have one */
	if (list_empty(&lane->first) &&
	    (list_empty(&lane->waiting) || !dafsd_lane_has(conn, lane)) &&
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
	if (!dafsd_lane_has(conn, lane))
		dafsd_lane_advance(lane, conn);
	dafsd_lane_feed(lane);
	spin_unlock_irqrestore(&dafsd_park_lock, flags);
	return !parked;
}

/**
 * dafsd_lane_enter() - take a place in the export that a request names
 * @rq: the request, owned by the calling worker; its stage is the next one
 * @fh: the filehandle in the request, or NULL
 *
 * A request without a filehandle needs no file system, and no place unless it may wait for the
 * state directory.
 *
 * Context: process.
 * Return: false if @rq was parked; the caller does not own it any more.
 */
bool dafsd_lane_enter(struct dafsd_rqst *rq, const struct dafs_fh *fh)
{
	if (!fh)
		return !(rq->proc->flags & DAFSD_P_STORE) || dafsd_lane_get(rq, &dafsd_lane_store);
	rq->exp = dafsd_export_find(fh->fshandle);
	return dafsd_lane_get(rq, rq->exp ? &rq->exp->lane : &dafsd_lane_common);
}

/* A request of @conn gives its place back; @wider: all lanes have more room now, too. */
static void dafsd_lane_drop(struct dafsd_lane *lane, struct dafsd_conn *conn, bool wider)
{
	unsigned long flags;

	atomic_dec(&lane->running);
	smp_mb__after_atomic();	/* pairs with smp_mb() in dafsd_lane_get() */
	if (dafsd_lane_is_quiet(lane) && !(wider && !list_empty(&dafsd_lanes_short)))
		return;
	spin_lock_irqsave(&dafsd_park_lock, flags);
	if (!dafsd_lane_has(conn, lane))
		dafsd_lane_advance(lane, conn);
	if (wider)
		dafsd_lanes_feed();
	dafsd_lane_feed(lane);
	spin_unlock_irqrestore(&dafsd_park_lock, flags);
}

/* As dafsd_lane_get(), but never waits, and the request stays with its worker. */
static bool dafsd_lane_move(struct dafsd_rqst *rq, struct dafsd_lane *lane)
{
	struct dafsd_lane *from;

	if (!list_empty(&lane->first) ||
	    (!list_empty(&lane->waiting) && dafsd_lane_has(rq->conn, lane)) ||
	    !dafsd_lane_take(lane, rq->conn))
		return false;
	from = dafsd_lane_quit(rq);
	dafsd_lane_join(rq, lane);
	dafsd_lane_drop(from, rq->conn, false);
	return true;
}

/**
 * dafsd_lane_change() - move the place of a request to another export
 * @rq: the request, owned by the calling worker, while it is being executed
 * @exp: the export that it has reached
 *
 * Without this, lookups in an export that hangs would use up the places of other exports.
 *
 * Context: process; may sleep.
 * Return: false if all places of @exp are taken.  The request has changed nothing yet, and
 * continues when it has a place, see dafsd_lane_await().
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
 * dafsd_lane_await() - wait for a place in an export that was full
 * @rq: the request, with dafsd_rqst.wants set; its stage is the next one.  The caller does
 *	not own it any more.
 *
 * The request continues in that export, see dafsd_rqst.walked.  If it walked through the
 * other exports again, one of them might block it while it holds its place in this one.
 *
 * Context: process; may sleep.
 */
void dafsd_lane_await(struct dafsd_rqst *rq)
{
	struct dafsd_export *exp = rq->wants;

	rq->wants = NULL;
	dafsd_lane_leave(rq);
	rq->exp = exp;
	/* this worker may be of the wrong work queue for the new place */
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
		dafsd_lane_drop(lane, rq->conn, wider);
	if (rq->exp)
		dafsd_export_put(rq->exp);
	rq->exp = NULL;
	if (rq->wants)
		dafsd_export_put(rq->wants);
	rq->wants = NULL;
}

static bool dafsd_sq_try(struct dafsd_io *io)
{
	int have = atomic_read(&io->conn->sq_avail);

	do {
		if (have < io->sq_wanted)
			return false;
	} while (!atomic_try_cmpxchg(&io->conn->sq_avail, &have, have - io->sq_wanted));
	io->sq_used = io->sq_wanted;
	return true;
}

/* In the order of arrival, so that small transfers cannot starve a large one. */
static void dafsd_sq_feed(struct dafsd_conn *conn)
{
	struct dafsd_rqst *rq;

	lockdep_assert_held(&dafsd_park_lock);
	while ((rq = list_first_entry_or_null(&conn->sq_waiting, struct dafsd_rqst, park_link)) &&
	       dafsd_sq_try(&rq->io))
		dafsd_unpark(rq);
}

/**
 * dafsd_sq_enter() - reserve room in the send queue for the RDMA of a request
 * @rq: the request, owned by the calling worker; its stage is the next one
 *
 * Context: process.
 * Return: false if @rq was parked; the caller does not own it any more.  If the connection
 * has ended, true is returned without a reservation: io.sq_used is 0.
 */
bool dafsd_sq_enter(struct dafsd_rqst *rq)
{
	struct dafsd_conn *on = rq->io.conn;
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
 * dafsd_sq_leave() - give reserved room in the send queue back
 * @io: the bulk data that it was reserved for
 *
 * Context: any.
 */
void dafsd_sq_leave(struct dafsd_io *io)
{
	unsigned long flags;

	atomic_add(io->sq_used, &io->conn->sq_avail);
	io->sq_used = 0;
	io->sq_wanted = 0;
	smp_mb__after_atomic();	/* see dafsd_sq_enter() */
	if (list_empty(&io->conn->sq_waiting))
		return;
	spin_lock_irqsave(&dafsd_park_lock, flags);
	dafsd_sq_feed(io->conn);
	spin_unlock_irqrestore(&dafsd_park_lock, flags);
}

/**
 * dafsd_park_alone() - wait until a request is the only one of its connection
 * @rq: the request, owned by the calling worker; its stage is the next one
 *
 * Context: process.
 * Return: false if @rq was parked; the caller does not own it any more.
 */
bool dafsd_park_alone(struct dafsd_rqst *rq)
{
	struct dafsd_conn *conn = rq->conn;
	unsigned long flags;
	bool parked;

	if (atomic_read(&conn->busy) == DAFSD_BUSY_ALONE)
		return true;
	spin_lock_irqsave(&dafsd_park_lock, flags);
	parked = dafsd_park(rq, &conn->alone, "for the other requests");
	/* pairs with the decrement of @busy */
	smp_mb();
	if (parked && atomic_read(&conn->busy) == DAFSD_BUSY_ALONE)
		dafsd_unpark(rq);
	spin_unlock_irqrestore(&dafsd_park_lock, flags);
	return !parked;
}

/**
 * dafsd_unpark_alone() - only one request of a connection is left
 * @conn: the connection
 *
 * Context: any.
 */
void dafsd_unpark_alone(struct dafsd_conn *conn)
{
	unsigned long flags;

	if (list_empty(&conn->alone))
		return;
	spin_lock_irqsave(&dafsd_park_lock, flags);
	dafsd_unpark_all(&conn->alone);
	spin_unlock_irqrestore(&dafsd_park_lock, flags);
}

/**
 * dafsd_wait_take_room() - may a request wait for what clients have?
 * @rq: the request
 *
 * Half of the requests of a connection may, so that it can always give back what others wait
 * for.  The other requests of a chain wait, too, perhaps before they have arrived, so it counts
 * as many requests.
 *
 * Context: any.
 * Return: for how many requests there was room, to be passed to dafsd_wait_drop_room(); 0 if
 * it may not wait.
 */
unsigned int dafsd_wait_take_room(struct dafsd_rqst *rq)
{
	bool chain = rq->base.hdr.chain_flags & (DAFS_CHF_FORW | DAFS_CHF_BACK);
	unsigned int room = chain ? DAFSD_WAIT_CHAIN : 1;
	struct dafsd_conn *conn = rq->conn;

	if (atomic_add_return(room, &conn->nr_waits) <= dafs_responder_nreq(conn->responder) / 2)
		return room;
	atomic_sub(room, &conn->nr_waits);
	return 0;
}

/**
 * dafsd_wait_drop_room() - a request does not wait any more
 * @conn: its connection
 * @room: from dafsd_wait_take_room()
 *
 * Context: any.
 */
void dafsd_wait_drop_room(struct dafsd_conn *conn, unsigned int room)
{
	atomic_sub(room, &conn->nr_waits);
}

/**
 * dafsd_wait_begin() - from now on an event is not missed
 * @wait: the event; the caller looks afterwards whether there is a need to wait for it
 *
 * Context: process.
 */
void dafsd_wait_begin(struct dafsd_wait *wait)
{
	unsigned long flags;

	spin_lock_irqsave(&dafsd_park_lock, flags);
	wait->ready = false;
	spin_unlock_irqrestore(&dafsd_park_lock, flags);
}

/**
 * dafsd_wait_park() - wait for an event
 * @rq: the request, owned by the calling worker; its stage is the next one
 *
 * Context: process.
 * Return: false if @rq was parked; the caller does not own it any more.  True if the event
 * has come, or the connection has ended.
 */
bool dafsd_wait_park(struct dafsd_rqst *rq)
{
	unsigned long flags;
	bool parked;

	spin_lock_irqsave(&dafsd_park_lock, flags);
	parked = !rq->wait->ready && dafsd_park(rq, &rq->wait->queue, rq->wait->what);
	spin_unlock_irqrestore(&dafsd_park_lock, flags);
	return !parked;
}

/**
 * dafsd_wait_ready() - an event has come
 * @wait: the event
 *
 * Context: any.
 */
void dafsd_wait_ready(struct dafsd_wait *wait)
{
	unsigned long flags;

	spin_lock_irqsave(&dafsd_park_lock, flags);
	wait->ready = true;
	dafsd_unpark_all(&wait->queue);
	spin_unlock_irqrestore(&dafsd_park_lock, flags);
}

/**
 * dafsd_park_end() - end all waiting of the requests of a connection, and for the connection
 * @conn: the connection; its channel is quiesced
 *
 * Context: process.
 */
void dafsd_park_end(struct dafsd_conn *conn)
{
	struct dafsd_rqst *rq, *next;
	unsigned long flags;

	spin_lock_irqsave(&dafsd_park_lock, flags);
	conn->ending = true;
	list_for_each_entry_safe(rq, next, &conn->parked, park_own)
		dafsd_unpark(rq);
	/* requests of another connection, if this is its RDMA-read channel */
	dafsd_unpark_all(&conn->sq_waiting);
	spin_unlock_irqrestore(&dafsd_park_lock, flags);
}
