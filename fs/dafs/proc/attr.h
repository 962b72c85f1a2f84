/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Attributes of objects and of file systems, and access rights.
 */
#ifndef _FS_DAFS_PROC_ATTR_H
#define _FS_DAFS_PROC_ATTR_H

#include "../rpc/rpc.h"

/**
 * struct dafs_ids - the decimal owner strings of an object as numbers (E-117)
 * @uid: owner, DAFS_NO_ID if the string was absent or not a number
 * @gid: group, likewise
 */
struct dafs_ids {
	u32 uid;
	u32 gid;
};

#define DAFS_NO_ID	((u32)-1)

/**
 * struct dafs_setattr_how - a change of attributes
 * @cred: whom to act for
 * @fh: the object
 * @state_id: an open for writing if the size changes, or all zero
 * @attr: the attributes with @included and @valid alike
 * @prepare: that of struct dafs_op, or NULL
 * @leave: likewise
 * @left: called when the task has given up, but the server may still execute the request; or NULL
 * @ended: with @left: called some time later when it does not any more
 * @priv: for @prepare, @left and @ended
 */
struct dafs_setattr_how {
	const struct cred *cred;
	const struct dafs_fh *fh;
	const struct dafs_state_id *state_id;
	const struct dafs_fattr *attr;
	int (*prepare)(struct dafs_op *op, struct dafs_call *call);
	const bool *leave;
	void (*left)(void *priv);
	void (*ended)(void *priv);
	void *priv;
};

int dafs_access(struct dafs_client *clnt, const struct cred *cred,
		const struct dafs_fh *fh, u32 mask, struct dafs_access_res *res);
void dafs_fattr_take(struct dafs_fattr *attr, u64 bitmap, struct dafs_ids *ids);
void dafs_getattr_op(struct dafs_op *op, struct dafs_getattr_args *args,
		     const struct cred *cred, u64 bitmap, struct dafs_fattr *attr);
int dafs_getattr_unless(struct dafs_client *clnt, const struct cred *cred,
			const struct dafs_fh *fh, u64 bitmap, struct dafs_fattr *attr,
			struct dafs_ids *ids, const bool *leave);
int dafs_getattr(struct dafs_client *clnt, const struct cred *cred,
		 const struct dafs_fh *fh, u64 bitmap, struct dafs_fattr *attr,
		 struct dafs_ids *ids);
int dafs_getattr_on(struct dafs_client *clnt, struct dafs_conn *conn, const struct cred *cred,
		    const struct dafs_fh *fh, u64 bitmap, struct dafs_fattr *attr,
		    struct dafs_ids *ids);
void dafs_setattr_op(struct dafs_op *op, struct dafs_setattr_inline_args *args,
		     const struct cred *cred);
void dafs_fattr_mode(struct dafs_fattr *attr, umode_t mode);
int dafs_setattr_when(struct dafs_client *clnt, const struct dafs_setattr_how *how,
		      dafs_status_t *status);
int dafs_setattr(struct dafs_client *clnt, const struct cred *cred,
		 const struct dafs_fh *fh, const struct dafs_state_id *state_id,
		 const struct dafs_fattr *attr);
int dafs_get_fsattr(struct dafs_client *clnt, const struct cred *cred,
		    const struct dafs_fh *fh, u64 bitmap, struct dafs_fsattr *attr);
int dafs_get_fsattr_on(struct dafs_client *clnt, struct dafs_conn *conn, const struct cred *cred,
		       const struct dafs_fh *fh, u64 bitmap, struct dafs_fsattr *attr);

#endif /* _FS_DAFS_PROC_ATTR_H */
