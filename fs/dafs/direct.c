// SPDX-License-Identifier: GPL-2.0
/*
 * Direct I/O of one request: what a database or a virtual machine does all day.
 *
 * The netfs library makes a request and a subrequest of each read and write
 * and ends them in work queues, which is a good part of the time of a small
 * one.  Here it is one I/O, and a task that waits for it looks at the response
 * itself.  Asynchronous I/O ends where the response arrives, in softirq, as that
 * of block devices does, unless something is left to do that may not be done
 * there.  The library keeps what is larger than a request, what makes a file
 * longer, and what meets cached data.
 */
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include "dafs_fs.h"

/**
 * struct dafs_dio - a read or write of a program's own memory
 * @io: the I/O
 * @iocb: of the program; holds the file until it is told the end
 * @bv: pages of the program, or NULL if the memory is the kernel's
 * @nr_bv: number of @bv
 * @pinned: they are to be unpinned
 * @end_work: ends it if something is to be settled, for which it may have to wait
 * @err: what @end_work reports
 */
struct dafs_dio {
	struct dafs_io io;
	struct kiocb *iocb;
	const struct bio_vec *bv;
	unsigned int nr_bv;
	bool pinned;
	struct work_struct end_work;
	int err;
};

/* Here it may sleep; at the end it may not, and most pages are still dirty then. */
static void dafs_dio_dirty(const struct dafs_dio *dio)
{
	unsigned int i;

	for (i = 0; i < dio->nr_bv; i++)
		if (!PageDirty(dio->bv[i].bv_page))
			set_page_dirty_lock(dio->bv[i].bv_page);
}

static bool dafs_dio_all_dirty(const struct dafs_dio *dio)
{
	unsigned int i;

	for (i = 0; i < dio->nr_bv; i++)
		if (!PageDirty(dio->bv[i].bv_page))
			return false;
	return true;
}

static int dafs_dio_pin(struct dafs_dio *dio, struct iov_iter *iter)
{
	struct dafs_io *io = &dio->io;
	ssize_t nr;

	io->len = iov_iter_count(iter);
	if (!user_backed_iter(iter)) {
		io->iter = *iter;
		iov_iter_advance(iter, io->len);
		return 0;
	}
	dio->pinned = iov_iter_extract_will_pin(iter);
	nr = netfs_extract_user_iter(iter, io->len, &io->iter, 0);
	if (nr < 0)
		return nr;
	dio->bv = io->iter.bvec;
	dio->nr_bv = nr;
	io->len = iov_iter_count(&io->iter);
	return 0;
}

static void dafs_dio_unpin(struct dafs_dio *dio)
{
	unsigned int i;

	for (i = 0; dio->pinned && i < dio->nr_bv; i++)
		unpin_user_page(dio->bv[i].bv_page);
	kvfree(dio->bv);
}

static struct dafs_dio *dafs_dio_create(struct kiocb *iocb, struct iov_iter *iter, bool write)
{
	struct inode *inode = file_inode(iocb->ki_filp);
	struct dafs_dio *dio = kzalloc(sizeof(*dio), GFP_KERNEL);
	int err;

	if (!dio)
		return ERR_PTR(-ENOMEM);
	dio->iocb = iocb;
	dio->io.sbi = DAFS_SB(inode->i_sb);
	dio->io.di = DAFS_I(inode);
	dio->io.open = iocb->ki_filp->private_data;
	dio->io.cred = dio->io.open->cred;
	dio->io.pos = iocb->ki_pos;
	dio->io.write = write;
	/* the memory goes back to the program: nothing to send again from */
	dio->io.stable = DAFS_DATA_SYNC;
	err = dafs_dio_pin(dio, iter);
	if (err) {
		kfree(dio);
		return ERR_PTR(err);
	}
	if (!write)
		dafs_dio_dirty(dio);
	return dio;
}

/* A store through a mapping may have brought pages meanwhile. */
static void dafs_dio_written(struct dafs_io *io)
{
	struct address_space *mapping = io->di->netfs.inode.i_mapping;

	dafs_written(io);
	if (mapping->nrpages)
		invalidate_inode_pages2_range(mapping, io->pos >> PAGE_SHIFT,
					      (io->pos + io->len - 1) >> PAGE_SHIFT);
}

/* In any context.  Return: what the program is told. */
static ssize_t dafs_dio_end(struct dafs_dio *dio, int err)
{
	struct inode *inode = &dio->io.di->netfs.inode;
	ssize_t ret = err ?: dio->io.done;

	dafs_dio_unpin(dio);
	if (ret > 0)
		dio->iocb->ki_pos += ret;
	kfree(dio);
	inode_dio_end(inode);
	return ret;
}

/* What may sleep, or takes locks that softirq may not. */
static void dafs_dio_settle(struct dafs_dio *dio, int err)
{
	if (!dio->io.write)
		dafs_dio_dirty(dio);
	else if (!err)
		dafs_dio_written(&dio->io);
}

static void dafs_dio_end_async(struct dafs_dio *dio, int err)
{
	struct kiocb *iocb = dio->iocb;

	iocb->ki_complete(iocb, dafs_dio_end(dio, err));
}

static void dafs_dio_end_work(struct work_struct *work)
{
	struct dafs_dio *dio = container_of(work, struct dafs_dio, end_work);

	dafs_dio_settle(dio, dio->err);
	dafs_dio_end_async(dio, dio->err);
}

/*
 * Is there nothing to settle?  What changes from here on comes after this I/O: a
 * page that is cleaned has the new data, and so has one that is read.
 */
static bool dafs_dio_is_settled(const struct dafs_dio *dio)
{
	const struct dafs_io *io = &dio->io;

	if (!io->write)
		return dafs_dio_all_dirty(dio);
	return !io->di->netfs.inode.i_mapping->nrpages &&
	       io->pos + io->len <= READ_ONCE(io->di->netfs.remote_i_size);
}

/*
 * Process context is no leave to settle here: it may be that of one who ends all
 * calls of a connection, and dropping a folio may wait for the next of them.
 */
static void dafs_dio_complete(struct dafs_io *io, int err)
{
	struct dafs_dio *dio = container_of(io, struct dafs_dio, io);

	if (!dafs_dio_is_settled(dio)) {
		dio->err = err;
		INIT_WORK(&dio->end_work, dafs_dio_end_work);
		queue_work(dafs_done_wq, &dio->end_work);
		return;
	}
	if (io->write && !err)
		dafs_own_write(io->di);
	dafs_dio_end_async(dio, err);
}

static ssize_t dafs_dio_run(struct kiocb *iocb, struct iov_iter *iter, bool write)
{
	struct dafs_dio *dio = dafs_dio_create(iocb, iter, write);
	int err;

	if (IS_ERR(dio))
		return PTR_ERR(dio);
	inode_dio_begin(file_inode(iocb->ki_filp));
	if (is_sync_kiocb(iocb)) {
		err = dafs_io_run(&dio->io);
		dafs_dio_settle(dio, err);
		return dafs_dio_end(dio, err);
	}
	dio->io.complete = dafs_dio_complete;
	dio->io.anywhere = true;
	dafs_io_start(&dio->io);
	return -EIOCBQUEUED;
}

/* netfs_start_io_direct() for those who may not wait, too. */
static int dafs_start_io_direct(const struct kiocb *iocb)
{
	struct inode *inode = file_inode(iocb->ki_filp);

	if (!(iocb->ki_flags & IOCB_NOWAIT))
		return netfs_start_io_direct(inode);
	if (!inode_trylock_shared(inode))
		return -EAGAIN;
	if (test_bit(NETFS_ICTX_ODIRECT, &netfs_inode(inode)->flags))
		return 0;
	inode_unlock_shared(inode);
	return -EAGAIN;
}

/* Would it wait, for the answer or for its turn to ask? */
static bool dafs_direct_would_wait(struct kiocb *iocb)
{
	struct inode *inode = file_inode(iocb->ki_filp);

	return (iocb->ki_flags & IOCB_NOWAIT) &&
	       (is_sync_kiocb(iocb) || dafs_session_busy(dafs_inode_ses(inode)));
}

/**
 * dafs_direct_read() - read around the page cache
 * @iocb: where
 * @to: memory
 *
 * Context: may sleep; nothing cached reaches beyond the end that the server
 * knows of.
 * Return: bytes, -EIOCBQUEUED or a negative errno; -EAGAIN if the caller may not
 * wait and would have to.
 */
ssize_t dafs_direct_read(struct kiocb *iocb, struct iov_iter *to)
{
	struct inode *inode = file_inode(iocb->ki_filp);
	ssize_t ret;

	if (dafs_direct_would_wait(iocb))
		return -EAGAIN;
	if (iov_iter_count(to) > DAFS_SB(inode->i_sb)->opts.rsize)
		return iocb->ki_flags & IOCB_NOWAIT ? -EAGAIN :
						      netfs_unbuffered_read_iter(iocb, to);
	ret = dafs_start_io_direct(iocb);
	if (ret)
		return ret;
	ret = kiocb_write_and_wait(iocb, iov_iter_count(to));
	if (!ret) {
		file_accessed(iocb->ki_filp);
		ret = dafs_dio_run(iocb, to, false);
	}
	netfs_end_io_direct(inode);
	return ret;
}

static bool dafs_direct_write_simple(const struct kiocb *iocb, const struct iov_iter *from)
{
	struct inode *inode = file_inode(iocb->ki_filp);

	return iov_iter_count(from) <= DAFS_SB(inode->i_sb)->opts.wsize &&
	       iocb->ki_pos + iov_iter_count(from) <= i_size_read(inode) &&
	       !inode->i_mapping->nrpages && !READ_ONCE(DAFS_I(inode)->unstable_bytes);
}

/* With i_rwsem shared, so that the file cannot be truncated meanwhile. */
static ssize_t dafs_direct_write_locked(struct kiocb *iocb, struct iov_iter *from)
{
	struct inode *inode = file_inode(iocb->ki_filp);
	ssize_t ret;

	ret = generic_write_checks(iocb, from);
	if (ret <= 0)
		return ret;
	ret = kiocb_modified(iocb);
	if (ret)
		return ret;
	/* before it sets out: a page that is read meanwhile must not be made of zeroes */
	spin_lock(&inode->i_lock);
	dafs_zero_point_raise(netfs_inode(inode), iocb->ki_pos + iov_iter_count(from));
	spin_unlock(&inode->i_lock);
	return dafs_dio_run(iocb, from, true);
}

/*
 * Before folios of the range are dropped from the page cache, what they hold
 * must be stable: afterwards there is nothing to send again from.
 */
static int dafs_direct_write_prepare(struct inode *inode)
{
	dafs_write_back(inode);
	return dafs_commit_inode(inode);
}

/*
 * What makes the file longer, is larger than a request or meets cached data: one at
 * a time, without buffered writers, who could bring more data to be sent again.
 */
static ssize_t dafs_direct_write_alone(struct kiocb *iocb, struct iov_iter *from)
{
	struct inode *inode = file_inode(iocb->ki_filp);
	struct dafs_inode *di = DAFS_I(inode);
	ssize_t ret;

	if (iocb->ki_flags & IOCB_NOWAIT)
		return -EAGAIN;
	if (mutex_lock_killable(&di->write_lock))
		return -ERESTARTSYS;
	ret = dafs_direct_write_prepare(inode) ?: netfs_unbuffered_write_iter(iocb, from);
	/* of the kernel's memory the library writes a copy of the iterator */
	if (ret > 0 && !user_backed_iter(from))
		iov_iter_advance(from, ret);
	mutex_unlock(&di->write_lock);
	return ret;
}

/**
 * dafs_direct_write() - write around the page cache
 * @iocb: where
 * @from: memory
 *
 * What nothing stands in the way of runs beside others.
 *
 * Context: may sleep.
 * Return: bytes, -EIOCBQUEUED or a negative errno; -EAGAIN if the caller may not
 * wait and would have to.
 */
ssize_t dafs_direct_write(struct kiocb *iocb, struct iov_iter *from)
{
	struct inode *inode = file_inode(iocb->ki_filp);
	bool simple;
	ssize_t ret;

	if (dafs_direct_would_wait(iocb))
		return -EAGAIN;
	if (!dafs_direct_write_simple(iocb, from))
		return dafs_direct_write_alone(iocb, from);
	ret = dafs_start_io_direct(iocb);
	if (ret)
		return ret;
	simple = dafs_direct_write_simple(iocb, from);
	if (simple)
		ret = dafs_direct_write_locked(iocb, from);
	netfs_end_io_direct(inode);
	return simple ? ret : dafs_direct_write_alone(iocb, from);
}
