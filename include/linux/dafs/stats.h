/* SPDX-License-Identifier: GPL-2.0 */
/* Counters of the requests that a session makes, kept for each processor. */
#ifndef _LINUX_DAFS_STATS_H
#define _LINUX_DAFS_STATS_H

#include <linux/percpu-defs.h>
#include <linux/types.h>
#include <linux/dafs_wire.h>

struct dafs_call;

/* Counters of each procedure; times are sums. */
enum dafs_stat {
	DAFS_STAT_CALLS,	/* requests that were sent and have ended */
	DAFS_STAT_ERRORS,	/* answered by another status than OK */
	DAFS_STAT_LOST,		/* not answered: the connection ended */
	DAFS_STAT_SENT,		/* bytes of requests */
	DAFS_STAT_RECEIVED,	/* bytes of responses */
	DAFS_STAT_DIRECT,	/* bytes of memory offered for RDMA */
	DAFS_STAT_REGIONS,	/* memory regions registered for it */
	DAFS_STAT_WAIT_NS,	/* waiting for a slot */
	DAFS_STAT_REPLY_NS,	/* from sending to the end of the call */
	DAFS_STAT_POSTS,	/* calls of ib_post_send() */
	DAFS_NR_STATS,
};

#define DAFS_STATS_PROCS	(DAFS_PROC_LAST - DAFS_PROC_FIRST + 1)

struct dafs_stats;

struct dafs_stats __percpu *dafs_stats_alloc(void);
void dafs_stats_free(struct dafs_stats __percpu *stats);
void dafs_stats_count(struct dafs_stats __percpu *stats, const struct dafs_call *call);
void dafs_stats_read(const struct dafs_stats __percpu *stats, u32 proc, u64 *sums);
void dafs_stats_total(const struct dafs_stats __percpu *stats, u64 *sums);

#endif /* _LINUX_DAFS_STATS_H */
