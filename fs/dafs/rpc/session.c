// SPDX-License-Identifier: GPL-2.0
/*
 * A session that outlives its connections (3.1.2.5).
 *
 *	DOWN	no connection; the reconnect work tries, with back-off
 *	UP	calls go to ses->conn
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
 * @ses: the session
 *
 * Context: any.
 * Return: a constant string.
 */
const char *dafs_session_state_name(const struct dafs_session *ses)
{
	static const char * const names[] = {
		[DAFS_SES_DOWN]	= "down",
		[DAFS_SES_UP]	= "up",
		[DAFS_SES_DEAD]	= "dead",
	};

	return names[READ_ONCE(ses->state)];
}

static bool dafs_session_set_state(struct dafs_session *ses, enum dafs_session_state next)
{
	lockdep_assert_held(&ses->lock);
	if (!(dafs_session_next[ses->state] & BIT(next)))
		return false;
	trace_dafs_session_state(ses, next);
	ses->state = next;
	return true;
}

/**
 * dafs_session_joining() - a connection is being made
 * @ses: session
 * @conn: the connection; dafs_session_shutdown() does not wait for its end
 *
 * Context: any but interrupt.
 * Return: 0, or -ESHUTDOWN if the session is dead.
 */
int dafs_session_joining(struct dafs_session *ses, struct dafs_conn *conn)
{
	int err = 0;

	spin_lock_irq(&ses->lock);
	if (ses->state == DAFS_SES_DEAD)
		err = -ESHUTDOWN;
	else
		ses->joining = conn;
	spin_unlock_irq(&ses->lock);
	return err;
}

/**
 * dafs_session_part() - a connection being made did not become anything
 * @ses: session
 * @conn: from dafs_session_joining(); it is ended, and the caller's reference
 *	dropped
 *
 * Context: may sleep.
 */
void dafs_session_part(struct dafs_session *ses, struct dafs_conn *conn)
{
	spin_lock_irq(&ses->lock);
	ses->joining = NULL;
	spin_unlock_irq(&ses->lock);
	dafs_conn_drop(conn);
}

/**
 * dafs_session_set_timeout() - how long a server may take to answer
 * @ses: session
 * @rq: requester of one of its connections, which has a session at the server
 *
 * A hard session waits for as long as the connection gives signs of life.
 *
 * Context: any.
 */
void dafs_session_set_timeout(const struct dafs_session *ses, struct dafs_requester *rq)
{
	unsigned int timeo = READ_ONCE(ses->params.timeo_ms);
	unsigned int tries = READ_ONCE(ses->params.retrans) + 1;

	dafs_requester_set_timeout(rq, timeo, READ_ONCE(ses->params.soft) ? timeo * tries : 0);
}

/*
 * Makes @conn the current connection; the session takes over the caller's
 * reference.  Fails if it is lost already or the session is dead.
 */
static int dafs_session_attach(struct dafs_session *ses, struct dafs_conn *conn)
{
	bool say = false;
	int err = 0;

	spin_lock_irq(&ses->lock);
	if (!dafs_chan_is_open(conn->op))
		err = -ENOTCONN;
	else if (!dafs_session_set_state(ses, DAFS_SES_UP))
		err = -ESHUTDOWN;
	if (!err) {
		ses->conn = conn;
		ses->joining = NULL;
		ses->up_at = jiffies;
		say = ses->logged_down;
		ses->logged_down = false;
		ses->fail_waiters = false;
		WRITE_ONCE(ses->attempts, 0);
		dafs_session_set_timeout(ses, conn->rq);
		dafs_session_wake(ses);
	}
	spin_unlock_irq(&ses->lock);
	if (say)
		pr_notice("dafs: server %pISpc: connected again\n", &ses->params.dst);
	return err;
}

/* Return: the connection that was current, with its reference, or NULL. */
static struct dafs_conn *dafs_session_detach(struct dafs_session *ses, struct dafs_conn *conn,
					     enum dafs_session_state next)
{
	struct dafs_conn *was = NULL;

	spin_lock_irq(&ses->lock);
	if (!conn || ses->conn == conn) {
		was = ses->conn;
		ses->conn = NULL;
		dafs_session_set_state(ses, next);
		dafs_session_wake(ses);
	}
	spin_unlock_irq(&ses->lock);
	return was;
}

/* The first failure and the recovery are worth a line each, nothing else is. */
static void dafs_session_log_down(struct dafs_session *ses, const char *why)
{
	bool said;

	spin_lock_irq(&ses->lock);
	said = ses->logged_down;
	ses->logged_down = true;
	spin_unlock_irq(&ses->lock);
	if (said)
		return;
	pr_notice("dafs: server %pISpc: %s, %s\n", &ses->params.dst, why,
		  READ_ONCE(ses->params.soft) ? "trying again for a while" : "trying again");
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
static unsigned long dafs_session_flap(struct dafs_session *ses)
{
	lockdep_assert_held(&ses->lock);
	if (time_after(jiffies, ses->up_at + DAFS_STEADY))
		ses->flaps = 0;
	return ses->flaps++ ? dafs_session_backoff(ses->flaps - 2) : 0;
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
	WRITE_ONCE(ses->attempts, 0);
	/* dafs_session_destroy() makes it DEAD before it cancels the work */
	if (ses->state == DAFS_SES_DOWN)
		queue_delayed_work(dafs_reconnect_wq, &ses->reconnect, dafs_session_flap(ses));
	spin_unlock_irq(&ses->lock);
	dafs_conn_put(was);
}

static void dafs_session_attempt_failed(struct dafs_session *ses)
{
	spin_lock_irq(&ses->lock);
	WRITE_ONCE(ses->attempts, ses->attempts + 1);
	if (ses->state == DAFS_SES_DOWN)
		queue_delayed_work(dafs_reconnect_wq, &ses->reconnect,
				   dafs_session_backoff(ses->attempts));
	dafs_session_wake(ses);
	spin_unlock_irq(&ses->lock);
}

static int dafs_session_connect(struct dafs_session *ses)
{
	struct dafs_conn *conn = dafs_conn_create(ses);
	int err;

	if (IS_ERR(conn))
		return PTR_ERR(conn);
	err = dafs_session_recover(ses, conn);
	if (!err)
		err = dafs_session_attach(ses, conn);
	if (err)
		dafs_session_part(ses, conn);
	return err;
}

static void dafs_session_reconnect(struct work_struct *work)
{
	struct dafs_session *ses = container_of(to_delayed_work(work),
						struct dafs_session, reconnect);
	unsigned int flags;

	if (READ_ONCE(ses->state) != DAFS_SES_DOWN)
		return;
	/* reclaim must not wait for write-back by this very session */
	flags = memalloc_nofs_save();
	if (dafs_session_connect(ses))
		dafs_session_attempt_failed(ses);
	else
		WRITE_ONCE(ses->reconnects, ses->reconnects + 1);
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
static long dafs_session_third(const struct dafs_session *ses)
{
	return (long)READ_ONCE(ses->lease) * HZ / 3;
}

static void dafs_session_keep(struct work_struct *work)
{
	struct dafs_session *ses = container_of(to_delayed_work(work),
						struct dafs_session, keep);
	struct dafs_conn *conn = dafs_conn_try_get(ses);
	long third = dafs_session_third(ses), delay = third;
	unsigned int flags;
	bool renew;

	/* the queue also ends connections, which memory reclaim may wait for */
	flags = memalloc_nofs_save();
	if (!IS_ERR_OR_NULL(conn)) {
		dafs_requester_trim(conn->rq);
		dafs_cred_cache_age(ses, conn, DAFS_CRED_IDLE);
		renew = time_after_eq(jiffies, ses->last_null + third);
		/* where no slot is free for it, other requests renew the lease */
		if (renew)
			ses->last_null = jiffies;
		dafs_session_send_nulls(conn, renew);
		delay = ses->last_null + third - jiffies;
		dafs_conn_put(conn);
	}
	memalloc_nofs_restore(flags);
	/* at the latest for the next credits to be returned */
	queue_delayed_work(dafs_session_wq, &ses->keep, clamp(delay, 1L, DAFS_HOUSEKEEPING));
}

/**
 * dafs_session_set_lease() - how long the server bears with silence
 * @ses: the session
 * @seconds: the attribute LEASE_TIME of one of its file systems
 *
 * Context: any; not while the session is destroyed.
 */
void dafs_session_set_lease(struct dafs_session *ses, u32 seconds)
{
	seconds = clamp(seconds, 1U, DAFS_LEASE_MAX);
	if (READ_ONCE(ses->lease) == seconds)
		return;
	WRITE_ONCE(ses->lease, seconds);
	mod_delayed_work(dafs_session_wq, &ses->keep, 0);
}
EXPORT_SYMBOL_IF_KUNIT(dafs_session_set_lease);

/* Nothing is waited for any more. */
static bool dafs_session_no_wait(const struct dafs_session *ses)
{
	return ses->state == DAFS_SES_DEAD || ses->fail_waiters ||
	       (ses->params.soft && ses->attempts >= ses->params.retrans);
}

/**
 * dafs_session_must_wait() - is there no connection now, but may be later?
 * @ses: the session, locked
 *
 * Context: any.
 * Return: true if so.
 */
bool dafs_session_must_wait(const struct dafs_session *ses)
{
	lockdep_assert_held(&ses->lock);
	/* one that failed is current until its end is seen to; nothing shall spin on it */
	if (ses->conn && dafs_chan_is_open(ses->conn->op))
		return false;
	return !dafs_session_no_wait(ses);
}

/**
 * dafs_conn_try_get() - the current connection, if there is one
 * @ses: the session
 *
 * Context: any.
 * Return: the connection with a reference, NULL while there is none, or an
 * ERR_PTR of -EIO on a dead session, -ETIMEDOUT on a soft one that gave up.
 */
struct dafs_conn *dafs_conn_try_get(struct dafs_session *ses)
{
	struct dafs_conn *conn;
	unsigned long flags;

	spin_lock_irqsave(&ses->lock, flags);
	conn = ses->conn;
	if (conn && !dafs_chan_is_open(conn->op))
		conn = NULL;
	if (conn)
		kref_get(&conn->ref);
	else if (dafs_session_no_wait(ses))
		conn = ERR_PTR(ses->state == DAFS_SES_DEAD || ses->fail_waiters ?
			       -EIO : -ETIMEDOUT);
	spin_unlock_irqrestore(&ses->lock, flags);
	return conn;
}

/**
 * dafs_exits_while_down() - should this task not wait for the server?
 * @ses: the session
 *
 * A task that exits takes no signals any more, so it could not be killed out of it.  Nor
 * could a kernel thread, which may have to close the files of others, too.
 *
 * Context: any.
 * Return: true if it is such a task, and the server is away.
 */
bool dafs_exits_while_down(struct dafs_session *ses)
{
	unsigned long flags;
	bool away;

	if (!(current->flags & (PF_EXITING | PF_KTHREAD)))
		return false;
	spin_lock_irqsave(&ses->lock, flags);
	away = dafs_session_must_wait(ses);
	spin_unlock_irqrestore(&ses->lock, flags);
	return away;
}

/**
 * dafs_session_busy() - would a request have to wait before it is sent?
 * @ses: the session
 *
 * For those who would rather not; nothing is set aside for them.
 *
 * Context: any.
 * Return: true if there is no connection, or no slot is free on it.
 */
bool dafs_session_busy(struct dafs_session *ses)
{
	struct dafs_conn *conn = dafs_conn_try_get(ses);
	bool busy;

	if (IS_ERR_OR_NULL(conn))
		return true;
	busy = dafs_requester_busy(conn->rq);
	dafs_conn_put(conn);
	return busy;
}
EXPORT_SYMBOL_IF_KUNIT(dafs_session_busy);

static bool dafs_left(const bool *leave)
{
	return leave && READ_ONCE(*leave);
}

/**
 * dafs_conn_get_unless() - a connection to send on, or none if it is not worth waiting
 * @ses: the session
 * @leave: the wait ends when this is true, see dafs_session_look_again(); or NULL
 *
 * Waits as long as the session is told to: a hard one for ever, a soft one
 * until its attempts are used up.  A task that exits could not be killed out of it, so
 * it does not wait, but is told that it was killed.
 *
 * Context: may sleep; a fatal signal ends the wait.
 * Return: the connection with a reference, or an ERR_PTR of -EIO, -ETIMEDOUT
 * or -ERESTARTSYS.
 */
struct dafs_conn *dafs_conn_get_unless(struct dafs_session *ses, const bool *leave)
{
	struct dafs_conn *conn;
	int err;

	if (dafs_task_exits())
		return dafs_conn_try_get(ses) ?: ERR_PTR(-ERESTARTSYS);
	err = wait_event_killable(ses->wait, (conn = dafs_conn_try_get(ses)) || dafs_left(leave));
	if (err)
		return ERR_PTR(err);
	return conn ?: ERR_PTR(-EIO);
}

/**
 * dafs_conn_get() - a connection to send on
 * @ses: the session
 *
 * Context: may sleep; a fatal signal ends the wait.
 * Return: as dafs_conn_get_unless().
 */
struct dafs_conn *dafs_conn_get(struct dafs_session *ses)
{
	return dafs_conn_get_unless(ses, NULL);
}
EXPORT_SYMBOL_IF_KUNIT(dafs_conn_get);

/* Clients that share a port must differ (E.9): by their id, or by where they run. */
static void dafs_session_set_instance(struct dafs_session *ses)
{
	u64 id = siphash(ses->params.client_id, strlen(ses->params.client_id),
			 &dafs_instance_key);

	id = siphash_2u64(id, ses->params.net->net_cookie, &dafs_instance_key);
	memcpy(ses->instance, &id, sizeof(ses->instance));
}

/* A client-id has one principal (3.1.1.3), so each way to authenticate has its own. */
static void dafs_session_set_client_id(struct dafs_session *ses)
{
	if (!ses->params.client_id[0])
		snprintf(ses->params.client_id, sizeof(ses->params.client_id),
			 "Linux DAFS %s/%016llx/%u", init_utsname()->nodename, dafs_machine,
			 ses->params.auth_type);
	ses->verifier = dafs_client_verifier;
	dafs_session_set_instance(ses);
	get_random_bytes(ses->differentiator, sizeof(ses->differentiator));
}

static struct dafs_session *dafs_session_alloc(const struct dafs_session_params *params)
{
	struct dafs_session *ses = kzalloc(sizeof(*ses), GFP_KERNEL);

	if (!ses)
		return NULL;
	ses->params = *params;
	dafs_session_set_client_id(ses);
	ses->creds = dafs_cred_cache_get(&ses->params);
	if (!ses->creds)
		goto free;
	ses->stats = dafs_stats_alloc();
	if (!ses->stats)
		goto put_creds;
	ses->retry_wq = alloc_workqueue("dafs-retry", WQ_MEM_RECLAIM | WQ_UNBOUND, 0);
	if (!ses->retry_wq)
		goto free_stats;
	ses->end_wq = alloc_workqueue("dafs-end", WQ_MEM_RECLAIM | WQ_UNBOUND, 0);
	if (!ses->end_wq)
		goto free_retry_wq;
	/* no memory is freed only by evictions, so this one needs no rescuer's thread */
	ses->put_wq = alloc_workqueue("dafs-put", WQ_UNBOUND, 0);
	if (!ses->put_wq)
		goto free_end_wq;
	ses->commit_wq = alloc_workqueue("dafs-commit", WQ_MEM_RECLAIM | WQ_UNBOUND, 0);
	if (!ses->commit_wq)
		goto free_put_wq;
	ses->begun = jiffies;
	ses->params.net = get_net(params->net);
	ses->lease = DAFS_LEASE;
	ses->last_null = jiffies;
	refcount_set(&ses->users, 1);
	INIT_LIST_HEAD(&ses->recoverers);
	spin_lock_init(&ses->lock);
	init_waitqueue_head(&ses->wait);
	INIT_LIST_HEAD(&ses->parked);
	INIT_DELAYED_WORK(&ses->reconnect, dafs_session_reconnect);
	INIT_DELAYED_WORK(&ses->keep, dafs_session_keep);
	return ses;

free_put_wq:
	destroy_workqueue(ses->put_wq);
free_end_wq:
	destroy_workqueue(ses->end_wq);
free_retry_wq:
	destroy_workqueue(ses->retry_wq);
free_stats:
	dafs_stats_free(ses->stats);
put_creds:
	dafs_cred_cache_put(ses->creds);
free:
	kfree(ses);
	return NULL;
}

static void dafs_session_free(struct dafs_session *ses)
{
	wait_event(ses->wait, !atomic_read(&ses->nr_conns));
	/* the last connection may still be about to let the lock go */
	spin_lock_irq(&ses->lock);
	spin_unlock_irq(&ses->lock);
	destroy_workqueue(ses->commit_wq);
	destroy_workqueue(ses->put_wq);
	destroy_workqueue(ses->end_wq);
	destroy_workqueue(ses->retry_wq);
	dafs_cred_cache_put(ses->creds);
	dafs_stats_free(ses->stats);
	put_net(ses->params.net);
	kfree(ses);
}

/**
 * dafs_session_create() - connect to a server and authenticate
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
struct dafs_session *dafs_session_create(const struct dafs_session_params *params)
{
	struct dafs_session *ses;
	struct dafs_conn *conn;
	int err;

	ses = dafs_session_alloc(params);
	if (!ses)
		return ERR_PTR(-ENOMEM);
	conn = dafs_conn_create(ses);
	if (IS_ERR(conn)) {
		err = PTR_ERR(conn);
		goto free;
	}
	ses->client_id = conn->client_id;
	err = dafs_session_attach(ses, conn);
	if (err) {
		dafs_session_part(ses, conn);
		goto free;
	}
	err = dafs_session_show_in_sysfs(ses);
	if (err)
		goto disconnect;
	queue_delayed_work(dafs_session_wq, &ses->keep, DAFS_HOUSEKEEPING);
	return ses;

disconnect:
	dafs_session_shutdown(ses);
	cancel_delayed_work_sync(&ses->reconnect);
free:
	dafs_session_free(ses);
	return ERR_PTR(err);
}
EXPORT_SYMBOL_IF_KUNIT(dafs_session_create);

/**
 * dafs_session_shutdown() - fail all calls, now and from now on
 * @ses: the session
 *
 * For umount -f: tasks and I/O that wait for the server get -EIO.
 *
 * Context: may sleep.
 */
void dafs_session_shutdown(struct dafs_session *ses)
{
	struct dafs_conn *conn = dafs_session_detach(ses, NULL, DAFS_SES_DEAD);
	struct dafs_conn *joining;

	if (conn)
		dafs_conn_drop(conn);
	spin_lock_irq(&ses->lock);
	joining = ses->joining;
	if (joining)
		kref_get(&joining->ref);
	spin_unlock_irq(&ses->lock);
	if (joining)
		dafs_conn_drop(joining);
}
EXPORT_SYMBOL_IF_KUNIT(dafs_session_shutdown);

/**
 * dafs_session_stop_waiting() - fail what waits for the server, until it is back
 * @ses: the session
 *
 * For umount -f of a super block that may be mounted elsewhere, too.  Does nothing
 * while there is a connection.
 *
 * Context: may sleep.
 */
void dafs_session_stop_waiting(struct dafs_session *ses)
{
	spin_lock_irq(&ses->lock);
	ses->fail_waiters = ses->state == DAFS_SES_DOWN;
	dafs_session_wake(ses);
	spin_unlock_irq(&ses->lock);
}

/**
 * dafs_session_look_again() - a mount does not wait for the server any more
 * @ses: the session
 *
 * To be called when what struct dafs_op and struct dafs_park have as leave has become
 * true.  The others who use the session go on waiting.
 *
 * Context: may sleep.
 */
void dafs_session_look_again(struct dafs_session *ses)
{
	spin_lock_irq(&ses->lock);
	wake_up_all(&ses->wait);
	dafs_session_resume(ses);
	spin_unlock_irq(&ses->lock);
}

/**
 * dafs_session_set_timeouts() - change how long the server is waited for
 * @ses: the session
 * @soft: see struct dafs_session_params, as the next two
 * @timeo_ms: likewise
 * @retrans: likewise
 *
 * Tasks and I/O that wait now go by it, too.  Others read the three without a
 * lock: each of the three stands for itself.
 *
 * Context: may sleep.
 */
void dafs_session_set_timeouts(struct dafs_session *ses, bool soft, unsigned int timeo_ms,
			       unsigned int retrans)
{
	spin_lock_irq(&ses->lock);
	WRITE_ONCE(ses->params.soft, soft);
	WRITE_ONCE(ses->params.timeo_ms, timeo_ms);
	WRITE_ONCE(ses->params.retrans, retrans);
	/* A connection in the making gets it when it is attached. */
	if (ses->conn)
		dafs_session_set_timeout(ses, ses->conn->rq);
	dafs_session_wake(ses);
	spin_unlock_irq(&ses->lock);
}

/**
 * dafs_session_gives_up() - an attempt has ended without an answer: was it the last?
 * @ses: the session
 * @lost: such attempts so far, on a soft session; this one is added
 *
 * Context: any.
 * Return: true if the session is soft, and there were too many.
 */
bool dafs_session_gives_up(const struct dafs_session *ses, unsigned int *lost)
{
	return READ_ONCE(ses->params.soft) && ++*lost > READ_ONCE(ses->params.retrans);
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
static void dafs_session_disconnect(struct dafs_session *ses)
{
	struct dafs_conn *conn = dafs_conn_try_get(ses);

	if (IS_ERR_OR_NULL(conn))
		return;
	if (dafs_cred_cache_release(ses, conn))
		dafs_conn_notify(conn, DAFS_PROC_DISCONNECT, NULL);
	dafs_conn_put(conn);
}

/**
 * dafs_session_destroy() - disconnect and free (6.2.6)
 * @ses: the session; no task makes calls on it any more
 *
 * Context: may sleep.
 */
void dafs_session_destroy(struct dafs_session *ses)
{
	dafs_session_hide_from_sysfs(ses);
	disable_delayed_work_sync(&ses->keep);
	dafs_session_disconnect(ses);
	dafs_session_shutdown(ses);
	cancel_delayed_work_sync(&ses->reconnect);
	dafs_session_free(ses);
}
EXPORT_SYMBOL_IF_KUNIT(dafs_session_destroy);

/**
 * dafs_session_get() - use a session that others use too
 * @ses: the session; the caller knows of a user
 *
 * Context: any.
 * Return: @ses.
 */
struct dafs_session *dafs_session_get(struct dafs_session *ses)
{
	refcount_inc(&ses->users);
	return ses;
}
EXPORT_SYMBOL_IF_KUNIT(dafs_session_get);

/**
 * dafs_session_put() - use a session no longer; its last user destroys it
 * @ses: the session
 *
 * Context: may sleep.
 */
void dafs_session_put(struct dafs_session *ses)
{
	if (refcount_dec_and_test(&ses->users))
		dafs_session_destroy(ses);
}
EXPORT_SYMBOL_IF_KUNIT(dafs_session_put);

/**
 * dafs_session_shared() - does a session have more than one user?
 * @ses: the session, of which the caller is a user
 *
 * Context: any.
 * Return: true if so.
 */
bool dafs_session_shared(const struct dafs_session *ses)
{
	return refcount_read(&ses->users) > 1;
}

/**
 * dafs_session_dead() - has a session been ended while it was in use?
 * @ses: the session
 *
 * Context: any.
 * Return: true if so.
 */
bool dafs_session_dead(const struct dafs_session *ses)
{
	return READ_ONCE(ses->state) == DAFS_SES_DEAD;
}

/**
 * dafs_session_params() - what a session was made with
 * @ses: the session
 *
 * Return: its parameters; constant while it lives, but for what
 * dafs_session_set_timeouts() sets.
 */
const struct dafs_session_params *dafs_session_params(const struct dafs_session *ses)
{
	return &ses->params;
}
EXPORT_SYMBOL_IF_KUNIT(dafs_session_params);

/**
 * dafs_session_commit_wq() - where to wait for operations of a session
 * @ses: the session
 *
 * Each session has its own, so that a server that is away delays nothing of others.
 *
 * Return: a queue that memory reclaim may depend on.
 */
struct workqueue_struct *dafs_session_commit_wq(const struct dafs_session *ses)
{
	return ses->commit_wq;
}
EXPORT_SYMBOL_IF_KUNIT(dafs_session_commit_wq);

/**
 * dafs_session_end_wq() - where to see to the end of what a session has done
 * @ses: the session
 *
 * Nothing in it waits for a connection, as commits do, of which there may be more than a
 * queue works on at a time: a mount that goes waits for ends, not for commits of others.
 *
 * Return: a queue that memory reclaim may depend on.
 */
struct workqueue_struct *dafs_session_end_wq(const struct dafs_session *ses)
{
	return ses->end_wq;
}
EXPORT_SYMBOL_IF_KUNIT(dafs_session_end_wq);

/**
 * dafs_sessions_init() - get ready for sessions
 *
 * Return: 0 or -ENOMEM.
 */
int __init dafs_sessions_init(void)
{
	int err = dafs_sysfs_init();

	if (err)
		return err;
	get_random_bytes(&dafs_instance_key, sizeof(dafs_instance_key));
	dafs_machine = dafs_machine_number();
	get_random_bytes(&dafs_client_verifier, sizeof(dafs_client_verifier));
	dafs_session_wq = alloc_workqueue("dafs_session", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
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
 * dafs_sessions_exit() - undo dafs_sessions_init()
 */
void dafs_sessions_exit(void)
{
	destroy_workqueue(dafs_recover_wq);
	destroy_workqueue(dafs_reconnect_wq);
	destroy_workqueue(dafs_session_wq);
	dafs_sysfs_exit();
}
