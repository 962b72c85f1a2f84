// SPDX-License-Identifier: GPL-2.0
/*
 * Message buffers: allocated and mapped once, and posted many times.  The numbered rules of
 * their ownership are in <linux/dafs/chan.h>.
 */
#include <linux/slab.h>
#include <linux/dafs/cksum.h>
#include "rdma_impl.h"
#include "trace.h"

static void dafs_recv_done(struct ib_cq *cq, struct ib_wc *wc);

/**
 * dafs_msg_make() - allocate and map a message buffer
 * @chan: channel it will be used on
 * @size: bytes
 * @dir: DMA_TO_DEVICE for messages sent, DMA_FROM_DEVICE for those received
 * @gfp: allocation flags
 *
 * Context: may sleep.
 * Return: the buffer, owned by the caller, or an ERR_PTR of -ENOMEM or -EIO.
 */
struct dafs_msg *dafs_msg_make(struct dafs_chan *chan, u32 size, enum dma_data_direction dir,
			       gfp_t gfp)
{
	struct ib_device *dev = chan->id->device;
	struct dafs_msg *msg;
	int err = -ENOMEM;

	msg = kzalloc(sizeof(*msg), gfp);
	if (!msg)
		goto fail;
	msg->data = kmalloc(size, gfp);
	if (!msg->data)
		goto free_msg;
	msg->addr = ib_dma_map_single(dev, msg->data, size, dir);
	if (ib_dma_mapping_error(dev, msg->addr)) {
		err = -EIO;
		goto free_data;
	}
	msg->chan = chan;
	msg->size = size;
	msg->dir = dir;
	msg->cqe.done = dafs_recv_done;
	spin_lock_irq(&chan->lock);
	list_add_tail(&msg->node, &chan->msgs);
	spin_unlock_irq(&chan->lock);
	return msg;

free_data:
	kfree(msg->data);
free_msg:
	kfree(msg);
fail:
	return ERR_PTR(err);
}

/**
 * dafs_msg_alloc() - allocate and map a message buffer with GFP_KERNEL
 * @chan: channel it will be used on
 * @size: bytes
 * @dir: as for dafs_msg_make()
 *
 * Context: may sleep.
 * Return: as dafs_msg_make().
 */
struct dafs_msg *dafs_msg_alloc(struct dafs_chan *chan, u32 size, enum dma_data_direction dir)
{
	return dafs_msg_make(chan, size, dir, GFP_KERNEL);
}

/**
 * dafs_msg_free() - unmap and free a message buffer
 * @msg: a buffer that the hardware does not own
 *
 * Context: any.
 */
void dafs_msg_free(struct dafs_msg *msg)
{
	struct dafs_chan *chan = msg->chan;
	unsigned long flags;

	spin_lock_irqsave(&chan->lock, flags);
	list_del(&msg->node);
	spin_unlock_irqrestore(&chan->lock, flags);
	ib_dma_unmap_single(chan->id->device, msg->addr, msg->size, msg->dir);
	kfree(msg->data);
	kfree(msg);
}

/**
 * dafs_chan_free_msgs() - free all message buffers of a channel
 * @chan: the channel; its CQ has been freed, so the hardware owns no buffer
 *
 * Context: may sleep.
 */
void dafs_chan_free_msgs(struct dafs_chan *chan)
{
	struct dafs_msg *msg, *next;

	list_for_each_entry_safe(msg, next, &chan->msgs, node)
		dafs_msg_free(msg);
}

/**
 * dafs_msg_post() - give a receive buffer to the hardware
 * @msg: a buffer of the caller; owned by the hardware from now on (rule 1)
 *
 * On a channel that is closing the buffer is not posted; it is freed with the channel.
 *
 * Context: any.
 * Return: 0 or -ENOTCONN.
 */
int dafs_msg_post(struct dafs_msg *msg)
{
	struct dafs_chan *chan = msg->chan;
	struct ib_device *dev = chan->id->device;
	struct ib_sge sge = {
		.addr = msg->addr,
		.length = msg->size,
		.lkey = chan->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = {
		.wr_cqe = &msg->cqe,
		.sg_list = &sge,
		.num_sge = 1,
	};
	unsigned long flags;
	int err;

	WARN_ON_ONCE(msg->owner == DAFS_MSG_HW);
	spin_lock_irqsave(&chan->lock, flags);
	if (chan->state >= DAFS_CHAN_CLOSING) {
		msg->owner = DAFS_MSG_FREE;
		spin_unlock_irqrestore(&chan->lock, flags);
		return -ENOTCONN;
	}
	msg->owner = DAFS_MSG_HW;
	ib_dma_sync_single_for_device(dev, msg->addr, msg->size, msg->dir);
	err = ib_post_recv(chan->qp, &wr, NULL);
	if (err)
		msg->owner = DAFS_MSG_FREE;
	else
		chan->nr_posted++;
	spin_unlock_irqrestore(&chan->lock, flags);
	if (!err)
		return 0;
	dafs_chan_fail(chan, DAFS_CLOSE_QP);
	return -ENOTCONN;
}

/**
 * dafs_chan_post_recvs() - allocate and post more receives
 * @chan: the channel
 * @nr: number of receives
 *
 * Context: may sleep.
 * Return: 0, -ENOMEM, -EIO or -ENOTCONN; after an error some may have been posted.
 */
int dafs_chan_post_recvs(struct dafs_chan *chan, unsigned int nr)
{
	struct dafs_msg *msg;
	int err;

	while (nr--) {
		msg = dafs_msg_alloc(chan, chan->limits.recv_size, DMA_FROM_DEVICE);
		if (IS_ERR(msg))
			return PTR_ERR(msg);
		err = dafs_msg_post(msg);
		if (err)
			return err;
	}
	return 0;
}

/* Rule 2: the magic selects requester or responder; any other message is an error. */
static void dafs_recv_route(struct dafs_chan *chan, struct dafs_msg *msg)
{
	bool swab;

	if (chan->requester &&
	    !dafs_probe_order(msg->data, msg->len, DAFS_RESPONSE_MAGIC, &swab) &&
	    swab == chan->swab) {
		dafs_requester_response(chan->requester, msg);
		return;
	}
	if (chan->responder &&
	    !dafs_probe_order(msg->data, msg->len, DAFS_REQUEST_MAGIC, &swab) &&
	    (!chan->order_known || swab == chan->swab)) {
		chan->swab = swab;
		chan->order_known = true;
		dafs_responder_request(chan->responder, msg);
		return;
	}
	msg->owner = DAFS_MSG_FREE;
	trace_dafs_bad_message(chan, msg->data, msg->len);
	dafs_chan_fail(chan, DAFS_CLOSE_PROTOCOL);
}

static void dafs_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct dafs_msg *msg = container_of(wc->wr_cqe, struct dafs_msg, cqe);
	struct dafs_chan *chan = msg->chan;
	unsigned long flags;

	WARN_ON_ONCE(msg->owner != DAFS_MSG_HW);
	spin_lock_irqsave(&chan->lock, flags);
	chan->nr_posted--;
	spin_unlock_irqrestore(&chan->lock, flags);

	if (wc->status != IB_WC_SUCCESS) {
		msg->owner = DAFS_MSG_FREE;
		if (wc->status != IB_WC_WR_FLUSH_ERR)
			trace_dafs_wc_error(chan, "recv", wc);
		dafs_chan_fail(chan, DAFS_CLOSE_QP);
		return;
	}
	msg->owner = DAFS_MSG_PARTY;
	msg->len = wc->byte_len;
	ib_dma_sync_single_for_cpu(chan->id->device, msg->addr, msg->len, msg->dir);
	dafs_chan_opened(chan);
	dafs_recv_route(chan, msg);
}
