// SPDX-License-Identifier: GPL-2.0
/*
 * Byte-range locks at the server.
 *
 * The VFS keeps the locks of local programs, and knows which of them conflict.  To the
 * server, this client is one lock owner for each file: what it has locked there
 * (dafs_locks.held) is the strongest of the local locks of each byte, of fcntl(2), of open
 * file descriptions and of flock(2) alike.  So a lock that another local program has
 * already costs no request, and what one program unlocks stays locked for the others.
 *
 * A lock is raised at the server before the VFS has it, and lowered after the VFS has
 * released it:
 *
 *  1. All tasks that do either hold dafs_locks.mutex, so that what is sent is based on what
 *     the server has.
 *  2. A request without a response leaves its bytes UNSURE.  They count as unlocked for
 *     dafs_locks_raise() and as locked for dafs_locks_lower(), so both ask again.
 *  3. A request of a killed task may be executed later.  It stays in dafs_locks.call: this
 *     task sends nothing after it, and the next task with the mutex waits for its end.
 *  4. A LOCK that waits at the server is sent without the mutex, so that others can unlock
 *     meanwhile.  If it is granted, its bytes are UNSURE, because others may have unlocked
 *     them since: the task that has waited asks once more.  It would make weaker what other
 *     programs have there, so a stronger lock is not set before it is answered: see
 *     dafs_locks_enter_to_raise().
 *  5. A task that is killed, or may not wait, leaves the unlocking to dafs_locks.work.
 *
 * While the file is delegated for writing, the server need not know of new locks
 * (dafs_held.local).  It is told of them before the delegation is returned, and they are
 * reclaimed like others.
 *
 * All locks are set by one open, which stays open as long as there are any.  What becomes of
 * them when the server does not know it any more is in relock.c.
 */
#include <linux/filelock.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>
#include "state.h"
#include "lock.h"
#include "lock_impl.h"
#include "open_impl.h"

static void dafs_locks_work(struct work_struct *work);

static struct dafs_locks *dafs_locks_alloc(struct inode *inode, int (*settle)(struct inode *))
{
	struct dafs_locks *locks = kzalloc(sizeof(*locks), GFP_KERNEL);

	if (!locks)
		return NULL;
	locks->inode = inode;
	locks->settle = settle;
	locks->unlock_end = -1;
	mutex_init(&locks->mutex);
	spin_lock_init(&locks->lock);
	INIT_LIST_HEAD(&locks->held);
	INIT_LIST_HEAD(&locks->spares);
	INIT_LIST_HEAD(&locks->waiting);
	INIT_DELAYED_WORK(&locks->work, dafs_locks_work);
	INIT_WORK(&locks->probe, dafs_locks_probe_work);
	return locks;
}

/**
 * dafs_locks_get() - the locks of a file
 * @inode: the file
 * @settle: makes what was written under a lock stable, see struct dafs_locks
 *
 * Context: may sleep.
 * Return: the locks, which stay until the inode is evicted, or NULL without memory.
 */
struct dafs_locks *dafs_locks_get(struct inode *inode, int (*settle)(struct inode *inode))
{
	struct dafs_inode *di = DAFS_I(inode);
	struct dafs_locks *locks = READ_ONCE(di->locks), *other;

	if (locks)
		return locks;
	locks = dafs_locks_alloc(inode, settle);
	if (!locks)
		return NULL;
	other = cmpxchg(&di->locks, NULL, locks);
	if (!other)
		return locks;
	kfree(locks);
	return other;
}

/**
 * dafs_locks_free() - an inode is being evicted
 * @di: the inode; nothing of it is locked any more
 *
 * Context: any.
 */
void dafs_locks_free(struct dafs_inode *di)
{
	struct dafs_locks *locks = di->locks;

	if (!locks)
		return;
	WARN_ON_ONCE(locks->os || !list_empty(&locks->held));
	dafs_held_free(&locks->spares);
	kfree(locks);
	di->locks = NULL;
}

/**
 * dafs_locks_any() - has the server locked bytes of a file for this client?
 * @inode: the file
 *
 * Context: any but interrupt.
 * Return: true if it has, or may have.
 */
bool dafs_locks_any(const struct inode *inode)
{
	struct dafs_locks *locks = READ_ONCE(DAFS_I(inode)->locks);
	bool any;

	if (!locks)
		return false;
	spin_lock(&locks->lock);
	any = !list_empty(&locks->held);
	spin_unlock(&locks->lock);
	return any;
}

/**
 * dafs_locks_cover() - is a range locked for writing by this client alone?
 * @inode: the file
 * @start: first byte
 * @end: last byte
 *
 * Context: any but interrupt.
 * Return: true if no other client has locked any byte of it, nor will before what is written now
 * has been written back.
 */
bool dafs_locks_cover(const struct inode *inode, loff_t start, loff_t end)
{
	struct dafs_locks *locks = READ_ONCE(DAFS_I(inode)->locks);
	const struct dafs_held *held;
	bool covered = locks;
	loff_t last;

	/* before the list: pairs with dafs_locks_shrunk() */
	if (!locks || atomic_read_acquire(&locks->shrinking))
		return false;
	spin_lock(&locks->lock);
	for (; covered && start <= end; start = last + 1) {
		held = dafs_held_at(locks, start, &last);
		covered = held && held->type == DAFS_WRITE_LT && held->state == DAFS_HELD_SURE;
		if (last == OFFSET_MAX)
			break;
	}
	spin_unlock(&locks->lock);
	return covered;
}

/**
 * dafs_locks_owner() - to whom do this client's locks of a file belong?
 * @inode: the file
 * @os: an open of the file; its owner counts while nothing is locked
 * @owner: filled; DAFS_OPEN_OWNER bytes
 *
 * Context: may sleep; a fatal signal ends it.
 * Return: 0 or -ERESTARTSYS.
 */
int dafs_locks_owner(struct inode *inode, const struct dafs_open_state *os, char *owner)
{
	struct dafs_locks *locks = READ_ONCE(DAFS_I(inode)->locks);

	if (!locks) {
		strscpy(owner, os->owner, DAFS_OPEN_OWNER);
		return 0;
	}
	if (mutex_lock_killable(&locks->mutex))
		return -ERESTARTSYS;
	strscpy(owner, locks->os ? locks->os->owner : os->owner, DAFS_OPEN_OWNER);
	mutex_unlock(&locks->mutex);
	return 0;
}

/**
 * dafs_locks_lost() - are there locks that the server has not given back?
 * @inode: the file
 *
 * Context: any.
 * Return: true if so: I/O must fail.
 */
bool dafs_locks_lost(const struct inode *inode)
{
	const struct dafs_locks *locks = READ_ONCE(DAFS_I(inode)->locks);

	return locks && READ_ONCE(locks->lost);
}

/* Takes over a reference to @os. */
static void dafs_locks_take_open(struct dafs_locks *locks, struct dafs_open_state *os)
{
	spin_lock(&locks->lock);
	WRITE_ONCE(locks->os, os);
	spin_unlock(&locks->lock);
	spin_lock(&os->lock);
	os->locks = locks;
	spin_unlock(&os->lock);
}

/* The file that was locked is open by it, as a rule, so the CLOSE is not waited for. */
static void dafs_locks_drop_open(struct dafs_locks *locks)
{
	struct dafs_open_state *os = locks->os;

	spin_lock(&os->lock);
	os->locks = NULL;
	spin_unlock(&os->lock);
	/* dafs_locks_behind() takes a reference under the lock */
	spin_lock(&locks->lock);
	WRITE_ONCE(locks->os, NULL);
	spin_unlock(&locks->lock);
	dafs_open_state_put(os, false);
}

/* With nothing locked there is no need for the open. */
static void dafs_locks_rest(struct dafs_locks *locks)
{
	lockdep_assert_held(&locks->mutex);
	if (locks->os && list_empty_careful(&locks->held) && !atomic_read(&locks->waiters))
		dafs_locks_drop_open(locks);
}

/* Invariant 3.  Return: 0, or -ERESTARTSYS if the task is killed. */
static int dafs_locks_await_call(struct dafs_locks *locks)
{
	if (!locks->call)
		return 0;
	/* any other error is that of a connection which has ended */
	if (dafs_call_wait(locks->call) == -ERESTARTSYS)
		return -ERESTARTSYS;
	dafs_call_put(locks->call);
	dafs_conn_put(locks->conn);
	locks->call = NULL;
	locks->conn = NULL;
	return 0;
}

/**
 * dafs_locks_enter() - begin to change what is locked at the server
 * @locks: locks of the file
 *
 * Context: may sleep; a fatal signal ends it.
 * Return: 0, and the caller calls dafs_locks_leave(); or -ERESTARTSYS.
 */
int dafs_locks_enter(struct dafs_locks *locks)
{
	int err;

	/* a task that exits could not be killed while it waits for another one */
	if (dafs_task_exits() ? !mutex_trylock(&locks->mutex) :
				mutex_lock_killable(&locks->mutex))
		return -ERESTARTSYS;
	err = locks->call && dafs_task_exits() ? -ERESTARTSYS : dafs_locks_await_call(locks);
	if (err)
		mutex_unlock(&locks->mutex);
	return err;
}

/**
 * dafs_locks_leave() - the end of dafs_locks_enter()
 * @locks: locks of the file
 *
 * Context: may sleep.
 */
void dafs_locks_leave(struct dafs_locks *locks)
{
	dafs_locks_rest(locks);
	mutex_unlock(&locks->mutex);
}

/**
 * dafs_locks_shrink() - bytes may be about to be unlocked at the server
 * @locks: locks of the file
 *
 * From now on dafs_locks_cover() says that none are locked, so that nothing is written into the
 * cache that would be written back too late.
 *
 * Context: any.  To be undone by dafs_locks_shrunk().
 */
void dafs_locks_shrink(struct dafs_locks *locks)
{
	atomic_inc(&locks->shrinking);
	/* writers see this, or are seen: pairs with dafs_buffered_write() */
	smp_mb__after_atomic();
}

/**
 * dafs_locks_shrunk() - undo dafs_locks_shrink(): what is not locked any more is known
 * @locks: locks of the file
 *
 * Context: any.
 */
void dafs_locks_shrunk(struct dafs_locks *locks)
{
	/* a task that sees this also sees the changes to the list of locks and to the inode */
	smp_mb__before_atomic();
	atomic_dec(&locks->shrinking);
}

/**
 * dafs_locks_lower_later() - unlock in the background what is locked by no program
 * @locks: locks of the file, which is open
 *
 * Context: any but interrupt.
 */
void dafs_locks_lower_later(struct dafs_locks *locks)
{
	struct inode *inode = locks->inode;

	if (WARN_ON_ONCE(!dafs_inode_hold(inode)))
		return;
	if (!queue_delayed_work(dafs_inode_clnt(inode)->lock_wq, &locks->work, 0))
		dafs_inode_put_later(inode);
}

/* The request of a killed task may be executed later; see invariant 3. */
static void dafs_locks_keep_call(struct dafs_locks *locks, struct dafs_op *op, int err)
{
	if (err != -ERESTARTSYS || !op->lost || !op->call)
		return;
	locks->call = op->call;
	locks->conn = op->conn;
	op->call = NULL;
	op->conn = NULL;
}

static struct dafs_op dafs_locks_op(const struct dafs_open_state *os)
{
	return (struct dafs_op) {
		.cred = os->cred,
		.leave = &os->sbi->leaving,
	};
}

static u64 dafs_lock_length(loff_t start, loff_t end)
{
	return end == OFFSET_MAX ? DAFS_LOCK_TO_EOF : end - start + 1;
}

/**
 * dafs_lock_args_init() - the arguments of a LOCK, without the state-id
 * @args: filled
 * @os: the open that the lock is set by
 * @range: the bytes, and how they are to be locked
 *
 * Context: any.
 */
void dafs_lock_args_init(struct dafs_lock_args *args, const struct dafs_open_state *os,
			 const struct dafs_lock_range *range)
{
	*args = (struct dafs_lock_args) {
		.filehandle = os->fh,
		.lock_type = range->type,
		.options = range->options,
		.offset = range->start,
		.length = dafs_lock_length(range->start, range->end),
	};
}

/**
 * dafs_held_range() - what a lock was asked for with
 * @held: the lock
 *
 * Context: any; holds dafs_locks.lock unless @held is a copy.
 * Return: its bytes, type and options.
 */
struct dafs_lock_range dafs_held_range(const struct dafs_held *held)
{
	return (struct dafs_lock_range) {
		.start = held->start,
		.end = held->end,
		.type = held->type,
		.options = held->options,
	};
}

static bool dafs_held_lost(struct dafs_locks *locks, loff_t start, loff_t end)
{
	const struct dafs_held *held;
	bool lost = false;

	spin_lock(&locks->lock);
	list_for_each_entry(held, &locks->held, link)
		lost |= held->state == DAFS_HELD_LOST && held->start <= end && held->end >= start;
	spin_unlock(&locks->lock);
	return lost;
}

/*
 * A lock was granted by a state-id that the open had before.  The next attempt is made at once; but
 * the open may be being reclaimed for long, or get another state-id each time.
 *
 * Return: 1 to ask once more, or -ERESTARTSYS.
 */
static int dafs_lock_anew(unsigned int *delay_ms)
{
	if (*delay_ms)
		return dafs_op_sleep(delay_ms) ?: 1;
	*delay_ms = 1;
	return 1;
}

/*
 * The server has granted a lock.  A part of it may have been lost while the request was under
 * way, and then was granted anew: the program that relied on it must be told.  And a reclaim
 * under way may have looked before the lock was recorded.
 *
 * Return: 0; 1 to ask once more; -EIO if it is lost; or -ERESTARTSYS.
 */
static int dafs_lock_granted(struct dafs_locks *locks, const struct dafs_lock_range *range,
			     const struct dafs_state_id *state_id, unsigned int *delay_ms)
{
	if (dafs_held_lost(locks, range->start, range->end)) {
		dafs_held_set(locks, range, DAFS_HELD_LOST);
		return -EIO;
	}
	dafs_held_set(locks, range, DAFS_HELD_SURE);
	if (dafs_open_state_is(locks->os, state_id))
		return 0;
	dafs_held_doubt(locks, range);
	return dafs_lock_anew(delay_ms);
}

/*
 * While the file is delegated, nobody else locks anything of it.  Its locks are set with the
 * mutex held, and that is so when the delegation is handed over: so all are known then.
 */
static bool dafs_locks_are_local(const struct dafs_locks *locks)
{
	return dafs_inode_delegated_to_write(DAFS_I(locks->inode));
}

/* The server may have set it, but not recorded what a restart must not forget. */
static bool dafs_lock_may_be_set(dafs_status_t status)
{
	return status == DAFSERR_IO || status == DAFSERR_RESOURCE;
}

/* One attempt.  Return: 1 to try again, perhaps with another state-id. */
static int dafs_lock_try(struct dafs_locks *locks, const struct dafs_lock_range *range,
			 struct dafs_lock_args *args, unsigned int *delay_ms)
{
	struct dafs_open_state *os = locks->os;
	struct dafs_op op = dafs_locks_op(os);
	int err;

	err = dafs_open_state_id(os, &args->state_id);
	if (err)
		return err;
	err = dafs_lock(os->sbi->clnt, NULL, &op, args);
	if (!err)
		err = dafs_lock_granted(locks, range, &args->state_id, delay_ms);
	else if (dafs_status_action(op.status) == DAFS_ACT_OPEN)
		/* also if a request before got no response: only this client could have it */
		err = dafs_open_state_recover_briefly(os, &args->state_id, delay_ms) ?: 1;
	if (err < 0 && (op.lost || dafs_lock_may_be_set(op.status)))
		dafs_held_doubt(locks, range);
	dafs_locks_keep_call(locks, &op, err);
	dafs_op_end(&op);
	return err;
}

/**
 * dafs_lock_bytes() - send a LOCK, again for as long as that may help
 * @locks: locks of the file, entered by dafs_locks_enter()
 * @range: the bytes, and how they are to be locked
 *
 * Context: may sleep; holds locks->mutex.
 * Return: 0; -EAGAIN if another client has locked some of it; -EOWNERDEAD if it is broken;
 * -EINPROGRESS if the open is being reclaimed, and the server wants time for that; or another
 * negative errno.
 */
int dafs_lock_bytes(struct dafs_locks *locks, const struct dafs_lock_range *range)
{
	struct dafs_lock_args args;
	unsigned int delay_ms = 0;
	int err;

	dafs_lock_args_init(&args, locks->os, range);
	do {
		err = dafs_lock_try(locks, range, &args, &delay_ms);
	} while (err > 0);
	return err;
}

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

/* Has the server been asked for locks in a range that it remembers when the open is gone? */
static bool dafs_held_is_recorded(struct dafs_locks *locks, loff_t start, loff_t end)
{
	const struct dafs_held *held;
	bool recorded = false;

	if (!READ_ONCE(locks->recorded))
		return false;
	spin_lock(&locks->lock);
	list_for_each_entry(held, &locks->held, link)
		recorded |= held->options && held->start <= end && held->end >= start;
	spin_unlock(&locks->lock);
	return recorded;
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

/**
 * dafs_locks_recorded() - does the server keep a lock of a file for this machine, or break it, or
 * undo what was written under it, if that is lost?
 * @inode: the file
 *
 * Context: any but interrupt.
 * Return: true if so.
 */
bool dafs_locks_recorded(const struct inode *inode)
{
	struct dafs_locks *locks = READ_ONCE(DAFS_I(inode)->locks);

	return locks && dafs_held_is_recorded(locks, 0, OFFSET_MAX);
}

static void dafs_wanted_by(struct dafs_wanted *wanted, loff_t start, loff_t end,
			   unsigned char type)
{
	if (start > wanted->pos) {
		wanted->end = min(wanted->end, start - 1);
	} else if (end >= wanted->pos) {
		wanted->end = min(wanted->end, end);
		wanted->type = max_t(u32, wanted->type,
				     type == F_WRLCK ? DAFS_WRITE_LT : DAFS_READ_LT);
	}
}

/**
 * dafs_locks_wanted() - how have local programs locked a byte?
 * @locks: locks of the file
 * @pos: the byte
 *
 * Context: any but interrupt.
 * Return: the strongest of their locks.
 */
struct dafs_wanted dafs_locks_wanted(const struct dafs_locks *locks, loff_t pos)
{
	const struct dafs_options *opts = &DAFS_SB(locks->inode->i_sb)->opts;
	struct file_lock_context *ctx = locks_inode_context(locks->inode);
	struct dafs_wanted wanted = { .pos = pos, .end = OFFSET_MAX };
	const struct file_lock *fl;

	if (!ctx)
		return wanted;
	spin_lock(&ctx->flc_lock);
	if (!opts->local_posix)
		list_for_each_entry(fl, &ctx->flc_posix, c.flc_list)
			dafs_wanted_by(&wanted, fl->fl_start, fl->fl_end, fl->c.flc_type);
	if (!opts->local_flock)
		list_for_each_entry(fl, &ctx->flc_flock, c.flc_list)
			dafs_wanted_by(&wanted, 0, OFFSET_MAX, fl->c.flc_type);
	spin_unlock(&ctx->flc_lock);
	return wanted;
}

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

/* One request for all of a range, which weakens nothing of it */
static struct dafs_lock_range dafs_locks_raising_all(struct dafs_locks *locks,
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

/*
 * An open by which bytes can be locked; @os is one that the caller has.  Who may only read a file
 * neither repairs it nor has it broken.
 */
static int dafs_locks_open(struct dafs_locks *locks, struct dafs_open_state *os,
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

static void dafs_locks_lower_range(struct dafs_locks *locks, loff_t start, loff_t end, bool keep);

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

/* @err: of a LOCK that would have made a lock weaker, or 0 */
static void dafs_locks_lower_failed(struct dafs_locks *locks, loff_t start, loff_t end, int err)
{
	/* nothing was in the way of the client, so the server has given it up */
	if (err == -EAGAIN || err == -EOWNERDEAD)
		dafs_held_mark(locks, start, end, DAFS_HELD_LOST);
	else if (err && err != -EIO)
		dafs_held_mark(locks, start, end, DAFS_HELD_UNSURE);
}

/* How is the AUTORECOVERY lock of the file, if any, held?  Return: false if there is none */
static bool dafs_held_undoes(struct dafs_locks *locks, struct dafs_held *undoes)
{
	const struct dafs_held *held;
	bool found = false;

	if (!READ_ONCE(locks->recorded))
		return false;
	spin_lock(&locks->lock);
	list_for_each_entry(held, &locks->held, link) {
		if (!(held->options & DAFS_LOCK_AUTORECOVERY))
			continue;
		*undoes = *held;
		found = true;
	}
	spin_unlock(&locks->lock);
	return found;
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

/*
 * When the program that has an AUTORECOVERY lock unlocks any of it, what it has written is to
 * stay, although it has locked other bytes still, or others have the file locked by flock(2).
 * The server does not split such a lock, so it becomes another kind of lock first.
 */
static void dafs_locks_end_undo(struct dafs_locks *locks)
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

/* @keep: what no program has locked stays locked */
static void dafs_locks_lower_range(struct dafs_locks *locks, loff_t start, loff_t end, bool keep)
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

static bool dafs_locks_unsure(struct dafs_locks *locks)
{
	const struct dafs_held *held;
	bool unsure = false;

	spin_lock(&locks->lock);
	list_for_each_entry(held, &locks->held, link)
		unsure |= held->state == DAFS_HELD_UNSURE;
	spin_unlock(&locks->lock);
	return unsure;
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
	if (locks->call || dafs_locks_unsure(locks))
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
		err = dafs_open_state_recover_retry(os, &args->state_id, delay_ms) ?: 1;
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
 * Return: 0; -EINVAL if there is no such lock; -EIO if it is lost; or another negative errno:
 * then it is not known what was undone.
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
	again = dafs_locks_unsure(locks);
	dafs_locks_leave(locks);
	return again;
}

/* A server that cannot be reached on a soft mount may be back later. */
static void dafs_locks_work(struct work_struct *work)
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
