// SPDX-License-Identifier: GPL-2.0
/*
 * Byte-range locks that the server may not have any more; see lock.c.
 *
 * All locks of a file are set by one open.  When it is reclaimed, so are they, before other tasks
 * learn its new state-id (4.4.1.6).  Bytes that the server does not give back are LOST: until they
 * are unlocked here, I/O on the file fails, because the program relies on a lock that another
 * client may have had meanwhile.
 *
 * I/O on the file waits until that is done, whichever open it is sent by: a program that relies on
 * a lock may use another open of the file, or none.
 */
#include <linux/filelock.h>
#include <linux/sched/mm.h>
#include "state.h"
#include "lock.h"
#include "lock_impl.h"
#include "open_impl.h"

/* The open by which bytes are locked, with a reference, if there are any; or NULL */
static struct dafs_open_state *dafs_locks_open_held(struct dafs_locks *locks)
{
	struct dafs_open_state *os = NULL;

	spin_lock(&locks->lock);
	if (locks->os && !list_empty(&locks->held)) {
		os = locks->os;
		dafs_open_state_hold(os);
	}
	spin_unlock(&locks->lock);
	return os;
}

/**
 * dafs_locks_behind() - has a server forgotten the locks of a file, which are not reclaimed yet?
 * @inode: the file
 * @conn: a connection to the server
 * @state_id: filled with what the open by which they are set had, for
 *	dafs_open_state_recover()
 *
 * The program that relies on a lock may use another open, which the server knows again, or none.
 * Locks by a delegation that the server may have revoked are lost from now on.
 *
 * Context: any but interrupt.
 * Return: that open, with a reference; or NULL if nothing is locked, all locks are reclaimed or
 * lost, or @conn has ended.
 */
struct dafs_open_state *dafs_locks_behind(const struct inode *inode, const struct dafs_conn *conn,
					  struct dafs_state_id *state_id)
{
	struct dafs_locks *locks = READ_ONCE(DAFS_I(inode)->locks);
	struct dafs_open_state *os = locks ? dafs_locks_open_held(locks) : NULL;

	if (os)
		dafs_debt_expire(locks, conn);
	if (!os || dafs_open_state_is_behind(os, conn, state_id))
		return os;
	dafs_open_state_put(os, false);
	return NULL;
}

/**
 * dafs_locks_await_reclaim() - wait until the locks of a file are reclaimed, or lost
 * @inode: the file
 * @nowait: do not wait
 *
 * Context: may sleep unless @nowait; a fatal signal ends it.
 * Return: 0, also if there is no connection: what is sent next waits for one; -EAGAIN if it would
 * have to wait; -ERESTARTSYS; or what a soft mount gives up with.
 */
int dafs_locks_await_reclaim(struct inode *inode, bool nowait)
{
	struct dafs_state_id state_id;
	struct dafs_open_state *os;
	unsigned int delay_ms = 0;
	struct dafs_conn *conn;
	int err = 0;

	while (!err && dafs_locks_any(inode)) {
		conn = dafs_conn_present(dafs_inode_clnt(inode));
		if (!conn)
			break;
		os = dafs_locks_behind(inode, conn, &state_id);
		dafs_conn_put(conn);
		if (!os)
			break;
		err = nowait ? -EAGAIN : dafs_open_state_recover_retry(os, &state_id, &delay_ms);
		/* that is told by dafs_locks_lost() */
		if (READ_ONCE(os->lost))
			err = 0;
		dafs_open_state_put(os, false);
	}
	return err;
}

/**
 * dafs_locks_suspected() - is the server being asked whether it still has the locks of a file?
 * @inode: the file
 *
 * Context: any.
 * Return: true if so: I/O that may rely on them waits for its answer.
 */
bool dafs_locks_suspected(const struct inode *inode)
{
	struct dafs_locks *locks = READ_ONCE(DAFS_I(inode)->locks);

	return locks && atomic_read(&locks->suspects);
}

/**
 * dafs_locks_look() - may what relies on locks of a file be sent now?
 * @inode: the file
 * @conn: the connection to send it on
 *
 * By another open than that of the locks, or none, it would get to the server before they are
 * reclaimed.
 *
 * Context: any but interrupt.
 * Return: 0; -EINPROGRESS, and dafs_locks_await_answer() waits for what is to be known before; or
 * -EIO if any are lost.
 */
int dafs_locks_look(const struct inode *inode, const struct dafs_conn *conn)
{
	struct dafs_state_id state_id;
	struct dafs_open_state *os;

	if (dafs_locks_suspected(inode))
		return -EINPROGRESS;
	os = dafs_locks_behind(inode, conn, &state_id);
	if (!os)
		return dafs_locks_lost(inode) ? -EIO : 0;
	dafs_open_state_put(os, false);
	return -EINPROGRESS;
}

/**
 * dafs_locks_await_answer() - wait until it is known whether the server has the locks of a file
 * @inode: the file
 * @delay_ms: 0 at first; for the next time
 *
 * Context: sleeps; a fatal signal ends it.
 * Return: 0 to look again; or a negative errno as that of dafs_locks_await_reclaim().
 */
int dafs_locks_await_answer(struct inode *inode, unsigned int *delay_ms)
{
	if (dafs_locks_suspected(inode))
		return dafs_op_sleep(delay_ms);
	return dafs_locks_await_reclaim(inode, false);
}

/*
 * The next bytes, at or behind @pos, that are locked; @tell: the server is told of them now, so a
 * task that unlocks them from now on must tell it, too.
 */
static bool dafs_locks_next(struct dafs_locks *locks, loff_t pos, bool tell,
			    struct dafs_held *next)
{
	struct dafs_held *held;
	bool found = false;

	spin_lock(&locks->lock);
	list_for_each_entry(held, &locks->held, link) {
		found = held->start >= pos && held->state == DAFS_HELD_SURE;
		if (!found)
			continue;
		held->local &= !tell;
		*next = *held;
		break;
	}
	spin_unlock(&locks->lock);
	return found;
}

/* What a delegation kept while the lease had run out is lost, and is not locked anew. */
static void dafs_locks_expire(struct dafs_locks *locks)
{
	struct dafs_conn *conn = dafs_conn_present(dafs_inode_clnt(locks->inode));

	if (!conn)
		return;
	dafs_debt_expire(locks, conn);
	dafs_conn_put(conn);
}

/* Asks for something that the server has locked: it says so if it does not know the open. */
static int dafs_locks_probe(struct dafs_locks *locks)
{
	struct dafs_lock_range range;
	struct dafs_held held;
	int err;

	dafs_locks_expire(locks);
	if (!dafs_locks_next(locks, 0, false, &held))
		return 0;
	range = dafs_held_range(&held);
	err = dafs_lock_bytes(locks, &range);
	if (err == -EAGAIN || err == -EOWNERDEAD)
		dafs_held_mark(locks, held.start, held.end, DAFS_HELD_LOST);
	return err;
}

/* Return: true to do it again, because the server wants time. */
static bool dafs_locks_probe_once(struct dafs_locks *locks)
{
	int err = 0;

	/* a worker is not killed */
	if (!dafs_locks_enter(locks)) {
		err = dafs_locks_probe(locks);
		dafs_locks_leave(locks);
	}
	return err == -EINPROGRESS;
}

/**
 * dafs_locks_probe_work() - ask the server whether it still has the locks of a file
 * @work: dafs_locks.probe
 *
 * It is another item than dafs_locks.work, which may wait for I/O that waits for this one; and in
 * another queue, which as many of those, and returns of delegations, might fill.
 *
 * Context: may sleep; dafs_probe_wq.
 */
void dafs_locks_probe_work(struct work_struct *work)
{
	struct dafs_locks *locks = container_of(work, struct dafs_locks, probe);
	struct inode *inode = locks->inode;
	int suspects = atomic_read(&locks->suspects);
	/* write-back may wait for it */
	unsigned int flags = memalloc_nofs_save();
	unsigned int delay_ms = 0;

	while (dafs_locks_probe_once(locks) && !dafs_op_sleep(&delay_ms))
		;
	memalloc_nofs_restore(flags);
	atomic_sub(suspects, &locks->suspects);
	dafs_inode_put_later(inode);
}

static void dafs_locks_told_lost(const struct dafs_locks *locks, const char *why)
{
	const struct dafs_sb_info *sbi = DAFS_SB(locks->inode->i_sb);

	pr_warn_ratelimited("dafs: server %pISpc does not give locks back: inode %lu, %s\n",
			    &sbi->params.dst, locks->inode->i_ino, why);
}

static bool dafs_locks_is_unlocking(const struct dafs_locks *locks,
				    const struct dafs_lock_range *range)
{
	return range->start >= READ_ONCE(locks->unlock_start) &&
	       range->end <= READ_ONCE(locks->unlock_end);
}

/*
 * The next bytes, at or behind @pos, of which it is not known how they are locked, and as what
 * they are to be reclaimed; @range->type is 0 if they are not to be.  Return: false if there are
 * none.  What is just being unlocked, and has a record, is reclaimed, so that it is known whether
 * it was lost before; and the server does not split an AUTORECOVERY lock.
 */
static bool dafs_locks_unsure_part(struct dafs_locks *locks, loff_t pos,
				   struct dafs_lock_range *range)
{
	const struct dafs_held *held;
	struct dafs_wanted wanted;
	bool found = false;

	spin_lock(&locks->lock);
	list_for_each_entry(held, &locks->held, link) {
		found = held->end >= pos && held->state == DAFS_HELD_UNSURE;
		if (!found)
			continue;
		*range = dafs_held_range(held);
		break;
	}
	spin_unlock(&locks->lock);
	if (!found)
		return false;
	range->start = max(range->start, pos);
	wanted = dafs_locks_wanted(locks, range->start);
	if (range->options && (wanted.type || dafs_locks_is_unlocking(locks, range))) {
		if (range->options & DAFS_LOCK_AUTORECOVERY || !wanted.type)
			return true;
	}
	range->type = wanted.type;
	range->end = min(range->end, wanted.end);
	return true;
}

/*
 * Bytes of which it is not known how they were locked, because a response was lost or another
 * program has asked for them, are reclaimed as programs have locked them: they were locked so,
 * before a program was told that it has the lock, and nothing weakens what is in use.
 */
static void dafs_locks_trust_used(struct dafs_locks *locks)
{
	struct dafs_lock_range range;
	loff_t pos = 0;

	while (dafs_locks_unsure_part(locks, pos, &range)) {
		if (range.type)
			dafs_held_set(locks, &range, DAFS_HELD_SURE);
		if (range.end == OFFSET_MAX)
			return;
		pos = range.end + 1;
	}
}

static int dafs_locks_reclaim_one(struct dafs_locks *locks, struct dafs_conn *conn,
				  struct dafs_open_state *os, const struct dafs_held *held,
				  const struct dafs_state_id *state_id, dafs_status_t *status)
{
	const struct dafs_lock_range range = dafs_held_range(held);
	ktime_t since = ktime_get_coarse_boottime();
	struct dafs_op op = { .cred = os->cred };
	struct dafs_lock_args args;
	int err;

	dafs_lock_args_init(&args, os, &range);
	args.options |= DAFS_LOCK_RECLAIM;
	args.state_id = *state_id;
	err = dafs_lock(os->sbi->clnt, conn, &op, &args);
	dafs_op_end(&op);
	*status = op.status;
	if (!err)
		dafs_client_renewed(os->sbi->clnt, since);
	if (!err || !dafs_status_refuses(op.status))
		return err;
	if (!READ_ONCE(locks->lost))
		dafs_locks_told_lost(locks, dafs_status_name(op.status));
	dafs_held_mark(locks, held->start, held->end, DAFS_HELD_LOST);
	return 0;
}

/* The locks of an open, with a reference to the inode; or NULL if there are none. */
static struct dafs_locks *dafs_locks_of_open(struct dafs_open_state *os)
{
	struct dafs_locks *locks;

	spin_lock(&os->lock);
	locks = os->locks;
	/* as long as it is there, the inode is */
	if (locks && !dafs_inode_hold(locks->inode))
		locks = NULL;
	spin_unlock(&os->lock);
	return locks;
}

/**
 * dafs_locks_reclaim() - get back the locks of an open that was reclaimed (4.4.1.6)
 * @os: the open
 * @conn: the connection that it was reclaimed on
 * @state_id: its new state-id, which no other task knows
 * @status: the status of the last response
 *
 * What the server refuses is lost, and I/O on the file fails.
 *
 * Context: may sleep.
 * Return: 0; or a negative errno: the open must be reclaimed again.
 */
int dafs_locks_reclaim(struct dafs_open_state *os, struct dafs_conn *conn,
		       const struct dafs_state_id *state_id, dafs_status_t *status)
{
	struct dafs_locks *locks = dafs_locks_of_open(os);
	struct dafs_held held;
	loff_t pos = 0;
	int err = 0;

	if (!locks)
		return 0;
	dafs_locks_trust_used(locks);
	while (!err && dafs_locks_next(locks, pos, true, &held)) {
		err = dafs_locks_reclaim_one(locks, conn, os, &held, state_id, status);
		if (held.end == OFFSET_MAX)
			break;
		pos = held.end + 1;
	}
	dafs_inode_put_later(locks->inode);
	return err;
}

/* The first bytes that are locked by a delegation alone, or perhaps */
static bool dafs_locks_next_local(struct dafs_locks *locks, struct dafs_lock_range *range)
{
	const struct dafs_held *held;
	bool found = false;

	spin_lock(&locks->lock);
	list_for_each_entry(held, &locks->held, link) {
		found = held->local || held->state == DAFS_HELD_UNSURE;
		if (!found)
			continue;
		*range = dafs_held_range(held);
		break;
	}
	spin_unlock(&locks->lock);
	return found;
}

static void dafs_locks_lose_range(struct dafs_locks *locks, const struct dafs_lock_range *range)
{
	if (!READ_ONCE(locks->lost))
		dafs_locks_told_lost(locks, "their delegation has ended");
	dafs_held_mark(locks, range->start, range->end, DAFS_HELD_LOST);
}

/*
 * May the server have given the file to others before it has locked bytes?  Not if it has restarted
 * since: what was locked then has been reclaimed with the open, or is LOST.
 */
static bool dafs_locks_push_is_late(const struct dafs_locks *locks,
				    const struct dafs_client_id *client_id, ktime_t until)
{
	return ktime_after(ktime_get_coarse_boottime(), until) &&
	       dafs_open_state_is_of(locks->os, client_id);
}

/*
 * A program has locked it, so what cannot be locked is told by I/O.
 *
 * Return: 0, or -EAGAIN to try again.
 */
static int dafs_locks_push_range(struct dafs_locks *locks, const struct dafs_lock_range *range,
				 const struct dafs_client_id *client_id, ktime_t until)
{
	bool late;
	int err;

	/* the server may have locked it although there was no response */
	err = dafs_lock_bytes(locks, range);
	late = dafs_locks_push_is_late(locks, client_id, until);
	if (!err && !late)
		return 0;
	if (err && err != -EAGAIN && !READ_ONCE(locks->os->lost) && !late)
		return -EAGAIN;
	/* it is others', or may have been before it was locked at the server */
	dafs_locks_lose_range(locks, range);
	return 0;
}

/**
 * dafs_locks_push() - have the server lock what is locked by a delegation alone
 * @inode: the file, whose delegation is not used any more
 * @client_id: what the server had given that under
 * @until: by when the server has not given it to others, in the time of
 *	ktime_get_coarse_boottime(); what cannot be locked by then is lost
 *
 * Context: may sleep; a work queue.
 * Return: 0, or -EAGAIN if that has to be tried again.
 */
int dafs_locks_push(struct inode *inode, const struct dafs_client_id *client_id, ktime_t until)
{
	struct dafs_locks *locks = READ_ONCE(DAFS_I(inode)->locks);
	struct dafs_lock_range range;
	int err = 0;

	/* a worker is not killed */
	if (!locks || dafs_locks_enter(locks))
		return 0;
	while (!err && dafs_locks_next_local(locks, &range))
		err = dafs_locks_push_range(locks, &range, client_id, until);
	dafs_locks_leave(locks);
	return err;
}

/**
 * dafs_locks_lose() - an open is lost, and its locks with it
 * @os: the open
 *
 * Context: may sleep.
 */
void dafs_locks_lose(struct dafs_open_state *os)
{
	struct dafs_locks *locks = dafs_locks_of_open(os);

	if (!locks)
		return;
	dafs_held_mark(locks, 0, OFFSET_MAX, DAFS_HELD_LOST);
	dafs_inode_put_later(locks->inode);
}

/**
 * dafs_locks_lose_local() - a delegation was lost, and what was locked by it alone
 * @locks: locks of the file
 *
 * Context: any but interrupt.
 */
void dafs_locks_lose_local(struct dafs_locks *locks)
{
	bool told = READ_ONCE(locks->lost);

	if (dafs_held_lose_local(locks) && !told)
		dafs_locks_told_lost(locks, "their delegation has ended");
}

/* Has the server asked whether it has the locks, and I/O on the file wait for that. */
static void dafs_locks_ask(struct dafs_locks *locks)
{
	if (!dafs_inode_hold(locks->inode))
		return;
	atomic_inc(&locks->suspects);
	if (!queue_work(dafs_probe_wq, &locks->probe))
		dafs_inode_put_later(locks->inode);
}

/**
 * dafs_locks_suspect() - a server did not know an open of a file
 * @os: the open, which was reclaimed
 *
 * Then it may not know that by which the file is locked either, although no I/O goes by that
 * one, which would tell.
 *
 * Context: any but interrupt.
 */
void dafs_locks_suspect(struct dafs_open_state *os)
{
	struct dafs_locks *locks = NULL;

	spin_lock(&os->lock);
	/* as long as it has users, the inode is there */
	if (!os->closing)
		locks = READ_ONCE(os->di->locks);
	if (locks && READ_ONCE(locks->os) && READ_ONCE(locks->os) != os)
		dafs_locks_ask(locks);
	spin_unlock(&os->lock);
}

/**
 * dafs_locks_doubt() - a server may have ended what was locked by an open, which it may know
 * @os: the open
 *
 * Context: any but interrupt.
 */
void dafs_locks_doubt(struct dafs_open_state *os)
{
	spin_lock(&os->lock);
	/* as long as it is there, the inode is */
	if (os->locks)
		dafs_locks_ask(os->locks);
	spin_unlock(&os->lock);
}
