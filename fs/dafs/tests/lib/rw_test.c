// SPDX-License-Identifier: GPL-2.0
/* See rw_test.h. */
#include <linux/uio.h>
#include <linux/vmalloc.h>
#include "../../rpc/rpc_impl.h"
#include "rw_test.h"

static void dafs_io_vfree(void *p)
{
	vfree(p);
}

u8 *dafs_io_alloc(struct kunit *test, size_t len)
{
	u8 *p = vzalloc(len);

	KUNIT_ASSERT_NOT_NULL(test, p);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, dafs_io_vfree, p));
	return p;
}

struct dafs_direct *dafs_direct_alloc(struct kunit *test, size_t len)
{
	struct dafs_direct *d = kunit_kzalloc(test, sizeof(*d), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, d);
	d->data = dafs_io_alloc(test, len);
	d->len = len;
	return d;
}

/* All of the memory is one region, so each piece is described by its start address. */
static void dafs_direct_describe(struct kunit *test, struct dafs_direct *d, struct dafs_seq *bufs)
{
	const struct dafs_piece whole = { 0, d->len };
	const struct dafs_piece *piece = d->nr ? d->pieces : &whole;
	unsigned int i;

	KUNIT_EXPECT_EQ(test, 1, d->mem.nr);
	KUNIT_EXPECT_EQ(test, d->len, d->mem.len);
	bufs->count = d->nr ?: 1;
	bufs->elems = d->bufs;
	for (i = 0; i < bufs->count; i++)
		d->bufs[i] = (struct dafs_direct_buf) {
			.buffer_address = d->mem.bufs[0].buffer_address + piece[i].at,
			.buffer_byte_count = piece[i].len,
			.buffer_handle = d->mem.bufs[0].buffer_handle,
		};
}

static void dafs_direct_sum(const struct dafs_direct *d, u32 len, bool swab,
			    struct dafs_cksum *sum)
{
	const struct dafs_piece whole = { 0, d->len };
	const struct dafs_piece *piece = d->nr ? d->pieces : &whole;
	const struct dafs_piece *end = piece + (d->nr ?: 1);
	struct dafs_cksum_state state;
	u32 n;

	dafs_cksum_init(&state);
	for (; piece < end; piece++, len -= n) {
		n = min(len, piece->len);
		dafs_cksum_update(&state, d->data + piece->at, n);
	}
	dafs_cksum_final_host(&state, swab, sum);
}

/* Sends it and waits; once call->mem is set, the requester owns the memory. */
static int dafs_direct_call(struct kunit *test, struct dafs_client *clnt, struct dafs_conn *conn,
			    const struct cred *cred, struct dafs_call *call,
			    struct dafs_direct *d)
{
	int err = dafs_cred_handle(clnt, conn, cred, call->cred);

	if (!err) {
		call->mem = &d->mem;
		err = dafs_call_start(conn->rq, call);
	}
	if (err) {
		dafs_mem_unmap(&d->mem);
		return err;
	}
	return dafs_call_wait(call);
}

static int dafs_direct_map(struct dafs_conn *conn, struct dafs_direct *d,
			   enum dma_data_direction dir)
{
	struct kvec kvec = { .iov_base = d->data, .iov_len = d->len };
	struct iov_iter iter;
	ssize_t n;

	iov_iter_kvec(&iter, dir == DMA_FROM_DEVICE ? ITER_DEST : ITER_SOURCE, &kvec, 1, d->len);
	n = dafs_mem_map(conn->op, &d->mem, &iter, d->len, dir);
	return n < 0 ? n : 0;
}

/* Differences between the two procedures. */
struct dafs_direct_op {
	u32 proc;
	enum dma_data_direction dir;
	void *args;
	struct dafs_seq *bufs;
	struct dafs_cksum *cksum;
	u32 byte_count;
	void *res;
};

static dafs_status_t dafs_direct_run(struct kunit *test, struct dafs_client *clnt,
				     const struct cred *cred, struct dafs_direct *d,
				     const struct dafs_direct_op *op)
{
	struct dafs_conn *conn = dafs_conn_get(clnt);
	struct dafs_call *call = dafs_call_alloc(GFP_KERNEL);
	dafs_status_t status = DAFS_NO_STATUS;
	int err;

	KUNIT_ASSERT_FALSE(test, IS_ERR(conn) || !call);
	call->proc = op->proc;
	call->args = op->args;
	err = dafs_direct_map(conn, d, op->dir);
	if (!err) {
		dafs_direct_describe(test, d, op->bufs);
		if (op->cksum && conn->opts.use_checksums)
			dafs_direct_sum(d, op->byte_count, conn->op->swab, op->cksum);
		if (op->cksum) {
			op->cksum->s1 ^= d->spoil & 1;
			op->cksum->s2 ^= d->spoil >> 1;
		}
		err = dafs_direct_call(test, clnt, conn, cred, call, d);
	}
	if (!err) {
		status = call->status;
		if (!status)
			err = dafs_decode_res(&call->buf, op->proc, op->res);
	}
	KUNIT_EXPECT_EQ(test, 0, err);
	dafs_call_put(call);
	dafs_conn_put(conn);
	return status;
}

/* R-3.2.5-02: direct_checksum is over the bytes read, or zero without checksums. */
static void dafs_direct_check_sum(struct kunit *test, struct dafs_client *clnt,
				  const struct dafs_direct *d,
				  const struct dafs_read_direct_res *res)
{
	const struct dafs_client_params *params = &clnt->params;
	struct dafs_cksum sum = {};

	if (params->cksum)
		dafs_direct_sum(d, res->bytes_read, params->swab, &sum);
	KUNIT_EXPECT_EQ(test, sum.s1, res->direct_checksum.s1);
	KUNIT_EXPECT_EQ(test, sum.s2, res->direct_checksum.s2);
}

dafs_status_t dafs_read_direct(struct kunit *test, struct dafs_client *clnt,
			       const struct cred *cred, const struct dafs_read_direct_args *args,
			       struct dafs_direct *d, struct dafs_read_direct_res *res)
{
	struct dafs_read_direct_args copy = *args;
	const struct dafs_direct_op op = {
		.proc = DAFS_PROC_READ_DIRECT,
		.dir = DMA_FROM_DEVICE,
		.args = &copy,
		.bufs = &copy.read_data_buffers,
		.res = res,
	};
	dafs_status_t status;

	memset(res, 0, sizeof(*res));
	status = dafs_direct_run(test, clnt, cred, d, &op);
	if (!status)
		dafs_direct_check_sum(test, clnt, d, res);
	return status;
}

dafs_status_t dafs_write_direct(struct kunit *test, struct dafs_client *clnt,
				const struct cred *cred, const struct dafs_write_direct_args *args,
				struct dafs_direct *d, struct dafs_write_res *res)
{
	struct dafs_write_direct_args copy = *args;
	const struct dafs_direct_op op = {
		.proc = DAFS_PROC_WRITE_DIRECT,
		.dir = DMA_TO_DEVICE,
		.args = &copy,
		.bufs = &copy.write_data_buffers,
		.cksum = &copy.direct_checksum,
		.byte_count = args->byte_count,
		.res = res,
	};

	memset(res, 0, sizeof(*res));
	return dafs_direct_run(test, clnt, cred, d, &op);
}

dafs_status_t dafs_do_read(struct kunit *test, struct dafs_fixture *fix, bool direct,
			   const struct dafs_io_arg *io, u8 *buf, struct dafs_io_got *got)
{
	const struct cred *cred = io->cred ?: dafs_test_me();
	struct dafs_read_direct_args args = {
		.filehandle = io->fh,
		.state_id = io->state_id,
		.offset = io->offset,
		.byte_count = io->count,
	};
	const struct dafs_read_inline_args inl = {
		.filehandle = io->fh,
		.state_id = io->state_id,
		.offset = io->offset,
		.byte_count = io->count,
	};
	struct dafs_read_inline_res inl_res;
	struct dafs_read_direct_res res;
	struct dafs_direct *d;
	dafs_status_t status;

	if (!direct) {
		status = dafs_test_read(test, fix->clnt, cred, &inl, buf, &inl_res);
		*got = (struct dafs_io_got){ inl_res.bytes_read, inl_res.eof };
		return status;
	}
	d = dafs_direct_alloc(test, io->count ?: 1);
	status = dafs_read_direct(test, fix->clnt, cred, &args, d, &res);
	*got = (struct dafs_io_got){ res.bytes_read, res.eof };
	KUNIT_EXPECT_LE(test, res.bytes_read, io->count);
	if (!status)
		memcpy(buf, d->data, min(res.bytes_read, io->count));
	return status;
}

dafs_status_t dafs_do_write(struct kunit *test, struct dafs_fixture *fix, bool direct,
			    const struct dafs_io_arg *io, const u8 *buf, struct dafs_write_res *res)
{
	const struct cred *cred = io->cred ?: dafs_test_me();
	const struct dafs_write_inline_args inl = {
		.filehandle = io->fh,
		.state_id = io->state_id,
		.offset = io->offset,
		.byte_count = io->count,
		.stable_how = io->stable,
		.data = buf,
	};
	const struct dafs_write_direct_args args = {
		.filehandle = io->fh,
		.state_id = io->state_id,
		.offset = io->offset,
		.byte_count = io->count,
		.stable_how = io->stable,
	};
	struct dafs_direct *d;

	memset(res, 0, sizeof(*res));
	if (!direct)
		return dafs_test_write(test, fix->clnt, cred, &inl, res);
	d = dafs_direct_alloc(test, io->count ?: 1);
	if (io->count)
		memcpy(d->data, buf, io->count);
	return dafs_write_direct(test, fix->clnt, cred, &args, d, res);
}

struct dafs_io_arg dafs_io_open(struct kunit *test, struct dafs_fixture *fix, const char *name,
				u32 access)
{
	struct dafs_open_args args = dafs_test_open_args("owner", access, 0);
	struct dafs_open_res res = {};

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, dafs_test_open(test, fix->clnt, dafs_test_me(),
								&fix->dir, name, &args, &res));
	return (struct dafs_io_arg){ .fh = res.filehandle, .state_id = res.state_id };
}

u8 *dafs_io_file(struct kunit *test, struct dafs_fixture *fix, const char *name, size_t len)
{
	u8 *data = dafs_io_alloc(test, len ?: 1);

	dafs_test_pattern(data, len, 1);
	dafs_backing_write(test, fix, name, data, len);
	return data;
}

void dafs_io_expect_file(struct kunit *test, struct dafs_fixture *fix, const char *name,
			 const u8 *data, size_t len)
{
	u8 *got = dafs_io_alloc(test, len + 1);

	KUNIT_EXPECT_EQ(test, len, dafs_backing_read(fix, name, got, len + 1, 0));
	KUNIT_EXPECT_MEMEQ(test, data, got, len);
}

const struct dafs_piece dafs_odd_pieces[DAFS_ODD_PIECES] = {
	{ 4097, 1 }, { 9000, 333 }, { 0, 0 }, { 1, 4095 }, { 4098, 4096 }, { 9999, 0 },
	{ 9400, 57 },
};

void dafs_gather(const struct dafs_direct *d, u8 *to)
{
	unsigned int i;

	for (i = 0; i < d->nr; i++) {
		memcpy(to, d->data + d->pieces[i].at, d->pieces[i].len);
		to += d->pieces[i].len;
	}
}
