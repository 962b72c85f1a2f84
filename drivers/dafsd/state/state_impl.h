/* SPDX-License-Identifier: GPL-2.0 */
/* What open.c, share.c and state.c know of each other. */
#ifndef _DAFSD_STATE_STATE_IMPL_H
#define _DAFSD_STATE_STATE_IMPL_H

#include <linux/fs.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/rhashtable-types.h>
#include <linux/rwsem.h>
#include <linux/dafs/msg.h>
#include "state.h"

/**
 * struct dafsd_appends - appends to a file that are on their way to the disk, see data/append.c
 * @nr: how many; what follows means nothing without any
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
 * struct dafsd_file - an inode as far as opens and I/O are concerned
 * @rcu: frees it
 * @node: in dafsd_files; changed under dafsd_files_lock, read under RCU
 * @users: references: one of each open, one of each request that works on it; drops to
 *	0 under dafsd_files_lock
 * @inode: holds a reference
 * @gate: held shared by I/O without an open, from the check of reservations until it
 *	is done, and exclusively to grant a reservation.  Outside of @lock, and of
 *	write access to the file system, for which I/O may have to wait.
 * @append: held shared to write at an offset, exclusively to append.  Outside of the
 *	lock of the inode.
 * @appends: guarded by @append, held exclusively
 * @lock: guards what follows; held while an entry of the inode is removed, so
 *	that no open slips in
 * @opens: dafsd_open.file_link
 * @share_key: key of the opens that hold one
 * @nr_keys: how many do, some of which may be dead
 * @nr_strict: opens that forbid anything to others, some of which may be dead
 */
struct dafsd_file {
	struct rcu_head rcu;
	struct rhash_head node;
	refcount_t users;
	struct inode *inode;
	struct rw_semaphore gate;
	struct rw_semaphore append;
	struct dafsd_appends appends;
	struct mutex lock;	/* see above */
	struct list_head opens;
	u64 share_key;
	unsigned int nr_keys;
	unsigned int nr_strict;
};

/**
 * struct dafsd_open - one open
 * @rcu: frees it
 * @id: second half of the state-id
 * @dead: not published yet or claimed; guarded by the lock of the table
 * @client: whose it is; outlives it
 * @client_link: in client->opens or client->expired; guarded by client->lock
 * @closing: in exp->closing, when it was taken from its client
 * @file: holds a reference; NULL while only reserved
 * @file_link: in file->opens; guarded by file->lock
 * @exp: holds a reference; NULL while only reserved
 * @peer: whom the memory is counted for; holds a reference
 * @inode: that of @file, for comparison
 * @wire: filehandle that OPEN returned
 * @access: DAFS_OPEN_SHARE_ACCESS_*; changed under file->lock
 * @deny: DAFS_OPEN_SHARE_DENY_*; guarded by file->lock
 * @deny_delete: opened with DAFS_DELETE_DENY; guarded by file->lock
 * @holds_key: counted in file->nr_keys; guarded by file->lock
 * @filp: open file that allows @access; replaced under file->lock
 * @owner_len: bytes of @owner
 * @owner: lock owner
 */
struct dafsd_open {
	struct rcu_head rcu;
	u32 id;
	bool dead;
	struct dafsd_client *client;
	struct list_head client_link;
	struct llist_node closing;
	struct dafsd_file *file;
	struct list_head file_link;
	struct dafsd_export *exp;
	struct dafsd_peer *peer;
	struct inode *inode;
	struct dafs_fh wire;
	u32 access;
	u32 deny;
	bool deny_delete;
	bool holds_key;
	struct file __rcu *filp;
	u32 owner_len;
	u8 owner[] __counted_by(owner_len);
};

/* share.c */
struct dafsd_file *dafsd_file_find(const struct inode *inode);
struct dafsd_file *dafsd_file_get(struct inode *inode);
bool dafsd_file_hold(struct dafsd_file *file);
void dafsd_file_put(struct dafsd_file *file);
struct file *dafsd_file_borrow(struct dafsd_file *file, const struct dafsd_client *client,
			       bool *own);
u32 dafsd_share_check(const struct dafsd_file *file, const struct dafsd_open *own, u32 access,
		      u32 deny);
u32 dafsd_share_check_key(const struct dafsd_file *file, const struct dafs_open_args *args);
u32 dafsd_share_enter(struct dafsd_file *file, u32 access);
void dafsd_share_leave(struct dafsd_file *file);
void dafsd_share_take(struct dafsd_open *open, const struct dafs_open_args *args);
u32 dafsd_share_check_reduce(const struct dafsd_open *open,
			     const struct dafs_open_downgrade_args *args);
void dafsd_share_reduce(struct dafsd_open *open, const struct dafs_open_downgrade_args *args);
void dafsd_share_drop(struct dafsd_open *open);

/* state.c */
u32 dafsd_state_reserve(struct dafsd_open *open);
void dafsd_state_cancel(struct dafsd_open *open);
bool dafsd_state_retract(struct dafsd_open *open);
void dafsd_state_end(struct dafsd_open *open);
u32 dafsd_state_publish(struct dafsd_open *open, struct dafs_state_id *state_id);
u32 dafsd_state_split(const struct dafs_state_id *state_id, u32 *id);
void dafsd_state_of(const struct dafsd_open *open, struct dafs_state_id *state_id);
struct dafsd_open *dafsd_state_load(const struct dafsd_client *client,
				    const struct dafs_state_id *state_id, u32 *status);
u32 dafsd_state_claim(const struct dafsd_client *client, const struct dafs_state_id *state_id,
		      const struct inode *inode, struct dafsd_open **found);

/* open.c */
void dafsd_open_dismantle(struct dafsd_open *open);

#endif /* _DAFSD_STATE_STATE_IMPL_H */
