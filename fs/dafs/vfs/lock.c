// SPDX-License-Identifier: GPL-2.0
/*
 * fcntl(2) and flock(2) locks, and what they mean for cached data.
 *
 * The VFS decides about programs of this machine, the server about other clients and its own
 * programs; see state/lock.c.  A program has a lock when both have granted it.  If the file is
 * delegated for writing there are no others, so the VFS alone decides.
 *
 * While a program holds a lock, others do not write what it reads, and they read what it has
 * written once it has unlocked.  So cached data is written and made stable before a file is
 * locked or unlocked, and read again after it was locked.  While bytes of a file are locked,
 * write(2) sends what it was given and no more, see dafs_lock_write_exactly().
 */
#include <linux/filelock.h>
#include <linux/pagemap.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include "../data/data.h"
#include "../state/lock.h"
#include "vfs.h"

/* How long to leave a lock alone for which the server does not wait, in ms */
#define DAFS_LOCK_WAIT_LEAST	5
#define DAFS_LOCK_WAIT_MOST	500

/* How often a lock is repaired that the request has broken itself */
#define DAFS_LOCK_REPAIRS	4

static bool dafs_lock_is_local(const struct inode *inode, const struct file_lock *fl)
{
	const struct dafs_options *opts = &DAFS_SB(inode->i_sb)->opts;

	return fl->c.flc_flags & FL_FLOCK ? opts->local_flock : opts->local_posix;
}

/*
 * What a delegation keeps others from reading is made stable when it ends.  But a PERSIST lock is
 * to tell others whether all was written when this machine was lost, and under an AUTORECOVERY
 * lock all of it is to be written, or none.
 */
static bool dafs_lock_may_delay(const struct inode *inode)
{
	return dafs_inode_delegated_to_write(DAFS_I(inode)) && !dafs_locks_recorded(inode);
}

/*
 * Need what was written not be stable before bytes are unlocked?  If the delegation is lost, it is
 * not written any more: the server may have let others lock them.
 */
static bool dafs_lock_delays(struct inode *inode)
{
	if (!dafs_lock_may_delay(inode))
		return false;
	dafs_debt_delay(inode);
	/* it may have been lost before that was known */
	smp_mb();
	return dafs_lock_may_delay(inode);
}

static int dafs_lock_write_all(struct inode *inode)
{
	if (dafs_file_is_written(inode) && !READ_ONCE(DAFS_I(inode)->unstable_bytes))
		return 0;
	return dafs_file_write_out(inode);
}

/*
 * Make stable what was written until now through the cache.
 *
 * Return: 0, or -ERESTARTSYS if this task cannot wait for that.
 */
static int dafs_lock_settle(struct inode *inode)
{
	int err;

	/* it may also fail because another task was killed; a work item comes again later */
	do {
		err = dafs_lock_write_all(inode);
	} while (err && !(current->flags & (PF_EXITING | PF_KTHREAD)) &&
		 !fatal_signal_pending(current));
	return err;
}

/*
 * Writers in progress may have seen that all of a folio was locked, and not have put into it yet
 * what they write.  Those that come later see that it is being unlocked: dafs_locks_shrink().
 */
static int dafs_lock_await_writers(struct inode *inode)
{
	struct dafs_inode *di = DAFS_I(inode);

	/* pairs with dafs_buffered_write() */
	smp_mb();
	if (!atomic_read(&di->writers))
		return 0;
	if (dafs_task_exits() ? !mutex_trylock(&di->write_lock) :
				mutex_lock_killable(&di->write_lock))
		return -ERESTARTSYS;
	mutex_unlock(&di->write_lock);
	return 0;
}

/*
 * What was written under locks must not follow their release.
 *
 * Return: 0, or -ERESTARTSYS if this task cannot wait for all of it; a work item can.
 */
static int dafs_lock_write_out(struct inode *inode)
{
	int err = dafs_direct_await(inode);

	if (err || dafs_lock_delays(inode))
		return err;
	return dafs_lock_await_writers(inode) ?: dafs_lock_settle(inode);
}

/* The same for a work item: what others may have had meanwhile is dropped instead. */
static int dafs_lock_write_or_drop(struct inode *inode)
{
	int err = dafs_debt_breached(inode) ? dafs_zap_mapping(inode) : 0;

	return err ?: dafs_lock_write_out(inode);
}

/* Asks the VFS about locks of local programs, and changes nothing. */
static int dafs_lock_ask(struct file *file, struct file_lock *fl)
{
	unsigned int flags = fl->c.flc_flags;
	int err;

	fl->c.flc_flags |= FL_ACCESS;
	err = locks_lock_file_wait(file, fl);
	fl->c.flc_flags = flags;
	return err;
}

static int dafs_lock_apply(struct file *file, struct file_lock *fl, bool asks)
{
	unsigned int flags = fl->c.flc_flags;
	int err;

	fl->c.flc_flags &= ~FL_SLEEP;
	if (asks)
		fl->c.flc_flags |= FL_ACCESS;
	err = locks_lock_file_wait(file, fl);
	fl->c.flc_flags = flags;
	return err;
}

/*
 * @alone: the VFS alone decides, and it is asked once
 *
 * Return: 0; -EAGAIN if the server has denied it; 1 if a local program has come first, so
 * that the VFS has to be asked again; or another negative errno.
 */
static int dafs_lock_both(struct dafs_locks *locks, struct file *file, struct file_lock *fl,
			  const struct dafs_lock_range *range, bool alone, bool *raised)
{
	int err = alone ? 0 : dafs_lock_apply(file, fl, true);

	if (err)
		return err == -EAGAIN ? 1 : err;
	err = dafs_locks_raise(locks, file->private_data, file->f_cred, range, raised);
	if (!err) {
		err = dafs_lock_apply(file, fl, false);
		err = err == -EAGAIN ? 1 : err;
	}
	/* what the VFS has not, or what a lock has become weaker by */
	dafs_locks_lower(locks, range->start, range->end);
	return err;
}

/*
 * Is it enough to ask the VFS for the lock itself?  A lock of flock(2) that cannot be made stronger
 * would be lost by that, which need not be.
 */
static bool dafs_lock_is_alone(const struct inode *inode, const struct file_lock *fl,
			       const struct dafs_lock_range *range)
{
	return !range->options && !(fl->c.flc_flags & FL_FLOCK) && dafs_lock_may_delay(inode);
}

static int dafs_lock_once(struct dafs_locks *locks, struct file *file, struct file_lock *fl,
			  const struct dafs_lock_range *range)
{
	struct inode *inode = file_inode(file);
	bool alone = dafs_lock_is_alone(inode, fl, range), raised = false;
	int err;

	/* may wait for local programs, so not while others must be able to unlock */
	err = alone ? 0 : dafs_lock_ask(file, fl);
	if (err)
		return err;
	/* what a program was killed at is not kept by a delegation either */
	err = dafs_direct_await(inode);
	if (err)
		return err;
	/* what was written before is not undone, so a delegation does not keep it here */
	if ((range->options & DAFS_LOCK_AUTORECOVERY) || !dafs_lock_delays(inode))
		err = dafs_lock_settle(inode);
	/* before others have to wait for this task */
	err = err ?: dafs_locks_await_reclaim(inode, false);
	err = err ?: dafs_locks_enter_to_raise(locks, range);
	if (err)
		return err;
	dafs_locks_shrink(locks);
	err = dafs_lock_both(locks, file, fl, range, alone, &raised);
	/* of what was denied nothing is relied on */
	if (raised && err != -EAGAIN && err != -EINPROGRESS)
		dafs_cache_doubt(DAFS_I(inode));
	dafs_locks_shrunk(locks);
	dafs_locks_leave(locks);
	/* reading and writing notice for themselves, but not a mapping */
	if (!err && (raised || !dafs_mapping_zapped(DAFS_I(inode))) &&
	    mapping_mapped(inode->i_mapping))
		dafs_revalidate_mapping(inode, file->f_cred);
	/* a local program has it, and is waited for now, if at all */
	if (err > 0 && alone)
		err = dafs_lock_ask(file, fl) ?: err;
	return err;
}

/*
 * Where the server wants time, other tasks change the locks of the file meanwhile: it may wait for
 * a delegation to be returned, and that has to tell it of locks first.
 */
static int dafs_lock_patiently(struct dafs_locks *locks, struct file *file, struct file_lock *fl,
			       const struct dafs_lock_range *range)
{
	unsigned int delay_ms = 0;
	int err;

	do {
		err = dafs_lock_once(locks, file, fl, range);
		if (err != -EINPROGRESS)
			return err;
		err = dafs_op_sleep(&delay_ms);
	} while (!err);
	return err;
}

/**
 * struct dafs_lock_patience - how a lock has been waited for
 * @ms: how long the server was left alone the last time
 * @freed: it has said that the lock is free
 */
struct dafs_lock_patience {
	unsigned int ms;
	bool freed;
};

/* Return: 0 to ask the server again, or -ERESTARTSYS. */
static int dafs_lock_pause(struct dafs_lock_patience *patience)
{
	patience->ms = clamp(2 * patience->ms, DAFS_LOCK_WAIT_LEAST, DAFS_LOCK_WAIT_MOST);
	schedule_timeout_interruptible(msecs_to_jiffies(patience->ms));
	return signal_pending(current) ? -ERESTARTSYS : 0;
}

/* The server has denied a lock.  Return: 0 to ask it again, or a negative errno. */
static int dafs_lock_wait(struct dafs_locks *locks, struct file *file,
			  const struct dafs_lock_range *range,
			  struct dafs_lock_patience *patience)
{
	unsigned long since = jiffies;
	int err;

	err = dafs_locks_await(locks, file->private_data, file->f_cred, range);
	/* others may have come first once, but not each time */
	if (!err && !patience->freed) {
		patience->freed = true;
		return 0;
	}
	if (err && err != -EAGAIN && err != -EINPROGRESS)
		return err;
	/* a server that has waited before it said so need not be left alone */
	if (time_before(jiffies, since + msecs_to_jiffies(DAFS_LOCK_WAIT_MOST)))
		return dafs_lock_pause(patience);
	patience->ms = 0;
	return signal_pending(current) ? -ERESTARTSYS : 0;
}

static void dafs_lock_range_init(const struct file_lock *fl, struct dafs_lock_range *range)
{
	bool whole = fl->c.flc_flags & FL_FLOCK;

	*range = (struct dafs_lock_range) {
		.start = whole ? 0 : fl->fl_start,
		.end = whole ? OFFSET_MAX : fl->fl_end,
		.type = fl->c.flc_type == F_WRLCK ? DAFS_WRITE_LT : DAFS_READ_LT,
	};
}

/* Must not wait for the server: others would wait for this task, or it could not be killed. */
static bool dafs_lock_in_background(const struct inode *inode)
{
	return (current->flags & PF_WQ_WORKER) || dafs_exits_while_down(dafs_inode_clnt(inode));
}

/*
 * A lock with a record is not unlocked before it is known whether the server still has it.  Others
 * change the locks of the file while that is asked.
 *
 * Return: 0, also if the server is away on a soft mount; or -ERESTARTSYS if the task is killed.
 */
static int dafs_lock_await_open(struct inode *inode)
{
	struct dafs_conn *conn;
	int err;

	if (!dafs_locks_recorded(inode))
		return 0;
	conn = dafs_conn_get(dafs_inode_clnt(inode));
	err = PTR_ERR_OR_ZERO(conn);
	if (!err) {
		dafs_conn_put(conn);
		err = dafs_locks_await_reclaim(inode, false);
	}
	return err == -ERESTARTSYS ? err : 0;
}

/*
 * @tell: return -EIO if the lock had been lost, or if it is not known whether the server has
 * ended one with a record; it is unlocked all the same
 */
static int dafs_lock_clear(struct file *file, struct file_lock *fl, bool tell)
{
	struct inode *inode = file_inode(file);
	struct dafs_locks *locks = READ_ONCE(DAFS_I(inode)->locks);
	struct dafs_lock_range range;
	bool later, lost;
	int err;

	if (!dafs_locks_any(inode)) {
		err = locks_lock_file_wait(file, fl);
		/* another task may have locked what was just unlocked */
		if (dafs_locks_any(inode))
			dafs_locks_lower_later(DAFS_I(inode)->locks);
		return err;
	}
	dafs_locks_shrink(locks);
	/* if it is not to wait here, or cannot, the work item does, and then unlocks */
	later = dafs_lock_in_background(inode) || dafs_lock_write_out(inode) ||
		dafs_lock_await_open(inode) || dafs_locks_enter(locks);
	err = locks_lock_file_wait(file, fl);
	if (later) {
		dafs_locks_shrunk(locks);
		dafs_locks_lower_later(locks);
		return err;
	}
	dafs_lock_range_init(fl, &range);
	lost = dafs_locks_lost(inode);
	locks->lost_late = false;
	dafs_locks_lower(locks, range.start, range.end);
	lost |= locks->lost_late;
	dafs_locks_shrunk(locks);
	if (tell && !err && (lost || dafs_locks_in_doubt(locks, range.start, range.end)))
		err = -EIO;
	/* what is cached may have been undone, or changed by others */
	if (lost)
		dafs_cache_doubt(DAFS_I(inode));
	dafs_locks_leave(locks);
	if (lost && mapping_mapped(inode->i_mapping))
		dafs_revalidate_mapping(inode, file->f_cred);
	return err;
}

/*
 * flock(2) gives up the lock that it is to change if it has to wait, as for local file
 * systems: two programs with LOCK_SH that both ask for LOCK_EX would wait for ever.
 */
static void dafs_flock_give_up(struct file *file, const struct file_lock *fl)
{
	struct file_lock old;

	if (!(fl->c.flc_flags & FL_FLOCK))
		return;
	locks_init_lock(&old);
	locks_copy_lock(&old, (struct file_lock *)fl);
	old.c.flc_type = F_UNLCK;
	old.c.flc_flags &= ~FL_SLEEP;
	dafs_lock_clear(file, &old, false);
	locks_release_private(&old);
}

/* @options: as in struct dafs_lock_range */
static int dafs_lock_set(struct file *file, struct file_lock *fl, u32 options)
{
	struct dafs_locks *locks = dafs_locks_get(file_inode(file), dafs_lock_write_or_drop);
	bool waits = fl->c.flc_flags & FL_SLEEP;
	struct dafs_lock_patience patience = {};
	unsigned int repairs = 0;
	struct dafs_lock_range range;
	int err;

	if (!locks)
		return -ENOLCK;
	dafs_lock_range_init(fl, &range);
	range.options = options;
	if (waits && (fl->c.flc_flags & FL_FLOCK)) {
		fl->c.flc_flags &= ~FL_SLEEP;
		err = dafs_lock_patiently(locks, file, fl, &range);
		fl->c.flc_flags |= FL_SLEEP;
		if (err != -EAGAIN && err <= 0)
			return err == -EACCES ? -EBADF : err;
		dafs_flock_give_up(file, fl);
	}
	do {
		err = dafs_lock_patiently(locks, file, fl, &range);
		if (err == -EAGAIN && waits)
			err = dafs_lock_wait(locks, file, &range, &patience) ?: 1;
		/* it was broken by this request only: now it can be repaired */
		if (err == -EOWNERDEAD && (options & DAFS_LOCK_REPAIR) &&
		    ++repairs < DAFS_LOCK_REPAIRS)
			err = 1;
	} while (err > 0);
	/* the server may have granted it while this task was told to give up */
	if (err && waits && dafs_locks_any(file_inode(file)))
		dafs_locks_lower_later(locks);
	/* as nfs(5): a lock for writing needs a file that may be written */
	return err == -EACCES ? -EBADF : err;
}

/* The server may know of the lock, and not tell of it. */
static void dafs_lock_found(struct file_lock *fl, const struct dafs_lock_res *res)
{
	/* a process of another machine has no number here */
	fl->c.flc_pid = 0;
	fl->c.flc_type = res->lock_type == DAFS_READ_LT ? F_RDLCK : F_WRLCK;
	if (!res->length || res->offset > OFFSET_MAX)
		return;
	fl->fl_start = res->offset;
	fl->fl_end = OFFSET_MAX;
	if (res->length <= OFFSET_MAX - res->offset)
		fl->fl_end = res->offset + res->length - 1;
}

static int dafs_lock_get_remote(struct file *file, struct file_lock *fl)
{
	const struct dafs_open_state *os = file->private_data;
	struct inode *inode = file_inode(file);
	struct dafs_lock_range range;
	struct dafs_lockt_args args;
	struct dafs_lock_res res;
	char owner[DAFS_OPEN_OWNER];
	int err;

	dafs_lock_range_init(fl, &range);
	err = dafs_locks_owner(inode, os, owner);
	if (err)
		return err;
	args = (struct dafs_lockt_args) {
		.filehandle = DAFS_I(inode)->fh,
		.lock_type = range.type,
		.owner = { .len = strlen(owner), .data = (const u8 *)owner },
		.offset = range.start,
		.length = range.end == OFFSET_MAX ? DAFS_LOCK_TO_EOF : range.end - range.start + 1,
	};
	err = dafs_lock_test(dafs_inode_clnt(inode), file->f_cred, &args, &res);
	/* what is broken is in the way, too */
	if (err == -EAGAIN || err == -EOWNERDEAD) {
		dafs_lock_found(fl, &res);
		return 0;
	}
	if (!err)
		fl->c.flc_type = F_UNLCK;
	return err;
}

/* F_GETLK: a local program's lock is told first; with a delegation there are no others. */
static int dafs_lock_get(struct file *file, struct file_lock *fl)
{
	unsigned char type = fl->c.flc_type;

	/* F_OFD_GETLK may ask for the locks of this description */
	if (type == F_UNLCK) {
		posix_test_lock(file, fl);
		return 0;
	}
	posix_test_lock(file, fl);
	if (!lock_is_unlock(fl) || dafs_lock_is_local(file_inode(file), fl) ||
	    dafs_inode_delegated_to_write(DAFS_I(file_inode(file))))
		return 0;
	fl->c.flc_type = type;
	return dafs_lock_get_remote(file, fl);
}

/**
 * dafs_file_lock() - fcntl(2): a lock of a process, or of an open file description
 * @file: the file
 * @cmd: what to do
 * @fl: the lock
 *
 * Context: may sleep; a signal ends it while it waits for a lock, a fatal signal always.
 * Return: 0; -EAGAIN; -EDEADLK; -ENOLCK; -EOWNERDEAD if a PERSIST lock in the way is broken; or
 * another negative errno.
 */
int dafs_file_lock(struct file *file, int cmd, struct file_lock *fl)
{
	if (IS_GETLK(cmd))
		return dafs_lock_get(file, fl);
	if (dafs_lock_is_local(file_inode(file), fl))
		return locks_lock_file_wait(file, fl);
	return lock_is_unlock(fl) ? dafs_lock_clear(file, fl, false) : dafs_lock_set(file, fl, 0);
}

/**
 * dafs_file_lock_with() - a lock of an open file description, with options of DAFS
 * @file: the file
 * @fl: the lock
 * @options: DAFS_LOCK_PERSIST, DAFS_LOCK_AUTORECOVERY, DAFS_LOCK_REPAIR
 *
 * Context: as dafs_file_lock().
 * Return: as dafs_file_lock(); -EOWNERDEAD if a lock in the way is broken; -EINVAL if REPAIR
 * does not cover it; -EOPNOTSUPP; -EIO if the lock that was unlocked had been lost.
 */
int dafs_file_lock_with(struct file *file, struct file_lock *fl, u32 options)
{
	/* programs of this machine alone could not repair anything */
	if (dafs_lock_is_local(file_inode(file), fl))
		return -EOPNOTSUPP;
	return lock_is_unlock(fl) ? dafs_lock_clear(file, fl, true) :
				    dafs_lock_set(file, fl, options);
}

/* Has the open file description locked all bytes for writing? */
static bool dafs_file_has_all(struct file *file)
{
	struct file_lock_context *ctx = locks_inode_context(file_inode(file));
	const struct file_lock *fl;
	bool has = false;

	if (!ctx)
		return false;
	spin_lock(&ctx->flc_lock);
	list_for_each_entry(fl, &ctx->flc_posix, c.flc_list)
		has |= fl->c.flc_owner == file && fl->c.flc_type == F_WRLCK && !fl->fl_start &&
		       fl->fl_end == OFFSET_MAX;
	spin_unlock(&ctx->flc_lock);
	return has;
}

/* Another thread may have unlocked it meanwhile. */
static int dafs_file_abort_send(struct file *file, struct dafs_locks *locks)
{
	int err = dafs_locks_enter(locks);

	if (err)
		return err;
	err = dafs_file_has_all(file) ? dafs_locks_abort(locks) : -EINVAL;
	dafs_locks_leave(locks);
	return err;
}

/*
 * What was written is stable before, so that nothing of it is sent later; and what is stored
 * meanwhile, through mappings, is dropped with what is undone.
 */
static int dafs_file_abort_locked(struct file *file, struct dafs_locks *locks)
{
	struct inode *inode = file_inode(file);
	unsigned int flags;
	int err;

	inode_dio_wait(inode);
	dafs_file_settle(inode);
	err = dafs_size_lock(inode);
	if (err)
		return err;
	flags = memalloc_nofs_save();
	err = dafs_file_abort_send(file, locks);
	memalloc_nofs_restore(flags);
	if (!err) {
		unmap_mapping_range(inode->i_mapping, 0, 0, true);
		truncate_inode_pages(inode->i_mapping, 0);
	}
	if (err != -EINPROGRESS)
		dafs_cache_doubt(DAFS_I(inode));
	mutex_unlock(&DAFS_I(inode)->netfs.wb_lock);
	if (err == -EINPROGRESS)
		return err;
	return dafs_revalidate_mapping(inode, file->f_cred) ?: err;
}

/**
 * dafs_file_abort() - undo what was written under an AUTORECOVERY lock of an open file description
 * @file: the file
 *
 * Context: may sleep; a fatal signal ends it.
 * Return: 0; -EINVAL if it has none; -EIO if that is lost; or another negative errno: then it is
 * not known what was undone.
 */
int dafs_file_abort(struct file *file)
{
	struct inode *inode = file_inode(file);
	struct dafs_locks *locks = READ_ONCE(DAFS_I(inode)->locks);
	struct dafs_inode *di = DAFS_I(inode);
	unsigned int delay_ms = 0;
	int err;

	if (!locks || !dafs_file_has_all(file))
		return -EINVAL;
	do {
		/* what is written back waits for that, too, with all these locks */
		err = dafs_lock_await_open(inode);
		if (err)
			return err;
		/* no task writes meanwhile */
		if (mutex_lock_killable(&di->write_lock))
			return -ERESTARTSYS;
		inode_lock(inode);
		err = dafs_file_abort_locked(file, locks);
		inode_unlock(inode);
		mutex_unlock(&di->write_lock);
		/* others may have to write back what is delegated, before the server goes on */
		if (err == -EINPROGRESS)
			err = dafs_op_sleep(&delay_ms) ?: 1;
	} while (err > 0);
	return err;
}

/**
 * dafs_file_flock() - flock(2): for other clients, a lock of all bytes
 * @file: the file
 * @cmd: what to do
 * @fl: the lock
 *
 * Context: as dafs_file_lock().
 * Return: as dafs_file_lock().
 */
int dafs_file_flock(struct file *file, int cmd, struct file_lock *fl)
{
	if (!(fl->c.flc_flags & FL_FLOCK))
		return -ENOLCK;
	return dafs_file_lock(file, F_SETLK, fl);
}

/**
 * dafs_lock_write_exactly() - must exactly these bytes be sent, and now?
 * @inode: a regular file
 * @pos: offset of the first
 * @len: how many
 *
 * Write-back sends whole folios.  While bytes of a file are locked, what the program has not
 * written of a folio may be another client's, whose changes are not in the cache; unless this
 * client has locked all of the folio, or the file is delegated to it for writing.
 *
 * Context: any but interrupt.
 * Return: true if so.
 */
bool dafs_lock_write_exactly(const struct inode *inode, loff_t pos, size_t len)
{
	size_t folio = mapping_max_folio_size(inode->i_mapping);
	loff_t start = round_down(pos, folio), end = round_up(pos + len, folio);

	return dafs_locks_any(inode) && !dafs_locks_cover(inode, start, end - 1) &&
	       !dafs_inode_delegated_to_write(DAFS_I(inode));
}
