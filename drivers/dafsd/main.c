// SPDX-License-Identifier: GPL-2.0
/*
 * dafsd: serves exported directory trees by DAFS.
 *
 *	modprobe dafsd exports=/srv/data
 */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/module.h>
#include <linux/random.h>
#include <net/net_namespace.h>
#include <kunit/visibility.h>
#include <linux/dafs/version.h>
#include "session/session.h"

static unsigned short port = DAFS_DEFAULT_PORT;
module_param(port, ushort, 0444);
MODULE_PARM_DESC(port, "port to listen on (default 20050)");

unsigned int dafsd_max_requests = DAFSD_DEFAULT_MAX_REQUESTS;
module_param_named(max_requests, dafsd_max_requests, uint, 0644);
MODULE_PARM_DESC(max_requests, "requests a session may have outstanding (1-256, default 32)");

unsigned int dafsd_msg_size = DAFSD_DEFAULT_MSG_SIZE;
module_param_named(msg_size, dafsd_msg_size, uint, 0644);
MODULE_PARM_DESC(msg_size, "largest request and response in bytes (4096-65536, default 8192)");

unsigned int dafsd_lease_seconds = DAFSD_LEASE_SECONDS;
module_param_named(lease, dafsd_lease_seconds, uint, 0444);
MODULE_PARM_DESC(lease, "seconds after which a silent client is forgotten (1-3600, default 90)");
EXPORT_SYMBOL_IF_KUNIT(dafsd_lease_seconds);

bool dafsd_auth_none = true;
module_param_named(auth_none, dafsd_auth_none, bool, 0644);
MODULE_PARM_DESC(auth_none,
		 "accept clients that say on whose behalf they act, sec=none (default Y); N: only sec=default, as the anonymous user");

unsigned int dafsd_max_sessions = DAFSD_DEFAULT_MAX_SESSIONS;
module_param_named(max_sessions, dafsd_max_sessions, uint, 0644);
MODULE_PARM_DESC(max_sessions, "sessions of all clients (default 4096)");
EXPORT_SYMBOL_IF_KUNIT(dafsd_max_sessions);

unsigned int dafsd_max_opens = DAFSD_DEFAULT_MAX_OPENS;
module_param_named(max_opens, dafsd_max_opens, uint, 0644);
MODULE_PARM_DESC(max_opens, "files that one client may have open (default 65536)");
EXPORT_SYMBOL_IF_KUNIT(dafsd_max_opens);

struct workqueue_struct *dafsd_end_wq;
struct workqueue_struct *dafsd_close_wq;
struct workqueue_struct *dafsd_timer_wq;

u32 dafsd_boot_instance;

static struct dafs_listener dafsd_listen4 = { .accept = dafsd_session_accept };
static struct dafs_listener dafsd_listen6 = { .accept = dafsd_session_accept };

/* A restarted server must be known as one: by ids and verifiers never seen before. */
static void dafsd_new_instance(void)
{
	do
		dafsd_boot_instance = get_random_u32();
	while (!dafsd_boot_instance || !~dafsd_boot_instance);
	dafsd_verifier_change();
}

static int dafsd_start_listening(void)
{
	struct sockaddr_in sin = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
	};
	struct sockaddr_in6 sin6 = {
		.sin6_family = AF_INET6,
		.sin6_port = htons(port),
	};
	int err;

	err = dafs_listen(&dafsd_listen4, &init_net, (struct sockaddr *)&sin);
	if (err)
		return err;
	err = dafs_listen(&dafsd_listen6, &init_net, (struct sockaddr *)&sin6);
	if (err == -EAFNOSUPPORT || err == -EADDRNOTAVAIL)
		err = 0;
	if (err)
		dafs_unlisten(&dafsd_listen4);
	return err;
}

static void dafsd_wqs_destroy(void)
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

/*
 * What ends must not need a worker of what it ends, and time goes on for all
 * meanwhile.  In the queues of requests only file systems keep a worker for long,
 * see request/park.c, and in that of closing files; in the other two nothing does.
 * park.c relies on the number of workers a node gets, so it can't be set in sysfs.
 */
static int dafsd_wqs_create(void)
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

static int __init dafsd_init(void)
{
	int err;

	dafsd_lease_seconds = clamp(dafsd_lease_seconds, 1U, 3600U);
	dafsd_new_instance();
	err = dafsd_pool_init();
	if (err)
		return err;
	err = dafsd_creds_init();
	if (err)
		goto pool_exit;
	err = dafsd_files_init();
	if (err)
		goto creds_exit;
	err = dafsd_wqs_create();
	if (err)
		goto files_exit;
	err = dafsd_sysfs_init();
	if (err)
		goto destroy_wqs;
	err = dafsd_exports_init();
	if (err)
		goto sysfs_exit;
	err = dafsd_start_listening();
	if (err) {
		pr_err("dafsd: cannot listen on port %u: %d\n", port, err);
		goto exports_exit;
	}
	return 0;

exports_exit:
	dafsd_sessions_exit();
	dafsd_clients_exit();
	dafsd_exports_exit();
sysfs_exit:
	dafsd_opens_exit();
	dafsd_sysfs_exit();
destroy_wqs:
	dafsd_wqs_destroy();
files_exit:
	dafsd_files_exit();
creds_exit:
	dafsd_creds_exit();
pool_exit:
	dafsd_pool_exit();
	return err;
}

/* New connections end first, then sessions, then what they held. */
static void __exit dafsd_exit(void)
{
	dafs_unlisten(&dafsd_listen6);
	dafs_unlisten(&dafsd_listen4);
	dafsd_sessions_exit();
	dafsd_clients_exit();
	dafsd_exports_exit();
	dafsd_opens_exit();
	dafsd_sysfs_exit();
	dafsd_wqs_destroy();
	dafsd_files_exit();
	dafsd_creds_exit();
	dafsd_pool_exit();
}

module_init(dafsd_init);
module_exit(dafsd_exit);

MODULE_DESCRIPTION("Direct Access File System server");
MODULE_LICENSE("GPL");
MODULE_VERSION(DAFS_VERSION);
