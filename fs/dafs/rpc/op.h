/* SPDX-License-Identifier: GPL-2.0 */
/* Operations: one at a time, or several in a chain (4.3). */
#ifndef _FS_DAFS_RPC_OP_H
#define _FS_DAFS_RPC_OP_H

#include <linux/cred.h>
#include <linux/uio.h>
#include <linux/dafs/mem.h>
#include <linux/dafs/requester.h>
#include <linux/dafs/status.h>
#include "former.h"

struct dafs_client;
struct dafs_conn;

/**
 * struct dafs_op_mem - memory that the server reaches during an operation
 * @data: memory of the kernel, at any alignment
 * @size: bytes
 * @dir: DMA_FROM_DEVICE if the server writes it
 * @kvec: what @iter goes over
 * @iter: @data, since the first attempt
 * @map: the memory as the server sees it, during an attempt
 * @room: bytes of @data that it saw in the last one
 */
struct dafs_op_mem {
	void *data;
	size_t size;
	enum dma_data_direction dir;
	struct kvec kvec;
	struct iov_iter iter;
	struct dafs_mem map;
	size_t room;
};

/**
 * struct dafs_op - one synchronous operation
 * @cred: whom the server shall act for; NULL for the client itself
 * @proc: DAFS_PROC_*
 * @args: its arguments in host form
 * @res: where the results go, or NULL
 * @status: DAFS status of the response
 * @client_id: that of the connection which it came on: what it speaks of is kept
 *	under it
 * @conn: connection it ran on, held until dafs_op_end()
 * @call: the call, held until dafs_op_end(): strings in @res point into it
 * @fill: see struct dafs_call
 * @priv: for @fill and @prepare
 * @mem: memory for RDMA, mapped for each attempt, or NULL
 * @prepare: if set, called on each attempt when @conn is known and @mem mapped,
 *	to fill in what depends on them: @proc, @args and @call's; 0 or a negative
 *	errno.  The memory in call->mem is mapped.
 * @no_replay: never have it executed twice: -EREMOTEIO if it may have been, and the server
 *	cannot tell
 * @undo: if set, the server keeps something that must be given back: where the task is
 *	killed, called in the background with the response in @call, if that tells of
 *	success; or without @call if the server may have executed the operation, and no
 *	response came.  It calls dafs_op_end() before it waits for anything.
 * @copy: with @undo: makes a copy of @args for it, which kfree() frees; may not fail
 * @forget: called after that, also if there was nothing to undo, or NULL: gives back what
 *	@copy has taken for @args, which keeps what @leave points to
 * @interruptible: with @undo and without memory: any signal ends the wait for the response
 * @lost: set if an attempt was sent and had no response, or one that tells of success and
 *	makes no sense
 * @xid: the last attempt, if it was lost and the server has not been asked about it yet
 * @unsettled: it could not tell about an attempt
 * @unsure: IO and RESOURCE do not tell that it was not executed: @undo it then, too
 * @retry_nomem: retry if the client or the server is out of memory; and in a task of the
 *	kernel, if others were killed that registered the user
 * @hard: with @retry_nomem: on a hard mount, retry until the server refuses it
 *	permanently
 * @leave: if set, waiting for a connection or a retry ends when this becomes true, see
 *	dafs_client_look_again()
 * @nowait: one attempt only: -ENOTCONN without a connection, and no retry if the server
 *	asks for one
 * @brief: others wait for the caller, so it does not wait for a slot, and not long for the
 *	response: -ETIMEDOUT; without memory and @cred
 * @nodelay: with dafs_op_run_on(): if the server returns DELAY, that is the result
 * @takes_fh: in a chain: where in @args the filehandle belongs that the operation
 *	before hands on, or NULL
 * @gives_fh: in a chain: that filehandle, in @args or @res, if the next one takes it
 */
struct dafs_op {
	const struct cred *cred;
	u32 proc;
	void *args;
	void *res;
	dafs_status_t status;
	struct dafs_client_id client_id;
	struct dafs_conn *conn;
	struct dafs_call *call;
	void (*fill)(struct dafs_call *call, struct dafs_buf *buf);
	void *priv;
	struct dafs_op_mem *mem;
	int (*prepare)(struct dafs_op *op, struct dafs_call *call);
	bool no_replay;
	void (*undo)(struct dafs_client *clnt, struct dafs_op *op);
	void *(*copy)(const void *args);
	void (*forget)(void *args);
	bool interruptible;
	struct dafs_xid xid;
	bool unsettled;
	bool unsure;
	bool lost;
	bool retry_nomem;
	bool hard;
	const bool *leave;
	bool nowait;
	bool brief;
	bool nodelay;
	struct dafs_fh *takes_fh;
	const struct dafs_fh *gives_fh;
};

/* What comes after dafs_op_ask(), beside 0 and negative errnos */
#define DAFS_OP_SEND		1	/* it was not executed, or that cannot be known */
#define DAFS_OP_ASK_LATER	2

int dafs_op_run(struct dafs_client *clnt, struct dafs_op *op);
int dafs_op_ask(struct dafs_client *clnt, struct dafs_op *op);
int dafs_op_sleep(unsigned int *ms);
int dafs_op_run_on(struct dafs_client *clnt, struct dafs_conn *conn, struct dafs_op *op);
unsigned int dafs_op_run_chain(struct dafs_client *clnt, struct dafs_op *ops, unsigned int nr,
			       int *err);
int dafs_op_map(struct dafs_op *op, struct dafs_op_mem *mem);
void dafs_op_end(struct dafs_op *op);

/* cred.c: credential handles (3.1.1.2) */
int dafs_cred_handle(struct dafs_client *clnt, struct dafs_conn *conn, const struct cred *cred,
		     u8 *handle);
struct dafs_call *dafs_call_as(struct dafs_client *clnt, struct dafs_conn *conn,
			       const struct cred *cred);

#endif /* _FS_DAFS_RPC_OP_H */
