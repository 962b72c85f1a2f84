// SPDX-License-Identifier: GPL-2.0
/*
 * Opens: the state that a server keeps while a file is open here.
 *
 * All files of one user that have an inode open for the same kind of access
 * share one OPEN, which lasts until the last of them, and the last I/O that
 * uses its state-id, has gone.  Each has an owner of its own, because the
 * server would merge two opens of one owner and end both by the first CLOSE
 * (6.5.24).
 *
 * A server that has restarted knows none of them.  dafs_opens_recover() gets all
 * back before anything else is sent to it (4.4.1.6); what slips through, as an
 * OPEN whose response came just before, is reclaimed when its first use fails.
 * An open that the server does not give back is lost: its users get an error,
 * and new ones open the file anew.
 *
 * What is found lost when it is used is reclaimed by a work item of the open, one for
 * all who use it.  Tasks wait for its end, and leave if they are killed; I/O goes on
 * when it comes; a last user does not wait for it, but leaves the CLOSE to it.
 */
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include "lock.h"
#include "state.h"
#include "../rpc/trace.h"

/* How long a soft mount waits for a server that forgets what it gives, in ms. */
#define DAFS_OPEN_SOFT_MS	400

/* Attempts at a CLOSE without memory, in some seconds */
#define DAFS_OPEN_NOMEM_TRIES	6

/**
 * dafs_open_state_id() - the state-id of an open
 * @os: the open
 * @state_id: filled
 *
 * Context: any but interrupt.
 * Return: 0, or -ESTALE or -EIO if the open is lost.
 */
int dafs_open_state_id(struct dafs_open_state *os, struct dafs_state_id *state_id)
{
	int err;

	spin_lock(&os->lock);
	*state_id = os->state_id;
	err = os->lost;
	spin_unlock(&os->lock);
	return err;
}

static void dafs_open_state_free(struct kref *kref)
{
	struct dafs_open_state *os = container_of(kref, struct dafs_open_state, kref);

	put_cred(os->cred);
	kfree(os);
}

static int dafs_open_state_end(struct dafs_open_state *os)
{
	if (os->lost)
		return 0;
	return dafs_close_unless(os->sbi->clnt, os->cred, &os->fh, &os->state_id,
				 &os->sbi->leaving);
}

/*
 * What is to be done for an open in the background is done step by step.  A step waits
 * for a response, but for no connection, and not for as long as a server may ask for: so
 * many as there are opens would be in the way of what is behind them in the queue.
 */
static void dafs_open_state_queue(struct dafs_open_state *os, unsigned int delay_ms)
{
	queue_delayed_work(os->sbi->clnt->retry_wq, &os->work, msecs_to_jiffies(delay_ms));
}

static void dafs_open_state_unparked(struct dafs_park *park)
{
	dafs_open_state_queue(container_of(park, struct dafs_open_state, park), 0);
}

/* The caller passes a reference of @os->kref, and one of the mount. */
static void dafs_open_state_start(struct dafs_open_state *os)
{
	os->delay_ms = 0;
	os->gone = 0;
	os->nomem = 0;
	os->unanswered = false;
	os->forced = READ_ONCE(os->sbi->forced);
	dafs_open_state_queue(os, 0);
}

static void dafs_open_state_finish(struct dafs_open_state *os)
{
	struct dafs_sb_info *sbi = os->sbi;

	kref_put(&os->kref, dafs_open_state_free);
	dafs_async_end(sbi);
}

/* A step has failed: may the next one succeed? */
static bool dafs_open_state_may_go_on(struct dafs_open_state *os, int err, dafs_status_t status)
{
	const struct dafs_sb_info *sbi = os->sbi;
	enum dafs_action action = dafs_status_action(status);

	if (err == -ENOTCONN)
		return !dafs_client_gives_up(sbi->clnt, &os->gone);
	if (READ_ONCE(sbi->leaving))
		return false;
	/* this is no task's: others were killed that registered the user for it */
	if (err == -ERESTARTSYS)
		return true;
	/* the mount may stay, and then the server should not keep it open */
	if (!READ_ONCE(os->closing) && os->forced != READ_ONCE(sbi->forced))
		return false;
	if (action == DAFS_ACT_LATER)
		return true;
	/* who waits for a reclaim asks for it again */
	return (err == -ENOMEM || action == DAFS_ACT_MEMORY) && READ_ONCE(os->closing) &&
	       ++os->nomem < DAFS_OPEN_NOMEM_TRIES;
}

/* Return: what it ended with, or -EINPROGRESS: it goes on later, and @os may be gone. */
static int dafs_open_state_step(struct dafs_open_state *os,
				int (*step)(struct dafs_open_state *os, struct dafs_conn *conn,
					    dafs_status_t *status))
{
	struct dafs_conn *conn = dafs_conn_get_or_park(os->sbi->clnt, &os->park);
	dafs_status_t status;
	int err;

	if (IS_ERR_OR_NULL(conn))
		return conn ? PTR_ERR(conn) : -EINPROGRESS;
	err = step(os, conn, &status);
	dafs_conn_put(conn);
	if (!err)
		return 0;
	if (!dafs_open_state_may_go_on(os, err, status))
		return err == -ENOTCONN ? -ETIMEDOUT : err;
	os->delay_ms = dafs_next_delay(os->delay_ms);
	dafs_open_state_queue(os, os->delay_ms);
	return -EINPROGRESS;
}

static int dafs_open_state_close_step(struct dafs_open_state *os, struct dafs_conn *conn,
				      dafs_status_t *status)
{
	return dafs_close_on(os->sbi->clnt, conn, os->cred, &os->fh, &os->state_id, status);
}

static void dafs_open_state_close_on(struct dafs_open_state *os)
{
	int err = os->lost ? 0 : dafs_open_state_step(os, dafs_open_state_close_step);

	if (err != -EINPROGRESS)
		dafs_open_state_finish(os);
}

/*
 * No task is left to be told of an error.  But a task that is being killed, or
 * exits, cannot wait, and must not leave its opens at the server: others close
 * them for it.  So they do where a reclaim is under way, which takes as long as the server
 * likes, and would leave it open if it ended after the CLOSE.
 */
static void dafs_open_state_close(struct dafs_open_state *os, bool wait)
{
	bool reclaiming;

	dafs_async_begin(os->sbi);
	spin_lock(&os->lock);
	os->closing = true;
	reclaiming = os->reclaiming;
	spin_unlock(&os->lock);
	if (reclaiming)
		return;
	if (!wait || dafs_exits_while_down(os->sbi->clnt) ||
	    dafs_open_state_end(os) == -ERESTARTSYS)
		dafs_open_state_start(os);
	else
		dafs_open_state_finish(os);
}

/* The server has it open, and the caller, who is going to free it, has no use for it. */
static void dafs_open_state_abandon(struct dafs_open_state *os)
{
	kref_get(&os->kref);
	dafs_open_state_close(os, true);
}

static void dafs_open_state_work(struct work_struct *work);

static struct dafs_open_state *dafs_open_state_alloc(struct dafs_sb_info *sbi, u32 access,
						     const struct cred *cred)
{
	struct dafs_open_state *os = kzalloc(sizeof(*os), GFP_KERNEL);

	if (!os)
		return NULL;
	refcount_set(&os->ref, 1);
	kref_init(&os->kref);
	INIT_LIST_HEAD(&os->link);
	INIT_LIST_HEAD(&os->all_link);
	os->sbi = sbi;
	os->cred = get_cred(cred);
	os->access = access;
	snprintf(os->owner, sizeof(os->owner), "%016llx:%llx", sbi->owner_seed,
		 (u64)atomic64_inc_return(&sbi->owner_next));
	spin_lock_init(&os->lock);
	INIT_LIST_HEAD(&os->reclaims);
	INIT_DELAYED_WORK(&os->work, dafs_open_state_work);
	os->park.resume = dafs_open_state_unparked;
	os->park.leave = &sbi->leaving;
	return os;
}

static void dafs_open_state_how(const struct dafs_open_state *os, struct dafs_open_how *how)
{
	*how = (struct dafs_open_how) {
		.owner = { .len = strlen(os->owner), .data = (const u8 *)os->owner },
		.access = os->access | READ_ONCE(os->more_access),
		.deny = DAFS_OPEN_SHARE_DENY_NONE,
		.leave = &os->sbi->leaving,
		.shared = os->di,
	};
}

static void dafs_open_state_opened(struct dafs_open_state *os, const struct dafs_opened *opened)
{
	os->fh = opened->fh;
	spin_lock(&os->lock);
	os->state_id = opened->state_id;
	os->client_id = opened->client_id;
	spin_unlock(&os->lock);
}

/* From now on others find it. */
static void dafs_open_state_publish(struct dafs_inode *di, struct dafs_open_state *os)
{
	struct dafs_sb_info *sbi = os->sbi;

	os->di = di;
	os->ino = di->netfs.inode.i_ino;
	spin_lock(&sbi->opens_lock);
	/* in front of those that a recovery under way has seen */
	list_add(&os->all_link, &sbi->opens);
	os->recovery = sbi->recovery - 1;
	spin_unlock(&sbi->opens_lock);
	spin_lock(&di->lock);
	list_add(&os->link, &di->opens);
	spin_unlock(&di->lock);
}

/**
 * dafs_open_state_hold() - another user of an open
 * @os: the open, with a reference of the caller
 */
void dafs_open_state_hold(struct dafs_open_state *os)
{
	refcount_inc(&os->ref);
}

/**
 * dafs_open_state_put() - one user less; the last one closes
 * @os: the open
 * @wait: send CLOSE at once and wait for the response
 *
 * Context: may sleep if @wait, otherwise any but interrupt.
 */
void dafs_open_state_put(struct dafs_open_state *os, bool wait)
{
	struct dafs_sb_info *sbi = os->sbi;
	struct dafs_inode *di = os->di;
	bool last;

	/* Under the lock, so that no task finds it just when it goes. */
	spin_lock(&di->lock);
	last = refcount_dec_and_test(&os->ref);
	if (last)
		list_del(&os->link);
	spin_unlock(&di->lock);
	if (!last)
		return;
	spin_lock(&sbi->opens_lock);
	list_del_init(&os->all_link);
	spin_unlock(&sbi->opens_lock);
	dafs_open_state_close(os, wait);
}

/* One that is lost is better than none, but not to be shared with a new user. */
static struct dafs_open_state *dafs_open_state_search(struct dafs_inode *di, u32 access,
						      const struct cred *cred, bool exact)
{
	struct dafs_open_state *os, *lost = NULL;

	list_for_each_entry(os, &di->opens, link) {
		if (exact ? os->access != access : (os->access & access) != access)
			continue;
		if (cred && cred_fscmp(os->cred, cred))
			continue;
		if (!READ_ONCE(os->lost))
			return os;
		lost = os;
	}
	return exact ? NULL : lost;
}

/**
 * dafs_open_state_find() - an open that allows some access
 * @di: the file
 * @access: DAFS_OPEN_SHARE_ACCESS_* that it must have
 * @cred: who must have opened it; NULL for anyone
 *
 * Context: any but interrupt.
 * Return: the open with a reference, or NULL.
 */
struct dafs_open_state *dafs_open_state_find(struct dafs_inode *di, u32 access,
					     const struct cred *cred)
{
	struct dafs_open_state *os;

	spin_lock(&di->lock);
	os = dafs_open_state_search(di, access, cred, false);
	if (os)
		refcount_inc(&os->ref);
	spin_unlock(&di->lock);
	return os;
}

static struct dafs_open_state *dafs_open_state_share(struct dafs_inode *di, u32 access,
						     const struct cred *cred)
{
	struct dafs_open_state *os;

	spin_lock(&di->lock);
	os = dafs_open_state_search(di, access, cred, true);
	if (os)
		refcount_inc(&os->ref);
	spin_unlock(&di->lock);
	return os;
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
	err = dafs_open_reclaim(os->sbi->clnt, NULL, os->cred, fh, &how, &opened);
	if (!err)
		dafs_open_state_opened(os, &opened);
	return err;
}

/**
 * dafs_open_state_widen() - have an open allow more than its users do with it
 * @os: the open, with a reference of the caller
 * @access: DAFS_OPEN_SHARE_ACCESS_* that it is to allow
 * @cred: for whom
 *
 * A lock may need it (E-87): locks of all programs are set by one open.
 *
 * Context: may sleep; a fatal signal ends it.
 * Return: 0 or a negative errno; -EACCES if @cred may not have it.
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
	err = dafs_open_reclaim(os->sbi->clnt, NULL, cred, &os->fh, &how, &opened);
	if (err)
		return err;
	spin_lock(&os->lock);
	os->more_access |= access;
	spin_unlock(&os->lock);
	return 0;
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
 * Return: 0, 1 if the attributes are new, too, or a negative errno.
 */
static int dafs_open_by_name(struct inode *inode, struct dentry *dentry,
			     struct dafs_open_state *os)
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
	if (found.done < DAFS_FOUND_ATTRS)
		return 0;
	return !dafs_refresh(inode, &found.attr, &found.ids, asked);
}

/* The server opens nothing else; the operations of another would not know the open. */
static struct inode *dafs_only_regular(struct inode *inode)
{
	if (IS_ERR(inode) || S_ISREG(inode->i_mode))
		return inode;
	iput(inode);
	return ERR_PTR(-EIO);
}

/* What a name led to when OPEN found it. */
static struct inode *dafs_open_named_inode(struct inode *dir, struct dafs_open_state *os,
					   const struct qstr *name)
{
	struct super_block *sb = dir->i_sb;
	struct dafs_asked asked = dafs_asked_now(sb);
	struct dafs_opened opened = {};
	struct dafs_found found = {};
	struct dafs_open_how how;
	struct inode *inode;
	int err;

	dafs_open_state_how(os, &how);
	err = dafs_open_attrs(os->sbi->clnt, os->cred, &DAFS_I(dir)->fh, name, &how,
			      os->sbi->attrs, &opened, &found);
	if (err)
		return ERR_PTR(err);
	dafs_open_state_opened(os, &opened);
	if (found.done < DAFS_FOUND_ATTRS)
		inode = dafs_iget(sb, os->cred, &os->fh);
	else
		inode = dafs_iget_known(sb, &os->fh, &found.attr, &found.ids, asked);
	inode = dafs_only_regular(inode);
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
	struct dafs_open_state *os;
	struct inode *inode;

	os = dafs_open_state_alloc(DAFS_SB(dir->i_sb), access, cred);
	if (!os)
		return ERR_PTR(-ENOMEM);
	inode = dafs_open_named_inode(dir, os, name);
	if (IS_ERR(inode)) {
		kref_put(&os->kref, dafs_open_state_free);
		return ERR_CAST(inode);
	}
	dafs_open_state_publish(DAFS_I(inode), os);
	*inodep = inode;
	return os;
}

/* Removed, and reached through those who have it open; or known by its handle alone. */
static bool dafs_has_no_name(const struct dentry *dentry)
{
	return d_unlinked(dentry) || IS_ROOT(dentry);
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
	struct dafs_inode *di = DAFS_I(inode);
	struct dafs_open_state *os;
	int err;

	os = dafs_open_state_share(di, access, cred);
	/* No OPEN finds a file without a name, so take what comes nearest. */
	if (!os && dafs_has_no_name(dentry))
		os = dafs_open_state_find(di, access, cred);
	if (os) {
		/* The rights may have changed since the server checked them. */
		err = checked ? 0 : dafs_may(inode, cred, dafs_share_access_want(access));
		if (!err)
			return os;
		dafs_open_state_put(os, true);
		return ERR_PTR(err);
	}
	os = dafs_open_state_alloc(DAFS_SB(inode->i_sb), access, cred);
	if (!os)
		return ERR_PTR(-ENOMEM);
	if (dafs_has_no_name(dentry))
		err = dafs_open_by_fh(os, &DAFS_I(inode)->fh);
	else
		err = dafs_open_by_name(inode, dentry, os);
	if (err < 0) {
		kref_put(&os->kref, dafs_open_state_free);
		return ERR_PTR(err);
	}
	*fresh = err;
	dafs_open_state_publish(di, os);
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
		dafs_open_state_close(os, true);
		return ERR_CAST(inode);
	}
	*inodep = inode;
	return os;
}

/* Is it no use to ask the server for this open again? */
static bool dafs_open_refused(dafs_status_t status)
{
	switch (dafs_status_action(status)) {
	case DAFS_ACT_LATER:
	case DAFS_ACT_MEMORY:
	case DAFS_ACT_RESEND:
	case DAFS_ACT_CRED:
	case DAFS_ACT_SESSION:
		return false;
	default:
		/* 0: it did not answer */
		return status && status != DAFSERR_IO && status != DAFSERR_SERVERFAULT;
	}
}

/* Users of the open get os->lost as their error; the log hears of it here. */
static int dafs_open_state_lose(struct dafs_open_state *os, dafs_status_t status, int err)
{
	err = err == -ESTALE || err == -ENOENT ? -ESTALE : -EIO;
	spin_lock(&os->lock);
	WRITE_ONCE(os->lost, err);
	spin_unlock(&os->lock);
	dafs_locks_lose(os);
	pr_warn_ratelimited("dafs: server %pISpc does not give an open file back: inode %llu, %s\n",
			    &os->sbi->params.dst, os->ino, dafs_status_name(status));
	return err;
}

/* @nodelay is that of struct dafs_op. */
static int dafs_open_state_reopen(struct dafs_open_state *os, struct dafs_conn *conn,
				  bool nodelay, dafs_status_t *status)
{
	struct dafs_opened opened = {};
	struct dafs_open_how how;
	int err;

	dafs_open_state_how(os, &how);
	how.nodelay = nodelay;
	err = dafs_open_reclaim(os->sbi->clnt, conn, os->cred, &os->fh, &how, &opened);
	*status = opened.status;
	if (!err)
		err = dafs_locks_reclaim(os, conn, &opened.state_id, status);
	if (!err)
		dafs_open_state_opened(os, &opened);
	return err;
}

/* Caller has set os->reclaiming. */
static int dafs_open_state_reclaim(struct dafs_open_state *os, struct dafs_conn *conn,
				   bool nodelay, dafs_status_t *status)
{
	int err = dafs_open_state_reopen(os, conn, nodelay, status);

	if (err && dafs_open_refused(*status))
		err = dafs_open_state_lose(os, *status, err);
	trace_dafs_reclaim(os->sbi->sb->s_dev, os->ino, err);
	return err;
}

/* All who wait are told @err; and if there are no users any more, it is closed. */
static void dafs_open_state_reclaimed(struct dafs_open_state *os, int err)
{
	struct dafs_reclaim *reclaim, *next;
	bool closing;

	spin_lock(&os->lock);
	os->reclaiming = false;
	closing = os->closing;
	list_for_each_entry_safe(reclaim, next, &os->reclaims, link) {
		list_del_init(&reclaim->link);
		reclaim->err = err;
		reclaim->ended(reclaim);
	}
	spin_unlock(&os->lock);
	if (closing)
		dafs_open_state_start(os);
}

static int dafs_open_state_reclaim_step(struct dafs_open_state *os, struct dafs_conn *conn,
					dafs_status_t *status)
{
	int err = dafs_open_state_reclaim(os, conn, true, status);

	os->unanswered = err == -ENOTCONN;
	return err;
}

/* Without users only to learn the state-id of what the server may have opened. */
static bool dafs_open_state_reclaims(const struct dafs_open_state *os)
{
	return !READ_ONCE(os->closing) ||
	       (os->unanswered && !READ_ONCE(os->sbi->leaving));
}

static void dafs_open_state_reclaim_on(struct dafs_open_state *os)
{
	int err = -EIO;

	if (dafs_open_state_reclaims(os))
		err = dafs_open_state_step(os, dafs_open_state_reclaim_step);
	if (err == -EINPROGRESS)
		return;
	dafs_open_state_reclaimed(os, err);
	dafs_open_state_finish(os);
}

static void dafs_open_state_work(struct work_struct *work)
{
	struct dafs_open_state *os = container_of(to_delayed_work(work),
						  struct dafs_open_state, work);
	/* write-back may wait for it */
	unsigned int flags = memalloc_nofs_save();

	if (READ_ONCE(os->reclaiming))
		dafs_open_state_reclaim_on(os);
	else
		dafs_open_state_close_on(os);
	memalloc_nofs_restore(flags);
}

/**
 * dafs_open_state_recover_start() - begin to get back an open that the server does not know
 * @os: the open, with a reference of the caller
 * @lost: the state-id that the server refused
 * @reclaim: ended is set; it is in use until that is called, and so is the reference
 *
 * As dafs_open_state_recover(), without waiting for the end.
 *
 * Context: any but interrupt.
 * Return: -EINPROGRESS if reclaim->ended() is called, or has been; 0 if the open has
 * another state-id already; -ESTALE or -EIO if it is lost.
 */
int dafs_open_state_recover_start(struct dafs_open_state *os, const struct dafs_state_id *lost,
				  struct dafs_reclaim *reclaim)
{
	bool first = false;
	int err;

	spin_lock(&os->lock);
	err = os->lost;
	if (!err && dafs_opaque64_equal(&os->state_id, lost)) {
		err = -EINPROGRESS;
		list_add_tail(&reclaim->link, &os->reclaims);
		first = !os->reclaiming;
		os->reclaiming = true;
	}
	spin_unlock(&os->lock);
	if (first) {
		kref_get(&os->kref);
		dafs_async_begin(os->sbi);
		dafs_open_state_start(os);
	}
	return err;
}

/**
 * struct dafs_reclaim_task - a task that waits for an open to be got back
 * @reclaim: what it waits for
 * @ended: completed at the end of that
 */
struct dafs_reclaim_task {
	struct dafs_reclaim reclaim;
	struct completion ended;
};

static void dafs_reclaim_task_ended(struct dafs_reclaim *reclaim)
{
	complete(&container_of(reclaim, struct dafs_reclaim_task, reclaim)->ended);
}

/**
 * dafs_open_state_recover() - get back an open that the server does not know
 * @os: the open, with a reference of the caller
 * @lost: the state-id that the server refused
 *
 * The server has restarted, or the lease has expired (4.4.1.6).
 *
 * Context: may sleep; a fatal signal ends it.  Not in clnt->retry_wq.
 * Return: 0 if the open has another state-id now, or may have; a negative errno: -ESTALE
 * or -EIO if it is lost; -ERESTARTSYS; or what the OPEN ended with.
 */
int dafs_open_state_recover(struct dafs_open_state *os, const struct dafs_state_id *lost)
{
	struct dafs_reclaim_task task = { .reclaim.ended = dafs_reclaim_task_ended };
	int err;

	init_completion(&task.ended);
	err = dafs_open_state_recover_start(os, lost, &task.reclaim);
	if (err != -EINPROGRESS)
		return err;
	err = wait_for_completion_killable(&task.ended);
	spin_lock(&os->lock);
	list_del_init(&task.reclaim.link);
	spin_unlock(&os->lock);
	return err ?: task.reclaim.err;
}

/**
 * dafs_open_state_recover_retry() - get back an open, to send a request once more
 * @os: the open, with a reference of the caller
 * @lost: the state-id that the server refused
 * @delay_ms: 0 at first; for the next time
 *
 * The server may be gone again when it has just given the open back, so this is done
 * as often as it takes, on a hard mount.
 *
 * Context: may sleep; a fatal signal ends it.
 * Return: 0 to send the request again; -ERESTARTSYS; -ESTALE or -EIO if the open is
 * lost; what a soft mount gives up with.
 */
int dafs_open_state_recover_retry(struct dafs_open_state *os, const struct dafs_state_id *lost,
				  unsigned int *delay_ms)
{
	bool soft = READ_ONCE(os->sbi->clnt->params.soft);
	int err = 0;

	if (soft && *delay_ms >= DAFS_OPEN_SOFT_MS)
		return -EIO;
	/* at once, but for a server that forgets what it has just given */
	if (*delay_ms)
		err = dafs_op_sleep(delay_ms);
	else
		*delay_ms = 1;
	err = err ?: dafs_open_state_recover(os, lost);
	if (err && err != -ERESTARTSYS && !soft && !READ_ONCE(os->lost))
		return 0;
	return err;
}

static bool dafs_open_state_is_of(struct dafs_open_state *os,
				  const struct dafs_client_id *client_id)
{
	bool is;

	spin_lock(&os->lock);
	is = dafs_opaque64_equal(&os->client_id, client_id);
	spin_unlock(&os->lock);
	return is;
}

/* The next open that the server does not have, with a reference on its memory. */
static struct dafs_open_state *dafs_opens_next(struct dafs_sb_info *sbi,
					       const struct dafs_conn *conn)
{
	struct dafs_open_state *os, *found = NULL;

	spin_lock(&sbi->opens_lock);
	while (!found && !list_empty(&sbi->opens)) {
		os = list_first_entry(&sbi->opens, struct dafs_open_state, all_link);
		if (os->recovery == sbi->recovery)
			break;
		os->recovery = sbi->recovery;
		list_move_tail(&os->all_link, &sbi->opens);
		/* not so where the last recovery got before it lost its connection */
		if (!dafs_open_state_is_of(os, &conn->client_id))
			found = os;
	}
	if (found)
		kref_get(&found->kref);
	spin_unlock(&sbi->opens_lock);
	return found;
}

static bool dafs_open_state_claim(struct dafs_open_state *os)
{
	bool mine;

	spin_lock(&os->lock);
	mine = !os->reclaiming && !os->closing && !os->lost;
	if (mine)
		os->reclaiming = true;
	spin_unlock(&os->lock);
	return mine;
}

/*
 * One that is being reclaimed already, because its use failed, may wait for the session,
 * so must not be waited for.
 *
 * Return: true if the server asks for patience.
 */
static bool dafs_opens_recover_one(struct dafs_open_state *os, struct dafs_conn *conn)
{
	dafs_status_t status;

	if (!dafs_open_state_claim(os))
		return false;
	dafs_open_state_reclaim(os, conn, false, &status);
	/* I/O that waits is sent again, and reclaims the open if the server refuses it */
	dafs_open_state_reclaimed(os, 0);
	return dafs_status_action(status) == DAFS_ACT_LATER;
}

/**
 * dafs_opens_recover() - get back all opens from a server that knows none
 * @sbi: the mount
 * @conn: connection to the server
 *
 * See struct dafs_recoverer.  Opens that the server does not give back
 * are lost; those that it cannot give back are reclaimed when they are used.  As long
 * as it asks for patience it is asked again: it may need minutes to have the file
 * system, which the rest of the client need not wait for.
 *
 * Context: may sleep; a work queue.
 * Return: 0, or -ENOTCONN if the connection was lost meanwhile.
 */
int dafs_opens_recover(struct dafs_sb_info *sbi, struct dafs_conn *conn)
{
	struct dafs_open_state *os;

	spin_lock(&sbi->opens_lock);
	sbi->recovery++;
	spin_unlock(&sbi->opens_lock);
	while (dafs_chan_is_open(conn->op)) {
		os = dafs_opens_next(sbi, conn);
		if (!os)
			return 0;
		while (dafs_opens_recover_one(os, conn) && dafs_chan_is_open(conn->op) &&
		       !READ_ONCE(sbi->leaving))
			dafs_recover_slowly(&sbi->recoverer);
		kref_put(&os->kref, dafs_open_state_free);
	}
	return -ENOTCONN;
}
