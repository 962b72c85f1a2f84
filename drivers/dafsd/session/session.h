/* SPDX-License-Identifier: GPL-2.0 */
/* Sessions, and the channels that become one or are bound to one. */
#ifndef _DAFSD_SESSION_SESSION_H
#define _DAFSD_SESSION_SESSION_H

#include <linux/completion.h>
#include <linux/kobject.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>
#include <linux/dafs/chan.h>
#include <linux/dafs/responder.h>
#include "chain.h"

struct dafsd_client;
struct dafsd_peer;
struct dafsd_principal;

/*
 * Send queue entries for the RDMA of a session: four or five reads of 1 MiB at a time.
 * With those for responses they make less than 128, and devices round up.  A longer
 * list of buffers goes in rounds.
 */
#define DAFSD_MIN_RDMA			80U

/* Requests outstanding on a channel that is bound to a session */
#define DAFSD_BOUND_REQUESTS		((u16)8)

/* A session moves forward only; dafsd_session_set_state() checks. */
enum dafsd_session_state {
	DAFSD_SES_NEW,		/* connection up, nothing heard */
	DAFSD_SES_CONNECTED,	/* CLIENT_CONNECT answered, not authenticated */
	DAFSD_SES_READY,
	DAFSD_SES_BOUND,	/* no session but a channel bound to one */
	DAFSD_SES_CLOSING,
};

/**
 * struct dafsd_session - one session (3.1.2), or an optional channel of one
 * @node: in the list of sessions; guarded by dafsd_sessions_lock
 * @id_node: in the table of sessions by id, from CLIENT_CONNECT on; likewise
 * @ref: one of the table, one of each user that found it there
 * @lock: guards @state, @bc, @rr, @bound_to and @changing
 * @state: see above
 * @session_id: what CLIENT_CONNECT returned
 * @peer: the address it comes from; holds a reference
 * @new_node: in the list of connections that are not authenticated yet, nor bound;
 *	guarded by dafsd_sessions_lock
 * @admitted: counted among the sessions; under dafsd_sessions_lock
 * @client: after CLIENT_CONNECT; holds a reference, and is counted in its nr_connecting
 *	until @client_node is in its list
 * @client_node: in the sessions of @client once it has authenticated, until it ends
 * @opts: as negotiated
 * @principal: as whom it has authenticated
 * @trusted: may use credential handles
 * @auth_failures: CLIENT_AUTH attempts refused so far (E-52), and CONNECT_BINDs to
 *	sessions that there are not
 * @chan: the channel that carries its requests
 * @responder: of @chan
 * @bc: the back-control channel bound to this session, or NULL; no reference,
 *	it takes itself out when it ends
 * @rr: the RDMA-read channel, likewise
 * @bound_to: state BOUND: the session; holds a reference
 * @bc_requester: state BOUND, back-control: sends directives
 * @sq_avail: send queue entries free for RDMA on @chan
 * @busy: requests whose responses have not left, and one for the channel until it is
 *	quiesced; who drops the last one queues the end of the session
 * @placed_lock: guards @placed
 * @placed: dafsd_rqst.place_link of its requests that have a place in a lane
 * @parked: dafsd_rqst.park_own of its requests that wait; with what follows up to
 *	@ending guarded by the lock of request/park.c
 * @waiting: entries of @parked
 * @sq_waiting: requests that wait for @sq_avail; may be of another session
 * @alone: a DISCONNECT that waits for the end of all other requests
 * @ending: nothing waits any more
 * @changing: dafsd_rqst.change_link of the changes that are executed, see request/late.c
 * @late: it has ended, and counts in client->nr_late
 * @chains: of its requests; forgotten with the session (4.3.4)
 * @setup: held while a DAFSD_P_SETUP request is executed
 * @leaving: bit 0 set by the first DISCONNECT
 * @reaper: ends a session that does not authenticate, is cut off, or does not hang
 *	up
 * @requests_seen: what @requests was when @reaper looked last
 * @teardown: ends it, in steps, each queued by the end of the one before; the first
 *	one by the channel's end
 * @fence_id: fence_id_string, for the fencing procedures
 * @requests: requests answered
 * @errors: those answered by another status than OK
 * @bytes_read: bytes of files that went to the client
 * @bytes_borrowed: those that left from where the file system keeps them
 * @bytes_written: bytes of files that came from it
 * @in_sysfs: @kobj was added; under @setup
 * @kobj: its folder in sysfs, from state READY until teardown
 * @kobj_gone: nothing refers to @kobj any more
 */
struct dafsd_session {
	struct list_head node;
	struct hlist_node id_node;
	struct kref ref;
	spinlock_t lock;	/* see above */
	enum dafsd_session_state state;
	struct dafs_session_id session_id;
	struct dafsd_peer *peer;
	struct list_head new_node;
	bool admitted;
	struct dafsd_client *client;
	struct list_head client_node;
	struct dafs_connect_opts opts;
	const struct dafsd_principal *principal;
	bool trusted;
	u8 auth_failures;
	struct dafs_chan *chan;
	struct dafs_responder *responder;
	struct dafsd_session *bc;
	struct dafsd_session *rr;
	struct dafsd_session *bound_to;
	struct dafs_requester *bc_requester;
	atomic_t sq_avail;
	atomic_t busy;
	spinlock_t placed_lock;	/* see above */
	struct list_head placed;
	struct list_head parked;
	unsigned int waiting;
	struct list_head sq_waiting;
	struct list_head alone;
	bool ending;
	struct list_head changing;
	int late;
	struct dafsd_chains chains;
	struct mutex setup;	/* see above */
	unsigned long leaving;
	struct delayed_work reaper;
	s64 requests_seen;
	struct work_struct teardown;
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

/* dafsd_session.busy when one request is left and the channel is good */
#define DAFSD_BUSY_ALONE	2

/**
 * struct dafsd_session_ops - who serves the requests of a session
 * @rqst: gets them
 * @stop: the channel has closed: answer those that wait
 */
struct dafsd_session_ops {
	const struct dafs_responder_ops *rqst;
	void (*stop)(struct dafsd_session *ses);
};

void dafsd_sessions_init(const struct dafsd_session_ops *ops);
void dafsd_late_closed(struct dafsd_session *ses);
void dafsd_late_over(struct dafsd_session *ses);
void dafsd_sessions_exit(void);
int dafsd_session_accept(struct dafs_listener *listener, struct rdma_cm_id *id,
			 const struct rdma_conn_param *conn);
bool dafsd_session_admit(struct dafsd_session *ses);
bool dafsd_session_set_state(struct dafsd_session *ses, enum dafsd_session_state next);
struct dafsd_session *dafsd_session_find(const struct dafs_session_id *session_id);
struct dafsd_session *dafsd_session_get(struct dafsd_session *ses);
void dafsd_session_put(struct dafsd_session *ses);
void dafsd_session_idle(struct dafsd_session *ses);
void dafsd_session_new_id(struct dafsd_session *ses);
void dafsd_session_reap_in(struct dafsd_session *ses, unsigned int seconds);
bool dafsd_sessions_busy(const struct dafsd_client *client);
void dafsd_sessions_end(const struct dafsd_client *client);
void dafsd_sessions_supersede(const struct dafsd_session *ses);

/* sysfs.c */
int dafsd_sysfs_init(void);
void dafsd_sysfs_exit(void);
void dafsd_session_show_in_sysfs(struct dafsd_session *ses);
void dafsd_session_hide_from_sysfs(struct dafsd_session *ses);

#endif /* _DAFSD_SESSION_SESSION_H */
