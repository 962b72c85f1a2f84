// SPDX-License-Identifier: GPL-2.0
/*
 * Making, removing and renaming objects; vfs/lookup.c finds them.
 */
#include <linux/fs.h>
#include <linux/namei.h>
#include <linux/pagemap.h>
#include "../state/deleg.h"
#include "../state/state.h"
#include "vfs.h"

/*
 * A change was refused, or its response was lost: another client may have been faster,
 * or the change was made.  The next GETATTR will show it.
 */
static int dafs_dir_change_failed(struct inode *dir, int err)
{
	struct dafs_inode *di = DAFS_I(dir);

	dafs_attr_outdate(di);
	set_bit(DAFS_INO_STALE, &di->flags);
	set_bit(DAFS_INO_STALE_STAT, &di->flags);
	return err;
}

/**
 * dafs_instantiate() - a name leads to an object that has just been made
 * @dir: the directory
 * @dentry: the name
 * @inode: the object; its reference is consumed
 * @gen: dafs_dir_gen() from before
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dafs_instantiate(struct inode *dir, struct dentry *dentry, struct inode *inode,
		     unsigned long gen)
{
	struct dentry *alias;

	d_drop(dentry);
	alias = dafs_splice(inode, dentry, gen);
	if (IS_ERR(alias))
		return PTR_ERR(alias);
	dput(alias);
	return 0;
}

/**
 * dafs_not_made() - an object could not be made
 * @dir: the directory
 * @dentry: the name
 * @err: what is returned
 *
 * The object may exist, or another client's, so its name must be looked up again.
 *
 * Context: any but interrupt.
 * Return: @err.
 */
int dafs_not_made(struct inode *dir, struct dentry *dentry, int err)
{
	d_drop(dentry);
	return dafs_dir_change_failed(dir, err);
}

/* CREATE sets the mode of directories only (E-30); symbolic links need none. */
static int dafs_make_node(struct inode *dir, struct dentry *dentry, umode_t mode,
			  const struct dafs_node *node)
{
	struct dafs_sb_info *sbi = DAFS_SB(dir->i_sb);
	struct dafs_asked asked = dafs_asked_now(dir->i_sb);
	unsigned long gen = dafs_dir_gen(dir);
	struct dafs_change_info change;
	struct dafs_found found = {};
	struct dafs_fattr dress = {};
	struct inode *inode;
	int err;

	dafs_fattr_mode(&dress, mode);
	err = dafs_create_attrs(sbi->clnt, current_cred(), &DAFS_I(dir)->fh, &dentry->d_name, node,
				node->attr || S_ISLNK(mode) ? NULL : &dress, sbi->attrs, &found,
				&change);
	if (found.done)
		dafs_dir_changed(dir, &change);
	if (!err) {
		inode = dafs_iget_known(dir->i_sb, &found.fh, &found.attr, &found.ids, asked);
		err = PTR_ERR_OR_ZERO(inode);
	}
	if (!err)
		return dafs_instantiate(dir, dentry, inode, gen);
	return dafs_not_made(dir, dentry, err);
}

static int dafs_dir_mkdir(struct mnt_idmap *idmap, struct inode *dir,
			  struct dentry *dentry, umode_t mode)
{
	struct dafs_fattr attr = {};
	const struct dafs_node node = { .type = DAFS_TYPE_DIR, .attr = &attr };

	dafs_fattr_mode(&attr, mode);
	return dafs_make_node(dir, dentry, mode, &node);
}

static int dafs_dir_symlink(struct mnt_idmap *idmap, struct inode *dir,
			    struct dentry *dentry, const char *target)
{
	const struct dafs_node node = {
		.type = DAFS_TYPE_LNK,
		.link = { .len = strlen(target), .data = (const u8 *)target },
	};
	int err = dafs_make_node(dir, dentry, S_IFLNK | 0777, &node);

	/* the target does not fit into a message, and there is no other procedure for it */
	return err == -EMSGSIZE ? -ENAMETOOLONG : err;
}

/*
 * If each name has its own handle (6.1.6, UNIQUE_HANDLE), the new name must be looked
 * up.
 */
static int dafs_dir_link(struct dentry *old, struct inode *dir, struct dentry *dentry)
{
	struct inode *inode = d_inode(old);
	struct dafs_inode *di = DAFS_I(inode);
	long asked = READ_ONCE(di->asked);
	unsigned long gen = dafs_dir_gen(dir);
	struct dafs_change_info change;
	int err;

	err = dafs_link(dafs_inode_clnt(dir), current_cred(), &di->fh, &DAFS_I(dir)->fh,
			&dentry->d_name, &change);
	/* link(2) reports EPERM if the file system has no hard links */
	if (err)
		return dafs_dir_change_failed(dir, err == -EOPNOTSUPP ? -EPERM : err);
	dafs_dir_changed(dir, &change);
	clear_bit(DAFS_INO_REMOVED, &di->flags);
	/* older answers do not know the new name; and it must not be counted twice */
	dafs_attr_outdate(di);
	spin_lock(&di->lock);
	if (!inode->i_nlink)
		set_nlink(inode, 1);
	else if (di->asked == asked)
		inc_nlink(inode);
	spin_unlock(&di->lock);
	dafs_own_metadata(inode, current_cred());
	if (!DAFS_SB(dir->i_sb)->unique_handle) {
		d_drop(dentry);
		return 0;
	}
	ihold(inode);
	return dafs_instantiate(dir, dentry, inode, gen);
}

static int dafs_make_file(struct inode *dir, struct dentry *dentry, umode_t mode)
{
	const struct dafs_new_file how = {
		.mode = mode,
		.access = DAFS_OPEN_SHARE_ACCESS_READ,
	};
	unsigned long gen = dafs_dir_gen(dir);
	struct dafs_open_state *os;
	struct inode *inode;
	int err;

	os = dafs_open_state_create(dir, &dentry->d_name, &how, current_cred(), &inode);
	if (IS_ERR(os))
		return dafs_not_made(dir, dentry, PTR_ERR(os));
	err = dafs_instantiate(dir, dentry, igrab(inode), gen);
	dafs_open_state_leave(os, how.access);
	dafs_open_state_put(os, true);
	iput(inode);
	return err;
}

static int dafs_dir_mknod(struct mnt_idmap *idmap, struct inode *dir,
			  struct dentry *dentry, umode_t mode, dev_t dev)
{
	struct dafs_node node = {
		.dev = { .specdata1 = MAJOR(dev), .specdata2 = MINOR(dev) },
	};

	switch (mode & S_IFMT) {
	case 0:
	case S_IFREG:
		return dafs_make_file(dir, dentry, mode);
	case S_IFBLK:
		node.type = DAFS_TYPE_BLK;
		break;
	case S_IFCHR:
		node.type = DAFS_TYPE_CHR;
		break;
	case S_IFIFO:
		node.type = DAFS_TYPE_FIFO;
		break;
	case S_IFSOCK:
		node.type = DAFS_TYPE_SOCK;
		break;
	default:
		return -EINVAL;
	}
	return dafs_make_node(dir, dentry, mode, &node);
}

static int dafs_dir_create(struct mnt_idmap *idmap, struct inode *dir,
			   struct dentry *dentry, umode_t mode, bool excl)
{
	return dafs_make_file(dir, dentry, mode);
}

/* Reads the target of a symbolic link before its name is removed: later is too late. */
static void dafs_keep_target(struct dentry *dentry)
{
	struct inode *inode = d_inode(dentry);
	DEFINE_DELAYED_CALL(done);

	if (S_ISLNK(inode->i_mode) && d_count(dentry) > 1 && !READ_ONCE(inode->i_link))
		inode->i_op->get_link(dentry, inode, &done);
}

/*
 * A name will be removed.  Other tasks may see the effect in their responses before the
 * response to the removal arrives.
 */
static long dafs_removing(struct dentry *dentry)
{
	struct dafs_inode *di = DAFS_I(d_inode(dentry));

	dafs_keep_target(dentry);
	set_bit(DAFS_INO_REMOVED, &di->flags);
	return READ_ONCE(di->asked);
}

/*
 * The server may have said meanwhile that the object is gone, which was taken for the
 * effect of the removal: it is asked again.
 */
static void dafs_not_removed(struct inode *inode)
{
	struct dafs_inode *di = DAFS_I(inode);

	clear_bit(DAFS_INO_REMOVED, &di->flags);
	/* pairs with dafs_attrs_last() */
	smp_mb__after_atomic();
	set_bit(DAFS_INO_STALE, &di->flags);
}

/*
 * Does i_nlink come from the server?  An answer that came during the removal may count
 * the removed name or not, so ask again.  If that fails, keep the higher count: with
 * i_nlink 0 the inode would be evicted.
 */
static bool dafs_names_counted(struct inode *inode, long asked)
{
	struct dafs_inode *di = DAFS_I(inode);
	long now = READ_ONCE(di->asked);
	int err;

	if (S_ISDIR(inode->i_mode) || now == asked)
		return false;
	err = dafs_revalidate(inode, current_cred(), true);
	return err || READ_ONCE(di->asked) != now;
}

static void dafs_count_removed(struct inode *inode)
{
	struct dafs_inode *di = DAFS_I(inode);

	spin_lock(&di->lock);
	if (S_ISDIR(inode->i_mode))
		clear_nlink(inode);
	else if (inode->i_nlink)
		drop_nlink(inode);
	spin_unlock(&di->lock);
}

/* A name was removed. Only the server knows whether there are others. */
static void dafs_removed(struct inode *inode, long asked)
{
	struct dafs_inode *di = DAFS_I(inode);

	/* older answers do not know of the removal */
	dafs_attr_outdate(di);
	if (!dafs_names_counted(inode, asked))
		dafs_count_removed(inode);
	if (!inode->i_nlink) {
		dafs_own_change(di);
		return;
	}
	/* other names may be other inodes here, see dafs_dir_link() */
	if (DAFS_SB(inode->i_sb)->unique_handle)
		dafs_not_removed(inode);
	dafs_own_metadata(inode, current_cred());
}

static int dafs_dir_unlink(struct inode *dir, struct dentry *dentry)
{
	struct dafs_change_info change;
	long asked;
	int err;

	dafs_deleg_give_up(d_inode(dentry));
	asked = dafs_removing(dentry);
	err = dafs_remove(dafs_inode_clnt(dir), current_cred(), &DAFS_I(dir)->fh,
			  &dentry->d_name, DAFS_REMOVE_UNCHECKED, &change);
	if (err) {
		dafs_not_removed(d_inode(dentry));
		return dafs_dir_change_failed(dir, err);
	}
	dafs_dir_changed(dir, &change);
	dafs_removed(d_inode(dentry), asked);
	return 0;
}

static int dafs_dir_rmdir(struct inode *dir, struct dentry *dentry)
{
	/* A crossing, even if nothing is mounted on it now; the server reports no such error. */
	if (IS_AUTOMOUNT(d_inode(dentry)))
		return -EBUSY;
	return dafs_dir_unlink(dir, dentry);
}

static int dafs_dir_rename(struct mnt_idmap *idmap, struct inode *old_dir,
			   struct dentry *old_dentry, struct inode *new_dir,
			   struct dentry *new_dentry, unsigned int flags)
{
	struct inode *victim = d_inode(new_dentry);
	unsigned long gen = dafs_dir_gen(new_dir);
	struct dafs_rename_res res = {};
	long asked = 0;
	int err;

	/* RENAME always replaces; there are no flags. */
	if (flags)
		return -EINVAL;
	if (IS_AUTOMOUNT(d_inode(old_dentry)) || (victim && IS_AUTOMOUNT(victim)))
		return -EBUSY;
	if (victim) {
		dafs_deleg_give_up(victim);
		asked = dafs_removing(new_dentry);
	}
	err = dafs_rename(dafs_inode_clnt(old_dir), current_cred(), &DAFS_I(old_dir)->fh,
			  &old_dentry->d_name, &DAFS_I(new_dir)->fh,
			  &new_dentry->d_name, &res);
	if (err && victim)
		dafs_not_removed(victim);
	/* the VFS has checked that both are directories, or none is (E-93) */
	if (err == -EEXIST && victim && S_ISDIR(victim->i_mode))
		return -ENOTEMPTY;
	if (err) {
		dafs_dir_change_failed(old_dir, err);
		return dafs_dir_change_failed(new_dir, err);
	}
	dafs_dir_changed(old_dir, &res.source);
	if (new_dir != old_dir)
		dafs_dir_changed(new_dir, &res.target);
	if (victim)
		dafs_removed(victim, asked);
	/* d_move() makes it the dentry of the new name. */
	old_dentry->d_time = gen;
	dafs_own_metadata(d_inode(old_dentry), current_cred());
	return 0;
}

const struct inode_operations dafs_dir_iops = {
	.lookup		= dafs_dir_lookup,
	.create		= dafs_dir_create,
	.atomic_open	= dafs_dir_atomic_open,
	.unlink		= dafs_dir_unlink,
	.link		= dafs_dir_link,
	.symlink	= dafs_dir_symlink,
	.mkdir		= dafs_dir_mkdir,
	.rmdir		= dafs_dir_rmdir,
	.mknod		= dafs_dir_mknod,
	.rename		= dafs_dir_rename,
	.tmpfile	= dafs_dir_tmpfile,
	.permission	= dafs_vfs_permission,
	.getattr	= dafs_vfs_getattr,
	.setattr	= dafs_vfs_setattr,
};
