// SPDX-License-Identifier: GPL-2.0
/*
 * The end of clients, leases and exports, which takes the state away from clients
 * (4.4.1.2, E-84).
 *
 * The state is claimed at once, and reserves nothing from then on; byte-range locks are
 * released at once, unless the file system has locks of its own.  Files are closed later, by
 * a work item of their export, because the file system may block that.
 */
#include <linux/llist.h>
#include <linux/workqueue.h>
#include "../session/server.h"
#include "../session/client.h"
#include "../export/export.h"
#include "state.h"

static void dafsd_states_close(struct work_struct *work)
{
	struct dafsd_export *exp = container_of(work, struct dafsd_export, closer);
	struct dafsd_state *st, *next;

	llist_for_each_entry_safe(st, next, llist_del_all(&exp->closing), closing) {
		if (st->over)
			dafsd_state_free(st);
		else
			dafsd_state_dismantle(st);
	}
	dafsd_export_put(exp);
}

/* Dismantle claimed state, or free it if that was done. */
static void dafsd_state_close(struct dafsd_state *st)
{
	struct dafsd_export *exp = st->exp;

	/* once it is in the list, it may be freed, with its reference to the export */
	kref_get(&exp->ref);
	llist_add(&st->closing, &exp->closing);
	if (!queue_work(dafsd_close_wq, &exp->closer))
		dafsd_export_put(exp);
}

/**
 * dafsd_states_init_export() - initialize the closing of files in an export
 * @exp: the export, not yet served
 */
void dafsd_states_init_export(struct dafsd_export *exp)
{
	init_llist_head(&exp->closing);
	INIT_WORK(&exp->closer, dafsd_states_close);
}

/**
 * dafsd_state_discard() - dismantle state later
 * @st: the state, which the caller has claimed
 *
 * Context: may sleep, but does not wait for a file system.
 */
void dafsd_state_discard(struct dafsd_state *st)
{
	st->type->revoked(st);
	dafsd_state_close(st);
}

/**
 * dafsd_state_put_later() - drop a reference; the last one closes files, in the background
 * @st: the state, which was published
 *
 * Context: any.
 */
void dafsd_state_put_later(struct dafsd_state *st)
{
	if (refcount_dec_and_test(&st->ref))
		dafsd_state_close(st);
}

/**
 * dafsd_state_revoke() - take state away from its client
 * @st: the state; the caller has a reference
 *
 * What it reserves ends at once, and files are closed later.
 *
 * Context: may sleep, but does not wait for a file system.
 * Return: false if another task has claimed it before.
 */
bool dafsd_state_revoke(struct dafsd_state *st)
{
	if (!dafsd_state_revoke_one(st))
		return false;
	dafsd_state_discard(st);
	return true;
}

static void dafsd_client_expire(struct dafsd_client *client, bool for_good)
{
	spin_lock(&client->lock);
	client->released |= for_good;
	list_splice_tail_init(&client->states, &client->expired);
	spin_unlock(&client->lock);
}

/**
 * dafsd_states_expire_client() - mark the present state of a client as expired; later
 * state is not affected
 * @client: its lease has expired; dafsd_states_revoke_client() revokes the state
 *
 * Context: any but interrupt; takes constant time.
 */
void dafsd_states_expire_client(struct dafsd_client *client)
{
	dafsd_client_expire(client, false);
}

/**
 * dafsd_states_revoke_client() - revoke the expired state of a client, if any
 * @client: the client
 *
 * Context: as dafsd_states_release_client().
 */
void dafsd_states_revoke_client(struct dafsd_client *client)
{
	struct dafsd_state *st;

	while ((st = dafsd_state_revoke_expired(client))) {
		dafsd_state_discard(st);
		cond_resched();
	}
}

/**
 * dafsd_states_release_client() - revoke all state of a client, and refuse more
 * @client: its lease has expired or a new instance has replaced it
 *
 * When this returns, the state reserves nothing any more; the files are closed later.
 *
 * Context: may sleep, but does not wait for a file system.  There may be much state, so no
 * lock that other tasks need is held for long.
 */
void dafsd_states_release_client(struct dafsd_client *client)
{
	dafsd_client_expire(client, true);
	dafsd_states_revoke_client(client);
}

/**
 * dafsd_states_release_export() - revoke all state in an export
 * @exp: no longer enabled; dafsd_states_settle() was called since
 *
 * The files are closed later, by a work item with a reference to @exp.
 *
 * Context: may sleep, but does not wait for a file system.
 */
void dafsd_states_release_export(struct dafsd_export *exp)
{
	struct dafsd_state *st;
	unsigned long id = 0;

	while ((st = dafsd_state_revoke_in(exp, &id)))
		dafsd_state_discard(st);
}
