// SPDX-License-Identifier: GPL-2.0
/*
 * Records of inodes that a client has open, accesses, or is removing.
 *
 * References (dafsd_file.users):
 *
 *  1. Each state has one of the file that it is about, until it is freed.
 *  2. A request that works on the file without a state has one until it is done.
 *  3. The table has none.  The last reference takes the record out of the table, under
 *     dafsd_files_lock; a lookup under RCU takes one only if there is another.
 *  4. A record has one reference to its inode, until it is out of the table.
 *  5. Its memory is freed after an RCU grace period, so that a lookup of state may compare
 *     the inode.
 */
#include <linux/fs.h>
#include <linux/lockdep.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include "file.h"

/* By inode, possibly millions.  Changed under dafsd_files_lock, read under RCU. */
static struct rhashtable dafsd_files;
static DEFINE_SPINLOCK(dafsd_files_lock);

static const struct rhashtable_params dafsd_files_params = {
	.head_offset = offsetof(struct dafsd_file, node),
	.key_offset = offsetof(struct dafsd_file, inode),
	.key_len = sizeof_field(struct dafsd_file, inode),
	.automatic_shrinking = true,
};

/**
 * dafsd_files_init() - initialize the table of inode records
 *
 * Context: module initialization.
 * Return: 0 or -ENOMEM.
 */
int dafsd_files_init(void)
{
	return rhashtable_init(&dafsd_files, &dafsd_files_params);
}

/**
 * dafsd_files_exit() - undo dafsd_files_init()
 *
 * Context: module exit; no record is left.
 */
void dafsd_files_exit(void)
{
	rhashtable_destroy(&dafsd_files);
}

/**
 * dafsd_file_find() - the record of an inode, if it has one
 * @inode: the inode
 *
 * Context: any but interrupt.
 * Return: a reference, or NULL.
 */
struct dafsd_file *dafsd_file_find(const struct inode *inode)
{
	struct dafsd_file *file;

	rcu_read_lock();
	file = rhashtable_lookup(&dafsd_files, &inode, dafsd_files_params);
	if (file && !refcount_inc_not_zero(&file->users))
		file = NULL;
	rcu_read_unlock();
	return file;
}

/*
 * While these locks of an overlayfs file are held, the file of the layer below may be
 * changed, which takes the same locks of that file; never the other way round.
 */
static void dafsd_file_nest(struct dafsd_file *file)
{
	lockdep_set_subclass(&file->gate, file->inode->i_sb->s_stack_depth);
	lockdep_set_subclass(&file->append, file->inode->i_sb->s_stack_depth);
	lockdep_set_subclass(&file->lock, file->inode->i_sb->s_stack_depth);
}

static struct dafsd_file *dafsd_file_new(struct inode *inode)
{
	struct dafsd_file *file = kzalloc(sizeof(*file), GFP_KERNEL);

	if (!file)
		return NULL;
	refcount_set(&file->users, 1);
	file->inode = inode;
	init_rwsem(&file->gate);
	init_rwsem(&file->append);
	mutex_init(&file->lock);
	dafsd_file_nest(file);
	INIT_LIST_HEAD(&file->opens);
	INIT_LIST_HEAD(&file->delegs);
	spin_lock_init(&file->locks_lock);
	INIT_LIST_HEAD(&file->lockers);
	INIT_LIST_HEAD(&file->lock_waits);
	INIT_LIST_HEAD(&file->recall_waits);
	return file;
}

/*
 * Return: @new, or the existing record with another reference; NULL without memory.
 */
static struct dafsd_file *dafsd_file_add(struct dafsd_file *new)
{
	struct dafsd_file *file;

	/* with the lock held, no record in the table loses its last reference */
	lockdep_assert_held(&dafsd_files_lock);
	rcu_read_lock();
	file = rhashtable_lookup_get_insert_fast(&dafsd_files, &new->node, dafsd_files_params);
	rcu_read_unlock();
	if (IS_ERR(file))
		return NULL;
	if (file)
		refcount_inc(&file->users);
	else
		ihold(new->inode);
	return file ?: new;
}

/**
 * dafsd_file_get() - find or create the record of an inode
 * @inode: the inode
 *
 * Context: may sleep.
 * Return: a reference, or NULL without memory.
 */
struct dafsd_file *dafsd_file_get(struct inode *inode)
{
	struct dafsd_file *file = dafsd_file_find(inode);
	struct dafsd_file *new;

	if (file)
		return file;
	new = dafsd_file_new(inode);
	if (!new)
		return NULL;
	spin_lock(&dafsd_files_lock);
	file = dafsd_file_add(new);
	spin_unlock(&dafsd_files_lock);
	if (file != new)
		kfree(new);
	return file;
}

/**
 * dafsd_file_hold() - take another reference to the record of an inode
 * @file: the record; the caller has a reference
 *
 * Context: any.
 */
void dafsd_file_hold(struct dafsd_file *file)
{
	refcount_inc(&file->users);
}

/**
 * dafsd_file_put() - drop a reference to the record of an inode
 * @file: the record
 *
 * Context: may sleep.
 */
void dafsd_file_put(struct dafsd_file *file)
{
	if (refcount_dec_not_one(&file->users))
		return;
	spin_lock(&dafsd_files_lock);
	if (!refcount_dec_and_test(&file->users)) {
		spin_unlock(&dafsd_files_lock);
		return;
	}
	rhashtable_remove_fast(&dafsd_files, &file->node, dafsd_files_params);
	spin_unlock(&dafsd_files_lock);
	iput(file->inode);
	kfree_rcu(file, rcu);
}
