/* SPDX-License-Identifier: GPL-2.0 */
/* The server: its connections, sessions and clients; module parameters and work queues. */
#ifndef _DAFSD_SESSION_SERVER_H
#define _DAFSD_SESSION_SERVER_H

#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include "grace.h"

#define DAFSD_DEFAULT_MAX_REQUESTS	32
#define DAFSD_DEFAULT_MSG_SIZE		SZ_8K
#define DAFSD_MAX_CREDENTIALS		1024
#define DAFSD_DEFAULT_MAX_CLIENTS	16384
#define DAFSD_DEFAULT_MAX_SESSIONS	4096
#define DAFSD_DEFAULT_MAX_OPENS		65536
#define DAFSD_DEFAULT_MAX_LOCKS		65536
#define DAFSD_DEFAULT_MAX_DELEGATIONS	4096
#define DAFSD_LEASE_SECONDS		90
#define DAFSD_LEASE_MAX			3600U

/* Requests that are executed at a time: what a work queue can do at most */
#define DAFSD_WORKERS			WQ_MAX_ACTIVE

/**
 * struct dafsd_server - the server: its connections, sessions, clients and addresses
 * @boot_instance: random, part of client-ids and state-ids: those of an earlier start of
 *	the server are recognized
 * @conns_lock: protects what follows up to @nr_new, and dafsd_peer.conns
 * @conns: dafsd_conn.node of all connections
 * @nr_conns: in @conns, or about to be added
 * @new_conns: dafsd_conn.new_node of those that are neither authenticated nor bound, in the
 *	order of arrival
 * @nr_new: in @new_conns
 * @conns_gone: woken when @conns has become empty
 * @stopping: no more changes are executed; see request/late.c
 * @answered: woken then, when a connection has no dafsd_conn.unanswered left
 * @sessions_lock: protects what follows up to @nr_respcaches, dafsd_peer.sessions,
 *	dafsd_peer.respcaches, and dafsd_client.respcaches
 * @session_ids: dafsd_session.id_node of all sessions
 * @nr_sessions: in @session_ids
 * @respcaches: dafsd_respcache.id_node of all that can be found
 * @revived: dafsd_respcache.client_link of those of a former run of the server
 * @respcache_count: how many there were
 * @revived_at: when the server began, and then when they were read, in jiffies
 * @stable_streams: streams of sessions whose requests are recorded, see respcache_record.c; read
 *	without the lock
 * @nr_respcaches: those of @respcaches whose sessions are over
 * @clients_lock: protects what follows up to @client_count, and most members of struct
 *	dafsd_client, see there
 * @clients: dafsd_client.node, in the order of creation
 * @clients_by_id: dafsd_client.id_node
 * @nr_clients: in @clients
 * @max_clients: limit of @nr_clients; one address may have dafsd_peer_share() of it;
 *	changed by tests
 * @client_count: clients ever created
 * @courtesy_lock: protects what follows up to @giving, and dafsd_client.life; see courtesy.c
 * @courteous: dafsd_client.courtesy_link, in the order in which their leases ended
 * @nr_courteous: in @courteous; read without the lock
 * @nr_yields: how often a client has begun to yield
 * @giving: dafsd_client.courtesy_link of those that have yielded, until they are freed, or until
 *	no task waits any more for their state to be freed.  All that yield are in it.
 * @peers_lock: protects @peers and dafsd_peer.users
 * @peers: dafsd_peer.node of all addresses
 * @kset: /sys/fs/dafsd
 * @store: what survives a restart; NULL without a state directory, and until the first export
 *	is enabled
 * @storeless: there is no state directory, and will be none
 * @grace: has its own lock
 *
 * There is one instance.  Functions reach it through a connection, a client or a peer; only
 * those about state-ids name it.
 */
struct dafsd_server {
	u32 boot_instance;
	spinlock_t conns_lock;	/* see above */
	struct list_head conns;
	unsigned int nr_conns;
	struct list_head new_conns;
	unsigned int nr_new;
	wait_queue_head_t conns_gone;
	bool stopping;
	wait_queue_head_t answered;
	spinlock_t sessions_lock;	/* see above */
	DECLARE_HASHTABLE(session_ids, 10);
	unsigned int nr_sessions;
	DECLARE_HASHTABLE(respcaches, 10);
	struct list_head revived;
	u64 respcache_count;
	unsigned long revived_at;
	unsigned int stable_streams;
	unsigned int nr_respcaches;
	struct mutex clients_lock;	/* see above */
	struct list_head clients;
	DECLARE_HASHTABLE(clients_by_id, 10);
	unsigned int nr_clients;
	unsigned int max_clients;
	u32 client_count;
	spinlock_t courtesy_lock;	/* see above */
	struct list_head courteous;
	unsigned int nr_courteous;
	u64 nr_yields;
	struct list_head giving;
	spinlock_t peers_lock;	/* see above */
	DECLARE_HASHTABLE(peers, 8);
	struct kset *kset;
	struct dafsd_store *store;
	bool storeless;
	struct dafsd_grace grace;
};

extern struct dafsd_server dafsd_server;
void dafsd_server_init(struct dafsd_server *server);

/* module parameters */
extern unsigned int dafsd_max_requests;
extern unsigned int dafsd_msg_size;
extern unsigned int dafsd_lease_seconds;
extern unsigned int dafsd_max_sessions;
extern unsigned int dafsd_max_opens;
extern unsigned int dafsd_max_locks;
extern unsigned int dafsd_max_delegations;
extern bool dafsd_auth_none;

/* the workers of the machine: of requests; what ends; what looks at the time */
int dafsd_wqs_create(void);
void dafsd_wqs_destroy(void);
extern struct workqueue_struct *dafsd_wq;
extern struct workqueue_struct *dafsd_least_wq;
extern struct workqueue_struct *dafsd_end_wq;
/* of files, one work item for each export: a dead disk may keep its worker */
extern struct workqueue_struct *dafsd_close_wq;
extern struct workqueue_struct *dafsd_timer_wq;

#endif /* _DAFSD_SESSION_SERVER_H */
