// SPDX-License-Identifier: GPL-2.0
/* READDIR: as many entries of a directory as a message takes, or a buffer. */
#include <linux/slab.h>
#include <kunit/visibility.h>
#include "proc.h"

static int dafs_readdir_walk(const struct dafs_stream *stream,
			     const struct dafs_seq *entries, bool eof,
			     struct dafs_readdir_pos *pos,
			     dafs_readdir_actor_t actor, void *priv)
{
	struct dafs_direntry entry;
	u32 i;
	int err;

	for (i = 0; i < entries->count; i++) {
		err = dafs_get_direntry(stream, entries, i, &entry);
		if (err)
			return err;
		if (!actor(priv, &entry))
			return 0;
		pos->cookie = entry.cookie;
	}
	pos->eof = eof;
	/* E-27: nothing and yet not the end would make us ask for ever. */
	return entries->count || eof ? 0 : -EIO;
}

/**
 * dafs_readdir() - read some entries of a directory (6.5.29)
 * @ses: session
 * @cred: whom to act for
 * @dir: the directory
 * @bitmap: DAFS_FATTR_* wanted of each entry
 * @pos: where to begin; updated
 * @actor: called for each entry, false to stop before it
 * @priv: for @actor
 *
 * Context: may sleep; @actor may too.
 * Return: 0 or a negative errno.
 */
int dafs_readdir(struct dafs_session *ses, const struct cred *cred,
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

	if (pos->cookie)
		args.cookieverf = pos->verf;
	pos->eof = false;
	err = dafs_proc_call(ses, &op);
	if (err)
		return err;
	pos->verf = res.cookieverf;
	err = dafs_readdir_walk(&op.call->stream, &res.entries, res.eof, pos, actor, priv);
	dafs_op_end(&op);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(dafs_readdir);

static int dafs_readdir_describe(struct dafs_op *op, struct dafs_call *call)
{
	struct dafs_readdir_args *args = op->args;

	args->readdir_data_buffers = (struct dafs_seq) {
		.count = op->mem->map.nr,
		.elems = op->mem->map.bufs,
	};
	return 0;
}

static int dafs_readdir_mem(struct dafs_session *ses, struct dafs_op *op,
			    struct dafs_readdir_pos *pos, dafs_readdir_actor_t actor,
			    void *priv)
{
	struct dafs_readdir_direct_res res = {};
	struct dafs_stream stream;
	struct dafs_seq entries;
	int err;

	op->res = &res;
	err = dafs_proc_call(ses, op);
	if (err)
		return err;
	err = dafs_proc_received(op, &res.direct_checksum, &stream) ?:
	      dafs_decode_direntries(&stream, &entries);
	dafs_op_end(op);
	if (err)
		return err;
	pos->verf = res.cookieverf;
	return dafs_readdir_walk(&stream, &entries, res.eof, pos, actor, priv);
}

/**
 * dafs_readdir_direct() - read many entries of a directory by RDMA (6.5.30)
 * @ses: session
 * @cred: whom to act for
 * @dir: the directory
 * @bitmap: DAFS_FATTR_* wanted of each entry
 * @buf: memory for the entries, kmalloc() or vmalloc()
 * @size: of @buf in bytes
 * @pos: where to begin; updated
 * @actor: called for each entry, false to stop before it
 * @priv: for @actor
 *
 * Context: may sleep; @actor may too.
 * Return: 0 or a negative errno: -EBADMSG if the entries did not arrive as they
 * were sent.  @actor was not called then.
 */
int dafs_readdir_direct(struct dafs_session *ses, const struct cred *cred,
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
	op.offhand = pos->offhand;
	if (pos->cookie)
		args.cookieverf = pos->verf;
	pos->eof = false;
	err = dafs_readdir_mem(ses, &op, pos, actor, priv);
	kfree(op.mem);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(dafs_readdir_direct);
