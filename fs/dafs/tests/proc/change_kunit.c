// SPDX-License-Identifier: GPL-2.0
/* change_info of many clients that change one directory at the same time (6.1.4, E-119). */
#include <linux/sort.h>
#include <linux/workqueue.h>
#include "../lib/fixture.h"

#define CHANGE_MAKERS	4
#define CHANGE_ROUNDS	25

/**
 * struct change_maker - a worker that makes and removes a directory many times
 * @work: the work item
 * @fix: the fixture
 * @id: number of the worker
 * @info: change_info of each change, as the server returned it
 * @nr: number of changes
 * @err: negative errno if it ended early, or 0
 */
struct change_maker {
	struct work_struct work;
	struct dafs_fixture *fix;
	u32 id;
	struct dafs_change_info info[2 * CHANGE_ROUNDS];
	unsigned int nr;
	int err;
};

static int change_round(struct change_maker *maker)
{
	struct dafs_node node = { .type = DAFS_TYPE_DIR };
	struct dafs_fh fh;
	char text[8];
	struct qstr name;
	int err;

	snprintf(text, sizeof(text), "d%u", maker->id);
	name = dafs_test_qstr(text);
	err = dafs_create(maker->fix->clnt, dafs_test_me(), &maker->fix->dir, &name, &node, &fh,
			  &maker->info[maker->nr++]);
	if (err)
		return err;
	return dafs_remove(maker->fix->clnt, dafs_test_me(), &maker->fix->dir, &name,
			   DAFS_REMOVE_UNCHECKED, &maker->info[maker->nr++]);
}

static void change_run(struct work_struct *work)
{
	struct change_maker *maker = container_of(work, struct change_maker, work);
	unsigned int i;

	for (i = 0; i < CHANGE_ROUNDS && !maker->err; i++)
		maker->err = change_round(maker);
}

static int change_earlier(const void *a, const void *b)
{
	const struct dafs_change_info *one = a, *two = b;

	return one->before < two->before ? -1 : one->before > two->before;
}

/*
 * R-6.1.4-02: atomic means that before and after differ by this one change only; so all
 * changes form a chain without gap or overlap
 */
static void dafs_change_atomic_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct change_maker *makers = kunit_kcalloc(test, CHANGE_MAKERS, sizeof(*makers),
						    GFP_KERNEL);
	struct dafs_change_info *all = kunit_kcalloc(test, CHANGE_MAKERS * 2 * CHANGE_ROUNDS,
						     sizeof(*all), GFP_KERNEL);
	struct workqueue_struct *wq;
	unsigned int i, nr = 0;

	KUNIT_ASSERT_NOT_NULL(test, makers);
	KUNIT_ASSERT_NOT_NULL(test, all);
	wq = alloc_workqueue("dafs_change", WQ_UNBOUND, CHANGE_MAKERS);
	KUNIT_ASSERT_NOT_NULL(test, wq);
	for (i = 0; i < CHANGE_MAKERS; i++) {
		makers[i].fix = fix;
		makers[i].id = i;
		INIT_WORK(&makers[i].work, change_run);
		queue_work(wq, &makers[i].work);
	}
	destroy_workqueue(wq);
	for (i = 0; i < CHANGE_MAKERS; i++) {
		KUNIT_EXPECT_EQ(test, 0, makers[i].err);
		memcpy(all + nr, makers[i].info, makers[i].nr * sizeof(*all));
		nr += makers[i].nr;
	}
	KUNIT_EXPECT_EQ(test, CHANGE_MAKERS * 2 * CHANGE_ROUNDS, nr);
	sort(all, nr, sizeof(*all), change_earlier, NULL);
	for (i = 0; i < nr; i++) {
		KUNIT_EXPECT_TRUE(test, all[i].atomic);
		KUNIT_EXPECT_LT(test, all[i].before, all[i].after);
		if (i)
			KUNIT_EXPECT_EQ(test, all[i - 1].after, all[i].before);
	}
}

static void change_count_again(void *sb)
{
	((struct super_block *)sb)->s_flags |= SB_I_VERSION;
}

/* R-6.1.4-02: with a time stamp as change attribute, two changes may look the same. */
static void dafs_change_uncounted_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct super_block *sb = fix->path.dentry->d_sb;
	struct qstr name = dafs_test_qstr("dir");
	struct dafs_node node = { .type = DAFS_TYPE_DIR };
	struct dafs_change_info info;
	struct dafs_fh fh;

	sb->s_flags &= ~SB_I_VERSION;
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, change_count_again, sb));
	KUNIT_EXPECT_EQ(test, 0, dafs_create(fix->clnt, dafs_test_me(), &fix->dir, &name, &node,
					     &fh, &info));
	KUNIT_EXPECT_FALSE(test, info.atomic);
	KUNIT_EXPECT_LE(test, info.before, info.after);
	KUNIT_EXPECT_EQ(test, 0, dafs_remove(fix->clnt, dafs_test_me(), &fix->dir, &name,
					     DAFS_REMOVE_UNCHECKED, &info));
	KUNIT_EXPECT_FALSE(test, info.atomic);
}

static struct kunit_case dafs_change_cases[] = {
	KUNIT_CASE_PARAM(dafs_change_atomic_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_change_uncounted_test),
	{}
};

static struct kunit_suite dafs_change_suite = {
	.name = "dafs_change",
	.test_cases = dafs_change_cases,
};

kunit_test_suite(dafs_change_suite);
