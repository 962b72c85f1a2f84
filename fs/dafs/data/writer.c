// SPDX-License-Identifier: GPL-2.0
/*
 * For whom cached data is written back.
 *
 * A write is done with the rights of who opened the file that it goes through:
 * set-id bits stay or go by them, and quotas and reserved blocks count by them.
 * So all dirty folios of a file belong to one user at a time, di->writer.  Another
 * one who is about to make folios dirty has those of the former sent first.  It
 * need not wait for the end of that: a request of write-back keeps the user it
 * was begun for.
 *
 * write(2) claims the file under di->claim_lock and keeps it while it copies.  A
 * fault holds mmap_lock, which write(2) may want, so it only tries to get
 * di->claim_lock; without it, it lets go of everything and faults again.  That does
 * not hold for i_rwsem, which read(2) into a mapping of the same file has while it
 * faults: with di->claim_lock held nothing waits for i_rwsem.
 */
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include "data.h"

static bool dafs_writer_is(struct dafs_inode *di, const struct cred *cred)
{
	bool is;

	spin_lock(&di->lock);
	is = di->writer && !di->writer_leaves &&
	     (di->writer == cred || !cred_fscmp(di->writer, cred));
	spin_unlock(&di->lock);
	return is;
}

/* From now on no fault makes a folio dirty for the former user. */
static void dafs_writer_leave(struct dafs_inode *di)
{
	spin_lock(&di->lock);
	di->writer_leaves = true;
	spin_unlock(&di->lock);
}

static void dafs_writer_set(struct dafs_inode *di, const struct cred *cred)
{
	const struct cred *old;

	spin_lock(&di->lock);
	old = di->writer;
	di->writer = get_cred(cred);
	di->writer_leaves = false;
	spin_unlock(&di->lock);
	put_cred(old);
}

/**
 * dafs_writer_claim() - what is made dirty from now on belongs to a user
 * @inode: a regular file
 * @cred: who opened it
 *
 * Errors of writing back what is another's stay with the mapping.
 *
 * Context: may sleep; holds di->claim_lock, for as long as folios are made dirty.
 * Return: 0, or -ERESTARTSYS if the task is killed.
 */
int dafs_writer_claim(struct inode *inode, const struct cred *cred)
{
	struct dafs_inode *di = DAFS_I(inode);

	lockdep_assert_held(&di->claim_lock);
	if (dafs_writer_is(di, cred))
		return 0;
	dafs_writer_leave(di);
	filemap_fdatawrite(inode->i_mapping);
	/* a request begun before must not come across folios that are made dirty now */
	if (mutex_lock_killable(&di->netfs.wb_lock))
		return -ERESTARTSYS;
	dafs_writer_set(di, cred);
	mutex_unlock(&di->netfs.wb_lock);
	return 0;
}

/**
 * dafs_writer_get() - for whom to write back
 * @di: the file
 *
 * Context: any but interrupt; holds netfs.wb_lock, if it is to stay so.
 * Return: the user with a reference.
 */
const struct cred *dafs_writer_get(struct dafs_inode *di)
{
	const struct cred *cred;

	spin_lock(&di->lock);
	cred = get_cred(di->writer ?: current_cred());
	spin_unlock(&di->lock);
	return cred;
}

/*
 * A fault of the kernel's, which copies for a program, is tried again without a look at
 * signals, so a task that is killed ends it here.
 *
 * Return: 0 or a VM_FAULT_*: VM_FAULT_NOPAGE to fault again.
 */
static vm_fault_t dafs_writer_claim_fault(struct inode *inode, const struct cred *cred)
{
	struct dafs_inode *di = DAFS_I(inode);
	int err;

	if (dafs_writer_is(di, cred))
		return 0;
	if (!mutex_trylock(&di->claim_lock)) {
		schedule_timeout_killable(1);
		return fatal_signal_pending(current) ? VM_FAULT_SIGBUS : VM_FAULT_NOPAGE;
	}
	err = dafs_writer_claim(inode, cred);
	mutex_unlock(&di->claim_lock);
	return err ? VM_FAULT_SIGBUS : 0;
}

/*
 * A folio that was written in part and then read to be complete still carries
 * the note which part is dirty.  What is stored through a mapping goes
 * anywhere, so from now on all of it is.  The note belongs to write-back while
 * that is under way, and is gone afterwards.
 */
static void dafs_folio_all_dirty(struct folio *folio, struct address_space *mapping)
{
	struct netfs_folio *info;

	folio_lock(folio);
	if (folio->mapping == mapping) {
		folio_wait_writeback(folio);
		info = netfs_folio_info(folio);
		if (info && folio_test_uptodate(folio)) {
			folio_detach_private(folio);
			kfree(info);
		}
	}
	folio_unlock(folio);
}

static vm_fault_t dafs_folio_mkwrite(struct vm_fault *vmf)
{
	struct file *file = vmf->vma->vm_file;
	struct inode *inode = file_inode(file);
	struct folio *folio = page_folio(vmf->page);
	vm_fault_t ret;

	/* before the folio is locked; pairs with dafs_folio_discard() */
	atomic_inc(&DAFS_I(inode)->stores);
	if (folio_test_private(folio))
		dafs_folio_all_dirty(folio, file->f_mapping);
	ret = netfs_page_mkwrite(vmf, NULL);
	if (!(ret & VM_FAULT_LOCKED))
		return ret;
	folio_mark_dirty(folio);
	if (dafs_writer_is(DAFS_I(inode), file->f_cred))
		return ret;
	folio_unlock(folio);
	return VM_FAULT_NOPAGE;
}

/*
 * Takes the invalidate lock: who drops a part of the cache, because the server has newer data, has
 * it meanwhile, and so finds nothing dirty again that it has just written.  A write(2) that sends
 * its bytes itself is waited for, see dafs_direct_write_alone(): with a folio that was read before
 * it, older bytes would be written back.
 *
 * Return: 0, or -EINTR if the task is killed.
 */
static int dafs_mkwrite_lock(struct inode *inode)
{
	struct dafs_inode *di = DAFS_I(inode);
	int err = down_write_killable(&di->exact_lock);

	if (err)
		return err;
	err = down_read_killable(&inode->i_mapping->invalidate_lock);
	up_write(&di->exact_lock);
	return err;
}

/**
 * dafs_page_mkwrite() - a page is about to be stored to
 * @vmf: the fault
 *
 * The folio is made dirty before it is looked once more whose it is: if it is
 * still this user's, who claims the file next finds it dirty.
 *
 * Context: may sleep, a fatal signal ends it; mmap_lock held.
 * Return: VM_FAULT_LOCKED with the folio locked and dirty, VM_FAULT_NOPAGE to fault
 * again, or an error.
 */
vm_fault_t dafs_page_mkwrite(struct vm_fault *vmf)
{
	struct file *file = vmf->vma->vm_file;
	vm_fault_t ret;

	ret = dafs_writer_claim_fault(file_inode(file), file->f_cred);
	if (ret)
		return ret;
	if (dafs_mkwrite_lock(file_inode(file)))
		return VM_FAULT_SIGBUS;
	ret = dafs_folio_mkwrite(vmf);
	filemap_invalidate_unlock_shared(file->f_mapping);
	return ret;
}
