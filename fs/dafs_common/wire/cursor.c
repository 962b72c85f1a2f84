// SPDX-License-Identifier: GPL-2.0
/*
 * The bounded cursor under every DAFS message: offsets, scopes, the heap,
 * strings and counted arrays (draft chapter 6.1.1).
 *
 * All positions are counted from the first byte of the buffer, which is also
 * the origin of alignment.  Encoding zeroes each part of the message when its
 * place is fixed and then fills in the fields, so padding needs no extra code.
 * Decoding trusts nothing: a position is used only after it was compared
 * with the end of the buffer.
 */
#include <linux/export.h>
#include "cursor.h"

/**
 * dafs_x_init() - set up a cursor
 * @x: cursor
 * @buf: buffer to encode into or to decode from
 * @encode: direction
 * @start: start of the outermost scope: behind the header of a message, 0 in a
 *	direct metadata buffer
 *
 * Return: 0, or -EMSGSIZE (encoding) or -EBADMSG (decoding) if the buffer
 * is shorter than @start bytes or too long.
 */
int dafs_x_init(struct dafs_xdr *x, const struct dafs_buf *buf, bool encode, u32 start)
{
	*x = (struct dafs_xdr) {
		.base = buf->base,
		.lim = buf->len,
		.pos = start,
		.scope = start,
		.first = start,
		.heap = start,
		.budget = (u64)buf->len * DAFS_DECODE_WORK,
		.encode = encode,
		.swab = buf->swab,
	};
	if (buf->len > DAFS_BUF_MAX || start > buf->len)
		dafs_x_fail(x);
	return x->err;
}

static void dafs_x_place(struct dafs_xdr *x, u32 size)
{
	memset(x->base + x->heap, 0, x->pos - x->heap + size);
	x->heap = x->pos + size;
}

static void dafs_x_claim(struct dafs_xdr *x, u32 size)
{
	if (size > x->budget) {
		dafs_x_fail(x);
		return;
	}
	x->budget -= size;
	x->heap = max(x->heap, x->pos + size);
}

/**
 * dafs_x_item() - make sure of the bytes of an item
 * @x: cursor, at the first byte of the item
 * @size: bytes
 *
 * Encoding: takes the bytes for the item and zeroes them together with the
 * pad before them.  Decoding: checks that they are in the buffer and within
 * the work that the message may cause.
 */
void dafs_x_item(struct dafs_xdr *x, u64 size)
{
	if (x->err || x->pos > x->lim || size > x->lim - x->pos)
		dafs_x_fail(x);
	else if (x->encode)
		dafs_x_place(x, size);
	else
		dafs_x_claim(x, size);
}

/**
 * dafs_x_item_short() - make sure of the bytes of an item that may end in a pad
 * @x: cursor, at the first byte of the item
 * @size: bytes with the pad
 *
 * As dafs_x_item(), but a received item may lack a part of its trailing pad,
 * or all of it, when nothing follows (E-12).
 */
void dafs_x_item_short(struct dafs_xdr *x, u64 size)
{
	if (!x->encode && x->pos <= x->lim)
		size = min_t(u64, size, x->lim - x->pos);
	dafs_x_item(x, size);
}

/**
 * dafs_x_follow() - go where an offset field points (6.1.1.3.2)
 * @x: cursor, at the offset field
 * @resume: set to the position behind the field, where the caller continues
 *
 * Encoding writes the offset of the next free place on the heap, and the
 * caller must put an item there.
 *
 * Return: true if there is an item, the cursor is at it; false for offset 0,
 * which stands for an empty one (E-11), and after an error.
 */
bool dafs_x_follow(struct dafs_xdr *x, u32 *resume)
{
	u32 off = ALIGN(x->heap, 8) - x->scope;

	dafs_x_u32(x, &off);
	*resume = x->pos;
	if (x->err || !off)
		return false;
	if (!x->encode && (off % 8 || off < x->first - x->scope || off > x->lim - x->scope)) {
		dafs_x_fail(x);
		return false;
	}
	x->pos = x->scope + off;
	return true;
}

/**
 * dafs_x_enter() - begin an inner scope
 * @x: cursor, at the first byte of an array or an attribute structure
 * @outer: where to save the scope around
 * @fixed: size of that item in bytes, without those it refers to
 */
void dafs_x_enter(struct dafs_xdr *x, struct dafs_outer *outer, u64 fixed)
{
	outer->scope = x->scope;
	outer->first = x->first;
	x->scope = x->pos;
	x->first = x->pos + fixed;
}

/**
 * dafs_x_leave() - end an inner scope
 * @x: cursor
 * @outer: from dafs_x_enter()
 */
void dafs_x_leave(struct dafs_xdr *x, const struct dafs_outer *outer)
{
	x->scope = outer->scope;
	x->first = outer->first;
}

/**
 * dafs_x_peek_u32() - read a received number without advancing
 * @x: cursor, at the count of an item or at an offset field
 *
 * Return: the number; 0 if it is not in the buffer.
 */
u32 dafs_x_peek_u32(struct dafs_xdr *x)
{
	u32 pos = x->pos;
	u32 count = 0;

	dafs_x_u32(x, &count);
	x->pos = pos;
	return count;
}

/**
 * dafs_x_str_here() - a utf8string or opaque8<> at the cursor
 * @x: cursor
 * @str: the string
 */
void dafs_x_str_here(struct dafs_xdr *x, struct dafs_str *str)
{
	u8 *p;

	if (!x->encode)
		str->len = dafs_x_peek_u32(x);
	dafs_x_item(x, sizeof(u32) + (u64)str->len);
	if (x->err)
		return;
	p = x->base + x->pos;
	x->pos += sizeof(u32) + str->len;
	if (!x->encode) {
		str->data = p + sizeof(u32);
		return;
	}
	dafs_put32(str->len, p, x->swab);
	if (str->len)
		memcpy(p + sizeof(u32), str->data, str->len);
}

/**
 * dafs_x_str() - a utf8string or opaque8<> behind an offset
 * @x: cursor, at the offset field
 * @str: the string
 */
void dafs_x_str(struct dafs_xdr *x, struct dafs_str *str)
{
	u32 resume;

	if (dafs_x_follow(x, &resume))
		dafs_x_str_here(x, str);
	x->pos = resume;
}

static void dafs_x_components(struct dafs_xdr *x, const struct dafs_seq *path)
{
	struct dafs_str *elems = (struct dafs_str *)path->elems;
	struct dafs_str received = {};
	u32 i;

	/* each iteration advances the cursor by 8 bytes or fails */
	for (i = 0; i < path->count && !x->err; i++) {
		dafs_x_align(x, 8);
		dafs_x_str_here(x, x->encode ? &elems[i] : &received);
	}
}

/**
 * dafs_x_path() - a pathname, or a fence list (E-09), behind an offset
 * @x: cursor, at the offset field
 * @path: struct dafs_str elements
 *
 * The one array whose elements have no offsets but follow each other, each at
 * a multiple of 8 (6.1.1.3.1).
 */
void dafs_x_path(struct dafs_xdr *x, struct dafs_seq *path)
{
	u32 resume;

	if (dafs_x_follow(x, &resume)) {
		if (!x->encode) {
			path->scope = x->pos;
			path->count = dafs_x_peek_u32(x);
		}
		dafs_x_item_short(x, 2 * sizeof(u32));
		dafs_x_u32(x, &path->count);
		dafs_x_components(x, path);
	}
	x->pos = resume;
}

/* target for elements that are decoded only to check them */
union dafs_any_elem {
	struct dafs_rw_request rw_request;
	struct dafs_ace ace;
	struct dafs_authtype authtype;
	struct dafs_fs_locations locations;
	struct dafs_fs_location location;
};

static void dafs_x_put_elems(struct dafs_xdr *x, const struct dafs_seq *seq,
			     const struct dafs_elem_type *type)
{
	u32 i;

	for (i = 0; i < seq->count && !x->err; i++) {
		x->pos = x->scope + type->head + i * type->wire;
		type->filter(x, (void *)(seq->elems + (size_t)i * type->host));
	}
}

static void dafs_x_check_elems(struct dafs_xdr *x, const struct dafs_seq *seq,
			       const struct dafs_elem_type *type)
{
	union dafs_any_elem received = {};
	u32 i;

	for (i = 0; i < seq->count && !x->err; i++) {
		x->pos = x->scope + type->head + i * type->wire;
		type->filter(x, &received);
	}
}

static u64 dafs_seq_size(const struct dafs_seq *seq, const struct dafs_elem_type *type)
{
	return type->head + (u64)seq->count * type->wire;
}

/**
 * dafs_x_seq_here() - a counted array at the cursor
 * @x: cursor
 * @seq: the array
 * @type: of its elements
 *
 * Decoding checks the whole array, with everything its elements refer to, so that reading
 * them later cannot fail.  Entries of a READDIR are an exception, see dafs_direntry_next().
 */
void dafs_x_seq_here(struct dafs_xdr *x, struct dafs_seq *seq, const struct dafs_elem_type *type)
{
	struct dafs_outer outer;
	u64 size;

	if (!x->encode) {
		seq->scope = x->pos;
		seq->count = dafs_x_peek_u32(x);
	}
	size = dafs_seq_size(seq, type);
	if (seq->count)
		dafs_x_item(x, size);
	else
		dafs_x_item_short(x, size);
	dafs_x_enter(x, &outer, size);
	dafs_x_u32(x, &seq->count);
	if (x->encode)
		dafs_x_put_elems(x, seq, type);
	else if (type->deep)
		dafs_x_check_elems(x, seq, type);
	dafs_x_leave(x, &outer);
}

/**
 * dafs_x_seq() - a counted array behind an offset
 * @x: cursor, at the offset field
 * @seq: the array
 * @type: of its elements
 */
void dafs_x_seq(struct dafs_xdr *x, struct dafs_seq *seq, const struct dafs_elem_type *type)
{
	u32 resume;

	if (dafs_x_follow(x, &resume))
		dafs_x_seq_here(x, seq, type);
	x->pos = resume;
}

/**
 * dafs_x_inline() - the data of an inline read, write or append (E-17)
 * @x: cursor; the data has neither an offset nor a count
 * @data: the data; encoding: NULL leaves room that the caller fills
 * @at: position of the data in the message, in bytes
 * @len: bytes of data
 * @padded: the position is the negotiated one, and nothing but a pad of up to
 *	seven bytes may follow the data (E-18)
 */
void dafs_x_inline(struct dafs_xdr *x, const u8 **data, u32 at, u32 len, bool padded)
{
	if (x->err || at < x->first || at > x->lim || len > x->lim - at) {
		dafs_x_fail(x);
		return;
	}
	if (!x->encode) {
		*data = x->base + at;
		if (padded && x->lim - at - len > 7)
			dafs_x_fail(x);
		return;
	}
	x->pos = at;
	dafs_x_place(x, 0);
	if (*data)
		memcpy(x->base + at, *data, len);
	x->heap = at + len;
}

/**
 * dafs_x_element() - read one element of a decoded array
 * @buf: buffer that the array is in
 * @seq: the array
 * @i: index
 * @type: of the elements
 * @host: filled; @type->host bytes
 *
 * Return: 0; -ERANGE if there is no such element; -EBADMSG if the array is not
 * one that was decoded from @buf.
 */
int dafs_x_element(const struct dafs_buf *buf, const struct dafs_seq *seq, u32 i,
		   const struct dafs_elem_type *type, void *host)
{
	u64 size = dafs_seq_size(seq, type);
	struct dafs_xdr x;
	int err;

	if (i >= seq->count)
		return -ERANGE;
	err = dafs_x_init(&x, buf, false, seq->scope);
	if (err)
		return err;
	if (size > x.lim - x.pos)
		return -EBADMSG;
	memset(host, 0, type->host);
	x.first = x.scope + size;
	x.pos = x.scope + type->head + i * type->wire;
	type->filter(&x, host);
	return x.err;
}

/**
 * dafs_path_start() - begin to walk a pathname or a fence list
 * @path: from a decoded message
 * @iter: set to its first component
 */
void dafs_path_start(const struct dafs_seq *path, struct dafs_path_iter *iter)
{
	iter->pos = path->scope + 2 * sizeof(u32);
	iter->left = path->count;
}
EXPORT_SYMBOL_GPL(dafs_path_start);

/**
 * dafs_path_next() - the next component of a pathname or fence list
 * @buf: buffer that the path was decoded from
 * @iter: from dafs_path_start()
 * @component: filled; points into the buffer
 *
 * Return: false when there are no more.
 */
bool dafs_path_next(const struct dafs_buf *buf, struct dafs_path_iter *iter,
		    struct dafs_str *component)
{
	struct dafs_xdr x;

	if (!iter->left || dafs_x_init(&x, buf, false, ALIGN(iter->pos, 8)))
		return false;
	dafs_x_str_here(&x, component);
	iter->pos = x.pos;
	iter->left--;
	return !x.err;
}
EXPORT_SYMBOL_GPL(dafs_path_next);
