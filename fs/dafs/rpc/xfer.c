// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of a call: what the server reads or writes by RDMA, and its checksum.
 */
#include <linux/dafs/fault.h>
#include <linux/iov_iter.h>
#include <linux/uio.h>
#include "rpc.h"

/**
 * dafs_xfer_map() - make memory reachable for the server during a call
 * @conn: the connection that the call will be sent on
 * @call: the call; its mem is set
 * @mem: filled; as long-lived as the call
 * @iter: the memory, not user-backed; not advanced
 * @dir: DMA_FROM_DEVICE if the server writes it, DMA_TO_DEVICE if it reads
 *
 * The requester unmaps it; the caller only if the call is not started, by dafs_xfer_unmap().
 *
 * Context: may sleep, waits for a free region; a fatal signal ends that.
 * Return: as dafs_mem_map(): bytes mapped, maybe not all, or a negative errno.
 */
ssize_t dafs_xfer_map(struct dafs_conn *conn, struct dafs_call *call, struct dafs_mem *mem,
		      struct iov_iter *iter, enum dma_data_direction dir)
{
	ssize_t mapped;

	if (dafs_fault(DAFS_FAULT_REGISTER, call->proc))
		return -ENOMEM;
	mapped = dafs_mem_map(conn->op, mem, iter, iov_iter_count(iter), dir);
	if (mapped >= 0)
		call->mem = mem;
	return mapped;
}

/**
 * dafs_xfer_unmap() - undo dafs_xfer_map()
 * @call: the call, which was not started; its memory need not be mapped
 *
 * Context: any.
 */
void dafs_xfer_unmap(struct dafs_call *call)
{
	if (call->mem)
		dafs_mem_unmap(call->mem);
	call->mem = NULL;
}

static size_t dafs_xfer_cksum_step(void *base, size_t progress, size_t len, void *priv,
				   void *priv2)
{
	dafs_cksum_update(priv, base, len);
	return 0;
}

/**
 * dafs_xfer_cksum() - compute the direct_checksum of data (3.2.5, E-34)
 * @conn: the connection that the data is moved on
 * @iter: the memory; not advanced
 * @at: where in @iter the data begins
 * @len: its bytes
 * @cksum: filled, if the session has checksums
 *
 * Context: any.
 */
void dafs_xfer_cksum(const struct dafs_conn *conn, const struct iov_iter *iter, size_t at,
		     size_t len, struct dafs_cksum *cksum)
{
	struct dafs_cksum_state state;
	struct iov_iter it;

	if (!conn->opts.use_checksums)
		return;
	dafs_xfer_range(iter, at, len, &it);
	dafs_cksum_init(&state);
	iterate_and_advance_kernel(&it, len, &state, NULL, dafs_xfer_cksum_step);
	dafs_cksum_final_host(&state, conn->op->swab, cksum);
}

/**
 * dafs_xfer_check() - has data arrived as the server has sent it?
 * @conn: the connection that it was moved on
 * @iter: the memory; not advanced
 * @at: where in @iter the data begins
 * @len: its bytes
 * @cksum: the direct_checksum of the response
 *
 * Context: any.
 * Return: 0, also in a session without checksums, or -EBADMSG.
 */
int dafs_xfer_check(const struct dafs_conn *conn, const struct iov_iter *iter, size_t at,
		    size_t len, const struct dafs_cksum *cksum)
{
	struct dafs_cksum sum;

	if (!conn->opts.use_checksums)
		return 0;
	dafs_xfer_cksum(conn, iter, at, len, &sum);
	return dafs_cksum_equal(cksum, &sum) ? 0 : -EBADMSG;
}
