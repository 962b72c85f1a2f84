// SPDX-License-Identifier: GPL-2.0
/*
 * Bare verbs between two queue pairs of this machine, connected by rdma_cm and
 * with completions in softirq, as those of a channel are.
 *
 * The near end has @depth slots.  The completion of what a slot does starts
 * the slot's next operation, until the time is up.  The memory of the far end
 * is open to the near one all the time: a floor has no registration in it.
 */
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>
#include "floor.h"

#define FLOOR_ASK	64	/* bytes of the message that requests another */
#define FLOOR_SIGNAL	16	/* one in so many sends has its completion signalled */

/**
 * struct floor_slot - memory for one operation at a time, at either end
 * @cqe: completion of a receive into it, or of an RDMA operation
 * @end: where it is
 * @memory: of the size of an operation, and behind that of FLOOR_ASK bytes
 * @data: the one part
 * @ask: the other
 */
struct floor_slot {
	struct ib_cqe cqe;
	struct floor_end *end;
	void *memory;
	struct ib_sge data;
	struct ib_sge ask;
};

/**
 * struct floor_end - one end of the connection
 * @link: the connection
 * @id: its identifier; owns the queue pair
 * @pd: protection domain
 * @cq: completions
 * @sent: completion of a send
 * @sends: counts them, to know which to signal; tasks and completions do
 * @slots: as many as operations at a time
 */
struct floor_end {
	struct floor_link *link;
	struct rdma_cm_id *id;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_cqe sent;
	atomic_t sends;
	struct floor_slot *slots;
};

/**
 * struct floor_link - a connection of this machine with itself
 * @job: the measurement
 * @listener: accepts the far end
 * @near: does the operations
 * @far: target of the operations, and answers
 * @step: a step of connecting has ended
 * @over: the last operation has ended
 * @error: the first negative errno
 * @until: when to stop
 * @active: slots of the near end that have not stopped; used only by its completions
 */
struct floor_link {
	struct floor_job *job;
	struct rdma_cm_id *listener;
	struct floor_end near;
	struct floor_end far;
	struct completion step;
	struct completion over;
	int error;
	ktime_t until;
	unsigned int active;
};

static void floor_fail(struct floor_link *link, int error)
{
	cmpxchg(&link->error, 0, error);
	complete(&link->step);
	complete(&link->over);
}

static bool floor_failed(struct floor_end *end, const struct ib_wc *wc)
{
	if (wc->status == IB_WC_SUCCESS)
		return false;
	floor_fail(end->link, -EIO);
	return true;
}

static int floor_post_recv(struct floor_slot *slot, struct ib_sge *sge)
{
	struct ib_recv_wr wr = {
		.wr_cqe = &slot->cqe,
		.sg_list = sge,
		.num_sge = 1,
	};

	return ib_post_recv(slot->end->id->qp, &wr, NULL);
}

static int floor_post_send(struct floor_end *end, struct ib_sge *sge)
{
	struct ib_send_wr wr = {
		.wr_cqe = &end->sent,
		.sg_list = sge,
		.num_sge = 1,
		.opcode = IB_WR_SEND,
		.send_flags = atomic_inc_return(&end->sends) % FLOOR_SIGNAL ?
			      0 : IB_SEND_SIGNALED,
	};

	return ib_post_send(end->id->qp, &wr, NULL);
}

static void floor_sent(struct ib_cq *cq, struct ib_wc *wc)
{
	floor_failed(container_of(wc->wr_cqe, struct floor_end, sent), wc);
}

static int floor_post_rdma(struct floor_slot *slot, enum ib_wr_opcode opcode)
{
	struct floor_end *far = &slot->end->link->far;
	struct ib_rdma_wr wr = {
		.wr = {
			.wr_cqe = &slot->cqe,
			.sg_list = &slot->data,
			.num_sge = 1,
			.opcode = opcode,
			.send_flags = IB_SEND_SIGNALED,
		},
		.remote_addr = far->slots[slot - slot->end->slots].data.addr,
		.rkey = far->pd->unsafe_global_rkey,
	};

	return ib_post_send(slot->end->id->qp, &wr.wr, NULL);
}

static int floor_start(struct floor_slot *slot)
{
	switch (slot->end->link->job->op) {
	case FLOOR_READ:
		return floor_post_rdma(slot, IB_WR_RDMA_READ);
	case FLOOR_WRITE:
		return floor_post_rdma(slot, IB_WR_RDMA_WRITE);
	default:
		return floor_post_send(slot->end, &slot->ask);
	}
}

/* An operation of this slot of the near end is done. */
static void floor_next(struct floor_slot *slot)
{
	struct floor_link *link = slot->end->link;
	int err;

	link->job->done++;
	if (ktime_after(ktime_get(), link->until)) {
		if (!--link->active)
			complete(&link->over);
		return;
	}
	err = floor_start(slot);
	if (err)
		floor_fail(link, err);
}

static void floor_rdma_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct floor_slot *slot = container_of(wc->wr_cqe, struct floor_slot, cqe);

	if (!floor_failed(slot->end, wc))
		floor_next(slot);
}

static void floor_answered(struct ib_cq *cq, struct ib_wc *wc)
{
	struct floor_slot *slot = container_of(wc->wr_cqe, struct floor_slot, cqe);
	int err;

	if (floor_failed(slot->end, wc))
		return;
	err = floor_post_recv(slot, &slot->data);
	if (err)
		floor_fail(slot->end->link, err);
	else
		floor_next(slot);
}

static void floor_asked(struct ib_cq *cq, struct ib_wc *wc)
{
	struct floor_slot *slot = container_of(wc->wr_cqe, struct floor_slot, cqe);
	int err;

	if (floor_failed(slot->end, wc))
		return;
	err = floor_post_recv(slot, &slot->ask);
	if (!err)
		err = floor_post_send(slot->end, &slot->data);
	if (err)
		floor_fail(slot->end->link, err);
}

static int floor_slot_setup(struct floor_slot *slot, struct floor_end *end)
{
	struct ib_device *dev = end->id->device;
	u32 size = end->link->job->size;
	u64 addr;

	slot->end = end;
	slot->memory = alloc_pages_exact(size + FLOOR_ASK, GFP_KERNEL);
	if (!slot->memory)
		return -ENOMEM;
	addr = ib_dma_map_single(dev, slot->memory, size + FLOOR_ASK, DMA_BIDIRECTIONAL);
	if (ib_dma_mapping_error(dev, addr)) {
		free_pages_exact(slot->memory, size + FLOOR_ASK);
		slot->memory = NULL;
		return -EIO;
	}
	slot->data = (struct ib_sge) {
		.addr = addr,
		.length = size,
		.lkey = end->pd->local_dma_lkey,
	};
	slot->ask = (struct ib_sge) {
		.addr = addr + size,
		.length = FLOOR_ASK,
		.lkey = end->pd->local_dma_lkey,
	};
	return 0;
}

static void floor_slots_free(struct floor_end *end)
{
	const struct floor_job *job = end->link->job;
	u32 size = job->size + FLOOR_ASK;
	unsigned int i;

	for (i = 0; i < job->depth && end->slots[i].memory; i++) {
		ib_dma_unmap_single(end->id->device, end->slots[i].data.addr, size,
				    DMA_BIDIRECTIONAL);
		free_pages_exact(end->slots[i].memory, size);
	}
	kfree(end->slots);
}

static int floor_slots_alloc(struct floor_end *end)
{
	unsigned int depth = end->link->job->depth, i;
	int err = 0;

	end->slots = kcalloc(depth, sizeof(*end->slots), GFP_KERNEL);
	if (!end->slots)
		return -ENOMEM;
	for (i = 0; i < depth && !err; i++)
		err = floor_slot_setup(&end->slots[i], end);
	if (err)
		floor_slots_free(end);
	return err;
}

/* Sends that are not signalled keep their entries until one that is completes. */
static int floor_create_qp(struct floor_end *end)
{
	u32 depth = end->link->job->depth;
	struct ib_qp_init_attr attr = {
		.send_cq	= end->cq,
		.recv_cq	= end->cq,
		.sq_sig_type	= IB_SIGNAL_REQ_WR,
		.qp_type	= IB_QPT_RC,
		.port_num	= end->id->port_num,
		.cap = {
			.max_send_wr	= depth + 2 * FLOOR_SIGNAL + 1,
			.max_recv_wr	= depth + 1,
			.max_send_sge	= 1,
			.max_recv_sge	= 1,
		},
	};

	return rdma_create_qp(end->id, end->pd, &attr);
}

static int floor_end_setup(struct floor_end *end, struct floor_link *link, struct rdma_cm_id *id)
{
	int cqes = 2 * (link->job->depth + FLOOR_SIGNAL + 1);
	int err;

	end->link = link;
	end->id = id;
	end->sent.done = floor_sent;
	end->pd = ib_alloc_pd(id->device, IB_PD_UNSAFE_GLOBAL_RKEY);
	if (IS_ERR(end->pd)) {
		err = PTR_ERR(end->pd);
		goto no_pd;
	}
	end->cq = ib_alloc_cq_any(id->device, end, cqes, IB_POLL_SOFTIRQ);
	if (IS_ERR(end->cq)) {
		err = PTR_ERR(end->cq);
		goto dealloc_pd;
	}
	err = floor_slots_alloc(end);
	if (err)
		goto free_cq;
	err = floor_create_qp(end);
	if (err)
		goto free_slots;
	return 0;

free_slots:
	floor_slots_free(end);
free_cq:
	ib_free_cq(end->cq);
dealloc_pd:
	ib_dealloc_pd(end->pd);
no_pd:
	end->pd = NULL;
	return err;
}

static void floor_end_teardown(struct floor_end *end)
{
	rdma_destroy_qp(end->id);
	floor_slots_free(end);
	ib_free_cq(end->cq);
	ib_dealloc_pd(end->pd);
	end->pd = NULL;
}

/* Receives are posted before a message can arrive. */
static int floor_post_recvs(struct floor_end *end)
{
	bool near = end == &end->link->near;
	unsigned int i;
	int err = 0;

	if (end->link->job->op != FLOOR_PINGPONG)
		return 0;
	for (i = 0; i < end->link->job->depth && !err; i++) {
		struct floor_slot *slot = &end->slots[i];

		slot->cqe.done = near ? floor_answered : floor_asked;
		err = floor_post_recv(slot, near ? &slot->data : &slot->ask);
	}
	return err;
}

static void floor_conn_param(const struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	const struct ib_device_attr *attrs = &id->device->attrs;

	*param = (struct rdma_conn_param) {
		.responder_resources = min_t(u32, attrs->max_qp_rd_atom, U8_MAX),
		.initiator_depth = min_t(u32, attrs->max_qp_init_rd_atom, U8_MAX),
		.retry_count = 7,
		.rnr_retry_count = 7,
	};
}

/* The identifier is the far end's from success on, otherwise rdma_cm's. */
static int floor_accept(struct floor_link *link, struct rdma_cm_id *id)
{
	struct rdma_conn_param param;
	int err;

	if (link->far.id)
		return -EBUSY;
	err = floor_end_setup(&link->far, link, id);
	if (err)
		goto forget_id;
	floor_conn_param(id, &param);
	err = floor_post_recvs(&link->far);
	if (!err)
		err = rdma_accept(id, &param);
	if (err)
		goto teardown;
	return 0;

teardown:
	floor_end_teardown(&link->far);
forget_id:
	link->far.id = NULL;
	return err;
}

static int floor_cm_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct floor_link *link = id->context;
	int err;

	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return floor_accept(link, id);
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		err = rdma_resolve_route(id, FLOOR_CM_MS);
		if (err)
			floor_fail(link, err);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		complete(&link->step);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		if (id == link->near.id)
			complete(&link->step);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_REJECTED:
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		floor_fail(link, -ENOTCONN);
		break;
	default:
		break;
	}
	return 0;
}

static int floor_listen(struct floor_link *link, struct sockaddr *addr)
{
	int err;

	link->listener = rdma_create_id(&init_net, floor_cm_event, link, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(link->listener))
		return PTR_ERR(link->listener);
	err = rdma_bind_addr(link->listener, addr);
	if (!err)
		err = rdma_listen(link->listener, 1);
	if (err)
		rdma_destroy_id(link->listener);
	return err;
}

static int floor_step(struct floor_link *link)
{
	if (!wait_for_completion_timeout(&link->step, msecs_to_jiffies(2 * FLOOR_CM_MS)))
		return -ETIMEDOUT;
	return READ_ONCE(link->error);
}

/* Connects to the listener's address, whose port is known. */
static int floor_connect(struct floor_link *link)
{
	struct sockaddr *addr = (struct sockaddr *)&link->listener->route.addr.src_addr;
	struct rdma_conn_param param;
	int err;

	err = rdma_resolve_addr(link->near.id, NULL, addr, FLOOR_CM_MS);
	if (!err)
		err = floor_step(link);
	if (!err)
		err = floor_end_setup(&link->near, link, link->near.id);
	if (!err)
		err = floor_post_recvs(&link->near);
	if (err)
		return err;
	floor_conn_param(link->near.id, &param);
	err = rdma_connect(link->near.id, &param);
	return err ?: floor_step(link);
}

static int floor_measure(struct floor_link *link)
{
	struct floor_job *job = link->job;
	ktime_t begin = ktime_get();
	unsigned int i;
	int err = 0;

	link->until = ktime_add_ms(begin, job->ms);
	link->active = job->depth;
	for (i = 0; i < job->depth && !err; i++) {
		if (job->op != FLOOR_PINGPONG)
			link->near.slots[i].cqe.done = floor_rdma_done;
		err = floor_start(&link->near.slots[i]);
	}
	if (err)
		return err;
	err = wait_for_completion_killable(&link->over);
	job->ns = ktime_to_ns(ktime_sub(ktime_get(), begin));
	return err ?: READ_ONCE(link->error);
}

/* Both ends are quiet before the memory of either goes. */
static void floor_disconnect(struct floor_link *link)
{
	struct floor_end *ends[] = { &link->near, &link->far };
	unsigned int i;

	/* no far end is accepted any more */
	rdma_destroy_id(link->listener);
	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		if (!ends[i]->pd)
			continue;
		rdma_disconnect(ends[i]->id);
		ib_drain_qp(ends[i]->id->qp);
	}
	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		if (ends[i]->pd)
			floor_end_teardown(ends[i]);
		if (ends[i]->id)
			rdma_destroy_id(ends[i]->id);
	}
}

/**
 * floor_verbs_run() - measure an operation of the transport
 * @job: which, and how; filled with the result
 * @addr: address of this machine's device, port 0
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int floor_verbs_run(struct floor_job *job, struct sockaddr *addr)
{
	struct floor_link *link;
	struct rdma_cm_id *id;
	int err;

	link = kzalloc(sizeof(*link), GFP_KERNEL);
	if (!link)
		return -ENOMEM;
	link->job = job;
	init_completion(&link->step);
	init_completion(&link->over);
	err = floor_listen(link, addr);
	if (err)
		goto free;
	id = rdma_create_id(&init_net, floor_cm_event, link, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id)) {
		err = PTR_ERR(id);
		goto disconnect;
	}
	link->near.id = id;
	err = floor_connect(link);
	if (!err)
		err = floor_measure(link);
disconnect:
	floor_disconnect(link);
free:
	kfree(link);
	return err;
}
