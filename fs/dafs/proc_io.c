// SPDX-License-Identifier: GPL-2.0
/* Inline reads and writes, one after another, and COMMIT. */
#include <linux/uio.h>
#include <kunit/visibility.h>
#include "proc.h"

/**
 * dafs_read_inline() - read a little of a file through the message (6.5.27)
 * @ses: session
 * @cred: whom to act for
 * @args: what to read
 * @to: where to put it; advanced
 * @eof: set if the end of the file was reached
 *
 * Context: may sleep.
 * Return: bytes read or a negative errno.
 */
int dafs_read_inline(struct dafs_session *ses, const struct cred *cred,
		     const struct dafs_read_inline_args *args,
		     struct iov_iter *to, bool *eof)
{
	struct dafs_read_inline_args copy = *args;
	struct dafs_read_inline_res res = {};
	struct dafs_op op = {
		.cred = cred,
		.proc = DAFS_PROC_READ_INLINE,
		.args = &copy,
		.res = &res,
	};
	int ret;

	ret = dafs_proc_call(ses, &op);
	if (ret)
		return ret;
	ret = res.bytes_read;
	if (res.bytes_read > args->byte_count ||
	    copy_to_iter(res.read_data, ret, to) != ret)
		ret = -EIO;
	*eof = res.eof;
	dafs_op_end(&op);
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(dafs_read_inline);

/**
 * dafs_write_inline_fill() - put the data of WRITE_INLINE into its message
 * @stream: the message, encoded with room for the data
 * @count: bytes
 * @from: the data; not advanced
 *
 * Context: may not sleep, so @from is memory of the kernel.
 */
void dafs_write_inline_fill(struct dafs_stream *stream, u32 count,
			    const struct iov_iter *from)
{
	struct iov_iter iter = *from;
	u8 *data = stream->base +
		   dafs_inline_data_offset(DAFS_WRITE_INLINE_DATA, 0, 0);
	size_t copied = copy_from_iter(data, count, &iter);

	/* Never send what the buffer held before. */
	if (WARN_ON_ONCE(copied != count))
		memset(data + copied, 0, count - copied);
}

static void dafs_write_inline_fill_op(struct dafs_call *call,
				      struct dafs_stream *stream)
{
	const struct dafs_write_inline_args *args = call->args;

	dafs_write_inline_fill(stream, args->byte_count, call->priv);
}

/**
 * dafs_write_inline() - write a little to a file through the message (6.5.38)
 * @ses: session
 * @cred: whom to act for
 * @args: what to write; data and write_padded are ignored
 * @from: the data, memory of the kernel; not advanced
 * @res: filled
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dafs_write_inline(struct dafs_session *ses, const struct cred *cred,
		      const struct dafs_write_inline_args *args,
		      struct iov_iter *from, struct dafs_write_res *res)
{
	struct dafs_write_inline_args copy = *args;
	struct dafs_op op = {
		.cred = cred,
		.proc = DAFS_PROC_WRITE_INLINE,
		.args = &copy,
		.res = res,
		.fill = dafs_write_inline_fill_op,
		.priv = from,
	};

	copy.write_padded = 0;
	copy.data = NULL;
	return dafs_proc_simple(ses, &op);
}
EXPORT_SYMBOL_IF_KUNIT(dafs_write_inline);

/**
 * dafs_commit() - make what was written unstably stable (6.5.8)
 * @ses: session
 * @cred: whom to act for
 * @fh: the file
 * @offset: first byte
 * @count: bytes, 0 for all up to the end of the file
 * @verf: filled with the write verifier (E-102)
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dafs_commit(struct dafs_session *ses, const struct cred *cred,
		const struct dafs_fh *fh, u64 offset, u32 count,
		struct dafs_opaque64 *verf)
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
		.dear = true,
		.hard = true,
	};
	int err = dafs_proc_simple(ses, &op);

	if (!err)
		*verf = res.writeverf;
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(dafs_commit);
