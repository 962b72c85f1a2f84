// SPDX-License-Identifier: GPL-2.0
/*
 * A path is given another connection when it has lost one.
 *
 * A connection on which the server returns another client-id than before has
 * nothing of what this client had: the server has restarted, or discarded the
 * client.  Then its users get it back, see recover.c, before that connection becomes
 * the current one and others can send on it (4.4.1.6).
 *
 * A hard mount waits in DOWN for ever, a soft one until so many attempts
 * have failed.  Either says so in the log once, and once when it is over.
 */
#include <linux/sched/mm.h>
#include "rpc_impl.h"

#define DAFS_PROOF_MS		5000U
#define DAFS_STEADY		(10 * HZ)	/* a connection that lasts so long is one */

/* The first failure and the recovery are worth a line each, nothing else is. */
static void dafs_path_log_down(struct dafs_path *path, const char *why)
{
	const struct dafs_client_params *params = &path->ses->clnt->params;
	bool said, other;

	spin_lock_irq(&path->ses->lock);
	said = path->logged_down;
	path->logged_down = true;
	other = dafs_path_other(path);
	spin_unlock_irq(&path->ses->lock);
	if (said)
		return;
	pr_notice("dafs: server %pISpc: %s, %s\n", &path->at, why,
		  other ? "going on by another path" :
		  READ_ONCE(params->soft) ? "trying again for a while" : "trying again");
}

static unsigned long dafs_path_backoff(const struct dafs_path *path, unsigned int attempt)
{
	return dafs_backoff(READ_ONCE(path->ses->clnt->lease), attempt);
}

/*
 * At once, but for a server that takes every connection only to lose it again:
 * otherwise that would keep both sides busy with nothing else.
 */
static unsigned long dafs_path_flap(struct dafs_path *path)
{
	lockdep_assert_held(&path->ses->lock);
	if (time_after(jiffies, path->up_at + DAFS_STEADY))
		path->flaps = 0;
	return path->flaps++ ? dafs_path_backoff(path, path->flaps - 2) : 0;
}

/* A path is not used any more before its work is cancelled. */
static void dafs_path_retry_in(struct dafs_path *path, unsigned long delay)
{
	if (dafs_path_used(path))
		queue_delayed_work(dafs_reconnect_wq, &path->reconnect, delay);
}

/**
 * dafs_path_lost() - a connection is gone, and a new one is wanted
 * @path: the path
 * @conn: the connection; what was outstanding on it has failed.  If it is not the
 *	current one, this does nothing.
 *
 * Context: may sleep.
 */
void dafs_path_lost(struct dafs_path *path, struct dafs_conn *conn)
{
	struct dafs_conn *was = dafs_path_detach(path, conn);

	if (!was)
		return;
	dafs_path_log_down(path, dafs_chan_why(was->op));
	spin_lock_irq(&path->ses->lock);
	path->attempts = 0;
	dafs_path_retry_in(path, dafs_path_flap(path));
	spin_unlock_irq(&path->ses->lock);
	dafs_conn_put(was);
}

static void dafs_path_attempt_failed(struct dafs_path *path)
{
	struct dafs_session *ses = path->ses;
	unsigned int places = dafs_path_places(path);
	unsigned int round;

	spin_lock_irq(&ses->lock);
	/* after the address of before, all of them one after the other, and then a pause */
	round = path->attempts % places ? 0 : path->attempts / places + 1;
	path->attempts++;
	dafs_path_retry_in(path, dafs_path_backoff(path, round));
	dafs_session_wake(ses);
	spin_unlock_irq(&ses->lock);
}

/* Connections to what the server was before it has restarted, or others have taken over. */
static void dafs_session_leave_former(struct dafs_session *ses, const struct dafs_conn *conn)
{
	unsigned int i;

	spin_lock_irq(&ses->lock);
	for (i = 0; i < ses->nr_paths; i++) {
		struct dafs_conn *old = ses->paths[i].conn;

		if (old && !dafs_opaque64_equal(&old->client_id, &conn->client_id))
			dafs_conn_failed(old);
	}
	spin_unlock_irq(&ses->lock);
}

/* An alternate is for when the server is away. */
static bool dafs_path_is_astray(const struct dafs_path *path)
{
	const struct dafs_path *other;
	bool astray;

	spin_lock_irq(&path->ses->lock);
	other = dafs_path_other(path);
	astray = other && !dafs_addr_equal(&other->at, &path->at) && dafs_path_own_nr(path) < 0;
	spin_unlock_irq(&path->ses->lock);
	return astray;
}

/* Is it where the client was served before?  Then it is the same server, which has restarted. */
static bool dafs_path_is_known(const struct dafs_path *path)
{
	const struct dafs_session *ses = path->ses;
	bool known;
	int own;

	spin_lock_irq(&path->ses->lock);
	own = dafs_path_own_nr(path);
	known = dafs_addr_equal(&path->at, &ses->served_by) ||
		(own >= 0 && ses->known & BIT(own));
	spin_unlock_irq(&path->ses->lock);
	return known;
}

/* Others wait for it, so a server that does not answer has little time. */
static int dafs_path_prove(struct dafs_path *path, struct dafs_conn *conn, bool any)
{
	int err;

	dafs_requester_set_timeout(conn->rq, DAFS_PROOF_MS, DAFS_PROOF_MS);
	err = dafs_client_prove(path->ses->clnt, conn, any);
	dafs_session_set_timeout(path->ses, conn->rq);
	return err;
}

/*
 * A connection may have waited, and the server restarted meanwhile: the others are not given up for
 * one that is of no use.
 */
static bool dafs_conn_answers(struct dafs_conn *conn)
{
	return dafs_chan_is_open(conn->op) && dafs_conn_notify(conn, DAFS_PROC_NULL, NULL);
}

/* Since the last connection was lost, every place has been tried. */
static bool dafs_path_tried_all(struct dafs_path *path)
{
	return READ_ONCE(path->attempts) >= dafs_path_places(path);
}

/*
 * Does the connection lead to the server that is mounted, or to one that has taken over from it?
 * One with the same client-id is that server; another client-id means that it has restarted, if it
 * is at the same address.  An alternate that has all mounts is preferred to a restarted server that
 * lacks one; a server that has none of the mounts is not used.
 */
static int dafs_path_check(struct dafs_path *path, struct dafs_conn *conn)
{
	struct dafs_session *ses = path->ses;

	if (dafs_client_is(ses->clnt, &conn->client_id))
		return 0;
	if (dafs_path_is_astray(path))
		return -ESTALE;
	if (!dafs_path_is_known(path))
		return dafs_path_prove(path, conn, false);
	/* another server may have taken over; if all were tried, one of the mounts is enough */
	if (dafs_client_alternates(ses->clnt))
		return dafs_path_prove(path, conn, dafs_path_tried_all(path));
	return !dafs_session_is_up(ses) || dafs_conn_answers(conn) ? 0 : -ENOTCONN;
}

/*
 * The server has ended the session before this one, and is to end this one.  Return: -ESHUTDOWN, or
 * -ESTALE if it may be another server, which has not.
 */
static int dafs_path_say_goodbye(struct dafs_path *path, struct dafs_conn *conn)
{
	if (!dafs_client_is(path->ses->clnt, &conn->client_id) && !dafs_path_is_known(path))
		return -ESTALE;
	dafs_conn_notify(conn, DAFS_PROC_DISCONNECT, NULL);
	spin_lock_irq(&path->ses->lock);
	path->leaving = false;
	path->owes = false;
	spin_unlock_irq(&path->ses->lock);
	return -ESHUTDOWN;
}

/* Return: 0, and @conn is in use; or a negative errno. */
static int dafs_path_use(struct dafs_path *path, struct dafs_conn *conn)
{
	struct dafs_session *ses = path->ses;
	int err;

	guard(mutex)(&ses->connecting);
	if (READ_ONCE(path->leaving))
		return dafs_path_say_goodbye(path, conn);
	err = dafs_path_check(path, conn);
	if (err)
		return err;
	dafs_session_leave_former(ses, conn);
	/* the path may lose it, and drop its reference, as soon as it has it */
	kref_get(&conn->ref);
	err = dafs_client_recover(ses->clnt, conn) ?: dafs_path_attach(path, conn);
	if (!err)
		dafs_client_recover_rest(ses->clnt, conn);
	dafs_conn_put(conn);
	return err;
}

/**
 * dafs_path_connect() - connect a path that has no connection
 * @path: the path
 *
 * Context: may sleep; a fatal signal ends it.
 * Return: 0, or a negative errno as dafs_client_create().
 */
int dafs_path_connect(struct dafs_path *path)
{
	struct dafs_conn *conn;
	int err;

	dafs_path_aim(path);
	conn = dafs_conn_create(path);
	if (IS_ERR(conn))
		return PTR_ERR(conn);
	err = dafs_path_use(path, conn);
	if (err)
		dafs_path_part(path, conn);
	return err;
}

/* The client has another connection than before; the first one by a path is not counted. */
static void dafs_path_back(struct dafs_path *path, bool had)
{
	struct dafs_client *clnt = path->ses->clnt;

	spin_lock_irq(&path->ses->lock);
	path->reconnects += had;
	WRITE_ONCE(clnt->reconnects, clnt->reconnects + had);
	spin_unlock_irq(&path->ses->lock);
	dafs_formers_discard(path);
	dafs_lease_hurry(clnt);
}

/**
 * dafs_path_reconnect() - connect a path that has lost its connection
 * @work: its reconnect work
 *
 * Context: dafs_reconnect_wq.
 */
void dafs_path_reconnect(struct work_struct *work)
{
	struct dafs_path *path = container_of(to_delayed_work(work), struct dafs_path, reconnect);
	bool had = READ_ONCE(path->had);
	unsigned int flags;

	if (READ_ONCE(path->conn))
		return;
	/* reclaim must not wait for write-back by this very session */
	flags = memalloc_nofs_save();
	if (dafs_path_connect(path))
		dafs_path_attempt_failed(path);
	else
		dafs_path_back(path, had);
	memalloc_nofs_restore(flags);
}
