/* SPDX-License-Identifier: GPL-2.0 */
/* What the suites of AUTORECOVERY locks have in common. */
#ifndef _DAFS_TEST_UNDO_H
#define _DAFS_TEST_UNDO_H

#include "holder.h"

#define UNDO		DAFS_LOCK_AUTORECOVERY
#define UNDO_OK(test, status) DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, status)

/* What persist_fixture() has put into the file, and what holder_write() puts at its begin */
#define UNDO_OLD	"0123456789abcdef0123456789abcdef"

/* What undo_change() makes of it */
#define UNDO_NEW	"01234567012345670123x"

void undo_expect(struct kunit *test, struct dafs_fixture *fix, const char *data, size_t len);
void undo_expect_old(struct kunit *test, struct dafs_fixture *fix);
void undo_expect_new(struct kunit *test, struct dafs_fixture *fix);
/* Changes the begin and the length of the file. */
void undo_change(struct kunit *test, struct holder *h);
/* The server, which knows that the client has locks to reclaim, ends and starts again. */
void undo_restart(struct kunit *test, struct holder *h);
/* The file of before-images of a slot, or any other one of the state directory */
struct file *undo_file(u32 slot, int flags);
struct file *undo_state_file(const char *name, int flags);
/* All writes to the files of the store fail, until that is repaired, or the test ends. */
void undo_break_store(struct kunit *test);
/* They wait until then. */
void undo_hold_store(struct kunit *test);
void undo_repair_store(struct kunit *test);

#endif /* _DAFS_TEST_UNDO_H */
