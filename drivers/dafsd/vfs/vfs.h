/* SPDX-License-Identifier: GPL-2.0 */
/* What is done with the objects of exported file systems: paths, attributes, new ones. */
#ifndef _DAFSD_VFS_VFS_H
#define _DAFSD_VFS_VFS_H

#include <linux/fs.h>
#include <linux/dafs/codec.h>
#include "fh.h"

/* change.c: the CHANGE attribute */
#define DAFSD_CHANGE_MASK	(STATX_CTIME | STATX_CHANGE_COOKIE)

u64 dafsd_change_of(const struct inode *inode, const struct kstat *stat);
void dafsd_change_before(const struct dafsd_fh *dir, struct dafs_change_info *info);
void dafsd_change_after(const struct dafsd_fh *dir, struct dafs_change_info *info);
void dafsd_change_none(const struct dafsd_fh *dir, struct dafs_change_info *info);
int dafsd_commit_metadata(const struct dafsd_export *exp, struct dentry *dentry);

/* walk.c: paths of names */

/**
 * struct dafsd_walk - where a path walk is
 * @fh: the last object resolved, at first the start; released by the caller
 * @iter: the components not yet resolved
 * @count: components resolved
 * @link_status: status of a symbolic link that would have to be followed
 */
struct dafsd_walk {
	struct dafsd_fh fh;
	struct dafs_path_iter iter;
	u32 count;
	dafs_status_t link_status;
};

dafs_status_t dafsd_walk_start(struct dafsd_rqst *rq, const struct dafs_fh *start,
			       const struct dafs_seq *path, dafs_status_t link_status,
			       struct dafsd_walk *walk);
dafs_status_t dafsd_walk_until(struct dafsd_rqst *rq, struct dafsd_walk *walk, u32 keep);
dafs_status_t dafsd_walk_parent(struct dafsd_rqst *rq, struct dafsd_fh *fh);
dafs_status_t dafsd_walk_result(const struct dafsd_rqst *rq, const struct dafsd_walk *walk,
				dafs_status_t status, struct dafs_lookup_res *res);
struct dentry *dafsd_lookup_locked(struct dentry *dir, const struct dafs_str *name);

/* fattr.c: file attributes */

/* Attributes that GETATTR and READDIR give values of */
#define DAFSD_FATTR_READABLE	\
	(DAFS_FATTR_NAMED_ATTR | DAFS_FATTR_OBJECT_TYPE | DAFS_FATTR_MODE |		\
	 DAFS_FATTR_NUM_LINKS | DAFS_FATTR_CHANGE | DAFS_FATTR_OBJECT_SIZE |		\
	 DAFS_FATTR_FILE_ID | DAFS_FATTR_SPACE_USED | DAFS_FATTR_TIME_ACCESS |		\
	 DAFS_FATTR_TIME_CREATE | DAFS_FATTR_TIME_DELTA | DAFS_FATTR_TIME_METADATA |	\
	 DAFS_FATTR_TIME_MODIFY | DAFS_FATTR_RAW_DEV | DAFS_FATTR_FILEHANDLE |		\
	 DAFS_FATTR_MIME_TYPE | DAFS_FATTR_OWNER | DAFS_FATTR_OWNER_GROUP)

/* Attributes that SETATTR, CREATE and OPEN set (E-112) */
#define DAFSD_FATTR_SETTABLE	\
	(DAFS_FATTR_OBJECT_SIZE | DAFS_FATTR_MODE | DAFS_FATTR_MIME_TYPE | DAFS_FATTR_OWNER |	\
	 DAFS_FATTR_OWNER_GROUP | DAFS_FATTR_TIME_ACCESS_SET | DAFS_FATTR_TIME_MODIFY_SET)

#define DAFSD_FATTR_SUPPORTED	(DAFSD_FATTR_READABLE | DAFSD_FATTR_SETTABLE)

/**
 * struct dafsd_fattr_names - room for the strings of one object's attributes
 * @owner: decimal user id
 * @group: decimal group id
 * @mime_type: MIME type and subtype; longer ones are not supported
 */
struct dafsd_fattr_names {
	char owner[12];
	char group[12];
	char mime_type[128];
};

bool dafsd_fattr_has_mime(const struct super_block *sb);
dafs_status_t dafsd_fattr_get(const struct dafsd_fh *fh, u64 wanted, struct dafs_fattr *attr,
			      struct dafsd_fattr_names *names);
void dafsd_fattr_peek(const struct dafsd_fh *fh, u64 wanted, struct dafs_fattr *attr,
		      struct dafsd_fattr_names *names);
dafs_status_t dafsd_fattr_check(const struct dafs_fattr *attr, u64 settable);
bool dafsd_fattr_same(const struct dafs_fattr *a, const struct dafs_fattr *b, u64 which);
dafs_status_t dafsd_fattr_may_set(struct dentry *dentry, const struct dafs_fattr *attr, u64 which);
dafs_status_t dafsd_fattr_set(struct dentry *dentry, const struct dafs_fattr *attr, u64 which,
			      u64 *done);

/* quota.c: the quotas of users */
#define DAFSD_FSATTR_QUOTA	\
	(DAFS_FSATTR_QUOTA_HARD | DAFS_FSATTR_QUOTA_SOFT | DAFS_FSATTR_QUOTA_USED)

void dafsd_quota_get(struct super_block *sb, struct dafs_fsattr *attr);

/* create.c: new objects */

/**
 * struct dafsd_new - an object to be created
 * @type: DAFS_TYPE_*
 * @mode: permission bits
 * @dev: of a device node
 * @link: of a symbolic link, terminated
 * @attr: further attributes or NULL
 * @exclusive: keep @verifier in the times of the object
 * @verifier: create_verifier of an EXCLUSIVE create
 * @refused: what to answer where it would have to be made, or OK
 */
struct dafsd_new {
	u32 type;
	umode_t mode;
	dev_t dev;
	const char *link;
	const struct dafs_fattr *attr;
	bool exclusive;
	struct dafs_verifier verifier;
	dafs_status_t refused;
};

dafs_status_t dafsd_create(struct dafsd_fh *dir, const struct dafs_str *name,
			   const struct dafsd_new *new, struct dafs_change_info *info,
			   struct dentry **dentry);
dafs_status_t dafsd_create_unlinked(struct dafsd_fh *dir, const struct dafsd_new *new,
				    struct file **filp);
bool dafsd_create_verifier_matches(struct inode *inode, const struct dafs_verifier *verifier);

#endif /* _DAFSD_VFS_VFS_H */
