// SPDX-License-Identifier: GPL-2.0
/*
 * What goes on when there is a connection, and holds no task until then.
 *
 * A server that is away for an hour may have thousands of reads and writes
 * waiting for it.  They are parked with the session, and go on when it has a
 * connection again, or will have none.
 */
#include "rpc_impl.h"

/**
 * dafs_session_park() - go on later, unless it is time already
 * @clnt: the client
 * @park: resume is set, which is called once, and leave
 *
 * Context: any.
 * Return: true if it was parked, and may have gone on already; false if
 * dafs_conn_try_get() would not return NULL, or @park->leave is true.
 */
bool dafs_session_park(struct dafs_client *clnt, struct dafs_park *park)
{
	unsigned long flags;
	bool wait;

	spin_lock_irqsave(&clnt->lock, flags);
	wait = dafs_session_must_wait(clnt) && !(park->leave && READ_ONCE(*park->leave));
	if (wait)
		list_add_tail(&park->link, &clnt->parked);
	spin_unlock_irqrestore(&clnt->lock, flags);
	return wait;
}

/**
 * dafs_conn_get_or_park() - a connection to send on, or to be resumed when there is one
 * @clnt: the client
 * @park: as for dafs_session_park()
 *
 * Context: any.
 * Return: the connection with a reference; NULL if it was parked, and what it is part of
 * may be gone already; or an ERR_PTR, as dafs_conn_get_unless().
 */
struct dafs_conn *dafs_conn_get_or_park(struct dafs_client *clnt, struct dafs_park *park)
{
	struct dafs_conn *conn;

	do {
		conn = dafs_conn_try_get(clnt);
		if (!conn && park->leave && READ_ONCE(*park->leave))
			return ERR_PTR(-EIO);
	} while (!conn && !dafs_session_park(clnt, park));
	return conn;
}

/**
 * dafs_session_resume() - all that is parked has another look
 * @clnt: the session, locked
 *
 * Context: any.
 */
void dafs_session_resume(struct dafs_client *clnt)
{
	struct dafs_park *park;

	lockdep_assert_held(&clnt->lock);
	while ((park = list_first_entry_or_null(&clnt->parked, struct dafs_park, link))) {
		list_del(&park->link);
		park->resume(park);
	}
}

/**
 * dafs_session_wake() - who waits for a connection has another look
 * @clnt: the session, locked; what dafs_conn_try_get() returns may have changed
 *
 * Context: any.
 */
void dafs_session_wake(struct dafs_client *clnt)
{
	lockdep_assert_held(&clnt->lock);
	wake_up_all(&clnt->wait);
	if (!dafs_session_must_wait(clnt))
		dafs_session_resume(clnt);
}
