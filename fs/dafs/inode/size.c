// SPDX-License-Identifier: GPL-2.0
/*
 * The size of a file: as far as the server may have data, and as this client has it.
 */
#include <linux/fs.h>
#include <linux/netfs.h>
#include "inode.h"

/**
 * dafs_zero_point_raise() - the server may have data up to an offset
 * @ictx: the file, with i_lock held
 * @end: offset after the last byte
 *
 * The netfs library reads uncached data at zero_point and beyond as zeroes.  It raises
 * zero_point itself, but without a lock, so one of two concurrent updates can be lost.
 * So this function keeps zero_point at or above remote_i_size and the end of each write
 * that bypasses the page cache.
 */
void dafs_zero_point_raise(struct netfs_inode *ictx, u64 end)
{
	lockdep_assert_held(&ictx->inode.i_lock);
	if (end > ictx->zero_point)
		WRITE_ONCE(ictx->zero_point, end);
}

/**
 * dafs_remote_size_raise() - the file at the server is at least that long
 * @ictx: the file
 * @end: its size, in bytes
 *
 * Context: holds i_lock, if the inode may be in use.
 */
void dafs_remote_size_raise(struct netfs_inode *ictx, u64 end)
{
	dafs_zero_point_raise(ictx, end);
	if (end > ictx->remote_i_size)
		WRITE_ONCE(ictx->remote_i_size, end);
}

/**
 * dafs_file_raise_size() - a write has extended the file, here and at the server
 * @inode: the file
 * @end: offset after the last byte that this client has written
 *
 * A GETATTR response that is older than the write must not set the old size again.  So
 * the change is recorded first; a response that is just being applied is overwritten by
 * the new size.
 *
 * Context: process.
 */
void dafs_file_raise_size(struct inode *inode, u64 end)
{
	struct dafs_inode *di = DAFS_I(inode);

	dafs_own_write(di);
	spin_lock(&di->lock);
	spin_lock(&inode->i_lock);
	dafs_remote_size_raise(netfs_inode(inode), end);
	if (end > i_size_read(inode))
		i_size_write(inode, end);
	spin_unlock(&inode->i_lock);
	spin_unlock(&di->lock);
}
