// SPDX-License-Identifier: GPL-2.0
/*
 * Walking paths for LOOKUP and OPEN (6.5.21, 6.5.24).
 */
#include <linux/ctype.h>
#include <linux/namei.h>
#include <linux/slab.h>
#include <linux/dafs/status.h>
#include "../export/export.h"
#include "../request/request.h"
#include "fh.h"
#include "vfs.h"

/**
 * dafsd_lookup_locked() - look a name up in a directory that is going to be changed
 * @dir: the directory
 * @name: checked name
 *
 * Context: holds the lock of @dir; may sleep.
 * Return: a dentry, possibly negative, or an ERR_PTR.
 */
struct dentry *dafsd_lookup_locked(struct dentry *dir, const struct dafs_str *name)
{
	return lookup_one(&nop_mnt_idmap, (const char *)name->data, dir, name->len);
}

/* Continue in the export that the request has waited for. */
static dafs_status_t dafsd_walk_resume(struct dafsd_rqst *rq, struct dafsd_walk *walk)
{
	dafs_status_t status;

	/* it may have been enabled again with other settings; the client has to retry */
	if (!READ_ONCE(rq->exp->enabled))
		return DAFSERR_DELAY;
	kref_get(&rq->exp->ref);
	status = dafsd_fh_enter(rq, &walk->fh, rq->exp);
	if (!status)
		walk->count = rq->walked;
	return status;
}

/* Skip the components that were walked before the request waited. */
static dafs_status_t dafsd_walk_skip(struct dafsd_rqst *rq, struct dafsd_walk *walk)
{
	struct dafs_str name;
	u32 i;

	for (i = 0; i < rq->walked; i++)
		if (!dafs_path_next(&rq->base.in, &walk->iter, &name))
			return DAFSERR_INVAL;
	return dafsd_walk_resume(rq, walk);
}

/**
 * dafsd_walk_start() - prepare to walk a path
 * @rq: request
 * @start: where the path begins
 * @path: decoded path
 * @link_status: status for a symbolic link that is not the last component
 * @walk: filled; the caller releases walk->fh with dafsd_fh_put(), also after an error
 *
 * A request that has waited for an export continues in that export.
 *
 * Context: may sleep.
 * Return: OK, INVAL for a path without components, or what dafsd_fh_get() or
 * dafsd_fh_enter() returns.
 */
dafs_status_t dafsd_walk_start(struct dafsd_rqst *rq, const struct dafs_fh *start,
			       const struct dafs_seq *path, dafs_status_t link_status,
			       struct dafsd_walk *walk)
{
	memset(walk, 0, sizeof(*walk));
	walk->link_status = link_status;
	if (!path->count)
		return DAFSERR_INVAL;
	dafs_path_start(path, &walk->iter);
	return rq->walked ? dafsd_walk_skip(rq, walk) : dafsd_fh_get(rq, start, &walk->fh);
}

static dafs_status_t dafsd_walk_directory(struct dafsd_rqst *rq, struct dafsd_walk *walk,
					  const struct dafs_str *name)
{
	struct dentry *dir = walk->fh.dentry;
	struct dentry *dentry;
	dafs_status_t status;

	if (d_is_symlink(dir))
		return walk->link_status;
	if (!d_is_dir(dir))
		return DAFSERR_NOTDIR;
	dentry = lookup_one_positive_unlocked(&nop_mnt_idmap, (const char *)name->data,
					      dir, name->len);
	if (IS_ERR(dentry))
		return dafs_errno_to_status(PTR_ERR(dentry));
	walk->fh.dentry = dentry;
	status = dafsd_fh_cross(rq, &walk->fh);
	/* after an error the walk ends before this component (E-96) */
	if (status)
		walk->fh.dentry = dir;
	dput(status ? dentry : dir);
	return status;
}

static dafs_status_t dafsd_walk_find(struct dafsd_rqst *rq, struct dafsd_walk *walk,
				     const struct dafs_str *name)
{
	dafs_status_t status = dafsd_name_check(walk->fh.exp, name);

	if (status)
		return status;
	if (dafsd_name_is_dots(name))
		return DAFSERR_NOENT;
	if (dafsd_fh_is_pseudo(&walk->fh))
		return dafsd_pseudo_lookup(rq, &walk->fh, name);
	return dafsd_walk_directory(rq, walk, name);
}

/* The next component leads to an export that is full; the request will wait for it. */
static void dafsd_walk_waits(struct dafsd_rqst *rq, const struct dafsd_walk *walk)
{
	dafsd_walk_result(rq, walk, DAFSERR_DELAY, &rq->came);
	rq->walked = walk->count + 1;
}

static dafs_status_t dafsd_walk_step(struct dafsd_rqst *rq, struct dafsd_walk *walk,
				     const struct dafs_str *name)
{
	dafs_status_t status = dafsd_walk_find(rq, walk, name);

	if (!status)
		walk->count++;
	else if (rq->wants)
		dafsd_walk_waits(rq, walk);
	return status;
}

/**
 * dafsd_walk_until() - resolve components of a path
 * @rq: request
 * @walk: from dafsd_walk_start()
 * @keep: number of components to leave unresolved
 *
 * Symbolic links are not followed (6.5.21).  Where another export begins, it is
 * entered, see dafsd_fh_cross().
 *
 * Context: may sleep; acts for the caller.
 * Return: OK or the status of the component that failed; walk->fh and
 * walk->count say how far the walk came (E-96).
 */
dafs_status_t dafsd_walk_until(struct dafsd_rqst *rq, struct dafsd_walk *walk, u32 keep)
{
	struct dafs_str name;
	dafs_status_t status;

	while (walk->iter.left > keep) {
		if (!dafs_path_next(&rq->base.in, &walk->iter, &name))
			return DAFSERR_INVAL;
		status = dafsd_walk_step(rq, walk, &name);
		if (status)
			return status;
	}
	return DAFS_STATUS_OK;
}

/**
 * dafsd_walk_result() - fill in how far LOOKUP or OPEN has resolved the path (E-96)
 * @rq: request
 * @walk: the walk, complete or not
 * @status: its status
 * @res: set to the number of components resolved and the filehandle of the last of them;
 *	zero if no component was resolved
 *
 * Context: may sleep.
 * Return: @status, or an error of making the filehandle.
 */
dafs_status_t dafsd_walk_result(const struct dafsd_rqst *rq, const struct dafsd_walk *walk,
				dafs_status_t status, struct dafs_lookup_res *res)
{
	dafs_status_t err = DAFS_STATUS_OK;

	/* the request has waited, and could not continue in the export */
	if (rq->walked && !walk->count) {
		*res = rq->came;
		return status;
	}
	*res = (struct dafs_lookup_res) { .component_count = walk->count };
	if (walk->count)
		err = dafsd_fh_to_wire(&walk->fh, &res->filehandle);
	if (!err)
		return status;
	res->component_count = 0;
	return status ?: err;
}

static dafs_status_t dafsd_walk_names(struct dafsd_rqst *rq, struct dafsd_walk *walk,
				      const char *path)
{
	dafs_status_t status = rq->walked ? dafsd_walk_resume(rq, walk) : DAFS_STATUS_OK;
	struct dafs_str name;
	u32 skip = rq->walked;

	while (!status && *path) {
		name = (struct dafs_str){ .len = strcspn(path, "/"), .data = (const u8 *)path };
		path += name.len;
		path += *path == '/';
		if (skip)
			skip--;
		else
			status = dafsd_walk_step(rq, walk, &name);
	}
	return status;
}

/* Walk from the root to the directory that contains the last component of @path. */
static dafs_status_t dafsd_walk_parent_of(struct dafsd_rqst *rq, struct dafsd_fh *fh,
					  const struct dafs_str *path)
{
	struct dafsd_walk walk = { .link_status = DAFSERR_NOTDIR };
	char *copy = kmemdup_nul((const char *)path->data, path->len, GFP_KERNEL);
	char *last;
	dafs_status_t status;

	if (!copy)
		return DAFSERR_RESOURCE;
	last = strrchr(copy, '/') ?: copy;
	*last = 0;
	status = dafsd_walk_names(rq, &walk, copy);
	kfree(copy);
	if (status) {
		dafsd_fh_put(&walk.fh);
		return status;
	}
	dafsd_fh_put(fh);
	*fh = walk.fh;
	return DAFS_STATUS_OK;
}

/**
 * dafsd_walk_parent() - go to the directory above (6.5.22)
 * @rq: request
 * @fh: a directory; moved to its parent
 *
 * The parent of the root of an export is the directory of the name space that contains
 * the export's name.  So a client cannot leave an export in any other way.
 *
 * Context: may sleep; acts for the caller, who must be able to search @fh.
 * Return: OK; NOENT for the root of the name space; ACCES; or the status of
 * walking to the place of an export.
 */
dafs_status_t dafsd_walk_parent(struct dafsd_rqst *rq, struct dafsd_fh *fh)
{
	struct dentry *child = fh->dentry;
	struct dafs_str path;
	int err = 0;

	/* after a wait the request acts for its caller as squashed by other exports */
	if (fh->exp && !rq->walked)
		err = inode_permission(&nop_mnt_idmap, dafsd_fh_inode(fh), MAY_EXEC);
	if (err)
		return dafs_errno_to_status(err);
	if (fh->exp && child != fh->exp->path.dentry) {
		fh->dentry = dget_parent(child);
		dput(child);
		return DAFS_STATUS_OK;
	}
	path = dafsd_pseudo_path(fh);
	return path.len ? dafsd_walk_parent_of(rq, fh, &path) : DAFSERR_NOENT;
}
