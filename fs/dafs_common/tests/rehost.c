// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the elements of the arrays of decoded messages and puts them where the encoder
 * looks for them.  Compiled into the KUnit module and into the fuzzer.
 */
#include <linux/align.h>
#include <linux/errno.h>
#include <linux/string.h>
#include "../wire/cursor.h"
#include "rehost.h"

static void *arena_take(struct dafs_arena *arena, size_t count, size_t size)
{
	size_t room = arena->size - arena->used;
	void *p = arena->base + arena->used;

	size = ALIGN(size, 8);
	if (count > room / size)
		return NULL;
	arena->used += count * size;
	return p;
}

static int rehost_path(const struct dafs_buf *buf, struct dafs_seq *path, struct dafs_arena *arena)
{
	struct dafs_path_iter iter;
	struct dafs_str *elems;
	struct dafs_str beyond;
	u32 i;

	elems = arena_take(arena, path->count, sizeof(*elems));
	if (!elems)
		return -ENOMEM;
	dafs_path_start(path, &iter);
	for (i = 0; i < path->count; i++)
		if (!dafs_path_next(buf, &iter, &elems[i]))
			return -EBADMSG;
	if (dafs_path_next(buf, &iter, &beyond))
		return -ERANGE;
	path->elems = elems;
	return 0;
}

/* rehost_NAME(): all elements, which dafs_elem_NAME describes, with INNER() */
#define DEFINE_REHOST(name, type, inner)						\
static int rehost_##name(const struct dafs_buf *buf, struct dafs_seq *seq,		\
			 struct dafs_arena *arena)					\
{											\
	type *elems = arena_take(arena, seq->count, sizeof(type));			\
	int err = 0;									\
	u32 i;										\
											\
	if (!elems)									\
		return -ENOMEM;								\
	for (i = 0; i < seq->count && !err; i++) {					\
		err = dafs_x_element(buf, seq, i, &dafs_elem_##name, &elems[i]);	\
		if (!err)								\
			err = inner(buf, &elems[i], arena);				\
	}										\
	seq->elems = elems;								\
	return err;									\
}

static int rehost_flat(const struct dafs_buf *buf, void *elem, struct dafs_arena *arena)
{
	return 0;
}

DEFINE_REHOST(s32, s32, rehost_flat)
DEFINE_REHOST(direct_buf, struct dafs_direct_buf, rehost_flat)
DEFINE_REHOST(file_chunk, struct dafs_file_chunk, rehost_flat)
DEFINE_REHOST(completion, struct dafs_completion, rehost_flat)
DEFINE_REHOST(ace, struct dafs_ace, rehost_flat)
DEFINE_REHOST(authtype, struct dafs_authtype, rehost_flat)

static int rehost_in_request(const struct dafs_buf *buf, struct dafs_rw_request *req,
			     struct dafs_arena *arena)
{
	return rehost_file_chunk(buf, &req->chunks, arena) ?:
	       rehost_direct_buf(buf, &req->request_buffers, arena);
}

static int rehost_in_location(const struct dafs_buf *buf, struct dafs_fs_location *loc,
			      struct dafs_arena *arena)
{
	return rehost_path(buf, &loc->root_path, arena);
}

DEFINE_REHOST(rw_request, struct dafs_rw_request, rehost_in_request)
DEFINE_REHOST(fs_location, struct dafs_fs_location, rehost_in_location)

static int rehost_in_locations(const struct dafs_buf *buf, struct dafs_fs_locations *locs,
			       struct dafs_arena *arena)
{
	return rehost_path(buf, &locs->fs_root, arena) ?:
	       rehost_fs_location(buf, &locs->locations, arena);
}

DEFINE_REHOST(fs_locations, struct dafs_fs_locations, rehost_in_locations)

static int rehost_direntries(const struct dafs_buf *buf, struct dafs_seq *entries,
			     struct dafs_arena *arena)
{
	struct dafs_direntry *elems = arena_take(arena, entries->count, sizeof(*elems));
	struct dafs_direntry_iter iter;
	int err = 0;
	u32 i;

	if (!elems)
		return -ENOMEM;
	dafs_direntry_start(buf, entries, &iter);
	for (i = 0; i < entries->count && !err; i++) {
		err = dafs_direntry_next(buf, &iter, &elems[i]);
		err = err > 0 ? rehost_ace(buf, &elems[i].attrs.acl, arena) : err ?: -ERANGE;
	}
	entries->elems = elems;
	return err;
}

static int rehost_args(const struct dafs_buf *buf, u32 proc, union dafs_args *args,
		       struct dafs_arena *arena)
{
	switch (proc) {
	case DAFS_PROC_REGISTER_CRED:
		return rehost_s32(buf, &args->register_cred.groups, arena);
	case DAFS_PROC_LOOKUP:
		return rehost_path(buf, &args->lookup.path, arena);
	case DAFS_PROC_OPEN:
		return rehost_path(buf, &args->open.pathname, arena) ?:
		       rehost_ace(buf, &args->open.createattrs.acl, arena);
	case DAFS_PROC_CREATE:
		return rehost_ace(buf, &args->create.attr.acl, arena);
	case DAFS_PROC_VERIFY:
	case DAFS_PROC_NVERIFY:
		return rehost_ace(buf, &args->verify.obj_attributes.acl, arena);
	case DAFS_PROC_SETATTR_INLINE:
		return rehost_ace(buf, &args->setattr_inline.obj_attributes.acl, arena);
	case DAFS_PROC_READ_DIRECT:
		return rehost_direct_buf(buf, &args->read_direct.read_data_buffers, arena);
	case DAFS_PROC_READDIR_DIRECT:
		return rehost_direct_buf(buf, &args->readdir.readdir_data_buffers, arena);
	case DAFS_PROC_WRITE_DIRECT:
		return rehost_direct_buf(buf, &args->write_direct.write_data_buffers, arena);
	case DAFS_PROC_BATCH_SUBMIT:
		return rehost_rw_request(buf, &args->batch_submit.requests, arena);
	case DAFS_PROC_BC_BATCH_COMPLETION:
		return rehost_completion(buf, &args->bc_batch_completion.completions, arena);
	case DAFS_PROC_SET_FENCING_LIST:
		return rehost_path(buf, &args->set_fencing_list.fence_list, arena);
	default:
		return 0;
	}
}

static int rehost_res(const struct dafs_buf *buf, u32 proc, union dafs_res *res,
		      struct dafs_arena *arena)
{
	switch (proc) {
	case DAFS_PROC_SECINFO:
		return rehost_authtype(buf, &res->secinfo.secinfo, arena);
	case DAFS_PROC_GET_FENCING_LIST:
		return rehost_path(buf, &res->get_fencing_list.fence_list, arena);
	case DAFS_PROC_GETATTR_INLINE:
	case DAFS_PROC_BC_GETATTR:
		return rehost_ace(buf, &res->getattr.obj_attributes.acl, arena);
	case DAFS_PROC_GET_FSATTR:
		return rehost_fs_locations(buf, &res->get_fsattr.obj_attributes.failover_locations,
					   arena);
	case DAFS_PROC_READDIR_INLINE:
		return rehost_direntries(buf, &res->readdir_inline.entries, arena);
	case DAFS_PROC_BATCH_SUBMIT:
		return rehost_completion(buf, &res->batch_submit.completions, arena);
	default:
		return 0;
	}
}

/**
 * dafs_rehost() - make a decoded message ready to be encoded
 * @buf: buffer it was decoded from
 * @what: its kind and procedure
 * @host: host form; its arrays get elements
 * @arena: memory for the elements
 *
 * Return: 0; -ENOMEM if the arena is too small; another error if an accessor
 * failed, which is a bug.
 */
int dafs_rehost(const struct dafs_buf *buf, const struct dafs_vector *what,
		union dafs_vector_host *host, struct dafs_arena *arena)
{
	switch (what->kind) {
	case DAFS_VECTOR_ARGS:
		return rehost_args(buf, what->proc, &host->args, arena);
	case DAFS_VECTOR_RES:
		return rehost_res(buf, what->proc, &host->res, arena);
	case DAFS_VECTOR_FATTR:
		return rehost_ace(buf, &host->fattr.acl, arena);
	case DAFS_VECTOR_DIRENTRIES:
		return rehost_direntries(buf, &host->entries, arena);
	default:
		return 0;
	}
}

/**
 * dafs_vector_encode() - encode a vector of any kind
 * @buf: where to
 * @what: kind and procedure
 * @host: host form
 *
 * Return: as the encoder.
 */
int dafs_vector_encode(const struct dafs_buf *buf, const struct dafs_vector *what,
		       union dafs_vector_host *host)
{
	switch (what->kind) {
	case DAFS_VECTOR_ARGS:
		return dafs_encode_args(buf, what->proc, &host->args);
	case DAFS_VECTOR_RES:
		return dafs_encode_res(buf, what->proc, &host->res);
	case DAFS_VECTOR_FATTR:
		return dafs_encode_fattr(buf, &host->fattr);
	case DAFS_VECTOR_DIRENTRIES:
		return dafs_encode_direntries(buf, &host->entries);
	default:
		return dafs_encode_link(buf, &host->link);
	}
}

/* Entries are checked one by one when they are read. */
static int check_direntries(const struct dafs_buf *buf, const struct dafs_seq *entries)
{
	struct dafs_direntry_iter iter;
	struct dafs_direntry entry;
	int err;

	dafs_direntry_start(buf, entries, &iter);
	do {
		err = dafs_direntry_next(buf, &iter, &entry);
	} while (err > 0);
	return err;
}

static int decode_res(const struct dafs_buf *buf, u32 proc, union dafs_res *res)
{
	int err = dafs_decode_res(buf, proc, res);

	if (err || proc != DAFS_PROC_READDIR_INLINE)
		return err;
	return check_direntries(buf, &res->readdir_inline.entries);
}

/**
 * dafs_vector_decode() - decode a vector of any kind
 * @buf: where from
 * @what: kind and procedure; its host form gives the members that are not on the wire
 * @host: filled
 *
 * Return: as the decoder.
 */
int dafs_vector_decode(const struct dafs_buf *buf, const struct dafs_vector *what,
		       union dafs_vector_host *host)
{
	/* members not on the wire come first; decoding clears the others */
	memset(host, 0xa5, sizeof(*host));
	memcpy(host, &what->host, sizeof(u32));
	switch (what->kind) {
	case DAFS_VECTOR_ARGS:
		return dafs_decode_args(buf, what->proc, &host->args);
	case DAFS_VECTOR_RES:
		return decode_res(buf, what->proc, &host->res);
	case DAFS_VECTOR_FATTR:
		return dafs_decode_fattr(buf, &host->fattr);
	case DAFS_VECTOR_DIRENTRIES:
		return dafs_decode_direntries(buf, &host->entries) ?:
		       check_direntries(buf, &host->entries);
	default:
		return dafs_decode_link(buf, &host->link);
	}
}
