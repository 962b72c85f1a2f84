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
 * struct dafs_path - one of the ways to the server: a session of the protocol, which is made anew
 *	when its connection is lost
 * @ses: what it is part of; its lock guards what follows up to @reconnects
 * @nr: its number in dafs_session.paths
 * @conn: the current connection, or NULL
 * @joining: the connection being made, which its maker has a reference on
 * @at: the address that it was made to last, or is being made to
 * @attempts: to connect, failed since the last connection was lost
 * @up_at: jiffies when the current connection became that
 * @flaps: connections in a row that did not live long
 * @logged_down: the log knows that there is no connection
 * @leaving: it is not used any more, but the server may not know that its last session is over
 * @had: it has had a connection
 * @owes: and the server was not told yet that its last session is over
 * @formers: sessions that the server is to be told to forget
 * @reconnects: connections made after the first one
 * @reconnect: makes a new connection
 * @differentiator: names its sessions in discriminators (E-124)
 */
struct dafs_path {
	struct dafs_session *ses;
	unsigned int nr;
	struct dafs_conn *conn;
	struct dafs_conn *joining;
	struct sockaddr_storage at;
	unsigned int attempts;
	unsigned long up_at;
	unsigned int flaps;
	bool logged_down;
	bool leaving;
	bool had;
	bool owes;
	struct list_head formers;
	unsigned int reconnects;
	struct delayed_work reconnect;
	u8 differentiator[4];
};

/**
 * struct dafs_session - what a client has with its server, by one path or several
 * @clnt: the client, which owns it
 * @lock: guards what follows up to @parked, @served_by, @known, and the paths
 * @state: changed by dafs_session_set_state() only; UP if a path has a connection
 * @nr_paths: those of @paths that are used; read without the lock
 * @fail_waiters: tasks and I/O that wait for the next connection fail
 * @parked: struct dafs_park, see wait.c
 * @wait: for a change of the above, and of @nr_conns
 * @nr_conns: connections not yet freed; they point here
 * @served_by: the address that the client was last served by; changed with @connecting held, too
 * @unstable: the log knows that a crash of the server makes it forget what it has executed
 * @known: bitmap of the server's own addresses by which it was reached, unless another one has
 *	taken over since; likewise
 * @connecting: held while a connection is taken into use, so that what a restarted server has
 *	forgotten is got back on one of them
 * @resizing: held while @nr_paths changes, and nconnect of the client
 * @kobj: its folder in sysfs, from the first connection until it is destroyed
 * @kobj_gone: nothing refers to @kobj any more
 * @paths: the first @nr_paths of them are used
 */
struct dafs_session {
	struct dafs_client *clnt;
	spinlock_t lock;	/* see above */
	enum dafs_session_state state;
	unsigned int nr_paths;
	bool fail_waiters;
	struct list_head parked;
	wait_queue_head_t wait;
	atomic_t nr_conns;
	struct sockaddr_storage served_by;
	bool unstable;
	unsigned long known;
	struct mutex connecting;	/* see above */
	struct mutex resizing;	/* see above */
	struct kobject kobj;
	struct completion kobj_gone;
	struct dafs_path paths[DAFS_MAX_PATHS];
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
void dafs_session_free(struct dafs_session *ses);
void dafs_session_shutdown(struct dafs_session *ses);
void dafs_session_set_paths(struct dafs_session *ses, unsigned int nr);
void dafs_session_set_timeout(const struct dafs_session *ses, struct dafs_requester *rq);
void dafs_session_retime(struct dafs_session *ses);

/* path.c */
void dafs_path_init(struct dafs_path *path, struct dafs_session *ses, unsigned int nr);
int dafs_path_joining(struct dafs_path *path, struct dafs_conn *conn);
void dafs_path_part(struct dafs_path *path, struct dafs_conn *conn);
int dafs_path_attach(struct dafs_path *path, struct dafs_conn *conn);
struct dafs_conn *dafs_path_detach(struct dafs_path *path, struct dafs_conn *conn);
bool dafs_path_retire(struct dafs_path *path, bool polite);
void dafs_path_end(struct dafs_path *path);
bool dafs_path_used(const struct dafs_path *path);

/* session.c: for path.c */
bool dafs_session_set_state(struct dafs_session *ses, enum dafs_session_state next);

/* address.c: where a path leads to */
struct sockaddr_storage dafs_path_home(const struct dafs_path *path);
int dafs_path_own_nr(const struct dafs_path *path);
const struct dafs_path *dafs_path_other(const struct dafs_path *path);
void dafs_path_aim(struct dafs_path *path);
unsigned int dafs_path_places(struct dafs_path *path);

/* backoff.c; tests change the parameters */
extern unsigned int dafs_reconnect_min_delay_ms;
extern unsigned int dafs_reconnect_max_delay_ms;
unsigned long dafs_backoff(unsigned int lease_s, unsigned int attempt);

/* reconnect.c */
void dafs_path_lost(struct dafs_path *path, struct dafs_conn *conn);
int dafs_path_connect(struct dafs_path *path);
void dafs_path_reconnect(struct work_struct *work);

/* wait.c */
struct dafs_conn *dafs_conn_try_get(struct dafs_session *ses);
struct dafs_conn *dafs_path_try_get(struct dafs_path *path);
bool dafs_session_is_up(struct dafs_session *ses);
void dafs_session_wake(struct dafs_session *ses);

/* recover.c */
int dafs_client_recover(struct dafs_client *clnt, struct dafs_conn *conn);
void dafs_client_recover_rest(struct dafs_client *clnt, struct dafs_conn *conn);
void dafs_client_special(struct dafs_chan *chan, u16 spec_cond);
void dafs_client_watch(struct dafs_client *clnt);
int dafs_client_prove(struct dafs_client *clnt, struct dafs_conn *conn, bool any);
unsigned int dafs_client_alternates(struct dafs_client *clnt);
bool dafs_client_alternate(struct dafs_client *clnt, unsigned int nr,
			   struct sockaddr_storage *addr);

/* conn.c */
struct dafs_conn *dafs_conn_create(struct dafs_path *path);
void dafs_conn_drop(struct dafs_conn *conn);
int dafs_conn_tell(struct dafs_conn *conn, u32 proc, void *args);
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
