// SPDX-License-Identifier: GPL-2.0
/*
 * Directives: what the server asks of a client, on a back-control channel (3.1.2.3.3, 6.6).
 *
 * A directive goes to any session of the client that has such a channel.  The sender does
 * not wait for the response.  A connection ends when dafsd_conn.busy has dropped to 0, and
 * that fails the directives that are under way; so a directive holds it only while it is
 * being sent.
 */
#include <linux/dafs/requester.h>
#include "server.h"
#include "client.h"
#include "conn.h"
#include "directive.h"
#include "session.h"

/* The back-control channel, which does not end before dafsd_back_leave(); or NULL */
static struct dafsd_conn *dafsd_back_enter(struct dafsd_session *ses)
{
	struct dafsd_conn *bc;

	spin_lock(&ses->lock);
	bc = ses->bc;
	/* pairs with dafsd_conn_set_state(): it has a requester then */
	if (bc && (smp_load_acquire(&bc->state) != DAFSD_CONN_BOUND ||
		   !dafs_chan_is_open(bc->chan) || !atomic_inc_not_zero(&bc->busy)))
		bc = NULL;
	spin_unlock(&ses->lock);
	return bc;
}

static void dafsd_back_leave(struct dafsd_conn *bc)
{
	if (atomic_dec_and_test(&bc->busy))
		dafsd_conn_idle(bc);
}

/**
 * dafsd_session_takes_directives() - is a back-control channel bound to a session?
 * @ses: the session
 *
 * Context: any but interrupt.
 * Return: true if so, at this moment.
 */
bool dafsd_session_takes_directives(struct dafsd_session *ses)
{
	struct dafsd_conn *bc = dafsd_back_enter(ses);

	if (bc)
		dafsd_back_leave(bc);
	return bc;
}

static void dafsd_directive_done(struct dafs_call *call)
{
	struct dafsd_directive *dir = call->priv;

	/* E-89 */
	if (!call->error)
		dafsd_client_renew(dir->client);
	dir->done(dir, call);
	dafs_call_put(call);
}

static int dafsd_direct_on(struct dafsd_session *ses, struct dafsd_directive *dir)
{
	struct dafsd_conn *bc = dafsd_back_enter(ses);
	struct dafs_call *call;
	int err = -ENOMEM;

	if (!bc)
		return -ENOTCONN;
	call = dafs_call_alloc(GFP_KERNEL);
	if (!call)
		goto leave;
	call->proc = dir->proc;
	call->args = dir->args;
	call->priv = dir;
	call->done = dafsd_directive_done;
	/* unlike dafs_call_start() this does not wait for a slot */
	err = dafs_call_start_chain(bc->requester, call);
	if (err)
		dafs_call_put(call);
leave:
	dafsd_back_leave(bc);
	return err;
}

/**
 * dafsd_direct() - send a directive by any session of a client
 * @dir: filled in
 *
 * Context: may sleep, but not for long.
 * Return: 0; -ENOTCONN if no session of the client has a back-control channel; -EAGAIN if as
 * many directives are under way as the client allows; -ENOMEM.
 */
int dafsd_direct(struct dafsd_directive *dir)
{
	struct dafsd_client *client = dir->client;
	struct dafsd_session *ses;
	int err = -ENOTCONN;

	mutex_lock(&client->server->clients_lock);
	list_for_each_entry(ses, &client->sessions, client_node) {
		err = dafsd_direct_on(ses, dir);
		if (!err)
			break;
	}
	mutex_unlock(&client->server->clients_lock);
	return err;
}
