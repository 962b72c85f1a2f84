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
#include "requester.h"
#include "trace.h"

static void dafs_probe_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct dafs_chan *chan = container_of(wc->wr_cqe, struct dafs_chan, probe);

	WRITE_ONCE(chan->probing, false);
	if (wc->status != IB_WC_SUCCESS)
		dafs_chan_send_failed(chan, "probe", wc);
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

	if (READ_ONCE(chan->probing))
		return false;
	chan->probe.done = dafs_probe_done;
	WRITE_ONCE(chan->probing, true);
	chan->probed_at = jiffies;
	dafs_chan_submit(chan, &wr.wr);
	return true;
}
EXPORT_SYMBOL_GPL(dafs_chan_probe);

/* Jiffies since the call was sent whose response is awaited longest. */
static unsigned long dafs_requester_age(struct dafs_requester *rq)
{
	struct dafs_call *call;
	unsigned long age = 0;
	unsigned int i;

	spin_lock_irq(&rq->lock);
	for_each_set_bit(i, rq->used, rq->max) {
		call = rq->slots[i].call;
		if (call && !call->reply)
			age = max(age, jiffies - call->sent_at);
	}
	spin_unlock_irq(&rq->lock);
	return age;
}

/* The calls that have taken their time fail, and the others are only lost. */
static void dafs_requester_expire(struct dafs_requester *rq, unsigned long limit)
{
	struct dafs_call *call;
	unsigned int i;

	spin_lock_irq(&rq->lock);
	for_each_set_bit(i, rq->used, rq->max) {
		call = rq->slots[i].call;
		if (call && jiffies - call->sent_at > limit)
			call->expired = true;
	}
	spin_unlock_irq(&rq->lock);
	dafs_chan_fail(rq->chan, DAFS_CLOSE_TIMEOUT);
}

/* Return: false if the peer's hardware has been silent for @timeout. */
static bool dafs_chan_lives(struct dafs_chan *chan, unsigned long timeout)
{
	return dafs_chan_probe(chan) || jiffies - chan->probed_at <= timeout;
}

/**
 * dafs_requester_watch() - the work item dafs_requester.watchdog
 * @work: it
 *
 * A server takes the time it needs, and so does what it was asked for; nothing is
 * gained by asking again, and all others who use the connection would lose by it
 * (5.1).  What is lost is a connection that does not even answer a probe: that is
 * half the timeout for the response, and the other half for the probe.
 */
void dafs_requester_watch(struct work_struct *work)
{
	struct dafs_requester *rq = container_of(to_delayed_work(work),
						 struct dafs_requester, watchdog);
	unsigned long timeout = READ_ONCE(rq->timeout);
	unsigned long limit = READ_ONCE(rq->limit);
	unsigned long age = dafs_requester_age(rq);

	if (limit && age > limit)
		dafs_requester_expire(rq, limit);
	else if (age > timeout / 2 && !dafs_chan_lives(rq->chan, timeout / 2))
		dafs_chan_fail(rq->chan, DAFS_CLOSE_TIMEOUT);
	else
		queue_delayed_work(dafs_requester_wq, &rq->watchdog, timeout / 4 + 1);
}
