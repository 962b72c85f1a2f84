/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The DAFS wire: constants of draft-wittle-dafs-00 and the few structures
 * whose place in a message is fixed.  Everything that lives behind an offset
 * is read and written by the codec in fs/dafs_common.
 *
 * Section numbers are the draft's; E-nn are the project's rulings where the
 * draft is unclear, Documentation/filesystems/dafs/protocol-rulings.rst.
 */
#ifndef _UAPI_LINUX_DAFS_WIRE_H
#define _UAPI_LINUX_DAFS_WIRE_H

#include <linux/const.h>
#include <linux/types.h>

/*
 * Integers in the byte order of the session, which the client's first message
 * chooses (ruling E-01).  Not __be and not __le: only dafs_put_*() and
 * dafs_get_*() know which.
 */
typedef __u16 __bitwise dafs_w16;
typedef __u32 __bitwise dafs_w32;
typedef __u64 __bitwise dafs_w64;

#define DAFS_REQUEST_MAGIC			0x44414653	/* "DAFS" */
#define DAFS_RESPONSE_MAGIC			0x44414652	/* "DAFR" */
#define DAFS_PROTOCOL_VERSION			1		/* E-02 */
#define DAFS_DEFAULT_PORT			20050		/* E-123 */

#define DAFS_HDR_SIZE				40
#define DAFS_FIRST_MSG_SIZE			4096		/* 3.2.6.3 */
#define DAFS_MIN_MSG_SIZE			1024		/* E-38 */
#define DAFS_MAX_ID_STRING			1024		/* E-07 */
#define DAFS_FSHANDLE_SIZE			16
#define DAFS_FILEID_SIZE			48
#define DAFS_FH_SIZE				(DAFS_FSHANDLE_SIZE + DAFS_FILEID_SIZE)

/**
 * struct dafs_wire_cksum - Fletcher-32 as it stands in a message (3.2.5)
 * @s2: sum of sums, first on the wire
 * @s1: sum of words
 */
struct dafs_wire_cksum {
	dafs_w16 s2;
	dafs_w16 s1;
};

/**
 * struct dafs_wire_req_hdr - the header of every request (6.1.2)
 * @header_magic: DAFS_REQUEST_MAGIC; its byte order is the session's
 * @protocol_version: DAFS_PROTOCOL_VERSION
 * @desired_nreq: how many outstanding requests the requester would like
 * @chain_flags: DAFS_CHF_*
 * @stream_id: the slot this request uses
 * @seq_number: counts the requests on that stream
 * @analyzer: returned unchanged
 * @message_checksum: over request_len bytes, this field as zero
 * @cred_handle: whom the server acts for; zero is the session itself
 * @procedure: DAFS_PROC_*
 * @request_len: length of the whole message in bytes
 */
struct dafs_wire_req_hdr {
	dafs_w32 header_magic;
	dafs_w32 protocol_version;
	dafs_w16 desired_nreq;
	dafs_w16 chain_flags;
	dafs_w16 stream_id;
	dafs_w16 seq_number;
	__u8 analyzer[8];
	struct dafs_wire_cksum message_checksum;
	__u8 cred_handle[4];
	dafs_w32 procedure;
	dafs_w32 request_len;
};

/**
 * struct dafs_wire_res_hdr - the header of every response (6.1.3)
 * @header_magic: DAFS_RESPONSE_MAGIC
 * @protocol_version: DAFS_PROTOCOL_VERSION
 * @target_nreq: how many outstanding requests the responder aims for
 * @spec_cond: DAFS_SPCOND_*
 * @stream_id: as in the request
 * @seq_number: as in the request
 * @analyzer: as in the request
 * @message_checksum: over response_len bytes, this field as zero
 * @status: DAFS_STATUS_OK or DAFSERR_*
 * @response_len: length of the whole message in bytes
 * @reserved: zero
 */
struct dafs_wire_res_hdr {
	dafs_w32 header_magic;
	dafs_w32 protocol_version;
	dafs_w16 target_nreq;
	dafs_w16 spec_cond;
	dafs_w16 stream_id;
	dafs_w16 seq_number;
	__u8 analyzer[8];
	struct dafs_wire_cksum message_checksum;
	dafs_w32 status;
	dafs_w32 response_len;
	dafs_w32 reserved;
};

/**
 * struct dafs_wire_discriminator - CM private data of a channel (E.9)
 * @magic: DAFS_REQUEST_MAGIC in the order of the sender
 * @client_instance: names one client instance, compared as bytes
 * @client_session: names one session of that instance, compared as bytes
 * @channel_type: DAFS_CHANNEL_*
 */
struct dafs_wire_discriminator {
	dafs_w32 magic;
	__u8 client_instance[4];
	__u8 client_session[4];
	dafs_w32 channel_type;
};

/* Procedure numbers, section 6.1.10 */
#define DAFS_PROC_FIRST				100
#define DAFS_PROC_CLIENT_AUTH			100
#define DAFS_PROC_CLIENT_CONNECT		101
#define DAFS_PROC_CLIENT_CONNECT_AUTH		102
#define DAFS_PROC_CONNECT_BIND			103
#define DAFS_PROC_DISCONNECT			104
#define DAFS_PROC_REGISTER_CRED			105
#define DAFS_PROC_RELEASE_CRED			106
#define DAFS_PROC_SECINFO			108
#define DAFS_PROC_SERVER_AUTH			109
#define DAFS_PROC_CHECK_RESPONSE		110
#define DAFS_PROC_FETCH_RESPONSE		111
#define DAFS_PROC_DISCARD_RESPONSES		112
#define DAFS_PROC_ACCESS			113
#define DAFS_PROC_CACHE_HINT			114
#define DAFS_PROC_CLOSE				115
#define DAFS_PROC_COMMIT			116
#define DAFS_PROC_CREATE			117
#define DAFS_PROC_DELEGPURGE			118
#define DAFS_PROC_DELEGRETURN			119
#define DAFS_PROC_GET_FSATTR			122
#define DAFS_PROC_GET_ROOT_HANDLE		123
#define DAFS_PROC_GETATTR_INLINE		124
#define DAFS_PROC_GETATTR_DIRECT		125
#define DAFS_PROC_LINK				126
#define DAFS_PROC_LOCK				127
#define DAFS_PROC_LOCKT				128
#define DAFS_PROC_LOCKU				129
#define DAFS_PROC_LOOKUP			130
#define DAFS_PROC_LOOKUPP			131
#define DAFS_PROC_NULL				132
#define DAFS_PROC_NVERIFY			133
#define DAFS_PROC_OPEN				134
#define DAFS_PROC_OPEN_DOWNGRADE		135
#define DAFS_PROC_OPENATTR			136
#define DAFS_PROC_READ_INLINE			137
#define DAFS_PROC_READ_DIRECT			138
#define DAFS_PROC_READDIR_INLINE		139
#define DAFS_PROC_READDIR_DIRECT		140
#define DAFS_PROC_READLINK_INLINE		141
#define DAFS_PROC_READLINK_DIRECT		142
#define DAFS_PROC_REMOVE			143
#define DAFS_PROC_RENAME			144
#define DAFS_PROC_SETATTR_INLINE		145
#define DAFS_PROC_SETATTR_DIRECT		146
#define DAFS_PROC_VERIFY			147
#define DAFS_PROC_BATCH_SUBMIT			148
#define DAFS_PROC_WRITE_INLINE			149
#define DAFS_PROC_WRITE_DIRECT			150
#define DAFS_PROC_BC_GETATTR			151
#define DAFS_PROC_BC_NULL			152
#define DAFS_PROC_BC_RECALL			153
#define DAFS_PROC_BC_BATCH_COMPLETION		155
#define DAFS_PROC_APPEND_INLINE			156
#define DAFS_PROC_APPEND_DIRECT			157
#define DAFS_PROC_GET_FENCING_LIST		158
#define DAFS_PROC_SET_FENCING_LIST		159
#define DAFS_PROC_HURRY_UP			160
#define DAFS_PROC_LAST				160

/*
 * Status, chapter 7; the last seven are numbered by ruling E-71.  Not an errno, and no
 * other number either: sparse tells them apart.
 */
typedef __u32 __bitwise dafs_status_t;

#define DAFS_STATUS(nr)				((__force dafs_status_t)(nr))

#define DAFS_STATUS_OK				DAFS_STATUS(0)
#define DAFSERR_PERM				DAFS_STATUS(1)
#define DAFSERR_NOENT				DAFS_STATUS(2)
#define DAFSERR_IO				DAFS_STATUS(5)
#define DAFSERR_NXIO				DAFS_STATUS(6)
#define DAFSERR_ACCES				DAFS_STATUS(13)
#define DAFSERR_EXIST				DAFS_STATUS(17)
#define DAFSERR_XDEV				DAFS_STATUS(18)
#define DAFSERR_NODEV				DAFS_STATUS(19)
#define DAFSERR_NOTDIR				DAFS_STATUS(20)
#define DAFSERR_ISDIR				DAFS_STATUS(21)
#define DAFSERR_INVAL				DAFS_STATUS(22)
#define DAFSERR_FBIG				DAFS_STATUS(27)
#define DAFSERR_NOSPC				DAFS_STATUS(28)
#define DAFSERR_ROFS				DAFS_STATUS(30)
#define DAFSERR_MLINK				DAFS_STATUS(31)
#define DAFSERR_NAMETOOLONG			DAFS_STATUS(63)
#define DAFSERR_NOTEMPTY			DAFS_STATUS(66)
#define DAFSERR_DQUOT				DAFS_STATUS(69)
#define DAFSERR_STALE				DAFS_STATUS(70)
#define DAFSERR_BADHANDLE			DAFS_STATUS(10001)
#define DAFSERR_BAD_COOKIE			DAFS_STATUS(10003)
#define DAFSERR_NOTSUPP				DAFS_STATUS(10004)
#define DAFSERR_TOOSMALL			DAFS_STATUS(10005)
#define DAFSERR_SERVERFAULT			DAFS_STATUS(10006)
#define DAFSERR_BADTYPE				DAFS_STATUS(10007)
#define DAFSERR_DELAY				DAFS_STATUS(10008)
#define DAFSERR_SAME				DAFS_STATUS(10009)
#define DAFSERR_DENIED				DAFS_STATUS(10010)
#define DAFSERR_EXPIRED				DAFS_STATUS(10011)
#define DAFSERR_LOCKED				DAFS_STATUS(10012)
#define DAFSERR_GRACE				DAFS_STATUS(10013)
#define DAFSERR_FHEXPIRED			DAFS_STATUS(10014)
#define DAFSERR_SHARE_DENIED			DAFS_STATUS(10015)
#define DAFSERR_WRONGSEC			DAFS_STATUS(10016)
#define DAFSERR_CLID_INUSE			DAFS_STATUS(10017)
#define DAFSERR_RESOURCE			DAFS_STATUS(10018)
#define DAFSERR_MOVED				DAFS_STATUS(10019)
#define DAFSERR_NOFILEHANDLE			DAFS_STATUS(10020)
#define DAFSERR_MINOR_VERS_MISMATCH		DAFS_STATUS(10021)
#define DAFSERR_STALE_CLIENTID			DAFS_STATUS(10022)
#define DAFSERR_STALE_STATEID			DAFS_STATUS(10023)
#define DAFSERR_OLD_STATEID			DAFS_STATUS(10024)
#define DAFSERR_BAD_STATEID			DAFS_STATUS(10025)
#define DAFSERR_BAD_SEQID			DAFS_STATUS(10026)
#define DAFSERR_NOT_SAME			DAFS_STATUS(10027)
#define DAFSERR_LOCK_RANGE			DAFS_STATUS(10028)
#define DAFSERR_SYMLINK				DAFS_STATUS(10029)
#define DAFSERR_READDIR_NOSPC			DAFS_STATUS(10030)
#define DAFSERR_LEASE_MOVED			DAFS_STATUS(10031)
#define DAFSERR_ILLEGAL_PROT			DAFS_STATUS(15002)
#define DAFSERR_ILLEGAL_STATE			DAFS_STATUS(15003)
#define DAFSERR_UNKNOWN_SESSION			DAFS_STATUS(15004)
#define DAFSERR_NOXID_MATCH			DAFS_STATUS(15005)
#define DAFSERR_NOT_AUTHORIZED			DAFS_STATUS(15006)
#define DAFSERR_NOT_FOUND			DAFS_STATUS(15007)
#define DAFSERR_RDMA_READ_CHANNEL_UNUSABLE	DAFS_STATUS(15008)
#define DAFSERR_CHAIN_FORM			DAFS_STATUS(15009)
#define DAFSERR_CHAIN_BROKEN			DAFS_STATUS(15010)
#define DAFSERR_GSS_CONTINUE_INIT		DAFS_STATUS(15011)
#define DAFSERR_BAD_SESSION			DAFS_STATUS(15012)
#define DAFSERR_NO_CREDS			DAFS_STATUS(15013)
#define DAFSERR_CRHAND_CONFLICT			DAFS_STATUS(15014)
#define DAFSERR_DENYDISP_CONFLICT		DAFS_STATUS(15015)
#define DAFSERR_DENYDISP_NOTSUPP		DAFS_STATUS(15016)
#define DAFSERR_KEY_MISMATCH			DAFS_STATUS(15017)
#define DAFSERR_WRITE_TOOBIG			DAFS_STATUS(15018)
#define DAFSERR_BACK_CHANNEL_UNUSABLE		DAFS_STATUS(15019)
#define DAFSERR_CHKSUM				DAFS_STATUS(15020)
#define DAFSERR_BATCH_REQUEST_NOT_FOUND		DAFS_STATUS(15021)
#define DAFSERR_LOCK_BROKEN			DAFS_STATUS(15022)
#define DAFSERR_NOT_AUTHENTICATED		DAFS_STATUS(15023)
#define DAFSERR_NO_PARTIAL_INFO			DAFS_STATUS(15024)
#define DAFSERR_PREFETCH_NOT_SUPPORTED		DAFS_STATUS(15025)
#define DAFSERR_VERS_MISMATCH			DAFS_STATUS(15026)
#define DAFSERR_WHOA_COWBOY			DAFS_STATUS(15027)

/* chain_flags of a request, section 4.3.2 */
#define DAFS_CHF_FORW				0x01
#define DAFS_CHF_BACK				0x02
#define DAFS_CHF_SAVE				0x04
#define DAFS_CHF_FH				0x08
#define DAFS_CHF_STATEID			0x10

/* spec_cond of a response, section 6.1.3 */
#define DAFS_SPCOND_LMOVED			0x0001
#define DAFS_SPCOND_FAILOVER			0x0002

/* Authentication types, section 6.1.9 */
#define DAFS_AUTH_NONE				0
#define DAFS_AUTH_TEXT				1
#define DAFS_AUTH_GSS				2
#define DAFS_AUTH_DEFAULT			3

/* GSS procedures and services, section 6.1.9 */
#define DAFS_GSS_OP_INIT			1
#define DAFS_GSS_OP_CONTINUE_INIT		2
#define DAFS_GSS_SVC_AUTH			1
#define DAFS_GSS_SVC_INTEGRITY			2
#define DAFS_GSS_SVC_PRIVACY			3

/* Credential types, section 6.2.8 */
#define DAFS_CRED_NAME				0
#define DAFS_CRED_ID				1
#define DAFS_CRED_GSS				2
#define DAFS_CRED_DEFAULT			3

/* channel_use of CONNECT_BIND, section 6.2.5 */
#define DAFS_BACK_CONTROL_CHANNEL		1
#define DAFS_RDMA_READ_CHANNEL			2

/* channel_type of the discriminator, section E.9 */
#define DAFS_CHANNEL_OPERATION			1
#define DAFS_CHANNEL_BACK_CONTROL		2
#define DAFS_CHANNEL_RDMA_READ			4

/* File attributes, section 6.1.5: bit n - 1 of a bitmap stands for attribute n */
#define DAFS_FATTR_NAMED_ATTR			_BITULL(0)
#define DAFS_FATTR_ARCHIVE			_BITULL(1)
#define DAFS_FATTR_HIDDEN			_BITULL(2)
#define DAFS_FATTR_SYSTEM			_BITULL(3)
#define DAFS_FATTR_OBJECT_TYPE			_BITULL(4)
#define DAFS_FATTR_MODE				_BITULL(5)
#define DAFS_FATTR_NUM_LINKS			_BITULL(6)
#define DAFS_FATTR_CHANGE			_BITULL(7)
#define DAFS_FATTR_OBJECT_SIZE			_BITULL(8)
#define DAFS_FATTR_FILE_ID			_BITULL(9)
#define DAFS_FATTR_SPACE_USED			_BITULL(10)
#define DAFS_FATTR_TIME_ACCESS			_BITULL(11)
#define DAFS_FATTR_TIME_ACCESS_SET		_BITULL(12)
#define DAFS_FATTR_TIME_BACKUP			_BITULL(13)
#define DAFS_FATTR_TIME_CREATE			_BITULL(14)
#define DAFS_FATTR_TIME_DELTA			_BITULL(15)
#define DAFS_FATTR_TIME_METADATA		_BITULL(16)
#define DAFS_FATTR_TIME_MODIFY			_BITULL(17)
#define DAFS_FATTR_TIME_MODIFY_SET		_BITULL(18)
#define DAFS_FATTR_RAW_DEV			_BITULL(19)
#define DAFS_FATTR_FILEHANDLE			_BITULL(20)
#define DAFS_FATTR_ACL				_BITULL(21)
#define DAFS_FATTR_MIME_TYPE			_BITULL(22)
#define DAFS_FATTR_OWNER			_BITULL(23)
#define DAFS_FATTR_OWNER_GROUP			_BITULL(24)
#define DAFS_FATTR_ALL				(_BITULL(25) - 1)

/* File system attributes, section 6.1.6; 31 is not assigned (ruling E-21) */
#define DAFS_FSATTR_LINK_SUPPORT		_BITULL(0)
#define DAFS_FSATTR_SYMLINK_SUPPORT		_BITULL(1)
#define DAFS_FSATTR_CAN_SET_TIME		_BITULL(2)
#define DAFS_FSATTR_CASE_INSENSITIVE		_BITULL(3)
#define DAFS_FSATTR_CASE_PRESERVING		_BITULL(4)
#define DAFS_FSATTR_CHOWN_RESTRICTED		_BITULL(5)
#define DAFS_FSATTR_HOMOGENEOUS			_BITULL(6)
#define DAFS_FSATTR_NO_TRUNC			_BITULL(7)
#define DAFS_FSATTR_UNIQUE_HANDLE		_BITULL(8)
#define DAFS_FSATTR_LEASE_TIME			_BITULL(9)
#define DAFS_FSATTR_RD_ATTR_ERROR		_BITULL(10)
#define DAFS_FSATTR_ACL_SUPPORT			_BITULL(11)
#define DAFS_FSATTR_MAX_LINK			_BITULL(12)
#define DAFS_FSATTR_MAX_NAME			_BITULL(13)
#define DAFS_FSATTR_SUPPORTED_FATTR		_BITULL(14)
#define DAFS_FSATTR_SUPPORTED_FSATTR		_BITULL(15)
#define DAFS_FSATTR_FILES_AVAILABLE		_BITULL(16)
#define DAFS_FSATTR_FILES_FREE			_BITULL(17)
#define DAFS_FSATTR_FILES_TOTAL			_BITULL(18)
#define DAFS_FSATTR_MAX_FILE_SIZE		_BITULL(19)
#define DAFS_FSATTR_MAX_READ			_BITULL(20)
#define DAFS_FSATTR_MAX_WRITE			_BITULL(21)
#define DAFS_FSATTR_QUOTA_HARD			_BITULL(22)
#define DAFS_FSATTR_QUOTA_SOFT			_BITULL(23)
#define DAFS_FSATTR_QUOTA_USED			_BITULL(24)
#define DAFS_FSATTR_SPACE_AVAILABLE		_BITULL(25)
#define DAFS_FSATTR_SPACE_FREE			_BITULL(26)
#define DAFS_FSATTR_SPACE_TOTAL			_BITULL(27)
#define DAFS_FSATTR_FSHANDLE			_BITULL(28)
#define DAFS_FSATTR_FAILOVER_LOCATIONS		_BITULL(29)
#define DAFS_FSATTR_MAX_APPEND			_BITULL(31)
#define DAFS_FSATTR_PREF_IO_SIZE		_BITULL(32)
#define DAFS_FSATTR_FH_EXPIRE_TYPE		_BITULL(33)
#define DAFS_FSATTR_ALL				((_BITULL(34) - 1) & ~_BITULL(30))

/* FH_EXPIRE_TYPE, section 6.1.6 */
#define DAFS_FH_PERSISTENT			0x00000000
#define DAFS_FH_NOEXPIRE_WITH_OPEN		0x00000001
#define DAFS_FH_VOLATILE_ANY			0x00000002
#define DAFS_FH_VOL_RENAME			0x00000008

/* ACL_SUPPORT, section 6.1.6 */
#define DAFS_ACL_SUPPORT_ALLOW			0x00000001
#define DAFS_ACL_SUPPORT_DENY			0x00000002
#define DAFS_ACL_SUPPORT_AUDIT			0x00000004
#define DAFS_ACL_SUPPORT_ALARM			0x00000008

/* Access control entries, section 6.1.4 */
#define DAFS_ACE_ACCESS_ALLOWED_ACE_TYPE	0x00000000
#define DAFS_ACE_ACCESS_DENIED_ACE_TYPE		0x00000001
#define DAFS_ACE_SYSTEM_AUDIT_ACE_TYPE		0x00000002
#define DAFS_ACE_SYSTEM_ALARM_ACE_TYPE		0x00000004
#define DAFS_ACE_FILE_INHERIT_ACE		0x00000001
#define DAFS_ACE_DIRECTORY_INHERIT_ACE		0x00000002
#define DAFS_ACE_NO_PROPAGATE_INHERIT_ACE	0x00000004
#define DAFS_ACE_INHERIT_ONLY_ACE		0x00000008
#define DAFS_ACE_SUCCESSFUL_ACCESS_ACE_FLAG	0x00000010
#define DAFS_ACE_FAILED_ACCESS_ACE_FLAG		0x00000020
#define DAFS_ACE_IDENTIFIER_GROUP		0x00000040
#define DAFS_ACE_READ_DATA			0x00000001
#define DAFS_ACE_LIST_DIRECTORY			0x00000001
#define DAFS_ACE_WRITE_DATA			0x00000002
#define DAFS_ACE_ADD_FILE			0x00000002
#define DAFS_ACE_APPEND_DATA			0x00000004
#define DAFS_ACE_ADD_SUBDIRECTORY		0x00000004
#define DAFS_ACE_READ_NAMED_ATTRS		0x00000008
#define DAFS_ACE_WRITE_NAMED_ATTRS		0x00000010
#define DAFS_ACE_EXECUTE			0x00000020
#define DAFS_ACE_DELETE_CHILD			0x00000040
#define DAFS_ACE_READ_ATTRIBUTES		0x00000080
#define DAFS_ACE_WRITE_ATTRIBUTES		0x00000100
#define DAFS_ACE_DELETE				0x00010000
#define DAFS_ACE_READ_ACL			0x00020000
#define DAFS_ACE_WRITE_ACL			0x00040000
#define DAFS_ACE_WRITE_OWNER			0x00080000
#define DAFS_ACE_SYNCHRONIZE			0x00100000

/* Object types, section 6.5.9; REG by ruling E-76 */
#define DAFS_TYPE_INVALID			0
#define DAFS_TYPE_REG				1
#define DAFS_TYPE_DIR				2
#define DAFS_TYPE_BLK				3
#define DAFS_TYPE_CHR				4
#define DAFS_TYPE_LNK				5
#define DAFS_TYPE_SOCK				6
#define DAFS_TYPE_FIFO				7
#define DAFS_TYPE_ATTRDIR			8
#define DAFS_TYPE_NAMEDATTR			9

/* access of ACCESS, section 6.5.2 */
#define DAFS_ACCESS_READ			0x00000001
#define DAFS_ACCESS_LOOKUP			0x00000002
#define DAFS_ACCESS_MODIFY			0x00000004
#define DAFS_ACCESS_EXTEND			0x00000008
#define DAFS_ACCESS_DELETE			0x00000010
#define DAFS_ACCESS_EXECUTE			0x00000020

/* OPEN, section 6.5.24 */
#define DAFS_CREATE_UNCHECKED			0
#define DAFS_CREATE_GUARDED			1
#define DAFS_CREATE_EXCLUSIVE			2
#define DAFS_OPEN_NOCREATE			0
#define DAFS_OPEN_CREATE			1
#define DAFS_CLAIM_NULL				0
#define DAFS_CLAIM_PREVIOUS			1
#define DAFS_CLAIM_DELEGATE_CUR			2
#define DAFS_CLAIM_DELEGATE_PREV		3
#define DAFS_CLAIM_CREATE_UNLINKED		4
#define DAFS_DELETE_DONT_CARE			0
#define DAFS_DELETE_DENY			1
#define DAFS_LIMIT_SIZE				1
#define DAFS_LIMIT_BLOCKS			2
#define DAFS_OPEN_DELEGATE_NONE			0
#define DAFS_OPEN_DELEGATE_READ			1
#define DAFS_OPEN_DELEGATE_WRITE		2
#define DAFS_OPEN_SHARE_ACCESS_READ		0x00000001
#define DAFS_OPEN_SHARE_ACCESS_WRITE		0x00000002
#define DAFS_OPEN_SHARE_ACCESS_BOTH		0x00000003
#define DAFS_OPEN_SHARE_DENY_NONE		0x00000000
#define DAFS_OPEN_SHARE_DENY_READ		0x00000001
#define DAFS_OPEN_SHARE_DENY_WRITE		0x00000002
#define DAFS_OPEN_SHARE_DENY_BOTH		0x00000003
#define DAFS_OPEN_SHARE_KEY_NONE		0x00000000
#define DAFS_OPEN_SHARE_KEY_BOTH		0x00000003
#define DAFS_OPEN_RESULT_MLOCK			0x00000001

/* remove_mode of REMOVE, section 6.5.33 */
#define DAFS_REMOVE_UNCHECKED			0
#define DAFS_REMOVE_CHECK_OPEN			1

/* stable_how of writes and appends, sections 6.5.3 and 6.5.38 */
#define DAFS_UNSTABLE				0
#define DAFS_DATA_SYNC				1
#define DAFS_FILE_SYNC				2

/* how of a settable time, section 6.1.4 */
#define DAFS_SET_TO_SERVER_TIME			1
#define DAFS_SET_TO_CLIENT_TIME			2

/* LOCK types and options, section 6.5.18; REPAIR by ruling E-72 */
#define DAFS_READ_LT				1
#define DAFS_WRITE_LT				2
#define DAFS_READW_LT				3
#define DAFS_WRITEW_LT				4
#define DAFS_ABORT_LT				5
#define DAFS_LOCK_RECLAIM			1
#define DAFS_LOCK_PERSIST			2
#define DAFS_LOCK_AUTORECOVERY			4
#define DAFS_LOCK_REPAIR			8
#define DAFS_LOCK_TO_EOF			(~0ULL)

/* rw_flag of batch requests, section 6.5.5 */
#define DAFS_READ_OP				1
#define DAFS_WRITE_OP				2

/* access_pattern of CACHE_HINT, section 6.1.8 */
#define DAFS_CACHE_HINT_NORMAL			0
#define DAFS_CACHE_HINT_RANDOM			1
#define DAFS_CACHE_HINT_SEQUENTIAL		2
#define DAFS_CACHE_HINT_WILLNEED		3
#define DAFS_CACHE_HINT_DONTNEED		4

/* cache_hint, section 6.1.8: a bit, and two fields with 4 for "does not know" */
#define DAFS_HINT_PREFETCH			0x01
#define DAFS_HINT_READ				0x0e
#define DAFS_HINT_READ_4			0x08
#define DAFS_HINT_WRITE				0x70
#define DAFS_HINT_WRITE_4			0x40

/* Fencing, section 6.4.2 */
#define DAFS_FENCE_FILE				1
#define DAFS_FENCE_FILESYSTEM			2
#define DAFS_FENCE_ALLOW			1
#define DAFS_FENCE_DENY				2
#define DAFS_FENCE_OVERWRITE			1
#define DAFS_FENCE_APPEND			2
#define DAFS_FENCE_REMOVE			3

#endif /* _UAPI_LINUX_DAFS_WIRE_H */
