/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_DAFS_VERSION_H
#define _LINUX_DAFS_VERSION_H

/* Version of the modules, for modinfo; the protocol's is DAFS_PROTOCOL_VERSION. */
#define DAFS_VERSION	"0.1"

#endif
