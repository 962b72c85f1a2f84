// SPDX-License-Identifier: GPL-2.0
/*
 * Leases of programs, fcntl(2) F_SETLEASE: as good as the delegation of the file.
 *
 * The kernel breaks a lease when a program of this machine opens the file.  For others the
 * delegation is recalled, which breaks it, too, and is not returned before the program has
 * released it or the kernel has taken it: see dafs_deleg_hand_over().  So a file that is not
 * delegated gets no lease.
 */
#include <linux/filelock.h>
#include "vfs.h"

static bool dafs_lease_is_covered(const struct dafs_inode *di, int type)
{
	return type == F_WRLCK ? dafs_inode_delegated_to_write(di) : dafs_inode_delegated(di);
}

/**
 * dafs_file_setlease() - set or remove a lease on a file
 * @file: the open file
 * @type: F_RDLCK, F_WRLCK or F_UNLCK
 * @lease: to be set; NULL afterwards if the file has it
 * @priv: what the kernel's leases need
 *
 * Not for file servers, which could not give back to their clients what this client has lost.
 *
 * Context: may sleep.
 * Return: 0; -EAGAIN if the file is not delegated so, or opened by others; -EINVAL; or another
 * errno.
 */
int dafs_file_setlease(struct file *file, int type, struct file_lease **lease, void **priv)
{
	struct inode *inode = file_inode(file);
	int err;

	if (type == F_UNLCK)
		return generic_setlease(file, type, lease, priv);
	if ((*lease)->c.flc_flags & (FL_DELEG | FL_LAYOUT))
		return -EINVAL;
	if (!dafs_lease_is_covered(DAFS_I(inode), type))
		return -EAGAIN;
	err = generic_setlease(file, type, lease, priv);
	/* pairs with break_lease() of a delegation that is on its way back */
	smp_mb();
	if (!err && !dafs_lease_is_covered(DAFS_I(inode), type))
		break_lease(inode, O_WRONLY | O_NONBLOCK);
	return err;
}
