// SPDX-License-Identifier: GPL-2.0
/*
 * The queue pair of a channel: its states, and posting to its send queue.
 */
#include <rdma/ib_cm.h>
#include <rdma/rw.h>
#include "rdma_impl.h"
#include "trace.h"

/*
 * Time after which a peer retries a send for which no receive is posted here: 0.33 s.  The
 * peer chooses the time for our sends; with the longest one, our retries take 4 seconds.
 */
#define DAFS_RNR_TIMER		IB_RNR_TIMER_327_68

/*
 * Upper limit of the ACK timeout after which the device retries, 4.3 s, which is more than
 * the largest fabrics need.  The peer proposes the timeout; 0 means no timeout.
 */
#define DAFS_ACK_TIMEOUT	20

/* Pages of a memory region of rdma_rw, as rdma_rw expects */
#define DAFS_RW_MR_PAGES	256U

static u8 dafs_qp_timeout(u8 asked)
{
	return asked && asked < DAFS_ACK_TIMEOUT ? asked : DAFS_ACK_TIMEOUT;
}

/*
 * Change the state as rdma_cm does, but without using the retry counts and timeouts of the
 * peer.  With 0 RNR retries the connection would break when soft-RoCE is short of memory;
 * with 7 (unlimited), or with a long timeout, the peer could keep a reply and its pages
 * here for any time.
 */
static int dafs_qp_advance(struct dafs_chan *chan, enum ib_qp_state state)
{
	struct ib_qp_attr attr = { .qp_state = state };
	int mask, err;

	err = rdma_init_qp_attr(chan->id, &attr, &mask);
	if (err)
		return err;
	attr.rnr_retry = DAFS_QP_RNR_RETRIES;
	attr.min_rnr_timer = DAFS_RNR_TIMER;
	attr.retry_cnt = DAFS_QP_RETRIES;
	attr.timeout = dafs_qp_timeout(attr.timeout);
	attr.alt_timeout = dafs_qp_timeout(attr.alt_timeout);
	attr.max_dest_rd_atomic = chan->limits.responder_resources;
	attr.max_rd_atomic = chan->limits.initiator_depth;
	return ib_modify_qp(chan->qp, &attr, mask);
}

/**
 * dafs_qp_connect() - bring the queue pair to the RTS state
 * @chan: the channel; @chan->limits have been adapted to the parameters of the peer
 *
 * Context: rdma_cm event handler; may sleep.
 * Return: 0 or a negative errno; -ENOTCONN if the queue pair has been destroyed.
 */
int dafs_qp_connect(struct dafs_chan *chan)
{
	int err;

	if (!chan->qp)
		return -ENOTCONN;
	if (chan->id->qp)	/* iWARP: by rdma_cm, and there is no RNR */
		return 0;
	err = dafs_qp_advance(chan, IB_QPS_INIT);
	if (!err)
		err = dafs_qp_advance(chan, IB_QPS_RTR);
	return err ?: dafs_qp_advance(chan, IB_QPS_RTS);
}

/**
 * dafs_qp_stop() - bring the queue pair to the error state, which flushes its queues
 * @chan: the channel
 *
 * Context: may sleep.
 */
void dafs_qp_stop(struct dafs_chan *chan)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	ib_modify_qp(chan->qp, &attr, IB_QP_STATE);
}

/**
 * dafs_qp_destroy() - undo dafs_qp_create()
 * @chan: the channel, drained if it ever was connected
 *
 * Context: may sleep.  In an rdma_cm event handler only if rdma_cm owns @chan->id.
 */
void dafs_qp_destroy(struct dafs_chan *chan)
{
	struct ib_qp *qp = chan->qp;

	/* a late connect response may still call dafs_qp_connect() */
	if (chan->own_id)
		rdma_lock_handler(chan->id);
	chan->qp = NULL;
	if (chan->own_id)
		rdma_unlock_handler(chan->id);
	if (chan->id->qp)
		rdma_destroy_qp(chan->id);
	else
		ib_destroy_qp(qp);
}

static int dafs_qp_create_iwarp(struct dafs_chan *chan, struct ib_qp_init_attr *attr)
{
	int err = rdma_create_qp(chan->id, chan->pd, attr);

	if (!err)
		chan->qp = chan->id->qp;
	return err;
}

/**
 * dafs_qp_create() - make a queue pair to which receives can be posted
 * @chan: the channel
 * @attr: attributes of the queue pair
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dafs_qp_create(struct dafs_chan *chan, struct ib_qp_init_attr *attr)
{
	struct ib_qp *qp;
	int err;

	if (!rdma_cap_ib_cm(chan->id->device, chan->id->port_num))
		return dafs_qp_create_iwarp(chan, attr);
	qp = ib_create_qp(chan->pd, attr);
	if (IS_ERR(qp))
		return PTR_ERR(qp);
	chan->qp = qp;
	err = dafs_qp_advance(chan, IB_QPS_INIT);
	if (err)
		dafs_qp_destroy(chan);
	return err;
}

/**
 * dafs_chan_add_mr() - allocate another memory region for rdma_rw
 * @chan: the channel
 *
 * A channel begins without regions.  Many devices need none, and most connections need
 * fewer than the send queue has room for.
 *
 * Context: may sleep.
 * Return: 0; -ENOSPC if the limit is reached; the error of ib_alloc_mr().
 */
int dafs_chan_add_mr(struct dafs_chan *chan)
{
	const struct ib_device_attr *attr = &chan->id->device->attrs;
	struct ib_qp *qp = chan->qp;
	struct ib_mr *mr;
	bool room;

	spin_lock_irq(&chan->lock);
	room = chan->nr_rw_mrs < chan->limits.rw_mrs;
	if (room)
		chan->nr_rw_mrs++;
	spin_unlock_irq(&chan->lock);
	if (!room)
		return -ENOSPC;
	mr = ib_alloc_mr(chan->pd, IB_MR_TYPE_MEM_REG,
			 min(attr->max_fast_reg_page_list_len, DAFS_RW_MR_PAGES));
	if (IS_ERR(mr)) {
		spin_lock_irq(&chan->lock);
		chan->nr_rw_mrs--;
		spin_unlock_irq(&chan->lock);
		return PTR_ERR(mr);
	}
	/* freed with the queue pair */
	spin_lock_irq(&qp->mr_lock);
	list_add_tail(&mr->qp_entry, &qp->rdma_mrs);
	spin_unlock_irq(&qp->mr_lock);
	return 0;
}
EXPORT_SYMBOL_GPL(dafs_chan_add_mr);

/**
 * dafs_chan_trim_mrs() - free the memory regions of rdma_rw that are not in use
 * @chan: the channel
 *
 * Context: may sleep.
 */
void dafs_chan_trim_mrs(struct dafs_chan *chan)
{
	struct ib_mr *mr, *next;
	LIST_HEAD(idle);

	spin_lock_irq(&chan->qp->mr_lock);
	list_splice_init(&chan->qp->rdma_mrs, &idle);
	spin_unlock_irq(&chan->qp->mr_lock);
	list_for_each_entry_safe(mr, next, &idle, qp_entry) {
		ib_dereg_mr(mr);
		spin_lock_irq(&chan->lock);
		chan->nr_rw_mrs--;
		spin_unlock_irq(&chan->lock);
	}
}
EXPORT_SYMBOL_GPL(dafs_chan_trim_mrs);

/**
 * dafs_chan_post() - post work requests whose memory is released afterwards
 * @chan: the channel
 * @first: the first of them; the last one is signaled, with @last->cqe
 * @last: see above
 *
 * The device may refuse some of them after it has accepted others, which then still access
 * their memory.  In this case the channel fails, and dafs_chan_quiesce() calls the
 * completion handler of @last->cqe when all of them have ended.
 *
 * Context: any.
 * Return: 0, and there will be a completion; or -ENOTCONN if the channel is not open: then
 * nothing was posted, and there is no completion.
 */
int dafs_chan_post(struct dafs_chan *chan, const struct ib_send_wr *first,
		   struct dafs_sent *last)
{
	unsigned long flags;
	int err = 0;

	/* under the lock: posted before the queue is drained, or not at all */
	spin_lock_irqsave(&chan->lock, flags);
	if (chan->state != DAFS_CHAN_OPEN) {
		spin_unlock_irqrestore(&chan->lock, flags);
		return -ENOTCONN;
	}
	err = ib_post_send(chan->qp, first, NULL);
	if (err)
		list_add_tail(&last->link, &chan->refused);
	spin_unlock_irqrestore(&chan->lock, flags);
	if (err)
		dafs_chan_fail(chan, DAFS_CLOSE_QP);
	return 0;
}
EXPORT_SYMBOL_GPL(dafs_chan_post);

/**
 * dafs_chan_end_refused() - do the completions for posts that the device has refused
 * @chan: the channel; its queue pair is drained
 *
 * Context: may sleep.
 */
void dafs_chan_end_refused(struct dafs_chan *chan)
{
	struct ib_wc wc = { .status = IB_WC_WR_FLUSH_ERR };
	struct dafs_sent *sent, *next;
	LIST_HEAD(refused);

	spin_lock_irq(&chan->lock);
	list_splice_init(&chan->refused, &refused);
	spin_unlock_irq(&chan->lock);
	list_for_each_entry_safe(sent, next, &refused, link) {
		wc.wr_cqe = &sent->cqe;
		sent->cqe.done(chan->cq, &wc);
	}
}

/**
 * dafs_chan_send_failed() - a send, or an RDMA operation, has failed
 * @chan: the channel; it fails
 * @what: kind of the operation, for the trace
 * @wc: its completion
 *
 * Context: any.
 */
void dafs_chan_send_failed(struct dafs_chan *chan, const char *what, const struct ib_wc *wc)
{
	unsigned long flags;

	if (wc->status != IB_WC_WR_FLUSH_ERR) {
		trace_dafs_wc_error(chan, what, wc);
		spin_lock_irqsave(&chan->lock, flags);
		if (!chan->wc_status)
			chan->wc_status = wc->status;
		spin_unlock_irqrestore(&chan->lock, flags);
	}
	dafs_chan_fail(chan, wc->status == IB_WC_RNR_RETRY_EXC_ERR ?
		       DAFS_CLOSE_CREDIT : DAFS_CLOSE_QP);
}
EXPORT_SYMBOL_GPL(dafs_chan_send_failed);

/**
 * dafs_chan_submit() - post work requests to the send queue
 * @chan: the channel
 * @first: the work requests, linked; the send queue has room for all of them
 *
 * They are posted before the queue is drained, or not at all.  If the device accepts only a
 * part of them, the channel fails, but that part may be executed until the channel is
 * quiesced.  Memory that they access must stay valid until then.
 *
 * Context: any, without chan->lock.
 * Return: 0; or -ENOTCONN, then the caller must not wait for a completion.
 */
int dafs_chan_submit(struct dafs_chan *chan, const struct ib_send_wr *first)
{
	unsigned long flags;
	int err = -ENOTCONN;

	spin_lock_irqsave(&chan->lock, flags);
	if (dafs_chan_is_open(chan))
		err = ib_post_send(chan->qp, first, NULL);
	spin_unlock_irqrestore(&chan->lock, flags);
	if (!err)
		return 0;
	dafs_chan_fail(chan, DAFS_CLOSE_QP);
	return -ENOTCONN;
}
