// SPDX-License-Identifier: GPL-2.0
/*
 * A client of a server: what the server knows by one client-id, for the mounts that
 * share it, and its session.
 *
 * The client owns its session.  It waits for the end of the session's connections, and for
 * what is left in its work queues, before it frees either: these refer to both without a
 * reference.
 */
#include <linux/slab.h>
#include <linux/dafs/stats.h>
#include <net/net_namespace.h>
#include "rpc_impl.h"

struct workqueue_struct *dafs_session_wq;
struct workqueue_struct *dafs_recover_wq;
struct workqueue_struct *dafs_reconnect_wq;
struct workqueue_struct *dafs_probe_wq;

/* Return: false if out of memory. */
static bool dafs_client_alloc_queues(struct dafs_client *clnt)
{
	const unsigned int flags = WQ_MEM_RECLAIM | WQ_UNBOUND;

	clnt->retry_wq = alloc_workqueue("dafs-retry", flags, 0);
	clnt->end_wq = alloc_workqueue("dafs-end", flags, 0);
	/* no memory is freed only by evictions, so this one needs no rescuer's thread */
	clnt->put_wq = alloc_workqueue("dafs-put", WQ_UNBOUND, 0);
	clnt->lock_wq = alloc_workqueue("dafs-lock", WQ_UNBOUND, 0);
	clnt->reserve_wq = alloc_workqueue("dafs-reserve", WQ_UNBOUND, 0);
	clnt->commit_wq = alloc_workqueue("dafs-commit", flags, 0);
	return clnt->retry_wq && clnt->end_wq && clnt->put_wq && clnt->lock_wq &&
	       clnt->reserve_wq && clnt->commit_wq;
}

static void dafs_queue_free(struct workqueue_struct *wq)
{
	if (wq)
		destroy_workqueue(wq);
}

/* What is left in the queues holds no reference, and may ask the session for a connection. */
static void dafs_client_free(struct dafs_client *clnt)
{
	/* any response may have queued it */
	disable_delayed_work_sync(&clnt->relocated);
	if (clnt->ses)
		dafs_session_end(clnt->ses);
	dafs_queue_free(clnt->reserve_wq);
	dafs_queue_free(clnt->lock_wq);
	dafs_queue_free(clnt->commit_wq);
	dafs_queue_free(clnt->put_wq);
	dafs_queue_free(clnt->end_wq);
	dafs_queue_free(clnt->retry_wq);
	if (clnt->ses)
		dafs_session_free(clnt->ses);
	if (clnt->creds)
		dafs_cred_cache_put(clnt->creds);
	dafs_stats_free(clnt->stats);
	put_net(clnt->params.net);
	kfree(clnt);
}

static struct dafs_client *dafs_client_alloc(const struct dafs_client_params *params)
{
	struct dafs_client *clnt = kzalloc(sizeof(*clnt), GFP_KERNEL);

	if (!clnt)
		return NULL;
	clnt->params = *params;
	get_net(params->net);
	kref_init(&clnt->ref);
	spin_lock_init(&clnt->lock);
	INIT_LIST_HEAD(&clnt->recoverers);
	init_waitqueue_head(&clnt->recovered);
	clnt->begun = jiffies;
	dafs_client_watch(clnt);
	dafs_client_identify(clnt);
	clnt->creds = dafs_cred_cache_get(&clnt->params);
	clnt->stats = dafs_stats_alloc();
	clnt->ses = dafs_session_alloc(clnt);
	if (dafs_client_alloc_queues(clnt) && clnt->creds && clnt->stats && clnt->ses)
		return clnt;
	dafs_client_free(clnt);
	return NULL;
}

/**
 * dafs_client_create() - connect to a server and authenticate
 * @params: where to and how
 *
 * Context: may sleep; a fatal signal ends it.
 * Return: the client with a reference, or an ERR_PTR: those of dafs_chan_connect(),
 * -EPROTONOSUPPORT the server speaks another version, -EACCES it does not
 * accept this client, -EBUSY another client has its id, -EPROTO it answered
 * nonsense, -ETIMEDOUT nothing, -ECONNRESET it hung up.
 */
struct dafs_client *dafs_client_create(const struct dafs_client_params *params)
{
	struct dafs_client *clnt = dafs_client_alloc(params);
	int err;

	if (!clnt)
		return ERR_PTR(-ENOMEM);
	err = dafs_path_connect(&clnt->ses->paths[0]);
	if (err)
		goto free;
	err = dafs_session_show_in_sysfs(clnt->ses);
	if (err)
		goto shutdown;
	dafs_lease_begin(clnt);
	dafs_session_set_paths(clnt->ses, dafs_params_paths(&clnt->params));
	return clnt;

shutdown:
	dafs_session_shutdown(clnt->ses);
free:
	dafs_client_free(clnt);
	return ERR_PTR(err);
}

/* Credentials outlive sessions (E-47), so the last one does not leave them behind. */
static void dafs_client_disconnect(struct dafs_client *clnt)
{
	struct dafs_conn *conn;
	bool told = true;
	unsigned int i;

	for (i = 0; i < DAFS_MAX_PATHS; i++) {
		/* so that it is not connected again when the server hangs up */
		conn = dafs_path_detach(&clnt->ses->paths[i], NULL);
		if (!conn)
			continue;
		/* a server that does not answer is not waited for more than once */
		if (dafs_chan_is_open(conn->op))
			told = told && dafs_cred_cache_release(clnt, conn) &&
			       dafs_conn_notify(conn, DAFS_PROC_DISCONNECT, NULL);
		dafs_conn_drop(conn);
	}
}

/* Disconnects and frees (6.2.6). */
static void dafs_client_release(struct kref *ref)
{
	struct dafs_client *clnt = container_of(ref, struct dafs_client, ref);

	dafs_session_hide_from_sysfs(clnt->ses);
	disable_delayed_work_sync(&clnt->keep);
	dafs_client_disconnect(clnt);
	dafs_session_shutdown(clnt->ses);
	dafs_client_free(clnt);
}

/**
 * dafs_client_get() - use a client that others use too
 * @clnt: the client; the caller knows of a reference
 *
 * Context: any.
 * Return: @clnt.
 */
struct dafs_client *dafs_client_get(struct dafs_client *clnt)
{
	kref_get(&clnt->ref);
	return clnt;
}

/**
 * dafs_client_put() - use a client no longer
 * @clnt: the client; the last reference disconnects and frees it
 *
 * Context: may sleep.
 */
void dafs_client_put(struct dafs_client *clnt)
{
	kref_put(&clnt->ref, dafs_client_release);
}

/**
 * dafs_client_shared() - does a client have more than one user?
 * @clnt: the client, of which the caller is a user
 *
 * Context: any.
 * Return: true if so.
 */
bool dafs_client_shared(const struct dafs_client *clnt)
{
	return kref_read(&clnt->ref) > 1;
}

/**
 * dafs_client_shutdown() - fail all calls, now and from now on
 * @clnt: the client
 *
 * For umount -f: tasks and I/O that wait for the server get -EIO.
 *
 * Context: may sleep.
 */
void dafs_client_shutdown(struct dafs_client *clnt)
{
	WRITE_ONCE(clnt->dead, true);
	dafs_session_shutdown(clnt->ses);
}

/**
 * dafs_client_set_timeouts() - change how long the server is waited for
 * @clnt: the client
 * @soft: see struct dafs_client_params, as the next two
 * @timeo_ms: likewise
 * @retrans: likewise
 *
 * Tasks and I/O that wait now go by it, too.  Others read the three without a
 * lock: each of the three stands for itself.
 *
 * Context: may sleep.
 */
void dafs_client_set_timeouts(struct dafs_client *clnt, bool soft, unsigned int timeo_ms,
			      unsigned int retrans)
{
	spin_lock(&clnt->lock);
	WRITE_ONCE(clnt->params.soft, soft);
	WRITE_ONCE(clnt->params.timeo_ms, timeo_ms);
	WRITE_ONCE(clnt->params.retrans, retrans);
	spin_unlock(&clnt->lock);
	dafs_session_retime(clnt->ses);
}

/**
 * dafs_client_set_paths() - change by how many paths the server is reached
 * @clnt: the client
 * @nr: 1 to DAFS_MAX_PATHS
 *
 * Context: may sleep.
 */
void dafs_client_set_paths(struct dafs_client *clnt, unsigned int nr)
{
	dafs_session_set_paths(clnt->ses, nr);
}

/**
 * dafs_client_gives_up() - an attempt has ended without an answer: was it the last?
 * @clnt: the client
 * @lost: such attempts so far, on a soft mount; this one is added
 *
 * Context: any.
 * Return: true if the mount is soft, and there were too many.
 */
bool dafs_client_gives_up(const struct dafs_client *clnt, unsigned int *lost)
{
	return READ_ONCE(clnt->params.soft) && ++*lost > READ_ONCE(clnt->params.retrans);
}

/**
 * dafs_client_is() - does the server know the client by this client-id?
 * @clnt: the client
 * @client_id: from the server
 *
 * Context: any but interrupt.
 * Return: false if it has another one, or has not got back yet what it had by another one.
 */
bool dafs_client_is(struct dafs_client *clnt, const struct dafs_client_id *client_id)
{
	bool is;

	spin_lock(&clnt->lock);
	is = dafs_opaque64_equal(&clnt->client_id, client_id);
	spin_unlock(&clnt->lock);
	return is;
}

/**
 * dafs_clients_init() - get ready for clients
 *
 * Return: 0 or -ENOMEM.
 */
int __init dafs_clients_init(void)
{
	const unsigned int flags = WQ_UNBOUND | WQ_MEM_RECLAIM;
	int err = dafs_sysfs_init();

	if (err)
		return err;
	dafs_identity_init();
	dafs_session_wq = alloc_workqueue("dafs_session", flags, 0);
	dafs_reconnect_wq = alloc_workqueue("dafs_reconnect", flags, 0);
	dafs_recover_wq = alloc_workqueue("dafs_recover", flags, WQ_MAX_ACTIVE);
	dafs_probe_wq = alloc_workqueue("dafs_probe", flags, WQ_MAX_ACTIVE);
	if (dafs_session_wq && dafs_reconnect_wq && dafs_recover_wq && dafs_probe_wq)
		return 0;
	dafs_clients_exit();
	return -ENOMEM;
}

/**
 * dafs_clients_exit() - undo dafs_clients_init()
 */
void dafs_clients_exit(void)
{
	dafs_queue_free(dafs_probe_wq);
	dafs_queue_free(dafs_recover_wq);
	dafs_queue_free(dafs_reconnect_wq);
	dafs_queue_free(dafs_session_wq);
	dafs_sysfs_exit();
}
