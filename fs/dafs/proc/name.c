// SPDX-License-Identifier: GPL-2.0
/* Procedures on names: finding, making, removing and renaming objects. */
#include <linux/dcache.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "proc.h"

static struct dafs_str dafs_name(const struct qstr *name)
{
	return (struct dafs_str){ .len = name->len, .data = name->name };
}

/**
 * dafs_get_root_handle() - the root of the server's name space (6.5.12)
 * @clnt: client
 * @cred: whom to act for
 * @fh: filled
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dafs_get_root_handle(struct dafs_client *clnt, const struct cred *cred,
			 struct dafs_fh *fh)
{
	struct dafs_fh_res res = {};
	struct dafs_op op = {
		.cred = cred,
		.proc = DAFS_PROC_GET_ROOT_HANDLE,
		.res = &res,
	};
	int err = dafs_proc_simple(clnt, &op);

	if (!err)
		*fh = res.filehandle;
	return err;
}

/**
 * dafs_lookup_path() - walk a path on the server (6.5.21)
 * @clnt: client
 * @cred: whom to act for
 * @dir: where to begin
 * @names: the components
 * @nr: number of @names, at least 1
 * @fh: filled with the handle of the last one
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dafs_lookup_path(struct dafs_client *clnt, const struct cred *cred,
		     const struct dafs_fh *dir, const struct dafs_str *names,
		     u32 nr, struct dafs_fh *fh)
{
	struct dafs_lookup_args args = {
		.directory = *dir,
		.path = { .count = nr, .elems = names },
	};
	struct dafs_lookup_res res = {};
	struct dafs_op op = {
		.cred = cred,
		.proc = DAFS_PROC_LOOKUP,
		.args = &args,
		.res = &res,
	};
	int err = dafs_proc_simple(clnt, &op);

	if (!err)
		*fh = res.filehandle;
	return err;
}

/**
 * dafs_lookup() - find one name in a directory (6.5.21)
 * @clnt: client
 * @cred: whom to act for
 * @dir: the directory
 * @name: the name
 * @fh: filled
 *
 * Context: may sleep.
 * Return: 0, -ENOENT or another negative errno.
 */
int dafs_lookup(struct dafs_client *clnt, const struct cred *cred,
		const struct dafs_fh *dir, const struct qstr *name,
		struct dafs_fh *fh)
{
	struct dafs_str component = dafs_name(name);

	return dafs_lookup_path(clnt, cred, dir, &component, 1, fh);
}

/* Return: 0, or what the first of the operations that failed ended with. */
static int dafs_found_run(struct dafs_client *clnt, struct dafs_op *ops, unsigned int nr,
			  u64 bitmap, struct dafs_found *found)
{
	unsigned int i;
	int err;

	found->done = dafs_op_run_chain(clnt, ops, nr, &err);
	if (!err)
		dafs_fattr_take(&found->attr, bitmap, &found->ids);
	for (i = 0; i < nr; i++)
		dafs_op_end(&ops[i]);
	return err;
}

/**
 * dafs_lookup_attrs() - find one name in a directory, and what it leads to
 * @clnt: client
 * @cred: whom to act for
 * @dir: the directory
 * @name: the name
 * @bitmap: DAFS_FATTR_* wanted
 * @found: filled
 *
 * LOOKUP and GETATTR in one chain (6.5.21, 6.5.13).
 *
 * Context: may sleep.
 * Return: 0, -ENOENT or another negative errno; @found says how far it came.
 */
int dafs_lookup_attrs(struct dafs_client *clnt, const struct cred *cred,
		      const struct dafs_fh *dir, const struct qstr *name, u64 bitmap,
		      struct dafs_found *found)
{
	struct dafs_str component = dafs_name(name);
	struct dafs_lookup_args args = {
		.directory = *dir,
		.path = { .count = 1, .elems = &component },
	};
	struct dafs_lookup_res res = {};
	struct dafs_getattr_args getattr;
	struct dafs_op ops[2] = {{
		.cred = cred,
		.proc = DAFS_PROC_LOOKUP,
		.args = &args,
		.res = &res,
		.gives_fh = &res.filehandle,
	}};
	int err;

	dafs_getattr_op(&ops[1], &getattr, cred, bitmap, &found->attr);
	ops[1].takes_fh = &getattr.filehandle;
	err = dafs_found_run(clnt, ops, ARRAY_SIZE(ops), bitmap, found);
	if (found->done)
		found->fh = res.filehandle;
	return err;
}

/**
 * dafs_lookup_parent() - find the parent of a directory, by LOOKUPP (6.5.22)
 * @clnt: client
 * @cred: whom to act for
 * @dir: the directory
 * @fh: filled
 *
 * Context: may sleep.
 * Return: 0, -ENOENT if @dir is the root of the name space, or another
 * negative errno.
 */
int dafs_lookup_parent(struct dafs_client *clnt, const struct cred *cred,
		       const struct dafs_fh *dir, struct dafs_fh *fh)
{
	struct dafs_fh_args args = { .filehandle = *dir };
	struct dafs_fh_res res = {};
	struct dafs_op op = {
		.cred = cred,
		.proc = DAFS_PROC_LOOKUPP,
		.args = &args,
		.res = &res,
	};
	int err = dafs_proc_simple(clnt, &op);

	if (!err)
		*fh = res.filehandle;
	return err;
}

static struct dafs_op dafs_create_op(const struct cred *cred, struct dafs_create_args *args,
				     struct dafs_create_res *res)
{
	return (struct dafs_op) {
		.cred = cred,
		.proc = DAFS_PROC_CREATE,
		.args = args,
		.res = res,
		.gives_fh = &res->filehandle,
	};
}

static void dafs_create_describe(struct dafs_create_args *args, const struct dafs_fh *dir,
				 const struct qstr *name, const struct dafs_node *node)
{
	*args = (struct dafs_create_args) {
		.filehandle = *dir,
		.component = dafs_name(name),
		.obj_type = node->type,
		.linkdata = node->link,
		.specdata = node->dev,
	};
	if (node->attr)
		args->attr = *node->attr;
}

/**
 * dafs_create_attrs() - make an object, and have its attributes
 * @clnt: client
 * @cred: whom to act for
 * @dir: where
 * @name: its name
 * @node: what it is
 * @dress: attributes to be set before they are asked for, or NULL: CREATE itself
 *	sets those of directories only (E-30)
 * @bitmap: DAFS_FATTR_* wanted
 * @found: filled
 * @change: filled with what became of @dir, if @found says that it was made
 *
 * CREATE, SETATTR and GETATTR in one chain (6.5.9, 6.5.35, 6.5.13).
 *
 * Context: may sleep.
 * Return: 0 or a negative errno; @found says how far it came.
 */
int dafs_create_attrs(struct dafs_client *clnt, const struct cred *cred,
		      const struct dafs_fh *dir, const struct qstr *name,
		      const struct dafs_node *node, const struct dafs_fattr *dress,
		      u64 bitmap, struct dafs_found *found, struct dafs_change_info *change)
{
	struct dafs_create_args args;
	struct dafs_create_res res = {};
	struct dafs_setattr_inline_args *setattr = NULL;
	struct dafs_getattr_args getattr;
	struct dafs_op ops[3] = { dafs_create_op(cred, &args, &res) };
	unsigned int nr = 1;
	int err;

	if (dress) {
		setattr = kzalloc(sizeof(*setattr), GFP_KERNEL);
		if (!setattr)
			return -ENOMEM;
		setattr->obj_attributes = *dress;
		dafs_setattr_op(&ops[nr], setattr, cred);
		ops[nr].takes_fh = &setattr->filehandle;
		ops[nr++].gives_fh = &res.filehandle;
	}
	dafs_create_describe(&args, dir, name, node);
	dafs_getattr_op(&ops[nr], &getattr, cred, bitmap, &found->attr);
	ops[nr++].takes_fh = &getattr.filehandle;
	err = dafs_found_run(clnt, ops, nr, bitmap, found);
	if (found->done) {
		found->fh = res.filehandle;
		*change = res.change_info;
	}
	kfree(setattr);
	return err;
}

/**
 * dafs_remove() - remove a name, and the object with its last one (6.5.33)
 * @clnt: client
 * @cred: whom to act for
 * @dir: the directory
 * @name: the name
 * @mode: DAFS_REMOVE_*
 * @change: filled with what became of @dir
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dafs_remove(struct dafs_client *clnt, const struct cred *cred,
		const struct dafs_fh *dir, const struct qstr *name, u32 mode,
		struct dafs_change_info *change)
{
	struct dafs_remove_args args = {
		.filehandle = *dir,
		.target = dafs_name(name),
		.remove_mode = mode,
	};
	struct dafs_change_res res = {};
	struct dafs_op op = {
		.cred = cred,
		.proc = DAFS_PROC_REMOVE,
		.args = &args,
		.res = &res,
	};
	int err = dafs_proc_simple(clnt, &op);

	if (!err)
		*change = res.change_info;
	return err;
}

/**
 * dafs_rename() - give an object another name (6.5.34)
 * @clnt: client
 * @cred: whom to act for
 * @old_dir: where it is
 * @old_name: its name there
 * @new_dir: where it shall be
 * @new_name: its name there; replaced if it exists
 * @res: filled with what became of the directories
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dafs_rename(struct dafs_client *clnt, const struct cred *cred,
		const struct dafs_fh *old_dir, const struct qstr *old_name,
		const struct dafs_fh *new_dir, const struct qstr *new_name,
		struct dafs_rename_res *res)
{
	struct dafs_rename_args args = {
		.sourcedir = *old_dir,
		.targetdir = *new_dir,
		.oldname = dafs_name(old_name),
		.newname = dafs_name(new_name),
	};
	struct dafs_op op = {
		.cred = cred,
		.proc = DAFS_PROC_RENAME,
		.args = &args,
		.res = res,
	};

	return dafs_proc_simple(clnt, &op);
}

/**
 * dafs_link() - give an object one more name (6.5.17)
 * @clnt: client
 * @cred: whom to act for
 * @fh: the object, not a directory
 * @dir: where the name shall be, on the same file system
 * @name: the name
 * @change: filled with what became of @dir
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dafs_link(struct dafs_client *clnt, const struct cred *cred,
	      const struct dafs_fh *fh, const struct dafs_fh *dir,
	      const struct qstr *name, struct dafs_change_info *change)
{
	struct dafs_link_args args = {
		.source_object = *fh,
		.destination_object = *dir,
		.newname = dafs_name(name),
	};
	struct dafs_change_res res = {};
	struct dafs_op op = {
		.cred = cred,
		.proc = DAFS_PROC_LINK,
		.args = &args,
		.res = &res,
	};
	int err = dafs_proc_simple(clnt, &op);

	if (!err)
		*change = res.change_info;
	return err;
}

/* Copies the target and adds a terminating zero. A target with a zero byte is invalid. */
static int dafs_link_take(const struct dafs_str *link, char *buf, size_t size)
{
	if (link->len >= size)
		return -ENAMETOOLONG;
	if (!link->len || memchr(link->data, 0, link->len))
		return -EIO;
	memcpy(buf, link->data, link->len);
	buf[link->len] = 0;
	return link->len;
}

/**
 * dafs_readlink() - read a symbolic link (6.5.31)
 * @clnt: client
 * @cred: whom to act for
 * @fh: the link
 * @buf: filled with its target and a terminating zero
 * @size: of @buf in bytes
 *
 * A target that the response has no room for is read by RDMA.
 *
 * Context: may sleep.
 * Return: length of the target, -ENAMETOOLONG if it does not fit, -EIO if it
 * is empty or holds a zero byte, or another negative errno.
 */
int dafs_readlink(struct dafs_client *clnt, const struct cred *cred,
		  const struct dafs_fh *fh, char *buf, size_t size)
{
	struct dafs_fh_args args = { .filehandle = *fh };
	struct dafs_readlink_inline_res res = {};
	struct dafs_op op = {
		.cred = cred,
		.proc = DAFS_PROC_READLINK_INLINE,
		.args = &args,
		.res = &res,
	};
	int ret;

	ret = dafs_proc_call(clnt, &op);
	if (ret && op.status == DAFSERR_TOOSMALL)
		return dafs_readlink_direct(clnt, cred, fh, buf, size);
	if (ret)
		return ret;
	ret = dafs_link_take(&res.link, buf, size);
	dafs_op_end(&op);
	return ret;
}

static int dafs_readlink_describe(struct dafs_op *op, struct dafs_call *call)
{
	struct dafs_readlink_direct_args *args = op->args;

	args->buffer = op->mem->map.bufs[0];
	return 0;
}

static int dafs_readlink_mem(struct dafs_client *clnt, struct dafs_op *op, char *buf,
			     size_t size)
{
	struct dafs_direct_res res = {};
	struct dafs_buf received;
	struct dafs_str link;
	int ret;

	op->res = &res;
	ret = dafs_proc_call(clnt, op);
	if (ret)
		return ret;
	ret = dafs_proc_received(op, &res.direct_checksum, &received) ?:
	      dafs_decode_link(&received, &link) ?:
	      dafs_link_take(&link, buf, size);
	dafs_op_end(op);
	return ret;
}

/**
 * dafs_readlink_direct() - read a symbolic link by RDMA (6.5.32)
 * @clnt: client
 * @cred: whom to act for
 * @fh: the link
 * @buf: filled with its target and a terminating zero
 * @size: of @buf in bytes
 *
 * Context: may sleep.
 * Return: as dafs_readlink(); -ETOOSMALL if the target does not fit; -EBADMSG
 * if it did not arrive as it was sent.
 */
int dafs_readlink_direct(struct dafs_client *clnt, const struct cred *cred,
			 const struct dafs_fh *fh, char *buf, size_t size)
{
	struct dafs_readlink_direct_args args = { .filehandle = *fh };
	struct dafs_op op = {
		.cred = cred,
		.proc = DAFS_PROC_READLINK_DIRECT,
		.args = &args,
	};
	int ret = -ENOMEM;

	op.mem = kzalloc(sizeof(*op.mem), GFP_KERNEL);
	if (!op.mem)
		return ret;
	op.mem->size = sizeof(u32) + size;
	op.mem->data = kzalloc(op.mem->size, GFP_KERNEL);
	op.mem->dir = DMA_FROM_DEVICE;
	op.prepare = dafs_readlink_describe;
	if (op.mem->data)
		ret = dafs_readlink_mem(clnt, &op, buf, size);
	kfree(op.mem->data);
	kfree(op.mem);
	return ret;
}
