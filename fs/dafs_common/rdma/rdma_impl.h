/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of dafs_common know of each other, and other files do not. */
#ifndef _DAFS_COMMON_H
#define _DAFS_COMMON_H

#include <linux/dafs/chan.h>

/* chan.c */
void dafs_chan_opened(struct dafs_chan *chan);

/* qp.c */

/* Retries of what is not answered; the most there are */
#define DAFS_QP_RETRIES		7

/*
 * Retries of a message for which the peer has no receive, and of an RDMA READ for
 * which soft-RoCE has no memory.  One more would be for ever.
 */
#define DAFS_QP_RNR_RETRIES	6

int dafs_qp_create(struct dafs_chan *chan, struct ib_qp_init_attr *attr);
int dafs_qp_connect(struct dafs_chan *chan);
void dafs_qp_stop(struct dafs_chan *chan);
void dafs_qp_destroy(struct dafs_chan *chan);
void dafs_chan_end_refused(struct dafs_chan *chan);
int dafs_chan_submit(struct dafs_chan *chan, const struct ib_send_wr *first);

/* msg.c */
struct dafs_msg *dafs_msg_alloc(struct dafs_chan *chan, u32 size, enum dma_data_direction dir);
struct dafs_msg *dafs_msg_make(struct dafs_chan *chan, u32 size, enum dma_data_direction dir,
			       gfp_t gfp);
void dafs_msg_free(struct dafs_msg *msg);
int dafs_msg_post(struct dafs_msg *msg);
void dafs_chan_free_msgs(struct dafs_chan *chan);

/* probe.c */

/* At a time on one channel */
#define DAFS_PROBES	1

/* mr.c */
int dafs_mrs_init(struct dafs_chan *chan);
void dafs_mrs_exit(struct dafs_chan *chan);
void dafs_mrs_trim(struct dafs_chan *chan);
struct ib_mr *dafs_mr_get(struct dafs_chan *chan);
struct ib_mr *dafs_mr_wait(struct dafs_chan *chan);
void dafs_mr_put(struct dafs_chan *chan, struct ib_mr *mr);

/* requester.c */
int dafs_requesters_init(void);
void dafs_requesters_exit(void);

/* call.c */
int dafs_calls_init(void);
void dafs_calls_exit(void);
void dafs_requester_response(struct dafs_requester *rq, struct dafs_msg *msg);

/* responder.c */

/* Responses that may still be leaving while the next requests are at work. */
#define DAFS_SPARE_RQSTS	8

void dafs_responder_request(struct dafs_responder *rp, struct dafs_msg *msg);

#endif /* _DAFS_COMMON_H */
