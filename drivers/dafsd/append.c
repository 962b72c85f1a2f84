// SPDX-License-Identifier: GPL-2.0
/*
 * Appending (4.2.1.2, 6.5.3, 6.5.4): all of the data at the end of the file, or
 * none of it (E-103).
 *
 * All data is here before the first byte is written.  The file system finds the
 * end of the file and writes there under its own lock, so no other write comes
 * in between, not even of a program on this machine.  Where it stops half-way,
 * for want of space, the file is cut back to its former length.  Meanwhile a
 * lock keeps other requests from writing behind the part that is to go; for a
 * program on this machine that does so, the part has to stay.
 *
 * Waiting for the disk comes after that, so that appends of several clients
 * become stable together.
 */
#include <linux/uio.h>
#include "open_impl.h"

/* The record of the file is held by the request, see dafsd_open_use(). */
static struct rw_semaphore *dafsd_append_lock(const struct file *filp)
{
	return &dafsd_file_held(file_inode(filp))->append;
}

/**
 * dafsd_write_begin() - keep out appends while data is written at an offset
 * @filp: the file; dafsd_write_end() ends it
 *
 * Context: may sleep.
 */
void dafsd_write_begin(const struct file *filp)
{
	down_read(dafsd_append_lock(filp));
}

/**
 * dafsd_write_end() - let appends in again
 * @filp: the file
 */
void dafsd_write_end(const struct file *filp)
{
	up_read(dafsd_append_lock(filp));
}

/*
 * Take back [@start, @end), if nothing has come behind it.  The caller holds
 * the append lock.
 */
static void dafsd_append_cut(struct file *filp, loff_t start, loff_t end)
{
	struct inode *inode = file_inode(filp);
	struct iattr ia = {
		.ia_valid = ATTR_SIZE | ATTR_FILE,
		.ia_size = start,
		.ia_file = filp,
	};
	int err = 0;

	file_start_write(filp);
	inode_lock(inode);
	if (i_size_read(inode) == end)
		err = notify_change(file_mnt_idmap(filp), file_dentry(filp), &ia, NULL);
	inode_unlock(inode);
	file_end_write(filp);
	if (err)
		pr_warn_ratelimited("dafsd: part of a failed append stays in a file: %d\n", err);
}

/*
 * A write that ends early does not say why: another one of what is left does, or
 * goes on if there is room again.  [@begin, @end) is what has been written.
 *
 * Return: 0 or a negative errno.
 */
static int dafsd_append_all(const struct dafsd_use *use, struct iov_iter *iter, loff_t *begin,
			    loff_t *end)
{
	size_t len = iov_iter_count(iter);
	loff_t pos = 0;
	ssize_t n;

	n = dafsd_write_iter(use, iter, &pos, RWF_APPEND);
	*begin = pos - max(n, 0);
	*end = pos;
	while (n > 0 && iov_iter_count(iter)) {
		n = dafsd_write_iter(use, iter, &pos, RWF_APPEND);
		/* a program of this machine has come in between */
		if (n > 0 && pos - n != *end) {
			dafsd_append_cut(use->filp, pos - n, pos);
			n = -ENOSPC;
		}
		if (n > 0)
			*end = pos;
	}
	if (n <= 0)
		return n ?: -ENOSPC;
	/* what no file can hold is taken off the iterator without a word */
	return *end - *begin < len ? -EFBIG : 0;
}

static u32 dafsd_append_data(const struct dafsd_use *use, struct iov_iter *iter, u64 *offset)
{
	struct file *filp = use->filp;
	loff_t begin, end;
	int err;

	down_write(dafsd_append_lock(filp));
	err = dafsd_append_all(use, iter, &begin, &end);
	if (err && begin < end)
		dafsd_append_cut(filp, begin, end);
	up_write(dafsd_append_lock(filp));
	*offset = begin;
	return dafs_errno_to_status(err);
}

/* What is not stable is not there, so that the client may append it once more. */
static u32 dafsd_append_sync(struct file *filp, u64 offset, size_t len, u32 stable_how,
			     errseq_t since)
{
	loff_t end = offset + len;
	int err;

	err = dafsd_sync(filp, offset, end - 1, stable_how == DAFS_DATA_SYNC, since);
	if (!err)
		return DAFS_STATUS_OK;
	down_write(dafsd_append_lock(filp));
	dafsd_append_cut(filp, offset, end);
	up_write(dafsd_append_lock(filp));
	return dafs_errno_to_status(err);
}

static u32 dafsd_append(const struct dafsd_use *use, struct iov_iter *iter, u32 stable_how,
			struct dafs_append_res *res)
{
	struct file *filp = use->filp;
	errseq_t since = dafsd_sync_begin(filp);
	size_t len = iov_iter_count(iter);
	u32 status;

	dafsd_verifier_get(use->exp, &res->verifier);
	res->committed = stable_how;
	if (!len) {
		res->offset = i_size_read(file_inode(filp));
		return DAFS_STATUS_OK;
	}
	status = dafsd_append_data(use, iter, &res->offset);
	return status ?: dafsd_append_sync(filp, res->offset, len, stable_how, since);
}

/* E-100, E-101 */
static u32 dafsd_append_check(u32 byte_count, u32 stable_how)
{
	if (stable_how != DAFS_DATA_SYNC && stable_how != DAFS_FILE_SYNC)
		return DAFSERR_INVAL;
	return byte_count > DAFS_MAX_IO_SIZE ? DAFSERR_WRITE_TOOBIG : DAFS_STATUS_OK;
}

static u32 dafsd_append_inline(struct dafsd_rqst *rq, const struct dafsd_use *use)
{
	struct dafs_append_inline_args *args = &rq->args.append_inline;
	struct kvec kvec = {
		.iov_base = (void *)args->data,
		.iov_len = args->byte_count,
	};
	struct iov_iter iter;

	iov_iter_kvec(&iter, ITER_SOURCE, &kvec, 1, kvec.iov_len);
	return dafsd_append(use, &iter, args->stable_how, &rq->res.append);
}

/**
 * dafsd_proc_append_inline() - APPEND_INLINE (6.5.3)
 * @rq: request
 *
 * Context: process context under the caller's credential; may sleep.
 * Return: DAFS status.
 */
u32 dafsd_proc_append_inline(struct dafsd_rqst *rq)
{
	struct dafs_append_inline_args *args = &rq->args.append_inline;
	u32 status;

	status = dafsd_append_check(args->byte_count, args->stable_how);
	if (status)
		return status;
	return dafsd_open_use(rq, &args->filehandle, &args->state_id,
			      DAFS_OPEN_SHARE_ACCESS_WRITE, dafsd_append_inline);
}

static u32 dafsd_append_pull(struct dafsd_rqst *rq, const struct dafsd_use *use)
{
	struct dafs_append_direct_args *args = &rq->args.append_direct;
	const struct dafs_seq bufs = { .count = 1, .elems = &args->write_data_buffer };
	u32 status;

	status = dafsd_io_check_bufs(rq, &bufs, args->byte_count);
	if (!status && args->byte_count)
		status = dafsd_io_alloc(rq, args->byte_count);
	return status ?: dafsd_io_pull(rq, &bufs, args->byte_count);
}

static u32 dafsd_append_direct(struct dafsd_rqst *rq, const struct dafsd_use *use)
{
	struct dafs_append_direct_args *args = &rq->args.append_direct;
	struct iov_iter iter;
	u32 status;

	status = dafsd_io_cksum_check(rq, args->byte_count, &args->direct_checksum);
	if (status)
		return status;
	iov_iter_bvec(&iter, ITER_SOURCE, rq->io.bv, rq->io.nr_bv, args->byte_count);
	return dafsd_append(use, &iter, args->stable_how, &rq->res.append);
}

/**
 * dafsd_prepare_append_direct() - APPEND_DIRECT: fetch the data
 * @rq: request
 *
 * Context: process context under the caller's credential; may sleep.
 * Return: DAFS status.
 */
u32 dafsd_prepare_append_direct(struct dafsd_rqst *rq)
{
	struct dafs_append_direct_args *args = &rq->args.append_direct;
	u32 status;

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
u32 dafsd_proc_append_direct(struct dafsd_rqst *rq)
{
	struct dafs_append_direct_args *args = &rq->args.append_direct;

	return dafsd_open_use(rq, &args->filehandle, &args->state_id,
			      DAFS_OPEN_SHARE_ACCESS_WRITE, dafsd_append_direct);
}
