/* SPDX-License-Identifier: GPL-2.0 */
/* Records of inodes: what all state and I/O of one file hang on. */
#ifndef _DAFSD_STATE_FILE_H
#define _DAFSD_STATE_FILE_H

#include <linux/errseq.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/rhashtable-types.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct inode;

/**
 * struct dafsd_appends - appends to a file that are on their way to the disk, see data/append.c
 * @nr: how many; what follows means nothing without any; an AUTORECOVERY lock waits for 0
 * @since: errors of writing the file back when the first of them began
 * @from: where what is not known to be stable begins
 * @end: where the last of them ends
 * @cut: all of them from here on have failed and were taken back; LLONG_MAX if none have
 * @gap: there is data of others between them, so that none is taken back
 */
struct dafsd_appends {
	unsigned int nr;
	errseq_t since;
	loff_t from;
	loff_t end;
	loff_t cut;
	bool gap;
};

/**
 * struct dafsd_file - an inode as far as state and I/O are concerned
 * @rcu: frees it
 * @node: in dafsd_files; changed under dafsd_files_lock, read under RCU
 * @users: references: one of each state, one of each request that works on it without a
 *	state; drops to 0 under dafsd_files_lock
 * @inode: holds a reference
 * @unbroken: dafsd_persist_breaks when nothing of it was broken
 * @undone: changes of it were undone, so that I/O that began before may be late; guarded by
 *	@append, held exclusively
 * @gate: held shared by I/O without an open, from the check of reservations until it
 *	is done, and exclusively to grant a reservation.  Outside of @lock, and of
 *	write access to the file system, for which I/O may have to wait.
 * @append: held shared to write at an offset, exclusively to append.  Outside of the
 *	lock of the inode.
 * @appends: guarded by @append, held exclusively
 * @lock: guards what follows; held while an entry of the inode is removed, so
 *	that no open slips in
 * @opens: dafsd_open.file_link
 * @delegs: dafsd_deleg.file_link
 * @share_key: key of the opens that hold one
 * @nr_keys: how many do, some of which may be dead
 * @nr_strict: opens that forbid anything to others, some of which may be dead
 * @locks_lock: guards what follows, and dafsd_open.locker of its opens; inside of @lock
 * @lockers: dafsd_locker.file_link
 * @lock_waits: dafsd_lock_wait.link
 * @recall_waits: dafsd_recall_wait.link
 */
struct dafsd_file {
	struct rcu_head rcu;
	struct rhash_head node;
	refcount_t users;
	struct inode *inode;
	unsigned long unbroken;
	bool undone;
	struct rw_semaphore gate;
	struct rw_semaphore append;
	struct dafsd_appends appends;
	struct mutex lock;	/* see above */
	struct list_head opens;
	struct list_head delegs;
	u64 share_key;
	unsigned int nr_keys;
	unsigned int nr_strict;
	spinlock_t locks_lock;	/* see above */
	struct list_head lockers;
	struct list_head lock_waits;
	struct list_head recall_waits;
};

int dafsd_files_init(void);
void dafsd_files_exit(void);
struct dafsd_file *dafsd_file_find(const struct inode *inode);
struct dafsd_file *dafsd_file_get(struct inode *inode);
void dafsd_file_hold(struct dafsd_file *file);
void dafsd_file_put(struct dafsd_file *file);

#endif /* _DAFSD_STATE_FILE_H */
