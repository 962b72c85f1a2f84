// SPDX-License-Identifier: GPL-2.0
/*
 * Which clients have asked where else an export is if this server fails, and which of them have an
 * old answer (5.3.1).
 *
 * Responses to the latter have DAFS_SPCOND_FAILOVER until they ask again.  Each export has a
 * number, which is not used twice.
 */
#include "server.h"
#include "client.h"
#include "conn.h"
#include "session.h"
#include "told.h"

#define DAFSD_TOLD_OLD		XA_MARK_0

/**
 * dafsd_client_tell() - a client is about to be told where else an export is
 * @client: the client
 * @number: of the export
 *
 * To be called before that is looked up: then it is told again if it changes meanwhile.
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int dafsd_client_tell(struct dafsd_client *client, unsigned long number)
{
	int err = xa_err(xa_store(&client->told, number, xa_mk_value(0), GFP_KERNEL));

	if (!err)
		xa_clear_mark(&client->told, number, DAFSD_TOLD_OLD);
	return err;
}

/**
 * dafsd_clients_retell() - where else an export is has changed
 * @server: the server
 * @number: of the export
 *
 * Context: may sleep.
 */
void dafsd_clients_retell(struct dafsd_server *server, unsigned long number)
{
	struct dafsd_client *client;

	mutex_lock(&server->clients_lock);
	list_for_each_entry(client, &server->clients, node)
		/* does nothing about a client that was not told */
		xa_set_mark(&client->told, number, DAFSD_TOLD_OLD);
	mutex_unlock(&server->clients_lock);
}

/**
 * dafsd_clients_untell() - an export is not served any more, so no client can ask
 * @server: the server
 * @number: of the export
 * @gone: it never will be again
 *
 * Context: may sleep.
 */
void dafsd_clients_untell(struct dafsd_server *server, unsigned long number, bool gone)
{
	struct dafsd_client *client;

	mutex_lock(&server->clients_lock);
	list_for_each_entry(client, &server->clients, node) {
		xa_clear_mark(&client->told, number, DAFSD_TOLD_OLD);
		if (gone)
			xa_erase(&client->told, number);
	}
	mutex_unlock(&server->clients_lock);
}

/**
 * dafsd_conn_special() - what a client is to be told with every response (6.1.3)
 * @conn: the connection that the response goes by
 *
 * Context: any; @conn has a request that is not answered.
 * Return: DAFS_SPCOND_*.
 */
u16 dafsd_conn_special(const struct dafsd_conn *conn)
{
	/* pairs with dafsd_conn_set_state(): the client is set and does not change */
	if (smp_load_acquire(&conn->state) != DAFSD_CONN_READY ||
	    !xa_marked(&conn->ses->client->told, DAFSD_TOLD_OLD))
		return 0;
	return DAFS_SPCOND_FAILOVER;
}
