// SPDX-License-Identifier: GPL-2.0
/*
 * New objects: the common part of CREATE and of OPEN with create (6.5.9, 6.5.24).
 */
#include <linux/file.h>
#include <linux/namei.h>
#include <linux/posix_acl.h>
#include <linux/unaligned.h>
#include <linux/dafs/status.h>
#include "../session/client.h"
#include "fh.h"
#include "vfs.h"

/* Return: 1 or 0, or a negative errno if the ACL cannot be read. */
static int dafsd_has_default_acl(struct inode *dir)
{
	struct posix_acl *acl;

	if (!IS_POSIXACL(dir))
		return 0;
	acl = get_inode_acl(dir, ACL_TYPE_DEFAULT);
	if (IS_ERR(acl))
		return PTR_ERR(acl) == -EOPNOTSUPP ? 0 : PTR_ERR(acl);
	posix_acl_release(acl);
	return !!acl;
}

/*
 * The VFS has applied the umask of the server's thread to the mode.  Restore the requested
 * mode: the client has already applied the umask of its process.  With a default ACL the
 * umask is not applied, and the mode is left unchanged.  An inherited set-group-id bit is
 * kept for any caller; if the caller requests the bit, it needs the permission to set it.
 */
static int dafsd_fix_mode(struct inode *dir, struct dentry *dentry, umode_t mode)
{
	struct inode *inode = d_inode(dentry);
	const struct cred *saved = NULL;
	struct iattr ia = {
		.ia_valid = ATTR_MODE | ATTR_CTIME,
		.ia_mode = inode->i_mode | (mode & S_IALLUGO),
	};
	int err;

	if (ia.ia_mode == inode->i_mode || S_ISLNK(inode->i_mode))
		return 0;
	err = dafsd_has_default_acl(dir);
	if (err)
		return min(err, 0);
	if (!(mode & S_ISGID) || (inode->i_mode & S_ISGID))
		saved = dafsd_act_as_server();
	inode_lock(inode);
	err = notify_change(&nop_mnt_idmap, dentry, &ia, NULL);
	inode_unlock(inode);
	if (saved)
		revert_creds(saved);
	return err;
}

/* Half a verifier as a time: 31 bits as seconds, which every file system stores, and 1 bit. */
static struct timespec64 dafsd_verifier_time(const u8 *half, struct inode *inode)
{
	u32 v = get_unaligned((const u32 *)half);
	struct timespec64 ts = { .tv_sec = v & S32_MAX, .tv_nsec = v >> 31 };

	/* that bit is lost if the file system has a coarse granularity */
	return timestamp_truncate(ts, inode);
}

/* The verifier is stored in the times of the file until the client sets them (6.5.24). */
static int dafsd_keep_verifier(struct dentry *dentry, const struct dafs_verifier *verifier)
{
	struct inode *inode = d_inode(dentry);
	struct iattr ia = {
		.ia_valid = ATTR_MTIME | ATTR_ATIME | ATTR_MTIME_SET | ATTR_ATIME_SET |
			    ATTR_TIMES_SET | ATTR_CTIME,
		.ia_mtime = dafsd_verifier_time(verifier->b, inode),
		.ia_atime = dafsd_verifier_time(verifier->b + 4, inode),
	};
	int err;

	inode_lock(inode);
	err = notify_change(&nop_mnt_idmap, dentry, &ia, NULL);
	inode_unlock(inode);
	return err;
}

/**
 * dafsd_create_verifier_matches() - was a file made by this EXCLUSIVE create?
 * @inode: the file
 * @verifier: create_verifier
 *
 * Context: any.
 * Return: true if the request is a repetition of the one that made the file.
 */
bool dafsd_create_verifier_matches(struct inode *inode, const struct dafs_verifier *verifier)
{
	struct timespec64 mtime = dafsd_verifier_time(verifier->b, inode);
	struct timespec64 atime = dafsd_verifier_time(verifier->b + 4, inode);
	struct timespec64 has_mtime = inode_get_mtime(inode);
	struct timespec64 has_atime = inode_get_atime(inode);

	return S_ISREG(inode->i_mode) && !i_size_read(inode) &&
	       timespec64_equal(&has_mtime, &mtime) && timespec64_equal(&has_atime, &atime);
}

static int dafsd_make(struct inode *dir, struct dentry *dentry, const struct dafsd_new *new)
{
	umode_t mode = new->mode & S_IALLUGO;

	switch (new->type) {
	case DAFS_TYPE_REG:
		return vfs_create(&nop_mnt_idmap, dir, dentry, mode, true);
	case DAFS_TYPE_DIR:
		return vfs_mkdir(&nop_mnt_idmap, dir, dentry, mode);
	case DAFS_TYPE_LNK:
		/* consistent with SYMLINK_SUPPORT; the VFS would return -EPERM */
		if (!dir->i_op->symlink)
			return -EOPNOTSUPP;
		return vfs_symlink(&nop_mnt_idmap, dir, dentry, new->link);
	case DAFS_TYPE_BLK:
		return vfs_mknod(&nop_mnt_idmap, dir, dentry, S_IFBLK | mode, new->dev);
	case DAFS_TYPE_CHR:
		return vfs_mknod(&nop_mnt_idmap, dir, dentry, S_IFCHR | mode, new->dev);
	case DAFS_TYPE_SOCK:
		return vfs_mknod(&nop_mnt_idmap, dir, dentry, S_IFSOCK | mode, 0);
	case DAFS_TYPE_FIFO:
		return vfs_mknod(&nop_mnt_idmap, dir, dentry, S_IFIFO | mode, 0);
	default:
		return -EBADTYPE;
	}
}

/* Some file systems do not instantiate the dentry: then look the new object up again. */
static int dafsd_find_made(struct dentry *dir, const struct dafs_str *name,
			   struct dentry **dentry)
{
	struct dentry *made;

	if (d_really_is_positive(*dentry) && !d_unhashed(*dentry))
		return 0;
	made = dafsd_lookup_locked(dir, name);
	if (IS_ERR(made))
		return PTR_ERR(made);
	dput(*dentry);
	*dentry = made;
	return d_really_is_positive(made) ? 0 : -ENOENT;
}

static dafs_status_t dafsd_set_new_attrs(struct inode *dir, struct dentry *dentry,
					 const struct dafsd_new *new)
{
	dafs_status_t status = DAFS_STATUS_OK;
	u64 done;
	int err;

	err = dafsd_fix_mode(dir, dentry, new->mode);
	if (!err && new->exclusive)
		err = dafsd_keep_verifier(dentry, &new->verifier);
	if (err)
		return dafs_errno_to_status(err);
	if (new->attr)
		status = dafsd_fattr_set(dentry, new->attr, new->attr->included &
					 new->attr->valid & ~DAFS_FATTR_MODE, &done);
	return status;
}

static void dafsd_unmake(struct inode *dir, struct dentry *dentry)
{
	if (d_is_dir(dentry))
		vfs_rmdir(&nop_mnt_idmap, dir, dentry);
	else
		vfs_unlink(&nop_mnt_idmap, dir, dentry, NULL);
}

static dafs_status_t dafsd_create_locked(const struct dafsd_fh *dir, const struct dafs_str *name,
					 const struct dafsd_new *new, struct dafs_change_info *info,
					 struct dentry **dentry)
{
	struct inode *inode = dafsd_fh_inode(dir);
	dafs_status_t status;
	int err;

	*dentry = dafsd_lookup_locked(dir->dentry, name);
	if (IS_ERR(*dentry))
		return dafs_errno_to_status(PTR_ERR(*dentry));
	dafsd_change_none(dir, info);
	if (d_really_is_positive(*dentry))
		return DAFSERR_EXIST;
	if (!dir->wants_write)
		return DAFSERR_ROFS;
	if (new->refused)
		return new->refused;
	err = dafsd_make(inode, *dentry, new) ?: dafsd_find_made(dir->dentry, name, dentry);
	if (err)
		return dafs_errno_to_status(err);
	status = dafsd_set_new_attrs(inode, *dentry, new);
	if (status)
		dafsd_unmake(inode, *dentry);
	dafsd_change_after(dir, info);
	return status;
}

static dafs_status_t dafsd_create_commit(const struct dafsd_fh *dir, struct dentry *dentry)
{
	int err = dafsd_commit_metadata(dir->exp, dentry) ?:
		  dafsd_commit_metadata(dir->exp, dir->dentry);

	return dafs_errno_to_status(err);
}

/**
 * dafsd_create() - make an object, with all its attributes or not at all
 * @dir: a directory, not a pseudo directory; its write access may be held
 * @name: checked name
 * @new: what to make
 * @info: change_info of the directory
 * @dentry: set to a reference to the new object with OK, or to the existing one with
 *	EXIST; NULL otherwise, or if the existing one has been removed
 *
 * Context: may sleep; acts for the caller.
 * Return: OK, EXIST, ROFS, @new->refused, or the status of the file system.
 */
dafs_status_t dafsd_create(struct dafsd_fh *dir, const struct dafs_str *name,
			   const struct dafsd_new *new, struct dafs_change_info *info,
			   struct dentry **dentry)
{
	struct inode *inode = dafsd_fh_inode(dir);
	dafs_status_t status;

	*dentry = NULL;
	/*
	 * Write access is taken before the lock.  If it fails with ROFS, the name is
	 * still looked up, because EXIST is a better answer than ROFS.
	 */
	status = dafsd_fh_want_write(dir);
	if (status && status != DAFSERR_ROFS)
		return status;
	inode_lock_nested(inode, I_MUTEX_PARENT);
	status = dafsd_create_locked(dir, name, new, info, dentry);
	inode_unlock(inode);
	if (!status)
		status = dafsd_create_commit(dir, *dentry);
	if (IS_ERR(*dentry))
		*dentry = NULL;
	if (status && *dentry && (status != DAFSERR_EXIST || d_really_is_negative(*dentry))) {
		dput(*dentry);
		*dentry = NULL;
	}
	return status;
}

/**
 * dafsd_create_unlinked() - make a regular file without a name (6.5.24)
 * @dir: a directory, not a pseudo directory, of the file system to make it in;
 *	its write access is held
 * @new: what to make
 * @filp: set to an open file, which the caller closes with __fput_sync(); this removes the
 *	file unless it has another open or a name by then
 *
 * Context: may sleep; acts for the caller.
 * Return: OK, NOTSUPP, or another status of the file system.
 */
dafs_status_t dafsd_create_unlinked(struct dafsd_fh *dir, const struct dafsd_new *new,
				    struct file **filp)
{
	struct path path = dafsd_fh_path(dir);
	dafs_status_t status;

	/* without O_EXCL, so that LINK can give it a name later */
	*filp = kernel_tmpfile_open(&nop_mnt_idmap, &path, S_IFREG | (new->mode & S_IALLUGO),
				    O_RDWR | O_LARGEFILE, current_cred());
	if (IS_ERR(*filp))
		return dafs_errno_to_status(PTR_ERR(*filp));
	path.dentry = (*filp)->f_path.dentry;
	status = dafsd_set_new_attrs(dafsd_fh_inode(dir), path.dentry, new);
	if (!status)
		status = dafs_errno_to_status(dafsd_commit_metadata(dir->exp, path.dentry));
	if (status)
		__fput_sync(*filp);
	return status;
}
