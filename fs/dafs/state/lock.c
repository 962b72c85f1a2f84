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
 *
 * The list is in held.c; here is what all changes of it need, and the LOCK that is sent.  They are
 * raised in raise.c, waited for in lock_wait.c and lowered in unlock.c.
 */
#include <linux/filelock.h>
#include <linux/slab.h>
#include "state.h"
#include "lock.h"
#include "lock_impl.h"
#include "open_impl.h"

static struct dafs_locks *dafs_locks_alloc(struct inode *inode, int (*settle)(struct inode *))
{
	struct dafs_locks *locks = kzalloc(sizeof(*locks), GFP_KERNEL);

	if (!locks)
		return NULL;
	locks->inode = inode;
	locks->settle = settle;
	locks->unlock_end = -1;
	mutex_init(&locks->mutex);
	dafs_held_init(locks);
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
	dafs_held_exit(locks);
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

/**
 * dafs_locks_take_open() - bytes are locked by an open from now on
 * @locks: locks of the file, entered by dafs_locks_enter(), without an open
 * @os: the open; its reference is passed
 *
 * Context: any but interrupt.
 */
void dafs_locks_take_open(struct dafs_locks *locks, struct dafs_open_state *os)
{
	spin_lock(&locks->lock);
	WRITE_ONCE(locks->os, os);
	spin_unlock(&locks->lock);
	spin_lock(&os->lock);
	os->locks = locks;
	spin_unlock(&os->lock);
}

/**
 * dafs_locks_drop_open() - nothing is locked by an open any more
 * @locks: locks of the file, entered by dafs_locks_enter(), with an open
 *
 * The file that was locked is open by it, as a rule, so the CLOSE is not waited for.
 *
 * Context: any but interrupt.
 */
void dafs_locks_drop_open(struct dafs_locks *locks)
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
 * dafs_locks_keep_call() - the request of a killed task may be executed later; see invariant 3
 * @locks: locks of the file, entered by dafs_locks_enter()
 * @op: the request, which has ended; its call may be kept
 * @err: with what it has ended
 *
 * Context: any.
 */
void dafs_locks_keep_call(struct dafs_locks *locks, struct dafs_op *op, int err)
{
	if (err != -ERESTARTSYS || !op->lost || !op->call)
		return;
	locks->call = op->call;
	locks->conn = op->conn;
	op->call = NULL;
	op->conn = NULL;
}

/**
 * dafs_locks_op() - an operation on what an open has locked
 * @os: the open
 *
 * Context: any.
 * Return: the operation, for the credential of the open, and until the mount ends.
 */
struct dafs_op dafs_locks_op(const struct dafs_open_state *os)
{
	return (struct dafs_op) {
		.cred = os->cred,
		.leave = &os->sbi->leaving,
	};
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
