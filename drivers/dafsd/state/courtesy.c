// SPDX-License-Identifier: GPL-2.0
/*
 * Courtesy as far as state is concerned: which clients may keep what they have beyond their
 * lease, and what happens when it is in the way.  See session/courtesy.c.
 */
#include "../session/client.h"
#include "../session/courtesy.h"
#include "../session/session.h"
#include "../request/request.h"
#include "lock.h"
#include "persist.h"
#include "state.h"

/**
 * dafsd_states_may_stay() - may the state of a client be kept beyond its lease?
 * @client: the client
 *
 * Not if the end of the lease means something for its locks, or if somebody waits for one.
 *
 * Context: may sleep for memory; holds dafsd_server.clients_lock.
 * Return: true if so.
 */
bool dafsd_states_may_stay(struct dafsd_client *client)
{
	return !dafsd_persist_binds(client) && !dafsd_locks_awaited(client);
}

/**
 * dafsd_state_hinders() - what a client has is in the way of the current task
 * @client: the client, which what is in the way has a reference to
 *
 * If it has that by courtesy only, it loses it.  The request that the task executes is handled anew
 * when that is done; it is to end with DELAY or DENIED.
 *
 * Context: any but interrupt; does not sleep.
 * Return: false if the client keeps it.
 */
bool dafsd_state_hinders(struct dafsd_client *client)
{
	struct dafsd_rqst *rq = dafsd_rqst_current();

	/* a request that has outlived its session */
	if (rq && rq->ses && rq->ses->client == client)
		return false;
	if (!dafsd_courtesy_end(client))
		return false;
	if (rq && !rq->yields) {
		kref_get(&client->ref);
		rq->yields = client;
	}
	return true;
}

/**
 * dafsd_state_make_room() - there is no room for what the current request asks for
 * @client: its client
 * @bytes: what there was no room for
 *
 * If clients have something by courtesy only, one of them loses it, and the request is handled anew
 * when that is freed.  Until there is room, or no such client any more.
 *
 * Context: any but interrupt; does not sleep.
 * Return: DELAY: there may be room soon; RESOURCE: there is none.
 */
dafs_status_t dafsd_state_make_room(struct dafsd_client *client, size_t bytes)
{
	struct dafsd_client *gives = dafsd_courtesy_make_room(client->peer, bytes);
	struct dafsd_rqst *rq = dafsd_rqst_current();

	if (!gives)
		return DAFSERR_RESOURCE;
	if (rq && !rq->yields) {
		rq->yields = gives;
		rq->needs_room = true;
	} else {
		dafsd_client_put(gives);
	}
	return DAFSERR_DELAY;
}
