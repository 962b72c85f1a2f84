// SPDX-License-Identifier: GPL-2.0
/*
 * The store in the state directory: it keeps what was made durable, whenever the power fails,
 * and whatever the disk does.
 *
 * The power is cut after each write and each flush of a run.  What a disk has then is made up
 * from what was flushed, and from any sectors of what was written since.
 */
#include <kunit/static_stub.h>
#include <linux/crc32c.h>
#include <linux/file.h>
#include <linux/prandom.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "../../../../drivers/dafsd/store/log.h"
#include "../../../../drivers/dafsd/store/store.h"
#include "../lib/fixture.h"

#define STORE_KEYS	12
#define STORE_SECTOR	512
/* Bytes of a log file here: it is full after fifteen batches */
#define STORE_LOG	SZ_64K
/* Bytes of a value, about; a batch may take several blocks */
#define STORE_VALUE	700

static void store_restore_log_min(void *size)
{
	dafsd_log_min = (size_t)size;
}

static void store_set_log_min(struct kunit *test, size_t size)
{
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, store_restore_log_min,
							   (void *)dafsd_log_min));
	dafsd_log_min = size;
}

static struct dafsd_store *store_open(struct dafs_fixture *fix, const char *dir)
{
	struct file *filp = dafs_backing_open(fix, dir, O_RDONLY | O_DIRECTORY, 0);
	struct dafsd_store *store;

	if (IS_ERR(filp))
		return ERR_CAST(filp);
	store = dafsd_store_open(filp);
	dafs_backing_close(filp);
	return store;
}

static struct dafsd_store *store_open_ok(struct kunit *test, struct dafs_fixture *fix,
					 const char *dir)
{
	struct dafsd_store *store = store_open(fix, dir);

	KUNIT_ASSERT_FALSE_MSG(test, IS_ERR(store), "%ld", PTR_ERR(store));
	return store;
}

static void store_expect_refused(struct kunit *test, struct dafs_fixture *fix, const char *dir,
				 int err)
{
	struct dafsd_store *store = store_open(fix, dir);

	KUNIT_EXPECT_EQ(test, err, PTR_ERR_OR_ZERO(store));
	if (!IS_ERR(store))
		dafsd_store_close(store);
}

/* Key @nr; keys differ in length. */
static struct dafsd_key store_key(u32 nr)
{
	static const char name[] = "client number twelve";

	return (struct dafsd_key){ DAFSD_RECORD_TEST, 1 + nr, name };
}

/* Value @nr begins with its number; values differ in length. */
static int store_put(struct dafsd_store *store, u32 key, u32 nr)
{
	struct dafsd_key k = store_key(key);
	u32 value[STORE_VALUE / sizeof(u32)];
	u32 len = (1 + nr % ARRAY_SIZE(value)) * sizeof(u32);

	memset32(value, nr, ARRAY_SIZE(value));
	return dafsd_store_put(store, &k, value, len);
}

static void store_delete(struct dafsd_store *store, u32 key)
{
	struct dafsd_key k = store_key(key);

	dafsd_store_delete(store, &k);
}

/* What a store has: number of the value of each key, 0 for none */
struct store_content {
	struct kunit *test;
	u32 value[STORE_KEYS];
};

static int store_see(void *priv, const struct dafsd_key *key, const void *value, u32 value_len)
{
	struct store_content *content = priv;
	u32 nr;

	KUNIT_ASSERT_GE(content->test, value_len, (u32)sizeof(nr));
	memcpy(&nr, value, sizeof(nr));
	KUNIT_EXPECT_LE(content->test, key->len, STORE_KEYS);
	KUNIT_EXPECT_EQ(content->test, 0, content->value[key->len - 1]);
	KUNIT_EXPECT_EQ(content->test,
			(1 + nr % (STORE_VALUE / sizeof(u32))) * sizeof(u32), value_len);
	KUNIT_EXPECT_MEMEQ(content->test, value, value + value_len - sizeof(nr), sizeof(nr));
	content->value[key->len - 1] = nr;
	return 0;
}

static void store_read(struct kunit *test, struct dafsd_store *store,
		       struct store_content *content)
{
	*content = (struct store_content){ .test = test };
	KUNIT_EXPECT_EQ(test, 0,
			dafsd_store_for_each(store, DAFSD_RECORD_TEST, store_see, content));
}

static void store_expect(struct kunit *test, struct dafsd_store *store, const u32 *value)
{
	struct store_content content;

	store_read(test, store, &content);
	KUNIT_EXPECT_MEMEQ(test, content.value, value, sizeof(content.value));
}

/* A store in a folder of its own */
static struct dafs_fixture *store_fixture(struct kunit *test, const char *dir)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);

	dafs_backing_mkdir(test, fix, dir, 0700);
	store_set_log_min(test, STORE_LOG);
	return fix;
}

/* Records are there after the store was closed and opened again, as a model has them. */
static void store_model_test(struct kunit *test)
{
	struct dafs_fixture *fix = store_fixture(test, "store");
	struct dafsd_store *store = store_open_ok(test, fix, "store");
	u32 value[STORE_KEYS] = {}, n, key;
	struct rnd_state rnd;

	prandom_seed_state(&rnd, 1);
	for (n = 1; n < 400; n++) {
		key = prandom_u32_state(&rnd) % STORE_KEYS;
		value[key] = prandom_u32_state(&rnd) % 4 ? n : 0;
		if (value[key])
			KUNIT_EXPECT_EQ(test, 0, store_put(store, key, n));
		else
			store_delete(store, key);
		if (!(prandom_u32_state(&rnd) % 3))
			KUNIT_EXPECT_EQ(test, 0, dafsd_store_sync(store));
		store_expect(test, store, value);
		if (prandom_u32_state(&rnd) % 16)
			continue;
		dafsd_store_close(store);
		store = store_open_ok(test, fix, "store");
		store_expect(test, store, value);
	}
	dafsd_store_close(store);
}

/* One server at a time uses a store. */
static void store_exclusive_test(struct kunit *test)
{
	struct dafs_fixture *fix = store_fixture(test, "store");
	struct dafsd_store *store = store_open_ok(test, fix, "store");

	store_expect_refused(test, fix, "store", -EBUSY);
	dafsd_store_close(store);
	store_expect_refused(test, fix, "store", 0);
}

/* Records that no store may have are refused. */
static void store_limits_test(struct kunit *test)
{
	struct dafs_fixture *fix = store_fixture(test, "store");
	struct dafsd_store *store = store_open_ok(test, fix, "store");
	struct dafsd_key key = { DAFSD_RECORD_TEST, DAFSD_RECORD_MAX_KEY };
	u8 *data = kunit_kzalloc(test, DAFSD_RECORD_MAX_VALUE + 1, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, data);
	key.data = data;
	KUNIT_EXPECT_EQ(test, 0, dafsd_store_put(store, &key, data, DAFSD_RECORD_MAX_VALUE));
	KUNIT_EXPECT_EQ(test, -EINVAL,
			dafsd_store_put(store, &key, data, DAFSD_RECORD_MAX_VALUE + 1));
	KUNIT_EXPECT_EQ(test, 0, dafsd_store_sync(store));
	key.len++;
	KUNIT_EXPECT_EQ(test, -EINVAL, dafsd_store_put(store, &key, data, 1));
	dafsd_store_close(store);
	store_expect_refused(test, fix, "store", 0);
}

/* Something that the store has done to its files */
struct store_event {
	struct list_head link;
	const struct inode *inode;
	bool flush;
	loff_t pos;
	size_t len;
	u32 issued;	/* changes made before it */
	u32 acked;	/* of these, those that were known to be durable */
	u8 data[];
};

/* A change: value 0 deletes the key */
struct store_change {
	u32 key;
	u32 value;
};

#define STORE_CHANGES	150

/* A run of a store, as it was recorded */
struct store_run {
	struct kunit *test;
	struct list_head events;
	struct store_change change[STORE_CHANGES];
	u32 issued;
	u32 acked;
	const struct inode *inode[2];
	u8 *image[2];	/* what is on the disk for sure */
	size_t size[2];	/* bytes of it */
	unsigned int fail_in;	/* fail one of the next, or 0 */
	bool fail_on;		/* and all after it */
	struct dafsd_store *well;	/* nothing has failed in it, or NULL */
	struct dafsd_store *changing;	/* changed when a large batch is written, or NULL */
};

#define STORE_BIG	60000
#define STORE_BIGS	8
#define STORE_CHANGED	5	/* key of the record that is changed meanwhile */

#define STORE_IMAGE	SZ_256K

static struct store_run *store_run_of(void)
{
	return kunit_get_current_test()->priv;
}

static bool store_fails_now(struct store_run *run)
{
	if (!run->fail_in || --run->fail_in)
		return false;
	run->fail_in = run->fail_on;
	return true;
}

static struct store_event *store_record(struct store_run *run, const struct file *filp, size_t len)
{
	struct store_event *event = kvzalloc(struct_size(event, data, len), GFP_KERNEL);

	if (!event)
		return NULL;
	event->inode = file_inode(filp);
	event->issued = run->issued;
	event->acked = run->acked;
	event->len = len;
	list_add_tail(&event->link, &run->events);
	return event;
}

static int store_recorded_pwrite(struct file *filp, const void *buf, size_t len, loff_t pos)
{
	struct store_run *run = store_run_of();
	struct store_event *event;

	if (store_fails_now(run))
		return -EIO;
	/* not even while a checkpoint is under way */
	if (run->well)
		KUNIT_EXPECT_FALSE(run->test, dafsd_store_failed(run->well));
	event = store_record(run, filp, len);
	if (!event)
		return -ENOMEM;
	event->pos = pos;
	memcpy(event->data, buf, len);
	if (run->changing && len > STORE_BIG)
		KUNIT_EXPECT_EQ(run->test, 0, store_put(run->changing, STORE_CHANGED, 2));
	return kernel_write(filp, buf, len, &pos) == len ? 0 : -EIO;
}

static int store_recorded_sync(struct file *filp)
{
	struct store_run *run = store_run_of();
	struct store_event *event;

	if (store_fails_now(run))
		return -EIO;
	event = store_record(run, filp, 0);
	if (!event)
		return -ENOMEM;
	event->flush = true;
	return vfs_fsync(filp, 1);
}

static void store_free_run(void *priv)
{
	struct store_run *run = priv;
	struct store_event *event, *next;

	list_for_each_entry_safe(event, next, &run->events, link)
		kvfree(event);
	vfree(run->image[0]);
	vfree(run->image[1]);
}

static struct store_run *store_run(struct kunit *test)
{
	struct store_run *run = kunit_kzalloc(test, sizeof(*run), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, run);
	run->test = test;
	INIT_LIST_HEAD(&run->events);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, store_free_run, run));
	run->image[0] = vzalloc(STORE_IMAGE);
	run->image[1] = vzalloc(STORE_IMAGE);
	KUNIT_ASSERT_NOT_NULL(test, run->image[0]);
	KUNIT_ASSERT_NOT_NULL(test, run->image[1]);
	test->priv = run;
	kunit_activate_static_stub(test, dafsd_log_pwrite, store_recorded_pwrite);
	kunit_activate_static_stub(test, dafsd_log_sync, store_recorded_sync);
	return run;
}

static void store_stop_recording(struct kunit *test)
{
	kunit_deactivate_static_stub(test, dafsd_log_pwrite);
	kunit_deactivate_static_stub(test, dafsd_log_sync);
}

static void store_change(struct store_run *run, struct dafsd_store *store, struct rnd_state *rnd)
{
	struct store_change *change = &run->change[run->issued++];

	change->key = prandom_u32_state(rnd) % STORE_KEYS;
	change->value = prandom_u32_state(rnd) % 4 ? run->issued : 0;
	if (change->value)
		KUNIT_ASSERT_EQ(run->test, 0, store_put(store, change->key, change->value));
	else
		store_delete(store, change->key);
}

static void store_make_changes(struct store_run *run, struct dafsd_store *store,
			       struct rnd_state *rnd)
{
	while (run->issued < STORE_CHANGES) {
		store_change(run, store, rnd);
		if (!(prandom_u32_state(rnd) % 3) && !dafsd_store_sync(store))
			run->acked = run->issued;
	}
}

/* May the store have this value of a key, when the power fails at this event? */
static bool store_may_have(const struct store_run *run, const struct store_event *event, u32 key,
			   u32 value)
{
	u32 durable = 0, n;
	bool may = !value;

	for (n = 0; n < event->acked; n++)
		if (run->change[n].key == key) {
			durable = run->change[n].value;
			may = durable == value;
		}
	for (; n < event->issued; n++)
		may |= run->change[n].key == key && run->change[n].value == value;
	return may;
}

static unsigned int store_file_nr(struct store_run *run, const struct inode *inode)
{
	if (!run->inode[0])
		run->inode[0] = inode;
	return run->inode[0] != inode;
}

/* Writes sectors of an event to an image: all of them, or each with a chance of a half. */
static void store_apply(u8 *image, const struct store_event *event, struct rnd_state *rnd)
{
	size_t at;

	for (at = 0; at < event->len; at += STORE_SECTOR)
		if (!rnd || prandom_u32_state(rnd) % 2)
			memcpy(image + event->pos + at, event->data + at,
			       min_t(size_t, STORE_SECTOR, event->len - at));
}

/* A flush makes all earlier writes to the file durable. */
static void store_flushed(struct store_run *run, const struct store_event *flush)
{
	unsigned int nr = store_file_nr(run, flush->inode);
	struct store_event *event, *next;

	list_for_each_entry_safe(event, next, &run->events, link) {
		if (event == flush)
			break;
		if (event->flush || event->inode != flush->inode)
			continue;
		store_apply(run->image[nr], event, NULL);
		run->size[nr] = max_t(size_t, run->size[nr], event->pos + event->len);
		list_del(&event->link);
		kvfree(event);
	}
}

static void store_write_image(struct kunit *test, struct dafs_fixture *fix, const char *name,
			      const u8 *image, size_t size)
{
	struct file *filp = dafs_backing_open(fix, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	loff_t pos = 0;

	KUNIT_ASSERT_FALSE(test, IS_ERR(filp));
	KUNIT_EXPECT_EQ(test, size, kernel_write(filp, image, size, &pos));
	dafs_backing_close(filp);
}

/* What the disk may have after the last flush and some sectors that were written since. */
static void store_make_disk(struct store_run *run, struct dafs_fixture *fix,
			    const struct store_event *cut, struct rnd_state *rnd)
{
	u8 *image = vmalloc(STORE_IMAGE);
	struct store_event *event;
	unsigned int nr;
	size_t size;

	KUNIT_ASSERT_NOT_NULL(run->test, image);
	for (nr = 0; nr < 2; nr++) {
		memcpy(image, run->image[nr], STORE_IMAGE);
		size = run->size[nr];
		list_for_each_entry(event, &run->events, link) {
			if (!event->flush && store_file_nr(run, event->inode) == nr) {
				store_apply(image, event, rnd);
				size = max_t(size_t, size, event->pos + event->len);
			}
			if (event == cut)
				break;
		}
		store_write_image(run->test, fix, nr ? "cut/log.1" : "cut/log.0", image, size);
	}
	vfree(image);
}

static void store_check_cut(struct store_run *run, struct dafs_fixture *fix,
			    const struct store_event *cut)
{
	struct store_content content;
	struct dafsd_store *store;
	u32 key;

	store = store_open_ok(run->test, fix, "cut");
	store_read(run->test, store, &content);
	for (key = 0; key < STORE_KEYS; key++)
		KUNIT_EXPECT_TRUE_MSG(run->test,
				      store_may_have(run, cut, key, content.value[key]),
				      "key %u has %u after %u of %u changes", key,
				      content.value[key], cut->acked, cut->issued);
	dafsd_store_close(store);
}

/* R-4.4.1.2-17: the power fails after each write and each flush. */
static void store_power_test(struct kunit *test)
{
	struct dafs_fixture *fix = store_fixture(test, "store");
	struct store_run *run = store_run(test);
	struct dafsd_store *store = store_open_ok(test, fix, "store");
	struct store_event *event, *next;
	unsigned int cuts = 0;
	struct rnd_state rnd;

	prandom_seed_state(&rnd, 7);
	run->well = store;
	store_make_changes(run, store, &rnd);
	dafsd_store_close(store);
	store_stop_recording(test);
	dafs_backing_mkdir(test, fix, "cut", 0700);
	list_for_each_entry_safe(event, next, &run->events, link) {
		/* all that was written has reached the disk; and only some of it */
		store_make_disk(run, fix, event, NULL);
		store_check_cut(run, fix, event);
		store_make_disk(run, fix, event, &rnd);
		store_check_cut(run, fix, event);
		if (event->flush)
			store_flushed(run, event);
		cuts += 2;
	}
	KUNIT_EXPECT_GT(test, cuts, 2 * STORE_CHANGES / 3);
}

/*
 * One write or flush fails, each in turn.  Then a change is either durable, or its task is
 * told that it is not; and when the disk is well again, all are.
 */
static void store_error_test(struct kunit *test)
{
	struct dafs_fixture *fix = store_fixture(test, "store");
	struct store_run *run = store_run(test);
	u32 value[STORE_KEYS] = {}, n, key;
	struct dafsd_store *store;

	store = store_open_ok(test, fix, "store");
	for (n = 1; n < 100; n++) {
		key = n % STORE_KEYS;
		value[key] = n;
		KUNIT_ASSERT_EQ(test, 0, store_put(store, key, n));
		run->fail_in = 1 + n % 9;
		if (dafsd_store_sync(store))
			KUNIT_EXPECT_TRUE(test, dafsd_store_failed(store));
		run->fail_in = 0;
		KUNIT_EXPECT_EQ(test, 0, dafsd_store_sync(store));
		KUNIT_EXPECT_FALSE(test, dafsd_store_failed(store));
		store_expect(test, store, value);
		if (n % 10)
			continue;
		dafsd_store_close(store);
		store = store_open_ok(test, fix, "store");
		store_expect(test, store, value);
	}
	dafsd_store_close(store);
}

/* All writes fail: nothing is acknowledged, and nothing in memory is lost. */
static int store_failing_sync(struct file *filp)
{
	return -EIO;
}

static void store_dead_disk_test(struct kunit *test)
{
	struct dafs_fixture *fix = store_fixture(test, "store");
	struct dafsd_store *store = store_open_ok(test, fix, "store");
	u32 value[STORE_KEYS] = { [3] = 3 };

	KUNIT_ASSERT_EQ(test, 0, store_put(store, 3, 3));
	kunit_activate_static_stub(test, dafsd_log_sync, store_failing_sync);
	KUNIT_EXPECT_EQ(test, -EIO, dafsd_store_sync(store));
	KUNIT_EXPECT_EQ(test, -EIO, dafsd_store_sync(store));
	kunit_deactivate_static_stub(test, dafsd_log_sync);
	dafsd_store_close(store);
	store = store_open_ok(test, fix, "store");
	store_expect(test, store, value);
	dafsd_store_close(store);
}

static void store_put_bigs(struct kunit *test, struct dafsd_store *store, u32 nr, u32 content)
{
	u32 *value = kunit_kzalloc(test, STORE_BIG, GFP_KERNEL);
	struct dafsd_key key;
	u32 n;

	KUNIT_ASSERT_NOT_NULL(test, value);
	memset32(value, content, STORE_BIG / sizeof(u32));
	for (n = 0; n < nr; n++) {
		key = store_key(n);
		KUNIT_ASSERT_EQ(test, 0, dafsd_store_put(store, &key, value, STORE_BIG));
	}
}

/* A checkpoint of several batches that fails at the I/O @fail_in; then the power fails. */
static bool store_abort(struct kunit *test, struct dafs_fixture *fix, unsigned int fail_in)
{
	struct store_run *run = store_run_of();
	struct dafsd_store *store = store_open_ok(test, fix, "store");
	bool failed;

	store_put_bigs(test, store, STORE_BIGS, fail_in);
	run->fail_in = fail_in;
	run->fail_on = true;
	failed = dafsd_store_sync(store);
	/* nothing more reaches the disk */
	run->fail_in = 1;
	dafsd_store_close(store);
	run->fail_in = 0;
	return failed;
}

static int store_see_big(void *priv, const struct dafsd_key *key, const void *value,
			 u32 value_len)
{
	unsigned int *nr = priv;

	*nr += value_len == STORE_BIG;
	return 0;
}

/* What a checkpoint has left that was not completed is not taken for a part of a later one. */
static void store_aborted_test(struct kunit *test)
{
	struct dafs_fixture *fix = store_fixture(test, "store");
	unsigned int fail_in, nr, now;
	struct dafsd_store *store;
	bool failed = true;

	store_run(test);
	for (fail_in = 1; failed && fail_in < 100; fail_in++) {
		failed = store_abort(test, fix, fail_in);
		store = store_open_ok(test, fix, "store");
		nr = 0;
		dafsd_store_for_each(store, DAFSD_RECORD_TEST, store_see_big, &nr);
		KUNIT_EXPECT_TRUE(test, nr == 0 || nr == STORE_BIGS);
		for (now = 0; now < 3; now++) {
			KUNIT_EXPECT_EQ(test, 0, store_put(store, STORE_BIGS + 1, 1 + now));
			KUNIT_EXPECT_EQ(test, 0, dafsd_store_sync(store));
		}
		dafsd_store_close(store);
		store = store_open_ok(test, fix, "store");
		now = 0;
		dafsd_store_for_each(store, DAFSD_RECORD_TEST, store_see_big, &now);
		KUNIT_EXPECT_EQ(test, nr, now);
		dafsd_store_close(store);
		dafs_backing_remove(fix, "store/log.0");
		dafs_backing_remove(fix, "store/log.1");
	}
	KUNIT_EXPECT_FALSE(test, failed);
	KUNIT_EXPECT_GT(test, fail_in, 6);
}

static int store_see_changed(void *priv, const struct dafsd_key *key, const void *value,
			     u32 value_len)
{
	if (key->len == store_key(STORE_CHANGED).len)
		memcpy(priv, value, sizeof(u32));
	return 0;
}

/*
 * A durable record is changed while a checkpoint is written that has not come by it yet; then
 * the power fails.
 */
static void store_changed_snapshot_test(struct kunit *test)
{
	struct dafs_fixture *fix = store_fixture(test, "store");
	struct store_run *run = store_run(test);
	struct dafsd_store *store = store_open_ok(test, fix, "store");
	u32 value = 0;

	/* it is in the second batch, behind those */
	store_put_bigs(test, store, 3, 1);
	KUNIT_ASSERT_EQ(test, 0, store_put(store, STORE_CHANGED, 1));
	KUNIT_ASSERT_EQ(test, 0, dafsd_store_sync(store));
	/* an error makes a checkpoint necessary */
	KUNIT_ASSERT_EQ(test, 0, store_put(store, STORE_CHANGED + 1, 1));
	run->changing = store;
	run->fail_in = 1;
	KUNIT_EXPECT_EQ(test, 0, dafsd_store_sync(store));
	run->changing = NULL;
	run->fail_in = 1;
	run->fail_on = true;
	dafsd_store_close(store);
	run->fail_in = 0;
	store = store_open_ok(test, fix, "store");
	KUNIT_EXPECT_EQ(test, 0, dafsd_store_for_each(store, DAFSD_RECORD_TEST, store_see_changed,
						      &value));
	KUNIT_EXPECT_NE(test, 0, value);
	dafsd_store_close(store);
}

/* Changes bytes of a file of the store. */
static void store_spoil(struct kunit *test, struct dafs_fixture *fix, const char *name, loff_t pos,
			size_t len)
{
	struct file *filp = dafs_backing_open(fix, name, O_WRONLY, 0);
	u8 *junk = kunit_kzalloc(test, len, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, junk);
	KUNIT_ASSERT_FALSE(test, IS_ERR(filp));
	memset(junk, 0xa5, len);
	KUNIT_EXPECT_EQ(test, len, kernel_write(filp, junk, len, &pos));
	dafs_backing_close(filp);
}

/* A store whose current file is log.0, with a batch in each of its first blocks */
static void store_fill(struct kunit *test, struct dafs_fixture *fix, unsigned int batches)
{
	struct dafsd_store *store = store_open_ok(test, fix, "store");

	while (batches--) {
		KUNIT_ASSERT_EQ(test, 0, store_put(store, 1, 1 + batches));
		KUNIT_ASSERT_EQ(test, 0, dafsd_store_sync(store));
	}
	dafsd_store_close(store);
}

/* A disk that has lost what it had acknowledged: the store says so. */
static void store_damage_test(struct kunit *test)
{
	struct dafs_fixture *fix = store_fixture(test, "store");

	store_fill(test, fix, 5);
	store_spoil(test, fix, "store/log.0", 2 * DAFSD_LOG_BLOCK, 1);
	store_expect_refused(test, fix, "store", -EUCLEAN);
}

static void store_header_test(struct kunit *test)
{
	struct dafs_fixture *fix = store_fixture(test, "store");

	store_fill(test, fix, 2);
	store_fill(test, fix, 2);
	/* log.0 was whole, but has been retired */
	store_spoil(test, fix, "store/log.1", 20, 1);
	store_expect_refused(test, fix, "store", -EUCLEAN);
}

/* The last batch was being written: it counts for nothing, and does no harm. */
static void store_torn_test(struct kunit *test)
{
	struct dafs_fixture *fix = store_fixture(test, "store");
	u32 value[STORE_KEYS] = { [1] = 2 };
	struct dafsd_store *store;

	store_fill(test, fix, 5);
	store_spoil(test, fix, "store/log.0", 5 * DAFSD_LOG_BLOCK + 60, 1);
	store = store_open_ok(test, fix, "store");
	store_expect(test, store, value);
	dafsd_store_close(store);
}

/* What is no store, or not of this version, is left as it is. */
static void store_foreign_test(struct kunit *test)
{
	struct dafs_fixture *fix = store_fixture(test, "store");
	struct dafsd_log_header *header = kunit_kzalloc(test, DAFSD_LOG_BLOCK, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, header);
	dafs_backing_write(test, fix, "store/log.0", "something else", 14);
	store_expect_refused(test, fix, "store", -EUCLEAN);
	dafs_backing_remove(fix, "store/log.0");
	memcpy(header->magic, DAFSD_LOG_MAGIC, sizeof(header->magic));
	header->version = cpu_to_le32(DAFSD_LOG_VERSION + 1);
	header->crc = cpu_to_le32(crc32c(~0, &header->version, sizeof(*header) -
					 offsetof(struct dafsd_log_header, version)));
	dafs_backing_write(test, fix, "store/log.1", header, DAFSD_LOG_BLOCK);
	store_expect_refused(test, fix, "store", -EPROTONOSUPPORT);
	dafs_backing_remove(fix, "store/log.1");
	dafs_backing_mkdir(test, fix, "store/log.1", 0700);
	store_expect_refused(test, fix, "store", -EISDIR);
}

/* Files of two stores do not make one. */
static void store_mixed_test(struct kunit *test)
{
	struct dafs_fixture *fix = store_fixture(test, "store");
	u8 *log = kunit_kzalloc(test, STORE_LOG, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, log);
	store_fill(test, fix, 2);
	KUNIT_ASSERT_EQ(test, STORE_LOG,
			dafs_backing_read(fix, "store/log.0", log, STORE_LOG, 0));
	dafs_backing_remove(fix, "store/log.0");
	dafs_backing_remove(fix, "store/log.1");
	store_fill(test, fix, 2);
	dafs_backing_remove(fix, "store/log.1");
	dafs_backing_write(test, fix, "store/log.1", log, STORE_LOG);
	store_expect_refused(test, fix, "store", -EUCLEAN);
}

static struct kunit_case store_cases[] = {
	KUNIT_CASE(store_model_test),
	KUNIT_CASE(store_exclusive_test),
	KUNIT_CASE(store_limits_test),
	KUNIT_CASE_SLOW(store_power_test),
	KUNIT_CASE(store_error_test),
	KUNIT_CASE(store_dead_disk_test),
	KUNIT_CASE_SLOW(store_aborted_test),
	KUNIT_CASE(store_changed_snapshot_test),
	KUNIT_CASE(store_damage_test),
	KUNIT_CASE(store_header_test),
	KUNIT_CASE(store_torn_test),
	KUNIT_CASE(store_foreign_test),
	KUNIT_CASE(store_mixed_test),
	{}
};

static struct kunit_suite store_suite = {
	.name = "dafs_store",
	.test_cases = store_cases,
};

kunit_test_suite(store_suite);
