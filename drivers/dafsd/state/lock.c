// SPDX-License-Identifier: GPL-2.0
/*
 * Byte-range locks (4.4.1.2, 6.5.18 to 6.5.20).
 *
 * A lock is a POSIX lock of the kernel on the inode, so that it conflicts with locks of
 * local programs and of other file servers, and so that the kernel splits and merges
 * ranges.  Its owner there is a struct dafsd_locker: a lock owner (E-82) as far as one file
 * is concerned.  The kernel compares owners by pointer, and only for locks of one inode.
 *
 * References (dafsd_locker.ref):
 *
 *  1. Each open of the owner has one, from its first LOCK until the open is released.
 *  2. Each lock of the kernel has one, and so has each copy of a lock by which the kernel
 *     describes a conflict.  Taken and dropped by lm_get_owner() and lm_put_owner().
 *  3. Each LOCK that waits has one, see lock_wait.c.
 *
 * The locks of an open end when it is closed (E-83), and when it is revoked: at once, unless
 * the file system has locks of its own, and so may wait.  An open that is dead gets no more
 * locks.  All of an owner end then, although there may be another open of the same owner by
 * another filehandle of the file: the kernel merges locks, so that it is not known by which
 * one a byte was locked.  Until that is done, the owner gets no locks by a new open.
 */
#include <linux/exportfs.h>
#include <linux/filelock.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>
#include <linux/dafs/status.h>
#include "../session/server.h"
#include "../session/peer.h"
#include "../session/client.h"
#include "../session/courtesy.h"
#include "../session/session.h"
#include "../session/trace.h"
#include "../request/request.h"
#include "../vfs/fh.h"
#include "open_impl.h"
#include "lock_impl.h"
#include "lock_wait.h"
#include "persist_impl.h"

/* What a lock of the kernel takes */
#define DAFSD_LOCK_BYTES	sizeof(struct file_lock)

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

static bool dafsd_lock_too_many(const struct dafsd_client *client)
{
	return atomic_read(&client->nr_locks) >= READ_ONCE(dafsd_max_locks);
}

/*
 * May a client have another lock?  The kernel counts it later, so requests that are executed at the
 * same time may all find room for one; each makes two more locks at most, when it splits one.  So
 * a client has no more than its limit and twice the number of its requests.
 */
static bool dafsd_lock_room(const struct dafsd_client *client)
{
	if (dafsd_lock_too_many(client))
		return false;
	if (!dafsd_peer_charge(client->peer, DAFSD_CHARGE_STATE, DAFSD_LOCK_BYTES))
		return false;
	dafsd_peer_uncharge(client->peer, DAFSD_CHARGE_STATE, DAFSD_LOCK_BYTES);
	return true;
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

static const struct lock_manager_operations dafsd_lock_ops = {
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

/* Returns no reference. */
static struct dafsd_locker *dafsd_locker_find(const struct dafsd_file *file,
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

/*
 * The lock owner of an open, made by its first LOCK.  It stays until the open is released,
 * for which the caller has a reference to the open.
 */
static dafs_status_t dafsd_open_locker(struct dafsd_open *open, struct dafsd_locker **locker)
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

static void dafsd_lock_init(struct file_lock *fl, void *owner, struct file *filp,
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

/* Would unlocking the range leave two locks where there is one? */
static bool dafsd_lock_splits(const struct dafsd_locker *locker, struct inode *inode,
			      const struct dafsd_range *range)
{
	struct file_lock_context *ctx = locks_inode_context(inode);
	const struct file_lock *fl;
	bool splits = false;

	if (!ctx)
		return false;
	spin_lock(&ctx->flc_lock);
	list_for_each_entry(fl, &ctx->flc_posix, c.flc_list)
		splits |= fl->c.flc_owner == locker && fl->fl_start < range->start &&
			  fl->fl_end > range->end;
	spin_unlock(&ctx->flc_lock);
	return splits;
}

/* Has the owner locked all of the range already, as strongly? */
static bool dafsd_locker_has(const struct dafsd_locker *locker, struct inode *inode,
			     const struct dafsd_range *range)
{
	struct file_lock_context *ctx = locks_inode_context(inode);
	const struct file_lock *fl;
	bool has = false;

	if (!ctx)
		return false;
	spin_lock(&ctx->flc_lock);
	list_for_each_entry(fl, &ctx->flc_posix, c.flc_list)
		has |= fl->c.flc_owner == locker && fl->fl_start <= range->start &&
		       fl->fl_end >= range->end &&
		       (fl->c.flc_type == F_WRLCK || range->type == F_RDLCK);
	spin_unlock(&ctx->flc_lock);
	return has;
}

/* May a request make another lock?  Return: OK; RESOURCE; DELAY if there may be room soon. */
static dafs_status_t dafsd_lock_allowed(const struct dafsd_locker *locker,
					const struct dafsd_use *use,
					const struct dafsd_range *range)
{
	const struct dafsd_client *client = locker->client;

	if (dafsd_lock_room(client))
		return DAFS_STATUS_OK;
	if (range->type == F_UNLCK && !dafsd_lock_splits(locker, use->file->inode, range))
		return DAFS_STATUS_OK;
	/* what others have does not count for this limit */
	if (dafsd_lock_too_many(client))
		return DAFSERR_RESOURCE;
	return dafsd_state_make_room(locker->client, DAFSD_LOCK_BYTES);
}

/* The range as a lock of the protocol */
static void dafsd_lock_describe_range(const struct file_lock *fl, struct dafs_lock_res *res)
{
	res->offset = fl->fl_start;
	res->length = fl->fl_end == OFFSET_MAX ? DAFS_LOCK_TO_EOF : fl->fl_end - fl->fl_start + 1;
	res->lock_type = fl->c.flc_type == F_WRLCK ? DAFS_WRITE_LT : DAFS_READ_LT;
}

/* @fl: a lock of no client of this server; not all file systems tell whose it is */
static char *dafsd_lock_local_name(const struct file_lock *fl)
{
	if (fl->c.flc_pid <= 0)
		return kstrdup("local", GFP_KERNEL);
	return kasprintf(GFP_KERNEL, "local process %d", fl->c.flc_pid);
}

/*
 * Tell the client of the lock that is in the way: @fl, in which the kernel has filled in the
 * owner; or of an unknown one.
 */
static dafs_status_t dafsd_lock_denied(struct dafsd_rqst *rq, const struct file_lock *fl)
{
	struct dafs_lock_res *res = &rq->res.lock;
	const struct dafsd_locker *locker;
	void *name;
	u32 len;

	if (fl->fl_lmops == &dafsd_lock_ops) {
		locker = fl->c.flc_owner;
		res->owner_clientid = locker->client->client_id;
		len = locker->owner_len;
		name = kmemdup(locker->owner, len, GFP_KERNEL);
	} else {
		name = dafsd_lock_local_name(fl);
		len = name ? strlen(name) : 0;
	}
	if (!name)
		return DAFSERR_RESOURCE;
	kvfree(rq->scratch);
	rq->scratch = name;
	res->owner = (struct dafs_str){ .len = len, .data = name };
	dafsd_lock_describe_range(fl, res);
	rq->body = true;
	return DAFSERR_DENIED;
}

/*
 * The file to set a lock by.  The first one for each type is kept, because OPEN and
 * OPEN_DOWNGRADE replace the file of an open, and the kernel's locks refer to theirs.
 */
static struct file *dafsd_locker_file(struct dafsd_locker *locker, struct file *filp,
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

/* The request for a lock is over: file systems may have put something into it. */
static void dafsd_lock_forget(struct file_lock *fl)
{
	if (fl->fl_ops && fl->fl_ops->fl_release_private)
		fl->fl_ops->fl_release_private(fl);
}

static bool dafsd_lock_is_in_way(const struct file_lock *fl, const void *owner,
				 const struct dafsd_range *range)
{
	return fl->c.flc_owner != owner &&
	       (fl->c.flc_type == F_WRLCK || range->type == F_WRLCK) &&
	       dafsd_ranges_meet(fl->fl_start, fl->fl_end, range->start, range->end);
}

/* Are all locks that are in the way kept out of courtesy only? */
static bool dafsd_lock_all_yield(const struct file_lock_context *ctx, const void *owner,
				 const struct dafsd_range *range)
{
	const struct dafsd_locker *locker;
	const struct file_lock *fl;

	lockdep_assert_held(&ctx->flc_lock);
	list_for_each_entry(fl, &ctx->flc_posix, c.flc_list) {
		if (!dafsd_lock_is_in_way(fl, owner, range))
			continue;
		locker = fl->c.flc_owner;
		if (fl->fl_lmops != &dafsd_lock_ops || !dafsd_courtesy_has(locker->client))
			return false;
	}
	return true;
}

static void dafsd_lock_end_courtesy(const struct file_lock_context *ctx, const void *owner,
				    const struct dafsd_range *range)
{
	const struct dafsd_locker *locker;
	const struct file_lock *fl;

	lockdep_assert_held(&ctx->flc_lock);
	list_for_each_entry(fl, &ctx->flc_posix, c.flc_list) {
		locker = fl->c.flc_owner;
		if (dafsd_lock_is_in_way(fl, owner, range))
			dafsd_courtesy_end(locker->client);
	}
}

/*
 * A request for a lock was denied.  If the first lock in its way is just being taken from a client
 * that had it by courtesy, so are the others: one flush of the store does for many clients.
 */
static void dafsd_lock_hindered(const void *owner, const struct file *filp,
				const struct dafsd_range *range)
{
	struct file_lock_context *ctx = locks_inode_context(file_inode(filp));
	const struct dafsd_rqst *rq = dafsd_rqst_current();

	if (!ctx || !rq || !rq->yields)
		return;
	spin_lock(&ctx->flc_lock);
	if (dafsd_lock_all_yield(ctx, owner, range))
		dafsd_lock_end_courtesy(ctx, owner, range);
	spin_unlock(&ctx->flc_lock);
}

/*
 * Set a lock.  @ours: set if it is denied because of another client's lock, of whose end this
 * server will know.
 */
static dafs_status_t dafsd_lock_apply(struct dafsd_rqst *rq, struct dafsd_locker *locker,
				      struct file *filp, const struct dafsd_range *range,
				      bool *ours)
{
	struct file_lock fl, conflict;
	dafs_status_t status;
	int err;

	filp = dafsd_locker_file(locker, filp, range);
	/* nothing was ever locked */
	if (!filp)
		return DAFS_STATUS_OK;
	dafsd_lock_init(&fl, locker, filp, range);
	fl.fl_lmops = &dafsd_lock_ops;
	/* what is told if the file system does not fill it in: the range that was asked for */
	dafsd_lock_init(&conflict, NULL, filp, range);
	conflict.c.flc_pid = 0;
	err = vfs_lock_file(filp, F_SETLK, &fl, &conflict);
	if (err == -EAGAIN || err == -EDEADLK || err == FILE_LOCK_DEFERRED) {
		*ours = conflict.fl_lmops == &dafsd_lock_ops;
		dafsd_lock_hindered(locker, filp, range);
		status = dafsd_lock_denied(rq, &conflict);
	} else {
		status = dafs_errno_to_status(err);
	}
	locks_release_private(&conflict);
	dafsd_lock_forget(&fl);
	return status;
}

/* Denied because the LOCK of @first has waited longer for @range */
static dafs_status_t dafsd_lock_give_way(struct dafsd_rqst *rq, struct dafsd_locker *first,
					 const struct dafsd_range *range)
{
	struct file_lock fl;
	dafs_status_t status;

	dafsd_lock_init(&fl, first, NULL, range);
	fl.fl_lmops = &dafsd_lock_ops;
	status = dafsd_lock_denied(rq, &fl);
	dafsd_locker_put(first);
	return status;
}

/**
 * struct dafsd_spare - files by which nothing is locked any more
 * @filp: with a reference each, or NULL
 */
struct dafsd_spare {
	struct file *filp[2];
};

/*
 * Nothing is locked any more: the files are not needed, and may be in the way of others.  The
 * lock is held since that is known, because a later LOCK needs them again.  The caller closes
 * them when it has released it: that may wait for a file system, and whoever takes state from the
 * client needs the lock.
 */
static void dafsd_locker_rest(struct dafsd_locker *locker, struct dafsd_spare *spare)
{
	int n;

	lockdep_assert_held(&locker->lock);
	for (n = 0; n < ARRAY_SIZE(locker->filp); n++)
		swap(spare->filp[n], locker->filp[n]);
}

static void dafsd_spare_close(const struct dafsd_spare *spare)
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

/* @ranges: set, in the order of their bytes; or NULL to count them */
static unsigned int dafsd_locker_list(const struct dafsd_locker *locker, const struct inode *inode,
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
 * struct dafsd_had - what an owner had locked before a request
 * @ranges: in the order of their bytes
 * @nr: how many
 */
struct dafsd_had {
	struct dafsd_range *ranges;
	unsigned int nr;
};

/* dafsd_locker.lock is held, so these are all until the request is over.  @had: to be freed */
static dafs_status_t dafsd_lock_remember(const struct dafsd_locker *locker,
					 const struct inode *inode, struct dafsd_had *had)
{
	unsigned int nr = dafsd_locker_list(locker, inode, 0, NULL, UINT_MAX);

	had->ranges = kvmalloc_array(nr + 1, sizeof(*had->ranges), GFP_KERNEL);
	if (!had->ranges)
		return DAFSERR_RESOURCE;
	had->nr = dafsd_locker_list(locker, inode, 0, had->ranges, nr);
	return DAFS_STATUS_OK;
}

static void dafsd_lock_again(struct dafsd_rqst *rq, struct dafsd_locker *locker,
			     struct file *filp, unsigned char type, loff_t start, loff_t end)
{
	const struct dafsd_range range = { type, start, end };
	bool ours;

	if (start <= end)
		dafsd_lock_apply(rq, locker, filp, &range, &ours);
}

/*
 * Undo what a request has locked.  What it has made weaker stays so if others have it for reading
 * by now.  Some file systems with locks of their own do not tell what an owner had: then it has
 * nothing of the range any more.
 */
static void dafsd_lock_restore(struct dafsd_rqst *rq, struct dafsd_locker *locker,
			       struct file *filp, const struct dafsd_range *range,
			       const struct dafsd_had *had)
{
	const struct dafsd_range *old;
	loff_t at = range->start, end;

	for (old = had->ranges; old < had->ranges + had->nr; old++) {
		if (!dafsd_ranges_meet(old->start, old->end, range->start, range->end))
			continue;
		dafsd_lock_again(rq, locker, filp, F_UNLCK, at, old->start - 1);
		end = min(old->end, range->end);
		if (old->type != range->type)
			dafsd_lock_again(rq, locker, filp, old->type, max(old->start, at), end);
		if (end == range->end)
			return;
		at = end + 1;
	}
	dafsd_lock_again(rq, locker, filp, F_UNLCK, at, range->end);
}

/*
 * Set a lock that is reclaimed in a grace period.  If that has ended meanwhile, others may have had
 * it before it was set.
 */
static dafs_status_t dafsd_lock_reclaim(struct dafsd_rqst *rq, const struct dafsd_use *use,
					struct dafsd_locker *locker,
					const struct dafsd_range *range, bool *ours)
{
	struct dafsd_had had;
	dafs_status_t status;

	status = dafsd_lock_remember(locker, use->file->inode, &had);
	if (status)
		return status;
	status = dafsd_lock_apply(rq, locker, use->filp, range, ours);
	if (!status && !dafsd_grace_reclaims(locker->client)) {
		dafsd_lock_restore(rq, locker, use->filp, range, &had);
		dafsd_lock_wake(use->file, range);
		rq->body = true;
		status = DAFSERR_DENIED;
	}
	kvfree(had.ranges);
	return status;
}

/*
 * Does the kernel have a lock of another owner in the way?  It may end at any moment.  @fl: set to
 * it; the caller calls locks_release_private() in any case.
 */
static bool dafsd_lock_find_conflict(struct dafsd_locker *locker, struct file *filp,
				     const struct dafsd_range *range, struct file_lock *fl)
{
	dafsd_lock_init(fl, locker, filp, range);
	posix_test_lock(filp, fl);
	if (lock_is_unlock(fl))
		return false;
	dafsd_lock_hindered(locker, filp, range);
	return true;
}

/* Return: OK if the kernel has no lock of another owner in the way; else as dafsd_lock_apply() */
static dafs_status_t dafsd_lock_conflict(struct dafsd_rqst *rq, struct dafsd_locker *locker,
					 struct file *filp, const struct dafsd_range *range,
					 bool *ours)
{
	dafs_status_t status = DAFS_STATUS_OK;
	struct file_lock fl;

	if (dafsd_lock_find_conflict(locker, filp, range, &fl)) {
		*ours = fl.fl_lmops == &dafsd_lock_ops;
		status = dafsd_lock_denied(rq, &fl);
	}
	locks_release_private(&fl);
	return status;
}

static bool dafsd_lock_is_denied(struct dafsd_locker *locker, struct file *filp,
				 const struct dafsd_range *range)
{
	struct file_lock fl;
	bool denied = dafsd_lock_find_conflict(locker, filp, range, &fl);

	locks_release_private(&fl);
	return denied;
}

/* Is a lock in the way that another file server may keep out of courtesy? */
static bool dafsd_lock_meets_other(const struct dafsd_locker *locker, const struct inode *inode,
				   const struct dafsd_range *range)
{
	struct file_lock_context *ctx = locks_inode_context(inode);
	const struct file_lock *fl;
	bool meets = false;

	if (!ctx)
		return false;
	spin_lock(&ctx->flc_lock);
	list_for_each_entry(fl, &ctx->flc_posix, c.flc_list)
		meets |= fl->fl_lmops && fl->fl_lmops != &dafsd_lock_ops &&
			 fl->fl_lmops->lm_expire_lock && dafsd_lock_is_in_way(fl, locker, range);
	spin_unlock(&ctx->flc_lock);
	return meets;
}

/*
 * The kernel waits for the end of such a lock, which may take long.  It is to do so here, and not
 * when the lock is set, under dafsd_persist_sem, for which all others would wait.
 */
static void dafsd_lock_await_others(struct dafsd_locker *locker, struct file *filp,
				    const struct dafsd_range *range)
{
	struct file_lock fl;

	if (!dafsd_lock_meets_other(locker, file_inode(filp), range))
		return;
	dafsd_lock_init(&fl, locker, filp, range);
	posix_test_lock(filp, &fl);
	locks_release_private(&fl);
}

static dafs_status_t dafsd_lock_lock(struct dafsd_rqst *rq, const struct dafsd_use *use,
				     struct dafsd_locker *locker, const struct dafsd_lock_req *req,
				     bool *ours, bool *due)
{
	struct dafsd_persist_change change = {
		.rq = rq,
		.inode = use->file->inode,
		.locker = locker,
		.range = &req->range,
		.options = req->options,
		.waits = req->waits,
	};
	bool undoes = req->options & DAFS_LOCK_AUTORECOVERY;
	bool reclaims = req->options & DAFS_LOCK_RECLAIM;
	dafs_status_t status;

	status = dafsd_persist_prepare_undo(&change, undoes &&
					    dafsd_lock_is_denied(locker, use->filp, &req->range));
	if (status)
		return status;
	dafsd_lock_await_others(locker, use->filp, &req->range);
	status = dafsd_persist_begin(&change);
	if (change.lacks)
		status = dafsd_lock_conflict(rq, locker, use->filp, &req->range, ours) ?:
			 DAFSERR_DELAY;
	if (!status && reclaims && !change.kept)
		status = dafsd_lock_reclaim(rq, use, locker, &req->range, ours);
	else if (!status)
		status = dafsd_lock_apply(rq, locker, use->filp, &req->range, ours);
	if (!status)
		status = dafsd_persist_commit(&change);
	/* asked before, too; but another client may have lost it since, and not be unrecorded */
	if (!status)
		status = dafsd_client_may_get(locker->client);
	*due = change.due;
	status = dafsd_persist_end(&change, status);
	dafsd_persist_finish_undo(&change);
	return status;
}

static dafs_status_t dafsd_lock_unlock(struct dafsd_rqst *rq, const struct dafsd_use *use,
				       struct dafsd_locker *locker,
				       const struct dafsd_range *range, bool *ours,
				       struct dafsd_spare *spare)
{
	dafs_status_t status = dafsd_persist_unlock(locker, use->file->inode, range);

	if (!status)
		status = dafsd_lock_apply(rq, locker, use->filp, range, ours);
	if (!status && dafsd_range_is_all(range))
		dafsd_locker_rest(locker, spare);
	return status;
}

/*
 * @due: set if changes under another lock have to be undone first
 * @spare: for the caller to close
 */
static dafs_status_t dafsd_lock_try_once(struct dafsd_rqst *rq, const struct dafsd_use *use,
					 struct dafsd_locker *locker,
					 const struct dafsd_lock_req *req, bool *ours, bool *due,
					 struct dafsd_spare *spare)
{
	const struct dafsd_range *range = &req->range;
	struct dafsd_lock_wait *wait = dafsd_lock_wait_of(rq);
	struct dafsd_locker *first = NULL;
	struct dafsd_range its;
	dafs_status_t status;

	guard(mutex)(&locker->lock);
	if (READ_ONCE(use->open->state.dead))
		return DAFSERR_BAD_STATEID;
	/* another open of the same owner is being dismantled */
	if (locker->undoes)
		return DAFSERR_DELAY;
	status = dafsd_lock_allowed(locker, use, range);
	if (status)
		return status;
	if (range->type == F_UNLCK)
		return dafsd_lock_unlock(rq, use, locker, range, ours, spare);
	status = dafsd_client_may_get(locker->client);
	if (status)
		return status;
	dafsd_lock_wait_try(wait);
	first = dafsd_lock_wait_first(use->file, wait, locker, range, &its);
	/* a LOCK that has waited longer cannot be granted while this owner has the range */
	if (first && dafsd_locker_has(locker, use->file->inode, range)) {
		dafsd_locker_put(first);
		first = NULL;
	}
	if (first) {
		*ours = true;
		return dafsd_lock_give_way(rq, first, &its);
	}
	return dafsd_lock_lock(rq, use, locker, req, ours, due);
}

static dafs_status_t dafsd_lock_try(struct dafsd_rqst *rq, const struct dafsd_use *use,
				    struct dafsd_locker *locker, const struct dafsd_lock_req *req,
				    bool *ours)
{
	struct dafsd_spare spare = {};
	bool due = false;
	dafs_status_t status = dafsd_lock_try_once(rq, use, locker, req, ours, &due, &spare);

	if (due)
		status = dafsd_persist_undo(use->file, &use->filp->f_path) ?:
			 dafsd_lock_try_once(rq, use, locker, req, ours, &due, &spare);
	dafsd_spare_close(&spare);
	if (!status && (req->options & DAFS_LOCK_AUTORECOVERY))
		status = dafsd_persist_arm(locker, use->file, req->options & DAFS_LOCK_RECLAIM);
	return status;
}

/* Return: @status, or DELAY if the request is to wait. */
static dafs_status_t dafsd_lock_wait(struct dafsd_rqst *rq, const struct dafsd_use *use,
				     struct dafsd_locker *locker, const struct dafsd_lock_req *req,
				     dafs_status_t status, bool ours)
{
	struct dafsd_lock_wait *wait = dafsd_lock_wait_of(rq);

	if (!wait && ours) {
		wait = dafsd_lock_wait_add(rq, use, locker, &req->range);
		if (wait) {
			/* the response must not tell of a conflict that is over */
			memset(&rq->res.lock, 0, sizeof(rq->res.lock));
			status = dafsd_lock_try(rq, use, locker, req, &ours);
		}
	}
	if (wait && status == DAFSERR_DENIED && dafsd_lock_wait_denied(wait) && ours)
		return DAFSERR_DELAY;
	if (wait)
		wait->base.pending = false;
	return status;
}

/* File systems that are network clients themselves say so. */
static bool dafsd_lock_unsupported(const struct inode *inode)
{
	const struct export_operations *ops = inode->i_sb->s_export_op;

	return ops && (ops->flags & EXPORT_OP_NOLOCKS);
}

/* After these errors, too: what has failed may have come after the kernel had been asked. */
static bool dafsd_lock_may_be_set(dafs_status_t status)
{
	return !status || status == DAFSERR_RESOURCE || status == DAFSERR_IO;
}

/**
 * dafsd_lock_set() - lock or unlock bytes of a file for the owner of an open
 * @rq: LOCK or LOCKU
 * @use: the file, by an open
 * @req: what to do
 *
 * Locks of the same owner in the range are replaced, as fcntl(2) does.
 *
 * Context: may sleep.
 * Return: OK; DENIED, with a description of the conflict as the result; DELAY if the request
 * waits, and this is to be called again, or if locks of the owner are just being released;
 * RESOURCE: without memory, or too many locks; NOTSUPP; BAD_STATEID if the open ends at this
 * moment; the status of dafsd_client_record(), dafsd_persist_begin() or dafsd_persist_end(), or of
 * the file system.
 * After RESOURCE and IO it is not known what is locked.
 */
dafs_status_t dafsd_lock_set(struct dafsd_rqst *rq, const struct dafsd_use *use,
			     const struct dafsd_lock_req *req)
{
	const struct dafsd_range *range = &req->range;
	struct dafsd_locker *locker;
	dafs_status_t status;
	bool ours = false;

	if (dafsd_lock_unsupported(use->file->inode))
		return DAFSERR_NOTSUPP;
	/* also tries the disk again, if the store could not be written */
	status = range->type == F_UNLCK ? DAFS_STATUS_OK : dafsd_client_record(rq->ses->client);
	if (status)
		return status;
	status = dafsd_open_locker(use->open, &locker);
	if (status)
		return status;
	status = dafsd_lock_try(rq, use, locker, req, &ours);
	if (req->waits && status == DAFSERR_DENIED)
		status = dafsd_lock_wait(rq, use, locker, req, status, ours);
	/* a write lock may have become a read lock */
	if (range->type != F_WRLCK && dafsd_lock_may_be_set(status))
		dafsd_lock_wake(use->file, range);
	trace_dafsd_lock(use->open->state.id, rq->ses->client, range->type, range->start,
			 range->end, status);
	return status;
}

/**
 * dafsd_lock_abort() - undo what was written under an AUTORECOVERY lock (E-72)
 * @use: the file, by an open
 * @range: the bytes that the request names
 *
 * Context: may sleep.
 * Return: OK; INVAL if that is not an AUTORECOVERY lock of the owner of the open; or the status
 * of dafsd_persist_abort().
 */
dafs_status_t dafsd_lock_abort(const struct dafsd_use *use, const struct dafsd_range *range)
{
	struct dafsd_locker *locker = READ_ONCE(use->open->locker);

	if (!locker || !dafsd_range_is_all(range))
		return DAFSERR_INVAL;
	return dafsd_persist_abort(locker, use);
}

/* The lock owner of LOCKT, with a reference, or NULL if it has locked nothing. */
static struct dafsd_locker *dafsd_lock_tester(struct dafsd_rqst *rq, const struct inode *inode,
					      const struct dafs_str *owner)
{
	struct dafsd_file *file = dafsd_file_find(inode);
	struct dafsd_locker *locker;

	if (!file)
		return NULL;
	spin_lock(&file->locks_lock);
	locker = dafsd_locker_find(file, rq->ses->client, owner->data, owner->len);
	if (locker)
		refcount_inc(&locker->ref);
	spin_unlock(&file->locks_lock);
	dafsd_file_put(file);
	return locker;
}

/**
 * dafsd_lock_test() - is there a lock that would deny this one? (6.5.19)
 * @rq: LOCKT
 * @fh: a regular file
 * @owner: whose locks do not count, with the client of @rq
 * @range: the lock
 *
 * Context: may sleep; acts for the caller, who needs the permission to read or to write.
 * Return: OK; DENIED or LOCK_BROKEN, with a description of the conflict as the result;
 * RESOURCE; or the status of the file system.
 */
dafs_status_t dafsd_lock_test(struct dafsd_rqst *rq, const struct dafsd_fh *fh,
			      const struct dafs_str *owner, const struct dafsd_range *range)
{
	struct inode *inode = dafsd_fh_inode(fh);
	u32 access = DAFS_OPEN_SHARE_ACCESS_READ;
	struct dafsd_locker *locker;
	dafs_status_t status;
	struct file_lock fl;
	struct file *filp;
	int err;

	if (dafsd_file_permission(inode, access, DAFSD_OPEN_OWNER))
		access = DAFS_OPEN_SHARE_ACCESS_WRITE;
	err = dafsd_file_permission(inode, access, DAFSD_OPEN_OWNER);
	if (err)
		return dafs_errno_to_status(err);
	filp = dafsd_fh_open(fh, access, current_cred());
	if (IS_ERR(filp))
		return dafs_errno_to_status(PTR_ERR(filp));
	status = dafsd_persist_test(rq, inode, owner, range);
	if (status)
		goto done;
	locker = dafsd_lock_tester(rq, inode, owner);
	/* an owner without locks is unlike all others: the request may be its pointer */
	dafsd_lock_init(&fl, locker ?: (void *)rq, filp, range);
	err = vfs_test_lock(filp, &fl);
	status = dafs_errno_to_status(err);
	if (!err && !lock_is_unlock(&fl)) {
		dafsd_lock_hindered(locker ?: (void *)rq, filp, range);
		status = dafsd_lock_denied(rq, &fl);
	}
	locks_release_private(&fl);
	if (locker)
		dafsd_locker_put(locker);
done:
	dafsd_open_done(filp);
	return status;
}

static const struct dafsd_range dafsd_all_bytes = { .type = F_UNLCK, .end = OFFSET_MAX };

static void dafsd_locker_unlock(struct dafsd_locker *locker)
{
	struct file *filp = dafsd_locker_file(locker, NULL, &dafsd_all_bytes);
	struct file_lock fl;

	if (!filp)
		return;
	dafsd_lock_init(&fl, locker, filp, &dafsd_all_bytes);
	fl.fl_lmops = &dafsd_lock_ops;
	/* needs no memory, as it splits nothing */
	vfs_lock_file(filp, F_SETLK, &fl, NULL);
	dafsd_lock_forget(&fl);
}

/*
 * Those that are to survive are left to the owner.  Return: false if changes have to be undone
 * before the rest is done by dafsd_locker_left().
 */
static bool dafsd_locker_leave(struct dafsd_locker *locker, const struct inode *inode)
{
	guard(mutex)(&locker->lock);
	if (dafsd_persist_leave(locker, inode)) {
		locker->undoes = true;
		return false;
	}
	dafsd_locker_unlock(locker);
	dafsd_persist_gone(locker, inode);
	return true;
}

static void dafsd_locker_left(struct dafsd_locker *locker, const struct inode *inode)
{
	guard(mutex)(&locker->lock);
	locker->undoes = false;
	dafsd_locker_unlock(locker);
	dafsd_persist_gone(locker, inode);
}

static void dafsd_locker_close(struct dafsd_locker *locker, const struct inode *inode)
{
	guard(mutex)(&locker->lock);
	/* after CLOSE nothing is left; if it fails for what was revoked, that breaks, at worst */
	dafsd_persist_close(locker, inode);
	dafsd_locker_unlock(locker);
}

/* It stays as long as the open. */
static struct dafsd_locker *dafsd_open_locker_of(const struct dafsd_open *open)
{
	struct dafsd_file *file = open->state.file;
	struct dafsd_locker *locker;

	spin_lock(&file->locks_lock);
	locker = open->locker;
	spin_unlock(&file->locks_lock);
	return locker;
}

/**
 * dafsd_lock_revoked() - release the locks of an open that was revoked
 * @open: dead
 *
 * PERSIST locks are left to their owner.  Does nothing if the file system has locks of its own,
 * and so may wait, or if changes have to be undone in it first: dafsd_lock_drop() does it later.
 *
 * Context: may sleep, also for the store, but does not wait for a file system.
 */
void dafsd_lock_revoked(struct dafsd_open *open)
{
	struct dafsd_file *file = open->state.file;
	struct dafsd_locker *locker = dafsd_open_locker_of(open);

	if (file->inode->i_fop->lock)
		return;
	open->undoes = locker && !dafsd_locker_leave(locker, file->inode);
	if (open->undoes)
		return;
	/* those that wait by this open, too, and find it dead */
	if (locker)
		dafsd_lock_wake(file, &dafsd_all_bytes);
	/* what the owner locks by another open from now on is not released with this one */
	open->unlocked = true;
}

static void dafsd_lock_undo(struct dafsd_open *open, struct dafsd_locker *locker)
{
	struct dafsd_file *file = open->state.file;
	const struct file *filp = rcu_dereference_protected(open->filp, true);

	/* if that fails, requests for the file fail until it has succeeded */
	dafsd_persist_undo(file, &filp->f_path);
	dafsd_locker_left(locker, file->inode);
}

/**
 * dafsd_lock_closing() - an open is about to be closed: no restart is to find its locks
 * @open: the open, with a reference
 *
 * Context: may sleep for the store.
 * Return: as dafsd_persist_close().
 */
dafs_status_t dafsd_lock_closing(struct dafsd_open *open)
{
	struct dafsd_locker *locker = dafsd_open_locker_of(open);

	if (!locker)
		return DAFS_STATUS_OK;
	guard(mutex)(&locker->lock);
	return dafsd_persist_close(locker, open->state.file->inode);
}

static void dafsd_lock_end(struct dafsd_open *open, struct dafsd_locker *locker)
{
	if (open->undoes)
		dafsd_lock_undo(open, locker);
	else
		dafsd_locker_close(locker, open->state.file->inode);
	dafsd_lock_wake(open->state.file, &dafsd_all_bytes);
}

/**
 * dafsd_lock_drop() - release the locks of an open, if it has any
 * @open: dead, so it gets no more
 *
 * Context: may sleep, also for the file system.
 */
void dafsd_lock_drop(struct dafsd_open *open)
{
	struct dafsd_locker *locker = dafsd_open_locker_of(open);

	if (!locker)
		return;
	if (!open->unlocked)
		dafsd_lock_end(open, locker);
	/* what it, or others, have left in a file that was removed meanwhile */
	dafsd_persist_removed(open->state.file->inode);
}

/**
 * dafsd_lock_leave() - an open has no use for its lock owner any more
 * @open: unused, and nothing is locked by it: dafsd_lock_drop() was called, or it was
 *	retracted before it could be used
 *
 * Context: may sleep.
 */
void dafsd_lock_leave(struct dafsd_open *open)
{
	struct dafsd_locker *locker = open->locker;
	struct dafsd_file *file = open->state.file;
	struct dafsd_spare spare = {};
	bool last;

	if (!locker)
		return;
	spin_lock(&file->locks_lock);
	last = !--locker->nr_opens;
	if (last)
		list_del_init(&locker->file_link);
	spin_unlock(&file->locks_lock);
	mutex_lock(&locker->lock);
	if (last)
		dafsd_locker_rest(locker, &spare);
	mutex_unlock(&locker->lock);
	dafsd_spare_close(&spare);
	dafsd_locker_put(locker);
}

/*
 * Does somebody wait in the kernel for what an owner has locked?  This passes all locks of the
 * file, so it is not asked of owners whose locks nobody has asked for since the last time.
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
 * this module, so somebody may wait for all that was ever locked by the open.
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
