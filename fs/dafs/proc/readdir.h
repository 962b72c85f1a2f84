/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Listing directories.
 */
#ifndef _FS_DAFS_PROC_READDIR_H
#define _FS_DAFS_PROC_READDIR_H

#include "../rpc/rpc.h"

/**
 * struct dafs_readdir_pos - where a READDIR begins and how it went
 * @cookie: in: of the entry before the first one wanted, 0 for the start;
 *	out: of the last entry that the actor took
 * @verf: in and out: cookie verifier
 * @eof: out: no more entries
 * @nowait: in: as of struct dafs_op; dafs_readdir_direct() alone looks at it
 * @buf: out: where the entries are that the actor did not take
 * @iter: out: the next of them; none are left of a message
 * @last: out: no more entries behind them
 */
struct dafs_readdir_pos {
	u64 cookie;
	struct dafs_verifier verf;
	bool eof;
	bool nowait;
	struct dafs_buf buf;
	struct dafs_direntry_iter iter;
	bool last;
};

typedef bool (*dafs_readdir_actor_t)(void *priv, const struct dafs_direntry *entry);

int dafs_readdir(struct dafs_client *clnt, const struct cred *cred,
		 const struct dafs_fh *dir, u64 bitmap,
		 struct dafs_readdir_pos *pos, dafs_readdir_actor_t actor,
		 void *priv);
int dafs_readdir_direct(struct dafs_client *clnt, const struct cred *cred,
			const struct dafs_fh *dir, u64 bitmap, void *buf, size_t size,
			struct dafs_readdir_pos *pos, dafs_readdir_actor_t actor,
			void *priv);
int dafs_readdir_rest(struct dafs_readdir_pos *pos, dafs_readdir_actor_t actor, void *priv);

#endif /* _FS_DAFS_PROC_READDIR_H */
