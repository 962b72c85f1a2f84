/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the client has at the server: opens, and how they are reclaimed.
 */
#ifndef _FS_DAFS_STATE_H
#define _FS_DAFS_STATE_H

#include "../inode/inode.h"

/* Characters of the name of an open owner, with the NUL */
#define DAFS_OPEN_OWNER	40

struct dafs_locks;

/**
 * struct dafs_reserved - what an open denies to others (4.4.1.2, 4.4.2)
 * @deny: DAFS_OPEN_SHARE_DENY_*
 * @keyed: it has @share_key
 * @share_key: others must have the same one, or none
 */
struct dafs_reserved {
	u32 deny;
	bool keyed;
	u64 share_key;
};

/**
 * struct dafs_open_state - one OPEN at the server (4.4.1.2)
 * @ref: users: one for each open file, one for each I/O request that uses it
 * @kref: one for all users together, one for the recovery while it looks at it
 * @link: link in di->opens until the last user is gone
 * @all_link: link in sbi->opens, for the same time
 * @recovery: number of the dafs_opens_recover() run that has visited it; guarded by
 *	sbi->opens_lock
 * @di: the inode; valid until @link is removed
 * @sbi: the mount
 * @fh: the file
 * @ino: its inode number, for the log
 * @cred: credential of the opener
 * @access: DAFS_OPEN_SHARE_ACCESS_* of its users
 * @more_access: likewise, what locks by it need
 * @owner: the open owner's name
 * @readers: open files among its users that read
 * @writers: likewise, that write
 * @reservations: struct dafs_reservation of its open files
 * @exclusive: there are reservations, or have been a moment ago: it gets no other open file.
 *	This and the three before are guarded by di->lock
 * @reserve_lock: serializes the tasks that change what it reserves
 * @lock: guards @reserved, @more_access, @locks, @state_id, @client_id, @granted, @lost, @breached,
 *	@reclaiming, @reclaims and @closing
 * @reserved: what it is to reserve at the server
 * @watched: a work item closes it when what was written is stable, see vfs/file.c
 * @locks: the byte-range locks that are set by it, which are one of its users; or NULL
 * @state_id: from the server
 * @client_id: client-id that the open belongs to
 * @granted: what came with it, until dafs_deleg_take() or dafs_deleg_reclaimed()
 * @deleg: the delegation that came with it, as long as the inode has that; guarded by a lock of
 *	state/deleg.c
 * @lost: errno for the users, if the server refused the reclaim
 * @breached: it is lost, and it denied something to others, who may have done that since; set
 *	once
 * @reclaiming: a reclaim is under way: by @work, or the recovery of the client
 * @reclaims: struct dafs_reclaim that wait for the end of the reclaim
 * @closing: no users are left: no new reclaim starts, and @work closes it after a
 *	reclaim in progress
 * @left: the last reclaim has failed, but the server has the open under @left_id; these three
 *	belong to who reclaims
 * @left_id: a state-id that no user knows
 * @left_deleg: the delegation that has come with it, if it is not returned
 * @work: does one step of a reclaim, or of a CLOSE that the last user may not wait for;
 *	holds a reference of @kref and of the mount until the last step
 * @park: parks it while there is no connection
 * @delay_ms: delay before the last step
 * @gone: connections lost before the response
 * @nomem: steps that failed for want of memory
 * @unanswered: the connection was lost before the response to the last reclaim; the
 *	server may have executed it
 * @forced: sbi->forced at the first step
 */
struct dafs_open_state {
	refcount_t ref;
	struct kref kref;
	struct list_head link;
	struct list_head all_link;
	unsigned int recovery;
	struct dafs_inode *di;
	struct dafs_sb_info *sbi;
	struct dafs_fh fh;
	u64 ino;
	const struct cred *cred;
	u32 access;
	u32 more_access;
	char owner[DAFS_OPEN_OWNER];
	unsigned int readers;
	unsigned int writers;
	struct list_head reservations;
	unsigned int exclusive;
	struct mutex reserve_lock;	/* see above */
	spinlock_t lock;	/* see above */
	struct dafs_reserved reserved;
	atomic_t watched;
	struct dafs_locks *locks;
	struct dafs_state_id state_id;
	struct dafs_client_id client_id;
	struct dafs_delegation granted;
	struct dafs_deleg *deleg;
	int lost;
	bool breached;
	bool reclaiming;
	struct list_head reclaims;
	bool closing;
	bool left;
	struct dafs_state_id left_id;
	struct dafs_delegation left_deleg;
	struct delayed_work work;
	struct dafs_park park;
	unsigned int delay_ms;
	unsigned int gone;
	unsigned int nomem;
	bool unanswered;
	unsigned int forced;
};

/**
 * struct dafs_reclaim - a task or an I/O that waits for an open to be reclaimed
 * @link: in os->reclaims; guarded by os->lock
 * @ended: called once at the end, with @err set and os->lock held
 * @brief: it ends with -EINPROGRESS when the server asks for patience
 * @err: the result
 */
struct dafs_reclaim {
	struct list_head link;
	void (*ended)(struct dafs_reclaim *reclaim);
	bool brief;
	int err;
};

/* open.c */
struct dafs_open_state *dafs_open_state_get(struct inode *inode,
					    struct dentry *dentry, u32 access,
					    const struct cred *cred, bool checked, bool *fresh);

/**
 * struct dafs_new_file - how to create a file
 * @mode: its mode
 * @access: DAFS_OPEN_SHARE_ACCESS_* to open it for
 * @excl: create it EXCLUSIVE, so that the request may be sent again (6.5.24)
 */
struct dafs_new_file {
	umode_t mode;
	u32 access;
	bool excl;
};

struct dafs_open_state *dafs_open_state_create(struct inode *dir,
					       const struct qstr *name,
					       const struct dafs_new_file *how,
					       const struct cred *cred,
					       struct inode **inodep);
struct dafs_open_state *dafs_open_state_named(struct inode *dir, const struct qstr *name,
					      u32 access, const struct cred *cred,
					      struct inode **inodep);
int dafs_open_state_widen(struct dafs_open_state *os, u32 access, const struct cred *cred);
int dafs_open_state_deny(struct dafs_open_state *os, const struct dafs_reserved *more,
			 struct dafs_state_id *state_id);

/**
 * struct dafs_give_back - a delegation that is to be returned when its open is closed
 * @state_id: names it
 * @done: it was returned, or that was tried, with the CLOSE
 */
struct dafs_give_back {
	struct dafs_state_id state_id;
	bool done;
};

/* users.c */
struct dafs_open_state *dafs_open_state_find(struct dafs_inode *di, u32 access,
					     const struct cred *cred);
struct dafs_open_state *dafs_open_state_find_free(struct dafs_inode *di, u32 access,
						  const struct cred *cred);
struct dafs_open_state *dafs_open_state_find_writer(struct dafs_inode *di,
						    const struct cred *cred);
void dafs_open_state_hold(struct dafs_open_state *os);
void dafs_open_state_leave(struct dafs_open_state *os, u32 access);
void dafs_open_state_put(struct dafs_open_state *os, bool wait);
void dafs_open_state_put_with(struct dafs_open_state *os, struct dafs_give_back *back);
int dafs_open_state_id(struct dafs_open_state *os, struct dafs_state_id *state_id);
bool dafs_open_state_is(struct dafs_open_state *os, const struct dafs_state_id *state_id);
bool dafs_open_state_is_behind(struct dafs_open_state *os, const struct dafs_conn *conn,
			       struct dafs_state_id *state_id);
bool dafs_open_state_broken(struct dafs_open_state *os, const struct dafs_state_id *state_id,
			    dafs_status_t status);

/* reclaim.c */
int dafs_open_state_recover_start(struct dafs_open_state *os, const struct dafs_state_id *lost,
				  struct dafs_reclaim *reclaim);
int dafs_open_state_recover(struct dafs_open_state *os,
			    const struct dafs_state_id *lost);
int dafs_open_state_recover_retry(struct dafs_open_state *os, const struct dafs_state_id *lost,
				  unsigned int *delay_ms);
int dafs_open_state_recover_briefly(struct dafs_open_state *os, const struct dafs_state_id *lost,
				    unsigned int *delay_ms);
int dafs_opens_recover(struct dafs_sb_info *sbi, struct dafs_conn *conn);
void dafs_opens_lapsed(struct dafs_sb_info *sbi);

#endif /* _FS_DAFS_STATE_H */
