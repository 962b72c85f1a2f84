// SPDX-License-Identifier: GPL-2.0
/*
 * Writing at the end of a file, wherever that is: O_APPEND and RWF_APPEND.
 *
 * Where the file ends is for the server to say, which has other clients.  So an
 * append does not go through the page cache, which would have to guess: it is
 * an APPEND of its own, all of it or nothing, and the response says where the
 * data stands.  The draft makes it stable before the response (E-101), so that
 * nothing is kept here to be sent again.
 *
 *  1. Data of our own that may have made the file longer goes first.
 *  2. The record is copied and sent.  One that is larger than an append may be
 *     is written in part, as write(2) may: what it says it has written is in
 *     the file in one piece.
 *  3. Folios that hold what is now inside the file, as zeroes behind its end,
 *     are dropped, and the size is set.
 *
 * If the response is lost, nobody here knows whether the record is in the file,
 * nor can it be sent again: the program is told EIO.
 */
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include "dafs_fs.h"

/* Failures of one append that are nobody's fault in particular. */
#define DAFS_APPEND_TRIES	4

/* Before folios that are used all the time are left to dafs_zap_mapping(). */
#define DAFS_DROP_TRIES		3

/* A limit is about the real size, as near as one can ask for it. */
static ssize_t dafs_append_checks(struct kiocb *iocb, struct iov_iter *from)
{
	struct inode *inode = file_inode(iocb->ki_filp);
	int err = 0;

	if (rlimit(RLIMIT_FSIZE) != RLIM_INFINITY)
		err = dafs_revalidate(inode, iocb->ki_filp->f_cred, true);
	return err ?: generic_write_checks(iocb, from);
}

/*
 * Drop the folios of [@start, @end).  The caller holds i_rwsem and the
 * invalidate lock, so that none comes back; one that is written to through a
 * mapping in between is written back and dropped again.
 */
static void dafs_append_drop(struct inode *inode, loff_t start, loff_t end)
{
	struct address_space *mapping = inode->i_mapping;
	unsigned int tries = DAFS_DROP_TRIES;

	if (!mapping->nrpages)
		return;
	start = round_down(start, PAGE_SIZE);
	while (tries--) {
		filemap_fdatawrite_range(mapping, start, end - 1);
		filemap_fdatawait_range_keep_errors(mapping, start, end - 1);
		if (dafs_commit_inode(inode))
			break;
		if (!invalidate_inode_pages2_range(mapping, start >> PAGE_SHIFT,
						   (end - 1) >> PAGE_SHIFT))
			return;
	}
	set_bit(DAFS_INO_ZAP, &DAFS_I(inode)->flags);
}

/*
 * An answer that is older than the append must not set the size back, so the change
 * is noted first; one that is being applied now comes before the new size.
 */
static void dafs_append_set_size(struct inode *inode, loff_t end)
{
	struct dafs_inode *di = DAFS_I(inode);

	dafs_own_write(di);
	spin_lock(&di->lock);
	spin_lock(&inode->i_lock);
	dafs_remote_size_raise(netfs_inode(inode), end);
	if (end > i_size_read(inode))
		i_size_write(inode, end);
	spin_unlock(&inode->i_lock);
	spin_unlock(&di->lock);
}

/*
 * The server has appended at @pos what it believed the file to end at; here it
 * was @known.  If these differ, others have changed the file.
 */
static void dafs_appended(struct inode *inode, loff_t known, loff_t pos, size_t len)
{
	struct address_space *mapping = inode->i_mapping;

	inode_lock(inode);
	filemap_invalidate_lock(mapping);
	dafs_append_drop(inode, min(known, pos), pos + len);
	dafs_append_set_size(inode, pos + len);
	filemap_invalidate_unlock(mapping);
	inode_unlock(inode);
	if (pos != known)
		set_bit(DAFS_INO_ZAP, &DAFS_I(inode)->flags);
}

/* Not executed, for a reason that may go away: may it be sent again? */
static bool dafs_append_again(struct dafs_sb_info *sbi, struct dafs_open_state *os,
			      struct dafs_append *append, u32 status)
{
	if (dafs_status_lost_state(status))
		return !dafs_open_state_recover(os, &append->state_id);
	if (status == DAFSERR_CHKSUM)
		return true;
	if (append->no_direct ||
	    (status != DAFSERR_NOTSUPP && status != DAFSERR_RDMA_READ_CHANNEL_UNUSABLE))
		return false;
	set_bit(DAFS_SB_NO_APPEND_DIRECT, &sbi->flags);
	return true;
}

static int dafs_append_send(struct inode *inode, struct dafs_open_state *os,
			    struct dafs_append *append, struct dafs_append_res *res)
{
	struct dafs_sb_info *sbi = DAFS_SB(inode->i_sb);
	unsigned int tries = DAFS_APPEND_TRIES;
	u32 status;
	int err;

	do {
		dafs_open_state_id(os, &append->state_id);
		append->no_direct = test_bit(DAFS_SB_NO_APPEND_DIRECT, &sbi->flags);
		err = dafs_append(sbi->ses, os->cred, append, res, &status);
	} while (err && --tries && dafs_append_again(sbi, os, append, status));
	switch (err) {
	case -EREMOTEIO:
	case -EBADMSG:
		return -EIO;
	case -EAGAIN:
		/* a lock or reservation of others, not a matter of O_NONBLOCK */
		return -EACCES;
	default:
		return err;
	}
}

static u64 dafs_append_known_size(struct inode *inode)
{
	u64 known;

	spin_lock(&inode->i_lock);
	known = netfs_inode(inode)->remote_i_size;
	spin_unlock(&inode->i_lock);
	return known;
}

static ssize_t dafs_append_data(struct kiocb *iocb, void *data, size_t len)
{
	struct inode *inode = file_inode(iocb->ki_filp);
	struct dafs_append append = {
		.fh = DAFS_I(inode)->fh,
		.stable = iocb->ki_flags & IOCB_SYNC ? DAFS_FILE_SYNC : DAFS_DATA_SYNC,
		.data = data,
		.len = len,
		.inline_max = READ_ONCE(dafs_inline_max),
	};
	u64 known = dafs_append_known_size(inode);
	struct dafs_append_res res;
	int err;

	err = dafs_append_send(inode, iocb->ki_filp->private_data, &append, &res);
	if (err) {
		dafs_own_change(DAFS_I(inode));
		return err;
	}
	dafs_appended(inode, known, res.offset, append.len);
	iocb->ki_pos = res.offset + append.len;
	return append.len;
}

static ssize_t dafs_append_copy(struct kiocb *iocb, struct iov_iter *from)
{
	struct dafs_sb_info *sbi = DAFS_SB(file_inode(iocb->ki_filp)->i_sb);
	size_t len = min_t(size_t, iov_iter_count(from), sbi->max_append);
	ssize_t ret = -EFAULT;
	void *data;

	data = kvmalloc(len, GFP_KERNEL);
	if (!data)
		return -ENOMEM;
	len = copy_from_iter(data, len, from);
	if (len)
		ret = dafs_append_data(iocb, data, len);
	kvfree(data);
	return ret;
}

/**
 * dafs_append_iter() - write at the end of a file
 * @iocb: IOCB_APPEND is set; ki_pos becomes the position behind the data
 * @from: the data, not empty
 *
 * Those of one mount queue, together with buffered writers, so that what one
 * knows of the size is good until he has set it.
 *
 * Context: may sleep.
 * Return: bytes written, and stable, or a negative errno; with -EIO the data may
 * be in the file nevertheless.
 */
ssize_t dafs_append_iter(struct kiocb *iocb, struct iov_iter *from)
{
	struct inode *inode = file_inode(iocb->ki_filp);
	struct dafs_inode *di = DAFS_I(inode);
	ssize_t ret;

	dafs_zap_mapping(inode);
	if (mutex_lock_killable(&di->write_lock))
		return -ERESTARTSYS;
	ret = dafs_append_checks(iocb, from);
	if (ret > 0) {
		dafs_write_back(inode);
		ret = dafs_commit_inode(inode) ?: dafs_append_copy(iocb, from);
	}
	mutex_unlock(&di->write_lock);
	return ret;
}
