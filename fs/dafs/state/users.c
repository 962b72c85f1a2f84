// SPDX-License-Identifier: GPL-2.0
/*
 * Who uses an open: how it is found, and closed when nobody is left.
 *
 * All files of one user that have an inode open for the same kind of access
 * share one OPEN, which lasts until the last of them, and the last I/O that
 * uses its state-id, has gone.
 */
#include "open_impl.h"

/**
 * dafs_open_state_id() - the state-id of an open
 * @os: the open
 * @state_id: filled
 *
 * Context: any but interrupt.
 * Return: 0, or -ESTALE or -EIO if the open is lost.
 */
int dafs_open_state_id(struct dafs_open_state *os, struct dafs_state_id *state_id)
{
	int err;

	spin_lock(&os->lock);
	*state_id = os->state_id;
	err = os->lost;
	spin_unlock(&os->lock);
	return err;
}

/**
 * dafs_open_state_is() - does an open still have this state-id?
 * @os: the open
 * @state_id: that it had before
 *
 * Context: any but interrupt.
 * Return: false if it has another one, or is being reclaimed.
 */
bool dafs_open_state_is(struct dafs_open_state *os, const struct dafs_state_id *state_id)
{
	bool is;

	spin_lock(&os->lock);
	is = !os->reclaiming && dafs_opaque64_equal(&os->state_id, state_id);
	spin_unlock(&os->lock);
	return is;
}

/**
 * dafs_open_state_is_of() - does an open belong to a client-id?
 * @os: the open
 * @client_id: the client-id
 *
 * Context: any but interrupt.
 * Return: true if it has been opened, or reclaimed at last, under this one.
 */
bool dafs_open_state_is_of(struct dafs_open_state *os, const struct dafs_client_id *client_id)
{
	bool is;

	spin_lock(&os->lock);
	is = dafs_opaque64_equal(&os->client_id, client_id);
	spin_unlock(&os->lock);
	return is;
}

/**
 * dafs_open_state_is_behind() - does an open belong to a client-id that is over?
 * @os: the open
 * @conn: a connection to the server
 * @state_id: filled with what it has
 *
 * Context: any but interrupt.
 * Return: true if it has not been reclaimed under the client-id of @conn, nor is lost; false also
 * if @conn has ended: then it is @conn that may be behind.
 */
bool dafs_open_state_is_behind(struct dafs_open_state *os, const struct dafs_conn *conn,
			       struct dafs_state_id *state_id)
{
	bool behind;

	spin_lock(&os->lock);
	behind = !os->lost && !dafs_opaque64_equal(&os->client_id, &conn->client_id);
	*state_id = os->state_id;
	spin_unlock(&os->lock);
	return behind && dafs_chan_is_open(conn->op);
}

/**
 * dafs_open_state_broken() - does a refusal mean that a PERSIST lock is broken? (4.4.1.3)
 * @os: the open
 * @state_id: that the server refused
 * @status: how
 *
 * For I/O in what is broken it says that the state-id is of a former instance of the server;
 * but it is of the present one.
 *
 * Context: any but interrupt.
 * Return: true if so: to reclaim the open would not help.
 */
bool dafs_open_state_broken(struct dafs_open_state *os, const struct dafs_state_id *state_id,
			    dafs_status_t status)
{
	struct dafs_client_id client_id;

	if (status != DAFSERR_STALE_STATEID || !dafs_open_state_is(os, state_id))
		return false;
	spin_lock(&os->lock);
	client_id = os->client_id;
	spin_unlock(&os->lock);
	return dafs_client_is(os->sbi->clnt, &client_id);
}

static void dafs_open_state_count(struct dafs_open_state *os, u32 access, int more)
{
	lockdep_assert_held(&os->di->lock);
	if (access & DAFS_OPEN_SHARE_ACCESS_READ)
		os->readers += more;
	if (access & DAFS_OPEN_SHARE_ACCESS_WRITE)
		os->writers += more;
}

/**
 * dafs_open_state_publish() - from now on others find an open
 * @di: the file
 * @os: the open, which the server has
 *
 * Its first user counts as an open file, until dafs_open_state_leave().
 *
 * Context: any but interrupt.
 */
void dafs_open_state_publish(struct dafs_inode *di, struct dafs_open_state *os)
{
	struct dafs_sb_info *sbi = os->sbi;

	os->di = di;
	os->ino = di->netfs.inode.i_ino;
	spin_lock(&sbi->opens_lock);
	/* in front of those that a recovery under way has seen */
	list_add(&os->all_link, &sbi->opens);
	os->recovery = sbi->recovery - 1;
	spin_unlock(&sbi->opens_lock);
	spin_lock(&di->lock);
	list_add(&os->link, &di->opens);
	dafs_open_state_count(os, os->access, 1);
	spin_unlock(&di->lock);
}

/**
 * dafs_open_state_hold() - another user of an open
 * @os: the open, with a reference of the caller
 */
void dafs_open_state_hold(struct dafs_open_state *os)
{
	refcount_inc(&os->ref);
}

/* What an open is looked for */
enum dafs_open_use {
	DAFS_OPEN_FOR_IO,	/* of those who have the file open */
	DAFS_OPEN_FREE,		/* of others, whom no reservation must serve */
	DAFS_OPEN_ALIKE,	/* likewise, and for just that access */
};

static bool dafs_open_state_suits(const struct dafs_open_state *os, u32 access,
				  const struct cred *cred, enum dafs_open_use use)
{
	if (use != DAFS_OPEN_FOR_IO && os->exclusive)
		return false;
	if (use == DAFS_OPEN_ALIKE ? os->access != access : (os->access & access) != access)
		return false;
	return !cred || !cred_fscmp(os->cred, cred);
}

/* One that is lost is better than none, but not to be shared with a new user. */
static struct dafs_open_state *dafs_open_state_search(struct dafs_inode *di, u32 access,
						      const struct cred *cred,
						      enum dafs_open_use use)
{
	struct dafs_open_state *os, *lost = NULL;

	list_for_each_entry(os, &di->opens, link) {
		if (!dafs_open_state_suits(os, access, cred, use))
			continue;
		if (!READ_ONCE(os->lost))
			return os;
		lost = os;
	}
	return use == DAFS_OPEN_ALIKE ? NULL : lost;
}

static struct dafs_open_state *dafs_open_state_find_for(struct dafs_inode *di, u32 access,
							const struct cred *cred,
							enum dafs_open_use use)
{
	struct dafs_open_state *os;

	spin_lock(&di->lock);
	os = dafs_open_state_search(di, access, cred, use);
	if (os)
		refcount_inc(&os->ref);
	spin_unlock(&di->lock);
	return os;
}

/**
 * dafs_open_state_find() - an open that allows some access
 * @di: the file
 * @access: DAFS_OPEN_SHARE_ACCESS_* that it must have
 * @cred: who must have opened it; NULL for anyone
 *
 * Context: any but interrupt.
 * Return: the open with a reference, or NULL.
 */
struct dafs_open_state *dafs_open_state_find(struct dafs_inode *di, u32 access,
					     const struct cred *cred)
{
	return dafs_open_state_find_for(di, access, cred, DAFS_OPEN_FOR_IO);
}

/**
 * dafs_open_state_find_free() - an open that allows some access, and reserves nothing
 * @di: the file
 * @access: DAFS_OPEN_SHARE_ACCESS_* that it must have
 * @cred: who must have opened it; NULL for anyone
 *
 * Who has not opened the file must not pass for the one who has, and keeps others out.
 *
 * Context: any but interrupt.
 * Return: the open with a reference, or NULL.
 */
struct dafs_open_state *dafs_open_state_find_free(struct dafs_inode *di, u32 access,
						  const struct cred *cred)
{
	return dafs_open_state_find_for(di, access, cred, DAFS_OPEN_FREE);
}

/*
 * Which open is first to write back by: one that has lost what it denied to others, then one that
 * may yet learn that it has.
 */
static unsigned int dafs_open_state_reliance(struct dafs_open_state *os)
{
	unsigned int reliance = os->exclusive ? 2 : 1;

	lockdep_assert_held(&os->di->lock);
	/* both, as dafs_open_state_lose() has set them */
	spin_lock(&os->lock);
	if (os->breached)
		reliance = 3;
	else if (os->lost)
		reliance = 0;
	spin_unlock(&os->lock);
	return reliance;
}

/**
 * dafs_open_state_find_writer() - an open to write back cached data by
 * @di: the file
 * @cred: whose data it is
 *
 * It is not known which open file the data was written through, and what a program has written
 * in reliance on a reservation must not get to the server if that is lost.  So this is the open
 * that reserves, if there is one, also if it is lost: then the data is, too.
 *
 * Context: any but interrupt.
 * Return: the open with a reference, or NULL.
 */
struct dafs_open_state *dafs_open_state_find_writer(struct dafs_inode *di,
						    const struct cred *cred)
{
	struct dafs_open_state *os, *best = NULL;

	spin_lock(&di->lock);
	list_for_each_entry(os, &di->opens, link) {
		if (!dafs_open_state_suits(os, DAFS_OPEN_SHARE_ACCESS_WRITE, cred,
					   DAFS_OPEN_FOR_IO))
			continue;
		if (!best || dafs_open_state_reliance(os) > dafs_open_state_reliance(best))
			best = os;
	}
	if (best)
		refcount_inc(&best->ref);
	spin_unlock(&di->lock);
	return best;
}

/**
 * dafs_open_state_join() - an open for another open file
 * @di: the file
 * @access: DAFS_OPEN_SHARE_ACCESS_*
 * @cred: who must have opened it
 * @alike: it must be for just that access
 *
 * Context: any but interrupt.
 * Return: the open with a reference, until dafs_open_state_leave() and dafs_open_state_put();
 * or NULL.
 */
struct dafs_open_state *dafs_open_state_join(struct dafs_inode *di, u32 access,
					     const struct cred *cred, bool alike)
{
	struct dafs_open_state *os;

	spin_lock(&di->lock);
	os = dafs_open_state_search(di, access, cred, alike ? DAFS_OPEN_ALIKE : DAFS_OPEN_FREE);
	if (os) {
		refcount_inc(&os->ref);
		dafs_open_state_count(os, access, 1);
	}
	spin_unlock(&di->lock);
	return os;
}

/**
 * dafs_open_state_leave() - an open file is closed; its reference is still there
 * @os: the open
 * @access: DAFS_OPEN_SHARE_ACCESS_* that the file was opened for
 *
 * Context: any but interrupt.
 */
void dafs_open_state_leave(struct dafs_open_state *os, u32 access)
{
	struct dafs_inode *di = os->di;

	spin_lock(&di->lock);
	dafs_open_state_count(os, access, -1);
	spin_unlock(&di->lock);
}

static int dafs_open_state_end(struct dafs_open_state *os, struct dafs_give_back *back)
{
	const bool *leave = &os->sbi->leaving;

	if (os->lost)
		return 0;
	if (!back)
		return dafs_close_unless(os->sbi->clnt, os->cred, &os->fh, &os->state_id, leave);
	back->done = true;
	return dafs_close_and_return(os->sbi->clnt, os->cred, &os->fh, &os->state_id,
				     &back->state_id, leave);
}

static int dafs_open_state_close_step(struct dafs_open_state *os, struct dafs_conn *conn,
				      dafs_status_t *status)
{
	return dafs_close_on(os->sbi->clnt, conn, os->cred, &os->fh, &os->state_id, status);
}

/**
 * dafs_open_state_close_on() - a step of closing in the background
 * @os: the open; may be gone afterwards
 *
 * Context: may sleep; clnt->retry_wq.
 */
void dafs_open_state_close_on(struct dafs_open_state *os)
{
	int err = os->lost ? 0 : dafs_open_state_step(os, dafs_open_state_close_step);

	if (err != -EINPROGRESS)
		dafs_open_state_finish(os);
}

/**
 * dafs_open_state_close() - give an open without users back to the server
 * @os: the open; a reference of @os->kref is passed
 * @wait: send CLOSE at once and wait for the response
 * @back: a delegation that should be returned with it, or NULL
 *
 * No task is left to be told of an error.  But a task that is being killed, or
 * exits, cannot wait, and must not leave its opens at the server: others close
 * them for it.  So they do where a reclaim is under way, which takes as long as the server
 * likes, and would leave it open if it ended after the CLOSE; or where one has failed that has
 * left it open under another state-id.
 *
 * Context: may sleep if @wait, otherwise any but interrupt.
 */
void dafs_open_state_close(struct dafs_open_state *os, bool wait, struct dafs_give_back *back)
{
	bool reclaiming, left;
	int err;

	dafs_async_begin(os->sbi);
	spin_lock(&os->lock);
	os->closing = true;
	reclaiming = os->reclaiming;
	left = !reclaiming && os->left;
	os->reclaiming |= left;
	spin_unlock(&os->lock);
	if (left)
		dafs_open_state_close_left(os);
	if (reclaiming || left)
		return;
	err = !wait || dafs_exits_while_down(os->sbi->clnt) ? -ERESTARTSYS :
							     dafs_open_state_end(os, back);
	if (err == -ERESTARTSYS || err == -ETIMEDOUT)
		dafs_open_state_start(os);
	else
		dafs_open_state_finish(os);
}

/* Return: true if there is no user any more: the caller is to close it. */
static bool dafs_open_state_drop(struct dafs_open_state *os)
{
	struct dafs_sb_info *sbi = os->sbi;
	struct dafs_inode *di = os->di;
	bool last;

	/* Under the lock, so that no task finds it just when it goes. */
	spin_lock(&di->lock);
	last = refcount_dec_and_test(&os->ref);
	if (last)
		list_del(&os->link);
	spin_unlock(&di->lock);
	if (!last)
		return false;
	spin_lock(&sbi->opens_lock);
	list_del_init(&os->all_link);
	spin_unlock(&sbi->opens_lock);
	return true;
}

/**
 * dafs_open_state_put() - one user less; the last one closes
 * @os: the open
 * @wait: send CLOSE at once and wait for the response
 *
 * Context: may sleep if @wait, otherwise any but interrupt.
 */
void dafs_open_state_put(struct dafs_open_state *os, bool wait)
{
	if (dafs_open_state_drop(os))
		dafs_open_state_close(os, wait, NULL);
}

/**
 * dafs_open_state_put_with() - one user less, which was a delegation
 * @os: the open
 * @back: the delegation; its @done is set if it was returned with the CLOSE
 *
 * Context: may sleep.
 */
void dafs_open_state_put_with(struct dafs_open_state *os, struct dafs_give_back *back)
{
	if (dafs_open_state_drop(os))
		dafs_open_state_close(os, true, back);
}
