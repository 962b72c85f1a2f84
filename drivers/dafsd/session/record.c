// SPDX-License-Identifier: GPL-2.0
/*
 * Records of the clients that have state: what the server knows of them when it has
 * restarted (4.4.1.2).
 *
 * A client is recorded before it is given its first open, which waits for the disk; later
 * ones do not.  The record is deleted when its state is taken from it, before that is given
 * to another client: so it cannot reclaim that after a restart.  Deleting is done under
 * dafsd_server.clients_lock, but waiting for the disk is not.
 *
 * There is one record for all state of a client.  A client that has lost its state, but has
 * not been discarded, and is given new state before it has noticed, could reclaim both after a
 * restart.
 *
 * While the store cannot be written no client gets a new open or lock, so that what has been
 * taken from a client without a record of it is not given to another one.
 */
#include <linux/file.h>
#include "../store/store.h"
#include "client.h"
#include "grace.h"
#include "respcache.h"
#include "server.h"

static struct dafsd_key dafsd_client_key(const struct dafsd_client *client)
{
	return (struct dafsd_key){
		.kind = DAFSD_RECORD_CLIENT,
		.len = client->id_len,
		.data = client->id,
	};
}

static int dafsd_client_put_record(struct dafsd_client *client)
{
	bool over = READ_ONCE(client->life) == DAFSD_CLIENT_COURTEOUS;
	struct dafsd_key key = dafsd_client_key(client);
	struct dafsd_client_record rec = {
		.verifier = client->verifier,
		.auth_type = cpu_to_le32(client->principal->auth_type),
		.lease = cpu_to_le32(over ? 0 : dafsd_lease_seconds),
	};

	return dafsd_store_put(client->server->store, &key, &rec, sizeof(rec));
}

/* It may have been unrecorded in the meantime, then it has no record. */
static void dafsd_client_is_recorded(struct dafsd_client *client, unsigned int changes)
{
	spin_lock(&client->lock);
	if (client->record_changes == changes)
		client->recorded = true;
	spin_unlock(&client->lock);
}

/**
 * dafsd_client_record() - make sure that a client is known after a restart
 * @client: the client, authenticated; about to be given state
 *
 * Context: may sleep, the first time for the disk.
 * Return: OK, also if there is no store; RESOURCE without memory, or if the store is full; IO
 * if it cannot be written.
 */
dafs_status_t dafsd_client_record(struct dafsd_client *client)
{
	struct dafsd_store *store = READ_ONCE(client->server->store);
	unsigned int changes;
	int err = 0;

	if (!store || (READ_ONCE(client->recorded) && !dafsd_store_failed(store)))
		return DAFS_STATUS_OK;
	mutex_lock(&client->record_lock);
	changes = client->record_changes;
	/* a discarded one is refused later */
	if (!client->recorded && !dafsd_client_is_discarded(client)) {
		dafsd_grace_given(client, true);
		err = dafsd_client_put_record(client);
		if (err)
			dafsd_grace_given(client, false);
	}
	mutex_unlock(&client->record_lock);
	if (err)
		return DAFSERR_RESOURCE;
	if (dafsd_store_sync(store))
		return DAFSERR_IO;
	dafsd_client_is_recorded(client, changes);
	return DAFS_STATUS_OK;
}

/* What was recorded until now is not enough for the client to be given new state. */
static void dafsd_client_recorded_no_more(struct dafsd_client *client)
{
	spin_lock(&client->lock);
	client->record_changes++;
	client->recorded = false;
	spin_unlock(&client->lock);
}

/**
 * dafsd_client_rerecord() - a client keeps what it has, but its lease is over; or it is back
 * @client: the client, COURTEOUS or not any more
 *
 * One whose lease was over may reclaim what it had after a restart, but the grace period is not for
 * its sake.  That need not be durable: it makes the period longer at worst.  But it must be durable
 * that a client is back before it is told so: dafsd_client_record().
 *
 * Context: may sleep for memory; holds dafsd_server.clients_lock.
 */
void dafsd_client_rerecord(struct dafsd_client *client)
{
	lockdep_assert_held(&client->server->clients_lock);
	if (!client->server->store)
		return;
	mutex_lock(&client->record_lock);
	dafsd_client_recorded_no_more(client);
	/* without memory it stays as it is */
	dafsd_client_put_record(client);
	mutex_unlock(&client->record_lock);
}

/**
 * dafsd_client_unrecord() - the state of a client is about to be taken from it
 * @client: the client; its record is not needed any more, unless the server ends
 *
 * State that it is about to be given is not (dafsd_state_publish()).  The record is gone
 * for good after dafsd_client_sync_record().
 *
 * Context: may sleep for memory; holds dafsd_server.clients_lock.
 */
void dafsd_client_unrecord(struct dafsd_client *client)
{
	struct dafsd_store *store = client->server->store;
	struct dafsd_key key = dafsd_client_key(client);

	lockdep_assert_held(&client->server->clients_lock);
	/* one that has not authenticated may have the id of another one */
	if (!store || !client->principal || client->keeps_record)
		return;
	mutex_lock(&client->record_lock);
	dafsd_client_recorded_no_more(client);
	if (dafsd_store_delete(store, &key))
		client->unsynced = true;
	mutex_unlock(&client->record_lock);
	dafsd_grace_lost(client);
}

/**
 * dafsd_client_sync_record() - wait until a record that was deleted is gone for good
 * @client: the client, whose state is about to be released
 *
 * If that fails the state is released all the same: dafsd_client_may_get() keeps other
 * clients from getting it.
 *
 * Context: may sleep for the disk.
 */
void dafsd_client_sync_record(struct dafsd_client *client)
{
	if (!READ_ONCE(client->unsynced))
		return;
	dafsd_store_sync(client->server->store);
	/* afterwards: another task that releases state of the client must wait as well */
	WRITE_ONCE(client->unsynced, false);
}

/**
 * dafsd_client_may_get() - may a client be given state now?
 * @client: the client
 *
 * Context: any.
 * Return: OK; DELAY if it has to be recorded first; IO while the store cannot be written.
 */
dafs_status_t dafsd_client_may_get(const struct dafsd_client *client)
{
	const struct dafsd_store *store = READ_ONCE(client->server->store);

	if (!store)
		return DAFS_STATUS_OK;
	if (dafsd_store_failed(store))
		return DAFSERR_IO;
	return READ_ONCE(client->recorded) ? DAFS_STATUS_OK : DAFSERR_DELAY;
}

/* Clients may have connected before the first export was enabled. */
static void dafsd_records_greet(struct dafsd_server *server)
{
	const struct dafsd_client *client;

	guard(mutex)(&server->clients_lock);
	list_for_each_entry(client, &server->clients, node)
		if (client->principal)
			dafsd_client_ops->replaced(client);
}

static int dafsd_records_load(struct dafsd_server *server, struct file *dir)
{
	struct dafsd_store *store = dafsd_store_open(dir);
	int err;

	if (IS_ERR(store))
		return PTR_ERR(store);
	err = dafsd_client_ops->load(store) ?: dafsd_respcaches_load(server, store) ?:
	      dafsd_grace_load(server, store);
	if (err) {
		dafsd_respcaches_unload(server);
		dafsd_client_ops->unload();
		dafsd_store_close(store);
		return err;
	}
	WRITE_ONCE(server->store, store);
	dafsd_respcaches_age(server);
	dafsd_grace_begin(server);
	dafsd_records_greet(server);
	return 0;
}

static const char *dafsd_records_why(int err)
{
	switch (err) {
	case -EBUSY:
		return "another server uses it: is it on a shared disk?";
	case -EUCLEAN:
		return "log.0 and log.1 are damaged";
	case -EPROTONOSUPPORT:
		return "log.0 or log.1 was written by another version";
	}
	return "cannot be read or written";
}

/* No export can be enabled before the administrator does one of these. */
static void dafsd_records_advise(int err)
{
	if (err == -EUCLEAN)
		pr_err("dafsd: restore the disk, or remove log.0 and log.1: then clients lose their locks, and what was broken or half changed stays as it is (server.rst, \"Restart of the server\")\n");
	else if (err == -EPROTONOSUPPORT)
		pr_err("dafsd: load the version that has written them, or remove log.0 and log.1, as if they were damaged (server.rst, \"Restart of the server\")\n");
}

static int dafsd_records_open_in(struct dafsd_server *server, struct file *dir)
{
	int err = dafsd_records_load(server, dir);

	if (!err)
		return 0;
	pr_err("dafsd: state directory %s: %s (%pe)\n", dafsd_state_dir, dafsd_records_why(err),
	       ERR_PTR(err));
	dafsd_records_advise(err);
	return err;
}

/* There is no directory, and so nothing that was recorded before. */
static int dafsd_records_do_without(struct dafsd_server *server, int err)
{
	server->storeless = true;
	pr_warn("dafsd: there is no state directory %s (%pe): clients will lose their locks when the server restarts\n",
		dafsd_state_dir, ERR_PTR(err));
	return 0;
}

/**
 * dafsd_records_open() - open the store, and let the clients that it knows reclaim
 * @server: the server
 * @optional: it can do without a directory
 *
 * What was decided once holds until the module is unloaded: a store that is opened later
 * would not know the clients that have state.
 *
 * Context: may sleep, with the server's credential; the first export is about to be enabled.
 * Return: 0, or the error of dafsd_state_dir_open(), dafsd_store_open() or
 * dafsd_grace_load().
 */
int dafsd_records_open(struct dafsd_server *server, bool optional)
{
	struct file *dir;
	int err;

	if (server->store || server->storeless)
		return 0;
	dir = dafsd_state_dir_open();
	if (IS_ERR(dir) && optional)
		return dafsd_records_do_without(server, PTR_ERR(dir));
	if (IS_ERR(dir)) {
		pr_err("dafsd: state directory %s: %pe\n", dafsd_state_dir, dir);
		return PTR_ERR(dir);
	}
	err = dafsd_records_open_in(server, dir);
	fput(dir);
	return err;
}

/**
 * dafsd_records_close() - close the store
 * @server: the server, which has no client any more
 *
 * Context: may sleep.
 */
void dafsd_records_close(struct dafsd_server *server)
{
	if (!server->store)
		return;
	dafsd_grace_exit(server);
	dafsd_respcaches_unload(server);
	dafsd_client_ops->unload();
	dafsd_store_close(server->store);
	server->store = NULL;
}
