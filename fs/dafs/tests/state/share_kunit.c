// SPDX-License-Identifier: GPL-2.0
/*
 * Share reservations and share keys: conflicts of OPEN with other opens and
 * with I/O without an open, and OPEN_DOWNGRADE (4.4.1.2, 4.4.2, 6.5.26).
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/random.h>
#include <linux/workqueue.h>
#include "../lib/open_test.h"
#include "../lib/raw.h"

#define DAFS_REMOVER_ROUNDS	40

/* Each pair of openers, the second one on @clnt. */
static void dafs_share_matrix(struct kunit *test, struct dafs_fixture *fix,
			      struct dafs_client *clnt)
{
	struct dafs_opener first = { "first", 0, 0 };
	struct dafs_opener second = { "second", 0, 0 };
	struct dafs_open_res held, res;
	int n;

	for (n = 0; n < 12 * 12; n++) {
		bool conflict;
		dafs_status_t status;

		first.share_access = 1 + n % 3;
		first.share_deny = n / 3 % 4;
		second.share_access = 1 + n / 12 % 3;
		second.share_deny = n / 36;
		conflict = (second.share_access & first.share_deny) ||
			   (second.share_deny & first.share_access);
		held = dafs_must_share(test, fix, &first);
		status = dafs_share_on(test, fix, clnt, &second, &res);
		DAFS_EXPECT_STATUS_MSG(test, conflict ? DAFSERR_DENIED : DAFS_STATUS_OK, status,
				       "access %u deny %u, then %u and %u", first.share_access,
				       first.share_deny, second.share_access, second.share_deny);
		if (!status)
			DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, clnt, &res));
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &held));
	}
}

/* R-4.4.1.2-28 R-6.5.24-09: two owners of one client. */
static void dafs_share_owners_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);

	dafs_backing_write(test, fix, "file", "content", 7);
	dafs_share_matrix(test, fix, fix->clnt);
}

/* R-4.4.1.2-28 R-6.5.24-09: two clients. */
static void dafs_share_clients_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);

	dafs_backing_write(test, fix, "file", "content", 7);
	dafs_share_matrix(test, fix, dafs_other_client(test, fix));
}

/* R-4.4.1.2-30 R-4.4.2-05: CLOSE releases the reservation of its open, and only that. */
static void dafs_share_close_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_opener no_write = { "a", DAFS_RD, DAFS_OPEN_SHARE_DENY_WRITE };
	struct dafs_opener same = { "b", DAFS_RD, DAFS_OPEN_SHARE_DENY_WRITE };
	struct dafs_opener write = { "c", DAFS_WR, 0 };
	struct dafs_open_res a, b, c;

	dafs_backing_write(test, fix, "file", "content", 7);
	a = dafs_must_share(test, fix, &no_write);
	b = dafs_must_share(test, fix, &same);
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, dafs_share(test, fix, &write, &c));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &a));
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, dafs_share(test, fix, &write, &c));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &b));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_share(test, fix, &write, &c));
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, dafs_share(test, fix, &same, &b));
}

/* A refused OPEN changes neither the file nor the reservations. */
static void dafs_share_refused_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_opener no_write = { "a", DAFS_RD, DAFS_OPEN_SHARE_DENY_WRITE };
	struct dafs_open_args empty = dafs_create_open_args(DAFS_CREATE_UNCHECKED);
	struct dafs_opener read = { "c", DAFS_RD, 0 };
	struct dafs_open_res a, res;

	dafs_backing_write(test, fix, "file", "content", 7);
	a = dafs_must_share(test, fix, &no_write);
	empty.share_access = DAFS_RD;
	empty.share_deny = DAFS_OPEN_SHARE_DENY_NONE;
	empty.createattrs.included = DAFS_FATTR_OBJECT_SIZE;
	empty.createattrs.valid = DAFS_FATTR_OBJECT_SIZE;
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, dafs_try_open(test, fix, "file", &empty, &res));
	dafs_expect_content(test, fix, "file", "content");
	empty.createattrs.included = 0;
	empty.createattrs.valid = 0;
	empty.share_access = DAFS_WR;
	empty.share_deny = DAFS_OPEN_SHARE_DENY_READ;
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, dafs_try_open(test, fix, "file", &empty, &res));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_share(test, fix, &read, &res));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &a));
}

/*
 * R-4.4.1.2-35 R-6.5.24-26: an owner has one open of a file: further OPENs are
 * merged into it, its own reservation does not deny them, and one CLOSE ends
 * it.
 */
static void dafs_open_merge_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_opener args = { "owner", DAFS_RD, DAFS_OPEN_SHARE_DENY_WRITE };
	struct dafs_opener other = { "other", DAFS_RD, 0 };
	struct dafs_open_res one, two, res;

	dafs_backing_write(test, fix, "file", "content", 7);
	one = dafs_must_share(test, fix, &args);
	DAFS_EXPECT_STATUS(test, DAFSERR_ACCES,
			   dafs_try_write(test, fix->clnt, &one.filehandle, &one.state_id));
	args.share_access = DAFS_WR;
	args.share_deny = DAFS_OPEN_SHARE_DENY_READ;
	two = dafs_must_share(test, fix, &args);
	KUNIT_EXPECT_TRUE(test, dafs_same_state(&one, &two));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_try_write(test, fix->clnt, &one.filehandle, &one.state_id));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_try_read(test, fix->clnt, &one.filehandle, &one.state_id));
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, dafs_share(test, fix, &other, &res));
	other.share_access = DAFS_WR;
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, dafs_share(test, fix, &other, &res));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &one));
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_STATEID, dafs_test_close(test, fix->clnt, &two));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_share(test, fix, &other, &res));
}

/* A merge that other opens deny is refused, and the open does not change. */
static void dafs_open_merge_refused_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_opener args = { "owner", DAFS_RD, 0 };
	struct dafs_opener other = { "other", DAFS_RD, DAFS_OPEN_SHARE_DENY_WRITE };
	struct dafs_open_res one, two, res;

	dafs_backing_write(test, fix, "file", "content", 7);
	one = dafs_must_share(test, fix, &args);
	two = dafs_must_share(test, fix, &other);
	args.share_access = DAFS_WR;
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, dafs_share(test, fix, &args, &res));
	args.share_access = DAFS_RD;
	args.share_deny = DAFS_OPEN_SHARE_DENY_READ;
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, dafs_share(test, fix, &args, &res));
	DAFS_EXPECT_STATUS(test, DAFSERR_ACCES,
			   dafs_try_write(test, fix->clnt, &one.filehandle, &one.state_id));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_try_read(test, fix->clnt, &one.filehandle, &one.state_id));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &two));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &one));
}

/*
 * R-4.4.1.2-36: if a handle contains the directory, two names of a file have
 * different handles and different opens.
 */
static void dafs_open_two_handles_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture_in(test, NULL, DAFS_TEST_SQUASH);
	struct dafs_open_args args = dafs_test_open_args("owner", DAFS_RD, 0);
	struct dafs_open_res one, two;

	dafs_backing_mkdir(test, fix, "a", 0755);
	dafs_backing_mkdir(test, fix, "b", 0755);
	dafs_backing_write(test, fix, "a/f", "content", 7);
	dafs_backing_link(test, fix, "a/f", "b/f");
	one = dafs_must_open(test, fix, "a/f", &args);
	two = dafs_must_open(test, fix, "b/f", &args);
	KUNIT_EXPECT_MEMNEQ(test, &one.filehandle, &two.filehandle, sizeof(one.filehandle));
	KUNIT_EXPECT_FALSE(test, dafs_same_state(&one, &two));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &one));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_try_read(test, fix->clnt, &two.filehandle, &two.state_id));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &two));
}

/* The same owner of two clients is two owners, on two sessions of one client it is one. */
static void dafs_open_client_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_client *again = dafs_fixture_client(test, &fix->params);
	struct dafs_client *other = dafs_other_client(test, fix);
	struct dafs_opener args = { "owner", DAFS_RD, 0 };
	struct dafs_open_res mine, same, theirs;

	dafs_backing_write(test, fix, "file", "content", 7);
	mine = dafs_must_share(test, fix, &args);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_share_on(test, fix, again, &args, &same));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_share_on(test, fix, other, &args, &theirs));
	KUNIT_EXPECT_TRUE(test, dafs_same_state(&mine, &same));
	KUNIT_EXPECT_FALSE(test, dafs_same_state(&mine, &theirs));
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_STATEID,
			   dafs_try_read(test, other, &mine.filehandle, &mine.state_id));
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_STATEID, dafs_test_close(test, other, &mine));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_try_read(test, again, &mine.filehandle, &mine.state_id));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, again, &mine));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_try_read(test, other, &theirs.filehandle, &theirs.state_id));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, other, &theirs));
}

/*
 * R-4.4.2-01 R-4.4.2-03 R-4.4.2-04 R-6.5.24-11 R-6.5.24-12: one key at a time,
 * for all clients; an OPEN without a key is not checked; the last CLOSE frees the
 * key.
 */
static void dafs_share_key_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_client *other = dafs_other_client(test, fix);
	const u64 key = 0x8000000000000001ULL;
	struct dafs_opener a = { "a", DAFS_RD, 0, DAFS_OPEN_SHARE_KEY_BOTH, key };
	struct dafs_opener b = { "b", DAFS_RD, 0, DAFS_OPEN_SHARE_KEY_BOTH, key + 1 };
	struct dafs_opener none = { "c", DAFS_RD, 0, DAFS_OPEN_SHARE_KEY_NONE, key + 2 };
	struct dafs_open_res one, two, res;

	dafs_backing_write(test, fix, "file", "content", 7);
	one = dafs_must_share(test, fix, &a);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_share_on(test, fix, other, &a, &two));
	DAFS_EXPECT_STATUS(test, DAFSERR_KEY_MISMATCH, dafs_share(test, fix, &b, &res));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_share(test, fix, &none, &res));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &res));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &one));
	DAFS_EXPECT_STATUS(test, DAFSERR_KEY_MISMATCH, dafs_share(test, fix, &b, &res));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, other, &two));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_share(test, fix, &b, &res));
	DAFS_EXPECT_STATUS(test, DAFSERR_KEY_MISMATCH, dafs_share(test, fix, &a, &one));
}

/*
 * R-4.4.2-02 E-73: a key does not override a reservation; a second OPEN without a key
 * keeps that of the first.
 */
static void dafs_share_key_also_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_opener a = { "a", DAFS_RD, 0, DAFS_OPEN_SHARE_KEY_BOTH, 1 };
	struct dafs_opener b = { "b", DAFS_RD, 0, DAFS_OPEN_SHARE_KEY_BOTH, 1 };
	struct dafs_opener c = { "c", DAFS_RD, 0, DAFS_OPEN_SHARE_KEY_BOTH, 2 };
	struct dafs_open_res one, two, res;

	dafs_backing_write(test, fix, "file", "content", 7);
	one = dafs_must_share(test, fix, &a);
	b.share_deny = DAFS_OPEN_SHARE_DENY_READ;
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, dafs_share(test, fix, &b, &res));
	a.share_key_type = DAFS_OPEN_SHARE_KEY_NONE;
	two = dafs_must_share(test, fix, &a);
	KUNIT_EXPECT_TRUE(test, dafs_same_state(&one, &two));
	DAFS_EXPECT_STATUS(test, DAFSERR_KEY_MISMATCH, dafs_share(test, fix, &c, &res));
	a.share_key_type = DAFS_OPEN_SHARE_KEY_BOTH;
	a.share_key = 2;
	DAFS_EXPECT_STATUS(test, DAFSERR_KEY_MISMATCH, dafs_share(test, fix, &a, &res));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &one));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_share(test, fix, &c, &res));
}

static dafs_status_t dafs_downgrade(struct kunit *test, struct dafs_client *clnt,
				    const struct dafs_open_res *open, const struct dafs_opener *to)
{
	struct dafs_open_downgrade_args args = {
		.filehandle = open->filehandle,
		.state_id = open->state_id,
		.share_access = to->share_access,
		.share_deny = to->share_deny,
		.share_key_type = to->share_key_type,
		.share_key = to->share_key,
	};

	return dafs_test_call(test, clnt, dafs_test_me(), DAFS_PROC_OPEN_DOWNGRADE, &args, NULL);
}

/* Return: true if the server has the file of this name open for writing. */
static bool dafs_is_written(struct kunit *test, struct dafs_fixture *fix, const char *name)
{
	struct path path;
	bool is;

	KUNIT_ASSERT_EQ(test, 0, dafs_backing_path(fix, name, &path));
	is = inode_is_open_for_write(d_inode(path.dentry));
	path_put(&path);
	return is;
}

/*
 * R-6.5.26-01: after a downgrade others get the access that was given up, and the
 * open does not have it any more; the owner may OPEN it again.
 */
static void dafs_downgrade_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_client *other = dafs_other_client(test, fix);
	struct dafs_opener all = { "owner", DAFS_RW, DAFS_OPEN_SHARE_DENY_BOTH };
	struct dafs_opener less = { "owner", DAFS_RD, DAFS_OPEN_SHARE_DENY_WRITE };
	struct dafs_opener reader = { "other", DAFS_RD, DAFS_OPEN_SHARE_DENY_WRITE };
	struct dafs_opener writer = { "other", DAFS_WR, 0 };
	struct dafs_open_res one, two, res;

	dafs_backing_write(test, fix, "file", "content", 7);
	one = dafs_must_share(test, fix, &all);
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, dafs_share_on(test, fix, other, &reader, &two));
	KUNIT_EXPECT_TRUE(test, dafs_is_written(test, fix, "file"));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_downgrade(test, fix->clnt, &one, &less));
	KUNIT_EXPECT_FALSE(test, dafs_is_written(test, fix, "file"));
	DAFS_EXPECT_STATUS(test, DAFSERR_ACCES,
			   dafs_try_write(test, fix->clnt, &one.filehandle, &one.state_id));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_try_read(test, fix->clnt, &one.filehandle, &one.state_id));
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, dafs_share_on(test, fix, other, &writer, &two));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_share_on(test, fix, other, &reader, &two));
	DAFS_EXPECT_STATUS(test, DAFSERR_DENIED, dafs_share(test, fix, &all, &res));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, other, &two));
	res = dafs_must_share(test, fix, &all);
	KUNIT_EXPECT_TRUE(test, dafs_same_state(&one, &res));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_try_write(test, fix->clnt, &one.filehandle, &one.state_id));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &one));
}

/* R-6.5.26-02 E-77: each from @have to @to */
static const struct {
	struct dafs_opener have;
	struct dafs_opener to;
} dafs_downgrade_bads[] = {
	{ { "o", DAFS_RD, 0 }, { "o", DAFS_WR, 0 } },
	{ { "o", DAFS_RD, 0 }, { "o", DAFS_RW, 0 } },
	{ { "o", DAFS_RD, 0 }, { "o", 0, 0 } },
	{ { "o", DAFS_RW, 0 }, { "o", DAFS_RW | 4, 0 } },
	{ { "o", DAFS_RD, 0 }, { "o", DAFS_RD, DAFS_OPEN_SHARE_DENY_READ } },
	{ { "o", DAFS_RD, DAFS_OPEN_SHARE_DENY_WRITE }, { "o", DAFS_RD, 3 } },
	{ { "o", DAFS_RW, DAFS_OPEN_SHARE_DENY_BOTH }, { "o", DAFS_RD, 4 } },
	{ { "o", DAFS_RW, 0 }, { "o", DAFS_RD, 0, 1, 0 } },
	{ { "o", DAFS_RW, 0 }, { "o", DAFS_RD, 0, DAFS_OPEN_SHARE_KEY_BOTH, 0 } },
};

/* A refused request leaves the open as it was. */
static void dafs_downgrade_refused_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_opener other = { "other", DAFS_RD, 0 };
	struct dafs_open_res one, two;
	dafs_status_t status;
	int i;

	dafs_backing_write(test, fix, "file", "content", 7);
	for (i = 0; i < ARRAY_SIZE(dafs_downgrade_bads); i++) {
		const struct dafs_opener *have = &dafs_downgrade_bads[i].have;
		bool writes = have->share_access & DAFS_WR;
		bool denies = have->share_deny & DAFS_OPEN_SHARE_DENY_READ;

		one = dafs_must_share(test, fix, have);
		status = dafs_downgrade(test, fix->clnt, &one, &dafs_downgrade_bads[i].to);
		DAFS_EXPECT_STATUS_MSG(test, DAFSERR_INVAL, status, "row %d", i);
		status = dafs_try_write(test, fix->clnt, &one.filehandle, &one.state_id);
		DAFS_EXPECT_STATUS_MSG(test, writes ? DAFS_STATUS_OK : DAFSERR_ACCES, status,
				       "row %d", i);
		status = dafs_share(test, fix, &other, &two);
		DAFS_EXPECT_STATUS_MSG(test, denies ? DAFSERR_DENIED : DAFS_STATUS_OK, status,
				       "row %d", i);
		if (!status)
			DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
					   dafs_test_close(test, fix->clnt, &two));
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &one));
	}
}

/* R-6.5.26-03 R-6.5.26-04: the key is kept or given up, but never changed. */
static void dafs_downgrade_key_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_opener a = { "a", DAFS_RW, 0, DAFS_OPEN_SHARE_KEY_BOTH, 1 };
	struct dafs_opener less = { "a", DAFS_RD, 0, DAFS_OPEN_SHARE_KEY_BOTH, 1 };
	struct dafs_opener b = { "b", DAFS_RD, 0, DAFS_OPEN_SHARE_KEY_BOTH, 2 };
	struct dafs_open_res one, two;

	dafs_backing_write(test, fix, "file", "content", 7);
	one = dafs_must_share(test, fix, &a);
	less.share_key = 2;
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, dafs_downgrade(test, fix->clnt, &one, &less));
	less.share_key = 1;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_downgrade(test, fix->clnt, &one, &less));
	DAFS_EXPECT_STATUS(test, DAFSERR_KEY_MISMATCH, dafs_share(test, fix, &b, &two));
	less.share_key_type = DAFS_OPEN_SHARE_KEY_NONE;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_downgrade(test, fix->clnt, &one, &less));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_share(test, fix, &b, &two));
	less.share_key_type = DAFS_OPEN_SHARE_KEY_BOTH;
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, dafs_downgrade(test, fix->clnt, &one, &less));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &one));
	DAFS_EXPECT_STATUS(test, DAFSERR_KEY_MISMATCH, dafs_share(test, fix, &a, &one));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &two));
}

/* State-ids that are not of an open of this file by this client (E-79) */
static void dafs_downgrade_state_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_client *other = dafs_other_client(test, fix);
	struct dafs_opener to = { "owner", DAFS_RD, 0 };
	struct dafs_open_res one, two, bad;

	one = dafs_new_file(test, fix, "one");
	two = dafs_new_file(test, fix, "two");
	bad = dafs_forge_state(&one, 0);
	DAFS_EXPECT_STATUS(test, DAFSERR_STALE_STATEID, dafs_downgrade(test, fix->clnt, &bad, &to));
	bad = dafs_forge_state(&one, 62);
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_STATEID, dafs_downgrade(test, fix->clnt, &bad, &to));
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_STATEID, dafs_downgrade(test, other, &one, &to));
	memset(&bad.state_id, 0, sizeof(bad.state_id));
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_STATEID, dafs_downgrade(test, fix->clnt, &bad, &to));
	memset(&bad.state_id, 0xff, sizeof(bad.state_id));
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_STATEID, dafs_downgrade(test, fix->clnt, &bad, &to));
	bad = one;
	bad.filehandle = two.filehandle;
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_STATEID, dafs_downgrade(test, fix->clnt, &bad, &to));
	bad.filehandle = fix->dir;
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_STATEID, dafs_downgrade(test, fix->clnt, &bad, &to));
	memset(&bad.filehandle, 0, sizeof(bad.filehandle));
	DAFS_EXPECT_STATUS(test, DAFSERR_BADHANDLE, dafs_downgrade(test, fix->clnt, &bad, &to));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_try_write(test, fix->clnt, &one.filehandle, &one.state_id));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &one));
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_STATEID, dafs_downgrade(test, fix->clnt, &one, &to));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &two));
}

/* An open of an unlinked file can be downgraded. */
static void dafs_downgrade_removed_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_open_downgrade_args args = { .share_access = DAFS_RD };
	struct dafs_open_res one = dafs_new_file(test, fix, "file");
	dafs_status_t status;

	dafs_backing_remove(fix, "file");
	args.filehandle = one.filehandle;
	args.state_id = one.state_id;
	KUNIT_EXPECT_EQ(test, 0, dafs_open_downgrade(fix->clnt, dafs_test_me(), &args, NULL,
						     &status));
	DAFS_EXPECT_STATUS(test, DAFSERR_ACCES,
			   dafs_try_write(test, fix->clnt, &one.filehandle, &one.state_id));
	args.share_access = DAFS_WR;
	KUNIT_EXPECT_EQ(test, -EINVAL, dafs_open_downgrade(fix->clnt, dafs_test_me(), &args, NULL,
							   &status));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &one));
}

/* R-4.4.1.2-34: I/O without a state-id respects reservations (E-80). */
static void dafs_anonymous_test(struct kunit *test)
{
	static const struct dafs_state_id zero;
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_client *other = dafs_other_client(test, fix);
	struct dafs_opener args = { "owner", DAFS_RW, DAFS_OPEN_SHARE_DENY_BOTH };
	struct dafs_open_res open;
	struct dafs_state_id ones;
	struct dafs_fh fh;

	dafs_backing_write(test, fix, "file", "content", 7);
	fh = dafs_test_lookup(test, fix, "file");
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_try_read(test, other, &fh, &zero));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_try_write(test, other, &fh, &zero));
	open = dafs_must_share(test, fix, &args);
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCKED, dafs_try_read(test, other, &fh, &zero));
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCKED, dafs_try_write(test, other, &fh, &zero));
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCKED, dafs_try_read(test, fix->clnt, &fh, &zero));
	memset(&ones, 0xff, sizeof(ones));
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCKED, dafs_try_read(test, other, &fh, &ones));
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCKED, dafs_try_write(test, other, &fh, &ones));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_try_read(test, fix->clnt, &fh, &open.state_id));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &open));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_try_read(test, other, &fh, &zero));
}

/**
 * struct dafs_later - an asynchronous request
 * @work: sends it
 * @test: the test
 * @clnt: the client
 * @args: of OPEN
 * @fh: its directory, or the file of WRITE
 * @open: result of OPEN
 * @status: of OPEN or WRITE
 */
struct dafs_later {
	struct work_struct work;
	struct kunit *test;
	struct dafs_client *clnt;
	struct dafs_open_args args;
	struct dafs_fh fh;
	struct dafs_open_res open;
	dafs_status_t status;
};

static struct dafs_later *dafs_later(struct kunit *test, struct dafs_client *clnt,
				     work_func_t func)
{
	struct dafs_later *later = kunit_kzalloc(test, sizeof(*later), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, later);
	INIT_WORK(&later->work, func);
	later->test = test;
	later->clnt = clnt;
	return later;
}

static void dafs_later_write(struct work_struct *work)
{
	struct dafs_later *later = container_of(work, struct dafs_later, work);
	static const struct dafs_state_id zero;

	later->status = dafs_try_write(later->test, later->clnt, &later->fh, &zero);
}

static void dafs_later_open(struct work_struct *work)
{
	struct dafs_later *later = container_of(work, struct dafs_later, work);

	later->status = dafs_test_open(later->test, later->clnt, dafs_test_me(), &later->fh, "file",
				       &later->args, &later->open);
}

/*
 * A WRITE without an open waits for the inode lock, which the test holds, so
 * OPEN must not be answered before the test releases it.  The length of the
 * wait matters only if the server is wrong.
 */
static void dafs_open_during_write(struct kunit *test, struct dafs_fixture *fix,
				   struct dafs_client *clnt, const struct dafs_open_args *args)
{
	struct dafs_later *write = dafs_later(test, clnt, dafs_later_write);
	struct dafs_later *open = dafs_later(test, fix->clnt, dafs_later_open);
	struct inode *inode;
	struct path path;

	write->fh = dafs_test_lookup(test, fix, "file");
	open->fh = fix->dir;
	open->args = *args;
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_path(fix, "file", &path));
	inode = d_inode(path.dentry);
	inode_lock(inode);
	queue_work(system_unbound_wq, &write->work);
	while (!rwsem_is_contended(&inode->i_rwsem) && work_busy(&write->work))
		msleep(20);
	queue_work(system_unbound_wq, &open->work);
	msleep(200);
	KUNIT_EXPECT_TRUE_MSG(test, work_busy(&open->work), "granted while data is written");
	inode_unlock(inode);
	flush_work(&write->work);
	flush_work(&open->work);
	path_put(&path);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, write->status);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, open->status);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &open->open));
}

/* R-4.4.1.2-34: I/O that started before an OPEN does not continue after it. */
static void dafs_anonymous_under_way_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_client *other = dafs_other_client(test, fix);
	struct dafs_open_args deny = dafs_test_open_args("owner", DAFS_RD,
							 DAFS_OPEN_SHARE_DENY_WRITE);
	struct dafs_open_args empty = dafs_create_open_args(DAFS_CREATE_UNCHECKED);

	dafs_backing_write(test, fix, "file", "content", 7);
	dafs_open_during_write(test, fix, other, &deny);
	dafs_expect_content(test, fix, "file", "wontent");
	empty.share_deny = DAFS_OPEN_SHARE_DENY_WRITE;
	empty.createattrs.included = DAFS_FATTR_OBJECT_SIZE;
	empty.createattrs.valid = DAFS_FATTR_OBJECT_SIZE;
	dafs_open_during_write(test, fix, other, &empty);
	dafs_expect_content(test, fix, "file", "");
}

/**
 * struct dafs_remover - makes and removes "file", again and again
 * @clnt: its client
 * @dir: the directory
 * @err: errno of the operation that failed
 * @stop: when its rounds are over
 * @done: completed at the end
 */
struct dafs_remover {
	struct dafs_client *clnt;
	struct dafs_fh dir;
	int err;
	bool stop;
	struct completion done;
};

static int dafs_remover_round(struct dafs_remover *r)
{
	struct dafs_open_how how = {
		.owner = dafs_test_str("remover"),
		.access = DAFS_RD,
		.create = true,
		.mode = DAFS_CREATE_GUARDED,
	};
	struct qstr name = dafs_test_qstr("file");
	struct dafs_change_info change;
	struct dafs_opened opened;
	int err;

	err = dafs_open(r->clnt, current_cred(), &r->dir, &name, &how, &opened) ?:
	      dafs_close(r->clnt, current_cred(), &opened.fh, &opened.state_id);
	if (err)
		return err;
	/* EBUSY: another open denies it */
	do {
		err = dafs_remove(r->clnt, current_cred(), &r->dir, &name, DAFS_REMOVE_UNCHECKED,
				  &change);
	} while (err == -EBUSY);
	return err;
}

static int dafs_remover_run(void *data)
{
	struct dafs_remover *r = data;
	int i;

	for (i = 0; (i < DAFS_REMOVER_ROUNDS || !READ_ONCE(r->stop)) && !r->err; i++)
		r->err = dafs_remover_round(r);
	complete(&r->done);
	return 0;
}

/* R-6.5.33-04: a file with a granted DELETE_DENY keeps its name until CLOSE. */
static void dafs_share_delete_race_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_open_args args = dafs_test_open_args("owner", DAFS_RD, 0);
	struct dafs_remover r = {
		.clnt = dafs_fixture_client(test, &fix->params),
		.dir = fix->dir,
	};
	struct qstr name = dafs_test_qstr("file");
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	unsigned int opens = 0, lost = 0;
	struct task_struct *task;
	struct dafs_open_res res;
	struct dafs_fh fh;

	args.delete_disp = DAFS_DELETE_DENY;
	init_completion(&r.done);
	task = kthread_run(dafs_remover_run, &r, "dafs_remover");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	do {
		WRITE_ONCE(r.stop, opens || time_after(jiffies, end));
		if (dafs_try_open(test, fix, "file", &args, &res)) {
			/* not always in the same step of the other one */
			usleep_range(10, 10 + get_random_u32_below(1000));
			continue;
		}
		opens++;
		lost += !!dafs_lookup(fix->clnt, dafs_test_me(), &fix->dir, &name, &fh);
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &res));
	} while (!completion_done(&r.done));
	wait_for_completion(&r.done);
	KUNIT_EXPECT_EQ(test, 0, r.err);
	KUNIT_EXPECT_EQ(test, 0, lost);
	KUNIT_EXPECT_GT(test, opens, 0);
}

static struct kunit_case dafs_share_cases[] = {
	KUNIT_CASE(dafs_share_owners_test),
	KUNIT_CASE(dafs_share_clients_test),
	KUNIT_CASE_PARAM(dafs_share_close_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_share_refused_test),
	KUNIT_CASE_PARAM(dafs_open_merge_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_open_merge_refused_test),
	KUNIT_CASE(dafs_open_two_handles_test),
	KUNIT_CASE(dafs_open_client_test),
	KUNIT_CASE_PARAM(dafs_share_key_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_share_key_also_test),
	KUNIT_CASE_PARAM(dafs_downgrade_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_downgrade_refused_test),
	KUNIT_CASE_PARAM(dafs_downgrade_key_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_downgrade_state_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_downgrade_removed_test),
	KUNIT_CASE_PARAM(dafs_anonymous_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_anonymous_under_way_test),
	KUNIT_CASE(dafs_share_delete_race_test),
	{}
};

static struct kunit_suite dafs_share_suite = {
	.name = "dafs_open_share",
	.test_cases = dafs_share_cases,
};

kunit_test_suite(dafs_share_suite);
