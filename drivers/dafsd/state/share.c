// SPDX-License-Identifier: GPL-2.0
/*
 * Share reservations and share keys: the accesses that an open of a file denies to other
 * opens, and to requests without an open (4.4.1.2, 4.4.2, 6.5.33).
 *
 * A struct dafsd_file is the record of an inode that a client has open, accesses, or is
 * removing.  Its mutex makes it atomic to check the reservations and to act on the result.
 * I/O without an open is too long for the mutex: a rw_semaphore, the gate, excludes it
 * while a reservation is granted.  All locks are per inode.  A task that removes a name
 * waits for the mutex with the directory locked, as it does for the lock of the inode, so
 * the mutex must be held for a short time only.
 *
 * The opens that a client has lost reserve nothing from that moment on (dafsd_open.dead),
 * although it may take some time until they are closed.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/lockdep.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include "../session/client.h"
#include "state.h"
#include "state_impl.h"

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
	if (file && !dafsd_file_hold(file))
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
 * dafsd_file_hold() - take a reference to the record of an inode
 * @file: the record; found under RCU, or the caller has a reference
 *
 * Context: any but interrupt.
 * Return: false if the record is being freed.
 */
bool dafsd_file_hold(struct dafsd_file *file)
{
	return refcount_inc_not_zero(&file->users);
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

/**
 * dafsd_file_borrow() - find a file that a client has open for writing
 * @file: the record of the inode
 * @client: the client whose opens are preferred
 * @own: set to true if the file was opened by @client, and by the user of the caller
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
 * dafsd_share_check() - do the reservations of other opens allow this? (8.8 of 4.4.1.2)
 * @file: the file
 * @own: the open of the request, whose own reservation is ignored; or NULL
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
	/* a file may have thousands of opens without any reservation */
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
 * On success no reservation is granted until dafsd_share_leave().  For a request without
 * an open, the reservations of all opens count.
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

/* Called with -1 before, and with 1 after, a change of the reservations of @open */
static void dafsd_share_count(const struct dafsd_open *open, int more)
{
	if (open->deny || open->deny_delete)
		open->file->nr_strict += more;
}

/**
 * dafsd_share_take() - add the reservations of OPEN to those of an open
 * @open: the open
 * @args: of OPEN; have been checked
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
 * dafsd_share_check_reduce() - is OPEN_DOWNGRADE a subset of what the open has?
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
 * dafsd_share_reduce() - reduce the reservations of an open to those of OPEN_DOWNGRADE
 * @open: the open
 * @args: of OPEN_DOWNGRADE; have been checked
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
 * dafsd_share_drop() - remove an open, with its reservations, from its file
 * @open: the open
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
 * dafsd_remove_begin() - may a name of a file be removed? (6.5.33, E-92)
 * @inode: the file
 * @check_open: refuse if any client has the file open; otherwise only if a client has
 *	opened it with DELETE_DENY
 * @file: set, for dafsd_remove_end() after the removal; until then no open is added to
 *	the file
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
 * dafsd_remove_end() - the removal has succeeded or failed
 * @file: from dafsd_remove_begin()
 *
 * Context: may sleep.
 */
void dafsd_remove_end(struct dafsd_file *file)
{
	mutex_unlock(&file->lock);
	dafsd_file_put(file);
}
