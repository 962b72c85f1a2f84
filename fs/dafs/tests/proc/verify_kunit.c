// SPDX-License-Identifier: GPL-2.0
/* LOOKUPP, VERIFY and NVERIFY. */
#include "../lib/fixture.h"

static struct dafs_fixture *dafs_verify_fixture(struct kunit *test)
{
	return dafs_fixture(test, test->param_value);
}

static dafs_status_t dafs_parent_status(struct kunit *test, struct dafs_fixture *fix,
					const struct cred *cred, const struct dafs_fh *fh)
{
	struct dafs_fh_args args = { .filehandle = *fh };
	struct dafs_fh_res res;

	return dafs_test_call(test, fix->clnt, cred, DAFS_PROC_LOOKUPP, &args, &res);
}

static void dafs_parent_expect(struct kunit *test, struct dafs_fixture *fix,
			       const struct dafs_fh *dir, const struct dafs_fh *parent)
{
	struct dafs_fh fh = {};

	KUNIT_EXPECT_EQ(test, 0, dafs_lookup_parent(fix->clnt, dafs_test_me(), dir, &fh));
	KUNIT_EXPECT_MEMEQ(test, parent, &fh, sizeof(fh));
}

/* R-6.5.22-01 R-6.5.22-02: up from each directory, out of the export, to the root. */
static void dafs_parent_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_verify_fixture(test);
	struct dafs_fh root, a, b;

	dafs_backing_mkdir(test, fix, "a", 0755);
	dafs_backing_mkdir(test, fix, "a/b", 0755);
	a = dafs_test_lookup(test, fix, "a");
	b = dafs_test_lookup(test, fix, "a/b");
	KUNIT_ASSERT_EQ(test, 0, dafs_get_root_handle(fix->clnt, dafs_test_me(), &root));
	dafs_parent_expect(test, fix, &b, &a);
	dafs_parent_expect(test, fix, &a, &fix->dir);
	dafs_parent_expect(test, fix, &fix->dir, &fix->export);
	dafs_parent_expect(test, fix, &fix->export, &root);
	DAFS_EXPECT_STATUS(test, DAFSERR_NOENT,
			   dafs_parent_status(test, fix, dafs_test_me(), &root));
}

/* R-6.5.22-01: LOOKUPP does not go above the root of an export into the server's file system. */
static void dafs_parent_export_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture_in(test, test->param_value, DAFS_TEST_SQUASH);
	struct dafs_fh root;

	KUNIT_ASSERT_EQ(test, 0, dafs_get_root_handle(fix->clnt, dafs_test_me(), &root));
	dafs_parent_expect(test, fix, &fix->dir, &fix->export);
	dafs_parent_expect(test, fix, &fix->export, &root);
}

/* The parent of a moved directory is the new one. */
static void dafs_parent_moved_test(struct kunit *test)
{
	struct qstr name = dafs_test_qstr("dir");
	struct dafs_fixture *fix = dafs_verify_fixture(test);
	struct dafs_rename_res res;
	struct dafs_fh a, dir;

	dafs_backing_mkdir(test, fix, "a", 0755);
	dafs_backing_mkdir(test, fix, "dir", 0755);
	a = dafs_test_lookup(test, fix, "a");
	dir = dafs_test_lookup(test, fix, "dir");
	KUNIT_ASSERT_EQ(test, 0, dafs_rename(fix->clnt, dafs_test_me(), &fix->dir, &name, &a, &name,
					     &res));
	dafs_parent_expect(test, fix, &dir, &a);
}

/* R-6.5.22-03: objects that are not directories, and removed directories, are refused. */
static void dafs_parent_refused_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_verify_fixture(test);
	const struct cred *user = dafs_fixture_user(test, 1000, 2000);
	struct dafs_fh fh;

	dafs_backing_write(test, fix, "file", "file", 4);
	dafs_backing_symlink(test, fix, "link", "dir");
	dafs_backing_mkdir(test, fix, "dir", 0755);
	fh = dafs_test_lookup(test, fix, "file");
	DAFS_EXPECT_STATUS(test, DAFSERR_NOTDIR,
			   dafs_parent_status(test, fix, dafs_test_me(), &fh));
	fh = dafs_test_lookup(test, fix, "link");
	DAFS_EXPECT_STATUS(test, DAFSERR_NOTDIR,
			   dafs_parent_status(test, fix, dafs_test_me(), &fh));
	fh = dafs_test_lookup(test, fix, "dir");
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_parent_status(test, fix, user, &fh));
	dafs_backing_chmod(test, fix, "dir", 0644);
	DAFS_EXPECT_STATUS(test, DAFSERR_ACCES, dafs_parent_status(test, fix, user, &fh));
	dafs_backing_remove(fix, "dir");
	DAFS_EXPECT_STATUS(test, DAFSERR_STALE,
			   dafs_parent_status(test, fix, dafs_test_me(), &fh));
	memset(&fh, 0xa5, sizeof(fh));
	DAFS_EXPECT_STATUS(test, DAFSERR_BADHANDLE,
			   dafs_parent_status(test, fix, dafs_test_me(), &fh));
}

/* All attributes that can be compared: the readable ones except the filehandle. */
#define VERIFY_ATTRS							\
	(DAFS_FATTR_NAMED_ATTR | DAFS_FATTR_OBJECT_TYPE | DAFS_FATTR_MODE |	\
	 DAFS_FATTR_NUM_LINKS | DAFS_FATTR_CHANGE | DAFS_FATTR_OBJECT_SIZE |	\
	 DAFS_FATTR_FILE_ID | DAFS_FATTR_SPACE_USED | DAFS_FATTR_TIME_ACCESS |	\
	 DAFS_FATTR_TIME_CREATE | DAFS_FATTR_TIME_DELTA |			\
	 DAFS_FATTR_TIME_METADATA | DAFS_FATTR_TIME_MODIFY |			\
	 DAFS_FATTR_RAW_DEV | DAFS_FATTR_FILEHANDLE)

/* The attributes of an object, owners included. */
static struct dafs_fattr *dafs_verify_attrs(struct kunit *test, struct dafs_fixture *fix,
					    const struct dafs_fh *fh)
{
	struct dafs_fattr *attr = kunit_kzalloc(test, sizeof(*attr), GFP_KERNEL);
	struct dafs_ids ids;

	KUNIT_ASSERT_NOT_NULL(test, attr);
	KUNIT_ASSERT_EQ(test, 0, dafs_getattr(fix->clnt, dafs_test_me(), fh, VERIFY_ATTRS, attr,
					      &ids));
	KUNIT_ASSERT_EQ(test, VERIFY_ATTRS, attr->valid);
	attr->included |= DAFS_FATTR_OWNER | DAFS_FATTR_OWNER_GROUP;
	attr->valid = attr->included;
	attr->owner = dafs_test_str("1001");
	attr->owner_group = dafs_test_str("1002");
	return attr;
}

/* A file of owner 1001 and group 1002. */
static struct dafs_fh dafs_verify_file(struct kunit *test, struct dafs_fixture *fix)
{
	dafs_backing_write(test, fix, "file", "file", 4);
	dafs_backing_chown(test, fix, "file", 1001, 1002);
	return dafs_test_lookup(test, fix, "file");
}

/* Expects this result of the procedures and of the stubs. */
static void dafs_verify_expect(struct kunit *test, struct dafs_fixture *fix,
			       const struct dafs_fh *fh, const struct dafs_fattr *attr, bool same)
{
	struct dafs_verify_args args = { .filehandle = *fh, .obj_attributes = *attr };
	u64 which = attr->valid;
	bool is;

	DAFS_EXPECT_STATUS_MSG(test, same ? DAFS_STATUS_OK : DAFSERR_NOT_SAME,
			       dafs_test_call(test, fix->clnt, dafs_test_me(), DAFS_PROC_VERIFY,
					      &args, NULL), "VERIFY of %llx", which);
	DAFS_EXPECT_STATUS_MSG(test, same ? DAFSERR_SAME : DAFS_STATUS_OK,
			       dafs_test_call(test, fix->clnt, dafs_test_me(), DAFS_PROC_NVERIFY,
					      &args, NULL), "NVERIFY of %llx", which);
	is = !same;
	KUNIT_EXPECT_EQ(test, 0, dafs_verify(fix->clnt, dafs_test_me(), fh, attr, &is));
	KUNIT_EXPECT_EQ(test, same, is);
	is = !same;
	KUNIT_EXPECT_EQ(test, 0, dafs_nverify(fix->clnt, dafs_test_me(), fh, attr, &is));
	KUNIT_EXPECT_EQ(test, same, is);
}

static void dafs_verify_expect_refused(struct kunit *test, struct dafs_fixture *fix,
				       const struct dafs_fh *fh, const struct dafs_fattr *attr,
				       dafs_status_t status)
{
	struct dafs_verify_args args = { .filehandle = *fh, .obj_attributes = *attr };
	bool same;

	DAFS_EXPECT_STATUS(test, status, dafs_test_call(test, fix->clnt, dafs_test_me(),
							DAFS_PROC_VERIFY, &args, NULL));
	DAFS_EXPECT_STATUS(test, status, dafs_test_call(test, fix->clnt, dafs_test_me(),
							DAFS_PROC_NVERIFY, &args, NULL));
	KUNIT_EXPECT_EQ(test, dafs_status_to_errno(status),
			dafs_verify(fix->clnt, dafs_test_me(), fh, attr, &same));
	KUNIT_EXPECT_EQ(test, dafs_status_to_errno(status),
			dafs_nverify(fix->clnt, dafs_test_me(), fh, attr, &same));
}

/* R-6.5.23-01 R-6.5.37-01: values from GETATTR are the same, for each type of object. */
static void dafs_verify_same_test(struct kunit *test)
{
	static const char *const names[] = { "file", "dir", "link", "chr" };
	struct dafs_fixture *fix = dafs_verify_fixture(test);
	struct dafs_fh fh;
	int i;

	dafs_verify_file(test, fix);
	dafs_backing_mkdir(test, fix, "dir", 02751);
	dafs_backing_symlink(test, fix, "link", "nowhere");
	dafs_backing_mknod(test, fix, "chr", S_IFCHR | 0600, MKDEV(5, 70000));
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		dafs_backing_chown(test, fix, names[i], 1001, 1002);
		fh = dafs_test_lookup(test, fix, names[i]);
		dafs_verify_expect(test, fix, &fh, dafs_verify_attrs(test, fix, &fh), true);
	}
}

/* Changes the value of one attribute. */
static void dafs_verify_falsify(struct dafs_fattr *attr, u64 bit)
{
	switch (bit) {
	case DAFS_FATTR_NAMED_ATTR:
		attr->named_attr ^= 1;
		break;
	case DAFS_FATTR_OBJECT_TYPE:
		attr->object_type ^= 1;
		break;
	case DAFS_FATTR_MODE:
		attr->mode ^= 04000;
		break;
	case DAFS_FATTR_NUM_LINKS:
		attr->num_links++;
		break;
	case DAFS_FATTR_CHANGE:
		attr->change++;
		break;
	case DAFS_FATTR_OBJECT_SIZE:
		attr->object_size ^= 1ULL << 40;
		break;
	case DAFS_FATTR_FILE_ID:
		attr->file_id ^= 1ULL << 40;
		break;
	case DAFS_FATTR_SPACE_USED:
		attr->space_used++;
		break;
	case DAFS_FATTR_TIME_ACCESS:
		attr->time_access.seconds ^= 1ULL << 40;
		break;
	case DAFS_FATTR_TIME_CREATE:
		attr->time_create.nseconds++;
		break;
	case DAFS_FATTR_TIME_DELTA:
		attr->time_delta.nseconds++;
		break;
	case DAFS_FATTR_TIME_METADATA:
		attr->time_metadata.seconds++;
		break;
	case DAFS_FATTR_TIME_MODIFY:
		attr->time_modify.nseconds++;
		break;
	case DAFS_FATTR_RAW_DEV:
		attr->raw_dev.specdata2++;
		break;
	case DAFS_FATTR_FILEHANDLE:
		attr->filehandle.fileid[DAFS_FILEID_SIZE - 1] ^= 1;
		break;
	case DAFS_FATTR_OWNER:
		attr->owner = dafs_test_str("1002");
		break;
	case DAFS_FATTR_OWNER_GROUP:
		attr->owner_group = dafs_test_str("1001");
		break;
	}
}

/*
 * R-6.5.23-01 R-6.5.37-01: each attribute alone, right and wrong, and one wrong
 * attribute among right ones.
 */
static void dafs_verify_each_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_verify_fixture(test);
	struct dafs_fh fh = dafs_verify_file(test, fix);
	struct dafs_fattr *attr = dafs_verify_attrs(test, fix, &fh);
	struct dafs_fattr *other = kunit_kzalloc(test, sizeof(*other), GFP_KERNEL);
	u64 all = attr->valid, left, bit;

	KUNIT_ASSERT_NOT_NULL(test, other);
	for (left = all; left; left &= ~bit) {
		bit = left & -left;
		*other = *attr;
		other->included = bit;
		other->valid = bit;
		dafs_verify_expect(test, fix, &fh, other, true);
		dafs_verify_falsify(other, bit);
		dafs_verify_expect(test, fix, &fh, other, false);
		other->included = all;
		other->valid = all;
		dafs_verify_expect(test, fix, &fh, other, false);
		/* an attribute that is not valid is not compared */
		other->valid &= ~bit;
		dafs_verify_expect(test, fix, &fh, other, true);
	}
}

/* VERIFY detects that a file has changed. */
static void dafs_verify_change_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_verify_fixture(test);
	struct dafs_fh fh = dafs_verify_file(test, fix);
	struct dafs_fattr *attr = dafs_verify_attrs(test, fix, &fh);

	attr->included = DAFS_FATTR_CHANGE;
	attr->valid = DAFS_FATTR_CHANGE;
	dafs_verify_expect(test, fix, &fh, attr, true);
	dafs_backing_chmod(test, fix, "file", 0600);
	dafs_verify_expect(test, fix, &fh, attr, false);
}

/* Without attributes the result is "same". */
static void dafs_verify_nothing_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_verify_fixture(test);
	struct dafs_fattr attr = {};

	dafs_verify_expect(test, fix, &fix->dir, &attr, true);
}

/* Owners are compared as numbers; a string that is not a number matches no owner (E-117). */
static void dafs_verify_owner_test(struct kunit *test)
{
	static const char *const strange[] = { "", "root", "1001@example.org", "-1", "4294968297" };
	struct dafs_fixture *fix = dafs_verify_fixture(test);
	struct dafs_fh fh = dafs_verify_file(test, fix);
	struct dafs_fattr attr = { .included = DAFS_FATTR_OWNER, .valid = DAFS_FATTR_OWNER };
	int i;

	attr.owner = dafs_test_str("0001001");
	dafs_verify_expect(test, fix, &fh, &attr, true);
	for (i = 0; i < ARRAY_SIZE(strange); i++) {
		attr.owner = dafs_test_str(strange[i]);
		dafs_verify_expect(test, fix, &fh, &attr, false);
	}
}

/* The root of the name space has attributes too. */
static void dafs_verify_root_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_verify_fixture(test);
	struct dafs_fattr attr = {
		.included = DAFS_FATTR_OBJECT_TYPE,
		.valid = DAFS_FATTR_OBJECT_TYPE,
		.object_type = DAFS_TYPE_DIR,
	};
	struct dafs_fh root;

	KUNIT_ASSERT_EQ(test, 0, dafs_get_root_handle(fix->clnt, dafs_test_me(), &root));
	dafs_verify_expect(test, fix, &root, &attr, true);
	attr.object_type = DAFS_TYPE_REG;
	dafs_verify_expect(test, fix, &root, &attr, false);
}

/*
 * R-6.5.23-02 R-6.5.37-02: an unsupported attribute, a write-only one (E-112),
 * and invalid handles.
 */
static void dafs_verify_refused_test(struct kunit *test)
{
	static const u64 lacking[] = { DAFS_FATTR_TIME_BACKUP, DAFS_FATTR_SYSTEM };
	static const u64 write_only[] = { DAFS_FATTR_TIME_ACCESS_SET, DAFS_FATTR_TIME_MODIFY_SET };
	struct dafs_fixture *fix = dafs_verify_fixture(test);
	struct dafs_fh fh = dafs_verify_file(test, fix);
	struct dafs_fattr attr = {};
	int i;

	for (i = 0; i < ARRAY_SIZE(lacking); i++) {
		attr.included = lacking[i];
		attr.valid = lacking[i];
		dafs_verify_expect_refused(test, fix, &fh, &attr, DAFSERR_NOTSUPP);
	}
	for (i = 0; i < ARRAY_SIZE(write_only); i++) {
		attr.included = write_only[i];
		attr.valid = write_only[i];
		dafs_verify_expect_refused(test, fix, &fh, &attr, DAFSERR_INVAL);
	}
	attr.included = 0;
	attr.valid = 0;
	dafs_backing_remove(fix, "file");
	dafs_verify_expect_refused(test, fix, &fh, &attr, DAFSERR_STALE);
	memset(&fh, 0xa5, sizeof(fh));
	dafs_verify_expect_refused(test, fix, &fh, &attr, DAFSERR_BADHANDLE);
}

static struct kunit_case dafs_verify_cases[] = {
	KUNIT_CASE_PARAM(dafs_parent_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_parent_export_test),
	KUNIT_CASE(dafs_parent_moved_test),
	KUNIT_CASE(dafs_parent_refused_test),
	KUNIT_CASE_PARAM(dafs_verify_same_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_verify_each_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_verify_change_test),
	KUNIT_CASE(dafs_verify_nothing_test),
	KUNIT_CASE(dafs_verify_owner_test),
	KUNIT_CASE(dafs_verify_root_test),
	KUNIT_CASE(dafs_verify_refused_test),
	{}
};

static struct kunit_suite dafs_verify_suite = {
	.name = "dafs_verify",
	.test_cases = dafs_verify_cases,
};

kunit_test_suite(dafs_verify_suite);
