// SPDX-License-Identifier: GPL-2.0
/* Encodes and decodes direct metadata buffers. */
#include <linux/export.h>
#include "cursor.h"

static void dafs_x_direntries_here(struct dafs_xdr *x, struct dafs_seq *entries)
{
	dafs_x_seq_here(x, entries, &dafs_elem_direntry);
}

/**
 * dafs_encode_fattr() - encode attributes into a direct metadata buffer
 * @buf: the buffer
 * @attr: attributes
 *
 * Return: bytes used, or -EMSGSIZE if they do not fit.
 */
int dafs_encode_fattr(const struct dafs_buf *buf, struct dafs_fattr *attr)
{
	struct dafs_xdr x;

	if (!dafs_x_init(&x, buf, true, 0))
		dafs_x_fattr_here(&x, attr);
	return x.err ?: x.heap;
}
EXPORT_SYMBOL_GPL(dafs_encode_fattr);

static int dafs_walk_fattr(const struct dafs_buf *buf, struct dafs_fattr *attr)
{
	struct dafs_xdr x;

	memset(attr, 0, sizeof(*attr));
	if (!dafs_x_init(&x, buf, false, 0))
		dafs_x_fattr_here(&x, attr);
	return x.err ?: x.heap;
}

/**
 * dafs_decode_fattr() - decode attributes in a direct metadata buffer
 * @buf: the buffer
 * @attr: filled; refers to @buf
 *
 * Return: 0, or -EBADMSG if they are malformed or reach beyond the buffer, or
 * -EINVAL if there are some that this version does not know (E-20).
 */
int dafs_decode_fattr(const struct dafs_buf *buf, struct dafs_fattr *attr)
{
	return min(dafs_walk_fattr(buf, attr), 0);
}
EXPORT_SYMBOL_GPL(dafs_decode_fattr);

/**
 * dafs_encode_direntries() - encode entries into a direct metadata buffer
 * @buf: the buffer
 * @entries: struct dafs_direntry elements
 *
 * Return: bytes used, or -EMSGSIZE if they do not fit.
 */
int dafs_encode_direntries(const struct dafs_buf *buf, struct dafs_seq *entries)
{
	struct dafs_xdr x;

	if (!dafs_x_init(&x, buf, true, 0))
		dafs_x_direntries_here(&x, entries);
	return x.err ?: x.heap;
}
EXPORT_SYMBOL_GPL(dafs_encode_direntries);

/**
 * dafs_decode_direntries() - decode entries in a direct metadata buffer
 * @buf: the buffer
 * @entries: filled; for dafs_direntry_start() with @buf
 *
 * Return: 0, or -EBADMSG if their array reaches beyond the buffer.
 */
int dafs_decode_direntries(const struct dafs_buf *buf, struct dafs_seq *entries)
{
	struct dafs_xdr x;

	memset(entries, 0, sizeof(*entries));
	if (!dafs_x_init(&x, buf, false, 0))
		dafs_x_direntries_here(&x, entries);
	return x.err;
}
EXPORT_SYMBOL_GPL(dafs_decode_direntries);

static int dafs_walk_direntries(const struct dafs_buf *buf)
{
	struct dafs_direntry_iter iter;
	struct dafs_direntry entry;
	struct dafs_seq entries;
	int err;

	err = dafs_decode_direntries(buf, &entries);
	if (err)
		return err;
	dafs_direntry_start(buf, &entries, &iter);
	do {
		err = dafs_direntry_next(buf, &iter, &entry);
	} while (err > 0);
	return err ?: min(iter.heap, buf->len);
}

/**
 * dafs_encode_link() - encode a link's contents into a direct metadata buffer
 * @buf: the buffer
 * @link: contents
 *
 * Return: bytes used, or -EMSGSIZE if they do not fit.
 */
int dafs_encode_link(const struct dafs_buf *buf, struct dafs_str *link)
{
	struct dafs_xdr x;

	if (!dafs_x_init(&x, buf, true, 0))
		dafs_x_str_here(&x, link);
	return x.err ?: x.heap;
}
EXPORT_SYMBOL_GPL(dafs_encode_link);

static int dafs_walk_link(const struct dafs_buf *buf, struct dafs_str *link)
{
	struct dafs_xdr x;

	memset(link, 0, sizeof(*link));
	if (!dafs_x_init(&x, buf, false, 0))
		dafs_x_str_here(&x, link);
	return x.err ?: x.heap;
}

/**
 * dafs_decode_link() - decode a link's contents in a direct metadata buffer
 * @buf: the buffer
 * @link: filled; points into @buf
 *
 * Return: 0, or -EBADMSG if it reaches beyond the buffer.
 */
int dafs_decode_link(const struct dafs_buf *buf, struct dafs_str *link)
{
	return min(dafs_walk_link(buf, link), 0);
}
EXPORT_SYMBOL_GPL(dafs_decode_link);

/**
 * dafs_direct_len() - how much of a direct metadata buffer was used (E-23)
 * @buf: the buffer
 * @proc: what was put there: DAFS_PROC_GETATTR_DIRECT, DAFS_PROC_SETATTR_DIRECT,
 *	DAFS_PROC_READDIR_DIRECT or DAFS_PROC_READLINK_DIRECT
 *
 * The response has no length, but direct_checksum covers exactly these bytes.
 *
 * Return: bytes, or -EBADMSG if the contents are malformed or reach beyond the
 * buffer, or -EINVAL if they have attributes that this version does not know (E-20),
 * or -EOPNOTSUPP for other procedures.
 */
int dafs_direct_len(const struct dafs_buf *buf, u32 proc)
{
	struct dafs_fattr attr;
	struct dafs_str link;

	switch (proc) {
	case DAFS_PROC_GETATTR_DIRECT:
	case DAFS_PROC_SETATTR_DIRECT:
		return dafs_walk_fattr(buf, &attr);
	case DAFS_PROC_READDIR_DIRECT:
		return dafs_walk_direntries(buf);
	case DAFS_PROC_READLINK_DIRECT:
		return dafs_walk_link(buf, &link);
	default:
		return -EOPNOTSUPP;
	}
}
EXPORT_SYMBOL_GPL(dafs_direct_len);
