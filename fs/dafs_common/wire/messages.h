/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The filters of whole messages, one for each argument or result structure of
 * the draft, for the table in procs.c.  Each takes the structure of its
 * name in <linux/dafs/msg.h> and processes what follows the message header.
 */
#ifndef _DAFS_COMMON_MESSAGES_H
#define _DAFS_COMMON_MESSAGES_H

#include "cursor.h"

/**
 * struct dafs_body - what follows the header of a request or a response
 * @filter: NULL if nothing does
 * @wire: bytes of the fixed section (6.1.1.1)
 * @host: size of the host structure in bytes
 * @keep: bytes at its beginning that the caller sets before decoding
 */
struct dafs_body {
	dafs_filter filter;
	u16 wire;
	u16 host;
	u16 keep;
};

/**
 * struct dafs_proc - a procedure
 * @name: without the prefix DAFS_PROC_; NULL if the number is not assigned
 * @args: arguments
 * @res: results
 */
struct dafs_proc {
	const char *name;
	struct dafs_body args;
	struct dafs_body res;
};

/* procs.c */
const struct dafs_proc *dafs_find_proc(u32 proc);

/* session.c */
void dafs_x_client_auth_args(struct dafs_xdr *x, void *p);
void dafs_x_client_auth_res(struct dafs_xdr *x, void *p);
void dafs_x_client_connect_args(struct dafs_xdr *x, void *p);
void dafs_x_client_connect_res(struct dafs_xdr *x, void *p);
void dafs_x_client_connect_auth_args(struct dafs_xdr *x, void *p);
void dafs_x_client_connect_auth_res(struct dafs_xdr *x, void *p);
void dafs_x_connect_bind_args(struct dafs_xdr *x, void *p);
void dafs_x_connect_bind_res(struct dafs_xdr *x, void *p);
void dafs_x_register_cred_args(struct dafs_xdr *x, void *p);
void dafs_x_register_cred_res(struct dafs_xdr *x, void *p);
void dafs_x_release_cred_args(struct dafs_xdr *x, void *p);
void dafs_x_secinfo_res(struct dafs_xdr *x, void *p);
void dafs_x_server_auth_args(struct dafs_xdr *x, void *p);
void dafs_x_server_auth_res(struct dafs_xdr *x, void *p);
void dafs_x_check_response_args(struct dafs_xdr *x, void *p);
void dafs_x_discard_responses_args(struct dafs_xdr *x, void *p);
void dafs_x_get_fencing_list_args(struct dafs_xdr *x, void *p);
void dafs_x_get_fencing_list_res(struct dafs_xdr *x, void *p);
void dafs_x_set_fencing_list_args(struct dafs_xdr *x, void *p);
void dafs_x_bc_recall_args(struct dafs_xdr *x, void *p);

/* file.c */
void dafs_x_fh_args(struct dafs_xdr *x, void *p);
void dafs_x_fh_res(struct dafs_xdr *x, void *p);
void dafs_x_access_args(struct dafs_xdr *x, void *p);
void dafs_x_access_res(struct dafs_xdr *x, void *p);
void dafs_x_close_args(struct dafs_xdr *x, void *p);
void dafs_x_create_args(struct dafs_xdr *x, void *p);
void dafs_x_create_res(struct dafs_xdr *x, void *p);
void dafs_x_delegreturn_args(struct dafs_xdr *x, void *p);
void dafs_x_getattr_args(struct dafs_xdr *x, void *p);
void dafs_x_getattr_res(struct dafs_xdr *x, void *p);
void dafs_x_get_fsattr_res(struct dafs_xdr *x, void *p);
void dafs_x_getattr_direct_args(struct dafs_xdr *x, void *p);
void dafs_x_direct_res(struct dafs_xdr *x, void *p);
void dafs_x_link_args(struct dafs_xdr *x, void *p);
void dafs_x_change_res(struct dafs_xdr *x, void *p);
void dafs_x_lock_args(struct dafs_xdr *x, void *p);
void dafs_x_lock_res(struct dafs_xdr *x, void *p);
void dafs_x_lockt_args(struct dafs_xdr *x, void *p);
void dafs_x_locku_args(struct dafs_xdr *x, void *p);
void dafs_x_lookup_args(struct dafs_xdr *x, void *p);
void dafs_x_lookup_res(struct dafs_xdr *x, void *p);
void dafs_x_verify_args(struct dafs_xdr *x, void *p);
void dafs_x_open_args(struct dafs_xdr *x, void *p);
void dafs_x_open_res(struct dafs_xdr *x, void *p);
void dafs_x_open_downgrade_args(struct dafs_xdr *x, void *p);
void dafs_x_readdir_inline_args(struct dafs_xdr *x, void *p);
void dafs_x_readdir_direct_args(struct dafs_xdr *x, void *p);
void dafs_x_readdir_inline_res(struct dafs_xdr *x, void *p);
void dafs_x_readdir_direct_res(struct dafs_xdr *x, void *p);
void dafs_x_readlink_inline_res(struct dafs_xdr *x, void *p);
void dafs_x_readlink_direct_args(struct dafs_xdr *x, void *p);
void dafs_x_remove_args(struct dafs_xdr *x, void *p);
void dafs_x_rename_args(struct dafs_xdr *x, void *p);
void dafs_x_rename_res(struct dafs_xdr *x, void *p);
void dafs_x_setattr_inline_args(struct dafs_xdr *x, void *p);
void dafs_x_setattr_direct_args(struct dafs_xdr *x, void *p);
void dafs_x_setattr_res(struct dafs_xdr *x, void *p);

/* data.c */
void dafs_x_cache_hint_args(struct dafs_xdr *x, void *p);
void dafs_x_commit_args(struct dafs_xdr *x, void *p);
void dafs_x_commit_res(struct dafs_xdr *x, void *p);
void dafs_x_read_inline_args(struct dafs_xdr *x, void *p);
void dafs_x_read_inline_res(struct dafs_xdr *x, void *p);
void dafs_x_read_direct_args(struct dafs_xdr *x, void *p);
void dafs_x_read_direct_res(struct dafs_xdr *x, void *p);
void dafs_x_write_inline_args(struct dafs_xdr *x, void *p);
void dafs_x_write_direct_args(struct dafs_xdr *x, void *p);
void dafs_x_write_res(struct dafs_xdr *x, void *p);
void dafs_x_append_inline_args(struct dafs_xdr *x, void *p);
void dafs_x_append_direct_args(struct dafs_xdr *x, void *p);
void dafs_x_append_res(struct dafs_xdr *x, void *p);
void dafs_x_batch_submit_args(struct dafs_xdr *x, void *p);
void dafs_x_batch_completions(struct dafs_xdr *x, void *p);
void dafs_x_hurry_up_args(struct dafs_xdr *x, void *p);

#endif /* _DAFS_COMMON_MESSAGES_H */
