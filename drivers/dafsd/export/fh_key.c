// SPDX-License-Identifier: GPL-2.0
/*
 * The keyed hash in every filehandle, and where its key is stored.
 *
 * A client needs nothing but a filehandle to reach an object, and the contents of a
 * filehandle are not secret: inode numbers are visible, and generation numbers can be
 * guessed.  The hash proves that this server, or one with the same key, has given the
 * filehandle to a client.  A filehandle with a wrong hash is rejected before its contents
 * are used.  The hash covers the export, so that a filehandle is valid in no other export.
 *
 * The key must survive a reload of the module, otherwise clients would lose their opens
 * when the server restarts.  It is created when a directory is exported for the first time
 * and stored in the state directory, see store/dir.c, or given as a parameter.  A server that
 * is built into the kernel starts before the root file system is mounted, so the key is read
 * when the first export is enabled.  Until then no filehandle is made or accepted.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/hex.h>
#include <linux/module.h>
#include <linux/mount.h>
#include <linux/mutex.h>
#include <linux/namei.h>
#include <linux/random.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include <linux/unaligned.h>
#include "../store/store.h"
#include "../session/client.h"
#include "../session/server.h"
#include "handle.h"

/* As text: two hexadecimal digits a byte */
#define DAFSD_KEY_DIGITS	(2 * sizeof(siphash_key_t))

#define DAFSD_KEY_FILE		"fh_key"

static char *dafsd_fh_key_param;
/* not visible in sysfs */
module_param_named(fh_key, dafsd_fh_key_param, charp, 0);
MODULE_PARM_DESC(fh_key,
		 "key of the filehandles, 32 hexadecimal digits (default: that in state_dir)");

static siphash_key_t dafsd_fh_key;

/* Set, with release semantics, when @dafsd_fh_key is complete. */
static bool dafsd_fh_key_loaded;

/* Serializes the loading of the key: the file is read or created once. */
static DEFINE_MUTEX(dafsd_fh_key_lock);

/**
 * dafsd_fh_key_known() - can filehandles be made and checked?
 *
 * Context: any.
 * Return: false until the first export is enabled, unless a parameter gave the key.
 */
bool dafsd_fh_key_known(void)
{
	/* pairs with dafsd_fh_key_complete() */
	return smp_load_acquire(&dafsd_fh_key_loaded);
}

static u64 dafsd_fh_mac(const struct dafs_fh *wire)
{
	struct dafs_fh fh = *wire;

	memset(fh.fileid + offsetof(struct dafsd_fileid, mac), 0,
	       sizeof_field(struct dafsd_fileid, mac));
	return siphash(&fh, sizeof(fh), &dafsd_fh_key);
}

/**
 * dafsd_fh_sign() - add the hash to a filehandle
 * @wire: the filehandle
 *
 * Context: any; dafsd_fh_key_known() was true.
 */
void dafsd_fh_sign(struct dafs_fh *wire)
{
	put_unaligned_le64(dafsd_fh_mac(wire),
			   wire->fileid + offsetof(struct dafsd_fileid, mac));
}

/**
 * dafsd_fh_genuine() - is this a filehandle that was given to a client?
 * @wire: filehandle, any 64 bytes
 *
 * Context: any; dafsd_fh_key_known() was true.
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

/* Reads the key.  Return: -EINVAL for a file that holds anything else. */
static int dafsd_key_read(const char *name)
{
	struct file *filp = filp_open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
	char text[DAFSD_KEY_DIGITS + 2];
	loff_t pos = 0;
	ssize_t n;
	int err;

	if (IS_ERR(filp))
		return PTR_ERR(filp);
	n = kernel_read(filp, text, sizeof(text), &pos);
	err = n < 0 ? n : dafsd_key_parse(text, n);
	memzero_explicit(text, sizeof(text));
	fput(filp);
	return err;
}

/* Overwrites an incomplete file that a crash has left. */
static int dafsd_key_write(const char *name)
{
	struct file *filp = filp_open(name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
	char text[DAFSD_KEY_DIGITS + 1];
	loff_t pos = 0;
	ssize_t n;
	int err;

	if (IS_ERR(filp))
		return PTR_ERR(filp);
	*bin2hex(text, &dafsd_fh_key, sizeof(dafsd_fh_key)) = '\n';
	n = kernel_write(filp, text, sizeof(text), &pos);
	memzero_explicit(text, sizeof(text));
	if (n == sizeof(text))
		err = vfs_fsync(filp, 0);
	else
		err = n < 0 ? n : -ENOSPC;
	fput(filp);
	return err;
}

/* The complete file is renamed into place, so that a crash leaves the whole key or none. */
static int dafsd_key_make_in(struct file *dir)
{
	char *name = kasprintf(GFP_KERNEL, "%s/" DAFSD_KEY_FILE ".new", dafsd_state_dir);
	int err;

	if (!name)
		return -ENOMEM;
	get_random_bytes(&dafsd_fh_key, sizeof(dafsd_fh_key));
	err = dafsd_key_write(name) ?:
	      dafsd_rename_in(dir, DAFSD_KEY_FILE ".new", DAFSD_KEY_FILE);
	kfree(name);
	return err;
}

static int dafsd_key_make(void)
{
	struct file *dir = dafsd_state_dir_open();
	int err;

	if (IS_ERR(dir))
		return PTR_ERR(dir);
	err = dafsd_key_make_in(dir);
	fput(dir);
	return err;
}

static int dafsd_key_load(void)
{
	char *name = kasprintf(GFP_KERNEL, "%s/" DAFSD_KEY_FILE, dafsd_state_dir);
	int err;

	if (!name)
		return -ENOMEM;
	err = dafsd_key_read(name);
	kfree(name);
	return err == -ENOENT ? dafsd_key_make() : err;
}

static void dafsd_fh_key_complete(void)
{
	/* pairs with dafsd_fh_key_known(): the key is seen if the flag is */
	smp_store_release(&dafsd_fh_key_loaded, true);
}

/**
 * dafsd_fh_key_init() - take the key of the filehandles from the parameter, if given
 *
 * Context: module initialization.
 * Return: 0; -EINVAL if the parameter is no key.
 */
int dafsd_fh_key_init(void)
{
	int err;

	if (!dafsd_fh_key_param)
		return 0;
	err = dafsd_key_parse(dafsd_fh_key_param, strlen(dafsd_fh_key_param));
	if (err)
		pr_err("dafsd: fh_key is not a key of %zu hexadecimal digits\n",
		       DAFSD_KEY_DIGITS);
	else
		dafsd_fh_key_complete();
	return err;
}

static int dafsd_key_find(void)
{
	int err;

	if (dafsd_fh_key_loaded)
		return 0;
	err = dafsd_key_load();
	if (err)
		pr_err("dafsd: cannot get the key of filehandles from %s/fh_key (%pe)\n",
		       dafsd_state_dir, ERR_PTR(err));
	else
		dafsd_fh_key_complete();
	return err;
}

/**
 * dafsd_fh_key_get() - make sure that the state directory has been read
 *
 * A key is created only if there is no key file.  A file that cannot be read now is not
 * replaced: it may be readable later, and without its key clients would lose their opens.
 * With a key from the parameter a server can do without the directory.
 *
 * Context: may sleep; an export is about to be enabled.  Looks the state directory up
 * from the root directory of the caller.
 * Return: 0; -EINVAL if the file does not contain a key; an error of reading or writing
 * the file; or that of dafsd_records_open().
 */
int dafsd_fh_key_get(void)
{
	const struct cred *saved;
	int err;

	guard(mutex)(&dafsd_fh_key_lock);
	/* the server owns the files, not the calling task */
	saved = dafsd_act_as_server();
	err = dafsd_key_find() ?: dafsd_records_open(&dafsd_server, dafsd_fh_key_param);
	revert_creds(saved);
	return err;
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
