/* SPDX-License-Identifier: GPL-2.0 */
/* LOCKs that wait until another lock ends. */
#ifndef _DAFSD_STATE_LOCK_WAIT_H
#define _DAFSD_STATE_LOCK_WAIT_H

#include <linux/workqueue.h>
#include "../request/request.h"
#include "lock.h"

struct dafsd_conn;
struct dafsd_export;
struct dafsd_file;
struct dafsd_locker;
struct dafsd_use;

/**
 * struct dafsd_lock_wait - a LOCK that waits for other locks, from its first denial on
 * @base: its event
 * @link: in dafsd_file.lock_waits, in the order of arrival; with @woken guarded by
 *	dafsd_file.locks_lock
 * @conn: the connection of the request
 * @file: the file; holds a reference
 * @exp: the export, without which the file system may be unmounted; holds a reference
 * @locker: whose it is; holds a reference
 * @range: what it is to lock
 * @woken: a lock in its way has ended, so it comes before those that arrived later
 * @released: it was woken before it tried the last time
 * @over: it has waited long enough
 * @timer: sets @over
 */
struct dafsd_lock_wait {
	struct dafsd_wait base;
	struct list_head link;
	struct dafsd_conn *conn;
	struct dafsd_file *file;
	struct dafsd_export *exp;
	struct dafsd_locker *locker;
	struct dafsd_range range;
	bool woken;
	bool released;
	bool over;
	struct delayed_work timer;
};

extern unsigned int dafsd_lock_wait_ms;

struct dafsd_lock_wait *dafsd_lock_wait_of(const struct dafsd_rqst *rq);
struct dafsd_lock_wait *dafsd_lock_wait_add(struct dafsd_rqst *rq, const struct dafsd_use *use,
					    struct dafsd_locker *locker,
					    const struct dafsd_range *range);
struct dafsd_locker *dafsd_lock_wait_first(struct dafsd_file *file,
					   const struct dafsd_lock_wait *wait,
					   const struct dafsd_locker *locker,
					   const struct dafsd_range *range,
					   struct dafsd_range *first);
void dafsd_lock_wait_try(struct dafsd_lock_wait *wait);
bool dafsd_lock_wait_denied(struct dafsd_lock_wait *wait);
void dafsd_lock_wake(struct dafsd_file *file, const struct dafsd_range *range);

#endif /* _DAFSD_STATE_LOCK_WAIT_H */
