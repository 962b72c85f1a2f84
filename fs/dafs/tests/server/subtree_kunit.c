// SPDX-License-Identifier: GPL-2.0
/*
 * Exports of a subdirectory: lifetime of filehandles with and without
 * subtree_check, and that no object outside is reached.
 */
#include <linux/dcache.h>
#include "../../../../drivers/dafsd/export/export.h"
#include "../../../../drivers/dafsd/export/handle.h"
#include "../lib/fixture.h"

#define DAFS_ST_EXPORT	"subtree"

static const void *dafs_st_gen(const void *prev, char *desc)
{
	static const bool checks[] = { true, false };
	const bool *next = prev ? (const bool *)prev + 1 : checks;

	if (next >= checks + ARRAY_SIZE(checks))
		return NULL;
	strscpy(desc, *next ? "subtree_check" : "no_subtree_check", KUNIT_PARAM_DESC_SIZE);
	return next;
}

static bool dafs_st_checks(const struct kunit *test)
{
	return *(const bool *)test->param_value;
}

static void dafs_st_withdraw(void *exp)
{
	dafsd_export_withdraw(exp);
}

/*
 * "part" in the test's directory is the root of the export.  @part is the handle
 * of that directory in the export of the whole file system.
 */
static struct dafs_fixture *dafs_st_fixture(struct kunit *test, struct dafs_fh *part)
{
	static const char *const dirs[] = { "part", "part/from", "part/to", "outside" };
	const struct dafsd_export_conf conf = { .subtree_check = dafs_st_checks(test) };
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafsd_export *exp;
	int i;

	for (i = 0; i < ARRAY_SIZE(dirs); i++)
		dafs_backing_mkdir(test, fix, dirs[i], 0755);
	dafs_backing_write(test, fix, "part/from/file", "1", 1);
	dafs_backing_write(test, fix, "outside/file", "2", 1);
	*part = dafs_test_lookup(test, fix, "part");
	exp = dafs_fixture_serve(test, fix, DAFS_ST_EXPORT, "part", &conf);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, exp);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, dafs_st_withdraw, exp));
	return fix;
}

/* LOOKUP of a path that begins with the name of an export */
static struct dafs_fh dafs_st_lookup(struct kunit *test, struct dafs_fixture *fix,
				     const char *path)
{
	struct dafs_str names[DAFS_TEST_NAMES];
	unsigned int nr = dafs_test_split(path, names, ARRAY_SIZE(names));
	struct dafs_fh root, fh = {};

	KUNIT_ASSERT_EQ(test, 0, dafs_get_root_handle(fix->clnt, dafs_test_me(), &root));
	KUNIT_EXPECT_EQ(test, 0, dafs_lookup_path(fix->clnt, dafs_test_me(), &root, names, nr,
						  &fh));
	return fh;
}

static void dafs_st_expect(struct kunit *test, struct dafs_fixture *fix, const struct dafs_fh *fh,
			   dafs_status_t expected)
{
	struct dafs_getattr_args args = {
		.filehandle = *fh,
		.attr_request_bitmap = DAFS_FATTR_FILE_ID,
	};
	struct dafs_getattr_res res = {};

	DAFS_EXPECT_STATUS(test, expected,
			   dafs_test_call(test, fix->clnt, dafs_test_me(), DAFS_PROC_GETATTR_INLINE,
					  &args, &res));
}

/* Then drops the server's caches. */
static void dafs_st_move(struct kunit *test, struct dafs_fixture *fix, const struct dafs_fh *from,
			 const char *name, const struct dafs_fh *to)
{
	struct qstr str = dafs_test_qstr(name);
	struct dafs_rename_res res;

	KUNIT_EXPECT_EQ(test, 0, dafs_rename(fix->clnt, dafs_test_me(), from, &str, to, &str,
					     &res));
	shrink_dcache_sb(fix->path.dentry->d_sb);
}

/* R-4.1.4-11 R-6.1.6-11: hard links have one handle if UNIQUE_HANDLE says so. */
static void dafs_st_links_test(struct kunit *test)
{
	struct dafs_fsattr attr = {};
	struct dafs_fh part, one, two;
	struct dafs_fixture *fix = dafs_st_fixture(test, &part);

	dafs_backing_link(test, fix, "part/from/file", "part/to/hard");
	one = dafs_st_lookup(test, fix, DAFS_ST_EXPORT "/from/file");
	two = dafs_st_lookup(test, fix, DAFS_ST_EXPORT "/to/hard");
	KUNIT_EXPECT_EQ(test, 0, dafs_get_fsattr(fix->clnt, dafs_test_me(), &one,
						 DAFS_FSATTR_UNIQUE_HANDLE, &attr));
	KUNIT_EXPECT_EQ(test, !dafs_st_checks(test), attr.unique_handle);
	KUNIT_EXPECT_EQ(test, !dafs_st_checks(test), !memcmp(&one, &two, sizeof(one)));
	dafs_backing_remove(fix, "part/from/file");
	shrink_dcache_sb(fix->path.dentry->d_sb);
	dafs_st_expect(test, fix, &one, dafs_st_checks(test) ? DAFSERR_FHEXPIRED : DAFS_STATUS_OK);
	dafs_st_expect(test, fix, &two, DAFS_STATUS_OK);
}

/*
 * R-4.1.4-14 R-4.1.4-16: a file's handle is valid as long as the file exists, even if
 * it is moved, unless FH_EXPIRE_TYPE says otherwise.
 */
static void dafs_st_move_test(struct kunit *test)
{
	struct dafs_fh part, fh, moved, from, to;
	struct dafs_fsattr attr = {};
	struct dafs_fixture *fix = dafs_st_fixture(test, &part);

	fh = dafs_st_lookup(test, fix, DAFS_ST_EXPORT "/from/file");
	from = dafs_st_lookup(test, fix, DAFS_ST_EXPORT "/from");
	to = dafs_st_lookup(test, fix, DAFS_ST_EXPORT "/to");
	KUNIT_EXPECT_EQ(test, 0, dafs_get_fsattr(fix->clnt, dafs_test_me(), &fh,
						 DAFS_FSATTR_FH_EXPIRE_TYPE, &attr));
	KUNIT_EXPECT_EQ(test, dafs_st_checks(test) ? DAFS_FH_VOL_RENAME : DAFS_FH_PERSISTENT,
			attr.fh_expire_type);
	dafs_st_move(test, fix, &from, "file", &to);
	dafs_st_expect(test, fix, &fh, dafs_st_checks(test) ? DAFSERR_FHEXPIRED : DAFS_STATUS_OK);
	moved = dafs_st_lookup(test, fix, DAFS_ST_EXPORT "/to/file");
	dafs_st_expect(test, fix, &moved, DAFS_STATUS_OK);
	KUNIT_EXPECT_EQ(test, !dafs_st_checks(test), !memcmp(&fh, &moved, sizeof(fh)));
	dafs_backing_remove(fix, "part/to/file");
	dafs_st_expect(test, fix, &fh, DAFSERR_STALE);
	dafs_st_expect(test, fix, &moved, DAFSERR_STALE);
}

/* An open file can be used even if its handle becomes invalid. */
static void dafs_st_open_test(struct kunit *test)
{
	struct dafs_fh part;
	struct dafs_fixture *fix = dafs_st_fixture(test, &part);
	struct dafs_fh from = dafs_st_lookup(test, fix, DAFS_ST_EXPORT "/from");
	struct dafs_fh to = dafs_st_lookup(test, fix, DAFS_ST_EXPORT "/to");
	struct dafs_open_args args = dafs_test_open_args("owner", DAFS_OPEN_SHARE_ACCESS_READ, 0);
	struct dafs_open_res open = {};
	struct dafs_read_inline_args read = { .byte_count = 10 };
	struct dafs_read_inline_res res = {};
	char data[10];

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   dafs_test_open(test, fix->clnt, dafs_test_me(), &from, "file", &args,
					  &open));
	dafs_st_move(test, fix, &from, "file", &to);
	read.filehandle = open.filehandle;
	read.state_id = open.state_id;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_test_read(test, fix->clnt, dafs_test_me(), &read, data, &res));
	dafs_st_expect(test, fix, &open.filehandle, DAFS_STATUS_OK);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &open));
}

/* Directories outside of the export, or moved out of it, are not found by their handles. */
static void dafs_st_outside_test(struct kunit *test)
{
	struct dafs_fh part;
	struct dafs_fixture *fix = dafs_st_fixture(test, &part);
	struct dafs_fh root = dafs_st_lookup(test, fix, DAFS_ST_EXPORT);
	struct dafs_fh inside = dafs_st_lookup(test, fix, DAFS_ST_EXPORT "/to");
	struct dafs_fh outside = dafs_test_lookup(test, fix, "outside");
	struct dafs_fh forged = outside;

	memcpy(forged.fshandle, root.fshandle, sizeof(forged.fshandle));
	dafs_st_expect(test, fix, &forged, DAFSERR_STALE);
	/* even if the client knows the key */
	dafsd_fh_sign(&forged);
	dafs_st_expect(test, fix, &forged, DAFSERR_STALE);
	shrink_dcache_sb(fix->path.dentry->d_sb);
	dafs_st_expect(test, fix, &forged, DAFSERR_STALE);
	forged = fix->dir;
	memcpy(forged.fshandle, root.fshandle, sizeof(forged.fshandle));
	dafsd_fh_sign(&forged);
	dafs_st_expect(test, fix, &forged, DAFSERR_STALE);
	dafs_st_expect(test, fix, &inside, DAFS_STATUS_OK);
	dafs_st_move(test, fix, &part, "to", &outside);
	dafs_st_expect(test, fix, &inside, DAFSERR_STALE);
}

/* Offset of the file id, behind version, type, length and a zero */
#define DAFS_ST_FID	(DAFS_FSHANDLE_SIZE + 4)

/* Forges the handle of a file, or with subtree_check of a file and its directory */
static struct dafs_fh dafs_st_guess(struct kunit *test, struct dafs_fixture *fix,
				    const struct dafs_fh *like, const char *file,
				    const char *dir)
{
	struct dafs_fh forged = *like;
	u32 fid[4] = {};
	struct kstat stat = {};

	KUNIT_ASSERT_EQ(test, 0, dafs_backing_stat(fix, file, &stat));
	fid[0] = stat.ino;
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_stat(fix, dir, &stat));
	fid[2] = stat.ino;
	memcpy((u8 *)&forged + DAFS_ST_FID, fid, (dafs_st_checks(test) ? 4 : 2) * sizeof(*fid));
	return forged;
}

/*
 * A file outside is not reached by its inode number, which is not secret, nor by
 * generation 0, which matches any generation.  The hash protects it; subtree_check
 * refuses it even with the right hash and any directory in the handle.
 */
static void dafs_st_guess_test(struct kunit *test)
{
	static const char *const dirs[] = { "outside", "part", "part/from" };
	struct dafs_fh part, inside, forged;
	struct dafs_fixture *fix = dafs_st_fixture(test, &part);
	dafs_status_t reached = dafs_st_checks(test) ? DAFSERR_FHEXPIRED : DAFS_STATUS_OK;
	unsigned int i;

	inside = dafs_st_lookup(test, fix, DAFS_ST_EXPORT "/from/file");
	for (i = 0; i < ARRAY_SIZE(dirs); i++) {
		forged = dafs_st_guess(test, fix, &inside, "outside/file", dirs[i]);
		dafs_st_expect(test, fix, &forged, DAFSERR_STALE);
		dafsd_fh_sign(&forged);
		dafs_st_expect(test, fix, &forged, reached);
		shrink_dcache_sb(fix->path.dentry->d_sb);
		dafs_st_expect(test, fix, &forged, reached);
	}
	/* a file inside is accepted, so the position is the reason of the refusal */
	forged = dafs_st_guess(test, fix, &inside, "part/from/file", "part/from");
	dafs_st_expect(test, fix, &forged, DAFSERR_STALE);
	dafsd_fh_sign(&forged);
	dafs_st_expect(test, fix, &forged, DAFS_STATUS_OK);
}

/* With subtree_check the caller needs search permission on the whole path to the object. */
static void dafs_st_search_test(struct kunit *test)
{
	const struct cred *user = dafs_fixture_user(test, 1000, 1000);
	struct dafs_getattr_args args = { .attr_request_bitmap = DAFS_FATTR_FILE_ID };
	struct dafs_getattr_res res = {};
	struct dafs_fh part;
	struct dafs_fixture *fix = dafs_st_fixture(test, &part);

	args.filehandle = dafs_st_lookup(test, fix, DAFS_ST_EXPORT "/from/file");
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_test_call(test, fix->clnt, user, DAFS_PROC_GETATTR_INLINE, &args,
					  &res));
	dafs_backing_chmod(test, fix, "part/from", 0700);
	DAFS_EXPECT_STATUS(test, dafs_st_checks(test) ? DAFSERR_ACCES : DAFS_STATUS_OK,
			   dafs_test_call(test, fix->clnt, user, DAFS_PROC_GETATTR_INLINE, &args,
					  &res));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_test_call(test, fix->clnt, dafs_test_me(), DAFS_PROC_GETATTR_INLINE,
					  &args, &res));
}

static struct kunit_case dafs_subtree_cases[] = {
	KUNIT_CASE_PARAM(dafs_st_links_test, dafs_st_gen),
	KUNIT_CASE_PARAM(dafs_st_move_test, dafs_st_gen),
	KUNIT_CASE_PARAM(dafs_st_open_test, dafs_st_gen),
	KUNIT_CASE_PARAM(dafs_st_outside_test, dafs_st_gen),
	KUNIT_CASE_PARAM(dafs_st_guess_test, dafs_st_gen),
	KUNIT_CASE_PARAM(dafs_st_search_test, dafs_st_gen),
	{}
};

static struct kunit_suite dafs_subtree_suite = {
	.name = "dafs_subtree",
	.test_cases = dafs_subtree_cases,
};

kunit_test_suite(dafs_subtree_suite);
