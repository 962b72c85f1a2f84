// SPDX-License-Identifier: GPL-2.0
/* The table of procedures (6.1.10). */
#include <linux/export.h>
#include "messages.h"

#define NONE				{}
#define BODY_OF(fn, type, size)		{ dafs_x_##fn, size, sizeof(struct dafs_##type), 0 }
#define BODY(type, size)		BODY_OF(type, type, size)
#define BODY_KEEP(type, size)		\
	{ dafs_x_##type, size, sizeof(struct dafs_##type), sizeof(u32) }
#define PROC(proc, in, out)		\
	[DAFS_PROC_##proc - DAFS_PROC_FIRST] = { .name = #proc, .args = in, .res = out }

static const struct dafs_proc dafs_procs[DAFS_PROC_LAST - DAFS_PROC_FIRST + 1] = {
	PROC(CLIENT_AUTH, BODY(client_auth_args, 16), BODY(client_auth_res, 20)),
	PROC(CLIENT_CONNECT, BODY(client_connect_args, 56), BODY(client_connect_res, 56)),
	PROC(CLIENT_CONNECT_AUTH, BODY(client_connect_auth_args, 72),
	     BODY(client_connect_auth_res, 72)),
	PROC(CONNECT_BIND, BODY(connect_bind_args, 40), BODY(connect_bind_res, 32)),
	PROC(DISCONNECT, NONE, NONE),
	PROC(REGISTER_CRED, BODY(register_cred_args, 16), BODY(register_cred_res, 4)),
	PROC(RELEASE_CRED, BODY(release_cred_args, 4), NONE),
	PROC(SECINFO, NONE, BODY(secinfo_res, 4)),
	PROC(SERVER_AUTH, BODY(server_auth_args, 4), BODY_KEEP(server_auth_res, 8)),
	PROC(CHECK_RESPONSE, BODY(check_response_args, 16), NONE),
	/* its results are those of the procedure whose response is fetched */
	PROC(FETCH_RESPONSE, BODY(check_response_args, 16), NONE),
	PROC(DISCARD_RESPONSES, BODY(discard_responses_args, 8), NONE),
	PROC(ACCESS, BODY(access_args, 72), BODY(access_res, 8)),
	PROC(CACHE_HINT, BODY(cache_hint_args, 88), NONE),
	PROC(CLOSE, BODY(close_args, 72), NONE),
	PROC(COMMIT, BODY(commit_args, 80), BODY(commit_res, 8)),
	PROC(CREATE, BODY(create_args, 96), BODY(create_res, 88)),
	PROC(DELEGPURGE, NONE, NONE),
	PROC(DELEGRETURN, BODY(delegreturn_args, 8), NONE),
	PROC(GET_FSATTR, BODY(getattr_args, 72), BODY(get_fsattr_res, 4)),
	PROC(GET_ROOT_HANDLE, NONE, BODY(fh_res, 64)),
	PROC(GETATTR_INLINE, BODY(getattr_args, 72), BODY(getattr_res, 4)),
	PROC(GETATTR_DIRECT, BODY(getattr_direct_args, 88), BODY(direct_res, 4)),
	PROC(LINK, BODY(link_args, 136), BODY(change_res, 24)),
	PROC(LOCK, BODY(lock_args, 96), BODY(lock_res, 40)),
	PROC(LOCKT, BODY(lockt_args, 88), BODY(lock_res, 40)),
	PROC(LOCKU, BODY(locku_args, 96), NONE),
	PROC(LOOKUP, BODY(lookup_args, 72), BODY(lookup_res, 72)),
	PROC(LOOKUPP, BODY(fh_args, 64), BODY(fh_res, 64)),
	PROC(NULL, NONE, NONE),
	PROC(NVERIFY, BODY(verify_args, 72), NONE),
	PROC(OPEN, BODY(open_args, 144), BODY(open_res, 152)),
	PROC(OPEN_DOWNGRADE, BODY(open_downgrade_args, 96), NONE),
	PROC(OPENATTR, BODY(fh_args, 64), BODY(fh_res, 64)),
	PROC(READ_INLINE, BODY(read_inline_args, 88), BODY(read_inline_res, 8)),
	PROC(READ_DIRECT, BODY(read_direct_args, 96), BODY(read_direct_res, 12)),
	PROC(READDIR_INLINE, BODY_OF(readdir_inline_args, readdir_args, 96),
	     BODY(readdir_inline_res, 16)),
	PROC(READDIR_DIRECT, BODY_OF(readdir_direct_args, readdir_args, 104),
	     BODY(readdir_direct_res, 16)),
	PROC(READLINK_INLINE, BODY(fh_args, 64), BODY(readlink_inline_res, 4)),
	PROC(READLINK_DIRECT, BODY(readlink_direct_args, 80), BODY(direct_res, 4)),
	PROC(REMOVE, BODY(remove_args, 72), BODY(change_res, 24)),
	PROC(RENAME, BODY(rename_args, 136), BODY(rename_res, 48)),
	PROC(SETATTR_INLINE, BODY(setattr_inline_args, 80), BODY(setattr_res, 8)),
	PROC(SETATTR_DIRECT, BODY(setattr_direct_args, 96), BODY(setattr_res, 8)),
	PROC(VERIFY, BODY(verify_args, 72), NONE),
	PROC(BATCH_SUBMIT, BODY(batch_submit_args, 16), BODY(batch_completions, 4)),
	PROC(WRITE_INLINE, BODY_KEEP(write_inline_args, 96), BODY(write_res, 16)),
	PROC(WRITE_DIRECT, BODY(write_direct_args, 104), BODY(write_res, 16)),
	PROC(BC_GETATTR, BODY(getattr_args, 72), BODY(getattr_res, 4)),
	PROC(BC_NULL, NONE, NONE),
	PROC(BC_RECALL, BODY(bc_recall_args, 80), NONE),
	PROC(BC_BATCH_COMPLETION, BODY(batch_completions, 4), NONE),
	PROC(APPEND_INLINE, BODY_KEEP(append_inline_args, 88), BODY(append_res, 24)),
	PROC(APPEND_DIRECT, BODY(append_direct_args, 104), BODY(append_res, 24)),
	PROC(GET_FENCING_LIST, BODY(get_fencing_list_args, 64), BODY(get_fencing_list_res, 4)),
	PROC(SET_FENCING_LIST, BODY(set_fencing_list_args, 80), NONE),
	PROC(HURRY_UP, BODY(hurry_up_args, 8), NONE),
};

/**
 * dafs_find_proc() - the row of a procedure in the table (6.1.10)
 * @proc: any number
 *
 * Return: the row, or NULL if the number is not assigned.
 */
const struct dafs_proc *dafs_find_proc(u32 proc)
{
	const struct dafs_proc *p;

	if (proc < DAFS_PROC_FIRST || proc > DAFS_PROC_LAST)
		return NULL;
	p = &dafs_procs[proc - DAFS_PROC_FIRST];
	return p->name ? p : NULL;
}

/**
 * dafs_proc_name() - name of a procedure, for log messages
 * @proc: any number
 *
 * Return: the draft's name without DAFS_PROC_, or "unknown".
 */
const char *dafs_proc_name(u32 proc)
{
	const struct dafs_proc *p = dafs_find_proc(proc);

	return p ? p->name : "unknown";
}
EXPORT_SYMBOL_GPL(dafs_proc_name);
