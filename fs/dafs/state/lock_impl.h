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

/* lock.c */
void dafs_lock_args_init(struct dafs_lock_args *args, const struct dafs_open_state *os,
			 const struct dafs_lock_range *range);
struct dafs_lock_range dafs_held_range(const struct dafs_held *held);
int dafs_lock_bytes(struct dafs_locks *locks, const struct dafs_lock_range *range);
struct dafs_wanted dafs_locks_wanted(const struct dafs_locks *locks, loff_t pos);

/* relock.c */
void dafs_locks_probe_work(struct work_struct *work);

#endif /* _FS_DAFS_STATE_LOCK_IMPL_H */
