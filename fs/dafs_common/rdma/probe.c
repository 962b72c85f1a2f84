// SPDX-License-Identifier: GPL-2.0
/*
 * Probes: is the peer of a connection still alive?
 *
 * An RDMA WRITE of 0 bytes accesses no memory, so it needs no key, and the peer's hardware
 * acknowledges it without the peer's software.  If the queue pair of the peer is gone there
 * is no acknowledgment: the device gives up after its retries, and the channel fails.
 * Soft-RoCE retries for ever if seven retries are configured, therefore the owner must not
 * rely on the failure alone.
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
 * dafs_chan_probe() - send a probe to the peer's hardware
 * @chan: the channel
 *
 * The peer's software does not notice it.  Needs no memory; one entry of the send queue is
 * reserved for a probe.
 *
 * Context: any.
 * Return: false if the previous probe has not been acknowledged yet.
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

/* Age of the oldest call without a response, in jiffies. */
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

/* Calls older than @limit fail with -ETIMEDOUT, the others as for a lost connection. */
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
 * A server may take any time for a request.  Sending the request again would not help, and
 * would disturb the other users of the connection (5.1).  Only a connection that does not
 * acknowledge a probe is lost: half of the timeout is for the response, and the other half
 * for the probe.
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
