// SPDX-License-Identifier: GPL-2.0
/*
 * The open files of the exported file system that opens have: who may open them, opening
 * and closing them.
 *
 * A task that removes a name waits for dafsd_file.lock with the directory locked.  So
 * files are neither opened nor closed under dafsd_file.lock: both may block without bound,
 * for a local program that must give permission (fanotify), or for the file system.
 */
#include <linux/file.h>
#include <linux/security.h>
#include <linux/dafs/status.h>
#include "../vfs/fh.h"
#include "open_impl.h"

static int dafsd_access_mask(u32 access)
{
	return (access & DAFS_OPEN_SHARE_ACCESS_READ ? MAY_READ : 0) |
	       (access & DAFS_OPEN_SHARE_ACCESS_WRITE ? MAY_WRITE : 0);
}

static int dafsd_open_flags(u32 access)
{
	switch (access) {
	case DAFS_OPEN_SHARE_ACCESS_READ:
		return O_RDONLY | O_LARGEFILE;
	case DAFS_OPEN_SHARE_ACCESS_WRITE:
		return O_WRONLY | O_LARGEFILE;
	default:
		return O_RDWR | O_LARGEFILE;
	}
}

/**
 * dafsd_file_permission() - may the caller open a file?
 * @inode: the file
 * @access: DAFS_OPEN_SHARE_ACCESS_* needed
 * @flags: DAFSD_OPEN_CREATED or DAFSD_OPEN_OWNER, or 0
 *
 * A client that executes a program reads the file, and has no way to tell the server the
 * reason: so a user who may execute a file may also read it.
 *
 * Context: may sleep; acts for the caller.
 * Return: 0, or a negative errno.
 */
int dafsd_file_permission(struct inode *inode, u32 access, unsigned int flags)
{
	int mask = dafsd_access_mask(access);
	int err;

	if ((mask & MAY_WRITE) && (IS_IMMUTABLE(inode) || IS_APPEND(inode)))
		return -EPERM;
	if (flags & DAFSD_OPEN_CREATED)
		return 0;
	if ((flags & DAFSD_OPEN_OWNER) && uid_eq(inode->i_uid, current_fsuid()))
		return 0;
	err = inode_permission(&nop_mnt_idmap, inode, mask);
	if (err == -EACCES && mask == MAY_READ)
		err = inode_permission(&nop_mnt_idmap, inode, MAY_EXEC);
	return err;
}

/*
 * Permission has been checked.  O_NONBLOCK is only used for opening: leases of local
 * programs are broken, but the open does not wait for that.
 */
static struct file *dafsd_path_open(const struct path *path, u32 access, const struct cred *cred)
{
	struct file *filp = dentry_open(path, dafsd_open_flags(access) | O_NONBLOCK, cred);
	int err;

	if (IS_ERR(filp))
		return filp;
	spin_lock(&filp->f_lock);
	filp->f_flags &= ~O_NONBLOCK;
	spin_unlock(&filp->f_lock);
	err = security_file_post_open(filp, dafsd_access_mask(access));
	if (err) {
		__fput_sync(filp);
		return ERR_PTR(err);
	}
	return filp;
}

/**
 * dafsd_fh_open() - open a file
 * @fh: the file
 * @access: DAFS_OPEN_SHARE_ACCESS_* that it is opened for; the permission has been checked
 * @cred: the credential to open it with
 *
 * Context: may sleep, without bound.
 * Return: the open file, to be ended with dafsd_open_done(), or an ERR_PTR.
 */
struct file *dafsd_fh_open(const struct dafsd_fh *fh, u32 access, const struct cred *cred)
{
	struct path path = dafsd_fh_path(fh);

	return dafsd_path_open(&path, access, cred);
}

/**
 * dafsd_open_done() - drop a reference to a file
 * @filp: the file
 *
 * Dropping the last reference closes the file at once: a later request must not find the
 * file still open for writing.
 *
 * Context: may sleep.
 */
void dafsd_open_done(struct file *filp)
{
	__fput_sync(filp);
}

/**
 * dafsd_opening_want() - ask dafsd_opening_open() to open a file
 * @opening: what to open
 * @access: DAFS_OPEN_SHARE_ACCESS_* that the open is to have
 * @cred: the credential to open the file with
 *
 * Context: any.
 */
void dafsd_opening_want(struct dafsd_opening *opening, u32 access, const struct cred *cred)
{
	opening->wanted = access;
	put_cred(opening->cred);
	opening->cred = get_cred(cred);
}

/**
 * dafsd_opening_fits() - has the file been opened as an open needs it?
 * @opening: what was opened
 * @access: DAFS_OPEN_SHARE_ACCESS_* that the open is to have
 * @cred: the credential to open the file with
 *
 * Context: holds the lock of the file's record.
 * Return: false if dafsd_opening_open() has to open another file first.
 */
bool dafsd_opening_fits(struct dafsd_opening *opening, u32 access, const struct cred *cred)
{
	bool fits = opening->filp && opening->access == access;

	if (fits)
		opening->wanted = 0;
	else
		dafsd_opening_want(opening, access, cred);
	return fits;
}

/**
 * dafsd_opening_end() - close a file that no open has taken, or that was replaced
 * @opening: what was opened
 *
 * Context: may sleep.
 */
void dafsd_opening_end(struct dafsd_opening *opening)
{
	if (opening->filp)
		dafsd_open_done(opening->filp);
	opening->filp = NULL;
	put_cred(opening->cred);
	opening->cred = NULL;
}

/**
 * dafsd_opening_open() - open the file that dafsd_opening_fits() has asked for, if any
 * @opening: what to open
 * @fh: the file
 *
 * Context: may sleep; does not hold the lock of the file's record.
 * Return: OK, or the status of the file system.
 */
dafs_status_t dafsd_opening_open(struct dafsd_opening *opening, const struct dafsd_fh *fh)
{
	struct file *filp;

	if (!opening->wanted)
		return DAFS_STATUS_OK;
	filp = dafsd_fh_open(fh, opening->wanted, opening->cred);
	dafsd_opening_end(opening);
	if (IS_ERR(filp))
		return dafs_errno_to_status(PTR_ERR(filp));
	opening->filp = filp;
	opening->access = opening->wanted;
	return DAFS_STATUS_OK;
}

/**
 * dafsd_open_filp() - the open file of an open
 * @open: the open
 *
 * Context: holds the lock of the file's record.
 * Return: the open file, without a reference.
 */
struct file *dafsd_open_filp(const struct dafsd_open *open)
{
	return rcu_dereference_protected(open->filp, lockdep_is_held(&open->state.file->lock));
}

/**
 * dafsd_open_replace() - replace the open file of an open
 * @open: the open
 * @opening: the new one; the old one afterwards
 *
 * The new file must report the write-back errors that the old one has not reported yet.
 * I/O in progress keeps using the old one.
 *
 * Context: holds the lock of the file's record.
 */
void dafsd_open_replace(struct dafsd_open *open, struct dafsd_opening *opening)
{
	struct file *old = dafsd_open_filp(open);

	opening->filp->f_wb_err = READ_ONCE(old->f_wb_err);
	opening->filp = rcu_replace_pointer(open->filp, opening->filp,
					    lockdep_is_held(&open->state.file->lock));
}
