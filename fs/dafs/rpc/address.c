// SPDX-License-Identifier: GPL-2.0
/*
 * Where a path leads to: the addresses of the server, and those of others that have its file
 * systems if it fails (5.3).
 *
 * A path has one of the server's addresses as its own, so that all are used.  It goes by another
 * while that one fails.  Only if no path leads to the server are the alternates tried, in turn
 * with the server.  When one of them has taken over, all paths go to it.
 */
#include <net/ipv6.h>
#include "rpc_impl.h"

/**
 * dafs_addr_equal() - do two addresses lead to the same place?
 * @a: of IPv4 or IPv6, or of no family
 * @b: likewise
 *
 * Ports do not count; interfaces do, where they are part of the address.
 *
 * Context: any.
 * Return: true if so.
 */
bool dafs_addr_equal(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	const struct sockaddr_in6 *a6 = (const struct sockaddr_in6 *)a;
	const struct sockaddr_in6 *b6 = (const struct sockaddr_in6 *)b;

	if (a->ss_family != b->ss_family)
		return false;
	if (a->ss_family == AF_INET6)
		return ipv6_addr_equal(&a6->sin6_addr, &b6->sin6_addr) &&
		       a6->sin6_scope_id == b6->sin6_scope_id;
	return a->ss_family == AF_UNSPEC ||
	       ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
	       ((const struct sockaddr_in *)b)->sin_addr.s_addr;
}

static struct sockaddr_storage dafs_client_own(const struct dafs_client *clnt, unsigned int nr)
{
	return nr ? dafs_addr_storage(&clnt->params.more[nr - 1]) : clnt->params.dst;
}

/* The addresses of the server, over and over, beginning with that of the path. */
static struct sockaddr_storage dafs_path_own(const struct dafs_path *path, unsigned int nr)
{
	const struct dafs_client *clnt = path->ses->clnt;

	return dafs_client_own(clnt, (path->nr + nr) % (1 + clnt->params.nr_more));
}

/**
 * dafs_path_home() - the address that a path uses as long as it can
 * @path: the path
 *
 * Context: any.
 * Return: the address.
 */
struct sockaddr_storage dafs_path_home(const struct dafs_path *path)
{
	return dafs_path_own(path, 0);
}

/* Return: the number of the address among the server's own, or -1. */
static int dafs_client_own_nr(const struct dafs_client *clnt, const struct sockaddr_storage *addr)
{
	struct sockaddr_storage own;
	int i;

	for (i = 0; i <= (int)clnt->params.nr_more; i++) {
		own = dafs_client_own(clnt, i);
		if (dafs_addr_equal(addr, &own))
			return i;
	}
	return -1;
}

/**
 * dafs_path_own_nr() - to which address of the server that was mounted does a path lead?
 * @path: the path
 *
 * Context: holds the lock of its session.
 * Return: its number, from 0; -1 if it leads to one that has taken over, or may.
 */
int dafs_path_own_nr(const struct dafs_path *path)
{
	lockdep_assert_held(&path->ses->lock);
	return dafs_client_own_nr(path->ses->clnt, &path->at);
}

/**
 * dafs_path_other() - another path that has a connection
 * @path: the path
 *
 * Context: holds the lock of its session.
 * Return: one of them, or NULL.
 */
const struct dafs_path *dafs_path_other(const struct dafs_path *path)
{
	const struct dafs_session *ses = path->ses;
	unsigned int i;

	lockdep_assert_held(&ses->lock);
	for (i = 0; i < ses->nr_paths; i++) {
		const struct dafs_path *other = &ses->paths[i];

		if (other != path && other->conn && dafs_chan_is_open(other->conn->op))
			return other;
	}
	return NULL;
}

static struct sockaddr_storage dafs_session_served_by(struct dafs_session *ses)
{
	struct sockaddr_storage addr;

	spin_lock_irq(&ses->lock);
	addr = ses->served_by;
	spin_unlock_irq(&ses->lock);
	return addr;
}

/* The addresses that are tried while nothing is connected */
static unsigned int dafs_session_places(struct dafs_session *ses)
{
	const struct sockaddr_storage served_by = dafs_session_served_by(ses);
	struct dafs_client *clnt = ses->clnt;

	return 1 + clnt->params.nr_more + dafs_client_alternates(clnt) +
	       (dafs_client_own_nr(clnt, &served_by) < 0);
}

/**
 * dafs_path_places() - how many addresses are tried in turn for a path?
 * @path: the path
 *
 * Context: any but interrupt; the lock of its session is not held.
 * Return: their number.
 */
unsigned int dafs_path_places(struct dafs_path *path)
{
	struct dafs_session *ses = path->ses;
	unsigned int places = dafs_session_places(ses);
	const struct dafs_path *other;

	spin_lock_irq(&ses->lock);
	other = dafs_path_other(path);
	if (other)
		places = dafs_path_own_nr(other) < 0 ? 1 : 1 + ses->clnt->params.nr_more;
	spin_unlock_irq(&ses->lock);
	return places;
}

/*
 * Where to search while nothing is connected: first where it was, and then in turn the server that
 * was mounted, its alternates, and the server that the client used last, if it is not among these.
 */
static struct sockaddr_storage dafs_path_search(const struct dafs_path *path)
{
	struct dafs_client *clnt = path->ses->clnt;
	unsigned int own = 1 + clnt->params.nr_more;
	unsigned int attempts = READ_ONCE(path->attempts);
	struct sockaddr_storage there;
	unsigned int nr;

	if (!attempts)
		return path->at;
	nr = (attempts - 1) % dafs_session_places(path->ses);
	if (nr < own)
		return dafs_path_own(path, nr);
	if (dafs_client_alternate(clnt, nr - own, &there))
		return there;
	return dafs_session_served_by(path->ses);
}

/**
 * dafs_path_aim() - choose the address for the next attempt to connect
 * @path: the path, without a connection; its @at is set
 *
 * Context: any but interrupt; nothing else changes @at.
 */
void dafs_path_aim(struct dafs_path *path)
{
	struct sockaddr_storage there = dafs_path_search(path);
	struct dafs_session *ses = path->ses;
	const struct dafs_path *other;

	spin_lock_irq(&ses->lock);
	other = dafs_path_other(path);
	if (!other)
		path->at = there;
	else if (dafs_path_own_nr(other) >= 0)
		path->at = dafs_path_own(path, path->attempts);
	else
		path->at = other->at;
	spin_unlock_irq(&ses->lock);
}
