// SPDX-License-Identifier: GPL-2.0
/*
 * Sessions, and the channels that become a session or are bound to one (3.1.2).
 *
 * A struct dafsd_session is made for every incoming connection.  Its first request makes
 * it a session, or an optional channel of another session (BOUND).  A session whose
 * connection was lost without notice is found by dafsd_session_look().
 * A session ends in these steps.  None of them waits for another work item:
 *
 *	dafsd_session_teardown()	queued when the channel closes: drains the
 *					hardware, queues parked requests again
 *	dafsd_session_finish()		queued when the last request has completed
 *	dafsd_session_free()		queued when the last reference is dropped
 *
 * The channel itself is freed with the last reference, because RDMA reads for a
 * session run on a channel bound to it.
 */
#include <linux/hashtable.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/unaligned.h>
#include <kunit/visibility.h>
#include <linux/dafs/requester.h>
#include "server.h"
#include "peer.h"
#include "client.h"
#include "session.h"
#include "trace.h"

static const struct dafsd_session_ops *dafsd_session_ops;

/**
 * dafsd_sessions_init() - set the callbacks to the layer that serves requests
 * @ops: the callbacks
 *
 * Context: module initialization.
 */
void dafsd_sessions_init(const struct dafsd_session_ops *ops)
{
	dafsd_session_ops = ops;
}

/* A session has up to three connections; a few more are being set up or closed. */
#define DAFSD_CONNS_PER_SESSION	4

/* Upper and lower bound of the limit of connections that are not authenticated yet */
#define DAFSD_MOST_NEW		1024U
#define DAFSD_LEAST_NEW		8U

/* A session with fewer requests in a lease period is idle: these are NULLs for the lease */
#define DAFSD_IDLE_REQUESTS	8

static LIST_HEAD(dafsd_sessions);
static DEFINE_HASHTABLE(dafsd_session_ids, 10);	/* sessions that have an id */
static DEFINE_SPINLOCK(dafsd_sessions_lock);	/* protects these and the counts */
static unsigned int dafsd_nr_conns;	/* in the list, or about to be added */
static unsigned int dafsd_nr_sessions;	/* admitted */
static LIST_HEAD(dafsd_new_conns);	/* not authenticated, in the order of arrival */
static unsigned int dafsd_nr_new;	/* in that list */
static DECLARE_WAIT_QUEUE_HEAD(dafsd_sessions_gone);

static const u8 dafsd_session_next[] = {
	[DAFSD_SES_NEW]		= BIT(DAFSD_SES_CONNECTED) | BIT(DAFSD_SES_READY) |
				  BIT(DAFSD_SES_BOUND) | BIT(DAFSD_SES_CLOSING),
	[DAFSD_SES_CONNECTED]	= BIT(DAFSD_SES_READY) | BIT(DAFSD_SES_CLOSING),
	[DAFSD_SES_READY]	= BIT(DAFSD_SES_CLOSING),
	[DAFSD_SES_BOUND]	= BIT(DAFSD_SES_CLOSING),
	[DAFSD_SES_CLOSING]	= 0,
};

/* The connection has become a session or a bound channel, or is ending. */
static void dafsd_session_settle(struct dafsd_session *ses)
{
	spin_lock(&dafsd_sessions_lock);
	if (!list_empty(&ses->new_node)) {
		list_del_init(&ses->new_node);
		dafsd_nr_new--;
	}
	spin_unlock(&dafsd_sessions_lock);
}

/**
 * dafsd_session_set_state() - change the state of a session; nothing else does
 * @ses: the session
 * @next: the new state
 *
 * Context: process.
 * Return: false if @next may not follow the present state.
 */
bool dafsd_session_set_state(struct dafsd_session *ses, enum dafsd_session_state next)
{
	bool legal;

	spin_lock(&ses->lock);
	legal = dafsd_session_next[ses->state] & BIT(next);
	if (legal)
		trace_dafsd_session_state(ses, next);
	if (legal)	/* who sees READY sees the client, too */
		smp_store_release(&ses->state, next);
	spin_unlock(&ses->lock);
	if (legal && next != DAFSD_SES_CONNECTED)
		dafsd_session_settle(ses);
	return legal;
}

static void dafsd_session_free(struct work_struct *work)
{
	struct dafsd_session *ses = container_of(work, struct dafsd_session, teardown);

	dafs_chan_destroy(ses->chan);
	if (ses->client)
		dafsd_client_put(ses->client);
	spin_lock(&dafsd_sessions_lock);
	list_del(&ses->node);
	hash_del(&ses->id_node);
	dafsd_nr_conns--;
	ses->peer->conns--;
	if (ses->admitted) {
		dafsd_nr_sessions--;
		ses->peer->sessions--;
	}
	if (list_empty(&dafsd_sessions))
		wake_up(&dafsd_sessions_gone);
	spin_unlock(&dafsd_sessions_lock);
	dafsd_peer_put(ses->peer);
	kfree(ses->fence_id.data);
	kfree(ses);
}

/* The last reference may be dropped in a completion, but freeing a channel sleeps. */
static void dafsd_session_release(struct kref *ref)
{
	struct dafsd_session *ses = container_of(ref, struct dafsd_session, ref);

	INIT_WORK(&ses->teardown, dafsd_session_free);
	queue_work(dafsd_end_wq, &ses->teardown);
}

/**
 * dafsd_session_get() - take a reference
 * @ses: the session
 *
 * Return: @ses.
 */
struct dafsd_session *dafsd_session_get(struct dafsd_session *ses)
{
	kref_get(&ses->ref);
	return ses;
}

/**
 * dafsd_session_put() - drop a reference
 * @ses: the session
 *
 * Context: any.
 */
void dafsd_session_put(struct dafsd_session *ses)
{
	kref_put(&ses->ref, dafsd_session_release);
}
EXPORT_SYMBOL_IF_KUNIT(dafsd_session_put);

static u64 dafsd_session_hash(const struct dafs_session_id *session_id)
{
	return get_unaligned((const u64 *)session_id->b);
}

static struct dafsd_session *dafsd_session_lookup(const struct dafs_session_id *session_id)
{
	struct dafsd_session *ses;

	lockdep_assert_held(&dafsd_sessions_lock);
	hash_for_each_possible(dafsd_session_ids, ses, id_node, dafsd_session_hash(session_id))
		if (dafs_opaque64_equal(&ses->session_id, session_id))
			return ses;
	return NULL;
}

/**
 * dafsd_session_find() - the session with an id
 * @session_id: as returned by CLIENT_CONNECT
 *
 * Return: the session with a reference taken, or NULL.
 */
struct dafsd_session *dafsd_session_find(const struct dafs_session_id *session_id)
{
	struct dafsd_session *ses;

	spin_lock(&dafsd_sessions_lock);
	ses = dafsd_session_lookup(session_id);
	if (ses && !kref_get_unless_zero(&ses->ref))
		ses = NULL;
	spin_unlock(&dafsd_sessions_lock);
	return ses;
}
EXPORT_SYMBOL_IF_KUNIT(dafsd_session_find);

/**
 * dafsd_session_new_id() - give a session a new, unique id
 * @ses: the session; may have the id of an attempt that failed
 *
 * The whole id is random, so that it is not repeated after a restart (E-46), and cannot be
 * guessed for a CONNECT_BIND.
 *
 * Context: process.
 */
void dafsd_session_new_id(struct dafsd_session *ses)
{
	struct dafs_session_id id;

	spin_lock(&dafsd_sessions_lock);
	do
		get_random_bytes(&id, sizeof(id));
	while (dafsd_session_lookup(&id));
	hash_del(&ses->id_node);
	ses->session_id = id;
	hash_add(dafsd_session_ids, &ses->id_node, dafsd_session_hash(&id));
	spin_unlock(&dafsd_sessions_lock);
}

/* End the channels that are bound to this session. */
static void dafsd_session_unbind_all(struct dafsd_session *ses)
{
	spin_lock(&ses->lock);
	if (ses->bc)
		dafs_chan_fail(ses->bc->chan, DAFS_CLOSE_PEER);
	if (ses->rr)
		dafs_chan_fail(ses->rr->chan, DAFS_CLOSE_PEER);
	spin_unlock(&ses->lock);
}

/* A bound channel takes itself out of its session (3.2.4.1). */
static void dafsd_session_unbind(struct dafsd_session *bound)
{
	struct dafsd_session *ses = bound->bound_to;

	if (!ses)
		return;
	spin_lock(&ses->lock);
	if (ses->bc == bound)
		ses->bc = NULL;
	if (ses->rr == bound)
		ses->rr = NULL;
	spin_unlock(&ses->lock);
	bound->bound_to = NULL;
	dafsd_session_put(ses);
}

/**
 * dafsd_late_over() - no change of a session is executed any more
 * @ses: the session
 *
 * Context: any.
 */
void dafsd_late_over(struct dafsd_session *ses)
{
	if (xchg(&ses->late, 0))
		atomic_dec(&ses->client->nr_late);
}

/**
 * dafsd_late_closed() - the channel of a session has closed
 * @ses: the session
 *
 * Context: any.
 */
void dafsd_late_closed(struct dafsd_session *ses)
{
	/* pairs with dafsd_session_set_state(): ses->client is set and does not change */
	if (smp_load_acquire(&ses->state) != DAFSD_SES_READY)
		return;
	/* pairs with dafsd_late_begin() */
	smp_mb();
	if (!list_empty(&ses->changing) && !xchg(&ses->late, 1))
		atomic_inc(&ses->client->nr_late);
}

/* All requests have been answered; the responder may not have noticed that yet. */
static void dafsd_session_finish(struct work_struct *work)
{
	struct dafsd_session *ses = container_of(work, struct dafsd_session, teardown);

	dafs_responder_destroy(ses->responder);
	/* from here on no handler runs that could bind it or set the reaper */
	dafsd_session_unbind(ses);
	cancel_delayed_work_sync(&ses->reaper);
	if (ses->bc_requester) {
		dafs_requester_abort(ses->bc_requester, -ENOTCONN);
		dafs_requester_destroy(ses->bc_requester);
	}
	dafsd_late_over(ses);
	dafsd_client_leave(ses);
	dafsd_session_put(ses);
}

/**
 * dafsd_session_idle() - the last request has been answered, and the channel is quiesced
 * @ses: the session; @ses->busy has become 0
 *
 * Context: any.
 */
void dafsd_session_idle(struct dafsd_session *ses)
{
	INIT_WORK(&ses->teardown, dafsd_session_finish);
	queue_work(dafsd_end_wq, &ses->teardown);
}

/* Log a session that ended for lack of memory in the device, or with a slow client. */
static void dafsd_session_say_lost(const struct dafsd_session *ses)
{
	enum dafs_close_reason reason = ses->chan->reason;

	if (reason == DAFS_CLOSE_QP || reason == DAFS_CLOSE_CREDIT)
		pr_notice_ratelimited("dafsd: client %pISpc: %s\n", &ses->chan->peer,
				      dafs_chan_why(ses->chan));
}

static void dafsd_session_teardown(struct work_struct *work)
{
	struct dafsd_session *ses = container_of(work, struct dafsd_session, teardown);

	dafsd_session_set_state(ses, DAFSD_SES_CLOSING);
	dafsd_session_hide_from_sysfs(ses);
	dafsd_session_unbind_all(ses);
	dafs_chan_quiesce(ses->chan);
	dafsd_session_say_lost(ses);
	/* requests that it still delivers are counted before @busy can become 0 */
	dafs_responder_stop(ses->responder);
	dafsd_session_ops->stop(ses);
	if (atomic_dec_and_test(&ses->busy))
		dafsd_session_idle(ses);
}

static void dafsd_chan_closed(struct dafs_chan *chan, enum dafs_close_reason reason)
{
	struct dafsd_session *ses = chan->priv;

	dafsd_late_closed(ses);
	queue_work(dafsd_end_wq, &ses->teardown);
}

static const struct dafs_chan_ops dafsd_chan_ops = {
	.closed = dafsd_chan_closed,
};

/* Free the memory regions of the channels of a session that was idle for a lease period. */
static void dafsd_session_trim(struct dafsd_session *ses)
{
	struct dafsd_session *rr;

	spin_lock(&ses->lock);
	rr = ses->rr;
	if (rr && !kref_get_unless_zero(&rr->ref))
		rr = NULL;
	spin_unlock(&ses->lock);
	dafs_chan_trim_mrs(ses->chan);
	if (!rr)
		return;
	dafs_chan_trim_mrs(rr->chan);
	dafsd_session_put(rr);
}

/*
 * The RDMA-read channel alone may be cut off, which soft-RoCE does not notice: requests
 * would wait for their data for ever.
 */
static bool dafsd_session_reads_live(struct dafsd_session *ses)
{
	struct dafsd_session *rr = NULL;
	bool live;

	spin_lock(&ses->lock);
	if (ses->rr && kref_get_unless_zero(&ses->rr->ref))
		rr = ses->rr;
	spin_unlock(&ses->lock);
	if (!rr)
		return true;
	live = !dafs_chan_is_open(rr->chan) || dafs_chan_probe(rr->chan);
	dafsd_session_put(rr);
	return live;
}

/*
 * End a session whose connection was lost without notice.  The lease does not show this,
 * since the client may be alive and have another session.  Missing requests do not show it
 * either, since the client may just be idle in this session; so the channel is probed.
 */
static void dafsd_session_look(struct dafsd_session *ses)
{
	s64 requests = atomic64_read(&ses->requests);

	if ((requests == ses->requests_seen && !dafs_chan_probe(ses->chan)) ||
	    !dafsd_session_reads_live(ses)) {
		dafs_chan_fail(ses->chan, DAFS_CLOSE_TIMEOUT);
		return;
	}
	if (requests - ses->requests_seen < DAFSD_IDLE_REQUESTS)
		dafsd_session_trim(ses);
	ses->requests_seen = requests;
	/* does not change a timer that DISCONNECT has set */
	queue_delayed_work(dafsd_timer_wq, &ses->reaper, dafsd_lease_seconds * HZ);
}

static void dafsd_session_reap(struct work_struct *work)
{
	struct dafsd_session *ses = container_of(to_delayed_work(work),
						 struct dafsd_session, reaper);

	switch (READ_ONCE(ses->state)) {
	case DAFSD_SES_READY:
		dafsd_session_look(ses);
		break;
	case DAFSD_SES_BOUND:	/* ends together with its session */
		break;
	default:
		dafs_chan_fail(ses->chan, DAFS_CLOSE_TIMEOUT);
	}
}

/**
 * dafsd_session_reap_in() - set the time of the next check of a session
 * @ses: the session; the check ends it, unless it is ready and its client's hardware
 *	answers, or it is bound
 * @seconds: seconds until the check
 */
void dafsd_session_reap_in(struct dafsd_session *ses, unsigned int seconds)
{
	mod_delayed_work(dafsd_timer_wq, &ses->reaper, seconds * HZ);
}

static struct dafsd_session *dafsd_session_alloc(struct dafsd_peer *peer)
{
	struct dafsd_session *ses = kzalloc(sizeof(*ses), GFP_KERNEL);

	if (!ses)
		return NULL;
	ses->peer = peer;
	INIT_LIST_HEAD(&ses->new_node);
	INIT_LIST_HEAD(&ses->client_node);
	kref_init(&ses->ref);
	spin_lock_init(&ses->lock);
	spin_lock_init(&ses->chains.lock);
	atomic_set(&ses->busy, 1);
	spin_lock_init(&ses->placed_lock);
	INIT_LIST_HEAD(&ses->placed);
	INIT_LIST_HEAD(&ses->parked);
	INIT_LIST_HEAD(&ses->sq_waiting);
	INIT_LIST_HEAD(&ses->alone);
	INIT_LIST_HEAD(&ses->changing);
	mutex_init(&ses->setup);
	INIT_WORK(&ses->teardown, dafsd_session_teardown);
	INIT_DELAYED_WORK(&ses->reaper, dafsd_session_reap);
	return ses;
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

static int dafsd_session_open_chan(struct dafsd_session *ses, struct rdma_cm_id *id,
				   const struct rdma_conn_param *conn)
{
	/* the module parameters may have any value */
	u32 requests = clamp_t(u32, READ_ONCE(dafsd_max_requests), 1, DAFS_MAX_NREQ);
	u32 msg_size = clamp_t(u32, round_down(READ_ONCE(dafsd_msg_size), 8),
			       DAFS_FIRST_MSG_SIZE, DAFS_MAX_MSG_SIZE);
	struct dafs_chan_params params = {
		.ops = &dafsd_chan_ops,
		.priv = ses,
		.send_size = msg_size,
		.recv_size = msg_size,
		.depth = requests,
		.rdma_ctxs = max(requests, DAFSD_MIN_RDMA),
	};
	int err;

	dafsd_bound_params(&params, dafs_chan_type_of(conn));
	ses->chan = dafs_chan_accept_prepare(&params, id, conn);
	if (IS_ERR(ses->chan))
		return PTR_ERR(ses->chan);
	atomic_set(&ses->sq_avail, ses->chan->limits.rdma_wrs);
	ses->responder = dafs_responder_create(ses->chan, dafsd_session_ops->rqst, 1);
	if (IS_ERR(ses->responder)) {
		err = PTR_ERR(ses->responder);
		dafs_chan_destroy(ses->chan);
		return err;
	}
	return 0;
}

static bool dafsd_conn_reserve(struct dafsd_peer *peer)
{
	unsigned int most = READ_ONCE(dafsd_max_sessions);
	bool room;

	spin_lock(&dafsd_sessions_lock);
	room = dafsd_nr_conns / DAFSD_CONNS_PER_SESSION < most &&
	       peer->conns / DAFSD_CONNS_PER_SESSION < dafsd_peer_share(most);
	if (room) {
		dafsd_nr_conns++;
		peer->conns++;
	}
	spin_unlock(&dafsd_sessions_lock);
	return room;
}

static void dafsd_conn_unreserve(struct dafsd_peer *peer)
{
	spin_lock(&dafsd_sessions_lock);
	dafsd_nr_conns--;
	peer->conns--;
	spin_unlock(&dafsd_sessions_lock);
}

/**
 * dafsd_session_admit() - may a connection become a session?
 * @ses: the connection
 *
 * Context: ses->setup held.
 * Return: false if the limit of all sessions, or of those of its address, is reached.
 */
bool dafsd_session_admit(struct dafsd_session *ses)
{
	unsigned int most = READ_ONCE(dafsd_max_sessions);

	lockdep_assert_held(&ses->setup);
	spin_lock(&dafsd_sessions_lock);
	if (!ses->admitted && dafsd_nr_sessions < most &&
	    ses->peer->sessions < dafsd_peer_share(most)) {
		ses->admitted = true;
		dafsd_nr_sessions++;
		ses->peer->sessions++;
	}
	spin_unlock(&dafsd_sessions_lock);
	if (!ses->admitted)
		pr_warn_ratelimited("dafsd: no room for a session of %pI6c, see max_sessions\n",
				    &ses->peer->addr);
	return ses->admitted;
}

/* Fail the channel, unless the session has no references: then it is being destroyed. */
static void dafsd_session_fail(struct dafsd_session *ses, enum dafs_close_reason reason)
{
	lockdep_assert_held(&dafsd_sessions_lock);
	if (!kref_get_unless_zero(&ses->ref))
		return;
	dafs_chan_fail(ses->chan, reason);
	dafsd_session_put(ses);
}

/*
 * Connections that do not authenticate take resources from others, so their number is
 * limited: a new one replaces the oldest.
 */
static void dafsd_session_list(struct dafsd_session *ses)
{
	unsigned int most = clamp(READ_ONCE(dafsd_max_sessions) / 4, DAFSD_LEAST_NEW,
				  DAFSD_MOST_NEW);
	struct dafsd_session *oldest;

	spin_lock(&dafsd_sessions_lock);
	list_add_tail(&ses->node, &dafsd_sessions);
	list_add_tail(&ses->new_node, &dafsd_new_conns);
	if (dafsd_nr_new++ >= most) {
		oldest = list_first_entry(&dafsd_new_conns, struct dafsd_session, new_node);
		list_del_init(&oldest->new_node);
		dafsd_nr_new--;
		dafsd_session_fail(oldest, DAFS_CLOSE_TIMEOUT);
	}
	spin_unlock(&dafsd_sessions_lock);
}

/**
 * dafsd_session_accept() - a client connects
 * @listener: the listener that received the connection
 * @id: the connection
 * @conn: its private data and RDMA read limits
 *
 * Context: rdma_cm event handler; may sleep.
 * Return: 0, or a negative errno and the connection is rejected.
 */
int dafsd_session_accept(struct dafs_listener *listener, struct rdma_cm_id *id,
			 const struct rdma_conn_param *conn)
{
	struct dafsd_session *ses;
	struct dafsd_peer *peer;
	int err = -ENOMEM;

	peer = dafsd_peer_find(&id->route.addr.dst_addr);
	if (!peer)
		return -ENOMEM;
	if (!dafsd_conn_reserve(peer)) {
		err = -EBUSY;
		goto put_peer;
	}
	ses = dafsd_session_alloc(peer);
	if (!ses)
		goto unreserve;
	err = dafsd_session_open_chan(ses, id, conn);
	if (err)
		goto free;
	dafsd_session_list(ses);
	dafsd_session_reap_in(ses, 30);
	err = dafs_chan_accept(ses->chan);
	if (err)
		goto unlist;
	return 0;

unlist:
	cancel_delayed_work_sync(&ses->reaper);
	dafsd_session_settle(ses);
	spin_lock(&dafsd_sessions_lock);
	list_del(&ses->node);
	spin_unlock(&dafsd_sessions_lock);
	dafs_chan_quiesce(ses->chan);
	dafs_responder_destroy(ses->responder);
	dafs_chan_destroy(ses->chan);
free:
	kfree(ses);
unreserve:
	dafsd_conn_unreserve(peer);
put_peer:
	dafsd_peer_put(peer);
	return err;
}

/**
 * dafsd_sessions_busy() - does a client wait for the server?
 * @client: the client
 *
 * A request whose channel has closed does not count: it may be executed for as long as its
 * file system hangs, but its client does not wait for it.
 *
 * Context: holds dafsd_clients_lock, which keeps the sessions of the client.
 * Return: true if one of its requests is being executed, or its response is being sent.
 */
bool dafsd_sessions_busy(const struct dafsd_client *client)
{
	const struct dafsd_session *ses;

	list_for_each_entry(ses, &client->sessions, client_node)
		if (atomic_read(&ses->busy) > 1 && dafs_chan_is_open(ses->chan))
			return true;
	return false;
}

/**
 * dafsd_sessions_end() - end the sessions of a client whose lease has expired
 * @client: the client
 *
 * A session that is just being authenticated is not ended; it will be answered
 * STALE_CLIENTID.
 *
 * Context: holds dafsd_clients_lock.  Sessions may still be active when this returns.
 */
void dafsd_sessions_end(const struct dafsd_client *client)
{
	struct dafsd_session *ses;

	list_for_each_entry(ses, &client->sessions, client_node)
		dafs_chan_fail(ses->chan, DAFS_CLOSE_LEASE);
}

/*
 * Is @ses an older connection of the same session as @than?  Channels are numbered in the
 * order in which they are made.  D.8: the discriminator is the same for all channels of a
 * session, and unique otherwise.
 */
static bool dafsd_session_is_older(const struct dafsd_session *ses,
				   const struct dafsd_session *than)
{
	const struct dafs_chan *a = ses->chan, *b = than->chan;

	return (s32)(a->debug_id - b->debug_id) < 0 &&
	       !memcmp(a->instance, b->instance, sizeof(a->instance)) &&
	       !memcmp(a->session, b->session, sizeof(a->session));
}

/**
 * dafsd_sessions_supersede() - end the session that a new session replaces
 * @ses: a session that has just authenticated
 *
 * A client that has lost a connection makes a new one with the same discriminator.  It may
 * notice the loss long before the server does, and repeats unanswered requests at once.
 * Nothing is ended if the client sends no discriminator for its session.
 *
 * Only sessions older than @ses are ended, because the client may already have replaced
 * @ses, too.
 *
 * Context: holds dafsd_clients_lock, which keeps the sessions of the client.
 */
void dafsd_sessions_supersede(const struct dafsd_session *ses)
{
	struct dafsd_session *other;

	if (!memchr_inv(ses->chan->session, 0, sizeof(ses->chan->session)))
		return;
	list_for_each_entry(other, &ses->client->sessions, client_node) {
		if (!dafsd_session_is_older(other, ses))
			continue;
		dafs_chan_fail(other->chan, DAFS_CLOSE_PEER);
		/* if it is failing for another reason, dafsd_chan_closed() may come later */
		dafsd_late_closed(other);
	}
}

static bool dafsd_sessions_none(void)
{
	bool none;

	spin_lock(&dafsd_sessions_lock);
	none = list_empty(&dafsd_sessions);
	spin_unlock(&dafsd_sessions_lock);
	return none;
}

/**
 * dafsd_sessions_exit() - end all sessions
 *
 * Context: may sleep; the server does not listen any more.
 */
void dafsd_sessions_exit(void)
{
	struct dafsd_session *ses;

	spin_lock(&dafsd_sessions_lock);
	list_for_each_entry(ses, &dafsd_sessions, node)
		dafsd_session_fail(ses, DAFS_CLOSE_TIMEOUT);
	spin_unlock(&dafsd_sessions_lock);
	wait_event(dafsd_sessions_gone, dafsd_sessions_none());
}
