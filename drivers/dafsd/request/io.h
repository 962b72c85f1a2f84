/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bulk data and metadata between client memory and the server's pages, and the memory for
 * that.
 */
#ifndef _DAFSD_REQUEST_IO_H
#define _DAFSD_REQUEST_IO_H

#include <linux/bvec.h>
#include <linux/sizes.h>
#include <rdma/rw.h>
#include <linux/dafs/chan.h>
#include <linux/dafs/cksum.h>
#include <linux/dafs/codec.h>

struct dafsd_conn;
struct dafsd_rqst;
struct file;

#define DAFSD_MAX_DIRECT_BUFS		256	/* E-24 */

/**
 * struct dafsd_rdma - one RDMA operation: one client buffer
 * @ctx: of rdma_rw
 * @sgt: the server's pages for it
 */
struct dafsd_rdma {
	struct rdma_rw_ctx ctx;
	struct sg_table sgt;
};

/**
 * struct dafsd_io - bulk data of one request
 * @bv: pages that the data passes through
 * @nr_bv: entries of @bv; each may be several pages
 * @max_bv: room in @bv for borrowed pages, 0 if they are our own
 * @charged: bytes that are counted for the peer
 * @len: bytes in them
 * @rdma: the operations of a round: one for each client buffer used, or more
 * @nr_rdma: how many
 * @max_rdma: room in @rdma
 * @bufs: the client's buffers
 * @buf: the first of @bufs that is not mapped, or not all of it
 * @buf_done: bytes of that which are
 * @mapped: bytes of all rounds so far
 * @total: bytes to transfer
 * @dir: DMA_TO_DEVICE when the server writes to the client
 * @conn: where they go; holds a reference
 * @sq_wanted: send queue entries that @rdma needs
 * @sq_used: send queue entries taken from it
 * @moved: completion of a round that no response follows
 * @proof: comes after them where their completion proves nothing
 * @error: their result
 *
 * See dafsd_io_*() in request/rdma.c.
 */
struct dafsd_io {
	struct bio_vec *bv;
	unsigned int nr_bv;
	unsigned int max_bv;
	u32 charged;
	u32 len;
	struct dafsd_rdma *rdma;
	unsigned int nr_rdma;
	unsigned int max_rdma;
	struct dafs_seq bufs;
	u32 buf;
	u32 buf_done;
	u32 mapped;
	u32 total;
	enum dma_data_direction dir;
	struct dafsd_conn *conn;
	int sq_wanted;
	int sq_used;
	struct dafs_sent moved;
	struct ib_rdma_wr proof;
	int error;
};

dafs_status_t dafsd_io_alloc(struct dafsd_rqst *rq, u32 len);
ssize_t dafsd_io_borrow(struct dafsd_rqst *rq, struct file *filp, u64 offset, u32 len);
void dafsd_io_free(struct dafsd_rqst *rq);
dafs_status_t dafsd_io_room(struct dafsd_rqst *rq, const struct dafs_seq *bufs, u64 *room);
dafs_status_t dafsd_io_check_bufs(struct dafsd_rqst *rq, const struct dafs_seq *bufs, u32 len);
struct ib_send_wr *dafsd_io_wrs(struct dafsd_rqst *rq, struct ib_cqe *cqe,
				struct ib_send_wr *next);
dafs_status_t dafsd_io_cksum_check(struct dafsd_rqst *rq, u32 len, const struct dafs_cksum *cksum);
dafs_status_t dafsd_io_pull(struct dafsd_rqst *rq, const struct dafs_seq *bufs, u32 len);
bool dafsd_io_post(struct dafsd_rqst *rq);
dafs_status_t dafsd_io_ended(struct dafsd_rqst *rq);
bool dafsd_io_more(const struct dafsd_io *io);
dafs_status_t dafsd_io_push(struct dafsd_rqst *rq, const struct dafs_seq *bufs, u32 len,
			    struct dafs_cksum *cksum);

/* meta.c: metadata by RDMA */

/* Bytes of the longest that is sent or fetched, whatever the buffers hold */
#define DAFSD_META_MAX			SZ_64K

struct dafs_seq dafsd_meta_buf(const struct dafs_direct_buf *buf);
dafs_status_t dafsd_meta_begin(struct dafsd_rqst *rq, struct dafs_buf *buf, u32 size);
void dafsd_meta_end(const struct dafsd_rqst *rq, struct dafs_buf *buf);
dafs_status_t dafsd_meta_push(struct dafsd_rqst *rq, const struct dafs_seq *bufs,
			      struct dafs_buf *buf, int len, struct dafs_cksum *cksum);
dafs_status_t dafsd_meta_pull(struct dafsd_rqst *rq, const struct dafs_seq *bufs);
dafs_status_t dafsd_meta_pulled(struct dafsd_rqst *rq, u32 proc, const struct dafs_cksum *cksum,
				struct dafs_buf *buf);

/* pool.c: memory for bulk data */
size_t dafsd_chunks_size(u32 want);
struct page *dafsd_chunk_alloc(u32 want, unsigned int *bytes);
void dafsd_chunk_free(struct page *page);

/* Bytes in which the entries of a READDIR are collected, at most */
#define DAFSD_AREA_MAX			SZ_512K

void *dafsd_area_alloc(size_t size);
void dafsd_area_free(void *data);
int dafsd_pool_init(void);
void dafsd_pool_exit(void);

#endif /* _DAFSD_REQUEST_IO_H */
