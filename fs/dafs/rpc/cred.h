/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The cache of credential handles: for cred.c and register.c.
 */
#ifndef _FS_DAFS_CRED_H
#define _FS_DAFS_CRED_H

#include <linux/hashtable.h>
#include "rpc_impl.h"

#define DAFS_CRED_BITS		6

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
 * @users: clients that share it; guarded by dafs_cred_caches_lock
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

/* cred.c */
void dafs_cred_entry_put(struct dafs_cred_entry *entry);
struct dafs_cred_entry *dafs_cred_take(struct dafs_cred_cache *cache, unsigned int most,
				       unsigned long idle);
void dafs_cred_put_back(struct dafs_cred_entry *entry);
struct dafs_cred_entry *dafs_cred_join(struct dafs_cred_cache *cache, struct dafs_conn *conn,
				       const struct cred *cred, bool *mine);
void dafs_cred_settle(struct dafs_cred_entry *entry, int err);
bool dafs_cred_cache_shared(const struct dafs_cred_cache *cache);

/* register.c */
int dafs_cred_register(struct dafs_cred_cache *cache, struct dafs_conn *conn,
		       const struct cred *cred, u8 *handle);

#endif /* _FS_DAFS_CRED_H */
