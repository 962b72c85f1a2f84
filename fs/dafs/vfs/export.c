// SPDX-License-Identifier: GPL-2.0
/*
 * File handles for programs: name_to_handle_at(2) and open_by_handle_at(2).
 *
 * They are the server's filehandles (4.1.4), so they stay valid after a remount and on
 * other clients.
 */
#include <linux/exportfs.h>
#include <linux/namei.h>
#include "vfs.h"

/* A type that no other file system of the kernel uses */
#define DAFS_FILEID		0xda
#define DAFS_FILEID_WORDS	(DAFS_FH_SIZE / sizeof(u32))

static int dafs_encode_fh(struct inode *inode, u32 *words, int *max_words, struct inode *parent)
{
	bool room = *max_words >= DAFS_FILEID_WORDS;

	*max_words = DAFS_FILEID_WORDS;
	if (!room)
		return FILEID_INVALID;
	memcpy(words, &DAFS_I(inode)->fh, DAFS_FH_SIZE);
	return DAFS_FILEID;
}

/* Prefers a dentry with a valid name, because OPEN needs a name. */
static struct dentry *dafs_handle_dentry(struct inode *inode)
{
	struct dentry *dentry = d_obtain_alias(inode);

	if (IS_ERR(dentry) || IS_ROOT(dentry) || d_is_dir(dentry))
		return dentry;
	if (!dentry->d_op->d_revalidate(dentry, LOOKUP_REVAL))
		d_invalidate(dentry);
	return dentry;
}

static struct dentry *dafs_fh_to_dentry(struct super_block *sb, struct fid *fid, int words,
					int type)
{
	struct dafs_fh fh;

	if (type != DAFS_FILEID || words < DAFS_FILEID_WORDS)
		return NULL;
	memcpy(&fh, fid->raw, sizeof(fh));
	/* the object belongs to another mount */
	if (dafs_is_crossing(sb, &fh))
		return NULL;
	return dafs_handle_dentry(dafs_iget(sb, current_cred(), &fh));
}

static struct dentry *dafs_get_parent(struct dentry *dentry)
{
	struct super_block *sb = dentry->d_sb;
	struct dafs_fh fh;
	int err;

	err = dafs_lookup_parent(DAFS_SB(sb)->clnt, current_cred(), &DAFS_I(d_inode(dentry))->fh,
				 &fh);
	if (err)
		return ERR_PTR(err);
	/* above the mount */
	if (dafs_is_crossing(sb, &fh))
		return ERR_PTR(-ESTALE);
	return d_obtain_alias(dafs_iget(sb, current_cred(), &fh));
}

const struct export_operations dafs_export_ops = {
	.encode_fh	= dafs_encode_fh,
	.fh_to_dentry	= dafs_fh_to_dentry,
	.get_parent	= dafs_get_parent,
	.flags		= EXPORT_OP_NOWCC | EXPORT_OP_CLOSE_BEFORE_UNLINK |
			  EXPORT_OP_REMOTE_FS | EXPORT_OP_NOATOMIC_ATTR |
			  EXPORT_OP_FLUSH_ON_CLOSE,
};
