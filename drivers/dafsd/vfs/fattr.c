// SPDX-License-Identifier: GPL-2.0
/*
 * File attributes between DAFS and the VFS (6.1.5).
 */
#include <linux/blk_types.h>
#include <linux/iversion.h>
#include <linux/stat.h>
#include <linux/xattr.h>
#include <linux/dafs/status.h>
#include "../session/client.h"
#include "../export/export.h"
#include "fh.h"
#include "vfs.h"

/* The extended attribute in which Linux programs store the MIME type of a file */
#define DAFSD_MIME_XATTR	XATTR_USER_PREFIX "mime_type"

static struct dafs_time dafsd_time(const struct timespec64 *ts)
{
	return (struct dafs_time){ .seconds = ts->tv_sec, .nseconds = ts->tv_nsec };
}

static u32 dafsd_object_type(umode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return DAFS_TYPE_REG;
	case S_IFDIR:
		return DAFS_TYPE_DIR;
	case S_IFBLK:
		return DAFS_TYPE_BLK;
	case S_IFCHR:
		return DAFS_TYPE_CHR;
	case S_IFLNK:
		return DAFS_TYPE_LNK;
	case S_IFSOCK:
		return DAFS_TYPE_SOCK;
	case S_IFIFO:
		return DAFS_TYPE_FIFO;
	default:
		return DAFS_TYPE_INVALID;
	}
}

/* READDIR formats two ids for each entry; "%u" would cost more than the entry's name. */
static struct dafs_str dafsd_decimal(char *buf, size_t size, u32 id)
{
	char *end = buf + size, *p = end;

	do {
		*--p = '0' + id % 10;
		id /= 10;
	} while (id);
	return (struct dafs_str){ .data = (u8 *)p, .len = end - p };
}

/* The server does not map ids to names: owners are decimal numbers (E-117). */
static void dafsd_fattr_owners(struct dafs_fattr *attr, struct dafsd_fattr_names *names,
			       uid_t uid, gid_t gid)
{
	attr->owner = dafsd_decimal(names->owner, sizeof(names->owner), uid);
	attr->owner_group = dafsd_decimal(names->group, sizeof(names->group), gid);
}

static void dafsd_fattr_from_stat(struct dafs_fattr *attr, const struct kstat *stat)
{
	attr->object_type = dafsd_object_type(stat->mode);
	attr->mode = stat->mode & S_IALLUGO;
	attr->num_links = stat->nlink;
	attr->object_size = stat->size;
	attr->file_id = stat->ino;
	attr->space_used = stat->blocks << SECTOR_SHIFT;
	attr->time_access = dafsd_time(&stat->atime);
	attr->time_create = dafsd_time(&stat->btime);
	attr->time_metadata = dafsd_time(&stat->ctime);
	attr->time_modify = dafsd_time(&stat->mtime);
	attr->raw_dev.specdata1 = MAJOR(stat->rdev);
	attr->raw_dev.specdata2 = MINOR(stat->rdev);
	if (!(stat->result_mask & STATX_BTIME))
		attr->valid &= ~DAFS_FATTR_TIME_CREATE;
}

static void dafsd_fattr_time_delta(struct dafs_fattr *attr, u32 granularity)
{
	attr->time_delta.seconds = granularity / NSEC_PER_SEC;
	attr->time_delta.nseconds = granularity % NSEC_PER_SEC;
}

/* Pseudo directories change when an export is added or removed, and belong to root. */
static void dafsd_fattr_pseudo(const struct dafsd_fh *fh, struct dafs_fattr *attr,
			       struct dafsd_fattr_names *names)
{
	u64 change = dafsd_exports_change();
	struct timespec64 ts = ns_to_timespec64(change);
	struct kstat stat = {
		.result_mask = STATX_BASIC_STATS | STATX_BTIME,
		.mode = S_IFDIR | 0555,
		.nlink = 2,
		.ino = dafsd_pseudo_ino(fh),
		.atime = ts,
		.btime = ts,
		.ctime = ts,
		.mtime = ts,
	};

	dafsd_fattr_from_stat(attr, &stat);
	dafsd_fattr_time_delta(attr, 1);
	dafsd_fattr_owners(attr, names, 0, 0);
	attr->change = change;
}

/**
 * dafsd_fattr_has_mime() - can the objects of a file system have MIME types?
 * @sb: the file system
 *
 * Context: any.
 * Return: true if it supports user extended attributes.
 */
bool dafsd_fattr_has_mime(const struct super_block *sb)
{
	const struct xattr_handler * const *handler;

	for (handler = sb->s_xattr; handler && *handler; handler++)
		if ((*handler)->prefix && !strcmp((*handler)->prefix, XATTR_USER_PREFIX))
			return true;
	return false;
}

/* Most objects have no MIME type: it is empty.  If it cannot be read it is not valid. */
static void dafsd_fattr_mime_type(struct dentry *dentry, struct dafs_fattr *attr,
				  struct dafsd_fattr_names *names)
{
	ssize_t len;

	if (!(attr->valid & DAFS_FATTR_MIME_TYPE))
		return;
	len = vfs_getxattr(&nop_mnt_idmap, dentry, DAFSD_MIME_XATTR, names->mime_type,
			   sizeof(names->mime_type));
	if (len < 0 && len != -ENODATA) {
		attr->valid &= ~DAFS_FATTR_MIME_TYPE;
		return;
	}
	attr->mime_type.len = max(len, 0);
	attr->mime_type.data = names->mime_type;
}

/*
 * CHANGE must not be newer than the other attributes, otherwise a client would take old
 * attributes for the new ones.  If the counter changes while the attributes are read, they
 * are read again, and CHANGE is kept from the first time.
 */
static int dafsd_fattr_stat(const struct dafsd_fh *fh, unsigned int sync, struct kstat *stat,
			    u64 *change)
{
	const u32 mask = STATX_BASIC_STATS | STATX_BTIME | DAFSD_CHANGE_MASK;
	struct inode *inode = dafsd_fh_inode(fh);
	const struct path path = dafsd_fh_path(fh);
	bool counts = IS_I_VERSION(inode);
	u64 before = counts ? inode_query_iversion(inode) : 0;
	int err;

	err = vfs_getattr(&path, stat, mask, sync);
	if (err)
		return err;
	*change = dafsd_change_of(inode, stat);
	if (!counts || !(stat->result_mask & STATX_CHANGE_COOKIE) ||
	    stat->change_cookie == before)
		return 0;
	return vfs_getattr(&path, stat, mask, sync);
}

static dafs_status_t dafsd_fattr_fill(const struct dafsd_fh *fh, u64 wanted, unsigned int sync,
				      struct dafs_fattr *attr, struct dafsd_fattr_names *names)
{
	struct kstat stat;
	int err;

	memset(attr, 0, sizeof(*attr));
	attr->included = wanted & DAFS_FATTR_ALL;
	attr->valid = attr->included & DAFSD_FATTR_READABLE;
	if ((attr->valid & DAFS_FATTR_FILEHANDLE) &&
	    dafsd_fh_to_wire(fh, &attr->filehandle))
		attr->valid &= ~DAFS_FATTR_FILEHANDLE;
	if (dafsd_fh_is_pseudo(fh)) {
		dafsd_fattr_pseudo(fh, attr, names);
		return DAFS_STATUS_OK;
	}
	if (sync == AT_STATX_DONT_SYNC)
		attr->valid &= ~DAFS_FATTR_MIME_TYPE;
	err = dafsd_fattr_stat(fh, sync, &stat, &attr->change);
	if (err) {
		attr->valid = 0;
		return dafs_errno_to_status(err);
	}
	dafsd_fattr_from_stat(attr, &stat);
	dafsd_fattr_time_delta(attr, dafsd_fh_inode(fh)->i_sb->s_time_gran);
	dafsd_fattr_owners(attr, names, from_kuid_munged(&init_user_ns, stat.uid),
			   from_kgid_munged(&init_user_ns, stat.gid));
	dafsd_fattr_mime_type(fh->dentry, attr, names);
	return DAFS_STATUS_OK;
}

/**
 * dafsd_fattr_get() - the attributes of an object
 * @fh: the object or a pseudo directory
 * @wanted: attr_request_bitmap
 * @attr: filled; attributes that are not supported are included but not valid,
 *	unknown ones are not included (E-20)
 * @names: room for what @attr points to
 *
 * Context: may sleep.
 * Return: OK or the status of stat() on the file system; then @attr has all
 * of @wanted included and nothing valid.
 */
dafs_status_t dafsd_fattr_get(const struct dafsd_fh *fh, u64 wanted, struct dafs_fattr *attr,
			      struct dafsd_fattr_names *names)
{
	return dafsd_fattr_fill(fh, wanted, AT_STATX_SYNC_AS_STAT, attr, names);
}

/**
 * dafsd_fattr_peek() - the attributes of an export's root that are in memory
 * @fh: the root of an export or a pseudo directory
 * @wanted: as in dafsd_fattr_get()
 * @attr: filled; attributes that would need I/O are not valid (E-21)
 * @names: as in dafsd_fattr_get()
 *
 * For READDIR of directories with exports in them: the file system of an export may hang,
 * and must not block a worker of another export.
 *
 * Context: may sleep.
 */
void dafsd_fattr_peek(const struct dafsd_fh *fh, u64 wanted, struct dafs_fattr *attr,
		      struct dafsd_fattr_names *names)
{
	dafsd_fattr_fill(fh, wanted, AT_STATX_DONT_SYNC, attr, names);
}

static bool dafsd_settime_sane(const struct dafs_settime *t)
{
	if (t->how == DAFS_SET_TO_SERVER_TIME)
		return true;
	return t->how == DAFS_SET_TO_CLIENT_TIME && t->client_time.nseconds < NSEC_PER_SEC;
}

static bool dafsd_mime_sane(const struct dafs_str *mime)
{
	return mime->len <= sizeof_field(struct dafsd_fattr_names, mime_type) &&
	       !(mime->len && memchr(mime->data, 0, mime->len));
}

/**
 * dafsd_fattr_check() - can these attributes be set? (E-20, E-112)
 * @attr: decoded attributes; those that are included and valid are checked
 * @settable: the attributes that may be set here
 *
 * Context: any.
 * Return: OK; INVAL for an attribute not in @settable or an invalid value; FBIG for a size
 * above MAX_LFS_FILESIZE.
 */
dafs_status_t dafsd_fattr_check(const struct dafs_fattr *attr, u64 settable)
{
	u64 meant = attr->included & attr->valid;
	u32 id;

	if ((attr->included & ~DAFS_FATTR_ALL) || (meant & ~settable))
		return DAFSERR_INVAL;
	if ((meant & DAFS_FATTR_TIME_ACCESS_SET) && !dafsd_settime_sane(&attr->time_access_set))
		return DAFSERR_INVAL;
	if ((meant & DAFS_FATTR_TIME_MODIFY_SET) && !dafsd_settime_sane(&attr->time_modify_set))
		return DAFSERR_INVAL;
	if ((meant & DAFS_FATTR_OWNER) && !dafsd_name_to_id(&attr->owner, &id))
		return DAFSERR_INVAL;
	if ((meant & DAFS_FATTR_OWNER_GROUP) && !dafsd_name_to_id(&attr->owner_group, &id))
		return DAFSERR_INVAL;
	if ((meant & DAFS_FATTR_MIME_TYPE) && !dafsd_mime_sane(&attr->mime_type))
		return DAFSERR_INVAL;
	if ((meant & DAFS_FATTR_OBJECT_SIZE) && attr->object_size > MAX_LFS_FILESIZE)
		return DAFSERR_FBIG;
	return DAFS_STATUS_OK;
}

/*
 * One step of dafsd_fattr_set(): fills @ia for the attributes @which; the
 * lock of the inode is held.
 */
typedef void (*dafsd_fattr_step)(struct inode *inode, const struct dafs_fattr *attr, u64 which,
				 struct iattr *ia);

/*
 * A file that is truncated loses its capabilities, and unless the caller has
 * CAP_FSETID its set-id bits, too.
 */
static void dafsd_fattr_size(struct inode *inode, const struct dafs_fattr *attr, u64 which,
			     struct iattr *ia)
{
	int kill = setattr_should_drop_suidgid(&nop_mnt_idmap, inode);

	ia->ia_valid = ATTR_SIZE | ATTR_CTIME | ATTR_MTIME | ATTR_KILL_PRIV;
	ia->ia_size = attr->object_size;
	if (kill)
		ia->ia_valid |= kill | ATTR_FORCE;
}

static void dafsd_fattr_mode(struct inode *inode, const struct dafs_fattr *attr, u64 which,
			     struct iattr *ia)
{
	ia->ia_valid = ATTR_MODE | ATTR_CTIME;
	ia->ia_mode = (attr->mode & S_IALLUGO) | (inode->i_mode & ~S_IALLUGO);
}

static void dafsd_fattr_chown(struct inode *inode, const struct dafs_fattr *attr, u64 which,
			      struct iattr *ia)
{
	u32 id;

	ia->ia_valid = ATTR_CTIME;
	if ((which & DAFS_FATTR_OWNER) && dafsd_name_to_id(&attr->owner, &id)) {
		ia->ia_valid |= ATTR_UID;
		ia->ia_vfsuid = VFSUIDT_INIT(make_kuid(&init_user_ns, id));
	}
	if ((which & DAFS_FATTR_OWNER_GROUP) && dafsd_name_to_id(&attr->owner_group, &id)) {
		ia->ia_valid |= ATTR_GID;
		ia->ia_vfsgid = VFSGIDT_INIT(make_kgid(&init_user_ns, id));
	}
	if (!S_ISDIR(inode->i_mode))
		ia->ia_valid |= ATTR_KILL_SUID | ATTR_KILL_PRIV |
				setattr_should_drop_sgid(&nop_mnt_idmap, inode);
}

static unsigned int dafsd_fattr_time(const struct dafs_settime *t, unsigned int flag,
				     unsigned int flag_set, struct timespec64 *ts)
{
	if (t->how == DAFS_SET_TO_SERVER_TIME)
		return flag;
	ts->tv_sec = t->client_time.seconds;
	ts->tv_nsec = t->client_time.nseconds;
	return flag | flag_set | ATTR_TIMES_SET;
}

/* Setting the server's time needs write permission; another time only the owner may set. */
static void dafsd_fattr_times(struct inode *inode, const struct dafs_fattr *attr, u64 which,
			      struct iattr *ia)
{
	ia->ia_valid = ATTR_CTIME;
	if (which & DAFS_FATTR_TIME_ACCESS_SET)
		ia->ia_valid |= dafsd_fattr_time(&attr->time_access_set, ATTR_ATIME,
						 ATTR_ATIME_SET, &ia->ia_atime);
	if (which & DAFS_FATTR_TIME_MODIFY_SET)
		ia->ia_valid |= dafsd_fattr_time(&attr->time_modify_set, ATTR_MTIME,
						 ATTR_MTIME_SET, &ia->ia_mtime);
	if (!(ia->ia_valid & ATTR_TIMES_SET))
		ia->ia_valid |= ATTR_TOUCH;
}

static const struct {
	u64 attrs;
	dafsd_fattr_step fill;
} dafsd_fattr_steps[] = {
	{ DAFS_FATTR_OBJECT_SIZE, dafsd_fattr_size },
	{ DAFS_FATTR_MODE, dafsd_fattr_mode },
	{ DAFS_FATTR_OWNER | DAFS_FATTR_OWNER_GROUP, dafsd_fattr_chown },
	{ DAFS_FATTR_TIME_ACCESS_SET | DAFS_FATTR_TIME_MODIFY_SET, dafsd_fattr_times },
};

static int dafsd_fattr_apply(struct dentry *dentry, const struct dafs_fattr *attr, u64 which,
			     dafsd_fattr_step fill)
{
	struct inode *inode = d_inode(dentry);
	struct iattr ia = {};
	int err;

	/* refuse for a running program (-ETXTBSY), and for an append-only file opened before */
	if (which & DAFS_FATTR_OBJECT_SIZE) {
		if (IS_APPEND(inode))
			return -EPERM;
		err = get_write_access(inode);
		if (err)
			return err;
	}
	inode_lock(inode);
	fill(inode, attr, which, &ia);
	err = notify_change(&nop_mnt_idmap, dentry, &ia, NULL);
	inode_unlock(inode);
	if (which & DAFS_FATTR_OBJECT_SIZE)
		put_write_access(inode);
	return err;
}

/* Bits to be killed are not of interest, and setattr_prepare() would do that. */
static int dafsd_fattr_may_apply(struct dentry *dentry, const struct dafs_fattr *attr, u64 which,
				 dafsd_fattr_step fill)
{
	struct inode *inode = d_inode(dentry);
	struct iattr ia = {};
	int err;

	inode_lock(inode);
	fill(inode, attr, which, &ia);
	ia.ia_valid &= ~(ATTR_KILL_PRIV | ATTR_KILL_SUID | ATTR_KILL_SGID);
	err = may_setattr(&nop_mnt_idmap, inode, ia.ia_valid) ?:
	      setattr_prepare(&nop_mnt_idmap, dentry, &ia);
	inode_unlock(inode);
	return err;
}

/**
 * dafsd_fattr_may_set() - may the caller set the first of some attributes?
 * @dentry: the object
 * @attr: attributes that dafsd_fattr_check() has accepted
 * @which: attributes to set, at least one
 *
 * What dafsd_fattr_set() will refuse at once can be refused before others have to wait for it.
 * Those behind the first one it sets, or refuses, when that is set.
 *
 * Context: may sleep; the lock of the inode is not held.
 * Return: OK, also for the size, whose permission the caller checks; or the status of the failure.
 */
dafs_status_t dafsd_fattr_may_set(struct dentry *dentry, const struct dafs_fattr *attr, u64 which)
{
	unsigned int i;
	u64 now;

	if (which & DAFS_FATTR_OBJECT_SIZE)
		return DAFS_STATUS_OK;
	for (i = 0; i < ARRAY_SIZE(dafsd_fattr_steps); i++) {
		now = which & dafsd_fattr_steps[i].attrs;
		if (now)
			return dafs_errno_to_status(dafsd_fattr_may_apply(dentry, attr, now,
						    dafsd_fattr_steps[i].fill));
	}
	return dafs_errno_to_status(inode_permission(&nop_mnt_idmap, d_inode(dentry), MAY_WRITE));
}

/*
 * A file system without user extended attributes does not support the MIME type (E-112).
 * A delegation from another server, such as nfsd, is broken but not waited for.
 */
static int dafsd_fattr_set_mime(struct dentry *dentry, const struct dafs_str *mime)
{
	struct inode *inode = d_inode(dentry);
	int err;

	inode_lock(inode);
	if (mime->len)
		err = __vfs_setxattr_locked(&nop_mnt_idmap, dentry, DAFSD_MIME_XATTR,
					    mime->data, mime->len, 0, NULL);
	else
		err = __vfs_removexattr_locked(&nop_mnt_idmap, dentry, DAFSD_MIME_XATTR, NULL);
	inode_unlock(inode);
	if (err == -ENODATA)
		return 0;
	return err == -EOPNOTSUPP ? -EINVAL : err;
}

/**
 * dafsd_fattr_set() - set attributes in the order of E-114, and the MIME type
 * @dentry: the object
 * @attr: attributes that dafsd_fattr_check() has accepted
 * @which: attributes to set
 * @done: set to the attributes that were set, also after an error
 *
 * The caller checks the permission to change the size; all other permissions are checked
 * by the file system.
 *
 * Context: may sleep; write access to the file system is held and the lock of
 * the inode is not.
 * Return: OK or the status of the first attribute that could not be set.
 */
dafs_status_t dafsd_fattr_set(struct dentry *dentry, const struct dafs_fattr *attr, u64 which,
			      u64 *done)
{
	unsigned int i;
	u64 now;
	int err;

	*done = 0;
	for (i = 0; i < ARRAY_SIZE(dafsd_fattr_steps); i++) {
		now = which & dafsd_fattr_steps[i].attrs;
		if (!now)
			continue;
		err = dafsd_fattr_apply(dentry, attr, now, dafsd_fattr_steps[i].fill);
		if (err)
			return dafs_errno_to_status(err);
		*done |= now;
	}
	if (which & DAFS_FATTR_MIME_TYPE) {
		err = dafsd_fattr_set_mime(dentry, &attr->mime_type);
		if (err)
			return dafs_errno_to_status(err);
		*done |= DAFS_FATTR_MIME_TYPE;
	}
	return DAFS_STATUS_OK;
}
