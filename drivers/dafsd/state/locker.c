// SPDX-License-Identifier: GPL-2.0
/*
 * Lock owners, and what they have locked in the kernel; lock.c has who holds references to them.
 */
#include <linux/filelock.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>
#include <linux/dafs/status.h>
#include "../session/server.h"
#include "../session/client.h"
#include "../session/courtesy.h"
#include "../request/request.h"
#include "open_impl.h"
#include "lock_impl.h"

/* All struct dafsd_locker, and tasks that dafsd_lock_expire() is called for */
static atomic_t dafsd_lockers = ATOMIC_INIT(0);

/**
 * dafsd_locker_get() - take a reference to a lock owner
 * @locker: the lock owner; the caller has a reference
 *
 * Context: any.
 * Return: @locker.
 */
struct dafsd_locker *dafsd_locker_get(struct dafsd_locker *locker)
{
	refcount_inc(&locker->ref);
	return locker;
}

static void dafsd_lockers_put(void)
{
	if (atomic_dec_and_test(&dafsd_lockers))
		wake_up_var(&dafsd_lockers);
}

/**
 * dafsd_locker_put() - drop a reference to a lock owner
 * @locker: the lock owner
 *
 * Context: any.
 */
void dafsd_locker_put(struct dafsd_locker *locker)
{
	if (!refcount_dec_and_test(&locker->ref))
		return;
	dafsd_client_put(locker->client);
	kfree(locker);
	dafsd_lockers_put();
}

/**
 * dafsd_locks_exit() - wait for the end of all lock owners
 *
 * Local programs that ask for locks have copies of them for a moment, or execute
 * dafsd_lock_expire(): a reference to a module that is ending does not keep it.
 *
 * Context: module exit; all clients have been released.
 */
void dafsd_locks_exit(void)
{
	wait_var_event(&dafsd_lockers, !atomic_read(&dafsd_lockers));
}

/* The kernel makes a lock, or a copy of one, perhaps under spin locks. */
static fl_owner_t dafsd_lock_get_owner(fl_owner_t owner)
{
	struct dafsd_locker *locker = owner;

	refcount_inc(&locker->ref);
	atomic_inc(&locker->client->nr_locks);
	dafsd_client_charge_more(locker->client, DAFSD_LOCK_BYTES);
	return owner;
}

static void dafsd_lock_put_owner(fl_owner_t owner)
{
	struct dafsd_locker *locker = owner;

	dafsd_client_uncharge(locker->client, DAFSD_LOCK_BYTES);
	atomic_dec(&locker->client->nr_locks);
	dafsd_locker_put(locker);
}

/*
 * A lock is in the way of the current task; under the lock of all locks of the file.  A request
 * does not wait here, since it holds locks of this module: it is denied, and then handled anew.
 */
static bool dafsd_lock_is_expirable(struct file_lock *fl)
{
	struct dafsd_locker *locker = fl->c.flc_owner;
	bool local = !dafsd_rqst_current();

	if (local)
		WRITE_ONCE(locker->asked, true);
	if (!dafsd_state_hinders(locker->client) || !local || fatal_signal_pending(current))
		return false;
	atomic_inc(&dafsd_lockers);
	return true;
}

/* The current task has been told that a lock is expirable, and looks again afterwards. */
static void dafsd_lock_expire(void)
{
	dafsd_courtesy_wait_all(&dafsd_server);
	dafsd_lockers_put();
}

/* Marks the locks of the kernel that are those of clients. */
const struct lock_manager_operations dafsd_lock_ops = {
	.lm_mod_owner = THIS_MODULE,
	.lm_get_owner = dafsd_lock_get_owner,
	.lm_put_owner = dafsd_lock_put_owner,
	.lm_lock_expirable = dafsd_lock_is_expirable,
	.lm_expire_lock = dafsd_lock_expire,
};

static struct dafsd_locker *dafsd_locker_alloc(struct dafsd_client *client, const u8 *owner,
					       u32 len)
{
	struct dafsd_locker *locker = kzalloc(struct_size(locker, owner, len), GFP_KERNEL);

	if (!locker)
		return NULL;
	atomic_inc(&dafsd_lockers);
	refcount_set(&locker->ref, 1);
	INIT_LIST_HEAD(&locker->file_link);
	kref_get(&client->ref);
	locker->client = client;
	mutex_init(&locker->lock);
	locker->owner_len = len;
	memcpy(locker->owner, owner, len);
	return locker;
}

/**
 * dafsd_locker_find() - a lock owner that has, or had, locks in a file
 * @file: the file
 * @client: the client
 * @owner: the owner's name
 * @len: bytes of @owner
 *
 * Context: any; holds dafsd_file.locks_lock.
 * Return: the lock owner, without a reference; or NULL.
 */
struct dafsd_locker *dafsd_locker_find(const struct dafsd_file *file,
				       const struct dafsd_client *client,
				       const u8 *owner, u32 len)
{
	struct dafsd_locker *locker;

	lockdep_assert_held(&file->locks_lock);
	list_for_each_entry(locker, &file->lockers, file_link)
		if (locker->client == client && locker->owner_len == len &&
		    !memcmp(locker->owner, owner, len))
			return locker;
	return NULL;
}

/* Have the locks of an open of @locker that has ended perhaps not been released yet? */
static bool dafsd_locker_is_ending(const struct dafsd_file *file, const struct dafsd_locker *locker)
{
	struct dafsd_open *open;

	lockdep_assert_held(&file->lock);
	list_for_each_entry(open, &file->opens, file_link)
		if (open->locker == locker && READ_ONCE(open->state.dead))
			return true;
	return false;
}

/* Take the lock owner that there is in the file, or @new. */
static void dafsd_locker_join(struct dafsd_open *open, struct dafsd_locker *locker,
			      struct dafsd_locker **new)
{
	if (locker) {
		refcount_inc(&locker->ref);
	} else {
		locker = *new;
		*new = NULL;
		list_add(&locker->file_link, &open->state.file->lockers);
	}
	locker->nr_opens++;
	open->locker = locker;
}

static dafs_status_t dafsd_locker_set(struct dafsd_open *open, struct dafsd_locker *new)
{
	struct dafsd_file *file = open->state.file;
	dafs_status_t status = DAFS_STATUS_OK;
	struct dafsd_locker *locker;

	mutex_lock(&file->lock);
	spin_lock(&file->locks_lock);
	locker = dafsd_locker_find(file, open->state.client, open->owner, open->owner_len);
	if (locker && dafsd_locker_is_ending(file, locker))
		status = DAFSERR_DELAY;
	else if (!open->locker)
		dafsd_locker_join(open, locker, &new);
	spin_unlock(&file->locks_lock);
	mutex_unlock(&file->lock);
	if (new)
		dafsd_locker_put(new);
	return status;
}

/**
 * dafsd_open_locker() - the lock owner of an open, made by its first LOCK
 * @open: the open, with a reference of the caller
 * @locker: set; it stays until the open is released
 *
 * Context: may sleep.
 * Return: OK; RESOURCE without memory; DELAY while locks of an open of the owner that has ended
 * are being released.
 */
dafs_status_t dafsd_open_locker(struct dafsd_open *open, struct dafsd_locker **locker)
{
	dafs_status_t status = DAFS_STATUS_OK;
	struct dafsd_locker *new;

	if (!READ_ONCE(open->locker)) {
		new = dafsd_locker_alloc(open->state.client, open->owner, open->owner_len);
		if (!new)
			return DAFSERR_RESOURCE;
		status = dafsd_locker_set(open, new);
	}
	*locker = READ_ONCE(open->locker);
	return status;
}

/**
 * dafsd_lock_init() - describe a lock to the kernel
 * @fl: set
 * @owner: a struct dafsd_locker, or any other pointer for an owner without locks
 * @filp: the file, or NULL
 * @range: its bytes and its type
 *
 * Context: any.
 */
void dafsd_lock_init(struct file_lock *fl, void *owner, struct file *filp,
		     const struct dafsd_range *range)
{
	locks_init_lock(fl);
	fl->c.flc_owner = owner;
	fl->c.flc_flags = FL_POSIX;
	fl->c.flc_type = range->type;
	fl->c.flc_pid = current->tgid;
	fl->c.flc_file = filp;
	fl->fl_start = range->start;
	fl->fl_end = range->end;
}

/**
 * dafsd_locker_file() - the file to set a lock by
 * @locker: its owner
 * @filp: the file of the open that asks for it; not needed to unlock
 * @range: its bytes and its type
 *
 * The first one for each type is kept, because OPEN and OPEN_DOWNGRADE replace the file of an
 * open, and the kernel's locks refer to theirs.
 *
 * Context: may sleep; holds dafsd_locker.lock.
 * Return: the file; NULL if nothing is locked that could be unlocked.
 */
struct file *dafsd_locker_file(struct dafsd_locker *locker, struct file *filp,
			       const struct dafsd_range *range)
{
	struct file **kept = &locker->filp[range->type == F_WRLCK];

	lockdep_assert_held(&locker->lock);
	if (range->type == F_UNLCK)
		return locker->filp[1] ?: locker->filp[0];
	if (!*kept)
		*kept = get_file(filp);
	return *kept;
}

/**
 * dafsd_lock_forget() - a request for a lock is over
 * @fl: what was asked for, of dafsd_lock_init(); file systems may have put something into it
 *
 * Context: that of the file system; may sleep.
 */
void dafsd_lock_forget(struct file_lock *fl)
{
	if (fl->fl_ops && fl->fl_ops->fl_release_private)
		fl->fl_ops->fl_release_private(fl);
}

/**
 * dafsd_locker_rest() - an owner has locked nothing any more
 * @locker: the owner
 * @spare: set to its files, which are not needed, and may be in the way of others
 *
 * The caller has held the lock since it knows that, because a later LOCK needs the files again.  It
 * closes them by dafsd_spare_close() after it has released the lock: closing may wait for a file
 * system, and tasks that take state from the client need the lock.
 *
 * Context: any but interrupt; holds dafsd_locker.lock.
 */
void dafsd_locker_rest(struct dafsd_locker *locker, struct dafsd_spare *spare)
{
	int n;

	lockdep_assert_held(&locker->lock);
	for (n = 0; n < ARRAY_SIZE(locker->filp); n++)
		swap(spare->filp[n], locker->filp[n]);
}

/**
 * dafsd_spare_close() - close files by which nothing is locked any more
 * @spare: of dafsd_locker_rest(), or zeroed
 *
 * Context: may sleep, also for the file system; without dafsd_locker.lock.
 */
void dafsd_spare_close(const struct dafsd_spare *spare)
{
	int n;

	for (n = 0; n < ARRAY_SIZE(spare->filp); n++)
		if (spare->filp[n])
			dafsd_open_done(spare->filp[n]);
}

/* Does a lock belong to @locker, and begin at @from or later? */
static bool dafsd_lock_is_from(const struct file_lock *fl, const struct dafsd_locker *locker,
			       loff_t from)
{
	return fl->fl_lmops == &dafsd_lock_ops && fl->c.flc_owner == locker && fl->fl_start >= from;
}

/**
 * dafsd_locker_list() - what an owner has locked
 * @locker: the owner
 * @inode: the file
 * @from: only what begins here or later
 * @ranges: set, in the order of their bytes; or NULL to count them
 * @max: how many @ranges there are
 *
 * Context: any but interrupt.
 * Return: how many were set, or there are.
 */
unsigned int dafsd_locker_list(const struct dafsd_locker *locker, const struct inode *inode,
			       loff_t from, struct dafsd_range *ranges, unsigned int max)
{
	struct file_lock_context *ctx = locks_inode_context(inode);
	struct file_lock *fl;
	unsigned int n = 0;

	if (!ctx)
		return 0;
	spin_lock(&ctx->flc_lock);
	list_for_each_entry(fl, &ctx->flc_posix, c.flc_list) {
		if (!dafsd_lock_is_from(fl, locker, from))
			continue;
		if (n == max)
			break;
		if (ranges)
			ranges[n] = (struct dafsd_range){
				.type = fl->c.flc_type,
				.start = fl->fl_start,
				.end = fl->fl_end,
			};
		n++;
	}
	spin_unlock(&ctx->flc_lock);
	return n;
}

/**
 * dafsd_open_locker_of() - the lock owner of an open, if it has locked anything
 * @open: the open
 *
 * Context: any but interrupt.
 * Return: the owner, which stays as long as the open; or NULL.
 */
struct dafsd_locker *dafsd_open_locker_of(const struct dafsd_open *open)
{
	struct dafsd_file *file = open->state.file;
	struct dafsd_locker *locker;

	spin_lock(&file->locks_lock);
	locker = open->locker;
	spin_unlock(&file->locks_lock);
	return locker;
}

/**
 * dafsd_lock_list() - the locks of the owner of an open
 * @open: the open; the caller has a reference
 * @from: only those that begin here or later
 * @ranges: set, in the order of their bytes
 * @max: how many @ranges there are
 *
 * Context: any but interrupt.
 * Return: how many were set.
 */
unsigned int dafsd_lock_list(const struct dafsd_open *open, loff_t from,
			     struct dafsd_range *ranges, unsigned int max)
{
	const struct dafsd_locker *locker = dafsd_open_locker_of(open);

	if (!locker)
		return 0;
	return dafsd_locker_list(locker, open->state.file->inode, from, ranges, max);
}

/*
 * Return: true if a task waits in the kernel for a lock of the owner.  This walks all locks of the
 * file, so the caller skips owners whose locks no task has asked for since the last call.
 */
static bool dafsd_locker_is_awaited(struct dafsd_locker *locker, const struct inode *inode)
{
	struct file_lock_context *ctx = locks_inode_context(inode);

	/* before that: who asks from now on sets it again */
	WRITE_ONCE(locker->asked, false);
	if (!ctx || !locks_owner_has_blockers(ctx, locker))
		return false;
	WRITE_ONCE(locker->asked, true);
	return true;
}

/*
 * The file system may have locks of its own.  Then it decides what is in the way, and does not tell
 * this module: if anything was ever locked by the open, a task may wait for it.
 *
 * @looks: how often dafsd_locker_is_awaited() was called already
 */
static bool dafsd_state_is_awaited(struct dafsd_state *st, unsigned int *looks)
{
	const struct dafsd_open *open = dafsd_state_open(st);
	struct dafsd_locker *locker = open ? READ_ONCE(open->locker) : NULL;

	if (locker && st->file->inode->i_fop->lock)
		return true;
	if (!locker || !READ_ONCE(locker->asked))
		return false;
	return ++*looks > DAFSD_AWAITED_LOOKS || dafsd_locker_is_awaited(locker, st->file->inode);
}

/**
 * dafsd_locks_awaited() - do local programs wait for a byte-range lock of a client?
 * @client: the client, without sessions
 *
 * Clients that wait ask again and again.
 *
 * Context: any but interrupt; not by several tasks at once.
 * Return: true if so; if programs have asked for the locks of more than DAFSD_AWAITED_LOOKS of
 * its owners; or if it has locked something on a file system with locks of its own, which would
 * not tell.
 */
bool dafsd_locks_awaited(struct dafsd_client *client)
{
	unsigned int looks = 0;
	struct dafsd_state *st;
	bool awaited = false;

	spin_lock(&client->lock);
	list_for_each_entry(st, &client->states, client_link) {
		awaited = dafsd_state_is_awaited(st, &looks);
		if (awaited)
			break;
	}
	spin_unlock(&client->lock);
	return awaited;
}
