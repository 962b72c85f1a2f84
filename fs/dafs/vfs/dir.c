// SPDX-License-Identifier: GPL-2.0
/*
 * Names: finding, making, removing and renaming objects.
 *
 * A dentry stays valid until another client changes its directory. d_time holds the
 * directory's dir_gen from before the lookup; dir_gen is the mount's clock at the last
 * change by another client.  The change_info in each response (E-119) tells our own
 * changes from those of others.  This holds for negative dentries too; the option
 * lookupcache= restricts it.
 */
#include <linux/fs.h>
#include <linux/namei.h>
#include <linux/pagemap.h>
#include "../inode/inode.h"

/* Rights that the VFS requires to create a name */
#define DAFS_DIR_CHANGE	(DAFS_ACCESS_MODIFY | DAFS_ACCESS_EXTEND | DAFS_ACCESS_LOOKUP)

/*
 * A change was refused, or its response was lost: another client may have been faster,
 * or the change was made.  The next GETATTR will show it.
 */
static int dafs_dir_change_failed(struct inode *dir, int err)
{
	struct dafs_inode *di = DAFS_I(dir);

	dafs_attr_outdate(di);
	set_bit(DAFS_INO_STALE, &di->flags);
	set_bit(DAFS_INO_STALE_STAT, &di->flags);
	return err;
}

/*
 * With O_EXCL and mkdir the server checks whether the name exists, so no lookup is
 * needed; unless the VFS would fail with another error that must not hide EEXIST.
 */
static bool dafs_exclusive(struct inode *dir, unsigned int flags)
{
	return (flags & (LOOKUP_CREATE | LOOKUP_EXCL)) == (LOOKUP_CREATE | LOOKUP_EXCL) &&
	       !sb_rdonly(dir->i_sb) && !dafs_may(dir, current_cred(), DAFS_DIR_CHANGE);
}

/*
 * The object may be replaced between LOOKUP and GETATTR; then look up again, as often
 * as others replace it.
 */
static struct inode *dafs_lookup_inode(struct inode *dir, const struct qstr *name)
{
	struct dafs_sb_info *sbi = DAFS_SB(dir->i_sb);
	struct dafs_fh last = {};
	int err;

	while (!fatal_signal_pending(current)) {
		long asked = dafs_attr_begin(dir->i_sb);
		unsigned long at = jiffies;
		struct dafs_found found = {};

		err = dafs_lookup_attrs(sbi->ses, current_cred(), &DAFS_I(dir)->fh, name,
					sbi->attrs, &found);
		if (!err)
			return dafs_iget_known(dir->i_sb, &found.fh, &found.attr, &found.ids,
					       asked, at);
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

/* Entries of the next listing will probably be used, too: see readdir.c. */
static void dafs_name_used(struct inode *dir, struct dentry *dentry)
{
	struct dafs_inode *di = DAFS_I(dir);

	if (!test_bit(DAFS_INO_NAMES_USED, &di->flags))
		set_bit(DAFS_INO_NAMES_USED, &di->flags);
	dafs_ahead_used(dir, dentry);
}

static struct dentry *dafs_dir_lookup(struct inode *dir, struct dentry *dentry,
				      unsigned int flags)
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
	err = dafs_lookup(dafs_inode_ses(dir), current_cred(), &DAFS_I(dir)->fh,
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

/* The name now leads to an object that we have just made. */
static int dafs_instantiate(struct inode *dir, struct dentry *dentry, struct inode *inode,
			    unsigned long gen)
{
	struct dentry *alias;

	d_drop(dentry);
	alias = dafs_splice(inode, dentry, gen);
	if (IS_ERR(alias))
		return PTR_ERR(alias);
	dput(alias);
	return 0;
}

/* The object may exist, or another client's, so its name must be looked up again. */
static int dafs_not_made(struct inode *dir, struct dentry *dentry, int err)
{
	d_drop(dentry);
	return dafs_dir_change_failed(dir, err);
}

/* CREATE sets the mode of directories only (E-30); symbolic links need none. */
static int dafs_make_node(struct inode *dir, struct dentry *dentry, umode_t mode,
			  const struct dafs_node *node)
{
	struct dafs_sb_info *sbi = DAFS_SB(dir->i_sb);
	long asked = dafs_attr_begin(dir->i_sb);
	unsigned long gen = dafs_dir_gen(dir);
	unsigned long at = jiffies;
	struct dafs_change_info change;
	struct dafs_found found = {};
	struct dafs_fattr dress = {};
	struct inode *inode;
	int err;

	dafs_fattr_mode(&dress, mode);
	err = dafs_create_attrs(sbi->ses, current_cred(), &DAFS_I(dir)->fh, &dentry->d_name, node,
				node->attr || S_ISLNK(mode) ? NULL : &dress, sbi->attrs, &found,
				&change);
	if (found.done)
		dafs_dir_changed(dir, &change);
	if (!err) {
		inode = dafs_iget_known(dir->i_sb, &found.fh, &found.attr, &found.ids, asked, at);
		err = PTR_ERR_OR_ZERO(inode);
	}
	if (!err)
		return dafs_instantiate(dir, dentry, inode, gen);
	return dafs_not_made(dir, dentry, err);
}

static int dafs_dir_mkdir(struct mnt_idmap *idmap, struct inode *dir,
			  struct dentry *dentry, umode_t mode)
{
	struct dafs_fattr attr = {};
	const struct dafs_node node = { .type = DAFS_TYPE_DIR, .attr = &attr };

	dafs_fattr_mode(&attr, mode);
	return dafs_make_node(dir, dentry, mode, &node);
}

static int dafs_dir_symlink(struct mnt_idmap *idmap, struct inode *dir,
			    struct dentry *dentry, const char *target)
{
	const struct dafs_node node = {
		.type = DAFS_TYPE_LNK,
		.link = { .len = strlen(target), .data = (const u8 *)target },
	};
	int err = dafs_make_node(dir, dentry, S_IFLNK | 0777, &node);

	/* the target does not fit into a message, and there is no other procedure for it */
	return err == -EMSGSIZE ? -ENAMETOOLONG : err;
}

/*
 * If each name has its own handle (6.1.6, UNIQUE_HANDLE), the new name must be looked
 * up.
 */
static int dafs_dir_link(struct dentry *old, struct inode *dir, struct dentry *dentry)
{
	struct inode *inode = d_inode(old);
	struct dafs_inode *di = DAFS_I(inode);
	long asked = READ_ONCE(di->asked);
	unsigned long gen = dafs_dir_gen(dir);
	struct dafs_change_info change;
	int err;

	err = dafs_link(dafs_inode_ses(dir), current_cred(), &di->fh, &DAFS_I(dir)->fh,
			&dentry->d_name, &change);
	/* link(2) reports EPERM if the file system has no hard links */
	if (err)
		return dafs_dir_change_failed(dir, err == -EOPNOTSUPP ? -EPERM : err);
	dafs_dir_changed(dir, &change);
	clear_bit(DAFS_INO_REMOVED, &di->flags);
	/* older answers do not know the new name; and it must not be counted twice */
	dafs_attr_outdate(di);
	spin_lock(&di->lock);
	if (!inode->i_nlink)
		set_nlink(inode, 1);
	else if (di->asked == asked)
		inc_nlink(inode);
	spin_unlock(&di->lock);
	dafs_own_metadata(inode, current_cred());
	if (!DAFS_SB(dir->i_sb)->unique_handle) {
		d_drop(dentry);
		return 0;
	}
	ihold(inode);
	return dafs_instantiate(dir, dentry, inode, gen);
}

static int dafs_make_file(struct inode *dir, struct dentry *dentry, umode_t mode)
{
	const struct dafs_new_file how = {
		.mode = mode,
		.access = DAFS_OPEN_SHARE_ACCESS_READ,
	};
	unsigned long gen = dafs_dir_gen(dir);
	struct dafs_open_state *os;
	struct inode *inode;
	int err;

	os = dafs_open_state_create(dir, &dentry->d_name, &how, current_cred(), &inode);
	if (IS_ERR(os))
		return dafs_not_made(dir, dentry, PTR_ERR(os));
	err = dafs_instantiate(dir, dentry, igrab(inode), gen);
	dafs_open_state_put(os, true);
	iput(inode);
	return err;
}

static int dafs_dir_mknod(struct mnt_idmap *idmap, struct inode *dir,
			  struct dentry *dentry, umode_t mode, dev_t dev)
{
	struct dafs_node node = {
		.dev = { .specdata1 = MAJOR(dev), .specdata2 = MINOR(dev) },
	};

	switch (mode & S_IFMT) {
	case 0:
	case S_IFREG:
		return dafs_make_file(dir, dentry, mode);
	case S_IFBLK:
		node.type = DAFS_TYPE_BLK;
		break;
	case S_IFCHR:
		node.type = DAFS_TYPE_CHR;
		break;
	case S_IFIFO:
		node.type = DAFS_TYPE_FIFO;
		break;
	case S_IFSOCK:
		node.type = DAFS_TYPE_SOCK;
		break;
	default:
		return -EINVAL;
	}
	return dafs_make_node(dir, dentry, mode, &node);
}

static int dafs_dir_create(struct mnt_idmap *idmap, struct inode *dir,
			   struct dentry *dentry, umode_t mode, bool excl)
{
	return dafs_make_file(dir, dentry, mode);
}

static u32 dafs_open_flags_access(unsigned int flags)
{
	switch (flags & O_ACCMODE) {
	case O_RDONLY:
		return DAFS_OPEN_SHARE_ACCESS_READ;
	case O_WRONLY:
		return DAFS_OPEN_SHARE_ACCESS_WRITE;
	}
	return DAFS_OPEN_SHARE_ACCESS_BOTH;
}

/* The name leads to @inode, which the server has opened; takes over @os, not @inode. */
static int dafs_finish_open(struct inode *dir, struct dentry *dentry, struct file *file,
			    struct inode *inode, struct dafs_open_state *os, unsigned long gen)
{
	int err = dafs_instantiate(dir, dentry, igrab(inode), gen);

	file->private_data = os;
	if (!err)
		err = finish_open(file, dentry, dafs_file_opened);
	/* if it was opened, the VFS calls ->release() */
	if (!(file->f_mode & FMODE_OPENED)) {
		file->private_data = NULL;
		dafs_open_state_put(os, true);
	}
	return err;
}

/* Create a file and open it by the same OPEN. */
static int dafs_create_open(struct inode *dir, struct dentry *dentry, struct file *file,
			    unsigned int flags, umode_t mode)
{
	const struct dafs_new_file how = {
		.mode = mode,
		.access = dafs_open_flags_access(flags),
		.excl = flags & O_EXCL,
	};
	bool unseen = d_in_lookup(dentry);
	unsigned long gen = dafs_dir_gen(dir);
	struct dafs_open_state *os;
	struct inode *inode;
	int err;

	os = dafs_open_state_create(dir, &dentry->d_name, &how, file->f_cred, &inode);
	if (IS_ERR(os) && unseen) {
		d_drop(dentry);
		return PTR_ERR(os);
	}
	if (IS_ERR(os))
		return dafs_not_made(dir, dentry, PTR_ERR(os));
	file->f_mode |= FMODE_CREATED;
	err = dafs_finish_open(dir, dentry, file, inode, os, gen);
	iput(inode);
	return err;
}

/* The lookup found a regular file. By now the name may lead to another one. */
static int dafs_open_regular(struct inode *dir, struct dentry *dentry, struct file *file,
			     unsigned int flags)
{
	unsigned long gen = dafs_dir_gen(dir);
	struct dafs_open_state *os;
	struct inode *inode;
	int err;

	os = dafs_open_state_named(dir, &dentry->d_name, dafs_open_flags_access(flags),
				   file->f_cred, &inode);
	if (IS_ERR(os))
		return PTR_ERR(os);
	err = dafs_finish_open(dir, dentry, file, inode, os, gen);
	iput(inode);
	return err;
}

/* Return: -ENOENT if there is no object and it must be created. */
static int dafs_open_there(struct inode *dir, struct dentry *dentry, struct file *file,
			   unsigned int flags)
{
	unsigned long gen = dafs_dir_gen(dir);
	struct dentry *alias;
	struct inode *inode;

	dafs_name_used(dir, dentry);
	inode = dafs_lookup_inode(dir, &dentry->d_name);
	if (!inode && (flags & O_CREAT))
		return -ENOENT;
	if (!IS_ERR_OR_NULL(inode)) {
		dafs_ahead_asked(dentry->d_parent);
		/* O_EXCL: nothing may be opened, and the VFS reports the errno */
		if (S_ISREG(inode->i_mode) && !(flags & (O_EXCL | O_DIRECTORY))) {
			iput(inode);
			return dafs_open_regular(dir, dentry, file, flags);
		}
	}
	alias = dafs_splice(inode, dentry, gen);
	return IS_ERR(alias) ? PTR_ERR(alias) : finish_no_open(file, alias);
}

/*
 * Files to be created usually do not exist, so create without a LOOKUP first.  If that
 * fails, look up.  Other clients may create and remove the name in between.
 */
static int dafs_open_unseen(struct inode *dir, struct dentry *dentry, struct file *file,
			    unsigned int flags, umode_t mode)
{
	struct dafs_inode *di = DAFS_I(dir);
	bool create = (flags & O_CREAT) && !test_bit(DAFS_INO_LOOK_FIRST, &di->flags);
	int err, made;

	do {
		made = create ? dafs_create_open(dir, dentry, file, flags, mode) : -EEXIST;
		if (!made || (file->f_mode & FMODE_CREATED))
			break;
		if (made == -EEXIST)
			set_bit(DAFS_INO_LOOK_FIRST, &di->flags);
		err = dafs_open_there(dir, dentry, file, flags);
		if (err != -ENOENT || !(flags & O_CREAT))
			return err;
		clear_bit(DAFS_INO_LOOK_FIRST, &di->flags);
		create = true;
	} while (made == -EEXIST && !fatal_signal_pending(current));
	return made;
}

/* The dentry is known to be negative. */
static int dafs_open_absent(struct inode *dir, struct dentry *dentry, struct file *file,
			    unsigned int flags, umode_t mode)
{
	int err;

	if (!(flags & O_CREAT) || d_really_is_positive(dentry))
		return finish_no_open(file, NULL);
	clear_bit(DAFS_INO_LOOK_FIRST, &DAFS_I(dir)->flags);
	err = dafs_create_open(dir, dentry, file, flags, mode);
	/* Another client has created it first: open that file. */
	return err == -EEXIST ? -ESTALE : err;
}

static int dafs_dir_atomic_open(struct inode *dir, struct dentry *dentry,
				struct file *file, unsigned int flags, umode_t mode)
{
	if (dentry->d_name.len > DAFS_SB(dir->i_sb)->max_name)
		return -ENAMETOOLONG;
	if ((flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
		return dafs_create_open(dir, dentry, file, flags, mode);
	if (d_in_lookup(dentry))
		return dafs_open_unseen(dir, dentry, file, flags, mode);
	return dafs_open_absent(dir, dentry, file, flags, mode);
}

/* O_TMPFILE. The file has no name, here and at the server. */
static int dafs_dir_tmpfile(struct mnt_idmap *idmap, struct inode *dir, struct file *file,
			    umode_t mode)
{
	const struct dafs_new_file how = {
		.mode = mode,
		.access = dafs_open_flags_access(file->f_flags),
	};
	struct dafs_open_state *os;
	struct inode *inode;
	int err;

	os = dafs_open_state_create(dir, NULL, &how, file->f_cred, &inode);
	if (IS_ERR(os))
		return PTR_ERR(os);
	file->f_mode |= FMODE_CREATED;
	d_mark_tmpfile(file, inode);
	d_instantiate(file->f_path.dentry, inode);
	file->private_data = os;
	err = finish_open(file, file->f_path.dentry, dafs_file_opened);
	if (!(file->f_mode & FMODE_OPENED)) {
		file->private_data = NULL;
		dafs_open_state_put(os, true);
	}
	return err;
}

/* Reads the target of a symbolic link before its name is removed: later is too late. */
static void dafs_keep_target(struct dentry *dentry)
{
	struct inode *inode = d_inode(dentry);
	DEFINE_DELAYED_CALL(done);

	if (S_ISLNK(inode->i_mode) && d_count(dentry) > 1 && !READ_ONCE(inode->i_link))
		inode->i_op->get_link(dentry, inode, &done);
}

/*
 * A name will be removed.  Other tasks may see the effect in their responses before the
 * response to the removal arrives.
 */
static long dafs_removing(struct dentry *dentry)
{
	struct dafs_inode *di = DAFS_I(d_inode(dentry));

	dafs_keep_target(dentry);
	set_bit(DAFS_INO_REMOVED, &di->flags);
	return READ_ONCE(di->asked);
}

/*
 * The server may have said meanwhile that the object is gone, which was taken for the
 * effect of the removal: it is asked again.
 */
static void dafs_not_removed(struct inode *inode)
{
	struct dafs_inode *di = DAFS_I(inode);

	clear_bit(DAFS_INO_REMOVED, &di->flags);
	/* pairs with dafs_attrs_last() */
	smp_mb__after_atomic();
	set_bit(DAFS_INO_STALE, &di->flags);
}

/*
 * Does i_nlink come from the server?  An answer that came during the removal may count
 * the removed name or not, so ask again.  If that fails, keep the higher count: with
 * i_nlink 0 the inode would be evicted.
 */
static bool dafs_names_counted(struct inode *inode, long asked)
{
	struct dafs_inode *di = DAFS_I(inode);
	long now = READ_ONCE(di->asked);
	int err;

	if (S_ISDIR(inode->i_mode) || now == asked)
		return false;
	err = dafs_revalidate(inode, current_cred(), true);
	return err || READ_ONCE(di->asked) != now;
}

static void dafs_count_removed(struct inode *inode)
{
	struct dafs_inode *di = DAFS_I(inode);

	spin_lock(&di->lock);
	if (S_ISDIR(inode->i_mode))
		clear_nlink(inode);
	else if (inode->i_nlink)
		drop_nlink(inode);
	spin_unlock(&di->lock);
}

/* A name was removed. Only the server knows whether there are others. */
static void dafs_removed(struct inode *inode, long asked)
{
	struct dafs_inode *di = DAFS_I(inode);

	/* older answers do not know of the removal */
	dafs_attr_outdate(di);
	if (!dafs_names_counted(inode, asked))
		dafs_count_removed(inode);
	if (!inode->i_nlink) {
		dafs_own_change(di);
		return;
	}
	/* other names may be other inodes here, see dafs_dir_link() */
	if (DAFS_SB(inode->i_sb)->unique_handle)
		dafs_not_removed(inode);
	dafs_own_metadata(inode, current_cred());
}

static int dafs_dir_unlink(struct inode *dir, struct dentry *dentry)
{
	struct dafs_change_info change;
	long asked;
	int err;

	asked = dafs_removing(dentry);
	err = dafs_remove(dafs_inode_ses(dir), current_cred(), &DAFS_I(dir)->fh,
			  &dentry->d_name, DAFS_REMOVE_UNCHECKED, &change);
	if (err) {
		dafs_not_removed(d_inode(dentry));
		return dafs_dir_change_failed(dir, err);
	}
	dafs_dir_changed(dir, &change);
	dafs_removed(d_inode(dentry), asked);
	return 0;
}

static int dafs_dir_rmdir(struct inode *dir, struct dentry *dentry)
{
	/* A crossing, even if nothing is mounted on it now; the server reports no such error. */
	if (IS_AUTOMOUNT(d_inode(dentry)))
		return -EBUSY;
	return dafs_dir_unlink(dir, dentry);
}

static int dafs_dir_rename(struct mnt_idmap *idmap, struct inode *old_dir,
			   struct dentry *old_dentry, struct inode *new_dir,
			   struct dentry *new_dentry, unsigned int flags)
{
	struct inode *victim = d_inode(new_dentry);
	unsigned long gen = dafs_dir_gen(new_dir);
	struct dafs_rename_res res = {};
	long asked = 0;
	int err;

	/* RENAME always replaces; there are no flags. */
	if (flags)
		return -EINVAL;
	if (IS_AUTOMOUNT(d_inode(old_dentry)) || (victim && IS_AUTOMOUNT(victim)))
		return -EBUSY;
	if (victim)
		asked = dafs_removing(new_dentry);
	err = dafs_rename(dafs_inode_ses(old_dir), current_cred(), &DAFS_I(old_dir)->fh,
			  &old_dentry->d_name, &DAFS_I(new_dir)->fh,
			  &new_dentry->d_name, &res);
	if (err && victim)
		dafs_not_removed(victim);
	/* the VFS has checked that both are directories, or none is (E-93) */
	if (err == -EEXIST && victim && S_ISDIR(victim->i_mode))
		return -ENOTEMPTY;
	if (err) {
		dafs_dir_change_failed(old_dir, err);
		return dafs_dir_change_failed(new_dir, err);
	}
	dafs_dir_changed(old_dir, &res.source);
	if (new_dir != old_dir)
		dafs_dir_changed(new_dir, &res.target);
	if (victim)
		dafs_removed(victim, asked);
	/* d_move() makes it the dentry of the new name. */
	old_dentry->d_time = gen;
	dafs_own_metadata(d_inode(old_dentry), current_cred());
	return 0;
}

const struct inode_operations dafs_dir_iops = {
	.lookup		= dafs_dir_lookup,
	.create		= dafs_dir_create,
	.atomic_open	= dafs_dir_atomic_open,
	.unlink		= dafs_dir_unlink,
	.link		= dafs_dir_link,
	.symlink	= dafs_dir_symlink,
	.mkdir		= dafs_dir_mkdir,
	.rmdir		= dafs_dir_rmdir,
	.mknod		= dafs_dir_mknod,
	.rename		= dafs_dir_rename,
	.tmpfile	= dafs_dir_tmpfile,
	.permission	= dafs_vfs_permission,
	.getattr	= dafs_vfs_getattr,
	.setattr	= dafs_vfs_setattr,
};
