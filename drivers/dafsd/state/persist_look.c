// SPDX-License-Identifier: GPL-2.0
/*
 * What requests look for in the table of PERSIST locks; see persist.c.
 */
#include <linux/exportfs.h>
#include <linux/filelock.h>
#include <linux/magic.h>
#include <linux/slab.h>
#include "../session/server.h"
#include "../session/client.h"
#include "../session/session.h"
#include "../request/request.h"
#include "persist_impl.h"

/**
 * dafsd_persist_possible() - can there be PERSIST locks in a file?
 * @inode: the file
 *
 * Its file system must have a name that lasts, and leave its locks to the kernel.  An overlay
 * makes and finds handles by those of the file system below: what fails there for a moment
 * looks like a file that was removed.
 *
 * Context: any.
 * Return: true if so.
 */
bool dafsd_persist_possible(const struct inode *inode)
{
	const struct super_block *sb = inode->i_sb;

	if (sb->s_stack_depth)
		return false;
	/* those find a file by its handle only while it is in memory */
	if (sb->s_magic == MSDOS_SUPER_MAGIC || sb->s_magic == EXFAT_SUPER_MAGIC)
		return false;
	return dafsd_server.store && !uuid_is_null(&sb->s_uuid) && !inode->i_fop->lock;
}

/**
 * dafsd_persist_identify() - what is a file known by after a restart?
 * @inode: the file
 * @file: set
 *
 * Context: may sleep.
 * Return: true, or false if its file system has no handle for it.
 */
bool dafsd_persist_identify(const struct inode *inode, struct dafsd_persist_file *file)
{
	int words = DAFSD_FID_WORDS, type;

	*file = (struct dafsd_persist_file){};
	type = exportfs_encode_inode_fh((struct inode *)inode, (struct fid *)file->fid, &words,
					NULL, 0);
	if (type <= 0 || type == FILEID_INVALID || words <= 0 || words > DAFSD_FID_WORDS)
		return false;
	file->fs = inode->i_sb->s_uuid;
	file->type = type;
	file->words = words;
	return true;
}

/**
 * dafsd_persist_find_file() - are there PERSIST locks in a file?
 * @inode: the file
 * @file: set if so, to what it is known by
 *
 * Context: may sleep; holds dafsd_persist_sem.
 * Return: true if so.
 */
bool dafsd_persist_find_file(const struct inode *inode, struct dafsd_persist_file *file)
{
	if (!dafsd_persist_nr || !dafsd_persist_possible(inode) ||
	    !dafsd_persist_identify(inode, file))
		return false;
	return dafsd_persist_first(file);
}

static bool dafsd_persist_is_by(const struct dafsd_persist *persist,
				const struct dafsd_client *client, const void *owner, u32 len)
{
	return dafsd_persist_is_of(persist, client) &&
	       dafs_opaque64_equal(&persist->verifier, &client->verifier) &&
	       persist->owner_len == len &&
	       !memcmp(persist->names + persist->id_len, owner, len);
}

/**
 * dafsd_persist_find() - PERSIST locks of an owner in a file
 * @file: the file
 * @client: the instance of a client
 * @owner: with it, the owner
 * @len: bytes of @owner
 *
 * Context: holds dafsd_persist_sem.
 * Return: the locks, or NULL.
 */
struct dafsd_persist *dafsd_persist_find(const struct dafsd_persist_file *file,
					 const struct dafsd_client *client, const void *owner,
					 u32 len)
{
	struct dafsd_persist *persist;

	for (persist = dafsd_persist_first(file); persist; persist = dafsd_persist_follow(persist))
		if (dafsd_persist_is_by(persist, client, owner, len))
			return persist;
	return NULL;
}

/**
 * dafsd_persist_obstacle() - a PERSIST lock in the way of a request
 * @file: the file
 * @range: what is to be locked, and how
 * @state: only those in this state
 * @except: not these, or NULL
 * @found: set to those that the lock is one of
 *
 * One that is broken is in the way of reading, too (E-80), whatever it was for.
 *
 * Context: holds dafsd_persist_sem.
 * Return: the lock, or NULL.
 */
struct dafsd_persist_range *dafsd_persist_obstacle(const struct dafsd_persist_file *file,
						   const struct dafsd_range *range,
						   enum dafsd_persist_phase state,
						   const struct dafsd_persist *except,
						   struct dafsd_persist **found)
{
	bool (*hinders)(const struct dafsd_persist_range *, const struct dafsd_range *) =
		state == DAFSD_PERSIST_BROKEN ? dafsd_persist_meets : dafsd_persist_conflicts;
	struct dafsd_persist *persist;
	unsigned int n;

	for (persist = dafsd_persist_first(file); persist;
	     persist = dafsd_persist_follow(persist)) {
		if (persist == except)
			continue;
		for (n = 0; n < persist->nr; n++) {
			if (persist->ranges[n].state != state ||
			    !hinders(&persist->ranges[n], range))
				continue;
			*found = persist;
			return &persist->ranges[n];
		}
	}
	return NULL;
}

/**
 * dafsd_persist_tell() - describe a lock that is in the way
 * @rq: LOCK or LOCKT; its result is set
 * @persist: the locks of an owner in a file
 * @range: one of them
 * @status: what is to be answered
 *
 * Context: may sleep for memory; holds dafsd_persist_sem.
 * Return: @status, or RESOURCE without memory.
 */
dafs_status_t dafsd_persist_tell(struct dafsd_rqst *rq, const struct dafsd_persist *persist,
				 const struct dafsd_persist_range *range, dafs_status_t status)
{
	struct dafs_lock_res *res = &rq->res.lock;
	void *owner = kmemdup(persist->names + persist->id_len, persist->owner_len, GFP_KERNEL);

	if (!owner)
		return DAFSERR_RESOURCE;
	kvfree(rq->scratch);
	rq->scratch = owner;
	*res = (struct dafs_lock_res) {
		.owner_clientid = persist->client_id,
		.owner = { .len = persist->owner_len, .data = owner },
		.offset = range->start,
		.length = range->end == OFFSET_MAX ? DAFS_LOCK_TO_EOF :
						     range->end - range->start + 1,
		.lock_type = range->type == F_WRLCK ? DAFS_WRITE_LT : DAFS_READ_LT,
	};
	rq->body = true;
	return status;
}

static dafs_status_t dafsd_persist_test_in(struct dafsd_rqst *rq,
					   const struct dafsd_persist_file *file,
					   const struct dafs_str *owner,
					   const struct dafsd_range *range)
{
	const struct dafsd_persist *undoes = dafsd_persist_undoes(file);
	const struct dafsd_persist_range *its;
	struct dafsd_persist *own, *found;

	/* it is about to go, or to be broken */
	if (undoes && dafsd_persist_is_due(undoes))
		return undoes->persists ? dafsd_persist_tell(rq, undoes, &undoes->ranges[0],
							     DAFSERR_LOCK_BROKEN) :
					  DAFS_STATUS_OK;
	own = dafsd_persist_find(file, rq->ses->client, owner->data, owner->len);
	its = dafsd_persist_obstacle(file, range, DAFSD_PERSIST_BROKEN, NULL, &found);
	if (its)
		return dafsd_persist_tell(rq, found, its, DAFSERR_LOCK_BROKEN);
	its = dafsd_persist_obstacle(file, range, DAFSD_PERSIST_LEFT, own, &found);
	return its ? dafsd_persist_tell(rq, found, its, DAFSERR_DENIED) : DAFS_STATUS_OK;
}

/**
 * dafsd_persist_test() - LOCKT: is a PERSIST lock in the way that the kernel does not know?
 * @rq: LOCKT
 * @inode: the file
 * @owner: whose locks do not count
 * @range: the lock
 *
 * It breaks nothing.
 *
 * Context: may sleep for memory.
 * Return: OK; LOCK_BROKEN or DENIED, with a description as the result; RESOURCE.
 */
dafs_status_t dafsd_persist_test(struct dafsd_rqst *rq, const struct inode *inode,
				 const struct dafs_str *owner, const struct dafsd_range *range)
{
	dafs_status_t status = DAFS_STATUS_OK;
	struct dafsd_persist_file file;
	unsigned int nofs;

	if (!READ_ONCE(dafsd_persist_nr))
		return DAFS_STATUS_OK;
	nofs = dafsd_persist_read_lock();
	if (dafsd_persist_find_file(inode, &file))
		status = dafsd_persist_test_in(rq, &file, owner, range);
	dafsd_persist_read_unlock(nofs);
	return status;
}

/* Are there before-images of a lock in the file, also of one that has just ended? */
static bool dafsd_persist_any_undo(const struct dafsd_persist_file *file)
{
	const struct dafsd_persist *persist;

	for (persist = dafsd_persist_first(file); persist; persist = dafsd_persist_follow(persist))
		if (persist->undo)
			return true;
	return false;
}

/*
 * Is a byte of the range broken?  If I/O has nothing to look at in all the file, the next one
 * need not look.  Return: OK; STALE_STATEID if it is; DELAY if changes have to be undone first.
 */
static dafs_status_t dafsd_persist_look(struct dafsd_file *file, const struct dafsd_range *range)
{
	const struct dafsd_range all = { .type = F_WRLCK, .end = OFFSET_MAX };
	struct dafsd_persist *undoes = NULL, *found;
	struct dafsd_persist_file at;
	bool any = dafsd_persist_find_file(file->inode, &at);

	if (any)
		undoes = dafsd_persist_undoes(&at);
	if (undoes)
		return dafsd_persist_is_due(undoes) ? DAFSERR_DELAY : DAFS_STATUS_OK;
	if (!any || !dafsd_persist_obstacle(&at, &all, DAFSD_PERSIST_BROKEN, NULL, &found)) {
		if (!READ_ONCE(file->undone) && (!any || !dafsd_persist_any_undo(&at)))
			WRITE_ONCE(file->unbroken, dafsd_persist_breaks);
		return DAFS_STATUS_OK;
	}
	return dafsd_persist_obstacle(&at, range, DAFSD_PERSIST_BROKEN, NULL, &found) ?
		       DAFSERR_STALE_STATEID : DAFS_STATUS_OK;
}

/**
 * dafsd_persist_broken() - are bytes of a file broken, as far as is known now?
 * @file: the file
 * @special: without an open (E-79)
 * @offset: first byte
 * @length: bytes; DAFS_LOCK_TO_EOF for all; or none
 *
 * Context: may sleep.
 * Return: OK; else LOCKED without an open, and STALE_STATEID by one; DELAY if there is something
 * to undo first.
 */
dafs_status_t dafsd_persist_broken(struct dafsd_file *file, bool special, u64 offset, u64 length)
{
	struct dafsd_range range = { .type = F_WRLCK, .start = min_t(u64, offset, OFFSET_MAX) };
	dafs_status_t status;
	unsigned int nofs;

	if (!length)
		return DAFS_STATUS_OK;
	range.end = length - 1 > OFFSET_MAX - range.start ? OFFSET_MAX : range.start + length - 1;
	nofs = dafsd_persist_read_lock();
	status = dafsd_persist_look(file, &range);
	dafsd_persist_read_unlock(nofs);
	return status == DAFSERR_STALE_STATEID && special ? DAFSERR_LOCKED : status;
}

/**
 * dafsd_persist_check() - are bytes of a file broken?  See dafsd_persist_io()
 * @file: the file
 * @path: likewise
 * @special: without an open (E-79)
 * @offset: first byte
 * @length: bytes; DAFS_LOCK_TO_EOF for all; or none
 *
 * Context: may sleep; does not hold dafsd_file.append.
 * Return: as dafsd_persist_broken(), or dafsd_persist_undo().
 */
dafs_status_t dafsd_persist_check(struct dafsd_file *file, const struct path *path, bool special,
				  u64 offset, u64 length)
{
	dafs_status_t status = dafsd_persist_broken(file, special, offset, length);

	if (status != DAFSERR_DELAY)
		return status;
	return dafsd_persist_undo(file, path) ?:
	       dafsd_persist_broken(file, special, offset, length);
}

/**
 * dafsd_persist_any() - has anybody a PERSIST lock in a file?
 * @inode: the file
 *
 * Context: may sleep.
 * Return: true if so, or if somebody has left one.
 */
bool dafsd_persist_any(const struct inode *inode)
{
	struct dafsd_persist_file file;
	unsigned int nofs;
	bool any;

	if (!READ_ONCE(dafsd_persist_nr))
		return false;
	nofs = dafsd_persist_read_lock();
	any = dafsd_persist_find_file(inode, &file);
	dafsd_persist_read_unlock(nofs);
	return any;
}
