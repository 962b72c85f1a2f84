// SPDX-License-Identifier: GPL-2.0
/*
 * The types that messages are made of: basic structures (6.1.4, 6.1.7) and the
 * elements of counted arrays.
 */
#include <linux/export.h>
#include "cursor.h"

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

const struct dafs_elem_type dafs_elem_file_chunk = {
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
	dafs_x_opaque64(x, req->state_id.b);
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
	dafs_x_status(x, &c->status);
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

/**
 * dafs_get_s32() - one group of REGISTER_CRED
 * @buf: buffer that @seq was decoded from
 * @seq: decoded array
 * @i: index
 * @v: filled
 *
 * Return: 0, or -ERANGE if there is no element @i.
 */
int dafs_get_s32(const struct dafs_buf *buf, const struct dafs_seq *seq, u32 i, s32 *v)
{
	return dafs_x_element(buf, seq, i, &dafs_elem_s32, v);
}
EXPORT_SYMBOL_GPL(dafs_get_s32);

/**
 * dafs_get_direct_buf() - one buffer of a direct operation
 * @buf: buffer that @seq was decoded from
 * @seq: decoded array
 * @i: index
 * @direct_buf: filled
 *
 * Return: 0, or -ERANGE if there is no element @i.
 */
int dafs_get_direct_buf(const struct dafs_buf *buf, const struct dafs_seq *seq, u32 i,
			struct dafs_direct_buf *direct_buf)
{
	return dafs_x_element(buf, seq, i, &dafs_elem_direct_buf, direct_buf);
}
EXPORT_SYMBOL_GPL(dafs_get_direct_buf);
