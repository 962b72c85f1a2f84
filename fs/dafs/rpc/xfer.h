/* SPDX-License-Identifier: GPL-2.0 */
/* The memory of a call: mapped, or copied into the message, and its checksum (4.2). */
#ifndef _FS_DAFS_RPC_XFER_H
#define _FS_DAFS_RPC_XFER_H

#include <linux/uio.h>
#include <linux/dafs/cksum.h>
#include <linux/dafs/mem.h>
#include <linux/dafs/requester.h>

struct dafs_conn;

ssize_t dafs_xfer_map(struct dafs_conn *conn, struct dafs_call *call, struct dafs_mem *mem,
		      struct iov_iter *iter, enum dma_data_direction dir);
void dafs_xfer_unmap(struct dafs_call *call);
void dafs_xfer_cksum(const struct dafs_conn *conn, const struct iov_iter *iter, size_t at,
		     size_t len, struct dafs_cksum *cksum);
int dafs_xfer_check(const struct dafs_conn *conn, const struct iov_iter *iter, size_t at,
		    size_t len, const struct dafs_cksum *cksum);

/**
 * dafs_xfer_range() - a part of memory
 * @iter: the memory
 * @at: where in @iter the part begins
 * @len: its bytes
 * @part: set to it
 *
 * Context: any.
 */
static inline void dafs_xfer_range(const struct iov_iter *iter, size_t at, size_t len,
				   struct iov_iter *part)
{
	*part = *iter;
	iov_iter_advance(part, at);
	iov_iter_truncate(part, len);
}

/**
 * dafs_xfer_buffers() - mapped memory as the server is told of it
 * @mem: the memory
 *
 * Context: any.
 * Return: its buffers, for the arguments of a request.
 */
static inline struct dafs_seq dafs_xfer_buffers(const struct dafs_mem *mem)
{
	return (struct dafs_seq){ .count = mem->nr, .elems = mem->bufs };
}

/**
 * dafs_xfer_direct() - does data go by RDMA, or in the message?
 * @len: bytes; reduced to @limit if they go in the message
 * @limit: bytes that the message has room for
 * @inline_max: bytes up to which they go in the message, if it has room for them
 * @refused: they go in the message anyway
 *
 * Context: any.
 * Return: true if by RDMA.
 */
static inline bool dafs_xfer_direct(size_t *len, size_t limit, size_t inline_max, bool refused)
{
	if (*len > min(inline_max, limit) && !refused)
		return true;
	*len = min(*len, limit);
	return false;
}

#endif /* _FS_DAFS_RPC_XFER_H */
