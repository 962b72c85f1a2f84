/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Objects of the server as the client knows them: attributes, access rights, sizes,
 * references.  Above rpc/ and proc/, below all that works on objects.
 *
 * Their locks, and the order of these: "Locks" in Documentation/filesystems/dafs/design.rst.
 */
#ifndef _FS_DAFS_INODE_H
#define _FS_DAFS_INODE_H

#include <linux/netfs.h>
#include "attr.h"
#include "sb.h"

#define DAFS_ACCESS_CACHE	4

/**
 * struct dafs_access_entry - what the server granted a user
 * @cred: the user with a reference, or NULL
 * @granted: DAFS_ACCESS_*
 * @at: time of the request, in jiffies
 */
struct dafs_access_entry {
	const struct cred *cred;
	u32 granted;
	unsigned long at;
};

/**
 * struct dafs_unstable_link - a place in sbi->unstable
 * @link: in it
 * @inode: the inode, or NULL for a marker of dafs_unstable_for_each()
 */
struct dafs_unstable_link {
	struct list_head link;
	struct inode *inode;
};

struct dafs_deleg;
struct dafs_locks;

/* struct dafs_inode, flags */
#define DAFS_INO_STALE		0	/* the attributes must be read again */
#define DAFS_INO_STALE_STAT	1	/* likewise for stat(2); the change attribute is valid */
#define DAFS_INO_ZAP		2	/* the page cache is out of date */
#define DAFS_INO_OWN_CHANGE	3	/* the next new change attribute is due to our own change */
#define DAFS_INO_LISTED		4	/* the directory has been listed once */
#define DAFS_INO_NAMES_USED	5	/* names in it were used since the last listing */
#define DAFS_INO_LOOK_FIRST	6	/* a file to be created in it existed: LOOKUP first */
#define DAFS_INO_AHEAD		7	/* di->ahead is in use */
#define DAFS_INO_AHEAD_TRIED	8	/* trial over: only used names give credit */
#define DAFS_INO_REMOVED	9	/* this client removes or has removed its last name */
#define DAFS_INO_ZAPPING	10	/* the page cache is being dropped */
#define DAFS_INO_UNCERTAIN	11	/* others' changes may look like ours */
#define DAFS_INO_LONGER		12	/* larger than at the server, see dafs_apply_size() */
#define DAFS_INO_DELEG		13	/* it has a delegation, see state/deleg.c */
#define DAFS_INO_DELEG_WRITE	14	/* that is one for writing */
#define DAFS_INO_DELEG_LEAVING	15	/* it is being returned */
#define DAFS_INO_GUESSED	16	/* others' changes have looked like ours, or may have */

/**
 * struct dafs_inode - one object of the server
 * @netfs: the inode; must come first
 * @fh: its filehandle
 * @flags: DAFS_INO_*
 * @lock: guards what follows up to @opens
 * @change: change attribute
 * @asked: sbi->clock of the latest request that was answered; answers to older requests
 *	are ignored
 * @attr_at: when the attributes were read, in jiffies
 * @attr_sent: when the request for them was sent, in the time of ktime_get_coarse_boottime()
 * @attr_timeo: how long they are valid, in jiffies
 * @sure_at: last time when DAFS_INO_UNCERTAIN was clear, in jiffies
 * @own_change: sbi->clock of the last change made by this client; answers to older
 *	requests are stale; written without @lock
 * @access: access rights, latest first
 * @opens: struct dafs_open_state
 * @deleg: the delegation, or NULL; guarded by a lock of state/deleg.c
 * @deleg_at: since when it has one, in jiffies; valid with DAFS_INO_DELEG
 * @deleg_sent: when the request was sent that it was granted by, in the time of
 *	ktime_get_coarse_boottime(); likewise
 * @locks: byte-range locks, from the first one on; set once, see state/lock.c
 * @dir_gen: sbi->clock when a change of the directory by other clients was seen, so
 *	unique among directories; written under @lock, read by dafs_d_revalidate()
 *	without
 * @ahead_credit: number of entries that read-ahead may list, see vfs/ahead.c
 * @ahead: the read-ahead, or NULL; guarded by DAFS_INO_AHEAD
 * @btime: time of creation
 * @writers: buffered writes in progress; raised under i_lock
 * @left_writes: direct writes, appends and new sizes in progress whose tasks were killed
 * @stores: counts buffered writes, and faults of stores to mapped pages, before they make a
 *	folio dirty
 * @flushing: tasks whose write-back a COMMIT follows, as they wait until it is stable
 * @async_lock: guards @async_writes and @async_next
 * @async_writes: asynchronous direct writes in progress that were begun while bytes were locked,
 *	in this order
 * @async_next: number of the next one
 * @writer: user who owns the dirty folios, see data/writer.c, or NULL; guarded by @lock, and
 *	changed under @claim_lock and netfs.wb_lock
 * @writer_leaves: another user waits for the write-back of these folios; guarded by
 *	@lock
 * @write_lock: serializes buffered writers and appenders, see
 *	dafs_buffered_write() and dafs_append_iter()
 * @claim_lock: serializes dafs_writer_claim() and the copy of write(2) after it, see
 *	data/writer.c
 * @exact_lock: held for reading by a write(2) that sends its bytes itself, from before it drops
 *	folios until it has ended; for writing by who is about to store to a page, until it has
 *	the invalidate lock
 * @zap_lock: serializes dafs_zap_mapping()
 * @unstable_lock: guards @unstable, @committing, @unstable_bytes and @unstable_pinned
 * @unstable: struct dafs_extent
 * @committing: extents covered by a COMMIT in progress; a holder of @commit_lock may
 *	read it without @unstable_lock
 * @unstable_bytes: number of bytes in @unstable and @committing
 * @unstable_stops: write-back is stable while this is not 0, see dafs_unstable_stop()
 * @unstable_pinned: an inode reference is held while @unstable is not empty
 * @unstable_link: in sbi->unstable if @unstable_pinned
 * @put_link: in sbi->puts
 * @commit_lock: one COMMIT at a time
 * @commit_ends: counts completed COMMITs, including resends; incremented under
 *	@commit_lock, waited for by dafs_commit_inode()
 * @commit_work: commits in the background; holds an inode reference
 */
struct dafs_inode {
	struct netfs_inode netfs;
	struct dafs_fh fh;
	unsigned long flags;
	spinlock_t lock;	/* see above */
	u64 change;
	long asked;
	unsigned long attr_at;
	ktime_t attr_sent;
	unsigned long attr_timeo;
	unsigned long sure_at;
	atomic_long_t own_change;
	struct dafs_access_entry access[DAFS_ACCESS_CACHE];
	struct list_head opens;
	struct dafs_deleg *deleg;
	unsigned long deleg_at;
	ktime_t deleg_sent;
	struct dafs_locks *locks;
	unsigned long dir_gen;
	struct dafs_ahead *ahead;
	struct timespec64 btime;
	atomic_t ahead_credit;
	atomic_t writers;
	atomic_t left_writes;
	atomic_t stores;
	atomic_t flushing;
	spinlock_t async_lock;	/* see above */
	struct list_head async_writes;
	u64 async_next;
	const struct cred *writer;
	bool writer_leaves;
	struct mutex write_lock;	/* see above */
	struct mutex claim_lock;	/* see above */
	struct rw_semaphore exact_lock; /* see above */
	struct mutex zap_lock;	/* see above */
	spinlock_t unstable_lock;	/* see above */
	struct list_head unstable;
	struct list_head committing;
	size_t unstable_bytes;
	atomic_t unstable_stops;
	bool unstable_pinned;
	struct dafs_unstable_link unstable_link;
	struct list_head put_link;
	struct mutex commit_lock;	/* see above */
	atomic_t commit_ends;
	struct work_struct commit_work;
};

static inline struct dafs_inode *DAFS_I(const struct inode *inode)
{
	return container_of(inode, struct dafs_inode, netfs.inode);
}

/* access.c */
void dafs_access_zap_locked(struct dafs_inode *di);
bool dafs_access_cached(struct dafs_inode *di, const struct cred *cred, u32 *granted);
int dafs_access_granted(struct inode *inode, const struct cred *cred, u32 *granted);
int dafs_may(struct inode *inode, const struct cred *cred, u32 want);

/* names.c */
unsigned long dafs_dir_gen(const struct inode *dir);
void dafs_dir_changed(struct inode *dir, const struct dafs_change_info *change);

/* size.c */
void dafs_remote_size_raise(struct netfs_inode *ictx, u64 end);
void dafs_zero_point_raise(struct netfs_inode *ictx, u64 end);
void dafs_file_raise_size(struct inode *inode, u64 end);

/* hold.c */
void dafs_async_begin(struct dafs_sb_info *sbi);
void dafs_async_end(struct dafs_sb_info *sbi);
bool dafs_inode_hold(struct inode *inode);
void dafs_inode_put_later(struct inode *inode);
void dafs_inode_puts(struct work_struct *work);

#endif /* _FS_DAFS_INODE_H */
