// SPDX-License-Identifier: GPL-2.0
/*
 * Slots, which the draft calls streams, and their assignment to requests (3.2.6 and 5.2).
 *
 * A slot is taken for a request.  It is free again when all of these events have happened,
 * in any order:
 *
 *  1. the send has completed, if it was signaled;
 *  2. the response has arrived: the stream may carry the next request, and the send buffer
 *     may be written again, because the peer has read the request and ignores repeated
 *     packets with an old sequence number;
 *  3. the receive buffer of the response has been posted again, so that there is a receive
 *     for the response of the next request.
 *
 * (1), and (2) together with (3), each clear a bit of the slot.  Because of (3) there are
 * never more requests outstanding than receives posted.
 *
 * The send queue is processed in order, so a completion shows that all earlier entries have
 * completed, too.  A part of the sends is signaled, and all invalidations.  sq_used counts
 * the entries that are not known to have completed; it prevents an overflow of the queue.
 *
 * The responder decides how many requests may be outstanding.  After each response nreq =
 * max(nreq - 1, target_nreq), 3.2.6.4.2.  When nreq shrinks, the streams with the highest
 * numbers expire: their requests finish, but no new request starts there, and the total
 * does not exceed nreq (5.2.2).
 *
 * A requester may adapt the number that it asks for, see dafs_requester_adapt(): twice the
 * number of outstanding requests, so that there are always slots for requests that do not
 * wait for a slow file; and less again after it has needed less for some time.  The desired
 * number is sent with a request, but it is granted with a response, and a file system that
 * hangs sends no responses.  So while the desired number is above nreq, the last slot is
 * reserved for a NULL, which needs no file system.  The NULL is sent when tasks wait for
 * that slot.
 *
 * Waiting tasks are served in the order of arrival.  The task or completion handler that
 * releases a resource assigns it to the first waiting task, and wakes up that task only.
 *
 * The buffers of a slot are allocated when the slot is first needed.  dafs_requester_trim()
 * frees the buffers of slots that were unused for some time: the send buffer at once, and a
 * receive buffer after the next response, since a posted receive cannot be taken back.
 */
#include <linux/slab.h>
#include <linux/dafs/mem.h>
#include "requester.h"
#include "trace.h"

/* Missing buffers only reduce the number of slots, so allocations do not try hard. */
#define DAFS_SLOT_GFP	(GFP_NOFS | __GFP_NORETRY | __GFP_NOWARN)

/**
 * struct dafs_slot_waiter - a task that waits for slots
 * @link: in the requester's queue; empty after the task was served
 * @call: the call to send
 * @error: 0 if slots were assigned, or an error
 * @served: completed when @error is valid
 */
struct dafs_slot_waiter {
	struct list_head link;
	struct dafs_call *call;
	int error;
	struct completion served;
};

/**
 * dafs_sq_signal() - the next work request will be signaled
 * @rq: requester
 *
 * Context: holds rq->lock.
 * Return: the number of entries that its completion covers, for dafs_sq_done().
 */
unsigned int dafs_sq_signal(struct dafs_requester *rq)
{
	unsigned int covers = rq->sq_silent;

	lockdep_assert_held(&rq->lock);
	rq->sq_silent = 0;
	rq->settle = false;
	return covers;
}

/**
 * dafs_sq_silent_enough() - should the next send be signaled?
 * @rq: requester
 *
 * Context: holds rq->lock.
 * Return: true if half as many entries as there are slots were posted unsignaled, so that
 * the other half can be used until the completion comes; or if dafs_requester_trim() needs
 * a completion.
 */
bool dafs_sq_silent_enough(const struct dafs_requester *rq)
{
	return rq->settle || rq->sq_silent >= rq->max / 2;
}

/**
 * dafs_sq_done() - entries of the send queue are free
 * @rq: requester
 * @covers: how many
 *
 * Context: holds rq->lock.
 */
void dafs_sq_done(struct dafs_requester *rq, unsigned int covers)
{
	lockdep_assert_held(&rq->lock);
	WARN_ON_ONCE(covers > rq->sq_used);
	rq->sq_used -= covers;
	dafs_slots_grant(rq);
}

/* Send queue entries of a call: with memory also the registrations and invalidations. */
static unsigned int dafs_sq_need(const struct dafs_call *call)
{
	return 1 + (call->mem ? 2 * call->mem->nr : 0);
}

/**
 * dafs_sq_unreserve() - undo the reservation of requests that will not be sent
 * @rq: requester
 * @call: the first of a chain that has its slots
 *
 * Context: any.
 */
void dafs_sq_unreserve(struct dafs_requester *rq, const struct dafs_call *call)
{
	unsigned long flags;

	spin_lock_irqsave(&rq->lock, flags);
	for (; call; call = call->behind) {
		rq->granted--;
		dafs_sq_done(rq, dafs_sq_need(call));
	}
	spin_unlock_irqrestore(&rq->lock, flags);
}

static u16 dafs_chain_length(const struct dafs_call *call)
{
	u16 nr = 0;

	for (; call; call = call->behind)
		nr++;
	return nr;
}

/*
 * Is there room in the send queue for @call and all behind it?  The entries for a probe and
 * for draining the queue are reserved.
 */
static bool dafs_sq_room(const struct dafs_requester *rq, const struct dafs_call *call)
{
	unsigned int need = 0;

	for (; call; call = call->behind)
		need += dafs_sq_need(call);
	return rq->sq_used + need <= rq->chan->limits.sq - DAFS_PROBES - 1;
}

/* Is the last slot reserved for the NULL that asks for more slots? */
static bool dafs_slots_keep_one(const struct dafs_requester *rq)
{
	return rq->least && rq->nreq > 1 && rq->nreq < rq->max &&
	       rq->desired > max(rq->nreq, rq->denied);
}

/* @asks: the call is that NULL */
static bool dafs_slots_allowed(const struct dafs_requester *rq, bool asks, u16 nr)
{
	u16 most = min(rq->nreq, rq->max);

	if (!asks && dafs_slots_keep_one(rq))
		most--;
	return rq->outstanding + nr <= most;
}

/* Only buffers are missing for @call and all behind it. */
static bool dafs_slots_short(const struct dafs_requester *rq, const struct dafs_call *call)
{
	u16 nr = dafs_chain_length(call);

	return dafs_slots_allowed(rq, call->asks, nr) && rq->outstanding + nr > rq->ready;
}

static bool dafs_slots_free(const struct dafs_requester *rq, const struct dafs_call *call)
{
	u16 nr = dafs_chain_length(call);

	lockdep_assert_held(&rq->lock);
	return dafs_slots_allowed(rq, call->asks, nr) && rq->outstanding + nr <= rq->ready &&
	       dafs_sq_room(rq, call);
}

/**
 * dafs_requester_busy() - would a request have to wait for a slot?
 * @rq: requester
 *
 * Context: any.
 * Return: true if so, at this moment.
 */
bool dafs_requester_busy(struct dafs_requester *rq)
{
	unsigned long flags;
	bool busy;

	spin_lock_irqsave(&rq->lock, flags);
	/* missing buffers are ignored: allocating them does not depend on the peer */
	busy = !list_empty(&rq->queue) || !dafs_slots_allowed(rq, false, 1);
	spin_unlock_irqrestore(&rq->lock, flags);
	return busy;
}
EXPORT_SYMBOL_GPL(dafs_requester_busy);

/* The desired_nreq for a number of outstanding requests. */
static u16 dafs_credits_wanted(const struct dafs_requester *rq, u16 outstanding)
{
	return clamp_t(u16, 2 * outstanding, rq->least, rq->max);
}

/* Fewer streams are in use than nreq allows, so the first free one has not expired. */
static void dafs_slot_take(struct dafs_requester *rq, struct dafs_call *call)
{
	unsigned int i = find_first_zero_bit(rq->used, rq->max);

	lockdep_assert_held(&rq->lock);
	rq->sq_used += dafs_sq_need(call);
	__set_bit(i, rq->used);
	rq->outstanding++;
	rq->granted++;
	rq->peak = max(rq->peak, rq->outstanding);
	if (rq->least)
		rq->desired = max(rq->desired, dafs_credits_wanted(rq, rq->outstanding));
	rq->slots[i].busy = DAFS_SLOT_CALL;
	call->slot = i;
	call->mark = rq->mark;
	call->chan = rq->chan;
}

static void dafs_slots_take(struct dafs_requester *rq, struct dafs_call *call)
{
	for (; call; call = call->behind)
		dafs_slot_take(rq, call);
}

/* The first task in the queue waits for buffers, or for the slot that is reserved. */
static void dafs_slots_help(struct dafs_requester *rq, const struct dafs_slot_waiter *waiter)
{
	lockdep_assert_held(&rq->lock);
	if (dafs_slots_short(rq, waiter->call))
		queue_work(dafs_requester_wq, &rq->grow);
	if (rq->asking || !dafs_slots_keep_one(rq) || rq->outstanding + 1 != rq->nreq)
		return;
	rq->asking = rq->desired;
	queue_work(dafs_requester_wq, &rq->ask);
}

/**
 * dafs_slots_grant() - assign free slots to waiting tasks
 * @rq: requester; something of it has become free, or nreq has increased, or it is being
 *	aborted
 *
 * Context: holds rq->lock.
 */
void dafs_slots_grant(struct dafs_requester *rq)
{
	struct dafs_slot_waiter *waiter;

	lockdep_assert_held(&rq->lock);
	while ((waiter = list_first_entry_or_null(&rq->queue, struct dafs_slot_waiter, link))) {
		if (!rq->error && !dafs_slots_free(rq, waiter->call))
			break;
		list_del_init(&waiter->link);
		waiter->error = rq->error;
		if (!waiter->error)
			dafs_slots_take(rq, waiter->call);
		complete(&waiter->served);
	}
	if (waiter)
		dafs_slots_help(rq, waiter);
}

/* If the desired number was not granted, do not reserve a slot until it changes. */
static void dafs_slots_asked(struct dafs_requester *rq)
{
	unsigned long flags;

	spin_lock_irqsave(&rq->lock, flags);
	rq->denied = rq->asking;
	rq->asking = 0;
	dafs_slots_grant(rq);
	spin_unlock_irqrestore(&rq->lock, flags);
}

static void dafs_slots_answered(struct dafs_call *call)
{
	dafs_slots_asked(call->chan->requester);
	dafs_call_put(call);
}

/**
 * dafs_slots_ask() - the work item dafs_requester.ask
 * @work: it
 */
void dafs_slots_ask(struct work_struct *work)
{
	struct dafs_requester *rq = container_of(work, struct dafs_requester, ask);
	struct dafs_call *call = dafs_call_alloc(GFP_NOFS);

	if (!call) {
		dafs_slots_asked(rq);
		return;
	}
	call->proc = DAFS_PROC_NULL;
	call->asks = true;
	call->done = dafs_slots_answered;
	if (dafs_call_start_chain(rq, call)) {
		dafs_call_put(call);
		dafs_slots_asked(rq);
	}
}

/**
 * dafs_slot_release() - clear a bit of a slot
 * @slot: the slot
 * @what: DAFS_SLOT_*; the slot is free when the last bit is cleared
 *
 * Context: any.
 */
void dafs_slot_release(struct dafs_slot *slot, unsigned int what)
{
	struct dafs_requester *rq = slot->rq;
	unsigned long flags;

	spin_lock_irqsave(&rq->lock, flags);
	WARN_ON_ONCE(!(slot->busy & what));
	slot->busy &= ~what;
	if (!slot->busy) {
		__clear_bit(slot - rq->slots, rq->used);
		if (!--rq->outstanding)
			wake_up_all(&rq->idle);
	}
	if (what & DAFS_SLOT_SENDING)
		dafs_sq_done(rq, slot->covers);
	else
		dafs_slots_grant(rq);
	spin_unlock_irqrestore(&rq->lock, flags);
}

/* Add a receive for a new slot: use a surplus one, or post a new one. */
static int dafs_recv_add(struct dafs_requester *rq)
{
	struct dafs_msg *recv;
	bool have = false;

	spin_lock_irq(&rq->lock);
	if (rq->extra) {
		rq->extra--;
		have = true;
	}
	spin_unlock_irq(&rq->lock);
	if (have)
		return 0;
	recv = dafs_msg_make(rq->chan, rq->chan->limits.recv_size, DMA_FROM_DEVICE,
			     DAFS_SLOT_GFP);
	return IS_ERR(recv) ? PTR_ERR(recv) : dafs_msg_post(recv);
}

/**
 * dafs_recv_drop() - are there more receive buffers than needed?
 * @rq: requester
 *
 * Context: any.
 * Return: true if the caller shall free the buffer of a response and not post it again.
 */
bool dafs_recv_drop(struct dafs_requester *rq)
{
	unsigned long flags;
	bool drop;

	spin_lock_irqsave(&rq->lock, flags);
	drop = rq->extra;
	if (drop)
		rq->extra--;
	spin_unlock_irqrestore(&rq->lock, flags);
	return drop;
}

static int dafs_slot_make(struct dafs_requester *rq)
{
	struct dafs_msg *send;
	int err;

	lockdep_assert_held(&rq->growing);
	send = dafs_msg_make(rq->chan, rq->chan->limits.send_size, DMA_TO_DEVICE,
			     DAFS_SLOT_GFP);
	if (IS_ERR(send))
		return PTR_ERR(send);
	err = dafs_recv_add(rq);
	if (err) {
		dafs_msg_free(send);
		return err;
	}
	spin_lock_irq(&rq->lock);
	rq->slots[rq->ready++].send = send;
	dafs_slots_grant(rq);
	spin_unlock_irq(&rq->lock);
	return 0;
}

/**
 * dafs_slots_make() - allocate the buffers of slots
 * @rq: requester
 * @nr: number of slots that shall have buffers, limited to the maximum
 *
 * Context: may sleep, but does not wait long for memory.
 * Return: 0, -ENOMEM, -EIO or -ENOTCONN.
 */
int dafs_slots_make(struct dafs_requester *rq, u16 nr)
{
	int err = 0;

	nr = min(nr, rq->max);
	mutex_lock(&rq->growing);
	while (!err && rq->ready < nr)
		err = dafs_slot_make(rq);
	mutex_unlock(&rq->growing);
	return err;
}

/* Number of slots with buffers that the first waiting task needs, or 0. */
static u16 dafs_slots_wanted(struct dafs_requester *rq)
{
	struct dafs_slot_waiter *waiter;
	u16 wanted = 0;

	spin_lock_irq(&rq->lock);
	waiter = list_first_entry_or_null(&rq->queue, struct dafs_slot_waiter, link);
	if (!rq->error && waiter && dafs_slots_short(rq, waiter->call))
		wanted = rq->ready + 1;
	spin_unlock_irq(&rq->lock);
	return wanted;
}

/**
 * dafs_slots_grow() - the work item dafs_requester.grow
 * @work: it
 */
void dafs_slots_grow(struct work_struct *work)
{
	struct dafs_requester *rq = container_of(work, struct dafs_requester, grow);
	u16 wanted;

	while ((wanted = dafs_slots_wanted(rq)))
		if (dafs_slots_make(rq, wanted))
			break;
}

/* Return: true with slots for the whole chain, or with an error in *@error. */
static bool dafs_slot_try(struct dafs_requester *rq, struct dafs_call *call, int *error)
{
	lockdep_assert_held(&rq->lock);
	*error = rq->error;
	if (*error)
		return true;
	/* earlier tasks go first, except before the NULL that they wait for */
	if ((!call->asks && !list_empty(&rq->queue)) || !dafs_slots_free(rq, call))
		return false;
	dafs_slots_take(rq, call);
	return true;
}

/**
 * dafs_slot_get_now() - take slots if they are available now
 * @rq: requester
 * @call: the first of a chain
 *
 * Context: may sleep, but not for long.
 * Return: 0 with slots for all calls of the chain, -EAGAIN, or the error of
 * dafs_requester_abort().
 */
int dafs_slot_get_now(struct dafs_requester *rq, struct dafs_call *call)
{
	u16 nr = dafs_chain_length(call), wanted = 0;
	bool done;
	int err;

	for (;;) {
		spin_lock_irq(&rq->lock);
		done = dafs_slot_try(rq, call, &err);
		if (!done)
			wanted = dafs_slots_short(rq, call) ? rq->outstanding + nr : 0;
		spin_unlock_irq(&rq->lock);
		if (done)
			return err;
		if (!wanted || dafs_slots_make(rq, wanted))
			return -EAGAIN;
	}
}

/* Return: 0, or -ERESTARTSYS if the task was killed before its turn came. */
static int dafs_slot_wait(struct dafs_requester *rq, struct dafs_slot_waiter *waiter)
{
	int err = wait_for_completion_killable(&waiter->served);

	if (!err)
		return waiter->error;
	spin_lock_irq(&rq->lock);
	if (list_empty(&waiter->link)) {
		err = waiter->error;
	} else {
		list_del(&waiter->link);
		/* there may be enough slots for the next task in the queue */
		dafs_slots_grant(rq);
	}
	spin_unlock_irq(&rq->lock);
	return err;
}

/**
 * dafs_slot_get() - wait for a slot
 * @rq: requester
 * @call: a single call
 *
 * Context: may sleep; a fatal signal ends it.
 * Return: 0 with a slot, -ERESTARTSYS, or the error of dafs_requester_abort().
 */
int dafs_slot_get(struct dafs_requester *rq, struct dafs_call *call)
{
	struct dafs_slot_waiter waiter = {
		.call = call,
		.served = COMPLETION_INITIALIZER_ONSTACK(waiter.served),
	};
	int err = dafs_slot_get_now(rq, call);
	bool done;

	if (err != -EAGAIN)
		return err;
	spin_lock_irq(&rq->lock);
	done = dafs_slot_try(rq, call, &err);
	if (!done) {
		list_add_tail(&waiter.link, &rq->queue);
		dafs_slots_help(rq, &waiter);
	}
	spin_unlock_irq(&rq->lock);
	return done ? err : dafs_slot_wait(rq, &waiter);
}

/**
 * dafs_requester_credit() - update nreq from a response
 * @rq: requester
 * @target: target_nreq
 *
 * Context: holds rq->lock.
 */
void dafs_requester_credit(struct dafs_requester *rq, u16 target)
{
	u16 was = rq->nreq;

	lockdep_assert_held(&rq->lock);
	rq->target = max_t(u16, target, 1);	/* E-40 */
	rq->nreq = max_t(u16, rq->nreq - 1, rq->target);
	if (rq->nreq != was)
		trace_dafs_credit(rq->chan, was, rq->nreq, rq->target);
	if (rq->nreq > was)
		dafs_slots_grant(rq);
}

/* Move the send buffers of unused slots from number @keep on to @list. */
static void dafs_slots_strip(struct dafs_requester *rq, u16 keep, struct list_head *list)
{
	struct dafs_slot *slot;

	lockdep_assert_held(&rq->lock);
	while (rq->ready > keep && !test_bit(rq->ready - 1, rq->used)) {
		slot = &rq->slots[--rq->ready];
		list_add(&slot->send->link, list);
		slot->send = NULL;
		rq->extra++;
	}
}

/* Reduce the desired number to what was needed, and make sure that the responder learns it. */
static void dafs_requester_settle(struct dafs_requester *rq)
{
	u16 was = rq->desired;

	lockdep_assert_held(&rq->lock);
	if (!rq->least)
		return;
	rq->desired = dafs_credits_wanted(rq, rq->peak);
	if (rq->desired < was)
		rq->untold = true;
	/* the responder may have memory now: ask again */
	rq->denied = 0;
}

/**
 * dafs_requester_trim() - free buffers and memory regions that were not needed
 * @rq: requester
 *
 * To be called from time to time: frees what was not used since the last call.
 * dafs_requester_surplus() returns the number of requests that are needed for that.
 *
 * Context: may sleep.
 */
void dafs_requester_trim(struct dafs_requester *rq)
{
	struct dafs_msg *msg, *next;
	LIST_HEAD(list);
	u16 keep;

	mutex_lock(&rq->growing);
	spin_lock_irq(&rq->lock);
	keep = max_t(u16, rq->peak, DAFS_SLOTS_KEPT);
	dafs_requester_settle(rq);
	rq->peak = rq->outstanding;
	/* the device may read a buffer until there is a completion that covers the send */
	if (rq->ready > keep && rq->sq_used)
		rq->settle = true;
	else
		dafs_slots_strip(rq, keep, &list);
	spin_unlock_irq(&rq->lock);
	list_for_each_entry_safe(msg, next, &list, link)
		dafs_msg_free(msg);
	mutex_unlock(&rq->growing);
	dafs_mrs_trim(rq->chan);
}
EXPORT_SYMBOL_GPL(dafs_requester_trim);
