// SPDX-License-Identifier: GPL-2.0
/*
 * The files that requests read, write and commit: by an open, or without one
 * (4.4.1.2, E-79, E-80).
 *
 * I/O by an open takes no lock.  It finds the open under RCU and holds a reference to it,
 * which keeps the record of the file and the export; and one to the open file, because an
 * OPEN or OPEN_DOWNGRADE of the same owner may replace that in the meantime.
 */
#include <linux/file.h>
#include <linux/dafs/status.h>
#include "../session/server.h"
#include "../session/peer.h"
#include "../session/client.h"
#include "../session/session.h"
#include "../export/export.h"
#include "../request/request.h"
#include "../vfs/fh.h"
#include "open_impl.h"

static dafs_status_t dafsd_open_anonymous(const struct dafsd_fh *fh, u32 access,
					  struct dafsd_use *use)
{
	struct inode *inode = dafsd_fh_inode(fh);
	dafs_status_t status;
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
static bool dafsd_open_hold(struct dafsd_open *open, struct dafsd_use *use)
{
	if (!refcount_inc_not_zero(&open->state.ref))
		return false;
	use->open = open;
	use->file = open->state.file;
	use->filp = get_file_rcu(&open->filp);
	return true;
}

static dafs_status_t dafsd_open_find_id(struct dafsd_rqst *rq, const struct dafsd_fh *fh,
					const struct dafs_state_id *state_id, u32 access,
					struct dafsd_use *use)
{
	struct dafsd_open *open;
	dafs_status_t status;

	rcu_read_lock();
	open = dafsd_open_load(rq, state_id, &status);
	if (open && open->state.file->inode != dafsd_fh_inode(fh))
		status = DAFSERR_BAD_STATEID;
	if (!status && (READ_ONCE(open->access) & access) != access)
		status = DAFSERR_ACCES;
	/* fails if it is being closed at this moment */
	if (!status && !dafsd_open_hold(open, use))
		status = DAFSERR_BAD_STATEID;
	rcu_read_unlock();
	return status;
}

/*
 * The user who opened the file keeps the access that was granted; another user must have
 * permission for the file now.  Ends @use if not.
 */
static dafs_status_t dafsd_open_allow(struct dafsd_use *use, u32 access)
{
	int err;

	if (uid_eq(use->filp->f_cred->fsuid, current_fsuid()))
		return DAFS_STATUS_OK;
	err = dafsd_file_permission(file_inode(use->filp), access, DAFSD_OPEN_OWNER);
	if (err)
		dafsd_open_end(use);
	return dafs_errno_to_status(err);
}

/**
 * dafsd_open_check_regular() - is this a file that may be opened?
 * @fh: the object
 *
 * Context: any.
 * Return: OK, ISDIR, or INVAL for other kinds of files.
 */
dafs_status_t dafsd_open_check_regular(const struct dafsd_fh *fh)
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
 * @use: filled, except for @local; to be ended with dafsd_open_end()
 *
 * The user who opened the file keeps the access that was granted, like a process with a
 * file descriptor; another user with the same state-id must have permission for the file.
 *
 * Context: may sleep; acts for the caller, without write access to the file system.
 * Return: OK; ISDIR, INVAL; ROFS; STALE_STATEID of another instance of the
 * server; EXPIRED; BAD_STATEID if it is not an open of that file by this
 * client; ACCES; LOCKED by a share reservation; GRACE without an open.
 */
dafs_status_t dafsd_open_find(struct dafsd_rqst *rq, const struct dafsd_fh *fh,
			      const struct dafs_state_id *state_id, u32 access,
			      struct dafsd_use *use)
{
	dafs_status_t status = dafsd_open_check_regular(fh);

	*use = (struct dafsd_use){ .exp = fh->exp };
	if (status)
		return status;
	if ((access & DAFS_OPEN_SHARE_ACCESS_WRITE) && READ_ONCE(fh->exp->read_only))
		return DAFSERR_ROFS;
	if (dafsd_state_is_special(state_id))
		return dafsd_grace_check(&dafsd_server) ?: dafsd_open_anonymous(fh, access, use);
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
	if (use->open) {
		dafsd_state_put(&use->open->state);
		return;
	}
	dafsd_share_leave(use->file);
	dafsd_file_put(use->file);
}

/* May this open be used by a request that names the file by @wire? */
static bool dafsd_open_serves(const struct dafsd_open *open, const struct dafs_fh *wire, u32 access)
{
	if ((access & DAFS_OPEN_SHARE_ACCESS_WRITE) && READ_ONCE(open->state.exp->read_only))
		return false;
	return (READ_ONCE(open->access) & access) == access &&
	       !memcmp(&open->wire, wire, sizeof(*wire));
}

/*
 * Fast path: if the state-id is of an open with exactly this filehandle, the object need
 * not be looked up.  In all other cases false is returned, and the slow path determines
 * the status.
 */
static bool dafsd_open_known(struct dafsd_rqst *rq, const struct dafs_fh *wire,
			     const struct dafs_state_id *state_id, u32 access,
			     struct dafsd_use *use)
{
	struct dafsd_open *open;
	dafs_status_t status;

	guard(rcu)();
	open = dafsd_open_load(rq, state_id, &status);
	if (!open || !dafsd_open_serves(open, wire, access))
		return false;
	use->exp = open->state.exp;
	return dafsd_open_hold(open, use);
}

/**
 * dafsd_open_allows() - does an open allow some access?
 * @use: a file that is used by an open
 * @access: DAFS_OPEN_SHARE_ACCESS_*
 *
 * Context: any.
 * Return: true if so.
 */
bool dafsd_open_allows(const struct dafsd_use *use, u32 access)
{
	return (READ_ONCE(use->open->access) & access) == access;
}

static dafs_status_t dafsd_open_find_any(struct dafsd_rqst *rq, const struct dafs_fh *wire,
					 const struct dafs_state_id *state_id, u32 access,
					 struct dafsd_fh *fh, struct dafsd_use *use)
{
	dafs_status_t status;

	if (!dafsd_open_known(rq, wire, state_id, access, use)) {
		status = dafsd_fh_get(rq, wire, fh);
		return status ?: dafsd_open_find(rq, fh, state_id, access, use);
	}
	status = dafsd_fh_squash(rq, use->exp);
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
dafs_status_t dafsd_open_use(struct dafsd_rqst *rq, const struct dafs_fh *wire,
			     const struct dafs_state_id *state_id, u32 access,
			     dafs_status_t (*run)(struct dafsd_rqst *rq,
						  const struct dafsd_use *use))
{
	struct dafsd_use use = {};
	struct dafsd_fh fh = {};
	dafs_status_t status;

	status = dafsd_open_find_any(rq, wire, state_id, access, &fh, &use);
	if (!status) {
		use.local = dafsd_conn_is_local(rq->conn);
		status = run(rq, &use);
		dafsd_open_end(&use);
	}
	dafsd_fh_put(&fh);
	return status;
}

/*
 * A file that any client has open for writing, or NULL; returns a reference.  @own: it was
 * opened by @client, and by the user of the caller, which is preferred.
 */
static struct file *dafsd_open_borrow(struct dafsd_file *file, const struct dafsd_client *client,
				      bool *own)
{
	struct file *found = NULL, *filp;
	struct dafsd_open *open;

	mutex_lock(&file->lock);
	list_for_each_entry(open, &file->opens, file_link) {
		if (!(open->access & DAFS_OPEN_SHARE_ACCESS_WRITE))
			continue;
		filp = dafsd_open_filp(open);
		*own = open->state.client == client &&
		       uid_eq(filp->f_cred->fsuid, current_fsuid());
		if (*own || !found)
			found = filp;
		if (*own)
			break;
	}
	if (found)
		get_file(found);
	mutex_unlock(&file->lock);
	return found;
}

/* A caller without an open must have the permission to open the file for writing. */
static dafs_status_t dafsd_open_may_commit(const struct dafsd_fh *fh)
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
dafs_status_t dafsd_open_for_commit(struct dafsd_rqst *rq, const struct dafsd_fh *fh,
				    struct file **filp)
{
	dafs_status_t status = dafsd_open_check_regular(fh);
	struct dafsd_file *file;
	bool own = false;

	if (status)
		return status;
	*filp = NULL;
	file = dafsd_file_find(dafsd_fh_inode(fh));
	if (file) {
		*filp = dafsd_open_borrow(file, rq->ses->client, &own);
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
