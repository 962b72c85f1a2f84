// SPDX-License-Identifier: GPL-2.0
/*
 * What the client remembers of locks that a delegation alone knows of, when the server is told of
 * them at the same time.
 */
#include <kunit/test.h>
#include <linux/fs.h>
#include <linux/slab.h>
#include "../../state/lock.h"

static void held_exit(void *locks)
{
	dafs_held_exit(locks);
}

/* Nothing is locked. */
static struct dafs_locks *held_new(struct kunit *test)
{
	struct dafs_locks *locks = kunit_kzalloc(test, sizeof(*locks), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, locks);
	dafs_held_init(locks);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, held_exit, locks));
	return locks;
}

/* How is a byte locked?  Return: 0 or DAFS_*_LT */
static u32 held_type(struct dafs_locks *locks, loff_t pos)
{
	const struct dafs_held *held;
	loff_t end;
	u32 type;

	spin_lock(&locks->lock);
	held = dafs_held_at(locks, pos, &end);
	type = held ? held->type : 0;
	spin_unlock(&locks->lock);
	return type;
}

/* What only the delegation knows of is changed, and unlocked, without the server. */
static void dafs_held_local_test(struct kunit *test)
{
	struct dafs_locks *locks = held_new(test);

	KUNIT_EXPECT_TRUE(test, dafs_held_set_local(locks, 0, 9, DAFS_WRITE_LT));
	KUNIT_EXPECT_TRUE(test, dafs_held_set_local(locks, 4, 5, DAFS_READ_LT));
	KUNIT_EXPECT_EQ(test, DAFS_WRITE_LT, held_type(locks, 3));
	KUNIT_EXPECT_EQ(test, DAFS_READ_LT, held_type(locks, 4));
	KUNIT_EXPECT_TRUE(test, dafs_held_set_local(locks, 0, OFFSET_MAX, 0));
	KUNIT_EXPECT_TRUE(test, list_empty(&locks->held));
}

/* What the server has been told of meanwhile stays as it is, until it is told again. */
static void dafs_held_told_test(struct kunit *test)
{
	const struct dafs_lock_range told = { .start = 4, .end = 5, .type = DAFS_WRITE_LT };
	struct dafs_locks *locks = held_new(test);

	KUNIT_EXPECT_TRUE(test, dafs_held_set_local(locks, 0, 9, DAFS_WRITE_LT));
	dafs_held_set(locks, &told, DAFS_HELD_SURE);
	KUNIT_EXPECT_FALSE(test, dafs_held_set_local(locks, 0, OFFSET_MAX, 0));
	KUNIT_EXPECT_FALSE(test, dafs_held_set_local(locks, 5, 5, DAFS_READ_LT));
	KUNIT_EXPECT_EQ(test, DAFS_WRITE_LT, held_type(locks, 0));
	KUNIT_EXPECT_EQ(test, DAFS_WRITE_LT, held_type(locks, 5));
	KUNIT_EXPECT_TRUE(test, dafs_held_set_local(locks, 0, 3, 0));
	KUNIT_EXPECT_TRUE(test, dafs_held_set_local(locks, 6, 9, 0));
	KUNIT_EXPECT_EQ(test, 0, held_type(locks, 3));
	KUNIT_EXPECT_EQ(test, DAFS_WRITE_LT, held_type(locks, 4));
	KUNIT_EXPECT_EQ(test, 0, held_type(locks, 6));
}

static struct kunit_case dafs_held_cases[] = {
	KUNIT_CASE(dafs_held_local_test),
	KUNIT_CASE(dafs_held_told_test),
	{}
};

static struct kunit_suite dafs_held_suite = {
	.name = "dafs_held",
	.test_cases = dafs_held_cases,
};

kunit_test_suite(dafs_held_suite);
