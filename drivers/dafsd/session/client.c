// SPDX-License-Identifier: GPL-2.0
/*
 * Clients: the state of each (client-id-string, verifier) pair (3.1.1.3).
 *
 * CLIENT_CONNECT finds or makes a client, but the state of an older instance is kept until
 * a session has authenticated as the same principal.  A client without an authenticated
 * session is removed with the last session that tried to authenticate.  Such a client has
 * no state, and each one needs a connection, so a peer cannot make thousands of them at no
 * cost.
 *
 * A client has one lease for all of its state (4.4.1.2).  Any request on any session
 * renews it (E-89), and so does a response: while the client waits for the server, it has
 * no reason to send anything.  A client that is silent for longer than the lease has
 * crashed, is cut off, or has disconnected and not come back.  Its sessions are ended.  What
 * it has is kept until it is in the way of others, or for a day, see courtesy.c; then its opens
 * are closed and the client is removed.
 *
 * A lease is over only if two checks in a row find it silent.  A server that was
 * suspended has received nothing from any client, and when it resumes, the messages of the
 * clients may still be in its queues.
 *
 * A discarded client, which a new instance has replaced, may still have a session.  All
 * requests on that session are answered STALE_CLIENTID (E-84).
 */
#include <linux/once.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include "server.h"
#include "peer.h"
#include "client.h"
#include "conn.h"
#include "courtesy.h"
#include "respcache.h"
#include "session.h"
#include "trace.h"

/* See dafsd_clients_init() */
const struct dafsd_client_ops *dafsd_client_ops;

/**
 * dafsd_clients_init() - set the callbacks to the layer that keeps the state of clients
 * @ops: the callbacks
 *
 * Context: module initialization.
 */
void dafsd_clients_init(const struct dafsd_client_ops *ops)
{
	dafsd_client_ops = ops;
}

#define DAFSD_TOLD_ID	64	/* bytes of an id string that are printed in the log */

static void dafsd_client_drop_creds(struct dafsd_client *client)
{
	const struct cred *cred;
	unsigned long handle;

	xa_for_each(&client->creds, handle, cred) {
		/* RELEASE_CRED on a session of a discarded client may have erased it */
		cred = dafsd_cred_erase(client, handle);
		if (cred)
			dafsd_cred_drop(client, cred);
	}
}

static void dafsd_client_free(struct kref *ref)
{
	struct dafsd_client *client = container_of(ref, struct dafsd_client, ref);

	/* a session of a discarded client may have registered until it ended */
	dafsd_client_drop_creds(client);
	xa_destroy(&client->creds);
	xa_destroy(&client->told);
	if (client->seen)
		dafsd_peer_uncharge(client->peer, DAFSD_CHARGE_STATE, DAFSD_SEEN_BYTES);
	kvfree(client->seen);
	dafsd_courtesy_forget(client);
	dafsd_peer_put(client->peer);
	kfree(client->id);
	/* dafsd_state_find() may still read the client of state that was just revoked */
	kfree_rcu(client, rcu);
}

/**
 * dafsd_client_put() - drop a reference
 * @client: the client
 *
 * Context: any.
 */
void dafsd_client_put(struct dafsd_client *client)
{
	kref_put(&client->ref, dafsd_client_free);
}

/* Log why a live client may have lost its opens; @why is the end of the sentence. */
static void dafsd_client_log(const struct dafsd_client *client, const char *why)
{
	pr_notice_ratelimited("dafsd: client %*pE at %pI6c with %u opens %s\n",
			      min_t(int, client->id_len, DAFSD_TOLD_ID), client->id,
			      &client->addr, READ_ONCE(client->nr_opens), why);
}

/* Does it have something that it could reclaim? */
static bool dafsd_client_has_state(const struct dafsd_client *client)
{
	return READ_ONCE(client->nr_opens) || atomic_read(&client->nr_delegs);
}

/* Take a client out of the table; dafsd_clients_release() releases its state. */
static void dafsd_client_remove(struct dafsd_client *client, struct list_head *gone)
{
	lockdep_assert_held(&client->server->clients_lock);
	list_move_tail(&client->node, gone);
	hash_del(&client->id_node);
	client->server->nr_clients--;
	client->peer->clients--;
	/* the courtesy to it may end at this moment */
	while (!dafsd_client_move(client, READ_ONCE(client->life), DAFSD_CLIENT_DISCARDED))
		cpu_relax();
	dafsd_client_unrecord(client);
	if (cancel_delayed_work(&client->lease_work))
		dafsd_client_put(client);
}

/*
 * Release the state of removed clients; without the lock, because it may take long.  After
 * their records are gone, because others may be given that state at once.
 */
static void dafsd_clients_release(struct list_head *gone)
{
	struct dafsd_client *client, *next;

	list_for_each_entry_safe(client, next, gone, node) {
		list_del_init(&client->node);
		dafsd_client_sync_record(client);
		dafsd_client_ops->release(client);
		dafsd_respcaches_drop(client);
		dafsd_courtesy_over(client);
		dafsd_client_drop_creds(client);
		dafsd_client_put(client);
	}
}

/**
 * dafsd_client_renew() - renew the lease of a client (E-89)
 * @client: the client
 *
 * Context: any.
 */
void dafsd_client_renew(struct dafsd_client *client)
{
	unsigned long now = jiffies;

	/* all of its sessions write this cache line, so avoid it if possible */
	if (READ_ONCE(client->renewed) != now)
		WRITE_ONCE(client->renewed, now);
}

static void dafsd_client_queue_lease(struct dafsd_client *client, unsigned long delay)
{
	lockdep_assert_held(&client->server->clients_lock);
	kref_get(&client->ref);
	if (!queue_delayed_work(dafsd_timer_wq, &client->lease_work, delay))
		dafsd_client_put(client);	/* the work is queued already */
}

/*
 * Client-ids are never reused, not even after a restart of the server (E-46).  The list of clients
 * is in the order of their numbers.
 */
static void dafsd_client_enumerate(struct dafsd_client *client)
{
	struct dafsd_server *server = client->server;
	u32 nr = ++server->client_count;

	lockdep_assert_held(&server->clients_lock);
	memcpy(client->client_id.b, &server->boot_instance, sizeof(u32));
	memcpy(client->client_id.b + sizeof(u32), &nr, sizeof(u32));
	list_move_tail(&client->node, &server->clients);
}

/*
 * Its lease is over; dafsd_clients_release() or dafsd_client_revoke() takes its state.  If it
 * comes back it is given another client-id, by which it learns that.
 */
static void dafsd_client_expire(struct dafsd_client *client, struct list_head *gone)
{
	dafsd_sessions_end(client);
	dafsd_client_move(client, DAFSD_CLIENT_LEAVING, DAFSD_CLIENT_ACTIVE);
	/* while it has late changes it stays, to detect them if it reconnects */
	if (list_empty(&client->late)) {
		dafsd_client_remove(client, gone);
		return;
	}
	trace_dafsd_client(client, "expired");
	dafsd_client_unrecord(client);
	dafsd_client_ops->expire(client);
	/* it does not release what it has registered under another client-id */
	dafsd_client_drop_creds(client);
	dafsd_client_enumerate(client);
	dafsd_client_queue_lease(client, dafsd_lease_seconds * HZ / 4);
}

/* Is what it has to be kept for it, although its lease is over? */
static bool dafsd_client_may_stay(struct dafsd_client *client)
{
	return dafsd_courtesy_time() && dafsd_client_has_state(client) &&
	       list_empty(&client->late) && dafsd_client_ops->may_stay(client);
}

/* Its lease has just ended.  Return: true if it keeps what it has. */
static bool dafsd_client_spare(struct dafsd_client *client)
{
	dafsd_sessions_end(client);
	if (!dafsd_client_may_stay(client) ||
	    !dafsd_client_move(client, DAFSD_CLIENT_ACTIVE, DAFSD_CLIENT_COURTEOUS))
		return false;
	dafsd_client_rerecord(client);
	return true;
}

/* How much of the courtesy to it is left, in jiffies? */
static unsigned long dafsd_client_courtesy_left(const struct dafsd_client *client)
{
	unsigned long end = client->courteous_since + dafsd_courtesy_time();

	return time_before(jiffies, end) ? end - jiffies : 0;
}

/* It is looked at once in a while, because the parameter may be changed. */
static bool dafsd_client_check_courtesy(struct dafsd_client *client)
{
	unsigned long left = dafsd_client_courtesy_left(client);

	if (left && dafsd_client_may_stay(client)) {
		dafsd_client_queue_lease(client, min(left, dafsd_lease_seconds * HZ));
		return true;
	}
	if (dafsd_client_move(client, DAFSD_CLIENT_COURTEOUS, DAFSD_CLIENT_LEAVING))
		dafsd_client_log(client, "was silent for too long");
	return false;
}

static bool dafsd_client_check_silence(struct dafsd_client *client)
{
	unsigned long lease = dafsd_lease_seconds * HZ;
	long left = READ_ONCE(client->renewed) + lease - jiffies;
	bool silent = left <= 0 && !dafsd_sessions_busy(client);
	bool over = silent && client->silent;

	client->silent = silent;
	dafsd_client_queue_lease(client, left > 0 ? left : lease / 4);
	if (!over)
		return true;
	if (client->nr_opens)
		dafsd_client_log(client, "was silent for its lease");
	return dafsd_client_spare(client);
}

/*
 * While the server stops no client can renew its lease; it reclaims what it has.  What others
 * wait for is taken from a client all the same: the server waits for their requests.
 *
 * Return: true if it keeps what it has.
 */
static bool dafsd_client_check_lease(struct dafsd_client *client)
{
	bool stopping = READ_ONCE(client->server->stopping);

	switch (READ_ONCE(client->life)) {
	case DAFSD_CLIENT_ACTIVE:
		return stopping || dafsd_client_check_silence(client);
	case DAFSD_CLIENT_COURTEOUS:
		return stopping || dafsd_client_check_courtesy(client);
	default:
		break;
	}
	if (client->yields)
		dafsd_client_log(client, "loses what others need");
	return false;
}

/* As dafsd_clients_release(), but the client stays. */
static void dafsd_client_revoke(struct dafsd_client *client)
{
	dafsd_client_sync_record(client);
	dafsd_client_ops->revoke(client);
}

static void dafsd_client_lease_work(struct work_struct *work)
{
	struct dafsd_client *client = container_of(to_delayed_work(work),
						   struct dafsd_client, lease_work);
	struct mutex *lock = &client->server->clients_lock;
	bool expires;
	LIST_HEAD(gone);

	mutex_lock(lock);
	expires = !dafsd_client_is_discarded(client) && !dafsd_client_check_lease(client);
	if (expires)
		dafsd_client_expire(client, &gone);
	mutex_unlock(lock);
	dafsd_clients_release(&gone);
	dafsd_client_revoke(client);
	if (expires)
		dafsd_courtesy_over(client);
	dafsd_client_put(client);
}

static struct dafsd_client *dafsd_client_alloc(struct dafsd_peer *peer, const struct dafs_str *id,
					       const struct dafs_verifier *verifier,
					       u32 max_credentials)
{
	struct dafsd_client *client;

	client = kzalloc(sizeof(*client), GFP_KERNEL);
	if (!client)
		return NULL;
	client->id = kmemdup(id->data, id->len, GFP_KERNEL);
	if (!client->id) {
		kfree(client);
		return NULL;
	}
	client->server = peer->server;
	client->peer = dafsd_peer_get(peer);
	client->id_len = id->len;
	client->verifier = *verifier;
	client->max_credentials = max_credentials;
	kref_init(&client->ref);
	mutex_init(&client->record_lock);
	spin_lock_init(&client->lock);
	spin_lock_init(&client->late_lock);
	xa_init(&client->told);
	xa_init_flags(&client->creds, XA_FLAGS_ALLOC1);
	INIT_LIST_HEAD(&client->node);
	INIT_LIST_HEAD(&client->sessions);
	INIT_LIST_HEAD(&client->respcaches);
	INIT_LIST_HEAD(&client->courtesy_link);
	INIT_LIST_HEAD(&client->states);
	INIT_LIST_HEAD(&client->expired);
	INIT_LIST_HEAD(&client->late);
	INIT_DELAYED_WORK(&client->lease_work, dafsd_client_lease_work);
	return client;
}

/**
 * dafsd_client_charge() - account for memory of what a client has
 * @client: the client
 * @bytes: size of the memory
 *
 * Context: any.
 * Return: false if a limit would be exceeded, see dafsd_peer_charge(); then nothing is accounted.
 */
bool dafsd_client_charge(struct dafsd_client *client, size_t bytes)
{
	if (!dafsd_peer_charge(client->peer, DAFSD_CHARGE_STATE, bytes))
		return false;
	atomic_long_add(bytes, &client->charged);
	return true;
}

/**
 * dafsd_client_charge_more() - likewise, for memory that is in use already
 * @client: the client
 * @bytes: size of the memory
 *
 * Context: any.
 */
void dafsd_client_charge_more(struct dafsd_client *client, size_t bytes)
{
	dafsd_peer_charge_more(client->peer, DAFSD_CHARGE_STATE, bytes);
	atomic_long_add(bytes, &client->charged);
}

/**
 * dafsd_client_uncharge() - undo these when the memory is freed
 * @client: the client; the caller has a reference
 * @bytes: size of the memory
 *
 * Context: any.
 */
void dafsd_client_uncharge(struct dafsd_client *client, size_t bytes)
{
	dafsd_peer_uncharge(client->peer, DAFSD_CHARGE_STATE, bytes);
	/* a full barrier, which pairs with that of wait_var_event() */
	if (atomic_long_sub_and_test(bytes, &client->charged))
		wake_up_var(&client->charged);
}

static bool dafsd_client_has_id(const struct dafsd_client *client, const void *id, u32 len)
{
	return client->id_len == len && !memcmp(client->id, id, len);
}

/**
 * dafsd_client_hash() - a hash of a client-id-string
 * @id: the string
 * @len: its bytes
 *
 * It is keyed, because clients choose their ids and could cause collisions.
 *
 * Context: any but interrupt.
 * Return: the hash.
 */
u32 dafsd_client_hash(const void *id, u32 len)
{
	static siphash_key_t key __read_mostly;

	get_random_once(&key, sizeof(key));
	return siphash(id, len, &key);
}

/**
 * dafsd_client_is_instance() - are these instances of one client?
 * @client: an instance
 * @other: perhaps another one
 *
 * Context: any; both have authenticated, or are not of one then.
 * Return: true if they have the same client-id-string and principal.
 */
bool dafsd_client_is_instance(const struct dafsd_client *client, const struct dafsd_client *other)
{
	return client->principal && client->principal == other->principal &&
	       dafsd_client_has_id(other, client->id, client->id_len);
}

static struct dafsd_client *dafsd_client_find(struct dafsd_server *server,
					      const struct dafs_str *id,
					      const struct dafs_verifier *verifier)
{
	struct dafsd_client *client;

	hash_for_each_possible(server->clients_by_id, client, id_node,
			       dafsd_client_hash(id->data, id->len))
		if (dafsd_client_has_id(client, id->data, id->len) &&
		    dafs_opaque64_equal(&client->verifier, verifier))
			return client;
	return NULL;
}

static void dafsd_client_add(struct dafsd_client *client)
{
	struct dafsd_server *server = client->server;

	dafsd_client_enumerate(client);
	hash_add(server->clients_by_id, &client->id_node,
		 dafsd_client_hash(client->id, client->id_len));
	server->nr_clients++;
	client->peer->clients++;
}

/* May it get back state that it had before a restart? */
static bool dafsd_client_reclaims(struct dafsd_client *client)
{
	return client->principal && dafsd_grace_reclaims(client);
}

/* The oldest client without sessions and opens, of @peer if that is not NULL; or NULL */
static struct dafsd_client *dafsd_clients_useless(struct dafsd_server *server,
						  const struct dafsd_peer *peer)
{
	struct dafsd_client *client;

	list_for_each_entry(client, &server->clients, node)
		if (!client->nr_connecting && list_empty(&client->sessions) &&
		    !dafsd_client_has_state(client) && (!peer || client->peer == peer) &&
		    !dafsd_client_reclaims(client))
			return client;
	return NULL;
}

/* A client may authenticate again at this moment. */
static bool dafsd_clients_end_courtesy(struct dafsd_server *server, const struct dafsd_peer *peer,
				       struct list_head *gone)
{
	struct dafsd_client *client = dafsd_courtesy_oldest(server, peer);

	if (!client)
		return false;
	dafsd_client_log(client, "gives way to another client");
	dafsd_client_remove(client, gone);
	dafsd_client_put(client);
	return true;
}

/*
 * Make room for another client.  A client without sessions and opens loses nothing if it
 * is removed before its lease expires, so the oldest of these is removed, or else one whose
 * lease is over.  If @peer has reached its own limit, the oldest one of this peer is removed.
 */
static bool dafsd_clients_room(const struct dafsd_peer *peer, struct list_head *gone)
{
	struct dafsd_server *server = peer->server;
	bool own = peer->clients >= dafsd_peer_share(server->max_clients);
	struct dafsd_client *client;

	if (!own && server->nr_clients < server->max_clients)
		return true;
	client = dafsd_clients_useless(server, own ? peer : NULL);
	if (!client)
		return dafsd_clients_end_courtesy(server, own ? peer : NULL, gone);
	dafsd_client_remove(client, gone);
	return true;
}

/**
 * dafsd_client_get() - the client of a CLIENT_CONNECT
 * @peer: its address
 * @id: client-id-string, 1 to DAFS_MAX_ID_STRING bytes
 * @verifier: client_verifier
 * @max_credentials: for a new client
 *
 * Context: may sleep.
 * Return: the client with a reference, or NULL if there is no memory, or if there are too
 * many clients with sessions or opens.  Until dafsd_client_confirm() or
 * dafsd_client_abandon() a session may authenticate as this client.
 */
struct dafsd_client *dafsd_client_get(struct dafsd_peer *peer, const struct dafs_str *id,
				      const struct dafs_verifier *verifier, u32 max_credentials)
{
	struct dafsd_server *server = peer->server;
	struct dafsd_client *client;
	LIST_HEAD(gone);

	mutex_lock(&server->clients_lock);
	client = dafsd_client_find(server, id, verifier);
	if (!client && dafsd_clients_room(peer, &gone)) {
		client = dafsd_client_alloc(peer, id, verifier, max_credentials);
		if (client)
			dafsd_client_add(client);
	}
	if (client) {
		kref_get(&client->ref);
		client->nr_connecting++;
	} else {
		pr_warn_ratelimited("dafsd: no room for another client at %pI6c\n", &peer->addr);
	}
	mutex_unlock(&server->clients_lock);
	dafsd_clients_release(&gone);
	return client;
}

/**
 * dafsd_client_abandon() - an attempt to authenticate as a client is over
 * @client: from dafsd_client_get(); the caller still has the reference
 *
 * Context: may sleep.
 */
void dafsd_client_abandon(struct dafsd_client *client)
{
	struct mutex *lock = &client->server->clients_lock;
	LIST_HEAD(gone);

	mutex_lock(lock);
	if (!--client->nr_connecting && !client->principal && !dafsd_client_is_discarded(client))
		dafsd_client_remove(client, &gone);
	mutex_unlock(lock);
	dafsd_clients_release(&gone);
}

/* Case C: an older instance with the same id string, or NULL. */
static struct dafsd_client *dafsd_client_older(const struct dafsd_client *client)
{
	struct dafsd_client *other;

	hash_for_each_possible(client->server->clients_by_id, other, id_node,
			       dafsd_client_hash(client->id, client->id_len))
		if (other != client && other->principal &&
		    dafsd_client_has_id(other, client->id, client->id_len))
			return other;
	return NULL;
}

/*
 * One whose lease is over keeps its id until somebody needs it, as another principal too.  Return:
 * STALE_CLIENTID if that needs @client itself.
 */
static dafs_status_t dafsd_client_check_principal(struct dafsd_client *client,
						  const struct dafsd_principal *principal)
{
	struct dafsd_client *older = dafsd_client_older(client);

	if (client->principal && client->principal != principal)
		return dafsd_courtesy_has(client) ? DAFSERR_STALE_CLIENTID : DAFSERR_CLID_INUSE;
	if (older && older->principal != principal && !dafsd_courtesy_has(older))
		return DAFSERR_CLID_INUSE;
	if (!client->principal && dafsd_grace_owned_by_other(client, principal))
		return DAFSERR_CLID_INUSE;
	return DAFS_STATUS_OK;
}

/*
 * Has its lease been over, but it has all that it had, and that is not durable yet?  Another
 * session of it may just be seeing to that.  What it has lost by the end of its lease is in
 * another list.
 */
static bool dafsd_client_returns(const struct dafsd_client *client)
{
	return !READ_ONCE(client->recorded) && !list_empty(&client->states);
}

static void dafsd_client_join(struct dafsd_client *client, struct dafsd_session *ses)
{
	bool back = dafsd_client_move(client, DAFSD_CLIENT_COURTEOUS, DAFSD_CLIENT_ACTIVE);

	list_add_tail(&ses->client_node, &client->sessions);
	client->nr_connecting--;
	dafsd_client_renew(client);
	client->silent = false;
	if (back)
		dafsd_client_rerecord(client);
	dafsd_client_queue_lease(client, dafsd_lease_seconds * HZ);
}

/**
 * dafsd_client_confirm() - a session has authenticated
 * @ses: a session with a client
 * @principal: the identity that it has authenticated as
 *
 * Releases the state of an older instance of the client (case C of 3.1.1.3), and ends the
 * connection that this one replaces.
 *
 * Context: may sleep.
 * Return: DAFS_STATUS_OK; DAFSERR_CLID_INUSE if the client-id belongs to
 * another principal; DAFSERR_STALE_CLIENTID if the client was discarded, or is now, because its
 * lease is over and this is another principal: a new client is made when that tries again; or the
 * status of dafsd_client_record() if its lease was over, and it cannot be recorded that it is back.
 */
dafs_status_t dafsd_client_confirm(struct dafsd_session *ses,
				   const struct dafsd_principal *principal)
{
	struct dafsd_client *client = ses->client, *older;
	struct mutex *lock = &client->server->clients_lock;
	dafs_status_t status = DAFSERR_STALE_CLIENTID;
	bool back = false;
	LIST_HEAD(gone);

	mutex_lock(lock);
	/* it may have been told the client-id from before it was ended */
	if (dafsd_client_is_discarded(client) ||
	    !dafs_opaque64_equal(&ses->client_id, &client->client_id))
		goto unlock;
	status = dafsd_client_check_principal(client, principal);
	if (status == DAFSERR_STALE_CLIENTID) {
		dafsd_client_log(client, "gives way to another principal");
		dafsd_client_remove(client, &gone);
	}
	if (status)
		goto unlock;
	while ((older = dafsd_client_older(client))) {
		if (older->peer != client->peer)
			dafsd_client_log(older, "gives way to one of its id at another address");
		dafsd_client_remove(older, &gone);
		if (older->principal == principal)
			dafsd_respcaches_inherit(client, older);
	}
	client->principal = principal;
	client->addr = dafsd_addr_of(&ses->op->chan->peer);
	dafsd_grace_came_back(client);
	/* it tries again if it could not be recorded that it is back */
	if (list_empty(&ses->client_node))
		dafsd_client_join(client, ses);
	back = dafsd_client_returns(client);
	trace_dafsd_client(client, "confirmed");
	dafsd_sessions_supersede(ses);
unlock:
	mutex_unlock(lock);
	dafsd_clients_release(&gone);
	/* it is not told before that is durable; it tries again */
	if (back)
		status = dafsd_client_record(client);
	/* opens that expired before the client reconnected are not restored */
	dafsd_client_revoke(client);
	if (!status)
		dafsd_client_ops->replaced(client);
	return status;
}

/**
 * dafsd_client_leave() - a session is gone
 * @ses: the session; may never have had a client
 *
 * Context: may sleep.
 */
void dafsd_client_leave(struct dafsd_session *ses)
{
	struct dafsd_client *client = ses->client;

	if (!client)
		return;
	if (list_empty(&ses->client_node)) {
		dafsd_client_abandon(client);
		return;
	}
	mutex_lock(&client->server->clients_lock);
	list_del_init(&ses->client_node);
	dafsd_client_renew(client);	/* the client can reconnect within its lease */
	mutex_unlock(&client->server->clients_lock);
}

static struct dafsd_client *dafsd_client_of_id(struct dafsd_server *server,
					       const struct dafs_client_id *client_id)
{
	struct dafsd_client *client;

	list_for_each_entry(client, &server->clients, node)
		if (client->principal && dafs_opaque64_equal(&client->client_id, client_id))
			return client;
	return NULL;
}

/**
 * dafsd_client_successor() - the present instance of a client that was replaced
 * @client: the client, discarded
 *
 * Context: may sleep.
 * Return: the instance, of the same principal, with a reference; or NULL.
 */
struct dafsd_client *dafsd_client_successor(const struct dafsd_client *client)
{
	struct dafsd_client *other, *found = NULL;

	mutex_lock(&client->server->clients_lock);
	hash_for_each_possible(client->server->clients_by_id, other, id_node,
			       dafsd_client_hash(client->id, client->id_len))
		if (dafsd_client_is_instance(client, other))
			found = other;
	if (found)
		kref_get(&found->ref);
	mutex_unlock(&client->server->clients_lock);
	return found;
}

static void dafsd_client_end_locked(struct dafsd_client *client, const char *why)
{
	lockdep_assert_held(&client->server->clients_lock);
	pr_notice("dafsd: client %*pE, %*phN, with %u opens %s\n",
		  min_t(int, client->id_len, DAFSD_TOLD_ID), client->id,
		  (int)sizeof(client->client_id), client->client_id.b,
		  READ_ONCE(client->nr_opens), why);
	/* what it has by courtesy may have begun to end at this moment */
	if (!dafsd_client_move(client, DAFSD_CLIENT_ACTIVE, DAFSD_CLIENT_LEAVING))
		dafsd_client_move(client, DAFSD_CLIENT_COURTEOUS, DAFSD_CLIENT_LEAVING);
	dafsd_client_hurry(client);
}

/**
 * dafsd_client_end() - end a client as if its lease had run out, in the background
 * @client: the client; the caller has a reference
 * @why: for the log, the end of a sentence about the client
 * @moot: called under dafsd_server.clients_lock, which may have been waited for: is there no
 *	reason any more?
 * @arg: passed to @moot
 *
 * All that it has is taken from it, and its sessions are ended.  If it lives it connects again,
 * and is given another client-id.
 *
 * Context: may sleep.
 * Return: false if it is not ended, as there is no reason any more.
 */
bool dafsd_client_end(struct dafsd_client *client, const char *why,
		      bool (*moot)(const void *arg), const void *arg)
{
	guard(mutex)(&client->server->clients_lock);
	if (moot(arg))
		return false;
	if (READ_ONCE(client->life) < DAFSD_CLIENT_LEAVING)
		dafsd_client_end_locked(client, why);
	return true;
}

/**
 * dafsd_client_end_id() - likewise, for an administrator
 * @server: the server
 * @client_id: which client
 *
 * Context: may sleep.
 * Return: 0, or -ENOENT if no client with this id has authenticated.
 */
int dafsd_client_end_id(struct dafsd_server *server, const struct dafs_client_id *client_id)
{
	struct dafsd_client *client;

	guard(mutex)(&server->clients_lock);
	client = dafsd_client_of_id(server, client_id);
	if (!client)
		return -ENOENT;
	dafsd_client_end_locked(client, "is ended by the administrator");
	return 0;
}

/**
 * dafsd_clients_walk() - look at the clients that have authenticated, in order of creation
 * @server: the server
 * @number: dafsd_client_number() where to begin; updated to where to go on
 * @show: called under dafsd_server.clients_lock; an error ends the walk before this client
 * @arg: passed to @show
 *
 * Context: may sleep.
 * Return: 0 after the last one, or the error of @show.
 */
int dafsd_clients_walk(struct dafsd_server *server, u32 *number,
		       int (*show)(struct dafsd_client *client, void *arg), void *arg)
{
	struct dafsd_client *client;
	int err;

	guard(mutex)(&server->clients_lock);
	list_for_each_entry(client, &server->clients, node) {
		if (dafsd_client_number(client) < *number || !client->principal)
			continue;
		*number = dafsd_client_number(client);
		err = show(client, arg);
		if (err)
			return err;
		++*number;
	}
	return 0;
}

/**
 * dafsd_clients_exit() - forget all clients
 * @server: the server
 *
 * Context: may sleep; no sessions exist.
 */
void dafsd_clients_exit(struct dafsd_server *server)
{
	struct dafsd_client *client, *next;
	LIST_HEAD(gone);

	mutex_lock(&server->clients_lock);
	list_for_each_entry_safe(client, next, &server->clients, node) {
		/* those with state, or that may reclaim it, may do so when the server is back */
		client->keeps_record = dafsd_client_has_state(client) ||
				       dafsd_client_reclaims(client);
		dafsd_client_remove(client, &gone);
	}
	mutex_unlock(&server->clients_lock);
	dafsd_clients_release(&gone);
	flush_workqueue(dafsd_timer_wq);
	flush_workqueue(dafsd_close_wq);
}
