// SPDX-License-Identifier: GPL-2.0
/* Filehandles: their lifetime, and forged ones. */
#include <linux/slab.h>
#include "../../../../drivers/dafsd/export/handle.h"
#include "../lib/fixture.h"

static struct dafs_fh dafs_fh_of(struct kunit *test, struct dafs_fixture *fix, const char *path)
{
	return dafs_test_lookup(test, fix, path);
}

static bool dafs_fh_equal(const struct dafs_fh *a, const struct dafs_fh *b)
{
	return !memcmp(a, b, sizeof(*a));
}

/* Status of GETATTR for a handle; @ino is set if it is OK. */
static dafs_status_t dafs_fh_try(struct kunit *test, struct dafs_fixture *fix,
				 const struct dafs_fh *fh, u64 *ino)
{
	struct dafs_getattr_args args = {
		.filehandle = *fh,
		.attr_request_bitmap = DAFS_FATTR_FILE_ID,
	};
	struct dafs_getattr_res res = {};
	dafs_status_t status = dafs_test_call(test, fix->clnt, dafs_test_me(),
					      DAFS_PROC_GETATTR_INLINE, &args, &res);

	*ino = res.obj_attributes.file_id;
	return status;
}

static void dafs_fh_expect(struct kunit *test, struct dafs_fixture *fix, const struct dafs_fh *fh,
			   dafs_status_t expected)
{
	u64 ino;

	DAFS_EXPECT_STATUS(test, expected, dafs_fh_try(test, fix, fh, &ino));
}

static const char *const dafs_fh_names[] = { "file", "dir", "dir/file", "link", "fifo", "chr" };

static void dafs_fh_make_tree(struct kunit *test, struct dafs_fixture *fix)
{
	dafs_backing_write(test, fix, "file", "file", 4);
	dafs_backing_mkdir(test, fix, "dir", 0755);
	dafs_backing_write(test, fix, "dir/file", "file", 4);
	dafs_backing_symlink(test, fix, "link", "file");
	dafs_backing_mknod(test, fix, "fifo", S_IFIFO | 0600, 0);
	dafs_backing_mknod(test, fix, "chr", S_IFCHR | 0600, MKDEV(1, 3));
}

/* For KUNIT_CASE_PARAM(): all exports. */
static const void *dafs_exports_gen(const void *prev, char *desc)
{
	static const enum dafs_test_export exports[] = {
		DAFS_TEST_DATA, DAFS_TEST_RO, DAFS_TEST_SQUASH,
	};
	static const char *const names[] = { "a file system", "a read-only one", "a directory" };
	const enum dafs_test_export *next = prev ? (const enum dafs_test_export *)prev + 1 :
						   exports;

	if (next >= exports + ARRAY_SIZE(exports))
		return NULL;
	strscpy(desc, names[next - exports], KUNIT_PARAM_DESC_SIZE);
	return next;
}

static struct dafs_fixture *dafs_fh_fixture(struct kunit *test)
{
	return dafs_fixture_in(test, NULL, *(const enum dafs_test_export *)test->param_value);
}

/*
 * R-4.1.4-04 R-4.1.4-10: an object has the same handle in all sessions,
 * different objects have different ones; the first 16 bytes identify the
 * export.
 */
static void dafs_fh_stable_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fh_fixture(test);
	struct dafs_fh fh[ARRAY_SIZE(dafs_fh_names)], again;
	u64 ino;
	int i, j;

	dafs_fh_make_tree(test, fix);
	for (i = 0; i < ARRAY_SIZE(fh); i++) {
		struct kstat stat = {};

		fh[i] = dafs_fh_of(test, fix, dafs_fh_names[i]);
		KUNIT_EXPECT_MEMEQ(test, fix->export.fshandle, fh[i].fshandle,
				   DAFS_FSHANDLE_SIZE);
		for (j = 0; j < i; j++)
			KUNIT_EXPECT_FALSE(test, dafs_fh_equal(&fh[i], &fh[j]));
		KUNIT_EXPECT_EQ(test, 0, dafs_backing_stat(fix, dafs_fh_names[i], &stat));
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_fh_try(test, fix, &fh[i], &ino));
		KUNIT_EXPECT_EQ(test, stat.ino, ino);
	}
	fix->params.swab = true;
	fix->clnt = dafs_fixture_client(test, &fix->params);
	for (i = 0; i < ARRAY_SIZE(fh); i++) {
		again = dafs_fh_of(test, fix, dafs_fh_names[i]);
		KUNIT_EXPECT_MEMEQ(test, &fh[i], &again, sizeof(again));
	}
}

/* R-4.1.4-14: valid after the server has dropped the objects from its caches. */
static void dafs_fh_dropped_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fh_fixture(test);
	struct dafs_fh fh[ARRAY_SIZE(dafs_fh_names)];
	u64 ino;
	int i;

	dafs_fh_make_tree(test, fix);
	for (i = 0; i < ARRAY_SIZE(fh); i++)
		fh[i] = dafs_fh_of(test, fix, dafs_fh_names[i]);
	shrink_dcache_sb(fix->path.dentry->d_sb);
	for (i = 0; i < ARRAY_SIZE(fh); i++) {
		struct kstat stat = {};

		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_fh_try(test, fix, &fh[i], &ino));
		KUNIT_EXPECT_EQ(test, 0, dafs_backing_stat(fix, dafs_fh_names[i], &stat));
		KUNIT_EXPECT_EQ(test, stat.ino, ino);
	}
}

/* R-4.1.4-11: in an export of a whole file system all names of a file have the same handle. */
static void dafs_fh_links_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_fh one, two;

	dafs_fh_make_tree(test, fix);
	dafs_backing_link(test, fix, "file", "dir/hard");
	one = dafs_fh_of(test, fix, "file");
	two = dafs_fh_of(test, fix, "dir/hard");
	KUNIT_EXPECT_MEMEQ(test, &one, &two, sizeof(one));
	dafs_backing_remove(fix, "file");
	dafs_fh_expect(test, fix, &one, DAFS_STATUS_OK);
	two = dafs_fh_of(test, fix, "dir/hard");
	KUNIT_EXPECT_MEMEQ(test, &one, &two, sizeof(one));
}

/*
 * R-4.1.4-10: different objects have different handles; the handles of both hard
 * links are valid.
 */
static void dafs_fh_links_inside_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture_in(test, test->param_value, DAFS_TEST_SQUASH);
	struct dafs_fh one, two;
	u64 one_ino, two_ino;

	dafs_fh_make_tree(test, fix);
	dafs_backing_link(test, fix, "file", "dir/hard");
	one = dafs_fh_of(test, fix, "file");
	two = dafs_fh_of(test, fix, "dir/hard");
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_fh_try(test, fix, &one, &one_ino));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_fh_try(test, fix, &two, &two_ino));
	KUNIT_EXPECT_EQ(test, one_ino, two_ino);
}

/* R-4.1.4-15: the handle of a removed object is STALE in every procedure. */
static void dafs_fh_stale_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fh_fixture(test);
	struct dafs_lookup_args lookup = { .path.count = 1 };
	struct dafs_str name = dafs_test_str("x");
	struct dafs_fh fh[ARRAY_SIZE(dafs_fh_names)];
	struct dafs_lookup_res found;
	int i;

	dafs_fh_make_tree(test, fix);
	for (i = 0; i < ARRAY_SIZE(fh); i++)
		fh[i] = dafs_fh_of(test, fix, dafs_fh_names[i]);
	for (i = ARRAY_SIZE(fh); i--; )
		dafs_backing_remove(fix, dafs_fh_names[i]);
	for (i = 0; i < ARRAY_SIZE(fh); i++) {
		dafs_fh_expect(test, fix, &fh[i], DAFSERR_STALE);
		lookup.directory = fh[i];
		lookup.path.elems = &name;
		DAFS_EXPECT_STATUS(test, DAFSERR_STALE,
				   dafs_test_call(test, fix->clnt, dafs_test_me(),
						  DAFS_PROC_LOOKUP, &lookup, &found));
	}
}

/* R-4.1.4-08: after the inode number is reused the old handle is STALE. */
static void dafs_fh_reuse_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_fh old, new;
	struct kstat stat;
	bool reused = false;
	u64 ino;
	int i;

	dafs_backing_write(test, fix, "file", "old", 3);
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_stat(fix, "file", &stat));
	/* smaller numbers may have become free only now, by what another test has removed */
	for (i = 0; i < 50 && !reused; i++) {
		old = dafs_fh_of(test, fix, "file");
		ino = stat.ino;
		dafs_backing_remove(fix, "file");
		dafs_backing_write(test, fix, "file", "new", 3);
		KUNIT_ASSERT_EQ(test, 0, dafs_backing_stat(fix, "file", &stat));
		reused = stat.ino == ino;
	}
	if (!reused)
		kunit_skip(test, "the file system does not use the inode number again");
	new = dafs_fh_of(test, fix, "file");
	KUNIT_EXPECT_FALSE(test, dafs_fh_equal(&old, &new));
	dafs_fh_expect(test, fix, &old, DAFSERR_STALE);
	dafs_fh_expect(test, fix, &new, DAFS_STATUS_OK);
}

/* In an export of a whole file system a handle stays valid when its object is moved. */
static void dafs_fh_rename_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct qstr old = dafs_test_qstr("file"), new = dafs_test_qstr("moved");
	struct dafs_rename_res res;
	struct dafs_fh fh, dir, moved;

	dafs_fh_make_tree(test, fix);
	fh = dafs_fh_of(test, fix, "file");
	dir = dafs_fh_of(test, fix, "dir");
	KUNIT_EXPECT_EQ(test, 0, dafs_rename(fix->clnt, dafs_test_me(), &fix->dir, &old, &dir, &new,
					     &res));
	shrink_dcache_sb(fix->path.dentry->d_sb);
	dafs_fh_expect(test, fix, &fh, DAFS_STATUS_OK);
	moved = dafs_fh_of(test, fix, "dir/moved");
	KUNIT_EXPECT_MEMEQ(test, &fh, &moved, sizeof(fh));
}

/*
 * In an export of a subdirectory, handles of objects outside of it, made from
 * those of another export of the file system, are refused; those of directories
 * even if the hash is right.
 */
static void dafs_fh_outside_test(struct kunit *test)
{
	struct dafs_fixture *ro = dafs_fixture_in(test, NULL, DAFS_TEST_RO);
	struct dafs_fixture *fix = dafs_fixture_in(test, NULL, DAFS_TEST_SQUASH);
	struct dafs_fh outside, inside, forged;
	int i;

	if (ro->path.dentry->d_sb != fix->path.dentry->d_sb)
		kunit_skip(test, "the exports do not share a file system");
	dafs_fh_make_tree(test, ro);
	dafs_fh_make_tree(test, fix);
	for (i = 0; i < ARRAY_SIZE(dafs_fh_names); i++) {
		outside = dafs_fh_of(test, ro, dafs_fh_names[i]);
		forged = outside;
		memcpy(forged.fshandle, fix->export.fshandle, DAFS_FSHANDLE_SIZE);
		dafs_fh_expect(test, ro, &outside, DAFS_STATUS_OK);
		dafs_fh_expect(test, fix, &forged, DAFSERR_STALE);
		if (strcmp(dafs_fh_names[i], "dir"))
			continue;
		dafsd_fh_sign(&forged);
		dafs_fh_expect(test, fix, &forged, DAFSERR_STALE);
		shrink_dcache_sb(fix->path.dentry->d_sb);
		dafs_fh_expect(test, fix, &forged, DAFSERR_STALE);
	}
	for (i = 0; i < ARRAY_SIZE(dafs_fh_names); i++) {
		inside = dafs_fh_of(test, fix, dafs_fh_names[i]);
		dafs_fh_expect(test, fix, &inside, DAFS_STATUS_OK);
	}
	forged = ro->dir;
	memcpy(forged.fshandle, fix->export.fshandle, DAFS_FSHANDLE_SIZE);
	dafsd_fh_sign(&forged);
	dafs_fh_expect(test, fix, &forged, DAFSERR_STALE);
}

/* A handle with one bit inverted is refused. */
static void dafs_fh_forged_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fh_fixture(test);
	struct dafs_fh fh, forged;
	dafs_status_t status;
	int bit;
	u64 ino;

	dafs_fh_make_tree(test, fix);
	fh = dafs_fh_of(test, fix, "dir/file");
	dafs_fh_expect(test, fix, &fh, DAFS_STATUS_OK);
	for (bit = 0; bit < 8 * sizeof(fh); bit++) {
		forged = fh;
		((u8 *)&forged)[bit / 8] ^= 1 << bit % 8;
		status = dafs_fh_try(test, fix, &forged, &ino);
		KUNIT_EXPECT_TRUE_MSG(test, status == DAFSERR_STALE || status == DAFSERR_BADHANDLE,
				      "bit %d: %s", bit, dafs_status_name(status));
	}
}

/* Random bytes, and handles that the server never returns (E-111). */
static void dafs_fh_bad_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_fh fh = {}, root;

	dafs_fh_expect(test, fix, &fh, DAFSERR_BADHANDLE);
	memset(&fh, 0xff, sizeof(fh));
	dafs_fh_expect(test, fix, &fh, DAFSERR_BADHANDLE);
	fh = fix->export;
	memset(fh.fileid, 0, sizeof(fh.fileid));
	dafs_fh_expect(test, fix, &fh, DAFSERR_BADHANDLE);
	fh = fix->export;
	KUNIT_EXPECT_PTR_NE(test, NULL, memchr_inv(fh.fileid, 0, sizeof(fh.fileid)));
	fh.fshandle[0] ^= 1;
	dafs_fh_expect(test, fix, &fh, DAFSERR_STALE);
	KUNIT_ASSERT_EQ(test, 0, dafs_get_root_handle(fix->clnt, dafs_test_me(), &root));
	fh = fix->dir;
	memcpy(fh.fshandle, root.fshandle, sizeof(fh.fshandle));
	dafs_fh_expect(test, fix, &fh, DAFSERR_BADHANDLE);
}

static struct kunit_case dafs_handle_cases[] = {
	KUNIT_CASE_PARAM(dafs_fh_stable_test, dafs_exports_gen),
	KUNIT_CASE_PARAM(dafs_fh_dropped_test, dafs_exports_gen),
	KUNIT_CASE_PARAM(dafs_fh_links_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_fh_links_inside_test),
	KUNIT_CASE_PARAM(dafs_fh_stale_test, dafs_exports_gen),
	KUNIT_CASE(dafs_fh_reuse_test),
	KUNIT_CASE_PARAM(dafs_fh_rename_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_fh_outside_test),
	KUNIT_CASE_PARAM(dafs_fh_forged_test, dafs_exports_gen),
	KUNIT_CASE_PARAM(dafs_fh_bad_test, dafs_flavours_gen),
	{}
};

static struct kunit_suite dafs_handle_suite = {
	.name = "dafs_handle",
	.test_cases = dafs_handle_cases,
};

kunit_test_suite(dafs_handle_suite);
