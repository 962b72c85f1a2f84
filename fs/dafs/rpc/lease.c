// SPDX-License-Identifier: GPL-2.0
/*
 * The client's lease at the server, and what else is due from time to time.
 *
 * Everything that is sent renews the lease; a NULL is sent for every third of it in any
 * case (4.4.1.1).  So one may be late by as much, and what the way takes does not matter.  Of
 * other requests it is known only that they began after a time that was marked before: by
 * these the lease is kept where all slots are in use, so that no NULL can be sent.
 */
#include <linux/sched/mm.h>
#include "rpc_impl.h"

#define DAFS_HOUSEKEEPING	(5L * HZ)
#define DAFS_LEASE		90U		/* seconds, until the server has told */
#define DAFS_LEASE_MAX		3600U		/* what it may tell */
#define DAFS_LEASE_RETRY	(HZ / 4L)	/* to renew it once more */
#define DAFS_NULLS		32U		/* sent in one round of housekeeping */
#define DAFS_CRED_IDLE		(600 * HZ)	/* after it a credential handle is released */

/**
 * dafs_client_lease_from() - until when does a server wait that has answered?
 * @clnt: the client
 * @at: when the request was sent, in the time of ktime_get_coarse_boottime()
 *
 * Context: any.
 * Return: the time, likewise.
 */
ktime_t dafs_client_lease_from(const struct dafs_client *clnt, ktime_t at)
{
	return ktime_add_ns(at, READ_ONCE(clnt->lease) * (u64)NSEC_PER_SEC);
}

/**
 * dafs_client_lease_end() - until when has the server promised to wait for a client?
 * @clnt: the client
 *
 * Context: any; takes no lock, so that RCU walk can use it.
 * Return: the time, in that of ktime_get_coarse_boottime().
 */
ktime_t dafs_client_lease_end(const struct dafs_client *clnt)
{
	return dafs_client_lease_from(clnt, READ_ONCE(clnt->renewed));
}

/**
 * dafs_client_has_lease() - may the client rely on what the server has promised?
 * @clnt: the client
 *
 * Without a sign of life the server may have given it to others.  The time goes on while the
 * machine is suspended.
 *
 * Context: any; takes no lock, so that RCU walk can use it.
 * Return: true if the lease has not run out.
 */
bool dafs_client_has_lease(const struct dafs_client *clnt)
{
	return ktime_before(ktime_get_coarse_boottime(), dafs_client_lease_end(clnt));
}

/**
 * dafs_client_in_last_lease() - has the lease not run out since a request was sent, or just now?
 * @clnt: the client
 * @at: when it was sent, in the time of ktime_get_coarse_boottime()
 *
 * Context: any; takes no lock.
 * Return: true if so.
 */
bool dafs_client_in_last_lease(const struct dafs_client *clnt, ktime_t at)
{
	return !ktime_before(at, READ_ONCE(clnt->leased_since));
}

/**
 * dafs_client_leased_since() - may the client rely on what a server has promised some time ago?
 * @clnt: the client
 * @at: when it was asked for that, in the time of ktime_get_coarse_boottime()
 *
 * It is the time of the request that counts: the lease may have run out before the response was
 * looked at.
 *
 * Context: any; takes no lock, so that RCU walk can use it.
 * Return: true if it has had its lease ever since.
 */
bool dafs_client_leased_since(const struct dafs_client *clnt, ktime_t at)
{
	if (!dafs_client_has_lease(clnt))
		return false;
	/* pairs with dafs_client_renewed() */
	smp_rmb();
	return dafs_client_in_last_lease(clnt, at);
}

/*
 * An answer within a lease time tells that the server has waited for the client all the while,
 * also if another answer that came before has begun the lease later.
 */
static void dafs_lease_begun_before(struct dafs_client *clnt, ktime_t at)
{
	lockdep_assert_held(&clnt->lock);
	if (ktime_before(at, clnt->leased_since) &&
	    ktime_before(ktime_get_coarse_boottime(), dafs_client_lease_from(clnt, at)))
		WRITE_ONCE(clnt->leased_since, at);
}

/**
 * dafs_client_renewed() - a server has answered what renews the lease
 * @clnt: the client
 * @at: when that was sent, or before, in the time of ktime_get_coarse_boottime()
 *
 * Context: may sleep; before anything relies on what has come with the answer.
 */
void dafs_client_renewed(struct dafs_client *clnt, ktime_t at)
{
	bool lapsed = false;

	spin_lock(&clnt->lock);
	if (ktime_after(at, clnt->renewed)) {
		lapsed = !dafs_client_has_lease(clnt);
		if (lapsed)
			WRITE_ONCE(clnt->leased_since, at);
		/* so that nothing of before is seen with the new lease */
		smp_wmb();
		WRITE_ONCE(clnt->renewed, at);
	} else {
		dafs_lease_begun_before(clnt, at);
	}
	spin_unlock(&clnt->lock);
	if (!lapsed)
		return;
	dafs_back_lapsed(clnt);
	dafs_recoverers_lapsed(clnt);
}

/*
 * A NULL if the lease has to be renewed, and as many as give the server its buffers
 * back: a number that the server chose, so not all at one go.
 *
 * Return: true unless @renew, and there was no slot for it, or no answer.
 */
static bool dafs_lease_send_nulls(struct dafs_client *clnt, struct dafs_conn *conn, bool renew)
{
	ktime_t now = ktime_get_coarse_boottime();
	unsigned int nr = 0;

	while (nr < DAFS_NULLS && (renew || dafs_requester_surplus(conn->rq)) &&
	       dafs_conn_notify(conn, DAFS_PROC_NULL, NULL)) {
		dafs_client_renewed(clnt, now);
		renew = false;
		nr++;
	}
	return !renew;
}

static void dafs_lease_listen(struct dafs_client *clnt, struct dafs_conn *conn)
{
	if (conn->mark && !dafs_requester_heard(conn->rq, conn->mark))
		return;
	if (conn->mark)
		dafs_client_renewed(clnt, conn->marked_at);
	conn->marked_at = ktime_get_coarse_boottime();
	conn->mark = dafs_requester_mark(conn->rq);
}

/*
 * An idle path sends a NULL: one by any would do for the lease, but this shows whether it leads to
 * the server.  The watchdog of the requester looks after one that has requests outstanding.
 * Return: true if a NULL was due, and has gone.
 */
static bool dafs_lease_keep_by(struct dafs_client *clnt, struct dafs_conn *conn, bool renew)
{
	renew &= !dafs_requester_outstanding(conn->rq);
	dafs_lease_listen(clnt, conn);
	dafs_requester_trim(conn->rq);
	dafs_cred_cache_age(clnt, conn, DAFS_CRED_IDLE);
	return dafs_lease_send_nulls(clnt, conn, renew) && renew;
}

/* Return: false if a NULL was due, and went by none. */
static bool dafs_lease_keep_all(struct dafs_client *clnt, bool renew)
{
	struct dafs_path *paths = clnt->ses->paths;
	struct dafs_conn *conn;
	bool kept = !renew;
	unsigned int i;

	for (i = 0; i < DAFS_MAX_PATHS; i++) {
		conn = dafs_path_try_get(&paths[i]);
		if (!conn)
			continue;
		kept |= dafs_lease_keep_by(clnt, conn, renew);
		dafs_conn_put(conn);
	}
	/* none is idle: by the first that takes one */
	for (i = 0; i < DAFS_MAX_PATHS && !kept; i++) {
		conn = dafs_path_try_get(&paths[i]);
		if (!conn)
			continue;
		if (dafs_requester_outstanding(conn->rq))
			kept = dafs_lease_send_nulls(clnt, conn, true);
		dafs_conn_put(conn);
	}
	return kept;
}

/* Return: in how many jiffies the next NULL is due. */
static long dafs_lease_keep(struct dafs_client *clnt, long third)
{
	unsigned long now = jiffies;
	bool renew = time_after_eq(now, clnt->last_null + third) || READ_ONCE(clnt->hurry);

	if (!dafs_lease_keep_all(clnt, renew))
		return DAFS_LEASE_RETRY;
	if (renew) {
		clnt->last_null = now;
		WRITE_ONCE(clnt->hurry, false);
	}
	return clnt->last_null + third - jiffies;
}

static void dafs_lease_work(struct work_struct *work)
{
	struct dafs_client *clnt = container_of(to_delayed_work(work), struct dafs_client, keep);
	long third = (long)READ_ONCE(clnt->lease) * HZ / 3, delay = third;
	unsigned int flags;

	/* the queue also ends connections, which memory reclaim may wait for */
	flags = memalloc_nofs_save();
	if (dafs_session_is_up(clnt->ses))
		delay = dafs_lease_keep(clnt, third);
	memalloc_nofs_restore(flags);
	/* at the latest for the next credits to be returned */
	queue_delayed_work(dafs_session_wq, &clnt->keep, clamp(delay, 1L, DAFS_HOUSEKEEPING));
}

/**
 * dafs_lease_begin() - keep the lease of a client from now on
 * @clnt: the client, connected
 *
 * Context: any.
 */
void dafs_lease_begin(struct dafs_client *clnt)
{
	clnt->lease = DAFS_LEASE;
	clnt->last_null = jiffies;
	clnt->renewed = ktime_get_coarse_boottime();
	INIT_DELAYED_WORK(&clnt->keep, dafs_lease_work);
	queue_delayed_work(dafs_session_wq, &clnt->keep, DAFS_HOUSEKEEPING);
	/* pairs with dafs_lease_hurry() */
	smp_store_release(&clnt->keeping, true);
}

/**
 * dafs_lease_hurry() - a client is connected again: renew the lease at once if it has run out
 * @clnt: the client
 *
 * Context: any; not while the client is destroyed.
 */
void dafs_lease_hurry(struct dafs_client *clnt)
{
	if (dafs_client_has_lease(clnt))
		return;
	WRITE_ONCE(clnt->hurry, true);
	/* pairs with dafs_lease_begin(); before that it has just connected */
	if (smp_load_acquire(&clnt->keeping))
		mod_delayed_work(dafs_session_wq, &clnt->keep, 0);
}

/**
 * dafs_client_set_lease() - how long the server bears with silence
 * @clnt: the client
 * @seconds: the attribute LEASE_TIME of one of its file systems
 *
 * Context: any; not while the client is destroyed.
 */
void dafs_client_set_lease(struct dafs_client *clnt, u32 seconds)
{
	seconds = clamp(seconds, 1U, DAFS_LEASE_MAX);
	if (READ_ONCE(clnt->lease) == seconds)
		return;
	WRITE_ONCE(clnt->lease, seconds);
	mod_delayed_work(dafs_session_wq, &clnt->keep, 0);
}
