/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The inside of rpc/: sessions, and how a client has one.
 */
#ifndef _FS_DAFS_RPC_IMPL_H
#define _FS_DAFS_RPC_IMPL_H

#include <linux/completion.h>
#include <linux/kobject.h>
#include <linux/mutex.h>
#include <linux/dafs/responder.h>
#include "rpc.h"

enum dafs_session_state {
	DAFS_SES_DOWN,
	DAFS_SES_UP,
	DAFS_SES_DEAD,
};

/**
 * struct dafs_session - a session of a client with its server
 * @clnt: the client, which owns it
 * @lock: guards what follows up to @parked
 * @state: changed by dafs_session_set_state() only
 * @conn: the current connection, in state UP
 * @joining: the connection being made, which its maker has a reference on
 * @attempts: to connect, failed since the last connection was lost
 * @up_at: jiffies when the current connection became that
 * @flaps: connections in a row that did not live long
 * @logged_down: the log knows that there is no connection
 * @fail_waiters: tasks and I/O that wait for the next connection fail
 * @parked: struct dafs_park, see wait.c
 * @wait: for a change of the above, and of @nr_conns
 * @nr_conns: connections not yet freed; they point here
 * @reconnect: makes a new connection
 * @differentiator: names this session in discriminators (E-124)
 * @kobj: its folder in sysfs, from the first connection until it is destroyed
 * @kobj_gone: nothing refers to @kobj any more
 */
struct dafs_session {
	struct dafs_client *clnt;
	spinlock_t lock;	/* see above */
	enum dafs_session_state state;
	struct dafs_conn *conn;
	struct dafs_conn *joining;
	unsigned int attempts;
	unsigned long up_at;
	unsigned int flaps;
	bool logged_down;
	bool fail_waiters;
	struct list_head parked;
	wait_queue_head_t wait;
	atomic_t nr_conns;
	struct delayed_work reconnect;
	u8 differentiator[4];
	struct kobject kobj;
	struct completion kobj_gone;
};

/* client.c */
extern struct workqueue_struct *dafs_session_wq;
/* of its own: all else may wait for it */
extern struct workqueue_struct *dafs_recover_wq;
/* of its own: it waits for calls, which the end of a connection must be able to fail */
extern struct workqueue_struct *dafs_reconnect_wq;

/* identity.c */
void dafs_identity_init(void);
void dafs_client_identify(struct dafs_client *clnt);

/* lease.c */
void dafs_lease_begin(struct dafs_client *clnt);
void dafs_lease_hurry(struct dafs_client *clnt);

/* session.c */
struct dafs_session *dafs_session_alloc(struct dafs_client *clnt);
void dafs_session_end(struct dafs_session *ses);
int dafs_session_joining(struct dafs_session *ses, struct dafs_conn *conn);
void dafs_session_part(struct dafs_session *ses, struct dafs_conn *conn);
int dafs_session_attach(struct dafs_session *ses, struct dafs_conn *conn);
struct dafs_conn *dafs_session_detach(struct dafs_session *ses, struct dafs_conn *conn,
				      enum dafs_session_state next);
void dafs_session_shutdown(struct dafs_session *ses);
void dafs_session_set_timeout(const struct dafs_session *ses, struct dafs_requester *rq);
void dafs_session_retime(struct dafs_session *ses);

/* reconnect.c */
void dafs_session_lost(struct dafs_session *ses, struct dafs_conn *conn);
int dafs_session_connect(struct dafs_session *ses);
void dafs_session_reconnect(struct work_struct *work);

/* wait.c */
struct dafs_conn *dafs_conn_try_get(struct dafs_session *ses);
void dafs_session_wake(struct dafs_session *ses);

/* recover.c */
int dafs_client_recover(struct dafs_client *clnt, struct dafs_conn *conn);

/* conn.c */
struct dafs_conn *dafs_conn_create(struct dafs_session *ses);
void dafs_conn_drop(struct dafs_conn *conn);
bool dafs_conn_notify(struct dafs_conn *conn, u32 proc, void *args);

/* op.c */
int dafs_op_prepare(struct dafs_client *clnt, struct dafs_op *op);
int dafs_op_decode(struct dafs_op *op);
int dafs_op_wait(struct dafs_client *clnt, struct dafs_op *op);
int dafs_op_result(struct dafs_client *clnt, struct dafs_op *op, int err);

/* sysfs.c */
int dafs_sysfs_init(void);
void dafs_sysfs_exit(void);
int dafs_session_show_in_sysfs(struct dafs_session *ses);
void dafs_session_hide_from_sysfs(struct dafs_session *ses);

/* back.c: directives of the server */
extern const struct dafs_responder_ops dafs_back_responder;
void dafs_back_lapsed(struct dafs_client *clnt);

/* recover.c */
void dafs_recoverers_lapsed(struct dafs_client *clnt);

/* cred.c */
void dafs_cred_forget(struct dafs_conn *conn, const u8 *handle);
struct dafs_cred_cache *dafs_cred_cache_get(const struct dafs_client_params *params);
void dafs_cred_cache_put(struct dafs_cred_cache *cache);

/* register.c */
bool dafs_cred_cache_release(struct dafs_client *clnt, struct dafs_conn *conn);
void dafs_cred_cache_age(struct dafs_client *clnt, struct dafs_conn *conn, unsigned long idle);

#endif /* _FS_DAFS_RPC_IMPL_H */
