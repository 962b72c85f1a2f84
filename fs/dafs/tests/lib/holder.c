// SPDX-License-Identifier: GPL-2.0
/*
 * Clients that lock bytes of one file, and are lost.
 */
#include <linux/fs.h>
#include <linux/random.h>
#include "../../../../drivers/dafsd/session/client.h"
#include "../../../../drivers/dafsd/session/server.h"
#include "../../../../drivers/dafsd/state/persist.h"
#include "../../../../drivers/dafsd/store/store.h"
#include "holder.h"
#include "open_test.h"

dafs_status_t holder_open_as(struct holder *h, u32 access)
{
	struct dafs_open_args args = dafs_test_open_args(h->owner, access, 0);
	struct dafs_str name = dafs_test_str("file");

	args.dir_handle = h->fix->dir;
	args.pathname = (struct dafs_seq) { .count = 1, .elems = &name };
	return raw_call_as(h->conn, h->handle, DAFS_PROC_OPEN, &args, &h->open);
}

dafs_status_t holder_open(struct holder *h)
{
	return holder_open_as(h, DAFS_RW);
}

/* An instance of the client connects. */
static void holder_connect(struct kunit *test, struct holder *h, u64 verifier)
{
	h->login = (struct raw_login) { .id = h->id, .verifier = verifier };
	h->conn = raw_session(test, test->param_value, &h->login);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_register(h->conn, 0, 0, h->handle));
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, holder_open(h));
}

struct holder *holder(struct kunit *test, struct dafs_fixture *fix)
{
	struct holder *h = kunit_kzalloc(test, sizeof(*h), GFP_KERNEL);
	static unsigned int nr;
	static u32 load;

	KUNIT_ASSERT_NOT_NULL(test, h);
	h->fix = fix;
	/* not one that the server knows, perhaps by another address, of an earlier load */
	load = load ?: get_random_u32();
	snprintf(h->id, sizeof(h->id), HOLDER_ID "%x.%u", load, ++nr);
	strscpy(h->owner, "owner");
	holder_connect(test, h, 1);
	return h;
}

dafs_status_t holder_lock(struct holder *h, u32 type, u32 options, u64 offset, u64 length)
{
	struct dafs_lock_args args = {
		.filehandle = h->open.filehandle,
		.state_id = h->open.state_id,
		.lock_type = type,
		.options = options,
		.offset = offset,
		.length = length,
	};

	return raw_call_as(h->conn, h->handle, DAFS_PROC_LOCK, &args, &h->res);
}

dafs_status_t holder_test(struct holder *h, u32 type, u64 offset, u64 length)
{
	struct dafs_lockt_args args = {
		.filehandle = h->open.filehandle,
		.owner = dafs_test_str(h->owner),
		.lock_type = type,
		.offset = offset,
		.length = length,
	};

	return raw_call_as(h->conn, h->handle, DAFS_PROC_LOCKT, &args, &h->res);
}

dafs_status_t holder_unlock(struct holder *h, u64 offset, u64 length)
{
	struct dafs_locku_args args = {
		.filehandle = h->open.filehandle,
		.state_id = h->open.state_id,
		.offset = offset,
		.length = length,
	};

	return raw_call_as(h->conn, h->handle, DAFS_PROC_LOCKU, &args, NULL);
}

dafs_status_t holder_close(struct holder *h)
{
	struct dafs_close_args args = {
		.filehandle = h->open.filehandle,
		.state_id = h->open.state_id,
	};

	return raw_call_as(h->conn, h->handle, DAFS_PROC_CLOSE, &args, NULL);
}

void holder_expire(struct kunit *test, struct holder *h)
{
	KUNIT_ASSERT_EQ(test, 0, dafsd_client_end_id(&dafsd_server,
						     &h->login.res.connect.client_id));
	KUNIT_ASSERT_TRUE(test, raw_closed(h->conn, RAW_WAIT_MS));
	/* its locks are given up, when its session is gone */
	flush_workqueue(dafsd_timer_wq);
	raw_close(test, h->conn);
}

void holder_return(struct kunit *test, struct holder *h)
{
	holder_connect(test, h, h->login.verifier);
}

void holder_reboot(struct kunit *test, struct holder *h)
{
	raw_close(test, h->conn);
	holder_connect(test, h, h->login.verifier + 1);
}

void persist_restart(struct kunit *test)
{
	dafsd_persist_unload();
	KUNIT_ASSERT_EQ(test, 0, dafsd_persist_load(dafsd_server.store));
}

static int persist_delete(void *priv, const struct dafsd_key *key, const void *value, u32 len)
{
	dafsd_store_delete(dafsd_server.store, key);
	return 0;
}

/* What a test has left must not be in the way of the next one. */
static void persist_forget(void *unused)
{
	dafsd_persist_unload();
	dafsd_store_for_each(dafsd_server.store, DAFSD_RECORD_PERSIST, persist_delete, NULL);
}

struct dafs_fixture *persist_fixture(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);

	KUNIT_ASSERT_NOT_NULL(test, dafsd_server.store);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, persist_forget, NULL));
	dafs_backing_write(test, fix, "file", "0123456789abcdef0123456789abcdef", FILE_BYTES);
	return fix;
}

dafs_status_t holder_read(struct holder *h, bool open, u64 offset, u32 count)
{
	struct dafs_read_inline_args args = {
		.filehandle = h->open.filehandle,
		.offset = offset,
		.byte_count = count,
	};

	if (open)
		args.state_id = h->open.state_id;
	return raw_call_as(h->conn, h->handle, DAFS_PROC_READ_INLINE, &args, NULL);
}

dafs_status_t holder_write(struct holder *h, bool open, u64 offset, u32 count)
{
	struct dafs_write_inline_args args = {
		.filehandle = h->open.filehandle,
		.offset = offset,
		.byte_count = count,
		.data = "0123456789abcdef0123456789abcdef",
	};

	if (open)
		args.state_id = h->open.state_id;
	return raw_call_as(h->conn, h->handle, DAFS_PROC_WRITE_INLINE, &args, NULL);
}

dafs_status_t holder_append(struct holder *h, bool open)
{
	struct dafs_append_inline_args args = {
		.filehandle = h->open.filehandle,
		.byte_count = 1,
		.stable_how = DAFS_DATA_SYNC,
		.data = "x",
	};

	if (open)
		args.state_id = h->open.state_id;
	return raw_call_as(h->conn, h->handle, DAFS_PROC_APPEND_INLINE, &args, NULL);
}

dafs_status_t holder_truncate(struct holder *h, bool open, u64 size)
{
	struct dafs_setattr_inline_args args = {
		.filehandle = h->open.filehandle,
		.obj_attributes = {
			.included = DAFS_FATTR_OBJECT_SIZE,
			.valid = DAFS_FATTR_OBJECT_SIZE,
			.object_size = size,
		},
	};

	if (open)
		args.state_id = h->open.state_id;
	return raw_call_as(h->conn, h->handle, DAFS_PROC_SETATTR_INLINE, &args, NULL);
}
