// SPDX-License-Identifier: GPL-2.0
/*
 * PERSIST locks: what becomes of them when their owner, or the server, is lost, and their repair
 * (4.4.1.3, 4.4.1.5, 4.4.1.6).
 *
 * The server of these tests does not restart: it forgets all locks, and reads those in its store.
 * One that really restarts is in tools/testing/suites/persist.sh.
 */
#include <linux/filelock.h>
#include <linux/fs.h>
#include "../../../../drivers/dafsd/session/client.h"
#include "../../../../drivers/dafsd/session/server.h"
#include "../../../../drivers/dafsd/state/persist_impl.h"
#include "../../../../drivers/dafsd/store/store.h"
#include "../lib/holder.h"
#include "../lib/open_test.h"
#include "../lib/undo_test.h"

#define HOLDER_OK(test, status) DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, status)

/* The conflict that a client was told of is with a lock of another one. */
static void persist_expect_owner(struct kunit *test, const struct holder *h,
				 const struct holder *owner, u32 type, u64 offset, u64 length)
{
	KUNIT_EXPECT_EQ(test, offset, h->res.offset);
	KUNIT_EXPECT_EQ(test, length, h->res.length);
	KUNIT_EXPECT_EQ(test, type, h->res.lock_type);
	KUNIT_ASSERT_EQ(test, strlen(owner->owner), h->res.owner.len);
	KUNIT_EXPECT_MEMEQ(test, owner->owner, h->res.owner.data, h->res.owner.len);
}

/*
 * R-4.4.1-01 R-4.4.1.3-02 R-4.4.1.3-06 R-4.4.1.3-08 R-4.4.1.5-02: when the lease of its owner has
 * run out, the first lock that conflicts breaks it, and all others find it broken
 */
static void dafs_persist_expire_test(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test);
	struct holder *a = holder(test, fix), *b = holder(test, fix), *c = holder(test, fix);

	HOLDER_OK(test, holder_lock(a, DAFS_WRITE_LT, PERSIST, 10, 10));
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, holder_lock(b, DAFS_WRITE_LT, 0, 0, 11));
	holder_expire(test, a);
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, holder_test(b, DAFS_WRITE_LT, 0, 11));
	persist_expect_owner(test, b, a, DAFS_WRITE_LT, 10, 10);
	HOLDER_OK(test, holder_lock(b, DAFS_WRITE_LT, 0, 0, 10));
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCK_BROKEN, holder_lock(b, DAFS_READ_LT, 0, 0, 11));
	persist_expect_owner(test, b, a, DAFS_WRITE_LT, 10, 10);
	KUNIT_EXPECT_TRUE(test, dafs_opaque64_equal(&b->res.owner_clientid,
						    &a->login.res.connect.client_id));
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCK_BROKEN, holder_lock(b, DAFS_WRITE_LT, 0, 0, 11));
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCK_BROKEN, holder_lock(c, DAFS_WRITEW_LT, 0, 19, ALL));
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCK_BROKEN, holder_test(c, DAFS_READ_LT, 0, ALL));
	persist_expect_owner(test, c, a, DAFS_WRITE_LT, 10, 10);
	/* too late for its owner, too */
	holder_return(test, a);
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCK_BROKEN,
			   holder_lock(a, DAFS_WRITE_LT, PERSIST | RECLAIM, 10, 10));
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCK_BROKEN, holder_lock(a, DAFS_WRITE_LT, 0, 10, 10));
}

/* R-4.4.1.3-07, E-72: REPAIR, by anybody, and for all of it */
static void dafs_persist_repair_test(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test);
	struct holder *a = holder(test, fix), *b = holder(test, fix), *c = holder(test, fix);

	/* without anything to repair it is as any other */
	HOLDER_OK(test, holder_lock(b, DAFS_WRITE_LT, REPAIR, 0, ALL));
	HOLDER_OK(test, holder_unlock(b, 0, ALL));
	HOLDER_OK(test, holder_lock(a, DAFS_WRITE_LT, PERSIST, 10, 10));
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, holder_lock(b, DAFS_WRITE_LT, REPAIR, 10, 10));
	holder_expire(test, a);
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCK_BROKEN,
			   holder_lock(b, DAFS_WRITE_LT, REPAIR, 10, 10));
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCK_RANGE, holder_lock(b, DAFS_WRITE_LT, REPAIR, 10, 9));
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCK_RANGE,
			   holder_lock(b, DAFS_READ_LT, REPAIR, 11, ALL));
	/* it is not repaired by one that does not get the lock */
	HOLDER_OK(test, holder_lock(c, DAFS_READ_LT, 0, 20, 1));
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, holder_lock(b, DAFS_WRITE_LT, REPAIR, 10, 11));
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCK_BROKEN, holder_lock(c, DAFS_READ_LT, 0, 10, 10));
	HOLDER_OK(test, holder_lock(b, DAFS_WRITE_LT, REPAIR | PERSIST, 10, 10));
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, holder_lock(c, DAFS_READ_LT, 0, 10, 10));
	/* who repairs it may be lost as well */
	holder_expire(test, b);
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCK_BROKEN, holder_lock(c, DAFS_WRITE_LT, 0, 0, ALL));
	HOLDER_OK(test, holder_lock(c, DAFS_WRITE_LT, REPAIR, 0, ALL));
	HOLDER_OK(test, holder_unlock(c, 0, ALL));
	holder_return(test, a);
	HOLDER_OK(test, holder_lock(a, DAFS_WRITE_LT, 0, 0, ALL));
}

/*
 * R-4.4.1.5-01 R-4.4.1.6-07: until then its owner may reclaim it, or a part of it, and nobody
 * else; with PERSIST or without
 */
static void dafs_persist_reclaim_test(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test);
	struct holder *a = holder(test, fix), *b = holder(test, fix);

	HOLDER_OK(test, holder_lock(a, DAFS_WRITE_LT, PERSIST, 0, 10));
	HOLDER_OK(test, holder_lock(a, DAFS_READ_LT, PERSIST, 10, 10));
	HOLDER_OK(test, holder_lock(a, DAFS_WRITE_LT, 0, 20, 10));
	holder_expire(test, a);
	/* neither what was another's, nor what was not PERSIST, nor what was weaker */
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED,
			   holder_lock(b, DAFS_READ_LT, PERSIST | RECLAIM, 0, 10));
	holder_return(test, a);
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED,
			   holder_lock(a, DAFS_WRITE_LT, PERSIST | RECLAIM, 20, 10));
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED,
			   holder_lock(a, DAFS_WRITE_LT, PERSIST | RECLAIM, 5, 10));
	HOLDER_OK(test, holder_lock(a, DAFS_READ_LT, PERSIST | RECLAIM, 5, 10));
	/* once more, as if the response had been lost */
	HOLDER_OK(test, holder_lock(a, DAFS_READ_LT, PERSIST | RECLAIM, 5, 10));
	HOLDER_OK(test, holder_lock(a, DAFS_WRITE_LT, RECLAIM, 0, 5));
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, holder_lock(b, DAFS_WRITE_LT, 0, 0, 15));
	HOLDER_OK(test, holder_lock(b, DAFS_WRITE_LT, 0, 20, 10));
	/* it is a normal one now */
	holder_expire(test, a);
	HOLDER_OK(test, holder_lock(b, DAFS_WRITE_LT, 0, 0, 5));
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCK_BROKEN, holder_lock(b, DAFS_WRITE_LT, 0, 14, 1));
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCK_BROKEN, holder_lock(b, DAFS_WRITE_LT, 0, 15, 1));
}

/* R-4.4.1.5-03: what nobody else has asked for in the meantime its owner may use as its own. */
static void dafs_persist_own_test(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test);
	struct holder *a = holder(test, fix), *b = holder(test, fix);

	HOLDER_OK(test, holder_lock(a, DAFS_WRITE_LT, PERSIST, 0, 10));
	HOLDER_OK(test, holder_lock(a, DAFS_WRITE_LT, PERSIST, 20, 10));
	holder_expire(test, a);
	holder_return(test, a);
	HOLDER_OK(test, holder_unlock(a, 20, 5));
	HOLDER_OK(test, holder_lock(b, DAFS_WRITE_LT, 0, 20, 5));
	HOLDER_OK(test, holder_lock(a, DAFS_WRITE_LT, PERSIST, 0, 5));
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, holder_lock(b, DAFS_WRITE_LT, 0, 0, 5));
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCK_BROKEN, holder_lock(b, DAFS_WRITE_LT, 0, 5, 1));
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, holder_lock(b, DAFS_WRITE_LT, 0, 0, 5));
	/* what is broken is not its any more */
	HOLDER_OK(test, holder_unlock(a, 0, ALL));
	HOLDER_OK(test, holder_lock(b, DAFS_WRITE_LT, 0, 0, 5));
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCK_BROKEN,
			   holder_lock(a, DAFS_WRITE_LT, PERSIST, 5, 5));
}

/* R-4.4.1.3-03 R-4.4.1.5-04: it is broken as soon as another instance of its client is there. */
static void dafs_persist_reboot_test(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test);
	struct holder *a = holder(test, fix), *b = holder(test, fix);

	HOLDER_OK(test, holder_lock(a, DAFS_WRITE_LT, PERSIST, 0, 10));
	HOLDER_OK(test, holder_lock(a, DAFS_WRITE_LT, 0, 20, 10));
	holder_reboot(test, a);
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCK_BROKEN, holder_test(b, DAFS_READ_LT, 0, 1));
	HOLDER_OK(test, holder_lock(b, DAFS_WRITE_LT, 0, 20, 10));
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCK_BROKEN,
			   holder_lock(a, DAFS_WRITE_LT, PERSIST | RECLAIM, 0, 10));
	HOLDER_OK(test, holder_lock(a, DAFS_WRITE_LT, PERSIST | REPAIR, 0, 10));
	/* also if it was left for a while, and the server was away */
	holder_expire(test, a);
	persist_restart(test);
	holder_reboot(test, a);
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCK_BROKEN, holder_test(b, DAFS_READ_LT, 0, 1));
	HOLDER_OK(test, holder_lock(b, DAFS_WRITE_LT, REPAIR, 0, 10));
}

static const struct dafsd_client *persist_client_of(const struct holder *h)
{
	const struct dafsd_client *client;

	guard(mutex)(&dafsd_server.clients_lock);
	list_for_each_entry(client, &dafsd_server.clients, node)
		if (client->id_len == strlen(h->id) && !memcmp(client->id, h->id, client->id_len))
			return client;
	return NULL;
}

/* Another instance is there, but requests of the former one are being executed still. */
static void dafs_persist_outlived_test(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test);
	struct holder *a = holder(test, fix), *b = holder(test, fix);
	struct dafsd_client *next = kunit_kzalloc(test, sizeof(*next), GFP_KERNEL);
	const struct dafsd_client *client;

	KUNIT_ASSERT_NOT_NULL(test, next);
	HOLDER_OK(test, holder_lock(a, DAFS_WRITE_LT, PERSIST, 0, 10));
	client = persist_client_of(a);
	KUNIT_ASSERT_NOT_NULL(test, client);
	next->id = client->id;
	next->id_len = client->id_len;
	next->principal = client->principal;
	next->verifier.b[0] = ~client->verifier.b[0];
	dafsd_persist_replaced(next);
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, holder_test(b, DAFS_READ_LT, 0, 1));
	HOLDER_OK(test, holder_write(a, true, 0, 10));
	holder_expire(test, a);
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCK_BROKEN, holder_test(b, DAFS_READ_LT, 0, 1));
	HOLDER_OK(test, holder_lock(b, DAFS_WRITE_LT, REPAIR, 0, 10));
}

/* Who may only read a file cannot have it broken, nor say that it is repaired. */
static void dafs_persist_access_test(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test);
	struct holder *a = holder(test, fix), *b = holder(test, fix);

	HOLDER_OK(test, holder_close(a));
	HOLDER_OK(test, holder_open_as(a, DAFS_OPEN_SHARE_ACCESS_READ));
	DAFS_EXPECT_STATUS(test, DAFSERR_ACCES, holder_lock(a, DAFS_READ_LT, PERSIST, 0, ALL));
	DAFS_EXPECT_STATUS(test, DAFSERR_ACCES,
			   holder_lock(a, DAFS_READ_LT, PERSIST | RECLAIM, 0, ALL));
	HOLDER_OK(test, holder_lock(a, DAFS_READ_LT, 0, 0, ALL));
	HOLDER_OK(test, holder_unlock(a, 0, ALL));
	HOLDER_OK(test, holder_lock(b, DAFS_READ_LT, PERSIST, 0, ALL));
	holder_reboot(test, b);
	DAFS_EXPECT_STATUS(test, DAFSERR_ACCES, holder_lock(a, DAFS_READ_LT, REPAIR, 0, ALL));
	HOLDER_OK(test, holder_lock(b, DAFS_WRITE_LT, REPAIR, 0, ALL));
}

/* E-80: one for reading that is broken keeps others from reading, and LOCK and LOCKT say so. */
static void dafs_persist_reader_test(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test);
	struct holder *a = holder(test, fix), *b = holder(test, fix);

	HOLDER_OK(test, holder_lock(a, DAFS_READ_LT, PERSIST, 0, ALL));
	HOLDER_OK(test, holder_lock(b, DAFS_READ_LT, 0, 0, 10));
	HOLDER_OK(test, holder_read(b, true, 0, 1));
	HOLDER_OK(test, holder_unlock(b, 0, 10));
	holder_reboot(test, a);
	DAFS_EXPECT_STATUS(test, DAFSERR_STALE_STATEID, holder_read(b, true, 0, 1));
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCK_BROKEN, holder_test(b, DAFS_READ_LT, 0, 10));
	persist_expect_owner(test, b, a, DAFS_READ_LT, 0, ALL);
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCK_BROKEN, holder_lock(b, DAFS_READ_LT, 0, 0, 10));
	HOLDER_OK(test, holder_lock(b, DAFS_READ_LT, REPAIR, 0, ALL));
	HOLDER_OK(test, holder_read(b, true, 0, 1));
}

/* R-4.4.1.3-01: a restart of the server forgets neither what is left, nor what is broken. */
static void dafs_persist_restart_test(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test);
	struct holder *a = holder(test, fix), *b = holder(test, fix), *c = holder(test, fix);

	HOLDER_OK(test, holder_lock(a, DAFS_WRITE_LT, PERSIST, 0, 10));
	HOLDER_OK(test, holder_lock(b, DAFS_WRITE_LT, PERSIST, 10, 10));
	HOLDER_OK(test, holder_lock(b, DAFS_WRITE_LT, PERSIST, 15, 2));
	HOLDER_OK(test, holder_unlock(b, 12, 2));
	HOLDER_OK(test, holder_lock(b, DAFS_WRITE_LT, 0, 18, 1));
	holder_expire(test, a);
	holder_expire(test, b);
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCK_BROKEN, holder_lock(c, DAFS_READ_LT, 0, 5, 1));
	persist_restart(test);
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCK_BROKEN, holder_lock(c, DAFS_READ_LT, 0, 0, 1));
	persist_expect_owner(test, c, a, DAFS_WRITE_LT, 0, 10);
	HOLDER_OK(test, holder_lock(c, DAFS_WRITE_LT, 0, 12, 2));
	HOLDER_OK(test, holder_lock(c, DAFS_WRITE_LT, 0, 18, 1));
	holder_return(test, b);
	HOLDER_OK(test, holder_lock(b, DAFS_WRITE_LT, PERSIST | RECLAIM, 14, 4));
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED,
			   holder_lock(b, DAFS_WRITE_LT, PERSIST | RECLAIM, 10, 3));
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCK_BROKEN, holder_lock(c, DAFS_READ_LT, 0, 11, 1));
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCK_BROKEN, holder_lock(c, DAFS_READ_LT, 0, 19, 1));
	HOLDER_OK(test, holder_lock(c, DAFS_WRITE_LT, REPAIR, 0, 14));
	HOLDER_OK(test, holder_unlock(c, 0, 14));
	HOLDER_OK(test, holder_lock(b, DAFS_WRITE_LT, 0, 0, 12));
}

/* R-4.4.1.2-32, E-83: CLOSE releases it, and so does a lock without PERSIST in its place. */
static void dafs_persist_release_test(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test);
	struct holder *a = holder(test, fix), *b = holder(test, fix);

	HOLDER_OK(test, holder_lock(a, DAFS_WRITE_LT, PERSIST, 0, ALL));
	HOLDER_OK(test, holder_close(a));
	HOLDER_OK(test, holder_lock(b, DAFS_WRITE_LT, PERSIST, 0, ALL));
	HOLDER_OK(test, holder_lock(b, DAFS_WRITE_LT, 0, 5, 10));
	HOLDER_OK(test, holder_unlock(b, 20, ALL));
	holder_expire(test, b);
	persist_restart(test);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, holder_open(a));
	HOLDER_OK(test, holder_lock(a, DAFS_WRITE_LT, 0, 5, 10));
	HOLDER_OK(test, holder_lock(a, DAFS_WRITE_LT, 0, 20, ALL));
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCK_BROKEN, holder_lock(a, DAFS_WRITE_LT, 0, 4, 1));
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCK_BROKEN, holder_lock(a, DAFS_WRITE_LT, 0, 15, 1));
}

/* R-4.4.1.3-04 R-4.4.1.3-05: what is broken is neither read nor written before it is repaired. */
static void dafs_persist_io_test(struct kunit *test)
{
	struct dafs_open_args create = dafs_create_open_args(DAFS_CREATE_UNCHECKED);
	struct dafs_fixture *fix = persist_fixture(test);
	struct holder *a = holder(test, fix), *b = holder(test, fix);
	struct dafs_open_res res;
	unsigned int open;

	HOLDER_OK(test, holder_lock(a, DAFS_WRITE_LT, PERSIST, 10, 10));
	HOLDER_OK(test, holder_lock(a, DAFS_READ_LT, PERSIST, FILE_BYTES, ALL));
	holder_expire(test, a);
	HOLDER_OK(test, holder_read(b, false, 0, FILE_BYTES));
	HOLDER_OK(test, holder_write(b, true, 0, FILE_BYTES));
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCK_BROKEN, holder_lock(b, DAFS_WRITE_LT, 0, 0, ALL));
	for (open = 0; open < 2; open++) {
		dafs_status_t refused = open ? DAFSERR_STALE_STATEID : DAFSERR_LOCKED;

		HOLDER_OK(test, holder_read(b, open, 0, 10));
		HOLDER_OK(test, holder_read(b, open, 20, 10));
		HOLDER_OK(test, holder_read(b, open, 15, 0));
		DAFS_EXPECT_STATUS(test, refused, holder_read(b, open, 0, 11));
		DAFS_EXPECT_STATUS(test, refused, holder_read(b, open, 19, 1));
		HOLDER_OK(test, holder_write(b, open, 20, 10));
		DAFS_EXPECT_STATUS(test, refused, holder_write(b, open, 15, 1));
		DAFS_EXPECT_STATUS(test, refused, holder_append(b, open));
		DAFS_EXPECT_STATUS(test, refused, holder_truncate(b, open, 5));
		DAFS_EXPECT_STATUS(test, refused, holder_truncate(b, open, FILE_BYTES + 1));
		HOLDER_OK(test, holder_truncate(b, open, FILE_BYTES));
		HOLDER_OK(test, holder_truncate(b, open, FILE_BYTES - 1));
		HOLDER_OK(test, holder_truncate(b, open, FILE_BYTES));
	}
	create.createattrs = (struct dafs_fattr) {
		.included = DAFS_FATTR_OBJECT_SIZE,
		.valid = DAFS_FATTR_OBJECT_SIZE,
	};
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCKED,
			   dafs_try_open(test, fix, "file", &create, &res));
	HOLDER_OK(test, holder_lock(b, DAFS_WRITE_LT, REPAIR, 0, ALL));
	HOLDER_OK(test, holder_write(b, true, 0, FILE_BYTES));
	HOLDER_OK(test, holder_append(b, true));
	HOLDER_OK(test, holder_truncate(b, true, 5));
}

/* A file that does not exist any more takes its locks along, whoever has removed it. */
static void dafs_persist_removed_test(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test);
	struct dafs_remove_args args = { .filehandle = fix->dir, .target = dafs_test_str("file") };
	struct holder *a = holder(test, fix), *b = holder(test, fix);

	HOLDER_OK(test, holder_lock(a, DAFS_WRITE_LT, PERSIST, 10, 10));
	dafs_backing_link(test, fix, "file", "other");
	holder_expire(test, a);
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCK_BROKEN, holder_lock(b, DAFS_WRITE_LT, 0, 0, ALL));
	KUNIT_EXPECT_EQ(test, 1, dafsd_persist_nr);
	HOLDER_OK(test, raw_call_as(b->conn, b->handle, DAFS_PROC_REMOVE, &args, NULL));
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCK_BROKEN, holder_lock(b, DAFS_WRITE_LT, 0, 0, ALL));
	args.target = dafs_test_str("other");
	HOLDER_OK(test, raw_call_as(b->conn, b->handle, DAFS_PROC_REMOVE, &args, NULL));
	KUNIT_EXPECT_EQ(test, 0, dafsd_persist_nr);
	persist_restart(test);
	KUNIT_EXPECT_EQ(test, 0, dafsd_persist_nr);
}

static void persist_unlinked(struct kunit *test, bool local)
{
	struct dafs_fixture *fix = persist_fixture(test);
	struct dafs_remove_args args = { .filehandle = fix->dir, .target = dafs_test_str("file") };
	struct holder *a = holder(test, fix), *b = holder(test, fix);

	HOLDER_OK(test, holder_lock(a, DAFS_WRITE_LT, PERSIST, 10, 10));
	if (local)
		dafs_backing_remove(fix, "file");
	else
		HOLDER_OK(test, raw_call_as(b->conn, b->handle, DAFS_PROC_REMOVE, &args, NULL));
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, holder_lock(b, DAFS_WRITE_LT, 0, 0, ALL));
	holder_expire(test, a);
	raw_settle();
	KUNIT_EXPECT_EQ(test, 0, dafsd_persist_nr);
	HOLDER_OK(test, holder_lock(b, DAFS_WRITE_LT, 0, 0, ALL));
}

static int persist_sync_fs(struct super_block *sb, int wait)
{
	return wait ? -EIO : 0;
}

/* What a crash would bring back is not forgotten: the name of the file may come back as well. */
static void dafs_persist_unlinked_unsaved_test(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test);
	struct holder *a = holder(test, fix), *b = holder(test, fix);
	static struct super_operations bad;
	const struct super_operations *good;
	struct path path;

	HOLDER_OK(test, holder_lock(a, DAFS_WRITE_LT, PERSIST, 10, 10));
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_path(fix, "file", &path));
	dafs_backing_remove(fix, "file");
	good = path.mnt->mnt_sb->s_op;
	bad = *good;
	bad.sync_fs = persist_sync_fs;
	path.mnt->mnt_sb->s_op = &bad;
	holder_expire(test, a);
	raw_settle();
	KUNIT_EXPECT_EQ(test, 1, dafsd_persist_nr);
	path.mnt->mnt_sb->s_op = good;
	path_put(&path);
	/* the next one who closes it sees to that */
	HOLDER_OK(test, holder_lock(b, DAFS_WRITE_LT, 0, 0, 10));
	HOLDER_OK(test, holder_close(b));
	KUNIT_EXPECT_EQ(test, 0, dafsd_persist_nr);
}

/* What is removed while it is locked leaves nothing that somebody could repair. */
static void dafs_persist_unlinked_test(struct kunit *test)
{
	persist_unlinked(test, false);
}

/* Likewise, on any file system, by a program of the server */
static void dafs_persist_unlinked_local_test(struct kunit *test)
{
	persist_unlinked(test, true);
}

/* One address does not take all records there are, by whatever clients it says it is. */
static void dafs_persist_limit_test(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test);
	struct holder *a = holder(test, fix), *b = holder(test, fix), *c = holder(test, fix);

	dafs_fixture_server_param(test, &dafsd_persist_max, 8);
	HOLDER_OK(test, holder_lock(a, DAFS_WRITE_LT, PERSIST, 0, 1));
	HOLDER_OK(test, holder_lock(b, DAFS_WRITE_LT, PERSIST, 1, 1));
	DAFS_EXPECT_STATUS(test, DAFSERR_RESOURCE, holder_lock(c, DAFS_WRITE_LT, PERSIST, 2, 1));
	HOLDER_OK(test, holder_lock(c, DAFS_WRITE_LT, 0, 2, 1));
	HOLDER_OK(test, holder_unlock(a, 0, ALL));
	HOLDER_OK(test, holder_lock(c, DAFS_WRITE_LT, PERSIST, 2, 8));
	/* what an owner has it may get back, change and give up, also in pieces */
	holder_expire(test, b);
	holder_expire(test, c);
	persist_restart(test);
	holder_return(test, c);
	HOLDER_OK(test, holder_lock(c, DAFS_WRITE_LT, PERSIST | RECLAIM, 2, 8));
	HOLDER_OK(test, holder_lock(c, DAFS_READ_LT, PERSIST, 4, 2));
	HOLDER_OK(test, holder_unlock(c, 7, 1));
	DAFS_EXPECT_STATUS(test, DAFSERR_RESOURCE, holder_lock(c, DAFS_WRITE_LT, PERSIST, 20, 1));
}

static int persist_take_number(const struct dafsd_persist_view *view, void *arg)
{
	*(u64 *)arg = view->number;
	return 0;
}

/*
 * What the administrator forgets is forgotten if that can be written, together with what its owner
 * has still; else it is not.
 */
static void dafs_persist_forget_test(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test);
	struct holder *a = holder(test, fix), *b = holder(test, fix);
	struct dafsd_persist_place place = {};
	u64 number = 0;

	HOLDER_OK(test, holder_lock(a, DAFS_WRITE_LT, PERSIST, 0, 10));
	HOLDER_OK(test, holder_lock(a, DAFS_WRITE_LT, PERSIST, 20, 10));
	KUNIT_ASSERT_EQ(test, 0, dafsd_persist_list(&place, persist_take_number, &number));
	KUNIT_EXPECT_EQ(test, -EBUSY, dafsd_persist_forget(number));
	holder_expire(test, a);
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCK_BROKEN, holder_lock(b, DAFS_WRITE_LT, 0, 0, 10));
	holder_return(test, a);
	HOLDER_OK(test, holder_lock(a, DAFS_WRITE_LT, PERSIST | RECLAIM, 20, 10));
	dafs_fixture_server_param(test, &dafsd_store_max, 0);
	KUNIT_EXPECT_EQ(test, -ENOSPC, dafsd_persist_forget(number));
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCK_BROKEN, holder_lock(b, DAFS_WRITE_LT, 0, 0, 10));
	dafs_fixture_server_param(test, &dafsd_store_max, SZ_64M);
	undo_break_store(test);
	KUNIT_EXPECT_EQ(test, -EIO, dafsd_persist_forget(number));
	undo_repair_store(test);
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCK_BROKEN, holder_lock(b, DAFS_WRITE_LT, 0, 0, 10));
	KUNIT_EXPECT_EQ(test, 0, dafsd_persist_forget(number));
	KUNIT_EXPECT_EQ(test, -EBUSY, dafsd_persist_forget(number));
	KUNIT_EXPECT_EQ(test, -ENOENT, dafsd_persist_forget(number + 1));
	HOLDER_OK(test, holder_lock(b, DAFS_WRITE_LT, 0, 0, 10));
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, holder_lock(b, DAFS_WRITE_LT, 0, 20, 10));
	/* nor is it there again */
	holder_expire(test, b);
	holder_expire(test, a);
	persist_restart(test);
	holder_return(test, b);
	HOLDER_OK(test, holder_lock(b, DAFS_WRITE_LT, 0, 0, 10));
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCK_BROKEN, holder_lock(b, DAFS_WRITE_LT, 0, 20, 10));
}

/* A lock of another file server, which it keeps out of courtesy */
static struct file *persist_other;
static bool persist_other_asked, persist_others_wait;

static int persist_other_lock(unsigned char type);

static bool persist_other_expirable(struct file_lock *fl)
{
	return true;
}

static void persist_other_expire(void)
{
	persist_other_asked = true;
	persist_others_wait |= rwsem_is_locked(&dafsd_persist_sem);
	persist_other_lock(F_UNLCK);
}

static const struct lock_manager_operations persist_other_ops = {
	.lm_mod_owner = THIS_MODULE,
	.lm_lock_expirable = persist_other_expirable,
	.lm_expire_lock = persist_other_expire,
};

static int persist_other_lock(unsigned char type)
{
	struct file_lock fl;

	locks_init_lock(&fl);
	fl.c.flc_owner = persist_other;
	fl.c.flc_flags = FL_POSIX;
	fl.c.flc_type = type;
	fl.c.flc_file = persist_other;
	fl.fl_end = OFFSET_MAX;
	fl.fl_lmops = &persist_other_ops;
	return vfs_lock_file(persist_other, F_SETLK, &fl, NULL);
}

/* Until such a lock has ended, nobody else has to wait. */
static void dafs_persist_other_server_test(struct kunit *test)
{
	static const u32 options[] = { PERSIST, 0 };
	struct dafs_fixture *fix = persist_fixture(test);
	struct holder *a = holder(test, fix);
	unsigned int n;

	persist_other = dafs_backing_open(fix, "file", O_RDWR, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(persist_other));
	for (n = 0; n < ARRAY_SIZE(options); n++) {
		persist_other_asked = false;
		persist_others_wait = false;
		KUNIT_EXPECT_EQ(test, 0, persist_other_lock(F_WRLCK));
		HOLDER_OK(test, holder_lock(a, DAFS_WRITE_LT, options[n], 0, 10));
		KUNIT_EXPECT_TRUE(test, persist_other_asked);
		KUNIT_EXPECT_FALSE(test, persist_others_wait);
		HOLDER_OK(test, holder_unlock(a, 0, ALL));
	}
	dafs_backing_close(persist_other);
}

/* E-72 */
static void dafs_persist_options_test(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test);
	struct holder *a = holder(test, fix);

	DAFS_EXPECT_STATUS(test, DAFSERR_NOTSUPP, holder_lock(a, DAFS_WRITE_LT, 16, 0, ALL));
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, holder_lock(a, DAFS_WRITE_LT, RECLAIM, 0, ALL));
}

static struct kunit_case persist_cases[] = {
	KUNIT_CASE_PARAM(dafs_persist_expire_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_persist_repair_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_persist_reclaim_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_persist_own_test),
	KUNIT_CASE_PARAM(dafs_persist_reboot_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_persist_outlived_test),
	KUNIT_CASE(dafs_persist_access_test),
	KUNIT_CASE(dafs_persist_reader_test),
	KUNIT_CASE(dafs_persist_restart_test),
	KUNIT_CASE(dafs_persist_release_test),
	KUNIT_CASE_PARAM(dafs_persist_io_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_persist_removed_test),
	KUNIT_CASE(dafs_persist_unlinked_test),
	KUNIT_CASE(dafs_persist_unlinked_local_test),
	KUNIT_CASE(dafs_persist_unlinked_unsaved_test),
	KUNIT_CASE(dafs_persist_limit_test),
	KUNIT_CASE(dafs_persist_forget_test),
	KUNIT_CASE(dafs_persist_other_server_test),
	KUNIT_CASE(dafs_persist_options_test),
	{}
};

static struct kunit_suite persist_suite = {
	.name = "dafs_persist",
	.test_cases = persist_cases,
};

kunit_test_suite(persist_suite);
