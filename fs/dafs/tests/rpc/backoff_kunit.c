// SPDX-License-Identifier: GPL-2.0
/* The pauses between attempts to connect, without a server. */
#include <kunit/test.h>
#include <linux/jiffies.h>
#include "../../rpc/rpc_impl.h"

#define BACKOFF_SAMPLES	200

/**
 * struct backoff_case - a pause
 * @least: reconnect_min_delay_ms
 * @most: reconnect_max_delay_ms
 * @lease_s: of the server
 * @attempt: number of it
 * @ms: its longest time; the shortest one is half of it
 */
struct backoff_case {
	unsigned int least;
	unsigned int most;
	unsigned int lease_s;
	unsigned int attempt;
	unsigned int ms;
};

static const struct backoff_case backoff_cases[] = {
	{ 500, 10000, 90, 0, 500 },
	{ 500, 10000, 90, 1, 1000 },
	{ 500, 10000, 90, 4, 8000 },
	{ 500, 10000, 90, 5, 10000 },
	{ 500, 10000, 90, UINT_MAX, 10000 },
	/* four attempts in a lease */
	{ 500, 10000, 10, 7, 2500 },
	{ 500, 10000, 1, 7, 500 },
	{ 1, 10, 90, 0, 1 },
	{ 1, 10, 90, 3, 8 },
	{ 1, 10, 90, 4, 10 },
	{ 1, 3600000, 1000000, UINT_MAX, 4096 },
	{ 3600000, 3600000, UINT_MAX, UINT_MAX, 3600000 },
	/* the shortest pause is no longer than the longest one */
	{ 20000, 10000, 90, 0, 20000 },
	{ 20000, 10000, 90, 5, 20000 },
	{ 20000, 10000, 1, 5, 20000 },
};

static void backoff_describe(const struct backoff_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u to %u ms, lease %u s, attempt %u", c->least,
		 c->most, c->lease_s, c->attempt);
}

KUNIT_ARRAY_PARAM(backoff_cases, backoff_cases, backoff_describe);

static void backoff_restore(void *before)
{
	const struct backoff_case *c = before;

	dafs_reconnect_min_delay_ms = c->least;
	dafs_reconnect_max_delay_ms = c->most;
}

/* It is between half of the time and the time, and at random. */
static void dafs_backoff_test(struct kunit *test)
{
	const struct backoff_case *c = test->param_value;
	struct backoff_case *before = kunit_kzalloc(test, sizeof(*before), GFP_KERNEL);
	unsigned long shortest = ULONG_MAX, longest = 0;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, before);
	before->least = dafs_reconnect_min_delay_ms;
	before->most = dafs_reconnect_max_delay_ms;
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, backoff_restore, before));
	dafs_reconnect_min_delay_ms = c->least;
	dafs_reconnect_max_delay_ms = c->most;
	for (i = 0; i < BACKOFF_SAMPLES; i++) {
		unsigned long pause = dafs_backoff(c->lease_s, c->attempt);

		shortest = min(shortest, pause);
		longest = max(longest, pause);
	}
	KUNIT_EXPECT_GE(test, shortest, msecs_to_jiffies(c->ms / 2));
	KUNIT_EXPECT_LE(test, longest, msecs_to_jiffies(c->ms));
	/* 200 samples are in different halves of the range */
	if (c->ms >= 500) {
		KUNIT_EXPECT_LT(test, shortest, msecs_to_jiffies(c->ms * 3ULL / 4));
		KUNIT_EXPECT_GT(test, longest, msecs_to_jiffies(c->ms * 3ULL / 4));
	}
}

static struct kunit_case backoff_kunit_cases[] = {
	KUNIT_CASE_PARAM(dafs_backoff_test, backoff_cases_gen_params),
	{}
};

static struct kunit_suite backoff_suite = {
	.name = "dafs_backoff",
	.test_cases = backoff_kunit_cases,
};

kunit_test_suite(backoff_suite);
