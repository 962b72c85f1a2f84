// SPDX-License-Identifier: GPL-2.0
/*
 * Connections: each is the operation channel of a session, or bound to one (3.1.2).
 *
 * A struct dafsd_conn is made for every incoming connection.  Its first request tells what
 * it is for, and a connection that does not say so in time is ended.  A connection ends in
 * these steps.  None of them waits for another work item that may block:
 *
 *	dafsd_conn_teardown()	queued when the channel closes: drains the hardware,
 *				queues parked requests again
 *	dafsd_conn_finish()	queued when the last request has completed: leaves the
 *				session
 *	dafsd_conn_free()	queued when the last reference is dropped
 *
 * The channel itself is freed with the last reference, because RDMA reads for a session
 * run on a channel bound to it.
 */
#include <linux/slab.h>
#include <linux/dafs/requester.h>
#include "server.h"
#include "peer.h"
#include "client.h"
#include "conn.h"
#include "session.h"
#include "trace.h"

/* A session has up to three connections; a few more are being set up or closed. */
#define DAFSD_CONNS_PER_SESSION	4

/* Upper and lower bound of the limit of connections that are not authenticated yet */
#define DAFSD_MOST_NEW		1024U
#define DAFSD_LEAST_NEW		8U

/*
 * Send queue entries for the RDMA of a session: four or five reads of 1 MiB at a time.
 * With those for responses they make less than 128, and devices round up.  A longer
 * list of buffers goes in rounds.
 */
#define DAFSD_MIN_RDMA		80U

/* How long a file system may take for a change that is executed while the server stops, in s */
#define DAFSD_STOP_SECONDS	5

/* Requests outstanding on a channel that is bound to a session */
#define DAFSD_BOUND_REQUESTS	((u16)8)

static const struct dafsd_conn_ops *dafsd_conn_ops;

/**
 * dafsd_conns_init() - set the callbacks to the layer that serves requests
 * @ops: the callbacks
 *
 * Context: module initialization.
 */
void dafsd_conns_init(const struct dafsd_conn_ops *ops)
{
	dafsd_conn_ops = ops;
}

static const u8 dafsd_conn_next[] = {
	[DAFSD_CONN_NEW]	= BIT(DAFSD_CONN_CONNECTED) | BIT(DAFSD_CONN_READY) |
				  BIT(DAFSD_CONN_BOUND) | BIT(DAFSD_CONN_CLOSING),
	[DAFSD_CONN_CONNECTED]	= BIT(DAFSD_CONN_READY) | BIT(DAFSD_CONN_CLOSING),
	[DAFSD_CONN_READY]	= BIT(DAFSD_CONN_CLOSING),
	[DAFSD_CONN_BOUND]	= BIT(DAFSD_CONN_CLOSING),
	[DAFSD_CONN_CLOSING]	= 0,
};

/* It is known what the connection is for, or it is ending. */
static void dafsd_conn_settle(struct dafsd_conn *conn)
{
	struct dafsd_server *server = conn->server;

	spin_lock(&server->conns_lock);
	if (!list_empty(&conn->new_node)) {
		list_del_init(&conn->new_node);
		server->nr_new--;
	}
	spin_unlock(&server->conns_lock);
}

/**
 * dafsd_conn_set_state() - change the state of a connection; nothing else does
 * @conn: the connection
 * @next: the new state
 * @ses: the session whose operation channel it becomes, which takes over the caller's
 *	reference; or NULL to leave that as it is
 *
 * Context: process.
 * Return: false if @next may not follow the present state; nothing is changed then.
 */
bool dafsd_conn_set_state(struct dafsd_conn *conn, enum dafsd_conn_state next,
			  struct dafsd_session *ses)
{
	bool legal;

	spin_lock_irq(&conn->lock);
	legal = dafsd_conn_next[conn->state] & BIT(next);
	if (legal) {
		trace_dafsd_conn_state(conn, next);
		if (ses)
			conn->ses = ses;
		/* a task that sees READY also sees the session and its client */
		smp_store_release(&conn->state, next);
	}
	spin_unlock_irq(&conn->lock);
	if (legal && next != DAFSD_CONN_CONNECTED)
		dafsd_conn_settle(conn);
	return legal;
}

static void dafsd_conn_free(struct work_struct *work)
{
	struct dafsd_conn *conn = container_of(work, struct dafsd_conn, teardown);
	struct dafsd_server *server = conn->server;

	dafs_chan_destroy(conn->chan);
	spin_lock(&server->conns_lock);
	list_del(&conn->node);
	server->nr_conns--;
	conn->peer->conns--;
	if (list_empty(&server->conns))
		wake_up(&server->conns_gone);
	spin_unlock(&server->conns_lock);
	dafsd_peer_put(conn->peer);
	kfree(conn);
}

/* The last reference may be dropped in a completion, but freeing a channel sleeps. */
static void dafsd_conn_release(struct kref *ref)
{
	struct dafsd_conn *conn = container_of(ref, struct dafsd_conn, ref);

	INIT_WORK(&conn->teardown, dafsd_conn_free);
	queue_work(dafsd_end_wq, &conn->teardown);
}

/**
 * dafsd_conn_get() - take a reference
 * @conn: the connection
 *
 * Return: @conn.
 */
struct dafsd_conn *dafsd_conn_get(struct dafsd_conn *conn)
{
	kref_get(&conn->ref);
	return conn;
}

/**
 * dafsd_conn_put() - drop a reference
 * @conn: the connection
 *
 * Context: any.
 */
void dafsd_conn_put(struct dafsd_conn *conn)
{
	kref_put(&conn->ref, dafsd_conn_release);
}

/**
 * dafsd_late_over() - a connection is not late any more if none of its changes is executed
 * @conn: the connection, which has a session
 *
 * Context: any.
 */
void dafsd_late_over(struct dafsd_conn *conn)
{
	struct dafsd_client *client = conn->ses->client;
	unsigned long flags;

	spin_lock_irqsave(&client->late_lock, flags);
	if (list_empty(&conn->changing))
		list_del_init(&conn->late_node);
	spin_unlock_irqrestore(&client->late_lock, flags);
}

/**
 * dafsd_late_closed() - the channel of a connection has closed
 * @conn: the connection; late if a change of it is executed
 *
 * If this is called after the last change has ended, it does nothing: so after
 * dafsd_conn_finish() the connection is not late.
 *
 * Context: any.
 */
void dafsd_late_closed(struct dafsd_conn *conn)
{
	struct dafsd_client *client;
	unsigned long flags;

	/* pairs with dafsd_conn_set_state(): the client is set and does not change */
	if (smp_load_acquire(&conn->state) != DAFSD_CONN_READY)
		return;
	/* pairs with dafsd_late_begin() */
	smp_mb();
	client = conn->ses->client;
	spin_lock_irqsave(&client->late_lock, flags);
	if (!list_empty(&conn->changing) && list_empty(&conn->late_node))
		list_add(&conn->late_node, &client->late);
	spin_unlock_irqrestore(&client->late_lock, flags);
}

/* All requests have been answered; the responder may not have noticed that yet. */
static void dafsd_conn_finish(struct work_struct *work)
{
	struct dafsd_conn *conn = container_of(work, struct dafsd_conn, teardown);

	dafs_responder_destroy(conn->responder);
	/* from here on no handler runs that could bind it or set the reaper */
	cancel_delayed_work_sync(&conn->reaper);
	if (conn->ses) {
		dafsd_late_over(conn);
		dafsd_session_end(conn->ses);
	}
	if (conn->bound_to)
		dafsd_session_unbind(conn->bound_to, conn);
	if (conn->requester) {
		dafs_requester_abort(conn->requester, -ENOTCONN);
		dafs_requester_destroy(conn->requester);
	}
	dafsd_conn_put(conn);
}

/**
 * dafsd_conn_idle() - the last request has been answered, and the channel is quiesced
 * @conn: the connection; @conn->busy has become 0
 *
 * Context: any.
 */
void dafsd_conn_idle(struct dafsd_conn *conn)
{
	INIT_WORK(&conn->teardown, dafsd_conn_finish);
	queue_work(dafsd_end_wq, &conn->teardown);
}

/* Log a connection that ended for lack of memory in the device, or with a slow client. */
static void dafsd_conn_say_lost(const struct dafsd_conn *conn)
{
	enum dafs_close_reason reason = conn->chan->reason;

	if (reason == DAFS_CLOSE_QP || reason == DAFS_CLOSE_CREDIT)
		pr_notice_ratelimited("dafsd: client %pISpc: %s\n", &conn->chan->peer,
				      dafs_chan_why(conn->chan));
}

static void dafsd_conn_teardown(struct work_struct *work)
{
	struct dafsd_conn *conn = container_of(work, struct dafsd_conn, teardown);

	dafsd_conn_set_state(conn, DAFSD_CONN_CLOSING, NULL);
	if (conn->ses)
		dafsd_session_close(conn->ses);
	dafs_chan_quiesce(conn->chan);
	dafsd_conn_say_lost(conn);
	/* requests that it still delivers are counted before @busy can become 0 */
	dafs_responder_stop(conn->responder);
	dafsd_conn_ops->stop(conn);
	if (atomic_dec_and_test(&conn->busy))
		dafsd_conn_idle(conn);
}

static void dafsd_chan_closed(struct dafs_chan *chan, enum dafs_close_reason reason)
{
	struct dafsd_conn *conn = chan->priv;

	dafsd_late_closed(conn);
	/* nothing that it has executed can be answered any more */
	if (READ_ONCE(conn->server->stopping))
		wake_up(&conn->server->answered);
	queue_work(dafsd_end_wq, &conn->teardown);
}

static const struct dafs_chan_ops dafsd_chan_ops = {
	.closed = dafsd_chan_closed,
};

static void dafsd_conn_reap(struct work_struct *work)
{
	struct dafsd_conn *conn = container_of(to_delayed_work(work), struct dafsd_conn, reaper);
	/* pairs with dafsd_conn_set_state() */
	enum dafsd_conn_state state = smp_load_acquire(&conn->state);

	if (state == DAFSD_CONN_BOUND)	/* ends together with its session */
		return;
	if (state == DAFSD_CONN_READY && dafsd_session_look(conn->ses))
		/* does not change a timer that DISCONNECT has set */
		queue_delayed_work(dafsd_timer_wq, &conn->reaper, dafsd_lease_seconds * HZ);
	else
		dafs_chan_fail(conn->chan, DAFS_CLOSE_TIMEOUT);
}

/**
 * dafsd_conn_reap_in() - set the time of the next check of a connection
 * @conn: the connection; the check ends it, unless it is ready and its client's hardware
 *	answers, or it is bound
 * @seconds: seconds until the check
 */
void dafsd_conn_reap_in(struct dafsd_conn *conn, unsigned int seconds)
{
	mod_delayed_work(dafsd_timer_wq, &conn->reaper, seconds * HZ);
}

static struct dafsd_conn *dafsd_conn_alloc(struct dafsd_server *server, struct dafsd_peer *peer)
{
	struct dafsd_conn *conn = kzalloc(sizeof(*conn), GFP_KERNEL);

	if (!conn)
		return NULL;
	conn->server = server;
	conn->peer = peer;
	INIT_LIST_HEAD(&conn->new_node);
	kref_init(&conn->ref);
	spin_lock_init(&conn->lock);
	spin_lock_init(&conn->chains.lock);
	atomic_set(&conn->busy, 1);
	spin_lock_init(&conn->placed_lock);
	INIT_LIST_HEAD(&conn->placed);
	INIT_LIST_HEAD(&conn->parked);
	INIT_LIST_HEAD(&conn->sq_waiting);
	INIT_LIST_HEAD(&conn->alone);
	INIT_LIST_HEAD(&conn->changing);
	INIT_LIST_HEAD(&conn->late_node);
	mutex_init(&conn->setup);
	INIT_WORK(&conn->teardown, dafsd_conn_teardown);
	INIT_DELAYED_WORK(&conn->reaper, dafsd_conn_reap);
	return conn;
}

/* Reduce the parameters of a channel that announces that it will be bound to a session. */
static void dafsd_bound_params(struct dafs_chan_params *params, u32 type)
{
	if (type != DAFS_CHANNEL_RDMA_READ && type != DAFS_CHANNEL_BACK_CONTROL)
		return;
	params->depth = min(params->depth, DAFSD_BOUND_REQUESTS);
	params->send_size = DAFS_FIRST_MSG_SIZE;
	params->recv_size = DAFS_FIRST_MSG_SIZE;
	if (type == DAFS_CHANNEL_BACK_CONTROL)
		params->rdma_ctxs = 0;
}

static int dafsd_conn_open_chan(struct dafsd_conn *conn, struct rdma_cm_id *id,
				const struct rdma_conn_param *param)
{
	/* the module parameters may have any value */
	u32 requests = clamp_t(u32, READ_ONCE(dafsd_max_requests), 1, DAFS_MAX_NREQ);
	u32 msg_size = clamp_t(u32, round_down(READ_ONCE(dafsd_msg_size), 8),
			       DAFS_FIRST_MSG_SIZE, DAFS_MAX_MSG_SIZE);
	struct dafs_chan_params params = {
		.ops = &dafsd_chan_ops,
		.priv = conn,
		.send_size = msg_size,
		.recv_size = msg_size,
		.depth = requests,
		.rdma_ctxs = max(requests, DAFSD_MIN_RDMA),
	};
	int err;

	dafsd_bound_params(&params, dafs_chan_type_of(param));
	conn->chan = dafs_chan_accept_prepare(&params, id, param);
	if (IS_ERR(conn->chan))
		return PTR_ERR(conn->chan);
	atomic_set(&conn->sq_avail, conn->chan->limits.rdma_wrs);
	conn->responder = dafs_responder_create(conn->chan, dafsd_conn_ops->rqst, 1);
	if (IS_ERR(conn->responder)) {
		err = PTR_ERR(conn->responder);
		dafs_chan_destroy(conn->chan);
		return err;
	}
	return 0;
}

static bool dafsd_conn_reserve(struct dafsd_server *server, struct dafsd_peer *peer)
{
	unsigned int most = READ_ONCE(dafsd_max_sessions);
	bool room;

	spin_lock(&server->conns_lock);
	room = server->nr_conns / DAFSD_CONNS_PER_SESSION < most &&
	       peer->conns / DAFSD_CONNS_PER_SESSION < dafsd_peer_share(most);
	if (room) {
		server->nr_conns++;
		peer->conns++;
	}
	spin_unlock(&server->conns_lock);
	return room;
}

static void dafsd_conn_unreserve(struct dafsd_server *server, struct dafsd_peer *peer)
{
	spin_lock(&server->conns_lock);
	server->nr_conns--;
	peer->conns--;
	spin_unlock(&server->conns_lock);
}

/* Fail the channel, unless there are no references: then it is being destroyed. */
static void dafsd_conn_fail(struct dafsd_conn *conn)
{
	lockdep_assert_held(&conn->server->conns_lock);
	if (!kref_get_unless_zero(&conn->ref))
		return;
	dafs_chan_fail(conn->chan, DAFS_CLOSE_TIMEOUT);
	dafsd_conn_put(conn);
}

/*
 * Connections that do not authenticate take resources from others, so their number is
 * limited: a new one replaces the oldest.
 */
static void dafsd_conn_list(struct dafsd_conn *conn)
{
	unsigned int most = clamp(READ_ONCE(dafsd_max_sessions) / 4, DAFSD_LEAST_NEW,
				  DAFSD_MOST_NEW);
	struct dafsd_server *server = conn->server;
	struct dafsd_conn *oldest;

	spin_lock(&server->conns_lock);
	list_add_tail(&conn->node, &server->conns);
	list_add_tail(&conn->new_node, &server->new_conns);
	if (server->nr_new++ >= most) {
		oldest = list_first_entry(&server->new_conns, struct dafsd_conn, new_node);
		list_del_init(&oldest->new_node);
		server->nr_new--;
		dafsd_conn_fail(oldest);
	}
	spin_unlock(&server->conns_lock);
}

/**
 * dafsd_conn_accept() - a client connects
 * @listener: the listener that received the connection
 * @id: the connection
 * @param: its private data and RDMA read limits
 *
 * Context: rdma_cm event handler; may sleep.
 * Return: 0, or a negative errno and the connection is rejected.
 */
int dafsd_conn_accept(struct dafs_listener *listener, struct rdma_cm_id *id,
		      const struct rdma_conn_param *param)
{
	struct dafsd_server *server = listener->priv;
	struct dafsd_conn *conn;
	struct dafsd_peer *peer;
	int err = -ENOMEM;

	peer = dafsd_peer_find(server, &id->route.addr.dst_addr);
	if (!peer)
		return -ENOMEM;
	if (!dafsd_conn_reserve(server, peer)) {
		err = -EBUSY;
		goto put_peer;
	}
	conn = dafsd_conn_alloc(server, peer);
	if (!conn)
		goto unreserve;
	err = dafsd_conn_open_chan(conn, id, param);
	if (err)
		goto free;
	dafsd_conn_list(conn);
	dafsd_conn_reap_in(conn, 30);
	err = dafs_chan_accept(conn->chan);
	if (err)
		goto unlist;
	return 0;

unlist:
	cancel_delayed_work_sync(&conn->reaper);
	dafsd_conn_settle(conn);
	spin_lock(&server->conns_lock);
	list_del(&conn->node);
	spin_unlock(&server->conns_lock);
	dafs_chan_quiesce(conn->chan);
	dafs_responder_destroy(conn->responder);
	dafs_chan_destroy(conn->chan);
free:
	kfree(conn);
unreserve:
	dafsd_conn_unreserve(server, peer);
put_peer:
	dafsd_peer_put(peer);
	return err;
}

static bool dafsd_conns_none(struct dafsd_server *server)
{
	bool none;

	spin_lock(&server->conns_lock);
	none = list_empty(&server->conns);
	spin_unlock(&server->conns_lock);
	return none;
}

/* No response leaves on a channel that has failed. */
static bool dafsd_conns_answered(struct dafsd_server *server)
{
	const struct dafsd_conn *conn;
	bool answered = true;

	spin_lock(&server->conns_lock);
	list_for_each_entry(conn, &server->conns, node)
		if (atomic_read(&conn->unanswered) && dafs_chan_is_open(conn->chan))
			answered = false;
	spin_unlock(&server->conns_lock);
	return answered;
}

/* Of changes, see request/late.c.  What a file system does not return from is not answered. */
static void dafsd_conns_drain(struct dafsd_server *server)
{
	WRITE_ONCE(server->stopping, true);
	/* pairs with dafsd_late_begin() */
	smp_mb();
	wait_event_timeout(server->answered, dafsd_conns_answered(server),
			   DAFSD_STOP_SECONDS * HZ);
}

/**
 * dafsd_conns_exit() - end all connections, and with them all sessions
 * @server: the server
 *
 * Changes that are executed are answered before.
 *
 * Context: may sleep; the server does not listen any more.
 */
void dafsd_conns_exit(struct dafsd_server *server)
{
	struct dafsd_conn *conn;

	dafsd_conns_drain(server);
	spin_lock(&server->conns_lock);
	list_for_each_entry(conn, &server->conns, node)
		dafsd_conn_fail(conn);
	spin_unlock(&server->conns_lock);
	wait_event(server->conns_gone, dafsd_conns_none(server));
}
