// SPDX-License-Identifier: GPL-2.0
/* What the suites of OPEN and CLOSE have in common. */
#include "open_test.h"

dafs_status_t dafs_try_open(struct kunit *test, struct dafs_fixture *fix, const char *path,
			    const struct dafs_open_args *args, struct dafs_open_res *res)
{
	memset(res, 0, sizeof(*res));
	return dafs_test_open(test, fix->clnt, dafs_test_me(), &fix->dir, path, args, res);
}

struct dafs_open_res dafs_must_open(struct kunit *test, struct dafs_fixture *fix,
				    const char *path, const struct dafs_open_args *args)
{
	struct dafs_open_res res;

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, dafs_try_open(test, fix, path, args, &res));
	return res;
}

struct dafs_open_args dafs_create_open_args(u32 mode)
{
	struct dafs_open_args args = dafs_test_open_args("owner", DAFS_RW, 0);

	args.open_type = DAFS_OPEN_CREATE;
	args.createmode = mode;
	return args;
}

struct dafs_client *dafs_other_client(struct kunit *test, struct dafs_fixture *fix)
{
	struct dafs_client_params params = fix->params;

	strscpy(params.client_id, "another client of the KUnit suites", sizeof(params.client_id));
	return dafs_fixture_client(test, &params);
}

bool dafs_same_state(const struct dafs_open_res *a, const struct dafs_open_res *b)
{
	return dafs_opaque64_equal(&a->state_id, &b->state_id);
}

dafs_status_t dafs_try_read(struct kunit *test, struct dafs_client *clnt, const struct dafs_fh *fh,
			    const struct dafs_state_id *state_id)
{
	struct dafs_read_inline_args args = {
		.filehandle = *fh,
		.state_id = *state_id,
		.byte_count = 1,
	};
	struct dafs_read_inline_res res;
	u8 byte;

	return dafs_test_read(test, clnt, dafs_test_me(), &args, &byte, &res);
}

dafs_status_t dafs_try_write(struct kunit *test, struct dafs_client *clnt, const struct dafs_fh *fh,
			     const struct dafs_state_id *state_id)
{
	struct dafs_write_inline_args args = {
		.filehandle = *fh,
		.state_id = *state_id,
		.byte_count = 1,
		.data = "w",
	};
	struct dafs_write_res res;

	return dafs_test_write(test, clnt, dafs_test_me(), &args, &res);
}

void dafs_expect_content(struct kunit *test, struct dafs_fixture *fix, const char *name,
			 const char *content)
{
	char buf[32] = {};

	KUNIT_EXPECT_EQ(test, strlen(content), dafs_backing_read(fix, name, buf, sizeof(buf), 0));
	KUNIT_EXPECT_STREQ(test, content, buf);
}

dafs_status_t dafs_share_on(struct kunit *test, struct dafs_fixture *fix, struct dafs_client *clnt,
			    const struct dafs_opener *who, struct dafs_open_res *res)
{
	struct dafs_open_args args = dafs_test_open_args(who->owner, who->share_access,
							 who->share_deny);

	args.share_key_type = who->share_key_type;
	args.share_key = who->share_key;
	memset(res, 0, sizeof(*res));
	return dafs_test_open(test, clnt, dafs_test_me(), &fix->dir, "file", &args, res);
}

dafs_status_t dafs_share(struct kunit *test, struct dafs_fixture *fix,
			 const struct dafs_opener *who, struct dafs_open_res *res)
{
	return dafs_share_on(test, fix, fix->clnt, who, res);
}

struct dafs_open_res dafs_must_share(struct kunit *test, struct dafs_fixture *fix,
				     const struct dafs_opener *who)
{
	struct dafs_open_res res;

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, dafs_share(test, fix, who, &res));
	return res;
}

struct dafs_open_res dafs_forge_state(const struct dafs_open_res *open, int bit)
{
	struct dafs_open_res forged = *open;

	forged.state_id.b[bit / 8] ^= 1 << bit % 8;
	return forged;
}

struct dafs_open_res dafs_new_file(struct kunit *test, struct dafs_fixture *fix,
				   const char *name)
{
	struct dafs_open_args args = dafs_create_open_args(DAFS_CREATE_GUARDED);

	return dafs_must_open(test, fix, name, &args);
}
