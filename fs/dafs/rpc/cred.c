// SPDX-License-Identifier: GPL-2.0
/*
 * Credential handles (3.1.1.2): the handle under which the server knows a user.
 *
 * A bounded cache that maps uid, gid and groups to the handle that REGISTER_CRED
 * returned.  Handles belong to the client-id and not to a session (E-47), so all
 * sessions of a client with one server share a cache.  A restarted server gives another
 * client-id; entries of the old client-id are no longer found.
 *
 *	REGISTERING	tasks that want it wait; the task that made it sends
 *			REGISTER_CRED, and its response settles the entry
 *	READY		in the table, and in the list by the time of its last use
 *	GONE		in neither: refused, or taken out
 *
 * A handle that is not used for a while is released, and so is the one that was used
 * least recently when the server has room for no more.
 */
#include <linux/hash.h>
#include <linux/hashtable.h>
#include <linux/jiffies.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include "rpc_impl.h"

/* Bytes of a REGISTER_CRED besides its groups, at most: headers, checksum, ids */
#define DAFS_CRED_FIXED		128

#define DAFS_CRED_BITS		6
#define DAFS_CRED_AGED		16U	/* released in one round of housekeeping */
#define DAFS_CRED_TRIES		8	/* if other tasks fail, or evict the handle */

enum dafs_cred_state {
	DAFS_CRED_REGISTERING,
	DAFS_CRED_READY,
	DAFS_CRED_GONE,
};

/**
 * struct dafs_cred_entry - one caller
 * @ref: one for the cache while it is in there, one for each waiting task and one for
 *	the call that registers it
 * @hash: link in the table
 * @lru: link in the LRU list, while READY
 * @cache: the cache it belongs to
 * @state: see above; guarded by the lock of @cache like the rest up to @used
 * @err: why it is GONE
 * @used: jiffies of the last use
 * @cred: holds a reference; compared by content
 * @client_id: the client-id that the handle belongs to
 * @handle: the credential handle
 * @conn: connection on which it is being registered, with a reference
 * @settled: completed when the registration has ended
 */
struct dafs_cred_entry {
	struct kref ref;
	struct hlist_node hash;
	struct list_head lru;
	struct dafs_cred_cache *cache;
	enum dafs_cred_state state;
	int err;
	unsigned long used;
	const struct cred *cred;
	struct dafs_client_id client_id;
	u8 handle[4];
	struct dafs_conn *conn;
	struct completion settled;
};

/**
 * struct dafs_cred_cache - handles of one client at one server
 * @node: in the list of caches
 * @users: sessions that share it; guarded by dafs_cred_caches_lock
 * @params: the cache's key: namespace, address and client-id-string
 * @lock: guards @table, @lru and @nr; taken in softirq, too
 * @table: all struct dafs_cred_entry that are not GONE
 * @lru: all entries that are READY, least recently used first
 * @nr: entries of @table
 */
struct dafs_cred_cache {
	struct list_head node;
	unsigned int users;
	struct dafs_client_params params;
	spinlock_t lock;	/* see above */
	DECLARE_HASHTABLE(table, DAFS_CRED_BITS);
	struct list_head lru;
	unsigned int nr;
};

static LIST_HEAD(dafs_cred_caches);
static DEFINE_MUTEX(dafs_cred_caches_lock);	/* guards the list */

static bool dafs_same_client(const struct dafs_client_params *a,
			     const struct dafs_client_params *b)
{
	return a->net == b->net && !memcmp(&a->dst, &b->dst, sizeof(a->dst)) &&
	       !strcmp(a->client_id, b->client_id);
}

static struct dafs_cred_cache *dafs_cred_cache_find(const struct dafs_client_params *params)
{
	struct dafs_cred_cache *cache;

	lockdep_assert_held(&dafs_cred_caches_lock);
	list_for_each_entry(cache, &dafs_cred_caches, node)
		if (dafs_same_client(&cache->params, params))
			return cache;
	return NULL;
}

static struct dafs_cred_cache *dafs_cred_cache_alloc(const struct dafs_client_params *params)
{
	struct dafs_cred_cache *cache = kzalloc(sizeof(*cache), GFP_KERNEL);

	if (!cache)
		return NULL;
	cache->params = *params;
	spin_lock_init(&cache->lock);
	hash_init(cache->table);
	INIT_LIST_HEAD(&cache->lru);
	list_add(&cache->node, &dafs_cred_caches);
	return cache;
}

/**
 * dafs_cred_cache_get() - the cache of a client
 * @params: parameters of a session, with its client-id-string; the session holds a
 *	reference on the namespace until dafs_cred_cache_put()
 *
 * Context: may sleep.
 * Return: the cache, or NULL if out of memory.
 */
struct dafs_cred_cache *dafs_cred_cache_get(const struct dafs_client_params *params)
{
	struct dafs_cred_cache *cache;

	guard(mutex)(&dafs_cred_caches_lock);
	cache = dafs_cred_cache_find(params) ?: dafs_cred_cache_alloc(params);
	if (cache)
		cache->users++;
	return cache;
}

static void dafs_cred_entry_free(struct kref *ref)
{
	struct dafs_cred_entry *entry = container_of(ref, struct dafs_cred_entry, ref);

	put_cred(entry->cred);
	kfree(entry);
}

static void dafs_cred_entry_put(struct dafs_cred_entry *entry)
{
	kref_put(&entry->ref, dafs_cred_entry_free);
}

/* The caller takes over the reference of the cache. */
static void dafs_cred_unlink(struct dafs_cred_entry *entry, int err)
{
	lockdep_assert_held(&entry->cache->lock);
	hash_del(&entry->hash);
	list_del_init(&entry->lru);
	entry->cache->nr--;
	entry->state = DAFS_CRED_GONE;
	entry->err = err;
}

/*
 * Takes out the least recently used entry, if there are @most or more entries and it
 * was not used for @idle jiffies.
 */
static struct dafs_cred_entry *dafs_cred_take(struct dafs_cred_cache *cache, unsigned int most,
					      unsigned long idle)
{
	struct dafs_cred_entry *entry;

	spin_lock_bh(&cache->lock);
	entry = list_first_entry_or_null(&cache->lru, struct dafs_cred_entry, lru);
	if (entry && (cache->nr < most || jiffies - entry->used < idle))
		entry = NULL;
	if (entry)
		dafs_cred_unlink(entry, -ESTALE);
	spin_unlock_bh(&cache->lock);
	return entry;
}

/**
 * dafs_cred_cache_put() - a session is gone
 * @cache: the session's cache; the last session destroys it
 *
 * Context: may sleep.
 */
void dafs_cred_cache_put(struct dafs_cred_cache *cache)
{
	struct dafs_cred_entry *entry;
	bool last;

	mutex_lock(&dafs_cred_caches_lock);
	last = !--cache->users;
	if (last)
		list_del(&cache->node);
	mutex_unlock(&dafs_cred_caches_lock);
	if (!last)
		return;
	while ((entry = dafs_cred_take(cache, 0, 0)))
		dafs_cred_entry_put(entry);
	kfree(cache);
}

static bool dafs_groups_equal(const struct group_info *a, const struct group_info *b)
{
	int i;

	if (a == b)
		return true;
	if (a->ngroups != b->ngroups)
		return false;
	for (i = 0; i < a->ngroups; i++)
		if (!gid_eq(a->gid[i], b->gid[i]))
			return false;
	return true;
}

static bool dafs_creds_equal(const struct cred *a, const struct cred *b)
{
	return a == b || (uid_eq(a->fsuid, b->fsuid) && gid_eq(a->fsgid, b->fsgid) &&
			  dafs_groups_equal(a->group_info, b->group_info));
}

static u32 dafs_cred_hash(const struct cred *cred)
{
	return __kuid_val(cred->fsuid) * GOLDEN_RATIO_32 + __kgid_val(cred->fsgid);
}

static struct dafs_cred_entry *dafs_cred_find(struct dafs_cred_cache *cache,
					      const struct dafs_conn *conn,
					      const struct cred *cred)
{
	struct dafs_cred_entry *entry;

	lockdep_assert_held(&cache->lock);
	hash_for_each_possible(cache->table, entry, hash, dafs_cred_hash(cred))
		if (dafs_opaque64_equal(&entry->client_id, &conn->client_id) &&
		    dafs_creds_equal(entry->cred, cred))
			return entry;
	return NULL;
}

/* Return: true if there is a handle. */
static bool dafs_cred_cached(struct dafs_cred_cache *cache, const struct dafs_conn *conn,
			     const struct cred *cred, u8 *handle)
{
	struct dafs_cred_entry *entry;
	bool found;

	spin_lock_bh(&cache->lock);
	entry = dafs_cred_find(cache, conn, cred);
	found = entry && entry->state == DAFS_CRED_READY;
	if (found) {
		entry->used = jiffies;
		list_move_tail(&entry->lru, &cache->lru);
		memcpy(handle, entry->handle, sizeof(entry->handle));
	}
	spin_unlock_bh(&cache->lock);
	return found;
}

static struct dafs_cred_entry *dafs_cred_entry_alloc(struct dafs_cred_cache *cache,
						     struct dafs_conn *conn,
						     const struct cred *cred)
{
	struct dafs_cred_entry *entry = kzalloc(sizeof(*entry), GFP_KERNEL);

	if (!entry)
		return NULL;
	kref_init(&entry->ref);
	INIT_LIST_HEAD(&entry->lru);
	init_completion(&entry->settled);
	entry->cache = cache;
	entry->cred = get_cred(cred);
	entry->client_id = conn->client_id;
	return entry;
}

/*
 * Return: the entry of the user, with a reference.  If there was none it is @new, and
 * the caller must register it.
 */
static struct dafs_cred_entry *dafs_cred_join(struct dafs_cred_cache *cache,
					      struct dafs_conn *conn, const struct cred *cred,
					      struct dafs_cred_entry *new)
{
	struct dafs_cred_entry *entry;

	spin_lock_bh(&cache->lock);
	entry = dafs_cred_find(cache, conn, cred);
	if (!entry) {
		entry = new;
		hash_add(cache->table, &entry->hash, dafs_cred_hash(cred));
		cache->nr++;
	}
	kref_get(&entry->ref);
	spin_unlock_bh(&cache->lock);
	return entry;
}

/* Ends REGISTERING: the entry becomes READY or GONE. */
static void dafs_cred_settle(struct dafs_cred_entry *entry, int err)
{
	struct dafs_cred_cache *cache = entry->cache;

	spin_lock_bh(&cache->lock);
	if (err) {
		dafs_cred_unlink(entry, err);
	} else {
		entry->state = DAFS_CRED_READY;
		entry->used = jiffies;
		list_add_tail(&entry->lru, &cache->lru);
	}
	spin_unlock_bh(&cache->lock);
	complete_all(&entry->settled);
	if (err)
		dafs_cred_entry_put(entry);
}

static int dafs_cred_result(struct dafs_call *call, struct dafs_conn *conn, u8 *handle)
{
	struct dafs_register_cred_res res;

	if (call->error)
		return call->error;
	if (dafs_status_action(call->status) == DAFS_ACT_SESSION) {
		dafs_conn_stale(conn);
		return -ENOTCONN;
	}
	if (call->status)
		return dafs_status_to_errno(call->status);
	if (dafs_decode_res(&call->buf, DAFS_PROC_REGISTER_CRED, &res))
		return -EIO;
	memcpy(handle, res.cred_handle, sizeof(res.cred_handle));
	return 0;
}

/* The response of REGISTER_CRED, whether or not a task still waits for it. */
static void dafs_cred_registered(struct dafs_call *call)
{
	struct dafs_cred_entry *entry = call->priv;
	struct dafs_conn *conn = entry->conn;

	dafs_cred_settle(entry, dafs_cred_result(call, conn, entry->handle));
	dafs_cred_entry_put(entry);
	dafs_conn_put(conn);
}

/*
 * REGISTER_CRED sends all groups in one message (6.2.8).  If a user has more groups than
 * fit, only those with the lowest numbers are sent, as with NFS.
 */
static int dafs_cred_most_groups(const struct dafs_conn *conn, const struct cred *cred)
{
	int most = (conn->opts.max_request_size - DAFS_CRED_FIXED) / sizeof(s32);

	if (cred->group_info->ngroups <= most)
		return cred->group_info->ngroups;
	pr_warn_ratelimited("dafs: server %pISpc: only %d of %d groups of user %u are sent\n",
			    &conn->ses->clnt->params.dst, most, cred->group_info->ngroups,
			    from_kuid(&init_user_ns, cred->fsuid));
	return most;
}

static int dafs_cred_groups(const struct dafs_conn *conn, const struct cred *cred,
			    struct dafs_seq *seq)
{
	int nr = dafs_cred_most_groups(conn, cred);
	s32 *groups;
	int i;

	groups = kvmalloc_array(nr ?: 1, sizeof(*groups), GFP_KERNEL);
	if (!groups)
		return -ENOMEM;
	for (i = 0; i < nr; i++)
		groups[i] = from_kgid(&init_user_ns, cred->group_info->gid[i]);
	*seq = (struct dafs_seq) { .count = nr, .elems = groups };
	return 0;
}

/* On success the call has a reference on the entry and one on the connection. */
static int dafs_cred_send(struct dafs_conn *conn, struct dafs_cred_entry *entry)
{
	struct dafs_register_cred_args args = {
		.cred_type = DAFS_CRED_ID,
		.uid = from_kuid(&init_user_ns, entry->cred->fsuid),
		.gid = from_kgid(&init_user_ns, entry->cred->fsgid),
	};
	struct dafs_call *call = dafs_call_alloc(GFP_KERNEL);
	int err = -ENOMEM;

	if (!call)
		return err;
	err = dafs_cred_groups(conn, entry->cred, &args.groups);
	if (err)
		goto put_call;
	call->proc = DAFS_PROC_REGISTER_CRED;
	call->args = &args;
	call->priv = entry;
	call->done = dafs_cred_registered;
	kref_get(&entry->ref);
	kref_get(&conn->ref);
	entry->conn = conn;
	err = dafs_call_start(conn->rq, call);
	kvfree(args.groups.elems);
	if (err) {
		dafs_cred_entry_put(entry);
		dafs_conn_put(conn);
	}
put_call:
	dafs_call_put(call);
	return err;
}

static void dafs_cred_released(struct dafs_call *call)
{
	dafs_conn_put(call->priv);
}

/*
 * Sends RELEASE_CRED; with @wait, waits for a slot and the response.  Return: 0 if it
 * was sent, or is not needed.
 */
static int dafs_cred_send_release(struct dafs_conn *conn, const struct dafs_cred_entry *entry,
				  bool wait)
{
	struct dafs_release_cred_args args;
	struct dafs_call *call;
	int err;

	if (!dafs_opaque64_equal(&entry->client_id, &conn->client_id))
		return 0;
	call = dafs_call_alloc(GFP_KERNEL);
	if (!call)
		return -ENOMEM;
	memcpy(args.cred_handle, entry->handle, sizeof(args.cred_handle));
	call->proc = DAFS_PROC_RELEASE_CRED;
	call->args = &args;
	call->done = dafs_cred_released;
	call->priv = conn;
	kref_get(&conn->ref);
	err = wait ? dafs_call_start(conn->rq, call) : dafs_call_start_chain(conn->rq, call);
	if (err)
		dafs_conn_put(conn);
	else if (wait)
		dafs_call_wait(call);
	dafs_call_put(call);
	return err;
}

/* A handle that could not be released stays valid. */
static void dafs_cred_put_back(struct dafs_cred_entry *entry)
{
	struct dafs_cred_cache *cache = entry->cache;

	spin_lock_bh(&cache->lock);
	entry->state = DAFS_CRED_READY;
	hash_add(cache->table, &entry->hash, dafs_cred_hash(entry->cred));
	list_add(&entry->lru, &cache->lru);
	cache->nr++;
	spin_unlock_bh(&cache->lock);
}

/* As dafs_cred_take(), and releases the handle at the server.  Return: false if there was none. */
static bool dafs_cred_evict(struct dafs_cred_cache *cache, struct dafs_conn *conn,
			    unsigned int most, unsigned long idle, bool wait)
{
	struct dafs_cred_entry *entry = dafs_cred_take(cache, most, idle);

	if (!entry)
		return false;
	if (dafs_cred_send_release(conn, entry, wait)) {
		dafs_cred_put_back(entry);
		return false;
	}
	dafs_cred_entry_put(entry);
	return true;
}

/**
 * dafs_cred_cache_age() - release handles that were not used for a while
 * @clnt: client
 * @conn: its connection
 * @idle: for how long, in jiffies
 *
 * Context: may sleep, but does not wait for the server.
 */
void dafs_cred_cache_age(struct dafs_client *clnt, struct dafs_conn *conn, unsigned long idle)
{
	unsigned int nr = DAFS_CRED_AGED;

	while (nr-- && dafs_cred_evict(clnt->creds, conn, 0, idle, false))
		;
}
EXPORT_SYMBOL_IF_KUNIT(dafs_cred_cache_age);

/**
 * dafs_cred_cache_release() - release all handles at the server
 * @clnt: a client that is about to end
 * @conn: a connection of it; handles of another client-id are forgotten
 *
 * Does nothing while other sessions use them.
 *
 * Context: may sleep.
 * Return: false if the server no longer answers.
 */
bool dafs_cred_cache_release(struct dafs_client *clnt, struct dafs_conn *conn)
{
	struct dafs_release_cred_args args;
	struct dafs_cred_entry *entry;
	bool told = true, shared;

	mutex_lock(&dafs_cred_caches_lock);
	shared = clnt->creds->users > 1;
	mutex_unlock(&dafs_cred_caches_lock);
	while (!shared && told && (entry = dafs_cred_take(clnt->creds, 0, 0))) {
		memcpy(args.cred_handle, entry->handle, sizeof(args.cred_handle));
		if (dafs_opaque64_equal(&entry->client_id, &conn->client_id))
			told = dafs_conn_notify(conn, DAFS_PROC_RELEASE_CRED, &args);
		dafs_cred_entry_put(entry);
	}
	return told;
}

/* How many of the server's handles are used before old ones are released. */
static unsigned int dafs_cred_most(const struct dafs_conn *conn)
{
	unsigned int max = conn->opts.max_credentials;

	/* leave some room: a RELEASE_CRED may arrive after the next REGISTER_CRED */
	return max - max / 8;
}

/* Return: as dafs_cred_handle(), once @entry is settled. */
static int dafs_cred_outcome(struct dafs_cred_entry *entry, u8 *handle)
{
	int err = wait_for_completion_killable(&entry->settled);

	if (err)
		return err;
	spin_lock_bh(&entry->cache->lock);
	if (entry->state == DAFS_CRED_READY)
		memcpy(handle, entry->handle, sizeof(entry->handle));
	else
		err = entry->err;
	spin_unlock_bh(&entry->cache->lock);
	return err;
}

/* One attempt to register @cred; *@mine is set if this task sent the request. */
static int dafs_cred_register(struct dafs_cred_cache *cache, struct dafs_conn *conn,
			      const struct cred *cred, u8 *handle, bool *mine)
{
	struct dafs_cred_entry *new, *entry;
	int err;

	new = dafs_cred_entry_alloc(cache, conn, cred);
	if (!new)
		return -ENOMEM;
	entry = dafs_cred_join(cache, conn, cred, new);
	*mine = entry == new;
	if (*mine) {
		dafs_cred_evict(cache, conn, dafs_cred_most(conn) + 1, 0, false);
		err = dafs_cred_send(conn, entry);
		if (err)
			dafs_cred_settle(entry, err);
	} else {
		dafs_cred_entry_put(new);
	}
	err = dafs_cred_outcome(entry, handle);
	dafs_cred_entry_put(entry);
	return err;
}

/* Is another attempt useful?  If another task failed, this task may still succeed. */
static bool dafs_cred_again(struct dafs_cred_cache *cache, struct dafs_conn *conn, int err,
			    bool mine)
{
	if (fatal_signal_pending(current))
		return false;
	/* other sessions of this client may have filled the server's table */
	if (err == -ENOMEM)
		return dafs_cred_evict(cache, conn, 0, 0, true);
	/* -EBADMSG: the request failed its checksum */
	return !mine || err == -ESTALE || err == -EBADMSG;
}

/**
 * dafs_cred_handle() - get the credential handle of a user
 * @clnt: the client
 * @conn: the connection to use it on
 * @cred: the user; NULL for the session's own identity
 * @handle: filled with the handle; zero on an untrusted session
 *
 * Context: may sleep; a fatal signal ends it.
 * Return: 0, -ENOMEM, -ENOTCONN, -ETIMEDOUT, -ERESTARTSYS (also if other tasks that
 * registered it were killed), or the errno of the REGISTER_CRED status.
 */
int dafs_cred_handle(struct dafs_client *clnt, struct dafs_conn *conn, const struct cred *cred,
		     u8 *handle)
{
	struct dafs_cred_cache *cache = clnt->creds;
	unsigned int tries = DAFS_CRED_TRIES;
	bool mine = true;
	int err;

	memset(handle, 0, 4);
	if (!cred || !conn->trusted)
		return 0;
	do {
		if (dafs_cred_cached(cache, conn, cred, handle))
			return 0;
		err = dafs_cred_register(cache, conn, cred, handle, &mine);
	} while (err && --tries && dafs_cred_again(cache, conn, err, mine));
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(dafs_cred_handle);

/**
 * dafs_cred_forget() - drop a handle that the server does not know (NO_CREDS)
 * @clnt: client
 * @conn: the connection on which the server said so
 * @handle: the handle; its user is registered again on the next use
 *
 * Context: any but hard interrupts.
 */
void dafs_cred_forget(struct dafs_client *clnt, struct dafs_conn *conn, const u8 *handle)
{
	struct dafs_cred_cache *cache = clnt->creds;
	struct dafs_cred_entry *entry, *found = NULL;

	spin_lock_bh(&cache->lock);
	list_for_each_entry(entry, &cache->lru, lru) {
		if (!dafs_opaque64_equal(&entry->client_id, &conn->client_id) ||
		    memcmp(entry->handle, handle, sizeof(entry->handle)))
			continue;
		found = entry;
		break;
	}
	if (found)
		dafs_cred_unlink(found, -ESTALE);
	spin_unlock_bh(&cache->lock);
	if (found)
		dafs_cred_entry_put(found);
}
