// SPDX-License-Identifier: GPL-2.0
/*
 * The end of byte-range locks
 *
 * The locks of an open end when it is closed (E-83), and when it is revoked: at once, unless
 * the file system has locks of its own, and so may wait.  An open that is dead gets no more
 * locks.  All of an owner end then, although there may be another open of the same owner by
 * another filehandle of the file: the kernel merges locks, so that it is not known by which
 * one a byte was locked.  Until that is done, the owner gets no locks by a new open.
 */
#include <linux/filelock.h>
#include <linux/fs.h>
#include "open_impl.h"
#include "lock_impl.h"
#include "lock_wait.h"
#include "persist_impl.h"

static const struct dafsd_range dafsd_all_bytes = { .type = F_UNLCK, .end = OFFSET_MAX };

static void dafsd_locker_unlock(struct dafsd_locker *locker)
{
	struct file *filp = dafsd_locker_file(locker, NULL, &dafsd_all_bytes);
	struct file_lock fl;

	if (!filp)
		return;
	dafsd_lock_init(&fl, locker, filp, &dafsd_all_bytes);
	fl.fl_lmops = &dafsd_lock_ops;
	/* needs no memory, as it splits nothing */
	vfs_lock_file(filp, F_SETLK, &fl, NULL);
	dafsd_lock_forget(&fl);
}

/*
 * Those that are to survive are left to the owner.  Return: false if changes have to be undone
 * before the rest is done by dafsd_locker_left().
 */
static bool dafsd_locker_leave(struct dafsd_locker *locker, const struct inode *inode)
{
	guard(mutex)(&locker->lock);
	if (dafsd_persist_leave(locker, inode)) {
		locker->undoes = true;
		return false;
	}
	dafsd_locker_unlock(locker);
	dafsd_persist_gone(locker, inode);
	return true;
}

static void dafsd_locker_left(struct dafsd_locker *locker, const struct inode *inode)
{
	guard(mutex)(&locker->lock);
	locker->undoes = false;
	dafsd_locker_unlock(locker);
	dafsd_persist_gone(locker, inode);
}

static void dafsd_locker_close(struct dafsd_locker *locker, const struct inode *inode)
{
	guard(mutex)(&locker->lock);
	/* after CLOSE nothing is left; if it fails for what was revoked, that breaks, at worst */
	dafsd_persist_close(locker, inode);
	dafsd_locker_unlock(locker);
}

/**
 * dafsd_lock_revoked() - release the locks of an open that was revoked
 * @open: dead
 *
 * PERSIST locks are left to their owner.  Does nothing if the file system has locks of its own,
 * and so may wait, or if changes have to be undone in it first: dafsd_lock_drop() does it later.
 *
 * Context: may sleep, also for the store, but does not wait for a file system.
 */
void dafsd_lock_revoked(struct dafsd_open *open)
{
	struct dafsd_file *file = open->state.file;
	struct dafsd_locker *locker = dafsd_open_locker_of(open);

	if (file->inode->i_fop->lock)
		return;
	open->undoes = locker && !dafsd_locker_leave(locker, file->inode);
	if (open->undoes)
		return;
	/* those that wait by this open, too, and find it dead */
	if (locker)
		dafsd_lock_wake(file, &dafsd_all_bytes);
	/* what the owner locks by another open from now on is not released with this one */
	open->unlocked = true;
}

static void dafsd_lock_undo(struct dafsd_open *open, struct dafsd_locker *locker)
{
	struct dafsd_file *file = open->state.file;
	const struct file *filp = rcu_dereference_protected(open->filp, true);

	/* if that fails, requests for the file fail until it has succeeded */
	dafsd_persist_undo(file, &filp->f_path);
	dafsd_locker_left(locker, file->inode);
}

/**
 * dafsd_lock_closing() - an open is about to be closed: no restart is to find its locks
 * @open: the open, with a reference
 *
 * Context: may sleep for the store.
 * Return: as dafsd_persist_close().
 */
dafs_status_t dafsd_lock_closing(struct dafsd_open *open)
{
	struct dafsd_locker *locker = dafsd_open_locker_of(open);

	if (!locker)
		return DAFS_STATUS_OK;
	guard(mutex)(&locker->lock);
	return dafsd_persist_close(locker, open->state.file->inode);
}

static void dafsd_lock_end(struct dafsd_open *open, struct dafsd_locker *locker)
{
	if (open->undoes)
		dafsd_lock_undo(open, locker);
	else
		dafsd_locker_close(locker, open->state.file->inode);
	dafsd_lock_wake(open->state.file, &dafsd_all_bytes);
}

/**
 * dafsd_lock_drop() - release the locks of an open, if it has any
 * @open: dead, so it gets no more
 *
 * Context: may sleep, also for the file system.
 */
void dafsd_lock_drop(struct dafsd_open *open)
{
	struct dafsd_locker *locker = dafsd_open_locker_of(open);

	if (!locker)
		return;
	if (!open->unlocked)
		dafsd_lock_end(open, locker);
	/* what it, or others, have left in a file that was removed meanwhile */
	dafsd_persist_removed(open->state.file->inode);
}

/**
 * dafsd_lock_leave() - an open has no use for its lock owner any more
 * @open: unused, and nothing is locked by it: dafsd_lock_drop() was called, or it was
 *	retracted before it could be used
 *
 * Context: may sleep.
 */
void dafsd_lock_leave(struct dafsd_open *open)
{
	struct dafsd_locker *locker = open->locker;
	struct dafsd_file *file = open->state.file;
	struct dafsd_spare spare = {};
	bool last;

	if (!locker)
		return;
	spin_lock(&file->locks_lock);
	last = !--locker->nr_opens;
	if (last)
		list_del_init(&locker->file_link);
	spin_unlock(&file->locks_lock);
	mutex_lock(&locker->lock);
	if (last)
		dafsd_locker_rest(locker, &spare);
	mutex_unlock(&locker->lock);
	dafsd_spare_close(&spare);
	dafsd_locker_put(locker);
}
