// SPDX-License-Identifier: GPL-2.0
/*
 * ioctl(2): what DAFS can do with a file, and no system call asks for; see
 * include/uapi/linux/dafs.h.
 */
#include <linux/compat.h>
#include <linux/dafs.h>
#include <linux/filelock.h>
#include <linux/uaccess.h>
#include "vfs.h"

#define DAFS_IOC_LOCK_FLAGS \
	(DAFS_IOC_LOCK_WAIT | DAFS_IOC_LOCK_PERSIST | DAFS_IOC_LOCK_REPAIR | \
	 DAFS_IOC_LOCK_AUTORECOVER)

static_assert(sizeof(struct dafs_ioc_lock) == DAFS_IOC_LOCK_SIZE_VER0);

/**
 * dafs_ioc_get() - copy the argument of an ioctl, which begins with its size
 * @args: set
 * @known: bytes of @args
 * @least: bytes of its first version
 * @arg: the argument; what a later version has added must be zero
 *
 * Context: may sleep.
 * Return: 0; -EFAULT; -EINVAL if it is too short; -E2BIG if it has what this version does not know.
 */
int dafs_ioc_get(void *args, size_t known, u32 least, const void __user *arg)
{
	u32 size;

	if (get_user(size, (const u32 __user *)arg))
		return -EFAULT;
	if (size < least)
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	return copy_struct_from_user(args, known, arg, size);
}

/* What is undone is undone for all of the file. */
static int dafs_ioc_lock_check_undo(const struct dafs_ioc_lock *args)
{
	if (args->type != DAFS_IOC_LOCK_ABORT && !(args->flags & DAFS_IOC_LOCK_AUTORECOVER))
		return 0;
	return args->type == DAFS_IOC_LOCK_READ || args->start || args->length ? -EINVAL : 0;
}

static int dafs_ioc_lock_check(const struct file *file, const struct dafs_ioc_lock *args)
{
	if (args->flags & ~DAFS_IOC_LOCK_FLAGS || args->reserved || dafs_ioc_lock_check_undo(args))
		return -EINVAL;
	/* what is broken, or has been repaired, is so for those who write, too */
	if ((args->flags & (DAFS_IOC_LOCK_PERSIST | DAFS_IOC_LOCK_REPAIR)) &&
	    !(file->f_mode & FMODE_WRITE))
		return -EBADF;
	switch (args->type) {
	case DAFS_IOC_LOCK_READ:
		return file->f_mode & FMODE_READ ? 0 : -EBADF;
	case DAFS_IOC_LOCK_WRITE:
		return file->f_mode & FMODE_WRITE ? 0 : -EBADF;
	case DAFS_IOC_LOCK_UNLOCK:
	case DAFS_IOC_LOCK_ABORT:
		return args->flags ? -EINVAL : 0;
	default:
		return -EINVAL;
	}
}

static int dafs_ioc_lock_range(const struct dafs_ioc_lock *args, struct file_lock *fl)
{
	u64 last = args->length - 1;

	if (args->start > OFFSET_MAX)
		return -EOVERFLOW;
	fl->fl_start = args->start;
	fl->fl_end = OFFSET_MAX;
	if (!args->length)
		return 0;
	if (last > OFFSET_MAX - args->start)
		return -EOVERFLOW;
	fl->fl_end = args->start + last;
	return 0;
}

static void dafs_ioc_lock_init(struct file *file, const struct dafs_ioc_lock *args,
			       struct file_lock *fl)
{
	locks_init_lock(fl);
	fl->c.flc_owner = file;
	fl->c.flc_pid = current->tgid;
	fl->c.flc_file = file;
	fl->c.flc_flags = FL_POSIX | FL_OFDLCK;
	if (args->flags & DAFS_IOC_LOCK_WAIT)
		fl->c.flc_flags |= FL_SLEEP;
	fl->c.flc_type = F_UNLCK;
	if (args->type == DAFS_IOC_LOCK_READ)
		fl->c.flc_type = F_RDLCK;
	else if (args->type == DAFS_IOC_LOCK_WRITE)
		fl->c.flc_type = F_WRLCK;
}

static u32 dafs_ioc_lock_options(const struct dafs_ioc_lock *args)
{
	u32 options = 0;

	if (args->flags & DAFS_IOC_LOCK_PERSIST)
		options |= DAFS_LOCK_PERSIST;
	if (args->flags & DAFS_IOC_LOCK_AUTORECOVER)
		options |= DAFS_LOCK_AUTORECOVERY;
	if (args->flags & DAFS_IOC_LOCK_REPAIR)
		options |= DAFS_LOCK_REPAIR;
	return options;
}

static int dafs_ioc_lock(struct file *file, void __user *arg)
{
	struct dafs_ioc_lock args;
	struct file_lock fl;
	int err;

	err = dafs_ioc_get(&args, sizeof(args), DAFS_IOC_LOCK_SIZE_VER0, arg);
	if (!err)
		err = dafs_ioc_lock_check(file, &args);
	if (err)
		return err;
	if (args.type == DAFS_IOC_LOCK_ABORT)
		return dafs_file_abort(file);
	dafs_ioc_lock_init(file, &args, &fl);
	err = dafs_ioc_lock_range(&args, &fl);
	if (!err)
		err = dafs_file_lock_with(file, &fl, dafs_ioc_lock_options(&args));
	locks_release_private(&fl);
	return err;
}

/**
 * dafs_file_ioctl() - ioctl(2) on a regular file
 * @file: the file
 * @cmd: DAFS_IOC_*
 * @arg: a pointer
 *
 * Context: may sleep; a signal ends it where it waits for a lock.
 * Return: 0; -ENOTTY if @cmd is unknown; or another negative errno, see
 * include/uapi/linux/dafs.h.
 */
long dafs_file_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	switch (cmd) {
	case DAFS_IOC_LOCK:
		return dafs_ioc_lock(file, (void __user *)arg);
	case DAFS_IOC_OPEN_SHARE:
		return dafs_ioc_open_share(file, (void __user *)arg);
	default:
		return -ENOTTY;
	}
}
