// SPDX-License-Identifier: GPL-2.0
/*
 * Byte-range locks (4.4.1.2, 6.5.18 to 6.5.20).
 *
 * A lock is a POSIX lock of the kernel on the inode, so that it conflicts with locks of
 * local programs and of other file servers, and so that the kernel splits and merges
 * ranges.  Its owner there is a struct dafsd_locker: a lock owner (E-82) as far as one file
 * is concerned.  The kernel compares owners by pointer, and only for locks of one inode.
 *
 * References (dafsd_locker.ref):
 *
 *  1. Each open of the owner has one, from its first LOCK until the open is released.
 *  2. Each lock of the kernel has one, and so has each copy of a lock by which the kernel
 *     describes a conflict.  Taken and dropped by lm_get_owner() and lm_put_owner().
 *  3. Each LOCK that waits has one, see lock_wait.c.
 */
#include <linux/exportfs.h>
#include <linux/filelock.h>
#include <linux/fs.h>
#include <linux/slab.h>
#include <linux/dafs/status.h>
#include "../session/server.h"
#include "../session/peer.h"
#include "../session/client.h"
#include "../session/courtesy.h"
#include "../session/session.h"
#include "../session/trace.h"
#include "../request/request.h"
#include "../vfs/fh.h"
#include "open_impl.h"
#include "lock_impl.h"
#include "lock_wait.h"
#include "persist_impl.h"

static bool dafsd_lock_too_many(const struct dafsd_client *client)
{
	return atomic_read(&client->nr_locks) >= READ_ONCE(dafsd_max_locks);
}

/*
 * May a client have another lock?  The kernel counts it later, so requests that are executed at the
 * same time may all find room for one; each makes two more locks at most, when it splits one.  So
 * a client has no more than its limit and twice the number of its requests.
 */
static bool dafsd_lock_room(const struct dafsd_client *client)
{
	if (dafsd_lock_too_many(client))
		return false;
	if (!dafsd_peer_charge(client->peer, DAFSD_CHARGE_STATE, DAFSD_LOCK_BYTES))
		return false;
	dafsd_peer_uncharge(client->peer, DAFSD_CHARGE_STATE, DAFSD_LOCK_BYTES);
	return true;
}

/* Would unlocking the range leave two locks where there is one? */
static bool dafsd_lock_splits(const struct dafsd_locker *locker, struct inode *inode,
			      const struct dafsd_range *range)
{
	struct file_lock_context *ctx = locks_inode_context(inode);
	const struct file_lock *fl;
	bool splits = false;

	if (!ctx)
		return false;
	spin_lock(&ctx->flc_lock);
	list_for_each_entry(fl, &ctx->flc_posix, c.flc_list)
		splits |= fl->c.flc_owner == locker && fl->fl_start < range->start &&
			  fl->fl_end > range->end;
	spin_unlock(&ctx->flc_lock);
	return splits;
}

/* Has the owner locked all of the range already, as strongly? */
static bool dafsd_locker_has(const struct dafsd_locker *locker, struct inode *inode,
			     const struct dafsd_range *range)
{
	struct file_lock_context *ctx = locks_inode_context(inode);
	const struct file_lock *fl;
	bool has = false;

	if (!ctx)
		return false;
	spin_lock(&ctx->flc_lock);
	list_for_each_entry(fl, &ctx->flc_posix, c.flc_list)
		has |= fl->c.flc_owner == locker && fl->fl_start <= range->start &&
		       fl->fl_end >= range->end &&
		       (fl->c.flc_type == F_WRLCK || range->type == F_RDLCK);
	spin_unlock(&ctx->flc_lock);
	return has;
}

/* May a request make another lock?  Return: OK; RESOURCE; DELAY if there may be room soon. */
static dafs_status_t dafsd_lock_allowed(const struct dafsd_locker *locker,
					const struct dafsd_use *use,
					const struct dafsd_range *range)
{
	const struct dafsd_client *client = locker->client;

	if (dafsd_lock_room(client))
		return DAFS_STATUS_OK;
	if (range->type == F_UNLCK && !dafsd_lock_splits(locker, use->file->inode, range))
		return DAFS_STATUS_OK;
	/* what others have does not count for this limit */
	if (dafsd_lock_too_many(client))
		return DAFSERR_RESOURCE;
	return dafsd_state_make_room(locker->client, DAFSD_LOCK_BYTES);
}

/* The range as a lock of the protocol */
static void dafsd_lock_describe_range(const struct file_lock *fl, struct dafs_lock_res *res)
{
	res->offset = fl->fl_start;
	res->length = fl->fl_end == OFFSET_MAX ? DAFS_LOCK_TO_EOF : fl->fl_end - fl->fl_start + 1;
	res->lock_type = fl->c.flc_type == F_WRLCK ? DAFS_WRITE_LT : DAFS_READ_LT;
}

/* @fl: a lock of no client of this server; not all file systems tell whose it is */
static char *dafsd_lock_local_name(const struct file_lock *fl)
{
	if (fl->c.flc_pid <= 0)
		return kstrdup("local", GFP_KERNEL);
	return kasprintf(GFP_KERNEL, "local process %d", fl->c.flc_pid);
}

/*
 * Tell the client of the lock that is in the way: @fl, in which the kernel has filled in the
 * owner; or of an unknown one.
 */
static dafs_status_t dafsd_lock_denied(struct dafsd_rqst *rq, const struct file_lock *fl)
{
	struct dafs_lock_res *res = &rq->res.lock;
	const struct dafsd_locker *locker;
	void *name;
	u32 len;

	if (fl->fl_lmops == &dafsd_lock_ops) {
		locker = fl->c.flc_owner;
		res->owner_clientid = locker->client->client_id;
		len = locker->owner_len;
		name = kmemdup(locker->owner, len, GFP_KERNEL);
	} else {
		name = dafsd_lock_local_name(fl);
		len = name ? strlen(name) : 0;
	}
	if (!name)
		return DAFSERR_RESOURCE;
	kvfree(rq->scratch);
	rq->scratch = name;
	res->owner = (struct dafs_str){ .len = len, .data = name };
	dafsd_lock_describe_range(fl, res);
	rq->body = true;
	return DAFSERR_DENIED;
}

static bool dafsd_lock_is_in_way(const struct file_lock *fl, const void *owner,
				 const struct dafsd_range *range)
{
	return fl->c.flc_owner != owner &&
	       (fl->c.flc_type == F_WRLCK || range->type == F_WRLCK) &&
	       dafsd_ranges_meet(fl->fl_start, fl->fl_end, range->start, range->end);
}

/* Are all locks that are in the way kept out of courtesy only? */
static bool dafsd_lock_all_yield(const struct file_lock_context *ctx, const void *owner,
				 const struct dafsd_range *range)
{
	const struct dafsd_locker *locker;
	const struct file_lock *fl;

	lockdep_assert_held(&ctx->flc_lock);
	list_for_each_entry(fl, &ctx->flc_posix, c.flc_list) {
		if (!dafsd_lock_is_in_way(fl, owner, range))
			continue;
		locker = fl->c.flc_owner;
		if (fl->fl_lmops != &dafsd_lock_ops || !dafsd_courtesy_has(locker->client))
			return false;
	}
	return true;
}

static void dafsd_lock_end_courtesy(const struct file_lock_context *ctx, const void *owner,
				    const struct dafsd_range *range)
{
	const struct dafsd_locker *locker;
	const struct file_lock *fl;

	lockdep_assert_held(&ctx->flc_lock);
	list_for_each_entry(fl, &ctx->flc_posix, c.flc_list) {
		locker = fl->c.flc_owner;
		if (dafsd_lock_is_in_way(fl, owner, range))
			dafsd_courtesy_end(locker->client);
	}
}

/*
 * A request for a lock was denied.  If the first lock in its way is just being taken from a client
 * that had it by courtesy, so are the others: one flush of the store does for many clients.
 */
static void dafsd_lock_hindered(const void *owner, const struct file *filp,
				const struct dafsd_range *range)
{
	struct file_lock_context *ctx = locks_inode_context(file_inode(filp));
	const struct dafsd_rqst *rq = dafsd_rqst_current();

	if (!ctx || !rq || !rq->yields)
		return;
	spin_lock(&ctx->flc_lock);
	if (dafsd_lock_all_yield(ctx, owner, range))
		dafsd_lock_end_courtesy(ctx, owner, range);
	spin_unlock(&ctx->flc_lock);
}

/*
 * Set a lock.  @ours: set if it is denied because of another client's lock, of whose end this
 * server will know.
 */
static dafs_status_t dafsd_lock_apply(struct dafsd_rqst *rq, struct dafsd_locker *locker,
				      struct file *filp, const struct dafsd_range *range,
				      bool *ours)
{
	struct file_lock fl, conflict;
	dafs_status_t status;
	int err;

	filp = dafsd_locker_file(locker, filp, range);
	/* nothing was ever locked */
	if (!filp)
		return DAFS_STATUS_OK;
	dafsd_lock_init(&fl, locker, filp, range);
	fl.fl_lmops = &dafsd_lock_ops;
	/* what is told if the file system does not fill it in: the range that was asked for */
	dafsd_lock_init(&conflict, NULL, filp, range);
	conflict.c.flc_pid = 0;
	err = vfs_lock_file(filp, F_SETLK, &fl, &conflict);
	if (err == -EAGAIN || err == -EDEADLK || err == FILE_LOCK_DEFERRED) {
		*ours = conflict.fl_lmops == &dafsd_lock_ops;
		dafsd_lock_hindered(locker, filp, range);
		status = dafsd_lock_denied(rq, &conflict);
	} else {
		status = dafs_errno_to_status(err);
	}
	locks_release_private(&conflict);
	dafsd_lock_forget(&fl);
	return status;
}

/* Denied because the LOCK of @first has waited longer for @range */
static dafs_status_t dafsd_lock_give_way(struct dafsd_rqst *rq, struct dafsd_locker *first,
					 const struct dafsd_range *range)
{
	struct file_lock fl;
	dafs_status_t status;

	dafsd_lock_init(&fl, first, NULL, range);
	fl.fl_lmops = &dafsd_lock_ops;
	status = dafsd_lock_denied(rq, &fl);
	dafsd_locker_put(first);
	return status;
}

/**
 * struct dafsd_had - what an owner had locked before a request
 * @ranges: in the order of their bytes
 * @nr: how many
 */
struct dafsd_had {
	struct dafsd_range *ranges;
	unsigned int nr;
};

/* dafsd_locker.lock is held, so these are all until the request is over.  @had: to be freed */
static dafs_status_t dafsd_lock_remember(const struct dafsd_locker *locker,
					 const struct inode *inode, struct dafsd_had *had)
{
	unsigned int nr = dafsd_locker_list(locker, inode, 0, NULL, UINT_MAX);

	had->ranges = kvmalloc_array(nr + 1, sizeof(*had->ranges), GFP_KERNEL);
	if (!had->ranges)
		return DAFSERR_RESOURCE;
	had->nr = dafsd_locker_list(locker, inode, 0, had->ranges, nr);
	return DAFS_STATUS_OK;
}

static void dafsd_lock_again(struct dafsd_rqst *rq, struct dafsd_locker *locker,
			     struct file *filp, unsigned char type, loff_t start, loff_t end)
{
	const struct dafsd_range range = { type, start, end };
	bool ours;

	if (start <= end)
		dafsd_lock_apply(rq, locker, filp, &range, &ours);
}

/*
 * Undo what a request has locked.  What it has made weaker stays so if others have it for reading
 * by now.  Some file systems with locks of their own do not tell what an owner had: then it has
 * nothing of the range any more.
 */
static void dafsd_lock_restore(struct dafsd_rqst *rq, struct dafsd_locker *locker,
			       struct file *filp, const struct dafsd_range *range,
			       const struct dafsd_had *had)
{
	const struct dafsd_range *old;
	loff_t at = range->start, end;

	for (old = had->ranges; old < had->ranges + had->nr; old++) {
		if (!dafsd_ranges_meet(old->start, old->end, range->start, range->end))
			continue;
		dafsd_lock_again(rq, locker, filp, F_UNLCK, at, old->start - 1);
		end = min(old->end, range->end);
		if (old->type != range->type)
			dafsd_lock_again(rq, locker, filp, old->type, max(old->start, at), end);
		if (end == range->end)
			return;
		at = end + 1;
	}
	dafsd_lock_again(rq, locker, filp, F_UNLCK, at, range->end);
}

/*
 * Set a lock that is reclaimed in a grace period.  If that has ended meanwhile, others may have had
 * it before it was set.
 */
static dafs_status_t dafsd_lock_reclaim(struct dafsd_rqst *rq, const struct dafsd_use *use,
					struct dafsd_locker *locker,
					const struct dafsd_range *range, bool *ours)
{
	struct dafsd_had had;
	dafs_status_t status;

	status = dafsd_lock_remember(locker, use->file->inode, &had);
	if (status)
		return status;
	status = dafsd_lock_apply(rq, locker, use->filp, range, ours);
	if (!status && !dafsd_grace_reclaims(locker->client)) {
		dafsd_lock_restore(rq, locker, use->filp, range, &had);
		dafsd_lock_wake(use->file, range);
		rq->body = true;
		status = DAFSERR_DENIED;
	}
	kvfree(had.ranges);
	return status;
}

/*
 * Does the kernel have a lock of another owner in the way?  It may end at any moment.  @fl: set to
 * it; the caller calls locks_release_private() in any case.
 */
static bool dafsd_lock_find_conflict(struct dafsd_locker *locker, struct file *filp,
				     const struct dafsd_range *range, struct file_lock *fl)
{
	dafsd_lock_init(fl, locker, filp, range);
	posix_test_lock(filp, fl);
	if (lock_is_unlock(fl))
		return false;
	dafsd_lock_hindered(locker, filp, range);
	return true;
}

/* Return: OK if the kernel has no lock of another owner in the way; else as dafsd_lock_apply() */
static dafs_status_t dafsd_lock_conflict(struct dafsd_rqst *rq, struct dafsd_locker *locker,
					 struct file *filp, const struct dafsd_range *range,
					 bool *ours)
{
	dafs_status_t status = DAFS_STATUS_OK;
	struct file_lock fl;

	if (dafsd_lock_find_conflict(locker, filp, range, &fl)) {
		*ours = fl.fl_lmops == &dafsd_lock_ops;
		status = dafsd_lock_denied(rq, &fl);
	}
	locks_release_private(&fl);
	return status;
}

static bool dafsd_lock_is_denied(struct dafsd_locker *locker, struct file *filp,
				 const struct dafsd_range *range)
{
	struct file_lock fl;
	bool denied = dafsd_lock_find_conflict(locker, filp, range, &fl);

	locks_release_private(&fl);
	return denied;
}

/* Is a lock in the way that another file server may keep out of courtesy? */
static bool dafsd_lock_meets_other(const struct dafsd_locker *locker, const struct inode *inode,
				   const struct dafsd_range *range)
{
	struct file_lock_context *ctx = locks_inode_context(inode);
	const struct file_lock *fl;
	bool meets = false;

	if (!ctx)
		return false;
	spin_lock(&ctx->flc_lock);
	list_for_each_entry(fl, &ctx->flc_posix, c.flc_list)
		meets |= fl->fl_lmops && fl->fl_lmops != &dafsd_lock_ops &&
			 fl->fl_lmops->lm_expire_lock && dafsd_lock_is_in_way(fl, locker, range);
	spin_unlock(&ctx->flc_lock);
	return meets;
}

/*
 * The kernel waits for the end of such a lock, which may take long.  It is to do so here, and not
 * when the lock is set, under dafsd_locker.lock, for which the end of the open would wait, and
 * dafsd_persist_sem, for which all others would.
 */
static void dafsd_lock_await_others(struct dafsd_locker *locker, struct file *filp,
				    const struct dafsd_range *range)
{
	struct file_lock fl;

	if (!dafsd_lock_meets_other(locker, file_inode(filp), range))
		return;
	dafsd_lock_init(&fl, locker, filp, range);
	posix_test_lock(filp, &fl);
	locks_release_private(&fl);
}

static dafs_status_t dafsd_lock_lock(struct dafsd_rqst *rq, const struct dafsd_use *use,
				     struct dafsd_locker *locker, const struct dafsd_lock_req *req,
				     bool *ours, bool *due)
{
	struct dafsd_persist_change change = {
		.rq = rq,
		.inode = use->file->inode,
		.locker = locker,
		.range = &req->range,
		.options = req->options,
		.waits = req->waits,
	};
	bool undoes = req->options & DAFS_LOCK_AUTORECOVERY;
	bool reclaims = req->options & DAFS_LOCK_RECLAIM;
	dafs_status_t status;

	status = dafsd_persist_prepare_undo(&change, undoes &&
					    dafsd_lock_is_denied(locker, use->filp, &req->range));
	if (status)
		return status;
	status = dafsd_persist_begin(&change);
	if (change.lacks)
		status = dafsd_lock_conflict(rq, locker, use->filp, &req->range, ours) ?:
			 DAFSERR_DELAY;
	if (!status && reclaims && !change.kept)
		status = dafsd_lock_reclaim(rq, use, locker, &req->range, ours);
	else if (!status)
		status = dafsd_lock_apply(rq, locker, use->filp, &req->range, ours);
	if (!status)
		status = dafsd_persist_commit(&change);
	/* asked before, too; but another client may have lost it since, and not be unrecorded */
	if (!status)
		status = dafsd_client_may_get(locker->client);
	*due = change.due;
	status = dafsd_persist_end(&change, status);
	dafsd_persist_finish_undo(&change);
	return status;
}

static dafs_status_t dafsd_lock_unlock(struct dafsd_rqst *rq, const struct dafsd_use *use,
				       struct dafsd_locker *locker,
				       const struct dafsd_range *range, bool *ours,
				       struct dafsd_spare *spare)
{
	dafs_status_t status = dafsd_persist_unlock(locker, use->file->inode, range);

	if (!status)
		status = dafsd_lock_apply(rq, locker, use->filp, range, ours);
	if (!status && dafsd_range_is_all(range))
		dafsd_locker_rest(locker, spare);
	return status;
}

/*
 * @due: set if changes under another lock have to be undone first
 * @spare: for the caller to close
 */
static dafs_status_t dafsd_lock_try_once(struct dafsd_rqst *rq, const struct dafsd_use *use,
					 struct dafsd_locker *locker,
					 const struct dafsd_lock_req *req, bool *ours, bool *due,
					 struct dafsd_spare *spare)
{
	const struct dafsd_range *range = &req->range;
	struct dafsd_lock_wait *wait = dafsd_lock_wait_of(rq);
	struct dafsd_locker *first = NULL;
	struct dafsd_range its;
	dafs_status_t status;

	guard(mutex)(&locker->lock);
	if (READ_ONCE(use->open->state.dead))
		return DAFSERR_BAD_STATEID;
	/* another open of the same owner is being dismantled */
	if (locker->undoes)
		return DAFSERR_DELAY;
	status = dafsd_lock_allowed(locker, use, range);
	if (status)
		return status;
	if (range->type == F_UNLCK)
		return dafsd_lock_unlock(rq, use, locker, range, ours, spare);
	status = dafsd_client_may_get(locker->client);
	if (status)
		return status;
	dafsd_lock_wait_try(wait);
	first = dafsd_lock_wait_first(use->file, wait, locker, range, &its);
	/* a LOCK that has waited longer cannot be granted while this owner has the range */
	if (first && dafsd_locker_has(locker, use->file->inode, range)) {
		dafsd_locker_put(first);
		first = NULL;
	}
	if (first) {
		*ours = true;
		return dafsd_lock_give_way(rq, first, &its);
	}
	return dafsd_lock_lock(rq, use, locker, req, ours, due);
}

static dafs_status_t dafsd_lock_try(struct dafsd_rqst *rq, const struct dafsd_use *use,
				    struct dafsd_locker *locker, const struct dafsd_lock_req *req,
				    bool *ours)
{
	struct dafsd_spare spare = {};
	dafs_status_t status;
	bool due = false;

	if (req->range.type != F_UNLCK)
		dafsd_lock_await_others(locker, use->filp, &req->range);
	status = dafsd_lock_try_once(rq, use, locker, req, ours, &due, &spare);
	if (due)
		status = dafsd_persist_undo(use->file, &use->filp->f_path) ?:
			 dafsd_lock_try_once(rq, use, locker, req, ours, &due, &spare);
	dafsd_spare_close(&spare);
	if (!status && (req->options & DAFS_LOCK_AUTORECOVERY))
		status = dafsd_persist_arm(locker, use->file, req->options & DAFS_LOCK_RECLAIM);
	return status;
}

/* Return: @status, or DELAY if the request is to wait. */
static dafs_status_t dafsd_lock_wait(struct dafsd_rqst *rq, const struct dafsd_use *use,
				     struct dafsd_locker *locker, const struct dafsd_lock_req *req,
				     dafs_status_t status, bool ours)
{
	struct dafsd_lock_wait *wait = dafsd_lock_wait_of(rq);

	if (!wait && ours) {
		wait = dafsd_lock_wait_add(rq, use, locker, &req->range);
		if (wait) {
			/* the response must not tell of a conflict that is over */
			memset(&rq->res.lock, 0, sizeof(rq->res.lock));
			status = dafsd_lock_try(rq, use, locker, req, &ours);
		}
	}
	if (wait && status == DAFSERR_DENIED && dafsd_lock_wait_denied(wait) && ours)
		return DAFSERR_DELAY;
	if (wait)
		wait->base.pending = false;
	return status;
}

/* File systems that are network clients themselves say so. */
static bool dafsd_lock_unsupported(const struct inode *inode)
{
	const struct export_operations *ops = inode->i_sb->s_export_op;

	return ops && (ops->flags & EXPORT_OP_NOLOCKS);
}

/* After these errors, too: what has failed may have come after the kernel had been asked. */
static bool dafsd_lock_may_be_set(dafs_status_t status)
{
	return !status || status == DAFSERR_RESOURCE || status == DAFSERR_IO;
}

/**
 * dafsd_lock_set() - lock or unlock bytes of a file for the owner of an open
 * @rq: LOCK or LOCKU
 * @use: the file, by an open
 * @req: what to do
 *
 * Locks of the same owner in the range are replaced, as fcntl(2) does.
 *
 * Context: may sleep.
 * Return: OK; DENIED, with a description of the conflict as the result; DELAY if the request
 * waits, and this is to be called again, or if locks of the owner are just being released;
 * RESOURCE: without memory, or too many locks; NOTSUPP; BAD_STATEID if the open ends at this
 * moment; the status of dafsd_client_record(), dafsd_persist_begin() or dafsd_persist_end(), or of
 * the file system.
 * After RESOURCE and IO it is not known what is locked.
 */
dafs_status_t dafsd_lock_set(struct dafsd_rqst *rq, const struct dafsd_use *use,
			     const struct dafsd_lock_req *req)
{
	const struct dafsd_range *range = &req->range;
	struct dafsd_locker *locker;
	dafs_status_t status;
	bool ours = false;

	if (dafsd_lock_unsupported(use->file->inode))
		return DAFSERR_NOTSUPP;
	/* also tries the disk again, if the store could not be written */
	status = range->type == F_UNLCK ? DAFS_STATUS_OK : dafsd_client_record(rq->ses->client);
	if (status)
		return status;
	status = dafsd_open_locker(use->open, &locker);
	if (status)
		return status;
	status = dafsd_lock_try(rq, use, locker, req, &ours);
	if (req->waits && status == DAFSERR_DENIED)
		status = dafsd_lock_wait(rq, use, locker, req, status, ours);
	/* a write lock may have become a read lock */
	if (range->type != F_WRLCK && dafsd_lock_may_be_set(status))
		dafsd_lock_wake(use->file, range);
	trace_dafsd_lock(use->open->state.id, rq->ses->client, range->type, range->start,
			 range->end, status);
	return status;
}

/**
 * dafsd_lock_abort() - undo what was written under an AUTORECOVERY lock (E-72)
 * @use: the file, by an open
 * @range: the bytes that the request names
 *
 * Context: may sleep.
 * Return: OK; INVAL if that is not an AUTORECOVERY lock of the owner of the open; or the status
 * of dafsd_persist_abort().
 */
dafs_status_t dafsd_lock_abort(const struct dafsd_use *use, const struct dafsd_range *range)
{
	struct dafsd_locker *locker = READ_ONCE(use->open->locker);

	if (!locker || !dafsd_range_is_all(range))
		return DAFSERR_INVAL;
	return dafsd_persist_abort(locker, use);
}

/* The lock owner of LOCKT, with a reference, or NULL if it has locked nothing. */
static struct dafsd_locker *dafsd_lock_tester(struct dafsd_rqst *rq, const struct inode *inode,
					      const struct dafs_str *owner)
{
	struct dafsd_file *file = dafsd_file_find(inode);
	struct dafsd_locker *locker;

	if (!file)
		return NULL;
	spin_lock(&file->locks_lock);
	locker = dafsd_locker_find(file, rq->ses->client, owner->data, owner->len);
	if (locker)
		refcount_inc(&locker->ref);
	spin_unlock(&file->locks_lock);
	dafsd_file_put(file);
	return locker;
}

/**
 * dafsd_lock_test() - is there a lock that would deny this one? (6.5.19)
 * @rq: LOCKT
 * @fh: a regular file
 * @owner: whose locks do not count, with the client of @rq
 * @range: the lock
 *
 * Context: may sleep; acts for the caller, who needs the permission to read or to write.
 * Return: OK; DENIED or LOCK_BROKEN, with a description of the conflict as the result;
 * RESOURCE; or the status of the file system.
 */
dafs_status_t dafsd_lock_test(struct dafsd_rqst *rq, const struct dafsd_fh *fh,
			      const struct dafs_str *owner, const struct dafsd_range *range)
{
	struct inode *inode = dafsd_fh_inode(fh);
	u32 access = DAFS_OPEN_SHARE_ACCESS_READ;
	struct dafsd_locker *locker;
	dafs_status_t status;
	struct file_lock fl;
	struct file *filp;
	int err;

	if (dafsd_file_permission(inode, access, DAFSD_OPEN_OWNER))
		access = DAFS_OPEN_SHARE_ACCESS_WRITE;
	err = dafsd_file_permission(inode, access, DAFSD_OPEN_OWNER);
	if (err)
		return dafs_errno_to_status(err);
	filp = dafsd_fh_open(fh, access, current_cred());
	if (IS_ERR(filp))
		return dafs_errno_to_status(PTR_ERR(filp));
	status = dafsd_persist_test(rq, inode, owner, range);
	if (status)
		goto done;
	locker = dafsd_lock_tester(rq, inode, owner);
	/* an owner without locks is unlike all others: the request may be its pointer */
	dafsd_lock_init(&fl, locker ?: (void *)rq, filp, range);
	err = vfs_test_lock(filp, &fl);
	status = dafs_errno_to_status(err);
	if (!err && !lock_is_unlock(&fl)) {
		dafsd_lock_hindered(locker ?: (void *)rq, filp, range);
		status = dafsd_lock_denied(rq, &fl);
	}
	locks_release_private(&fl);
	if (locker)
		dafsd_locker_put(locker);
done:
	dafsd_open_done(filp);
	return status;
}
