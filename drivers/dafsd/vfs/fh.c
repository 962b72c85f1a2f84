// SPDX-License-Identifier: GPL-2.0
/*
 * Filehandles (4.1.4, 6.1.4).
 *
 * The 16 bytes of the fshandle identify an export, or a pseudo file system.  The fileid
 * contains the exportfs handle of the object, so a filehandle is valid as long as the
 * object exists, also after restarts of the server.
 *
 * A client needs nothing but a filehandle to reach an object, and it may send any 64
 * bytes.  The hash, see export/fh_key.c, shows whether this server has made a filehandle;
 * the contents of others are not used.
 *
 * An object may be moved out of the export after a client has got its filehandle.  The
 * parents of a directory can always be found, so whenever a directory is looked up by its
 * filehandle, it is checked to be below the root of the export.  A file is only checked
 * with subtree_check.  Then the filehandle of a file also contains its directory, because
 * the parent of a file that is not in the dentry cache is unknown, and the caller must
 * have permission to search all directories on the path.  The drawbacks are that such a
 * filehandle becomes invalid when the file is moved to another directory and drops out of
 * the server's caches, and that hard links have different filehandles.  If a whole file
 * system is exported, nothing is outside.
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
 * Let the request act with @cred from now on; takes over the reference to @cred.  The
 * worker's own credential is restored and then overridden again.  This is correct both
 * for kernels in which override_creds() takes a reference (up to 6.13), and for later ones.
 */
static void dafsd_act_as(struct dafsd_rqst *rq, const struct cred *cred)
{
	revert_creds(rq->saved_cred);
	rq->saved_cred = override_creds(cred);
	put_cred(rq->cred);
	rq->cred = cred;
}

/**
 * dafsd_fh_squash() - act for the caller as squashed by an export
 * @rq: request
 * @exp: the export
 *
 * Context: process context; rq->cred is in force.
 * Return: OK or RESOURCE.
 */
dafs_status_t dafsd_fh_squash(struct dafsd_rqst *rq, const struct dafsd_export *exp)
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

/* Return: false for a fileid that this server cannot have made. */
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

/* exportfs callback: is this alias of the object inside the export? */
static int dafsd_fh_acceptable(void *context, struct dentry *dentry)
{
	const struct dafsd_export *exp = context;

	if (exp->whole_fs || (!exp->subtree_check && !d_is_dir(dentry)))
		return true;
	return is_subdir(dentry, exp->path.dentry);
}

/*
 * A request that has waited for another export (rq->walked) had reached the root of this
 * one, whatever its filehandle was.  Its place is in the other export now, so it must not
 * block in the file system of this one.
 */
static struct dentry *dafsd_fh_decode(const struct dafsd_rqst *rq, struct dafsd_export *exp,
				      struct dafsd_fileid *id)
{
	const struct cred *saved;
	struct dentry *dentry;

	if (id->type == FILEID_ROOT || rq->walked)
		return dget(exp->path.dentry);
	/* connecting a dentry to the root looks up names, which needs permission */
	saved = dafsd_act_as_server();
	dentry = exportfs_decode_fh(exp->path.mnt, (struct fid *)id->fid, id->words,
				    id->type, dafsd_fh_acceptable, exp);
	revert_creds(saved);
	return dentry;
}

/* exportfs callback: accept any alias. */
static int dafsd_fh_any(void *context, struct dentry *dentry)
{
	return true;
}

/*
 * The object was not found.  If the filehandle contains the directory of the file, the
 * file may just have been moved to another directory.
 */
static dafs_status_t dafsd_fh_why_stale(struct dafsd_export *exp, struct dafsd_fileid *id)
{
	dafs_status_t status = DAFSERR_STALE;
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

static dafs_status_t dafsd_fh_get_export(struct dafsd_rqst *rq, const struct dafs_fh *wire,
					 struct dafsd_fileid *id, struct dafsd_fh *fh)
{
	struct dafsd_export *exp;
	struct dentry *dentry;
	dafs_status_t status;

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
	/* a request that continues after waiting was squashed by this export before */
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

/* Has this server made the filehandle?  Only checks the bytes, does no lookup. */
static dafs_status_t dafsd_fh_check(const struct dafs_fh *wire, struct dafsd_fileid *id)
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
 * dafsd_fh_check_other() - are both objects of a request in the same export?
 * @wire: filehandle of the first object; the request has its place in its export
 * @other: filehandle of the second object, any 64 bytes
 *
 * An object in another export is not looked up: the file system of that export may hang,
 * and must not block a worker of this export.
 *
 * Context: any.
 * Return: OK, also in some cases in which dafsd_fh_find() will fail; XDEV; as
 * dafsd_fh_find() for filehandles that this server has not made.
 */
dafs_status_t dafsd_fh_check_other(const struct dafs_fh *wire, const struct dafs_fh *other)
{
	struct dafsd_export *exp, *foreign;
	struct dafsd_fileid id, foreign_id;
	dafs_status_t status;

	status = dafsd_fh_check(other, &foreign_id) ?: dafsd_fh_check(wire, &id);
	if (status || !memcmp(wire->fshandle, other->fshandle, DAFS_FSHANDLE_SIZE))
		return status;
	foreign = dafsd_export_find(other->fshandle);
	if (!foreign)
		return DAFS_STATUS_OK;
	exp = dafsd_export_find(wire->fshandle);
	/* if the export of @wire is missing, dafsd_fh_find() returns the status */
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
 * Return: OK; BADHANDLE for bytes that no server can have made; STALE if another server or
 * another key has made them, if the export or the object is gone, or if the object is not
 * inside the export; DELAY if the export may not have been configured yet; FHEXPIRED if,
 * with subtree_check, the object was moved to another directory; RESOURCE.
 */
dafs_status_t dafsd_fh_find(struct dafsd_rqst *rq, const struct dafs_fh *wire, struct dafsd_fh *fh)
{
	struct dafsd_fileid id;
	dafs_status_t status;

	memset(fh, 0, sizeof(*fh));
	status = dafsd_fh_check(wire, &id);
	if (status)
		return status;
	if (id.type == DAFSD_FILEID_PSEUDO)
		return dafsd_pseudo_get(wire, fh);
	/* the pseudo root: @fh stays empty */
	if (dafsd_fh_in_pseudo(wire, &id))
		return DAFS_STATUS_OK;
	return dafsd_fh_get_export(rq, wire, &id, fh);
}

/**
 * dafsd_fh_check_search() - may the caller reach an object by its path?
 * @fh: the object or a pseudo directory
 *
 * Only checked with subtree_check: the caller needs search permission for all directories
 * from the root of the export to the object.
 *
 * Context: may sleep; acts for the caller.
 * Return: OK, or ACCES.
 */
dafs_status_t dafsd_fh_check_search(const struct dafsd_fh *fh)
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
 * dafsd_fh_get() - find the object of a filehandle, and check that the caller may reach it
 * @rq: as in dafsd_fh_find()
 * @wire: as in dafsd_fh_find()
 * @fh: filled; cleared on error, so that dafsd_fh_put() may follow
 *
 * Context: may sleep; rq->cred is in force.
 * Return: as dafsd_fh_find() and dafsd_fh_check_search().
 */
dafs_status_t dafsd_fh_get(struct dafsd_rqst *rq, const struct dafs_fh *wire, struct dafsd_fh *fh)
{
	dafs_status_t status = dafsd_fh_find(rq, wire, fh) ?: dafsd_fh_check_search(fh);

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
dafs_status_t dafsd_fh_get_dir(struct dafsd_rqst *rq, const struct dafs_fh *wire,
			       struct dafsd_fh *fh)
{
	dafs_status_t status = dafsd_fh_get(rq, wire, fh);

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
 * dafsd_fh_use() - call a function for the object that a filehandle names
 * @rq: as in dafsd_fh_get()
 * @wire: as in dafsd_fh_get()
 * @run: function to call; the object is valid while it runs
 *
 * Context: may sleep; rq->cred is in force.
 * Return: the status of @run, or as dafsd_fh_get().
 */
dafs_status_t dafsd_fh_use(struct dafsd_rqst *rq, const struct dafs_fh *wire,
			   dafs_status_t (*run)(struct dafsd_rqst *rq, struct dafsd_fh *fh))
{
	struct dafsd_fh fh;
	dafs_status_t status = dafsd_fh_get(rq, wire, &fh);

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

/* Move the place of the request to the export, and check and squash it there. */
static dafs_status_t dafsd_fh_admit(struct dafsd_rqst *rq, struct dafsd_export *exp)
{
	if (!dafsd_lane_change(rq, exp))
		return DAFSERR_DELAY;
	return dafsd_late_check_moved(rq) ?: dafsd_fh_squash(rq, exp);
}

/**
 * dafsd_fh_enter() - go to the root of an export
 * @rq: request; acts for its caller as squashed by @exp.  NULL if only attributes of
 *	the root are read.
 * @fh: present position; on success the root of @exp
 * @exp: a reference that this function takes over
 *
 * A request that comes from another export remains squashed by that one, too.
 *
 * Context: may sleep.
 * Return: OK; RESOURCE; DELAY if too many requests are in @exp; as
 * dafsd_late_check_moved().
 */
dafs_status_t dafsd_fh_enter(struct dafsd_rqst *rq, struct dafsd_fh *fh, struct dafsd_export *exp)
{
	dafs_status_t status = rq ? dafsd_fh_admit(rq, exp) : DAFS_STATUS_OK;

	if (status) {
		dafsd_export_put(exp);
		return status;
	}
	dafsd_fh_put(fh);
	fh->exp = exp;
	fh->dentry = dget(exp->path.dentry);
	return DAFS_STATUS_OK;
}

/* Enter the export whose root is this directory, or the root of a mount on it. */
static dafs_status_t dafsd_fh_cross_mount(struct dafsd_rqst *rq, struct dafsd_fh *fh)
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

/* Exports are below @at: if a mount hides the path to them, enter a pseudo directory. */
static dafs_status_t dafsd_fh_bridge(struct dafsd_fh *fh, const struct dafs_str *at)
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
 * dafsd_fh_cross() - enter the export that begins at a directory, if any
 * @rq: as in dafsd_fh_enter()
 * @fh: an object just found in a directory; replaced if it is a directory and something
 *	else is visible there (4.1.4)
 *
 * An export whose name is the path of this directory has precedence.  Without it,
 * if exports have names below this path, the directory itself is visible, or a pseudo
 * directory if something is mounted on it.  Otherwise an export whose root is this
 * directory, or the root of a mount on it, is entered.  If a mount on the directory is not
 * exported, the covered directory is visible.
 *
 * Context: may sleep.
 * Return: OK, RESOURCE, or an error of dafsd_fh_enter() or of an automount.
 */
dafs_status_t dafsd_fh_cross(struct dafsd_rqst *rq, struct dafsd_fh *fh)
{
	struct dafsd_export *exp = NULL;
	struct dafs_str at;
	char *place;
	dafs_status_t status;

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
 * dafsd_fh_check_place() - do exports allow the name of an object to be removed?
 * @dir: its directory
 * @dentry: the object
 *
 * The root of an export is protected like a mount point, and so is a directory that is
 * part of the path to an export (4.1.4).
 *
 * Context: may sleep; holds the lock of the directory.
 * Return: OK; ACCES, as for a mount point; or RESOURCE.
 */
dafs_status_t dafsd_fh_check_place(const struct dafsd_fh *dir, struct dentry *dentry)
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
 * dafsd_fh_want_write() - take write access to the file system of a filehandle
 * @fh: filehandle; dafsd_fh_drop_write() or dafsd_fh_put() drops the write access
 *
 * Context: may sleep, for long if the file system is frozen.
 * Return: OK, or ROFS if the export or the mount is read-only, or for a pseudo
 * directory.
 */
dafs_status_t dafsd_fh_want_write(struct dafsd_fh *fh)
{
	int err;

	if (fh->wants_write)
		return DAFS_STATUS_OK;
	if (dafsd_fh_is_pseudo(fh) || READ_ONCE(fh->exp->read_only))
		return DAFSERR_ROFS;
	err = mnt_want_write(fh->exp->path.mnt);
	fh->wants_write = !err;
	return dafs_errno_to_status(err);
}

/**
 * dafsd_fh_drop_write() - drop write access from dafsd_fh_want_write(), if held
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
 * dafsd_fh_to_wire() - make the filehandle of an object that was found
 * @fh: an object or a pseudo directory
 * @wire: filled
 *
 * Context: may sleep.
 * Return: as dafsd_fh_compose().
 */
dafs_status_t dafsd_fh_to_wire(const struct dafsd_fh *fh, struct dafs_fh *wire)
{
	if (!fh->below)
		return dafsd_fh_compose(fh->exp, fh->dentry, wire);
	dafsd_pseudo_to_wire(fh, wire);
	return DAFS_STATUS_OK;
}
