// SPDX-License-Identifier: GPL-2.0
/*
 * Inodes by filehandle.
 */
#include <linux/hash.h>
#include <linux/highuid.h>
#include <linux/slab.h>
#include "inode.h"

/**
 * dafs_inode_init_once() - slab constructor of inodes, but for what folders above keep in them
 * @data: struct dafs_inode
 */
void dafs_inode_init_once(void *data)
{
	struct dafs_inode *di = data;

	inode_init_once(&di->netfs.inode);
	spin_lock_init(&di->lock);
	spin_lock_init(&di->unstable_lock);
	mutex_init(&di->write_lock);
	mutex_init(&di->claim_lock);
	init_rwsem(&di->exact_lock);
	mutex_init(&di->zap_lock);
	mutex_init(&di->commit_lock);
	atomic_set(&di->commit_ends, 0);
	INIT_LIST_HEAD(&di->opens);
	INIT_LIST_HEAD(&di->unstable);
	INIT_LIST_HEAD(&di->committing);
	INIT_LIST_HEAD(&di->unstable_link.link);
	INIT_LIST_HEAD(&di->put_link);
}

/**
 * dafs_inode_reset() - make an inode new
 * @di: allocated inode
 */
void dafs_inode_reset(struct dafs_inode *di)
{
	di->flags = 0;
	di->change = 0;
	di->asked = 0;
	di->attr_at = jiffies;
	di->attr_sent = 0;
	di->attr_timeo = 0;
	di->sure_at = jiffies;
	atomic_long_set(&di->own_change, 0);
	memset(di->access, 0, sizeof(di->access));
	di->deleg = NULL;
	di->locks = NULL;
	di->dir_gen = 0;
	di->ahead = NULL;
	atomic_set(&di->ahead_credit, 0);
	di->btime = (struct timespec64){};
	atomic_set(&di->writers, 0);
	atomic_set(&di->left_writes, 0);
	atomic_set(&di->stores, 0);
	atomic_set(&di->flushing, 0);
	spin_lock_init(&di->async_lock);
	INIT_LIST_HEAD(&di->async_writes);
	di->async_next = 0;
	di->writer = NULL;
	di->writer_leaves = false;
	di->unstable_bytes = 0;
	atomic_set(&di->unstable_stops, 0);
	di->unstable_pinned = false;
}

/*
 * Answers from before a change whose inode was evicted since must not be used as new;
 * an object just created has no attributes yet.
 */
static void dafs_inode_init_attrs(struct inode *inode, const struct dafs_fattr *attr,
				  const struct dafs_ids *ids, struct dafs_asked asked)
{
	struct dafs_inode *di = DAFS_I(inode);
	bool made = asked.clock == DAFS_ASKED_NEVER;

	di->change = attr->change;
	di->dir_gen = dafs_clock_next(inode->i_sb);
	if (made)
		asked.clock = dafs_clock_next(inode->i_sb);
	dafs_inode_apply(di, attr, ids, asked);
	if (!made && asked.clock < atomic_long_read(&DAFS_SB(inode->i_sb)->evicted_change))
		set_bit(DAFS_INO_STALE, &di->flags);
}

static void dafs_inode_init(struct inode *inode, const struct dafs_fattr *attr,
			    const struct dafs_ids *ids, struct dafs_asked asked)
{
	struct dafs_inode *di = DAFS_I(inode);

	inode->i_mode = dafs_type_mode(attr->object_type);
	/* The server updates the times. */
	inode->i_flags |= S_NOATIME | S_NOCMTIME;
	i_uid_write(inode, overflowuid);
	i_gid_write(inode, overflowgid);
	dafs_inode_init_attrs(inode, attr, ids, asked);
	DAFS_SB(inode->i_sb)->set_ops(inode, attr);
	clear_bit(DAFS_INO_ZAP, &di->flags);
}

/*
 * Cheaper than jhash(), because listings hash many handles.  A server with colliding
 * handles slows down its own mounts only.
 */
static unsigned long dafs_fh_hash(const struct dafs_fh *fh)
{
	u64 words[DAFS_FH_SIZE / sizeof(u64)], hash = 0;
	unsigned int i;

	memcpy(words, fh, sizeof(words));
	for (i = 0; i < ARRAY_SIZE(words); i++)
		hash = (rol64(hash, 5) ^ words[i]) * GOLDEN_RATIO_64;
	return hash >> 32;
}

static int dafs_inode_test(struct inode *inode, void *data)
{
	return !memcmp(&DAFS_I(inode)->fh, data, sizeof(struct dafs_fh));
}

static int dafs_inode_set(struct inode *inode, void *data)
{
	DAFS_I(inode)->fh = *(const struct dafs_fh *)data;
	return 0;
}

static struct inode *dafs_iget_attrs(struct super_block *sb, const struct dafs_fh *fh,
				     const struct dafs_fattr *attr,
				     const struct dafs_ids *ids, struct dafs_asked asked)
{
	struct inode *inode;

	inode = iget5_locked(sb, dafs_fh_hash(fh), dafs_inode_test,
			     dafs_inode_set, (void *)fh);
	if (!inode)
		return ERR_PTR(-ENOMEM);
	if (inode->i_state & I_NEW) {
		dafs_inode_init(inode, attr, ids, asked);
		unlock_new_inode(inode);
		return inode;
	}
	if (inode_wrong_type(inode, dafs_type_mode(attr->object_type))) {
		iput(inode);
		return ERR_PTR(-ESTALE);
	}
	dafs_inode_apply(DAFS_I(inode), attr, ids, asked);
	return inode;
}

/**
 * dafs_iget_known() - get the inode of an object, with known attributes
 * @sb: super block
 * @fh: the object
 * @attr: its attributes
 * @ids: its owner and group
 * @asked: dafs_asked_now() from before they were requested
 *
 * Context: may sleep.
 * Return: inode with a reference, or an ERR_PTR; -EIO if @attr lacks required attributes.
 */
struct inode *dafs_iget_known(struct super_block *sb, const struct dafs_fh *fh,
			      const struct dafs_fattr *attr, const struct dafs_ids *ids,
			      struct dafs_asked asked)
{
	int err = dafs_check_attrs(attr);

	return err ? ERR_PTR(err) : dafs_iget_attrs(sb, fh, attr, ids, asked);
}

/**
 * dafs_iget() - read the attributes of an object and get its inode
 * @sb: super block
 * @cred: whom to ask the server for
 * @fh: the object
 *
 * Its attributes are as new as this call.
 *
 * Context: may sleep.
 * Return: inode with a reference, or an ERR_PTR.
 */
struct inode *dafs_iget(struct super_block *sb, const struct cred *cred,
			const struct dafs_fh *fh)
{
	struct dafs_sb_info *sbi = DAFS_SB(sb);
	struct dafs_asked asked = dafs_asked_now(sb);
	struct dafs_fattr attr = {};
	struct dafs_ids ids;
	int err;

	err = dafs_getattr(sbi->clnt, cred, fh, sbi->attrs, &attr, &ids);
	if (err)
		return ERR_PTR(err);
	return dafs_iget_known(sb, fh, &attr, &ids, asked);
}

/**
 * dafs_iget_created() - get the inode of a file that this client has just created
 * @dir: where
 * @cred: its owner, unless the server sets another
 * @fh: the file
 * @mode: its mode, likewise
 *
 * Sends no request: attributes are not needed before stat(2) or close(2).
 *
 * Context: may sleep.
 * Return: inode with a reference, or an ERR_PTR.
 */
struct inode *dafs_iget_created(struct inode *dir, const struct cred *cred,
				const struct dafs_fh *fh, umode_t mode)
{
	const struct dafs_ids ids = {
		.uid = from_kuid(&init_user_ns, cred->fsuid),
		.gid = dir->i_mode & S_ISGID ? i_gid_read(dir) :
					       from_kgid(&init_user_ns, cred->fsgid),
	};
	const struct dafs_fattr attr = {
		.valid = DAFS_FATTR_MODE | DAFS_FATTR_NUM_LINKS | DAFS_FATTR_OWNER |
			 DAFS_FATTR_OWNER_GROUP,
		.object_type = DAFS_TYPE_REG,
		.mode = mode & S_IALLUGO,
		.num_links = 1,
	};
	const struct dafs_asked never = {
		.clock = DAFS_ASKED_NEVER,
		.at = jiffies,
		.sent = ktime_get_coarse_boottime(),
	};
	struct inode *inode;

	inode = dafs_iget_attrs(dir->i_sb, fh, &attr, &ids, never);
	if (!IS_ERR(inode))
		dafs_own_change(DAFS_I(inode));
	return inode;
}
