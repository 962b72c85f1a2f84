// SPDX-License-Identifier: GPL-2.0
/*
 * Functions as in fs/dafs/proc/proc.h for procedures that the client does not use or
 * calls differently.  Only the suites call them.
 */
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include "../../../dafs_common/rdma/requester.h"
#include "../../../dafs_common/wire/cursor.h"
#include "stubs.h"

/* Bytes of memory for attributes sent by RDMA */
#define DAFS_ATTR_MEM	SZ_64K

/**
 * dafs_null() - do nothing, renewing the lease (6.5.1)
 * @clnt: client
 * @cred: whom to act for
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dafs_null(struct dafs_client *clnt, const struct cred *cred)
{
	struct dafs_op op = { .cred = cred, .proc = DAFS_PROC_NULL };

	return dafs_proc_simple(clnt, &op);
}

/**
 * dafs_requester_desire() - ask for another nreq
 * @rq: requester
 * @nreq: desired_nreq of all requests from now on; 0: leave it to the responder
 *
 * Undoes dafs_requester_adapt().
 */
void dafs_requester_desire(struct dafs_requester *rq, u16 nreq)
{
	unsigned long flags;

	spin_lock_irqsave(&rq->lock, flags);
	rq->least = 0;
	rq->desired = nreq;
	spin_unlock_irqrestore(&rq->lock, flags);
}

/**
 * dafs_get_authtype() - one way of authentication that SECINFO offers
 * @buf: buffer that @seq was decoded from
 * @seq: decoded array
 * @i: index
 * @auth: filled
 *
 * Return: 0, or -ERANGE if there is no element @i.
 */
int dafs_get_authtype(const struct dafs_buf *buf, const struct dafs_seq *seq, u32 i,
		      struct dafs_authtype *auth)
{
	return dafs_x_element(buf, seq, i, &dafs_elem_authtype, auth);
}

/**
 * dafs_secinfo() - ask how a client may authenticate itself (6.2.7)
 * @clnt: client
 * @cred: whom to act for
 * @types: DAFS_AUTH_* values, filled
 * @max: room in @types
 *
 * Context: may sleep.
 * Return: how many types the server takes, which may be more than @max, or a
 * negative errno.
 */
int dafs_secinfo(struct dafs_client *clnt, const struct cred *cred, u32 *types,
		 unsigned int max)
{
	struct dafs_secinfo_res res = {};
	struct dafs_op op = {
		.cred = cred,
		.proc = DAFS_PROC_SECINFO,
		.res = &res,
	};
	struct dafs_authtype auth;
	int err;
	u32 i;

	err = dafs_proc_call(clnt, &op);
	if (err)
		return err;
	for (i = 0; i < res.secinfo.count && i < max; i++) {
		err = dafs_get_authtype(&op.call->buf, &res.secinfo, i, &auth);
		if (err)
			break;
		types[i] = auth.auth_type;
	}
	dafs_op_end(&op);
	return err ?: (int)min_t(u32, res.secinfo.count, INT_MAX);
}

static struct dafs_op_mem *dafs_attr_mem(size_t size, enum dma_data_direction dir)
{
	struct dafs_op_mem *mem = kzalloc(sizeof(*mem), GFP_KERNEL);

	if (!mem)
		return NULL;
	mem->data = kzalloc(size, GFP_KERNEL);
	mem->size = size;
	mem->dir = dir;
	if (mem->data)
		return mem;
	kfree(mem);
	return NULL;
}

static void dafs_attr_mem_free(struct dafs_op_mem *mem)
{
	kfree(mem->data);
	kfree(mem);
}

static int dafs_getattr_describe(struct dafs_op *op, struct dafs_call *call)
{
	struct dafs_getattr_direct_args *args = op->args;

	args->data_buffer = op->mem->map.bufs[0];
	return 0;
}

/**
 * dafs_getattr_direct() - read attributes of an object by RDMA (6.5.14)
 * @clnt: client
 * @cred: whom to act for
 * @fh: the object
 * @bitmap: DAFS_FATTR_* wanted
 * @attr: filled as by dafs_getattr()
 * @ids: likewise
 *
 * For attributes that do not fit into the response; for all others the inline
 * procedure is cheaper.
 *
 * Context: may sleep.
 * Return: 0 or a negative errno: -EBADMSG if the attributes are malformed or
 * their checksum is wrong.
 */
int dafs_getattr_direct(struct dafs_client *clnt, const struct cred *cred,
			const struct dafs_fh *fh, u64 bitmap, struct dafs_fattr *attr,
			struct dafs_ids *ids)
{
	struct dafs_getattr_direct_args args = {
		.filehandle = *fh,
		.attr_request_bitmap = bitmap,
	};
	struct dafs_direct_res res = {};
	struct dafs_op op = {
		.cred = cred,
		.proc = DAFS_PROC_GETATTR_DIRECT,
		.args = &args,
		.res = &res,
		.mem = dafs_attr_mem(DAFS_ATTR_MEM, DMA_FROM_DEVICE),
		.prepare = dafs_getattr_describe,
	};
	struct dafs_buf buf;
	int err;

	if (!op.mem)
		return -ENOMEM;
	err = dafs_proc_call(clnt, &op);
	if (err)
		goto free;
	err = dafs_proc_received(&op, &res.direct_checksum, &buf) ?:
	      dafs_decode_fattr(&buf, attr);
	if (!err)
		dafs_fattr_take(attr, bitmap, ids);
	dafs_op_end(&op);
free:
	dafs_attr_mem_free(op.mem);
	return err;
}

static int dafs_setattr_describe(struct dafs_op *op, struct dafs_call *call)
{
	struct dafs_setattr_direct_args *args = op->args;

	args->obj_attributes = op->mem->map.bufs[0];
	return 0;
}

/* Return: bytes; the checksum is that of a session that has checksums. */
static int dafs_setattr_encode(struct dafs_client *clnt, struct dafs_op_mem *mem,
			       struct dafs_fattr *attr, struct dafs_cksum *cksum)
{
	const struct dafs_client_params *params = &clnt->params;
	const struct dafs_buf buf = {
		.base = mem->data,
		.len = mem->size,
		.swab = params->swab,
	};
	struct dafs_cksum_state state;
	int len = dafs_encode_fattr(&buf, attr);

	if (len < 0 || !params->cksum)
		return len;
	dafs_cksum_init(&state);
	dafs_cksum_update(&state, buf.base, len);
	dafs_cksum_final_host(&state, buf.swab, cksum);
	return len;
}

/**
 * dafs_setattr_direct() - change attributes of an object by RDMA (6.5.36)
 * @clnt: client
 * @cred: whom to act for
 * @fh: the object
 * @state_id: as for dafs_setattr()
 * @attr: as for dafs_setattr()
 * @status: as for dafs_setattr_when()
 *
 * For attributes that do not fit into the request.
 *
 * Context: may sleep.
 * Return: 0 or a negative errno; some of the attributes may have changed then.
 */
int dafs_setattr_direct(struct dafs_client *clnt, const struct cred *cred,
			const struct dafs_fh *fh, const struct dafs_state_id *state_id,
			const struct dafs_fattr *attr, dafs_status_t *status)
{
	struct dafs_setattr_direct_args args = {
		.filehandle = *fh,
		.state_id = *state_id,
	};
	struct dafs_setattr_res res = {};
	struct dafs_op op = {
		.cred = cred,
		.proc = DAFS_PROC_SETATTR_DIRECT,
		.args = &args,
		.res = &res,
		.mem = dafs_attr_mem(dafs_fattr_size(attr), DMA_TO_DEVICE),
		.prepare = dafs_setattr_describe,
	};
	struct dafs_fattr copy = *attr;
	int err;

	if (!op.mem)
		return -ENOMEM;
	err = min(dafs_setattr_encode(clnt, op.mem, &copy, &args.direct_checksum), 0);
	if (!err)
		err = dafs_proc_simple(clnt, &op);
	if (status)
		*status = op.status;
	dafs_attr_mem_free(op.mem);
	return err;
}

/* The two procedures have the same arguments and opposite statuses for success. */
static int dafs_compare(struct dafs_client *clnt, const struct cred *cred, u32 proc,
			const struct dafs_fh *fh, const struct dafs_fattr *attr, bool *same)
{
	const dafs_status_t other = proc == DAFS_PROC_VERIFY ? DAFSERR_NOT_SAME : DAFSERR_SAME;
	struct dafs_verify_args args = {
		.filehandle = *fh,
		.obj_attributes = *attr,
	};
	struct dafs_op op = { .cred = cred, .proc = proc, .args = &args };
	int err = dafs_proc_simple(clnt, &op);

	if (err && op.status != other)
		return err;
	*same = (proc == DAFS_PROC_VERIFY) == !err;
	return 0;
}

/**
 * dafs_verify() - compare attributes with values (6.5.37)
 * @clnt: client
 * @cred: whom to act for
 * @fh: the object
 * @attr: the attributes with @included and @valid alike
 * @same: set to true if all of them are equal
 *
 * Context: may sleep.
 * Return: 0 or a negative errno: -EOPNOTSUPP if the object lacks one of them.
 */
int dafs_verify(struct dafs_client *clnt, const struct cred *cred,
		const struct dafs_fh *fh, const struct dafs_fattr *attr, bool *same)
{
	return dafs_compare(clnt, cred, DAFS_PROC_VERIFY, fh, attr, same);
}

/**
 * dafs_nverify() - test whether an attribute differs (6.5.23)
 * @clnt: client
 * @cred: whom to act for
 * @fh: the object
 * @attr: the attributes with @included and @valid alike
 * @same: set to true if none of them differs
 *
 * Differs from dafs_verify() in the status that ends a chain.
 *
 * Context: may sleep.
 * Return: 0 or a negative errno: -EOPNOTSUPP if the object lacks one of them.
 */
int dafs_nverify(struct dafs_client *clnt, const struct cred *cred,
		 const struct dafs_fh *fh, const struct dafs_fattr *attr, bool *same)
{
	return dafs_compare(clnt, cred, DAFS_PROC_NVERIFY, fh, attr, same);
}

/**
 * dafs_create() - make an object that is not a regular file (6.5.9)
 * @clnt: client
 * @cred: whom to act for
 * @dir: where
 * @name: its name
 * @node: what it is
 * @fh: filled with its handle
 * @change: filled with the change of @dir
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dafs_create(struct dafs_client *clnt, const struct cred *cred,
		const struct dafs_fh *dir, const struct qstr *name,
		const struct dafs_node *node, struct dafs_fh *fh,
		struct dafs_change_info *change)
{
	struct dafs_create_args args = {
		.filehandle = *dir,
		.component = { .len = name->len, .data = name->name },
		.obj_type = node->type,
		.linkdata = node->link,
		.specdata = node->dev,
	};
	struct dafs_create_res res = {};
	struct dafs_op op = {
		.cred = cred,
		.proc = DAFS_PROC_CREATE,
		.args = &args,
		.res = &res,
	};
	int err;

	if (node->attr)
		args.attr = *node->attr;
	err = dafs_proc_simple(clnt, &op);
	if (err)
		return err;
	*fh = res.filehandle;
	*change = res.change_info;
	return 0;
}

/**
 * dafs_read_inline() - read from a file inline (6.5.27)
 * @clnt: client
 * @cred: whom to act for
 * @args: what to read
 * @to: where to put it; advanced
 * @eof: set if the end of the file was reached
 *
 * Context: may sleep.
 * Return: bytes read or a negative errno.
 */
int dafs_read_inline(struct dafs_client *clnt, const struct cred *cred,
		     const struct dafs_read_inline_args *args,
		     struct iov_iter *to, bool *eof)
{
	struct dafs_read_inline_args copy = *args;
	struct dafs_read_inline_res res = {};
	struct dafs_op op = {
		.cred = cred,
		.proc = DAFS_PROC_READ_INLINE,
		.args = &copy,
		.res = &res,
	};
	int ret;

	ret = dafs_proc_call(clnt, &op);
	if (ret)
		return ret;
	ret = res.bytes_read;
	if (res.bytes_read > args->byte_count ||
	    copy_to_iter(res.read_data, ret, to) != ret)
		ret = -EIO;
	*eof = res.eof;
	dafs_op_end(&op);
	return ret;
}

static void dafs_write_inline_fill_op(struct dafs_call *call,
				      struct dafs_buf *buf)
{
	const struct dafs_write_inline_args *args = call->args;

	dafs_write_inline_fill(buf, args->byte_count, call->priv);
}

/**
 * dafs_write_inline() - write to a file inline (6.5.38)
 * @clnt: client
 * @cred: whom to act for
 * @args: what to write; data and write_padded are ignored
 * @from: the data, memory of the kernel; not advanced
 * @res: filled
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dafs_write_inline(struct dafs_client *clnt, const struct cred *cred,
		      const struct dafs_write_inline_args *args,
		      struct iov_iter *from, struct dafs_write_res *res)
{
	struct dafs_write_inline_args copy = *args;
	struct dafs_op op = {
		.cred = cred,
		.proc = DAFS_PROC_WRITE_INLINE,
		.args = &copy,
		.res = res,
		.fill = dafs_write_inline_fill_op,
		.priv = from,
	};

	copy.write_padded = 0;
	copy.data = NULL;
	return dafs_proc_simple(clnt, &op);
}
