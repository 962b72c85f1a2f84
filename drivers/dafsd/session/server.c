// SPDX-License-Identifier: GPL-2.0
/*
 * The server, the limits that the administrator sets, and the work queues.
 */
#include <linux/module.h>
#include <linux/random.h>
#include <linux/workqueue.h>
#include "courtesy.h"
#include "server.h"

unsigned int dafsd_max_requests = DAFSD_DEFAULT_MAX_REQUESTS;
module_param_named(max_requests, dafsd_max_requests, uint, 0644);
MODULE_PARM_DESC(max_requests, "requests a session may have outstanding (1-256, default 32)");

unsigned int dafsd_msg_size = DAFSD_DEFAULT_MSG_SIZE;
module_param_named(msg_size, dafsd_msg_size, uint, 0644);
MODULE_PARM_DESC(msg_size, "largest request and response in bytes (4096-65536, default 8192)");

unsigned int dafsd_lease_seconds = DAFSD_LEASE_SECONDS;
module_param_named(lease, dafsd_lease_seconds, uint, 0444);
MODULE_PARM_DESC(lease,
		 "lease time in seconds: a client silent for so long loses its sessions, and what it has when others need it (1-3600, default 90)");

bool dafsd_auth_none = true;
module_param_named(auth_none, dafsd_auth_none, bool, 0644);
MODULE_PARM_DESC(auth_none,
		 "accept clients that say on whose behalf they act, sec=none (default Y); N: only sec=default, as the anonymous user");

unsigned int dafsd_max_sessions = DAFSD_DEFAULT_MAX_SESSIONS;
module_param_named(max_sessions, dafsd_max_sessions, uint, 0644);
MODULE_PARM_DESC(max_sessions, "sessions of all clients (default 4096)");

unsigned int dafsd_max_opens = DAFSD_DEFAULT_MAX_OPENS;
module_param_named(max_opens, dafsd_max_opens, uint, 0644);
MODULE_PARM_DESC(max_opens, "files that one client may have open (default 65536)");

unsigned int dafsd_max_locks = DAFSD_DEFAULT_MAX_LOCKS;
module_param_named(max_locks, dafsd_max_locks, uint, 0644);
MODULE_PARM_DESC(max_locks, "byte-range locks that one client may have (default 65536)");

unsigned int dafsd_max_delegations = DAFSD_DEFAULT_MAX_DELEGATIONS;
module_param_named(max_delegations, dafsd_max_delegations, uint, 0644);
MODULE_PARM_DESC(max_delegations,
		 "delegations that one client may have (default 4096); 0: no more are given");

struct workqueue_struct *dafsd_wq;
struct workqueue_struct *dafsd_least_wq;
struct workqueue_struct *dafsd_end_wq;
struct workqueue_struct *dafsd_close_wq;
struct workqueue_struct *dafsd_timer_wq;

struct dafsd_server dafsd_server;

/**
 * dafsd_server_init() - make a new instance of the server, without clients
 * @server: zeroed
 *
 * Context: module initialization.
 */
void dafsd_server_init(struct dafsd_server *server)
{
	do
		server->boot_instance = get_random_u32();
	while (!server->boot_instance || !~server->boot_instance);
	spin_lock_init(&server->conns_lock);
	INIT_LIST_HEAD(&server->conns);
	INIT_LIST_HEAD(&server->new_conns);
	init_waitqueue_head(&server->conns_gone);
	init_waitqueue_head(&server->answered);
	spin_lock_init(&server->sessions_lock);
	hash_init(server->session_ids);
	hash_init(server->respcaches);
	INIT_LIST_HEAD(&server->revived);
	server->revived_at = jiffies;
	mutex_init(&server->clients_lock);
	INIT_LIST_HEAD(&server->clients);
	hash_init(server->clients_by_id);
	server->max_clients = DAFSD_DEFAULT_MAX_CLIENTS;
	spin_lock_init(&server->peers_lock);
	hash_init(server->peers);
	dafsd_grace_init(server);
	dafsd_courtesy_init(server);
}

/**
 * dafsd_wqs_destroy() - undo dafsd_wqs_create(), also if that has failed
 *
 * Context: may sleep; nothing is queued any more.
 */
void dafsd_wqs_destroy(void)
{
	if (dafsd_wq)
		destroy_workqueue(dafsd_wq);
	if (dafsd_least_wq)
		destroy_workqueue(dafsd_least_wq);
	if (dafsd_end_wq)
		destroy_workqueue(dafsd_end_wq);
	if (dafsd_close_wq)
		destroy_workqueue(dafsd_close_wq);
	if (dafsd_timer_wq)
		destroy_workqueue(dafsd_timer_wq);
}

/**
 * dafsd_wqs_create() - make the work queues
 *
 * Ending sessions and timers have work queues of their own: they must not wait for a
 * worker that requests occupy.  In the two queues for requests, see request/park.c, and in
 * the queue for closing files, a file system may block a worker for long; in the other two
 * queues nothing does but the disk of the state directory, where a client has lost its state.
 * park.c relies on the number of workers of each node, so it is not
 * configurable in sysfs.
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int dafsd_wqs_create(void)
{
	dafsd_wq = alloc_workqueue("dafsd", WQ_UNBOUND, DAFSD_WORKERS);
	dafsd_least_wq = alloc_workqueue("dafsd-least", WQ_UNBOUND, DAFSD_WORKERS);
	dafsd_end_wq = alloc_workqueue("dafsd-end", WQ_UNBOUND, 0);
	dafsd_close_wq = alloc_workqueue("dafsd-close", WQ_UNBOUND, WQ_MAX_ACTIVE);
	dafsd_timer_wq = alloc_workqueue("dafsd-timer", WQ_UNBOUND, 0);
	if (dafsd_wq && dafsd_least_wq && dafsd_end_wq && dafsd_close_wq && dafsd_timer_wq)
		return 0;
	dafsd_wqs_destroy();
	return -ENOMEM;
}
