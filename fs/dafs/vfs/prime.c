// SPDX-License-Identifier: GPL-2.0
/* Dentries and inodes of a listing's entries, before programs ask for them. */
#include <linux/fs.h>
#include "vfs.h"

/**
 * dafs_listing_begin() - a directory is going to be listed
 * @list: the listing; @list->dir is set
 * @wanted: attributes to be asked for
 *
 * Context: any; the directory's i_rwsem is held, be it shared.
 */
void dafs_listing_begin(struct dafs_listing *list, u64 wanted)
{
	list->wanted = wanted;
	list->gen = dafs_dir_gen(d_inode(list->dir));
	list->asked = dafs_asked_now(list->dir->d_sb);
}

/**
 * dafs_dirent_sane() - may an entry be passed on?
 * @entry: from the server, which has no right to names that would lead out of the
 *	directory
 *
 * Context: any.
 * Return: true if so.
 */
bool dafs_dirent_sane(const struct dafs_direntry *entry)
{
	const struct dafs_str *name = &entry->name;

	return name->len && name->len <= NAME_MAX && !memchr(name->data, '/', name->len) &&
	       !memchr(name->data, 0, name->len) &&
	       !is_dot_dotdot((const char *)name->data, name->len) && entry->cookie > 2 &&
	       entry->cookie <= LLONG_MAX;
}

/**
 * dafs_listing_attrs() - what is to be asked for to make inodes of entries
 * @sbi: the mount
 *
 * Context: any.
 * Return: DAFS_FATTR_*, or 0 if the server or the mount's options do not let it.
 */
u64 dafs_listing_attrs(const struct dafs_sb_info *sbi)
{
	return sbi->handles && !READ_ONCE(sbi->opts.noac) ? sbi->attrs | DAFS_FATTR_FILEHANDLE : 0;
}

static struct inode *dafs_prime_inode(const struct dafs_listing *list,
				      const struct dafs_fattr *attr, const struct dafs_ids *ids)
{
	return dafs_iget_known(list->dir->d_sb, &attr->filehandle, attr, ids, list->asked);
}

/* A name that is known already gets news only of the object that it leads to. */
static void dafs_prime_known(const struct dafs_listing *list, struct dentry *dentry,
			     const struct dafs_fattr *attr, const struct dafs_ids *ids)
{
	struct inode *inode = d_inode(dentry);

	if (!inode || memcmp(&DAFS_I(inode)->fh, &attr->filehandle, sizeof(attr->filehandle)))
		return;
	inode = dafs_prime_inode(list, attr, ids);
	if (IS_ERR(inode))
		return;
	WRITE_ONCE(dentry->d_time, list->gen);
	if (list->mark)
		WRITE_ONCE(dentry->d_fsdata, list->mark);
	iput(inode);
}

static void dafs_prime_new(const struct dafs_listing *list, struct dentry *dentry,
			   const struct dafs_fattr *attr, const struct dafs_ids *ids)
{
	struct dentry *alias = NULL;
	struct inode *inode;

	inode = dafs_prime_inode(list, attr, ids);
	if (!IS_ERR(inode)) {
		dentry->d_fsdata = list->mark;
		alias = dafs_splice(inode, dentry, list->gen);
	}
	d_lookup_done(dentry);
	if (!IS_ERR_OR_NULL(alias))
		dput(alias);
}

/**
 * dafs_prime() - make a dentry and an inode of an entry
 * @list: what was asked for
 * @entry: the answer; sane
 *
 * What cannot be had here is looked up when it is asked for.  The directory's
 * i_rwsem is held, be it shared, so its names do not move meanwhile.
 *
 * Context: may sleep, and wait for others who look up the same name: the caller
 * holds no slot of the session that they might wait for.
 */
void dafs_prime(const struct dafs_listing *list, const struct dafs_direntry *entry)
{
	DECLARE_WAIT_QUEUE_HEAD_ONSTACK(wait);
	struct dafs_fattr attr = entry->attrs;
	struct dafs_ids ids;
	struct dentry *dentry;
	struct qstr name = QSTR_INIT((const char *)entry->name.data, entry->name.len);

	if (!(attr.valid & DAFS_FATTR_FILEHANDLE))
		return;
	dafs_fattr_take(&attr, list->wanted, &ids);
	name.hash = full_name_hash(list->dir, name.name, name.len);
	/* first: d_alloc_parallel() allocates one, be the name known or not */
	dentry = d_lookup(list->dir, &name) ?: d_alloc_parallel(list->dir, &name, &wait);
	if (IS_ERR(dentry))
		return;
	if (d_in_lookup(dentry))
		dafs_prime_new(list, dentry, &attr, &ids);
	else
		dafs_prime_known(list, dentry, &attr, &ids);
	dput(dentry);
}
