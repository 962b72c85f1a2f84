/* SPDX-License-Identifier: GPL-2.0 */
/* Sessions: what a client and the server have agreed on, and its connections. */
#ifndef _DAFSD_SESSION_SESSION_H
#define _DAFSD_SESSION_SESSION_H

#include <linux/completion.h>
#include <linux/kobject.h>
#include <linux/kref.h>
#include <linux/spinlock.h>
#include <linux/dafs/codec.h>

struct dafsd_client;
struct dafsd_conn;
struct dafsd_principal;
struct dafsd_respcache;
struct dafsd_server;

/* dafsd_session.leaving: DISCONNECT waits for the other requests; it was executed */
#define DAFSD_SESSION_LEAVING	0
#define DAFSD_SESSION_ENDED	1

/**
 * struct dafsd_session - one session (3.1.2)
 * @id_node: in the table of sessions by id; guarded by dafsd_server.sessions_lock
 * @ref: one of each connection that belongs to it, one of each user that found it in the
 *	table
 * @lock: guards @bc and @rr
 * @session_id: what CLIENT_CONNECT returned
 * @op: its operation channel; holds a reference
 * @bc: the back-control channel bound to this session, or NULL; no reference, it takes
 *	itself out when it ends
 * @rr: the RDMA-read channel, likewise
 * @client_id: what CLIENT_CONNECT returned, too
 * @client: holds a reference, and is counted in its nr_connecting until @client_node is
 *	in its list
 * @client_node: in the sessions of @client once it has authenticated, until it ends
 * @opts: as negotiated
 * @respcache: what is remembered of its requests, or NULL
 * @principal: the identity that it has authenticated as
 * @trusted: may use credential handles
 * @leaving: DAFSD_SESSION_LEAVING and DAFSD_SESSION_ENDED
 * @requests_seen: what @requests was when dafsd_session_look() was called last
 * @fence_id: fence_id_string, for the fencing procedures
 * @requests: requests answered
 * @errors: those answered by another status than OK
 * @bytes_read: bytes of files that went to the client
 * @bytes_borrowed: those that left from where the file system keeps them
 * @bytes_written: bytes of files that came from it
 * @in_sysfs: @kobj was added; under dafsd_conn.setup of @op
 * @kobj: its folder in sysfs, from authentication until teardown
 * @kobj_gone: nothing refers to @kobj any more
 */
struct dafsd_session {
	struct hlist_node id_node;
	struct kref ref;
	spinlock_t lock;	/* see above */
	struct dafs_session_id session_id;
	struct dafsd_conn *op;
	struct dafsd_conn *bc;
	struct dafsd_conn *rr;
	struct dafs_client_id client_id;
	struct dafsd_client *client;
	struct list_head client_node;
	struct dafs_connect_opts opts;
	struct dafsd_respcache *respcache;
	const struct dafsd_principal *principal;
	bool trusted;
	unsigned long leaving;
	s64 requests_seen;
	struct dafs_str fence_id;
	atomic64_t requests;
	atomic64_t errors;
	atomic64_t bytes_read;
	atomic64_t bytes_borrowed;
	atomic64_t bytes_written;
	bool in_sysfs;
	struct kobject kobj;
	struct completion kobj_gone;
};

struct dafsd_session *dafsd_session_create(struct dafsd_conn *conn);
bool dafsd_session_is_there(const struct dafsd_client *client,
			    const struct dafs_session_id *session_id);
struct dafsd_session *dafsd_session_find(struct dafsd_server *server,
					 const struct dafs_session_id *session_id);
struct dafsd_session *dafsd_session_get(struct dafsd_session *ses);
void dafsd_session_put(struct dafsd_session *ses);
void dafsd_session_unbind(struct dafsd_session *ses, const struct dafsd_conn *bound);
void dafsd_session_close(struct dafsd_session *ses);
void dafsd_session_end(struct dafsd_session *ses);
bool dafsd_session_look(struct dafsd_session *ses);
bool dafsd_sessions_busy(const struct dafsd_client *client);
void dafsd_sessions_end(const struct dafsd_client *client);
void dafsd_sessions_supersede(const struct dafsd_session *ses);

/* sysfs.c */
int dafsd_sysfs_init(struct dafsd_server *server);
void dafsd_sysfs_exit(struct dafsd_server *server);
void dafsd_session_show_in_sysfs(struct dafsd_session *ses);
void dafsd_session_hide_from_sysfs(struct dafsd_session *ses);

#endif /* _DAFSD_SESSION_SESSION_H */
