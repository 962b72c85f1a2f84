// SPDX-License-Identifier: GPL-2.0
/*
 * Locking bytes at the server, before a program has them; see lock.c.
 *
 * Only what the server does not have, or has less strongly, is asked for; and nothing that other
 * programs of this client have becomes weaker by that.
 */
#include "state.h"
#include "lock.h"
#include "lock_impl.h"
#include "open_impl.h"

/**
 * struct dafs_raising - what to ask the server for, to have bytes locked as a program wants it
 * @lacks: anything at all
 * @part: what, and for which bytes this is true
 */
struct dafs_raising {
	bool lacks;
	struct dafs_lock_range part;
};

/*
 * Of the bytes from @start on.  What other programs of this client have is not weakened: neither
 * the type, nor PERSIST.
 */
static struct dafs_raising dafs_locks_raising(struct dafs_locks *locks,
					      const struct dafs_lock_range *range, loff_t start)
{
	struct dafs_raising raise = { .lacks = true, .part = *range };
	const struct dafs_held *held;

	raise.part.start = start;
	spin_lock(&locks->lock);
	held = dafs_held_at(locks, start, &raise.part.end);
	if (held) {
		raise.lacks = held->state != DAFS_HELD_SURE || held->type < range->type ||
			      (range->options & ~held->options);
		raise.part.type = max(range->type, held->type);
		raise.part.options |= held->options;
	}
	spin_unlock(&locks->lock);
	raise.part.end = min(raise.part.end, range->end);
	return raise;
}

static bool dafs_raising_is_alike(const struct dafs_raising *a, const struct dafs_raising *b)
{
	return a->lacks == b->lacks && a->part.type == b->part.type &&
	       a->part.options == b->part.options;
}

/* As many bytes as one request is right for */
static struct dafs_raising dafs_locks_raising_most(struct dafs_locks *locks,
						   const struct dafs_lock_range *range,
						   loff_t start)
{
	struct dafs_raising raise = dafs_locks_raising(locks, range, start), next;

	while (raise.part.end < range->end) {
		next = dafs_locks_raising(locks, range, raise.part.end + 1);
		if (!dafs_raising_is_alike(&raise, &next))
			break;
		raise.part.end = next.part.end;
	}
	return raise;
}

/**
 * dafs_locks_raising_all() - one request for all of a range, which weakens nothing of it
 * @locks: locks of the file
 * @range: the bytes, and the weakest lock that will do
 *
 * Context: any but interrupt.
 * Return: the range, with the strongest type and the options of all that is locked in it.
 */
struct dafs_lock_range dafs_locks_raising_all(struct dafs_locks *locks,
					      const struct dafs_lock_range *range)
{
	struct dafs_lock_range all = *range;
	struct dafs_raising raise;
	loff_t start = range->start;

	for (;; start = raise.part.end + 1) {
		raise = dafs_locks_raising(locks, range, start);
		all.type = max(all.type, raise.part.type);
		all.options |= raise.part.options;
		if (raise.part.end == range->end)
			return all;
	}
}

/**
 * dafs_locks_open() - have an open by which bytes can be locked
 * @locks: locks of the file, entered by dafs_locks_enter()
 * @os: an open that the caller has
 * @range: how they are to be locked
 * @cred: for whom
 *
 * Who may only read a file neither repairs it nor has it broken.
 *
 * Context: may sleep; a fatal signal ends it.
 * Return: 0, and there is locks->os; or a negative errno as dafs_open_state_widen()'s.
 */
int dafs_locks_open(struct dafs_locks *locks, struct dafs_open_state *os,
		    const struct dafs_lock_range *range, const struct cred *cred)
{
	u32 access = range->type == DAFS_WRITE_LT ? DAFS_OPEN_SHARE_ACCESS_WRITE :
						    DAFS_OPEN_SHARE_ACCESS_READ;

	if (range->options & (DAFS_LOCK_PERSIST | DAFS_LOCK_REPAIR))
		access |= DAFS_OPEN_SHARE_ACCESS_WRITE;
	if (locks->os && READ_ONCE(locks->os->lost))
		dafs_locks_drop_open(locks);
	if (!locks->os) {
		dafs_open_state_hold(os);
		dafs_locks_take_open(locks, os);
	}
	return dafs_open_state_widen(locks->os, access, cred);
}

/*
 * While the file is delegated, nobody else locks anything of it.  Its locks are set with the
 * mutex held, and that is so when the delegation is handed over: so all are known then.
 */
static bool dafs_locks_are_local(const struct dafs_locks *locks)
{
	return dafs_inode_delegated_to_write(DAFS_I(locks->inode));
}

static int dafs_locks_raise_part(struct dafs_locks *locks, struct dafs_open_state *os,
				 const struct cred *cred, const struct dafs_lock_range *range,
				 bool *raised)
{
	int err = dafs_locks_open(locks, os, range, cred);

	if (err)
		return err;
	/* what the server may have locked must be unlocked there; PERSIST locks only it has */
	if (dafs_locks_are_local(locks) && !range->options &&
	    dafs_held_set_local(locks, range->start, range->end, range->type)) {
		dafs_debt_owe(locks);
		/* it may have been lost, and what was locked by it reclaimed, without this lock */
		smp_mb();
		if (dafs_locks_are_local(locks))
			return 0;
	}
	*raised = true;
	return dafs_lock_bytes(locks, range);
}

/**
 * dafs_locks_raise() - have bytes locked at the server, or by a delegation
 * @locks: locks of the file
 * @os: an open of it
 * @cred: credential of the caller
 * @range: the bytes, and the weakest lock that will do
 * @raised: set if any of them were not locked so before, and are now at the server
 *
 * After an error some of the bytes may be locked: dafs_locks_lower() unlocks those that no
 * program has locked.
 *
 * Context: between dafs_locks_enter() and dafs_locks_leave(); may sleep, a fatal signal ends
 * it.
 * Return: 0; -EAGAIN if another client or a program of the server has a lock in the way;
 * -EOWNERDEAD if a PERSIST lock in the way is broken; -EOPNOTSUPP if the server has none;
 * -EINVAL if REPAIR does not cover what is broken; -ENOLCK; -EIO if some of it was lost, and
 * must be unlocked first; -EINPROGRESS if the server wants time, which is for others who need the
 * mutex; or another negative errno.
 */
int dafs_locks_raise(struct dafs_locks *locks, struct dafs_open_state *os,
		     const struct cred *cred, const struct dafs_lock_range *range, bool *raised)
{
	struct dafs_raising raise;
	loff_t start = range->start;
	int err;

	/* nothing is granted by what the server may not have any more; not waited for in here */
	err = dafs_locks_await_reclaim(locks->inode, true);
	if (err)
		return err == -EAGAIN ? -EINPROGRESS : err;
	/* that of a program that has gone: this one does not inherit what it has written */
	dafs_locks_end_undo(locks);
	if (locks->call)
		return -ERESTARTSYS;
	if (dafs_held_lost(locks, range->start, range->end))
		return -EIO;
	if (range->options & (DAFS_LOCK_REPAIR | DAFS_LOCK_AUTORECOVERY)) {
		raise.part = dafs_locks_raising_all(locks, range);
		return dafs_locks_raise_part(locks, os, cred, &raise.part, raised);
	}
	for (;; start = raise.part.end + 1) {
		raise = dafs_locks_raising_most(locks, range, start);
		if (raise.lacks)
			err = dafs_locks_raise_part(locks, os, cred, &raise.part, raised);
		if (err || raise.part.end == range->end)
			return err;
	}
}
