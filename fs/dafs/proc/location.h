/* SPDX-License-Identifier: GPL-2.0 */
/* Which servers have a file system if this one fails (5.3). */
#ifndef _FS_DAFS_PROC_LOCATION_H
#define _FS_DAFS_PROC_LOCATION_H

#include "../rpc/rpc.h"

/**
 * struct dafs_locations - servers that have a file system
 * @addrs: their addresses
 * @nr: how many
 */
struct dafs_locations {
	struct sockaddr_storage addrs[DAFS_MORE_ADDRS];
	unsigned int nr;
};

int dafs_get_locations(struct dafs_client *clnt, struct dafs_conn *conn, const struct dafs_fh *fh,
		       struct dafs_locations *to);

#endif /* _FS_DAFS_PROC_LOCATION_H */
