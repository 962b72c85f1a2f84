// SPDX-License-Identifier: GPL-2.0
/*
 * Appending (4.2.1.2, 6.5.3, 6.5.4): all of the data at the end of the file, or
 * none of it (E-103).
 *
 * All data has arrived before the first byte is written.  The file system finds the end of
 * the file and writes there under its own lock, so no other write, not even of a local
 * program, can come between.  If the write stops half-way for lack of space, the file is
 * truncated to its former length.  A lock keeps other requests from writing behind the
 * partial data until then.  If a local program has written behind it, the partial data
 * stays in the file.
 *
 * After the write, the append waits for the disk without that lock, so that the appends of
 * several clients become stable together.  If this fails, other appends may already follow
 * in the file, which can only be truncated together with them.  So appends depend on each
 * other:
 *
 *  1. Each append syncs all appended data before it that is not known to be stable.  When
 *     an append is answered OK, those before it are stable, whatever their own sync
 *     returns.
 *  2. An append that fails also removes all appends behind it; none of these has been
 *     answered yet.
 *  3. After an error, new appends are answered DELAY until all that are in progress have
 *     ended.  While appends are in progress, a new one is also answered DELAY if other data
 *     was written behind them, because that data must not be removed.
 */
#include <linux/pagemap.h>
#include <linux/uio.h>
#include <linux/wait_bit.h>
#include <linux/dafs/status.h>
#include "../session/peer.h"
#include "../state/file.h"
#include "../state/intent.h"
#include "../state/open.h"
#include "../state/persist.h"
#include "data.h"

/**
 * dafsd_write_begin() - exclude appends while data is written at an offset
 * @use: the file; dafsd_write_end() ends it
 *
 * Context: may sleep.
 */
void dafsd_write_begin(const struct dafsd_use *use)
{
	down_read(&use->file->append);
}

/**
 * dafsd_write_end() - allow appends again
 * @use: the file
 */
void dafsd_write_end(const struct dafsd_use *use)
{
	up_read(&use->file->append);
}

/*
 * Truncate the file to remove [@start, @end), unless data was written behind it.  The
 * caller holds the append lock.
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
	/* after a crash it would be there again, though it was answered that it is not */
	err = err ?: vfs_fsync(filp, 0);
	if (err)
		pr_warn_ratelimited("dafsd: part of a failed append stays in a file: %d\n", err);
}

/*
 * A short write does not return the reason.  Writing the rest returns the error, or
 * succeeds if there is room again.  [@begin, @end) is set to the range that was written.
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
		/* a local program has appended between the two writes */
		if (n > 0 && pos - n != *end) {
			dafsd_append_cut(use->filp, pos - n, pos);
			n = -ENOSPC;
		}
		if (n > 0)
			*end = pos;
	}
	if (n <= 0)
		return n ?: -ENOSPC;
	/* the VFS silently truncates the iterator at the maximum file size */
	return *end - *begin < len ? -EFBIG : 0;
}

/**
 * struct dafsd_appended - an append that is written but not yet stable
 * @hold: its bytes
 * @begin: offset of its data in the file
 * @end: offset behind its data
 * @from: start of the data that must become stable with it
 * @since: from dafsd_sync_begin()
 */
struct dafsd_appended {
	struct dafsd_hold hold;
	loff_t begin;
	loff_t end;
	loff_t from;
	errseq_t since;
};

/* May another append join those in progress?  Not if one of them has failed or will fail. */
static bool dafsd_appends_open(const struct dafsd_appends *all, const struct file *filp)
{
	return !all->nr || (all->cut == LLONG_MAX &&
			    i_size_read(file_inode(filp)) == all->end &&
			    !filemap_check_wb_err(filp->f_mapping, all->since));
}

static void dafsd_append_join(struct dafsd_appends *all, struct dafsd_appended *own)
{
	if (!all->nr++) {
		all->since = own->since;
		all->from = own->begin;
		all->cut = LLONG_MAX;
		all->gap = false;
	} else if (own->begin != all->end) {
		/* a local program has appended after the size was checked */
		all->gap = true;
	}
	all->end = own->end;
	own->from = all->from;
}

/* A disk may fail with ETIMEDOUT: the client must not repeat an append that may be in the file. */
static dafs_status_t dafsd_append_status(const struct dafsd_appended *own, int err)
{
	dafs_status_t status = dafs_errno_to_status(err);

	return status == DAFSERR_DELAY && own->end > own->begin ? DAFSERR_IO : status;
}

/* Exclude writes, and hold the bytes behind the end of the file. */
static void dafsd_append_begin(const struct dafsd_use *use, size_t len, struct dafsd_hold *hold)
{
	struct dafsd_file *file = use->file;

	down_write(&file->append);
	while (!dafsd_intent_try_append(file->inode, len, hold)) {
		up_write(&file->append);
		dafsd_hold_await(hold);
		down_write(&file->append);
	}
}

static dafs_status_t dafsd_append_data(struct dafsd_rqst *rq, const struct dafsd_use *use,
				       struct iov_iter *iter, struct dafs_verifier *verifier,
				       struct dafsd_appended *own)
{
	struct dafsd_file *file = use->file;
	struct file *filp = use->filp;
	dafs_status_t status;
	int err;

	/* what has to be undone is undone, so that the end of the file is known */
	status = dafsd_persist_io(use, i_size_read(file->inode), iov_iter_count(iter));
	if (status)
		return status;
	dafsd_append_begin(use, iov_iter_count(iter), &own->hold);
	status = dafsd_persist_append(use, iov_iter_count(iter));
	if (status)
		goto unlock;
	/* before the check, so that an error that the check misses fails this append */
	own->since = dafsd_sync_begin(filp);
	if (!dafsd_appends_open(&file->appends, filp)) {
		status = dafs_errno_to_status(-EAGAIN);
		goto unlock;
	}
	status = dafsd_intent_append(rq, file->inode, iter);
	if (status)
		goto unlock;
	dafsd_verifier_get(use->exp, verifier);
	err = dafsd_append_all(use, iter, &own->begin, &own->end);
	if (!err)
		dafsd_append_join(&file->appends, own);
	else if (own->begin < own->end)
		dafsd_append_cut(filp, own->begin, own->end);
	status = dafsd_append_status(own, err);
	/* before others may append there: see rule 3 of state/intent.c */
	if (status)
		dafsd_intent_appended(rq, status, own->begin);
unlock:
	up_write(&file->append);
	return status;
}

static void dafsd_append_part(struct dafsd_appends *all)
{
	WRITE_ONCE(all->nr, all->nr - 1);
	/* pairs with the wait of an AUTORECOVERY lock */
	smp_mb();
	wake_up_var(&all->nr);
}

/* @err: result of the sync.  Return: the result of the append. */
static int dafsd_append_result(struct dafsd_appends *all, const struct dafsd_appended *own,
			       struct file *filp, int err)
{
	dafsd_append_part(all);
	if (own->begin >= all->cut)
		return err ?: -EIO;
	if (!err) {
		all->from = max(all->from, own->end);
		return 0;
	}
	if (own->end <= all->from)
		return 0;
	/* remove the data that is not stable, so that the client can append it again */
	if (!all->gap) {
		dafsd_append_cut(filp, own->begin, all->end);
		all->end = own->begin;
	}
	all->cut = own->begin;
	return err;
}

static dafs_status_t dafsd_append_sync(struct dafsd_rqst *rq, const struct dafsd_use *use,
				       const struct dafsd_appended *own, u32 stable_how)
{
	dafs_status_t status;
	int err;

	err = dafsd_sync(use->filp, own->from, own->end - 1, stable_how == DAFS_DATA_SYNC,
			 own->since);
	down_write(&use->file->append);
	err = dafsd_append_result(&use->file->appends, own, use->filp, err);
	status = dafsd_append_status(own, err);
	if (status)
		dafsd_intent_appended(rq, status, own->begin);
	up_write(&use->file->append);
	return status;
}

/**
 * dafsd_append() - append to a file
 * @rq: the request
 * @use: the file
 * @iter: the data
 * @stable_how: DAFS_DATA_SYNC or DAFS_FILE_SYNC
 * @res: filled
 *
 * Context: may sleep, for as long as the disk takes.
 * Return: OK, and the data is in the file and stable; or the status of the failure, and
 * none of it is in the file.
 */
dafs_status_t dafsd_append(struct dafsd_rqst *rq, const struct dafsd_use *use,
			   struct iov_iter *iter, u32 stable_how, struct dafs_append_res *res)
{
	struct dafsd_appended own = {};
	dafs_status_t status;

	res->committed = stable_how;
	if (!iov_iter_count(iter)) {
		dafsd_verifier_get(use->exp, &res->verifier);
		res->offset = i_size_read(file_inode(use->filp));
		return DAFS_STATUS_OK;
	}
	status = dafsd_append_data(rq, use, iter, &res->verifier, &own);
	if (!status)
		status = dafsd_append_sync(rq, use, &own, stable_how);
	if (!status)
		dafsd_intent_appended(rq, DAFS_STATUS_OK, own.begin);
	dafsd_hold_end(&own.hold);
	res->offset = own.begin;
	return status;
}
