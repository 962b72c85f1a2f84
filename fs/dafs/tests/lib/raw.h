/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A raw peer: a connection on which a test sends arbitrary bytes and sees every
 * byte that it receives.  It has no slots, credits and streams, so it can break
 * all rules, as a client of the real server or as a server for the real client.
 */
#ifndef _DAFS_TEST_RAW_H
#define _DAFS_TEST_RAW_H

#include <linux/bitmap.h>
#include "fixture.h"

#define RAW_RECV_SIZE	SZ_16K
#define RAW_RECVS	48
#define RAW_WAIT_MS	20000	/* to wait for an event, also on a busy machine */
#define RAW_QUIET_MS	300	/* to wait for an event that must not happen */

struct raw_memory;
struct raw_server;

/**
 * struct raw_msg - a message received
 * @link: in the list of the connection
 * @len: bytes received
 * @data: the bytes
 */
struct raw_msg {
	struct list_head link;
	u32 len;
	u8 data[];
};

/**
 * struct raw_how - how to connect to the server
 * @swab: use the byte order that is not this machine's
 * @ipv6: to its IPv6 address
 * @type: DAFS_CHANNEL_* of the discriminator; 0 for no private data at all
 * @magic: of the discriminator instead of the right one, if not 0
 * @reads: RDMA reads in either direction, instead of 4 by the server and none else
 * @rnr_retry: how often the server retries a message without a receive
 * @recvs: number of receives, 0 for RAW_RECVS
 * @rnr_timer: IB_RNR_TIMER_*: when to retry such a message
 * @ack_timeout: how long the server's hardware waits for an acknowledgment before it
 *	retries: 4096 ns times two to the power of this; 0 for the default
 * @session: client_session of the discriminator, 0 for none
 * @srv: another server than the real one, or NULL
 */
struct raw_how {
	bool swab;
	bool ipv6;
	u32 type;
	u32 magic;
	const struct raw_reads *reads;
	u8 rnr_retry;
	unsigned int recvs;
	u8 rnr_timer;
	u8 ack_timeout;
	u32 session;
	const struct raw_server *srv;
};

/**
 * struct raw_reads - RDMA reads that a connection request allows and asks for
 * @responder_resources: by the server
 * @initiator_depth: by this side
 */
struct raw_reads {
	u8 responder_resources;
	u8 initiator_depth;
};

struct raw_recv;

/**
 * struct raw_conn - one connection
 * @test: the test
 * @srv: on the passive side: the server it belongs to
 * @node: in the server's list
 * @id: rdma_cm identifier
 * @pd: protection domain
 * @cq: completions
 * @step: completed by each step of connecting
 * @error: of the step
 * @lock: guards @msgs and @requests
 * @msgs: received, not yet taken
 * @requests: to the server
 * @serve: passes @requests to it
 * @wait: woken when a message arrives or the connection ends
 * @closed: the connection has ended
 * @sending: guards @send, @sent and @send_status
 * @send: buffer, for one message at a time
 * @send_addr: its DMA address
 * @send_cqe: completion of the send
 * @sent: completed with it
 * @send_status: its status
 * @recvs: receive buffers
 * @nr_recvs: how many
 * @hold: a receive is not posted again before raw_release()
 * @held: receives that were not posted; indexes of @recvs, guarded by @lock
 * @swab: byte order of what raw_call() sends
 * @cksum: add checksums to messages and verify those of received ones
 * @seq: seq_number of the next request of raw_call()
 * @last: response that raw_call() got, for the strings in its results
 * @memory: of raw_expose(), the last one first
 * @disc: passive side: the private data that came
 * @disc_len: bytes of it
 * @peer_qp: passive side: number of the peer's queue pair
 * @priv: the test's
 */
struct raw_conn {
	struct kunit *test;
	struct raw_server *srv;
	struct list_head node;
	struct rdma_cm_id *id;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct completion step;
	int error;
	spinlock_t lock;	/* see above */
	struct list_head msgs;
	struct list_head requests;
	struct work_struct serve;
	wait_queue_head_t wait;
	bool closed;
	struct mutex sending;	/* see above */
	void *send;
	u64 send_addr;
	struct ib_cqe send_cqe;
	struct completion sent;
	enum ib_wc_status send_status;
	struct raw_recv *recvs;
	unsigned int nr_recvs;
	bool hold;
	DECLARE_BITMAP(held, RAW_RECVS);
	bool swab;
	bool cksum;
	u16 seq;
	struct raw_msg *last;
	struct raw_memory *memory;
	struct dafs_wire_discriminator disc;
	u32 disc_len;
	u32 peer_qp;
	void *priv;
};

/**
 * struct raw_server - a server for the real client
 * @test: the test
 * @listener: where it listens
 * @params: for dafs_client_create(): how to reach it
 * @lock: guards @conns and @nr_conns
 * @conns: connections accepted
 * @nr_conns: how many
 * @request: called for each message, in process context; NULL to be silent
 * @refuse: reject connections
 * @recvs: receives of a connection, 0 for RAW_RECVS
 * @rnr_timer: IB_RNR_TIMER_*: when the peer retries a message without a receive
 * @opts: options in its answer to a connect request
 * @client_id: client-id in that answer
 * @spec_cond: DAFS_SPCOND_* of its answers
 * @nulls: number of NULLs received
 * @priv: the test's
 */
struct raw_server {
	struct kunit *test;
	struct dafs_listener listener;
	struct dafs_client_params params;
	spinlock_t lock;	/* see above */
	struct list_head conns;
	unsigned int nr_conns;
	void (*request)(struct raw_conn *conn, struct raw_msg *msg);
	bool refuse;
	unsigned int recvs;
	u8 rnr_timer;
	struct dafs_connect_opts opts;
	struct dafs_client_id client_id;
	u16 spec_cond;
	atomic_t nulls;
	void *priv;
};

/* Connects to the real server.  Ends with the test, or by raw_close(). */
struct raw_conn *raw_connect(struct kunit *test, const struct raw_how *how);
struct raw_conn *raw_connect_flavour(struct kunit *test, const struct dafs_flavour *flavour,
				     u32 type);
void raw_close(struct kunit *test, struct raw_conn *conn);
/* What the server does in the background has been done. */
void raw_settle(void);
/* The administrator ends all clients with ids that begin so. */
void raw_end_clients(const char *begin);
/* All clients go that are without a session, if the server may end them: first the useless ones. */
void raw_crowd_out(struct kunit *test);
/* Cuts it off: the peer is not notified, and its hardware gets no acknowledgment any more. */
void raw_cut(struct kunit *test, struct raw_conn *conn);

/* Return: 0, or -EIO if the message did not arrive. */
int raw_send(struct raw_conn *conn, const void *data, u32 len);
/* Return: the next message, to be freed by kfree(); NULL if none came in time. */
struct raw_msg *raw_recv(struct raw_conn *conn, unsigned int ms);
/*
 * Return: the status of the next message, a response whose header is stored in @res;
 * DAFS_NO_STATUS if no message comes.
 */
dafs_status_t raw_recv_status(struct raw_conn *conn, unsigned int ms, struct dafs_res_hdr *res);
/* Posts the receives that @hold has kept back, and ends @hold. */
void raw_release(struct raw_conn *conn);
/* Lets the server read from kmalloc()ed memory, a page at most.  Ends with the test. */
struct dafs_direct_buf raw_expose(struct raw_conn *conn, void *data, u32 len);
/* Return: true if the connection ends within that time. */
bool raw_closed(struct raw_conn *conn, unsigned int ms);

/* Requests, encoded but not yet sent. Return: bytes. */
u32 raw_encode(struct raw_conn *conn, struct dafs_req_hdr *hdr, void *args, u8 *data);
/* Sends a request or ends the test; raw_status() takes its response. */
void raw_ask(struct raw_conn *conn, struct dafs_req_hdr *hdr, void *args);
/* Return: the status of the next response, or DAFS_NO_STATUS if none came in time. */
dafs_status_t raw_status(struct raw_conn *conn);
/* One request and its response.  Return: 0, -EIO, -ENOTCONN, -ETIMEDOUT, -EBADMSG. */
int raw_exchange(struct raw_conn *conn, const void *msg, u32 len, struct dafs_res_hdr *res);
int raw_call_hdr(struct raw_conn *conn, struct dafs_req_hdr *hdr, void *args,
		 struct dafs_res_hdr *res_hdr, void *res);
/* Return: the DAFS status, or DAFS_NO_STATUS if there is no proper response. */
dafs_status_t raw_call(struct raw_conn *conn, u32 proc, void *args, void *res);
dafs_status_t raw_call_as(struct raw_conn *conn, const u8 *cred_handle, u32 proc, void *args,
			  void *res);
/* REGISTER_CRED of a user without groups; @handle is four bytes. */
dafs_status_t raw_register(struct raw_conn *conn, u32 uid, u32 gid, u8 *handle);
/* MKDIR with a cred_handle; the owner of the directory shows the user. */
dafs_status_t raw_mkdir(struct raw_conn *conn, const u8 *cred_handle, const struct dafs_fh *dir,
			const char *name);

/* The header of the next request on stream 0. */
static inline struct dafs_req_hdr raw_hdr(struct raw_conn *conn, u32 proc)
{
	return (struct dafs_req_hdr) {
		.version = DAFS_PROTOCOL_VERSION,
		.procedure = proc,
		.seq_number = conn->seq++,
	};
}

/**
 * struct raw_login - arguments of a login
 * @id: client-id-string; NULL for a unique one
 * @id_len: its length; 0 for strlen(@id)
 * @verifier: client_verifier
 * @opts: asked for
 * @auth_type: DAFS_AUTH_*
 * @own_id: storage for @id if it is NULL
 * @res: what the server answered
 */
struct raw_login {
	const char *id;
	u32 id_len;
	u64 verifier;
	struct dafs_connect_opts opts;
	u32 auth_type;
	char own_id[24];
	struct dafs_client_connect_auth_res res;
};

void raw_connect_args(const struct raw_login *login, struct dafs_client_connect_args *args);
/* CLIENT_CONNECT_AUTH.  Return: as raw_call(). */
dafs_status_t raw_login(struct raw_conn *conn, struct raw_login *login);
/* Connects and logs in, or ends the test. */
struct raw_conn *raw_session(struct kunit *test, const struct dafs_flavour *flavour,
			     struct raw_login *login);

/* A server on a port of its own, with sensible options and raw_serve_request(). */
struct raw_server *raw_server(struct kunit *test);
/* Answers what the client's session code sends, as a server should. */
void raw_serve_request(struct raw_conn *conn, struct raw_msg *msg);
/* The two parts of it, for servers that handle some requests themselves. */
bool raw_serve_setup(struct raw_conn *conn, const struct raw_msg *msg,
		     const struct dafs_req_hdr *hdr);
int raw_get_hdr(const struct raw_conn *conn, const struct raw_msg *msg, struct dafs_req_hdr *hdr);
void raw_answer(struct raw_conn *conn, const struct dafs_req_hdr *hdr, dafs_status_t status,
		u16 target, void *res);
u32 raw_encode_res(struct raw_conn *conn, const struct dafs_req_hdr *hdr, dafs_status_t status,
		   u16 target, void *res, u8 *data);
/* The nth connection it accepted; waits for it.  NULL if it does not come. */
struct raw_conn *raw_accepted(struct raw_server *srv, unsigned int nth);
/* Ends a connection that was accepted; once for each.  May sleep. */
void raw_hang_up(struct raw_conn *conn);

#endif /* _DAFS_TEST_RAW_H */
