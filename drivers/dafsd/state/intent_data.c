// SPDX-License-Identifier: GPL-2.0
/*
 * Changes of data and of attributes that are executed exactly once: appends, WRITEs that are to be
 * stable, and SETATTR.  See intent.c.
 *
 * All writes hold their bytes, so that what a stable one has written is there to be found until its
 * outcome is durable.  An append knows its bytes only when it has the lock of the file, which it
 * must not have while it waits.  SETATTR holds everything from the new size on; if it sets more
 * than the size, all bytes of a file, because writing changes times and modes, too, or all names
 * of a directory.
 */
#include <linux/crc32c.h>
#include <linux/fs.h>
#include <linux/mount.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include <linux/unaligned.h>
#include <linux/dafs/codec.h>
#include <linux/dafs/status.h>
#include "../export/export.h"
#include "../request/request.h"
#include "../session/respcache.h"
#include "../session/server.h"
#include "../vfs/fh.h"
#include "../vfs/vfs.h"
#include "intent_impl.h"

/* Return: true if others are to wait, and @hold is filled; it is empty otherwise. */
static bool dafsd_data_hold(struct dafsd_hold *hold, const struct inode *inode, u64 first,
			    u64 last)
{
	*hold = (struct dafsd_hold){};
	if (!dafsd_intents_on())
		return false;
	hold->inode = inode;
	hold->first = first;
	hold->last = last;
	return true;
}

/* Return: false without memory. */
static bool dafsd_data_sum(struct dafsd_witness *w, const struct iov_iter *data)
{
	loff_t pos = le64_to_cpu(w->offset);
	struct iov_iter iter = *data;
	u8 *part = kmalloc(DAFSD_SUM_SIZE, GFP_KERNEL);
	u8 *sum = w->data;
	size_t n;

	if (!part)
		return false;
	while ((n = copy_from_iter(part, DAFSD_SUM_SIZE - dafsd_sum_offset(pos), &iter))) {
		put_unaligned_le32(crc32c(0, part, n), sum);
		sum += sizeof(__le32);
		pos += n;
	}
	kfree(part);
	return true;
}

/* Record that data is about to be written.  Return: as dafsd_intent_record(). */
static dafs_status_t dafsd_intent_data(struct dafsd_rqst *rq, struct inode *inode, loff_t offset,
				       const struct iov_iter *data)
{
	u32 sums = dafsd_witness_sums(offset, iov_iter_count(data));
	struct dafsd_witness *w;

	if (!dafsd_intent_wanted(rq))
		return DAFS_STATUS_OK;
	if (!dafsd_persist_possible(inode))
		return dafsd_intent_record(rq, NULL);
	w = dafsd_witness_alloc(sums * sizeof(__le32), 0);
	if (!w)
		return DAFSERR_RESOURCE;
	w->offset = cpu_to_le64(offset);
	w->length = cpu_to_le32(iov_iter_count(data));
	if (!dafsd_persist_identify(inode, &w->dir) || !dafsd_data_sum(w, data)) {
		kfree(w);
		return DAFSERR_RESOURCE;
	}
	return dafsd_intent_record(rq, w);
}

/* Record the outcome, if there is an intent. */
static void dafsd_intent_outcome(struct dafsd_rqst *rq, dafs_status_t status)
{
	if (rq->response && rq->response->intended)
		dafsd_intent_record_outcome(rq, status);
}

/**
 * dafsd_intent_try_append() - hold the bytes behind the end of a file
 * @inode: the file
 * @len: how many
 * @hold: for them; zeroed, or as dafsd_hold_await() has left it
 *
 * Context: holds dafsd_file.append exclusively, so that no other client changes the size.
 * Return: false if a request holds some of them, or came before: the caller gives up that lock
 * before dafsd_hold_await(), and tries again.
 */
bool dafsd_intent_try_append(struct inode *inode, size_t len, struct dafsd_hold *hold)
{
	loff_t size = i_size_read(inode);

	/* the end may have moved meanwhile */
	if (hold->inode)
		return dafsd_hold_move(hold, size, size + len - 1);
	return !dafsd_data_hold(hold, inode, size, size + len - 1) || dafsd_hold_queue(hold);
}

/**
 * dafsd_intent_append() - data is about to be appended
 * @rq: the request
 * @inode: the file
 * @data: what
 *
 * Context: may sleep for the store; holds dafsd_file.append exclusively.
 * Return: OK, and dafsd_intent_appended() is to be called; RESOURCE, or IO if the store cannot be
 * written: nothing is to be appended.
 */
dafs_status_t dafsd_intent_append(struct dafsd_rqst *rq, struct inode *inode,
				  const struct iov_iter *data)
{
	return dafsd_intent_data(rq, inode, i_size_read(inode), data);
}

/**
 * dafsd_intent_appended() - data was appended, and is stable; or none of it is in the file
 * @rq: the request, after dafsd_intent_append()
 * @status: OK, or why not
 * @offset: where it is
 *
 * Context: may sleep for the store; without OK holds dafsd_file.append exclusively.
 */
void dafsd_intent_appended(struct dafsd_rqst *rq, dafs_status_t status, u64 offset)
{
	struct dafsd_witness *w = rq->response ? rq->response->witness : NULL;

	/* a program of the server may have come first; of EXECUTED nothing is compared */
	if (!status && w)
		w->offset = cpu_to_le64(offset);
	dafsd_intent_outcome(rq, status);
}

/**
 * dafsd_intent_write() - data is about to be written at an offset
 * @rq: the request
 * @inode: the file
 * @offset: where
 * @data: what
 * @stable: it is answered when it is stable
 * @hold: for its bytes
 *
 * Context: may sleep, also for the store; has no lock of the file.
 * Return: OK, and dafsd_intent_written() is to be called, also if it cannot be recorded.  Another
 * status only if a test has the server crash.
 */
dafs_status_t dafsd_intent_write(struct dafsd_rqst *rq, struct inode *inode, u64 offset,
				 const struct iov_iter *data, bool stable, struct dafsd_hold *hold)
{
	dafs_status_t status = DAFS_STATUS_OK;

	*hold = (struct dafsd_hold){};
	if (!iov_iter_count(data) ||
	    !dafsd_data_hold(hold, inode, offset, offset + iov_iter_count(data) - 1))
		return DAFS_STATUS_OK;
	dafsd_hold_take(hold);
	if (stable)
		status = dafsd_intent_data(rq, inode, offset, data);
	/* what becomes of it may stay unknown, as of other WRITEs; its data must not be lost */
	if (!READ_ONCE(dafsd_intent_crash))
		return DAFS_STATUS_OK;
	if (status)
		dafsd_hold_end(hold);
	return status;
}

/**
 * dafsd_intent_release() - a WRITE or SETATTR has ended
 * @rq: the request, after dafsd_intent_write() or dafsd_intent_setattr()
 * @status: OK, and if there is an intent the change is stable; or why it has failed
 * @hold: what it holds; others may change that now
 *
 * Context: may sleep for the store; has no write access to a file system.
 */
void dafsd_intent_release(struct dafsd_rqst *rq, dafs_status_t status, struct dafsd_hold *hold)
{
	dafsd_intent_outcome(rq, status);
	dafsd_hold_end(hold);
}

/**
 * dafsd_intent_written() - a WRITE has ended
 * @rq: the request, after dafsd_intent_write()
 * @status: OK, and if there is an intent the data is stable; or why it has failed
 * @count: bytes that were written, if OK; may be less than was asked for
 * @hold: what it holds; others may change that now
 *
 * Context: may sleep for the store; has no write access to a file system.
 */
void dafsd_intent_written(struct dafsd_rqst *rq, dafs_status_t status, u32 count,
			  struct dafsd_hold *hold)
{
	struct dafsd_witness *w = rq->response ? rq->response->witness : NULL;

	/* it is EXECUTED then, so that nothing is compared */
	if (!status && w)
		w->length = cpu_to_le32(count);
	dafsd_intent_release(rq, status, hold);
}

/*
 * @w: set to the witness; NULL if there is nothing to find the object by
 *
 * Return: OK; or RESOURCE without memory.
 */
static dafs_status_t dafsd_attrs_describe(const struct inode *inode, const struct dafs_fattr *attr,
					  u64 which, struct dafsd_witness **w)
{
	struct dafs_buf buf = { .swab = IS_ENABLED(CONFIG_CPU_BIG_ENDIAN) };
	struct dafs_fattr wanted = *attr;

	*w = NULL;
	if (!dafsd_persist_possible(inode))
		return DAFS_STATUS_OK;
	wanted.included = which;
	wanted.valid = which;
	buf.len = dafs_fattr_size(&wanted);
	*w = dafsd_witness_alloc(buf.len, 0);
	if (!*w)
		return DAFSERR_RESOURCE;
	buf.base = (*w)->data;
	(*w)->ctime = dafsd_witness_ctime(inode);
	if (dafsd_persist_identify(inode, &(*w)->dir) && dafs_encode_fattr(&buf, &wanted) >= 0)
		return DAFS_STATUS_OK;
	kfree(*w);
	*w = NULL;
	return DAFS_STATUS_OK;
}

/**
 * dafsd_intent_setattr() - attributes are about to be set
 * @rq: the request
 * @fh: the object
 * @attr: the attributes, with their values
 * @which: DAFS_FATTR_*: those that are to be set
 * @hold: for what they are about
 *
 * Context: may sleep, also for the store; has no lock of the file, nor write access to a file
 * system.
 * Return: OK, and dafsd_intent_release() is to be called; otherwise nothing is to be set: RESOURCE;
 * IO if the store cannot be written; ROFS, or another status, if the caller may not set the first
 * of them.
 */
dafs_status_t dafsd_intent_setattr(struct dafsd_rqst *rq, const struct dafsd_fh *fh,
				   const struct dafs_fattr *attr, u64 which,
				   struct dafsd_hold *hold)
{
	/* with the byte before, lest an append be under way that makes the file as large */
	u64 first = which == DAFS_FATTR_OBJECT_SIZE ? max(attr->object_size, 1) - 1 : 0;
	struct dafsd_witness *w;
	dafs_status_t status = DAFS_STATUS_OK;

	*hold = (struct dafsd_hold){};
	if (!which || !dafsd_intents_on())
		return DAFS_STATUS_OK;
	/* others do not have to wait for what is refused */
	if (dafsd_fh_is_pseudo(fh) || READ_ONCE(fh->exp->read_only) ||
	    __mnt_is_readonly(fh->exp->path.mnt))
		return DAFSERR_ROFS;
	/* other file systems may have rules of their own, and nothing is recorded of them */
	if (dafsd_persist_possible(dafsd_fh_inode(fh)))
		status = dafsd_fattr_may_set(fh->dentry, attr, which);
	if (status || !dafsd_data_hold(hold, dafsd_fh_inode(fh), first, U64_MAX))
		return status;
	dafsd_hold_take(hold);
	if (!dafsd_intent_wanted(rq))
		return DAFS_STATUS_OK;
	status = dafsd_attrs_describe(hold->inode, attr, which, &w) ?: dafsd_intent_record(rq, w);
	if (status)
		dafsd_hold_end(hold);
	return status;
}

/**
 * dafsd_intent_hold_all() - hold all bytes and attributes of a file, for an OPEN that empties it
 * @inode: the file
 * @hold: for them; dafsd_hold_end() is to be called
 *
 * OPEN is not recorded.
 *
 * Context: may sleep; has no lock of the file, nor write access to a file system.
 */
void dafsd_intent_hold_all(const struct inode *inode, struct dafsd_hold *hold)
{
	if (dafsd_data_hold(hold, inode, 0, U64_MAX))
		dafsd_hold_take(hold);
}
