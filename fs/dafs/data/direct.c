// SPDX-License-Identifier: GPL-2.0
/*
 * Direct I/O
 *
 * The netfs library allocates a request and a subrequest for each read and write and
 * completes them in work queues, which is slow for small I/O; and a waiting task cannot
 * be killed.  Here a waiting task processes the response itself.  Asynchronous I/O
 * completes in softirq, as on block devices, unless the completion has to sleep.
 *
 * I/O that is larger than a request is split into parts that run in parallel.  If the
 * task is killed, they continue in the background, and the program's pages stay pinned
 * until the server has answered.  Kernel memory may be reused by the caller on return,
 * so it is moved in one part, by the task itself.
 */
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include <linux/wait_bit.h>
#include "../state/deleg.h"
#include "../state/lock.h"
#include "data.h"
#include "netfs_compat.h"

/* As many parts as a session has requests; for larger I/O, each part takes several requests. */
#define DAFS_DIO_PARTS	DAFS_DEF_MAX_REQUESTS

/**
 * struct dafs_dio_part - a part, moved by one request after another
 * @io: the I/O
 * @dio: the direct I/O that it belongs to
 * @err: its result
 */
struct dafs_dio_part {
	struct dafs_io io;
	struct dafs_dio *dio;
	int err;
};

/**
 * struct dafs_dio - a read or write of a program's own memory
 * @ref: one for all parts together, one for the task that waits for them
 * @iocb: of asynchronous I/O: to be completed, and holds the file until then; otherwise
 *	NULL
 * @inode: the file
 * @open: the open to use.  With a task that waits for what goes on without it, a reference
 *	on @inode and @open is held, but not on the struct file: otherwise the mount would stay
 *	busy after the task is killed
 * @pos: offset in the file
 * @len: bytes
 * @write: direction
 * @bv: pages of the program, or NULL if the memory is the kernel's
 * @nr_bv: number of @bv
 * @pinned: they are to be unpinned
 * @got: they are the pages of a pipe, with references
 * @left: parts under way
 * @parted: set by the first of the two that part: the task that waits, and what it waits for
 * @end_work: completes it if the completion may have to sleep
 * @link: in di->async_writes, or empty
 * @order: its number there
 * @ended: completed at the end, for the task that waits
 * @ret: bytes or a negative errno, then
 * @nr: number of @parts
 * @parts: in the order of the file
 */
struct dafs_dio {
	struct kref ref;
	struct kiocb *iocb;
	struct inode *inode;
	struct dafs_open_state *open;
	u64 pos;
	size_t len;
	bool write;
	const struct bio_vec *bv;
	unsigned int nr_bv;
	bool pinned;
	bool got;
	atomic_t left;
	atomic_t parted;
	struct work_struct end_work;
	struct list_head link;
	u64 order;
	struct completion ended;
	ssize_t ret;
	unsigned int nr;
	struct dafs_dio_part parts[] __counted_by(nr);
};

/* Done now, because the completion may not sleep; most pages are still dirty then. */
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

/* Has each of them its own reference count? */
static bool dafs_dio_can_get(const struct iov_iter *iter)
{
	const struct bio_vec *bv;

	for (bv = iter->bvec; bv < iter->bvec + iter->nr_segs; bv++)
		if (bv->bv_offset + bv->bv_len > PAGE_SIZE)
			return false;
	return true;
}

/*
 * Pages of a pipe are the pipe's again when the task is killed, but what is written under a lock
 * goes on then.  Others keep theirs.
 */
static void dafs_dio_get(struct dafs_dio *dio, struct iov_iter *pages)
{
	unsigned int i;

	if (!dio->write || dio->iocb || !iov_iter_is_bvec(pages) ||
	    !dafs_locks_any(dio->inode) || !dafs_dio_can_get(pages))
		return;
	dio->bv = kvmemdup(pages->bvec, pages->nr_segs * sizeof(*dio->bv), GFP_KERNEL);
	if (!dio->bv)
		return;
	dio->nr_bv = pages->nr_segs;
	dio->got = true;
	for (i = 0; i < dio->nr_bv; i++)
		get_page(dio->bv[i].bv_page);
	pages->bvec = dio->bv;
}

static int dafs_dio_pin(struct dafs_dio *dio, struct iov_iter *iter, struct iov_iter *pages)
{
	ssize_t nr;

	dio->len = iov_iter_count(iter);
	if (!user_backed_iter(iter)) {
		*pages = *iter;
		dafs_dio_get(dio, pages);
		iov_iter_advance(iter, dio->len);
		return 0;
	}
	dio->pinned = iov_iter_extract_will_pin(iter);
	nr = netfs_extract_user_iter(iter, dio->len, pages, 0);
	if (nr < 0)
		return nr;
	dio->bv = pages->bvec;
	dio->nr_bv = nr;
	dio->len = iov_iter_count(pages);
	/* not every netfs of 6.12.y tells that nothing could be pinned */
	return dio->len ? 0 : -EFAULT;
}

static void dafs_dio_unpin(struct dafs_dio *dio)
{
	unsigned int i;

	for (i = 0; dio->pinned && i < dio->nr_bv; i++)
		unpin_user_page(dio->bv[i].bv_page);
	for (i = 0; dio->got && i < dio->nr_bv; i++)
		put_page(dio->bv[i].bv_page);
	kvfree(dio->bv);
}

static void dafs_dio_discard(struct dafs_dio *dio)
{
	dafs_dio_unpin(dio);
	kvfree(dio);
}

/* Bytes of one request */
static size_t dafs_dio_request(const struct inode *inode, bool write)
{
	const struct dafs_options *opts = &DAFS_SB(inode->i_sb)->opts;

	return write ? opts->wsize : opts->rsize;
}

/* A program that has not asked for direct I/O waits for it. */
static bool dafs_dio_waits(struct kiocb *iocb, bool write)
{
	return is_sync_kiocb(iocb) || (write && !(iocb->ki_flags & IOCB_DIRECT));
}

static unsigned int dafs_dio_nr(struct kiocb *iocb, const struct iov_iter *iter, bool write)
{
	size_t request = dafs_dio_request(file_inode(iocb->ki_filp), write);

	if (!user_backed_iter(iter) && dafs_dio_waits(iocb, write))
		return 1;
	return min(DIV_ROUND_UP(iov_iter_count(iter), request), DAFS_DIO_PARTS);
}

static void dafs_dio_part_init(struct dafs_dio *dio, struct dafs_dio_part *part,
			       const struct iov_iter *pages, size_t at, size_t len)
{
	struct inode *inode = dio->inode;
	struct dafs_io *io = &part->io;

	part->dio = dio;
	io->sbi = DAFS_SB(inode->i_sb);
	io->di = DAFS_I(inode);
	io->open = dio->open;
	io->cred = io->open->cred;
	io->pos = dio->pos + at;
	io->len = len;
	io->max_part = dafs_dio_request(inode, dio->write);
	io->write = dio->write;
	/* the memory returns to the program, so a resend is not possible */
	io->stable = DAFS_DATA_SYNC;
	io->iter = *pages;
	iov_iter_advance(&io->iter, at);
	iov_iter_truncate(&io->iter, len);
}

/* There may be fewer pages than requested. */
static void dafs_dio_split(struct dafs_dio *dio, const struct iov_iter *pages)
{
	size_t step = roundup(DIV_ROUND_UP(dio->len, dio->nr),
			      dafs_dio_request(dio->inode, dio->write));
	unsigned int i;
	size_t at;

	dio->nr = DIV_ROUND_UP(dio->len, step);
	for (i = 0, at = 0; i < dio->nr; i++, at += step)
		dafs_dio_part_init(dio, &dio->parts[i], pages, at, min(step, dio->len - at));
	atomic_set(&dio->left, dio->nr);
}

static struct dafs_dio *dafs_dio_create(struct kiocb *iocb, struct iov_iter *iter, bool write)
{
	unsigned int nr = dafs_dio_nr(iocb, iter, write);
	struct iov_iter pages;
	struct dafs_dio *dio;
	int err;

	dio = kvzalloc(struct_size(dio, parts, nr), GFP_KERNEL);
	if (!dio)
		return ERR_PTR(-ENOMEM);
	kref_init(&dio->ref);
	init_completion(&dio->ended);
	INIT_LIST_HEAD(&dio->link);
	dio->iocb = dafs_dio_waits(iocb, write) ? NULL : iocb;
	dio->inode = file_inode(iocb->ki_filp);
	dio->open = iocb->ki_filp->private_data;
	dio->pos = iocb->ki_pos;
	dio->write = write;
	dio->nr = nr;
	err = dafs_dio_pin(dio, iter, &pages);
	if (err) {
		dafs_dio_discard(dio);
		return ERR_PTR(err);
	}
	dafs_dio_split(dio, &pages);
	if (!write)
		dafs_dio_dirty(dio);
	return dio;
}

/* Up to the first byte that was not moved: bytes or a negative errno. */
static ssize_t dafs_dio_result(const struct dafs_dio *dio)
{
	const struct dafs_dio_part *part;
	ssize_t done = 0;

	for (part = dio->parts; part < dio->parts + dio->nr; part++) {
		done += part->io.done;
		if (part->err)
			return done ?: part->err;
		if (part->io.done < part->io.len)
			break;
	}
	return done;
}

/*
 * A mapping may have brought pages into the cache meanwhile.  Those that cannot be
 * dropped now are dropped on the next access.
 */
static void dafs_dio_written(struct dafs_dio *dio, ssize_t ret)
{
	struct inode *inode = dio->inode;
	struct address_space *mapping = inode->i_mapping;

	if (ret > 0)
		dafs_file_raise_size(inode, dio->pos + ret);
	/* only the server knows how much of the rest it has */
	if (ret < (ssize_t)dio->len)
		dafs_own_change(DAFS_I(inode));
	if (mapping->nrpages &&
	    invalidate_inode_pages2_range(mapping, dio->pos >> PAGE_SHIFT,
					  (dio->pos + dio->len - 1) >> PAGE_SHIFT))
		set_bit(DAFS_INO_ZAP, &DAFS_I(inode)->flags);
}

/* The part of the completion that may sleep, or takes locks not allowed in softirq. */
static void dafs_dio_settle(struct dafs_dio *dio)
{
	if (dio->write)
		dafs_dio_written(dio, dafs_dio_result(dio));
	else
		dafs_dio_dirty(dio);
}

/* The last step, in any context: releases the pages and the file. */
static ssize_t dafs_dio_end(struct dafs_dio *dio)
{
	ssize_t ret = dafs_dio_result(dio);

	dafs_dio_unpin(dio);
	inode_dio_end(dio->inode);
	return ret;
}

/*
 * A task that has begun an asynchronous write may unlock, or be killed, before that ends: it is
 * waited for then, see dafs_direct_await().
 */
static void dafs_dio_list(struct dafs_dio *dio)
{
	struct dafs_inode *di = DAFS_I(dio->inode);
	unsigned long flags;

	if (!dio->write || !dafs_locks_any(dio->inode))
		return;
	spin_lock_irqsave(&di->async_lock, flags);
	dio->order = di->async_next++;
	list_add_tail(&dio->link, &di->async_writes);
	spin_unlock_irqrestore(&di->async_lock, flags);
}

static void dafs_dio_unlist(struct dafs_dio *dio)
{
	struct dafs_inode *di = DAFS_I(dio->inode);
	unsigned long flags;

	if (list_empty(&dio->link))
		return;
	spin_lock_irqsave(&di->async_lock, flags);
	list_del(&dio->link);
	spin_unlock_irqrestore(&di->async_lock, flags);
	/* before the waiters are looked for: pairs with dafs_direct_await() */
	smp_mb();
	wake_up_var(&di->left_writes);
}

static void dafs_dio_end_async(struct dafs_dio *dio)
{
	struct kiocb *iocb = dio->iocb;
	ssize_t ret = dafs_dio_end(dio);

	dafs_dio_unlist(dio);
	if (ret > 0)
		iocb->ki_pos += ret;
	kvfree(dio);
	iocb->ki_complete(iocb, ret);
}

/**
 * dafs_write_ended() - what a task that was killed has sent is executed, or never will be
 * @di: the file, whose left_writes the task has raised
 *
 * Context: any but interrupt.
 */
void dafs_write_ended(struct dafs_inode *di)
{
	/* before the waiters are looked for: pairs with dafs_direct_await() */
	atomic_dec_return(&di->left_writes);
	wake_up_var(&di->left_writes);
}

/**
 * dafs_write_part_ways() - the task that waits for a write was killed, or the write has ended
 * @di: the file
 * @parted: of the write, 0 at first.  The second of the two counts
 *
 * A task that was killed has raised left_writes before, so that the task or work item that unlocks
 * its bytes waits for the write: dafs_direct_await().
 *
 * Context: any but interrupt.
 */
void dafs_write_part_ways(struct dafs_inode *di, atomic_t *parted)
{
	if (atomic_xchg(parted, 1))
		dafs_write_ended(di);
}

static void dafs_dio_part_ways(struct dafs_dio *dio)
{
	if (dio->write)
		dafs_write_part_ways(DAFS_I(dio->inode), &dio->parted);
}

/* A task was killed, and what it has sent to the server is on the way still. */
static void dafs_dio_leave(struct dafs_dio *dio)
{
	if (dio->write)
		atomic_inc(&DAFS_I(dio->inode)->left_writes);
	dafs_dio_part_ways(dio);
}

/* The number of the next asynchronous write */
static u64 dafs_async_next(struct dafs_inode *di)
{
	unsigned long flags;
	u64 next;

	spin_lock_irqsave(&di->async_lock, flags);
	next = di->async_next;
	spin_unlock_irqrestore(&di->async_lock, flags);
	return next;
}

/* Is a write in progress that nobody else waits for?  @next: those from it on do not count. */
static bool dafs_direct_is_left(struct dafs_inode *di, u64 next)
{
	const struct dafs_dio *first;
	unsigned long flags;
	bool left;

	spin_lock_irqsave(&di->async_lock, flags);
	first = list_first_entry_or_null(&di->async_writes, struct dafs_dio, link);
	left = first && first->order < next;
	spin_unlock_irqrestore(&di->async_lock, flags);
	return left || atomic_read(&di->left_writes);
}

/**
 * dafs_direct_await() - wait for direct writes, appends and new sizes that no task waits for
 * @inode: the file
 *
 * These are those of tasks that were killed, and asynchronous ones that were begun until now under
 * locks.  More of them may be begun all the time, and are not waited for.
 *
 * Context: may sleep; a fatal signal ends it.
 * Return: 0 if there are none, or -ERESTARTSYS: also at once for a task that exits, which could
 * not be killed.
 */
int dafs_direct_await(struct inode *inode)
{
	struct dafs_inode *di = DAFS_I(inode);
	u64 next = dafs_async_next(di);

	if (!dafs_direct_is_left(di, next))
		return 0;
	if (dafs_task_exits())
		return -ERESTARTSYS;
	return wait_var_event_killable(&di->left_writes, !dafs_direct_is_left(di, next));
}

static void dafs_dio_free(struct kref *ref)
{
	kvfree(container_of(ref, struct dafs_dio, ref));
}

/*
 * The waiting task may have been killed and have closed the file.  If not, it must be
 * the last user of the open when it closes the file.
 */
static void dafs_dio_end_waited(struct dafs_dio *dio)
{
	struct inode *inode = dio->inode;

	dio->ret = dafs_dio_end(dio);
	dafs_dio_part_ways(dio);
	dafs_open_state_put(dio->open, false);
	complete(&dio->ended);
	kref_put(&dio->ref, dafs_dio_free);
	dafs_inode_put_later(inode);
}

static void dafs_dio_end_work(struct work_struct *work)
{
	struct dafs_dio *dio = container_of(work, struct dafs_dio, end_work);

	dafs_dio_settle(dio);
	if (dio->iocb)
		dafs_dio_end_async(dio);
	else
		dafs_dio_end_waited(dio);
}

/*
 * Is there nothing to settle?  Later changes of the page cache do not matter: pages
 * that are cleaned or read after this I/O have the new data.
 */
static bool dafs_dio_is_settled(const struct dafs_dio *dio)
{
	struct inode *inode = dio->inode;

	if (!dio->write)
		return dafs_dio_all_dirty(dio);
	return dafs_dio_result(dio) == (ssize_t)dio->len && !inode->i_mapping->nrpages &&
	       dio->pos + dio->len <= i_size_read(inode) &&
	       dio->pos + dio->len <= READ_ONCE(netfs_inode(inode)->remote_i_size);
}

/*
 * Do not settle here even in process context: the caller may be ending all calls of a
 * connection, and dropping a folio may wait for the next of these calls.
 */
static void dafs_dio_part_complete(struct dafs_io *io, int err)
{
	struct dafs_dio_part *part = container_of(io, struct dafs_dio_part, io);
	struct dafs_dio *dio = part->dio;

	part->err = err;
	if (!atomic_dec_and_test(&dio->left))
		return;
	if (!dio->iocb || !dafs_dio_is_settled(dio)) {
		INIT_WORK(&dio->end_work, dafs_dio_end_work);
		queue_work(dafs_inode_clnt(dio->inode)->end_wq, &dio->end_work);
		return;
	}
	if (dio->write)
		dafs_own_write(io->di);
	dafs_dio_end_async(dio);
}

/* @dio may be freed when this returns. */
static void dafs_dio_start(struct dafs_dio *dio)
{
	unsigned int i, nr = dio->nr;
	struct dafs_dio_part *part;

	for (i = 0; i < nr; i++) {
		part = &dio->parts[i];
		part->io.complete = dafs_dio_part_complete;
		part->io.anywhere = true;
		dafs_io_start(&part->io);
	}
}

static ssize_t dafs_dio_wait(struct dafs_dio *dio)
{
	ssize_t ret;

	dafs_open_state_hold(dio->open);
	/* cannot fail, the file is open */
	dafs_inode_hold(dio->inode);
	kref_get(&dio->ref);
	dafs_dio_start(dio);
	ret = wait_for_completion_killable(&dio->ended);
	if (ret)
		dafs_dio_leave(dio);
	else
		ret = dio->ret;
	kref_put(&dio->ref, dafs_dio_free);
	return ret;
}

/*
 * May all of it go on in the background?  What one request can move is moved by the task, as a
 * rule.  But if that is killed, the server may execute the request later, and what was written
 * under a lock is waited for before it is unlocked: dafs_direct_await().
 */
static bool dafs_dio_outlives_task(const struct dafs_dio *dio)
{
	return dio->nr > 1 || dio->got ||
	       (dio->write && dio->pinned && dafs_locks_any(dio->inode));
}

static ssize_t dafs_dio_do(struct dafs_dio *dio)
{
	ssize_t ret;

	dio->parts[0].err = dafs_io_run(&dio->parts[0].io);
	/* it may yet be executed, and of a delegated file nobody else tells the size */
	if (dio->write && dio->parts[0].err && dio->pos + dio->len > i_size_read(dio->inode))
		dafs_deleg_give_back_later(dio->inode);
	dafs_dio_settle(dio);
	ret = dafs_dio_end(dio);
	kvfree(dio);
	return ret;
}

static ssize_t dafs_dio_run(struct kiocb *iocb, struct dafs_dio *dio)
{
	ssize_t ret;

	inode_dio_begin(dio->inode);
	if (dio->iocb) {
		dafs_dio_list(dio);
		dafs_dio_start(dio);
		return -EIOCBQUEUED;
	}
	ret = dafs_dio_outlives_task(dio) ? dafs_dio_wait(dio) : dafs_dio_do(dio);
	if (ret > 0)
		iocb->ki_pos += ret;
	return ret;
}

/* As netfs_start_io_direct(), but supports IOCB_NOWAIT. */
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

/* Would it wait for a response, or for a slot? */
static bool dafs_direct_would_wait(struct kiocb *iocb, const struct iov_iter *iter,
				   bool write)
{
	struct inode *inode = file_inode(iocb->ki_filp);

	return (iocb->ki_flags & IOCB_NOWAIT) &&
	       (is_sync_kiocb(iocb) || dafs_client_busy(dafs_inode_clnt(inode)) ||
		iov_iter_count(iter) > dafs_dio_request(inode, write));
}

static ssize_t dafs_direct_read_locked(struct kiocb *iocb, struct iov_iter *to)
{
	struct dafs_dio *dio = dafs_dio_create(iocb, to, false);

	return IS_ERR(dio) ? PTR_ERR(dio) : dafs_dio_run(iocb, dio);
}

/**
 * dafs_direct_read() - read around the page cache
 * @iocb: where
 * @to: memory
 *
 * Context: may sleep; no cached data is beyond the end of file at the server.
 * Return: bytes, -EIOCBQUEUED or a negative errno; -EAGAIN if the caller may not
 * wait and would have to.
 */
ssize_t dafs_direct_read(struct kiocb *iocb, struct iov_iter *to)
{
	struct inode *inode = file_inode(iocb->ki_filp);
	ssize_t ret;

	if (dafs_direct_would_wait(iocb, to, false))
		return -EAGAIN;
	ret = dafs_start_io_direct(iocb);
	if (ret)
		return ret;
	ret = kiocb_write_and_wait(iocb, iov_iter_count(to));
	if (!ret) {
		file_accessed(iocb->ki_filp);
		ret = dafs_direct_read_locked(iocb, to);
	}
	netfs_end_io_direct(inode);
	return ret;
}

/* No cached data in the range, and the file is not extended. */
static bool dafs_direct_write_simple(struct inode *inode, loff_t pos, size_t len)
{
	return pos + len <= i_size_read(inode) && !inode->i_mapping->nrpages &&
	       !READ_ONCE(DAFS_I(inode)->unstable_bytes);
}

static ssize_t dafs_direct_write_checks(struct kiocb *iocb, struct iov_iter *from)
{
	ssize_t ret = generic_write_checks(iocb, from);
	int err;

	if (ret <= 0)
		return ret;
	err = kiocb_modified(iocb);
	return err ?: ret;
}

/*
 * Drops cached data of the range, and between it and the end of the file, where a
 * mapping may have stored data beyond the end.
 */
static int dafs_direct_write_drop(struct inode *inode, loff_t pos, size_t len)
{
	loff_t size = i_size_read(inode);
	loff_t end = pos + len;
	int err;

	if (pos > size)
		dafs_netfs_extended(inode, size, pos);
	err = dafs_invalidate_lock(inode, min(pos, size), end);
	if (err)
		return err;
	err = dafs_drop_range(inode, min(pos, size), end);
	filemap_invalidate_unlock(inode->i_mapping);
	return err;
}

/*
 * @alone: whether others are kept from adding to the cache
 *
 * Return: 1 if it may be sent now; 0 if it must be alone; or -ERESTARTSYS if the task is killed.
 */
static int dafs_direct_write_ready(const struct dafs_dio *dio, bool alone)
{
	struct inode *inode = dio->inode;

	if (alone)
		return dafs_direct_write_drop(inode, dio->pos, dio->len) ?: 1;
	return dafs_direct_write_simple(inode, dio->pos, dio->len);
}

static ssize_t dafs_direct_write_dio(struct kiocb *iocb, struct dafs_dio *dio, bool alone)
{
	struct inode *inode = dio->inode;
	int ret = dafs_direct_write_ready(dio, alone);

	if (ret <= 0) {
		dafs_dio_discard(dio);
		return ret;
	}
	/* before it is sent: a page that is read meanwhile must not be filled with zeroes */
	spin_lock(&inode->i_lock);
	dafs_zero_point_raise(netfs_inode(inode), dio->pos + dio->len);
	spin_unlock(&inode->i_lock);
	return dafs_dio_run(iocb, dio);
}

/*
 * A program that has not asked for direct I/O may expect that others store to the same folio
 * meanwhile, through a mapping, and that neither is lost: they wait, see dafs_page_mkwrite().
 */
static ssize_t dafs_direct_write_exactly(struct kiocb *iocb, struct dafs_dio *dio, bool alone)
{
	struct dafs_inode *di = DAFS_I(dio->inode);
	ssize_t ret;

	if (down_read_killable(&di->exact_lock)) {
		dafs_dio_discard(dio);
		return -ERESTARTSYS;
	}
	ret = dafs_direct_write_dio(iocb, dio, alone);
	up_read(&di->exact_lock);
	return ret;
}

/*
 * With i_rwsem shared, so that the file cannot be truncated meanwhile.
 *
 * Return: as dafs_direct_write(); or 0, and nothing is done, if it must be @alone.
 */
static ssize_t dafs_direct_write_locked(struct kiocb *iocb, struct iov_iter *from, bool alone)
{
	ssize_t ret = dafs_direct_write_checks(iocb, from);
	struct iov_iter before = *from;
	struct dafs_dio *dio;

	if (ret <= 0)
		return ret;
	/* pinned before any lock is taken that a fault may wait for, which holds mmap_lock */
	dio = dafs_dio_create(iocb, from, true);
	if (IS_ERR(dio))
		return PTR_ERR(dio);
	ret = iocb->ki_flags & IOCB_DIRECT ? dafs_direct_write_dio(iocb, dio, alone) :
					     dafs_direct_write_exactly(iocb, dio, alone);
	if (!ret)
		*from = before;
	return ret;
}

/*
 * A write that extends the file or overlaps cached data: exclusive of others and of
 * buffered writers, which could add unstable data.  Cached data is written back and
 * committed before any lock is taken that a reader or a fault may need.
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
	dafs_write_back(inode);
	ret = dafs_commit_inode(inode) ?: netfs_start_io_direct(inode);
	if (!ret) {
		ret = dafs_direct_write_locked(iocb, from, true);
		netfs_end_io_direct(inode);
	}
	mutex_unlock(&di->write_lock);
	return ret;
}

/**
 * dafs_direct_write() - write around the page cache
 * @iocb: where
 * @from: memory
 *
 * Writes that meet no cached data and do not extend the file run in parallel.
 *
 * Context: may sleep.
 * Return: bytes, -EIOCBQUEUED or a negative errno; -EAGAIN if the caller may not
 * wait and would have to.
 */
ssize_t dafs_direct_write(struct kiocb *iocb, struct iov_iter *from)
{
	struct inode *inode = file_inode(iocb->ki_filp);
	ssize_t ret;

	if (dafs_direct_would_wait(iocb, from, true))
		return -EAGAIN;
	if (!dafs_direct_write_simple(inode, iocb->ki_pos, iov_iter_count(from)))
		return dafs_direct_write_alone(iocb, from);
	ret = dafs_start_io_direct(iocb);
	if (ret)
		return ret;
	ret = dafs_direct_write_locked(iocb, from, false);
	netfs_end_io_direct(inode);
	return ret ?: dafs_direct_write_alone(iocb, from);
}
