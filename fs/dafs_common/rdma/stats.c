// SPDX-License-Identifier: GPL-2.0
/*
 * Statistics of calls.  Every call is counted once, when it is over, on the current CPU;
 * the reader adds up the counters of all CPUs.
 */
#include <linux/percpu.h>
#include <linux/u64_stats_sync.h>
#include <linux/dafs/mem.h>
#include <linux/dafs/requester.h>
#include <linux/dafs/stats.h>

/**
 * struct dafs_stats - the counters of one CPU
 * @sync: lets 32-bit machines read whole numbers
 * @count: by procedure and enum dafs_stat
 */
struct dafs_stats {
	struct u64_stats_sync sync;
	u64_stats_t count[DAFS_STATS_PROCS][DAFS_NR_STATS];
};

/**
 * dafs_stats_alloc() - counters, all zero
 *
 * Context: may sleep.
 * Return: the counters, or NULL.
 */
struct dafs_stats __percpu *dafs_stats_alloc(void)
{
	struct dafs_stats __percpu *stats = alloc_percpu(struct dafs_stats);
	int cpu;

	if (!stats)
		return NULL;
	for_each_possible_cpu(cpu)
		u64_stats_init(&per_cpu_ptr(stats, cpu)->sync);
	return stats;
}
EXPORT_SYMBOL_GPL(dafs_stats_alloc);

/**
 * dafs_stats_free() - undo dafs_stats_alloc()
 * @stats: the counters, or NULL; no call is counted in them any more
 */
void dafs_stats_free(struct dafs_stats __percpu *stats)
{
	free_percpu(stats);
}
EXPORT_SYMBOL_GPL(dafs_stats_free);

/**
 * dafs_stats_count() - a call is over
 * @stats: the counters
 * @call: the call, with its error, reply and memory still there
 *
 * Context: any.
 */
void dafs_stats_count(struct dafs_stats __percpu *stats, const struct dafs_call *call)
{
	struct dafs_stats *mine = get_cpu_ptr(stats);
	u64_stats_t *count = mine->count[call->proc - DAFS_PROC_FIRST];
	unsigned long flags;

	flags = u64_stats_update_begin_irqsave(&mine->sync);
	u64_stats_inc(&count[DAFS_STAT_CALLS]);
	if (call->error)
		u64_stats_inc(&count[DAFS_STAT_LOST]);
	else if (call->status && call->status != DAFSERR_CHAIN_BROKEN)
		u64_stats_inc(&count[DAFS_STAT_ERRORS]);
	u64_stats_add(&count[DAFS_STAT_SENT], call->sent_len);
	if (call->reply)
		u64_stats_add(&count[DAFS_STAT_RECEIVED], call->buf.len);
	if (call->mem) {
		u64_stats_add(&count[DAFS_STAT_DIRECT], call->mem->len);
		u64_stats_add(&count[DAFS_STAT_REGIONS], call->mem->nr);
	}
	u64_stats_add(&count[DAFS_STAT_WAIT_NS], ktime_sub(call->sent, call->begun));
	u64_stats_add(&count[DAFS_STAT_REPLY_NS], ktime_sub(ktime_get(), call->sent));
	u64_stats_add(&count[DAFS_STAT_POSTS], call->posts);
	u64_stats_update_end_irqrestore(&mine->sync, flags);
	put_cpu_ptr(stats);
}

static void dafs_stats_add(const struct dafs_stats *one, unsigned int row, u64 *sums)
{
	u64 seen[DAFS_NR_STATS];
	unsigned int start, i;

	do {
		start = u64_stats_fetch_begin(&one->sync);
		for (i = 0; i < DAFS_NR_STATS; i++)
			seen[i] = u64_stats_read(&one->count[row][i]);
	} while (u64_stats_fetch_retry(&one->sync, start));
	for (i = 0; i < DAFS_NR_STATS; i++)
		sums[i] += seen[i];
}

/**
 * dafs_stats_read() - the counters of one procedure
 * @stats: the counters
 * @proc: DAFS_PROC_*
 * @sums: filled; DAFS_NR_STATS of them, by enum dafs_stat
 *
 * Context: any.
 */
void dafs_stats_read(const struct dafs_stats __percpu *stats, u32 proc, u64 *sums)
{
	int cpu;

	memset(sums, 0, DAFS_NR_STATS * sizeof(*sums));
	for_each_possible_cpu(cpu)
		dafs_stats_add(per_cpu_ptr(stats, cpu), proc - DAFS_PROC_FIRST, sums);
}
EXPORT_SYMBOL_GPL(dafs_stats_read);

/**
 * dafs_stats_total() - the sums of the counters of all procedures
 * @stats: the counters
 * @sums: as for dafs_stats_read()
 *
 * Context: any.
 */
void dafs_stats_total(const struct dafs_stats __percpu *stats, u64 *sums)
{
	unsigned int row;
	int cpu;

	memset(sums, 0, DAFS_NR_STATS * sizeof(*sums));
	for_each_possible_cpu(cpu)
		for (row = 0; row < DAFS_STATS_PROCS; row++)
			dafs_stats_add(per_cpu_ptr(stats, cpu), row, sums);
}
EXPORT_SYMBOL_GPL(dafs_stats_total);
