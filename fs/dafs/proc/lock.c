// SPDX-License-Identifier: GPL-2.0
/*
 * LOCK, LOCKT and LOCKU: byte-range locks (6.5.18 to 6.5.20).
 */
#include "proc.h"

/* fcntl(2) has errnos of its own for a conflict, and where there are too many locks. */
static int dafs_lock_errno(const struct dafs_op *op, int err)
{
	if (!err || err != dafs_status_to_errno(op->status))
		return err;
	switch (op->status) {
	case DAFSERR_DENIED:
		return -EAGAIN;
	case DAFSERR_RESOURCE:
		return -ENOLCK;
	default:
		return err;
	}
}

/**
 * dafs_lock() - lock bytes of a file for the owner of an open (6.5.18)
 * @clnt: client
 * @conn: a connection of it, or NULL to wait for the current one
 * @op: with the credential and what else the caller asks; the caller calls dafs_op_end()
 * @args: the open, the bytes and how to lock them; not used when this has returned
 *
 * Context: may sleep; a fatal signal ends it, and then op->lost says whether the server may
 * have executed it, and op->call is a request that may still be under way, or NULL.
 * Return: 0; -EAGAIN if another lock is in the way; -EOWNERDEAD if that is broken; -ENOLCK if
 * the server has no room for more; or another negative errno, as dafs_op_run() or
 * dafs_op_run_on().
 */
int dafs_lock(struct dafs_client *clnt, struct dafs_conn *conn, struct dafs_op *op,
	      struct dafs_lock_args *args)
{
	int err;

	op->proc = DAFS_PROC_LOCK;
	op->args = args;
	err = conn ? dafs_op_run_on(clnt, conn, op) : dafs_op_run(clnt, op);
	return dafs_lock_errno(op, err);
}

/**
 * dafs_unlock() - unlock bytes of a file for the owner of an open (6.5.20)
 * @clnt: client
 * @op: as in dafs_lock()
 * @args: the open and the bytes; not used when this has returned
 *
 * Context: as dafs_lock().
 * Return: 0 or a negative errno, as dafs_op_run().
 */
int dafs_unlock(struct dafs_client *clnt, struct dafs_op *op, struct dafs_locku_args *args)
{
	op->proc = DAFS_PROC_LOCKU;
	op->args = args;
	op->retry_nomem = true;
	return dafs_op_run(clnt, op);
}

/**
 * dafs_lock_test() - is there a lock that would deny this one? (6.5.19)
 * @clnt: client
 * @cred: whom to act for
 * @args: the file, the lock, and an owner whose locks do not count
 * @res: with -EAGAIN and -EOWNERDEAD, the lock in the way, without its owner; the server may
 *	not have told of it, then res->length is 0
 *
 * Context: may sleep; a fatal signal ends it.
 * Return: 0 if no lock is in the way; -EAGAIN; -EOWNERDEAD if it is broken; or another negative
 * errno, as dafs_op_run().
 */
int dafs_lock_test(struct dafs_client *clnt, const struct cred *cred,
		   struct dafs_lockt_args *args, struct dafs_lock_res *res)
{
	struct dafs_op op = {
		.cred = cred,
		.proc = DAFS_PROC_LOCKT,
		.args = args,
		.res = res,
	};
	int err;

	memset(res, 0, sizeof(*res));
	err = dafs_lock_errno(&op, dafs_op_run(clnt, &op));
	res->owner = (struct dafs_str){};
	dafs_op_end(&op);
	return err;
}

/**
 * dafs_lock_grace() - is this a grace period of the server?
 * @clnt: client
 * @conn: a connection of it
 * @cred: whom to act for
 * @fh: a file
 * @owner: an owner of opens
 * @status: filled with that of the response, or OK
 *
 * Then it does not say whether there are locks (E-88).  A grace period begins with a restart of
 * the server, which no connection survives: as long as there is @conn, "no" stays true.
 *
 * Context: may sleep.
 * Return: 1 if it is; 0 if not; or a negative errno if there was no response, or one that does
 * not tell.
 */
int dafs_lock_grace(struct dafs_client *clnt, struct dafs_conn *conn, const struct cred *cred,
		    const struct dafs_fh *fh, const struct dafs_str *owner,
		    dafs_status_t *status)
{
	struct dafs_lockt_args args = {
		.filehandle = *fh,
		.lock_type = DAFS_READ_LT,
		.length = 1,
		.owner = *owner,
	};
	struct dafs_op op = {
		.cred = cred,
		.proc = DAFS_PROC_LOCKT,
		.args = &args,
		.nodelay = true,
	};
	int err = dafs_op_run_on(clnt, conn, &op);

	dafs_op_end(&op);
	*status = op.status;
	if (op.status == DAFSERR_GRACE)
		return 1;
	return dafs_status_refuses(op.status) ? 0 : err;
}
