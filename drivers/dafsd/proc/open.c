// SPDX-License-Identifier: GPL-2.0
/*
 * OPEN, OPEN_DOWNGRADE and CLOSE (6.5.7, 6.5.24, 6.5.26), and the procedures on
 * delegations (6.5.10, 6.5.11, E-90).
 */
#include <linux/file.h>
#include <linux/namei.h>
#include <linux/dafs/status.h>
#include "../session/server.h"
#include "../session/client.h"
#include "../session/session.h"
#include "../export/export.h"
#include "../export/handle.h"
#include "../request/request.h"
#include "../vfs/fh.h"
#include "../vfs/vfs.h"
#include "../state/deleg.h"
#include "../state/intent.h"
#include "../state/open.h"
#include "proc.h"

#define DAFSD_MAX_OWNER		1024	/* E-82 */

/* Mode of a new file, unless the client sets another one (E-30) */
#define DAFSD_DEFAULT_MODE	0600

/**
 * dafsd_open_check_owner() - is this a valid owner of opens and locks? (E-82)
 * @owner: from a request
 *
 * Context: any.
 * Return: OK or INVAL.
 */
dafs_status_t dafsd_open_check_owner(const struct dafs_str *owner)
{
	return owner->len && owner->len <= DAFSD_MAX_OWNER ? DAFS_STATUS_OK : DAFSERR_INVAL;
}

static dafs_status_t dafsd_open_check_share_args(const struct dafs_open_args *args)
{
	if (args->share_access < DAFS_OPEN_SHARE_ACCESS_READ ||
	    args->share_access > DAFS_OPEN_SHARE_ACCESS_BOTH ||
	    args->share_deny > DAFS_OPEN_SHARE_DENY_BOTH)
		return DAFSERR_INVAL;
	if (args->share_key_type != DAFS_OPEN_SHARE_KEY_NONE &&
	    args->share_key_type != DAFS_OPEN_SHARE_KEY_BOTH)
		return DAFSERR_INVAL;
	if (args->delete_disp > DAFS_DELETE_DENY)
		return DAFSERR_INVAL;
	return dafsd_open_check_owner(&args->owner);
}

static dafs_status_t dafsd_open_check_create_args(const struct dafs_open_args *args)
{
	switch (args->createmode) {
	case DAFS_CREATE_UNCHECKED:
	case DAFS_CREATE_GUARDED:
		return dafsd_fattr_check(&args->createattrs, DAFSD_FATTR_SETTABLE);
	case DAFS_CREATE_EXCLUSIVE:
		return DAFS_STATUS_OK;
	default:
		return DAFSERR_INVAL;
	}
}

/* E-75: only CLAIM_NULL and CLAIM_CREATE_UNLINKED create, the latter only UNCHECKED. */
static dafs_status_t dafsd_open_check_args(const struct dafs_open_args *args)
{
	bool unlinked = args->claim_type == DAFS_CLAIM_CREATE_UNLINKED;
	dafs_status_t status = dafsd_open_check_share_args(args);

	if (!status && unlinked && (args->open_type != DAFS_OPEN_CREATE ||
				    args->createmode != DAFS_CREATE_UNCHECKED))
		return DAFSERR_INVAL;
	if (status || args->open_type == DAFS_OPEN_NOCREATE)
		return status;
	if (args->open_type != DAFS_OPEN_CREATE)
		return DAFSERR_INVAL;
	switch (args->claim_type) {
	case DAFS_CLAIM_PREVIOUS:
	case DAFS_CLAIM_DELEGATE_CUR:
	case DAFS_CLAIM_DELEGATE_PREV:
		return DAFSERR_INVAL;
	default:
		return dafsd_open_check_create_args(args);
	}
}

/* Only a regular file can be opened. */
static dafs_status_t dafsd_open_check_type(const struct dentry *dentry)
{
	if (d_is_reg(dentry))
		return DAFS_STATUS_OK;
	if (d_is_symlink(dentry))
		return DAFSERR_SYMLINK;
	return d_is_dir(dentry) ? DAFSERR_ISDIR : DAFSERR_INVAL;
}

/* Open the file and fill in its filehandle, state-id and delegation type */
static dafs_status_t dafsd_open_file(struct dafsd_rqst *rq, struct dafsd_fh *fh, unsigned int flags)
{
	struct dafs_open_res *res = &rq->res.open;
	dafs_status_t status;

	/* a file that was just created must not stay behind an OPEN that has failed */
	if ((rq->args.open.share_access & DAFS_OPEN_SHARE_ACCESS_WRITE) &&
	    !(flags & DAFSD_OPEN_CREATED) && READ_ONCE(fh->exp->read_only))
		return DAFSERR_ROFS;
	status = dafsd_fh_compose(fh->exp, fh->dentry, &res->filehandle);
	if (status)
		return status;
	res->delegation_type = DAFS_OPEN_DELEGATE_NONE;
	status = dafsd_open_add(rq, fh, &res->filehandle, flags, &res->state_id);
	if (!status)
		dafsd_deleg_offer(rq, fh, flags);
	return status;
}

/* An UNCHECKED create of a file that exists empties it, if asked for size 0. */
static bool dafsd_open_truncates(const struct dafs_open_args *args)
{
	const struct dafs_fattr *attr = &args->createattrs;

	return args->open_type == DAFS_OPEN_CREATE &&
	       args->createmode == DAFS_CREATE_UNCHECKED &&
	       (attr->included & attr->valid & DAFS_FATTR_OBJECT_SIZE) && !attr->object_size;
}

/* A client that has opened a file by its delegation alone tells the server (6.5.24). */
static dafs_status_t dafsd_open_check_claim(struct dafsd_rqst *rq, const struct dafsd_fh *fh)
{
	const struct dafs_open_args *args = &rq->args.open;

	if (args->claim_type != DAFS_CLAIM_DELEGATE_CUR)
		return DAFS_STATUS_OK;
	return dafsd_deleg_check(rq, &args->claimdelcur_stateid, dafsd_fh_inode(fh));
}

static dafs_status_t dafsd_open_existing(struct dafsd_rqst *rq, struct dafsd_fh *fh)
{
	bool truncate = dafsd_open_truncates(&rq->args.open);
	dafs_status_t status = dafsd_open_check_type(fh->dentry) ?: dafsd_open_check_claim(rq, fh);

	if (!status && truncate)
		status = dafsd_fh_want_write(fh);
	if (status)
		return status;
	return dafsd_open_file(rq, fh, DAFSD_OPEN_BY_NAME |
				       (truncate ? DAFSD_OPEN_TRUNCATE : 0));
}

/* The name of a create exists already: may the existing file be opened? */
static dafs_status_t dafsd_open_found(struct dafsd_rqst *rq, struct dafsd_fh *fh)
{
	struct dafs_open_args *args = &rq->args.open;

	switch (args->createmode) {
	case DAFS_CREATE_UNCHECKED:
		return dafsd_open_existing(rq, fh);
	case DAFS_CREATE_EXCLUSIVE:
		if (dafsd_create_verifier_matches(dafsd_fh_inode(fh), &args->create_verifier))
			return dafsd_open_existing(rq, fh);
		fallthrough;
	default:
		return DAFSERR_EXIST;
	}
}

/*
 * Make @fh an entry of a directory.  Takes over @dentry and the write access of @dir:
 * taking write access a second time would deadlock while the file system is being frozen.
 */
static void dafsd_fh_in(struct dafsd_fh *dir, struct dentry *dentry, struct dafsd_fh *fh)
{
	kref_get(&dir->exp->ref);
	*fh = (struct dafsd_fh){
		.exp = dir->exp,
		.dentry = dentry,
		.wants_write = dir->wants_write,
	};
	dir->wants_write = false;
}

static void dafsd_open_describe_new(const struct dafs_open_args *args, struct dafsd_new *new)
{
	const struct dafs_fattr *attr = &args->createattrs;

	*new = (struct dafsd_new){ .type = DAFS_TYPE_REG, .mode = DAFSD_DEFAULT_MODE };
	if (args->createmode == DAFS_CREATE_EXCLUSIVE) {
		new->exclusive = true;
		new->verifier = args->create_verifier;
		return;
	}
	new->attr = attr;
	if (attr->included & attr->valid & DAFS_FATTR_MODE)
		new->mode = attr->mode;
}

static dafs_status_t dafsd_open_create(struct dafsd_rqst *rq, struct dafsd_fh *dir,
				       const struct dafs_str *name)
{
	struct dafs_change_info *info = &rq->res.open.change_info;
	struct dafsd_intent intent = { .rq = rq, .dir = dir, .name = name };
	struct dentry *dentry;
	struct dafsd_new new;
	struct dafsd_fh fh;
	dafs_status_t status;

	if (dafsd_name_is_dots(name))
		return DAFSERR_INVAL;
	if (dafsd_fh_is_pseudo(dir))
		return DAFSERR_ROFS;
	dafsd_open_describe_new(&rq->args.open, &new);
	new.refused = dafsd_open_reserve(rq);
	status = dafsd_intent_begin(&intent);
	if (status)
		return status;
	status = dafsd_create(dir, name, &new, info, &dentry);
	dafsd_intent_end(&intent, status);
	if (!dentry)
		return status;
	dafsd_fh_in(dir, dentry, &fh);
	if (status == DAFSERR_EXIST)
		status = dafsd_open_found(rq, &fh);
	else
		status = dafsd_open_file(rq, &fh, DAFSD_OPEN_CREATED);
	dafsd_fh_put(&fh);
	return status;
}

static dafs_status_t dafsd_open_lookup(struct dafsd_rqst *rq, struct dafsd_fh *dir,
				       const struct dafs_str *name)
{
	struct dentry *dentry;
	struct dafsd_fh fh;
	dafs_status_t status;

	if (dafsd_name_is_dots(name))
		return DAFSERR_NOENT;
	dafsd_change_none(dir, &rq->res.open.change_info);
	dentry = lookup_one_positive_unlocked(&nop_mnt_idmap, (const char *)name->data,
					      dir->dentry, name->len);
	if (IS_ERR(dentry))
		return dafs_errno_to_status(PTR_ERR(dentry));
	dafsd_fh_in(dir, dentry, &fh);
	status = dafsd_open_existing(rq, &fh);
	dafsd_fh_put(&fh);
	return status;
}

/* Pseudo directories contain directories only. */
static dafs_status_t dafsd_open_in_pseudo_dir(const struct dafsd_fh *dir,
					      const struct dafs_str *name)
{
	struct dafsd_fh fh = *dir;
	dafs_status_t status;

	if (fh.below)
		kref_get(&fh.below->ref);
	status = dafsd_pseudo_lookup(NULL, &fh, name) ?: DAFSERR_ISDIR;
	dafsd_fh_put(&fh);
	return status;
}

static dafs_status_t dafsd_open_last(struct dafsd_rqst *rq, struct dafsd_walk *walk)
{
	bool create = rq->args.open.open_type == DAFS_OPEN_CREATE;
	struct dafsd_fh *dir = &walk->fh;
	struct dafs_str name;
	dafs_status_t status;

	if (!dafs_path_next(&rq->base.in, &walk->iter, &name))
		return DAFSERR_INVAL;
	if (!dafsd_fh_is_pseudo(dir) && !d_is_dir(dir->dentry))
		return DAFSERR_NOTDIR;
	status = dafsd_name_check(dir->exp, &name);
	if (status)
		return status;
	if (dafsd_fh_is_pseudo(dir)) {
		status = dafsd_open_in_pseudo_dir(dir, &name);
		return create && status == DAFSERR_NOENT ? DAFSERR_ROFS : status;
	}
	return create ? dafsd_open_create(rq, dir, &name) : dafsd_open_lookup(rq, dir, &name);
}

/* After an error the result only says how far the path was resolved */
static dafs_status_t dafsd_open_failed(struct dafsd_rqst *rq, const struct dafsd_walk *walk,
				       dafs_status_t status)
{
	struct dafs_open_res *res = &rq->res.open;
	struct dafs_lookup_res came;

	status = dafsd_walk_result(rq, walk, status, &came);
	*res = (struct dafs_open_res) {
		.filehandle = came.filehandle,
		.component_count = came.component_count,
	};
	return status;
}

static dafs_status_t dafsd_open_by_name(struct dafsd_rqst *rq)
{
	struct dafs_open_args *args = &rq->args.open;
	struct dafsd_walk walk;
	dafs_status_t status;

	status = dafsd_walk_start(rq, &args->dir_handle, &args->pathname, DAFSERR_NOTDIR, &walk);
	if (!status)
		status = dafsd_walk_until(rq, &walk, 1);
	if (!status)
		status = dafsd_open_last(rq, &walk);
	if (status)
		status = dafsd_open_failed(rq, &walk, status);
	else
		rq->res.open.component_count = walk.count + 1;
	dafsd_fh_put(&walk.fh);
	return status;
}

/*
 * A client reclaims an open from before a restart of the server, or opens a file of which
 * it only knows the filehandle.  It has passed the permission check before; the client
 * itself may have changed the permissions since then.
 */
static dafs_status_t dafsd_open_previous(struct dafsd_rqst *rq)
{
	struct dafs_open_args *args = &rq->args.open;
	struct dafsd_fh fh;
	dafs_status_t status;

	if (args->delegate_type > DAFS_OPEN_DELEGATE_WRITE)
		return DAFSERR_INVAL;
	status = dafsd_fh_get(rq, &args->dir_handle, &fh);
	if (!status && dafsd_fh_is_pseudo(&fh))
		status = DAFSERR_ISDIR;
	if (!status)
		status = dafsd_open_check_type(fh.dentry);
	if (!status)
		status = dafsd_open_file(rq, &fh, DAFSD_OPEN_OWNER);
	if (!status)
		rq->res.open.change_info.atomic = 1;
	else
		memset(&rq->res.open, 0, sizeof(rq->res.open));
	dafsd_fh_put(&fh);
	return status;
}

/*
 * Create a file without a name (E-75).  It exists until its last close, unless LINK gives
 * it a name before.
 */
static dafs_status_t dafsd_open_unlinked(struct dafsd_rqst *rq)
{
	struct dafs_open_args *args = &rq->args.open;
	struct dafsd_fh dir, fh;
	struct dafsd_new new;
	struct file *filp;
	dafs_status_t status;

	dafsd_open_describe_new(args, &new);
	status = dafsd_fh_get_dir(rq, &args->dir_handle, &dir);
	if (!status)
		status = dafsd_fh_want_write(&dir);
	if (!status)
		status = dafsd_create_unlinked(&dir, &new, &filp);
	if (status)
		goto put_dir;
	dafsd_change_none(&dir, &rq->res.open.change_info);
	dafsd_fh_in(&dir, dget(filp->f_path.dentry), &fh);
	status = dafsd_open_file(rq, &fh, DAFSD_OPEN_CREATED);
	dafsd_fh_put(&fh);
	__fput_sync(filp);
put_dir:
	if (status)
		memset(&rq->res.open, 0, sizeof(rq->res.open));
	dafsd_fh_put(&dir);
	return status;
}

/*
 * After a restart, clients get back what they had before others get anything.  What they had
 * is not known, so whatever they claim is taken for it.
 *
 * A claim that takes until after the period is as good as one that comes then: an OPEN by
 * filehandle (E-88), for which there is room among what others have now.  It does not tell the
 * client that nobody else had the file, which LOCK with RECLAIM, a delegation, and LOCKT do.
 */
static dafs_status_t dafsd_open_check_grace(struct dafsd_rqst *rq)
{
	const struct dafs_open_args *args = &rq->args.open;

	if (args->claim_type == DAFS_CLAIM_PREVIOUS && dafsd_grace_reclaims(rq->ses->client))
		return DAFS_STATUS_OK;
	/* no other client has it open in a way that conflicts; this one is to return it in time */
	if (args->claim_type == DAFS_CLAIM_DELEGATE_CUR && dafsd_deleg_covers(rq))
		return DAFS_STATUS_OK;
	return dafsd_grace_check(rq->ses->client->server);
}

static dafs_status_t dafsd_open_by_claim(struct dafsd_rqst *rq)
{
	dafs_status_t status = dafsd_open_check_grace(rq);

	/* may wait for the disk, so before there is a lock or write access to a file system */
	if (!status)
		status = dafsd_client_record(rq->ses->client);
	if (status)
		return status;
	switch (rq->args.open.claim_type) {
	case DAFS_CLAIM_NULL:
		return dafsd_open_by_name(rq);
	case DAFS_CLAIM_PREVIOUS:
		return dafsd_open_previous(rq);
	case DAFS_CLAIM_DELEGATE_CUR:
		return dafsd_deleg_check(rq, &rq->args.open.claimdelcur_stateid, NULL) ?:
		       dafsd_open_by_name(rq);
	case DAFS_CLAIM_DELEGATE_PREV:
		return DAFSERR_NOTSUPP;
	case DAFS_CLAIM_CREATE_UNLINKED:
		return dafsd_open_unlinked(rq);
	default:
		return DAFSERR_INVAL;
	}
}

/**
 * dafsd_proc_open() - OPEN (6.5.24)
 * @rq: request
 *
 * After an error the result says how far the path was resolved (E-96).  A delegation does not
 * survive its client, so none of a former client can be claimed (E-75).
 *
 * Context: process context under the caller's credential; may sleep.
 * Return: DAFS status.
 */
dafs_status_t dafsd_proc_open(struct dafsd_rqst *rq)
{
	dafs_status_t status = dafsd_open_check_args(&rq->args.open);

	rq->body = true;
	if (!status)
		status = dafsd_open_by_claim(rq);
	dafsd_open_unreserve(rq);
	return status;
}

/**
 * dafsd_proc_close() - CLOSE (6.5.7)
 * @rq: request
 *
 * Context: process context under the caller's credential; may sleep.
 * Return: DAFS status.
 */
dafs_status_t dafsd_proc_close(struct dafsd_rqst *rq)
{
	struct dafs_close_args *args = &rq->args.close;

	return dafsd_open_close(rq, &args->filehandle, &args->state_id);
}

/**
 * dafsd_proc_open_downgrade() - OPEN_DOWNGRADE (6.5.26)
 * @rq: request
 *
 * Context: process context under the caller's credential; may sleep.
 * Return: DAFS status.
 */
dafs_status_t dafsd_proc_open_downgrade(struct dafsd_rqst *rq)
{
	return dafsd_open_downgrade(rq);
}

/**
 * dafsd_proc_delegpurge() - DELEGPURGE (6.5.10, E-90)
 * @rq: request
 *
 * The client will reclaim nothing more.  Delegations that it has reclaimed already stay.
 *
 * Context: process context.
 * Return: DAFS_STATUS_OK: no delegation awaits recovery.
 */
dafs_status_t dafsd_proc_delegpurge(struct dafsd_rqst *rq)
{
	dafsd_grace_complete(rq->ses->client);
	return DAFS_STATUS_OK;
}

/**
 * dafsd_proc_delegreturn() - DELEGRETURN (6.5.11, E-90)
 * @rq: request
 *
 * Context: process context; does not wait for a file system.
 * Return: as dafsd_deleg_return().
 */
dafs_status_t dafsd_proc_delegreturn(struct dafsd_rqst *rq)
{
	return dafsd_deleg_return(rq, &rq->args.delegreturn.state_id);
}
