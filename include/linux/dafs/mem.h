/* SPDX-License-Identifier: GPL-2.0 */
/* Memory of the client that the peer may access (rdma/mem.c). */
#ifndef _LINUX_DAFS_MEM_H
#define _LINUX_DAFS_MEM_H

#include <linux/scatterlist.h>
#include <rdma/ib_verbs.h>
#include <linux/dafs/msg.h>

struct dafs_call;
struct dafs_chan;
struct iov_iter;

/* Buffers in one READ_DIRECT or WRITE_DIRECT; more pieces shorten the I/O. */
#define DAFS_MEM_MRS		4

/**
 * struct dafs_mem - client memory registered for one call
 * @chan: channel whose regions are used
 * @sgt: the pages, as DMA sees them
 * @dir: DMA_FROM_DEVICE if the peer writes it
 * @nr: regions in use
 * @mr: the regions
 * @reg: work requests that register them, sent ahead of the request
 * @inv: work requests that invalidate them
 * @cqe: completion of the last invalidation
 * @covers: send queue entries that this completion frees
 * @call: the call that waits for it
 * @bufs: their description in the request
 * @len: bytes mapped
 */
struct dafs_mem {
	struct dafs_chan *chan;
	struct sg_table sgt;
	enum dma_data_direction dir;
	unsigned int nr;
	struct ib_mr *mr[DAFS_MEM_MRS];
	struct ib_reg_wr reg[DAFS_MEM_MRS];
	struct ib_send_wr inv[DAFS_MEM_MRS];
	struct ib_cqe cqe;
	unsigned int covers;
	struct dafs_call *call;
	struct dafs_direct_buf bufs[DAFS_MEM_MRS];
	size_t len;
};

ssize_t dafs_mem_map(struct dafs_chan *chan, struct dafs_mem *mem, struct iov_iter *iter,
		     size_t len, enum dma_data_direction dir);
void dafs_mem_unmap(struct dafs_mem *mem);

#endif /* _LINUX_DAFS_MEM_H */
