// SPDX-License-Identifier: GPL-2.0
/*
 * CLOSE and OPEN_DOWNGRADE: giving back an open, or a part of it (6.5.7, 6.5.26).
 */
#include <linux/dafs/status.h>
#include "../request/request.h"
#include "../vfs/fh.h"
#include "lock.h"
#include "open_impl.h"

/*
 * Is the state-id that of an open?  @same: @wire is the filehandle that OPEN returned, so
 * that CLOSE does not need to look up the object.
 */
static dafs_status_t dafsd_open_check_state(struct dafsd_rqst *rq, const struct dafs_fh *wire,
					    const struct dafs_state_id *state_id, bool *same)
{
	struct dafsd_open *open;
	dafs_status_t status;

	rcu_read_lock();
	open = dafsd_open_load(rq, state_id, &status);
	*same = open && !memcmp(&open->wire, wire, sizeof(*wire));
	rcu_read_unlock();
	return status;
}

/*
 * What is locked with a record ends first: if the store cannot be written, the client must not
 * take what it has written for permanent.  @inode: the file that must be the open's, or NULL
 */
static dafs_status_t dafsd_open_unlock(struct dafsd_rqst *rq, const struct dafs_state_id *state_id,
				       const struct inode *inode)
{
	struct dafsd_open *open;
	dafs_status_t status;

	rcu_read_lock();
	open = dafsd_open_load(rq, state_id, &status);
	if (open && inode && open->state.file->inode != inode) {
		status = DAFSERR_BAD_STATEID;
		open = NULL;
	}
	/* if it has just been closed, the state-id tells */
	if (open && (!READ_ONCE(open->locker) || !refcount_inc_not_zero(&open->state.ref)))
		open = NULL;
	rcu_read_unlock();
	if (!open)
		return status;
	status = dafsd_lock_closing(open);
	dafsd_state_put(&open->state);
	return status;
}

/**
 * dafsd_open_close() - close (6.5.7)
 * @rq: request
 * @wire: filehandle of the file
 * @state_id: from dafsd_open_add()
 *
 * Context: may sleep.
 * Return: OK; BAD_STATEID, STALE_STATEID, EXPIRED, or the status of dafsd_fh_get() for
 * @wire; IO or RESOURCE if it cannot be recorded that locks have ended: it is still open.
 */
dafs_status_t dafsd_open_close(struct dafsd_rqst *rq, const struct dafs_fh *wire,
			       const struct dafs_state_id *state_id)
{
	const struct inode *inode = NULL;
	struct dafsd_fh fh = {};
	dafs_status_t status;
	bool same;

	status = dafsd_open_check_state(rq, wire, state_id, &same);
	if (!status && !same)
		status = dafsd_fh_get(rq, wire, &fh);
	if (!status && !same && dafsd_fh_is_pseudo(&fh))
		status = DAFSERR_ISDIR;
	if (!status && !same)
		inode = dafsd_fh_inode(&fh);
	if (!status)
		status = dafsd_open_unlock(rq, state_id, inode);
	if (!status)
		status = dafsd_open_remove(rq, state_id, inode);
	dafsd_fh_put(&fh);
	return status;
}

/*
 * The lock of the file's record keeps the open allocated: a task that claims it must take
 * that lock before it frees the open.
 */
static dafs_status_t dafsd_open_downgrade_locked(struct dafsd_rqst *rq, struct dafsd_file *file,
						 struct dafsd_opening *opening)
{
	const struct dafs_open_downgrade_args *args = &rq->args.open_downgrade;
	struct dafsd_open *open;
	bool replace;
	dafs_status_t status;

	rcu_read_lock();
	open = dafsd_open_load(rq, &args->state_id, &status);
	if (open && open->state.file != file)
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

static dafs_status_t dafsd_open_downgrade_file(struct dafsd_rqst *rq, const struct dafsd_fh *fh,
					       struct dafsd_file *file)
{
	struct dafsd_opening opening = {};
	dafs_status_t status;

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
dafs_status_t dafsd_open_downgrade(struct dafsd_rqst *rq)
{
	const struct dafs_open_downgrade_args *args = &rq->args.open_downgrade;
	struct dafsd_file *file = NULL;
	struct dafsd_fh fh = {};
	dafs_status_t status;
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
