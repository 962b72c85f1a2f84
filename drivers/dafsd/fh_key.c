// SPDX-License-Identifier: GPL-2.0
/*
 * The keyed hash that every filehandle carries, and where its key is kept.
 *
 * A filehandle is all that it takes to reach an object, and it is not secret what
 * it is made of: the number of an inode can be seen and its generation guessed.
 * The hash makes sure that this server, or one with the same key, has given the
 * handle to some client; without it nothing of the handle is looked at.  It
 * covers the export too, so that a handle is good in no other one.
 *
 * The key must outlive the module, or else clients would lose what they have open
 * when the server restarts.  It is made when the server starts for the first time,
 * and kept in the state directory, or given as a parameter.
 */
#include <linux/fs.h>
#include <linux/hex.h>
#include <linux/module.h>
#include <linux/namei.h>
#include <linux/random.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include <linux/unaligned.h>
#include <kunit/visibility.h>
#include "vfs.h"

/* As text: two hexadecimal digits a byte */
#define DAFSD_KEY_DIGITS	(2 * sizeof(siphash_key_t))

static char *dafsd_fh_key_param;
/* not to be seen in sysfs */
module_param_named(fh_key, dafsd_fh_key_param, charp, 0);
MODULE_PARM_DESC(fh_key,
		 "key of the filehandles, 32 hexadecimal digits (default: that in state_dir)");

static char *dafsd_state_dir = "/var/lib/dafs";
module_param_named(state_dir, dafsd_state_dir, charp, 0444);
MODULE_PARM_DESC(state_dir,
		 "directory for what has to survive a restart, made if missing (default /var/lib/dafs)");

static siphash_key_t dafsd_fh_key;

static u64 dafsd_fh_mac(const struct dafs_fh *wire)
{
	struct dafs_fh fh = *wire;

	memset(fh.fileid + offsetof(struct dafsd_fileid, mac), 0,
	       sizeof_field(struct dafsd_fileid, mac));
	return siphash(&fh, sizeof(fh), &dafsd_fh_key);
}

/**
 * dafsd_fh_sign() - complete a filehandle by its hash
 * @wire: the filehandle
 *
 * Context: any.
 */
void dafsd_fh_sign(struct dafs_fh *wire)
{
	put_unaligned_le64(dafsd_fh_mac(wire),
			   wire->fileid + offsetof(struct dafsd_fileid, mac));
}
EXPORT_SYMBOL_IF_KUNIT(dafsd_fh_sign);

/**
 * dafsd_fh_genuine() - is this a filehandle that was given to a client?
 * @wire: filehandle, any 64 bytes
 *
 * Context: any.
 * Return: true if its hash is that of dafsd_fh_sign().
 */
bool dafsd_fh_genuine(const struct dafs_fh *wire)
{
	return dafsd_fh_mac(wire) ==
	       get_unaligned_le64(wire->fileid + offsetof(struct dafsd_fileid, mac));
}

static int dafsd_key_parse(const char *text, size_t len)
{
	siphash_key_t key;

	if (len && text[len - 1] == '\n')
		len--;
	if (len != DAFSD_KEY_DIGITS || hex2bin((u8 *)&key, text, sizeof(key)))
		return -EINVAL;
	dafsd_fh_key = key;
	memzero_explicit(&key, sizeof(key));
	return 0;
}

/* So that the new key is there after a crash, as handles made with it are. */
static int dafsd_state_sync_dir(void)
{
	struct file *dir = filp_open(dafsd_state_dir, O_RDONLY | O_DIRECTORY, 0);
	int err;

	if (IS_ERR(dir))
		return PTR_ERR(dir);
	err = vfs_fsync(dir, 0);
	fput(dir);
	return err;
}

static int dafsd_key_write(struct file *filp)
{
	char text[DAFSD_KEY_DIGITS + 1];
	loff_t pos = 0;
	ssize_t n;
	int err;

	*bin2hex(text, &dafsd_fh_key, sizeof(dafsd_fh_key)) = '\n';
	n = kernel_write(filp, text, sizeof(text), &pos);
	memzero_explicit(text, sizeof(text));
	if (n != sizeof(text))
		return n < 0 ? n : -ENOSPC;
	err = vfs_fsync(filp, 0);
	return err ?: dafsd_state_sync_dir();
}

/* An empty file is what a crash may leave of a new one. */
static int dafsd_key_keep(struct file *filp)
{
	char text[DAFSD_KEY_DIGITS + 2];
	loff_t pos = 0;
	ssize_t n;
	int err;

	n = kernel_read(filp, text, sizeof(text), &pos);
	if (!n)
		return dafsd_key_write(filp);
	err = n < 0 ? n : dafsd_key_parse(text, n);
	memzero_explicit(text, sizeof(text));
	return err;
}

static int dafsd_state_make_dir(void)
{
	struct dentry *dentry;
	struct path path;
	int err;

	dentry = kern_path_create(AT_FDCWD, dafsd_state_dir, &path, LOOKUP_DIRECTORY);
	if (IS_ERR(dentry))
		return PTR_ERR(dentry) == -EEXIST ? 0 : PTR_ERR(dentry);
	err = vfs_mkdir(mnt_idmap(path.mnt), d_inode(path.dentry), dentry, 0700);
	done_path_create(&path, dentry);
	return err;
}

static struct file *dafsd_key_open(void)
{
	char *name = kasprintf(GFP_KERNEL, "%s/fh_key", dafsd_state_dir);
	struct file *filp;

	if (!name)
		return ERR_PTR(-ENOMEM);
	filp = filp_open(name, O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
	if (PTR_ERR_OR_ZERO(filp) == -EROFS)
		filp = filp_open(name, O_RDONLY | O_NOFOLLOW, 0);
	kfree(name);
	return filp;
}

static int dafsd_key_load(void)
{
	struct file *filp = dafsd_key_open();
	int err;

	if (PTR_ERR_OR_ZERO(filp) == -ENOENT) {
		err = dafsd_state_make_dir();
		if (err)
			return err;
		filp = dafsd_key_open();
	}
	if (IS_ERR(filp))
		return PTR_ERR(filp);
	err = dafsd_key_keep(filp);
	fput(filp);
	return err;
}

/**
 * dafsd_fh_key_init() - get the key of the filehandles
 *
 * Without a place to keep it the server has one until it is unloaded, and says so
 * in the log.
 *
 * Context: module initialization; looks the state directory up as the caller sees
 * it.
 * Return: 0, or -EINVAL if the parameter is no key.
 */
int dafsd_fh_key_init(void)
{
	int err;

	if (dafsd_fh_key_param) {
		err = dafsd_key_parse(dafsd_fh_key_param, strlen(dafsd_fh_key_param));
		if (err)
			pr_err("dafsd: fh_key is not a key of %zu hexadecimal digits\n",
			       DAFSD_KEY_DIGITS);
		return err;
	}
	get_random_bytes(&dafsd_fh_key, sizeof(dafsd_fh_key));
	err = dafsd_key_load();
	if (err)
		pr_warn("dafsd: no key for filehandles in %s (%pe), so they end with this instance of the server\n",
			dafsd_state_dir, ERR_PTR(err));
	return 0;
}

/**
 * dafsd_fh_key_exit() - forget the key
 *
 * Context: module exit.
 */
void dafsd_fh_key_exit(void)
{
	memzero_explicit(&dafsd_fh_key, sizeof(dafsd_fh_key));
}
