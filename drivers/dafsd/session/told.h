/* SPDX-License-Identifier: GPL-2.0 */
/* Which clients know where else an export is (5.3.1). */
#ifndef _DAFSD_SESSION_TOLD_H
#define _DAFSD_SESSION_TOLD_H

#include <linux/types.h>

struct dafsd_client;
struct dafsd_conn;
struct dafsd_server;

int dafsd_client_tell(struct dafsd_client *client, unsigned long number);
void dafsd_clients_retell(struct dafsd_server *server, unsigned long number);
void dafsd_clients_untell(struct dafsd_server *server, unsigned long number, bool gone);
u16 dafsd_conn_special(const struct dafsd_conn *conn);

#endif /* _DAFSD_SESSION_TOLD_H */
