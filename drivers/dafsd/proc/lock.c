// SPDX-License-Identifier: GPL-2.0
/*
 * LOCK, LOCKT and LOCKU (6.5.18 to 6.5.20).
 *
 * A request for a lock that blocks (READW_LT, WRITEW_LT) may be answered later, see
 * state/lock_wait.c.
 */
#include <linux/filelock.h>
#include <linux/fs.h>
#include "../session/server.h"
#include "../session/client.h"
#include "../session/session.h"
#include "../export/export.h"
#include "../request/request.h"
#include "../vfs/fh.h"
#include "../state/deleg.h"
#include "../state/lock.h"
#include "../state/open.h"
#include "../state/state.h"
#include "proc.h"

#define DAFSD_LOCK_OPTIONS \
	(DAFS_LOCK_RECLAIM | DAFS_LOCK_PERSIST | DAFS_LOCK_AUTORECOVERY | DAFS_LOCK_REPAIR)

/*
 * Bytes beyond OFFSET_MAX exist in no file.  As to locks, they are taken for the byte at
 * OFFSET_MAX.
 */
static dafs_status_t dafsd_lock_bytes(u64 offset, u64 length, struct dafsd_range *range)
{
	u64 end;

	if (!length)
		return DAFSERR_INVAL;
	if (length == DAFS_LOCK_TO_EOF)
		end = OFFSET_MAX;
	else if (check_add_overflow(offset, length - 1, &end))
		return DAFSERR_INVAL;
	range->start = min_t(u64, offset, OFFSET_MAX);
	range->end = min_t(u64, end, OFFSET_MAX);
	return DAFS_STATUS_OK;
}

static dafs_status_t dafsd_lock_range(u32 type, u64 offset, u64 length, struct dafsd_range *range)
{
	switch (type) {
	case DAFS_READ_LT:
	case DAFS_READW_LT:
		range->type = F_RDLCK;
		break;
	case DAFS_WRITE_LT:
	case DAFS_WRITEW_LT:
		range->type = F_WRLCK;
		break;
	default:
		return DAFSERR_INVAL;
	}
	return dafsd_lock_bytes(offset, length, range);
}

/*
 * What is reclaimed in a grace period is what the client had.  Afterwards it is not known whether
 * another lock has conflicted with it (E-88), but of a PERSIST lock.
 */
static dafs_status_t dafsd_lock_check_options(struct dafsd_rqst *rq)
{
	u32 options = rq->args.lock.options;

	if (options & ~DAFSD_LOCK_OPTIONS)
		return DAFSERR_NOTSUPP;
	return options & DAFS_LOCK_RECLAIM ? DAFS_STATUS_OK :
					     dafsd_grace_check(rq->ses->client->server);
}

static dafs_status_t dafsd_lock_no_open(struct dafsd_rqst *rq, struct dafsd_fh *fh)
{
	return dafsd_open_check_regular(fh) ?: DAFSERR_BAD_STATEID;
}

/* As dafsd_open_use(), but a special state-id will not do (E-79). */
static dafs_status_t dafsd_lock_use(struct dafsd_rqst *rq, const struct dafs_fh *wire,
				    const struct dafs_state_id *state_id,
				    dafs_status_t (*run)(struct dafsd_rqst *rq,
							 const struct dafsd_use *use))
{
	if (dafsd_state_is_special(state_id))
		return dafsd_fh_use(rq, wire, dafsd_lock_no_open);
	return dafsd_open_use(rq, wire, state_id, 0, run);
}

/*
 * The open must allow what the lock is about (E-87), whatever the export allows now.  One for
 * reading that breaks keeps everybody from the file until it is repaired, and to repair it is to
 * say that what has been written is right: neither is for who may only read.
 */
static dafs_status_t dafsd_lock_check_access(const struct dafsd_use *use,
					     const struct dafsd_range *range, u32 options)
{
	u32 access = range->type == F_WRLCK ? DAFS_OPEN_SHARE_ACCESS_WRITE :
					      DAFS_OPEN_SHARE_ACCESS_READ;

	if (options & (DAFS_LOCK_PERSIST | DAFS_LOCK_REPAIR))
		access |= DAFS_OPEN_SHARE_ACCESS_WRITE;
	return dafsd_open_allows(use, access) ? DAFS_STATUS_OK : DAFSERR_ACCES;
}

/* Also in a grace period: the lock was reclaimed, or is not there. */
static dafs_status_t dafsd_lock_run_abort(struct dafsd_rqst *rq, const struct dafsd_use *use)
{
	const struct dafs_lock_args *args = &rq->args.lock;
	struct dafsd_range range = { .type = F_WRLCK };
	dafs_status_t status;

	if (args->options & ~DAFSD_LOCK_OPTIONS)
		return DAFSERR_NOTSUPP;
	status = dafsd_lock_bytes(args->offset, args->length, &range);
	if (!status)
		status = dafsd_lock_check_access(use, &range, 0);
	return status ?: dafsd_lock_abort(use, &range);
}

static dafs_status_t dafsd_lock_run(struct dafsd_rqst *rq, const struct dafsd_use *use)
{
	const struct dafs_lock_args *args = &rq->args.lock;
	struct dafsd_lock_req req = {
		.options = args->options,
		.waits = args->lock_type == DAFS_READW_LT || args->lock_type == DAFS_WRITEW_LT,
	};
	dafs_status_t status;

	if (args->lock_type == DAFS_ABORT_LT)
		return dafsd_lock_run_abort(rq, use);
	status = dafsd_lock_range(args->lock_type, args->offset, args->length, &req.range);
	if (!status)
		status = dafsd_lock_check_access(use, &req.range, args->options);
	if (!status)
		status = dafsd_lock_check_options(rq);
	return status ?: dafsd_lock_set(rq, use, &req);
}

/**
 * dafsd_proc_lock() - LOCK (6.5.18)
 * @rq: request
 *
 * A lock changes nothing in the file, so any user of the client may set one by an open, and
 * also where the export has become read-only.
 *
 * Context: process context under the caller's credential; may sleep.
 * Return: DAFS status; DENIED or LOCK_BROKEN with a description of the conflicting lock.
 */
dafs_status_t dafsd_proc_lock(struct dafsd_rqst *rq)
{
	const struct dafs_lock_args *args = &rq->args.lock;

	return dafsd_lock_use(rq, &args->filehandle, &args->state_id, dafsd_lock_run);
}

static dafs_status_t dafsd_lockt_run(struct dafsd_rqst *rq, struct dafsd_fh *fh)
{
	const struct dafs_lockt_args *args = &rq->args.lockt;
	dafs_status_t status = dafsd_open_check_regular(fh);
	struct dafsd_range range;

	if (!status)
		status = dafsd_open_check_owner(&args->owner);
	if (!status)
		status = dafsd_lock_range(args->lock_type, args->offset, args->length, &range);
	/* there may be locks that have not been reclaimed yet */
	if (!status)
		status = dafsd_grace_check(rq->ses->client->server);
	if (!status)
		status = dafsd_deleg_recall_writer(dafsd_fh_inode(fh));
	return status ?: dafsd_lock_test(rq, fh, &args->owner, &range);
}

/**
 * dafsd_proc_lockt() - LOCKT (6.5.19)
 * @rq: request
 *
 * Context: process context under the caller's credential; may sleep.
 * Return: DAFS status; DENIED or LOCK_BROKEN with a description of the conflicting lock.
 */
dafs_status_t dafsd_proc_lockt(struct dafsd_rqst *rq)
{
	return dafsd_fh_use(rq, &rq->args.lockt.filehandle, dafsd_lockt_run);
}

static dafs_status_t dafsd_locku_run(struct dafsd_rqst *rq, const struct dafsd_use *use)
{
	const struct dafs_locku_args *args = &rq->args.locku;
	struct dafsd_lock_req req = { .range.type = F_UNLCK };
	dafs_status_t status;

	status = dafsd_lock_bytes(args->offset, args->length, &req.range);
	return status ?: dafsd_lock_set(rq, use, &req);
}

/**
 * dafsd_proc_locku() - LOCKU (6.5.20)
 * @rq: request
 *
 * The type of the lock does not matter (E-86).
 *
 * Context: process context under the caller's credential; may sleep.
 * Return: DAFS status; OK also if nothing was locked.
 */
dafs_status_t dafsd_proc_locku(struct dafsd_rqst *rq)
{
	const struct dafs_locku_args *args = &rq->args.locku;

	return dafsd_lock_use(rq, &args->filehandle, &args->state_id, dafsd_locku_run);
}
