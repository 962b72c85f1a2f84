// SPDX-License-Identifier: GPL-2.0
/*
 * Opens, their state-ids, and what they reserve (4.4.1.2, 4.4.2, 6.5.24).
 *
 * There are two kinds of objects.  A struct dafsd_file stands for an inode that
 * somebody has open or is just removing; its mutex makes checking share
 * reservations and acting on the result one step.  A struct dafsd_open is what
 * one owner of one client has open by one filehandle.
 *
 * An open is born dead: OPEN fills it in, and publishes it in one critical
 * section of dafsd_opens.xa_lock, which checks that neither its client nor its
 * export went away meanwhile.  It dies in another one, by dafsd_open_claim().
 * Whoever claimed it, and nobody else, takes it apart: CLOSE, the release of a
 * client, or the end of an export.  What I/O needs of it is read under RCU.
 *
 * Order of locks: lock of a directory, dafsd_file.lock, lock of the file's
 * inode; dafsd_opens.xa_lock, dafsd_client.lock.
 */
#include <linux/filelock.h>
#include <linux/hashtable.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include "vfs.h"

#define DAFSD_MAX_OPENS		65536	/* of one client */

/**
 * struct dafsd_file - an inode as far as opens are concerned
 * @node: in dafsd_files; guarded by dafsd_files_lock
 * @users: references: one of each open, one of whoever looked it up; guarded by
 *	dafsd_files_lock
 * @inode: holds a reference
 * @lock: guards what follows; held while an entry of the inode is removed, so
 *	that no open slips in
 * @opens: dafsd_open.file_link
 * @share_key: key of the opens that hold one
 * @nr_keys: how many do
 */
struct dafsd_file {
	struct hlist_node node;
	unsigned int users;
	struct inode *inode;
	struct mutex lock;	/* see above */
	struct list_head opens;
	u64 share_key;
	unsigned int nr_keys;
};

/**
 * struct dafsd_open - one open
 * @rcu: frees it
 * @id: second half of the state-id
 * @dead: not published yet or claimed; guarded by dafsd_opens.xa_lock
 * @client: whose it is; outlives it
 * @client_link: in client->opens; guarded by client->lock
 * @file: holds a reference
 * @file_link: in file->opens; guarded by file->lock
 * @exp: holds a reference
 * @inode: that of @file, for comparison
 * @wire: filehandle that OPEN returned
 * @access: DAFS_OPEN_SHARE_ACCESS_*; changed under file->lock
 * @deny: DAFS_OPEN_SHARE_DENY_*; guarded by file->lock
 * @deny_delete: opened with DAFS_DELETE_DENY; guarded by file->lock
 * @holds_key: counted in file->nr_keys; guarded by file->lock
 * @filp: open file that allows @access; replaced under file->lock
 * @owner_len: bytes of @owner
 * @owner: lock owner
 */
struct dafsd_open {
	struct rcu_head rcu;
	u32 id;
	bool dead;
	struct dafsd_client *client;
	struct list_head client_link;
	struct dafsd_file *file;
	struct list_head file_link;
	struct dafsd_export *exp;
	struct inode *inode;
	struct dafs_fh wire;
	u32 access;
	u32 deny;
	bool deny_delete;
	bool holds_key;
	struct file __rcu *filp;
	u32 owner_len;
	u8 owner[] __counted_by(owner_len);
};

/*
 * By id.  A value entry is the second in which an open was revoked, kept for a
 * lease period so that its holder learns what happened (E-84).
 */
static struct xarray dafsd_opens;
static u32 dafsd_opens_next;

static DEFINE_HASHTABLE(dafsd_files, 10);
static DEFINE_SPINLOCK(dafsd_files_lock);

static unsigned long dafsd_now(void)
{
	return ktime_get_boottime_seconds();
}

static void dafsd_opens_forget(struct work_struct *work);
static DECLARE_DELAYED_WORK(dafsd_opens_forget_work, dafsd_opens_forget);

/* Removes the traces of opens revoked more than a lease period ago. */
static void dafsd_opens_forget(struct work_struct *work)
{
	unsigned long now = dafsd_now();
	unsigned long id;
	bool more = false;
	void *entry;

	xa_lock(&dafsd_opens);
	xa_for_each(&dafsd_opens, id, entry) {
		if (!xa_is_value(entry))
			continue;
		if (now - xa_to_value(entry) > dafsd_lease_seconds)
			__xa_erase(&dafsd_opens, id);
		else
			more = true;
	}
	xa_unlock(&dafsd_opens);
	if (more)
		queue_delayed_work(dafsd_wq, &dafsd_opens_forget_work,
				   dafsd_lease_seconds * HZ);
}

/**
 * dafsd_opens_init() - prepare the table of opens
 *
 * Context: module initialization.
 * Return: 0.
 */
int dafsd_opens_init(void)
{
	xa_init_flags(&dafsd_opens, XA_FLAGS_ALLOC1);
	return 0;
}

/**
 * dafsd_opens_exit() - undo dafsd_opens_init()
 *
 * Context: module exit; all clients were released.
 */
void dafsd_opens_exit(void)
{
	cancel_delayed_work_sync(&dafsd_opens_forget_work);
	xa_destroy(&dafsd_opens);
}

static struct dafsd_file *dafsd_file_lookup(const struct inode *inode)
{
	struct dafsd_file *file;

	lockdep_assert_held(&dafsd_files_lock);
	hash_for_each_possible(dafsd_files, file, node, (unsigned long)inode)
		if (file->inode == inode) {
			file->users++;
			return file;
		}
	return NULL;
}

/* The record of an inode if somebody has it open; a reference. */
static struct dafsd_file *dafsd_file_find(const struct inode *inode)
{
	struct dafsd_file *file;

	spin_lock(&dafsd_files_lock);
	file = dafsd_file_lookup(inode);
	spin_unlock(&dafsd_files_lock);
	return file;
}

static struct dafsd_file *dafsd_file_new(struct inode *inode)
{
	struct dafsd_file *file = kzalloc(sizeof(*file), GFP_KERNEL);

	if (!file)
		return NULL;
	file->users = 1;
	file->inode = inode;
	mutex_init(&file->lock);
	INIT_LIST_HEAD(&file->opens);
	return file;
}

/* The record of an inode, made if there is none; a reference, or NULL. */
static struct dafsd_file *dafsd_file_get(struct inode *inode)
{
	struct dafsd_file *file = dafsd_file_find(inode);
	struct dafsd_file *new;

	if (file)
		return file;
	new = dafsd_file_new(inode);
	if (!new)
		return NULL;
	spin_lock(&dafsd_files_lock);
	file = dafsd_file_lookup(inode);
	if (!file) {
		ihold(inode);
		hash_add(dafsd_files, &new->node, (unsigned long)inode);
	}
	spin_unlock(&dafsd_files_lock);
	if (!file)
		return new;
	kfree(new);
	return file;
}

static void dafsd_file_put(struct dafsd_file *file)
{
	bool last;

	spin_lock(&dafsd_files_lock);
	last = !--file->users;
	if (last)
		hash_del(&file->node);
	spin_unlock(&dafsd_files_lock);
	if (!last)
		return;
	iput(file->inode);
	kfree(file);
}

/**
 * dafsd_remove_begin() - may a name of a file go away? (6.5.33, E-92)
 * @inode: the file
 * @check_open: refuse if anybody has it open, otherwise only if somebody
 *	opened it with DELETE_DENY
 * @file: set, to be given to dafsd_remove_end() after the removal; until then
 *	nobody opens the file
 *
 * Context: may sleep; holds the lock of the directory.
 * Return: OK, DENYDISP_CONFLICT, or RESOURCE.
 */
u32 dafsd_remove_begin(struct inode *inode, bool check_open, struct dafsd_file **file)
{
	struct dafsd_open *open;

	*file = dafsd_file_get(inode);
	if (!*file)
		return DAFSERR_RESOURCE;
	mutex_lock(&(*file)->lock);
	list_for_each_entry(open, &(*file)->opens, file_link)
		if (check_open || open->deny_delete)
			goto conflict;
	return DAFS_STATUS_OK;

conflict:
	dafsd_remove_end(*file);
	return DAFSERR_DENYDISP_CONFLICT;
}

/**
 * dafsd_remove_end() - the name is gone, or not
 * @file: from dafsd_remove_begin()
 *
 * Context: may sleep.
 */
void dafsd_remove_end(struct dafsd_file *file)
{
	mutex_unlock(&file->lock);
	dafsd_file_put(file);
}

static int dafsd_access_mask(u32 access)
{
	return (access & DAFS_OPEN_SHARE_ACCESS_READ ? MAY_READ : 0) |
	       (access & DAFS_OPEN_SHARE_ACCESS_WRITE ? MAY_WRITE : 0);
}

static int dafsd_open_flags(u32 access)
{
	switch (access) {
	case DAFS_OPEN_SHARE_ACCESS_READ:
		return O_RDONLY | O_LARGEFILE;
	case DAFS_OPEN_SHARE_ACCESS_WRITE:
		return O_WRONLY | O_LARGEFILE;
	default:
		return O_RDWR | O_LARGEFILE;
	}
}

/*
 * A client that runs a program reads it, and cannot say that this is why: who
 * may execute a file may read it.
 */
static int dafsd_file_permission(struct inode *inode, u32 access, unsigned int flags)
{
	int mask = dafsd_access_mask(access);
	int err;

	if ((mask & MAY_WRITE) && (IS_IMMUTABLE(inode) || IS_APPEND(inode)))
		return -EPERM;
	if (flags & DAFSD_OPEN_CREATED)
		return 0;
	if ((flags & DAFSD_OPEN_OWNER) && uid_eq(inode->i_uid, current_fsuid()))
		return 0;
	err = inode_permission(&nop_mnt_idmap, inode, mask);
	if (err == -EACCES && mask == MAY_READ)
		err = inode_permission(&nop_mnt_idmap, inode, MAY_EXEC);
	return err;
}

/* Permission was checked.  Leases of local users are broken, not waited for. */
static struct file *dafsd_fh_open(const struct dafsd_fh *fh, u32 access)
{
	int flags = dafsd_open_flags(access);
	struct path path = dafsd_fh_path(fh);
	int err;

	err = break_lease(dafsd_fh_inode(fh), flags | O_NONBLOCK);
	if (err)
		return ERR_PTR(err);
	return dentry_open(&path, flags, current_cred());
}

/**
 * dafsd_open_done() - let go of a file that dafsd_open_find() returned
 * @filp: the file
 *
 * The last reference closes it at once: a later request must not find the
 * file still open for writing.
 *
 * Context: may sleep.
 */
void dafsd_open_done(struct file *filp)
{
	__fput_sync(filp);
}

static bool dafsd_open_is_by(const struct dafsd_open *open, const struct dafsd_client *client,
			     const struct dafs_str *owner, const struct dafs_fh *wire)
{
	return open->client == client && !READ_ONCE(open->dead) &&
	       open->owner_len == owner->len &&
	       !memcmp(open->owner, owner->data, owner->len) &&
	       !memcmp(&open->wire, wire, sizeof(*wire));
}

/* What the owner has open by this filehandle already (8.10 in 4.4.1.2) */
static struct dafsd_open *dafsd_open_own(const struct dafsd_file *file,
					 const struct dafsd_rqst *rq, const struct dafs_fh *wire)
{
	struct dafsd_open *open;

	list_for_each_entry(open, &file->opens, file_link)
		if (dafsd_open_is_by(open, rq->ses->client, &rq->args.open.owner, wire))
			return open;
	return NULL;
}

/* A share reservation keeps others away, not its owner. */
static u32 dafsd_open_check_share(const struct dafsd_file *file, const struct dafsd_open *own,
				  u32 access, u32 deny)
{
	struct dafsd_open *open;

	list_for_each_entry(open, &file->opens, file_link) {
		if (open == own)
			continue;
		if ((access & open->deny) || (deny & open->access))
			return DAFSERR_DENIED;
	}
	return DAFS_STATUS_OK;
}

/* E-73 */
static u32 dafsd_open_check_key(const struct dafsd_file *file, const struct dafs_open_args *args)
{
	if (args->share_key_type == DAFS_OPEN_SHARE_KEY_BOTH && file->nr_keys &&
	    file->share_key != args->share_key)
		return DAFSERR_KEY_MISMATCH;
	return DAFS_STATUS_OK;
}

static void dafsd_open_take(struct dafsd_open *open, const struct dafs_open_args *args)
{
	struct dafsd_file *file = open->file;

	WRITE_ONCE(open->access, open->access | args->share_access);
	open->deny |= args->share_deny;
	open->deny_delete |= args->delete_disp == DAFS_DELETE_DENY;
	if (args->share_key_type != DAFS_OPEN_SHARE_KEY_BOTH || open->holds_key)
		return;
	open->holds_key = true;
	file->share_key = args->share_key;
	file->nr_keys++;
}

static void dafsd_open_free(struct dafsd_open *open)
{
	struct file *filp = rcu_dereference_protected(open->filp, true);

	if (filp) {
		/* before the reference goes: I/O may be looking at it */
		RCU_INIT_POINTER(open->filp, NULL);
		dafsd_open_done(filp);
	}
	dafsd_export_put(open->exp);
	dafsd_file_put(open->file);
	kfree_rcu(open, rcu);
}

static void dafsd_open_unlink(struct dafsd_open *open)
{
	lockdep_assert_held(&open->file->lock);
	list_del(&open->file_link);
	if (open->holds_key)
		open->file->nr_keys--;
}

/* Takes a claimed open apart. */
static void dafsd_open_dismantle(struct dafsd_open *open)
{
	struct dafsd_file *file = open->file;

	mutex_lock(&file->lock);
	dafsd_open_unlink(open);
	mutex_unlock(&file->lock);
	dafsd_open_free(open);
}

/*
 * Makes an open dead, once; @trace stays behind in the table.  Then the caller
 * owns it.
 */
static bool dafsd_open_claim(struct dafsd_open *open, void *trace)
{
	struct dafsd_client *client = open->client;

	lockdep_assert_held(&dafsd_opens.xa_lock);
	if (open->dead)
		return false;
	WRITE_ONCE(open->dead, true);
	/* the entry is there, so this needs no memory */
	if (trace)
		__xa_store(&dafsd_opens, open->id, trace, GFP_NOWAIT);
	else
		__xa_erase(&dafsd_opens, open->id);
	spin_lock(&client->lock);
	list_del(&open->client_link);
	client->nr_opens--;
	spin_unlock(&client->lock);
	return true;
}

/* The last chance to notice that it should not be. */
static u32 dafsd_open_publish(struct dafsd_open *open)
{
	struct dafsd_client *client = open->client;
	u32 status = DAFS_STATUS_OK;

	xa_lock(&dafsd_opens);
	spin_lock(&client->lock);
	if (client->released)
		status = DAFSERR_STALE_CLIENTID;
	else if (!READ_ONCE(open->exp->enabled))
		status = DAFSERR_STALE;
	else if (client->nr_opens >= DAFSD_MAX_OPENS)
		status = DAFSERR_RESOURCE;
	if (!status) {
		open->dead = false;
		list_add_tail(&open->client_link, &client->opens);
		client->nr_opens++;
	}
	spin_unlock(&client->lock);
	/* the entry was reserved, so this needs no memory */
	if (status)
		__xa_erase(&dafsd_opens, open->id);
	else
		__xa_store(&dafsd_opens, open->id, open, GFP_NOWAIT);
	xa_unlock(&dafsd_opens);
	return status;
}

static struct dafsd_open *dafsd_open_alloc(struct dafsd_rqst *rq, const struct dafsd_fh *fh,
					   const struct dafs_fh *wire, struct dafsd_file *file)
{
	const struct dafs_str *owner = &rq->args.open.owner;
	struct dafsd_open *open;
	struct file *filp;

	open = kzalloc(struct_size(open, owner, owner->len), GFP_KERNEL);
	if (!open)
		return ERR_PTR(-ENOMEM);
	filp = dafsd_fh_open(fh, rq->args.open.share_access);
	if (IS_ERR(filp)) {
		kfree(open);
		return ERR_CAST(filp);
	}
	RCU_INIT_POINTER(open->filp, filp);
	open->dead = true;
	open->client = rq->ses->client;
	open->file = file;
	open->inode = file->inode;
	open->exp = fh->exp;
	kref_get(&fh->exp->ref);
	open->wire = *wire;
	open->owner_len = owner->len;
	memcpy(open->owner, owner->data, owner->len);
	return open;
}

static u32 dafsd_open_new(struct dafsd_rqst *rq, const struct dafsd_fh *fh,
			  const struct dafs_fh *wire, struct dafsd_file *file, u32 *id)
{
	struct dafsd_open *open;
	u32 status;

	open = dafsd_open_alloc(rq, fh, wire, file);
	if (IS_ERR(open))
		return dafs_errno_to_status(PTR_ERR(open));
	spin_lock(&dafsd_files_lock);
	file->users++;
	spin_unlock(&dafsd_files_lock);
	list_add_tail(&open->file_link, &file->opens);
	dafsd_open_take(open, &rq->args.open);
	status = DAFSERR_RESOURCE;
	if (xa_alloc_cyclic(&dafsd_opens, &open->id, NULL, XA_LIMIT(1, S32_MAX),
			    &dafsd_opens_next, GFP_KERNEL) < 0)
		goto unlink;
	/* once published it may go at any time */
	*id = open->id;
	status = dafsd_open_publish(open);
	if (status)
		goto unlink;
	return DAFS_STATUS_OK;

unlink:
	dafsd_open_unlink(open);
	dafsd_open_free(open);
	return status;
}

/*
 * I/O under way keeps the old file.  The new one must report the write-back
 * errors that the old one has not reported yet.
 */
static u32 dafsd_open_widen(struct dafsd_open *open, const struct dafsd_fh *fh, u32 access)
{
	struct file *old = rcu_dereference_protected(open->filp,
						     lockdep_is_held(&open->file->lock));
	struct file *filp;

	if ((open->access | access) == open->access)
		return DAFS_STATUS_OK;
	filp = dafsd_fh_open(fh, open->access | access);
	if (IS_ERR(filp))
		return dafs_errno_to_status(PTR_ERR(filp));
	filp->f_wb_err = READ_ONCE(old->f_wb_err);
	rcu_assign_pointer(open->filp, filp);
	dafsd_open_done(old);
	return DAFS_STATUS_OK;
}

static u32 dafsd_open_merge(struct dafsd_rqst *rq, const struct dafsd_fh *fh,
			    struct dafsd_open *open, u32 *id)
{
	u32 status = dafsd_open_widen(open, fh, rq->args.open.share_access);

	if (status)
		return status;
	dafsd_open_take(open, &rq->args.open);
	*id = open->id;
	return DAFS_STATUS_OK;
}

/* Before the open, which could not be taken back if this failed. */
static u32 dafsd_open_truncate(struct dafsd_rqst *rq, const struct dafsd_fh *fh)
{
	u32 status;
	u64 done;

	status = dafsd_fattr_set(fh->dentry, &rq->args.open.createattrs, DAFS_FATTR_OBJECT_SIZE,
				 &done);
	return status ?: dafs_errno_to_status(dafsd_commit_metadata(dafsd_fh_inode(fh)));
}

static u32 dafsd_open_add_locked(struct dafsd_rqst *rq, const struct dafsd_fh *fh,
				 const struct dafs_fh *wire, unsigned int flags,
				 struct dafsd_file *file, u32 *id)
{
	const struct dafs_open_args *args = &rq->args.open;
	struct dafsd_open *own = dafsd_open_own(file, rq, wire);
	u32 access = args->share_access;
	u32 status;
	int err;

	if (flags & DAFSD_OPEN_TRUNCATE)
		access |= DAFS_OPEN_SHARE_ACCESS_WRITE;
	err = dafsd_file_permission(file->inode, access, flags);
	if (err)
		return dafs_errno_to_status(err);
	status = dafsd_open_check_share(file, own, access, args->share_deny);
	if (!status)
		status = dafsd_open_check_key(file, args);
	if (!status && (flags & DAFSD_OPEN_TRUNCATE))
		status = dafsd_open_truncate(rq, fh);
	if (status)
		return status;
	return own ? dafsd_open_merge(rq, fh, own, id) : dafsd_open_new(rq, fh, wire, file, id);
}

static void dafsd_state_id(u32 id, struct dafs_opaque64 *state_id)
{
	memcpy(state_id->b, &dafsd_boot_instance, sizeof(u32));
	memcpy(state_id->b + sizeof(u32), &id, sizeof(u32));
}

/**
 * dafsd_open_add() - open a file, or add to what the owner has open (6.5.24)
 * @rq: OPEN; rq->args.open holds what is asked for, checked
 * @fh: a regular file
 * @wire: its filehandle
 * @flags: DAFSD_OPEN_*
 * @state_id: set
 *
 * Context: may sleep; acts for the caller.
 * Return: OK; DENIED (E-74) or KEY_MISMATCH for a reservation of others;
 * RESOURCE; STALE or STALE_CLIENTID if the export or the client is going away;
 * the status of the file system.
 */
u32 dafsd_open_add(struct dafsd_rqst *rq, const struct dafsd_fh *fh, const struct dafs_fh *wire,
		   unsigned int flags, struct dafs_opaque64 *state_id)
{
	struct dafsd_file *file = dafsd_file_get(dafsd_fh_inode(fh));
	u32 status;
	u32 id;

	if (!file)
		return DAFSERR_RESOURCE;
	mutex_lock(&file->lock);
	status = dafsd_open_add_locked(rq, fh, wire, flags, file, &id);
	mutex_unlock(&file->lock);
	dafsd_file_put(file);
	if (!status)
		dafsd_state_id(id, state_id);
	return status;
}

/* All zeros and all ones stand for no open (E-79). */
static bool dafsd_state_is_anonymous(const struct dafs_opaque64 *state_id)
{
	u64 v;

	memcpy(&v, state_id->b, sizeof(v));
	return !v || !~v;
}

static u32 dafsd_state_split(const struct dafs_opaque64 *state_id, u32 *id)
{
	u32 boot;

	memcpy(&boot, state_id->b, sizeof(u32));
	memcpy(id, state_id->b + sizeof(u32), sizeof(u32));
	return boot == dafsd_boot_instance ? DAFS_STATUS_OK : DAFSERR_STALE_STATEID;
}

/* Under RCU or the lock of the table: the open of this client with that id */
static struct dafsd_open *dafsd_open_load(const struct dafsd_rqst *rq, u32 id, u32 *status)
{
	struct dafsd_open *open = xa_load(&dafsd_opens, id);

	*status = DAFSERR_BAD_STATEID;
	if (xa_is_value(open)) {
		if (dafsd_now() - xa_to_value(open) <= dafsd_lease_seconds)
			*status = DAFSERR_EXPIRED;
		return NULL;
	}
	if (!open || open->client != rq->ses->client)
		return NULL;
	*status = DAFS_STATUS_OK;
	return open;
}

/*
 * CLOSE does not need the object: a filehandle that OPEN returned is known.
 * Only one that differs must be looked at.
 */
static u32 dafsd_open_check_close(struct dafsd_rqst *rq, const struct dafs_fh *wire, u32 id,
				  bool *same)
{
	struct dafsd_open *open;
	u32 status;

	rcu_read_lock();
	open = dafsd_open_load(rq, id, &status);
	*same = open && !memcmp(&open->wire, wire, sizeof(*wire));
	rcu_read_unlock();
	return status;
}

static u32 dafsd_open_claim_id(struct dafsd_rqst *rq, u32 id, const struct inode *inode,
			       struct dafsd_open **found)
{
	struct dafsd_open *open;
	u32 status;

	xa_lock(&dafsd_opens);
	open = dafsd_open_load(rq, id, &status);
	if (open && ((inode && open->inode != inode) || !dafsd_open_claim(open, NULL)))
		status = DAFSERR_BAD_STATEID;
	xa_unlock(&dafsd_opens);
	*found = status ? NULL : open;
	return status;
}

/**
 * dafsd_open_close() - close (6.5.7)
 * @rq: request
 * @wire: filehandle of the file
 * @state_id: from dafsd_open_add()
 *
 * Context: may sleep.
 * Return: OK, BAD_STATEID, STALE_STATEID, EXPIRED, or what dafsd_fh_get()
 * says of @wire.
 */
u32 dafsd_open_close(struct dafsd_rqst *rq, const struct dafs_fh *wire,
		     const struct dafs_opaque64 *state_id)
{
	struct dafsd_open *open;
	struct dafsd_fh fh = {};
	u32 status, id;
	bool same;

	if (dafsd_state_is_anonymous(state_id))
		return DAFSERR_BAD_STATEID;
	status = dafsd_state_split(state_id, &id);
	if (!status)
		status = dafsd_open_check_close(rq, wire, id, &same);
	if (!status && !same)
		status = dafsd_fh_get(rq, wire, &fh);
	if (!status && !same && dafsd_fh_is_root(&fh))
		status = DAFSERR_ISDIR;
	if (!status)
		status = dafsd_open_claim_id(rq, id, same ? NULL : dafsd_fh_inode(&fh), &open);
	if (!status)
		dafsd_open_dismantle(open);
	dafsd_fh_put(&fh);
	return status;
}

/* Without an open, others' reservations hold against everybody (E-80). */
static u32 dafsd_anonymous_check_share(const struct inode *inode, u32 access)
{
	struct dafsd_file *file = dafsd_file_find(inode);
	u32 status;

	if (!file)
		return DAFS_STATUS_OK;
	mutex_lock(&file->lock);
	status = dafsd_open_check_share(file, NULL, access, DAFS_OPEN_SHARE_DENY_NONE);
	mutex_unlock(&file->lock);
	dafsd_file_put(file);
	return status ? DAFSERR_LOCKED : DAFS_STATUS_OK;
}

static u32 dafsd_open_anonymous(const struct dafsd_fh *fh, u32 access, struct file **filp)
{
	struct inode *inode = dafsd_fh_inode(fh);
	u32 status;
	int err;

	err = dafsd_file_permission(inode, access, 0);
	if (err)
		return dafs_errno_to_status(err);
	status = dafsd_anonymous_check_share(inode, access);
	if (status)
		return status;
	*filp = dafsd_fh_open(fh, access);
	return IS_ERR(*filp) ? dafs_errno_to_status(PTR_ERR(*filp)) : DAFS_STATUS_OK;
}

static u32 dafsd_open_find_id(struct dafsd_rqst *rq, const struct dafsd_fh *fh, u32 id, u32 access,
			      struct file **filp)
{
	struct dafsd_open *open;
	u32 status;

	rcu_read_lock();
	open = dafsd_open_load(rq, id, &status);
	if (open && open->inode != dafsd_fh_inode(fh))
		status = DAFSERR_BAD_STATEID;
	if (!status && (READ_ONCE(open->access) & access) != access)
		status = DAFSERR_ACCES;
	if (!status) {
		*filp = get_file_rcu(&open->filp);
		/* closed at this moment */
		if (!*filp)
			status = DAFSERR_BAD_STATEID;
	}
	rcu_read_unlock();
	return status;
}

static u32 dafsd_open_check_regular(const struct dafsd_fh *fh)
{
	if (dafsd_fh_is_root(fh) || d_is_dir(fh->dentry))
		return DAFSERR_ISDIR;
	return d_is_reg(fh->dentry) ? DAFS_STATUS_OK : DAFSERR_INVAL;
}

/**
 * dafsd_open_find() - the file to read from or write to
 * @rq: request
 * @fh: the object, which need not be a regular file
 * @state_id: of an open, or a special one for I/O without (E-79)
 * @access: DAFS_OPEN_SHARE_ACCESS_* needed
 * @filp: set to a reference; end it by dafsd_open_done()
 *
 * Who opened the file keeps the right to use it as it was granted, like a
 * process its file descriptor; another user who comes with the same state-id
 * must have the right himself.
 *
 * Context: may sleep; acts for the caller.
 * Return: OK; ISDIR, INVAL; ROFS; STALE_STATEID of another instance of the
 * server; EXPIRED; BAD_STATEID if it is not an open of that file by this
 * client; ACCES; LOCKED by a share reservation.
 */
u32 dafsd_open_find(struct dafsd_rqst *rq, const struct dafsd_fh *fh,
		    const struct dafs_opaque64 *state_id, u32 access, struct file **filp)
{
	u32 status = dafsd_open_check_regular(fh);
	u32 id;
	int err;

	if (status)
		return status;
	if ((access & DAFS_OPEN_SHARE_ACCESS_WRITE) && fh->exp->read_only)
		return DAFSERR_ROFS;
	if (dafsd_state_is_anonymous(state_id))
		return dafsd_open_anonymous(fh, access, filp);
	status = dafsd_state_split(state_id, &id);
	if (!status)
		status = dafsd_open_find_id(rq, fh, id, access, filp);
	if (status || uid_eq((*filp)->f_cred->fsuid, current_fsuid()))
		return status;
	err = dafsd_file_permission(dafsd_fh_inode(fh), access, DAFSD_OPEN_OWNER);
	if (err)
		dafsd_open_done(*filp);
	return dafs_errno_to_status(err);
}

static struct file *dafsd_file_borrow(struct dafsd_file *file)
{
	struct dafsd_open *open;
	struct file *filp = NULL;

	mutex_lock(&file->lock);
	list_for_each_entry(open, &file->opens, file_link) {
		if (!(open->access & DAFS_OPEN_SHARE_ACCESS_WRITE))
			continue;
		filp = rcu_dereference_protected(open->filp, lockdep_is_held(&file->lock));
		get_file(filp);
		break;
	}
	mutex_unlock(&file->lock);
	return filp;
}

/**
 * dafsd_open_any() - a file to commit through (E-102)
 * @rq: request
 * @fh: the object, which need not be a regular file
 * @filp: set to a reference; end it by dafsd_open_done()
 *
 * An open that was there when the data was written has seen all errors of
 * writing it back since; a file opened now might not.
 *
 * Context: may sleep; acts for the caller.
 * Return: as dafsd_open_find() for writing without a state-id, but share
 * reservations do not matter.
 */
u32 dafsd_open_any(struct dafsd_rqst *rq, const struct dafsd_fh *fh, struct file **filp)
{
	u32 status = dafsd_open_check_regular(fh);
	struct dafsd_file *file;
	int err;

	if (status)
		return status;
	if (fh->exp->read_only)
		return DAFSERR_ROFS;
	err = dafsd_file_permission(dafsd_fh_inode(fh), DAFS_OPEN_SHARE_ACCESS_WRITE,
				    DAFSD_OPEN_OWNER);
	if (err)
		return dafs_errno_to_status(err);
	*filp = NULL;
	file = dafsd_file_find(dafsd_fh_inode(fh));
	if (file) {
		*filp = dafsd_file_borrow(file);
		dafsd_file_put(file);
	}
	if (!*filp)
		*filp = dafsd_fh_open(fh, DAFS_OPEN_SHARE_ACCESS_WRITE);
	return IS_ERR(*filp) ? dafs_errno_to_status(PTR_ERR(*filp)) : DAFS_STATUS_OK;
}

static struct dafsd_open *dafsd_claim_of_client(struct dafsd_client *client)
{
	struct dafsd_open *open;

	xa_lock(&dafsd_opens);
	spin_lock(&client->lock);
	client->released = true;
	open = list_first_entry_or_null(&client->opens, struct dafsd_open, client_link);
	spin_unlock(&client->lock);
	if (open)
		dafsd_open_claim(open, xa_mk_value(dafsd_now()));
	xa_unlock(&dafsd_opens);
	return open;
}

static void dafsd_opens_forget_later(void)
{
	queue_delayed_work(dafsd_wq, &dafsd_opens_forget_work, dafsd_lease_seconds * HZ);
}

/**
 * dafsd_opens_release_client() - close all that a client has open, for good
 * @client: its lease expired or a new instance took its place; it opens nothing
 *	any more
 *
 * Context: may sleep.
 */
void dafsd_opens_release_client(struct dafsd_client *client)
{
	struct dafsd_open *open;
	bool any = false;

	while ((open = dafsd_claim_of_client(client))) {
		dafsd_open_dismantle(open);
		any = true;
	}
	if (any)
		dafsd_opens_forget_later();
}

static struct dafsd_open *dafsd_claim_of_export(const struct dafsd_export *exp,
						unsigned long *id)
{
	struct dafsd_open *open;

	xa_lock(&dafsd_opens);
	xa_for_each_start(&dafsd_opens, *id, open, *id) {
		if (xa_is_value(open) || open->exp != exp)
			continue;
		if (dafsd_open_claim(open, xa_mk_value(dafsd_now())))
			break;
	}
	xa_unlock(&dafsd_opens);
	return open;
}

/**
 * dafsd_opens_release_export() - close everything in an export
 * @exp: no longer enabled
 *
 * Context: may sleep.
 */
void dafsd_opens_release_export(struct dafsd_export *exp)
{
	struct dafsd_open *open;
	unsigned long id = 0;
	bool any = false;

	while ((open = dafsd_claim_of_export(exp, &id))) {
		dafsd_open_dismantle(open);
		any = true;
	}
	if (any)
		dafsd_opens_forget_later();
}
