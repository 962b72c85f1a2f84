// SPDX-License-Identifier: GPL-2.0
/*
 * A session that outlives its connections (3.1.2.5).
 *
 *	DOWN	no connection; the reconnect work tries, with back-off
 *	UP	calls go to clnt->conn
 *	DEAD	shut down; every call fails
 *
 * A connection on which the server returns another client-id than before has
 * nothing of what this client had: the server has restarted, or discarded the
 * client.  Then its users get it back, see recover.c, before that connection becomes
 * the current one and others can send on it (4.4.1.6).
 *
 * Everything that is sent renews the client's lease; each session sends a NULL
 * for every third of it in any case (4.4.1.1).  So one may be late by as much, and
 * what the way takes does not matter.
 *
 * A hard session waits in DOWN for ever, a soft one until so many attempts
 * have failed.  Either says so in the log once, and once when it is over.
 */
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include <linux/utsname.h>
#include <linux/dafs/stats.h>
#include <net/net_namespace.h>
#include "rpc_impl.h"
#include "trace.h"

#define DAFS_BACKOFF_MIN_MS	500
#define DAFS_BACKOFF_MAX_MS	10000
#define DAFS_STEADY		(10 * HZ)	/* a connection that lasts so long is one */
#define DAFS_HOUSEKEEPING	(5L * HZ)
#define DAFS_LEASE		90U		/* seconds, until the server has told */
#define DAFS_LEASE_MAX		3600U		/* what it may tell */
#define DAFS_DISCONNECT_WAIT		(5 * HZ)	/* for an unneeded response */
#define DAFS_NULLS		32U		/* sent in one round of housekeeping */
#define DAFS_CRED_IDLE		(600 * HZ)	/* after it a credential handle is released */

/* All sessions of this machine are one client: one id, one verifier (2.4.3). */
static siphash_key_t dafs_instance_key;
static u64 dafs_machine;
static struct dafs_verifier dafs_client_verifier;

struct workqueue_struct *dafs_session_wq;
/* of its own: all else may wait for it */
struct workqueue_struct *dafs_recover_wq;
/* of its own: it waits for calls, which the end of a connection must be able to fail */
static struct workqueue_struct *dafs_reconnect_wq;

static const u8 dafs_session_next[] = {
	[DAFS_SES_DOWN]	= BIT(DAFS_SES_UP) | BIT(DAFS_SES_DEAD),
	[DAFS_SES_UP]	= BIT(DAFS_SES_DOWN) | BIT(DAFS_SES_DEAD),
	[DAFS_SES_DEAD]	= 0,
};

/**
 * dafs_session_state_name() - the state of a session for people
 * @clnt: the client
 *
 * Context: any.
 * Return: a constant string.
 */
const char *dafs_session_state_name(const struct dafs_client *clnt)
{
	static const char * const names[] = {
		[DAFS_SES_DOWN]	= "down",
		[DAFS_SES_UP]	= "up",
		[DAFS_SES_DEAD]	= "dead",
	};

	return names[READ_ONCE(clnt->state)];
}

static bool dafs_session_set_state(struct dafs_client *clnt, enum dafs_session_state next)
{
	lockdep_assert_held(&clnt->lock);
	if (!(dafs_session_next[clnt->state] & BIT(next)))
		return false;
	trace_dafs_session_state(clnt, next);
	clnt->state = next;
	return true;
}

/**
 * dafs_session_joining() - a connection is being made
 * @clnt: client
 * @conn: the connection; dafs_client_shutdown() does not wait for its end
 *
 * Context: any but interrupt.
 * Return: 0, or -ESHUTDOWN if the session is dead.
 */
int dafs_session_joining(struct dafs_client *clnt, struct dafs_conn *conn)
{
	int err = 0;

	spin_lock_irq(&clnt->lock);
	if (clnt->state == DAFS_SES_DEAD)
		err = -ESHUTDOWN;
	else
		clnt->joining = conn;
	spin_unlock_irq(&clnt->lock);
	return err;
}

/**
 * dafs_session_part() - a connection being made did not become anything
 * @clnt: client
 * @conn: from dafs_session_joining(); it is ended, and the caller's reference
 *	dropped
 *
 * Context: may sleep.
 */
void dafs_session_part(struct dafs_client *clnt, struct dafs_conn *conn)
{
	spin_lock_irq(&clnt->lock);
	clnt->joining = NULL;
	spin_unlock_irq(&clnt->lock);
	dafs_conn_drop(conn);
}

/**
 * dafs_session_set_timeout() - how long a server may take to answer
 * @clnt: client
 * @rq: requester of one of its connections, which has a session at the server
 *
 * A hard session waits for as long as the connection gives signs of life.
 *
 * Context: any.
 */
void dafs_session_set_timeout(const struct dafs_client *clnt, struct dafs_requester *rq)
{
	unsigned int timeo = READ_ONCE(clnt->params.timeo_ms);
	unsigned int tries = READ_ONCE(clnt->params.retrans) + 1;

	dafs_requester_set_timeout(rq, timeo, READ_ONCE(clnt->params.soft) ? timeo * tries : 0);
}

/*
 * Makes @conn the current connection; the session takes over the caller's
 * reference.  Fails if it is lost already or the session is dead.
 */
static int dafs_session_attach(struct dafs_client *clnt, struct dafs_conn *conn)
{
	bool say = false;
	int err = 0;

	spin_lock_irq(&clnt->lock);
	if (!dafs_chan_is_open(conn->op))
		err = -ENOTCONN;
	else if (!dafs_session_set_state(clnt, DAFS_SES_UP))
		err = -ESHUTDOWN;
	if (!err) {
		clnt->conn = conn;
		clnt->joining = NULL;
		clnt->up_at = jiffies;
		say = clnt->logged_down;
		clnt->logged_down = false;
		clnt->fail_waiters = false;
		WRITE_ONCE(clnt->attempts, 0);
		dafs_session_set_timeout(clnt, conn->rq);
		dafs_session_wake(clnt);
	}
	spin_unlock_irq(&clnt->lock);
	if (say)
		pr_notice("dafs: server %pISpc: connected again\n", &clnt->params.dst);
	return err;
}

/* Return: the connection that was current, with its reference, or NULL. */
static struct dafs_conn *dafs_session_detach(struct dafs_client *clnt, struct dafs_conn *conn,
					     enum dafs_session_state next)
{
	struct dafs_conn *was = NULL;

	spin_lock_irq(&clnt->lock);
	if (!conn || clnt->conn == conn) {
		was = clnt->conn;
		clnt->conn = NULL;
		dafs_session_set_state(clnt, next);
		dafs_session_wake(clnt);
	}
	spin_unlock_irq(&clnt->lock);
	return was;
}

/* The first failure and the recovery are worth a line each, nothing else is. */
static void dafs_session_log_down(struct dafs_client *clnt, const char *why)
{
	bool said;

	spin_lock_irq(&clnt->lock);
	said = clnt->logged_down;
	clnt->logged_down = true;
	spin_unlock_irq(&clnt->lock);
	if (said)
		return;
	pr_notice("dafs: server %pISpc: %s, %s\n", &clnt->params.dst, why,
		  READ_ONCE(clnt->params.soft) ? "trying again for a while" : "trying again");
}

/* Doubles from attempt to attempt, with jitter so that clients spread out. */
static unsigned long dafs_session_backoff(unsigned int attempt)
{
	unsigned int shift = min(attempt, 5U);
	unsigned int ms = min(DAFS_BACKOFF_MIN_MS << shift, DAFS_BACKOFF_MAX_MS);

	return msecs_to_jiffies(ms / 2 + get_random_u32_below(ms / 2 + 1));
}

/*
 * At once, but for a server that takes every connection only to lose it again:
 * otherwise that would keep both sides busy with nothing else.
 */
static unsigned long dafs_session_flap(struct dafs_client *clnt)
{
	lockdep_assert_held(&clnt->lock);
	if (time_after(jiffies, clnt->up_at + DAFS_STEADY))
		clnt->flaps = 0;
	return clnt->flaps++ ? dafs_session_backoff(clnt->flaps - 2) : 0;
}

/**
 * dafs_session_lost() - a connection is gone, and a new one is wanted
 * @clnt: client
 * @conn: the connection; what was outstanding on it has failed.  If it is not the
 *	current one, this does nothing.
 *
 * Context: may sleep.
 */
void dafs_session_lost(struct dafs_client *clnt, struct dafs_conn *conn)
{
	struct dafs_conn *was = dafs_session_detach(clnt, conn, DAFS_SES_DOWN);

	if (!was)
		return;
	dafs_session_log_down(clnt, dafs_chan_why(was->op));
	spin_lock_irq(&clnt->lock);
	WRITE_ONCE(clnt->attempts, 0);
	/* dafs_client_destroy() makes it DEAD before it cancels the work */
	if (clnt->state == DAFS_SES_DOWN)
		queue_delayed_work(dafs_reconnect_wq, &clnt->reconnect, dafs_session_flap(clnt));
	spin_unlock_irq(&clnt->lock);
	dafs_conn_put(was);
}

static void dafs_session_attempt_failed(struct dafs_client *clnt)
{
	spin_lock_irq(&clnt->lock);
	WRITE_ONCE(clnt->attempts, clnt->attempts + 1);
	if (clnt->state == DAFS_SES_DOWN)
		queue_delayed_work(dafs_reconnect_wq, &clnt->reconnect,
				   dafs_session_backoff(clnt->attempts));
	dafs_session_wake(clnt);
	spin_unlock_irq(&clnt->lock);
}

static int dafs_session_connect(struct dafs_client *clnt)
{
	struct dafs_conn *conn = dafs_conn_create(clnt);
	int err;

	if (IS_ERR(conn))
		return PTR_ERR(conn);
	err = dafs_session_recover(clnt, conn);
	if (!err)
		err = dafs_session_attach(clnt, conn);
	if (err)
		dafs_session_part(clnt, conn);
	return err;
}

static void dafs_session_reconnect(struct work_struct *work)
{
	struct dafs_client *clnt = container_of(to_delayed_work(work),
						struct dafs_client, reconnect);
	unsigned int flags;

	if (READ_ONCE(clnt->state) != DAFS_SES_DOWN)
		return;
	/* reclaim must not wait for write-back by this very session */
	flags = memalloc_nofs_save();
	if (dafs_session_connect(clnt))
		dafs_session_attempt_failed(clnt);
	else
		WRITE_ONCE(clnt->reconnects, clnt->reconnects + 1);
	memalloc_nofs_restore(flags);
}

/*
 * A NULL if the lease has to be renewed, and as many as give the server its buffers
 * back: a number that the server chose, so not all at one go.
 */
static void dafs_session_send_nulls(struct dafs_conn *conn, bool renew)
{
	unsigned int nr = 0;

	while (nr < DAFS_NULLS && (renew || dafs_requester_surplus(conn->rq)) &&
	       dafs_conn_notify(conn, DAFS_PROC_NULL, NULL)) {
		renew = false;
		nr++;
	}
}

/* A third of the lease, in jiffies */
static long dafs_session_third(const struct dafs_client *clnt)
{
	return (long)READ_ONCE(clnt->lease) * HZ / 3;
}

static void dafs_session_keep(struct work_struct *work)
{
	struct dafs_client *clnt = container_of(to_delayed_work(work),
						struct dafs_client, keep);
	struct dafs_conn *conn = dafs_conn_try_get(clnt);
	long third = dafs_session_third(clnt), delay = third;
	unsigned int flags;
	bool renew;

	/* the queue also ends connections, which memory reclaim may wait for */
	flags = memalloc_nofs_save();
	if (!IS_ERR_OR_NULL(conn)) {
		dafs_requester_trim(conn->rq);
		dafs_cred_cache_age(clnt, conn, DAFS_CRED_IDLE);
		renew = time_after_eq(jiffies, clnt->last_null + third);
		/* where no slot is free for it, other requests renew the lease */
		if (renew)
			clnt->last_null = jiffies;
		dafs_session_send_nulls(conn, renew);
		delay = clnt->last_null + third - jiffies;
		dafs_conn_put(conn);
	}
	memalloc_nofs_restore(flags);
	/* at the latest for the next credits to be returned */
	queue_delayed_work(dafs_session_wq, &clnt->keep, clamp(delay, 1L, DAFS_HOUSEKEEPING));
}

/**
 * dafs_client_set_lease() - how long the server bears with silence
 * @clnt: the client
 * @seconds: the attribute LEASE_TIME of one of its file systems
 *
 * Context: any; not while the session is destroyed.
 */
void dafs_client_set_lease(struct dafs_client *clnt, u32 seconds)
{
	seconds = clamp(seconds, 1U, DAFS_LEASE_MAX);
	if (READ_ONCE(clnt->lease) == seconds)
		return;
	WRITE_ONCE(clnt->lease, seconds);
	mod_delayed_work(dafs_session_wq, &clnt->keep, 0);
}
EXPORT_SYMBOL_IF_KUNIT(dafs_client_set_lease);

/* Nothing is waited for any more. */
static bool dafs_session_no_wait(const struct dafs_client *clnt)
{
	return clnt->state == DAFS_SES_DEAD || clnt->fail_waiters ||
	       (clnt->params.soft && clnt->attempts >= clnt->params.retrans);
}

/**
 * dafs_session_must_wait() - is there no connection now, but may be later?
 * @clnt: the session, locked
 *
 * Context: any.
 * Return: true if so.
 */
bool dafs_session_must_wait(const struct dafs_client *clnt)
{
	lockdep_assert_held(&clnt->lock);
	/* one that failed is current until its end is seen to; nothing shall spin on it */
	if (clnt->conn && dafs_chan_is_open(clnt->conn->op))
		return false;
	return !dafs_session_no_wait(clnt);
}

/**
 * dafs_conn_try_get() - the current connection, if there is one
 * @clnt: the client
 *
 * Context: any.
 * Return: the connection with a reference, NULL while there is none, or an
 * ERR_PTR of -EIO on a dead session, -ETIMEDOUT on a soft one that gave up.
 */
struct dafs_conn *dafs_conn_try_get(struct dafs_client *clnt)
{
	struct dafs_conn *conn;
	unsigned long flags;

	spin_lock_irqsave(&clnt->lock, flags);
	conn = clnt->conn;
	if (conn && !dafs_chan_is_open(conn->op))
		conn = NULL;
	if (conn)
		kref_get(&conn->ref);
	else if (dafs_session_no_wait(clnt))
		conn = ERR_PTR(clnt->state == DAFS_SES_DEAD || clnt->fail_waiters ?
			       -EIO : -ETIMEDOUT);
	spin_unlock_irqrestore(&clnt->lock, flags);
	return conn;
}

/**
 * dafs_exits_while_down() - should this task not wait for the server?
 * @clnt: the client
 *
 * A task that exits takes no signals any more, so it could not be killed out of it.  Nor
 * could a kernel thread, which may have to close the files of others, too.
 *
 * Context: any.
 * Return: true if it is such a task, and the server is away.
 */
bool dafs_exits_while_down(struct dafs_client *clnt)
{
	unsigned long flags;
	bool away;

	if (!(current->flags & (PF_EXITING | PF_KTHREAD)))
		return false;
	spin_lock_irqsave(&clnt->lock, flags);
	away = dafs_session_must_wait(clnt);
	spin_unlock_irqrestore(&clnt->lock, flags);
	return away;
}

/**
 * dafs_client_busy() - would a request have to wait before it is sent?
 * @clnt: the client
 *
 * For those who would rather not; nothing is set aside for them.
 *
 * Context: any.
 * Return: true if there is no connection, or no slot is free on it.
 */
bool dafs_client_busy(struct dafs_client *clnt)
{
	struct dafs_conn *conn = dafs_conn_try_get(clnt);
	bool busy;

	if (IS_ERR_OR_NULL(conn))
		return true;
	busy = dafs_requester_busy(conn->rq);
	dafs_conn_put(conn);
	return busy;
}
EXPORT_SYMBOL_IF_KUNIT(dafs_client_busy);

static bool dafs_left(const bool *leave)
{
	return leave && READ_ONCE(*leave);
}

/**
 * dafs_conn_get_unless() - a connection to send on, or none if it is not worth waiting
 * @clnt: the client
 * @leave: the wait ends when this is true, see dafs_client_look_again(); or NULL
 *
 * Waits as long as the session is told to: a hard one for ever, a soft one
 * until its attempts are used up.  A task that exits could not be killed out of it, so
 * it does not wait, but is told that it was killed.
 *
 * Context: may sleep; a fatal signal ends the wait.
 * Return: the connection with a reference, or an ERR_PTR of -EIO, -ETIMEDOUT
 * or -ERESTARTSYS.
 */
struct dafs_conn *dafs_conn_get_unless(struct dafs_client *clnt, const bool *leave)
{
	struct dafs_conn *conn;
	int err;

	if (dafs_task_exits())
		return dafs_conn_try_get(clnt) ?: ERR_PTR(-ERESTARTSYS);
	err = wait_event_killable(clnt->wait, (conn = dafs_conn_try_get(clnt)) || dafs_left(leave));
	if (err)
		return ERR_PTR(err);
	return conn ?: ERR_PTR(-EIO);
}

/**
 * dafs_conn_get() - a connection to send on
 * @clnt: the client
 *
 * Context: may sleep; a fatal signal ends the wait.
 * Return: as dafs_conn_get_unless().
 */
struct dafs_conn *dafs_conn_get(struct dafs_client *clnt)
{
	return dafs_conn_get_unless(clnt, NULL);
}
EXPORT_SYMBOL_IF_KUNIT(dafs_conn_get);

/* Clients that share a port must differ (E.9): by their id, or by where they run. */
static void dafs_session_set_instance(struct dafs_client *clnt)
{
	u64 id = siphash(clnt->params.client_id, strlen(clnt->params.client_id),
			 &dafs_instance_key);

	id = siphash_2u64(id, clnt->params.net->net_cookie, &dafs_instance_key);
	memcpy(clnt->instance, &id, sizeof(clnt->instance));
}

/* A client-id has one principal (3.1.1.3), so each way to authenticate has its own. */
static void dafs_session_set_client_id(struct dafs_client *clnt)
{
	if (!clnt->params.client_id[0])
		snprintf(clnt->params.client_id, sizeof(clnt->params.client_id),
			 "Linux DAFS %s/%016llx/%u", init_utsname()->nodename, dafs_machine,
			 clnt->params.auth_type);
	clnt->verifier = dafs_client_verifier;
	dafs_session_set_instance(clnt);
	get_random_bytes(clnt->differentiator, sizeof(clnt->differentiator));
}

static struct dafs_client *dafs_session_alloc(const struct dafs_client_params *params)
{
	struct dafs_client *clnt = kzalloc(sizeof(*clnt), GFP_KERNEL);

	if (!clnt)
		return NULL;
	clnt->params = *params;
	dafs_session_set_client_id(clnt);
	clnt->creds = dafs_cred_cache_get(&clnt->params);
	if (!clnt->creds)
		goto free;
	clnt->stats = dafs_stats_alloc();
	if (!clnt->stats)
		goto put_creds;
	clnt->retry_wq = alloc_workqueue("dafs-retry", WQ_MEM_RECLAIM | WQ_UNBOUND, 0);
	if (!clnt->retry_wq)
		goto free_stats;
	clnt->end_wq = alloc_workqueue("dafs-end", WQ_MEM_RECLAIM | WQ_UNBOUND, 0);
	if (!clnt->end_wq)
		goto free_retry_wq;
	/* no memory is freed only by evictions, so this one needs no rescuer's thread */
	clnt->put_wq = alloc_workqueue("dafs-put", WQ_UNBOUND, 0);
	if (!clnt->put_wq)
		goto free_end_wq;
	clnt->commit_wq = alloc_workqueue("dafs-commit", WQ_MEM_RECLAIM | WQ_UNBOUND, 0);
	if (!clnt->commit_wq)
		goto free_put_wq;
	clnt->begun = jiffies;
	clnt->params.net = get_net(params->net);
	clnt->lease = DAFS_LEASE;
	clnt->last_null = jiffies;
	refcount_set(&clnt->users, 1);
	INIT_LIST_HEAD(&clnt->recoverers);
	spin_lock_init(&clnt->lock);
	init_waitqueue_head(&clnt->wait);
	INIT_LIST_HEAD(&clnt->parked);
	INIT_DELAYED_WORK(&clnt->reconnect, dafs_session_reconnect);
	INIT_DELAYED_WORK(&clnt->keep, dafs_session_keep);
	return clnt;

free_put_wq:
	destroy_workqueue(clnt->put_wq);
free_end_wq:
	destroy_workqueue(clnt->end_wq);
free_retry_wq:
	destroy_workqueue(clnt->retry_wq);
free_stats:
	dafs_stats_free(clnt->stats);
put_creds:
	dafs_cred_cache_put(clnt->creds);
free:
	kfree(clnt);
	return NULL;
}

static void dafs_session_free(struct dafs_client *clnt)
{
	wait_event(clnt->wait, !atomic_read(&clnt->nr_conns));
	/* the last connection may still be about to let the lock go */
	spin_lock_irq(&clnt->lock);
	spin_unlock_irq(&clnt->lock);
	destroy_workqueue(clnt->commit_wq);
	destroy_workqueue(clnt->put_wq);
	destroy_workqueue(clnt->end_wq);
	destroy_workqueue(clnt->retry_wq);
	dafs_cred_cache_put(clnt->creds);
	dafs_stats_free(clnt->stats);
	put_net(clnt->params.net);
	kfree(clnt);
}

/**
 * dafs_client_create() - connect to a server and authenticate
 * @params: where to and how
 *
 * The caller is its one user.
 *
 * Context: may sleep; a fatal signal ends it.
 * Return: the session, or an ERR_PTR: those of dafs_chan_connect(),
 * -EPROTONOSUPPORT the server speaks another version, -EACCES it does not
 * accept this client, -EBUSY another client has its id, -EPROTO it answered
 * nonsense, -ETIMEDOUT nothing, -ECONNRESET it hung up.
 */
struct dafs_client *dafs_client_create(const struct dafs_client_params *params)
{
	struct dafs_client *clnt;
	struct dafs_conn *conn;
	int err;

	clnt = dafs_session_alloc(params);
	if (!clnt)
		return ERR_PTR(-ENOMEM);
	conn = dafs_conn_create(clnt);
	if (IS_ERR(conn)) {
		err = PTR_ERR(conn);
		goto free;
	}
	clnt->client_id = conn->client_id;
	err = dafs_session_attach(clnt, conn);
	if (err) {
		dafs_session_part(clnt, conn);
		goto free;
	}
	err = dafs_session_show_in_sysfs(clnt);
	if (err)
		goto disconnect;
	queue_delayed_work(dafs_session_wq, &clnt->keep, DAFS_HOUSEKEEPING);
	return clnt;

disconnect:
	dafs_client_shutdown(clnt);
	cancel_delayed_work_sync(&clnt->reconnect);
free:
	dafs_session_free(clnt);
	return ERR_PTR(err);
}
EXPORT_SYMBOL_IF_KUNIT(dafs_client_create);

/**
 * dafs_client_shutdown() - fail all calls, now and from now on
 * @clnt: the client
 *
 * For umount -f: tasks and I/O that wait for the server get -EIO.
 *
 * Context: may sleep.
 */
void dafs_client_shutdown(struct dafs_client *clnt)
{
	struct dafs_conn *conn = dafs_session_detach(clnt, NULL, DAFS_SES_DEAD);
	struct dafs_conn *joining;

	if (conn)
		dafs_conn_drop(conn);
	spin_lock_irq(&clnt->lock);
	joining = clnt->joining;
	if (joining)
		kref_get(&joining->ref);
	spin_unlock_irq(&clnt->lock);
	if (joining)
		dafs_conn_drop(joining);
}
EXPORT_SYMBOL_IF_KUNIT(dafs_client_shutdown);

/**
 * dafs_client_stop_waiting() - fail what waits for the server, until it is back
 * @clnt: the client
 *
 * For umount -f of a super block that may be mounted elsewhere, too.  Does nothing
 * while there is a connection.
 *
 * Context: may sleep.
 */
void dafs_client_stop_waiting(struct dafs_client *clnt)
{
	spin_lock_irq(&clnt->lock);
	clnt->fail_waiters = clnt->state == DAFS_SES_DOWN;
	dafs_session_wake(clnt);
	spin_unlock_irq(&clnt->lock);
}

/**
 * dafs_client_look_again() - a mount does not wait for the server any more
 * @clnt: the client
 *
 * To be called when what struct dafs_op and struct dafs_park have as leave has become
 * true.  The others who use the session go on waiting.
 *
 * Context: may sleep.
 */
void dafs_client_look_again(struct dafs_client *clnt)
{
	spin_lock_irq(&clnt->lock);
	wake_up_all(&clnt->wait);
	dafs_session_resume(clnt);
	spin_unlock_irq(&clnt->lock);
}

/**
 * dafs_client_set_timeouts() - change how long the server is waited for
 * @clnt: the client
 * @soft: see struct dafs_client_params, as the next two
 * @timeo_ms: likewise
 * @retrans: likewise
 *
 * Tasks and I/O that wait now go by it, too.  Others read the three without a
 * lock: each of the three stands for itself.
 *
 * Context: may sleep.
 */
void dafs_client_set_timeouts(struct dafs_client *clnt, bool soft, unsigned int timeo_ms,
			      unsigned int retrans)
{
	spin_lock_irq(&clnt->lock);
	WRITE_ONCE(clnt->params.soft, soft);
	WRITE_ONCE(clnt->params.timeo_ms, timeo_ms);
	WRITE_ONCE(clnt->params.retrans, retrans);
	/* A connection in the making gets it when it is attached. */
	if (clnt->conn)
		dafs_session_set_timeout(clnt, clnt->conn->rq);
	dafs_session_wake(clnt);
	spin_unlock_irq(&clnt->lock);
}

/**
 * dafs_client_gives_up() - an attempt has ended without an answer: was it the last?
 * @clnt: the client
 * @lost: such attempts so far, on a soft session; this one is added
 *
 * Context: any.
 * Return: true if the session is soft, and there were too many.
 */
bool dafs_client_gives_up(const struct dafs_client *clnt, unsigned int *lost)
{
	return READ_ONCE(clnt->params.soft) && ++*lost > READ_ONCE(clnt->params.retrans);
}

/**
 * dafs_conn_notify() - send a request whose result does not matter
 * @conn: connection
 * @proc: DAFS_PROC_*
 * @args: of @proc
 *
 * Context: may sleep, not for long.
 * Return: false if the server does not answer; then nothing more is worth a try.
 */
bool dafs_conn_notify(struct dafs_conn *conn, u32 proc, void *args)
{
	struct dafs_call *call = dafs_call_alloc(GFP_KERNEL);
	bool told;

	if (!call)
		return false;
	call->proc = proc;
	call->args = args;
	/* with all slots in use there is no need to say anything, either */
	told = !dafs_call_start_chain(conn->rq, call) &&
	       wait_for_completion_timeout(&call->finished, DAFS_DISCONNECT_WAIT) && !call->error;
	dafs_call_put(call);
	return told;
}

/* Credentials outlive sessions (E-47), so the last one does not leave them behind. */
static void dafs_session_disconnect(struct dafs_client *clnt)
{
	struct dafs_conn *conn = dafs_conn_try_get(clnt);

	if (IS_ERR_OR_NULL(conn))
		return;
	if (dafs_cred_cache_release(clnt, conn))
		dafs_conn_notify(conn, DAFS_PROC_DISCONNECT, NULL);
	dafs_conn_put(conn);
}

/**
 * dafs_client_destroy() - disconnect and free (6.2.6)
 * @clnt: the session; no task makes calls on it any more
 *
 * Context: may sleep.
 */
void dafs_client_destroy(struct dafs_client *clnt)
{
	dafs_session_hide_from_sysfs(clnt);
	disable_delayed_work_sync(&clnt->keep);
	dafs_session_disconnect(clnt);
	dafs_client_shutdown(clnt);
	cancel_delayed_work_sync(&clnt->reconnect);
	dafs_session_free(clnt);
}
EXPORT_SYMBOL_IF_KUNIT(dafs_client_destroy);

/**
 * dafs_client_get() - use a session that others use too
 * @clnt: the session; the caller knows of a user
 *
 * Context: any.
 * Return: @clnt.
 */
struct dafs_client *dafs_client_get(struct dafs_client *clnt)
{
	refcount_inc(&clnt->users);
	return clnt;
}
EXPORT_SYMBOL_IF_KUNIT(dafs_client_get);

/**
 * dafs_client_put() - use a session no longer; its last user destroys it
 * @clnt: the client
 *
 * Context: may sleep.
 */
void dafs_client_put(struct dafs_client *clnt)
{
	if (refcount_dec_and_test(&clnt->users))
		dafs_client_destroy(clnt);
}
EXPORT_SYMBOL_IF_KUNIT(dafs_client_put);

/**
 * dafs_client_shared() - does a session have more than one user?
 * @clnt: the session, of which the caller is a user
 *
 * Context: any.
 * Return: true if so.
 */
bool dafs_client_shared(const struct dafs_client *clnt)
{
	return refcount_read(&clnt->users) > 1;
}

/**
 * dafs_client_dead() - has a session been ended while it was in use?
 * @clnt: the client
 *
 * Context: any.
 * Return: true if so.
 */
bool dafs_client_dead(const struct dafs_client *clnt)
{
	return READ_ONCE(clnt->state) == DAFS_SES_DEAD;
}

/**
 * dafs_client_params() - what a session was made with
 * @clnt: the client
 *
 * Return: its parameters; constant while it lives, but for what
 * dafs_client_set_timeouts() sets.
 */
const struct dafs_client_params *dafs_client_params(const struct dafs_client *clnt)
{
	return &clnt->params;
}
EXPORT_SYMBOL_IF_KUNIT(dafs_session_params);

/**
 * dafs_client_commit_wq() - where to wait for operations of a session
 * @clnt: the client
 *
 * Each session has its own, so that a server that is away delays nothing of others.
 *
 * Return: a queue that memory reclaim may depend on.
 */
struct workqueue_struct *dafs_client_commit_wq(const struct dafs_client *clnt)
{
	return clnt->commit_wq;
}
EXPORT_SYMBOL_IF_KUNIT(dafs_client_commit_wq);

/**
 * dafs_client_end_wq() - where to see to the end of what a session has done
 * @clnt: the client
 *
 * Nothing in it waits for a connection, as commits do, of which there may be more than a
 * queue works on at a time: a mount that goes waits for ends, not for commits of others.
 *
 * Return: a queue that memory reclaim may depend on.
 */
struct workqueue_struct *dafs_client_end_wq(const struct dafs_client *clnt)
{
	return clnt->end_wq;
}
EXPORT_SYMBOL_IF_KUNIT(dafs_client_end_wq);

/**
 * dafs_clients_init() - get ready for sessions
 *
 * Return: 0 or -ENOMEM.
 */
int __init dafs_clients_init(void)
{
	int err = dafs_sysfs_init();

	if (err)
		return err;
	get_random_bytes(&dafs_instance_key, sizeof(dafs_instance_key));
	dafs_machine = dafs_machine_number();
	get_random_bytes(&dafs_client_verifier, sizeof(dafs_client_verifier));
	dafs_session_wq = alloc_workqueue("dafs_client", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!dafs_session_wq)
		goto no_session_wq;
	dafs_reconnect_wq = alloc_workqueue("dafs_reconnect", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!dafs_reconnect_wq)
		goto no_reconnect_wq;
	dafs_recover_wq = alloc_workqueue("dafs_recover", WQ_UNBOUND | WQ_MEM_RECLAIM,
					  WQ_MAX_ACTIVE);
	if (!dafs_recover_wq)
		goto no_recover_wq;
	return 0;

no_recover_wq:
	destroy_workqueue(dafs_reconnect_wq);
no_reconnect_wq:
	destroy_workqueue(dafs_session_wq);
no_session_wq:
	dafs_sysfs_exit();
	return -ENOMEM;
}

/**
 * dafs_clients_exit() - undo dafs_clients_init()
 */
void dafs_clients_exit(void)
{
	destroy_workqueue(dafs_recover_wq);
	destroy_workqueue(dafs_reconnect_wq);
	destroy_workqueue(dafs_session_wq);
	dafs_sysfs_exit();
}
