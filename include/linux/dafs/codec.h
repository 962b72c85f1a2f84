/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The DAFS codec: messages between host form (<linux/dafs/msg.h>) and the
 * wire, draft chapter 6.1.  Every message is described once, in
 * fs/dafs_common/wire, and that description both encodes and decodes, in
 * both byte orders, for client and server.
 *
 * Context of all functions: any, no locks.
 */
#ifndef _LINUX_DAFS_CODEC_H
#define _LINUX_DAFS_CODEC_H

#include <linux/swab.h>
#include <linux/unaligned.h>
#include <linux/dafs/msg.h>

/**
 * struct dafs_buf - the bytes of one message or one direct metadata buffer
 * @base: first byte; also the origin of alignment and of offsets (6.1.1)
 * @len: decoding: bytes received; encoding: bytes that may be written
 * @swab: true if the session's byte order is not this machine's
 */
struct dafs_buf {
	u8 *base;
	u32 len;
	bool swab;
};

/**
 * struct dafs_req_hdr - a request header in host form (6.1.2)
 * @desired_nreq: Nreq that the requester asks for
 * @chain_flags: DAFS_CHF_*
 * @stream_id: slot
 * @seq_number: count on that slot
 * @analyzer: echoed
 * @cred_handle: credential, zero for the session's own
 * @version: protocol version
 * @procedure: DAFS_PROC_*
 * @len: length of the message in bytes
 */
struct dafs_req_hdr {
	u16 desired_nreq;
	u16 chain_flags;
	u16 stream_id;
	u16 seq_number;
	u8 analyzer[8];
	u8 cred_handle[4];
	u32 version;
	u32 procedure;
	u32 len;
};

/**
 * struct dafs_res_hdr - a response header in host form (6.1.3)
 * @target_nreq: Nreq that the responder aims at
 * @spec_cond: DAFS_SPCOND_*
 * @stream_id: from the request
 * @seq_number: from the request
 * @analyzer: from the request
 * @version: protocol version
 * @status: DAFS_STATUS_OK or DAFSERR_*
 * @len: length of the message in bytes
 */
struct dafs_res_hdr {
	u16 target_nreq;
	u16 spec_cond;
	u16 stream_id;
	u16 seq_number;
	u8 analyzer[8];
	u32 version;
	dafs_status_t status;
	u32 len;
};

/**
 * dafs_put16() - put an integer into a message, 6.1.1.5
 * @v: the integer
 * @p: where, at any alignment
 * @swab: the session's byte order is not this machine's
 */
static inline void dafs_put16(u16 v, void *p, bool swab)
{
	put_unaligned((__force dafs_w16)(swab ? swab16(v) : v), (dafs_w16 *)p);
}

/**
 * dafs_put32() - put an integer into a message, 6.1.1.5
 * @v: the integer
 * @p: where, at any alignment
 * @swab: the session's byte order is not this machine's
 */
static inline void dafs_put32(u32 v, void *p, bool swab)
{
	put_unaligned((__force dafs_w32)(swab ? swab32(v) : v), (dafs_w32 *)p);
}

/**
 * dafs_put64() - put an integer into a message, 6.1.1.5
 * @v: the integer
 * @p: where, at any alignment
 * @swab: the session's byte order is not this machine's
 */
static inline void dafs_put64(u64 v, void *p, bool swab)
{
	put_unaligned((__force dafs_w64)(swab ? swab64(v) : v), (dafs_w64 *)p);
}

/**
 * dafs_get16() - take an integer out of a message, 6.1.1.5
 * @p: where, at any alignment
 * @swab: the session's byte order is not this machine's
 *
 * Return: the integer.
 */
static inline u16 dafs_get16(const void *p, bool swab)
{
	u16 v = (__force u16)get_unaligned((const dafs_w16 *)p);

	return swab ? swab16(v) : v;
}

/**
 * dafs_get32() - take an integer out of a message, 6.1.1.5
 * @p: where, at any alignment
 * @swab: the session's byte order is not this machine's
 *
 * Return: the integer.
 */
static inline u32 dafs_get32(const void *p, bool swab)
{
	u32 v = (__force u32)get_unaligned((const dafs_w32 *)p);

	return swab ? swab32(v) : v;
}

/**
 * dafs_get64() - take an integer out of a message, 6.1.1.5
 * @p: where, at any alignment
 * @swab: the session's byte order is not this machine's
 *
 * Return: the integer.
 */
static inline u64 dafs_get64(const void *p, bool swab)
{
	u64 v = (__force u64)get_unaligned((const dafs_w64 *)p);

	return swab ? swab64(v) : v;
}

int dafs_probe_order(const void *msg, u32 len, u32 magic, bool *swab);
void dafs_put_req_hdr(const struct dafs_buf *buf, const struct dafs_req_hdr *hdr);
int dafs_get_req_hdr(const struct dafs_buf *buf, struct dafs_req_hdr *hdr);
void dafs_put_res_hdr(const struct dafs_buf *buf, const struct dafs_res_hdr *hdr);
int dafs_get_res_hdr(const struct dafs_buf *buf, struct dafs_res_hdr *hdr);

const char *dafs_proc_name(u32 proc);

int dafs_encode_args(const struct dafs_buf *buf, u32 proc, void *args);
int dafs_decode_args(const struct dafs_buf *buf, u32 proc, void *args);
int dafs_encode_res(const struct dafs_buf *buf, u32 proc, void *res);
int dafs_decode_res(const struct dafs_buf *buf, u32 proc, void *res);

/* direct metadata buffers: no header, all counts from byte 0 (E-10) */
int dafs_encode_fattr(const struct dafs_buf *buf, struct dafs_fattr *attr);
int dafs_decode_fattr(const struct dafs_buf *buf, struct dafs_fattr *attr);
int dafs_encode_direntries(const struct dafs_buf *buf, struct dafs_seq *entries);
int dafs_decode_direntries(const struct dafs_buf *buf, struct dafs_seq *entries);
int dafs_encode_link(const struct dafs_buf *buf, struct dafs_str *link);
int dafs_decode_link(const struct dafs_buf *buf, struct dafs_str *link);
int dafs_direct_len(const struct dafs_buf *buf, u32 proc);

/* sizes, for a server that must know what still fits */
u32 dafs_fattr_size(const struct dafs_fattr *attr);
u32 dafs_direntry_size(const struct dafs_direntry *entry);

/* elements of decoded arrays; -ERANGE if @i is not one */
int dafs_get_s32(const struct dafs_buf *buf, const struct dafs_seq *seq, u32 i, s32 *v);
int dafs_get_direct_buf(const struct dafs_buf *buf, const struct dafs_seq *seq, u32 i,
			struct dafs_direct_buf *direct_buf);
int dafs_get_fs_locations(const struct dafs_buf *buf, const struct dafs_seq *seq, u32 i,
			  struct dafs_fs_locations *locs);
int dafs_get_fs_location(const struct dafs_buf *buf, const struct dafs_seq *seq, u32 i,
			 struct dafs_fs_location *loc);

/**
 * struct dafs_direntry_iter - walks the entries of a READDIR, and checks them
 * @scope: offset of their array in the buffer
 * @first: end of its fixed part
 * @next: offset of the next entry there
 * @left: entries not yet returned
 * @heap: end of what all entries returned refer to
 * @budget: bytes that the remaining entries may refer to
 */
struct dafs_direntry_iter {
	u32 scope;
	u32 first;
	u32 next;
	u32 left;
	u32 heap;
	u64 budget;
};

void dafs_direntry_start(const struct dafs_buf *buf, const struct dafs_seq *entries,
			 struct dafs_direntry_iter *iter);
int dafs_direntry_next(const struct dafs_buf *buf, struct dafs_direntry_iter *iter,
		       struct dafs_direntry *entry);

/**
 * struct dafs_path_iter - walks a decoded pathname or fence list
 * @pos: offset of the next component in the buffer
 * @left: components not yet returned
 */
struct dafs_path_iter {
	u32 pos;
	u32 left;
};

void dafs_path_start(const struct dafs_seq *path, struct dafs_path_iter *iter);
bool dafs_path_next(const struct dafs_buf *buf, struct dafs_path_iter *iter,
		    struct dafs_str *component);

/**
 * dafs_inline_data_offset() - where the data of an inline write stands
 * @fixed: DAFS_WRITE_INLINE_DATA or DAFS_APPEND_INLINE_DATA
 * @padded: write_padded of the request
 * @inline_header: inline_write_header_size of the session
 *
 * Return: offset from the first byte of the message (4.2.1.1, E-18).
 */
static inline u32 dafs_inline_data_offset(u32 fixed, u32 padded, u32 inline_header)
{
	return padded ? inline_header : fixed;
}

#endif /* _LINUX_DAFS_CODEC_H */
