/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One read or write of contiguous bytes, in as many calls as it takes.
 */
#ifndef _FS_DAFS_DATA_IO_H
#define _FS_DAFS_DATA_IO_H

#include "../state/state.h"

struct dafs_io_wait;

/**
 * struct dafs_io - one contiguous read or write, in as many calls as needed
 * @done_work: processes a response
 * @retry_work: sends the next call
 * @sbi: the mount
 * @di: the file; the caller holds a reference
 * @open: the open whose state-id is used, or NULL for the anonymous state-id (E-79)
 * @cred: whom to act for
 * @write: direction
 * @cached: what is written was written into the page cache before, perhaps under locks
 * @force_inline: do not use RDMA for this I/O
 * @stable: stability of a write, DAFS_UNSTABLE ...
 * @iter: the memory of the whole I/O; never advanced
 * @pos: offset in the file
 * @len: bytes
 * @done: bytes moved so far
 * @eof: a read met the end of the file
 * @committed: weakest commitment of all calls of a write
 * @verf: write verifier of the first call
 * @verf_set: @verf is valid
 * @verf_mixed: a later call returned another verifier
 * @complete: called once at the end, in process context unless @anywhere
 * @anywhere: on success, @complete may be called in softirq, or where it must not wait
 *	for other I/O
 * @priv: for @complete
 * @wait: the waiting task of dafs_io_run(), or NULL
 * @park: parks it while there is no connection
 * @reclaim: waits for @open or @locker to be reclaimed; its err is from the last reclaim
 * @locker: the open by which bytes of the file are locked, or were while it was delegated, with a
 *	reference, while that is reclaimed; or NULL
 * @conn: connection of the call in progress
 * @conn_number: dafs_conn_number() before it was sent
 * @call: the call in progress
 * @mem: memory of the call in progress
 * @direct: the call in progress moves its data by RDMA
 * @part: bytes of the call in progress
 * @max_part: upper limit for @part, 0 for none
 * @state_id: state-id that the call in progress was sent with
 * @recover: the server did not know @state_id
 * @xid: a call of a write that was lost, until it is known whether it was executed
 * @tries: failed attempts since data was moved the last time
 * @forced: sbi->forced at its start
 * @args: arguments of the call in progress
 */
struct dafs_io {
	struct work_struct done_work;
	struct delayed_work retry_work;
	struct dafs_sb_info *sbi;
	struct dafs_inode *di;
	struct dafs_open_state *open;
	const struct cred *cred;
	bool write;
	bool cached;
	bool force_inline;
	u32 stable;
	struct iov_iter iter;
	u64 pos;
	size_t len;
	size_t done;
	bool eof;
	u32 committed;
	struct dafs_verifier verf;
	bool verf_set;
	bool verf_mixed;
	void (*complete)(struct dafs_io *io, int err);
	bool anywhere;
	void *priv;
	struct dafs_io_wait *wait;
	struct dafs_park park;
	struct dafs_reclaim reclaim;
	struct dafs_open_state *locker;
	struct dafs_conn *conn;
	unsigned int conn_number;
	struct dafs_call *call;
	struct dafs_mem mem;
	bool direct;
	size_t part;
	size_t max_part;
	struct dafs_state_id state_id;
	bool recover;
	struct dafs_xid xid;
	struct dafs_tries tries;
	unsigned int forced;
	union {
		struct dafs_read_inline_args read_inline;
		struct dafs_read_direct_args read_direct;
		struct dafs_write_inline_args write_inline;
		struct dafs_write_direct_args write_direct;
	} args;
};

/* io.c */
void dafs_io_start(struct dafs_io *io);
int dafs_io_run(struct dafs_io *io);

/* rdma.c */
extern unsigned int dafs_inline_max;
unsigned int dafs_conn_number(const struct dafs_client *clnt);
void dafs_rdma_refuse(struct dafs_sb_info *sbi, enum dafs_rdma_use use, unsigned int number);
bool dafs_rdma_refused(const struct dafs_sb_info *sbi, enum dafs_rdma_use use);

#endif /* _FS_DAFS_DATA_IO_H */
