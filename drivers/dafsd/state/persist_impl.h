/* SPDX-License-Identifier: GPL-2.0 */
/* What the files about PERSIST locks know of each other, and lock.c of them. */
#ifndef _DAFSD_STATE_PERSIST_IMPL_H
#define _DAFSD_STATE_PERSIST_IMPL_H

#include <linux/in6.h>
#include <linux/rwsem.h>
#include <linux/uuid.h>
#include "../export/handle.h"
#include "lock_impl.h"
#include "../store/undo.h"
#include "persist.h"

struct dafsd_range;
struct dafsd_use;

/**
 * enum dafsd_persist_phase - what has become of a PERSIST lock
 * @DAFSD_PERSIST_HELD: its owner has it, and so has the kernel
 * @DAFSD_PERSIST_LEFT: its owner has lost the open by which it was locked, and may reclaim it;
 *	a request that conflicts with it breaks it (the draft: it is breakable)
 * @DAFSD_PERSIST_BROKEN: until somebody repairs it
 * @DAFSD_PERSIST_UNDOING: an AUTORECOVERY lock: what was written under it is to be undone, see
 *	persist_undo.c
 *
 * The administrator is told the same numbers, see persist_admin.c.
 */
enum dafsd_persist_phase {
	DAFSD_PERSIST_HELD,
	DAFSD_PERSIST_LEFT,
	DAFSD_PERSIST_BROKEN,
	DAFSD_PERSIST_UNDOING,
};

/**
 * struct dafsd_persist_range - bytes that are locked
 * @start: first byte
 * @end: last byte
 * @type: F_RDLCK or F_WRLCK
 * @state: enum dafsd_persist_phase
 */
struct dafsd_persist_range {
	loff_t start;
	loff_t end;
	unsigned char type;
	unsigned char state;
};

/**
 * struct dafsd_persist_file - a file, as it is known after a restart, and under all its names
 * @fs: UUID of its file system
 * @type: enum fid_type
 * @words: of @fid in use
 * @reserved: zero
 * @fid: from exportfs, without a directory; the rest is zero
 */
struct dafsd_persist_file {
	uuid_t fs;
	u8 type;
	u8 words;
	u16 reserved;
	u32 fid[DAFSD_FID_WORDS];
};

/**
 * struct dafsd_persist - the PERSIST locks of one owner in one file
 * @file_link: in the table by @file
 * @client_link: in the table by client-id-string
 * @number: key of its record
 * @file: the file
 * @client_id: what its client was known by when it got the first of them
 * @verifier: the instance of its client
 * @auth_type: of the principal of that
 * @locker: who has those that are HELD; NULL without any.  For comparing: it lives as long.
 * @addr: where that client came from
 * @undo: of an AUTORECOVERY lock, the only one of its owner in the file; a reference, or NULL
 * @persists: these are PERSIST locks, which may break; false only with @undo
 * @unsaved: the record is not as it should be
 * @outlived: another instance of its client is there: broken as soon as @locker has let go
 * @lost: @file was not found; the log has told of that
 * @stamp: of its last change, see dafsd_persist_tidy()
 * @nr: of @ranges in use, which do not overlap, unless by one for reading that is broken
 * @room: of @ranges there are
 * @ranges: the locks
 * @id_len: bytes of the client-id-string
 * @owner_len: bytes of the owner
 * @names: these two
 *
 * All of it is guarded by dafsd_persist_sem.
 */
struct dafsd_persist {
	struct hlist_node file_link;
	struct hlist_node client_link;
	u64 number;
	struct dafsd_persist_file file;
	struct dafs_client_id client_id;
	struct dafs_verifier verifier;
	u32 auth_type;
	const struct dafsd_locker *locker;
	struct in6_addr addr;
	struct dafsd_undo *undo;
	bool persists;
	bool unsaved;
	bool outlived;
	bool lost;
	unsigned long stamp;
	unsigned int nr;
	unsigned int room;
	struct dafsd_persist_range *ranges;
	u32 id_len;
	u32 owner_len;
	u8 names[];
};

/* How a request has dafsd_persist_sem */
enum dafsd_persist_access {
	DAFSD_PERSIST_NONE,	/* there are no PERSIST locks in this file system */
	DAFSD_PERSIST_SHARED,
	DAFSD_PERSIST_EXCLUSIVE,
};

/* Locks with a record */
#define DAFSD_LOCK_RECORDED	(DAFS_LOCK_PERSIST | DAFS_LOCK_AUTORECOVERY)

/**
 * struct dafsd_persist_change - LOCK, as far as PERSIST locks are concerned
 * @rq: the request
 * @inode: the file
 * @locker: whose lock it is
 * @range: the bytes
 * @options: DAFS_LOCK_*
 * @access: what dafsd_persist_end() gives up
 * @nofs: from dafsd_persist_read_lock() or dafsd_persist_write_lock()
 * @file: what @inode is known by; with exclusive access
 * @own: PERSIST locks of @locker in it, or NULL
 * @unsynced: records were changed that must be durable before the response
 * @stamp: dafsd_persist_stamp after that
 * @kept: set: what is reclaimed was left to its owner, so that nobody else can have had it
 * @waits: it waits until it is not denied
 * @lacks: set: it would need before-images, which it has not got because it seemed to be denied
 * @due: set: changes under another lock have to be undone first, see dafsd_persist_undo()
 * @undo: new before-images, a reference; or NULL
 * @undo_used: they are those of @own
 */
struct dafsd_persist_change {
	struct dafsd_rqst *rq;
	struct inode *inode;
	const struct dafsd_locker *locker;
	const struct dafsd_range *range;
	u32 options;
	enum dafsd_persist_access access;
	unsigned int nofs;
	struct dafsd_persist_file file;
	struct dafsd_persist *own;
	bool unsynced;
	unsigned long stamp;
	bool kept;
	bool waits;
	bool lacks;
	bool due;
	struct dafsd_undo *undo;
	bool undo_used;
};

/* persist.c */
dafs_status_t dafsd_persist_begin(struct dafsd_persist_change *change);
dafs_status_t dafsd_persist_commit(struct dafsd_persist_change *change);
dafs_status_t dafsd_persist_end(struct dafsd_persist_change *change, dafs_status_t status);
void dafsd_persist_log(const struct dafsd_persist *persist, const char *why);

/* persist_end.c */
dafs_status_t dafsd_persist_unlock(const struct dafsd_locker *locker, const struct inode *inode,
				   const struct dafsd_range *range);
dafs_status_t dafsd_persist_close(const struct dafsd_locker *locker, const struct inode *inode);
bool dafsd_persist_leave(const struct dafsd_locker *locker, const struct inode *inode);
void dafsd_persist_gone(const struct dafsd_locker *locker, const struct inode *inode);

bool dafsd_persist_serve_next(const struct dafsd_export *exp, struct dafsd_persist_place *place,
			      bool due);
int dafsd_persist_forget_left(struct dafsd_persist *persist);
void dafsd_persist_let_go(struct dafsd_persist *own);
bool dafsd_persist_is_removed(struct super_block *sb, int err);
struct dentry *dafsd_persist_lookup(const struct dafsd_export *exp,
				    const struct dafsd_persist_file *file);
struct dafsd_persist *dafsd_persist_of_locker(const struct dafsd_locker *locker,
					      const struct inode *inode,
					      struct dafsd_persist_file *file);
int dafsd_persist_sync(const struct dafsd_persist_file *file, unsigned long stamp);

/* persist_look.c */
bool dafsd_persist_possible(const struct inode *inode);
bool dafsd_persist_identify(const struct inode *inode, struct dafsd_persist_file *file);
bool dafsd_persist_find_file(const struct inode *inode, struct dafsd_persist_file *file);
struct dafsd_persist *dafsd_persist_find(const struct dafsd_persist_file *file,
					 const struct dafsd_client *client, const void *owner,
					 u32 len);
struct dafsd_persist_range *dafsd_persist_obstacle(const struct dafsd_persist_file *file,
						   const struct dafsd_range *range,
						   enum dafsd_persist_phase state,
						   const struct dafsd_persist *except,
						   struct dafsd_persist **found);
dafs_status_t dafsd_persist_broken(struct dafsd_file *file, bool special, u64 offset, u64 length);
dafs_status_t dafsd_persist_tell(struct dafsd_rqst *rq, const struct dafsd_persist *persist,
				 const struct dafsd_persist_range *range, dafs_status_t status);
dafs_status_t dafsd_persist_test(struct dafsd_rqst *rq, const struct inode *inode,
				 const struct dafs_str *owner, const struct dafsd_range *range);

/* persist_range.c */
bool dafsd_persist_meets(const struct dafsd_persist_range *range, const struct dafsd_range *other);
bool dafsd_persist_conflicts(const struct dafsd_persist_range *range,
			     const struct dafsd_range *other);
bool dafsd_persist_covers(loff_t start, loff_t end, const struct dafsd_persist_range *range);
void dafsd_persist_move(struct dafsd_persist_range *range, enum dafsd_persist_phase to);
void dafsd_persist_take_out(struct dafsd_persist *persist, unsigned int n);
void dafsd_persist_look_again(void);
bool dafsd_persist_cut(struct dafsd_persist *persist, loff_t start, loff_t end, bool held);
void dafsd_persist_hold(struct dafsd_persist *persist, const struct dafsd_range *range);
bool dafsd_persist_holds_any(const struct dafsd_persist *persist);
bool dafsd_persist_splits(const struct dafsd_persist *persist, loff_t start, loff_t end);
bool dafsd_persist_has(const struct dafsd_persist *own, const struct dafsd_range *range);
bool dafsd_persist_was_left(const struct dafsd_persist *own, const struct dafsd_range *range);

/* persist_undo.c */
struct dafsd_persist *dafsd_persist_undoes(const struct dafsd_persist_file *file);
bool dafsd_persist_is_due(const struct dafsd_persist *persist);
void dafsd_persist_end_undo(struct dafsd_persist *persist);
void dafsd_persist_take_over(struct dafsd_persist *persist, unsigned long stamp,
			     struct list_head *over);
void dafsd_persist_orphan_undo(struct dafsd_undo *undo);
void dafsd_persist_undo_again(void);
void dafsd_persist_reap(struct list_head *over);
dafs_status_t dafsd_persist_prepare_undo(struct dafsd_persist_change *change, bool denied);
void dafsd_persist_finish_undo(struct dafsd_persist_change *change);
dafs_status_t dafsd_persist_arm(const struct dafsd_locker *locker, struct dafsd_file *file,
				bool reclaims);
dafs_status_t dafsd_persist_abort(const struct dafsd_locker *locker, const struct dafsd_use *use);
void dafsd_persist_undo_begin(void);
void dafsd_persist_undo_stop(void);

/* persist_record.c */
extern struct rw_semaphore dafsd_persist_sem;
extern unsigned int dafsd_persist_max;
extern unsigned int dafsd_persist_nr;
extern unsigned long dafsd_persist_stamp;
struct dafsd_persist *dafsd_persist_first(const struct dafsd_persist_file *file);
struct dafsd_persist *dafsd_persist_follow(const struct dafsd_persist *persist);
struct hlist_head *dafsd_persist_of_client(const void *id, u32 len);
struct dafsd_persist *dafsd_persist_new(const struct dafsd_persist_file *file,
					const struct dafsd_locker *locker);
dafs_status_t dafsd_persist_reserve(struct dafsd_persist *persist, unsigned int more, bool grows);
void dafsd_persist_drop(struct dafsd_persist *persist);
void dafsd_persist_tidy(const struct dafsd_persist_file *file, unsigned long stamp, bool durable);
int dafsd_persist_save(struct dafsd_persist *persist);
struct dafsd_persist *dafsd_persist_next(struct dafsd_persist_place *place);
void dafsd_persist_seen(struct dafsd_persist_place *place, const struct dafsd_persist *persist);
bool dafsd_persist_walk(struct dafsd_persist_place *place, const uuid_t *fs, bool due,
			struct dafsd_persist_file *file);
unsigned int dafsd_persist_read_lock(void);
void dafsd_persist_read_unlock(unsigned int nofs);
unsigned int dafsd_persist_write_lock(void);
void dafsd_persist_write_unlock(unsigned int nofs);
bool dafsd_persist_is_of(const struct dafsd_persist *persist, const struct dafsd_client *client);

/**
 * dafsd_persist_undo_of() - what is needed to undo changes under a lock
 * @persist: the lock
 *
 * Context: holds dafsd_persist_sem.
 * Return: the before-images of an AUTORECOVERY lock that has not ended, or NULL.
 */
static inline struct dafsd_undo *dafsd_persist_undo_of(const struct dafsd_persist *persist)
{
	return persist->undo && !persist->undo->over ? persist->undo : NULL;
}

#endif /* _DAFSD_STATE_PERSIST_IMPL_H */
