// SPDX-License-Identifier: GPL-2.0
/* READDIR: as many entries of a directory as a message takes, or a buffer. */
#include <linux/slab.h>
#include "proc.h"

/* The entries of a response that can still be looked at, from pos->iter on. */
static int dafs_readdir_walk(struct dafs_readdir_pos *pos, dafs_readdir_actor_t actor, void *priv)
{
	struct dafs_direntry_iter iter;
	struct dafs_direntry entry;
	int got;

	for (;;) {
		iter = pos->iter;
		got = dafs_direntry_next(&pos->buf, &iter, &entry);
		if (got <= 0)
			break;
		if (!actor(priv, &entry))
			return 0;
		pos->cookie = entry.cookie;
		pos->iter = iter;
	}
	pos->iter.left = 0;
	if (!got)
		pos->eof = pos->last;
	return got;
}

/* E-27: nothing and yet not the end would make us ask for ever. */
static int dafs_readdir_begin(struct dafs_readdir_pos *pos, const struct dafs_buf *buf,
			      const struct dafs_seq *entries, bool eof)
{
	if (!entries->count && !eof)
		return -EIO;
	pos->buf = *buf;
	pos->last = eof;
	dafs_direntry_start(buf, entries, &pos->iter);
	return 0;
}

static int dafs_readdir_check(const struct dafs_readdir_pos *pos)
{
	struct dafs_direntry_iter iter = pos->iter;
	struct dafs_direntry entry;
	int got;

	do {
		got = dafs_direntry_next(&pos->buf, &iter, &entry);
	} while (got > 0);
	return got;
}

/*
 * The actor may wait for a task that waits for a slot, or for a connection, so
 * the entries outlive the response.
 */
static int dafs_readdir_detach(struct dafs_readdir_pos *pos, struct dafs_op *op)
{
	/* a server that cannot encode cannot be trusted (E-11) */
	if (dafs_readdir_check(pos)) {
		dafs_conn_failed(op->conn);
		return -EIO;
	}
	pos->buf.base = kmemdup(pos->buf.base, pos->buf.len, GFP_KERNEL);
	return pos->buf.base ? 0 : -ENOMEM;
}

/* Before a request: nothing is left of the last one. */
static void dafs_readdir_reset(struct dafs_readdir_pos *pos, struct dafs_readdir_args *args)
{
	if (pos->cookie)
		args->cookieverf = pos->verf;
	pos->iter.left = 0;
	pos->eof = false;
}

/**
 * dafs_readdir() - read some entries of a directory (6.5.29)
 * @clnt: client
 * @cred: whom to act for
 * @dir: the directory
 * @bitmap: DAFS_FATTR_* wanted of each entry
 * @pos: where to begin; updated
 * @actor: called for each entry, false to stop before it
 * @priv: for @actor
 *
 * Context: may sleep; @actor may too.
 * Return: 0 or a negative errno; -EIO for a response or an entry that cannot be
 * decoded, and the connection is given up.
 */
int dafs_readdir(struct dafs_client *clnt, const struct cred *cred,
		 const struct dafs_fh *dir, u64 bitmap,
		 struct dafs_readdir_pos *pos, dafs_readdir_actor_t actor,
		 void *priv)
{
	struct dafs_readdir_args args = {
		.filehandle = *dir,
		.cookie = pos->cookie,
		.attr_request_bitmap = bitmap,
	};
	struct dafs_readdir_inline_res res = {};
	struct dafs_op op = {
		.cred = cred,
		.proc = DAFS_PROC_READDIR_INLINE,
		.args = &args,
		.res = &res,
	};
	int err;

	dafs_readdir_reset(pos, &args);
	err = dafs_proc_call(clnt, &op);
	if (err)
		return err;
	pos->verf = res.cookieverf;
	err = dafs_readdir_begin(pos, &op.call->buf, &res.entries, res.eof) ?:
	      dafs_readdir_detach(pos, &op);
	dafs_op_end(&op);
	if (!err) {
		err = dafs_readdir_walk(pos, actor, priv);
		kfree(pos->buf.base);
	}
	pos->iter.left = 0;
	return err;
}

static int dafs_readdir_describe(struct dafs_op *op, struct dafs_call *call)
{
	struct dafs_readdir_args *args = op->args;

	args->readdir_data_buffers = dafs_xfer_buffers(&op->mem->map);
	return 0;
}

static int dafs_readdir_mem(struct dafs_client *clnt, struct dafs_op *op,
			    struct dafs_readdir_pos *pos, dafs_readdir_actor_t actor,
			    void *priv)
{
	struct dafs_readdir_direct_res res = {};
	struct dafs_buf buf;
	struct dafs_seq entries;
	int err;

	op->res = &res;
	err = dafs_proc_call(clnt, op);
	if (err)
		return err;
	err = dafs_proc_received(op, &res.direct_checksum, &buf) ?:
	      dafs_decode_direntries(&buf, &entries);
	dafs_op_end(op);
	if (err)
		return err;
	pos->verf = res.cookieverf;
	return dafs_readdir_begin(pos, &buf, &entries, res.eof) ?:
	       dafs_readdir_walk(pos, actor, priv);
}

/**
 * dafs_readdir_direct() - read many entries of a directory by RDMA (6.5.30)
 * @clnt: client
 * @cred: whom to act for
 * @dir: the directory
 * @bitmap: DAFS_FATTR_* wanted of each entry
 * @buf: memory for the entries, kmalloc() or vmalloc(); dafs_readdir_rest()
 *	needs it, too
 * @size: of @buf in bytes
 * @pos: where to begin; updated
 * @actor: called for each entry, false to stop before it
 * @priv: for @actor
 *
 * Context: may sleep; @actor may too.
 * Return: 0 or a negative errno: -EBADMSG if the entries did not arrive as they
 * were sent.  @actor was called for those ahead of the first malformed one then,
 * and @pos stands behind them.
 */
int dafs_readdir_direct(struct dafs_client *clnt, const struct cred *cred,
			const struct dafs_fh *dir, u64 bitmap, void *buf, size_t size,
			struct dafs_readdir_pos *pos, dafs_readdir_actor_t actor,
			void *priv)
{
	struct dafs_readdir_args args = {
		.filehandle = *dir,
		.cookie = pos->cookie,
		.attr_request_bitmap = bitmap,
	};
	struct dafs_op op = {
		.cred = cred,
		.proc = DAFS_PROC_READDIR_DIRECT,
		.args = &args,
	};
	int err;

	op.mem = kzalloc(sizeof(*op.mem), GFP_KERNEL);
	if (!op.mem)
		return -ENOMEM;
	op.mem->data = buf;
	op.mem->size = size;
	op.mem->dir = DMA_FROM_DEVICE;
	op.prepare = dafs_readdir_describe;
	op.nowait = pos->nowait;
	dafs_readdir_reset(pos, &args);
	err = dafs_readdir_mem(clnt, &op, pos, actor, priv);
	kfree(op.mem);
	return err;
}

/**
 * dafs_readdir_rest() - go on with what the actor refused
 * @pos: of the last dafs_readdir_direct(), if pos->iter.left is not 0; updated
 * @actor: called for each entry, false to stop before it
 * @priv: for @actor
 *
 * Context: @actor may sleep.
 * Return: as dafs_readdir_direct().
 */
int dafs_readdir_rest(struct dafs_readdir_pos *pos, dafs_readdir_actor_t actor, void *priv)
{
	return dafs_readdir_walk(pos, actor, priv);
}
