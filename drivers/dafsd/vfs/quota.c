// SPDX-License-Identifier: GPL-2.0
/*
 * Quotas, as attributes of a file system (6.1.6).
 *
 * They are the quotas of the user that the request acts for, after squashing (E-116).  If
 * user quotas are off, the attributes are not supported; a limit that is not set for this
 * user has no value.
 */
#include "vfs.h"

/* The quota attributes that the file system supports */
static u64 dafsd_quota_supported(struct super_block *sb)
{
	const struct quotactl_ops *ops = sb->s_qcop;
	struct qc_state state = {};
	unsigned int flags;

	if (!ops || !ops->get_dqblk || !ops->get_state || ops->get_state(sb, &state))
		return 0;
	flags = state.s_state[USRQUOTA].flags;
	if (!(flags & QCI_ACCT_ENABLED))
		return 0;
	return flags & QCI_LIMITS_ENFORCED ? DAFSD_FSATTR_QUOTA : DAFS_FSATTR_QUOTA_USED;
}

static u64 dafsd_quota_left(u64 limit, u64 used)
{
	return limit > used ? limit - used : 0;
}

/* A user above the soft limit cannot allocate more space after the grace time. */
static bool dafsd_quota_overdue(const struct qc_dqblk *quota)
{
	return quota->d_spc_softlimit && quota->d_space > quota->d_spc_softlimit &&
	       quota->d_spc_timer && ktime_get_real_seconds() >= quota->d_spc_timer;
}

static u64 dafsd_quota_fill(const struct qc_dqblk *quota, struct dafs_fsattr *attr)
{
	bool overdue = dafsd_quota_overdue(quota);
	u64 valid = DAFS_FSATTR_QUOTA_USED;

	attr->quota_used = quota->d_space;
	attr->quota_soft = dafsd_quota_left(quota->d_spc_softlimit, quota->d_space);
	if (quota->d_spc_softlimit)
		valid |= DAFS_FSATTR_QUOTA_SOFT;
	if (!overdue)
		attr->quota_hard = dafsd_quota_left(quota->d_spc_hardlimit, quota->d_space);
	if (quota->d_spc_hardlimit || overdue)
		valid |= DAFS_FSATTR_QUOTA_HARD;
	return valid;
}

/*
 * Read the quotas of this user.  This may allocate a quota record on disk, so it is not
 * done while the file system is frozen.
 */
static u64 dafsd_quota_read(struct super_block *sb, struct dafs_fsattr *attr)
{
	struct kqid user = make_kqid_uid(current_fsuid());
	struct qc_dqblk quota = {};
	int err;

	if (!kuid_has_mapping(sb->s_user_ns, current_fsuid()) || !sb_start_write_trylock(sb))
		return 0;
	err = sb->s_qcop->get_dqblk(sb, user, &quota);
	sb_end_write(sb);
	/* the user has no quota record */
	if (err == -ENOENT)
		err = 0;
	return err ? 0 : dafsd_quota_fill(&quota, attr);
}

/**
 * dafsd_quota_get() - the quotas of the caller on a file system
 * @sb: the file system
 * @attr: @attr->included is set; attributes of DAFSD_FSATTR_QUOTA that have a value are
 *	set and made valid, and those that are supported are added to SUPPORTED_FSATTR
 *
 * Context: may sleep; acts for the caller.
 */
void dafsd_quota_get(struct super_block *sb, struct dafs_fsattr *attr)
{
	u64 supported, wanted = attr->included & DAFSD_FSATTR_QUOTA;

	if (!wanted && !(attr->included & DAFS_FSATTR_SUPPORTED_FSATTR))
		return;
	/* as quotactl(2): quotas cannot be switched off and on in the meantime */
	down_read(&sb->s_umount);
	supported = dafsd_quota_supported(sb);
	wanted &= supported;
	if (wanted)
		attr->valid |= wanted & dafsd_quota_read(sb, attr);
	up_read(&sb->s_umount);
	attr->supported_fsattr |= supported;
}
