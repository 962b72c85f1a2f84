// SPDX-License-Identifier: GPL-2.0
/*
 * The table of procedures (6.1.10) and the functions that encode and decode
 * whole messages and direct metadata buffers with it.
 */
#include <linux/export.h>
#include <kunit/visibility.h>
#include "messages.h"

/**
 * struct dafs_body - what follows the header of a request or a response
 * @filter: NULL if nothing does
 * @wire: bytes of the fixed section (6.1.1.1)
 * @host: size of the host structure in bytes
 * @keep: bytes at its beginning that the caller sets before decoding
 */
struct dafs_body {
	dafs_filter filter;
	u16 wire;
	u16 host;
	u16 keep;
};

/**
 * struct dafs_proc - a procedure
 * @name: without the prefix DAFS_PROC_; NULL if the number is not assigned
 * @args: arguments
 * @res: results
 */
struct dafs_proc {
	const char *name;
	struct dafs_body args;
	struct dafs_body res;
};

#define NONE				{}
#define BODY_OF(fn, type, size)		{ dafs_x_##fn, size, sizeof(struct dafs_##type), 0 }
#define BODY(type, size)		BODY_OF(type, type, size)
#define BODY_KEEP(type, size)		\
	{ dafs_x_##type, size, sizeof(struct dafs_##type), sizeof(u32) }
#define PROC(proc, in, out)		\
	[DAFS_PROC_##proc - DAFS_PROC_FIRST] = { .name = #proc, .args = in, .res = out }

static const struct dafs_proc dafs_procs[DAFS_PROC_LAST - DAFS_PROC_FIRST + 1] = {
	PROC(CLIENT_AUTH, BODY(client_auth_args, 16), BODY(client_auth_res, 20)),
	PROC(CLIENT_CONNECT, BODY(client_connect_args, 56), BODY(client_connect_res, 56)),
	PROC(CLIENT_CONNECT_AUTH, BODY(client_connect_auth_args, 72),
	     BODY(client_connect_auth_res, 72)),
	PROC(CONNECT_BIND, BODY(connect_bind_args, 40), BODY(connect_bind_res, 32)),
	PROC(DISCONNECT, NONE, NONE),
	PROC(REGISTER_CRED, BODY(register_cred_args, 16), BODY(register_cred_res, 4)),
	PROC(RELEASE_CRED, BODY(release_cred_args, 4), NONE),
	PROC(SECINFO, NONE, BODY(secinfo_res, 4)),
	PROC(SERVER_AUTH, BODY(server_auth_args, 4), BODY_KEEP(server_auth_res, 8)),
	PROC(CHECK_RESPONSE, BODY(check_response_args, 16), NONE),
	/* its results are those of the procedure whose response is fetched */
	PROC(FETCH_RESPONSE, BODY(check_response_args, 16), NONE),
	PROC(DISCARD_RESPONSES, BODY(discard_responses_args, 8), NONE),
	PROC(ACCESS, BODY(access_args, 72), BODY(access_res, 8)),
	PROC(CACHE_HINT, BODY(cache_hint_args, 88), NONE),
	PROC(CLOSE, BODY(close_args, 72), NONE),
	PROC(COMMIT, BODY(commit_args, 80), BODY(commit_res, 8)),
	PROC(CREATE, BODY(create_args, 96), BODY(create_res, 88)),
	PROC(DELEGPURGE, NONE, NONE),
	PROC(DELEGRETURN, BODY(delegreturn_args, 8), NONE),
	PROC(GET_FSATTR, BODY(getattr_args, 72), BODY(get_fsattr_res, 4)),
	PROC(GET_ROOT_HANDLE, NONE, BODY(fh_res, 64)),
	PROC(GETATTR_INLINE, BODY(getattr_args, 72), BODY(getattr_res, 4)),
	PROC(GETATTR_DIRECT, BODY(getattr_direct_args, 88), BODY(direct_res, 4)),
	PROC(LINK, BODY(link_args, 136), BODY(change_res, 24)),
	PROC(LOCK, BODY(lock_args, 96), BODY(lock_res, 40)),
	PROC(LOCKT, BODY(lockt_args, 88), BODY(lock_res, 40)),
	PROC(LOCKU, BODY(locku_args, 96), NONE),
	PROC(LOOKUP, BODY(lookup_args, 72), BODY(lookup_res, 72)),
	PROC(LOOKUPP, BODY(fh_args, 64), BODY(fh_res, 64)),
	PROC(NULL, NONE, NONE),
	PROC(NVERIFY, BODY(verify_args, 72), NONE),
	PROC(OPEN, BODY(open_args, 144), BODY(open_res, 152)),
	PROC(OPEN_DOWNGRADE, BODY(open_downgrade_args, 96), NONE),
	PROC(OPENATTR, BODY(fh_args, 64), BODY(fh_res, 64)),
	PROC(READ_INLINE, BODY(read_inline_args, 88), BODY(read_inline_res, 8)),
	PROC(READ_DIRECT, BODY(read_direct_args, 96), BODY(read_direct_res, 12)),
	PROC(READDIR_INLINE, BODY_OF(readdir_inline_args, readdir_args, 96),
	     BODY(readdir_inline_res, 16)),
	PROC(READDIR_DIRECT, BODY_OF(readdir_direct_args, readdir_args, 104),
	     BODY(readdir_direct_res, 16)),
	PROC(READLINK_INLINE, BODY(fh_args, 64), BODY(readlink_inline_res, 4)),
	PROC(READLINK_DIRECT, BODY(readlink_direct_args, 80), BODY(direct_res, 4)),
	PROC(REMOVE, BODY(remove_args, 72), BODY(change_res, 24)),
	PROC(RENAME, BODY(rename_args, 136), BODY(rename_res, 48)),
	PROC(SETATTR_INLINE, BODY(setattr_inline_args, 80), BODY(setattr_res, 8)),
	PROC(SETATTR_DIRECT, BODY(setattr_direct_args, 96), BODY(setattr_res, 8)),
	PROC(VERIFY, BODY(verify_args, 72), NONE),
	PROC(BATCH_SUBMIT, BODY(batch_submit_args, 16), BODY(batch_completions, 4)),
	PROC(WRITE_INLINE, BODY_KEEP(write_inline_args, 96), BODY(write_res, 16)),
	PROC(WRITE_DIRECT, BODY(write_direct_args, 104), BODY(write_res, 16)),
	PROC(BC_GETATTR, BODY(getattr_args, 72), BODY(getattr_res, 4)),
	PROC(BC_NULL, NONE, NONE),
	PROC(BC_RECALL, BODY(bc_recall_args, 80), NONE),
	PROC(BC_BATCH_COMPLETION, BODY(batch_completions, 4), NONE),
	PROC(APPEND_INLINE, BODY_KEEP(append_inline_args, 88), BODY(append_res, 24)),
	PROC(APPEND_DIRECT, BODY(append_direct_args, 104), BODY(append_res, 24)),
	PROC(GET_FENCING_LIST, BODY(get_fencing_list_args, 64), BODY(get_fencing_list_res, 4)),
	PROC(SET_FENCING_LIST, BODY(set_fencing_list_args, 80), NONE),
	PROC(HURRY_UP, BODY(hurry_up_args, 8), NONE),
};

static const struct dafs_proc *dafs_find_proc(u32 proc)
{
	const struct dafs_proc *p;

	if (proc < DAFS_PROC_FIRST || proc > DAFS_PROC_LAST)
		return NULL;
	p = &dafs_procs[proc - DAFS_PROC_FIRST];
	return p->name ? p : NULL;
}

/**
 * dafs_proc_name() - name of a procedure, for messages to humans
 * @proc: any number
 *
 * Return: the draft's name without DAFS_PROC_, or "unknown".
 */
const char *dafs_proc_name(u32 proc)
{
	const struct dafs_proc *p = dafs_find_proc(proc);

	return p ? p->name : "unknown";
}
EXPORT_SYMBOL_GPL(dafs_proc_name);

/**
 * dafs_proc_known() - whether a procedure number is assigned (6.1.10)
 * @proc: any number
 *
 * Return: true if it is.
 */
bool dafs_proc_known(u32 proc)
{
	return dafs_find_proc(proc);
}
EXPORT_SYMBOL_IF_KUNIT(dafs_proc_known);

static int dafs_encode_body(const struct dafs_stream *s, const struct dafs_body *body, void *host)
{
	struct dafs_xdr x;

	if (dafs_x_init(&x, s, true, DAFS_HDR_SIZE))
		return x.err;
	if (body->filter) {
		dafs_x_item(&x, body->wire);
		x.first += body->wire;
		body->filter(&x, host);
	}
	return x.err ?: x.heap;
}

static int dafs_decode_body(const struct dafs_stream *s, const struct dafs_body *body, void *host)
{
	struct dafs_xdr x;

	if (dafs_x_init(&x, s, false, DAFS_HDR_SIZE))
		return x.err;
	if (body->filter) {
		memset(host + body->keep, 0, body->host - body->keep);
		x.first += body->wire;
		body->filter(&x, host);
	}
	return x.err;
}

/**
 * dafs_encode_args() - encode the arguments of a request
 * @s: where the request goes; the first DAFS_HDR_SIZE bytes are left alone
 * @proc: DAFS_PROC_*
 * @args: the structure for @proc in union dafs_args; ignored without arguments
 *
 * Return: length of the whole request in bytes, or -EMSGSIZE if that is more
 * than @s->len, or -EOPNOTSUPP if there is no such procedure.
 */
int dafs_encode_args(const struct dafs_stream *s, u32 proc, void *args)
{
	const struct dafs_proc *p = dafs_find_proc(proc);

	return p ? dafs_encode_body(s, &p->args, args) : -EOPNOTSUPP;
}
EXPORT_SYMBOL_IF_KUNIT(dafs_encode_args);

/**
 * dafs_decode_args() - decode the arguments of a request
 * @s: the request, as long as its header says
 * @proc: DAFS_PROC_*
 * @args: filled; the structure for @proc in union dafs_args; undefined after an
 *	error; refers to @s
 *
 * Everything the arguments refer to is checked here, so that reading it later
 * fails no more.  The time taken is bounded by a multiple of the length.
 * Values of enumerations and bit masks are not judged, but for the bits of
 * attributes, which decide on the layout.
 *
 * Return: 0, or -EBADMSG if the request is malformed (DAFSERR_INVAL), or
 * -EINVAL if it has attributes that this version does not know (E-20), or
 * -EOPNOTSUPP if there is no such procedure (DAFSERR_NOTSUPP).
 */
int dafs_decode_args(const struct dafs_stream *s, u32 proc, void *args)
{
	const struct dafs_proc *p = dafs_find_proc(proc);

	return p ? dafs_decode_body(s, &p->args, args) : -EOPNOTSUPP;
}
EXPORT_SYMBOL_GPL(dafs_decode_args);

/**
 * dafs_encode_res() - encode the results of a response
 * @s: where the response goes; the first DAFS_HDR_SIZE bytes are left alone
 * @proc: DAFS_PROC_*
 * @res: the structure for @proc in union dafs_res; ignored without results
 *
 * Return: length of the whole response in bytes, or -EMSGSIZE if that is more
 * than @s->len, or -EOPNOTSUPP if there is no such procedure.
 */
int dafs_encode_res(const struct dafs_stream *s, u32 proc, void *res)
{
	const struct dafs_proc *p = dafs_find_proc(proc);

	return p ? dafs_encode_body(s, &p->res, res) : -EOPNOTSUPP;
}
EXPORT_SYMBOL_GPL(dafs_encode_res);

/**
 * dafs_decode_res() - decode the results of a response
 * @s: the response, as long as its header says
 * @proc: DAFS_PROC_* of the request
 * @res: filled; the structure for @proc in union dafs_res; undefined after an
 *	error; refers to @s
 *
 * Whether a response carries results is told by its length and not by its
 * status: results that are missing read as zeros (ruling E-13).  The entries of
 * a READDIR are not checked yet, see dafs_direntry_next().
 *
 * Return: 0, or -EBADMSG if the response is malformed, or
 * -EINVAL if it has attributes that this version does not know (E-20), or
 * -EOPNOTSUPP if there is no such procedure.
 */
int dafs_decode_res(const struct dafs_stream *s, u32 proc, void *res)
{
	const struct dafs_proc *p = dafs_find_proc(proc);

	if (!p)
		return -EOPNOTSUPP;
	if (s->len == DAFS_HDR_SIZE) {
		if (p->res.filter)
			memset(res + p->res.keep, 0, p->res.host - p->res.keep);
		return 0;
	}
	return dafs_decode_body(s, &p->res, res);
}
EXPORT_SYMBOL_GPL(dafs_decode_res);

static void dafs_x_direntries_here(struct dafs_xdr *x, struct dafs_seq *entries)
{
	dafs_x_seq_here(x, entries, &dafs_elem_direntry);
}

/**
 * dafs_encode_fattr() - encode attributes into a direct metadata buffer
 * @s: the buffer
 * @attr: attributes
 *
 * Return: bytes used, or -EMSGSIZE if they do not fit.
 */
int dafs_encode_fattr(const struct dafs_stream *s, struct dafs_fattr *attr)
{
	struct dafs_xdr x;

	if (!dafs_x_init(&x, s, true, 0))
		dafs_x_fattr_here(&x, attr);
	return x.err ?: x.heap;
}
EXPORT_SYMBOL_GPL(dafs_encode_fattr);

static int dafs_walk_fattr(const struct dafs_stream *s, struct dafs_fattr *attr)
{
	struct dafs_xdr x;

	memset(attr, 0, sizeof(*attr));
	if (!dafs_x_init(&x, s, false, 0))
		dafs_x_fattr_here(&x, attr);
	return x.err ?: x.heap;
}

/**
 * dafs_decode_fattr() - decode attributes in a direct metadata buffer
 * @s: the buffer
 * @attr: filled; refers to @s
 *
 * Return: 0, or -EBADMSG if they are malformed or reach beyond the buffer, or
 * -EINVAL if there are some that this version does not know (E-20).
 */
int dafs_decode_fattr(const struct dafs_stream *s, struct dafs_fattr *attr)
{
	return min(dafs_walk_fattr(s, attr), 0);
}
EXPORT_SYMBOL_GPL(dafs_decode_fattr);

/**
 * dafs_encode_direntries() - encode entries into a direct metadata buffer
 * @s: the buffer
 * @entries: struct dafs_direntry elements
 *
 * Return: bytes used, or -EMSGSIZE if they do not fit.
 */
int dafs_encode_direntries(const struct dafs_stream *s, struct dafs_seq *entries)
{
	struct dafs_xdr x;

	if (!dafs_x_init(&x, s, true, 0))
		dafs_x_direntries_here(&x, entries);
	return x.err ?: x.heap;
}
EXPORT_SYMBOL_GPL(dafs_encode_direntries);

/**
 * dafs_decode_direntries() - decode entries in a direct metadata buffer
 * @s: the buffer
 * @entries: filled; for dafs_direntry_start() with @s
 *
 * Return: 0, or -EBADMSG if their array reaches beyond the buffer.
 */
int dafs_decode_direntries(const struct dafs_stream *s, struct dafs_seq *entries)
{
	struct dafs_xdr x;

	memset(entries, 0, sizeof(*entries));
	if (!dafs_x_init(&x, s, false, 0))
		dafs_x_direntries_here(&x, entries);
	return x.err;
}
EXPORT_SYMBOL_GPL(dafs_decode_direntries);

static int dafs_walk_direntries(const struct dafs_stream *s)
{
	struct dafs_direntry_iter iter;
	struct dafs_direntry entry;
	struct dafs_seq entries;
	int err;

	err = dafs_decode_direntries(s, &entries);
	if (err)
		return err;
	dafs_direntry_start(s, &entries, &iter);
	do {
		err = dafs_direntry_next(s, &iter, &entry);
	} while (err > 0);
	return err ?: min(iter.heap, s->len);
}

/**
 * dafs_encode_link() - encode a link's contents into a direct metadata buffer
 * @s: the buffer
 * @link: contents
 *
 * Return: bytes used, or -EMSGSIZE if they do not fit.
 */
int dafs_encode_link(const struct dafs_stream *s, struct dafs_str *link)
{
	struct dafs_xdr x;

	if (!dafs_x_init(&x, s, true, 0))
		dafs_x_str_here(&x, link);
	return x.err ?: x.heap;
}
EXPORT_SYMBOL_GPL(dafs_encode_link);

static int dafs_walk_link(const struct dafs_stream *s, struct dafs_str *link)
{
	struct dafs_xdr x;

	memset(link, 0, sizeof(*link));
	if (!dafs_x_init(&x, s, false, 0))
		dafs_x_str_here(&x, link);
	return x.err ?: x.heap;
}

/**
 * dafs_decode_link() - decode a link's contents in a direct metadata buffer
 * @s: the buffer
 * @link: filled; points into @s
 *
 * Return: 0, or -EBADMSG if it reaches beyond the buffer.
 */
int dafs_decode_link(const struct dafs_stream *s, struct dafs_str *link)
{
	return min(dafs_walk_link(s, link), 0);
}
EXPORT_SYMBOL_GPL(dafs_decode_link);

/**
 * dafs_direct_len() - how much of a direct metadata buffer was used (E-23)
 * @s: the buffer
 * @proc: what was put there: DAFS_PROC_GETATTR_DIRECT, DAFS_PROC_SETATTR_DIRECT,
 *	DAFS_PROC_READDIR_DIRECT or DAFS_PROC_READLINK_DIRECT
 *
 * The response does not tell, yet direct_checksum covers just these bytes.
 *
 * Return: bytes, or -EBADMSG if the contents are malformed or reach beyond the
 * buffer, or -EINVAL if they have attributes that this version does not know (E-20),
 * or -EOPNOTSUPP for other procedures.
 */
int dafs_direct_len(const struct dafs_stream *s, u32 proc)
{
	struct dafs_fattr attr;
	struct dafs_str link;

	switch (proc) {
	case DAFS_PROC_GETATTR_DIRECT:
	case DAFS_PROC_SETATTR_DIRECT:
		return dafs_walk_fattr(s, &attr);
	case DAFS_PROC_READDIR_DIRECT:
		return dafs_walk_direntries(s);
	case DAFS_PROC_READLINK_DIRECT:
		return dafs_walk_link(s, &link);
	default:
		return -EOPNOTSUPP;
	}
}
EXPORT_SYMBOL_GPL(dafs_direct_len);
