// SPDX-License-Identifier: GPL-2.0
/*
 * Access rights.  Only the server knows its ACLs and how it squashes root, so it is
 * asked (ACCESS, 6.5.2).  Its answers are cached for as long as attributes are.
 */
#include <linux/cred.h>
#include <linux/slab.h>
#include "inode.h"

/**
 * dafs_access_zap_locked() - drop all cached access rights
 * @di: inode, with its lock held
 */
void dafs_access_zap_locked(struct dafs_inode *di)
{
	unsigned int i;

	/* an empty first entry means that the cache is empty */
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

/* An answer older than the cached mode and owner is not stored. */
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

/* All rights of this type of object, so that one request is enough. */
static u32 dafs_access_all(const struct inode *inode)
{
	if (S_ISDIR(inode->i_mode))
		return DAFS_ACCESS_READ | DAFS_ACCESS_LOOKUP | DAFS_ACCESS_MODIFY |
		       DAFS_ACCESS_EXTEND | DAFS_ACCESS_DELETE;
	return DAFS_ACCESS_READ | DAFS_ACCESS_MODIFY | DAFS_ACCESS_EXTEND |
	       DAFS_ACCESS_EXECUTE;
}

/* Fills *granted with all rights of the user.  Return: 0 or a negative errno. */
static int dafs_access_granted(struct inode *inode, const struct cred *cred, u32 *granted)
{
	struct dafs_inode *di = DAFS_I(inode);
	struct dafs_access_res res = {};
	unsigned long at;
	long asked;
	int err;

	if (dafs_access_cached(di, cred, granted))
		return 0;
	asked = dafs_attr_begin(inode->i_sb);
	at = jiffies;
	err = dafs_access(dafs_inode_ses(inode), cred, &di->fh, dafs_access_all(inode), &res);
	if (err)
		return err;
	/* rights that the server cannot report are checked with the operation itself */
	*granted = res.access | ~res.supported;
	dafs_access_remember(inode, cred, *granted, asked, at);
	return 0;
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
	u32 granted;
	int err = dafs_access_granted(inode, cred, &granted);

	if (err)
		return err;
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

/* Even root may execute a file only if an execute bit is set. */
static int dafs_execute_ok(const struct inode *inode, int mask)
{
	if (!(mask & MAY_EXEC) || S_ISDIR(inode->i_mode))
		return 0;
	return inode->i_mode & 0111 ? 0 : -EACCES;
}

/* Rights of the caller by the mode bits alone; the server may grant more or fewer. */
static bool dafs_mode_grants(const struct inode *inode, int mask)
{
	umode_t mode = inode->i_mode;

	if (uid_eq(current_fsuid(), inode->i_uid))
		mode >>= 6;
	else if (in_group_p(inode->i_gid))
		mode >>= 3;
	return !(mask & ~mode & (MAY_READ | MAY_WRITE | MAY_EXEC));
}

/*
 * OPEN checks access at no extra cost.  But the server lets a user who may execute a
 * file also read it, does not know O_TRUNC, and may report another error than the VFS
 * would.  So if the mode bits deny access, ask first.
 */
static bool dafs_left_to_open(const struct inode *inode, int mask)
{
	if (!S_ISREG(inode->i_mode) || !(mask & MAY_OPEN) || (mask & MAY_EXEC))
		return false;
	/*
	 * The mode says nothing about root, who may be squashed.  So ask first if a file
	 * is executable for some users and not readable for all.
	 */
	if (uid_eq(current_fsuid(), GLOBAL_ROOT_UID))
		return (mask & MAY_WRITE) || !(inode->i_mode & 0111) ||
		       (inode->i_mode & 0444) == 0444;
	return dafs_mode_grants(inode, mask);
}

/*
 * The server grants changing a directory only together with searching it (6.5.2); the
 * VFS asks for each of them alone.
 */
static u32 dafs_access_unsearched(const struct inode *inode, u32 granted)
{
	if (S_ISDIR(inode->i_mode) && !(granted & DAFS_ACCESS_LOOKUP) &&
	    dafs_mode_grants(inode, MAY_WRITE))
		granted |= DAFS_ACCESS_MODIFY | DAFS_ACCESS_EXTEND;
	return granted;
}

/**
 * dafs_vfs_permission() - check access for the VFS
 * @idmap: not used, id-mapped mounts are not supported
 * @inode: the object
 * @mask: MAY_*
 *
 * Context: may sleep unless @mask has MAY_NOT_BLOCK.
 * Return: 0, -EACCES, -ECHILD if it would have to sleep and may not, or another
 * negative errno.
 */
int dafs_vfs_permission(struct mnt_idmap *idmap, struct inode *inode, int mask)
{
	const struct cred *cred = current_cred();
	u32 want = dafs_access_want(inode, mask);
	u32 granted;
	int err;

	if (!want || dafs_left_to_open(inode, mask))
		return 0;
	if (!(mask & MAY_NOT_BLOCK))
		err = dafs_access_granted(inode, cred, &granted);
	else
		err = dafs_access_cached(DAFS_I(inode), cred, &granted) ? 0 : -ECHILD;
	if (dafs_gone(inode, err))
		return generic_permission(&nop_mnt_idmap, inode, mask);
	if (err)
		return err;
	if (want & ~dafs_access_unsearched(inode, granted))
		return -EACCES;
	return dafs_execute_ok(inode, mask);
}
