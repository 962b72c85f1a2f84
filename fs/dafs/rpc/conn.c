// SPDX-License-Identifier: GPL-2.0
/*
 * One connection of a session: the operation channel and what is bound to it.
 *
 *	create	connect, CLIENT_CONNECT_AUTH, CONNECT_BIND
 *	end	the first channel that fails queues conn->end, which quiesces
 *		all of them, fails the calls and tells the session
 *	free	with the last reference: every call holds one until it has
 *		given its response buffer back
 */
#include <linux/slab.h>
#include "former.h"
#include "rpc_impl.h"

#define DAFS_CONNECT_MS		5000
#define DAFS_DISCONNECT_WAIT	(5 * HZ)	/* for an unneeded response */

static void dafs_conn_chan_closed(struct dafs_chan *chan, enum dafs_close_reason reason)
{
	struct dafs_conn *conn = chan->priv;

	kref_get(&conn->ref);
	if (!queue_work(dafs_session_wq, &conn->end))
		dafs_conn_put(conn);
}

static const struct dafs_chan_ops dafs_conn_chan_ops = {
	.closed = dafs_conn_chan_closed,
};

static void dafs_conn_quiesce(struct dafs_conn *conn)
{
	/* a memory key is valid on all channels: quiesce all before the calls end */
	if (conn->op)
		dafs_chan_quiesce(conn->op);
	if (conn->rr)
		dafs_chan_quiesce(conn->rr);
	if (conn->bc)
		dafs_chan_quiesce(conn->bc);
	if (conn->rq)
		dafs_requester_abort(conn->rq, -ENOTCONN);
	if (conn->bind_rq)
		dafs_requester_abort(conn->bind_rq, -ENOTCONN);
}

/* Publishes the requester of a CONNECT_BIND to dafs_conn_quiesce(), or hides it. */
static void dafs_conn_set_bind_rq(struct dafs_conn *conn, struct dafs_requester *rq)
{
	mutex_lock(&conn->lock);
	conn->bind_rq = rq;
	if (rq && conn->ended)
		dafs_requester_abort(rq, -ENOTCONN);
	mutex_unlock(&conn->lock);
}

static void dafs_conn_end(struct work_struct *work)
{
	struct dafs_conn *conn = container_of(work, struct dafs_conn, end);

	mutex_lock(&conn->lock);
	conn->ended = true;
	dafs_conn_quiesce(conn);
	mutex_unlock(&conn->lock);
	dafs_path_lost(conn->path, conn);
	dafs_conn_put(conn);
}

/* The requester of a CONNECT_BIND stays until here: a late response may still arrive. */
static void dafs_conn_destroy_bound(struct dafs_chan *chan)
{
	if (!chan)
		return;
	dafs_chan_quiesce(chan);
	if (chan->requester)
		dafs_requester_destroy(chan->requester);
	if (chan->responder)
		dafs_responder_destroy(chan->responder);
	dafs_chan_destroy(chan);
}

static void dafs_conn_free(struct work_struct *work)
{
	struct dafs_conn *conn = container_of(work, struct dafs_conn, destroy);
	struct dafs_session *ses = conn->ses;
	unsigned long flags;

	dafs_conn_quiesce(conn);
	dafs_conn_destroy_bound(conn->bc);
	dafs_conn_destroy_bound(conn->rr);
	if (conn->rq)
		dafs_requester_destroy(conn->rq);
	if (conn->op)
		dafs_chan_destroy(conn->op);
	mutex_destroy(&conn->lock);
	kfree(conn);
	spin_lock_irqsave(&ses->lock, flags);
	if (atomic_dec_and_test(&ses->nr_conns))
		wake_up_all(&ses->wait);
	spin_unlock_irqrestore(&ses->lock, flags);
}

static void dafs_conn_release(struct kref *ref)
{
	struct dafs_conn *conn = container_of(ref, struct dafs_conn, ref);

	if (conn->former)
		dafs_former_put(conn->former);
	queue_work(dafs_session_wq, &conn->destroy);
}

/**
 * dafs_conn_put() - drop a reference on a connection
 * @conn: the connection
 *
 * Context: any; the last one frees it from a work item.
 */
void dafs_conn_put(struct dafs_conn *conn)
{
	kref_put(&conn->ref, dafs_conn_release);
}

/**
 * dafs_conn_failed() - give a connection up
 * @conn: its server sent an invalid response
 *
 * Context: any.
 */
void dafs_conn_failed(struct dafs_conn *conn)
{
	dafs_chan_fail(conn->op, DAFS_CLOSE_PROTOCOL);
}

/**
 * dafs_conn_drop() - end a connection
 * @conn: the connection; the caller's reference is dropped
 *
 * Context: may sleep.
 */
void dafs_conn_drop(struct dafs_conn *conn)
{
	mutex_lock(&conn->lock);
	conn->ended = true;
	dafs_conn_quiesce(conn);
	mutex_unlock(&conn->lock);
	dafs_conn_put(conn);
}

/* Return: the call, which has its response, for dafs_call_put(); an ERR_PTR if it fails. */
static struct dafs_call *dafs_conn_call(struct dafs_requester *rq, u32 proc, void *args)
{
	struct dafs_call *call = dafs_call_alloc(GFP_KERNEL);
	int err;

	if (!call)
		return ERR_PTR(-ENOMEM);
	call->proc = proc;
	call->args = args;
	call->last = proc == DAFS_PROC_CONNECT_BIND;
	err = dafs_call_start(rq, call);
	if (!err)
		err = dafs_call_wait(call);
	if (!err)
		return call;
	dafs_call_put(call);
	return ERR_PTR(err);
}

/* Sends one request of the set-up and decodes its response. */
static int dafs_conn_exchange(struct dafs_requester *rq, u32 proc, void *args, void *res)
{
	struct dafs_call *call = dafs_conn_call(rq, proc, args);
	int err;

	if (IS_ERR(call))
		return PTR_ERR(call);
	err = call->status == DAFSERR_ILLEGAL_PROT ? -EPROTONOSUPPORT :
	      dafs_status_to_errno(call->status);
	if (!err && dafs_decode_res(&call->buf, proc, res))
		err = -EPROTO;
	dafs_call_put(call);
	return err;
}

/* Return: the call, answered, or NULL; it does not take long. */
static struct dafs_call *dafs_conn_call_briefly(struct dafs_conn *conn, u32 proc, void *args)
{
	struct dafs_call *call = dafs_call_alloc(GFP_KERNEL);

	if (!call)
		return NULL;
	call->proc = proc;
	call->args = args;
	/* with all slots in use there is no need to say anything, either */
	if (!dafs_call_start_chain(conn->rq, call) &&
	    wait_for_completion_timeout(&call->finished, DAFS_DISCONNECT_WAIT) && !call->error)
		return call;
	dafs_call_put(call);
	return NULL;
}

/**
 * dafs_conn_tell() - send a request about another session, whose result does not matter
 * @conn: connection
 * @proc: DAFS_PROC_*
 * @args: of @proc
 *
 * Context: may sleep, not for long.
 * Return: 0; -EAGAIN if the server is to be told later; -ENOTCONN if it does not answer.
 */
int dafs_conn_tell(struct dafs_conn *conn, u32 proc, void *args)
{
	struct dafs_call *call = dafs_conn_call_briefly(conn, proc, args);
	dafs_status_t status;

	if (!call)
		return -ENOTCONN;
	status = call->status;
	dafs_call_put(call);
	return status == DAFSERR_BAD_SESSION || status == DAFSERR_DELAY ? -EAGAIN : 0;
}

/**
 * dafs_conn_notify() - send a request about this session, whose result does not matter
 * @conn: connection
 * @proc: DAFS_PROC_*
 * @args: of @proc
 *
 * Context: may sleep, not for long.
 * Return: false if the server does not answer, or does not know the session any more, which is
 * given up; then nothing more is worth a try.
 */
bool dafs_conn_notify(struct dafs_conn *conn, u32 proc, void *args)
{
	struct dafs_call *call = dafs_conn_call_briefly(conn, proc, args);
	bool told;

	if (!call)
		return false;
	told = dafs_call_action(conn, call) != DAFS_ACT_SESSION;
	dafs_call_put(call);
	return told;
}

static void dafs_conn_chan_params(struct dafs_conn *conn, u32 type, struct dafs_chan_params *p)
{
	const struct dafs_client *clnt = conn->ses->clnt;

	*p = (struct dafs_chan_params) {
		.net = clnt->params.net,
		.ops = &dafs_conn_chan_ops,
		.priv = conn,
		.type = type,
		.swab = clnt->params.swab,
		.send_size = clnt->params.msg_size,
		.recv_size = clnt->params.msg_size,
		.depth = clnt->params.max_requests,
	};
	memcpy(p->instance, clnt->instance, sizeof(p->instance));
	memcpy(p->session, conn->path->differentiator, sizeof(p->session));
}

/* Messages on bound channels are short. */
static void dafs_conn_bound_params(struct dafs_conn *conn, u32 type,
				   struct dafs_chan_params *p)
{
	dafs_conn_chan_params(conn, type, p);
	p->pd = conn->op->pd;
	p->send_size = DAFS_FIRST_MSG_SIZE;
	p->recv_size = DAFS_FIRST_MSG_SIZE;
}

static struct dafs_chan *dafs_conn_open_chan(struct dafs_conn *conn,
					     const struct dafs_chan_params *params)
{
	struct dafs_client_params *from = &conn->ses->clnt->params;

	return dafs_chan_connect(params, (struct sockaddr *)&conn->path->at,
				 (struct sockaddr *)&from->src, DAFS_CONNECT_MS);
}

/* Publishes a channel to dafs_conn_end(), which may already run. */
static int dafs_conn_set_chan(struct dafs_conn *conn, struct dafs_chan **where,
			      struct dafs_chan *chan)
{
	bool ended;

	if (IS_ERR(chan))
		return PTR_ERR(chan);
	mutex_lock(&conn->lock);
	*where = chan;
	ended = conn->ended;
	mutex_unlock(&conn->lock);
	return ended ? -ENOTCONN : 0;
}

static int dafs_conn_open_operation(struct dafs_conn *conn)
{
	const struct dafs_client_params *sp = &conn->ses->clnt->params;
	struct dafs_chan_params params;
	struct dafs_requester *rq;
	int err;

	dafs_conn_chan_params(conn, DAFS_CHANNEL_OPERATION, &params);
	params.mrs = 2 * params.depth;
	err = dafs_conn_set_chan(conn, &conn->op, dafs_conn_open_chan(conn, &params));
	if (err)
		return err;
	rq = dafs_requester_create(conn->op, 1, params.depth, READ_ONCE(sp->timeo_ms));
	if (IS_ERR(rq))
		return PTR_ERR(rq);
	dafs_requester_count(rq, conn->ses->clnt->stats);
	dafs_requester_heed(rq, dafs_client_special);
	mutex_lock(&conn->lock);
	conn->rq = rq;
	err = conn->ended ? -ENOTCONN : 0;
	mutex_unlock(&conn->lock);
	return err;
}

/* Are the options that the server returned valid? */
static bool dafs_conn_opts_ok(const struct dafs_conn *conn, const struct dafs_connect_opts *o)
{
	return o->max_requests && o->max_requests <= U16_MAX &&
	       o->max_request_size >= DAFS_MIN_MSG_SIZE &&
	       o->max_response_size >= DAFS_MIN_MSG_SIZE &&
	       o->max_response_size <= conn->op->limits.recv_size &&
	       !o->use_checksums == !conn->ses->clnt->params.cksum;
}

/* Sends CLIENT_CONNECT_AUTH and applies the response. */
static int dafs_conn_login(struct dafs_conn *conn)
{
	const struct dafs_client_params *sp = &conn->ses->clnt->params;
	struct dafs_client_connect_auth_args args = {
		.connect = {
			.opts = {
				.use_checksums = sp->cksum,
				.use_response_cache = sp->respcache == DAFS_RESPCACHE_STABLE,
				.max_request_size = sp->msg_size,
				.max_response_size = sp->msg_size,
				.max_requests = min(sp->max_requests, DAFS_IDLE_REQUESTS),
				.max_credentials = sp->max_credentials,
				.use_back_control_channel = sp->back_control,
				.use_rdma_read_channel = sp->rdma_read,
				.inline_write_header_size = sp->inline_header,
			},
			.client_id_string = {
				.len = strlen(sp->client_id),
				.data = (const u8 *)sp->client_id,
			},
			.client_verifier = conn->ses->clnt->verifier,
		},
		.auth_req.auth_type = sp->auth_type,
	};
	struct dafs_client_connect_auth_res res;
	int err;

	err = dafs_conn_exchange(conn->rq, DAFS_PROC_CLIENT_CONNECT_AUTH, &args, &res);
	/* the lease expired meanwhile: the next attempt creates a new client */
	if (err == -ENETRESET)
		err = dafs_conn_exchange(conn->rq, DAFS_PROC_CLIENT_CONNECT_AUTH, &args, &res);
	if (err)
		return err;
	if (!dafs_conn_opts_ok(conn, &res.connect.opts))
		return -EPROTO;
	conn->session_id = res.connect.session_id;
	if (conn->former)
		conn->former->session_id = conn->session_id;
	conn->client_id = res.connect.client_id;
	conn->opts = res.connect.opts;
	conn->trusted = res.trusted;
	conn->op->cksum = conn->opts.use_checksums;
	/* the server may grant more than requested, and more than there are buffers for */
	conn->opts.max_request_size = min(conn->opts.max_request_size,
					  conn->op->limits.send_size);
	conn->op->limits.send_size = conn->opts.max_request_size;
	/* E-37; the buffers already posted are larger */
	conn->op->limits.recv_size = max(conn->opts.max_response_size, DAFS_FIRST_MSG_SIZE);
	dafs_requester_negotiated(conn->rq, conn->opts.max_requests);
	return dafs_requester_adapt(conn->rq, DAFS_IDLE_REQUESTS);
}

/* CONNECT_BIND on a channel of its own (3.1.2.3). */
static int dafs_conn_bind(struct dafs_conn *conn, struct dafs_chan *chan, u16 channel_use)
{
	const struct dafs_client_params *sp = &conn->ses->clnt->params;
	struct dafs_connect_bind_args args = {
		.session_id = conn->session_id,
		.channel_use = channel_use,
		.max_request_size = DAFS_FIRST_MSG_SIZE,
		.max_response_size = DAFS_FIRST_MSG_SIZE,
		.max_requests = DAFS_BACK_REQUESTS,
		.auth_req.auth_type = sp->auth_type,
	};
	struct dafs_connect_bind_res res;
	struct dafs_requester *rq;
	int err;

	chan->cksum = conn->opts.use_checksums;
	rq = dafs_requester_create(chan, 1, 1, DAFS_CONNECT_MS);
	if (IS_ERR(rq))
		return PTR_ERR(rq);
	dafs_conn_set_bind_rq(conn, rq);
	err = dafs_conn_exchange(rq, DAFS_PROC_CONNECT_BIND, &args, &res);
	dafs_conn_set_bind_rq(conn, NULL);
	if (err)
		dafs_chan_quiesce(chan);
	dafs_requester_abort(rq, -ENOTCONN);
	return err;
}

static int dafs_conn_open_rdma_read(struct dafs_conn *conn)
{
	struct dafs_chan_params params;
	int err;

	dafs_conn_bound_params(conn, DAFS_CHANNEL_RDMA_READ, &params);
	params.depth = 1;
	err = dafs_conn_set_chan(conn, &conn->rr, dafs_conn_open_chan(conn, &params));
	return err ?: dafs_conn_bind(conn, conn->rr, DAFS_RDMA_READ_CHANNEL);
}

/* Receives for directives are posted before the server may send any (E-43). */
static int dafs_conn_open_back_control(struct dafs_conn *conn)
{
	struct dafs_responder *rp;
	struct dafs_chan_params params;
	int err;

	dafs_conn_bound_params(conn, DAFS_CHANNEL_BACK_CONTROL, &params);
	params.depth = DAFS_BACK_REQUESTS;
	err = dafs_conn_set_chan(conn, &conn->bc, dafs_conn_open_chan(conn, &params));
	if (err)
		return err;
	rp = dafs_responder_create(conn->bc, &dafs_back_responder, DAFS_BACK_REQUESTS);
	if (IS_ERR(rp))
		return PTR_ERR(rp);
	return dafs_conn_bind(conn, conn->bc, DAFS_BACK_CONTROL_CHANNEL);
}

static int dafs_conn_open(struct dafs_conn *conn)
{
	int err;

	err = dafs_conn_open_operation(conn);
	if (!err)
		err = dafs_conn_login(conn);
	if (!err && conn->opts.use_rdma_read_channel)
		err = dafs_conn_open_rdma_read(conn);
	if (!err && conn->opts.use_back_control_channel && conn->ses->clnt->params.back_control)
		err = dafs_conn_open_back_control(conn);
	/* the server has answered on it */
	if (!err)
		dafs_session_set_timeout(conn->ses, conn->rq);
	return err;
}

/* A call only reports that the connection has ended; this finds the reason. */
static int dafs_conn_open_error(const struct dafs_conn *conn, int err)
{
	const struct dafs_chan *chans[] = { conn->op, conn->rr, conn->bc };
	unsigned int i;

	for (i = 0; err == -ENOTCONN && i < ARRAY_SIZE(chans); i++) {
		switch (chans[i] ? chans[i]->reason : DAFS_CLOSE_LOCAL) {
		case DAFS_CLOSE_TIMEOUT:
			return -ETIMEDOUT;
		case DAFS_CLOSE_PROTOCOL:
		case DAFS_CLOSE_CHECKSUM:
			return -EPROTO;
		case DAFS_CLOSE_PEER:
			return -ECONNRESET;
		default:
			break;
		}
	}
	return err;
}

/**
 * dafs_conn_create() - connect a path to its server
 * @path: the path
 *
 * Until dafs_path_attach() or dafs_path_part(), dafs_client_shutdown() ends it.
 *
 * Context: may sleep.
 * Return: the connection with a reference, or an ERR_PTR as dafs_client_create().
 */
struct dafs_conn *dafs_conn_create(struct dafs_path *path)
{
	struct dafs_session *ses = path->ses;
	struct dafs_conn *conn;
	int err;

	conn = kzalloc(sizeof(*conn), GFP_KERNEL);
	if (!conn)
		return ERR_PTR(-ENOMEM);
	kref_init(&conn->ref);
	mutex_init(&conn->lock);
	INIT_WORK(&conn->end, dafs_conn_end);
	INIT_WORK(&conn->destroy, dafs_conn_free);
	if (ses->clnt->params.respcache) {
		conn->former = dafs_former_alloc(path);
		if (!conn->former) {
			kfree(conn);
			return ERR_PTR(-ENOMEM);
		}
	}
	conn->ses = ses;
	conn->path = path;
	atomic_inc(&ses->nr_conns);
	err = dafs_path_joining(path, conn);
	if (!err)
		err = dafs_conn_open_error(conn, dafs_conn_open(conn));
	if (err) {
		dafs_path_part(path, conn);
		return ERR_PTR(err);
	}
	return conn;
}
