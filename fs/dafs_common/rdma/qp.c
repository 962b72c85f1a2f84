// SPDX-License-Identifier: GPL-2.0
/*
 * The queue pair of a channel: its states, and what is posted to its send queue.
 */
#include <rdma/ib_cm.h>
#include <rdma/rw.h>
#include "rdma_impl.h"
#include "trace.h"

/*
 * Peers shall repeat after 0.33 s what finds no receive here.  They name the time that
 * we wait; with the longest one our retries make four seconds.
 */
#define DAFS_RNR_TIMER		IB_RNR_TIMER_327_68

/*
 * How long the device waits for an answer before it repeats: peers name the time, 0 is
 * for ever.  This is 4.3 s, and more than the largest fabrics need.
 */
#define DAFS_ACK_TIMEOUT	20

/* Pages of a memory region of rdma_rw: what it asks of one */
#define DAFS_RW_MR_PAGES	256U

static u8 dafs_qp_timeout(u8 asked)
{
	return asked && asked < DAFS_ACK_TIMEOUT ? asked : DAFS_ACK_TIMEOUT;
}

/*
 * As rdma_cm does it, which would take what the peer says.  Of the RNR retries 0
 * breaks the connection when soft-RoCE is short of memory, and 7 keeps a reply and
 * its pages for as long as the peer likes, as a long timeout does.
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
 * dafs_qp_connect() - take the queue pair to where messages can be sent
 * @chan: the channel; the peer's parameters are known, and @chan->limits heeds them
 *
 * Context: rdma_cm event handler; may sleep.
 * Return: 0 or a negative errno; -ENOTCONN if it is too late.
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
 * dafs_qp_stop() - nothing is sent and received any more, what is posted comes back
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

	/* the server's answer may still come, to be handled by dafs_qp_connect() */
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
 * @attr: what it is to be like
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
 * dafs_chan_add_mr() - one more memory region for rdma_rw
 * @chan: the channel
 *
 * There are none at first.  Many devices need none at all, and most connections
 * never so many as the send queue has room for.
 *
 * Context: may sleep.
 * Return: 0; -ENOSPC if there are as many as may be; what ib_alloc_mr() fails with.
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
 * dafs_chan_trim_mrs() - give back the memory regions of rdma_rw that are not in use
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
 * @first: the first of them; the last asks for a completion, which is @last->cqe
 * @last: see above
 *
 * The device may refuse some of them after it has taken others, which then still
 * use their memory.  The channel is given up in this case, and @last->cqe gets its
 * completion from dafs_chan_quiesce(), when all of them are done.
 *
 * Context: any.
 * Return: 0, and there will be a completion; or -ENOTCONN if the channel is not
 * open: nothing was posted, and no completion comes.
 */
int dafs_chan_post(struct dafs_chan *chan, const struct ib_send_wr *first,
		   struct dafs_sent *last)
{
	unsigned long flags;
	int err = 0;

	/* with the lock it is in the queue before that is drained, or not at all */
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
 * dafs_chan_end_refused() - the completions that dafs_chan_post() has promised
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
 * dafs_chan_send_failed() - a send, or an RDMA operation, did not succeed
 * @chan: the channel; it is given up
 * @what: what it was, for the trace
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
 * @first: they, linked; there is room for all of them
 *
 * They are in the queue before that is drained, or not at all.  If the device takes
 * a part of them, that part may be executed until the channel is quiesced.  The
 * channel has failed, then; memory that they reach must stay until it is.
 *
 * Context: any, without chan->lock.
 * Return: 0, or -ENOTCONN, and no completion is to be waited for.
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
