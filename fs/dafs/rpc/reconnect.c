// SPDX-License-Identifier: GPL-2.0
/*
 * A session is given another connection when it has lost one.
 *
 * A connection on which the server returns another client-id than before has
 * nothing of what this client had: the server has restarted, or discarded the
 * client.  Then its users get it back, see recover.c, before that connection becomes
 * the current one and others can send on it (4.4.1.6).
 *
 * A hard mount waits in DOWN for ever, a soft one until so many attempts
 * have failed.  Either says so in the log once, and once when it is over.
 */
#include <linux/random.h>
#include <linux/sched/mm.h>
#include "rpc_impl.h"

#define DAFS_BACKOFF_MIN_MS	500U
#define DAFS_BACKOFF_MAX_MS	10000U
#define DAFS_STEADY		(10 * HZ)	/* a connection that lasts so long is one */

/* The first failure and the recovery are worth a line each, nothing else is. */
static void dafs_session_log_down(struct dafs_session *ses, const char *why)
{
	const struct dafs_client_params *params = &ses->clnt->params;
	bool said;

	spin_lock_irq(&ses->lock);
	said = ses->logged_down;
	ses->logged_down = true;
	spin_unlock_irq(&ses->lock);
	if (said)
		return;
	pr_notice("dafs: server %pISpc: %s, %s\n", &params->dst, why,
		  READ_ONCE(params->soft) ? "trying again for a while" : "trying again");
}

/*
 * Doubles from attempt to attempt, with jitter so that clients spread out.  A server that has
 * restarted waits for its clients as long as a lease (4.4.1.2): there are several attempts in
 * that time, or what a client had would be lost.
 */
static unsigned long dafs_session_backoff(struct dafs_session *ses, unsigned int attempt)
{
	unsigned int quarter = READ_ONCE(ses->clnt->lease) * (MSEC_PER_SEC / 4);
	unsigned int most = clamp(quarter, DAFS_BACKOFF_MIN_MS, DAFS_BACKOFF_MAX_MS);
	unsigned int ms = min(DAFS_BACKOFF_MIN_MS << min(attempt, 5U), most);

	return msecs_to_jiffies(ms / 2 + get_random_u32_below(ms / 2 + 1));
}

/*
 * At once, but for a server that takes every connection only to lose it again:
 * otherwise that would keep both sides busy with nothing else.
 */
static unsigned long dafs_session_flap(struct dafs_session *ses)
{
	lockdep_assert_held(&ses->lock);
	if (time_after(jiffies, ses->up_at + DAFS_STEADY))
		ses->flaps = 0;
	return ses->flaps++ ? dafs_session_backoff(ses, ses->flaps - 2) : 0;
}

/**
 * dafs_session_lost() - a connection is gone, and a new one is wanted
 * @ses: session
 * @conn: the connection; what was outstanding on it has failed.  If it is not the
 *	current one, this does nothing.
 *
 * Context: may sleep.
 */
void dafs_session_lost(struct dafs_session *ses, struct dafs_conn *conn)
{
	struct dafs_conn *was = dafs_session_detach(ses, conn, DAFS_SES_DOWN);

	if (!was)
		return;
	dafs_session_log_down(ses, dafs_chan_why(was->op));
	spin_lock_irq(&ses->lock);
	ses->attempts = 0;
	/* a session becomes DEAD before the work is cancelled */
	if (ses->state == DAFS_SES_DOWN)
		queue_delayed_work(dafs_reconnect_wq, &ses->reconnect, dafs_session_flap(ses));
	spin_unlock_irq(&ses->lock);
	dafs_conn_put(was);
}

static void dafs_session_attempt_failed(struct dafs_session *ses)
{
	spin_lock_irq(&ses->lock);
	ses->attempts++;
	if (ses->state == DAFS_SES_DOWN)
		queue_delayed_work(dafs_reconnect_wq, &ses->reconnect,
				   dafs_session_backoff(ses, ses->attempts));
	dafs_session_wake(ses);
	spin_unlock_irq(&ses->lock);
}

/**
 * dafs_session_connect() - connect a session that has no connection
 * @ses: session
 *
 * Context: may sleep; a fatal signal ends it.
 * Return: 0, or a negative errno as dafs_client_create().
 */
int dafs_session_connect(struct dafs_session *ses)
{
	struct dafs_conn *conn = dafs_conn_create(ses);
	int err;

	if (IS_ERR(conn))
		return PTR_ERR(conn);
	err = dafs_client_recover(ses->clnt, conn);
	if (!err)
		err = dafs_session_attach(ses, conn);
	if (err)
		dafs_session_part(ses, conn);
	return err;
}

/**
 * dafs_session_reconnect() - connect a session that has lost its connection
 * @work: its reconnect work
 *
 * Context: dafs_reconnect_wq.
 */
void dafs_session_reconnect(struct work_struct *work)
{
	struct dafs_session *ses = container_of(to_delayed_work(work),
						struct dafs_session, reconnect);
	struct dafs_client *clnt = ses->clnt;
	unsigned int flags;

	if (READ_ONCE(ses->state) != DAFS_SES_DOWN)
		return;
	/* reclaim must not wait for write-back by this very session */
	flags = memalloc_nofs_save();
	if (dafs_session_connect(ses)) {
		dafs_session_attempt_failed(ses);
	} else {
		WRITE_ONCE(clnt->reconnects, clnt->reconnects + 1);
		dafs_lease_hurry(clnt);
	}
	memalloc_nofs_restore(flags);
}
