// SPDX-License-Identifier: GPL-2.0
/*
 * Courtesy (4.4.1.2): a client whose lease is over keeps what it has until somebody needs it.
 *
 * The lease is long, and the server is made to believe that it is over: so no client loses
 * anything by accident.
 */
#include <linux/delay.h>
#include <linux/filelock.h>
#include <linux/hashtable.h>
#include <linux/kthread.h>
#include <linux/workqueue.h>
#include "../../../../drivers/dafsd/request/request.h"
#include "../../../../drivers/dafsd/session/client.h"
#include "../../../../drivers/dafsd/session/conn.h"
#include "../../../../drivers/dafsd/session/courtesy.h"
#include "../../../../drivers/dafsd/session/grace.h"
#include "../../../../drivers/dafsd/session/peer.h"
#include "../../../../drivers/dafsd/session/server.h"
#include "../../../../drivers/dafsd/session/session.h"
#include "../../../../drivers/dafsd/state/deleg.h"
#include "../../../../drivers/dafsd/state/lock.h"
#include "../../../../drivers/dafsd/store/store.h"
#include "../lib/holder.h"
#include "../lib/lock_fs.h"
#include "../lib/open_test.h"
#include "../lib/undo_test.h"

#define HOLDER_OK(test, status) DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, status)

#define COURT_LEASE	3600	/* seconds */

/* What a test has left must not be in the way of the next ones, for as long as a lease is here. */
static void court_end_all(void *unused)
{
	raw_end_clients(HOLDER_ID);
}

/*
 * A server without PERSIST locks, which gives courtesy, and whose leases do not end: those of
 * clients that other tests have left behind must not end meanwhile either.
 */
static struct dafs_fixture *court_fixture(struct kunit *test)
{
	struct dafs_fixture *fix = persist_fixture(test);

	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, court_end_all, NULL));
	dafs_fixture_lease(test, fix, COURT_LEASE);
	dafs_fixture_server_param(test, &dafsd_courtesy_seconds, 86400);
	return fix;
}

static struct dafsd_client *court_at_server(struct kunit *test, struct holder *h)
{
	return dafs_fixture_at_server(test, &h->login.res.connect.session_id)->client;
}

/* As if nothing had been heard of a client; lets its lease be checked. */
static void court_check(struct dafsd_client *client)
{
	WRITE_ONCE(client->renewed, jiffies - 2 * dafsd_lease_seconds * HZ);
	flush_delayed_work(&client->lease_work);
}

/* Its lease runs out, and its session is gone.  Return: what it is then. */
static enum dafsd_client_life court_silence(struct kunit *test, struct holder *h,
					    struct dafsd_client *client)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);

	while (READ_ONCE(client->life) == DAFSD_CLIENT_ACTIVE && time_before(jiffies, end)) {
		court_check(client);
		msleep(20);
	}
	KUNIT_EXPECT_TRUE(test, raw_closed(h->conn, RAW_WAIT_MS));
	return READ_ONCE(client->life);
}

static void court_spared(struct kunit *test, struct holder *h, struct dafsd_client *client)
{
	KUNIT_ASSERT_EQ(test, DAFSD_CLIENT_COURTEOUS, court_silence(test, h, client));
}

static void court_lost(struct kunit *test, struct dafsd_client *client)
{
	flush_delayed_work(&client->lease_work);
	KUNIT_EXPECT_EQ(test, DAFSD_CLIENT_DISCARDED, READ_ONCE(client->life));
	KUNIT_EXPECT_FALSE(test, READ_ONCE(client->yields));
}

/* It is not in the table any more, but what it had may still be taken from it. */
static bool court_is_discarded(const struct dafsd_client *client)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);

	while (!dafsd_client_is_discarded(client) && time_before(jiffies, end))
		msleep(20);
	return dafsd_client_is_discarded(client);
}

/* The same instance connects.  Return: true if it has its client-id still. */
static bool court_return(struct kunit *test, struct holder *h)
{
	struct dafs_client_id was = h->login.res.connect.client_id;

	raw_close(test, h->conn);
	h->conn = raw_session(test, test->param_value, &h->login);
	return dafs_opaque64_equal(&was, &h->login.res.connect.client_id);
}

/* It has lost all that it had. */
static void court_expired(struct kunit *test, struct holder *h)
{
	KUNIT_EXPECT_FALSE(test, court_return(test, h));
	DAFS_EXPECT_STATUS(test, DAFSERR_NO_CREDS, holder_read(h, true, 0, 4));
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_register(h->conn, 0, 0, h->handle));
	DAFS_EXPECT_STATUS(test, DAFSERR_EXPIRED, holder_read(h, true, 0, 4));
	DAFS_EXPECT_STATUS(test, DAFSERR_EXPIRED, holder_unlock(h, 0, 1));
}

/* The search for the record of a client */
struct court_search {
	const char *id;
	bool found;
	u32 lease;
};

static int court_compare(void *priv, const struct dafsd_key *key, const void *value, u32 value_len)
{
	const struct dafsd_client_record *rec = value;
	struct court_search *search = priv;

	if (key->len == strlen(search->id) && !memcmp(key->data, search->id, key->len)) {
		search->found = true;
		search->lease = le32_to_cpu(rec->lease);
	}
	return 0;
}

static struct court_search court_record(const struct holder *h)
{
	struct court_search search = { .id = h->id };

	dafsd_store_for_each(dafsd_server.store, DAFSD_RECORD_CLIENT, court_compare, &search);
	return search;
}

static bool court_recorded(const struct holder *h)
{
	return court_record(h).found;
}

/* OPEN by another owner of the client than that of its other open */
static dafs_status_t court_open(struct holder *h, const char *owner, u32 access, u32 deny,
				struct dafs_open_res *res)
{
	struct dafs_open_args args = dafs_test_open_args(owner, access, deny);
	struct dafs_str name = dafs_test_str("file");

	args.dir_handle = h->fix->dir;
	args.pathname = (struct dafs_seq) { .count = 1, .elems = &name };
	return raw_call_as(h->conn, h->handle, DAFS_PROC_OPEN, &args, res);
}

/* A request that has to wait */
static void court_send(struct holder *h, u32 proc, void *args)
{
	struct dafs_req_hdr hdr = raw_hdr(h->conn, proc);

	memcpy(hdr.cred_handle, h->handle, sizeof(hdr.cred_handle));
	raw_ask(h->conn, &hdr, args);
}

static dafs_status_t court_receive(struct holder *h)
{
	struct dafs_res_hdr hdr = {};

	return raw_recv_status(h->conn, RAW_WAIT_MS, &hdr);
}

/*
 * R-4.4.1.2-23: without a conflict it finds its client-id, its users, its opens and its locks as
 * they were, and its record is as that of any client.
 */
static void court_return_test(struct kunit *test)
{
	struct dafs_fixture *fix = court_fixture(test);
	struct holder *a = holder(test, fix), *b = holder(test, fix);
	struct dafsd_client *at = court_at_server(test, a);

	HOLDER_OK(test, holder_lock(a, DAFS_WRITE_LT, 0, 0, 10));
	court_spared(test, a, at);
	KUNIT_EXPECT_TRUE(test, court_recorded(a));
	KUNIT_EXPECT_EQ(test, 0, court_record(a).lease);
	/* what does not conflict leaves it as it is */
	HOLDER_OK(test, holder_lock(b, DAFS_WRITE_LT, 0, 10, 10));
	HOLDER_OK(test, holder_write(b, true, 0, 1));
	court_check(at);
	KUNIT_EXPECT_EQ(test, DAFSD_CLIENT_COURTEOUS, READ_ONCE(at->life));
	KUNIT_EXPECT_TRUE(test, court_return(test, a));
	KUNIT_EXPECT_EQ(test, DAFSD_CLIENT_ACTIVE, READ_ONCE(at->life));
	KUNIT_EXPECT_EQ(test, COURT_LEASE, court_record(a).lease);
	HOLDER_OK(test, holder_read(a, true, 0, 4));
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, holder_lock(b, DAFS_WRITE_LT, 0, 9, 1));
	/* it may get more at once */
	HOLDER_OK(test, holder_lock(a, DAFS_READ_LT, 0, 20, 1));
	HOLDER_OK(test, holder_unlock(a, 20, 1));
	HOLDER_OK(test, holder_unlock(a, 0, 10));
	HOLDER_OK(test, holder_lock(b, DAFS_WRITE_LT, 0, 9, 1));
	/* it has a lease again */
	KUNIT_EXPECT_FALSE(test, time_after(READ_ONCE(at->lease_work.timer.expires),
					    jiffies + COURT_LEASE * HZ));
	HOLDER_OK(test, holder_close(a));
}

/* It is not told that it is back while that is not durable, by none of its sessions. */
static void court_return_durable_test(struct kunit *test)
{
	struct dafs_fixture *fix = court_fixture(test);
	struct holder *a = holder(test, fix);
	struct raw_login again = a->login;
	struct raw_conn *conn;
	int i;

	HOLDER_OK(test, holder_lock(a, DAFS_WRITE_LT, 0, 0, 10));
	court_spared(test, a, court_at_server(test, a));
	undo_break_store(test);
	for (i = 0; i < 2; i++) {
		conn = raw_connect_flavour(test, NULL, DAFS_CHANNEL_OPERATION);
		DAFS_EXPECT_STATUS(test, DAFSERR_IO, raw_login(conn, &again));
		raw_close(test, conn);
	}
	undo_repair_store(test);
	KUNIT_EXPECT_TRUE(test, court_return(test, a));
	KUNIT_EXPECT_EQ(test, COURT_LEASE, court_record(a).lease);
	HOLDER_OK(test, holder_read(a, true, 0, 4));
}

/* R-4.4.1.2-22 R-4.4.1.2-24: an OPEN that it denies; its record is gone before that is granted */
static void court_share_test(struct kunit *test)
{
	struct dafs_fixture *fix = court_fixture(test);
	struct holder *a = holder(test, fix);
	struct dafsd_client *at = court_at_server(test, a);
	struct holder *b = holder(test, fix);
	struct dafs_open_res res;

	HOLDER_OK(test, holder_close(b));
	HOLDER_OK(test, court_open(a, a->owner, DAFS_RW, DAFS_OPEN_SHARE_DENY_BOTH, &a->open));
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, court_open(b, "b", DAFS_RD, 0, &res));
	court_spared(test, a, at);
	/* R-4.4.1.2-25 */
	HOLDER_OK(test, court_open(b, "b", DAFS_RD, 0, &res));
	KUNIT_EXPECT_FALSE(test, court_recorded(a));
	court_lost(test, at);
	court_expired(test, a);
}

/* An OPEN that is refused anyway takes nothing from it. */
static void court_refused_test(struct kunit *test)
{
	struct dafs_fixture *fix = court_fixture(test);
	struct holder *a = holder(test, fix), *b = holder(test, fix);
	struct dafsd_client *at = court_at_server(test, a);
	struct dafs_open_res res;

	court_spared(test, a, at);
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED,
			   court_open(b, "b", DAFS_RD, DAFS_OPEN_SHARE_DENY_BOTH, &res));
	KUNIT_EXPECT_EQ(test, DAFSD_CLIENT_COURTEOUS, READ_ONCE(at->life));
	HOLDER_OK(test, holder_close(b));
	HOLDER_OK(test, court_open(b, "b", DAFS_RD, DAFS_OPEN_SHARE_DENY_BOTH, &res));
	court_lost(test, at);
}

/* The key of one client refuses what the reservation of another would not have for long. */
static void court_key_test(struct kunit *test)
{
	struct dafs_open_args args = dafs_test_open_args("b", DAFS_WR, 0);
	struct dafs_str name = dafs_test_str("file");
	struct dafs_fixture *fix = court_fixture(test);
	struct holder *a = holder(test, fix), *b = holder(test, fix), *c = holder(test, fix);
	struct dafsd_client *at = court_at_server(test, a);
	struct dafs_open_res res;

	HOLDER_OK(test, holder_close(b));
	HOLDER_OK(test, holder_close(c));
	args.dir_handle = fix->dir;
	args.pathname = (struct dafs_seq) { .count = 1, .elems = &name };
	args.share_key_type = DAFS_OPEN_SHARE_KEY_BOTH;
	args.share_key = 1;
	HOLDER_OK(test, raw_call_as(b->conn, b->handle, DAFS_PROC_OPEN, &args, &b->open));
	HOLDER_OK(test, holder_close(a));
	HOLDER_OK(test, court_open(a, a->owner, DAFS_RD, DAFS_OPEN_SHARE_DENY_READ, &a->open));
	court_spared(test, a, at);
	args.share_access = DAFS_RD;
	args.share_key = 2;
	DAFS_EXPECT_STATUS(test, DAFSERR_KEY_MISMATCH,
			   raw_call_as(c->conn, c->handle, DAFS_PROC_OPEN, &args, &res));
	KUNIT_EXPECT_EQ(test, DAFSD_CLIENT_COURTEOUS, READ_ONCE(at->life));
	args.share_key = 1;
	HOLDER_OK(test, raw_call_as(c->conn, c->handle, DAFS_PROC_OPEN, &args, &res));
	court_lost(test, at);
}

/* R-4.4.1.2-24: I/O without an open, and removing what it has opened with DELETE_DENY */
static void court_io_test(struct kunit *test)
{
	struct dafs_fixture *fix = court_fixture(test);
	struct holder *a = holder(test, fix), *b = holder(test, fix);
	struct dafsd_client *at = court_at_server(test, a);

	HOLDER_OK(test, holder_close(b));
	HOLDER_OK(test, court_open(a, a->owner, DAFS_RW, DAFS_OPEN_SHARE_DENY_WRITE, &a->open));
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCKED, holder_write(b, false, 0, 4));
	court_spared(test, a, at);
	HOLDER_OK(test, holder_read(b, false, 0, 4));
	KUNIT_EXPECT_EQ(test, DAFSD_CLIENT_COURTEOUS, READ_ONCE(at->life));
	HOLDER_OK(test, holder_write(b, false, 0, 4));
	court_lost(test, at);
	court_expired(test, a);
}

static void court_remove_test(struct kunit *test)
{
	struct dafs_open_args args = dafs_test_open_args("owner", DAFS_RW, 0);
	struct dafs_str name = dafs_test_str("file");
	struct dafs_fixture *fix = court_fixture(test);
	struct holder *a = holder(test, fix), *b = holder(test, fix);
	struct dafsd_client *at = court_at_server(test, a);
	struct dafs_remove_args remove = {
		.filehandle = fix->dir,
		.target = name,
	};

	args.delete_disp = DAFS_DELETE_DENY;
	args.dir_handle = fix->dir;
	args.pathname = (struct dafs_seq) { .count = 1, .elems = &name };
	HOLDER_OK(test, raw_call_as(a->conn, a->handle, DAFS_PROC_OPEN, &args, &a->open));
	DAFS_EXPECT_STATUS(test, DAFSERR_DENYDISP_CONFLICT,
			   raw_call_as(b->conn, b->handle, DAFS_PROC_REMOVE, &remove, NULL));
	court_spared(test, a, at);
	HOLDER_OK(test, raw_call_as(b->conn, b->handle, DAFS_PROC_REMOVE, &remove, NULL));
	court_lost(test, at);
}

/* One who may not remove the file takes nothing from the client, also because of a sticky bit. */
static void court_not_removed(struct kunit *test, struct holder *h, dafs_status_t refused,
			      const struct dafsd_client *at)
{
	struct dafs_remove_args remove = {
		.filehandle = h->fix->dir,
		.target = dafs_test_str("file"),
	};
	struct dafs_rename_args rename = {
		.sourcedir = h->fix->dir,
		.oldname = dafs_test_str("other"),
		.targetdir = h->fix->dir,
		.newname = dafs_test_str("file"),
	};
	struct dafs_rename_res res;

	DAFS_EXPECT_STATUS(test, refused,
			   raw_call_as(h->conn, h->handle, DAFS_PROC_REMOVE, &remove, NULL));
	DAFS_EXPECT_STATUS(test, refused,
			   raw_call_as(h->conn, h->handle, DAFS_PROC_RENAME, &rename, &res));
	KUNIT_EXPECT_EQ(test, DAFSD_CLIENT_COURTEOUS, READ_ONCE(at->life));
}

static void court_remove_refused_test(struct kunit *test)
{
	struct dafs_open_args args = dafs_test_open_args("owner", DAFS_RW, 0);
	struct dafs_str name = dafs_test_str("file");
	struct dafs_fixture *fix = court_fixture(test);
	struct holder *a = holder(test, fix), *b = holder(test, fix);
	struct dafsd_client *at = court_at_server(test, a);

	args.delete_disp = DAFS_DELETE_DENY;
	args.dir_handle = fix->dir;
	args.pathname = (struct dafs_seq) { .count = 1, .elems = &name };
	HOLDER_OK(test, raw_call_as(a->conn, a->handle, DAFS_PROC_OPEN, &args, &a->open));
	dafs_backing_write(test, fix, "other", "data", 4);
	HOLDER_OK(test, raw_register(b->conn, 1000, 1000, b->handle));
	court_spared(test, a, at);
	dafs_backing_chmod(test, fix, ".", 0755);
	court_not_removed(test, b, DAFSERR_ACCES, at);
	dafs_backing_chmod(test, fix, ".", 01777);
	court_not_removed(test, b, DAFSERR_PERM, at);
}

/* R-4.4.1.2-24 R-4.4.1.2-25: LOCK; LOCKT; a LOCK that would wait */
static void court_lock_test(struct kunit *test)
{
	static const u32 types[] = { DAFS_READ_LT, DAFS_WRITE_LT, DAFS_WRITEW_LT };
	struct dafs_fixture *fix = court_fixture(test);
	struct holder *b = holder(test, fix), *a;
	struct dafsd_client *at;
	int i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		a = holder(test, fix);
		at = court_at_server(test, a);
		HOLDER_OK(test, holder_lock(a, DAFS_WRITE_LT, 0, 0, 10));
		DAFS_EXPECT_STATUS(test, DAFSERR_DENIED,
				   holder_lock(b, DAFS_READ_LT, 0, 9, 1));
		court_spared(test, a, at);
		HOLDER_OK(test, holder_lock(b, types[i], 0, 9, 1));
		KUNIT_EXPECT_FALSE(test, court_recorded(a));
		court_lost(test, at);
		court_expired(test, a);
		HOLDER_OK(test, holder_unlock(b, 0, ALL));
	}
	a = holder(test, fix);
	at = court_at_server(test, a);
	HOLDER_OK(test, holder_lock(a, DAFS_WRITE_LT, 0, 0, 10));
	court_spared(test, a, at);
	HOLDER_OK(test, holder_test(b, DAFS_WRITE_LT, 9, 1));
	court_lost(test, at);
}

#define COURT_MANY	3

static bool court_all_yield(struct dafsd_client *const *at)
{
	unsigned int i;

	for (i = 0; i < COURT_MANY; i++)
		if (!READ_ONCE(at[i]->yields))
			return false;
	return true;
}

/* Several clients in the way of one request are ended at once */
static void court_many(struct kunit *test, u32 proc)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	struct dafs_fixture *fix = court_fixture(test);
	struct holder *b = holder(test, fix), *a[COURT_MANY];
	struct dafsd_client *at[COURT_MANY];
	union {
		struct dafs_lock_args lock;
		struct dafs_lockt_args lockt;
	} args = {};
	int i;

	if (proc == DAFS_PROC_LOCK)
		args.lock = (struct dafs_lock_args){
			.filehandle = b->open.filehandle,
			.lock_type = DAFS_WRITE_LT,
			.state_id = b->open.state_id,
			.length = 10,
		};
	else
		args.lockt = (struct dafs_lockt_args){
			.filehandle = b->open.filehandle,
			.lock_type = DAFS_WRITE_LT,
			.owner = dafs_test_str("tester"),
			.length = 10,
		};
	for (i = 0; i < COURT_MANY; i++) {
		a[i] = holder(test, fix);
		at[i] = court_at_server(test, a[i]);
		HOLDER_OK(test, holder_lock(a[i], DAFS_WRITE_LT, 0, i, 1));
		court_spared(test, a[i], at[i]);
	}
	/* none of them can end before all begin to */
	mutex_lock(&dafsd_server.clients_lock);
	court_send(b, proc, &args);
	while (!court_all_yield(at) && time_before(jiffies, end))
		msleep(20);
	KUNIT_EXPECT_TRUE(test, court_all_yield(at));
	mutex_unlock(&dafsd_server.clients_lock);
	HOLDER_OK(test, court_receive(b));
	for (i = 0; i < COURT_MANY; i++)
		court_lost(test, at[i]);
}

static void court_many_test(struct kunit *test)
{
	court_many(test, DAFS_PROC_LOCK);
}

static void court_many_asked_test(struct kunit *test)
{
	court_many(test, DAFS_PROC_LOCKT);
}

/* A LOCK that is denied all the same takes no more from them than it has to. */
static void court_many_vain_test(struct kunit *test)
{
	struct dafs_fixture *fix = court_fixture(test);
	struct holder *a = holder(test, fix), *b = holder(test, fix), *c = holder(test, fix);
	struct holder *d = holder(test, fix);
	struct dafsd_client *at = court_at_server(test, a), *bt = court_at_server(test, b);

	HOLDER_OK(test, holder_lock(a, DAFS_WRITE_LT, 0, 0, 1));
	HOLDER_OK(test, holder_lock(c, DAFS_WRITE_LT, 0, 1, 1));
	HOLDER_OK(test, holder_lock(b, DAFS_WRITE_LT, 0, 2, 1));
	court_spared(test, a, at);
	court_spared(test, b, bt);
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, holder_lock(d, DAFS_WRITE_LT, 0, 0, 10));
	KUNIT_EXPECT_EQ(test, DAFSD_CLIENT_COURTEOUS, READ_ONCE(bt->life));
}

static void court_local_init(struct file_lock *fl, struct file *filp, void *owner,
			     unsigned char type)
{
	locks_init_lock(fl);
	fl->c.flc_owner = owner;
	fl->c.flc_flags = FL_POSIX;
	fl->c.flc_type = type;
	fl->c.flc_pid = 4711;
	fl->c.flc_file = filp;
	fl->fl_end = OFFSET_MAX;
}

/* A local program asks for a lock, or sets one. */
static void court_local_test(struct kunit *test)
{
	struct dafs_fixture *fix = court_fixture(test);
	struct file *filp = dafs_backing_open(fix, "file", O_RDWR, 0);
	struct file_lock fl;
	struct dafsd_client *at;
	struct holder *a;
	int set;

	KUNIT_ASSERT_FALSE(test, IS_ERR(filp));
	for (set = 0; set < 2; set++) {
		a = holder(test, fix);
		at = court_at_server(test, a);
		HOLDER_OK(test, holder_lock(a, DAFS_WRITE_LT, 0, 0, 10));
		court_local_init(&fl, filp, test, F_WRLCK);
		KUNIT_EXPECT_EQ(test, -EAGAIN, vfs_lock_file(filp, F_SETLK, &fl, NULL));
		court_spared(test, a, at);
		if (set) {
			KUNIT_EXPECT_EQ(test, 0, vfs_lock_file(filp, F_SETLK, &fl, NULL));
		} else {
			KUNIT_EXPECT_EQ(test, 0, vfs_test_lock(filp, &fl));
			KUNIT_EXPECT_EQ(test, F_UNLCK, fl.c.flc_type);
		}
		KUNIT_EXPECT_FALSE(test, court_recorded(a));
		court_lost(test, at);
		court_expired(test, a);
	}
	court_local_init(&fl, filp, test, F_UNLCK);
	KUNIT_EXPECT_EQ(test, 0, vfs_lock_file(filp, F_SETLK, &fl, NULL));
	dafs_backing_close(filp);
}

/* A local program that waits for a lock */
struct court_waiter {
	struct file *filp;
	struct file_lock fl;
	struct completion done;
	struct task_struct *task;	/* until it is done */
	int err;
};

static int court_wait(void *data)
{
	struct court_waiter *waiter = data;

	waiter->err = locks_lock_file_wait(waiter->filp, &waiter->fl);
	complete_all(&waiter->done);
	return 0;
}

static bool court_is_awaited(struct file *filp)
{
	struct file_lock_context *ctx = locks_inode_context(file_inode(filp));
	struct file_lock *fl;
	bool awaited = false;

	spin_lock(&ctx->flc_lock);
	list_for_each_entry(fl, &ctx->flc_posix, c.flc_list)
		awaited |= !list_empty(&fl->c.flc_blocked_requests);
	spin_unlock(&ctx->flc_lock);
	return awaited;
}

/* It begins to wait. */
static struct court_waiter *court_waiter(struct kunit *test, struct dafs_fixture *fix)
{
	struct court_waiter *waiter = kunit_kzalloc(test, sizeof(*waiter), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, waiter);
	waiter->filp = dafs_backing_open(fix, "file", O_RDWR, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(waiter->filp));
	init_completion(&waiter->done);
	court_local_init(&waiter->fl, waiter->filp, waiter, F_WRLCK);
	waiter->fl.c.flc_flags |= FL_SLEEP;
	waiter->task = kthread_run(court_wait, waiter, "court_wait");
	KUNIT_ASSERT_FALSE(test, IS_ERR(waiter->task));
	return waiter;
}

/* It gets the lock. */
static void court_waiter_ends(struct kunit *test, struct court_waiter *waiter)
{
	struct file_lock fl;

	wait_for_completion(&waiter->done);
	KUNIT_EXPECT_EQ(test, 0, waiter->err);
	court_local_init(&fl, waiter->filp, waiter, F_UNLCK);
	KUNIT_EXPECT_EQ(test, 0, vfs_lock_file(waiter->filp, F_SETLK, &fl, NULL));
	dafs_backing_close(waiter->filp);
}

/* One that has waited since before the lease was over gets it then. */
static void court_waiter_test(struct kunit *test)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	struct dafs_fixture *fix = court_fixture(test);
	struct holder *a = holder(test, fix);
	struct dafsd_client *at = court_at_server(test, a);
	struct court_waiter *waiter;

	HOLDER_OK(test, holder_lock(a, DAFS_WRITE_LT, 0, 0, 10));
	waiter = court_waiter(test, fix);
	while (!court_is_awaited(waiter->filp) && time_before(jiffies, end))
		msleep(20);
	KUNIT_EXPECT_TRUE(test, court_is_awaited(waiter->filp));
	KUNIT_EXPECT_EQ(test, DAFSD_CLIENT_DISCARDED, court_silence(test, a, at));
	court_waiter_ends(test, waiter);
}

/* It waits for a client that yields, not for a lock. */
static bool court_is_yielded_to(const struct court_waiter *waiter)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);

	while (READ_ONCE(waiter->task->__state) != TASK_KILLABLE && time_before(jiffies, end))
		msleep(20);
	return READ_ONCE(waiter->task->__state) == TASK_KILLABLE;
}

/* A local program does not wait for clients that begin to yield later, to others. */
static void court_later_test(struct kunit *test)
{
	struct dafs_fixture *fix = court_fixture(test);
	struct holder *a = holder(test, fix), *b = holder(test, fix);
	struct dafsd_client *at = court_at_server(test, a), *bt = court_at_server(test, b);
	struct court_waiter *waiter;

	HOLDER_OK(test, holder_lock(a, DAFS_WRITE_LT, 0, 0, 10));
	court_spared(test, a, at);
	court_spared(test, b, bt);
	undo_hold_store(test);
	waiter = court_waiter(test, fix);
	KUNIT_EXPECT_TRUE(test, court_is_yielded_to(waiter));
	KUNIT_EXPECT_TRUE(test, court_is_discarded(at));
	/* the end of the second one waits for this, that of the first one for the store */
	mutex_lock(&dafsd_server.clients_lock);
	KUNIT_EXPECT_TRUE(test, dafsd_courtesy_end(bt));
	undo_repair_store(test);
	KUNIT_EXPECT_NE(test, 0, wait_for_completion_timeout(&waiter->done,
							     msecs_to_jiffies(RAW_WAIT_MS)));
	KUNIT_EXPECT_TRUE(test, READ_ONCE(bt->yields));
	mutex_unlock(&dafsd_server.clients_lock);
	court_waiter_ends(test, waiter);
	court_lost(test, at);
	court_lost(test, bt);
}

/* Its owners lock a byte each; a local program asks for all of these in vain. */
static void court_asked_for(struct kunit *test, struct holder *h, unsigned int from,
			    unsigned int owners)
{
	struct file *filp = dafs_backing_open(h->fix, "file", O_RDWR, 0);
	struct file_lock fl;
	unsigned int i;
	char owner[16];

	KUNIT_ASSERT_FALSE(test, IS_ERR(filp));
	for (i = from; i < from + owners; i++) {
		snprintf(owner, sizeof(owner), "owner %u", i);
		HOLDER_OK(test, court_open(h, owner, DAFS_RW, 0, &h->open));
		HOLDER_OK(test, holder_lock(h, DAFS_WRITE_LT, 0, i, 1));
		court_local_init(&fl, filp, test, F_WRLCK);
		fl.fl_start = i;
		fl.fl_end = i;
		KUNIT_EXPECT_EQ(test, -EAGAIN, vfs_lock_file(filp, F_SETLK, &fl, NULL));
	}
	dafs_backing_close(filp);
}

/* If programs have asked for the locks of many owners it takes too long to look who waits. */
static void court_asked_test(struct kunit *test)
{
	struct dafs_fixture *fix = court_fixture(test);
	struct holder *a = holder(test, fix), *b;
	struct dafsd_client *at = court_at_server(test, a);

	court_asked_for(test, a, 0, DAFSD_AWAITED_LOOKS);
	court_spared(test, a, at);
	/* they were looked at, and nobody waits: they count no more */
	KUNIT_EXPECT_TRUE(test, court_return(test, a));
	court_asked_for(test, a, DAFSD_AWAITED_LOOKS, 1);
	court_spared(test, a, at);
	court_end_all(NULL);
	b = holder(test, fix);
	court_asked_for(test, b, 0, DAFSD_AWAITED_LOOKS + 1);
	at = court_at_server(test, b);
	KUNIT_EXPECT_EQ(test, DAFSD_CLIENT_DISCARDED, court_silence(test, b, at));
}

static void court_fs_lock(void)
{
}

/* R-4.4.1.2-24: who needs a lock that a file system has of its own would not end the courtesy */
static void court_fs_test(struct kunit *test)
{
	struct dafs_fixture *fix = court_fixture(test);
	struct dafsd_client *at;
	struct holder *a, *b;

	lock_fs_hook(test, fix, "file", court_fs_lock);
	a = holder(test, fix);
	b = holder(test, fix);
	at = court_at_server(test, a);
	HOLDER_OK(test, holder_lock(a, DAFS_WRITE_LT, 0, 0, 10));
	KUNIT_EXPECT_EQ(test, DAFSD_CLIENT_DISCARDED, court_silence(test, a, at));
	flush_workqueue(dafsd_close_wq);
	HOLDER_OK(test, holder_lock(b, DAFS_WRITE_LT, 0, 0, 10));
	HOLDER_OK(test, holder_close(b));
	/* one that has locked nothing has what does conflict in the server */
	HOLDER_OK(test, holder_open(b));
	court_spared(test, b, court_at_server(test, b));
	court_end_all(NULL);
}

static void court_go_on(void *unused)
{
	WRITE_ONCE(dafsd_server.stopping, false);
}

/*
 * While the server stops neither a lease nor the courtesy after it ends, as no client could do
 * anything about that; but who needs what a client has does not wait, as the server could wait
 * for that in turn.
 */
static void court_stop_test(struct kunit *test)
{
	struct dafs_fixture *fix = court_fixture(test);
	struct holder *a = holder(test, fix), *b = holder(test, fix);
	struct dafsd_client *at = court_at_server(test, a), *bt = court_at_server(test, b);
	struct court_waiter *waiter;

	HOLDER_OK(test, holder_lock(a, DAFS_WRITE_LT, 0, 0, 10));
	court_spared(test, a, at);
	/* it would be over when it is checked once more */
	court_check(bt);
	WRITE_ONCE(dafsd_courtesy_seconds, 1000);
	at->courteous_since = jiffies - 1000 * HZ;
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action(test, court_go_on, NULL));
	WRITE_ONCE(dafsd_server.stopping, true);
	court_check(bt);
	KUNIT_EXPECT_EQ(test, DAFSD_CLIENT_ACTIVE, READ_ONCE(bt->life));
	court_check(at);
	KUNIT_EXPECT_EQ(test, DAFSD_CLIENT_COURTEOUS, READ_ONCE(at->life));
	waiter = court_waiter(test, fix);
	KUNIT_EXPECT_NE(test, 0, wait_for_completion_timeout(&waiter->done,
							     msecs_to_jiffies(RAW_WAIT_MS)));
	court_go_on(NULL);
	KUNIT_EXPECT_EQ(test, -ENOENT, dafsd_client_end_id(&dafsd_server,
							   &a->login.res.connect.client_id));
	court_waiter_ends(test, waiter);
	court_lost(test, at);
}

/* The time is over, or there is none. */
static void court_time_test(struct kunit *test)
{
	struct dafs_fixture *fix = court_fixture(test);
	struct holder *a = holder(test, fix), *b = holder(test, fix);
	struct dafsd_client *at = court_at_server(test, a);

	HOLDER_OK(test, holder_lock(a, DAFS_WRITE_LT, 0, 0, 10));
	court_spared(test, a, at);
	WRITE_ONCE(dafsd_courtesy_seconds, 1000);
	at->courteous_since = jiffies - 500 * HZ;
	court_check(at);
	KUNIT_EXPECT_EQ(test, DAFSD_CLIENT_COURTEOUS, READ_ONCE(at->life));
	/* it is looked at again when its time is over */
	KUNIT_EXPECT_FALSE(test, time_after(READ_ONCE(at->lease_work.timer.expires),
					    jiffies + 500 * HZ));
	at->courteous_since = jiffies - 1000 * HZ;
	court_check(at);
	court_lost(test, at);
	court_expired(test, a);
	WRITE_ONCE(dafsd_courtesy_seconds, 0);
	at = court_at_server(test, b);
	KUNIT_EXPECT_EQ(test, DAFSD_CLIENT_DISCARDED, court_silence(test, b, at));
	court_expired(test, b);
}

/* One that has nothing is not kept, nor one whose lock is broken at the end of its lease. */
static void court_none_test(struct kunit *test)
{
	struct dafs_fixture *fix = court_fixture(test);
	struct holder *a = holder(test, fix), *b = holder(test, fix), *c = holder(test, fix);
	struct dafsd_client *at = court_at_server(test, a);

	HOLDER_OK(test, holder_lock(a, DAFS_WRITE_LT, PERSIST, 0, 10));
	KUNIT_EXPECT_EQ(test, DAFSD_CLIENT_DISCARDED, court_silence(test, a, at));
	HOLDER_OK(test, holder_close(b));
	at = court_at_server(test, b);
	KUNIT_EXPECT_EQ(test, DAFSD_CLIENT_DISCARDED, court_silence(test, b, at));
	/* broken by the next one, as ever */
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCK_BROKEN, holder_lock(c, DAFS_WRITE_LT, 0, 0, 1));
	/* one that was PERSIST, and is not any more */
	HOLDER_OK(test, holder_lock(c, DAFS_WRITE_LT, PERSIST, 20, 1));
	HOLDER_OK(test, holder_lock(c, DAFS_WRITE_LT, 0, 20, 1));
	court_spared(test, c, court_at_server(test, c));
}

static void court_autorecovery_test(struct kunit *test)
{
	struct dafs_fixture *fix = court_fixture(test);
	struct holder *a = holder(test, fix);
	struct dafsd_client *at = court_at_server(test, a);

	HOLDER_OK(test, holder_lock(a, DAFS_WRITE_LT, DAFS_LOCK_AUTORECOVERY, 0, ALL));
	KUNIT_EXPECT_EQ(test, DAFSD_CLIENT_DISCARDED, court_silence(test, a, at));
}

/*
 * What a client has reserves nothing any more once it is not known, although it may still be
 * about to be taken from it: it may be back, and want it.
 */
static void court_discarded_test(struct kunit *test)
{
	struct dafs_fixture *fix = court_fixture(test);
	struct holder *a = holder(test, fix), *b = holder(test, fix);
	struct dafsd_client *at = court_at_server(test, a);
	struct dafs_write_inline_args args = {
		.filehandle = b->open.filehandle,
		.byte_count = 4,
		.data = "data",
	};

	HOLDER_OK(test, holder_close(b));
	HOLDER_OK(test, court_open(a, a->owner, DAFS_RW, DAFS_OPEN_SHARE_DENY_WRITE, &a->open));
	undo_hold_store(test);
	KUNIT_EXPECT_EQ(test, 0, dafsd_client_end_id(&dafsd_server,
						     &a->login.res.connect.client_id));
	KUNIT_EXPECT_TRUE(test, court_is_discarded(at));
	court_send(b, DAFS_PROC_WRITE_INLINE, &args);
	KUNIT_EXPECT_NULL(test, raw_recv(b->conn, RAW_QUIET_MS));
	undo_repair_store(test);
	HOLDER_OK(test, court_receive(b));
	court_lost(test, at);
}

/* The same instance connects, and is not waited for. */
static void court_ask_return(struct kunit *test, struct holder *h)
{
	struct dafs_client_connect_auth_args args = { .auth_req.auth_type = h->login.auth_type };
	struct dafs_req_hdr hdr;

	raw_close(test, h->conn);
	h->conn = raw_connect_flavour(test, test->param_value, DAFS_CHANNEL_OPERATION);
	raw_connect_args(&h->login, &args.connect);
	hdr = raw_hdr(h->conn, DAFS_PROC_CLIENT_CONNECT_AUTH);
	raw_ask(h->conn, &hdr, &args);
}

/* Requests that wait without a worker */
static unsigned int court_parked(void)
{
	struct dafsd_conn *conn;
	unsigned int nr = 0;

	spin_lock(&dafsd_server.conns_lock);
	list_for_each_entry(conn, &dafsd_server.conns, node)
		nr += READ_ONCE(conn->waiting);
	spin_unlock(&dafsd_server.conns_lock);
	return nr;
}

/* Logins that wait for the state directory have a share of the workers, and not all of them. */
static void court_workers_test(struct kunit *test)
{
	struct dafs_fixture *fix = court_fixture(test);
	struct holder *a = holder(test, fix), *b = holder(test, fix), *c = holder(test, fix);
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);

	court_spared(test, a, court_at_server(test, a));
	court_spared(test, b, court_at_server(test, b));
	dafs_fixture_server_param(test, &dafsd_lane_most, 1);
	undo_hold_store(test);
	court_ask_return(test, a);
	court_ask_return(test, b);
	while (!court_parked() && time_before(jiffies, end))
		msleep(20);
	KUNIT_EXPECT_EQ(test, 1, court_parked());
	HOLDER_OK(test, raw_call(c->conn, DAFS_PROC_NULL, NULL, NULL));
	undo_repair_store(test);
	HOLDER_OK(test, court_receive(a));
	HOLDER_OK(test, court_receive(b));
}

/* An administrator ends it. */
static void court_admin_test(struct kunit *test)
{
	struct dafs_fixture *fix = court_fixture(test);
	struct holder *a = holder(test, fix);
	struct dafsd_client *at = court_at_server(test, a);

	court_spared(test, a, at);
	KUNIT_EXPECT_NE(test, 0, READ_ONCE(dafsd_server.nr_courteous));
	KUNIT_EXPECT_EQ(test, 0, dafsd_client_end_id(&dafsd_server,
						     &a->login.res.connect.client_id));
	court_lost(test, at);
	court_expired(test, a);
}

/* Room for another client */
static void court_room_test(struct kunit *test)
{
	struct dafs_fixture *fix = court_fixture(test);
	struct holder *a = holder(test, fix), *b = holder(test, fix);
	struct dafsd_client *at = court_at_server(test, a);

	court_spared(test, a, at);
	raw_crowd_out(test);
	court_lost(test, at);
	KUNIT_EXPECT_FALSE(test, court_recorded(a));
	HOLDER_OK(test, holder_read(b, true, 0, 4));
	court_expired(test, a);
}

/* Another principal gets its id as soon as its lease is over. */
static void court_principal_test(struct kunit *test)
{
	struct dafs_fixture *fix = court_fixture(test);
	struct holder *a = holder(test, fix);
	struct dafsd_client *at = court_at_server(test, a);
	struct raw_login other = { .id = a->id, .verifier = 2, .auth_type = DAFS_AUTH_DEFAULT };
	struct raw_conn *conn = raw_connect_flavour(test, NULL, DAFS_CHANNEL_OPERATION);

	DAFS_EXPECT_STATUS(test, DAFSERR_CLID_INUSE, raw_login(conn, &other));
	court_spared(test, a, at);
	HOLDER_OK(test, raw_login(conn, &other));
	court_lost(test, at);
	KUNIT_EXPECT_FALSE(test, court_recorded(a));
}

/* So it does with the same verifier, but that needs another attempt. */
static void court_same_verifier_test(struct kunit *test)
{
	struct dafs_fixture *fix = court_fixture(test);
	struct holder *a = holder(test, fix);
	struct dafsd_client *at = court_at_server(test, a);
	struct raw_login other = {
		.id = a->id,
		.verifier = a->login.verifier,
		.auth_type = DAFS_AUTH_DEFAULT,
	};
	struct raw_conn *conn = raw_connect_flavour(test, NULL, DAFS_CHANNEL_OPERATION);

	DAFS_EXPECT_STATUS(test, DAFSERR_CLID_INUSE, raw_login(conn, &other));
	court_spared(test, a, at);
	DAFS_EXPECT_STATUS(test, DAFSERR_STALE_CLIENTID, raw_login(conn, &other));
	court_lost(test, at);
	KUNIT_EXPECT_FALSE(test, court_recorded(a));
	HOLDER_OK(test, raw_login(conn, &other));
}

#define COURT_GROUPS	100	/* a credential with these needs more than a lock */

/* What there may be no room for */
enum court_need {
	COURT_OPEN,
	COURT_LOCK,
	COURT_CRED,
	COURT_NEEDS,
};

static dafs_status_t court_ask(struct holder *h, enum court_need need, unsigned int nr)
{
	static s32 gids[COURT_GROUPS];
	struct dafs_register_cred_args cred = {
		.cred_type = DAFS_CRED_ID,
		.uid = 1,
		.gid = 1,
		.groups = { .count = COURT_GROUPS, .elems = gids },
	};
	struct dafs_register_cred_res handle;
	struct dafs_open_res res;
	char owner[16];

	switch (need) {
	case COURT_OPEN:
		snprintf(owner, sizeof(owner), "owner %u", nr);
		return court_open(h, owner, DAFS_RD, 0, &res);
	case COURT_LOCK:
		return holder_lock(h, DAFS_READ_LT, 0, 2 * nr, 1);
	default:
		return raw_call(h->conn, DAFS_PROC_REGISTER_CRED, &cred, &handle);
	}
}

/* DELAY: the server is still closing files. */
static dafs_status_t court_get(struct holder *h, enum court_need need, unsigned int nr)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	dafs_status_t status;

	while ((status = court_ask(h, need, nr)) == DAFSERR_DELAY && time_before(jiffies, end))
		msleep(20);
	return status;
}

/* Until there is no room for anything more, and nobody is courteous */
static void court_fill(struct kunit *test, struct holder *h, unsigned int *nr)
{
	enum court_need need;
	dafs_status_t status;

	for (need = COURT_OPEN; need <= COURT_LOCK; need++) {
		do {
			status = court_get(h, need, ++*nr);
		} while (!status);
		DAFS_EXPECT_STATUS(test, DAFSERR_RESOURCE, status);
	}
}

/* There will be room for some more than what clients of this and of other tests have now. */
static void court_limit(struct kunit *test)
{
	const struct dafsd_peer *peer;
	unsigned long bytes = 0;
	int bkt;

	spin_lock(&dafsd_server.peers_lock);
	hash_for_each(dafsd_server.peers, bkt, peer, node)
		bytes += atomic_long_read(&peer->bytes[DAFSD_CHARGE_STATE]);
	spin_unlock(&dafsd_server.peers_lock);
	/* a quarter is for other addresses */
	dafs_fixture_server_param(test, &dafsd_max_state, bytes / 3 * 4 / SZ_1M + 1);
}

/* As often as it takes, since clients of other tests may just have been freed as well */
static dafs_status_t court_press(struct holder *h, enum court_need need, unsigned int *nr,
				 const struct dafsd_client *at)
{
	dafs_status_t status;

	do {
		status = court_get(h, need, ++*nr);
	} while (!status && READ_ONCE(at->life) == DAFSD_CLIENT_COURTEOUS);
	return status;
}

/* Room for what another client opens, locks and registers */
static void court_memory_test(struct kunit *test)
{
	struct dafs_fixture *fix = court_fixture(test);
	struct holder *b = holder(test, fix), *a[COURT_NEEDS];
	struct dafsd_client *at[COURT_NEEDS];
	enum court_need need;
	unsigned int nr = 0;

	for (need = 0; need < COURT_NEEDS; need++) {
		a[need] = holder(test, fix);
		at[need] = court_at_server(test, a[need]);
	}
	court_limit(test);
	for (need = 0; need < COURT_NEEDS; need++) {
		court_fill(test, b, &nr);
		court_spared(test, a[need], at[need]);
		HOLDER_OK(test, court_press(b, need, &nr, at[need]));
		court_lost(test, at[need]);
	}
	dafs_fixture_server_param(test, &dafsd_max_state, 0);
	for (need = 0; need < COURT_NEEDS; need++)
		court_expired(test, a[need]);
}

/* No more clients lose what they have than there is need. */
static void court_oldest_test(struct kunit *test)
{
	struct dafs_fixture *fix = court_fixture(test);
	struct holder *a = holder(test, fix), *b = holder(test, fix), *c = holder(test, fix);
	struct dafsd_client *at = court_at_server(test, a), *ct = court_at_server(test, c);
	dafs_status_t status;
	unsigned int nr = 0;

	court_limit(test);
	court_fill(test, b, &nr);
	court_spared(test, a, at);
	court_spared(test, c, ct);
	do {
		status = court_ask(b, COURT_OPEN, ++nr);
	} while (!status && READ_ONCE(at->life) == DAFSD_CLIENT_COURTEOUS);
	court_lost(test, at);
	/* otherwise the files of the first one could not be closed soon */
	if (!status)
		KUNIT_EXPECT_EQ(test, DAFSD_CLIENT_COURTEOUS, READ_ONCE(ct->life));
	else
		DAFS_EXPECT_STATUS(test, DAFSERR_DELAY, status);
	court_fill(test, b, &nr);
	court_lost(test, ct);
	dafs_fixture_server_param(test, &dafsd_max_state, 0);
	court_expired(test, c);
}

/* A delegate with its back-control channel */
static struct raw_conn *court_delegate(struct kunit *test, struct holder *h)
{
	const struct dafs_flavour *given = test->param_value;
	struct dafs_flavour flavour = given ? *given : (struct dafs_flavour){};
	struct dafs_connect_bind_args args = {
		.channel_use = DAFS_BACK_CONTROL_CHANNEL,
		.max_request_size = DAFS_MIN_MSG_SIZE,
		.max_response_size = DAFS_MIN_MSG_SIZE,
		.max_requests = 2,
	};
	struct raw_conn *bc;

	HOLDER_OK(test, holder_close(h));
	raw_close(test, h->conn);
	flavour.back_control = true;
	h->conn = raw_session(test, &flavour, &h->login);
	args.session_id = h->login.res.connect.session_id;
	bc = raw_connect_flavour(test, test->param_value, DAFS_CHANNEL_BACK_CONTROL);
	bc->cksum = h->conn->cksum;
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   raw_call(bc, DAFS_PROC_CONNECT_BIND, &args, NULL));
	return bc;
}

/* Opens "file" until it is delegated: it may have been closed by others just now. */
static void court_delegated(struct kunit *test, struct holder *h)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);

	do {
		msleep(20);
		HOLDER_OK(test, holder_open(h));
	} while (h->open.delegation_type != DAFS_OPEN_DELEGATE_WRITE && time_before(jiffies, end));
	KUNIT_ASSERT_EQ(test, DAFS_OPEN_DELEGATE_WRITE, h->open.delegation_type);
}

/* R-4.4.1.2-24: a delegation that has to be recalled is not, as nobody would answer */
static void court_deleg_test(struct kunit *test)
{
	struct dafs_fixture *fix = court_fixture(test);
	struct holder *a = holder(test, fix), *b;
	struct dafsd_client *at;
	struct file *filp;

	dafs_fixture_server_param(test, &dafsd_max_delegations, 100);
	court_delegate(test, a);
	court_delegated(test, a);
	at = court_at_server(test, a);
	court_spared(test, a, at);
	b = holder(test, fix);
	court_lost(test, at);
	HOLDER_OK(test, holder_close(b));
	/* a local program */
	a = holder(test, fix);
	dafs_fixture_server_param(test, &dafsd_deleg_rest_seconds, 0);
	court_delegate(test, a);
	court_delegated(test, a);
	at = court_at_server(test, a);
	court_spared(test, a, at);
	filp = dafs_backing_open(fix, "file", O_RDWR, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(filp));
	court_lost(test, at);
	dafs_backing_close(filp);
}

/* One that has not returned what was recalled before its lease was over */
static void court_recalled_test(struct kunit *test)
{
	struct dafs_fixture *fix = court_fixture(test);
	struct holder *a = holder(test, fix);
	struct dafsd_client *at;
	struct raw_msg *msg;
	struct raw_conn *bc;

	dafs_fixture_server_param(test, &dafsd_max_delegations, 100);
	dafs_fixture_server_param(test, &dafsd_deleg_rest_seconds, 0);
	bc = court_delegate(test, a);
	court_delegated(test, a);
	at = court_at_server(test, a);
	KUNIT_EXPECT_TRUE(test, IS_ERR(dafs_backing_open(fix, "file", O_RDWR | O_NONBLOCK, 0)));
	msg = raw_recv(bc, RAW_WAIT_MS);
	KUNIT_EXPECT_NOT_NULL(test, msg);
	kfree(msg);
	KUNIT_EXPECT_EQ(test, DAFSD_CLIENT_DISCARDED, court_silence(test, a, at));
}

static struct kunit_case court_cases[] = {
	KUNIT_CASE_PARAM(court_return_test, dafs_flavours_gen),
	KUNIT_CASE(court_return_durable_test),
	KUNIT_CASE_PARAM(court_share_test, dafs_flavours_gen),
	KUNIT_CASE(court_refused_test),
	KUNIT_CASE(court_key_test),
	KUNIT_CASE(court_io_test),
	KUNIT_CASE(court_remove_test),
	KUNIT_CASE(court_remove_refused_test),
	KUNIT_CASE_PARAM(court_lock_test, dafs_flavours_gen),
	KUNIT_CASE(court_many_test),
	KUNIT_CASE(court_many_asked_test),
	KUNIT_CASE(court_many_vain_test),
	KUNIT_CASE(court_local_test),
	KUNIT_CASE(court_waiter_test),
	KUNIT_CASE(court_later_test),
	KUNIT_CASE(court_asked_test),
	KUNIT_CASE(court_fs_test),
	KUNIT_CASE(court_stop_test),
	KUNIT_CASE(court_time_test),
	KUNIT_CASE(court_none_test),
	KUNIT_CASE(court_autorecovery_test),
	KUNIT_CASE(court_discarded_test),
	KUNIT_CASE(court_admin_test),
	KUNIT_CASE(court_workers_test),
	KUNIT_CASE(court_room_test),
	KUNIT_CASE(court_principal_test),
	KUNIT_CASE(court_same_verifier_test),
	KUNIT_CASE_SLOW(court_memory_test),
	KUNIT_CASE_SLOW(court_oldest_test),
	KUNIT_CASE(court_deleg_test),
	KUNIT_CASE(court_recalled_test),
	{}
};

static struct kunit_suite court_suite = {
	.name = "dafs_courtesy",
	.test_cases = court_cases,
};

kunit_test_suite(court_suite);
