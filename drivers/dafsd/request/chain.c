// SPDX-License-Identifier: GPL-2.0
/*
 * Chains: requests that are executed one after the other, each only if the previous one
 * succeeded.  A request passes a filehandle and a state-id to the next one (4.3).
 *
 * The requests of a chain arrive one directly after the other (E-60), and the responder
 * delivers requests in the order of arrival, one at a time.  If the previous request of
 * the chain is not finished when a request arrives, the new one is linked to it, and the
 * worker that has executed the previous one continues with the new one.  If the next
 * request has not arrived yet, the values for it are stored in the connection: at most one
 * chain of a connection can be incomplete.  No worker waits for a request that has not
 * arrived (E-68).
 *
 *  1. The values that a chain passes on (struct dafsd_chain) belong to the request that
 *     is being executed, or to the connection (parked) if no request is.
 *  2. A waiting request (dafsd_rqst.next) belongs to the request before it, until the
 *     worker of that request takes it over together with the values of the chain.
 */
#include "../session/chain.h"
#include "../session/conn.h"
#include "procedure.h"
#include "request.h"

#define DAFSD_CHF_KNOWN	(DAFS_CHF_FORW | DAFS_CHF_BACK | DAFS_CHF_SAVE | \
			 DAFS_CHF_FH | DAFS_CHF_STATEID)

/* What a checksum does not vouch for says nothing (E-33). */
static u16 dafsd_chain_flags(const struct dafsd_rqst *rq)
{
	return rq->base.refuse == DAFSERR_CHKSUM ? 0 : rq->base.hdr.chain_flags;
}

/* What does the request say about the next one in the order of arrival? */
static enum dafsd_chain_next dafsd_chain_announced(const struct dafsd_rqst *rq)
{
	if (rq->base.refuse == DAFSERR_CHKSUM)
		return DAFSD_CHAIN_UNSURE;
	return rq->base.hdr.chain_flags & DAFS_CHF_FORW ? DAFSD_CHAIN_MORE : DAFSD_CHAIN_END;
}

/* Return: true if @rq will be executed by the worker of the previous request. */
static bool dafsd_chain_join(struct dafsd_chains *chains, struct dafsd_rqst *rq, bool joins)
{
	struct dafsd_rqst *before;
	unsigned long flags;

	spin_lock_irqsave(&chains->lock, flags);
	before = joins ? chains->last : NULL;
	if (before)
		before->next = rq;
	else if (joins)
		rq->chain = chains->parked;
	chains->last = dafsd_chain_flags(rq) & DAFS_CHF_FORW ? rq : NULL;
	spin_unlock_irqrestore(&chains->lock, flags);
	return before;
}

/**
 * dafsd_chain_arrived() - find the chain that a request belongs to (4.3.2, E-60, E-61)
 * @rq: the request, just arrived
 *
 * Context: atomic; called for all requests of a connection in the order of arrival.
 * Return: true if @rq waits for the previous request; dafsd_chain_next() for that request
 * will return @rq.
 */
bool dafsd_chain_arrived(struct dafsd_rqst *rq)
{
	struct dafsd_chains *chains = &rq->conn->chains;
	bool back = dafsd_chain_flags(rq) & DAFS_CHF_BACK;
	enum dafsd_chain_next was = chains->next;

	rq->next = NULL;
	rq->chain.failed = false;
	rq->chain.fetched = false;
	rq->chain.has_fh = false;
	rq->chain.has_state_id = false;
	chains->next = dafsd_chain_announced(rq);
	if (was == DAFSD_CHAIN_END && !dafsd_chain_flags(rq))
		return false;
	if (was == DAFSD_CHAIN_UNSURE)
		rq->chain.failed = back;
	else if (back != (was == DAFSD_CHAIN_MORE) && !rq->base.refuse)
		rq->base.refuse = DAFSERR_CHAIN_FORM;
	return dafsd_chain_join(chains, rq, back && was == DAFSD_CHAIN_MORE);
}

/* Flags that contradict the procedure or each other (E-61 (3), E-64, E-65). */
static bool dafsd_chain_malformed(const struct dafsd_rqst *rq)
{
	u16 flags = rq->base.hdr.chain_flags;
	bool special = rq->proc && rq->proc->class == DAFSD_SPECIAL;
	bool simple = rq->proc && rq->proc->class == DAFSD_SIMPLE;

	if (flags & ~DAFSD_CHF_KNOWN)
		return true;
	if (special && flags & (DAFS_CHF_FORW | DAFS_CHF_BACK))
		return true;
	if (flags & (DAFS_CHF_FH | DAFS_CHF_STATEID) && !(flags & DAFS_CHF_BACK))
		return true;
	if (flags & DAFS_CHF_SAVE && !(simple && flags & DAFS_CHF_FORW))
		return true;
	return rq->chain.fetched && rq->proc && rq->proc->class == DAFSD_FS_MODIFY;
}

/**
 * dafsd_chain_check() - does its chain allow a request to be executed (E-61)?
 * @rq: the request; rq->proc is set
 *
 * Context: any.
 * Return: OK, CHAIN_BROKEN or CHAIN_FORM.
 */
dafs_status_t dafsd_chain_check(const struct dafsd_rqst *rq)
{
	if (!rq->base.hdr.chain_flags)
		return DAFS_STATUS_OK;
	if (rq->chain.failed)
		return DAFSERR_CHAIN_BROKEN;
	return dafsd_chain_malformed(rq) ? DAFSERR_CHAIN_FORM : DAFS_STATUS_OK;
}

/**
 * dafsd_chain_inherit() - take the values that the previous request passed on
 * @rq: the request, decoded
 *
 * Context: any.
 * Return: OK; NOFILEHANDLE or BAD_STATEID if the needed value was not passed on (E-62,
 * E-63).
 */
dafs_status_t dafsd_chain_inherit(struct dafsd_rqst *rq)
{
	const struct dafsd_proc *proc = rq->proc;
	u16 flags = rq->base.hdr.chain_flags;
	void *args = &rq->args;

	if (flags & DAFS_CHF_FH && proc->fh) {
		if (!rq->chain.has_fh)
			return DAFSERR_NOFILEHANDLE;
		memcpy(args + proc->fh - 1, &rq->chain.fh, sizeof(rq->chain.fh));
	}
	if (flags & DAFS_CHF_STATEID && proc->state_id) {
		if (!rq->chain.has_state_id)
			return DAFSERR_BAD_STATEID;
		memcpy(args + proc->state_id - 1, &rq->chain.state_id,
		       sizeof(rq->chain.state_id));
	}
	return DAFS_STATUS_OK;
}

/**
 * dafsd_chain_fh() - the filehandle that a request names
 * @rq: the request, decoded, after dafsd_chain_inherit()
 *
 * Context: any.
 * Return: the filehandle in its arguments, or NULL.
 */
const struct dafs_fh *dafsd_chain_fh(const struct dafsd_rqst *rq)
{
	u16 fh = rq->proc->fh;

	return fh ? (const void *)&rq->args + fh - 1 : NULL;
}

/* Return: the handle or state-id to pass on to the next request, or NULL. */
static const void *dafsd_chain_result(const struct dafsd_rqst *rq, u16 arg, u16 res)
{
	if (res)
		return (const void *)&rq->res + res - 1;
	return arg ? (const void *)&rq->args + arg - 1 : NULL;
}

/* The request succeeded: store the handle and state-id for the next request. */
static void dafsd_chain_keep(struct dafsd_rqst *rq)
{
	const struct dafsd_proc *proc = rq->proc;
	const void *state_id, *fh;

	fh = dafsd_chain_result(rq, proc->fh, proc->new_fh);
	if (fh) {
		memcpy(&rq->chain.fh, fh, sizeof(rq->chain.fh));
		rq->chain.has_fh = true;
	}
	state_id = dafsd_chain_result(rq, proc->state_id, proc->new_state_id);
	if (state_id) {
		memcpy(&rq->chain.state_id, state_id, sizeof(rq->chain.state_id));
		rq->chain.has_state_id = true;
	}
	if (proc->class == DAFSD_BULK_FETCH)
		rq->chain.fetched = true;
}

/**
 * dafsd_chain_next() - pass the values of a chain on to its next request
 * @rq: the request, executed and not yet answered
 * @status: its status
 *
 * Context: any but hard interrupt.
 * Return: the next request of the chain, to be executed by the caller after @rq has been
 * answered; NULL if it has not arrived or @rq is the last one.
 */
struct dafsd_rqst *dafsd_chain_next(struct dafsd_rqst *rq, dafs_status_t status)
{
	struct dafsd_chains *chains = &rq->conn->chains;
	struct dafsd_rqst *next;
	unsigned long flags;

	if (!(dafsd_chain_flags(rq) & DAFS_CHF_FORW))
		return NULL;
	if (status)
		rq->chain.failed = true;
	else
		dafsd_chain_keep(rq);
	spin_lock_irqsave(&chains->lock, flags);
	next = rq->next;
	if (next) {
		next->chain = rq->chain;
	} else if (chains->last == rq) {
		chains->parked = rq->chain;
		chains->last = NULL;
	}
	spin_unlock_irqrestore(&chains->lock, flags);
	return next;
}
