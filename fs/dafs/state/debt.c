// SPDX-License-Identifier: GPL-2.0
/*
 * What was written under a lock that only a delegation has known of, or that was released while
 * only a delegation kept others from the file.
 *
 * While a file is delegated for writing, unlocking writes nothing: the debt is paid before others
 * get the file.  If the delegation is lost, they may have it already: they have locked, read and
 * written, and what is still dirty here must not follow that.
 *
 *	NONE		nothing is owed
 *	OWED		bytes have been locked by a delegation, or unlocked, and what was written
 *			may not be stable.  Write-back goes on as long as the client has its
 *			lease; and, once the delegation is recalled, as long as it is not revoked.
 *	BREACHED	the delegation was lost.  Write-back fails with EIO, which fsync(2) and
 *			close(2) report, until what is cached has been dropped.
 *
 * Locks that only the delegation knew of are lost with it, so that I/O past the cache fails, too.
 *
 * If the server knows the client by another client-id, it has restarted, or the lease has run out.
 * In the first case nobody else has had the file: that is so in a grace period.  It is asked when
 * an open of the file is reclaimed, and write-back waits until then, whatever it is sent by.  What
 * is owed then is owed under the new client-id, and this client does not end the grace period
 * before it is written.
 */
#include <linux/pagemap.h>
#include "debt.h"
#include "lock.h"
#include "open_impl.h"

/* May there be data that is not stable? */
static bool dafs_debt_unwritten(const struct dafs_inode *di)
{
	struct address_space *mapping = di->netfs.inode.i_mapping;

	if (atomic_read(&di->writers) || mapping_tagged(mapping, PAGECACHE_TAG_DIRTY) ||
	    mapping_tagged(mapping, PAGECACHE_TAG_WRITEBACK))
		return true;
	/* pairs with dafs_unstable_add() */
	smp_rmb();
	return READ_ONCE(di->unstable_bytes);
}

static struct dafs_client_id dafs_open_state_client(struct dafs_open_state *os)
{
	struct dafs_client_id client_id;

	spin_lock(&os->lock);
	client_id = os->client_id;
	spin_unlock(&os->lock);
	return client_id;
}

/**
 * dafs_debt_owe() - bytes are locked by a delegation alone
 * @locks: locks of the file
 *
 * Context: any but interrupt.  Before the delegation is looked at for the last time.
 */
void dafs_debt_owe(struct dafs_locks *locks)
{
	bool unwritten = dafs_debt_unwritten(DAFS_I(locks->inode));

	spin_lock(&locks->lock);
	/* what may have been written is owed by an older delegation, if there was one */
	if (locks->os && (locks->debt == DAFS_DEBT_NONE ||
			  (locks->debt == DAFS_DEBT_OWED && !unwritten))) {
		locks->debt = DAFS_DEBT_OWED;
		locks->debt_id = dafs_open_state_client(locks->os);
		locks->debt_sent = READ_ONCE(DAFS_I(locks->inode)->deleg_sent);
		locks->debt_until = 0;
	}
	spin_unlock(&locks->lock);
}

/**
 * dafs_debt_delay() - what was written under locks stays here when they are released
 * @inode: the file, which is delegated for writing
 *
 * The server may have known of these locks.  It lets others lock the bytes as soon as they are
 * released there, and the delegation is lost.
 *
 * Context: any but interrupt.  Before the delegation is looked at for the last time.
 */
void dafs_debt_delay(struct inode *inode)
{
	struct dafs_locks *locks = READ_ONCE(DAFS_I(inode)->locks);

	if (locks && dafs_locks_any(inode) && dafs_debt_unwritten(DAFS_I(inode)))
		dafs_debt_owe(locks);
}

static bool dafs_debt_may_grow(const struct dafs_locks *locks)
{
	const struct dafs_held *held;

	lockdep_assert_held(&locks->lock);
	list_for_each_entry(held, &locks->held, link)
		if (held->local)
			return true;
	return false;
}

/**
 * dafs_debt_pay() - data of a file was made stable
 * @inode: the file
 *
 * Context: any but interrupt.
 */
void dafs_debt_pay(struct inode *inode)
{
	struct dafs_locks *locks = READ_ONCE(DAFS_I(inode)->locks);

	if (!locks)
		return;
	spin_lock(&locks->lock);
	if (locks->debt == DAFS_DEBT_OWED && !dafs_debt_may_grow(locks) &&
	    !dafs_debt_unwritten(DAFS_I(inode)))
		locks->debt = DAFS_DEBT_NONE;
	spin_unlock(&locks->lock);
}

/**
 * dafs_debt_paid() - a delegation is handed over
 * @inode: the file
 *
 * All that was written while it lasted is stable, and programs have at the server what they have
 * locked: what they are writing by now is not owed.
 *
 * Context: any but interrupt.
 */
void dafs_debt_paid(struct inode *inode)
{
	struct dafs_locks *locks = READ_ONCE(DAFS_I(inode)->locks);

	if (!locks)
		return;
	spin_lock(&locks->lock);
	if (locks->debt == DAFS_DEBT_OWED)
		locks->debt = DAFS_DEBT_NONE;
	spin_unlock(&locks->lock);
}

/**
 * dafs_debt_lasts() - a delegation of a file is recalled
 * @inode: the file
 * @until: until when it is not revoked, in the time of ktime_get_coarse_boottime()
 *
 * Context: any but interrupt.
 */
void dafs_debt_lasts(struct inode *inode, ktime_t until)
{
	struct dafs_locks *locks = READ_ONCE(DAFS_I(inode)->locks);

	if (!locks)
		return;
	spin_lock(&locks->lock);
	if (locks->debt == DAFS_DEBT_OWED)
		locks->debt_until = until;
	spin_unlock(&locks->lock);
}

/* Not before something is refused: what the server has, and has only to commit, is not lost. */
static void dafs_debt_tell(struct dafs_locks *locks)
{
	const struct dafs_sb_info *sbi = DAFS_SB(locks->inode->i_sb);
	bool told;

	spin_lock(&locks->lock);
	told = locks->debt_told;
	locks->debt_told = true;
	spin_unlock(&locks->lock);
	if (told)
		return;
	pr_warn_ratelimited("dafs: server %pISpc has ended a delegation: data written under locks is dropped: inode %lu\n",
			    &sbi->params.dst, locks->inode->i_ino);
}

/* Others may have had the file. */
static void dafs_debt_break(struct dafs_locks *locks)
{
	struct inode *inode = locks->inode;
	bool unwritten = dafs_debt_unwritten(DAFS_I(inode)), breached;

	spin_lock(&locks->lock);
	breached = locks->debt == DAFS_DEBT_OWED && unwritten;
	if (breached)
		locks->debt_told = false;
	if (locks->debt == DAFS_DEBT_OWED)
		locks->debt = unwritten ? DAFS_DEBT_BREACHED : DAFS_DEBT_NONE;
	spin_unlock(&locks->lock);
	if (!breached)
		return;
	/* last: if it is dropped just now, it is dropped once more */
	set_bit(DAFS_INO_ZAP, &DAFS_I(inode)->flags);
	if (!dafs_inode_hold(inode))
		return;
	dafs_locks_lower_later(locks);
	dafs_inode_put_later(inode);
}

static bool dafs_debt_is_owed_under(struct dafs_locks *locks,
				    const struct dafs_client_id *client_id)
{
	bool owed;

	spin_lock(&locks->lock);
	owed = locks->debt == DAFS_DEBT_OWED && dafs_opaque64_equal(&locks->debt_id, client_id);
	spin_unlock(&locks->lock);
	return owed;
}

/**
 * dafs_debt_breach() - the delegation of a file was lost, and others may have had the file
 * @inode: the file, with a reference
 * @client_id: what the server had delegated it under
 *
 * What is owed under another client-id is not lost: the server has restarted since.
 *
 * Context: any but interrupt.
 */
void dafs_debt_breach(struct inode *inode, const struct dafs_client_id *client_id)
{
	struct dafs_locks *locks = READ_ONCE(DAFS_I(inode)->locks);

	if (!locks || !dafs_debt_is_owed_under(locks, client_id))
		return;
	/* first: nothing is owed for a lock that seems to be held */
	dafs_locks_lose_local(locks);
	dafs_debt_break(locks);
}

/**
 * dafs_debt_breached() - is dirty data of a file to be dropped?
 * @inode: the file
 *
 * Context: any.
 * Return: true if so.
 */
bool dafs_debt_breached(const struct inode *inode)
{
	const struct dafs_locks *locks = READ_ONCE(DAFS_I(inode)->locks);

	return locks && READ_ONCE(locks->debt) == DAFS_DEBT_BREACHED;
}

/**
 * dafs_debt_dropped() - all that was cached of a file has been dropped
 * @inode: the file
 *
 * Context: any but interrupt.
 */
void dafs_debt_dropped(struct inode *inode)
{
	struct dafs_locks *locks = READ_ONCE(DAFS_I(inode)->locks);

	if (!locks)
		return;
	spin_lock(&locks->lock);
	if (locks->debt == DAFS_DEBT_BREACHED)
		locks->debt = DAFS_DEBT_NONE;
	spin_unlock(&locks->lock);
}

/* What is known of a debt under a certain client-id */
enum dafs_debt_doubt {
	DAFS_DEBT_SURE,		/* nobody else has the file */
	DAFS_DEBT_ASK,		/* the server is to be asked */
	DAFS_DEBT_LATE,		/* the lease has run out, or what was recalled may be revoked */
};

/* May the server have revoked the delegation, which it has recalled? */
static bool dafs_debt_has_run_out(const struct dafs_locks *locks)
{
	return locks->debt_until && ktime_after(ktime_get_coarse_boottime(), locks->debt_until);
}

static enum dafs_debt_doubt dafs_debt_doubt(struct dafs_locks *locks,
					    const struct dafs_client_id *client_id)
{
	const struct dafs_client *clnt = dafs_inode_clnt(locks->inode);
	enum dafs_debt_doubt doubt = DAFS_DEBT_SURE;

	spin_lock(&locks->lock);
	if (locks->debt == DAFS_DEBT_OWED) {
		if (!dafs_opaque64_equal(&locks->debt_id, client_id))
			doubt = DAFS_DEBT_ASK;
		else if (!dafs_client_leased_since(clnt, locks->debt_sent) ||
			 dafs_debt_has_run_out(locks))
			doubt = DAFS_DEBT_LATE;
	}
	spin_unlock(&locks->lock);
	return doubt;
}

/**
 * dafs_debt_expire() - a program may rely on locks of a file
 * @locks: the locks
 * @conn: the connection that what relies on them is to be sent on
 *
 * Context: any but interrupt.
 */
void dafs_debt_expire(struct dafs_locks *locks, const struct dafs_conn *conn)
{
	if (READ_ONCE(locks->debt) == DAFS_DEBT_OWED &&
	    dafs_debt_doubt(locks, &conn->client_id) == DAFS_DEBT_LATE)
		dafs_debt_breach(locks->inode, &conn->client_id);
}

/* An open by which it will be known, with a reference; or NULL */
static struct dafs_open_state *dafs_debt_open(struct dafs_inode *di, const struct dafs_conn *conn,
					      struct dafs_state_id *state_id)
{
	struct dafs_open_state *os, *found = NULL;

	spin_lock(&di->lock);
	list_for_each_entry(os, &di->opens, link) {
		if (!dafs_open_state_is_behind(os, conn, state_id))
			continue;
		dafs_open_state_hold(os);
		found = os;
		break;
	}
	spin_unlock(&di->lock);
	return found;
}

/**
 * dafs_debt_check() - may cached data of a file be written back?
 * @inode: the file
 * @conn: the connection to send it on
 * @osp: with -EINPROGRESS, filled with an open, with a reference: to be got back first
 * @state_id: likewise, what it has
 *
 * Context: any but interrupt.
 * Return: 0; -EIO if it is lost; or -EINPROGRESS.
 */
int dafs_debt_check(struct inode *inode, const struct dafs_conn *conn,
		    struct dafs_open_state **osp, struct dafs_state_id *state_id)
{
	struct dafs_locks *locks = READ_ONCE(DAFS_I(inode)->locks);
	enum dafs_debt_doubt doubt;

	if (!locks || READ_ONCE(locks->debt) == DAFS_DEBT_NONE)
		return 0;
	doubt = dafs_debt_doubt(locks, &conn->client_id);
	if (doubt == DAFS_DEBT_ASK) {
		*osp = dafs_debt_open(DAFS_I(inode), conn, state_id);
		if (*osp)
			return -EINPROGRESS;
		/* then it is not known: what is sent on a connection that has ended gets nowhere */
		if (dafs_chan_is_open(conn->op) &&
		    dafs_debt_doubt(locks, &conn->client_id) == DAFS_DEBT_ASK)
			dafs_debt_break(locks);
	}
	if (doubt == DAFS_DEBT_LATE)
		dafs_debt_breach(inode, &conn->client_id);
	if (!dafs_debt_breached(inode))
		return 0;
	dafs_debt_tell(locks);
	return -EIO;
}

/* The locks of the file of an open, with a reference to the inode; or NULL */
static struct dafs_locks *dafs_debt_of_open(struct dafs_open_state *os)
{
	struct dafs_locks *locks = NULL;

	spin_lock(&os->lock);
	/* as long as it has users, the inode is there */
	if (!os->closing)
		locks = READ_ONCE(os->di->locks);
	if (locks && !dafs_inode_hold(locks->inode))
		locks = NULL;
	spin_unlock(&os->lock);
	return locks;
}

/*
 * Nobody else has had the file, but others may, as soon as the grace period is over: it is owed as
 * before.
 */
static void dafs_debt_keep(struct dafs_locks *locks, const struct dafs_conn *conn, ktime_t sent)
{
	spin_lock(&locks->lock);
	if (locks->debt == DAFS_DEBT_OWED) {
		locks->debt_id = conn->client_id;
		locks->debt_sent = sent;
		locks->debt_until = 0;
	}
	spin_unlock(&locks->lock);
}

/**
 * dafs_debt_is_due() - must data of a file be written before others get the file?
 * @os: an open of it
 *
 * Context: any but interrupt.
 * Return: true if so; false also if its delegation keeps others from it, or has been lost.
 */
bool dafs_debt_is_due(struct dafs_open_state *os)
{
	const struct dafs_locks *locks;
	bool due = false;

	spin_lock(&os->lock);
	/* as long as it has users, the inode is there */
	if (!os->closing && !test_bit(DAFS_INO_DELEG_WRITE, &os->di->flags)) {
		locks = READ_ONCE(os->di->locks);
		due = locks && READ_ONCE(locks->debt) == DAFS_DEBT_OWED &&
		      dafs_debt_unwritten(os->di);
	}
	spin_unlock(&os->lock);
	return due;
}

/**
 * dafs_debt_collect() - an open was reclaimed: have written what is owed, unless it is delegated
 * @os: the open
 *
 * Context: any but interrupt.
 */
void dafs_debt_collect(struct dafs_open_state *os)
{
	struct dafs_locks *locks = dafs_debt_is_due(os) ? dafs_debt_of_open(os) : NULL;

	if (!locks)
		return;
	dafs_locks_lower_later(locks);
	dafs_inode_put_later(locks->inode);
}

/**
 * dafs_debt_reclaimed() - an open was reclaimed: has nobody had its file before?
 * @os: the open
 * @conn: the connection that it was reclaimed on
 * @how: as what
 * @status: set to that of the last response, if this fails
 *
 * Context: may sleep.
 * Return: 0, or a negative errno if the server did not tell: the open must be reclaimed again.
 */
int dafs_debt_reclaimed(struct dafs_open_state *os, struct dafs_conn *conn,
			const struct dafs_open_how *how, dafs_status_t *status)
{
	struct dafs_locks *locks = dafs_debt_of_open(os);
	ktime_t sent = ktime_get_coarse_boottime();
	dafs_status_t asked;
	int grace = 0;

	if (!locks)
		return 0;
	if (dafs_debt_doubt(locks, &conn->client_id) != DAFS_DEBT_ASK)
		goto put;
	grace = dafs_lock_grace(os->sbi->clnt, conn, os->cred, &os->fh, &how->owner, &asked);
	if (grace < 0)
		*status = asked;
	else if (grace)
		dafs_debt_keep(locks, conn, sent);
	else
		dafs_debt_break(locks);
put:
	dafs_inode_put_later(locks->inode);
	return min(grace, 0);
}
