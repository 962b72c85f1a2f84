// SPDX-License-Identifier: GPL-2.0
/*
 * One call of an I/O, by RDMA or inline (4.2): how much it moves and how, its arguments,
 * and its results.
 */
#include "io_impl.h"

static size_t dafs_io_inline_limit(const struct dafs_io *io, const struct dafs_conn *conn)
{
	if (io->write)
		return conn->opts.max_request_size - DAFS_WRITE_INLINE_DATA;
	return conn->opts.max_response_size - DAFS_READ_INLINE_DATA;
}

static enum dafs_rdma_use dafs_io_use(const struct dafs_io *io)
{
	return io->write ? DAFS_RDMA_WRITE : DAFS_RDMA_READ;
}

static bool dafs_io_wants_inline(const struct dafs_io *io)
{
	return io->force_inline || dafs_rdma_refused(io->sbi, dafs_io_use(io));
}

/* How the next part goes, and how long it is. */
static void dafs_io_plan(struct dafs_io *io, const struct dafs_conn *conn)
{
	io->conn_number = dafs_conn_number(io->sbi->clnt);
	io->part = io->len - io->done;
	if (io->max_part)
		io->part = min(io->part, io->max_part);
	io->direct = dafs_xfer_direct(&io->part, dafs_io_inline_limit(io, conn),
				      READ_ONCE(dafs_inline_max), dafs_io_wants_inline(io));
}

/**
 * dafs_io_adapt() - send something else from now on, if that is what the server asks for
 * @io: the I/O
 * @action: what follows from the status
 *
 * Context: any.
 * Return: false if it would be the same again.
 */
bool dafs_io_adapt(struct dafs_io *io, enum dafs_action action)
{
	switch (action) {
	case DAFS_ACT_OPEN:
		io->recover = io->open;
		return io->open;
	case DAFS_ACT_INLINE:
		if (io->direct)
			dafs_rdma_refuse(io->sbi, dafs_io_use(io), io->conn_number);
		return io->direct;
	case DAFS_ACT_SMALLER:
		if (io->part <= PAGE_SIZE)
			return false;
		io->max_part = io->part / 2;
		return true;
	default:
		return true;
	}
}

/* Make the memory of the next part reachable; it may become shorter. */
static int dafs_io_map(struct dafs_io *io, struct dafs_conn *conn, struct dafs_call *call)
{
	struct iov_iter iter;
	ssize_t mapped;

	if (!io->direct)
		return 0;
	dafs_xfer_range(&io->iter, io->done, io->part, &iter);
	mapped = dafs_xfer_map(conn, call, &io->mem, &iter,
			       io->write ? DMA_TO_DEVICE : DMA_FROM_DEVICE);
	if (mapped < 0)
		return mapped;
	io->part = min_t(size_t, io->part, mapped);
	return 0;
}

static void dafs_io_fill(struct dafs_call *call, struct dafs_buf *buf)
{
	struct dafs_io *io = call->priv;
	struct iov_iter iter;

	dafs_xfer_range(&io->iter, io->done, io->part, &iter);
	dafs_write_inline_fill(buf, io->part, &iter);
}

static void dafs_io_read_args(struct dafs_io *io)
{
	u64 pos = io->pos + io->done;

	if (io->direct)
		io->args.read_direct = (struct dafs_read_direct_args) {
			.filehandle = io->di->fh,
			.state_id = io->state_id,
			.offset = pos,
			.byte_count = io->part,
			.read_data_buffers = dafs_xfer_buffers(&io->mem),
		};
	else
		io->args.read_inline = (struct dafs_read_inline_args) {
			.filehandle = io->di->fh,
			.state_id = io->state_id,
			.offset = pos,
			.byte_count = io->part,
		};
}

static void dafs_io_write_args(struct dafs_io *io, const struct dafs_conn *conn)
{
	u64 pos = io->pos + io->done;

	if (!io->direct) {
		io->args.write_inline = (struct dafs_write_inline_args) {
			.filehandle = io->di->fh,
			.state_id = io->state_id,
			.offset = pos,
			.byte_count = io->part,
			.stable_how = io->stable,
			.inline_header = conn->opts.inline_write_header_size,
		};
		return;
	}
	io->args.write_direct = (struct dafs_write_direct_args) {
		.filehandle = io->di->fh,
		.state_id = io->state_id,
		.offset = pos,
		.byte_count = io->part,
		.stable_how = io->stable,
		.write_data_buffers = dafs_xfer_buffers(&io->mem),
	};
	dafs_xfer_cksum(conn, &io->iter, io->done, io->part,
			&io->args.write_direct.direct_checksum);
}

static u32 dafs_io_proc(const struct dafs_io *io)
{
	if (io->write)
		return io->direct ? DAFS_PROC_WRITE_DIRECT : DAFS_PROC_WRITE_INLINE;
	return io->direct ? DAFS_PROC_READ_DIRECT : DAFS_PROC_READ_INLINE;
}

/* Nothing but taking results and passing them on is left to do. */
static bool dafs_call_good(const struct dafs_call *call)
{
	return !call->error && call->status == DAFS_STATUS_OK && !call->chan->cksum;
}

static void dafs_io_called(struct dafs_call *call)
{
	struct dafs_io *io = call->priv;

	if (io->anywhere && dafs_call_good(call))
		dafs_io_answered(io);
	else
		queue_work(dafs_done_wq, &io->done_work);
}

static void dafs_io_call_init(struct dafs_io *io, struct dafs_call *call,
			      struct dafs_conn *conn)
{
	if (io->write)
		dafs_io_write_args(io, conn);
	else
		dafs_io_read_args(io);
	call->proc = dafs_io_proc(io);
	call->args = &io->args;
	call->fill = io->write && !io->direct ? dafs_io_fill : NULL;
	call->done = io->wait ? NULL : dafs_io_called;
	call->priv = io;
}

/**
 * dafs_io_call() - send the next part
 * @io: the I/O, with its state-id
 * @conn: on this connection, with a reference of the caller; it is passed after success
 *
 * After success the response may be looked at, and the whole I/O be gone, before this
 * returns.
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dafs_io_call(struct dafs_io *io, struct dafs_conn *conn)
{
	struct dafs_call *call;
	int err;

	call = dafs_call_as(io->sbi->clnt, conn, io->cred);
	if (IS_ERR(call))
		return PTR_ERR(call);
	dafs_io_plan(io, conn);
	err = dafs_io_map(io, conn, call);
	if (err)
		goto put_call;
	dafs_io_call_init(io, call, conn);
	io->call = call;
	io->conn = conn;
	err = dafs_call_start(conn->rq, call);
	if (!err)
		return 0;
	dafs_xfer_unmap(call);
put_call:
	dafs_call_put(call);
	return err;
}

static ssize_t dafs_io_read_inline(struct dafs_io *io)
{
	struct dafs_read_inline_res res = {};
	struct iov_iter iter;
	int err;

	err = dafs_decode_res(&io->call->buf, DAFS_PROC_READ_INLINE, &res);
	if (err || res.bytes_read > io->part)
		return -EPROTO;
	dafs_xfer_range(&io->iter, io->done, res.bytes_read, &iter);
	if (copy_to_iter(res.read_data, res.bytes_read, &iter) != res.bytes_read)
		return -EFAULT;
	io->eof = res.eof;
	return res.bytes_read;
}

static ssize_t dafs_io_read_direct(struct dafs_io *io)
{
	struct dafs_read_direct_res res = {};
	int err;

	err = dafs_decode_res(&io->call->buf, DAFS_PROC_READ_DIRECT, &res);
	if (err || res.bytes_read > io->part)
		return -EPROTO;
	err = dafs_xfer_check(io->conn, &io->iter, io->done, res.bytes_read,
			      &res.direct_checksum);
	if (err)
		return err;
	io->eof = res.eof;
	return res.bytes_read;
}

static ssize_t dafs_io_written(struct dafs_io *io)
{
	struct dafs_write_res res = {};
	int err;

	err = dafs_decode_res(&io->call->buf, dafs_io_proc(io), &res);
	/* E-104: never a weaker commitment than was asked for. */
	if (err || res.count > io->part || res.committed < io->stable ||
	    res.committed > DAFS_FILE_SYNC)
		return -EPROTO;
	if (!io->verf_set) {
		io->verf = res.verifier;
		io->verf_set = true;
	} else if (!dafs_opaque64_equal(&io->verf, &res.verifier)) {
		io->verf_mixed = true;
	}
	io->committed = min(io->committed, res.committed);
	return res.count;
}

/**
 * dafs_io_results() - look at the results of a call that was answered with success
 * @io: the I/O
 *
 * Context: that of dafs_io_answered().
 * Return: the bytes that have been moved; -EBADMSG if they do not match their checksum;
 * another negative errno if the server answered nonsense, or they could not be copied.
 */
ssize_t dafs_io_results(struct dafs_io *io)
{
	if (io->write)
		return dafs_io_written(io);
	return io->direct ? dafs_io_read_direct(io) : dafs_io_read_inline(io);
}
