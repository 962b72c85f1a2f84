/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What rpc/ offers: a client of a server, and calls of it.
 *
 * The client, struct dafs_client, has the lease, the credential handles and the opens
 * (2.4.3).  It reaches the server by a session, which outlives its connections.
 */
#ifndef _FS_DAFS_RPC_H
#define _FS_DAFS_RPC_H

#include "client.h"
#include "conn.h"
#include "retry.h"
#include "op.h"
#include "xfer.h"

#endif /* _FS_DAFS_RPC_H */
