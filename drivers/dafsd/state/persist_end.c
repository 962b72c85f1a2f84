// SPDX-License-Identifier: GPL-2.0
/*
 * The ends of PERSIST locks: unlocked, closed, left by their owner, broken with their client,
 * or removed with their file; see persist.c.
 */
#include <linux/buffer_head.h>
#include <linux/exportfs.h>
#include <linux/filelock.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/mount.h>
#include <linux/unaligned.h>
#include "../session/server.h"
#include "../session/client.h"
#include "../session/trace.h"
#include "../export/export.h"
#include "../store/store.h"
#include "persist_impl.h"

/*
 * Another instance of its client is there.  What has a locker still is broken when that lets go.
 *
 * Return: true if it was not broken before.
 */
static bool dafsd_persist_replace(struct dafsd_persist *persist)
{
	bool undoes = dafsd_persist_undo_of(persist);
	enum dafsd_persist_phase to = undoes ? DAFSD_PERSIST_UNDOING : DAFSD_PERSIST_BROKEN;
	bool broken = false;
	unsigned int n;

	/* requests of it may be executed still */
	if (persist->locker) {
		persist->outlived = true;
		return false;
	}
	for (n = 0; n < persist->nr; n++) {
		if (persist->ranges[n].state != DAFSD_PERSIST_HELD &&
		    persist->ranges[n].state != DAFSD_PERSIST_LEFT)
			continue;
		dafsd_persist_move(&persist->ranges[n], to);
		broken = true;
	}
	if (!broken)
		return false;
	if (!undoes)
		dafsd_persist_log(persist, "its client has restarted");
	/* a record that is not written now is of another instance after a restart, too */
	dafsd_persist_save(persist);
	return true;
}

/**
 * dafsd_persist_let_go() - a lock owner has none of its locks in a file HELD any more
 * @own: they; what is LEFT of them is broken if another instance of its client is there
 *
 * Context: may sleep for memory; holds dafsd_persist_sem exclusively.
 */
void dafsd_persist_let_go(struct dafsd_persist *own)
{
	own->locker = NULL;
	/* need not be durable: after a restart it is found that another instance is there */
	if (own->outlived && dafsd_persist_replace(own))
		dafsd_persist_undo_later();
}

/*
 * Take bytes from their owner.  Return: 0; 1 if a record was changed; -ENOMEM or -ENOSPC if it
 * could not be, which is made up for next time.
 */
static int dafsd_persist_give_up(struct dafsd_persist *own, loff_t start, loff_t end, bool held)
{
	int err;

	if (!dafsd_persist_cut(own, start, end, held) && !own->unsaved)
		return 0;
	if (!dafsd_persist_holds_any(own))
		dafsd_persist_let_go(own);
	err = dafsd_persist_save(own);
	return err ?: 1;
}

/**
 * dafsd_persist_sync() - wait until changes in a file are durable
 * @file: the file
 * @stamp: dafsd_persist_stamp after them
 *
 * Context: may sleep for the store.
 * Return: 0 or the error of the store.
 */
int dafsd_persist_sync(const struct dafsd_persist_file *file, unsigned long stamp)
{
	int err = dafsd_store_sync(dafsd_server.store);

	dafsd_persist_tidy(file, stamp, !err);
	return err;
}

static dafs_status_t dafsd_persist_unlock_own(const struct dafsd_locker *locker,
					      const struct dafsd_persist_file *file,
					      const struct dafsd_range *range, bool *changed)
{
	struct dafsd_persist *own = dafsd_persist_find(file, locker->client, locker->owner,
						       locker->owner_len);
	int ret;

	if (!own)
		return DAFS_STATUS_OK;
	if (own->locker && own->locker != locker)
		return DAFSERR_DELAY;
	if (dafsd_persist_undo_of(own) && !dafsd_range_is_all(range))
		return DAFSERR_LOCK_RANGE;
	/* what it has written is being undone, so that it cannot stay */
	if (own->nr && own->ranges[0].state == DAFSD_PERSIST_UNDOING)
		return DAFSERR_IO;
	if (dafsd_persist_splits(own, range->start, range->end) &&
	    dafsd_persist_reserve(own, 1, false))
		return DAFSERR_RESOURCE;
	ret = dafsd_persist_give_up(own, range->start, range->end, false);
	/* what is gone may not be so durably, if that has failed before */
	*changed = ret || !own->nr || own->undo;
	return ret < 0 ? DAFSERR_RESOURCE : DAFS_STATUS_OK;
}

/**
 * dafsd_persist_unlock() - LOCKU: an owner is about to unlock bytes in the kernel
 * @locker: the owner
 * @inode: the file
 * @range: the bytes
 *
 * Context: may sleep for the store; holds dafsd_locker.lock.
 * Return: OK; LOCK_RANGE for a part of an AUTORECOVERY lock; RESOURCE; DELAY; IO if the store
 * cannot be written, or changes under the lock are being undone: it must not be unlocked.
 */
dafs_status_t dafsd_persist_unlock(const struct dafsd_locker *locker, const struct inode *inode,
				   const struct dafsd_range *range)
{
	dafs_status_t status = DAFS_STATUS_OK;
	struct dafsd_persist_file file;
	bool changed = false;
	unsigned long stamp;
	unsigned int nofs;

	/* an owner gets none meanwhile, so most files need no more than a look */
	if (!dafsd_persist_any(inode))
		return DAFS_STATUS_OK;
	nofs = dafsd_persist_write_lock();
	if (dafsd_persist_find_file(inode, &file))
		status = dafsd_persist_unlock_own(locker, &file, range, &changed);
	stamp = dafsd_persist_stamp;
	dafsd_persist_write_unlock(nofs);
	if (changed && dafsd_persist_sync(&file, stamp))
		return DAFSERR_IO;
	return status;
}

/**
 * dafsd_persist_of_locker() - what an owner has locked by its present opens
 * @locker: the owner; a new open of the same one may have others
 * @inode: the file
 * @file: set to what it is known by, if there are PERSIST locks in it
 *
 * Context: may sleep; holds dafsd_persist_sem.
 * Return: its locks, or NULL.
 */
struct dafsd_persist *dafsd_persist_of_locker(const struct dafsd_locker *locker,
					      const struct inode *inode,
					      struct dafsd_persist_file *file)
{
	struct dafsd_persist *own;

	if (!dafsd_persist_find_file(inode, file))
		return NULL;
	own = dafsd_persist_find(file, locker->client, locker->owner, locker->owner_len);
	return own && own->locker == locker ? own : NULL;
}

/**
 * dafsd_persist_close() - an open is being closed, and its locks end (E-83)
 * @locker: their owner
 * @inode: the file
 *
 * What it has written under an AUTORECOVERY lock is permanent after that.
 *
 * Context: may sleep for the store; holds dafsd_locker.lock.
 * Return: OK; RESOURCE, or IO if the store cannot be written: a restart may find the locks still.
 * Nobody gets a lock of the file before it is written; to be called once more then.
 */
dafs_status_t dafsd_persist_close(const struct dafsd_locker *locker, const struct inode *inode)
{
	struct dafsd_persist *own = NULL;
	struct dafsd_persist_file file;
	bool changed = false;
	unsigned long stamp;
	unsigned int nofs;
	int ret = 0;

	if (!dafsd_persist_any(inode))
		return DAFS_STATUS_OK;
	nofs = dafsd_persist_write_lock();
	if (dafsd_persist_find_file(inode, &file))
		own = dafsd_persist_find(&file, locker->client, locker->owner, locker->owner_len);
	/* all bytes: nothing is split */
	if (own && (!own->locker || own->locker == locker)) {
		ret = dafsd_persist_give_up(own, 0, OFFSET_MAX, true);
		/* what is gone may not be so durably, if that has failed before */
		changed = ret || !own->nr;
	}
	stamp = dafsd_persist_stamp;
	dafsd_persist_write_unlock(nofs);
	if (changed && dafsd_persist_sync(&file, stamp))
		return DAFSERR_IO;
	return ret < 0 ? DAFSERR_RESOURCE : DAFS_STATUS_OK;
}

static void dafsd_persist_leave_all(struct dafsd_persist *own)
{
	unsigned int n;

	for (n = 0; n < own->nr; n++)
		if (own->ranges[n].state == DAFSD_PERSIST_HELD)
			dafsd_persist_move(&own->ranges[n], DAFSD_PERSIST_LEFT);
	trace_dafsd_persist(own->number, "left");
}

/* A client that will reclaim it when the server is back has not lost it. */
static bool dafsd_persist_leave_undo(struct dafsd_persist *own)
{
	if (!dafsd_persist_undo_of(own) || own->persists || own->locker->client->keeps_record)
		return false;
	if (own->ranges[0].state == DAFSD_PERSIST_LEFT) {
		dafsd_persist_move(&own->ranges[0], DAFSD_PERSIST_UNDOING);
		dafsd_persist_save(own);
	}
	return true;
}

/**
 * dafsd_persist_leave() - an open was revoked, and its locks are left
 * @locker: their owner
 * @inode: the file
 *
 * Their owner can reclaim them after dafsd_persist_gone().
 *
 * Context: may sleep; holds dafsd_locker.lock, and nothing is unlocked in the kernel yet.
 * Return: true if changes have to be undone before that is done.
 */
bool dafsd_persist_leave(const struct dafsd_locker *locker, const struct inode *inode)
{
	struct dafsd_persist_file file;
	struct dafsd_persist *own;
	bool undoes = false;
	unsigned int nofs;

	if (!READ_ONCE(dafsd_persist_nr))
		return false;
	nofs = dafsd_persist_write_lock();
	own = dafsd_persist_of_locker(locker, inode, &file);
	if (own) {
		dafsd_persist_leave_all(own);
		undoes = dafsd_persist_leave_undo(own);
	}
	dafsd_persist_write_unlock(nofs);
	return undoes;
}

/* Put those that are HELD before the others.  Return: how many they are */
static unsigned int dafsd_persist_held_first(struct dafsd_persist *persist)
{
	unsigned int n, held = 0;

	for (n = 0; n < persist->nr; n++) {
		if (persist->ranges[n].state != DAFSD_PERSIST_HELD)
			continue;
		swap(persist->ranges[held], persist->ranges[n]);
		held++;
	}
	return held;
}

/**
 * dafsd_persist_forget_left() - forget the locks that are not HELD
 * @persist: the locks of an owner in a file; if none are left, dafsd_persist_tidy() removes it
 *
 * Context: may sleep for memory; holds dafsd_persist_sem exclusively.
 * Return: 0; -EBUSY if all are HELD; -ENOENT if there are none; -ENOMEM or -ENOSPC if the others
 * could not be saved: then nothing is forgotten.
 */
int dafsd_persist_forget_left(struct dafsd_persist *persist)
{
	unsigned int nr = persist->nr, held = dafsd_persist_held_first(persist);
	int err;

	if (held == nr)
		return held ? -EBUSY : -ENOENT;
	persist->nr = held;
	err = dafsd_persist_save(persist);
	if (err) {
		persist->nr = nr;
		return err;
	}
	trace_dafsd_persist(persist->number, "forgotten");
	return 0;
}

/* Its file does not exist any more, and that is durable, so it does not matter when this is. */
static void dafsd_persist_forget_in(const struct dafsd_persist_file *file)
{
	struct dafsd_persist *persist, *next;

	for (persist = dafsd_persist_first(file); persist; persist = next) {
		next = dafsd_persist_follow(persist);
		dafsd_persist_forget_left(persist);
		/* also one that was left behind when the store could not be written */
		if (!persist->nr)
			dafsd_persist_drop(persist);
	}
}

static void dafsd_persist_forget_file(const struct dafsd_persist_file *file)
{
	unsigned int nofs = dafsd_persist_write_lock();

	dafsd_persist_forget_in(file);
	dafsd_persist_write_unlock(nofs);
}

/* The superblock of ext2, ext3 and ext4: where it begins, and what is at which offset in it */
#define DAFSD_EXT_SUPER		1024
#define DAFSD_EXT_MAGIC		0x38
#define DAFSD_EXT_STATE		0x3a
#define DAFSD_EXT_HAS_ERRORS	0x0002

/* It has not found any error in itself, as far as it was looked at, since fsck */
static bool dafsd_persist_ext_is_sound(struct super_block *sb)
{
	struct buffer_head *bh = sb_bread(sb, DAFSD_EXT_SUPER / sb->s_blocksize);
	const u8 *super;
	bool sound;

	if (!bh)
		return false;
	super = (u8 *)bh->b_data + DAFSD_EXT_SUPER % sb->s_blocksize;
	sound = get_unaligned_le16(super + DAFSD_EXT_MAGIC) == EXT4_SUPER_MAGIC &&
		!(get_unaligned_le16(super + DAFSD_EXT_STATE) & DAFSD_EXT_HAS_ERRORS);
	brelse(bh);
	return sound;
}

/*
 * When this returns 0, what was removed in a file system until now is not there after a crash.
 * Syncing the file, or a directory, would not do: the server does not know which names it had, and
 * btrfs does nothing for a file without a name.
 */
static int dafsd_persist_settle_fs(struct super_block *sb)
{
	int err = -EROFS;

	down_read(&sb->s_umount);
	if (!sb_rdonly(sb))
		err = sync_filesystem(sb);
	/* ext4 writes nothing after an error, and does not tell */
	if (!err && sb->s_magic == EXT4_SUPER_MAGIC && !dafsd_persist_ext_is_sound(sb))
		err = -EIO;
	up_read(&sb->s_umount);
	return err;
}

/* Is there something to be forgotten?  What is HELD stays. */
static bool dafsd_persist_any_left(const struct dafsd_persist_file *file)
{
	unsigned int n, nofs = dafsd_persist_read_lock();
	const struct dafsd_persist *persist;
	bool left = false;

	for (persist = dafsd_persist_first(file); persist && !left;
	     persist = dafsd_persist_follow(persist)) {
		left = !persist->nr;
		for (n = 0; n < persist->nr; n++)
			left |= persist->ranges[n].state != DAFSD_PERSIST_HELD;
	}
	dafsd_persist_read_unlock(nofs);
	return left;
}

/* A file that was made without a name may get one. */
static bool dafsd_persist_has_name(struct inode *inode)
{
	return READ_ONCE(inode->i_nlink) || (READ_ONCE(inode->i_state) & I_LINKABLE);
}

/**
 * dafsd_persist_gone() - what was left is not locked in the kernel any more
 * @locker: its owner
 * @inode: the file
 *
 * Context: may sleep; holds dafsd_locker.lock.
 */
void dafsd_persist_gone(const struct dafsd_locker *locker, const struct inode *inode)
{
	struct dafsd_persist_file file;
	struct dafsd_persist *own;
	unsigned int nofs;

	if (!READ_ONCE(dafsd_persist_nr))
		return;
	nofs = dafsd_persist_write_lock();
	own = dafsd_persist_of_locker(locker, inode, &file);
	if (own)
		dafsd_persist_let_go(own);
	dafsd_persist_write_unlock(nofs);
}

/**
 * dafsd_persist_removed() - a name of a file was removed, or an open of it has ended
 * @inode: the file
 *
 * If the file has no name left, no client can repair it, and locks that are not HELD are forgotten.
 * Before that the removal is made durable: otherwise the file could be there again after a crash,
 * without a sign that it is broken.
 *
 * Context: may sleep for the file system; the caller has a reference to the inode, and no locks.
 */
void dafsd_persist_removed(struct inode *inode)
{
	struct dafsd_persist_file file;

	if (dafsd_persist_has_name(inode) || !dafsd_persist_any(inode) ||
	    !dafsd_persist_identify(inode, &file) || !dafsd_persist_any_left(&file) ||
	    dafsd_persist_settle_fs(inode->i_sb) || dafsd_persist_has_name(inode))
		return;
	dafsd_persist_forget_file(&file);
}

/**
 * dafsd_persist_replaced() - an instance of a client has authenticated
 * @client: the client; what other instances of it have left is broken (4.4.1.5)
 *
 * Context: may sleep for the store; the state of other instances was released, or just is.
 */
void dafsd_persist_replaced(const struct dafsd_client *client)
{
	struct dafsd_persist *persist;
	bool changed = false;
	unsigned int nofs;

	/* without a store they are just being loaded; dafsd_records_greet() comes afterwards */
	if (!READ_ONCE(dafsd_persist_nr) || !READ_ONCE(dafsd_server.store))
		return;
	nofs = dafsd_persist_write_lock();
	hlist_for_each_entry(persist, dafsd_persist_of_client(client->id, client->id_len),
			     client_link) {
		/* it may have been replaced itself meanwhile */
		if (dafsd_client_is_discarded(client))
			break;
		if (dafsd_persist_is_of(persist, client) &&
		    !dafs_opaque64_equal(&persist->verifier, &client->verifier))
			changed |= dafsd_persist_replace(persist);
	}
	dafsd_persist_write_unlock(nofs);
	if (!changed)
		return;
	dafsd_store_sync(dafsd_server.store);
	dafsd_persist_undo_later();
}

/**
 * dafsd_persist_binds() - would the end of its lease break a lock of a client, or undo changes?
 * @client: the client
 *
 * Context: may sleep for memory.
 * Return: true if it has a PERSIST or an AUTORECOVERY lock.
 */
bool dafsd_persist_binds(const struct dafsd_client *client)
{
	const struct dafsd_persist *persist;
	bool binds = false;
	unsigned int nofs;

	if (!READ_ONCE(dafsd_persist_nr))
		return false;
	nofs = dafsd_persist_read_lock();
	hlist_for_each_entry(persist, dafsd_persist_of_client(client->id, client->id_len),
			     client_link)
		binds |= dafsd_persist_is_of(persist, client) &&
			 dafs_opaque64_equal(&persist->verifier, &client->verifier) &&
			 (dafsd_persist_holds_any(persist) || dafsd_persist_undo_of(persist));
	dafsd_persist_read_unlock(nofs);
	return binds;
}

static int dafsd_persist_any_dentry(void *context, struct dentry *dentry)
{
	return true;
}

/**
 * dafsd_persist_is_removed() - was a file certainly removed, while this server did not see it?
 * @sb: its file system
 * @err: of dafsd_persist_lookup()
 *
 * ESTALE does not tell that by itself: XFS has it for an inode that it cannot read because it is
 * damaged, and other file systems may have it for a while.  ext4 and those before it have it for
 * an inode that is free or has another generation, and errors of their own for what is wrong; but
 * what a file system with errors takes for free may be one of them.  One that is read-only may be
 * so because of errors; nothing is lost by waiting.
 *
 * Context: any.
 * Return: true if so.
 */
bool dafsd_persist_is_removed(struct super_block *sb, int err)
{
	if (err != -ESTALE)
		return false;
	return sb->s_magic == EXT4_SUPER_MAGIC && !sb_rdonly(sb) && dafsd_persist_ext_is_sound(sb);
}

/**
 * dafsd_persist_lookup() - an object by what it is known by after a restart
 * @exp: an export of its file system
 * @file: that
 *
 * Context: may sleep for the file system.
 * Return: the object, with a reference; NULL or an ERR_PTR if it is not found: -ESTALE if it does
 * not exist, but see dafsd_persist_is_removed().
 */
struct dentry *dafsd_persist_lookup(const struct dafsd_export *exp,
				    const struct dafsd_persist_file *file)
{
	struct fid *fid = (struct fid *)file->fid;

	return exportfs_decode_fh_raw(exp->path.mnt, fid, file->words, file->type, 0,
				      dafsd_persist_any_dentry, NULL);
}

/* Return: true if there are changes in the file that should be undone. */
static bool dafsd_persist_tell_lost(const struct dafsd_persist_file *file, int err)
{
	unsigned int nofs = dafsd_persist_write_lock();
	struct dafsd_persist *persist;
	bool due = false;

	for (persist = dafsd_persist_first(file); persist;
	     persist = dafsd_persist_follow(persist)) {
		due |= dafsd_persist_undo_of(persist) && dafsd_persist_is_due(persist);
		if (!persist->lost)
			pr_warn_ratelimited("dafsd: a file that client %*pE has locked is not found, and may have been removed; record %llu of it is kept: %pe\n",
					    (int)min(persist->id_len, 64U), persist->names,
					    persist->number, ERR_PTR(err));
		persist->lost = true;
	}
	dafsd_persist_write_unlock(nofs);
	return due;
}

/* It may be found later, or the administrator knows better. */
static void dafsd_persist_keep_file(const struct dafsd_persist_file *file, int err)
{
	if (dafsd_persist_tell_lost(file, err))
		dafsd_persist_undo_again();
}

static void dafsd_persist_undo_in(const struct dafsd_export *exp, struct dentry *dentry)
{
	const struct path path = { .mnt = exp->path.mnt, .dentry = dentry };
	struct dafsd_file *file = dafsd_file_get(d_inode(dentry));

	if (!file)
		return;
	dafsd_persist_undo(file, &path);
	dafsd_file_put(file);
}

static void dafsd_persist_serve_file(const struct dafsd_export *exp,
				     struct dafsd_persist_file *file)
{
	struct dentry *dentry = dafsd_persist_lookup(exp, file);
	struct super_block *sb = exp->path.mnt->mnt_sb;

	if (!IS_ERR_OR_NULL(dentry)) {
		dafsd_persist_undo_in(exp, dentry);
		dput(dentry);
	} else if (dafsd_persist_is_removed(sb, PTR_ERR(dentry)) && !dafsd_persist_settle_fs(sb)) {
		dafsd_persist_forget_file(file);
	} else {
		dafsd_persist_keep_file(file, PTR_ERR(dentry) ?: -ESTALE);
	}
}

/**
 * dafsd_persist_serve_next() - look at the next file of an export that has PERSIST locks
 * @exp: the export
 * @place: zeroed before the first call
 * @due: only at those in which changes have to be undone
 *
 * As dafsd_persist_serve(), which does so for all of them.
 *
 * Context: may sleep for the file system; with the credential of the server.
 * Return: false after the last one.
 */
bool dafsd_persist_serve_next(const struct dafsd_export *exp, struct dafsd_persist_place *place,
			      bool due)
{
	const uuid_t *fs = &exp->path.mnt->mnt_sb->s_uuid;
	struct dafsd_persist_file file;

	if (uuid_is_null(fs) || !dafsd_persist_walk(place, fs, due, &file))
		return false;
	dafsd_persist_serve_file(exp, &file);
	cond_resched();
	return true;
}

/**
 * dafsd_persist_serve() - an export is, or may be about to be, enabled
 * @exp: the export; PERSIST locks of its files that certainly do not exist any more are forgotten,
 *	and what has to be undone in others is undone
 *
 * Context: may sleep for its file system.
 */
void dafsd_persist_serve(const struct dafsd_export *exp)
{
	struct dafsd_persist_place place = {};
	const struct cred *saved = dafsd_act_as_server();

	while (dafsd_persist_serve_next(exp, &place, false))
		;
	revert_creds(saved);
}
