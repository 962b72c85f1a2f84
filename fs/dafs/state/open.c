// SPDX-License-Identifier: GPL-2.0
/*
 * OPEN: of a file that is there, of what a name leads to, of a new file.
 */
#include <linux/random.h>
#include "deleg.h"
#include "lock.h"
#include "open_impl.h"
#include "reserve.h"

/* The server has it open, and the caller, who is going to free it, has no use for it. */
static void dafs_open_state_abandon(struct dafs_open_state *os)
{
	dafs_deleg_take(os, dafs_asked_never());
	kref_get(&os->kref);
	dafs_open_state_close(os, true, NULL);
}

static void dafs_open_state_how(struct dafs_open_state *os, struct dafs_open_how *how)
{
	*how = (struct dafs_open_how) {
		.owner = { .len = strlen(os->owner), .data = (const u8 *)os->owner },
		.access = os->access | READ_ONCE(os->more_access),
		.leave = &os->sbi->leaving,
		.shared = os->di,
	};
	spin_lock(&os->lock);
	how->deny = os->reserved.deny;
	how->keyed = os->reserved.keyed;
	how->share_key = os->reserved.share_key;
	spin_unlock(&os->lock);
}

static void dafs_open_state_opened(struct dafs_open_state *os, const struct dafs_opened *opened)
{
	os->fh = opened->fh;
	spin_lock(&os->lock);
	os->state_id = opened->state_id;
	os->client_id = opened->client_id;
	os->granted = opened->delegation;
	spin_unlock(&os->lock);
}

static u32 dafs_share_access_want(u32 access)
{
	u32 want = 0;

	if (access & DAFS_OPEN_SHARE_ACCESS_READ)
		want |= DAFS_ACCESS_READ;
	if (access & DAFS_OPEN_SHARE_ACCESS_WRITE)
		want |= DAFS_ACCESS_MODIFY;
	return want;
}

/* OPEN of what is known by its filehandle alone. */
static int dafs_open_by_fh(struct dafs_open_state *os, const struct dafs_fh *fh)
{
	struct dafs_opened opened = {};
	struct dafs_open_how how;
	int err;

	dafs_open_state_how(os, &how);
	err = dafs_open_handle(os->sbi->clnt, os->cred, fh, &how, &opened);
	if (!err)
		dafs_open_state_opened(os, &opened);
	return err;
}

/*
 * What another user's lock has added to an open (dafs_open_state_widen()) may be more than its
 * own user is allowed.  Without that the locks are lost.
 */
static bool dafs_open_state_narrow(struct dafs_open_state *os)
{
	bool more;

	spin_lock(&os->lock);
	more = os->more_access;
	os->more_access = 0;
	spin_unlock(&os->lock);
	if (more)
		dafs_locks_lose(os);
	return more;
}

/*
 * The server has opened it anew: until the rest is reclaimed, too, this is what would be left there
 * if that failed.  It has given the delegation of an attempt before once more, or another one.
 */
static void dafs_open_state_leave_there(struct dafs_open_state *os,
					const struct dafs_opened *opened)
{
	if (!dafs_opaque64_equal(&os->left_deleg.state_id, &opened->delegation.state_id))
		dafs_deleg_return_left(os);
	os->left = true;
	os->left_id = opened->state_id;
	os->left_deleg = opened->delegation;
}

static void dafs_open_state_nothing_left(struct dafs_open_state *os)
{
	os->left = false;
	os->left_deleg = (struct dafs_delegation){};
}

/**
 * dafs_open_state_reopen() - OPEN of what the server does not know any more
 * @os: the open
 * @conn: a connection of the client
 * @nodelay: that of struct dafs_op
 * @status: filled with that of the last response, or 0
 *
 * Its locks and its delegation are reclaimed before others learn the new state-id, and it is
 * known what became of data that was written under locks.
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dafs_open_state_reopen(struct dafs_open_state *os, struct dafs_conn *conn, bool nodelay,
			   dafs_status_t *status)
{
	ktime_t since = ktime_get_coarse_boottime();
	struct dafs_opened opened = {};
	struct dafs_open_how how;
	struct dafs_asked asked;
	int err;

	dafs_open_state_how(os, &how);
	how.nodelay = nodelay;
	how.former = dafs_deleg_former(os);
	/* what an attempt before has left stays @os->left until the server has opened it anew */
	err = dafs_open_reclaim(os->sbi->clnt, conn, os->cred, &os->fh, &how, &opened);
	if (err && opened.status == DAFSERR_ACCES && dafs_open_state_narrow(os)) {
		how.access = os->access;
		err = dafs_open_reclaim(os->sbi->clnt, conn, os->cred, &os->fh, &how, &opened);
	}
	*status = opened.status;
	if (err)
		return err;
	dafs_client_renewed(os->sbi->clnt, since);
	dafs_open_state_leave_there(os, &opened);
	err = dafs_reserve_reclaimed(os, conn, &how, &opened, status);
	if (!err)
		err = dafs_locks_reclaim(os, conn, &opened.state_id, status);
	if (!err) {
		/* a lock may have been refused, but not the open */
		*status = DAFS_STATUS_OK;
		err = dafs_debt_reclaimed(os, conn, &how, status) ?:
		      dafs_deleg_verify(os, conn, &opened, &asked);
	}
	if (err)
		return err;
	dafs_open_state_nothing_left(os);
	dafs_open_state_opened(os, &opened);
	dafs_deleg_reclaimed(os, asked, since);
	dafs_debt_collect(os);
	return 0;
}

/**
 * dafs_open_state_widen() - have an open allow more than its users do with it
 * @os: the open, with a reference of the caller
 * @access: DAFS_OPEN_SHARE_ACCESS_* that it is to allow
 * @cred: for whom
 *
 * A lock may need it (E-87): locks of all programs are set by one open.  The server may want
 * time, in a grace period, or until this client has returned a delegation; meanwhile the caller
 * lets go of what that needs.
 *
 * Context: may sleep; a fatal signal ends it.
 * Return: 0 or a negative errno; -EACCES if @cred may not have it; -EINPROGRESS if the server is to
 * be asked again later.
 */
int dafs_open_state_widen(struct dafs_open_state *os, u32 access, const struct cred *cred)
{
	struct dafs_opened opened = {};
	struct dafs_open_how how;
	int err;

	dafs_open_state_how(os, &how);
	if (!(access & ~how.access))
		return 0;
	how.access |= access;
	how.nodelay = true;
	err = dafs_open_handle(os->sbi->clnt, cred, &os->fh, &how, &opened);
	if (err == -EAGAIN && (!opened.status ||
			       dafs_status_action(opened.status) == DAFS_ACT_LATER))
		return -EINPROGRESS;
	if (err)
		return err;
	spin_lock(&os->lock);
	os->more_access |= access;
	spin_unlock(&os->lock);
	return 0;
}

/**
 * dafs_open_state_deny() - have an open deny more to others, at the server
 * @os: the open, with a reference of the caller
 * @more: what else it is to deny; a key takes the place of none
 * @state_id: filled with the state-id that the server has for the open
 *
 * What @os itself denies does not count as a conflict.  It is for the caller to record what it
 * has got.
 *
 * Context: may sleep, as long as the server wants; not for a task that can be killed, which
 * would not learn what it has got.
 * Return: 0; -EBUSY if an open of others is in the way; -EKEYREJECTED; or another negative errno.
 */
int dafs_open_state_deny(struct dafs_open_state *os, const struct dafs_reserved *more,
			 struct dafs_state_id *state_id)
{
	struct dafs_opened opened = {};
	struct dafs_open_how how;
	int err;

	dafs_open_state_how(os, &how);
	how.deny |= more->deny;
	if (more->keyed) {
		how.keyed = true;
		how.share_key = more->share_key;
	}
	err = dafs_open_handle(os->sbi->clnt, os->cred, &os->fh, &how, &opened);
	*state_id = opened.state_id;
	if (opened.status == DAFSERR_DENIED || opened.status == DAFSERR_SHARE_DENIED)
		return -EBUSY;
	return err;
}

/* OPEN by name.  @found->done says whether the attributes came, too. */
static int dafs_open_named(struct dentry *dentry, struct dafs_open_state *os,
			   struct dafs_opened *opened, struct dafs_found *found)
{
	struct dentry *parent = dget_parent(dentry);
	const struct dafs_fh *dir = &DAFS_I(d_inode(parent))->fh;
	struct dafs_sb_info *sbi = os->sbi;
	struct dafs_open_how how;
	struct name_snapshot name;
	int err;

	dafs_open_state_how(os, &how);
	how.delegable = true;
	take_dentry_name_snapshot(&name, dentry);
	if (READ_ONCE(sbi->opts.nocto))
		err = dafs_open(sbi->clnt, os->cred, dir, &name.name, &how, opened);
	else
		err = dafs_open_attrs(sbi->clnt, os->cred, dir, &name.name, &how, sbi->attrs,
				      opened, found);
	release_dentry_name_snapshot(&name);
	dput(parent);
	return err;
}

/*
 * OPEN goes by name, and the name may lead elsewhere by now.  -ESTALE makes
 * the VFS look the path up again, asking the server for each name.
 *
 * Return: 0 or a negative errno; @came tells if the attributes are new, too.
 */
static int dafs_open_by_name(struct inode *inode, struct dentry *dentry,
			     struct dafs_open_state *os, struct dafs_asked *came)
{
	struct dafs_asked asked = dafs_asked_now(inode->i_sb);
	struct dafs_opened opened = {};
	struct dafs_found found = {};
	int err;

	err = dafs_open_named(dentry, os, &opened, &found);
	if (err)
		return err == -ENOENT ? -ESTALE : err;
	dafs_open_state_opened(os, &opened);
	if (memcmp(&opened.fh, &DAFS_I(inode)->fh, sizeof(opened.fh))) {
		dafs_open_state_abandon(os);
		return -ESTALE;
	}
	if (found.done >= DAFS_FOUND_ATTRS &&
	    !dafs_refresh(inode, &found.attr, &found.ids, asked) &&
	    dafs_attrs_applied(DAFS_I(inode), asked))
		*came = asked;
	return 0;
}

/* The server opens nothing else; the operations of another would not know the open. */
static struct inode *dafs_only_regular(struct inode *inode)
{
	if (IS_ERR(inode) || S_ISREG(inode->i_mode))
		return inode;
	iput(inode);
	return ERR_PTR(-EIO);
}

/* The attributes are not as new as the open. */
static struct inode *dafs_open_revalidate(struct inode *inode, const struct dafs_open_state *os,
					  struct dafs_asked *came)
{
	int err = dafs_revalidate(inode, os->cred, true);

	*came = dafs_asked_never();
	if (!err)
		return inode;
	iput(inode);
	return ERR_PTR(err);
}

/* What a name led to when OPEN found it. */
static struct inode *dafs_open_named_inode(struct inode *dir, struct dafs_open_state *os,
					   const struct qstr *name, struct dafs_asked *came)
{
	struct super_block *sb = dir->i_sb;
	struct dafs_asked asked = dafs_asked_now(sb);
	struct dafs_opened opened = {};
	struct dafs_found found = {};
	struct dafs_open_how how;
	struct inode *inode;
	int err;

	dafs_open_state_how(os, &how);
	how.delegable = true;
	err = dafs_open_attrs(os->sbi->clnt, os->cred, &DAFS_I(dir)->fh, name, &how,
			      os->sbi->attrs, &opened, &found);
	if (err)
		return ERR_PTR(err);
	dafs_open_state_opened(os, &opened);
	if (found.done < DAFS_FOUND_ATTRS) {
		inode = dafs_iget(sb, os->cred, &os->fh);
	} else {
		inode = dafs_iget_known(sb, &os->fh, &found.attr, &found.ids, asked);
		*came = asked;
	}
	inode = dafs_only_regular(inode);
	if (!IS_ERR(inode) && !dafs_attrs_applied(DAFS_I(inode), asked))
		inode = dafs_open_revalidate(inode, os, came);
	if (IS_ERR(inode))
		dafs_open_state_abandon(os);
	return inode;
}

/**
 * dafs_open_state_named() - open whatever file a name leads to
 * @dir: where
 * @name: the name
 * @access: DAFS_OPEN_SHARE_ACCESS_*
 * @cred: for whom
 * @inodep: filled with the inode of the file
 *
 * Context: may sleep.
 * Return: the open, or an ERR_PTR.
 */
struct dafs_open_state *dafs_open_state_named(struct inode *dir, const struct qstr *name,
					      u32 access, const struct cred *cred,
					      struct inode **inodep)
{
	struct dafs_asked came = dafs_asked_never();
	struct dafs_open_state *os;
	struct inode *inode;

	os = dafs_open_state_alloc(DAFS_SB(dir->i_sb), access, cred);
	if (!os)
		return ERR_PTR(-ENOMEM);
	inode = dafs_open_named_inode(dir, os, name, &came);
	if (IS_ERR(inode)) {
		kref_put(&os->kref, dafs_open_state_free);
		return ERR_CAST(inode);
	}
	dafs_open_state_publish(DAFS_I(inode), os);
	dafs_deleg_take(os, came);
	*inodep = inode;
	return os;
}

/* Removed, and reached through those who have it open; or known by its handle alone. */
static bool dafs_has_no_name(const struct dentry *dentry)
{
	return d_unlinked(dentry) || IS_ROOT(dentry);
}

/*
 * An open that does for another user: for just that access; or, where no OPEN finds the file,
 * because it has no name, or none is needed, because it is delegated, for more.
 */
static struct dafs_open_state *dafs_open_state_present(struct dafs_inode *di,
						       const struct dentry *dentry, u32 access,
						       const struct cred *cred)
{
	struct dafs_open_state *os = dafs_open_state_join(di, access, cred, true);
	bool nameless = dafs_has_no_name(dentry);

	if (os || !(nameless || dafs_inode_delegated(di)))
		return os;
	os = dafs_open_state_join(di, access, cred, false);
	/* one that is lost is better than none only if there is no other way */
	if (!os || nameless || !READ_ONCE(os->lost))
		return os;
	dafs_open_state_leave(os, access);
	dafs_open_state_put(os, true);
	return NULL;
}

/**
 * dafs_open_state_get() - open a file that is there
 * @inode: the file
 * @dentry: a name of it
 * @access: DAFS_OPEN_SHARE_ACCESS_*
 * @cred: for whom
 * @checked: it is known that @cred may have it open so
 * @fresh: set if the attributes are as new as this call
 *
 * Context: may sleep.
 * Return: the open, or an ERR_PTR.
 */
struct dafs_open_state *dafs_open_state_get(struct inode *inode, struct dentry *dentry,
					    u32 access, const struct cred *cred, bool checked,
					    bool *fresh)
{
	struct dafs_asked came = dafs_asked_never();
	struct dafs_inode *di = DAFS_I(inode);
	struct dafs_open_state *os;
	int err;

	os = dafs_open_state_present(di, dentry, access, cred);
	if (os) {
		dafs_deleg_used(di);
		/* The rights may have changed since the server checked them. */
		err = checked ? 0 : dafs_may(inode, cred, dafs_share_access_want(access));
		if (!err)
			return os;
		dafs_open_state_leave(os, access);
		dafs_open_state_put(os, true);
		return ERR_PTR(err);
	}
	os = dafs_open_state_alloc(DAFS_SB(inode->i_sb), access, cred);
	if (!os)
		return ERR_PTR(-ENOMEM);
	if (dafs_has_no_name(dentry))
		err = dafs_open_by_fh(os, &DAFS_I(inode)->fh);
	else
		err = dafs_open_by_name(inode, dentry, os, &came);
	if (err) {
		kref_put(&os->kref, dafs_open_state_free);
		return ERR_PTR(err);
	}
	*fresh = came.clock != DAFS_ASKED_NEVER;
	dafs_open_state_publish(di, os);
	dafs_deleg_take(os, came);
	return os;
}

/*
 * Takes the place of GUARDED where the caller asked for O_EXCL: if the response is
 * lost with the connection, the request is repeated, and finds its own file instead
 * of a name that is taken.  The times are what the verifier is left in (6.5.24).
 */
static void dafs_open_how_exclusive(struct dafs_open_how *how, struct dafs_fattr *attr)
{
	how->mode = DAFS_CREATE_EXCLUSIVE;
	get_random_bytes(&how->verifier, sizeof(how->verifier));
	attr->included |= DAFS_FATTR_TIME_ACCESS_SET | DAFS_FATTR_TIME_MODIFY_SET;
	attr->valid |= DAFS_FATTR_TIME_ACCESS_SET | DAFS_FATTR_TIME_MODIFY_SET;
	attr->time_access_set.how = DAFS_SET_TO_SERVER_TIME;
	attr->time_modify_set.how = DAFS_SET_TO_SERVER_TIME;
}

static int dafs_open_new(struct inode *dir, const struct qstr *name, umode_t mode, bool excl,
			 struct dafs_open_state *os)
{
	struct dafs_fattr attr = {};
	struct dafs_opened opened = {};
	struct dafs_open_how how;
	int err;

	dafs_fattr_mode(&attr, mode);
	dafs_open_state_how(os, &how);
	how.create = true;
	how.mode = DAFS_CREATE_GUARDED;
	how.attr = &attr;
	if (excl)
		dafs_open_how_exclusive(&how, &attr);
	err = dafs_open(os->sbi->clnt, os->cred, &DAFS_I(dir)->fh, name, &how, &opened);
	if (opened.open) {
		dafs_open_state_opened(os, &opened);
		dafs_dir_changed(dir, &opened.change);
	}
	if (err && opened.open)
		dafs_open_state_abandon(os);
	return err;
}

static int dafs_open_new_unlinked(struct inode *dir, umode_t mode, struct dafs_open_state *os)
{
	struct dafs_fattr attr = {};
	struct dafs_opened opened = {};
	struct dafs_open_how how;
	int err;

	dafs_fattr_mode(&attr, mode);
	dafs_open_state_how(os, &how);
	how.mode = DAFS_CREATE_UNCHECKED;
	how.attr = &attr;
	err = dafs_open_unlinked(os->sbi->clnt, os->cred, &DAFS_I(dir)->fh, &how, &opened);
	if (err)
		return err;
	dafs_open_state_opened(os, &opened);
	return 0;
}

/* The inode of a file just made; the open is from now on found there. */
static struct inode *dafs_open_state_inode(struct inode *dir, const struct qstr *name,
					   const struct dafs_new_file *how,
					   struct dafs_open_state *os)
{
	struct inode *inode;

	if (name)
		inode = dafs_iget_created(dir, os->cred, &os->fh, how->mode);
	else
		inode = dafs_iget(dir->i_sb, os->cred, &os->fh);
	inode = dafs_only_regular(inode);
	if (!IS_ERR(inode))
		dafs_open_state_publish(DAFS_I(inode), os);
	return inode;
}

/**
 * dafs_open_state_create() - make a file and open it
 * @dir: where
 * @name: its name, or NULL for a file without one
 * @how: its mode, and for what to open it
 * @cred: for whom
 * @inodep: filled with its inode
 *
 * Context: may sleep.
 * Return: the open, or an ERR_PTR: -EEXIST if the name is taken.
 */
struct dafs_open_state *dafs_open_state_create(struct inode *dir, const struct qstr *name,
					       const struct dafs_new_file *how,
					       const struct cred *cred, struct inode **inodep)
{
	struct dafs_open_state *os;
	struct inode *inode;
	int err;

	os = dafs_open_state_alloc(DAFS_SB(dir->i_sb), how->access, cred);
	if (!os)
		return ERR_PTR(-ENOMEM);
	if (name)
		err = dafs_open_new(dir, name, how->mode, how->excl, os);
	else
		err = dafs_open_new_unlinked(dir, how->mode, os);
	if (err) {
		kref_put(&os->kref, dafs_open_state_free);
		return ERR_PTR(err);
	}
	inode = dafs_open_state_inode(dir, name, how, os);
	if (IS_ERR(inode)) {
		dafs_open_state_close(os, true, NULL);
		return ERR_CAST(inode);
	}
	*inodep = inode;
	return os;
}
