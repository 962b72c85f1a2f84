/* SPDX-License-Identifier: GPL-2.0 */
/* Clients, what they own, and their users: whom a request acts for. */
#ifndef _DAFSD_SESSION_CLIENT_H
#define _DAFSD_SESSION_CLIENT_H

#include <linux/atomic.h>
#include <linux/cred.h>
#include <linux/in6.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <linux/dafs/codec.h>

struct dafsd_peer;
struct dafsd_seen;
struct dafsd_server;
struct dafsd_session;
struct dafsd_store;

/* Memory of what the server remembers of the files that a client has opened */
#define DAFSD_SEEN_BYTES	(SZ_16K + 64)

/**
 * struct dafsd_principal - the identity that a client authenticates as (3.1.1.1)
 * @auth_type: DAFS_AUTH_*
 * @trusted: its sessions may use credential handles (E-49)
 *
 * There is one object for each principal, so that pointers are compared.
 */
struct dafsd_principal {
	u32 auth_type;
	bool trusted;
};

/**
 * enum dafsd_client_life - what a client is, see courtesy.c
 * @DAFSD_CLIENT_ACTIVE: it lives, as far as the server knows
 * @DAFSD_CLIENT_COURTEOUS: its lease is over, but nobody has needed what it has
 * @DAFSD_CLIENT_LEAVING: dafsd_client.lease_work is to take what it has
 * @DAFSD_CLIENT_DISCARDED: it is not in the table any more; its sessions are of no use
 */
enum dafsd_client_life {
	DAFSD_CLIENT_ACTIVE,
	DAFSD_CLIENT_COURTEOUS,
	DAFSD_CLIENT_LEAVING,
	DAFSD_CLIENT_DISCARDED,
};

/**
 * struct dafsd_client - one (client-id-string, verifier) pair (3.1.1.3)
 * @ref: one of the table while it is there, one of each session, one of each state
 * @node: in the list of clients; guarded by dafsd_server.clients_lock
 * @id_node: in the table of clients by @id; guarded likewise
 * @server: the server that it is a client of
 * @addr: where its last session has come from; guarded by dafsd_server.clients_lock
 * @peer: the address that it came from first, which its state is counted for; holds a
 *	reference
 * @sessions: dafsd_session.client_node of those that have authenticated as this client;
 *	guarded by dafsd_server.clients_lock
 * @respcaches: dafsd_respcache.client_link of its former sessions, in the order of their ends;
 *	with @nr_respcaches guarded by dafsd_server.sessions_lock
 * @nr_respcaches: how many
 * @life: what it is; guarded by dafsd_server.courtesy_lock, changed by dafsd_client_move(), read
 *	without the lock where it may be old
 * @yields: others wait for what is just being taken from it; changed under
 *	dafsd_server.courtesy_lock
 * @yield: dafsd_server.nr_yields when that has begun
 * @courtesy_link: in dafsd_server.courteous, or then in dafsd_server.giving
 * @charged: bytes that its peer is charged for what it has, but for @seen
 * @courteous_since: when it has become COURTEOUS, in jiffies
 * @client_id: what CLIENT_CONNECT returns; changed under dafsd_server.clients_lock, when the
 *	client has lost its state and has no session
 * @verifier: names the client's instance
 * @principal: of its first session that has authenticated, NULL before; guarded by
 *	dafsd_server.clients_lock
 * @id_len: bytes of @id
 * @id: client-id-string
 * @max_credentials: fixed by the first session (E-47)
 * @record_lock: orders the changes of its record; inside of dafsd_server.clients_lock
 * @record_changes: how often its record was deleted; changed under @record_lock and @lock
 * @recorded: there is a record of it which is durable; guarded likewise
 * @keeps_record: the server ends, but its record stays
 * @unsynced: its record was deleted, but may still be on the disk
 * @lock: guards @states, @expired, @nr_opens, @nr_kept, @kept and @released
 * @told: numbers of the exports of which it knows where else they are, see told.c; has its own
 *	lock
 * @creds: cred_handle -> const struct cred *, XA_FLAGS_ALLOC1; has its own lock
 * @nr_creds: entries of @creds; guarded by its lock
 * @next_cred: where the search for a free handle goes on; guarded by its lock
 * @states: dafsd_state.client_link of all that it holds by state-ids
 * @expired: the same, of what it is about to lose
 * @nr_opens: opens in both, and those that are reserved
 * @nr_delegs: delegations that it holds, and those that are reserved
 * @nr_recalls: those that it has to return
 * @nr_kept: how often it has not returned some in time; guarded by @lock
 * @kept: when it has not the last time, in jiffies; likewise
 * @seen: files that it has opened lately, see state/deleg.c, or NULL; guarded by @lock, and
 *	set once; kvfree()
 * @nr_locks: byte-range locks that the kernel keeps for it
 * @released: its state was taken from it for good, and there will be no more
 * @nr_connecting: sessions that have not authenticated yet; guarded by
 *	dafsd_server.clients_lock
 * @renewed: jiffies of its last sign of life, see dafsd_client_renew()
 * @silent: it had been silent for its lease when that was looked at last; guarded
 *	by dafsd_server.clients_lock
 * @late_lock: guards @late; taken in interrupts
 * @late: dafsd_conn.late_node of the connections that were closed while changes of them
 *	are executed, see request/late.c
 * @lease_work: looks whether it lives, from the first authentication on; holds a
 *	reference while queued
 * @rcu: to free it
 */
struct dafsd_client {
	struct kref ref;
	struct list_head node;
	struct hlist_node id_node;
	struct dafsd_server *server;
	struct in6_addr addr;
	struct dafsd_peer *peer;
	struct list_head sessions;
	struct list_head respcaches;
	unsigned int nr_respcaches;
	enum dafsd_client_life life;
	bool yields;
	u64 yield;
	struct list_head courtesy_link;
	unsigned long courteous_since;
	atomic_long_t charged;
	struct dafs_client_id client_id;
	struct dafs_verifier verifier;
	const struct dafsd_principal *principal;
	u32 id_len;
	u8 *id;
	u32 max_credentials;
	struct mutex record_lock;	/* see above */
	unsigned int record_changes;
	bool recorded;
	bool keeps_record;
	bool unsynced;
	spinlock_t lock;	/* see above */
	struct xarray told;
	struct xarray creds;
	u32 nr_creds;
	u32 next_cred;
	struct list_head states;
	struct list_head expired;
	unsigned int nr_opens;
	atomic_t nr_delegs;
	atomic_t nr_recalls;
	unsigned int nr_kept;
	unsigned long kept;
	struct dafsd_seen *seen;
	atomic_t nr_locks;
	bool released;
	unsigned int nr_connecting;
	unsigned long renewed;
	bool silent;
	spinlock_t late_lock;	/* see above */
	struct list_head late;
	struct delayed_work lease_work;
	struct rcu_head rcu;
};

/**
 * dafsd_client_number() - the place of a client in the order of creation
 * @client: the client, which has a client-id
 *
 * Return: 1 or more; the second half of its client-id.
 */
static inline u32 dafsd_client_number(const struct dafsd_client *client)
{
	u32 number;

	memcpy(&number, client->client_id.b + sizeof(u32), sizeof(number));
	return number;
}

/**
 * dafsd_client_is_discarded() - is a client not in the table any more?
 * @client: the client
 *
 * Context: any; the answer may be old.
 * Return: true if so.
 */
static inline bool dafsd_client_is_discarded(const struct dafsd_client *client)
{
	return READ_ONCE(client->life) == DAFSD_CLIENT_DISCARDED;
}

/**
 * struct dafsd_client_ops - what is done about the state that a client has
 * @may_stay: may its state be kept beyond its lease?  Under the lock of clients.
 * @expire: its lease has run out, under the lock of clients: nothing new is made of it
 * @revoke: without that lock: take from it what has expired
 * @release: it is gone: end all of it
 * @replaced: it has authenticated: the state of its other instances was released, or just is
 * @reclaimed: the grace period is over
 * @load: the store is about to be used: read what the folders above have put there
 * @unload: the store is about to be closed
 */
struct dafsd_client_ops {
	bool (*may_stay)(struct dafsd_client *client);
	void (*expire)(struct dafsd_client *client);
	void (*revoke)(struct dafsd_client *client);
	void (*release)(struct dafsd_client *client);
	void (*replaced)(const struct dafsd_client *client);
	void (*reclaimed)(void);
	int (*load)(struct dafsd_store *store);
	void (*unload)(void);
};

extern const struct dafsd_client_ops *dafsd_client_ops;

void dafsd_clients_init(const struct dafsd_client_ops *ops);
void dafsd_clients_exit(struct dafsd_server *server);
struct dafsd_client *dafsd_client_get(struct dafsd_peer *peer, const struct dafs_str *id,
				      const struct dafs_verifier *verifier, u32 max_credentials);
void dafsd_client_abandon(struct dafsd_client *client);
dafs_status_t dafsd_client_confirm(struct dafsd_session *ses,
				   const struct dafsd_principal *principal);
void dafsd_client_renew(struct dafsd_client *client);
void dafsd_client_leave(struct dafsd_session *ses);
bool dafsd_client_is_instance(const struct dafsd_client *client, const struct dafsd_client *other);
struct dafsd_client *dafsd_client_successor(const struct dafsd_client *client);
bool dafsd_client_end(struct dafsd_client *client, const char *why,
		      bool (*moot)(const void *arg), const void *arg);
int dafsd_client_end_id(struct dafsd_server *server, const struct dafs_client_id *client_id);
int dafsd_clients_walk(struct dafsd_server *server, u32 *number,
		       int (*show)(struct dafsd_client *client, void *arg), void *arg);
bool dafsd_client_charge(struct dafsd_client *client, size_t bytes);
void dafsd_client_charge_more(struct dafsd_client *client, size_t bytes);
void dafsd_client_uncharge(struct dafsd_client *client, size_t bytes);
u32 dafsd_client_hash(const void *id, u32 len);
void dafsd_client_put(struct dafsd_client *client);

/* cred.c: whom a request acts for */
int dafsd_creds_init(void);
void dafsd_creds_exit(void);
const struct cred *dafsd_cred_make(kuid_t uid, kgid_t gid, struct group_info *groups);
const struct cred *dafsd_cred_make_lone(kuid_t uid, kgid_t gid);
dafs_status_t dafsd_cred_register(struct dafsd_session *ses, struct dafs_buf *in,
				  const struct dafs_register_cred_args *args, u8 *handle,
				  size_t *room);
dafs_status_t dafsd_cred_release(struct dafsd_session *ses, const u8 *handle);
const struct cred *dafsd_cred_erase(struct dafsd_client *client, unsigned long id);
void dafsd_cred_drop(struct dafsd_client *client, const struct cred *cred);
dafs_status_t dafsd_cred_find(struct dafsd_session *ses, const u8 *handle,
			      const struct cred **cred);
bool dafsd_name_to_id(const struct dafs_str *name, u32 *id);
const struct cred *dafsd_act_as_server(void);

#endif /* _DAFSD_SESSION_CLIENT_H */
