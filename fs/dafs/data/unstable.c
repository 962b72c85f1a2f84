// SPDX-License-Identifier: GPL-2.0
/*
 * Data that the server has but has not promised to keep (6.5.8, 6.5.38).
 *
 * Write-back sends UNSTABLE, because COMMIT makes many such writes stable at
 * the price of one.  Until then the folios are remembered, with references so
 * that reclaim leaves them alone, and with the write verifier of the server.
 * COMMIT returns the verifier too: the same one says that all is stable, and
 * another one that the server has restarted in between and may have lost it.
 * Then the ranges are written again, from the very folios.
 *
 * They are written again directly, not by making the folios dirty: a folio
 * that was written in part need not be up to date in the rest, and dirty would
 * mean all of it.  While that goes on wb_lock keeps write-back away, lest the
 * older data arrive after newer.  It is done by the work queue alone: a task could
 * be killed while the server has the older data still before it.
 *
 * A folio stays in the page cache while it may have to be resent: dafs_release_folio()
 * refuses to drop it.  Otherwise the range could be read and written again, and a
 * resend would overwrite the newer data.  Truncation, invalidation and direct writes
 * commit before they drop folios, and make write-back stable meanwhile:
 * dafs_unstable_stop().
 *
 * What would fill such a folio from the server commits first as well: a folio that
 * was written in part is not up to date in the rest, and a server that has restarted
 * may be without that part, see dafs_read_folio().
 *
 * COMMIT is sent by fsync(2), close(2), sync(2) and before what was just
 * named; when an inode has gathered DAFS_UNSTABLE_SOFT bytes, or all of a mount
 * a quarter of dafs_unstable_most(); when memory is short; and after
 * DAFS_UNSTABLE_DELAY.  At DAFS_UNSTABLE_HARD bytes of an inode, or
 * dafs_unstable_most() of the mount, write-back stops being unstable: however
 * slow the server is to commit, what is pinned has a bound.
 *
 * An inode with such data holds a reference on itself, so it cannot be evicted.
 */
#include <linux/backing-dev.h>
#include <linux/bvec.h>
#include <linux/folio_queue.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/swap.h>
#include <linux/uio.h>
#include <linux/vmstat.h>
#include <linux/wait_bit.h>
#include "data.h"

/* Unstable data of one inode: start COMMIT at SOFT, write stably at HARD. */
#define DAFS_UNSTABLE_SOFT	SZ_32M
#define DAFS_UNSTABLE_HARD	SZ_128M
#define DAFS_UNSTABLE_DELAY	(5 * HZ)

/* Bounds of the limit for a mount, see dafs_unstable_most(). */
#define DAFS_UNSTABLE_LEAST	SZ_4M
#define DAFS_UNSTABLE_MOST	SZ_1G

/* How long memory reclaim waits for COMMIT; after a timeout it does not wait again for as long. */
#define DAFS_RECLAIM_WAIT	(2 * HZ)
#define DAFS_RECLAIM_REST	(10 * HZ)

/*
 * Walk @len bytes of @iter, which is a queue of folios.  Fills @bv if it is
 * not NULL.  Returns the number of pieces.
 */
static unsigned int dafs_folioq_walk(const struct iov_iter *iter, size_t len,
				     struct bio_vec *bv)
{
	const struct folio_queue *fq = iter->folioq;
	unsigned int slot = iter->folioq_slot;
	size_t offset = iter->iov_offset;
	unsigned int nr = 0;

	while (len) {
		size_t part;

		if (slot >= folioq_nr_slots(fq)) {
			fq = fq->next;
			slot = 0;
		}
		part = min(len, folioq_folio_size(fq, slot) - offset);
		if (part) {
			if (bv)
				bvec_set_page(&bv[nr], folio_page(folioq_folio(fq, slot),
								  offset >> PAGE_SHIFT),
					      part, offset_in_page(offset));
			nr++;
		}
		len -= part;
		offset = 0;
		slot++;
	}
	return nr;
}

/**
 * dafs_extent_create() - remember the folios of a write
 * @io: the write, of folios of the page cache under write-back
 *
 * The open that it goes by is kept, too, so that the server knows who may commit.
 *
 * Context: may sleep.
 * Return: the extent, or NULL if it cannot be remembered, so that the write
 * must be stable.
 */
struct dafs_extent *dafs_extent_create(const struct dafs_io *io)
{
	struct dafs_extent *extent;
	unsigned int nr, i;

	if (!iov_iter_is_folioq(&io->iter) || !io->len)
		return NULL;
	nr = dafs_folioq_walk(&io->iter, io->len, NULL);
	extent = kzalloc(struct_size(extent, bv, nr), GFP_NOFS | __GFP_NOWARN);
	if (!extent)
		return NULL;
	extent->nr = nr;
	extent->pos = io->pos;
	extent->len = io->len;
	extent->cred = get_cred(io->cred);
	extent->open = io->open;
	if (extent->open)
		dafs_open_state_hold(extent->open);
	dafs_folioq_walk(&io->iter, io->len, extent->bv);
	for (i = 0; i < nr; i++)
		folio_get(page_folio(extent->bv[i].bv_page));
	return extent;
}

/*
 * As long as its folios are kept, they count as under write-back, as those of NFS
 * do: so that writers are throttled, and memory reclaim and users know of them.
 */
static void dafs_extent_count(struct dafs_extent *extent, struct inode *inode, int sign)
{
	struct dafs_sb_info *sbi = DAFS_SB(inode->i_sb);
	const struct bio_vec *bv;
	long pages, all = 0;

	for (bv = extent->bv; bv < extent->bv + extent->nr; bv++) {
		pages = sign * (long)DIV_ROUND_UP(bv->bv_offset + bv->bv_len, PAGE_SIZE);
		node_stat_mod_folio(page_folio(bv->bv_page), NR_WRITEBACK, pages);
		all += pages;
	}
	wb_stat_mod(&inode_to_bdi(inode)->wb, WB_WRITEBACK, all);
	atomic_long_add(all, &sbi->unstable_pages);
	extent->counted = sign > 0 ? inode : NULL;
}

/**
 * dafs_extent_free() - forget the folios of a write
 * @extent: from dafs_extent_create(), or NULL
 */
void dafs_extent_free(struct dafs_extent *extent)
{
	unsigned int i;

	if (!extent)
		return;
	if (extent->counted)
		dafs_extent_count(extent, extent->counted, -1);
	for (i = 0; i < extent->nr; i++)
		folio_put(page_folio(extent->bv[i].bv_page));
	if (extent->open)
		dafs_open_state_put(extent->open, false);
	put_cred(extent->cred);
	kfree(extent);
}

static void dafs_extents_free(struct list_head *extents)
{
	struct dafs_extent *extent, *next;

	list_for_each_entry_safe(extent, next, extents, link)
		dafs_extent_free(extent);
	INIT_LIST_HEAD(extents);
}

/**
 * dafs_unstable_most() - what a mount may keep at most until it is stable
 *
 * A sixteenth of the memory, between DAFS_UNSTABLE_LEAST and DAFS_UNSTABLE_MOST.  Writes
 * that are under way when so much is kept may add to it.
 *
 * Context: any.
 * Return: pages.
 */
unsigned long dafs_unstable_most(void)
{
	return clamp(totalram_pages() / 16, DAFS_UNSTABLE_LEAST >> PAGE_SHIFT,
		     DAFS_UNSTABLE_MOST >> PAGE_SHIFT);
}

/**
 * dafs_unstable_pages() - what is kept of a mount until it is stable
 * @sbi: the mount
 *
 * Context: any.
 * Return: pages.
 */
unsigned long dafs_unstable_pages(const struct dafs_sb_info *sbi)
{
	return max(atomic_long_read(&sbi->unstable_pages), 0L);
}

/**
 * dafs_unstable_full() - must further writes be stable?
 * @di: inode
 *
 * Return: true if so.
 */
bool dafs_unstable_full(struct dafs_inode *di)
{
	struct dafs_sb_info *sbi = DAFS_SB(di->netfs.inode.i_sb);

	return atomic_read(&di->unstable_stops) ||
	       READ_ONCE(di->unstable_bytes) >= DAFS_UNSTABLE_HARD ||
	       dafs_unstable_pages(sbi) >= dafs_unstable_most() ||
	       test_bit(DAFS_SB_CLOSING, &sbi->flags);
}

/**
 * dafs_unstable_stop() - write back stably from now on
 * @inode: the file
 *
 * Data that is unstable, or being written unstably, is stable once the caller has
 * waited for write-back and dafs_commit_inode() has succeeded.
 *
 * Context: any.  To be undone by dafs_unstable_go_on().
 */
void dafs_unstable_stop(struct inode *inode)
{
	atomic_inc(&DAFS_I(inode)->unstable_stops);
	/*
	 * Write-back that has not seen this has marked its folios as under
	 * write-back before.
	 */
	smp_mb__after_atomic();
}

/**
 * dafs_unstable_go_on() - undo dafs_unstable_stop()
 * @inode: the file
 *
 * Context: any.
 */
void dafs_unstable_go_on(struct inode *inode)
{
	atomic_dec(&DAFS_I(inode)->unstable_stops);
}

/**
 * dafs_unstable_hurry() - commit everything now, and do not wait for it
 * @sbi: the mount
 *
 * Context: any.
 */
void dafs_unstable_hurry(struct dafs_sb_info *sbi)
{
	if (dafs_unstable_pages(sbi))
		mod_delayed_work(sbi->clnt->commit_wq, &sbi->commit_work, 0);
}

/* Extents hold references on their folios; other references cause a harmless false positive. */
static bool dafs_folio_unstable(struct folio *folio)
{
	int others = folio_ref_count(folio) - folio_nr_pages(folio) - folio_has_private(folio);

	/* the caller has one */
	return READ_ONCE(DAFS_I(folio_inode(folio))->unstable_bytes) && others > 1;
}

static bool dafs_reclaim_may_wait(const struct dafs_sb_info *sbi, gfp_t gfp)
{
	return time_after_eq(jiffies, READ_ONCE(sbi->reclaim_at)) &&
	       (current->flags & PF_MEMALLOC) && !current_is_kswapd() &&
	       (current_gfp_context(gfp) & __GFP_FS) && !fatal_signal_pending(current);
}

/*
 * Memory reclaim waits for COMMIT: a memory cgroup may be full of such folios long
 * before the limit of the mount, and the OOM killer would act after some rounds without
 * progress.  The wait is short: the folio is locked, a resend may wait for it, and a
 * server that is down commits nothing.
 */
static void dafs_reclaim_commits(struct folio *folio, gfp_t gfp)
{
	struct inode *inode = folio_inode(folio);
	struct dafs_sb_info *sbi = DAFS_SB(inode->i_sb);

	if (!dafs_reclaim_may_wait(sbi, gfp))
		return;
	dafs_unstable_hurry(sbi);
	if (!wait_var_event_timeout(&DAFS_I(inode)->commit_ends, !dafs_folio_unstable(folio),
				    DAFS_RECLAIM_WAIT))
		WRITE_ONCE(sbi->reclaim_at, jiffies + DAFS_RECLAIM_REST);
}

/**
 * dafs_release_folio() - may a folio be dropped from the page cache?
 * @folio: a clean folio, locked, not under write-back
 * @gfp: how memory may be allocated, and what may be waited for
 *
 * No extent can come while the folio is locked.
 *
 * Context: may be memory reclaim.
 * Return: true if so.
 */
bool dafs_release_folio(struct folio *folio, gfp_t gfp)
{
	if (dafs_folio_unstable(folio))
		dafs_reclaim_commits(folio, gfp);
	return !dafs_folio_unstable(folio) && netfs_release_folio(folio, gfp);
}

static void dafs_unstable_enlist(struct dafs_inode *di)
{
	struct dafs_sb_info *sbi = DAFS_SB(di->netfs.inode.i_sb);

	lockdep_assert_held(&di->unstable_lock);
	di->unstable_pinned = true;
	spin_lock(&sbi->unstable_lock);
	di->unstable_link.inode = &di->netfs.inode;
	list_add_tail(&di->unstable_link.link, &sbi->unstable);
	spin_unlock(&sbi->unstable_lock);
	queue_delayed_work(sbi->clnt->commit_wq, &sbi->commit_work, DAFS_UNSTABLE_DELAY);
}

/* Commit in the background; the work holds an inode reference of its own. */
static void dafs_commit_queue(struct inode *inode)
{
	struct dafs_sb_info *sbi = DAFS_SB(inode->i_sb);

	if (!igrab(inode))
		return;
	dafs_async_begin(sbi);
	if (queue_work(sbi->clnt->commit_wq, &DAFS_I(inode)->commit_work))
		return;
	iput(inode);
	dafs_async_end(sbi);
}

/**
 * dafs_unstable_add() - keep an extent until it is stable
 * @inode: the file
 * @extent: written unstably; owned by the inode from now on
 *
 * Context: may sleep.
 */
void dafs_unstable_add(struct inode *inode, struct dafs_extent *extent)
{
	struct dafs_sb_info *sbi = DAFS_SB(inode->i_sb);
	struct dafs_inode *di = DAFS_I(inode);
	bool full;

	dafs_extent_count(extent, inode, 1);
	spin_lock(&di->unstable_lock);
	/* a file that is going away with its last name is not read again */
	if (!di->unstable_pinned && !igrab(inode)) {
		spin_unlock(&di->unstable_lock);
		dafs_extent_free(extent);
		return;
	}
	if (!di->unstable_pinned)
		dafs_unstable_enlist(di);
	list_add_tail(&extent->link, &di->unstable);
	WRITE_ONCE(di->unstable_bytes, di->unstable_bytes + extent->len);
	full = di->unstable_bytes >= DAFS_UNSTABLE_SOFT;
	spin_unlock(&di->unstable_lock);
	/*
	 * who sees these folios out of write-back, or that the server has them, sees that:
	 * dafs_size_ours(), dafs_direct_read_waits()
	 */
	smp_wmb();
	if (full)
		dafs_commit_queue(inode);
	else if (dafs_unstable_pages(sbi) >= dafs_unstable_most() / 4)
		dafs_unstable_hurry(sbi);
}

static bool dafs_extents_overlap(const struct list_head *extents, u64 pos, size_t len)
{
	const struct dafs_extent *extent;

	list_for_each_entry(extent, extents, link) {
		if (extent->pos < pos + len && pos < extent->pos + extent->len)
			return true;
	}
	return false;
}

/**
 * dafs_unstable_overlaps() - is a part of a file kept until it is stable?
 * @inode: the file
 * @pos: first byte
 * @len: bytes
 *
 * Context: may not be interrupt.
 * Return: true if so.
 */
bool dafs_unstable_overlaps(struct inode *inode, u64 pos, size_t len)
{
	struct dafs_inode *di = DAFS_I(inode);
	bool overlaps;

	if (!READ_ONCE(di->unstable_bytes))
		return false;
	spin_lock(&di->unstable_lock);
	overlaps = dafs_extents_overlap(&di->unstable, pos, len) ||
		   dafs_extents_overlap(&di->committing, pos, len);
	spin_unlock(&di->unstable_lock);
	return overlaps;
}

/**
 * dafs_unstable_drop() - forget what is not stable
 * @di: inode being evicted
 */
void dafs_unstable_drop(struct dafs_inode *di)
{
	dafs_extents_free(&di->unstable);
	di->unstable_bytes = 0;
}

/*
 * Write an extent again, stably this time.  What has been cut off the file
 * since stays off.
 */
static int dafs_extent_resend(struct inode *inode, const struct dafs_extent *extent)
{
	u64 size = i_size_read(inode);
	struct dafs_io *io;
	int err;

	if (extent->pos >= size)
		return 0;
	io = kzalloc(sizeof(*io), GFP_NOFS | __GFP_NOFAIL);
	io->sbi = DAFS_SB(inode->i_sb);
	io->di = DAFS_I(inode);
	io->open = extent->open;
	io->cred = extent->cred;
	io->write = true;
	io->cached = true;
	io->stable = DAFS_DATA_SYNC;
	io->pos = extent->pos;
	io->len = min_t(u64, extent->len, size - extent->pos);
	iov_iter_bvec(&io->iter, ITER_SOURCE, extent->bv, extent->nr, io->len);
	/*
	 * These folios are not under write-back, so nothing keeps a program
	 * from changing them between the checksum and the transfer.
	 */
	io->force_inline = io->sbi->params.cksum;
	err = dafs_io_run(io);
	kfree(io);
	return err;
}

static int dafs_extents_resend(struct inode *inode, struct list_head *extents,
			       const struct dafs_verifier *verf)
{
	struct dafs_inode *di = DAFS_I(inode);
	struct dafs_extent *extent;
	int err = 0, err2;

	mutex_lock(&di->netfs.wb_lock);
	filemap_fdatawait_keep_errors(inode->i_mapping);
	list_for_each_entry(extent, extents, link) {
		if (!extent->lost && dafs_opaque64_equal(&extent->verf, verf))
			continue;
		err2 = dafs_extent_resend(inode, extent);
		/* not sent: another task was killed that registered the user */
		if (err2 == -ERESTARTSYS) {
			err = err2;
			break;
		}
		err = err ?: err2;
	}
	mutex_unlock(&di->netfs.wb_lock);
	dafs_own_change(di);
	return err;
}

/* Is any of them not to get to the server?  See dafs_open_state_find_writer(). */
static bool dafs_extents_breached(const struct list_head *extents)
{
	const struct dafs_extent *extent;

	list_for_each_entry(extent, extents, link) {
		if (extent->open && READ_ONCE(extent->open->breached))
			return true;
	}
	return false;
}

static bool dafs_extents_stable(const struct list_head *extents,
				const struct dafs_verifier *verf)
{
	const struct dafs_extent *extent;

	list_for_each_entry(extent, extents, link) {
		if (extent->lost || !dafs_opaque64_equal(&extent->verf, verf))
			return false;
	}
	return true;
}

/*
 * Any of those who wrote may commit for all.  Best is one whose open the server
 * has: the mode of the file may have changed since.
 */
static const struct cred *dafs_extents_cred(const struct list_head *extents)
{
	const struct dafs_extent *extent;

	list_for_each_entry(extent, extents, link) {
		if (extent->open && !READ_ONCE(extent->open->lost))
			return extent->cred;
	}
	return list_first_entry(extents, struct dafs_extent, link)->cred;
}

/* Return: 0, a negative errno, or 1 if they are lost and the caller must not resend. */
static int dafs_commit_extents(struct inode *inode, struct list_head *extents, bool resend)
{
	struct dafs_verifier verf;
	int err;

	err = dafs_commit(dafs_inode_clnt(inode), dafs_extents_cred(extents),
			  &DAFS_I(inode)->fh, 0, 0, &verf);
	if (err || dafs_extents_stable(extents, &verf))
		return err;
	return resend ? dafs_extents_resend(inode, extents, &verf) : 1;
}

static size_t dafs_unstable_take(struct dafs_inode *di)
{
	size_t bytes;

	spin_lock(&di->unstable_lock);
	list_splice_init(&di->unstable, &di->committing);
	bytes = di->unstable_bytes;
	spin_unlock(&di->unstable_lock);
	return bytes;
}

static void dafs_unstable_give_back(struct dafs_inode *di)
{
	spin_lock(&di->unstable_lock);
	list_splice_init(&di->committing, &di->unstable);
	spin_unlock(&di->unstable_lock);
}

static void dafs_unstable_committed(struct dafs_inode *di)
{
	LIST_HEAD(extents);

	spin_lock(&di->unstable_lock);
	list_splice_init(&di->committing, &extents);
	spin_unlock(&di->unstable_lock);
	dafs_extents_free(&extents);
}

/* Returns true if the caller has to drop the reference that was held. */
static bool dafs_unstable_done(struct dafs_inode *di, size_t bytes)
{
	struct dafs_sb_info *sbi = DAFS_SB(di->netfs.inode.i_sb);
	bool unpin;

	spin_lock(&di->unstable_lock);
	WRITE_ONCE(di->unstable_bytes, di->unstable_bytes - bytes);
	unpin = di->unstable_pinned && list_empty(&di->unstable);
	if (unpin) {
		di->unstable_pinned = false;
		spin_lock(&sbi->unstable_lock);
		list_del_init(&di->unstable_link.link);
		spin_unlock(&sbi->unstable_lock);
	}
	spin_unlock(&di->unstable_lock);
	return unpin;
}

/* The task that holds the lock may be waiting for a server that answers DELAY. */
static int dafs_commit_lock(struct dafs_inode *di)
{
	if (dafs_task_exits())
		return mutex_trylock(&di->commit_lock) ? 0 : -ERESTARTSYS;
	return mutex_lock_killable(&di->commit_lock) ? -ERESTARTSYS : 0;
}

/*
 * Commit what there is; without @resend leave what is lost to the work queue.
 *
 * Return: 0 if that came to its end, an error being with the mapping; 1 if the work
 * queue is at it, until di->commit_ends is not @ends any more; -ERESTARTSYS.
 */
static int dafs_commit_try(struct inode *inode, bool resend, int *ends)
{
	struct dafs_inode *di = DAFS_I(inode);
	unsigned int flags;
	bool unpin = false;
	size_t bytes;
	int err;

	err = dafs_commit_lock(di);
	if (err)
		return err;
	bytes = dafs_unstable_take(di);
	if (list_empty(&di->committing))
		goto unlock;
	/* memory reclaim may lead to a file system whose device is a file here */
	flags = memalloc_nofs_save();
	err = dafs_commit_extents(inode, &di->committing, resend);
	memalloc_nofs_restore(flags);
	if (err > 0 || err == -ERESTARTSYS) {
		/* If it is a task that is dying, the data stays worth keeping. */
		dafs_unstable_give_back(di);
		*ends = atomic_read(&di->commit_ends);
		dafs_commit_queue(inode);
		goto unlock;
	}
	if (err)
		mapping_set_error(inode->i_mapping, err);
	/* its folios are taken for written, but the file has what others wrote */
	if (err && dafs_extents_breached(&di->committing))
		set_bit(DAFS_INO_ZAP, &di->flags);
	err = 0;
	dafs_unstable_committed(di);
	unpin = dafs_unstable_done(di, bytes);
	/* who waits has given its extents back before, under commit_lock */
	atomic_inc_return(&di->commit_ends);
	wake_up_var(&di->commit_ends);
unlock:
	mutex_unlock(&di->commit_lock);
	if (unpin)
		iput(inode);
	return err;
}

/**
 * dafs_commit_inode() - make stable what has been written to a file
 * @inode: the file, with a reference of the caller
 *
 * An error of it is recorded with the mapping, for everyone who wrote.
 *
 * Context: may sleep; no folio lock, no wb_lock; not from the commit queue of the
 * client.  A fatal signal ends it, and so does it for a task that exits that the server
 * is away, asks for patience, or is asked by another task: the background goes on.
 * Return: 0 if nothing is left that would have to be sent again; -ERESTARTSYS if the
 * task is killed or exits, and no folio may be dropped.
 */
int dafs_commit_inode(struct inode *inode)
{
	struct dafs_inode *di = DAFS_I(inode);
	int ends, err;

	err = dafs_commit_try(inode, false, &ends);
	if (err <= 0)
		return err;
	if (dafs_task_exits())
		return -ERESTARTSYS;
	return wait_var_event_killable(&di->commit_ends,
				       atomic_read(&di->commit_ends) != ends);
}

/**
 * dafs_commit_work() - commit in the background
 * @work: commit_work of a struct dafs_inode
 */
void dafs_commit_work(struct work_struct *work)
{
	struct dafs_inode *di = container_of(work, struct dafs_inode, commit_work);
	struct inode *inode = &di->netfs.inode;
	struct dafs_sb_info *sbi = DAFS_SB(inode->i_sb);
	int ends;

	dafs_commit_try(inode, true, &ends);
	iput(inode);
	dafs_async_end(sbi);
}

/* The next inode between two marks, with a reference; @at moves behind it. */
static struct inode *dafs_unstable_next(struct dafs_sb_info *sbi, struct dafs_unstable_link *at,
					const struct dafs_unstable_link *end)
{
	struct dafs_unstable_link *next;
	struct inode *inode = NULL;

	spin_lock(&sbi->unstable_lock);
	for (next = list_next_entry(at, link); !inode && next != end;
	     next = list_next_entry(at, link)) {
		list_move(&at->link, &next->link);
		if (next->inode)	/* not the mark of another walk */
			inode = igrab(next->inode);
	}
	spin_unlock(&sbi->unstable_lock);
	return inode;
}

/*
 * All that are in the list now.  They stay there for other tasks that walk it:
 * a task that waits for all COMMITs must not miss those that another one waits
 * for.
 */
static void dafs_unstable_for_each(struct dafs_sb_info *sbi, void (*fn)(struct inode *inode))
{
	struct dafs_unstable_link at = {}, end = {};
	struct inode *inode;

	spin_lock(&sbi->unstable_lock);
	list_add(&at.link, &sbi->unstable);
	list_add_tail(&end.link, &sbi->unstable);
	spin_unlock(&sbi->unstable_lock);
	while ((inode = dafs_unstable_next(sbi, &at, &end))) {
		fn(inode);
		iput(inode);
	}
	spin_lock(&sbi->unstable_lock);
	list_del(&at.link);
	list_del(&end.link);
	spin_unlock(&sbi->unstable_lock);
}

static void dafs_commit_wait(struct inode *inode)
{
	dafs_commit_inode(inode);
}

/**
 * dafs_commit_all() - make everything stable that has been written
 * @sbi: the mount
 *
 * Context: may sleep.
 */
void dafs_commit_all(struct dafs_sb_info *sbi)
{
	dafs_unstable_for_each(sbi, dafs_commit_queue);
	dafs_unstable_for_each(sbi, dafs_commit_wait);
}

static void dafs_commit_timer(struct work_struct *work)
{
	struct dafs_sb_info *sbi = container_of(to_delayed_work(work), struct dafs_sb_info,
						commit_work);

	dafs_unstable_for_each(sbi, dafs_commit_queue);
	/* What is written while a commit runs waits for the next time. */
	if (!list_empty_careful(&sbi->unstable))
		queue_delayed_work(sbi->clnt->commit_wq, &sbi->commit_work, DAFS_UNSTABLE_DELAY);
}

/**
 * dafs_unstable_sb_init() - get ready for unstable data
 * @sbi: the mount
 */
void dafs_unstable_sb_init(struct dafs_sb_info *sbi)
{
	spin_lock_init(&sbi->unstable_lock);
	INIT_LIST_HEAD(&sbi->unstable);
	INIT_DELAYED_WORK(&sbi->commit_work, dafs_commit_timer);
	sbi->reclaim_at = jiffies;
}

/**
 * dafs_unstable_sb_exit() - have no unstable data any more
 * @sbi: the mount, being taken down
 *
 * Context: may sleep.
 */
void dafs_unstable_sb_exit(struct dafs_sb_info *sbi)
{
	set_bit(DAFS_SB_CLOSING, &sbi->flags);
	dafs_commit_all(sbi);
	cancel_delayed_work_sync(&sbi->commit_work);
}
