// SPDX-License-Identifier: GPL-2.0
/*
 * The memory regions of a channel.  A region is allocated when it is needed, up to
 * limits.mrs, and kept for later requests; dafs_mrs_trim() frees regions that were unused
 * for some time.  One region is always kept, so that data can be written back when there is
 * no memory for another one.
 */
#include <linux/sched/mm.h>
#include "rdma_impl.h"

/* Regions that a channel keeps while it is idle */
#define DAFS_MRS_KEPT	1

static struct ib_mr *dafs_mr_take(struct dafs_chan *chan)
{
	struct ib_mr *mr;
	unsigned long flags;

	spin_lock_irqsave(&chan->mr_lock, flags);
	mr = list_first_entry_or_null(&chan->mrs, struct ib_mr, qp_entry);
	if (mr) {
		list_del(&mr->qp_entry);
		chan->mrs_used++;
		chan->mrs_peak = max(chan->mrs_peak, chan->mrs_used);
	}
	spin_unlock_irqrestore(&chan->mr_lock, flags);
	return mr;
}

/**
 * dafs_mr_put() - give a region back
 * @chan: its channel
 * @mr: the region; the peer cannot access memory with it any more
 *
 * Context: any.
 */
void dafs_mr_put(struct dafs_chan *chan, struct ib_mr *mr)
{
	unsigned long flags;

	spin_lock_irqsave(&chan->mr_lock, flags);
	list_add(&mr->qp_entry, &chan->mrs);
	chan->mrs_used--;
	spin_unlock_irqrestore(&chan->mr_lock, flags);
	wake_up(&chan->mr_wait);
}

static bool dafs_mr_reserve(struct dafs_chan *chan)
{
	bool room;

	spin_lock_irq(&chan->mr_lock);
	room = chan->nr_mrs < chan->limits.mrs;
	if (room)
		chan->nr_mrs++;
	spin_unlock_irq(&chan->mr_lock);
	return room;
}

static void dafs_mr_unreserve(struct dafs_chan *chan)
{
	spin_lock_irq(&chan->mr_lock);
	chan->nr_mrs--;
	spin_unlock_irq(&chan->mr_lock);
}

/* Add a free region.  Return: 0, or a negative errno if that is not possible. */
static int dafs_mr_make(struct dafs_chan *chan)
{
	unsigned int flags = memalloc_nofs_save();
	struct ib_mr *mr = ERR_PTR(-EAGAIN);

	if (dafs_mr_reserve(chan)) {
		mr = ib_alloc_mr(chan->pd, IB_MR_TYPE_MEM_REG, chan->limits.mr_pages);
		if (IS_ERR(mr))
			dafs_mr_unreserve(chan);
	}
	memalloc_nofs_restore(flags);
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	spin_lock_irq(&chan->mr_lock);
	list_add(&mr->qp_entry, &chan->mrs);
	spin_unlock_irq(&chan->mr_lock);
	return 0;
}

/**
 * dafs_mr_get() - take a region, or allocate one
 * @chan: the channel
 *
 * Context: may sleep, but does not wait for other users of regions.
 * Return: the region, or NULL.
 */
struct ib_mr *dafs_mr_get(struct dafs_chan *chan)
{
	struct ib_mr *mr = dafs_mr_take(chan);

	if (!mr && !dafs_mr_make(chan))
		mr = dafs_mr_take(chan);
	return mr;
}

/**
 * dafs_mr_wait() - take a region, and wait for one if necessary
 * @chan: the channel
 *
 * Other users hold regions only while their requests run, so the wait ends.
 *
 * Context: may sleep; a fatal signal ends it.  The caller holds no region.
 * Return: the region, or an ERR_PTR of -ENOTCONN or -ERESTARTSYS.
 */
struct ib_mr *dafs_mr_wait(struct dafs_chan *chan)
{
	struct ib_mr *mr = dafs_mr_get(chan);
	int killed;

	if (mr)
		return mr;
	killed = wait_event_killable_exclusive(chan->mr_wait, !dafs_chan_is_open(chan) ||
					       (mr = dafs_mr_take(chan)));
	if (killed)
		return ERR_PTR(killed);
	return mr ?: ERR_PTR(-ENOTCONN);
}

static void dafs_mrs_free(struct list_head *mrs)
{
	struct ib_mr *mr, *next;

	list_for_each_entry_safe(mr, next, mrs, qp_entry)
		ib_dereg_mr(mr);
}

/**
 * dafs_mrs_trim() - free regions that were not needed
 * @chan: the channel
 *
 * To be called from time to time: frees regions that were not in use since the last call.
 *
 * Context: may sleep.
 */
void dafs_mrs_trim(struct dafs_chan *chan)
{
	unsigned int keep;
	LIST_HEAD(list);

	spin_lock_irq(&chan->mr_lock);
	keep = max(chan->mrs_peak, DAFS_MRS_KEPT);
	chan->mrs_peak = chan->mrs_used;
	while (chan->nr_mrs > keep && !list_empty(&chan->mrs)) {
		list_move(chan->mrs.prev, &list);
		chan->nr_mrs--;
	}
	spin_unlock_irq(&chan->mr_lock);
	dafs_mrs_free(&list);
}

/**
 * dafs_mrs_init() - allocate the regions that are always kept
 * @chan: a channel with its queue pair and limits
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dafs_mrs_init(struct dafs_chan *chan)
{
	unsigned int nr = min_t(unsigned int, chan->limits.mrs, DAFS_MRS_KEPT);
	int err = 0;

	while (!err && chan->nr_mrs < nr)
		err = dafs_mr_make(chan);
	if (err)
		dafs_mrs_exit(chan);
	return err;
}

/**
 * dafs_mrs_exit() - free all regions
 * @chan: the channel; none is in use
 *
 * Context: may sleep.
 */
void dafs_mrs_exit(struct dafs_chan *chan)
{
	WARN_ON_ONCE(chan->mrs_used);
	dafs_mrs_free(&chan->mrs);
	INIT_LIST_HEAD(&chan->mrs);
	chan->nr_mrs = 0;
}
