// SPDX-License-Identifier: GPL-2.0
/*
 * Two mounts of one export are one super block.
 *
 * So they have one cache, one set of local locks and one client.  They must be alike
 * in all that is a matter of the super block or the client: the server's address and
 * the client's, the path of the export, and every option; nosharecache keeps a mount
 * to itself.  What a remount changes counts as it is now.
 */
#include "vfs.h"

#define DAFS_SHARE_SB_FLAGS	(SB_RDONLY | SB_SYNCHRONOUS | SB_DIRSYNC | SB_LAZYTIME)

/**
 * dafs_share_test() - can a mount share a super block?
 * @sb: the super block, which may be new or about to go
 * @fc: the mount in the making, with s_fs_info
 *
 * Context: sb_lock held.
 * Return: true if so.
 */
int dafs_share_test(struct super_block *sb, struct fs_context *fc)
{
	const struct dafs_sb_info *new = fc->s_fs_info;
	const struct dafs_sb_info *old;

	if (new->opts.nosharecache || ((sb->s_flags ^ fc->sb_flags) & DAFS_SHARE_SB_FLAGS))
		return false;
	/* the super block of a mount that is going has none any more */
	guard(rcu)();
	old = READ_ONCE(sb->s_fs_info);
	return old && !old->submount && !test_bit(DAFS_SB_FORCED, &old->flags) &&
	       dafs_options_same(&old->opts, &new->opts) &&
	       dafs_params_same(&old->params, &new->params) && !strcmp(old->export, new->export);
}
