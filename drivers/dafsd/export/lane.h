/* SPDX-License-Identifier: GPL-2.0 */
/* The share of the workers that requests to an export have; request/park.c gives it out. */
#ifndef _DAFSD_EXPORT_LANE_H
#define _DAFSD_EXPORT_LANE_H

#include <linux/atomic.h>
#include <linux/bug.h>
#include <linux/list.h>

/**
 * struct dafsd_lane - a bounded share of the workers, see request/park.c
 * @running: requests that have one
 * @first: dafsd_rqst.park_link of those that wait for one, and of whose session nothing is
 *	executed here; guarded by the lock of request/park.c
 * @waiting: the others that wait; likewise
 * @short_link: in the list of lanes that requests wait for; likewise
 */
struct dafsd_lane {
	atomic_t running;
	struct list_head first;
	struct list_head waiting;
	struct list_head short_link;
};

/**
 * dafsd_lane_init() - a share of the workers for an export
 * @lane: the share
 */
static inline void dafsd_lane_init(struct dafsd_lane *lane)
{
	atomic_set(&lane->running, 0);
	INIT_LIST_HEAD(&lane->short_link);
	INIT_LIST_HEAD(&lane->first);
	INIT_LIST_HEAD(&lane->waiting);
}

/* Does nothing wait there? */
static inline bool dafsd_lane_is_quiet(const struct dafsd_lane *lane)
{
	return list_empty(&lane->first) && list_empty(&lane->waiting);
}

/**
 * dafsd_lane_exit() - the export is gone
 * @lane: its share, which no request has any more
 */
static inline void dafsd_lane_exit(struct dafsd_lane *lane)
{
	WARN_ON_ONCE(atomic_read(&lane->running) || !dafsd_lane_is_quiet(lane) ||
		     !list_empty(&lane->short_link));
}

#endif /* _DAFSD_EXPORT_LANE_H */
