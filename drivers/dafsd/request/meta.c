// SPDX-License-Identifier: GPL-2.0
/*
 * Metadata by RDMA: the encoding of attributes, directory entries and links in the
 * client's buffers (6.5.14, 6.5.30, 6.5.32, 6.5.36).
 *
 * It is encoded as in a message, but offsets count from the first byte of the first
 * buffer (E-10), and its length is not transmitted but follows from its contents (E-23).
 * It is encoded in the pages for bulk data if these are contiguous, and in a separate
 * buffer otherwise.
 */
#include <linux/mm.h>
#include <linux/uio.h>
#include <linux/dafs/status.h>
#include "io.h"
#include "request.h"

/**
 * dafsd_meta_buf() - a single buffer as a list (E-24)
 * @buf: the buffer; must live as long as the list
 *
 * Return: the list.
 */
struct dafs_seq dafsd_meta_buf(const struct dafs_direct_buf *buf)
{
	return (struct dafs_seq){ .count = 1, .elems = buf };
}

/* The pages for bulk data if they are contiguous, which is the usual case; or NULL */
static void *dafsd_meta_pages(const struct dafsd_rqst *rq)
{
	return rq->io.nr_bv == 1 ? page_address(rq->io.bv->bv_page) : NULL;
}

static dafs_status_t dafsd_meta_memory(const struct dafsd_rqst *rq, struct dafs_buf *buf, u32 size)
{
	buf->base = dafsd_meta_pages(rq) ?: kvmalloc(size, GFP_KERNEL);
	buf->len = size;
	buf->swab = rq->base.in.swab;
	return buf->base ? DAFS_STATUS_OK : DAFSERR_RESOURCE;
}

/**
 * dafsd_meta_begin() - memory to encode into, and pages for bulk data
 * @rq: request
 * @buf: filled; dafsd_meta_push() or dafsd_meta_end() frees its memory
 * @size: bytes that are enough, more than 0
 *
 * Context: may sleep.
 * Return: OK or RESOURCE.
 */
dafs_status_t dafsd_meta_begin(struct dafsd_rqst *rq, struct dafs_buf *buf, u32 size)
{
	dafs_status_t status = dafsd_io_alloc(rq, size);

	buf->base = NULL;
	return status ?: dafsd_meta_memory(rq, buf, size);
}

/**
 * dafsd_meta_end() - free what dafsd_meta_begin() or dafsd_meta_pull() allocated
 * @rq: request; the pages are its own until it is answered
 * @buf: the memory
 *
 * Context: may sleep.
 */
void dafsd_meta_end(const struct dafsd_rqst *rq, struct dafs_buf *buf)
{
	if (buf->base != dafsd_meta_pages(rq))
		kvfree(buf->base);
	buf->base = NULL;
}

static dafs_status_t dafsd_meta_send(struct dafsd_rqst *rq, const struct dafs_seq *bufs,
				     const void *data, u32 len, struct dafs_cksum *cksum)
{
	struct iov_iter iter;
	u64 room;
	dafs_status_t status;

	status = dafsd_io_room(rq, bufs, &room);
	if (!status && room < len)
		status = DAFSERR_TOOSMALL;
	if (status)
		return status;
	if (data != dafsd_meta_pages(rq)) {
		iov_iter_bvec(&iter, ITER_DEST, rq->io.bv, rq->io.nr_bv, len);
		if (copy_to_iter(data, len, &iter) != len)
			return DAFSERR_SERVERFAULT;
	}
	return dafsd_io_push(rq, bufs, len, cksum);
}

/**
 * dafsd_meta_push() - send encoded metadata to the client's buffers
 * @rq: request; the data leaves ahead of its response
 * @bufs: the buffers
 * @buf: from dafsd_meta_begin(); freed
 * @len: return value of the encoder: bytes used, or a negative errno
 * @cksum: direct_checksum of the response, filled if the session has checksums
 *
 * Context: may sleep.
 * Return: OK; TOOSMALL if it does not fit into the buffers; INVAL for too many
 * of these; RESOURCE.
 */
dafs_status_t dafsd_meta_push(struct dafsd_rqst *rq, const struct dafs_seq *bufs,
			      struct dafs_buf *buf, int len, struct dafs_cksum *cksum)
{
	dafs_status_t status = len < 0 ? dafs_errno_to_status(len) :
			       dafsd_meta_send(rq, bufs, buf->base, len, cksum);

	dafsd_meta_end(rq, buf);
	return status;
}

/**
 * dafsd_meta_pull() - prepare to fetch metadata from a buffer of the client
 * @rq: request
 * @bufs: the buffer
 *
 * To be called by dafsd_proc.prepare; see dafsd_meta_pulled().
 *
 * Context: may sleep.
 * Return: OK; as dafsd_io_pull().
 */
dafs_status_t dafsd_meta_pull(struct dafsd_rqst *rq, const struct dafs_seq *bufs)
{
	dafs_status_t status;
	u32 size;
	u64 room;

	status = dafsd_io_room(rq, bufs, &room);
	if (status)
		return status;
	size = min_t(u64, room, DAFSD_META_MAX);
	return dafsd_io_alloc(rq, size) ?: dafsd_io_pull(rq, bufs, size);
}

/**
 * dafsd_meta_pulled() - check the metadata that was fetched
 * @rq: request, for which dafsd_meta_pull() was called
 * @proc: kind of the metadata, DAFS_PROC_* as for dafs_direct_len()
 * @cksum: direct_checksum of the request, compared if the session has checksums
 * @buf: filled; dafsd_meta_end() frees its memory, also after an error
 *
 * The checksum covers the length that follows from the data itself.  If that is more
 * than the buffer holds, the data is treated as damaged (E-23).
 *
 * Context: may sleep.
 * Return: OK; CHKSUM; INVAL for attributes that this version does not know; RESOURCE.
 */
dafs_status_t dafsd_meta_pulled(struct dafsd_rqst *rq, u32 proc, const struct dafs_cksum *cksum,
				struct dafs_buf *buf)
{
	u32 size = rq->io.len;
	struct iov_iter iter;
	int len;

	if (dafsd_meta_memory(rq, buf, size))
		return DAFSERR_RESOURCE;
	if (buf->base != dafsd_meta_pages(rq)) {
		iov_iter_bvec(&iter, ITER_SOURCE, rq->io.bv, rq->io.nr_bv, size);
		if (copy_from_iter(buf->base, size, &iter) != size)
			return DAFSERR_SERVERFAULT;
	}
	len = dafs_direct_len(buf, proc);
	if (len < 0)
		return len == -EBADMSG ? DAFSERR_CHKSUM : DAFSERR_INVAL;
	return dafsd_io_cksum_check(rq, len, cksum);
}
