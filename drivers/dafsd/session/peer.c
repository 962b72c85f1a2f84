// SPDX-License-Identifier: GPL-2.0
/*
 * Peers: limits of the resources that one address, and all addresses together, may use.
 *
 * The state of clients takes memory until it is released or the lease expires, and the
 * data of requests until the response has been sent.  Both are counted, roughly, in bytes.
 * There is a limit for each, a part of the machine's memory.  A quarter of this limit is
 * not available to any single address, and neither is a quarter of the connections and
 * sessions.  So a single machine cannot use up the resources of all others.
 */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/jhash.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include "server.h"
#include "peer.h"
#include "conn.h"

unsigned int dafsd_max_state;
module_param_named(max_state, dafsd_max_state, uint, 0644);
MODULE_PARM_DESC(max_state,
		 "MiB of memory for what clients have: opens, locks, credentials (default 0: an eighth of the memory)");

/* of the machine's memory, which all servers would share */
static atomic_long_t dafsd_charged[DAFSD_NR_CHARGES];

/**
 * dafsd_addr_of() - the address of a socket
 * @ss: of IPv4 or IPv6
 *
 * Context: any.
 * Return: the address, one of IPv4 mapped to IPv6.
 */
struct in6_addr dafsd_addr_of(const struct sockaddr_storage *ss)
{
	struct in6_addr addr;

	if (ss->ss_family == AF_INET6)
		return ((const struct sockaddr_in6 *)ss)->sin6_addr;
	ipv6_addr_set_v4mapped(((const struct sockaddr_in *)ss)->sin_addr.s_addr, &addr);
	return addr;
}

/*
 * Ports are ignored.  A machine in an IPv6 network can use many addresses in its /64, so the
 * whole /64 counts as one address.  Link-local addresses count one by one, because all
 * machines of a link share their /64.
 */
static struct in6_addr dafsd_peer_addr(const struct sockaddr_storage *ss)
{
	struct in6_addr addr, whole = dafsd_addr_of(ss);

	if (ipv6_addr_v4mapped(&whole) || ipv6_addr_type(&whole) & IPV6_ADDR_LINKLOCAL)
		return whole;
	ipv6_addr_prefix(&addr, &whole, 64);
	return addr;
}

static u32 dafsd_peer_hash(const struct in6_addr *addr)
{
	return jhash(addr, sizeof(*addr), 0);
}

static struct dafsd_peer *dafsd_peer_lookup(struct dafsd_server *server,
					    const struct in6_addr *addr)
{
	struct dafsd_peer *peer;

	lockdep_assert_held(&server->peers_lock);
	hash_for_each_possible(server->peers, peer, node, dafsd_peer_hash(addr))
		if (ipv6_addr_equal(&peer->addr, addr)) {
			peer->users++;
			return peer;
		}
	return NULL;
}

/**
 * dafsd_peer_find() - the record of an address
 * @server: the server
 * @ss: the address
 *
 * Context: may sleep.
 * Return: a reference to the record of the address, or NULL without memory.
 */
struct dafsd_peer *dafsd_peer_find(struct dafsd_server *server, const struct sockaddr_storage *ss)
{
	struct dafsd_peer *new = kzalloc(sizeof(*new), GFP_KERNEL);
	struct dafsd_peer *peer;

	if (!new)
		return NULL;
	new->server = server;
	new->users = 1;
	new->addr = dafsd_peer_addr(ss);
	spin_lock(&server->peers_lock);
	peer = dafsd_peer_lookup(server, &new->addr);
	if (!peer)
		hash_add(server->peers, &new->node, dafsd_peer_hash(&new->addr));
	spin_unlock(&server->peers_lock);
	if (!peer)
		return new;
	kfree(new);
	return peer;
}

/**
 * dafsd_peer_get() - take a reference
 * @peer: the record
 *
 * Return: @peer.
 */
struct dafsd_peer *dafsd_peer_get(struct dafsd_peer *peer)
{
	spin_lock(&peer->server->peers_lock);
	peer->users++;
	spin_unlock(&peer->server->peers_lock);
	return peer;
}

/**
 * dafsd_peer_put() - drop a reference
 * @peer: the record
 *
 * Context: process.
 */
void dafsd_peer_put(struct dafsd_peer *peer)
{
	bool last;

	spin_lock(&peer->server->peers_lock);
	last = !--peer->users;
	if (last)
		hash_del(&peer->node);
	spin_unlock(&peer->server->peers_lock);
	if (!last)
		return;
	WARN_ON_ONCE(atomic_long_read(&peer->bytes[DAFSD_CHARGE_STATE]) ||
		     atomic_long_read(&peer->bytes[DAFSD_CHARGE_DATA]));
	kfree(peer);
}

static long dafsd_charge_most(enum dafsd_charge what)
{
	unsigned int mib = READ_ONCE(dafsd_max_state);

	if (what == DAFSD_CHARGE_DATA)
		return (long)(totalram_pages() / 4) << PAGE_SHIFT;
	if (!mib)
		return (long)(totalram_pages() / 8) << PAGE_SHIFT;
	return min_t(u64, (u64)mib << 20, LONG_MAX);
}

/**
 * dafsd_peer_charge() - account for memory that the server uses for a client
 * @peer: the record of its address
 * @what: purpose of the memory
 * @bytes: size of the memory
 *
 * Context: any.
 * Return: false if a limit would be exceeded; then nothing is accounted.
 */
bool dafsd_peer_charge(struct dafsd_peer *peer, enum dafsd_charge what, size_t bytes)
{
	long most = dafsd_charge_most(what);

	if (atomic_long_add_return(bytes, &dafsd_charged[what]) > most)
		goto all;
	if (atomic_long_add_return(bytes, &peer->bytes[what]) > dafsd_peer_share(most))
		goto peer;
	return true;

peer:
	atomic_long_sub(bytes, &peer->bytes[what]);
all:
	atomic_long_sub(bytes, &dafsd_charged[what]);
	return false;
}

/**
 * dafsd_peer_fits() - would the limit of an address alone allow this?
 * @peer: the record of the address
 * @what: purpose of the memory
 * @bytes: size of the memory
 *
 * Context: any; the answer may be old.
 * Return: true if so, though the limit of all addresses together may not.
 */
bool dafsd_peer_fits(const struct dafsd_peer *peer, enum dafsd_charge what, size_t bytes)
{
	return atomic_long_read(&peer->bytes[what]) + (long)bytes <=
	       (long)dafsd_peer_share(dafsd_charge_most(what));
}

/**
 * dafsd_peer_charge_more() - account for memory that is in use already
 * @peer: the record of its address
 * @what: purpose of the memory
 * @bytes: size of the memory
 *
 * For memory that others allocate for the client, after dafsd_peer_charge() has shown that
 * there is room for it.
 *
 * Context: any.
 */
void dafsd_peer_charge_more(struct dafsd_peer *peer, enum dafsd_charge what, size_t bytes)
{
	atomic_long_add(bytes, &dafsd_charged[what]);
	atomic_long_add(bytes, &peer->bytes[what]);
}

/**
 * dafsd_peer_uncharge() - undo dafsd_peer_charge() when the memory is freed
 * @peer: as in dafsd_peer_charge()
 * @what: likewise
 * @bytes: likewise
 *
 * Context: any.
 */
void dafsd_peer_uncharge(struct dafsd_peer *peer, enum dafsd_charge what, size_t bytes)
{
	atomic_long_sub(bytes, &peer->bytes[what]);
	atomic_long_sub(bytes, &dafsd_charged[what]);
}

static bool dafsd_addr_equal(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	if (a->ss_family != b->ss_family)
		return false;
	if (a->ss_family == AF_INET)
		return ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
		       ((const struct sockaddr_in *)b)->sin_addr.s_addr;
	return ipv6_addr_equal(&((const struct sockaddr_in6 *)a)->sin6_addr,
			       &((const struct sockaddr_in6 *)b)->sin6_addr);
}

/**
 * dafsd_conn_is_local() - is the client of a connection on this machine?
 * @conn: the connection
 *
 * Context: any.
 * Return: true if the client has the server's address.
 */
bool dafsd_conn_is_local(const struct dafsd_conn *conn)
{
	const struct rdma_addr *addr = &conn->chan->id->route.addr;

	return dafsd_addr_equal(&addr->src_addr, &addr->dst_addr);
}
