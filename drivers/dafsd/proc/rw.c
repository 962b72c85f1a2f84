// SPDX-License-Identifier: GPL-2.0
/*
 * Reading, writing and COMMIT (6.5.8, 6.5.27, 6.5.28, 6.5.38, 6.5.39).
 *
 * Inline data is read directly into the response, and written directly from the request.
 * Direct reads send pages of the page cache where possible.  Other direct reads, and
 * direct writes, copy the data through pages of the request, see request/rdma.c.
 */
#include <linux/fsnotify.h>
#include <linux/uio.h>
#include <linux/dafs/status.h>
#include "../session/session.h"
#include "../export/export.h"
#include "../request/io.h"
#include "../request/request.h"
#include "../vfs/fh.h"
#include "../state/file.h"
#include "../state/intent.h"
#include "../state/open.h"
#include "../state/persist.h"
#include "../state/state.h"
#include "../data/data.h"
#include "proc.h"

/* Shorter reads are copied. */
#define DAFSD_BORROW_MIN	SZ_32K

/*
 * Reads at @offset into @iter.  The file size is checked after reading, and eof is set
 * only if all data up to the end of the file was read (E-99).
 */
static dafs_status_t dafsd_read(struct file *filp, struct iov_iter *iter, u64 offset,
				u32 *bytes_read, u32 *eof)
{
	u64 len = iov_iter_count(iter);
	loff_t pos = offset;
	ssize_t n = 0;

	*bytes_read = 0;
	if (offset < i_size_read(file_inode(filp))) {
		iov_iter_truncate(iter, min_t(u64, len, MAX_LFS_FILESIZE - offset));
		n = vfs_iter_read(filp, iter, &pos, 0);
		if (n < 0)
			return dafs_errno_to_status(n);
	}
	*bytes_read = n;
	*eof = offset + n >= i_size_read(file_inode(filp));
	return DAFS_STATUS_OK;
}

static dafs_status_t dafsd_read_inline(struct dafsd_rqst *rq, const struct dafsd_use *use)
{
	struct dafs_read_inline_args *args = &rq->args.read_inline;
	struct dafs_read_inline_res *res = &rq->res.read_inline;
	u32 room = min(rq->base.out.len, rq->ses->opts.max_response_size);
	dafs_status_t status;
	struct iov_iter iter;
	struct kvec kvec;

	kvec.iov_base = rq->base.out.base + DAFS_READ_INLINE_DATA;
	kvec.iov_len = min(args->byte_count, room - DAFS_READ_INLINE_DATA);
	status = dafsd_persist_io(use, args->offset, kvec.iov_len);
	if (status)
		return status;
	iov_iter_kvec(&iter, ITER_DEST, &kvec, 1, kvec.iov_len);
	res->read_data = NULL;
	return dafsd_read(use->filp, &iter, args->offset, &res->bytes_read, &res->eof);
}

/**
 * dafsd_proc_read_inline() - READ_INLINE (6.5.27)
 * @rq: request; the data goes where the encoder leaves room for it
 *
 * Context: process context under the caller's credential; may sleep.
 * Return: DAFS status.
 */
dafs_status_t dafsd_proc_read_inline(struct dafsd_rqst *rq)
{
	struct dafs_read_inline_args *args = &rq->args.read_inline;

	return dafsd_open_use(rq, &args->filehandle, &args->state_id,
			      DAFS_OPEN_SHARE_ACCESS_READ, dafsd_read_inline);
}

static dafs_status_t dafsd_read_copied(struct dafsd_rqst *rq, struct file *filp, u32 len)
{
	struct dafs_read_direct_res *res = &rq->res.read_direct;
	struct iov_iter iter;
	dafs_status_t status;

	status = dafsd_io_alloc(rq, len);
	if (status)
		return status;
	iov_iter_bvec(&iter, ITER_DEST, rq->io.bv, rq->io.nr_bv, len);
	return dafsd_read(filp, &iter, rq->args.read_direct.offset, &res->bytes_read, &res->eof);
}

static dafs_status_t dafsd_read_borrowed(struct dafsd_rqst *rq, struct file *filp, u32 len)
{
	struct dafs_read_direct_res *res = &rq->res.read_direct;
	u64 offset = rq->args.read_direct.offset;
	loff_t pos = offset;
	ssize_t n = 0;

	if (offset < i_size_read(file_inode(filp))) {
		len = min_t(u64, len, MAX_LFS_FILESIZE - offset);
		/* for security modules, and for programs that fill or check files on read */
		n = rw_verify_area(READ, filp, &pos, len) ?: dafsd_io_borrow(rq, filp, offset, len);
	}
	if (n < 0)
		return dafs_errno_to_status(n);
	/* vfs_iter_read() does this, splice_direct_to_actor() does not */
	fsnotify_access(filp);
	atomic64_add(n, &rq->ses->bytes_borrowed);
	res->bytes_read = n;
	res->eof = offset + n >= i_size_read(file_inode(filp));
	return DAFS_STATUS_OK;
}

/*
 * Small reads are cheaper to copy, and a checksum needs data that does not change.  The
 * data of a request without an open is copied as well: a share reservation may be granted
 * before the pages have been sent, and the client must not read what is written after that.
 */
static bool dafsd_read_may_borrow(const struct dafsd_rqst *rq, const struct file *filp, u32 len)
{
	return len >= DAFSD_BORROW_MIN && !rq->ses->opts.use_checksums &&
	       filp->f_op->splice_read &&
	       !dafsd_state_is_special(&rq->args.read_direct.state_id);
}

static dafs_status_t dafsd_read_direct(struct dafsd_rqst *rq, const struct dafsd_use *use)
{
	struct dafs_read_direct_args *args = &rq->args.read_direct;
	struct dafs_read_direct_res *res = &rq->res.read_direct;
	u32 len = min_t(u32, args->byte_count, DAFS_MAX_IO_SIZE);
	dafs_status_t status;

	status = dafsd_io_check_bufs(rq, &args->read_data_buffers, args->byte_count) ?:
		 dafsd_persist_io(use, args->offset, len);
	if (status)
		return status;
	if (dafsd_read_may_borrow(rq, use->filp, len))
		status = dafsd_read_borrowed(rq, use->filp, len);
	else
		status = dafsd_read_copied(rq, use->filp, len);
	if (status)
		return status;
	return dafsd_io_push(rq, &args->read_data_buffers, res->bytes_read,
			     &res->direct_checksum);
}

/**
 * dafsd_proc_read_direct() - READ_DIRECT (6.5.28)
 * @rq: request; the data leaves ahead of the response
 *
 * Context: process context under the caller's credential; may sleep.
 * Return: DAFS status.
 */
dafs_status_t dafsd_proc_read_direct(struct dafsd_rqst *rq)
{
	struct dafs_read_direct_args *args = &rq->args.read_direct;

	return dafsd_open_use(rq, &args->filehandle, &args->state_id,
			      DAFS_OPEN_SHARE_ACCESS_READ, dafsd_read_direct);
}

/* A disk may fail with ETIMEDOUT: the client must not repeat what others may have seen. */
static dafs_status_t dafsd_write_status(ssize_t written, int err)
{
	dafs_status_t status = dafs_errno_to_status(err);

	return status == DAFSERR_DELAY && written > 0 ? DAFSERR_IO : status;
}

/*
 * The verifier is read before writing, so that a later loss changes it.  For a stable
 * write the data is first written and then synced, as the kernel does for O_SYNC: an
 * error of the write loses no acknowledged data, an error of the sync may do so.
 */
static dafs_status_t dafsd_write_data(const struct dafsd_use *use, struct iov_iter *iter,
				      u64 offset, u32 stable_how, struct dafs_write_res *res)
{
	errseq_t since = dafsd_sync_begin(use->filp);
	dafs_status_t status;
	loff_t pos = offset;
	ssize_t n;
	int err = 0;

	dafsd_verifier_get(use->exp, &res->verifier);
	dafsd_write_begin(use);
	status = dafsd_persist_write(use, offset, iov_iter_count(iter));
	n = status ? 0 : dafsd_write_iter(use, iter, &pos, 0);
	dafsd_write_end(use);
	if (status)
		return status;
	if (n > 0 && stable_how != DAFS_UNSTABLE)
		err = dafsd_sync(use->filp, offset, pos - 1, stable_how == DAFS_DATA_SYNC, since);
	if (n < 0 || err)
		return dafsd_write_status(n, err ?: n);
	res->count = n;
	res->committed = stable_how;
	return DAFS_STATUS_OK;
}

static dafs_status_t dafsd_write(struct dafsd_rqst *rq, const struct dafsd_use *use,
				 struct iov_iter *iter, u64 offset, u32 stable_how)
{
	dafs_status_t status = dafsd_persist_io(use, offset, iov_iter_count(iter));
	struct dafsd_hold hold;

	if (!status)
		status = dafsd_intent_write(rq, use->file->inode, offset, iter,
					    stable_how != DAFS_UNSTABLE, &hold);
	if (status)
		return status;
	/* its lock may have been broken meanwhile */
	status = dafsd_persist_io(use, offset, iov_iter_count(iter)) ?:
		 dafsd_write_data(use, iter, offset, stable_how, &rq->res.write);
	dafsd_intent_written(rq, status, rq->res.write.count, &hold);
	return status;
}

static dafs_status_t dafsd_write_check(u64 offset, u32 byte_count, u32 stable_how)
{
	if (stable_how > DAFS_FILE_SYNC)
		return DAFSERR_INVAL;
	if (offset > MAX_LFS_FILESIZE || byte_count > MAX_LFS_FILESIZE - offset)
		return DAFSERR_FBIG;
	return DAFS_STATUS_OK;
}

static dafs_status_t dafsd_write_inline(struct dafsd_rqst *rq, const struct dafsd_use *use)
{
	struct dafs_write_inline_args *args = &rq->args.write_inline;
	struct kvec kvec = {
		.iov_base = (void *)args->data,
		.iov_len = args->byte_count,
	};
	struct iov_iter iter;

	iov_iter_kvec(&iter, ITER_SOURCE, &kvec, 1, kvec.iov_len);
	return dafsd_write(rq, use, &iter, args->offset, args->stable_how);
}

/**
 * dafsd_proc_write_inline() - WRITE_INLINE (6.5.38)
 * @rq: request
 *
 * Context: process context under the caller's credential; may sleep.
 * Return: DAFS status.
 */
dafs_status_t dafsd_proc_write_inline(struct dafsd_rqst *rq)
{
	struct dafs_write_inline_args *args = &rq->args.write_inline;
	dafs_status_t status;

	status = dafsd_write_check(args->offset, args->byte_count, args->stable_how);
	if (status)
		return status;
	return dafsd_open_use(rq, &args->filehandle, &args->state_id,
			      DAFS_OPEN_SHARE_ACCESS_WRITE, dafsd_write_inline);
}

/*
 * A request for more than MAX_WRITE bytes is a short write (E-100), but not with
 * checksums: the checksum covers all of the data, so a part of it cannot be verified.
 */
static dafs_status_t dafsd_write_pull(struct dafsd_rqst *rq, const struct dafsd_use *use)
{
	struct dafs_write_direct_args *args = &rq->args.write_direct;
	u32 len = min_t(u32, args->byte_count, DAFS_MAX_IO_SIZE);
	dafs_status_t status;

	if (len < args->byte_count && rq->ses->opts.use_checksums)
		return DAFSERR_WRITE_TOOBIG;
	status = dafsd_io_check_bufs(rq, &args->write_data_buffers, args->byte_count);
	if (!status && len)
		status = dafsd_io_alloc(rq, len);
	return status ?: dafsd_io_pull(rq, &args->write_data_buffers, len);
}

static dafs_status_t dafsd_write_direct(struct dafsd_rqst *rq, const struct dafsd_use *use)
{
	struct dafs_write_direct_args *args = &rq->args.write_direct;
	u32 len = min_t(u32, args->byte_count, DAFS_MAX_IO_SIZE);
	struct iov_iter iter;
	dafs_status_t status;

	status = dafsd_io_cksum_check(rq, len, &args->direct_checksum);
	if (status)
		return status;
	iov_iter_bvec(&iter, ITER_SOURCE, rq->io.bv, rq->io.nr_bv, len);
	return dafsd_write(rq, use, &iter, args->offset, args->stable_how);
}

/**
 * dafsd_prepare_write_direct() - WRITE_DIRECT: fetch the data
 * @rq: request
 *
 * Context: process context under the caller's credential; may sleep.
 * Return: DAFS status.
 */
dafs_status_t dafsd_prepare_write_direct(struct dafsd_rqst *rq)
{
	struct dafs_write_direct_args *args = &rq->args.write_direct;
	dafs_status_t status;

	status = dafsd_write_check(args->offset, args->byte_count, args->stable_how);
	if (status)
		return status;
	return dafsd_open_use(rq, &args->filehandle, &args->state_id,
			      DAFS_OPEN_SHARE_ACCESS_WRITE, dafsd_write_pull);
}

/**
 * dafsd_proc_write_direct() - WRITE_DIRECT (6.5.39)
 * @rq: request; the data was fetched
 *
 * Context: process context under the caller's credential; may sleep.
 * Return: DAFS status.
 */
dafs_status_t dafsd_proc_write_direct(struct dafsd_rqst *rq)
{
	struct dafs_write_direct_args *args = &rq->args.write_direct;

	return dafsd_open_use(rq, &args->filehandle, &args->state_id,
			      DAFS_OPEN_SHARE_ACCESS_WRITE, dafsd_write_direct);
}

/* Does the client expect not to read, or write?  0 means undecided, as 4 does (E-105). */
static bool dafsd_hint_negative(u32 part, u32 undecided)
{
	return part && part < undecided;
}

static dafs_status_t dafsd_cache_hint(struct dafsd_rqst *rq, struct dafsd_fh *fh)
{
	const struct dafs_cache_hint_args *args = &rq->args.cache_hint;
	u32 hint = args->cache_hint;

	if (args->access_pattern > DAFS_CACHE_HINT_DONTNEED ||
	    hint & ~(DAFS_HINT_PREFETCH | DAFS_HINT_READ | DAFS_HINT_WRITE))
		return DAFSERR_INVAL;
	if (!(hint & DAFS_HINT_PREFETCH) ||
	    (dafsd_hint_negative(hint & DAFS_HINT_READ, DAFS_HINT_READ_4) &&
	     dafsd_hint_negative(hint & DAFS_HINT_WRITE, DAFS_HINT_WRITE_4)))
		return DAFS_STATUS_OK;
	return DAFSERR_PREFETCH_NOT_SUPPORTED;
}

/**
 * dafsd_proc_cache_hint() - CACHE_HINT (6.5.6, E-105, E-106)
 * @rq: request
 *
 * Hints have no effect: caching is left to the page cache.  A request for a prefetch is
 * answered PREFETCH_NOT_SUPPORTED.
 *
 * Context: process context under the caller's credential; may sleep.
 * Return: DAFS status.
 */
dafs_status_t dafsd_proc_cache_hint(struct dafsd_rqst *rq)
{
	return dafsd_fh_use(rq, &rq->args.cache_hint.filehandle, dafsd_cache_hint);
}

/* The verifier is read after the data is written back, so that it shows all losses. */
static dafs_status_t dafsd_commit(struct dafsd_export *exp, struct file *filp, u64 offset,
				  u32 count, struct dafs_verifier *verifier)
{
	loff_t end = MAX_LFS_FILESIZE;
	int err;

	if (offset > MAX_LFS_FILESIZE)
		return DAFSERR_INVAL;
	if (count)
		end = offset + min_t(u64, count - 1, MAX_LFS_FILESIZE - offset);
	err = vfs_fsync_range(filp, offset, end, 0);
	if (err == -EINVAL)
		return DAFSERR_NOTSUPP;
	if (err)
		dafsd_verifier_change();
	dafsd_verifier_get(exp, verifier);
	return dafs_errno_to_status(err);
}

/**
 * dafsd_proc_commit() - COMMIT (6.5.8, E-102)
 * @rq: request
 *
 * Context: process context under the caller's credential; may sleep.
 * Return: DAFS status.
 */
dafs_status_t dafsd_proc_commit(struct dafsd_rqst *rq)
{
	struct dafs_commit_args *args = &rq->args.commit;
	struct dafsd_fh fh;
	struct file *filp;
	dafs_status_t status;

	status = dafsd_fh_find(rq, &args->filehandle, &fh);
	if (!status)
		status = dafsd_open_for_commit(rq, &fh, &filp);
	if (!status) {
		status = dafsd_commit(fh.exp, filp, args->offset, args->count,
				      &rq->res.commit.writeverf);
		dafsd_open_done(filp);
	}
	dafsd_fh_put(&fh);
	return status;
}
