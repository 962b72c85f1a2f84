/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Data that travels in messages, COMMIT, and APPEND.
 */
#ifndef _FS_DAFS_PROC_RW_H
#define _FS_DAFS_PROC_RW_H

#include "../rpc/rpc.h"

struct iov_iter;

/**
 * struct dafs_append - a record to be appended
 * @fh: the file
 * @state_id: of an open for writing
 * @stable: DAFS_DATA_SYNC or DAFS_FILE_SYNC
 * @data: memory of the kernel
 * @leave: see struct dafs_op
 * @len: its bytes; out: how many of them were sent, where a message or a memory
 *	region does not take all
 * @inline_max: bytes up to which they travel in the message
 * @no_direct: all travel in the message
 * @look: called before each attempt with the connection it is made on: 0, or a negative errno that
 *	is the result, and nothing is sent; or NULL
 * @priv: for @look
 */
struct dafs_append {
	struct dafs_fh fh;
	struct dafs_state_id state_id;
	u32 stable;
	const void *data;
	const bool *leave;
	size_t len;
	size_t inline_max;
	bool no_direct;
	int (*look)(void *priv, const struct dafs_conn *conn);
	void *priv;
};

/* rw.c */
void dafs_write_inline_fill(struct dafs_buf *buf, u32 count, const struct iov_iter *from);
int dafs_commit(struct dafs_client *clnt, const struct cred *cred,
		const struct dafs_fh *fh, u64 offset, u32 count,
		struct dafs_verifier *verf);

/* append.c */
int dafs_append(struct dafs_client *clnt, const struct cred *cred, struct dafs_append *append,
		struct dafs_append_res *res, dafs_status_t *status);

#endif /* _FS_DAFS_PROC_RW_H */
