// SPDX-License-Identifier: GPL-2.0
/*
 * Optional features: cache hints (6.1.8, 6.5.6), delegations (6.5.10, 6.5.11), named
 * attributes (6.5.25), batches (6.5.16), and how this server refuses those it lacks.
 */
#include "../lib/fixture.h"

/* Cache hints */

/**
 * struct absent_hint - a CACHE_HINT
 * @name: for the report
 * @pattern: access_pattern
 * @hint: cache_hint
 * @status: the answer
 */
struct absent_hint {
	const char *name;
	u32 pattern;
	u32 hint;
	dafs_status_t status;
};

/*
 * R-6.1.8-01 R-6.5.6-01 R-6.5.6-03 R-6.5.6-04: which bits exist, and which hints request
 * a prefetch that the server must answer (E-105)
 */
static const struct absent_hint absent_hints[] = {
	{ "none", 0, 0, DAFS_STATUS_OK },
	{ "the last pattern", 4, 0, DAFS_STATUS_OK },
	{ "no pattern", 5, 0, DAFSERR_INVAL },
	{ "a pattern beyond all", U32_MAX, 0, DAFSERR_INVAL },
	{ "not to be read again", 1, 0x02, DAFS_STATUS_OK },
	{ "both, as much as can be", 2, 0x7e, DAFS_STATUS_OK },
	{ "a bit that is none", 0, 0x80, DAFSERR_INVAL },
	{ "another", 0, 0x40000008, DAFSERR_INVAL },
	{ "prefetch", 3, 0x01, DAFSERR_PREFETCH_NOT_SUPPORTED },
	{ "prefetch, undecided", 0, 0x49, DAFSERR_PREFETCH_NOT_SUPPORTED },
	{ "prefetch, rather not to be read", 0, 0x07, DAFSERR_PREFETCH_NOT_SUPPORTED },
	{ "prefetch, rather not to be written", 0, 0x31, DAFSERR_PREFETCH_NOT_SUPPORTED },
	{ "prefetch, and read for sure", 0, 0x1f, DAFSERR_PREFETCH_NOT_SUPPORTED },
	{ "prefetch, and written for sure", 0, 0x73, DAFSERR_PREFETCH_NOT_SUPPORTED },
	{ "prefetch, rather neither", 0, 0x37, DAFS_STATUS_OK },
	{ "prefetch, surely neither", 0, 0x13, DAFS_STATUS_OK },
};

static dafs_status_t absent_cache_hint(struct kunit *test, struct dafs_fixture *fix,
				       const struct dafs_fh *fh, u32 pattern, u32 hint)
{
	struct dafs_cache_hint_args args = {
		.filehandle = *fh,
		.offset = 1,
		.count = 4,
		.access_pattern = pattern,
		.cache_hint = hint,
	};

	return dafs_test_call(test, fix->clnt, dafs_test_me(), DAFS_PROC_CACHE_HINT, &args, NULL);
}

static void dafs_absent_hint_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	const struct absent_hint *h;
	struct dafs_fh fh;
	dafs_status_t status;

	dafs_backing_write(test, fix, "file", "data", 4);
	fh = dafs_test_lookup(test, fix, "file");
	for (h = absent_hints; h < absent_hints + ARRAY_SIZE(absent_hints); h++) {
		status = absent_cache_hint(test, fix, &fh, h->pattern, h->hint);
		DAFS_EXPECT_STATUS_MSG(test, h->status, status, "%s", h->name);
	}
	dafs_backing_remove(fix, "file");
	DAFS_EXPECT_STATUS(test, DAFSERR_STALE, absent_cache_hint(test, fix, &fh, 0, 0));
	memset(&fh, 0xa5, sizeof(fh));
	DAFS_EXPECT_STATUS(test, DAFSERR_BADHANDLE, absent_cache_hint(test, fix, &fh, 0, 0));
}

static dafs_status_t absent_append(struct kunit *test, struct dafs_fixture *fix,
				   const struct dafs_fh *fh, u32 hint)
{
	struct dafs_append_inline_args args = {
		.filehandle = *fh,
		.stable_how = DAFS_DATA_SYNC,
		.byte_count = 1,
		.cache_hint = hint,
		.data = "+",
	};
	struct dafs_append_res res;

	return dafs_test_call(test, fix->clnt, dafs_test_me(), DAFS_PROC_APPEND_INLINE, &args,
			      &res);
}

/*
 * R-4.2.4-02 R-6.5.6-02: a hint that comes with data (prefetch, or an unknown value) does
 * not affect the transfer
 */
static void dafs_absent_data_hint_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_write_inline_args wr = { .byte_count = 4 };
	struct dafs_read_inline_args rd = { .byte_count = 5 };
	struct dafs_read_inline_res got;
	struct dafs_write_res put;
	u8 data[4], buf[5];
	u32 hint;

	for (hint = 0; hint <= 0x80; hint++) {
		memset(data, hint + 1, sizeof(data));
		dafs_backing_write(test, fix, "file", "", 0);
		wr.filehandle = dafs_test_lookup(test, fix, "file");
		wr.data = data;
		wr.cache_hint = hint;
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
				   dafs_test_write(test, fix->clnt, dafs_test_me(), &wr, &put));
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
				   absent_append(test, fix, &wr.filehandle, hint));
		rd.filehandle = wr.filehandle;
		rd.cache_hint = hint;
		DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
				   dafs_test_read(test, fix->clnt, dafs_test_me(), &rd, buf, &got));
		KUNIT_EXPECT_EQ(test, 5, got.bytes_read);
		KUNIT_EXPECT_MEMEQ(test, data, buf, 4);
		KUNIT_EXPECT_EQ(test, '+', buf[4]);
	}
}

/* Delegations */

static dafs_status_t absent_delegreturn(struct kunit *test, struct dafs_fixture *fix,
					const struct dafs_state_id *state_id)
{
	struct dafs_delegreturn_args args = { .state_id = *state_id };

	return dafs_test_call(test, fix->clnt, dafs_test_me(), DAFS_PROC_DELEGRETURN, &args, NULL);
}

/* R-6.5.11-02, and E-90: there is no delegation to purge or to return */
static void dafs_absent_delegation_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_open_args args = dafs_test_open_args("o", DAFS_OPEN_SHARE_ACCESS_READ, 0);
	struct dafs_state_id other = {};
	struct dafs_open_res open;

	dafs_backing_write(test, fix, "file", "data", 4);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, dafs_test_open(test, fix->clnt, dafs_test_me(),
								&fix->dir, "file", &args, &open));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_test_call(test, fix->clnt, dafs_test_me(), DAFS_PROC_DELEGPURGE,
					  NULL, NULL));
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_STATEID, absent_delegreturn(test, fix, &other));
	memset(&other, 0xff, sizeof(other));
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_STATEID, absent_delegreturn(test, fix, &other));
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_STATEID,
			   absent_delegreturn(test, fix, &open.state_id));
	/* a state-id of an earlier server instance */
	other = open.state_id;
	other.b[0] ^= 1;
	DAFS_EXPECT_STATUS(test, DAFSERR_STALE_STATEID, absent_delegreturn(test, fix, &other));
	/* the open is still valid */
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &open));
}

/* R-6.5.24-19 as in E-90: a delegation claim opens the file but gets no delegation */
static void dafs_absent_claim_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_open_args args = dafs_test_open_args("o", DAFS_OPEN_SHARE_ACCESS_BOTH, 0);
	struct dafs_open_res res;
	u32 type;

	dafs_backing_write(test, fix, "file", "data", 4);
	args.claim_type = DAFS_CLAIM_PREVIOUS;
	args.dir_handle = dafs_test_lookup(test, fix, "file");
	for (type = DAFS_OPEN_DELEGATE_NONE; type <= DAFS_OPEN_DELEGATE_WRITE; type++) {
		args.delegate_type = type;
		memset(&res, 0xff, sizeof(res));
		DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
				   dafs_test_call(test, fix->clnt, dafs_test_me(), DAFS_PROC_OPEN,
						  &args, &res));
		KUNIT_EXPECT_EQ(test, DAFS_OPEN_DELEGATE_NONE, res.delegation_type);
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &res));
	}
	args.delegate_type = type;
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL,
			   dafs_test_call(test, fix->clnt, dafs_test_me(), DAFS_PROC_OPEN, &args,
					  &res));
}

/* R-6.5.25-02 R-6.5.16-03: refused for every argument */
static void dafs_absent_proc_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_hurry_up_args hurry = { .request_id = 1 };
	struct dafs_fh_args args = { .filehandle = fix->dir };
	struct dafs_fh_res res;

	dafs_backing_write(test, fix, "file", "data", 4);
	DAFS_EXPECT_STATUS(test, DAFSERR_NOTSUPP,
			   dafs_test_call(test, fix->clnt, dafs_test_me(), DAFS_PROC_OPENATTR,
					  &args, &res));
	args.filehandle = dafs_test_lookup(test, fix, "file");
	DAFS_EXPECT_STATUS(test, DAFSERR_NOTSUPP,
			   dafs_test_call(test, fix->clnt, dafs_test_me(), DAFS_PROC_OPENATTR,
					  &args, &res));
	DAFS_EXPECT_STATUS(test, DAFSERR_NOTSUPP,
			   dafs_test_call(test, fix->clnt, dafs_test_me(), DAFS_PROC_HURRY_UP,
					  &hurry, NULL));
}

static struct kunit_case dafs_absent_cases[] = {
	KUNIT_CASE_PARAM(dafs_absent_hint_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_absent_data_hint_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_absent_delegation_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_absent_claim_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_absent_proc_test, dafs_flavours_gen),
	{}
};

static struct kunit_suite dafs_absent_suite = {
	.name = "dafs_absent",
	.test_cases = dafs_absent_cases,
};

kunit_test_suite(dafs_absent_suite);
