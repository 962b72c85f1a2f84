// SPDX-License-Identifier: GPL-2.0
/* COMMIT, and what goes into an inline write. */
#include <linux/uio.h>
#include "proc.h"

/**
 * dafs_write_inline_fill() - put the data of WRITE_INLINE into its message
 * @buf: the message, encoded with room for the data
 * @count: bytes
 * @from: the data; not advanced
 *
 * Context: may not sleep, so @from is memory of the kernel.
 */
void dafs_write_inline_fill(struct dafs_buf *buf, u32 count, const struct iov_iter *from)
{
	struct iov_iter iter = *from;
	u8 *data = buf->base + dafs_inline_data_offset(DAFS_WRITE_INLINE_DATA, 0, 0);
	size_t copied = copy_from_iter(data, count, &iter);

	/* Never send what the buffer held before. */
	if (WARN_ON_ONCE(copied != count))
		memset(data + copied, 0, count - copied);
}

/**
 * dafs_commit() - make what was written unstably stable (6.5.8)
 * @clnt: client
 * @cred: whom to act for
 * @fh: the file
 * @offset: first byte
 * @count: bytes, 0 for all up to the end of the file
 * @verf: filled with the write verifier (E-102)
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dafs_commit(struct dafs_client *clnt, const struct cred *cred,
		const struct dafs_fh *fh, u64 offset, u32 count,
		struct dafs_verifier *verf)
{
	struct dafs_commit_args args = {
		.filehandle = *fh,
		.offset = offset,
		.count = count,
	};
	struct dafs_commit_res res = {};
	struct dafs_op op = {
		.cred = cred,
		.proc = DAFS_PROC_COMMIT,
		.args = &args,
		.res = &res,
		.retry_nomem = true,
		.hard = true,
	};
	int err = dafs_proc_simple(clnt, &op);

	if (!err)
		*verf = res.writeverf;
	return err;
}
