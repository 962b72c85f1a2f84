// SPDX-License-Identifier: GPL-2.0
/*
 * AUTORECOVERY locks: what comes in the middle of their end, and of undoing; and requests that
 * are late.
 *
 * Requests are held up where they wait for something real: a frozen file system, a state directory
 * that cannot be written, or one request for another.
 */
#include <linux/buffer_head.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/rwsem.h>
#include <linux/wait_bit.h>
#include <linux/workqueue.h>
#include "../../../../drivers/dafsd/export/export.h"
#include "../../../../drivers/dafsd/session/client.h"
#include "../../../../drivers/dafsd/session/server.h"
#include "../../../../drivers/dafsd/state/file.h"
#include "../../../../drivers/dafsd/state/lock_wait.h"
#include "../../../../drivers/dafsd/state/persist_impl.h"
#include "../../../../drivers/dafsd/store/store.h"
#include "../../../../drivers/dafsd/store/undo.h"
#include "../lib/holder.h"
#include "../lib/open_test.h"
#include "../lib/undo_test.h"

/* The status of a request that was sent by race_ask() */
static dafs_status_t race_status(struct holder *h)
{
	struct dafs_res_hdr hdr = {};

	return raw_recv_status(h->conn, RAW_WAIT_MS, &hdr);
}

/* Sends a request on a stream of its own, and does not wait. */
static void race_ask(struct holder *h, const u8 *handle, u16 stream, u32 proc, void *args)
{
	struct dafs_req_hdr hdr = raw_hdr(h->conn, proc);

	hdr.seq_number = 0;
	hdr.stream_id = stream;
	h->conn->seq--;
	memcpy(hdr.cred_handle, handle, sizeof(hdr.cred_handle));
	raw_ask(h->conn, &hdr, args);
}

static void race_ask_lock(struct holder *h, u16 stream, u32 type, u32 options)
{
	struct dafs_lock_args args = {
		.filehandle = h->open.filehandle,
		.state_id = h->open.state_id,
		.lock_type = type,
		.options = options,
		.length = ALL,
	};

	race_ask(h, h->handle, stream, DAFS_PROC_LOCK, &args);
}

static void race_ask_write(struct holder *h, const u8 *handle, u16 stream)
{
	struct dafs_write_inline_args args = {
		.filehandle = h->open.filehandle,
		.state_id = h->open.state_id,
		.byte_count = 4,
		.data = "late",
	};

	race_ask(h, handle, stream, DAFS_PROC_WRITE_INLINE, &args);
}

static void race_ask_append(struct holder *h, const u8 *handle, u16 stream)
{
	struct dafs_append_inline_args args = {
		.filehandle = h->open.filehandle,
		.state_id = h->open.state_id,
		.byte_count = 4,
		.stable_how = DAFS_DATA_SYNC,
		.data = "late",
	};

	race_ask(h, handle, stream, DAFS_PROC_APPEND_INLINE, &args);
}

static void race_ask_truncate(struct holder *h, const u8 *handle, u16 stream)
{
	struct dafs_setattr_inline_args args = {
		.filehandle = h->open.filehandle,
		.state_id = h->open.state_id,
		.obj_attributes = {
			.included = DAFS_FATTR_OBJECT_SIZE,
			.valid = DAFS_FATTR_OBJECT_SIZE,
			.object_size = 1,
		},
	};

	race_ask(h, handle, stream, DAFS_PROC_SETATTR_INLINE, &args);
}

static void (*const race_changes[])(struct holder *h, const u8 *handle, u16 stream) = {
	race_ask_write, race_ask_append, race_ask_truncate,
};

static void race_put_file(void *file)
{
	dafsd_file_put(file);
}

/* What keeps changes of the file and undoing apart */
static struct rw_semaphore *race_append(struct kunit *test, struct dafs_fixture *fix)
{
	struct dafsd_file *file;
	struct path path;

	KUNIT_ASSERT_EQ(test, 0, dafs_backing_path(fix, "file", &path));
	file = dafsd_file_find(d_inode(path.dentry));
	path_put(&path);
	KUNIT_ASSERT_NOT_NULL(test, file);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, race_put_file, file));
	return &file->append;
}

static int race_take_state(const struct dafsd_persist_view *view, void *arg)
{
	*(u32 *)arg = view->state;
	return 0;
}

/* Are changes under the only lock there is to be undone? */
static int race_is_undoing(struct rw_semaphore *unused)
{
	struct dafsd_persist_place place = {};
	u32 state = U32_MAX;

	return !dafsd_persist_list(&place, race_take_state, &state) &&
	       state == DAFSD_PERSIST_UNDOING;
}

/* @append is held by a request, or by who undoes. */
static int race_is_held(struct rw_semaphore *append)
{
	return rwsem_is_locked(append);
}

/* Somebody waits for @append. */
static int race_is_wanted(struct rw_semaphore *append)
{
	return rwsem_is_contended(append);
}

/* Waits for something that a request, or the server, does. */
static void race_await(struct kunit *test, int (*is)(struct rw_semaphore *append),
		       struct rw_semaphore *append)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);

	while (!is(append) && time_before(jiffies, end))
		msleep(20);
	KUNIT_EXPECT_TRUE(test, is(append));
}

/* Takes everything from the client; does not wait for that. */
static void race_expire(struct kunit *test, struct holder *h)
{
	KUNIT_EXPECT_EQ(test, 0, dafsd_client_end_id(&dafsd_server,
						     &h->login.res.connect.client_id));
}

/* --- the lock ends, and the state directory cannot be written --- */

/**
 * struct race_pause - a work item while which no lease ends
 * @work: the work item
 * @begun: nothing else is executed on its work queue
 * @end: it is to end
 */
struct race_pause {
	struct work_struct work;
	struct completion begun;
	struct completion end;
};

static void race_pause_work(struct work_struct *work)
{
	struct race_pause *pause = container_of(work, struct race_pause, work);

	complete(&pause->begun);
	wait_for_completion(&pause->end);
}

static void race_pause_begin(struct race_pause *pause)
{
	INIT_WORK_ONSTACK(&pause->work, race_pause_work);
	init_completion(&pause->begun);
	init_completion(&pause->end);
	workqueue_set_max_active(dafsd_timer_wq, 1);
	queue_work(dafsd_timer_wq, &pause->work);
	wait_for_completion(&pause->begun);
}

static void race_pause_end(struct race_pause *pause)
{
	complete(&pause->end);
	flush_work(&pause->work);
	destroy_work_on_stack(&pause->work);
	workqueue_set_max_active(dafsd_timer_wq, WQ_DFL_ACTIVE);
}

static int race_reload(struct kunit *test, struct file *dir, bool broken)
{
	struct dafsd_store *store;

	dafsd_persist_unload();
	/* this writes what it can */
	dafsd_store_close(dafsd_server.store);
	if (broken)
		undo_repair_store(test);
	store = dafsd_store_open(dir);
	WRITE_ONCE(dafsd_server.store, IS_ERR(store) ? NULL : store);
	return IS_ERR(store) ? PTR_ERR(store) : dafsd_persist_load(store);
}

/* The server has what is on its disk, and nothing else; @broken: which is well from then on. */
static void race_load_store(struct kunit *test, bool broken)
{
	struct file *dir = dentry_open(dafsd_store_dir(dafsd_server.store), O_RDONLY | O_DIRECTORY,
				       current_cred());
	struct race_pause pause;
	int err;

	KUNIT_ASSERT_FALSE(test, IS_ERR(dir));
	/* clients of former tests may be there until their leases end */
	race_pause_begin(&pause);
	err = race_reload(test, dir, broken);
	race_pause_end(&pause);
	__fput_sync(dir);
	KUNIT_ASSERT_EQ(test, 0, err);
}

/* The server crashes, and its disk is well when it is back; @h, whose lock it was, is not. */
static void race_crash(struct kunit *test, struct holder *h)
{
	holder_expire(test, h);
	raw_settle();
	race_load_store(test, true);
}

static dafs_status_t race_unlock(struct holder *h)
{
	return holder_unlock(h, 0, ALL);
}

static dafs_status_t race_relock(struct holder *h)
{
	return holder_lock(h, DAFS_WRITE_LT, 0, 0, ALL);
}

static dafs_status_t race_weaken(struct holder *h)
{
	return holder_lock(h, DAFS_WRITE_LT, PERSIST, 0, ALL);
}

/* How a lock ends */
typedef dafs_status_t (*race_end)(struct holder *h);

static const race_end race_ends[] = { race_unlock, race_relock, race_weaken, holder_close };

/* A lock under which the file was changed ends, and that cannot be saved. */
static void race_end_unsaved(struct kunit *test, struct holder *h, const race_end *end)
{
	UNDO_OK(test, holder_lock(h, DAFS_WRITE_LT, UNDO, 0, ALL));
	undo_change(test, h);
	undo_break_store(test);
	DAFS_EXPECT_STATUS(test, DAFSERR_IO, (*end)(h));
}

static void race_expect_no_writes(struct kunit *test, struct dafs_fixture *fix, struct holder *h)
{
	unsigned int open;

	for (open = 0; open < 2; open++) {
		DAFS_EXPECT_STATUS(test, DAFSERR_IO, holder_write(h, open, 0, 4));
		DAFS_EXPECT_STATUS(test, DAFSERR_IO, holder_append(h, open));
		DAFS_EXPECT_STATUS(test, DAFSERR_IO, holder_truncate(h, open, 1));
	}
	undo_expect_new(test, fix);
}

/* A lock that has ended has not ended on the disk: nobody writes what would be undone later. */
static void dafs_undo_race_crash_test(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test);
	const race_end *end;
	struct holder *a, *b;

	for (end = race_ends; end < race_ends + ARRAY_SIZE(race_ends); end++) {
		a = holder(test, fix);
		b = holder(test, fix);
		race_end_unsaved(test, a, end);
		/* nor is it told so when it asks again */
		DAFS_EXPECT_STATUS(test, DAFSERR_IO, (*end)(a));
		race_expect_no_writes(test, fix, b);
		DAFS_EXPECT_STATUS(test, DAFSERR_IO, (*end)(a));
		race_crash(test, a);
		UNDO_OK(test, holder_read(b, true, 0, FILE_BYTES));
		undo_expect_old(test, fix);
		raw_settle();
		KUNIT_EXPECT_EQ(test, 0, dafsd_undo_count());
		UNDO_OK(test, holder_close(b));
	}
}

/* The disk is well again: who writes makes durable that the lock has ended. */
static void dafs_undo_race_settle_test(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test);
	const race_end *end;
	struct holder *a, *b;

	for (end = race_ends; end < race_ends + ARRAY_SIZE(race_ends); end++) {
		a = holder(test, fix);
		b = holder(test, fix);
		race_end_unsaved(test, a, end);
		DAFS_EXPECT_STATUS(test, DAFSERR_IO, holder_append(b, true));
		undo_repair_store(test);
		UNDO_OK(test, holder_append(b, true));
		KUNIT_EXPECT_EQ(test, 0, dafsd_undo_count());
		undo_break_store(test);
		race_crash(test, a);
		UNDO_OK(test, holder_read(b, true, 0, FILE_BYTES));
		undo_expect(test, fix, UNDO_NEW "x", strlen(UNDO_NEW) + 1);
		/* that one is left, and broken by the first one to come */
		if (*end == race_weaken) {
			DAFS_EXPECT_STATUS(test, DAFSERR_LOCK_BROKEN, race_relock(b));
			UNDO_OK(test, holder_lock(b, DAFS_WRITE_LT, REPAIR, 0, ALL));
		}
		UNDO_OK(test, holder_close(b));
		dafs_backing_write(test, fix, "file", UNDO_OLD, FILE_BYTES);
	}
}

static int race_has_ended(struct rw_semaphore *unused)
{
	struct dafsd_persist_place place = {};
	u32 state = U32_MAX;

	return !dafsd_persist_list(&place, race_take_state, &state) && state == U32_MAX;
}

/* An OPEN of a client that has an open empties the file. */
static noinline dafs_status_t race_empty(struct kunit *test, struct dafs_fixture *fix)
{
	struct dafs_open_args create = dafs_create_open_args(DAFS_CREATE_UNCHECKED);
	struct dafs_open_res res;

	create.createattrs = (struct dafs_fattr) {
		.included = DAFS_FATTR_OBJECT_SIZE,
		.valid = DAFS_FATTR_OBJECT_SIZE,
	};
	return dafs_try_open(test, fix, "file", &create, &res);
}

static noinline void race_open(struct kunit *test, struct dafs_fixture *fix)
{
	const struct dafs_open_args args = dafs_test_open_args("owner", DAFS_RW, 0);

	dafs_must_open(test, fix, "file", &args);
}

/* The disk takes its time: others wait with their changes until the lock has ended durably. */
static void dafs_undo_race_slow_test(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test), state = *fix;
	struct holder *a = holder(test, fix), *b = holder(test, fix);
	struct dafs_locku_args unlock = {
		.filehandle = a->open.filehandle,
		.state_id = a->open.state_id,
		.length = ALL,
	};
	struct raw_msg *msg;

	race_open(test, fix);
	UNDO_OK(test, holder_lock(a, DAFS_WRITE_LT, UNDO, 0, ALL));
	undo_change(test, a);
	state.path = *dafsd_store_dir(dafsd_server.store);
	dafs_fixture_freeze(test, &state);
	race_ask(a, a->handle, 1, DAFS_PROC_LOCKU, &unlock);
	race_await(test, race_has_ended, NULL);
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCKED, race_empty(test, fix));
	race_ask_append(b, b->handle, 1);
	msg = raw_recv(b->conn, RAW_QUIET_MS);
	KUNIT_EXPECT_NULL(test, msg);
	kfree(msg);
	undo_expect_new(test, fix);
	dafs_fixture_thaw(test, &state);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, race_status(a));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, race_status(b));
	undo_expect(test, fix, UNDO_NEW "late", strlen(UNDO_NEW) + 4);
	KUNIT_EXPECT_EQ(test, 0, dafsd_undo_count());
	UNDO_OK(test, race_empty(test, fix));
}

/* --- a change is late --- */

#define RACE_UID	1000

static struct completion race_asked, race_answer;

/* What the file has apart from its permissions */
static const struct inode_operations *race_others;

static int race_permission(struct mnt_idmap *idmap, struct inode *inode, int mask)
{
	if (uid_eq(current_fsuid(), KUIDT_INIT(RACE_UID))) {
		complete(&race_asked);
		wait_for_completion_timeout(&race_answer, msecs_to_jiffies(2 * RAW_WAIT_MS));
	}
	return generic_permission(idmap, inode, mask);
}

static int race_setattr(struct mnt_idmap *idmap, struct dentry *dentry, struct iattr *ia)
{
	return race_others->setattr(idmap, dentry, ia);
}

/* A file system that takes its time to tell who may use a file */
static const struct inode_operations race_iops = {
	.permission = race_permission,
	.setattr = race_setattr,
};

static void race_speed_up(void *data)
{
	struct inode *inode = data;

	complete_all(&race_answer);
	flush_workqueue(dafsd_wq);
	inode->i_op = race_others;
	iput(inode);
}

static void race_slow_down(struct kunit *test, struct dafs_fixture *fix)
{
	struct inode *inode;
	struct path path;

	KUNIT_ASSERT_EQ(test, 0, dafs_backing_path(fix, "file", &path));
	inode = igrab(d_inode(path.dentry));
	path_put(&path);
	race_others = inode->i_op;
	spin_lock(&inode->i_lock);
	inode->i_opflags &= ~IOP_FASTPERM;
	inode->i_op = &race_iops;
	spin_unlock(&inode->i_lock);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, race_speed_up, inode));
}

/* A change that was admitted by an open that has been revoked since, whose changes are undone */
static void dafs_undo_race_late_test(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test);
	struct holder *a = holder(test, fix), *b = holder(test, fix);
	u8 handle[4];
	unsigned int n;

	init_completion(&race_asked);
	init_completion(&race_answer);
	dafs_backing_chmod(test, fix, "file", 0666);
	race_slow_down(test, fix);
	for (n = 0; n < ARRAY_SIZE(race_changes); n++) {
		reinit_completion(&race_asked);
		reinit_completion(&race_answer);
		UNDO_OK(test, raw_register(a->conn, RACE_UID, RACE_UID, handle));
		UNDO_OK(test, holder_lock(a, DAFS_WRITE_LT, UNDO, 0, ALL));
		undo_change(test, a);
		race_changes[n](a, handle, 1);
		KUNIT_EXPECT_TRUE(test, wait_for_completion_timeout(&race_asked,
								    msecs_to_jiffies(RAW_WAIT_MS)));
		holder_expire(test, a);
		raw_settle();
		undo_expect_old(test, fix);
		KUNIT_EXPECT_EQ(test, 0, dafsd_persist_nr);
		complete_all(&race_answer);
		flush_workqueue(dafsd_wq);
		undo_expect_old(test, fix);
		UNDO_OK(test, holder_read(b, true, 0, FILE_BYTES));
		holder_return(test, a);
	}
}

/* --- the file system hangs --- */

/* A LOCK waits for a write that hangs, to learn the size of the file; then its client is lost. */
static void dafs_undo_race_lock_test(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test);
	struct rw_semaphore *append;
	struct holder *a = holder(test, fix), *b = holder(test, fix);

	append = race_append(test, fix);
	dafs_fixture_freeze(test, fix);
	race_ask_write(b, b->handle, 1);
	race_await(test, race_is_held, append);
	race_ask_lock(a, 1, DAFS_WRITE_LT, UNDO);
	race_await(test, race_is_wanted, append);
	race_expire(test, a);
	race_await(test, race_is_undoing, append);
	dafs_fixture_thaw(test, fix);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, race_status(b));
	raw_settle();
	undo_expect(test, fix, "late456789abcdef0123456789abcdef", FILE_BYTES);
	KUNIT_EXPECT_EQ(test, 0, dafsd_undo_count());
}

/* What the file has when it is locked is not taken back later, as that of an append which fails. */
static void dafs_undo_race_append_test(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test);
	struct holder *a = holder(test, fix);
	struct rw_semaphore *append = race_append(test, fix);
	struct dafsd_file *file = container_of(append, struct dafsd_file, append);
	struct path path;

	scoped_guard(rwsem_write, append)
		file->appends.nr = 1;
	race_ask_lock(a, 1, DAFS_WRITE_LT, UNDO);
	msleep(300);
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_path(fix, "file", &path));
	KUNIT_EXPECT_EQ(test, 0, vfs_truncate(&path, FILE_BYTES / 2));
	path_put(&path);
	scoped_guard(rwsem_write, append)
		file->appends.nr = 0;
	wake_up_var(&file->appends.nr);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, race_status(a));
	undo_change(test, a);
	UNDO_OK(test, holder_lock(a, DAFS_ABORT_LT, 0, 0, ALL));
	undo_expect(test, fix, UNDO_OLD, FILE_BYTES / 2);
}

/* The owner undoes its changes, which hangs, and is lost. */
static void dafs_undo_race_abort_test(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test);
	struct holder *a = holder(test, fix), *b = holder(test, fix);
	struct rw_semaphore *append = race_append(test, fix);

	UNDO_OK(test, holder_lock(a, DAFS_WRITE_LT, UNDO, 0, ALL));
	undo_change(test, a);
	dafs_fixture_freeze(test, fix);
	race_ask_lock(a, 1, DAFS_ABORT_LT, 0);
	race_await(test, race_is_held, append);
	race_expire(test, a);
	race_await(test, race_is_undoing, append);
	dafs_fixture_thaw(test, fix);
	raw_settle();
	UNDO_OK(test, holder_lock(b, DAFS_WRITE_LT, 0, 0, ALL));
	undo_expect_old(test, fix);
	KUNIT_EXPECT_EQ(test, 0, dafsd_undo_count());
}

/* An ABORT that is late undoes nothing of what has been unlocked meanwhile, and so stays. */
static void dafs_undo_race_unlock_test(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test);
	struct holder *a = holder(test, fix), *b = holder(test, fix);
	struct rw_semaphore *append = race_append(test, fix);

	UNDO_OK(test, holder_lock(a, DAFS_WRITE_LT, UNDO, 0, ALL));
	undo_change(test, a);
	dafs_fixture_freeze(test, fix);
	race_ask_write(a, a->handle, 1);
	race_await(test, race_is_held, append);
	race_ask_lock(a, 2, DAFS_ABORT_LT, 0);
	race_await(test, race_is_wanted, append);
	UNDO_OK(test, holder_unlock(a, 0, ALL));
	dafs_fixture_thaw(test, fix);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, race_status(a));
	DAFS_EXPECT_STATUS(test, DAFSERR_EXPIRED, race_status(a));
	undo_expect(test, fix, "late4567012345670123x", strlen(UNDO_NEW));
	UNDO_OK(test, holder_append(b, true));
	undo_expect(test, fix, "late4567012345670123xx", strlen(UNDO_NEW) + 1);
	KUNIT_EXPECT_EQ(test, 0, dafsd_undo_count());
}

/* Who waits for the lock gets it when the changes were undone. */
static void dafs_undo_race_waiter_test(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test);
	struct holder *a = holder(test, fix), *b = holder(test, fix);
	struct raw_msg *msg;

	dafs_fixture_server_param(test, &dafsd_lock_wait_ms, 10 * RAW_WAIT_MS);
	UNDO_OK(test, holder_lock(a, DAFS_WRITE_LT, UNDO, 0, ALL));
	undo_change(test, a);
	race_ask_lock(b, 1, DAFS_WRITEW_LT, UNDO);
	msg = raw_recv(b->conn, RAW_QUIET_MS);
	KUNIT_EXPECT_NULL(test, msg);
	kfree(msg);
	holder_expire(test, a);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, race_status(b));
	undo_expect_old(test, fix);
	undo_change(test, b);
	UNDO_OK(test, holder_lock(b, DAFS_ABORT_LT, 0, 0, ALL));
	undo_expect_old(test, fix);
}

/* --- a second open of the owner --- */

static void race_withdraw(void *exp)
{
	dafsd_export_withdraw(exp);
}

/* The directory of the test, exported a second time */
static struct dafsd_export *race_serve(struct kunit *test, struct dafs_fixture *fix,
				       struct holder *h, struct dafs_fixture *there)
{
	const struct dafsd_export_conf conf = {};
	struct dafs_str name = dafs_test_str("twin");
	struct dafs_lookup_args lookup = { .path = { .count = 1, .elems = &name } };
	struct dafsd_export *exp = dafs_fixture_serve(test, fix, "twin", ".", &conf);
	struct dafs_lookup_res found = {};
	struct dafs_fh_res root = {};

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, exp);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, race_withdraw, exp));
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   raw_call(h->conn, DAFS_PROC_GET_ROOT_HANDLE, NULL, &root));
	lookup.directory = root.filehandle;
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   raw_call_as(h->conn, h->handle, DAFS_PROC_LOOKUP, &lookup, &found));
	*there = *fix;
	there->dir = found.filehandle;
	return exp;
}

/*
 * The open by which a file was locked is revoked, with its export, and its owner has another one.
 * By that it gets a lock when the first one is over, and not one that ends with it.
 */
static void dafs_undo_race_twin_test(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test), there;
	struct holder *a = holder(test, fix), *b = holder(test, fix), twin = *a;
	struct rw_semaphore *append = race_append(test, fix);
	struct dafsd_export *exp = race_serve(test, fix, a, &there);

	dafs_fixture_server_param(test, &dafsd_withdraw_seconds, 1);
	twin.fix = &there;
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, holder_open(&twin));
	UNDO_OK(test, holder_lock(&twin, DAFS_WRITE_LT, UNDO, 0, ALL));
	undo_change(test, &twin);
	/* it has the same locks by its other open */
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCK_RANGE, holder_unlock(a, 0, 10));
	dafs_fixture_freeze(test, fix);
	kunit_release_action(test, race_withdraw, exp);
	race_await(test, race_is_held, append);
	race_await(test, race_is_undoing, append);
	DAFS_EXPECT_STATUS(test, DAFSERR_DELAY, holder_lock(a, DAFS_WRITE_LT, UNDO, 0, ALL));
	dafs_fixture_thaw(test, fix);
	raw_settle();
	undo_expect_old(test, fix);
	UNDO_OK(test, holder_lock(a, DAFS_WRITE_LT, UNDO, 0, ALL));
	raw_settle();
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, holder_lock(b, DAFS_READ_LT, 0, 0, 1));
	undo_change(test, a);
	UNDO_OK(test, holder_lock(a, DAFS_ABORT_LT, 0, 0, ALL));
	undo_expect_old(test, fix);
	holder_expire(test, a);
	raw_settle();
	persist_restart(test);
	KUNIT_EXPECT_EQ(test, 0, dafsd_undo_count());
}

/* --- two file systems --- */

/* A directory of another file system, exported for writing, too */
static struct dafs_fixture *race_elsewhere(struct kunit *test, struct holder *h)
{
	struct dafs_fixture *fix = dafs_fixture_in(test, NULL, DAFS_TEST_RO);

	race_serve(test, fix, h, fix);
	dafs_backing_write(test, fix, "file", UNDO_OLD, FILE_BYTES);
	return fix;
}

/*
 * The owner of two locks does not come back, and the file system of one of them hangs: what was
 * written in the other one is undone, whatever comes first.
 */
static void dafs_undo_race_exports_test(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test), *there;
	struct holder *a = holder(test, fix), twin;
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);

	there = race_elsewhere(test, a);
	twin = *a;
	twin.fix = there;
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, holder_open(&twin));
	UNDO_OK(test, holder_lock(a, DAFS_WRITE_LT, UNDO, 0, ALL));
	undo_change(test, a);
	UNDO_OK(test, holder_lock(&twin, DAFS_WRITE_LT, UNDO, 0, ALL));
	undo_change(test, &twin);
	WRITE_ONCE(dafsd_server.grace.on, true);
	undo_restart(test, a);
	undo_expect_new(test, there);
	dafs_fixture_freeze(test, fix);
	WRITE_ONCE(dafsd_server.grace.on, false);
	dafsd_persist_undo_later();
	while (dafsd_undo_count() != 1 && time_before(jiffies, end))
		msleep(20);
	KUNIT_EXPECT_EQ(test, 1, dafsd_undo_count());
	undo_expect_old(test, there);
	undo_expect_new(test, fix);
	dafs_fixture_thaw(test, fix);
	raw_settle();
	undo_expect_old(test, fix);
	KUNIT_EXPECT_EQ(test, 0, dafsd_undo_count());
}

/* --- files that are removed --- */

/* What the server does when an export is enabled */
static void race_serve_all(void)
{
	struct dafsd_export *exp;
	u64 n = 0;

	raw_settle();
	while ((exp = dafsd_export_nth(n))) {
		n = exp->number + 1;
		dafsd_persist_serve(exp);
		dafsd_export_put(exp);
	}
}

static bool race_has_images(u32 slot)
{
	struct file *filp = undo_file(slot, O_RDONLY);

	if (IS_ERR(filp))
		return false;
	__fput_sync(filp);
	return true;
}

/* Before-images of a file that is removed go, but not before the lock has gone durably. */
static void dafs_undo_race_removed_test(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test);
	struct dafs_remove_args args = { .filehandle = fix->dir, .target = dafs_test_str("file") };
	struct holder *a = holder(test, fix), *b = holder(test, fix);

	UNDO_OK(test, holder_lock(a, DAFS_WRITE_LT, UNDO | PERSIST, 0, ALL));
	undo_change(test, a);
	holder_expire(test, a);
	raw_settle();
	UNDO_OK(test, holder_close(b));
	undo_break_store(test);
	UNDO_OK(test, raw_call_as(b->conn, b->handle, DAFS_PROC_REMOVE, &args, NULL));
	raw_settle();
	/* they take their share of what there may be until then */
	KUNIT_EXPECT_EQ(test, 0, dafsd_persist_nr);
	KUNIT_EXPECT_EQ(test, 1, dafsd_undo_count());
	KUNIT_EXPECT_TRUE(test, race_has_images(0));
	undo_repair_store(test);
	dafsd_persist_undo_later();
	raw_settle();
	KUNIT_EXPECT_EQ(test, 0, dafsd_undo_count());
	KUNIT_EXPECT_FALSE(test, race_has_images(0));
	race_load_store(test, false);
	KUNIT_EXPECT_EQ(test, 0, dafsd_persist_nr);
}

#define RACE_EXT_SUPER	1024
#define RACE_EXT_STATE	0x3a

/* The file system has found errors, or has none any more, as ext4 itself records it. */
static void race_set_errors(struct kunit *test, struct dafs_fixture *fix, bool on)
{
	struct super_block *sb = fix->path.mnt->mnt_sb;
	struct buffer_head *bh = sb_bread(sb, RACE_EXT_SUPER / sb->s_blocksize);
	u8 *state;

	KUNIT_ASSERT_NOT_NULL(test, bh);
	state = bh->b_data + RACE_EXT_SUPER % sb->s_blocksize + RACE_EXT_STATE;
	lock_buffer(bh);
	*state = on ? *state | 2 : *state & ~2;
	unlock_buffer(bh);
	brelse(bh);
}

/*
 * A file is not found: one that was removed by a local program, or that a file system with errors
 * does not know.  Only in one without errors it is certainly the former; this is the same for
 * AUTORECOVERY and PERSIST locks.
 */
static void dafs_undo_race_stale_test(struct kunit *test)
{
	static const u32 options[] = { UNDO, PERSIST, UNDO | PERSIST };
	struct dafs_fixture *fix = persist_fixture(test);
	unsigned int n, images;
	struct holder *a;

	for (n = 0; n < ARRAY_SIZE(options); n++) {
		images = options[n] & UNDO ? 1 : 0;
		dafs_backing_write(test, fix, "file", UNDO_OLD, FILE_BYTES);
		a = holder(test, fix);
		UNDO_OK(test, holder_lock(a, DAFS_WRITE_LT, options[n], 0, ALL));
		undo_change(test, a);
		WRITE_ONCE(dafsd_server.grace.on, true);
		undo_restart(test, a);
		dafs_backing_remove(fix, "file");
		WRITE_ONCE(dafsd_server.grace.on, false);
		race_set_errors(test, fix, true);
		dafsd_persist_undo_later();
		race_serve_all();
		KUNIT_EXPECT_EQ(test, 1, dafsd_persist_nr);
		KUNIT_EXPECT_EQ(test, images, dafsd_undo_count());
		KUNIT_EXPECT_EQ(test, images, race_has_images(0));
		race_set_errors(test, fix, false);
		race_serve_all();
		KUNIT_EXPECT_EQ(test, 0, dafsd_persist_nr);
		raw_settle();
		KUNIT_EXPECT_EQ(test, 0, dafsd_undo_count());
		KUNIT_EXPECT_FALSE(test, race_has_images(0));
	}
}

static struct kunit_case undo_race_cases[] = {
	KUNIT_CASE(dafs_undo_race_crash_test),
	KUNIT_CASE(dafs_undo_race_settle_test),
	KUNIT_CASE(dafs_undo_race_slow_test),
	KUNIT_CASE(dafs_undo_race_late_test),
	KUNIT_CASE(dafs_undo_race_lock_test),
	KUNIT_CASE(dafs_undo_race_append_test),
	KUNIT_CASE(dafs_undo_race_abort_test),
	KUNIT_CASE(dafs_undo_race_unlock_test),
	KUNIT_CASE(dafs_undo_race_waiter_test),
	KUNIT_CASE(dafs_undo_race_twin_test),
	KUNIT_CASE(dafs_undo_race_exports_test),
	KUNIT_CASE(dafs_undo_race_removed_test),
	KUNIT_CASE(dafs_undo_race_stale_test),
	{}
};

static struct kunit_suite undo_race_suite = {
	.name = "dafs_undo_race",
	.test_cases = undo_race_cases,
};

kunit_test_suite(undo_race_suite);
