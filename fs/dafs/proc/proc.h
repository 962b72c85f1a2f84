/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One typed function for each procedure of chapters 6.2 and 6.5 that the client calls;
 * those that only the suites call are in tests/lib/stubs.c.
 *
 * They take a client and plain protocol values and know nothing of the VFS, so that
 * the KUnit suites can drive them too.  Those that send a request may sleep; unless their
 * comment says otherwise they return 0 or a negative errno: that of the transport if no
 * response came, or the DAFS status of the response as dafs_status_to_errno() has it.
 */
#ifndef _FS_DAFS_PROC_H
#define _FS_DAFS_PROC_H

#include "attr.h"
#include "name.h"
#include "open.h"
#include "readdir.h"
#include "rw.h"

/* simple.c */
int dafs_proc_call(struct dafs_client *clnt, struct dafs_op *op);
int dafs_proc_simple(struct dafs_client *clnt, struct dafs_op *op);
int dafs_proc_received(const struct dafs_op *op, const struct dafs_cksum *cksum,
		       struct dafs_buf *buf);

/* lock.c */
int dafs_lock(struct dafs_client *clnt, struct dafs_conn *conn, struct dafs_op *op,
	      struct dafs_lock_args *args);
int dafs_unlock(struct dafs_client *clnt, struct dafs_op *op, struct dafs_locku_args *args);
int dafs_lock_test(struct dafs_client *clnt, const struct cred *cred,
		   struct dafs_lockt_args *args, struct dafs_lock_res *res);
int dafs_lock_grace(struct dafs_client *clnt, struct dafs_conn *conn, const struct cred *cred,
		    const struct dafs_fh *fh, const struct dafs_str *owner,
		    dafs_status_t *status);

#endif /* _FS_DAFS_PROC_H */
