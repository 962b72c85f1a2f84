// SPDX-License-Identifier: GPL-2.0
/* Names: the root of the name space, LOOKUP, CREATE, REMOVE, RENAME, READLINK. */
#include <linux/completion.h>
#include <linux/kdev_t.h>
#include <linux/kthread.h>
#include <linux/namei.h>
#include <linux/slab.h>
#include "../lib/fixture.h"

static struct dafs_fixture *dafs_name_fixture(struct kunit *test)
{
	return dafs_fixture(test, test->param_value);
}

static dafs_status_t dafs_name_lookup(struct kunit *test, struct dafs_fixture *fix,
				      const struct dafs_fh *dir, const char *path,
				      struct dafs_lookup_res *res)
{
	struct dafs_str names[DAFS_TEST_NAMES];
	struct dafs_lookup_args args = {
		.directory = *dir,
		.path = {
			.count = dafs_test_split(path, names, ARRAY_SIZE(names)),
			.elems = names,
		},
	};

	memset(res, 0, sizeof(*res));
	return dafs_test_call(test, fix->clnt, dafs_test_me(), DAFS_PROC_LOOKUP, &args, res);
}

static dafs_status_t dafs_name_create(struct kunit *test, struct dafs_fixture *fix,
				      const struct cred *cred, const struct dafs_fh *dir,
				      struct dafs_create_args *args, struct dafs_create_res *res)
{
	args->filehandle = *dir;
	memset(res, 0, sizeof(*res));
	return dafs_test_call(test, fix->clnt, cred, DAFS_PROC_CREATE, args, res);
}

static dafs_status_t dafs_name_remove(struct kunit *test, struct dafs_fixture *fix,
				      const struct cred *cred, const struct dafs_fh *dir,
				      const char *name, u32 mode, struct dafs_change_info *info)
{
	struct dafs_remove_args args = {
		.filehandle = *dir,
		.target = dafs_test_str(name),
		.remove_mode = mode,
	};
	struct dafs_change_res res = {};
	dafs_status_t status = dafs_test_call(test, fix->clnt, cred, DAFS_PROC_REMOVE, &args, &res);

	if (info)
		*info = res.change_info;
	return status;
}

static dafs_status_t dafs_name_rename_in(struct kunit *test, struct dafs_fixture *fix,
					 const struct cred *cred, const struct dafs_fh *from,
					 const char *old, const struct dafs_fh *to, const char *new,
					 struct dafs_rename_res *res)
{
	struct dafs_rename_args args = {
		.sourcedir = *from,
		.targetdir = *to,
		.oldname = dafs_test_str(old),
		.newname = dafs_test_str(new),
	};

	return dafs_test_call(test, fix->clnt, cred, DAFS_PROC_RENAME, &args, res);
}

static dafs_status_t dafs_name_rename(struct kunit *test, struct dafs_fixture *fix, const char *old,
				      const char *new)
{
	struct dafs_rename_res res;

	return dafs_name_rename_in(test, fix, dafs_test_me(), &fix->dir, old, &fix->dir, new,
				   &res);
}

/* GETATTR of one attribute. */
static struct dafs_fattr dafs_name_getattr(struct kunit *test, struct dafs_fixture *fix,
					   const struct dafs_fh *fh, u64 which)
{
	struct dafs_getattr_res res = {};
	struct dafs_ids ids;

	KUNIT_EXPECT_EQ(test, 0, dafs_getattr(fix->clnt, dafs_test_me(), fh, which,
					      &res.obj_attributes, &ids));
	KUNIT_EXPECT_EQ(test, which, res.obj_attributes.valid);
	return res.obj_attributes;
}

static u64 dafs_name_ino(struct kunit *test, struct dafs_fixture *fix, const struct dafs_fh *fh)
{
	return dafs_name_getattr(test, fix, fh, DAFS_FATTR_FILE_ID).file_id;
}

static u64 dafs_name_change(struct kunit *test, struct dafs_fixture *fix,
			    const struct dafs_fh *fh)
{
	return dafs_name_getattr(test, fix, fh, DAFS_FATTR_CHANGE).change;
}

/* Expects that a handle is that of the server's file with this name. */
static void dafs_name_expect_same(struct kunit *test, struct dafs_fixture *fix, const char *name,
				  const struct dafs_fh *fh)
{
	struct kstat stat = {};

	KUNIT_EXPECT_EQ(test, 0, dafs_backing_stat(fix, name, &stat));
	KUNIT_EXPECT_EQ(test, stat.ino, dafs_name_ino(test, fix, fh));
}

static void dafs_name_expect_gone(struct kunit *test, struct dafs_fixture *fix, const char *name)
{
	struct kstat stat;

	KUNIT_EXPECT_EQ(test, -ENOENT, dafs_backing_stat(fix, name, &stat));
}

static bool dafs_name_same_fs(const struct dafs_fh *a, const struct dafs_fh *b)
{
	return !memcmp(a->fshandle, b->fshandle, sizeof(a->fshandle));
}

static struct dafs_fh dafs_name_root(struct kunit *test, struct dafs_fixture *fix)
{
	struct dafs_fh root = {};

	KUNIT_EXPECT_EQ(test, 0, dafs_get_root_handle(fix->clnt, dafs_test_me(), &root));
	return root;
}

/*
 * R-4.1.4-01 R-4.1.4-03 R-4.1.4-07 R-6.5.12-01: the root is a directory that
 * contains all exports; each is a file system of its own.
 */
static void dafs_root_test(struct kunit *test)
{
	static const char *const exports[] = { "data", "ro", "squash" };
	struct dafs_fixture *fix = dafs_name_fixture(test);
	struct dafs_fh root = dafs_name_root(test, fix);
	struct dafs_lookup_res res[ARRAY_SIZE(exports)];
	struct dafs_fattr attr;
	int i, j;

	attr = dafs_name_getattr(test, fix, &root, DAFS_FATTR_OBJECT_TYPE | DAFS_FATTR_MODE);
	KUNIT_EXPECT_EQ(test, DAFS_TYPE_DIR, attr.object_type);
	KUNIT_EXPECT_EQ(test, 0, attr.mode & 0222);
	for (i = 0; i < ARRAY_SIZE(exports); i++) {
		DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
				   dafs_name_lookup(test, fix, &root, exports[i], &res[i]));
		attr = dafs_name_getattr(test, fix, &res[i].filehandle, DAFS_FATTR_OBJECT_TYPE);
		KUNIT_EXPECT_EQ(test, DAFS_TYPE_DIR, attr.object_type);
		KUNIT_EXPECT_FALSE(test, dafs_name_same_fs(&root, &res[i].filehandle));
		for (j = 0; j < i; j++)
			KUNIT_EXPECT_FALSE(test, dafs_name_same_fs(&res[i].filehandle,
								   &res[j].filehandle));
	}
	KUNIT_EXPECT_EQ(test, d_inode(fix->path.dentry->d_sb->s_root)->i_ino,
			dafs_name_ino(test, fix, &res[0].filehandle));
}

/* R-4.1.4-02: the pseudo file system connects the exports and is read-only. */
static void dafs_root_read_only_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_name_fixture(test);
	struct dafs_fh root = dafs_name_root(test, fix);
	struct dafs_create_args create = {
		.component = dafs_test_str("new"),
		.obj_type = DAFS_TYPE_DIR,
	};
	struct dafs_create_res created;
	struct dafs_rename_res renamed;
	struct dafs_lookup_res found;

	DAFS_EXPECT_STATUS(test, DAFSERR_ROFS,
			   dafs_name_create(test, fix, dafs_test_me(), &root, &create, &created));
	DAFS_EXPECT_STATUS(test, DAFSERR_ROFS,
			   dafs_name_remove(test, fix, dafs_test_me(), &root, "data", 0, NULL));
	DAFS_EXPECT_STATUS(test, DAFSERR_ROFS,
			   dafs_name_rename_in(test, fix, dafs_test_me(), &root, "data", &root,
					       "atad", &renamed));
	DAFS_EXPECT_STATUS(test, DAFSERR_NOENT,
			   dafs_name_lookup(test, fix, &root, "new", &found));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_name_lookup(test, fix, &root, "data", &found));
}

/* R-4.1.4-02: nothing in the pseudo file system can be opened or created by OPEN. */
static void dafs_root_open_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_name_fixture(test);
	struct dafs_fh root = dafs_name_root(test, fix);
	struct dafs_open_args open = dafs_test_open_args("o", DAFS_OPEN_SHARE_ACCESS_BOTH, 0);
	struct dafs_open_res opened;

	open.open_type = DAFS_OPEN_CREATE;
	DAFS_EXPECT_STATUS(test, DAFSERR_ROFS, dafs_test_open(test, fix->clnt, dafs_test_me(),
							      &root, "new", &open, &opened));
	DAFS_EXPECT_STATUS(test, DAFSERR_ISDIR, dafs_test_open(test, fix->clnt, dafs_test_me(),
							       &root, "data", &open, &opened));
}

/* a/b/f, a/b/link -> f, link -> a, file: what the LOOKUP tests walk. */
static void dafs_name_make_tree(struct kunit *test, struct dafs_fixture *fix)
{
	dafs_backing_mkdir(test, fix, "a", 0755);
	dafs_backing_mkdir(test, fix, "a/b", 0755);
	dafs_backing_write(test, fix, "a/b/f", "f", 1);
	dafs_backing_symlink(test, fix, "a/b/link", "f");
	dafs_backing_symlink(test, fix, "link", "a");
	dafs_backing_write(test, fix, "file", "file", 4);
}

/* R-6.5.21-01 R-6.5.21-07: each component is looked up; a link at the end is not followed. */
static void dafs_lookup_test(struct kunit *test)
{
	static const char *const paths[] = { "file", "a", "a/b", "a/b/f", "a/b/link", "link" };
	struct dafs_fixture *fix = dafs_name_fixture(test);
	struct dafs_str names[DAFS_TEST_NAMES];
	struct dafs_lookup_res res;
	int i;

	dafs_name_make_tree(test, fix);
	for (i = 0; i < ARRAY_SIZE(paths); i++) {
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
				   dafs_name_lookup(test, fix, &fix->dir, paths[i], &res));
		KUNIT_EXPECT_EQ(test, dafs_test_split(paths[i], names, ARRAY_SIZE(names)),
				res.component_count);
		dafs_name_expect_same(test, fix, paths[i], &res.filehandle);
	}
}

/**
 * struct dafs_lookup_case - a path that does not resolve
 * @path: the path
 * @status: the answer
 * @count: components resolved
 * @resolved: their path, NULL if none
 */
struct dafs_lookup_case {
	const char *path;
	dafs_status_t status;
	u32 count;
	const char *resolved;
};

/*
 * R-6.5.21-01 R-6.5.21-03 R-6.5.21-04 R-6.5.21-05 R-6.5.21-07 R-6.5.21-09: how far
 * a path resolves, with the status of the component that fails.
 */
static const struct dafs_lookup_case dafs_lookup_cases[] = {
	{ "missing", DAFSERR_NOENT, 0, NULL },
	{ "missing/b", DAFSERR_NOENT, 0, NULL },
	{ "a/missing", DAFSERR_NOENT, 1, "a" },
	{ "a/b/missing", DAFSERR_NOENT, 2, "a/b" },
	{ "a/b/missing/f", DAFSERR_NOENT, 2, "a/b" },
	{ "a/b/f/x", DAFSERR_NOTDIR, 3, "a/b/f" },
	{ "link/b", DAFSERR_SYMLINK, 1, "link" },
	{ "a/b/link/x", DAFSERR_SYMLINK, 3, "a/b/link" },
	{ ".", DAFSERR_NOENT, 0, NULL },
	{ "..", DAFSERR_NOENT, 0, NULL },
	{ "a/..", DAFSERR_NOENT, 1, "a" },
	{ "a/./b", DAFSERR_NOENT, 1, "a" },
	{ "a//b", DAFSERR_INVAL, 1, "a" },
};

static void dafs_lookup_partial_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_name_fixture(test);
	const struct dafs_lookup_case *c;
	static const struct dafs_fh none;
	struct dafs_lookup_res res;

	dafs_name_make_tree(test, fix);
	for (c = dafs_lookup_cases; c < dafs_lookup_cases + ARRAY_SIZE(dafs_lookup_cases); c++) {
		dafs_status_t status = dafs_name_lookup(test, fix, &fix->dir, c->path, &res);

		DAFS_EXPECT_STATUS_MSG(test, c->status, status, "%s", c->path);
		KUNIT_EXPECT_EQ_MSG(test, c->count, res.component_count, "%s", c->path);
		if (c->resolved)
			dafs_name_expect_same(test, fix, c->resolved, &res.filehandle);
		else
			KUNIT_EXPECT_MEMEQ(test, &none, &res.filehandle, sizeof(none));
	}
}

/* R-6.5.21-02 R-6.5.21-08: no components, and start objects that are not directories. */
static void dafs_lookup_start_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_name_fixture(test);
	struct dafs_lookup_res res;
	struct dafs_fh fh;

	dafs_name_make_tree(test, fix);
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL,
			   dafs_name_lookup(test, fix, &fix->dir, "", &res));
	fh = dafs_test_lookup(test, fix, "link");
	DAFS_EXPECT_STATUS(test, DAFSERR_SYMLINK, dafs_name_lookup(test, fix, &fh, "b", &res));
	KUNIT_EXPECT_EQ(test, 0, res.component_count);
	fh = dafs_test_lookup(test, fix, "file");
	DAFS_EXPECT_STATUS(test, DAFSERR_NOTDIR, dafs_name_lookup(test, fix, &fh, "b", &res));
	KUNIT_EXPECT_EQ(test, 0, res.component_count);
}

/* Walking a path needs search permission for its directories. */
static void dafs_lookup_access_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_name_fixture(test);
	const struct cred *user = dafs_fixture_user(test, 1000, 1000);
	struct dafs_str names[DAFS_TEST_NAMES];
	struct dafs_lookup_args args = { .directory = fix->dir };
	struct dafs_lookup_res res = {};

	dafs_name_make_tree(test, fix);
	dafs_backing_chmod(test, fix, "a/b", 0644);
	args.path.count = dafs_test_split("a/b/f", names, ARRAY_SIZE(names));
	args.path.elems = names;
	DAFS_EXPECT_STATUS(test, DAFSERR_ACCES,
			   dafs_test_call(test, fix->clnt, user, DAFS_PROC_LOOKUP, &args, &res));
	KUNIT_EXPECT_EQ(test, 2, res.component_count);
	dafs_backing_chmod(test, fix, "a/b", 0711);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_test_call(test, fix->clnt, user, DAFS_PROC_LOOKUP, &args, &res));
	KUNIT_EXPECT_EQ(test, 3, res.component_count);
}

/* R-4.1.4-06 R-6.5.21-06: LOOKUP crosses the mount point of an exported file system. */
static void dafs_lookup_crossing_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_name_fixture(test);
	struct dafs_fh root = dafs_name_root(test, fix);
	struct dafs_lookup_res down, direct;

	KUNIT_ASSERT_TRUE_MSG(test, dafs_fixture_nested(),
			      "the read-only export is not mounted in the writable one");
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_name_lookup(test, fix, &root, "data/ro", &down));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_name_lookup(test, fix, &root, "ro", &direct));
	KUNIT_EXPECT_FALSE(test, dafs_name_same_fs(&fix->export, &down.filehandle));
	KUNIT_EXPECT_MEMEQ(test, &direct.filehandle, &down.filehandle, sizeof(struct dafs_fh));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_name_lookup(test, fix, &root, "data/ro/lost+found", &down));
	KUNIT_EXPECT_EQ(test, 3, down.component_count);
	KUNIT_EXPECT_TRUE(test, dafs_name_same_fs(&direct.filehandle, &down.filehandle));
}

/**
 * struct dafs_bad_name - an invalid name (E-97)
 * @what: for the report
 * @len: bytes; 256 of 'n' if @bytes is NULL
 * @bytes: the name
 * @find: status of LOOKUP and of OPEN without creation
 * @change: status of procedures that make, remove or rename an entry
 */
struct dafs_bad_name {
	const char *what;
	u32 len;
	const char *bytes;
	dafs_status_t find;
	dafs_status_t change;
};

static const struct dafs_bad_name dafs_bad_names[] = {
	{ "empty", 0, "", DAFSERR_INVAL, DAFSERR_INVAL },
	{ "dot", 1, ".", DAFSERR_NOENT, DAFSERR_INVAL },
	{ "dot dot", 2, "..", DAFSERR_NOENT, DAFSERR_INVAL },
	{ "slash", 3, "x/y", DAFSERR_INVAL, DAFSERR_INVAL },
	{ "zero byte", 3, "x\0y", DAFSERR_INVAL, DAFSERR_INVAL },
	{ "no UTF-8", 2, "\xc3\x28", DAFSERR_INVAL, DAFSERR_INVAL },
	{ "lone continuation", 1, "\x80", DAFSERR_INVAL, DAFSERR_INVAL },
	{ "cut short", 2, "\xe2\x82", DAFSERR_INVAL, DAFSERR_INVAL },
	{ "overlong", 2, "\xc0\xaf", DAFSERR_INVAL, DAFSERR_INVAL },
	{ "overlong of three", 3, "\xe0\x80\xaf", DAFSERR_INVAL, DAFSERR_INVAL },
	{ "surrogate", 3, "\xed\xa0\x80", DAFSERR_INVAL, DAFSERR_INVAL },
	{ "beyond Unicode", 4, "\xf4\x90\x80\x80", DAFSERR_INVAL, DAFSERR_INVAL },
	{ "256 bytes", 256, NULL, DAFSERR_NAMETOOLONG, DAFSERR_NAMETOOLONG },
};

static const void *dafs_bad_names_gen(const void *prev, char *desc)
{
	const struct dafs_bad_name *next = prev ? (const struct dafs_bad_name *)prev + 1 :
					   dafs_bad_names;

	if (next >= dafs_bad_names + ARRAY_SIZE(dafs_bad_names))
		return NULL;
	strscpy(desc, next->what, KUNIT_PARAM_DESC_SIZE);
	return next;
}

static struct dafs_str dafs_bad_name_str(struct kunit *test)
{
	const struct dafs_bad_name *bad = test->param_value;
	struct dafs_str name = { .len = bad->len, .data = (const u8 *)bad->bytes };
	u8 *data;

	if (bad->bytes)
		return name;
	data = kunit_kmalloc(test, bad->len, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, data);
	memset(data, 'n', bad->len);
	name.data = data;
	return name;
}

/* R-6.5.21-02 R-6.5.21-09 R-6.5.24-16 R-6.1.1.6-01 */
static void dafs_bad_name_find_test(struct kunit *test)
{
	const struct dafs_bad_name *bad = test->param_value;
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_str name = dafs_bad_name_str(test);
	struct dafs_lookup_args lookup = {
		.directory = fix->dir,
		.path = { .count = 1, .elems = &name },
	};
	struct dafs_open_args open = dafs_test_open_args("o", DAFS_OPEN_SHARE_ACCESS_READ, 0);
	struct dafs_lookup_res found;
	struct dafs_open_res opened;

	DAFS_EXPECT_STATUS(test, bad->find, dafs_test_call(test, fix->clnt, dafs_test_me(),
							   DAFS_PROC_LOOKUP, &lookup, &found));
	open.dir_handle = fix->dir;
	open.pathname = lookup.path;
	DAFS_EXPECT_STATUS(test, bad->find, dafs_test_call(test, fix->clnt, dafs_test_me(),
							   DAFS_PROC_OPEN, &open, &opened));
	open.open_type = DAFS_OPEN_CREATE;
	DAFS_EXPECT_STATUS(test, bad->change, dafs_test_call(test, fix->clnt, dafs_test_me(),
							     DAFS_PROC_OPEN, &open, &opened));
}

/* R-6.1.6-09 R-6.1.6-10 R-6.5.9-02 R-6.5.33-03 R-6.5.34-06 */
static void dafs_bad_name_change_test(struct kunit *test)
{
	const struct dafs_bad_name *bad = test->param_value;
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_str name = dafs_bad_name_str(test);
	struct dafs_create_args create = { .component = name, .obj_type = DAFS_TYPE_DIR };
	struct dafs_remove_args remove = { .filehandle = fix->dir, .target = name };
	struct dafs_rename_args rename = {
		.sourcedir = fix->dir,
		.targetdir = fix->dir,
		.oldname = dafs_test_str("there"),
		.newname = name,
	};
	struct dafs_create_res created;
	struct dafs_change_res removed;
	struct dafs_rename_res renamed;
	struct dafs_fh fh;

	dafs_backing_mkdir(test, fix, "there", 0755);
	DAFS_EXPECT_STATUS(test, bad->change,
			   dafs_name_create(test, fix, dafs_test_me(), &fix->dir, &create,
					    &created));
	DAFS_EXPECT_STATUS(test, bad->change, dafs_test_call(test, fix->clnt, dafs_test_me(),
							     DAFS_PROC_REMOVE, &remove,
							     &removed));
	DAFS_EXPECT_STATUS(test, bad->change, dafs_test_call(test, fix->clnt, dafs_test_me(),
							     DAFS_PROC_RENAME, &rename,
							     &renamed));
	swap(rename.oldname, rename.newname);
	DAFS_EXPECT_STATUS(test, bad->change, dafs_test_call(test, fix->clnt, dafs_test_me(),
							     DAFS_PROC_RENAME, &rename,
							     &renamed));
	fh = dafs_test_lookup(test, fix, "there");
	dafs_name_expect_same(test, fix, "there", &fh);
}

/* R-6.1.6-10: 255 bytes are a valid name, in ASCII or three bytes a character. */
static void dafs_long_name_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_name_fixture(test);
	char *name = kunit_kzalloc(test, NAME_MAX + 1, GFP_KERNEL);
	struct dafs_create_args create = { .obj_type = DAFS_TYPE_DIR };
	struct dafs_create_res res;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, name);
	memset(name, 'n', NAME_MAX);
	create.component = dafs_test_str(name);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_name_create(test, fix, dafs_test_me(), &fix->dir, &create, &res));
	dafs_name_expect_same(test, fix, name, &res.filehandle);
	for (i = 0; i < NAME_MAX; i += 3)
		memcpy(name + i, "\xe2\x82\xac", 3);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_name_create(test, fix, dafs_test_me(), &fix->dir, &create, &res));
	dafs_name_expect_same(test, fix, name, &res.filehandle);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_name_remove(test, fix, dafs_test_me(), &fix->dir, name, 0, NULL));
	dafs_name_expect_gone(test, fix, name);
}

/**
 * struct dafs_create_case - an object that CREATE makes
 * @name: its name
 * @type: DAFS_TYPE_*
 * @mode: type and permissions that it gets
 * @major: of a device
 * @minor: of a device
 * @link: target of a link
 */
struct dafs_create_case {
	const char *name;
	u32 type;
	umode_t mode;
	u32 major;
	u32 minor;
	const char *link;
};

static const struct dafs_create_case dafs_create_cases[] = {
	{ .name = "dir", .type = DAFS_TYPE_DIR, .mode = S_IFDIR | 0700 },
	{ .name = "fifo", .type = DAFS_TYPE_FIFO, .mode = S_IFIFO | 0600 },
	{ .name = "sock", .type = DAFS_TYPE_SOCK, .mode = S_IFSOCK | 0600 },
	{ .name = "chr", .type = DAFS_TYPE_CHR, .mode = S_IFCHR | 0600, .major = 5, .minor = 1 },
	{ .name = "blk", .type = DAFS_TYPE_BLK, .mode = S_IFBLK | 0600, .major = 259,
	  .minor = 70000 },
	{ .name = "link", .type = DAFS_TYPE_LNK, .mode = S_IFLNK | 0777,
	  .link = "t/../\x01\xff %" },
};

static struct dafs_create_args dafs_create_case_args(const struct dafs_create_case *c)
{
	struct dafs_create_args args = {
		.component = dafs_test_str(c->name),
		.obj_type = c->type,
		.specdata = { .specdata1 = c->major, .specdata2 = c->minor },
	};

	if (c->link)
		args.linkdata = dafs_test_str(c->link);
	return args;
}

static void dafs_create_expect(struct kunit *test, struct dafs_fixture *fix,
			       const struct dafs_create_case *c,
			       const struct dafs_create_res *res)
{
	struct dafs_fh found = dafs_test_lookup(test, fix, c->name);
	struct kstat stat;

	KUNIT_EXPECT_MEMEQ(test, &found, &res->filehandle, sizeof(found));
	KUNIT_EXPECT_TRUE(test, res->change_info.atomic);
	KUNIT_EXPECT_NE(test, res->change_info.before, res->change_info.after);
	KUNIT_EXPECT_EQ(test, res->change_info.after, dafs_name_change(test, fix, &fix->dir));
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_stat(fix, c->name, &stat));
	KUNIT_EXPECT_EQ(test, stat.ino, dafs_name_ino(test, fix, &found));
	KUNIT_EXPECT_EQ(test, c->mode, stat.mode);
	KUNIT_EXPECT_EQ(test, MKDEV(c->major, c->minor), stat.rdev);
	KUNIT_EXPECT_EQ(test, 1000, from_kuid(&init_user_ns, stat.uid));
	KUNIT_EXPECT_EQ(test, 2000, from_kgid(&init_user_ns, stat.gid));
}

/*
 * R-6.5.9-04 R-6.1.5-18: each type, its handle and the change of the directory.
 * The owner is the caller; only root may make devices, so their owner is changed
 * afterwards.
 */
static void dafs_create_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_name_fixture(test);
	const struct cred *user = dafs_fixture_user(test, 1000, 2000);
	const struct dafs_create_case *c;
	struct dafs_create_args args;
	struct dafs_create_res res;
	bool dev;

	for (c = dafs_create_cases; c < dafs_create_cases + ARRAY_SIZE(dafs_create_cases); c++) {
		args = dafs_create_case_args(c);
		dev = c->major;
		if (dev)
			DAFS_EXPECT_STATUS(test, DAFSERR_PERM,
					   dafs_name_create(test, fix, user, &fix->dir, &args,
							    &res));
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
				   dafs_name_create(test, fix, dev ? dafs_test_me() : user,
						    &fix->dir, &args, &res));
		if (dev)
			dafs_backing_chown(test, fix, c->name, 1000, 2000);
		dafs_create_expect(test, fix, c, &res);
	}
}

/* R-6.5.9-03: an existing name of any type is refused, and its object does not change. */
static void dafs_create_exists_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_name_fixture(test);
	const struct dafs_create_case *c;
	struct dafs_create_args args;
	struct dafs_create_res res;
	char data[4];

	dafs_backing_write(test, fix, "file", "file", 4);
	dafs_backing_symlink(test, fix, "dangling", "nowhere");
	for (c = dafs_create_cases; c < dafs_create_cases + ARRAY_SIZE(dafs_create_cases); c++) {
		args = dafs_create_case_args(c);
		args.component = dafs_test_str("file");
		DAFS_EXPECT_STATUS(test, DAFSERR_EXIST,
				   dafs_name_create(test, fix, dafs_test_me(), &fix->dir, &args,
						    &res));
		args.component = dafs_test_str("dangling");
		DAFS_EXPECT_STATUS(test, DAFSERR_EXIST,
				   dafs_name_create(test, fix, dafs_test_me(), &fix->dir, &args,
						    &res));
	}
	KUNIT_EXPECT_EQ(test, 4, dafs_backing_read(fix, "file", data, 4, 0));
	KUNIT_EXPECT_MEMEQ(test, data, "file", 4);
	dafs_name_expect_gone(test, fix, "nowhere");
}

/* R-6.5.9-01 R-6.5.9-06: regular files and other types that CREATE does not make. */
static void dafs_create_type_test(struct kunit *test)
{
	static const u32 types[] = {
		DAFS_TYPE_INVALID, DAFS_TYPE_REG, DAFS_TYPE_ATTRDIR, DAFS_TYPE_NAMEDATTR, 10,
		0x80000002, U32_MAX,
	};
	struct dafs_fixture *fix = dafs_name_fixture(test);
	struct dafs_create_args args = { .component = dafs_test_str("new") };
	struct dafs_create_res res;
	int i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		args.obj_type = types[i];
		DAFS_EXPECT_STATUS(test, DAFSERR_BADTYPE,
				   dafs_name_create(test, fix, dafs_test_me(), &fix->dir, &args,
						    &res));
		dafs_name_expect_gone(test, fix, "new");
	}
}

/*
 * R-6.5.9-05: only directories are made with attributes; other types with attributes
 * are refused.
 */
static void dafs_create_attr_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_name_fixture(test);
	const struct dafs_create_case *c;
	struct dafs_create_args args;
	struct dafs_create_res res;
	struct kstat stat;

	for (c = dafs_create_cases; c < dafs_create_cases + ARRAY_SIZE(dafs_create_cases); c++) {
		args = dafs_create_case_args(c);
		args.attr.included = DAFS_FATTR_MODE;
		args.attr.valid = DAFS_FATTR_MODE;
		args.attr.mode = 03751;
		DAFS_EXPECT_STATUS(test, c->type == DAFS_TYPE_DIR ? DAFS_STATUS_OK : DAFSERR_INVAL,
				   dafs_name_create(test, fix, dafs_test_me(), &fix->dir, &args,
						    &res));
		if (c->type != DAFS_TYPE_DIR)
			dafs_name_expect_gone(test, fix, c->name);
	}
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_stat(fix, "dir", &stat));
	KUNIT_EXPECT_EQ(test, S_IFDIR | 03751, stat.mode);
}

/* Every attribute of a new directory that can be set, and those that cannot (E-30). */
static void dafs_create_dir_attrs_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_name_fixture(test);
	struct dafs_create_args args = {
		.component = dafs_test_str("dir"),
		.obj_type = DAFS_TYPE_DIR,
		.attr = {
			.included = DAFS_FATTR_OWNER | DAFS_FATTR_OWNER_GROUP |
				    DAFS_FATTR_TIME_MODIFY_SET | DAFS_FATTR_TIME_ACCESS_SET,
			.owner = dafs_test_str("1001"),
			.owner_group = dafs_test_str("1002"),
			.time_access_set = {
				.client_time = { .seconds = -5, .nseconds = 7 },
				.how = DAFS_SET_TO_CLIENT_TIME,
			},
			.time_modify_set = {
				.client_time = { .seconds = 1000000, .nseconds = 8 },
				.how = DAFS_SET_TO_CLIENT_TIME,
			},
		},
	};
	struct dafs_create_res res;
	struct kstat stat;

	args.attr.valid = args.attr.included;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_name_create(test, fix, dafs_test_me(), &fix->dir, &args, &res));
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_stat(fix, "dir", &stat));
	KUNIT_EXPECT_EQ(test, S_IFDIR | 0700, stat.mode);
	KUNIT_EXPECT_EQ(test, 1001, from_kuid(&init_user_ns, stat.uid));
	KUNIT_EXPECT_EQ(test, 1002, from_kgid(&init_user_ns, stat.gid));
	KUNIT_EXPECT_EQ(test, -5, stat.atime.tv_sec);
	KUNIT_EXPECT_EQ(test, 7, stat.atime.tv_nsec);
	KUNIT_EXPECT_EQ(test, 1000000, stat.mtime.tv_sec);
	KUNIT_EXPECT_EQ(test, 8, stat.mtime.tv_nsec);
	args.component = dafs_test_str("dir2");
	args.attr.included |= DAFS_FATTR_OBJECT_SIZE;
	args.attr.valid = args.attr.included;
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL,
			   dafs_name_create(test, fix, dafs_test_me(), &fix->dir, &args, &res));
	dafs_name_expect_gone(test, fix, "dir2");
}

/* If the caller may not set an attribute, no directory is left. */
static void dafs_create_undone_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_name_fixture(test);
	const struct cred *user = dafs_fixture_user(test, 1000, 2000);
	struct dafs_create_args args = {
		.component = dafs_test_str("dir"),
		.obj_type = DAFS_TYPE_DIR,
		.attr = {
			.included = DAFS_FATTR_OWNER,
			.valid = DAFS_FATTR_OWNER,
			.owner = dafs_test_str("1001"),
		},
	};
	struct dafs_create_res res;

	DAFS_EXPECT_STATUS(test, DAFSERR_PERM,
			   dafs_name_create(test, fix, user, &fix->dir, &args, &res));
	dafs_name_expect_gone(test, fix, "dir");
}

/* Links without a target, and device numbers that are too large for Linux. */
static void dafs_create_bad_data_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_name_fixture(test);
	char *text = kunit_kmalloc(test, PATH_MAX, GFP_KERNEL);
	struct dafs_create_args args = {
		.component = dafs_test_str("new"),
		.obj_type = DAFS_TYPE_LNK,
	};
	struct dafs_create_res res;

	KUNIT_ASSERT_NOT_NULL(test, text);
	memset(text, 'l', PATH_MAX);
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL,
			   dafs_name_create(test, fix, dafs_test_me(), &fix->dir, &args, &res));
	args.linkdata = (struct dafs_str){ .len = 3, .data = "a\0b" };
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL,
			   dafs_name_create(test, fix, dafs_test_me(), &fix->dir, &args, &res));
	args.linkdata = (struct dafs_str){ .len = PATH_MAX, .data = text };
	DAFS_EXPECT_STATUS(test, DAFSERR_NAMETOOLONG,
			   dafs_name_create(test, fix, dafs_test_me(), &fix->dir, &args, &res));
	args.obj_type = DAFS_TYPE_CHR;
	args.specdata.specdata1 = 1ULL << 32;
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL,
			   dafs_name_create(test, fix, dafs_test_me(), &fix->dir, &args, &res));
	args.specdata = (struct dafs_specdata){ .specdata1 = 1, .specdata2 = 1 << MINORBITS };
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL,
			   dafs_name_create(test, fix, dafs_test_me(), &fix->dir, &args, &res));
	dafs_name_expect_gone(test, fix, "new");
}

/* Not a directory (E-94), no write permission, a read-only export. */
static void dafs_create_where_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_name_fixture(test);
	struct dafs_fixture *ro = dafs_fixture_in(test, test->param_value, DAFS_TEST_RO);
	const struct cred *user = dafs_fixture_user(test, 1000, 2000);
	struct dafs_create_args args = {
		.component = dafs_test_str("new"),
		.obj_type = DAFS_TYPE_FIFO,
	};
	struct dafs_create_res res;
	struct dafs_fh fh;

	dafs_name_make_tree(test, fix);
	fh = dafs_test_lookup(test, fix, "file");
	DAFS_EXPECT_STATUS(test, DAFSERR_NOTDIR,
			   dafs_name_create(test, fix, dafs_test_me(), &fh, &args, &res));
	fh = dafs_test_lookup(test, fix, "link");
	DAFS_EXPECT_STATUS(test, DAFSERR_NOTDIR,
			   dafs_name_create(test, fix, dafs_test_me(), &fh, &args, &res));
	fh = dafs_test_lookup(test, fix, "a");
	DAFS_EXPECT_STATUS(test, DAFSERR_ACCES,
			   dafs_name_create(test, fix, user, &fh, &args, &res));
	dafs_name_expect_gone(test, fix, "a/new");
	DAFS_EXPECT_STATUS(test, DAFSERR_ROFS,
			   dafs_name_create(test, ro, dafs_test_me(), &ro->dir, &args, &res));
	dafs_name_expect_gone(test, ro, "new");
	dafs_backing_mknod(test, ro, "new", S_IFIFO | 0600, 0);
	DAFS_EXPECT_STATUS(test, DAFSERR_EXIST,
			   dafs_name_create(test, ro, dafs_test_me(), &ro->dir, &args, &res));
}

/* R-6.5.31-01 R-6.5.31-02: the unchanged target, only for symbolic links. */
static void dafs_readlink_test(struct kunit *test)
{
	static const char target[] = "/\x01 odd/../\xff\xfe\n//end/";
	struct dafs_fixture *fix = dafs_name_fixture(test);
	struct dafs_fh_args args;
	struct dafs_fh fh;
	char buf[64];

	dafs_name_make_tree(test, fix);
	dafs_backing_symlink(test, fix, "odd", target);
	fh = dafs_test_lookup(test, fix, "odd");
	KUNIT_EXPECT_EQ(test, strlen(target),
			dafs_readlink(fix->clnt, dafs_test_me(), &fh, buf, sizeof(buf)));
	KUNIT_EXPECT_STREQ(test, target, buf);
	args.filehandle = dafs_test_lookup(test, fix, "file");
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL,
			   dafs_test_call(test, fix->clnt, dafs_test_me(),
					  DAFS_PROC_READLINK_INLINE, &args, NULL));
	args.filehandle = fix->dir;
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL,
			   dafs_test_call(test, fix->clnt, dafs_test_me(),
					  DAFS_PROC_READLINK_INLINE, &args, NULL));
	args.filehandle = dafs_name_root(test, fix);
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL,
			   dafs_test_call(test, fix->clnt, dafs_test_me(),
					  DAFS_PROC_READLINK_INLINE, &args, NULL));
}

/* R-3.2.6.3-07: a long target, and one that is too long for the response (E-98). */
static void dafs_readlink_long_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_name_fixture(test);
	struct dafs_client_params small = fix->params;
	char *buf = kunit_kzalloc(test, PATH_MAX, GFP_KERNEL);
	char *text = kunit_kzalloc(test, PATH_MAX, GFP_KERNEL);
	struct dafs_fh_args args;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	KUNIT_ASSERT_NOT_NULL(test, text);
	memset(text, 'l', 1000);
	dafs_backing_symlink(test, fix, "long", text);
	args.filehandle = dafs_test_lookup(test, fix, "long");
	KUNIT_EXPECT_EQ(test, 1000, dafs_readlink(fix->clnt, dafs_test_me(), &args.filehandle,
						  buf, PATH_MAX));
	KUNIT_EXPECT_STREQ(test, text, buf);
	small.msg_size = DAFS_MIN_MSG_SIZE;
	DAFS_EXPECT_STATUS(test, DAFSERR_TOOSMALL,
			   dafs_test_call(test, dafs_fixture_client(test, &small),
					  dafs_test_me(), DAFS_PROC_READLINK_INLINE, &args, NULL));
}

/*
 * R-6.5.33-01 R-6.5.33-08: entries of all types are removed; the response has the
 * change of the directory.
 */
static void dafs_remove_test(struct kunit *test)
{
	static const char *const names[] = { "file", "link", "dir", "fifo", "chr", "hard" };
	struct dafs_fixture *fix = dafs_name_fixture(test);
	struct dafs_change_info info;
	struct kstat stat;
	int i;

	dafs_backing_write(test, fix, "file", "data", 4);
	dafs_backing_write(test, fix, "soft", "data", 4);
	dafs_backing_link(test, fix, "soft", "hard");
	dafs_backing_symlink(test, fix, "link", "soft");
	dafs_backing_mkdir(test, fix, "dir", 0700);
	dafs_backing_mknod(test, fix, "fifo", S_IFIFO | 0600, 0);
	dafs_backing_mknod(test, fix, "chr", S_IFCHR | 0600, MKDEV(1, 3));
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		u64 before = dafs_name_change(test, fix, &fix->dir);

		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
				   dafs_name_remove(test, fix, dafs_test_me(), &fix->dir,
						    names[i], DAFS_REMOVE_UNCHECKED, &info));
		dafs_name_expect_gone(test, fix, names[i]);
		KUNIT_EXPECT_TRUE(test, info.atomic);
		KUNIT_EXPECT_EQ(test, before, info.before);
		KUNIT_EXPECT_NE(test, before, info.after);
		KUNIT_EXPECT_EQ(test, info.after, dafs_name_change(test, fix, &fix->dir));
	}
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_stat(fix, "soft", &stat));
	KUNIT_EXPECT_EQ(test, 1, stat.nlink);
}

/* R-6.5.33-02 R-6.5.33-03 and the other refusals. */
static void dafs_remove_refused_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_name_fixture(test);
	struct dafs_fixture *ro = dafs_fixture_in(test, test->param_value, DAFS_TEST_RO);
	const struct cred *user = dafs_fixture_user(test, 1000, 2000);
	struct dafs_fh file, link, b;
	struct kstat stat;

	dafs_name_make_tree(test, fix);
	file = dafs_test_lookup(test, fix, "file");
	link = dafs_test_lookup(test, fix, "link");
	b = dafs_test_lookup(test, fix, "a/b");
	DAFS_EXPECT_STATUS(test, DAFSERR_NOTEMPTY,
			   dafs_name_remove(test, fix, dafs_test_me(), &fix->dir, "a", 0, NULL));
	DAFS_EXPECT_STATUS(test, DAFSERR_NOENT,
			   dafs_name_remove(test, fix, dafs_test_me(), &fix->dir, "no", 0, NULL));
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL,
			   dafs_name_remove(test, fix, dafs_test_me(), &fix->dir, "file", 2, NULL));
	DAFS_EXPECT_STATUS(test, DAFSERR_NOTDIR,
			   dafs_name_remove(test, fix, dafs_test_me(), &file, "x", 0, NULL));
	DAFS_EXPECT_STATUS(test, DAFSERR_NOTDIR,
			   dafs_name_remove(test, fix, dafs_test_me(), &link, "b", 0, NULL));
	DAFS_EXPECT_STATUS(test, DAFSERR_ACCES,
			   dafs_name_remove(test, fix, user, &b, "f", 0, NULL));
	dafs_backing_chmod(test, fix, "a/b", 01777);
	DAFS_EXPECT_STATUS(test, DAFSERR_PERM,
			   dafs_name_remove(test, fix, user, &b, "f", 0, NULL));
	KUNIT_EXPECT_EQ(test, 0, dafs_backing_stat(fix, "a/b/f", &stat));
	KUNIT_EXPECT_EQ(test, 0, dafs_backing_stat(fix, "file", &stat));
	dafs_backing_write(test, ro, "file", "data", 4);
	DAFS_EXPECT_STATUS(test, DAFSERR_ROFS,
			   dafs_name_remove(test, ro, dafs_test_me(), &ro->dir, "file", 0, NULL));
	KUNIT_EXPECT_EQ(test, 0, dafs_backing_stat(ro, "file", &stat));
}

static struct dafs_open_res dafs_name_open(struct kunit *test, struct dafs_fixture *fix,
					   const char *name, u32 delete_disp)
{
	struct dafs_open_args args = dafs_test_open_args("owner", DAFS_OPEN_SHARE_ACCESS_BOTH, 0);
	struct dafs_open_res res = {};

	args.delete_disp = delete_disp;
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, dafs_test_open(test, fix->clnt, dafs_test_me(),
								&fix->dir, name, &args, &res));
	return res;
}

/* Expects that an open still reads @data and can write. */
static void dafs_name_expect_usable(struct kunit *test, struct dafs_fixture *fix,
				    const struct dafs_open_res *open, const char *data)
{
	struct dafs_read_inline_args read = {
		.filehandle = open->filehandle,
		.state_id = open->state_id,
		.byte_count = strlen(data),
	};
	struct dafs_write_inline_args write = {
		.filehandle = open->filehandle,
		.state_id = open->state_id,
		.offset = 100,
		.byte_count = 1,
		.data = "w",
	};
	struct dafs_read_inline_res got;
	struct dafs_write_res put;
	char buf[16] = {};

	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_test_read(test, fix->clnt, dafs_test_me(), &read, buf, &got));
	KUNIT_EXPECT_STREQ(test, data, buf);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_test_write(test, fix->clnt, dafs_test_me(), &write, &put));
}

/*
 * R-6.5.7-02 R-6.5.7-03 R-6.5.33-04 R-6.5.33-07: the name is removed, but the
 * file stays until the last CLOSE.
 */
static void dafs_remove_open_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_name_fixture(test);
	struct dafs_getattr_args getattr = { .attr_request_bitmap = DAFS_FATTR_NUM_LINKS };
	struct dafs_getattr_res attr;
	struct dafs_lookup_res found;
	struct dafs_open_res open;

	dafs_backing_write(test, fix, "file", "content", 7);
	open = dafs_name_open(test, fix, "file", DAFS_DELETE_DONT_CARE);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_name_remove(test, fix, dafs_test_me(), &fix->dir, "file",
					    DAFS_REMOVE_UNCHECKED, NULL));
	dafs_name_expect_gone(test, fix, "file");
	DAFS_EXPECT_STATUS(test, DAFSERR_NOENT,
			   dafs_name_lookup(test, fix, &fix->dir, "file", &found));
	dafs_name_expect_usable(test, fix, &open, "content");
	KUNIT_EXPECT_EQ(test, 0, dafs_name_getattr(test, fix, &open.filehandle,
						   DAFS_FATTR_NUM_LINKS).num_links);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &open));
	getattr.filehandle = open.filehandle;
	DAFS_EXPECT_STATUS(test, DAFSERR_STALE,
			   dafs_test_call(test, fix->clnt, dafs_test_me(),
					  DAFS_PROC_GETATTR_INLINE, &getattr, &attr));
}

/* R-6.5.24-13 R-6.5.33-04: an open may deny the removal. */
static void dafs_remove_denied_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_name_fixture(test);
	struct dafs_open_res open;

	dafs_backing_write(test, fix, "file", "content", 7);
	dafs_backing_write(test, fix, "other", "other", 5);
	open = dafs_name_open(test, fix, "file", DAFS_DELETE_DENY);
	DAFS_EXPECT_STATUS(test, DAFSERR_DENYDISP_CONFLICT,
			   dafs_name_remove(test, fix, dafs_test_me(), &fix->dir, "file",
					    DAFS_REMOVE_UNCHECKED, NULL));
	DAFS_EXPECT_STATUS(test, DAFSERR_DENYDISP_CONFLICT,
			   dafs_name_rename(test, fix, "other", "file"));
	dafs_name_expect_same(test, fix, "file", &open.filehandle);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &open));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_name_remove(test, fix, dafs_test_me(), &fix->dir, "file",
					    DAFS_REMOVE_UNCHECKED, NULL));
	dafs_name_expect_gone(test, fix, "file");
}

/* R-6.5.33-05 R-6.5.33-06: CHECK_OPEN removes only files that are not open. */
static void dafs_remove_check_open_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_name_fixture(test);
	struct dafs_open_res open;

	dafs_backing_write(test, fix, "file", "content", 7);
	dafs_backing_mkdir(test, fix, "dir", 0700);
	open = dafs_name_open(test, fix, "file", DAFS_DELETE_DONT_CARE);
	DAFS_EXPECT_STATUS(test, DAFSERR_DENYDISP_CONFLICT,
			   dafs_name_remove(test, fix, dafs_test_me(), &fix->dir, "file",
					    DAFS_REMOVE_CHECK_OPEN, NULL));
	dafs_name_expect_same(test, fix, "file", &open.filehandle);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &open));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_name_remove(test, fix, dafs_test_me(), &fix->dir, "file",
					    DAFS_REMOVE_CHECK_OPEN, NULL));
	dafs_name_expect_gone(test, fix, "file");
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_name_remove(test, fix, dafs_test_me(), &fix->dir, "dir",
					    DAFS_REMOVE_CHECK_OPEN, NULL));
	dafs_name_expect_gone(test, fix, "dir");
}

/* The handle of a renamed file stays the same; the response has the changes of both directories. */
static void dafs_rename_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_name_fixture(test);
	struct dafs_fh file, a, moved;
	struct dafs_rename_res res;
	u64 dir_change, a_change;

	dafs_name_make_tree(test, fix);
	file = dafs_test_lookup(test, fix, "file");
	a = dafs_test_lookup(test, fix, "a");
	dir_change = dafs_name_change(test, fix, &fix->dir);
	a_change = dafs_name_change(test, fix, &a);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_name_rename_in(test, fix, dafs_test_me(), &fix->dir, "file", &a,
					       "moved", &res));
	dafs_name_expect_gone(test, fix, "file");
	dafs_name_expect_same(test, fix, "a/moved", &file);
	moved = dafs_test_lookup(test, fix, "a/moved");
	KUNIT_EXPECT_MEMEQ(test, &file, &moved, sizeof(file));
	KUNIT_EXPECT_TRUE(test, res.source.atomic);
	KUNIT_EXPECT_TRUE(test, res.target.atomic);
	KUNIT_EXPECT_EQ(test, dir_change, res.source.before);
	KUNIT_EXPECT_EQ(test, a_change, res.target.before);
	KUNIT_EXPECT_NE(test, dir_change, res.source.after);
	KUNIT_EXPECT_NE(test, a_change, res.target.after);
	KUNIT_EXPECT_EQ(test, res.source.after, dafs_name_change(test, fix, &fix->dir));
	KUNIT_EXPECT_EQ(test, res.target.after, dafs_name_change(test, fix, &a));
}

/* R-6.5.34-03: a directory replaces an empty directory, any other object a non-directory. */
static void dafs_rename_replace_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_name_fixture(test);
	struct dafs_fh file, dir;

	dafs_backing_write(test, fix, "file", "file", 4);
	dafs_backing_write(test, fix, "old", "old", 3);
	dafs_backing_symlink(test, fix, "link", "nowhere");
	dafs_backing_mkdir(test, fix, "dir", 0700);
	dafs_backing_mkdir(test, fix, "empty", 0700);
	file = dafs_test_lookup(test, fix, "file");
	dir = dafs_test_lookup(test, fix, "dir");
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_name_rename(test, fix, "file", "old"));
	dafs_name_expect_gone(test, fix, "file");
	dafs_name_expect_same(test, fix, "old", &file);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_name_rename(test, fix, "old", "link"));
	dafs_name_expect_same(test, fix, "link", &file);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_name_rename(test, fix, "dir", "empty"));
	dafs_name_expect_gone(test, fix, "dir");
	dafs_name_expect_same(test, fix, "empty", &dir);
}

/**
 * struct dafs_rename_case - a RENAME in dafs_name_make_tree() that is refused
 * @old: where from
 * @new: where to
 * @status: why not
 */
struct dafs_rename_case {
	const char *old;
	const char *new;
	dafs_status_t status;
};

/* R-6.5.34-04 and the errors of the file system. */
static const struct dafs_rename_case dafs_rename_cases[] = {
	{ "missing", "new", DAFSERR_NOENT },
	{ "missing", "file", DAFSERR_NOENT },
	{ "file", "a", DAFSERR_EXIST },
	{ "a", "file", DAFSERR_EXIST },
	{ "a", "link", DAFSERR_EXIST },
	{ "dir", "a", DAFSERR_EXIST },
};

static void dafs_rename_refused_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_name_fixture(test);
	const struct dafs_rename_case *c;
	struct dafs_fh file, link, a, b;
	struct dafs_rename_res res;

	dafs_name_make_tree(test, fix);
	dafs_backing_mkdir(test, fix, "dir", 0700);
	file = dafs_test_lookup(test, fix, "file");
	link = dafs_test_lookup(test, fix, "link");
	a = dafs_test_lookup(test, fix, "a");
	b = dafs_test_lookup(test, fix, "a/b");
	for (c = dafs_rename_cases; c < dafs_rename_cases + ARRAY_SIZE(dafs_rename_cases); c++)
		DAFS_EXPECT_STATUS_MSG(test, c->status, dafs_name_rename(test, fix, c->old, c->new),
				       "%s to %s", c->old, c->new);
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL,
			   dafs_name_rename_in(test, fix, dafs_test_me(), &fix->dir, "a", &b,
					       "loop", &res));
	DAFS_EXPECT_STATUS(test, DAFSERR_EXIST,
			   dafs_name_rename_in(test, fix, dafs_test_me(), &b, "f", &fix->dir, "a",
					       &res));
	DAFS_EXPECT_STATUS(test, DAFSERR_NOTDIR,
			   dafs_name_rename_in(test, fix, dafs_test_me(), &file, "x", &fix->dir,
					       "y", &res));
	DAFS_EXPECT_STATUS(test, DAFSERR_NOTDIR,
			   dafs_name_rename_in(test, fix, dafs_test_me(), &fix->dir, "file", &link,
					       "y", &res));
	dafs_name_expect_same(test, fix, "file", &file);
	dafs_name_expect_same(test, fix, "link", &link);
	dafs_name_expect_same(test, fix, "a", &a);
	dafs_name_expect_same(test, fix, "a/b", &b);
}

/* R-6.5.34-02: refused across exports, without permission, and in a read-only export. */
static void dafs_rename_where_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_name_fixture(test);
	struct dafs_fixture *ro = dafs_fixture_in(test, test->param_value, DAFS_TEST_RO);
	struct dafs_fixture *squash = dafs_fixture_in(test, test->param_value, DAFS_TEST_SQUASH);
	const struct cred *user = dafs_fixture_user(test, 1000, 2000);
	struct dafs_rename_res res;
	struct dafs_fh a, file;

	dafs_name_make_tree(test, fix);
	dafs_backing_write(test, ro, "file", "data", 4);
	a = dafs_test_lookup(test, fix, "a");
	file = dafs_test_lookup(test, fix, "file");
	DAFS_EXPECT_STATUS(test, DAFSERR_XDEV,
			   dafs_name_rename_in(test, fix, dafs_test_me(), &fix->dir, "file",
					       &squash->dir, "file", &res));
	DAFS_EXPECT_STATUS(test, DAFSERR_ROFS,
			   dafs_name_rename_in(test, ro, dafs_test_me(), &ro->dir, "file",
					       &ro->dir, "moved", &res));
	DAFS_EXPECT_STATUS(test, DAFSERR_ACCES,
			   dafs_name_rename_in(test, fix, user, &fix->dir, "file", &a, "file",
					       &res));
	DAFS_EXPECT_STATUS(test, DAFSERR_ACCES,
			   dafs_name_rename_in(test, fix, user, &a, "b", &fix->dir, "b", &res));
	dafs_name_expect_same(test, fix, "file", &file);
	dafs_name_expect_gone(test, ro, "moved");
	dafs_name_expect_gone(test, squash, "file");
	dafs_name_expect_gone(test, fix, "a/file");
}

/* R-6.5.34-05: a rename to another name of the same file keeps both names. */
static void dafs_rename_same_file_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_name_fixture(test);
	struct dafs_fh fh;
	struct kstat stat;

	dafs_backing_write(test, fix, "one", "data", 4);
	dafs_backing_link(test, fix, "one", "two");
	fh = dafs_test_lookup(test, fix, "one");
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_name_rename(test, fix, "one", "two"));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_name_rename(test, fix, "one", "one"));
	dafs_name_expect_same(test, fix, "one", &fh);
	dafs_name_expect_same(test, fix, "two", &fh);
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_stat(fix, "one", &stat));
	KUNIT_EXPECT_EQ(test, 2, stat.nlink);
}

/* R-6.5.34-08: an open of the replaced file still uses that file. */
static void dafs_rename_open_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_name_fixture(test);
	struct dafs_open_res open;
	struct dafs_fh new;

	dafs_backing_write(test, fix, "old", "old", 3);
	dafs_backing_write(test, fix, "new", "new", 3);
	new = dafs_test_lookup(test, fix, "new");
	open = dafs_name_open(test, fix, "old", DAFS_DELETE_DONT_CARE);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_name_rename(test, fix, "new", "old"));
	dafs_name_expect_usable(test, fix, &open, "old");
	dafs_name_expect_same(test, fix, "old", &new);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &open));
}

#define DAFS_RENAMES	100

/**
 * struct dafs_renamer - a thread that replaces a name again and again
 * @clnt: its client
 * @dir: the directory
 * @done: when it ended
 * @err: errno of the operation that failed
 */
struct dafs_renamer {
	struct dafs_client *clnt;
	struct dafs_fh dir;
	struct completion done;
	int err;
};

static int dafs_renamer_run(void *data)
{
	struct qstr spare = dafs_test_qstr("spare"), name = dafs_test_qstr("name");
	struct dafs_renamer *r = data;
	struct dafs_node node = { .type = DAFS_TYPE_FIFO };
	struct dafs_change_info info;
	struct dafs_rename_res res;
	struct dafs_fh fh;
	int i;

	for (i = 0; i < DAFS_RENAMES && !r->err; i++) {
		r->err = dafs_create(r->clnt, dafs_test_me(), &r->dir, &spare, &node, &fh, &info);
		if (!r->err)
			r->err = dafs_rename(r->clnt, dafs_test_me(), &r->dir, &spare, &r->dir,
					     &name, &res);
	}
	complete(&r->done);
	return 0;
}

/* R-6.5.34-01: the name exists at all times. */
static void dafs_rename_atomic_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_name_fixture(test);
	struct dafs_renamer r = {
		.clnt = dafs_fixture_client(test, &fix->params),
		.dir = fix->dir,
	};
	unsigned int misses = 0, looks = 0;
	struct dafs_lookup_res res;
	struct task_struct *task;

	dafs_backing_mknod(test, fix, "name", S_IFIFO | 0600, 0);
	init_completion(&r.done);
	task = kthread_run(dafs_renamer_run, &r, "dafs_renamer");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	do {
		looks++;
		misses += !!dafs_name_lookup(test, fix, &fix->dir, "name", &res);
	} while (!completion_done(&r.done));
	wait_for_completion(&r.done);
	KUNIT_EXPECT_EQ(test, 0, r.err);
	KUNIT_EXPECT_EQ(test, 0, misses);
	KUNIT_EXPECT_GT(test, looks, 10);
}

static struct kunit_case dafs_name_cases[] = {
	KUNIT_CASE_PARAM(dafs_root_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_root_read_only_test),
	KUNIT_CASE(dafs_root_open_test),
	KUNIT_CASE_PARAM(dafs_lookup_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_lookup_partial_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_lookup_start_test),
	KUNIT_CASE(dafs_lookup_access_test),
	KUNIT_CASE(dafs_lookup_crossing_test),
	KUNIT_CASE_PARAM(dafs_bad_name_find_test, dafs_bad_names_gen),
	KUNIT_CASE_PARAM(dafs_bad_name_change_test, dafs_bad_names_gen),
	KUNIT_CASE_PARAM(dafs_long_name_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_create_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_create_exists_test),
	KUNIT_CASE(dafs_create_type_test),
	KUNIT_CASE(dafs_create_attr_test),
	KUNIT_CASE_PARAM(dafs_create_dir_attrs_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_create_undone_test),
	KUNIT_CASE(dafs_create_bad_data_test),
	KUNIT_CASE(dafs_create_where_test),
	KUNIT_CASE_PARAM(dafs_readlink_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_readlink_long_test),
	KUNIT_CASE_PARAM(dafs_remove_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_remove_refused_test),
	KUNIT_CASE(dafs_remove_open_test),
	KUNIT_CASE(dafs_remove_denied_test),
	KUNIT_CASE(dafs_remove_check_open_test),
	KUNIT_CASE_PARAM(dafs_rename_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_rename_replace_test),
	KUNIT_CASE(dafs_rename_refused_test),
	KUNIT_CASE(dafs_rename_where_test),
	KUNIT_CASE(dafs_rename_same_file_test),
	KUNIT_CASE(dafs_rename_open_test),
	KUNIT_CASE(dafs_rename_atomic_test),
	{}
};

static struct kunit_suite dafs_name_suite = {
	.name = "dafs_name",
	.test_cases = dafs_name_cases,
};

kunit_test_suite(dafs_name_suite);
