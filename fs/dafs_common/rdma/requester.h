/* SPDX-License-Identifier: GPL-2.0 */
/* The requester, as slot.c, call.c, requester.c and probe.c know it. */
#ifndef _DAFS_REQUESTER_H
#define _DAFS_REQUESTER_H

#include <linux/bitmap.h>
#include <linux/mutex.h>
#include <linux/dafs/requester.h>
#include "rdma_impl.h"

#define DAFS_SLOT_SENDING	BIT(0)	/* its send is going to complete */
#define DAFS_SLOT_CALL		BIT(1)	/* a call holds the stream */

/* Slots that keep their buffers while the requester is idle */
#define DAFS_SLOTS_KEPT		2

/**
 * struct dafs_slot - one stream
 * @rq: its requester
 * @send: send buffer; NULL if there was no need for it yet, or not for long
 * @cqe: completion of the send
 * @sge: the request, for @wr
 * @wr: sends it
 * @call: the request on it, until its response has come and its memory is out of
 *	reach
 * @busy: DAFS_SLOT_*
 * @covers: entries of the send queue whose end the completion of the send tells
 * @seq: seq_number of the next request
 */
struct dafs_slot {
	struct dafs_requester *rq;
	struct dafs_msg *send;
	struct ib_cqe cqe;
	struct ib_sge sge;
	struct ib_send_wr wr;
	struct dafs_call *call;
	unsigned int busy;
	unsigned int covers;
	u16 seq;
};

/**
 * struct dafs_requester - the side of a channel that sends requests
 * @chan: the channel
 * @lock: guards all below but @growing, @idle, @grow, @ask, @watchdog, @timeout, @limit
 * @nreq: requests that may be outstanding
 * @target: target_nreq of the latest response
 * @desired: what requests ask for
 * @least: what they ask for when few are outstanding; 0 if @desired does not depend on
 *	that
 * @untold: @desired was lowered, and no request has said so yet
 * @asking: what a NULL asks for that is under way, or about to be; 0 if none is
 * @denied: what one has asked for, and not got if that is more than @nreq
 * @max: slots there may be
 * @ready: slots that have buffers: a send buffer, and a receive posted for the
 *	response; changed with @growing held, too
 * @extra: receives posted beyond that, of slots whose buffers were given back
 * @outstanding: slots in use
 * @granted: those of them whose requests have not been posted yet
 * @peak: the most there were since dafs_requester_trim()
 * @mark: the last dafs_requester_mark()
 * @heard: that of the calls that were answered OK, of the call that began last
 * @settle: the next send shall tell its end, to know that of all before it
 * @sq_used: entries of the send queue that may be in use, or will be for
 *	invalidations
 * @sq_silent: those posted since a completion was asked for
 * @error: set once by dafs_requester_abort(); no call starts after it
 * @used: bitmap of slots in use
 * @queue: struct dafs_slot_waiter, in the order in which they came
 * @growing: one task at a time changes @ready
 * @idle: woken when @outstanding becomes 0
 * @grow: gives slots their buffers, for those in @queue
 * @ask: sends the NULL that asks for more slots, for those in @queue
 * @watchdog: looks for a response that is overdue
 * @timeout: jiffies after which a connection that gives no sign of life is lost; 0
 *	for never
 * @limit: jiffies after which one without a response is lost although it gives
 *	signs of life; 0 for never
 * @stats: where calls are counted, or NULL; set before the first of them
 * @special: told of special conditions, see dafs_requester_heed(), or NULL; likewise
 * @slots: @max of them
 */
struct dafs_requester {
	struct dafs_chan *chan;
	spinlock_t lock;	/* see above */
	u16 nreq;
	u16 target;
	u16 desired;
	u16 least;
	bool untold;
	u16 asking;
	u16 denied;
	u16 max;
	u16 ready;
	u16 extra;
	u16 outstanding;
	u16 granted;
	u16 peak;
	u64 mark;
	u64 heard;
	bool settle;
	unsigned int sq_used;
	unsigned int sq_silent;
	int error;
	DECLARE_BITMAP(used, DAFS_MAX_NREQ);
	struct list_head queue;
	struct mutex growing;	/* see above */
	wait_queue_head_t idle;
	struct work_struct grow;
	struct work_struct ask;
	struct delayed_work watchdog;
	unsigned long timeout;
	unsigned long limit;
	struct dafs_stats __percpu *stats;
	void (*special)(struct dafs_chan *chan, u16 spec_cond);
	struct dafs_slot slots[] __counted_by(max);
};

/* Where requesters grow and are watched; memory may have to wait for them. */
extern struct workqueue_struct *dafs_requester_wq;

/* slot.c */
unsigned int dafs_sq_signal(struct dafs_requester *rq);
bool dafs_sq_silent_enough(const struct dafs_requester *rq);
void dafs_sq_done(struct dafs_requester *rq, unsigned int covers);
void dafs_sq_unreserve(struct dafs_requester *rq, const struct dafs_call *call);
void dafs_slots_grant(struct dafs_requester *rq);
void dafs_slots_grow(struct work_struct *work);
void dafs_slots_ask(struct work_struct *work);
int dafs_slots_make(struct dafs_requester *rq, u16 nr);
int dafs_slot_get(struct dafs_requester *rq, struct dafs_call *call);
int dafs_slot_get_now(struct dafs_requester *rq, struct dafs_call *call);
void dafs_slot_release(struct dafs_slot *slot, unsigned int what);
bool dafs_recv_drop(struct dafs_requester *rq);
void dafs_requester_credit(struct dafs_requester *rq, u16 target);

/* call.c */
void dafs_call_complete(struct dafs_call *call, int error);
void dafs_send_done(struct ib_cq *cq, struct ib_wc *wc);

/* probe.c */
void dafs_requester_watch(struct work_struct *work);

#endif /* _DAFS_REQUESTER_H */
