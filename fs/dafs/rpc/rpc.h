/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A client of a server, and calls of it.
 *
 * The client, struct dafs_client, is what the server knows by one client-id: it has the
 * lease, the credential handles and the opens (2.4.3).  It reaches the server by a session,
 * which outlives its connections: struct dafs_conn is one connection and is replaced when
 * it fails (3.1.2.5).  The operation or I/O that has a call in progress holds a reference
 * on the connection it was sent on, because the response and the memory regions belong to
 * that connection's channel.
 */
#ifndef _FS_DAFS_RPC_H
#define _FS_DAFS_RPC_H

#include <linux/cred.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/socket.h>
#include <linux/uio.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/dafs/chan.h>
#include <linux/dafs/cksum.h>
#include <linux/dafs/mem.h>
#include <linux/dafs/requester.h>
#include <linux/dafs/stats.h>
#include <linux/dafs/status.h>

struct dafs_conn;
struct dafs_cred_cache;
struct dafs_session;

/**
 * struct dafs_client_params - where to and how
 * @net: network namespace; the client takes its own reference
 * @dst: server
 * @src: local address, family AF_UNSPEC for any
 * @soft: fail calls after @timeo_ms * (@retrans + 1) instead of waiting for ever
 * @timeo_ms: time after which a connection that gives no sign of life is given up
 * @retrans: connection attempts on a soft mount before its calls fail
 * @cksum: ask for checksums
 * @swab: use the byte order that is not this machine's (tests)
 * @back_control: ask for and bind the back-control channel
 * @rdma_read: ask for and bind the RDMA-read channel
 * @auth_type: DAFS_AUTH_NONE or DAFS_AUTH_DEFAULT
 * @max_requests: slots to have at most
 * @max_credentials: credential handles to ask for; 0 for as many as the server likes
 * @msg_size: largest message to ask for, both ways, in bytes
 * @inline_header: inline_write_header_size to ask for, 0 for no padded writes (tests)
 * @client_id: client-id-string; empty for the host's own
 */
struct dafs_client_params {
	struct net *net;
	struct sockaddr_storage dst;
	struct sockaddr_storage src;
	bool soft;
	unsigned int timeo_ms;
	unsigned int retrans;
	bool cksum;
	bool swab;
	bool back_control;
	bool rdma_read;
	u32 auth_type;
	u16 max_requests;
	u32 max_credentials;
	u32 msg_size;
	u32 inline_header;
	char client_id[128];
};

/**
 * struct dafs_conn - one connection of a session
 * @ref: one of the session while it is current, one of each call
 * @ses: the session
 * @op: operation channel
 * @rq: its requester
 * @bc: back-control channel or NULL
 * @rr: RDMA-read channel or NULL
 * @session_id: from the server
 * @client_id: from the server; differs after a server restart (4.4.1.6)
 * @opts: as negotiated
 * @trusted: credential handles may be used
 * @bind_rq: sends CONNECT_BIND, while that is under way
 * @lock: guards @ended and @bind_rq, and makes the ends of its channels one at a time
 * @ended: no channel may be added any more
 * @end: ends it after a channel failed; holds a reference while queued
 * @destroy: frees it in process context
 */
struct dafs_conn {
	struct kref ref;
	struct dafs_session *ses;
	struct dafs_chan *op;
	struct dafs_requester *rq;
	struct dafs_chan *bc;
	struct dafs_chan *rr;
	struct dafs_session_id session_id;
	struct dafs_client_id client_id;
	struct dafs_connect_opts opts;
	bool trusted;
	struct dafs_requester *bind_rq;
	struct mutex lock;	/* see above */
	bool ended;
	struct work_struct end;
	struct work_struct destroy;
};

/* Slots that a session asks for while it is idle */
#define DAFS_IDLE_REQUESTS ((u16)8)

/* Directives the server may have outstanding on the back-control channel. */
#define DAFS_BACK_REQUESTS	4

/**
 * struct dafs_client - a client of a server, for the mounts that share it
 * @params: where to and how; constant but for soft, timeo_ms and retrans, see
 *	dafs_client_set_timeouts()
 * @ref: one of each super block that uses it
 * @ses: its session; only rpc/ looks into it
 * @dead: shut down for good
 * @lock: guards @client_id and @recoverers, and orders those who change @params
 * @client_id: what the server keeps for this client, it keeps under this id
 * @recoverers: those who have state at the server, see recover.c
 * @recovered: for a change of what recovers
 * @verifier: client_verifier
 * @instance: names this client in discriminators (E-124)
 * @creds: credential handles, shared with other mounts that have the same client-id
 * @lease: of the client at the server, in seconds
 * @last_null: jiffies when the last NULL was sent to renew it
 * @keep: renews the lease, returns credits, see lease.c
 * @retry_wq: sends again what was not answered, gets opens back and closes them; waits
 *	for slots, regions and responses, but not for a connection, nor until a server that
 *	asks for patience has had it: nothing in it waits for what is behind it
 * @end_wq: sees to the ends of I/O, which may wait for @retry_wq.  Nothing in it waits for
 *	a connection, as commits do, of which there may be more than a queue works on at a
 *	time: a mount that goes waits for ends, not for commits of others
 * @put_wq: evicts inodes, and so waits for all I/O on them, which may wait for the above
 * @commit_wq: waits for whole operations, and so for the server, however long it is away
 * @stats: what became of the calls on all its connections
 * @begun: when it was made, in jiffies
 * @reconnects: connections made after the first one; written by the reconnect work alone
 *
 * It has work queues of its own, so that a server that is away delays nothing of others.
 * Memory reclaim may depend on all but @put_wq.
 */
struct dafs_client {
	struct dafs_client_params params;
	struct kref ref;
	struct dafs_session *ses;
	bool dead;
	spinlock_t lock;	/* see above */
	struct dafs_client_id client_id;
	struct list_head recoverers;
	wait_queue_head_t recovered;
	struct dafs_verifier verifier;
	u8 instance[4];
	struct dafs_cred_cache *creds;
	u32 lease;
	unsigned long last_null;
	struct delayed_work keep;
	struct workqueue_struct *retry_wq;
	struct workqueue_struct *end_wq;
	struct workqueue_struct *put_wq;
	struct workqueue_struct *commit_wq;
	struct dafs_stats __percpu *stats;
	unsigned long begun;
	unsigned int reconnects;
};

/**
 * struct dafs_recoverer - a user of a client who has state at the server
 * @link: in the client's list; empty before and after
 * @recover: called when the server has given a connection another client-id: what the
 *	client had at the server is gone.  Runs where memory is not reclaimed from file
 *	systems, and sends by dafs_op_run_on() only.  An error means that the connection
 *	is lost; then it is called again on the next one.
 * @clnt: the client, while in its list; this and all below is recover.c's, guarded by its lock
 * @work: calls @recover
 * @conn: to be given to @recover, with a reference, or NULL
 * @running: @recover has been called and has not returned
 * @slow: it is not waited for
 * @err: what it returned
 * @client_id: under which the server has all that it had
 */
struct dafs_recoverer {
	struct list_head link;
	int (*recover)(struct dafs_recoverer *who, struct dafs_client *clnt,
		       struct dafs_conn *conn);
	struct dafs_client *clnt;
	struct work_struct work;
	struct dafs_conn *conn;
	bool running;
	bool slow;
	int err;
	struct dafs_client_id client_id;
};

void dafs_recover_slowly(struct dafs_recoverer *who);
void dafs_client_add_recoverer(struct dafs_client *clnt, struct dafs_recoverer *who);
void dafs_client_del_recoverer(struct dafs_client *clnt, struct dafs_recoverer *who);

/* for main.c */
int dafs_clients_init(void);
void dafs_clients_exit(void);

struct dafs_client *dafs_client_create(const struct dafs_client_params *params);
struct dafs_client *dafs_client_get(struct dafs_client *clnt);
void dafs_client_put(struct dafs_client *clnt);
bool dafs_client_shared(const struct dafs_client *clnt);
void dafs_client_shutdown(struct dafs_client *clnt);
void dafs_client_stop_waiting(struct dafs_client *clnt);
void dafs_client_look_again(struct dafs_client *clnt);
void dafs_client_set_timeouts(struct dafs_client *clnt, bool soft, unsigned int timeo_ms,
			      unsigned int retrans);
void dafs_client_set_lease(struct dafs_client *clnt, u32 seconds);
bool dafs_client_busy(struct dafs_client *clnt);
bool dafs_client_gives_up(const struct dafs_client *clnt, unsigned int *lost);
const char *dafs_client_state_name(const struct dafs_client *clnt);

/**
 * struct dafs_park - what waits for a connection without a task, see wait.c
 * @link: in the list of the session
 * @resume: called under the lock of the session when there is a connection, or
 *	none is waited for any more
 * @leave: none is, for this one, when this is true, see dafs_client_look_again()
 */
struct dafs_park {
	struct list_head link;
	void (*resume)(struct dafs_park *park);
	const bool *leave;
};

bool dafs_exits_while_down(struct dafs_client *clnt);

/*
 * Does the current task exit?  It takes no signals any more, so nothing would end what it
 * waits for.
 */
static inline bool dafs_task_exits(void)
{
	return current->flags & PF_EXITING;
}

struct dafs_conn *dafs_conn_get(struct dafs_client *clnt);
struct dafs_conn *dafs_conn_get_unless(struct dafs_client *clnt, const bool *leave);
struct dafs_conn *dafs_conn_get_or_park(struct dafs_client *clnt, struct dafs_park *park);
void dafs_conn_put(struct dafs_conn *conn);
void dafs_conn_failed(struct dafs_conn *conn);

/**
 * enum dafs_action - what the status of a response asks of the client
 * @DAFS_ACT_NONE: nothing; the status is the result
 * @DAFS_ACT_LATER: send the request again later
 * @DAFS_ACT_MEMORY: likewise; the server lacks memory
 * @DAFS_ACT_RESEND: send it again: it did not match its checksum and was not executed
 * @DAFS_ACT_CRED: send it with another credential handle
 * @DAFS_ACT_SESSION: send it on another connection: the server does not know the
 *	session, or the client it belongs to, any more (E-84)
 * @DAFS_ACT_OPEN: reclaim the open: the server does not know the state-id (E-84)
 * @DAFS_ACT_INLINE: send it without RDMA, if it had any
 * @DAFS_ACT_SMALLER: send less at once
 * @DAFS_ACT_ALONE: send it outside of its chain, which ended before it
 * @DAFS_ACT_EMPTY: not a status: an I/O succeeded and has moved no byte; send it again
 * @DAFS_ACTIONS: how many there are
 */
enum dafs_action {
	DAFS_ACT_NONE,
	DAFS_ACT_LATER,
	DAFS_ACT_MEMORY,
	DAFS_ACT_RESEND,
	DAFS_ACT_CRED,
	DAFS_ACT_SESSION,
	DAFS_ACT_OPEN,
	DAFS_ACT_INLINE,
	DAFS_ACT_SMALLER,
	DAFS_ACT_ALONE,
	DAFS_ACT_EMPTY,
	DAFS_ACTIONS,
};

/**
 * enum dafs_retry_kind - what is repeated; the limits differ
 * @DAFS_RETRY_CALL: an operation, struct dafs_op
 * @DAFS_RETRY_READ: READ
 * @DAFS_RETRY_WRITE: WRITE; the data may be nowhere else
 * @DAFS_RETRY_KINDS: how many there are
 */
enum dafs_retry_kind {
	DAFS_RETRY_CALL,
	DAFS_RETRY_READ,
	DAFS_RETRY_WRITE,
	DAFS_RETRY_KINDS,
};

/**
 * struct dafs_tries - what the attempts at one operation have met so far
 * @delay_ms: the last pause, for a server that asks for time
 * @lost: connections that ended without an answer, see dafs_client_gives_up()
 * @count: attempts that ended with each action; stays at its maximum
 */
struct dafs_tries {
	unsigned int delay_ms;
	unsigned int lost;
	u8 count[DAFS_ACTIONS];
};

/**
 * enum dafs_next - what comes after an attempt
 * @DAFS_NEXT_REPORT: its result is the result of the operation
 * @DAFS_NEXT_SEND: the next attempt, at once
 * @DAFS_NEXT_PAUSE: the next attempt, after a pause
 */
enum dafs_next {
	DAFS_NEXT_REPORT,
	DAFS_NEXT_SEND,
	DAFS_NEXT_PAUSE,
};

/**
 * struct dafs_verdict - see dafs_retry()
 * @next: what comes after the attempt
 * @err: with DAFS_NEXT_REPORT, the errno to report, or 0 for that of the status
 */
struct dafs_verdict {
	enum dafs_next next;
	int err;
};

struct dafs_verdict dafs_retry(enum dafs_retry_kind kind, enum dafs_action action, bool forever,
			       struct dafs_tries *tries);
void dafs_tries_restart(struct dafs_tries *tries);
enum dafs_action dafs_status_action(dafs_status_t status);
enum dafs_action dafs_call_action(struct dafs_conn *conn, const struct dafs_call *call);
unsigned int dafs_next_delay(unsigned int ms);

struct dafs_op;

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
 * @no_replay: never send it twice: -EREMOTEIO if it may have been executed
 * @undo: if set, the server keeps something that must be given back: where the task is
 *	killed, called in the background with the response in @call, if that tells of
 *	success; or without @call if the server may have executed the operation, and no
 *	response came.  It calls dafs_op_end() before it waits for anything.
 * @copy: with @undo: makes a copy of @args for it, which kfree() frees; may not fail
 * @lost: set if an attempt was sent and had no response, or one that tells of success and
 *	makes no sense
 * @retry_nomem: retry if the client or the server is out of memory; and in a task of the
 *	kernel, if others were killed that registered the user
 * @hard: with @retry_nomem: on a hard mount, retry until the server refuses it
 *	permanently
 * @leave: if set, waiting for a connection or a retry ends when this becomes true, see
 *	dafs_client_look_again()
 * @nowait: one attempt only: -ENOTCONN without a connection, and no retry if the server
 *	asks for one
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
	bool lost;
	bool retry_nomem;
	bool hard;
	const bool *leave;
	bool nowait;
	bool nodelay;
	struct dafs_fh *takes_fh;
	const struct dafs_fh *gives_fh;
};

int dafs_op_run(struct dafs_client *clnt, struct dafs_op *op);
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

/* xfer.c: the memory of a call */
ssize_t dafs_xfer_map(struct dafs_conn *conn, struct dafs_call *call, struct dafs_mem *mem,
		      struct iov_iter *iter, enum dma_data_direction dir);
void dafs_xfer_unmap(struct dafs_call *call);
void dafs_xfer_cksum(const struct dafs_conn *conn, const struct iov_iter *iter, size_t at,
		     size_t len, struct dafs_cksum *cksum);
int dafs_xfer_check(const struct dafs_conn *conn, const struct iov_iter *iter, size_t at,
		    size_t len, const struct dafs_cksum *cksum);

/**
 * dafs_xfer_range() - a part of memory
 * @iter: the memory
 * @at: where in @iter the part begins
 * @len: its bytes
 * @part: set to it
 */
static inline void dafs_xfer_range(const struct iov_iter *iter, size_t at, size_t len,
				   struct iov_iter *part)
{
	*part = *iter;
	iov_iter_advance(part, at);
	iov_iter_truncate(part, len);
}

/**
 * dafs_xfer_buffers() - mapped memory as the server is told of it
 * @mem: the memory
 */
static inline struct dafs_seq dafs_xfer_buffers(const struct dafs_mem *mem)
{
	return (struct dafs_seq){ .count = mem->nr, .elems = mem->bufs };
}

/**
 * dafs_xfer_direct() - does data go by RDMA, or in the message?
 * @len: bytes; reduced to @limit if they go in the message
 * @limit: bytes that the message has room for
 * @inline_max: bytes up to which they go in the message, if it has room for them
 * @refused: they go in the message anyway
 *
 * Return: true if by RDMA.
 */
static inline bool dafs_xfer_direct(size_t *len, size_t limit, size_t inline_max, bool refused)
{
	if (*len > min(inline_max, limit) && !refused)
		return true;
	*len = min(*len, limit);
	return false;
}

#endif /* _FS_DAFS_RPC_H */
