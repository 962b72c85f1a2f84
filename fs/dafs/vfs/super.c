// SPDX-License-Identifier: GPL-2.0
/*
 * Super blocks and their inodes in memory, and taking them down again.
 */
#include <linux/backing-dev.h>
#include <linux/module.h>
#include <linux/mount.h>
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/statfs.h>
#include <linux/string.h>
#include <linux/writeback.h>
#include "../data/data.h"
#include "../state/deleg.h"
#include "../state/lock.h"
#include "vfs.h"

static struct kmem_cache *dafs_inode_cachep;

/* Slab constructor */
static void dafs_inode_construct(void *data)
{
	struct dafs_inode *di = data;

	dafs_inode_init_once(di);
	INIT_WORK(&di->commit_work, dafs_commit_work);
}

static struct inode *dafs_alloc_inode(struct super_block *sb)
{
	struct dafs_inode *di = alloc_inode_sb(sb, dafs_inode_cachep, GFP_KERNEL);

	if (!di)
		return NULL;
	dafs_inode_reset(di);
	return &di->netfs.inode;
}

static void dafs_free_inode(struct inode *inode)
{
	if (S_ISLNK(inode->i_mode))
		kfree(inode->i_link);
	kmem_cache_free(dafs_inode_cachep, DAFS_I(inode));
}

static void dafs_evict_inode(struct inode *inode)
{
	netfs_wait_for_outstanding_io(inode);
	truncate_inode_pages_final(&inode->i_data);
	clear_inode(inode);
	dafs_deleg_evict(DAFS_I(inode));
	dafs_unstable_drop(DAFS_I(inode));
	dafs_locks_free(DAFS_I(inode));
	dafs_inode_release(DAFS_I(inode));
}

static int dafs_statfs(struct dentry *dentry, struct kstatfs *st)
{
	const u64 wanted = DAFS_FSATTR_SPACE_TOTAL | DAFS_FSATTR_SPACE_FREE |
			   DAFS_FSATTR_SPACE_AVAILABLE | DAFS_FSATTR_FILES_TOTAL |
			   DAFS_FSATTR_FILES_FREE | DAFS_FSATTR_FSHANDLE;
	struct super_block *sb = dentry->d_sb;
	struct dafs_sb_info *sbi = DAFS_SB(sb);
	struct dafs_fsattr attr = {};
	int err;

	err = dafs_get_fsattr(sbi->clnt, current_cred(), &DAFS_I(d_inode(dentry))->fh,
			      wanted, &attr);
	if (err)
		return err;
	st->f_type = DAFS_SUPER_MAGIC;
	st->f_bsize = sb->s_blocksize;
	st->f_frsize = sb->s_blocksize;
	st->f_blocks = attr.space_total >> sb->s_blocksize_bits;
	st->f_bfree = attr.space_free >> sb->s_blocksize_bits;
	st->f_bavail = attr.space_available >> sb->s_blocksize_bits;
	st->f_files = attr.files_total;
	st->f_ffree = attr.files_free;
	st->f_namelen = sbi->max_name;
	st->f_fsid = uuid_to_fsid(attr.fshandle);
	return 0;
}

static int dafs_sync_fs(struct super_block *sb, int wait)
{
	if (wait)
		dafs_commit_all(DAFS_SB(sb));
	return 0;
}

/* Memory is short: what is stable can be dropped. */
static long dafs_nr_cached_objects(struct super_block *sb, struct shrink_control *sc)
{
	return dafs_unstable_pages(DAFS_SB(sb));
}

static long dafs_free_cached_objects(struct super_block *sb, struct shrink_control *sc)
{
	dafs_unstable_hurry(DAFS_SB(sb));
	return 0;
}

/* May the client be used after this mount has gone? */
static bool dafs_used_elsewhere(struct super_block *sb)
{
	struct dafs_sb_info *sbi = DAFS_SB(sb);

	/* each mount is a user; the other one may have gone meanwhile */
	if (test_bit(DAFS_SB_SHARED, &sbi->flags) && atomic_read(&sb->s_active) > 1)
		return true;
	return dafs_client_shared(sbi->clnt);
}

/*
 * A mount below another one leaves the client to that one.  A second mount of the
 * export, and mounts below, which umount(2) looks at later and finds idle or not, should
 * work again with the server.  In either case what the server has asked for patience
 * with fails now: the server may never have had enough of it, and a task that exits waits
 * for its asynchronous I/O, which keeps the file open.
 */
static void dafs_umount_begin(struct super_block *sb)
{
	struct dafs_sb_info *sbi = DAFS_SB(sb);

	WRITE_ONCE(sbi->forced, sbi->forced + 1);
	if (sbi->submount && dafs_client_shared(sbi->clnt))
		return;
	if (dafs_used_elsewhere(sb)) {
		dafs_client_stop_waiting(sbi->clnt);
		return;
	}
	set_bit(DAFS_SB_FORCED, &sbi->flags);
	dafs_client_shutdown(sbi->clnt);
}

const struct super_operations dafs_super_ops = {
	.alloc_inode	= dafs_alloc_inode,
	.free_inode	= dafs_free_inode,
	.evict_inode	= dafs_evict_inode,
	.statfs		= dafs_statfs,
	.sync_fs	= dafs_sync_fs,
	.nr_cached_objects = dafs_nr_cached_objects,
	.free_cached_objects = dafs_free_cached_objects,
	.umount_begin	= dafs_umount_begin,
	.show_options	= dafs_show_options,
	.show_stats	= dafs_show_stats,
};

/**
 * dafs_sb_info_free() - free what a super block has of DAFS
 * @sbi: that, or NULL
 *
 * Context: may sleep.
 */
void dafs_sb_info_free(struct dafs_sb_info *sbi)
{
	if (!sbi)
		return;
	if (sbi->clnt) {
		dafs_client_del_recoverer(sbi->clnt, &sbi->recoverer);
		dafs_client_put(sbi->clnt);
	}
	put_cred(sbi->cred);
	kfree(sbi->source);
	kfree_rcu(sbi, rcu);
}

/*
 * What is on its way now can only be reads that no task waits for, and CLOSEs: a server
 * that is away closes by itself when the lease or the session ends.  Nor is one waited
 * for that asks for patience; what has been told so notices that when it tries again.
 */
static void dafs_leave(struct dafs_sb_info *sbi)
{
	WRITE_ONCE(sbi->leaving, true);
	if (sbi->clnt)
		dafs_client_look_again(sbi->clnt);
}

/* From here on nothing of this mount is dirty, or kept until it is stable. */
static void dafs_settle_sb(struct super_block *sb)
{
	if (sb->s_root)
		sync_filesystem(sb);
	dafs_unstable_sb_exit(DAFS_SB(sb));
}

struct dafs_settle {
	struct work_struct work;
	struct super_block *sb;
};

static void dafs_settle_work(struct work_struct *work)
{
	dafs_settle_sb(container_of(work, struct dafs_settle, work)->sb);
}

/*
 * The last task of a mount namespace unmounts when it exits.  Other than for a file that
 * such a task leaves open there is no background for a mount that goes, so it is settled
 * by a work item, which waits for the server as umount(8) does.
 */
static void dafs_settle(struct super_block *sb)
{
	struct dafs_settle settle = { .sb = sb };

	if (!dafs_task_exits()) {
		dafs_settle_sb(sb);
		return;
	}
	INIT_WORK_ONSTACK(&settle.work, dafs_settle_work);
	queue_work(system_unbound_wq, &settle.work);
	flush_work(&settle.work);
	destroy_work_on_stack(&settle.work);
}

/**
 * dafs_kill_sb() - unmount
 * @sb: the super block
 *
 * Context: may sleep, for as long as its I/O takes.
 */
void dafs_kill_sb(struct super_block *sb)
{
	struct dafs_sb_info *sbi = DAFS_SB(sb);

	dafs_settle(sb);
	dafs_leave(sbi);
	/* before inodes are evicted, which nobody may hold then */
	dafs_delegs_end(sbi);
	wait_var_event(&sbi->async, !atomic_read(&sbi->async));
	kill_anon_super(sb);
	/* Write-back may have been the last to use an open. */
	wait_var_event(&sbi->async, !atomic_read(&sbi->async));
	/* they find nothing any more; memory reclaim may have started the second one */
	cancel_work_sync(&sbi->puts_work);
	cancel_delayed_work_sync(&sbi->commit_work);
	/* an RCU walk that came from outside may still look at the options */
	synchronize_rcu();
	/* sget_fc() still looks at dying super blocks, see dafs_share_test() */
	WRITE_ONCE(sb->s_fs_info, NULL);
	dafs_sb_info_free(sbi);
}

/**
 * dafs_inode_cache_init() - make the cache of inodes
 *
 * Context: module initialization.
 * Return: 0 or -ENOMEM.
 */
int dafs_inode_cache_init(void)
{
	dafs_inode_cachep = kmem_cache_create("dafs_inode", sizeof(struct dafs_inode), 0,
					      SLAB_RECLAIM_ACCOUNT | SLAB_ACCOUNT,
					      dafs_inode_construct);
	return dafs_inode_cachep ? 0 : -ENOMEM;
}

/**
 * dafs_inode_cache_exit() - free the cache of inodes
 *
 * Context: module exit; may sleep.
 */
void dafs_inode_cache_exit(void)
{
	/* Inodes are freed after a grace period. */
	rcu_barrier();
	kmem_cache_destroy(dafs_inode_cachep);
}
