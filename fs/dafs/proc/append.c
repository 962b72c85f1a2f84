// SPDX-License-Identifier: GPL-2.0
/*
 * Appending: in the message or by RDMA, but never twice.  Sent again on another
 * connection, a record could be in the file two times, so an append that was
 * under way when its connection was lost fails.
 */
#include <linux/slab.h>
#include "proc.h"

/**
 * struct dafs_append_call - an append under way
 * @append: what the caller wants
 * @len: bytes of this attempt
 * @mem: its memory
 * @args: its arguments
 */
struct dafs_append_call {
	struct dafs_append *append;
	size_t len;
	struct dafs_op_mem mem;
	union {
		struct dafs_append_inline_args inl;
		struct dafs_append_direct_args direct;
	} args;
};

static void dafs_append_inline(struct dafs_append_call *ac, struct dafs_op *op)
{
	const struct dafs_append *append = ac->append;

	op->proc = DAFS_PROC_APPEND_INLINE;
	ac->args.inl = (struct dafs_append_inline_args) {
		.filehandle = append->fh,
		.state_id = append->state_id,
		.stable_how = append->stable,
		.byte_count = ac->len,
		.data = append->data,
	};
}

static int dafs_append_direct(struct dafs_append_call *ac, struct dafs_op *op)
{
	const struct dafs_append *append = ac->append;
	int err = dafs_op_map(op, &ac->mem);

	if (err)
		return err;
	/* one buffer is all that APPEND_DIRECT has */
	ac->len = min_t(size_t, ac->mem.room, ac->mem.map.bufs[0].buffer_byte_count);
	op->proc = DAFS_PROC_APPEND_DIRECT;
	ac->args.direct = (struct dafs_append_direct_args) {
		.filehandle = append->fh,
		.state_id = append->state_id,
		.stable_how = append->stable,
		.byte_count = ac->len,
		.write_data_buffer = ac->mem.map.bufs[0],
	};
	dafs_xfer_cksum(op->conn, &ac->mem.iter, 0, ac->len, &ac->args.direct.direct_checksum);
	return 0;
}

static int dafs_append_prepare(struct dafs_op *op, struct dafs_call *call)
{
	struct dafs_append_call *ac = op->priv;
	const struct dafs_append *append = ac->append;
	size_t limit = op->conn->opts.max_request_size - DAFS_APPEND_INLINE_DATA;
	int err = append->look ? append->look(append->priv, op->conn) : 0;

	if (err)
		return err;
	ac->len = append->len;
	if (dafs_xfer_direct(&ac->len, limit, append->inline_max, append->no_direct))
		err = dafs_append_direct(ac, op);
	else
		dafs_append_inline(ac, op);
	call->proc = op->proc;
	return err;
}

static bool dafs_append_res_ok(const struct dafs_append_call *ac,
			       const struct dafs_append_res *res)
{
	return res->offset <= MAX_LFS_FILESIZE - ac->len &&
	       res->committed >= ac->append->stable && res->committed <= DAFS_FILE_SYNC;
}

/**
 * dafs_append() - append a record to a file (6.5.3, 6.5.4)
 * @clnt: client
 * @cred: whom to act for
 * @append: the record; its len becomes what was appended
 * @res: filled
 * @status: set to the DAFS status of the response, or 0 if there was none
 *
 * Context: may sleep.
 * Return: 0; the errno of @status; -EREMOTEIO or -EIO if the response was lost
 * or made no sense, so that the record may be in the file or not; or another
 * negative errno as dafs_op_run()'s or @append->look's, and it is not.
 */
int dafs_append(struct dafs_client *clnt, const struct cred *cred, struct dafs_append *append,
		struct dafs_append_res *res, dafs_status_t *status)
{
	struct dafs_append_call *ac = kzalloc(sizeof(*ac), GFP_KERNEL);
	struct dafs_op op = {
		.cred = cred,
		.proc = DAFS_PROC_APPEND_INLINE,
		.res = res,
		.priv = ac,
		.prepare = dafs_append_prepare,
		.no_replay = true,
		.leave = append->leave,
	};
	int err;

	*status = DAFS_STATUS_OK;
	if (!ac)
		return -ENOMEM;
	ac->append = append;
	ac->mem = (struct dafs_op_mem) {
		.data = (void *)append->data,
		.size = append->len,
		.dir = DMA_TO_DEVICE,
	};
	op.args = &ac->args;
	err = dafs_op_run(clnt, &op);
	*status = op.status;
	if (!err && !dafs_append_res_ok(ac, res)) {
		dafs_conn_failed(op.conn);
		err = -EREMOTEIO;
	}
	if (!err)
		append->len = ac->len;
	dafs_op_end(&op);
	kfree(ac);
	return err;
}
