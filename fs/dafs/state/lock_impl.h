/* SPDX-License-Identifier: GPL-2.0 */
/* What the files about byte-range locks know of each other. */
#ifndef _FS_DAFS_STATE_LOCK_IMPL_H
#define _FS_DAFS_STATE_LOCK_IMPL_H

#include "lock.h"

/**
 * struct dafs_wanted - how local programs have locked a byte
 * @pos: the byte
 * @end: the last one for which this is so
 * @type: DAFS_READ_LT, DAFS_WRITE_LT, or 0
 */
struct dafs_wanted {
	loff_t pos;
	loff_t end;
	u32 type;
};

static inline u64 dafs_lock_length(loff_t start, loff_t end)
{
	return end == OFFSET_MAX ? DAFS_LOCK_TO_EOF : end - start + 1;
}

/* The server may have set it, but not recorded what a restart must not forget. */
static inline bool dafs_lock_may_be_set(dafs_status_t status)
{
	return status == DAFSERR_IO || status == DAFSERR_RESOURCE;
}

/* lock.c */
void dafs_lock_args_init(struct dafs_lock_args *args, const struct dafs_open_state *os,
			 const struct dafs_lock_range *range);
struct dafs_lock_range dafs_held_range(const struct dafs_held *held);
int dafs_lock_bytes(struct dafs_locks *locks, const struct dafs_lock_range *range);
struct dafs_wanted dafs_locks_wanted(const struct dafs_locks *locks, loff_t pos);
void dafs_locks_keep_call(struct dafs_locks *locks, struct dafs_op *op, int err);
struct dafs_op dafs_locks_op(const struct dafs_open_state *os);
void dafs_locks_take_open(struct dafs_locks *locks, struct dafs_open_state *os);
void dafs_locks_drop_open(struct dafs_locks *locks);

/* raise.c */
struct dafs_lock_range dafs_locks_raising_all(struct dafs_locks *locks,
					      const struct dafs_lock_range *range);
int dafs_locks_open(struct dafs_locks *locks, struct dafs_open_state *os,
		    const struct dafs_lock_range *range, const struct cred *cred);

/* unlock.c */
void dafs_locks_end_undo(struct dafs_locks *locks);
void dafs_locks_lower_range(struct dafs_locks *locks, loff_t start, loff_t end, bool keep);
void dafs_locks_work(struct work_struct *work);

/* relock.c */
void dafs_locks_probe_work(struct work_struct *work);

#endif /* _FS_DAFS_STATE_LOCK_IMPL_H */
