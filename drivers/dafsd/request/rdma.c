// SPDX-License-Identifier: GPL-2.0
/*
 * Bulk data: RDMA between the client's memory and pages of the server (3.2.3.2).
 *
 *	READ_DIRECT	borrow pages of the page cache, or allocate and fill pages; push:
 *			the RDMA writes are posted together with the response and ahead
 *			of it, so the data arrives before the response
 *	WRITE_DIRECT	check, allocate, pull: the completion of the RDMA reads queues
 *			the request again, which then uses the pages
 *
 * A transfer that needs more send queue entries than there are for RDMA is done in rounds.
 * Each round is mapped when the previous one has completed.  The last round of a
 * READ_DIRECT is posted with the response.
 *
 * Everything is freed when the response has been sent (dafsd_io_free()).
 */
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/splice.h>
#include "../session/peer.h"
#include "../session/conn.h"
#include "../session/session.h"
#include "io.h"
#include "request.h"

/* Account for memory that is held until the response is sent; the client can delay that. */
static bool dafsd_io_charge(struct dafsd_rqst *rq, size_t bytes)
{
	if (!dafsd_peer_charge(rq->conn->peer, DAFSD_CHARGE_DATA, bytes))
		return false;
	rq->io.charged = bytes;
	return true;
}

/**
 * dafsd_io_alloc() - pages for bulk data
 * @rq: request; its io.bv and io.nr_bv are filled
 * @len: bytes, at most DAFS_MAX_IO_SIZE
 *
 * Context: may sleep.
 * Return: DAFS_STATUS_OK or DAFSERR_RESOURCE.
 */
dafs_status_t dafsd_io_alloc(struct dafsd_rqst *rq, u32 len)
{
	struct dafsd_io *io = &rq->io;
	unsigned int bytes;
	struct page *page;

	if (WARN_ON_ONCE(len > DAFS_MAX_IO_SIZE) || !dafsd_io_charge(rq, dafsd_chunks_size(len)))
		return DAFSERR_RESOURCE;
	io->bv = kvcalloc(DIV_ROUND_UP(len, PAGE_SIZE) ?: 1, sizeof(*io->bv), GFP_KERNEL);
	if (!io->bv)
		return DAFSERR_RESOURCE;
	while (io->len < len) {
		page = dafsd_chunk_alloc(len - io->len, &bytes);
		if (!page)
			return DAFSERR_RESOURCE;
		bvec_set_page(&io->bv[io->nr_bv++], page, bytes, 0);
		io->len += bytes;
	}
	return DAFS_STATUS_OK;
}

/* Takes a page out of the pipe; 0 leaves it there and ends the read early. */
static int dafsd_io_borrow_page(struct pipe_inode_info *pipe, struct pipe_buffer *buf,
				struct splice_desc *sd)
{
	struct dafsd_io *io = sd->u.data;

	if (io->nr_bv == io->max_bv)
		return 0;
	get_page(buf->page);
	bvec_set_page(&io->bv[io->nr_bv++], buf->page, sd->len, buf->offset);
	io->len += sd->len;
	return sd->len;
}

static int dafsd_io_borrow_pages(struct pipe_inode_info *pipe, struct splice_desc *sd)
{
	return __splice_from_pipe(pipe, sd, dafsd_io_borrow_page);
}

/**
 * dafsd_io_borrow() - send bulk data from the page cache
 * @rq: request; its io.bv, io.nr_bv and io.len are filled
 * @filp: file to read
 * @offset: in the file
 * @len: bytes, at most DAFS_MAX_IO_SIZE
 *
 * Nothing is copied, so a write to the file before the data has been sent changes the
 * data that is sent.  The result is the same as that of a later read, but a checksum
 * would be wrong.
 *
 * Context: may sleep.
 * Return: the number of bytes, which may be less than @len also before the end of the
 * file; -ENOMEM, or the error of reading the file.
 */
ssize_t dafsd_io_borrow(struct dafsd_rqst *rq, struct file *filp, u64 offset, u32 len)
{
	struct dafsd_io *io = &rq->io;
	struct splice_desc sd = {
		.total_len = len,
		.pos = offset,
		.u.data = io,
	};

	if (WARN_ON_ONCE(len > DAFS_MAX_IO_SIZE))
		return -EINVAL;
	if (!dafsd_io_charge(rq, PAGE_ALIGN(offset_in_page(offset) + len)))
		return -ENOMEM;
	io->max_bv = len / PAGE_SIZE + 2;	/* parts of two at the ends */
	io->bv = kvcalloc(io->max_bv, sizeof(*io->bv), GFP_KERNEL);
	if (!io->bv)
		return -ENOMEM;
	return splice_direct_to_actor(filp, &sd, dafsd_io_borrow_pages);
}

/* Unmap the operation that was mapped last. */
static void dafsd_io_del(struct dafsd_io *io)
{
	struct dafsd_rdma *rdma = &io->rdma[--io->nr_rdma];
	struct dafs_chan *chan = io->conn->chan;

	rdma_rw_ctx_destroy(&rdma->ctx, chan->qp, chan->id->port_num, rdma->sgt.sgl,
			    rdma->sgt.orig_nents, io->dir);
	sg_free_table(&rdma->sgt);
}

static void dafsd_io_end_round(struct dafsd_io *io)
{
	while (io->nr_rdma)
		dafsd_io_del(io);
	dafsd_sq_leave(io);
}

static void dafsd_io_unmap(struct dafsd_io *io)
{
	if (!io->conn)
		return;
	dafsd_io_end_round(io);
	dafsd_conn_put(io->conn);
	io->conn = NULL;
	kfree(io->rdma);
	io->rdma = NULL;
}

/**
 * dafsd_io_free() - free all that a request's bulk data needed
 * @rq: the request; no RDMA of it is under way
 *
 * Context: any.
 */
void dafsd_io_free(struct dafsd_rqst *rq)
{
	struct dafsd_io *io = &rq->io;
	struct page *page;

	dafsd_io_unmap(io);
	while (io->nr_bv) {
		page = io->bv[--io->nr_bv].bv_page;
		if (io->max_bv)
			put_page(page);
		else
			dafsd_chunk_free(page);
	}
	kvfree(io->bv);
	io->bv = NULL;
	io->max_bv = 0;
	io->len = 0;
	if (io->charged)
		dafsd_peer_uncharge(rq->conn->peer, DAFSD_CHARGE_DATA, io->charged);
	io->charged = 0;
}

/* The list of the client's buffers is in the message, or an array in host form. */
static int dafsd_io_buf(const struct dafsd_rqst *rq, const struct dafs_seq *bufs, u32 i,
			struct dafs_direct_buf *buf)
{
	const struct dafs_direct_buf *host = bufs->elems;

	if (!host)
		return dafs_get_direct_buf(&rq->base.in, bufs, i, buf);
	*buf = host[i];
	return 0;
}

/**
 * dafsd_io_room() - how much do the client's buffers hold?
 * @rq: the request
 * @bufs: its buffer list, from the message or, if it has elems, in host form
 * @room: set to the bytes in all of them
 *
 * Return: DAFS_STATUS_OK or DAFSERR_INVAL for too many (E-24).
 */
dafs_status_t dafsd_io_room(struct dafsd_rqst *rq, const struct dafs_seq *bufs, u64 *room)
{
	struct dafs_direct_buf buf;
	u32 i;

	*room = 0;
	if (bufs->count > DAFSD_MAX_DIRECT_BUFS)
		return DAFSERR_INVAL;
	for (i = 0; i < bufs->count; i++) {
		if (dafsd_io_buf(rq, bufs, i, &buf))
			return DAFSERR_INVAL;
		*room += buf.buffer_byte_count;
	}
	return DAFS_STATUS_OK;
}

/**
 * dafsd_io_check_bufs() - are the client's buffers large enough?
 * @rq: the request
 * @bufs: its buffer list, from the message or, if it has elems, in host form
 * @len: bytes to transfer
 *
 * Return: DAFS_STATUS_OK or DAFSERR_INVAL (E-24).
 */
dafs_status_t dafsd_io_check_bufs(struct dafsd_rqst *rq, const struct dafs_seq *bufs, u32 len)
{
	u64 room;

	if (dafsd_io_room(rq, bufs, &room) || room < len)
		return DAFSERR_INVAL;
	return DAFS_STATUS_OK;
}

/* Upper limit of send queue entries for one operation without a memory region */
#define DAFSD_OP_WRS	16U

/* Upper limit of page pieces in one operation; a memory region can hold as many. */
static unsigned int dafsd_io_most_pieces(const struct dafsd_io *io)
{
	const struct ib_qp *qp = io->conn->chan->qp;
	u32 each = io->dir == DMA_TO_DEVICE ? qp->max_write_sge : qp->max_read_sge;

	return clamp(each * DAFSD_OP_WRS, DAFSD_OP_WRS, 256U);
}

/* Number of page pieces in [@from, @from + *@len); *@len is reduced to fit one operation. */
static unsigned int dafsd_io_pieces(const struct dafsd_io *io, u32 from, u32 *len)
{
	unsigned int i, pieces = 0, most = dafsd_io_most_pieces(io);
	u32 end = from + *len, at = 0;

	for (i = 0; i < io->nr_bv && at < end && pieces < most; i++) {
		at += io->bv[i].bv_len;
		if (at > from)
			pieces++;
	}
	*len = min(end, at) - from;
	return pieces;
}

/* Make a scatterlist of [@from, @from + *@plen) of the pages; *@plen may be reduced. */
static int dafsd_io_slice(const struct dafsd_io *io, struct sg_table *sgt, u32 from, u32 *plen)
{
	u32 len = *plen;
	const struct bio_vec *bv = io->bv;
	struct scatterlist *sg;
	unsigned int i;
	u32 n;
	int err;

	err = sg_alloc_table(sgt, dafsd_io_pieces(io, from, &len), GFP_KERNEL);
	if (err)
		return err;
	*plen = len;
	for (; from >= bv->bv_len; bv++)
		from -= bv->bv_len;
	for_each_sgtable_sg(sgt, sg, i) {
		n = min(len, bv->bv_len - from);
		sg_set_page(sg, bv->bv_page, n, bv->bv_offset + from);
		from = 0;
		len -= n;
		bv++;
	}
	return 0;
}

/*
 * Map one more operation, for as much of @buf as fits one operation.
 *
 * Return: the number of send queue entries that it takes, or a negative errno.
 */
static int dafsd_io_add(struct dafsd_io *io, const struct dafs_direct_buf *buf, u32 *len)
{
	struct dafsd_rdma *rdma = &io->rdma[io->nr_rdma];
	struct dafs_chan *chan = io->conn->chan;
	int n;

	*len = min(io->total - io->mapped, buf->buffer_byte_count - io->buf_done);
	n = dafsd_io_slice(io, &rdma->sgt, io->mapped, len);
	if (n)
		return n;
	do {
		n = rdma_rw_ctx_init(&rdma->ctx, chan->qp, chan->id->port_num, rdma->sgt.sgl,
				     rdma->sgt.orig_nents, 0,
				     buf->buffer_address + io->buf_done,
				     buf->buffer_handle, io->dir);
	} while (n == -EAGAIN && !dafs_chan_add_mr(chan));
	if (n < 0)
		sg_free_table(&rdma->sgt);
	else
		io->nr_rdma++;
	return n;
}

/*
 * If soft-RoCE has no memory for the first packet of a READ response, it treats the
 * repeated packet as wrong, ends the connection, and completes the RDMA READ successfully
 * although the data has not arrived.  The work requests behind it in the queue fail then.
 */
static bool dafsd_io_wants_proof(const struct dafs_chan *chan)
{
	return chan->id->device->ops.driver_id == RDMA_DRIVER_RXE;
}

/**
 * dafsd_io_more() - does a request need rounds beyond the one that is mapped?
 * @io: its bulk data
 *
 * Return: true if so.
 */
bool dafsd_io_more(const struct dafsd_io *io)
{
	return io->mapped < io->total;
}

/* Return: 1 if another operation was mapped, 0 if the round is full, or an errno. */
static int dafsd_io_map_op(struct dafsd_rqst *rq, int most)
{
	struct dafsd_io *io = &rq->io;
	struct dafs_direct_buf buf;
	u32 len;
	int n;

	if (io->buf >= io->bufs.count || dafsd_io_buf(rq, &io->bufs, io->buf, &buf))
		return -EINVAL;
	if (io->buf_done == buf.buffer_byte_count) {
		io->buf_done = 0;
		io->buf++;
		return 1;
	}
	n = dafsd_io_add(io, &buf, &len);
	if (n < 0)
		return n;
	if (io->sq_wanted + n > most) {
		dafsd_io_del(io);
		return 0;
	}
	io->sq_wanted += n;
	io->buf_done += len;
	io->mapped += len;
	return 1;
}

/*
 * Map the next round: RDMA operations for the client's buffers, in order, until all data
 * is mapped or the round is full.  If memory is short, the round is smaller.
 */
static dafs_status_t dafsd_io_map_round(struct dafsd_rqst *rq)
{
	struct dafsd_io *io = &rq->io;
	const struct dafs_chan *chan = io->conn->chan;
	bool proof = io->dir == DMA_FROM_DEVICE && dafsd_io_wants_proof(chan);
	int n = 1;

	while (n > 0 && dafsd_io_more(io) && io->nr_rdma < io->max_rdma)
		n = dafsd_io_map_op(rq, chan->limits.rdma_wrs - proof);
	if (!io->nr_rdma)
		return n && n != -EINVAL ? DAFSERR_RESOURCE : DAFSERR_INVAL;
	io->sq_wanted += proof;
	return DAFS_STATUS_OK;
}

static dafs_status_t dafsd_io_map(struct dafsd_rqst *rq, struct dafsd_conn *conn,
				  const struct dafs_seq *bufs, u32 len)
{
	struct dafsd_io *io = &rq->io;

	io->conn = dafsd_conn_get(conn);
	io->bufs = *bufs;
	io->total = len;
	/* each operation takes at least one entry */
	io->max_rdma = min(bufs->count + (bufs->count + io->nr_bv) / dafsd_io_most_pieces(io) + 1,
			   conn->chan->limits.rdma_wrs);
	io->rdma = kcalloc(io->max_rdma, sizeof(*io->rdma), GFP_KERNEL);
	return io->rdma ? dafsd_io_map_round(rq) : DAFSERR_RESOURCE;
}

/**
 * dafsd_io_wrs() - the work requests of the mapped operations
 * @rq: the request
 * @cqe: completion of the last one, or NULL
 * @next: work request to come after them, or NULL
 *
 * Return: the first work request of the list.
 */
struct ib_send_wr *dafsd_io_wrs(struct dafsd_rqst *rq, struct ib_cqe *cqe,
				struct ib_send_wr *next)
{
	struct dafs_chan *chan = rq->io.conn->chan;
	unsigned int i = rq->io.nr_rdma;

	while (i--) {
		next = rdma_rw_ctx_wrs(&rq->io.rdma[i].ctx, chan->qp, chan->id->port_num, cqe,
				       next);
		cqe = NULL;
	}
	return next;
}

static void dafsd_io_cksum(const struct dafsd_rqst *rq, u32 len, struct dafs_cksum *out)
{
	struct dafs_cksum_state state;
	const struct bio_vec *bv;
	u32 n;

	dafs_cksum_init(&state);
	for (bv = rq->io.bv; len; bv++, len -= n) {
		n = min(len, bv->bv_len);
		dafs_cksum_update(&state, page_address(bv->bv_page) + bv->bv_offset, n);
	}
	dafs_cksum_final_host(&state, rq->base.in.swab, out);
}

/**
 * dafsd_io_push() - send data to the client's memory with the response
 * @rq: the request; its pages hold the data
 * @bufs: the client's buffers
 * @len: bytes
 * @cksum: direct_checksum of the response, filled if the session has checksums
 *
 * Context: may sleep.
 * Return: DAFS_STATUS_OK, DAFSERR_INVAL if the buffers are too small,
 * DAFSERR_RESOURCE.
 */
dafs_status_t dafsd_io_push(struct dafsd_rqst *rq, const struct dafs_seq *bufs, u32 len,
			    struct dafs_cksum *cksum)
{
	dafs_status_t status;

	if (rq->ses->opts.use_checksums)
		dafsd_io_cksum(rq, len, cksum);
	if (!len)
		return DAFS_STATUS_OK;
	rq->io.dir = DMA_TO_DEVICE;
	status = dafsd_io_check_bufs(rq, bufs, len);
	return status ?: dafsd_io_map(rq, rq->conn, bufs, len);
}

static void dafsd_io_moved(struct ib_cq *cq, struct ib_wc *wc)
{
	struct dafsd_rqst *rq = container_of(wc->wr_cqe, struct dafsd_rqst, io.moved.cqe);

	if (wc->status != IB_WC_SUCCESS) {
		rq->io.error = -EIO;
		dafs_chan_send_failed(rq->io.conn->chan,
				      rq->io.dir == DMA_FROM_DEVICE ? "read" : "write", wc);
	}
	dafsd_rqst_queue(rq, DAFSD_OWNER_DEVICE);
}

static struct ib_send_wr *dafsd_io_round_wrs(struct dafsd_rqst *rq)
{
	struct dafsd_io *io = &rq->io;

	if (io->dir == DMA_TO_DEVICE || !dafsd_io_wants_proof(io->conn->chan))
		return dafsd_io_wrs(rq, &io->moved.cqe, NULL);
	/* a write of 0 bytes that fails if the reads have failed */
	io->proof = (struct ib_rdma_wr) {
		.wr.wr_cqe = &io->moved.cqe,
		.wr.opcode = IB_WR_RDMA_WRITE,
		.wr.send_flags = IB_SEND_SIGNALED,
	};
	return dafsd_io_wrs(rq, NULL, &io->proof.wr);
}

/**
 * dafsd_io_post() - post a round that is not followed by the response
 * @rq: the request, owned by the calling worker; its stage is the one after the transfer
 *
 * Context: process.
 * Return: false if the round was posted: the caller does not own @rq any more, and the
 * completion of the round queues it.  True if it was not posted; dafsd_io_ended() returns
 * the status.
 */
bool dafsd_io_post(struct dafsd_rqst *rq)
{
	struct dafsd_io *io = &rq->io;
	struct dafs_chan *chan = io->conn->chan;
	struct ib_send_wr *first;

	/* cleared before the round is posted */
	io->error = -EIO;
	if (!io->sq_used || !dafs_chan_is_open(chan))
		return true;
	io->error = 0;
	io->moved.cqe.done = dafsd_io_moved;
	first = dafsd_io_round_wrs(rq);
	dafsd_rqst_hand(rq, DAFSD_OWNER_WORKER, DAFSD_OWNER_DEVICE);
	if (!dafs_chan_post(chan, first, &io->moved))
		return false;
	dafsd_rqst_hand(rq, DAFSD_OWNER_DEVICE, DAFSD_OWNER_WORKER);
	io->error = -EIO;
	return true;
}

/**
 * dafsd_io_ended() - a round has completed, or could not be posted
 * @rq: the request, after dafsd_io_post()
 *
 * There is no status that means that the data could not be transferred; the client would
 * take IO for an I/O error of the file.  So the session is ended, also if the reads used a
 * channel of their own (E-127).
 *
 * Context: process; may sleep.
 * Return: DAFS_STATUS_OK, and the next round is mapped if io.nr_rdma is not 0;
 * DAFSERR_INVAL or DAFSERR_RESOURCE if it cannot be mapped; or DAFSERR_IO, which is not
 * sent because the session has ended.
 */
dafs_status_t dafsd_io_ended(struct dafsd_rqst *rq)
{
	struct dafsd_io *io = &rq->io;
	dafs_status_t status = DAFS_STATUS_OK;

	dafsd_io_end_round(io);
	if (io->error) {
		dafs_chan_fail(rq->base.chan, DAFS_CLOSE_QP);
		status = DAFSERR_IO;
	} else if (dafsd_io_more(io)) {
		status = dafsd_io_map_round(rq);
	}
	if (status || !io->nr_rdma)
		dafsd_io_unmap(io);
	return status;
}

/* RDMA reads go on their own channel if the client bound one (E-55). */
static struct dafsd_conn *dafsd_io_read_channel(const struct dafsd_rqst *rq)
{
	struct dafsd_session *ses = rq->ses;
	struct dafsd_conn *on = rq->conn;

	spin_lock(&ses->lock);
	if (ses->rr && dafs_chan_is_open(ses->rr->chan) &&
	    kref_get_unless_zero(&ses->rr->ref))
		on = ses->rr;
	else
		dafsd_conn_get(on);
	spin_unlock(&ses->lock);
	return on;
}

/**
 * dafsd_io_cksum_check() - does the data match the client's checksum?
 * @rq: the request; its pages hold the data
 * @len: bytes
 * @cksum: direct_checksum of the request
 *
 * Return: DAFS_STATUS_OK, also in a session without checksums, or
 * DAFSERR_CHKSUM.
 */
dafs_status_t dafsd_io_cksum_check(struct dafsd_rqst *rq, u32 len, const struct dafs_cksum *cksum)
{
	struct dafs_cksum sum;

	if (!rq->ses->opts.use_checksums)
		return DAFS_STATUS_OK;
	dafsd_io_cksum(rq, len, &sum);
	return sum.s1 == cksum->s1 && sum.s2 == cksum->s2 ? DAFS_STATUS_OK : DAFSERR_CHKSUM;
}

/**
 * dafsd_io_pull() - prepare to fetch data from the client's memory
 * @rq: the request; its pages receive the data
 * @bufs: the client's buffers
 * @len: bytes
 *
 * To be called by dafsd_proc.prepare; the data has arrived when dafsd_proc.run is called.
 *
 * Context: may sleep.
 * Return: DAFS_STATUS_OK, DAFSERR_INVAL if the buffers are too small,
 * DAFSERR_RDMA_READ_CHANNEL_UNUSABLE if the connection allows no RDMA reads
 * (E-126), DAFSERR_RESOURCE.
 */
dafs_status_t dafsd_io_pull(struct dafsd_rqst *rq, const struct dafs_seq *bufs, u32 len)
{
	struct dafsd_conn *on = dafsd_io_read_channel(rq);
	dafs_status_t status;

	rq->io.dir = DMA_FROM_DEVICE;
	status = dafsd_io_check_bufs(rq, bufs, len);
	if (!status && !on->chan->limits.initiator_depth)
		status = DAFSERR_RDMA_READ_CHANNEL_UNUSABLE;
	if (!status && len)
		status = dafsd_io_map(rq, on, bufs, len);
	dafsd_conn_put(on);
	return status;
}
