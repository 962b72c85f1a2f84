// SPDX-License-Identifier: GPL-2.0
/* See raw.h. */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include "../../../../drivers/dafsd/session/client.h"
#include "../../../../drivers/dafsd/session/server.h"
#include "raw.h"

#define RAW_FIRST_PORT	20100

/**
 * struct raw_recv - a receive buffer
 * @cqe: its completion
 * @conn: its connection
 * @data: the bytes
 * @addr: their DMA address
 */
struct raw_recv {
	struct ib_cqe cqe;
	struct raw_conn *conn;
	void *data;
	u64 addr;
};

/* The connection, from both sides. */

static void raw_gone(struct raw_conn *conn)
{
	unsigned long flags;

	spin_lock_irqsave(&conn->lock, flags);
	conn->closed = true;
	spin_unlock_irqrestore(&conn->lock, flags);
	wake_up_all(&conn->wait);
}

static void raw_step(struct raw_conn *conn, int error)
{
	conn->error = error;
	complete(&conn->step);
}

static int raw_cm_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct raw_conn *conn = id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
	case RDMA_CM_EVENT_ESTABLISHED:
		raw_step(conn, 0);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		/* what arrived earlier is delivered; then the receives are flushed */
		rdma_disconnect(id);
		if (conn->hold)
			raw_gone(conn);
		break;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		break;
	default:
		raw_gone(conn);
		raw_step(conn, event->status ?: -ECONNREFUSED);
	}
	return 0;
}

/* Requests to a server go to its work item, all other messages wait for raw_recv(). */
static void raw_deliver(struct raw_conn *conn, struct raw_msg *msg)
{
	struct list_head *list = &conn->msgs;
	unsigned long flags;
	bool swab;

	if (conn->srv &&
	    !dafs_probe_order(msg->data, msg->len, DAFS_REQUEST_MAGIC, &swab)) {
		conn->swab = swab;
		list = &conn->requests;
	}
	spin_lock_irqsave(&conn->lock, flags);
	list_add_tail(&msg->link, list);
	spin_unlock_irqrestore(&conn->lock, flags);
	if (conn->srv)
		queue_work(system_unbound_wq, &conn->serve);
	wake_up_all(&conn->wait);
}

static int raw_post_recv(struct raw_recv *recv)
{
	struct ib_sge sge = {
		.addr = recv->addr,
		.length = RAW_RECV_SIZE,
		.lkey = recv->conn->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = { .wr_cqe = &recv->cqe, .sg_list = &sge, .num_sge = 1 };

	return ib_post_recv(recv->conn->id->qp, &wr, NULL);
}

static void raw_repost(struct raw_recv *recv)
{
	struct raw_conn *conn = recv->conn;
	unsigned long flags;
	bool hold;

	spin_lock_irqsave(&conn->lock, flags);
	hold = conn->hold;
	if (hold)
		__set_bit(recv - conn->recvs, conn->held);
	spin_unlock_irqrestore(&conn->lock, flags);
	if (!hold)
		raw_post_recv(recv);
}

void raw_release(struct raw_conn *conn)
{
	DECLARE_BITMAP(held, RAW_RECVS);
	unsigned long flags;
	unsigned int i;

	spin_lock_irqsave(&conn->lock, flags);
	conn->hold = false;
	bitmap_copy(held, conn->held, RAW_RECVS);
	bitmap_zero(conn->held, RAW_RECVS);
	spin_unlock_irqrestore(&conn->lock, flags);
	for_each_set_bit(i, held, RAW_RECVS)
		raw_post_recv(&conn->recvs[i]);
}

static void raw_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct raw_recv *recv = container_of(wc->wr_cqe, struct raw_recv, cqe);
	struct raw_conn *conn = recv->conn;
	struct raw_msg *msg;

	if (wc->status != IB_WC_SUCCESS) {
		raw_gone(conn);
		return;
	}
	msg = kmalloc(struct_size(msg, data, wc->byte_len), GFP_KERNEL);
	if (msg) {
		msg->len = wc->byte_len;
		memcpy(msg->data, recv->data, msg->len);
	}
	raw_repost(recv);
	if (msg)
		raw_deliver(conn, msg);
}

static void raw_send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct raw_conn *conn = container_of(wc->wr_cqe, struct raw_conn, send_cqe);

	conn->send_status = wc->status;
	if (wc->status != IB_WC_SUCCESS)
		raw_gone(conn);
	complete(&conn->sent);
}

static int raw_alloc_bufs(struct raw_conn *conn)
{
	struct ib_device *dev = conn->id->device;
	unsigned int i;

	conn->send = kzalloc(RAW_RECV_SIZE, GFP_KERNEL);
	conn->recvs = kcalloc(RAW_RECVS, sizeof(*conn->recvs), GFP_KERNEL);
	if (!conn->send || !conn->recvs)
		return -ENOMEM;
	conn->send_addr = ib_dma_map_single(dev, conn->send, RAW_RECV_SIZE, DMA_TO_DEVICE);
	for (i = 0; i < RAW_RECVS; i++) {
		struct raw_recv *recv = &conn->recvs[i];

		recv->cqe.done = raw_recv_done;
		recv->conn = conn;
		recv->data = kmalloc(RAW_RECV_SIZE, GFP_KERNEL);
		if (!recv->data)
			return -ENOMEM;
		recv->addr = ib_dma_map_single(dev, recv->data, RAW_RECV_SIZE, DMA_FROM_DEVICE);
	}
	return 0;
}

static void raw_free_bufs(struct raw_conn *conn)
{
	struct ib_device *dev = conn->id->device;
	unsigned int i;

	for (i = 0; conn->recvs && i < RAW_RECVS; i++) {
		struct raw_recv *recv = &conn->recvs[i];

		if (recv->addr)
			ib_dma_unmap_single(dev, recv->addr, RAW_RECV_SIZE, DMA_FROM_DEVICE);
		kfree(recv->data);
	}
	kfree(conn->recvs);
	if (conn->send_addr)
		ib_dma_unmap_single(dev, conn->send_addr, RAW_RECV_SIZE, DMA_TO_DEVICE);
	kfree(conn->send);
}

static int raw_setup(struct raw_conn *conn)
{
	struct ib_qp_init_attr attr = {
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
		.cap = {
			.max_send_wr = 4,
			.max_recv_wr = RAW_RECVS + 2,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
	};
	unsigned int i;
	int err;

	conn->pd = ib_alloc_pd(conn->id->device, 0);
	if (IS_ERR(conn->pd))
		return PTR_ERR(conn->pd);
	conn->cq = ib_alloc_cq_any(conn->id->device, conn, RAW_RECVS + 8, IB_POLL_WORKQUEUE);
	if (IS_ERR(conn->cq))
		return PTR_ERR(conn->cq);
	attr.send_cq = conn->cq;
	attr.recv_cq = conn->cq;
	err = rdma_create_qp(conn->id, conn->pd, &attr);
	if (!err)
		err = raw_alloc_bufs(conn);
	for (i = 0; !err && i < conn->nr_recvs; i++)
		err = raw_post_recv(&conn->recvs[i]);
	return err;
}

static struct raw_msg *raw_take(struct raw_conn *conn, struct list_head *list)
{
	struct raw_msg *msg;
	unsigned long flags;

	spin_lock_irqsave(&conn->lock, flags);
	msg = list_first_entry_or_null(list, struct raw_msg, link);
	if (msg)
		list_del(&msg->link);
	spin_unlock_irqrestore(&conn->lock, flags);
	return msg;
}

static void raw_serve_work(struct work_struct *work)
{
	struct raw_conn *conn = container_of(work, struct raw_conn, serve);
	struct raw_msg *msg;

	while ((msg = raw_take(conn, &conn->requests))) {
		if (conn->srv->request)
			conn->srv->request(conn, msg);
		kfree(msg);
	}
}

static struct raw_conn *raw_alloc(struct kunit *test)
{
	struct raw_conn *conn = kzalloc(sizeof(*conn), GFP_KERNEL);

	if (!conn)
		return NULL;
	conn->test = test;
	conn->nr_recvs = RAW_RECVS;
	init_completion(&conn->step);
	spin_lock_init(&conn->lock);
	INIT_LIST_HEAD(&conn->msgs);
	INIT_LIST_HEAD(&conn->requests);
	INIT_WORK(&conn->serve, raw_serve_work);
	init_waitqueue_head(&conn->wait);
	mutex_init(&conn->sending);
	conn->send_cqe.done = raw_send_done;
	init_completion(&conn->sent);
	return conn;
}

static void raw_free(struct raw_conn *conn)
{
	struct raw_msg *msg, *next;

	if (conn->id->qp) {
		rdma_disconnect(conn->id);
		ib_drain_qp(conn->id->qp);
		flush_work(&conn->serve);
		rdma_destroy_qp(conn->id);
	}
	if (!IS_ERR_OR_NULL(conn->cq))
		ib_free_cq(conn->cq);
	raw_free_bufs(conn);
	if (!IS_ERR_OR_NULL(conn->pd))
		ib_dealloc_pd(conn->pd);
	rdma_destroy_id(conn->id);
	list_for_each_entry_safe(msg, next, &conn->msgs, link)
		kfree(msg);
	kfree(conn->last);
	kfree(conn);
}

int raw_send(struct raw_conn *conn, const void *data, u32 len)
{
	struct ib_sge sge = {
		.addr = conn->send_addr,
		.length = len,
		.lkey = conn->pd->local_dma_lkey,
	};
	struct ib_send_wr wr = {
		.wr_cqe = &conn->send_cqe,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
	};
	int err = -EIO;

	mutex_lock(&conn->sending);
	memcpy(conn->send, data, len);
	ib_dma_sync_single_for_device(conn->id->device, conn->send_addr, len, DMA_TO_DEVICE);
	reinit_completion(&conn->sent);
	if (!ib_post_send(conn->id->qp, &wr, NULL)) {
		wait_for_completion(&conn->sent);
		if (conn->send_status == IB_WC_SUCCESS)
			err = 0;
	}
	mutex_unlock(&conn->sending);
	return err;
}

/**
 * struct raw_memory - memory that the server may read
 * @conn: connection of the server
 * @mr: its region
 * @sg: its DMA address
 * @next: of the connection
 */
struct raw_memory {
	struct raw_conn *conn;
	struct ib_mr *mr;
	struct scatterlist sg;
	struct raw_memory *next;
};

static void raw_unexpose(void *data)
{
	struct raw_memory *mem = data;

	mem->conn->memory = mem->next;
	ib_dereg_mr(mem->mr);
	ib_dma_unmap_sg(mem->conn->id->device, &mem->sg, 1, DMA_TO_DEVICE);
}

static int raw_register_mr(struct raw_conn *conn, struct ib_mr *mr)
{
	struct ib_reg_wr reg = {
		.wr.wr_cqe = &conn->send_cqe,
		.wr.opcode = IB_WR_REG_MR,
		.wr.send_flags = IB_SEND_SIGNALED,
		.mr = mr,
		.key = mr->rkey,
		.access = IB_ACCESS_REMOTE_READ,
	};
	int err;

	reinit_completion(&conn->sent);
	err = ib_post_send(conn->id->qp, &reg.wr, NULL);
	if (err)
		return err;
	wait_for_completion(&conn->sent);
	return conn->send_status == IB_WC_SUCCESS ? 0 : -EIO;
}

struct dafs_direct_buf raw_expose(struct raw_conn *conn, void *data, u32 len)
{
	struct kunit *test = conn->test;
	struct raw_memory *mem = kunit_kzalloc(test, sizeof(*mem), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, mem);
	mem->conn = conn;
	mem->mr = ib_alloc_mr(conn->pd, IB_MR_TYPE_MEM_REG, 2);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mem->mr);
	sg_init_one(&mem->sg, data, len);
	ib_dma_map_sg(conn->id->device, &mem->sg, 1, DMA_TO_DEVICE);
	mem->next = conn->memory;
	conn->memory = mem;
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, raw_unexpose, mem));
	KUNIT_ASSERT_EQ(test, 1, ib_map_mr_sg(mem->mr, &mem->sg, 1, NULL, PAGE_SIZE));
	KUNIT_ASSERT_EQ(test, 0, raw_register_mr(conn, mem->mr));
	return (struct dafs_direct_buf) {
		.buffer_address = mem->mr->iova,
		.buffer_byte_count = len,
		.buffer_handle = mem->mr->rkey,
	};
}

struct raw_msg *raw_recv(struct raw_conn *conn, unsigned int ms)
{
	struct raw_msg *msg = NULL;

	wait_event_timeout(conn->wait,
			   (msg = raw_take(conn, &conn->msgs)) || READ_ONCE(conn->closed),
			   msecs_to_jiffies(ms));
	return msg ?: raw_take(conn, &conn->msgs);
}

bool raw_closed(struct raw_conn *conn, unsigned int ms)
{
	wait_event_timeout(conn->wait, READ_ONCE(conn->closed), msecs_to_jiffies(ms));
	return READ_ONCE(conn->closed);
}

/* The active side. */

static int raw_wait_step(struct raw_conn *conn)
{
	if (!wait_for_completion_timeout(&conn->step, msecs_to_jiffies(RAW_WAIT_MS)))
		return -ETIMEDOUT;
	return conn->error;
}

static int raw_send_req(struct raw_conn *conn, const struct raw_how *how)
{
	struct dafs_wire_discriminator disc = {
		.client_instance = "raw",
	};
	struct rdma_conn_param param = {
		.responder_resources = how->reads ? how->reads->responder_resources : 4,
		.initiator_depth = how->reads ? how->reads->initiator_depth : 0,
		.retry_count = 7,
		.rnr_retry_count = how->rnr_retry,
	};

	memcpy(disc.client_session, &how->session, sizeof(disc.client_session));
	dafs_put32(how->magic ?: DAFS_REQUEST_MAGIC, &disc.magic, how->swab);
	dafs_put32(how->type, &disc.channel_type, how->swab);
	if (how->type) {
		param.private_data = &disc;
		param.private_data_len = sizeof(disc);
	}
	return rdma_connect(conn->id, &param);
}

static int raw_establish(struct raw_conn *conn, const struct raw_how *how)
{
	struct dafs_flavour flavour = { .ipv6 = how->ipv6 };
	struct dafs_client_params params;
	int err;

	dafs_fixture_params(&flavour, &params);
	if (how->srv)
		params.dst = how->srv->params.dst;
	err = rdma_resolve_addr(conn->id, NULL, (struct sockaddr *)&params.dst, RAW_WAIT_MS);
	if (!err)
		err = raw_wait_step(conn);
	if (!err)
		err = rdma_resolve_route(conn->id, RAW_WAIT_MS);
	if (!err)
		err = raw_wait_step(conn);
	if (!err)
		err = raw_setup(conn);
	if (!err)
		err = raw_send_req(conn, how);
	if (!err)
		err = raw_wait_step(conn);
	return err;
}

static void raw_free_action(void *data)
{
	struct raw_conn *conn = data;

	while (conn->memory)
		kunit_release_action(conn->test, raw_unexpose, conn->memory);
	raw_free(conn);
}

struct raw_conn *raw_connect(struct kunit *test, const struct raw_how *how)
{
	struct raw_conn *conn = raw_alloc(test);
	int err;

	KUNIT_ASSERT_NOT_NULL(test, conn);
	conn->swab = how->swab;
	if (how->recvs)
		conn->nr_recvs = how->recvs;
	conn->id = rdma_create_id(&init_net, raw_cm_event, conn, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(conn->id)) {
		kfree(conn);
		KUNIT_FAIL_AND_ABORT(test, "no rdma_cm identifier");
	}
	rdma_set_min_rnr_timer(conn->id, how->rnr_timer);
	if (how->ack_timeout)
		rdma_set_ack_timeout(conn->id, how->ack_timeout);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, raw_free_action, conn));
	err = raw_establish(conn, how);
	KUNIT_ASSERT_EQ(test, 0, err);
	return conn;
}

struct raw_conn *raw_connect_flavour(struct kunit *test, const struct dafs_flavour *flavour,
				     u32 type)
{
	struct raw_how how = {
		.swab = flavour && flavour->swab,
		.ipv6 = flavour && flavour->ipv6,
		.type = type,
	};

	return raw_connect(test, &how);
}

void raw_close(struct kunit *test, struct raw_conn *conn)
{
	kunit_release_action(test, raw_free_action, conn);
}

void raw_cut(struct kunit *test, struct raw_conn *conn)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	KUNIT_EXPECT_EQ(test, 0, ib_modify_qp(conn->id->qp, &attr, IB_QP_STATE));
}

/* Messages. */

u32 raw_encode(struct raw_conn *conn, struct dafs_req_hdr *hdr, void *args, u8 *data)
{
	struct dafs_buf buf = { .base = data, .len = RAW_RECV_SIZE, .swab = conn->swab };
	union dafs_args none = {};
	int len = dafs_encode_args(&buf, hdr->procedure, args ?: &none);

	if (len < 0)
		len = DAFS_HDR_SIZE;
	if (!hdr->len)
		hdr->len = len;
	dafs_put_req_hdr(&buf, hdr);
	if (conn->cksum)
		dafs_msg_cksum(data, len);
	return len;
}

void raw_ask(struct raw_conn *conn, struct dafs_req_hdr *hdr, void *args)
{
	u8 *buf = kunit_kzalloc(conn->test, RAW_RECV_SIZE, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(conn->test, buf);
	KUNIT_ASSERT_EQ(conn->test, 0, raw_send(conn, buf, raw_encode(conn, hdr, args, buf)));
	kunit_kfree(conn->test, buf);
}

static int raw_get_res(const struct raw_conn *conn, struct raw_msg *msg, struct dafs_res_hdr *res)
{
	struct dafs_buf buf = { .base = msg->data, .len = msg->len, .swab = conn->swab };
	int err = dafs_get_res_hdr(&buf, res);

	if (!err && conn->cksum && !dafs_msg_cksum_ok(buf.base, res->len))
		err = -EBADMSG;
	return err;
}

dafs_status_t raw_recv_status(struct raw_conn *conn, unsigned int ms, struct dafs_res_hdr *res)
{
	struct raw_msg *msg = raw_recv(conn, ms);
	dafs_status_t status = DAFS_NO_STATUS;

	if (msg && !raw_get_res(conn, msg, res))
		status = res->status;
	kfree(msg);
	return status;
}

dafs_status_t raw_status(struct raw_conn *conn)
{
	struct dafs_res_hdr res;

	return raw_recv_status(conn, RAW_WAIT_MS, &res);
}

int raw_exchange(struct raw_conn *conn, const void *msg, u32 len, struct dafs_res_hdr *res)
{
	int err;

	kfree(conn->last);
	conn->last = NULL;
	/* if the peer answers and disconnects at once, the send may fail */
	err = raw_send(conn, msg, len);
	conn->last = raw_recv(conn, RAW_WAIT_MS);
	if (!conn->last)
		return err ?: READ_ONCE(conn->closed) ? -ENOTCONN : -ETIMEDOUT;
	return raw_get_res(conn, conn->last, res);
}

int raw_call_hdr(struct raw_conn *conn, struct dafs_req_hdr *hdr, void *args,
		 struct dafs_res_hdr *res_hdr, void *res)
{
	struct dafs_buf buf = { .swab = conn->swab };
	u8 *data = kzalloc(RAW_RECV_SIZE, GFP_KERNEL);
	u32 len;
	int err;

	if (!data)
		return -ENOMEM;
	len = raw_encode(conn, hdr, args, data);
	err = raw_exchange(conn, data, len, res_hdr);
	kfree(data);
	if (err || !res)
		return err;
	buf.base = conn->last->data;
	buf.len = res_hdr->len;
	return dafs_decode_res(&buf, hdr->procedure, res);
}

dafs_status_t raw_call_as(struct raw_conn *conn, const u8 *cred_handle, u32 proc, void *args,
			  void *res)
{
	struct dafs_req_hdr hdr = raw_hdr(conn, proc);
	struct dafs_res_hdr res_hdr;

	memcpy(hdr.cred_handle, cred_handle, sizeof(hdr.cred_handle));
	return raw_call_hdr(conn, &hdr, args, &res_hdr, res) ? DAFS_NO_STATUS : res_hdr.status;
}

dafs_status_t raw_call(struct raw_conn *conn, u32 proc, void *args, void *res)
{
	static const u8 itself[4];

	return raw_call_as(conn, itself, proc, args, res);
}

dafs_status_t raw_register(struct raw_conn *conn, u32 uid, u32 gid, u8 *handle)
{
	struct dafs_register_cred_args args = {
		.cred_type = DAFS_CRED_ID,
		.uid = uid,
		.gid = gid,
	};
	struct dafs_register_cred_res res = {};
	dafs_status_t status = raw_call(conn, DAFS_PROC_REGISTER_CRED, &args, &res);

	memcpy(handle, res.cred_handle, sizeof(res.cred_handle));
	return status;
}

dafs_status_t raw_mkdir(struct raw_conn *conn, const u8 *cred_handle, const struct dafs_fh *dir,
			const char *name)
{
	struct dafs_create_args args = {
		.filehandle = *dir,
		.component = dafs_test_str(name),
		.obj_type = DAFS_TYPE_DIR,
	};

	return raw_call_as(conn, cred_handle, DAFS_PROC_CREATE, &args, NULL);
}

void raw_connect_args(const struct raw_login *login, struct dafs_client_connect_args *args)
{
	*args = (struct dafs_client_connect_args) {
		.opts = login->opts,
		.client_id_string = {
			.len = login->id_len ?: strlen(login->id),
			.data = (const u8 *)login->id,
		},
	};
	memcpy(args->client_verifier.b, &login->verifier, sizeof(login->verifier));
}

dafs_status_t raw_login(struct raw_conn *conn, struct raw_login *login)
{
	struct dafs_client_connect_auth_args args = { .auth_req.auth_type = login->auth_type };
	static atomic_t nr = ATOMIC_INIT(0);
	dafs_status_t status;

	if (!login->id) {
		/* differs after the module is loaded again */
		snprintf(login->own_id, sizeof(login->own_id), "raw %llx %x", ktime_get_ns(),
			 atomic_inc_return(&nr));
		login->id = login->own_id;
	}
	raw_connect_args(login, &args.connect);
	status = raw_call(conn, DAFS_PROC_CLIENT_CONNECT_AUTH, &args, &login->res);
	if (!status)
		conn->cksum = login->res.connect.opts.use_checksums;
	return status;
}

struct raw_conn *raw_session(struct kunit *test, const struct dafs_flavour *flavour,
			     struct raw_login *login)
{
	struct raw_conn *conn = raw_connect_flavour(test, flavour, DAFS_CHANNEL_OPERATION);

	if (flavour) {
		login->opts.use_checksums = flavour->cksum;
		login->opts.use_back_control_channel = flavour->back_control;
		login->opts.use_rdma_read_channel = flavour->rdma_read;
	}
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_login(conn, login));
	return conn;
}

/* The passive side. */

static int raw_accept(struct dafs_listener *listener, struct rdma_cm_id *id,
		      const struct rdma_conn_param *param)
{
	struct raw_server *srv = container_of(listener, struct raw_server, listener);
	struct rdma_conn_param answer = {
		.initiator_depth = min_t(u8, param->initiator_depth, 4),
		.retry_count = 7,
	};
	struct raw_conn *conn;
	int err;

	if (srv->refuse)
		return -ECONNREFUSED;
	conn = raw_alloc(srv->test);
	if (!conn)
		return -ENOMEM;
	conn->srv = srv;
	if (srv->recvs)
		conn->nr_recvs = srv->recvs;
	rdma_set_min_rnr_timer(id, srv->rnr_timer);
	conn->id = id;
	conn->disc_len = param->private_data_len;
	conn->peer_qp = param->qp_num;
	if (param->private_data)
		memcpy(&conn->disc, param->private_data,
		       min_t(u32, conn->disc_len, sizeof(conn->disc)));
	id->context = conn;
	id->event_handler = raw_cm_event;
	err = raw_setup(conn);
	if (!err)
		err = rdma_accept(id, &answer);
	if (err)
		raw_gone(conn);	/* freed with the server */
	spin_lock(&srv->lock);
	list_add_tail(&conn->node, &srv->conns);
	srv->nr_conns++;
	spin_unlock(&srv->lock);
	return 0;
}

static void raw_server_free(void *data)
{
	struct raw_server *srv = data;
	struct raw_conn *conn, *next;

	dafs_unlisten(&srv->listener);
	list_for_each_entry_safe(conn, next, &srv->conns, node)
		raw_free(conn);
	kfree(srv);
}

static void raw_set_port(struct sockaddr_storage *addr, u16 port)
{
	((struct sockaddr_in *)addr)->sin_port = htons(port);
}

struct raw_server *raw_server(struct kunit *test)
{
	static u16 port = RAW_FIRST_PORT;
	struct raw_server *srv = kzalloc(sizeof(*srv), GFP_KERNEL);
	int err;

	KUNIT_ASSERT_NOT_NULL(test, srv);
	srv->test = test;
	srv->listener.accept = raw_accept;
	spin_lock_init(&srv->lock);
	INIT_LIST_HEAD(&srv->conns);
	srv->request = raw_serve_request;
	memcpy(srv->client_id.b, "client", 6);
	srv->opts = (struct dafs_connect_opts) {
		.max_credentials = 8,
		.max_request_size = SZ_8K,
		.max_response_size = SZ_8K,
		.max_requests = 8,
	};
	dafs_fixture_params(NULL, &srv->params);
	raw_set_port(&srv->params.dst, port++);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, raw_server_free, srv));
	err = dafs_listen(&srv->listener, &init_net, (struct sockaddr *)&srv->params.dst);
	KUNIT_ASSERT_EQ(test, 0, err);
	return srv;
}

int raw_get_hdr(const struct raw_conn *conn, const struct raw_msg *msg, struct dafs_req_hdr *hdr)
{
	struct dafs_buf buf = { .base = (u8 *)msg->data, .len = msg->len, .swab = conn->swab };

	return dafs_get_req_hdr(&buf, hdr);
}

u32 raw_encode_res(struct raw_conn *conn, const struct dafs_req_hdr *hdr, dafs_status_t status,
		   u16 target, void *res, u8 *data)
{
	struct dafs_buf buf = { .base = data, .len = RAW_RECV_SIZE, .swab = conn->swab };
	struct dafs_res_hdr res_hdr = {
		.version = DAFS_PROTOCOL_VERSION,
		.target_nreq = target,
		.stream_id = hdr->stream_id,
		.seq_number = hdr->seq_number,
		.spec_cond = conn->srv ? conn->srv->spec_cond : 0,
		.status = status,
		.len = DAFS_HDR_SIZE,
	};

	memcpy(res_hdr.analyzer, hdr->analyzer, sizeof(res_hdr.analyzer));
	if (res)
		res_hdr.len = max(dafs_encode_res(&buf, hdr->procedure, res), DAFS_HDR_SIZE);
	dafs_put_res_hdr(&buf, &res_hdr);
	if (conn->cksum)
		dafs_msg_cksum(data, res_hdr.len);
	return res_hdr.len;
}

void raw_answer(struct raw_conn *conn, const struct dafs_req_hdr *hdr, dafs_status_t status,
		u16 target, void *res)
{
	u8 *buf = kzalloc(RAW_RECV_SIZE, GFP_KERNEL);

	KUNIT_EXPECT_NOT_NULL(conn->test, buf);
	if (buf)
		raw_send(conn, buf, raw_encode_res(conn, hdr, status, target, res, buf));
	kfree(buf);
}

static void raw_serve_login(struct raw_conn *conn, const struct dafs_req_hdr *hdr)
{
	struct raw_server *srv = conn->srv;
	struct dafs_client_connect_auth_res res = {
		.connect.session_id.b = "session",
		.connect.client_id = srv->client_id,
		.connect.opts = srv->opts,
		.trusted = 1,
	};

	raw_answer(conn, hdr, DAFS_STATUS_OK, srv->opts.max_requests, &res);
	conn->cksum = srv->opts.use_checksums;
}

static void raw_serve_bind(struct raw_conn *conn, const struct raw_msg *msg,
			   const struct dafs_req_hdr *hdr)
{
	struct dafs_buf buf = { .base = (u8 *)msg->data, .len = hdr->len, .swab = conn->swab };
	struct dafs_connect_bind_args args = {};
	struct dafs_connect_bind_res res = { .trusted = 1 };

	KUNIT_EXPECT_EQ(conn->test, 0, dafs_decode_args(&buf, hdr->procedure, &args));
	res.max_requests = args.max_requests;
	res.max_request_size = args.max_request_size;
	res.max_response_size = args.max_response_size;
	conn->cksum = conn->srv->opts.use_checksums;
	raw_answer(conn, hdr, DAFS_STATUS_OK, 1, &res);
}

bool raw_serve_setup(struct raw_conn *conn, const struct raw_msg *msg,
		     const struct dafs_req_hdr *hdr)
{
	switch (hdr->procedure) {
	case DAFS_PROC_CLIENT_CONNECT_AUTH:
		raw_serve_login(conn, hdr);
		return true;
	case DAFS_PROC_CONNECT_BIND:
		raw_serve_bind(conn, msg, hdr);
		return true;
	case DAFS_PROC_DISCONNECT:
		raw_answer(conn, hdr, DAFS_STATUS_OK, conn->srv->opts.max_requests, NULL);
		return true;
	default:
		return false;
	}
}

void raw_serve_request(struct raw_conn *conn, struct raw_msg *msg)
{
	struct dafs_register_cred_res cred = { .cred_handle = "one" };
	u16 target = conn->srv->opts.max_requests;
	struct dafs_req_hdr hdr;
	dafs_status_t status;

	KUNIT_EXPECT_EQ(conn->test, 0, raw_get_hdr(conn, msg, &hdr));
	if (raw_serve_setup(conn, msg, &hdr))
		return;
	if (hdr.procedure == DAFS_PROC_NULL)
		atomic_inc(&conn->srv->nulls);
	if (hdr.procedure == DAFS_PROC_REGISTER_CRED) {
		raw_answer(conn, &hdr, DAFS_STATUS_OK, target, &cred);
		return;
	}
	status = hdr.procedure == DAFS_PROC_NULL || hdr.procedure == DAFS_PROC_RELEASE_CRED ?
		 DAFS_STATUS_OK : DAFSERR_NOTSUPP;
	raw_answer(conn, &hdr, status, target, NULL);
}

static struct raw_conn *raw_find_accepted(struct raw_server *srv, unsigned int nth)
{
	struct raw_conn *conn, *found = NULL;

	spin_lock(&srv->lock);
	list_for_each_entry(conn, &srv->conns, node) {
		if (!nth--) {
			found = conn;
			break;
		}
	}
	spin_unlock(&srv->lock);
	return found;
}

struct raw_conn *raw_accepted(struct raw_server *srv, unsigned int nth)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	struct raw_conn *conn;

	do {
		conn = raw_find_accepted(srv, nth);
		if (!conn)
			schedule_timeout_uninterruptible(1);
	} while (!conn && time_before(jiffies, end));
	return conn;
}

void raw_hang_up(struct raw_conn *conn)
{
	/* the connection can be ended only after it is established on this side, too */
	wait_for_completion_timeout(&conn->step, msecs_to_jiffies(RAW_WAIT_MS));
	rdma_disconnect(conn->id);
}

void raw_settle(void)
{
	flush_workqueue(dafsd_timer_wq);
	/* one item queues others */
	flush_workqueue(dafsd_close_wq);
	flush_workqueue(dafsd_close_wq);
}

/* One of the clients with ids that begin so, which the server has not begun to end */
static bool raw_find_client(const char *begin, struct dafs_client_id *client_id)
{
	const u32 len = strlen(begin);
	const struct dafsd_client *client;

	guard(mutex)(&dafsd_server.clients_lock);
	list_for_each_entry(client, &dafsd_server.clients, node) {
		if (!client->principal || READ_ONCE(client->life) >= DAFSD_CLIENT_LEAVING ||
		    client->id_len < len || memcmp(client->id, begin, len))
			continue;
		*client_id = client->client_id;
		return true;
	}
	return false;
}

void raw_end_clients(const char *begin)
{
	struct dafs_client_id client_id;

	while (raw_find_client(begin, &client_id) &&
	       !dafsd_client_end_id(&dafsd_server, &client_id))
		;
	raw_settle();
}

/* Each login that is refused makes the server end a client. */
void raw_crowd_out(struct kunit *test)
{
	struct raw_conn *conn = raw_connect_flavour(test, NULL, DAFS_CHANNEL_OPERATION);
	struct raw_login login;
	dafs_status_t status;

	dafs_fixture_server_param(test, &dafsd_server.max_clients, 1);
	do {
		login = (struct raw_login) { .auth_type = DAFS_AUTH_GSS };
		status = raw_login(conn, &login);
	} while (status == DAFSERR_NOTSUPP);
	DAFS_EXPECT_STATUS(test, DAFSERR_RESOURCE, status);
	dafs_fixture_server_param(test, &dafsd_server.max_clients, DAFSD_DEFAULT_MAX_CLIENTS);
	raw_close(test, conn);
}
