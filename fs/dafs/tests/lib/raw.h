/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A peer without manners: a connection on which a test sends any bytes it
 * likes and sees every byte that comes back.  It knows nothing of slots,
 * credits and streams, so it can break all rules; as a client of the real
 * server, or as a server for the real client.
 */
#ifndef _DAFS_TEST_RAW_H
#define _DAFS_TEST_RAW_H

#include <linux/bitmap.h>
#include "fixture.h"

#define RAW_RECV_SIZE	SZ_16K
#define RAW_RECVS	48
#define RAW_WAIT_MS	20000	/* for what must happen; a busy machine takes its time */
#define RAW_QUIET_MS	300	/* for what must not */

struct raw_server;

/**
 * struct raw_msg - a message received
 * @link: in the connection's list
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
 * @swab: speak in the order that is not this machine's
 * @ipv6: to its IPv6 address
 * @type: DAFS_CHANNEL_* of the discriminator; 0 for no private data at all
 * @magic: of the discriminator instead of the right one, if not 0
 * @reads: RDMA reads in either direction, instead of 4 by the server and none else
 * @rnr_retry: how often the server shall repeat what finds no receive
 * @recvs: receives there are, 0 for RAW_RECVS
 * @rnr_timer: IB_RNR_TIMER_*: when to repeat what finds none
 * @ack_timeout: how long the server's hardware waits for an answer of this one before
 *	it repeats: 4096 ns times two to the power of this; 0 for what is usual
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
 * @serve: gives @requests to it
 * @wait: woken when a message comes or the connection goes
 * @closed: it is gone
 * @sending: guards @send, @sent and @send_status
 * @send: buffer, for one message at a time
 * @send_addr: its DMA address
 * @send_cqe: completion of the send
 * @sent: completed with it
 * @send_status: its status
 * @recvs: receive buffers
 * @nr_recvs: how many
 * @hold: a receive is not posted again before raw_release()
 * @held: those that were not; by @recvs, guarded by @lock
 * @swab: byte order of what raw_call() sends
 * @cksum: put checksums into it and verify those that come
 * @seq: seq_number of the next request of raw_call()
 * @last: response that raw_call() got, for the strings in its results
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
	struct dafs_wire_discriminator disc;
	u32 disc_len;
	u32 peer_qp;
	void *priv;
};

/**
 * struct raw_server - a server for the real client to meet
 * @test: the test
 * @listener: where it listens
 * @params: for dafs_session_create(): how to reach it
 * @lock: guards @conns and @nr_conns
 * @conns: connections accepted
 * @nr_conns: how many
 * @request: called for each message, in process context; NULL to be silent
 * @refuse: reject connections
 * @recvs: receives of a connection, 0 for RAW_RECVS
 * @rnr_timer: IB_RNR_TIMER_*: when to repeat what finds none
 * @opts: what it answers to a connect request
 * @client_id: the same
 * @nulls: NULLs it has seen
 * @priv: the test's
 */
struct raw_server {
	struct kunit *test;
	struct dafs_listener listener;
	struct dafs_session_params params;
	spinlock_t lock;	/* see above */
	struct list_head conns;
	unsigned int nr_conns;
	void (*request)(struct raw_conn *conn, struct raw_msg *msg);
	bool refuse;
	unsigned int recvs;
	u8 rnr_timer;
	struct dafs_connect_opts opts;
	struct dafs_client_id client_id;
	atomic_t nulls;
	void *priv;
};

/* Connects to the real server.  Ends with the test, or by raw_close(). */
struct raw_conn *raw_connect(struct kunit *test, const struct raw_how *how);
struct raw_conn *raw_connect_flavour(struct kunit *test, const struct dafs_flavour *flavour,
				     u32 type);
void raw_close(struct kunit *test, struct raw_conn *conn);
/* Cuts it off: the peer is not told, and its hardware gets no answer any more. */
void raw_cut(struct kunit *test, struct raw_conn *conn);

/* Return: 0, or -EIO if the message did not arrive. */
int raw_send(struct raw_conn *conn, const void *data, u32 len);
/* Return: the next message, to be freed by kfree(); NULL if none came in time. */
struct raw_msg *raw_recv(struct raw_conn *conn, unsigned int ms);
/* Return: the status of the next message, a response whose header is left in @res; ~0. */
u32 raw_recv_status(struct raw_conn *conn, unsigned int ms, struct dafs_res_hdr *res);
/* Posts the receives that were not because of @hold, and all from now on. */
void raw_release(struct raw_conn *conn);
/* Lets the server read from kmalloc()ed memory, a page at most.  Ends with the test. */
struct dafs_direct_buf raw_expose(struct raw_conn *conn, void *data, u32 len);
/* Return: true if the connection ended by then. */
bool raw_closed(struct raw_conn *conn, unsigned int ms);

/* Requests, encoded but not yet sent. Return: bytes. */
u32 raw_encode(struct raw_conn *conn, struct dafs_req_hdr *hdr, void *args, u8 *buf);
/* A request that is sent, or else the test ends; raw_status() takes its response. */
void raw_ask(struct raw_conn *conn, struct dafs_req_hdr *hdr, void *args);
/* Return: the status of the next response, or ~0 if none came in time. */
u32 raw_status(struct raw_conn *conn);
/* One request and its response.  Return: 0, -EIO, -ENOTCONN, -ETIMEDOUT, -EBADMSG. */
int raw_exchange(struct raw_conn *conn, const void *msg, u32 len, struct dafs_res_hdr *res);
int raw_call_hdr(struct raw_conn *conn, struct dafs_req_hdr *hdr, void *args,
		 struct dafs_res_hdr *res_hdr, void *res);
/* Return: the DAFS status, or ~0 if there is no proper response. */
u32 raw_call(struct raw_conn *conn, u32 proc, void *args, void *res);
u32 raw_call_as(struct raw_conn *conn, const u8 *cred_handle, u32 proc, void *args, void *res);
/* REGISTER_CRED of a user without groups; @handle is four bytes. */
u32 raw_register(struct raw_conn *conn, u32 uid, u32 gid, u8 *handle);
/* A directory made with a cred_handle; who owns it tells who that was. */
u32 raw_mkdir(struct raw_conn *conn, const u8 *cred_handle, const struct dafs_fh *dir,
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
 * struct raw_login - a session made by hand
 * @id: client-id-string; NULL for a unique one
 * @id_len: its length; 0 for strlen(@id)
 * @verifier: client_verifier
 * @opts: asked for
 * @auth_type: DAFS_AUTH_*
 * @own_id: what @id points to if it was NULL
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
u32 raw_login(struct raw_conn *conn, struct raw_login *login);
/* Connects and logs in, or ends the test. */
struct raw_conn *raw_session(struct kunit *test, const struct dafs_flavour *flavour,
			     struct raw_login *login);

/* A server on a port of its own, with sensible options and raw_serve_request(). */
struct raw_server *raw_server(struct kunit *test);
/* Answers what the client's session code sends, as a server should. */
void raw_serve_request(struct raw_conn *conn, struct raw_msg *msg);
/* The two halves of it, for servers that do something special with the rest. */
bool raw_serve_setup(struct raw_conn *conn, const struct raw_msg *msg,
		     const struct dafs_req_hdr *hdr);
int raw_get_hdr(const struct raw_conn *conn, const struct raw_msg *msg, struct dafs_req_hdr *hdr);
void raw_answer(struct raw_conn *conn, const struct dafs_req_hdr *hdr, u32 status, u16 target,
		void *res);
u32 raw_encode_res(struct raw_conn *conn, const struct dafs_req_hdr *hdr, u32 status, u16 target,
		   void *res, u8 *buf);
/* The nth connection it accepted; waits for it.  NULL if it does not come. */
struct raw_conn *raw_accepted(struct raw_server *srv, unsigned int nth);
/* Ends a connection that was accepted; once for each.  May sleep. */
void raw_hang_up(struct raw_conn *conn);

#endif /* _DAFS_TEST_RAW_H */
