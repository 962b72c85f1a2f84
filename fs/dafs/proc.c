// SPDX-License-Identifier: GPL-2.0
/*
 * What the stubs of all procedures share, and the procedures that concern no
 * file.
 */
#include <kunit/visibility.h>
#include "proc.h"

/**
 * dafs_proc_call() - run an operation
 * @ses: session
 * @op: the operation, zero apart from what the caller asks
 *
 * Context: may sleep.
 * Return: 0, and the caller calls dafs_op_end() when it is done with the
 * results; or a negative errno, and @op is ended already.
 */
int dafs_proc_call(struct dafs_session *ses, struct dafs_op *op)
{
	int err = dafs_op_run(ses, op);

	if (err)
		dafs_op_end(op);
	return err;
}

/**
 * dafs_proc_simple() - run an operation whose results hold no pointers
 * @ses: session
 * @op: the operation
 *
 * Context: may sleep.
 * Return: 0 or a negative errno; @op is ended either way.
 */
int dafs_proc_simple(struct dafs_session *ses, struct dafs_op *op)
{
	int err = dafs_proc_call(ses, op);

	if (!err)
		dafs_op_end(op);
	return err;
}

/**
 * dafs_proc_received() - look at what the server put into memory (E-23)
 * @op: a DIRECT operation on metadata that succeeded and is not ended
 * @cksum: direct_checksum of its results
 * @stream: set to the memory, which the caller decodes
 *
 * Only the checksum needs to know where it ends, which costs a walk through it.
 *
 * Context: any.
 * Return: 0, or -EBADMSG if the memory does not hold what the server sent.
 */
int dafs_proc_received(const struct dafs_op *op, const struct dafs_cksum *cksum,
		       struct dafs_stream *stream)
{
	struct dafs_cksum_state state;
	struct dafs_cksum sum;
	int len;

	*stream = (struct dafs_stream) {
		.base = op->mem->data,
		.len = op->mem->room,
		.swab = op->call->stream.swab,
	};
	if (!op->conn->opts.use_checksums)
		return 0;
	len = dafs_direct_len(stream, op->proc);
	if (len < 0)
		return -EBADMSG;
	dafs_cksum_init(&state);
	dafs_cksum_update(&state, stream->base, len);
	dafs_cksum_final_host(&state, stream->swab, &sum);
	return dafs_cksum_equal(cksum, &sum) ? 0 : -EBADMSG;
}
EXPORT_SYMBOL_IF_KUNIT(dafs_proc_received);

/**
 * dafs_null() - do nothing, renewing the lease (6.5.1)
 * @ses: session
 * @cred: whom to act for
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dafs_null(struct dafs_session *ses, const struct cred *cred)
{
	struct dafs_op op = { .cred = cred, .proc = DAFS_PROC_NULL };

	return dafs_proc_simple(ses, &op);
}
EXPORT_SYMBOL_IF_KUNIT(dafs_null);

/**
 * dafs_secinfo() - ask how a client may authenticate itself (6.2.7)
 * @ses: session
 * @cred: whom to act for
 * @types: DAFS_AUTH_* values, filled
 * @max: room in @types
 *
 * Context: may sleep.
 * Return: how many types the server takes, which may be more than @max, or a
 * negative errno.
 */
int dafs_secinfo(struct dafs_session *ses, const struct cred *cred, u32 *types,
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

	err = dafs_proc_call(ses, &op);
	if (err)
		return err;
	for (i = 0; i < res.secinfo.count && i < max; i++) {
		err = dafs_get_authtype(&op.call->stream, &res.secinfo, i, &auth);
		if (err)
			break;
		types[i] = auth.auth_type;
	}
	dafs_op_end(&op);
	return err ?: (int)min_t(u32, res.secinfo.count, INT_MAX);
}
EXPORT_SYMBOL_IF_KUNIT(dafs_secinfo);
