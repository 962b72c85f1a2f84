/* SPDX-License-Identifier: GPL-2.0 */
/* Byte-range locks (6.5.18, 6.5.19, 6.5.20). */
#ifndef _DAFSD_STATE_LOCK_H
#define _DAFSD_STATE_LOCK_H

#include <linux/types.h>
#include <linux/dafs/msg.h>

/* Of how many lock owners dafsd_locks_awaited() looks whether somebody waits for them */
#define DAFSD_AWAITED_LOOKS	64

struct dafsd_client;
struct dafsd_fh;
struct dafsd_open;
struct dafsd_rqst;
struct dafsd_use;

/**
 * struct dafsd_range - bytes of a file, and how they are locked
 * @type: F_RDLCK, F_WRLCK or F_UNLCK
 * @start: first byte
 * @end: last byte; OFFSET_MAX for all that a file may have
 */
struct dafsd_range {
	unsigned char type;
	loff_t start;
	loff_t end;
};

/**
 * struct dafsd_lock_req - what LOCK or LOCKU asks for
 * @range: what to lock, and how
 * @options: DAFS_LOCK_*; 0 to unlock
 * @waits: it may wait until the lock is free
 */
struct dafsd_lock_req {
	struct dafsd_range range;
	u32 options;
	bool waits;
};

dafs_status_t dafsd_lock_set(struct dafsd_rqst *rq, const struct dafsd_use *use,
			     const struct dafsd_lock_req *req);
dafs_status_t dafsd_lock_abort(const struct dafsd_use *use, const struct dafsd_range *range);
dafs_status_t dafsd_lock_test(struct dafsd_rqst *rq, const struct dafsd_fh *fh,
			      const struct dafs_str *owner, const struct dafsd_range *range);
void dafsd_lock_revoked(struct dafsd_open *open);
dafs_status_t dafsd_lock_closing(struct dafsd_open *open);
void dafsd_lock_drop(struct dafsd_open *open);
void dafsd_lock_leave(struct dafsd_open *open);
unsigned int dafsd_lock_list(const struct dafsd_open *open, loff_t from,
			     struct dafsd_range *ranges, unsigned int max);
bool dafsd_locks_awaited(struct dafsd_client *client);
void dafsd_locks_exit(void);

#endif /* _DAFSD_STATE_LOCK_H */
