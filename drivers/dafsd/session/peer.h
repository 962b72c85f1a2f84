/* SPDX-License-Identifier: GPL-2.0 */
/* Limits for one client address. */
#ifndef _DAFSD_SESSION_PEER_H
#define _DAFSD_SESSION_PEER_H

#include <linux/in6.h>
#include <linux/list.h>
#include <linux/socket.h>
#include <linux/types.h>

struct dafsd_conn;
struct dafsd_server;

/* Limit for one client address of what all may have together */
static inline unsigned long dafsd_peer_share(unsigned long most)
{
	return most - most / 4;
}

/* What memory is counted for */
enum dafsd_charge {
	DAFSD_CHARGE_STATE,	/* opens, locks and credentials */
	DAFSD_CHARGE_DATA,	/* bulk data of requests */
	DAFSD_NR_CHARGES,
};

/**
 * struct dafsd_peer - what one address has, see peer.c
 * @node: in the table of peers
 * @server: the server that is used from there
 * @users: references: one of each connection and of each client; guarded by
 *	dafsd_server.peers_lock
 * @addr: the address; one of IPv4 is mapped
 * @bytes: memory, by what it is for
 * @conns: connections; guarded by dafsd_server.conns_lock
 * @sessions: guarded by dafsd_server.sessions_lock
 * @respcaches: response caches of sessions that are over; likewise
 * @stable_streams: its part of those of the server; likewise
 * @clients: in the table of clients; guarded by dafsd_server.clients_lock
 */
struct dafsd_peer {
	struct hlist_node node;
	struct dafsd_server *server;
	unsigned int users;
	struct in6_addr addr;
	atomic_long_t bytes[DAFSD_NR_CHARGES];
	unsigned int conns;
	unsigned int sessions;
	unsigned int respcaches;
	unsigned int stable_streams;
	unsigned int clients;
};

extern unsigned int dafsd_max_state;

struct in6_addr dafsd_addr_of(const struct sockaddr_storage *ss);
struct dafsd_peer *dafsd_peer_find(struct dafsd_server *server, const struct sockaddr_storage *ss);
struct dafsd_peer *dafsd_peer_get(struct dafsd_peer *peer);
void dafsd_peer_put(struct dafsd_peer *peer);
bool dafsd_conn_is_local(const struct dafsd_conn *conn);
bool dafsd_peer_charge(struct dafsd_peer *peer, enum dafsd_charge what, size_t bytes);
bool dafsd_peer_fits(const struct dafsd_peer *peer, enum dafsd_charge what, size_t bytes);
void dafsd_peer_charge_more(struct dafsd_peer *peer, enum dafsd_charge what, size_t bytes);
void dafsd_peer_uncharge(struct dafsd_peer *peer, enum dafsd_charge what, size_t bytes);

#endif /* _DAFSD_SESSION_PEER_H */
