/* SPDX-License-Identifier: GPL-2.0 */
/* The responder of a channel (rdma/responder.c). */
#ifndef _LINUX_DAFS_RESPONDER_H
#define _LINUX_DAFS_RESPONDER_H

#include <linux/workqueue.h>
#include <linux/dafs/chan.h>
#include <linux/dafs/codec.h>

struct dafs_responder;
struct dafs_rqst;

/**
 * struct dafs_responder_ops - what the owner of a responder provides
 * @rqst_size: bytes of its request structure, which begins with struct dafs_rqst
 * @request: a request arrived whose header is valid; called in order of arrival,
 *	one at a time, with the responder's lock held.  The owner answers it by
 *	dafs_reply() from process context, exactly once.
 * @sent: the reply to @rqst has been sent or never will be; its buffers may be
 *	freed.  Atomic context.
 */
struct dafs_responder_ops {
	size_t rqst_size;
	void (*request)(struct dafs_rqst *rqst);
	void (*sent)(struct dafs_rqst *rqst);
};

/**
 * struct dafs_rqst - one request at the responder
 * @chan: where it came from
 * @link: in the responder's free list, or the owner's
 * @recv: the request message; NULL after dafs_reply()
 * @send: buffer for the response
 * @hdr: request header
 * @refuse: status to answer with at once, or DAFS_STATUS_OK: the message was
 *	refused by its checksum (E-33), version (E-02) or stream (E-41)
 * @holds_stream: its stream is marked busy for it
 * @cksum: the response carries a checksum (E-33): set when the request arrives, if
 *	@chan had checksums then; the owner may change it
 * @spec_cond: DAFS_SPCOND_* for the response, from the owner
 * @in: the request message
 * @out: the response message to be built
 * @sge: the response, for @wr
 * @wr: sends the response; RDMA operations are chained in front of it
 * @sent: completion of @wr
 * @work: for the owner
 */
struct dafs_rqst {
	struct dafs_chan *chan;
	struct list_head link;
	struct dafs_msg *recv;
	struct dafs_msg *send;
	struct dafs_req_hdr hdr;
	dafs_status_t refuse;
	bool holds_stream;
	bool cksum;
	u16 spec_cond;
	struct dafs_buf in;
	struct dafs_buf out;
	struct ib_sge sge;
	struct ib_send_wr wr;
	struct dafs_sent sent;
	struct work_struct work;
};

struct dafs_responder *dafs_responder_create(struct dafs_chan *chan,
					     const struct dafs_responder_ops *ops, u16 nreq);
void dafs_responder_stop(struct dafs_responder *rp);
void dafs_responder_destroy(struct dafs_responder *rp);
int dafs_responder_open(struct dafs_responder *rp, u16 nreq);
void dafs_responder_set_target(struct dafs_responder *rp, u16 target);
u16 dafs_responder_nreq(struct dafs_responder *rp);
u16 dafs_responder_limit(const struct dafs_responder *rp);
void dafs_reply(struct dafs_rqst *rqst, dafs_status_t status, u32 len, struct ib_send_wr *first);

extern unsigned int dafs_responder_most;

#endif /* _LINUX_DAFS_RESPONDER_H */
