// SPDX-License-Identifier: GPL-2.0
/*
 * Share reservations: what an open file denies to others (4.4.1.2, 4.4.2).
 *
 * The open at the server has what all of its open files reserve together.  As long as that may
 * be anything, no other file joins it: each has an open of its own, and the server decides
 * whether it is denied, as it does for other clients.  Files that had joined it before are
 * compared here.
 *
 *  1. A reservation is asked for by an OPEN of the same owner, which the server merges
 *     (6.5.24), and given up by OPEN_DOWNGRADE (6.5.26), or with the open by CLOSE.
 *  2. Both are work items.  A task that is killed leaves them behind: they know in the end what
 *     the server has, and give back what nobody wants any more.  They wait for delegations to be
 *     returned, which items of another queue do: none waits for one of its own queue.
 *  3. What was granted is recorded only if the open is still the one that it was granted to.
 *     From then on it is reclaimed with the open.
 *  4. Outside of a grace period others may have had the file before it was reclaimed.  Then the
 *     open is lost: I/O of the file fails, because the program relies on its reservation.
 *  5. So does the write-back of what is cached: while a user has an open that reserves, all of the
 *     user's data is written back by that, as dafs_open_state_find_writer() says.  The open stays
 *     until everything is written, or dropped, see dafs_file_close_later().
 *
 * A delegation keeps an open that no program may have any more.  If a reservation is denied,
 * it is returned, and the server asked once more.
 */
#include <linux/slab.h>
#include "deleg.h"
#include "open_impl.h"
#include "reserve.h"

/* How often a server may seem to restart meanwhile */
#define DAFS_RESERVE_TRIES	10

/**
 * struct dafs_reservation - what an open file reserves
 * @link: in os->reservations
 * @os: the open
 * @holder: the open file, or who keeps it in its place; guarded by di->lock
 * @what: what it denies
 * @held: the server has granted it
 * @left: nobody wants it any more.  These and @link are guarded by di->lock
 * @ref: one for the task, or for the open file if it is @held; one for each work item
 * @ask: asks for it; as @end, holds the inode and is a user of the open
 * @end: gives it up
 * @asked: completed at the end of @ask
 * @ended: completed at the end of @end
 * @err: the result of @ask
 */
struct dafs_reservation {
	struct list_head link;
	struct dafs_open_state *os;
	const void *holder;
	struct dafs_reserved what;
	bool held;
	bool left;
	refcount_t ref;
	struct work_struct ask;
	struct work_struct end;
	struct completion asked;
	struct completion ended;
	int err;
};

static void dafs_reservation_put(struct dafs_reservation *res)
{
	if (refcount_dec_and_test(&res->ref))
		kfree(res);
}

/* The reservation of an open file, or NULL */
static struct dafs_reservation *dafs_reservation_of(const struct dafs_open_state *os,
						    const void *holder)
{
	struct dafs_reservation *res;

	lockdep_assert_held(&os->di->lock);
	list_for_each_entry(res, &os->reservations, link)
		if (res->holder == holder && !res->left)
			return res;
	return NULL;
}

/* Does another open file of this open do what is to be denied?  @access: of the one that asks */
static bool dafs_reserve_conflicts(const struct dafs_open_state *os, u32 access, u32 deny)
{
	bool reads = access & DAFS_OPEN_SHARE_ACCESS_READ;
	bool writes = access & DAFS_OPEN_SHARE_ACCESS_WRITE;

	lockdep_assert_held(&os->di->lock);
	return ((deny & DAFS_OPEN_SHARE_DENY_READ) && os->readers > reads) ||
	       ((deny & DAFS_OPEN_SHARE_DENY_WRITE) && os->writers > writes);
}

/* From now on no other file joins the open. */
static int dafs_reservation_begin(struct dafs_reservation *res, u32 access)
{
	struct dafs_open_state *os = res->os;
	int err = 0;

	spin_lock(&os->di->lock);
	if (dafs_reservation_of(os, res->holder))
		err = -EALREADY;
	else if (dafs_reserve_conflicts(os, access, res->what.deny))
		err = -EBUSY;
	if (!err) {
		list_add(&res->link, &os->reservations);
		os->exclusive++;
	}
	spin_unlock(&os->di->lock);
	return err;
}

static void dafs_reservation_queue(struct dafs_reservation *res, struct work_struct *work)
{
	struct dafs_open_state *os = res->os;

	refcount_inc(&res->ref);
	/* the file is open */
	dafs_inode_hold(&os->di->netfs.inode);
	dafs_open_state_hold(os);
	queue_work(os->sbi->clnt->reserve_wq, work);
}

static void dafs_reservation_done(struct dafs_reservation *res, struct completion *done)
{
	struct inode *inode = &res->os->di->netfs.inode;

	/* first, so that who has waited is the last user when it closes the file */
	dafs_open_state_put(res->os, false);
	complete(done);
	dafs_reservation_put(res);
	dafs_inode_put_later(inode);
}

/*
 * A task that exits cannot be killed, and the server may let others of the open wait for long.
 *
 * Return: 0 or -ERESTARTSYS: then the background goes on.
 */
static int dafs_reservation_await(struct dafs_client *clnt, struct completion *done)
{
	long left;

	do {
		left = wait_for_completion_killable_timeout(done, HZ);
	} while (!left && !dafs_task_exits() && !dafs_exits_while_down(clnt));
	return left > 0 ? 0 : -ERESTARTSYS;
}

static void dafs_reserved_add(struct dafs_reserved *all, const struct dafs_reserved *more)
{
	all->deny |= more->deny;
	if (!more->keyed)
		return;
	all->keyed = true;
	all->share_key = more->share_key;
}

/* Return: true if the server has it, and it will be reclaimed with the open. */
static bool dafs_reserve_granted(struct dafs_open_state *os, const struct dafs_reserved *what,
				 const struct dafs_state_id *state_id)
{
	bool same;

	spin_lock(&os->lock);
	same = !os->reclaiming && dafs_opaque64_equal(&os->state_id, state_id);
	if (same)
		dafs_reserved_add(&os->reserved, what);
	spin_unlock(&os->lock);
	return same;
}

static int dafs_reserve_ask_once(struct dafs_reservation *res)
{
	struct dafs_open_state *os = res->os;
	struct dafs_state_id before, state_id;
	unsigned int delay_ms = 0, left = DAFS_RESERVE_TRIES;
	int err;

	do {
		err = dafs_open_state_id(os, &before) ?:
		      dafs_open_state_deny(os, &res->what, &state_id);
		if (err || dafs_reserve_granted(os, &res->what, &state_id))
			return err;
		err = dafs_open_state_recover_retry(os, &before, &delay_ms);
	} while (!err && --left);
	return err ?: -EIO;
}

static int dafs_reserve_ask(struct dafs_reservation *res)
{
	int err = dafs_reserve_ask_once(res);

	if (err == -EBUSY && dafs_deleg_give_back(&res->os->di->netfs.inode))
		err = dafs_reserve_ask_once(res);
	return err;
}

/* What is left of the reservations of an open */
static struct dafs_reserved dafs_reserve_rest(struct dafs_open_state *os)
{
	const struct dafs_options *opts = &os->sbi->opts;
	struct dafs_reserved all = { .keyed = opts->keyed, .share_key = opts->share_key };
	const struct dafs_reservation *res;

	spin_lock(&os->di->lock);
	list_for_each_entry(res, &os->reservations, link)
		if (res->held && !res->left)
			dafs_reserved_add(&all, &res->what);
	spin_unlock(&os->di->lock);
	return all;
}

/* What is reclaimed from now on, and what the server is to be asked for */
static void dafs_reserve_record(struct dafs_open_state *os, const struct dafs_reserved *rest,
				struct dafs_open_downgrade_args *args)
{
	*args = (struct dafs_open_downgrade_args) {
		.filehandle = os->fh,
		.share_deny = rest->deny,
		.share_key_type = rest->keyed ? DAFS_OPEN_SHARE_KEY_BOTH :
						DAFS_OPEN_SHARE_KEY_NONE,
		.share_key = rest->share_key,
	};
	spin_lock(&os->lock);
	os->reserved = *rest;
	args->share_access = os->access | os->more_access;
	spin_unlock(&os->lock);
}

/* A reclaim under way may have begun with more than what is left. */
static void dafs_reserve_reduce(struct dafs_open_state *os)
{
	const struct dafs_reserved rest = dafs_reserve_rest(os);
	struct dafs_open_downgrade_args args;
	unsigned int delay_ms = 0;
	dafs_status_t status;
	int err;

	dafs_reserve_record(os, &rest, &args);
	do {
		err = dafs_open_state_id(os, &args.state_id);
		if (err)
			return;
		err = dafs_open_downgrade(os->sbi->clnt, os->cred, &args, &os->sbi->leaving,
					  &status);
		if (err ? dafs_status_action(status) != DAFS_ACT_OPEN :
			  dafs_open_state_is(os, &args.state_id))
			return;
		err = dafs_open_state_recover_retry(os, &args.state_id, &delay_ms);
	} while (!err);
}

/* Return: true if it is held; otherwise it is to be given up. */
static bool dafs_reservation_settle(struct dafs_reservation *res)
{
	struct dafs_inode *di = res->os->di;

	spin_lock(&di->lock);
	res->held = !res->err && !res->left;
	if (!res->held)
		res->left = true;
	spin_unlock(&di->lock);
	return res->held;
}

static void dafs_reservation_drop(struct dafs_reservation *res)
{
	struct dafs_open_state *os = res->os;

	dafs_reserve_reduce(os);
	spin_lock(&os->di->lock);
	list_del(&res->link);
	os->exclusive--;
	spin_unlock(&os->di->lock);
}

static void dafs_reservation_ask_work(struct work_struct *work)
{
	struct dafs_reservation *res = container_of(work, struct dafs_reservation, ask);
	struct dafs_open_state *os = res->os;

	mutex_lock(&os->reserve_lock);
	res->err = dafs_reserve_ask(res);
	/* also if it was refused: a response that was lost may have granted it */
	if (!dafs_reservation_settle(res))
		dafs_reservation_drop(res);
	mutex_unlock(&os->reserve_lock);
	dafs_reservation_done(res, &res->asked);
}

static void dafs_reservation_end_work(struct work_struct *work)
{
	struct dafs_reservation *res = container_of(work, struct dafs_reservation, end);
	struct dafs_open_state *os = res->os;

	mutex_lock(&os->reserve_lock);
	dafs_reservation_drop(res);
	mutex_unlock(&os->reserve_lock);
	dafs_reservation_done(res, &res->ended);
}

static struct dafs_reservation *dafs_reservation_alloc(struct dafs_open_state *os,
						       const void *holder,
						       const struct dafs_reserved *what)
{
	struct dafs_reservation *res = kzalloc(sizeof(*res), GFP_KERNEL);

	if (!res)
		return NULL;
	res->os = os;
	res->holder = holder;
	res->what = *what;
	refcount_set(&res->ref, 1);
	INIT_WORK(&res->ask, dafs_reservation_ask_work);
	INIT_WORK(&res->end, dafs_reservation_end_work);
	init_completion(&res->asked);
	init_completion(&res->ended);
	return res;
}

/* The task has no more use for it.  Return: false if the open file has it all the same. */
static bool dafs_reservation_leave(struct dafs_reservation *res)
{
	struct dafs_inode *di = res->os->di;
	bool held;

	spin_lock(&di->lock);
	held = res->held;
	if (!held)
		res->left = true;
	spin_unlock(&di->lock);
	return !held;
}

/**
 * dafs_reserve() - have an open file deny access to others
 * @os: its open
 * @holder: the open file
 * @access: DAFS_OPEN_SHARE_ACCESS_* that it was opened for
 * @what: what to deny
 *
 * It is held until dafs_reserve_end().
 *
 * Context: may sleep; a fatal signal ends it.
 * Return: 0; -EALREADY if it has a reservation; -EBUSY if others do what is to be denied;
 * -EKEYREJECTED if they have another key; -ENOMEM; -ERESTARTSYS; or another negative errno.
 */
int dafs_reserve(struct dafs_open_state *os, const void *holder, u32 access,
		 const struct dafs_reserved *what)
{
	struct dafs_reservation *res = dafs_reservation_alloc(os, holder, what);
	int err;

	if (!res)
		return -ENOMEM;
	err = dafs_reservation_begin(res, access);
	if (err)
		goto put;
	dafs_reservation_queue(res, &res->ask);
	err = dafs_reservation_await(os->sbi->clnt, &res->asked) ?: res->err;
	if (!err || !dafs_reservation_leave(res))
		return 0;
put:
	dafs_reservation_put(res);
	return err;
}

/* With the open it ends by the CLOSE, and until then no other file joins the open. */
static bool dafs_reservation_ends_alone(struct dafs_reservation *res)
{
	lockdep_assert_held(&res->os->di->lock);
	if (refcount_read(&res->os->ref) != 1) {
		res->left = true;
		return false;
	}
	list_del(&res->link);
	return true;
}

/**
 * dafs_reserve_end() - an open file is closed
 * @os: its open, which it is still a user of
 * @holder: the open file
 * @wait: until others are not denied anything by it any more
 *
 * Context: may sleep if @wait, otherwise any but interrupt.
 */
void dafs_reserve_end(struct dafs_open_state *os, const void *holder, bool wait)
{
	struct dafs_reservation *res;
	bool alone = true;

	spin_lock(&os->di->lock);
	res = dafs_reservation_of(os, holder);
	if (res)
		alone = dafs_reservation_ends_alone(res);
	spin_unlock(&os->di->lock);
	if (!res)
		return;
	if (!alone) {
		dafs_reservation_queue(res, &res->end);
		if (wait)
			dafs_reservation_await(os->sbi->clnt, &res->ended);
	}
	dafs_reservation_put(res);
}

/**
 * dafs_reserve_pass() - an open file is closed, but its reservation is kept
 * @os: its open, which it is still a user of
 * @holder: the open file
 * @heir: who calls dafs_reserve_end() in its place
 *
 * Context: any but interrupt.
 * Return: true if it has one.
 */
bool dafs_reserve_pass(struct dafs_open_state *os, const void *holder, const void *heir)
{
	struct dafs_reservation *res;

	spin_lock(&os->di->lock);
	res = dafs_reservation_of(os, holder);
	if (res)
		res->holder = heir;
	spin_unlock(&os->di->lock);
	return res;
}

/**
 * dafs_reserve_lost() - has an open file lost its reservation?
 * @os: its open
 * @holder: the open file
 *
 * Context: any but interrupt.
 * Return: true if so: its I/O must fail.
 */
bool dafs_reserve_lost(struct dafs_open_state *os, const void *holder)
{
	bool lost;

	if (likely(!READ_ONCE(os->lost)))
		return false;
	spin_lock(&os->di->lock);
	lost = dafs_reservation_of(os, holder);
	spin_unlock(&os->di->lock);
	return lost;
}

/**
 * dafs_reserves() - does an open reserve more than all opens of the mount do?
 * @os: the open
 * @what: what it reserves
 *
 * Context: any.
 * Return: true if a program has asked for that.
 */
bool dafs_reserves(const struct dafs_open_state *os, const struct dafs_reserved *what)
{
	return what->deny || what->keyed != os->sbi->opts.keyed;
}

/**
 * dafs_reserve_reclaimed() - has nobody had what an open reserves, before it was reclaimed?
 * @os: the open
 * @conn: the connection that it was reclaimed on
 * @how: as what
 * @opened: what the server has given
 * @status: set to that of the last response, if this fails
 *
 * That is so in a grace period, which has not ended since the restart as it is not over yet.
 * Otherwise the lease had run out, or the server has forgotten too much: the open is closed, so
 * that it denies nothing to others any more; if there is no answer to that, it stays @os->left.
 *
 * Context: may sleep.
 * Return: 0; -EIO if it is lost; or another negative errno, to reclaim it again.
 */
int dafs_reserve_reclaimed(struct dafs_open_state *os, struct dafs_conn *conn,
			   const struct dafs_open_how *how, const struct dafs_opened *opened,
			   dafs_status_t *status)
{
	const struct dafs_reserved what = { .deny = how->deny, .keyed = how->keyed };
	dafs_status_t closed, asked;
	int grace, err;

	if (!dafs_reserves(os, &what))
		return 0;
	grace = dafs_lock_grace(os->sbi->clnt, conn, os->cred, &os->fh, &how->owner, &asked);
	if (grace > 0)
		return 0;
	if (grace < 0) {
		*status = asked;
		return grace;
	}
	err = dafs_close_on(os->sbi->clnt, conn, os->cred, &os->fh, &opened->state_id, &closed);
	if (!err || dafs_status_action(closed) == DAFS_ACT_OPEN)
		os->left = false;
	*status = DAFSERR_EXPIRED;
	return -EIO;
}
