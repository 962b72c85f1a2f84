// SPDX-License-Identifier: GPL-2.0
/*
 * The types that messages are made of: headers (6.1.2, 6.1.3), basic
 * structures (6.1.4, 6.1.7) and the elements of counted arrays.
 */
#include <linux/export.h>
#include <kunit/visibility.h>
#include "cursor.h"

/**
 * dafs_probe_order() - find out the byte order of a session (E-01)
 * @msg: first bytes of the first message received
 * @len: how many there are
 * @magic: DAFS_REQUEST_MAGIC or DAFS_RESPONSE_MAGIC
 * @swab: set to whether the sender's order is not this machine's
 *
 * Return: 0, or -EBADMSG if no DAFS message begins like this.
 */
int dafs_probe_order(const void *msg, u32 len, u32 magic, bool *swab)
{
	u32 seen;

	if (len < sizeof(seen))
		return -EBADMSG;
	seen = dafs_get32(msg, false);
	if (seen != magic && seen != swab32(magic))
		return -EBADMSG;
	*swab = seen != magic;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(dafs_probe_order);

static void dafs_x_req_hdr(struct dafs_xdr *x, struct dafs_req_hdr *hdr, u32 *magic)
{
	struct dafs_cksum none = {};

	dafs_x_u32(x, magic);
	dafs_x_u32(x, &hdr->version);
	dafs_x_u16(x, &hdr->desired_nreq);
	dafs_x_u16(x, &hdr->chain_flags);
	dafs_x_u16(x, &hdr->stream_id);
	dafs_x_u16(x, &hdr->seq_number);
	dafs_x_opaque(x, hdr->analyzer, 8, sizeof(hdr->analyzer));
	dafs_x_cksum(x, &none);
	dafs_x_opaque32(x, hdr->cred_handle);
	dafs_x_u32(x, &hdr->procedure);
	dafs_x_u32(x, &hdr->len);
}

static void dafs_x_res_hdr(struct dafs_xdr *x, struct dafs_res_hdr *hdr, u32 *magic)
{
	struct dafs_cksum none = {};
	u32 reserved = 0;

	dafs_x_u32(x, magic);
	dafs_x_u32(x, &hdr->version);
	dafs_x_u16(x, &hdr->target_nreq);
	dafs_x_u16(x, &hdr->spec_cond);
	dafs_x_u16(x, &hdr->stream_id);
	dafs_x_u16(x, &hdr->seq_number);
	dafs_x_opaque(x, hdr->analyzer, 8, sizeof(hdr->analyzer));
	dafs_x_cksum(x, &none);
	dafs_x_u32(x, &hdr->status);
	dafs_x_u32(x, &hdr->len);
	dafs_x_u32(x, &reserved);
}

/* a header that was decoded without error still has to make sense */
static int dafs_check_hdr(const struct dafs_xdr *x, u32 magic, u32 want, u32 len)
{
	if (x->err)
		return x->err;
	if (magic != want || len < DAFS_HDR_SIZE || len > x->lim)
		return -EBADMSG;
	return 0;
}

/**
 * dafs_put_req_hdr() - write a request header, checksum zero (6.1.2)
 * @s: stream of at least DAFS_HDR_SIZE bytes
 * @hdr: the header
 */
void dafs_put_req_hdr(const struct dafs_stream *s, const struct dafs_req_hdr *hdr)
{
	u32 magic = DAFS_REQUEST_MAGIC;
	struct dafs_xdr x;

	if (!dafs_x_init(&x, s, true, 0))
		dafs_x_req_hdr(&x, (struct dafs_req_hdr *)hdr, &magic);
}
EXPORT_SYMBOL_IF_KUNIT(dafs_put_req_hdr);

/**
 * dafs_get_req_hdr() - read a request header (6.1.2)
 * @s: the bytes received
 * @hdr: filled
 *
 * Return: 0, or -EBADMSG if this is no request in the order of the stream or
 * its length is not between DAFS_HDR_SIZE and the bytes received (E-12).
 */
int dafs_get_req_hdr(const struct dafs_stream *s, struct dafs_req_hdr *hdr)
{
	struct dafs_xdr x;
	u32 magic = 0;

	memset(hdr, 0, sizeof(*hdr));
	if (!dafs_x_init(&x, s, false, 0))
		dafs_x_req_hdr(&x, hdr, &magic);
	return dafs_check_hdr(&x, magic, DAFS_REQUEST_MAGIC, hdr->len);
}
EXPORT_SYMBOL_IF_KUNIT(dafs_get_req_hdr);

/**
 * dafs_put_res_hdr() - write a response header, checksum zero (6.1.3)
 * @s: stream of at least DAFS_HDR_SIZE bytes
 * @hdr: the header
 */
void dafs_put_res_hdr(const struct dafs_stream *s, const struct dafs_res_hdr *hdr)
{
	u32 magic = DAFS_RESPONSE_MAGIC;
	struct dafs_xdr x;

	if (!dafs_x_init(&x, s, true, 0))
		dafs_x_res_hdr(&x, (struct dafs_res_hdr *)hdr, &magic);
}
EXPORT_SYMBOL_IF_KUNIT(dafs_put_res_hdr);

/**
 * dafs_get_res_hdr() - read a response header (6.1.3)
 * @s: the bytes received
 * @hdr: filled
 *
 * Return: 0, or -EBADMSG if this is no response in the order of the stream or
 * its length is not between DAFS_HDR_SIZE and the bytes received (E-12).
 */
int dafs_get_res_hdr(const struct dafs_stream *s, struct dafs_res_hdr *hdr)
{
	struct dafs_xdr x;
	u32 magic = 0;

	memset(hdr, 0, sizeof(*hdr));
	if (!dafs_x_init(&x, s, false, 0))
		dafs_x_res_hdr(&x, hdr, &magic);
	return dafs_check_hdr(&x, magic, DAFS_RESPONSE_MAGIC, hdr->len);
}
EXPORT_SYMBOL_IF_KUNIT(dafs_get_res_hdr);

/**
 * dafs_x_specdata() - dafs_specdata_type, 6.1.4
 * @x: cursor
 * @spec: device numbers
 */
void dafs_x_specdata(struct dafs_xdr *x, struct dafs_specdata *spec)
{
	dafs_x_u64(x, &spec->specdata1);
	dafs_x_u64(x, &spec->specdata2);
}

/**
 * dafs_x_change_info() - dafs_change_info_type, 6.1.4
 * @x: cursor
 * @info: the directory before and after
 */
void dafs_x_change_info(struct dafs_xdr *x, struct dafs_change_info *info)
{
	dafs_x_u64(x, &info->before);
	dafs_x_u64(x, &info->after);
	dafs_x_bool32(x, &info->atomic);
	dafs_x_skip(x, 4, 4);
}

/**
 * dafs_x_direct_buf() - dafs_direct_op_buffer, 6.1.7
 * @x: cursor
 * @buf: memory of the client
 */
void dafs_x_direct_buf(struct dafs_xdr *x, struct dafs_direct_buf *buf)
{
	dafs_x_u64(x, &buf->buffer_address);
	dafs_x_u32(x, &buf->buffer_byte_count);
	dafs_x_u32(x, &buf->buffer_handle);
}

static void dafs_x_elem_s32(struct dafs_xdr *x, void *p)
{
	dafs_x_s32(x, p);
}

const struct dafs_elem_type dafs_elem_s32 = {
	.filter = dafs_x_elem_s32,
	.host = sizeof(s32),
	.wire = 4,
	.head = 4,
};

static void dafs_x_elem_direct_buf(struct dafs_xdr *x, void *p)
{
	dafs_x_direct_buf(x, p);
}

const struct dafs_elem_type dafs_elem_direct_buf = {
	.filter = dafs_x_elem_direct_buf,
	.host = sizeof(struct dafs_direct_buf),
	.wire = 16,
	.head = 8,
};

static void dafs_x_file_chunk(struct dafs_xdr *x, void *p)
{
	struct dafs_file_chunk *chunk = p;

	dafs_x_u64(x, &chunk->offset);
	dafs_x_u32(x, &chunk->byte_count);
	dafs_x_u32(x, &chunk->cache_hint);
}

static const struct dafs_elem_type dafs_elem_file_chunk = {
	.filter = dafs_x_file_chunk,
	.host = sizeof(struct dafs_file_chunk),
	.wire = 16,
	.head = 8,
};

static void dafs_x_rw_request(struct dafs_xdr *x, void *p)
{
	struct dafs_rw_request *req = p;

	dafs_x_fh(x, &req->filehandle);
	dafs_x_u64(x, &req->request_id);
	dafs_x_opaque64(x, &req->state_id);
	dafs_x_u32(x, &req->rw_flag);
	dafs_x_seq(x, &req->chunks, &dafs_elem_file_chunk);
	dafs_x_seq(x, &req->request_buffers, &dafs_elem_direct_buf);
	dafs_x_cksum(x, &req->direct_checksum);
}

const struct dafs_elem_type dafs_elem_rw_request = {
	.filter = dafs_x_rw_request,
	.host = sizeof(struct dafs_rw_request),
	.wire = 96,
	.head = 8,
	.deep = true,
};

static void dafs_x_completion(struct dafs_xdr *x, void *p)
{
	struct dafs_completion *c = p;

	dafs_x_u64(x, &c->request_id);
	dafs_x_u32(x, &c->status);
	dafs_x_u32(x, &c->bytes_transferred);
	dafs_x_cksum(x, &c->direct_checksum);
	dafs_x_skip(x, 4, 4);
}

const struct dafs_elem_type dafs_elem_completion = {
	.filter = dafs_x_completion,
	.host = sizeof(struct dafs_completion),
	.wire = 24,
	.head = 8,
};

static void dafs_x_authtype(struct dafs_xdr *x, void *p)
{
	struct dafs_authtype *auth = p;

	dafs_x_u32(x, &auth->auth_type);
	if (auth->auth_type == DAFS_AUTH_GSS) {
		dafs_x_str(x, &auth->oid);
		dafs_x_u32(x, &auth->qop);
		dafs_x_u32(x, &auth->gss_service);
	} else {
		dafs_x_skip(x, 4, 12);
	}
}

const struct dafs_elem_type dafs_elem_authtype = {
	.filter = dafs_x_authtype,
	.host = sizeof(struct dafs_authtype),
	.wire = 16,
	.head = 4,
	.deep = true,
};

static void dafs_x_direntry(struct dafs_xdr *x, void *p)
{
	struct dafs_direntry *entry = p;

	dafs_x_u64(x, &entry->cookie);
	dafs_x_fattr(x, &entry->attrs);
	dafs_x_str(x, &entry->name);
}

/* Not checked with the array: there are many, and each is looked at just once. */
const struct dafs_elem_type dafs_elem_direntry = {
	.filter = dafs_x_direntry,
	.host = sizeof(struct dafs_direntry),
	.wire = 16,
	.head = 8,
};

/**
 * dafs_get_s32() - one group of REGISTER_CRED
 * @s: stream that @seq was decoded from
 * @seq: decoded array
 * @i: index
 * @v: filled
 *
 * Return: 0, or -ERANGE if there is no element @i.
 */
int dafs_get_s32(const struct dafs_stream *s, const struct dafs_seq *seq, u32 i, s32 *v)
{
	return dafs_x_element(s, seq, i, &dafs_elem_s32, v);
}
EXPORT_SYMBOL_GPL(dafs_get_s32);

/**
 * dafs_get_direct_buf() - one buffer of a direct operation
 * @s: stream that @seq was decoded from
 * @seq: decoded array
 * @i: index
 * @buf: filled
 *
 * Return: 0, or -ERANGE if there is no element @i.
 */
int dafs_get_direct_buf(const struct dafs_stream *s, const struct dafs_seq *seq, u32 i,
			struct dafs_direct_buf *buf)
{
	return dafs_x_element(s, seq, i, &dafs_elem_direct_buf, buf);
}
EXPORT_SYMBOL_GPL(dafs_get_direct_buf);

/**
 * dafs_get_file_chunk() - one chunk of a batch request
 * @s: stream that @seq was decoded from
 * @seq: decoded array
 * @i: index
 * @chunk: filled
 *
 * Return: 0, or -ERANGE if there is no element @i.
 */
int dafs_get_file_chunk(const struct dafs_stream *s, const struct dafs_seq *seq, u32 i,
			struct dafs_file_chunk *chunk)
{
	return dafs_x_element(s, seq, i, &dafs_elem_file_chunk, chunk);
}
EXPORT_SYMBOL_IF_KUNIT(dafs_get_file_chunk);

/**
 * dafs_get_rw_request() - one request of a batch
 * @s: stream that @seq was decoded from
 * @seq: decoded array
 * @i: index
 * @req: filled; its arrays are read with the accessors too
 *
 * Return: 0, or -ERANGE if there is no element @i.
 */
int dafs_get_rw_request(const struct dafs_stream *s, const struct dafs_seq *seq, u32 i,
			struct dafs_rw_request *req)
{
	return dafs_x_element(s, seq, i, &dafs_elem_rw_request, req);
}
EXPORT_SYMBOL_IF_KUNIT(dafs_get_rw_request);

/**
 * dafs_get_completion() - one completion of a batch
 * @s: stream that @seq was decoded from
 * @seq: decoded array
 * @i: index
 * @c: filled
 *
 * Return: 0, or -ERANGE if there is no element @i.
 */
int dafs_get_completion(const struct dafs_stream *s, const struct dafs_seq *seq, u32 i,
			struct dafs_completion *c)
{
	return dafs_x_element(s, seq, i, &dafs_elem_completion, c);
}
EXPORT_SYMBOL_IF_KUNIT(dafs_get_completion);

/**
 * dafs_get_authtype() - one way of authentication that SECINFO offers
 * @s: stream that @seq was decoded from
 * @seq: decoded array
 * @i: index
 * @auth: filled
 *
 * Return: 0, or -ERANGE if there is no element @i.
 */
int dafs_get_authtype(const struct dafs_stream *s, const struct dafs_seq *seq, u32 i,
		      struct dafs_authtype *auth)
{
	return dafs_x_element(s, seq, i, &dafs_elem_authtype, auth);
}
EXPORT_SYMBOL_GPL(dafs_get_authtype);

/**
 * dafs_direntry_start() - begin to walk the entries of a READDIR
 * @s: stream that @entries was decoded from
 * @entries: decoded array
 * @iter: set to its first entry
 */
void dafs_direntry_start(const struct dafs_stream *s, const struct dafs_seq *entries,
			 struct dafs_direntry_iter *iter)
{
	u32 size = dafs_elem_direntry.head + entries->count * dafs_elem_direntry.wire;

	*iter = (struct dafs_direntry_iter) {
		.scope = entries->scope,
		.first = entries->scope + size,
		.next = entries->scope + dafs_elem_direntry.head,
		.left = entries->count,
		.heap = entries->scope + size,
		.budget = (u64)s->len * DAFS_DECODE_WORK - size,
	};
}
EXPORT_SYMBOL_GPL(dafs_direntry_start);

/**
 * dafs_direntry_next() - decode the next entry of a READDIR
 * @s: stream that the entries were decoded from
 * @iter: from dafs_direntry_start()
 * @entry: filled; refers to @s
 *
 * Return: 1; 0 when there are no more; -EBADMSG if the entry is malformed, or
 * -EINVAL if it has attributes that this version does not know (E-20): then
 * nothing behind it can be had.
 */
int dafs_direntry_next(const struct dafs_stream *s, struct dafs_direntry_iter *iter,
		       struct dafs_direntry *entry)
{
	struct dafs_xdr x;

	if (!iter->left)
		return 0;
	if (dafs_x_init(&x, s, false, iter->scope))
		return x.err;
	memset(entry, 0, sizeof(*entry));
	x.pos = iter->next;
	x.first = iter->first;
	x.heap = iter->heap;
	x.budget = iter->budget;
	dafs_x_direntry(&x, entry);
	iter->next = x.pos;
	iter->heap = x.heap;
	iter->budget = x.budget;
	iter->left = x.err ? 0 : iter->left - 1;
	return x.err ?: 1;
}
EXPORT_SYMBOL_GPL(dafs_direntry_next);
