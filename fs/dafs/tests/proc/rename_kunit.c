// SPDX-License-Identifier: GPL-2.0
/* RENAME and CREATE: errors that name_kunit.c does not test. */
#include "../lib/fixture.h"

static struct dafs_fixture *dafs_rename_fixture(struct kunit *test)
{
	return dafs_fixture(test, test->param_value);
}

static dafs_status_t dafs_rename_in(struct kunit *test, struct dafs_fixture *fix,
				    const struct cred *cred, const struct dafs_fh *from,
				    const struct dafs_fh *to)
{
	struct dafs_rename_args args = {
		.sourcedir = *from,
		.targetdir = *to,
		.oldname = dafs_test_str("old"),
		.newname = dafs_test_str("new"),
	};
	struct dafs_rename_res res;

	return dafs_test_call(test, fix->clnt, cred, DAFS_PROC_RENAME, &args, &res);
}

static dafs_status_t dafs_rename_mkdir(struct kunit *test, struct dafs_fixture *fix,
				       const struct dafs_fh *dir)
{
	struct dafs_create_args args = {
		.filehandle = *dir,
		.component = dafs_test_str("made"),
		.obj_type = DAFS_TYPE_DIR,
	};
	struct dafs_create_res res;

	return dafs_test_call(test, fix->clnt, dafs_test_me(), DAFS_PROC_CREATE, &args, &res);
}

/* from/old, and to, which is empty; all users may write to both. */
static void dafs_rename_make_tree(struct kunit *test, struct dafs_fixture *fix,
				  struct dafs_fh *from, struct dafs_fh *to)
{
	dafs_backing_mkdir(test, fix, "from", 0777);
	dafs_backing_mkdir(test, fix, "to", 0777);
	dafs_backing_mkdir(test, fix, "from/old", 0777);
	*from = dafs_test_lookup(test, fix, "from");
	*to = dafs_test_lookup(test, fix, "to");
}

static void dafs_rename_expect_there(struct kunit *test, struct dafs_fixture *fix,
				     const char *there, const char *gone)
{
	struct kstat stat;

	KUNIT_EXPECT_EQ_MSG(test, 0, dafs_backing_stat(fix, there, &stat), "%s", there);
	KUNIT_EXPECT_EQ_MSG(test, -ENOENT, dafs_backing_stat(fix, gone, &stat), "%s", gone);
}

/* In a sticky directory only the owner may rename or replace an entry. */
static void dafs_rename_sticky_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_rename_fixture(test);
	const struct cred *user = dafs_fixture_user(test, 1000, 2000);
	struct dafs_fh from, to;

	dafs_rename_make_tree(test, fix, &from, &to);
	dafs_backing_chmod(test, fix, "from", 01777);
	DAFS_EXPECT_STATUS(test, DAFSERR_PERM, dafs_rename_in(test, fix, user, &from, &to));
	dafs_rename_expect_there(test, fix, "from/old", "to/new");
	dafs_backing_chown(test, fix, "from/old", 1000, 2000);
	dafs_backing_mkdir(test, fix, "to/new", 0755);
	dafs_backing_chmod(test, fix, "to", 01777);
	DAFS_EXPECT_STATUS(test, DAFSERR_PERM, dafs_rename_in(test, fix, user, &from, &to));
	dafs_backing_chown(test, fix, "to/new", 1000, 2000);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_rename_in(test, fix, user, &from, &to));
	dafs_rename_expect_there(test, fix, "to/new", "from/old");
}

/* To move a directory needs write permission to it, because its ".." changes. */
static void dafs_rename_parent_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_rename_fixture(test);
	const struct cred *user = dafs_fixture_user(test, 1000, 2000);
	struct dafs_fh from, to;

	dafs_rename_make_tree(test, fix, &from, &to);
	dafs_backing_chmod(test, fix, "from/old", 0755);
	DAFS_EXPECT_STATUS(test, DAFSERR_ACCES, dafs_rename_in(test, fix, user, &from, &to));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_rename_in(test, fix, user, &from, &from));
	dafs_rename_expect_there(test, fix, "from/new", "from/old");
}

/* Removed directories and forged handles, as source and as target. */
static void dafs_rename_handle_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_rename_fixture(test);
	struct dafs_fh from, to, gone, bad;

	dafs_rename_make_tree(test, fix, &from, &to);
	dafs_backing_mkdir(test, fix, "gone", 0777);
	gone = dafs_test_lookup(test, fix, "gone");
	dafs_backing_remove(fix, "gone");
	memset(&bad, 0xa5, sizeof(bad));
	DAFS_EXPECT_STATUS(test, DAFSERR_STALE,
			   dafs_rename_in(test, fix, dafs_test_me(), &gone, &to));
	DAFS_EXPECT_STATUS(test, DAFSERR_STALE,
			   dafs_rename_in(test, fix, dafs_test_me(), &from, &gone));
	DAFS_EXPECT_STATUS(test, DAFSERR_BADHANDLE,
			   dafs_rename_in(test, fix, dafs_test_me(), &bad, &to));
	DAFS_EXPECT_STATUS(test, DAFSERR_BADHANDLE,
			   dafs_rename_in(test, fix, dafs_test_me(), &from, &bad));
	DAFS_EXPECT_STATUS(test, DAFSERR_STALE, dafs_rename_mkdir(test, fix, &gone));
	DAFS_EXPECT_STATUS(test, DAFSERR_BADHANDLE, dafs_rename_mkdir(test, fix, &bad));
	dafs_rename_expect_there(test, fix, "from/old", "to/new");
}

#define EXT4_LINK_MAX	65000

/* Each subdirectory is a link to its parent, and ext4 limits the number of links. */
static void dafs_rename_links_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_rename_fixture(test);
	struct dafs_fh from, to;
	dafs_status_t renamed, made;
	struct path path;

	dafs_rename_make_tree(test, fix, &from, &to);
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_path(fix, "to", &path));
	inode_lock(d_inode(path.dentry));
	set_nlink(d_inode(path.dentry), EXT4_LINK_MAX);
	inode_unlock(d_inode(path.dentry));
	renamed = dafs_rename_in(test, fix, dafs_test_me(), &from, &to);
	made = dafs_rename_mkdir(test, fix, &to);
	inode_lock(d_inode(path.dentry));
	set_nlink(d_inode(path.dentry), 2);
	inode_unlock(d_inode(path.dentry));
	path_put(&path);
	DAFS_EXPECT_STATUS(test, DAFSERR_MLINK, renamed);
	DAFS_EXPECT_STATUS(test, DAFSERR_MLINK, made);
	dafs_rename_expect_there(test, fix, "from/old", "to/new");
	dafs_rename_expect_there(test, fix, "from/old", "to/made");
}

/* R-6.5.34-04: a directory replaces only an empty directory. */
static void dafs_rename_not_empty_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_rename_fixture(test);
	struct dafs_fh from, to;

	dafs_rename_make_tree(test, fix, &from, &to);
	dafs_backing_mkdir(test, fix, "to/new", 0755);
	dafs_backing_mkdir(test, fix, "to/new/inside", 0755);
	DAFS_EXPECT_STATUS(test, DAFSERR_EXIST,
			   dafs_rename_in(test, fix, dafs_test_me(), &from, &to));
	dafs_backing_remove(fix, "to/new/inside");
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_rename_in(test, fix, dafs_test_me(), &from, &to));
	dafs_rename_expect_there(test, fix, "to/new", "from/old");
}

static struct kunit_case dafs_rename_cases[] = {
	KUNIT_CASE(dafs_rename_sticky_test),
	KUNIT_CASE(dafs_rename_parent_test),
	KUNIT_CASE_PARAM(dafs_rename_handle_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_rename_links_test),
	KUNIT_CASE_PARAM(dafs_rename_not_empty_test, dafs_flavours_gen),
	{}
};

static struct kunit_suite dafs_rename_suite = {
	.name = "dafs_rename",
	.test_cases = dafs_rename_cases,
};

kunit_test_suite(dafs_rename_suite);
