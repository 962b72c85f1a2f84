/* SPDX-License-Identifier: GPL-2.0 */
/* Opens, the files that requests read and write by them, and what they deny to others. */
#ifndef _DAFSD_STATE_OPEN_H
#define _DAFSD_STATE_OPEN_H

#include <linux/bits.h>
#include <linux/types.h>
#include <linux/dafs/msg.h>

struct dafsd_export;
struct dafsd_fh;
struct dafsd_file;
struct dafsd_open;
struct dafsd_rqst;
struct file;
struct inode;

#define DAFSD_OPEN_CREATED	BIT(0)	/* just created: no permission needed */
#define DAFSD_OPEN_OWNER	BIT(1)	/* the owner of the file may always */
#define DAFSD_OPEN_TRUNCATE	BIT(2)	/* empty the file; write access is held */
#define DAFSD_OPEN_BY_NAME	BIT(3)	/* the name must still be there */

/**
 * struct dafsd_use - a file that a request reads from or writes to
 * @filp: a reference
 * @open: a reference; NULL for I/O without an open, see dafsd_share_enter()
 * @file: the record of the inode; a reference without @open, which else has one
 * @exp: the export that it was found by; lives as long as @open, or the request's
 *	filehandle
 * @local: the client is this machine
 */
struct dafsd_use {
	struct file *filp;
	struct dafsd_open *open;
	struct dafsd_file *file;
	struct dafsd_export *exp;
	bool local;
};

/* open.c */
dafs_status_t dafsd_open_reserve(struct dafsd_rqst *rq);
void dafsd_open_unreserve(struct dafsd_rqst *rq);
dafs_status_t dafsd_open_add(struct dafsd_rqst *rq, struct dafsd_fh *fh, const struct dafs_fh *wire,
			     unsigned int flags, struct dafs_state_id *state_id);

/* close.c */
dafs_status_t dafsd_open_close(struct dafsd_rqst *rq, const struct dafs_fh *wire,
			       const struct dafs_state_id *state_id);
dafs_status_t dafsd_open_downgrade(struct dafsd_rqst *rq);

/* use.c */
dafs_status_t dafsd_open_check_regular(const struct dafsd_fh *fh);
dafs_status_t dafsd_open_find(struct dafsd_rqst *rq, const struct dafsd_fh *fh,
			      const struct dafs_state_id *state_id, u32 access,
			      struct dafsd_use *use);
void dafsd_open_end(struct dafsd_use *use);
bool dafsd_open_allows(const struct dafsd_use *use, u32 access);
dafs_status_t dafsd_open_use(struct dafsd_rqst *rq, const struct dafs_fh *wire,
			     const struct dafs_state_id *state_id, u32 access,
			     dafs_status_t (*run)(struct dafsd_rqst *rq,
						  const struct dafsd_use *use));
dafs_status_t dafsd_open_for_commit(struct dafsd_rqst *rq, const struct dafsd_fh *fh,
				    struct file **filp);

/* filp.c */
void dafsd_open_done(struct file *filp);

/* share.c: removal of names */
dafs_status_t dafsd_remove_begin(struct inode *inode, bool check_open, struct dafsd_file **file);
void dafsd_remove_end(struct dafsd_file *file);

#endif /* _DAFSD_STATE_OPEN_H */
