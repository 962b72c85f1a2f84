// SPDX-License-Identifier: GPL-2.0
/*
 * A file that is changed under an AUTORECOVERY lock.
 */
#include <linux/fs.h>
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

void undo_settle(void)
{
	flush_workqueue(dafsd_timer_wq);
	/* one item queues others */
	flush_workqueue(dafsd_close_wq);
	flush_workqueue(dafsd_close_wq);
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
	undo_settle();
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
