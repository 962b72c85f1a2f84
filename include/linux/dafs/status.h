/* SPDX-License-Identifier: GPL-2.0 */
/*
 * DAFS status and Linux errno, draft chapter 7.
 */
#ifndef _LINUX_DAFS_STATUS_H
#define _LINUX_DAFS_STATUS_H

#include <linux/types.h>
#include <linux/dafs_wire.h>

int dafs_status_to_errno(dafs_status_t status);
dafs_status_t dafs_errno_to_status(int err);
const char *dafs_status_name(dafs_status_t status);

#endif /* _LINUX_DAFS_STATUS_H */
