// SPDX-License-Identifier: GPL-2.0
/*
 * Procedures on names: the root, LOOKUP, LOOKUPP, CREATE, REMOVE, RENAME (6.5).
 */
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/slab.h>
#include <linux/dafs/status.h>
#include "../export/export.h"
#include "../export/handle.h"
#include "../request/request.h"
#include "../vfs/fh.h"
#include "../vfs/vfs.h"
#include "../state/intent.h"
#include "../state/open.h"
#include "../state/persist.h"
#include "proc.h"

/* Modes of objects made by CREATE, unless the attributes say otherwise (E-30) */
#define DAFSD_DEFAULT_DIR_MODE		0700
#define DAFSD_DEFAULT_NODE_MODE		0600

/**
 * dafsd_proc_get_root_handle() - GET_ROOT_HANDLE (6.5.12)
 * @rq: request
 *
 * Context: process context; may sleep.
 * Return: DAFS status.
 */
dafs_status_t dafsd_proc_get_root_handle(struct dafsd_rqst *rq)
{
	return dafsd_fh_compose(NULL, NULL, &rq->res.fh.filehandle);
}

/**
 * dafsd_proc_lookup() - LOOKUP (6.5.21)
 * @rq: request
 *
 * After an error the result says how far the path was resolved (E-96).
 *
 * Context: process context under the caller's credential; may sleep.
 * Return: DAFS status.
 */
dafs_status_t dafsd_proc_lookup(struct dafsd_rqst *rq)
{
	struct dafs_lookup_args *args = &rq->args.lookup;
	struct dafsd_walk walk;
	dafs_status_t status;

	rq->body = true;
	status = dafsd_walk_start(rq, &args->directory, &args->path, DAFSERR_SYMLINK, &walk);
	if (!status)
		status = dafsd_walk_until(rq, &walk, 0);
	status = dafsd_walk_result(rq, &walk, status, &rq->res.lookup);
	dafsd_fh_put(&walk.fh);
	return status;
}

/**
 * dafsd_proc_lookupp() - LOOKUPP (6.5.22)
 * @rq: request
 *
 * Context: process context under the caller's credential; may sleep.
 * Return: DAFS status.
 */
dafs_status_t dafsd_proc_lookupp(struct dafsd_rqst *rq)
{
	struct dafsd_fh fh;
	dafs_status_t status;

	status = dafsd_fh_get_dir(rq, &rq->args.fh.filehandle, &fh);
	if (!status)
		status = dafsd_walk_parent(rq, &fh);
	if (!status)
		status = dafsd_fh_to_wire(&fh, &rq->res.fh.filehandle);
	dafsd_fh_put(&fh);
	return status;
}

static dafs_status_t dafsd_create_dev(const struct dafs_specdata *spec, dev_t *dev)
{
	*dev = MKDEV(spec->specdata1, spec->specdata2);
	if (MAJOR(*dev) != spec->specdata1 || MINOR(*dev) != spec->specdata2)
		return DAFSERR_INVAL;
	return DAFS_STATUS_OK;
}

/* The text is freed with the request. */
static dafs_status_t dafsd_create_link(struct dafsd_rqst *rq, struct dafsd_new *new)
{
	const struct dafs_str *text = &rq->args.create.linkdata;
	char *link;

	if (!text->len || memchr(text->data, 0, text->len))
		return DAFSERR_INVAL;
	if (text->len >= PATH_MAX)
		return DAFSERR_NAMETOOLONG;
	link = kvmalloc(text->len + 1, GFP_KERNEL);
	if (!link)
		return DAFSERR_RESOURCE;
	memcpy(link, text->data, text->len);
	link[text->len] = 0;
	rq->scratch = link;
	new->link = link;
	return DAFS_STATUS_OK;
}

/* Only directories are made with attributes (6.5.9, E-30). */
static dafs_status_t dafsd_create_attrs(const struct dafs_fattr *attr, struct dafsd_new *new)
{
	bool dir = new->type == DAFS_TYPE_DIR;
	dafs_status_t status;

	new->mode = dir ? DAFSD_DEFAULT_DIR_MODE : DAFSD_DEFAULT_NODE_MODE;
	status = dafsd_fattr_check(attr, dir ? DAFSD_FATTR_SETTABLE & ~DAFS_FATTR_OBJECT_SIZE : 0);
	if (status || !dir)
		return status;
	new->attr = attr;
	if (attr->included & attr->valid & DAFS_FATTR_MODE)
		new->mode = attr->mode;
	return DAFS_STATUS_OK;
}

static dafs_status_t dafsd_create_describe(struct dafsd_rqst *rq, struct dafsd_new *new)
{
	const struct dafs_create_args *args = &rq->args.create;
	dafs_status_t status;

	*new = (struct dafsd_new){ .type = args->obj_type };
	switch (args->obj_type) {
	case DAFS_TYPE_DIR:
	case DAFS_TYPE_SOCK:
	case DAFS_TYPE_FIFO:
		status = DAFS_STATUS_OK;
		break;
	case DAFS_TYPE_BLK:
	case DAFS_TYPE_CHR:
		status = dafsd_create_dev(&args->specdata, &new->dev);
		break;
	case DAFS_TYPE_LNK:
		status = dafsd_create_link(rq, new);
		break;
	default:
		return DAFSERR_BADTYPE;		/* E-76 */
	}
	return status ?: dafsd_create_attrs(&args->attr, new);
}

/**
 * dafsd_proc_create() - CREATE (6.5.9)
 * @rq: request
 *
 * Context: process context under the caller's credential; may sleep.
 * Return: DAFS status.
 */
dafs_status_t dafsd_proc_create(struct dafsd_rqst *rq)
{
	struct dafs_create_args *args = &rq->args.create;
	struct dafs_create_res *res = &rq->res.create;
	struct dafsd_intent intent = { .rq = rq, .name = &args->component };
	struct dentry *dentry = NULL;
	struct dafsd_new new;
	struct dafsd_fh dir;
	dafs_status_t status;

	status = dafsd_fh_get_dir(rq, &args->filehandle, &dir);
	if (!status)
		status = dafsd_name_check_change(dir.exp, &args->component);
	if (!status)
		status = dafsd_create_describe(rq, &new);
	if (!status && dafsd_fh_is_pseudo(&dir))
		status = DAFSERR_ROFS;
	intent.dir = &dir;
	if (!status)
		status = dafsd_intent_begin(&intent);
	if (!status)
		status = dafsd_create(&dir, &args->component, &new, &res->change_info, &dentry);
	intent.made = dentry ? d_inode(dentry) : NULL;
	dafsd_intent_end(&intent, status);
	if (!status)
		status = dafsd_fh_compose(dir.exp, dentry, &res->filehandle);
	dput(dentry);
	dafsd_fh_put(&dir);
	return status;
}

/*
 * May the caller remove a name of @inode from @dir?  The file system is asked for the same and for
 * more, but only when clients whose lease is over have lost what is in the way.
 */
static dafs_status_t dafsd_remove_permitted(struct inode *dir, struct inode *inode)
{
	int err = inode_permission(&nop_mnt_idmap, dir, MAY_WRITE | MAY_EXEC);

	if (!err && check_sticky(&nop_mnt_idmap, dir, inode))
		err = -EPERM;
	return dafs_errno_to_status(err);
}

static dafs_status_t dafsd_remove_file(struct inode *dir, struct dentry *dentry, bool check_open)
{
	struct dafsd_file *file;
	dafs_status_t status;
	int err;

	status = dafsd_remove_permitted(dir, d_inode(dentry)) ?:
		 dafsd_remove_begin(d_inode(dentry), check_open, &file);
	if (status)
		return status;
	err = vfs_unlink(&nop_mnt_idmap, dir, dentry, NULL);
	dafsd_remove_end(file);
	return dafs_errno_to_status(err);
}

/* Takes a reference to @inode, so that its data is freed after the directory is unlocked. */
static dafs_status_t dafsd_remove_locked(struct dafsd_fh *dir, const struct dafs_remove_args *args,
					 struct inode **inode)
{
	struct dentry *dentry = dafsd_lookup_locked(dir->dentry, &args->target);
	dafs_status_t status;

	if (IS_ERR(dentry))
		return dafs_errno_to_status(PTR_ERR(dentry));
	if (d_really_is_negative(dentry)) {
		status = DAFSERR_NOENT;
		goto put;
	}
	*inode = d_inode(dentry);
	ihold(*inode);
	status = dafsd_fh_check_place(dir, dentry);
	if (status)
		goto put;
	if (d_is_dir(dentry))
		status = dafs_errno_to_status(vfs_rmdir(&nop_mnt_idmap, dafsd_fh_inode(dir),
							dentry));
	else
		status = dafsd_remove_file(dafsd_fh_inode(dir), dentry,
					   args->remove_mode == DAFS_REMOVE_CHECK_OPEN);
put:
	dput(dentry);
	return status;
}

/* Drops a reference to the file that was removed, if any, without locks, as it may take long. */
static void dafsd_remove_done(struct inode *inode, dafs_status_t status)
{
	if (inode && !status)
		dafsd_persist_removed(inode);
	iput(inode);
}

static dafs_status_t dafsd_remove(struct dafsd_fh *dir, const struct dafs_remove_args *args,
				  struct dafs_change_info *info)
{
	struct inode *inode = NULL;
	dafs_status_t status;

	status = dafsd_fh_want_write(dir);
	if (status)
		return status;
	inode_lock_nested(dafsd_fh_inode(dir), I_MUTEX_PARENT);
	dafsd_change_before(dir, info);
	status = dafsd_remove_locked(dir, args, &inode);
	dafsd_change_after(dir, info);
	inode_unlock(dafsd_fh_inode(dir));
	if (!status)
		status = dafs_errno_to_status(dafsd_commit_metadata(dir->exp, dir->dentry));
	dafsd_remove_done(inode, status);
	return status;
}

/**
 * dafsd_proc_remove() - REMOVE (6.5.33)
 * @rq: request
 *
 * A file that is open stays until its last close.  DELETE_DENY and CHECK_OPEN
 * concern opens by DAFS clients only; local processes do not matter.
 *
 * Context: process context under the caller's credential; may sleep.
 * Return: DAFS status.
 */
dafs_status_t dafsd_proc_remove(struct dafsd_rqst *rq)
{
	struct dafs_remove_args *args = &rq->args.remove;
	struct dafsd_intent intent = { .rq = rq, .name = &args->target };
	struct dafsd_fh dir;
	dafs_status_t status;

	if (args->remove_mode > DAFS_REMOVE_CHECK_OPEN)
		return DAFSERR_INVAL;
	status = dafsd_fh_get_dir(rq, &args->filehandle, &dir);
	if (!status)
		status = dafsd_name_check_change(dir.exp, &args->target);
	intent.dir = &dir;
	if (!status)
		status = dafsd_intent_begin(&intent);
	if (!status)
		status = dafsd_remove(&dir, args, &rq->res.change.change_info);
	dafsd_intent_end(&intent, status);
	dafsd_fh_put(&dir);
	return status;
}

/* Status for replacing a directory that is not empty (E-93) */
static dafs_status_t dafsd_rename_status(int err)
{
	return err == -ENOTEMPTY ? DAFSERR_EXIST : dafs_errno_to_status(err);
}

static dafs_status_t dafsd_rename_entries(const struct dafsd_fh *source, struct dentry *old,
					  const struct dafsd_fh *target, struct dentry *new)
{
	struct renamedata rd = {
		.old_mnt_idmap = &nop_mnt_idmap,
		.old_dir = dafsd_fh_inode(source),
		.old_dentry = old,
		.new_mnt_idmap = &nop_mnt_idmap,
		.new_dir = dafsd_fh_inode(target),
		.new_dentry = new,
	};
	struct dafsd_file *file = NULL;
	dafs_status_t status;

	if (d_really_is_positive(new)) {
		if (d_inode(old) == d_inode(new))
			return DAFS_STATUS_OK;
		if (d_is_dir(old) != d_is_dir(new))
			return DAFSERR_EXIST;
	}
	status = dafsd_fh_check_place(source, old);
	if (!status)
		status = dafsd_fh_check_place(target, new);
	if (!status && d_is_reg(new))
		status = dafsd_remove_permitted(rd.old_dir, d_inode(old)) ?:
			 dafsd_remove_permitted(rd.new_dir, d_inode(new)) ?:
			 dafsd_remove_begin(d_inode(new), false, &file);
	if (status)
		return status;
	status = dafsd_rename_status(vfs_rename(&rd));
	if (file)
		dafsd_remove_end(file);
	return status;
}

/*
 * Both directories are locked; @trap is an ancestor of one in the other.  @gone: set to what is
 * replaced, with a reference, or NULL
 */
static dafs_status_t dafsd_rename_locked(const struct dafs_rename_args *args,
					 struct dafsd_fh *source, struct dafsd_fh *target,
					 const struct dentry *trap, struct inode **gone)
{
	struct dentry *old, *new;
	dafs_status_t status;

	old = dafsd_lookup_locked(source->dentry, &args->oldname);
	if (IS_ERR(old))
		return dafs_errno_to_status(PTR_ERR(old));
	new = dafsd_lookup_locked(target->dentry, &args->newname);
	if (IS_ERR(new)) {
		dput(old);
		return dafs_errno_to_status(PTR_ERR(new));
	}
	*gone = d_inode(new);
	if (*gone)
		ihold(*gone);
	if (d_really_is_negative(old))
		status = DAFSERR_NOENT;
	else if (old == trap)
		status = DAFSERR_INVAL;
	else if (new == trap)
		status = DAFSERR_EXIST;
	else
		status = dafsd_rename_entries(source, old, target, new);
	dput(new);
	dput(old);
	return status;
}

static dafs_status_t dafsd_rename(const struct dafs_rename_args *args, struct dafsd_fh *source,
				  struct dafsd_fh *target, struct dafs_rename_res *res)
{
	struct inode *gone = NULL;
	struct dentry *trap;
	dafs_status_t status;
	int err;

	trap = lock_rename(target->dentry, source->dentry);
	if (IS_ERR(trap))
		return dafs_errno_to_status(PTR_ERR(trap));
	dafsd_change_before(source, &res->source);
	dafsd_change_before(target, &res->target);
	status = dafsd_rename_locked(args, source, target, trap, &gone);
	dafsd_change_after(source, &res->source);
	dafsd_change_after(target, &res->target);
	unlock_rename(target->dentry, source->dentry);
	if (status)
		goto done;
	err = dafsd_commit_metadata(target->exp, target->dentry) ?:
	      dafsd_commit_metadata(source->exp, source->dentry);
	status = dafs_errno_to_status(err);
done:
	dafsd_remove_done(gone, status);
	return status;
}

static dafs_status_t dafsd_rename_check(const struct dafs_rename_args *args,
					const struct dafsd_fh *source,
					const struct dafsd_fh *target)
{
	dafs_status_t status;

	status = dafsd_name_check_change(source->exp, &args->oldname) ?:
		 dafsd_name_check_change(target->exp, &args->newname);
	if (status)
		return status;
	return source->exp == target->exp ? DAFS_STATUS_OK : DAFSERR_XDEV;
}

/**
 * dafsd_proc_rename() - RENAME (6.5.34)
 * @rq: request
 *
 * Context: process context under the caller's credential; may sleep.
 * Return: DAFS status.
 */
dafs_status_t dafsd_proc_rename(struct dafsd_rqst *rq)
{
	struct dafs_rename_args *args = &rq->args.rename;
	struct dafsd_fh source = {}, target = {};
	struct dafsd_intent intent = {
		.rq = rq,
		.dir = &source,
		.name = &args->oldname,
		.to = &target,
		.to_name = &args->newname,
	};
	dafs_status_t status;

	status = dafsd_fh_check_other(&args->targetdir, &args->sourcedir);
	if (!status)
		status = dafsd_fh_get_dir(rq, &args->sourcedir, &source);
	if (!status)
		status = dafsd_fh_get_dir(rq, &args->targetdir, &target);
	if (!status)
		status = dafsd_rename_check(args, &source, &target);
	if (!status)
		status = dafsd_intent_begin(&intent);
	if (!status)
		status = dafsd_fh_want_write(&source);
	if (!status)
		status = dafsd_rename(args, &source, &target, &rq->res.rename);
	dafsd_intent_end(&intent, status);
	dafsd_fh_put(&target);
	dafsd_fh_put(&source);
	return status;
}
