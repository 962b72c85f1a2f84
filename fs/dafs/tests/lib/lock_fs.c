// SPDX-License-Identifier: GPL-2.0
/*
 * A file system with locks of its own, which may take its time.  They are those of the kernel, all
 * the same.
 */
#include <linux/fcntl.h>
#include <linux/filelock.h>
#include "lock_fs.h"

static struct file_operations lock_fs_fops;
static const struct file_operations *lock_fs_real_fops;
static void (*lock_fs_before)(void);

static int lock_fs_lock(struct file *filp, int cmd, struct file_lock *fl)
{
	if (IS_GETLK(cmd)) {
		posix_test_lock(filp, fl);
		return 0;
	}
	lock_fs_before();
	return posix_lock_file(filp, fl, NULL);
}

static void lock_fs_unhook(void *data)
{
	struct inode *inode = data;

	inode->i_fop = lock_fs_real_fops;
	iput(inode);
}

/* Its operations are lock_fs_fops until the test ends, which are as before yet. */
static void lock_fs_take(struct kunit *test, struct dafs_fixture *fix, const char *name)
{
	struct inode *inode;
	struct path path;

	KUNIT_ASSERT_EQ(test, 0, dafs_backing_path(fix, name, &path));
	inode = igrab(d_inode(path.dentry));
	path_put(&path);
	lock_fs_real_fops = inode->i_fop;
	lock_fs_fops = *lock_fs_real_fops;
	inode->i_fop = &lock_fs_fops;
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, lock_fs_unhook, inode));
}

void lock_fs_hook(struct kunit *test, struct dafs_fixture *fix, const char *name,
		  void (*before)(void))
{
	lock_fs_before = before;
	lock_fs_take(test, fix, name);
	lock_fs_fops.lock = lock_fs_lock;
}

static int lock_fs_setlease(struct file *filp, int arg, struct file_lease **lease, void **priv)
{
	return generic_setlease(filp, arg, lease, priv);
}

void lock_fs_hook_leases(struct kunit *test, struct dafs_fixture *fix, const char *name)
{
	lock_fs_take(test, fix, name);
	lock_fs_fops.setlease = lock_fs_setlease;
}
