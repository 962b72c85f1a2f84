// SPDX-License-Identifier: GPL-2.0
/*
 * What a client has with its server: one path or several, see path.c.
 *
 *	DOWN	no path has a connection; their reconnect works try, with back-off
 *	UP	calls go by one of those that have
 *	DEAD	shut down; every call fails
 */
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

/**
 * dafs_session_set_state() - change the state of a session; nothing else does
 * @ses: the session, locked
 * @next: the new state
 *
 * Context: any.
 * Return: false if the session is DEAD; nothing is changed then.
 */
bool dafs_session_set_state(struct dafs_session *ses, enum dafs_session_state next)
{
	lockdep_assert_held(&ses->lock);
	if (ses->state == next)
		return next != DAFS_SES_DEAD;
	if (!(dafs_session_next[ses->state] & BIT(next)))
		return false;
	trace_dafs_session_state(ses, next);
	ses->state = next;
	return true;
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
	unsigned int i;

	spin_lock_irq(&ses->lock);
	/* A connection in the making gets it when it is attached. */
	for (i = 0; i < ses->nr_paths; i++)
		if (ses->paths[i].conn)
			dafs_session_set_timeout(ses, ses->paths[i].conn->rq);
	dafs_session_wake(ses);
	spin_unlock_irq(&ses->lock);
}

/**
 * dafs_session_shutdown() - end a session for good
 * @ses: session
 *
 * Context: may sleep.
 */
void dafs_session_shutdown(struct dafs_session *ses)
{
	unsigned int i;

	spin_lock_irq(&ses->lock);
	dafs_session_set_state(ses, DAFS_SES_DEAD);
	dafs_session_wake(ses);
	spin_unlock_irq(&ses->lock);
	for (i = 0; i < DAFS_MAX_PATHS; i++)
		dafs_path_end(&ses->paths[i]);
}

/* A new one; or one that is down, and may soon be the only one: it has all its attempts again. */
static void dafs_session_want_path(struct dafs_path *path)
{
	lockdep_assert_held(&path->ses->lock);
	path->leaving = false;
	if (path->conn)
		return;
	path->attempts = 0;
	mod_delayed_work(dafs_reconnect_wq, &path->reconnect, 0);
}

/**
 * dafs_session_set_paths() - change the number of paths that are used
 * @ses: session
 * @nr: 1 to DAFS_MAX_PATHS; of those above the connections end, what waits on them goes by another
 *
 * Context: may sleep.
 */
void dafs_session_set_paths(struct dafs_session *ses, unsigned int nr)
{
	unsigned int i, was;
	bool polite = true;

	guard(mutex)(&ses->resizing);
	WRITE_ONCE(ses->clnt->params.nconnect, nr);
	spin_lock_irq(&ses->lock);
	was = ses->nr_paths;
	WRITE_ONCE(ses->nr_paths, nr);
	for (i = 0; i < nr && ses->state != DAFS_SES_DEAD; i++)
		dafs_session_want_path(&ses->paths[i]);
	spin_unlock_irq(&ses->lock);
	for (i = nr; i < was; i++)
		polite = dafs_path_retire(&ses->paths[i], polite);
}

/**
 * dafs_session_alloc() - make a session
 * @clnt: its client, which outlives it
 *
 * Context: may sleep.
 * Return: the session, DOWN, for dafs_session_end() and dafs_session_free(); or NULL if out of
 * memory.
 */
struct dafs_session *dafs_session_alloc(struct dafs_client *clnt)
{
	struct dafs_session *ses = kzalloc(sizeof(*ses), GFP_KERNEL);
	unsigned int i;

	if (!ses)
		return NULL;
	ses->clnt = clnt;
	spin_lock_init(&ses->lock);
	mutex_init(&ses->connecting);
	mutex_init(&ses->resizing);
	init_waitqueue_head(&ses->wait);
	INIT_LIST_HEAD(&ses->parked);
	ses->nr_paths = 1;
	ses->served_by = clnt->params.dst;
	for (i = 0; i < DAFS_MAX_PATHS; i++)
		dafs_path_init(&ses->paths[i], ses, i);
	return ses;
}

/**
 * dafs_session_free() - undo dafs_session_alloc()
 * @ses: session, after dafs_session_end(); no request is asked for any more
 *
 * Context: may sleep.
 */
void dafs_session_free(struct dafs_session *ses)
{
	unsigned int i;

	for (i = 0; i < DAFS_MAX_PATHS; i++)
		dafs_formers_free(&ses->paths[i]);
	kfree(ses);
}

/**
 * dafs_session_end() - wait for the end of a session's connections
 * @ses: session, DEAD or never connected; when this returns, it has no connection left
 *
 * Context: may sleep.
 */
void dafs_session_end(struct dafs_session *ses)
{
	unsigned int i;

	for (i = 0; i < DAFS_MAX_PATHS; i++)
		cancel_delayed_work_sync(&ses->paths[i].reconnect);
	wait_event(ses->wait, !atomic_read(&ses->nr_conns));
	/* the last connection may still be about to let the lock go */
	spin_lock_irq(&ses->lock);
	spin_unlock_irq(&ses->lock);
	mutex_destroy(&ses->resizing);
	mutex_destroy(&ses->connecting);
}
