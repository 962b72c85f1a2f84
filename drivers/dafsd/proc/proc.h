/* SPDX-License-Identifier: GPL-2.0 */
/* The procedure table, and the handlers in it, named after their procedures. */
#ifndef _DAFSD_PROC_PROC_H
#define _DAFSD_PROC_PROC_H

#include <linux/dafs/msg.h>
#include "../request/procedure.h"

struct dafsd_fattr_names;
struct dafsd_fh;
struct dafsd_rqst;

extern const struct dafsd_proc dafsd_procs[DAFS_PROC_LAST + 1];

/* session.c */
dafs_status_t dafsd_proc_client_connect(struct dafsd_rqst *rq);
dafs_status_t dafsd_proc_client_connect_auth(struct dafsd_rqst *rq);
dafs_status_t dafsd_proc_client_auth(struct dafsd_rqst *rq);
dafs_status_t dafsd_proc_connect_bind(struct dafsd_rqst *rq);
dafs_status_t dafsd_prepare_disconnect(struct dafsd_rqst *rq);
dafs_status_t dafsd_proc_disconnect(struct dafsd_rqst *rq);
dafs_status_t dafsd_proc_server_auth(struct dafsd_rqst *rq);
dafs_status_t dafsd_proc_secinfo(struct dafsd_rqst *rq);
dafs_status_t dafsd_proc_null(struct dafsd_rqst *rq);
dafs_status_t dafsd_proc_register_cred(struct dafsd_rqst *rq);
dafs_status_t dafsd_proc_release_cred(struct dafsd_rqst *rq);

/* respcache.c */
dafs_status_t dafsd_proc_check_response(struct dafsd_rqst *rq);
dafs_status_t dafsd_proc_fetch_response(struct dafsd_rqst *rq);
dafs_status_t dafsd_proc_discard_responses(struct dafsd_rqst *rq);

/* name.c */
dafs_status_t dafsd_proc_get_root_handle(struct dafsd_rqst *rq);
dafs_status_t dafsd_proc_lookup(struct dafsd_rqst *rq);
dafs_status_t dafsd_proc_lookupp(struct dafsd_rqst *rq);
dafs_status_t dafsd_proc_create(struct dafsd_rqst *rq);
dafs_status_t dafsd_proc_remove(struct dafsd_rqst *rq);
dafs_status_t dafsd_proc_rename(struct dafsd_rqst *rq);

/* link.c */
dafs_status_t dafsd_proc_link(struct dafsd_rqst *rq);

/* readdir.c */
dafs_status_t dafsd_proc_readdir_inline(struct dafsd_rqst *rq);
dafs_status_t dafsd_proc_readdir_direct(struct dafsd_rqst *rq);

/* direct.c */
dafs_status_t dafsd_proc_getattr_direct(struct dafsd_rqst *rq);
dafs_status_t dafsd_prepare_setattr_direct(struct dafsd_rqst *rq);
dafs_status_t dafsd_proc_setattr_direct(struct dafsd_rqst *rq);
dafs_status_t dafsd_proc_readlink_direct(struct dafsd_rqst *rq);

/* attr.c */
dafs_status_t dafsd_proc_access(struct dafsd_rqst *rq);
dafs_status_t dafsd_proc_getattr_inline(struct dafsd_rqst *rq);
dafs_status_t dafsd_proc_setattr_inline(struct dafsd_rqst *rq);
dafs_status_t dafsd_proc_get_fsattr(struct dafsd_rqst *rq);
dafs_status_t dafsd_proc_readlink_inline(struct dafsd_rqst *rq);

/* verify.c */
dafs_status_t dafsd_proc_nverify(struct dafsd_rqst *rq);
dafs_status_t dafsd_proc_verify(struct dafsd_rqst *rq);

/* lock.c */
dafs_status_t dafsd_proc_lock(struct dafsd_rqst *rq);
dafs_status_t dafsd_proc_lockt(struct dafsd_rqst *rq);
dafs_status_t dafsd_proc_locku(struct dafsd_rqst *rq);

/* open.c */
dafs_status_t dafsd_open_check_owner(const struct dafs_str *owner);
dafs_status_t dafsd_proc_open(struct dafsd_rqst *rq);
dafs_status_t dafsd_proc_close(struct dafsd_rqst *rq);
dafs_status_t dafsd_proc_open_downgrade(struct dafsd_rqst *rq);
dafs_status_t dafsd_proc_delegpurge(struct dafsd_rqst *rq);
dafs_status_t dafsd_proc_delegreturn(struct dafsd_rqst *rq);

/* append.c */
dafs_status_t dafsd_proc_append_inline(struct dafsd_rqst *rq);
dafs_status_t dafsd_prepare_append_direct(struct dafsd_rqst *rq);
dafs_status_t dafsd_proc_append_direct(struct dafsd_rqst *rq);

/* rw.c */
dafs_status_t dafsd_proc_cache_hint(struct dafsd_rqst *rq);
dafs_status_t dafsd_proc_read_inline(struct dafsd_rqst *rq);
dafs_status_t dafsd_proc_read_direct(struct dafsd_rqst *rq);
dafs_status_t dafsd_proc_write_inline(struct dafsd_rqst *rq);
dafs_status_t dafsd_prepare_write_direct(struct dafsd_rqst *rq);
dafs_status_t dafsd_proc_write_direct(struct dafsd_rqst *rq);
dafs_status_t dafsd_proc_commit(struct dafsd_rqst *rq);

/* attr.c: for the variants by RDMA */
dafs_status_t dafsd_getattr_latest(struct dafsd_rqst *rq, struct dafsd_fh *fh, u64 wanted,
				   struct dafs_fattr *attr, struct dafsd_fattr_names *names);
dafs_status_t dafsd_setattr(struct dafsd_rqst *rq, struct dafsd_fh *fh,
			    const struct dafs_state_id *state_id, const struct dafs_fattr *attr);
dafs_status_t dafsd_readlink(struct dafsd_rqst *rq, const struct dafsd_fh *fh,
			     struct dafs_str *link);

#endif /* _DAFSD_PROC_PROC_H */
