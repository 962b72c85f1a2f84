// SPDX-License-Identifier: GPL-2.0
/*
 * Sessions (3.1.2): what there is from CLIENT_CONNECT to the end of the operation channel.
 *
 * A session is not its connection, but has some, see conn.c: the operation channel, with
 * which it begins and ends, and those that CONNECT_BIND has added.  A session whose
 * connection was lost without notice is found by dafsd_session_look().
 */
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/unaligned.h>
#include "server.h"
#include "peer.h"
#include "client.h"
#include "conn.h"
#include "respcache.h"
#include "session.h"

/* A session with fewer requests in a lease period is idle: these are NULLs for the lease */
#define DAFSD_IDLE_REQUESTS	8

static u64 dafsd_session_hash(const struct dafs_session_id *session_id)
{
	return get_unaligned((const u64 *)session_id->b);
}

static struct dafsd_session *dafsd_session_lookup(struct dafsd_server *server,
						  const struct dafs_session_id *session_id)
{
	struct dafsd_session *ses;

	lockdep_assert_held(&server->sessions_lock);
	hash_for_each_possible(server->session_ids, ses, id_node, dafsd_session_hash(session_id))
		if (dafs_opaque64_equal(&ses->session_id, session_id))
			return ses;
	return NULL;
}

/**
 * dafsd_session_is_there() - may requests of a session of a client still be executed?
 * @client: the client
 * @session_id: of the session, which need not be connected any more
 *
 * Context: holds dafsd_server.sessions_lock.
 * Return: true if so.
 */
bool dafsd_session_is_there(const struct dafsd_client *client,
			    const struct dafs_session_id *session_id)
{
	const struct dafsd_session *ses = dafsd_session_lookup(client->server, session_id);

	return ses && ses->client == client;
}

/**
 * dafsd_session_find() - the session with an id
 * @server: the server
 * @session_id: as returned by CLIENT_CONNECT
 *
 * Return: the session with a reference taken, or NULL.
 */
struct dafsd_session *dafsd_session_find(struct dafsd_server *server,
					 const struct dafs_session_id *session_id)
{
	struct dafsd_session *ses;

	spin_lock(&server->sessions_lock);
	ses = dafsd_session_lookup(server, session_id);
	if (ses && !kref_get_unless_zero(&ses->ref))
		ses = NULL;
	spin_unlock(&server->sessions_lock);
	return ses;
}

/*
 * The whole id is random, so that it is not repeated after a restart (E-46), and cannot be
 * guessed for a CONNECT_BIND.
 */
static void dafsd_session_new_id(struct dafsd_session *ses)
{
	struct dafsd_server *server = ses->op->server;
	struct dafs_session_id id;

	do
		get_random_bytes(&id, sizeof(id));
	while (dafsd_session_lookup(server, &id));
	ses->session_id = id;
	hash_add(server->session_ids, &ses->id_node, dafsd_session_hash(&id));
}

/* Return: false if the limit of all sessions, or of those of its address, is reached. */
static bool dafsd_session_admit(struct dafsd_session *ses)
{
	unsigned int most = READ_ONCE(dafsd_max_sessions);
	struct dafsd_server *server = ses->op->server;
	struct dafsd_peer *peer = ses->op->peer;
	bool room;

	spin_lock(&server->sessions_lock);
	room = server->nr_sessions < most && peer->sessions < dafsd_peer_share(most);
	if (room) {
		server->nr_sessions++;
		peer->sessions++;
		dafsd_session_new_id(ses);
	}
	spin_unlock(&server->sessions_lock);
	if (!room)
		pr_warn_ratelimited("dafsd: no room for a session of %pI6c, see max_sessions\n",
				    &peer->addr);
	return room;
}

/**
 * dafsd_session_create() - make a session with a new, unique id
 * @conn: its operation channel, in state NEW
 *
 * Context: may sleep.
 * Return: the session with a reference, for dafsd_conn_set_state() or dafsd_session_end();
 * NULL without memory or if there are too many.
 */
struct dafsd_session *dafsd_session_create(struct dafsd_conn *conn)
{
	struct dafsd_session *ses = kzalloc(sizeof(*ses), GFP_KERNEL);

	if (!ses)
		return NULL;
	kref_init(&ses->ref);
	spin_lock_init(&ses->lock);
	INIT_LIST_HEAD(&ses->client_node);
	ses->op = conn;
	if (!dafsd_session_admit(ses)) {
		kfree(ses);
		return NULL;
	}
	dafsd_conn_get(conn);
	return ses;
}

static void dafsd_session_free(struct kref *ref)
{
	struct dafsd_session *ses = container_of(ref, struct dafsd_session, ref);
	struct dafsd_conn *op = ses->op;
	struct dafsd_server *server = op->server;

	spin_lock(&server->sessions_lock);
	hash_del(&ses->id_node);
	server->nr_sessions--;
	op->peer->sessions--;
	spin_unlock(&server->sessions_lock);
	if (ses->client)
		dafsd_client_put(ses->client);
	kfree(ses->fence_id.data);
	kfree(ses);
	dafsd_conn_put(op);
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
 * Context: process.
 */
void dafsd_session_put(struct dafsd_session *ses)
{
	kref_put(&ses->ref, dafsd_session_free);
}

/**
 * dafsd_session_unbind() - a bound channel leaves its session (3.2.4.1)
 * @ses: the session; drops the reference of @bound
 * @bound: the channel
 *
 * Context: process.
 */
void dafsd_session_unbind(struct dafsd_session *ses, const struct dafsd_conn *bound)
{
	spin_lock(&ses->lock);
	if (ses->bc == bound)
		ses->bc = NULL;
	if (ses->rr == bound)
		ses->rr = NULL;
	spin_unlock(&ses->lock);
	dafsd_session_put(ses);
}

/**
 * dafsd_session_close() - the operation channel is closing: end what depends on it
 * @ses: the session; its requests may still be executed
 *
 * Context: may sleep; the channel is in state CLOSING, so that nothing is bound any more.
 */
void dafsd_session_close(struct dafsd_session *ses)
{
	dafsd_session_hide_from_sysfs(ses);
	spin_lock(&ses->lock);
	if (ses->bc)
		dafs_chan_fail(ses->bc->chan, DAFS_CLOSE_PEER);
	if (ses->rr)
		dafs_chan_fail(ses->rr->chan, DAFS_CLOSE_PEER);
	spin_unlock(&ses->lock);
}

/**
 * dafsd_session_end() - the operation channel leaves the session, which is over
 * @ses: the session; drops the reference of dafsd_session_create()
 *
 * Context: may sleep; none of its requests is executed any more.
 */
void dafsd_session_end(struct dafsd_session *ses)
{
	/* before: without sessions its client may be discarded */
	dafsd_respcache_retire(ses);
	dafsd_client_leave(ses);
	dafsd_session_put(ses);
}

/* The RDMA-read channel with a reference, or NULL */
static struct dafsd_conn *dafsd_session_read_channel(struct dafsd_session *ses)
{
	struct dafsd_conn *rr;

	spin_lock(&ses->lock);
	rr = ses->rr;
	if (rr && !kref_get_unless_zero(&rr->ref))
		rr = NULL;
	spin_unlock(&ses->lock);
	return rr;
}

/*
 * Does the client's hardware answer?  The RDMA-read channel alone may be cut off, which
 * soft-RoCE does not notice: requests would wait for their data for ever.
 */
static bool dafsd_session_answers(const struct dafsd_session *ses, const struct dafsd_conn *rr,
				  s64 requests)
{
	return (requests || dafs_chan_probe(ses->op->chan)) &&
	       (!rr || !dafs_chan_is_open(rr->chan) || dafs_chan_probe(rr->chan));
}

/**
 * dafsd_session_look() - is the connection of a session alive?
 * @ses: the session, authenticated
 *
 * The lease does not show this, since the client may be alive and have another session.
 * Missing requests do not show it either, since the client may just be idle in this
 * session; so the channel is probed.  Of a session that was idle for a lease period the
 * memory regions are freed.
 *
 * Context: may sleep.
 * Return: false if it was lost without notice.
 */
bool dafsd_session_look(struct dafsd_session *ses)
{
	s64 requests = atomic64_read(&ses->requests) - ses->requests_seen;
	struct dafsd_conn *rr = dafsd_session_read_channel(ses);
	bool answers = dafsd_session_answers(ses, rr, requests);

	if (answers && requests < DAFSD_IDLE_REQUESTS) {
		dafs_chan_trim_mrs(ses->op->chan);
		if (rr)
			dafs_chan_trim_mrs(rr->chan);
	}
	ses->requests_seen += requests;
	if (rr)
		dafsd_conn_put(rr);
	return answers;
}

/**
 * dafsd_sessions_busy() - does a client wait for the server?
 * @client: the client
 *
 * A request whose channel has closed does not count: it may be executed for as long as its
 * file system hangs, but its client does not wait for it.
 *
 * Context: holds dafsd_server.clients_lock, which keeps the sessions of the client.
 * Return: true if one of its requests is being executed, or its response is being sent.
 */
bool dafsd_sessions_busy(const struct dafsd_client *client)
{
	const struct dafsd_session *ses;

	list_for_each_entry(ses, &client->sessions, client_node)
		if (atomic_read(&ses->op->busy) > 1 && dafs_chan_is_open(ses->op->chan))
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
 * Context: holds dafsd_server.clients_lock.  Sessions may still be active when this returns.
 */
void dafsd_sessions_end(const struct dafsd_client *client)
{
	struct dafsd_session *ses;

	list_for_each_entry(ses, &client->sessions, client_node) {
		dafs_chan_fail(ses->op->chan, DAFS_CLOSE_LEASE);
		/* if it is failing for another reason, dafsd_chan_closed() may come later */
		dafsd_late_closed(ses->op);
	}
}

/*
 * Does @ses replace @old, of the same client?  Channels are numbered in the order in which
 * they are made.  D.8: the discriminator is the same for all channels of a session, and
 * unique otherwise.
 */
static bool dafsd_session_replaces(const struct dafsd_session *ses,
				   const struct dafsd_session *old)
{
	const struct dafs_chan *a = ses->op->chan, *b = old->op->chan;

	return (s32)(a->debug_id - b->debug_id) > 0 &&
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
 * Context: holds dafsd_server.clients_lock, which keeps the sessions of the client.
 */
void dafsd_sessions_supersede(const struct dafsd_session *ses)
{
	const struct dafs_chan *chan = ses->op->chan;
	struct dafsd_session *other;

	if (!memchr_inv(chan->session, 0, sizeof(chan->session)))
		return;
	list_for_each_entry(other, &ses->client->sessions, client_node) {
		if (!dafsd_session_replaces(ses, other))
			continue;
		dafs_chan_fail(other->op->chan, DAFS_CLOSE_PEER);
		/* if it is failing for another reason, dafsd_chan_closed() may come later */
		dafsd_late_closed(other->op);
	}
}
