// SPDX-License-Identifier: GPL-2.0
/*
 * The module: what there is once for all mounts.
 */
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/dafs/version.h>
#include "data/data.h"
#include "state/deleg.h"
#include "vfs/vfs.h"
#include "rpc/rpc.h"

static struct file_system_type dafs_fs_type = {
	.owner			= THIS_MODULE,
	.name			= "dafs",
	.init_fs_context	= dafs_init_fs_context,
	.parameters		= dafs_fs_parameters,
	.kill_sb		= dafs_kill_sb,
};
MODULE_ALIAS_FS("dafs");

/*
 * For all mounts together there are only queues whose work does not wait for a
 * server in the way of others: dafs_done_wq looks at responses and is in the way
 * of memory reclaim, dafs_ahead_wq lists what is not waited for.  What waits has
 * queues of its client.
 */
static int dafs_init_workqueues(void)
{
	dafs_done_wq = alloc_workqueue("dafs-done",
				       WQ_MEM_RECLAIM | WQ_UNBOUND | WQ_HIGHPRI, 0);
	dafs_ahead_wq = alloc_workqueue("dafs-ahead", WQ_UNBOUND, 0);
	return dafs_done_wq && dafs_ahead_wq ? 0 : -ENOMEM;
}

static void dafs_exit_workqueues(void)
{
	if (dafs_ahead_wq)
		destroy_workqueue(dafs_ahead_wq);
	if (dafs_done_wq)
		destroy_workqueue(dafs_done_wq);
}

static const struct dafs_back_ops dafs_main_back_ops = {
	.recall = dafs_deleg_recall,
	.getattr = dafs_deleg_getattr,
	.lapsed = dafs_delegs_lapsed,
};

static const struct dafs_deleg_ops dafs_main_deleg_ops = {
	.settle = dafs_file_hand_over,
	.discard = dafs_file_discard,
};

static int __init dafs_init(void)
{
	int err;

	dafs_back_init(&dafs_main_back_ops);
	dafs_delegs_init(&dafs_main_deleg_ops);
	err = dafs_clients_init();
	if (err)
		return err;
	err = dafs_init_workqueues();
	if (err)
		goto workqueues;
	err = dafs_data_init();
	if (err)
		goto workqueues;
	err = dafs_inode_cache_init();
	if (err)
		goto data;
	err = register_filesystem(&dafs_fs_type);
	if (err)
		goto cache;
	return 0;

cache:
	dafs_inode_cache_exit();
data:
	dafs_data_exit();
workqueues:
	dafs_exit_workqueues();
	dafs_clients_exit();
	return err;
}
module_init(dafs_init);

static void __exit dafs_exit(void)
{
	unregister_filesystem(&dafs_fs_type);
	dafs_submounts_exit();
	dafs_inode_cache_exit();
	dafs_data_exit();
	dafs_exit_workqueues();
	dafs_clients_exit();
}
module_exit(dafs_exit);

MODULE_DESCRIPTION("DAFS file system client");
MODULE_LICENSE("GPL");
MODULE_VERSION(DAFS_VERSION);
