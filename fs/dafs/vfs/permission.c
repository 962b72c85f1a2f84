// SPDX-License-Identifier: GPL-2.0
/*
 * Access rights as the VFS asks for them.
 */
#include <linux/cred.h>
#include <linux/fs.h>
#include "vfs.h"

static u32 dafs_access_want(const struct inode *inode, int mask)
{
	bool dir = S_ISDIR(inode->i_mode);
	u32 want = 0;

	if (mask & MAY_READ)
		want |= DAFS_ACCESS_READ;
	if (mask & MAY_WRITE)
		want |= dir ? DAFS_ACCESS_MODIFY | DAFS_ACCESS_EXTEND : DAFS_ACCESS_MODIFY;
	if (mask & MAY_EXEC)
		want |= dir ? DAFS_ACCESS_LOOKUP : DAFS_ACCESS_EXECUTE;
	return want;
}

/* Even root may execute a file only if an execute bit is set. */
static int dafs_execute_ok(const struct inode *inode, int mask)
{
	if (!(mask & MAY_EXEC) || S_ISDIR(inode->i_mode))
		return 0;
	return inode->i_mode & 0111 ? 0 : -EACCES;
}

/* Rights of the caller by the mode bits alone; the server may grant more or fewer. */
static bool dafs_mode_grants(const struct inode *inode, int mask)
{
	umode_t mode = inode->i_mode;

	if (uid_eq(current_fsuid(), inode->i_uid))
		mode >>= 6;
	else if (in_group_p(inode->i_gid))
		mode >>= 3;
	return !(mask & ~mode & (MAY_READ | MAY_WRITE | MAY_EXEC));
}

/*
 * OPEN checks access at no extra cost.  But the server lets a user who may execute a
 * file also read it, does not know O_TRUNC, and may report another error than the VFS
 * would.  So if the mode bits deny access, ask first.
 */
static bool dafs_left_to_open(const struct inode *inode, int mask)
{
	if (!S_ISREG(inode->i_mode) || !(mask & MAY_OPEN) || (mask & MAY_EXEC))
		return false;
	/*
	 * The mode says nothing about root, who may be squashed.  So ask first if a file
	 * is executable for some users and not readable for all.
	 */
	if (uid_eq(current_fsuid(), GLOBAL_ROOT_UID))
		return (mask & MAY_WRITE) || !(inode->i_mode & 0111) ||
		       (inode->i_mode & 0444) == 0444;
	return dafs_mode_grants(inode, mask);
}

/*
 * The server grants changing a directory only together with searching it (6.5.2); the
 * VFS asks for each of them alone.
 */
static u32 dafs_access_unsearched(const struct inode *inode, u32 granted)
{
	if (S_ISDIR(inode->i_mode) && !(granted & DAFS_ACCESS_LOOKUP) &&
	    dafs_mode_grants(inode, MAY_WRITE))
		granted |= DAFS_ACCESS_MODIFY | DAFS_ACCESS_EXTEND;
	return granted;
}

/**
 * dafs_vfs_permission() - check access for the VFS
 * @idmap: not used, id-mapped mounts are not supported
 * @inode: the object
 * @mask: MAY_*
 *
 * Context: may sleep unless @mask has MAY_NOT_BLOCK.
 * Return: 0, -EACCES, -ECHILD if it would have to sleep and may not, or another
 * negative errno.
 */
int dafs_vfs_permission(struct mnt_idmap *idmap, struct inode *inode, int mask)
{
	const struct cred *cred = current_cred();
	u32 want = dafs_access_want(inode, mask);
	u32 granted;
	int err;

	if (!want || dafs_left_to_open(inode, mask))
		return 0;
	if (!(mask & MAY_NOT_BLOCK))
		err = dafs_access_granted(inode, cred, &granted);
	else
		err = dafs_access_cached(DAFS_I(inode), cred, &granted) ? 0 : -ECHILD;
	if (dafs_gone(inode, err))
		return generic_permission(&nop_mnt_idmap, inode, mask);
	if (err)
		return err;
	if (want & ~dafs_access_unsearched(inode, granted))
		return -EACCES;
	return dafs_execute_ok(inode, mask);
}
