// SPDX-License-Identifier: GPL-2.0
/*
 * What waits for a connection, and goes on when there is one, or will be none.
 *
 * Tasks sleep.  What has no task is parked with the session: a server that is away for
 * an hour may have thousands of reads and writes waiting for it.
 */
#include "rpc_impl.h"

/* Nothing is waited for any more, whatever it is. */
static bool dafs_session_is_over(const struct dafs_session *ses)
{
	return ses->state == DAFS_SES_DEAD || ses->fail_waiters;
}

/* To connect, since the last connection was lost, by the path that has tried least. */
static unsigned int dafs_session_attempts(const struct dafs_session *ses)
{
	unsigned int least = UINT_MAX, i;

	lockdep_assert_held(&ses->lock);
	for (i = 0; i < ses->nr_paths; i++)
		least = min(least, ses->paths[i].attempts);
	return least;
}

static bool dafs_session_no_wait(const struct dafs_session *ses)
{
	const struct dafs_client_params *params = &ses->clnt->params;

	return dafs_session_is_over(ses) ||
	       (READ_ONCE(params->soft) &&
		dafs_session_attempts(ses) >= READ_ONCE(params->retrans));
}

/* The connection of a path that is up.  Return: NULL if there is none. */
static struct dafs_conn *dafs_path_conn(const struct dafs_path *path)
{
	lockdep_assert_held(&path->ses->lock);
	/* one that failed is current until its end is seen to; nothing shall spin on it */
	return path->conn && dafs_chan_is_open(path->conn->op) ? path->conn : NULL;
}

/*
 * The connection to send on: one with the fewest requests outstanding, so that none goes by a
 * slow path while others are idle; each processor begins to look at another one.
 */
static struct dafs_conn *dafs_session_pick(const struct dafs_session *ses)
{
	unsigned int first = raw_smp_processor_id(), nr = ses->nr_paths, least = UINT_MAX, i;
	struct dafs_conn *best = NULL;

	if (nr == 1)
		return dafs_path_conn(&ses->paths[0]);
	for (i = 0; i < nr; i++) {
		struct dafs_conn *conn = dafs_path_conn(&ses->paths[(first + i) % nr]);
		unsigned int load = conn ? dafs_requester_outstanding(conn->rq) : UINT_MAX;

		if (load < least) {
			least = load;
			best = conn;
		}
	}
	return best;
}

static bool dafs_session_is_connected(const struct dafs_session *ses)
{
	return dafs_session_pick(ses);
}

/* Is there no connection now, but may be later? */
static bool dafs_session_must_wait(const struct dafs_session *ses)
{
	return !dafs_session_is_connected(ses) && !dafs_session_no_wait(ses);
}

/**
 * dafs_conn_try_get() - a current connection, if there is one
 * @ses: the session
 *
 * Context: any.
 * Return: the connection with a reference; NULL if the session has no connection now; or
 * an ERR_PTR of -EIO on a dead session, -ETIMEDOUT on a soft mount that gave up.
 */
struct dafs_conn *dafs_conn_try_get(struct dafs_session *ses)
{
	struct dafs_conn *conn;
	unsigned long flags;

	spin_lock_irqsave(&ses->lock, flags);
	conn = dafs_session_pick(ses);
	if (conn)
		kref_get(&conn->ref);
	else if (dafs_session_no_wait(ses))
		conn = ERR_PTR(ses->state == DAFS_SES_DEAD || ses->fail_waiters ?
			       -EIO : -ETIMEDOUT);
	spin_unlock_irqrestore(&ses->lock, flags);
	return conn;
}

/**
 * dafs_path_try_get() - the current connection of a path, if there is one
 * @path: the path
 *
 * Context: any.
 * Return: the connection with a reference, or NULL.
 */
struct dafs_conn *dafs_path_try_get(struct dafs_path *path)
{
	struct dafs_conn *conn;
	unsigned long flags;

	spin_lock_irqsave(&path->ses->lock, flags);
	conn = dafs_path_conn(path);
	if (conn)
		kref_get(&conn->ref);
	spin_unlock_irqrestore(&path->ses->lock, flags);
	return conn;
}

/**
 * dafs_session_is_up() - is there a connection?
 * @ses: the session
 *
 * Context: any.
 * Return: true if so, at this moment.
 */
bool dafs_session_is_up(struct dafs_session *ses)
{
	struct dafs_conn *conn = dafs_conn_try_get(ses);

	if (IS_ERR_OR_NULL(conn))
		return false;
	dafs_conn_put(conn);
	return true;
}

/**
 * dafs_conn_present() - the current connection of a client
 * @clnt: the client
 *
 * Context: any.
 * Return: the connection with a reference, or NULL if the client has no connection now.
 */
struct dafs_conn *dafs_conn_present(struct dafs_client *clnt)
{
	struct dafs_conn *conn = dafs_conn_try_get(clnt->ses);

	return IS_ERR(conn) ? NULL : conn;
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
	struct dafs_session *ses = clnt->ses;
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
	struct dafs_conn *conn = dafs_conn_try_get(clnt->ses);
	bool busy;

	if (IS_ERR_OR_NULL(conn))
		return true;
	busy = dafs_requester_busy(conn->rq);
	dafs_conn_put(conn);
	return busy;
}

static bool dafs_left(const bool *leave)
{
	return leave && READ_ONCE(*leave);
}

/**
 * dafs_conn_get_unless() - a connection to send on, or none if it is not worth waiting
 * @clnt: the client
 * @leave: the wait ends when this is true, see dafs_client_look_again(); or NULL
 *
 * Waits as long as the client is told to: on a hard mount for ever, on a soft one
 * until its attempts are used up.  A task that exits could not be killed out of it, so
 * it does not wait, but is told that it was killed.
 *
 * Context: may sleep; a fatal signal ends the wait.
 * Return: the connection with a reference, or an ERR_PTR of -EIO, -ETIMEDOUT
 * or -ERESTARTSYS.
 */
struct dafs_conn *dafs_conn_get_unless(struct dafs_client *clnt, const bool *leave)
{
	struct dafs_session *ses = clnt->ses;
	struct dafs_conn *conn = dafs_conn_try_get(ses);
	int err;

	if (conn || dafs_task_exits())
		return conn ?: ERR_PTR(-ERESTARTSYS);
	err = wait_event_killable(ses->wait, (conn = dafs_conn_try_get(ses)) || dafs_left(leave));
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

/* Return: true if it was parked, and may have gone on already. */
static bool dafs_session_park(struct dafs_session *ses, struct dafs_park *park)
{
	unsigned long flags;
	bool wait;

	spin_lock_irqsave(&ses->lock, flags);
	wait = park->patient ? !dafs_session_is_connected(ses) && !dafs_session_is_over(ses) :
			       dafs_session_must_wait(ses);
	wait &= !dafs_left(park->leave);
	if (wait)
		list_add_tail(&park->link, &ses->parked);
	spin_unlock_irqrestore(&ses->lock, flags);
	return wait;
}

/**
 * dafs_conn_get_or_park() - a connection to send on, or to be resumed when there is one
 * @clnt: the client
 * @park: resume is set, which is called once, and leave
 *
 * Context: any.
 * Return: the connection with a reference; NULL if it was parked, and what it is part of
 * may be gone already; or an ERR_PTR, as dafs_conn_get_unless().
 */
struct dafs_conn *dafs_conn_get_or_park(struct dafs_client *clnt, struct dafs_park *park)
{
	struct dafs_session *ses = clnt->ses;
	struct dafs_conn *conn;

	do {
		conn = dafs_conn_try_get(ses);
		if (park->patient && conn == ERR_PTR(-ETIMEDOUT))
			conn = NULL;
		if (!conn && dafs_left(park->leave))
			return ERR_PTR(-EIO);
	} while (!conn && !dafs_session_park(ses, park));
	return conn;
}

/* All that is parked has another look. */
static void dafs_session_resume(struct dafs_session *ses)
{
	struct dafs_park *park;

	lockdep_assert_held(&ses->lock);
	while ((park = list_first_entry_or_null(&ses->parked, struct dafs_park, link))) {
		list_del(&park->link);
		park->resume(park);
	}
}

/**
 * dafs_session_wake() - what waits for a connection has another look
 * @ses: the session, locked; what dafs_conn_try_get() returns may have changed
 *
 * Context: any.
 */
void dafs_session_wake(struct dafs_session *ses)
{
	lockdep_assert_held(&ses->lock);
	wake_up_all(&ses->wait);
	if (!dafs_session_must_wait(ses))
		dafs_session_resume(ses);
}

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
	struct dafs_session *ses = clnt->ses;

	spin_lock_irq(&ses->lock);
	ses->fail_waiters = ses->state == DAFS_SES_DOWN;
	dafs_session_wake(ses);
	spin_unlock_irq(&ses->lock);
}

/**
 * dafs_client_look_again() - a mount does not wait for the server any more
 * @clnt: the client
 *
 * To be called when what struct dafs_op and struct dafs_park have as leave has become
 * true.  The others who use the client go on waiting.
 *
 * Context: may sleep.
 */
void dafs_client_look_again(struct dafs_client *clnt)
{
	struct dafs_session *ses = clnt->ses;

	spin_lock_irq(&ses->lock);
	wake_up_all(&ses->wait);
	dafs_session_resume(ses);
	spin_unlock_irq(&ses->lock);
}
