// SPDX-License-Identifier: GPL-2.0
/*
 * The responder: receives requests, keeps the credit promise, sends replies
 * (sections 3.2.6 and 5.2).
 *
 * Nreq is the number of requests in the owner's hands plus the number of
 * receives posted.  A reply gives one credit back, and before it is sent the
 * receive for it is posted (3.2.6.3), or two and more to raise Nreq, or none
 * to lower it by one.
 *
 * The receive buffer of a request goes back to the hardware with the reply,
 * but the buffer of the response is busy until the send completed.  So there
 * may be some more request structures than receives.  At first there is one:
 * most sessions are idle most of the time, and such a structure has a buffer of
 * its own.  A request that finds none waits until another is made, or for a send
 * completion, whichever comes first; where there is no memory for another, that is tried
 * again after a pause.  Those that were not needed for a while are freed when a request
 * ends.
 *
 * The owner is given the requests in the order of their arrival, because a chain
 * is made of neighbours (4.3.2, E-60).  So all pass through @waiting, and each is
 * handed over under the lock.
 */
#include <linux/bitmap.h>
#include <linux/slab.h>
#include <linux/dafs/cksum.h>
#include <linux/dafs/responder.h>
#include <kunit/visibility.h>
#include "rdma_impl.h"
#include "trace.h"

/**
 * struct dafs_responder - the side of a channel that answers requests
 * @chan: the channel
 * @ops: of its owner
 * @lock: guards all below but @pause and @idle
 * @nreq: the promise
 * @target: what it shall become
 * @limit: streams the requester may believe in (E-41)
 * @unproven: requests to come until it must know of the last reduction, or 0
 * @growing: receives for a higher promise are being posted
 * @nr_rqsts: request structures there are
 * @most_rqsts: that there may be
 * @in_use: those that are not in @free
 * @peak: the most there were since @looked
 * @keep: request structures that are not freed
 * @looked: jiffies when @keep was set by what was in use
 * @busy: streams with a request in progress
 * @free: request structures
 * @waiting: messages that were not handed over yet, in the order of arrival
 * @more: makes one for each of them
 * @pause: how long @more waits when there is no memory, in jiffies; its own
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

/* Request structures that a responder keeps once it needed so many; there is one at first */
#define DAFS_FEW_RQSTS	((u16)2)

/* Request structures that one responder may have; fewer in tests, as for want of memory */
unsigned int dafs_responder_most = DAFS_MAX_NREQ + DAFS_SPARE_RQSTS;
EXPORT_SYMBOL_IF_KUNIT(dafs_responder_most);

/* How long a request structure is kept that is not needed, in jiffies */
#define DAFS_RQST_IDLE	(5L * HZ)

/* How soon to try again when there is no memory, at first and at last, in jiffies */
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
		kfree(rqst);	/* the message goes with the channel */
	kfree(rp);
}

/**
 * dafs_responder_create() - become the responder of a channel
 * @chan: a channel; not yet accepted on the passive side
 * @ops: of the owner
 * @nreq: requests that may come; 1 until the session is negotiated (E-37).
 *	That many receives are posted.
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
 * dafs_responder_stop() - hand over no more requests
 * @rp: of a quiesced channel
 *
 * A request that was handed over before may still be with its owner.
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
	/* the last user may still be about to let the lock go */
	spin_lock_irq(&rp->lock);
	spin_unlock_irq(&rp->lock);
	rp->chan->responder = NULL;
	dafs_responder_free(rp);
}
EXPORT_SYMBOL_GPL(dafs_responder_destroy);

/**
 * dafs_responder_open() - promise the negotiated number of requests
 * @rp: responder of a channel whose connect request is being answered
 * @nreq: OPNreq of the response; at most the channel's depth
 *
 * Posts the receives, so it comes before the reply (E-37).
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
	/* what an attempt that fails has posted is there, too; replies lower it to the target */
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
 * @target: what to aim for, 1 to the channel's depth
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
 * dafs_responder_nreq() - the current promise
 * @rp: responder
 *
 * Return: Nreq of section 3.2.6.
 */
u16 dafs_responder_nreq(struct dafs_responder *rp)
{
	return READ_ONCE(rp->nreq);
}
EXPORT_SYMBOL_GPL(dafs_responder_nreq);

/*
 * When a reduction was announced, fewer requests than the old promise were on
 * their way.  The one that makes up that number was sent on a credit which came
 * with the announcement or after it, so its sender knows (5.2.2.2).
 */
static void dafs_responder_count(struct dafs_responder *rp)
{
	lockdep_assert_held(&rp->lock);
	if (rp->unproven && !--rp->unproven)
		rp->limit = rp->nreq;
}

/* A stream beyond the promise, or one that is busy, is refused (E-41). */
static u32 dafs_rqst_take_stream(struct dafs_responder *rp, struct dafs_rqst *rqst)
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

/* Over the whole message, so it is done before the lock is taken. */
static bool dafs_msg_intact(const struct dafs_chan *chan, struct dafs_msg *msg)
{
	struct dafs_stream in = { msg->data, msg->len, chan->swab };
	struct dafs_req_hdr hdr;

	return !chan->cksum ||
	       (!dafs_get_req_hdr(&in, &hdr) && dafs_msg_cksum_ok(msg->data, hdr.len));
}

static u32 dafs_rqst_check(struct dafs_rqst *rqst)
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
	rqst->no_cksum = false;
	rqst->in = (struct dafs_stream) { msg->data, msg->len, chan->swab };
	rqst->out = (struct dafs_stream) {
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

/* There is no telling what this was, or what the peer will send next. */
static void dafs_responder_reject(struct dafs_responder *rp, struct dafs_rqst *rqst)
{
	struct dafs_msg *msg = rqst->recv;

	trace_dafs_bad_message(rp->chan, msg->data, msg->len);
	msg->owner = DAFS_MSG_FREE;
	rqst->recv = NULL;
	dafs_chan_fail(rp->chan, DAFS_CLOSE_PROTOCOL);
	dafs_rqst_put(rp, rqst);
}

/* Hands a message to a free request structure and that to the owner. */
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

/* Hands over what there are request structures for; nothing once the channel closed. */
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
 * @msg: the request; the responder's from now on
 *
 * Context: softirq, where completions come; for one channel one at a time.
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

/* Return: false if no message waits any more for a structure that may be made. */
static bool dafs_responder_short(struct dafs_responder *rp)
{
	bool wanting;

	spin_lock_irq(&rp->lock);
	wanting = !list_empty(&rp->waiting) && rp->nr_rqsts < rp->most_rqsts &&
		  dafs_chan_is_open(rp->chan);
	spin_unlock_irq(&rp->lock);
	return wanting;
}

/* None of the requests that there are need ever end.  The longer it lasts the less often. */
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

/* What was not in use between two looks, some seconds apart, goes. */
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
		/* that which has been free for longest */
		rqst = list_last_entry(&rp->free, struct dafs_rqst, link);
		list_del(&rqst->link);
		rp->nr_rqsts--;
		dafs_msg_free(rqst->send);
		kfree(rqst);
	}
}

/* The structure is free again: for the first message that waits, or idle. */
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
 * Raises the promise to what it shall be, receives first (3.2.6.4.2).  What
 * there is no memory for is not promised.
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
	/* one by one: what was posted when memory ends is there, and counts */
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

/* Return: true if this reply lowers the promise, so that its receive stays unposted. */
static bool dafs_responder_credit(struct dafs_responder *rp, struct dafs_rqst *rqst, u16 *target)
{
	lockdep_assert_held(&rp->lock);
	if (rqst->holds_stream)
		__clear_bit(rqst->hdr.stream_id, rp->busy);
	if (rp->target >= rp->nreq) {
		*target = rp->nreq;
		return false;
	}
	*target = rp->target;
	trace_dafs_credit(rp->chan, rp->nreq, rp->nreq - 1, rp->target);
	rp->unproven = rp->nreq;
	rp->nreq--;
	/* a client that does not need so many will not soon again */
	rp->keep = max(rp->in_use, DAFS_FEW_RQSTS);
	return true;
}

/* One receive less is needed. */
static void dafs_msg_drop(struct dafs_msg *msg)
{
	msg->owner = DAFS_MSG_FREE;
	dafs_msg_free(msg);
}

static void dafs_reply_seal(struct dafs_rqst *rqst, const struct dafs_res_hdr *hdr)
{
	dafs_put_res_hdr(&rqst->out, hdr);
	if (rqst->chan->cksum && !rqst->no_cksum)
		dafs_msg_cksum(rqst->out.base, hdr->len);
}

/*
 * The receive for the next request, then the response.  One lock around it
 * all: had a reply with an older, higher promise been posted after one that
 * lowered it, the requester would send what no receive waits for.
 *
 * Return: 0; or -ENOTCONN, and no completion will come.
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
	/* behind the post the channel may go as soon as the lock is free */
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
 * After it the request message is gone and @rqst is the responder's, which
 * calls ->sent() when the response has left or cannot.
 *
 * Context: may sleep.
 */
void dafs_reply(struct dafs_rqst *rqst, u32 status, u32 len, struct ib_send_wr *first)
{
	struct dafs_responder *rp = rqst->chan->responder;
	struct dafs_res_hdr hdr = {
		.target_nreq = dafs_responder_nreq(rp),
		.stream_id = rqst->hdr.stream_id,
		.seq_number = rqst->hdr.seq_number,
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
