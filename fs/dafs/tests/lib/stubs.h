/* SPDX-License-Identifier: GPL-2.0 */
/* Procedures that only the suites call, see stubs.c. */
#ifndef _DAFS_TEST_STUBS_H
#define _DAFS_TEST_STUBS_H

#include "../../proc/proc.h"

int dafs_null(struct dafs_client *clnt, const struct cred *cred);
int dafs_secinfo(struct dafs_client *clnt, const struct cred *cred, u32 *types,
		 unsigned int max);
int dafs_getattr_direct(struct dafs_client *clnt, const struct cred *cred,
			const struct dafs_fh *fh, u64 bitmap, struct dafs_fattr *attr,
			struct dafs_ids *ids);
int dafs_setattr_direct(struct dafs_client *clnt, const struct cred *cred,
			const struct dafs_fh *fh, const struct dafs_state_id *state_id,
			const struct dafs_fattr *attr, u32 *status);
int dafs_verify(struct dafs_client *clnt, const struct cred *cred,
		const struct dafs_fh *fh, const struct dafs_fattr *attr, bool *same);
int dafs_nverify(struct dafs_client *clnt, const struct cred *cred,
		 const struct dafs_fh *fh, const struct dafs_fattr *attr, bool *same);
int dafs_create(struct dafs_client *clnt, const struct cred *cred,
		const struct dafs_fh *dir, const struct qstr *name,
		const struct dafs_node *node, struct dafs_fh *fh,
		struct dafs_change_info *change);
int dafs_read_inline(struct dafs_client *clnt, const struct cred *cred,
		     const struct dafs_read_inline_args *args,
		     struct iov_iter *to, bool *eof);
int dafs_write_inline(struct dafs_client *clnt, const struct cred *cred,
		      const struct dafs_write_inline_args *args,
		      struct iov_iter *from, struct dafs_write_res *res);

#endif /* _DAFS_TEST_STUBS_H */
