// SPDX-License-Identifier: GPL-2.0
/*
 * A session of a client, which outlives its connections (3.1.2.5).
 *
 *	DOWN	no connection; the reconnect work tries, with back-off
 *	UP	calls go to ses->conn
 *	DEAD	shut down; every call fails
 */
#include <linux/random.h>
#include <linux/slab.h>
#include "rpc_impl.h"
#include "trace.h"

static const u8 dafs_session_next[] = {
	[DAFS_SES_DOWN]	= BIT(DAFS_SES_UP) | BIT(DAFS_SES_DEAD),
	[DAFS_SES_UP]	= BIT(DAFS_SES_DOWN) | BIT(DAFS_SES_DEAD),
	[DAFS_SES_DEAD]	= 0,
};

/**
 * dafs_client_state_name() - the state of a client's session for people
 * @clnt: the client
 *
 * Context: any.
 * Return: a constant string.
 */
const char *dafs_client_state_name(const struct dafs_client *clnt)
{
	static const char * const names[] = {
		[DAFS_SES_DOWN]	= "down",
		[DAFS_SES_UP]	= "up",
		[DAFS_SES_DEAD]	= "dead",
	};

	return names[READ_ONCE(clnt->ses->state)];
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
 * A hard mount waits for as long as the connection gives signs of life.
 *
 * Context: any.
 */
void dafs_session_set_timeout(const struct dafs_session *ses, struct dafs_requester *rq)
{
	const struct dafs_client_params *params = &ses->clnt->params;
	unsigned int timeo = READ_ONCE(params->timeo_ms);
	unsigned int tries = READ_ONCE(params->retrans) + 1;

	dafs_requester_set_timeout(rq, timeo, READ_ONCE(params->soft) ? timeo * tries : 0);
}

/**
 * dafs_session_retime() - soft, timeo_ms or retrans of the client have changed
 * @ses: session
 *
 * Context: may sleep.
 */
void dafs_session_retime(struct dafs_session *ses)
{
	spin_lock_irq(&ses->lock);
	/* A connection in the making gets it when it is attached. */
	if (ses->conn)
		dafs_session_set_timeout(ses, ses->conn->rq);
	dafs_session_wake(ses);
	spin_unlock_irq(&ses->lock);
}

/**
 * dafs_session_attach() - make a connection the current one
 * @ses: session
 * @conn: from dafs_session_joining(); the session takes over the caller's reference
 *
 * Context: may sleep.
 * Return: 0, -ENOTCONN if it is lost already, or -ESHUTDOWN if the session is dead.
 */
int dafs_session_attach(struct dafs_session *ses, struct dafs_conn *conn)
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
		ses->attempts = 0;
		dafs_session_set_timeout(ses, conn->rq);
		dafs_session_wake(ses);
	}
	spin_unlock_irq(&ses->lock);
	if (say)
		pr_notice("dafs: server %pISpc: connected again\n", &ses->clnt->params.dst);
	return err;
}

/**
 * dafs_session_detach() - have no current connection any more
 * @ses: session
 * @conn: the connection: if another one is current, nothing happens; NULL for any
 * @next: state of the session then
 *
 * Context: may sleep.
 * Return: the connection that was current, with its reference, or NULL.
 */
struct dafs_conn *dafs_session_detach(struct dafs_session *ses, struct dafs_conn *conn,
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

/**
 * dafs_session_shutdown() - end a session for good
 * @ses: session
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

/**
 * dafs_session_alloc() - make a session
 * @clnt: its client, which outlives it
 *
 * Context: may sleep.
 * Return: the session, DOWN, for dafs_session_end() and kfree(); or NULL if out of
 * memory.
 */
struct dafs_session *dafs_session_alloc(struct dafs_client *clnt)
{
	struct dafs_session *ses = kzalloc(sizeof(*ses), GFP_KERNEL);

	if (!ses)
		return NULL;
	ses->clnt = clnt;
	get_random_bytes(ses->differentiator, sizeof(ses->differentiator));
	spin_lock_init(&ses->lock);
	init_waitqueue_head(&ses->wait);
	INIT_LIST_HEAD(&ses->parked);
	INIT_DELAYED_WORK(&ses->reconnect, dafs_session_reconnect);
	return ses;
}

/**
 * dafs_session_end() - wait for the end of a session's connections
 * @ses: session, DEAD or never connected; when this returns, it has no connection left
 *
 * Context: may sleep.
 */
void dafs_session_end(struct dafs_session *ses)
{
	cancel_delayed_work_sync(&ses->reconnect);
	wait_event(ses->wait, !atomic_read(&ses->nr_conns));
	/* the last connection may still be about to let the lock go */
	spin_lock_irq(&ses->lock);
	spin_unlock_irq(&ses->lock);
}
