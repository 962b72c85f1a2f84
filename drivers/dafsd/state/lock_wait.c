// SPDX-License-Identifier: GPL-2.0
/*
 * LOCKs that wait (READW_LT, WRITEW_LT): where only locks of clients are in the way, the
 * server does not answer at once, but when it can grant the lock, or after some time (E-83).
 * So the next owner has the lock as soon as the former one has released it, in the order of
 * arrival.
 *
 *  1. A waiting request has no worker, and keeps its place in dafsd_file.lock_waits until it
 *     is answered.
 *  2. It joins the list before it tries once more, and a request that releases a lock looks
 *     into the list afterwards, so that no release is missed.
 *  3. Those in whose way the released lock was are woken in their order, and each tries again.
 *     One that was woken comes before requests that arrived later; if it is denied again, it
 *     wakes those that have waited for it.
 */
#include <linux/slab.h>
#include <linux/dafs_wire.h>
#include "../session/conn.h"
#include "../session/server.h"
#include "../export/export.h"
#include "lock_impl.h"
#include "open.h"
#include "lock_wait.h"

/* How long a request waits at most, in ms; less in tests */
unsigned int dafsd_lock_wait_ms = 2000;

static struct dafsd_lock_wait *dafsd_lock_wait_from(struct dafsd_wait *base)
{
	return container_of(base, struct dafsd_lock_wait, base);
}

/**
 * dafsd_lock_wait_of() - the wait of a LOCK
 * @rq: LOCK
 *
 * Context: any.
 * Return: the wait, or NULL if it has not begun to wait.
 */
struct dafsd_lock_wait *dafsd_lock_wait_of(const struct dafsd_rqst *rq)
{
	return rq->wait ? dafsd_lock_wait_from(rq->wait) : NULL;
}

static void dafsd_lock_wait_over(struct work_struct *work)
{
	struct dafsd_lock_wait *wait = container_of(to_delayed_work(work),
						    struct dafsd_lock_wait, timer);

	WRITE_ONCE(wait->over, true);
	dafsd_wait_ready(&wait->base);
}

static bool dafsd_range_meets(const struct dafsd_range *a, const struct dafsd_range *b)
{
	return dafsd_ranges_meet(a->start, a->end, b->start, b->end);
}

/* Those behind @after, or all if that is NULL */
static void dafsd_lock_wake_locked(struct dafsd_file *file, struct dafsd_lock_wait *after,
				   const struct dafsd_range *range)
{
	struct dafsd_lock_wait *wait;

	lockdep_assert_held(&file->locks_lock);
	wait = list_prepare_entry(after, &file->lock_waits, link);
	list_for_each_entry_continue(wait, &file->lock_waits, link) {
		if (!dafsd_range_meets(&wait->range, range))
			continue;
		wait->woken = true;
		dafsd_wait_ready(&wait->base);
	}
}

static void dafsd_lock_wait_end(struct dafsd_wait *base)
{
	struct dafsd_lock_wait *wait = dafsd_lock_wait_from(base);

	cancel_delayed_work_sync(&wait->timer);
	spin_lock(&wait->file->locks_lock);
	/* it was woken, and has not tried again: others may have been denied in its favour */
	if (wait->woken)
		dafsd_lock_wake_locked(wait->file, wait, &wait->range);
	list_del(&wait->link);
	spin_unlock(&wait->file->locks_lock);
	dafsd_wait_drop_room(wait->conn, wait->base.room);
	dafsd_locker_put(wait->locker);
	dafsd_file_put(wait->file);
	dafsd_export_put(wait->exp);
	kfree(wait);
}

/**
 * dafsd_lock_wait_add() - let a LOCK wait, if it may
 * @rq: LOCK; its wait is set on success
 * @use: the file
 * @locker: whose lock it is
 * @range: the bytes
 *
 * The caller tries to set the lock once more.
 *
 * Context: may sleep.
 * Return: the wait; NULL if the request is to be answered now.
 */
struct dafsd_lock_wait *dafsd_lock_wait_add(struct dafsd_rqst *rq, const struct dafsd_use *use,
					    struct dafsd_locker *locker,
					    const struct dafsd_range *range)
{
	struct dafsd_file *file = use->file;
	struct dafsd_lock_wait *wait;
	unsigned int room;

	room = dafsd_wait_take_room(rq);
	if (!room)
		return NULL;
	wait = kzalloc(sizeof(*wait), GFP_KERNEL);
	if (!wait) {
		dafsd_wait_drop_room(rq->conn, room);
		return NULL;
	}
	wait->base.room = room;
	wait->base.what = "for a lock";
	wait->base.end = dafsd_lock_wait_end;
	INIT_LIST_HEAD(&wait->base.queue);
	wait->conn = rq->conn;
	wait->file = file;
	dafsd_file_hold(file);
	wait->exp = use->exp;
	kref_get(&wait->exp->ref);
	wait->locker = dafsd_locker_get(locker);
	wait->range = *range;
	INIT_DELAYED_WORK(&wait->timer, dafsd_lock_wait_over);
	spin_lock(&file->locks_lock);
	list_add_tail(&wait->link, &file->lock_waits);
	spin_unlock(&file->locks_lock);
	queue_delayed_work(dafsd_timer_wq, &wait->timer,
			   msecs_to_jiffies(READ_ONCE(dafsd_lock_wait_ms)));
	rq->wait = &wait->base;
	return wait;
}

static bool dafsd_ranges_conflict(const struct dafsd_range *a, const struct dafsd_range *b)
{
	return dafsd_range_meets(a, b) && (a->type == F_WRLCK || b->type == F_WRLCK);
}

/**
 * dafsd_lock_wait_first() - is there a LOCK that has waited for longer?
 * @file: the file
 * @wait: the wait of the request, or NULL if it does not wait
 * @locker: whose request it is
 * @range: the bytes
 * @first: set to what the other request is to lock
 *
 * Context: any but interrupt.
 * Return: the owner of a LOCK that was woken, and conflicts with this one; with a reference.
 * NULL if no such LOCK waits.
 */
struct dafsd_locker *dafsd_lock_wait_first(struct dafsd_file *file,
					   const struct dafsd_lock_wait *wait,
					   const struct dafsd_locker *locker,
					   const struct dafsd_range *range,
					   struct dafsd_range *first)
{
	struct dafsd_locker *found = NULL;
	struct dafsd_lock_wait *other;

	spin_lock(&file->locks_lock);
	list_for_each_entry(other, &file->lock_waits, link) {
		if (other == wait)
			break;
		if (!other->woken || other->locker == locker ||
		    !dafsd_ranges_conflict(&other->range, range))
			continue;
		*first = other->range;
		found = dafsd_locker_get(other->locker);
		break;
	}
	spin_unlock(&file->locks_lock);
	return found;
}

/**
 * dafsd_lock_wait_try() - a LOCK that waits is going to try again
 * @wait: its wait, or NULL
 *
 * Context: process.
 */
void dafsd_lock_wait_try(struct dafsd_lock_wait *wait)
{
	if (!wait)
		return;
	dafsd_wait_begin(&wait->base);
	spin_lock(&wait->file->locks_lock);
	/* it may try twice */
	wait->released |= wait->woken;
	wait->woken = false;
	spin_unlock(&wait->file->locks_lock);
}

/**
 * dafsd_lock_wait_denied() - a LOCK that waits was denied again
 * @wait: its wait
 *
 * Context: any but interrupt.
 * Return: true if the request is to wait on.
 */
bool dafsd_lock_wait_denied(struct dafsd_lock_wait *wait)
{
	spin_lock(&wait->file->locks_lock);
	if (wait->released)
		dafsd_lock_wake_locked(wait->file, wait, &wait->range);
	wait->released = false;
	spin_unlock(&wait->file->locks_lock);
	wait->base.pending = !READ_ONCE(wait->over);
	return wait->base.pending;
}

/**
 * dafsd_lock_wake() - locks have ended, or have become weaker
 * @file: the file
 * @range: the bytes
 *
 * Context: any but interrupt.
 */
void dafsd_lock_wake(struct dafsd_file *file, const struct dafsd_range *range)
{
	spin_lock(&file->locks_lock);
	dafsd_lock_wake_locked(file, NULL, range);
	spin_unlock(&file->locks_lock);
}
