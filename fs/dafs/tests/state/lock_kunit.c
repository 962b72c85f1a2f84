// SPDX-License-Identifier: GPL-2.0
/*
 * LOCK, LOCKT and LOCKU: byte-range locks of several owners and clients, and of local
 * programs (4.4.1.2, 6.5.18 to 6.5.20).
 */
#include <linux/delay.h>
#include <linux/filelock.h>
#include <linux/prandom.h>
#include "../../../../drivers/dafsd/export/export.h"
#include "../../../../drivers/dafsd/session/server.h"
#include "../../../../drivers/dafsd/state/lock_wait.h"
#include "../lib/lock_fs.h"
#include "../lib/open_test.h"
#include "../lib/raw.h"

#define LOCK_EOF	DAFS_LOCK_TO_EOF

/**
 * struct lock_who - a lock owner that has "file" open
 * @clnt: the client
 * @owner: owner string
 * @open: the open
 */
struct lock_who {
	struct dafs_client *clnt;
	const char *owner;
	struct dafs_open_res open;
};

static struct lock_who lock_opener(struct kunit *test, struct dafs_fixture *fix,
				   struct dafs_client *clnt, const char *owner, u32 access)
{
	struct dafs_opener opener = { owner, access, 0 };
	struct lock_who who = { .clnt = clnt, .owner = owner };

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   dafs_share_on(test, fix, clnt, &opener, &who.open));
	return who;
}

/* Bytes that lock_result.owner has room for */
#define LOCK_OWNER	64

/* A result of LOCK or LOCKT that outlives the response */
struct lock_result {
	struct dafs_lock_res res;
	char owner[LOCK_OWNER];
};

static dafs_status_t lock_run(struct kunit *test, struct dafs_client *clnt, u32 proc, void *args,
			      struct lock_result *result)
{
	struct dafs_op op = {
		.cred = dafs_test_me(),
		.proc = proc,
		.args = args,
		.res = &result->res,
	};
	dafs_status_t status;

	memset(result, 0, sizeof(*result));
	status = dafs_test_op(test, clnt, &op);
	if (status == DAFSERR_DENIED)
		memcpy(result->owner, result->res.owner.data,
		       min_t(u32, result->res.owner.len, LOCK_OWNER - 1));
	dafs_op_end(&op);
	return status;
}

static dafs_status_t lock_with(struct kunit *test, const struct lock_who *who, u32 type,
			       u32 options, u64 offset, u64 length, struct lock_result *result)
{
	struct dafs_lock_args args = {
		.filehandle = who->open.filehandle,
		.lock_type = type,
		.options = options,
		.state_id = who->open.state_id,
		.offset = offset,
		.length = length,
	};

	return lock_run(test, who->clnt, DAFS_PROC_LOCK, &args, result);
}

static dafs_status_t lock(struct kunit *test, const struct lock_who *who, u32 type, u64 offset,
			  u64 length)
{
	struct lock_result result;

	return lock_with(test, who, type, 0, offset, length, &result);
}

static dafs_status_t unlock(struct kunit *test, const struct lock_who *who, u64 offset,
			    u64 length)
{
	struct dafs_locku_args args = {
		.filehandle = who->open.filehandle,
		.state_id = who->open.state_id,
		.offset = offset,
		.length = length,
	};

	return dafs_test_call(test, who->clnt, dafs_test_me(), DAFS_PROC_LOCKU, &args, NULL);
}

static dafs_status_t lock_test(struct kunit *test, struct dafs_client *clnt,
			       const struct dafs_fh *fh, const char *owner, u32 type,
			       u64 offset, u64 length, struct lock_result *result)
{
	struct dafs_lockt_args args = {
		.filehandle = *fh,
		.lock_type = type,
		.owner = dafs_test_str(owner),
		.offset = offset,
		.length = length,
	};

	return lock_run(test, clnt, DAFS_PROC_LOCKT, &args, result);
}

static void lock_expect_holder(struct kunit *test, const struct lock_result *result,
			       const struct lock_who *holder, u64 offset, u64 length, u32 type)
{
	struct dafs_client_id id = dafs_test_client_id(test, holder->clnt);

	KUNIT_EXPECT_MEMEQ(test, id.b, result->res.owner_clientid.b, sizeof(id.b));
	KUNIT_EXPECT_STREQ(test, holder->owner, result->owner);
	KUNIT_EXPECT_EQ(test, strlen(holder->owner), result->res.owner.len);
	KUNIT_EXPECT_EQ(test, offset, result->res.offset);
	KUNIT_EXPECT_EQ(test, length, result->res.length);
	KUNIT_EXPECT_EQ(test, type, result->res.lock_type);
}

#define LOCK_OK(test, status)		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, status)
#define LOCK_DENIED(test, status)	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, status)

/* A file, open by an owner of each of two clients */
struct lock_two {
	struct dafs_fixture *fix;
	struct lock_who a;
	struct lock_who b;
};

static struct lock_two *lock_two(struct kunit *test)
{
	struct lock_two *two = kunit_kzalloc(test, sizeof(*two), GFP_KERNEL);
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_client *other = dafs_other_client(test, fix);

	KUNIT_ASSERT_NOT_NULL(test, two);
	two->fix = fix;
	dafs_backing_write(test, fix, "file", "content", 7);
	two->a = lock_opener(test, fix, fix->clnt, "owner a", DAFS_RW);
	two->b = lock_opener(test, fix, other, "owner b", DAFS_RW);
	return two;
}

/*
 * R-6.5.18-01 R-6.5.18-05 R-6.5.20-01 R-4.4.1.1-03: a lock denies another client's, which
 * is told of it, until it is released; the state-id stays as it is.
 */
static void dafs_lock_denied_test(struct kunit *test)
{
	struct lock_two *two = lock_two(test);
	struct lock_result result;

	LOCK_OK(test, lock(test, &two->a, DAFS_WRITE_LT, 10, 20));
	LOCK_DENIED(test, lock_with(test, &two->b, DAFS_WRITE_LT, 0, 29, 1, &result));
	lock_expect_holder(test, &result, &two->a, 10, 20, DAFS_WRITE_LT);
	LOCK_DENIED(test, lock_with(test, &two->b, DAFS_READ_LT, 0, 0, LOCK_EOF, &result));
	lock_expect_holder(test, &result, &two->a, 10, 20, DAFS_WRITE_LT);
	LOCK_OK(test, lock_with(test, &two->b, DAFS_WRITE_LT, 0, 30, 5, &result));
	KUNIT_EXPECT_EQ(test, 0U, result.res.owner.len);
	LOCK_OK(test, lock(test, &two->b, DAFS_WRITE_LT, 0, 10));
	LOCK_OK(test, unlock(test, &two->a, 10, 20));
	LOCK_OK(test, lock(test, &two->b, DAFS_WRITE_LT, 10, 20));
	LOCK_OK(test, dafs_try_write(test, two->a.clnt, &two->a.open.filehandle,
				     &two->a.open.state_id));
}

/* R-6.5.24-22: no lock is mandatory: OPEN does not say so, and I/O of others is not refused. */
static void dafs_lock_advisory_test(struct kunit *test)
{
	struct lock_two *two = lock_two(test);
	struct lock_who late;

	LOCK_OK(test, lock(test, &two->a, DAFS_WRITE_LT, 0, LOCK_EOF));
	late = lock_opener(test, two->fix, two->b.clnt, "owner c", DAFS_RW);
	KUNIT_EXPECT_EQ(test, 0, two->b.open.result_flags & DAFS_OPEN_RESULT_MLOCK);
	KUNIT_EXPECT_EQ(test, 0, late.open.result_flags & DAFS_OPEN_RESULT_MLOCK);
	LOCK_OK(test, dafs_try_write(test, two->b.clnt, &two->b.open.filehandle,
				     &two->b.open.state_id));
	LOCK_OK(test, dafs_try_write(test, late.clnt, &late.open.filehandle,
				     &late.open.state_id));
}

/* Read locks of several owners go together; a blocking lock is denied in the end (E-83). */
static void dafs_lock_types_test(struct kunit *test)
{
	static const u32 types[] = { DAFS_READ_LT, DAFS_WRITE_LT, DAFS_READW_LT, DAFS_WRITEW_LT };
	struct lock_two *two = lock_two(test);
	struct lock_result result;
	int n;

	dafs_fixture_server_param(test, &dafsd_lock_wait_ms, 1);
	for (n = 0; n < 16; n++) {
		u32 held = types[n / 4], wanted = types[n % 4];
		bool both_read = held % 2 && wanted % 2;

		LOCK_OK(test, lock(test, &two->a, held, 0, 10));
		DAFS_EXPECT_STATUS_MSG(test, both_read ? DAFS_STATUS_OK : DAFSERR_DENIED,
				       lock_with(test, &two->b, wanted, 0, 5, 10, &result),
				       "%u, then %u", held, wanted);
		if (!both_read)
			lock_expect_holder(test, &result, &two->a, 0, 10,
					   held % 2 ? DAFS_READ_LT : DAFS_WRITE_LT);
		LOCK_OK(test, unlock(test, &two->a, 0, LOCK_EOF));
		LOCK_OK(test, unlock(test, &two->b, 0, LOCK_EOF));
	}
}

/* R-6.5.18-03 R-6.5.18-04: ranges that end with the file, or are behind its end. */
static void dafs_lock_range_test(struct kunit *test)
{
	struct lock_two *two = lock_two(test);
	struct lock_result result;

	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, lock(test, &two->a, DAFS_WRITE_LT, 5, 0));
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, lock(test, &two->a, DAFS_WRITE_LT, 3, ~1ULL));
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, unlock(test, &two->a, 5, 0));
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, unlock(test, &two->a, 3, ~1ULL));
	LOCK_OK(test, lock(test, &two->a, DAFS_WRITE_LT, 1ULL << 40, 10));
	LOCK_DENIED(test, lock(test, &two->b, DAFS_WRITE_LT, (1ULL << 40) + 9, 1));
	LOCK_OK(test, unlock(test, &two->a, 0, LOCK_EOF));
	LOCK_OK(test, lock(test, &two->a, DAFS_WRITE_LT, 100, LOCK_EOF));
	LOCK_OK(test, lock(test, &two->b, DAFS_WRITE_LT, 0, 100));
	LOCK_DENIED(test, lock_with(test, &two->b, DAFS_WRITE_LT, 0, 1ULL << 62, 1, &result));
	lock_expect_holder(test, &result, &two->a, 100, LOCK_EOF, DAFS_WRITE_LT);
	/* no file has these bytes, but no two owners get them */
	LOCK_DENIED(test, lock(test, &two->b, DAFS_WRITE_LT, ~0ULL - 1, 1));
	LOCK_OK(test, unlock(test, &two->a, 0, LOCK_EOF));
	LOCK_OK(test, lock(test, &two->b, DAFS_WRITE_LT, ~0ULL - 1, 1));
	LOCK_DENIED(test, lock(test, &two->a, DAFS_WRITE_LT, 100, LOCK_EOF));
}

static void lock_nothing(void)
{
}

/* R-6.5.18-06: a file system with locks of its own may not tell what is in the way. */
static void dafs_lock_unknown_test(struct kunit *test)
{
	struct lock_two *two = lock_two(test);
	struct lock_result result;
	struct lock_who a, b;

	lock_fs_hook(test, two->fix, "file", lock_nothing);
	a = lock_opener(test, two->fix, two->a.clnt, "owner c", DAFS_RW);
	b = lock_opener(test, two->fix, two->b.clnt, "owner d", DAFS_RW);
	LOCK_OK(test, lock(test, &a, DAFS_WRITE_LT, 0, LOCK_EOF));
	LOCK_DENIED(test, lock_with(test, &b, DAFS_WRITE_LT, 0, 10, 20, &result));
	KUNIT_EXPECT_EQ(test, 10, result.res.offset);
	KUNIT_EXPECT_EQ(test, 20, result.res.length);
	LOCK_OK(test, dafs_test_close(test, a.clnt, &a.open));
	LOCK_OK(test, dafs_test_close(test, b.clnt, &b.open));
}

/* R-4.4.1.2-08: a sub-range is unlocked, upgraded, downgraded. */
static void dafs_lock_split_test(struct kunit *test)
{
	struct lock_two *two = lock_two(test);
	struct lock_result result;

	LOCK_OK(test, lock(test, &two->a, DAFS_WRITE_LT, 0, 100));
	LOCK_OK(test, unlock(test, &two->a, 50, 10));
	LOCK_DENIED(test, lock_with(test, &two->b, DAFS_READ_LT, 0, 49, 2, &result));
	lock_expect_holder(test, &result, &two->a, 0, 50, DAFS_WRITE_LT);
	LOCK_DENIED(test, lock_with(test, &two->b, DAFS_READ_LT, 0, 59, 2, &result));
	lock_expect_holder(test, &result, &two->a, 60, 40, DAFS_WRITE_LT);
	LOCK_OK(test, lock(test, &two->b, DAFS_READ_LT, 50, 10));
	LOCK_OK(test, lock(test, &two->a, DAFS_READ_LT, 40, 30));
	LOCK_OK(test, lock(test, &two->b, DAFS_READ_LT, 40, 30));
	LOCK_DENIED(test, lock(test, &two->b, DAFS_READ_LT, 39, 1));
	/* the upgrade is refused, and both keep what they have */
	LOCK_DENIED(test, lock(test, &two->a, DAFS_WRITE_LT, 0, 100));
	LOCK_OK(test, unlock(test, &two->b, 0, LOCK_EOF));
	LOCK_DENIED(test, lock(test, &two->b, DAFS_WRITE_LT, 45, 1));
	LOCK_OK(test, lock(test, &two->a, DAFS_WRITE_LT, 0, 100));
	LOCK_DENIED(test, lock_with(test, &two->b, DAFS_READ_LT, 0, 45, 1, &result));
	lock_expect_holder(test, &result, &two->a, 0, 100, DAFS_WRITE_LT);
}

/* R-6.5.19-01 R-6.5.19-02 R-6.5.19-03: LOCKT, with and without an open. */
static void dafs_lock_lockt_test(struct kunit *test)
{
	struct lock_two *two = lock_two(test);
	struct dafs_fh fh = two->a.open.filehandle;
	struct lock_result result;

	LOCK_OK(test, lock_test(test, two->b.clnt, &fh, "stranger", DAFS_WRITE_LT, 0, LOCK_EOF,
				&result));
	LOCK_OK(test, lock(test, &two->a, DAFS_READ_LT, 10, 20));
	LOCK_DENIED(test, lock_test(test, two->b.clnt, &fh, "stranger", DAFS_WRITE_LT, 0, LOCK_EOF,
				    &result));
	lock_expect_holder(test, &result, &two->a, 10, 20, DAFS_READ_LT);
	LOCK_OK(test, lock_test(test, two->b.clnt, &fh, "stranger", DAFS_READ_LT, 0, LOCK_EOF,
				&result));
	LOCK_OK(test, lock_test(test, two->a.clnt, &fh, "owner a", DAFS_WRITE_LT, 0, LOCK_EOF,
				&result));
	/* another client's owner of the same name, and another owner of the same client */
	LOCK_DENIED(test, lock_test(test, two->b.clnt, &fh, "owner a", DAFS_WRITEW_LT, 0, LOCK_EOF,
				    &result));
	LOCK_DENIED(test, lock_test(test, two->a.clnt, &fh, "owner", DAFS_WRITE_LT, 0, LOCK_EOF,
				    &result));
	/* and nothing was locked by all that */
	LOCK_OK(test, unlock(test, &two->a, 0, LOCK_EOF));
	LOCK_OK(test, lock(test, &two->b, DAFS_WRITE_LT, 0, LOCK_EOF));
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL,
			   lock_test(test, two->b.clnt, &fh, "", DAFS_READ_LT, 0, 1, &result));
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL,
			   lock_test(test, two->b.clnt, &fh, "a", DAFS_READ_LT, 0, 0, &result));
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL,
			   lock_test(test, two->b.clnt, &fh, "a", DAFS_ABORT_LT, 0, 1, &result));
	DAFS_EXPECT_STATUS(test, DAFSERR_ISDIR,
			   lock_test(test, two->b.clnt, &two->fix->dir, "a", DAFS_READ_LT, 0, 1,
				     &result));
}

/* R-6.5.18-07: options that this server does not have. */
static void dafs_lock_options_test(struct kunit *test)
{
	static const u32 unknown[] = { 0x10, 0x80, DAFS_LOCK_PERSIST | 0x80000000 };
	struct lock_two *two = lock_two(test);
	struct lock_result result;
	int n;

	for (n = 0; n < ARRAY_SIZE(unknown); n++)
		DAFS_EXPECT_STATUS(test, DAFSERR_NOTSUPP,
				   lock_with(test, &two->a, DAFS_WRITE_LT, unknown[n], 0, LOCK_EOF,
					     &result));
	/* what cannot be proved is refused, with a conflict that is not described (E-88) */
	LOCK_DENIED(test, lock_with(test, &two->a, DAFS_WRITE_LT, DAFS_LOCK_RECLAIM, 0, 1,
				    &result));
	KUNIT_EXPECT_EQ(test, 0U, result.res.owner.len);
	KUNIT_EXPECT_EQ(test, 0ULL, result.res.length);
	LOCK_OK(test, lock(test, &two->b, DAFS_WRITE_LT, 0, LOCK_EOF));
	LOCK_OK(test, unlock(test, &two->b, 0, LOCK_EOF));
	/* where nothing is broken it makes no difference (E-72) */
	LOCK_OK(test, lock_with(test, &two->a, DAFS_WRITE_LT, DAFS_LOCK_REPAIR, 0, 1, &result));
	LOCK_DENIED(test, lock(test, &two->b, DAFS_WRITE_LT, 0, 1));
}

/* R-4.4.1.1-01 R-6.5.18-08, E-79, E-87: who may lock what, by which state-id. */
static void dafs_lock_state_test(struct kunit *test)
{
	struct lock_two *two = lock_two(test);
	struct lock_who reader = lock_opener(test, two->fix, two->fix->clnt, "reader", DAFS_RD);
	struct lock_who writer = lock_opener(test, two->fix, two->fix->clnt, "writer", DAFS_WR);
	struct lock_who thief = { .clnt = two->b.clnt, .open = two->a.open };
	struct lock_who dir = two->a, zero = two->a, ones = two->a;
	static const u32 types[] = { 0, DAFS_ABORT_LT, 6, ~0U };
	int n;

	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_STATEID, lock(test, &thief, DAFS_READ_LT, 0, 1));
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_STATEID, unlock(test, &thief, 0, 1));
	DAFS_EXPECT_STATUS(test, DAFSERR_ACCES, lock(test, &reader, DAFS_WRITE_LT, 0, 1));
	DAFS_EXPECT_STATUS(test, DAFSERR_ACCES, lock(test, &writer, DAFS_READ_LT, 0, 1));
	LOCK_OK(test, lock(test, &reader, DAFS_READ_LT, 0, 1));
	LOCK_OK(test, unlock(test, &reader, 0, 1));
	LOCK_OK(test, lock(test, &writer, DAFS_WRITE_LT, 0, 1));
	LOCK_OK(test, unlock(test, &writer, 0, 1));
	memset(zero.open.state_id.b, 0, sizeof(zero.open.state_id.b));
	memset(ones.open.state_id.b, 0xff, sizeof(ones.open.state_id.b));
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_STATEID, lock(test, &zero, DAFS_READ_LT, 0, 1));
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_STATEID, unlock(test, &zero, 0, 1));
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_STATEID, lock(test, &ones, DAFS_READ_LT, 0, 1));
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_STATEID, unlock(test, &ones, 0, 1));
	dir.open.filehandle = two->fix->dir;
	DAFS_EXPECT_STATUS(test, DAFSERR_ISDIR, lock(test, &dir, DAFS_READ_LT, 0, 1));
	zero.open.filehandle = two->fix->dir;
	DAFS_EXPECT_STATUS(test, DAFSERR_ISDIR, lock(test, &zero, DAFS_READ_LT, 0, 1));
	for (n = 0; n < ARRAY_SIZE(types); n++)
		DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, lock(test, &two->a, types[n], 0, 1));
	/* unlocking what was never locked */
	LOCK_OK(test, unlock(test, &two->b, 5, 10));
}

/* R-4.4.1.2-07 R-4.4.1.2-32 R-4.4.1.2-33: CLOSE releases the locks of its owner. */
static void dafs_lock_close_test(struct kunit *test)
{
	struct lock_two *two = lock_two(test);

	LOCK_OK(test, lock(test, &two->a, DAFS_WRITE_LT, 0, 10));
	LOCK_OK(test, lock(test, &two->a, DAFS_READ_LT, 20, LOCK_EOF));
	LOCK_OK(test, lock(test, &two->b, DAFS_READ_LT, 20, LOCK_EOF));
	LOCK_OK(test, dafs_test_close(test, two->a.clnt, &two->a.open));
	LOCK_OK(test, lock(test, &two->b, DAFS_WRITE_LT, 0, LOCK_EOF));
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_STATEID, lock(test, &two->a, DAFS_READ_LT, 0, 1));
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_STATEID, unlock(test, &two->a, 0, 1));
}

/* The file that an open has changes while there are locks by it. */
static void dafs_lock_replaced_test(struct kunit *test)
{
	struct dafs_opener more = { "owner", DAFS_WR, 0 };
	struct dafs_open_downgrade_args less = { .share_access = DAFS_RD };
	struct lock_two *two = lock_two(test);
	struct lock_who who = lock_opener(test, two->fix, two->fix->clnt, "owner", DAFS_RD);
	struct dafs_open_res res;
	int n;

	less.filehandle = who.open.filehandle;
	less.state_id = who.open.state_id;
	for (n = 0; n < 3; n++) {
		LOCK_OK(test, lock(test, &who, DAFS_READ_LT, n, 1));
		DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
				   dafs_share(test, two->fix, &more, &res));
		LOCK_OK(test, lock(test, &who, DAFS_WRITE_LT, 10 + n, 1));
		LOCK_OK(test, dafs_test_call(test, who.clnt, dafs_test_me(),
					     DAFS_PROC_OPEN_DOWNGRADE, &less, NULL));
	}
	LOCK_DENIED(test, lock(test, &two->b, DAFS_WRITE_LT, 2, 1));
	LOCK_DENIED(test, lock(test, &two->b, DAFS_READ_LT, 10, 1));
	LOCK_OK(test, unlock(test, &who, 0, 5));
	LOCK_OK(test, lock(test, &two->b, DAFS_WRITE_LT, 0, 5));
	LOCK_OK(test, dafs_test_close(test, who.clnt, &who.open));
	LOCK_OK(test, lock(test, &two->b, DAFS_WRITE_LT, 0, LOCK_EOF));
}

/* Any user of a client may lock by an open of it: the access of the open counts. */
static void dafs_lock_user_test(struct kunit *test)
{
	struct lock_two *two = lock_two(test);
	struct dafs_lock_args args = {
		.filehandle = two->a.open.filehandle,
		.state_id = two->a.open.state_id,
		.lock_type = DAFS_WRITE_LT,
		.length = LOCK_EOF,
	};
	const struct cred *user = dafs_fixture_user(test, 1000, 1000);

	dafs_backing_chmod(test, two->fix, "file", 0600);
	LOCK_OK(test, dafs_test_call(test, two->a.clnt, user, DAFS_PROC_LOCK, &args, NULL));
	LOCK_DENIED(test, lock(test, &two->b, DAFS_READ_LT, 0, 1));
}

/* A file that an open has no use for any more is closed, although there were locks by it. */
static void dafs_lock_kept_test(struct kunit *test)
{
	struct dafs_open_downgrade_args less = { .share_access = DAFS_RD };
	struct lock_two *two = lock_two(test);
	struct inode *inode;
	struct file *filp;

	LOCK_OK(test, dafs_test_close(test, two->b.clnt, &two->b.open));
	LOCK_OK(test, lock(test, &two->a, DAFS_WRITE_LT, 0, 10));
	LOCK_OK(test, lock(test, &two->a, DAFS_READ_LT, 0, 5));
	LOCK_OK(test, unlock(test, &two->a, 0, LOCK_EOF));
	less.filehandle = two->a.open.filehandle;
	less.state_id = two->a.open.state_id;
	LOCK_OK(test, dafs_test_call(test, two->a.clnt, dafs_test_me(), DAFS_PROC_OPEN_DOWNGRADE,
				     &less, NULL));
	filp = dafs_backing_open(two->fix, "file", O_RDONLY, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(filp));
	inode = file_inode(filp);
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&inode->i_writecount));
	dafs_backing_close(filp);
}

/* As fcntl(2) of a local program, whose owner is @owner */
static int lock_local(struct file *filp, void *owner, unsigned char type, loff_t start, loff_t end)
{
	struct file_lock fl;

	locks_init_lock(&fl);
	fl.c.flc_owner = owner;
	fl.c.flc_flags = FL_POSIX;
	fl.c.flc_type = type;
	fl.c.flc_pid = 4711;
	fl.c.flc_file = filp;
	fl.fl_start = start;
	fl.fl_end = end;
	return vfs_lock_file(filp, F_SETLK, &fl, NULL);
}

/* Locks of clients and of local programs of the server know of each other. */
static void dafs_lock_local_test(struct kunit *test)
{
	struct lock_two *two = lock_two(test);
	struct lock_result result;
	struct file *filp;

	filp = dafs_backing_open(two->fix, "file", O_RDWR, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(filp));
	LOCK_OK(test, lock(test, &two->a, DAFS_WRITE_LT, 0, 10));
	KUNIT_EXPECT_EQ(test, -EAGAIN, lock_local(filp, test, F_RDLCK, 9, 20));
	KUNIT_EXPECT_EQ(test, 0, lock_local(filp, test, F_WRLCK, 10, 19));
	LOCK_DENIED(test, lock_with(test, &two->a, DAFS_READ_LT, 0, 0, LOCK_EOF, &result));
	KUNIT_EXPECT_STREQ(test, "local process 4711", result.owner);
	KUNIT_EXPECT_EQ(test, 10ULL, result.res.offset);
	KUNIT_EXPECT_EQ(test, 10ULL, result.res.length);
	KUNIT_EXPECT_EQ(test, DAFS_WRITE_LT, result.res.lock_type);
	LOCK_DENIED(test, lock_test(test, two->b.clnt, &two->b.open.filehandle, "owner b",
				    DAFS_READ_LT, 15, 1, &result));
	KUNIT_EXPECT_STREQ(test, "local process 4711", result.owner);
	KUNIT_EXPECT_EQ(test, 0, lock_local(filp, test, F_UNLCK, 0, OFFSET_MAX));
	LOCK_OK(test, lock(test, &two->a, DAFS_WRITE_LT, 0, LOCK_EOF));
	dafs_backing_close(filp);
}

/* A client has no more locks than the administrator allows, and may unlock and lock again. */
static void dafs_lock_many_test(struct kunit *test)
{
	struct lock_two *two = lock_two(test);
	dafs_status_t status = DAFS_STATUS_OK;
	struct dafs_client_params params;
	struct lock_who who;
	unsigned int n;

	/* a client that other tests have left no locks of */
	dafs_fixture_client_params(NULL, &params, "many locks");
	who = lock_opener(test, two->fix, dafs_fixture_client(test, &params), "who", DAFS_RW);
	dafs_fixture_server_param(test, &dafsd_max_locks, 20);
	for (n = 0; n < 30 && !status; n++)
		status = lock(test, &who, DAFS_WRITE_LT, 10 * n, 1);
	DAFS_EXPECT_STATUS(test, DAFSERR_RESOURCE, status);
	KUNIT_EXPECT_EQ(test, 21U, n);
	LOCK_OK(test, unlock(test, &who, 0, 100));
	LOCK_OK(test, lock(test, &who, DAFS_WRITE_LT, 50, 1));
	/* what is unlocked in the middle of a lock makes two of it */
	LOCK_OK(test, lock(test, &who, DAFS_WRITE_LT, 0, LOCK_EOF));
	for (n = 1, status = DAFS_STATUS_OK; n < 60 && !status; n += 2)
		status = unlock(test, &who, n, 1);
	DAFS_EXPECT_STATUS(test, DAFSERR_RESOURCE, status);
	/* which never fails where it makes no more */
	LOCK_OK(test, unlock(test, &who, 0, 1));
	LOCK_OK(test, unlock(test, &who, 1000, LOCK_EOF));
	LOCK_OK(test, unlock(test, &who, 10, 20));
	LOCK_OK(test, unlock(test, &who, 0, LOCK_EOF));
	LOCK_OK(test, lock(test, &who, DAFS_WRITE_LT, 50, 1));
	LOCK_OK(test, dafs_test_close(test, who.clnt, &who.open));
	dafs_fixture_server_param(test, &dafsd_max_locks, 1000);
	LOCK_OK(test, lock(test, &two->a, DAFS_WRITE_LT, 0, LOCK_EOF));
}

/* Locks of a client that lives by requests of the test alone; returns its connection. */
static struct raw_conn *lock_raw(struct kunit *test, struct dafs_fixture *fix,
				 struct raw_login *login)
{
	struct dafs_open_args args = dafs_test_open_args("raw", DAFS_RW, 0);
	struct raw_conn *conn = raw_session(test, test->param_value, login);
	struct dafs_lock_args lock = { .lock_type = DAFS_WRITE_LT, .length = LOCK_EOF };
	struct dafs_str name = dafs_test_str("file");
	struct dafs_open_res open;
	u8 handle[4];

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_register(conn, 0, 0, handle));
	args.dir_handle = fix->dir;
	args.pathname = (struct dafs_seq) { .count = 1, .elems = &name };
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   raw_call_as(conn, handle, DAFS_PROC_OPEN, &args, &open));
	lock.filehandle = open.filehandle;
	lock.state_id = open.state_id;
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   raw_call_as(conn, handle, DAFS_PROC_LOCK, &lock, NULL));
	return conn;
}

/*
 * R-4.4.1.2-15: the locks of a silent client deny those of others as long as its lease
 * lasts, and no longer.
 */
static void dafs_lock_lease_test(struct kunit *test)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS), begin;
	struct lock_two *two = lock_two(test);
	struct raw_login login = { .verifier = 1 };
	dafs_status_t status;

	dafs_fixture_lease(test, two->fix, 1);
	begin = jiffies;
	lock_raw(test, two->fix, &login);
	do {
		status = lock(test, &two->a, DAFS_WRITE_LT, 0, 1);
		msleep(20);
	} while (status == DAFSERR_DENIED && time_before(jiffies, end));
	LOCK_OK(test, status);
	KUNIT_EXPECT_GE(test, jiffies - begin, (unsigned long)HZ);
}

/* R-4.4.1.1-06: a new instance of a client has none of the locks of the old one. */
static void dafs_lock_verifier_test(struct kunit *test)
{
	struct raw_login login = { .verifier = 1 };
	struct lock_two *two = lock_two(test);

	lock_raw(test, two->fix, &login);
	LOCK_DENIED(test, lock(test, &two->a, DAFS_WRITE_LT, 0, 1));
	login.verifier = 2;
	raw_session(test, test->param_value, &login);
	LOCK_OK(test, lock(test, &two->a, DAFS_WRITE_LT, 0, 1));
}

static void lock_withdraw(void *exp)
{
	dafsd_export_withdraw(exp);
}

/* A file opened by its name in an export that is the test's directory */
static void lock_open_in_export(struct kunit *test, struct lock_who *who, const char *name)
{
	struct dafs_open_args args = dafs_test_open_args("owner", DAFS_RW, 0);
	struct dafs_str str = dafs_test_str(name);
	struct dafs_fh root, dir;

	KUNIT_ASSERT_EQ(test, 0, dafs_get_root_handle(who->clnt, dafs_test_me(), &root));
	KUNIT_ASSERT_EQ(test, 0, dafs_lookup_path(who->clnt, dafs_test_me(), &root, &str, 1, &dir));
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   dafs_test_open(test, who->clnt, dafs_test_me(), &dir, "file", &args,
					  &who->open));
}

/* When an export has been taken away, nothing in it is locked by clients any more. */
static void dafs_lock_withdrawn_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct lock_who who = { .clnt = fix->clnt, .owner = "owner" };
	const struct dafsd_export_conf conf = {};
	struct dafsd_export *exp;
	struct file *filp;

	dafs_backing_write(test, fix, "file", "content", 7);
	exp = dafs_fixture_serve(test, fix, "locks", ".", &conf);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, exp);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, lock_withdraw, exp));
	lock_open_in_export(test, &who, "locks");
	LOCK_OK(test, lock(test, &who, DAFS_WRITE_LT, 0, LOCK_EOF));
	filp = dafs_backing_open(fix, "file", O_RDWR, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(filp));
	KUNIT_EXPECT_EQ(test, -EAGAIN, lock_local(filp, test, F_WRLCK, 0, 1));
	kunit_release_action(test, lock_withdraw, exp);
	KUNIT_EXPECT_EQ(test, 0, lock_local(filp, test, F_WRLCK, 0, 1));
	KUNIT_EXPECT_EQ(test, 0, lock_local(filp, test, F_UNLCK, 0, OFFSET_MAX));
	dafs_backing_close(filp);
}

/*
 * A model of the locks of a small file: for each byte and owner, 0, or DAFS_READ_LT or
 * DAFS_WRITE_LT.
 */
#define LOCK_BYTES	24
#define LOCK_OWNERS	4

struct lock_model {
	struct lock_who who[LOCK_OWNERS];
	u8 held[LOCK_OWNERS][LOCK_BYTES + 1];	/* the last one is all that is behind */
	struct rnd_state rnd;
};

static u32 lock_random(struct lock_model *m, u32 below)
{
	return prandom_u32_state(&m->rnd) % below;
}

static bool lock_model_conflicts(const struct lock_model *m, int who, u32 type, int from, int to)
{
	int other, at;

	for (other = 0; other < LOCK_OWNERS; other++)
		for (at = from; at <= to && other != who; at++)
			if (m->held[other][at] && (type == DAFS_WRITE_LT ||
						   m->held[other][at] == DAFS_WRITE_LT))
				return true;
	return false;
}

/* A denial must tell of a lock that is in the model, is in the way, and meets the request. */
static void lock_model_check_denial(struct kunit *test, const struct lock_model *m,
				    const struct lock_result *result, int who, int from, int to)
{
	u64 begin = result->res.offset;
	u64 end = result->res.length == LOCK_EOF ? LOCK_BYTES : begin + result->res.length - 1;
	int other, at;

	for (other = 0; other < LOCK_OWNERS; other++)
		if (!strcmp(m->who[other].owner, result->owner))
			break;
	KUNIT_ASSERT_LT(test, other, LOCK_OWNERS);
	KUNIT_EXPECT_NE(test, who, other);
	KUNIT_ASSERT_LE(test, end, (u64)LOCK_BYTES);
	KUNIT_EXPECT_TRUE(test, begin <= to && end >= from);
	for (at = begin; at <= end; at++)
		KUNIT_EXPECT_EQ(test, result->res.lock_type, (u32)m->held[other][at]);
}

static void lock_model_step(struct kunit *test, struct lock_model *m)
{
	int who = lock_random(m, LOCK_OWNERS), from = lock_random(m, LOCK_BYTES + 1);
	int to = from + lock_random(m, LOCK_BYTES + 1 - from);
	u64 length = to == LOCK_BYTES ? LOCK_EOF : to - from + 1;
	u32 type = lock_random(m, 4);
	struct lock_who *w = &m->who[who];
	struct lock_result result;
	dafs_status_t expected;

	if (type == 0 || type == 3) {
		LOCK_OK(test, unlock(test, w, from, length));
		memset(&m->held[who][from], 0, to - from + 1);
		return;
	}
	expected = lock_model_conflicts(m, who, type, from, to) ? DAFSERR_DENIED : DAFS_STATUS_OK;
	if (lock_random(m, 4)) {
		DAFS_EXPECT_STATUS(test, expected,
				   lock_with(test, w, type, 0, from, length, &result));
		if (!expected)
			memset(&m->held[who][from], type, to - from + 1);
	} else {
		DAFS_EXPECT_STATUS(test, expected,
				   lock_test(test, w->clnt, &w->open.filehandle, w->owner, type,
					     from, length, &result));
	}
	if (expected)
		lock_model_check_denial(test, m, &result, who, from, to);
}

/* Random locks of four owners of two clients are as the model says. */
static void dafs_lock_model_test(struct kunit *test)
{
	static const char *const owners[LOCK_OWNERS] = { "a", "b", "c", "d" };
	struct lock_two *two = lock_two(test);
	struct lock_model *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);
	int n;

	KUNIT_ASSERT_NOT_NULL(test, m);
	prandom_seed_state(&m->rnd, 1);
	for (n = 0; n < LOCK_OWNERS; n++)
		m->who[n] = lock_opener(test, two->fix, (n % 2 ? &two->a : &two->b)->clnt,
					owners[n], DAFS_RW);
	for (n = 0; n < 2000; n++)
		lock_model_step(test, m);
	for (n = 0; n < LOCK_OWNERS; n++)
		LOCK_OK(test, dafs_test_close(test, m->who[n].clnt, &m->who[n].open));
	LOCK_OK(test, lock(test, &two->a, DAFS_WRITE_LT, 0, LOCK_EOF));
}

static struct kunit_case dafs_lock_cases[] = {
	KUNIT_CASE_PARAM(dafs_lock_denied_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_lock_advisory_test),
	KUNIT_CASE(dafs_lock_types_test),
	KUNIT_CASE(dafs_lock_range_test),
	KUNIT_CASE(dafs_lock_unknown_test),
	KUNIT_CASE(dafs_lock_split_test),
	KUNIT_CASE_PARAM(dafs_lock_lockt_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_lock_options_test),
	KUNIT_CASE(dafs_lock_state_test),
	KUNIT_CASE(dafs_lock_close_test),
	KUNIT_CASE(dafs_lock_replaced_test),
	KUNIT_CASE(dafs_lock_user_test),
	KUNIT_CASE(dafs_lock_kept_test),
	KUNIT_CASE(dafs_lock_local_test),
	KUNIT_CASE(dafs_lock_many_test),
	KUNIT_CASE(dafs_lock_lease_test),
	KUNIT_CASE(dafs_lock_verifier_test),
	KUNIT_CASE(dafs_lock_withdrawn_test),
	KUNIT_CASE(dafs_lock_model_test),
	{}
};

static struct kunit_suite dafs_lock_suite = {
	.name = "dafs_lock",
	.test_cases = dafs_lock_cases,
};

kunit_test_suite(dafs_lock_suite);
