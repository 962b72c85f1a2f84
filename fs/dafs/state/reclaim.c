// SPDX-License-Identifier: GPL-2.0
/*
 * Reclaim: getting opens back from a server that does not know them any more.
 *
 * A server that has restarted knows none of them.  dafs_opens_recover() gets all
 * back before anything else is sent to it (4.4.1.6); what slips through, as an
 * OPEN whose response came just before, is reclaimed when its first use fails.
 * An open that the server does not give back is lost: its users get an error,
 * and new ones open the file anew.
 *
 * What is found lost when it is used is reclaimed by a work item of the open, one for
 * all who use it.  Tasks wait for its end, and leave if they are killed; I/O goes on
 * when it comes; a last user does not wait for it, but leaves the CLOSE to it.
 */
#include "../rpc/trace.h"
#include "deleg.h"
#include "lock.h"
#include "open_impl.h"
#include "reserve.h"

/* How often it is looked whether all is written that is owed */
#define DAFS_DEBTS_PAUSE	(HZ / 4)

/* How long a soft mount waits for a server that forgets what it gives, in ms. */
#define DAFS_OPEN_SOFT_MS	400

/* Users of the open get os->lost as their error; the log hears of it here. */
static int dafs_open_state_lose(struct dafs_open_state *os, dafs_status_t status, int err)
{
	err = err == -ESTALE || err == -ENOENT ? -ESTALE : -EIO;
	/* first, for those who see that it is lost have no more use for it */
	dafs_locks_lose(os);
	spin_lock(&os->lock);
	WRITE_ONCE(os->breached, dafs_reserves(os, &os->reserved));
	WRITE_ONCE(os->lost, err);
	/*
	 * What it has written may be in the cache only, and others may have written since.  When
	 * the last program has closed it the inode may be freed.
	 */
	if (os->breached && !os->closing)
		set_bit(DAFS_INO_ZAP, &os->di->flags);
	spin_unlock(&os->lock);
	dafs_deleg_not_reclaimed(os);
	/* if it was kept for its delegation alone, no program has lost anything */
	if (!READ_ONCE(os->closing))
		pr_warn_ratelimited("dafs: server %pISpc does not give an open file back: inode %llu, %s\n",
				    &os->sbi->params.dst, os->ino, dafs_status_name(status));
	return err;
}

/* Caller has set os->reclaiming. */
static int dafs_open_state_reclaim(struct dafs_open_state *os, struct dafs_conn *conn,
				   bool nodelay, dafs_status_t *status)
{
	int err = dafs_open_state_reopen(os, conn, nodelay, status);

	if (err && dafs_status_refuses(*status))
		err = dafs_open_state_lose(os, *status, err);
	trace_dafs_reclaim(os->sbi->sb->s_dev, os->ino, err);
	return err;
}

/**
 * dafs_open_state_close_left() - close in the background what a failed reclaim has left
 * @os: the open, with a reference of the caller; @os->reclaiming and @os->left are set
 *
 * Until the server has answered, it is not reclaimed, nor closed itself.
 *
 * Context: any but interrupt.
 */
void dafs_open_state_close_left(struct dafs_open_state *os)
{
	kref_get(&os->kref);
	dafs_async_begin(os->sbi);
	dafs_open_state_start(os);
}

/* Is what the reclaim has left at the server not to be reclaimed once more? */
static bool dafs_open_state_leaves(const struct dafs_open_state *os)
{
	return os->left && (READ_ONCE(os->lost) || READ_ONCE(os->closing));
}

/* Those who wait are told @err; @brief: only those who do not wait for as long as it takes */
static void dafs_open_state_tell(struct dafs_open_state *os, int err, bool brief)
{
	struct dafs_reclaim *reclaim, *next;

	lockdep_assert_held(&os->lock);
	list_for_each_entry_safe(reclaim, next, &os->reclaims, link) {
		if (brief && !reclaim->brief)
			continue;
		list_del_init(&reclaim->link);
		reclaim->err = err;
		reclaim->ended(reclaim);
	}
}

/* All who wait are told @err; and if there are no users any more, it is closed. */
static void dafs_open_state_reclaimed(struct dafs_open_state *os, int err)
{
	bool closing, left;

	/* it is not claimed once more */
	if (!dafs_deleg_former(os))
		dafs_deleg_return_left(os);
	spin_lock(&os->lock);
	left = dafs_open_state_leaves(os);
	os->reclaiming = left;
	closing = os->closing && !left;
	dafs_open_state_tell(os, err, false);
	spin_unlock(&os->lock);
	if (left)
		dafs_open_state_close_left(os);
	if (closing)
		dafs_open_state_start(os);
}

/*
 * As long as the server may have it, others are denied what it reserves: whatever the server says,
 * it is asked again, as if it had asked for patience; unless it has not got the open, or the file.
 */
static int dafs_open_state_left_step(struct dafs_open_state *os, struct dafs_conn *conn,
				     dafs_status_t *status)
{
	int err = dafs_close_on(os->sbi->clnt, conn, os->cred, &os->fh, &os->left_id, status);

	if (err && err != -ENOTCONN && err != -ESTALE &&
	    dafs_status_action(*status) != DAFS_ACT_OPEN)
		*status = DAFSERR_DELAY;
	return err;
}

/* A step of closing what a reclaim has left.  @os may be gone afterwards. */
static void dafs_open_state_left_on(struct dafs_open_state *os)
{
	if (dafs_open_state_step(os, dafs_open_state_left_step) == -EINPROGRESS)
		return;
	os->left = false;
	dafs_open_state_reclaimed(os, os->lost ?: -EIO);
	dafs_open_state_finish(os);
}

static int dafs_open_state_reclaim_step(struct dafs_open_state *os, struct dafs_conn *conn,
					dafs_status_t *status)
{
	int err = dafs_open_state_reclaim(os, conn, true, status);

	os->unanswered = err == -ENOTCONN;
	if (err && dafs_status_action(*status) == DAFS_ACT_LATER) {
		spin_lock(&os->lock);
		dafs_open_state_tell(os, -EINPROGRESS, true);
		spin_unlock(&os->lock);
	}
	return err;
}

/* Without users only to learn the state-id of what the server may have opened. */
static bool dafs_open_state_reclaims(const struct dafs_open_state *os)
{
	return !READ_ONCE(os->closing) ||
	       (os->unanswered && !READ_ONCE(os->sbi->leaving));
}

/**
 * dafs_open_state_reclaim_on() - a step of reclaiming in the background
 * @os: the open; may be gone afterwards
 *
 * Context: may sleep; clnt->retry_wq.
 */
void dafs_open_state_reclaim_on(struct dafs_open_state *os)
{
	int err = -EIO;

	if (dafs_open_state_leaves(os)) {
		dafs_open_state_left_on(os);
		return;
	}
	if (dafs_open_state_reclaims(os))
		err = dafs_open_state_step(os, dafs_open_state_reclaim_step);
	if (err == -EINPROGRESS)
		return;
	if (!err)
		dafs_locks_suspect(os);
	dafs_open_state_reclaimed(os, err);
	dafs_open_state_finish(os);
}

/**
 * dafs_open_state_recover_start() - begin to get back an open that the server does not know
 * @os: the open, with a reference of the caller
 * @lost: the state-id that the server refused
 * @reclaim: ended is set; it is in use until that is called, and so is the reference
 *
 * As dafs_open_state_recover(), without waiting for the end.
 *
 * Context: any but interrupt.
 * Return: -EINPROGRESS if reclaim->ended() is called, or has been; 0 if the open has
 * another state-id already; -ESTALE or -EIO if it is lost.
 */
int dafs_open_state_recover_start(struct dafs_open_state *os, const struct dafs_state_id *lost,
				  struct dafs_reclaim *reclaim)
{
	bool first = false;
	int err;

	spin_lock(&os->lock);
	err = os->lost;
	if (!err && dafs_opaque64_equal(&os->state_id, lost)) {
		err = -EINPROGRESS;
		list_add_tail(&reclaim->link, &os->reclaims);
		first = !os->reclaiming;
		os->reclaiming = true;
	}
	spin_unlock(&os->lock);
	if (first) {
		kref_get(&os->kref);
		dafs_async_begin(os->sbi);
		dafs_open_state_start(os);
	}
	return err;
}

/**
 * struct dafs_reclaim_task - a task that waits for an open to be got back
 * @reclaim: what it waits for
 * @ended: completed at the end of that
 */
struct dafs_reclaim_task {
	struct dafs_reclaim reclaim;
	struct completion ended;
};

static void dafs_reclaim_task_ended(struct dafs_reclaim *reclaim)
{
	complete(&container_of(reclaim, struct dafs_reclaim_task, reclaim)->ended);
}

/* @brief: not for as long as the server may ask for */
static int dafs_open_state_await(struct dafs_open_state *os, const struct dafs_state_id *lost,
				 bool brief)
{
	struct dafs_reclaim_task task = {
		.reclaim.ended = dafs_reclaim_task_ended,
		.reclaim.brief = brief,
	};
	int err;

	init_completion(&task.ended);
	err = dafs_open_state_recover_start(os, lost, &task.reclaim);
	if (err != -EINPROGRESS)
		return err;
	err = wait_for_completion_killable(&task.ended);
	spin_lock(&os->lock);
	list_del_init(&task.reclaim.link);
	spin_unlock(&os->lock);
	return err ?: task.reclaim.err;
}

/**
 * dafs_open_state_recover() - get back an open that the server does not know
 * @os: the open, with a reference of the caller
 * @lost: the state-id that the server refused
 *
 * The server has restarted, or the lease has expired (4.4.1.6).
 *
 * Context: may sleep; a fatal signal ends it.  Not in clnt->retry_wq.
 * Return: 0 if the open has another state-id now, or may have; a negative errno: -ESTALE
 * or -EIO if it is lost; -ERESTARTSYS; or what the OPEN ended with.
 */
int dafs_open_state_recover(struct dafs_open_state *os, const struct dafs_state_id *lost)
{
	return dafs_open_state_await(os, lost, false);
}

static int dafs_open_state_retry(struct dafs_open_state *os, const struct dafs_state_id *lost,
				 unsigned int *delay_ms, bool brief)
{
	bool soft = READ_ONCE(os->sbi->clnt->params.soft);
	int err = 0;

	if (soft && *delay_ms >= DAFS_OPEN_SOFT_MS)
		return -EIO;
	/* at once, but for a server that forgets what it has just given */
	if (*delay_ms)
		err = dafs_op_sleep(delay_ms);
	else
		*delay_ms = 1;
	err = err ?: dafs_open_state_await(os, lost, brief);
	if (err && err != -ERESTARTSYS && err != -EINPROGRESS && !soft && !READ_ONCE(os->lost))
		return 0;
	return err;
}

/**
 * dafs_open_state_recover_retry() - get back an open, to send a request once more
 * @os: the open, with a reference of the caller
 * @lost: the state-id that the server refused
 * @delay_ms: 0 at first; for the next time
 *
 * The server may be gone again when it has just given the open back, so this is done
 * as often as it takes, on a hard mount.
 *
 * Context: may sleep; a fatal signal ends it.
 * Return: 0 to send the request again; -ERESTARTSYS; -ESTALE or -EIO if the open is
 * lost; what a soft mount gives up with.
 */
int dafs_open_state_recover_retry(struct dafs_open_state *os, const struct dafs_state_id *lost,
				  unsigned int *delay_ms)
{
	return dafs_open_state_retry(os, lost, delay_ms, false);
}

/**
 * dafs_open_state_recover_briefly() - the same for a task that has what others need
 * @os: the open, with a reference of the caller
 * @lost: the state-id that the server refused
 * @delay_ms: 0 at first; for the next time
 *
 * The server may ask for patience until this client has returned a delegation.
 *
 * Context: may sleep; a fatal signal ends it.
 * Return: as dafs_open_state_recover_retry(); or -EINPROGRESS if the server has asked for patience:
 * the open is reclaimed in the background.
 */
int dafs_open_state_recover_briefly(struct dafs_open_state *os, const struct dafs_state_id *lost,
				    unsigned int *delay_ms)
{
	return dafs_open_state_retry(os, lost, delay_ms, true);
}

/* Has no program the file open by it, but a delegation keeps it? */
static bool dafs_open_state_is_idle(const struct dafs_open_state *os)
{
	return READ_ONCE(os->deleg) && refcount_read(&os->ref) == 1;
}

/* The next open that the server does not have, with a reference on its memory. */
static struct dafs_open_state *dafs_opens_next(struct dafs_sb_info *sbi,
					       const struct dafs_conn *conn, bool idle)
{
	struct dafs_open_state *os, *found = NULL;

	spin_lock(&sbi->opens_lock);
	while (!found && !list_empty(&sbi->opens)) {
		os = list_first_entry(&sbi->opens, struct dafs_open_state, all_link);
		if (os->recovery == sbi->recovery)
			break;
		os->recovery = sbi->recovery;
		list_move_tail(&os->all_link, &sbi->opens);
		/* not so where the last recovery got before it lost its connection */
		if (!dafs_open_state_is_of(os, &conn->client_id) &&
		    (idle || !dafs_open_state_is_idle(os)))
			found = os;
	}
	if (found)
		kref_get(&found->kref);
	spin_unlock(&sbi->opens_lock);
	return found;
}

static bool dafs_open_state_claim(struct dafs_open_state *os)
{
	bool mine;

	spin_lock(&os->lock);
	mine = !os->reclaiming && !os->closing && !os->lost;
	if (mine)
		os->reclaiming = true;
	spin_unlock(&os->lock);
	return mine;
}

/*
 * One that is being reclaimed already, because its use failed, may wait for the session,
 * so must not be waited for.
 *
 * Return: true if the server asks for patience.
 */
static bool dafs_opens_recover_one(struct dafs_open_state *os, struct dafs_conn *conn)
{
	dafs_status_t status;
	bool later;
	int err;

	if (!dafs_open_state_claim(os))
		return false;
	err = dafs_open_state_reclaim(os, conn, false, &status);
	later = dafs_status_action(status) == DAFS_ACT_LATER;
	/* what is reclaimed when it is used is so without what had been delegated */
	if (err && !later && dafs_chan_is_open(conn->op))
		dafs_deleg_not_reclaimed(os);
	/* I/O that waits is sent again, and reclaims the open if the server refuses it */
	dafs_open_state_reclaimed(os, 0);
	return later;
}

/* Are there opens that the server may yet give back, or files that others must not have yet? */
static bool dafs_opens_left(struct dafs_sb_info *sbi, const struct dafs_conn *conn)
{
	struct dafs_open_state *os;
	bool left = false;

	spin_lock(&sbi->opens_lock);
	list_for_each_entry(os, &sbi->opens, all_link)
		left |= (!READ_ONCE(os->lost) && !READ_ONCE(os->closing) &&
			 !dafs_open_state_is_of(os, &conn->client_id)) ||
			dafs_debt_is_due(os);
	spin_unlock(&sbi->opens_lock);
	return left;
}

/* Are there files that others must not have before data is written? */
static bool dafs_opens_owe(struct dafs_sb_info *sbi)
{
	struct dafs_open_state *os;
	bool owe = false;

	spin_lock(&sbi->opens_lock);
	list_for_each_entry(os, &sbi->opens, all_link)
		owe |= dafs_debt_is_due(os);
	spin_unlock(&sbi->opens_lock);
	return owe;
}

/*
 * What is owed is written as soon as the session is there, which is not waited with; but DELEGPURGE
 * is, and it is of no use any more when the grace period of the server has reached its end.
 */
static void dafs_opens_await_debts(struct dafs_sb_info *sbi, const struct dafs_conn *conn)
{
	unsigned long end = jiffies + 2UL * HZ * READ_ONCE(sbi->clnt->lease);

	while (dafs_opens_owe(sbi) && dafs_chan_is_open(conn->op) && !READ_ONCE(sbi->leaving) &&
	       time_before(jiffies, end)) {
		dafs_recover_slowly(&sbi->recoverer);
		schedule_timeout_uninterruptible(DAFS_DEBTS_PAUSE);
	}
}

/* @idle: those too that no program uses */
static int dafs_opens_recover_all(struct dafs_sb_info *sbi, struct dafs_conn *conn, bool idle)
{
	struct dafs_open_state *os;

	spin_lock(&sbi->opens_lock);
	sbi->recovery++;
	spin_unlock(&sbi->opens_lock);
	while (dafs_chan_is_open(conn->op)) {
		os = dafs_opens_next(sbi, conn, idle);
		if (!os)
			return 0;
		/* others may use the file by now, and no program here needs it */
		if (READ_ONCE(sbi->delegs_refused) && dafs_open_state_is_idle(os))
			dafs_deleg_not_reclaimed(os);
		while (dafs_opens_recover_one(os, conn) && dafs_chan_is_open(conn->op) &&
		       !READ_ONCE(sbi->leaving))
			dafs_recover_slowly(&sbi->recoverer);
		kref_put(&os->kref, dafs_open_state_free);
	}
	return -ENOTCONN;
}

/**
 * dafs_opens_recover() - get back all opens from a server that knows none
 * @sbi: the mount, after dafs_delegs_forget()
 * @conn: connection to the server
 *
 * See struct dafs_recoverer.  Opens that the server does not give back
 * are lost; those that it cannot give back are reclaimed when they are used.  As long
 * as it asks for patience it is asked again: it may need minutes to have the file
 * system, which the rest of the client need not wait for.
 *
 * With an open come its locks and its delegation; opens that only a delegation keeps come last,
 * for the server does not wait for ever.  This ends when all is written that others must not have a
 * file without.
 *
 * Context: may sleep; a work queue.
 * Return: 0, or -ENOTCONN if the connection was lost meanwhile.
 */
int dafs_opens_recover(struct dafs_sb_info *sbi, struct dafs_conn *conn)
{
	int err = dafs_opens_recover_all(sbi, conn, false);

	if (!err)
		err = dafs_opens_recover_all(sbi, conn, true);
	if (err)
		return err;
	dafs_delegs_abandon(sbi);
	dafs_opens_await_debts(sbi, conn);
	sbi->recoverer.complete = !dafs_opens_left(sbi, conn);
	return dafs_chan_is_open(conn->op) ? 0 : -ENOTCONN;
}

/**
 * dafs_opens_lapsed() - the lease of the client had run out, but the server knows it
 * @sbi: the mount
 *
 * The server may have ended what was locked by an open all the same.  It is asked for that.
 *
 * Context: any but interrupt.
 */
void dafs_opens_lapsed(struct dafs_sb_info *sbi)
{
	struct dafs_open_state *os;

	spin_lock(&sbi->opens_lock);
	list_for_each_entry(os, &sbi->opens, all_link)
		dafs_locks_doubt(os);
	spin_unlock(&sbi->opens_lock);
}
