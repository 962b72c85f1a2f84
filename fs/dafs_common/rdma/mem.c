// SPDX-License-Identifier: GPL-2.0
/*
 * Client memory that the server reaches by RDMA: pages of an iterator, mapped
 * for the device and registered by fast-registration work requests that travel
 * in front of the request (section 3.2.1.3).
 *
 *  1. dafs_mem_map() prepares the registration: the key is valid once the request has been
 *     posted.
 *  2. The response has arrived: the requester posts the invalidations.
 *  3. The last invalidation has completed, or the queue pair is drained: the requester
 *     calls dafs_mem_unmap(), and only then completes the call for its caller.
 *
 * So the server cannot write to a page after the call has completed.
 */
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include <linux/dafs/mem.h>
#include "rdma_impl.h"
#include "trace.h"

static unsigned int dafs_mem_max_pages(const struct dafs_chan *chan)
{
	return chan->limits.mr_pages;
}

/*
 * extract_iter_to_sg() needs the list as an array, but sg_alloc_table() makes chained
 * lists if they are larger than a page.  So the array is allocated here.
 */
static int dafs_mem_collect(struct dafs_mem *mem, struct iov_iter *iter, size_t len)
{
	unsigned int max = iov_iter_npages(iter, dafs_mem_max_pages(mem->chan));
	ssize_t got;

	mem->sgt.sgl = kmalloc_array(max ?: 1, sizeof(*mem->sgt.sgl), GFP_NOFS);
	if (!mem->sgt.sgl)
		return -ENOMEM;
	sg_init_table(mem->sgt.sgl, max ?: 1);
	got = extract_iter_to_sg(iter, len, &mem->sgt, max, 0);
	if (got <= 0) {
		kfree(mem->sgt.sgl);
		return got ? got : -EIO;
	}
	sg_mark_end(&mem->sgt.sgl[mem->sgt.nents - 1]);
	return 0;
}

static void dafs_mem_describe(struct dafs_mem *mem, struct ib_mr *mr)
{
	unsigned int i = mem->nr;
	struct ib_reg_wr *reg = &mem->reg[i];
	struct ib_send_wr *inv = &mem->inv[i];

	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
	*reg = (struct ib_reg_wr) {
		.wr.opcode = IB_WR_REG_MR,
		.mr = mr,
		.key = mr->rkey,
		.access = mem->dir == DMA_FROM_DEVICE ?
			  IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE :
			  IB_ACCESS_REMOTE_READ,
	};
	*inv = (struct ib_send_wr) {
		.opcode = IB_WR_LOCAL_INV,
		.ex.invalidate_rkey = mr->rkey,
	};
	if (i) {
		mem->reg[i - 1].wr.next = &reg->wr;
		mem->inv[i - 1].next = inv;
	}
	mem->bufs[i] = (struct dafs_direct_buf) {
		.buffer_address = mr->iova,
		.buffer_byte_count = mr->length,
		.buffer_handle = mr->rkey,
	};
	mem->mr[i] = mr;
	mem->len += mr->length;
	mem->nr++;
}

/*
 * One region can map memory that is contiguous for the device; pieces that do not meet at
 * page boundaries (an iovec of odd lengths) need a region each.
 */
static int dafs_mem_register(struct dafs_mem *mem, int nents)
{
	struct scatterlist *sg = mem->sgt.sgl;
	struct ib_mr *mr;
	int n;

	while (nents > 0 && mem->nr < DAFS_MEM_MRS) {
		mr = mem->nr ? dafs_mr_get(mem->chan) : dafs_mr_wait(mem->chan);
		if (IS_ERR(mr))
			return PTR_ERR(mr);
		if (!mr)
			break;
		n = ib_map_mr_sg(mr, sg, nents, NULL, PAGE_SIZE);
		if (n <= 0) {
			dafs_mr_put(mem->chan, mr);
			return n ? n : -EIO;
		}
		dafs_mem_describe(mem, mr);
		nents -= n;
		while (n--)
			sg = sg_next(sg);
	}
	return 0;
}

/**
 * dafs_mem_map() - make memory reachable for the peer
 * @chan: channel that the request will be sent on
 * @mem: filled
 * @iter: the memory, not user-backed; not advanced
 * @len: bytes wanted
 * @dir: DMA_FROM_DEVICE if the peer will write it, DMA_TO_DEVICE if it reads
 *
 * Memory that does not fit into DAFS_MEM_MRS regions is not mapped, so the result may be
 * less than @len.
 *
 * Context: may sleep, waits for a free region; a fatal signal ends that.
 * Return: bytes mapped, or -ENOMEM, -EIO, -ERESTARTSYS, or -ENOTCONN if the channel
 * closed.
 */
ssize_t dafs_mem_map(struct dafs_chan *chan, struct dafs_mem *mem, struct iov_iter *iter,
		     size_t len, enum dma_data_direction dir)
{
	struct iov_iter it = *iter;
	int err, nents;

	if (WARN_ON_ONCE(user_backed_iter(iter)))
		return -EIO;
	*mem = (struct dafs_mem) { .chan = chan, .dir = dir };
	len = min_t(size_t, len, (size_t)(dafs_mem_max_pages(chan) - 1) * PAGE_SIZE);
	iov_iter_truncate(&it, len);
	err = dafs_mem_collect(mem, &it, len);
	if (err)
		return err;
	nents = ib_dma_map_sg(chan->id->device, mem->sgt.sgl, mem->sgt.nents, dir);
	if (!nents) {
		err = -EIO;
		goto free_list;
	}
	err = dafs_mem_register(mem, nents);
	if (err)
		goto unmap;
	trace_dafs_mem_map(mem);
	return mem->len;

unmap:
	dafs_mem_unmap(mem);
	return err;
free_list:
	kfree(mem->sgt.sgl);
	return err;
}
EXPORT_SYMBOL_GPL(dafs_mem_map);

/**
 * dafs_mem_unmap() - undo dafs_mem_map()
 * @mem: the peer cannot access it any more: never sent, invalidated, or the queue pair is
 *	drained
 *
 * The requester does this for the memory of a call; the caller only if the
 * call was never started.
 *
 * Context: any.
 */
void dafs_mem_unmap(struct dafs_mem *mem)
{
	trace_dafs_mem_unmap(mem);
	while (mem->nr)
		dafs_mr_put(mem->chan, mem->mr[--mem->nr]);
	ib_dma_unmap_sg(mem->chan->id->device, mem->sgt.sgl, mem->sgt.nents, mem->dir);
	kfree(mem->sgt.sgl);
}
EXPORT_SYMBOL_GPL(dafs_mem_unmap);
