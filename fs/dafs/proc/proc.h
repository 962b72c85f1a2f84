/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One typed function for each procedure of chapters 6.2 and 6.5 that the client calls;
 * those that only the suites call are in tests/lib/stubs.c.
 *
 * They take a client and plain protocol values and know nothing of the VFS, so that
 * the KUnit suites can drive them too.  Those that send a request may sleep; unless their
 * comment says otherwise they return 0 or a negative errno: that of the transport if no
 * response came, or the DAFS status of the response as dafs_status_to_errno() has it.
 */
#ifndef _FS_DAFS_PROC_H
#define _FS_DAFS_PROC_H

#include "../rpc/rpc.h"

struct iov_iter;
struct qstr;

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
 * struct dafs_open_how - what the ways of opening a file have in common
 * @owner: open owner, unique for each open of this client (E-82)
 * @access: DAFS_OPEN_SHARE_ACCESS_*
 * @deny: DAFS_OPEN_SHARE_DENY_*
 * @create: make the file if it is not there
 * @mode: with @create: DAFS_CREATE_*
 * @attr: with @create: initial attributes; of DAFS_CREATE_EXCLUSIVE, which has none
 *	(6.5.24), set by a SETATTR in the same chain
 * @verifier: with DAFS_CREATE_EXCLUSIVE
 * @leave: see struct dafs_op; heeded by dafs_open_reclaim()
 * @nodelay: likewise
 * @shared: others use the open that is reclaimed, so it is not closed where the caller
 *	gives up
 */
struct dafs_open_how {
	struct dafs_str owner;
	u32 access;
	u32 deny;
	bool create;
	u32 mode;
	const struct dafs_fattr *attr;
	struct dafs_verifier verifier;
	const bool *leave;
	bool nodelay;
	bool shared;
};

/**
 * struct dafs_opened - what OPEN returned
 * @open: the server has the file open now, even if what followed in a chain failed
 * @fh: the file
 * @state_id: names the open from now on
 * @change: of the directory, if the file was opened by name
 * @client_id: what the server keeps the open under
 * @status: DAFS status of the response; OK also if there was none
 */
struct dafs_opened {
	bool open;
	struct dafs_fh fh;
	struct dafs_state_id state_id;
	struct dafs_change_info change;
	struct dafs_client_id client_id;
	dafs_status_t status;
};

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

/**
 * struct dafs_readdir_pos - where a READDIR begins and how it went
 * @cookie: in: of the entry before the first one wanted, 0 for the start;
 *	out: of the last entry that the actor took
 * @verf: in and out: cookie verifier
 * @eof: out: no more entries
 * @nowait: in: as of struct dafs_op; dafs_readdir_direct() alone looks at it
 * @buf: out: where the entries are that the actor did not take
 * @iter: out: the next of them; none are left of a message
 * @last: out: no more entries behind them
 */
struct dafs_readdir_pos {
	u64 cookie;
	struct dafs_verifier verf;
	bool eof;
	bool nowait;
	struct dafs_buf buf;
	struct dafs_direntry_iter iter;
	bool last;
};

/**
 * struct dafs_append - a record to be appended
 * @fh: the file
 * @state_id: of an open for writing
 * @stable: DAFS_DATA_SYNC or DAFS_FILE_SYNC
 * @data: memory of the kernel
 * @len: its bytes; out: how many of them were sent, where a message or a memory
 *	region does not take all
 * @inline_max: bytes up to which they travel in the message
 * @no_direct: all travel in the message
 */
struct dafs_append {
	struct dafs_fh fh;
	struct dafs_state_id state_id;
	u32 stable;
	const void *data;
	size_t len;
	size_t inline_max;
	bool no_direct;
};

typedef bool (*dafs_readdir_actor_t)(void *priv, const struct dafs_direntry *entry);

/* simple.c */
int dafs_proc_call(struct dafs_client *clnt, struct dafs_op *op);
int dafs_proc_simple(struct dafs_client *clnt, struct dafs_op *op);
int dafs_proc_received(const struct dafs_op *op, const struct dafs_cksum *cksum,
		       struct dafs_buf *buf);

/* name.c */
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

/* attr.c */
int dafs_access(struct dafs_client *clnt, const struct cred *cred,
		const struct dafs_fh *fh, u32 mask, struct dafs_access_res *res);
void dafs_fattr_take(struct dafs_fattr *attr, u64 bitmap, struct dafs_ids *ids);
void dafs_getattr_op(struct dafs_op *op, struct dafs_getattr_args *args,
		     const struct cred *cred, u64 bitmap, struct dafs_fattr *attr);
int dafs_getattr(struct dafs_client *clnt, const struct cred *cred,
		 const struct dafs_fh *fh, u64 bitmap, struct dafs_fattr *attr,
		 struct dafs_ids *ids);
void dafs_setattr_op(struct dafs_op *op, struct dafs_setattr_inline_args *args,
		     const struct cred *cred);
void dafs_fattr_mode(struct dafs_fattr *attr, umode_t mode);
int dafs_setattr(struct dafs_client *clnt, const struct cred *cred,
		 const struct dafs_fh *fh, const struct dafs_state_id *state_id,
		 const struct dafs_fattr *attr, dafs_status_t *status);
int dafs_get_fsattr(struct dafs_client *clnt, const struct cred *cred,
		    const struct dafs_fh *fh, u64 bitmap, struct dafs_fsattr *attr);
int dafs_get_fsattr_on(struct dafs_client *clnt, struct dafs_conn *conn, const struct cred *cred,
		       const struct dafs_fh *fh, u64 bitmap, struct dafs_fsattr *attr);

/* lock.c */
int dafs_lock(struct dafs_client *clnt, struct dafs_conn *conn, struct dafs_op *op,
	      struct dafs_lock_args *args);
int dafs_unlock(struct dafs_client *clnt, struct dafs_op *op, struct dafs_locku_args *args);
int dafs_lock_test(struct dafs_client *clnt, const struct cred *cred,
		   struct dafs_lockt_args *args, struct dafs_lock_res *res);

/* open.c */
int dafs_open(struct dafs_client *clnt, const struct cred *cred,
	      const struct dafs_fh *dir, const struct qstr *name,
	      const struct dafs_open_how *how, struct dafs_opened *opened);
int dafs_open_attrs(struct dafs_client *clnt, const struct cred *cred,
		    const struct dafs_fh *dir, const struct qstr *name,
		    const struct dafs_open_how *how, u64 bitmap, struct dafs_opened *opened,
		    struct dafs_found *found);
int dafs_open_unlinked(struct dafs_client *clnt, const struct cred *cred,
		       const struct dafs_fh *dir, const struct dafs_open_how *how,
		       struct dafs_opened *opened);
int dafs_open_reclaim(struct dafs_client *clnt, struct dafs_conn *conn,
		      const struct cred *cred, const struct dafs_fh *fh,
		      const struct dafs_open_how *how, struct dafs_opened *opened);
int dafs_close_unless(struct dafs_client *clnt, const struct cred *cred,
		      const struct dafs_fh *fh, const struct dafs_state_id *state_id,
		      const bool *leave);
int dafs_close_on(struct dafs_client *clnt, struct dafs_conn *conn, const struct cred *cred,
		  const struct dafs_fh *fh, const struct dafs_state_id *state_id,
		  dafs_status_t *status);
int dafs_close(struct dafs_client *clnt, const struct cred *cred,
	       const struct dafs_fh *fh, const struct dafs_state_id *state_id);

/* readdir.c */
int dafs_readdir(struct dafs_client *clnt, const struct cred *cred,
		 const struct dafs_fh *dir, u64 bitmap,
		 struct dafs_readdir_pos *pos, dafs_readdir_actor_t actor,
		 void *priv);
int dafs_readdir_direct(struct dafs_client *clnt, const struct cred *cred,
			const struct dafs_fh *dir, u64 bitmap, void *buf, size_t size,
			struct dafs_readdir_pos *pos, dafs_readdir_actor_t actor,
			void *priv);
int dafs_readdir_rest(struct dafs_readdir_pos *pos, dafs_readdir_actor_t actor, void *priv);

/* rw.c */
void dafs_write_inline_fill(struct dafs_buf *buf, u32 count, const struct iov_iter *from);
int dafs_commit(struct dafs_client *clnt, const struct cred *cred,
		const struct dafs_fh *fh, u64 offset, u32 count,
		struct dafs_verifier *verf);

/* append.c */
int dafs_append(struct dafs_client *clnt, const struct cred *cred, struct dafs_append *append,
		struct dafs_append_res *res, dafs_status_t *status);

#endif /* _FS_DAFS_PROC_H */
