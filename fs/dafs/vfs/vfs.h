/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the kernel calls: mounts, names, open files, listings.
 */
#ifndef _FS_DAFS_VFS_H
#define _FS_DAFS_VFS_H

#include <linux/fs_context.h>
#include <linux/fs_parser.h>
#include "../inode/inode.h"

#define DAFS_SUPER_MAGIC	0x44414653	/* "DAFS" */

/* for main.c */
int dafs_inode_cache_init(void);
void dafs_inode_cache_exit(void);
int dafs_init_fs_context(struct fs_context *fc);
void dafs_kill_sb(struct super_block *sb);

/* options.c */

/**
 * struct dafs_fs_context - a mount being set up
 * @params: parameters of the client
 * @opts: other options
 * @export: path of the export on the server
 * @port: port= as given, or 0
 * @srcaddr: srcaddr= as given, or NULL
 * @addrs: addr= as given
 * @nr_addrs: how many
 * @parent: of a submount: the parent mount
 * @root: of a submount: handle of its root
 */
struct dafs_fs_context {
	struct dafs_client_params params;
	struct dafs_options opts;
	char *export;
	u16 port;
	char *srcaddr;
	char *addrs[2 * DAFS_MORE_ADDRS];
	unsigned int nr_addrs;
	struct dafs_sb_info *parent;
	struct dafs_fh root;
};

extern const struct fs_parameter_spec dafs_fs_parameters[];

void dafs_options_init(struct dafs_fs_context *ctx);
void dafs_free_addrs(struct dafs_fs_context *ctx);
int dafs_parse_param(struct fs_context *fc, struct fs_parameter *param);
int dafs_parse_source(struct fs_context *fc);
int dafs_options_reconfigure(struct fs_context *fc, struct dafs_sb_info *sbi);
int dafs_show_options(struct seq_file *m, struct dentry *root);
bool dafs_options_same(const struct dafs_options *a, const struct dafs_options *b);
bool dafs_params_same(const struct dafs_client_params *a, const struct dafs_client_params *b);

/* dir.c, lookup.c */
extern const struct inode_operations dafs_dir_iops;
extern const struct dentry_operations dafs_dentry_ops;
struct dentry *dafs_splice(struct inode *inode, struct dentry *dentry, unsigned long gen);

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

/* getattr.c, permission.c, setattr.c */
void dafs_set_inode_ops(struct inode *inode, const struct dafs_fattr *attr);
int dafs_vfs_getattr(struct mnt_idmap *idmap, const struct path *path,
		     struct kstat *stat, u32 request_mask, unsigned int flags);
int dafs_vfs_permission(struct mnt_idmap *idmap, struct inode *inode, int mask);
int dafs_size_lock(struct inode *inode);
int dafs_vfs_setattr(struct mnt_idmap *idmap, struct dentry *dentry,
		     struct iattr *iattr);
int dafs_setid_remove(struct file *file);
void dafs_own_metadata(struct inode *inode, const struct cred *cred);

/* file.c */
extern const struct file_operations dafs_file_fops;
u32 dafs_file_access(const struct file *file);
int dafs_file_opened(struct inode *inode, struct file *file);
int dafs_file_write_out(struct inode *inode);
void dafs_file_settle(struct inode *inode);
bool dafs_file_is_written(const struct inode *inode);
void dafs_file_hand_over(struct inode *inode, const struct cred *cred, bool idle);
void dafs_file_discard(struct inode *inode, const struct cred *cred, int stores);

/* ioctl.c */
int dafs_ioc_get(void *args, size_t known, u32 least, const void __user *arg);
long dafs_file_ioctl(struct file *file, unsigned int cmd, unsigned long arg);

/* reserve.c */
int dafs_ioc_open_share(struct file *file, const void __user *arg);
bool dafs_file_lost(const struct file *file);

/* lock.c */
int dafs_file_lock(struct file *file, int cmd, struct file_lock *fl);
int dafs_file_flock(struct file *file, int cmd, struct file_lock *fl);
int dafs_file_abort(struct file *file);
int dafs_file_lock_with(struct file *file, struct file_lock *fl, u32 options);
bool dafs_lock_write_exactly(const struct inode *inode, loff_t pos, size_t len);

/* lease.c */
int dafs_file_setlease(struct file *file, int type, struct file_lease **lease, void **priv);

/* readdir.c */
extern const struct file_operations dafs_dir_fops;

/* prime.c */

/**
 * struct dafs_listing - the READDIR request that returned some entries
 * @dir: the directory
 * @wanted: attributes requested
 * @gen: dafs_dir_gen() before the request was sent
 * @asked: dafs_asked_now() of the same moment
 * @mark: d_fsdata of the dentries made from it
 */
struct dafs_listing {
	struct dentry *dir;
	u64 wanted;
	unsigned long gen;
	struct dafs_asked asked;
	void *mark;
};

void dafs_listing_begin(struct dafs_listing *list, u64 wanted);
u64 dafs_listing_attrs(const struct dafs_sb_info *sbi);
bool dafs_dirent_sane(const struct dafs_direntry *entry);
void dafs_prime(const struct dafs_listing *list, const struct dafs_direntry *entry);

/* ahead.c */
void dafs_ahead_asked(struct dentry *dir);
void dafs_ahead_used(struct inode *dir, struct dentry *dentry);
extern struct workqueue_struct *dafs_ahead_wq;	/* made by main.c */

/* stats.c */
int dafs_show_stats(struct seq_file *m, struct dentry *root);

/* submount.c */
extern const struct inode_operations dafs_crossing_iops;
bool dafs_is_crossing(const struct super_block *sb, const struct dafs_fh *fh);
unsigned long dafs_crossing_ino(const struct dafs_fh *fh);
struct vfsmount *dafs_d_automount(struct path *path);
int dafs_submount_test(struct super_block *sb, struct fs_context *fc);
void dafs_submounts_exit(void);

/* export.c */
extern const struct export_operations dafs_export_ops;

/* share.c */
int dafs_share_test(struct super_block *sb, struct fs_context *fc);

#endif /* _FS_DAFS_VFS_H */
