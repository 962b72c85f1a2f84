/* SPDX-License-Identifier: GPL-2.0 */
/* What the suites of OPEN and CLOSE have in common. */
#ifndef _DAFS_TEST_OPEN_TEST_H
#define _DAFS_TEST_OPEN_TEST_H

#include "fixture.h"

#define DAFS_RD	DAFS_OPEN_SHARE_ACCESS_READ
#define DAFS_WR	DAFS_OPEN_SHARE_ACCESS_WRITE
#define DAFS_RW	DAFS_OPEN_SHARE_ACCESS_BOTH

/**
 * struct dafs_opener - how "file" is opened; the other arguments of OPEN have
 * their defaults
 * @owner: owner string
 * @share_access: DAFS_OPEN_SHARE_ACCESS_*
 * @share_deny: DAFS_OPEN_SHARE_DENY_*
 * @share_key_type: DAFS_OPEN_SHARE_KEY_*
 * @share_key: the key
 */
struct dafs_opener {
	const char *owner;
	u32 share_access;
	u32 share_deny;
	u32 share_key_type;
	u64 share_key;
};

/*
 * OPEN of a path from the test's directory; the first form returns the status,
 * the second ends the test unless it succeeds.
 */
dafs_status_t dafs_try_open(struct kunit *test, struct dafs_fixture *fix, const char *path,
			    const struct dafs_open_args *args, struct dafs_open_res *res);
struct dafs_open_res dafs_must_open(struct kunit *test, struct dafs_fixture *fix,
				    const char *path, const struct dafs_open_args *args);
struct dafs_open_args dafs_create_open_args(u32 mode);

/* Creates a file and opens it for reading and writing. */
struct dafs_open_res dafs_new_file(struct kunit *test, struct dafs_fixture *fix,
				   const char *name);

/* OPEN of "file", on a session or on the test's own. */
dafs_status_t dafs_share_on(struct kunit *test, struct dafs_fixture *fix, struct dafs_client *clnt,
			    const struct dafs_opener *who, struct dafs_open_res *res);
dafs_status_t dafs_share(struct kunit *test, struct dafs_fixture *fix,
			 const struct dafs_opener *who, struct dafs_open_res *res);
struct dafs_open_res dafs_must_share(struct kunit *test, struct dafs_fixture *fix,
				     const struct dafs_opener *who);

/* Another client, by its client-id string, on a session of its own. */
struct dafs_client *dafs_other_client(struct kunit *test, struct dafs_fixture *fix);

bool dafs_same_state(const struct dafs_open_res *a, const struct dafs_open_res *b);

/* The state-id of @open with bit @bit inverted. */
struct dafs_open_res dafs_forge_state(const struct dafs_open_res *open, int bit);

/* Status of a READ or WRITE of one byte with a state-id. */
dafs_status_t dafs_try_read(struct kunit *test, struct dafs_client *clnt, const struct dafs_fh *fh,
			    const struct dafs_state_id *state_id);
dafs_status_t dafs_try_write(struct kunit *test, struct dafs_client *clnt, const struct dafs_fh *fh,
			     const struct dafs_state_id *state_id);

void dafs_expect_content(struct kunit *test, struct dafs_fixture *fix, const char *name,
			 const char *content);

#endif /* _DAFS_TEST_OPEN_TEST_H */
