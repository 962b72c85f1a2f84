// SPDX-License-Identifier: GPL-2.0
/*
 * OPEN, OPEN_DOWNGRADE and CLOSE: the state that a server keeps for an open file
 * (4.4.1.2).
 */
#include <linux/dcache.h>
#include <linux/slab.h>
#include <kunit/visibility.h>
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
		.share_key_type = DAFS_OPEN_SHARE_KEY_NONE,
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

static struct dafs_op dafs_open_op(const struct cred *cred, struct dafs_open_args *args,
				   struct dafs_open_res *res)
{
	return (struct dafs_op) {
		.cred = cred,
		.proc = DAFS_PROC_OPEN,
		.args = args,
		.res = res,
		.gives_fh = &res->filehandle,
		.keeps = true,
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

/* On @conn, or without one on the session's own. */
static int dafs_open_run(struct dafs_session *ses, struct dafs_conn *conn,
			 const struct cred *cred, struct dafs_open_args *args,
			 struct dafs_opened *opened)
{
	struct dafs_open_res res = {};
	struct dafs_op op = dafs_open_op(cred, args, &res);
	int err = conn ? dafs_op_run_on(ses, conn, &op) : dafs_op_run(ses, &op);

	opened->status = op.status;
	if (!err)
		dafs_open_take(opened, &op);
	dafs_op_end(&op);
	return err;
}

static int dafs_open_run_dressed(struct dafs_session *ses, const struct cred *cred,
				 struct dafs_open_args *args,
				 struct dafs_setattr_inline_args *setattr,
				 struct dafs_opened *opened)
{
	struct dafs_open_res res = {};
	struct dafs_op ops[2] = { dafs_open_op(cred, args, &res) };
	int err;

	dafs_setattr_op(&ops[1], setattr, cred);
	ops[1].takes_fh = &setattr->filehandle;
	if (dafs_op_run_chain(ses, ops, ARRAY_SIZE(ops), &err))
		dafs_open_take(opened, &ops[0]);
	opened->status = ops[0].status;
	dafs_op_end(&ops[0]);
	dafs_op_end(&ops[1]);
	return err;
}

static int dafs_open_exclusive(struct dafs_session *ses, const struct cred *cred,
			       struct dafs_open_args *args, const struct dafs_fattr *attr,
			       struct dafs_opened *opened)
{
	struct dafs_setattr_inline_args *setattr = kzalloc(sizeof(*setattr), GFP_KERNEL);
	int err;

	if (!setattr)
		return -ENOMEM;
	setattr->obj_attributes = *attr;
	err = dafs_open_run_dressed(ses, cred, args, setattr, opened);
	kfree(setattr);
	return err;
}

/**
 * dafs_open() - open, and if asked to create, a file by its name (6.5.24)
 * @ses: session
 * @cred: whom to act for
 * @dir: the directory
 * @name: the name
 * @how: for whom and for what
 * @opened: filled; if @opened->open is set although this fails, the file is there
 *	without its attributes, and for the caller to close
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dafs_open(struct dafs_session *ses, const struct cred *cred,
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
		return dafs_open_exclusive(ses, cred, &args, how->attr, opened);
	return dafs_open_run(ses, NULL, cred, &args, opened);
}
EXPORT_SYMBOL_IF_KUNIT(dafs_open);

/**
 * dafs_open_attrs() - open a file by its name, and have its attributes
 * @ses: session
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
int dafs_open_attrs(struct dafs_session *ses, const struct cred *cred,
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
	found->done = dafs_op_run_chain(ses, ops, ARRAY_SIZE(ops), &err);
	opened->status = ops[0].status;
	if (found->done)
		dafs_open_take(opened, &ops[0]);
	if (!err)
		dafs_fattr_take(&found->attr, bitmap, &found->ids);
	dafs_op_end(&ops[0]);
	dafs_op_end(&ops[1]);
	return found->done ? 0 : err;
}
EXPORT_SYMBOL_IF_KUNIT(dafs_open_attrs);

/**
 * dafs_open_unlinked() - make a file without a name, and open it (6.5.24)
 * @ses: session
 * @cred: whom to act for
 * @dir: a directory of the file system to make it in
 * @how: for whom and for what; the mode of creation is DAFS_CREATE_UNCHECKED
 * @opened: filled
 *
 * Context: may sleep.
 * Return: 0, -EOPNOTSUPP or another negative errno.
 */
int dafs_open_unlinked(struct dafs_session *ses, const struct cred *cred,
		       const struct dafs_fh *dir, const struct dafs_open_how *how,
		       struct dafs_opened *opened)
{
	struct dafs_open_args args;

	dafs_open_args_init(&args, DAFS_CLAIM_CREATE_UNLINKED, dir, how);
	dafs_open_args_create(&args, how);
	return dafs_open_run(ses, NULL, cred, &args, opened);
}
EXPORT_SYMBOL_IF_KUNIT(dafs_open_unlinked);

/**
 * dafs_open_reclaim() - get back an open that the server has lost (4.4.1.6)
 * @ses: session
 * @conn: a new connection of it, or NULL to wait for the current one
 * @cred: whom to act for
 * @fh: the file
 * @how: as it was opened; nothing is created
 * @opened: filled
 *
 * Context: may sleep.
 * Return: 0 or a negative errno, as dafs_op_run_on().
 */
int dafs_open_reclaim(struct dafs_session *ses, struct dafs_conn *conn,
		      const struct cred *cred, const struct dafs_fh *fh,
		      const struct dafs_open_how *how, struct dafs_opened *opened)
{
	struct dafs_open_args args;

	dafs_open_args_init(&args, DAFS_CLAIM_PREVIOUS, fh, how);
	return dafs_open_run(ses, conn, cred, &args, opened);
}
EXPORT_SYMBOL_IF_KUNIT(dafs_open_reclaim);

/**
 * dafs_open_downgrade() - give up part of an open (6.5.26)
 * @ses: session
 * @cred: whom to act for
 * @args: the open, and what is to be left of it
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dafs_open_downgrade(struct dafs_session *ses, const struct cred *cred,
			struct dafs_open_downgrade_args *args)
{
	struct dafs_op op = {
		.cred = cred,
		.proc = DAFS_PROC_OPEN_DOWNGRADE,
		.args = args,
	};

	return dafs_proc_simple(ses, &op);
}
EXPORT_SYMBOL_IF_KUNIT(dafs_open_downgrade);

/**
 * dafs_close() - end an open (6.5.7)
 * @ses: session
 * @cred: whom to act for
 * @fh: the file
 * @state_id: the open
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dafs_close(struct dafs_session *ses, const struct cred *cred,
	       const struct dafs_fh *fh, const struct dafs_opaque64 *state_id)
{
	struct dafs_close_args args = {
		.filehandle = *fh,
		.state_id = *state_id,
	};
	struct dafs_op op = {
		.cred = cred,
		.proc = DAFS_PROC_CLOSE,
		.args = &args,
		.dear = true,
	};

	return dafs_proc_simple(ses, &op);
}
EXPORT_SYMBOL_IF_KUNIT(dafs_close);
