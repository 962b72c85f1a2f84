// SPDX-License-Identifier: GPL-2.0
/*
 * Calls: a request in a slot, and its response (3.2.6, 5.2).
 *
 *	start	take a slot, encode, post
 *	reply	the response has arrived; memory is invalidated first (see mem.c)
 *	over	the caller is notified, once
 *	free	the last reference is dropped: the response buffer is posted again, and the
 *		slot is free
 *
 * If the caller of a call with memory gives up, dafs_call_cancel() invalidates the memory.
 * The call is over when the peer cannot access the memory any more, while its slot waits
 * for the response.
 */
#include <linux/slab.h>
#include <linux/dafs/cksum.h>
#include <linux/dafs/mem.h>
#include <linux/dafs/stats.h>
#include <linux/dafs/fault.h>
#include "requester.h"
#include "trace.h"

/*
 * Time that a killed task waits for the response before its memory is invalidated.  If the
 * peer accesses the memory after that, the connection is lost for all users.
 */
#define DAFS_CALL_PARTING	(3 * HZ)

static struct kmem_cache *dafs_call_cache;

/**
 * dafs_call_alloc() - allocate a call, to be filled in
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

/* Post the buffer of the response again, or free it if there are too many buffers. */
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
 * Dropping the last reference gives the response buffer back to the channel (rule 4 of
 * <linux/dafs/chan.h>) and frees the slot, so the channel must still exist.
 *
 * Context: any.
 */
void dafs_call_put(struct dafs_call *call)
{
	kref_put(&call->ref, dafs_call_free);
}
EXPORT_SYMBOL_GPL(dafs_call_put);

/* Notify the caller; the peer cannot access the memory any more, see mem.c. */
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
 * dafs_call_complete() - complete a call and drop the reference of the requester
 * @call: the call, already removed from its slot
 * @error: error for the caller, unless it has been notified before
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
 * A call that was cancelled keeps its slot until its response arrives.  The completions of
 * a channel are serialized, so the response cannot be handled at the same time.
 */
static void dafs_inv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct dafs_mem *mem = container_of(wc->wr_cqe, struct dafs_mem, cqe);
	struct dafs_requester *rq = mem->chan->requester;
	struct dafs_call *call = mem->call;
	unsigned long flags;

	/* after an error dafs_requester_abort() completes the call, when the QP is drained */
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

/* If the channel is not open any more, dafs_requester_abort() completes the call. */
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

/* The call that waits for this response, or NULL. */
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

/* Return: true if the call can be removed from its slot now. */
static bool dafs_call_replied(struct dafs_call *call)
{
	if (call->over || !call->mem)
		return true;
	if (!call->invalidated)
		dafs_call_invalidate(call);
	return false;
}

/* Give @msg to its call; then invalidate the memory, or complete the call. */
static void dafs_requester_deliver(struct dafs_requester *rq, struct dafs_msg *msg,
				   const struct dafs_buf *buf, const struct dafs_res_hdr *hdr)
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
	if (!call->status)
		rq->heard = max(rq->heard, call->mark);
	call->buf = *buf;
	call->reply = msg;
	last = dafs_call_replied(call);
	if (last)
		rq->slots[call->slot].call = NULL;
	spin_unlock_irqrestore(&rq->lock, flags);
	/* before, so that it has happened for who waits for the call */
	if (unlikely(hdr->spec_cond) && rq->special)
		rq->special(rq->chan, hdr->spec_cond);
	/* otherwise the completion of the invalidation may have completed the call */
	if (last)
		dafs_call_complete(call, 0);
}

/**
 * dafs_requester_response() - a response arrived
 * @rq: requester of the channel
 * @msg: the response; owned by the requester from now on
 *
 * A malformed or damaged response ends the channel: by E-33 the session is lost then.
 *
 * Context: softirq, in a completion handler.
 */
void dafs_requester_response(struct dafs_requester *rq, struct dafs_msg *msg)
{
	struct dafs_buf buf = {
		.base = msg->data,
		.len = msg->len,
		.swab = rq->chan->swab,
	};
	struct dafs_res_hdr hdr;

	if (dafs_get_res_hdr(&buf, &hdr)) {
		msg->owner = DAFS_MSG_FREE;
		trace_dafs_bad_message(rq->chan, msg->data, msg->len);
		dafs_chan_fail(rq->chan, DAFS_CLOSE_PROTOCOL);
		return;
	}
	buf.len = hdr.len;
	if (rq->chan->cksum && !dafs_msg_cksum_ok(msg->data, hdr.len)) {
		msg->owner = DAFS_MSG_FREE;
		trace_dafs_bad_message(rq->chan, msg->data, msg->len);
		dafs_chan_fail(rq->chan, DAFS_CLOSE_CHECKSUM);
		return;
	}
	dafs_requester_deliver(rq, msg, &buf, &hdr);
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
	 * Error completions also come for unsignaled sends.  Apart from a post that failed,
	 * only completions clear the bit, and they are serialized; after an error the
	 * device does not read the send buffer.
	 */
	if (READ_ONCE(slot->busy) & DAFS_SLOT_SENDING)
		dafs_slot_release(slot, DAFS_SLOT_SENDING);
	else
		WARN_ON_ONCE(wc->status == IB_WC_SUCCESS);
}

static int dafs_call_encode(struct dafs_requester *rq, struct dafs_call *call)
{
	struct dafs_slot *slot = &rq->slots[call->slot];
	struct dafs_buf out = {
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
	if (dafs_fault(DAFS_FAULT_SEND, call->proc))
		dafs_chan_fail(rq->chan, DAFS_CLOSE_PEER);
	call->hdr.seq_number = slot->seq++;
	slot->send->len = len;
	call->sent_len = len;
	return 0;
}

/*
 * The registrations of call->mem are posted in front of the request.  Only the last request
 * of a post is signaled, so that there is no completion if the post fails.
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
 * All requests of a chain are posted at once, so that no other request comes between them
 * (4.3.3).  If the post fails, some of them may have been sent; dafs_requester_abort()
 * fails them like the other outstanding calls.
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
	/* the last request, the only one that is signaled, gets no completion */
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
 * A stream that has expired after it was taken must not carry a request: other requests may
 * have shown the responder that this side knows of the reduction (5.2.2).  Nor may more
 * requests be posted than are allowed to be outstanding now, on any stream.
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

/* Post under the lock, so that dafs_requester_abort() sees all calls of the chain or none. */
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
		dafs_chain_put(call);	/* the caller still has its references */
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

/* Encode and post the calls, which have their slots. */
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
 * Waits for a slot.  After success call->done() is called or dafs_call_wait() returns,
 * once, whatever happens to the channel; the requester holds its own reference until then.
 * After a failure neither happens, and the memory in call->mem stays mapped: nothing was
 * sent to the peer.
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
 * As dafs_call_start(), for all of the requests or none.  It does not wait for slots: if
 * flow control does not allow all of them now, the caller should send them one by one
 * instead of blocking other requests (4.3.3).
 *
 * Context: may sleep, but not for long.
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
 * Invalidate the memory of a call before its response arrives.  The call completes soon,
 * with -EINTR unless it completes otherwise before.  If the peer accesses the memory after
 * that, the connection fails.
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
 * then; the requester handles a late response.
 * Return: 0 if the response has arrived (call->status may be an error), -ENOTCONN if the
 * channel was closed before, -ETIMEDOUT if the response took longer than the limit,
 * -ERESTARTSYS.
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
 * dafs_call_wait_interruptible() - the same, until any signal comes
 * @call: without done() and without memory
 *
 * Context: may sleep.
 * Return: as dafs_call_wait().
 */
int dafs_call_wait_interruptible(struct dafs_call *call)
{
	if (wait_for_completion_interruptible(&call->finished))
		return -ERESTARTSYS;
	return call->error == -EINTR ? -ERESTARTSYS : call->error;
}
EXPORT_SYMBOL_GPL(dafs_call_wait_interruptible);

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
