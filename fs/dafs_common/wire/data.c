// SPDX-License-Identifier: GPL-2.0
/*
 * Messages that read, write or append file data, singly or in batches, and
 * those about caching it (6.5, 6.6.2).
 */
#include <linux/align.h>
#include "messages.h"

/* Arguments of CACHE_HINT, 6.5.6 */
void dafs_x_cache_hint_args(struct dafs_xdr *x, void *p)
{
	struct dafs_cache_hint_args *args = p;

	dafs_x_fh(x, &args->filehandle);
	dafs_x_u64(x, &args->offset);
	dafs_x_u32(x, &args->count);
	dafs_x_u32(x, &args->access_pattern);
	dafs_x_u32(x, &args->cache_hint);
}

/* Arguments of COMMIT, 6.5.8 */
void dafs_x_commit_args(struct dafs_xdr *x, void *p)
{
	struct dafs_commit_args *args = p;

	dafs_x_fh(x, &args->filehandle);
	dafs_x_u64(x, &args->offset);
	dafs_x_u32(x, &args->count);
}

/* Results of COMMIT, 6.5.8 */
void dafs_x_commit_res(struct dafs_xdr *x, void *p)
{
	struct dafs_commit_res *res = p;

	dafs_x_opaque64(x, res->writeverf.b);
}

/* Arguments of READ_INLINE, 6.5.27 */
void dafs_x_read_inline_args(struct dafs_xdr *x, void *p)
{
	struct dafs_read_inline_args *args = p;

	dafs_x_fh(x, &args->filehandle);
	dafs_x_opaque64(x, args->state_id.b);
	dafs_x_u64(x, &args->offset);
	dafs_x_u32(x, &args->byte_count);
	dafs_x_u32(x, &args->cache_hint);
}

/* Results of READ_INLINE, 6.5.27 */
void dafs_x_read_inline_res(struct dafs_xdr *x, void *p)
{
	struct dafs_read_inline_res *res = p;

	dafs_x_bool32(x, &res->eof);
	dafs_x_u32(x, &res->bytes_read);
	dafs_x_inline(x, &res->read_data, DAFS_READ_INLINE_DATA, res->bytes_read, false);
}

/* Arguments of READ_DIRECT, 6.5.28 */
void dafs_x_read_direct_args(struct dafs_xdr *x, void *p)
{
	struct dafs_read_direct_args *args = p;

	dafs_x_fh(x, &args->filehandle);
	dafs_x_opaque64(x, args->state_id.b);
	dafs_x_u64(x, &args->offset);
	dafs_x_u32(x, &args->byte_count);
	dafs_x_u32(x, &args->cache_hint);
	dafs_x_seq(x, &args->read_data_buffers, &dafs_elem_direct_buf);
}

/* Results of READ_DIRECT, 6.5.28 */
void dafs_x_read_direct_res(struct dafs_xdr *x, void *p)
{
	struct dafs_read_direct_res *res = p;

	dafs_x_bool32(x, &res->eof);
	dafs_x_u32(x, &res->bytes_read);
	dafs_x_cksum(x, &res->direct_checksum);
}

/* the data of WRITE_INLINE and APPEND_INLINE, behind a fixed part ending at @fixed */
static void dafs_x_write_data(struct dafs_xdr *x, const u8 **data, u32 len, u32 fixed,
			      u32 padded, u32 header)
{
	if (padded && (header < DAFS_WRITE_INLINE_DATA || !IS_ALIGNED(header, 8)))
		dafs_x_fail(x);
	dafs_x_inline(x, data, dafs_inline_data_offset(fixed, padded, header), len, padded);
}

/* Arguments of WRITE_INLINE, 6.5.38 */
void dafs_x_write_inline_args(struct dafs_xdr *x, void *p)
{
	struct dafs_write_inline_args *args = p;

	dafs_x_fh(x, &args->filehandle);
	dafs_x_opaque64(x, args->state_id.b);
	dafs_x_u64(x, &args->offset);
	dafs_x_u32(x, &args->byte_count);
	dafs_x_u32(x, &args->stable_how);
	dafs_x_bool32(x, &args->write_padded);
	dafs_x_u32(x, &args->cache_hint);
	dafs_x_write_data(x, &args->data, args->byte_count, DAFS_WRITE_INLINE_DATA,
			  args->write_padded, args->inline_header);
}

/* Arguments of WRITE_DIRECT, 6.5.39 */
void dafs_x_write_direct_args(struct dafs_xdr *x, void *p)
{
	struct dafs_write_direct_args *args = p;

	dafs_x_fh(x, &args->filehandle);
	dafs_x_opaque64(x, args->state_id.b);
	dafs_x_u64(x, &args->offset);
	dafs_x_u32(x, &args->byte_count);
	dafs_x_u32(x, &args->stable_how);
	dafs_x_u32(x, &args->cache_hint);
	dafs_x_cksum(x, &args->direct_checksum);
	dafs_x_seq(x, &args->write_data_buffers, &dafs_elem_direct_buf);
}

/* Results of WRITE_INLINE, WRITE_DIRECT, 6.5.38, 6.5.39 */
void dafs_x_write_res(struct dafs_xdr *x, void *p)
{
	struct dafs_write_res *res = p;

	dafs_x_u32(x, &res->count);
	dafs_x_u32(x, &res->committed);
	dafs_x_opaque64(x, res->verifier.b);
}

/* Arguments of APPEND_INLINE, 6.5.3 */
void dafs_x_append_inline_args(struct dafs_xdr *x, void *p)
{
	struct dafs_append_inline_args *args = p;

	dafs_x_fh(x, &args->filehandle);
	dafs_x_opaque64(x, args->state_id.b);
	dafs_x_u32(x, &args->stable_how);
	dafs_x_u32(x, &args->byte_count);
	dafs_x_bool32(x, &args->write_padded);
	dafs_x_u32(x, &args->cache_hint);
	dafs_x_write_data(x, &args->data, args->byte_count, DAFS_APPEND_INLINE_DATA,
			  args->write_padded, args->inline_header);
}

/* Arguments of APPEND_DIRECT, 6.5.4 */
void dafs_x_append_direct_args(struct dafs_xdr *x, void *p)
{
	struct dafs_append_direct_args *args = p;

	dafs_x_fh(x, &args->filehandle);
	dafs_x_opaque64(x, args->state_id.b);
	dafs_x_u32(x, &args->stable_how);
	dafs_x_u32(x, &args->byte_count);
	dafs_x_u32(x, &args->cache_hint);
	dafs_x_cksum(x, &args->direct_checksum);
	dafs_x_direct_buf(x, &args->write_data_buffer);
}

/* Results of APPEND_INLINE, APPEND_DIRECT, 6.5.3, 6.5.4 */
void dafs_x_append_res(struct dafs_xdr *x, void *p)
{
	struct dafs_append_res *res = p;

	dafs_x_u64(x, &res->offset);
	dafs_x_opaque64(x, res->verifier.b);
	dafs_x_u32(x, &res->committed);
}

/* Arguments of BATCH_SUBMIT, 6.5.5 */
void dafs_x_batch_submit_args(struct dafs_xdr *x, void *p)
{
	struct dafs_batch_submit_args *args = p;

	dafs_x_seq(x, &args->requests, &dafs_elem_rw_request);
	dafs_x_u32(x, &args->usec_window);
	dafs_x_u32(x, &args->num_completions);
	dafs_x_bool8(x, &args->synchronous);
}

/* Arguments of BC_BATCH_COMPLETION, 6.6.2; results of BATCH_SUBMIT, 6.5.5 */
void dafs_x_batch_completions(struct dafs_xdr *x, void *p)
{
	struct dafs_batch_completions *batch = p;

	dafs_x_seq(x, &batch->completions, &dafs_elem_completion);
}

/* Arguments of HURRY_UP, 6.5.16 */
void dafs_x_hurry_up_args(struct dafs_xdr *x, void *p)
{
	struct dafs_hurry_up_args *args = p;

	dafs_x_u64(x, &args->request_id);
}
