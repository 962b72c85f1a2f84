// SPDX-License-Identifier: GPL-2.0
/*
 * Calls: a request in a slot, and its response (3.2.6, 5.2).
 *
 *	start	slot, encode, post
 *	reply	the response is there; memory is invalidated first (see mem.c)
 *	over	the caller hears of the end, once
 *	free	with the last reference: the response buffer is posted again, and
 *		the slot is free
 *
 * A call with memory that its caller does not want any more ends when that is out
 * of reach, dafs_call_cancel(), while the slot waits for the response.
 */
#include <linux/slab.h>
#include <linux/dafs/cksum.h>
#include <linux/dafs/mem.h>
#include <linux/dafs/stats.h>
#include "requester.h"
#include "trace.h"

/*
 * A task that is killed waits so long for a response before it takes its memory away:
 * a peer that reaches for it later costs all others the connection.
 */
#define DAFS_CALL_PARTING	(3 * HZ)

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

/* The buffer of the response: posted again, unless it is not needed any more. */
static void dafs_call_give_back(struct dafs_call *call)
{
	struct dafs_msg *msg = call->reply;

	if (!call->last && !dafs_recv_drop(call->chan->requester)) {
		dafs_msg_post(msg);
		return;
	}
	msg->owner = DAFS_MSG_FREE;
	dafs_msg_free(msg);
}

static void dafs_call_free(struct kref *ref)
{
	struct dafs_call *call = container_of(ref, struct dafs_call, ref);

	if (call->reply)
		dafs_call_give_back(call);
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

/* Tells the caller; memory is unreachable by now, see mem.c. */
static void dafs_call_over(struct dafs_call *call, int error)
{
	call->error = error;
	call->over = true;
	if (call->chan->requester->stats)
		dafs_stats_count(call->chan->requester->stats, call);
	if (call->mem)
		dafs_mem_unmap(call->mem);
	trace_dafs_reply(call);
	if (call->done)
		call->done(call);
	complete_all(&call->finished);
}

/**
 * dafs_call_complete() - a call leaves the requester
 * @call: not in its slot any more
 * @error: what the caller is told, unless it was told before
 *
 * Context: any, without rq->lock.
 */
void dafs_call_complete(struct dafs_call *call, int error)
{
	if (!call->over)
		dafs_call_over(call, error);
	dafs_call_put(call);
}

/*
 * A call that was cancelled keeps its slot until its response comes.  There is one
 * completion at a time on a channel, so none comes in between.
 */
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
	if (call->reply)
		rq->slots[call->slot].call = NULL;
	dafs_sq_done(rq, mem->covers);
	spin_unlock_irqrestore(&rq->lock, flags);
	if (call->reply)
		dafs_call_complete(call, 0);
	else
		dafs_call_over(call, -EINTR);
}

/* On a channel that is not open any more dafs_requester_abort() does the rest. */
static void dafs_call_invalidate(struct dafs_call *call)
{
	struct dafs_requester *rq = call->chan->requester;
	struct dafs_mem *mem = call->mem;
	struct ib_send_wr *last = &mem->inv[mem->nr - 1];

	lockdep_assert_held(&rq->lock);
	rq->sq_silent += mem->nr;
	mem->covers = dafs_sq_signal(rq);
	mem->call = call;
	mem->cqe.done = dafs_inv_done;
	last->wr_cqe = &mem->cqe;
	last->send_flags = IB_SEND_SIGNALED;
	call->invalidated = true;
	call->posts++;
	dafs_chan_submit(call->chan, &mem->inv[0]);
}

/* The call that waits for this response, or NULL if none does. */
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

/* Return: true if nothing more has to happen before the call leaves its slot. */
static bool dafs_call_replied(struct dafs_call *call)
{
	if (call->over || !call->mem)
		return true;
	if (!call->invalidated)
		dafs_call_invalidate(call);
	return false;
}

/* Hands @msg to the call, and the call to the invalidation or its caller. */
static void dafs_requester_deliver(struct dafs_requester *rq, struct dafs_msg *msg,
				   const struct dafs_stream *stream,
				   const struct dafs_res_hdr *hdr)
{
	struct dafs_call *call;
	unsigned long flags;
	bool last;

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
	last = dafs_call_replied(call);
	if (last)
		rq->slots[call->slot].call = NULL;
	spin_unlock_irqrestore(&rq->lock, flags);
	/* otherwise the invalidation may have ended it by now */
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

/**
 * dafs_send_done() - the completion of a slot's send
 * @cq: completion queue
 * @wc: the completion
 *
 * Context: softirq.
 */
void dafs_send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct dafs_slot *slot = container_of(wc->wr_cqe, struct dafs_slot, cqe);

	if (wc->status != IB_WC_SUCCESS)
		dafs_chan_send_failed(slot->rq->chan, "send", wc);
	/*
	 * Errors come unasked, too.  Besides a post that failed, only completions
	 * clear the bit, and they come one by one; after an error nothing reads the send buffer.
	 */
	if (READ_ONCE(slot->busy) & DAFS_SLOT_SENDING)
		dafs_slot_release(slot, DAFS_SLOT_SENDING);
	else
		WARN_ON_ONCE(wc->status == IB_WC_SUCCESS);
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

/*
 * One post for all of a chain, so that nothing comes in between (4.3.3).  If it
 * fails some of it may have been sent, and dafs_requester_abort() deals with it as
 * with what was on its way when the channel failed.
 */
static void dafs_call_post(struct dafs_requester *rq, struct dafs_call *call)
{
	struct ib_send_wr *first, **tail = &first;
	struct dafs_slot *slot;

	call->posts++;
	rq->untold = false;
	do {
		slot = &rq->slots[call->slot];
		slot->call = call;
		rq->granted--;
		call->sent_at = jiffies;
		call->sent = ktime_get();
		trace_dafs_request(call);
		*tail = dafs_call_wrs(rq, call);
		tail = &slot->wr.next;
		call = call->behind;
	} while (call);
	/* no completion will come for the last one, which alone was to have one */
	if (dafs_chan_submit(rq->chan, first))
		slot->busy &= ~DAFS_SLOT_SENDING;
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
 * A stream that has expired since it was taken carries no request any more: the
 * responder may have learnt from others that this side knows (5.2.2).  Nor are
 * more posted than may be outstanding by now, on whatever streams.
 */
static bool dafs_chain_expired(const struct dafs_requester *rq, const struct dafs_call *call)
{
	unsigned int posted = rq->outstanding - rq->granted;

	lockdep_assert_held(&rq->lock);
	for (; call; call = call->behind)
		if (call->slot >= rq->nreq || ++posted > rq->nreq)
			return true;
	return false;
}

/* With the lock dafs_requester_abort() sees all of it or nothing. */
static int dafs_call_submit(struct dafs_requester *rq, struct dafs_call *call)
{
	unsigned long flags;
	int err = 0;

	dafs_chain_get(call);
	spin_lock_irqsave(&rq->lock, flags);
	if (rq->error || !dafs_chan_is_open(rq->chan))
		err = -ENOTCONN;
	else if (dafs_chain_expired(rq, call))
		err = -EAGAIN;
	else
		dafs_call_post(rq, call);
	spin_unlock_irqrestore(&rq->lock, flags);
	if (err)
		dafs_chain_put(call);	/* the caller still has one of each */
	return err;
}

/* Nothing was sent on these streams. */
static void dafs_chain_return_slots(struct dafs_requester *rq, struct dafs_call *call)
{
	struct dafs_slot *slot;

	for (; call; call = call->behind) {
		slot = &rq->slots[call->slot];
		slot->seq--;
		call->slot = -1;
		dafs_slot_release(slot, DAFS_SLOT_CALL);
	}
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
	if (err == -EAGAIN)
		dafs_chain_return_slots(rq, first);
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
 * stays mapped: the peer has not heard of it.
 *
 * Context: may sleep; a fatal signal ends the wait.
 * Return: 0, -ENOTCONN if the channel is closed, -EMSGSIZE if the request is
 * larger than the session allows, -EOPNOTSUPP for an unknown procedure,
 * -ERESTARTSYS.
 */
int dafs_call_start(struct dafs_requester *rq, struct dafs_call *call)
{
	int err;

	call->begun = ktime_get();
	do {
		err = dafs_slot_get(rq, call);
		if (!err)
			err = dafs_call_launch(rq, call);
	} while (err == -EAGAIN);
	return err;
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
 * Context: may sleep, not for long.
 * Return: as dafs_call_start() without -ERESTARTSYS, and -EAGAIN if there are
 * not enough slots now.
 */
int dafs_call_start_chain(struct dafs_requester *rq, struct dafs_call *first)
{
	struct dafs_call *call;
	int err;

	for (call = first; call; call = call->behind)
		call->begun = ktime_get();
	err = dafs_slot_get_now(rq, first);
	return err ?: dafs_call_launch(rq, first);
}
EXPORT_SYMBOL_GPL(dafs_call_start_chain);

/*
 * Give the caller its memory back before the response comes.  The call ends soon:
 * with -EINTR, if it has not ended otherwise by then.  A peer that reaches for the
 * memory afterwards loses the connection.
 */
static void dafs_call_cancel(struct dafs_call *call)
{
	struct dafs_requester *rq = call->chan->requester;
	unsigned long flags;

	spin_lock_irqsave(&rq->lock, flags);
	if (rq->slots[call->slot].call == call && !call->invalidated)
		dafs_call_invalidate(call);
	spin_unlock_irqrestore(&rq->lock, flags);
}

/**
 * dafs_call_wait() - wait for the response of a started call
 * @call: without done()
 *
 * Context: may sleep; a fatal signal ends the wait.  The caller may drop its reference
 * then, the response is dealt with.
 * Return: 0 when a response is there (call->status may be an error),
 * -ENOTCONN if the channel closed first, -ETIMEDOUT if the response took longer
 * than it may, -ERESTARTSYS.
 */
int dafs_call_wait(struct dafs_call *call)
{
	bool killed = wait_for_completion_killable(&call->finished);

	if (killed && !call->mem)
		return -ERESTARTSYS;
	if (killed && !wait_for_completion_timeout(&call->finished, DAFS_CALL_PARTING))
		dafs_call_cancel(call);
	if (killed)
		wait_for_completion(&call->finished);
	return call->error == -EINTR ? -ERESTARTSYS : call->error;
}
EXPORT_SYMBOL_GPL(dafs_call_wait);

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
