// SPDX-License-Identifier: GPL-2.0
/*
 * Credential handles (3.1.1.2): which handle the server knows a caller by.
 *
 * A bounded cache from what identifies a caller - uid, gid and groups - to the
 * handle that REGISTER_CRED returned.  The least recently used one makes room,
 * with RELEASE_CRED.  Handles belong to the client-id, so a restarted server,
 * which gives another one, makes the cache forget.
 */
#include <linux/slab.h>
#include "session_impl.h"

#define DAFS_CRED_CACHE_SIZE	32

/**
 * struct dafs_cred_entry - one registered credential
 * @node: in the cache, most recently used first
 * @cred: holds a reference; compared by content
 * @client_id: that the handle belongs to
 * @handle: cred_handle
 */
struct dafs_cred_entry {
	struct list_head node;
	const struct cred *cred;
	struct dafs_opaque64 client_id;
	u8 handle[4];
};

/**
 * struct dafs_cred_cache - handles of one session
 * @lock: guards @entries and @nr
 * @entries: struct dafs_cred_entry
 * @nr: of them
 * @registering: one REGISTER_CRED at a time, so that no credential gets two
 */
struct dafs_cred_cache {
	spinlock_t lock;	/* see above */
	struct list_head entries;
	unsigned int nr;
	struct mutex registering;	/* see above */
};

/**
 * dafs_cred_cache_create() - an empty cache
 *
 * Return: the cache or NULL without memory.
 */
struct dafs_cred_cache *dafs_cred_cache_create(void)
{
	struct dafs_cred_cache *cache = kzalloc(sizeof(*cache), GFP_KERNEL);

	if (!cache)
		return NULL;
	spin_lock_init(&cache->lock);
	INIT_LIST_HEAD(&cache->entries);
	mutex_init(&cache->registering);
	return cache;
}

static void dafs_cred_entry_free(struct dafs_cred_entry *entry)
{
	put_cred(entry->cred);
	kfree(entry);
}

/**
 * dafs_cred_cache_destroy() - forget all handles
 * @cache: the cache; the session is gone
 */
void dafs_cred_cache_destroy(struct dafs_cred_cache *cache)
{
	struct dafs_cred_entry *entry, *next;

	list_for_each_entry_safe(entry, next, &cache->entries, node)
		dafs_cred_entry_free(entry);
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

static bool dafs_cred_cached(struct dafs_cred_cache *cache, const struct dafs_conn *conn,
			     const struct cred *cred, u8 *handle)
{
	struct dafs_cred_entry *entry;
	bool found = false;

	spin_lock(&cache->lock);
	list_for_each_entry(entry, &cache->entries, node) {
		if (memcmp(&entry->client_id, &conn->client_id, sizeof(conn->client_id)) ||
		    !dafs_creds_equal(entry->cred, cred))
			continue;
		list_move(&entry->node, &cache->entries);
		memcpy(handle, entry->handle, sizeof(entry->handle));
		found = true;
		break;
	}
	spin_unlock(&cache->lock);
	return found;
}

static int dafs_cred_call(struct dafs_conn *conn, u32 proc, void *args, void *res)
{
	struct dafs_call *call = dafs_conn_call(conn->rq, proc, args);
	int err;

	if (IS_ERR(call))
		return PTR_ERR(call);
	err = dafs_status_to_errno(call->status);
	if (dafs_status_of_session(call->status)) {
		dafs_conn_stale(conn);
		err = -ENOTCONN;
	}
	if (!err && res && dafs_decode_res(&call->stream, proc, res))
		err = -EIO;
	dafs_call_put(call);
	return err;
}

/* Takes the entry used least recently out, if there are @most or more. */
static struct dafs_cred_entry *dafs_cred_take(struct dafs_cred_cache *cache, unsigned int most)
{
	struct dafs_cred_entry *entry = NULL;

	spin_lock(&cache->lock);
	if (cache->nr && cache->nr >= most) {
		entry = list_last_entry(&cache->entries, struct dafs_cred_entry, node);
		list_del(&entry->node);
		cache->nr--;
	}
	spin_unlock(&cache->lock);
	return entry;
}

/* Return: false if there was nothing to take out. */
static bool dafs_cred_make_room(struct dafs_cred_cache *cache, struct dafs_conn *conn,
				unsigned int most)
{
	struct dafs_cred_entry *entry = dafs_cred_take(cache, most);
	struct dafs_release_cred_args args;

	if (!entry)
		return false;
	memcpy(args.cred_handle, entry->handle, sizeof(args.cred_handle));
	if (!memcmp(&entry->client_id, &conn->client_id, sizeof(conn->client_id)))
		dafs_cred_call(conn, DAFS_PROC_RELEASE_CRED, &args, NULL);
	dafs_cred_entry_free(entry);
	return true;
}

/**
 * dafs_cred_cache_release() - give the server all handles back
 * @cache: of the session
 * @conn: a connection of it; handles of another client-id are forgotten
 *
 * Context: may sleep; nobody else uses the cache.
 * Return: false if the server does not answer any more.
 */
bool dafs_cred_cache_release(struct dafs_cred_cache *cache, struct dafs_conn *conn)
{
	struct dafs_release_cred_args args;
	struct dafs_cred_entry *entry;
	bool told = true;

	while (told && (entry = dafs_cred_take(cache, 0))) {
		memcpy(args.cred_handle, entry->handle, sizeof(args.cred_handle));
		if (!memcmp(&entry->client_id, &conn->client_id, sizeof(conn->client_id)))
			told = dafs_conn_tell(conn, DAFS_PROC_RELEASE_CRED, &args);
		dafs_cred_entry_free(entry);
	}
	return told;
}

static int dafs_cred_groups(const struct cred *cred, struct dafs_seq *seq)
{
	const struct group_info *info = cred->group_info;
	s32 *groups;
	int i;

	groups = kvmalloc_array(info->ngroups ?: 1, sizeof(*groups), GFP_KERNEL);
	if (!groups)
		return -ENOMEM;
	for (i = 0; i < info->ngroups; i++)
		groups[i] = from_kgid(&init_user_ns, info->gid[i]);
	*seq = (struct dafs_seq) { .count = info->ngroups, .elems = groups };
	return 0;
}

static int dafs_cred_register(struct dafs_conn *conn, const struct cred *cred, u8 *handle)
{
	struct dafs_register_cred_args args = {
		.cred_type = DAFS_CRED_ID,
		.uid = from_kuid(&init_user_ns, cred->fsuid),
		.gid = from_kgid(&init_user_ns, cred->fsgid),
	};
	struct dafs_register_cred_res res;
	int err;

	err = dafs_cred_groups(cred, &args.groups);
	if (err)
		return err;
	err = dafs_cred_call(conn, DAFS_PROC_REGISTER_CRED, &args, &res);
	kvfree(args.groups.elems);
	if (!err)
		memcpy(handle, res.cred_handle, sizeof(res.cred_handle));
	return err;
}

static int dafs_cred_add(struct dafs_cred_cache *cache, struct dafs_conn *conn,
			 const struct cred *cred, u8 *handle)
{
	struct dafs_cred_entry *entry = kmalloc(sizeof(*entry), GFP_KERNEL);
	int err;

	if (!entry)
		return -ENOMEM;
	dafs_cred_make_room(cache, conn, min(conn->opts.max_credentials, DAFS_CRED_CACHE_SIZE));
	do {
		err = dafs_cred_register(conn, cred, handle);
		/* other sessions of this client may have filled the server's table */
	} while (err == -ENOMEM && dafs_cred_make_room(cache, conn, 0));
	if (err) {
		kfree(entry);
		return err;
	}
	entry->cred = get_cred(cred);
	entry->client_id = conn->client_id;
	memcpy(entry->handle, handle, sizeof(entry->handle));
	spin_lock(&cache->lock);
	list_add(&entry->node, &cache->entries);
	cache->nr++;
	spin_unlock(&cache->lock);
	return 0;
}

/**
 * dafs_cred_handle() - the handle of a caller
 * @ses: the session
 * @conn: the connection it will be used on
 * @cred: the caller; NULL for the session's own identity
 * @handle: filled with cred_handle; zero on an untrusted session
 *
 * Context: may sleep.
 * Return: 0, -ENOMEM, -ENOTCONN, -ERESTARTSYS, or what REGISTER_CRED answered.
 */
int dafs_cred_handle(struct dafs_session *ses, struct dafs_conn *conn, const struct cred *cred,
		     u8 *handle)
{
	struct dafs_cred_cache *cache = ses->creds;
	int err = 0;

	memset(handle, 0, 4);
	if (!cred || !conn->trusted)
		return 0;
	if (dafs_cred_cached(cache, conn, cred, handle))
		return 0;
	mutex_lock(&cache->registering);
	if (!dafs_cred_cached(cache, conn, cred, handle))
		err = dafs_cred_add(cache, conn, cred, handle);
	mutex_unlock(&cache->registering);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(dafs_cred_handle);

/**
 * dafs_cred_forget() - the server does not know a handle (NO_CREDS)
 * @ses: session
 * @conn: the connection on which it said so
 * @handle: the handle; its user is registered anew when he comes again
 *
 * Context: may sleep.
 */
void dafs_cred_forget(struct dafs_session *ses, struct dafs_conn *conn, const u8 *handle)
{
	struct dafs_cred_cache *cache = ses->creds;
	struct dafs_cred_entry *entry, *found = NULL;

	spin_lock(&cache->lock);
	list_for_each_entry(entry, &cache->entries, node) {
		if (memcmp(&entry->client_id, &conn->client_id, sizeof(conn->client_id)) ||
		    memcmp(entry->handle, handle, sizeof(entry->handle)))
			continue;
		list_del(&entry->node);
		cache->nr--;
		found = entry;
		break;
	}
	spin_unlock(&cache->lock);
	if (found)
		dafs_cred_entry_free(found);
}
