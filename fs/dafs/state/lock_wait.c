// SPDX-License-Identifier: GPL-2.0
/*
 * LOCKs that wait at the server until bytes are free; see invariant 4 in lock.c.
 */
#include <linux/slab.h>
#include <linux/wait_bit.h>
#include "state.h"
#include "lock.h"
#include "lock_impl.h"
#include "open_impl.h"

/**
 * struct dafs_lock_waiter - a LOCK that waits at the server, and what is left of it
 * @args: its arguments
 * @link: in dafs_locks.waiting
 * @locks: locks of the file
 * @os: the open that it is sent by, with a reference: the one of @locks may become another
 * @range: the bytes, locked no more weakly than they are
 * @asked: options that the task has asked for
 * @left: the task has gone, and there is a copy of this that holds the inode
 */
struct dafs_lock_waiter {
	struct dafs_lock_args args;
	struct list_head link;
	struct dafs_locks *locks;
	struct dafs_open_state *os;
	struct dafs_lock_range range;
	u32 asked;
	bool left;
};

static void dafs_lock_waiter_begin(struct dafs_lock_waiter *waiter)
{
	struct dafs_locks *locks = waiter->locks;

	lockdep_assert_held(&locks->mutex);
	waiter->os = locks->os;
	dafs_open_state_hold(waiter->os);
	atomic_inc(&locks->waiters);
	spin_lock(&locks->lock);
	list_add(&waiter->link, &locks->waiting);
	spin_unlock(&locks->lock);
}

/* Would a LOCK that waits at the server make a lock weaker, if it was granted? */
static bool dafs_locks_weaker_waits(struct dafs_locks *locks, const struct dafs_lock_range *range)
{
	const struct dafs_lock_waiter *waiter;
	bool weaker = false;

	spin_lock(&locks->lock);
	list_for_each_entry(waiter, &locks->waiting, link)
		weaker |= waiter->range.start <= range->end && waiter->range.end >= range->start &&
			  (waiter->range.type < range->type ||
			   (range->options & ~waiter->range.options & DAFS_LOCK_PERSIST));
	spin_unlock(&locks->lock);
	return weaker;
}

/**
 * dafs_locks_enter_to_raise() - begin to lock bytes at the server
 * @locks: locks of the file
 * @range: the bytes, and how they are to be locked
 *
 * If a LOCK of another program of this client waits at the server for less, this waits until it
 * is answered: granted later, it would make what is locked here weaker, and others could come
 * first before that is put right.  The server does not let it wait for long, and no more are sent
 * meanwhile.
 *
 * Context: may sleep; a signal ends it.
 * Return: as dafs_locks_enter().
 */
int dafs_locks_enter_to_raise(struct dafs_locks *locks, const struct dafs_lock_range *range)
{
	int err = dafs_locks_enter(locks);

	while (!err && dafs_locks_weaker_waits(locks, range)) {
		atomic_inc(&locks->stronger);
		dafs_locks_leave(locks);
		err = wait_var_event_interruptible(&locks->waiting,
						   !dafs_locks_weaker_waits(locks, range));
		if (!err)
			err = dafs_locks_enter(locks);
		/* with the mutex: none is sent any more before this task has sent its own */
		atomic_dec(&locks->stronger);
	}
	return err;
}

/* It may have been granted: what was not locked before is so with the options of the task. */
static void dafs_lock_waiter_doubt(const struct dafs_lock_waiter *waiter)
{
	struct dafs_lock_range range = waiter->range;

	range.options = waiter->asked;
	dafs_held_doubt(waiter->locks, &range);
}

static void dafs_lock_waiter_undo(struct dafs_client *clnt, struct dafs_op *op)
{
	struct dafs_lock_waiter *waiter = container_of(op->args, struct dafs_lock_waiter, args);

	dafs_op_end(op);
	dafs_lock_waiter_doubt(waiter);
	dafs_locks_lower_later(waiter->locks);
}

static void *dafs_lock_waiter_copy(const void *args)
{
	struct dafs_lock_waiter *waiter = container_of((struct dafs_lock_args *)args,
						       struct dafs_lock_waiter, args);
	struct dafs_lock_waiter *copy;

	waiter->left = true;
	/* the file is open */
	dafs_inode_hold(waiter->locks->inode);
	copy = kmemdup(waiter, sizeof(*waiter), GFP_NOFS | __GFP_NOFAIL);
	spin_lock(&waiter->locks->lock);
	list_replace(&waiter->link, &copy->link);
	spin_unlock(&waiter->locks->lock);
	return copy;
}

static void dafs_lock_waiter_end(struct dafs_lock_waiter *waiter)
{
	struct dafs_locks *locks = waiter->locks;

	spin_lock(&locks->lock);
	list_del(&waiter->link);
	spin_unlock(&locks->lock);
	/* pairs with the wait of dafs_locks_enter_to_raise() */
	smp_mb();
	wake_up_var(&locks->waiting);
	dafs_open_state_put(waiter->os, false);
	atomic_dec(&locks->waiters);
	/* the open may have been kept for this one */
	if (!dafs_locks_enter(locks))
		dafs_locks_leave(locks);
	else
		dafs_locks_lower_later(locks);
}

static void dafs_lock_waiter_forget(void *args)
{
	struct dafs_lock_waiter *waiter = args;

	dafs_lock_waiter_end(waiter);
	dafs_inode_put_later(waiter->locks->inode);
}

static int dafs_lock_waiter_run(struct dafs_lock_waiter *waiter)
{
	const struct dafs_lock_range *range = &waiter->range;
	struct dafs_open_state *os = waiter->os;
	struct dafs_op op = dafs_locks_op(os);
	int err;

	op.undo = dafs_lock_waiter_undo;
	op.copy = dafs_lock_waiter_copy;
	op.forget = dafs_lock_waiter_forget;
	op.interruptible = true;
	op.unsure = true;
	dafs_lock_args_init(&waiter->args, os, range);
	/* the task that has waited may be gone when it is granted, and then repairs nothing */
	waiter->args.options &= ~DAFS_LOCK_REPAIR;
	waiter->args.lock_type = range->type == DAFS_WRITE_LT ? DAFS_WRITEW_LT : DAFS_READW_LT;
	err = dafs_open_state_id(os, &waiter->args.state_id);
	if (!err)
		err = dafs_lock(os->sbi->clnt, NULL, &op, &waiter->args);
	if (!err || (err < 0 && dafs_lock_may_be_set(op.status)))
		dafs_lock_waiter_doubt(waiter);
	/* what is broken is not in the way of the caller */
	if (err == -EOWNERDEAD && (range->options & DAFS_LOCK_REPAIR))
		err = -EAGAIN;
	/* another program of this client has an AUTORECOVERY lock by now */
	if (op.status == DAFSERR_LOCK_RANGE)
		err = -EAGAIN;
	/* the caller asks for the lock again, and has the open reclaimed by that */
	if (err && dafs_status_action(op.status) == DAFS_ACT_OPEN)
		err = 0;
	dafs_op_end(&op);
	return err;
}

/*
 * The grant of a LOCK that has waited at the server makes UNSURE what other programs had locked
 * of its bytes, and an option weaker that was asked for meanwhile.  What was granted is kept.
 */
static int dafs_locks_restore(struct dafs_locks *locks, const struct dafs_lock_range *range)
{
	int err = dafs_locks_enter(locks);

	if (err)
		return err;
	if (!locks->call)
		dafs_locks_lower_range(locks, range->start, range->end, true);
	dafs_locks_leave(locks);
	return 0;
}

/**
 * dafs_locks_await() - wait until bytes can be locked at the server
 * @locks: locks of the file
 * @os: an open of it
 * @cred: credential of the caller
 * @range: the bytes, and how they are to be locked
 *
 * The server may answer as soon as the lock is free, or at once.  After an error it may have
 * locked them all the same, which dafs_locks_lower() undoes.
 *
 * Context: may sleep; any signal ends it.
 * Return: 0 if it is worth to try dafs_locks_raise() again now; -EAGAIN if the lock is not
 * free; -EINPROGRESS if the server wants time; -ERESTARTSYS; or another negative errno.
 */
int dafs_locks_await(struct dafs_locks *locks, struct dafs_open_state *os,
		     const struct cred *cred, const struct dafs_lock_range *range)
{
	struct dafs_lock_waiter waiter = { .locks = locks };
	int err;

	err = dafs_locks_enter(locks);
	if (err)
		return err;
	waiter.range = dafs_locks_raising_all(locks, range);
	waiter.asked = range->options & ~DAFS_LOCK_AUTORECOVERY;
	/* what is written while the VFS has not granted it, too, is not to be undone */
	waiter.range.options &= ~DAFS_LOCK_AUTORECOVERY;
	/* another program is about to lock more strongly what this would make weaker */
	err = atomic_read(&locks->stronger) ? -EAGAIN :
					      dafs_locks_open(locks, os, range, cred);
	if (!err)
		dafs_lock_waiter_begin(&waiter);
	dafs_locks_leave(locks);
	if (err)
		return err;
	err = dafs_lock_waiter_run(&waiter);
	if (!err)
		err = dafs_locks_restore(locks, range);
	if (!waiter.left)
		dafs_lock_waiter_end(&waiter);
	return err;
}
