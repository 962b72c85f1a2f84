// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of an open, and its work item.
 *
 * What is to be done for an open in the background, that is, a reclaim or a CLOSE, is done
 * step by step.  A step waits for a response, but for no connection, and not for as long as
 * a server may ask for: so many as there are opens would be in the way of what is behind
 * them in the queue.
 */
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include "open_impl.h"

/* Attempts at a CLOSE without memory, in some seconds */
#define DAFS_OPEN_NOMEM_TRIES	6

/**
 * dafs_open_state_free() - free an open, for kref_put()
 * @kref: that of the open
 *
 * Context: any.
 */
void dafs_open_state_free(struct kref *kref)
{
	struct dafs_open_state *os = container_of(kref, struct dafs_open_state, kref);

	put_cred(os->cred);
	kfree(os);
}

static void dafs_open_state_queue(struct dafs_open_state *os, unsigned int delay_ms)
{
	queue_delayed_work(os->sbi->clnt->retry_wq, &os->work, msecs_to_jiffies(delay_ms));
}

static void dafs_open_state_unparked(struct dafs_park *park)
{
	dafs_open_state_queue(container_of(park, struct dafs_open_state, park), 0);
}

/**
 * dafs_open_state_start() - begin what is to be done in the background
 * @os: the open
 *
 * The caller passes a reference of @os->kref, and one of the mount.
 *
 * Context: any.
 */
void dafs_open_state_start(struct dafs_open_state *os)
{
	os->delay_ms = 0;
	os->gone = 0;
	os->nomem = 0;
	os->unanswered = false;
	os->forced = READ_ONCE(os->sbi->forced);
	dafs_open_state_queue(os, 0);
}

/**
 * dafs_open_state_finish() - nothing is left to be done in the background
 * @os: the open; gives back the references of dafs_open_state_start()
 *
 * Context: any but interrupt.
 */
void dafs_open_state_finish(struct dafs_open_state *os)
{
	struct dafs_sb_info *sbi = os->sbi;

	kref_put(&os->kref, dafs_open_state_free);
	dafs_async_end(sbi);
}

/*
 * Nobody waits for it, and a soft mount does not give it up either: the server would keep it open
 * for as long as it knows the client.
 */
static bool dafs_open_state_ends(const struct dafs_open_state *os)
{
	return READ_ONCE(os->closing) || READ_ONCE(os->lost);
}

/* A step has failed: may the next one succeed? */
static bool dafs_open_state_may_go_on(struct dafs_open_state *os, int err, dafs_status_t status)
{
	const struct dafs_sb_info *sbi = os->sbi;
	enum dafs_action action = dafs_status_action(status);

	if (err == -ENOTCONN)
		return dafs_open_state_ends(os) || !dafs_client_gives_up(sbi->clnt, &os->gone);
	if (READ_ONCE(sbi->leaving))
		return false;
	/* this is no task's: others were killed that registered the user for it */
	if (err == -ERESTARTSYS)
		return true;
	/* the mount may stay, and then the server should not keep it open, if nobody uses it */
	if (!READ_ONCE(os->closing) && !READ_ONCE(os->lost) &&
	    os->forced != READ_ONCE(sbi->forced))
		return false;
	if (action == DAFS_ACT_LATER)
		return true;
	/* who waits for a reclaim asks for it again */
	return (err == -ENOMEM || action == DAFS_ACT_MEMORY) && READ_ONCE(os->closing) &&
	       ++os->nomem < DAFS_OPEN_NOMEM_TRIES;
}

/**
 * dafs_open_state_step() - a step in the background; if it fails, is there a next one?
 * @os: the open
 * @step: what to do on a connection; sets the status if it does not return 0
 *
 * Context: may sleep; clnt->retry_wq.
 * Return: what it ended with, or -EINPROGRESS: it goes on later, and @os may be gone.
 */
int dafs_open_state_step(struct dafs_open_state *os,
			 int (*step)(struct dafs_open_state *os, struct dafs_conn *conn,
				     dafs_status_t *status))
{
	struct dafs_conn *conn;
	dafs_status_t status;
	int err;

	os->park.patient = dafs_open_state_ends(os);
	conn = dafs_conn_get_or_park(os->sbi->clnt, &os->park);
	if (IS_ERR_OR_NULL(conn))
		return conn ? PTR_ERR(conn) : -EINPROGRESS;
	err = step(os, conn, &status);
	dafs_conn_put(conn);
	if (!err)
		return 0;
	if (!dafs_open_state_may_go_on(os, err, status))
		return err == -ENOTCONN ? -ETIMEDOUT : err;
	os->delay_ms = dafs_next_delay(os->delay_ms);
	dafs_open_state_queue(os, os->delay_ms);
	return -EINPROGRESS;
}

static void dafs_open_state_work(struct work_struct *work)
{
	struct dafs_open_state *os = container_of(to_delayed_work(work),
						  struct dafs_open_state, work);
	/* write-back may wait for it */
	unsigned int flags = memalloc_nofs_save();

	if (READ_ONCE(os->reclaiming))
		dafs_open_state_reclaim_on(os);
	else
		dafs_open_state_close_on(os);
	memalloc_nofs_restore(flags);
}

/**
 * dafs_open_state_alloc() - an open that the server does not have yet
 * @sbi: the mount
 * @access: DAFS_OPEN_SHARE_ACCESS_*
 * @cred: for whom
 *
 * It has an owner of its own, because the server would merge two opens of one owner and end
 * both by the first CLOSE (6.5.24).
 *
 * Context: may sleep.
 * Return: the open, with one user and one reference of its memory, or NULL.
 */
struct dafs_open_state *dafs_open_state_alloc(struct dafs_sb_info *sbi, u32 access,
					      const struct cred *cred)
{
	struct dafs_open_state *os = kzalloc(sizeof(*os), GFP_KERNEL);

	if (!os)
		return NULL;
	refcount_set(&os->ref, 1);
	kref_init(&os->kref);
	INIT_LIST_HEAD(&os->link);
	INIT_LIST_HEAD(&os->all_link);
	os->sbi = sbi;
	os->cred = get_cred(cred);
	os->access = access;
	snprintf(os->owner, sizeof(os->owner), "%016llx:%llx", sbi->owner_seed,
		 (u64)atomic64_inc_return(&sbi->owner_next));
	INIT_LIST_HEAD(&os->reservations);
	mutex_init(&os->reserve_lock);
	spin_lock_init(&os->lock);
	os->reserved.keyed = sbi->opts.keyed;
	os->reserved.share_key = sbi->opts.share_key;
	INIT_LIST_HEAD(&os->reclaims);
	INIT_DELAYED_WORK(&os->work, dafs_open_state_work);
	os->park.resume = dafs_open_state_unparked;
	os->park.leave = &sbi->leaving;
	return os;
}
