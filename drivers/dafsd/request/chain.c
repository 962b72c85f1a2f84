// SPDX-License-Identifier: GPL-2.0
/*
 * Chains: requests that are executed one after the other, each only if the one
 * before it succeeded, and that hand on a filehandle and a state-id (4.3).
 *
 * Neighbours in the order of arrival make a chain (E-60), and the responder hands
 * requests over in that order, one at a time.  A request that arrives while the
 * one before it in its chain is not done yet is left with that one, and the worker
 * that has executed the first goes on with the second.  If the chain is ahead of
 * its client, what it hands on is kept with the session: at most one chain of a
 * session can be without its end.  No worker waits for a request that has not
 * arrived (E-68).
 *
 *  1. What a chain hands on (struct dafsd_chain) belongs to the request that is
 *     being executed, or, with none, to the session (parked).
 *  2. A request that waits (dafsd_rqst.next) belongs to the one before it, until the
 *     worker of that one takes it over together with the chain.
 */
#include "../session/chain.h"
#include "../session/session.h"
#include "procedure.h"
#include "request.h"

#define DAFSD_CHF_KNOWN	(DAFS_CHF_FORW | DAFS_CHF_BACK | DAFS_CHF_SAVE | \
			 DAFS_CHF_FH | DAFS_CHF_STATEID)

/* What a checksum does not vouch for says nothing (E-33). */
static u16 dafsd_chain_flags(const struct dafsd_rqst *rq)
{
	return rq->base.refuse == DAFSERR_CHKSUM ? 0 : rq->base.hdr.chain_flags;
}

/* What follows the request in the order of arrival. */
static enum dafsd_chain_next dafsd_chain_announced(const struct dafsd_rqst *rq)
{
	if (rq->base.refuse == DAFSERR_CHKSUM)
		return DAFSD_CHAIN_UNSURE;
	return rq->base.hdr.chain_flags & DAFS_CHF_FORW ? DAFSD_CHAIN_MORE : DAFSD_CHAIN_END;
}

/* Return: true if @rq is to be executed by the worker of the one before it. */
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
 * Context: atomic; called for all requests of a session in the order of arrival.
 * Return: true if @rq waits for the one before it, which dafsd_chain_next() will
 * return it to.
 */
bool dafsd_chain_arrived(struct dafsd_rqst *rq)
{
	struct dafsd_chains *chains = &rq->ses->chains;
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
 * dafsd_chain_check() - may a request be executed as far as its chain goes (E-61)?
 * @rq: the request; its row is known
 *
 * Context: any.
 * Return: OK, CHAIN_BROKEN or CHAIN_FORM.
 */
u32 dafsd_chain_check(const struct dafsd_rqst *rq)
{
	if (!rq->base.hdr.chain_flags)
		return DAFS_STATUS_OK;
	if (rq->chain.failed)
		return DAFSERR_CHAIN_BROKEN;
	return dafsd_chain_malformed(rq) ? DAFSERR_CHAIN_FORM : DAFS_STATUS_OK;
}

/**
 * dafsd_chain_inherit() - take over what the request before handed on
 * @rq: the request, decoded
 *
 * Context: any.
 * Return: OK; NOFILEHANDLE or BAD_STATEID if nothing was handed on (E-62, E-63).
 */
u32 dafsd_chain_inherit(struct dafsd_rqst *rq)
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
 * @rq: the request, decoded, with what it inherits
 *
 * Context: any.
 * Return: the filehandle in its arguments, or NULL.
 */
const struct dafs_fh *dafsd_chain_fh(const struct dafsd_rqst *rq)
{
	u16 fh = rq->proc->fh;

	return fh ? (const void *)&rq->args + fh - 1 : NULL;
}

/* Where the handle or state-id is that the chain goes on with, or NULL. */
static const void *dafsd_chain_result(const struct dafsd_rqst *rq, u16 arg, u16 res)
{
	if (res)
		return (const void *)&rq->res + res - 1;
	return arg ? (const void *)&rq->args + arg - 1 : NULL;
}

/* The request succeeded: what it used or made is what the next one may use. */
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
 * dafsd_chain_next() - hand on what the chain goes on with
 * @rq: the request, executed and not yet answered
 * @status: its status
 *
 * Context: any but hard interrupt.
 * Return: the next request of the chain, to be executed by the caller after @rq
 * was answered; NULL if it has not arrived or there is none.
 */
struct dafsd_rqst *dafsd_chain_next(struct dafsd_rqst *rq, u32 status)
{
	struct dafsd_chains *chains = &rq->ses->chains;
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
