// SPDX-License-Identifier: GPL-2.0
/* Attributes and access rights: ACCESS, GETATTR, SETATTR, GET_FSATTR. */
#include <linux/delay.h>
#include <linux/statfs.h>
#include "../lib/fixture.h"

static const struct dafs_state_id dafs_no_state;

/* One object of each type that a directory can contain. */
static const char *const dafs_attr_names[] = {
	"file", "dir", "link", "fifo", "sock", "chr", "blk",
};

static void dafs_attr_make_tree(struct kunit *test, struct dafs_fixture *fix)
{
	dafs_backing_write(test, fix, "file", "0123456789", 10);
	dafs_backing_mkdir(test, fix, "dir", 02751);
	dafs_backing_symlink(test, fix, "link", "file");
	dafs_backing_mknod(test, fix, "fifo", S_IFIFO | 0600, 0);
	dafs_backing_mknod(test, fix, "sock", S_IFSOCK | 0600, 0);
	dafs_backing_mknod(test, fix, "chr", S_IFCHR | 0600, MKDEV(5, 1));
	dafs_backing_mknod(test, fix, "blk", S_IFBLK | 0600, MKDEV(259, 70000));
	dafs_backing_chown(test, fix, "file", 1000, 2000);
	dafs_backing_chown(test, fix, "link", 1001, 4294967294U);
}

/* ACCESS */

/**
 * struct dafs_access_user - a user that calls ACCESS
 * @what: for the report
 * @uid: user
 * @gid: group
 * @groups: supplementary groups
 * @nr: number of groups
 */
struct dafs_access_user {
	const char *what;
	uid_t uid;
	gid_t gid;
	gid_t groups[2];
	unsigned int nr;
};

/* The object is owned by user 1000, group 2000. */
static const struct dafs_access_user dafs_access_users[] = {
	{ "root", 0, 0 },
	{ "owner", 1000, 1000 },
	{ "group", 1001, 2000 },
	{ "member", 1002, 1002, { 1002, 2000 }, 2 },
	{ "other", 1003, 1003 },
};

static const struct cred *dafs_access_cred(struct kunit *test, const struct dafs_access_user *user)
{
	if (!user->uid)
		return dafs_test_me();
	return dafs_fixture_member(test, user->uid, user->gid, user->groups, user->nr);
}

static bool dafs_may(const struct cred *cred, struct inode *inode, int mask)
{
	const struct cred *saved = override_creds(cred);
	int err = inode_permission(&nop_mnt_idmap, inode, mask);

	revert_creds(saved);
	return !err;
}

/* What the local file system grants, in bits of ACCESS (6.5.2). */
static u32 dafs_access_expected(const struct cred *cred, struct inode *inode)
{
	u32 granted = 0;

	if (dafs_may(cred, inode, MAY_READ))
		granted |= DAFS_ACCESS_READ;
	if (S_ISDIR(inode->i_mode)) {
		if (dafs_may(cred, inode, MAY_EXEC))
			granted |= DAFS_ACCESS_LOOKUP;
		if (dafs_may(cred, inode, MAY_WRITE | MAY_EXEC))
			granted |= DAFS_ACCESS_MODIFY | DAFS_ACCESS_EXTEND | DAFS_ACCESS_DELETE;
		return granted;
	}
	if (dafs_may(cred, inode, MAY_WRITE))
		granted |= DAFS_ACCESS_MODIFY | DAFS_ACCESS_EXTEND;
	if (dafs_may(cred, inode, MAY_EXEC))
		granted |= DAFS_ACCESS_EXECUTE;
	return granted;
}

static void dafs_access_check(struct kunit *test, struct dafs_fixture *fix, const char *name,
			      const struct dafs_fh *fh, const struct dafs_access_user *user)
{
	const struct cred *cred = dafs_access_cred(test, user);
	struct dafs_access_res res = {};
	u32 expected, supported;
	struct path path;

	KUNIT_ASSERT_EQ(test, 0, dafs_backing_path(fix, name, &path));
	expected = dafs_access_expected(cred, d_inode(path.dentry));
	supported = d_is_dir(path.dentry) ? 0x1f : 0x2d;
	KUNIT_EXPECT_EQ(test, 0, dafs_access(fix->clnt, cred, fh, 0x3f, &res));
	KUNIT_EXPECT_EQ(test, supported, res.supported);
	KUNIT_EXPECT_EQ_MSG(test, expected, res.access, "%s of mode %o by %s", name,
			    d_inode(path.dentry)->i_mode, user->what);
	path_put(&path);
}

/*
 * R-6.5.2-02 R-6.5.2-03: each user gets what the file system grants.  Permission to
 * delete a file depends on its directory.
 */
static void dafs_access_test(struct kunit *test)
{
	static const umode_t modes[] = { 0, 0700, 0070, 0007, 0421, 0142, 0214, 0644, 0777 };
	static const char *const names[] = { "file", "dir", "fifo" };
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	const struct dafs_access_user *user;
	struct dafs_fh fh;
	int i, j;

	dafs_attr_make_tree(test, fix);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		dafs_backing_chown(test, fix, names[i], 1000, 2000);
		fh = dafs_test_lookup(test, fix, names[i]);
		for (j = 0; j < ARRAY_SIZE(modes); j++) {
			dafs_backing_chmod(test, fix, names[i], modes[j]);
			for (user = dafs_access_users;
			     user < dafs_access_users + ARRAY_SIZE(dafs_access_users); user++)
				dafs_access_check(test, fix, names[i], &fh, user);
		}
	}
}

/* R-6.5.2-01: only the requested bits are returned, with both procedures. */
static void dafs_access_mask_test(struct kunit *test)
{
	static const char *const names[] = { "file", "dir", "link", "." };
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_access_res all, res;
	struct dafs_fh fh;
	u32 mask;
	int i;

	dafs_attr_make_tree(test, fix);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(names[i], "."))
			fh = dafs_test_lookup(test, fix, names[i]);
		else
			KUNIT_ASSERT_EQ(test, 0,
					dafs_get_root_handle(fix->clnt, dafs_test_me(), &fh));
		KUNIT_EXPECT_EQ(test, 0, dafs_access(fix->clnt, dafs_test_me(), &fh, U32_MAX,
						     &all));
		KUNIT_EXPECT_EQ(test, 0, all.supported & ~0x3f);
		for (mask = 0; mask < 64; mask++) {
			KUNIT_EXPECT_EQ(test, 0, dafs_access(fix->clnt, dafs_test_me(), &fh, mask,
							     &res));
			KUNIT_EXPECT_EQ(test, all.supported & mask, res.supported);
			KUNIT_EXPECT_EQ(test, all.access & mask, res.access);
		}
	}
}

/* A read-only export grants no change, but device nodes may be written through. */
static void dafs_access_read_only_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture_in(test, NULL, DAFS_TEST_RO);
	struct dafs_access_res res;
	struct dafs_fh fh;

	dafs_attr_make_tree(test, fix);
	dafs_backing_chmod(test, fix, "file", 0777);
	dafs_backing_chmod(test, fix, "chr", 0666);
	fh = dafs_test_lookup(test, fix, "file");
	KUNIT_EXPECT_EQ(test, 0, dafs_access(fix->clnt, dafs_test_me(), &fh, 0x3f, &res));
	KUNIT_EXPECT_EQ(test, 0x2d, res.supported);
	KUNIT_EXPECT_EQ(test, DAFS_ACCESS_READ | DAFS_ACCESS_EXECUTE, res.access);
	KUNIT_EXPECT_EQ(test, 0, dafs_access(fix->clnt, dafs_test_me(), &fix->dir, 0x3f, &res));
	KUNIT_EXPECT_EQ(test, DAFS_ACCESS_READ | DAFS_ACCESS_LOOKUP, res.access);
	fh = dafs_test_lookup(test, fix, "chr");
	KUNIT_EXPECT_EQ(test, 0, dafs_access(fix->clnt, dafs_test_me(), &fh, 0x3f, &res));
	KUNIT_EXPECT_EQ(test, DAFS_ACCESS_READ | DAFS_ACCESS_MODIFY | DAFS_ACCESS_EXTEND,
			res.access);
}

/* Root squash: root has the rights of the anonymous user. */
static void dafs_access_squash_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture_in(test, NULL, DAFS_TEST_SQUASH);
	const struct cred *user = dafs_fixture_user(test, 1000, 1000);
	struct dafs_access_res res;
	struct dafs_fh fh;

	dafs_attr_make_tree(test, fix);
	dafs_backing_chmod(test, fix, "file", 0740);
	fh = dafs_test_lookup(test, fix, "file");
	KUNIT_EXPECT_EQ(test, 0, dafs_access(fix->clnt, dafs_test_me(), &fh, 0x3f, &res));
	KUNIT_EXPECT_EQ(test, 0, res.access);
	KUNIT_EXPECT_EQ(test, 0, dafs_access(fix->clnt, user, &fh, 0x3f, &res));
	KUNIT_EXPECT_EQ(test, 0x2d, res.access);
	dafs_backing_chown(test, fix, "file", 65534, 65534);
	KUNIT_EXPECT_EQ(test, 0, dafs_access(fix->clnt, dafs_test_me(), &fh, 0x3f, &res));
	KUNIT_EXPECT_EQ(test, 0x2d, res.access);
}

/* GETATTR */

/* Attributes and their strings, which dafs_op_end() would free. */
struct dafs_attr_got {
	struct dafs_fattr attr;
	char owner[16];
	char group[16];
};

static void dafs_attr_copy_str(struct kunit *test, const struct dafs_str *from, char *to,
			       size_t size)
{
	memset(to, 0, size);
	KUNIT_EXPECT_LT(test, from->len, size);
	if (from->len < size)
		memcpy(to, from->data, from->len);
}

static dafs_status_t dafs_attr_get(struct kunit *test, struct dafs_fixture *fix,
				   const struct dafs_fh *fh, u64 bitmap, struct dafs_attr_got *got)
{
	struct dafs_getattr_args args = { .filehandle = *fh, .attr_request_bitmap = bitmap };
	struct dafs_getattr_res res = {};
	struct dafs_op op = {
		.cred = dafs_test_me(),
		.proc = DAFS_PROC_GETATTR_INLINE,
		.args = &args,
		.res = &res,
	};
	dafs_status_t status = dafs_test_op(test, fix->clnt, &op);

	got->attr = res.obj_attributes;
	dafs_attr_copy_str(test, &got->attr.owner, got->owner, sizeof(got->owner));
	dafs_attr_copy_str(test, &got->attr.owner_group, got->group, sizeof(got->group));
	dafs_op_end(&op);
	return status;
}

static struct dafs_fattr dafs_attr_of(struct kunit *test, struct dafs_fixture *fix,
				      const char *name, u64 bitmap)
{
	struct dafs_fh fh = dafs_test_lookup(test, fix, name);
	struct dafs_attr_got got = {};

	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_attr_get(test, fix, &fh, bitmap, &got));
	KUNIT_EXPECT_EQ(test, bitmap, got.attr.valid);
	return got.attr;
}

static u32 dafs_attr_type(umode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFDIR:
		return 2;
	case S_IFBLK:
		return 3;
	case S_IFCHR:
		return 4;
	case S_IFLNK:
		return 5;
	case S_IFSOCK:
		return 6;
	case S_IFIFO:
		return 7;
	default:
		return 1;
	}
}

static void dafs_attr_expect_time(struct kunit *test, const struct timespec64 *expected,
				  const struct dafs_time *t)
{
	KUNIT_EXPECT_EQ(test, expected->tv_sec, t->seconds);
	KUNIT_EXPECT_EQ(test, expected->tv_nsec, t->nseconds);
}

static void dafs_attr_expect_stat(struct kunit *test, const struct kstat *stat,
				  const struct dafs_attr_got *got)
{
	const struct dafs_fattr *attr = &got->attr;
	char id[16];

	KUNIT_EXPECT_EQ(test, dafs_attr_type(stat->mode), attr->object_type);
	KUNIT_EXPECT_EQ(test, stat->mode & 07777, attr->mode);
	KUNIT_EXPECT_EQ(test, stat->nlink, attr->num_links);
	KUNIT_EXPECT_EQ(test, stat->size, attr->object_size);
	KUNIT_EXPECT_EQ(test, stat->ino, attr->file_id);
	KUNIT_EXPECT_EQ(test, stat->blocks * 512, attr->space_used);
	KUNIT_EXPECT_EQ(test, MAJOR(stat->rdev), attr->raw_dev.specdata1);
	KUNIT_EXPECT_EQ(test, MINOR(stat->rdev), attr->raw_dev.specdata2);
	dafs_attr_expect_time(test, &stat->atime, &attr->time_access);
	dafs_attr_expect_time(test, &stat->mtime, &attr->time_modify);
	dafs_attr_expect_time(test, &stat->ctime, &attr->time_metadata);
	dafs_attr_expect_time(test, &stat->btime, &attr->time_create);
	snprintf(id, sizeof(id), "%u", from_kuid(&init_user_ns, stat->uid));
	KUNIT_EXPECT_STREQ(test, id, got->owner);
	snprintf(id, sizeof(id), "%u", from_kgid(&init_user_ns, stat->gid));
	KUNIT_EXPECT_STREQ(test, id, got->group);
}

/* The server supports these for every object. */
#define DAFS_ATTR_MANDATORY	\
	(DAFS_FATTR_OBJECT_TYPE | DAFS_FATTR_CHANGE | DAFS_FATTR_OBJECT_SIZE |		\
	 DAFS_FATTR_FILE_ID | DAFS_FATTR_FILEHANDLE)

#define DAFS_ATTR_WRITE_ONLY	(DAFS_FATTR_TIME_ACCESS_SET | DAFS_FATTR_TIME_MODIFY_SET)

/*
 * R-4.1.3.3-01 R-4.1.3.3-02 R-6.1.5-01 R-6.1.5-03 R-6.1.5-07 R-6.1.5-08 R-6.1.5-09
 * R-6.1.5-11 R-6.1.5-13 R-6.1.5-14 R-6.1.5-17 R-6.1.5-18 R-6.1.5-19 R-6.1.5-20
 * R-6.5.13-02: all attributes at once, equal to stat() on the server.
 */
static void dafs_getattr_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_attr_got got = {};
	struct dafs_fh fh;
	struct kstat stat;
	int i;

	KUNIT_EXPECT_EQ(test, 0x100390, DAFS_ATTR_MANDATORY);
	dafs_attr_make_tree(test, fix);
	for (i = 0; i < ARRAY_SIZE(dafs_attr_names); i++) {
		fh = dafs_test_lookup(test, fix, dafs_attr_names[i]);
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
				   dafs_attr_get(test, fix, &fh, U64_MAX, &got));
		KUNIT_EXPECT_EQ(test, DAFS_FATTR_ALL, got.attr.included);
		KUNIT_EXPECT_EQ(test, 0, got.attr.valid & ~got.attr.included);
		KUNIT_EXPECT_EQ(test, DAFS_ATTR_MANDATORY, got.attr.valid & DAFS_ATTR_MANDATORY);
		KUNIT_EXPECT_EQ(test, 0, got.attr.valid & DAFS_ATTR_WRITE_ONLY);
		KUNIT_ASSERT_EQ(test, 0, dafs_backing_stat(fix, dafs_attr_names[i], &stat));
		dafs_attr_expect_stat(test, &stat, &got);
		KUNIT_EXPECT_MEMEQ(test, &fh, &got.attr.filehandle, sizeof(fh));
		KUNIT_EXPECT_EQ(test, 0, got.attr.time_delta.seconds);
		KUNIT_EXPECT_EQ(test, fix->path.dentry->d_sb->s_time_gran,
				got.attr.time_delta.nseconds);
	}
}

/* R-4.1.3.3-01 R-6.1.5-03 R-6.1.5-04: one attribute per request. */
static void dafs_getattr_each_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_attr_got all = {}, got = {};
	struct dafs_fh fh;
	int n;

	dafs_attr_make_tree(test, fix);
	fh = dafs_test_lookup(test, fix, "file");
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_attr_get(test, fix, &fh, DAFS_FATTR_ALL, &all));
	for (n = 0; n < 64; n++) {
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
				   dafs_attr_get(test, fix, &fh, 1ULL << n, &got));
		KUNIT_EXPECT_EQ(test, (1ULL << n) & DAFS_FATTR_ALL, got.attr.included);
		KUNIT_EXPECT_EQ(test, (1ULL << n) & all.attr.valid, got.attr.valid);
	}
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_attr_get(test, fix, &fh, 0, &got));
	KUNIT_EXPECT_EQ(test, 0, got.attr.included);
	got.attr = dafs_attr_of(test, fix, "file", 0x10);
	KUNIT_EXPECT_EQ(test, DAFS_TYPE_REG, got.attr.object_type);
	got.attr = dafs_attr_of(test, fix, "file", 0x200);
	KUNIT_EXPECT_EQ(test, all.attr.file_id, got.attr.file_id);
	KUNIT_EXPECT_NE(test, 0, got.attr.file_id);
}

/* R-6.1.5-01: the pseudo root has the mandatory attributes too. */
static void dafs_getattr_root_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_attr_got got = {};
	struct dafs_fh root;

	KUNIT_ASSERT_EQ(test, 0, dafs_get_root_handle(fix->clnt, dafs_test_me(), &root));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_attr_get(test, fix, &root, DAFS_FATTR_ALL, &got));
	KUNIT_EXPECT_EQ(test, DAFS_ATTR_MANDATORY, got.attr.valid & DAFS_ATTR_MANDATORY);
	KUNIT_EXPECT_EQ(test, DAFS_TYPE_DIR, got.attr.object_type);
	KUNIT_EXPECT_MEMEQ(test, &root, &got.attr.filehandle, sizeof(root));
	KUNIT_EXPECT_STREQ(test, "0", got.owner);
}

/* R-6.1.5-05: NAMED_ATTR tells whether OPENATTR could work. */
static void dafs_getattr_named_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_fh_args args;
	struct dafs_fh_res res;
	dafs_status_t status;

	dafs_attr_make_tree(test, fix);
	args.filehandle = dafs_test_lookup(test, fix, "file");
	status = dafs_test_call(test, fix->clnt, dafs_test_me(), DAFS_PROC_OPENATTR, &args, &res);
	KUNIT_EXPECT_EQ(test, status != DAFSERR_NOTSUPP,
			dafs_attr_of(test, fix, "file", DAFS_FATTR_NAMED_ATTR).named_attr);
}

static u64 dafs_attr_change(struct kunit *test, struct dafs_fixture *fix, const char *name)
{
	return dafs_attr_of(test, fix, name, DAFS_FATTR_CHANGE).change;
}

static void dafs_attr_expect_newer(struct kunit *test, struct dafs_fixture *fix,
				   const char *name, u64 *change)
{
	u64 now = dafs_attr_change(test, fix, name);

	KUNIT_EXPECT_GT(test, now, *change);
	*change = now;
}

/*
 * R-6.1.5-10: the value changes with each change, by DAFS or local, and only then.
 * ext4 does not count link changes, so these show only after a clock tick.
 */
static void dafs_getattr_change_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	u64 file, dir;

	dafs_attr_make_tree(test, fix);
	file = dafs_attr_change(test, fix, "file");
	dir = dafs_attr_change(test, fix, "dir");
	KUNIT_EXPECT_EQ(test, file, dafs_attr_change(test, fix, "file"));
	KUNIT_EXPECT_EQ(test, dir, dafs_attr_change(test, fix, "dir"));
	dafs_backing_write(test, fix, "file", "x", 1);
	dafs_attr_expect_newer(test, fix, "file", &file);
	dafs_backing_chmod(test, fix, "file", 0600);
	dafs_attr_expect_newer(test, fix, "file", &file);
	msleep(50);
	dafs_backing_link(test, fix, "file", "dir/hard");
	dafs_attr_expect_newer(test, fix, "file", &file);
	dafs_attr_expect_newer(test, fix, "dir", &dir);
	msleep(50);
	dafs_backing_remove(fix, "dir/hard");
	dafs_attr_expect_newer(test, fix, "file", &file);
	dafs_attr_expect_newer(test, fix, "dir", &dir);
	dafs_backing_mkdir(test, fix, "dir/sub", 0700);
	dafs_attr_expect_newer(test, fix, "dir", &dir);
	KUNIT_EXPECT_EQ(test, file, dafs_attr_change(test, fix, "file"));
	KUNIT_EXPECT_EQ(test, dir, dafs_attr_change(test, fix, "dir"));
}

/* R-6.1.5-09: the link count follows LINK and REMOVE. */
static void dafs_getattr_links_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);

	dafs_attr_make_tree(test, fix);
	KUNIT_EXPECT_EQ(test, 1, dafs_attr_of(test, fix, "file", DAFS_FATTR_NUM_LINKS).num_links);
	dafs_backing_link(test, fix, "file", "hard");
	KUNIT_EXPECT_EQ(test, 2, dafs_attr_of(test, fix, "file", DAFS_FATTR_NUM_LINKS).num_links);
	dafs_backing_remove(fix, "file");
	KUNIT_EXPECT_EQ(test, 1, dafs_attr_of(test, fix, "hard", DAFS_FATTR_NUM_LINKS).num_links);
}

static s64 dafs_attr_ns(const struct dafs_time *t)
{
	return t->seconds * NSEC_PER_SEC + t->nseconds;
}

/* R-6.1.5-15 R-6.1.5-16: data and metadata have separate times. */
static void dafs_getattr_times_test(struct kunit *test)
{
	const u64 both = DAFS_FATTR_TIME_MODIFY | DAFS_FATTR_TIME_METADATA;
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_fattr first, second, third;

	dafs_attr_make_tree(test, fix);
	first = dafs_attr_of(test, fix, "file", both);
	msleep(50);
	dafs_backing_chmod(test, fix, "file", 0600);
	second = dafs_attr_of(test, fix, "file", both);
	KUNIT_EXPECT_EQ(test, dafs_attr_ns(&first.time_modify), dafs_attr_ns(&second.time_modify));
	KUNIT_EXPECT_GT(test, dafs_attr_ns(&second.time_metadata),
			dafs_attr_ns(&first.time_metadata));
	msleep(50);
	dafs_backing_write(test, fix, "file", "x", 1);
	third = dafs_attr_of(test, fix, "file", both);
	KUNIT_EXPECT_GT(test, dafs_attr_ns(&third.time_modify), dafs_attr_ns(&second.time_modify));
}

/* GET_FSATTR of a file system, also used to see which attributes SETATTR may set */

static dafs_status_t dafs_fsattr_get(struct kunit *test, struct dafs_fixture *fix,
				     const struct dafs_fh *fh, u64 bitmap, struct dafs_fsattr *attr)
{
	struct dafs_getattr_args args = { .filehandle = *fh, .attr_request_bitmap = bitmap };
	struct dafs_get_fsattr_res res = {};
	dafs_status_t status = dafs_test_call(test, fix->clnt, dafs_test_me(), DAFS_PROC_GET_FSATTR,
					      &args, &res);

	*attr = res.obj_attributes;
	return status;
}

static void dafs_fsattr_expect_all(struct kunit *test, struct dafs_fixture *fix,
				   const struct dafs_fh *fh, struct dafs_fsattr *attr)
{
	memset(attr, 0, sizeof(*attr));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_fsattr_get(test, fix, fh, U64_MAX, attr));
	KUNIT_EXPECT_EQ(test, DAFS_FSATTR_ALL, attr->included);
}

/* SETATTR */

#define DAFS_ATTRS(bits, ...)	\
	((struct dafs_fattr){ .included = (bits), .valid = (bits), ##__VA_ARGS__ })

/* R-6.5.35-02: a bitmap is returned with every status; it is checked each time. */
static dafs_status_t dafs_attr_set(struct kunit *test, struct dafs_fixture *fix,
				   const struct cred *cred, const struct dafs_fh *fh,
				   const struct dafs_state_id *state_id,
				   const struct dafs_fattr *attr, u64 *done)
{
	struct dafs_setattr_inline_args args = {
		.filehandle = *fh,
		.state_id = *state_id,
		.obj_attributes = *attr,
	};
	struct dafs_setattr_res res = { .attr_request_bitmap = U64_MAX };
	struct dafs_op op = {
		.cred = cred,
		.proc = DAFS_PROC_SETATTR_INLINE,
		.args = &args,
		.res = &res,
	};
	dafs_status_t status = dafs_test_op(test, fix->clnt, &op);

	KUNIT_EXPECT_TRUE(test, op.call);
	if (op.call)
		KUNIT_EXPECT_EQ(test, DAFS_HDR_SIZE + sizeof(u64), op.call->hdr.len);
	*done = res.attr_request_bitmap;
	dafs_op_end(&op);
	return status;
}

static void dafs_attr_expect_set(struct kunit *test, struct dafs_fixture *fix,
				 const struct dafs_fh *fh, const struct dafs_fattr *attr)
{
	u64 done;

	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_attr_set(test, fix, dafs_test_me(), fh,
							       &dafs_no_state, attr, &done));
	KUNIT_EXPECT_EQ(test, attr->valid, done);
}

static void dafs_attr_expect_refused(struct kunit *test, struct dafs_fixture *fix,
				     const struct cred *cred, const struct dafs_fh *fh,
				     const struct dafs_fattr *attr, dafs_status_t expected)
{
	dafs_status_t status;
	u64 done;

	status = dafs_attr_set(test, fix, cred, fh, &dafs_no_state, attr, &done);
	DAFS_EXPECT_STATUS_MSG(test, expected, status, "attributes %llx", attr->valid);
	KUNIT_EXPECT_EQ(test, 0, done);
}

/* R-4.4.1.2-05 R-6.1.5-08 R-6.1.5-20 R-6.5.35-01: a local stat() shows the new values. */
static void dafs_setattr_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_fattr attr;
	struct dafs_fh fh;
	struct kstat stat;

	dafs_attr_make_tree(test, fix);
	fh = dafs_test_lookup(test, fix, "file");
	attr = DAFS_ATTRS(DAFS_FATTR_MODE, .mode = 0640);
	dafs_attr_expect_set(test, fix, &fh, &attr);
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_stat(fix, "file", &stat));
	KUNIT_EXPECT_EQ(test, S_IFREG | 0640, stat.mode);
	attr = DAFS_ATTRS(DAFS_FATTR_OWNER, .owner = dafs_test_str("4000000000"));
	dafs_attr_expect_set(test, fix, &fh, &attr);
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_stat(fix, "file", &stat));
	KUNIT_EXPECT_EQ(test, 4000000000, from_kuid(&init_user_ns, stat.uid));
	KUNIT_EXPECT_EQ(test, 2000, from_kgid(&init_user_ns, stat.gid));
	attr = DAFS_ATTRS(DAFS_FATTR_OWNER_GROUP, .owner_group = dafs_test_str("0"));
	dafs_attr_expect_set(test, fix, &fh, &attr);
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_stat(fix, "file", &stat));
	KUNIT_EXPECT_EQ(test, 4000000000, from_kuid(&init_user_ns, stat.uid));
	KUNIT_EXPECT_EQ(test, 0, from_kgid(&init_user_ns, stat.gid));
	fh = dafs_test_lookup(test, fix, "dir");
	attr = DAFS_ATTRS(DAFS_FATTR_MODE | DAFS_FATTR_OWNER | DAFS_FATTR_OWNER_GROUP,
			  .mode = 01777, .owner = dafs_test_str("7"),
			  .owner_group = dafs_test_str("8"));
	dafs_attr_expect_set(test, fix, &fh, &attr);
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_stat(fix, "dir", &stat));
	KUNIT_EXPECT_EQ(test, S_IFDIR | 01777, stat.mode);
	KUNIT_EXPECT_EQ(test, 7, from_kuid(&init_user_ns, stat.uid));
	KUNIT_EXPECT_EQ(test, 8, from_kgid(&init_user_ns, stat.gid));
}

/* A symbolic link has an owner of its own. */
static void dafs_setattr_link_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_fh fh;
	struct dafs_fattr attr;
	struct kstat stat;

	dafs_attr_make_tree(test, fix);
	fh = dafs_test_lookup(test, fix, "link");
	attr = DAFS_ATTRS(DAFS_FATTR_OWNER, .owner = dafs_test_str("7"));
	dafs_attr_expect_set(test, fix, &fh, &attr);
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_stat(fix, "link", &stat));
	KUNIT_EXPECT_EQ(test, 7, from_kuid(&init_user_ns, stat.uid));
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_stat(fix, "file", &stat));
	KUNIT_EXPECT_EQ(test, 1000, from_kuid(&init_user_ns, stat.uid));
	attr = DAFS_ATTRS(DAFS_FATTR_MODE, .mode = 0600);
	dafs_attr_expect_refused(test, fix, dafs_test_me(), &fh, &attr, DAFSERR_NOTSUPP);
}

#define DAFS_CLIENT_TIME(sec, nsec)	\
	{ .client_time = { .seconds = (sec), .nseconds = (nsec) },	\
	  .how = DAFS_SET_TO_CLIENT_TIME }

/* R-6.1.4-03 R-6.1.4-04: a time given by the client, also before 1970. */
static void dafs_setattr_client_time_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_fattr attr;
	struct kstat stat;
	struct dafs_fh fh;

	dafs_attr_make_tree(test, fix);
	fh = dafs_test_lookup(test, fix, "file");
	attr = DAFS_ATTRS(DAFS_FATTR_TIME_ACCESS_SET | DAFS_FATTR_TIME_MODIFY_SET,
			  .time_access_set = DAFS_CLIENT_TIME(-86400, 999999999),
			  .time_modify_set = DAFS_CLIENT_TIME(4102444800LL, 1));
	dafs_attr_expect_set(test, fix, &fh, &attr);
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_stat(fix, "file", &stat));
	dafs_attr_expect_time(test, &stat.atime, &attr.time_access_set.client_time);
	dafs_attr_expect_time(test, &stat.mtime, &attr.time_modify_set.client_time);
	attr = dafs_attr_of(test, fix, "file", DAFS_FATTR_TIME_ACCESS | DAFS_FATTR_TIME_MODIFY);
	dafs_attr_expect_time(test, &stat.atime, &attr.time_access);
	dafs_attr_expect_time(test, &stat.mtime, &attr.time_modify);
	attr = DAFS_ATTRS(DAFS_FATTR_TIME_MODIFY_SET, .time_modify_set = DAFS_CLIENT_TIME(77, 0));
	dafs_attr_expect_set(test, fix, &fh, &attr);
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_stat(fix, "file", &stat));
	KUNIT_EXPECT_EQ(test, -86400, stat.atime.tv_sec);
	KUNIT_EXPECT_EQ(test, 77, stat.mtime.tv_sec);
}

/* R-6.1.4-04: the server's own time; the time in the message is ignored. */
static void dafs_setattr_server_time_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	s64 before, after;
	struct dafs_fattr attr;
	struct kstat stat;
	struct dafs_fh fh;

	dafs_attr_make_tree(test, fix);
	fh = dafs_test_lookup(test, fix, "file");
	attr = DAFS_ATTRS(DAFS_FATTR_TIME_ACCESS_SET | DAFS_FATTR_TIME_MODIFY_SET,
			  .time_access_set = DAFS_CLIENT_TIME(5, 5),
			  .time_modify_set = DAFS_CLIENT_TIME(5, 5));
	dafs_attr_expect_set(test, fix, &fh, &attr);
	attr.time_access_set.how = DAFS_SET_TO_SERVER_TIME;
	attr.time_modify_set.how = DAFS_SET_TO_SERVER_TIME;
	before = ktime_get_real_seconds();
	dafs_attr_expect_set(test, fix, &fh, &attr);
	after = ktime_get_real_seconds();
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_stat(fix, "file", &stat));
	KUNIT_EXPECT_GE(test, stat.atime.tv_sec, before - 1);
	KUNIT_EXPECT_LE(test, stat.atime.tv_sec, after);
	KUNIT_EXPECT_GE(test, stat.mtime.tv_sec, before - 1);
	KUNIT_EXPECT_LE(test, stat.mtime.tv_sec, after);
}

/* Write permission allows the server's time; only the owner may set another time. */
static void dafs_setattr_time_rights_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	const struct cred *user = dafs_fixture_user(test, 1003, 1003);
	struct dafs_fattr attr;
	struct dafs_fh fh;
	u64 done;

	dafs_attr_make_tree(test, fix);
	fh = dafs_test_lookup(test, fix, "file");
	attr = DAFS_ATTRS(DAFS_FATTR_TIME_MODIFY_SET, .time_modify_set = DAFS_CLIENT_TIME(5, 5));
	dafs_attr_expect_refused(test, fix, user, &fh, &attr, DAFSERR_PERM);
	attr.time_modify_set.how = DAFS_SET_TO_SERVER_TIME;
	dafs_attr_expect_refused(test, fix, user, &fh, &attr, DAFSERR_ACCES);
	dafs_backing_chmod(test, fix, "file", 0666);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_attr_set(test, fix, user, &fh,
							       &dafs_no_state, &attr, &done));
	attr.time_modify_set.how = DAFS_SET_TO_CLIENT_TIME;
	dafs_attr_expect_refused(test, fix, user, &fh, &attr, DAFSERR_PERM);
}

static void dafs_attr_set_size(struct kunit *test, struct dafs_fixture *fix,
			       const struct dafs_fh *fh, u64 size)
{
	struct dafs_fattr attr = DAFS_ATTRS(DAFS_FATTR_OBJECT_SIZE, .object_size = size);

	dafs_attr_expect_set(test, fix, fh, &attr);
}

/* R-6.1.5-11 R-6.5.35-03: truncated, emptied, and extended with zeros. */
static void dafs_setattr_size_test(struct kunit *test)
{
	static const char longer[8] = { '0', '1', '2', '3' };
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_fh fh;
	struct kstat stat;
	char data[16];

	dafs_attr_make_tree(test, fix);
	fh = dafs_test_lookup(test, fix, "file");
	dafs_attr_set_size(test, fix, &fh, 4);
	KUNIT_EXPECT_EQ(test, 4, dafs_backing_read(fix, "file", data, sizeof(data), 0));
	KUNIT_EXPECT_MEMEQ(test, "0123", data, 4);
	dafs_attr_set_size(test, fix, &fh, 8);
	KUNIT_EXPECT_EQ(test, 8, dafs_backing_read(fix, "file", data, sizeof(data), 0));
	KUNIT_EXPECT_MEMEQ(test, longer, data, 8);
	dafs_attr_set_size(test, fix, &fh, 0);
	KUNIT_EXPECT_EQ(test, 0, dafs_backing_read(fix, "file", data, sizeof(data), 0));
	dafs_attr_set_size(test, fix, &fh, 5ULL << 30);
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_stat(fix, "file", &stat));
	KUNIT_EXPECT_EQ(test, 5LL << 30, stat.size);
	KUNIT_EXPECT_EQ(test, 4, dafs_backing_read(fix, "file", data, 4, (5LL << 30) - 4));
	KUNIT_EXPECT_MEMEQ(test, "\0\0\0\0", data, 4);
}

/* R-6.5.35-05: a new size updates the modification time and clears set-id bits. */
static void dafs_setattr_size_effects_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	const struct cred *user = dafs_fixture_user(test, 1003, 1003);
	struct dafs_fattr attr = DAFS_ATTRS(DAFS_FATTR_OBJECT_SIZE, .object_size = 3);
	struct iattr ia = {
		.ia_valid = ATTR_MTIME | ATTR_MTIME_SET,
		.ia_mtime = { .tv_sec = 5 },
	};
	struct dafs_fh fh;
	struct kstat stat;
	u64 done;

	dafs_attr_make_tree(test, fix);
	fh = dafs_test_lookup(test, fix, "file");
	dafs_backing_chmod(test, fix, "file", 06777);
	dafs_backing_setattr(test, fix, "file", &ia);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_attr_set(test, fix, user, &fh,
							       &dafs_no_state, &attr, &done));
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_stat(fix, "file", &stat));
	KUNIT_EXPECT_GT(test, stat.mtime.tv_sec, 5);
	KUNIT_EXPECT_EQ(test, S_IFREG | 0777, stat.mode);
	KUNIT_EXPECT_EQ(test, 3, stat.size);
}

static struct dafs_open_res dafs_attr_open(struct kunit *test, struct dafs_fixture *fix,
					   const char *name, const char *owner, u32 access,
					   u32 deny)
{
	struct dafs_open_args args = dafs_test_open_args(owner, access, deny);
	struct dafs_open_res res = {};

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, dafs_test_open(test, fix->clnt, dafs_test_me(),
								&fix->dir, name, &args, &res));
	return res;
}

/* R-6.5.35-01: which state-ids may be used to change the size (E-79, E-80, E-115). */
static void dafs_setattr_state_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_fattr attr = DAFS_ATTRS(DAFS_FATTR_OBJECT_SIZE, .object_size = 3);
	struct dafs_open_res rd, wr, other;
	struct dafs_state_id bad;
	struct kstat stat;
	u64 done;

	dafs_attr_make_tree(test, fix);
	dafs_backing_write(test, fix, "other", "data", 4);
	rd = dafs_attr_open(test, fix, "file", "rd", DAFS_OPEN_SHARE_ACCESS_READ, 0);
	wr = dafs_attr_open(test, fix, "file", "wr", DAFS_OPEN_SHARE_ACCESS_WRITE, 0);
	other = dafs_attr_open(test, fix, "other", "wr", DAFS_OPEN_SHARE_ACCESS_WRITE, 0);
	DAFS_EXPECT_STATUS(test, DAFSERR_ACCES,
			   dafs_attr_set(test, fix, dafs_test_me(), &rd.filehandle, &rd.state_id,
					 &attr, &done));
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_STATEID,
			   dafs_attr_set(test, fix, dafs_test_me(), &rd.filehandle,
					 &other.state_id, &attr, &done));
	bad = wr.state_id;
	bad.b[7] ^= 0x40;
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_STATEID,
			   dafs_attr_set(test, fix, dafs_test_me(), &rd.filehandle, &bad, &attr,
					 &done));
	bad = wr.state_id;
	bad.b[0] ^= 1;
	DAFS_EXPECT_STATUS(test, DAFSERR_STALE_STATEID,
			   dafs_attr_set(test, fix, dafs_test_me(), &rd.filehandle, &bad, &attr,
					 &done));
	KUNIT_EXPECT_EQ(test, 0, done);
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_stat(fix, "file", &stat));
	KUNIT_EXPECT_EQ(test, 10, stat.size);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_attr_set(test, fix, dafs_test_me(), &wr.filehandle, &wr.state_id,
					 &attr, &done));
	KUNIT_EXPECT_EQ(test, DAFS_FATTR_OBJECT_SIZE, done);
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_stat(fix, "file", &stat));
	KUNIT_EXPECT_EQ(test, 3, stat.size);
}

/* E-115: without an open it needs write permission, and no open may deny writing. */
static void dafs_setattr_anonymous_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	const struct cred *user = dafs_fixture_user(test, 1003, 1003);
	struct dafs_fattr attr = DAFS_ATTRS(DAFS_FATTR_OBJECT_SIZE, .object_size = 3);
	struct dafs_state_id ones;
	struct dafs_open_res deny;
	struct kstat stat;
	u64 done;

	dafs_attr_make_tree(test, fix);
	memset(&ones, 0xff, sizeof(ones));
	deny = dafs_attr_open(test, fix, "file", "o", DAFS_OPEN_SHARE_ACCESS_READ,
			      DAFS_OPEN_SHARE_DENY_WRITE);
	dafs_attr_expect_refused(test, fix, user, &deny.filehandle, &attr, DAFSERR_ACCES);
	dafs_attr_expect_refused(test, fix, dafs_test_me(), &deny.filehandle, &attr,
				 DAFSERR_LOCKED);
	DAFS_EXPECT_STATUS(test, DAFSERR_LOCKED,
			   dafs_attr_set(test, fix, dafs_test_me(), &deny.filehandle, &ones,
					 &attr, &done));
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_stat(fix, "file", &stat));
	KUNIT_EXPECT_EQ(test, 10, stat.size);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &deny));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_attr_set(test, fix, dafs_test_me(), &deny.filehandle, &ones,
					 &attr, &done));
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_stat(fix, "file", &stat));
	KUNIT_EXPECT_EQ(test, 3, stat.size);
}

static void dafs_attr_refuse_size(struct kunit *test, struct dafs_fixture *fix, const char *name,
				  u64 size, dafs_status_t status)
{
	struct dafs_fattr attr = DAFS_ATTRS(DAFS_FATTR_OBJECT_SIZE, .object_size = size);
	struct dafs_fh fh = dafs_test_lookup(test, fix, name);

	dafs_attr_expect_refused(test, fix, dafs_test_me(), &fh, &attr, status);
}

/* Sizes larger than any file, and objects without a size to set. */
static void dafs_setattr_bad_size_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	u64 most = fix->path.dentry->d_sb->s_maxbytes;
	struct kstat stat;

	dafs_attr_make_tree(test, fix);
	dafs_attr_refuse_size(test, fix, "file", U64_MAX, DAFSERR_FBIG);
	dafs_attr_refuse_size(test, fix, "file", 1ULL << 63, DAFSERR_FBIG);
	dafs_attr_refuse_size(test, fix, "file", most + 1, DAFSERR_FBIG);
	dafs_attr_refuse_size(test, fix, "dir", 0, DAFSERR_ISDIR);
	dafs_attr_refuse_size(test, fix, "link", 0, DAFSERR_INVAL);
	dafs_attr_refuse_size(test, fix, "fifo", 0, DAFSERR_INVAL);
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_stat(fix, "file", &stat));
	KUNIT_EXPECT_EQ(test, 10, stat.size);
}

/* ETXTBSY: a running program is not truncated without an open or by an open for reading. */
static void dafs_setattr_running_test(struct kunit *test)
{
	struct dafs_open_args args = dafs_test_open_args("owner", DAFS_OPEN_SHARE_ACCESS_READ, 0);
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_open_res res;
	struct file *program;
	struct kstat stat;

	dafs_attr_make_tree(test, fix);
	program = dafs_backing_open(fix, "file", O_RDONLY, 0);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, program);
	KUNIT_EXPECT_EQ(test, 0, deny_write_access(program));
	dafs_attr_refuse_size(test, fix, "file", 3, DAFSERR_ACCES);
	args.open_type = DAFS_OPEN_CREATE;
	args.createmode = DAFS_CREATE_UNCHECKED;
	args.createattrs.included = DAFS_FATTR_OBJECT_SIZE;
	args.createattrs.valid = DAFS_FATTR_OBJECT_SIZE;
	DAFS_EXPECT_STATUS(test, DAFSERR_ACCES,
			   dafs_test_open(test, fix->clnt, dafs_test_me(), &fix->dir, "file",
					  &args, &res));
	allow_write_access(program);
	dafs_backing_close(program);
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_stat(fix, "file", &stat));
	KUNIT_EXPECT_EQ(test, 10, stat.size);
}

/* R-6.5.35-04: read-only attributes (E-112), alone and together with a settable one. */
static void dafs_setattr_read_only_attrs_test(struct kunit *test)
{
	static const u64 read_only[] = {
		DAFS_FATTR_NAMED_ATTR, DAFS_FATTR_OBJECT_TYPE, DAFS_FATTR_NUM_LINKS,
		DAFS_FATTR_CHANGE, DAFS_FATTR_FILE_ID, DAFS_FATTR_SPACE_USED,
		DAFS_FATTR_TIME_ACCESS, DAFS_FATTR_TIME_DELTA, DAFS_FATTR_TIME_METADATA,
		DAFS_FATTR_TIME_MODIFY, DAFS_FATTR_RAW_DEV, DAFS_FATTR_FILEHANDLE,
	};
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_fattr attr = { .mode = 0600 };
	struct dafs_fh fh;
	struct kstat stat;
	int i;

	dafs_attr_make_tree(test, fix);
	fh = dafs_test_lookup(test, fix, "file");
	for (i = 0; i < ARRAY_SIZE(read_only); i++) {
		attr.included = read_only[i];
		attr.valid = read_only[i];
		dafs_attr_expect_refused(test, fix, dafs_test_me(), &fh, &attr, DAFSERR_INVAL);
		attr.included |= DAFS_FATTR_MODE;
		attr.valid |= DAFS_FATTR_MODE;
		dafs_attr_expect_refused(test, fix, dafs_test_me(), &fh, &attr, DAFSERR_INVAL);
	}
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_stat(fix, "file", &stat));
	KUNIT_EXPECT_EQ(test, S_IFREG | 0644, stat.mode);
}

/* R-6.1.5-06 R-6.5.35-04: optional attributes (E-112). */
static void dafs_setattr_optional_test(struct kunit *test)
{
	static const u64 optional[] = {
		DAFS_FATTR_ARCHIVE, DAFS_FATTR_HIDDEN, DAFS_FATTR_SYSTEM, DAFS_FATTR_TIME_BACKUP,
		DAFS_FATTR_TIME_CREATE, DAFS_FATTR_MIME_TYPE,
	};
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_fattr attr = { .archive = 1, .hidden = 1, .system = 1 };
	struct dafs_fsattr fs;
	struct dafs_fh fh;
	int i;

	dafs_attr_make_tree(test, fix);
	fh = dafs_test_lookup(test, fix, "file");
	attr.mime_type = dafs_test_str("text/plain");
	dafs_fsattr_expect_all(test, fix, &fh, &fs);
	for (i = 0; i < ARRAY_SIZE(optional); i++) {
		attr.included = optional[i];
		attr.valid = optional[i];
		if (!(fs.supported_fattr & optional[i]))
			dafs_attr_expect_refused(test, fix, dafs_test_me(), &fh, &attr,
						 DAFSERR_INVAL);
	}
}

/* E-114: an attribute that is included but not valid is skipped. */
static void dafs_setattr_not_valid_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_fattr attr = {
		.included = DAFS_FATTR_ALL & ~DAFS_FATTR_ACL,
		.valid = DAFS_FATTR_MODE,
		.mode = 0600,
	};
	struct dafs_fh fh;
	struct kstat stat;

	dafs_attr_make_tree(test, fix);
	fh = dafs_test_lookup(test, fix, "file");
	dafs_attr_expect_set(test, fix, &fh, &attr);
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_stat(fix, "file", &stat));
	KUNIT_EXPECT_EQ(test, S_IFREG | 0600, stat.mode);
	KUNIT_EXPECT_EQ(test, 10, stat.size);
	attr.valid = 0;
	dafs_attr_expect_set(test, fix, &fh, &attr);
}

/* R-6.5.35-02 E-114: order is size, mode, owner, times; the first failure stops it. */
static void dafs_setattr_order_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	const struct cred *owner = dafs_fixture_user(test, 1000, 2000);
	const struct cred *other = dafs_fixture_user(test, 1003, 1003);
	struct dafs_fattr attr = DAFS_ATTRS(DAFS_FATTR_OBJECT_SIZE | DAFS_FATTR_MODE |
					    DAFS_FATTR_OWNER | DAFS_FATTR_TIME_MODIFY_SET,
					    .object_size = 5, .mode = 0666,
					    .owner = dafs_test_str("1003"),
					    .time_modify_set = DAFS_CLIENT_TIME(5, 5));
	struct dafs_fh fh;
	struct kstat stat;
	u64 done;

	dafs_attr_make_tree(test, fix);
	fh = dafs_test_lookup(test, fix, "file");
	DAFS_EXPECT_STATUS(test, DAFSERR_PERM, dafs_attr_set(test, fix, owner, &fh, &dafs_no_state,
							     &attr, &done));
	KUNIT_EXPECT_EQ(test, DAFS_FATTR_OBJECT_SIZE | DAFS_FATTR_MODE, done);
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_stat(fix, "file", &stat));
	KUNIT_EXPECT_EQ(test, 5, stat.size);
	KUNIT_EXPECT_EQ(test, S_IFREG | 0666, stat.mode);
	KUNIT_EXPECT_NE(test, 5, stat.mtime.tv_sec);
	attr.object_size = 4;
	attr.mode = 0600;
	DAFS_EXPECT_STATUS(test, DAFSERR_PERM, dafs_attr_set(test, fix, other, &fh, &dafs_no_state,
							     &attr, &done));
	KUNIT_EXPECT_EQ(test, DAFS_FATTR_OBJECT_SIZE, done);
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_stat(fix, "file", &stat));
	KUNIT_EXPECT_EQ(test, 4, stat.size);
	KUNIT_EXPECT_EQ(test, S_IFREG | 0666, stat.mode);
}

/* Invalid values: owners (E-117), times (E-29). */
static void dafs_setattr_bad_value_test(struct kunit *test)
{
	static const char *const owners[] = {
		"", "root", "root@example.org", "4294967295", "4294967296", "-1", "+1", "0x10",
		"1 ", "99999999999999999999",
	};
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_fattr attr;
	struct dafs_fh fh;
	int i;

	dafs_attr_make_tree(test, fix);
	fh = dafs_test_lookup(test, fix, "file");
	for (i = 0; i < ARRAY_SIZE(owners); i++) {
		attr = DAFS_ATTRS(DAFS_FATTR_OWNER, .owner = dafs_test_str(owners[i]));
		dafs_attr_expect_refused(test, fix, dafs_test_me(), &fh, &attr, DAFSERR_INVAL);
		attr = DAFS_ATTRS(DAFS_FATTR_OWNER_GROUP,
				  .owner_group = dafs_test_str(owners[i]));
		dafs_attr_expect_refused(test, fix, dafs_test_me(), &fh, &attr, DAFSERR_INVAL);
	}
	attr = DAFS_ATTRS(DAFS_FATTR_TIME_ACCESS_SET,
			  .time_access_set = DAFS_CLIENT_TIME(5, 1000000000));
	dafs_attr_expect_refused(test, fix, dafs_test_me(), &fh, &attr, DAFSERR_INVAL);
	attr.time_access_set.client_time.nseconds = 0;
	attr.time_access_set.how = 0;
	dafs_attr_expect_refused(test, fix, dafs_test_me(), &fh, &attr, DAFSERR_INVAL);
	attr.time_access_set.how = 3;
	dafs_attr_expect_refused(test, fix, dafs_test_me(), &fh, &attr, DAFSERR_INVAL);
}

/* R-7-06 R-7-07: other users; every user in a read-only export and the pseudo root. */
static void dafs_setattr_rights_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_fixture *ro = dafs_fixture_in(test, NULL, DAFS_TEST_RO);
	struct dafs_fixture *squash = dafs_fixture_in(test, NULL, DAFS_TEST_SQUASH);
	const struct cred *owner = dafs_fixture_user(test, 1000, 2000);
	const struct cred *other = dafs_fixture_user(test, 1003, 1003);
	struct dafs_fattr mode = DAFS_ATTRS(DAFS_FATTR_MODE, .mode = 0600);
	struct dafs_fattr size = DAFS_ATTRS(DAFS_FATTR_OBJECT_SIZE, .object_size = 0);
	struct dafs_fattr give = DAFS_ATTRS(DAFS_FATTR_OWNER, .owner = dafs_test_str("1003"));
	struct dafs_fh fh, root;

	dafs_attr_make_tree(test, fix);
	dafs_attr_make_tree(test, ro);
	dafs_attr_make_tree(test, squash);
	fh = dafs_test_lookup(test, fix, "file");
	dafs_attr_expect_refused(test, fix, other, &fh, &mode, DAFSERR_PERM);
	dafs_attr_expect_refused(test, fix, other, &fh, &size, DAFSERR_ACCES);
	dafs_attr_expect_refused(test, fix, owner, &fh, &give, DAFSERR_PERM);
	fh = dafs_test_lookup(test, ro, "file");
	dafs_attr_expect_refused(test, ro, dafs_test_me(), &fh, &mode, DAFSERR_ROFS);
	dafs_attr_expect_refused(test, ro, dafs_test_me(), &fh, &size, DAFSERR_ROFS);
	fh = dafs_test_lookup(test, squash, "file");
	dafs_attr_expect_refused(test, squash, dafs_test_me(), &fh, &mode, DAFSERR_PERM);
	dafs_attr_expect_refused(test, squash, dafs_test_me(), &fh, &size, DAFSERR_ACCES);
	KUNIT_ASSERT_EQ(test, 0, dafs_get_root_handle(fix->clnt, dafs_test_me(), &root));
	dafs_attr_expect_refused(test, fix, dafs_test_me(), &root, &mode, DAFSERR_ROFS);
}

/* GET_FSATTR */

/*
 * R-4.1.4-04 R-4.1.4-17 R-4.1.4-19 R-6.1.6-01 R-6.1.6-05 R-6.1.6-14 R-6.1.6-16: values
 * that the server chooses.  MAX_APPEND is at least 64 KiB, filehandles never expire.
 */
static void dafs_fsattr_test(struct kunit *test)
{
	const u64 mandatory = 0x9000c603;
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_fsattr attr;

	dafs_fsattr_expect_all(test, fix, &fix->dir, &attr);
	KUNIT_EXPECT_EQ(test, mandatory, attr.valid & mandatory);
	KUNIT_EXPECT_EQ(test, mandatory, attr.supported_fsattr & mandatory);
	KUNIT_EXPECT_MEMEQ(test, fix->dir.fshandle, attr.fshandle, sizeof(attr.fshandle));
	KUNIT_EXPECT_GE(test, attr.max_append, 65536);
	KUNIT_EXPECT_GT(test, attr.lease_time, 0);
	KUNIT_EXPECT_EQ(test, 0, attr.rd_attr_error);
	KUNIT_EXPECT_EQ(test, DAFS_FH_PERSISTENT, attr.fh_expire_type);
	KUNIT_EXPECT_TRUE(test, attr.valid & DAFS_FSATTR_FH_EXPIRE_TYPE);
	KUNIT_EXPECT_GT(test, attr.max_read, 0);
	KUNIT_EXPECT_GT(test, attr.max_write, 0);
	KUNIT_EXPECT_LE(test, attr.pref_io_size, attr.max_read);
}

/* R-6.1.6-13: same capacity as statfs(); repeated if it changes during the test. */
static void dafs_fsattr_space_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct kstatfs before, after;
	struct dafs_fsattr attr;
	int tries = 20;

	do {
		KUNIT_ASSERT_EQ(test, 0, vfs_statfs(&fix->path, &before));
		dafs_fsattr_expect_all(test, fix, &fix->dir, &attr);
		KUNIT_ASSERT_EQ(test, 0, vfs_statfs(&fix->path, &after));
	} while (memcmp(&before, &after, sizeof(before)) && --tries);
	KUNIT_EXPECT_EQ(test, after.f_blocks * after.f_frsize, attr.space_total);
	KUNIT_EXPECT_EQ(test, after.f_bfree * after.f_frsize, attr.space_free);
	KUNIT_EXPECT_EQ(test, after.f_bavail * after.f_frsize, attr.space_available);
	KUNIT_EXPECT_EQ(test, after.f_files, attr.files_total);
	KUNIT_EXPECT_EQ(test, after.f_ffree, attr.files_free);
	KUNIT_EXPECT_EQ(test, after.f_ffree, attr.files_available);
	KUNIT_EXPECT_EQ(test, after.f_namelen, attr.max_name);
	KUNIT_EXPECT_EQ(test, fix->path.dentry->d_sb->s_maxbytes, attr.max_file_size);
}

/* R-6.1.6-07: SUPPORTED_ATTRS lists exactly the attributes that have values. */
static void dafs_fsattr_supported_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_attr_got got = {};
	struct dafs_fsattr attr;
	struct dafs_fh fh;

	dafs_attr_make_tree(test, fix);
	fh = dafs_test_lookup(test, fix, "file");
	dafs_fsattr_expect_all(test, fix, &fh, &attr);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_attr_get(test, fix, &fh, DAFS_FATTR_ALL, &got));
	KUNIT_EXPECT_EQ(test, attr.supported_fattr & ~DAFS_ATTR_WRITE_ONLY, got.attr.valid);
	if (!fix->path.dentry->d_sb->s_max_links)
		attr.supported_fsattr &= ~DAFS_FSATTR_MAX_LINK;
	KUNIT_EXPECT_EQ(test, attr.supported_fsattr, attr.valid);
	KUNIT_EXPECT_EQ(test, 0, attr.valid & ~attr.included);
}

/* One attribute per request, and bits that are not assigned (E-20). */
static void dafs_fsattr_each_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_fsattr all, attr;
	int n;

	dafs_fsattr_expect_all(test, fix, &fix->dir, &all);
	for (n = 0; n < 64; n++) {
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
				   dafs_fsattr_get(test, fix, &fix->dir, 1ULL << n, &attr));
		KUNIT_EXPECT_EQ(test, (1ULL << n) & DAFS_FSATTR_ALL, attr.included);
		KUNIT_EXPECT_EQ(test, (1ULL << n) & all.valid, attr.valid);
	}
	KUNIT_EXPECT_EQ(test, 0, DAFS_FSATTR_ALL & (1ULL << 30));
}

/*
 * R-4.1.4-03 R-6.1.6-04 R-6.5.15-01: each export and the pseudo root is a file
 * system of its own; all have the same lease time.
 */
static void dafs_fsattr_exports_test(struct kunit *test)
{
	struct dafs_fixture *fix[3];
	struct dafs_fsattr attr[4];
	struct dafs_fh root;
	int i, j;

	for (i = 0; i < 3; i++) {
		fix[i] = dafs_fixture_in(test, NULL, DAFS_TEST_DATA + i);
		dafs_fsattr_expect_all(test, fix[i], &fix[i]->dir, &attr[i]);
	}
	KUNIT_ASSERT_EQ(test, 0, dafs_get_root_handle(fix[0]->clnt, dafs_test_me(), &root));
	dafs_fsattr_expect_all(test, fix[0], &root, &attr[3]);
	KUNIT_EXPECT_EQ(test, 0x9000c603ULL, attr[3].valid & 0x9000c603);
	for (i = 1; i < 4; i++) {
		KUNIT_EXPECT_EQ(test, attr[0].lease_time, attr[i].lease_time);
		for (j = 0; j < i; j++)
			KUNIT_EXPECT_MEMNEQ(test, attr[i].fshandle, attr[j].fshandle,
					    sizeof(attr[i].fshandle));
	}
}

static void dafs_fsattr_expect_links(struct kunit *test, struct dafs_fixture *fix, bool able)
{
	dafs_status_t want = able ? DAFS_STATUS_OK : DAFSERR_NOTSUPP;
	struct dafs_link_args link = { .newname = dafs_test_str(able ? "hard" : "hard 2") };
	struct dafs_create_args symlink = {
		.filehandle = fix->dir,
		.component = dafs_test_str(able ? "soft" : "soft 2"),
		.obj_type = DAFS_TYPE_LNK,
		.linkdata = dafs_test_str("x"),
	};
	struct dafs_change_res linked;
	struct dafs_create_res created;
	struct dafs_fsattr attr;
	dafs_status_t status;

	link.source_object = dafs_test_lookup(test, fix, "file");
	link.destination_object = fix->dir;
	dafs_fsattr_expect_all(test, fix, &fix->dir, &attr);
	KUNIT_EXPECT_EQ(test, able, !!attr.link_support);
	KUNIT_EXPECT_EQ(test, able, !!attr.symlink_support);
	status = dafs_test_call(test, fix->clnt, dafs_test_me(), DAFS_PROC_LINK, &link, &linked);
	DAFS_EXPECT_STATUS(test, want, status);
	status = dafs_test_call(test, fix->clnt, dafs_test_me(), DAFS_PROC_CREATE, &symlink,
				&created);
	DAFS_EXPECT_STATUS(test, want, status);
}

/* Inode operations of directories that support no links */
static struct inode_operations dafs_attr_linkless;
static const struct inode_operations *dafs_attr_real;

static void dafs_attr_restore_links(void *dir)
{
	((struct inode *)dir)->i_op = dafs_attr_real;
}

static void dafs_attr_forbid_links(struct kunit *test, struct inode *dir)
{
	dir->i_op = &dafs_attr_linkless;
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, dafs_attr_restore_links, dir));
}

/* R-6.1.6-02: LINK_SUPPORT and SYMLINK_SUPPORT agree with the results of LINK and CREATE. */
static void dafs_fsattr_links_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dentry *dir = fix->path.dentry;

	dafs_attr_make_tree(test, fix);
	dafs_fsattr_expect_links(test, fix, true);
	dafs_attr_real = d_inode(dir)->i_op;
	dafs_attr_linkless = *dafs_attr_real;
	dafs_attr_linkless.link = NULL;
	dafs_attr_linkless.symlink = NULL;
	dafs_attr_forbid_links(test, d_inode(dir->d_parent));
	dafs_attr_forbid_links(test, d_inode(dir));
	dafs_fsattr_expect_links(test, fix, false);
}

/* R-6.1.6-08: ext4 is case sensitive and case preserving. */
static void dafs_fsattr_case_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_str other = dafs_test_str("aA");
	struct dafs_fsattr attr;
	struct dafs_fh fh;

	dafs_backing_write(test, fix, "Aa", "x", 1);
	dafs_fsattr_expect_all(test, fix, &fix->dir, &attr);
	KUNIT_EXPECT_FALSE(test, attr.case_insensitive);
	KUNIT_EXPECT_EQ(test, -ENOENT,
			dafs_lookup_path(fix->clnt, dafs_test_me(), &fix->dir, &other, 1, &fh));
	KUNIT_EXPECT_TRUE(test, attr.case_preserving);
	KUNIT_EXPECT_TRUE(test, attr.no_trunc);
}

/* R-4.1.4-11 R-6.1.6-11: what the booleans say about times, owners and handles. */
static void dafs_fsattr_behaviour_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	const struct cred *owner = dafs_fixture_user(test, 1000, 2000);
	struct dafs_fattr give = DAFS_ATTRS(DAFS_FATTR_OWNER, .owner = dafs_test_str("1003"));
	struct dafs_fattr touch = DAFS_ATTRS(DAFS_FATTR_TIME_MODIFY_SET,
					     .time_modify_set = DAFS_CLIENT_TIME(5, 5));
	struct dafs_fsattr attr;
	struct dafs_fh one, two;

	dafs_attr_make_tree(test, fix);
	dafs_backing_link(test, fix, "file", "dir/hard");
	one = dafs_test_lookup(test, fix, "file");
	two = dafs_test_lookup(test, fix, "dir/hard");
	dafs_fsattr_expect_all(test, fix, &fix->dir, &attr);
	KUNIT_EXPECT_TRUE(test, attr.unique_handle);
	KUNIT_EXPECT_MEMEQ(test, &one, &two, sizeof(one));
	KUNIT_EXPECT_TRUE(test, attr.can_set_time);
	dafs_attr_expect_set(test, fix, &one, &touch);
	KUNIT_EXPECT_TRUE(test, attr.chown_restricted);
	dafs_attr_expect_refused(test, fix, owner, &one, &give, DAFSERR_PERM);
	KUNIT_EXPECT_TRUE(test, attr.homogeneous);
}

/* R-6.1.6-15: ACE types that ACL_SUPPORT does not list are not accepted. */
static void dafs_fsattr_acl_test(struct kunit *test)
{
	static const struct dafs_ace ace = {
		.type = DAFS_ACE_ACCESS_ALLOWED_ACE_TYPE,
		.access_mask = DAFS_ACE_READ_DATA,
		.who = { .len = 6, .data = "OWNER@" },
	};
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_fattr attr = DAFS_ATTRS(DAFS_FATTR_ACL, .acl = { .count = 1, .elems = &ace });
	struct dafs_fsattr fs;
	struct dafs_fh fh;
	u64 done;

	dafs_attr_make_tree(test, fix);
	fh = dafs_test_lookup(test, fix, "file");
	dafs_fsattr_expect_all(test, fix, &fh, &fs);
	if (!(fs.acl_support & DAFS_ACL_SUPPORT_ALLOW))
		KUNIT_EXPECT_TRUE(test, dafs_attr_set(test, fix, dafs_test_me(), &fh,
						      &dafs_no_state, &attr, &done));
	KUNIT_EXPECT_EQ(test, !fs.acl_support, !(fs.supported_fattr & DAFS_FATTR_ACL));
}

static struct kunit_case dafs_attr_cases[] = {
	KUNIT_CASE(dafs_access_test),
	KUNIT_CASE_PARAM(dafs_access_mask_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_access_read_only_test),
	KUNIT_CASE(dafs_access_squash_test),
	KUNIT_CASE_PARAM(dafs_getattr_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_getattr_each_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_getattr_root_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_getattr_named_test),
	KUNIT_CASE(dafs_getattr_change_test),
	KUNIT_CASE(dafs_getattr_links_test),
	KUNIT_CASE(dafs_getattr_times_test),
	KUNIT_CASE_PARAM(dafs_setattr_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_setattr_link_test),
	KUNIT_CASE_PARAM(dafs_setattr_client_time_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_setattr_server_time_test),
	KUNIT_CASE(dafs_setattr_time_rights_test),
	KUNIT_CASE_PARAM(dafs_setattr_size_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_setattr_size_effects_test),
	KUNIT_CASE(dafs_setattr_state_test),
	KUNIT_CASE(dafs_setattr_anonymous_test),
	KUNIT_CASE(dafs_setattr_bad_size_test),
	KUNIT_CASE(dafs_setattr_running_test),
	KUNIT_CASE(dafs_setattr_read_only_attrs_test),
	KUNIT_CASE(dafs_setattr_optional_test),
	KUNIT_CASE_PARAM(dafs_setattr_not_valid_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_setattr_order_test),
	KUNIT_CASE(dafs_setattr_bad_value_test),
	KUNIT_CASE(dafs_setattr_rights_test),
	KUNIT_CASE_PARAM(dafs_fsattr_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_fsattr_space_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_fsattr_supported_test),
	KUNIT_CASE_PARAM(dafs_fsattr_each_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_fsattr_exports_test),
	KUNIT_CASE(dafs_fsattr_links_test),
	KUNIT_CASE(dafs_fsattr_case_test),
	KUNIT_CASE(dafs_fsattr_behaviour_test),
	KUNIT_CASE(dafs_fsattr_acl_test),
	{}
};

static struct kunit_suite dafs_attr_suite = {
	.name = "dafs_attr",
	.test_cases = dafs_attr_cases,
};

kunit_test_suite(dafs_attr_suite);
