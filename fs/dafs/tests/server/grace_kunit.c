// SPDX-License-Identifier: GPL-2.0
/*
 * The grace period (4.4.1.2, 4.4.1.6, E-88), and the records by which the server knows whom it
 * is for.
 *
 * The server of these tests does not restart: it is given records of clients that seem to be
 * from before, and begins a grace period.  A server that really restarts is in
 * tools/testing/suites/grace.sh.
 */
#include <linux/delay.h>
#include <linux/slab.h>
#include <linux/statfs.h>
#include "../../../../drivers/dafsd/session/courtesy.h"
#include "../../../../drivers/dafsd/session/grace.h"
#include "../../../../drivers/dafsd/session/server.h"
#include "../../../../drivers/dafsd/store/store.h"
#include "../lib/lock_fs.h"
#include "../lib/open_test.h"
#include "../lib/raw.h"

#define GRACE_VERIFIER	77

/* The ids of a client of before and of one that does not come back, new for each test */
static char grace_id[32], grace_absent[32];

static void grace_new_ids(void)
{
	static unsigned int nr;

	snprintf(grace_id, sizeof(grace_id), "client of before %u", ++nr);
	snprintf(grace_absent, sizeof(grace_absent), "absent client %u", nr);
}

#define GRACE_EOF	DAFS_LOCK_TO_EOF

/* What a client of before does */
struct grace_client {
	struct raw_login login;
	struct raw_conn *conn;
	u8 handle[4];
	struct dafs_open_res open;
};

static struct dafsd_key grace_key(const char *id)
{
	return (struct dafsd_key){ DAFSD_RECORD_CLIENT, strlen(id), id };
}

static void grace_know_lease(struct kunit *test, const char *id, u32 auth_type, u32 lease)
{
	struct dafsd_client_record rec = {
		.auth_type = cpu_to_le32(auth_type),
		.lease = cpu_to_le32(lease),
	};
	u64 verifier = GRACE_VERIFIER;
	struct dafsd_key key = grace_key(id);

	memcpy(rec.verifier.b, &verifier, sizeof(verifier));
	KUNIT_ASSERT_EQ(test, 0, dafsd_store_put(dafsd_server.store, &key, &rec, sizeof(rec)));
}

static void grace_know(struct kunit *test, const char *id, u32 auth_type)
{
	grace_know_lease(test, id, auth_type, 1);
}

static int grace_delete(void *priv, const struct dafsd_key *key, const void *value, u32 value_len)
{
	dafsd_store_delete(dafsd_server.store, key);
	return 0;
}

/* The search for a record */
struct grace_search {
	const char *id;
	bool found;
};

static int grace_compare(void *priv, const struct dafsd_key *key, const void *value,
			 u32 value_len)
{
	struct grace_search *search = priv;

	search->found |= key->len == strlen(search->id) &&
			 !memcmp(key->data, search->id, key->len);
	return 0;
}

static bool grace_recorded(const char *id)
{
	struct grace_search search = { id };

	dafsd_store_for_each(dafsd_server.store, DAFSD_RECORD_CLIENT, grace_compare, &search);
	return search.found;
}

static void grace_end(void *server)
{
	dafsd_grace_exit(server);
}

/* As if the server had restarted */
static void grace_begin(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, 0, dafsd_grace_load(&dafsd_server, dafsd_server.store));
	dafsd_grace_begin(&dafsd_server);
}

/* A grace period of a server that knows no clients but those of grace_know(). */
static struct dafs_fixture *grace_fixture(struct kunit *test, bool former, unsigned int lease)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);

	KUNIT_ASSERT_NOT_NULL(test, dafsd_server.store);
	grace_new_ids();
	dafs_backing_write(test, fix, "file", "data", 4);
	dafs_fixture_lease(test, fix, lease);
	dafsd_store_for_each(dafsd_server.store, DAFSD_RECORD_CLIENT, grace_delete, NULL);
	if (former)
		grace_know(test, grace_id, DAFS_AUTH_NONE);
	grace_know(test, grace_absent, DAFS_AUTH_NONE);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, grace_end, &dafsd_server));
	grace_begin(test);
	KUNIT_ASSERT_TRUE(test, dafsd_in_grace(&dafsd_server));
	return fix;
}

#define GRACE_LONG	3600	/* seconds: it does not end by itself */

/* All that needs the period is done, however long that took: now it ends after this. */
static void grace_shorten(unsigned int seconds)
{
	struct dafsd_grace *grace = &dafsd_server.grace;

	grace->lease = seconds;
	WRITE_ONCE(grace->until, jiffies + seconds * HZ);
	grace->latest = jiffies + 2 * seconds * HZ;
	mod_delayed_work(dafsd_timer_wq, &grace->end_work, seconds * HZ);
}

static bool grace_is_over(void)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);

	while (dafsd_in_grace(&dafsd_server) && time_before(jiffies, end))
		msleep(20);
	return !dafsd_in_grace(&dafsd_server);
}

static void grace_connect(struct kunit *test, struct grace_client *client, const char *id,
			  u64 verifier)
{
	client->login = (struct raw_login){ .id = id, .verifier = verifier };
	client->conn = raw_session(test, test->param_value, &client->login);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_register(client->conn, 0, 0, client->handle));
}

static dafs_status_t grace_open(struct grace_client *client, const struct dafs_fh *fh,
				const char *owner, u32 claim, u32 deny)
{
	struct dafs_open_args args = dafs_test_open_args(owner, DAFS_RW, deny);
	struct dafs_str name = dafs_test_str("file");

	args.claim_type = claim;
	args.dir_handle = *fh;
	if (claim == DAFS_CLAIM_NULL)
		args.pathname = (struct dafs_seq){ .count = 1, .elems = &name };
	return raw_call_as(client->conn, client->handle, DAFS_PROC_OPEN, &args, &client->open);
}

static dafs_status_t grace_lock_as(struct grace_client *client, u32 type, u32 options, u64 offset,
				   u64 length)
{
	struct dafs_lock_args args = {
		.filehandle = client->open.filehandle,
		.lock_type = type,
		.options = options,
		.state_id = client->open.state_id,
		.offset = offset,
		.length = length,
	};
	struct dafs_lock_res res;

	return raw_call_as(client->conn, client->handle, DAFS_PROC_LOCK, &args, &res);
}

static dafs_status_t grace_lock(struct grace_client *client, u32 options, u64 offset, u64 length)
{
	return grace_lock_as(client, DAFS_WRITE_LT, options, offset, length);
}

static dafs_status_t grace_close(struct grace_client *client)
{
	struct dafs_close_args args = {
		.filehandle = client->open.filehandle,
		.state_id = client->open.state_id,
	};

	return raw_call_as(client->conn, client->handle, DAFS_PROC_CLOSE, &args, NULL);
}

static dafs_status_t grace_test_lock(struct grace_client *client, const struct dafs_fh *fh)
{
	struct dafs_lockt_args args = {
		.filehandle = *fh,
		.lock_type = DAFS_WRITE_LT,
		.owner = dafs_test_str("other"),
		.length = GRACE_EOF,
	};
	struct dafs_lock_res res;

	return raw_call_as(client->conn, client->handle, DAFS_PROC_LOCKT, &args, &res);
}

static dafs_status_t grace_read(struct grace_client *client, const struct dafs_fh *fh,
				const struct dafs_state_id *state_id)
{
	struct dafs_read_inline_args args = {
		.filehandle = *fh,
		.state_id = *state_id,
		.byte_count = 4,
	};

	return raw_call_as(client->conn, client->handle, DAFS_PROC_READ_INLINE, &args, NULL);
}

static dafs_status_t grace_setattr(struct grace_client *client, const struct dafs_fh *fh,
				   u64 bitmap)
{
	struct dafs_setattr_inline_args args = {
		.filehandle = *fh,
		.obj_attributes = { .included = bitmap, .valid = bitmap, .mode = 0640 },
	};

	return raw_call_as(client->conn, client->handle, DAFS_PROC_SETATTR_INLINE, &args, NULL);
}

static dafs_status_t grace_purge(struct grace_client *client)
{
	return raw_call(client->conn, DAFS_PROC_DELEGPURGE, NULL, NULL);
}

static const struct dafs_state_id grace_no_state;

/*
 * R-4.4.1.2-18, R-4.4.1.6-02, R-6.5.24-17: a client that had nothing before gets nothing, and
 * does no I/O without an open.
 */
static void grace_others_test(struct kunit *test)
{
	struct dafs_fixture *fix = grace_fixture(test, true, GRACE_LONG);
	struct dafs_fh file = dafs_test_lookup(test, fix, "file");
	struct grace_client other = {};

	grace_connect(test, &other, NULL, 1);
	DAFS_EXPECT_STATUS(test, DAFSERR_GRACE,
			   grace_open(&other, &fix->dir, "a", DAFS_CLAIM_NULL, 0));
	DAFS_EXPECT_STATUS(test, DAFSERR_GRACE,
			   grace_open(&other, &file, "a", DAFS_CLAIM_PREVIOUS, 0));
	DAFS_EXPECT_STATUS(test, DAFSERR_GRACE, grace_read(&other, &file, &grace_no_state));
	DAFS_EXPECT_STATUS(test, DAFSERR_GRACE,
			   grace_setattr(&other, &file, DAFS_FATTR_OBJECT_SIZE));
	DAFS_EXPECT_STATUS(test, DAFSERR_GRACE, grace_test_lock(&other, &file));
	/* all else is served */
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, grace_setattr(&other, &file, DAFS_FATTR_MODE));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   raw_mkdir(other.conn, other.handle, &fix->dir, "dir"));
	/* not for it to end */
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, grace_purge(&other));
	KUNIT_EXPECT_TRUE(test, dafsd_in_grace(&dafsd_server));
}

/* R-4.4.1.2-19, R-4.4.1.6-03: one that had opens and locks gets them back. */
static void grace_reclaim_test(struct kunit *test)
{
	struct dafs_fixture *fix = grace_fixture(test, true, GRACE_LONG);
	struct dafs_fh file = dafs_test_lookup(test, fix, "file");
	struct grace_client client = {};

	grace_connect(test, &client, grace_id, GRACE_VERIFIER);
	DAFS_EXPECT_STATUS(test, DAFSERR_GRACE,
			   grace_open(&client, &fix->dir, "a", DAFS_CLAIM_NULL, 0));
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   grace_open(&client, &file, "a", DAFS_CLAIM_PREVIOUS, 0));
	DAFS_EXPECT_STATUS(test, DAFSERR_GRACE, grace_lock(&client, 0, 0, 1));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   grace_lock(&client, DAFS_LOCK_RECLAIM, 0, 100));
	/* what it could conflict with existed beside it */
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   grace_read(&client, &client.open.filehandle, &client.open.state_id));
	KUNIT_EXPECT_TRUE(test, grace_recorded(grace_id));
}

/* The back-control channel of a client, without which nothing is delegated */
static struct raw_conn *grace_bind(struct kunit *test, struct grace_client *client)
{
	struct dafs_connect_bind_args args = {
		.session_id = client->login.res.connect.session_id,
		.channel_use = DAFS_BACK_CONTROL_CHANNEL,
		.max_request_size = DAFS_MIN_MSG_SIZE,
		.max_response_size = DAFS_MIN_MSG_SIZE,
		.max_requests = 2,
	};
	struct raw_conn *bc;

	bc = raw_connect_flavour(test, test->param_value, DAFS_CHANNEL_BACK_CONTROL);
	bc->cksum = client->conn->cksum;
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   raw_call(bc, DAFS_PROC_CONNECT_BIND, &args, NULL));
	return bc;
}

/* The client of before, to which files may be delegated.  Return: its back-control channel */
static struct raw_conn *grace_connect_back(struct kunit *test, struct grace_client *client)
{
	const struct dafs_flavour *flavour = test->param_value;
	struct dafs_flavour back = flavour ? *flavour : (struct dafs_flavour){};

	dafs_fixture_server_param(test, &dafsd_max_delegations, 100);
	back.back_control = true;
	client->login = (struct raw_login){ .id = grace_id, .verifier = GRACE_VERIFIER };
	client->conn = raw_session(test, &back, &client->login);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_register(client->conn, 0, 0, client->handle));
	return grace_bind(test, client);
}

static u32 grace_reclaim_deleg(struct kunit *test, struct grace_client *client,
			       const struct dafs_fh *fh, u32 access, u32 type)
{
	struct dafs_open_args args = dafs_test_open_args("owner", access, 0);

	args.claim_type = DAFS_CLAIM_PREVIOUS;
	args.dir_handle = *fh;
	args.delegate_type = type;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   raw_call_as(client->conn, client->handle, DAFS_PROC_OPEN, &args,
				       &client->open));
	return client->open.delegation_type;
}

/*
 * R-6.5.24-19: a delegation is given back; if others have the file open meanwhile, it is
 * recalled, and until it is returned nobody opens the file.
 */
static void grace_delegation_test(struct kunit *test)
{
	struct dafs_fixture *fix = grace_fixture(test, true, GRACE_LONG);
	struct dafs_fh file = dafs_test_lookup(test, fix, "file");
	struct dafs_delegreturn_args args;
	struct grace_client client = {}, other = {};
	struct dafs_state_id first;
	struct dafs_req_hdr hdr;
	struct raw_conn *bc;
	struct raw_msg *msg;
	struct file *local;

	bc = grace_connect_back(test, &client);
	KUNIT_EXPECT_EQ(test, DAFS_OPEN_DELEGATE_READ,
			grace_reclaim_deleg(test, &client, &file, DAFS_RD,
					    DAFS_OPEN_DELEGATE_READ));
	KUNIT_EXPECT_EQ(test, 0, client.open.recall);
	/* once more, as if the response had been lost */
	first = client.open.deleg_state_id;
	KUNIT_EXPECT_EQ(test, DAFS_OPEN_DELEGATE_READ,
			grace_reclaim_deleg(test, &client, &file, DAFS_RD,
					    DAFS_OPEN_DELEGATE_READ));
	KUNIT_EXPECT_MEMEQ(test, first.b, client.open.deleg_state_id.b, sizeof(first.b));
	args.state_id = client.open.deleg_state_id;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   raw_call(client.conn, DAFS_PROC_DELEGRETURN, &args, NULL));
	local = dafs_backing_open(fix, "file", O_RDONLY, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(local));
	KUNIT_EXPECT_EQ(test, DAFS_OPEN_DELEGATE_WRITE,
			grace_reclaim_deleg(test, &client, &file, DAFS_RW,
					    DAFS_OPEN_DELEGATE_WRITE));
	KUNIT_EXPECT_EQ(test, 1, client.open.recall);
	msg = raw_recv(bc, RAW_WAIT_MS);
	KUNIT_ASSERT_NOT_NULL(test, msg);
	KUNIT_EXPECT_EQ(test, 0, raw_get_hdr(bc, msg, &hdr));
	KUNIT_EXPECT_EQ(test, DAFS_PROC_BC_RECALL, hdr.procedure);
	kfree(msg);
	raw_answer(bc, &hdr, DAFS_STATUS_OK, 2, NULL);
	dafs_backing_close(local);
	dafsd_grace_exit(&dafsd_server);
	grace_connect(test, &other, NULL, 1);
	DAFS_EXPECT_STATUS(test, DAFSERR_DELAY,
			   grace_open(&other, &fix->dir, "b", DAFS_CLAIM_NULL, 0));
	args.state_id = client.open.deleg_state_id;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   raw_call(client.conn, DAFS_PROC_DELEGRETURN, &args, NULL));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   grace_open(&other, &fix->dir, "b", DAFS_CLAIM_NULL, 0));
}

/* CLAIM_DELEGATE_CUR by the delegation that @client has reclaimed last; it is closed again */
static dafs_status_t grace_claim(struct grace_client *client, struct dafs_fixture *fix, u32 access,
				 u32 deny, u32 key_type)
{
	struct dafs_open_args args = dafs_test_open_args("local", access, deny);
	struct dafs_str name = dafs_test_str("file");
	struct grace_client claimer = *client;
	dafs_status_t status;

	args.claim_type = DAFS_CLAIM_DELEGATE_CUR;
	args.claimdelcur_stateid = client->open.deleg_state_id;
	args.share_key_type = key_type;
	args.dir_handle = fix->dir;
	args.pathname = (struct dafs_seq){ .count = 1, .elems = &name };
	status = raw_call_as(client->conn, client->handle, DAFS_PROC_OPEN, &args, &claimer.open);
	return status ?: grace_close(&claimer);
}

/*
 * What may have been opened by a delegation alone is no news to clients that have not reclaimed
 * yet; by one for reading, that is to read, and to deny others to write.
 */
static void grace_claim_test(struct kunit *test)
{
	struct dafs_fixture *fix = grace_fixture(test, true, GRACE_LONG);
	struct dafs_fh file = dafs_test_lookup(test, fix, "file");
	struct dafs_delegreturn_args args;
	struct grace_client client = {};

	grace_connect_back(test, &client);
	KUNIT_ASSERT_EQ(test, DAFS_OPEN_DELEGATE_READ,
			grace_reclaim_deleg(test, &client, &file, DAFS_RD,
					    DAFS_OPEN_DELEGATE_READ));
	DAFS_EXPECT_STATUS(test, DAFSERR_GRACE,
			   grace_claim(&client, fix, DAFS_WR, 0, DAFS_OPEN_SHARE_KEY_NONE));
	DAFS_EXPECT_STATUS(test, DAFSERR_GRACE,
			   grace_claim(&client, fix, DAFS_RD, DAFS_OPEN_SHARE_DENY_READ,
				       DAFS_OPEN_SHARE_KEY_NONE));
	DAFS_EXPECT_STATUS(test, DAFSERR_GRACE,
			   grace_claim(&client, fix, DAFS_RD, 0, DAFS_OPEN_SHARE_KEY_BOTH));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   grace_claim(&client, fix, DAFS_RD, DAFS_OPEN_SHARE_DENY_WRITE,
				       DAFS_OPEN_SHARE_KEY_NONE));
	args.state_id = client.open.deleg_state_id;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   raw_call(client.conn, DAFS_PROC_DELEGRETURN, &args, NULL));
	DAFS_EXPECT_STATUS(test, DAFSERR_GRACE,
			   grace_claim(&client, fix, DAFS_RD, 0, DAFS_OPEN_SHARE_KEY_NONE));
	KUNIT_ASSERT_EQ(test, DAFS_OPEN_DELEGATE_WRITE,
			grace_reclaim_deleg(test, &client, &file, DAFS_RW,
					    DAFS_OPEN_DELEGATE_WRITE));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   grace_claim(&client, fix, DAFS_RW, 0, DAFS_OPEN_SHARE_KEY_BOTH));
}

/* A grace period that begins now is not over before that. */
static void grace_expect_length(struct kunit *test, unsigned int seconds)
{
	struct dafsd_grace *grace = &dafsd_server.grace;
	unsigned long end = jiffies + seconds * HZ;

	grace_begin(test);
	KUNIT_EXPECT_FALSE(test, time_before(READ_ONCE(grace->until), end));
	KUNIT_EXPECT_TRUE(test, delayed_work_pending(&grace->end_work));
	KUNIT_EXPECT_FALSE(test, time_before(READ_ONCE(grace->end_work.timer.expires), end));
	dafsd_grace_exit(&dafsd_server);
}

/*
 * R-4.4.1.2-17: it is as long as the longest lease of a client of before, also if the server has a
 * shorter one by now; or as that of the server.
 */
static void grace_length_test(struct kunit *test)
{
	struct dafs_fixture *fix = grace_fixture(test, true, 2);

	dafsd_grace_exit(&dafsd_server);
	grace_know_lease(test, grace_absent, DAFS_AUTH_NONE, 600);
	grace_expect_length(test, 600);
	dafs_fixture_lease(test, fix, 700);
	grace_expect_length(test, 700);
}

/*
 * R-4.4.1.2-19: a client that is reclaiming when the period would end gets more time, but not
 * for ever.
 */
static void grace_busy_test(struct kunit *test)
{
	struct dafs_fixture *fix = grace_fixture(test, true, GRACE_LONG);
	struct dafs_fh file = dafs_test_lookup(test, fix, "file");
	struct grace_client client = {};
	unsigned long begin, end;
	dafs_status_t status;
	u64 offset = 0;

	grace_connect(test, &client, grace_id, GRACE_VERIFIER);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   grace_open(&client, &file, "a", DAFS_CLAIM_PREVIOUS, 0));
	begin = jiffies;
	end = begin + msecs_to_jiffies(RAW_WAIT_MS);
	grace_shorten(2);
	do {
		status = grace_lock(&client, DAFS_LOCK_RECLAIM, offset++, 1);
		msleep(20);
	} while (!status && time_before(jiffies, end));
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, status);
	KUNIT_EXPECT_GT(test, jiffies - begin, 2UL * HZ + HZ / 4);
	KUNIT_EXPECT_TRUE(test, grace_is_over());
	/* what it has reclaimed it has */
	KUNIT_EXPECT_TRUE(test, grace_recorded(grace_id));
}

/* A test of the end of the period: @client has reclaimed what it had, the other one is gone. */
static struct dafs_fixture *grace_over(struct kunit *test, struct grace_client *client)
{
	struct dafs_fixture *fix = grace_fixture(test, true, GRACE_LONG);
	struct dafs_fh file = dafs_test_lookup(test, fix, "file");

	grace_connect(test, client, grace_id, GRACE_VERIFIER);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   grace_open(client, &file, "a", DAFS_CLAIM_PREVIOUS, 0));
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   grace_lock(client, DAFS_LOCK_RECLAIM, 0, 100));
	grace_shorten(0);
	KUNIT_ASSERT_TRUE(test, grace_is_over());
	return fix;
}

/*
 * R-4.4.1.2-17: after that time it is over.  R-4.4.1.2-21, R-4.4.1.6-06: then nothing can
 * be reclaimed, and what was has been kept.
 */
static void grace_end_test(struct kunit *test)
{
	struct grace_client client = {}, other = {};
	struct dafs_fixture *fix = grace_over(test, &client);

	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED,
			   grace_lock(&client, DAFS_LOCK_RECLAIM, 200, 1));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, grace_lock(&client, 0, 200, 1));
	grace_connect(test, &other, NULL, 1);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   grace_open(&other, &fix->dir, "b", DAFS_CLAIM_NULL, 0));
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, grace_lock(&other, 0, 99, 1));
	/* R-4.4.1.6-05: what nobody has reclaimed is free */
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, grace_lock(&other, 0, 100, 100));
}

/* One that has not come back cannot reclaim after yet another restart. */
static void grace_absent_test(struct kunit *test)
{
	struct grace_client client = {}, late = {};
	struct dafs_fixture *fix = grace_over(test, &client);
	struct dafs_fh file = dafs_test_lookup(test, fix, "file");

	KUNIT_EXPECT_TRUE(test, grace_recorded(grace_id));
	KUNIT_EXPECT_FALSE(test, grace_recorded(grace_absent));
	grace_begin(test);
	KUNIT_ASSERT_TRUE(test, dafsd_in_grace(&dafsd_server));
	grace_connect(test, &late, grace_absent, GRACE_VERIFIER);
	DAFS_EXPECT_STATUS(test, DAFSERR_GRACE,
			   grace_open(&late, &file, "c", DAFS_CLAIM_PREVIOUS, 0));
}

/* R-6.5.10-01: it ends when all clients have said that they have reclaimed everything. */
static void grace_early_test(struct kunit *test)
{
	struct dafs_fixture *fix = grace_fixture(test, true, GRACE_LONG);
	struct grace_client client = {}, absent = {};
	struct dafs_fh file = dafs_test_lookup(test, fix, "file");

	grace_connect(test, &client, grace_id, GRACE_VERIFIER);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, grace_purge(&client));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, grace_purge(&client));
	KUNIT_EXPECT_TRUE(test, dafsd_in_grace(&dafsd_server));
	/* it meant that */
	DAFS_EXPECT_STATUS(test, DAFSERR_GRACE,
			   grace_open(&client, &file, "a", DAFS_CLAIM_PREVIOUS, 0));
	grace_connect(test, &absent, grace_absent, GRACE_VERIFIER);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   grace_open(&absent, &file, "a", DAFS_CLAIM_PREVIOUS, 0));
	KUNIT_EXPECT_TRUE(test, dafsd_in_grace(&dafsd_server));
	DAFS_EXPECT_STATUS(test, DAFSERR_GRACE,
			   grace_open(&client, &fix->dir, "b", DAFS_CLAIM_NULL, 0));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, grace_purge(&absent));
	KUNIT_EXPECT_TRUE(test, grace_is_over());
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   grace_open(&client, &fix->dir, "b", DAFS_CLAIM_NULL, 0));
}

/* Another instance of a client has nothing to reclaim, and is not waited for. */
static void grace_instance_test(struct kunit *test)
{
	struct dafs_fixture *fix = grace_fixture(test, true, GRACE_LONG);
	struct dafs_fh file = dafs_test_lookup(test, fix, "file");
	struct grace_client client = {}, absent = {};

	grace_connect(test, &client, grace_id, GRACE_VERIFIER + 1);
	DAFS_EXPECT_STATUS(test, DAFSERR_GRACE,
			   grace_open(&client, &file, "a", DAFS_CLAIM_PREVIOUS, 0));
	grace_connect(test, &absent, grace_absent, GRACE_VERIFIER + 1);
	KUNIT_EXPECT_TRUE(test, grace_is_over());
	/* the former instances cannot come back after another restart */
	KUNIT_EXPECT_FALSE(test, grace_recorded(grace_id));
	KUNIT_EXPECT_FALSE(test, grace_recorded(grace_absent));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   grace_open(&client, &fix->dir, "a", DAFS_CLAIM_NULL, 0));
	KUNIT_EXPECT_TRUE(test, grace_recorded(grace_id));
}

/* One that came back but has reclaimed nothing has lost what it had, too. */
static void grace_idle_test(struct kunit *test)
{
	struct grace_client client = {}, other = {};
	struct dafs_fixture *fix = grace_fixture(test, true, GRACE_LONG);
	struct dafs_fh file = dafs_test_lookup(test, fix, "file");

	grace_connect(test, &client, grace_id, GRACE_VERIFIER);
	grace_shorten(0);
	KUNIT_ASSERT_TRUE(test, grace_is_over());
	KUNIT_EXPECT_FALSE(test, grace_recorded(grace_id));
	grace_connect(test, &other, NULL, 1);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   grace_open(&other, &file, "b", DAFS_CLAIM_PREVIOUS, 0));
	grace_begin(test);
	DAFS_EXPECT_STATUS(test, DAFSERR_GRACE,
			   grace_open(&client, &file, "a", DAFS_CLAIM_PREVIOUS, 0));
}

/* Nobody else takes the id of a client that may come back. */
static void grace_principal_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct raw_login login = { .id = grace_id, .verifier = GRACE_VERIFIER };
	struct raw_how how = { .type = DAFS_CHANNEL_OPERATION };

	KUNIT_ASSERT_NOT_NULL(test, fix);
	grace_new_ids();
	dafsd_store_for_each(dafsd_server.store, DAFSD_RECORD_CLIENT, grace_delete, NULL);
	grace_know(test, grace_id, DAFS_AUTH_DEFAULT);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, grace_end, &dafsd_server));
	grace_begin(test);
	DAFS_EXPECT_STATUS(test, DAFSERR_CLID_INUSE, raw_login(raw_connect(test, &how), &login));
}

/*
 * A client is recorded with its first open, not before; and not any more when its lease has
 * expired, so that it could not reclaim what others have had since.
 */
static void grace_record_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	struct grace_client client = {};

	grace_new_ids();
	dafs_backing_write(test, fix, "file", "data", 4);
	dafs_fixture_lease(test, fix, 2);
	dafs_fixture_server_param(test, &dafsd_courtesy_seconds, 0);
	grace_connect(test, &client, grace_id, 1);
	KUNIT_EXPECT_FALSE(test, grace_recorded(grace_id));
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   grace_open(&client, &fix->dir, "a", DAFS_CLAIM_NULL, 0));
	KUNIT_EXPECT_TRUE(test, grace_recorded(grace_id));
	raw_close(test, client.conn);
	while (grace_recorded(grace_id) && time_before(jiffies, end))
		msleep(20);
	KUNIT_EXPECT_FALSE(test, grace_recorded(grace_id));
}

/*
 * R-4.4.1.2-25: one whose lease was over before the restart, but that nobody had taken anything
 * from, may reclaim what it had as long as others may, who need not wait for it.
 */
static void grace_courteous_test(struct kunit *test)
{
	struct dafs_fixture *fix = grace_fixture(test, false, GRACE_LONG);
	struct dafs_fh file = dafs_test_lookup(test, fix, "file");
	struct grace_client client = {}, absent = {};

	dafsd_grace_exit(&dafsd_server);
	grace_know_lease(test, grace_id, DAFS_AUTH_NONE, 0);
	grace_begin(test);
	KUNIT_ASSERT_TRUE(test, dafsd_in_grace(&dafsd_server));
	grace_connect(test, &client, grace_id, GRACE_VERIFIER);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   grace_open(&client, &file, "a", DAFS_CLAIM_PREVIOUS, 0));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, grace_lock(&client, DAFS_LOCK_RECLAIM, 0, 1));
	KUNIT_EXPECT_TRUE(test, dafsd_in_grace(&dafsd_server));
	/* the only one that the period is for */
	grace_connect(test, &absent, grace_absent, GRACE_VERIFIER);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, grace_purge(&absent));
	KUNIT_EXPECT_TRUE(test, grace_is_over());
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, grace_lock(&client, DAFS_LOCK_RECLAIM, 1, 1));
	KUNIT_EXPECT_TRUE(test, grace_recorded(grace_id));
}

/* It does not keep its id from another principal, which has nothing of what it had. */
static void grace_courteous_principal_test(struct kunit *test)
{
	struct dafs_fixture *fix = grace_fixture(test, false, GRACE_LONG);
	struct dafs_fh file = dafs_test_lookup(test, fix, "file");
	struct grace_client client = {};

	dafsd_grace_exit(&dafsd_server);
	grace_know_lease(test, grace_id, DAFS_AUTH_DEFAULT, 0);
	grace_begin(test);
	KUNIT_ASSERT_TRUE(test, dafsd_in_grace(&dafsd_server));
	grace_connect(test, &client, grace_id, GRACE_VERIFIER);
	KUNIT_EXPECT_FALSE(test, grace_recorded(grace_id));
	DAFS_EXPECT_STATUS(test, DAFSERR_GRACE,
			   grace_open(&client, &file, "a", DAFS_CLAIM_PREVIOUS, 0));
}

/* For its sake alone there is no period, and it cannot reclaim after yet another restart. */
static void grace_courteous_alone_test(struct kunit *test)
{
	struct dafs_fixture *fix = grace_fixture(test, false, GRACE_LONG);
	struct grace_client other = {};

	dafsd_grace_exit(&dafsd_server);
	dafsd_store_for_each(dafsd_server.store, DAFSD_RECORD_CLIENT, grace_delete, NULL);
	grace_know_lease(test, grace_id, DAFS_AUTH_NONE, 0);
	grace_begin(test);
	KUNIT_EXPECT_FALSE(test, dafsd_in_grace(&dafsd_server));
	KUNIT_EXPECT_FALSE(test, grace_recorded(grace_id));
	grace_connect(test, &other, NULL, 1);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   grace_open(&other, &fix->dir, "a", DAFS_CLAIM_NULL, 0));
}

/* --- the period ends while a request is executed --- */

/* The next time that the file system is asked something it ends. */
static bool grace_ends;

static void grace_end_once(void)
{
	if (xchg(&grace_ends, false))
		dafsd_grace_exit(&dafsd_server);
}

/*
 * What is reclaimed too late is denied, because others may have had it; the client keeps what it
 * has reclaimed in time, as it was.
 */
static void grace_late_lock_test(struct kunit *test)
{
	struct dafs_fixture *fix = grace_fixture(test, true, GRACE_LONG);
	struct dafs_fh file = dafs_test_lookup(test, fix, "file");
	struct grace_client client = {}, other = {};

	lock_fs_hook(test, fix, "file", grace_end_once);
	grace_connect(test, &client, grace_id, GRACE_VERIFIER);
	grace_connect(test, &other, NULL, 1);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   grace_open(&client, &file, "a", DAFS_CLAIM_PREVIOUS, 0));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   grace_lock(&client, DAFS_LOCK_RECLAIM, 10, 10));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   grace_lock_as(&client, DAFS_READ_LT, DAFS_LOCK_RECLAIM, 30, 10));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   grace_lock(&client, DAFS_LOCK_RECLAIM, 90, 20));
	WRITE_ONCE(grace_ends, true);
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, grace_lock(&client, DAFS_LOCK_RECLAIM, 0, 100));
	KUNIT_EXPECT_FALSE(test, dafsd_in_grace(&dafsd_server));
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   grace_open(&other, &fix->dir, "b", DAFS_CLAIM_NULL, 0));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, grace_lock(&other, 0, 0, 10));
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, grace_lock_as(&other, DAFS_READ_LT, 0, 10, 1));
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, grace_lock_as(&other, DAFS_READ_LT, 0, 19, 1));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, grace_lock(&other, 0, 20, 10));
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, grace_lock(&other, 0, 30, 1));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, grace_lock_as(&other, DAFS_READ_LT, 0, 30, 10));
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, grace_lock(&other, 0, 39, 1));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, grace_lock(&other, 0, 40, 50));
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, grace_lock_as(&other, DAFS_READ_LT, 0, 90, 1));
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, grace_lock_as(&other, DAFS_READ_LT, 0, 109, 1));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, grace_close(&other));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, grace_close(&client));
}

/* A file system that is asked for its free space */
static struct super_operations grace_sops;
static const struct super_operations *grace_good_sops;

static int grace_fs_statfs(struct dentry *dentry, struct kstatfs *stat)
{
	grace_end_once();
	return grace_good_sops->statfs(dentry, stat);
}

static void grace_restore_sops(void *sb)
{
	((struct super_block *)sb)->s_op = grace_good_sops;
}

static void grace_hook_statfs(struct kunit *test, struct dafs_fixture *fix)
{
	struct super_block *sb = fix->path.mnt->mnt_sb;

	grace_good_sops = sb->s_op;
	grace_sops = *grace_good_sops;
	grace_sops.statfs = grace_fs_statfs;
	sb->s_op = &grace_sops;
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, grace_restore_sops, sb));
}

/* A delegation that is reclaimed too late is not given: others may have changed the file. */
static void grace_late_delegation_test(struct kunit *test)
{
	struct dafs_fixture *fix = grace_fixture(test, true, GRACE_LONG);
	struct dafs_fh file = dafs_test_lookup(test, fix, "file");
	struct grace_client client = {};

	grace_hook_statfs(test, fix);
	grace_connect_back(test, &client);
	WRITE_ONCE(grace_ends, true);
	KUNIT_EXPECT_EQ(test, DAFS_OPEN_DELEGATE_NONE,
			grace_reclaim_deleg(test, &client, &file, DAFS_RD,
					    DAFS_OPEN_DELEGATE_READ));
	KUNIT_EXPECT_FALSE(test, dafsd_in_grace(&dafsd_server));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   grace_read(&client, &client.open.filehandle, &client.open.state_id));
}

static struct kunit_case grace_cases[] = {
	KUNIT_CASE_PARAM(grace_others_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(grace_reclaim_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(grace_delegation_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(grace_claim_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(grace_early_test, dafs_flavours_gen),
	KUNIT_CASE(grace_length_test),
	KUNIT_CASE_SLOW(grace_busy_test),
	KUNIT_CASE_SLOW(grace_end_test),
	KUNIT_CASE_SLOW(grace_absent_test),
	KUNIT_CASE(grace_instance_test),
	KUNIT_CASE_SLOW(grace_idle_test),
	KUNIT_CASE(grace_principal_test),
	KUNIT_CASE_SLOW(grace_record_test),
	KUNIT_CASE(grace_courteous_test),
	KUNIT_CASE(grace_courteous_principal_test),
	KUNIT_CASE(grace_courteous_alone_test),
	KUNIT_CASE(grace_late_lock_test),
	KUNIT_CASE(grace_late_delegation_test),
	{}
};

static struct kunit_suite grace_suite = {
	.name = "dafs_grace",
	.test_cases = grace_cases,
};

kunit_test_suite(grace_suite);
