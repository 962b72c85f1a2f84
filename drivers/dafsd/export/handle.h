/* SPDX-License-Identifier: GPL-2.0 */
/* The bytes of filehandles, and the keyed hash in them. */
#ifndef _DAFSD_EXPORT_HANDLE_H
#define _DAFSD_EXPORT_HANDLE_H

#include <linux/build_bug.h>
#include <linux/dafs/msg.h>

struct dafsd_export;
struct dentry;
struct path;

#define DAFSD_FILEID_VERSION	2
#define DAFSD_FILEID_PSEUDO	0xf0	/* no file system has this fid_type */
#define DAFSD_FID_WORDS		9

/**
 * struct dafsd_fileid - the fileid of a filehandle of this server
 * @version: DAFSD_FILEID_VERSION; a fileid of zeros does not occur (E-111)
 * @type: enum fid_type; FILEID_ROOT for the root of the export, or
 *	DAFSD_FILEID_PSEUDO
 * @words: of @fid in use
 * @reserved: zero
 * @fid: from exportfs; the rest is zero
 * @mac: see export/fh_key.c
 */
struct dafsd_fileid {
	u8 version;
	u8 type;
	u8 words;
	u8 reserved;
	u32 fid[DAFSD_FID_WORDS];
	u8 mac[8];
};

static_assert(sizeof(struct dafsd_fileid) == DAFS_FILEID_SIZE);

extern const u8 dafsd_pseudo_fshandle[DAFS_FSHANDLE_SIZE];

int dafsd_fh_encodable(const struct path *path);
dafs_status_t dafsd_fh_compose(struct dafsd_export *exp, struct dentry *dentry,
			       struct dafs_fh *wire);

/* fh_key.c: the keyed hash of filehandles */
int dafsd_fh_key_init(void);
int dafsd_fh_key_get(void);
bool dafsd_fh_key_known(void);
void dafsd_fh_key_exit(void);
void dafsd_fh_sign(struct dafs_fh *wire);
bool dafsd_fh_genuine(const struct dafs_fh *wire);

#endif /* _DAFSD_EXPORT_HANDLE_H */
