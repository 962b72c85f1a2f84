// SPDX-License-Identifier: GPL-2.0
/*
 * Opening and closing files, and finding the open file behind a state-id
 * (4.4.1.2, 6.5.7, 6.5.24, 6.5.26).
 *
 * A struct dafsd_open is the open of a file by one owner of one client with one
 * filehandle.  Its reservations are in share.c, its lookup and lifetime in state.c.  The
 * members that I/O needs are read under RCU.
 *
 * Order of locks: dafsd_file.gate; write access to the file system; lock of a
 * directory, dafsd_file.lock, lock of the file's inode; lock of the table of opens,
 * dafsd_client.lock.
 *
 * A task that removes a name waits for dafsd_file.lock with the directory locked.  So
 * files are neither opened nor closed under dafsd_file.lock: both may block without bound,
 * for a local program that must give permission (fanotify), or for the file system.
 */
#include <linux/file.h>
#include <linux/filelock.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/dafs/status.h>
#include "../session/peer.h"
#include "../session/client.h"
#include "../session/session.h"
#include "../export/export.h"
#include "../request/request.h"
#include "../vfs/fh.h"
#include "../vfs/vfs.h"
#include "state.h"
#include "state_impl.h"

static int dafsd_access_mask(u32 access)
{
	return (access & DAFS_OPEN_SHARE_ACCESS_READ ? MAY_READ : 0) |
	       (access & DAFS_OPEN_SHARE_ACCESS_WRITE ? MAY_WRITE : 0);
}

static int dafsd_open_flags(u32 access)
{
	switch (access) {
	case DAFS_OPEN_SHARE_ACCESS_READ:
		return O_RDONLY | O_LARGEFILE;
	case DAFS_OPEN_SHARE_ACCESS_WRITE:
		return O_WRONLY | O_LARGEFILE;
	default:
		return O_RDWR | O_LARGEFILE;
	}
}

/*
 * A client that executes a program reads the file, and has no way to tell the server the
 * reason: so a user who may execute a file may also read it.
 */
static int dafsd_file_permission(struct inode *inode, u32 access, unsigned int flags)
{
	int mask = dafsd_access_mask(access);
	int err;

	if ((mask & MAY_WRITE) && (IS_IMMUTABLE(inode) || IS_APPEND(inode)))
		return -EPERM;
	if (flags & DAFSD_OPEN_CREATED)
		return 0;
	if ((flags & DAFSD_OPEN_OWNER) && uid_eq(inode->i_uid, current_fsuid()))
		return 0;
	err = inode_permission(&nop_mnt_idmap, inode, mask);
	if (err == -EACCES && mask == MAY_READ)
		err = inode_permission(&nop_mnt_idmap, inode, MAY_EXEC);
	return err;
}

/*
 * Permission has been checked.  O_NONBLOCK is only used for opening: leases of local
 * programs are broken, but the open does not wait for that.
 */
static struct file *dafsd_path_open(const struct path *path, u32 access, const struct cred *cred)
{
	struct file *filp = dentry_open(path, dafsd_open_flags(access) | O_NONBLOCK, cred);
	int err;

	if (IS_ERR(filp))
		return filp;
	spin_lock(&filp->f_lock);
	filp->f_flags &= ~O_NONBLOCK;
	spin_unlock(&filp->f_lock);
	err = security_file_post_open(filp, dafsd_access_mask(access));
	if (err) {
		__fput_sync(filp);
		return ERR_PTR(err);
	}
	return filp;
}

static struct file *dafsd_fh_open(const struct dafsd_fh *fh, u32 access, const struct cred *cred)
{
	struct path path = dafsd_fh_path(fh);

	return dafsd_path_open(&path, access, cred);
}

/**
 * dafsd_open_done() - drop a reference to a file
 * @filp: the file
 *
 * Dropping the last reference closes the file at once: a later request must not find the
 * file still open for writing.
 *
 * Context: may sleep.
 */
void dafsd_open_done(struct file *filp)
{
	__fput_sync(filp);
}

/**
 * struct dafsd_opening - a file that is opened for an open, without file->lock
 * @filp: the new file; at the end, a file that is to be closed; or NULL
 * @access: DAFS_OPEN_SHARE_ACCESS_* of @filp
 * @wanted: access that the open needs, determined with file->lock held; 0 when done
 * @cred: the credential to open the file with; a reference, or NULL
 * @made: a new open was made, the owner had none
 */
struct dafsd_opening {
	struct file *filp;
	u32 access;
	u32 wanted;
	const struct cred *cred;
	bool made;
};

/* With file->lock held.  Return: false if another file has to be opened first. */
static bool dafsd_opening_fits(struct dafsd_opening *opening, u32 access, const struct cred *cred)
{
	bool fits = opening->filp && opening->access == access;

	opening->wanted = fits ? 0 : access;
	if (fits)
		return true;
	put_cred(opening->cred);
	opening->cred = get_cred(cred);
	return false;
}

static void dafsd_opening_end(struct dafsd_opening *opening)
{
	if (opening->filp)
		dafsd_open_done(opening->filp);
	opening->filp = NULL;
	put_cred(opening->cred);
	opening->cred = NULL;
}

/* Without file->lock: open the file that dafsd_opening_fits() has asked for. */
static u32 dafsd_opening_open(struct dafsd_opening *opening, const struct dafsd_fh *fh)
{
	struct file *filp;

	if (!opening->wanted)
		return DAFS_STATUS_OK;
	filp = dafsd_fh_open(fh, opening->wanted, opening->cred);
	dafsd_opening_end(opening);
	if (IS_ERR(filp))
		return dafs_errno_to_status(PTR_ERR(filp));
	opening->filp = filp;
	opening->access = opening->wanted;
	return DAFS_STATUS_OK;
}

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

/* The file of an open, without a reference. */
static struct file *dafsd_open_filp(const struct dafsd_open *open)
{
	return rcu_dereference_protected(open->filp, lockdep_is_held(&open->file->lock));
}

/*
 * Replace the file of an open.  The new file must report the write-back errors that the
 * old one has not reported yet.  I/O in progress keeps using the old one.
 */
static void dafsd_open_replace(struct dafsd_open *open, struct dafsd_opening *opening)
{
	struct file *old = dafsd_open_filp(open);

	opening->filp->f_wb_err = READ_ONCE(old->f_wb_err);
	opening->filp = rcu_replace_pointer(open->filp, opening->filp,
					    lockdep_is_held(&open->file->lock));
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

/*
 * Is the state-id that of an open?  @same: @wire is the filehandle that OPEN returned, so
 * that CLOSE does not need to look up the object.
 */
static u32 dafsd_open_check_state(struct dafsd_rqst *rq, const struct dafs_fh *wire,
				  const struct dafs_state_id *state_id, bool *same)
{
	struct dafsd_open *open;
	u32 status;

	rcu_read_lock();
	open = dafsd_state_load(rq->ses->client, state_id, &status);
	*same = open && !memcmp(&open->wire, wire, sizeof(*wire));
	rcu_read_unlock();
	return status;
}

/**
 * dafsd_open_close() - close (6.5.7)
 * @rq: request
 * @wire: filehandle of the file
 * @state_id: from dafsd_open_add()
 *
 * Context: may sleep.
 * Return: OK, BAD_STATEID, STALE_STATEID, EXPIRED, or the status of dafsd_fh_get() for
 * @wire.
 */
u32 dafsd_open_close(struct dafsd_rqst *rq, const struct dafs_fh *wire,
		     const struct dafs_state_id *state_id)
{
	struct dafsd_open *open;
	struct dafsd_fh fh = {};
	u32 status;
	bool same;

	status = dafsd_open_check_state(rq, wire, state_id, &same);
	if (!status && !same)
		status = dafsd_fh_get(rq, wire, &fh);
	if (!status && !same && dafsd_fh_is_pseudo(&fh))
		status = DAFSERR_ISDIR;
	if (!status)
		status = dafsd_state_claim(rq->ses->client, state_id,
					   same ? NULL : dafsd_fh_inode(&fh), &open);
	if (!status)
		dafsd_open_dismantle(open);
	dafsd_fh_put(&fh);
	return status;
}

/**
 * dafsd_open_claim_delegation() - CLAIM_DELEGATE_CUR; this server has no delegations
 * @rq: OPEN
 *
 * Context: any.
 * Return: BAD_STATEID, STALE_STATEID or EXPIRED, according to the state-id (E-84).
 */
u32 dafsd_open_claim_delegation(struct dafsd_rqst *rq)
{
	const struct dafs_open_args *args = &rq->args.open;
	u32 status;
	bool same;

	status = dafsd_open_check_state(rq, &args->dir_handle, &args->claimdelcur_stateid, &same);
	return status ?: DAFSERR_BAD_STATEID;
}

/**
 * dafsd_open_return_delegation() - DELEGRETURN; this server has no delegations
 * @state_id: from the request
 *
 * Context: any.
 * Return: BAD_STATEID, or STALE_STATEID for one of another instance of the server
 * (E-84).
 */
u32 dafsd_open_return_delegation(const struct dafs_state_id *state_id)
{
	u32 id;

	return dafsd_state_split(state_id, &id) ?: DAFSERR_BAD_STATEID;
}

/*
 * file->lock keeps the open allocated: a task that claims it must take that lock before
 * it frees the open.
 */
static u32 dafsd_open_downgrade_locked(struct dafsd_rqst *rq, struct dafsd_file *file,
				       struct dafsd_opening *opening)
{
	const struct dafs_open_downgrade_args *args = &rq->args.open_downgrade;
	struct dafsd_open *open;
	bool replace;
	u32 status;

	rcu_read_lock();
	open = dafsd_state_load(rq->ses->client, &args->state_id, &status);
	if (open && open->file != file)
		status = DAFSERR_BAD_STATEID;
	rcu_read_unlock();
	if (!status)
		status = dafsd_share_check_reduce(open, args);
	if (status)
		return status;
	opening->wanted = 0;
	replace = args->share_access != open->access;
	if (replace && !dafsd_opening_fits(opening, args->share_access,
					   dafsd_open_filp(open)->f_cred))
		return DAFS_STATUS_OK;
	if (replace)
		dafsd_open_replace(open, opening);
	dafsd_share_reduce(open, args);
	return DAFS_STATUS_OK;
}

static u32 dafsd_open_downgrade_file(struct dafsd_rqst *rq, const struct dafsd_fh *fh,
				     struct dafsd_file *file)
{
	struct dafsd_opening opening = {};
	u32 status;

	do {
		status = dafsd_opening_open(&opening, fh);
		if (status)
			break;
		mutex_lock(&file->lock);
		status = dafsd_open_downgrade_locked(rq, file, &opening);
		mutex_unlock(&file->lock);
	} while (!status && opening.wanted);
	dafsd_opening_end(&opening);
	return status;
}

/**
 * dafsd_open_downgrade() - reduce the access and the reservations of an open (6.5.26)
 * @rq: OPEN_DOWNGRADE
 *
 * Context: may sleep.
 * Return: OK; BAD_STATEID, STALE_STATEID, EXPIRED; INVAL for modes that the open does not
 * have (E-77); or the status of dafsd_fh_get() for the filehandle.
 */
u32 dafsd_open_downgrade(struct dafsd_rqst *rq)
{
	const struct dafs_open_downgrade_args *args = &rq->args.open_downgrade;
	struct dafsd_file *file = NULL;
	struct dafsd_fh fh = {};
	u32 status;
	bool same;

	status = dafsd_open_check_state(rq, &args->filehandle, &args->state_id, &same);
	if (!status)
		status = dafsd_fh_get(rq, &args->filehandle, &fh);
	if (!status && !dafsd_fh_is_pseudo(&fh))
		file = dafsd_file_find(dafsd_fh_inode(&fh));
	if (file) {
		status = dafsd_open_downgrade_file(rq, &fh, file);
		dafsd_file_put(file);
	} else if (!status) {
		status = DAFSERR_BAD_STATEID;
	}
	dafsd_fh_put(&fh);
	return status;
}

static u32 dafsd_open_anonymous(const struct dafsd_fh *fh, u32 access, struct dafsd_use *use)
{
	struct inode *inode = dafsd_fh_inode(fh);
	u32 status;
	int err;

	err = dafsd_file_permission(inode, access, 0);
	if (err)
		return dafs_errno_to_status(err);
	use->file = dafsd_file_get(inode);
	if (!use->file)
		return DAFSERR_RESOURCE;
	status = dafsd_share_enter(use->file, access);
	if (status)
		goto put;
	use->anonymous = true;
	use->filp = dafsd_fh_open(fh, access, current_cred());
	if (!IS_ERR(use->filp))
		return DAFS_STATUS_OK;
	status = dafs_errno_to_status(PTR_ERR(use->filp));
	dafsd_share_leave(use->file);
put:
	dafsd_file_put(use->file);
	return status;
}

/* Take the references that I/O needs.  Return: false if the open is being closed. */
static bool dafsd_open_ref(struct dafsd_open *open, struct dafsd_use *use)
{
	if (!dafsd_file_hold(open->file))
		return false;
	use->file = open->file;
	use->filp = get_file_rcu(&open->filp);
	return use->filp;
}

/* After dafsd_open_ref() has failed, possibly with one of the two references taken */
static void dafsd_open_unref(struct dafsd_use *use)
{
	if (use->file)
		dafsd_file_put(use->file);
	use->file = NULL;
}

static u32 dafsd_open_find_id(struct dafsd_rqst *rq, const struct dafsd_fh *fh,
			      const struct dafs_state_id *state_id, u32 access,
			      struct dafsd_use *use)
{
	struct dafsd_open *open;
	u32 status;

	rcu_read_lock();
	open = dafsd_state_load(rq->ses->client, state_id, &status);
	if (open && open->inode != dafsd_fh_inode(fh))
		status = DAFSERR_BAD_STATEID;
	if (!status && (READ_ONCE(open->access) & access) != access)
		status = DAFSERR_ACCES;
	/* fails if it is being closed at this moment */
	if (!status && !dafsd_open_ref(open, use))
		status = DAFSERR_BAD_STATEID;
	rcu_read_unlock();
	if (status)
		dafsd_open_unref(use);
	return status;
}

/* May this open be used by a request that names the file by @wire? */
static bool dafsd_open_serves(const struct dafsd_open *open, const struct dafs_fh *wire, u32 access)
{
	if ((access & DAFS_OPEN_SHARE_ACCESS_WRITE) && READ_ONCE(open->exp->read_only))
		return false;
	return (READ_ONCE(open->access) & access) == access &&
	       !memcmp(&open->wire, wire, sizeof(*wire));
}

/*
 * The user who opened the file keeps the access that was granted; another user must have
 * permission for the file now.  Ends @use if not.
 */
static u32 dafsd_open_allow(struct dafsd_use *use, u32 access)
{
	int err;

	if (uid_eq(use->filp->f_cred->fsuid, current_fsuid()))
		return DAFS_STATUS_OK;
	err = dafsd_file_permission(file_inode(use->filp), access, DAFSD_OPEN_OWNER);
	if (err)
		dafsd_open_end(use);
	return dafs_errno_to_status(err);
}

static u32 dafsd_open_check_regular(const struct dafsd_fh *fh)
{
	if (dafsd_fh_is_pseudo(fh) || d_is_dir(fh->dentry))
		return DAFSERR_ISDIR;
	return d_is_reg(fh->dentry) ? DAFS_STATUS_OK : DAFSERR_INVAL;
}

/**
 * dafsd_open_find() - the file to read from or write to
 * @rq: request
 * @fh: the object, which need not be a regular file
 * @state_id: of an open, or a special one for I/O without (E-79)
 * @access: DAFS_OPEN_SHARE_ACCESS_* needed
 * @use: filled, except for the members that dafsd_open_use() fills; to be ended with
 *	dafsd_open_end()
 *
 * The user who opened the file keeps the access that was granted, like a process with a
 * file descriptor; another user with the same state-id must have permission for the file.
 *
 * Context: may sleep; acts for the caller, without write access to the file system.
 * Return: OK; ISDIR, INVAL; ROFS; STALE_STATEID of another instance of the
 * server; EXPIRED; BAD_STATEID if it is not an open of that file by this
 * client; ACCES; LOCKED by a share reservation.
 */
u32 dafsd_open_find(struct dafsd_rqst *rq, const struct dafsd_fh *fh,
		    const struct dafs_state_id *state_id, u32 access, struct dafsd_use *use)
{
	u32 status = dafsd_open_check_regular(fh);

	*use = (struct dafsd_use){};
	if (status)
		return status;
	if ((access & DAFS_OPEN_SHARE_ACCESS_WRITE) && READ_ONCE(fh->exp->read_only))
		return DAFSERR_ROFS;
	if (dafsd_state_is_special(state_id))
		return dafsd_open_anonymous(fh, access, use);
	status = dafsd_open_find_id(rq, fh, state_id, access, use);
	return status ?: dafsd_open_allow(use, access);
}

/**
 * dafsd_open_end() - the I/O is done
 * @use: from dafsd_open_find()
 *
 * Context: may sleep.
 */
void dafsd_open_end(struct dafsd_use *use)
{
	dafsd_open_done(use->filp);
	if (use->anonymous)
		dafsd_share_leave(use->file);
	dafsd_file_put(use->file);
}

/*
 * Fast path: if the state-id is of an open with exactly this filehandle, the object need
 * not be looked up.  Sets @use and fh->exp.  In all other cases false is returned, and the
 * slow path determines the status.
 */
static bool dafsd_open_known(struct dafsd_rqst *rq, const struct dafs_fh *wire,
			     const struct dafs_state_id *state_id, u32 access,
			     struct dafsd_fh *fh, struct dafsd_use *use)
{
	struct dafsd_open *open;
	bool known = false;
	u32 status;

	rcu_read_lock();
	open = dafsd_state_load(rq->ses->client, state_id, &status);
	if (open && dafsd_open_serves(open, wire, access) &&
	    kref_get_unless_zero(&open->exp->ref)) {
		fh->exp = open->exp;
		known = dafsd_open_ref(open, use);
	}
	rcu_read_unlock();
	if (!known)
		dafsd_open_unref(use);
	return known;
}

static u32 dafsd_open_find_any(struct dafsd_rqst *rq, const struct dafs_fh *wire,
			       const struct dafs_state_id *state_id, u32 access,
			       struct dafsd_fh *fh, struct dafsd_use *use)
{
	u32 status;

	*use = (struct dafsd_use){};
	if (!dafsd_open_known(rq, wire, state_id, access, fh, use)) {
		dafsd_fh_put(fh);
		status = dafsd_fh_get(rq, wire, fh);
		return status ?: dafsd_open_find(rq, fh, state_id, access, use);
	}
	status = dafsd_fh_squash(rq, fh->exp);
	if (status)
		dafsd_open_end(use);
	return status ?: dafsd_open_allow(use, access);
}

/**
 * dafsd_open_use() - read from or write to a file
 * @rq: request
 * @wire: the object
 * @state_id: as in dafsd_open_find()
 * @access: as in dafsd_open_find()
 * @run: function to call; the file is valid while it runs
 *
 * Context: may sleep; acts for the caller.
 * Return: the status of @run, or that of dafsd_fh_get() or dafsd_open_find().
 */
u32 dafsd_open_use(struct dafsd_rqst *rq, const struct dafs_fh *wire,
		   const struct dafs_state_id *state_id, u32 access,
		   u32 (*run)(struct dafsd_rqst *rq, const struct dafsd_use *use))
{
	struct dafsd_fh fh = {};
	struct dafsd_use use;
	u32 status;

	status = dafsd_open_find_any(rq, wire, state_id, access, &fh, &use);
	if (!status) {
		use.exp = fh.exp;
		use.local = dafsd_client_is_local(rq->conn);
		status = run(rq, &use);
		dafsd_open_end(&use);
	}
	dafsd_fh_put(&fh);
	return status;
}

/* A caller without an open must have the permission to open the file for writing. */
static u32 dafsd_open_may_commit(const struct dafsd_fh *fh)
{
	int err = dafsd_file_permission(dafsd_fh_inode(fh), DAFS_OPEN_SHARE_ACCESS_WRITE,
					DAFSD_OPEN_OWNER);

	return dafsd_fh_check_search(fh) ?: dafs_errno_to_status(err);
}

/**
 * dafsd_open_for_commit() - a file to commit through (E-102)
 * @rq: request
 * @fh: the object, which need not be a regular file; from dafsd_fh_find()
 * @filp: set to a reference; end it by dafsd_open_done()
 *
 * An existing open is preferred: if it existed when the data was written, it reports all
 * write-back errors since then; a file opened now might not.  A client that has the file
 * open for writing may commit regardless of the current mode of the file, and of whether
 * the export has become read-only since, as fsync(2) on an open descriptor needs no
 * permission.
 *
 * Context: may sleep; acts for the caller.
 * Return: as dafsd_open_find() for writing without a state-id, but share
 * reservations do not matter.
 */
u32 dafsd_open_for_commit(struct dafsd_rqst *rq, const struct dafsd_fh *fh, struct file **filp)
{
	u32 status = dafsd_open_check_regular(fh);
	struct dafsd_file *file;
	bool own = false;

	if (status)
		return status;
	*filp = NULL;
	file = dafsd_file_find(dafsd_fh_inode(fh));
	if (file) {
		*filp = dafsd_file_borrow(file, rq->ses->client, &own);
		dafsd_file_put(file);
	}
	if (!own)
		status = READ_ONCE(fh->exp->read_only) ? DAFSERR_ROFS : dafsd_open_may_commit(fh);
	if (status) {
		if (*filp)
			dafsd_open_done(*filp);
		return status;
	}
	if (!*filp)
		*filp = dafsd_fh_open(fh, DAFS_OPEN_SHARE_ACCESS_WRITE, current_cred());
	return IS_ERR(*filp) ? dafs_errno_to_status(PTR_ERR(*filp)) : DAFS_STATUS_OK;
}
