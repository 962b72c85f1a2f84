/* SPDX-License-Identifier: GPL-2.0 */
/* Filehandles resolved: the objects of exports, and directories that lead to exports. */
#ifndef _DAFSD_VFS_FH_H
#define _DAFSD_VFS_FH_H

#include <linux/dcache.h>
#include <linux/path.h>
#include <linux/dafs/msg.h>
#include "../export/export.h"

struct dafsd_rqst;

/**
 * struct dafsd_fh - a filehandle resolved
 * @exp: its export, NULL for a pseudo directory
 * @dentry: the object, NULL for a pseudo directory
 * @below: of a pseudo directory but the root: an export to which it leads
 * @len: bytes of its path, with which the name of @below begins
 * @wants_write: mnt_want_write() is held
 */
struct dafsd_fh {
	struct dafsd_export *exp;
	struct dentry *dentry;
	struct dafsd_export *below;
	u32 len;
	bool wants_write;
};

dafs_status_t dafsd_fh_get(struct dafsd_rqst *rq, const struct dafs_fh *wire, struct dafsd_fh *fh);
dafs_status_t dafsd_fh_get_dir(struct dafsd_rqst *rq, const struct dafs_fh *wire,
			       struct dafsd_fh *fh);
dafs_status_t dafsd_fh_find(struct dafsd_rqst *rq, const struct dafs_fh *wire, struct dafsd_fh *fh);
void dafsd_fh_put(struct dafsd_fh *fh);
dafs_status_t dafsd_fh_use(struct dafsd_rqst *rq, const struct dafs_fh *wire,
			   dafs_status_t (*run)(struct dafsd_rqst *rq, struct dafsd_fh *fh));
dafs_status_t dafsd_fh_want_write(struct dafsd_fh *fh);
void dafsd_fh_drop_write(struct dafsd_fh *fh);
bool dafsd_fh_is_pseudo(const struct dafsd_fh *fh);
dafs_status_t dafsd_fh_check_search(const struct dafsd_fh *fh);
dafs_status_t dafsd_fh_check_place(const struct dafsd_fh *dir, struct dentry *dentry);
dafs_status_t dafsd_fh_check_other(const struct dafs_fh *wire, const struct dafs_fh *other);
dafs_status_t dafsd_fh_squash(struct dafsd_rqst *rq, const struct dafsd_export *exp);
dafs_status_t dafsd_fh_enter(struct dafsd_rqst *rq, struct dafsd_fh *fh, struct dafsd_export *exp);
dafs_status_t dafsd_fh_cross(struct dafsd_rqst *rq, struct dafsd_fh *fh);
dafs_status_t dafsd_fh_to_wire(const struct dafsd_fh *fh, struct dafs_fh *wire);

/**
 * dafsd_fh_inode() - the inode of a filehandle
 * @fh: not a pseudo directory
 *
 * Return: the inode; lives as long as @fh.
 */
static inline struct inode *dafsd_fh_inode(const struct dafsd_fh *fh)
{
	return d_inode(fh->dentry);
}

/**
 * dafsd_fh_path() - the path of a filehandle
 * @fh: not a pseudo directory
 *
 * Return: borrowed references.
 */
static inline struct path dafsd_fh_path(const struct dafsd_fh *fh)
{
	return (struct path){ .mnt = fh->exp->path.mnt, .dentry = fh->dentry };
}

/* pseudo.c: directories that lead to exports */
struct dafs_str dafsd_pseudo_path(const struct dafsd_fh *fh);
dafs_status_t dafsd_pseudo_get(const struct dafs_fh *wire, struct dafsd_fh *fh);
void dafsd_pseudo_to_wire(const struct dafsd_fh *fh, struct dafs_fh *wire);
u64 dafsd_pseudo_ino(const struct dafsd_fh *fh);
dafs_status_t dafsd_pseudo_lookup(struct dafsd_rqst *rq, struct dafsd_fh *fh,
				  const struct dafs_str *name);
dafs_status_t dafsd_pseudo_enter(struct dafsd_fh *fh, const struct dafs_str *path);
char *dafsd_pseudo_position(const struct dafsd_fh *fh, struct dafs_str *at);

#endif /* _DAFSD_VFS_FH_H */
