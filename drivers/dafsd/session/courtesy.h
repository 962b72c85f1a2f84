/* SPDX-License-Identifier: GPL-2.0 */
/* Clients whose lease is over, and whose state is kept until somebody needs it. */
#ifndef _DAFSD_SESSION_COURTESY_H
#define _DAFSD_SESSION_COURTESY_H

#include <linux/types.h>
#include "client.h"

struct dafsd_peer;
struct dafsd_server;

extern unsigned int dafsd_courtesy_seconds;

void dafsd_courtesy_init(struct dafsd_server *server);
unsigned long dafsd_courtesy_time(void);
bool dafsd_client_move(struct dafsd_client *client, enum dafsd_client_life from,
		       enum dafsd_client_life to);
void dafsd_client_hurry(struct dafsd_client *client);
bool dafsd_courtesy_end(struct dafsd_client *client);
void dafsd_courtesy_over(struct dafsd_client *client);
void dafsd_courtesy_wait(const struct dafsd_client *client);
void dafsd_courtesy_wait_all(struct dafsd_server *server);
struct dafsd_client *dafsd_courtesy_oldest(struct dafsd_server *server,
					   const struct dafsd_peer *peer);
struct dafsd_client *dafsd_courtesy_make_room(struct dafsd_peer *peer, size_t bytes);
bool dafsd_courtesy_wait_room(struct dafsd_client *client);
void dafsd_courtesy_forget(struct dafsd_client *client);

/**
 * dafsd_courtesy_has() - is what a client has kept out of courtesy only?
 * @client: the client
 *
 * Context: any; the answer may be old.
 * Return: true if so, or if it is just being taken from it.
 */
static inline bool dafsd_courtesy_has(const struct dafsd_client *client)
{
	return READ_ONCE(client->life) == DAFSD_CLIENT_COURTEOUS || READ_ONCE(client->yields);
}

#endif /* _DAFSD_SESSION_COURTESY_H */
