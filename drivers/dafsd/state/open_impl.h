/* SPDX-License-Identifier: GPL-2.0 */
/* What the files about opens know of each other. */
#ifndef _DAFSD_STATE_OPEN_IMPL_H
#define _DAFSD_STATE_OPEN_IMPL_H

#include <linux/fs.h>
#include <linux/dafs/msg.h>
#include "file.h"
#include "open.h"
#include "state.h"

struct dafsd_locker;

/**
 * struct dafsd_open - the open of a file by one owner of one client with one filehandle
 * @state: what it has in common with other state
 * @file_link: in the opens of its file; guarded by the file's lock
 * @wire: filehandle that OPEN returned
 * @origin: which of the mounts that share a client-id has it, see dafsd_chan_origin()
 * @access: DAFS_OPEN_SHARE_ACCESS_*; changed under the file's lock
 * @deny: DAFS_OPEN_SHARE_DENY_*; guarded by the file's lock
 * @deny_delete: opened with DAFS_DELETE_DENY; guarded by the file's lock
 * @holds_key: counted in dafsd_file.nr_keys; guarded by the file's lock
 * @filp: open file that allows @access, from before it is published until it is released;
 *	replaced under the file's lock
 * @locker: its lock owner, from its first LOCK on; guarded by dafsd_file.locks_lock, holds a
 *	reference
 * @unlocked: it was revoked, and its locks were released; of the task that has claimed it
 * @undoes: likewise, but changes under its lock have to be undone before that ends
 * @owner_len: bytes of @owner
 * @owner: with the client, the lock owner (E-82)
 */
struct dafsd_open {
	struct dafsd_state state;
	struct list_head file_link;
	struct dafs_fh wire;
	u64 origin;
	u32 access;
	u32 deny;
	bool deny_delete;
	bool holds_key;
	struct file __rcu *filp;
	struct dafsd_locker *locker;
	bool unlocked;
	bool undoes;
	u32 owner_len;
	u8 owner[] __counted_by(owner_len);
};

/* it is freed by its header */
static_assert(!offsetof(struct dafsd_open, state));

/**
 * struct dafsd_opening - a file that is opened for an open, without the lock of its record
 * @filp: the new file; at the end, a file that is to be closed; or NULL
 * @access: DAFS_OPEN_SHARE_ACCESS_* of @filp
 * @wanted: access that the open needs, determined with the lock held; 0 when done
 * @cred: the credential to open the file with; a reference, or NULL
 */
struct dafsd_opening {
	struct file *filp;
	u32 access;
	u32 wanted;
	const struct cred *cred;
};

/* open.c */
struct dafsd_open *dafsd_state_open(struct dafsd_state *st);
struct dafsd_open *dafsd_open_load(struct dafsd_rqst *rq, const struct dafs_state_id *state_id,
				   dafs_status_t *status);
dafs_status_t dafsd_open_remove(struct dafsd_rqst *rq, const struct dafs_state_id *state_id,
				const struct inode *inode);

/* filp.c */
int dafsd_file_permission(struct inode *inode, u32 access, unsigned int flags);
struct file *dafsd_fh_open(const struct dafsd_fh *fh, u32 access, const struct cred *cred);
void dafsd_opening_want(struct dafsd_opening *opening, u32 access, const struct cred *cred);
bool dafsd_opening_fits(struct dafsd_opening *opening, u32 access, const struct cred *cred);
dafs_status_t dafsd_opening_open(struct dafsd_opening *opening, const struct dafsd_fh *fh);
void dafsd_opening_end(struct dafsd_opening *opening);
struct file *dafsd_open_filp(const struct dafsd_open *open);
void dafsd_open_replace(struct dafsd_open *open, struct dafsd_opening *opening);

/* share.c */
dafs_status_t dafsd_share_check_open(const struct dafsd_file *file, const struct dafsd_open *own,
				     u32 access, const struct dafs_open_args *args);
dafs_status_t dafsd_share_enter(struct dafsd_file *file, u32 access);
void dafsd_share_leave(struct dafsd_file *file);
void dafsd_share_take(struct dafsd_open *open, const struct dafs_open_args *args);
dafs_status_t dafsd_share_check_reduce(const struct dafsd_open *open,
				       const struct dafs_open_downgrade_args *args);
void dafsd_share_reduce(struct dafsd_open *open, const struct dafs_open_downgrade_args *args);
void dafsd_share_drop(struct dafsd_open *open);

#endif /* _DAFSD_STATE_OPEN_IMPL_H */
