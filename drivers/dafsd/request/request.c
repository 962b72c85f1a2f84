// SPDX-License-Identifier: GPL-2.0
/*
 * From a request message to its response: the steps that are common to all requests,
 * before and after the handler of the procedure runs.
 */
#include <linux/slab.h>
#include <linux/dafs/fault.h>
#include "../session/server.h"
#include "../session/client.h"
#include "../session/conn.h"
#include "../session/courtesy.h"
#include "../session/session.h"
#include "../session/told.h"
#include "../session/trace.h"
#include "io.h"
#include "procedure.h"
#include "request.h"

/* Chapter 6, indexed by procedure number; see dafsd_requests_init() */
static const struct dafsd_proc *dafsd_request_procs;

/* See dafsd_requests_init() */
static void (*dafsd_request_met)(struct dafsd_rqst *rq);

/**
 * dafsd_requests_init() - set the table of request handlers
 * @procs: DAFS_PROC_LAST + 1 rows; a procedure without a handler is answered NOTSUPP
 * @met: takes dafsd_rqst.met, and may let the request wait if its handler has run
 *
 * Context: module initialization.
 */
void dafsd_requests_init(const struct dafsd_proc *procs, void (*met)(struct dafsd_rqst *rq))
{
	dafsd_request_procs = procs;
	dafsd_request_met = met;
}

static const struct dafsd_proc *dafsd_proc_find(u32 number)
{
	if (number > DAFS_PROC_LAST || !dafsd_request_procs[number].run)
		return NULL;
	return &dafsd_request_procs[number];
}

/* Is this procedure allowed in the current state of the connection (E-52)? */
static dafs_status_t dafsd_check_state(const struct dafsd_conn *conn, const struct dafsd_proc *proc)
{
	bool first = proc && proc->flags & DAFSD_P_FIRST;

	switch (smp_load_acquire(&conn->state)) {	/* pairs with dafsd_conn_set_state() */
	case DAFSD_CONN_NEW:
		return first ? DAFS_STATUS_OK : DAFSERR_ILLEGAL_STATE;
	case DAFSD_CONN_CONNECTED:
		if (first)
			return DAFSERR_ILLEGAL_STATE;
		return proc && proc->flags & DAFSD_P_UNAUTH ? DAFS_STATUS_OK :
		       DAFSERR_NOT_AUTHENTICATED;
	case DAFSD_CONN_READY:
		if (first)
			return DAFSERR_ILLEGAL_STATE;
		if (dafsd_client_is_discarded(conn->ses->client) &&
		    !(proc && proc->flags & DAFSD_P_DISCARDED))
			return DAFSERR_STALE_CLIENTID;	/* E-84 */
		return DAFS_STATUS_OK;
	case DAFSD_CONN_BOUND:
		return DAFSERR_NOTSUPP;		/* E-44 */
	case DAFSD_CONN_CLOSING:
		break;
	}
	return DAFSERR_ILLEGAL_STATE;
}

static dafs_status_t dafsd_decode(struct dafsd_rqst *rq)
{
	int err;

	/* the first member of append_inline, too */
	if (rq->proc->flags & DAFSD_P_INLINE)
		rq->args.write_inline.inline_header = rq->ses->opts.inline_write_header_size;
	err = dafs_decode_args(&rq->base.in, rq->base.hdr.procedure, &rq->args);
	if (!err)
		return DAFS_STATUS_OK;
	/* after one malformed message, do not trust the client to encode the next */
	rq->hang_up = err == -EBADMSG;
	return DAFSERR_INVAL;
}

static dafs_status_t dafsd_call(struct dafsd_rqst *rq,
				dafs_status_t (*handler)(struct dafsd_rqst *rq))
{
	dafs_status_t status;

	trace_dafsd_execute(&rq->base, handler == rq->proc->run ? "run" : "prepare");
	status = handler(rq);
	trace_dafsd_executed(&rq->base, status);
	return status;
}

/*
 * Handlers run with the credential of the user that the request names; vfs/fh.c may
 * squash it.  The credential does not change until the request is answered (E-48).
 */
static dafs_status_t dafsd_handle(struct dafsd_rqst *rq,
				  dafs_status_t (*handler)(struct dafsd_rqst *rq))
{
	dafs_status_t status;

	if (!(rq->proc->flags & DAFSD_P_CRED))
		return dafsd_call(rq, handler);
	if (!rq->cred) {
		status = dafsd_cred_find(rq->ses, rq->base.hdr.cred_handle, &rq->cred);
		if (status)
			return status;
	}
	rq->saved_cred = override_creds(rq->cred);
	status = dafsd_call(rq, handler);
	revert_creds(rq->saved_cred);
	return status;
}

static dafs_status_t dafsd_begin(struct dafsd_rqst *rq)
{
	dafs_status_t status;

	rq->proc = dafsd_proc_find(rq->base.hdr.procedure);
	status = dafsd_chain_check(rq) ?: dafsd_check_state(rq->conn, rq->proc);
	if (status)
		return status;
	rq->ses = rq->conn->ses;
	if (!rq->proc)
		return DAFSERR_NOTSUPP;
	memset(&rq->res, 0, sizeof(rq->res));
	return dafsd_decode(rq) ?: dafsd_chain_inherit(rq);
}

static bool dafsd_is_setup(const struct dafsd_rqst *rq)
{
	return rq->proc && rq->proc->flags & DAFSD_P_SETUP;
}

/*
 * Requests that change the state of the connection are executed one at a time.  If a client
 * sends two of them at once (E-37 forbids it), the second one sees the state that the
 * first one has set.
 */
static dafs_status_t dafsd_execute_setup(struct dafsd_rqst *rq)
{
	dafs_status_t status;

	mutex_lock(&rq->conn->setup);
	status = dafsd_check_state(rq->conn, rq->proc) ?: dafsd_handle(rq, rq->proc->run);
	mutex_unlock(&rq->conn->setup);
	return status;
}

static int dafsd_encode_raw(const struct dafs_buf *out, const struct dafs_str *raw)
{
	if (raw->len > out->len - DAFS_HDR_SIZE)
		return -EMSGSIZE;
	memcpy(out->base + DAFS_HDR_SIZE, raw->data, raw->len);
	return DAFS_HDR_SIZE + raw->len;
}

/* An error response is a header without a body, unless the draft says otherwise (E-13). */
static u32 dafsd_encode(struct dafsd_rqst *rq, dafs_status_t *status)
{
	struct dafs_buf out = rq->base.out;
	int len;

	if (*status && !rq->body)
		return DAFS_HDR_SIZE;
	if (rq->ses)	/* not if it is a CONNECT_BIND */
		out.len = min(out.len, rq->ses->opts.max_response_size);
	if (rq->raw.len)
		len = dafsd_encode_raw(&out, &rq->raw);
	else
		len = dafs_encode_res(&out, rq->base.hdr.procedure, &rq->res);
	if (len > 0)
		return len;
	*status = len == -EMSGSIZE ? DAFSERR_TOOSMALL : DAFSERR_SERVERFAULT;
	return DAFS_HDR_SIZE;
}

/* A client may ask for a larger or smaller number of requests (3.2.6.4.2). */
static void dafsd_apply_desired_nreq(struct dafsd_rqst *rq)
{
	u16 desired = rq->base.hdr.desired_nreq;

	if (desired && READ_ONCE(rq->conn->state) == DAFSD_CONN_READY && !rq->base.refuse)
		dafs_responder_set_target(rq->conn->responder,
					  min_t(u32, desired, READ_ONCE(dafsd_max_requests)));
}

/* The number that a row of the table says is in the arguments or results */
static u32 dafsd_number(const void *from, u16 at)
{
	return *(const u32 *)(from + at - 1);
}

/* What sysfs shows of the session, also of requests that its state does not allow. */
static void dafsd_count(struct dafsd_rqst *rq, dafs_status_t status)
{
	struct dafsd_session *ses = READ_ONCE(rq->conn->ses);
	const struct dafsd_proc *proc = rq->proc;

	if (!ses)
		return;
	atomic64_inc(&ses->requests);
	if (status) {
		if (status != DAFSERR_CHAIN_BROKEN)	/* counted where it broke */
			atomic64_inc(&ses->errors);
		return;
	}
	if (proc->read)
		atomic64_add(dafsd_number(&rq->res, proc->read), &ses->bytes_read);
	if (proc->written)
		atomic64_add(dafsd_number(&rq->res, proc->written), &ses->bytes_written);
	if (proc->appended)
		atomic64_add(dafsd_number(&rq->args, proc->appended), &ses->bytes_written);
}

/*
 * The stages of a request.  Each function runs in a worker, does one stage and sets the
 * next one.  It returns true if the same worker continues with that stage, and false if
 * the request has been parked or answered, so that the worker must not touch it any more.
 */

/* No request is started on a channel that has failed: no response can be sent. */
static bool dafsd_stage_begin(struct dafsd_rqst *rq)
{
	rq->stage = DAFSD_STAGE_ENCODE;
	rq->status = rq->base.refuse;
	dafsd_apply_desired_nreq(rq);
	if (dafs_fault(DAFS_FAULT_ARRIVED, rq->base.hdr.procedure))
		dafs_chan_fail(rq->base.chan, DAFS_CLOSE_PEER);
	if (!rq->status && !dafs_chan_is_open(rq->base.chan))
		rq->status = DAFSERR_IO;
	if (!rq->status)
		rq->status = dafsd_begin(rq);
	if (rq->status)
		return true;
	if (dafsd_is_setup(rq))
		rq->stage = DAFSD_STAGE_SETUP;
	else
		rq->stage = rq->proc->prepare ? DAFSD_STAGE_PREPARE : DAFSD_STAGE_RUN;
	return dafsd_lane_enter(rq, dafsd_chain_fh(rq));
}

static bool dafsd_stage_setup(struct dafsd_rqst *rq)
{
	rq->stage = DAFSD_STAGE_ENCODE;
	/* it may have waited for a place */
	rq->status = dafs_chan_is_open(rq->base.chan) ? dafsd_execute_setup(rq) : DAFSERR_IO;
	return true;
}

static void dafsd_rqst_drop_yields(struct dafsd_rqst *rq)
{
	if (rq->yields)
		dafsd_client_put(rq->yields);
	rq->yields = NULL;
	rq->needs_room = false;
}

static bool dafsd_stage_prepare(struct dafsd_rqst *rq)
{
	rq->status = dafs_chan_is_open(rq->base.chan) ? dafsd_handle(rq, rq->proc->prepare) :
							DAFSERR_IO;
	/* it does not wait, but these are not needed any more */
	if (rq->met)
		dafsd_request_met(rq);
	dafsd_rqst_drop_yields(rq);
	rq->stage = rq->status ? DAFSD_STAGE_ENCODE : DAFSD_STAGE_RUN;
	if (rq->status)
		return true;
	if (rq->proc->flags & DAFSD_P_ALONE)
		return dafsd_park_alone(rq);
	if (!rq->io.nr_rdma)
		return true;
	dafsd_lane_leave(rq);
	rq->stage = DAFSD_STAGE_MOVE;
	return dafsd_sq_enter(rq);
}

static bool dafsd_stage_move(struct dafsd_rqst *rq)
{
	rq->stage = DAFSD_STAGE_MOVED;
	return dafsd_io_post(rq);
}

static bool dafsd_rqst_pushes(const struct dafsd_rqst *rq)
{
	return !rq->status && rq->io.nr_rdma && rq->io.dir == DMA_TO_DEVICE;
}

/* The last round of a READ_DIRECT is posted with the response and needs no own stage. */
static bool dafsd_stage_moved(struct dafsd_rqst *rq)
{
	rq->status = dafsd_io_ended(rq);
	rq->stage = DAFSD_STAGE_ENCODE;
	if (rq->status || (dafsd_rqst_pushes(rq) && !dafsd_io_more(&rq->io)))
		return true;
	if (rq->io.nr_rdma) {
		rq->stage = DAFSD_STAGE_MOVE;
		return dafsd_sq_enter(rq);
	}
	rq->stage = DAFSD_STAGE_RUN;
	return dafsd_lane_enter(rq, dafsd_chain_fh(rq));
}

static void dafsd_rqst_drop_cred(struct dafsd_rqst *rq)
{
	if (rq->cred)
		put_cred(rq->cred);
	rq->cred = NULL;
}

/*
 * The request has reached an export whose lane is full, and has changed nothing yet.  It
 * will continue with the credential that it has now, which the exports that it has passed
 * may have squashed.
 */
static bool dafsd_rqst_awaits(struct dafsd_rqst *rq)
{
	if (!rq->wants || rq->status != DAFSERR_DELAY)
		return false;
	memset(&rq->res, 0, sizeof(rq->res));
	rq->body = false;
	rq->stage = DAFSD_STAGE_RUN;
	dafsd_late_answered(rq);
	dafsd_lane_await(rq);
	return true;
}

/*
 * Free what the encoded response does not need: the client determines how long it takes
 * until the response has been sent.
 */
static void dafsd_rqst_forget(struct dafsd_rqst *rq)
{
	kvfree(rq->scratch);
	rq->scratch = NULL;
	dafsd_area_free(rq->area);
	rq->area = NULL;
}

/*
 * The request has to wait for an event, and has changed nothing yet.  Meanwhile it needs no
 * worker, and what it would tell.
 */
static bool dafsd_rqst_waits(struct dafsd_rqst *rq)
{
	if (!rq->wait || !rq->wait->pending)
		return false;
	rq->wait->pending = false;
	memset(&rq->res, 0, sizeof(rq->res));
	rq->body = false;
	dafsd_rqst_forget(rq);
	dafsd_lane_leave(rq);
	dafsd_late_answered(rq);
	rq->stage = DAFSD_STAGE_WAITED;
	return true;
}

static void dafsd_rqst_end_wait(struct dafsd_rqst *rq)
{
	rq->wait->end(rq->wait);
	rq->wait = NULL;
}

static bool dafsd_stage_waited(struct dafsd_rqst *rq)
{
	if (rq->wait->once)
		dafsd_rqst_end_wait(rq);
	rq->stage = DAFSD_STAGE_RUN;
	return dafsd_lane_enter(rq, dafsd_chain_fh(rq));
}

/* It is to be answered that something is in its way, and has changed nothing. */
static bool dafsd_rqst_is_hindered(const struct dafsd_rqst *rq)
{
	return (rq->status == DAFSERR_DELAY || rq->status == DAFSERR_DENIED) &&
	       !(rq->wait && rq->wait->pending) && !rq->wants && !rq->walked &&
	       !rq->proc->prepare;
}

/* Return: false if the client shall try again, as freeing memory takes long. */
static bool dafsd_rqst_await_yields(struct dafsd_rqst *rq)
{
	dafsd_courtesy_wait(rq->yields);
	return !rq->needs_room || dafsd_courtesy_wait_room(rq->yields);
}

/*
 * What is in its way is just being taken from a client whose lease is over: handle it anew when
 * that is done, see session/courtesy.c.
 */
static bool dafsd_rqst_again(struct dafsd_rqst *rq)
{
	bool again = rq->yields && dafsd_rqst_is_hindered(rq) && dafsd_rqst_await_yields(rq);

	if (again) {
		memset(&rq->res, 0, sizeof(rq->res));
		rq->body = false;
		dafsd_rqst_forget(rq);
		rq->stage = DAFSD_STAGE_RUN;
	}
	dafsd_rqst_drop_yields(rq);
	return again;
}

/* The state may have changed while the request waited. */
static dafs_status_t dafsd_run_check(struct dafsd_rqst *rq)
{
	if (!dafs_chan_is_open(rq->base.chan))
		return DAFSERR_IO;
	/* after a move to another export, dafsd_fh_enter() checks for late changes there */
	return dafsd_check_state(rq->conn, rq->proc) ?:
	       (rq->walked ? DAFS_STATUS_OK : dafsd_late_check(rq));
}

static dafs_status_t dafsd_run(struct dafsd_rqst *rq)
{
	dafs_status_t status = dafsd_run_check(rq);

	rq->ran = !status;
	if (!status)
		dafs_fault_delay(rq->base.hdr.procedure);
	return status ?: dafsd_handle(rq, rq->proc->run);
}

static bool dafsd_stage_run(struct dafsd_rqst *rq)
{
	rq->stage = DAFSD_STAGE_ENCODE;
	rq->status = dafsd_cached_begin(rq);
	if (rq->status)
		return true;
	dafsd_late_begin(rq);
	rq->status = dafsd_run(rq);
	dafsd_late_end(rq);
	if (rq->met)
		dafsd_request_met(rq);
	if (dafsd_rqst_again(rq))
		return true;
	if (dafsd_rqst_awaits(rq))
		return false;
	if (dafsd_rqst_waits(rq))
		return dafsd_wait_park(rq);
	if (!dafsd_rqst_pushes(rq) || !dafsd_io_more(&rq->io))
		return true;
	dafsd_lane_leave(rq);
	rq->stage = DAFSD_STAGE_MOVE;
	return dafsd_sq_enter(rq);
}

static bool dafsd_stage_encode(struct dafsd_rqst *rq)
{
	if (rq->wait)
		dafsd_rqst_end_wait(rq);
	dafsd_lane_leave(rq);
	dafsd_rqst_drop_cred(rq);
	rq->len = dafsd_encode(rq, &rq->status);
	dafsd_cached_end(rq);
	dafsd_rqst_forget(rq);
	dafsd_count(rq, rq->status);
	rq->stage = DAFSD_STAGE_SEND;
	return !dafsd_rqst_pushes(rq) || dafsd_sq_enter(rq);
}

/* Gives up the request. */
static void dafsd_rqst_reply(struct dafsd_rqst *rq, struct ib_send_wr *first)
{
	u32 proc = rq->base.hdr.procedure;
	struct dafsd_conn *conn = NULL;

	if (dafs_fault(DAFS_FAULT_ANSWERED, proc))
		conn = dafsd_conn_get(rq->conn);
	if (dafs_fault(DAFS_FAULT_EXECUTED, proc))
		dafs_chan_fail(rq->conn->chan, DAFS_CLOSE_PEER);
	dafs_reply(&rq->base, rq->status, rq->len, first);
	if (!conn)
		return;
	dafs_chan_fail(conn->chan, DAFS_CLOSE_PEER);
	dafsd_conn_put(conn);
}

/* Return: the next request of its chain, or NULL. */
static struct dafsd_rqst *dafsd_rqst_send(struct dafsd_rqst *rq)
{
	struct dafsd_rqst *next = dafsd_chain_next(rq, rq->status);
	struct ib_send_wr *first = NULL;

	/* without room in the send queue the channel has ended; no response is sent */
	if (dafsd_rqst_pushes(rq) && rq->io.sq_used)
		first = dafsd_io_wrs(rq, NULL, &rq->base.wr);
	dafsd_rqst_hand(rq, DAFSD_OWNER_WORKER, DAFSD_OWNER_ANSWERED);
	rq->base.spec_cond = dafsd_conn_special(rq->conn);
	dafsd_rqst_reply(rq, first);
	return next;
}

static bool dafsd_rqst_stage(struct dafsd_rqst *rq)
{
	switch (rq->stage) {
	case DAFSD_STAGE_BEGIN:
		return dafsd_stage_begin(rq);
	case DAFSD_STAGE_SETUP:
		return dafsd_stage_setup(rq);
	case DAFSD_STAGE_PREPARE:
		return dafsd_stage_prepare(rq);
	case DAFSD_STAGE_MOVE:
		return dafsd_stage_move(rq);
	case DAFSD_STAGE_MOVED:
		return dafsd_stage_moved(rq);
	case DAFSD_STAGE_WAITED:
		return dafsd_stage_waited(rq);
	case DAFSD_STAGE_RUN:
		return dafsd_stage_run(rq);
	case DAFSD_STAGE_ENCODE:
		return dafsd_stage_encode(rq);
	case DAFSD_STAGE_SEND:
		break;
	}
	return false;
}

/* Return: the next request of its chain, if this one was answered and there is one. */
static struct dafsd_rqst *dafsd_rqst_serve(struct dafsd_rqst *rq)
{
	while (rq->stage != DAFSD_STAGE_SEND)
		if (!dafsd_rqst_stage(rq))
			return NULL;
	return dafsd_rqst_send(rq);
}

/*
 * The next request of a chain is queued as a work item of its own.  This worker occupies
 * @work until it returns, but once the request is answered its work item may be queued
 * again for a new request.  That one would have to wait for the whole chain.
 */
static void dafsd_rqst_work(struct work_struct *work)
{
	struct dafs_rqst *base = container_of(work, struct dafs_rqst, work);
	struct dafsd_rqst *rq = container_of(base, struct dafsd_rqst, base);

	dafsd_rqst_hand(rq, DAFSD_OWNER_QUEUED, DAFSD_OWNER_WORKER);
	rq = dafsd_rqst_serve(rq);
	if (rq)
		dafsd_rqst_queue(rq, DAFSD_OWNER_CHAINED);
}

/**
 * dafsd_rqst_current() - the request that the current task executes
 *
 * For callbacks of file systems, which are not told.
 *
 * Context: any but interrupt.
 * Return: the request, or NULL if the task is no worker that executes one.
 */
struct dafsd_rqst *dafsd_rqst_current(void)
{
	struct work_struct *work = current_work();

	if (!work || work->func != dafsd_rqst_work)
		return NULL;
	return container_of(work, struct dafsd_rqst, base.work);
}

/**
 * dafsd_rqst_queue() - let a worker continue with a request
 * @rq: the request
 * @from: its owner until now
 *
 * Context: any.
 */
void dafsd_rqst_queue(struct dafsd_rqst *rq, enum dafsd_owner from)
{
	dafsd_rqst_hand(rq, from, DAFSD_OWNER_QUEUED);
	queue_work(rq->least ? dafsd_least_wq : dafsd_wq, &rq->base.work);
}

/* A request renews the lease of its client, whatever its result is (E-89). */
static void dafsd_rqst_renew(const struct dafsd_conn *conn)
{
	/* pairs with dafsd_conn_set_state(): the client is set and does not change */
	if (smp_load_acquire(&conn->state) == DAFSD_CONN_READY)
		dafsd_client_renew(conn->ses->client);
}

static void dafsd_rqst_arrived(struct dafs_rqst *base)
{
	struct dafsd_rqst *rq = container_of(base, struct dafsd_rqst, base);
	struct dafsd_conn *conn = base->chan->priv;

	rq->conn = conn;
	/* once it is part of the chain, the worker of the chain may take it at any time */
	dafsd_rqst_hand(rq, DAFSD_OWNER_ANSWERED, DAFSD_OWNER_CHAINED);
	atomic_inc(&conn->busy);
	dafsd_rqst_renew(conn);
	dafsd_cached_arrived(rq);
	rq->proc = NULL;
	rq->stage = DAFSD_STAGE_BEGIN;
	rq->lane = NULL;
	rq->least = false;
	rq->exp = NULL;
	rq->wants = NULL;
	rq->walked = 0;
	rq->waits = NULL;
	rq->counted = false;
	rq->cred = NULL;
	rq->open = NULL;
	rq->wait = NULL;
	rq->met = NULL;
	rq->yields = NULL;
	rq->needs_room = false;
	rq->patience = 0;
	rq->ran = false;
	rq->response = NULL;
	rq->body = false;
	rq->raw = (struct dafs_str){};
	rq->hang_up = false;
	rq->scratch = NULL;
	rq->area = NULL;
	memset(&rq->io, 0, sizeof(rq->io));
	INIT_WORK(&base->work, dafsd_rqst_work);
	if (!dafsd_chain_arrived(rq))
		dafsd_rqst_queue(rq, DAFSD_OWNER_CHAINED);
}

static void dafsd_rqst_sent(struct dafs_rqst *base)
{
	struct dafsd_rqst *rq = container_of(base, struct dafsd_rqst, base);
	struct dafsd_conn *conn = rq->conn;

	dafsd_io_free(rq);
	if (rq->hang_up)
		dafs_chan_fail(base->chan, DAFS_CLOSE_PROTOCOL);
	/* while it was executed the client had no reason to send another request */
	dafsd_rqst_renew(conn);
	dafsd_late_answered(rq);
	/* the connection is not released before the responder owns the request again */
	switch (atomic_dec_return(&conn->busy)) {
	case 0:
		dafsd_conn_idle(conn);
		break;
	case DAFSD_BUSY_ALONE:
		dafsd_unpark_alone(conn);
		break;
	}
}

const struct dafs_responder_ops dafsd_responder_ops = {
	.rqst_size = sizeof(struct dafsd_rqst),
	.request = dafsd_rqst_arrived,
	.sent = dafsd_rqst_sent,
};
