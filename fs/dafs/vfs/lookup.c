// SPDX-License-Identifier: GPL-2.0
/*
 * Looking names up, and how long what was found is valid.
 *
 * A dentry stays valid until another client changes its directory. d_time holds the
 * directory's dir_gen from before the lookup; dir_gen is the mount's clock at the last
 * change by another client.  The change_info in each response (E-119) tells our own
 * changes from those of others.  This holds for negative dentries too; the option
 * lookupcache= restricts it.
 */
#include <linux/fs.h>
#include <linux/namei.h>
#include "vfs.h"

/* Rights that the VFS requires to create a name */
#define DAFS_DIR_CHANGE	(DAFS_ACCESS_MODIFY | DAFS_ACCESS_EXTEND | DAFS_ACCESS_LOOKUP)

/*
 * With O_EXCL and mkdir the server checks whether the name exists, so no lookup is
 * needed; unless the VFS would fail with another error that must not hide EEXIST.
 */
static bool dafs_exclusive(struct inode *dir, unsigned int flags)
{
	return (flags & (LOOKUP_CREATE | LOOKUP_EXCL)) == (LOOKUP_CREATE | LOOKUP_EXCL) &&
	       !sb_rdonly(dir->i_sb) && !dafs_may(dir, current_cred(), DAFS_DIR_CHANGE);
}

/**
 * dafs_lookup_inode() - look a name up at the server
 * @dir: the directory
 * @name: the name
 *
 * The object may be replaced between LOOKUP and GETATTR; then look up again, as often
 * as others replace it.
 *
 * Context: may sleep.
 * Return: its inode with a reference, NULL if there is none, or an ERR_PTR.
 */
struct inode *dafs_lookup_inode(struct inode *dir, const struct qstr *name)
{
	struct dafs_sb_info *sbi = DAFS_SB(dir->i_sb);
	struct dafs_fh last = {};
	int err;

	while (!fatal_signal_pending(current)) {
		struct dafs_asked asked = dafs_asked_now(dir->i_sb);
		struct dafs_found found = {};

		err = dafs_lookup_attrs(sbi->clnt, current_cred(), &DAFS_I(dir)->fh, name,
					sbi->attrs, &found);
		if (!err)
			return dafs_iget_known(dir->i_sb, &found.fh, &found.attr, &found.ids,
					       asked);
		if (!found.done)
			return err == -ENOENT ? NULL : ERR_PTR(err);
		if (err != -ESTALE || !memcmp(&last, &found.fh, sizeof(last)))
			return ERR_PTR(err);
		last = found.fh;
	}
	return ERR_PTR(-EINTR);
}

/**
 * dafs_splice() - attach an inode to a dentry after a lookup
 * @inode: inode, whose reference this function takes over; NULL for a negative dentry;
 *	or an ERR_PTR
 * @dentry: the dentry; unhashed
 * @gen: dafs_dir_gen() of its directory from before the lookup was sent
 *
 * Context: may sleep.
 * Return: as d_splice_alias().
 */
struct dentry *dafs_splice(struct inode *inode, struct dentry *dentry, unsigned long gen)
{
	struct dentry *alias;

	dentry->d_time = gen;
	alias = d_splice_alias(inode, dentry);
	if (!IS_ERR_OR_NULL(alias))
		alias->d_time = gen;
	return alias;
}

/**
 * dafs_name_used() - a name is looked up
 * @dir: its directory
 * @dentry: the name
 *
 * Entries of the next listing will probably be used, too: see readdir.c.
 *
 * Context: any but interrupt.
 */
void dafs_name_used(struct inode *dir, struct dentry *dentry)
{
	struct dafs_inode *di = DAFS_I(dir);

	if (!test_bit(DAFS_INO_NAMES_USED, &di->flags))
		set_bit(DAFS_INO_NAMES_USED, &di->flags);
	dafs_ahead_used(dir, dentry);
}

/**
 * dafs_dir_lookup() - i_op->lookup
 * @dir: the directory
 * @dentry: the name
 * @flags: LOOKUP_*
 *
 * Context: may sleep.
 * Return: see the VFS.
 */
struct dentry *dafs_dir_lookup(struct inode *dir, struct dentry *dentry, unsigned int flags)
{
	unsigned long gen = dafs_dir_gen(dir);
	struct inode *inode;

	dafs_name_used(dir, dentry);
	if (dentry->d_name.len > DAFS_SB(dir->i_sb)->max_name)
		return ERR_PTR(-ENAMETOOLONG);
	/* Left unhashed, because nothing is known about the name. */
	if (dafs_exclusive(dir, flags))
		return NULL;
	inode = dafs_lookup_inode(dir, &dentry->d_name);
	if (!IS_ERR_OR_NULL(inode))
		dafs_ahead_asked(dentry->d_parent);
	return dafs_splice(inode, dentry, gen);
}

/* Looks the name up again: does it still lead to the same object? */
static int dafs_relookup(struct inode *dir, struct dentry *dentry)
{
	struct inode *inode = d_inode(dentry);
	unsigned long gen = dafs_dir_gen(dir);
	struct name_snapshot name;
	struct dafs_fh fh;
	int err;

	/* Without i_rwsem a rename may change the name at any time. */
	take_dentry_name_snapshot(&name, dentry);
	err = dafs_lookup(dafs_inode_clnt(dir), current_cred(), &DAFS_I(dir)->fh,
			  &name.name, &fh);
	release_dentry_name_snapshot(&name);
	if (err && err != -ENOENT)
		return err;
	if (!inode != (err == -ENOENT))
		return 0;
	if (inode && memcmp(&fh, &DAFS_I(inode)->fh, sizeof(fh)))
		return 0;
	WRITE_ONCE(dentry->d_time, gen);
	return 1;
}

static int dafs_relookup_one(struct dentry *parent, struct dentry *dentry)
{
	int ret = dafs_relookup(d_inode(parent), dentry);

	if (ret == 1 && d_is_positive(dentry))
		dafs_ahead_asked(parent);
	return ret;
}

/* Does the name stay valid until other clients change the directory? */
static bool dafs_lookup_cached(const struct dentry *dentry)
{
	switch (READ_ONCE(DAFS_SB(dentry->d_sb)->opts.lookupcache)) {
	case DAFS_LOOKUPCACHE_NONE:
		return false;
	case DAFS_LOOKUPCACHE_POSITIVE:
		return !d_is_negative(dentry);
	case DAFS_LOOKUPCACHE_ALL:
		break;
	}
	return true;
}

static int dafs_d_revalidate_rcu(struct dentry *dentry)
{
	struct dentry *parent = READ_ONCE(dentry->d_parent);
	struct inode *dir = d_inode_rcu(parent);

	if (!dir || !dafs_attrs_fresh(DAFS_I(dir)) || !dafs_lookup_cached(dentry) ||
	    READ_ONCE(dentry->d_time) != dafs_dir_gen(dir))
		return -ECHILD;
	dafs_name_used(dir, dentry);
	return 1;
}

/*
 * open(2) has found that the name leads to another object.  After a new lookup it might
 * be replaced again before the open; so let dafs_dir_atomic_open() open whatever is
 * there.
 */
static bool dafs_open_anew(const struct dentry *dentry, unsigned int flags)
{
	return (flags & LOOKUP_OPEN) && (flags & LOOKUP_REVAL) && d_is_reg(dentry) &&
	       !d_mountpoint(dentry);
}

static int dafs_d_revalidate(struct dentry *dentry, unsigned int flags)
{
	struct dentry *parent;
	struct inode *dir;
	int ret;

	if (flags & LOOKUP_RCU)
		return flags & LOOKUP_REVAL ? -ECHILD : dafs_d_revalidate_rcu(dentry);
	if (dafs_open_anew(dentry, flags))
		return 0;
	parent = dget_parent(dentry);
	dir = d_inode(parent);
	if (d_is_negative(dentry) && dafs_exclusive(dir, flags)) {
		dput(parent);
		return 1;
	}
	dafs_name_used(dir, dentry);
	ret = dafs_revalidate(dir, current_cred(), flags & LOOKUP_REVAL);
	if (!ret) {
		ret = 1;
		if (dentry->d_time != dafs_dir_gen(dir) || (flags & LOOKUP_REVAL) ||
		    !dafs_lookup_cached(dentry))
			ret = dafs_relookup_one(parent, dentry);
	}
	dput(parent);
	return ret;
}

/* For "." and other dentries that are reached without a lookup. */
static int dafs_d_weak_revalidate(struct dentry *dentry, unsigned int flags)
{
	struct inode *inode = d_inode(dentry);
	int err;

	if (!inode)
		return 1;
	err = dafs_revalidate(inode, current_cred(), flags & LOOKUP_REVAL);
	return err ?: 1;
}

const struct dentry_operations dafs_dentry_ops = {
	.d_revalidate		= dafs_d_revalidate,
	.d_weak_revalidate	= dafs_d_weak_revalidate,
	.d_automount		= dafs_d_automount,
};
