// SPDX-License-Identifier: GPL-2.0
/*
 * State-ids, and the table of all opens behind them (4.4.1.1, E-79, E-84).
 *
 * A new open is dead (dafsd_open.dead): OPEN reserves an id for it and fills it in.  Then
 * it is published in a critical section of the table's lock, which checks that its client
 * and its export still exist.  It becomes dead again in another critical section, when a
 * task claims it: for CLOSE, the release of its client, or the end of its export.  Only
 * the task that has claimed an open may dismantle it.
 *
 * A state-id contains the instance of the server that made it, so that a state-id from
 * before a restart is recognized.
 */
#include <linux/fs.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include "../session/server.h"
#include "../session/peer.h"
#include "../session/client.h"
#include "../export/export.h"
#include "open_impl.h"
#include "../session/trace.h"

/*
 * By id.  A value entry is the time, in seconds, at which an open was revoked.  It is kept
 * for a lease period, so that the client is answered EXPIRED (E-84).
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

/* Remove the entries of opens that were revoked more than a lease period ago. */
static void dafsd_opens_forget(struct work_struct *work)
{
	unsigned long id;
	bool more = false;
	void *entry;

	xa_for_each(&dafsd_opens, id, entry) {
		cond_resched();
		if (!xa_is_value(entry))
			continue;
		/* nothing else replaces or removes a value entry */
		if (dafsd_now() - xa_to_value(entry) > dafsd_lease_seconds)
			xa_erase(&dafsd_opens, id);
		else
			more = true;
	}
	if (more)
		dafsd_opens_forget_later();
}

/**
 * dafsd_opens_exit() - free the table of opens
 *
 * Context: module exit; all clients have been released.
 */
void dafsd_opens_exit(void)
{
	cancel_delayed_work_sync(&dafsd_opens_forget_work);
	xa_destroy(&dafsd_opens);
}

/**
 * dafsd_state_is_special() - is this a special state-id, which means no open? (E-79)
 * @state_id: from a request
 *
 * Context: any.
 * Return: true for all zeros and all ones.
 */
bool dafsd_state_is_special(const struct dafs_state_id *state_id)
{
	u64 v;

	memcpy(&v, state_id->b, sizeof(v));
	return !v || !~v;
}

/**
 * dafsd_state_of() - the state-id of an open
 * @open: the open; has an id and is not freed in the meantime
 * @state_id: set
 *
 * Context: any.
 */
void dafsd_state_of(const struct dafsd_open *open, struct dafs_state_id *state_id)
{
	memcpy(state_id->b, &dafsd_server.boot_instance, sizeof(u32));
	memcpy(state_id->b + sizeof(u32), &open->id, sizeof(u32));
}

/* Approximate memory of an open: the open itself, the open file, its inode and name */
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
 * dafsd_state_reserve() - allocate the id of a new open, and count it for its limits
 * @open: the open; still dead
 *
 * Context: may sleep.
 * Return: OK, or RESOURCE: the client has too many opens, the state of its address takes
 * too much memory, or memory could not be allocated.
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
 * dafsd_state_cancel() - free the id of an open that was not published
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
 * dafsd_state_end() - undo the accounting of an open that is being freed
 * @open: the open, whose id has been freed
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
 * dafsd_state_publish() - make an open visible, unless its client or export is gone
 * @open: from dafsd_state_reserve(); on success another task may claim it at any time
 * @state_id: set
 *
 * Context: any but interrupt.
 * Return: OK; STALE_CLIENTID or STALE if the client or the export is gone, then the id is
 * freed.
 */
u32 dafsd_state_publish(struct dafsd_open *open, struct dafs_state_id *state_id)
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
 * dafsd_state_split() - get the id of the open from a state-id
 * @state_id: from a request
 * @id: set to the id of the open if the status is OK
 *
 * Context: any.
 * Return: OK; BAD_STATEID for a special one; or STALE_STATEID for one of another
 * instance of the server.
 */
u32 dafsd_state_split(const struct dafs_state_id *state_id, u32 *id)
{
	u32 boot;

	if (dafsd_state_is_special(state_id))
		return DAFSERR_BAD_STATEID;
	memcpy(&boot, state_id->b, sizeof(u32));
	memcpy(id, state_id->b + sizeof(u32), sizeof(u32));
	return boot == dafsd_server.boot_instance ? DAFS_STATUS_OK : DAFSERR_STALE_STATEID;
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
				    const struct dafs_state_id *state_id, u32 *status)
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
		/* the opens of the former record of this client may still be in the table */
		if (READ_ONCE(open->client->discarded))
			*status = DAFSERR_EXPIRED;
		return NULL;
	}
	*status = DAFS_STATUS_OK;
	return open;
}

/*
 * Mark an open dead, and replace it in the table by @trace.  Return: true if the caller
 * owns the open now; false if another task has claimed it.
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
 * dafsd_state_retract() - undo dafsd_state_publish()
 * @open: the open; the caller holds the lock of its file
 *
 * Context: any but interrupt.
 * Return: true if the caller owns the open again, without an id; false if another task has
 * claimed it, because its client or export has ended, and will dismantle it.
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
 * @client: the client that must own the open
 * @state_id: from a request
 * @inode: the file that must be the open's, or NULL
 * @found: set to the open, which the caller dismantles, or NULL
 *
 * Context: any but interrupt.
 * Return: OK, BAD_STATEID, STALE_STATEID or EXPIRED.
 */
u32 dafsd_state_claim(const struct dafsd_client *client, const struct dafs_state_id *state_id,
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

/* Close the revoked opens of an export; the file system may block this. */
static void dafsd_opens_close(struct work_struct *work)
{
	struct dafsd_export *exp = container_of(work, struct dafsd_export, closer);
	struct dafsd_open *open, *next;

	llist_for_each_entry_safe(open, next, llist_del_all(&exp->closing), closing)
		dafsd_open_dismantle(open);
	dafsd_export_put(exp);
}

/**
 * dafsd_opens_init_export() - initialize the closing of opens in an export
 * @exp: the export, not yet served
 */
void dafsd_opens_init_export(struct dafsd_export *exp)
{
	init_llist_head(&exp->closing);
	INIT_WORK(&exp->closer, dafsd_opens_close);
}

/* Close a dead open later, so that the caller does not wait for the file system. */
static void dafsd_open_discard(struct dafsd_open *open)
{
	struct dafsd_export *exp = open->exp;

	/* once it is in the list, it may be freed, with its reference to the export */
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
 * dafsd_opens_expire_client() - mark the present opens of a client as expired; later ones
 * are not affected
 * @client: its lease has expired; dafsd_opens_revoke_client() closes the opens
 *
 * Context: any but interrupt; takes constant time.
 */
void dafsd_opens_expire_client(struct dafsd_client *client)
{
	dafsd_client_expire(client, false);
}

/**
 * dafsd_opens_revoke_client() - revoke the expired opens of a client, if any
 * @client: the client
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
 * dafsd_opens_release_client() - revoke all opens of a client, and refuse new ones
 * @client: its lease has expired or a new instance has replaced it
 *
 * When this returns, the opens reserve nothing any more; the files are closed later.
 *
 * Context: may sleep, but does not wait for a file system.  There may be many opens, so no
 * lock that other tasks need is held for long.
 */
void dafsd_opens_release_client(struct dafsd_client *client)
{
	dafsd_client_expire(client, true);
	dafsd_opens_revoke_client(client);
}

/* The open with an id, if it is in @exp; under RCU, or the lock of the table to claim it. */
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
 * There may be very many opens, so the lock of the table is only taken for opens of the
 * export, and separately for each of them.
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
 * dafsd_opens_release_export() - revoke all opens in an export
 * @exp: no longer enabled
 *
 * The files are closed later, by a work item with a reference to @exp.
 *
 * Context: may sleep, but does not wait for a file system.
 */
void dafsd_opens_release_export(struct dafsd_export *exp)
{
	struct dafsd_open *open;
	unsigned long id = 0;
	bool any = false;

	/* wait until opens that still saw the export enabled have been published */
	xa_lock(&dafsd_opens);
	xa_unlock(&dafsd_opens);
	while ((open = dafsd_claim_of_export(exp, &id))) {
		dafsd_open_discard(open);
		any = true;
	}
	if (any)
		dafsd_opens_forget_later();
}
