// SPDX-License-Identifier: GPL-2.0
/* Encodes and decodes whole messages by the table of procedures. */
#include <linux/export.h>
#include "messages.h"

static int dafs_encode_body(const struct dafs_buf *buf, const struct dafs_body *body, void *host)
{
	struct dafs_xdr x;

	if (dafs_x_init(&x, buf, true, DAFS_HDR_SIZE))
		return x.err;
	if (body->filter) {
		dafs_x_item(&x, body->wire);
		x.first += body->wire;
		body->filter(&x, host);
	}
	return x.err ?: x.heap;
}

static int dafs_decode_body(const struct dafs_buf *buf, const struct dafs_body *body, void *host)
{
	struct dafs_xdr x;

	if (dafs_x_init(&x, buf, false, DAFS_HDR_SIZE))
		return x.err;
	if (body->filter) {
		memset(host + body->keep, 0, body->host - body->keep);
		x.first += body->wire;
		body->filter(&x, host);
	}
	return x.err;
}

/**
 * dafs_encode_args() - encode the arguments of a request
 * @buf: where the request goes; the first DAFS_HDR_SIZE bytes are left alone
 * @proc: DAFS_PROC_*
 * @args: the structure for @proc in union dafs_args; ignored without arguments
 *
 * Return: length of the whole request in bytes, or -EMSGSIZE if that is more
 * than @buf->len, or -EOPNOTSUPP if there is no such procedure.
 */
int dafs_encode_args(const struct dafs_buf *buf, u32 proc, void *args)
{
	const struct dafs_proc *p = dafs_find_proc(proc);

	return p ? dafs_encode_body(buf, &p->args, args) : -EOPNOTSUPP;
}

/**
 * dafs_decode_args() - decode the arguments of a request
 * @buf: the request, as long as its header says
 * @proc: DAFS_PROC_*
 * @args: filled; the structure for @proc in union dafs_args; undefined after an
 *	error; refers to @buf
 *
 * Everything the arguments refer to is checked here, so that reading it later cannot fail.
 * The time is bounded by a multiple of the length.  Values of enumerations and bit masks
 * are not checked, except the bits of attributes, which determine the layout.
 *
 * Return: 0, or -EBADMSG if the request is malformed (DAFSERR_INVAL), or
 * -EINVAL if it has attributes that this version does not know (E-20), or
 * -EOPNOTSUPP if there is no such procedure (DAFSERR_NOTSUPP).
 */
int dafs_decode_args(const struct dafs_buf *buf, u32 proc, void *args)
{
	const struct dafs_proc *p = dafs_find_proc(proc);

	return p ? dafs_decode_body(buf, &p->args, args) : -EOPNOTSUPP;
}
EXPORT_SYMBOL_GPL(dafs_decode_args);

/**
 * dafs_encode_res() - encode the results of a response
 * @buf: where the response goes; the first DAFS_HDR_SIZE bytes are left alone
 * @proc: DAFS_PROC_*
 * @res: the structure for @proc in union dafs_res; ignored without results
 *
 * Return: length of the whole response in bytes, or -EMSGSIZE if that is more
 * than @buf->len, or -EOPNOTSUPP if there is no such procedure.
 */
int dafs_encode_res(const struct dafs_buf *buf, u32 proc, void *res)
{
	const struct dafs_proc *p = dafs_find_proc(proc);

	return p ? dafs_encode_body(buf, &p->res, res) : -EOPNOTSUPP;
}
EXPORT_SYMBOL_GPL(dafs_encode_res);

/**
 * dafs_decode_res() - decode the results of a response
 * @buf: the response, as long as its header says
 * @proc: DAFS_PROC_* of the request
 * @res: filled; the structure for @proc in union dafs_res; undefined after an
 *	error; refers to @buf
 *
 * The length of a response, not its status, determines whether it contains results: missing
 * results are decoded as zeros (ruling E-13).  The entries of a READDIR are not checked
 * here, see dafs_direntry_next().
 *
 * Return: 0, or -EBADMSG if the response is malformed, or
 * -EINVAL if it has attributes that this version does not know (E-20), or
 * -EOPNOTSUPP if there is no such procedure.
 */
int dafs_decode_res(const struct dafs_buf *buf, u32 proc, void *res)
{
	const struct dafs_proc *p = dafs_find_proc(proc);

	if (!p)
		return -EOPNOTSUPP;
	if (buf->len == DAFS_HDR_SIZE) {
		if (p->res.filter)
			memset(res + p->res.keep, 0, p->res.host - p->res.keep);
		return 0;
	}
	return dafs_decode_body(buf, &p->res, res);
}
EXPORT_SYMBOL_GPL(dafs_decode_res);
