// SPDX-License-Identifier: GPL-2.0
/*
 * Share reservations and share keys: what opens of one file forbid each other,
 * and those who come without an open (4.4.1.2, 4.4.2, 6.5.33).
 *
 * A struct dafsd_file stands for an inode that a client has open, works on, or is
 * just removing.  Its mutex makes checking the reservations and acting on the result
 * one step.  I/O without an open is no such step: a gate keeps it and the grant
 * of a reservation apart.  All locks are those of one inode.  Removing a name waits for
 * the mutex with the directory locked, as it does for the lock of the inode, so the mutex
 * is held no longer than that.
 *
 * The opens of a client that has lost them reserve nothing any more from that moment
 * on (dafsd_open.dead), although it may take a while until they are closed.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/lockdep.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include "../session/client.h"
#include "state.h"
#include "state_impl.h"

/* By inode; there may be millions.  Changed under dafsd_files_lock, read under RCU. */
static struct rhashtable dafsd_files;
static DEFINE_SPINLOCK(dafsd_files_lock);

static const struct rhashtable_params dafsd_files_params = {
	.head_offset = offsetof(struct dafsd_file, node),
	.key_offset = offsetof(struct dafsd_file, inode),
	.key_len = sizeof_field(struct dafsd_file, inode),
	.automatic_shrinking = true,
};

/**
 * dafsd_files_init() - begin with no records of inodes
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
	if (file && !dafsd_file_hold(file))
		file = NULL;
	rcu_read_unlock();
	return file;
}

/*
 * A file of an overlayfs is changed with these locks held, by way of a file of the layer
 * below, which is never the other way round.
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
	return file;
}

/*
 * Return: @new, or the record that there is by now, with another reference; NULL
 * without memory.
 */
static struct dafsd_file *dafsd_file_add(struct dafsd_file *new)
{
	struct dafsd_file *file;

	/* with the lock, none that is there loses its last reference */
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
 * dafsd_file_get() - the record of an inode, made if there is none
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
 * dafsd_file_hold() - another reference on the record of an inode
 * @file: the record; found under RCU, or with a reference of the caller
 *
 * Context: any but interrupt.
 * Return: false if it is going away.
 */
bool dafsd_file_hold(struct dafsd_file *file)
{
	return refcount_inc_not_zero(&file->users);
}

/**
 * dafsd_file_put() - one reference less on the record of an inode
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

/**
 * dafsd_file_borrow() - a file that some client has open for writing
 * @file: the record of the inode
 * @client: whose to prefer
 * @own: set if it is the caller's own, opened by @client
 *
 * Context: may sleep; acts for the caller.
 * Return: a reference, or NULL if there is none.
 */
struct file *dafsd_file_borrow(struct dafsd_file *file, const struct dafsd_client *client,
			       bool *own)
{
	struct file *found = NULL, *filp;
	struct dafsd_open *open;

	*own = false;
	mutex_lock(&file->lock);
	list_for_each_entry(open, &file->opens, file_link) {
		if (!(open->access & DAFS_OPEN_SHARE_ACCESS_WRITE))
			continue;
		filp = rcu_dereference_protected(open->filp, lockdep_is_held(&file->lock));
		*own = open->client == client && uid_eq(filp->f_cred->fsuid, current_fsuid());
		if (*own || !found)
			found = filp;
		if (*own)
			break;
	}
	if (found)
		get_file(found);
	mutex_unlock(&file->lock);
	return found;
}

/**
 * dafsd_share_check() - do others' reservations allow this? (8.8 of 4.4.1.2)
 * @file: the file
 * @own: the open that asks, whose own reservation is not in its way; or NULL
 * @access: DAFS_OPEN_SHARE_ACCESS_* wanted
 * @deny: DAFS_OPEN_SHARE_DENY_* wanted
 *
 * Context: holds file->lock.
 * Return: OK or DENIED (E-74).
 */
u32 dafsd_share_check(const struct dafsd_file *file, const struct dafsd_open *own, u32 access,
		      u32 deny)
{
	struct dafsd_open *open;

	lockdep_assert_held(&file->lock);
	/* thousands may have a file open that none of them wants for itself */
	if (!deny && !file->nr_strict)
		return DAFS_STATUS_OK;
	list_for_each_entry(open, &file->opens, file_link) {
		if (open == own || READ_ONCE(open->dead))
			continue;
		if ((access & open->deny) || (deny & open->access))
			return DAFSERR_DENIED;
	}
	return DAFS_STATUS_OK;
}

static bool dafsd_share_has_key(const struct dafsd_file *file)
{
	struct dafsd_open *open;

	if (!file->nr_keys)
		return false;
	list_for_each_entry(open, &file->opens, file_link)
		if (open->holds_key && !READ_ONCE(open->dead))
			return true;
	return false;
}

/**
 * dafsd_share_check_key() - is this the key of the file, if it has one? (E-73)
 * @file: the file
 * @args: of OPEN
 *
 * Context: holds file->lock.
 * Return: OK or KEY_MISMATCH.
 */
u32 dafsd_share_check_key(const struct dafsd_file *file, const struct dafs_open_args *args)
{
	lockdep_assert_held(&file->lock);
	if (args->share_key_type == DAFS_OPEN_SHARE_KEY_BOTH &&
	    file->share_key != args->share_key && dafsd_share_has_key(file))
		return DAFSERR_KEY_MISMATCH;
	return DAFS_STATUS_OK;
}

/**
 * dafsd_share_enter() - may a request without an open do I/O? (E-80)
 * @file: the file
 * @access: DAFS_OPEN_SHARE_ACCESS_* needed
 *
 * On success no reservation is granted until dafsd_share_leave().  Without an open
 * the reservations of all opens hold.
 *
 * Context: may sleep; has no write access to the file system yet.
 * Return: OK or LOCKED.
 */
u32 dafsd_share_enter(struct dafsd_file *file, u32 access)
{
	u32 status;

	down_read(&file->gate);
	mutex_lock(&file->lock);
	status = dafsd_share_check(file, NULL, access, DAFS_OPEN_SHARE_DENY_NONE);
	mutex_unlock(&file->lock);
	if (!status)
		return DAFS_STATUS_OK;
	up_read(&file->gate);
	return DAFSERR_LOCKED;
}

/**
 * dafsd_share_leave() - I/O without an open is done
 * @file: the file of dafsd_share_enter()
 */
void dafsd_share_leave(struct dafsd_file *file)
{
	up_read(&file->gate);
}

/* @more is 1 or -1; to be called before and after a change of what the open forbids */
static void dafsd_share_count(const struct dafsd_open *open, int more)
{
	if (open->deny || open->deny_delete)
		open->file->nr_strict += more;
}

/**
 * dafsd_share_take() - reserve what OPEN asks for, on top of what there is
 * @open: the open
 * @args: of OPEN; was checked
 *
 * Context: holds the lock of the open's file.
 */
void dafsd_share_take(struct dafsd_open *open, const struct dafs_open_args *args)
{
	struct dafsd_file *file = open->file;

	lockdep_assert_held(&file->lock);
	dafsd_share_count(open, -1);
	WRITE_ONCE(open->access, open->access | args->share_access);
	open->deny |= args->share_deny;
	open->deny_delete |= args->delete_disp == DAFS_DELETE_DENY;
	dafsd_share_count(open, 1);
	if (args->share_key_type != DAFS_OPEN_SHARE_KEY_BOTH || open->holds_key)
		return;
	open->holds_key = true;
	file->share_key = args->share_key;
	file->nr_keys++;
}

/**
 * dafsd_share_check_reduce() - does an open have what OPEN_DOWNGRADE leaves it?
 * @open: the open
 * @args: of OPEN_DOWNGRADE
 *
 * Context: holds the lock of the open's file.
 * Return: OK; INVAL for bits that are not in effect, or a key that is not the
 * open's (6.5.26, E-77).
 */
u32 dafsd_share_check_reduce(const struct dafsd_open *open,
			     const struct dafs_open_downgrade_args *args)
{
	lockdep_assert_held(&open->file->lock);
	if (!args->share_access || (args->share_access & ~open->access) ||
	    (args->share_deny & ~open->deny))
		return DAFSERR_INVAL;
	if (args->share_key_type == DAFS_OPEN_SHARE_KEY_NONE)
		return DAFS_STATUS_OK;
	if (args->share_key_type != DAFS_OPEN_SHARE_KEY_BOTH || !open->holds_key ||
	    args->share_key != open->file->share_key)
		return DAFSERR_INVAL;
	return DAFS_STATUS_OK;
}

static void dafsd_share_drop_key(struct dafsd_open *open)
{
	if (open->holds_key)
		open->file->nr_keys--;
	open->holds_key = false;
}

/**
 * dafsd_share_reduce() - reserve what OPEN_DOWNGRADE leaves, instead of what was
 * @open: the open
 * @args: of OPEN_DOWNGRADE; was checked
 *
 * Context: holds the lock of the open's file.
 */
void dafsd_share_reduce(struct dafsd_open *open, const struct dafs_open_downgrade_args *args)
{
	lockdep_assert_held(&open->file->lock);
	dafsd_share_count(open, -1);
	WRITE_ONCE(open->access, args->share_access);
	open->deny = args->share_deny;
	dafsd_share_count(open, 1);
	if (args->share_key_type == DAFS_OPEN_SHARE_KEY_NONE)
		dafsd_share_drop_key(open);
}

/**
 * dafsd_share_drop() - give back all that an open reserves
 * @open: the open; no longer one of its file
 *
 * Context: holds the lock of the open's file.
 */
void dafsd_share_drop(struct dafsd_open *open)
{
	lockdep_assert_held(&open->file->lock);
	list_del(&open->file_link);
	dafsd_share_count(open, -1);
	dafsd_share_drop_key(open);
}

/**
 * dafsd_remove_begin() - may a name of a file go away? (6.5.33, E-92)
 * @inode: the file
 * @check_open: refuse if any client has it open, otherwise only if one has
 *	opened it with DELETE_DENY
 * @file: set, to be given to dafsd_remove_end() after the removal; until then
 *	no open is added to the file
 *
 * Context: may sleep; holds the lock of the directory.
 * Return: OK, DENYDISP_CONFLICT, or RESOURCE.
 */
u32 dafsd_remove_begin(struct inode *inode, bool check_open, struct dafsd_file **file)
{
	struct dafsd_open *open;

	*file = dafsd_file_get(inode);
	if (!*file)
		return DAFSERR_RESOURCE;
	mutex_lock(&(*file)->lock);
	if (!check_open && !(*file)->nr_strict)
		return DAFS_STATUS_OK;
	list_for_each_entry(open, &(*file)->opens, file_link)
		if (!READ_ONCE(open->dead) && (check_open || open->deny_delete))
			goto conflict;
	return DAFS_STATUS_OK;

conflict:
	dafsd_remove_end(*file);
	return DAFSERR_DENYDISP_CONFLICT;
}

/**
 * dafsd_remove_end() - the name is gone, or not
 * @file: from dafsd_remove_begin()
 *
 * Context: may sleep.
 */
void dafsd_remove_end(struct dafsd_file *file)
{
	mutex_unlock(&file->lock);
	dafsd_file_put(file);
}
