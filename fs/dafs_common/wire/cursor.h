/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The inside of the codec, shared by all files here.
 *
 * A filter, dafs_x_NAME(), describes one type or message of the draft and
 * serves both directions: encoding it reads the host structure, decoding it
 * fills it.  Filters return nothing.  The first error sticks in the cursor,
 * and every access is checked against the limit of the buffer, so what a
 * filter does after an error is harmless.
 *
 * Filters call each other along the type tree of the draft, which is a few
 * levels deep and never follows the data: a message cannot make them recurse.
 */
#ifndef _DAFS_COMMON_CODEC_H
#define _DAFS_COMMON_CODEC_H

#include <linux/align.h>
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/dafs/codec.h>

/* Longer buffers are refused, so that 32-bit positions never wrap. */
#define DAFS_BUF_MAX		0x40000000U

/*
 * Heap items may overlap (ruling E-11), so a short message could refer to one
 * long array from every element of another.  All bytes that a message refers to
 * may add up to this multiple of its length; a sender that follows the draft
 * never exceeds one.  It bounds the time of decoding, and of every caller that
 * afterwards walks or copies what was decoded.
 */
#define DAFS_DECODE_WORK	4

/**
 * struct dafs_xdr - the cursor of one encoding or decoding
 * @base: first byte of the buffer
 * @lim: first offset behind the buffer
 * @pos: next byte of the fixed part being processed
 * @scope: origin of the offsets found at @pos (6.1.1.3.2)
 * @first: end of the fixed part of that scope, no item begins before it
 * @heap: encoding: end of what has been placed; decoding: end of the items
 *	seen so far
 * @budget: decoding: bytes that items may still claim, see DAFS_DECODE_WORK
 * @err: zero, or why the cursor stopped
 * @encode: direction
 * @swab: the buffer has the other byte order
 */
struct dafs_xdr {
	u8 *base;
	u32 lim;
	u32 pos;
	u32 scope;
	u32 first;
	u32 heap;
	u64 budget;
	int err;
	bool encode;
	bool swab;
};

typedef void (*dafs_filter)(struct dafs_xdr *x, void *host);

/**
 * struct dafs_elem_type - the elements of a kind of counted array
 * @filter: describes one element
 * @host: size of the host structure in bytes
 * @wire: size on the wire in bytes
 * @head: bytes from the count to the first element: 4, or 8 if the elements
 *	are 8-aligned
 * @deep: elements refer to items of their own, which decoding the array must check
 */
struct dafs_elem_type {
	dafs_filter filter;
	u16 host;
	u16 wire;
	u8 head;
	bool deep;
};

/**
 * struct dafs_outer - what dafs_x_enter() saves for dafs_x_leave()
 * @scope: the scope around
 * @first: end of its fixed part
 */
struct dafs_outer {
	u32 scope;
	u32 first;
};

/**
 * dafs_x_fail() - stop the cursor; the first reason is the one reported
 * @x: cursor
 */
static inline void dafs_x_fail(struct dafs_xdr *x)
{
	if (!x->err)
		x->err = x->encode ? -EMSGSIZE : -EBADMSG;
}

/**
 * dafs_x_span() - take the next bytes of the fixed part
 * @x: cursor
 * @align: alignment, a power of two
 * @size: bytes
 *
 * Return: the bytes; NULL, and an error sticks, if they are not in the buffer.
 */
static inline u8 *dafs_x_span(struct dafs_xdr *x, u32 align, u32 size)
{
	u32 pos = ALIGN(x->pos, align);

	if (unlikely(x->err || pos > x->lim || size > x->lim - pos)) {
		dafs_x_fail(x);
		return NULL;
	}
	x->pos = pos + size;
	return x->base + pos;
}

/**
 * dafs_x_u16() - a dafs_uint16, 6.1.1.4
 * @x: cursor
 * @v: the number
 */
static inline void dafs_x_u16(struct dafs_xdr *x, u16 *v)
{
	u8 *p = dafs_x_span(x, 2, 2);

	if (!p)
		return;
	if (x->encode)
		dafs_put16(*v, p, x->swab);
	else
		*v = dafs_get16(p, x->swab);
}

/**
 * dafs_x_u32() - a dafs_uint32 or an enumeration, 6.1.1.4
 * @x: cursor
 * @v: the number
 */
static inline void dafs_x_u32(struct dafs_xdr *x, u32 *v)
{
	u8 *p = dafs_x_span(x, 4, 4);

	if (!p)
		return;
	if (x->encode)
		dafs_put32(*v, p, x->swab);
	else
		*v = dafs_get32(p, x->swab);
}

/**
 * dafs_x_u64() - a dafs_uint64, 6.1.1.4
 * @x: cursor
 * @v: the number
 */
static inline void dafs_x_u64(struct dafs_xdr *x, u64 *v)
{
	u8 *p = dafs_x_span(x, 8, 8);

	if (!p)
		return;
	if (x->encode)
		dafs_put64(*v, p, x->swab);
	else
		*v = dafs_get64(p, x->swab);
}

/**
 * dafs_x_s32() - a dafs_int32, 6.1.1.4
 * @x: cursor
 * @v: the number
 */
static inline void dafs_x_s32(struct dafs_xdr *x, s32 *v)
{
	dafs_x_u32(x, (u32 *)v);
}

/**
 * dafs_x_status() - a dafs_status, chapter 7
 * @x: cursor
 * @v: the status
 */
static inline void dafs_x_status(struct dafs_xdr *x, dafs_status_t *v)
{
	dafs_x_u32(x, (__force u32 *)v);
}

/**
 * dafs_x_bool8() - a dafs_boolean of one byte, 6.1.1.4
 * @x: cursor
 * @v: sent as 0 or 1; any nonzero value received is TRUE and reads as 1 (E-16)
 */
static inline void dafs_x_bool8(struct dafs_xdr *x, u8 *v)
{
	u8 *p = dafs_x_span(x, 1, 1);

	if (!p)
		return;
	if (x->encode)
		*p = !!*v;
	else
		*v = !!*p;
}

/**
 * dafs_x_bool32() - a flag that the draft declares as dafs_uint32 (E-16)
 * @x: cursor
 * @v: as for dafs_x_bool8()
 */
static inline void dafs_x_bool32(struct dafs_xdr *x, u32 *v)
{
	u32 flag = !!*v;

	dafs_x_u32(x, &flag);
	if (!x->encode)
		*v = !!flag;
}

/**
 * dafs_x_opaque() - bytes whose order is never changed, 6.1.1.4
 * @x: cursor
 * @v: the bytes
 * @align: alignment of the type
 * @size: bytes in all
 */
static inline void dafs_x_opaque(struct dafs_xdr *x, void *v, u32 align, u32 size)
{
	u8 *p = dafs_x_span(x, align, size);

	if (!p)
		return;
	if (x->encode)
		memcpy(p, v, size);
	else
		memcpy(v, p, size);
}

/**
 * dafs_x_opaque32() - a dafs_opaque32
 * @x: cursor
 * @v: four bytes
 */
static inline void dafs_x_opaque32(struct dafs_xdr *x, u8 *v)
{
	dafs_x_opaque(x, v, 4, 4);
}

/**
 * dafs_x_opaque64() - a dafs_opaque64: an id or verifier
 * @x: cursor
 * @v: eight bytes
 */
static inline void dafs_x_opaque64(struct dafs_xdr *x, u8 *v)
{
	dafs_x_opaque(x, v, 8, 8);
}

/**
 * dafs_x_fh() - dafs_filehandle_type, 6.1.4
 * @x: cursor
 * @fh: filehandle
 */
static inline void dafs_x_fh(struct dafs_xdr *x, struct dafs_fh *fh)
{
	BUILD_BUG_ON(sizeof(*fh) != DAFS_FH_SIZE);
	dafs_x_opaque(x, fh, 8, DAFS_FH_SIZE);
}

/**
 * dafs_x_cksum() - dafs_checksum_type, 3.2.5
 * @x: cursor
 * @sum: the sums as integers of the session
 */
static inline void dafs_x_cksum(struct dafs_xdr *x, struct dafs_cksum *sum)
{
	dafs_x_u16(x, &sum->s2);
	dafs_x_u16(x, &sum->s1);
}

/**
 * dafs_x_skip() - skip unused space
 * @x: cursor
 * @align: alignment of the unused members
 * @size: bytes
 *
 * It was zeroed when its place was fixed, and is ignored when received.
 */
static inline void dafs_x_skip(struct dafs_xdr *x, u32 align, u32 size)
{
	dafs_x_span(x, align, size);
}

/**
 * dafs_x_union_end() - go to the end of a union (6.1.1.1)
 * @x: cursor, behind the arm that was processed
 * @start: where the union began, from dafs_x_align()
 * @size: bytes that each of its arms takes
 *
 * Not checked, because a message may end where the chosen arm does.
 */
static inline void dafs_x_union_end(struct dafs_xdr *x, u32 start, u32 size)
{
	x->pos = start + size;
}

/**
 * dafs_x_align() - go to the position of a member with this alignment
 * @x: cursor
 * @align: alignment, a power of two
 *
 * Return: that position.
 */
static inline u32 dafs_x_align(struct dafs_xdr *x, u32 align)
{
	x->pos = ALIGN(x->pos, align);
	return x->pos;
}

/* cursor.c */
int dafs_x_init(struct dafs_xdr *x, const struct dafs_buf *buf, bool encode, u32 start);
u32 dafs_x_peek_u32(struct dafs_xdr *x);
void dafs_x_item(struct dafs_xdr *x, u64 size);
void dafs_x_item_short(struct dafs_xdr *x, u64 size);
bool dafs_x_follow(struct dafs_xdr *x, u32 *resume);
void dafs_x_enter(struct dafs_xdr *x, struct dafs_outer *outer, u64 fixed);
void dafs_x_leave(struct dafs_xdr *x, const struct dafs_outer *outer);
void dafs_x_str_here(struct dafs_xdr *x, struct dafs_str *str);
void dafs_x_str(struct dafs_xdr *x, struct dafs_str *str);
void dafs_x_path(struct dafs_xdr *x, struct dafs_seq *path);
void dafs_x_seq_here(struct dafs_xdr *x, struct dafs_seq *seq,
		     const struct dafs_elem_type *type);
void dafs_x_seq(struct dafs_xdr *x, struct dafs_seq *seq, const struct dafs_elem_type *type);
void dafs_x_inline(struct dafs_xdr *x, const u8 **data, u32 at, u32 len, bool padded);
int dafs_x_element(const struct dafs_buf *buf, const struct dafs_seq *seq, u32 i,
		   const struct dafs_elem_type *type, void *host);

/* types.c */
extern const struct dafs_elem_type dafs_elem_s32;
extern const struct dafs_elem_type dafs_elem_direct_buf;
extern const struct dafs_elem_type dafs_elem_file_chunk;
extern const struct dafs_elem_type dafs_elem_rw_request;
extern const struct dafs_elem_type dafs_elem_completion;
extern const struct dafs_elem_type dafs_elem_authtype;

void dafs_x_specdata(struct dafs_xdr *x, struct dafs_specdata *spec);
void dafs_x_change_info(struct dafs_xdr *x, struct dafs_change_info *info);
void dafs_x_direct_buf(struct dafs_xdr *x, struct dafs_direct_buf *buf);

/* attr.c */
extern const struct dafs_elem_type dafs_elem_ace;
extern const struct dafs_elem_type dafs_elem_fs_location;
extern const struct dafs_elem_type dafs_elem_fs_locations;
extern const struct dafs_elem_type dafs_elem_direntry;

void dafs_x_fattr_here(struct dafs_xdr *x, struct dafs_fattr *attr);
void dafs_x_fattr(struct dafs_xdr *x, struct dafs_fattr *attr);
void dafs_x_fsattr(struct dafs_xdr *x, struct dafs_fsattr *attr);

#endif /* _DAFS_COMMON_CODEC_H */
