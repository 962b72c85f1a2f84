// SPDX-License-Identifier: GPL-2.0
/*
 * What works in the background for a mount, and on its inodes, and keeps both.
 */
#include "inode.h"

/**
 * dafs_async_begin() - a work item of this mount is going to be queued
 * @sbi: the mount, which will not go away before dafs_async_end()
 */
void dafs_async_begin(struct dafs_sb_info *sbi)
{
	atomic_inc(&sbi->async);
}

/**
 * dafs_async_end() - a work item of this mount is done with it
 * @sbi: the mount
 */
void dafs_async_end(struct dafs_sb_info *sbi)
{
	if (atomic_dec_and_test(&sbi->async))
		wake_up_var(&sbi->async);
}

/**
 * dafs_inode_hold() - something in the background uses an inode
 * @inode: the inode
 *
 * Without that its last user would wait for the end of it, who may be killed, and could
 * not go if the server is away.
 *
 * Context: any but interrupt.
 * Return: true if there is a reference now, for dafs_inode_put_later(); false if the
 * inode is being evicted.
 */
bool dafs_inode_hold(struct inode *inode)
{
	if (!igrab(inode))
		return false;
	dafs_async_begin(DAFS_SB(inode->i_sb));
	return true;
}

/**
 * dafs_inode_put_later() - undo dafs_inode_hold()
 * @inode: the inode
 *
 * If it is the last user, the inode is evicted by a work item: that waits for the end
 * of what the caller may be about to end.
 *
 * Context: any but interrupt.
 */
void dafs_inode_put_later(struct inode *inode)
{
	struct dafs_sb_info *sbi = DAFS_SB(inode->i_sb);

	if (atomic_add_unless(&inode->i_count, -1, 1)) {
		dafs_async_end(sbi);
		return;
	}
	/* No one else has a reference, and this one is kept, so it is in no list. */
	spin_lock(&sbi->puts_lock);
	list_add_tail(&DAFS_I(inode)->put_link, &sbi->puts);
	/* with the lock: the mount may be gone as soon as the inode is put */
	queue_work(sbi->clnt->put_wq, &sbi->puts_work);
	spin_unlock(&sbi->puts_lock);
}

static struct inode *dafs_next_put(struct dafs_sb_info *sbi)
{
	struct dafs_inode *di;

	spin_lock(&sbi->puts_lock);
	di = list_first_entry_or_null(&sbi->puts, struct dafs_inode, put_link);
	if (di)
		list_del_init(&di->put_link);
	spin_unlock(&sbi->puts_lock);
	return di ? &di->netfs.inode : NULL;
}

/**
 * dafs_inode_puts() - put the inodes of dafs_inode_put_later()
 * @work: dafs_sb_info.puts_work
 *
 * Context: its work queue; may sleep.
 */
void dafs_inode_puts(struct work_struct *work)
{
	struct dafs_sb_info *sbi = container_of(work, struct dafs_sb_info, puts_work);
	struct inode *inode;

	while ((inode = dafs_next_put(sbi))) {
		iput(inode);
		dafs_async_end(sbi);
	}
}
