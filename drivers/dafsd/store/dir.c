// SPDX-License-Identifier: GPL-2.0
/*
 * The state directory: it has the key of the filehandles and the store.
 */
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/mount.h>
#include <linux/namei.h>
#include "store.h"

char *dafsd_state_dir = "/var/lib/dafs";
module_param_named(state_dir, dafsd_state_dir, charp, 0444);
MODULE_PARM_DESC(state_dir,
		 "directory for what has to survive a restart, made if missing (default /var/lib/dafs)");

/**
 * dafsd_sync_dir() - make the names of new entries of a directory durable
 * @path: the directory
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dafsd_sync_dir(const struct path *path)
{
	struct file *dir = dentry_open(path, O_RDONLY | O_DIRECTORY, current_cred());
	int err;

	if (IS_ERR(dir))
		return PTR_ERR(dir);
	err = vfs_fsync(dir, 0);
	fput(dir);
	return err;
}

static int dafsd_state_make_dir(void)
{
	struct path parent;
	struct dentry *dentry;
	struct path path;
	int err;

	dentry = kern_path_create(AT_FDCWD, dafsd_state_dir, &path, LOOKUP_DIRECTORY);
	if (IS_ERR(dentry))
		return PTR_ERR(dentry) == -EEXIST ? 0 : PTR_ERR(dentry);
	err = vfs_mkdir(mnt_idmap(path.mnt), d_inode(path.dentry), dentry, 0700);
	parent = path;
	path_get(&parent);
	done_path_create(&path, dentry);
	if (!err)
		err = dafsd_sync_dir(&parent);
	path_put(&parent);
	return err;
}

/**
 * dafsd_state_dir_open() - open the state directory, and create it if it does not exist
 *
 * Context: may sleep; with the credential that it is to belong to.  It is looked up from the
 * root directory of the caller.
 * Return: the directory, or an ERR_PTR.
 */
struct file *dafsd_state_dir_open(void)
{
	int err = dafsd_state_make_dir();

	if (err)
		return ERR_PTR(err);
	return filp_open(dafsd_state_dir, O_RDONLY | O_DIRECTORY, 0);
}

static int dafsd_rename_in_locked(const struct path *dir, const char *from, const char *to)
{
	struct mnt_idmap *idmap = mnt_idmap(dir->mnt);
	struct renamedata rd = {
		.old_mnt_idmap = idmap,
		.old_dir = d_inode(dir->dentry),
		.new_mnt_idmap = idmap,
		.new_dir = d_inode(dir->dentry),
	};
	int err;

	rd.old_dentry = lookup_one(idmap, from, dir->dentry, strlen(from));
	if (IS_ERR(rd.old_dentry))
		return PTR_ERR(rd.old_dentry);
	rd.new_dentry = lookup_one(idmap, to, dir->dentry, strlen(to));
	err = PTR_ERR_OR_ZERO(rd.new_dentry);
	if (err)
		goto put_old;
	err = d_is_positive(rd.old_dentry) ? vfs_rename(&rd) : -ENOENT;
	dput(rd.new_dentry);
put_old:
	dput(rd.old_dentry);
	return err;
}

/**
 * dafsd_rename_in() - rename a file, as rename(2), so that the result is durable
 * @dir: its directory
 * @from: its name
 * @to: its new name
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dafsd_rename_in(struct file *dir, const char *from, const char *to)
{
	int err = mnt_want_write_file(dir);

	if (err)
		return err;
	inode_lock_nested(file_inode(dir), I_MUTEX_PARENT);
	err = dafsd_rename_in_locked(&dir->f_path, from, to);
	inode_unlock(file_inode(dir));
	mnt_drop_write_file(dir);
	return err ?: vfs_fsync(dir, 0);
}
