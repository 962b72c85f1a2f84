/* SPDX-License-Identifier: GPL-2.0 */
/* What the suites of PERSIST locks have in common. */
#ifndef _DAFS_TEST_HOLDER_H
#define _DAFS_TEST_HOLDER_H

#include "fixture.h"
#include "raw.h"

#define PERSIST		DAFS_LOCK_PERSIST
#define RECLAIM		DAFS_LOCK_RECLAIM
#define REPAIR		DAFS_LOCK_REPAIR
#define ALL		DAFS_LOCK_TO_EOF

#define FILE_BYTES	32
#define HOLDER_ID	"client that locks "	/* begins the id of each */

/**
 * struct holder - a client that has "file" open
 * @fix: what it is a client of
 * @id: its client-id-string
 * @owner: whom its open and its locks belong to
 * @login: its session
 * @conn: its connection
 * @handle: credential handle of root
 * @open: its open
 * @res: the conflict that LOCK or LOCKT has told of
 */
struct holder {
	struct dafs_fixture *fix;
	char id[32];
	char owner[16];
	struct raw_login login;
	struct raw_conn *conn;
	u8 handle[4];
	struct dafs_open_res open;
	struct dafs_lock_res res;
};

/* A server without PERSIST locks, and "file" of FILE_BYTES bytes; none are left by the test. */
struct dafs_fixture *persist_fixture(struct kunit *test);
/* All that is left of a server that restarts; no client has any lock. */
void persist_restart(struct kunit *test);

/* A new client */
struct holder *holder(struct kunit *test, struct dafs_fixture *fix);
/* @access: DAFS_OPEN_SHARE_ACCESS_* */
dafs_status_t holder_open_as(struct holder *h, u32 access);
/* For reading and writing */
dafs_status_t holder_open(struct holder *h);
dafs_status_t holder_close(struct holder *h);
dafs_status_t holder_lock(struct holder *h, u32 type, u32 options, u64 offset, u64 length);
dafs_status_t holder_test(struct holder *h, u32 type, u64 offset, u64 length);
dafs_status_t holder_unlock(struct holder *h, u64 offset, u64 length);
/* @open: by its open, or without one */
dafs_status_t holder_read(struct holder *h, bool open, u64 offset, u32 count);
dafs_status_t holder_write(struct holder *h, bool open, u64 offset, u32 count);
dafs_status_t holder_append(struct holder *h, bool open);
dafs_status_t holder_truncate(struct holder *h, bool open, u64 size);
/* Takes everything from the client, as when its lease runs out. */
void holder_expire(struct kunit *test, struct holder *h);
/* It is the same instance that comes back; or another one. */
void holder_return(struct kunit *test, struct holder *h);
void holder_reboot(struct kunit *test, struct holder *h);

#endif /* _DAFS_TEST_HOLDER_H */
