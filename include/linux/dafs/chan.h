/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The DAFS channel: one RC connection and the messages on it (appendix E).
 *
 * A channel owns a queue pair, its completion queue, its receive buffers and
 * its memory regions.  Two parties ride on it: a requester (slots, streams,
 * calls; rdma/slot.c) and a responder (credits, replies; rdma/responder.c).  On
 * the operation channel the client has the requester and the server the
 * responder; on the back-control channel it is the other way round after
 * CONNECT_BIND.
 *
 * Ownership of a receive buffer (struct dafs_msg):
 *
 *  1. Between dafs_msg_post() and its receive completion it is the hardware's.
 *  2. The completion handler hands it to the requester or the responder, by
 *     the magic of the message.
 *  3. A requester keeps it in the call until dafs_call_put() drops the last
 *     reference; a responder keeps it in the request until dafs_reply().
 *  4. Both give it back by dafs_msg_post(), or free it when one less is needed,
 *     or keep it if the channel is no longer open; then dafs_chan_destroy()
 *     frees it.
 *
 * msg->owner says which of these holds; dafs_msg_post() and the receive completion
 * check it.
 */
#ifndef _LINUX_DAFS_CHAN_H
#define _LINUX_DAFS_CHAN_H

#include <linux/completion.h>
#include <linux/list.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

struct dafs_chan;
struct dafs_requester;
struct dafs_responder;

/* Limits of this implementation. */
#define DAFS_MAX_NREQ		256
#define DAFS_MAX_MSG_SIZE	SZ_64K
#define DAFS_MAX_IO_SIZE	SZ_1M

enum dafs_chan_state {
	DAFS_CHAN_NEW,
	DAFS_CHAN_ADDR,		/* resolving the address */
	DAFS_CHAN_ROUTE,	/* resolving the route */
	DAFS_CHAN_CONNECTING,	/* REQ or REP sent, not yet established */
	DAFS_CHAN_OPEN,
	DAFS_CHAN_CLOSING,	/* failed or told to stop; completions flush */
	DAFS_CHAN_CLOSED,	/* drained */
};

/* Why a channel closed; the trace points and the log print the names. */
enum dafs_close_reason {
	DAFS_CLOSE_LOCAL,	/* dafs_chan_destroy() */
	DAFS_CLOSE_PEER,	/* the peer disconnected */
	DAFS_CLOSE_CM,		/* the connection manager gave up */
	DAFS_CLOSE_QP,		/* a work request failed */
	DAFS_CLOSE_DEVICE,	/* the device goes away */
	DAFS_CLOSE_TIMEOUT,	/* no response in time */
	DAFS_CLOSE_PROTOCOL,	/* the peer broke the protocol */
	DAFS_CLOSE_CHECKSUM,	/* a response did not match its checksum */
	DAFS_CLOSE_STALE,	/* the server does not know this session or client */
	DAFS_CLOSE_LEASE,	/* the client was silent for the time of its lease */
	DAFS_CLOSE_CREDIT,	/* the peer had no receive posted for too long */
};

enum dafs_msg_owner {
	DAFS_MSG_FREE,
	DAFS_MSG_HW,
	DAFS_MSG_PARTY,	/* with the requester or the responder */
};

/**
 * struct dafs_msg - a registered buffer for one message
 * @cqe: completion of the send or receive that uses it
 * @chan: its channel
 * @node: in chan->msgs
 * @link: in a list of its owner
 * @data: the bytes
 * @addr: their DMA address
 * @size: of the buffer, in bytes
 * @len: of the message in it, in bytes
 * @dir: DMA_TO_DEVICE or DMA_FROM_DEVICE
 * @intact: of a request: its checksum is right, or the session has no checksums
 * @owner: see the invariants above
 */
struct dafs_msg {
	struct ib_cqe cqe;
	struct dafs_chan *chan;
	struct list_head node;
	struct list_head link;
	void *data;
	u64 addr;
	u32 size;
	u32 len;
	enum dma_data_direction dir;
	bool intact;
	enum dafs_msg_owner owner;
};

/**
 * struct dafs_chan_ops - what the owner of a channel provides
 * @closed: called once when a channel that was open, or was being accepted, stops
 *	being usable; atomic context.  The owner then calls dafs_chan_destroy() from a work item.
 */
struct dafs_chan_ops {
	void (*closed)(struct dafs_chan *chan, enum dafs_close_reason reason);
};

/**
 * struct dafs_chan_params - how to make a channel
 * @net: network namespace of the connection
 * @ops: callbacks
 * @priv: the owner's, in chan->priv
 * @pd: protection domain to use, NULL to allocate one (E-129)
 * @type: DAFS_CHANNEL_*
 * @instance: client_instance of the discriminator
 * @session: client_session of the discriminator
 * @swab: true to use the byte order that is not this machine's
 * @send_size: bytes of the largest message sent
 * @recv_size: bytes of the largest message received
 * @depth: most requests outstanding, in either direction
 * @mrs: memory regions it may have (the side that offers memory)
 * @rdma_ctxs: RDMA operations in flight (the side that accesses memory)
 */
struct dafs_chan_params {
	struct net *net;
	const struct dafs_chan_ops *ops;
	void *priv;
	struct ib_pd *pd;
	u32 type;
	u8 instance[4];
	u8 session[4];
	bool swab;
	u32 send_size;
	u32 recv_size;
	u16 depth;
	u16 mrs;
	u16 rdma_ctxs;
};

/**
 * struct dafs_chan_limits - numeric limits of a connection
 * @send_size: bytes of the largest message sent
 * @recv_size: bytes of a receive buffer
 * @depth: requests outstanding
 * @sq: send queue entries
 * @rq: receive queue entries
 * @mrs: memory regions
 * @mr_pages: pages one region maps
 * @rdma_wrs: send queue entries for rdma_rw, with those of its regions
 * @rw_mrs: most memory regions of rdma_rw, 0 if it needs none
 * @responder_resources: RDMA reads the peer may have outstanding here
 * @initiator_depth: RDMA reads this side may have outstanding
 *
 * Filled by dafs_chan_derive_limits() alone.
 */
struct dafs_chan_limits {
	u32 send_size;
	u32 recv_size;
	u16 depth;
	u32 sq;
	u32 rq;
	u16 mrs;
	u32 mr_pages;
	u32 rdma_wrs;
	u16 rw_mrs;
	u8 responder_resources;
	u8 initiator_depth;
};

/**
 * struct dafs_sent - tells the poster of work requests of their completion
 * @cqe: completion of the last one
 * @link: in the channel's @refused
 */
struct dafs_sent {
	struct ib_cqe cqe;
	struct list_head link;
};

/**
 * struct dafs_chan - one connection
 * @id: rdma_cm identifier
 * @own_id: false until a connection request is accepted; until then rdma_cm owns @id
 * @pd: protection domain
 * @own_pd: true if the channel allocated @pd
 * @cq: completions of sends and receives
 * @qp: the queue pair; @id knows of it only where it is to connect it (iWARP)
 * @ops: callbacks
 * @priv: the owner's
 * @type: DAFS_CHANNEL_*
 * @peer_type: on an accepted channel what the private data said, 0 for unknown
 * @instance: client_instance of the peer's or our discriminator
 * @session: client_session of the same
 * @limits: the numbers
 * @lock: guards @state, @reason, @wc_status, @msgs, @refused, @nr_posted and @nr_rw_mrs;
 *	to post to a queue that is drained later, hold it and check @state
 * @state: changed by dafs_chan_set_state() only
 * @reason: why it left DAFS_CHAN_OPEN
 * @error: negative errno of a failed connection attempt
 * @wc_status: of the first work request that failed by itself; IB_WC_SUCCESS if none has
 * @connected: completed when connecting succeeded or failed
 * @msgs: all buffers, for dafs_chan_destroy()
 * @refused: struct dafs_sent of posts that the device refused or took in part
 * @nr_rw_mrs: memory regions of rdma_rw, see dafs_chan_add_mr()
 * @nr_posted: receives that the hardware owns
 * @requester: the party that gets responses, or NULL
 * @responder: the party that gets requests, or NULL
 * @active: this side made the connection
 * @swab: session byte order differs from this machine's
 * @order_known: @swab is valid (a server learns it from the first request)
 * @cksum: messages carry checksums (3.2.5)
 * @mr_lock: guards what follows up to @mrs_peak
 * @mrs: memory regions that are free
 * @nr_mrs: number allocated, limits.mrs at most
 * @mrs_used: number in use
 * @mrs_peak: maximum of @mrs_used since dafs_mrs_trim()
 * @mr_wait: woken when a memory region is given back
 * @probe: completion of a probe
 * @probing: the probe has not completed
 * @probed_at: jiffies when it was sent
 * @debug_id: number in trace points
 * @peer: address of the other side
 */
struct dafs_chan {
	struct rdma_cm_id *id;
	bool own_id;
	struct ib_pd *pd;
	bool own_pd;
	struct ib_cq *cq;
	struct ib_qp *qp;
	const struct dafs_chan_ops *ops;
	void *priv;
	u32 type;
	u32 peer_type;
	u8 instance[4];
	u8 session[4];
	struct dafs_chan_limits limits;
	spinlock_t lock;	/* see above */
	enum dafs_chan_state state;
	enum dafs_close_reason reason;
	int error;
	enum ib_wc_status wc_status;
	struct completion connected;
	struct list_head msgs;
	struct list_head refused;
	u16 nr_rw_mrs;
	u32 nr_posted;
	struct dafs_requester *requester;
	struct dafs_responder *responder;
	bool active;
	bool swab;
	bool order_known;
	bool cksum;
	spinlock_t mr_lock;	/* see above */
	struct list_head mrs;
	unsigned int nr_mrs;
	unsigned int mrs_used;
	unsigned int mrs_peak;
	wait_queue_head_t mr_wait;
	struct ib_cqe probe;
	bool probing;
	unsigned long probed_at;
	u32 debug_id;
	struct sockaddr_storage peer;
};

/* rdma/chan.c: life of a channel */
struct dafs_chan *dafs_chan_connect(const struct dafs_chan_params *params,
				    struct sockaddr *dst, struct sockaddr *src,
				    unsigned int timeout_ms);
u32 dafs_chan_type_of(const struct rdma_conn_param *conn);
struct dafs_chan *dafs_chan_accept_prepare(const struct dafs_chan_params *params,
					   struct rdma_cm_id *id,
					   const struct rdma_conn_param *conn);
int dafs_chan_accept(struct dafs_chan *chan);
void dafs_chan_fail(struct dafs_chan *chan, enum dafs_close_reason reason);
void dafs_chan_quiesce(struct dafs_chan *chan);
void dafs_chan_destroy(struct dafs_chan *chan);
bool dafs_chan_is_open(const struct dafs_chan *chan);
const char *dafs_close_reason_name(enum dafs_close_reason reason);
const char *dafs_chan_why(const struct dafs_chan *chan);

/* rdma/qp.c: its queue pair */
int dafs_chan_add_mr(struct dafs_chan *chan);
void dafs_chan_trim_mrs(struct dafs_chan *chan);
int dafs_chan_post(struct dafs_chan *chan, const struct ib_send_wr *first,
		   struct dafs_sent *last);
void dafs_chan_send_failed(struct dafs_chan *chan, const char *what, const struct ib_wc *wc);

/* rdma/probe.c */
bool dafs_chan_probe(struct dafs_chan *chan);

/**
 * struct dafs_listener - one address that a server listens on
 * @id: rdma_cm identifier
 * @accept: called for each connection request; may sleep.  Takes over @id and
 *	returns 0, or returns a negative errno and the request is rejected.
 * @priv: the owner's
 */
struct dafs_listener {
	struct rdma_cm_id *id;
	int (*accept)(struct dafs_listener *listener, struct rdma_cm_id *id,
		      const struct rdma_conn_param *conn);
	void *priv;
};

int dafs_listen(struct dafs_listener *listener, struct net *net, struct sockaddr *addr);
void dafs_unlisten(struct dafs_listener *listener);

/* rdma/msg.c: buffers */
int dafs_chan_post_recvs(struct dafs_chan *chan, unsigned int nr);

#endif /* _LINUX_DAFS_CHAN_H */
