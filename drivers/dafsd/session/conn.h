/* SPDX-License-Identifier: GPL-2.0 */
/* Connections: the channels of sessions, and what is outstanding on them. */
#ifndef _DAFSD_SESSION_CONN_H
#define _DAFSD_SESSION_CONN_H

#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/unaligned.h>
#include <linux/workqueue.h>
#include <linux/dafs/chan.h>
#include <linux/dafs/responder.h>
#include "chain.h"

struct dafsd_peer;
struct dafsd_server;
struct dafsd_session;

/* What a connection is for.  It moves forward only; dafsd_conn_set_state() checks. */
enum dafsd_conn_state {
	DAFSD_CONN_NEW,		/* nothing heard */
	DAFSD_CONN_CONNECTED,	/* operation channel: CLIENT_CONNECT answered */
	DAFSD_CONN_READY,	/* operation channel: the session has authenticated */
	DAFSD_CONN_BOUND,	/* optional channel of a session with another connection */
	DAFSD_CONN_CLOSING,
};

/**
 * struct dafsd_conn - one connection
 * @node: in the list of connections; guarded by dafsd_server.conns_lock
 * @new_node: in the list of those that are not authenticated yet, nor bound; likewise
 * @ref: one of the connection itself until it ends, one of the session whose operation
 *	channel it is, one of each transfer on it
 * @lock: guards @state, @ses and @changing; taken with interrupts disabled, because it
 *	nests in dafsd_client.late_lock
 * @state: see above
 * @ses: operation channel: its session, from state CONNECTED until the last request has
 *	been answered; holds a reference
 * @bound_to: state BOUND: the session that it was bound to; likewise
 * @server: to which it was made
 * @peer: the address it comes from; holds a reference
 * @chan: the channel
 * @responder: of @chan
 * @requester: back-control channel: sends directives
 * @chains: of its requests; forgotten with the connection (4.3.4)
 * @sq_avail: send queue entries free for RDMA on @chan
 * @busy: requests whose responses have not left, and one for the channel until it is
 *	quiesced; dropping the last one queues the end of the connection
 * @placed_lock: guards @placed
 * @placed: dafsd_rqst.place_link of its requests that have a place in a lane
 * @parked: dafsd_rqst.park_own of its requests that wait; with what follows up to
 *	@ending guarded by the lock of request/park.c
 * @waiting: entries of @parked
 * @sq_waiting: requests that wait for @sq_avail; may be of another connection
 * @alone: a DISCONNECT that waits for the end of all other requests
 * @ending: nothing waits any more
 * @nr_waits: requests that wait for what clients have: LOCKs for other locks, others for the
 *	end of a delegation
 * @changing: dafsd_rqst.change_link of the changes that are executed, see request/late.c
 * @unanswered: changes that are executed, or whose responses have not left, see there
 * @late_node: in dafsd_client.late, after the channel has closed, while a change is
 *	executed; guarded by dafsd_client.late_lock
 * @setup: held while a DAFSD_P_SETUP request is executed
 * @auth_failures: CLIENT_AUTH attempts refused so far (E-52), and CONNECT_BINDs to
 *	sessions that do not exist
 * @reaper: ends it if it does not authenticate, is cut off, or does not hang up
 * @teardown: ends it, in steps, each queued by the end of the one before; the first
 *	one by the channel's end
 */
struct dafsd_conn {
	struct list_head node;
	struct list_head new_node;
	struct kref ref;
	spinlock_t lock;	/* see above */
	enum dafsd_conn_state state;
	struct dafsd_session *ses;
	struct dafsd_session *bound_to;
	struct dafsd_server *server;
	struct dafsd_peer *peer;
	struct dafs_chan *chan;
	struct dafs_responder *responder;
	struct dafs_requester *requester;
	struct dafsd_chains chains;
	atomic_t sq_avail;
	atomic_t busy;
	spinlock_t placed_lock;	/* see above */
	struct list_head placed;
	struct list_head parked;
	unsigned int waiting;
	struct list_head sq_waiting;
	struct list_head alone;
	bool ending;
	atomic_t nr_waits;
	struct list_head changing;
	atomic_t unanswered;
	struct list_head late_node;
	struct mutex setup;	/* see above */
	u8 auth_failures;
	struct delayed_work reaper;
	struct work_struct teardown;
};

/* dafsd_conn.busy when one request is left and the channel is good */
#define DAFSD_BUSY_ALONE	2

/**
 * struct dafsd_conn_ops - callbacks to the layer that serves requests
 * @rqst: gets them
 * @stop: the channel has closed: answer those that wait
 */
struct dafsd_conn_ops {
	const struct dafs_responder_ops *rqst;
	void (*stop)(struct dafsd_conn *conn);
};

void dafsd_conns_init(const struct dafsd_conn_ops *ops);
void dafsd_conns_exit(struct dafsd_server *server);
int dafsd_conn_accept(struct dafs_listener *listener, struct rdma_cm_id *id,
		      const struct rdma_conn_param *param);
bool dafsd_conn_set_state(struct dafsd_conn *conn, enum dafsd_conn_state next,
			  struct dafsd_session *ses);
struct dafsd_conn *dafsd_conn_get(struct dafsd_conn *conn);
void dafsd_conn_put(struct dafsd_conn *conn);
void dafsd_conn_idle(struct dafsd_conn *conn);
void dafsd_conn_reap_in(struct dafsd_conn *conn, unsigned int seconds);
void dafsd_late_closed(struct dafsd_conn *conn);
void dafsd_late_over(struct dafsd_conn *conn);

/*
 * Which of the mounts that share a client-id is at the other end (D.8)?  It keeps this when it
 * connects anew.
 */
static inline u64 dafsd_chan_origin(const struct dafs_chan *chan)
{
	return (u64)get_unaligned((const u32 *)chan->instance) << 32 |
	       get_unaligned((const u32 *)chan->session);
}

#endif /* _DAFSD_SESSION_CONN_H */
