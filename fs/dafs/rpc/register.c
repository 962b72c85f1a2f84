// SPDX-License-Identifier: GPL-2.0
/*
 * Registering users with the server, and releasing their handles (3.1.1.2).
 *
 * A handle that is not used for a while is released, and so is the one that was used
 * least recently when the server has room for no more.
 */
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include "cred.h"

/* Bytes of a REGISTER_CRED besides its groups, at most: headers, checksum, ids */
#define DAFS_CRED_FIXED		128

#define DAFS_CRED_AGED		16U	/* released in one round of housekeeping */
#define DAFS_CRED_TRIES		8	/* if other tasks fail, or evict the handle */

static int dafs_cred_result(struct dafs_call *call, struct dafs_conn *conn, u8 *handle)
{
	struct dafs_register_cred_res res;

	if (call->error)
		return call->error;
	if (dafs_call_action(conn, call) == DAFS_ACT_SESSION)
		return -ENOTCONN;
	if (call->status)
		return dafs_status_to_errno(call->status);
	if (dafs_decode_res(&call->buf, DAFS_PROC_REGISTER_CRED, &res))
		return -EIO;
	memcpy(handle, res.cred_handle, sizeof(res.cred_handle));
	return 0;
}

/* The response of REGISTER_CRED, whether or not a task still waits for it. */
static void dafs_cred_registered(struct dafs_call *call)
{
	struct dafs_cred_entry *entry = call->priv;
	struct dafs_conn *conn = entry->conn;

	dafs_cred_settle(entry, dafs_cred_result(call, conn, entry->handle));
	dafs_cred_entry_put(entry);
	dafs_conn_put(conn);
}

/*
 * REGISTER_CRED sends all groups in one message (6.2.8).  If a user has more groups than
 * fit, only those with the lowest numbers are sent, as with NFS.
 */
static int dafs_cred_most_groups(const struct dafs_conn *conn, const struct cred *cred)
{
	int most = (conn->opts.max_request_size - DAFS_CRED_FIXED) / sizeof(s32);

	if (cred->group_info->ngroups <= most)
		return cred->group_info->ngroups;
	pr_warn_ratelimited("dafs: server %pISpc: only %d of %d groups of user %u are sent\n",
			    &conn->ses->clnt->params.dst, most, cred->group_info->ngroups,
			    from_kuid(&init_user_ns, cred->fsuid));
	return most;
}

static int dafs_cred_groups(const struct dafs_conn *conn, const struct cred *cred,
			    struct dafs_seq *seq)
{
	int nr = dafs_cred_most_groups(conn, cred);
	s32 *groups;
	int i;

	groups = kvmalloc_array(nr ?: 1, sizeof(*groups), GFP_KERNEL);
	if (!groups)
		return -ENOMEM;
	for (i = 0; i < nr; i++)
		groups[i] = from_kgid(&init_user_ns, cred->group_info->gid[i]);
	*seq = (struct dafs_seq) { .count = nr, .elems = groups };
	return 0;
}

/* On success the call has a reference on the entry and one on the connection. */
static int dafs_cred_send(struct dafs_conn *conn, struct dafs_cred_entry *entry)
{
	struct dafs_register_cred_args args = {
		.cred_type = DAFS_CRED_ID,
		.uid = from_kuid(&init_user_ns, entry->cred->fsuid),
		.gid = from_kgid(&init_user_ns, entry->cred->fsgid),
	};
	struct dafs_call *call = dafs_call_alloc(GFP_KERNEL);
	int err = -ENOMEM;

	if (!call)
		return err;
	err = dafs_cred_groups(conn, entry->cred, &args.groups);
	if (err)
		goto put_call;
	call->proc = DAFS_PROC_REGISTER_CRED;
	call->args = &args;
	call->priv = entry;
	call->done = dafs_cred_registered;
	kref_get(&entry->ref);
	kref_get(&conn->ref);
	entry->conn = conn;
	err = dafs_call_start(conn->rq, call);
	kvfree(args.groups.elems);
	if (err) {
		dafs_cred_entry_put(entry);
		dafs_conn_put(conn);
	}
put_call:
	dafs_call_put(call);
	return err;
}

static void dafs_cred_released(struct dafs_call *call)
{
	dafs_conn_put(call->priv);
}

/*
 * Sends RELEASE_CRED; with @wait, waits for a slot and the response.  Return: 0 if it
 * was sent, or is not needed.
 */
static int dafs_cred_send_release(struct dafs_conn *conn, const struct dafs_cred_entry *entry,
				  bool wait)
{
	struct dafs_release_cred_args args;
	struct dafs_call *call;
	int err;

	if (!dafs_opaque64_equal(&entry->client_id, &conn->client_id))
		return 0;
	call = dafs_call_alloc(GFP_KERNEL);
	if (!call)
		return -ENOMEM;
	memcpy(args.cred_handle, entry->handle, sizeof(args.cred_handle));
	call->proc = DAFS_PROC_RELEASE_CRED;
	call->args = &args;
	call->done = dafs_cred_released;
	call->priv = conn;
	kref_get(&conn->ref);
	err = wait ? dafs_call_start(conn->rq, call) : dafs_call_start_chain(conn->rq, call);
	if (err)
		dafs_conn_put(conn);
	else if (wait)
		dafs_call_wait(call);
	dafs_call_put(call);
	return err;
}

/* As dafs_cred_take(), and releases the handle at the server.  Return: false if there was none. */
static bool dafs_cred_evict(struct dafs_cred_cache *cache, struct dafs_conn *conn,
			    unsigned int most, unsigned long idle, bool wait)
{
	struct dafs_cred_entry *entry = dafs_cred_take(cache, most, idle);

	if (!entry)
		return false;
	if (dafs_cred_send_release(conn, entry, wait)) {
		dafs_cred_put_back(entry);
		return false;
	}
	dafs_cred_entry_put(entry);
	return true;
}

/**
 * dafs_cred_cache_age() - release handles that were not used for a while
 * @clnt: the client
 * @conn: its connection
 * @idle: for how long, in jiffies
 *
 * Context: may sleep, but does not wait for the server.
 */
void dafs_cred_cache_age(struct dafs_client *clnt, struct dafs_conn *conn, unsigned long idle)
{
	unsigned int nr = DAFS_CRED_AGED;

	while (nr-- && dafs_cred_evict(clnt->creds, conn, 0, idle, false))
		;
}

/**
 * dafs_cred_cache_release() - release all handles at the server
 * @clnt: a client that is about to end
 * @conn: a connection of it; handles of another client-id are forgotten
 *
 * Does nothing while other clients use them.
 *
 * Context: may sleep.
 * Return: false if the server no longer answers.
 */
bool dafs_cred_cache_release(struct dafs_client *clnt, struct dafs_conn *conn)
{
	struct dafs_release_cred_args args;
	struct dafs_cred_entry *entry;
	bool told = true;

	if (dafs_cred_cache_shared(clnt->creds))
		return true;
	while (told && (entry = dafs_cred_take(clnt->creds, 0, 0))) {
		memcpy(args.cred_handle, entry->handle, sizeof(args.cred_handle));
		if (dafs_opaque64_equal(&entry->client_id, &conn->client_id))
			told = dafs_conn_notify(conn, DAFS_PROC_RELEASE_CRED, &args);
		dafs_cred_entry_put(entry);
	}
	return told;
}

/* How many of the server's handles are used before old ones are released. */
static unsigned int dafs_cred_most(const struct dafs_conn *conn)
{
	unsigned int max = conn->opts.max_credentials;

	/* leave some room: a RELEASE_CRED may arrive after the next REGISTER_CRED */
	return max - max / 8;
}

/* Return: as dafs_cred_handle(), once @entry is settled. */
static int dafs_cred_outcome(struct dafs_cred_entry *entry, u8 *handle)
{
	int err = wait_for_completion_killable(&entry->settled);

	if (err)
		return err;
	spin_lock_bh(&entry->cache->lock);
	if (entry->state == DAFS_CRED_READY)
		memcpy(handle, entry->handle, sizeof(entry->handle));
	else
		err = entry->err;
	spin_unlock_bh(&entry->cache->lock);
	return err;
}

/* One attempt to register @cred; *@mine is set if this task sent the request. */
static int dafs_cred_try(struct dafs_cred_cache *cache, struct dafs_conn *conn,
			 const struct cred *cred, u8 *handle, bool *mine)
{
	struct dafs_cred_entry *entry = dafs_cred_join(cache, conn, cred, mine);
	int err;

	if (!entry)
		return -ENOMEM;
	if (*mine) {
		dafs_cred_evict(cache, conn, dafs_cred_most(conn) + 1, 0, false);
		err = dafs_cred_send(conn, entry);
		if (err)
			dafs_cred_settle(entry, err);
	}
	err = dafs_cred_outcome(entry, handle);
	dafs_cred_entry_put(entry);
	return err;
}

/* Is another attempt useful?  If another task failed, this task may still succeed. */
static bool dafs_cred_again(struct dafs_cred_cache *cache, struct dafs_conn *conn, int err,
			    bool mine)
{
	if (fatal_signal_pending(current))
		return false;
	/* other sessions of this client may have filled the server's table */
	if (err == -ENOMEM)
		return dafs_cred_evict(cache, conn, 0, 0, true);
	/* -EBADMSG: the request failed its checksum */
	return !mine || err == -ESTALE || err == -EBADMSG;
}

/**
 * dafs_cred_register() - get the credential handle of a user from the server
 * @cache: the cache, where it is not
 * @conn: the connection to use it on
 * @cred: the user
 * @handle: filled with the handle
 *
 * Context: may sleep; a fatal signal ends it.
 * Return: as dafs_cred_handle().
 */
int dafs_cred_register(struct dafs_cred_cache *cache, struct dafs_conn *conn,
		       const struct cred *cred, u8 *handle)
{
	unsigned int tries = DAFS_CRED_TRIES;
	bool mine = true;
	int err;

	do
		err = dafs_cred_try(cache, conn, cred, handle, &mine);
	while (err && --tries && dafs_cred_again(cache, conn, err, mine));
	return err;
}
