// SPDX-License-Identifier: GPL-2.0
/* What /proc/self/mountstats says of a mount: the statistics of its client, mostly. */
#include <linux/math64.h>
#include <linux/seq_file.h>
#include <linux/dafs/stats.h>
#include "../data/data.h"
#include "vfs.h"

#define DAFS_STATS_VERSION	"1.2"

/* Times in microseconds, all else as it was counted. */
static void dafs_show_proc(struct seq_file *m, const struct dafs_client *clnt, u32 proc)
{
	u64 sums[DAFS_NR_STATS];
	unsigned int i;

	dafs_stats_read(clnt->stats, proc, sums);
	if (!sums[DAFS_STAT_CALLS])
		return;
	sums[DAFS_STAT_WAIT_NS] = div_u64(sums[DAFS_STAT_WAIT_NS], NSEC_PER_USEC);
	sums[DAFS_STAT_REPLY_NS] = div_u64(sums[DAFS_STAT_REPLY_NS], NSEC_PER_USEC);
	seq_printf(m, "\t%22s:", dafs_proc_name(proc));
	for (i = 0; i < DAFS_NR_STATS; i++)
		seq_printf(m, " %llu", sums[i]);
	seq_putc(m, '\n');
}

static void dafs_show_paths(struct seq_file *m, const struct dafs_client *clnt)
{
	struct dafs_path_info info;
	unsigned int i;

	for (i = 0; dafs_client_path_info(clnt, i, &info); i++)
		seq_printf(m, "\tpath:\tserver=%pISpc,state=%s,reconnects=%u,outstanding=%u,credits=%u\n",
			   &info.at, info.up ? "up" : "down", info.reconnects, info.outstanding,
			   info.credits);
}

static void dafs_show_client_stats(struct seq_file *m, const struct dafs_client *clnt)
{
	u64 sums[DAFS_NR_STATS];

	seq_printf(m, "\tage:\t%lu\n", (jiffies - clnt->begun) / HZ);
	seq_printf(m, "\tsession:\tstate=%s,reconnects=%u\n", dafs_client_state_name(clnt),
		   READ_ONCE(clnt->reconnects));
	dafs_show_paths(m, clnt);
	dafs_stats_total(clnt->stats, sums);
	seq_printf(m, "\tbytes:\tsent=%llu,received=%llu,direct=%llu,regions=%llu\n",
		   sums[DAFS_STAT_SENT], sums[DAFS_STAT_RECEIVED], sums[DAFS_STAT_DIRECT],
		   sums[DAFS_STAT_REGIONS]);
	seq_printf(m, "\tcalls:\ttotal=%llu,errors=%llu,lost=%llu\n", sums[DAFS_STAT_CALLS],
		   sums[DAFS_STAT_ERRORS], sums[DAFS_STAT_LOST]);
}

/* Of the mount alone, in bytes. */
static void dafs_show_unstable(struct seq_file *m, const struct dafs_sb_info *sbi)
{
	seq_printf(m, "\tunstable:\tkept=%llu,most=%llu\n",
		   (u64)dafs_unstable_pages(sbi) << PAGE_SHIFT,
		   (u64)dafs_unstable_most() << PAGE_SHIFT);
}

/**
 * dafs_show_stats() - the statistics as /proc/self/mountstats shows them
 * @m: where to
 * @root: root of the mount
 *
 * Context: may sleep.
 * Return: 0.
 */
int dafs_show_stats(struct seq_file *m, struct dentry *root)
{
	const struct dafs_sb_info *sbi = DAFS_SB(root->d_sb);
	const struct dafs_client *clnt = sbi->clnt;
	u32 proc;

	/* Parsers know the line of the device, and believe that all that follows on it is NFS's. */
	seq_puts(m, "\n\tstatvers:\t" DAFS_STATS_VERSION "\n\topts:\t");
	seq_puts(m, sb_rdonly(root->d_sb) ? "ro" : "rw");
	dafs_show_options(m, root);
	seq_putc(m, '\n');
	dafs_show_client_stats(m, clnt);
	dafs_show_unstable(m, sbi);
	seq_puts(m, "\tper-op statistics\n");
	for (proc = DAFS_PROC_FIRST; proc <= DAFS_PROC_LAST; proc++)
		dafs_show_proc(m, clnt, proc);
	return 0;
}
