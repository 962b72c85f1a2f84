// SPDX-License-Identifier: GPL-2.0
/*
 * Quotas as attributes of a file system: QUOTA_HARD, QUOTA_SOFT, QUOTA_USED.
 *
 * The file system of the export with root squash must have quotas of users.
 */
#include <uapi/linux/dqblk_xfs.h>
#include "../lib/fixture.h"

#define DAFS_QUOTA_ALL	(DAFS_FSATTR_QUOTA_HARD | DAFS_FSATTR_QUOTA_SOFT | DAFS_FSATTR_QUOTA_USED)
#define DAFS_QUOTA_UID	4711
#define DAFS_QUOTA_ANON	65534
#define DAFS_QUOTA_FILE	100000
#define DAFS_QUOTA_SOFT	SZ_256K
#define DAFS_QUOTA_HARD	SZ_512K

static struct super_block *dafs_quota_sb(const struct dafs_fixture *fix)
{
	return fix->path.dentry->d_sb;
}

static struct qc_dqblk dafs_quota_of(struct kunit *test, struct dafs_fixture *fix, uid_t uid)
{
	struct super_block *sb = dafs_quota_sb(fix);
	struct qc_dqblk quota = {};

	down_read(&sb->s_umount);
	KUNIT_EXPECT_EQ(test, 0, sb->s_qcop->get_dqblk(sb, make_kqid_uid(KUIDT_INIT(uid)),
						       &quota));
	up_read(&sb->s_umount);
	return quota;
}

static void dafs_quota_change(struct kunit *test, struct dafs_fixture *fix, uid_t uid,
			      struct qc_dqblk quota)
{
	struct super_block *sb = dafs_quota_sb(fix);

	down_read(&sb->s_umount);
	KUNIT_EXPECT_EQ(test, 0, sb->s_qcop->set_dqblk(sb, make_kqid_uid(KUIDT_INIT(uid)),
						       &quota));
	up_read(&sb->s_umount);
}

static void dafs_quota_limit(struct kunit *test, struct dafs_fixture *fix, uid_t uid, u64 soft,
			     u64 hard)
{
	dafs_quota_change(test, fix, uid, (struct qc_dqblk) {
		.d_fieldmask = QC_SPC_SOFT | QC_SPC_HARD,
		.d_spc_softlimit = soft,
		.d_spc_hardlimit = hard,
	});
}

/* Also after a failed test no limits are left. */
static void dafs_quota_unlimit(void *data)
{
	struct super_block *sb = dafs_quota_sb(data);
	struct qc_dqblk quota = { .d_fieldmask = QC_SPC_SOFT | QC_SPC_HARD };

	down_read(&sb->s_umount);
	sb->s_qcop->set_dqblk(sb, make_kqid_uid(KUIDT_INIT(DAFS_QUOTA_UID)), &quota);
	sb->s_qcop->set_dqblk(sb, make_kqid_uid(KUIDT_INIT(DAFS_QUOTA_ANON)), &quota);
	up_read(&sb->s_umount);
}

/* Makes a file of the user. */
static struct dafs_fixture *dafs_quota_fixture(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture_in(test, test->param_value, DAFS_TEST_SQUASH);
	void *data = kunit_kzalloc(test, DAFS_QUOTA_FILE, GFP_KERNEL);
	struct super_block *sb = dafs_quota_sb(fix);
	struct qc_state state = {};

	KUNIT_ASSERT_NOT_NULL(test, data);
	if (sb->s_qcop && sb->s_qcop->get_state)
		sb->s_qcop->get_state(sb, &state);
	if (!(state.s_state[USRQUOTA].flags & QCI_LIMITS_ENFORCED))
		kunit_skip(test, "the file system has no quotas of users");
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, dafs_quota_unlimit, fix));
	dafs_backing_write(test, fix, "file", data, DAFS_QUOTA_FILE);
	dafs_backing_chown(test, fix, "file", DAFS_QUOTA_UID, DAFS_QUOTA_UID);
	return fix;
}

static struct dafs_fsattr dafs_quota_get(struct kunit *test, struct dafs_fixture *fix,
					 const struct cred *cred, const struct dafs_fh *fh,
					 u64 wanted)
{
	struct dafs_getattr_args args = { .filehandle = *fh, .attr_request_bitmap = wanted };
	struct dafs_get_fsattr_res res = {};

	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_test_call(test, fix->clnt, cred, DAFS_PROC_GET_FSATTR, &args,
					  &res));
	KUNIT_EXPECT_EQ(test, wanted & DAFS_FSATTR_ALL, res.obj_attributes.included);
	return res.obj_attributes;
}

/* R-6.1.6-07 E-116: used and remaining space of the user, in both byte orders. */
static void dafs_quota_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_quota_fixture(test);
	const struct cred *user = dafs_fixture_user(test, DAFS_QUOTA_UID, DAFS_QUOTA_UID);
	struct dafs_fsattr attr;
	u64 used;

	dafs_quota_limit(test, fix, DAFS_QUOTA_UID, DAFS_QUOTA_SOFT, DAFS_QUOTA_HARD);
	used = dafs_quota_of(test, fix, DAFS_QUOTA_UID).d_space;
	KUNIT_EXPECT_GE(test, used, DAFS_QUOTA_FILE);
	attr = dafs_quota_get(test, fix, user, &fix->dir, U64_MAX);
	KUNIT_EXPECT_EQ(test, DAFS_QUOTA_ALL, attr.supported_fsattr & DAFS_QUOTA_ALL);
	KUNIT_EXPECT_EQ(test, DAFS_QUOTA_ALL, attr.valid & DAFS_QUOTA_ALL);
	KUNIT_EXPECT_EQ(test, used, attr.quota_used);
	KUNIT_EXPECT_EQ(test, DAFS_QUOTA_SOFT - used, attr.quota_soft);
	KUNIT_EXPECT_EQ(test, DAFS_QUOTA_HARD - used, attr.quota_hard);
	attr = dafs_quota_get(test, fix, user, &fix->dir, DAFS_FSATTR_QUOTA_SOFT);
	KUNIT_EXPECT_EQ(test, DAFS_FSATTR_QUOTA_SOFT, attr.valid);
	KUNIT_EXPECT_EQ(test, DAFS_QUOTA_SOFT - used, attr.quota_soft);
}

/* Each user has a separate quota; squashed root has that of the anonymous user. */
static void dafs_quota_users_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_quota_fixture(test);
	const struct cred *other = dafs_fixture_user(test, DAFS_QUOTA_UID + 1, DAFS_QUOTA_UID);
	struct dafs_fsattr attr;

	dafs_quota_limit(test, fix, DAFS_QUOTA_UID, DAFS_QUOTA_SOFT, DAFS_QUOTA_HARD);
	attr = dafs_quota_get(test, fix, other, &fix->dir, U64_MAX);
	KUNIT_EXPECT_EQ(test, DAFS_QUOTA_ALL, attr.supported_fsattr & DAFS_QUOTA_ALL);
	KUNIT_EXPECT_EQ(test, DAFS_FSATTR_QUOTA_USED, attr.valid & DAFS_QUOTA_ALL);
	KUNIT_EXPECT_EQ(test, 0, attr.quota_used);
	dafs_backing_chown(test, fix, "file", DAFS_QUOTA_ANON, DAFS_QUOTA_ANON);
	dafs_quota_limit(test, fix, DAFS_QUOTA_ANON, 0, 2 * DAFS_QUOTA_HARD);
	attr = dafs_quota_get(test, fix, dafs_test_me(), &fix->dir, DAFS_QUOTA_ALL);
	KUNIT_EXPECT_EQ(test, DAFS_FSATTR_QUOTA_USED | DAFS_FSATTR_QUOTA_HARD, attr.valid);
	KUNIT_EXPECT_GE(test, attr.quota_used, DAFS_QUOTA_FILE);
	KUNIT_EXPECT_EQ(test, 2 * DAFS_QUOTA_HARD, attr.quota_used + attr.quota_hard);
}

static void dafs_quota_end_grace(struct kunit *test, struct dafs_fixture *fix)
{
	dafs_quota_change(test, fix, DAFS_QUOTA_UID, (struct qc_dqblk) {
		.d_fieldmask = QC_SPC_TIMER,
		.d_spc_timer = ktime_get_real_seconds() - 1,
	});
}

/* Nothing remains above a limit, nor above the soft limit after its grace period. */
static void dafs_quota_over_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_quota_fixture(test);
	const struct cred *user = dafs_fixture_user(test, DAFS_QUOTA_UID, DAFS_QUOTA_UID);
	struct dafs_fsattr attr;

	dafs_quota_limit(test, fix, DAFS_QUOTA_UID, SZ_4K, DAFS_QUOTA_HARD);
	attr = dafs_quota_get(test, fix, user, &fix->dir, DAFS_QUOTA_ALL);
	KUNIT_EXPECT_EQ(test, DAFS_QUOTA_ALL, attr.valid);
	KUNIT_EXPECT_EQ(test, 0, attr.quota_soft);
	KUNIT_EXPECT_EQ(test, DAFS_QUOTA_HARD, attr.quota_used + attr.quota_hard);
	dafs_quota_end_grace(test, fix);
	attr = dafs_quota_get(test, fix, user, &fix->dir, DAFS_QUOTA_ALL);
	KUNIT_EXPECT_EQ(test, DAFS_QUOTA_ALL, attr.valid);
	KUNIT_EXPECT_EQ(test, 0, attr.quota_hard);
	dafs_quota_limit(test, fix, DAFS_QUOTA_UID, SZ_4K, 0);
	dafs_quota_end_grace(test, fix);
	attr = dafs_quota_get(test, fix, user, &fix->dir, DAFS_QUOTA_ALL);
	KUNIT_EXPECT_EQ(test, DAFS_QUOTA_ALL, attr.valid);
	KUNIT_EXPECT_EQ(test, 0, attr.quota_hard);
	dafs_quota_limit(test, fix, DAFS_QUOTA_UID, 0, SZ_4K);
	attr = dafs_quota_get(test, fix, user, &fix->dir, DAFS_QUOTA_ALL);
	KUNIT_EXPECT_EQ(test, DAFS_FSATTR_QUOTA_USED | DAFS_FSATTR_QUOTA_HARD, attr.valid);
	KUNIT_EXPECT_EQ(test, 0, attr.quota_hard);
}

/* R-6.1.6-07: file systems with accounting but no enforcement, and without quotas. */
static void dafs_quota_none_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_quota_fixture(test);
	struct dafs_fixture *data = dafs_fixture(test, NULL);
	const struct cred *user = dafs_fixture_user(test, DAFS_QUOTA_UID, DAFS_QUOTA_UID);
	struct super_block *sb = dafs_quota_sb(fix);
	struct dafs_fsattr attr;
	struct dafs_fh root;

	dafs_quota_limit(test, fix, DAFS_QUOTA_UID, DAFS_QUOTA_SOFT, DAFS_QUOTA_HARD);
	down_write(&sb->s_umount);
	KUNIT_EXPECT_EQ(test, 0, sb->s_qcop->quota_disable(sb, FS_QUOTA_UDQ_ENFD));
	up_write(&sb->s_umount);
	attr = dafs_quota_get(test, fix, user, &fix->dir, U64_MAX);
	down_write(&sb->s_umount);
	KUNIT_EXPECT_EQ(test, 0, sb->s_qcop->quota_enable(sb, FS_QUOTA_UDQ_ENFD));
	up_write(&sb->s_umount);
	KUNIT_EXPECT_EQ(test, DAFS_FSATTR_QUOTA_USED, attr.supported_fsattr & DAFS_QUOTA_ALL);
	KUNIT_EXPECT_EQ(test, DAFS_FSATTR_QUOTA_USED, attr.valid & DAFS_QUOTA_ALL);
	KUNIT_EXPECT_GE(test, attr.quota_used, DAFS_QUOTA_FILE);
	attr = dafs_quota_get(test, data, user, &data->dir, U64_MAX);
	KUNIT_EXPECT_EQ(test, 0, attr.supported_fsattr & DAFS_QUOTA_ALL);
	KUNIT_EXPECT_EQ(test, 0, attr.valid & DAFS_QUOTA_ALL);
	KUNIT_ASSERT_EQ(test, 0, dafs_get_root_handle(data->clnt, user, &root));
	attr = dafs_quota_get(test, data, user, &root, U64_MAX);
	KUNIT_EXPECT_EQ(test, 0, (attr.supported_fsattr | attr.valid) & DAFS_QUOTA_ALL);
}

static struct kunit_case dafs_quota_cases[] = {
	KUNIT_CASE_PARAM(dafs_quota_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_quota_users_test),
	KUNIT_CASE(dafs_quota_over_test),
	KUNIT_CASE(dafs_quota_none_test),
	{}
};

static struct kunit_suite dafs_quota_suite = {
	.name = "dafs_quota",
	.test_cases = dafs_quota_cases,
};

kunit_test_suite(dafs_quota_suite);
