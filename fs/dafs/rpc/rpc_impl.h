/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The inside of a session.  Of the files that know file systems, data/io.c,
 * data/direct.c, vfs/mount.c and vfs/stats.c look into it: for its parameters, its work
 * queues and its counters, and to send calls without a task that waits.
 */
#ifndef _FS_DAFS_SESSION_IMPL_H
#define _FS_DAFS_SESSION_IMPL_H

#include <linux/completion.h>
#include <linux/kobject.h>
#include <linux/mutex.h>
#include <kunit/visibility.h>
#include <linux/dafs/responder.h>
#include "rpc.h"

enum dafs_session_state {
	DAFS_SES_DOWN,
	DAFS_SES_UP,
	DAFS_SES_DEAD,
};

/**
 * struct dafs_client - a session with a server
 * @params: where to and how; constant but for soft, timeo_ms and retrans, see
 *	dafs_client_set_timeouts()
 * @users: super blocks that share it, see dafs_client_put()
 * @lock: guards what follows up to @fail_waiters
 * @state: changed by dafs_session_set_state() only
 * @conn: the current connection, in state UP
 * @joining: the connection being made, which its maker has a reference on
 * @attempts: to connect, failed since the last connection was lost
 * @up_at: jiffies when the current connection became that
 * @flaps: connections in a row that did not live long
 * @logged_down: the log knows that there is no connection
 * @fail_waiters: tasks and I/O that wait for the next connection fail
 * @wait: for a change of the above, of @nr_conns, and of what recovers
 * @parked: struct dafs_park, see park.c; guarded by @lock
 * @retry_wq: sends again what was not answered, gets opens back and closes them; waits
 *	for slots, regions and responses, but not for a connection, nor until a server that
 *	asks for patience has had it: nothing in it waits for what is behind it
 * @end_wq: sees to the ends of I/O, which may wait for @retry_wq
 * @put_wq: evicts inodes, and so waits for all I/O on them, which may wait for the above
 * @commit_wq: waits for whole operations, and so for the server, however long it is away
 * @nr_conns: connections not yet freed; they point here
 * @reconnect: makes a new connection
 * @keep: renews the lease, returns credits
 * @lease: of the client at the server, in seconds
 * @last_null: jiffies when it last sent something
 * @client_id: what the server keeps for this client, it keeps under this id;
 *	written by dafs_client_create() and by @reconnect
 * @instance: names this client in discriminators (E-124)
 * @differentiator: names this session in them
 * @verifier: client_verifier
 * @creds: credential handles, shared with other sessions of this client
 * @recoverers: those who have state at the server; guarded by @lock
 * @stats: what became of the calls on all its connections
 * @begun: when it was made, in jiffies
 * @reconnects: connections made after the first one; written by @reconnect alone
 * @kobj: its folder in sysfs, from the first connection until it is destroyed
 * @kobj_gone: nothing refers to @kobj any more
 */
struct dafs_client {
	struct dafs_client_params params;
	refcount_t users;
	spinlock_t lock;	/* see above */
	enum dafs_session_state state;
	struct dafs_conn *conn;
	struct dafs_conn *joining;
	unsigned int attempts;
	unsigned long up_at;
	unsigned int flaps;
	bool logged_down;
	bool fail_waiters;
	wait_queue_head_t wait;
	struct list_head parked;
	struct workqueue_struct *retry_wq;
	struct workqueue_struct *end_wq;
	struct workqueue_struct *put_wq;
	struct workqueue_struct *commit_wq;
	atomic_t nr_conns;
	struct delayed_work reconnect;
	struct delayed_work keep;
	u32 lease;
	unsigned long last_null;
	u8 instance[4];
	u8 differentiator[4];
	struct dafs_verifier verifier;
	struct dafs_client_id client_id;
	struct dafs_cred_cache *creds;
	struct list_head recoverers;
	struct dafs_stats __percpu *stats;
	unsigned long begun;
	unsigned int reconnects;
	struct kobject kobj;
	struct completion kobj_gone;
};

extern struct workqueue_struct *dafs_session_wq;
extern struct workqueue_struct *dafs_recover_wq;

/* session.c */
int dafs_clients_init(void);
void dafs_clients_exit(void);
void dafs_session_lost(struct dafs_client *clnt, struct dafs_conn *conn);
int dafs_session_joining(struct dafs_client *clnt, struct dafs_conn *conn);
void dafs_session_set_timeout(const struct dafs_client *clnt, struct dafs_requester *rq);
void dafs_session_part(struct dafs_client *clnt, struct dafs_conn *conn);
bool dafs_conn_notify(struct dafs_conn *conn, u32 proc, void *args);
struct dafs_conn *dafs_conn_try_get(struct dafs_client *clnt);

bool dafs_session_must_wait(const struct dafs_client *clnt);

const char *dafs_session_state_name(const struct dafs_client *clnt);

/* park.c */
bool dafs_session_park(struct dafs_client *clnt, struct dafs_park *park);
struct dafs_conn *dafs_conn_get_or_park(struct dafs_client *clnt, struct dafs_park *park);
void dafs_session_wake(struct dafs_client *clnt);
void dafs_session_resume(struct dafs_client *clnt);

/* recover.c */
int dafs_session_recover(struct dafs_client *clnt, struct dafs_conn *conn);

/* conn.c */
struct dafs_conn *dafs_conn_create(struct dafs_client *clnt);
void dafs_conn_drop(struct dafs_conn *conn);

/* op.c */
int dafs_op_prepare(struct dafs_client *clnt, struct dafs_op *op);
int dafs_op_decode(struct dafs_op *op);
int dafs_op_wait(struct dafs_client *clnt, struct dafs_op *op);
int dafs_op_result(struct dafs_client *clnt, struct dafs_op *op, int err);

/* identity.c */
u64 dafs_machine_number(void);

/* sysfs.c */
int dafs_sysfs_init(void);
void dafs_sysfs_exit(void);
int dafs_session_show_in_sysfs(struct dafs_client *clnt);
void dafs_session_hide_from_sysfs(struct dafs_client *clnt);

/* back.c: directives of the server */
extern const struct dafs_responder_ops dafs_back_ops;

/* cred.c */
void dafs_cred_forget(struct dafs_client *clnt, struct dafs_conn *conn, const u8 *handle);
bool dafs_cred_cache_release(struct dafs_client *clnt, struct dafs_conn *conn);
void dafs_cred_cache_age(struct dafs_client *clnt, struct dafs_conn *conn, unsigned long idle);

#endif /* _FS_DAFS_SESSION_IMPL_H */
