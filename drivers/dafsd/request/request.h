/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests, whatever their procedure.  One travels: responder (dafs_common) ->
 * dafsd_rqst_arrived() -> work item -> decode -> session and credential rules -> handler of
 * the procedure table -> encode -> dafs_reply().
 */
#ifndef _DAFSD_REQUEST_REQUEST_H
#define _DAFSD_REQUEST_REQUEST_H

#include <linux/dafs/codec.h>
#include <linux/dafs/responder.h>
#include "../session/chain.h"
#include "io.h"

struct dafsd_client;
struct dafsd_conn;
struct dafsd_export;
struct dafsd_file;
struct dafsd_lane;
struct dafsd_open;
struct dafsd_proc;
struct dafsd_response;
struct dafsd_session;

/* Whose a request is, see request/park.c */
enum dafsd_owner {
	DAFSD_OWNER_ANSWERED,	/* the responder's; also before the first use */
	DAFSD_OWNER_CHAINED,	/* arrived; or the request's before it in its chain */
	DAFSD_OWNER_QUEUED,
	DAFSD_OWNER_WORKER,
	DAFSD_OWNER_PARKED,
	DAFSD_OWNER_DEVICE,	/* RDMA is under way that no response follows */
};

/* What a worker does next with a request, see request/request.c */
enum dafsd_stage {
	DAFSD_STAGE_BEGIN,	/* decode, find out what it needs */
	DAFSD_STAGE_SETUP,	/* dafsd_proc.run, one at a time on a connection */
	DAFSD_STAGE_PREPARE,	/* dafsd_proc.prepare */
	DAFSD_STAGE_MOVE,	/* post a round of RDMA that no response follows */
	DAFSD_STAGE_MOVED,	/* it has ended */
	DAFSD_STAGE_WAITED,	/* the event of dafsd_wait has come */
	DAFSD_STAGE_RUN,	/* dafsd_proc.run */
	DAFSD_STAGE_ENCODE,	/* the result */
	DAFSD_STAGE_SEND,	/* the response */
};

/**
 * struct dafsd_wait - an event that a request waits for without a worker
 * @what: what is waited for, for trace points
 * @end: the request is going to be answered: free this; in its worker, may sleep
 * @pending: set by the handler, which returns DELAY: the request is to wait, and to be
 *	handled anew after the event
 * @once: @end is called then, so that the handler does not see this
 * @room: from dafsd_wait_take_room()
 * @queue: the request, while it is parked; with @ready guarded by the lock of request/park.c
 * @ready: the event has come since dafsd_wait_begin()
 */
struct dafsd_wait {
	const char *what;
	void (*end)(struct dafsd_wait *wait);
	bool pending;
	bool once;
	unsigned int room;
	struct list_head queue;
	bool ready;
};

/**
 * struct dafsd_rqst - one request at the server
 * @base: the responder's part; first
 * @conn: where it came from; its end waits for its requests
 * @ses: its session, valid once its state was found to allow the request
 * @proc: its row of the procedure table
 * @owner: whose it is
 * @stage: what comes next
 * @status: what its response says
 * @len: bytes of its response
 * @lane: where it has a worker's place, or NULL; changed under dafsd_conn.placed_lock
 * @place_link: in the requests of its connection that have one
 * @least: its place is one of the DAFSD_LANE_LEAST of the lane: its worker is of dafsd_least_wq
 * @exp: export that @lane belongs to, if any; holds a reference
 * @wants: the export that it came to and found full, if it is to go on with a place
 *	there; holds a reference
 * @walked: components of its path that it has walked before it waited for @exp, at whose
 *	root it goes on; 0 if it did not wait
 * @came: what it tells of its path if it cannot go on there (E-96)
 * @waits: the lane that it waits for a place in, or NULL; guarded by the lock of request/park.c
 * @passes: it is in the list of those that go first there; likewise
 * @change_link: in the changes of its connection that are executed, or empty
 * @counted: in dafsd_conn.unanswered
 * @park_link: in the list of what it waits for
 * @park_own: in the list of all that wait in its connection
 * @cred: whom to act for; the handlers run under it
 * @saved_cred: what its worker was before, for revert_creds()
 * @open: OPEN: what it has reserved and not used yet, see dafsd_open_reserve()
 * @wait: the event that it waits for or has waited for, or NULL
 * @met: a file with a delegation that is in its way if it ends with DELAY, or NULL; holds a
 *	reference
 * @yields: a client that loses what was in the way of this request, and had it by courtesy only; a
 *	reference, or NULL
 * @needs_room: what is in the way of this request is its memory
 * @patience: until when it waits for the ends of delegations, in jiffies; 0 if it has not yet
 * @ran: its handler was called
 * @response: what is remembered of it, from dafsd_cached_begin() to dafsd_cached_end(), or NULL
 * @body: encode @res although the status is not OK (E-13)
 * @raw: its results, if they are encoded already
 * @hang_up: fail the channel once the response has left
 * @chain: its chain, while it is executed
 * @next: the request of the same chain that waits for it
 * @args: decoded arguments; strings point into the request message
 * @res: results, filled by the handler
 * @io: bulk data
 * @scratch: memory that @res points into, freed after the reply; kvfree()
 * @area: likewise; dafsd_area_free()
 */
struct dafsd_rqst {
	struct dafs_rqst base;
	struct dafsd_conn *conn;
	struct dafsd_session *ses;
	const struct dafsd_proc *proc;
	enum dafsd_owner owner;
	enum dafsd_stage stage;
	dafs_status_t status;
	u32 len;
	struct dafsd_lane *lane;
	struct list_head place_link;
	bool least;
	bool passes;
	struct dafsd_export *exp;
	struct dafsd_export *wants;
	u32 walked;
	struct dafs_lookup_res came;
	struct dafsd_lane *waits;
	struct list_head change_link;
	bool counted;
	struct list_head park_link;
	struct list_head park_own;
	const struct cred *cred;
	const struct cred *saved_cred;
	struct dafsd_open *open;
	struct dafsd_wait *wait;
	struct dafsd_file *met;
	struct dafsd_client *yields;
	bool needs_room;
	unsigned long patience;
	bool ran;
	struct dafsd_response *response;
	bool body;
	struct dafs_str raw;
	bool hang_up;
	struct dafsd_chain chain;
	struct dafsd_rqst *next;
	union dafs_args args;
	union dafs_res res;
	struct dafsd_io io;
	void *scratch;
	void *area;
};

void dafsd_requests_init(const struct dafsd_proc *procs, void (*met)(struct dafsd_rqst *rq));
void dafsd_rqst_queue(struct dafsd_rqst *rq, enum dafsd_owner from);
struct dafsd_rqst *dafsd_rqst_current(void);
extern const struct dafs_responder_ops dafsd_responder_ops;

/* chain.c */
bool dafsd_chain_arrived(struct dafsd_rqst *rq);
dafs_status_t dafsd_chain_check(const struct dafsd_rqst *rq);
dafs_status_t dafsd_chain_inherit(struct dafsd_rqst *rq);
struct dafsd_rqst *dafsd_chain_next(struct dafsd_rqst *rq, dafs_status_t status);
const struct dafs_fh *dafsd_chain_fh(const struct dafsd_rqst *rq);

/* park.c: where requests wait */
extern unsigned int dafsd_lane_most;
extern unsigned int dafsd_workers;
void dafsd_rqst_hand(struct dafsd_rqst *rq, enum dafsd_owner from, enum dafsd_owner to);
bool dafsd_lane_enter(struct dafsd_rqst *rq, const struct dafs_fh *fh);
bool dafsd_lane_change(struct dafsd_rqst *rq, struct dafsd_export *exp);
void dafsd_lane_await(struct dafsd_rqst *rq);
void dafsd_lane_leave(struct dafsd_rqst *rq);
bool dafsd_sq_enter(struct dafsd_rqst *rq);
void dafsd_sq_leave(struct dafsd_io *io);
bool dafsd_park_alone(struct dafsd_rqst *rq);
unsigned int dafsd_wait_take_room(struct dafsd_rqst *rq);
void dafsd_wait_drop_room(struct dafsd_conn *conn, unsigned int room);
void dafsd_wait_begin(struct dafsd_wait *wait);
bool dafsd_wait_park(struct dafsd_rqst *rq);
void dafsd_wait_ready(struct dafsd_wait *wait);
void dafsd_unpark_alone(struct dafsd_conn *conn);
void dafsd_park_end(struct dafsd_conn *conn);

/* cached.c: what is remembered of them */
void dafsd_cached_arrived(const struct dafsd_rqst *rq);
dafs_status_t dafsd_cached_begin(struct dafsd_rqst *rq);
void dafsd_cached_end(struct dafsd_rqst *rq);

/* late.c: changes that outlive their connection */
void dafsd_late_begin(struct dafsd_rqst *rq);
void dafsd_late_end(struct dafsd_rqst *rq);
void dafsd_late_answered(struct dafsd_rqst *rq);
dafs_status_t dafsd_late_check(struct dafsd_rqst *rq);
dafs_status_t dafsd_late_check_moved(struct dafsd_rqst *rq);

#endif /* _DAFSD_REQUEST_REQUEST_H */
