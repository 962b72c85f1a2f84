// SPDX-License-Identifier: GPL-2.0
/*
 * The life of a channel, from rdma_cm's address resolution to its end.
 *
 *	active side			passive side
 *	dafs_chan_connect()		listener: dafs_chan_accept_prepare()
 *	  NEW -> ADDR -> ROUTE		  NEW
 *	  -> CONNECTING			dafs_chan_accept()
 *	  -> OPEN			  -> CONNECTING -> OPEN
 *
 * dafs_chan_fail() changes any state to CLOSING.  It may be called in any context and
 * calls ->closed() of the owner once.  The owner then ends the channel from a work item:
 *
 *	dafs_chan_quiesce()	disconnect and drain: there is no completion after it
 *	dafs_requester_abort()	fail the outstanding calls
 *	dafs_chan_destroy()	free, in the reverse order of the set-up
 *
 * If several channels share a protection domain, all of them must be quiesced before any
 * call is failed, because a memory key of one channel is valid on the others.
 */
#include <linux/slab.h>
#include <rdma/ib_cm.h>
#include <rdma/rw.h>
#include "rdma_impl.h"
#include "trace.h"

static atomic_t dafs_chan_ids = ATOMIC_INIT(0);

/* RDMA READs of the server outstanding on a channel */
#define DAFS_MAX_READS		16

static const char * const dafs_close_reasons[] = {
	[DAFS_CLOSE_LOCAL]	= "closed here",
	[DAFS_CLOSE_PEER]	= "closed by the peer",
	[DAFS_CLOSE_CM]		= "connection manager failure",
	[DAFS_CLOSE_QP]		= "queue pair failure",
	[DAFS_CLOSE_DEVICE]	= "device removed",
	[DAFS_CLOSE_TIMEOUT]	= "no response in time",
	[DAFS_CLOSE_PROTOCOL]	= "protocol violation",
	[DAFS_CLOSE_CHECKSUM]	= "checksum mismatch",
	[DAFS_CLOSE_STALE]	= "session unknown to the server",
	[DAFS_CLOSE_LEASE]	= "lease expired",
	[DAFS_CLOSE_CREDIT]	= "no receive posted by the peer",
};

/**
 * dafs_close_reason_name() - text for a close reason
 * @reason: the reason
 *
 * Return: a constant string.
 */
const char *dafs_close_reason_name(enum dafs_close_reason reason)
{
	return dafs_close_reasons[reason];
}

/**
 * dafs_chan_why() - text for the end of a channel
 * @chan: a channel that has failed
 *
 * Return: a constant string: the completion status of a work request that failed, or the
 * name of the close reason.
 */
const char *dafs_chan_why(const struct dafs_chan *chan)
{
	if (chan->reason == DAFS_CLOSE_QP && chan->wc_status)
		return ib_wc_status_msg(chan->wc_status);
	return dafs_close_reason_name(chan->reason);
}
EXPORT_SYMBOL_GPL(dafs_chan_why);

/* The states that may follow each state, as a bit mask. */
static const u8 dafs_chan_next[] = {
	[DAFS_CHAN_NEW]		= BIT(DAFS_CHAN_ADDR) | BIT(DAFS_CHAN_CONNECTING) |
				  BIT(DAFS_CHAN_CLOSING),
	[DAFS_CHAN_ADDR]	= BIT(DAFS_CHAN_ROUTE) | BIT(DAFS_CHAN_CLOSING),
	[DAFS_CHAN_ROUTE]	= BIT(DAFS_CHAN_CONNECTING) | BIT(DAFS_CHAN_CLOSING),
	[DAFS_CHAN_CONNECTING]	= BIT(DAFS_CHAN_OPEN) | BIT(DAFS_CHAN_CLOSING),
	[DAFS_CHAN_OPEN]	= BIT(DAFS_CHAN_CLOSING),
	[DAFS_CHAN_CLOSING]	= BIT(DAFS_CHAN_CLOSED),
	[DAFS_CHAN_CLOSED]	= 0,
};

/* Return: false if @next may not follow; that is not an error, the event came too late. */
static bool dafs_chan_set_state(struct dafs_chan *chan, enum dafs_chan_state next)
{
	lockdep_assert_held(&chan->lock);
	if (!(dafs_chan_next[chan->state] & BIT(next)))
		return false;
	trace_dafs_chan_state(chan, next);
	chan->state = next;
	return true;
}

static bool dafs_chan_advance(struct dafs_chan *chan, enum dafs_chan_state next)
{
	unsigned long flags;
	bool moved;

	spin_lock_irqsave(&chan->lock, flags);
	moved = dafs_chan_set_state(chan, next);
	spin_unlock_irqrestore(&chan->lock, flags);
	return moved;
}

/**
 * dafs_chan_is_open() - may messages be sent?
 * @chan: the channel
 *
 * Context: any.
 * Return: false before it is connected and from the first failure on.
 */
bool dafs_chan_is_open(const struct dafs_chan *chan)
{
	return READ_ONCE(chan->state) == DAFS_CHAN_OPEN;
}
EXPORT_SYMBOL_GPL(dafs_chan_is_open);

/**
 * dafs_chan_opened() - the peer has accepted the connection
 * @chan: the channel; nothing is done if it is open already
 *
 * Called for the connection event and for the first message, which may arrive before it.
 *
 * Context: any.
 */
void dafs_chan_opened(struct dafs_chan *chan)
{
	if (READ_ONCE(chan->state) != DAFS_CHAN_CONNECTING)
		return;
	if (dafs_chan_advance(chan, DAFS_CHAN_OPEN))
		complete(&chan->connected);
}

/**
 * dafs_chan_fail() - start closing a channel
 * @chan: the channel
 * @reason: the reason; that of the first caller is kept
 *
 * Context: any.
 */
void dafs_chan_fail(struct dafs_chan *chan, enum dafs_close_reason reason)
{
	enum dafs_chan_state was;
	unsigned long flags;

	spin_lock_irqsave(&chan->lock, flags);
	was = chan->state;
	if (!dafs_chan_set_state(chan, DAFS_CHAN_CLOSING)) {
		spin_unlock_irqrestore(&chan->lock, flags);
		return;
	}
	chan->reason = reason;
	if (!chan->error)
		chan->error = -ENOTCONN;
	spin_unlock_irqrestore(&chan->lock, flags);

	trace_dafs_close(chan, reason);
	wake_up_all(&chan->mr_wait);
	complete_all(&chan->connected);
	if (reason != DAFS_CLOSE_LOCAL &&
	    (was == DAFS_CHAN_OPEN || (was == DAFS_CHAN_CONNECTING && !chan->active)))
		chan->ops->closed(chan, reason);
}
EXPORT_SYMBOL_GPL(dafs_chan_fail);

static void dafs_chan_connect_failed(struct dafs_chan *chan, int error)
{
	chan->error = error;
	dafs_chan_fail(chan, DAFS_CLOSE_CM);
}

static void dafs_qp_event(struct ib_event *event, void *context)
{
	struct dafs_chan *chan = context;

	trace_dafs_qp_event(chan, event->event);
	if (event->event == IB_EVENT_COMM_EST)
		rdma_notify(chan->id, event->event);
	else if (event->event != IB_EVENT_QP_LAST_WQE_REACHED)
		dafs_chan_fail(chan, DAFS_CLOSE_QP);
}

/* An RDMA operation takes one send queue entry, or three if it needs a memory region. */
static void dafs_chan_derive_rdma(struct dafs_chan *chan, u16 ctxs)
{
	struct ib_device *dev = chan->id->device;
	struct dafs_chan_limits *lim = &chan->limits;

	lim->rdma_wrs = min_t(u32, rdma_rw_max_send_wr(dev, chan->id->port_num, ctxs, 0),
			      dev->attrs.max_qp_wr - 1 - lim->sq);
	lim->rw_mrs = rdma_rw_max_send_wr(dev, chan->id->port_num, 1, 0) > 1 ? ctxs : 0;
}

/*
 * Derive all limits of a connection from the parameters of the owner and the limits of the
 * device.  A request takes one send queue entry, and two more for each memory region; it
 * usually has one region.  There is room for one region in a quarter of the requests, or
 * in sixteen; other requests wait for room.  There is always enough room for one request
 * with the maximum number of regions.  A probe takes one entry, and so does draining the
 * queue at the end.
 */
static int dafs_chan_derive_limits(struct dafs_chan *chan, const struct dafs_chan_params *p)
{
	const struct ib_device_attr *attr = &chan->id->device->attrs;
	struct dafs_chan_limits *lim = &chan->limits;
	u32 per_request = p->mrs ? 3 : 1;
	u32 others = DAFS_SPARE_RQSTS + DAFS_PROBES + (p->mrs ? 2 * DAFS_MEM_MRS : 0) + 1;
	u32 room = attr->max_qp_wr - 1 - others, regions;

	if (p->mrs && !(attr->device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS))
		return -EOPNOTSUPP;
	lim->send_size = max_t(u32, p->send_size, DAFS_FIRST_MSG_SIZE);
	lim->recv_size = max_t(u32, p->recv_size, DAFS_FIRST_MSG_SIZE);
	lim->depth = min_t(u32, p->depth, room / per_request);
	if (!lim->depth)
		return -EOPNOTSUPP;
	regions = p->mrs ? max_t(u32, lim->depth / 4, min_t(u32, lim->depth, 16)) : 0;
	lim->sq = lim->depth + 2 * regions + others;
	lim->rq = lim->depth + 2;
	lim->mrs = p->mrs;
	lim->mr_pages = min_t(u32, attr->max_fast_reg_page_list_len,
			      DAFS_MAX_IO_SIZE / PAGE_SIZE + 1);
	dafs_chan_derive_rdma(chan, p->rdma_ctxs);
	/* only the server reads (E-126), and never on a back-control channel */
	if (chan->active && p->type != DAFS_CHANNEL_BACK_CONTROL)
		lim->responder_resources = min_t(u32, attr->max_qp_rd_atom, DAFS_MAX_READS);
	if (!chan->active && p->rdma_ctxs)
		lim->initiator_depth = min_t(u32, attr->max_qp_init_rd_atom, DAFS_MAX_READS);
	return 0;
}

static int dafs_chan_create_qp(struct dafs_chan *chan)
{
	const struct dafs_chan_limits *lim = &chan->limits;
	struct ib_qp_init_attr attr = {
		.event_handler	= dafs_qp_event,
		.qp_context	= chan,
		.send_cq	= chan->cq,
		.recv_cq	= chan->cq,
		.sq_sig_type	= IB_SIGNAL_REQ_WR,
		.qp_type	= IB_QPT_RC,
		.port_num	= chan->id->port_num,
		.cap = {
			.max_send_wr	= lim->sq + lim->rdma_wrs,
			.max_recv_wr	= lim->rq,
			.max_send_sge	= max_t(u32, 1,
					min_t(u32, chan->id->device->attrs.max_send_sge,
					      lim->rdma_wrs ? 16 : 1)),
			.max_recv_sge	= 1,
		},
	};
	int err;

	err = dafs_qp_create(chan, &attr);
	if (err || !lim->mrs)
		return err;
	err = dafs_mrs_init(chan);
	if (err)
		dafs_qp_destroy(chan);
	return err;
}

/* An entry for each send queue entry, those of rdma_rw included, and for each receive. */
static int dafs_chan_cq_size(const struct dafs_chan *chan)
{
	const struct dafs_chan_limits *lim = &chan->limits;

	return min_t(u32, lim->sq + lim->rdma_wrs + lim->rq + 2,
		     chan->id->device->attrs.max_cqe);
}

static int dafs_chan_setup(struct dafs_chan *chan, const struct dafs_chan_params *p)
{
	struct ib_device *dev = chan->id->device;
	int err;

	err = dafs_chan_derive_limits(chan, p);
	if (err)
		return err;
	if (p->pd && p->pd->device != dev)
		return -EXDEV;
	chan->pd = p->pd;
	if (!chan->pd) {
		chan->pd = ib_alloc_pd(dev, 0);
		if (IS_ERR(chan->pd)) {
			err = PTR_ERR(chan->pd);
			goto no_pd;
		}
		chan->own_pd = true;
	}
	chan->cq = ib_alloc_cq_any(dev, chan, dafs_chan_cq_size(chan), IB_POLL_SOFTIRQ);
	if (IS_ERR(chan->cq)) {
		err = PTR_ERR(chan->cq);
		goto no_cq;
	}
	err = dafs_chan_create_qp(chan);
	if (err)
		goto free_cq;
	return 0;

free_cq:
	ib_free_cq(chan->cq);
no_cq:
	chan->cq = NULL;
	if (chan->own_pd)
		ib_dealloc_pd(chan->pd);
no_pd:
	chan->pd = NULL;
	chan->own_pd = false;
	return err;
}

static void dafs_chan_teardown(struct dafs_chan *chan)
{
	if (!chan->cq)
		return;
	if (chan->limits.mrs)
		dafs_mrs_exit(chan);
	dafs_qp_destroy(chan);
	ib_free_cq(chan->cq);
	dafs_chan_free_msgs(chan);
	if (chan->own_pd)
		ib_dealloc_pd(chan->pd);
}

static int dafs_chan_send_req(struct dafs_chan *chan)
{
	struct dafs_wire_discriminator disc = {
		.magic = (__force dafs_w32)(chan->swab ? swab32(DAFS_REQUEST_MAGIC) :
					    DAFS_REQUEST_MAGIC),
		.channel_type = (__force dafs_w32)(chan->swab ? swab32(chan->type) :
						   chan->type),
	};
	struct rdma_conn_param param = {
		.private_data = &disc,
		.private_data_len = sizeof(disc),
		.responder_resources = chan->limits.responder_resources,
		.initiator_depth = chan->limits.initiator_depth,
		.retry_count = DAFS_QP_RETRIES,
		.rnr_retry_count = DAFS_QP_RNR_RETRIES,
		.qp_num = chan->qp->qp_num,
	};

	memcpy(disc.client_instance, chan->instance, sizeof(disc.client_instance));
	memcpy(disc.client_session, chan->session, sizeof(disc.client_session));
	if (!dafs_chan_advance(chan, DAFS_CHAN_CONNECTING))
		return chan->error;
	return rdma_connect(chan->id, &param);
}

static void dafs_chan_resolved(struct dafs_chan *chan)
{
	int err;

	if (!dafs_chan_advance(chan, DAFS_CHAN_ROUTE))
		return;
	err = rdma_resolve_route(chan->id, 5000);
	if (err)
		dafs_chan_connect_failed(chan, err);
}

/* The server has accepted; nothing is sent before this. */
static void dafs_chan_response(struct dafs_chan *chan, const struct rdma_conn_param *conn)
{
	struct dafs_chan_limits *lim = &chan->limits;
	int err;

	lim->responder_resources = min(lim->responder_resources, conn->responder_resources);
	err = dafs_qp_connect(chan);
	if (!err)
		err = rdma_accept(chan->id, NULL);
	if (err)
		dafs_chan_connect_failed(chan, err);
	else
		dafs_chan_opened(chan);
}

/* Handles each event of the connection manager explicitly. */
static int dafs_cm_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct dafs_chan *chan = id->context;

	trace_dafs_cm_event(chan, event);
	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		dafs_chan_resolved(chan);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		complete(&chan->connected);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
		dafs_chan_connect_failed(chan, event->status ?: -EHOSTUNREACH);
		break;
	case RDMA_CM_EVENT_CONNECT_ERROR:
		dafs_chan_connect_failed(chan, event->status < 0 ? event->status : -ENOTCONN);
		break;
	case RDMA_CM_EVENT_UNREACHABLE:
		dafs_chan_connect_failed(chan, -EHOSTUNREACH);
		break;
	case RDMA_CM_EVENT_REJECTED:
		/* the server listens, but has no memory or no room for a connection */
		dafs_chan_connect_failed(chan, event->status == IB_CM_REJ_CONSUMER_DEFINED ?
					 -ENOMEM : -ECONNREFUSED);
		break;
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		dafs_chan_response(chan, &event->param.conn);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		dafs_chan_opened(chan);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		dafs_chan_fail(chan, DAFS_CLOSE_PEER);
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		dafs_chan_fail(chan, DAFS_CLOSE_DEVICE);
		break;
	case RDMA_CM_EVENT_ADDR_CHANGE:
		dafs_chan_fail(chan, DAFS_CLOSE_CM);
		break;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
	case RDMA_CM_EVENT_MULTICAST_JOIN:
	case RDMA_CM_EVENT_MULTICAST_ERROR:
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		break;
	}
	return 0;
}

static struct dafs_chan *dafs_chan_alloc(const struct dafs_chan_params *p)
{
	struct dafs_chan *chan = kzalloc(sizeof(*chan), GFP_KERNEL);

	if (!chan)
		return NULL;
	chan->ops = p->ops;
	chan->priv = p->priv;
	chan->type = p->type;
	chan->swab = p->swab;
	memcpy(chan->instance, p->instance, sizeof(chan->instance));
	memcpy(chan->session, p->session, sizeof(chan->session));
	chan->debug_id = atomic_inc_return(&dafs_chan_ids);
	spin_lock_init(&chan->lock);
	init_completion(&chan->connected);
	spin_lock_init(&chan->mr_lock);
	INIT_LIST_HEAD(&chan->mrs);
	init_waitqueue_head(&chan->mr_wait);
	INIT_LIST_HEAD(&chan->msgs);
	INIT_LIST_HEAD(&chan->refused);
	return chan;
}

/* Waits for one step of connecting; the next one may reuse the completion. */
static int dafs_chan_wait(struct dafs_chan *chan, unsigned int timeout_ms)
{
	long left;

	left = wait_for_completion_killable_timeout(&chan->connected,
						    msecs_to_jiffies(timeout_ms));
	if (left < 0)
		return left;
	if (!left)
		return -ETIMEDOUT;
	/* a later failure completes it again */
	reinit_completion(&chan->connected);
	return READ_ONCE(chan->state) >= DAFS_CHAN_CLOSING ? chan->error : 0;
}

static int dafs_chan_resolve(struct dafs_chan *chan, struct sockaddr *dst,
			     struct sockaddr *src, unsigned int timeout_ms)
{
	int err;

	if (!dafs_chan_advance(chan, DAFS_CHAN_ADDR))
		return -ENOTCONN;
	if (src && src->sa_family == AF_UNSPEC)
		src = NULL;
	err = rdma_resolve_addr(chan->id, src, dst, timeout_ms);
	return err ?: dafs_chan_wait(chan, 2 * timeout_ms);
}

static int dafs_chan_establish(struct dafs_chan *chan, unsigned int timeout_ms)
{
	int err;

	err = dafs_chan_post_recvs(chan, 1);
	if (!err)
		err = dafs_chan_send_req(chan);
	return err ?: dafs_chan_wait(chan, timeout_ms);
}

/**
 * dafs_chan_connect() - connect to a server
 * @params: parameters of the channel
 * @dst: address of the server
 * @src: local address, or NULL
 * @timeout_ms: timeout of each step: address and route, connection
 *
 * One receive is posted before the connection is made (E-132).  The channel's
 * ->closed() may be called before this function returns.
 *
 * Context: may sleep; a fatal signal ends it.
 * Return: the channel, open, or an ERR_PTR: -EHOSTUNREACH no route,
 * -ENODEV no RDMA device there, -ECONNREFUSED no server listens, -ETIMEDOUT,
 * -EXDEV not the device of @params->pd, -EOPNOTSUPP the device lacks fast
 * registration, -ENOMEM here or refused by the server, -ERESTARTSYS.
 */
struct dafs_chan *dafs_chan_connect(const struct dafs_chan_params *params,
				    struct sockaddr *dst, struct sockaddr *src,
				    unsigned int timeout_ms)
{
	struct dafs_chan *chan;
	int err;

	chan = dafs_chan_alloc(params);
	if (!chan)
		return ERR_PTR(-ENOMEM);
	chan->active = true;
	chan->order_known = true;
	memcpy(&chan->peer, dst, dst->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) :
						     sizeof(struct sockaddr_in));
	chan->id = rdma_create_id(params->net, dafs_cm_event, chan, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(chan->id)) {
		err = PTR_ERR(chan->id);
		kfree(chan);
		return ERR_PTR(err);
	}
	chan->own_id = true;
	err = dafs_chan_resolve(chan, dst, src, timeout_ms);
	if (!err)
		err = dafs_chan_setup(chan, params);
	if (!err)
		err = dafs_chan_establish(chan, timeout_ms);
	if (err) {
		dafs_chan_destroy(chan);
		return ERR_PTR(err);
	}
	trace_dafs_connect(chan);
	return chan;
}
EXPORT_SYMBOL_GPL(dafs_chan_connect);

/**
 * dafs_chan_type_of() - the channel type that a connecting peer has announced
 * @conn: parameters of the connection request
 *
 * The type is a hint: without it the first message decides (E-122).
 *
 * Return: DAFS_CHANNEL_*, or another value that the peer has sent, or 0 for none.
 */
u32 dafs_chan_type_of(const struct rdma_conn_param *conn)
{
	const struct dafs_wire_discriminator *disc = conn->private_data;
	u32 magic, type;

	if (!disc || conn->private_data_len < sizeof(*disc))
		return 0;
	magic = (__force u32)disc->magic;
	type = (__force u32)disc->channel_type;
	if (magic == swab32(DAFS_REQUEST_MAGIC))
		return swab32(type);
	return magic == DAFS_REQUEST_MAGIC ? type : 0;
}
EXPORT_SYMBOL_GPL(dafs_chan_type_of);

static void dafs_chan_read_discriminator(struct dafs_chan *chan,
					 const struct rdma_conn_param *conn)
{
	const struct dafs_wire_discriminator *disc = conn->private_data;

	chan->peer_type = dafs_chan_type_of(conn);
	if (!chan->peer_type)
		return;
	memcpy(chan->instance, disc->client_instance, sizeof(chan->instance));
	memcpy(chan->session, disc->client_session, sizeof(chan->session));
}

/**
 * dafs_chan_accept_prepare() - make a channel for a connection request
 * @params: parameters of the channel
 * @id: from struct dafs_listener's accept()
 * @conn: from struct dafs_listener's accept()
 *
 * Context: rdma_cm event handler; may sleep.
 * Return: the channel, or an ERR_PTR as dafs_chan_connect()'s.
 */
struct dafs_chan *dafs_chan_accept_prepare(const struct dafs_chan_params *params,
					   struct rdma_cm_id *id,
					   const struct rdma_conn_param *conn)
{
	struct dafs_chan *chan;
	int err;

	chan = dafs_chan_alloc(params);
	if (!chan)
		return ERR_PTR(-ENOMEM);
	chan->id = id;
	dafs_chan_read_discriminator(chan, conn);
	memcpy(&chan->peer, &id->route.addr.dst_addr, sizeof(chan->peer));
	err = dafs_chan_setup(chan, params);
	if (err) {
		kfree(chan);
		return ERR_PTR(err);
	}
	/* rdma_cm has swapped the two values, so that they are from the view of this side */
	chan->limits.initiator_depth = min(chan->limits.initiator_depth,
					   conn->initiator_depth);
	return chan;
}
EXPORT_SYMBOL_GPL(dafs_chan_accept_prepare);

/**
 * dafs_chan_accept() - accept the connection
 * @chan: from dafs_chan_accept_prepare(), with its first receive posted
 *
 * After success the channel owns the rdma_cm identifier.  The channel may fail at any
 * time, also before this function returns; then ->closed() is called.
 *
 * Context: rdma_cm event handler; may sleep.
 * Return: 0; or -ENOTCONN if it failed before, without ->closed(): the caller
 * destroys it and returns an error to rdma_cm, which destroys the identifier.
 */
int dafs_chan_accept(struct dafs_chan *chan)
{
	struct rdma_conn_param param = {
		.responder_resources = chan->limits.responder_resources,
		.initiator_depth = chan->limits.initiator_depth,
		.retry_count = DAFS_QP_RETRIES,
		.rnr_retry_count = DAFS_QP_RNR_RETRIES,
		.qp_num = chan->qp->qp_num,
	};

	if (!dafs_chan_advance(chan, DAFS_CHAN_CONNECTING))
		return -ENOTCONN;
	chan->id->context = chan;
	chan->id->event_handler = dafs_cm_event;
	chan->own_id = true;
	trace_dafs_connect(chan);
	if (dafs_qp_connect(chan) || rdma_accept(chan->id, &param))
		dafs_chan_fail(chan, DAFS_CLOSE_CM);
	return 0;
}
EXPORT_SYMBOL_GPL(dafs_chan_accept);

/**
 * dafs_chan_quiesce() - disconnect and wait until the hardware has finished
 * @chan: the channel
 *
 * After this no completion of the channel runs, and the peer cannot access memory through
 * it.
 *
 * Context: may sleep; not in an rdma_cm event handler or a completion.
 */
void dafs_chan_quiesce(struct dafs_chan *chan)
{
	dafs_chan_fail(chan, DAFS_CLOSE_LOCAL);
	if (!chan->cq || READ_ONCE(chan->state) == DAFS_CHAN_CLOSED)
		return;
	if (chan->own_id) {
		dafs_qp_stop(chan);
		rdma_disconnect(chan->id);
		ib_drain_qp(chan->qp);
		dafs_chan_end_refused(chan);
	}
	dafs_chan_advance(chan, DAFS_CHAN_CLOSED);
}
EXPORT_SYMBOL_GPL(dafs_chan_quiesce);

/**
 * dafs_chan_destroy() - end a channel
 * @chan: the channel; its requester and responder have been destroyed
 *
 * Context: may sleep; not in a completion.  In an rdma_cm event handler only
 * if dafs_chan_accept() did not succeed.
 */
void dafs_chan_destroy(struct dafs_chan *chan)
{
	dafs_chan_quiesce(chan);
	dafs_chan_teardown(chan);
	if (chan->own_id)
		rdma_destroy_id(chan->id);
	kfree(chan);
}
EXPORT_SYMBOL_GPL(dafs_chan_destroy);

static int dafs_listen_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct dafs_listener *listener = id->context;

	if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST)
		return 0;
	return listener->accept(listener, id, &event->param.conn);
}

/**
 * dafs_listen() - wait for connections
 * @listener: with accept and priv set
 * @net: network namespace
 * @addr: address and port; the port of service 0x0000000001060000 (E-123)
 *
 * Context: may sleep.
 * Return: 0 or a negative errno, -EADDRINUSE among them.
 */
int dafs_listen(struct dafs_listener *listener, struct net *net, struct sockaddr *addr)
{
	struct rdma_cm_id *id;
	int err;

	id = rdma_create_id(net, dafs_listen_event, listener, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	err = rdma_set_afonly(id, 1);
	if (!err)
		err = rdma_bind_addr(id, addr);
	if (!err)
		err = rdma_listen(id, 128);
	if (err) {
		rdma_destroy_id(id);
		return err;
	}
	listener->id = id;
	return 0;
}
EXPORT_SYMBOL_GPL(dafs_listen);

/**
 * dafs_unlisten() - stop listening
 * @listener: the listener, which need not have listened
 *
 * Context: may sleep.  No accept() runs after this returns.
 */
void dafs_unlisten(struct dafs_listener *listener)
{
	if (listener->id)
		rdma_destroy_id(listener->id);
	listener->id = NULL;
}
EXPORT_SYMBOL_GPL(dafs_unlisten);
