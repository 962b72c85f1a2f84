// SPDX-License-Identifier: GPL-2.0
/* What the functions of all procedures share, see proc.h. */
#include "proc.h"

/**
 * dafs_proc_call() - run an operation
 * @clnt: client
 * @op: the operation, zero apart from what the caller asks
 *
 * Context: may sleep.
 * Return: 0, and the caller calls dafs_op_end() when it is done with the
 * results; or a negative errno, and @op is ended already.
 */
int dafs_proc_call(struct dafs_client *clnt, struct dafs_op *op)
{
	int err = dafs_op_run(clnt, op);

	if (err)
		dafs_op_end(op);
	return err;
}

/**
 * dafs_proc_simple() - run an operation whose results hold no pointers
 * @clnt: client
 * @op: the operation
 *
 * Context: may sleep.
 * Return: 0 or a negative errno; @op is ended either way.
 */
int dafs_proc_simple(struct dafs_client *clnt, struct dafs_op *op)
{
	int err = dafs_proc_call(clnt, op);

	if (!err)
		dafs_op_end(op);
	return err;
}

/**
 * dafs_proc_received() - look at what the server put into memory (E-23)
 * @op: a DIRECT operation on metadata that succeeded and is not ended
 * @cksum: direct_checksum of its results
 * @buf: set to the memory, which the caller decodes
 *
 * Only the checksum needs to know where it ends, which costs a walk through it.
 *
 * Context: any.
 * Return: 0, or -EBADMSG if the memory does not hold what the server sent.
 */
int dafs_proc_received(const struct dafs_op *op, const struct dafs_cksum *cksum,
		       struct dafs_buf *buf)
{
	int len;

	*buf = (struct dafs_buf) {
		.base = op->mem->data,
		.len = op->mem->room,
		.swab = op->call->buf.swab,
	};
	if (!op->conn->opts.use_checksums)
		return 0;
	len = dafs_direct_len(buf, op->proc);
	if (len < 0)
		return -EBADMSG;
	return dafs_xfer_check(op->conn, &op->mem->iter, 0, len, cksum);
}
