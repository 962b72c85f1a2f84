// SPDX-License-Identifier: GPL-2.0
/*
 * PERSIST locks: when the owner is lost they do not end, but break, so that the next owner knows
 * that the file must be repaired (4.4.1.3, 4.4.1.5, 4.4.1.6).
 *
 *		LOCK(PERSIST)
 *	none ----------------> HELD
 *	HELD ----------------> LEFT	its open is revoked, or the server has restarted
 *	LEFT ----------------> HELD	LOCK of its owner, as a rule with RECLAIM
 *	LEFT ----------------> BROKEN	a LOCK that conflicts with it
 *	HELD, LEFT ----------> BROKEN	another instance of its client has authenticated
 *	HELD, LEFT ----------> none	LOCKU; HELD also CLOSE, and a LOCK without PERSIST;
 *					LEFT also if the file has lost its last name
 *	BROKEN --------------> none	LOCK(REPAIR) of anybody, for all of it; or the file has
 *					lost its last name
 *
 * AUTORECOVERY locks are in the same table, see persist_undo.c.
 *
 * What is HELD is locked in the kernel, too, which decides about conflicts with it.  What is LEFT
 * or BROKEN is not, so that only clients of this server are kept from it.
 *
 *  1. dafsd_persist_sem guards the table.  LOCK holds it, at least shared, from the look at what
 *     is LEFT or BROKEN until the kernel has set the lock.  What is HELD becomes LEFT before it
 *     is unlocked in the kernel.  So no LOCK slips in between.
 *  2. Locks of one owner are changed under dafsd_locker.lock, which is taken before
 *     dafsd_persist_sem, and held until the change is durable.
 *  3. A lock is granted when its record is durable, and unlocked in the kernel when it is known
 *     to be deleted.  One that is replaced by a weaker one, or by one without PERSIST, stays in
 *     the table until then, perhaps empty, and others that get a lock in the file wait for that,
 *     too.  So after a crash nobody else can have had a lock that there is a record of.
 *  4. If the store cannot be written, what the kernel has locked stays so, and the client is
 *     told that it may be.
 *
 * While dafsd_persist_sem is held, memory is allocated without waiting for file systems: a
 * client on this machine may have to write by this server, which looks here first.
 */
#include <linux/filelock.h>
#include <linux/fs.h>
#include <linux/slab.h>
#include "../session/server.h"
#include "../session/client.h"
#include "../session/trace.h"
#include "../request/request.h"
#include "../store/store.h"
#include "persist_impl.h"

/**
 * dafsd_persist_log() - locks of an owner in a file have broken
 * @persist: the locks
 * @why: for the log
 *
 * Context: holds dafsd_persist_sem.
 */
void dafsd_persist_log(const struct dafsd_persist *persist, const char *why)
{
	trace_dafsd_persist(persist->number, "broken");
	pr_notice_ratelimited("dafsd: record %llu: a lock of client %*pE is broken: %s; see \"dafsdctl persist\"\n",
			      persist->number, (int)min(persist->id_len, 64U), persist->names,
			      why);
}

/*
 * Break those of @persist that are LEFT and conflict; or have them broken when changes were
 * undone.  Return: true if there were any.
 */
static bool dafsd_persist_break_in(struct dafsd_persist *persist, const struct dafsd_range *range)
{
	bool undoes = dafsd_persist_undo_of(persist), broken = false;
	unsigned int n;

	for (n = 0; n < persist->nr; n++) {
		if (persist->ranges[n].state != DAFSD_PERSIST_LEFT ||
		    !dafsd_persist_conflicts(&persist->ranges[n], range))
			continue;
		dafsd_persist_move(&persist->ranges[n], undoes ? DAFSD_PERSIST_UNDOING :
								 DAFSD_PERSIST_BROKEN);
		broken = true;
	}
	return broken;
}

/* A request breaks all that are LEFT in its way. */
static dafs_status_t dafsd_persist_break(struct dafsd_persist_change *change)
{
	dafs_status_t status = DAFS_STATUS_OK;
	struct dafsd_persist *persist;

	for (persist = dafsd_persist_first(&change->file); persist;
	     persist = dafsd_persist_follow(persist)) {
		if (persist == change->own || !dafsd_persist_break_in(persist, change->range))
			continue;
		if (dafsd_persist_undo_of(persist))
			change->due = true;
		else
			dafsd_persist_log(persist, "another lock conflicts with it");
		change->unsynced = true;
		/* it is broken until a restart, anyway */
		if (dafsd_persist_save(persist))
			status = DAFSERR_RESOURCE;
	}
	return status;
}

/* REPAIR: what it covers in part only cannot be repaired by it (E-72). */
static dafs_status_t dafsd_persist_may_repair(const struct dafsd_persist_change *change)
{
	const struct dafsd_range *range = change->range;
	const struct dafsd_persist_range *its;
	struct dafsd_persist *persist;
	unsigned int n;

	for (persist = dafsd_persist_first(&change->file); persist;
	     persist = dafsd_persist_follow(persist))
		for (n = 0; n < persist->nr; n++) {
			its = &persist->ranges[n];
			if (its->state == DAFSD_PERSIST_BROKEN && dafsd_persist_meets(its, range) &&
			    !dafsd_persist_covers(range->start, range->end, its))
				return DAFSERR_LOCK_RANGE;
		}
	return DAFS_STATUS_OK;
}

static dafs_status_t dafsd_persist_denied(struct dafsd_rqst *rq)
{
	rq->body = true;
	return DAFSERR_DENIED;
}

/* RECLAIM breaks nothing; without a grace period only what was left can be reclaimed. */
static dafs_status_t dafsd_persist_admit_reclaim(struct dafsd_persist_change *change)
{
	struct dafsd_persist *found;
	const struct dafsd_persist_range *range;

	range = dafsd_persist_obstacle(&change->file, change->range, DAFSD_PERSIST_BROKEN, NULL,
				       &found);
	if (range)
		return dafsd_persist_tell(change->rq, found, range, DAFSERR_LOCK_BROKEN);
	range = dafsd_persist_obstacle(&change->file, change->range, DAFSD_PERSIST_LEFT,
				       change->own, &found);
	if (range)
		return dafsd_persist_tell(change->rq, found, range, DAFSERR_DENIED);
	/* its before-images were made before it was granted, so it is not this one */
	if ((change->options & DAFS_LOCK_AUTORECOVERY) && (!change->own || !change->own->undo))
		return dafsd_persist_denied(change->rq);
	change->kept = dafsd_persist_was_left(change->own, change->range);
	if (change->kept || dafsd_grace_reclaims(change->locker->client))
		return DAFS_STATUS_OK;
	return dafsd_persist_denied(change->rq);
}

/* What is LEFT to the owner of the request does not conflict with it: no other client had it. */
static dafs_status_t dafsd_persist_admit_new(struct dafsd_persist_change *change)
{
	bool repairs = change->options & DAFS_LOCK_REPAIR;
	struct dafsd_persist_range *range;
	struct dafsd_persist *found;
	dafs_status_t status;

	range = dafsd_persist_obstacle(&change->file, change->range, DAFSD_PERSIST_LEFT,
				       change->own, &found);
	if (range) {
		status = dafsd_persist_break(change);
		if (change->due)
			return DAFSERR_DELAY;
		return status ?: dafsd_persist_tell(change->rq, found, range,
						    DAFSERR_LOCK_BROKEN);
	}
	if (repairs)
		return dafsd_persist_may_repair(change);
	range = dafsd_persist_obstacle(&change->file, change->range, DAFSD_PERSIST_BROKEN, NULL,
				       &found);
	return range ? dafsd_persist_tell(change->rq, found, range, DAFSERR_LOCK_BROKEN) :
		       DAFS_STATUS_OK;
}

/* Whatever becomes of the locks of the owner, there is room for it. */
static dafs_status_t dafsd_persist_prepare(struct dafsd_persist_change *change)
{
	bool grows = (change->options & DAFSD_LOCK_RECORDED) && !change->kept &&
		     !dafsd_persist_has(change->own, change->range);

	if (!change->own && (change->options & DAFSD_LOCK_RECORDED))
		change->own = dafsd_persist_new(&change->file, change->locker);
	if (!change->own)
		return change->options & DAFSD_LOCK_RECORDED ? DAFSERR_RESOURCE : DAFS_STATUS_OK;
	return dafsd_persist_reserve(change->own, 2, grows);
}

/* An AUTORECOVERY lock: are changes under it to be undone first, or is it to be split? */
static dafs_status_t dafsd_persist_admit_undo(struct dafsd_persist_change *change)
{
	const struct dafsd_persist *persist = dafsd_persist_undoes(&change->file);

	if (!persist)
		return DAFS_STATUS_OK;
	change->due = dafsd_persist_is_due(persist);
	if (change->due)
		return DAFSERR_DELAY;
	if (persist != change->own)
		return DAFS_STATUS_OK;
	/* one that has waited does not end what another program of the client has locked since */
	if (!dafsd_range_is_all(change->range) ||
	    (change->waits && !(change->options & DAFS_LOCK_AUTORECOVERY)))
		return DAFSERR_LOCK_RANGE;
	return DAFS_STATUS_OK;
}

/* Those that it had before may still be needed, until what has ended that is durable. */
static dafs_status_t dafsd_persist_check_undo(struct dafsd_persist_change *change)
{
	struct dafsd_persist *own = change->own;

	if (!(change->options & DAFS_LOCK_AUTORECOVERY))
		return DAFS_STATUS_OK;
	if (own && own->undo && own->undo->over) {
		if (own->unsaved)
			dafsd_persist_save(own);
		change->unsynced = true;
		return DAFSERR_DELAY;
	}
	change->lacks = !change->undo && !(own && own->undo);
	return change->lacks ? DAFSERR_DELAY : DAFS_STATUS_OK;
}

static dafs_status_t dafsd_persist_admit(struct dafsd_persist_change *change)
{
	const struct dafsd_locker *locker = change->locker;
	dafs_status_t status;

	change->own = dafsd_persist_find(&change->file, locker->client, locker->owner,
					 locker->owner_len);
	/* it is just being taken from this client, which has lost its former open */
	if (change->own && change->own->locker && change->own->locker != locker)
		return DAFSERR_DELAY;
	status = dafsd_persist_admit_undo(change);
	if (status)
		return status;
	if (change->options & DAFS_LOCK_RECLAIM)
		status = dafsd_persist_admit_reclaim(change);
	else
		status = dafsd_persist_admit_new(change);
	status = status ?: dafsd_persist_check_undo(change);
	return status ?: dafsd_persist_prepare(change);
}

static dafs_status_t dafsd_persist_begin_exclusive(struct dafsd_persist_change *change)
{
	if (!dafsd_persist_identify(change->inode, &change->file))
		return DAFSERR_NOTSUPP;
	change->nofs = dafsd_persist_write_lock();
	change->access = DAFSD_PERSIST_EXCLUSIVE;
	return dafsd_persist_admit(change);
}

/* Without any PERSIST lock in the file, in a file system that may have some */
static dafs_status_t dafsd_persist_begin_plain(const struct dafsd_persist_change *change)
{
	if (!(change->options & DAFS_LOCK_RECLAIM) || dafsd_grace_reclaims(change->locker->client))
		return DAFS_STATUS_OK;
	return dafsd_persist_denied(change->rq);
}

/**
 * dafsd_persist_begin() - may LOCK set a lock, as far as PERSIST locks are concerned?
 * @change: rq, inode, locker, range and options are set, the rest is zero
 *
 * A PERSIST lock in the way that is left by its owner breaks by this.
 *
 * Context: may sleep for memory; holds dafsd_locker.lock.
 * Return: OK, and no other LOCK gets in between until dafsd_persist_end(), which is to be
 * called in any case; LOCK_BROKEN or DENIED, with a description as the result; LOCK_RANGE if
 * REPAIR does not cover what is broken, or an AUTORECOVERY lock would be split; NOTSUPP;
 * RESOURCE; DELAY, with @due if changes under another lock are to be undone first, and with
 * @lacks if it is not denied by LEFT or BROKEN locks.
 */
dafs_status_t dafsd_persist_begin(struct dafsd_persist_change *change)
{
	bool asks;

	/* what is reclaimed was not broken */
	if (change->options & DAFS_LOCK_RECLAIM)
		change->options &= ~DAFS_LOCK_REPAIR;
	asks = change->options & (DAFSD_LOCK_RECORDED | DAFS_LOCK_REPAIR);
	if (!dafsd_persist_possible(change->inode))
		return change->options & DAFSD_LOCK_RECORDED ? DAFSERR_NOTSUPP :
							       dafsd_persist_begin_plain(change);
	if (!asks) {
		change->nofs = dafsd_persist_read_lock();
		if (!dafsd_persist_find_file(change->inode, &change->file)) {
			change->access = DAFSD_PERSIST_SHARED;
			return dafsd_persist_begin_plain(change);
		}
		dafsd_persist_read_unlock(change->nofs);
	}
	return dafsd_persist_begin_exclusive(change);
}

/* Those that REPAIR covers are not broken any more.  Return: true if there were any. */
static bool dafsd_persist_repair_in(struct dafsd_persist *persist, const struct dafsd_range *range)
{
	unsigned int n, nr = persist->nr;

	for (n = 0; n < persist->nr;)
		if (persist->ranges[n].state == DAFSD_PERSIST_BROKEN &&
		    dafsd_persist_meets(&persist->ranges[n], range))
			dafsd_persist_take_out(persist, n);
		else
			n++;
	return persist->nr != nr;
}

static int dafsd_persist_repair(struct dafsd_persist_change *change)
{
	struct dafsd_persist *persist;
	int err = 0;

	for (persist = dafsd_persist_first(&change->file); persist;
	     persist = dafsd_persist_follow(persist)) {
		if (!dafsd_persist_repair_in(persist, change->range))
			continue;
		change->unsynced = true;
		err = dafsd_persist_save(persist) ?: err;
	}
	return err;
}

/* Changes that were made under a lock that is replaced by another kind of lock stay. */
static void dafsd_persist_commit_undo(struct dafsd_persist_change *change)
{
	struct dafsd_persist *own = change->own;

	if (!(change->options & DAFS_LOCK_AUTORECOVERY)) {
		dafsd_persist_end_undo(own);
		return;
	}
	if (!own->undo) {
		own->undo = dafsd_undo_get(change->undo);
		change->undo_used = true;
	}
	own->persists = change->options & DAFS_LOCK_PERSIST;
	dafsd_persist_look_again();
}

static int dafsd_persist_commit_own(struct dafsd_persist_change *change)
{
	struct dafsd_persist *own = change->own;

	if (change->options & DAFSD_LOCK_RECORDED)
		dafsd_persist_hold(own, change->range);
	dafsd_persist_commit_undo(change);
	own->locker = change->locker;
	if (!dafsd_persist_holds_any(own))
		dafsd_persist_let_go(own);
	change->unsynced = true;
	return dafsd_persist_save(own);
}

/**
 * dafsd_persist_commit() - the kernel has set the lock
 * @change: from dafsd_persist_begin(), which has returned OK
 *
 * Context: may sleep for memory.
 * Return: OK; RESOURCE: the bytes are locked, but what the request has asked for may not survive
 * a restart.
 */
dafs_status_t dafsd_persist_commit(struct dafsd_persist_change *change)
{
	struct dafsd_persist *own = change->own;
	bool cut = false;
	int err = 0;

	if (change->access != DAFSD_PERSIST_EXCLUSIVE)
		return DAFS_STATUS_OK;
	if (own)
		cut = dafsd_persist_cut(own, change->range->start, change->range->end, false);
	/* in one record with what takes its place */
	if (own && (change->options & DAFS_LOCK_REPAIR))
		cut |= dafsd_persist_repair_in(own, change->range);
	if (cut || (change->options & DAFSD_LOCK_RECORDED))
		err = dafsd_persist_commit_own(change);
	/* only then, so that the bytes are protected by one of them after a crash */
	if (!err && (change->options & DAFS_LOCK_REPAIR))
		err = dafsd_persist_repair(change);
	return err ? DAFSERR_RESOURCE : DAFS_STATUS_OK;
}

static void dafsd_persist_unlock_table(struct dafsd_persist_change *change)
{
	if (change->access == DAFSD_PERSIST_SHARED)
		dafsd_persist_read_unlock(change->nofs);
	if (change->access != DAFSD_PERSIST_EXCLUSIVE)
		return;
	/* one that was made for nothing */
	if (change->own && !change->own->nr && !change->own->stamp)
		dafsd_persist_drop(change->own);
	change->stamp = dafsd_persist_stamp;
	dafsd_persist_write_unlock(change->nofs);
}

/**
 * dafsd_persist_end() - other LOCKs may go on; wait until what was changed is durable
 * @change: from dafsd_persist_begin(), whatever that has returned
 * @status: what the request is to be answered
 *
 * Another owner may just have given up, in favour of this one, what a record still has.
 *
 * Context: may sleep for the store; holds dafsd_locker.lock.
 * Return: @status; or IO if the store cannot be written.
 */
dafs_status_t dafsd_persist_end(struct dafsd_persist_change *change, dafs_status_t status)
{
	int err;

	dafsd_persist_unlock_table(change);
	if (!change->unsynced && (status || change->access != DAFSD_PERSIST_EXCLUSIVE))
		return status;
	err = dafsd_store_sync(dafsd_server.store);
	dafsd_persist_tidy(&change->file, change->stamp, !err);
	if (!err)
		return status;
	change->rq->body = false;
	return DAFSERR_IO;
}
