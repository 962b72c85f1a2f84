// SPDX-License-Identifier: GPL-2.0
/*
 * LINK: another name for an object that is not a directory (6.5.17).
 */
#include <linux/namei.h>
#include <linux/dafs/status.h>
#include "../export/export.h"
#include "../request/request.h"
#include "../state/intent.h"
#include "../vfs/fh.h"
#include "../vfs/vfs.h"
#include "proc.h"

/*
 * A file may be open without a name.  The VFS refuses to link such a file with -ENOENT,
 * unless it was created without a name and made linkable.  The client is told that the
 * object is gone: NOENT is not one of the errors of LINK.
 */
static dafs_status_t dafsd_link_status(int err)
{
	return err == -ENOENT ? DAFSERR_STALE : dafs_errno_to_status(err);
}

/* The lock of the directory is held. */
static dafs_status_t dafsd_link_entry(const struct dafsd_fh *source, const struct dafsd_fh *dir,
				      const struct dafs_str *name)
{
	struct dentry *dentry = dafsd_lookup_locked(dir->dentry, name);
	dafs_status_t status;

	if (IS_ERR(dentry))
		return dafs_errno_to_status(PTR_ERR(dentry));
	if (d_really_is_positive(dentry))
		status = DAFSERR_EXIST;
	else
		status = dafsd_link_status(vfs_link(source->dentry, &nop_mnt_idmap,
						    dafsd_fh_inode(dir), dentry, NULL));
	dput(dentry);
	return status;
}

static dafs_status_t dafsd_link(const struct dafsd_fh *source, struct dafsd_fh *dir,
				const struct dafs_str *name, struct dafs_change_info *info)
{
	struct inode *inode = dafsd_fh_inode(dir);
	dafs_status_t status;
	int err;

	status = dafsd_fh_want_write(dir);
	if (status)
		return status;
	inode_lock_nested(inode, I_MUTEX_PARENT);
	dafsd_change_before(dir, info);
	status = dafsd_link_entry(source, dir, name);
	dafsd_change_after(dir, info);
	inode_unlock(inode);
	if (status)
		return status;
	err = dafsd_commit_metadata(dir->exp, dir->dentry) ?:
	      dafsd_commit_metadata(dir->exp, source->dentry);
	return dafs_errno_to_status(err);
}

static dafs_status_t dafsd_link_check(const struct dafsd_fh *source, const struct dafsd_fh *dir,
				      const struct dafs_str *name)
{
	dafs_status_t status = dafsd_name_check_change(dir->exp, name);

	if (status)
		return status;
	if (dafsd_fh_is_pseudo(source) || d_is_dir(source->dentry))
		return DAFSERR_ISDIR;
	if (source->exp != dir->exp)
		return DAFSERR_XDEV;
	return dafsd_fh_inode(dir)->i_op->link ? DAFS_STATUS_OK : DAFSERR_NOTSUPP;
}

/**
 * dafsd_proc_link() - LINK (6.5.17)
 * @rq: request
 *
 * LINK does not follow a symbolic link: the new name is for the link itself.
 *
 * Context: process context under the caller's credential; may sleep.
 * Return: DAFS status.
 */
dafs_status_t dafsd_proc_link(struct dafsd_rqst *rq)
{
	struct dafs_link_args *args = &rq->args.link;
	struct dafsd_fh source = {}, dir = {};
	struct dafsd_intent intent = {
		.rq = rq,
		.dir = &dir,
		.name = &args->newname,
		.source = &source,
	};
	dafs_status_t status;

	status = dafsd_fh_check_other(&args->destination_object, &args->source_object);
	if (!status)
		status = dafsd_fh_get(rq, &args->source_object, &source);
	if (!status)
		status = dafsd_fh_get_dir(rq, &args->destination_object, &dir);
	if (!status)
		status = dafsd_link_check(&source, &dir, &args->newname);
	if (!status)
		status = dafsd_intent_begin(&intent);
	if (!status)
		status = dafsd_link(&source, &dir, &args->newname, &rq->res.change.change_info);
	dafsd_intent_end(&intent, status);
	dafsd_fh_put(&dir);
	dafsd_fh_put(&source);
	return status;
}
