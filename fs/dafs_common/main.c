// SPDX-License-Identifier: GPL-2.0
/* dafs_common: common code of the DAFS client and server. */
#include <linux/module.h>
#include <linux/dafs/fault.h>
#include <linux/dafs/version.h>
#include "rdma/rdma_impl.h"

static int __init dafs_common_init(void)
{
	int err = dafs_calls_init();

	if (err)
		return err;
	err = dafs_requesters_init();
	if (err) {
		dafs_calls_exit();
		return err;
	}
	dafs_faults_init();
	return 0;
}

static void __exit dafs_common_exit(void)
{
	dafs_faults_exit();
	dafs_requesters_exit();
	dafs_calls_exit();
}

module_init(dafs_common_init);
module_exit(dafs_common_exit);

MODULE_DESCRIPTION("Direct Access File System: protocol and RDMA channel");
MODULE_LICENSE("GPL");
MODULE_VERSION(DAFS_VERSION);
