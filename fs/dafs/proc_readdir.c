// SPDX-License-Identifier: GPL-2.0
/* READDIR_INLINE: as many entries of a directory as one message takes. */
#include <kunit/visibility.h>
#include "proc.h"

static int dafs_readdir_walk(const struct dafs_stream *stream,
			     const struct dafs_readdir_inline_res *res,
			     struct dafs_readdir_pos *pos,
			     dafs_readdir_actor_t actor, void *priv)
{
	struct dafs_direntry entry;
	u32 i;
	int err;

	for (i = 0; i < res->entries.count; i++) {
		err = dafs_get_direntry(stream, &res->entries, i, &entry);
		if (err)
			return err;
		if (!actor(priv, &entry))
			return 0;
		pos->cookie = entry.cookie;
	}
	pos->eof = res->eof;
	/* E-27: nothing and yet not the end would make us ask for ever. */
	return res->entries.count || res->eof ? 0 : -EIO;
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
	err = dafs_readdir_walk(&op.call->stream, &res, pos, actor, priv);
	dafs_op_end(&op);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(dafs_readdir);
