// SPDX-License-Identifier: GPL-2.0
/*
 * Slots, which the draft calls streams, and who gets them (3.2.6 and 5.2).
 *
 * A slot is taken for a request and is free again when these are past, in
 * whatever order:
 *
 *  1. the send completed, if its completion was asked for;
 *  2. the response arrived: the stream may carry the next request, and the send
 *     buffer may be written again, because the peer has read the request and
 *     takes no notice of what is sent again with an old sequence number;
 *  3. the receive buffer of the response is posted again: there is a receive
 *     for the response of the next request.
 *
 * (1) and the pair (2), (3) each clear a bit of the slot.  Because of (3) there
 * are never more requests outstanding than receives posted.
 *
 * The send queue is worked off in order, so a completion tells the end of all
 * that was posted before.  It is asked for once in a while, and of invalidations
 * always; sq_used counts the entries whose end is not known, and keeps the queue
 * from overflowing.
 *
 * The responder decides how many requests may be outstanding.  On each
 * response nreq = max(nreq - 1, target_nreq), 3.2.6.4.2.  When it shrinks, the
 * streams with the highest numbers expire: their requests finish, but no new
 * one starts there, and the total stays below nreq (5.2.2).
 *
 * A requester may ask for as many as it needs, see dafs_requester_adapt(): twice as
 * many as are outstanding, so that there are always some for those that do not wait for
 * a slow file; and less again when it has needed less for a while.  The wish goes with a
 * request, but what is granted comes with a response, and a file system that stands
 * still gives none.  So where more is wished for than is allowed, the last slot is kept
 * for a NULL, which needs no file system.  It is sent when others wait for that slot.
 *
 * Tasks that wait get their slots in the order in which they came, from the
 * task or completion handler that gives back what they need, and only they are
 * woken.
 *
 * A slot gets its buffers when there is a use for it.  dafs_requester_trim() takes
 * them back from those that had none for a while: the send buffer at once, and a
 * receive with the next response, since what is posted cannot be had otherwise.
 */
#include <linux/slab.h>
#include <linux/dafs/mem.h>
#include "requester.h"
#include "trace.h"

/* A buffer less is no misfortune, so nothing is tried hard. */
#define DAFS_SLOT_GFP	(GFP_NOFS | __GFP_NORETRY | __GFP_NOWARN)

/**
 * struct dafs_slot_waiter - a task that waits for slots
 * @link: in the requester's queue; empty once it has been dealt with
 * @call: what it wants to send
 * @error: what it got instead of slots, or 0
 * @served: completed with that
 */
struct dafs_slot_waiter {
	struct list_head link;
	struct dafs_call *call;
	int error;
	struct completion served;
};

/**
 * dafs_sq_signal() - a completion is asked for
 * @rq: requester
 *
 * Context: holds rq->lock.
 * Return: the entries whose end it will tell, for dafs_sq_done().
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
 * dafs_sq_silent_enough() - is it time to ask for a completion?
 * @rq: requester
 *
 * Context: holds rq->lock.
 * Return: true if half of the slots, which may go on while the completion of the
 * others is awaited, have been sent without, or one is wanted for another reason.
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

/* With memory: registrations, and invalidations when the response is there. */
static unsigned int dafs_sq_need(const struct dafs_call *call)
{
	return 1 + (call->mem ? 2 * call->mem->nr : 0);
}

/**
 * dafs_sq_unreserve() - requests will not be sent
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
 * Is there room in the send queue for @call and all behind it?  A probe, and the end,
 * have their entries for themselves.
 */
static bool dafs_sq_room(const struct dafs_requester *rq, const struct dafs_call *call)
{
	unsigned int need = 0;

	for (; call; call = call->behind)
		need += dafs_sq_need(call);
	return rq->sq_used + need <= rq->chan->limits.sq - DAFS_PROBES - 1;
}

/* Is the last slot kept for the NULL that asks for more? */
static bool dafs_slots_keep_one(const struct dafs_requester *rq)
{
	return rq->least && rq->nreq > 1 && rq->nreq < rq->max &&
	       rq->desired > max(rq->nreq, rq->denied);
}

/* @asks: this is that NULL */
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
	/* to have buffers made takes no answer of the peer */
	busy = !list_empty(&rq->queue) || !dafs_slots_allowed(rq, false, 1);
	spin_unlock_irqrestore(&rq->lock, flags);
	return busy;
}
EXPORT_SYMBOL_GPL(dafs_requester_busy);

/* What to ask for if so many are outstanding. */
static u16 dafs_credits_wanted(const struct dafs_requester *rq, u16 outstanding)
{
	return clamp_t(u16, 2 * outstanding, rq->least, rq->max);
}

/* Fewer streams are in use than may be, so the first free one has not expired. */
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
	call->chan = rq->chan;
}

static void dafs_slots_take(struct dafs_requester *rq, struct dafs_call *call)
{
	for (; call; call = call->behind)
		dafs_slot_take(rq, call);
}

/* The head of the queue waits: for buffers, or for the slot that is kept. */
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
 * dafs_slots_grant() - give slots to those who wait, as far as there are any
 * @rq: requester; something of it has become free, or more is allowed, or all has
 *	come to an end
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

/* What was not granted is not waited for, until something else is wished for. */
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
 * dafs_slot_release() - give a part of a slot back
 * @slot: the slot
 * @what: DAFS_SLOT_*; the last one makes it free
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

/* The receive of the slot to come: one that is posted already, or a new one. */
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
 * dafs_recv_drop() - is the buffer of a response one too many?
 * @rq: requester
 *
 * Context: any.
 * Return: true if it is to be freed, and not posted again.
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
 * dafs_slots_make() - have buffers for so many slots
 * @rq: requester
 * @nr: at least so many, as far as there may be
 *
 * Context: may sleep, not for memory to be freed.
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

/* How many slots those who wait could do with. */
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
	/* those who came before go first, and wait for the one that asks */
	if ((!call->asks && !list_empty(&rq->queue)) || !dafs_slots_free(rq, call))
		return false;
	dafs_slots_take(rq, call);
	return true;
}

/**
 * dafs_slot_get_now() - take slots, or leave it
 * @rq: requester
 * @call: the first of a chain
 *
 * Context: may sleep, not for long.
 * Return: 0 with slots for all of them, -EAGAIN, or the error that the requester
 * was ended with.
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
		/* there may be enough for the one behind it */
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
 * Return: 0 with a slot, -ERESTARTSYS, or the error that the requester was ended
 * with.
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
 * dafs_requester_credit() - a response tells how many requests there may be
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

/* Takes the send buffers of slots above @keep out, and puts them on @list. */
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

/* Ask for no more than what was needed, and see to it that the responder hears of it. */
static void dafs_requester_settle(struct dafs_requester *rq)
{
	u16 was = rq->desired;

	lockdep_assert_held(&rq->lock);
	if (!rq->least)
		return;
	rq->desired = dafs_credits_wanted(rq, rq->peak);
	if (rq->desired < was)
		rq->untold = true;
	/* the responder may have room by now */
	rq->denied = 0;
}

/**
 * dafs_requester_trim() - give back buffers and memory regions that were not needed
 * @rq: requester
 *
 * To be called once in a while: what was not in use since the last time goes.
 * dafs_requester_surplus() tells whether that takes requests.
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
	/* the device may read a buffer until it has told that the send is complete */
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
