// SPDX-License-Identifier: GPL-2.0
/*
 * DAFS_IOC_OPEN_SHARE: share reservations for programs; see include/uapi/linux/dafs.h.
 */
#include <linux/dafs.h>
#include <linux/fs.h>
#include "../state/lock.h"
#include "../state/reserve.h"
#include "vfs.h"

#define DAFS_IOC_SHARE_BOTH	(DAFS_IOC_SHARE_READ | DAFS_IOC_SHARE_WRITE)

static_assert(sizeof(struct dafs_ioc_open_share) == DAFS_IOC_OPEN_SHARE_SIZE_VER0);

/* so that it can be passed on as it is */
static_assert(!((DAFS_IOC_SHARE_READ ^ DAFS_OPEN_SHARE_DENY_READ) |
		(DAFS_IOC_SHARE_WRITE ^ DAFS_OPEN_SHARE_DENY_WRITE)));

static int dafs_ioc_open_share_check(const struct file *file,
				     const struct dafs_ioc_open_share *args)
{
	if ((args->flags & ~DAFS_IOC_SHARE_KEY) || (args->access & ~DAFS_IOC_SHARE_BOTH) ||
	    (args->deny & ~DAFS_IOC_SHARE_BOTH) || !args->access)
		return -EINVAL;
	if (!(args->flags & DAFS_IOC_SHARE_KEY) && args->share_key)
		return -EINVAL;
	if ((args->access & DAFS_IOC_SHARE_READ) && !(file->f_mode & FMODE_READ))
		return -EBADF;
	if ((args->access & DAFS_IOC_SHARE_WRITE) && !(file->f_mode & FMODE_WRITE))
		return -EBADF;
	return 0;
}

/**
 * dafs_ioc_open_share() - DAFS_IOC_OPEN_SHARE
 * @file: a regular file
 * @arg: a struct dafs_ioc_open_share
 *
 * Context: may sleep; a fatal signal ends it.
 * Return: 0 or a negative errno, see include/uapi/linux/dafs.h.
 */
int dafs_ioc_open_share(struct file *file, const void __user *arg)
{
	struct dafs_ioc_open_share args;
	struct dafs_reserved what;
	int err;

	err = dafs_ioc_get(&args, sizeof(args), DAFS_IOC_OPEN_SHARE_SIZE_VER0, arg);
	if (!err)
		err = dafs_ioc_open_share_check(file, &args);
	if (err)
		return err;
	what = (struct dafs_reserved) {
		.deny = args.deny,
		.keyed = args.flags & DAFS_IOC_SHARE_KEY,
		.share_key = args.share_key,
	};
	return dafs_reserve(file->private_data, file, dafs_file_access(file), &what);
}

/**
 * dafs_file_lost() - has a program lost what it relies on for its I/O?
 * @file: a regular file
 *
 * Context: any but interrupt.
 * Return: true if so: the I/O must fail.
 */
bool dafs_file_lost(const struct file *file)
{
	return dafs_locks_lost(file_inode(file)) || dafs_reserve_lost(file->private_data, file);
}
