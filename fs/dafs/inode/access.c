// SPDX-License-Identifier: GPL-2.0
/*
 * Access rights.  Only the server knows its ACLs and how it squashes root, so it is
 * asked (ACCESS, 6.5.2).  Its answers are cached for as long as attributes are; those about a
 * file that is delegated, until that ends.
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

/**
 * dafs_access_cached() - what a user may do, if that is known
 * @di: the inode
 * @cred: the user
 * @granted: set to DAFS_ACCESS_*
 *
 * Context: any but interrupt; does not sleep.
 * Return: false if it is not known, or not any more.
 */
bool dafs_access_cached(struct dafs_inode *di, const struct cred *cred, u32 *granted)
{
	struct dafs_access_entry *entry;
	unsigned long timeo, most;
	bool known = false;

	dafs_attr_times(&di->netfs.inode, &timeo, &most);
	spin_lock(&di->lock);
	entry = dafs_access_find(di, cred);
	if (entry && (time_in_range_open(jiffies, entry->at, entry->at + timeo) ||
		      (dafs_inode_delegated(di) && time_after(entry->at, di->deleg_at)))) {
		*granted = entry->granted;
		known = true;
	}
	spin_unlock(&di->lock);
	return known;
}

/* An answer older than the cached mode and owner is not stored. */
static void dafs_access_remember(struct inode *inode, const struct cred *cred,
				 u32 granted, struct dafs_asked asked)
{
	struct dafs_inode *di = DAFS_I(inode);
	struct dafs_access_entry *entry;

	spin_lock(&di->lock);
	if (asked.clock < di->asked || dafs_attr_outdated(di, asked))
		goto out;
	entry = dafs_access_find(di, cred);
	if (!entry) {
		entry = di->access;
		put_cred(di->access[DAFS_ACCESS_CACHE - 1].cred);
		memmove(entry + 1, entry, sizeof(*entry) * (DAFS_ACCESS_CACHE - 1));
		*entry = (struct dafs_access_entry){ .cred = get_cred(cred) };
	}
	entry->granted = granted;
	entry->at = asked.at;
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

/**
 * dafs_access_granted() - what a user may do; the server is asked if need be
 * @inode: the object
 * @cred: the user
 * @granted: set to DAFS_ACCESS_*
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dafs_access_granted(struct inode *inode, const struct cred *cred, u32 *granted)
{
	struct dafs_inode *di = DAFS_I(inode);
	struct dafs_access_res res = {};
	struct dafs_asked asked;
	int err;

	if (dafs_access_cached(di, cred, granted))
		return 0;
	asked = dafs_asked_now(inode->i_sb);
	err = dafs_access(dafs_inode_clnt(inode), cred, &di->fh, dafs_access_all(inode), &res);
	if (err)
		return err;
	/* rights that the server cannot report are checked with the operation itself */
	*granted = res.access | ~res.supported;
	dafs_access_remember(inode, cred, *granted, asked);
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
