// SPDX-License-Identifier: GPL-2.0
/*
 * Procedures on the attributes of objects and file systems, and READLINK (6.5).
 */
#include <linux/magic.h>
#include <linux/namei.h>
#include <linux/slab.h>
#include <linux/statfs.h>
#include <linux/dafs/status.h>
#include "../session/server.h"
#include "../session/session.h"
#include "../export/export.h"
#include "../export/location.h"
#include "../request/request.h"
#include "../vfs/fh.h"
#include "../vfs/vfs.h"
#include "../state/deleg.h"
#include "../state/file.h"
#include "../state/intent.h"
#include "../state/open.h"
#include "../state/persist.h"
#include "../data/data.h"
#include "proc.h"

/*
 * The VFS permissions that each bit of ACCESS stands for (6.5.2).  A bit without a meaning
 * for the kind of object is reported as not supported.
 */
static const struct dafsd_access_row {
	u32 bit;
	int dir;
	int file;
} dafsd_access_rows[] = {
	{ DAFS_ACCESS_READ, MAY_READ, MAY_READ },
	{ DAFS_ACCESS_LOOKUP, MAY_EXEC, 0 },
	{ DAFS_ACCESS_MODIFY, MAY_WRITE | MAY_EXEC, MAY_WRITE },
	{ DAFS_ACCESS_EXTEND, MAY_WRITE | MAY_EXEC, MAY_WRITE },
	{ DAFS_ACCESS_DELETE, MAY_WRITE | MAY_EXEC, 0 },
	{ DAFS_ACCESS_EXECUTE, 0, MAY_EXEC },
};

/* Writing to a device does not change the file system that the device node is in. */
static bool dafsd_access_is_change(const struct inode *inode, int mask)
{
	return (mask & MAY_WRITE) && !special_file(inode->i_mode);
}

static dafs_status_t dafsd_access_bit(const struct dafsd_fh *fh, int mask)
{
	struct inode *inode = dafsd_fh_inode(fh);
	int err;

	if (dafsd_access_is_change(inode, mask) &&
	    (READ_ONCE(fh->exp->read_only) || __mnt_is_readonly(fh->exp->path.mnt)))
		return DAFSERR_ROFS;
	err = inode_permission(&nop_mnt_idmap, inode, mask);
	switch (err) {
	case -EACCES:
	case -EPERM:
	case -EROFS:
		return DAFSERR_ACCES;
	default:
		return dafs_errno_to_status(err);
	}
}

static void dafsd_access_pseudo_root(const struct dafs_access_args *args,
				     struct dafs_access_res *res)
{
	res->supported = args->access & ~DAFS_ACCESS_EXECUTE & (2 * DAFS_ACCESS_EXECUTE - 1);
	res->access = res->supported & (DAFS_ACCESS_READ | DAFS_ACCESS_LOOKUP);
}

static dafs_status_t dafsd_access(struct dafsd_rqst *rq, struct dafsd_fh *fh)
{
	const struct dafs_access_args *args = &rq->args.access;
	struct dafs_access_res *res = &rq->res.access;
	const struct dafsd_access_row *row;
	dafs_status_t status;
	int mask;

	if (dafsd_fh_is_pseudo(fh)) {
		dafsd_access_pseudo_root(args, res);
		return DAFS_STATUS_OK;
	}
	for (row = dafsd_access_rows;
	     row < dafsd_access_rows + ARRAY_SIZE(dafsd_access_rows); row++) {
		mask = d_is_dir(fh->dentry) ? row->dir : row->file;
		if (!mask || !(args->access & row->bit))
			continue;
		status = dafsd_access_bit(fh, mask);
		if (!status)
			res->access |= row->bit;
		else if (status != DAFSERR_ACCES && status != DAFSERR_ROFS)
			return status;
		res->supported |= row->bit;
	}
	return DAFS_STATUS_OK;
}

/**
 * dafsd_proc_access() - ACCESS (6.5.2)
 * @rq: request
 *
 * Context: process context under the caller's credential; may sleep.
 * Return: DAFS status.
 */
dafs_status_t dafsd_proc_access(struct dafsd_rqst *rq)
{
	return dafsd_fh_use(rq, &rq->args.access.filehandle, dafsd_access);
}

/**
 * dafsd_getattr_latest() - the attributes of an object, as who may change them knows them
 * @rq: the request
 * @fh: the object
 * @wanted: DAFS_FATTR_*
 * @attr: set
 * @names: as in dafsd_fattr_get()
 *
 * Context: may sleep; acts for the caller.
 * Return: that of dafsd_deleg_ask() or dafsd_fattr_get().
 */
dafs_status_t dafsd_getattr_latest(struct dafsd_rqst *rq, struct dafsd_fh *fh, u64 wanted,
				   struct dafs_fattr *attr, struct dafsd_fattr_names *names)
{
	dafs_status_t status = dafsd_deleg_ask(rq, fh, wanted) ?:
			       dafsd_fattr_get(fh, wanted, attr, names);

	if (!status)
		dafsd_deleg_answer(rq, attr);
	return status;
}

static dafs_status_t dafsd_getattr(struct dafsd_rqst *rq, struct dafsd_fh *fh)
{
	struct dafsd_fattr_names *names = kvzalloc(sizeof(*names), GFP_KERNEL);

	if (!names)
		return DAFSERR_RESOURCE;
	rq->scratch = names;
	return dafsd_getattr_latest(rq, fh, rq->args.getattr.attr_request_bitmap,
				    &rq->res.getattr.obj_attributes, names);
}

/**
 * dafsd_proc_getattr_inline() - GETATTR_INLINE (6.5.13)
 * @rq: request
 *
 * Context: process context under the caller's credential; may sleep.
 * Return: DAFS status.
 */
dafs_status_t dafsd_proc_getattr_inline(struct dafsd_rqst *rq)
{
	return dafsd_fh_use(rq, &rq->args.getattr.filehandle, dafsd_getattr);
}

/* The bytes that are cut off, or added, must not be broken. */
static dafs_status_t dafsd_setattr_check_locks(const struct dafsd_use *use, u64 size)
{
	u64 old = i_size_read(use->file->inode);

	return dafsd_persist_io(use, min(size, old), max(size, old) - min(size, old));
}

static dafs_status_t dafsd_setattr_write(struct dafsd_fh *fh, const struct dafs_fattr *attr,
					 u64 which, u64 *done)
{
	return dafsd_fh_want_write(fh) ?: dafsd_fattr_set(fh->dentry, attr, which, done);
}

/* Sets attributes with the size among them; no request appends meanwhile. */
static dafs_status_t dafsd_setattr_size(const struct dafsd_use *use, struct dafsd_fh *fh,
					const struct dafs_fattr *attr, u64 which, u64 *done)
{
	dafs_status_t status;

	dafsd_write_begin(use);
	status = dafsd_persist_write(use, attr->object_size, OFFSET_MAX) ?:
		 dafsd_setattr_write(fh, attr, which, done);
	dafsd_write_end(use);
	return status;
}

/* @use: without a file if the size is not set */
static dafs_status_t dafsd_setattr_stable(const struct dafsd_use *use, struct dafsd_fh *fh,
					  const struct dafs_fattr *attr, u64 which, u64 *done)
{
	dafs_status_t status;
	int err;

	if (use->filp)
		status = dafsd_setattr_size(use, fh, attr, which, done);
	else
		status = dafsd_setattr_write(fh, attr, which, done);
	if (!*done)
		return status;
	err = dafsd_commit_metadata(fh->exp, fh->dentry);
	/* the client must not repeat what is done, and others may have seen */
	if (status == DAFSERR_DELAY)
		return DAFSERR_IO;
	return status ?: dafs_errno_to_status(err);
}

/*
 * Write access is dropped before the outcome is recorded: the store may be in the same file system,
 * and a freeze would wait for this task, and this task for the freeze.
 */
static dafs_status_t dafsd_setattr_once(struct dafsd_rqst *rq, const struct dafsd_use *use,
					struct dafsd_fh *fh, const struct dafs_fattr *attr,
					u64 which)
{
	struct dafsd_hold hold;
	dafs_status_t status;

	status = dafsd_intent_setattr(rq, fh, attr, which, &hold);
	if (status)
		return status;
	/* a lock may have been broken meanwhile, and the size be another one */
	if (use->filp)
		status = dafsd_setattr_check_locks(use, attr->object_size);
	if (!status)
		status = dafsd_setattr_stable(use, fh, attr, which,
					      &rq->res.setattr.attr_request_bitmap);
	dafsd_fh_drop_write(fh);
	dafsd_intent_release(rq, status, &hold);
	return status;
}

/*
 * Changing the size needs the permission to write: an open for writing, or the right to
 * open the file for writing.  This is checked before write access to the file system is
 * taken.
 */
static dafs_status_t dafsd_setattr_which(struct dafsd_rqst *rq, struct dafsd_fh *fh,
					 const struct dafs_state_id *state_id,
					 const struct dafs_fattr *attr, u64 which)
{
	dafs_status_t status = DAFS_STATUS_OK;
	struct dafsd_use use = {};

	if (which & DAFS_FATTR_OBJECT_SIZE) {
		status = dafsd_open_find(rq, fh, state_id, DAFS_OPEN_SHARE_ACCESS_WRITE, &use);
		if (status)
			return status;
		status = dafsd_setattr_check_locks(&use, attr->object_size);
	}
	if (!status)
		status = dafsd_setattr_once(rq, &use, fh, attr, which);
	if (use.filp)
		dafsd_open_end(&use);
	return status;
}

/**
 * dafsd_setattr() - the common part of SETATTR_INLINE and SETATTR_DIRECT (6.5.35, E-114)
 * @rq: request; the bitmap in the result is set to the attributes that were set
 * @fh: the object
 * @state_id: state_id of the request
 * @attr: decoded attributes
 *
 * Context: may sleep; acts for the caller.
 * Return: DAFS status.
 */
dafs_status_t dafsd_setattr(struct dafsd_rqst *rq, struct dafsd_fh *fh,
			    const struct dafs_state_id *state_id, const struct dafs_fattr *attr)
{
	dafs_status_t status = dafsd_fattr_check(attr, DAFSD_FATTR_SETTABLE);

	return status ?: dafsd_setattr_which(rq, fh, state_id, attr,
					     attr->included & attr->valid);
}

static dafs_status_t dafsd_setattr_inline(struct dafsd_rqst *rq, struct dafsd_fh *fh)
{
	struct dafs_setattr_inline_args *args = &rq->args.setattr_inline;

	return dafsd_setattr(rq, fh, &args->state_id, &args->obj_attributes);
}

/**
 * dafsd_proc_setattr_inline() - SETATTR_INLINE (6.5.35, E-114)
 * @rq: request
 *
 * The bitmap of what was set is returned in any case.
 *
 * Context: process context under the caller's credential; may sleep.
 * Return: DAFS status.
 */
dafs_status_t dafsd_proc_setattr_inline(struct dafsd_rqst *rq)
{
	rq->body = true;
	return dafsd_fh_use(rq, &rq->args.setattr_inline.filehandle, dafsd_setattr_inline);
}

/* Attributes that have a value, also for pseudo directories; for quotas see vfs/quota.c */
#define DAFSD_FSATTR_GENERAL	\
	(DAFS_FSATTR_LINK_SUPPORT | DAFS_FSATTR_SYMLINK_SUPPORT | DAFS_FSATTR_CAN_SET_TIME |	\
	 DAFS_FSATTR_CASE_INSENSITIVE | DAFS_FSATTR_CASE_PRESERVING |				\
	 DAFS_FSATTR_CHOWN_RESTRICTED | DAFS_FSATTR_HOMOGENEOUS | DAFS_FSATTR_NO_TRUNC |	\
	 DAFS_FSATTR_UNIQUE_HANDLE | DAFS_FSATTR_LEASE_TIME | DAFS_FSATTR_RD_ATTR_ERROR |	\
	 DAFS_FSATTR_ACL_SUPPORT | DAFS_FSATTR_MAX_NAME | DAFS_FSATTR_SUPPORTED_FATTR |	\
	 DAFS_FSATTR_SUPPORTED_FSATTR | DAFS_FSATTR_MAX_READ | DAFS_FSATTR_MAX_WRITE |		\
	 DAFS_FSATTR_FSHANDLE | DAFS_FSATTR_MAX_APPEND | DAFS_FSATTR_PREF_IO_SIZE |		\
	 DAFS_FSATTR_FH_EXPIRE_TYPE)

#define DAFSD_FSATTR_SPACE	\
	(DAFS_FSATTR_FILES_AVAILABLE | DAFS_FSATTR_FILES_FREE | DAFS_FSATTR_FILES_TOTAL |	\
	 DAFS_FSATTR_SPACE_AVAILABLE | DAFS_FSATTR_SPACE_FREE | DAFS_FSATTR_SPACE_TOTAL |	\
	 DAFS_FSATTR_MAX_FILE_SIZE)

#define DAFSD_FSATTR_SUPPORTED	\
	(DAFSD_FSATTR_GENERAL | DAFSD_FSATTR_SPACE | DAFS_FSATTR_MAX_LINK |			\
	 DAFS_FSATTR_FAILOVER_LOCATIONS)

/* Attributes of the server, not of the file system */
static dafs_status_t dafsd_fsattr_general(const struct dafsd_fh *fh, struct dafs_fsattr *attr)
{
	struct dafs_fh wire;
	dafs_status_t status;

	status = dafsd_fh_to_wire(fh, &wire);
	if (status)
		return status;
	memcpy(attr->fshandle, wire.fshandle, sizeof(attr->fshandle));
	attr->case_preserving = 1;
	attr->chown_restricted = 1;
	attr->homogeneous = 1;
	attr->no_trunc = 1;
	attr->unique_handle = 1;
	attr->lease_time = dafsd_lease_seconds;
	attr->max_name = NAME_MAX;
	attr->supported_fattr = DAFSD_FATTR_SUPPORTED;
	attr->supported_fsattr = DAFSD_FSATTR_SUPPORTED;
	attr->max_read = DAFS_MAX_IO_SIZE;
	attr->max_write = DAFS_MAX_IO_SIZE;
	attr->max_append = DAFS_MAX_IO_SIZE;
	attr->pref_io_size = DAFS_MAX_IO_SIZE;
	attr->fh_expire_type = DAFS_FH_PERSISTENT;
	return DAFS_STATUS_OK;
}

static bool dafsd_fs_ignores_case(const struct super_block *sb, const struct inode *inode)
{
	return IS_CASEFOLDED(inode) || sb->s_magic == MSDOS_SUPER_MAGIC ||
	       sb->s_magic == EXFAT_SUPER_MAGIC;
}

static void dafsd_fsattr_from_super(const struct dafsd_fh *fh, struct dafs_fsattr *attr)
{
	const struct inode *inode = dafsd_fh_inode(fh);
	const struct super_block *sb = inode->i_sb;
	const struct inode_operations *op = d_inode(fh->exp->path.dentry)->i_op;

	attr->link_support = op->link && dafsd_procs[DAFS_PROC_LINK].run;
	attr->symlink_support = !!op->symlink;
	attr->can_set_time = 1;
	attr->case_insensitive = dafsd_fs_ignores_case(sb, inode);
	/* with subtree_check a filehandle also names the directory of its file, see vfs/fh.c */
	attr->unique_handle = !fh->exp->subtree_check;
	if (fh->exp->subtree_check)
		attr->fh_expire_type = DAFS_FH_VOL_RENAME;
	attr->max_link = sb->s_max_links;
	attr->max_file_size = sb->s_maxbytes;
	if (!dafsd_fattr_has_mime(sb))
		attr->supported_fattr &= ~DAFS_FATTR_MIME_TYPE;
	if (!sb->s_max_links)
		attr->valid &= ~DAFS_FSATTR_MAX_LINK;
}

static void dafsd_fsattr_from_statfs(const struct kstatfs *st, struct dafs_fsattr *attr)
{
	u64 unit = st->f_frsize ?: st->f_bsize;

	attr->max_name = st->f_namelen;
	attr->files_available = st->f_ffree;
	attr->files_free = st->f_ffree;
	attr->files_total = st->f_files;
	attr->space_available = st->f_bavail * unit;
	attr->space_free = st->f_bfree * unit;
	attr->space_total = st->f_blocks * unit;
}

/* An export without alternates has an empty list. */
static dafs_status_t dafsd_fsattr_locate(struct dafsd_rqst *rq, const struct dafsd_fh *fh,
					 struct dafs_fsattr *attr)
{
	if (!(attr->valid & DAFS_FSATTR_FAILOVER_LOCATIONS) || !fh->exp->place)
		return DAFS_STATUS_OK;
	rq->scratch = dafsd_place_locations(fh->exp->place, fh->exp->name, rq->ses->client,
					    &attr->failover_locations);
	return rq->scratch ? DAFS_STATUS_OK : DAFSERR_RESOURCE;
}

static dafs_status_t dafsd_fsattr_get(struct dafsd_rqst *rq, struct dafsd_fh *fh)
{
	struct dafs_fsattr *attr = &rq->res.get_fsattr.obj_attributes;
	struct kstatfs st;
	struct path path;
	dafs_status_t status;
	int err;

	attr->included = rq->args.getattr.attr_request_bitmap & DAFS_FSATTR_ALL;
	attr->valid = attr->included & DAFSD_FSATTR_SUPPORTED;
	status = dafsd_fsattr_general(fh, attr);
	if (status)
		return status;
	if (dafsd_fh_is_pseudo(fh)) {
		attr->valid &= DAFSD_FSATTR_GENERAL;
		return DAFS_STATUS_OK;
	}
	dafsd_fsattr_from_super(fh, attr);
	path = dafsd_fh_path(fh);
	err = vfs_statfs(&path, &st);
	if (err)
		return dafs_errno_to_status(err);
	dafsd_fsattr_from_statfs(&st, attr);
	dafsd_quota_get(path.dentry->d_sb, attr);
	return dafsd_fsattr_locate(rq, fh, attr);
}

/**
 * dafsd_proc_get_fsattr() - GET_FSATTR (6.5.15)
 * @rq: request
 *
 * Context: process context under the caller's credential; may sleep.
 * Return: DAFS status.
 */
dafs_status_t dafsd_proc_get_fsattr(struct dafsd_rqst *rq)
{
	return dafsd_fh_use(rq, &rq->args.getattr.filehandle, dafsd_fsattr_get);
}

/**
 * dafsd_readlink() - the contents of a symbolic link
 * @rq: request; the contents are freed with it
 * @fh: the link
 * @link: filled
 *
 * Context: may sleep; acts for the caller.
 * Return: OK; INVAL if it is no link; the status of the file system; RESOURCE.
 */
dafs_status_t dafsd_readlink(struct dafsd_rqst *rq, const struct dafsd_fh *fh,
			     struct dafs_str *link)
{
	DEFINE_DELAYED_CALL(done);
	const char *text;
	struct path path;

	if (dafsd_fh_is_pseudo(fh) || !d_is_symlink(fh->dentry))
		return DAFSERR_INVAL;
	path = dafsd_fh_path(fh);
	touch_atime(&path);
	text = vfs_get_link(fh->dentry, &done);
	if (IS_ERR(text))
		return dafs_errno_to_status(PTR_ERR(text));
	link->len = strlen(text);
	rq->scratch = kvmemdup(text, link->len + 1, GFP_KERNEL);
	link->data = rq->scratch;
	do_delayed_call(&done);
	return rq->scratch ? DAFS_STATUS_OK : DAFSERR_RESOURCE;
}

static dafs_status_t dafsd_readlink_inline(struct dafsd_rqst *rq, struct dafsd_fh *fh)
{
	return dafsd_readlink(rq, fh, &rq->res.readlink_inline.link);
}

/**
 * dafsd_proc_readlink_inline() - READLINK_INLINE (6.5.31)
 * @rq: request
 *
 * Context: process context under the caller's credential; may sleep.
 * Return: DAFS status.
 */
dafs_status_t dafsd_proc_readlink_inline(struct dafsd_rqst *rq)
{
	return dafsd_fh_use(rq, &rq->args.fh.filehandle, dafsd_readlink_inline);
}
