// SPDX-License-Identifier: GPL-2.0
/*
 * How often the client retries, without a server: each action for each kind of
 * request, on soft and hard mounts.
 */
#include <kunit/test.h>
#include "../../rpc/rpc.h"

/* Number of attempts of a test; more than any limit of the client. */
#define VERDICT_ATTEMPTS	600

/**
 * struct verdict_case - one cell of the table
 * @kind: kind of request
 * @action: what the server asks for
 * @at_once: attempts that are retried without a delay
 * @soft: attempts in all on a soft mount, 0: no limit
 * @hard: likewise on a hard mount
 * @err: final errno, 0: that of the status
 */
struct verdict_case {
	enum dafs_retry_kind kind;
	enum dafs_action action;
	unsigned int at_once;
	unsigned int soft;
	unsigned int hard;
	int err;
};

static const struct verdict_case verdict_cases[] = {
	{ DAFS_RETRY_CALL, DAFS_ACT_LATER, 0, 0, 0 },
	{ DAFS_RETRY_CALL, DAFS_ACT_MEMORY, 0, 6, 0 },
	{ DAFS_RETRY_CALL, DAFS_ACT_RESEND, 0, 4, 0 },
	{ DAFS_RETRY_CALL, DAFS_ACT_CRED, 1, 2, 0 },
	{ DAFS_RETRY_CALL, DAFS_ACT_SESSION, 3, 4, 0, -EIO },
	{ DAFS_RETRY_READ, DAFS_ACT_LATER, 0, 0, 0 },
	{ DAFS_RETRY_READ, DAFS_ACT_MEMORY, 0, 4, 0 },
	{ DAFS_RETRY_READ, DAFS_ACT_RESEND, 0, 4, 4, -EIO },
	{ DAFS_RETRY_READ, DAFS_ACT_CRED, 0, 4, 0, -EIO },
	{ DAFS_RETRY_READ, DAFS_ACT_SESSION, 0, 4, 0, -EIO },
	{ DAFS_RETRY_READ, DAFS_ACT_OPEN, 1, 4, 0 },
	{ DAFS_RETRY_READ, DAFS_ACT_INLINE, VERDICT_ATTEMPTS, 0, 0 },
	{ DAFS_RETRY_READ, DAFS_ACT_SMALLER, VERDICT_ATTEMPTS, 0, 0 },
	{ DAFS_RETRY_READ, DAFS_ACT_EMPTY, 0, 4, 4, -EIO },
	{ DAFS_RETRY_WRITE, DAFS_ACT_LATER, 0, 0, 0 },
	{ DAFS_RETRY_WRITE, DAFS_ACT_MEMORY, 0, 4, 0 },
	{ DAFS_RETRY_WRITE, DAFS_ACT_RESEND, 0, 4, 0, -EIO },
	{ DAFS_RETRY_WRITE, DAFS_ACT_CRED, 0, 4, 0, -EIO },
	{ DAFS_RETRY_WRITE, DAFS_ACT_SESSION, 0, 4, 0, -EIO },
	{ DAFS_RETRY_WRITE, DAFS_ACT_OPEN, 1, 4, 0 },
	{ DAFS_RETRY_WRITE, DAFS_ACT_INLINE, VERDICT_ATTEMPTS, 0, 0 },
	{ DAFS_RETRY_WRITE, DAFS_ACT_SMALLER, VERDICT_ATTEMPTS, 0, 0 },
	{ DAFS_RETRY_WRITE, DAFS_ACT_EMPTY, 0, 4, 4, -EIO },
};

/* Other combinations are not retried. */
static struct verdict_case verdict_case_of(enum dafs_retry_kind kind, enum dafs_action action)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(verdict_cases); i++)
		if (verdict_cases[i].kind == kind && verdict_cases[i].action == action)
			return verdict_cases[i];
	return (struct verdict_case){ kind, action, 0, 1, 1 };
}

static void verdict_follow(struct kunit *test, const struct verdict_case *vc, bool hard,
			   struct dafs_tries *tries)
{
	unsigned int limit = hard ? vc->hard : vc->soft, i;
	struct dafs_verdict verdict;

	for (i = 1; i <= VERDICT_ATTEMPTS; i++) {
		verdict = dafs_retry(vc->kind, vc->action, hard, tries);
		if (i == limit) {
			KUNIT_EXPECT_EQ(test, DAFS_NEXT_REPORT, verdict.next);
			KUNIT_EXPECT_EQ(test, vc->err, verdict.err);
			return;
		}
		KUNIT_ASSERT_EQ_MSG(test, i <= vc->at_once ? DAFS_NEXT_SEND : DAFS_NEXT_PAUSE,
				    verdict.next, "kind %d action %d hard %d attempt %u",
				    vc->kind, vc->action, hard, i);
	}
}

static void dafs_verdict_table_test(struct kunit *test)
{
	enum dafs_retry_kind kind;
	enum dafs_action action;

	for (kind = 0; kind < DAFS_RETRY_KINDS; kind++) {
		for (action = 0; action < DAFS_ACTIONS; action++) {
			struct verdict_case vc = verdict_case_of(kind, action);
			struct dafs_tries soft = {}, hard = {};

			verdict_follow(test, &vc, false, &soft);
			verdict_follow(test, &vc, true, &hard);
		}
	}
}

/* Each action has a separate limit. */
static void dafs_verdict_apart_test(struct kunit *test)
{
	struct verdict_case memory = verdict_case_of(DAFS_RETRY_CALL, DAFS_ACT_MEMORY);
	struct verdict_case resend = verdict_case_of(DAFS_RETRY_CALL, DAFS_ACT_RESEND);
	struct dafs_tries tries = {};

	verdict_follow(test, &memory, false, &tries);
	verdict_follow(test, &resend, false, &tries);
}

static void dafs_verdict_restart_test(struct kunit *test)
{
	struct verdict_case vc = verdict_case_of(DAFS_RETRY_READ, DAFS_ACT_EMPTY);
	struct dafs_tries tries = { .lost = 2, .delay_ms = 100 };

	verdict_follow(test, &vc, true, &tries);
	dafs_tries_restart(&tries);
	KUNIT_EXPECT_EQ(test, 0, tries.delay_ms);
	KUNIT_EXPECT_EQ(test, 2, tries.lost);
	verdict_follow(test, &vc, true, &tries);
}

/* R-4.4.1.2-20: pauses become longer, up to several seconds. */
static void dafs_verdict_delay_test(struct kunit *test)
{
	static const unsigned int pauses[] = {
		50, 100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000,
	};
	unsigned int ms = 0, i;

	for (i = 0; i < ARRAY_SIZE(pauses); i++) {
		ms = dafs_next_delay(ms);
		KUNIT_EXPECT_EQ(test, pauses[i], ms);
	}
}

static struct kunit_case dafs_verdict_cases[] = {
	KUNIT_CASE(dafs_verdict_table_test),
	KUNIT_CASE(dafs_verdict_apart_test),
	KUNIT_CASE(dafs_verdict_restart_test),
	KUNIT_CASE(dafs_verdict_delay_test),
	{}
};

static struct kunit_suite dafs_verdict_suite = {
	.name = "dafs_verdict",
	.test_cases = dafs_verdict_cases,
};

kunit_test_suite(dafs_verdict_suite);
