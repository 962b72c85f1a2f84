/* SPDX-License-Identifier: GPL-2.0 */
/* Functions of the client that only the suites call, see stubs.c. */
#ifndef _DAFS_TEST_STUBS_H
#define _DAFS_TEST_STUBS_H

#include "../../proc/proc.h"

/* Is a procedure number assigned? (6.1.10) */
static inline bool dafs_proc_known(u32 proc)
{
	return strcmp(dafs_proc_name(proc), "unknown");
}

int dafs_null(struct dafs_client *clnt, const struct cred *cred);
int dafs_secinfo(struct dafs_client *clnt, const struct cred *cred, u32 *types,
		 unsigned int max);
int dafs_get_authtype(const struct dafs_buf *buf, const struct dafs_seq *seq, u32 i,
		      struct dafs_authtype *auth);
void dafs_requester_desire(struct dafs_requester *rq, u16 nreq);
int dafs_getattr_direct(struct dafs_client *clnt, const struct cred *cred,
			const struct dafs_fh *fh, u64 bitmap, struct dafs_fattr *attr,
			struct dafs_ids *ids);
int dafs_setattr_direct(struct dafs_client *clnt, const struct cred *cred,
			const struct dafs_fh *fh, const struct dafs_state_id *state_id,
			const struct dafs_fattr *attr, dafs_status_t *status);
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
