/* SPDX-License-Identifier: GPL-2.0 */
/* The requester of a channel and its calls (rdma/requester.c, rdma/slot.c, rdma/call.c). */
#ifndef _LINUX_DAFS_REQUESTER_H
#define _LINUX_DAFS_REQUESTER_H

#include <linux/completion.h>
#include <linux/kref.h>
#include <linux/ktime.h>
#include <linux/dafs/codec.h>

struct dafs_chan;
struct dafs_mem;
struct dafs_msg;
struct dafs_requester;
struct dafs_stats;

/**
 * struct dafs_call - one request and its response
 * @ref: one held by the caller, one by the requester until the response has arrived
 * @proc: DAFS_PROC_*
 * @args: in host form; needed until dafs_call_start() returned
 * @cred: cred_handle
 * @chain_flags: DAFS_CHF_*
 * @behind: the next request of the same chain, or NULL; only used while the
 *	chain is started
 * @mem: memory named in @args, or NULL; invalidated before completion
 * @asks: the requester's own, which asks for more slots and may use the slot
 *	reserved for that
 * @last: no request follows on this channel, so that the buffer of the response
 *	is not posted again
 * @fill: if set, called after encoding to put inline data into @buf
 * @done: if set, called once on completion, in softirq context; otherwise
 *	dafs_call_wait() waits
 * @priv: the caller's
 * @chan: where it was sent
 * @slot: its slot; -1 when it holds none
 * @mark: that of the requester when it got its slot, see dafs_requester_mark()
 * @invalidated: its memory is invalidated, or is about to be
 * @over: the caller has been told that the call has ended
 * @expired: the response has timed out
 * @error: 0 or -ENOTCONN, -ETIMEDOUT, -EINTR ... : the response never came
 * @status: DAFS status of the response
 * @hdr: response header; until the response comes, its seq_number is that of the
 *	request
 * @buf: the response message, valid until dafs_call_put()
 * @reply: the buffer that @buf points into
 * @finished: completed after @done
 * @sent_at: jiffies
 * @begun: when dafs_call_start() was called
 * @sent: when it was sent
 * @sent_len: bytes of the request
 * @posts: calls of ib_post_send() for this call
 */
struct dafs_call {
	struct kref ref;
	u32 proc;
	void *args;
	u8 cred[4];
	u16 chain_flags;
	struct dafs_call *behind;
	struct dafs_mem *mem;
	bool asks;
	bool last;
	void (*fill)(struct dafs_call *call, struct dafs_buf *buf);
	void (*done)(struct dafs_call *call);
	void *priv;
	struct dafs_chan *chan;
	int slot;
	u64 mark;
	bool invalidated;
	bool over;
	bool expired;
	int error;
	dafs_status_t status;
	struct dafs_res_hdr hdr;
	struct dafs_buf buf;
	struct dafs_msg *reply;
	struct completion finished;
	unsigned long sent_at;
	ktime_t begun;
	ktime_t sent;
	u32 sent_len;
	u8 posts;
};

struct dafs_requester *dafs_requester_create(struct dafs_chan *chan, u16 nreq, u16 max,
					     unsigned int timeout_ms);
void dafs_requester_destroy(struct dafs_requester *rq);
void dafs_requester_abort(struct dafs_requester *rq, int error);
void dafs_requester_negotiated(struct dafs_requester *rq, u16 nreq);
u16 dafs_requester_nreq(struct dafs_requester *rq);
u16 dafs_requester_surplus(struct dafs_requester *rq);
u16 dafs_requester_outstanding(struct dafs_requester *rq);
bool dafs_requester_busy(struct dafs_requester *rq);
int dafs_requester_adapt(struct dafs_requester *rq, u16 least);
void dafs_requester_set_timeout(struct dafs_requester *rq, unsigned int timeout_ms,
				unsigned int limit_ms);
void dafs_requester_trim(struct dafs_requester *rq);
u64 dafs_requester_mark(struct dafs_requester *rq);
bool dafs_requester_heard(struct dafs_requester *rq, u64 mark);
void dafs_requester_count(struct dafs_requester *rq, struct dafs_stats __percpu *stats);
void dafs_requester_heed(struct dafs_requester *rq,
			 void (*special)(struct dafs_chan *chan, u16 spec_cond));

struct dafs_call *dafs_call_alloc(gfp_t gfp);
int dafs_call_start(struct dafs_requester *rq, struct dafs_call *call);
int dafs_call_start_chain(struct dafs_requester *rq, struct dafs_call *first);
int dafs_call_wait(struct dafs_call *call);
int dafs_call_wait_interruptible(struct dafs_call *call);
void dafs_call_put(struct dafs_call *call);

#endif /* _LINUX_DAFS_REQUESTER_H */
