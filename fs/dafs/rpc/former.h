/* SPDX-License-Identifier: GPL-2.0 */
/* What became of requests whose connection was lost (5.2.5). */
#ifndef _FS_DAFS_RPC_FORMER_H
#define _FS_DAFS_RPC_FORMER_H

#include <linux/kref.h>
#include <linux/dafs/codec.h>

struct dafs_call;
struct dafs_client;
struct dafs_conn;
struct dafs_path;

/**
 * struct dafs_former - a session, for requests that it may have executed
 * @ref: one of its connection, one of each request that is to be asked for
 * @path: whose session it was
 * @session_id: from the server
 * @begun: requests were sent on it
 * @asked: the server was asked about one
 * @link: in @path, when the server is to be told to forget it
 */
struct dafs_former {
	struct kref ref;
	struct dafs_path *path;
	struct dafs_session_id session_id;
	bool begun;
	bool asked;
	struct list_head link;
};

/**
 * struct dafs_xid - a request that may have been executed, although it has no response
 * @former: its session, with a reference; or NULL: there is no such request
 * @stream: its stream
 * @seq: its sequence number there
 * @proc: DAFS_PROC_*
 * @failed: how often the server has failed to tell what became of it
 */
struct dafs_xid {
	struct dafs_former *former;
	u16 stream;
	u16 seq;
	u32 proc;
	unsigned int failed;
};

struct dafs_former *dafs_former_alloc(struct dafs_path *path);
void dafs_former_put(struct dafs_former *former);
void dafs_formers_discard(struct dafs_path *path);
void dafs_formers_free(struct dafs_path *path);
bool dafs_xid_note(struct dafs_xid *xid, const struct dafs_conn *conn,
		   const struct dafs_call *call);
void dafs_xid_drop(struct dafs_xid *xid);

#endif /* _FS_DAFS_RPC_FORMER_H */
