// SPDX-License-Identifier: GPL-2.0
/*
 * OPEN: makes an open, or extends the one that the owner has (4.4.1.2, 6.5.24).
 *
 * A struct dafsd_open is the open of a file by one owner of one client with one
 * filehandle.  It is a kind of state, whose lookup and lifetime are in state.c.  What it
 * denies to others is in share.c, its open file in filp.c, I/O by it in use.c.
 *
 * Order of locks: dafsd_file.gate; write access to the file system; lock of a
 * directory, dafsd_file.lock, lock of the file's inode; lock of the table of states,
 * dafsd_client.lock.  dafsd_locker.lock is taken without any of these.
 */
#include <linux/filelock.h>
#include <linux/slab.h>
#include <linux/dafs/status.h>
#include "../session/server.h"
#include "../session/peer.h"
#include "../session/client.h"
#include "../session/conn.h"
#include "../session/courtesy.h"
#include "../session/session.h"
#include "../session/trace.h"
#include "../export/export.h"
#include "../request/request.h"
#include "../vfs/fh.h"
#include "../vfs/vfs.h"
#include "deleg.h"
#include "intent.h"
#include "lock.h"
#include "open_impl.h"
#include "persist.h"

/**
 * struct dafsd_adding - an OPEN of a file that is in progress
 * @rq: the request
 * @fh: the file
 * @wire: its filehandle
 * @flags: DAFSD_OPEN_*
 * @file: the record of the file; a reference
 * @hold: the bytes and attributes of the file, while it is emptied
 * @opening: the open file
 * @made: a new open was published, the owner had none
 * @failed: a new open that was retracted, to be freed without the lock of @file; or NULL
 * @state_id: set
 */
struct dafsd_adding {
	struct dafsd_rqst *rq;
	struct dafsd_fh *fh;
	const struct dafs_fh *wire;
	unsigned int flags;
	struct dafsd_file *file;
	struct dafsd_hold hold;
	struct dafsd_opening opening;
	bool made;
	struct dafsd_open *failed;
	struct dafs_state_id *state_id;
};

static struct dafsd_open *dafsd_open_of(struct dafsd_state *st)
{
	return container_of(st, struct dafsd_open, state);
}

static void dafsd_open_published(const struct dafsd_state *st)
{
	trace_dafsd_opened(st->id, st->client, st->file->inode->i_ino);
}

static bool dafsd_open_count(struct dafsd_client *client)
{
	bool room;

	spin_lock(&client->lock);
	room = client->nr_opens < READ_ONCE(dafsd_max_opens);
	if (room)
		client->nr_opens++;
	spin_unlock(&client->lock);
	return room;
}

static void dafsd_open_uncount(struct dafsd_client *client)
{
	spin_lock(&client->lock);
	client->nr_opens--;
	spin_unlock(&client->lock);
}

static void dafsd_open_claimed(const struct dafsd_state *st)
{
	dafsd_open_uncount(st->client);
	trace_dafsd_closed(st->id, st->client, st->file->inode->i_ino);
}

static void dafsd_open_revoked(struct dafsd_state *st)
{
	dafsd_lock_revoked(dafsd_open_of(st));
}

static void dafsd_open_ended(struct dafsd_state *st)
{
	dafsd_lock_drop(dafsd_open_of(st));
}

static void dafsd_open_detach(struct dafsd_state *st)
{
	dafsd_share_drop(dafsd_open_of(st));
}

static void dafsd_open_release(struct dafsd_state *st)
{
	struct dafsd_open *open = dafsd_open_of(st);
	struct file *filp = rcu_dereference_protected(open->filp, true);

	dafsd_lock_leave(open);
	if (filp)
		dafsd_open_done(filp);
}

/* Without the lock of the file, which may be held while a file system is slow. */
static void dafsd_open_view(struct dafsd_state *st, struct dafsd_state_view *view)
{
	struct dafsd_open *open = dafsd_open_of(st);

	view->open = open;
	view->access = READ_ONCE(open->access);
	view->deny = READ_ONCE(open->deny);
	view->deny_delete = READ_ONCE(open->deny_delete);
	view->owner = (struct dafs_str){ .len = open->owner_len, .data = open->owner };
}

static const struct dafsd_state_type dafsd_open_type = {
	.published = dafsd_open_published,
	.claimed = dafsd_open_claimed,
	.revoked = dafsd_open_revoked,
	.ended = dafsd_open_ended,
	.detach = dafsd_open_detach,
	.release = dafsd_open_release,
	.view = dafsd_open_view,
	.withdraw = dafsd_state_revoke,
};

/**
 * dafsd_state_open() - is some state an open?
 * @st: the state
 *
 * Context: any.
 * Return: the open, or NULL.
 */
struct dafsd_open *dafsd_state_open(struct dafsd_state *st)
{
	return st->type == &dafsd_open_type ? dafsd_open_of(st) : NULL;
}

/**
 * dafsd_open_load() - the open of a state-id
 * @rq: the request of its client
 * @state_id: from the request
 * @status: set as by dafsd_state_find()
 *
 * Context: RCU read side.
 * Return: the open, or NULL.
 */
struct dafsd_open *dafsd_open_load(struct dafsd_rqst *rq, const struct dafs_state_id *state_id,
				   dafs_status_t *status)
{
	struct dafsd_state *st;

	st = dafsd_state_find(rq->ses->client, state_id, &dafsd_open_type, status);
	return st ? dafsd_open_of(st) : NULL;
}

/**
 * dafsd_open_remove() - end the open of a state-id
 * @rq: the request of its client
 * @state_id: from the request
 * @inode: the file that must be the open's, or NULL
 *
 * Context: may sleep.
 * Return: OK, BAD_STATEID, STALE_STATEID or EXPIRED.
 */
dafs_status_t dafsd_open_remove(struct dafsd_rqst *rq, const struct dafs_state_id *state_id,
				const struct inode *inode)
{
	struct dafsd_state *st;
	dafs_status_t status;

	status = dafsd_state_claim(rq->ses->client, state_id, &dafsd_open_type, inode, &st);
	if (!status)
		dafsd_state_dismantle(st);
	return status;
}

static struct dafsd_open *dafsd_open_alloc(const struct dafs_str *owner)
{
	struct dafsd_open *open = kzalloc(struct_size(open, owner, owner->len), GFP_KERNEL);

	if (!open)
		return NULL;
	open->owner_len = owner->len;
	memcpy(open->owner, owner->data, owner->len);
	return open;
}

/*
 * Approximate memory of an open: the open itself, the open file, its inode and name, and the
 * owner of its locks
 */
static size_t dafsd_open_size(const struct dafsd_open *open)
{
	return struct_size(open, owner, open->owner_len) + open->owner_len + SZ_2K;
}

/**
 * dafsd_open_reserve() - allocate an open for a request
 * @rq: OPEN; rq->open is set
 *
 * This is done before a file is created or truncated for the open, so that the open cannot
 * fail for lack of resources after that.  dafsd_open_unreserve() frees an unused open.
 *
 * Context: may sleep.
 * Return: OK; RESOURCE; or DELAY if there may be room soon.
 */
dafs_status_t dafsd_open_reserve(struct dafsd_rqst *rq)
{
	struct dafsd_client *client = rq->ses->client;
	dafs_status_t status = DAFSERR_RESOURCE;
	struct dafsd_open *open;

	if (rq->open)
		return DAFS_STATUS_OK;
	open = dafsd_open_alloc(&rq->args.open.owner);
	if (!open)
		return DAFSERR_RESOURCE;
	if (!dafsd_open_count(client))
		goto refuse;
	if (dafsd_state_reserve(&open->state, &dafsd_open_type, client, dafsd_open_size(open)))
		goto uncount;
	rq->open = open;
	return DAFS_STATUS_OK;

uncount:
	dafsd_open_uncount(client);
	status = dafsd_state_make_room(client, dafsd_open_size(open));
refuse:
	kfree(open);
	if (status == DAFSERR_RESOURCE)
		pr_warn_ratelimited("dafsd: no room for an open of %pI6c, see max_opens and max_state\n",
				    &client->peer->addr);
	return status;
}

/**
 * dafsd_open_unreserve() - free the open of dafsd_open_reserve() if it was not used
 * @rq: OPEN
 *
 * Context: may sleep.
 */
void dafsd_open_unreserve(struct dafsd_rqst *rq)
{
	if (!rq->open)
		return;
	dafsd_open_uncount(rq->ses->client);
	dafsd_state_cancel(&rq->open->state);
	rq->open = NULL;
}

/*
 * Leases of local programs on the file are broken first.  This is the last step of an
 * open: if the open failed later, an empty file would be left behind.
 */
static dafs_status_t dafsd_open_truncate(struct dafsd_adding *add)
{
	dafs_status_t status;
	u64 done;

	if (!(add->flags & DAFSD_OPEN_TRUNCATE))
		return DAFS_STATUS_OK;
	/* write access is held, and those who wait for that may have the lock */
	if (!down_read_trylock(&add->file->append))
		return DAFSERR_DELAY;
	status = dafsd_persist_truncate(add->file);
	status = status ?: dafs_errno_to_status(break_lease(add->file->inode,
							    O_WRONLY | O_NONBLOCK));
	if (!status)
		status = dafsd_fattr_set(add->fh->dentry, &add->rq->args.open.createattrs,
					 DAFS_FATTR_OBJECT_SIZE, &done);
	up_read(&add->file->append);
	return status;
}

static void dafsd_open_fill(struct dafsd_adding *add, struct dafsd_open *open)
{
	RCU_INIT_POINTER(open->filp, add->opening.filp);
	add->opening.filp = NULL;
	open->wire = *add->wire;
	open->origin = dafsd_chan_origin(add->rq->base.chan);
	dafsd_state_attach(&open->state, add->file, add->fh->exp);
	list_add_tail(&open->file_link, &add->file->opens);
	dafsd_share_take(open, &add->rq->args.open);
}

static dafs_status_t dafsd_open_new(struct dafsd_adding *add)
{
	u32 access = add->rq->args.open.share_access;
	dafs_status_t status = dafsd_open_reserve(add->rq);
	struct dafsd_open *open = add->rq->open;

	if (status || !dafsd_opening_fits(&add->opening, access, current_cred()))
		return status;
	dafsd_open_fill(add, open);
	status = dafsd_state_publish(&open->state, add->state_id);
	if (status) {
		dafsd_share_drop(open);
		return status;
	}
	add->rq->open = NULL;
	add->made = true;
	status = dafsd_open_truncate(add);
	/* a task that has claimed it in the meantime dismantles it */
	if (status && dafsd_state_retract(&open->state))
		add->failed = open;
	return status;
}

static dafs_status_t dafsd_open_merge(struct dafsd_adding *add, struct dafsd_open *open)
{
	u32 access = open->access | add->rq->args.open.share_access;
	bool replace = access != open->access;
	dafs_status_t status = dafsd_client_may_get(open->state.client);

	add->opening.wanted = 0;
	if (status)
		return status;
	if (replace && !dafsd_opening_fits(&add->opening, access, current_cred()))
		return DAFS_STATUS_OK;
	status = dafsd_open_truncate(add);
	if (status)
		return status;
	if (replace)
		dafsd_open_replace(open, &add->opening);
	dafsd_share_take(open, &add->rq->args.open);
	dafsd_state_id(&open->state, add->state_id);
	return DAFS_STATUS_OK;
}

static bool dafsd_open_is_by(const struct dafsd_open *open, const struct dafsd_client *client,
			     const struct dafs_str *owner, const struct dafs_fh *wire)
{
	return open->state.client == client && !READ_ONCE(open->state.dead) &&
	       open->owner_len == owner->len &&
	       !memcmp(open->owner, owner->data, owner->len) &&
	       !memcmp(&open->wire, wire, sizeof(*wire));
}

/* The existing open of the owner with this filehandle (8.10 of 4.4.1.2), or NULL */
static struct dafsd_open *dafsd_open_own(const struct dafsd_adding *add)
{
	struct dafsd_rqst *rq = add->rq;
	struct dafsd_open *open;

	list_for_each_entry(open, &add->file->opens, file_link)
		if (dafsd_open_is_by(open, rq->ses->client, &rq->args.open.owner, add->wire))
			return open;
	return NULL;
}

static dafs_status_t dafsd_open_check(const struct dafsd_adding *add, const struct dafsd_open *own)
{
	const struct dafs_open_args *args = &add->rq->args.open;
	u32 access = args->share_access;
	dafs_status_t status;
	int err;

	/* removed between the lookup of the name and taking the lock */
	if ((add->flags & DAFSD_OPEN_BY_NAME) && d_unlinked(add->fh->dentry))
		return DAFSERR_DELAY;
	if (add->flags & DAFSD_OPEN_TRUNCATE)
		access |= DAFS_OPEN_SHARE_ACCESS_WRITE;
	err = dafsd_file_permission(add->file->inode, access, add->flags);
	if (err)
		return dafs_errno_to_status(err);
	status = dafsd_share_check_open(add->file, own, access, args);
	if (!status)
		status = dafsd_deleg_check_open(add->file, access, args->share_deny);
	return dafsd_deleg_conflict(add->file, status);
}

static dafs_status_t dafsd_open_add_locked(struct dafsd_adding *add)
{
	struct dafsd_open *own = dafsd_open_own(add);
	dafs_status_t status = dafsd_open_check(add, own);

	if (status)
		return status;
	return own ? dafsd_open_merge(add, own) : dafsd_open_new(add);
}

/*
 * Before a reservation is granted, wait for I/O without an open; and before the file is emptied,
 * for changes whose outcome is not durable yet, in this order, as all I/O does.  That may wait
 * for a file system that is being frozen, and freezing waits until write access is dropped.  So
 * drop write access before waiting.  It is only taken again to empty the file, which has
 * not been changed so far: if that fails because the export or the mount has become
 * read-only, nothing is left of the OPEN.
 */
static dafs_status_t dafsd_open_exclude(struct dafsd_adding *add)
{
	dafsd_fh_drop_write(add->fh);
	if (add->rq->args.open.share_deny)
		down_write(&add->file->gate);
	if (!(add->flags & DAFSD_OPEN_TRUNCATE))
		return DAFS_STATUS_OK;
	dafsd_intent_hold_all(add->file->inode, &add->hold);
	return dafsd_fh_want_write(add->fh);
}

static void dafsd_open_include(struct dafsd_adding *add)
{
	dafsd_hold_end(&add->hold);
	if (add->rq->args.open.share_deny)
		up_write(&add->file->gate);
}

static dafs_status_t dafsd_open_add_once(struct dafsd_adding *add)
{
	bool excludes = add->rq->args.open.share_deny || (add->flags & DAFSD_OPEN_TRUNCATE);
	dafs_status_t status = dafsd_opening_open(&add->opening, add->fh);

	if (status)
		return status;
	if (excludes)
		status = dafsd_open_exclude(add);
	if (!status) {
		mutex_lock(&add->file->lock);
		status = dafsd_open_add_locked(add);
		mutex_unlock(&add->file->lock);
	}
	if (excludes)
		dafsd_open_include(add);
	return status;
}

static void dafsd_open_add_end(struct dafsd_adding *add)
{
	if (add->failed)
		dafsd_state_dismantle(&add->failed->state);
	dafsd_opening_end(&add->opening);
	dafsd_file_put(add->file);
}

/* If this fails, the client gets no state-id, so a new open is removed again. */
static dafs_status_t dafsd_open_commit(struct dafsd_adding *add)
{
	int err = dafsd_commit_metadata(add->fh->exp, add->fh->dentry);

	if (err && add->made)
		dafsd_open_remove(add->rq, add->state_id, dafsd_fh_inode(add->fh));
	return dafs_errno_to_status(err);
}

/**
 * dafsd_open_add() - open a file, or extend the existing open of the owner (6.5.24)
 * @rq: OPEN; rq->args.open has been checked
 * @fh: a regular file
 * @wire: its filehandle
 * @flags: DAFSD_OPEN_*
 * @state_id: set
 *
 * A reservation is granted after all I/O without an open has ended.  The access mode of
 * the file is determined with the lock of its record held, but the file is opened without
 * it.  So a second pass may be needed; it finds the right file, unless the owner has
 * changed the open in the meantime.  A file that was just created usually needs only one.
 *
 * Context: may sleep; acts for the caller.
 * Return: OK; DENIED (E-74) or KEY_MISMATCH for a reservation of others;
 * RESOURCE; DELAY if the name has just been removed, or what is in the way just ends; STALE or
 * STALE_CLIENTID if the export or the client has ended; the status of the file system.
 */
dafs_status_t dafsd_open_add(struct dafsd_rqst *rq, struct dafsd_fh *fh, const struct dafs_fh *wire,
			     unsigned int flags, struct dafs_state_id *state_id)
{
	struct dafsd_adding add = {
		.rq = rq,
		.fh = fh,
		.wire = wire,
		.flags = flags,
		.file = dafsd_file_get(dafsd_fh_inode(fh)),
		.state_id = state_id,
	};
	dafs_status_t status;

	if (!add.file)
		return DAFSERR_RESOURCE;
	/* while there is write access: if it failed later, the new file would be left behind */
	if (flags & DAFSD_OPEN_CREATED)
		dafsd_opening_want(&add.opening, rq->args.open.share_access, current_cred());
	do {
		status = dafsd_open_add_once(&add);
	} while (!status && add.opening.wanted);
	dafsd_open_add_end(&add);
	if (!status && (flags & DAFSD_OPEN_TRUNCATE))
		status = dafsd_open_commit(&add);
	return status;
}
