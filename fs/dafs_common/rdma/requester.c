// SPDX-License-Identifier: GPL-2.0
/* Creation and destruction of a requester, and the interface for its owner. */
#include <linux/slab.h>
#include <linux/dafs/stats.h>
#include "requester.h"
#include "trace.h"

struct workqueue_struct *dafs_requester_wq;

/**
 * dafs_requester_create() - make the requester of a channel
 * @chan: an open channel; one receive has been posted
 * @nreq: requests that may be outstanding at first; 1 until the session is
 *	negotiated (E-37)
 * @max: requests that may ever be outstanding
 * @timeout_ms: timeout of a response; 0: no timeout
 *
 * Context: may sleep.
 * Return: the requester or an ERR_PTR of -ENOMEM, -EIO, -ENOTCONN.
 */
struct dafs_requester *dafs_requester_create(struct dafs_chan *chan, u16 nreq, u16 max,
					     unsigned int timeout_ms)
{
	struct dafs_requester *rq;
	unsigned int i;
	int err;

	max = min3(max, chan->limits.depth, (u16)DAFS_MAX_NREQ);
	rq = kzalloc(struct_size(rq, slots, max), GFP_KERNEL);
	if (!rq)
		return ERR_PTR(-ENOMEM);
	rq->chan = chan;
	rq->max = max;
	rq->nreq = nreq;
	rq->target = nreq;
	rq->extra = 1;
	spin_lock_init(&rq->lock);
	INIT_LIST_HEAD(&rq->queue);
	mutex_init(&rq->growing);
	init_waitqueue_head(&rq->idle);
	INIT_WORK(&rq->grow, dafs_slots_grow);
	INIT_WORK(&rq->ask, dafs_slots_ask);
	INIT_DELAYED_WORK(&rq->watchdog, dafs_requester_watch);
	rq->timeout = msecs_to_jiffies(timeout_ms);
	rq->limit = rq->timeout;
	for (i = 0; i < max; i++) {
		rq->slots[i].rq = rq;
		rq->slots[i].cqe.done = dafs_send_done;
	}
	err = dafs_slots_make(rq, 1);
	if (err) {
		/* the buffers are freed with the channel */
		kfree(rq);
		return ERR_PTR(err);
	}
	chan->requester = rq;
	if (rq->timeout)
		queue_delayed_work(dafs_requester_wq, &rq->watchdog, rq->timeout / 4 + 1);
	return rq;
}
EXPORT_SYMBOL_GPL(dafs_requester_create);

static int dafs_abort_error(const struct dafs_call *call, int error)
{
	if (call->reply)
		return 0;
	return call->expired ? -ETIMEDOUT : error;
}

/**
 * dafs_requester_abort() - fail all present and future calls
 * @rq: requester of a quiesced channel
 * @error: negative errno for them
 *
 * Context: may sleep.
 */
void dafs_requester_abort(struct dafs_requester *rq, int error)
{
	struct dafs_call *call;
	unsigned int i;

	cancel_delayed_work_sync(&rq->watchdog);
	spin_lock_irq(&rq->lock);
	rq->error = error;
	dafs_slots_grant(rq);
	spin_unlock_irq(&rq->lock);
	cancel_work_sync(&rq->grow);
	cancel_work_sync(&rq->ask);
	for (i = 0; i < rq->max; i++) {
		spin_lock_irq(&rq->lock);
		call = rq->slots[i].call;
		rq->slots[i].call = NULL;
		spin_unlock_irq(&rq->lock);
		if (call)
			dafs_call_complete(call, dafs_abort_error(call, error));
	}
}
EXPORT_SYMBOL_GPL(dafs_requester_abort);

/**
 * dafs_requester_destroy() - free a requester
 * @rq: aborted
 *
 * Waits for the calls to give their slots back and for the sends to complete.
 *
 * Context: may sleep.
 */
void dafs_requester_destroy(struct dafs_requester *rq)
{
	cancel_delayed_work_sync(&rq->watchdog);
	wait_event(rq->idle, !READ_ONCE(rq->outstanding));
	/* the task that released the last slot may still hold the lock */
	spin_lock_irq(&rq->lock);
	spin_unlock_irq(&rq->lock);
	rq->chan->requester = NULL;
	mutex_destroy(&rq->growing);
	kfree(rq);
}
EXPORT_SYMBOL_GPL(dafs_requester_destroy);

/**
 * dafs_requester_negotiated() - apply the result of the connect response
 * @rq: requester, no request outstanding
 * @nreq: initial OPNreq (E-39)
 *
 * Context: any.
 */
void dafs_requester_negotiated(struct dafs_requester *rq, u16 nreq)
{
	unsigned long flags;

	spin_lock_irqsave(&rq->lock, flags);
	rq->nreq = nreq;
	rq->target = nreq;
	dafs_slots_grant(rq);
	spin_unlock_irqrestore(&rq->lock, flags);
}
EXPORT_SYMBOL_GPL(dafs_requester_negotiated);

/**
 * dafs_requester_nreq() - requests that may be outstanding now
 * @rq: requester
 *
 * Return: Nreq of section 3.2.6.
 */
u16 dafs_requester_nreq(struct dafs_requester *rq)
{
	return READ_ONCE(rq->nreq);
}
EXPORT_SYMBOL_GPL(dafs_requester_nreq);

/**
 * dafs_requester_surplus() - number of NULLs to send to free unused buffers
 * @rq: requester
 *
 * Each response lowers nreq by one.  So an idle requester sends this many NULLs, to allow
 * the responder to free its buffers (3.2.6.4.2), and to free its own receive buffers that
 * dafs_requester_trim() has found unused.  If the responder does not know the new
 * desired_nreq yet, more NULLs may be needed after that.
 *
 * Return: the number of requests.
 */
u16 dafs_requester_surplus(struct dafs_requester *rq)
{
	unsigned long flags;
	u16 surplus;

	spin_lock_irqsave(&rq->lock, flags);
	surplus = max3((u16)(rq->nreq - rq->target), rq->extra,
		       (u16)(rq->settle || rq->untold));
	spin_unlock_irqrestore(&rq->lock, flags);
	return surplus;
}
EXPORT_SYMBOL_GPL(dafs_requester_surplus);

/**
 * dafs_requester_outstanding() - slots in use
 * @rq: requester
 *
 * Return: the number at this moment.
 */
u16 dafs_requester_outstanding(struct dafs_requester *rq)
{
	return READ_ONCE(rq->outstanding);
}
EXPORT_SYMBOL_GPL(dafs_requester_outstanding);

/**
 * dafs_requester_adapt() - adapt desired_nreq to the number of requests that are needed
 * @rq: requester; the owner calls dafs_requester_trim() from time to time
 * @least: desired_nreq of an idle requester, not 0
 *
 * Also allocates the buffers that an idle requester keeps.
 *
 * Context: may sleep.
 * Return: 0, -ENOMEM, -EIO or -ENOTCONN.
 */
int dafs_requester_adapt(struct dafs_requester *rq, u16 least)
{
	unsigned long flags;

	spin_lock_irqsave(&rq->lock, flags);
	rq->least = min(least, rq->max);
	rq->desired = rq->least;
	spin_unlock_irqrestore(&rq->lock, flags);
	return dafs_slots_make(rq, DAFS_SLOTS_KEPT);
}
EXPORT_SYMBOL_GPL(dafs_requester_adapt);

/**
 * dafs_requester_set_timeout() - change the timeouts of responses
 * @rq: requester that was made with a timeout
 * @timeout_ms: if a response is outstanding and the peer's hardware does not answer for
 *	this time, the connection is lost; not 0
 * @limit_ms: if a response takes this time, the connection is lost even if the peer's
 *	hardware answers, and the call fails with -ETIMEDOUT; 0: no limit
 *
 * Applies to calls in progress, too.
 *
 * Context: any.
 */
void dafs_requester_set_timeout(struct dafs_requester *rq, unsigned int timeout_ms,
				unsigned int limit_ms)
{
	WRITE_ONCE(rq->timeout, msecs_to_jiffies(timeout_ms));
	WRITE_ONCE(rq->limit, msecs_to_jiffies(limit_ms));
	mod_delayed_work(dafs_requester_wq, &rq->watchdog, 1);
}
EXPORT_SYMBOL_GPL(dafs_requester_set_timeout);

/**
 * dafs_requester_count() - count calls in statistics
 * @rq: requester that has not sent anything yet
 * @stats: the counters; kept until the requester is destroyed
 */
void dafs_requester_count(struct dafs_requester *rq, struct dafs_stats __percpu *stats)
{
	rq->stats = stats;
}
EXPORT_SYMBOL_GPL(dafs_requester_count);

/**
 * dafs_requester_heed() - be told of special conditions (6.1.3)
 * @rq: requester that has not sent anything yet
 * @special: called with the channel and DAFS_SPCOND_* of a response that has any; in a softirq
 */
void dafs_requester_heed(struct dafs_requester *rq,
			 void (*special)(struct dafs_chan *chan, u16 spec_cond))
{
	rq->special = special;
}
EXPORT_SYMBOL_GPL(dafs_requester_heed);

/**
 * dafs_requesters_init() - make the work queue of requesters
 *
 * Return: 0 or -ENOMEM.
 */
int __init dafs_requesters_init(void)
{
	dafs_requester_wq = alloc_workqueue("dafs_requester", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return dafs_requester_wq ? 0 : -ENOMEM;
}

/**
 * dafs_requesters_exit() - undo dafs_requesters_init()
 */
void dafs_requesters_exit(void)
{
	destroy_workqueue(dafs_requester_wq);
}

/**
 * dafs_requester_mark() - calls that begin from now on tell when the peer was heard of
 * @rq: requester
 *
 * Context: any.
 * Return: for dafs_requester_heard(); not 0.
 */
u64 dafs_requester_mark(struct dafs_requester *rq)
{
	unsigned long flags;
	u64 mark;

	spin_lock_irqsave(&rq->lock, flags);
	mark = ++rq->mark;
	spin_unlock_irqrestore(&rq->lock, flags);
	return mark;
}
EXPORT_SYMBOL_GPL(dafs_requester_mark);

/**
 * dafs_requester_heard() - was a call answered that has begun after a mark?
 * @rq: requester
 * @mark: from dafs_requester_mark()
 *
 * Context: any.
 * Return: true if one was answered OK.
 */
bool dafs_requester_heard(struct dafs_requester *rq, u64 mark)
{
	unsigned long flags;
	bool heard;

	spin_lock_irqsave(&rq->lock, flags);
	heard = rq->heard >= mark;
	spin_unlock_irqrestore(&rq->lock, flags);
	return heard;
}
EXPORT_SYMBOL_GPL(dafs_requester_heard);
