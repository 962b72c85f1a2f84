// SPDX-License-Identifier: GPL-2.0
/*
 * APPEND_INLINE and APPEND_DIRECT (6.5.3, 6.5.4); data/append.c implements appending.
 */
#include <linux/uio.h>
#include "../request/io.h"
#include "../request/request.h"
#include "../state/open.h"
#include "../data/data.h"
#include "proc.h"

/* E-100, E-101 */
static dafs_status_t dafsd_append_check(u32 byte_count, u32 stable_how)
{
	if (stable_how != DAFS_DATA_SYNC && stable_how != DAFS_FILE_SYNC)
		return DAFSERR_INVAL;
	return byte_count > DAFS_MAX_IO_SIZE ? DAFSERR_WRITE_TOOBIG : DAFS_STATUS_OK;
}

static dafs_status_t dafsd_append_inline(struct dafsd_rqst *rq, const struct dafsd_use *use)
{
	struct dafs_append_inline_args *args = &rq->args.append_inline;
	struct kvec kvec = {
		.iov_base = (void *)args->data,
		.iov_len = args->byte_count,
	};
	struct iov_iter iter;

	iov_iter_kvec(&iter, ITER_SOURCE, &kvec, 1, kvec.iov_len);
	return dafsd_append(rq, use, &iter, args->stable_how, &rq->res.append);
}

/**
 * dafsd_proc_append_inline() - APPEND_INLINE (6.5.3)
 * @rq: request
 *
 * Context: process context under the caller's credential; may sleep.
 * Return: DAFS status.
 */
dafs_status_t dafsd_proc_append_inline(struct dafsd_rqst *rq)
{
	struct dafs_append_inline_args *args = &rq->args.append_inline;
	dafs_status_t status;

	status = dafsd_append_check(args->byte_count, args->stable_how);
	if (status)
		return status;
	return dafsd_open_use(rq, &args->filehandle, &args->state_id,
			      DAFS_OPEN_SHARE_ACCESS_WRITE, dafsd_append_inline);
}

static dafs_status_t dafsd_append_pull(struct dafsd_rqst *rq, const struct dafsd_use *use)
{
	struct dafs_append_direct_args *args = &rq->args.append_direct;
	const struct dafs_seq bufs = { .count = 1, .elems = &args->write_data_buffer };
	dafs_status_t status;

	status = dafsd_io_check_bufs(rq, &bufs, args->byte_count);
	if (!status && args->byte_count)
		status = dafsd_io_alloc(rq, args->byte_count);
	return status ?: dafsd_io_pull(rq, &bufs, args->byte_count);
}

static dafs_status_t dafsd_append_direct(struct dafsd_rqst *rq, const struct dafsd_use *use)
{
	struct dafs_append_direct_args *args = &rq->args.append_direct;
	struct iov_iter iter;
	dafs_status_t status;

	status = dafsd_io_cksum_check(rq, args->byte_count, &args->direct_checksum);
	if (status)
		return status;
	iov_iter_bvec(&iter, ITER_SOURCE, rq->io.bv, rq->io.nr_bv, args->byte_count);
	return dafsd_append(rq, use, &iter, args->stable_how, &rq->res.append);
}

/**
 * dafsd_prepare_append_direct() - APPEND_DIRECT: fetch the data
 * @rq: request
 *
 * Context: process context under the caller's credential; may sleep.
 * Return: DAFS status.
 */
dafs_status_t dafsd_prepare_append_direct(struct dafsd_rqst *rq)
{
	struct dafs_append_direct_args *args = &rq->args.append_direct;
	dafs_status_t status;

	status = dafsd_append_check(args->byte_count, args->stable_how);
	if (status)
		return status;
	return dafsd_open_use(rq, &args->filehandle, &args->state_id,
			      DAFS_OPEN_SHARE_ACCESS_WRITE, dafsd_append_pull);
}

/**
 * dafsd_proc_append_direct() - APPEND_DIRECT (6.5.4)
 * @rq: request; the data was fetched
 *
 * Context: process context under the caller's credential; may sleep.
 * Return: DAFS status.
 */
dafs_status_t dafsd_proc_append_direct(struct dafsd_rqst *rq)
{
	struct dafs_append_direct_args *args = &rq->args.append_direct;

	return dafsd_open_use(rq, &args->filehandle, &args->state_id,
			      DAFS_OPEN_SHARE_ACCESS_WRITE, dafsd_append_direct);
}
