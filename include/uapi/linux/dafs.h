/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/* ioctl(2) on files of a DAFS mount. */
#ifndef _UAPI_LINUX_DAFS_H
#define _UAPI_LINUX_DAFS_H

#include <linux/const.h>
#include <linux/ioctl.h>
#include <linux/types.h>

/* dafs_ioc_lock.type */
#define DAFS_IOC_LOCK_READ	1
#define DAFS_IOC_LOCK_WRITE	2
#define DAFS_IOC_LOCK_UNLOCK	3
#define DAFS_IOC_LOCK_ABORT	4	/* undo what was written under the lock, and keep it */

/* dafs_ioc_lock.flags */
#define DAFS_IOC_LOCK_WAIT	_BITUL(0)	/* until the lock is free, or a signal comes */
#define DAFS_IOC_LOCK_PERSIST	_BITUL(1)	/* if this machine is lost, the lock is broken */
#define DAFS_IOC_LOCK_REPAIR	_BITUL(2)	/* take over what is broken */
#define DAFS_IOC_LOCK_AUTORECOVER _BITUL(3)	/* if this machine is lost, changes are undone */

/**
 * struct dafs_ioc_lock - lock or unlock bytes of a file
 * @size: sizeof(struct dafs_ioc_lock)
 * @type: DAFS_IOC_LOCK_READ, DAFS_IOC_LOCK_WRITE, DAFS_IOC_LOCK_UNLOCK or DAFS_IOC_LOCK_ABORT
 * @flags: DAFS_IOC_LOCK_*; 0 to unlock, and to abort
 * @reserved: 0
 * @start: first byte
 * @length: bytes; 0 for all up to the end of the file, wherever that is
 */
struct dafs_ioc_lock {
	__u32 size;
	__u32 type;
	__u32 flags;
	__u32 reserved;
	__aligned_u64 start;
	__aligned_u64 length;
};

#define DAFS_IOC_LOCK_SIZE_VER0	32

/*
 * The argument is a pointer to a struct dafs_ioc_lock.  The lock is one of the open file
 * description, as by fcntl(2) with F_OFD_SETLK: it conflicts with the locks of fcntl(2), and
 * F_OFD_SETLK may unlock it.
 *
 * DAFS_IOC_LOCK_PERSIST and DAFS_IOC_LOCK_REPAIR need a file that is open for writing, also with
 * DAFS_IOC_LOCK_READ; without, the error is EBADF.
 *
 * DAFS_IOC_LOCK_PERSIST stays in force for a byte until no program of this machine has locked it.
 * While the lock is broken, read(2), write(2) and truncation of these bytes fail with EOWNERDEAD,
 * too.  DAFS_IOC_LOCK_REPAIR does not tell whether anything was broken; without
 * DAFS_IOC_LOCK_PERSIST nothing tells others if the one who repairs is lost, too.
 *
 * DAFS_IOC_LOCK_AUTORECOVER needs a lock for writing of the whole file: start and length are 0, as
 * for DAFS_IOC_LOCK_ABORT.  While it is held the server can undo all that is written to the file or
 * cut off, and other clients cannot write to it.  The server undoes
 *
 * - for DAFS_IOC_LOCK_ABORT;
 * - when this machine is lost: at the end of its lease, or when it has started anew; with
 *   DAFS_IOC_LOCK_PERSIST, when that would break the lock.
 *
 * Unlocking any byte, the last close(2) of the open file description, and the end of the program,
 * also if it is killed, make all changes permanent.  write(2), ftruncate(2) and fsync(2) may fail
 * with ENOSPC because there is no room for what may have to be undone.  That the lock had been
 * lost is told by DAFS_IOC_LOCK_UNLOCK, fsync(2) and close(2), not by fcntl(2).
 *
 * Errors are those of fcntl(2), and:
 *
 * EOWNERDEAD	a lock in the way is broken
 * EIO		this machine has lost a lock of these bytes, which must be unlocked first; or the
 *		server cannot record the lock; or what was unlocked had been lost, so that it is
 *		not known what was undone
 * EINVAL	the structure is not understood; or with DAFS_IOC_LOCK_REPAIR, a lock that is
 *		broken reaches beyond these bytes; or there is nothing to abort
 * E2BIG	the structure is of a later version, and uses what this kernel does not know
 * EOPNOTSUPP	the server has no such locks for this file; or with the mount options
 *		local_lock=posix and local_lock=all, for any lock
 */
#define DAFS_IOC_LOCK		_IO(0xDA, 0)

/* dafs_ioc_open_share.access and dafs_ioc_open_share.deny */
#define DAFS_IOC_SHARE_READ	_BITUL(0)
#define DAFS_IOC_SHARE_WRITE	_BITUL(1)

/* dafs_ioc_open_share.flags */
#define DAFS_IOC_SHARE_KEY	_BITUL(0)	/* there is a share_key */

/**
 * struct dafs_ioc_open_share - deny access to a file to others
 * @size: sizeof(struct dafs_ioc_open_share)
 * @flags: DAFS_IOC_SHARE_KEY or 0
 * @access: DAFS_IOC_SHARE_READ, DAFS_IOC_SHARE_WRITE or both; not more than the file was opened
 *	for.  It has no other effect: to others, the access is all that the file was opened for.
 * @deny: DAFS_IOC_SHARE_* that nobody else may do, whatever the file was opened for; or 0
 * @share_key: with DAFS_IOC_SHARE_KEY, the key that others must have who have one; otherwise 0
 */
struct dafs_ioc_open_share {
	__u32 size;
	__u32 flags;
	__u32 access;
	__u32 deny;
	__aligned_u64 share_key;
};

#define DAFS_IOC_OPEN_SHARE_SIZE_VER0	24

/*
 * The argument is a pointer to a struct dafs_ioc_open_share.  The reservation belongs to the open
 * file description, which may be inherited and duplicated, and lasts until its last close(2).  As
 * long as it is there, an open(2) of the file for what it denies fails with EACCES, by whatever
 * client, and by other programs of this machine as well; one by a client with another key fails
 * with EKEYREJECTED.  It fails itself if the file is open already for what it denies, and takes
 * nothing from those who have it open.
 *
 * If the server has given the file to others meanwhile, because this machine was cut off from it,
 * reading, writing, fsync(2) and close(2) fail with EIO until the file is opened anew.
 *
 * Errors:
 *
 * EBUSY	the file is open for what is to be denied
 * EKEYREJECTED	the file is open with another key; that of the mount option share_key= counts, too
 * EALREADY	this open file description has a reservation
 * EBADF	the file is not open for @access
 * EINVAL	the structure is not understood
 * E2BIG	the structure is of a later version, and uses what this kernel does not know
 * EACCES	the user may not open the file any more
 * EIO		the server does not give back the open file
 * ETIMEDOUT	the server is not reachable, on a soft mount
 * EOPNOTSUPP	the server has no share keys
 */
#define DAFS_IOC_OPEN_SHARE	_IO(0xDA, 1)

#endif /* _UAPI_LINUX_DAFS_H */
