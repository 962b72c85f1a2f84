/* SPDX-License-Identifier: GPL-2.0 */
/*
 * dafsd: what the parts that touch exported file systems know of each other.
 * The rest of the server needs only session/session.h.
 */
#ifndef _DAFSD_VFS_H
#define _DAFSD_VFS_H

#include <linux/fs.h>
#include "../session/session.h"

/* The user of anonymous requests, and of squashed ones unless configured. */
#define DAFSD_ANON_ID		65534

/* change.c: the CHANGE attribute */
#define DAFSD_CHANGE_MASK	(STATX_CTIME | STATX_CHANGE_COOKIE)

u64 dafsd_change_of(const struct inode *inode, const struct kstat *stat);
void dafsd_change_before(const struct dafsd_fh *dir, struct dafs_change_info *info);
void dafsd_change_after(const struct dafsd_fh *dir, struct dafs_change_info *info);
void dafsd_change_none(const struct dafsd_fh *dir, struct dafs_change_info *info);
int dafsd_commit_metadata(const struct dafsd_export *exp, struct dentry *dentry);

/* walk.c: names and paths of names */

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
	u32 link_status;
};

u32 dafsd_name_check(const struct dafsd_export *exp, const struct dafs_str *name);
u32 dafsd_name_check_change(const struct dafsd_export *exp, const struct dafs_str *name);
bool dafsd_name_to_id(const struct dafs_str *name, u32 *id);
bool dafsd_name_is_dots(const struct dafs_str *name);
u32 dafsd_walk_start(struct dafsd_rqst *rq, const struct dafs_fh *start,
		     const struct dafs_seq *path, u32 link_status, struct dafsd_walk *walk);
u32 dafsd_walk_until(struct dafsd_rqst *rq, struct dafsd_walk *walk, u32 keep);
u32 dafsd_walk_parent(struct dafsd_rqst *rq, struct dafsd_fh *fh);
u32 dafsd_walk_result(const struct dafsd_rqst *rq, const struct dafsd_walk *walk, u32 status,
		      struct dafs_lookup_res *res);
struct dentry *dafsd_lookup_locked(struct dentry *dir, const struct dafs_str *name);

/* export/export.c */

/**
 * struct dafsd_export_conf - settings of an export
 * @name: see struct dafsd_export
 * @path: directory, or NULL
 * @read_only: see struct dafsd_export
 * @root_squash: see struct dafsd_export
 * @all_squash: see struct dafsd_export
 * @anon_uid: see struct dafsd_export
 * @anon_gid: see struct dafsd_export
 * @subtree_check: unless the tree is a whole file system, see struct dafsd_export
 * @raw_names: see struct dafsd_export
 */
struct dafsd_export_conf {
	char *name;
	char *path;
	bool read_only;
	bool root_squash;
	bool all_squash;
	u32 anon_uid;
	u32 anon_gid;
	bool subtree_check;
	bool raw_names;
};

struct dafsd_export *dafsd_export_serve(const char *name, const struct dafsd_export_conf *conf);
void dafsd_export_withdraw(struct dafsd_export *exp);
extern unsigned int dafsd_withdraw_seconds;
struct dafsd_export *dafsd_export_find_path(const struct path *path);
struct dafsd_export *dafsd_export_find_below(const struct dafs_str *path);
bool dafsd_export_needs(const struct dafs_str *path);
bool dafsd_export_is_root(const struct dentry *dir);
bool dafsd_export_leads(const struct dafs_str *path);
struct dafsd_export *dafsd_export_outer(const struct dafs_str *path);
const char *dafsd_export_rest(const struct dafsd_export *exp, const struct dafs_str *path);
bool dafsd_export_is_first(const struct dafsd_export *exp, const struct dafs_str *path, size_t len);
u32 dafsd_export_get(const u8 *fshandle, struct dafsd_export **exp);
u32 dafsd_exports_missing(void);
void dafsd_exports_begin(const struct dafsd_export_ops *ops);
void dafsd_exports_end(void);
u64 dafsd_exports_change(void);

/**
 * dafsd_export_path() - where in the name space an export is
 * @exp: the export
 *
 * Return: its name, which lives as long as @exp.
 */
static inline struct dafs_str dafsd_export_path(const struct dafsd_export *exp)
{
	return (struct dafs_str){ .len = strlen(exp->name), .data = (const u8 *)exp->name };
}

/* fh.c */

#define DAFSD_FILEID_VERSION	2
#define DAFSD_FILEID_PSEUDO	0xf0	/* no file system has this fid_type */
#define DAFSD_FID_WORDS		9

u32 dafsd_fh_find(struct dafsd_rqst *rq, const struct dafs_fh *wire, struct dafsd_fh *fh);
u32 dafsd_fh_check_search(const struct dafsd_fh *fh);
u32 dafsd_fh_get_dir(struct dafsd_rqst *rq, const struct dafs_fh *wire, struct dafsd_fh *fh);
u32 dafsd_fh_squash(struct dafsd_rqst *rq, const struct dafsd_export *exp);
u32 dafsd_fh_enter(struct dafsd_rqst *rq, struct dafsd_fh *fh, struct dafsd_export *exp);
u32 dafsd_fh_cross(struct dafsd_rqst *rq, struct dafsd_fh *fh);
u32 dafsd_fh_check_place(const struct dafsd_fh *dir, struct dentry *dentry);
u32 dafsd_fh_check_other(const struct dafs_fh *wire, const struct dafs_fh *other);
const struct cred *dafsd_act_as_server(void);
int dafsd_fh_encodable(const struct path *path);
u32 dafsd_fh_to_wire(const struct dafsd_fh *fh, struct dafs_fh *wire);

/* export/fh_key.c: the keyed hash of filehandles */
int dafsd_fh_key_init(void);
int dafsd_fh_key_get(void);
bool dafsd_fh_key_known(void);
void dafsd_fh_key_exit(void);
void dafsd_fh_sign(struct dafs_fh *wire);
bool dafsd_fh_genuine(const struct dafs_fh *wire);

/* pseudo.c: directories that lead to exports */
struct dafs_str dafsd_pseudo_path(const struct dafsd_fh *fh);
u32 dafsd_pseudo_get(const struct dafs_fh *wire, struct dafsd_fh *fh);
void dafsd_pseudo_to_wire(const struct dafsd_fh *fh, struct dafs_fh *wire);
u64 dafsd_pseudo_ino(const struct dafsd_fh *fh);
u32 dafsd_pseudo_lookup(struct dafsd_rqst *rq, struct dafsd_fh *fh, const struct dafs_str *name);
u32 dafsd_pseudo_enter(struct dafsd_fh *fh, const struct dafs_str *path);
char *dafsd_pseudo_position(const struct dafsd_fh *fh, struct dafs_str *at);

/**
 * struct dafsd_fileid - the fileid of a filehandle of this server
 * @version: DAFSD_FILEID_VERSION; a fileid of zeros does not occur (E-111)
 * @type: enum fid_type; FILEID_ROOT for the root of the export, or
 *	DAFSD_FILEID_PSEUDO
 * @words: of @fid in use
 * @reserved: zero
 * @fid: from exportfs; the rest is zero
 * @mac: see export/fh_key.c
 */
struct dafsd_fileid {
	u8 version;
	u8 type;
	u8 words;
	u8 reserved;
	u32 fid[DAFSD_FID_WORDS];
	u8 mac[8];
};

static_assert(sizeof(struct dafsd_fileid) == DAFS_FILEID_SIZE);

extern const u8 dafsd_pseudo_fshandle[DAFS_FSHANDLE_SIZE];

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
u32 dafsd_fattr_get(const struct dafsd_fh *fh, u64 wanted, struct dafs_fattr *attr,
		    struct dafsd_fattr_names *names);
void dafsd_fattr_peek(const struct dafsd_fh *fh, u64 wanted, struct dafs_fattr *attr,
		      struct dafsd_fattr_names *names);
u32 dafsd_fattr_check(const struct dafs_fattr *attr, u64 settable);
u32 dafsd_fattr_set(struct dentry *dentry, const struct dafs_fattr *attr, u64 which,
		    u64 *done);

/* quota.c: the quotas of users */
#define DAFSD_FSATTR_QUOTA	\
	(DAFS_FSATTR_QUOTA_HARD | DAFS_FSATTR_QUOTA_SOFT | DAFS_FSATTR_QUOTA_USED)

void dafsd_quota_get(struct super_block *sb, struct dafs_fsattr *attr);

/* proc/attr.c: for the variants by RDMA */
u32 dafsd_setattr(struct dafsd_rqst *rq, struct dafsd_fh *fh,
		  const struct dafs_opaque64 *state_id, const struct dafs_fattr *attr);
u32 dafsd_readlink(struct dafsd_rqst *rq, const struct dafsd_fh *fh, struct dafs_str *link);

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
	struct dafs_opaque64 verifier;
	u32 refused;
};

u32 dafsd_create(struct dafsd_fh *dir, const struct dafs_str *name,
		 const struct dafsd_new *new, struct dafs_change_info *info,
		 struct dentry **dentry);
u32 dafsd_create_unlinked(struct dafsd_fh *dir, const struct dafsd_new *new,
			  struct file **filp);
bool dafsd_create_verifier_matches(struct inode *inode, const struct dafs_opaque64 *verifier);

/* state/open.c */

#define DAFSD_OPEN_CREATED	BIT(0)	/* just created: no permission needed */
#define DAFSD_OPEN_OWNER	BIT(1)	/* the owner of the file may always */
#define DAFSD_OPEN_TRUNCATE	BIT(2)	/* empty the file; write access is held */
#define DAFSD_OPEN_BY_NAME	BIT(3)	/* the name must still be there */

struct dafsd_file;

/**
 * struct dafsd_use - a file that a request reads from or writes to
 * @filp: a reference
 * @exp: the export it was found by; lives as long as the request's filehandle
 * @local: the client is this machine
 * @file: the record of the inode; a reference
 * @anonymous: I/O without an open, see dafsd_share_enter()
 */
struct dafsd_use {
	struct file *filp;
	struct dafsd_export *exp;
	bool local;
	struct dafsd_file *file;
	bool anonymous;
};

u32 dafsd_open_reserve(struct dafsd_rqst *rq);
void dafsd_open_unreserve(struct dafsd_rqst *rq);
u32 dafsd_open_add(struct dafsd_rqst *rq, struct dafsd_fh *fh, const struct dafs_fh *wire,
		   unsigned int flags, struct dafs_opaque64 *state_id);
u32 dafsd_open_close(struct dafsd_rqst *rq, const struct dafs_fh *wire,
		     const struct dafs_opaque64 *state_id);
u32 dafsd_open_claim_delegation(struct dafsd_rqst *rq);
u32 dafsd_open_return_delegation(const struct dafs_opaque64 *state_id);
u32 dafsd_open_downgrade(struct dafsd_rqst *rq);
u32 dafsd_open_find(struct dafsd_rqst *rq, const struct dafsd_fh *fh,
		    const struct dafs_opaque64 *state_id, u32 access, struct dafsd_use *use);
void dafsd_open_end(struct dafsd_use *use);
u32 dafsd_open_use(struct dafsd_rqst *rq, const struct dafs_fh *wire,
		   const struct dafs_opaque64 *state_id, u32 access,
		   u32 (*run)(struct dafsd_rqst *rq, const struct dafsd_use *use));
u32 dafsd_open_for_commit(struct dafsd_rqst *rq, const struct dafsd_fh *fh, struct file **filp);
void dafsd_open_done(struct file *filp);

/* state/state.c */
bool dafsd_state_is_special(const struct dafs_opaque64 *state_id);
void dafsd_opens_release_export(struct dafsd_export *exp);

/* state/share.c */
u32 dafsd_remove_begin(struct inode *inode, bool check_open, struct dafsd_file **file);
void dafsd_remove_end(struct dafsd_file *file);

/* data/append.c: writing at an offset against appending */
void dafsd_write_begin(const struct dafsd_use *use);
void dafsd_write_end(const struct dafsd_use *use);

/* data/stable.c: stable storage and the write verifier */
void dafsd_verifier_get(struct dafsd_export *exp, struct dafs_opaque64 *verifier);
u32 dafsd_append(const struct dafsd_use *use, struct iov_iter *iter, u32 stable_how,
		 struct dafs_append_res *res);
ssize_t dafsd_write_iter(const struct dafsd_use *use, struct iov_iter *iter, loff_t *pos,
			 rwf_t flags);
errseq_t dafsd_sync_begin(struct file *filp);
int dafsd_sync(struct file *filp, loff_t start, loff_t end, bool datasync, errseq_t since);

#endif /* _DAFSD_VFS_H */
