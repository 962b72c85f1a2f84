// SPDX-License-Identifier: GPL-2.0
/*
 * Share reservations and share keys: the accesses that an open of a file denies to other
 * opens, and to requests without an open (4.4.1.2, 4.4.2, 6.5.33).
 *
 * The mutex of a struct dafsd_file makes it atomic to check the reservations and to act on
 * the result.  I/O without an open is too long for the mutex: a rw_semaphore, the gate,
 * excludes it while a reservation is granted.  All locks are per inode.  A task that
 * removes a name waits for the mutex with the directory locked, as it does for the lock of
 * the inode, so the mutex must be held for a short time only.
 *
 * The opens that a client has lost reserve nothing from that moment on (dafsd_state.dead),
 * although it may take some time until they are closed.
 */
#include <linux/lockdep.h>
#include "../session/courtesy.h"
#include "deleg.h"
#include "open_impl.h"

/**
 * struct dafsd_share_want - what opens are in the way of
 * @own: an open that is not, or NULL
 * @access: DAFS_OPEN_SHARE_ACCESS_* wanted
 * @deny: DAFS_OPEN_SHARE_DENY_* wanted
 * @key: another key than that of the file
 * @remove: a name is to be removed
 * @alone: no opens at all
 */
struct dafsd_share_want {
	const struct dafsd_open *own;
	u32 access;
	u32 deny;
	bool key;
	bool remove;
	bool alone;
};

static bool dafsd_share_conflicts(const struct dafsd_open *open,
				  const struct dafsd_share_want *want)
{
	if (open == want->own || READ_ONCE(open->state.dead))
		return false;
	return (want->access & open->deny) || (want->deny & open->access) ||
	       (want->key && open->holds_key) || (want->remove && open->deny_delete) ||
	       want->alone;
}

/*
 * Clients whose lease is over lose what is in the way, but not for a request that is refused: see
 * dafsd_share_look().
 */
static void dafsd_share_hindered(const struct dafsd_file *file,
				 const struct dafsd_share_want *want)
{
	struct dafsd_open *open;

	list_for_each_entry(open, &file->opens, file_link)
		if (dafsd_share_conflicts(open, want))
			dafsd_state_hinders(open->state.client);
}

/* Return: OK; @refused if opens are in the way; DELAY if all of these can be ended */
static dafs_status_t dafsd_share_look(const struct dafsd_file *file,
				      const struct dafsd_share_want *want, dafs_status_t refused)
{
	dafs_status_t status = DAFS_STATUS_OK;
	struct dafsd_open *open;

	list_for_each_entry(open, &file->opens, file_link) {
		if (!dafsd_share_conflicts(open, want))
			continue;
		if (!dafsd_courtesy_has(open->state.client))
			return refused;
		status = DAFSERR_DELAY;
	}
	return status;
}

/* The same, but then they are ended. */
static dafs_status_t dafsd_share_ask(const struct dafsd_file *file,
				     const struct dafsd_share_want *want, dafs_status_t refused)
{
	dafs_status_t status = dafsd_share_look(file, want, refused);

	if (status == DAFSERR_DELAY)
		dafsd_share_hindered(file, want);
	return status;
}

/* Has the file another key than that of an OPEN? (E-73) */
static bool dafsd_share_key_differs(const struct dafsd_file *file,
				    const struct dafs_open_args *args)
{
	return args->share_key_type == DAFS_OPEN_SHARE_KEY_BOTH &&
	       file->share_key != args->share_key && file->nr_keys;
}

/**
 * dafsd_share_check_open() - do other opens allow this one? (8.8 of 4.4.1.2)
 * @file: the file
 * @own: the open of the request, whose own reservation is ignored, but not its key; or NULL
 * @access: DAFS_OPEN_SHARE_ACCESS_* wanted
 * @args: of OPEN: what it wants to deny, and its key
 *
 * Context: holds file->lock.
 * Return: OK; DENIED (E-74); KEY_MISMATCH; DELAY if what is in the way is just being ended.
 */
dafs_status_t dafsd_share_check_open(const struct dafsd_file *file, const struct dafsd_open *own,
				     u32 access, const struct dafs_open_args *args)
{
	const struct dafsd_share_want key = { .key = true };
	const struct dafsd_share_want share = {
		.own = own,
		.access = access,
		.deny = args->share_deny,
	};
	dafs_status_t denied = DAFS_STATUS_OK, mismatch = DAFS_STATUS_OK;

	lockdep_assert_held(&file->lock);
	/* a file may have thousands of opens without any reservation */
	if (args->share_deny || file->nr_strict)
		denied = dafsd_share_look(file, &share, DAFSERR_DENIED);
	if (dafsd_share_key_differs(file, args))
		mismatch = dafsd_share_look(file, &key, DAFSERR_KEY_MISMATCH);
	if (denied == DAFSERR_DENIED || mismatch == DAFSERR_KEY_MISMATCH)
		return denied == DAFSERR_DENIED ? denied : mismatch;
	if (denied)
		dafsd_share_hindered(file, &share);
	if (mismatch)
		dafsd_share_hindered(file, &key);
	return denied ?: mismatch;
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
 * Return: OK; LOCKED; or DELAY if a delegate denies it, which is recalled, or if what denies it
 * is just being ended.
 */
dafs_status_t dafsd_share_enter(struct dafsd_file *file, u32 access)
{
	const struct dafsd_share_want want = { .access = access };
	dafs_status_t status = DAFS_STATUS_OK;

	down_read(&file->gate);
	mutex_lock(&file->lock);
	if (file->nr_strict)
		status = dafsd_share_ask(file, &want, DAFSERR_DENIED);
	if (status == DAFSERR_DENIED)
		status = dafsd_deleg_conflict(file, DAFSERR_LOCKED);
	mutex_unlock(&file->lock);
	if (status)
		up_read(&file->gate);
	return status;
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
		open->state.file->nr_strict += more;
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
	struct dafsd_file *file = open->state.file;

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
dafs_status_t dafsd_share_check_reduce(const struct dafsd_open *open,
				       const struct dafs_open_downgrade_args *args)
{
	lockdep_assert_held(&open->state.file->lock);
	if (!args->share_access || (args->share_access & ~open->access) ||
	    (args->share_deny & ~open->deny))
		return DAFSERR_INVAL;
	if (args->share_key_type == DAFS_OPEN_SHARE_KEY_NONE)
		return DAFS_STATUS_OK;
	if (args->share_key_type != DAFS_OPEN_SHARE_KEY_BOTH || !open->holds_key ||
	    args->share_key != open->state.file->share_key)
		return DAFSERR_INVAL;
	return DAFS_STATUS_OK;
}

static void dafsd_share_drop_key(struct dafsd_open *open)
{
	if (open->holds_key)
		open->state.file->nr_keys--;
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
	lockdep_assert_held(&open->state.file->lock);
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
	lockdep_assert_held(&open->state.file->lock);
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
 * Return: OK; DENYDISP_CONFLICT; DELAY if a delegation is in the way, or opens are that are just
 * being ended; or RESOURCE.
 */
dafs_status_t dafsd_remove_begin(struct inode *inode, bool check_open, struct dafsd_file **file)
{
	const struct dafsd_share_want want = { .remove = true, .alone = check_open };
	dafs_status_t status;

	*file = dafsd_file_get(inode);
	if (!*file)
		return DAFSERR_RESOURCE;
	mutex_lock(&(*file)->lock);
	if (!check_open && !(*file)->nr_strict)
		return DAFS_STATUS_OK;
	status = dafsd_share_ask(*file, &want, DAFSERR_DENYDISP_CONFLICT);
	if (!status)
		return DAFS_STATUS_OK;
	status = dafsd_deleg_conflict(*file, status);
	dafsd_remove_end(*file);
	return status;
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
