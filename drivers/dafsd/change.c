// SPDX-License-Identifier: GPL-2.0
/*
 * The CHANGE attribute, and the change_info that operations on a directory
 * return (6.1.4, 6.1.5, E-119).
 */
#include <linux/exportfs.h>
#include <linux/stat.h>
#include <linux/writeback.h>
#include "vfs.h"

/**
 * dafsd_change_of() - CHANGE of an object
 * @inode: the object
 * @stat: of vfs_getattr() with DAFSD_CHANGE_MASK, which a file system of a cluster
 *	asks the others for
 *
 * The change counter of an object may go back when the machine crashes before the
 * inode was written, and would then repeat values for other data; adding the time
 * makes a repetition impossible.  It also shows what a file
 * system does not count, as ext4 the links to a file.  Directories are written
 * before a reply, so their counter is enough.
 *
 * Context: any.
 * Return: a value that increases with every change; or the time of the last one,
 * where the file system has no counter.
 */
u64 dafsd_change_of(const struct inode *inode, const struct kstat *stat)
{
	u64 ctime = ((u64)stat->ctime.tv_sec << 30) + stat->ctime.tv_nsec;

	if (!(stat->result_mask & STATX_CHANGE_COOKIE))
		return ctime;
	if (S_ISDIR(inode->i_mode) || (stat->attributes & STATX_ATTR_CHANGE_MONOTONIC))
		return stat->change_cookie;
	return ctime + stat->change_cookie;
}

/* Return: false if the value may be the same after another change. */
static bool dafsd_change_get(const struct dafsd_fh *dir, u64 *change)
{
	const struct export_operations *ops = dir->dentry->d_sb->s_export_op;
	const struct path path = dafsd_fh_path(dir);
	struct kstat stat;

	*change = 0;
	if (vfs_getattr(&path, &stat, DAFSD_CHANGE_MASK, AT_STATX_SYNC_AS_STAT))
		return false;
	*change = dafsd_change_of(dafsd_fh_inode(dir), &stat);
	return (stat.result_mask & STATX_CHANGE_COOKIE) && !(ops->flags & EXPORT_OP_NOATOMIC_ATTR);
}

/**
 * dafsd_change_before() - begin the change_info of an operation
 * @dir: the directory
 * @info: filled but for the value after the operation
 *
 * Context: may sleep; atomic is claimed where the file system counts its changes,
 * so the caller holds the lock of @dir from here to dafsd_change_after().
 */
void dafsd_change_before(const struct dafsd_fh *dir, struct dafs_change_info *info)
{
	info->atomic = dafsd_change_get(dir, &info->before);
}

/**
 * dafsd_change_after() - complete the change_info of an operation
 * @dir: the directory
 * @info: from dafsd_change_before()
 *
 * Context: may sleep; holds the lock of @dir.
 */
void dafsd_change_after(const struct dafsd_fh *dir, struct dafs_change_info *info)
{
	info->atomic &= dafsd_change_get(dir, &info->after);
}

/**
 * dafsd_change_none() - change_info of an operation that changed nothing (E-75)
 * @dir: the directory
 * @info: filled
 *
 * Context: may sleep.
 */
void dafsd_change_none(const struct dafsd_fh *dir, struct dafs_change_info *info)
{
	dafsd_change_before(dir, info);
	info->after = info->before;
}

/**
 * dafsd_commit_metadata() - put the metadata of an object on stable storage
 * @inode: the object
 *
 * Operations that change names or attributes are not answered before their
 * effect is stable: the client keeps nothing to repeat them from (4.5).
 *
 * Context: may sleep.
 * Return: 0 or a negative errno of the file system.
 */
int dafsd_commit_metadata(struct inode *inode)
{
	const struct export_operations *ops = inode->i_sb->s_export_op;

	if (ops->commit_metadata)
		return ops->commit_metadata(inode);
	return sync_inode_metadata(inode, 1);
}
