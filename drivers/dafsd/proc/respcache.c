// SPDX-License-Identifier: GPL-2.0
/* Response cache procedures (6.3): what became of the requests of a session that was lost. */
#include <linux/mm.h>
#include <linux/slab.h>
#include "../session/conn.h"
#include "../session/respcache.h"
#include "../session/session.h"
#include "../request/request.h"
#include "proc.h"

/**
 * dafsd_proc_check_response() - CHECK_RESPONSE, 6.3.1
 * @rq: the request
 *
 * Return: as dafsd_respcache_query().
 */
dafs_status_t dafsd_proc_check_response(struct dafsd_rqst *rq)
{
	const struct dafsd_response *response;
	struct dafsd_respcache *cache;
	dafs_status_t status;

	status = dafsd_respcache_query(rq->ses, &rq->args.check_response, &cache, &response);
	if (!status)
		dafsd_respcache_put(cache);
	return status;
}

/* The results are sent as they are. */
static dafs_status_t dafsd_fetch_copy(struct dafsd_rqst *rq, const struct dafsd_response *response)
{
	const void *results = response->more ?: response->results;

	rq->body = true;
	if (!response->len)
		return response->status;
	rq->scratch = kvmalloc(response->len, GFP_KERNEL);
	if (!rq->scratch) {
		rq->body = false;
		return DAFSERR_DELAY;
	}
	memcpy(rq->scratch, results, response->len);
	rq->raw = (struct dafs_str){ .data = rq->scratch, .len = response->len };
	return response->status;
}

/**
 * dafsd_proc_fetch_response() - FETCH_RESPONSE, 6.3.2
 * @rq: the request
 *
 * Results in another byte order are not converted (E-56).
 *
 * Return: the status of the response; or an error as dafsd_proc_check_response().
 */
dafs_status_t dafsd_proc_fetch_response(struct dafsd_rqst *rq)
{
	const struct dafsd_response *response;
	struct dafsd_respcache *cache;
	dafs_status_t status;

	status = dafsd_respcache_query(rq->ses, &rq->args.check_response, &cache, &response);
	if (status)
		return status;
	if (response->len && cache->swab != rq->base.chan->swab)
		status = DAFSERR_BAD_SESSION;
	else
		status = dafsd_fetch_copy(rq, response);
	dafsd_respcache_put(cache);
	return status;
}

/**
 * dafsd_proc_discard_responses() - DISCARD_RESPONSES, 6.3.3
 * @rq: the request
 *
 * Return: as dafsd_respcache_discard().
 */
dafs_status_t dafsd_proc_discard_responses(struct dafsd_rqst *rq)
{
	return dafsd_respcache_discard(rq->ses, &rq->args.discard_responses.session_id);
}
