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

/**
 * struct dafsd_passing - which handle and state-id of a procedure a chain knows
 * @fh: where in the arguments the handle is that the chain replaces, plus 1
 * @state_id: likewise
 * @new_fh: where in the results the handle is that the chain goes on with, plus 1;
 *	0 for the one in the arguments
 * @new_state_id: likewise
 */
struct dafsd_passing {
	u16 fh;
	u16 state_id;
	u16 new_fh;
	u16 new_state_id;
};

#define ARG(member)	(1 + offsetof(union dafs_args, member))
#define RES(member)	(1 + offsetof(union dafs_res, member))
#define FH(proc)	(ARG(proc.filehandle))
#define STATE_ID(proc)	(ARG(proc.state_id))

/* E-62, E-63; what has no row has neither */
static const struct dafsd_passing dafsd_passing[DAFS_PROC_LAST + 1] = {
	[DAFS_PROC_ACCESS]		= { FH(access) },
	[DAFS_PROC_APPEND_DIRECT]	= { FH(append_direct), STATE_ID(append_direct) },
	[DAFS_PROC_APPEND_INLINE]	= { FH(append_inline), STATE_ID(append_inline) },
	[DAFS_PROC_CACHE_HINT]		= { FH(cache_hint) },
	[DAFS_PROC_CLOSE]		= { FH(close), STATE_ID(close) },
	[DAFS_PROC_COMMIT]		= { FH(commit) },
	[DAFS_PROC_CREATE]		= { .fh = ARG(create.filehandle),
					    .new_fh = RES(create.filehandle) },
	[DAFS_PROC_GETATTR_DIRECT]	= { FH(getattr_direct) },
	[DAFS_PROC_GETATTR_INLINE]	= { FH(getattr) },
	[DAFS_PROC_GET_FSATTR]		= { FH(getattr) },
	[DAFS_PROC_GET_ROOT_HANDLE]	= { .new_fh = RES(fh.filehandle) },
	[DAFS_PROC_LINK]		= { .fh = ARG(link.destination_object) },
	[DAFS_PROC_LOOKUP]		= { .fh = ARG(lookup.directory),
					    .new_fh = RES(lookup.filehandle) },
	[DAFS_PROC_LOOKUPP]		= { .fh = ARG(fh.filehandle),
					    .new_fh = RES(fh.filehandle) },
	[DAFS_PROC_NVERIFY]		= { FH(verify) },
	[DAFS_PROC_OPEN]		= { .fh = ARG(open.dir_handle),
					    .new_fh = RES(open.filehandle),
					    .new_state_id = RES(open.state_id) },
	[DAFS_PROC_OPEN_DOWNGRADE]	= { FH(open_downgrade), STATE_ID(open_downgrade) },
	[DAFS_PROC_READDIR_DIRECT]	= { FH(readdir) },
	[DAFS_PROC_READDIR_INLINE]	= { FH(readdir) },
	[DAFS_PROC_READLINK_DIRECT]	= { FH(readlink_direct) },
	[DAFS_PROC_READLINK_INLINE]	= { FH(fh) },
	[DAFS_PROC_READ_DIRECT]		= { FH(read_direct), STATE_ID(read_direct) },
	[DAFS_PROC_READ_INLINE]		= { FH(read_inline), STATE_ID(read_inline) },
	[DAFS_PROC_REMOVE]		= { FH(remove) },
	[DAFS_PROC_RENAME]		= { .fh = ARG(rename.targetdir) },
	[DAFS_PROC_SETATTR_DIRECT]	= { FH(setattr_direct), STATE_ID(setattr_direct) },
	[DAFS_PROC_SETATTR_INLINE]	= { FH(setattr_inline), STATE_ID(setattr_inline) },
	[DAFS_PROC_VERIFY]		= { FH(verify) },
	[DAFS_PROC_WRITE_DIRECT]	= { FH(write_direct), STATE_ID(write_direct) },
	[DAFS_PROC_WRITE_INLINE]	= { FH(write_inline), STATE_ID(write_inline) },
};

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
	const struct dafsd_passing *passing = &dafsd_passing[rq->base.hdr.procedure];
	u16 flags = rq->base.hdr.chain_flags;
	void *args = &rq->args;

	if (flags & DAFS_CHF_FH && passing->fh) {
		if (!rq->chain.has_fh)
			return DAFSERR_NOFILEHANDLE;
		memcpy(args + passing->fh - 1, &rq->chain.fh, sizeof(rq->chain.fh));
	}
	if (flags & DAFS_CHF_STATEID && passing->state_id) {
		if (!rq->chain.has_state_id)
			return DAFSERR_BAD_STATEID;
		memcpy(args + passing->state_id - 1, &rq->chain.state_id,
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
	u16 fh = dafsd_passing[rq->base.hdr.procedure].fh;

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
	const struct dafsd_passing *passing = &dafsd_passing[rq->base.hdr.procedure];
	const void *state_id, *fh;

	fh = dafsd_chain_result(rq, passing->fh, passing->new_fh);
	if (fh) {
		memcpy(&rq->chain.fh, fh, sizeof(rq->chain.fh));
		rq->chain.has_fh = true;
	}
	state_id = dafsd_chain_result(rq, passing->state_id, passing->new_state_id);
	if (state_id) {
		memcpy(&rq->chain.state_id, state_id, sizeof(rq->chain.state_id));
		rq->chain.has_state_id = true;
	}
	if (rq->proc->class == DAFSD_BULK_FETCH)
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
