// SPDX-License-Identifier: GPL-2.0
/*
 * A directory of 100,000 entries that is changed while it is read, in both byte
 * orders.
 */
#include <linux/bitops.h>
#include <linux/kstrtox.h>
#include <linux/namei.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "../lib/fixture.h"

#define BIG_ENTRIES	100000U
#define BIG_PER_INODE	50000U	/* ext4 allows 65,000 links per inode */
#define BIG_CHANGES	20	/* of each type, between two replies */

/**
 * struct dafs_big - the directory and its reader
 * @fix: the fixture; the directory is "big" in it
 * @dir: its handle
 * @path: the same on the server
 * @source: the file that all entries are links to
 * @times: how often each entry was returned
 * @gone: entries removed so far
 * @changes: calls of dafs_big_change()
 * @added: entries made by it
 * @strange: entries with an unknown name
 * @fresh: returned entries that were created after the start
 */
struct dafs_big {
	struct dafs_fixture *fix;
	struct dafs_fh dir;
	struct path path;
	struct path source;
	u8 *times;
	unsigned long *gone;
	unsigned int changes;
	unsigned int added;
	unsigned int strange;
	unsigned int fresh;
};

static void dafs_big_vfree(void *p)
{
	vfree(p);
}

static void *dafs_big_alloc(struct kunit *test, size_t size)
{
	void *p = vzalloc(size);

	KUNIT_ASSERT_NOT_NULL(test, p);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, dafs_big_vfree, p));
	return p;
}

static void dafs_big_put_path(void *path)
{
	path_put(path);
}

static void dafs_big_path(struct kunit *test, struct dafs_big *big, const char *name,
			  struct path *path)
{
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_path(big->fix, name, path));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, dafs_big_put_path, path));
}

/* The caller has locked the directory. */
static int dafs_big_link(struct dafs_big *big, const char *name)
{
	struct dentry *dentry = lookup_one_len(name, big->path.dentry, strlen(name));
	int err;

	if (IS_ERR(dentry))
		return PTR_ERR(dentry);
	err = vfs_link(big->source.dentry, &nop_mnt_idmap, d_inode(big->path.dentry), dentry,
		       NULL);
	dput(dentry);
	return err;
}

static int dafs_big_unlink(struct dafs_big *big, const char *name)
{
	struct dentry *dentry = lookup_one_len(name, big->path.dentry, strlen(name));
	int err;

	if (IS_ERR(dentry))
		return PTR_ERR(dentry);
	err = vfs_unlink(&nop_mnt_idmap, d_inode(big->path.dentry), dentry, NULL);
	dput(dentry);
	return err;
}

static int dafs_big_fill(struct dafs_big *big, unsigned int first, unsigned int nr)
{
	struct inode *dir = d_inode(big->path.dentry);
	unsigned int i;
	char name[16];
	int err = 0;

	inode_lock_nested(dir, I_MUTEX_PARENT);
	for (i = first; i < first + nr && !err; i++) {
		snprintf(name, sizeof(name), "%u", i);
		err = dafs_big_link(big, name);
		cond_resched();
	}
	inode_unlock(dir);
	return err;
}

static void dafs_big_make(struct kunit *test, struct dafs_big *big)
{
	unsigned int first;
	char name[16];

	dafs_backing_mkdir(test, big->fix, "big", 0755);
	dafs_big_path(test, big, "big", &big->path);
	for (first = 0; first < BIG_ENTRIES; first += BIG_PER_INODE) {
		snprintf(name, sizeof(name), "source.%u", first);
		dafs_backing_write(test, big->fix, name, "x", 1);
		if (big->source.dentry)
			kunit_release_action(test, dafs_big_put_path, &big->source);
		dafs_big_path(test, big, name, &big->source);
		KUNIT_ASSERT_EQ(test, 0, dafs_big_fill(big, first, BIG_PER_INODE));
	}
	big->dir = dafs_test_lookup(test, big->fix, "big");
}

static bool dafs_big_see(void *priv, const struct dafs_direntry *entry)
{
	struct dafs_big *big = priv;
	char name[16] = {};
	unsigned int i;

	memcpy(name, entry->name.data, min_t(u32, entry->name.len, sizeof(name) - 1));
	if (!kstrtouint(name, 10, &i) && i < BIG_ENTRIES)
		big->times[i]++;
	else if (name[0] == 'n')
		big->fresh++;
	else
		big->strange++;
	return true;
}

/* Removes some entries, read or not, and adds as many. */
static void dafs_big_change(struct kunit *test, struct dafs_big *big)
{
	struct inode *dir = d_inode(big->path.dentry);
	u32 seed = ++big->changes;
	unsigned int i, victim;
	char name[16];
	int err = 0;

	inode_lock_nested(dir, I_MUTEX_PARENT);
	for (i = 0; i < BIG_CHANGES && !err; i++) {
		victim = (seed * 7919 + i * 104729) % BIG_ENTRIES;
		if (__test_and_set_bit(victim, big->gone))
			continue;
		snprintf(name, sizeof(name), "%u", victim);
		err = dafs_big_unlink(big, name);
		snprintf(name, sizeof(name), "n.%u", big->added++);
		err = err ?: dafs_big_link(big, name);
	}
	inode_unlock(dir);
	KUNIT_ASSERT_EQ(test, 0, err);
}

static void dafs_big_expect(struct kunit *test, struct dafs_big *big)
{
	unsigned int missed = 0, doubled = 0, i;

	for (i = 0; i < BIG_ENTRIES; i++) {
		missed += !big->times[i] && !test_bit(i, big->gone);
		doubled += big->times[i] > 1;
	}
	KUNIT_EXPECT_EQ(test, 0, missed);
	KUNIT_EXPECT_EQ(test, 0, doubled);
	KUNIT_EXPECT_EQ(test, 0, big->strange);
	KUNIT_EXPECT_LE(test, big->fresh, big->added);
}

static void dafs_big_read(struct kunit *test, struct dafs_big *big, struct dafs_client *clnt,
			  void *buf)
{
	struct dafs_readdir_pos pos = {};
	unsigned int calls = 0;

	memset(big->times, 0, BIG_ENTRIES);
	big->fresh = 0;
	while (!pos.eof && calls < BIG_ENTRIES) {
		/* sometimes inline: cookies are valid for both procedures */
		if (calls++ % 16 == 15)
			KUNIT_ASSERT_EQ(test, 0,
					dafs_readdir(clnt, dafs_test_me(), &big->dir, 0, &pos,
						     dafs_big_see, big));
		else
			KUNIT_ASSERT_EQ(test, 0,
					dafs_readdir_direct(clnt, dafs_test_me(), &big->dir, 0, buf,
							    SZ_64K, &pos, dafs_big_see, big));
		dafs_big_change(test, big);
	}
	KUNIT_EXPECT_GT(test, calls, 50);
	KUNIT_EXPECT_LT(test, calls, 200);
	dafs_big_expect(test, big);
}

/*
 * R-6.5.29-01 R-6.5.30-01: entries that exist all the time are returned exactly once,
 * removed or added ones at most once, even if the directory is reorganized.
 */
static void dafs_bigdir_test(struct kunit *test)
{
	const struct dafs_flavour swapped = { .swab = true };
	struct dafs_big *big = kunit_kzalloc(test, sizeof(*big), GFP_KERNEL);
	struct dafs_client_params params;
	void *buf;

	KUNIT_ASSERT_NOT_NULL(test, big);
	big->fix = dafs_fixture(test, NULL);
	big->times = dafs_big_alloc(test, BIG_ENTRIES);
	big->gone = dafs_big_alloc(test, BITS_TO_LONGS(BIG_ENTRIES) * sizeof(long));
	buf = dafs_big_alloc(test, SZ_64K);
	dafs_big_make(test, big);
	dafs_big_read(test, big, big->fix->clnt, buf);
	/* creating it takes far longer than reading it */
	dafs_fixture_params(&swapped, &params);
	dafs_big_read(test, big, dafs_fixture_client(test, &params), buf);
}

static struct kunit_case dafs_bigdir_cases[] = {
	KUNIT_CASE_SLOW(dafs_bigdir_test),
	{}
};

static struct kunit_suite dafs_bigdir_suite = {
	.name = "dafs_bigdir",
	.test_cases = dafs_bigdir_cases,
};

kunit_test_suite(dafs_bigdir_suite);
