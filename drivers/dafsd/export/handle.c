// SPDX-License-Identifier: GPL-2.0
/*
 * Encoding of filehandles; vfs/fh.c finds the object of a filehandle.
 */
#include <linux/exportfs.h>
#include "export.h"
#include "handle.h"

const u8 dafsd_pseudo_fshandle[DAFS_FSHANDLE_SIZE] __nonstring = "DAFS pseudo root";

static int dafsd_fid_encode(struct dentry *dentry, struct dafsd_fileid *id, int flags)
{
	int words = DAFSD_FID_WORDS;
	int type;

	type = exportfs_encode_fh(dentry, (struct fid *)id->fid, &words, flags);
	if (type < 0)
		return type;
	if (type == FILEID_INVALID || type == FILEID_ROOT || type == DAFSD_FILEID_PSEUDO)
		return -EOVERFLOW;
	if (!words || words > DAFSD_FID_WORDS)
		return -EOVERFLOW;
	id->type = type;
	id->words = words;
	return 0;
}

/**
 * dafsd_fh_encodable() - can the objects of a file system have filehandles?
 * @path: an object
 *
 * Context: may sleep.
 * Return: 0; -EOPNOTSUPP or -EOVERFLOW if not.
 */
int dafsd_fh_encodable(const struct path *path)
{
	struct dafsd_fileid id = {};

	return dafsd_fid_encode(path->dentry, &id, 0);
}

/**
 * dafsd_fh_compose() - make the filehandle of an object, or of the pseudo root
 * @exp: export that the object is in, NULL for the pseudo root
 * @dentry: the object, positive; ignored for the pseudo root
 * @wire: filled
 *
 * Context: may sleep.
 * Return: OK; SERVERFAULT if the file system has no handle for the object; for the pseudo
 * root, as dafsd_exports_missing() until the first export has been enabled.
 */
dafs_status_t dafsd_fh_compose(struct dafsd_export *exp, struct dentry *dentry,
			       struct dafs_fh *wire)
{
	struct dafsd_fileid id = {
		.version = DAFSD_FILEID_VERSION,
		.type = FILEID_ROOT,
	};
	int err = 0;

	if (!dafsd_fh_key_known())
		return dafsd_exports_missing();
	if (exp && dentry != exp->path.dentry)
		err = dafsd_fid_encode(dentry, &id,
				       exp->subtree_check ? EXPORT_FH_CONNECTABLE : 0);
	if (err)
		return DAFSERR_SERVERFAULT;
	memcpy(wire->fshandle, exp ? exp->fshandle : dafsd_pseudo_fshandle,
	       DAFS_FSHANDLE_SIZE);
	memcpy(wire->fileid, &id, sizeof(id));
	dafsd_fh_sign(wire);
	return DAFS_STATUS_OK;
}
