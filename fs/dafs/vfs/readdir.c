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
 * into a buffer that takes several times as many.  What a program has no room
 * for stays there until it asks for more, as long as all that is known of the
 * directory says that it has not changed.
 *
 * A program that lists a directory often looks at each entry next, so handles
 * and all attributes come with the names, and dentries and inodes are made of
 * them, if the directory is listed for the first time, or names in it were used
 * since it was listed last.
 */
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include "../data/data.h"
#include "vfs.h"
#include "../proc/proc.h"

/* What getdents(2) tells of each entry */
#define DAFS_READDIR_ATTRS	(DAFS_FATTR_OBJECT_TYPE | DAFS_FATTR_FILE_ID)

/* Bytes of entries that are read at a time by RDMA */
#define DAFS_READDIR_BUF	SZ_64K

/**
 * struct dafs_dir_file - an open directory; guarded by f_pos_lock
 * @pos: behind the last entry that was passed on, and those that are left
 * @buf: for READDIR_DIRECT, or NULL
 * @prime: entries come with all that an inode is made of
 * @listing: the last READDIR
 */
struct dafs_dir_file {
	struct dafs_readdir_pos pos;
	void *buf;
	bool prime;
	struct dafs_listing listing;
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
	df->listing.dir = file_dentry(file);
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

/**
 * struct dafs_readdir_ctx - what dafs_readdir_emit() needs
 * @ctx: of the VFS
 * @listing: what was asked for
 * @full: the VFS takes no more
 * @bad: the server sent what cannot be passed on
 */
struct dafs_readdir_ctx {
	struct dir_context *ctx;
	const struct dafs_listing *listing;
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
	if (rc->listing->wanted & DAFS_FATTR_FILEHANDLE)
		dafs_prime(rc->listing, entry);
	return true;
}

/* Is this one to go by RDMA?  Without memory for it, it does not. */
static bool dafs_readdir_wants_direct(struct file *file, const struct dafs_readdir_pos *pos)
{
	struct dafs_sb_info *sbi = DAFS_SB(file_inode(file)->i_sb);
	struct dafs_dir_file *df = file->private_data;

	if (!pos->cookie || dafs_rdma_refused(sbi, DAFS_RDMA_READDIR))
		return false;
	/* cleared: a server that writes nothing must not have old memory taken for names */
	if (!df->buf)
		df->buf = kvzalloc(DAFS_READDIR_BUF, GFP_KERNEL);
	return df->buf;
}

static int dafs_readdir_by_rdma(struct file *file, struct dafs_readdir_pos *pos,
				struct dafs_readdir_ctx *rc)
{
	struct inode *inode = file_inode(file);
	struct dafs_dir_file *df = file->private_data;
	unsigned int number = dafs_conn_number(dafs_inode_clnt(inode));
	int err;

	err = dafs_readdir_direct(dafs_inode_clnt(inode), file->f_cred, &DAFS_I(inode)->fh,
				  rc->listing->wanted, df->buf, DAFS_READDIR_BUF, pos,
				  dafs_readdir_emit, rc);
	if (err == -EOPNOTSUPP)
		dafs_rdma_refuse(DAFS_SB(inode->i_sb), DAFS_RDMA_READDIR, number);
	return err;
}

/* What cannot be had by RDMA can be had by message; both know other errors. */
static bool dafs_readdir_try_inline(int err)
{
	return err == -EOPNOTSUPP || err == -EBADMSG || err == -EIO || err == -ENOMEM;
}

/* Are dentries and inodes to be made of the entries that follow? */
static void dafs_readdir_decide(struct file *file, const struct dir_context *ctx)
{
	struct dafs_inode *di = DAFS_I(file_inode(file));
	struct dafs_dir_file *df = file->private_data;
	bool used = test_and_clear_bit(DAFS_INO_NAMES_USED, &di->flags);

	if (ctx->pos == 2)
		df->prime = !test_and_set_bit(DAFS_INO_LISTED, &di->flags);
	if (used)
		df->prime = true;
}

static u64 dafs_readdir_wanted(struct file *file)
{
	const struct dafs_dir_file *df = file->private_data;
	u64 all = df->prime ? dafs_listing_attrs(DAFS_SB(file_inode(file)->i_sb)) : 0;

	return all ?: DAFS_READDIR_ATTRS;
}

static int dafs_readdir_ask(struct file *file, struct dafs_readdir_ctx *rc)
{
	struct inode *inode = file_inode(file);
	struct dafs_dir_file *df = file->private_data;
	int err;

	dafs_readdir_decide(file, rc->ctx);
	dafs_listing_begin(&df->listing, dafs_readdir_wanted(file));
	if (dafs_readdir_wants_direct(file, &df->pos)) {
		err = dafs_readdir_by_rdma(file, &df->pos, rc);
		if (!dafs_readdir_try_inline(err))
			return err;
	}
	return dafs_readdir(dafs_inode_clnt(inode), file->f_cred, &DAFS_I(inode)->fh,
			    df->listing.wanted, &df->pos, dafs_readdir_emit, rc);
}

static int dafs_readdir_some(struct file *file, struct dafs_readdir_ctx *rc)
{
	struct dafs_dir_file *df = file->private_data;
	int err;

	if (!df->pos.iter.left)
		return dafs_readdir_ask(file, rc);
	err = dafs_readdir_rest(&df->pos, dafs_readdir_emit, rc);
	return dafs_readdir_try_inline(err) ? 0 : err;
}

/*
 * Does what the last READDIR left, entries or the knowledge that there are no
 * more, still hold?  As long as an attribute would, unless this client has
 * changed the directory or learned that another one did.
 */
static bool dafs_readdir_holds(struct inode *dir, const struct dafs_listing *list)
{
	unsigned long least, most;

	dafs_attr_times(dir, &least, &most);
	return list->gen == dafs_dir_gen(dir) && !dafs_attr_outdated(DAFS_I(dir), list->asked) &&
	       time_in_range_open(jiffies, list->asked.at, list->asked.at + least);
}

/* Where a program goes on reading.  What was left belongs there, or is lost. */
static void dafs_readdir_resume(struct file *file, u64 cookie)
{
	struct dafs_dir_file *df = file->private_data;
	struct dafs_readdir_pos *pos = &df->pos;

	if (pos->cookie == cookie && dafs_readdir_holds(file_inode(file), &df->listing))
		return;
	pos->cookie = cookie;
	pos->iter.left = 0;
	pos->eof = false;
}

static int dafs_dir_iterate(struct file *file, struct dir_context *ctx)
{
	struct dafs_dir_file *df = file->private_data;
	struct dafs_readdir_ctx rc = { .ctx = ctx, .listing = &df->listing };
	int err = 0;

	if (!dir_emit_dots(file, ctx))
		return 0;
	dafs_readdir_resume(file, ctx->pos > 2 ? ctx->pos : 0);
	while (!err && !rc.full && !rc.bad && !df->pos.eof) {
		err = dafs_readdir_some(file, &rc);
		if (!err && fatal_signal_pending(current))
			err = -EINTR;
	}
	if (!rc.bad)
		return err;
	df->pos.iter.left = 0;
	return err ?: -EIO;
}

/*
 * Positions are cookies: they can be returned to, but not computed with.  Who
 * goes back to one wants to know what is there now.
 */
static loff_t dafs_dir_llseek(struct file *file, loff_t offset, int whence)
{
	struct dafs_dir_file *df = file->private_data;

	if (whence == SEEK_CUR)
		offset += file->f_pos;
	else if (whence != SEEK_SET)
		return -EINVAL;
	if (offset != file->f_pos) {
		df->pos.iter.left = 0;
		df->pos.eof = false;
	}
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
	.setlease	= simple_nosetlease,
};
