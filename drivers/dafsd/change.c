// SPDX-License-Identifier: GPL-2.0
/*
 * The CHANGE attribute, and the change_info that operations on a directory
 * return (6.1.4, 6.1.5, E-119).
 */
#include <linux/exportfs.h>
#include <linux/iversion.h>
#include <linux/writeback.h>
#include "vfs.h"

static u64 dafsd_change_from_ctime(const struct inode *inode)
{
	struct timespec64 ctime = inode_get_ctime(inode);

	return ((u64)ctime.tv_sec << 30) + ctime.tv_nsec;
}

/**
 * dafsd_change_attr() - CHANGE of a file or directory
 * @inode: the object
 *
 * The change counter of a regular file may go back when the machine crashes
 * before the inode was written, and would then repeat values for other data;
 * adding the time makes a repetition impossible.  It also shows what a file
 * system does not count, as ext4 the links to a file.  Directories are written
 * before a reply, so their counter is enough.
 *
 * Context: any.
 * Return: a value that increases with every change.
 */
u64 dafsd_change_attr(struct inode *inode)
{
	if (!IS_I_VERSION(inode))
		return dafsd_change_from_ctime(inode);
	if (S_ISDIR(inode->i_mode))
		return inode_query_iversion(inode);
	return dafsd_change_from_ctime(inode) + inode_query_iversion(inode);
}

/**
 * dafsd_change_before() - begin the change_info of an operation
 * @dir: the directory
 * @info: filled but for the value after the operation
 *
 * Context: atomic is claimed, so the caller holds the lock of @dir from here to
 * dafsd_change_after().
 */
void dafsd_change_before(struct inode *dir, struct dafs_change_info *info)
{
	info->before = dafsd_change_attr(dir);
	info->atomic = !(dir->i_sb->s_export_op->flags & EXPORT_OP_NOATOMIC_ATTR);
}

/**
 * dafsd_change_after() - complete the change_info of an operation
 * @dir: the directory
 * @info: from dafsd_change_before()
 *
 * Context: holds the lock of @dir.
 */
void dafsd_change_after(struct inode *dir, struct dafs_change_info *info)
{
	info->after = dafsd_change_attr(dir);
}

/**
 * dafsd_change_none() - change_info of an operation that changed nothing (E-75)
 * @dir: the directory
 * @info: filled
 *
 * Context: any.
 */
void dafsd_change_none(struct inode *dir, struct dafs_change_info *info)
{
	info->before = dafsd_change_attr(dir);
	info->after = info->before;
	info->atomic = 1;
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
