// SPDX-License-Identifier: GPL-2.0
/*
 * AUTORECOVERY locks: what was written under them is undone if their owner is lost (4.4.1.4).
 *
 * Such a lock is exclusive and covers all bytes, so that there is one at most in a file, and
 * what it protects is all of the file: its data and its size.  It is in the table of PERSIST
 * locks, and has a record as these have, see persist.c; some of them are PERSIST locks, too.
 *
 *	HELD ----------------> none	LOCKU, CLOSE, a LOCK without AUTORECOVERY: changes stay
 *	HELD ----------------> LEFT	as PERSIST locks
 *	LEFT ----------------> HELD	LOCK of its owner, as a rule with RECLAIM
 *	LEFT ----------------> UNDOING	a PERSIST lock: when another one would be BROKEN;
 *					others: its open was revoked, or the grace period is over
 *	UNDOING -------------> BROKEN	a PERSIST lock: all changes were undone
 *	UNDOING -------------> none	others: likewise
 *
 *  1. Bytes are changed, by requests, under dafsd_file.append, after dafsd_persist_write() has
 *     found with it that the lock is not UNDOING, and has saved what was there.  To undo changes
 *     it is held exclusively.  So nothing is written while they are undone, nor by a request that
 *     was admitted before and then was late.
 *  2. While there is such a lock, only its client writes: what others write would be undone, too.
 *  3. That a lock is UNDOING is durable before the first change is undone, so that its owner does
 *     not reclaim it after a crash in the middle; and the file is durable as it was before the
 *     lock goes.
 *  4. When a lock ends, its before-images stay with it, and no request writes to the file, until
 *     that is durable (dafsd_undo.over): after a crash before that, changes are undone.
 *  5. A request that finds a lock UNDOING undoes the changes itself before it goes on, by
 *     dafsd_persist_undo(); it does not wait for the work item.
 *  6. A lock that was revoked stays locked in the kernel until its changes were undone, or that
 *     has failed; until then its owner locks nothing (dafsd_locker.undoes).
 *  7. What waits for the exported file system is not done under dafsd_locker.lock, because who
 *     takes a lock away takes that.
 *
 * An open that was revoked is dead before its lock is UNDOING, so a request that has found it
 * before, and is late, is refused under dafsd_file.append.
 */
#include <linux/exportfs.h>
#include <linux/file.h>
#include <linux/filelock.h>
#include <linux/fs.h>
#include <linux/wait_bit.h>
#include <linux/dafs/status.h>
#include "../session/client.h"
#include "../session/peer.h"
#include "../session/server.h"
#include "../session/trace.h"
#include "../export/export.h"
#include "../request/request.h"
#include "../store/store.h"
#include "open_impl.h"
#include "persist_impl.h"

/* Before-images of files that were removed, to be deleted; guarded by dafsd_persist_sem */
static LIST_HEAD(dafsd_undo_orphans);

/* How long a file is left alone when changes could not be undone */
#define DAFSD_UNDO_PAUSE	(HZ / 2)

/*
 * When the server tries again by itself.  dafsd_undo_work uses no exported file system, but queues
 * dafsd_export.undoer of all exports, so that one that hangs holds up no others.
 */
#define DAFSD_UNDO_AGAIN	(10 * HZ)

/* The server ends: what is left is reclaimed when it is back */
static bool dafsd_undo_halted;

static void dafsd_undo_work_fn(struct work_struct *work);
static DECLARE_DELAYED_WORK(dafsd_undo_work, dafsd_undo_work_fn);

/**
 * dafsd_persist_undoes() - the AUTORECOVERY lock of a file
 * @file: the file
 *
 * Context: holds dafsd_persist_sem.
 * Return: the lock, the only one of its owner in the file, or NULL; not one that has ended.
 */
struct dafsd_persist *dafsd_persist_undoes(const struct dafsd_persist_file *file)
{
	struct dafsd_persist *persist;

	for (persist = dafsd_persist_first(file); persist; persist = dafsd_persist_follow(persist))
		if (dafsd_persist_undo_of(persist))
			return persist;
	return NULL;
}

/**
 * dafsd_persist_is_due() - have the changes under a lock to be undone?
 * @persist: from dafsd_persist_undoes()
 *
 * Context: holds dafsd_persist_sem.
 * Return: true if so: before any request reads or writes the file.
 */
bool dafsd_persist_is_due(const struct dafsd_persist *persist)
{
	switch (persist->ranges[0].state) {
	case DAFSD_PERSIST_UNDOING:
		return true;
	case DAFSD_PERSIST_LEFT:
		return !persist->persists && !dafsd_in_grace(&dafsd_server) &&
		       !READ_ONCE(dafsd_undo_halted);
	default:
		return false;
	}
}

/**
 * dafsd_persist_end_undo() - the before-images of a lock are needed only until that is durable
 * @persist: the lock, which is about to be saved by dafsd_persist_save(), or just was deleted
 *
 * Context: holds dafsd_persist_sem exclusively.
 */
void dafsd_persist_end_undo(struct dafsd_persist *persist)
{
	lockdep_assert_held_write(&dafsd_persist_sem);
	if (!dafsd_persist_undo_of(persist))
		return;
	persist->persists = true;
	persist->undo->over = true;
	dafsd_persist_look_again();
}

/**
 * dafsd_persist_take_over() - take before-images from a lock when they are not needed any more
 * @persist: the lock
 * @stamp: what was saved up to this one is durable
 * @over: a list for dafsd_persist_reap()
 *
 * Context: holds dafsd_persist_sem exclusively.
 */
void dafsd_persist_take_over(struct dafsd_persist *persist, unsigned long stamp,
			     struct list_head *over)
{
	struct dafsd_undo *undo = persist->undo;

	lockdep_assert_held_write(&dafsd_persist_sem);
	if (!undo || !undo->over || persist->stamp > stamp || persist->unsaved)
		return;
	persist->undo = NULL;
	list_add_tail(&undo->link, over);
}

/**
 * dafsd_persist_orphan_undo() - a lock is forgotten with its file
 * @undo: its before-images; the reference of the lock
 *
 * Context: holds dafsd_persist_sem exclusively.
 */
void dafsd_persist_orphan_undo(struct dafsd_undo *undo)
{
	lockdep_assert_held_write(&dafsd_persist_sem);
	list_add_tail(&undo->link, &dafsd_undo_orphans);
	mod_delayed_work(dafsd_close_wq, &dafsd_undo_work, 0);
}

/**
 * dafsd_persist_reap() - delete before-images
 * @over: from dafsd_persist_take_over()
 *
 * Context: may sleep for the state directory.
 */
void dafsd_persist_reap(struct list_head *over)
{
	struct dafsd_undo *undo, *next;
	const struct cred *saved;

	if (list_empty(over))
		return;
	saved = dafsd_act_as_server();
	list_for_each_entry_safe(undo, next, over, link) {
		list_del_init(&undo->link);
		dafsd_undo_delete(dafsd_server.store, undo);
	}
	revert_creds(saved);
}

/* How many locks with before-images come from an address? */
static unsigned int dafsd_undo_count_of(const struct in6_addr *addr)
{
	unsigned int nofs = dafsd_persist_read_lock(), nr = 0;
	struct dafsd_persist_place place = {};
	const struct dafsd_persist *persist;

	while ((persist = dafsd_persist_next(&place))) {
		dafsd_persist_seen(&place, persist);
		nr += persist->undo && ipv6_addr_equal(&persist->addr, addr);
	}
	dafsd_persist_read_unlock(nofs);
	return nr;
}

static bool dafsd_undo_is_greedy(const struct dafsd_client *client)
{
	return dafsd_undo_count() >= DAFSD_UNDO_SLOTS / 4 &&
	       dafsd_undo_count_of(&client->peer->addr) >= DAFSD_UNDO_SLOTS / 4;
}

static bool dafsd_undo_has(const struct dafsd_persist_change *change)
{
	unsigned int nofs = dafsd_persist_read_lock();
	struct dafsd_persist_file file;
	const struct dafsd_persist *persist = NULL;
	bool has;

	if (dafsd_persist_find_file(change->inode, &file))
		persist = dafsd_persist_undoes(&file);
	has = persist && persist->locker == change->locker;
	dafsd_persist_read_unlock(nofs);
	return has;
}

/**
 * dafsd_persist_prepare_undo() - LOCK: make a file for before-images, if they are asked for
 * @change: as for dafsd_persist_begin(), which follows; then dafsd_persist_finish_undo()
 * @denied: the kernel has another lock in the way, as it seems
 *
 * Context: may sleep for the state directory; holds dafsd_locker.lock.
 * Return: OK; NOTSUPP if it is not a lock for writing of all bytes; RESOURCE; IO.
 */
dafs_status_t dafsd_persist_prepare_undo(struct dafsd_persist_change *change, bool denied)
{
	const struct dafsd_range *range = change->range;
	const struct cred *saved;
	struct dafsd_undo *undo;

	if (!(change->options & DAFS_LOCK_AUTORECOVERY))
		return DAFS_STATUS_OK;
	if (!dafsd_range_is_all(range) || range->type != F_WRLCK ||
	    !dafsd_persist_possible(change->inode))
		return DAFSERR_NOTSUPP;
	/* those of what is reclaimed are there; and who is denied the lock needs none */
	if ((change->options & DAFS_LOCK_RECLAIM) || dafsd_undo_has(change) || denied)
		return DAFS_STATUS_OK;
	if (dafsd_undo_is_greedy(change->locker->client))
		return DAFSERR_RESOURCE;
	saved = dafsd_act_as_server();
	undo = dafsd_undo_create(dafsd_server.store, &change->locker->client->peer->addr);
	revert_creds(saved);
	if (!IS_ERR(undo)) {
		change->undo = undo;
		return DAFS_STATUS_OK;
	}
	return undo == ERR_PTR(-ENOMEM) || undo == ERR_PTR(-ENOSPC) ? DAFSERR_RESOURCE :
								      DAFSERR_IO;
}

/**
 * dafsd_persist_finish_undo() - LOCK is done
 * @change: from dafsd_persist_prepare_undo(), after dafsd_persist_end()
 *
 * Context: may sleep for the state directory; holds dafsd_locker.lock.
 */
void dafsd_persist_finish_undo(struct dafsd_persist_change *change)
{
	const struct cred *saved;

	if (!change->undo)
		return;
	if (change->undo_used) {
		dafsd_undo_put(change->undo);
		return;
	}
	saved = dafsd_act_as_server();
	dafsd_undo_delete(dafsd_server.store, change->undo);
	revert_creds(saved);
}

/* The before-images of a lock that is HELD.  Return: a reference, or NULL */
static struct dafsd_undo *dafsd_undo_of_locker(const struct dafsd_locker *locker,
					       const struct inode *inode)
{
	unsigned int nofs = dafsd_persist_read_lock();
	const struct dafsd_persist *own;
	struct dafsd_persist_file file;
	struct dafsd_undo *undo = NULL;

	own = dafsd_persist_of_locker(locker, inode, &file);
	if (own && dafsd_persist_undo_of(own) && own->ranges[0].state == DAFSD_PERSIST_HELD)
		undo = dafsd_undo_get(own->undo);
	dafsd_persist_read_unlock(nofs);
	return undo;
}

/*
 * No request changes the file, and no append is under way: it may fail, and what it has added is
 * taken back then, which must not happen when the size has been recorded.  To be undone by
 * up_write().
 */
static void dafsd_undo_close_file(struct dafsd_file *file)
{
	down_write(&file->append);
	while (file->appends.nr) {
		up_write(&file->append);
		wait_var_event(&file->appends.nr, !READ_ONCE(file->appends.nr));
		down_write(&file->append);
	}
}

/**
 * dafsd_persist_arm() - an AUTORECOVERY lock was granted: changes can be undone from now on
 * @locker: who has it
 * @file: the file
 * @reclaims: it had the lock before the server has restarted
 *
 * Requests that do not know of the lock end before the size of the file is looked at.  Until
 * then its client does not write either.
 *
 * Context: may sleep for the file system and the state directory; does not hold
 * dafsd_locker.lock.
 * Return: OK, also if that was done before, or the lock is not there any more; IO if the size
 * cannot be recorded: it is locked, but cannot be changed.
 */
dafs_status_t dafsd_persist_arm(const struct dafsd_locker *locker, struct dafsd_file *file,
				bool reclaims)
{
	struct dafsd_undo *undo = dafsd_undo_of_locker(locker, file->inode);
	const struct cred *saved;
	int err;

	if (!undo)
		return DAFS_STATUS_OK;
	saved = dafsd_act_as_server();
	dafsd_undo_close_file(file);
	err = dafsd_undo_arm(dafsd_server.store, undo, i_size_read(file->inode));
	up_write(&file->append);
	revert_creds(saved);
	dafsd_undo_put(undo);
	/* it has what it had; but writing tells that nothing can be saved any more */
	if (reclaims && (err == -ENOENT || err == -EUCLEAN))
		return DAFS_STATUS_OK;
	return err ? DAFSERR_IO : DAFS_STATUS_OK;
}

/*
 * The lock in a file whose changes have to be undone becomes UNDOING.  @number: set to that of its
 * record.  Return: a reference; NULL if no lock has changes to undo; an ERR_PTR if that cannot be
 * saved.
 */
static struct dafsd_undo *dafsd_undo_start(const struct inode *inode,
					   struct dafsd_persist_file *file, u64 *number)
{
	unsigned int nofs = dafsd_persist_write_lock();
	struct dafsd_persist *persist = NULL;
	struct dafsd_undo *undo = NULL;
	int err;

	if (dafsd_persist_find_file(inode, file))
		persist = dafsd_persist_undoes(file);
	if (persist && dafsd_persist_is_due(persist)) {
		if (persist->ranges[0].state == DAFSD_PERSIST_LEFT)
			dafsd_persist_move(&persist->ranges[0], DAFSD_PERSIST_UNDOING);
		err = dafsd_persist_save(persist);
		undo = err ? ERR_PTR(err) : dafsd_undo_get(persist->undo);
		*number = persist->number;
	}
	dafsd_persist_write_unlock(nofs);
	return undo;
}

/* It may have been forgotten meanwhile. */
static int dafsd_undo_done(const struct dafsd_persist_file *file, const struct dafsd_undo *undo)
{
	unsigned int nofs = dafsd_persist_write_lock();
	struct dafsd_persist *persist = dafsd_persist_undoes(file);
	unsigned long stamp;

	if (persist && persist->undo == undo) {
		trace_dafsd_persist(persist->number, "undone");
		if (persist->persists) {
			dafsd_persist_move(&persist->ranges[0], DAFSD_PERSIST_BROKEN);
			dafsd_persist_log(persist, "what was written under it is undone");
			dafsd_persist_end_undo(persist);
		} else {
			dafsd_persist_take_out(persist, 0);
		}
		dafsd_persist_save(persist);
	}
	stamp = dafsd_persist_stamp;
	dafsd_persist_write_unlock(nofs);
	return dafsd_persist_sync(file, stamp);
}

/* O_NONBLOCK: leases of local programs are broken, but not waited for. */
static int dafsd_undo_restore_by(struct dafsd_undo *undo, const struct path *path)
{
	struct file *filp = dentry_open(path, O_RDWR | O_LARGEFILE | O_NONBLOCK, current_cred());
	int err;

	if (IS_ERR(filp))
		return PTR_ERR(filp);
	err = dafsd_undo_restore(dafsd_server.store, undo, filp);
	__fput_sync(filp);
	return err;
}

/**
 * dafsd_persist_undo_again() - undo in the background, but not at once, what could not be undone
 *
 * Context: any.
 */
void dafsd_persist_undo_again(void)
{
	if (!READ_ONCE(dafsd_undo_halted))
		queue_delayed_work(dafsd_close_wq, &dafsd_undo_work, DAFSD_UNDO_AGAIN);
}

/* It is tried again and again; the log tells of each reason once. */
static void dafsd_undo_tell(struct dafsd_undo *undo, u64 number, const struct inode *inode, int err)
{
	if (err && err != undo->told)
		pr_warn_ratelimited("dafsd: record %llu: cannot undo what was written to inode %lu of %s under a lock (undo.%u): %pe; tried again every %d s; \"dafsdctl forget %llu\" gives up and leaves the file as it is\n",
				    number, inode->i_ino, inode->i_sb->s_id, undo->slot,
				    ERR_PTR(err), DAFSD_UNDO_AGAIN / HZ, number);
	undo->told = err;
}

static int dafsd_undo_try(struct dafsd_undo *undo, u64 number, const struct path *path)
{
	int err;

	/* all who want to use the file come here */
	if (undo->retry && time_before(jiffies, undo->retry))
		return -EIO;
	err = dafsd_store_sync(dafsd_server.store) ?: dafsd_undo_restore_by(undo, path);
	WRITE_ONCE(undo->retry, err && err != -EAGAIN ? (jiffies + DAFSD_UNDO_PAUSE) ?: 1 : 0);
	/* perhaps no client ever asks for the file, and programs of the server see half of it */
	if (err)
		dafsd_persist_undo_again();
	dafsd_undo_tell(undo, number, d_inode(path->dentry), err);
	return err;
}

static int dafsd_undo_run(struct dafsd_file *file, const struct path *path)
{
	struct dafsd_persist_file at;
	u64 number = 0;
	struct dafsd_undo *undo = dafsd_undo_start(file->inode, &at, &number);
	int err;

	if (IS_ERR_OR_NULL(undo))
		return PTR_ERR_OR_ZERO(undo);
	/* before others find that there is nothing to look at */
	WRITE_ONCE(file->undone, true);
	err = dafsd_undo_try(undo, number, path) ?: dafsd_undo_done(&at, undo);
	dafsd_undo_put(undo);
	return err;
}

/**
 * dafsd_persist_undo() - undo what was written under an AUTORECOVERY lock whose owner is lost
 * @file: the file
 * @path: likewise
 *
 * Context: may sleep for the file system and the store; does not hold dafsd_file.append.
 * Return: OK, also if there is nothing to undo; DELAY while a local program has a lease of the
 * file; IO: the file cannot be used until it can be undone, or the administrator gives it up.
 */
dafs_status_t dafsd_persist_undo(struct dafsd_file *file, const struct path *path)
{
	const struct cred *saved = dafsd_act_as_server();
	int err;

	down_write(&file->append);
	err = dafsd_undo_run(file, path);
	up_write(&file->append);
	revert_creds(saved);
	if (!err)
		return DAFS_STATUS_OK;
	return err == -EAGAIN ? DAFSERR_DELAY : DAFSERR_IO;
}

/* May a client write?  @undo: set to a reference if so */
static dafs_status_t dafsd_undo_admit(const struct dafsd_persist *persist,
				      const struct dafsd_client *client, struct dafsd_undo **undo)
{
	if (dafsd_persist_is_due(persist))
		return DAFSERR_DELAY;
	if (!client || !dafsd_persist_is_of(persist, client) ||
	    !dafs_opaque64_equal(&persist->verifier, &client->verifier))
		return DAFSERR_LOCKED;
	*undo = dafsd_undo_get(persist->undo);
	return DAFS_STATUS_OK;
}

/* A missing file of before-images is not a missing file of the client. */
static dafs_status_t dafsd_undo_status(int err)
{
	return err == -ENOENT ? DAFSERR_IO : dafs_errno_to_status(err);
}

static dafs_status_t dafsd_undo_before(struct dafsd_undo *undo, const struct path *path,
				       u64 offset, u64 length)
{
	u64 start = min_t(u64, offset, OFFSET_MAX);
	const struct cred *saved = dafsd_act_as_server();
	int err;

	err = dafsd_undo_save(dafsd_server.store, undo, path, start,
			      start + min_t(u64, length, OFFSET_MAX - start));
	revert_creds(saved);
	return dafsd_undo_status(err);
}

/* Has a lock in the file ended, of which that may not be durable yet? */
static bool dafsd_undo_is_ending(const struct dafsd_persist_file *file)
{
	const struct dafsd_persist *persist;

	for (persist = dafsd_persist_first(file); persist; persist = dafsd_persist_follow(persist))
		if (persist->undo && persist->undo->over)
			return true;
	return false;
}

/* Invariant 4.  What could not be saved is saved now. */
static int dafsd_undo_settle(const struct dafsd_persist_file *file)
{
	unsigned int nofs = dafsd_persist_write_lock();
	struct dafsd_persist *persist;
	unsigned long stamp;
	int err = 0;

	for (persist = dafsd_persist_first(file); persist && !err;
	     persist = dafsd_persist_follow(persist))
		if (persist->unsaved)
			err = dafsd_persist_save(persist);
	stamp = dafsd_persist_stamp;
	dafsd_persist_write_unlock(nofs);
	return err ?: dafsd_persist_sync(file, stamp);
}

/**
 * dafsd_persist_check_write() - bytes of a file are about to be changed; see
 * dafsd_persist_write()
 * @use: the file
 * @offset: first byte
 * @length: bytes
 *
 * Context: may sleep for the file system and the state directory; holds dafsd_file.append.
 * Return: OK; EXPIRED if the open was revoked meanwhile; LOCKED if another client has an
 * AUTORECOVERY lock; DELAY; RESOURCE; NOSPC if there is no room for what may have to be undone;
 * IO; or the status of the file system.
 */
dafs_status_t dafsd_persist_check_write(const struct dafsd_use *use, u64 offset, u64 length)
{
	const struct dafsd_client *client = use->open ? use->open->state.client : NULL;
	dafs_status_t status = DAFS_STATUS_OK;
	struct dafsd_persist *persist = NULL;
	struct dafsd_undo *undo = NULL;
	struct dafsd_persist_file at;
	bool ending = false;
	unsigned int nofs;

	if (use->open && READ_ONCE(use->open->state.dead))
		return DAFSERR_EXPIRED;
	nofs = dafsd_persist_read_lock();
	if (dafsd_persist_find_file(use->file->inode, &at)) {
		persist = dafsd_persist_undoes(&at);
		ending = dafsd_undo_is_ending(&at);
	}
	if (persist)
		status = dafsd_undo_admit(persist, client, &undo);
	dafsd_persist_read_unlock(nofs);
	if (!status && ending && dafsd_undo_settle(&at))
		status = DAFSERR_IO;
	if (undo && !status)
		status = dafsd_undo_before(undo, &use->filp->f_path, offset, length);
	if (undo)
		dafsd_undo_put(undo);
	return status;
}

static bool dafsd_undo_is_in(const struct inode *inode)
{
	unsigned int nofs = dafsd_persist_read_lock();
	struct dafsd_persist_file at;
	bool is_in;

	is_in = dafsd_persist_find_file(inode, &at) &&
		(dafsd_persist_undoes(&at) || dafsd_undo_is_ending(&at));
	dafsd_persist_read_unlock(nofs);
	return is_in;
}

/* Could changes not be undone, when that was last tried? */
static bool dafsd_undo_has_failed(const struct inode *inode)
{
	unsigned int nofs = dafsd_persist_read_lock();
	const struct dafsd_persist *persist = NULL;
	struct dafsd_persist_file at;
	bool failed;

	if (dafsd_persist_find_file(inode, &at))
		persist = dafsd_persist_undoes(&at);
	failed = persist && READ_ONCE(persist->undo->retry);
	dafsd_persist_read_unlock(nofs);
	return failed;
}

/**
 * dafsd_persist_truncate() - may OPEN empty a file?
 * @file: the file
 *
 * Nothing can be saved, or undone, here: write access to the file system is held.
 *
 * Context: may sleep; holds dafsd_file.append until it is done.
 * Return: OK; LOCKED if bytes are broken, or there is an AUTORECOVERY lock, even of the same
 * client; DELAY if changes have to be undone first, and IO if that has failed.
 */
dafs_status_t dafsd_persist_truncate(struct dafsd_file *file)
{
	dafs_status_t status;

	if (dafsd_persist_quiet(file))
		return DAFS_STATUS_OK;
	status = dafsd_persist_broken(file, true, 0, DAFS_LOCK_TO_EOF);
	if (status == DAFSERR_DELAY) {
		dafsd_persist_undo_later();
		return dafsd_undo_has_failed(file->inode) ? DAFSERR_IO : DAFSERR_DELAY;
	}
	if (status)
		return status;
	return dafsd_undo_is_in(file->inode) ? DAFSERR_LOCKED : DAFS_STATUS_OK;
}

/**
 * dafsd_persist_append() - may bytes be added to a file?
 * @use: the file, for which dafsd_persist_io() has returned OK
 * @length: how many
 *
 * Context: may sleep; holds dafsd_file.append exclusively until they were added.
 * Return: as dafsd_persist_io(), or dafsd_persist_write().
 */
dafs_status_t dafsd_persist_append(const struct dafsd_use *use, u64 length)
{
	u64 offset = i_size_read(use->file->inode);

	if (dafsd_persist_quiet(use->file))
		return DAFS_STATUS_OK;
	return dafsd_persist_broken(use->file, !use->open, offset, length) ?:
	       dafsd_persist_check_write(use, offset, length);
}

/* Has @locker the lock still, now that no other request writes, or undoes? */
static int dafsd_undo_abort(const struct dafsd_locker *locker, const struct dafsd_use *use,
			    struct dafsd_undo *undo)
{
	struct dafsd_undo *now = dafsd_undo_of_locker(locker, use->file->inode);
	int err = -ESTALE;

	if (now == undo)
		err = dafsd_undo_restore_by(undo, &use->filp->f_path);
	if (now)
		dafsd_undo_put(now);
	return err;
}

/**
 * dafsd_persist_abort() - undo what was written under an AUTORECOVERY lock, and keep it (E-72)
 * @locker: who has it
 * @use: the file, by an open
 *
 * Context: may sleep for the file system and the state directory; does not hold
 * dafsd_locker.lock.
 * Return: OK; INVAL if there is no such lock; EXPIRED if it is being taken away; or the status of
 * the file system: then it is not known what was undone, and the request may be repeated.
 */
dafs_status_t dafsd_persist_abort(const struct dafsd_locker *locker, const struct dafsd_use *use)
{
	struct dafsd_undo *undo = dafsd_undo_of_locker(locker, use->file->inode);
	const struct cred *saved;
	int err;

	if (!undo)
		return READ_ONCE(use->open->state.dead) ? DAFSERR_EXPIRED : DAFSERR_INVAL;
	saved = dafsd_act_as_server();
	down_write(&use->file->append);
	err = dafsd_undo_abort(locker, use, undo);
	up_write(&use->file->append);
	revert_creds(saved);
	dafsd_undo_put(undo);
	return err == -ESTALE ? DAFSERR_EXPIRED : dafsd_undo_status(err);
}

/* Their files do not exist any more; that their locks do not is durable now. */
static void dafsd_undo_reap_orphans(void)
{
	unsigned int nofs;
	LIST_HEAD(over);

	if (dafsd_store_sync(dafsd_server.store)) {
		dafsd_persist_undo_again();
		return;
	}
	nofs = dafsd_persist_write_lock();
	list_splice_init(&dafsd_undo_orphans, &over);
	dafsd_persist_write_unlock(nofs);
	dafsd_persist_reap(&over);
}

/* An export that was disabled, or the end of the server, does not wait for more than one file. */
static bool dafsd_undo_goes_on(const struct dafsd_export *exp)
{
	return READ_ONCE(exp->enabled) && !READ_ONCE(dafsd_undo_halted);
}

/* Files that clients may not use for long; who needs one earlier undoes what is to be undone. */
static void dafsd_undo_export_fn(struct work_struct *work)
{
	struct dafsd_export *exp = container_of(work, struct dafsd_export, undoer);
	const struct cred *saved = dafsd_act_as_server();
	struct dafsd_persist_place place = {};

	while (dafsd_undo_goes_on(exp) && dafsd_persist_serve_next(exp, &place, true))
		;
	revert_creds(saved);
	dafsd_export_put(exp);
}

/**
 * dafsd_persist_init_export() - initialize the undoing of changes in an export
 * @exp: the export, not yet served
 *
 * Context: any.
 */
void dafsd_persist_init_export(struct dafsd_export *exp)
{
	INIT_WORK(&exp->undoer, dafsd_undo_export_fn);
}

static void dafsd_undo_work_fn(struct work_struct *work)
{
	struct dafsd_export *exp;
	u64 n = 0;

	while (!READ_ONCE(dafsd_undo_halted) && (exp = dafsd_export_nth(n))) {
		n = exp->number + 1;
		/* the reference is that of the work item, if it was not queued before */
		if (!queue_work(dafsd_close_wq, &exp->undoer))
			dafsd_export_put(exp);
	}
	dafsd_undo_reap_orphans();
}

/**
 * dafsd_persist_undo_later() - undo in the background what has to be undone
 *
 * Context: any; the server is being used.
 */
void dafsd_persist_undo_later(void)
{
	if (dafsd_undo_count())
		mod_delayed_work(dafsd_close_wq, &dafsd_undo_work, 0);
}

/**
 * dafsd_persist_undo_halt() - the server ends: undo nothing that may be reclaimed later
 *
 * What an export is undoing ends before that is disabled, see dafsd_export_withdraw().
 *
 * Context: may sleep; no request is served any more.
 */
void dafsd_persist_undo_halt(void)
{
	WRITE_ONCE(dafsd_undo_halted, true);
	cancel_delayed_work_sync(&dafsd_undo_work);
}

/**
 * dafsd_persist_undo_begin() - the server begins
 *
 * Context: any.
 */
void dafsd_persist_undo_begin(void)
{
	WRITE_ONCE(dafsd_undo_halted, false);
}

/**
 * dafsd_persist_undo_stop() - there is no store any more
 *
 * What is still needed is in the state directory.
 *
 * Context: may sleep; no client has state, there are no exports, and dafsd_persist_undo_later() is
 * not called.
 */
void dafsd_persist_undo_stop(void)
{
	struct dafsd_undo *undo, *next;
	unsigned int nofs;
	LIST_HEAD(over);

	cancel_delayed_work_sync(&dafsd_undo_work);
	nofs = dafsd_persist_write_lock();
	list_splice_init(&dafsd_undo_orphans, &over);
	dafsd_persist_write_unlock(nofs);
	list_for_each_entry_safe(undo, next, &over, link) {
		list_del_init(&undo->link);
		dafsd_undo_put(undo);
	}
}
