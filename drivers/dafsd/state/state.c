// SPDX-License-Identifier: GPL-2.0
/*
 * State that clients hold by state-ids, and the table of all of it (4.4.1.1, E-79, E-84).
 *
 * The table does not know what is in it.  Each kind of state has a struct dafsd_state_type,
 * and a structure of its own that begins with a struct dafsd_state.
 *
 * New state is dead (dafsd_state.dead): its id is reserved, and it is filled in.  Then it
 * is published in a critical section of the table's lock, which checks that its client and
 * its export still exist.  It becomes dead again in another critical section, when a task
 * claims it: because the client gives it back, or because its client or its export ends.
 *
 * References (dafsd_state.ref):
 *
 *  1. There is one from dafsd_state_reserve() on.  It belongs to the task that reserves
 *     the state, then to the table, then to the one task that claims it, which takes the
 *     state off its file and drops the reference: dafsd_state_dismantle().
 *  2. A request that does I/O by the state has one until the I/O is done, which may be
 *     after the state was claimed.  It is taken under RCU, if there is another.
 *  3. State has one reference to its client, and from dafsd_state_attach() on to its file
 *     and its export.  They are dropped after the last reference to the state, that to
 *     the export last of all: it keeps the file system mounted.
 *  4. The memory of state, files and clients is freed after an RCU grace period, so that
 *     a lookup may compare all three.
 *
 * A state-id contains the instance of the server that made it, so that a state-id from
 * before a restart is recognized.
 */
#include <linux/fs.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include "../session/server.h"
#include "../session/peer.h"
#include "../session/client.h"
#include "../export/export.h"
#include "file.h"
#include "state.h"

/*
 * By id.  A value entry is the time, in seconds, at which state was revoked.  It is kept
 * for a lease period, so that the client is answered EXPIRED (E-84).
 */
static DEFINE_XARRAY_ALLOC1(dafsd_states);
static u32 dafsd_states_next;

/*
 * Value entries, and how many there may be; changed under the lock of the table; less in tests.
 * They are counted for no client, which may be gone.  Each is in a node of the table, alone if all
 * others of that have been closed.  State that is revoked beyond that is unknown at once: clients
 * do the same about BAD_STATEID.
 */
unsigned int dafsd_states_expired;
unsigned int dafsd_states_max_expired = 65536;

static unsigned long dafsd_now(void)
{
	return ktime_get_boottime_seconds();
}

static void dafsd_states_forget(struct work_struct *work);
DECLARE_DELAYED_WORK(dafsd_states_forget_work, dafsd_states_forget);

static void dafsd_states_forget_later(void)
{
	queue_delayed_work(dafsd_timer_wq, &dafsd_states_forget_work, dafsd_lease_seconds * HZ);
}

static void dafsd_states_forget_one(unsigned long id)
{
	xa_lock(&dafsd_states);
	__xa_erase(&dafsd_states, id);
	WRITE_ONCE(dafsd_states_expired, dafsd_states_expired - 1);
	xa_unlock(&dafsd_states);
}

/* Remove the entries of state that was revoked more than a lease period ago. */
static void dafsd_states_forget(struct work_struct *work)
{
	unsigned long id;
	bool more = false;
	void *entry;

	xa_for_each(&dafsd_states, id, entry) {
		cond_resched();
		if (!xa_is_value(entry))
			continue;
		/* nothing else replaces or removes a value entry */
		if (dafsd_now() - xa_to_value(entry) > dafsd_lease_seconds)
			dafsd_states_forget_one(id);
		else
			more = true;
	}
	if (more)
		dafsd_states_forget_later();
}

/**
 * dafsd_states_exit() - free the table
 *
 * Context: module exit; all clients have been released.
 */
void dafsd_states_exit(void)
{
	cancel_delayed_work_sync(&dafsd_states_forget_work);
	xa_destroy(&dafsd_states);
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
 * dafsd_state_id() - the state-id of some state
 * @st: the state; has an id and is not freed in the meantime
 * @state_id: set
 *
 * Context: any.
 */
void dafsd_state_id(const struct dafsd_state *st, struct dafs_state_id *state_id)
{
	memcpy(state_id->b, &dafsd_server.boot_instance, sizeof(u32));
	memcpy(state_id->b + sizeof(u32), &st->id, sizeof(u32));
}

/**
 * dafsd_state_reserve() - allocate the id of new state, and charge its memory
 * @st: the state, zeroed; dead from now on, and with a reference, if this succeeds
 * @type: what it is
 * @client: whose it is
 * @bytes: approximate memory of the state and of all that it keeps
 *
 * Context: may sleep.
 * Return: OK, or RESOURCE: the state of the client's address takes too much memory, or
 * memory could not be allocated.
 */
dafs_status_t dafsd_state_reserve(struct dafsd_state *st, const struct dafsd_state_type *type,
				  struct dafsd_client *client, size_t bytes)
{
	if (!dafsd_client_charge(client, bytes))
		return DAFSERR_RESOURCE;
	if (xa_alloc_cyclic(&dafsd_states, &st->id, NULL, XA_LIMIT(1, S32_MAX),
			    &dafsd_states_next, GFP_KERNEL) < 0) {
		dafsd_client_uncharge(client, bytes);
		return DAFSERR_RESOURCE;
	}
	refcount_set(&st->ref, 1);
	st->type = type;
	st->dead = true;
	st->bytes = bytes;
	st->client = client;
	kref_get(&client->ref);
	return DAFS_STATUS_OK;
}

/**
 * dafsd_state_cancel() - end state that was not published
 * @st: from dafsd_state_reserve(); it is not on its file's lists
 *
 * Context: may sleep.
 */
void dafsd_state_cancel(struct dafsd_state *st)
{
	xa_erase(&dafsd_states, st->id);
	dafsd_state_put(st);
}

/**
 * dafsd_state_attach() - set the file that state is about
 * @st: from dafsd_state_reserve()
 * @file: the file; the caller has a reference
 * @exp: the export that the file was found by; the caller has a reference
 *
 * Context: any.
 */
void dafsd_state_attach(struct dafsd_state *st, struct dafsd_file *file, struct dafsd_export *exp)
{
	dafsd_file_hold(file);
	st->file = file;
	kref_get(&exp->ref);
	st->exp = exp;
}

static dafs_status_t dafsd_state_list(struct dafsd_state *st)
{
	struct dafsd_client *client = st->client;
	dafs_status_t status = DAFS_STATUS_OK;

	spin_lock(&client->lock);
	if (client->released)
		status = DAFSERR_STALE_CLIENTID;
	else if (!READ_ONCE(st->exp->enabled))
		status = DAFSERR_STALE;
	else
		status = dafsd_client_may_get(client);
	if (!status)
		list_add_tail(&st->client_link, &client->states);
	spin_unlock(&client->lock);
	return status;
}

/**
 * dafsd_state_publish() - make state visible, unless its client or export is gone
 * @st: from dafsd_state_reserve(), attached; on success another task may claim it at any
 *	time
 * @state_id: set
 *
 * Context: any but interrupt.
 * Return: OK; STALE_CLIENTID or STALE if the client or the export is gone, or that of
 * dafsd_client_may_get(); then the state is as before.
 */
dafs_status_t dafsd_state_publish(struct dafsd_state *st, struct dafs_state_id *state_id)
{
	dafs_status_t status;

	dafsd_state_id(st, state_id);
	xa_lock(&dafsd_states);
	status = dafsd_state_list(st);
	if (!status) {
		st->dead = false;
		/* the entry was reserved, so this needs no memory */
		__xa_store(&dafsd_states, st->id, st, GFP_NOWAIT);
		st->type->published(st);
	}
	xa_unlock(&dafsd_states);
	return status;
}

/**
 * dafsd_state_split() - get the id of the state from a state-id
 * @state_id: from a request
 * @id: set to the id of the state if the status is OK
 *
 * Context: any.
 * Return: OK; BAD_STATEID for a special one; or STALE_STATEID for one of another
 * instance of the server.
 */
dafs_status_t dafsd_state_split(const struct dafs_state_id *state_id, u32 *id)
{
	u32 boot;

	if (dafsd_state_is_special(state_id))
		return DAFSERR_BAD_STATEID;
	memcpy(&boot, state_id->b, sizeof(u32));
	memcpy(id, state_id->b + sizeof(u32), sizeof(u32));
	return boot == dafsd_server.boot_instance ? DAFS_STATUS_OK : DAFSERR_STALE_STATEID;
}

/* Why a client does not find state that is in the table. */
static dafs_status_t dafsd_state_foreign(const struct dafsd_state *st)
{
	/* the state of the former record of this client may still be in the table */
	return dafsd_client_is_discarded(st->client) ? DAFSERR_EXPIRED : DAFSERR_BAD_STATEID;
}

/**
 * dafsd_state_find() - the state behind a state-id
 * @client: only its state is found
 * @state_id: from a request
 * @type: only state of this type is found
 * @status: set to OK; BAD_STATEID, also for a special one; STALE_STATEID for one of
 *	another instance of the server; or EXPIRED for one that was revoked, as long as
 *	that is remembered
 *
 * OLD_STATEID does not occur (E-81).
 *
 * Context: RCU read side, or the lock of the table.
 * Return: the state, or NULL.
 */
struct dafsd_state *dafsd_state_find(const struct dafsd_client *client,
				     const struct dafs_state_id *state_id,
				     const struct dafsd_state_type *type, dafs_status_t *status)
{
	struct dafsd_state *st;
	u32 id;

	*status = dafsd_state_split(state_id, &id);
	if (*status)
		return NULL;
	*status = DAFSERR_BAD_STATEID;
	st = xa_load(&dafsd_states, id);
	if (xa_is_value(st)) {
		if (dafsd_now() - xa_to_value(st) <= dafsd_lease_seconds)
			*status = DAFSERR_EXPIRED;
		return NULL;
	}
	if (!st)
		return NULL;
	if (st->client != client) {
		*status = dafsd_state_foreign(st);
		return NULL;
	}
	if (st->type != type)
		return NULL;
	*status = DAFS_STATUS_OK;
	return st;
}

/* State is revoked; its entry is there, so this needs no memory. */
static void dafsd_state_expire(const struct dafsd_state *st)
{
	lockdep_assert_held(&dafsd_states.xa_lock);
	if (dafsd_states_expired >= READ_ONCE(dafsd_states_max_expired)) {
		__xa_erase(&dafsd_states, st->id);
		return;
	}
	__xa_store(&dafsd_states, st->id, xa_mk_value(dafsd_now()), GFP_NOWAIT);
	WRITE_ONCE(dafsd_states_expired, dafsd_states_expired + 1);
	dafsd_states_forget_later();
}

/*
 * Mark state dead and take its entry away, or leave the time there if it is revoked.
 * Return: true if the caller has it now; false if another task has claimed it.
 */
static bool dafsd_state_take(struct dafsd_state *st, bool revoked)
{
	struct dafsd_client *client = st->client;

	lockdep_assert_held(&dafsd_states.xa_lock);
	if (st->dead)
		return false;
	WRITE_ONCE(st->dead, true);
	st->type->claimed(st);
	if (revoked)
		dafsd_state_expire(st);
	else
		__xa_erase(&dafsd_states, st->id);
	spin_lock(&client->lock);
	list_del(&st->client_link);
	spin_unlock(&client->lock);
	return true;
}

/**
 * dafsd_state_retract() - undo dafsd_state_publish()
 * @st: the state; the caller holds the lock of its file
 *
 * Context: any but interrupt.
 * Return: true if the caller has claimed the state; false if another task has, because its
 * client or export has ended, and will dismantle it.
 */
bool dafsd_state_retract(struct dafsd_state *st)
{
	bool claimed;

	xa_lock(&dafsd_states);
	claimed = dafsd_state_take(st, false);
	xa_unlock(&dafsd_states);
	return claimed;
}

/**
 * dafsd_state_claim() - take state out of the table
 * @client: the client that must own it
 * @state_id: from a request
 * @type: what it must be
 * @inode: the file that it must be about, or NULL
 * @found: set to the state, which the caller dismantles, or NULL
 *
 * Context: any but interrupt.
 * Return: OK, BAD_STATEID, STALE_STATEID or EXPIRED.
 */
dafs_status_t dafsd_state_claim(const struct dafsd_client *client,
				const struct dafs_state_id *state_id,
				const struct dafsd_state_type *type, const struct inode *inode,
				struct dafsd_state **found)
{
	struct dafsd_state *st;
	dafs_status_t status;

	xa_lock(&dafsd_states);
	st = dafsd_state_find(client, state_id, type, &status);
	if (st && ((inode && st->file->inode != inode) || !dafsd_state_take(st, false)))
		status = DAFSERR_BAD_STATEID;
	xa_unlock(&dafsd_states);
	*found = status ? NULL : st;
	return status;
}

/**
 * dafsd_state_revoke_one() - revoke state
 * @st: the state; the caller has a reference
 *
 * Context: any but interrupt.
 * Return: true if the caller has claimed it, and dismantles it; false if another task has.
 */
bool dafsd_state_revoke_one(struct dafsd_state *st)
{
	bool claimed;

	xa_lock(&dafsd_states);
	claimed = dafsd_state_take(st, true);
	xa_unlock(&dafsd_states);
	return claimed;
}

/**
 * dafsd_state_revoke_expired() - revoke one of the expired states of a client
 * @client: the client
 *
 * Context: any but interrupt.
 * Return: the state, which the caller dismantles, or NULL if none is left.
 */
struct dafsd_state *dafsd_state_revoke_expired(struct dafsd_client *client)
{
	struct dafsd_state *st;

	xa_lock(&dafsd_states);
	spin_lock(&client->lock);
	st = list_first_entry_or_null(&client->expired, struct dafsd_state, client_link);
	spin_unlock(&client->lock);
	if (st)
		dafsd_state_take(st, true);
	xa_unlock(&dafsd_states);
	return st;
}

/* The state with an id, if it is in @exp; under RCU, or the lock of the table to claim it. */
static struct dafsd_state *dafsd_state_in(const struct dafsd_export *exp, unsigned long id)
{
	struct dafsd_state *st = xa_load(&dafsd_states, id);

	return st && !xa_is_value(st) && st->exp == exp ? st : NULL;
}

static bool dafsd_state_is_in(const struct dafsd_export *exp, unsigned long id)
{
	guard(rcu)();
	return dafsd_state_in(exp, id);
}

/**
 * dafsd_state_revoke_in() - revoke one of the states in an export
 * @exp: the export, no longer enabled
 * @id: where to go on in the table, 0 at first; updated
 *
 * There may be a great many states, so the lock of the table is only taken for those of
 * the export, and separately for each of them.
 *
 * Context: may sleep.
 * Return: the state, which the caller dismantles, or NULL if none is left.
 */
struct dafsd_state *dafsd_state_revoke_in(const struct dafsd_export *exp, unsigned long *id)
{
	struct dafsd_state *st;
	void *entry;

	xa_for_each_start(&dafsd_states, *id, entry, *id) {
		cond_resched();
		if (!dafsd_state_is_in(exp, *id))
			continue;
		xa_lock(&dafsd_states);
		st = dafsd_state_in(exp, *id);
		if (st && !dafsd_state_take(st, true))
			st = NULL;
		xa_unlock(&dafsd_states);
		if (st)
			return st;
	}
	return NULL;
}

/* State that lives, with a reference; or NULL.  Under RCU. */
static struct dafsd_state *dafsd_state_try_get(struct dafsd_state *st)
{
	if (!st || xa_is_value(st) || !refcount_inc_not_zero(&st->ref))
		return NULL;
	return st;
}

/**
 * dafsd_state_get() - the state behind a state-id, of any client
 * @state_id: from an administrator
 *
 * Context: any.
 * Return: the state, with a reference, perhaps dead by now; or NULL.
 */
struct dafsd_state *dafsd_state_get(const struct dafs_state_id *state_id)
{
	u32 id;

	if (dafsd_state_split(state_id, &id))
		return NULL;
	guard(rcu)();
	return dafsd_state_try_get(xa_load(&dafsd_states, id));
}

/**
 * dafsd_state_next() - go through all state of all clients
 * @id: where to begin in the table, 0 at first; updated to the id of the state
 *
 * Context: may sleep.
 * Return: the state, with a reference, perhaps dead by now; or NULL if none is left.
 */
struct dafsd_state *dafsd_state_next(unsigned long *id)
{
	struct dafsd_state *st;

	for (;; ++*id) {
		cond_resched();
		guard(rcu)();
		if (!xa_find(&dafsd_states, id, ULONG_MAX, XA_PRESENT))
			return NULL;
		st = dafsd_state_try_get(xa_load(&dafsd_states, *id));
		if (st)
			return st;
	}
}

/**
 * dafsd_states_settle() - wait until all state is published that saw its export enabled
 *
 * Context: any but interrupt.
 */
void dafsd_states_settle(void)
{
	xa_lock(&dafsd_states);
	xa_unlock(&dafsd_states);
}

/**
 * dafsd_state_dismantle() - release what state has reserved, and end it
 * @st: the state; the caller has claimed it, so no other task does this
 *
 * Context: may sleep.
 */
void dafsd_state_dismantle(struct dafsd_state *st)
{
	st->type->ended(st);
	mutex_lock(&st->file->lock);
	st->type->detach(st);
	mutex_unlock(&st->file->lock);
	st->over = true;
	dafsd_state_put(st);
}

/**
 * dafsd_state_free() - free state without references
 * @st: the state
 *
 * Context: may sleep; does not hold the lock of the state's file.
 */
void dafsd_state_free(struct dafsd_state *st)
{
	st->type->release(st);
	if (st->file)
		dafsd_file_put(st->file);
	dafsd_client_uncharge(st->client, st->bytes);
	dafsd_client_put(st->client);
	if (st->exp)
		dafsd_export_put(st->exp);
	kfree_rcu(st, rcu);
}

/**
 * dafsd_state_put() - drop a reference
 * @st: the state
 *
 * Context: may sleep; does not hold the lock of the state's file.
 */
void dafsd_state_put(struct dafsd_state *st)
{
	if (refcount_dec_and_test(&st->ref))
		dafsd_state_free(st);
}
