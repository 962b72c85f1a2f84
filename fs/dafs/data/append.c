// SPDX-License-Identifier: GPL-2.0
/*
 * Writing at the end of a file, wherever that is: O_APPEND and RWF_APPEND.
 *
 * Only the server knows where the file ends, because other clients may append too.  So
 * an append bypasses the page cache: it is an APPEND request, executed as a whole or
 * not at all, and the response tells the offset of the data.  The data is stable before
 * the response (E-101), so nothing is kept here for a resend.
 *
 *  1.  Cached data that may have extended the file is written back first.
 *  2.  The record is copied and sent.  One that is larger than an append may be is
 *     written in part, as write(2) may: the bytes it returns are in the file in one
 *     piece.
 *  3.  Folios that hold zeroes where the file now has data are dropped, and the size is
 *     set.
 *
 * If the response is lost, the server is asked whether the record is in the file; where that cannot
 * tell, because it has restarted or has no response cache, the record must not be sent again, and
 * write(2) fails with EIO.
 */
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include "../state/deleg.h"
#include "../state/lock.h"
#include "data.h"

/* Limits are checked against the size as the server has it now. */
static ssize_t dafs_append_checks(struct kiocb *iocb, struct iov_iter *from)
{
	struct inode *inode = file_inode(iocb->ki_filp);
	int err = 0;

	if (rlimit(RLIMIT_FSIZE) != RLIM_INFINITY)
		err = dafs_revalidate(inode, iocb->ki_filp->f_cred, true);
	return err ?: generic_write_checks(iocb, from);
}

/*
 * The server has appended at @pos, its end of file; this client's was @known.  If they
 * differ, another client has changed the file.
 */
static void dafs_appended(struct inode *inode, loff_t known, loff_t pos, size_t len)
{
	loff_t from = min(known, pos), end = pos + len;
	struct dafs_inode *di = DAFS_I(inode);
	bool locked;

	inode_lock(inode);
	/* if the task is killed, dafs_zap_mapping() drops the folios later */
	locked = !dafs_invalidate_lock(inode, from, end);
	if (locked)
		dafs_drop_range(inode, from, end);
	if (!locked || pos != known)
		set_bit(DAFS_INO_ZAP, &di->flags);
	dafs_file_raise_size(inode, end);
	/* another client has truncated the file or appended to it */
	if (pos != known)
		set_bit(DAFS_INO_STALE, &di->flags);
	/* mark it again: a task that zapped it meanwhile may have read up to the old size */
	if (!locked)
		set_bit(DAFS_INO_ZAP, &di->flags);
	if (locked)
		filemap_invalidate_unlock(inode->i_mapping);
	inode_unlock(inode);
}

/* It has not been executed.  Return: 0 to send it again, or a negative errno. */
static int dafs_append_refused(struct dafs_sb_info *sbi, struct dafs_open_state *os,
			       struct dafs_append *append, dafs_status_t status, int err,
			       unsigned int number, unsigned int *delay_ms)
{
	switch (dafs_status_action(status)) {
	case DAFS_ACT_OPEN:
		if (dafs_open_state_broken(os, &append->state_id, status))
			return -EOWNERDEAD;
		return dafs_open_state_recover_retry(os, &append->state_id, delay_ms);
	case DAFS_ACT_INLINE:
		if (append->no_direct)
			return err;
		dafs_rdma_refuse(sbi, DAFS_RDMA_APPEND, number);
		return 0;
	default:
		return err;
	}
}

static int dafs_append_send(struct inode *inode, struct dafs_open_state *os,
			    struct dafs_append *append, struct dafs_append_res *res)
{
	struct dafs_sb_info *sbi = DAFS_SB(inode->i_sb);
	unsigned int delay_ms = 0, number;
	bool sent;
	dafs_status_t status;
	int err;

	do {
		dafs_open_state_id(os, &append->state_id);
		if (READ_ONCE(sbi->leaving))
			return -EIO;
		number = dafs_conn_number(sbi->clnt);
		append->no_direct = dafs_rdma_refused(sbi, DAFS_RDMA_APPEND);
		err = dafs_append(sbi->clnt, os->cred, append, res, &status);
		sent = !err;
		if (err == -EINPROGRESS)
			err = dafs_locks_await_answer(inode, &delay_ms);
		else if (err)
			err = dafs_append_refused(sbi, os, append, status, err, number,
						  &delay_ms);
	} while (!err && !sent);
	switch (err) {
	case -EREMOTEIO:
	case -EBADMSG:
		return -EIO;
	case -EAGAIN:
		/* a lock or share reservation of another client; EAGAIN would mean O_NONBLOCK */
		return -EACCES;
	default:
		return err;
	}
}

/* The locks that it relies on are looked at when the connection is there: it may be a new one. */
static int dafs_append_look(void *priv, const struct dafs_conn *conn)
{
	return dafs_locks_look(priv, conn);
}

static u64 dafs_append_known_size(struct inode *inode)
{
	u64 known;

	spin_lock(&inode->i_lock);
	known = netfs_inode(inode)->remote_i_size;
	spin_unlock(&inode->i_lock);
	return known;
}

/**
 * struct dafs_appending - an append under way
 * @work: sends it, if it is to outlive the task
 * @ref: one for the task, one for @work
 * @ended: completed at the end of @work
 * @parted: the task was killed, or @work has ended
 * @inode: the file; held by @work
 * @os: the open; its reference likewise
 * @append: the record
 * @res: filled
 * @err: the result
 */
struct dafs_appending {
	struct work_struct work;
	struct kref ref;
	struct completion ended;
	atomic_t parted;
	struct inode *inode;
	struct dafs_open_state *os;
	struct dafs_append append;
	struct dafs_append_res res;
	int err;
};

static void dafs_appending_free(struct kref *ref)
{
	struct dafs_appending *ap = container_of(ref, struct dafs_appending, ref);

	kvfree(ap->append.data);
	kfree(ap);
}

static void dafs_appending_run(struct dafs_appending *ap)
{
	ap->err = dafs_append_send(ap->inode, ap->os, &ap->append, &ap->res);
	if (ap->err)
		dafs_own_change(DAFS_I(ap->inode));
}

static void dafs_appending_work(struct work_struct *work)
{
	struct dafs_appending *ap = container_of(work, struct dafs_appending, work);
	struct inode *inode = ap->inode;
	unsigned int flags = memalloc_nofs_save();

	dafs_appending_run(ap);
	memalloc_nofs_restore(flags);
	/* if the task was killed, it does not record the change of the file as its own */
	dafs_own_change(DAFS_I(inode));
	dafs_write_part_ways(DAFS_I(inode), &ap->parted);
	/* first, so that the task that waits is the last user when it closes the file */
	dafs_open_state_put(ap->os, false);
	complete(&ap->ended);
	kref_put(&ap->ref, dafs_appending_free);
	dafs_inode_put_later(inode);
}

/*
 * If the task is killed, the server may execute it later, and what was written under a lock is
 * waited for before it is unlocked: dafs_direct_await().
 */
static int dafs_appending_wait(struct dafs_appending *ap)
{
	struct dafs_inode *di = DAFS_I(ap->inode);
	int err;

	/* cannot fail, the file is open */
	dafs_inode_hold(ap->inode);
	dafs_open_state_hold(ap->os);
	kref_get(&ap->ref);
	INIT_WORK(&ap->work, dafs_appending_work);
	queue_work(dafs_inode_clnt(ap->inode)->commit_wq, &ap->work);
	err = wait_for_completion_killable(&ap->ended);
	if (!err)
		return ap->err;
	atomic_inc(&di->left_writes);
	dafs_write_part_ways(di, &ap->parted);
	return err;
}

static int dafs_appending_do(struct dafs_appending *ap)
{
	/* a task that exits could not be killed while it waits */
	if (dafs_locks_any(ap->inode) && !dafs_task_exits())
		return dafs_appending_wait(ap);
	dafs_appending_run(ap);
	return ap->err;
}

static ssize_t dafs_append_data(struct kiocb *iocb, struct dafs_appending *ap)
{
	struct inode *inode = ap->inode;
	u64 known = dafs_append_known_size(inode);
	int err = dafs_appending_do(ap);

	/* it may yet be executed, and of a delegated file nobody else tells the size */
	if (err == -ERESTARTSYS || err == -EIO || err == -ETIMEDOUT)
		dafs_deleg_give_back_later(inode);
	if (err)
		return err;
	dafs_appended(inode, known, ap->res.offset, ap->append.len);
	iocb->ki_pos = ap->res.offset + ap->append.len;
	return ap->append.len;
}

static struct dafs_appending *dafs_appending_alloc(struct kiocb *iocb, size_t len)
{
	struct inode *inode = file_inode(iocb->ki_filp);
	struct dafs_appending *ap = kzalloc(sizeof(*ap), GFP_KERNEL);

	if (!ap)
		return NULL;
	kref_init(&ap->ref);
	init_completion(&ap->ended);
	ap->inode = inode;
	ap->os = iocb->ki_filp->private_data;
	ap->append = (struct dafs_append) {
		.fh = DAFS_I(inode)->fh,
		.stable = iocb->ki_flags & IOCB_SYNC ? DAFS_FILE_SYNC : DAFS_DATA_SYNC,
		.data = kvmalloc(len, GFP_KERNEL),
		.leave = &DAFS_SB(inode->i_sb)->leaving,
		.inline_max = READ_ONCE(dafs_inline_max),
		.look = dafs_append_look,
		.priv = inode,
	};
	if (ap->append.data)
		return ap;
	kfree(ap);
	return NULL;
}

static ssize_t dafs_append_copy(struct kiocb *iocb, struct iov_iter *from)
{
	struct dafs_sb_info *sbi = DAFS_SB(file_inode(iocb->ki_filp)->i_sb);
	size_t len = min_t(size_t, iov_iter_count(from), sbi->max_append);
	struct dafs_appending *ap = dafs_appending_alloc(iocb, len);
	ssize_t ret = -EFAULT;

	if (!ap)
		return -ENOMEM;
	ap->append.len = copy_from_iter((void *)ap->append.data, len, from);
	if (ap->append.len)
		ret = dafs_append_data(iocb, ap);
	kref_put(&ap->ref, dafs_appending_free);
	return ret;
}

/**
 * dafs_append_iter() - write at the end of a file
 * @iocb: IOCB_APPEND is set; ki_pos becomes the position behind the data
 * @from: the data, not empty
 *
 * Appends and buffered writes of this client to one file are serialized, so the size
 * does not change until the append has set it.
 *
 * Context: may sleep.
 * Return: bytes written, which are stable, or a negative errno; after -EIO the data may
 * be in the file or not.
 */
ssize_t dafs_append_iter(struct kiocb *iocb, struct iov_iter *from)
{
	struct inode *inode = file_inode(iocb->ki_filp);
	struct dafs_inode *di = DAFS_I(inode);
	ssize_t ret;

	ret = dafs_zap_mapping(inode);
	if (ret)
		return ret;
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
