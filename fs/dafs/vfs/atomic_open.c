// SPDX-License-Identifier: GPL-2.0
/*
 * open(2) of a name that is not in the dentry cache: looked up, created and opened at once.
 */
#include <linux/fs.h>
#include <linux/namei.h>
#include "../state/state.h"
#include "vfs.h"

static u32 dafs_open_flags_access(unsigned int flags)
{
	switch (flags & O_ACCMODE) {
	case O_RDWR:
		return DAFS_OPEN_SHARE_ACCESS_BOTH;
	case O_WRONLY:
		return DAFS_OPEN_SHARE_ACCESS_WRITE;
	}
	/* as in dafs_file_access(), one for ioctl only counts as a reader */
	return DAFS_OPEN_SHARE_ACCESS_READ;
}

/* The name leads to @inode, which the server has opened; takes over @os, not @inode. */
static int dafs_finish_open(struct inode *dir, struct dentry *dentry, struct file *file,
			    struct inode *inode, struct dafs_open_state *os, unsigned long gen)
{
	int err = dafs_instantiate(dir, dentry, igrab(inode), gen);

	file->private_data = os;
	if (!err)
		err = finish_open(file, dentry, dafs_file_opened);
	/* if it was opened, the VFS calls ->release() */
	if (!(file->f_mode & FMODE_OPENED)) {
		file->private_data = NULL;
		dafs_open_state_leave(os, os->access);
		dafs_open_state_put(os, true);
	}
	return err;
}

/* Create a file and open it by the same OPEN. */
static int dafs_create_open(struct inode *dir, struct dentry *dentry, struct file *file,
			    unsigned int flags, umode_t mode)
{
	const struct dafs_new_file how = {
		.mode = mode,
		.access = dafs_open_flags_access(flags),
		.excl = flags & O_EXCL,
	};
	bool unseen = d_in_lookup(dentry);
	unsigned long gen = dafs_dir_gen(dir);
	struct dafs_open_state *os;
	struct inode *inode;
	int err;

	os = dafs_open_state_create(dir, &dentry->d_name, &how, file->f_cred, &inode);
	if (IS_ERR(os) && unseen) {
		d_drop(dentry);
		return PTR_ERR(os);
	}
	if (IS_ERR(os))
		return dafs_not_made(dir, dentry, PTR_ERR(os));
	file->f_mode |= FMODE_CREATED;
	err = dafs_finish_open(dir, dentry, file, inode, os, gen);
	iput(inode);
	return err;
}

/* The lookup found a regular file. By now the name may lead to another one. */
static int dafs_open_regular(struct inode *dir, struct dentry *dentry, struct file *file,
			     unsigned int flags)
{
	unsigned long gen = dafs_dir_gen(dir);
	struct dafs_open_state *os;
	struct inode *inode;
	int err;

	os = dafs_open_state_named(dir, &dentry->d_name, dafs_open_flags_access(flags),
				   file->f_cred, &inode);
	if (IS_ERR(os))
		return PTR_ERR(os);
	err = dafs_finish_open(dir, dentry, file, inode, os, gen);
	iput(inode);
	return err;
}

/* Return: -ENOENT if there is no object and it must be created. */
static int dafs_open_there(struct inode *dir, struct dentry *dentry, struct file *file,
			   unsigned int flags)
{
	unsigned long gen = dafs_dir_gen(dir);
	struct dentry *alias;
	struct inode *inode;

	dafs_name_used(dir, dentry);
	inode = dafs_lookup_inode(dir, &dentry->d_name);
	if (!inode && (flags & O_CREAT))
		return -ENOENT;
	if (!IS_ERR_OR_NULL(inode)) {
		dafs_ahead_asked(dentry->d_parent);
		/* O_EXCL: nothing may be opened, and the VFS reports the errno */
		if (S_ISREG(inode->i_mode) && !(flags & (O_EXCL | O_DIRECTORY))) {
			iput(inode);
			return dafs_open_regular(dir, dentry, file, flags);
		}
	}
	alias = dafs_splice(inode, dentry, gen);
	return IS_ERR(alias) ? PTR_ERR(alias) : finish_no_open(file, alias);
}

/*
 * Files to be created usually do not exist, so create without a LOOKUP first.  If that
 * fails, look up.  Other clients may create and remove the name in between.
 */
static int dafs_open_unseen(struct inode *dir, struct dentry *dentry, struct file *file,
			    unsigned int flags, umode_t mode)
{
	struct dafs_inode *di = DAFS_I(dir);
	bool create = (flags & O_CREAT) && !test_bit(DAFS_INO_LOOK_FIRST, &di->flags);
	int err, made;

	do {
		made = create ? dafs_create_open(dir, dentry, file, flags, mode) : -EEXIST;
		if (!made || (file->f_mode & FMODE_CREATED))
			break;
		if (made == -EEXIST)
			set_bit(DAFS_INO_LOOK_FIRST, &di->flags);
		err = dafs_open_there(dir, dentry, file, flags);
		if (err != -ENOENT || !(flags & O_CREAT))
			return err;
		clear_bit(DAFS_INO_LOOK_FIRST, &di->flags);
		create = true;
	} while (made == -EEXIST && !fatal_signal_pending(current));
	return made;
}

/* The dentry is known to be negative. */
static int dafs_open_absent(struct inode *dir, struct dentry *dentry, struct file *file,
			    unsigned int flags, umode_t mode)
{
	int err;

	if (!(flags & O_CREAT) || d_really_is_positive(dentry))
		return finish_no_open(file, NULL);
	clear_bit(DAFS_INO_LOOK_FIRST, &DAFS_I(dir)->flags);
	err = dafs_create_open(dir, dentry, file, flags, mode);
	/* Another client has created it first: open that file. */
	return err == -EEXIST ? -ESTALE : err;
}

/**
 * dafs_dir_atomic_open() - i_op->atomic_open
 * @dir: the directory
 * @dentry: the name
 * @file: to be opened
 * @flags: O_*
 * @mode: of a file that is created
 *
 * Context: may sleep.
 * Return: see the VFS.
 */
int dafs_dir_atomic_open(struct inode *dir, struct dentry *dentry, struct file *file,
			 unsigned int flags, umode_t mode)
{
	if (dentry->d_name.len > DAFS_SB(dir->i_sb)->max_name)
		return -ENAMETOOLONG;
	if ((flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
		return dafs_create_open(dir, dentry, file, flags, mode);
	if (d_in_lookup(dentry))
		return dafs_open_unseen(dir, dentry, file, flags, mode);
	return dafs_open_absent(dir, dentry, file, flags, mode);
}

/**
 * dafs_dir_tmpfile() - i_op->tmpfile: O_TMPFILE
 * @idmap: not used, id-mapped mounts are not supported
 * @dir: the directory
 * @file: to be opened
 * @mode: of the file
 *
 * The file has no name, here and at the server.
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dafs_dir_tmpfile(struct mnt_idmap *idmap, struct inode *dir, struct file *file,
		     umode_t mode)
{
	const struct dafs_new_file how = {
		.mode = mode,
		.access = dafs_open_flags_access(file->f_flags),
	};
	struct dafs_open_state *os;
	struct inode *inode;
	int err;

	os = dafs_open_state_create(dir, NULL, &how, file->f_cred, &inode);
	if (IS_ERR(os))
		return PTR_ERR(os);
	file->f_mode |= FMODE_CREATED;
	d_mark_tmpfile(file, inode);
	d_instantiate(file->f_path.dentry, inode);
	file->private_data = os;
	err = finish_open(file, file->f_path.dentry, dafs_file_opened);
	if (!(file->f_mode & FMODE_OPENED)) {
		file->private_data = NULL;
		dafs_open_state_leave(os, os->access);
		dafs_open_state_put(os, true);
	}
	return err;
}
