/* SPDX-License-Identifier: GPL-2.0 */
/* A file system with locks, or leases, of its own. */
#ifndef _DAFS_TEST_LOCK_FS_H
#define _DAFS_TEST_LOCK_FS_H

#include "fixture.h"

/*
 * The file system of a file calls @before before it sets or releases a lock; by those who open the
 * file from now on, until the test ends.  They must have closed it by then.
 */
void lock_fs_hook(struct kunit *test, struct dafs_fixture *fix, const char *name,
		  void (*before)(void));

/* Likewise, with leases of its own. */
void lock_fs_hook_leases(struct kunit *test, struct dafs_fixture *fix, const char *name);

#endif /* _DAFS_TEST_LOCK_FS_H */
