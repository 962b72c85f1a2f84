// SPDX-License-Identifier: GPL-2.0
/*
 * Where one export of the server ends and another begins (4.1.4).
 *
 * A name that leads to a directory with another FSHandle is a crossing: what is
 * behind it is another file system, with inode numbers, free space and limits
 * of its own.  A task that goes through it has that mounted here, as a super
 * block of its own with the client of the mount above.  Such a submount goes
 * away by itself when it was not used for a while, or with the mount above.
 */
#include <linux/jhash.h>
#include <linux/module.h>
#include <linux/mount.h>
#include <linux/slab.h>
#include "vfs.h"

static unsigned int submount_expiry = 600;

static void dafs_submounts_expire(struct work_struct *work);

/* Guarded by the VFS. */
static LIST_HEAD(dafs_submounts);
static DECLARE_DELAYED_WORK(dafs_submounts_work, dafs_submounts_expire);

/* A pass that is due by the old value comes by the new one. */
static int dafs_set_submount_expiry(const char *val, const struct kernel_param *kp)
{
	int err = param_set_uint(val, kp);

	if (!err && submount_expiry && !list_empty(&dafs_submounts))
		mod_delayed_work(system_wq, &dafs_submounts_work,
				 (unsigned long)submount_expiry * HZ);
	return err;
}

static const struct kernel_param_ops dafs_submount_expiry_ops = {
	.set = dafs_set_submount_expiry,
	.get = param_get_uint,
};

module_param_cb(submount_expiry, &dafs_submount_expiry_ops, &submount_expiry, 0644);
MODULE_PARM_DESC(submount_expiry,
		 "Seconds without use after which a submount is unmounted, 0 for never; default 600");

/**
 * dafs_is_crossing() - is an object in another file system than a mount?
 * @sb: super block of the mount
 * @fh: the object
 *
 * Context: any.
 * Return: true if their FSHandles differ.
 */
bool dafs_is_crossing(const struct super_block *sb, const struct dafs_fh *fh)
{
	return memcmp(fh->fshandle, DAFS_SB(sb)->root.fshandle, sizeof(fh->fshandle));
}

/**
 * dafs_crossing_ino() - inode number of a crossing
 * @fh: what is behind it
 *
 * The object's own number is one of another file system.  It may well be that
 * of a directory above, as all roots are alike, and find(1) would see a loop.
 *
 * Context: any.
 * Return: a number from the upper half of 32 bits.
 */
unsigned long dafs_crossing_ino(const struct dafs_fh *fh)
{
	return jhash(fh, sizeof(*fh), 0) | BIT(31);
}

/* What can be done with a crossing without going through it. */
const struct inode_operations dafs_crossing_iops = {
	.permission	= dafs_vfs_permission,
	.getattr	= dafs_vfs_getattr,
	.setattr	= dafs_vfs_setattr,
};

/* SERVER:/PATH of a crossing; the path of @dentry begins with a slash. */
static char *dafs_submount_source(const struct dafs_sb_info *above, struct dentry *dentry)
{
	size_t len = strlen(above->source);
	char *buf = __getname();
	char *path, *source;

	if (!buf)
		return ERR_PTR(-ENOMEM);
	path = dentry_path_raw(dentry, buf, PATH_MAX);
	if (IS_ERR(path)) {
		source = path;
		goto out;
	}
	while (len && above->source[len - 1] == '/')
		len--;
	source = kasprintf(GFP_KERNEL, "%.*s%s", (int)len, above->source, path) ?:
		 ERR_PTR(-ENOMEM);
out:
	__putname(buf);
	return source;
}

/* Who is the first to go through it must not matter to those who follow. */
static int dafs_submount_setup(struct fs_context *fc, struct dentry *dentry)
{
	struct dafs_sb_info *above = DAFS_SB(dentry->d_sb);
	struct dafs_fs_context *ctx = fc->fs_private;
	char *source = dafs_submount_source(above, dentry);

	if (IS_ERR(source))
		return PTR_ERR(source);
	fc->source = source;
	put_cred(fc->cred);
	fc->cred = get_cred(above->cred);
	fc->sb_flags |= dentry->d_sb->s_flags & SB_RDONLY;
	ctx->params = above->params;
	ctx->opts = above->opts;
	ctx->parent = above;
	ctx->root = DAFS_I(d_inode(dentry))->fh;
	return 0;
}

/**
 * dafs_d_automount() - mount what is behind a crossing
 * @path: the crossing
 *
 * Context: may sleep.
 * Return: the new mount with two references, or an ERR_PTR.
 */
struct vfsmount *dafs_d_automount(struct path *path)
{
	unsigned int expiry = READ_ONCE(submount_expiry);
	struct vfsmount *mnt;
	struct fs_context *fc;
	int err;

	fc = fs_context_for_submount(path->dentry->d_sb->s_type, path->dentry);
	if (IS_ERR(fc))
		return ERR_CAST(fc);
	err = dafs_submount_setup(fc, path->dentry);
	mnt = err ? ERR_PTR(err) : fc_mount(fc);
	put_fs_context(fc);
	if (IS_ERR(mnt))
		return mnt;
	/* one for the VFS, one so that it does not expire at once */
	mntget(mnt);
	mnt_set_expiry(mnt, &dafs_submounts);
	if (expiry)
		queue_delayed_work(system_wq, &dafs_submounts_work,
				   (unsigned long)expiry * HZ);
	return mnt;
}

/* What was not used between two passes goes. */
static void dafs_submounts_expire(struct work_struct *work)
{
	unsigned int expiry = READ_ONCE(submount_expiry);

	if (!expiry)
		return;
	mark_mounts_for_expiry(&dafs_submounts);
	if (!list_empty(&dafs_submounts))
		queue_delayed_work(system_wq, &dafs_submounts_work,
				   (unsigned long)expiry * HZ);
}

/**
 * dafs_submount_test() - is a super block that of a submount to be?
 * @sb: the super block
 * @fc: with parent and root set, and s_fs_info
 *
 * The same export reached by two ways below one mount is one super block.
 *
 * Context: sb_lock held.
 * Return: true if so.
 */
int dafs_submount_test(struct super_block *sb, struct fs_context *fc)
{
	const struct dafs_sb_info *new = fc->s_fs_info;
	const struct dafs_sb_info *old;

	if ((sb->s_flags ^ fc->sb_flags) & SB_RDONLY)
		return false;
	/* the super block of a mount that is going has none any more */
	guard(rcu)();
	old = READ_ONCE(sb->s_fs_info);
	return old && old->clnt == new->clnt && !memcmp(&old->root, &new->root, sizeof(old->root));
}

/**
 * dafs_submounts_exit() - stop looking for submounts that are not used
 *
 * Context: module exit; nothing is mounted.
 */
void dafs_submounts_exit(void)
{
	cancel_delayed_work_sync(&dafs_submounts_work);
}
