// SPDX-License-Identifier: GPL-2.0
/*
 * What goes by RDMA, and what in the message: as the administrator likes it, and as far as
 * the server does it.
 */
#include <linux/module.h>
#include "data.h"

/*
 * Up to so many bytes travel in the message.  A region costs two work
 * requests and their completion, a message costs a copy on either side.
 */
unsigned int dafs_inline_max = 4096;
module_param_named(inline_max, dafs_inline_max, uint, 0644);
MODULE_PARM_DESC(inline_max, "bytes up to which reads, writes and appends go inline");

/**
 * dafs_conn_number() - which connection is that of a client now?
 * @clnt: the client
 *
 * Context: any.
 * Return: its number, from 1; 0 stands for no connection.
 */
unsigned int dafs_conn_number(const struct dafs_client *clnt)
{
	return READ_ONCE(clnt->reconnects) + 1;
}

/**
 * dafs_rdma_refuse() - the server does not do something by RDMA
 * @sbi: the mount
 * @use: what
 * @number: dafs_conn_number() before it was asked for that
 *
 * It is not asked for that again on this connection.  On the next one it may have been
 * set up in another way; so it must not be the next one that this is noted for.
 *
 * Context: any.
 */
void dafs_rdma_refuse(struct dafs_sb_info *sbi, enum dafs_rdma_use use, unsigned int number)
{
	WRITE_ONCE(sbi->rdma_refused[use], number);
}

/**
 * dafs_rdma_refused() - is something not to be done by RDMA?
 * @sbi: the mount
 * @use: what
 *
 * Context: any.
 * Return: true if so.
 */
bool dafs_rdma_refused(const struct dafs_sb_info *sbi, enum dafs_rdma_use use)
{
	return READ_ONCE(sbi->rdma_refused[use]) == dafs_conn_number(sbi->clnt);
}
