// SPDX-License-Identifier: GPL-2.0
/*
 * OPEN: makes an open, or extends the one that the owner has (4.4.1.2, 6.5.24).
 *
 * A struct dafsd_open is the open of a file by one owner of one client with one
 * filehandle.  Its lookup and lifetime are in state.c, what it denies to others in share.c,
 * its open file in filp.c, I/O by it in use.c.
 *
 * Order of locks: dafsd_file.gate; write access to the file system; lock of a
 * directory, dafsd_file.lock, lock of the file's inode; lock of the table of opens,
 * dafsd_client.lock.
 */
#include <linux/filelock.h>
#include <linux/slab.h>
#include <linux/dafs/status.h>
#include "../session/client.h"
#include "../session/session.h"
#include "../export/export.h"
#include "../request/request.h"
#include "../vfs/fh.h"
#include "../vfs/vfs.h"
#include "open_impl.h"

static bool dafsd_open_is_by(const struct dafsd_open *open, const struct dafsd_client *client,
			     const struct dafs_str *owner, const struct dafs_fh *wire)
{
	return open->client == client && !READ_ONCE(open->dead) &&
	       open->owner_len == owner->len &&
	       !memcmp(open->owner, owner->data, owner->len) &&
	       !memcmp(&open->wire, wire, sizeof(*wire));
}

/* The existing open of the owner with this filehandle (8.10 of 4.4.1.2), or NULL */
static struct dafsd_open *dafsd_open_own(const struct dafsd_file *file,
					 const struct dafsd_rqst *rq, const struct dafs_fh *wire)
{
	struct dafsd_open *open;

	list_for_each_entry(open, &file->opens, file_link)
		if (dafsd_open_is_by(open, rq->ses->client, &rq->args.open.owner, wire))
			return open;
	return NULL;
}

static void dafsd_open_free(struct dafsd_open *open)
{
	struct file *filp = rcu_dereference_protected(open->filp, true);

	if (filp) {
		/* before the reference is dropped: I/O may be reading the pointer */
		RCU_INIT_POINTER(open->filp, NULL);
		dafsd_open_done(filp);
	}
	if (open->file)
		dafsd_file_put(open->file);
	dafsd_state_end(open);
	/* the export keeps the file system mounted, so its reference is dropped last */
	if (open->exp)
		dafsd_export_put(open->exp);
	kfree_rcu(open, rcu);
}

/**
 * dafsd_open_dismantle() - release the reservations of an open and free it
 * @open: the open; the caller has claimed it, so no other task finds it
 *
 * Context: may sleep.
 */
void dafsd_open_dismantle(struct dafsd_open *open)
{
	struct dafsd_file *file = open->file;

	mutex_lock(&file->lock);
	dafsd_share_drop(open);
	mutex_unlock(&file->lock);
	dafsd_open_free(open);
}

/**
 * dafsd_open_reserve() - allocate an open for a request
 * @rq: OPEN; rq->open is set
 *
 * This is done before a file is created or truncated for the open, so that the open cannot
 * fail for lack of resources after that.  dafsd_open_unreserve() frees an unused open.
 *
 * Context: may sleep.
 * Return: OK or RESOURCE.
 */
u32 dafsd_open_reserve(struct dafsd_rqst *rq)
{
	const struct dafs_str *owner = &rq->args.open.owner;
	struct dafsd_open *open;
	u32 status;

	if (rq->open)
		return DAFS_STATUS_OK;
	open = kzalloc(struct_size(open, owner, owner->len), GFP_KERNEL);
	if (!open)
		return DAFSERR_RESOURCE;
	open->dead = true;
	open->client = rq->ses->client;
	open->owner_len = owner->len;
	memcpy(open->owner, owner->data, owner->len);
	status = dafsd_state_reserve(open);
	if (status)
		kfree(open);
	else
		rq->open = open;
	return status;
}

/**
 * dafsd_open_unreserve() - free the open of dafsd_open_reserve() if it was not used
 * @rq: OPEN
 *
 * Context: may sleep.
 */
void dafsd_open_unreserve(struct dafsd_rqst *rq)
{
	struct dafsd_open *open = rq->open;

	rq->open = NULL;
	if (!open)
		return;
	dafsd_state_cancel(open);
	dafsd_open_free(open);
}

static void dafsd_open_fill(struct dafsd_open *open, const struct dafsd_fh *fh,
			    const struct dafs_fh *wire, struct dafsd_file *file,
			    struct dafsd_opening *opening)
{
	RCU_INIT_POINTER(open->filp, opening->filp);
	opening->filp = NULL;
	dafsd_file_hold(file);
	open->file = file;
	open->inode = file->inode;
	open->exp = fh->exp;
	kref_get(&fh->exp->ref);
	open->wire = *wire;
}

/* Free an open that could not be published; its file is closed later, without the lock. */
static void dafsd_open_unfill(struct dafsd_open *open, struct dafsd_opening *opening)
{
	opening->filp = rcu_replace_pointer(open->filp, NULL,
					    lockdep_is_held(&open->file->lock));
	dafsd_share_drop(open);
	dafsd_open_free(open);
}

/*
 * Leases of local programs on the file are broken first.  This is the last step of an
 * open: if the open failed later, an empty file would be left behind.
 */
static u32 dafsd_open_truncate(struct dafsd_rqst *rq, const struct dafsd_fh *fh)
{
	struct inode *inode = dafsd_fh_inode(fh);
	u32 status;
	u64 done;

	status = dafs_errno_to_status(break_lease(inode, O_WRONLY | O_NONBLOCK));
	if (!status)
		status = dafsd_fattr_set(fh->dentry, &rq->args.open.createattrs,
					 DAFS_FATTR_OBJECT_SIZE, &done);
	return status;
}

static u32 dafsd_open_new(struct dafsd_rqst *rq, const struct dafsd_fh *fh,
			  const struct dafs_fh *wire, struct dafsd_file *file,
			  unsigned int flags, struct dafsd_opening *opening,
			  struct dafs_state_id *state_id)
{
	u32 status = dafsd_open_reserve(rq);
	struct dafsd_open *open = rq->open;

	if (status || !dafsd_opening_fits(opening, rq->args.open.share_access, current_cred()))
		return status;
	rq->open = NULL;
	opening->made = true;
	dafsd_open_fill(open, fh, wire, file, opening);
	list_add_tail(&open->file_link, &file->opens);
	dafsd_share_take(open, &rq->args.open);
	status = dafsd_state_publish(open, state_id);
	if (!status && (flags & DAFSD_OPEN_TRUNCATE)) {
		status = dafsd_open_truncate(rq, fh);
		/* a task that has claimed it in the meantime frees it, after file->lock */
		if (status && !dafsd_state_retract(open))
			return status;
	}
	if (status)
		dafsd_open_unfill(open, opening);
	return status;
}

static u32 dafsd_open_merge(struct dafsd_rqst *rq, const struct dafsd_fh *fh,
			    struct dafsd_open *open, unsigned int flags,
			    struct dafsd_opening *opening, struct dafs_state_id *state_id)
{
	u32 access = open->access | rq->args.open.share_access;
	bool replace = access != open->access;
	u32 status = DAFS_STATUS_OK;

	opening->wanted = 0;
	if (replace && !dafsd_opening_fits(opening, access, current_cred()))
		return DAFS_STATUS_OK;
	if (flags & DAFSD_OPEN_TRUNCATE)
		status = dafsd_open_truncate(rq, fh);
	if (status)
		return status;
	if (replace)
		dafsd_open_replace(open, opening);
	dafsd_share_take(open, &rq->args.open);
	dafsd_state_of(open, state_id);
	return DAFS_STATUS_OK;
}

static u32 dafsd_open_add_locked(struct dafsd_rqst *rq, const struct dafsd_fh *fh,
				 const struct dafs_fh *wire, unsigned int flags,
				 struct dafsd_file *file, struct dafsd_opening *opening,
				 struct dafs_state_id *state_id)
{
	const struct dafs_open_args *args = &rq->args.open;
	struct dafsd_open *own = dafsd_open_own(file, rq, wire);
	u32 access = args->share_access;
	u32 status;
	int err;

	/* removed between the lookup of the name and taking the lock */
	if ((flags & DAFSD_OPEN_BY_NAME) && d_unlinked(fh->dentry))
		return DAFSERR_DELAY;
	if (flags & DAFSD_OPEN_TRUNCATE)
		access |= DAFS_OPEN_SHARE_ACCESS_WRITE;
	err = dafsd_file_permission(file->inode, access, flags);
	if (err)
		return dafs_errno_to_status(err);
	status = dafsd_share_check(file, own, access, args->share_deny);
	if (!status)
		status = dafsd_share_check_key(file, args);
	if (status)
		return status;
	if (own)
		return dafsd_open_merge(rq, fh, own, flags, opening, state_id);
	return dafsd_open_new(rq, fh, wire, file, flags, opening, state_id);
}

/*
 * Before a reservation is granted, wait for I/O without an open.  That I/O may wait for a
 * file system that is being frozen, and freezing waits until write access is dropped.  So
 * drop write access before waiting.  It is only taken again to empty the file, which has
 * not been changed so far: if that fails because the export or the mount has become
 * read-only, nothing is left of the OPEN.
 */
static u32 dafsd_open_exclude(struct dafsd_fh *fh, struct dafsd_file *file, unsigned int flags)
{
	dafsd_fh_drop_write(fh);
	down_write(&file->gate);
	return flags & DAFSD_OPEN_TRUNCATE ? dafsd_fh_want_write(fh) : DAFS_STATUS_OK;
}

static u32 dafsd_open_add_once(struct dafsd_rqst *rq, struct dafsd_fh *fh,
			       const struct dafs_fh *wire, unsigned int flags,
			       struct dafsd_file *file, struct dafsd_opening *opening,
			       struct dafs_state_id *state_id)
{
	u32 status = dafsd_opening_open(opening, fh);
	bool denies = rq->args.open.share_deny;

	if (status)
		return status;
	if (denies)
		status = dafsd_open_exclude(fh, file, flags);
	if (!status) {
		mutex_lock(&file->lock);
		status = dafsd_open_add_locked(rq, fh, wire, flags, file, opening, state_id);
		mutex_unlock(&file->lock);
	}
	if (denies)
		up_write(&file->gate);
	return status;
}

/* If this fails, the client gets no state-id, so a new open is removed again. */
static u32 dafsd_open_commit(struct dafsd_rqst *rq, const struct dafsd_fh *fh, bool made,
			     const struct dafs_state_id *state_id)
{
	int err = dafsd_commit_metadata(fh->exp, fh->dentry);
	struct dafsd_open *open;

	if (err && made &&
	    !dafsd_state_claim(rq->ses->client, state_id, dafsd_fh_inode(fh), &open))
		dafsd_open_dismantle(open);
	return dafs_errno_to_status(err);
}

/**
 * dafsd_open_add() - open a file, or extend the existing open of the owner (6.5.24)
 * @rq: OPEN; rq->args.open has been checked
 * @fh: a regular file
 * @wire: its filehandle
 * @flags: DAFSD_OPEN_*
 * @state_id: set
 *
 * A reservation is granted after all I/O without an open has ended.  The access mode of
 * the file is determined with file->lock held, but the file is opened without it.  So a
 * second pass may be needed; it finds the right file, unless the owner has changed the
 * open in the meantime.
 *
 * Context: may sleep; acts for the caller.
 * Return: OK; DENIED (E-74) or KEY_MISMATCH for a reservation of others;
 * RESOURCE; DELAY if the name has just been removed; STALE or STALE_CLIENTID if the export
 * or the client has ended; the status of the file system.
 */
u32 dafsd_open_add(struct dafsd_rqst *rq, struct dafsd_fh *fh, const struct dafs_fh *wire,
		   unsigned int flags, struct dafs_state_id *state_id)
{
	struct dafsd_file *file = dafsd_file_get(dafsd_fh_inode(fh));
	struct dafsd_opening opening = {};
	u32 status;

	if (!file)
		return DAFSERR_RESOURCE;
	do {
		status = dafsd_open_add_once(rq, fh, wire, flags, file, &opening, state_id);
	} while (!status && opening.wanted);
	dafsd_opening_end(&opening);
	dafsd_file_put(file);
	if (!status && (flags & DAFSD_OPEN_TRUNCATE))
		status = dafsd_open_commit(rq, fh, opening.made, state_id);
	return status;
}
