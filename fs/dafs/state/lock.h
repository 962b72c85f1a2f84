/* SPDX-License-Identifier: GPL-2.0 */
/* Byte-range locks: what the server has locked for the programs of this client. */
#ifndef _FS_DAFS_STATE_LOCK_H
#define _FS_DAFS_STATE_LOCK_H

#include <linux/atomic.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/dafs/msg.h>
#include "debt.h"

struct cred;
struct dafs_call;
struct dafs_conn;
struct dafs_inode;
struct dafs_open_state;
struct inode;

/*
 * enum dafs_held_state - what is known of bytes that the server was asked to lock
 *
 * They are LOST if the server did not give the lock back, after a restart or after the end of the
 * lease, if it has refused a weaker lock in its place, or if their open or their delegation is
 * lost.  They stay so until they are unlocked.
 */
enum dafs_held_state {
	DAFS_HELD_SURE,		/* it has locked them */
	DAFS_HELD_UNSURE,	/* a request was not answered: it may have */
	DAFS_HELD_LOST,		/* it had, but others may have had them since: see below */
};

/* Options by which a lock differs from others as long as it lasts; REPAIR is done at once */
#define DAFS_HELD_OPTIONS	(DAFS_LOCK_PERSIST | DAFS_LOCK_AUTORECOVERY)

/**
 * struct dafs_held - bytes that are locked at the server
 * @link: in dafs_locks.held, in the order of the file; they do not overlap
 * @start: first byte
 * @end: last byte, OFFSET_MAX for the end of the file
 * @type: DAFS_READ_LT or DAFS_WRITE_LT
 * @state: what is known of it
 * @local: locked by a delegation, so that the server need not know of it, and has not been asked;
 *	SURE
 * @options: DAFS_HELD_OPTIONS of them that the server was asked for
 */
struct dafs_held {
	struct list_head link;
	loff_t start;
	loff_t end;
	u32 type;
	enum dafs_held_state state;
	bool local;
	u32 options;
};

/**
 * struct dafs_locks - the locks of a file, from the first one until the inode is evicted
 * @inode: the file
 * @mutex: serializes the tasks that change locks at the server; held while they wait for it
 * @os: the open by which all locks are set, with a reference, while @held is not empty or
 *	there are @waiters; changed under @mutex and @lock
 * @waiters: LOCKs that wait at the server, as a rule by @os
 * @stronger: tasks that wait until those of @waiting are answered which ask for less; while there
 *	are any, no more are sent
 * @call: the request of a task that was killed, which may still be executed, or NULL;
 *	guarded by @mutex
 * @conn: its connection
 * @lock: guards @held, @spares, @lost, @recorded, @waiting and the debt; that of @os is inside
 * @held: struct dafs_held
 * @spares: likewise, for changes of @held
 * @waiting: struct dafs_lock_waiter of @waiters
 * @lost: some of @held are lost; I/O that relies on them looks here without @lock
 * @recorded: some of @held have options; also read without @lock
 * @debt: what was written under locks that only a delegation knew of, see debt.c
 * @debt_id: the client-id that the server had delegated the file under, or gave it back under
 * @debt_sent: when it was asked for that, in the time of ktime_get_coarse_boottime()
 * @debt_until: until when others do not have the file, although the delegation is being returned,
 *	likewise; 0 while it is not
 * @debt_told: the log says that it was not paid
 * @settle: of an upper layer: writes and commits what was written under locks, before they
 *	are released in the background, or drops it; 0, or a negative errno if that must be tried
 *	again
 * @shrinking: tasks that may be about to unlock bytes, see dafs_locks_shrink()
 * @unlock_start: first byte of what is just being unlocked; changed under @mutex
 * @unlock_end: the last one, or -1
 * @lost_late: some were found to be lost by that; guarded by @mutex
 * @suspects: how often the open may have gone at the server since it was asked, see
 *	dafs_locks_suspect()
 * @probe: asks it; holds the inode
 * @work: unlocks what a task could not; holds the inode
 * @delay_ms: how long it has waited the last time
 */
struct dafs_locks {
	struct inode *inode;
	struct mutex mutex;	/* see above */
	struct dafs_open_state *os;
	atomic_t waiters;
	atomic_t stronger;
	struct dafs_call *call;
	struct dafs_conn *conn;
	spinlock_t lock;	/* see above */
	struct list_head held;
	struct list_head spares;
	struct list_head waiting;
	bool lost;
	bool recorded;
	enum dafs_debt debt;
	struct dafs_client_id debt_id;
	ktime_t debt_sent;
	ktime_t debt_until;
	bool debt_told;
	int (*settle)(struct inode *inode);
	atomic_t shrinking;
	loff_t unlock_start;
	loff_t unlock_end;
	bool lost_late;
	atomic_t suspects;
	struct work_struct probe;
	struct delayed_work work;
	unsigned int delay_ms;
};

/**
 * struct dafs_lock_range - bytes to lock
 * @start: first byte
 * @end: last byte, OFFSET_MAX for the end of the file
 * @type: DAFS_READ_LT or DAFS_WRITE_LT
 * @options: DAFS_LOCK_PERSIST, DAFS_LOCK_AUTORECOVERY, DAFS_LOCK_REPAIR
 */
struct dafs_lock_range {
	loff_t start;
	loff_t end;
	u32 type;
	u32 options;
};

/* held.c */
void dafs_held_init(struct dafs_locks *locks);
void dafs_held_exit(struct dafs_locks *locks);
const struct dafs_held *dafs_held_at(const struct dafs_locks *locks, loff_t pos, loff_t *end);
void dafs_held_set(struct dafs_locks *locks, const struct dafs_lock_range *range,
		   enum dafs_held_state state);
void dafs_held_clear(struct dafs_locks *locks, loff_t start, loff_t end);
void dafs_held_doubt(struct dafs_locks *locks, const struct dafs_lock_range *range);
bool dafs_held_set_local(struct dafs_locks *locks, loff_t start, loff_t end, u32 type);
bool dafs_held_lose_local(struct dafs_locks *locks);
void dafs_held_mark(struct dafs_locks *locks, loff_t start, loff_t end,
		    enum dafs_held_state state);
bool dafs_held_lost(struct dafs_locks *locks, loff_t start, loff_t end);
bool dafs_held_is_recorded(struct dafs_locks *locks, loff_t start, loff_t end);
bool dafs_held_undoes(struct dafs_locks *locks, struct dafs_held *undoes);
bool dafs_held_unsure(struct dafs_locks *locks);

/* lock.c */
struct dafs_locks *dafs_locks_get(struct inode *inode, int (*settle)(struct inode *inode));
void dafs_locks_free(struct dafs_inode *di);
int dafs_locks_enter(struct dafs_locks *locks);
void dafs_locks_leave(struct dafs_locks *locks);
void dafs_locks_shrink(struct dafs_locks *locks);
void dafs_locks_shrunk(struct dafs_locks *locks);
void dafs_locks_lower_later(struct dafs_locks *locks);
int dafs_locks_owner(struct inode *inode, const struct dafs_open_state *os, char *owner);
bool dafs_locks_any(const struct inode *inode);
bool dafs_locks_cover(const struct inode *inode, loff_t start, loff_t end);
bool dafs_locks_lost(const struct inode *inode);
bool dafs_locks_recorded(const struct inode *inode);

/* raise.c */
int dafs_locks_raise(struct dafs_locks *locks, struct dafs_open_state *os,
		     const struct cred *cred, const struct dafs_lock_range *range, bool *raised);

/* lock_wait.c */
int dafs_locks_enter_to_raise(struct dafs_locks *locks, const struct dafs_lock_range *range);
int dafs_locks_await(struct dafs_locks *locks, struct dafs_open_state *os,
		     const struct cred *cred, const struct dafs_lock_range *range);

/* unlock.c */
void dafs_locks_lower(struct dafs_locks *locks, loff_t start, loff_t end);
bool dafs_locks_in_doubt(struct dafs_locks *locks, loff_t start, loff_t end);
int dafs_locks_abort(struct dafs_locks *locks);

/* relock.c */
bool dafs_locks_suspected(const struct inode *inode);
struct dafs_open_state *dafs_locks_behind(const struct inode *inode, const struct dafs_conn *conn,
					  struct dafs_state_id *state_id);
int dafs_locks_await_reclaim(struct inode *inode, bool nowait);
int dafs_locks_look(const struct inode *inode, const struct dafs_conn *conn);
int dafs_locks_await_answer(struct inode *inode, unsigned int *delay_ms);
int dafs_locks_reclaim(struct dafs_open_state *os, struct dafs_conn *conn,
		       const struct dafs_state_id *state_id, dafs_status_t *status);
int dafs_locks_push(struct inode *inode, const struct dafs_client_id *client_id, ktime_t until);
void dafs_locks_lose(struct dafs_open_state *os);
void dafs_locks_lose_local(struct dafs_locks *locks);
void dafs_locks_suspect(struct dafs_open_state *os);
void dafs_locks_doubt(struct dafs_open_state *os);

#endif /* _FS_DAFS_STATE_LOCK_H */
