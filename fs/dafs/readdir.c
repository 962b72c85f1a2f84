// SPDX-License-Identifier: GPL-2.0
/*
 * Reading directories.
 *
 * The server's cookies are the positions that programs see.  Position 0 is
 * ".", 1 is "..", and 2 stands for the server's cookie 0; 6.5.29 reserves
 * these for just that purpose.  A cookie names the entry that it came with,
 * so the position of an entry is the cookie of the one before.
 *
 * The first entries come in a message, and if that was all it is cheapest.  If
 * there are more, the directory may well be large, and the rest is read by RDMA
 * into a buffer that takes several times as many.
 */
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include "dafs_fs.h"

#define DAFS_READDIR_ATTRS	(DAFS_FATTR_OBJECT_TYPE | DAFS_FATTR_FILE_ID)

/* Bytes of entries that are read at a time by RDMA */
#define DAFS_READDIR_BUF	SZ_64K

/**
 * struct dafs_dir_file - an open directory
 * @verf: cookie verifier of the last READDIR, guarded by f_pos_lock
 * @buf: for READDIR_DIRECT, or NULL; likewise
 */
struct dafs_dir_file {
	struct dafs_opaque64 verf;
	void *buf;
};

static int dafs_dir_open(struct inode *inode, struct file *file)
{
	struct dafs_dir_file *df;
	int err;

	err = dafs_revalidate(inode, file->f_cred, true);
	if (err)
		return err;
	df = kzalloc(sizeof(*df), GFP_KERNEL);
	if (!df)
		return -ENOMEM;
	file->private_data = df;
	return 0;
}

static int dafs_dir_release(struct inode *inode, struct file *file)
{
	struct dafs_dir_file *df = file->private_data;

	kvfree(df->buf);
	kfree(df);
	return 0;
}

static unsigned int dafs_dirent_type(const struct dafs_direntry *entry)
{
	if (!(entry->attrs.valid & DAFS_FATTR_OBJECT_TYPE))
		return DT_UNKNOWN;
	switch (entry->attrs.object_type) {
	case DAFS_TYPE_REG:
		return DT_REG;
	case DAFS_TYPE_DIR:
		return DT_DIR;
	case DAFS_TYPE_BLK:
		return DT_BLK;
	case DAFS_TYPE_CHR:
		return DT_CHR;
	case DAFS_TYPE_LNK:
		return DT_LNK;
	case DAFS_TYPE_SOCK:
		return DT_SOCK;
	case DAFS_TYPE_FIFO:
		return DT_FIFO;
	}
	return DT_UNKNOWN;
}

/* No server has a right to names that would lead out of the directory. */
static bool dafs_dirent_sane(const struct dafs_direntry *entry)
{
	const struct dafs_str *name = &entry->name;

	return name->len && name->len <= NAME_MAX && !memchr(name->data, '/', name->len) &&
	       !memchr(name->data, 0, name->len) && entry->cookie > 2 &&
	       entry->cookie <= LLONG_MAX;
}

/**
 * struct dafs_readdir_ctx - what dafs_readdir_emit() needs
 * @ctx: of the VFS
 * @full: the VFS takes no more
 * @bad: the server sent what cannot be passed on
 */
struct dafs_readdir_ctx {
	struct dir_context *ctx;
	bool full;
	bool bad;
};

static bool dafs_readdir_emit(void *priv, const struct dafs_direntry *entry)
{
	struct dafs_readdir_ctx *rc = priv;
	/* 0 would hide the entry from programs. */
	u64 ino = entry->attrs.valid & DAFS_FATTR_FILE_ID ? entry->attrs.file_id : 1;

	if (!dafs_dirent_sane(entry)) {
		rc->bad = true;
		return false;
	}
	if (!dir_emit(rc->ctx, entry->name.data, entry->name.len, ino ?: 1,
		      dafs_dirent_type(entry))) {
		rc->full = true;
		return false;
	}
	rc->ctx->pos = entry->cookie;
	return true;
}

/* Is this one to go by RDMA?  Without memory for it, it does not. */
static bool dafs_readdir_wants_direct(struct file *file, const struct dafs_readdir_pos *pos)
{
	struct dafs_sb_info *sbi = DAFS_SB(file_inode(file)->i_sb);
	struct dafs_dir_file *df = file->private_data;

	if (!pos->cookie || test_bit(DAFS_SB_NO_READDIR_DIRECT, &sbi->flags))
		return false;
	if (!df->buf)
		df->buf = kvzalloc(DAFS_READDIR_BUF, GFP_KERNEL);
	return df->buf;
}

static int dafs_readdir_by_rdma(struct file *file, struct dafs_readdir_pos *pos,
				struct dafs_readdir_ctx *rc)
{
	struct inode *inode = file_inode(file);
	struct dafs_dir_file *df = file->private_data;
	int err;

	err = dafs_readdir_direct(dafs_inode_ses(inode), file->f_cred, &DAFS_I(inode)->fh,
				  DAFS_READDIR_ATTRS, df->buf, DAFS_READDIR_BUF, pos,
				  dafs_readdir_emit, rc);
	if (err == -EOPNOTSUPP)
		set_bit(DAFS_SB_NO_READDIR_DIRECT, &DAFS_SB(inode->i_sb)->flags);
	return err;
}

/* What cannot be had by RDMA can be had by message; both know other errors. */
static bool dafs_readdir_try_inline(int err)
{
	return err == -EOPNOTSUPP || err == -EBADMSG || err == -EIO || err == -ENOMEM;
}

static int dafs_readdir_some(struct file *file, struct dafs_readdir_pos *pos,
			     struct dafs_readdir_ctx *rc)
{
	struct inode *inode = file_inode(file);
	int err;

	if (dafs_readdir_wants_direct(file, pos)) {
		err = dafs_readdir_by_rdma(file, pos, rc);
		if (!dafs_readdir_try_inline(err))
			return err;
	}
	return dafs_readdir(dafs_inode_ses(inode), file->f_cred, &DAFS_I(inode)->fh,
			    DAFS_READDIR_ATTRS, pos, dafs_readdir_emit, rc);
}

static int dafs_dir_iterate(struct file *file, struct dir_context *ctx)
{
	struct dafs_dir_file *df = file->private_data;
	struct dafs_readdir_ctx rc = { .ctx = ctx };
	struct dafs_readdir_pos pos = {};
	int err = 0;

	if (!dir_emit_dots(file, ctx))
		return 0;
	pos.verf = df->verf;
	while (!err && !rc.full && !rc.bad && !pos.eof) {
		pos.cookie = ctx->pos > 2 ? ctx->pos : 0;
		err = dafs_readdir_some(file, &pos, &rc);
		if (!err && fatal_signal_pending(current))
			err = -EINTR;
	}
	df->verf = pos.verf;
	return err ?: rc.bad ? -EIO : 0;
}

/* Positions are cookies: they can be returned to, but not computed with. */
static loff_t dafs_dir_llseek(struct file *file, loff_t offset, int whence)
{
	if (whence == SEEK_CUR)
		offset += file->f_pos;
	else if (whence != SEEK_SET)
		return -EINVAL;
	return vfs_setpos(file, offset, LLONG_MAX);
}

/* Names are the server's business as soon as it has answered. */
static int dafs_dir_fsync(struct file *file, loff_t start, loff_t end, int datasync)
{
	return 0;
}

const struct file_operations dafs_dir_fops = {
	.open		= dafs_dir_open,
	.release	= dafs_dir_release,
	.iterate_shared	= dafs_dir_iterate,
	.llseek		= dafs_dir_llseek,
	.read		= generic_read_dir,
	.fsync		= dafs_dir_fsync,
};
