// SPDX-License-Identifier: GPL-2.0
/* OPEN with CLAIM_CREATE_UNLINKED: files that have no name (6.5.24, E-75). */
#include "../lib/fixture.h"

#define DAFS_RW	DAFS_OPEN_SHARE_ACCESS_BOTH

static struct dafs_open_args dafs_unlinked_args(const struct dafs_fh *dir)
{
	struct dafs_open_args args = dafs_test_open_args("owner", DAFS_RW, 0);

	args.claim_type = DAFS_CLAIM_CREATE_UNLINKED;
	args.dir_handle = *dir;
	args.open_type = DAFS_OPEN_CREATE;
	args.createmode = DAFS_CREATE_UNCHECKED;
	return args;
}

static dafs_status_t dafs_unlinked_try(struct kunit *test, struct dafs_fixture *fix,
				       const struct cred *cred, struct dafs_open_args *args,
				       struct dafs_open_res *res)
{
	memset(res, 0, sizeof(*res));
	return dafs_test_call(test, fix->clnt, cred, DAFS_PROC_OPEN, args, res);
}

static struct dafs_open_res dafs_unlinked_make(struct kunit *test, struct dafs_fixture *fix,
					       struct dafs_open_args *args)
{
	struct dafs_open_res res;

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   dafs_unlinked_try(test, fix, dafs_test_me(), args, &res));
	return res;
}

static dafs_status_t dafs_unlinked_getattr(struct kunit *test, struct dafs_fixture *fix,
					   const struct dafs_fh *fh, struct dafs_fattr *attr)
{
	struct dafs_getattr_args args = {
		.filehandle = *fh,
		.attr_request_bitmap = DAFS_FATTR_OBJECT_TYPE | DAFS_FATTR_MODE |
				       DAFS_FATTR_NUM_LINKS | DAFS_FATTR_OBJECT_SIZE |
				       DAFS_FATTR_CHANGE,
	};
	struct dafs_getattr_res res = {};
	dafs_status_t status = dafs_test_call(test, fix->clnt, dafs_test_me(),
					      DAFS_PROC_GETATTR_INLINE, &args, &res);

	*attr = res.obj_attributes;
	return status;
}

static dafs_status_t dafs_unlinked_write(struct kunit *test, struct dafs_fixture *fix,
					 const struct dafs_open_res *open)
{
	struct dafs_write_inline_args args = {
		.filehandle = open->filehandle,
		.state_id = open->state_id,
		.byte_count = 7,
		.stable_how = DAFS_FILE_SYNC,
		.data = "content",
	};
	struct dafs_write_res res;

	return dafs_test_write(test, fix->clnt, dafs_test_me(), &args, &res);
}

static dafs_status_t dafs_unlinked_read(struct kunit *test, struct dafs_fixture *fix,
					const struct dafs_open_res *open)
{
	struct dafs_read_inline_args args = {
		.filehandle = open->filehandle,
		.state_id = open->state_id,
		.byte_count = 7,
	};
	struct dafs_read_inline_res res;
	char buf[8] = {};
	dafs_status_t status = dafs_test_read(test, fix->clnt, dafs_test_me(), &args, buf, &res);

	if (!status)
		KUNIT_EXPECT_STREQ(test, "content", buf);
	return status;
}

/* R-6.5.24-23: a regular file with the given attributes and no directory entry. */
static void dafs_unlinked_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_open_args args = dafs_unlinked_args(&fix->dir);
	struct dafs_fattr dir, attr;
	struct dafs_open_res open;

	args.createattrs.included = DAFS_FATTR_MODE;
	args.createattrs.valid = DAFS_FATTR_MODE;
	args.createattrs.mode = 0664;
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   dafs_unlinked_getattr(test, fix, &fix->dir, &dir));
	open = dafs_unlinked_make(test, fix, &args);
	KUNIT_EXPECT_EQ(test, 0, open.component_count);
	KUNIT_EXPECT_EQ(test, DAFS_OPEN_DELEGATE_NONE, open.delegation_type);
	KUNIT_EXPECT_EQ(test, dir.change, open.change_info.before);
	KUNIT_EXPECT_EQ(test, dir.change, open.change_info.after);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_unlinked_write(test, fix, &open));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_unlinked_read(test, fix, &open));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_unlinked_getattr(test, fix, &open.filehandle, &attr));
	KUNIT_EXPECT_EQ(test, DAFS_TYPE_REG, attr.object_type);
	KUNIT_EXPECT_EQ(test, 0664, attr.mode);
	KUNIT_EXPECT_EQ(test, 0, attr.num_links);
	KUNIT_EXPECT_EQ(test, 7, attr.object_size);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_unlinked_getattr(test, fix, &fix->dir, &dir));
	KUNIT_EXPECT_EQ(test, dir.change, open.change_info.after);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &open));
	DAFS_EXPECT_STATUS(test, DAFSERR_STALE,
			   dafs_unlinked_getattr(test, fix, &open.filehandle, &attr));
}

/* It exists until the last CLOSE; others open it by its filehandle. */
static void dafs_unlinked_last_close_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_open_args args = dafs_unlinked_args(&fix->dir);
	struct dafs_open_res one, two;

	one = dafs_unlinked_make(test, fix, &args);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_unlinked_write(test, fix, &one));
	args.claim_type = DAFS_CLAIM_PREVIOUS;
	args.open_type = DAFS_OPEN_NOCREATE;
	args.owner = dafs_test_str("other");
	args.dir_handle = one.filehandle;
	two = dafs_unlinked_make(test, fix, &args);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &one));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_unlinked_read(test, fix, &two));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &two));
	DAFS_EXPECT_STATUS(test, DAFSERR_STALE,
			   dafs_unlinked_try(test, fix, dafs_test_me(), &args, &two));
}

/* One owner may have several. */
static void dafs_unlinked_two_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_open_args args = dafs_unlinked_args(&fix->dir);
	struct dafs_open_res one, two;

	one = dafs_unlinked_make(test, fix, &args);
	two = dafs_unlinked_make(test, fix, &args);
	KUNIT_EXPECT_MEMNEQ(test, &one.filehandle, &two.filehandle, sizeof(one.filehandle));
	KUNIT_EXPECT_MEMNEQ(test, &one.state_id, &two.state_id, sizeof(one.state_id));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_unlinked_write(test, fix, &two));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &one));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_unlinked_read(test, fix, &two));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &two));
}

/* Without attributes it is private; with squashed root its owner is the anonymous user. */
static void dafs_unlinked_squash_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture_in(test, NULL, DAFS_TEST_SQUASH);
	struct dafs_open_args args = dafs_unlinked_args(&fix->dir);
	struct dafs_fattr attr = {};
	struct dafs_open_res open;
	struct dafs_ids ids;

	open = dafs_unlinked_make(test, fix, &args);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_unlinked_write(test, fix, &open));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_unlinked_read(test, fix, &open));
	KUNIT_EXPECT_EQ(test, 0, dafs_getattr(fix->clnt, dafs_test_me(), &open.filehandle,
					      DAFS_FATTR_MODE | DAFS_FATTR_OWNER, &attr, &ids));
	KUNIT_EXPECT_EQ(test, 0600, attr.mode);
	KUNIT_EXPECT_EQ(test, 65534, ids.uid);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &open));
}

/* Only UNCHECKED creation makes such a file (E-75), and only in a writable directory. */
static void dafs_unlinked_refused_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_fixture *ro = dafs_fixture_in(test, NULL, DAFS_TEST_RO);
	const struct cred *user = dafs_fixture_user(test, 1000, 1000);
	struct dafs_open_args args = dafs_unlinked_args(&fix->dir);
	struct dafs_open_res res;

	args.open_type = DAFS_OPEN_NOCREATE;
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL,
			   dafs_unlinked_try(test, fix, dafs_test_me(), &args, &res));
	args.open_type = DAFS_OPEN_CREATE;
	args.createmode = DAFS_CREATE_GUARDED;
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL,
			   dafs_unlinked_try(test, fix, dafs_test_me(), &args, &res));
	args.createmode = DAFS_CREATE_EXCLUSIVE;
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL,
			   dafs_unlinked_try(test, fix, dafs_test_me(), &args, &res));
	args = dafs_unlinked_args(&fix->dir);
	args.createattrs.included = DAFS_FATTR_FILE_ID;
	args.createattrs.valid = DAFS_FATTR_FILE_ID;
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL,
			   dafs_unlinked_try(test, fix, dafs_test_me(), &args, &res));
	dafs_backing_mkdir(test, fix, "dir", 0755);
	args = dafs_unlinked_args(&fix->dir);
	args.dir_handle = dafs_test_lookup(test, fix, "dir");
	DAFS_EXPECT_STATUS(test, DAFSERR_ACCES, dafs_unlinked_try(test, fix, user, &args, &res));
	dafs_backing_write(test, fix, "file", "x", 1);
	args.dir_handle = dafs_test_lookup(test, fix, "file");
	DAFS_EXPECT_STATUS(test, DAFSERR_NOTDIR,
			   dafs_unlinked_try(test, fix, dafs_test_me(), &args, &res));
	memset(&args.dir_handle, 0, sizeof(args.dir_handle));
	DAFS_EXPECT_STATUS(test, DAFSERR_BADHANDLE,
			   dafs_unlinked_try(test, fix, dafs_test_me(), &args, &res));
	KUNIT_ASSERT_EQ(test, 0, dafs_get_root_handle(fix->clnt, dafs_test_me(), &args.dir_handle));
	DAFS_EXPECT_STATUS(test, DAFSERR_ROFS,
			   dafs_unlinked_try(test, fix, dafs_test_me(), &args, &res));
	args.dir_handle = ro->dir;
	DAFS_EXPECT_STATUS(test, DAFSERR_ROFS,
			   dafs_unlinked_try(test, ro, dafs_test_me(), &args, &res));
}

/* The client's stub */
static void dafs_unlinked_stub_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_fattr attr = {
		.included = DAFS_FATTR_MODE,
		.valid = DAFS_FATTR_MODE,
		.mode = 0640,
	};
	struct dafs_open_how how = {
		.owner = dafs_test_str("owner"),
		.access = DAFS_RW,
		.mode = DAFS_CREATE_UNCHECKED,
		.attr = &attr,
	};
	struct dafs_opened opened;
	struct dafs_fattr got;

	KUNIT_ASSERT_EQ(test, 0, dafs_open_unlinked(fix->clnt, dafs_test_me(), &fix->dir, &how,
						    &opened));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_unlinked_getattr(test, fix, &opened.fh, &got));
	KUNIT_EXPECT_EQ(test, 0640, got.mode);
	KUNIT_EXPECT_EQ(test, 0, got.num_links);
	KUNIT_EXPECT_EQ(test, 0, dafs_close(fix->clnt, dafs_test_me(), &opened.fh,
					    &opened.state_id));
}

static struct kunit_case dafs_unlinked_cases[] = {
	KUNIT_CASE_PARAM(dafs_unlinked_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_unlinked_last_close_test),
	KUNIT_CASE(dafs_unlinked_two_test),
	KUNIT_CASE(dafs_unlinked_squash_test),
	KUNIT_CASE(dafs_unlinked_refused_test),
	KUNIT_CASE_PARAM(dafs_unlinked_stub_test, dafs_flavours_gen),
	{}
};

static struct kunit_suite dafs_unlinked_suite = {
	.name = "dafs_open_unlinked",
	.test_cases = dafs_unlinked_cases,
};

kunit_test_suite(dafs_unlinked_suite);
