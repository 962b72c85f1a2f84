// SPDX-License-Identifier: GPL-2.0
/*
 * Share reservations and share keys: what opens of one file forbid each other,
 * and those who come without an open (4.4.1.2, 4.4.2, 6.5.33).
 *
 * A struct dafsd_file stands for an inode that somebody has open or is just
 * removing.  Its mutex makes checking the reservations and acting on the result
 * one step.  I/O without an open is no such step: a gate keeps it and the grant
 * of a reservation apart.
 */
#include <linux/hash.h>
#include <linux/hashtable.h>
#include <linux/rwsem.h>
#include <linux/slab.h>
#include "open_impl.h"

static DEFINE_HASHTABLE(dafsd_files, 10);
static DEFINE_SPINLOCK(dafsd_files_lock);

#define DAFSD_SHARE_GATE_BITS	6

/*
 * By inode: held shared by I/O without an open, from the check of reservations
 * until it is done, and exclusively to grant a reservation.  Outside of
 * dafsd_file.lock, and of write access to the file system, for which I/O may have
 * to wait.
 */
static struct rw_semaphore dafsd_share_gates[1 << DAFSD_SHARE_GATE_BITS];

static struct rw_semaphore *dafsd_share_gate(const struct inode *inode)
{
	return &dafsd_share_gates[hash_ptr(inode, DAFSD_SHARE_GATE_BITS)];
}

/**
 * dafsd_share_init() - get ready for opens, and for I/O without
 *
 * Context: before the first request.
 */
void dafsd_share_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(dafsd_share_gates); i++)
		init_rwsem(&dafsd_share_gates[i]);
}

static struct dafsd_file *dafsd_file_lookup(const struct inode *inode)
{
	struct dafsd_file *file;

	lockdep_assert_held(&dafsd_files_lock);
	hash_for_each_possible(dafsd_files, file, node, (unsigned long)inode)
		if (file->inode == inode) {
			file->users++;
			return file;
		}
	return NULL;
}

/**
 * dafsd_file_find() - the record of an inode, if somebody has it open
 * @inode: the inode
 *
 * Context: any but interrupt.
 * Return: a reference, or NULL.
 */
struct dafsd_file *dafsd_file_find(const struct inode *inode)
{
	struct dafsd_file *file;

	spin_lock(&dafsd_files_lock);
	file = dafsd_file_lookup(inode);
	spin_unlock(&dafsd_files_lock);
	return file;
}

static struct dafsd_file *dafsd_file_new(struct inode *inode)
{
	struct dafsd_file *file = kzalloc(sizeof(*file), GFP_KERNEL);

	if (!file)
		return NULL;
	file->users = 1;
	file->inode = inode;
	mutex_init(&file->lock);
	INIT_LIST_HEAD(&file->opens);
	return file;
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
	file = dafsd_file_lookup(inode);
	if (!file) {
		ihold(inode);
		hash_add(dafsd_files, &new->node, (unsigned long)inode);
	}
	spin_unlock(&dafsd_files_lock);
	if (!file)
		return new;
	kfree(new);
	return file;
}

/**
 * dafsd_file_hold() - another reference on the record of an inode
 * @file: the record, with a reference of the caller
 *
 * Context: any but interrupt.
 */
void dafsd_file_hold(struct dafsd_file *file)
{
	spin_lock(&dafsd_files_lock);
	file->users++;
	spin_unlock(&dafsd_files_lock);
}

/**
 * dafsd_file_put() - one reference less on the record of an inode
 * @file: the record
 *
 * Context: may sleep.
 */
void dafsd_file_put(struct dafsd_file *file)
{
	bool last;

	spin_lock(&dafsd_files_lock);
	last = !--file->users;
	if (last)
		hash_del(&file->node);
	spin_unlock(&dafsd_files_lock);
	if (!last)
		return;
	iput(file->inode);
	kfree(file);
}

/**
 * dafsd_file_borrow() - a file that some client has open for writing
 * @file: the record of the inode
 *
 * Context: may sleep.
 * Return: a reference, or NULL if there is none.
 */
struct file *dafsd_file_borrow(struct dafsd_file *file)
{
	struct dafsd_open *open;
	struct file *filp = NULL;

	mutex_lock(&file->lock);
	list_for_each_entry(open, &file->opens, file_link) {
		if (!(open->access & DAFS_OPEN_SHARE_ACCESS_WRITE))
			continue;
		filp = rcu_dereference_protected(open->filp, lockdep_is_held(&file->lock));
		get_file(filp);
		break;
	}
	mutex_unlock(&file->lock);
	return filp;
}

/**
 * dafsd_share_check() - do others' reservations allow this? (8.8 in 4.4.1.2)
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
	list_for_each_entry(open, &file->opens, file_link) {
		if (open == own)
			continue;
		if ((access & open->deny) || (deny & open->access))
			return DAFSERR_DENIED;
	}
	return DAFS_STATUS_OK;
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
	if (args->share_key_type == DAFS_OPEN_SHARE_KEY_BOTH && file->nr_keys &&
	    file->share_key != args->share_key)
		return DAFSERR_KEY_MISMATCH;
	return DAFS_STATUS_OK;
}

/* Without an open, reservations hold against everybody. */
static u32 dafsd_share_check_anonymous(const struct inode *inode, u32 access)
{
	struct dafsd_file *file = dafsd_file_find(inode);
	u32 status;

	if (!file)
		return DAFS_STATUS_OK;
	mutex_lock(&file->lock);
	status = dafsd_share_check(file, NULL, access, DAFS_OPEN_SHARE_DENY_NONE);
	mutex_unlock(&file->lock);
	dafsd_file_put(file);
	return status ? DAFSERR_LOCKED : DAFS_STATUS_OK;
}

/**
 * dafsd_share_enter() - may somebody without an open do I/O? (E-80)
 * @inode: the file
 * @access: DAFS_OPEN_SHARE_ACCESS_* needed
 * @gate: set on success; until it is given to dafsd_share_leave() nobody is
 *	granted a reservation
 *
 * Context: may sleep; has no write access to the file system yet.
 * Return: OK or LOCKED.
 */
u32 dafsd_share_enter(const struct inode *inode, u32 access, struct rw_semaphore **gate)
{
	struct rw_semaphore *sem = dafsd_share_gate(inode);
	u32 status;

	down_read(sem);
	status = dafsd_share_check_anonymous(inode, access);
	if (status)
		up_read(sem);
	else
		*gate = sem;
	return status;
}

/**
 * dafsd_share_leave() - I/O without an open is done
 * @gate: from dafsd_share_enter()
 */
void dafsd_share_leave(struct rw_semaphore *gate)
{
	up_read(gate);
}

/**
 * dafsd_share_exclude() - before a reservation: wait for I/O without an open
 * @inode: the file; none begins until dafsd_share_readmit()
 *
 * Context: may sleep; has no write access to the file system, because the I/O may
 * be waiting for one that is being frozen, which waits for who has it.
 */
void dafsd_share_exclude(const struct inode *inode)
{
	down_write(dafsd_share_gate(inode));
}

/**
 * dafsd_share_readmit() - the reservation is granted, or not
 * @inode: the file of dafsd_share_exclude()
 */
void dafsd_share_readmit(const struct inode *inode)
{
	up_write(dafsd_share_gate(inode));
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
	WRITE_ONCE(open->access, open->access | args->share_access);
	open->deny |= args->share_deny;
	open->deny_delete |= args->delete_disp == DAFS_DELETE_DENY;
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
	WRITE_ONCE(open->access, args->share_access);
	open->deny = args->share_deny;
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
	dafsd_share_drop_key(open);
}

/**
 * dafsd_remove_begin() - may a name of a file go away? (6.5.33, E-92)
 * @inode: the file
 * @check_open: refuse if anybody has it open, otherwise only if somebody
 *	opened it with DELETE_DENY
 * @file: set, to be given to dafsd_remove_end() after the removal; until then
 *	nobody opens the file
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
	list_for_each_entry(open, &(*file)->opens, file_link)
		if (check_open || open->deny_delete)
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
