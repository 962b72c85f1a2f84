// SPDX-License-Identifier: GPL-2.0
/*
 * Attributes for the VFS, and which operations an inode has.
 */
#include <linux/highuid.h>
#include <linux/namei.h>
#include <linux/pagemap.h>
#include <linux/slab.h>
#include "../data/data.h"
#include "vfs.h"

/*
 * Dirty data would change the times later.  An error stays in the mapping, for the
 * program that wrote.
 */
static void dafs_getattr_flush(struct inode *inode, u32 request_mask)
{
	if (!S_ISREG(inode->i_mode) || !inode->i_mapping->nrpages ||
	    !(request_mask & (STATX_MTIME | STATX_CTIME | STATX_CHANGE_COOKIE)))
		return;
	filemap_fdatawrite(inode->i_mapping);
	filemap_fdatawait_keep_errors(inode->i_mapping);
}

/* Attributes of the other names may have expired too; see vfs/ahead.c. */
static void dafs_getattr_asked(struct dentry *dentry)
{
	struct dentry *parent;

	if (IS_ROOT(dentry) || d_unhashed(dentry))
		return;
	parent = dget_parent(dentry);
	dafs_ahead_asked(parent);
	dput(parent);
}

/**
 * dafs_vfs_getattr() - stat(2)
 * @idmap: not used, id-mapped mounts are not supported
 * @path: of the object
 * @stat: filled
 * @request_mask: STATX_*
 * @flags: AT_STATX_*
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dafs_vfs_getattr(struct mnt_idmap *idmap, const struct path *path,
		     struct kstat *stat, u32 request_mask, unsigned int flags)
{
	struct inode *inode = d_inode(path->dentry);
	struct dafs_inode *di = DAFS_I(inode);
	bool force, aged;
	int err;

	if ((flags & AT_STATX_SYNC_TYPE) != AT_STATX_DONT_SYNC) {
		/* first, because it changes the attributes */
		dafs_getattr_flush(inode, request_mask);
		force = (flags & AT_STATX_SYNC_TYPE) == AT_STATX_FORCE_SYNC ||
			test_bit(DAFS_INO_STALE_STAT, &di->flags);
		aged = !force && dafs_attrs_aged(di);
		err = dafs_revalidate(inode, current_cred(), force);
		if (err)
			return err;
		if (aged)
			dafs_getattr_asked(path->dentry);
	}
	generic_fillattr(&nop_mnt_idmap, request_mask, inode, stat);
	/* Not for directories: readdir(3) would use it as its buffer size. */
	if (S_ISREG(inode->i_mode))
		stat->blksize = DAFS_SB(inode->i_sb)->opts.wsize;
	stat->btime = di->btime;
	if (DAFS_SB(inode->i_sb)->attrs & DAFS_FATTR_TIME_CREATE)
		stat->result_mask |= STATX_BTIME;
	if (request_mask & STATX_CHANGE_COOKIE) {
		stat->change_cookie = READ_ONCE(di->change);
		stat->result_mask |= STATX_CHANGE_COOKIE;
		stat->attributes |= STATX_ATTR_CHANGE_MONOTONIC;
	}
	return 0;
}

static const struct inode_operations dafs_file_iops = {
	.permission	= dafs_vfs_permission,
	.getattr	= dafs_vfs_getattr,
	.setattr	= dafs_vfs_setattr,
};

/*
 * The target of a link never changes under the same filehandle, so it is read once and
 * cached in i_link, for RCU walk too.
 */
static const char *dafs_get_link(struct dentry *dentry, struct inode *inode,
				 struct delayed_call *done)
{
	char *buf, *link, *old;
	int len;

	if (!dentry)
		return ERR_PTR(-ECHILD);
	buf = __getname();
	if (!buf)
		return ERR_PTR(-ENOMEM);
	len = dafs_readlink(dafs_inode_clnt(inode), current_cred(),
			    &DAFS_I(inode)->fh, buf, PATH_MAX);
	link = len < 0 ? ERR_PTR(len) : kstrdup(buf, GFP_KERNEL);
	__putname(buf);
	/* the link may have been removed, see dafs_keep_target() */
	if (IS_ERR(link))
		return READ_ONCE(inode->i_link) ?: link;
	if (!link)
		return ERR_PTR(-ENOMEM);
	old = cmpxchg(&inode->i_link, NULL, link);
	if (!old)
		return link;
	kfree(link);
	return old;
}

static const struct inode_operations dafs_symlink_iops = {
	.get_link	= dafs_get_link,
	.getattr	= dafs_vfs_getattr,
	.setattr	= dafs_vfs_setattr,
};

/* No folio is larger than one read, see dafs_prepare_read(). */
static void dafs_inode_init_data(struct inode *inode)
{
	u32 size = min_t(u32, DAFS_MAX_FOLIO_SIZE, DAFS_SB(inode->i_sb)->opts.rsize);

	inode->i_op = &dafs_file_iops;
	inode->i_fop = &dafs_file_fops;
	inode->i_mapping->a_ops = &dafs_file_aops;
	mapping_set_folio_order_range(inode->i_mapping, 0,
				      ilog2(size) - PAGE_SHIFT);
}

/**
 * dafs_set_inode_ops() - set the operations of a new inode
 * @inode: the inode, with its mode and filehandle
 * @attr: its attributes
 *
 * Context: any; the inode is not hashed yet, or locked as a new one.
 */
void dafs_set_inode_ops(struct inode *inode, const struct dafs_fattr *attr)
{
	struct dafs_inode *di = DAFS_I(inode);

	netfs_inode_init(&di->netfs, &dafs_request_ops, S_ISREG(inode->i_mode));

	switch (inode->i_mode & S_IFMT) {
	case S_IFREG:
		dafs_inode_init_data(inode);
		break;
	case S_IFDIR:
		if (dafs_is_crossing(inode->i_sb, &di->fh)) {
			inode->i_ino = dafs_crossing_ino(&di->fh);
			inode->i_op = &dafs_crossing_iops;
			inode->i_flags |= S_AUTOMOUNT;
			break;
		}
		inode->i_op = &dafs_dir_iops;
		inode->i_fop = &dafs_dir_fops;
		break;
	case S_IFLNK:
		inode->i_op = &dafs_symlink_iops;
		break;
	default:
		inode->i_op = &dafs_file_iops;
		init_special_inode(inode, inode->i_mode,
				   MKDEV(attr->raw_dev.specdata1,
					 attr->raw_dev.specdata2));
	}
}
