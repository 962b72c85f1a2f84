// SPDX-License-Identifier: GPL-2.0
/*
 * Clients: what (client-id-string, verifier) pairs own (3.1.1.3).
 *
 * A client is found or made by CLIENT_CONNECT, but nothing happens to the
 * state of an older instance before a session has authenticated as the same
 * principal.  A client that no session has authenticated as ends with the last
 * session that might: it has no state, and costs a peer that makes thousands of
 * them a connection each.
 *
 * A client has one lease for all it owns (4.4.1.2).  Any request on any session
 * renews it (E-89), and so does a response: while the client waits for the server,
 * the silence is the server's.  Who is silent for that long has died, is cut off,
 * or is gone and has not come back.  Then its sessions end, its opens are closed
 * and it is forgotten; none of that is put off until another client needs what
 * it holds, because courtesy beyond the lease would have to be remembered
 * across a restart.
 *
 * Silence is found by looking twice.  A server that was itself suspended has
 * heard nothing of any client, and wakes up with their messages still in its
 * queues.
 *
 * A session may be left of a client that was discarded, because another instance
 * took its place.  All that it gets is STALE_CLIENTID (E-84).
 */
#include <linux/hashtable.h>
#include <linux/once.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include <kunit/visibility.h>
#include "server.h"
#include "peer.h"
#include "client.h"
#include "session.h"
#include "trace.h"

static const struct dafsd_client_ops *dafsd_client_ops;

/**
 * dafsd_clients_init() - tell who keeps the state of clients
 * @ops: that
 *
 * Context: module initialization.
 */
void dafsd_clients_init(const struct dafsd_client_ops *ops)
{
	dafsd_client_ops = ops;
}

#define DAFSD_TOLD_ID	64	/* bytes of an id string that are told in the log */

static LIST_HEAD(dafsd_clients);	/* in the order in which they came */
static DEFINE_HASHTABLE(dafsd_clients_by_id, 10);
/* guards both and most of struct dafsd_client, see there */
static DEFINE_MUTEX(dafsd_clients_lock);
static unsigned int dafsd_nr_clients;	/* in the list */
unsigned int dafsd_max_clients = DAFSD_DEFAULT_MAX_CLIENTS;	/* another one in tests */
EXPORT_SYMBOL_IF_KUNIT(dafsd_max_clients);
static u32 dafsd_client_count;		/* ever */

static void dafsd_client_drop_creds(struct dafsd_client *client)
{
	const struct cred *cred;
	unsigned long handle;

	xa_for_each(&client->creds, handle, cred) {
		/* RELEASE_CRED on a session of a discarded client may be first */
		cred = xa_erase(&client->creds, handle);
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
	dafsd_peer_put(client->peer);
	kfree(client->id);
	/* an open that was just taken from it may still be looked at, see dafsd_state_load() */
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

/* Why a client that lives may have lost what it had open; @why ends the sentence. */
static void dafsd_client_log(const struct dafsd_client *client, const char *why)
{
	pr_notice_ratelimited("dafsd: client %*pE at %pI6c with %u opens %s\n",
			      min_t(int, client->id_len, DAFSD_TOLD_ID), client->id,
			      &client->peer->addr, READ_ONCE(client->nr_opens), why);
}

/* Takes a client out of the table; dafsd_clients_release() does the rest. */
static void dafsd_client_remove(struct dafsd_client *client, struct list_head *gone)
{
	lockdep_assert_held(&dafsd_clients_lock);
	list_move_tail(&client->node, gone);
	hash_del(&client->id_node);
	dafsd_nr_clients--;
	client->peer->clients--;
	WRITE_ONCE(client->discarded, true);
	trace_dafsd_client(client, "discarded");
	if (cancel_delayed_work(&client->lease_work))
		dafsd_client_put(client);
}

/* Takes all that they had from clients; without the lock, because that may be much. */
static void dafsd_clients_release(struct list_head *gone)
{
	struct dafsd_client *client, *next;

	list_for_each_entry_safe(client, next, gone, node) {
		list_del_init(&client->node);
		dafsd_client_ops->release(client);
		dafsd_client_drop_creds(client);
		dafsd_client_put(client);
	}
}

/**
 * dafsd_client_renew() - a client has given a sign of life (E-89)
 * @client: the client
 *
 * Context: any.
 */
void dafsd_client_renew(struct dafsd_client *client)
{
	unsigned long now = jiffies;

	/* all its sessions come here, so leave the cache line alone if possible */
	if (READ_ONCE(client->renewed) != now)
		WRITE_ONCE(client->renewed, now);
}

static void dafsd_client_queue_lease(struct dafsd_client *client, unsigned long delay)
{
	lockdep_assert_held(&dafsd_clients_lock);
	kref_get(&client->ref);
	if (!queue_delayed_work(dafsd_timer_wq, &client->lease_work, delay))
		dafsd_client_put(client);	/* the work is queued already */
}

static void dafsd_client_check_lease(struct dafsd_client *client, struct list_head *gone)
{
	unsigned long lease = dafsd_lease_seconds * HZ;
	long left = READ_ONCE(client->renewed) + lease - jiffies;
	bool silent = left <= 0 && !dafsd_sessions_busy(client);

	if (silent && client->silent) {
		if (client->nr_opens)
			dafsd_client_log(client, "was silent for its lease");
		dafsd_sessions_end(client);
		/* by its record, changes that are late are known if it comes back */
		if (!atomic_read(&client->nr_late)) {
			dafsd_client_remove(client, gone);
			return;
		}
		trace_dafsd_client(client, "expired");
		dafsd_client_ops->expire(client);
	}
	client->silent = silent;
	dafsd_client_queue_lease(client, left > 0 ? left : lease / 4);
}

static void dafsd_client_lease_work(struct work_struct *work)
{
	struct dafsd_client *client = container_of(to_delayed_work(work),
						   struct dafsd_client, lease_work);
	LIST_HEAD(gone);

	mutex_lock(&dafsd_clients_lock);
	if (!client->discarded)
		dafsd_client_check_lease(client, &gone);
	mutex_unlock(&dafsd_clients_lock);
	dafsd_clients_release(&gone);
	dafsd_client_ops->revoke(client);
	dafsd_client_put(client);
}

static struct dafsd_client *dafsd_client_alloc(struct dafsd_peer *peer, const struct dafs_str *id,
					       const struct dafs_opaque64 *verifier,
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
	client->peer = dafsd_peer_get(peer);
	client->id_len = id->len;
	client->verifier = *verifier;
	client->max_credentials = max_credentials;
	kref_init(&client->ref);
	spin_lock_init(&client->lock);
	xa_init_flags(&client->creds, XA_FLAGS_ALLOC1);
	INIT_LIST_HEAD(&client->opens);
	INIT_LIST_HEAD(&client->expired);
	INIT_DELAYED_WORK(&client->lease_work, dafsd_client_lease_work);
	return client;
}

static bool dafsd_client_has_id(const struct dafsd_client *client, const void *id, u32 len)
{
	return client->id_len == len && !memcmp(client->id, id, len);
}

static bool dafsd_client_has_verifier(const struct dafsd_client *client,
				      const struct dafs_opaque64 *verifier)
{
	return !memcmp(&client->verifier, verifier, sizeof(*verifier));
}

/* Clients choose their ids, and must not be able to choose those of one hash. */
static u32 dafsd_client_hash(const void *id, u32 len)
{
	static siphash_key_t key __read_mostly;

	get_random_once(&key, sizeof(key));
	return siphash(id, len, &key);
}

static struct dafsd_client *dafsd_client_find(const struct dafs_str *id,
					      const struct dafs_opaque64 *verifier)
{
	struct dafsd_client *client;

	hash_for_each_possible(dafsd_clients_by_id, client, id_node,
			       dafsd_client_hash(id->data, id->len))
		if (dafsd_client_has_id(client, id->data, id->len) &&
		    dafsd_client_has_verifier(client, verifier))
			return client;
	return NULL;
}

/* Client-ids are never used twice, not by a restarted server either (E-46). */
static void dafsd_client_add(struct dafsd_client *client)
{
	u32 nr = ++dafsd_client_count;

	memcpy(client->client_id.b, &dafsd_boot_instance, 4);
	memcpy(client->client_id.b + 4, &nr, 4);
	list_add_tail(&client->node, &dafsd_clients);
	hash_add(dafsd_clients_by_id, &client->id_node,
		 dafsd_client_hash(client->id, client->id_len));
	dafsd_nr_clients++;
	client->peer->clients++;
}

/*
 * A client without sessions and without anything open loses nothing when it is
 * forgotten before its lease expires, so the one that came first makes room: of those
 * from the same address if it has as many as one may have.
 */
static bool dafsd_clients_room(const struct dafsd_peer *peer, struct list_head *gone)
{
	bool own = peer->clients >= dafsd_peer_share(dafsd_max_clients);
	struct dafsd_client *client;

	if (!own && dafsd_nr_clients < dafsd_max_clients)
		return true;
	list_for_each_entry(client, &dafsd_clients, node)
		if (!client->nr_sessions && !READ_ONCE(client->nr_opens) &&
		    (!own || client->peer == peer)) {
			dafsd_client_remove(client, gone);
			return true;
		}
	return false;
}

/**
 * dafsd_client_get() - the client of a CLIENT_CONNECT
 * @peer: where it comes from
 * @id: client-id-string, 1 to DAFS_MAX_ID_STRING bytes
 * @verifier: client_verifier
 * @max_credentials: for a new client
 *
 * Context: may sleep.
 * Return: the client with a reference, or NULL without memory or with too many
 * clients that have anything.  Until dafsd_client_confirm() or dafsd_client_abandon() a session
 * may authenticate as this client.
 */
struct dafsd_client *dafsd_client_get(struct dafsd_peer *peer, const struct dafs_str *id,
				      const struct dafs_opaque64 *verifier, u32 max_credentials)
{
	struct dafsd_client *client;
	LIST_HEAD(gone);

	mutex_lock(&dafsd_clients_lock);
	client = dafsd_client_find(id, verifier);
	if (!client && dafsd_clients_room(peer, &gone)) {
		client = dafsd_client_alloc(peer, id, verifier, max_credentials);
		if (client)
			dafsd_client_add(client);
	}
	if (client) {
		kref_get(&client->ref);
		client->nr_connecting++;
		client->nr_sessions++;
	} else {
		pr_warn_ratelimited("dafsd: no room for another client at %pI6c\n", &peer->addr);
	}
	mutex_unlock(&dafsd_clients_lock);
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
	LIST_HEAD(gone);

	mutex_lock(&dafsd_clients_lock);
	client->nr_sessions--;
	if (!--client->nr_connecting && !client->confirmed && !client->discarded)
		dafsd_client_remove(client, &gone);
	mutex_unlock(&dafsd_clients_lock);
	dafsd_clients_release(&gone);
}

/* Case C: an older instance with the same id string, or NULL. */
static struct dafsd_client *dafsd_client_older(const struct dafsd_client *client)
{
	struct dafsd_client *other;

	hash_for_each_possible(dafsd_clients_by_id, other, id_node,
			       dafsd_client_hash(client->id, client->id_len))
		if (other != client && other->confirmed &&
		    dafsd_client_has_id(other, client->id, client->id_len))
			return other;
	return NULL;
}

static u32 dafsd_client_check_principal(struct dafsd_client *client, u32 principal)
{
	struct dafsd_client *older = dafsd_client_older(client);

	if (client->confirmed && client->principal != principal)
		return DAFSERR_CLID_INUSE;
	if (older && older->principal != principal)
		return DAFSERR_CLID_INUSE;
	return DAFS_STATUS_OK;
}

/**
 * dafsd_client_confirm() - a session has authenticated
 * @ses: a session with a client
 * @principal: DAFS_AUTH_* it authenticated with; NONE and DEFAULT have one
 *	principal each (E-45)
 *
 * Releases the state of an older instance of the client (case C of 3.1.1.3), and ends the
 * connection that this one comes in place of.
 *
 * Context: may sleep.
 * Return: DAFS_STATUS_OK; DAFSERR_CLID_INUSE if the client-id belongs to
 * another principal; DAFSERR_STALE_CLIENTID if the client was discarded.
 */
u32 dafsd_client_confirm(struct dafsd_session *ses, u32 principal)
{
	struct dafsd_client *client = ses->client, *older;
	u32 status = DAFSERR_STALE_CLIENTID;
	LIST_HEAD(gone);

	mutex_lock(&dafsd_clients_lock);
	if (client->discarded)
		goto unlock;
	status = dafsd_client_check_principal(client, principal);
	if (status)
		goto unlock;
	while ((older = dafsd_client_older(client))) {
		if (older->peer != client->peer)
			dafsd_client_log(older, "gives way to one of its id at another address");
		dafsd_client_remove(older, &gone);
	}
	client->confirmed = true;
	client->principal = principal;
	client->nr_connecting--;
	ses->confirmed = true;
	trace_dafsd_client(client, "confirmed");
	dafsd_sessions_supersede(ses);
	dafsd_client_renew(client);
	dafsd_client_queue_lease(client, dafsd_lease_seconds * HZ);
unlock:
	mutex_unlock(&dafsd_clients_lock);
	dafsd_clients_release(&gone);
	/* what expired before it came back is not given to it once more */
	dafsd_client_ops->revoke(client);
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
	if (!ses->confirmed) {
		dafsd_client_abandon(client);
		return;
	}
	mutex_lock(&dafsd_clients_lock);
	ses->confirmed = false;
	client->nr_sessions--;
	dafsd_client_renew(client);	/* it has a lease's time to come back */
	mutex_unlock(&dafsd_clients_lock);
}

/**
 * dafsd_clients_exit() - forget all clients
 *
 * Context: may sleep; no sessions exist.
 */
void dafsd_clients_exit(void)
{
	struct dafsd_client *client, *next;
	LIST_HEAD(gone);

	mutex_lock(&dafsd_clients_lock);
	list_for_each_entry_safe(client, next, &dafsd_clients, node)
		dafsd_client_remove(client, &gone);
	mutex_unlock(&dafsd_clients_lock);
	dafsd_clients_release(&gone);
	flush_workqueue(dafsd_timer_wq);
	flush_workqueue(dafsd_close_wq);
}
