/* SPDX-License-Identifier: GPL-2.0 */
/*
 * DAFS messages in host form: what the codec encodes from and decodes to.
 *
 * Field names are the draft's.  A union of the draft is flattened: its arms
 * share no member names here, and the discriminator says which ones are valid.
 *
 * A member marked "not on the wire" comes first in its structure and is set
 * by the caller, before decoding too; decoding clears all others first.
 *
 * Nothing in a decoded message is allocated.  A struct dafs_str points into
 * the message, a struct dafs_seq remembers where its array stands there, so
 * both live as long as the receive buffer does.
 */
#ifndef _LINUX_DAFS_MSG_H
#define _LINUX_DAFS_MSG_H

#include <linux/string.h>
#include <linux/types.h>
#include <linux/dafs_wire.h>

/*
 * The types of dafs_opaque64, 6.1.4: eight bytes whose order is never changed.  They are
 * different structures, so that the compiler rejects one where another is meant.
 */
struct dafs_session_id {
	u8 b[8];
};

struct dafs_client_id {
	u8 b[8];
};

struct dafs_state_id {
	u8 b[8];
};

struct dafs_verifier {
	u8 b[8];
};

/**
 * dafs_opaque64_equal() - compare two ids, or two verifiers
 * @v: pointer to one of the types above
 * @w: pointer to the same type
 *
 * Return: true if their bytes are equal.
 */
#define dafs_opaque64_equal(v, w)					\
({									\
	typeof(v) __v = (v);						\
	const typeof(*__v) *__w = (w);					\
									\
	!memcmp(__v->b, __w->b, sizeof(__v->b));			\
})

/**
 * struct dafs_str - a utf8string or opaque8<>
 * @len: bytes
 * @data: not terminated; in a decoded message points into that message
 */
struct dafs_str {
	u32 len;
	const u8 *data;
};

/**
 * struct dafs_seq - an array on the heap of a message
 * @count: elements
 * @scope: decoded: offset of the array's count field in the buffer
 * @elems: to be encoded: the elements in host form
 *
 * Read a decoded one with the dafs_get_*() accessors of <linux/dafs/codec.h>.
 */
struct dafs_seq {
	u32 count;
	u32 scope;
	const void *elems;
};

/* dafs_filehandle_type, 6.1.4 */
struct dafs_fh {
	u8 fshandle[DAFS_FSHANDLE_SIZE];
	u8 fileid[DAFS_FILEID_SIZE];
};

/* dafs_time_type */
struct dafs_time {
	s64 seconds;
	u32 nseconds;
};

/* dafs_settime_type */
struct dafs_settime {
	struct dafs_time client_time;
	u32 how;
};

/* dafs_specdata_type: major and minor of a device */
struct dafs_specdata {
	u64 specdata1;
	u64 specdata2;
};

/* dafs_change_info_type: the directory before and after an operation */
struct dafs_change_info {
	u64 before;
	u64 after;
	u32 atomic;
};

/* dafs_checksum_type in the session's order, see <linux/dafs/cksum.h> */
struct dafs_cksum {
	u16 s2;
	u16 s1;
};

/* dafs_direct_op_buffer: memory of the client that the server may access */
struct dafs_direct_buf {
	u64 buffer_address;
	u32 buffer_byte_count;
	u32 buffer_handle;
};

/* dafs_file_chunk */
struct dafs_file_chunk {
	u64 offset;
	u32 byte_count;
	u32 cache_hint;
};

/* dafs_read_write_request of BATCH_SUBMIT */
struct dafs_rw_request {
	struct dafs_fh filehandle;
	u64 request_id;
	struct dafs_state_id state_id;
	u32 rw_flag;
	struct dafs_seq chunks;			/* struct dafs_file_chunk */
	struct dafs_seq request_buffers;	/* struct dafs_direct_buf */
	struct dafs_cksum direct_checksum;
};

/* dafs_completion_notification */
struct dafs_completion {
	u64 request_id;
	dafs_status_t status;
	u32 bytes_transferred;
	struct dafs_cksum direct_checksum;
};

/* dafs_ace_type */
struct dafs_ace {
	u32 type;
	u32 flag;
	u32 access_mask;
	struct dafs_str who;
};

/* dafs_fs_location_type */
struct dafs_fs_location {
	struct dafs_str server;
	struct dafs_seq root_path;		/* struct dafs_str */
};

/* dafs_fs_locations_type */
struct dafs_fs_locations {
	struct dafs_seq fs_root;		/* struct dafs_str */
	struct dafs_seq locations;		/* struct dafs_fs_location */
};

/* one element of SECINFO's answer */
struct dafs_authtype {
	u32 auth_type;
	struct dafs_str oid;
	u32 qop;
	u32 gss_service;
};

/*
 * dafs_file_attr_type, 6.1.5.  @included has the DAFS_FATTR_* bits of the
 * attributes that take space, @valid of those that have a value: the others
 * read as zero and are sent as zero.  Then follow the attributes in the order
 * of their numbers.
 */
struct dafs_fattr {
	u64 included;
	u64 valid;
	u8 named_attr;
	u8 archive;
	u8 hidden;
	u8 system;
	u32 object_type;
	u32 mode;
	u32 num_links;
	u64 change;
	u64 object_size;
	u64 file_id;
	u64 space_used;
	struct dafs_time time_access;
	struct dafs_settime time_access_set;
	struct dafs_time time_backup;
	struct dafs_time time_create;
	struct dafs_time time_delta;
	struct dafs_time time_metadata;
	struct dafs_time time_modify;
	struct dafs_settime time_modify_set;
	struct dafs_specdata raw_dev;
	struct dafs_fh filehandle;
	struct dafs_seq acl;			/* struct dafs_ace */
	struct dafs_str mime_type;
	struct dafs_str owner;
	struct dafs_str owner_group;
};

/* dafs_filesys_attr_type, 6.1.6; @included and @valid as in struct dafs_fattr */
struct dafs_fsattr {
	u64 included;
	u64 valid;
	u8 link_support;
	u8 symlink_support;
	u8 can_set_time;
	u8 case_insensitive;
	u8 case_preserving;
	u8 chown_restricted;
	u8 homogeneous;
	u8 no_trunc;
	u8 unique_handle;
	u32 lease_time;
	u32 rd_attr_error;
	u32 acl_support;
	u32 max_link;
	u32 max_name;
	u64 supported_fattr;
	u64 supported_fsattr;
	u64 files_available;
	u64 files_free;
	u64 files_total;
	u64 max_file_size;
	u64 max_read;
	u64 max_write;
	u64 quota_hard;
	u64 quota_soft;
	u64 quota_used;
	u64 space_available;
	u64 space_free;
	u64 space_total;
	u8 fshandle[DAFS_FSHANDLE_SIZE];
	struct dafs_seq failover_locations;	/* struct dafs_fs_locations */
	u64 max_append;
	u64 pref_io_size;
	u32 fh_expire_type;
};

/* one entry of READDIR */
struct dafs_direntry {
	u64 cookie;
	struct dafs_fattr attrs;
	struct dafs_str name;
};

/* dafs_auth_req */
struct dafs_auth_req {
	u32 auth_type;
	struct dafs_str auth_id;		/* TEXT */
	struct dafs_str auth_password;		/* TEXT */
	u32 procedure;				/* GSS */
	u32 service;				/* GSS */
	struct dafs_str token;			/* GSS */
};

/* dafs_auth_res */
struct dafs_auth_res {
	u32 auth_type;
	u32 gss_major;				/* GSS */
	u32 gss_minor;				/* GSS */
	struct dafs_str gss_token;		/* GSS */
};

/* Chapter 6.2: sessions */

/* negotiated options, in requests and in responses */
struct dafs_connect_opts {
	u32 use_checksums;
	u32 use_response_cache;
	u32 max_credentials;
	u32 max_request_size;
	u32 max_response_size;
	u32 max_requests;
	u32 inline_write_header_size;
	u32 use_back_control_channel;
	u32 use_rdma_read_channel;
};

struct dafs_client_auth_args {
	struct dafs_auth_req auth_req;
};

struct dafs_client_auth_res {
	struct dafs_auth_res auth_res;
	u8 trusted;
};

struct dafs_client_connect_args {
	struct dafs_connect_opts opts;
	struct dafs_str fence_id_string;
	struct dafs_str client_id_string;
	struct dafs_verifier client_verifier;
};

struct dafs_client_connect_res {
	struct dafs_session_id session_id;
	struct dafs_client_id client_id;
	struct dafs_connect_opts opts;
};

struct dafs_client_connect_auth_args {
	struct dafs_client_connect_args connect;
	struct dafs_auth_req auth_req;
};

struct dafs_client_connect_auth_res {
	struct dafs_client_connect_res connect;
	struct dafs_auth_res auth_res;
	u8 trusted;
};

struct dafs_connect_bind_args {
	struct dafs_session_id session_id;
	u16 channel_use;
	u32 max_request_size;
	u32 max_response_size;
	u32 max_requests;
	struct dafs_auth_req auth_req;
};

struct dafs_connect_bind_res {
	u32 max_request_size;
	u32 max_response_size;
	u32 max_requests;
	struct dafs_auth_res auth_res;
	u8 trusted;
};

struct dafs_register_cred_args {
	u32 cred_type;
	s32 uid;				/* ID */
	s32 gid;				/* ID */
	struct dafs_seq groups;			/* ID: s32 */
	struct dafs_str name;			/* NAME, GSS */
};

struct dafs_register_cred_res {
	u8 cred_handle[4];
};

struct dafs_release_cred_args {
	u8 cred_handle[4];
};

struct dafs_secinfo_res {
	struct dafs_seq secinfo;		/* struct dafs_authtype */
};

struct dafs_server_auth_args {
	u32 auth_type;
};

/*
 * The arm is chosen by the auth_type of the request (ruling E-04), which the
 * caller puts into @auth_type before decoding and encoding.
 */
struct dafs_server_auth_res {
	u32 auth_type;				/* not on the wire */
	struct dafs_str auth_id;		/* TEXT */
	struct dafs_str auth_password;		/* TEXT */
};

/* Chapter 6.3: response cache */

struct dafs_check_response_args {
	struct dafs_session_id session_id;
	u16 xid_stream;
	u16 xid_seq;
	u32 procedure;
};

struct dafs_discard_responses_args {
	struct dafs_session_id session_id;
};

/* Chapter 6.4: fencing */

struct dafs_get_fencing_list_args {
	struct dafs_fh filehandle;
};

struct dafs_get_fencing_list_res {
	bool null_list;				/* offset 0, ruling E-110 */
	struct dafs_seq fence_list;		/* struct dafs_str */
};

struct dafs_set_fencing_list_args {
	struct dafs_fh filehandle;
	u32 object;
	u32 access;
	u32 update;
	struct dafs_seq fence_list;		/* struct dafs_str */
};

/* Chapter 6.5: files */

/* arguments that are just a filehandle: LOOKUPP, OPENATTR, READLINK_INLINE */
struct dafs_fh_args {
	struct dafs_fh filehandle;
};

/* results that are just a filehandle: GET_ROOT_HANDLE, LOOKUPP, OPENATTR */
struct dafs_fh_res {
	struct dafs_fh filehandle;
};

struct dafs_access_args {
	struct dafs_fh filehandle;
	u32 access;
};

struct dafs_access_res {
	u32 supported;
	u32 access;
};

struct dafs_cache_hint_args {
	struct dafs_fh filehandle;
	u64 offset;
	u32 count;
	u32 access_pattern;
	u32 cache_hint;
};

struct dafs_close_args {
	struct dafs_fh filehandle;
	struct dafs_state_id state_id;
};

struct dafs_commit_args {
	struct dafs_fh filehandle;
	u64 offset;
	u32 count;
};

struct dafs_commit_res {
	struct dafs_verifier writeverf;
};

struct dafs_create_args {
	struct dafs_fh filehandle;
	struct dafs_str component;
	u32 obj_type;
	struct dafs_str linkdata;		/* LNK */
	struct dafs_specdata specdata;		/* BLK, CHR */
	struct dafs_fattr attr;
};

struct dafs_create_res {
	struct dafs_fh filehandle;
	struct dafs_change_info change_info;
};

struct dafs_delegreturn_args {
	struct dafs_state_id state_id;
};

/* GETATTR_INLINE, GET_FSATTR and BC_GETATTR */
struct dafs_getattr_args {
	struct dafs_fh filehandle;
	u64 attr_request_bitmap;
};

struct dafs_getattr_res {
	struct dafs_fattr obj_attributes;
};

struct dafs_get_fsattr_res {
	struct dafs_fsattr obj_attributes;
};

struct dafs_getattr_direct_args {
	struct dafs_fh filehandle;
	u64 attr_request_bitmap;
	struct dafs_direct_buf data_buffer;
};

/* GETATTR_DIRECT and READLINK_DIRECT */
struct dafs_direct_res {
	struct dafs_cksum direct_checksum;
};

struct dafs_link_args {
	struct dafs_fh source_object;
	struct dafs_fh destination_object;
	struct dafs_str newname;
};

/* LINK and REMOVE */
struct dafs_change_res {
	struct dafs_change_info change_info;
};

struct dafs_lock_args {
	struct dafs_fh filehandle;
	u32 lock_type;
	u32 options;
	struct dafs_state_id state_id;
	u64 offset;
	u64 length;
};

/* LOCK and LOCKT: zero unless the status is DENIED or LOCK_BROKEN (ruling E-14) */
struct dafs_lock_res {
	struct dafs_client_id owner_clientid;
	struct dafs_str owner;
	u64 offset;
	u64 length;
	u32 lock_type;
};

struct dafs_lockt_args {
	struct dafs_fh filehandle;
	u32 lock_type;
	struct dafs_str owner;
	u64 offset;
	u64 length;
};

struct dafs_locku_args {
	struct dafs_fh filehandle;
	u32 lock_type;
	struct dafs_state_id state_id;
	u64 offset;
	u64 length;
};

struct dafs_lookup_args {
	struct dafs_fh directory;
	struct dafs_seq path;			/* struct dafs_str */
};

struct dafs_lookup_res {
	struct dafs_fh filehandle;
	u32 component_count;
};

/* VERIFY and NVERIFY */
struct dafs_verify_args {
	struct dafs_fh filehandle;
	struct dafs_fattr obj_attributes;
};

struct dafs_open_args {
	u32 claim_type;
	struct dafs_fh dir_handle;		/* PREVIOUS: the file itself */
	struct dafs_seq pathname;		/* NULL, DELEGATE_*: struct dafs_str */
	u32 delegate_type;			/* PREVIOUS */
	struct dafs_state_id claimdelcur_stateid; /* DELEGATE_CUR */
	u32 open_type;
	u32 createmode;				/* CREATE */
	struct dafs_fattr createattrs;		/* CREATE: UNCHECKED, GUARDED */
	struct dafs_verifier create_verifier;	/* CREATE: EXCLUSIVE */
	u32 delete_disp;
	struct dafs_str owner;
	u32 share_access;
	u32 share_deny;
	u32 share_key_type;
	u64 share_key;
};

struct dafs_open_res {
	struct dafs_fh filehandle;
	struct dafs_state_id state_id;
	struct dafs_change_info change_info;
	u32 component_count;
	u32 result_flags;
	u32 delegation_type;
	struct dafs_state_id deleg_state_id;	/* READ, WRITE */
	u32 recall;				/* READ, WRITE */
	u32 limitby;				/* WRITE */
	u64 filesize;				/* WRITE, LIMIT_SIZE */
	u32 num_blocks;				/* WRITE, LIMIT_BLOCKS */
	u32 bytes_per_block;			/* WRITE, LIMIT_BLOCKS */
	u32 permissions_acetype;		/* READ, WRITE */
	u32 permissions_aceflag;		/* READ, WRITE */
	u32 permissions_acemask;		/* READ, WRITE */
	struct dafs_str who;			/* READ, WRITE */
};

struct dafs_open_downgrade_args {
	struct dafs_fh filehandle;
	struct dafs_state_id state_id;
	u32 share_access;
	u32 share_deny;
	u32 share_key_type;
	u64 share_key;
};

struct dafs_read_inline_args {
	struct dafs_fh filehandle;
	struct dafs_state_id state_id;
	u64 offset;
	u32 byte_count;
	u32 cache_hint;
};

/*
 * @read_data: decoded: the data in the message.  To be encoded: the data, or
 * NULL to leave room for @bytes_read bytes at DAFS_READ_INLINE_DATA.
 */
struct dafs_read_inline_res {
	u32 eof;
	u32 bytes_read;
	const u8 *read_data;
};

#define DAFS_READ_INLINE_DATA		48	/* message offset, E-17 */
#define DAFS_WRITE_INLINE_DATA		136
#define DAFS_APPEND_INLINE_DATA		128

struct dafs_read_direct_args {
	struct dafs_fh filehandle;
	struct dafs_state_id state_id;
	u64 offset;
	u32 byte_count;
	u32 cache_hint;
	struct dafs_seq read_data_buffers;	/* struct dafs_direct_buf */
};

struct dafs_read_direct_res {
	u32 eof;
	u32 bytes_read;
	struct dafs_cksum direct_checksum;
};

struct dafs_readdir_args {
	struct dafs_fh filehandle;
	u64 cookie;
	struct dafs_verifier cookieverf;
	u32 dircount;
	u32 maxcount;
	u64 attr_request_bitmap;
	struct dafs_seq readdir_data_buffers;	/* DIRECT: struct dafs_direct_buf */
};

struct dafs_readdir_inline_res {
	struct dafs_verifier cookieverf;
	u32 eof;
	struct dafs_seq entries;		/* struct dafs_direntry */
};

struct dafs_readdir_direct_res {
	struct dafs_verifier cookieverf;
	u32 eof;
	struct dafs_cksum direct_checksum;
};

struct dafs_readlink_inline_res {
	struct dafs_str link;
};

struct dafs_readlink_direct_args {
	struct dafs_fh filehandle;
	struct dafs_direct_buf buffer;
};

struct dafs_remove_args {
	struct dafs_fh filehandle;
	struct dafs_str target;
	u32 remove_mode;
};

struct dafs_rename_args {
	struct dafs_fh sourcedir;
	struct dafs_fh targetdir;
	struct dafs_str oldname;
	struct dafs_str newname;
};

struct dafs_rename_res {
	struct dafs_change_info source;
	struct dafs_change_info target;
};

struct dafs_setattr_inline_args {
	struct dafs_fh filehandle;
	struct dafs_state_id state_id;
	struct dafs_fattr obj_attributes;
};

struct dafs_setattr_direct_args {
	struct dafs_fh filehandle;
	struct dafs_state_id state_id;
	struct dafs_cksum direct_checksum;
	struct dafs_direct_buf obj_attributes;
};

struct dafs_setattr_res {
	u64 attr_request_bitmap;
};

/*
 * @data: decoded: the data in the message.  To be encoded: the data, or NULL
 * to leave room for @byte_count bytes at dafs_inline_data_offset().
 * @inline_header: not on the wire: the session's inline_write_header_size,
 * set by the caller before encoding and decoding.
 */
struct dafs_write_inline_args {
	u32 inline_header;			/* not on the wire */
	struct dafs_fh filehandle;
	struct dafs_state_id state_id;
	u64 offset;
	u32 byte_count;
	u32 stable_how;
	u32 write_padded;
	u32 cache_hint;
	const u8 *data;
};

struct dafs_write_direct_args {
	struct dafs_fh filehandle;
	struct dafs_state_id state_id;
	u64 offset;
	u32 byte_count;
	u32 stable_how;
	u32 cache_hint;
	struct dafs_cksum direct_checksum;
	struct dafs_seq write_data_buffers;	/* struct dafs_direct_buf */
};

/* WRITE_INLINE and WRITE_DIRECT */
struct dafs_write_res {
	u32 count;
	u32 committed;
	struct dafs_verifier verifier;
};

/* @data and @inline_header as in struct dafs_write_inline_args */
struct dafs_append_inline_args {
	u32 inline_header;			/* not on the wire */
	struct dafs_fh filehandle;
	struct dafs_state_id state_id;
	u32 stable_how;
	u32 byte_count;
	u32 write_padded;
	u32 cache_hint;
	const u8 *data;
};

struct dafs_append_direct_args {
	struct dafs_fh filehandle;
	struct dafs_state_id state_id;
	u32 stable_how;
	u32 byte_count;
	u32 cache_hint;
	struct dafs_cksum direct_checksum;
	struct dafs_direct_buf write_data_buffer;
};

/* APPEND_INLINE and APPEND_DIRECT */
struct dafs_append_res {
	u64 offset;
	struct dafs_verifier verifier;
	u32 committed;
};

struct dafs_batch_submit_args {
	struct dafs_seq requests;		/* struct dafs_rw_request */
	u32 usec_window;
	u32 num_completions;
	u8 synchronous;
};

/* result of BATCH_SUBMIT, argument of BC_BATCH_COMPLETION */
struct dafs_batch_completions {
	struct dafs_seq completions;		/* struct dafs_completion */
};

struct dafs_hurry_up_args {
	u64 request_id;
};

struct dafs_bc_recall_args {
	struct dafs_fh filehandle;
	struct dafs_state_id state_id;
	u32 truncate;
};

/* the arguments of any procedure */
union dafs_args {
	struct dafs_client_auth_args client_auth;
	struct dafs_client_connect_args client_connect;
	struct dafs_client_connect_auth_args client_connect_auth;
	struct dafs_connect_bind_args connect_bind;
	struct dafs_register_cred_args register_cred;
	struct dafs_release_cred_args release_cred;
	struct dafs_server_auth_args server_auth;
	struct dafs_check_response_args check_response;	/* and FETCH_RESPONSE */
	struct dafs_discard_responses_args discard_responses;
	struct dafs_get_fencing_list_args get_fencing_list;
	struct dafs_set_fencing_list_args set_fencing_list;
	struct dafs_fh_args fh;
	struct dafs_access_args access;
	struct dafs_cache_hint_args cache_hint;
	struct dafs_close_args close;
	struct dafs_commit_args commit;
	struct dafs_create_args create;
	struct dafs_delegreturn_args delegreturn;
	struct dafs_getattr_args getattr;
	struct dafs_getattr_direct_args getattr_direct;
	struct dafs_link_args link;
	struct dafs_lock_args lock;
	struct dafs_lockt_args lockt;
	struct dafs_locku_args locku;
	struct dafs_lookup_args lookup;
	struct dafs_verify_args verify;
	struct dafs_open_args open;
	struct dafs_open_downgrade_args open_downgrade;
	struct dafs_read_inline_args read_inline;
	struct dafs_read_direct_args read_direct;
	struct dafs_readdir_args readdir;
	struct dafs_readlink_direct_args readlink_direct;
	struct dafs_remove_args remove;
	struct dafs_rename_args rename;
	struct dafs_setattr_inline_args setattr_inline;
	struct dafs_setattr_direct_args setattr_direct;
	struct dafs_write_inline_args write_inline;
	struct dafs_write_direct_args write_direct;
	struct dafs_append_inline_args append_inline;
	struct dafs_append_direct_args append_direct;
	struct dafs_batch_submit_args batch_submit;
	struct dafs_batch_completions bc_batch_completion;
	struct dafs_hurry_up_args hurry_up;
	struct dafs_bc_recall_args bc_recall;
};

/* the results of any procedure */
union dafs_res {
	struct dafs_client_auth_res client_auth;
	struct dafs_client_connect_res client_connect;
	struct dafs_client_connect_auth_res client_connect_auth;
	struct dafs_connect_bind_res connect_bind;
	struct dafs_register_cred_res register_cred;
	struct dafs_secinfo_res secinfo;
	struct dafs_server_auth_res server_auth;
	struct dafs_get_fencing_list_res get_fencing_list;
	struct dafs_fh_res fh;
	struct dafs_access_res access;
	struct dafs_commit_res commit;
	struct dafs_create_res create;
	struct dafs_getattr_res getattr;
	struct dafs_get_fsattr_res get_fsattr;
	struct dafs_direct_res direct;
	struct dafs_change_res change;		/* LINK, REMOVE */
	struct dafs_lock_res lock;		/* LOCK, LOCKT */
	struct dafs_lookup_res lookup;
	struct dafs_open_res open;
	struct dafs_read_inline_res read_inline;
	struct dafs_read_direct_res read_direct;
	struct dafs_readdir_inline_res readdir_inline;
	struct dafs_readdir_direct_res readdir_direct;
	struct dafs_readlink_inline_res readlink_inline;
	struct dafs_rename_res rename;
	struct dafs_setattr_res setattr;
	struct dafs_write_res write;
	struct dafs_append_res append;
	struct dafs_batch_completions batch_submit;
};

#endif /* _LINUX_DAFS_MSG_H */
