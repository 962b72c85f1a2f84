// SPDX-License-Identifier: GPL-2.0
/* The counters of a session. */
#include <linux/kthread.h>
#include <linux/dafs/stats.h>
#include "../lib/fixture.h"
#include "../../rpc/rpc_impl.h"

struct stats_step {
	u64 before[DAFS_NR_STATS];
	u64 after[DAFS_NR_STATS];
};

static u64 stats_grown(const struct stats_step *step, enum dafs_stat what)
{
	return step->after[what] - step->before[what];
}

static void dafs_stats_null_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct stats_step step;
	unsigned int i;

	dafs_stats_read(fix->clnt->stats, DAFS_PROC_NULL, step.before);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, 0, dafs_null(fix->clnt, NULL));
	dafs_stats_read(fix->clnt->stats, DAFS_PROC_NULL, step.after);
	KUNIT_EXPECT_EQ(test, 3, stats_grown(&step, DAFS_STAT_CALLS));
	KUNIT_EXPECT_EQ(test, 0, stats_grown(&step, DAFS_STAT_ERRORS));
	KUNIT_EXPECT_EQ(test, 0, stats_grown(&step, DAFS_STAT_LOST));
	KUNIT_EXPECT_EQ(test, 3 * DAFS_HDR_SIZE, stats_grown(&step, DAFS_STAT_SENT));
	KUNIT_EXPECT_EQ(test, 3 * DAFS_HDR_SIZE, stats_grown(&step, DAFS_STAT_RECEIVED));
	KUNIT_EXPECT_EQ(test, 0, stats_grown(&step, DAFS_STAT_DIRECT));
	KUNIT_EXPECT_GT(test, stats_grown(&step, DAFS_STAT_REPLY_NS), 0);
}

static void dafs_stats_error_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	const struct qstr name = dafs_test_qstr("missing");
	struct stats_step one, all;
	struct dafs_fh fh;

	dafs_stats_read(fix->clnt->stats, DAFS_PROC_LOOKUP, one.before);
	dafs_stats_total(fix->clnt->stats, all.before);
	KUNIT_EXPECT_EQ(test, -ENOENT, dafs_lookup(fix->clnt, dafs_test_me(), &fix->dir, &name,
						   &fh));
	dafs_stats_read(fix->clnt->stats, DAFS_PROC_LOOKUP, one.after);
	dafs_stats_total(fix->clnt->stats, all.after);
	KUNIT_EXPECT_EQ(test, 1, stats_grown(&one, DAFS_STAT_CALLS));
	KUNIT_EXPECT_EQ(test, 1, stats_grown(&one, DAFS_STAT_ERRORS));
	KUNIT_EXPECT_EQ(test, 1, stats_grown(&all, DAFS_STAT_ERRORS));
}

static int stats_null_thread(void *data)
{
	struct dafs_client *clnt = data;
	unsigned int i;

	for (i = 0; i < 50; i++)
		dafs_null(clnt, NULL);
	return 0;
}

/* No count is lost with concurrent callers. */
static void dafs_stats_many_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct task_struct *threads[4];
	struct stats_step step;
	unsigned int i;

	dafs_stats_read(fix->clnt->stats, DAFS_PROC_NULL, step.before);
	for (i = 0; i < ARRAY_SIZE(threads); i++) {
		threads[i] = kthread_run(stats_null_thread, fix->clnt, "dafs_stats/%u", i);
		if (!IS_ERR(threads[i]))
			get_task_struct(threads[i]);
	}
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		if (!IS_ERR(threads[i]))
			kthread_stop_put(threads[i]);
	dafs_stats_read(fix->clnt->stats, DAFS_PROC_NULL, step.after);
	KUNIT_EXPECT_EQ(test, 200, stats_grown(&step, DAFS_STAT_CALLS));
}

static struct kunit_case dafs_stats_cases[] = {
	KUNIT_CASE_PARAM(dafs_stats_null_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_stats_error_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_stats_many_test),
	{}
};

static struct kunit_suite dafs_stats_suite = {
	.name = "dafs_stats",
	.test_cases = dafs_stats_cases,
};

kunit_test_suite(dafs_stats_suite);
