// SPDX-License-Identifier: GPL-2.0
/*
 * A file that is changed under an AUTORECOVERY lock.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/pagemap.h>
#include <linux/wait.h>
#include "../../../../drivers/dafsd/session/client.h"
#include "../../../../drivers/dafsd/session/server.h"
#include "../../../../drivers/dafsd/store/store.h"
#include "undo_test.h"

void undo_expect(struct kunit *test, struct dafs_fixture *fix, const char *data, size_t len)
{
	char now[2 * FILE_BYTES] = {};

	KUNIT_EXPECT_EQ(test, len, dafs_backing_read(fix, "file", now, sizeof(now), 0));
	KUNIT_EXPECT_MEMEQ(test, data, now, len);
}

void undo_expect_old(struct kunit *test, struct dafs_fixture *fix)
{
	undo_expect(test, fix, UNDO_OLD, FILE_BYTES);
}

void undo_expect_new(struct kunit *test, struct dafs_fixture *fix)
{
	undo_expect(test, fix, UNDO_NEW, strlen(UNDO_NEW));
}

void undo_change(struct kunit *test, struct holder *h)
{
	UNDO_OK(test, holder_write(h, true, 8, 8));
	UNDO_OK(test, holder_truncate(h, true, 20));
	UNDO_OK(test, holder_append(h, true));
	UNDO_OK(test, holder_write(h, true, 8, 4));
}

void undo_restart(struct kunit *test, struct holder *h)
{
	struct dafsd_client *client;

	mutex_lock(&dafsd_server.clients_lock);
	list_for_each_entry(client, &dafsd_server.clients, node)
		if (dafs_opaque64_equal(&client->client_id, &h->login.res.connect.client_id))
			client->keeps_record = true;
	mutex_unlock(&dafsd_server.clients_lock);
	holder_expire(test, h);
	raw_settle();
	persist_restart(test);
}

struct file *undo_state_file(const char *name, int flags)
{
	return file_open_root(dafsd_store_dir(dafsd_server.store), name, flags, 0600);
}

struct file *undo_file(u32 slot, int flags)
{
	char name[16];

	snprintf(name, sizeof(name), "undo.%u", slot);
	return undo_state_file(name, flags);
}

static const struct address_space_operations *undo_good_aops;

/* The files of the store, while they cannot be written; also when it is closed */
static struct file *undo_logs[2];

static int undo_write_begin(struct file *filp, struct address_space *mapping, loff_t pos,
			    unsigned int len, struct folio **foliop, void **fsdata)
{
	return -EIO;
}

static const struct address_space_operations undo_bad_aops = {
	.write_begin = undo_write_begin,
	.dirty_folio = noop_dirty_folio,
};

/* Writes wait until the store is repaired. */
static DECLARE_WAIT_QUEUE_HEAD(undo_wait);
static bool undo_waits;
static struct address_space_operations undo_slow_aops;

static int undo_write_later(struct file *filp, struct address_space *mapping, loff_t pos,
			    unsigned int len, struct folio **foliop, void **fsdata)
{
	wait_event(undo_wait, !READ_ONCE(undo_waits));
	return undo_good_aops->write_begin(filp, mapping, pos, len, foliop, fsdata);
}

static void undo_mend_store(void *unused)
{
	unsigned int n;

	for (n = 0; n < ARRAY_SIZE(undo_logs); n++) {
		WRITE_ONCE(undo_logs[n]->f_mapping->a_ops, undo_good_aops);
		__fput_sync(undo_logs[n]);
	}
	WRITE_ONCE(undo_waits, false);
	wake_up_all(&undo_wait);
}

static void undo_find_store(struct kunit *test)
{
	static const char *const names[] = { "log.0", "log.1" };
	unsigned int n;

	for (n = 0; n < ARRAY_SIZE(undo_logs); n++) {
		undo_logs[n] = undo_state_file(names[n], O_RDONLY);
		KUNIT_ASSERT_FALSE(test, IS_ERR(undo_logs[n]));
	}
	undo_good_aops = undo_logs[0]->f_mapping->a_ops;
}

static void undo_spoil_store(struct kunit *test, const struct address_space_operations *aops)
{
	unsigned int n;

	for (n = 0; n < ARRAY_SIZE(undo_logs); n++)
		WRITE_ONCE(undo_logs[n]->f_mapping->a_ops, aops);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, undo_mend_store, NULL));
}

void undo_break_store(struct kunit *test)
{
	undo_find_store(test);
	undo_spoil_store(test, &undo_bad_aops);
}

void undo_hold_store(struct kunit *test)
{
	undo_find_store(test);
	undo_slow_aops = *undo_good_aops;
	undo_slow_aops.write_begin = undo_write_later;
	WRITE_ONCE(undo_waits, true);
	undo_spoil_store(test, &undo_slow_aops);
}

void undo_repair_store(struct kunit *test)
{
	kunit_release_action(test, undo_mend_store, NULL);
}
