// SPDX-License-Identifier: GPL-2.0
/* MIME_TYPE, which Linux keeps as user.mime_type. */
#include <linux/xattr.h>
#include "../lib/fixture.h"

#define MIME_NAME	"user.mime_type"
#define MIME_MAX	128

static struct dafs_fattr dafs_mime_attr(const char *type)
{
	return (struct dafs_fattr) {
		.included = DAFS_FATTR_MIME_TYPE,
		.valid = DAFS_FATTR_MIME_TYPE,
		.mime_type = dafs_test_str(type),
	};
}

static dafs_status_t dafs_mime_set(struct kunit *test, struct dafs_fixture *fix,
				   const struct cred *cred, const struct dafs_fh *fh,
				   const struct dafs_fattr *attr)
{
	struct dafs_setattr_inline_args args = { .filehandle = *fh, .obj_attributes = *attr };
	struct dafs_setattr_res res;

	return dafs_test_call(test, fix->clnt, cred, DAFS_PROC_SETATTR_INLINE, &args, &res);
}

/* The type that GETATTR returns; NULL if it is not valid. */
static char *dafs_mime_get(struct kunit *test, struct dafs_fixture *fix, const struct cred *cred,
			   const struct dafs_fh *fh)
{
	struct dafs_getattr_args args = {
		.filehandle = *fh,
		.attr_request_bitmap = DAFS_FATTR_MIME_TYPE,
	};
	struct dafs_getattr_res *res = kunit_kzalloc(test, sizeof(*res), GFP_KERNEL);
	char *type = kunit_kzalloc(test, MIME_MAX + 1, GFP_KERNEL);
	struct dafs_op op = {
		.cred = cred,
		.proc = DAFS_PROC_GETATTR_INLINE,
		.args = &args,
		.res = res,
	};
	struct dafs_fattr *attr = &res->obj_attributes;

	KUNIT_ASSERT_NOT_NULL(test, res);
	KUNIT_ASSERT_NOT_NULL(test, type);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_op(test, fix->clnt, &op));
	KUNIT_EXPECT_EQ(test, DAFS_FATTR_MIME_TYPE, attr->included);
	if (attr->valid)
		memcpy(type, attr->mime_type.data, min_t(u32, attr->mime_type.len, MIME_MAX));
	dafs_op_end(&op);
	return attr->valid ? type : NULL;
}

/* The xattr that local programs of the server see; empty if it does not exist. */
static void dafs_mime_expect_xattr(struct kunit *test, struct dafs_fixture *fix, const char *name,
				   const char *type)
{
	char value[MIME_MAX + 1] = {};
	struct path path;
	ssize_t len;

	KUNIT_ASSERT_EQ(test, 0, dafs_backing_path(fix, name, &path));
	len = vfs_getxattr(&nop_mnt_idmap, path.dentry, MIME_NAME, value, MIME_MAX);
	path_put(&path);
	KUNIT_EXPECT_EQ(test, *type ? (ssize_t)strlen(type) : -ENODATA, len);
	KUNIT_EXPECT_STREQ(test, type, value);
}

/* R-6.1.5-20: set, read, changed and removed. */
static void dafs_mime_test(struct kunit *test)
{
	static const char *const types[] = { "text/plain", "image/svg+xml", "", "a/b", "", "" };
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_fattr attr;
	struct dafs_fh fh;
	bool same = false;
	int i;

	dafs_backing_write(test, fix, "file", "file", 4);
	fh = dafs_test_lookup(test, fix, "file");
	KUNIT_EXPECT_STREQ(test, "", dafs_mime_get(test, fix, dafs_test_me(), &fh));
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		attr = dafs_mime_attr(types[i]);
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
				   dafs_mime_set(test, fix, dafs_test_me(), &fh, &attr));
		KUNIT_EXPECT_STREQ(test, types[i], dafs_mime_get(test, fix, dafs_test_me(), &fh));
		dafs_mime_expect_xattr(test, fix, "file", types[i]);
		KUNIT_EXPECT_EQ(test, 0, dafs_verify(fix->clnt, dafs_test_me(), &fh, &attr, &same));
		KUNIT_EXPECT_TRUE(test, same);
		attr = dafs_mime_attr("text/html");
		KUNIT_EXPECT_EQ(test, 0, dafs_verify(fix->clnt, dafs_test_me(), &fh, &attr, &same));
		KUNIT_EXPECT_FALSE(test, same);
	}
}

/* CREATE of a directory sets it; the maximum is 128 bytes. */
static void dafs_mime_create_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	char *longest = kunit_kzalloc(test, MIME_MAX + 2, GFP_KERNEL);
	struct dafs_node node = { .type = DAFS_TYPE_DIR };
	struct qstr name = dafs_test_qstr("dir");
	struct dafs_change_info change;
	struct dafs_fattr attr;
	struct dafs_fh fh;

	KUNIT_ASSERT_NOT_NULL(test, longest);
	memset(longest, 'm', MIME_MAX + 1);
	attr = dafs_mime_attr(longest);
	node.attr = &attr;
	KUNIT_EXPECT_EQ(test, -EINVAL, dafs_create(fix->clnt, dafs_test_me(), &fix->dir, &name,
						   &node, &fh, &change));
	longest[MIME_MAX] = 0;
	attr = dafs_mime_attr(longest);
	KUNIT_ASSERT_EQ(test, 0, dafs_create(fix->clnt, dafs_test_me(), &fix->dir, &name, &node,
					     &fh, &change));
	KUNIT_EXPECT_STREQ(test, longest, dafs_mime_get(test, fix, dafs_test_me(), &fh));
}

/* Read permission is needed to read it, write permission to set it. */
static void dafs_mime_rights_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	const struct cred *user = dafs_fixture_user(test, 1000, 2000);
	struct dafs_fattr attr = dafs_mime_attr("text/plain");
	struct dafs_fh fh;

	dafs_backing_write(test, fix, "file", "file", 4);
	fh = dafs_test_lookup(test, fix, "file");
	DAFS_EXPECT_STATUS(test, DAFSERR_ACCES, dafs_mime_set(test, fix, user, &fh, &attr));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_mime_set(test, fix, dafs_test_me(), &fh, &attr));
	KUNIT_EXPECT_STREQ(test, "text/plain", dafs_mime_get(test, fix, user, &fh));
	dafs_backing_chmod(test, fix, "file", 0600);
	KUNIT_EXPECT_NULL(test, dafs_mime_get(test, fix, user, &fh));
}

/* Links, devices and the root of the name space have none. */
static void dafs_mime_none_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_fattr attr = dafs_mime_attr("text/plain");
	struct dafs_fh fh;

	dafs_backing_symlink(test, fix, "link", "file");
	dafs_backing_mknod(test, fix, "fifo", S_IFIFO | 0600, 0);
	fh = dafs_test_lookup(test, fix, "link");
	KUNIT_EXPECT_STREQ(test, "", dafs_mime_get(test, fix, dafs_test_me(), &fh));
	DAFS_EXPECT_STATUS(test, DAFSERR_PERM,
			   dafs_mime_set(test, fix, dafs_test_me(), &fh, &attr));
	fh = dafs_test_lookup(test, fix, "fifo");
	DAFS_EXPECT_STATUS(test, DAFSERR_PERM,
			   dafs_mime_set(test, fix, dafs_test_me(), &fh, &attr));
	KUNIT_ASSERT_EQ(test, 0, dafs_get_root_handle(fix->clnt, dafs_test_me(), &fh));
	KUNIT_EXPECT_STREQ(test, "", dafs_mime_get(test, fix, dafs_test_me(), &fh));
	attr.mime_type.len = 2;
	attr.mime_type.data = "a\0";
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL,
			   dafs_mime_set(test, fix, dafs_test_me(), &fix->dir, &attr));
}

static struct kunit_case dafs_mime_cases[] = {
	KUNIT_CASE_PARAM(dafs_mime_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_mime_create_test),
	KUNIT_CASE(dafs_mime_rights_test),
	KUNIT_CASE(dafs_mime_none_test),
	{}
};

static struct kunit_suite dafs_mime_suite = {
	.name = "dafs_mime",
	.test_cases = dafs_mime_cases,
};

kunit_test_suite(dafs_mime_suite);
