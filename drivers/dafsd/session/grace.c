// SPDX-License-Identifier: GPL-2.0
/*
 * The grace period: for some time after a restart only clients that had opens and locks
 * before get any, namely those that they had (4.4.1.2, 4.4.1.6, E-88).
 *
 * It lasts for a lease period, so that each of these clients notices the restart in it, and for
 * up to another one while clients are reclaiming.  It ends earlier when all of them have sent
 * DELEGPURGE, which says that a client has reclaimed what it had: the protocol has no other
 * request for that.  Without a record of a client there is no grace period.
 *
 * Reads and writes by an open that was reclaimed are served: what they could conflict with is
 * a reservation of another open, which this one existed beside.
 *
 * A client that has reclaimed nothing has lost its state when the period ends.  Its record is
 * deleted before another one is given any: should the server restart again, then it cannot
 * reclaim what others have had meanwhile.  There is one record for all state of a client, so
 * this does not hold for what a client has left when it has reclaimed a part.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include "../store/store.h"
#include "client.h"
#include "server.h"
#include "trace.h"

/**
 * enum dafsd_former_state - what a client of before the restart has done since
 * @DAFSD_FORMER_AWAITED: nothing
 * @DAFSD_FORMER_BACK: it has authenticated, and may reclaim
 * @DAFSD_FORMER_COMPLETE: it has said that it has reclaimed all
 * @DAFSD_FORMER_GONE: its state is lost: it has restarted itself, or its lease has expired
 */
enum dafsd_former_state {
	DAFSD_FORMER_AWAITED,
	DAFSD_FORMER_BACK,
	DAFSD_FORMER_COMPLETE,
	DAFSD_FORMER_GONE,
};

/**
 * struct dafsd_former - a client that had state before the server has restarted
 * @node: in dafsd_grace.formers
 * @state: what it has done since
 * @courteous: its lease was over before the restart, so the period does not wait for it
 * @given: it has been given state since, and has a new record
 * @verifier: its instance
 * @auth_type: of its principal
 * @id_len: bytes of @id
 * @id: client-id-string
 */
struct dafsd_former {
	struct hlist_node node;
	enum dafsd_former_state state;
	bool courteous;
	bool given;
	struct dafs_verifier verifier;
	u32 auth_type;
	u32 id_len;
	u8 id[] __counted_by(id_len);
};

/**
 * dafsd_in_grace() - is this a grace period?
 * @server: the server
 *
 * Context: any.
 * Return: true if requests other than reclaims have to wait.
 */
bool dafsd_in_grace(const struct dafsd_server *server)
{
	return READ_ONCE(server->grace.on);
}

/**
 * dafsd_grace_check() - may a request be served that could conflict with a reclaim?
 * @server: the server
 *
 * Context: any.
 * Return: OK; GRACE in a grace period; IO if it cannot end because the store cannot be written.
 */
dafs_status_t dafsd_grace_check(const struct dafsd_server *server)
{
	if (!dafsd_in_grace(server))
		return DAFS_STATUS_OK;
	return READ_ONCE(server->grace.ending) && dafsd_store_failed(server->store) ?
	       DAFSERR_IO : DAFSERR_GRACE;
}

/**
 * dafsd_grace_left() - how long is the rest of the grace period?
 * @server: the server
 *
 * Context: any.
 * Return: at most so many seconds; 0 if it is over.
 */
unsigned int dafsd_grace_left(const struct dafsd_server *server)
{
	long left = READ_ONCE(server->grace.until) - jiffies;

	if (!dafsd_in_grace(server))
		return 0;
	return DIV_ROUND_UP(max(left, 1L), HZ);
}

static int dafsd_grace_param_get(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%u\n", dafsd_grace_left(kp->arg));
}

static void dafsd_grace_hurry(struct dafsd_grace *grace)
{
	spin_lock(&grace->lock);
	grace->hurry = true;
	if (grace->on)
		mod_delayed_work(dafsd_timer_wq, &grace->end_work, 0);
	spin_unlock(&grace->lock);
}

static int dafsd_grace_param_set(const char *val, const struct kernel_param *kp)
{
	struct dafsd_server *server = kp->arg;
	unsigned int seconds;

	if (kstrtouint(val, 0, &seconds) || seconds)
		return -EINVAL;
	/* while the module is loaded there is no lock either */
	if (dafsd_in_grace(server))
		dafsd_grace_hurry(&server->grace);
	return 0;
}

static const struct kernel_param_ops dafsd_grace_param_ops = {
	.get = dafsd_grace_param_get,
	.set = dafsd_grace_param_set,
};

module_param_cb(grace, &dafsd_grace_param_ops, &dafsd_server, 0644);
MODULE_PARM_DESC(grace,
		 "seconds for which clients may still reclaim opens and locks after a restart; write 0 to end that");

static bool dafsd_former_is_awaited(enum dafsd_former_state state)
{
	return state < DAFSD_FORMER_COMPLETE;
}

/*
 * The only place where the state of a former client changes.  It never goes back, so what is
 * late changes nothing.
 */
static void dafsd_former_move(struct dafsd_grace *grace, struct dafsd_former *former,
			      enum dafsd_former_state to)
{
	lockdep_assert_held(&grace->lock);
	if (to <= former->state)
		return;
	if (!former->courteous && dafsd_former_is_awaited(former->state) &&
	    !dafsd_former_is_awaited(to) && !--grace->nr_awaited && !grace->ending)
		mod_delayed_work(dafsd_timer_wq, &grace->end_work, 0);
	former->state = to;
}

static struct dafsd_former *dafsd_former_find(struct dafsd_grace *grace,
					      const struct dafsd_client *client)
{
	struct dafsd_former *former;

	lockdep_assert_held(&grace->lock);
	hash_for_each_possible(grace->formers, former, node,
			       dafsd_client_hash(client->id, client->id_len))
		if (former->id_len == client->id_len &&
		    !memcmp(former->id, client->id, client->id_len))
			return former;
	return NULL;
}

/* Is it this instance of the client? */
static bool dafsd_former_is(const struct dafsd_former *former, const struct dafsd_client *client)
{
	return former->auth_type == client->principal->auth_type &&
	       dafs_opaque64_equal(&former->verifier, &client->verifier);
}

/* This instance of the client, as it was before the restart; or NULL */
static struct dafsd_former *dafsd_former_own(struct dafsd_grace *grace,
					     const struct dafsd_client *client)
{
	struct dafsd_former *former = dafsd_former_find(grace, client);

	return former && dafsd_former_is(former, client) ? former : NULL;
}

/**
 * dafsd_grace_reclaims() - may a client get back what it had before the restart?
 * @client: the client, authenticated
 *
 * Context: any but interrupt.
 * Return: true if it is a grace period, and this is a client of before that has not said
 * that it has reclaimed all.
 */
bool dafsd_grace_reclaims(struct dafsd_client *client)
{
	struct dafsd_grace *grace = &client->server->grace;
	bool may = false, awaited = false;
	struct dafsd_former *former;

	if (!dafsd_in_grace(client->server))
		return false;
	spin_lock(&grace->lock);
	former = dafsd_former_own(grace, client);
	if (former) {
		may = !grace->ending && dafsd_former_is_awaited(former->state);
		awaited = may && !former->courteous;
	}
	spin_unlock(&grace->lock);
	if (awaited)
		WRITE_ONCE(grace->reclaimed, jiffies);
	return may;
}

/**
 * dafsd_grace_owned_by_other() - did a client-id belong to another principal? (3.1.1.3)
 * @client: the client
 * @principal: the identity that it has authenticated as
 *
 * Context: any but interrupt.
 * Return: true if there is a client of before with this id that may come back; but one whose lease
 * was over before the restart does not keep its id.
 */
bool dafsd_grace_owned_by_other(struct dafsd_client *client,
				const struct dafsd_principal *principal)
{
	struct dafsd_grace *grace = &client->server->grace;
	const struct dafsd_former *former;
	bool other;

	if (!dafsd_in_grace(client->server))
		return false;
	spin_lock(&grace->lock);
	former = dafsd_former_find(grace, client);
	other = former && former->state != DAFSD_FORMER_GONE && !former->courteous &&
		former->auth_type != principal->auth_type;
	spin_unlock(&grace->lock);
	return other;
}

/* The record of another instance; the present one has not got its own yet. */
static void dafsd_former_replaced(struct dafsd_grace *grace, struct dafsd_former *former,
				  struct dafsd_store *store)
{
	struct dafsd_key key = { DAFSD_RECORD_CLIENT, former->id_len, former->id };

	if (former->state == DAFSD_FORMER_GONE)
		return;
	dafsd_store_delete(store, &key);
	dafsd_former_move(grace, former, DAFSD_FORMER_GONE);
}

/**
 * dafsd_grace_came_back() - a client has authenticated
 * @client: the client; if it is another instance of one of before, then that one is gone, and so is
 *	one of another principal that it has the id of
 *
 * Context: any but interrupt.
 */
void dafsd_grace_came_back(struct dafsd_client *client)
{
	struct dafsd_server *server = client->server;
	struct dafsd_grace *grace = &server->grace;
	struct dafsd_former *former;

	if (!dafsd_in_grace(server))
		return;
	spin_lock(&grace->lock);
	former = dafsd_former_find(grace, client);
	if (former && dafsd_former_is(former, client))
		dafsd_former_move(grace, former, DAFSD_FORMER_BACK);
	else if (former &&
		 (former->courteous || former->auth_type == client->principal->auth_type))
		dafsd_former_replaced(grace, former, server->store);
	spin_unlock(&grace->lock);
}

static void dafsd_grace_move(struct dafsd_client *client, enum dafsd_former_state to)
{
	struct dafsd_grace *grace = &client->server->grace;
	struct dafsd_former *former;

	if (!dafsd_in_grace(client->server))
		return;
	spin_lock(&grace->lock);
	former = dafsd_former_own(grace, client);
	if (former)
		dafsd_former_move(grace, former, to);
	spin_unlock(&grace->lock);
}

/**
 * dafsd_grace_given() - a client is about to get a new record
 * @client: the client
 * @given: false if it has not got it
 *
 * Context: any but interrupt.
 */
void dafsd_grace_given(struct dafsd_client *client, bool given)
{
	struct dafsd_grace *grace = &client->server->grace;
	struct dafsd_former *former;

	if (!dafsd_in_grace(client->server))
		return;
	spin_lock(&grace->lock);
	former = dafsd_former_own(grace, client);
	if (former)
		former->given = given;
	spin_unlock(&grace->lock);
}

/**
 * dafsd_grace_complete() - a client has nothing more to reclaim
 * @client: the client
 *
 * Context: any but interrupt.
 */
void dafsd_grace_complete(struct dafsd_client *client)
{
	dafsd_grace_move(client, DAFSD_FORMER_COMPLETE);
}

/**
 * dafsd_grace_lost() - a client has lost its state
 * @client: the client
 *
 * Context: any but interrupt.
 */
void dafsd_grace_lost(struct dafsd_client *client)
{
	dafsd_grace_move(client, DAFSD_FORMER_GONE);
}

/*
 * Those that have been given nothing lose their state; their records go before the period
 * ends.  Returns how many were not heard of.
 */
static unsigned int dafsd_grace_forget_absent(struct dafsd_server *server)
{
	struct dafsd_grace *grace = &server->grace;
	struct dafsd_former *former;
	unsigned int absent = 0;
	struct dafsd_key key;
	int bkt;

	spin_lock(&grace->lock);
	grace->ending = true;
	hash_for_each(grace->formers, bkt, former, node) {
		if (former->given || former->state == DAFSD_FORMER_GONE)
			continue;
		key = (struct dafsd_key){ DAFSD_RECORD_CLIENT, former->id_len, former->id };
		dafsd_store_delete(server->store, &key);
		absent += former->state == DAFSD_FORMER_AWAITED && !former->courteous;
	}
	spin_unlock(&grace->lock);
	return absent;
}

static void dafsd_formers_free(struct dafsd_grace *grace)
{
	struct dafsd_former *former;
	struct hlist_node *next;
	int bkt;

	hash_for_each_safe(grace->formers, bkt, next, former, node) {
		hash_del(&former->node);
		kfree(former);
	}
}

/* Clients that are just reclaiming get some more time. */
static bool dafsd_grace_extends(struct dafsd_grace *grace)
{
	unsigned long quarter = max(grace->lease * HZ / 4, 1U);
	bool extends;

	spin_lock(&grace->lock);
	extends = grace->nr_awaited && !grace->ending && !grace->hurry &&
		  time_before(jiffies, READ_ONCE(grace->reclaimed) + quarter) &&
		  time_before(jiffies + quarter, grace->latest);
	if (extends)
		WRITE_ONCE(grace->until, jiffies + quarter);
	spin_unlock(&grace->lock);
	if (extends)
		queue_delayed_work(dafsd_timer_wq, &grace->end_work, quarter);
	return extends;
}

/* Until the store can be written the period goes on; no client gets new state then anyway. */
static void dafsd_grace_end_work(struct work_struct *work)
{
	struct dafsd_grace *grace = container_of(to_delayed_work(work), struct dafsd_grace,
						 end_work);
	struct dafsd_server *server = container_of(grace, struct dafsd_server, grace);
	unsigned int absent;

	/* nor can clients reclaim anything while the server stops: there is another period */
	if (READ_ONCE(server->stopping) || dafsd_grace_extends(grace))
		return;
	absent = dafsd_grace_forget_absent(server);
	if (dafsd_store_sync(server->store)) {
		queue_delayed_work(dafsd_timer_wq, &grace->end_work, dafsd_lease_seconds * HZ / 4);
		return;
	}
	spin_lock(&grace->lock);
	dafsd_formers_free(grace);
	WRITE_ONCE(grace->on, false);
	spin_unlock(&grace->lock);
	dafsd_client_ops->reclaimed();
	trace_dafsd_grace("over", absent);
	if (absent)
		pr_notice("dafsd: the grace period is over, %u clients did not come back\n",
			  absent);
	else
		pr_notice("dafsd: the grace period is over, all clients came back\n");
}

/**
 * dafsd_grace_init() - there is no grace period
 * @server: the server
 *
 * Context: module initialization.
 */
void dafsd_grace_init(struct dafsd_server *server)
{
	spin_lock_init(&server->grace.lock);
	hash_init(server->grace.formers);
	INIT_DELAYED_WORK(&server->grace.end_work, dafsd_grace_end_work);
}

static int dafsd_grace_add(void *priv, const struct dafsd_key *key, const void *value,
			   u32 value_len)
{
	const struct dafsd_client_record *rec = value;
	struct dafsd_grace *grace = priv;
	struct dafsd_former *former;

	if (value_len != sizeof(*rec))
		return -EUCLEAN;
	former = kzalloc(struct_size(former, id, key->len), GFP_KERNEL);
	if (!former)
		return -ENOMEM;
	former->id_len = key->len;
	memcpy(former->id, key->data, key->len);
	former->verifier = rec->verifier;
	former->auth_type = le32_to_cpu(rec->auth_type);
	former->courteous = !rec->lease;
	spin_lock(&grace->lock);
	grace->lease = max(grace->lease, le32_to_cpu(rec->lease));
	hash_add(grace->formers, &former->node, dafsd_client_hash(key->data, key->len));
	grace->nr_awaited += !former->courteous;
	spin_unlock(&grace->lock);
	return 0;
}

/* Clients may have connected before the first export was enabled. */
static void dafsd_grace_greet(struct dafsd_server *server)
{
	struct dafsd_client *client;

	mutex_lock(&server->clients_lock);
	list_for_each_entry(client, &server->clients, node)
		if (client->principal)
			dafsd_grace_came_back(client);
	mutex_unlock(&server->clients_lock);
}

/**
 * dafsd_grace_load() - read the records of the clients that had state before the restart
 * @server: the server
 * @store: its store, which it does not use yet
 *
 * Context: may sleep.
 * Return: 0, -ENOMEM, or -EUCLEAN if there is a record that is not understood; then none is
 * loaded.
 */
int dafsd_grace_load(struct dafsd_server *server, struct dafsd_store *store)
{
	struct dafsd_grace *grace = &server->grace;
	int err;

	grace->nr_awaited = 0;
	grace->ending = false;
	grace->hurry = false;
	grace->lease = dafsd_lease_seconds;
	err = dafsd_store_for_each(store, DAFSD_RECORD_CLIENT, dafsd_grace_add, grace);
	if (err)
		dafsd_formers_free(grace);
	return err;
}

/**
 * dafsd_grace_begin() - begin a grace period if clients had state before the restart
 * @server: the server; its store is open, and it has given no state yet
 *
 * It is as long as the longest lease that any of them relies on, or as the present one; and up to
 * twice as long while some are still reclaiming, see dafsd_grace_extends().  No grace period
 * begins if the leases of all of them were over: they have lost their state.
 *
 * Context: may sleep.
 */
void dafsd_grace_begin(struct dafsd_server *server)
{
	struct dafsd_grace *grace = &server->grace;
	unsigned int clients = grace->nr_awaited;
	u32 lease = min(grace->lease, DAFSD_LEASE_MAX);

	if (!clients) {
		/* durable with the first record of another client */
		dafsd_grace_forget_absent(server);
		dafsd_formers_free(grace);
		return;
	}
	WRITE_ONCE(grace->until, jiffies + lease * HZ);
	grace->latest = jiffies + 2 * lease * HZ;
	grace->reclaimed = jiffies - lease * HZ;
	trace_dafsd_grace("begins", clients);
	pr_notice("dafsd: grace period: %u clients may reclaim opens and locks, for %u s, at most %u s\n",
		  clients, lease, 2 * lease);
	WRITE_ONCE(grace->on, true);
	queue_delayed_work(dafsd_timer_wq, &grace->end_work, lease * HZ);
	dafsd_grace_greet(server);
}

/**
 * dafsd_grace_exit() - the server ends: those that may reclaim may do so when it is back
 * @server: the server, which has no clients any more
 *
 * Context: may sleep; before the store is closed.
 */
void dafsd_grace_exit(struct dafsd_server *server)
{
	struct dafsd_grace *grace = &server->grace;

	/* from now on it is not ended by hand */
	spin_lock(&grace->lock);
	WRITE_ONCE(grace->on, false);
	spin_unlock(&grace->lock);
	cancel_delayed_work_sync(&grace->end_work);
	dafsd_formers_free(grace);
}
