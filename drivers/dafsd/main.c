// SPDX-License-Identifier: GPL-2.0
/*
 * dafsd: serves exported directory trees by DAFS.
 *
 *	modprobe dafsd exports=/srv/data
 */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/module.h>
#include <net/net_namespace.h>
#include <linux/dafs/version.h>
#include "session/server.h"
#include "session/client.h"
#include "session/conn.h"
#include "session/session.h"
#include "export/export.h"
#include "request/io.h"
#include "request/request.h"
#include "state/deleg.h"
#include "state/file.h"
#include "state/lock.h"
#include "state/intent.h"
#include "state/persist.h"
#include "state/state.h"
#include "data/data.h"
#include "proc/proc.h"
#include "admin/admin.h"

static unsigned short port = DAFS_DEFAULT_PORT;
module_param(port, ushort, 0444);
MODULE_PARM_DESC(port, "port to listen on (default 20050)");

static struct dafs_listener dafsd_listen4 = {
	.accept = dafsd_conn_accept,
	.priv = &dafsd_server,
};

static struct dafs_listener dafsd_listen6 = {
	.accept = dafsd_conn_accept,
	.priv = &dafsd_server,
};

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

static const struct dafsd_conn_ops dafsd_main_conn_ops = {
	.rqst = &dafsd_responder_ops,
	.stop = dafsd_park_end,
};

static const struct dafsd_client_ops dafsd_main_client_ops = {
	.may_stay = dafsd_states_may_stay,
	.expire = dafsd_states_expire_client,
	.revoke = dafsd_states_revoke_client,
	.release = dafsd_states_release_client,
	.replaced = dafsd_persist_replaced,
	.reclaimed = dafsd_persist_undo_later,
	.load = dafsd_persist_load,
	.unload = dafsd_persist_unload,
};

static void dafsd_main_export_withdrawn(struct dafsd_export *exp)
{
	dafsd_states_settle();
	dafsd_delegs_recall(exp);
	dafsd_delegs_wait(exp);
	dafsd_states_release_export(exp);
	dafsd_verifier_change();
}

static void dafsd_main_export_served(struct dafsd_export *exp)
{
	dafsd_states_init_export(exp);
	dafsd_persist_init_export(exp);
}

static int dafsd_main_export_prepare(struct dafsd_export *exp)
{
	dafsd_persist_serve(exp);
	return dafsd_intents_settle(exp);
}

static const struct dafsd_export_ops dafsd_main_export_ops = {
	.prepare = dafsd_main_export_prepare,
	.served = dafsd_main_export_served,
	.withdrawn = dafsd_main_export_withdrawn,
	.changed = dafsd_delegs_recall,
};

/* Set the callbacks of the lower folders; see design.rst. */
static void dafsd_set_callbacks(void)
{
	dafsd_conns_init(&dafsd_main_conn_ops);
	dafsd_clients_init(&dafsd_main_client_ops);
	dafsd_requests_init(dafsd_procs, dafsd_recall_met);
}

static int __init dafsd_init(void)
{
	int err;

	dafsd_lease_seconds = clamp(dafsd_lease_seconds, 1U, DAFSD_LEASE_MAX);
	/* clients recognize a restarted server by new ids and verifiers */
	dafsd_server_init(&dafsd_server);
	dafsd_verifier_change();
	dafsd_set_callbacks();
	dafsd_holds_init();
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
	err = dafsd_sysfs_init(&dafsd_server);
	if (err)
		goto destroy_wqs;
	err = dafsd_exports_init(&dafsd_main_export_ops);
	if (err)
		goto sysfs_exit;
	err = dafsd_admin_init();
	if (err)
		goto exports_exit;
	err = dafsd_start_listening();
	if (err) {
		pr_err("dafsd: cannot listen on port %u: %d\n", port, err);
		goto admin_exit;
	}
	return 0;

admin_exit:
	dafsd_admin_exit();
exports_exit:
	dafsd_conns_exit(&dafsd_server);
	dafsd_clients_exit(&dafsd_server);
	dafsd_exports_exit();
sysfs_exit:
	dafsd_records_close(&dafsd_server);
	dafsd_states_exit();
	dafsd_sysfs_exit(&dafsd_server);
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

/* Stop accepting connections, then end the sessions, then release their state. */
static void __exit dafsd_exit(void)
{
	dafsd_admin_exit();
	dafs_unlisten(&dafsd_listen6);
	dafs_unlisten(&dafsd_listen4);
	dafsd_conns_exit(&dafsd_server);
	dafsd_persist_undo_halt();
	dafsd_clients_exit(&dafsd_server);
	dafsd_exports_exit();
	dafsd_records_close(&dafsd_server);
	dafsd_states_exit();
	dafsd_sysfs_exit(&dafsd_server);
	dafsd_wqs_destroy();
	dafsd_locks_exit();
	dafsd_files_exit();
	dafsd_creds_exit();
	dafsd_pool_exit();
}

module_init(dafsd_init);
module_exit(dafsd_exit);

MODULE_DESCRIPTION("Direct Access File System server");
MODULE_LICENSE("GPL");
MODULE_VERSION(DAFS_VERSION);
