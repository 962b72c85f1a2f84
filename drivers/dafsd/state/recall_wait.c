// SPDX-License-Identifier: GPL-2.0
/*
 * Requests that wait for the end of a delegation (E-90).
 *
 * What meets another client's delegation is answered DELAY, and its client asks again after a
 * pause.  A delegate that lives returns what is recalled at once, as a rule.  So the request is
 * not answered for some time, but handled anew when the delegation is over.
 *
 *  1. The kernel asks whose a lease is before it says that it is in the way, and then the file
 *     is noted (dafsd_rqst.met).  It is of use if the request ends with DELAY, which has
 *     changed nothing.
 *  2. A request joins the list of the file before it looks once more whether a delegation is
 *     about to end.  Who ends one says so (DAFSD_DELEG_OVER) before it looks into the list.
 *     So no end is missed.
 *  3. A request waits until dafsd_rqst.patience at most, however many delegations it meets.
 */
#include <linux/jiffies.h>
#include <linux/slab.h>
#include "../session/server.h"
#include "../export/export.h"
#include "../request/procedure.h"
#include "../request/request.h"
#include "deleg_impl.h"

/* How long a request waits at most, in ms; less in tests */
unsigned int dafsd_recall_wait_ms = 2000;

/**
 * struct dafsd_recall_wait - a request that waits
 * @base: its event
 * @link: in dafsd_file.recall_waits; guarded by dafsd_file.locks_lock
 * @conn: its connection
 * @file: the file; holds a reference
 * @exp: the export, without which the file system may be unmounted; holds a reference
 * @timer: ends the wait
 */
struct dafsd_recall_wait {
	struct dafsd_wait base;
	struct list_head link;
	struct dafsd_conn *conn;
	struct dafsd_file *file;
	struct dafsd_export *exp;
	struct delayed_work timer;
};

static void dafsd_recall_wait_over(struct work_struct *work)
{
	dafsd_wait_ready(&container_of(to_delayed_work(work), struct dafsd_recall_wait,
				       timer)->base);
}

static void dafsd_recall_wait_end(struct dafsd_wait *base)
{
	struct dafsd_recall_wait *wait = container_of(base, struct dafsd_recall_wait, base);

	cancel_delayed_work_sync(&wait->timer);
	spin_lock(&wait->file->locks_lock);
	list_del(&wait->link);
	spin_unlock(&wait->file->locks_lock);
	dafsd_wait_drop_room(wait->conn, wait->base.room);
	dafsd_file_put(wait->file);
	dafsd_export_put(wait->exp);
	kfree(wait);
}

/* Is a delegation of the file about to end? */
static bool dafsd_file_is_recalled(struct dafsd_file *file)
{
	const struct dafsd_deleg *deleg;
	bool recalled = false;

	mutex_lock(&file->lock);
	list_for_each_entry(deleg, &file->delegs, file_link)
		recalled |= test_bit(DAFSD_DELEG_BROKEN, &deleg->flags) &&
			    !test_bit(DAFSD_DELEG_OVER, &deleg->flags);
	mutex_unlock(&file->lock);
	return recalled;
}

/* Return: how long the request may wait, in jiffies; 0: it is to be answered. */
static unsigned long dafsd_recall_patience(struct dafsd_rqst *rq)
{
	unsigned long now = jiffies;

	if (!rq->patience)
		rq->patience = (now + msecs_to_jiffies(READ_ONCE(dafsd_recall_wait_ms))) ?: 1;
	return time_before(now, rq->patience) ? rq->patience - now : 0;
}

/* Takes over the caller's reference to @file. */
static void dafsd_recall_wait_add(struct dafsd_rqst *rq, struct dafsd_recall_wait *wait,
				  struct dafsd_file *file, unsigned long patience)
{
	wait->base.what = "for a delegation";
	wait->base.end = dafsd_recall_wait_end;
	wait->base.once = true;
	wait->base.pending = true;
	INIT_LIST_HEAD(&wait->base.queue);
	wait->conn = rq->conn;
	wait->file = file;
	wait->exp = rq->exp;
	kref_get(&wait->exp->ref);
	INIT_DELAYED_WORK(&wait->timer, dafsd_recall_wait_over);
	spin_lock(&file->locks_lock);
	list_add_tail(&wait->link, &file->recall_waits);
	spin_unlock(&file->locks_lock);
	queue_delayed_work(dafsd_timer_wq, &wait->timer, patience);
	rq->wait = &wait->base;
}

/* Return: true if it waits, and @file was taken over. */
static bool dafsd_recall_wait(struct dafsd_rqst *rq, struct dafsd_file *file)
{
	unsigned long patience = dafsd_recall_patience(rq);
	struct dafsd_recall_wait *wait;
	unsigned int room;

	if (!patience || !dafsd_file_is_recalled(file))
		return false;
	room = dafsd_wait_take_room(rq);
	if (!room)
		return false;
	wait = kzalloc(sizeof(*wait), GFP_KERNEL);
	if (!wait) {
		dafsd_wait_drop_room(rq->conn, room);
		return false;
	}
	wait->base.room = room;
	dafsd_recall_wait_add(rq, wait, file, patience);
	/* invariant 2 */
	if (!dafsd_file_is_recalled(file))
		dafsd_wait_ready(&wait->base);
	return true;
}

/*
 * Data that was moved before is not kept for another attempt, nor is the place of a path that
 * leads through several exports.
 */
static bool dafsd_recall_may_wait(const struct dafsd_rqst *rq)
{
	return rq->status == DAFSERR_DELAY && rq->exp && !rq->wait && !rq->wants && !rq->walked &&
	       !rq->proc->prepare;
}

/**
 * dafsd_recall_met() - a request that has met a delegation was handled
 * @rq: the request; its status is set, and its reference in @met is taken over
 *
 * If the delegation was in its way, it is handled once more at the end of that.
 *
 * Context: may sleep.
 */
void dafsd_recall_met(struct dafsd_rqst *rq)
{
	struct dafsd_file *file = rq->met;

	rq->met = NULL;
	if (!dafsd_recall_may_wait(rq) || !dafsd_recall_wait(rq, file))
		dafsd_file_put(file);
}

/**
 * dafsd_recall_wake() - a delegation has ended: requests that wait for that go on
 * @deleg: the delegation, which has no lease any more; the caller has a reference
 *
 * Context: any but interrupt.
 */
void dafsd_recall_wake(struct dafsd_deleg *deleg)
{
	struct dafsd_file *file = deleg->state.file;
	struct dafsd_recall_wait *wait;

	set_bit(DAFSD_DELEG_OVER, &deleg->flags);
	/* pairs with the locks in dafsd_recall_wait() */
	smp_mb__after_atomic();
	spin_lock(&file->locks_lock);
	list_for_each_entry(wait, &file->recall_waits, link)
		dafsd_wait_ready(&wait->base);
	spin_unlock(&file->locks_lock);
}
