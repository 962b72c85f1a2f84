/* SPDX-License-Identifier: GPL-2.0 */
/* What the files about byte-range locks know of each other. */
#ifndef _DAFSD_STATE_LOCK_IMPL_H
#define _DAFSD_STATE_LOCK_IMPL_H

#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include "file.h"
#include "lock.h"

struct dafsd_client;
struct dafsd_open;
struct file_lock;

/* What a lock of the kernel takes */
#define DAFSD_LOCK_BYTES	sizeof(struct file_lock)

/**
 * struct dafsd_locker - a lock owner in one file
 * @ref: see lock.c
 * @file_link: in dafsd_file.lockers while @nr_opens; with that guarded by
 *	dafsd_file.locks_lock
 * @nr_opens: opens that have this one
 * @client: with @owner, the lock owner; holds a reference
 * @lock: orders the changes of its locks, and excludes them when an open dies.  No other
 *	lock of this module is held when it is taken; file systems may sleep under it, and
 *	so may the store.
 * @filp: the files by which read locks and write locks were set, which the kernel's locks
 *	refer to as long as they last; guarded by @lock, or NULL
 * @undoes: an open of it was revoked, and changes have to be undone before what it has locked is
 *	unlocked in the kernel; guarded by @lock
 * @asked: a local program has asked for what it has locked, and may wait for it; set under the
 *	kernel's lock of the locks of the file
 * @owner_len: bytes of @owner
 * @owner: from OPEN
 */
struct dafsd_locker {
	refcount_t ref;
	struct list_head file_link;
	unsigned int nr_opens;
	struct dafsd_client *client;
	struct mutex lock;	/* see above */
	struct file *filp[2];
	bool undoes;
	bool asked;
	u32 owner_len;
	u8 owner[] __counted_by(owner_len);
};

/**
 * struct dafsd_spare - files by which nothing is locked any more
 * @filp: with a reference each, or NULL
 */
struct dafsd_spare {
	struct file *filp[2];
};

/* locker.c */
extern const struct lock_manager_operations dafsd_lock_ops;

struct dafsd_locker *dafsd_locker_get(struct dafsd_locker *locker);
void dafsd_locker_put(struct dafsd_locker *locker);
struct dafsd_locker *dafsd_locker_find(const struct dafsd_file *file,
				       const struct dafsd_client *client,
				       const u8 *owner, u32 len);
dafs_status_t dafsd_open_locker(struct dafsd_open *open, struct dafsd_locker **locker);
struct dafsd_locker *dafsd_open_locker_of(const struct dafsd_open *open);
void dafsd_lock_init(struct file_lock *fl, void *owner, struct file *filp,
		     const struct dafsd_range *range);
void dafsd_lock_forget(struct file_lock *fl);
struct file *dafsd_locker_file(struct dafsd_locker *locker, struct file *filp,
			       const struct dafsd_range *range);
void dafsd_locker_rest(struct dafsd_locker *locker, struct dafsd_spare *spare);
void dafsd_spare_close(const struct dafsd_spare *spare);
unsigned int dafsd_locker_list(const struct dafsd_locker *locker, const struct inode *inode,
			       loff_t from, struct dafsd_range *ranges, unsigned int max);

/* All that a file can have? */
static inline bool dafsd_range_is_all(const struct dafsd_range *range)
{
	return !range->start && range->end == OFFSET_MAX;
}

/* Do these have bytes in common? */
static inline bool dafsd_ranges_meet(loff_t start, loff_t end, loff_t other_start, loff_t other_end)
{
	return start <= other_end && other_start <= end;
}

#endif /* _DAFSD_STATE_LOCK_IMPL_H */
