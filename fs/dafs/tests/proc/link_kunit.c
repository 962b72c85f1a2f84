// SPDX-License-Identifier: GPL-2.0
/* LINK: hard links, and objects that cannot have them. */
#include <linux/delay.h>
#include "../../../../drivers/dafsd/export/handle.h"
#include "../lib/fixture.h"

static struct dafs_fixture *dafs_link_fixture(struct kunit *test)
{
	return dafs_fixture(test, test->param_value);
}

static dafs_status_t dafs_link_in(struct kunit *test, struct dafs_fixture *fix,
				  const struct cred *cred, const struct dafs_fh *source,
				  const struct dafs_fh *dir, struct dafs_str name)
{
	struct dafs_link_args args = {
		.source_object = *source,
		.destination_object = *dir,
		.newname = name,
	};
	struct dafs_change_res res;

	return dafs_test_call(test, fix->clnt, cred, DAFS_PROC_LINK, &args, &res);
}

static dafs_status_t dafs_link_name(struct kunit *test, struct dafs_fixture *fix,
				    const struct dafs_fh *source, const char *name)
{
	return dafs_link_in(test, fix, dafs_test_me(), source, &fix->dir, dafs_test_str(name));
}

/**
 * struct dafs_link_attrs - attributes of an object
 * @file_id: DAFS_FATTR_FILE_ID
 * @change: DAFS_FATTR_CHANGE
 * @num_links: DAFS_FATTR_NUM_LINKS
 */
struct dafs_link_attrs {
	u64 file_id;
	u64 change;
	u32 num_links;
};

static noinline struct dafs_link_attrs dafs_link_attrs(struct kunit *test,
						       struct dafs_fixture *fix,
						       const struct dafs_fh *fh)
{
	const u64 which = DAFS_FATTR_FILE_ID | DAFS_FATTR_NUM_LINKS | DAFS_FATTR_CHANGE;
	struct dafs_fattr attr = {};
	struct dafs_ids ids;

	KUNIT_EXPECT_EQ(test, 0, dafs_getattr(fix->clnt, dafs_test_me(), fh, which, &attr, &ids));
	KUNIT_EXPECT_EQ(test, which, attr.valid);
	return (struct dafs_link_attrs){ attr.file_id, attr.change, attr.num_links };
}

static void dafs_link_expect_nlink(struct kunit *test, struct dafs_fixture *fix,
				   const char *name, unsigned int nlink)
{
	struct kstat stat = {};

	KUNIT_EXPECT_EQ(test, 0, dafs_backing_stat(fix, name, &stat));
	KUNIT_EXPECT_EQ_MSG(test, nlink, stat.nlink, "%s", name);
}

static void dafs_link_expect_gone(struct kunit *test, struct dafs_fixture *fix, const char *name)
{
	struct kstat stat;

	KUNIT_EXPECT_EQ(test, -ENOENT, dafs_backing_stat(fix, name, &stat));
}

/* file, fifo, chr, link -> file, dangling -> nowhere, and dir: one of each kind. */
static void dafs_link_make_tree(struct kunit *test, struct dafs_fixture *fix)
{
	dafs_backing_write(test, fix, "file", "file", 4);
	dafs_backing_mknod(test, fix, "fifo", S_IFIFO | 0600, 0);
	dafs_backing_mknod(test, fix, "chr", S_IFCHR | 0600, MKDEV(1, 3));
	dafs_backing_symlink(test, fix, "link", "file");
	dafs_backing_symlink(test, fix, "dangling", "nowhere");
	dafs_backing_mkdir(test, fix, "dir", 0755);
}

/*
 * R-6.1.5-10 R-6.5.17-01 R-6.5.17-05: every object but a directory gets a second name, with
 * the handle and the FILE_ID of the first; the response has the change of the directory.
 */
static void dafs_link_test(struct kunit *test)
{
	static const char *const names[] = { "file", "fifo", "chr", "link", "dangling" };
	struct dafs_fixture *fix = dafs_link_fixture(test);
	struct dafs_fh source, dir, found;
	struct dafs_change_info change;
	struct dafs_link_attrs before, after;
	struct qstr qname;
	char path[16];
	u64 dir_before;
	int i;

	dafs_link_make_tree(test, fix);
	dir = dafs_test_lookup(test, fix, "dir");
	/* ext4 does not count links as changes; its times show them after a clock tick */
	msleep(50);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		source = dafs_test_lookup(test, fix, names[i]);
		before = dafs_link_attrs(test, fix, &source);
		dir_before = dafs_link_attrs(test, fix, &dir).change;
		qname = dafs_test_qstr(names[i]);
		KUNIT_ASSERT_EQ(test, 0, dafs_link(fix->clnt, dafs_test_me(), &source, &dir,
						   &qname, &change));
		KUNIT_EXPECT_TRUE(test, change.atomic);
		KUNIT_EXPECT_EQ(test, dir_before, change.before);
		KUNIT_EXPECT_NE(test, dir_before, change.after);
		KUNIT_EXPECT_EQ(test, change.after, dafs_link_attrs(test, fix, &dir).change);
		snprintf(path, sizeof(path), "dir/%s", names[i]);
		found = dafs_test_lookup(test, fix, path);
		KUNIT_EXPECT_MEMEQ(test, &source, &found, sizeof(found));
		after = dafs_link_attrs(test, fix, &found);
		KUNIT_EXPECT_EQ(test, before.file_id, after.file_id);
		KUNIT_EXPECT_EQ(test, before.num_links + 1, after.num_links);
		KUNIT_EXPECT_NE(test, before.change, after.change);
		dafs_link_expect_nlink(test, fix, path, 2);
		dafs_link_expect_nlink(test, fix, names[i], 2);
	}
}

/* Both names have the same contents, and each stays if the other is removed. */
static void dafs_link_content_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_link_fixture(test);
	struct dafs_fh source;
	char data[8] = {};

	dafs_link_make_tree(test, fix);
	source = dafs_test_lookup(test, fix, "file");
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_link_name(test, fix, &source, "hard"));
	dafs_backing_write(test, fix, "hard", "other", 5);
	KUNIT_EXPECT_EQ(test, 5, dafs_backing_read(fix, "file", data, sizeof(data), 0));
	KUNIT_EXPECT_STREQ(test, "other", data);
	dafs_backing_remove(fix, "file");
	dafs_link_expect_nlink(test, fix, "hard", 1);
	KUNIT_EXPECT_EQ(test, 1, dafs_link_attrs(test, fix, &source).num_links);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_link_name(test, fix, &source, "file"));
	dafs_link_expect_nlink(test, fix, "file", 2);
}

/**
 * struct dafs_link_bad - an invalid name for a link
 * @name: the name; 256 of 'n' if it has no data
 * @status: the answer
 */
struct dafs_link_bad {
	struct dafs_str name;
	dafs_status_t status;
};

#define LINK_NAME(literal)	{ .len = sizeof(literal) - 1, .data = (const u8 *)(literal) }

static const struct dafs_link_bad dafs_link_bad_names[] = {
	{ LINK_NAME(""), DAFSERR_INVAL },
	{ LINK_NAME("."), DAFSERR_INVAL },
	{ LINK_NAME(".."), DAFSERR_INVAL },
	{ LINK_NAME("x/y"), DAFSERR_INVAL },
	{ LINK_NAME("x\0y"), DAFSERR_INVAL },
	{ LINK_NAME("\xc3\x28"), DAFSERR_INVAL },
	{ LINK_NAME("\xc0\xaf"), DAFSERR_INVAL },
	{ LINK_NAME("\xed\xa0\x80"), DAFSERR_INVAL },
	{ { .len = NAME_MAX + 1 }, DAFSERR_NAMETOOLONG },
};

/*
 * R-6.5.17-04 R-6.1.6-09: the same names are refused as for other procedures; 255
 * bytes are allowed.
 */
static void dafs_link_bad_name_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_link_fixture(test);
	u8 *longest = kunit_kzalloc(test, NAME_MAX + 2, GFP_KERNEL);
	const struct dafs_link_bad *bad = dafs_link_bad_names;
	struct dafs_str name;
	struct dafs_fh source;

	KUNIT_ASSERT_NOT_NULL(test, longest);
	memset(longest, 'n', NAME_MAX + 1);
	dafs_link_make_tree(test, fix);
	source = dafs_test_lookup(test, fix, "file");
	for (; bad < dafs_link_bad_names + ARRAY_SIZE(dafs_link_bad_names); bad++) {
		name = bad->name;
		if (!name.data)
			name.data = longest;
		DAFS_EXPECT_STATUS(test, bad->status,
				   dafs_link_in(test, fix, dafs_test_me(), &source, &fix->dir,
						name));
	}
	dafs_link_expect_nlink(test, fix, "file", 1);
	longest[NAME_MAX] = 0;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_link_name(test, fix, &source, (const char *)longest));
	dafs_link_expect_nlink(test, fix, (const char *)longest, 2);
}

/* R-6.5.17-04: existing names are refused, and their objects do not change. */
static void dafs_link_exists_test(struct kunit *test)
{
	static const char *const names[] = { "file", "fifo", "chr", "link", "dangling", "dir" };
	struct dafs_fixture *fix = dafs_link_fixture(test);
	struct dafs_fh source, fh;
	struct kstat stat;
	int i;

	dafs_link_make_tree(test, fix);
	source = dafs_test_lookup(test, fix, "file");
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		DAFS_EXPECT_STATUS(test, DAFSERR_EXIST,
				   dafs_link_name(test, fix, &source, names[i]));
		fh = dafs_test_lookup(test, fix, names[i]);
		KUNIT_ASSERT_EQ(test, 0, dafs_backing_stat(fix, names[i], &stat));
		KUNIT_EXPECT_EQ(test, stat.ino, dafs_link_attrs(test, fix, &fh).file_id);
	}
	dafs_link_expect_nlink(test, fix, "file", 1);
	dafs_link_expect_gone(test, fix, "nowhere");
}

/* R-6.5.17-04: a source that is a directory, and a target that is not a directory (E-94). */
static void dafs_link_kind_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_link_fixture(test);
	struct dafs_fh source, dir, link, root;

	dafs_link_make_tree(test, fix);
	source = dafs_test_lookup(test, fix, "file");
	dir = dafs_test_lookup(test, fix, "dir");
	link = dafs_test_lookup(test, fix, "link");
	KUNIT_ASSERT_EQ(test, 0, dafs_get_root_handle(fix->clnt, dafs_test_me(), &root));
	DAFS_EXPECT_STATUS(test, DAFSERR_ISDIR, dafs_link_name(test, fix, &dir, "new"));
	DAFS_EXPECT_STATUS(test, DAFSERR_ISDIR, dafs_link_name(test, fix, &root, "new"));
	DAFS_EXPECT_STATUS(test, DAFSERR_NOTDIR,
			   dafs_link_in(test, fix, dafs_test_me(), &source, &source,
					dafs_test_str("new")));
	DAFS_EXPECT_STATUS(test, DAFSERR_NOTDIR,
			   dafs_link_in(test, fix, dafs_test_me(), &source, &link,
					dafs_test_str("new")));
	dafs_link_expect_gone(test, fix, "new");
	dafs_link_expect_nlink(test, fix, "file", 1);
}

/*
 * An object in another export is refused without access to that export, whose file system
 * may be frozen.  So the object need not exist.
 */
static void dafs_link_blind_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_link_fixture(test);
	struct dafs_fixture *ro = dafs_fixture_in(test, test->param_value, DAFS_TEST_RO);
	struct dafs_rename_args rename = {
		.oldname = dafs_test_str("old"),
		.targetdir = fix->dir,
		.newname = dafs_test_str("new"),
	};
	struct dafs_fh none = ro->dir;
	struct dafs_rename_res res;

	/* the highest byte of the number of an inode */
	none.fileid[7] ^= 0x7f;
	dafsd_fh_sign(&none);
	DAFS_EXPECT_STATUS(test, DAFSERR_XDEV,
			   dafs_link_in(test, fix, dafs_test_me(), &none, &fix->dir,
					dafs_test_str("new")));
	rename.sourcedir = none;
	DAFS_EXPECT_STATUS(test, DAFSERR_XDEV,
			   dafs_test_call(test, fix->clnt, dafs_test_me(), DAFS_PROC_RENAME,
					  &rename, &res));
	rename.sourcedir = fix->dir;
	rename.targetdir = none;
	DAFS_EXPECT_STATUS(test, DAFSERR_XDEV,
			   dafs_test_call(test, fix->clnt, dafs_test_me(), DAFS_PROC_RENAME,
					  &rename, &res));
	rename.sourcedir = none;
	DAFS_EXPECT_STATUS(test, DAFSERR_STALE,
			   dafs_test_call(test, fix->clnt, dafs_test_me(), DAFS_PROC_RENAME,
					  &rename, &res));
}

/* R-6.5.17-02: each export and the pseudo file system is a file system of its own. */
static void dafs_link_xdev_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_link_fixture(test);
	struct dafs_fixture *ro = dafs_fixture_in(test, test->param_value, DAFS_TEST_RO);
	struct dafs_fixture *squash = dafs_fixture_in(test, test->param_value, DAFS_TEST_SQUASH);
	struct dafs_fh source, root;

	dafs_link_make_tree(test, fix);
	source = dafs_test_lookup(test, fix, "file");
	KUNIT_ASSERT_EQ(test, 0, dafs_get_root_handle(fix->clnt, dafs_test_me(), &root));
	DAFS_EXPECT_STATUS(test, DAFSERR_XDEV,
			   dafs_link_in(test, fix, dafs_test_me(), &source, &squash->dir,
					dafs_test_str("new")));
	DAFS_EXPECT_STATUS(test, DAFSERR_XDEV,
			   dafs_link_in(test, fix, dafs_test_me(), &source, &root,
					dafs_test_str("new")));
	dafs_link_expect_gone(test, squash, "new");
	/* one file system at the server, but two in the protocol */
	dafs_backing_write(test, ro, "file", "data", 4);
	source = dafs_test_lookup(test, ro, "file");
	DAFS_EXPECT_STATUS(test, DAFSERR_XDEV,
			   dafs_link_in(test, ro, dafs_test_me(), &source, &squash->dir,
					dafs_test_str("new")));
	dafs_link_expect_gone(test, squash, "new");
}

/* Refused without write permission to the directory, and in a read-only export. */
static void dafs_link_rights_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_link_fixture(test);
	struct dafs_fixture *ro = dafs_fixture_in(test, test->param_value, DAFS_TEST_RO);
	const struct cred *user = dafs_fixture_user(test, 1000, 2000);
	struct dafs_fh source, dir;

	dafs_link_make_tree(test, fix);
	source = dafs_test_lookup(test, fix, "file");
	dir = dafs_test_lookup(test, fix, "dir");
	DAFS_EXPECT_STATUS(test, DAFSERR_ACCES,
			   dafs_link_in(test, fix, user, &source, &dir, dafs_test_str("new")));
	dafs_link_expect_gone(test, fix, "dir/new");
	dafs_backing_chmod(test, fix, "dir", 0777);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_link_in(test, fix, user, &source, &dir, dafs_test_str("new")));
	dafs_link_expect_nlink(test, fix, "dir/new", 2);
	dafs_backing_write(test, ro, "file", "data", 4);
	source = dafs_test_lookup(test, ro, "file");
	DAFS_EXPECT_STATUS(test, DAFSERR_ROFS, dafs_link_name(test, ro, &source, "new"));
	dafs_link_expect_gone(test, ro, "new");
}

/* Handles that this server did not make, of a removed object, and of a file without a name. */
static void dafs_link_handle_test(struct kunit *test)
{
	struct dafs_open_args args = dafs_test_open_args("o", DAFS_OPEN_SHARE_ACCESS_READ, 0);
	struct dafs_fixture *fix = dafs_link_fixture(test);
	struct dafs_open_res open = {};
	struct dafs_fh bad, gone;

	dafs_link_make_tree(test, fix);
	memset(&bad, 0xa5, sizeof(bad));
	DAFS_EXPECT_STATUS(test, DAFSERR_BADHANDLE, dafs_link_name(test, fix, &bad, "new"));
	gone = dafs_test_lookup(test, fix, "fifo");
	DAFS_EXPECT_STATUS(test, DAFSERR_BADHANDLE,
			   dafs_link_in(test, fix, dafs_test_me(), &gone, &bad,
					dafs_test_str("new")));
	dafs_backing_remove(fix, "fifo");
	DAFS_EXPECT_STATUS(test, DAFSERR_STALE, dafs_link_name(test, fix, &gone, "new"));
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, dafs_test_open(test, fix->clnt, dafs_test_me(),
								&fix->dir, "file", &args, &open));
	dafs_backing_remove(fix, "file");
	DAFS_EXPECT_STATUS(test, DAFSERR_STALE,
			   dafs_link_name(test, fix, &open.filehandle, "new"));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &open));
	dafs_link_expect_gone(test, fix, "new");
}

#define EXT4_LINK_MAX	65000

/* The maximum of links; the link count is set, because making them takes too long. */
static void dafs_link_most_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_link_fixture(test);
	struct dafs_fh source;
	struct inode *inode;
	struct path path;
	dafs_status_t status;

	dafs_link_make_tree(test, fix);
	source = dafs_test_lookup(test, fix, "file");
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_path(fix, "file", &path));
	inode = d_inode(path.dentry);
	inode_lock(inode);
	set_nlink(inode, EXT4_LINK_MAX);
	inode_unlock(inode);
	status = dafs_link_name(test, fix, &source, "new");
	inode_lock(inode);
	set_nlink(inode, 1);
	inode_unlock(inode);
	path_put(&path);
	DAFS_EXPECT_STATUS(test, DAFSERR_MLINK, status);
	dafs_link_expect_gone(test, fix, "new");
}

/*
 * In an export that is a subdirectory, a handle contains the directory too:
 * each name has its own handle, although they are one file.
 */
static void dafs_link_squash_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture_in(test, test->param_value, DAFS_TEST_SQUASH);
	struct dafs_fh source, dir, found;

	dafs_link_make_tree(test, fix);
	dafs_backing_chmod(test, fix, "dir", 0777);
	source = dafs_test_lookup(test, fix, "file");
	dir = dafs_test_lookup(test, fix, "dir");
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_link_in(test, fix, dafs_test_me(), &source, &dir,
					dafs_test_str("new")));
	found = dafs_test_lookup(test, fix, "dir/new");
	KUNIT_EXPECT_MEMNEQ(test, &source, &found, sizeof(found));
	KUNIT_EXPECT_EQ(test, dafs_link_attrs(test, fix, &source).file_id,
			dafs_link_attrs(test, fix, &found).file_id);
	KUNIT_EXPECT_EQ(test, 2, dafs_link_attrs(test, fix, &found).num_links);
}

static struct kunit_case dafs_link_cases[] = {
	KUNIT_CASE_PARAM(dafs_link_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_link_content_test),
	KUNIT_CASE_PARAM(dafs_link_bad_name_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_link_exists_test),
	KUNIT_CASE(dafs_link_kind_test),
	KUNIT_CASE(dafs_link_xdev_test),
	KUNIT_CASE(dafs_link_blind_test),
	KUNIT_CASE(dafs_link_rights_test),
	KUNIT_CASE(dafs_link_handle_test),
	KUNIT_CASE(dafs_link_most_test),
	KUNIT_CASE(dafs_link_squash_test),
	{}
};

static struct kunit_suite dafs_link_suite = {
	.name = "dafs_link",
	.test_cases = dafs_link_cases,
};

kunit_test_suite(dafs_link_suite);
