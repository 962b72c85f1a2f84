// SPDX-License-Identifier: GPL-2.0
/*
 * Credential handles (3.1.1.2): the handle under which the server knows a user.
 *
 * A bounded cache maps uid, gid and groups to the handle that REGISTER_CRED returned; a
 * user that is not in it is registered, see register.c.
 *
 * Handles belong to the client-id and not to a session (E-47), so all clients with one
 * client-id at one server share a cache.  A restarted server gives another client-id;
 * entries of the old client-id are no longer found.
 *
 *	REGISTERING	tasks that want it wait; the task that made it sends
 *			REGISTER_CRED, and its response settles the entry
 *	READY		in the table, and in the list by the time of its last use
 *	GONE		in neither: refused, or taken out
 */
#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/slab.h>
#include "cred.h"

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
 * @params: parameters of a client, with its client-id-string; the client holds a
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

/**
 * dafs_cred_cache_shared() - do several clients use a cache?
 * @cache: the cache
 *
 * Context: may sleep.
 * Return: true if so.
 */
bool dafs_cred_cache_shared(const struct dafs_cred_cache *cache)
{
	guard(mutex)(&dafs_cred_caches_lock);
	return cache->users > 1;
}

static u32 dafs_cred_hash(const struct cred *cred)
{
	return __kuid_val(cred->fsuid) * GOLDEN_RATIO_32 + __kgid_val(cred->fsgid);
}

static void dafs_cred_entry_free(struct kref *ref)
{
	struct dafs_cred_entry *entry = container_of(ref, struct dafs_cred_entry, ref);

	put_cred(entry->cred);
	kfree(entry);
}

/**
 * dafs_cred_entry_put() - drop a reference on an entry
 * @entry: the entry
 *
 * Context: any.
 */
void dafs_cred_entry_put(struct dafs_cred_entry *entry)
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

/**
 * dafs_cred_take() - take the least recently used entry out of a cache
 * @cache: the cache
 * @most: only if there are so many entries, or more
 * @idle: only if it was not used for so many jiffies
 *
 * Context: any but hard interrupts.
 * Return: the entry with the reference of the cache, or NULL.
 */
struct dafs_cred_entry *dafs_cred_take(struct dafs_cred_cache *cache, unsigned int most,
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
 * dafs_cred_put_back() - undo dafs_cred_take(): the handle stays valid
 * @entry: the entry
 *
 * Context: any but hard interrupts.
 */
void dafs_cred_put_back(struct dafs_cred_entry *entry)
{
	struct dafs_cred_cache *cache = entry->cache;

	spin_lock_bh(&cache->lock);
	entry->state = DAFS_CRED_READY;
	hash_add(cache->table, &entry->hash, dafs_cred_hash(entry->cred));
	list_add(&entry->lru, &cache->lru);
	cache->nr++;
	spin_unlock_bh(&cache->lock);
}

/**
 * dafs_cred_cache_put() - a client is gone
 * @cache: the client's cache; the last client frees it
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

/**
 * dafs_cred_join() - find the entry of a user, or add one
 * @cache: the cache
 * @conn: the connection to use it on
 * @cred: the user
 * @mine: set if the entry was added: the caller must register the user
 *
 * Context: may sleep.
 * Return: the entry with a reference, or NULL if out of memory.
 */
struct dafs_cred_entry *dafs_cred_join(struct dafs_cred_cache *cache, struct dafs_conn *conn,
				       const struct cred *cred, bool *mine)
{
	struct dafs_cred_entry *new = dafs_cred_entry_alloc(cache, conn, cred);
	struct dafs_cred_entry *entry;

	if (!new)
		return NULL;
	spin_lock_bh(&cache->lock);
	entry = dafs_cred_find(cache, conn, cred);
	*mine = !entry;
	if (*mine) {
		entry = new;
		hash_add(cache->table, &entry->hash, dafs_cred_hash(cred));
		cache->nr++;
	}
	kref_get(&entry->ref);
	spin_unlock_bh(&cache->lock);
	if (!*mine)
		dafs_cred_entry_put(new);
	return entry;
}

/**
 * dafs_cred_settle() - REGISTERING is over: an entry becomes READY or GONE
 * @entry: the entry, of which the caller has a reference
 * @err: 0 if the handle is in @entry, or the errno of the registration
 *
 * Context: any but hard interrupts.
 */
void dafs_cred_settle(struct dafs_cred_entry *entry, int err)
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

/**
 * dafs_cred_handle() - get the credential handle of a user
 * @clnt: the client
 * @conn: the connection to use it on
 * @cred: the user; NULL for the client's own identity
 * @handle: filled with the handle; zero on an untrusted session
 *
 * Context: may sleep; a fatal signal ends it.
 * Return: 0, -ENOMEM, -ENOTCONN, -ETIMEDOUT, -ERESTARTSYS (also if other tasks that
 * registered it were killed), or the errno of the REGISTER_CRED status.
 */
int dafs_cred_handle(struct dafs_client *clnt, struct dafs_conn *conn, const struct cred *cred,
		     u8 *handle)
{
	memset(handle, 0, 4);
	if (!cred || !conn->trusted || dafs_cred_cached(clnt->creds, conn, cred, handle))
		return 0;
	return dafs_cred_register(clnt->creds, conn, cred, handle);
}

/**
 * dafs_call_as() - allocate a call on behalf of a user
 * @clnt: the client
 * @conn: the connection to send it on
 * @cred: the user; NULL for the client's own identity
 *
 * Context: may sleep; a fatal signal ends it.  In I/O, with memalloc_nofs_save().
 * Return: the call, or an ERR_PTR of -ENOMEM or as dafs_cred_handle().
 */
struct dafs_call *dafs_call_as(struct dafs_client *clnt, struct dafs_conn *conn,
			       const struct cred *cred)
{
	struct dafs_call *call = dafs_call_alloc(GFP_KERNEL);
	int err;

	if (!call)
		return ERR_PTR(-ENOMEM);
	err = dafs_cred_handle(clnt, conn, cred, call->cred);
	if (!err)
		return call;
	dafs_call_put(call);
	return ERR_PTR(err);
}

/**
 * dafs_cred_forget() - drop a handle that the server does not know (NO_CREDS)
 * @conn: the connection on which the server said so
 * @handle: the handle; its user is registered again on the next use
 *
 * Context: any but hard interrupts.
 */
void dafs_cred_forget(struct dafs_conn *conn, const u8 *handle)
{
	struct dafs_cred_cache *cache = conn->ses->clnt->creds;
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
