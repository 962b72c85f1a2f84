// SPDX-License-Identifier: GPL-2.0
/*
 * The requester: slots, which the draft calls streams, and the calls in them
 * (sections 3.2.6 and 5.2).
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
 */
#include <linux/bitmap.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/dafs/cksum.h>
#include <linux/dafs/stats.h>
#include "common.h"
#include "trace.h"

#define DAFS_SLOT_SENDING	BIT(0)	/* its send is going to complete */
#define DAFS_SLOT_CALL		BIT(1)	/* a call holds the stream */

/**
 * struct dafs_slot - one stream
 * @rq: its requester
 * @send: send buffer
 * @cqe: completion of the send
 * @sge: the request, for @wr
 * @wr: sends it
 * @call: the request on it, from sending to completion
 * @busy: DAFS_SLOT_*
 * @covers: entries of the send queue whose end the completion of the send tells
 * @seq: seq_number of the next request
 */
struct dafs_slot {
	struct dafs_requester *rq;
	struct dafs_msg *send;
	struct ib_cqe cqe;
	struct ib_sge sge;
	struct ib_send_wr wr;
	struct dafs_call *call;
	unsigned int busy;
	unsigned int covers;
	u16 seq;
};

/**
 * struct dafs_requester - the side of a channel that sends requests
 * @chan: the channel
 * @lock: guards all below but @wait and @watchdog
 * @nreq: requests that may be outstanding
 * @target: target_nreq of the latest response
 * @desired: what requests ask for
 * @max: slots there are
 * @outstanding: slots in use
 * @sq_used: entries of the send queue that may be in use, or will be for
 *	invalidations
 * @sq_silent: those posted since a completion was asked for
 * @error: set once by dafs_requester_abort(); no call starts after it
 * @used: bitmap of slots in use
 * @wait: for a free slot
 * @watchdog: looks for a response that is overdue
 * @timeout: jiffies after which it is, 0 for never
 * @stats: where calls are counted, or NULL; set before the first of them
 * @slots: @max of them
 */
struct dafs_requester {
	struct dafs_chan *chan;
	spinlock_t lock;	/* see above */
	u16 nreq;
	u16 target;
	u16 desired;
	u16 max;
	u16 outstanding;
	unsigned int sq_used;
	unsigned int sq_silent;
	int error;
	DECLARE_BITMAP(used, DAFS_MAX_NREQ);
	wait_queue_head_t wait;
	struct delayed_work watchdog;
	unsigned long timeout;
	struct dafs_stats __percpu *stats;
	struct dafs_slot slots[] __counted_by(max);
};

static struct kmem_cache *dafs_call_cache;

/**
 * dafs_call_alloc() - a call to be filled in
 * @gfp: how to allocate
 *
 * Return: the call with one reference, or NULL.
 */
struct dafs_call *dafs_call_alloc(gfp_t gfp)
{
	struct dafs_call *call = kmem_cache_zalloc(dafs_call_cache, gfp);

	if (!call)
		return NULL;
	kref_init(&call->ref);
	init_completion(&call->finished);
	call->slot = -1;
	return call;
}
EXPORT_SYMBOL_GPL(dafs_call_alloc);

/* Asks for a completion.  Return: the entries whose end it will tell. */
static unsigned int dafs_sq_signal(struct dafs_requester *rq)
{
	unsigned int covers = rq->sq_silent;

	lockdep_assert_held(&rq->lock);
	rq->sq_silent = 0;
	return covers;
}

/* The completion came.  No more callers can go on than there are entries free. */
static void dafs_sq_done(struct dafs_requester *rq, unsigned int covers)
{
	lockdep_assert_held(&rq->lock);
	WARN_ON_ONCE(covers > rq->sq_used);
	rq->sq_used -= covers;
	wake_up_nr(&rq->wait, covers);
}

/* Half of the slots may go on while the completion of the others is awaited. */
static bool dafs_sq_silent_enough(const struct dafs_requester *rq)
{
	return rq->sq_silent >= rq->max / 2;
}

/* Returns part of a slot; the last part makes it free. */
static void dafs_slot_release(struct dafs_slot *slot, unsigned int what)
{
	struct dafs_requester *rq = slot->rq;
	unsigned long flags;

	spin_lock_irqsave(&rq->lock, flags);
	WARN_ON_ONCE(!(slot->busy & what));
	if (what & DAFS_SLOT_SENDING)
		dafs_sq_done(rq, slot->covers);
	slot->busy &= ~what;
	if (!slot->busy) {
		__clear_bit(slot - rq->slots, rq->used);
		rq->outstanding--;
		wake_up(&rq->wait);
	}
	spin_unlock_irqrestore(&rq->lock, flags);
}

static void dafs_call_free(struct kref *ref)
{
	struct dafs_call *call = container_of(ref, struct dafs_call, ref);

	if (call->reply && !call->last)
		dafs_msg_post(call->reply);
	else if (call->reply)
		call->reply->owner = DAFS_MSG_FREE;
	if (call->slot >= 0)
		dafs_slot_release(&call->chan->requester->slots[call->slot], DAFS_SLOT_CALL);
	kmem_cache_free(dafs_call_cache, call);
}

/**
 * dafs_call_put() - drop a reference on a call
 * @call: the call
 *
 * The last one gives the response buffer back to the channel (rule 4 of
 * <linux/dafs/chan.h>) and frees the slot, so the channel must still be there.
 *
 * Context: any.
 */
void dafs_call_put(struct dafs_call *call)
{
	kref_put(&call->ref, dafs_call_free);
}
EXPORT_SYMBOL_GPL(dafs_call_put);

/* Memory is unreachable by now, see mem.c. */
static void dafs_call_complete(struct dafs_call *call, int error)
{
	call->error = error;
	if (call->chan->requester->stats)
		dafs_stats_count(call->chan->requester->stats, call);
	if (call->mem)
		dafs_mem_unmap(call->mem);
	trace_dafs_reply(call);
	if (call->done)
		call->done(call);
	complete_all(&call->finished);
	dafs_call_put(call);
}

static void dafs_inv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct dafs_mem *mem = container_of(wc->wr_cqe, struct dafs_mem, cqe);
	struct dafs_requester *rq = mem->chan->requester;
	struct dafs_call *call = mem->call;
	unsigned long flags;

	/* after an error dafs_requester_abort() completes it, drained */
	if (wc->status != IB_WC_SUCCESS) {
		dafs_chan_fail(mem->chan, DAFS_CLOSE_QP);
		return;
	}
	spin_lock_irqsave(&rq->lock, flags);
	rq->slots[call->slot].call = NULL;
	dafs_sq_done(rq, mem->covers);
	spin_unlock_irqrestore(&rq->lock, flags);
	dafs_call_complete(call, 0);
}

static int dafs_call_invalidate(struct dafs_call *call)
{
	struct dafs_requester *rq = call->chan->requester;
	struct dafs_mem *mem = call->mem;
	struct ib_send_wr *last = &mem->inv[mem->nr - 1];

	rq->sq_silent += mem->nr;
	mem->covers = dafs_sq_signal(rq);
	mem->call = call;
	mem->cqe.done = dafs_inv_done;
	last->wr_cqe = &mem->cqe;
	last->send_flags = IB_SEND_SIGNALED;
	call->posts++;
	return ib_post_send(call->chan->id->qp, &mem->inv[0], NULL);
}

static void dafs_requester_credit(struct dafs_requester *rq, u16 target)
{
	u16 nreq;

	lockdep_assert_held(&rq->lock);
	rq->target = max_t(u16, target, 1);	/* E-40 */
	nreq = max_t(u16, rq->nreq - 1, rq->target);
	if (nreq != rq->nreq)
		trace_dafs_credit(rq->chan, rq->nreq, nreq, rq->target);
	if (nreq > rq->nreq)
		wake_up_all(&rq->wait);
	rq->nreq = nreq;
}

/* The call that waits for this response, or NULL if nobody does. */
static struct dafs_call *dafs_slot_match(struct dafs_requester *rq,
					 const struct dafs_res_hdr *hdr)
{
	struct dafs_call *call;

	lockdep_assert_held(&rq->lock);
	if (hdr->stream_id >= rq->max)
		return NULL;
	call = rq->slots[hdr->stream_id].call;
	if (!call || call->reply || call->hdr.seq_number != hdr->seq_number)
		return NULL;
	return call;
}

/* Hands @msg to the call, and the call to the invalidation or its caller. */
static void dafs_requester_deliver(struct dafs_requester *rq, struct dafs_msg *msg,
				   const struct dafs_stream *stream,
				   const struct dafs_res_hdr *hdr)
{
	struct dafs_call *call;
	unsigned long flags;
	bool last = false;
	int err = 0;

	spin_lock_irqsave(&rq->lock, flags);
	call = rq->error ? NULL : dafs_slot_match(rq, hdr);
	if (!call) {
		spin_unlock_irqrestore(&rq->lock, flags);
		msg->owner = DAFS_MSG_FREE;
		dafs_chan_fail(rq->chan, DAFS_CLOSE_PROTOCOL);
		return;
	}
	dafs_requester_credit(rq, hdr->target_nreq);
	call->hdr = *hdr;
	call->status = hdr->status;
	call->stream = *stream;
	call->reply = msg;
	if (call->mem) {
		err = dafs_call_invalidate(call);
	} else {
		rq->slots[call->slot].call = NULL;
		last = true;
	}
	spin_unlock_irqrestore(&rq->lock, flags);

	/* with memory the invalidation may have ended the call by now */
	if (err)
		dafs_chan_fail(rq->chan, DAFS_CLOSE_QP);
	if (last)
		dafs_call_complete(call, 0);
}

/**
 * dafs_requester_response() - a response arrived
 * @rq: requester of the channel
 * @msg: the response; the requester's from now on
 *
 * One that cannot be trusted ends the channel: by E-33 the session is lost then.
 *
 * Context: softirq, where completions come.
 */
void dafs_requester_response(struct dafs_requester *rq, struct dafs_msg *msg)
{
	struct dafs_stream stream = {
		.base = msg->data,
		.len = msg->len,
		.swab = rq->chan->swab,
	};
	struct dafs_res_hdr hdr;

	if (dafs_get_res_hdr(&stream, &hdr)) {
		msg->owner = DAFS_MSG_FREE;
		trace_dafs_bad_message(rq->chan, msg->data, msg->len);
		dafs_chan_fail(rq->chan, DAFS_CLOSE_PROTOCOL);
		return;
	}
	stream.len = hdr.len;
	if (rq->chan->cksum && !dafs_msg_cksum_ok(msg->data, hdr.len)) {
		msg->owner = DAFS_MSG_FREE;
		trace_dafs_bad_message(rq->chan, msg->data, msg->len);
		dafs_chan_fail(rq->chan, DAFS_CLOSE_CHECKSUM);
		return;
	}
	dafs_requester_deliver(rq, msg, &stream, &hdr);
}

static void dafs_send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct dafs_slot *slot = container_of(wc->wr_cqe, struct dafs_slot, cqe);

	if (wc->status != IB_WC_SUCCESS) {
		if (wc->status != IB_WC_WR_FLUSH_ERR)
			trace_dafs_wc_error(slot->rq->chan, "send", wc);
		dafs_chan_fail(slot->rq->chan, DAFS_CLOSE_QP);
	}
	/*
	 * Errors come unasked, too.  Only completions clear the bit, and they
	 * come one by one; after an error nothing reads the send buffer.
	 */
	if (READ_ONCE(slot->busy) & DAFS_SLOT_SENDING)
		dafs_slot_release(slot, DAFS_SLOT_SENDING);
	else
		WARN_ON_ONCE(wc->status == IB_WC_SUCCESS);
}

/* With memory: registrations, and invalidations when the response is there. */
static unsigned int dafs_sq_need(const struct dafs_call *call)
{
	return 1 + (call->mem ? 2 * call->mem->nr : 0);
}

static void dafs_sq_unreserve(struct dafs_requester *rq, const struct dafs_call *call)
{
	unsigned long flags;

	spin_lock_irqsave(&rq->lock, flags);
	for (; call; call = call->behind)
		dafs_sq_done(rq, dafs_sq_need(call));
	spin_unlock_irqrestore(&rq->lock, flags);
}

/* Are there slots, and room in the send queue, for @call and all behind it? */
static bool dafs_slots_free(const struct dafs_requester *rq, const struct dafs_call *call)
{
	unsigned int need = 0, nr = 0;

	lockdep_assert_held(&rq->lock);
	for (; call; call = call->behind) {
		need += dafs_sq_need(call);
		nr++;
	}
	return rq->outstanding + nr <= min(rq->nreq, rq->max) &&
	       rq->sq_used + need <= rq->chan->limits.sq;
}

/* Fewer streams are in use than may be, so the first free one has not expired. */
static void dafs_slot_take(struct dafs_requester *rq, struct dafs_call *call)
{
	unsigned int i = find_first_zero_bit(rq->used, rq->max);

	lockdep_assert_held(&rq->lock);
	rq->sq_used += dafs_sq_need(call);
	__set_bit(i, rq->used);
	rq->outstanding++;
	rq->slots[i].busy = DAFS_SLOT_CALL;
	call->slot = i;
	call->chan = rq->chan;
}

/* Return: true with slots for the whole chain, or with an error in *@error. */
static bool dafs_slot_try(struct dafs_requester *rq, struct dafs_call *call, int *error)
{
	unsigned long flags;
	bool done;

	spin_lock_irqsave(&rq->lock, flags);
	*error = rq->error;
	done = *error || dafs_slots_free(rq, call);
	if (done && !*error)
		for (; call; call = call->behind)
			dafs_slot_take(rq, call);
	spin_unlock_irqrestore(&rq->lock, flags);
	return done;
}

static int dafs_slot_get(struct dafs_requester *rq, struct dafs_call *call)
{
	int error, killed;

	/* memory registered for the call cannot be left to a dying task */
	if (call->mem) {
		wait_event(rq->wait, dafs_slot_try(rq, call, &error));
	} else {
		killed = wait_event_killable_exclusive(rq->wait, dafs_slot_try(rq, call, &error));
		if (killed)
			return killed;
	}
	return error;
}

static int dafs_call_encode(struct dafs_requester *rq, struct dafs_call *call)
{
	struct dafs_slot *slot = &rq->slots[call->slot];
	struct dafs_stream out = {
		.base = slot->send->data,
		.len = rq->chan->limits.send_size,
		.swab = rq->chan->swab,
	};
	struct dafs_req_hdr hdr = {
		.version = DAFS_PROTOCOL_VERSION,
		.desired_nreq = READ_ONCE(rq->desired),
		.stream_id = call->slot,
		.seq_number = slot->seq,
		.procedure = call->proc,
		.chain_flags = call->chain_flags,
	};
	int len;

	len = dafs_encode_args(&out, call->proc, call->args);
	if (len < 0)
		return len;
	memcpy(hdr.cred_handle, call->cred, sizeof(hdr.cred_handle));
	hdr.len = len;
	dafs_put_req_hdr(&out, &hdr);
	out.len = len;
	if (call->fill)
		call->fill(call, &out);
	if (rq->chan->cksum)
		dafs_msg_cksum(out.base, len);
	call->hdr.seq_number = slot->seq++;
	slot->send->len = len;
	call->sent_len = len;
	return 0;
}

/*
 * The registrations of call->mem travel in front of the request.  A completion
 * is asked for with the last request of a post only, so that where a post fails
 * none that was asked for can still come.
 *
 * Return: the first work request of the call.
 */
static struct ib_send_wr *dafs_call_wrs(struct dafs_requester *rq, struct dafs_call *call)
{
	struct dafs_slot *slot = &rq->slots[call->slot];
	struct dafs_msg *msg = slot->send;

	lockdep_assert_held(&rq->lock);
	slot->sge = (struct ib_sge) {
		.addr = msg->addr,
		.length = msg->len,
		.lkey = rq->chan->pd->local_dma_lkey,
	};
	slot->wr = (struct ib_send_wr) {
		.wr_cqe = &slot->cqe,
		.sg_list = &slot->sge,
		.num_sge = 1,
		.opcode = IB_WR_SEND,
	};
	ib_dma_sync_single_for_device(rq->chan->id->device, msg->addr, msg->len, msg->dir);
	rq->sq_silent++;
	if (call->mem) {
		rq->sq_silent += call->mem->nr;
		call->mem->reg[call->mem->nr - 1].wr.next = &slot->wr;
		return &call->mem->reg[0].wr;
	}
	if (!call->behind && dafs_sq_silent_enough(rq)) {
		slot->covers = dafs_sq_signal(rq);
		slot->busy |= DAFS_SLOT_SENDING;
		slot->wr.send_flags = IB_SEND_SIGNALED;
	}
	return &slot->wr;
}

/* One post for all of a chain, so that nothing comes in between (4.3.3). */
static int dafs_call_post(struct dafs_requester *rq, struct dafs_call *call)
{
	struct ib_send_wr *first, **tail = &first;
	struct dafs_slot *slot;
	int err;

	call->posts++;
	do {
		slot = &rq->slots[call->slot];
		slot->call = call;
		call->sent_at = jiffies;
		call->sent = ktime_get();
		trace_dafs_request(call);
		*tail = dafs_call_wrs(rq, call);
		tail = &slot->wr.next;
		call = call->behind;
	} while (call);
	err = ib_post_send(rq->chan->id->qp, first, NULL);
	if (err)
		slot->busy &= ~DAFS_SLOT_SENDING;
	return err;
}

static void dafs_chain_get(struct dafs_call *call)
{
	for (; call; call = call->behind)
		kref_get(&call->ref);
}

static void dafs_chain_put(struct dafs_call *call)
{
	for (; call; call = call->behind)
		kref_put(&call->ref, dafs_call_free);
}

/*
 * Posts under the lock, so that dafs_requester_abort() sees all or nothing.  If
 * that fails some of it may have been sent, and abort deals with it as with what
 * was on its way when the channel failed.
 */
static int dafs_call_submit(struct dafs_requester *rq, struct dafs_call *call)
{
	bool failed = false;
	unsigned long flags;
	int err;

	dafs_chain_get(call);
	spin_lock_irqsave(&rq->lock, flags);
	err = rq->error ?: (dafs_chan_is_open(rq->chan) ? 0 : -ENOTCONN);
	if (!err)
		failed = dafs_call_post(rq, call);
	spin_unlock_irqrestore(&rq->lock, flags);
	if (failed)
		dafs_chan_fail(rq->chan, DAFS_CLOSE_QP);
	if (!err)
		return 0;
	dafs_chain_put(call);	/* the caller still has one of each */
	return -ENOTCONN;
}

/* They have their slots. */
static int dafs_call_launch(struct dafs_requester *rq, struct dafs_call *first)
{
	struct dafs_call *call;
	int err = 0;

	for (call = first; call && !err; call = call->behind)
		err = dafs_call_encode(rq, call);
	if (!err)
		err = dafs_call_submit(rq, first);
	if (err)
		dafs_sq_unreserve(rq, first);
	return err;
}

/**
 * dafs_call_start() - send a request
 * @rq: requester of the channel
 * @call: filled in
 *
 * Waits for a slot.  On success call->done() is called or dafs_call_wait()
 * returns once, whatever happens to the channel; the requester holds its own
 * reference until then.  On failure neither happens, and memory in call->mem
 * stays mapped.
 *
 * Context: may sleep; without call->mem a fatal signal ends the wait.
 * Return: 0, -ENOTCONN if the channel is closed, -EMSGSIZE if the request is
 * larger than the session allows, -EOPNOTSUPP for an unknown procedure,
 * -ERESTARTSYS.
 */
int dafs_call_start(struct dafs_requester *rq, struct dafs_call *call)
{
	int err;

	call->begun = ktime_get();
	err = dafs_slot_get(rq, call);
	if (err)
		return err;
	return dafs_call_launch(rq, call);
}
EXPORT_SYMBOL_GPL(dafs_call_start);

/**
 * dafs_call_start_chain() - send all requests of a chain at once (4.3)
 * @rq: requester of the channel
 * @first: filled in, and so are those behind it, with their chain flags
 *
 * As dafs_call_start() for all of them or none.  It does not wait: where flow
 * control does not let all of them go, they are better sent one by one than all
 * others kept waiting (4.3.3).
 *
 * Context: any.
 * Return: as dafs_call_start() without -ERESTARTSYS, and -EAGAIN if there are
 * not enough slots now.
 */
int dafs_call_start_chain(struct dafs_requester *rq, struct dafs_call *first)
{
	struct dafs_call *call;
	int err;

	for (call = first; call; call = call->behind)
		call->begun = ktime_get();
	if (!dafs_slot_try(rq, first, &err))
		return -EAGAIN;
	return err ?: dafs_call_launch(rq, first);
}
EXPORT_SYMBOL_GPL(dafs_call_start_chain);

/**
 * dafs_call_wait() - wait for the response of a started call
 * @call: without done()
 *
 * Context: may sleep; without call->mem and call->keeps a fatal signal ends the
 * wait.  The caller may drop its reference then, the response is dealt with.
 * Return: 0 when a response is there (call->status may be an error),
 * -ENOTCONN if the channel closed first, -ERESTARTSYS.
 */
int dafs_call_wait(struct dafs_call *call)
{
	if (call->mem || call->keeps)
		wait_for_completion(&call->finished);
	else if (wait_for_completion_killable(&call->finished))
		return -ERESTARTSYS;
	return call->error;
}
EXPORT_SYMBOL_GPL(dafs_call_wait);

static bool dafs_requester_overdue(struct dafs_requester *rq)
{
	unsigned long flags;
	bool overdue = false;
	unsigned int i;

	spin_lock_irqsave(&rq->lock, flags);
	for_each_set_bit(i, rq->used, rq->max) {
		struct dafs_call *call = rq->slots[i].call;

		if (call && time_after(jiffies, call->sent_at + READ_ONCE(rq->timeout)))
			overdue = true;
	}
	spin_unlock_irqrestore(&rq->lock, flags);
	return overdue;
}

/* A late response means a dead channel, never a resend on it (5.1). */
static void dafs_requester_watch(struct work_struct *work)
{
	struct dafs_requester *rq = container_of(to_delayed_work(work),
						 struct dafs_requester, watchdog);

	if (dafs_requester_overdue(rq))
		dafs_chan_fail(rq->chan, DAFS_CLOSE_TIMEOUT);
	else
		schedule_delayed_work(&rq->watchdog, READ_ONCE(rq->timeout) / 4 + 1);
}

static int dafs_requester_alloc_slots(struct dafs_requester *rq)
{
	struct dafs_slot *slot;
	struct dafs_msg *msg;

	for (slot = rq->slots; slot < rq->slots + rq->max; slot++) {
		msg = dafs_msg_alloc(rq->chan, rq->chan->limits.send_size, DMA_TO_DEVICE);
		if (IS_ERR(msg))
			return PTR_ERR(msg);	/* freed with the channel */
		slot->rq = rq;
		slot->send = msg;
		slot->cqe.done = dafs_send_done;
	}
	return 0;
}

/**
 * dafs_requester_create() - become the requester of a channel
 * @chan: an open channel; one receive is posted already
 * @nreq: requests that may be outstanding at first; 1 until the session is
 *	negotiated (E-37)
 * @max: requests that may ever be outstanding
 * @timeout_ms: how long a response may take; 0 for ever
 *
 * All @max slots and receives are made now, so that a grown nreq can be used
 * at once.
 *
 * Context: may sleep.
 * Return: the requester or an ERR_PTR of -ENOMEM, -EIO, -ENOTCONN.
 */
struct dafs_requester *dafs_requester_create(struct dafs_chan *chan, u16 nreq, u16 max,
					     unsigned int timeout_ms)
{
	struct dafs_requester *rq;
	int err;

	max = min3(max, chan->limits.depth, (u16)DAFS_MAX_NREQ);
	rq = kzalloc(struct_size(rq, slots, max), GFP_KERNEL);
	if (!rq)
		return ERR_PTR(-ENOMEM);
	rq->chan = chan;
	rq->max = max;
	rq->nreq = nreq;
	rq->target = nreq;
	spin_lock_init(&rq->lock);
	init_waitqueue_head(&rq->wait);
	INIT_DELAYED_WORK(&rq->watchdog, dafs_requester_watch);
	rq->timeout = msecs_to_jiffies(timeout_ms);
	err = dafs_requester_alloc_slots(rq);
	if (!err)
		err = dafs_chan_post_recvs(chan, max - 1);
	if (err) {
		kfree(rq);
		return ERR_PTR(err);
	}
	chan->requester = rq;
	if (rq->timeout)
		schedule_delayed_work(&rq->watchdog, rq->timeout / 4 + 1);
	return rq;
}
EXPORT_SYMBOL_GPL(dafs_requester_create);

/**
 * dafs_requester_abort() - fail all calls, now and from now on
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
	spin_unlock_irq(&rq->lock);
	wake_up_all(&rq->wait);
	for (i = 0; i < rq->max; i++) {
		spin_lock_irq(&rq->lock);
		call = rq->slots[i].call;
		rq->slots[i].call = NULL;
		spin_unlock_irq(&rq->lock);
		if (call)
			dafs_call_complete(call, call->reply ? 0 : error);
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
	wait_event(rq->wait, !READ_ONCE(rq->outstanding));
	/* the last slot may still be about to let the lock go */
	spin_lock_irq(&rq->lock);
	spin_unlock_irq(&rq->lock);
	rq->chan->requester = NULL;
	kfree(rq);
}
EXPORT_SYMBOL_GPL(dafs_requester_destroy);

/**
 * dafs_requester_negotiated() - take over what the connect response agreed on
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
	spin_unlock_irqrestore(&rq->lock, flags);
	wake_up_all(&rq->wait);
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
 * dafs_requester_surplus() - requests to spend until the responder is content
 * @rq: requester
 *
 * Each response lowers nreq by one, so a requester with nothing to ask sends
 * this many NULLs for the responder to get its buffers back (3.2.6.4.2).
 *
 * Return: nreq - target_nreq.
 */
u16 dafs_requester_surplus(struct dafs_requester *rq)
{
	unsigned long flags;
	u16 surplus;

	spin_lock_irqsave(&rq->lock, flags);
	surplus = rq->nreq - rq->target;
	spin_unlock_irqrestore(&rq->lock, flags);
	return surplus;
}
EXPORT_SYMBOL_GPL(dafs_requester_surplus);

/**
 * dafs_requester_outstanding() - slots in use
 * @rq: requester
 *
 * Return: how many, at this moment.
 */
u16 dafs_requester_outstanding(struct dafs_requester *rq)
{
	return READ_ONCE(rq->outstanding);
}
EXPORT_SYMBOL_GPL(dafs_requester_outstanding);

/**
 * dafs_requester_desire() - ask for another nreq
 * @rq: requester
 * @nreq: desired_nreq of all requests from now on; 0 for no opinion
 */
void dafs_requester_desire(struct dafs_requester *rq, u16 nreq)
{
	WRITE_ONCE(rq->desired, nreq);
}
EXPORT_SYMBOL_GPL(dafs_requester_desire);

/**
 * dafs_requester_set_timeout() - change how long a response may take
 * @rq: requester that was made with a timeout
 * @timeout_ms: as for dafs_requester_create(), but not 0
 *
 * Holds for the calls in progress, too.
 *
 * Context: any.
 */
void dafs_requester_set_timeout(struct dafs_requester *rq, unsigned int timeout_ms)
{
	WRITE_ONCE(rq->timeout, msecs_to_jiffies(timeout_ms));
	mod_delayed_work(system_wq, &rq->watchdog, 1);
}
EXPORT_SYMBOL_GPL(dafs_requester_set_timeout);

/**
 * dafs_requester_count() - have calls counted
 * @rq: requester that has not sent anything yet
 * @stats: the counters; kept until the requester is destroyed
 */
void dafs_requester_count(struct dafs_requester *rq, struct dafs_stats __percpu *stats)
{
	rq->stats = stats;
}
EXPORT_SYMBOL_GPL(dafs_requester_count);

/**
 * dafs_calls_init() - make the cache of calls
 *
 * Return: 0 or -ENOMEM.
 */
int __init dafs_calls_init(void)
{
	dafs_call_cache = KMEM_CACHE(dafs_call, SLAB_HWCACHE_ALIGN);
	return dafs_call_cache ? 0 : -ENOMEM;
}

/**
 * dafs_calls_exit() - destroy the cache of calls
 */
void dafs_calls_exit(void)
{
	kmem_cache_destroy(dafs_call_cache);
}
