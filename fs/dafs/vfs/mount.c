// SPDX-License-Identifier: GPL-2.0
/*
 * Mounting: a client of the server, the root of the export, a super block.
 */
#include <linux/backing-dev.h>
#include <linux/mount.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "../data/data.h"
#include "../proc/location.h"
#include "../state/deleg.h"
#include "vfs.h"

/* Smallest max_append that a server may have (6.1.6) */
#define DAFS_LEAST_MAX_APPEND	SZ_64K

#define DAFS_MAX_EXPORT_DEPTH	128

/* What an administrator can make of the reason why a mount failed. */
static const char *dafs_mount_reason(int err)
{
	switch (err) {
	case -ECONNREFUSED:
		return "connection refused, no DAFS server listens at this address and port";
	case -ECONNRESET:
		return "the server ended the connection before there was a session";
	case -ETIMEDOUT:
		return "the server does not answer";
	case -EHOSTUNREACH:
	case -ENETUNREACH:
		return "no route to the server";
	case -EADDRNOTAVAIL:
		return "the local address does not belong to an RDMA device";
	case -ENODEV:
		return "no RDMA device leads to the server";
	case -EOPNOTSUPP:
		return "the RDMA device does not register memory as DAFS needs it";
	case -EACCES:
	case -EPERM:
		return "the server refuses this client, or refuses it with this sec=";
	case -EBUSY:
		return "another client has this clientid";
	case -ENOMEM:
		return "no memory here, or no room for another session at the server";
	case -EPROTONOSUPPORT:
		return "the server speaks another version of the protocol";
	case -EPROTO:
		return "the server does not answer as a DAFS server";
	}
	return "cannot set up a session with the server";
}

/* Why the path of an export leads nowhere. */
static const char *dafs_export_reason(int err)
{
	switch (err) {
	case -ENOENT:
		return "the server has no such export";
	case -ENOTDIR:
		return "the path of the export leads through what is no directory";
	case -EACCES:
	case -EPERM:
		return "the server does not let this user see the export";
	}
	return "the export cannot be reached";
}

static int dafs_split_export(struct fs_context *fc, char *path, struct dafs_str *names)
{
	char *name;
	int nr = 0;

	while ((name = strsep(&path, "/"))) {
		if (!*name)
			continue;
		if (nr == DAFS_MAX_EXPORT_DEPTH)
			return invalf(fc, "dafs: the path of the export is too deep");
		names[nr++] = (struct dafs_str){ .len = strlen(name), .data = name };
	}
	return nr;
}

/* Find the root of the mount: the export in the server's name space. */
static int dafs_find_export(struct fs_context *fc, struct dafs_sb_info *sbi)
{
	struct dafs_fs_context *ctx = fc->fs_private;
	struct dafs_str *names;
	struct dafs_fh root;
	int nr, err;

	names = kcalloc(DAFS_MAX_EXPORT_DEPTH, sizeof(*names), GFP_KERNEL);
	if (!names)
		return -ENOMEM;
	err = dafs_get_root_handle(sbi->clnt, fc->cred, &root);
	if (err) {
		errorf(fc, "dafs: the server shows no root (error %d)", err);
		goto out;
	}
	nr = dafs_split_export(fc, ctx->export, names);
	err = nr;
	if (nr > 0)
		err = dafs_lookup_path(sbi->clnt, fc->cred, &root, names, nr, &sbi->root);
	else if (!nr)
		sbi->root = root;
	if (nr > 0 && err)
		errorf(fc, "dafs: %s: %s (error %d)", fc->source,
		       dafs_export_reason(err), err);
out:
	kfree(names);
	return err;
}

static u32 dafs_io_limit(u32 wanted, u64 server, u32 pages)
{
	u64 size = wanted ?: DAFS_MAX_IO_SIZE;

	/* One page less, because the memory need not begin at a page. */
	if (pages > 1)
		size = min(size, (u64)(pages - 1) * PAGE_SIZE);
	if (server)
		size = min(size, server);
	return max_t(u64, round_down(size, PAGE_SIZE), PAGE_SIZE);
}

static void dafs_use_lease(struct dafs_sb_info *sbi, const struct dafs_fsattr *attr)
{
	if (attr->valid & DAFS_FSATTR_LEASE_TIME)
		dafs_client_set_lease(sbi->clnt, attr->lease_time);
}

/* Who takes over if the server fails (5.3)?  Asked on @conn, or if that is NULL on any. */
static int dafs_read_locations(struct dafs_sb_info *sbi, struct dafs_client *clnt,
			       struct dafs_conn *conn)
{
	struct dafs_locations locs;
	int err = dafs_get_locations(clnt, conn, &sbi->root, &locs);

	if (!err)
		dafs_client_set_alternates(clnt, &sbi->recoverer, locs.addrs, locs.nr);
	return err == -ENODATA ? 0 : err;
}

static int dafs_relocated(struct dafs_recoverer *who)
{
	struct dafs_sb_info *sbi = container_of(who, struct dafs_sb_info, recoverer);

	return dafs_read_locations(sbi, sbi->clnt, NULL);
}

/* Does a server know the root of the mount? */
static int dafs_serves(struct dafs_recoverer *who, struct dafs_client *clnt,
		       struct dafs_conn *conn)
{
	struct dafs_sb_info *sbi = container_of(who, struct dafs_sb_info, recoverer);
	struct dafs_fsattr attr = {};

	return dafs_get_fsattr_on(clnt, conn, sbi->cred, &sbi->root, DAFS_FSATTR_LEASE_TIME,
				  &attr);
}

/* Get back what a server that knows this client no more has forgotten. */
static int dafs_recover(struct dafs_recoverer *who, struct dafs_client *clnt,
			struct dafs_conn *conn)
{
	struct dafs_sb_info *sbi = container_of(who, struct dafs_sb_info, recoverer);
	struct dafs_fsattr attr = {};

	/* first: as soon as it is connected, whatever does not answer, the lease is renewed */
	dafs_delegs_forget(sbi, conn);
	/* it may have been restarted with another lease */
	if (!dafs_get_fsattr_on(clnt, conn, sbi->cred, &sbi->root, DAFS_FSATTR_LEASE_TIME, &attr))
		dafs_use_lease(sbi, &attr);
	/* another one has taken over, or the administrator has changed it meanwhile */
	if (dafs_read_locations(sbi, clnt, conn))
		dafs_client_relocate(clnt);
	return dafs_opens_recover(sbi, conn);
}

static void dafs_lapsed(struct dafs_recoverer *who)
{
	dafs_opens_lapsed(container_of(who, struct dafs_sb_info, recoverer));
}

/* Fit rsize and wsize to what one request of this client can carry. */
static int dafs_limit_io(struct dafs_sb_info *sbi, const struct dafs_fsattr *fsattr)
{
	struct dafs_conn *conn = dafs_conn_get(sbi->clnt);
	u32 pages;

	if (IS_ERR(conn))
		return PTR_ERR(conn);
	pages = conn->op->limits.mr_pages;
	dafs_conn_put(conn);
	sbi->opts.rsize = dafs_io_limit(sbi->opts.rsize_asked, fsattr->max_read, pages);
	sbi->opts.wsize = dafs_io_limit(sbi->opts.wsize_asked, fsattr->max_write, pages);
	sbi->max_append = min_t(u64, sbi->opts.wsize,
				fsattr->max_append ?: DAFS_LEAST_MAX_APPEND);
	return 0;
}

static int dafs_read_fsattrs(struct fs_context *fc, struct super_block *sb)
{
	const u64 wanted = DAFS_FSATTR_MAX_NAME | DAFS_FSATTR_MAX_FILE_SIZE |
			   DAFS_FSATTR_MAX_READ | DAFS_FSATTR_MAX_WRITE |
			   DAFS_FSATTR_SUPPORTED_FATTR | DAFS_FSATTR_UNIQUE_HANDLE |
			   DAFS_FSATTR_MAX_APPEND | DAFS_FSATTR_LEASE_TIME;
	struct dafs_sb_info *sbi = DAFS_SB(sb);
	struct dafs_fsattr attr = {};
	int err;

	err = dafs_get_fsattr(sbi->clnt, fc->cred, &sbi->root, wanted, &attr);
	if (err)
		goto fail;
	dafs_use_lease(sbi, &attr);
	sbi->max_name = attr.max_name ? min_t(u32, attr.max_name, NAME_MAX) : NAME_MAX;
	sbi->unique_handle = (attr.valid & DAFS_FSATTR_UNIQUE_HANDLE) && attr.unique_handle;
	sbi->attrs = DAFS_INODE_ATTRS;
	if (attr.valid & DAFS_FSATTR_SUPPORTED_FATTR) {
		sbi->attrs &= attr.supported_fattr | DAFS_INODE_NEEDS;
		sbi->handles = attr.supported_fattr & DAFS_FATTR_FILEHANDLE;
	}
	sb->s_maxbytes = MAX_LFS_FILESIZE;
	if (attr.max_file_size)
		sb->s_maxbytes = min_t(u64, attr.max_file_size, MAX_LFS_FILESIZE);
	err = dafs_limit_io(sbi, &attr);
	if (!err)
		return 0;
fail:
	errorf(fc, "dafs: cannot read the attributes of the export (error %d)", err);
	return err;
}

/* The finest step between two times of a file (DAFS_FATTR_TIME_DELTA). */
static void dafs_read_time_delta(struct fs_context *fc, struct super_block *sb)
{
	struct dafs_sb_info *sbi = DAFS_SB(sb);
	struct dafs_fattr attr = {};
	struct dafs_ids ids;
	int err;

	sb->s_time_gran = 1;
	err = dafs_getattr(sbi->clnt, fc->cred, &sbi->root, DAFS_FATTR_TIME_DELTA,
			   &attr, &ids);
	if (err || !(attr.valid & DAFS_FATTR_TIME_DELTA))
		return;
	if (attr.time_delta.seconds > 0)
		sb->s_time_gran = NSEC_PER_SEC;
	else if (attr.time_delta.nseconds)
		sb->s_time_gran = min_t(u32, attr.time_delta.nseconds, NSEC_PER_SEC);
}

static int dafs_setup_bdi(struct super_block *sb)
{
	struct dafs_sb_info *sbi = DAFS_SB(sb);
	int err = super_setup_bdi(sb);

	if (err)
		return err;
	/* Four reads on their way keep the wire busy while one is consumed. */
	sb->s_bdi->ra_pages = max_t(unsigned long, VM_READAHEAD_PAGES,
				    4 * (sbi->opts.rsize >> PAGE_SHIFT));
	sb->s_bdi->io_pages = sbi->opts.rsize >> PAGE_SHIFT;
	return 0;
}

static void dafs_setup_sb(struct super_block *sb)
{
	struct dafs_sb_info *sbi = DAFS_SB(sb);

	sb->s_magic = DAFS_SUPER_MAGIC;
	sb->s_op = &dafs_super_ops;
	sb->s_d_op = &dafs_dentry_ops;
	sb->s_export_op = &dafs_export_ops;
	sb->s_blocksize = PAGE_SIZE;
	sb->s_blocksize_bits = PAGE_SHIFT;
	/* What is checksummed must not change until the server has it. */
	if (sbi->params.cksum)
		sb->s_iflags |= SB_I_STABLE_WRITES;
}

static int dafs_connect(struct fs_context *fc, struct dafs_sb_info *sbi)
{
	int err;

	sbi->clnt = dafs_client_create(&sbi->params);
	if (IS_ERR(sbi->clnt)) {
		err = PTR_ERR(sbi->clnt);
		sbi->clnt = NULL;
		errorf(fc, "dafs: %s: %s (error %d)", fc->source,
		       dafs_mount_reason(err), err);
		return err;
	}
	return dafs_find_export(fc, sbi);
}

/* Make a super block that of a mount; a failure is told in the log of @fc. */
static int dafs_fill_super(struct super_block *sb, struct fs_context *fc)
{
	struct dafs_sb_info *sbi = DAFS_SB(sb);
	struct inode *root;
	int err;

	sbi->sb = sb;
	err = sbi->submount ? 0 : dafs_connect(fc, sbi);
	if (err)
		return err;
	dafs_client_add_recoverer(sbi->clnt, &sbi->recoverer);
	err = dafs_read_fsattrs(fc, sb);
	if (err)
		return err;
	if (dafs_read_locations(sbi, sbi->clnt, NULL))
		dafs_client_relocate(sbi->clnt);
	dafs_read_time_delta(fc, sb);
	dafs_setup_sb(sb);
	err = dafs_setup_bdi(sb);
	if (err)
		return err;
	root = dafs_iget(sb, fc->cred, &sbi->root);
	if (IS_ERR(root)) {
		errorf(fc, "dafs: cannot read the root of the export (error %ld)",
		       PTR_ERR(root));
		return PTR_ERR(root);
	}
	if (!S_ISDIR(root->i_mode)) {
		iput(root);
		errorf(fc, "dafs: the export is not a directory");
		return -ENOTDIR;
	}
	sb->s_root = d_make_root(root);
	return sb->s_root ? 0 : -ENOMEM;
}

/* A path without empty components is the same if it is spelled the same. */
static void dafs_normalize_path(char *to, const char *path)
{
	for (; *path; path++) {
		if (*path != '/' || (path[1] && path[1] != '/'))
			*to++ = *path;
	}
	*to = 0;
}

static struct dafs_sb_info *dafs_sb_info_create(const struct fs_context *fc)
{
	const struct dafs_fs_context *ctx = fc->fs_private;
	const char *export = ctx->export ?: "";
	struct dafs_sb_info *sbi;

	sbi = kzalloc(struct_size(sbi, export, strlen(export) + 1), GFP_KERNEL);
	if (!sbi)
		return NULL;
	dafs_normalize_path(sbi->export, export);
	sbi->source = kstrdup(fc->source, GFP_KERNEL);
	if (!sbi->source) {
		kfree(sbi);
		return NULL;
	}
	sbi->params = ctx->params;
	sbi->opts = ctx->opts;
	sbi->cred = get_cred(fc->cred);
	if (ctx->parent) {
		sbi->submount = true;
		sbi->clnt = dafs_client_get(ctx->parent->clnt);
		sbi->root = ctx->root;
	}
	sbi->owner_seed = get_random_u64();
	spin_lock_init(&sbi->opens_lock);
	dafs_delegs_init_sb(sbi);
	INIT_LIST_HEAD(&sbi->opens);
	INIT_LIST_HEAD(&sbi->recoverer.link);
	sbi->recoverer.recover = dafs_recover;
	sbi->recoverer.lapsed = dafs_lapsed;
	sbi->recoverer.serves = dafs_serves;
	sbi->recoverer.relocated = dafs_relocated;
	spin_lock_init(&sbi->puts_lock);
	INIT_LIST_HEAD(&sbi->puts);
	INIT_WORK(&sbi->puts_work, dafs_inode_puts);
	sbi->set_ops = dafs_set_inode_ops;
	dafs_unstable_sb_init(sbi);
	return sbi;
}

/* One whose client was shut down by sysfs: no mount is to share it from now on. */
static bool dafs_super_dead(struct super_block *sb)
{
	struct dafs_sb_info *sbi = DAFS_SB(sb);

	if (!sb->s_root || sbi->submount || !READ_ONCE(sbi->clnt->dead))
		return false;
	return !test_and_set_bit(DAFS_SB_FORCED, &sbi->flags);
}

/* Share a super block, or make one. */
static int dafs_get_super(struct fs_context *fc,
			  int (*same)(struct super_block *sb, struct fs_context *fc))
{
	struct super_block *sb = sget_fc(fc, same, set_anon_super_fc);
	int err;

	while (!IS_ERR(sb) && dafs_super_dead(sb)) {
		deactivate_locked_super(sb);
		sb = sget_fc(fc, same, set_anon_super_fc);
	}
	if (IS_ERR(sb))
		return PTR_ERR(sb);
	if (sb->s_root) {
		set_bit(DAFS_SB_SHARED, &DAFS_SB(sb)->flags);
	} else {
		err = dafs_fill_super(sb, fc);
		if (err) {
			deactivate_locked_super(sb);
			return err;
		}
		sb->s_flags |= SB_ACTIVE;
	}
	fc->root = dget(sb->s_root);
	return 0;
}

static int dafs_get_tree(struct fs_context *fc)
{
	const struct dafs_fs_context *ctx = fc->fs_private;
	struct dafs_sb_info *sbi;
	int err;

	err = ctx->parent ? 0 : dafs_parse_source(fc);
	if (err)
		return err;
	sbi = dafs_sb_info_create(fc);
	if (!sbi)
		return -ENOMEM;
	/* Handed to the super block by sget_fc(), so that kill_sb frees it. */
	fc->s_fs_info = sbi;
	err = dafs_get_super(fc, ctx->parent ? dafs_submount_test : dafs_share_test);
	dafs_sb_info_free(fc->s_fs_info);
	fc->s_fs_info = NULL;
	return err;
}

static int dafs_reconfigure(struct fs_context *fc)
{
	int err = dafs_options_reconfigure(fc, DAFS_SB(fc->root->d_sb));

	/* Not before: who has just become soft need not wait for a dead server. */
	if (!err)
		sync_filesystem(fc->root->d_sb);
	return err;
}

static void dafs_free_fc(struct fs_context *fc)
{
	struct dafs_fs_context *ctx = fc->fs_private;

	if (!ctx)
		return;
	kfree(ctx->export);
	kfree(ctx->srcaddr);
	dafs_free_addrs(ctx);
	kfree(ctx);
}

static const struct fs_context_operations dafs_context_ops = {
	.free		= dafs_free_fc,
	.parse_param	= dafs_parse_param,
	.get_tree	= dafs_get_tree,
	.reconfigure	= dafs_reconfigure,
};

/**
 * dafs_init_fs_context() - begin to mount, or to remount
 * @fc: the context
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int dafs_init_fs_context(struct fs_context *fc)
{
	struct dafs_fs_context *ctx = kzalloc(sizeof(*ctx), GFP_KERNEL);

	if (!ctx)
		return -ENOMEM;
	dafs_options_init(ctx);
	if (fc->root) {
		ctx->params = DAFS_SB(fc->root->d_sb)->params;
		ctx->opts = DAFS_SB(fc->root->d_sb)->opts;
	}
	fc->fs_private = ctx;
	fc->ops = &dafs_context_ops;
	return 0;
}
