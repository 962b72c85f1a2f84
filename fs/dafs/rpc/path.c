// SPDX-License-Identifier: GPL-2.0
/*
 * The paths of a session: each is a session of the protocol, which is made anew when its
 * connection is lost (3.1.2.5).
 *
 * All paths lead to one server, by one address of it or several, and are sessions of one client-id.
 * A call goes by any of them; one that was lost with its connection goes by another, where the
 * server is asked first whether it has executed it, see former.c.  The server answers that when it
 * has ended the session that was lost.  The client makes it do so by connecting the path again,
 * by another address if its own does not lead there any more.
 */
#include <linux/delay.h>
#include <linux/random.h>
#include "rpc_impl.h"

/* How long a path that is taken away waits for its last responses */
#define DAFS_FAREWELL_MS	20
#define DAFS_FAREWELL_TRIES	250

/**
 * dafs_path_init() - make a path
 * @path: the path
 * @ses: the session, with its client
 * @nr: number of the path
 *
 * Context: any.
 */
void dafs_path_init(struct dafs_path *path, struct dafs_session *ses, unsigned int nr)
{
	path->ses = ses;
	path->nr = nr;
	path->at = dafs_path_home(path);
	INIT_LIST_HEAD(&path->formers);
	get_random_bytes(path->differentiator, sizeof(path->differentiator));
	INIT_DELAYED_WORK(&path->reconnect, dafs_path_reconnect);
}

/**
 * dafs_path_used() - is a path still wanted?
 * @path: the path
 *
 * Context: holds the lock of its session.
 * Return: false if the session is dead; or if it has fewer paths, and the server knows.
 */
bool dafs_path_used(const struct dafs_path *path)
{
	lockdep_assert_held(&path->ses->lock);
	return path->ses->state != DAFS_SES_DEAD &&
	       (path->nr < path->ses->nr_paths || path->leaving);
}

/**
 * dafs_path_joining() - a connection is being made
 * @path: the path
 * @conn: the connection; dafs_session_shutdown() does not wait for its end
 *
 * Context: any but interrupt.
 * Return: 0, or -ESHUTDOWN if the path is not used any more.
 */
int dafs_path_joining(struct dafs_path *path, struct dafs_conn *conn)
{
	struct dafs_session *ses = path->ses;
	int err = 0;

	spin_lock_irq(&ses->lock);
	if (dafs_path_used(path))
		path->joining = conn;
	else
		err = -ESHUTDOWN;
	spin_unlock_irq(&ses->lock);
	return err;
}

/**
 * dafs_path_part() - a connection being made did not become anything
 * @path: the path
 * @conn: from dafs_path_joining(); it is ended, and the caller's reference dropped
 *
 * Context: may sleep.
 */
void dafs_path_part(struct dafs_path *path, struct dafs_conn *conn)
{
	spin_lock_irq(&path->ses->lock);
	path->joining = NULL;
	spin_unlock_irq(&path->ses->lock);
	dafs_conn_drop(conn);
}

/* Return: 0, or why @conn cannot become the current connection. */
static int dafs_path_take(struct dafs_path *path, struct dafs_conn *conn)
{
	struct dafs_session *ses = path->ses;
	int own = dafs_path_own_nr(path);

	lockdep_assert_held(&ses->lock);
	if (!dafs_chan_is_open(conn->op))
		return -ENOTCONN;
	if (!dafs_path_used(path) || path->leaving || !dafs_session_set_state(ses, DAFS_SES_UP))
		return -ESHUTDOWN;
	path->conn = conn;
	if (conn->former)
		conn->former->begun = true;
	path->joining = NULL;
	path->had = true;
	path->owes = true;
	path->up_at = jiffies;
	path->attempts = 0;
	ses->served_by = path->at;
	/* when another one has taken over, they have to prove it first */
	ses->known = own < 0 ? 0 : ses->known | BIT(own);
	ses->fail_waiters = false;
	dafs_session_set_timeout(ses, conn->rq);
	dafs_session_wake(ses);
	return 0;
}

/* Once, until a session is as it was asked for; it may be there for some paths only. */
static void dafs_path_check_stable(struct dafs_path *path, const struct dafs_conn *conn)
{
	struct dafs_session *ses = path->ses;
	bool said = READ_ONCE(ses->unstable), stable = conn->opts.use_response_cache;

	if (ses->clnt->params.respcache != DAFS_RESPCACHE_STABLE)
		return;
	WRITE_ONCE(ses->unstable, !stable);
	if (!stable && !said)
		pr_notice("dafs: server %pISpc has no stable response cache: after a crash it may execute requests twice\n",
			  &path->at);
}

/**
 * dafs_path_attach() - make a connection the current one
 * @path: the path
 * @conn: from dafs_path_joining(); the path takes over the caller's reference
 *
 * Context: may sleep.
 * Return: 0, -ENOTCONN if it is lost already, or -ESHUTDOWN if the path is not used any more.
 */
int dafs_path_attach(struct dafs_path *path, struct dafs_conn *conn)
{
	bool say = false;
	int err;

	spin_lock_irq(&path->ses->lock);
	err = dafs_path_take(path, conn);
	if (!err) {
		say = path->logged_down;
		path->logged_down = false;
	}
	spin_unlock_irq(&path->ses->lock);
	if (say)
		pr_notice("dafs: server %pISpc: connected again\n", &path->at);
	if (!err)
		dafs_path_check_stable(path, conn);
	return err;
}

static bool dafs_session_has_conn(const struct dafs_session *ses)
{
	unsigned int i;

	lockdep_assert_held(&ses->lock);
	for (i = 0; i < DAFS_MAX_PATHS; i++)
		if (ses->paths[i].conn)
			return true;
	return false;
}

/**
 * dafs_path_detach() - have no current connection any more
 * @path: the path
 * @conn: the connection: if another one is current, nothing happens; NULL for any
 *
 * Context: may sleep.
 * Return: the connection that was current, with its reference, or NULL.
 */
struct dafs_conn *dafs_path_detach(struct dafs_path *path, struct dafs_conn *conn)
{
	struct dafs_session *ses = path->ses;
	struct dafs_conn *was = NULL;

	spin_lock_irq(&ses->lock);
	if (!conn || path->conn == conn) {
		was = path->conn;
		path->conn = NULL;
		if (!dafs_session_has_conn(ses))
			dafs_session_set_state(ses, DAFS_SES_DOWN);
		dafs_session_wake(ses);
	}
	spin_unlock_irq(&ses->lock);
	return was;
}

/* Return: true if all that was on its way has been answered. */
static bool dafs_conn_unused(const struct dafs_conn *conn)
{
	unsigned int tries = DAFS_FAREWELL_TRIES;

	while (kref_read(&conn->ref) > 1 && tries--)
		msleep(DAFS_FAREWELL_MS);
	return kref_read(&conn->ref) == 1 && dafs_chan_is_open(conn->op);
}

/*
 * Its last session may still be one to the server, and what was lost with it is not told until it
 * is over: unless the server was told that it is, the path connects once more, which ends it, see
 * dafs_path_use().
 */
static void dafs_path_leave(struct dafs_path *path, bool told)
{
	spin_lock_irq(&path->ses->lock);
	if (told)
		path->owes = false;
	path->leaving = path->owes && path->ses->state != DAFS_SES_DEAD;
	if (path->leaving)
		mod_delayed_work(dafs_reconnect_wq, &path->reconnect, 0);
	spin_unlock_irq(&path->ses->lock);
}

/**
 * dafs_path_retire() - a path is not needed any more
 * @path: the path
 * @polite: the server has answered so far
 *
 * What is on its way on it is answered before it ends, if the server answers.  If that takes too
 * long the session is not ended properly, so that the server keeps what the client will ask for.
 *
 * Context: may sleep.
 * Return: false if not @polite, or if the server has not answered.
 */
bool dafs_path_retire(struct dafs_path *path, bool polite)
{
	struct dafs_conn *conn = dafs_path_detach(path, NULL);
	bool told = false;

	if (conn && polite && dafs_conn_unused(conn)) {
		told = dafs_conn_notify(conn, DAFS_PROC_DISCONNECT, NULL);
		polite = told;
	}
	if (conn)
		dafs_conn_drop(conn);
	else
		dafs_path_end(path);
	dafs_path_leave(path, told);
	return polite;
}

/**
 * dafs_path_end() - a path is not used any more
 * @path: the path
 *
 * Context: may sleep.
 */
void dafs_path_end(struct dafs_path *path)
{
	struct dafs_conn *conn = dafs_path_detach(path, NULL);
	struct dafs_conn *joining;

	if (conn)
		dafs_conn_drop(conn);
	spin_lock_irq(&path->ses->lock);
	path->logged_down = false;
	joining = path->joining;
	if (joining)
		kref_get(&joining->ref);
	spin_unlock_irq(&path->ses->lock);
	if (joining)
		dafs_conn_drop(joining);
}

/**
 * dafs_client_path_info() - how is one of the paths of a client?
 * @clnt: the client
 * @nr: its number, from 0
 * @info: filled
 *
 * Context: may sleep.
 * Return: false if there is no such path.
 */
bool dafs_client_path_info(const struct dafs_client *clnt, unsigned int nr,
			   struct dafs_path_info *info)
{
	struct dafs_session *ses = clnt->ses;
	struct dafs_conn *conn;
	struct dafs_path *path;

	if (nr >= READ_ONCE(ses->nr_paths))
		return false;
	path = &ses->paths[nr];
	conn = dafs_path_try_get(path);
	spin_lock_irq(&ses->lock);
	*info = (struct dafs_path_info){
		.at = path->at,
		.up = conn,
		.reconnects = path->reconnects,
	};
	spin_unlock_irq(&ses->lock);
	if (conn) {
		info->outstanding = dafs_requester_outstanding(conn->rq);
		info->credits = dafs_requester_nreq(conn->rq);
		dafs_conn_put(conn);
	}
	return true;
}
