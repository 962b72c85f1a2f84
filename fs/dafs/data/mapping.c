// SPDX-License-Identifier: GPL-2.0
/*
 * What is cached of a file's data: written back, and dropped when it is out of date.
 *
 * What was written here is made stable before it is dropped: once its folios have
 * left the page cache there is nothing to send again from, see unstable.c.
 */
#include <linux/bitops.h>
#include <linux/pagemap.h>
#include <linux/pagevec.h>
#include "../rpc/trace.h"
#include "../state/debt.h"
#include "data.h"

/* Before folios that are dirtied all the time are left to the next one who asks. */
#define DAFS_ZAP_TRIES	3

/**
 * dafs_write_back() - have the server know what is cached
 * @inode: a regular file
 *
 * For those who did not write that themselves: an error stays with the mapping
 * for those who did, but not where the next one to wait for the mapping takes it
 * for its own.
 *
 * Context: may sleep; no folio and no lock of the netfs library held.
 */
void dafs_write_back(struct inode *inode)
{
	if (inode->i_mapping->nrpages)
		filemap_write_and_wait(inode->i_mapping);
}

static int dafs_zap_once(struct inode *inode)
{
	int err;

	filemap_fdatawrite(inode->i_mapping);
	filemap_fdatawait_keep_errors(inode->i_mapping);
	err = dafs_commit_inode(inode);
	return err ?: invalidate_inode_pages2(inode->i_mapping);
}

/*
 * What is written while COMMIT is under way cannot be dropped afterwards, unless it is
 * stable then.  Returns -EBUSY if folios are dirtied faster than they are dropped,
 * -ERESTARTSYS if the task is killed.
 */
static int dafs_zap_pages(struct inode *inode)
{
	unsigned int tries = DAFS_ZAP_TRIES;
	int err = dafs_zap_once(inode);

	if (err != -EBUSY)
		return err;
	dafs_unstable_stop(inode);
	while (err == -EBUSY && --tries)
		err = dafs_zap_once(inode);
	dafs_unstable_go_on(inode);
	return err;
}

/**
 * dafs_mapping_zapped() - is nothing cached that others have made obsolete?
 * @di: a regular file
 *
 * Context: any.
 * Return: true if so.
 */
bool dafs_mapping_zapped(const struct dafs_inode *di)
{
	/* the two are in one word, and never both clear while obsolete data is there */
	return !(smp_load_acquire(&di->flags) & (BIT(DAFS_INO_ZAP) | BIT(DAFS_INO_ZAPPING)));
}

/**
 * dafs_zap_mapping() - drop cached data that others have made obsolete
 * @inode: a regular file
 *
 * Data of our own is written and committed first: once its folios have left
 * the page cache there would be nothing to send again from.  An error of that
 * stays with the mapping, for the program that wrote.  Tasks that come while it
 * goes on wait for its end.
 *
 * Context: may sleep; no folio and no lock of the netfs library held.
 * Return: 0, or -ERESTARTSYS if the task is killed.
 */
int dafs_zap_mapping(struct inode *inode)
{
	struct dafs_inode *di = DAFS_I(inode);
	bool breached;
	int err = 0;

	if (dafs_mapping_zapped(di))
		return 0;
	if (mutex_lock_killable(&di->zap_lock))
		return -ERESTARTSYS;
	if (test_bit(DAFS_INO_ZAP, &di->flags)) {
		set_bit(DAFS_INO_ZAPPING, &di->flags);
		clear_bit(DAFS_INO_ZAP, &di->flags);
		/* if it becomes so meanwhile, there is more to be dropped */
		breached = dafs_debt_breached(inode);
		/*
		 * A folio dirtied meanwhile stays, being newer than the server's, but
		 * what of it was not written is as old as before.
		 */
		err = dafs_zap_pages(inode);
		trace_dafs_zap(inode, err);
		if (!err && breached)
			dafs_debt_dropped(inode);
		if (err)
			set_bit(DAFS_INO_ZAP, &di->flags);
		clear_bit_unlock(DAFS_INO_ZAPPING, &di->flags);
	}
	mutex_unlock(&di->zap_lock);
	return err == -ERESTARTSYS ? err : 0;
}

/*
 * Return: false if a program may rely on what else there is: it has stored to the file since, or
 * could do so unnoticed; or it waits until all that it has written is stable.
 */
static bool dafs_discard_may_go_on(struct inode *inode, int stores)
{
	struct dafs_inode *di = DAFS_I(inode);

	return atomic_read(&di->stores) == stores && !mapping_mapped(inode->i_mapping) &&
	       !atomic_read(&di->flushing);
}

/*
 * What is under write-back is left alone.  Who stores to the folio from now on is counted first,
 * and then waits for its lock.
 */
static void dafs_folio_discard(struct inode *inode, struct folio *folio, int stores)
{
	struct address_space *mapping = inode->i_mapping;

	folio_lock(folio);
	if (folio->mapping == mapping && folio_test_dirty(folio) &&
	    !folio_test_writeback(folio) && dafs_discard_may_go_on(inode, stores))
		generic_error_remove_folio(mapping, folio);
	folio_unlock(folio);
}

/**
 * dafs_discard() - drop what was written but not sent, because the file is being truncated
 * @inode: a regular file
 * @stores: dafs_inode.stores when that was known: what has been written since is kept, with all
 *	else
 *
 * The attributes, with the size, must be read again.
 *
 * Context: may sleep; no folio locked.
 */
void dafs_discard(struct inode *inode, int stores)
{
	struct dafs_inode *di = DAFS_I(inode);
	struct folio_batch batch;
	pgoff_t next = 0;
	unsigned int i;

	folio_batch_init(&batch);
	/* nobody writes it back to drop it */
	mutex_lock(&di->zap_lock);
	while (dafs_discard_may_go_on(inode, stores) &&
	       filemap_get_folios_tag(inode->i_mapping, &next, (pgoff_t)-1,
				      PAGECACHE_TAG_DIRTY, &batch)) {
		for (i = 0; i < folio_batch_count(&batch); i++)
			dafs_folio_discard(inode, batch.folios[i], stores);
		folio_batch_release(&batch);
		cond_resched();
	}
	mutex_unlock(&di->zap_lock);
	dafs_attrs_doubt(di);
}

/**
 * dafs_revalidate_mapping() - have cached data that may be trusted
 * @inode: a regular file
 * @cred: whom to ask the server for
 *
 * Context: may sleep; no folio and no lock of the netfs library held.
 * Return: 0 or a negative errno.
 */
int dafs_revalidate_mapping(struct inode *inode, const struct cred *cred)
{
	unsigned int tries = DAFS_ZAP_TRIES;
	int err;

	/* dropping writes back first, and after that the file may be a shorter one */
	do {
		err = dafs_revalidate(inode, cred, false) ?: dafs_zap_mapping(inode);
	} while (!err && dafs_size_unknown(DAFS_I(inode)) && --tries);
	return err;
}

/* Those that are being read are locked, and the server may be away. */
static int dafs_await_reads(struct address_space *mapping, loff_t start, loff_t end)
{
	pgoff_t next = start >> PAGE_SHIFT, last = (end - 1) >> PAGE_SHIFT;
	struct folio_batch batch;
	unsigned int i;
	int err = 0;

	folio_batch_init(&batch);
	while (!err && filemap_get_folios(mapping, &next, last, &batch)) {
		for (i = 0; !err && i < folio_batch_count(&batch); i++)
			err = folio_wait_locked_killable(batch.folios[i]);
		folio_batch_release(&batch);
		cond_resched();
	}
	return err ? -ERESTARTSYS : 0;
}

/**
 * dafs_invalidate_lock() - lock out page faults, to drop cached data of a part of a file
 * @inode: a regular file
 * @start: first byte
 * @end: behind the last one
 *
 * Faults hold that lock while they wait for the server, and who drops folios waits for
 * what is being read of them: this waits for both while the task can be killed still.
 *
 * Context: may sleep; holds i_rwsem, so that only faults read more meanwhile.
 * Return: 0 with the lock held, for filemap_invalidate_unlock(); -ERESTARTSYS if the task
 * is killed.
 */
int dafs_invalidate_lock(struct inode *inode, loff_t start, loff_t end)
{
	struct address_space *mapping = inode->i_mapping;
	int err = dafs_await_reads(mapping, start, end);

	if (err || down_write_killable(&mapping->invalidate_lock))
		return -ERESTARTSYS;
	/* what faults have begun to read since */
	err = dafs_await_reads(mapping, start, end);
	if (err)
		filemap_invalidate_unlock(mapping);
	return err;
}

/**
 * dafs_drop_range() - drop what is cached of a part of a file
 * @inode: a regular file
 * @start: first byte
 * @end: behind the last one
 *
 * Data of our own is written and committed first, and while that goes on nothing
 * becomes unstable.  A folio that is stored to through a mapping in between is written
 * back and dropped again; what cannot be dropped is left to dafs_zap_mapping().
 *
 * Context: may sleep; holds i_rwsem and the invalidate lock, so that none comes back.
 * Return: 0, or -ERESTARTSYS if the task is killed.
 */
int dafs_drop_range(struct inode *inode, loff_t start, loff_t end)
{
	struct address_space *mapping = inode->i_mapping;
	unsigned int tries = DAFS_ZAP_TRIES;
	int err;

	if (!mapping->nrpages)
		return 0;
	start = round_down(start, PAGE_SIZE);
	dafs_unstable_stop(inode);
	do {
		filemap_fdatawrite_range(mapping, start, end - 1);
		/* all of it, for what is being written may be unstable yet */
		filemap_fdatawait_keep_errors(mapping);
		err = dafs_commit_inode(inode);
		if (!err)
			err = invalidate_inode_pages2_range(mapping, start >> PAGE_SHIFT,
							    (end - 1) >> PAGE_SHIFT);
	} while (err == -EBUSY && --tries);
	dafs_unstable_go_on(inode);
	if (err)
		set_bit(DAFS_INO_ZAP, &DAFS_I(inode)->flags);
	return err == -ERESTARTSYS ? err : 0;
}
