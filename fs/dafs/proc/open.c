// SPDX-License-Identifier: GPL-2.0
/*
 * OPEN, CLOSE and DELEGRETURN: the state that a server keeps for an open file (4.4.1.2).
 */
#include <linux/dcache.h>
#include <linux/slab.h>
#include "proc.h"

static void dafs_open_args_init(struct dafs_open_args *args, u32 claim,
				const struct dafs_fh *fh,
				const struct dafs_open_how *how)
{
	*args = (struct dafs_open_args) {
		.claim_type = claim,
		.dir_handle = *fh,
		.delegate_type = DAFS_OPEN_DELEGATE_NONE,
		.open_type = DAFS_OPEN_NOCREATE,
		.delete_disp = DAFS_DELETE_DONT_CARE,
		.owner = how->owner,
		.share_access = how->access,
		.share_deny = how->deny,
		.share_key_type = how->keyed ? DAFS_OPEN_SHARE_KEY_BOTH : DAFS_OPEN_SHARE_KEY_NONE,
		.share_key = how->share_key,
	};
}

static void dafs_open_args_create(struct dafs_open_args *args, const struct dafs_open_how *how)
{
	args->open_type = DAFS_OPEN_CREATE;
	args->createmode = how->mode;
	if (how->mode == DAFS_CREATE_EXCLUSIVE)
		args->create_verifier = how->verifier;
	else if (how->attr)
		args->createattrs = *how->attr;
}

/**
 * struct dafs_open_again - an OPEN without what its caller has lent it
 * @args: the same open, but nothing is created
 * @name: the path is one name at most
 * @buf: the owner, and behind it the name
 */
struct dafs_open_again {
	struct dafs_open_args args;
	struct dafs_str name;
	u8 buf[];
};

static void *dafs_open_copy(const void *p)
{
	const struct dafs_open_args *from = p;
	const struct dafs_str *name = from->pathname.count ? from->pathname.elems : NULL;
	struct dafs_open_again *again;

	again = kzalloc(struct_size(again, buf, from->owner.len + (name ? name->len : 0)),
			GFP_NOFS | __GFP_NOFAIL);
	again->args = *from;
	again->args.open_type = DAFS_OPEN_NOCREATE;
	memcpy(again->buf, from->owner.data, from->owner.len);
	again->args.owner.data = again->buf;
	if (name) {
		again->name = (struct dafs_str){ name->len, again->buf + from->owner.len };
		memcpy(again->buf + from->owner.len, name->data, name->len);
		again->args.pathname.elems = &again->name;
	}
	return again;
}

/* Opens once more, and if that was done already learns the state-id of it (6.5.24). */
static int dafs_open_repeat(struct dafs_client *clnt, const struct dafs_op *left,
			    struct dafs_open_res *res)
{
	const struct dafs_open_args *args = left->args;
	struct dafs_op op = {
		.cred = left->cred,
		.proc = DAFS_PROC_OPEN,
		.args = left->args,
		.res = res,
		.retry_nomem = true,
		.prepare = left->prepare,
		.priv = left->priv,
	};
	int err;

	/* what has no name and no handle cannot be found */
	if (args->claim_type == DAFS_CLAIM_CREATE_UNLINKED)
		return -ENOENT;
	err = dafs_op_run(clnt, &op);
	dafs_op_end(&op);
	return err;
}

/* An OPEN whose task was killed, or has given up: it is not going to close it. */
static void dafs_open_undo(struct dafs_client *clnt, struct dafs_op *op)
{
	struct dafs_open_res res = {};
	int err;

	/* see dafs_op_decode() */
	if (op->call && dafs_decode_res(&op->call->buf, DAFS_PROC_OPEN, &res)) {
		dafs_conn_failed(op->conn);
		dafs_op_end(op);
	}
	err = op->call ? 0 : dafs_open_repeat(clnt, op, &res);
	dafs_op_end(op);
	if (err)
		return;
	dafs_close(clnt, op->cred, &res.filehandle, &res.state_id);
	if (res.delegation_type)
		dafs_delegreturn(clnt, &res.deleg_state_id, NULL);
}

static struct dafs_op dafs_open_op(const struct cred *cred, struct dafs_open_args *args,
				   struct dafs_open_res *res)
{
	return (struct dafs_op) {
		.cred = cred,
		.proc = DAFS_PROC_OPEN,
		.args = args,
		.res = res,
		.gives_fh = &res->filehandle,
		.undo = dafs_open_undo,
		.copy = dafs_open_copy,
	};
}

static void dafs_open_take(struct dafs_opened *opened, const struct dafs_op *op)
{
	const struct dafs_open_res *res = op->res;

	opened->open = true;
	opened->fh = res->filehandle;
	opened->state_id = res->state_id;
	opened->change = res->change_info;
	opened->client_id = op->client_id;
}

/* What the caller cannot make use of goes back at once. */
static void dafs_open_take_delegation(struct dafs_client *clnt, const struct dafs_open_how *how,
				      const struct dafs_open_res *res, struct dafs_opened *opened)
{
	if (!res->delegation_type)
		return;
	if (how->former || (how->delegable && !res->recall))
		opened->delegation = (struct dafs_delegation){
			.type = res->delegation_type,
			.state_id = res->deleg_state_id,
			.recalled = res->recall,
		};
	else
		dafs_delegreturn(clnt, &res->deleg_state_id, how->leave);
}

/* Where there is no room for another open, open(2) says that too many files are open. */
static int dafs_open_errno(int err, dafs_status_t status)
{
	return err && status == DAFSERR_RESOURCE ? -ENFILE : err;
}

/*
 * What may be taken for a reclaim is not sent in a grace period.  It is sent on the connection
 * that this has been answered on, so the period cannot begin in between.
 */
static int dafs_open_ask_grace(struct dafs_op *op, struct dafs_call *call)
{
	const struct dafs_open_args *args = op->args;
	dafs_status_t status;
	int grace;

	grace = dafs_lock_grace(op->priv, op->conn, op->cred, &args->dir_handle, &args->owner,
				&status);
	return grace > 0 ? -EAGAIN : grace;
}

/* On @conn, or without one on that of @clnt.  @how is what @args were made of. */
static int dafs_open_run(struct dafs_client *clnt, struct dafs_conn *conn,
			 const struct cred *cred, struct dafs_open_args *args,
			 const struct dafs_open_how *how, struct dafs_opened *opened)
{
	struct dafs_open_res res = {};
	struct dafs_op op = dafs_open_op(cred, args, &res);
	int err;

	op.leave = how->leave;
	op.nodelay = how->nodelay;
	if (how->shared)
		op.undo = NULL;
	if (how->anew) {
		op.prepare = dafs_open_ask_grace;
		op.priv = clnt;
	}
	err = conn ? dafs_op_run_on(clnt, conn, &op) : dafs_op_run(clnt, &op);
	opened->status = op.status;
	if (!err)
		dafs_open_take(opened, &op);
	dafs_op_end(&op);
	/* nothing is waited for on a connection that is not in use yet, so nothing returned */
	if (!err && (!conn || how->former))
		dafs_open_take_delegation(clnt, how, &res, opened);
	return dafs_open_errno(err, opened->status);
}

/*
 * The SETATTR changes the times that the verifier is kept in, so it waits for the response
 * to the OPEN.  In the same chain it may be executed although that response is lost with
 * the connection, and the OPEN that is sent again would find a name that is taken.
 */
static int dafs_open_exclusive(struct dafs_client *clnt, const struct cred *cred,
			       struct dafs_open_args *args, const struct dafs_open_how *how,
			       struct dafs_opened *opened)
{
	const struct dafs_state_id none = {};
	int err = dafs_open_run(clnt, NULL, cred, args, how, opened);

	if (err)
		return err;
	return dafs_setattr(clnt, cred, &opened->fh, &none, how->attr);
}

/**
 * dafs_open() - open, and if asked to create, a file by its name (6.5.24)
 * @clnt: client
 * @cred: whom to act for
 * @dir: the directory
 * @name: the name
 * @how: for whom and for what
 * @opened: filled; if @opened->open is set although this fails, the file is there
 *	without its attributes, and for the caller to close
 *
 * Context: may sleep.
 * Return: 0 or a negative errno; -ENFILE if the server has no room for another open.
 */
int dafs_open(struct dafs_client *clnt, const struct cred *cred,
	      const struct dafs_fh *dir, const struct qstr *name,
	      const struct dafs_open_how *how, struct dafs_opened *opened)
{
	struct dafs_str component = { .len = name->len, .data = name->name };
	struct dafs_open_args args;

	dafs_open_args_init(&args, DAFS_CLAIM_NULL, dir, how);
	args.pathname.count = 1;
	args.pathname.elems = &component;
	if (how->create)
		dafs_open_args_create(&args, how);
	if (how->create && how->mode == DAFS_CREATE_EXCLUSIVE && how->attr)
		return dafs_open_exclusive(clnt, cred, &args, how, opened);
	return dafs_open_run(clnt, NULL, cred, &args, how, opened);
}

/**
 * dafs_open_attrs() - open a file by its name, and have its attributes
 * @clnt: client
 * @cred: whom to act for
 * @dir: the directory
 * @name: the name
 * @how: for whom and for what; nothing is created
 * @bitmap: DAFS_FATTR_* wanted
 * @opened: filled
 * @found: filled; nothing but its count if the file was opened and did not tell
 *
 * OPEN and GETATTR in one chain (6.5.24, 6.5.13).
 *
 * Context: may sleep.
 * Return: 0 if the file was opened, or a negative errno.
 */
int dafs_open_attrs(struct dafs_client *clnt, const struct cred *cred,
		    const struct dafs_fh *dir, const struct qstr *name,
		    const struct dafs_open_how *how, u64 bitmap, struct dafs_opened *opened,
		    struct dafs_found *found)
{
	struct dafs_str component = { .len = name->len, .data = name->name };
	struct dafs_getattr_args getattr;
	struct dafs_open_args args;
	struct dafs_open_res res = {};
	struct dafs_op ops[2] = { dafs_open_op(cred, &args, &res) };
	int err;

	dafs_open_args_init(&args, DAFS_CLAIM_NULL, dir, how);
	args.pathname.count = 1;
	args.pathname.elems = &component;
	dafs_getattr_op(&ops[1], &getattr, cred, bitmap, &found->attr);
	ops[1].takes_fh = &getattr.filehandle;
	found->done = dafs_op_run_chain(clnt, ops, ARRAY_SIZE(ops), &err);
	opened->status = ops[0].status;
	if (found->done)
		dafs_open_take(opened, &ops[0]);
	if (!err)
		dafs_fattr_take(&found->attr, bitmap, &found->ids);
	dafs_op_end(&ops[0]);
	dafs_op_end(&ops[1]);
	if (found->done)
		dafs_open_take_delegation(clnt, how, &res, opened);
	return found->done ? 0 : dafs_open_errno(err, opened->status);
}

/**
 * dafs_open_unlinked() - make a file without a name, and open it (6.5.24)
 * @clnt: client
 * @cred: whom to act for
 * @dir: a directory of the file system to make it in
 * @how: for whom and for what; the mode of creation is DAFS_CREATE_UNCHECKED
 * @opened: filled
 *
 * Context: may sleep.
 * Return: 0, -EOPNOTSUPP or another negative errno.
 */
int dafs_open_unlinked(struct dafs_client *clnt, const struct cred *cred,
		       const struct dafs_fh *dir, const struct dafs_open_how *how,
		       struct dafs_opened *opened)
{
	struct dafs_open_args args;

	dafs_open_args_init(&args, DAFS_CLAIM_CREATE_UNLINKED, dir, how);
	dafs_open_args_create(&args, how);
	return dafs_open_run(clnt, NULL, cred, &args, how, opened);
}

/**
 * dafs_open_reclaim() - get back an open that the server has lost (4.4.1.6)
 * @clnt: client
 * @conn: a connection of it, or NULL to wait for the current one
 * @cred: whom to act for
 * @fh: the file
 * @how: as it was opened; nothing is created
 * @opened: filled
 *
 * Context: may sleep.
 * Return: 0 or a negative errno, as dafs_op_run_on().
 */
int dafs_open_reclaim(struct dafs_client *clnt, struct dafs_conn *conn,
		      const struct cred *cred, const struct dafs_fh *fh,
		      const struct dafs_open_how *how, struct dafs_opened *opened)
{
	struct dafs_open_args args;

	dafs_open_args_init(&args, DAFS_CLAIM_PREVIOUS, fh, how);
	args.delegate_type = how->former;
	return dafs_open_run(clnt, conn, cred, &args, how, opened);
}

/**
 * dafs_open_handle() - open by its filehandle what the client has not had open so
 * @clnt: client
 * @cred: whom to act for
 * @fh: the file
 * @how: for whom and for what; nothing is created
 * @opened: filled
 *
 * Only CLAIM_PREVIOUS goes by a filehandle (6.5.24).  In a grace period the server would take it
 * for a reclaim, and grant what may be in the way of others' reclaims (4.4.1.6): until the client
 * has sent DELEGPURGE, which may be late, or never come.  So the client waits for the end; unless
 * @how->nodelay is set.
 *
 * Context: may sleep; a fatal signal ends it.
 * Return: 0 or a negative errno, as dafs_op_run(); with @how->nodelay -EAGAIN without a status in
 * @opened if it would have to wait for that.
 */
int dafs_open_handle(struct dafs_client *clnt, const struct cred *cred, const struct dafs_fh *fh,
		     const struct dafs_open_how *how, struct dafs_opened *opened)
{
	struct dafs_open_how anew = *how;
	struct dafs_open_args args;
	unsigned int delay_ms = 0;
	int err;

	anew.anew = true;
	dafs_open_args_init(&args, DAFS_CLAIM_PREVIOUS, fh, &anew);
	do {
		err = dafs_open_run(clnt, NULL, cred, &args, &anew, opened);
		/* a status is that of OPEN itself */
		if (err != -EAGAIN || opened->status || how->nodelay)
			return err;
		err = how->leave && READ_ONCE(*how->leave) ? -EIO : dafs_op_sleep(&delay_ms);
	} while (!err);
	return err;
}

/**
 * dafs_open_downgrade() - give up part of an open (6.5.26)
 * @clnt: client
 * @cred: whom to act for
 * @args: the open, and what is to be left of it
 * @leave: no connection is waited for when this is true, see struct dafs_op; or NULL
 * @status: DAFS status of the response; OK also if there was none
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dafs_open_downgrade(struct dafs_client *clnt, const struct cred *cred,
			struct dafs_open_downgrade_args *args, const bool *leave,
			dafs_status_t *status)
{
	struct dafs_op op = {
		.cred = cred,
		.proc = DAFS_PROC_OPEN_DOWNGRADE,
		.args = args,
		.retry_nomem = true,
		.leave = leave,
	};
	int err = dafs_op_run(clnt, &op);

	*status = op.status;
	dafs_op_end(&op);
	return err;
}

/**
 * dafs_close_unless() - end an open (6.5.7)
 * @clnt: client
 * @cred: whom to act for
 * @fh: the file
 * @state_id: the open
 * @leave: no connection is waited for when this is true, see struct dafs_op; or NULL
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dafs_close_unless(struct dafs_client *clnt, const struct cred *cred,
		      const struct dafs_fh *fh, const struct dafs_state_id *state_id,
		      const bool *leave)
{
	struct dafs_close_args args = {
		.filehandle = *fh,
		.state_id = *state_id,
	};
	struct dafs_op op = {
		.cred = cred,
		.proc = DAFS_PROC_CLOSE,
		.args = &args,
		.retry_nomem = true,
		.leave = leave,
	};

	return dafs_proc_simple(clnt, &op);
}

/**
 * dafs_close_on() - end an open, without waiting for the session
 * @clnt: client
 * @conn: a connection of it
 * @cred: whom to act for
 * @fh: the file
 * @state_id: the open
 * @status: DAFS status of the response; OK also if there was none
 *
 * Context: may sleep, but not because the server asks for patience.
 * Return: 0 or a negative errno, as dafs_op_run_on().
 */
int dafs_close_on(struct dafs_client *clnt, struct dafs_conn *conn, const struct cred *cred,
		  const struct dafs_fh *fh, const struct dafs_state_id *state_id,
		  dafs_status_t *status)
{
	struct dafs_close_args args = {
		.filehandle = *fh,
		.state_id = *state_id,
	};
	struct dafs_op op = {
		.cred = cred,
		.proc = DAFS_PROC_CLOSE,
		.args = &args,
		.nodelay = true,
	};
	int err = dafs_op_run_on(clnt, conn, &op);

	*status = op.status;
	dafs_op_end(&op);
	return err;
}

/**
 * dafs_close() - end an open, however long that takes
 * @clnt: client
 * @cred: whom to act for
 * @fh: the file
 * @state_id: the open
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dafs_close(struct dafs_client *clnt, const struct cred *cred,
	       const struct dafs_fh *fh, const struct dafs_state_id *state_id)
{
	return dafs_close_unless(clnt, cred, fh, state_id, NULL);
}

/**
 * dafs_close_and_return() - end an open and return the delegation of its file
 * @clnt: client
 * @cred: whom to act for
 * @fh: the file
 * @state_id: the open
 * @deleg: the delegation
 * @leave: no connection is waited for when this is true, see struct dafs_op
 *
 * CLOSE and DELEGRETURN in one chain (6.5.7, 6.5.11): who waits for the delegation must not
 * find the file open, and should not have to wait for two round trips.  The delegation is
 * returned whatever becomes of the open.
 *
 * Context: may sleep.
 * Return: 0 if the open has ended, or a negative errno.
 */
int dafs_close_and_return(struct dafs_client *clnt, const struct cred *cred,
			  const struct dafs_fh *fh, const struct dafs_state_id *state_id,
			  const struct dafs_state_id *deleg, const bool *leave)
{
	struct dafs_close_args close = {
		.filehandle = *fh,
		.state_id = *state_id,
	};
	struct dafs_delegreturn_args args = { .state_id = *deleg };
	struct dafs_op ops[2] = {
		{
			.cred = cred,
			.proc = DAFS_PROC_CLOSE,
			.args = &close,
			.retry_nomem = true,
			.leave = leave,
		}, {
			.proc = DAFS_PROC_DELEGRETURN,
			.args = &args,
			.retry_nomem = true,
			.leave = leave,
		},
	};
	unsigned int done;
	int err;

	done = dafs_op_run_chain(clnt, ops, ARRAY_SIZE(ops), &err);
	dafs_op_end(&ops[0]);
	dafs_op_end(&ops[1]);
	if (done)
		return 0;
	dafs_delegreturn(clnt, deleg, leave);
	return err;
}

/**
 * dafs_delegreturn() - return a delegation (6.5.11)
 * @clnt: client
 * @state_id: the delegation
 * @leave: no connection is waited for when this is true, see struct dafs_op; or NULL
 *
 * Context: may sleep.
 * Return: 0 or a negative errno; also if the server does not know it any more.
 */
int dafs_delegreturn(struct dafs_client *clnt, const struct dafs_state_id *state_id,
		     const bool *leave)
{
	struct dafs_delegreturn_args args = { .state_id = *state_id };
	struct dafs_op op = {
		.proc = DAFS_PROC_DELEGRETURN,
		.args = &args,
		.retry_nomem = true,
		.leave = leave,
	};

	return dafs_proc_simple(clnt, &op);
}
