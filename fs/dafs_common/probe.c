// SPDX-License-Identifier: GPL-2.0
/*
 * Is the other end of a connection still there?
 *
 * An RDMA WRITE of no bytes reaches for no memory, so it needs no key, and the
 * peer's hardware answers it without the peer.  One whose queue pair has gone
 * does not: the device gives up after its retries and the channel fails like any
 * other.  Soft-RoCE repeats for ever when seven retries are asked for, therefore
 * the owner must not wait for the failure alone.
 */
#include "common.h"
#include "trace.h"

static void dafs_probe_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct dafs_chan *chan = container_of(wc->wr_cqe, struct dafs_chan, probe);

	WRITE_ONCE(chan->probing, false);
	if (wc->status == IB_WC_SUCCESS)
		return;
	if (wc->status != IB_WC_WR_FLUSH_ERR)
		trace_dafs_wc_error(chan, "probe", wc);
	dafs_chan_fail(chan, DAFS_CLOSE_QP);
}

/**
 * dafs_chan_probe() - make the peer's hardware give a sign of life
 * @chan: the channel
 *
 * The peer's software notices nothing.  Needs no memory; the send queue has room
 * for one probe.
 *
 * Context: any.
 * Return: false if there is no answer yet to the probe before.
 */
bool dafs_chan_probe(struct dafs_chan *chan)
{
	struct ib_rdma_wr wr = {
		.wr.wr_cqe = &chan->probe,
		.wr.opcode = IB_WR_RDMA_WRITE,
		.wr.send_flags = IB_SEND_SIGNALED,
	};
	unsigned long flags;
	int err = 0;

	if (READ_ONCE(chan->probing))
		return false;
	chan->probe.done = dafs_probe_done;
	/* with the lock it is in the queue before that is drained, or not at all */
	spin_lock_irqsave(&chan->lock, flags);
	if (dafs_chan_is_open(chan)) {
		chan->probing = true;
		err = ib_post_send(chan->id->qp, &wr.wr, NULL);
	}
	spin_unlock_irqrestore(&chan->lock, flags);
	if (err)
		dafs_chan_fail(chan, DAFS_CLOSE_QP);
	return true;
}
EXPORT_SYMBOL_GPL(dafs_chan_probe);
