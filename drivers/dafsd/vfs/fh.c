// SPDX-License-Identifier: GPL-2.0
/*
 * Filehandles (4.1.4, 6.1.4).
 *
 * The 16 bytes of the fshandle name an export, or a pseudo file system.  The fileid
 * carries what exportfs made of the object, so that a filehandle is good for
 * as long as the object lives, across restarts of the server.
 *
 * A filehandle is all that a client needs to reach an object, and a client may
 * send any 64 bytes.  Those that this server has not made are recognized by their
 * hash, see export/fh_key.c, and not looked at.
 *
 * What a client was given once may be outside of the export later.  Directories,
 * which always know where they are, are traced up to the root of the export
 * whenever they are found.  Files are only with subtree_check; then the filehandle
 * of a file names its directory too, because a file that was not looked up lately
 * has no known parent, and the caller must be allowed to search all the way.  The
 * price is that such a filehandle ends when its file moves to another directory
 * and the server forgets the file, and that hard links have different
 * filehandles.  An export of a whole file system has nothing outside.
 */
#include <linux/exportfs.h>
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/dafs/status.h>
#include "../session/client.h"
#include "../export/export.h"
#include "../export/handle.h"
#include "../request/request.h"
#include "fh.h"

/*
 * From now on the request acts for @cred, whose reference it takes over.  Reverting
 * to what the worker was and overriding that again leaves the references as they
 * are, whether override_creds() takes one of its own, as up to 6.13, or does not.
 */
static void dafsd_act_as(struct dafsd_rqst *rq, const struct cred *cred)
{
	revert_creds(rq->saved_cred);
	rq->saved_cred = override_creds(cred);
	put_cred(rq->cred);
	rq->cred = cred;
}

/**
 * dafsd_fh_squash() - act for the caller as an export sees it
 * @rq: request
 * @exp: the export
 *
 * Context: process context; rq->cred is in force.
 * Return: OK or RESOURCE.
 */
u32 dafsd_fh_squash(struct dafsd_rqst *rq, const struct dafsd_export *exp)
{
	const struct cred *cred = dafsd_cred_squash(exp, rq->cred);

	if (!cred)
		return DAFSERR_RESOURCE;
	if (cred == rq->cred)
		put_cred(cred);
	else
		dafsd_act_as(rq, cred);
	return DAFS_STATUS_OK;
}

/* Rejects what this server cannot have made. */
static bool dafsd_fileid_sane(const struct dafsd_fileid *id)
{
	bool is_root = id->type == FILEID_ROOT;
	unsigned int i;

	if (id->version != DAFSD_FILEID_VERSION || id->reserved ||
	    id->words > DAFSD_FID_WORDS)
		return false;
	if (is_root != !id->words)
		return false;
	for (i = id->words; i < DAFSD_FID_WORDS; i++)
		if (id->fid[i])
			return false;
	return true;
}

/* Callback of exportfs: is this name of the object inside the export? */
static int dafsd_fh_acceptable(void *context, struct dentry *dentry)
{
	const struct dafsd_export *exp = context;

	if (exp->whole_fs || (!exp->subtree_check && !d_is_dir(dentry)))
		return true;
	return is_subdir(dentry, exp->path.dentry);
}

/*
 * A request that has waited on its way up to another export was at the root of this one,
 * whatever filehandle led there.  Its place is in the other export now, so it must not
 * block in the file system of this one.
 */
static struct dentry *dafsd_fh_decode(const struct dafsd_rqst *rq, struct dafsd_export *exp,
				      struct dafsd_fileid *id)
{
	const struct cred *saved;
	struct dentry *dentry;

	if (id->type == FILEID_ROOT || rq->walked)
		return dget(exp->path.dentry);
	/* Connecting a dentry to the root looks names up on the way. */
	saved = dafsd_act_as_server();
	dentry = exportfs_decode_fh(exp->path.mnt, (struct fid *)id->fid, id->words,
				    id->type, dafsd_fh_acceptable, exp);
	revert_creds(saved);
	return dentry;
}

/* Callback of exportfs: any name will do. */
static int dafsd_fh_any(void *context, struct dentry *dentry)
{
	return true;
}

/*
 * The object was not found.  Where the handle of a file names its directory, the
 * file may only have left that.
 */
static u32 dafsd_fh_why_stale(struct dafsd_export *exp, struct dafsd_fileid *id)
{
	u32 status = DAFSERR_STALE;
	const struct cred *saved;
	struct dentry *dentry;

	if (!exp->subtree_check)
		return status;
	saved = dafsd_act_as_server();
	dentry = exportfs_decode_fh(exp->path.mnt, (struct fid *)id->fid, id->words, id->type,
				    dafsd_fh_any, exp);
	revert_creds(saved);
	if (IS_ERR(dentry))
		return status;
	if (!d_is_dir(dentry) && d_inode(dentry)->i_nlink)
		status = DAFSERR_FHEXPIRED;
	dput(dentry);
	return status;
}

static u32 dafsd_fh_get_export(struct dafsd_rqst *rq, const struct dafs_fh *wire,
			       struct dafsd_fileid *id, struct dafsd_fh *fh)
{
	struct dafsd_export *exp;
	struct dentry *dentry;
	u32 status;

	status = dafsd_export_get(wire->fshandle, &exp);
	if (status)
		return status;
	dentry = dafsd_fh_decode(rq, exp, id);
	if (IS_ERR(dentry)) {
		status = dafs_errno_to_status(PTR_ERR(dentry));
		if (status == DAFSERR_STALE)
			status = dafsd_fh_why_stale(exp, id);
		goto put_export;
	}
	/* a request that goes on after a wait has been squashed here before */
	status = rq->walked ? DAFS_STATUS_OK : dafsd_fh_squash(rq, exp);
	if (status)
		goto put_dentry;
	fh->exp = exp;
	fh->dentry = dentry;
	return DAFS_STATUS_OK;

put_dentry:
	dput(dentry);
put_export:
	dafsd_export_put(exp);
	return status;
}

static bool dafsd_fh_in_pseudo(const struct dafs_fh *wire, const struct dafsd_fileid *id)
{
	return id->type == DAFSD_FILEID_PSEUDO ||
	       !memcmp(wire->fshandle, dafsd_pseudo_fshandle, DAFS_FSHANDLE_SIZE);
}

/* Has this server made the filehandle?  Looks at nothing but its bytes. */
static u32 dafsd_fh_check(const struct dafs_fh *wire, struct dafsd_fileid *id)
{
	memcpy(id, wire->fileid, sizeof(*id));
	if (!dafsd_fileid_sane(id) ||
	    (dafsd_fh_in_pseudo(wire, id) && id->type != FILEID_ROOT &&
	     id->type != DAFSD_FILEID_PSEUDO))
		return DAFSERR_BADHANDLE;
	if (!dafsd_fh_key_known())
		return dafsd_exports_missing();
	return dafsd_fh_genuine(wire) ? DAFS_STATUS_OK : DAFSERR_STALE;
}

/**
 * dafsd_fh_check_other() - is another object of a request in the export of its first?
 * @wire: filehandle of the first, whose export the request has its place in
 * @other: filehandle of the other one, any 64 bytes
 *
 * What a request names in another export is not looked at: the file system may stand
 * still, and must not keep a worker of this one.
 *
 * Context: any.
 * Return: OK, also for much that dafsd_fh_find() refuses then; XDEV; as dafsd_fh_find()
 * for what this server has not made.
 */
u32 dafsd_fh_check_other(const struct dafs_fh *wire, const struct dafs_fh *other)
{
	struct dafsd_export *exp, *foreign;
	struct dafsd_fileid id, foreign_id;
	u32 status;

	status = dafsd_fh_check(other, &foreign_id) ?: dafsd_fh_check(wire, &id);
	if (status || !memcmp(wire->fshandle, other->fshandle, DAFS_FSHANDLE_SIZE))
		return status;
	foreign = dafsd_export_find(other->fshandle);
	if (!foreign)
		return DAFS_STATUS_OK;
	exp = dafsd_export_find(wire->fshandle);
	/* an export that is not there is stale rather */
	if (exp || dafsd_fh_in_pseudo(wire, &id))
		status = DAFSERR_XDEV;
	if (exp)
		dafsd_export_put(exp);
	dafsd_export_put(foreign);
	return status;
}

/**
 * dafsd_fh_find() - find the object that a filehandle names (4.1.4)
 * @rq: request; from now on it acts for its caller as squashed by the export
 * @wire: filehandle, any 64 bytes
 * @fh: filled; cleared on error, so that dafsd_fh_put() may follow
 *
 * Context: may sleep; rq->cred is in force.
 * Return: OK; BADHANDLE for bytes that no server has made; STALE if it was not
 * this one or it has another key now, if the export or the object is gone or the
 * object is not inside the export; DELAY if the export may be still to come;
 * FHEXPIRED if with subtree_check the object went to another directory; RESOURCE.
 */
u32 dafsd_fh_find(struct dafsd_rqst *rq, const struct dafs_fh *wire, struct dafsd_fh *fh)
{
	struct dafsd_fileid id;
	u32 status;

	memset(fh, 0, sizeof(*fh));
	status = dafsd_fh_check(wire, &id);
	if (status)
		return status;
	if (id.type == DAFSD_FILEID_PSEUDO)
		return dafsd_pseudo_get(wire, fh);
	/* the pseudo root is where nothing is filled in */
	if (dafsd_fh_in_pseudo(wire, &id))
		return DAFS_STATUS_OK;
	return dafsd_fh_get_export(rq, wire, &id, fh);
}

/**
 * dafsd_fh_check_search() - may the caller get to an object by its names?
 * @fh: the object or a pseudo directory
 *
 * Only with subtree_check, where it takes the right to search all directories from
 * the root of the export to the object.
 *
 * Context: may sleep; acts for the caller.
 * Return: OK, or ACCES.
 */
u32 dafsd_fh_check_search(const struct dafsd_fh *fh)
{
	struct dentry *dentry, *parent;
	int err = 0;

	if (dafsd_fh_is_pseudo(fh) || !fh->exp->subtree_check)
		return DAFS_STATUS_OK;
	dentry = dget(fh->dentry);
	while (!err && dentry != fh->exp->path.dentry && !IS_ROOT(dentry)) {
		parent = dget_parent(dentry);
		dput(dentry);
		dentry = parent;
		err = inode_permission(&nop_mnt_idmap, d_inode(dentry), MAY_EXEC);
	}
	dput(dentry);
	return dafs_errno_to_status(err);
}

/**
 * dafsd_fh_get() - find the object that a filehandle names for its caller
 * @rq: as in dafsd_fh_find()
 * @wire: as in dafsd_fh_find()
 * @fh: filled; cleared on error, so that dafsd_fh_put() may follow
 *
 * Context: may sleep; rq->cred is in force.
 * Return: as dafsd_fh_find() and dafsd_fh_check_search().
 */
u32 dafsd_fh_get(struct dafsd_rqst *rq, const struct dafs_fh *wire, struct dafsd_fh *fh)
{
	u32 status = dafsd_fh_find(rq, wire, fh) ?: dafsd_fh_check_search(fh);

	if (status)
		dafsd_fh_put(fh);
	return status;
}

/**
 * dafsd_fh_get_dir() - find the directory that a filehandle names
 * @rq: as in dafsd_fh_get()
 * @wire: as in dafsd_fh_get()
 * @fh: filled; the caller releases it also after an error
 *
 * Context: may sleep; rq->cred is in force.
 * Return: as dafsd_fh_get(), and NOTDIR (E-94).
 */
u32 dafsd_fh_get_dir(struct dafsd_rqst *rq, const struct dafs_fh *wire, struct dafsd_fh *fh)
{
	u32 status = dafsd_fh_get(rq, wire, fh);

	if (status || dafsd_fh_is_pseudo(fh) || d_is_dir(fh->dentry))
		return status;
	return DAFSERR_NOTDIR;
}

/**
 * dafsd_fh_put() - release what dafsd_fh_get() found
 * @fh: filehandle; cleared
 *
 * Context: may sleep.
 */
void dafsd_fh_put(struct dafsd_fh *fh)
{
	dafsd_fh_drop_write(fh);
	dput(fh->dentry);
	if (fh->exp)
		dafsd_export_put(fh->exp);
	if (fh->below)
		dafsd_export_put(fh->below);
	memset(fh, 0, sizeof(*fh));
}

/**
 * dafsd_fh_use() - do something with the object that a filehandle names
 * @rq: as in dafsd_fh_get()
 * @wire: as in dafsd_fh_get()
 * @run: what to do; the object is good for as long as it runs
 *
 * Context: may sleep; rq->cred is in force.
 * Return: what @run returned, or as dafsd_fh_get().
 */
u32 dafsd_fh_use(struct dafsd_rqst *rq, const struct dafs_fh *wire,
		 u32 (*run)(struct dafsd_rqst *rq, struct dafsd_fh *fh))
{
	struct dafsd_fh fh;
	u32 status = dafsd_fh_get(rq, wire, &fh);

	if (!status)
		status = run(rq, &fh);
	dafsd_fh_put(&fh);
	return status;
}

/**
 * dafsd_fh_is_pseudo() - is a filehandle that of a pseudo directory: the root, or a
 * directory that leads from there to an export?
 * @fh: filehandle
 *
 * Context: any.
 * Return: true if so; then it has neither export nor dentry.
 */
bool dafsd_fh_is_pseudo(const struct dafsd_fh *fh)
{
	return !fh->exp;
}

/* The request may do in the export what it came for. */
static u32 dafsd_fh_admit(struct dafsd_rqst *rq, struct dafsd_export *exp)
{
	if (!dafsd_lane_change(rq, exp))
		return DAFSERR_DELAY;
	return dafsd_late_check_moved(rq) ?: dafsd_fh_squash(rq, exp);
}

/**
 * dafsd_fh_enter() - go to the root of an export
 * @rq: request; acts for its caller as squashed by @exp.  NULL to look at the
 *	root only.
 * @fh: where the caller is; on success the root of @exp
 * @exp: a reference that this function takes over
 *
 * A request that comes through another export stays squashed by that one, too.
 *
 * Context: may sleep.
 * Return: OK; RESOURCE; DELAY if there are too many requests in @exp already; as
 * dafsd_late_check_moved().
 */
u32 dafsd_fh_enter(struct dafsd_rqst *rq, struct dafsd_fh *fh, struct dafsd_export *exp)
{
	u32 status = rq ? dafsd_fh_admit(rq, exp) : DAFS_STATUS_OK;

	if (status) {
		dafsd_export_put(exp);
		return status;
	}
	dafsd_fh_put(fh);
	fh->exp = exp;
	fh->dentry = dget(exp->path.dentry);
	return DAFS_STATUS_OK;
}

/* Go to the export of this very directory, or of what is mounted on it. */
static u32 dafsd_fh_cross_mount(struct dafsd_rqst *rq, struct dafsd_fh *fh)
{
	struct path path = dafsd_fh_path(fh);
	struct dafsd_export *exp;
	int err = 0;

	path_get(&path);
	if (d_mountpoint(path.dentry))
		err = follow_down(&path, 0);
	exp = err ? NULL : dafsd_export_find_path(&path);
	path_put(&path);
	if (err)
		return dafs_errno_to_status(err);
	return exp ? dafsd_fh_enter(rq, fh, exp) : DAFS_STATUS_OK;
}

/* Are there exports below @at? A mount here that is no export hides the path to them. */
static u32 dafsd_fh_bridge(struct dafsd_fh *fh, const struct dafs_str *at)
{
	struct path path = dafsd_fh_path(fh);
	bool covered;
	int err = 0;

	path_get(&path);
	if (d_mountpoint(path.dentry))
		err = follow_down(&path, 0);
	covered = path.mnt != fh->exp->path.mnt;
	path_put(&path);
	if (err)
		return dafs_errno_to_status(err);
	return covered ? dafsd_pseudo_enter(fh, at) : DAFS_STATUS_OK;
}

/**
 * dafsd_fh_cross() - go down to the export that begins at a directory
 * @rq: as in dafsd_fh_enter()
 * @fh: an object just found in a directory; moved if it is a directory and
 *	something else is to be seen there (4.1.4)
 *
 * The export with the name of this place goes first.  If there is none but
 * names go on from here, the directory shows, or a pseudo directory where
 * something is mounted on it.  Otherwise an export of the very directory, or of
 * what is mounted on it, is entered; where something is mounted that is not
 * exported, the covered directory shows.
 *
 * Context: may sleep.
 * Return: OK, RESOURCE, or an error of dafsd_fh_enter() or of an automount.
 */
u32 dafsd_fh_cross(struct dafsd_rqst *rq, struct dafsd_fh *fh)
{
	struct dafsd_export *exp = NULL;
	struct dafs_str at;
	char *place;
	u32 status;

	if (!d_is_dir(fh->dentry))
		return DAFS_STATUS_OK;
	place = dafsd_pseudo_position(fh, &at);
	if (IS_ERR(place))
		return dafs_errno_to_status(PTR_ERR(place));
	if (place)
		exp = dafsd_export_find_name(&at);
	if (exp)
		status = dafsd_fh_enter(rq, fh, exp);
	else if (place && dafsd_export_leads(&at))
		status = dafsd_fh_bridge(fh, &at);
	else
		status = dafsd_fh_cross_mount(rq, fh);
	if (place)
		__putname(place);
	return status;
}

/**
 * dafsd_fh_check_place() - may the name of an object go away, as far as exports go?
 * @dir: its directory
 * @dentry: the object
 *
 * To clients the root of an export is what a mount point is on this machine, and
 * so is a directory without which the name of an export would lead nowhere (4.1.4).
 *
 * Context: may sleep; holds the lock of the directory.
 * Return: OK; ACCES, as for a mount point; or RESOURCE.
 */
u32 dafsd_fh_check_place(const struct dafsd_fh *dir, struct dentry *dentry)
{
	const struct dafsd_fh fh = { .exp = dir->exp, .dentry = dentry };
	struct dafs_str at;
	char *place;
	bool needed;

	if (!d_is_dir(dentry))
		return DAFS_STATUS_OK;
	if (dafsd_export_is_root(dentry))
		return dafs_errno_to_status(-EBUSY);
	place = dafsd_pseudo_position(&fh, &at);
	if (IS_ERR_OR_NULL(place))
		return dafs_errno_to_status(PTR_ERR(place));
	needed = dafsd_export_needs(&at);
	__putname(place);
	return needed ? dafs_errno_to_status(-EBUSY) : DAFS_STATUS_OK;
}

/**
 * dafsd_fh_want_write() - ask to change the file system of a filehandle
 * @fh: filehandle; dafsd_fh_drop_write() or dafsd_fh_put() ends the permission
 *
 * Context: may sleep, for long when the file system is frozen.
 * Return: OK, or ROFS if the export or the mount is read-only, or for a pseudo
 * directory.
 */
u32 dafsd_fh_want_write(struct dafsd_fh *fh)
{
	int err;

	if (fh->wants_write)
		return DAFS_STATUS_OK;
	if (dafsd_fh_is_pseudo(fh) || fh->exp->read_only)
		return DAFSERR_ROFS;
	err = mnt_want_write(fh->exp->path.mnt);
	fh->wants_write = !err;
	return dafs_errno_to_status(err);
}

/**
 * dafsd_fh_drop_write() - give back what dafsd_fh_want_write() has got, if anything
 * @fh: filehandle
 *
 * Context: may sleep.
 */
void dafsd_fh_drop_write(struct dafsd_fh *fh)
{
	if (fh->wants_write)
		mnt_drop_write(fh->exp->path.mnt);
	fh->wants_write = false;
}

/**
 * dafsd_fh_to_wire() - make the filehandle of what a filehandle was resolved to
 * @fh: an object or a pseudo directory
 * @wire: filled
 *
 * Context: may sleep.
 * Return: as dafsd_fh_compose().
 */
u32 dafsd_fh_to_wire(const struct dafsd_fh *fh, struct dafs_fh *wire)
{
	if (!fh->below)
		return dafsd_fh_compose(fh->exp, fh->dentry, wire);
	dafsd_pseudo_to_wire(fh, wire);
	return DAFS_STATUS_OK;
}
