// SPDX-License-Identifier: GPL-2.0
/*
 * The name space above the exports: pseudo directories and exports inside of
 * exports, also while exports are enabled and disabled.
 *
 * The server exports directories of the tests.
 */
#include <linux/dcache.h>
#include <linux/slab.h>
#include "../../../../drivers/dafsd/export/export.h"
#include "../lib/fixture.h"

static struct dafs_fixture *dafs_ps_fixture(struct kunit *test)
{
	static const char *const dirs[] = { "one", "one/in", "one/in/deep", "two", "three" };
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	int i;

	for (i = 0; i < ARRAY_SIZE(dirs); i++)
		dafs_backing_mkdir(test, fix, dirs[i], 0755);
	dafs_backing_write(test, fix, "one/file", "1", 1);
	dafs_backing_write(test, fix, "two/file", "2", 1);
	return fix;
}

static struct dafsd_export *dafs_ps_try(struct kunit *test, struct dafs_fixture *fix,
					const char *name, const char *dir)
{
	const struct dafsd_export_conf conf = { .subtree_check = true };

	return dafs_fixture_serve(test, fix, name, dir, &conf);
}

static void dafs_ps_withdraw(void *exp)
{
	dafsd_export_withdraw(exp);
}

static struct dafsd_export *dafs_ps_serve(struct kunit *test, struct dafs_fixture *fix,
					  const char *name, const char *dir)
{
	struct dafsd_export *exp = dafs_ps_try(test, fix, name, dir);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, exp);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, dafs_ps_withdraw, exp));
	return exp;
}

static void dafs_ps_end(struct kunit *test, struct dafsd_export *exp)
{
	kunit_release_action(test, dafs_ps_withdraw, exp);
}

/* LOOKUP of a path from the root; @fh is left alone if it fails. */
static dafs_status_t dafs_ps_lookup(struct kunit *test, struct dafs_fixture *fix, const char *path,
				    struct dafs_fh *fh)
{
	struct dafs_str names[DAFS_TEST_NAMES];
	struct dafs_lookup_args args = {
		.path = {
			.count = dafs_test_split(path, names, ARRAY_SIZE(names)),
			.elems = names,
		},
	};
	struct dafs_lookup_res res = {};
	dafs_status_t status;

	KUNIT_ASSERT_EQ(test, 0, dafs_get_root_handle(fix->clnt, dafs_test_me(), &args.directory));
	status = dafs_test_call(test, fix->clnt, dafs_test_me(), DAFS_PROC_LOOKUP, &args, &res);
	if (!status)
		*fh = res.filehandle;
	return status;
}

static struct dafs_fh dafs_ps_find(struct kunit *test, struct dafs_fixture *fix, const char *path)
{
	struct dafs_fh fh = {};

	if (!*path)
		KUNIT_EXPECT_EQ(test, 0, dafs_get_root_handle(fix->clnt, dafs_test_me(), &fh));
	else
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_ps_lookup(test, fix, path, &fh));
	return fh;
}

static bool dafs_ps_same_fs(const struct dafs_fh *a, const struct dafs_fh *b)
{
	return !memcmp(a->fshandle, b->fshandle, sizeof(a->fshandle));
}

static dafs_status_t dafs_ps_getattr(struct kunit *test, struct dafs_fixture *fix,
				     const struct dafs_fh *fh, struct dafs_fattr *attr)
{
	struct dafs_getattr_args args = {
		.filehandle = *fh,
		.attr_request_bitmap = DAFS_FATTR_OBJECT_TYPE | DAFS_FATTR_MODE |
				       DAFS_FATTR_FILE_ID | DAFS_FATTR_FILEHANDLE |
				       DAFS_FATTR_CHANGE,
	};
	struct dafs_getattr_res res = {};
	dafs_status_t status = dafs_test_call(test, fix->clnt, dafs_test_me(),
					      DAFS_PROC_GETATTR_INLINE, &args, &res);

	*attr = res.obj_attributes;
	return status;
}

static void dafs_ps_expect(struct kunit *test, struct dafs_fixture *fix, const struct dafs_fh *fh,
			   dafs_status_t status)
{
	struct dafs_fattr attr;

	DAFS_EXPECT_STATUS(test, status, dafs_ps_getattr(test, fix, fh, &attr));
}

/* A pseudo directory: read-only, with a filehandle of its own. */
static u64 dafs_ps_expect_pseudo(struct kunit *test, struct dafs_fixture *fix,
				 const struct dafs_fh *fh)
{
	struct dafs_fattr attr;
	struct dafs_fsattr fsattr = {};

	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_ps_getattr(test, fix, fh, &attr));
	KUNIT_EXPECT_EQ(test, DAFS_TYPE_DIR, attr.object_type);
	KUNIT_EXPECT_EQ(test, 0555, attr.mode);
	KUNIT_EXPECT_MEMEQ(test, &attr.filehandle, fh, sizeof(*fh));
	KUNIT_EXPECT_EQ(test, 0, dafs_get_fsattr(fix->clnt, dafs_test_me(), fh,
						 DAFS_FSATTR_FSHANDLE | DAFS_FSATTR_SPACE_TOTAL,
						 &fsattr));
	KUNIT_EXPECT_MEMEQ(test, fh->fshandle, fsattr.fshandle, sizeof(fh->fshandle));
	KUNIT_EXPECT_EQ(test, DAFS_FSATTR_FSHANDLE, fsattr.valid);
	return attr.file_id;
}

/*
 * R-4.1.4-02 R-4.1.4-03 R-4.1.4-04 R-4.1.4-07 R-6.1.6-14: the pseudo
 * directories are one file system, in which all exports are found, by one
 * LOOKUP or several.
 */
static void dafs_pseudo_tree_test(struct kunit *test)
{
	static const char *const dirs[] = { "", "k", "k/a", "k/a/c" };
	struct dafs_fixture *fix = dafs_ps_fixture(test);
	struct dafs_fh fh[ARRAY_SIZE(dirs)], b, d, step;
	u64 ino[ARRAY_SIZE(dirs)];
	struct dafs_str name;
	int i, j;

	dafs_ps_serve(test, fix, "k/a/b", "one");
	dafs_ps_serve(test, fix, "k/a/c/d", "two");
	for (i = 0; i < ARRAY_SIZE(dirs); i++) {
		fh[i] = dafs_ps_find(test, fix, dirs[i]);
		ino[i] = dafs_ps_expect_pseudo(test, fix, &fh[i]);
		KUNIT_EXPECT_TRUE(test, dafs_ps_same_fs(&fh[0], &fh[i]));
		for (j = 0; j < i; j++)
			KUNIT_EXPECT_NE(test, ino[i], ino[j]);
	}
	b = dafs_ps_find(test, fix, "k/a/b");
	d = dafs_ps_find(test, fix, "k/a/c/d");
	KUNIT_EXPECT_FALSE(test, dafs_ps_same_fs(&fh[0], &b));
	KUNIT_EXPECT_FALSE(test, dafs_ps_same_fs(&fh[0], &d));
	KUNIT_EXPECT_FALSE(test, dafs_ps_same_fs(&b, &d));
	name = dafs_test_str("d");
	KUNIT_EXPECT_EQ(test, 0, dafs_lookup_path(fix->clnt, dafs_test_me(), &fh[3], &name, 1,
						  &step));
	KUNIT_EXPECT_MEMEQ(test, &d, &step, sizeof(d));
	step = dafs_ps_find(test, fix, "k/a/c/d/file");
	KUNIT_EXPECT_TRUE(test, dafs_ps_same_fs(&d, &step));
}

/* A prefix of a name does not exist; there are only directories that lead to an export. */
static void dafs_pseudo_noent_test(struct kunit *test)
{
	static const char *const names[] = {
		"k/a/bb", "k/aa", "kk", "k/b", "k/a/b/two", "lon", "long/nam",
	};
	struct dafs_fixture *fix = dafs_ps_fixture(test);
	struct dafs_fh fh;
	int i;

	dafs_ps_serve(test, fix, "k/a/b", "one");
	dafs_ps_serve(test, fix, "long/name", "two");
	for (i = 0; i < ARRAY_SIZE(names); i++)
		DAFS_EXPECT_STATUS(test, DAFSERR_NOENT, dafs_ps_lookup(test, fix, names[i], &fh));
}

/**
 * struct dafs_ps_list - contents of a directory
 * @names: each followed by a space
 * @found: attributes of the entry @wanted
 * @wanted: its name
 */
struct dafs_ps_list {
	char names[128];
	struct dafs_fattr found;
	const char *wanted;
};

static bool dafs_ps_list_add(void *priv, const struct dafs_direntry *entry)
{
	struct dafs_ps_list *list = priv;
	size_t used = strlen(list->names);

	if (list->wanted && strlen(list->wanted) == entry->name.len &&
	    !memcmp(list->wanted, entry->name.data, entry->name.len))
		list->found = entry->attrs;
	snprintf(list->names + used, sizeof(list->names) - used, "%.*s ", (int)entry->name.len,
		 entry->name.data);
	return true;
}

static void dafs_ps_readdir(struct kunit *test, struct dafs_fixture *fix, const struct dafs_fh *dir,
			    struct dafs_ps_list *list)
{
	struct dafs_readdir_pos pos = {};

	list->names[0] = 0;
	while (!pos.eof)
		KUNIT_ASSERT_EQ(test, 0, dafs_readdir(fix->clnt, dafs_test_me(), dir,
						      DAFS_FATTR_FILEHANDLE | DAFS_FATTR_MODE |
						      DAFS_FATTR_MIME_TYPE, &pos,
						      dafs_ps_list_add, list));
}

/* R-4.1.4-02: READDIR returns each entry once, with the same attributes as LOOKUP. */
static void dafs_pseudo_readdir_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_ps_fixture(test);
	struct dafs_ps_list list = { .wanted = "c" };
	struct dafs_fh dir, fh;

	dafs_ps_serve(test, fix, "k/a/b", "one");
	dafs_ps_serve(test, fix, "k/a/c/d", "two");
	dafs_ps_serve(test, fix, "k/a/c/e", "three");
	dir = dafs_ps_find(test, fix, "k/a");
	dafs_ps_readdir(test, fix, &dir, &list);
	KUNIT_EXPECT_STREQ(test, "b c ", list.names);
	fh = dafs_ps_find(test, fix, "k/a/c");
	KUNIT_EXPECT_MEMEQ(test, &fh, &list.found.filehandle, sizeof(fh));
	list.wanted = "d";
	dafs_ps_readdir(test, fix, &fh, &list);
	KUNIT_EXPECT_STREQ(test, "d e ", list.names);
	fh = dafs_ps_find(test, fix, "k/a/c/d");
	KUNIT_EXPECT_MEMEQ(test, &fh, &list.found.filehandle, sizeof(fh));
	list.wanted = "k";
	dir = dafs_ps_find(test, fix, "");
	dafs_ps_readdir(test, fix, &dir, &list);
	KUNIT_EXPECT_PTR_NE(test, NULL, strstr(list.names, "squash k "));
	fh = dafs_ps_find(test, fix, "k");
	KUNIT_EXPECT_MEMEQ(test, &fh, &list.found.filehandle, sizeof(fh));
}

/*
 * READDIR returns cached attributes of another export's root, because its file system may
 * be frozen.
 */
static void dafs_pseudo_peek_test(struct kunit *test)
{
	const u64 wanted = DAFS_FATTR_MODE | DAFS_FATTR_MIME_TYPE;
	struct dafs_fixture *fix = dafs_ps_fixture(test);
	struct dafs_ps_list list = { .wanted = "b" };
	struct dafs_fattr attr;
	struct dafs_ids ids;
	struct dafs_fh fh;

	dafs_ps_serve(test, fix, "k/a/b", "one");
	fh = dafs_ps_find(test, fix, "k/a");
	dafs_ps_readdir(test, fix, &fh, &list);
	KUNIT_EXPECT_EQ(test, DAFS_FATTR_MODE, list.found.valid & wanted);
	fh = dafs_ps_find(test, fix, "k/a/b");
	KUNIT_EXPECT_EQ(test, 0, dafs_getattr(fix->clnt, dafs_test_me(), &fh, wanted, &attr, &ids));
	KUNIT_EXPECT_EQ(test, wanted, attr.valid & wanted);
}

/* R-4.1.4-02: all users may read, none may change anything. */
static void dafs_pseudo_read_only_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_ps_fixture(test);
	const struct cred *user = dafs_fixture_user(test, 1000, 1000);
	struct dafs_create_args create = {
		.component = dafs_test_str("new"),
		.obj_type = DAFS_TYPE_DIR,
	};
	struct dafs_remove_args remove = { .target = dafs_test_str("b") };
	struct dafs_access_res access = {};
	struct dafs_create_res created;
	struct dafs_change_res removed;
	struct dafs_fh fh;

	dafs_ps_serve(test, fix, "k/a/b", "one");
	fh = dafs_ps_find(test, fix, "k/a");
	create.filehandle = fh;
	remove.filehandle = fh;
	DAFS_EXPECT_STATUS(test, DAFSERR_ROFS, dafs_test_call(test, fix->clnt, dafs_test_me(),
							      DAFS_PROC_CREATE, &create,
							      &created));
	DAFS_EXPECT_STATUS(test, DAFSERR_ROFS, dafs_test_call(test, fix->clnt, dafs_test_me(),
							      DAFS_PROC_REMOVE, &remove,
							      &removed));
	KUNIT_EXPECT_EQ(test, 0, dafs_access(fix->clnt, user, &fh, ~0U, &access));
	KUNIT_EXPECT_EQ(test, DAFS_ACCESS_READ | DAFS_ACCESS_LOOKUP, access.access);
	dafs_ps_expect(test, fix, &fh, DAFS_STATUS_OK);
}

/* R-4.1.4-02: nothing can be opened or created there. */
static void dafs_pseudo_open_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_ps_fixture(test);
	struct dafs_open_args open = dafs_test_open_args("o", DAFS_OPEN_SHARE_ACCESS_BOTH, 0);
	struct dafs_open_res opened;
	struct dafs_fh fh;

	dafs_ps_serve(test, fix, "k/a/b", "one");
	fh = dafs_ps_find(test, fix, "k/a");
	DAFS_EXPECT_STATUS(test, DAFSERR_ISDIR, dafs_test_open(test, fix->clnt, dafs_test_me(),
							       &fh, "b", &open, &opened));
	open.open_type = DAFS_OPEN_CREATE;
	DAFS_EXPECT_STATUS(test, DAFSERR_ROFS, dafs_test_open(test, fix->clnt, dafs_test_me(),
							      &fh, "new", &open, &opened));
}

/*
 * A directory exists while it leads to an export; its handle is valid again
 * when it is back, and so is that of an export.
 */
static void dafs_pseudo_vanish_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_ps_fixture(test);
	struct dafsd_export *exp = dafs_ps_serve(test, fix, "k/a/c/d", "two");
	struct dafs_fattr before, after;
	struct dafs_fh k, c, d, file;

	dafs_ps_serve(test, fix, "k/a/b", "one");
	k = dafs_ps_find(test, fix, "k");
	c = dafs_ps_find(test, fix, "k/a/c");
	d = dafs_ps_find(test, fix, "k/a/c/d");
	file = dafs_ps_find(test, fix, "k/a/c/d/file");
	dafs_ps_getattr(test, fix, &k, &before);
	dafs_ps_end(test, exp);
	dafs_ps_expect(test, fix, &c, DAFSERR_STALE);
	dafs_ps_expect(test, fix, &d, DAFSERR_STALE);
	dafs_ps_expect(test, fix, &file, DAFSERR_STALE);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_ps_getattr(test, fix, &k, &after));
	KUNIT_EXPECT_LT(test, before.change, after.change);
	dafs_ps_serve(test, fix, "k/a/c/d", "two");
	dafs_ps_expect(test, fix, &c, DAFS_STATUS_OK);
	dafs_ps_expect(test, fix, &d, DAFS_STATUS_OK);
	dafs_ps_expect(test, fix, &file, DAFS_STATUS_OK);
}

/* An export that takes the place of a pseudo directory makes its handle stale. */
static void dafs_pseudo_replaced_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_ps_fixture(test);
	struct dafs_fh k, in;

	dafs_ps_serve(test, fix, "k/in", "two");
	k = dafs_ps_find(test, fix, "k");
	in = dafs_ps_find(test, fix, "k/in");
	dafs_ps_serve(test, fix, "k", "one");
	dafs_ps_expect(test, fix, &k, DAFSERR_STALE);
	dafs_ps_expect(test, fix, &in, DAFS_STATUS_OK);
	k = dafs_ps_find(test, fix, "k/in");
	KUNIT_EXPECT_MEMEQ(test, &in, &k, sizeof(in));
}

/*
 * R-4.1.4-06 R-6.5.21-06: an export with a name in another one is
 * found on the directory of that name, by LOOKUP and READDIR, also farther down.
 */
static void dafs_pseudo_inside_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_ps_fixture(test);
	struct dafs_ps_list list = { .wanted = "deep" };
	struct dafs_fh outer, in, deep, file;

	dafs_ps_serve(test, fix, "k", "one");
	dafs_ps_serve(test, fix, "k/in/deep", "two");
	outer = dafs_ps_find(test, fix, "k");
	in = dafs_ps_find(test, fix, "k/in");
	KUNIT_EXPECT_TRUE(test, dafs_ps_same_fs(&outer, &in));
	deep = dafs_ps_find(test, fix, "k/in/deep");
	KUNIT_EXPECT_FALSE(test, dafs_ps_same_fs(&outer, &deep));
	file = dafs_ps_find(test, fix, "k/in/deep/file");
	KUNIT_EXPECT_TRUE(test, dafs_ps_same_fs(&deep, &file));
	dafs_ps_readdir(test, fix, &in, &list);
	KUNIT_EXPECT_STREQ(test, "deep ", list.names);
	KUNIT_EXPECT_MEMEQ(test, &deep, &list.found.filehandle, sizeof(deep));
}

/* R-4.1.4-06: so is an export of a directory inside another export, under any name. */
static void dafs_pseudo_directory_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_ps_fixture(test);
	struct dafs_fh direct, down, named;

	dafs_ps_serve(test, fix, "k", "one");
	dafs_ps_serve(test, fix, "j", "one/in");
	direct = dafs_ps_find(test, fix, "j");
	down = dafs_ps_find(test, fix, "k/in");
	KUNIT_EXPECT_MEMEQ(test, &direct, &down, sizeof(down));
	/* but an export with that name has priority */
	dafs_ps_serve(test, fix, "k/in", "two");
	down = dafs_ps_find(test, fix, "k/in");
	KUNIT_EXPECT_FALSE(test, dafs_ps_same_fs(&direct, &down));
	named = dafs_ps_find(test, fix, "k/in/file");
	KUNIT_EXPECT_TRUE(test, dafs_ps_same_fs(&named, &down));
}

/* Two exports of one directory are two file systems to a client. */
static void dafs_pseudo_twice_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_ps_fixture(test);
	struct dafs_fh j, k;

	dafs_ps_serve(test, fix, "j", "one");
	dafs_ps_serve(test, fix, "k", "one");
	j = dafs_ps_find(test, fix, "j");
	k = dafs_ps_find(test, fix, "k");
	KUNIT_EXPECT_FALSE(test, dafs_ps_same_fs(&j, &k));
}

/* A caller is squashed by the export that LOOKUP leads into, at once. */
static void dafs_pseudo_squash_test(struct kunit *test)
{
	const struct dafsd_export_conf conf = {
		.root_squash = true,
		.anon_uid = 65534,
		.anon_gid = 65534,
	};
	struct dafs_fixture *fix = dafs_ps_fixture(test);
	struct dafsd_export *exp;
	struct dafs_fh fh;

	dafs_backing_mkdir(test, fix, "two/private", 0700);
	dafs_backing_write(test, fix, "two/private/file", "2", 1);
	dafs_ps_serve(test, fix, "k", "one");
	exp = dafs_fixture_serve(test, fix, "k/in", "two", &conf);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, exp);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, dafs_ps_withdraw, exp));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_ps_lookup(test, fix, "k/in/file", &fh));
	DAFS_EXPECT_STATUS(test, DAFSERR_ACCES,
			   dafs_ps_lookup(test, fix, "k/in/private/file", &fh));
}

/* R-4.1.4-07: an export of a pseudo directory does not hide exports below it. */
static void dafs_pseudo_way_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_ps_fixture(test);
	struct dafs_fh k, in, deep;

	dafs_ps_serve(test, fix, "k", "one");
	dafs_ps_serve(test, fix, "j", "one/in");
	dafs_ps_serve(test, fix, "k/in/deep", "two");
	k = dafs_ps_find(test, fix, "k");
	in = dafs_ps_find(test, fix, "k/in");
	KUNIT_EXPECT_TRUE(test, dafs_ps_same_fs(&k, &in));
	deep = dafs_ps_find(test, fix, "k/in/deep/file");
	KUNIT_EXPECT_FALSE(test, dafs_ps_same_fs(&k, &deep));
}

/* R-4.1.4-07: an export that LOOKUP could not reach is refused. */
static void dafs_pseudo_refused_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_ps_fixture(test);

	dafs_ps_serve(test, fix, "k", "one");
	KUNIT_EXPECT_EQ(test, -EEXIST, PTR_ERR(dafs_ps_try(test, fix, "k", "two")));
	KUNIT_EXPECT_EQ(test, -ENOENT, PTR_ERR(dafs_ps_try(test, fix, "k/none", "two")));
	KUNIT_EXPECT_EQ(test, -ENOTDIR, PTR_ERR(dafs_ps_try(test, fix, "k/file", "two")));
	dafs_ps_serve(test, fix, "m/none", "two");
	KUNIT_EXPECT_EQ(test, -ENOENT, PTR_ERR(dafs_ps_try(test, fix, "m", "one")));
	dafs_ps_serve(test, fix, "n/in/deep/x", "two");
	KUNIT_EXPECT_EQ(test, -ENOENT, PTR_ERR(dafs_ps_try(test, fix, "n", "one")));
}

static dafs_status_t dafs_ps_remove(struct kunit *test, struct dafs_fixture *fix, const char *name)
{
	struct dafs_remove_args args = {
		.filehandle = dafs_ps_find(test, fix, "k"),
		.target = dafs_test_str(name),
	};
	struct dafs_change_res res;

	return dafs_test_call(test, fix->clnt, dafs_test_me(), DAFS_PROC_REMOVE, &args, &res);
}

static dafs_status_t dafs_ps_rename(struct kunit *test, struct dafs_fixture *fix, const char *from,
				    const char *to)
{
	const struct dafs_fh dir = dafs_ps_find(test, fix, "k");
	struct dafs_rename_args args = {
		.sourcedir = dir,
		.targetdir = dir,
		.oldname = dafs_test_str(from),
		.newname = dafs_test_str(to),
	};
	struct dafs_rename_res res;

	return dafs_test_call(test, fix->clnt, dafs_test_me(), DAFS_PROC_RENAME, &args, &res);
}

/*
 * R-4.1.4-07: the directories on the path to an export, and its own, cannot be
 * removed, moved or replaced.
 */
static void dafs_pseudo_busy_test(struct kunit *test)
{
	static const char *const names[] = { "named", "above", "root" };
	struct dafs_fixture *fix = dafs_ps_fixture(test);
	struct dafsd_export *exp[ARRAY_SIZE(names)];
	int i;

	dafs_backing_mkdir(test, fix, "one/named", 0755);
	dafs_backing_mkdir(test, fix, "one/above", 0755);
	dafs_backing_mkdir(test, fix, "one/above/in", 0755);
	dafs_backing_mkdir(test, fix, "one/root", 0755);
	dafs_backing_mkdir(test, fix, "one/other", 0755);
	dafs_ps_serve(test, fix, "k", "one");
	exp[0] = dafs_ps_serve(test, fix, "k/named", "two");
	exp[1] = dafs_ps_serve(test, fix, "k/above/in", "two");
	exp[2] = dafs_ps_serve(test, fix, "elsewhere", "one/root");
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		DAFS_EXPECT_STATUS(test, DAFSERR_ACCES, dafs_ps_remove(test, fix, names[i]));
		DAFS_EXPECT_STATUS(test, DAFSERR_ACCES, dafs_ps_rename(test, fix, names[i], "x"));
		DAFS_EXPECT_STATUS(test, DAFSERR_ACCES,
				   dafs_ps_rename(test, fix, "other", names[i]));
		DAFS_EXPECT_STATUS(test, DAFSERR_EXIST,
				   dafs_ps_rename(test, fix, "file", names[i]));
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
				   dafs_ps_rename(test, fix, names[i], names[i]));
	}
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		dafs_ps_end(test, exp[i]);
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
				   dafs_ps_rename(test, fix, names[i], "moved"));
		DAFS_EXPECT_STATUS(test, i == 1 ? DAFSERR_NOTEMPTY : DAFS_STATUS_OK,
				   dafs_ps_remove(test, fix, "moved"));
		if (i == 1)
			DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
					   dafs_ps_rename(test, fix, "moved", names[i]));
	}
}

static dafs_status_t dafs_ps_parent(struct kunit *test, struct dafs_fixture *fix,
				    struct dafs_fh *fh)
{
	struct dafs_fh_args args = { .filehandle = *fh };
	struct dafs_fh_res res = {};
	dafs_status_t status = dafs_test_call(test, fix->clnt, dafs_test_me(), DAFS_PROC_LOOKUPP,
					      &args, &res);

	*fh = res.filehandle;
	return status;
}

/*
 * R-6.5.22-01 R-6.5.22-02: LOOKUPP goes all the way up, from an export to the
 * directory of its name, and ends at the root.
 */
static void dafs_pseudo_parent_test(struct kunit *test)
{
	static const char *const up[] = { "k/a/in/deep", "k/a/in", "k/a", "k", "" };
	struct dafs_fixture *fix = dafs_ps_fixture(test);
	struct dafs_fh fh, want;
	int i;

	dafs_ps_serve(test, fix, "k/a", "one");
	dafs_ps_serve(test, fix, "k/a/in/deep", "two");
	fh = dafs_ps_find(test, fix, up[0]);
	for (i = 1; i < ARRAY_SIZE(up); i++) {
		DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, dafs_ps_parent(test, fix, &fh));
		want = dafs_ps_find(test, fix, up[i]);
		KUNIT_EXPECT_MEMEQ(test, &want, &fh, sizeof(fh));
	}
	DAFS_EXPECT_STATUS(test, DAFSERR_NOENT, dafs_ps_parent(test, fix, &fh));
}

/* A handle with any bit inverted is refused. */
static void dafs_pseudo_forged_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_ps_fixture(test);
	struct dafs_fh fh, forged;
	struct dafs_fattr attr;
	dafs_status_t status;
	int bit;

	dafs_ps_serve(test, fix, "k/a/b", "one");
	fh = dafs_ps_find(test, fix, "k/a");
	for (bit = 0; bit < 8 * sizeof(fh); bit++) {
		forged = fh;
		((u8 *)&forged)[bit / 8] ^= 1 << bit % 8;
		status = dafs_ps_getattr(test, fix, &forged, &attr);
		KUNIT_EXPECT_TRUE_MSG(test, status == DAFSERR_STALE ||
				      status == DAFSERR_BADHANDLE, "bit %d: %s", bit,
				      dafs_status_name(status));
	}
}

static struct kunit_case dafs_pseudo_cases[] = {
	KUNIT_CASE_PARAM(dafs_pseudo_tree_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_pseudo_noent_test),
	KUNIT_CASE_PARAM(dafs_pseudo_readdir_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_pseudo_peek_test),
	KUNIT_CASE_PARAM(dafs_pseudo_read_only_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_pseudo_open_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_pseudo_vanish_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_pseudo_replaced_test),
	KUNIT_CASE_PARAM(dafs_pseudo_inside_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_pseudo_directory_test),
	KUNIT_CASE(dafs_pseudo_twice_test),
	KUNIT_CASE(dafs_pseudo_squash_test),
	KUNIT_CASE(dafs_pseudo_way_test),
	KUNIT_CASE(dafs_pseudo_refused_test),
	KUNIT_CASE_PARAM(dafs_pseudo_busy_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_pseudo_parent_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_pseudo_forged_test),
	{}
};

static struct kunit_suite dafs_pseudo_suite = {
	.name = "dafs_pseudo",
	.test_cases = dafs_pseudo_cases,
};

kunit_test_suite(dafs_pseudo_suite);
