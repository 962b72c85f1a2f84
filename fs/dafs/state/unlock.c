// SPDX-License-Identifier: GPL-2.0
/*
 * Unlocking bytes at the server that no program has locked any more, and making weaker what none
 * needs as strong; see lock.c.
 */
#include <linux/filelock.h>
#include "state.h"
#include "lock.h"
#include "lock_impl.h"
#include "open_impl.h"

/*
 * A server that does not know the open has locked nothing by it, unless these bytes have been
 * reclaimed by it meanwhile, or just are; and one that the mount does not wait for releases all
 * when the client is gone.  Other locks by it are reclaimed, or found to be lost, when the open
 * is used next.
 */
static bool dafs_unlock_is_moot(const struct dafs_locks *locks, const struct dafs_op *op,
				const struct dafs_state_id *state_id)
{
	const struct dafs_sb_info *sbi = locks->os->sbi;

	if (dafs_status_action(op->status) == DAFS_ACT_OPEN)
		return dafs_open_state_is(locks->os, state_id);
	return READ_ONCE(locks->os->lost) || READ_ONCE(sbi->leaving) ||
	       READ_ONCE(sbi->clnt->dead);
}

/* Has a server that does not know the open kept what was locked by it? */
static bool dafs_unlock_is_needed(struct dafs_locks *locks, const struct dafs_op *op,
				  loff_t start, loff_t end)
{
	const struct dafs_sb_info *sbi = locks->os->sbi;

	return dafs_status_action(op->status) == DAFS_ACT_OPEN &&
	       dafs_held_is_recorded(locks, start, end) &&
	       !READ_ONCE(sbi->leaving) && !READ_ONCE(sbi->clnt->dead);
}

/*
 * One attempt.  Return: 1 to try again, by an open that the server knows: it has kept PERSIST
 * locks although it has not kept that by which they were set.
 */
static int dafs_unlock_try(struct dafs_locks *locks, loff_t start, loff_t end,
			   unsigned int *delay_ms)
{
	struct dafs_open_state *os = locks->os;
	struct dafs_op op = dafs_locks_op(os);
	struct dafs_locku_args args = {
		.filehandle = os->fh,
		.lock_type = DAFS_WRITE_LT,
		.offset = start,
		.length = dafs_lock_length(start, end),
	};
	int err;

	/* found by the last attempt, when the open was reclaimed */
	if (dafs_held_lost(locks, start, end))
		return -EIO;
	err = dafs_open_state_id(os, &args.state_id);
	if (!err)
		err = dafs_unlock(os->sbi->clnt, &op, &args);
	if (err && dafs_unlock_is_needed(locks, &op, start, end))
		err = dafs_task_exits() ? -ERESTARTSYS :
		      dafs_open_state_recover_retry(os, &args.state_id, delay_ms) ?: 1;
	else if (!err || dafs_unlock_is_moot(locks, &op, &args.state_id))
		dafs_held_clear(locks, start, end);
	dafs_locks_keep_call(locks, &op, err);
	dafs_op_end(&op);
	return err;
}

/* What is found to be lost while it is unlocked is not locked any more, but told of. */
static void dafs_unlock_bytes(struct dafs_locks *locks, loff_t start, loff_t end)
{
	unsigned int delay_ms = 0;
	int err;

	dafs_held_mark(locks, start, end, DAFS_HELD_UNSURE);
	WRITE_ONCE(locks->unlock_start, start);
	WRITE_ONCE(locks->unlock_end, end);
	do {
		err = dafs_unlock_try(locks, start, end, &delay_ms);
	} while (err > 0);
	WRITE_ONCE(locks->unlock_end, -1);
	if (!dafs_held_lost(locks, start, end))
		return;
	dafs_held_clear(locks, start, end);
	locks->lost_late = true;
}

/* @err: of a LOCK that would have made a lock weaker, or 0 */
static void dafs_locks_lower_failed(struct dafs_locks *locks, loff_t start, loff_t end, int err)
{
	/* nothing was in the way of the client, so the server has given it up */
	if (err == -EAGAIN || err == -EOWNERDEAD)
		dafs_held_mark(locks, start, end, DAFS_HELD_LOST);
	else if (err && err != -EIO)
		dafs_held_mark(locks, start, end, DAFS_HELD_UNSURE);
}

/* Has a program of this client a lock that may be an AUTORECOVERY lock at the server? */
static bool dafs_locks_want_undo(const struct dafs_locks *locks)
{
	struct file_lock_context *ctx = locks_inode_context(locks->inode);
	const struct file_lock *fl;
	bool want = false;

	if (!ctx)
		return false;
	spin_lock(&ctx->flc_lock);
	list_for_each_entry(fl, &ctx->flc_posix, c.flc_list)
		want |= fl->c.flc_type == F_WRLCK && !fl->fl_start && fl->fl_end == OFFSET_MAX;
	spin_unlock(&ctx->flc_lock);
	return want;
}

/**
 * dafs_locks_end_undo() - make changes permanent for which no program has an AUTORECOVERY lock
 * @locks: locks of the file, entered by dafs_locks_enter()
 *
 * When the program that has an AUTORECOVERY lock unlocks any of it, what it has written is to
 * stay, although it has locked other bytes still, or others have the file locked by flock(2).
 * The server does not split such a lock, so it becomes another kind of lock first.
 *
 * Context: may sleep, a fatal signal ends it.
 */
void dafs_locks_end_undo(struct dafs_locks *locks)
{
	struct dafs_held undoes;
	struct dafs_lock_range range;

	if (locks->call || !dafs_held_undoes(locks, &undoes) || dafs_locks_want_undo(locks) ||
	    undoes.state == DAFS_HELD_LOST)
		return;
	range = dafs_held_range(&undoes);
	range.options &= ~DAFS_LOCK_AUTORECOVERY;
	dafs_locks_lower_failed(locks, range.start, range.end, dafs_lock_bytes(locks, &range));
}

/* What dafs_locks_lower() does about bytes */
enum dafs_lower {
	DAFS_LOWER_NOT,		/* nothing */
	DAFS_LOWER_GAP,		/* nothing: they are not locked, nor should they be */
	DAFS_LOWER_UNLOCK,
	DAFS_LOWER_LOCK,	/* as programs want it: less strongly, or once more */
};

/**
 * struct dafs_lowering - what to do about bytes
 * @how: that
 * @type: with DAFS_LOWER_LOCK, DAFS_READ_LT or DAFS_WRITE_LT
 * @options: that it has, and keeps
 * @end: the last byte of which this is true
 */
struct dafs_lowering {
	enum dafs_lower how;
	u32 type;
	u32 options;
	loff_t end;
};

static enum dafs_lower dafs_held_lowering(const struct dafs_held *held, u32 wanted)
{
	if (!held)
		return wanted ? DAFS_LOWER_NOT : DAFS_LOWER_GAP;
	if (!wanted)
		return DAFS_LOWER_UNLOCK;
	if (held->state == DAFS_HELD_LOST)
		return DAFS_LOWER_NOT;
	if (held->type != wanted || held->state == DAFS_HELD_UNSURE)
		return DAFS_LOWER_LOCK;
	return DAFS_LOWER_NOT;
}

static struct dafs_lowering dafs_locks_lowering(struct dafs_locks *locks, loff_t pos)
{
	struct dafs_wanted wanted = dafs_locks_wanted(locks, pos);
	struct dafs_lowering low = { .type = wanted.type };
	const struct dafs_held *held;

	spin_lock(&locks->lock);
	held = dafs_held_at(locks, pos, &low.end);
	low.how = dafs_held_lowering(held, wanted.type);
	low.options = held ? held->options : 0;
	spin_unlock(&locks->lock);
	low.end = min(low.end, wanted.end);
	return low;
}

static void dafs_locks_lower_part(struct dafs_locks *locks, const struct dafs_lowering *low,
				  loff_t start, loff_t end)
{
	const struct dafs_lock_range range = {
		.start = start,
		.end = end,
		.type = low->type,
		.options = low->options,
	};

	if (low->how != DAFS_LOWER_LOCK && low->how != DAFS_LOWER_UNLOCK)
		return;
	/* without a type it is unlocked */
	if (dafs_held_set_local(locks, start, end, low->type))
		return;
	if (low->how == DAFS_LOWER_UNLOCK) {
		dafs_unlock_bytes(locks, start, end);
		return;
	}
	dafs_locks_lower_failed(locks, start, end, dafs_lock_bytes(locks, &range));
}

/**
 * dafs_locks_lower_range() - have bytes locked at the server no more strongly than by programs
 * @locks: locks of the file, entered by dafs_locks_enter()
 * @start: first byte
 * @end: last byte
 * @keep: what no program has locked stays locked
 *
 * Context: may sleep, a fatal signal ends it.
 */
void dafs_locks_lower_range(struct dafs_locks *locks, loff_t start, loff_t end, bool keep)
{
	struct dafs_lowering low, next;
	loff_t last;

	/* what is unlocked altogether need not become another lock */
	if (!keep && (start || end < OFFSET_MAX || dafs_locks_wanted(locks, 0).type))
		dafs_locks_end_undo(locks);
	if (locks->call)
		return;
	for (;; start = last + 1) {
		low = dafs_locks_lowering(locks, start);
		/* one request unlocks all, with what is unlocked in between */
		while (low.how == DAFS_LOWER_UNLOCK && low.end < end) {
			next = dafs_locks_lowering(locks, low.end + 1);
			if (next.how != DAFS_LOWER_UNLOCK && next.how != DAFS_LOWER_GAP)
				break;
			low.end = next.end;
		}
		last = min(low.end, end);
		if (!keep || low.how != DAFS_LOWER_UNLOCK)
			dafs_locks_lower_part(locks, &low, start, last);
		if (last == end || locks->call)
			break;
	}
}

/**
 * dafs_locks_in_doubt() - may the server have a lock with a record that was unlocked here?
 * @locks: locks of the file
 * @start: first byte to look at
 * @end: last byte
 *
 * Context: any but interrupt.
 * Return: true if so.
 */
bool dafs_locks_in_doubt(struct dafs_locks *locks, loff_t start, loff_t end)
{
	const struct dafs_held *held;
	bool doubt = false;

	if (!READ_ONCE(locks->recorded))
		return false;
	spin_lock(&locks->lock);
	list_for_each_entry(held, &locks->held, link)
		doubt |= held->options && held->state == DAFS_HELD_UNSURE &&
			 held->start <= end && held->end >= start;
	spin_unlock(&locks->lock);
	return doubt;
}

/**
 * dafs_locks_lower() - unlock at the server what no program has locked any more
 * @locks: locks of the file
 * @start: first byte to look at
 * @end: last byte
 *
 * What cannot be unlocked now is left to the background.
 *
 * Context: between dafs_locks_enter() and dafs_locks_leave(); may sleep, a fatal signal ends
 * it.
 */
void dafs_locks_lower(struct dafs_locks *locks, loff_t start, loff_t end)
{
	if (!locks->call)
		dafs_locks_lower_range(locks, start, end, false);
	if (locks->call || dafs_held_unsure(locks))
		dafs_locks_lower_later(locks);
}

/* One attempt.  Return: 1 to try again, perhaps with another state-id. */
static int dafs_abort_try(struct dafs_locks *locks, struct dafs_lock_args *args,
			  unsigned int *delay_ms)
{
	struct dafs_open_state *os = locks->os;
	struct dafs_op op = dafs_locks_op(os);
	struct dafs_held undoes;
	int err;

	/* the last attempt may have found that it is lost */
	if (!dafs_held_undoes(locks, &undoes))
		return -EINVAL;
	if (undoes.state == DAFS_HELD_LOST)
		return -EIO;
	err = dafs_open_state_id(os, &args->state_id);
	if (err)
		return err;
	err = dafs_lock(os->sbi->clnt, NULL, &op, args);
	if (err && dafs_status_action(op.status) == DAFS_ACT_OPEN)
		err = dafs_open_state_recover_briefly(os, &args->state_id, delay_ms) ?: 1;
	dafs_locks_keep_call(locks, &op, err);
	dafs_op_end(&op);
	return err;
}

/**
 * dafs_locks_abort() - have undone what was written under an AUTORECOVERY lock (4.4.1.4)
 * @locks: locks of the file
 *
 * The lock stays.
 *
 * Context: between dafs_locks_enter() and dafs_locks_leave(); may sleep, a fatal signal ends it.
 * Return: 0; -EINVAL if there is no such lock; -EIO if it is lost; -EINPROGRESS if the open is
 * being reclaimed, and the server wants time for that; or another negative errno: then it is not
 * known what was undone.
 */
int dafs_locks_abort(struct dafs_locks *locks)
{
	const struct dafs_lock_range all = { .end = OFFSET_MAX, .type = DAFS_ABORT_LT };
	struct dafs_lock_args args;
	unsigned int delay_ms = 0;
	int err;

	if (!locks->os)
		return -EINVAL;
	dafs_lock_args_init(&args, locks->os, &all);
	do {
		err = dafs_abort_try(locks, &args, &delay_ms);
	} while (err > 0);
	return err;
}

/* Return: true if it must be tried again. */
static bool dafs_locks_lower_all(struct dafs_locks *locks)
{
	bool again;

	if (locks->settle(locks->inode))
		return true;
	/* a worker is not killed */
	if (dafs_locks_enter(locks))
		return false;
	locks->lost_late = dafs_locks_lost(locks->inode);
	dafs_locks_lower_range(locks, 0, OFFSET_MAX, false);
	/* what was written under what was lost has been refused, but is cached as if it was not */
	if (locks->lost_late)
		dafs_cache_doubt(DAFS_I(locks->inode));
	again = dafs_held_unsure(locks);
	dafs_locks_leave(locks);
	return again;
}

/**
 * dafs_locks_work() - unlock what a task could not
 * @work: dafs_locks.work
 *
 * A server that cannot be reached on a soft mount may be back later.
 *
 * Context: may sleep; dafs_client.lock_wq.
 */
void dafs_locks_work(struct work_struct *work)
{
	struct dafs_locks *locks = container_of(to_delayed_work(work), struct dafs_locks, work);
	struct inode *inode = locks->inode;
	bool again;

	dafs_locks_shrink(locks);
	again = dafs_locks_lower_all(locks);
	dafs_locks_shrunk(locks);
	if (again) {
		locks->delay_ms = dafs_next_delay(locks->delay_ms);
		again = queue_delayed_work(dafs_inode_clnt(inode)->lock_wq, &locks->work,
					   msecs_to_jiffies(locks->delay_ms));
	} else {
		locks->delay_ms = 0;
	}
	if (!again)
		dafs_inode_put_later(inode);
}
