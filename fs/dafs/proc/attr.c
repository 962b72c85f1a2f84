// SPDX-License-Identifier: GPL-2.0
/* Procedures on attributes and access rights. */
#include <linux/ctype.h>
#include <linux/string.h>
#include "proc.h"

/**
 * dafs_access() - ask what a user may do with an object (6.5.2)
 * @clnt: client
 * @cred: the user
 * @fh: the object
 * @mask: DAFS_ACCESS_* to ask for
 * @res: filled: which of them the server can tell, and which are granted
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dafs_access(struct dafs_client *clnt, const struct cred *cred,
		const struct dafs_fh *fh, u32 mask, struct dafs_access_res *res)
{
	struct dafs_access_args args = { .filehandle = *fh, .access = mask };
	struct dafs_op op = {
		.cred = cred,
		.proc = DAFS_PROC_ACCESS,
		.args = &args,
		.res = res,
	};

	return dafs_proc_simple(clnt, &op);
}

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
 * dafs_getattr_unless() - read attributes of an object (6.5.13)
 * @clnt: client
 * @cred: whom to act for
 * @fh: the object
 * @bitmap: DAFS_FATTR_* wanted
 * @attr: filled; without its strings and its ACL, which live in the message
 * @ids: filled with the owner and the group, if @bitmap asks for them
 * @leave: if set, the task does not wait for a server that is away when this becomes true
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dafs_getattr_unless(struct dafs_client *clnt, const struct cred *cred,
			const struct dafs_fh *fh, u64 bitmap, struct dafs_fattr *attr,
			struct dafs_ids *ids, const bool *leave)
{
	struct dafs_getattr_args args;
	struct dafs_op op;
	int err;

	dafs_getattr_op(&op, &args, cred, bitmap, attr);
	op.leave = leave;
	args.filehandle = *fh;
	err = dafs_proc_call(clnt, &op);
	if (err)
		return err;
	dafs_fattr_take(attr, bitmap, ids);
	dafs_op_end(&op);
	return 0;
}

/**
 * dafs_getattr() - dafs_getattr_unless() that waits as long as it takes
 * @clnt: client
 * @cred: whom to act for
 * @fh: the object
 * @bitmap: as for dafs_getattr_unless()
 * @attr: likewise
 * @ids: likewise
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dafs_getattr(struct dafs_client *clnt, const struct cred *cred,
		 const struct dafs_fh *fh, u64 bitmap, struct dafs_fattr *attr,
		 struct dafs_ids *ids)
{
	return dafs_getattr_unless(clnt, cred, fh, bitmap, attr, ids, NULL);
}

/**
 * dafs_getattr_on() - dafs_getattr() on a connection not yet in use
 * @clnt: client
 * @conn: its new connection
 * @cred: whom to act for
 * @fh: the object
 * @bitmap: as for dafs_getattr()
 * @attr: likewise
 * @ids: likewise
 *
 * Context: may sleep, but not because the server asks for patience.
 * Return: 0 or a negative errno, as dafs_op_run_on().
 */
int dafs_getattr_on(struct dafs_client *clnt, struct dafs_conn *conn, const struct cred *cred,
		    const struct dafs_fh *fh, u64 bitmap, struct dafs_fattr *attr,
		    struct dafs_ids *ids)
{
	struct dafs_getattr_args args;
	struct dafs_op op;
	int err;

	dafs_getattr_op(&op, &args, cred, bitmap, attr);
	op.nodelay = true;
	args.filehandle = *fh;
	err = dafs_op_run_on(clnt, conn, &op);
	if (!err)
		dafs_fattr_take(attr, bitmap, ids);
	dafs_op_end(&op);
	return err;
}

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
 * struct dafs_setattr_call - a SETATTR under way
 * @args: its arguments; first, so that kfree() of them frees this
 * @left: that of struct dafs_setattr_how
 * @ended: likewise
 * @priv: likewise
 */
struct dafs_setattr_call {
	struct dafs_setattr_inline_args args;
	void (*left)(void *priv);
	void (*ended)(void *priv);
	void *priv;
};

static void *dafs_setattr_copy(const void *args)
{
	const struct dafs_setattr_call *call = args;

	call->left(call->priv);
	return kmemdup(call, sizeof(*call), GFP_NOFS | __GFP_NOFAIL);
}

/* The new attributes stay. */
static void dafs_setattr_undo(struct dafs_client *clnt, struct dafs_op *op)
{
	dafs_op_end(op);
}

static void dafs_setattr_forget(void *args)
{
	const struct dafs_setattr_call *call = args;

	call->ended(call->priv);
}

/**
 * dafs_setattr_when() - change attributes of an object, if that is right on a connection (6.5.35)
 * @clnt: client
 * @how: what, of what object, and for whom
 * @status: filled with the DAFS status, so that the caller can recover its open; may be NULL
 *
 * Context: may sleep.
 * Return: 0 or a negative errno; some of the attributes may have changed then.  What @how->prepare
 * has returned: nothing was sent.
 */
int dafs_setattr_when(struct dafs_client *clnt, const struct dafs_setattr_how *how,
		      dafs_status_t *status)
{
	struct dafs_setattr_call call = {
		.args = {
			.filehandle = *how->fh,
			.state_id = *how->state_id,
			.obj_attributes = *how->attr,
		},
		.left = how->left,
		.ended = how->ended,
		.priv = how->priv,
	};
	struct dafs_setattr_res res = {};
	struct dafs_op op;
	int err;

	dafs_setattr_op(&op, &call.args, how->cred);
	op.res = &res;
	op.prepare = how->prepare;
	op.leave = how->leave;
	op.priv = how->priv;
	if (how->left) {
		op.undo = dafs_setattr_undo;
		op.copy = dafs_setattr_copy;
		op.forget = dafs_setattr_forget;
	}
	err = dafs_proc_simple(clnt, &op);
	if (status)
		*status = op.status;
	return err;
}

/**
 * dafs_setattr() - change attributes of an object (6.5.35)
 * @clnt: client
 * @cred: whom to act for
 * @fh: the object
 * @state_id: an open for writing if the size changes, all zero otherwise
 * @attr: the attributes with @included and @valid alike
 *
 * Context: may sleep.
 * Return: 0 or a negative errno; some of the attributes may have changed then.
 */
int dafs_setattr(struct dafs_client *clnt, const struct cred *cred,
		 const struct dafs_fh *fh, const struct dafs_state_id *state_id,
		 const struct dafs_fattr *attr)
{
	const struct dafs_setattr_how how = {
		.cred = cred,
		.fh = fh,
		.state_id = state_id,
		.attr = attr,
	};

	return dafs_setattr_when(clnt, &how, NULL);
}

/**
 * dafs_get_fsattr() - read attributes of a file system (6.5.15)
 * @clnt: client
 * @cred: whom to act for
 * @fh: any object in it
 * @bitmap: DAFS_FSATTR_* wanted
 * @attr: filled; without the failover locations, which live in the message
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dafs_get_fsattr(struct dafs_client *clnt, const struct cred *cred,
		    const struct dafs_fh *fh, u64 bitmap, struct dafs_fsattr *attr)
{
	return dafs_get_fsattr_on(clnt, NULL, cred, fh, bitmap, attr);
}

/**
 * dafs_get_fsattr_on() - dafs_get_fsattr() on a connection not yet in use
 * @clnt: client
 * @conn: its new connection, or NULL to wait for the current one
 * @cred: whom to act for
 * @fh: any object in the file system
 * @bitmap: as for dafs_get_fsattr()
 * @attr: likewise
 *
 * Context: may sleep.
 * Return: 0 or a negative errno, as dafs_op_run_on().
 */
int dafs_get_fsattr_on(struct dafs_client *clnt, struct dafs_conn *conn, const struct cred *cred,
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
	int err = conn ? dafs_op_run_on(clnt, conn, &op) : dafs_op_run(clnt, &op);

	dafs_op_end(&op);
	if (err)
		return err;
	attr->valid &= attr->included & bitmap;
	attr->failover_locations = (struct dafs_seq){};
	return 0;
}

/**
 * dafs_fattr_mode() - put permission bits into attributes to be set
 * @attr: attributes
 * @mode: i_mode
 */
void dafs_fattr_mode(struct dafs_fattr *attr, umode_t mode)
{
	attr->included |= DAFS_FATTR_MODE;
	attr->valid |= DAFS_FATTR_MODE;
	attr->mode = mode & S_IALLUGO;
}
