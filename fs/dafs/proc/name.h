/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names in directories: finding, making, removing, following them.
 */
#ifndef _FS_DAFS_PROC_NAME_H
#define _FS_DAFS_PROC_NAME_H

#include "attr.h"

struct qstr;

/**
 * struct dafs_node - a non-regular object to be made by CREATE
 * @type: DAFS_TYPE_*
 * @link: target of a DAFS_TYPE_LNK
 * @dev: of a DAFS_TYPE_BLK or DAFS_TYPE_CHR
 * @attr: initial attributes, for DAFS_TYPE_DIR alone (E-30), or NULL
 */
struct dafs_node {
	u32 type;
	struct dafs_str link;
	struct dafs_specdata dev;
	const struct dafs_fattr *attr;
};

/* Of dafs_lookup_attrs() and dafs_open_attrs(): the object was found and described */
#define DAFS_FOUND_ATTRS	2

/**
 * struct dafs_found - an object with its attributes
 * @done: operations that succeeded: with one, @fh is valid, with all, the others
 * @fh: its handle
 * @attr: as by dafs_getattr()
 * @ids: likewise
 */
struct dafs_found {
	unsigned int done;
	struct dafs_fh fh;
	struct dafs_fattr attr;
	struct dafs_ids ids;
};

int dafs_get_root_handle(struct dafs_client *clnt, const struct cred *cred,
			 struct dafs_fh *fh);
int dafs_lookup_path(struct dafs_client *clnt, const struct cred *cred,
		     const struct dafs_fh *dir, const struct dafs_str *names,
		     u32 nr, struct dafs_fh *fh);
int dafs_lookup(struct dafs_client *clnt, const struct cred *cred,
		const struct dafs_fh *dir, const struct qstr *name,
		struct dafs_fh *fh);
int dafs_lookup_attrs(struct dafs_client *clnt, const struct cred *cred,
		      const struct dafs_fh *dir, const struct qstr *name, u64 bitmap,
		      struct dafs_found *found);
int dafs_lookup_parent(struct dafs_client *clnt, const struct cred *cred,
		       const struct dafs_fh *dir, struct dafs_fh *fh);
int dafs_create_attrs(struct dafs_client *clnt, const struct cred *cred,
		      const struct dafs_fh *dir, const struct qstr *name,
		      const struct dafs_node *node, const struct dafs_fattr *dress,
		      u64 bitmap, struct dafs_found *found, struct dafs_change_info *change);
int dafs_remove(struct dafs_client *clnt, const struct cred *cred,
		const struct dafs_fh *dir, const struct qstr *name, u32 mode,
		struct dafs_change_info *change);
int dafs_rename(struct dafs_client *clnt, const struct cred *cred,
		const struct dafs_fh *old_dir, const struct qstr *old_name,
		const struct dafs_fh *new_dir, const struct qstr *new_name,
		struct dafs_rename_res *res);
int dafs_link(struct dafs_client *clnt, const struct cred *cred,
	      const struct dafs_fh *fh, const struct dafs_fh *dir,
	      const struct qstr *name, struct dafs_change_info *change);
int dafs_readlink(struct dafs_client *clnt, const struct cred *cred,
		  const struct dafs_fh *fh, char *buf, size_t size);
int dafs_readlink_direct(struct dafs_client *clnt, const struct cred *cred,
			 const struct dafs_fh *fh, char *buf, size_t size);

#endif /* _FS_DAFS_PROC_NAME_H */
