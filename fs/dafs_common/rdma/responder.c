// SPDX-License-Identifier: GPL-2.0
/*
 * The responder: receives requests, keeps the credit promise, sends replies
 * (sections 3.2.6 and 5.2).
 *
 * Nreq is the number of requests that the owner is processing plus the number of posted
 * receives.  A reply returns one credit.  Before it is sent, the receive for this credit is
 * posted (3.2.6.3), or more than one to raise Nreq, or none to lower it by one.
 *
 * The receive buffer of a request is posted again with the reply, but the buffer of the
 * response is in use until the send has completed.  So there may be a few more request
 * structures than receives.  A responder begins with one structure, because each has a
 * buffer for a response, and most sessions are idle most of the time.  If no structure is
 * free, a request waits until another one is allocated, or for a send completion.  If there
 * is no memory, the allocation is retried after a pause.  Structures that were not needed
 * for some time are freed when a request ends.
 *
 * The requests are delivered to the owner in the order of arrival, because the requests of
 * a chain arrive one directly after the other (4.3.2, E-60).  So all requests pass through
 * @waiting, and each is delivered under the lock.
 */
#include <linux/bitmap.h>
#include <linux/slab.h>
#include <linux/dafs/cksum.h>
#include <linux/dafs/responder.h>
#include "rdma_impl.h"
#include "trace.h"

/**
 * struct dafs_responder - the side of a channel that answers requests
 * @chan: the channel
 * @ops: of its owner
 * @lock: protects the members below, except @pause and @idle
 * @nreq: the present Nreq, which has been promised to the requester
 * @target: the Nreq to reach
 * @limit: number of streams that the requester may still consider valid (E-41)
 * @unproven: requests to receive until the requester must know of the last reduction, and have
 *	what was answered on the streams above it; or 0
 * @growing: receives for a higher Nreq are being posted
 * @nr_rqsts: number of request structures
 * @most_rqsts: upper limit of @nr_rqsts
 * @in_use: number of request structures that are not in @free
 * @peak: maximum of @in_use since @looked
 * @keep: number of request structures that are not freed
 * @looked: time in jiffies when @keep was derived from @peak
 * @busy: streams with a request in progress
 * @free: free request structures
 * @waiting: messages that were not delivered yet, in the order of arrival
 * @more: work item that allocates request structures for @waiting
 * @pause: delay of @more when there is no memory, in jiffies; only used by @more
 * @idle: woken when @in_use is 0
 */
struct dafs_responder {
	struct dafs_chan *chan;
	const struct dafs_responder_ops *ops;
	spinlock_t lock;	/* see above */
	u16 nreq;
	u16 target;
	u16 limit;
	u16 unproven;
	bool growing;
	u16 nr_rqsts;
	u16 most_rqsts;
	u16 in_use;
	u16 peak;
	u16 keep;
	unsigned long looked;
	DECLARE_BITMAP(busy, DAFS_MAX_NREQ);
	struct list_head free;
	struct list_head waiting;
	struct delayed_work more;
	unsigned long pause;
	wait_queue_head_t idle;
};

/* Request structures that a responder does not free; only one is allocated at first */
#define DAFS_FEW_RQSTS	((u16)2)

/* Upper limit of request structures of one responder; lowered in tests of short memory */
unsigned int dafs_responder_most = DAFS_MAX_NREQ + DAFS_SPARE_RQSTS;

/* Time that an unused request structure is kept, in jiffies */
#define DAFS_RQST_IDLE	(5L * HZ)

/* First and longest pause before an allocation is retried, in jiffies */
#define DAFS_RQST_PAUSE		msecs_to_jiffies(10)
#define DAFS_RQST_PAUSE_MOST	HZ

static void dafs_reply_sent(struct ib_cq *cq, struct ib_wc *wc);
static void dafs_responder_more(struct work_struct *work);

static int dafs_responder_add_rqst(struct dafs_responder *rp)
{
	struct dafs_rqst *rqst;

	if (READ_ONCE(rp->nr_rqsts) >= READ_ONCE(dafs_responder_most))
		return -ENOMEM;
	rqst = kzalloc(rp->ops->rqst_size, GFP_KERNEL);
	if (!rqst)
		return -ENOMEM;
	rqst->send = dafs_msg_alloc(rp->chan, rp->chan->limits.send_size, DMA_TO_DEVICE);
	if (IS_ERR(rqst->send)) {
		int err = PTR_ERR(rqst->send);

		kfree(rqst);
		return err;
	}
	rqst->chan = rp->chan;
	rqst->sent.cqe.done = dafs_reply_sent;
	spin_lock_irq(&rp->lock);
	list_add(&rqst->link, &rp->free);
	rp->nr_rqsts++;
	spin_unlock_irq(&rp->lock);
	return 0;
}

static void dafs_responder_free(struct dafs_responder *rp)
{
	struct dafs_rqst *rqst, *next;

	list_for_each_entry_safe(rqst, next, &rp->free, link)
		kfree(rqst);	/* the message is freed with the channel */
	kfree(rp);
}

/**
 * dafs_responder_create() - make the responder of a channel
 * @chan: a channel; not yet accepted on the passive side
 * @ops: of the owner
 * @nreq: requests that may be outstanding; 1 until the session is negotiated (E-37).
 *	This number of receives is posted.
 *
 * Context: may sleep.
 * Return: the responder or an ERR_PTR of -ENOMEM, -EIO, -ENOTCONN.
 */
struct dafs_responder *dafs_responder_create(struct dafs_chan *chan,
					     const struct dafs_responder_ops *ops, u16 nreq)
{
	struct dafs_responder *rp = kzalloc(sizeof(*rp), GFP_KERNEL);
	int err;

	if (!rp)
		return ERR_PTR(-ENOMEM);
	rp->chan = chan;
	rp->ops = ops;
	rp->nreq = nreq;
	rp->target = nreq;
	rp->limit = nreq;
	spin_lock_init(&rp->lock);
	INIT_LIST_HEAD(&rp->free);
	INIT_LIST_HEAD(&rp->waiting);
	INIT_DELAYED_WORK(&rp->more, dafs_responder_more);
	rp->pause = DAFS_RQST_PAUSE;
	init_waitqueue_head(&rp->idle);
	rp->most_rqsts = nreq + 1;
	rp->keep = DAFS_FEW_RQSTS;
	rp->looked = jiffies;
	err = dafs_responder_add_rqst(rp);
	if (err)
		goto free;
	chan->responder = rp;
	err = dafs_chan_post_recvs(chan, nreq);
	if (err)
		goto detach;
	return rp;

detach:
	chan->responder = NULL;
free:
	dafs_responder_free(rp);
	return ERR_PTR(err);
}
EXPORT_SYMBOL_GPL(dafs_responder_create);

/**
 * dafs_responder_stop() - stop delivering requests
 * @rp: of a quiesced channel
 *
 * The owner may still be processing requests that were delivered before.
 *
 * Context: may sleep.
 */
void dafs_responder_stop(struct dafs_responder *rp)
{
	cancel_delayed_work_sync(&rp->more);
}
EXPORT_SYMBOL_GPL(dafs_responder_stop);

/**
 * dafs_responder_destroy() - free a responder
 * @rp: of a quiesced channel
 *
 * Waits until its owner has answered everything.
 *
 * Context: may sleep.
 */
void dafs_responder_destroy(struct dafs_responder *rp)
{
	dafs_responder_stop(rp);
	wait_event(rp->idle, !READ_ONCE(rp->in_use));
	/* the task that freed the last request may still hold the lock */
	spin_lock_irq(&rp->lock);
	spin_unlock_irq(&rp->lock);
	rp->chan->responder = NULL;
	dafs_responder_free(rp);
}
EXPORT_SYMBOL_GPL(dafs_responder_destroy);

/**
 * dafs_responder_open() - set Nreq to the negotiated number of requests
 * @rp: responder of a channel whose connect request is being answered
 * @nreq: OPNreq of the response; at most the channel's depth
 *
 * Posts the receives, so it is called before the reply (E-37).
 *
 * Context: may sleep.
 * Return: 0, -ENOMEM, -EIO or -ENOTCONN.
 */
int dafs_responder_open(struct dafs_responder *rp, u16 nreq)
{
	u16 have = rp->nreq;
	int err = 0;

	while (have < nreq && !err) {
		err = dafs_chan_post_recvs(rp->chan, 1);
		have += !err;
	}
	spin_lock_irq(&rp->lock);
	/* receives of a failed attempt stay posted; replies lower Nreq to the target */
	rp->nreq = have;
	if (!err) {
		rp->target = nreq;
		rp->limit = max(rp->limit, nreq);
		rp->most_rqsts = nreq + DAFS_SPARE_RQSTS;
	}
	spin_unlock_irq(&rp->lock);
	return err;
}
EXPORT_SYMBOL_GPL(dafs_responder_open);

/**
 * dafs_responder_set_target() - let Nreq grow or shrink
 * @rp: responder
 * @target: the Nreq to reach, 1 to the channel's depth
 *
 * Context: any.
 */
void dafs_responder_set_target(struct dafs_responder *rp, u16 target)
{
	unsigned long flags;

	spin_lock_irqsave(&rp->lock, flags);
	rp->target = clamp_t(u16, target, 1, rp->chan->limits.depth);
	spin_unlock_irqrestore(&rp->lock, flags);
}
EXPORT_SYMBOL_GPL(dafs_responder_set_target);

/**
 * dafs_responder_nreq() - the current Nreq
 * @rp: responder
 *
 * Return: Nreq of section 3.2.6.
 */
u16 dafs_responder_nreq(struct dafs_responder *rp)
{
	return READ_ONCE(rp->nreq);
}
EXPORT_SYMBOL_GPL(dafs_responder_nreq);

/**
 * dafs_responder_limit() - how many streams may the requester still use?
 * @rp: responder
 *
 * Context: holds the lock of @rp, as in ->request().
 * Return: their number; it has received all responses on higher ones (5.2.2).
 */
u16 dafs_responder_limit(const struct dafs_responder *rp)
{
	lockdep_assert_held(&rp->lock);
	return rp->limit;
}
EXPORT_SYMBOL_GPL(dafs_responder_limit);

/* Is a request in progress on a stream that is taken back? */
static bool dafs_responder_tail_busy(const struct dafs_responder *rp)
{
	u16 limit = min_t(u16, rp->limit, DAFS_MAX_NREQ);

	return find_next_bit(rp->busy, limit, rp->nreq) < limit;
}

/*
 * When a reduction was announced, fewer requests than the old Nreq were in transit.  When
 * as many requests as the old Nreq have arrived since then, the last of them used a credit
 * that was sent with the announcement or after it, so the requester knows the reduction
 * (5.2.2.2).  The same holds for the last response on a stream that was taken back.
 */
static void dafs_responder_count(struct dafs_responder *rp)
{
	lockdep_assert_held(&rp->lock);
	if (!rp->unproven || --rp->unproven)
		return;
	/* its response is not sent yet: look again at the next request */
	if (dafs_responder_tail_busy(rp))
		rp->unproven = 1;
	else
		rp->limit = rp->nreq;
}

/* A stream with a number above the limit, or a busy stream, is refused (E-41). */
static dafs_status_t dafs_rqst_take_stream(struct dafs_responder *rp, struct dafs_rqst *rqst)
{
	u16 stream = rqst->hdr.stream_id;

	lockdep_assert_held(&rp->lock);
	rqst->holds_stream = false;
	if (stream >= min_t(u16, rp->limit, DAFS_MAX_NREQ) || test_bit(stream, rp->busy))
		return DAFSERR_INVAL;
	__set_bit(stream, rp->busy);
	rqst->holds_stream = true;
	return DAFS_STATUS_OK;
}

/* Reads the whole message, so it is called before the lock is taken. */
static bool dafs_msg_intact(const struct dafs_chan *chan, struct dafs_msg *msg)
{
	struct dafs_buf in = { msg->data, msg->len, chan->swab };
	struct dafs_req_hdr hdr;

	return !chan->cksum ||
	       (!dafs_get_req_hdr(&in, &hdr) && dafs_msg_cksum_ok(msg->data, hdr.len));
}

static dafs_status_t dafs_rqst_check(struct dafs_rqst *rqst)
{
	if (!rqst->recv->intact)
		return DAFSERR_CHKSUM;
	if (rqst->hdr.version != DAFS_PROTOCOL_VERSION)
		return DAFSERR_ILLEGAL_PROT;
	return DAFS_STATUS_OK;
}

static void dafs_rqst_prepare(struct dafs_rqst *rqst, struct dafs_msg *msg)
{
	struct dafs_chan *chan = rqst->chan;

	rqst->recv = msg;
	rqst->cksum = chan->cksum;
	rqst->in = (struct dafs_buf) { msg->data, msg->len, chan->swab };
	rqst->out = (struct dafs_buf) {
		rqst->send->data, rqst->send->size, chan->swab
	};
	rqst->sge = (struct ib_sge) {
		.addr = rqst->send->addr,
		.lkey = chan->pd->local_dma_lkey,
	};
	rqst->wr = (struct ib_send_wr) {
		.wr_cqe = &rqst->sent.cqe,
		.sg_list = &rqst->sge,
		.num_sge = 1,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
	};
}

static struct dafs_rqst *dafs_rqst_get(struct dafs_responder *rp)
{
	struct dafs_rqst *rqst;

	lockdep_assert_held(&rp->lock);
	rqst = list_first_entry_or_null(&rp->free, struct dafs_rqst, link);
	if (rqst) {
		list_del_init(&rqst->link);
		rp->in_use++;
		rp->peak = max(rp->peak, rp->in_use);
		rp->keep = max(rp->keep, rp->in_use);
	}
	return rqst;
}

static void dafs_rqst_put(struct dafs_responder *rp, struct dafs_rqst *rqst)
{
	lockdep_assert_held(&rp->lock);
	list_add(&rqst->link, &rp->free);
	if (!--rp->in_use)
		wake_up(&rp->idle);
}

/* The message is not a request, and later messages cannot be trusted: end the channel. */
static void dafs_responder_reject(struct dafs_responder *rp, struct dafs_rqst *rqst)
{
	struct dafs_msg *msg = rqst->recv;

	trace_dafs_bad_message(rp->chan, msg->data, msg->len);
	msg->owner = DAFS_MSG_FREE;
	rqst->recv = NULL;
	dafs_chan_fail(rp->chan, DAFS_CLOSE_PROTOCOL);
	dafs_rqst_put(rp, rqst);
}

/* Put a message into a free request structure and deliver it to the owner. */
static void dafs_responder_begin(struct dafs_responder *rp, struct dafs_rqst *rqst,
				 struct dafs_msg *msg)
{
	lockdep_assert_held(&rp->lock);
	dafs_rqst_prepare(rqst, msg);
	if (dafs_get_req_hdr(&rqst->in, &rqst->hdr)) {
		dafs_responder_reject(rp, rqst);
		return;
	}
	rqst->in.len = rqst->hdr.len;
	rqst->refuse = dafs_rqst_check(rqst);
	dafs_responder_count(rp);
	if (!rqst->refuse)
		rqst->refuse = dafs_rqst_take_stream(rp, rqst);
	trace_dafs_rqst(rqst);
	rp->ops->request(rqst);
}

/* Deliver messages while there are free request structures and the channel is open. */
static void dafs_responder_feed(struct dafs_responder *rp)
{
	struct dafs_msg *msg;

	lockdep_assert_held(&rp->lock);
	while (dafs_chan_is_open(rp->chan) && !list_empty(&rp->waiting) &&
	       !list_empty(&rp->free)) {
		msg = list_first_entry(&rp->waiting, struct dafs_msg, link);
		list_del(&msg->link);
		dafs_responder_begin(rp, dafs_rqst_get(rp), msg);
	}
}

/**
 * dafs_responder_request() - a request arrived
 * @rp: responder of the channel
 * @msg: the request; owned by the responder from now on
 *
 * Context: softirq, in a completion handler; the calls for a channel are serialized.
 */
void dafs_responder_request(struct dafs_responder *rp, struct dafs_msg *msg)
{
	unsigned long flags;
	bool more;

	msg->intact = dafs_msg_intact(rp->chan, msg);
	spin_lock_irqsave(&rp->lock, flags);
	list_add_tail(&msg->link, &rp->waiting);
	dafs_responder_feed(rp);
	more = !list_empty(&rp->waiting) && rp->nr_rqsts < rp->most_rqsts;
	spin_unlock_irqrestore(&rp->lock, flags);
	if (more)
		queue_delayed_work(system_unbound_wq, &rp->more, 0);
}

/* Return: true if a message waits and another request structure may be allocated. */
static bool dafs_responder_short(struct dafs_responder *rp)
{
	bool wanting;

	spin_lock_irq(&rp->lock);
	wanting = !list_empty(&rp->waiting) && rp->nr_rqsts < rp->most_rqsts &&
		  dafs_chan_is_open(rp->chan);
	spin_unlock_irq(&rp->lock);
	return wanting;
}

/* Retry later, with growing pauses: the requests in progress may never end. */
static void dafs_responder_more_later(struct dafs_responder *rp)
{
	queue_delayed_work(system_unbound_wq, &rp->more, rp->pause);
	rp->pause = min_t(unsigned long, 2 * rp->pause, DAFS_RQST_PAUSE_MOST);
}

static void dafs_responder_more(struct work_struct *work)
{
	struct dafs_responder *rp = container_of(work, struct dafs_responder, more.work);

	while (dafs_responder_short(rp)) {
		if (dafs_responder_add_rqst(rp)) {
			dafs_responder_more_later(rp);
			return;
		}
		spin_lock_irq(&rp->lock);
		dafs_responder_feed(rp);
		spin_unlock_irq(&rp->lock);
	}
	rp->pause = DAFS_RQST_PAUSE;
}

/* Free request structures that were not in use during the last period of some seconds. */
static void dafs_responder_trim(struct dafs_responder *rp)
{
	struct dafs_rqst *rqst;

	lockdep_assert_held(&rp->lock);
	if (time_after(jiffies, rp->looked + DAFS_RQST_IDLE)) {
		rp->keep = max(rp->peak, DAFS_FEW_RQSTS);
		rp->peak = rp->in_use;
		rp->looked = jiffies;
	}
	while (rp->nr_rqsts > rp->keep && !list_empty(&rp->free)) {
		/* the structure that has been free for the longest time */
		rqst = list_last_entry(&rp->free, struct dafs_rqst, link);
		list_del(&rqst->link);
		rp->nr_rqsts--;
		dafs_msg_free(rqst->send);
		kfree(rqst);
	}
}

/* The structure is free again: use it for the first waiting message, if any. */
static void dafs_rqst_end(struct dafs_responder *rp, struct dafs_rqst *rqst)
{
	unsigned long flags;

	spin_lock_irqsave(&rp->lock, flags);
	list_add(&rqst->link, &rp->free);
	dafs_responder_feed(rp);
	rp->in_use--;
	dafs_responder_trim(rp);
	if (!rp->in_use)
		wake_up(&rp->idle);
	spin_unlock_irqrestore(&rp->lock, flags);
}

static void dafs_reply_done(struct dafs_rqst *rqst)
{
	struct dafs_responder *rp = rqst->chan->responder;

	rp->ops->sent(rqst);
	dafs_rqst_end(rp, rqst);
}

static void dafs_reply_sent(struct ib_cq *cq, struct ib_wc *wc)
{
	struct dafs_rqst *rqst = container_of(wc->wr_cqe, struct dafs_rqst, sent.cqe);

	if (wc->status != IB_WC_SUCCESS)
		dafs_chan_send_failed(rqst->chan, "reply", wc);
	dafs_reply_done(rqst);
}

/*
 * Raise Nreq to the target.  The receives are posted first (3.2.6.4.2); if there is no
 * memory for all of them, Nreq is raised less.
 */
static void dafs_responder_grow(struct dafs_responder *rp)
{
	u16 want = 0, more = 0, got = 0;
	unsigned long flags;

	if (READ_ONCE(rp->target) <= READ_ONCE(rp->nreq))
		return;
	spin_lock_irqsave(&rp->lock, flags);
	if (!rp->growing && rp->target > rp->nreq) {
		want = rp->target;
		more = want - rp->nreq;
		rp->growing = true;
	}
	spin_unlock_irqrestore(&rp->lock, flags);
	if (!more)
		return;
	/* one by one: receives that were posted before memory ran out count */
	while (got < more && !dafs_chan_post_recvs(rp->chan, 1))
		got++;
	spin_lock_irqsave(&rp->lock, flags);
	rp->most_rqsts = max_t(u16, rp->most_rqsts, rp->nreq + got + DAFS_SPARE_RQSTS);
	trace_dafs_credit(rp->chan, rp->nreq, rp->nreq + got, rp->target);
	rp->nreq += got;
	rp->limit = max(rp->limit, rp->nreq);
	rp->growing = false;
	spin_unlock_irqrestore(&rp->lock, flags);
}

/* Return: true if this reply lowers Nreq, so that its receive is not posted again. */
static bool dafs_responder_credit(struct dafs_responder *rp, struct dafs_rqst *rqst, u16 *target)
{
	lockdep_assert_held(&rp->lock);
	if (rqst->holds_stream)
		__clear_bit(rqst->hdr.stream_id, rp->busy);
	/* on a stream that was taken back: as many requests as Nreq prove that it has arrived */
	if (rqst->hdr.stream_id >= rp->nreq)
		rp->unproven = rp->nreq;
	if (rp->target >= rp->nreq) {
		*target = rp->nreq;
		return false;
	}
	*target = rp->target;
	trace_dafs_credit(rp->chan, rp->nreq, rp->nreq - 1, rp->target);
	rp->unproven = rp->nreq;
	rp->nreq--;
	/* a client that has reduced its demand will probably not need them soon */
	rp->keep = max(rp->in_use, DAFS_FEW_RQSTS);
	return true;
}

/* Free a receive buffer that is not needed any more. */
static void dafs_msg_drop(struct dafs_msg *msg)
{
	msg->owner = DAFS_MSG_FREE;
	dafs_msg_free(msg);
}

static void dafs_reply_seal(struct dafs_rqst *rqst, const struct dafs_res_hdr *hdr)
{
	dafs_put_res_hdr(&rqst->out, hdr);
	if (rqst->cksum)
		dafs_msg_cksum(rqst->out.base, hdr->len);
}

/*
 * Post the receive for the next request, then the response, under one lock: if a reply with
 * an older, higher target were posted after a reply that lowers it, the requester would
 * send requests for which no receive is posted.
 *
 * Return: 0; or -ENOTCONN, then there is no completion.
 */
static int dafs_reply_post(struct dafs_rqst *rqst, struct dafs_res_hdr *hdr,
			   struct ib_send_wr *first)
{
	struct dafs_chan *chan = rqst->chan;
	struct dafs_responder *rp = chan->responder;
	struct dafs_msg *msg = rqst->recv;
	unsigned long flags;
	u16 target;
	bool drop;
	int err;

	rqst->recv = NULL;
	spin_lock_irqsave(&rp->lock, flags);
	drop = dafs_responder_credit(rp, rqst, &target);
	if (target != hdr->target_nreq) {
		hdr->target_nreq = target;
		dafs_reply_seal(rqst, hdr);
	}
	/* before the post: after it the channel may be freed once the lock is released */
	if (drop)
		dafs_msg_drop(msg);
	else
		dafs_msg_post(msg);
	ib_dma_sync_single_for_device(chan->id->device, rqst->send->addr, hdr->len,
				      DMA_TO_DEVICE);
	err = dafs_chan_post(chan, first, &rqst->sent);
	spin_unlock_irqrestore(&rp->lock, flags);
	return err;
}

/**
 * dafs_reply() - answer a request
 * @rqst: the request; the response is encoded in rqst->out
 * @status: DAFS status
 * @len: bytes of the response, header included
 * @first: work requests chained in front of rqst->wr, or NULL
 *
 * The request message must not be used after this.  The responder owns @rqst, and calls
 * ->sent() when the response has been sent or sending it has failed.
 *
 * Context: may sleep.
 */
void dafs_reply(struct dafs_rqst *rqst, dafs_status_t status, u32 len, struct ib_send_wr *first)
{
	struct dafs_responder *rp = rqst->chan->responder;
	struct dafs_res_hdr hdr = {
		.target_nreq = dafs_responder_nreq(rp),
		.stream_id = rqst->hdr.stream_id,
		.seq_number = rqst->hdr.seq_number,
		.spec_cond = rqst->spec_cond,
		.version = min_t(u32, rqst->hdr.version, DAFS_PROTOCOL_VERSION),
		.status = status,
		.len = len,
	};

	memcpy(hdr.analyzer, rqst->hdr.analyzer, sizeof(hdr.analyzer));
	dafs_responder_grow(rp);
	dafs_reply_seal(rqst, &hdr);
	rqst->sge.length = len;
	trace_dafs_rqst_reply(rqst, status, len);
	if (dafs_reply_post(rqst, &hdr, first ?: &rqst->wr))
		dafs_reply_done(rqst);
}
EXPORT_SYMBOL_GPL(dafs_reply);
