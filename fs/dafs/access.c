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

/* All that a user may do with an object; 0 or a negative errno. */
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
	/* What the server cannot tell, it checks when it is done. */
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

/* Root too may execute a file only if someone may. */
static int dafs_execute_ok(const struct inode *inode, int mask)
{
	if (!(mask & MAY_EXEC) || S_ISDIR(inode->i_mode))
		return 0;
	return inode->i_mode & 0111 ? 0 : -EACCES;
}

/* What the mode says of the caller, who may have more or fewer rights at the server. */
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
 * OPEN checks rights, at no extra cost.  But the server lets those read a file who
 * may execute it, because executing is reading here; it does not know of O_TRUNC;
 * and of two errors the VFS would find the other one first.  So where the mode
 * promises failure, ask first.
 */
static bool dafs_left_to_open(const struct inode *inode, int mask)
{
	if (!S_ISREG(inode->i_mode) || !(mask & MAY_OPEN) || (mask & MAY_EXEC))
		return false;
	/*
	 * The mode says nothing of root, who may be squashed.  So ask first if
	 * a file that some users may execute is not readable for all.
	 */
	if (uid_eq(current_fsuid(), GLOBAL_ROOT_UID))
		return (mask & MAY_WRITE) || !(inode->i_mode & 0111) ||
		       (inode->i_mode & 0444) == 0444;
	return dafs_mode_grants(inode, mask);
}

/*
 * To the server, changing a directory takes the right to search it (6.5.2), while
 * the VFS asks for the two one by one.
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
 * Return: 0, -EACCES, -ECHILD if it had to sleep and may not, or another
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
