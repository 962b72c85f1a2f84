// SPDX-License-Identifier: GPL-2.0
/* What requests leave in the response cache of their session, see session/respcache.c. */
#include "../session/conn.h"
#include "../session/respcache.h"
#include "../session/session.h"
#include "procedure.h"
#include "request.h"

/* What changes something; and what a chain goes on with that does, if it says so (E-58) */
static bool dafsd_cached_counts(const struct dafsd_rqst *rq)
{
	return rq->ses->respcache &&
	       (rq->proc->class >= DAFSD_FS_MODIFY ||
		(rq->proc->class == DAFSD_SIMPLE && (rq->base.hdr.chain_flags & DAFS_CHF_SAVE)));
}

/**
 * dafsd_cached_arrived() - forget responses that a client has proven to have (5.2.2)
 * @rq: a request that has arrived; its connection is set
 *
 * Context: any; holds the lock of the responder.
 */
void dafsd_cached_arrived(const struct dafsd_rqst *rq)
{
	struct dafsd_conn *conn = rq->conn;
	struct dafsd_session *ses;

	/* pairs with dafsd_conn_set_state() */
	if (smp_load_acquire(&conn->state) != DAFSD_CONN_READY)
		return;
	ses = READ_ONCE(conn->ses);
	if (ses && ses->op == conn && ses->respcache)
		dafsd_respcache_expire(ses->respcache, dafs_responder_limit(conn->responder));
}

/**
 * dafsd_cached_begin() - a request is about to be executed
 * @rq: the request; the caller looks afterwards whether its channel is open
 *
 * Context: may sleep.
 * Return: OK, or RESOURCE: it could not be remembered, so it must not be executed.
 */
dafs_status_t dafsd_cached_begin(struct dafsd_rqst *rq)
{
	const struct dafs_req_hdr *hdr = &rq->base.hdr;

	/* it may have been handled before, in vain */
	if (rq->response || !dafsd_cached_counts(rq))
		return DAFS_STATUS_OK;
	dafsd_respcache_reap(rq->ses->respcache);
	rq->response = dafsd_response_begin(rq->ses->respcache, hdr->stream_id, hdr->seq_number,
					    hdr->procedure);
	return rq->response ? DAFS_STATUS_OK : DAFSERR_RESOURCE;
}

/* It has changed something, or could not; it was not merely sent away. */
static bool dafsd_cached_is_executed(const struct dafsd_rqst *rq)
{
	return rq->ran && !dafsd_status_puts_off(rq->status);
}

/**
 * dafsd_cached_end() - a request is answered
 * @rq: the request; its response is encoded
 *
 * Context: may sleep.
 */
void dafsd_cached_end(struct dafsd_rqst *rq)
{
	struct dafsd_response *response = rq->response;

	if (!response)
		return;
	if (dafsd_cached_is_executed(rq))
		dafsd_response_done(response, rq->status, rq->base.out.base + DAFS_HDR_SIZE,
				    rq->len - DAFS_HDR_SIZE);
	else
		dafsd_response_undone(response);
	/* its outcome is recorded and durable; results that are lost are made up */
	if (response->intended)
		dafsd_response_record(rq->ses->respcache, response, DAFSD_RESPONSE_RESULTS);
	rq->response = NULL;
}
