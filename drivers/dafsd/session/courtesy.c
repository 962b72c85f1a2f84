// SPDX-License-Identifier: GPL-2.0
/*
 * Courtesy to clients whose lease is over (4.4.1.2): what they have is kept until somebody
 * needs it.
 *
 *	ACTIVE ------> COURTEOUS	its lease is over, and it has something to lose
 *	COURTEOUS ---> ACTIVE		it has authenticated again, and finds all as it was
 *	COURTEOUS ---> LEAVING		it is in the way of another client or of a local program,
 *					room is needed, or its time is over
 *	ACTIVE ------> LEAVING		it is ended by hand, or does not return a delegation
 *	LEAVING -----> ACTIVE		its state was taken, but it has late changes
 *	all ---------> DISCARDED	its state is taken, and it is not in the table any more
 *
 *  1. dafsd_client_move() alone changes dafsd_client.life, under dafsd_server.courtesy_lock.  No
 *     lock but those of work queues is taken under that.  It is taken under any other: a conflict
 *     is found under the kernel's lock of the byte-range locks and leases of a file, under that of
 *     our table of states, or of a file.
 *  2. Who finds a conflict does not take the state, but moves the client to LEAVING, by which its
 *     lease_work starts at once (dafsd_courtesy_end()).  So it does not sleep.  The client exists,
 *     because what is in the way has a reference to it.
 *  3. The state is taken when the record of the client is gone for good, as at the end of any
 *     lease: so after a restart the client cannot reclaim what others were given meanwhile.
 *  4. dafsd_client.yields is set from the end of the courtesy until the state was taken; without
 *     courtesy, from DISCARDED on: the client may be back by then, as another one.  Who waits
 *     for that holds no lock: taking the state needs dafsd_server.clients_lock, dafsd_locker.lock
 *     and dafsd_persist_sem, and waits for the disk of the state directory.  So a request waits
 *     when its handler has returned, and is handled anew; a local program waits in
 *     lm_expire_lock(), which the kernel calls without locks.
 *  5. A conflict that was there before the lease was over allows no courtesy, as nobody would end
 *     it: dafsd_client_ops.may_stay() looks for those who wait for a byte-range lock, and
 *     dafsd_client.nr_recalls counts what the client has to return.  A recall is counted before
 *     dafsd_courtesy_end() is called for it, so either this or dafsd_client_move() sees it.
 *  6. What there is no room for is allocated anew when the memory of one client was freed, its
 *     files being closed, and so on until there is room.  All requests without room wait for the
 *     same client (dafsd_server.giving).  If closing its files takes long, they do not wait for
 *     it any more, but for the next one.
 */
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/wait_bit.h>
#include "server.h"
#include "client.h"
#include "courtesy.h"
#include "peer.h"
#include "trace.h"

#define DAFSD_COURTESY_SECONDS	86400
#define DAFSD_COURTESY_MAX	604800U

/* How long a request waits for the files of a client that was ended for its memory to be closed */
#define DAFSD_ROOM_WAIT		(2 * HZ)

unsigned int dafsd_courtesy_seconds = DAFSD_COURTESY_SECONDS;
module_param_named(courtesy, dafsd_courtesy_seconds, uint, 0644);
MODULE_PARM_DESC(courtesy,
		 "seconds for which a client whose lease is over keeps what nobody else needs (0-604800, default 86400)");

static int dafsd_courteous_param_get(char *buf, const struct kernel_param *kp)
{
	const struct dafsd_server *server = kp->arg;

	return sysfs_emit(buf, "%u\n", READ_ONCE(server->nr_courteous));
}

static const struct kernel_param_ops dafsd_courteous_param_ops = {
	.get = dafsd_courteous_param_get,
};

module_param_cb(courteous, &dafsd_courteous_param_ops, &dafsd_server, 0444);
MODULE_PARM_DESC(courteous, "clients whose lease is over, and that have not lost anything yet");

/**
 * dafsd_courtesy_init() - there are no clients
 * @server: the server
 *
 * Context: module initialization.
 */
void dafsd_courtesy_init(struct dafsd_server *server)
{
	spin_lock_init(&server->courtesy_lock);
	INIT_LIST_HEAD(&server->courteous);
	INIT_LIST_HEAD(&server->giving);
}

/**
 * dafsd_courtesy_time() - how long is the state of a client kept after its lease?
 *
 * Context: any.
 * Return: jiffies; 0 if it is not kept.
 */
unsigned long dafsd_courtesy_time(void)
{
	return min(READ_ONCE(dafsd_courtesy_seconds), DAFSD_COURTESY_MAX) * HZ;
}

static const char *dafsd_life_name(enum dafsd_client_life life)
{
	switch (life) {
	case DAFSD_CLIENT_ACTIVE:
		return "active";
	case DAFSD_CLIENT_COURTEOUS:
		return "courteous";
	case DAFSD_CLIENT_LEAVING:
		return "leaving";
	case DAFSD_CLIENT_DISCARDED:
		break;
	}
	return "discarded";
}

static void dafsd_courtesy_begins(struct dafsd_client *client)
{
	struct dafsd_server *server = client->server;

	list_move_tail(&client->courtesy_link, &server->courteous);
	WRITE_ONCE(server->nr_courteous, server->nr_courteous + 1);
	client->courteous_since = jiffies;
}

static void dafsd_courtesy_ends(struct dafsd_client *client)
{
	struct dafsd_server *server = client->server;

	list_del_init(&client->courtesy_link);
	WRITE_ONCE(server->nr_courteous, server->nr_courteous - 1);
}

/* From now on others wait for the end of what it has. */
static void dafsd_client_yield(struct dafsd_client *client)
{
	struct dafsd_server *server = client->server;

	list_move_tail(&client->courtesy_link, &server->giving);
	client->yield = ++server->nr_yields;
	WRITE_ONCE(client->yields, true);
}

static bool dafsd_client_move_locked(struct dafsd_client *client, enum dafsd_client_life from,
				     enum dafsd_client_life to)
{
	if (client->life != from)
		return false;
	if (to == DAFSD_CLIENT_COURTEOUS && atomic_read(&client->nr_recalls))
		return false;
	if (to == DAFSD_CLIENT_COURTEOUS)
		dafsd_courtesy_begins(client);
	if (from == DAFSD_CLIENT_COURTEOUS)
		dafsd_courtesy_ends(client);
	if (!client->yields && (to == DAFSD_CLIENT_DISCARDED ||
				(from == DAFSD_CLIENT_COURTEOUS && to == DAFSD_CLIENT_LEAVING)))
		dafsd_client_yield(client);
	WRITE_ONCE(client->life, to);
	trace_dafsd_client(client, dafsd_life_name(to));
	return true;
}

/**
 * dafsd_client_move() - change what a client is
 * @client: the client
 * @from: what it is thought to be
 * @to: what it will be
 *
 * The only place where that changes, see the head of this file.
 *
 * Context: any but interrupt; does not sleep.  All but COURTEOUS to LEAVING is done under
 * dafsd_server.clients_lock.
 * Return: true if it was @from; false also if it is to become COURTEOUS, but others wait for
 * what it has to return.
 */
bool dafsd_client_move(struct dafsd_client *client, enum dafsd_client_life from,
		       enum dafsd_client_life to)
{
	bool moved;

	spin_lock(&client->server->courtesy_lock);
	moved = dafsd_client_move_locked(client, from, to);
	spin_unlock(&client->server->courtesy_lock);
	return moved;
}

/**
 * dafsd_client_hurry() - let the lease_work of a client start now
 * @client: the client; the caller has a reference, or what has one, and keeps it
 *
 * Context: any but interrupt; does not sleep.
 */
void dafsd_client_hurry(struct dafsd_client *client)
{
	kref_get(&client->ref);
	if (mod_delayed_work(dafsd_timer_wq, &client->lease_work, 0))
		dafsd_client_put(client);	/* the work was queued already */
}

/**
 * dafsd_courtesy_end() - what a client has is in the way of others
 * @client: the client, which what is in the way has a reference to
 *
 * Context: any but interrupt; does not sleep.
 * Return: true if it is being taken from the client, for which dafsd_courtesy_wait() waits; false
 * if the client keeps it.
 */
bool dafsd_courtesy_end(struct dafsd_client *client)
{
	if (dafsd_client_move(client, DAFSD_CLIENT_COURTEOUS, DAFSD_CLIENT_LEAVING))
		dafsd_client_hurry(client);
	return READ_ONCE(client->yields);
}

/**
 * dafsd_courtesy_over() - the state of a client was taken from it
 * @client: the client; the caller has a reference
 *
 * Context: any but interrupt.
 */
void dafsd_courtesy_over(struct dafsd_client *client)
{
	bool over;

	spin_lock(&client->server->courtesy_lock);
	over = client->yields;
	WRITE_ONCE(client->yields, false);
	spin_unlock(&client->server->courtesy_lock);
	if (!over)
		return;
	/* pairs with set_current_state() in wait_var_event() */
	smp_mb();
	wake_up_var(&client->yields);
}

/**
 * dafsd_courtesy_wait() - wait until the state of a client was taken
 * @client: the client of dafsd_courtesy_end(); the caller has a reference
 *
 * Context: may sleep, for the disk of the state directory; holds no lock, see above.
 */
void dafsd_courtesy_wait(const struct dafsd_client *client)
{
	wait_var_event((void *)&client->yields, !READ_ONCE(client->yields));
}

static u64 dafsd_courtesy_yields(struct dafsd_server *server)
{
	u64 nr;

	spin_lock(&server->courtesy_lock);
	nr = server->nr_yields;
	spin_unlock(&server->courtesy_lock);
	return nr;
}

/* A client whose state is still being taken, if that has begun by @last: a reference; or NULL */
static struct dafsd_client *dafsd_courtesy_yielding(struct dafsd_server *server, u64 last)
{
	struct dafsd_client *client, *found = NULL;

	spin_lock(&server->courtesy_lock);
	list_for_each_entry(client, &server->giving, courtesy_link)
		/* the task that takes its state away has a reference */
		if (client->yields && client->yield <= last) {
			kref_get(&client->ref);
			found = client;
			break;
		}
	spin_unlock(&server->courtesy_lock);
	return found;
}

/**
 * dafsd_courtesy_wait_all() - wait until the state of all clients that lose it now was taken
 * @server: the server
 *
 * Not that of clients that begin to lose it meanwhile, of which there might be no end.
 *
 * Context: as dafsd_courtesy_wait(); ends early if the task is killed.
 */
void dafsd_courtesy_wait_all(struct dafsd_server *server)
{
	u64 last = dafsd_courtesy_yields(server);
	struct dafsd_client *client;
	int err = 0;

	while (!err && (client = dafsd_courtesy_yielding(server, last))) {
		err = wait_var_event_killable(&client->yields, !READ_ONCE(client->yields));
		dafsd_client_put(client);
	}
}

/**
 * dafsd_courtesy_oldest() - the client that has been courteous for the longest time
 * @server: the server
 * @peer: only of this address; or NULL
 *
 * Context: any but interrupt.
 * Return: a reference, or NULL.
 */
struct dafsd_client *dafsd_courtesy_oldest(struct dafsd_server *server,
					   const struct dafsd_peer *peer)
{
	struct dafsd_client *client, *oldest = NULL;

	spin_lock(&server->courtesy_lock);
	list_for_each_entry(client, &server->courteous, courtesy_link) {
		if (peer && client->peer != peer)
			continue;
		kref_get(&client->ref);
		oldest = client;
		break;
	}
	spin_unlock(&server->courtesy_lock);
	return oldest;
}

/**
 * dafsd_courtesy_forget() - a client is freed
 * @client: the client
 *
 * Context: any but interrupt.
 */
void dafsd_courtesy_forget(struct dafsd_client *client)
{
	spin_lock(&client->server->courtesy_lock);
	list_del_init(&client->courtesy_link);
	spin_unlock(&client->server->courtesy_lock);
}

/* A client that has lost its state, the memory of which is just being freed; or NULL */
static struct dafsd_client *dafsd_courtesy_giving(struct dafsd_server *server,
						  const struct dafsd_peer *peer)
{
	struct dafsd_client *client, *found = NULL;

	spin_lock(&server->courtesy_lock);
	list_for_each_entry(client, &server->giving, courtesy_link)
		if ((!peer || client->peer == peer) && atomic_long_read(&client->charged) &&
		    kref_get_unless_zero(&client->ref)) {
			found = client;
			break;
		}
	spin_unlock(&server->courtesy_lock);
	return found;
}

/**
 * dafsd_courtesy_make_room() - the state of an address, or of all, takes too much memory
 * @peer: the address
 * @bytes: what there was no room for
 *
 * One client at a time loses what it has; see above.
 *
 * Context: any but interrupt; does not sleep.
 * Return: a client whose memory is being freed, with a reference for dafsd_courtesy_wait_room(); or
 * NULL: there is none that has anything by courtesy.
 */
struct dafsd_client *dafsd_courtesy_make_room(struct dafsd_peer *peer, size_t bytes)
{
	struct dafsd_server *server = peer->server;
	/* what others have is of no use to one that has all that it may have */
	bool own = !dafsd_peer_fits(peer, DAFSD_CHARGE_STATE, bytes);
	struct dafsd_client *client = dafsd_courtesy_giving(server, own ? peer : NULL);

	if (client)
		return client;
	client = dafsd_courtesy_oldest(server, own ? peer : NULL);
	if (client)
		dafsd_courtesy_end(client);
	return client;
}

/**
 * dafsd_courtesy_wait_room() - wait until the memory of what a client had was freed
 * @client: from dafsd_courtesy_make_room(); dafsd_courtesy_wait() has returned
 *
 * Context: may sleep for DAFSD_ROOM_WAIT; holds no lock, and nothing that the end of a client
 * needs.
 * Return: false if that takes too long, so that nobody waits for it any more.
 */
bool dafsd_courtesy_wait_room(struct dafsd_client *client)
{
	if (wait_var_event_timeout(&client->charged, !atomic_long_read(&client->charged),
				   DAFSD_ROOM_WAIT))
		return true;
	spin_lock(&client->server->courtesy_lock);
	/* unless it has come back since, and its courtesy has ended once more */
	if (client->life != DAFSD_CLIENT_COURTEOUS && !client->yields)
		list_del_init(&client->courtesy_link);
	spin_unlock(&client->server->courtesy_lock);
	return false;
}
