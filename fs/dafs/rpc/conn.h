/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A connection of a session, which is replaced when it fails (3.1.2.5), and waiting for one.
 *
 * The operation or I/O that has a call in progress holds a reference on the connection that
 * it was sent on, because the response and the memory regions belong to that connection's
 * channel.
 */
#ifndef _FS_DAFS_RPC_CONN_H
#define _FS_DAFS_RPC_CONN_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/workqueue.h>
#include <linux/dafs/chan.h>
#include <linux/dafs/requester.h>

struct dafs_client;
struct dafs_former;
struct dafs_path;
struct dafs_session;

/**
 * struct dafs_conn - one connection of a session
 * @ref: one of the session while it is current, one of each call
 * @ses: the session
 * @path: the path of it that it is, or was, the connection of
 * @op: operation channel
 * @rq: its requester
 * @bc: back-control channel or NULL
 * @rr: RDMA-read channel or NULL
 * @former: the session, for requests that have no response when this is lost, with a reference;
 *	NULL if the server is not asked about them
 * @session_id: from the server
 * @client_id: from the server; differs after a server restart (4.4.1.6)
 * @opts: as negotiated
 * @trusted: credential handles may be used
 * @mark: of @rq, from the time @marked_at on, or 0; for the work item that keeps the lease
 * @marked_at: in that of ktime_get_coarse_boottime()
 * @bind_rq: sends CONNECT_BIND, while that is under way
 * @lock: guards @ended and @bind_rq, and makes the ends of its channels one at a time
 * @ended: no channel may be added any more
 * @end: ends it after a channel failed; holds a reference while queued
 * @destroy: frees it in process context
 */
struct dafs_conn {
	struct kref ref;
	struct dafs_session *ses;
	struct dafs_path *path;
	struct dafs_chan *op;
	struct dafs_requester *rq;
	struct dafs_chan *bc;
	struct dafs_chan *rr;
	struct dafs_former *former;
	struct dafs_session_id session_id;
	struct dafs_client_id client_id;
	struct dafs_connect_opts opts;
	bool trusted;
	u64 mark;
	ktime_t marked_at;
	struct dafs_requester *bind_rq;
	struct mutex lock;	/* see above */
	bool ended;
	struct work_struct end;
	struct work_struct destroy;
};

/* Slots that a session asks for while it is idle */
#define DAFS_IDLE_REQUESTS ((u16)8)

/* Directives the server may have outstanding on the back-control channel. */
#define DAFS_BACK_REQUESTS	4

/**
 * struct dafs_park - what waits for a connection without a task, see wait.c
 * @link: in the list of the session
 * @resume: called under the lock of the session when there is a connection, or
 *	none is waited for any more
 * @leave: if true, do not wait for a connection any more, see dafs_client_look_again()
 * @patient: wait for one for as long as a hard mount does, because no task waits for it
 */
struct dafs_park {
	struct list_head link;
	void (*resume)(struct dafs_park *park);
	const bool *leave;
	bool patient;
};

bool dafs_exits_while_down(struct dafs_client *clnt);

/*
 * Does the current task exit?  It takes no signals any more, so nothing would end what it
 * waits for.
 */
static inline bool dafs_task_exits(void)
{
	return current->flags & PF_EXITING;
}

struct dafs_conn *dafs_conn_get(struct dafs_client *clnt);
struct dafs_conn *dafs_conn_get_unless(struct dafs_client *clnt, const bool *leave);
struct dafs_conn *dafs_conn_present(struct dafs_client *clnt);
struct dafs_conn *dafs_conn_get_or_park(struct dafs_client *clnt, struct dafs_park *park);
void dafs_conn_put(struct dafs_conn *conn);
void dafs_conn_failed(struct dafs_conn *conn);

#endif /* _FS_DAFS_RPC_CONN_H */
