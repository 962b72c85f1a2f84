// SPDX-License-Identifier: GPL-2.0
/*
 * Open files.  The netfs library moves the data; this file decides when attributes are
 * revalidated, which writers run in parallel, and when data is stable.
 */
#include <linux/filelock.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/splice.h>
#include <linux/uio.h>
#include "../data/data.h"
#include "../state/lock.h"
#include "../state/reserve.h"
#include "vfs.h"

/**
 * dafs_file_access() - what a file was opened for
 * @file: a regular file
 *
 * Context: any.
 * Return: DAFS_OPEN_SHARE_ACCESS_*.
 */
u32 dafs_file_access(const struct file *file)
{
	u32 access = 0;

	if (file->f_mode & FMODE_WRITE)
		access |= DAFS_OPEN_SHARE_ACCESS_WRITE;
	/* A file opened for ioctl only counts as a reader. */
	if ((file->f_mode & (FMODE_READ | FMODE_EXEC)) || !access)
		access |= DAFS_OPEN_SHARE_ACCESS_READ;
	return access;
}

/* An OPEN for reading does not check this, and an open for writing may exist (6.5.35). */
static int dafs_may_truncate(struct inode *inode, const struct file *file)
{
	if (!(file->f_flags & O_TRUNC) || (file->f_mode & (FMODE_WRITE | FMODE_CREATED)))
		return 0;
	return dafs_may(inode, file->f_cred, DAFS_ACCESS_MODIFY);
}

/*
 * Unstable data that kept the file size large is stable after the zap, so the size is
 * read again then.
 */
static int dafs_file_zap(struct inode *inode, struct file *file)
{
	int err;

	if (dafs_mapping_zapped(DAFS_I(inode)))
		return 0;
	err = dafs_zap_mapping(inode);
	if (err)
		return err;
	if (i_size_read(inode) <= READ_ONCE(netfs_inode(inode)->remote_i_size))
		return 0;
	return dafs_revalidate(inode, file->f_cred, true);
}

/**
 * dafs_file_opened() - finish open(2) of a regular file that is open at the server
 * @inode: the file
 * @file: open file; its private_data is the open, whose reference it takes over on
 *	success
 *
 * Its attributes are as new as the open.
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dafs_file_opened(struct inode *inode, struct file *file)
{
	int err = dafs_may_truncate(inode, file);

	file->f_mode |= FMODE_NOWAIT;
	if (!READ_ONCE(DAFS_SB(inode->i_sb)->opts.nocto))
		dafs_attr_uncertain(inode);
	return err ?: dafs_file_zap(inode, file);
}

/*
 * Always revalidates the attributes (unless nocto, or delegated), one half of close-to-open
 * consistency; dafs_file_flush() is the other.
 */
static int dafs_file_open(struct inode *inode, struct file *file)
{
	struct dafs_open_state *os;
	bool fresh = false, force;
	int err;

	/* To execute a file its user needs no read permission; the VFS has checked execute. */
	os = dafs_open_state_get(inode, file->f_path.dentry, dafs_file_access(file),
				 file->f_cred, file->f_flags & __FMODE_EXEC, &fresh);
	if (IS_ERR(os))
		return PTR_ERR(os);
	force = !READ_ONCE(DAFS_SB(inode->i_sb)->opts.nocto) &&
		!dafs_inode_delegated(DAFS_I(inode));
	err = fresh ? 0 : dafs_revalidate(inode, file->f_cred, force);
	if (!err)
		err = dafs_file_opened(inode, file);
	if (err) {
		dafs_open_state_leave(os, dafs_file_access(file));
		dafs_open_state_put(os, true);
		return err;
	}
	file->private_data = os;
	return 0;
}

/**
 * dafs_file_write_out() - make all written data stable, however long that takes
 * @inode: a regular file
 *
 * Errors stay in the mapping.
 *
 * Context: may sleep; a work item of this file system may call it, but one that closes files
 * may not.
 * Return: 0, or -ERESTARTSYS if the task is killed or exits before all is stable; the background
 * goes on.
 */
int dafs_file_write_out(struct inode *inode)
{
	struct dafs_inode *di = DAFS_I(inode);
	int err;

	atomic_inc(&di->flushing);
	filemap_fdatawrite(inode->i_mapping);
	filemap_fdatawait_keep_errors(inode->i_mapping);
	atomic_dec(&di->flushing);
	err = dafs_commit_inode(inode);
	if (!err)
		dafs_debt_pay(inode);
	return err;
}

/**
 * dafs_file_settle() - make all written data stable
 * @inode: a regular file
 *
 * Errors stay in the mapping.  If the server is down and this task is exiting, the background
 * does it.
 *
 * Context: may sleep.
 */
void dafs_file_settle(struct inode *inode)
{
	if (dafs_exits_while_down(dafs_inode_clnt(inode)))
		filemap_flush(inode->i_mapping);
	else
		dafs_file_write_out(inode);
}

/* Reads the attributes after our own writes, unless the server is down and this task is exiting. */
static void dafs_file_settle_attrs(struct file *file)
{
	struct inode *inode = file_inode(file);

	if (!dafs_exits_while_down(dafs_inode_clnt(inode)))
		dafs_own_change_settle(inode, file->f_cred);
}

/**
 * dafs_file_hand_over() - others may use a file that was delegated to this client
 * @inode: a regular file
 * @cred: whom to ask the server for
 * @idle: no program had it open; the caller may wait for this with the inode locked
 *
 * What is locked in it is locked at the server by now.  Writers in progress may not have seen
 * that, and write whole folios; they are waited for, so that what they write is written back
 * before others write next to it.  So are direct writes that their tasks do not wait for.
 *
 * Context: may sleep; a work queue.
 */
void dafs_file_hand_over(struct inode *inode, const struct cred *cred, bool idle)
{
	struct dafs_inode *di = DAFS_I(inode);

	dafs_attrs_were_ours(di);
	if (!idle) {
		mutex_lock(&di->write_lock);
		mutex_unlock(&di->write_lock);
	}
	dafs_direct_await(inode);
	if (!dafs_file_is_written(inode) || READ_ONCE(di->unstable_bytes))
		dafs_file_write_out(inode);
	dafs_debt_pay(inode);
	dafs_own_change_settle(inode, cred);
}

/**
 * dafs_file_discard() - what was written to a file that was delegated is of no use (6.6.4)
 * @inode: a regular file, which the server is going to truncate when it is handed over
 * @cred: whom to ask the server for
 * @stores: dafs_inode.stores when it said so
 *
 * What a program has locked is written all the same: it may not reckon with others.
 *
 * Context: may sleep; a work queue.
 */
void dafs_file_discard(struct inode *inode, const struct cred *cred, int stores)
{
	if (dafs_locks_any(inode))
		return;
	dafs_discard(inode, stores);
	/* it may be as long as what was discarded */
	dafs_revalidate(inode, cred, true);
}

/**
 * dafs_file_is_written() - has all cached data of a file been written?
 * @inode: a regular file
 *
 * Context: any.
 * Return: true if so, though perhaps unstably.
 */
bool dafs_file_is_written(const struct inode *inode)
{
	bool written = !mapping_tagged(inode->i_mapping, PAGECACHE_TAG_DIRTY) &&
		       !mapping_tagged(inode->i_mapping, PAGECACHE_TAG_WRITEBACK);

	/* before the caller looks what is unstable; pairs with dafs_unstable_add() */
	smp_rmb();
	return written;
}

/**
 * struct dafs_unwritten - a file that was left open with data that is not stable yet
 * @work: looks whether it is
 * @inode: the file; held by dafs_inode_hold()
 * @os: the open that the data is written by; the reference of the struct file, whose reservation
 *	it has, too
 * @drops: @work drops the data, because @os is breached
 * @reserves: it has a reservation, and so ends by itself
 */
struct dafs_unwritten {
	struct delayed_work work;
	struct inode *inode;
	struct dafs_open_state *os;
	bool drops;
	bool reserves;
};

/*
 * Does no other item without a reservation wait for the same open?  One is enough: what was written
 * before this is seen by its next look, which comes after dafs_unwritten_looks().
 */
static bool dafs_unwritten_is_first(const struct dafs_unwritten *left)
{
	return left->reserves || !atomic_xchg(&left->os->watched, 1);
}

static void dafs_unwritten_looks(const struct dafs_unwritten *left)
{
	/* a full barrier, as in dafs_unwritten_is_first() */
	if (!left->reserves)
		atomic_xchg(&left->os->watched, 0);
}

static void dafs_unwritten_end(struct dafs_unwritten *left)
{
	dafs_reserve_end(left->os, left, false);
	dafs_open_state_put(left->os, false);
	dafs_inode_put_later(left->inode);
	kfree(left);
}

/* To look waits for nothing, but to drop data may wait for the server, and for the inode. */
static void dafs_unwritten_queue(struct dafs_unwritten *left)
{
	struct dafs_client *clnt = dafs_inode_clnt(left->inode);
	bool first = !left->drops;

	left->drops = READ_ONCE(left->os->breached);
	queue_delayed_work(left->drops ? clnt->reserve_wq : clnt->end_wq, &left->work,
			   left->drops && first ? 0 : HZ);
}

/* Is there nothing left that a reservation may be lost before? */
static bool dafs_file_is_stable(const struct inode *inode)
{
	return dafs_file_is_written(inode) && !READ_ONCE(DAFS_I(inode)->unstable_bytes);
}

/* Does the dirty data belong to the user of a breached open?  Then none of it is written. */
static bool dafs_unwritten_is_all(struct dafs_unwritten *left)
{
	const struct cred *cred = dafs_writer_get(DAFS_I(left->inode));
	bool all = !cred_fscmp(cred, left->os->cred);

	put_cred(cred);
	return all;
}

/*
 * Without trying to write it, which is refused; programs that have stored to it since are told by
 * fsync(2).  Return: true if it was dropped.
 */
static bool dafs_unwritten_truncate(struct dafs_unwritten *left)
{
	struct address_space *mapping = left->inode->i_mapping;
	unsigned int flags;
	bool all = false;

	inode_lock(left->inode);
	if (dafs_size_lock(left->inode))
		goto unlock;
	all = dafs_unwritten_is_all(left);
	if (all) {
		flags = memalloc_nofs_save();
		if (mapping_tagged(mapping, PAGECACHE_TAG_DIRTY))
			mapping_set_error(mapping, -EIO);
		truncate_inode_pages(mapping, 0);
		memalloc_nofs_restore(flags);
		dafs_attrs_doubt(DAFS_I(left->inode));
	}
	mutex_unlock(&netfs_inode(left->inode)->wb_lock);
unlock:
	inode_unlock(left->inode);
	return all;
}

/*
 * As long as there is a breached open, no data of its user is written, so it must not stay because
 * other programs write all the time.  What they store through mappings is between what it has
 * written, and cannot be dropped by writing it first.
 *
 * Return: true if nothing is cached that was before.
 */
static bool dafs_unwritten_drop(struct dafs_unwritten *left)
{
	struct dafs_inode *di = DAFS_I(left->inode);

	set_bit(DAFS_INO_ZAP, &di->flags);
	if (dafs_zap_mapping(left->inode))
		return false;
	return dafs_mapping_zapped(di) || dafs_unwritten_truncate(left);
}

/*
 * What the flusher could not write, because the open is breached, is clean, but not stable: it is
 * to be dropped.
 */
static bool dafs_unwritten_is_done(struct dafs_unwritten *left)
{
	if (left->drops)
		return dafs_unwritten_drop(left);
	if (!dafs_file_is_stable(left->inode))
		return false;
	/* the open was breached before it was clean for that reason */
	smp_rmb();
	return !READ_ONCE(left->os->breached);
}

/* The flusher writes and commits what is not to be dropped. */
static void dafs_unwritten_work(struct work_struct *work)
{
	struct dafs_unwritten *left = container_of(to_delayed_work(work),
						   struct dafs_unwritten, work);
	const struct dafs_sb_info *sbi = DAFS_SB(left->inode->i_sb);

	dafs_unwritten_looks(left);
	if (!READ_ONCE(sbi->leaving) && !dafs_unwritten_is_done(left) &&
	    dafs_unwritten_is_first(left))
		dafs_unwritten_queue(left);
	else
		dafs_unwritten_end(left);
}

/*
 * Does a task close a file before its data is stable?  What could not be written, because the open
 * is breached, is clean and still cached: another open of the user might write it, if something is
 * stored beside it.
 */
static bool dafs_file_closes_early(struct inode *inode, struct dafs_open_state *os)
{
	if (READ_ONCE(os->breached))
		return true;
	return ((current->flags & (PF_EXITING | PF_KTHREAD)) || fatal_signal_pending(current)) &&
	       !dafs_file_is_stable(inode);
}

/*
 * A task that exits does not wait for its data to be written.  Without the open the server
 * might refuse it, so the CLOSE comes behind the data, and with it the end of the reservation
 * that the data relies on.  Or the server might take it, although that is lost: then a task that
 * has met an error does not leave it to another open either.
 *
 * Return: true if the background closes; false if there is no need, or no memory.
 */
static bool dafs_file_close_later(struct file *file)
{
	struct dafs_open_state *os = file->private_data;
	struct inode *inode = file_inode(file);
	struct dafs_unwritten *left;

	if (!(file->f_mode & FMODE_WRITE) || !dafs_file_closes_early(inode, os))
		return false;
	left = kmalloc(sizeof(*left), GFP_NOFS | __GFP_NOWARN);
	if (!left)
		return false;
	if (!dafs_inode_hold(inode)) {
		kfree(left);
		return false;
	}
	left->inode = inode;
	left->os = os;
	left->drops = false;
	left->reserves = dafs_reserve_pass(os, file, left);
	dafs_open_state_leave(os, dafs_file_access(file));
	INIT_DELAYED_WORK(&left->work, dafs_unwritten_work);
	if (dafs_unwritten_is_first(left))
		dafs_unwritten_queue(left);
	else
		dafs_unwritten_end(left);
	return true;
}

/*
 * Pages dirtied through a mapping after the last close(2) must still be written.  A work
 * item, as that of delayed_fput(), closes the files of all file systems of the machine one
 * by one, so there the CLOSE is left to the background.
 */
static int dafs_file_release(struct inode *inode, struct file *file)
{
	struct dafs_open_state *os = file->private_data;
	bool wait = !(current->flags & PF_WQ_WORKER);

	if (file->f_mode & FMODE_WRITE) {
		dafs_file_settle(inode);
		if (wait)
			dafs_file_settle_attrs(file);
	}
	if (dafs_file_close_later(file))
		return 0;
	dafs_reserve_end(os, file, wait);
	dafs_open_state_leave(os, dafs_file_access(file));
	dafs_open_state_put(os, wait);
	return 0;
}

/*
 * Writes everything back, so that the next open on any client sees it.  Then reads the
 * change attribute after our own writes, before other clients change it again.
 */
static int dafs_file_flush(struct file *file, fl_owner_t id)
{
	struct inode *inode = file_inode(file);
	errseq_t since;
	int err;

	if (!(file->f_mode & FMODE_WRITE))
		return 0;
	dafs_file_settle(inode);
	dafs_file_settle_attrs(file);
	if (dafs_reserve_lost(file->private_data, file))
		return -EIO;
	/*
	 * Marks the error as seen, so that later opens do not report it; a later
	 * fsync(2) of this struct file, which may be shared, still does.
	 */
	since = READ_ONCE(file->f_wb_err);
	err = errseq_check_and_advance(&file->f_mapping->wb_err, &since);
	/* what was written under a lock that is lost may have been undone */
	return err ?: dafs_locks_lost(inode) ? -EIO : 0;
}

static int dafs_file_fsync(struct file *file, loff_t start, loff_t end, int datasync)
{
	struct inode *inode = file_inode(file);
	struct dafs_inode *di = DAFS_I(inode);
	int err, err2, killed;

	atomic_inc(&di->flushing);
	err = file_write_and_wait_range(file, start, end);
	atomic_dec(&di->flushing);
	killed = dafs_commit_inode(inode);
	if (!killed)
		dafs_debt_pay(inode);
	err2 = file_check_and_advance_wb_err(file);
	/* others may have written it, or between it; or it may have been undone */
	if (dafs_reserve_lost(file->private_data, file) ||
	    (!err && !err2 && dafs_locks_lost(inode)))
		return -EIO;
	return err ?: err2 ?: killed;
}

/*
 * Write-back errors are reported by the error sequence, to tasks that have the file
 * open.  The flags of the mapping would report them to any next waiter.
 */
static void dafs_forget_errors(struct address_space *mapping)
{
	filemap_check_errors(mapping);
}

/*
 * What is under write-back is counted as unstable before that ends, and before the server
 * is known to have it, so look in this order.
 */
static bool dafs_direct_read_waits(struct inode *inode, loff_t pos, loff_t last)
{
	if (filemap_range_needs_writeback(inode->i_mapping, pos, last))
		return true;
	/* pairs with dafs_unstable_add(), for remote_i_size too, which the caller has read */
	smp_rmb();
	return READ_ONCE(DAFS_I(inode)->unstable_bytes);
}

/*
 * Data written before a direct read must be stable at the server before the read, in
 * case the server restarts.  Data beyond the range that extends the file must be there
 * too, or the server would report the end of file too early.
 */
static int dafs_direct_read_prepare(const struct kiocb *iocb, const struct iov_iter *to)
{
	loff_t last = iocb->ki_pos + iov_iter_count(to) - 1;
	struct inode *inode = file_inode(iocb->ki_filp);
	struct address_space *mapping = inode->i_mapping;
	bool longer = i_size_read(inode) > READ_ONCE(netfs_inode(inode)->remote_i_size);

	dafs_forget_errors(mapping);
	if (!longer && !dafs_direct_read_waits(inode, iocb->ki_pos, last))
		return 0;
	if (iocb->ki_flags & IOCB_NOWAIT)
		return -EAGAIN;
	if (longer)
		dafs_write_back(inode);
	else
		filemap_write_and_wait_range(mapping, iocb->ki_pos, last);
	return dafs_commit_inode(inode);
}

/* as sig_fatal(), without the access to the handlers that sparse warns about */
static bool dafs_signal_ends(int sig)
{
	/* only the current task can release its sighand */
	const struct sighand_struct *sighand = rcu_dereference_protected(current->sighand, true);

	return !sig_kernel_ignore(sig) && !sig_kernel_stop(sig) &&
	       sighand->action[sig - 1].sa.sa_handler == SIG_DFL;
}

/* All signals but those that end the process. */
static void dafs_signals_block(sigset_t *saved)
{
	sigset_t mask;
	int sig;

	sigemptyset(&mask);
	for (sig = 1; sig <= _NSIG; sig++)
		if (!dafs_signal_ends(sig))
			sigaddset(&mask, sig);
	sigprocmask(SIG_BLOCK, &mask, saved);
}

/*
 * The netfs library stops at any signal: write(2) is short, read(2) fails with EINTR.
 * Programs do not expect that of a file, so non-fatal signals are blocked until all of
 * @iter is done.
 */
static ssize_t dafs_uninterrupted(ssize_t (*io)(struct kiocb *iocb, struct iov_iter *iter),
				  struct kiocb *iocb, struct iov_iter *iter)
{
	ssize_t done, more;
	sigset_t saved;

	done = io(iocb, iter);
	if (likely(!signal_pending(current)) || fatal_signal_pending(current) ||
	    (done < 0 && done != -ERESTARTSYS) || !iov_iter_count(iter))
		return done;
	dafs_signals_block(&saved);
	more = io(iocb, iter);
	sigprocmask(SIG_SETMASK, &saved, NULL);
	return done > 0 ? done + max(more, 0) : more;
}

/*
 * Reads only valid cached data, without waiting or requests.  The lock is the one of
 * netfs_start_io_read().
 */
static ssize_t dafs_read_cached(struct kiocb *iocb, struct iov_iter *to)
{
	struct inode *inode = file_inode(iocb->ki_filp);
	struct dafs_inode *di = DAFS_I(inode);
	ssize_t ret = -EAGAIN;

	if (!dafs_attrs_fresh(di) || !dafs_mapping_zapped(di) || !inode_trylock_shared(inode))
		return -EAGAIN;
	if (!test_bit(NETFS_ICTX_ODIRECT, &di->netfs.flags)) {
		iocb->ki_flags |= IOCB_NOIO;
		ret = filemap_read(iocb, to, 0);
		iocb->ki_flags &= ~IOCB_NOIO;
	}
	inode_unlock_shared(inode);
	return ret;
}

static ssize_t dafs_read_direct(struct kiocb *iocb, struct iov_iter *to)
{
	int err = dafs_direct_read_prepare(iocb, to);

	return err ?: dafs_direct_read(iocb, to);
}

static ssize_t dafs_read(struct kiocb *iocb, struct iov_iter *to)
{
	struct inode *inode = file_inode(iocb->ki_filp);
	ssize_t ret;
	int err;

	if (iocb->ki_flags & IOCB_DIRECT)
		return dafs_read_direct(iocb, to);
	if (iocb->ki_flags & IOCB_NOWAIT)
		return dafs_read_cached(iocb, to);
	err = dafs_revalidate_mapping(inode, iocb->ki_filp->f_cred);
	if (err)
		return err;
	ret = netfs_file_read_iter(iocb, to);
	/* a lock is broken in these folios, but perhaps not in these bytes */
	return ret == -EOWNERDEAD ? dafs_read_direct(iocb, to) : ret;
}

/*
 * I/O that may need no request relies on locks, too.
 *
 * Return: 0; -EIO if what it relies on is lost; -EAGAIN; or -ERESTARTSYS.
 */
static int dafs_file_await_locks(struct file *file, bool nowait)
{
	int err = dafs_locks_await_reclaim(file_inode(file), nowait);

	return err ?: dafs_file_lost(file) ? -EIO : 0;
}

static ssize_t dafs_file_read_iter(struct kiocb *iocb, struct iov_iter *to)
{
	int err = dafs_file_await_locks(iocb->ki_filp, iocb->ki_flags & IOCB_NOWAIT);

	if (err)
		return err;
	return iov_iter_count(to) ? dafs_uninterrupted(dafs_read, iocb, to) : 0;
}

static ssize_t dafs_file_splice_read(struct file *in, loff_t *ppos,
				     struct pipe_inode_info *pipe, size_t len,
				     unsigned int flags)
{
	struct inode *inode = file_inode(in);
	ssize_t ret;

	ret = dafs_file_await_locks(in, false);
	if (ret)
		return ret;
	ret = dafs_revalidate_mapping(inode, in->f_cred);
	if (!ret)
		ret = netfs_start_io_read(inode);
	if (ret)
		return ret;
	ret = filemap_splice_read(in, ppos, pipe, len, flags);
	netfs_end_io_read(inode);
	/* as in dafs_read() */
	return ret == -EOWNERDEAD ? copy_splice_read(in, ppos, pipe, len, flags) : ret;
}

/* While writers are active, i_size is not reduced. */
static void dafs_writer_begin(struct inode *inode)
{
	spin_lock(&inode->i_lock);
	atomic_inc(&DAFS_I(inode)->writers);
	spin_unlock(&inode->i_lock);
	/* before a folio is locked; pairs with dafs_folio_discard() */
	atomic_inc(&DAFS_I(inode)->stores);
}

static void dafs_writer_end(struct inode *inode)
{
	/* who sees no writer any more sees what is dirty: dafs_size_ours() */
	smp_mb__before_atomic();
	atomic_dec(&DAFS_I(inode)->writers);
}

/*
 * Copies into the page cache.  IOCB_DSYNC is hidden from the netfs library, which would
 * write through while it holds a lock that flushing a conflicting folio takes too;
 * generic_write_sync() does the work afterwards, with COMMIT.
 */
static ssize_t dafs_buffered_write_claimed(struct kiocb *iocb, struct iov_iter *from)
{
	struct inode *inode = file_inode(iocb->ki_filp);
	struct dafs_inode *di = DAFS_I(inode);
	int sync = iocb->ki_flags & (IOCB_DSYNC | IOCB_SYNC);
	ssize_t ret;

	if (mutex_lock_killable(&di->claim_lock))
		return -ERESTARTSYS;
	iocb->ki_flags &= ~sync;
	dafs_forget_errors(inode->i_mapping);
	ret = dafs_writer_claim(inode, iocb->ki_filp->f_cred) ?:
	      netfs_buffered_write_iter_locked(iocb, from, NULL);
	iocb->ki_flags |= sync;
	mutex_unlock(&di->claim_lock);
	return ret;
}

static ssize_t dafs_buffered_write_locked(struct kiocb *iocb, struct iov_iter *from)
{
	struct inode *inode = file_inode(iocb->ki_filp);
	ssize_t ret;

	ret = netfs_start_io_write(inode);
	if (ret)
		return ret;
	ret = generic_write_checks(iocb, from);
	if (ret > 0)
		ret = dafs_buffered_write_claimed(iocb, from);
	netfs_end_io_write(inode);
	return ret;
}

/*
 * Whole folios are written back only if they are as the server has them.  What others have changed
 * until bytes were locked may still be in the cache, if they were locked just now.
 */
static bool dafs_write_is_exact(struct inode *inode, loff_t pos, size_t len)
{
	return dafs_lock_write_exactly(inode, pos, len) ||
	       (dafs_locks_any(inode) && !dafs_mapping_zapped(DAFS_I(inode)));
}

/*
 * Beyond the end of the file a folio is filled with zeroes, and written as a whole: who has locked
 * it must know what others have appended before.
 */
static int dafs_buffered_write_begin(struct file *file)
{
	struct inode *inode = file_inode(file);
	int err = 0;

	if (dafs_locks_any(inode))
		err = dafs_revalidate(inode, file->f_cred, false);
	/* of a file that others have removed the write tells more */
	return err && err != -ESTALE ? err : dafs_zap_mapping(inode);
}

/*
 * netfs_start_io_write() allows parallel writers.  One could undo the size that another
 * has set, so they are serialized here.
 */
static ssize_t dafs_buffered_write(struct kiocb *iocb, struct iov_iter *from)
{
	struct inode *inode = file_inode(iocb->ki_filp);
	struct dafs_inode *di = DAFS_I(inode);
	bool exactly;
	ssize_t ret;

	ret = dafs_buffered_write_begin(iocb->ki_filp);
	if (ret)
		return ret;
	if (mutex_lock_killable(&di->write_lock))
		return -ERESTARTSYS;
	dafs_writer_begin(inode);
	/* pairs with dafs_lock_await_writers() */
	smp_mb__after_atomic();
	/* a delegation may have ended: pairs with dafs_file_hand_over() */
	exactly = dafs_write_is_exact(inode, iocb->ki_pos, iov_iter_count(from));
	if (!exactly)
		ret = dafs_buffered_write_locked(iocb, from);
	dafs_writer_end(inode);
	mutex_unlock(&di->write_lock);
	return exactly ? dafs_direct_write(iocb, from) : ret;
}

/* Report a full disk before close(2). */
static int dafs_write_error(struct file *file)
{
	switch (filemap_check_wb_err(file->f_mapping, READ_ONCE(file->f_wb_err))) {
	case -ENOSPC:
	case -EDQUOT:
	case -EFBIG:
		return file_check_and_advance_wb_err(file);
	}
	return 0;
}

static bool dafs_write_is_direct(const struct kiocb *iocb, const struct iov_iter *from)
{
	return (iocb->ki_flags & IOCB_DIRECT) ||
	       dafs_lock_write_exactly(file_inode(iocb->ki_filp), iocb->ki_pos,
				       iov_iter_count(from));
}

static ssize_t dafs_file_write_iter(struct kiocb *iocb, struct iov_iter *from)
{
	ssize_t ret;
	int err;

	if (!iov_iter_count(from))
		return 0;
	err = dafs_file_await_locks(iocb->ki_filp, iocb->ki_flags & IOCB_NOWAIT);
	if (err)
		return err;
	err = dafs_setid_remove(iocb->ki_filp);
	if (err)
		return err;
	/* Not SB_SYNCHRONOUS or O_SYNC, because a remount may change noac. */
	if (READ_ONCE(DAFS_SB(file_inode(iocb->ki_filp)->i_sb)->opts.noac))
		iocb->ki_flags |= IOCB_DSYNC;
	/* It would always block: for a lock, or for the response. */
	if ((iocb->ki_flags & IOCB_NOWAIT) &&
	    (iocb->ki_flags & (IOCB_DIRECT | IOCB_APPEND)) != IOCB_DIRECT)
		return -EAGAIN;
	if (iocb->ki_flags & IOCB_APPEND)
		ret = dafs_append_iter(iocb, from);
	else if (dafs_write_is_direct(iocb, from))
		ret = dafs_uninterrupted(dafs_direct_write, iocb, from);
	else
		ret = dafs_uninterrupted(dafs_buffered_write, iocb, from);
	if (ret <= 0)
		return ret;
	ret = generic_write_sync(iocb, ret);
	if (ret > 0) {
		err = dafs_write_error(iocb->ki_filp);
		if (err)
			return err;
	}
	return ret;
}

static vm_fault_t dafs_file_fault(struct vm_fault *vmf)
{
	struct file *file = vmf->vma->vm_file;

	return dafs_reserve_lost(file->private_data, file) ? VM_FAULT_SIGBUS : filemap_fault(vmf);
}

/* What is not mapped here is left to dafs_file_fault(). */
static vm_fault_t dafs_file_map_pages(struct vm_fault *vmf, pgoff_t start, pgoff_t end)
{
	struct file *file = vmf->vma->vm_file;

	if (dafs_reserve_lost(file->private_data, file))
		return 0;
	return filemap_map_pages(vmf, start, end);
}

static vm_fault_t dafs_file_mkwrite(struct vm_fault *vmf)
{
	struct file *file = vmf->vma->vm_file;

	return dafs_reserve_lost(file->private_data, file) ? VM_FAULT_SIGBUS :
							     dafs_page_mkwrite(vmf);
}

static const struct vm_operations_struct dafs_vm_ops = {
	.fault		= dafs_file_fault,
	.map_pages	= dafs_file_map_pages,
	.page_mkwrite	= dafs_file_mkwrite,
};

static int dafs_file_mmap(struct file *file, struct vm_area_struct *vma)
{
	int err;

	if (dafs_reserve_lost(file->private_data, file))
		return -EIO;
	err = dafs_revalidate_mapping(file_inode(file), file->f_cred);
	if (!err)
		err = generic_file_mmap(file, vma);
	if (!err)
		vma->vm_ops = &dafs_vm_ops;
	return err;
}

static loff_t dafs_file_llseek(struct file *file, loff_t offset, int whence)
{
	int err;

	if (whence != SEEK_SET && whence != SEEK_CUR) {
		err = dafs_revalidate_mapping(file_inode(file), file->f_cred);
		if (err)
			return err;
	}
	return generic_file_llseek(file, offset, whence);
}

const struct file_operations dafs_file_fops = {
	.open		= dafs_file_open,
	.release	= dafs_file_release,
	.flush		= dafs_file_flush,
	.fsync		= dafs_file_fsync,
	.lock		= dafs_file_lock,
	.flock		= dafs_file_flock,
	.unlocked_ioctl	= dafs_file_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
	.read_iter	= dafs_file_read_iter,
	.write_iter	= dafs_file_write_iter,
	.mmap		= dafs_file_mmap,
	.splice_read	= dafs_file_splice_read,
	.splice_write	= iter_file_splice_write,
	.llseek		= dafs_file_llseek,
	.setlease	= dafs_file_setlease,
};
