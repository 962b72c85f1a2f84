// SPDX-License-Identifier: GPL-2.0
/*
 * State-ids, and the table of all opens behind them (4.4.1.1, E-79, E-84).
 *
 * An open is born dead: OPEN reserves an id and fills it in.  It is published in
 * one critical section of the table's lock, which checks that neither its client
 * nor its export went away meanwhile.  It dies in another one, when a task
 * claims it: for CLOSE, the release of its client, or the end of its export.
 * The task that claimed it, and no other, takes it apart.
 *
 * A state-id tells the instance of the server that made it, so that one from
 * before a restart is known as such.
 */
#include <linux/fs.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include "../session/server.h"
#include "../session/peer.h"
#include "../session/client.h"
#include "../export/export.h"
#include "state.h"
#include "state_impl.h"
#include "../session/trace.h"

/*
 * By id.  A value entry is the second in which an open was revoked, kept for a
 * lease period so that its holder learns what happened (E-84).
 */
static DEFINE_XARRAY_ALLOC1(dafsd_opens);
static u32 dafsd_opens_next;

static unsigned long dafsd_now(void)
{
	return ktime_get_boottime_seconds();
}

static void dafsd_opens_forget(struct work_struct *work);
static DECLARE_DELAYED_WORK(dafsd_opens_forget_work, dafsd_opens_forget);

static void dafsd_opens_forget_later(void)
{
	queue_delayed_work(dafsd_timer_wq, &dafsd_opens_forget_work, dafsd_lease_seconds * HZ);
}

/* Removes the traces of opens revoked more than a lease period ago. */
static void dafsd_opens_forget(struct work_struct *work)
{
	unsigned long id;
	bool more = false;
	void *entry;

	xa_for_each(&dafsd_opens, id, entry) {
		cond_resched();
		if (!xa_is_value(entry))
			continue;
		/* nothing else takes its place, or takes it away */
		if (dafsd_now() - xa_to_value(entry) > dafsd_lease_seconds)
			xa_erase(&dafsd_opens, id);
		else
			more = true;
	}
	if (more)
		dafsd_opens_forget_later();
}

/**
 * dafsd_opens_exit() - end the table of opens
 *
 * Context: module exit; all clients were released.
 */
void dafsd_opens_exit(void)
{
	cancel_delayed_work_sync(&dafsd_opens_forget_work);
	xa_destroy(&dafsd_opens);
}

/**
 * dafsd_state_is_special() - does a state-id stand for no open? (E-79)
 * @state_id: from a request
 *
 * Context: any.
 * Return: true for all zeros and all ones.
 */
bool dafsd_state_is_special(const struct dafs_opaque64 *state_id)
{
	u64 v;

	memcpy(&v, state_id->b, sizeof(v));
	return !v || !~v;
}

/**
 * dafsd_state_of() - the state-id of an open
 * @open: the open; has an id and does not go away meanwhile
 * @state_id: set
 *
 * Context: any.
 */
void dafsd_state_of(const struct dafsd_open *open, struct dafs_opaque64 *state_id)
{
	memcpy(state_id->b, &dafsd_boot_instance, sizeof(u32));
	memcpy(state_id->b + sizeof(u32), &open->id, sizeof(u32));
}

/* About what an open keeps in memory: it, the open file, its inode and name */
static size_t dafsd_state_size(const struct dafsd_open *open)
{
	return struct_size(open, owner, open->owner_len) + SZ_2K;
}

static bool dafsd_client_count_open(struct dafsd_client *client)
{
	bool room;

	spin_lock(&client->lock);
	room = client->nr_opens < READ_ONCE(dafsd_max_opens);
	if (room)
		client->nr_opens++;
	spin_unlock(&client->lock);
	return room;
}

static void dafsd_client_uncount_open(struct dafsd_client *client)
{
	spin_lock(&client->lock);
	client->nr_opens--;
	spin_unlock(&client->lock);
}

/**
 * dafsd_state_reserve() - give a new open its id, and all that others may not have left
 * @open: the open; still dead
 *
 * Context: may sleep.
 * Return: OK, or RESOURCE: the client has too many opens, they take too much memory, or
 * none could be allocated.
 */
u32 dafsd_state_reserve(struct dafsd_open *open)
{
	struct dafsd_client *client = open->client;
	struct dafsd_peer *peer = client->peer;

	if (!dafsd_client_count_open(client))
		goto refuse;
	if (!dafsd_peer_charge(peer, DAFSD_CHARGE_STATE, dafsd_state_size(open)))
		goto uncount;
	if (xa_alloc_cyclic(&dafsd_opens, &open->id, NULL, XA_LIMIT(1, S32_MAX),
			    &dafsd_opens_next, GFP_KERNEL) < 0)
		goto uncharge;
	open->peer = dafsd_peer_get(peer);
	return DAFS_STATUS_OK;

uncharge:
	dafsd_peer_uncharge(peer, DAFSD_CHARGE_STATE, dafsd_state_size(open));
uncount:
	dafsd_client_uncount_open(client);
refuse:
	pr_warn_ratelimited("dafsd: no room for an open of %pI6c, see max_opens and max_state\n",
			    &peer->addr);
	return DAFSERR_RESOURCE;
}

/**
 * dafsd_state_cancel() - give back the id of an open that was not published
 * @open: the open; still dead
 *
 * Context: any but interrupt.
 */
void dafsd_state_cancel(struct dafsd_open *open)
{
	xa_erase(&dafsd_opens, open->id);
	dafsd_client_uncount_open(open->client);
}

/**
 * dafsd_state_end() - an open is being freed
 * @open: the open, which has no id any more
 *
 * Context: process.
 */
void dafsd_state_end(struct dafsd_open *open)
{
	dafsd_peer_uncharge(open->peer, DAFSD_CHARGE_STATE, dafsd_state_size(open));
	dafsd_peer_put(open->peer);
}

static u32 dafsd_state_list(struct dafsd_open *open)
{
	struct dafsd_client *client = open->client;
	u32 status = DAFS_STATUS_OK;

	spin_lock(&client->lock);
	if (client->released)
		status = DAFSERR_STALE_CLIENTID;
	else if (!READ_ONCE(open->exp->enabled))
		status = DAFSERR_STALE;
	if (!status) {
		open->dead = false;
		list_add_tail(&open->client_link, &client->opens);
	} else {
		client->nr_opens--;
	}
	spin_unlock(&client->lock);
	return status;
}

/**
 * dafsd_state_publish() - let an open live, or notice that it should not
 * @open: from dafsd_state_reserve(); on success it may go at any time
 * @state_id: set
 *
 * Context: any but interrupt.
 * Return: OK; STALE_CLIENTID or STALE if the client or the export went away, then the
 * id is free again.
 */
u32 dafsd_state_publish(struct dafsd_open *open, struct dafs_opaque64 *state_id)
{
	u32 status;

	dafsd_state_of(open, state_id);
	xa_lock(&dafsd_opens);
	status = dafsd_state_list(open);
	/* the entry was reserved, so this needs no memory */
	if (status)
		__xa_erase(&dafsd_opens, open->id);
	else
		__xa_store(&dafsd_opens, open->id, open, GFP_NOWAIT);
	if (!status)
		trace_dafsd_opened(open->id, open->client, open->inode->i_ino);
	xa_unlock(&dafsd_opens);
	return status;
}

/**
 * dafsd_state_split() - what a state-id says
 * @state_id: from a request
 * @id: set to the id of the open if the status is OK
 *
 * Context: any.
 * Return: OK; BAD_STATEID for a special one; or STALE_STATEID for one of another
 * instance of the server.
 */
u32 dafsd_state_split(const struct dafs_opaque64 *state_id, u32 *id)
{
	u32 boot;

	if (dafsd_state_is_special(state_id))
		return DAFSERR_BAD_STATEID;
	memcpy(&boot, state_id->b, sizeof(u32));
	memcpy(id, state_id->b + sizeof(u32), sizeof(u32));
	return boot == dafsd_boot_instance ? DAFS_STATUS_OK : DAFSERR_STALE_STATEID;
}

/**
 * dafsd_state_load() - the open behind a state-id
 * @client: only its opens are found
 * @state_id: from a request
 * @status: set to OK; BAD_STATEID, also for a special one; STALE_STATEID for one of
 *	another instance of the server; or EXPIRED for one that was revoked
 *
 * Context: RCU read side, or the lock of the table.
 * Return: the open, or NULL.
 */
struct dafsd_open *dafsd_state_load(const struct dafsd_client *client,
				    const struct dafs_opaque64 *state_id, u32 *status)
{
	struct dafsd_open *open;
	u32 id;

	*status = dafsd_state_split(state_id, &id);
	if (*status)
		return NULL;
	*status = DAFSERR_BAD_STATEID;
	open = xa_load(&dafsd_opens, id);
	if (xa_is_value(open)) {
		if (dafsd_now() - xa_to_value(open) <= dafsd_lease_seconds)
			*status = DAFSERR_EXPIRED;
		return NULL;
	}
	if (!open)
		return NULL;
	if (open->client != client) {
		/* the former record of this client may still be losing its opens */
		if (READ_ONCE(open->client->discarded))
			*status = DAFSERR_EXPIRED;
		return NULL;
	}
	*status = DAFS_STATUS_OK;
	return open;
}

/*
 * Makes an open dead, once; @trace stays behind in the table.  Then the caller
 * owns it.
 */
static bool dafsd_open_claim(struct dafsd_open *open, void *trace)
{
	struct dafsd_client *client = open->client;

	lockdep_assert_held(&dafsd_opens.xa_lock);
	if (open->dead)
		return false;
	WRITE_ONCE(open->dead, true);
	trace_dafsd_closed(open->id, client, open->inode->i_ino);
	/* the entry is there, so this needs no memory */
	if (trace)
		__xa_store(&dafsd_opens, open->id, trace, GFP_NOWAIT);
	else
		__xa_erase(&dafsd_opens, open->id);
	spin_lock(&client->lock);
	list_del(&open->client_link);
	client->nr_opens--;
	spin_unlock(&client->lock);
	return true;
}

/**
 * dafsd_state_retract() - take back what was just published
 * @open: the open; the caller holds the lock of its file
 *
 * Context: any but interrupt.
 * Return: true if it is the caller's again, without an id; false if it went away with
 * its client or export, which will have it dismantled.
 */
bool dafsd_state_retract(struct dafsd_open *open)
{
	bool claimed;

	xa_lock(&dafsd_opens);
	claimed = dafsd_open_claim(open, NULL);
	xa_unlock(&dafsd_opens);
	return claimed;
}

/**
 * dafsd_state_claim() - take an open out of the table
 * @client: whose it must be
 * @state_id: from a request
 * @inode: the file it must be of, or NULL
 * @found: set to the open, which the caller dismantles, or NULL
 *
 * Context: any but interrupt.
 * Return: OK, BAD_STATEID, STALE_STATEID or EXPIRED.
 */
u32 dafsd_state_claim(const struct dafsd_client *client, const struct dafs_opaque64 *state_id,
		      const struct inode *inode, struct dafsd_open **found)
{
	struct dafsd_open *open;
	u32 status;

	xa_lock(&dafsd_opens);
	open = dafsd_state_load(client, state_id, &status);
	if (open && ((inode && open->inode != inode) || !dafsd_open_claim(open, NULL)))
		status = DAFSERR_BAD_STATEID;
	xa_unlock(&dafsd_opens);
	*found = status ? NULL : open;
	return status;
}

/* What was taken from clients in an export; its file system may make that wait. */
static void dafsd_opens_close(struct work_struct *work)
{
	struct dafsd_export *exp = container_of(work, struct dafsd_export, closer);
	struct dafsd_open *open, *next;

	llist_for_each_entry_safe(open, next, llist_del_all(&exp->closing), closing)
		dafsd_open_dismantle(open);
	dafsd_export_put(exp);
}

/**
 * dafsd_opens_init_export() - get ready for opens in an export
 * @exp: the export, not yet served
 */
void dafsd_opens_init_export(struct dafsd_export *exp)
{
	init_llist_head(&exp->closing);
	INIT_WORK(&exp->closer, dafsd_opens_close);
}

/* Closes an open, later: the caller waits for no file system.  It reserves nothing. */
static void dafsd_open_discard(struct dafsd_open *open)
{
	struct dafsd_export *exp = open->exp;

	/* as soon as it is in the list it may go, with its reference */
	kref_get(&exp->ref);
	llist_add(&open->closing, &exp->closing);
	if (!queue_work(dafsd_close_wq, &exp->closer))
		dafsd_export_put(exp);
}

static struct dafsd_open *dafsd_claim_of_client(struct dafsd_client *client)
{
	struct dafsd_open *open;

	xa_lock(&dafsd_opens);
	spin_lock(&client->lock);
	open = list_first_entry_or_null(&client->expired, struct dafsd_open, client_link);
	spin_unlock(&client->lock);
	if (open)
		dafsd_open_claim(open, xa_mk_value(dafsd_now()));
	xa_unlock(&dafsd_opens);
	return open;
}

static void dafsd_client_expire(struct dafsd_client *client, bool for_good)
{
	spin_lock(&client->lock);
	client->released |= for_good;
	list_splice_tail_init(&client->opens, &client->expired);
	spin_unlock(&client->lock);
}

/**
 * dafsd_opens_expire_client() - a client loses what it has open, and nothing that it opens
 * from now on
 * @client: its lease has expired; dafsd_opens_revoke_client() does the rest
 *
 * Context: any but interrupt; takes no time.
 */
void dafsd_opens_expire_client(struct dafsd_client *client)
{
	dafsd_client_expire(client, false);
}

/**
 * dafsd_opens_revoke_client() - take from a client what it loses
 * @client: the client, of dafsd_opens_expire_client() perhaps
 *
 * Context: as dafsd_opens_release_client().
 */
void dafsd_opens_revoke_client(struct dafsd_client *client)
{
	struct dafsd_open *open;
	bool any = false;

	while ((open = dafsd_claim_of_client(client))) {
		dafsd_open_discard(open);
		any = true;
		cond_resched();
	}
	if (any)
		dafsd_opens_forget_later();
}

/**
 * dafsd_opens_release_client() - take all that it has open from a client, for good
 * @client: its lease expired or a new instance took its place; it opens nothing
 *	any more
 *
 * When this returns nothing is reserved any more; the files are closed later.
 *
 * Context: may sleep, and waits for no file system.  There may be many, so no lock that
 * others need is held.
 */
void dafsd_opens_release_client(struct dafsd_client *client)
{
	dafsd_client_expire(client, true);
	dafsd_opens_revoke_client(client);
}

/* What is at an id; under RCU, or the lock of the table, under which it is claimed. */
static struct dafsd_open *dafsd_load_of_export(const struct dafsd_export *exp, unsigned long id)
{
	struct dafsd_open *open = xa_load(&dafsd_opens, id);

	return open && !xa_is_value(open) && open->exp == exp ? open : NULL;
}

static bool dafsd_is_of_export(const struct dafsd_export *exp, unsigned long id)
{
	guard(rcu)();
	return dafsd_load_of_export(exp, id);
}

/*
 * There may be very many opens, so the lock of the table is taken only for those of the
 * export, and for each of them anew.
 */
static struct dafsd_open *dafsd_claim_of_export(const struct dafsd_export *exp,
						unsigned long *id)
{
	struct dafsd_open *open;
	void *entry;

	xa_for_each_start(&dafsd_opens, *id, entry, *id) {
		cond_resched();
		if (!dafsd_is_of_export(exp, *id))
			continue;
		xa_lock(&dafsd_opens);
		open = dafsd_load_of_export(exp, *id);
		if (open && !dafsd_open_claim(open, xa_mk_value(dafsd_now())))
			open = NULL;
		xa_unlock(&dafsd_opens);
		if (open)
			return open;
	}
	return NULL;
}

/**
 * dafsd_opens_release_export() - take everything in an export from those who have it open
 * @exp: no longer enabled
 *
 * The files are closed later, by a work item with a reference to @exp.
 *
 * Context: may sleep, and waits for no file system.
 */
void dafsd_opens_release_export(struct dafsd_export *exp)
{
	struct dafsd_open *open;
	unsigned long id = 0;
	bool any = false;

	/* opens that were about to be published before the export was disabled are */
	xa_lock(&dafsd_opens);
	xa_unlock(&dafsd_opens);
	while ((open = dafsd_claim_of_export(exp, &id))) {
		dafsd_open_discard(open);
		any = true;
	}
	if (any)
		dafsd_opens_forget_later();
}
