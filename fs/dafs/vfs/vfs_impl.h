/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of vfs/ and main.c have to do with each other.
 */
#ifndef _FS_DAFS_VFS_IMPL_H
#define _FS_DAFS_VFS_IMPL_H

#include "../inode/inode.h"

/* for main.c */
int dafs_inode_cache_init(void);
void dafs_inode_cache_exit(void);
int dafs_init_fs_context(struct fs_context *fc);
void dafs_kill_sb(struct super_block *sb);

/* lookup.c, atomic_open.c, dir.c, super.c */
extern const struct super_operations dafs_super_ops;
struct inode *dafs_lookup_inode(struct inode *dir, const struct qstr *name);
void dafs_name_used(struct inode *dir, struct dentry *dentry);
struct dentry *dafs_dir_lookup(struct inode *dir, struct dentry *dentry, unsigned int flags);
int dafs_instantiate(struct inode *dir, struct dentry *dentry, struct inode *inode,
		     unsigned long gen);
int dafs_not_made(struct inode *dir, struct dentry *dentry, int err);
int dafs_dir_atomic_open(struct inode *dir, struct dentry *dentry, struct file *file,
			 unsigned int flags, umode_t mode);
int dafs_dir_tmpfile(struct mnt_idmap *idmap, struct inode *dir, struct file *file,
		     umode_t mode);
void dafs_sb_info_free(struct dafs_sb_info *sbi);

#endif /* _FS_DAFS_VFS_IMPL_H */
