// SPDX-License-Identifier: GPL-2.0
/* Procedures on attributes and access rights. */
#include <linux/ctype.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <kunit/visibility.h>
#include "proc.h"

/**
 * dafs_access() - ask what a user may do with an object (6.5.2)
 * @ses: session
 * @cred: the user
 * @fh: the object
 * @mask: DAFS_ACCESS_* to ask for
 * @res: filled: which of them the server can tell, and which are granted
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dafs_access(struct dafs_session *ses, const struct cred *cred,
		const struct dafs_fh *fh, u32 mask, struct dafs_access_res *res)
{
	struct dafs_access_args args = { .filehandle = *fh, .access = mask };
	struct dafs_op op = {
		.cred = cred,
		.proc = DAFS_PROC_ACCESS,
		.args = &args,
		.res = res,
	};

	return dafs_proc_simple(ses, &op);
}
EXPORT_SYMBOL_IF_KUNIT(dafs_access);

/* Bytes of memory for attributes that travel by RDMA */
#define DAFS_ATTR_MEM	SZ_64K

/* dafs_getattr() and dafs_get_fsattr() decode straight into the caller's. */
static_assert(sizeof(struct dafs_getattr_res) == sizeof(struct dafs_fattr));
static_assert(sizeof(struct dafs_get_fsattr_res) == sizeof(struct dafs_fsattr));

/* Digits of the largest id */
#define DAFS_DECIMAL_MAX	10

/*
 * Only decimal numbers are understood: there is no id mapper (E-117).  A listing
 * has two of them in each entry.
 */
static u32 dafs_owner_id(const struct dafs_str *owner)
{
	u64 id = 0;
	u32 i;

	if (!owner->len || owner->len > DAFS_DECIMAL_MAX)
		return DAFS_NO_ID;
	for (i = 0; i < owner->len; i++) {
		if (!isdigit(owner->data[i]))
			return DAFS_NO_ID;
		id = id * 10 + owner->data[i] - '0';
	}
	return id <= U32_MAX ? id : DAFS_NO_ID;
}

/**
 * dafs_fattr_take() - attributes without what points into the message
 * @attr: as decoded; loses its strings and its ACL, and what is not valid or
 *	was not asked for
 * @bitmap: DAFS_FATTR_* asked for
 * @ids: filled with the owner and the group, DAFS_NO_ID if unknown
 *
 * Context: any.
 */
void dafs_fattr_take(struct dafs_fattr *attr, u64 bitmap, struct dafs_ids *ids)
{
	attr->valid &= attr->included & bitmap;
	ids->uid = attr->valid & DAFS_FATTR_OWNER ?
		   dafs_owner_id(&attr->owner) : DAFS_NO_ID;
	ids->gid = attr->valid & DAFS_FATTR_OWNER_GROUP ?
		   dafs_owner_id(&attr->owner_group) : DAFS_NO_ID;
	attr->acl = (struct dafs_seq){};
	attr->mime_type = (struct dafs_str){};
	attr->owner = (struct dafs_str){};
	attr->owner_group = (struct dafs_str){};
}

/**
 * dafs_getattr_op() - describe a GETATTR_INLINE
 * @op: filled
 * @args: filled but for the handle
 * @cred: whom to act for
 * @bitmap: DAFS_FATTR_* wanted
 * @attr: filled when the operation is done; dafs_fattr_take() is for the caller
 *
 * Context: any.
 */
void dafs_getattr_op(struct dafs_op *op, struct dafs_getattr_args *args,
		     const struct cred *cred, u64 bitmap, struct dafs_fattr *attr)
{
	*args = (struct dafs_getattr_args) { .attr_request_bitmap = bitmap };
	*op = (struct dafs_op) {
		.cred = cred,
		.proc = DAFS_PROC_GETATTR_INLINE,
		.args = args,
		.res = container_of(attr, struct dafs_getattr_res, obj_attributes),
	};
}

/**
 * dafs_getattr() - read attributes of an object (6.5.13)
 * @ses: session
 * @cred: whom to act for
 * @fh: the object
 * @bitmap: DAFS_FATTR_* wanted
 * @attr: filled; without its strings and its ACL, which live in the message
 * @ids: filled with the owner and the group, if @bitmap asks for them
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dafs_getattr(struct dafs_session *ses, const struct cred *cred,
		 const struct dafs_fh *fh, u64 bitmap, struct dafs_fattr *attr,
		 struct dafs_ids *ids)
{
	struct dafs_getattr_args args;
	struct dafs_op op;
	int err;

	dafs_getattr_op(&op, &args, cred, bitmap, attr);
	args.filehandle = *fh;
	err = dafs_proc_call(ses, &op);
	if (err)
		return err;
	dafs_fattr_take(attr, bitmap, ids);
	dafs_op_end(&op);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(dafs_getattr);

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
 * @ses: session
 * @cred: whom to act for
 * @fh: the object
 * @bitmap: DAFS_FATTR_* wanted
 * @attr: filled as by dafs_getattr()
 * @ids: likewise
 *
 * For attributes that the response has no room for; for all others the message
 * is cheaper.
 *
 * Context: may sleep.
 * Return: 0 or a negative errno: -EBADMSG if they did not arrive as they were
 * sent.
 */
int dafs_getattr_direct(struct dafs_session *ses, const struct cred *cred,
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
	struct dafs_stream stream;
	int err;

	if (!op.mem)
		return -ENOMEM;
	err = dafs_proc_call(ses, &op);
	if (err)
		goto free;
	err = dafs_proc_received(&op, &res.direct_checksum, &stream) ?:
	      dafs_decode_fattr(&stream, attr);
	if (!err)
		dafs_fattr_take(attr, bitmap, ids);
	dafs_op_end(&op);
free:
	dafs_attr_mem_free(op.mem);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(dafs_getattr_direct);

/**
 * dafs_setattr_op() - describe a SETATTR_INLINE
 * @op: filled
 * @args: filled by the caller before it is performed
 * @cred: whom to act for
 *
 * Context: any.
 */
void dafs_setattr_op(struct dafs_op *op, struct dafs_setattr_inline_args *args,
		     const struct cred *cred)
{
	*op = (struct dafs_op) {
		.cred = cred,
		.proc = DAFS_PROC_SETATTR_INLINE,
		.args = args,
	};
}

/**
 * dafs_setattr() - change attributes of an object (6.5.35)
 * @ses: session
 * @cred: whom to act for
 * @fh: the object
 * @state_id: an open for writing if the size changes, all zero otherwise
 * @attr: the attributes with @included and @valid alike
 * @status: filled with the DAFS status, so that the caller can recover its
 *	open; may be NULL
 *
 * Context: may sleep.
 * Return: 0 or a negative errno; some of the attributes may have changed then.
 */
int dafs_setattr(struct dafs_session *ses, const struct cred *cred,
		 const struct dafs_fh *fh, const struct dafs_opaque64 *state_id,
		 const struct dafs_fattr *attr, u32 *status)
{
	struct dafs_setattr_inline_args args = {
		.filehandle = *fh,
		.state_id = *state_id,
		.obj_attributes = *attr,
	};
	struct dafs_setattr_res res = {};
	struct dafs_op op;
	int err;

	dafs_setattr_op(&op, &args, cred);
	op.res = &res;
	err = dafs_proc_simple(ses, &op);
	if (status)
		*status = op.status;
	return err;
}

static int dafs_setattr_describe(struct dafs_op *op, struct dafs_call *call)
{
	struct dafs_setattr_direct_args *args = op->args;

	args->obj_attributes = op->mem->map.bufs[0];
	return 0;
}

/* Return: bytes; the checksum is that of a session that has checksums. */
static int dafs_setattr_encode(struct dafs_session *ses, struct dafs_op_mem *mem,
			       struct dafs_fattr *attr, struct dafs_cksum *cksum)
{
	const struct dafs_session_params *params = dafs_session_params(ses);
	const struct dafs_stream stream = {
		.base = mem->data,
		.len = mem->size,
		.swab = params->swab,
	};
	struct dafs_cksum_state state;
	int len = dafs_encode_fattr(&stream, attr);

	if (len < 0 || !params->cksum)
		return len;
	dafs_cksum_init(&state);
	dafs_cksum_update(&state, stream.base, len);
	dafs_cksum_final_host(&state, stream.swab, cksum);
	return len;
}

/**
 * dafs_setattr_direct() - change attributes of an object by RDMA (6.5.36)
 * @ses: session
 * @cred: whom to act for
 * @fh: the object
 * @state_id: as for dafs_setattr()
 * @attr: as for dafs_setattr()
 * @status: as for dafs_setattr()
 *
 * For attributes that the request has no room for.
 *
 * Context: may sleep.
 * Return: 0 or a negative errno; some of the attributes may have changed then.
 */
int dafs_setattr_direct(struct dafs_session *ses, const struct cred *cred,
			const struct dafs_fh *fh, const struct dafs_opaque64 *state_id,
			const struct dafs_fattr *attr, u32 *status)
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
	err = min(dafs_setattr_encode(ses, op.mem, &copy, &args.direct_checksum), 0);
	if (!err)
		err = dafs_proc_simple(ses, &op);
	if (status)
		*status = op.status;
	dafs_attr_mem_free(op.mem);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(dafs_setattr_direct);

/* The two procedures ask the same and take opposite answers for success. */
static int dafs_compare(struct dafs_session *ses, const struct cred *cred, u32 proc,
			const struct dafs_fh *fh, const struct dafs_fattr *attr, bool *same)
{
	const u32 other = proc == DAFS_PROC_VERIFY ? DAFSERR_NOT_SAME : DAFSERR_SAME;
	struct dafs_verify_args args = {
		.filehandle = *fh,
		.obj_attributes = *attr,
	};
	struct dafs_op op = { .cred = cred, .proc = proc, .args = &args };
	int err = dafs_proc_simple(ses, &op);

	if (err && op.status != other)
		return err;
	*same = (proc == DAFS_PROC_VERIFY) == !err;
	return 0;
}

/**
 * dafs_verify() - have attributes these values? (6.5.37)
 * @ses: session
 * @cred: whom to act for
 * @fh: the object
 * @attr: the attributes with @included and @valid alike
 * @same: set to whether all of them have
 *
 * Context: may sleep.
 * Return: 0 or a negative errno: -EOPNOTSUPP if the object lacks one of them.
 */
int dafs_verify(struct dafs_session *ses, const struct cred *cred,
		const struct dafs_fh *fh, const struct dafs_fattr *attr, bool *same)
{
	return dafs_compare(ses, cred, DAFS_PROC_VERIFY, fh, attr, same);
}
EXPORT_SYMBOL_IF_KUNIT(dafs_verify);

/**
 * dafs_nverify() - has one of the attributes another value? (6.5.23)
 * @ses: session
 * @cred: whom to act for
 * @fh: the object
 * @attr: the attributes with @included and @valid alike
 * @same: set to whether none of them has
 *
 * Differs from dafs_verify() in which answer ends a chain.
 *
 * Context: may sleep.
 * Return: 0 or a negative errno: -EOPNOTSUPP if the object lacks one of them.
 */
int dafs_nverify(struct dafs_session *ses, const struct cred *cred,
		 const struct dafs_fh *fh, const struct dafs_fattr *attr, bool *same)
{
	return dafs_compare(ses, cred, DAFS_PROC_NVERIFY, fh, attr, same);
}
EXPORT_SYMBOL_IF_KUNIT(dafs_nverify);

/**
 * dafs_get_fsattr() - read attributes of a file system (6.5.15)
 * @ses: session
 * @cred: whom to act for
 * @fh: any object in it
 * @bitmap: DAFS_FSATTR_* wanted
 * @attr: filled; without the failover locations, which live in the message
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dafs_get_fsattr(struct dafs_session *ses, const struct cred *cred,
		    const struct dafs_fh *fh, u64 bitmap, struct dafs_fsattr *attr)
{
	return dafs_get_fsattr_on(ses, NULL, cred, fh, bitmap, attr);
}
EXPORT_SYMBOL_IF_KUNIT(dafs_get_fsattr);

/**
 * dafs_get_fsattr_on() - dafs_get_fsattr() on a connection not yet in use
 * @ses: session
 * @conn: its new connection, or NULL to wait for the current one
 * @cred: whom to act for
 * @fh: any object in the file system
 * @bitmap: as for dafs_get_fsattr()
 * @attr: likewise
 *
 * Context: may sleep.
 * Return: 0 or a negative errno, as dafs_op_run_on().
 */
int dafs_get_fsattr_on(struct dafs_session *ses, struct dafs_conn *conn, const struct cred *cred,
		       const struct dafs_fh *fh, u64 bitmap, struct dafs_fsattr *attr)
{
	struct dafs_getattr_args args = {
		.filehandle = *fh,
		.attr_request_bitmap = bitmap,
	};
	struct dafs_get_fsattr_res *res =
		container_of(attr, struct dafs_get_fsattr_res, obj_attributes);
	struct dafs_op op = {
		.cred = cred,
		.proc = DAFS_PROC_GET_FSATTR,
		.args = &args,
		.res = res,
	};
	int err = conn ? dafs_op_run_on(ses, conn, &op) : dafs_op_run(ses, &op);

	dafs_op_end(&op);
	if (err)
		return err;
	attr->valid &= attr->included & bitmap;
	attr->failover_locations = (struct dafs_seq){};
	return 0;
}
