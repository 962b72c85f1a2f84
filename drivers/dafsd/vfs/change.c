// SPDX-License-Identifier: GPL-2.0
/*
 * The CHANGE attribute, and the change_info that operations on a directory
 * return (6.1.4, 6.1.5, E-119).
 */
#include <linux/blkdev.h>
#include <linux/exportfs.h>
#include <linux/file.h>
#include <linux/pagemap.h>
#include <linux/stat.h>
#include <linux/dafs/status.h>
#include "../session/client.h"
#include "../export/export.h"
#include "fh.h"
#include "vfs.h"

/**
 * dafsd_change_of() - CHANGE of an object
 * @inode: the object
 * @stat: of vfs_getattr() with DAFSD_CHANGE_MASK, which a cluster file system updates from
 *	the other nodes
 *
 * The change counter of an object may go back if the machine crashes before the inode was
 * written.  It would then repeat values for different data; adding the time prevents
 * that.  The time also shows changes that a file system does not count, for example the
 * links to a file in ext4.  Directories are written before a reply, so their counter is
 * sufficient.
 *
 * Context: any.
 * Return: a value that increases with every change; or the time of the last change if the
 * file system has no counter.
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
 * @info: filled, except for the value after the operation
 *
 * Context: may sleep; info->atomic is set if the file system counts changes, so the caller
 * holds the lock of @dir from here to dafsd_change_after().
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

/* Open an object to sync it, without waiting for leases of local programs */
static struct file *dafsd_open_to_sync(const struct path *path)
{
	const struct cred *saved;
	struct file *filp;

	/* opening an object of another kind may have side effects */
	if (!d_is_reg(path->dentry) && !d_is_dir(path->dentry))
		return ERR_PTR(-EINVAL);
	saved = dafsd_act_as_server();
	filp = dentry_open(path, O_RDONLY | O_LARGEFILE | O_NONBLOCK, current_cred());
	revert_creds(saved);
	if (!IS_ERR(filp) && !filp->f_op->fsync) {
		__fput_sync(filp);
		return ERR_PTR(-EINVAL);
	}
	return filp;
}

/*
 * Sync an object that cannot be opened: write its inode, and with it global metadata of
 * the file system, such as the journal.  The data of a regular file is not written here.
 * The data of a symbolic link is its target, that of a directory its names.
 */
static int dafsd_sync_unopened(struct inode *inode)
{
	struct super_block *sb = inode->i_sb;
	int err;

	err = S_ISREG(inode->i_mode) ? sync_inode_metadata(inode, 1) : write_inode_now(inode, 1);
	if (err)
		return err;
	if (sb->s_op->sync_fs) {
		down_read(&sb->s_umount);
		err = sb->s_op->sync_fs(sb, 1);
		up_read(&sb->s_umount);
	}
	return err ?: sync_blockdev(sb->s_bdev);
}

/*
 * Sync an object as a program would do.  Writing the inode is not enough: btrfs and
 * overlayfs do nothing in this case, and others do not write the contents of a directory.
 * Data of a file is not written before COMMIT, so the range is small.
 */
static int dafsd_fsync_metadata(const struct path *path)
{
	struct file *filp = dafsd_open_to_sync(path);
	int err;

	if (IS_ERR(filp))
		return dafsd_sync_unopened(d_inode(path->dentry));
	err = vfs_fsync_range(filp, 0, 0, 0);
	__fput_sync(filp);
	return err;
}

/**
 * dafsd_commit_metadata() - write the metadata of an object to stable storage
 * @exp: the export of the object
 * @dentry: the object
 *
 * Operations that change names or attributes are not answered before the change is stable:
 * the client does not keep the information to repeat them (4.5).
 *
 * Context: may sleep; holds no lock of the object or its directory.
 * Return: 0 or a negative errno of the file system; none that is answered DELAY, or the client
 * would repeat what may be there.
 */
int dafsd_commit_metadata(const struct dafsd_export *exp, struct dentry *dentry)
{
	const struct export_operations *ops = dentry->d_sb->s_export_op;
	const struct path path = { .mnt = exp->path.mnt, .dentry = dentry };
	int err;

	if (ops->commit_metadata)
		err = ops->commit_metadata(d_inode(dentry));
	else
		err = dafsd_fsync_metadata(&path);
	return dafs_errno_to_status(err) == DAFSERR_DELAY ? -EIO : err;
}
