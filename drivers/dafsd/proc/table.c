// SPDX-License-Identifier: GPL-2.0
/*
 * The procedure table: all that is the same for every request of a procedure but its
 * encoding, which client and server share (dafs_common, wire/procs.c).
 */
#include "../request/procedure.h"
#include "proc.h"

/* Where a member of the arguments or results is, see struct dafsd_proc */
#define ARG(member)	(1 + offsetof(union dafs_args, member))
#define RES(member)	(1 + offsetof(union dafs_res, member))

/* Chapter 6, indexed by procedure number; a procedure without a row answers NOTSUPP. */
const struct dafsd_proc dafsd_procs[DAFS_PROC_LAST + 1] = {
	[DAFS_PROC_CLIENT_AUTH] = {
		.class = DAFSD_SPECIAL,
		.flags = DAFSD_P_UNAUTH | DAFSD_P_SETUP | DAFSD_P_STORE,
		.run = dafsd_proc_client_auth,
	},
	[DAFS_PROC_CLIENT_CONNECT] = {
		.class = DAFSD_SPECIAL,
		.flags = DAFSD_P_FIRST | DAFSD_P_SETUP | DAFSD_P_STORE,
		.run = dafsd_proc_client_connect,
	},
	[DAFS_PROC_CLIENT_CONNECT_AUTH] = {
		.class = DAFSD_SPECIAL,
		.flags = DAFSD_P_FIRST | DAFSD_P_SETUP | DAFSD_P_STORE,
		.run = dafsd_proc_client_connect_auth,
	},
	[DAFS_PROC_CONNECT_BIND] = {
		.class = DAFSD_SPECIAL,
		.flags = DAFSD_P_FIRST | DAFSD_P_SETUP,
		.run = dafsd_proc_connect_bind,
	},
	[DAFS_PROC_DISCONNECT] = {
		.class = DAFSD_SPECIAL,
		.flags = DAFSD_P_UNAUTH | DAFSD_P_DISCARDED | DAFSD_P_ALONE,
		.run = dafsd_proc_disconnect,
		.prepare = dafsd_prepare_disconnect,
	},
	[DAFS_PROC_REGISTER_CRED] = {
		.class = DAFSD_SPECIAL,
		.flags = DAFSD_P_STORE,
		.run = dafsd_proc_register_cred,
	},
	[DAFS_PROC_RELEASE_CRED] = {
		.class = DAFSD_SPECIAL,
		.run = dafsd_proc_release_cred,
	},
	[DAFS_PROC_SECINFO] = {
		.class = DAFSD_SPECIAL,
		.flags = DAFSD_P_UNAUTH,
		.run = dafsd_proc_secinfo,
	},
	[DAFS_PROC_SERVER_AUTH] = {
		.class = DAFSD_SPECIAL,
		.run = dafsd_proc_server_auth,
	},
	[DAFS_PROC_CHECK_RESPONSE] = {
		.class = DAFSD_SIMPLE,
		.run = dafsd_proc_check_response,
	},
	[DAFS_PROC_FETCH_RESPONSE] = {
		.class = DAFSD_SIMPLE,
		.run = dafsd_proc_fetch_response,
	},
	[DAFS_PROC_DISCARD_RESPONSES] = {
		.class = DAFSD_SPECIAL,
		.run = dafsd_proc_discard_responses,
	},
	[DAFS_PROC_ACCESS] = {
		.class = DAFSD_SIMPLE,
		.flags = DAFSD_P_CRED,
		.run = dafsd_proc_access,
		.fh = ARG(access.filehandle),
	},
	[DAFS_PROC_APPEND_INLINE] = {
		.class = DAFSD_FS_MODIFY,
		.flags = DAFSD_P_CRED | DAFSD_P_INLINE,
		.run = dafsd_proc_append_inline,
		.fh = ARG(append_inline.filehandle),
		.state_id = ARG(append_inline.state_id),
		.appended = ARG(append_inline.byte_count),
	},
	[DAFS_PROC_APPEND_DIRECT] = {
		.class = DAFSD_FS_MODIFY,
		.flags = DAFSD_P_CRED,
		.run = dafsd_proc_append_direct,
		.prepare = dafsd_prepare_append_direct,
		.fh = ARG(append_direct.filehandle),
		.state_id = ARG(append_direct.state_id),
		.appended = ARG(append_direct.byte_count),
	},
	[DAFS_PROC_CACHE_HINT] = {
		.class = DAFSD_SIMPLE,
		.flags = DAFSD_P_CRED,
		.run = dafsd_proc_cache_hint,
		.fh = ARG(cache_hint.filehandle),
	},
	[DAFS_PROC_CLOSE] = {
		.class = DAFSD_FS_MODIFY,
		.flags = DAFSD_P_CRED | DAFSD_P_REPEATABLE,
		.run = dafsd_proc_close,
		.fh = ARG(close.filehandle),
		.state_id = ARG(close.state_id),
	},
	[DAFS_PROC_COMMIT] = {
		.class = DAFSD_FS_MODIFY,
		.flags = DAFSD_P_CRED | DAFSD_P_REPEATABLE,
		.run = dafsd_proc_commit,
		.fh = ARG(commit.filehandle),
	},
	[DAFS_PROC_CREATE] = {
		.class = DAFSD_FS_MODIFY,
		.flags = DAFSD_P_CRED,
		.run = dafsd_proc_create,
		.fh = ARG(create.filehandle),
		.new_fh = RES(create.filehandle),
	},
	[DAFS_PROC_DELEGPURGE] = {
		.class = DAFSD_FS_MODIFY,
		.flags = DAFSD_P_REPEATABLE,
		.run = dafsd_proc_delegpurge,
	},
	[DAFS_PROC_DELEGRETURN] = {
		.class = DAFSD_FS_MODIFY,
		.flags = DAFSD_P_REPEATABLE,
		.run = dafsd_proc_delegreturn,
	},
	[DAFS_PROC_GET_FSATTR] = {
		.class = DAFSD_BULK_FETCH,
		.flags = DAFSD_P_CRED,
		.run = dafsd_proc_get_fsattr,
		.fh = ARG(getattr.filehandle),
	},
	[DAFS_PROC_GET_ROOT_HANDLE] = {
		.class = DAFSD_SIMPLE,
		.flags = DAFSD_P_CRED,
		.run = dafsd_proc_get_root_handle,
		.new_fh = RES(fh.filehandle),
	},
	[DAFS_PROC_GETATTR_INLINE] = {
		.class = DAFSD_BULK_FETCH,
		.flags = DAFSD_P_CRED,
		.run = dafsd_proc_getattr_inline,
		.fh = ARG(getattr.filehandle),
	},
	[DAFS_PROC_GETATTR_DIRECT] = {
		.class = DAFSD_BULK_FETCH,
		.flags = DAFSD_P_CRED,
		.run = dafsd_proc_getattr_direct,
		.fh = ARG(getattr_direct.filehandle),
	},
	[DAFS_PROC_LINK] = {
		.class = DAFSD_FS_MODIFY,
		.flags = DAFSD_P_CRED,
		.run = dafsd_proc_link,
		.fh = ARG(link.destination_object),
	},
	[DAFS_PROC_LOCK] = {
		.class = DAFSD_LOCK_MODIFY,
		.flags = DAFSD_P_CRED,
		.run = dafsd_proc_lock,
		.fh = ARG(lock.filehandle),
		.state_id = ARG(lock.state_id),
	},
	[DAFS_PROC_LOCKT] = {
		.class = DAFSD_LOCK_MODIFY,
		.flags = DAFSD_P_CRED | DAFSD_P_REPEATABLE,
		.run = dafsd_proc_lockt,
		.fh = ARG(lockt.filehandle),
	},
	[DAFS_PROC_LOCKU] = {
		.class = DAFSD_LOCK_MODIFY,
		.flags = DAFSD_P_CRED,
		.run = dafsd_proc_locku,
		.fh = ARG(locku.filehandle),
		.state_id = ARG(locku.state_id),
	},
	[DAFS_PROC_LOOKUP] = {
		.class = DAFSD_SIMPLE,
		.flags = DAFSD_P_CRED,
		.run = dafsd_proc_lookup,
		.fh = ARG(lookup.directory),
		.new_fh = RES(lookup.filehandle),
	},
	[DAFS_PROC_LOOKUPP] = {
		.class = DAFSD_SIMPLE,
		.flags = DAFSD_P_CRED,
		.run = dafsd_proc_lookupp,
		.fh = ARG(fh.filehandle),
		.new_fh = RES(fh.filehandle),
	},
	[DAFS_PROC_NULL] = {
		.class = DAFSD_SIMPLE,
		.run = dafsd_proc_null,
	},
	[DAFS_PROC_NVERIFY] = {
		.class = DAFSD_SIMPLE,
		.flags = DAFSD_P_CRED,
		.run = dafsd_proc_nverify,
		.fh = ARG(verify.filehandle),
	},
	[DAFS_PROC_OPEN] = {
		.class = DAFSD_FS_MODIFY,
		.flags = DAFSD_P_CRED,
		.run = dafsd_proc_open,
		.fh = ARG(open.dir_handle),
		.new_fh = RES(open.filehandle),
		.new_state_id = RES(open.state_id),
	},
	[DAFS_PROC_OPEN_DOWNGRADE] = {
		.class = DAFSD_LOCK_MODIFY,
		.flags = DAFSD_P_CRED,
		.run = dafsd_proc_open_downgrade,
		.fh = ARG(open_downgrade.filehandle),
		.state_id = ARG(open_downgrade.state_id),
	},
	[DAFS_PROC_READ_INLINE] = {
		.class = DAFSD_BULK_FETCH,
		.flags = DAFSD_P_CRED,
		.run = dafsd_proc_read_inline,
		.fh = ARG(read_inline.filehandle),
		.state_id = ARG(read_inline.state_id),
		.read = RES(read_inline.bytes_read),
	},
	[DAFS_PROC_READ_DIRECT] = {
		.class = DAFSD_BULK_FETCH,
		.flags = DAFSD_P_CRED,
		.run = dafsd_proc_read_direct,
		.fh = ARG(read_direct.filehandle),
		.state_id = ARG(read_direct.state_id),
		.read = RES(read_direct.bytes_read),
	},
	[DAFS_PROC_READDIR_INLINE] = {
		.class = DAFSD_BULK_FETCH,
		.flags = DAFSD_P_CRED,
		.run = dafsd_proc_readdir_inline,
		.fh = ARG(readdir.filehandle),
	},
	[DAFS_PROC_READDIR_DIRECT] = {
		.class = DAFSD_BULK_FETCH,
		.flags = DAFSD_P_CRED,
		.run = dafsd_proc_readdir_direct,
		.fh = ARG(readdir.filehandle),
	},
	[DAFS_PROC_READLINK_INLINE] = {
		.class = DAFSD_BULK_FETCH,
		.flags = DAFSD_P_CRED,
		.run = dafsd_proc_readlink_inline,
		.fh = ARG(fh.filehandle),
	},
	[DAFS_PROC_READLINK_DIRECT] = {
		.class = DAFSD_BULK_FETCH,
		.flags = DAFSD_P_CRED,
		.run = dafsd_proc_readlink_direct,
		.fh = ARG(readlink_direct.filehandle),
	},
	[DAFS_PROC_REMOVE] = {
		.class = DAFSD_FS_MODIFY,
		.flags = DAFSD_P_CRED,
		.run = dafsd_proc_remove,
		.fh = ARG(remove.filehandle),
	},
	[DAFS_PROC_RENAME] = {
		.class = DAFSD_FS_MODIFY,
		.flags = DAFSD_P_CRED,
		.run = dafsd_proc_rename,
		.fh = ARG(rename.targetdir),
	},
	[DAFS_PROC_SETATTR_INLINE] = {
		.class = DAFSD_FS_MODIFY,
		.flags = DAFSD_P_CRED,
		.run = dafsd_proc_setattr_inline,
		.fh = ARG(setattr_inline.filehandle),
		.state_id = ARG(setattr_inline.state_id),
	},
	[DAFS_PROC_SETATTR_DIRECT] = {
		.class = DAFSD_FS_MODIFY,
		.flags = DAFSD_P_CRED,
		.run = dafsd_proc_setattr_direct,
		.prepare = dafsd_prepare_setattr_direct,
		.fh = ARG(setattr_direct.filehandle),
		.state_id = ARG(setattr_direct.state_id),
	},
	[DAFS_PROC_VERIFY] = {
		.class = DAFSD_SIMPLE,
		.flags = DAFSD_P_CRED,
		.run = dafsd_proc_verify,
		.fh = ARG(verify.filehandle),
	},
	[DAFS_PROC_WRITE_INLINE] = {
		.class = DAFSD_FS_MODIFY,
		.flags = DAFSD_P_CRED | DAFSD_P_INLINE,
		.run = dafsd_proc_write_inline,
		.fh = ARG(write_inline.filehandle),
		.state_id = ARG(write_inline.state_id),
		.written = RES(write.count),
	},
	[DAFS_PROC_WRITE_DIRECT] = {
		.class = DAFSD_FS_MODIFY,
		.flags = DAFSD_P_CRED,
		.run = dafsd_proc_write_direct,
		.prepare = dafsd_prepare_write_direct,
		.fh = ARG(write_direct.filehandle),
		.state_id = ARG(write_direct.state_id),
		.written = RES(write.count),
	},
};
