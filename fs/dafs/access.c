// SPDX-License-Identifier: GPL-2.0
/*
 * Access rights.  The server enforces them, and only the server knows what
 * becomes of root and what its ACLs say, so it is asked (ACCESS, 6.5.2) and
 * its answers are remembered for as long as attributes are.
 */
#include <linux/cred.h>
#include <linux/slab.h>
#include "dafs_fs.h"

/**
 * dafs_access_zap_locked() - forget what users may do
 * @di: inode, with its lock held
 */
void dafs_access_zap_locked(struct dafs_inode *di)
{
	unsigned int i;

	/* the latest is the first: none, as in an inode that is new */
	if (!di->access[0].cred)
		return;
	for (i = 0; i < DAFS_ACCESS_CACHE; i++) {
		put_cred(di->access[i].cred);
		di->access[i] = (struct dafs_access_entry){};
	}
}

static struct dafs_access_entry *dafs_access_find(struct dafs_inode *di,
						  const struct cred *cred)
{
	unsigned int i;

	for (i = 0; i < DAFS_ACCESS_CACHE; i++) {
		if (di->access[i].cred && !cred_fscmp(di->access[i].cred, cred))
			return &di->access[i];
	}
	return NULL;
}

/* Returns true with *granted set if the cache knows the user. */
static bool dafs_access_cached(struct dafs_inode *di, const struct cred *cred, u32 *granted)
{
	struct dafs_access_entry *entry;
	unsigned long timeo, most;
	bool known = false;

	dafs_attr_times(&di->netfs.inode, &timeo, &most);
	spin_lock(&di->lock);
	entry = dafs_access_find(di, cred);
	if (entry && time_in_range_open(jiffies, entry->at, entry->at + timeo)) {
		*granted = entry->granted;
		known = true;
	}
	spin_unlock(&di->lock);
	return known;
}

/* Not what is older than the mode and owner that are known now. */
static void dafs_access_remember(struct inode *inode, const struct cred *cred,
				 u32 granted, long asked, unsigned long at)
{
	struct dafs_inode *di = DAFS_I(inode);
	struct dafs_access_entry *entry;

	spin_lock(&di->lock);
	if (asked < di->asked || dafs_attr_outdated(di, asked))
		goto out;
	entry = dafs_access_find(di, cred);
	if (!entry) {
		entry = di->access;
		put_cred(di->access[DAFS_ACCESS_CACHE - 1].cred);
		memmove(entry + 1, entry, sizeof(*entry) * (DAFS_ACCESS_CACHE - 1));
		*entry = (struct dafs_access_entry){ .cred = get_cred(cred) };
	}
	entry->granted = granted;
	entry->at = at;
out:
	spin_unlock(&di->lock);
}

/* All that is ever asked about a kind of object, to ask but once. */
static u32 dafs_access_all(const struct inode *inode)
{
	if (S_ISDIR(inode->i_mode))
		return DAFS_ACCESS_READ | DAFS_ACCESS_LOOKUP | DAFS_ACCESS_MODIFY |
		       DAFS_ACCESS_EXTEND | DAFS_ACCESS_DELETE;
	return DAFS_ACCESS_READ | DAFS_ACCESS_MODIFY | DAFS_ACCESS_EXTEND |
	       DAFS_ACCESS_EXECUTE;
}

/**
 * dafs_may() - may a user do something with an object?
 * @inode: the object
 * @cred: the user
 * @want: DAFS_ACCESS_* that must all be granted
 *
 * Context: may sleep.
 * Return: 0, -EACCES, or another negative errno.
 */
int dafs_may(struct inode *inode, const struct cred *cred, u32 want)
{
	struct dafs_inode *di = DAFS_I(inode);
	struct dafs_access_res res = {};
	unsigned long at;
	u32 granted;
	long asked;
	int err;

	if (!dafs_access_cached(di, cred, &granted)) {
		asked = dafs_attr_begin(inode->i_sb);
		at = jiffies;
		err = dafs_access(dafs_inode_ses(inode), cred, &di->fh,
				  dafs_access_all(inode), &res);
		if (err)
			return err;
		/* What the server cannot tell, it checks when it is done. */
		granted = res.access | ~res.supported;
		dafs_access_remember(inode, cred, granted, asked, at);
	}
	return want & ~granted ? -EACCES : 0;
}

static u32 dafs_access_want(const struct inode *inode, int mask)
{
	bool dir = S_ISDIR(inode->i_mode);
	u32 want = 0;

	if (mask & MAY_READ)
		want |= DAFS_ACCESS_READ;
	if (mask & MAY_WRITE)
		want |= dir ? DAFS_ACCESS_MODIFY | DAFS_ACCESS_EXTEND : DAFS_ACCESS_MODIFY;
	if (mask & MAY_EXEC)
		want |= dir ? DAFS_ACCESS_LOOKUP : DAFS_ACCESS_EXECUTE;
	return want;
}

/* Root too may execute a file only if someone may. */
static int dafs_execute_ok(const struct inode *inode, int mask)
{
	if (!(mask & MAY_EXEC) || S_ISDIR(inode->i_mode))
		return 0;
	return inode->i_mode & 0111 ? 0 : -EACCES;
}

/*
 * The server lets those read a file who may execute it, because executing is
 * reading here.  Where the mode says that some may do no more, ask first.
 */
static bool dafs_read_by_execute(const struct inode *inode, int mask)
{
	return (mask & (MAY_READ | MAY_WRITE)) == MAY_READ && (inode->i_mode & 0111) &&
	       (inode->i_mode & 0444) != 0444;
}

/**
 * dafs_vfs_permission() - check access for the VFS
 * @idmap: not used, id-mapped mounts are not supported
 * @inode: the object
 * @mask: MAY_*
 *
 * Context: may sleep unless @mask has MAY_NOT_BLOCK.
 * Return: 0, -EACCES, -ECHILD if it had to sleep and may not, or another
 * negative errno.
 */
int dafs_vfs_permission(struct mnt_idmap *idmap, struct inode *inode, int mask)
{
	const struct cred *cred = current_cred();
	u32 want = dafs_access_want(inode, mask);
	u32 granted;
	int err;

	if (!want)
		return 0;
	/* OPEN is going to check it, at no extra cost. */
	if (S_ISREG(inode->i_mode) && (mask & MAY_OPEN) && !(mask & MAY_EXEC) &&
	    !dafs_read_by_execute(inode, mask))
		return 0;
	if (mask & MAY_NOT_BLOCK) {
		if (!dafs_access_cached(DAFS_I(inode), cred, &granted))
			return -ECHILD;
		err = want & ~granted ? -EACCES : 0;
	} else {
		err = dafs_may(inode, cred, want);
	}
	return err ?: dafs_execute_ok(inode, mask);
}
