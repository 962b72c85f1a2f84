// SPDX-License-Identifier: GPL-2.0
/*
 * The pseudo file system: directories that lead to the exports (4.1.4).
 *
 * The name of an export is a path in one name space.  Directories on this path that are
 * not in another export are pseudo directories.  They exist as long as an export is below
 * them, and nothing is stored for them: a pseudo directory is described by the name of an
 * export, and by the number of bytes of this name that lead to the directory.  Its
 * filehandle contains a hash of that path, so it is valid as long as the directory exists,
 * also after restarts of the server.
 *
 * Inside an export, the names are those of its directory tree.  An export whose name
 * begins with that of another export is visible in the tree of that export, on the
 * directory of that name, like a mount; this is implemented in dafsd_fh_cross().
 */
#include <linux/siphash.h>
#include <linux/slab.h>
#include "../export/export.h"
#include "../export/handle.h"
#include "../request/request.h"
#include "fh.h"

#define DAFSD_PSEUDO_ROOT_INO	1

struct dafsd_pseudo_hash {
	u64 half[2];
};

static_assert(sizeof(struct dafsd_pseudo_hash) == DAFS_FSHANDLE_SIZE);

static struct dafsd_pseudo_hash dafsd_pseudo_hash(const struct dafs_str *path)
{
	static const siphash_key_t keys[2] = {
		{ { 0x4441465320707365ULL, 0x75646f2064697230ULL } },
		{ { 0x4441465320707365ULL, 0x75646f2064697231ULL } },
	};

	return (struct dafsd_pseudo_hash){ {
		siphash(path->data, path->len, &keys[0]),
		siphash(path->data, path->len, &keys[1]),
	} };
}

/**
 * dafsd_pseudo_path() - the path of a filehandle in the name space
 * @fh: a pseudo directory or the root of an export
 *
 * Context: any.
 * Return: the path, valid as long as @fh; empty for the pseudo root.
 */
struct dafs_str dafsd_pseudo_path(const struct dafsd_fh *fh)
{
	if (fh->exp)
		return dafsd_export_path(fh->exp);
	return (struct dafs_str){
		.len = fh->len,
		.data = fh->below ? (const u8 *)fh->below->name : NULL,
	};
}

/**
 * dafsd_pseudo_ino() - FILE_ID of a pseudo directory
 * @fh: the directory
 *
 * Context: any.
 * Return: a number that differs between pseudo directories.
 */
u64 dafsd_pseudo_ino(const struct dafsd_fh *fh)
{
	struct dafs_str path = dafsd_pseudo_path(fh);

	return path.len ? dafsd_pseudo_hash(&path).half[0] : DAFSD_PSEUDO_ROOT_INO;
}

/*
 * The directories above all exports are one pseudo file system.  Pseudo directories below
 * an export, which replace hidden directories on the path to another export, are another
 * pseudo file system for each such export.  Each one has its own fshandle.
 */
static void dafsd_pseudo_fill_fshandle(const struct dafs_str *path, u8 *fshandle)
{
	struct dafsd_pseudo_hash hash;
	struct dafsd_export *outer;
	struct dafs_str name;

	memcpy(fshandle, dafsd_pseudo_fshandle, DAFS_FSHANDLE_SIZE);
	rcu_read_lock();
	outer = dafsd_export_outer(path);
	if (outer) {
		name = dafsd_export_path(outer);
		hash = dafsd_pseudo_hash(&name);
		memcpy(fshandle, &hash, sizeof(hash));
	}
	rcu_read_unlock();
}

/**
 * dafsd_pseudo_to_wire() - make the filehandle of a pseudo directory
 * @fh: the directory, not the root
 * @wire: filled
 *
 * Context: any.
 */
void dafsd_pseudo_to_wire(const struct dafsd_fh *fh, struct dafs_fh *wire)
{
	const struct dafs_str path = dafsd_pseudo_path(fh);
	const struct dafsd_pseudo_hash hash = dafsd_pseudo_hash(&path);
	struct dafsd_fileid id = {
		.version = DAFSD_FILEID_VERSION,
		.type = DAFSD_FILEID_PSEUDO,
		.words = sizeof(hash) / sizeof(u32),
	};

	memcpy(id.fid, &hash, sizeof(hash));
	memcpy(wire->fileid, &id, sizeof(id));
	dafsd_pseudo_fill_fshandle(&path, wire->fshandle);
	dafsd_fh_sign(wire);
}

/* Does the name of @exp pass through the directory that @wire names? */
static bool dafsd_pseudo_passes(struct dafsd_export *exp, const struct dafs_fh *wire,
				struct dafsd_fh *fh)
{
	const char *slash = exp->name;
	struct dafs_fh own;

	fh->below = exp;
	while ((slash = strchr(slash, '/'))) {
		fh->len = slash - exp->name;
		dafsd_pseudo_to_wire(fh, &own);
		if (!memcmp(&own, wire, sizeof(own)))
			return true;
		slash++;
	}
	fh->below = NULL;
	fh->len = 0;
	return false;
}

/**
 * dafsd_pseudo_get() - find the pseudo directory that a filehandle names
 * @wire: filehandle with a fileid of type DAFSD_FILEID_PSEUDO
 * @fh: filled
 *
 * Context: may sleep.
 * Return: OK; STALE if no export is below it any more, or an export with its name exists;
 * DELAY if no export is below it yet.
 */
dafs_status_t dafsd_pseudo_get(const struct dafs_fh *wire, struct dafsd_fh *fh)
{
	struct dafsd_export *exp, *instead;
	struct dafs_str path;
	u64 n = 0;

	while ((exp = dafsd_export_nth(n))) {
		if (dafsd_pseudo_passes(exp, wire, fh))
			break;
		n = exp->number + 1;
		dafsd_export_put(exp);
	}
	if (!exp)
		return dafsd_exports_missing();
	path = dafsd_pseudo_path(fh);
	instead = dafsd_export_find_name(&path);
	if (!instead)
		return DAFS_STATUS_OK;
	dafsd_export_put(instead);
	dafsd_fh_put(fh);
	return DAFSERR_STALE;
}

/**
 * dafsd_pseudo_enter() - go to a pseudo directory
 * @fh: present position; replaced on success
 * @path: the directory
 *
 * Context: may sleep.
 * Return: OK, or NOENT if no export is below it.
 */
dafs_status_t dafsd_pseudo_enter(struct dafsd_fh *fh, const struct dafs_str *path)
{
	struct dafsd_export *exp = dafsd_export_find_below(path);

	if (!exp)
		return DAFSERR_NOENT;
	dafsd_fh_put(fh);
	fh->below = exp;
	fh->len = path->len;
	return DAFS_STATUS_OK;
}

/**
 * dafsd_pseudo_lookup() - find a name in a pseudo directory
 * @rq: as in dafsd_fh_enter()
 * @fh: the directory; replaced on success by the root of an export or another pseudo
 *	directory
 * @name: checked name
 *
 * Context: may sleep.
 * Return: OK, NOENT, or an error of dafsd_fh_enter().
 */
dafs_status_t dafsd_pseudo_lookup(struct dafsd_rqst *rq, struct dafsd_fh *fh,
				  const struct dafs_str *name)
{
	const struct dafs_str dir = dafsd_pseudo_path(fh);
	struct dafsd_export *exp;
	struct dafs_str path;
	char *buf;
	dafs_status_t status;

	buf = kasprintf(GFP_KERNEL, "%.*s%s%.*s", (int)dir.len, (const char *)dir.data ?: "",
			dir.len ? "/" : "", (int)name->len, (const char *)name->data);
	if (!buf)
		return DAFSERR_RESOURCE;
	path = (struct dafs_str){ .len = strlen(buf), .data = (const u8 *)buf };
	exp = dafsd_export_find_name(&path);
	if (exp)
		status = dafsd_fh_enter(rq, fh, exp);
	else
		status = dafsd_pseudo_enter(fh, &path);
	kfree(buf);
	return status;
}

/* The path from the root of the export, with a leading slash, at the end of @buf. */
static char *dafsd_pseudo_inside(const struct dafsd_fh *fh, char *buf)
{
	struct dentry *root = fh->exp->path.dentry;
	size_t skip = 0;
	char *path;

	if (!IS_ROOT(root)) {
		path = dentry_path_raw(root, buf, PATH_MAX);
		if (IS_ERR(path))
			return path;
		skip = strlen(path);
	}
	path = dentry_path_raw(fh->dentry, buf, PATH_MAX);
	/* it may have been moved out of the export just now */
	return IS_ERR(path) || strlen(path) <= skip ? ERR_PTR(-ENOENT) : path + skip;
}

/**
 * dafsd_pseudo_position() - the path of a directory of an export in the name space
 * @fh: the directory
 * @at: set to its path
 *
 * Context: may sleep.
 * Return: the buffer that @at points into, for __putname(); NULL if no export can be at
 * this path, because no export has a name below that of this export; or ERR_PTR(-ENOMEM).
 */
char *dafsd_pseudo_position(const struct dafsd_fh *fh, struct dafs_str *at)
{
	const struct dafs_str name = dafsd_export_path(fh->exp);
	char *buf, *path;

	if (!dafsd_export_leads(&name))
		return NULL;
	buf = __getname();
	if (!buf)
		return ERR_PTR(-ENOMEM);
	path = dafsd_pseudo_inside(fh, buf);
	if (IS_ERR(path) || name.len + strlen(path) >= PATH_MAX) {
		__putname(buf);
		return NULL;
	}
	memmove(buf + name.len, path, strlen(path) + 1);
	memcpy(buf, name.data, name.len);
	*at = (struct dafs_str){ .len = strlen(buf), .data = (const u8 *)buf };
	return buf;
}
