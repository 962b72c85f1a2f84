/* SPDX-License-Identifier: GPL-2.0 */
/*
 * dafsd: what the parts of the server know of each other.
 *
 * A request travels: responder (dafs_common) -> dafsd_rqst_arrived() ->
 * work item -> decode -> session and credential rules -> handler of the
 * procedure table -> encode -> dafs_reply().
 */
#ifndef _DAFSD_H
#define _DAFSD_H

#include <linux/bvec.h>
#include <linux/completion.h>
#include <linux/cred.h>
#include <linux/in6.h>
#include <linux/kobject.h>
#include <linux/kref.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/path.h>
#include <linux/refcount.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <rdma/rw.h>
#include <linux/dafs/chan.h>
#include <linux/dafs/cksum.h>
#include <linux/dafs/responder.h>
#include <linux/dafs/status.h>

struct dafsd_export;
struct dafsd_open;
struct dafsd_proc;

#define DAFSD_DEFAULT_MAX_REQUESTS	32
#define DAFSD_DEFAULT_MSG_SIZE		SZ_8K
#define DAFSD_MAX_CREDENTIALS		1024
#define DAFSD_DEFAULT_MAX_CLIENTS	16384
#define DAFSD_DEFAULT_MAX_SESSIONS	4096
#define DAFSD_DEFAULT_MAX_OPENS		65536
#define DAFSD_LEASE_SECONDS		90
#define DAFSD_MAX_DIRECT_BUFS		256	/* E-24 */

/* What one address may have of what there is for all */
static inline unsigned long dafsd_peer_share(unsigned long most)
{
	return most - most / 4;
}

/* Requests that are executed at a time: what a work queue can do at most */
#define DAFSD_WORKERS			WQ_MAX_ACTIVE

/*
 * Send queue entries for the RDMA of a session: four or five reads of 1 MiB at a time.
 * With those for responses they make less than 128, and devices round up.  A longer
 * list of buffers goes in rounds.
 */
#define DAFSD_MIN_RDMA			80U

/* Requests outstanding on a channel that is bound to a session */
#define DAFSD_BOUND_REQUESTS		((u16)8)

/* What memory is counted for */
enum dafsd_charge {
	DAFSD_CHARGE_STATE,	/* opens and credentials */
	DAFSD_CHARGE_DATA,	/* bulk data of requests */
	DAFSD_NR_CHARGES,
};

/**
 * struct dafsd_peer - what one address has, see peer.c
 * @node: in the table of peers
 * @users: references: one of each session and of each client
 * @addr: the address; one of IPv4 is mapped
 * @bytes: memory, by what it is for
 * @conns: connections; guarded by dafsd_sessions_lock
 * @sessions: likewise, of which so many were admitted
 * @clients: in the table of clients; guarded by dafsd_clients_lock
 */
struct dafsd_peer {
	struct hlist_node node;
	unsigned int users;
	struct in6_addr addr;
	atomic_long_t bytes[DAFSD_NR_CHARGES];
	unsigned int conns;
	unsigned int sessions;
	unsigned int clients;
};

/**
 * struct dafsd_client - one (client-id-string, verifier) pair (3.1.1.3)
 * @ref: one of the table while it is there, one of each session
 * @node: in the list of clients; guarded by dafsd_clients_lock
 * @id_node: in the table of clients by @id; guarded likewise
 * @peer: the address that it came from first, which its state is counted for; holds a
 *	reference
 * @nr_sessions: sessions that are connecting or confirmed; guarded by
 *	dafsd_clients_lock
 * @discarded: it is not in the table any more; its sessions are of no use
 * @client_id: what CLIENT_CONNECT returns
 * @verifier: names the client's instance
 * @principal: DAFS_AUTH_* it authenticated with; both kinds have one principal
 * @confirmed: a session has authenticated as this client
 * @id_len: bytes of @id
 * @id: client-id-string
 * @max_credentials: fixed by the first session (E-47)
 * @lock: guards @opens, @expired, @nr_opens and @released
 * @creds: cred_handle -> const struct cred *, XA_FLAGS_ALLOC1; has its own lock
 * @nr_creds: entries of @creds; guarded by its lock
 * @next_cred: where the search for a free handle goes on; guarded by its lock
 * @opens: dafsd_open.client_link of everything it has open
 * @expired: the same, of what it is about to lose
 * @nr_opens: entries of both, and those that are reserved
 * @released: its opens were taken from it for good; OPEN makes no new ones
 * @nr_connecting: sessions that have not authenticated yet; guarded by
 *	dafsd_clients_lock
 * @renewed: jiffies of its last sign of life, see dafsd_client_renew()
 * @silent: it had been silent for its lease when that was looked at last; guarded
 *	by dafsd_clients_lock
 * @nr_late: sessions that have ended while changes of them are executed, see request/late.c
 * @lease_work: looks whether it lives, from the first authentication on; holds a
 *	reference while queued
 * @rcu: to free it
 */
struct dafsd_client {
	struct kref ref;
	struct list_head node;
	struct hlist_node id_node;
	struct dafsd_peer *peer;
	unsigned int nr_sessions;
	bool discarded;
	struct dafs_opaque64 client_id;
	struct dafs_opaque64 verifier;
	u32 principal;
	bool confirmed;
	u32 id_len;
	u8 *id;
	u32 max_credentials;
	spinlock_t lock;	/* see above */
	struct xarray creds;
	u32 nr_creds;
	u32 next_cred;
	struct list_head opens;
	struct list_head expired;
	unsigned int nr_opens;
	bool released;
	unsigned int nr_connecting;
	unsigned long renewed;
	bool silent;
	atomic_t nr_late;
	struct delayed_work lease_work;
	struct rcu_head rcu;
};

/* A session moves forward only; dafsd_session_set_state() checks. */
enum dafsd_session_state {
	DAFSD_SES_NEW,		/* connection up, nothing heard */
	DAFSD_SES_CONNECTED,	/* CLIENT_CONNECT answered, not authenticated */
	DAFSD_SES_READY,
	DAFSD_SES_BOUND,	/* no session but a channel bound to one */
	DAFSD_SES_CLOSING,
};

struct dafsd_rqst;

/**
 * struct dafsd_chain - what a chain has come to and hands on (4.3)
 * @failed: a request of it did, so those that follow are not executed
 * @fetched: a bulk fetch was among its requests
 * @has_fh: @fh is valid
 * @has_state_id: @state_id is
 * @fh: current filehandle (E-62)
 * @state_id: current state-id (E-63)
 */
struct dafsd_chain {
	bool failed;
	bool fetched;
	bool has_fh;
	bool has_state_id;
	struct dafs_fh fh;
	struct dafs_opaque64 state_id;
};

/* What the request that arrived last has announced */
enum dafsd_chain_next {
	DAFSD_CHAIN_END,	/* nothing that belongs to it */
	DAFSD_CHAIN_MORE,	/* one of the same chain */
	DAFSD_CHAIN_UNSURE,	/* it did not match its checksum: who knows (E-33) */
};

/**
 * struct dafsd_chains - the chains of a session, see request/chain.c
 * @next: read and changed where requests arrive, one at a time
 * @lock: guards @last, @parked, and dafsd_rqst.next
 * @last: the request that arrived last, if it has announced another one and is
 *	not done yet
 * @parked: what the chain without an end hands on, while none of it is executed
 */
struct dafsd_chains {
	enum dafsd_chain_next next;
	spinlock_t lock;	/* see above */
	struct dafsd_rqst *last;
	struct dafsd_chain parked;
};

/**
 * struct dafsd_session - one session (3.1.2), or an optional channel of one
 * @node: in the list of sessions; guarded by dafsd_sessions_lock
 * @id_node: in the table of sessions by id, from CLIENT_CONNECT on; likewise
 * @ref: one of the table, one of each user that found it there
 * @lock: guards @state, @bc, @rr, @bound_to and @changing
 * @state: see above
 * @session_id: what CLIENT_CONNECT returned
 * @peer: the address it comes from; holds a reference
 * @new_node: in the list of connections that are not authenticated yet, nor bound;
 *	guarded by dafsd_sessions_lock
 * @admitted: counted among the sessions; under dafsd_sessions_lock
 * @client: after CLIENT_CONNECT; holds a reference, and until @confirmed is
 *	counted in its nr_connecting
 * @confirmed: it has authenticated as @client, which may keep state for it; guarded
 *	by dafsd_clients_lock
 * @opts: as negotiated
 * @auth_type: DAFS_AUTH_* that was accepted
 * @trusted: may use credential handles
 * @auth_failures: CLIENT_AUTH attempts refused so far (E-52), and CONNECT_BINDs to
 *	sessions that there are not
 * @chan: the channel that carries its requests
 * @responder: of @chan
 * @bc: the back-control channel bound to this session, or NULL; no reference,
 *	it takes itself out when it ends
 * @rr: the RDMA-read channel, likewise
 * @bound_to: state BOUND: the session; holds a reference
 * @bc_requester: state BOUND, back-control: sends directives
 * @sq_avail: send queue entries free for RDMA on @chan
 * @busy: requests whose responses have not left, and one for the channel until it is
 *	quiesced; who drops the last one queues the end of the session
 * @placed_lock: guards @placed
 * @placed: dafsd_rqst.place_link of its requests that have a place in a lane
 * @parked: dafsd_rqst.park_own of its requests that wait; with what follows up to
 *	@ending guarded by the lock of request/park.c
 * @waiting: entries of @parked
 * @sq_waiting: requests that wait for @sq_avail; may be of another session
 * @alone: a DISCONNECT that waits for the end of all other requests
 * @ending: nothing waits any more
 * @changing: dafsd_rqst.change_link of the changes that are executed, see request/late.c
 * @late: it has ended, and counts in client->nr_late
 * @chains: of its requests; forgotten with the session (4.3.4)
 * @setup: held while a DAFSD_P_SETUP request is executed
 * @leaving: bit 0 set by the first DISCONNECT
 * @reaper: ends a session that does not authenticate, is cut off, or does not hang
 *	up
 * @requests_seen: what @requests was when @reaper looked last
 * @teardown: ends it, in steps, each queued by the end of the one before; the first
 *	one by the channel's end
 * @fence_id: fence_id_string, for the fencing procedures
 * @requests: requests answered
 * @errors: those answered by another status than OK
 * @bytes_read: bytes of files that went to the client
 * @bytes_borrowed: those that left from where the file system keeps them
 * @bytes_written: bytes of files that came from it
 * @in_sysfs: @kobj was added; under @setup
 * @kobj: its folder in sysfs, from state READY until teardown
 * @kobj_gone: nothing refers to @kobj any more
 */
struct dafsd_session {
	struct list_head node;
	struct hlist_node id_node;
	struct kref ref;
	spinlock_t lock;	/* see above */
	enum dafsd_session_state state;
	struct dafs_opaque64 session_id;
	struct dafsd_peer *peer;
	struct list_head new_node;
	bool admitted;
	struct dafsd_client *client;
	bool confirmed;
	struct dafs_connect_opts opts;
	u32 auth_type;
	bool trusted;
	u8 auth_failures;
	struct dafs_chan *chan;
	struct dafs_responder *responder;
	struct dafsd_session *bc;
	struct dafsd_session *rr;
	struct dafsd_session *bound_to;
	struct dafs_requester *bc_requester;
	atomic_t sq_avail;
	atomic_t busy;
	spinlock_t placed_lock;	/* see above */
	struct list_head placed;
	struct list_head parked;
	unsigned int waiting;
	struct list_head sq_waiting;
	struct list_head alone;
	bool ending;
	struct list_head changing;
	int late;
	struct dafsd_chains chains;
	struct mutex setup;	/* see above */
	unsigned long leaving;
	struct delayed_work reaper;
	s64 requests_seen;
	struct work_struct teardown;
	struct dafs_str fence_id;
	atomic64_t requests;
	atomic64_t errors;
	atomic64_t bytes_read;
	atomic64_t bytes_borrowed;
	atomic64_t bytes_written;
	bool in_sysfs;
	struct kobject kobj;
	struct completion kobj_gone;
};

/**
 * struct dafsd_rdma - one RDMA operation: one client buffer
 * @ctx: of rdma_rw
 * @sgt: the server's pages for it
 */
struct dafsd_rdma {
	struct rdma_rw_ctx ctx;
	struct sg_table sgt;
};

/**
 * struct dafsd_io - bulk data of one request
 * @bv: pages that the data passes through
 * @nr_bv: entries of @bv; each may be several pages
 * @max_bv: room in @bv for borrowed pages, 0 if they are our own
 * @charged: bytes that are counted for the peer
 * @len: bytes in them
 * @rdma: the operations of a round: one for each client buffer used, or more
 * @nr_rdma: how many
 * @max_rdma: room in @rdma
 * @bufs: the client's buffers
 * @buf: the first of @bufs that is not mapped, or not all of it
 * @buf_done: bytes of that which are
 * @mapped: bytes of all rounds so far
 * @total: bytes to transfer
 * @dir: DMA_TO_DEVICE when the server writes to the client
 * @ses: whose channel they go on; holds a reference
 * @sq_wanted: send queue entries that @rdma needs
 * @sq_used: send queue entries taken from it
 * @moved: completion of a round that no response follows
 * @proof: comes after them where their completion proves nothing
 * @error: their result
 *
 * See dafsd_io_*() in request/rdma.c.
 */
struct dafsd_io {
	struct bio_vec *bv;
	unsigned int nr_bv;
	unsigned int max_bv;
	u32 charged;
	u32 len;
	struct dafsd_rdma *rdma;
	unsigned int nr_rdma;
	unsigned int max_rdma;
	struct dafs_seq bufs;
	u32 buf;
	u32 buf_done;
	u32 mapped;
	u32 total;
	enum dma_data_direction dir;
	struct dafsd_session *ses;
	int sq_wanted;
	int sq_used;
	struct dafs_sent moved;
	struct ib_rdma_wr proof;
	int error;
};

/**
 * struct dafsd_lane - a bounded share of the workers, see request/park.c
 * @running: requests that have one
 * @first: dafsd_rqst.park_link of those that wait for one, and of whose session nothing is
 *	executed here; guarded by the lock of request/park.c
 * @waiting: the others that wait; likewise
 * @short_link: in the list of lanes that requests wait for; likewise
 */
struct dafsd_lane {
	atomic_t running;
	struct list_head first;
	struct list_head waiting;
	struct list_head short_link;
};

/**
 * dafsd_lane_init() - a share of the workers for an export
 * @lane: the share
 */
static inline void dafsd_lane_init(struct dafsd_lane *lane)
{
	atomic_set(&lane->running, 0);
	INIT_LIST_HEAD(&lane->short_link);
	INIT_LIST_HEAD(&lane->first);
	INIT_LIST_HEAD(&lane->waiting);
}

/* Does nothing wait there? */
static inline bool dafsd_lane_is_quiet(const struct dafsd_lane *lane)
{
	return list_empty(&lane->first) && list_empty(&lane->waiting);
}

/**
 * dafsd_lane_exit() - the export is gone
 * @lane: its share, which no request has any more
 */
static inline void dafsd_lane_exit(struct dafsd_lane *lane)
{
	WARN_ON_ONCE(atomic_read(&lane->running) || !dafsd_lane_is_quiet(lane) ||
		     !list_empty(&lane->short_link));
}

/* Whose a request is, see request/park.c */
enum dafsd_owner {
	DAFSD_OWNER_ANSWERED,	/* the responder's; also before the first use */
	DAFSD_OWNER_CHAINED,	/* arrived; or the request's before it in its chain */
	DAFSD_OWNER_QUEUED,
	DAFSD_OWNER_WORKER,
	DAFSD_OWNER_PARKED,
	DAFSD_OWNER_DEVICE,	/* RDMA is under way that no response follows */
};

/* What a worker does next with a request, see request/request.c */
enum dafsd_stage {
	DAFSD_STAGE_BEGIN,	/* decode, find out what it needs */
	DAFSD_STAGE_PREPARE,	/* dafsd_proc.prepare */
	DAFSD_STAGE_MOVE,	/* post a round of RDMA that no response follows */
	DAFSD_STAGE_MOVED,	/* it has ended */
	DAFSD_STAGE_RUN,	/* dafsd_proc.run */
	DAFSD_STAGE_ENCODE,	/* the result */
	DAFSD_STAGE_SEND,	/* the response */
};

/* dafsd_session.busy when one request is left and the channel is good */
#define DAFSD_BUSY_ALONE	2

/**
 * struct dafsd_rqst - one request at the server
 * @base: the responder's part; first
 * @ses: the session it came on; its end waits for its requests
 * @proc: its row of the procedure table
 * @owner: whose it is
 * @stage: what comes next
 * @status: what its response says
 * @len: bytes of its response
 * @lane: where it has a worker's place, or NULL; changed under dafsd_session.placed_lock
 * @place_link: in the requests of its session that have one
 * @least: that is one of the least that each lane has: its worker is of dafsd_least_wq
 * @exp: whose lane that is, if any; holds a reference
 * @wants: the export that it came to and found full, if it is to go on with a place
 *	there; holds a reference
 * @walked: components of its path that it has walked before it waited for @exp, at whose
 *	root it goes on; 0 if it did not wait
 * @came: what it tells of its path if it cannot go on there (E-96)
 * @waits: the lane that it waits for a place in, or NULL; guarded by the lock of request/park.c
 * @passes: it is in the list of those that go first there; likewise
 * @change_link: in the changes that its session executes, or empty
 * @park_link: in the list of what it waits for
 * @park_own: in the list of all that wait in its session
 * @cred: whom to act for; the handlers run under it
 * @saved_cred: what its worker was before, for revert_creds()
 * @open: OPEN: what it has reserved and not used yet, see dafsd_open_reserve()
 * @body: encode @res although the status is not OK (E-13)
 * @hang_up: end the session once the response has left
 * @chain: its chain, while it is executed
 * @next: the request of the same chain that waits for it
 * @args: decoded arguments; strings point into the request message
 * @res: results, filled by the handler
 * @io: bulk data
 * @scratch: memory that @res points into, freed after the reply; kvfree()
 * @area: likewise; dafsd_area_free()
 */
struct dafsd_rqst {
	struct dafs_rqst base;
	struct dafsd_session *ses;
	const struct dafsd_proc *proc;
	enum dafsd_owner owner;
	enum dafsd_stage stage;
	u32 status;
	u32 len;
	struct dafsd_lane *lane;
	struct list_head place_link;
	bool least;
	bool passes;
	struct dafsd_export *exp;
	struct dafsd_export *wants;
	u32 walked;
	struct dafs_lookup_res came;
	struct dafsd_lane *waits;
	struct list_head change_link;
	struct list_head park_link;
	struct list_head park_own;
	const struct cred *cred;
	const struct cred *saved_cred;
	struct dafsd_open *open;
	bool body;
	bool hang_up;
	struct dafsd_chain chain;
	struct dafsd_rqst *next;
	union dafs_args args;
	union dafs_res res;
	struct dafsd_io io;
	void *scratch;
	void *area;
};

/* Chaining category of a procedure (4.3.1) */
enum dafsd_class {
	DAFSD_SPECIAL,
	DAFSD_SIMPLE,
	DAFSD_BULK_FETCH,
	DAFSD_FS_MODIFY,
	DAFSD_LOCK_MODIFY,
};

#define DAFSD_P_UNAUTH	BIT(0)	/* allowed before authentication (E-52) */
#define DAFSD_P_CRED	BIT(1)	/* acts with the caller's credential */
#define DAFSD_P_SETUP	BIT(2)	/* one at a time on a channel */
#define DAFSD_P_FIRST	BIT(3)	/* only as the first request on a channel */
#define DAFSD_P_INLINE	BIT(4)	/* inline data in the request (args need inline_header) */
#define DAFSD_P_DISCARDED BIT(5) /* allowed although the client was discarded (E-84) */
#define DAFSD_P_ALONE	BIT(6)	/* runs when all other requests have been answered */
#define DAFSD_P_REPEATABLE BIT(7) /* a change that may be done once more, later */

/**
 * struct dafsd_proc - a row of the procedure table
 * @class: chaining category
 * @flags: DAFSD_P_*
 * @run: the handler; process context under the caller's credential.  Returns a
 *	DAFS status.  A NULL handler answers NOTSUPP.
 * @prepare: what comes before something that has to be waited for, or NULL: the
 *	RDMA reads that it maps, or that the request is the only one.  Then @run is
 *	called, perhaps by another worker; nothing but @rq may be held in between.
 */
struct dafsd_proc {
	enum dafsd_class class;
	unsigned int flags;
	u32 (*run)(struct dafsd_rqst *rq);
	u32 (*prepare)(struct dafsd_rqst *rq);
};

/* proc/table.c */
extern const struct dafsd_proc dafsd_procs[DAFS_PROC_LAST + 1];

/* request/chain.c */
bool dafsd_chain_arrived(struct dafsd_rqst *rq);
u32 dafsd_chain_check(const struct dafsd_rqst *rq);
u32 dafsd_chain_inherit(struct dafsd_rqst *rq);
struct dafsd_rqst *dafsd_chain_next(struct dafsd_rqst *rq, u32 status);
const struct dafs_fh *dafsd_chain_fh(const struct dafsd_rqst *rq);

/* request/park.c: where requests wait */
void dafsd_rqst_hand(struct dafsd_rqst *rq, enum dafsd_owner from, enum dafsd_owner to);
bool dafsd_lane_enter(struct dafsd_rqst *rq, const struct dafs_fh *fh);
bool dafsd_lane_change(struct dafsd_rqst *rq, struct dafsd_export *exp);
void dafsd_lane_await(struct dafsd_rqst *rq);
void dafsd_lane_leave(struct dafsd_rqst *rq);
bool dafsd_sq_enter(struct dafsd_rqst *rq);
void dafsd_sq_leave(struct dafsd_io *io);
bool dafsd_park_alone(struct dafsd_rqst *rq);
void dafsd_unpark_alone(struct dafsd_session *ses);
void dafsd_park_end(struct dafsd_session *ses);

extern unsigned int dafsd_lane_most;
extern unsigned int dafsd_workers;

/* request/late.c: changes that outlive their connection */
void dafsd_late_begin(struct dafsd_rqst *rq);
void dafsd_late_end(struct dafsd_rqst *rq);
u32 dafsd_late_check(const struct dafsd_rqst *rq);
u32 dafsd_late_check_moved(const struct dafsd_rqst *rq);

/* request/pool.c: memory for bulk data */
size_t dafsd_chunks_size(u32 want);
struct page *dafsd_chunk_alloc(u32 want, unsigned int *bytes);
void dafsd_chunk_free(struct page *page);

/* Bytes in which the entries of a READDIR are collected, at most */
#define DAFSD_AREA_MAX			SZ_512K

void *dafsd_area_alloc(size_t size);
void dafsd_area_free(void *data);
int dafsd_pool_init(void);
void dafsd_pool_exit(void);

/* request/rdma.c: bulk data between client memory and the server's pages */
u32 dafsd_io_alloc(struct dafsd_rqst *rq, u32 len);
ssize_t dafsd_io_borrow(struct dafsd_rqst *rq, struct file *filp, u64 offset, u32 len);
void dafsd_io_free(struct dafsd_rqst *rq);
u32 dafsd_io_room(struct dafsd_rqst *rq, const struct dafs_seq *bufs, u64 *room);
u32 dafsd_io_check_bufs(struct dafsd_rqst *rq, const struct dafs_seq *bufs, u32 len);
struct ib_send_wr *dafsd_io_wrs(struct dafsd_rqst *rq, struct ib_cqe *cqe,
				struct ib_send_wr *next);
u32 dafsd_io_cksum_check(struct dafsd_rqst *rq, u32 len, const struct dafs_cksum *cksum);
u32 dafsd_io_pull(struct dafsd_rqst *rq, const struct dafs_seq *bufs, u32 len);
bool dafsd_io_post(struct dafsd_rqst *rq);
u32 dafsd_io_ended(struct dafsd_rqst *rq);
bool dafsd_io_more(const struct dafsd_io *io);
u32 dafsd_io_push(struct dafsd_rqst *rq, const struct dafs_seq *bufs, u32 len,
		  struct dafs_cksum *cksum);

/* request/meta.c: metadata by RDMA */

/* Bytes of the longest that is sent or fetched, whatever the buffers hold */
#define DAFSD_META_MAX			SZ_64K

struct dafs_seq dafsd_meta_buf(const struct dafs_direct_buf *buf);
u32 dafsd_meta_begin(struct dafsd_rqst *rq, struct dafs_stream *stream, u32 size);
void dafsd_meta_end(const struct dafsd_rqst *rq, struct dafs_stream *stream);
u32 dafsd_meta_push(struct dafsd_rqst *rq, const struct dafs_seq *bufs,
		    struct dafs_stream *stream, int len, struct dafs_cksum *cksum);
u32 dafsd_meta_pull(struct dafsd_rqst *rq, const struct dafs_seq *bufs);
u32 dafsd_meta_pulled(struct dafsd_rqst *rq, u32 proc, const struct dafs_cksum *cksum,
		      struct dafs_stream *stream);

/* peer.c: what an address may have */
extern unsigned int dafsd_max_state;

struct dafsd_peer *dafsd_peer_find(const struct sockaddr_storage *ss);
struct dafsd_peer *dafsd_peer_get(struct dafsd_peer *peer);
void dafsd_peer_put(struct dafsd_peer *peer);
bool dafsd_client_is_local(const struct dafsd_session *ses);
bool dafsd_peer_charge(struct dafsd_peer *peer, enum dafsd_charge what, size_t bytes);
void dafsd_peer_uncharge(struct dafsd_peer *peer, enum dafsd_charge what, size_t bytes);

/* client.c */

/**
 * struct dafsd_client_ops - what is done about the state that a client has
 * @expire: its lease has run out, under the lock of clients: nothing new is made of it
 * @revoke: without that lock: take from it what has expired
 * @release: it is gone: end all of it
 */
struct dafsd_client_ops {
	void (*expire)(struct dafsd_client *client);
	void (*revoke)(struct dafsd_client *client);
	void (*release)(struct dafsd_client *client);
};

void dafsd_clients_init(const struct dafsd_client_ops *ops);
void dafsd_clients_exit(void);
struct dafsd_client *dafsd_client_get(struct dafsd_peer *peer, const struct dafs_str *id,
				      const struct dafs_opaque64 *verifier, u32 max_credentials);
void dafsd_client_abandon(struct dafsd_client *client);
u32 dafsd_client_confirm(struct dafsd_session *ses, u32 principal);
void dafsd_client_renew(struct dafsd_client *client);
void dafsd_client_leave(struct dafsd_session *ses);
void dafsd_client_put(struct dafsd_client *client);

/* session.c */

/**
 * struct dafsd_session_ops - who serves the requests of a session
 * @rqst: gets them
 * @stop: the channel has closed: answer those that wait
 */
struct dafsd_session_ops {
	const struct dafs_responder_ops *rqst;
	void (*stop)(struct dafsd_session *ses);
};

void dafsd_sessions_init(const struct dafsd_session_ops *ops);
void dafsd_late_closed(struct dafsd_session *ses);
void dafsd_late_over(struct dafsd_session *ses);
void dafsd_sessions_exit(void);
int dafsd_session_accept(struct dafs_listener *listener, struct rdma_cm_id *id,
			 const struct rdma_conn_param *conn);
bool dafsd_session_admit(struct dafsd_session *ses);
bool dafsd_session_set_state(struct dafsd_session *ses, enum dafsd_session_state next);
struct dafsd_session *dafsd_session_find(const struct dafs_opaque64 *session_id);
struct dafsd_session *dafsd_session_get(struct dafsd_session *ses);
void dafsd_session_put(struct dafsd_session *ses);
void dafsd_session_idle(struct dafsd_session *ses);
void dafsd_session_new_id(struct dafsd_session *ses);
void dafsd_session_reap_in(struct dafsd_session *ses, unsigned int seconds);
bool dafsd_sessions_any(bool (*match)(struct dafsd_session *ses, const void *of),
			const void *of);
bool dafsd_sessions_busy(const struct dafsd_client *client);
void dafsd_sessions_end(const struct dafsd_client *client);
void dafsd_sessions_supersede(const struct dafsd_session *ses);

/* sysfs.c */
int dafsd_sysfs_init(void);
void dafsd_sysfs_exit(void);
void dafsd_session_show_in_sysfs(struct dafsd_session *ses);
void dafsd_session_hide_from_sysfs(struct dafsd_session *ses);

/* request/request.c */
void dafsd_requests_init(const struct dafsd_proc *procs);
void dafsd_rqst_queue(struct dafsd_rqst *rq, enum dafsd_owner from);
extern const struct dafs_responder_ops dafsd_responder_ops;

/* server.c: of requests; what ends; what looks at the time */
int dafsd_wqs_create(void);
void dafsd_wqs_destroy(void);
extern struct workqueue_struct *dafsd_wq;
extern struct workqueue_struct *dafsd_least_wq;
extern struct workqueue_struct *dafsd_end_wq;
/* of files, one work item for each export: a dead disk may keep its worker */
extern struct workqueue_struct *dafsd_close_wq;
extern struct workqueue_struct *dafsd_timer_wq;

/* module parameters */
extern unsigned int dafsd_max_requests;
extern unsigned int dafsd_msg_size;
extern unsigned int dafsd_lease_seconds;
extern unsigned int dafsd_max_sessions;
extern unsigned int dafsd_max_opens;

/* client.c: in all, from one address dafsd_peer_share() of it */
extern unsigned int dafsd_max_clients;

extern bool dafsd_auth_none;

/* export/export.c: what the administrator exports */

/**
 * struct dafsd_export - a directory tree that clients may reach
 * @ref: one of configfs, one of each filehandle in use
 * @node: in the list of exports
 * @handle_node: in the table of exports by @fshandle
 * @name: its name, a path in the name space without a slash at either end
 * @path: the tree
 * @fshandle: first 16 bytes of all its filehandles
 * @read_only: refuse changes with ROFS
 * @root_squash: uid 0 and gid 0 act as @anon_uid and @anon_gid
 * @all_squash: everybody does
 * @anon_uid: see above; also of callers without credentials
 * @anon_gid: likewise; also of users who came without a group
 * @anon_cred: a user of these
 * @enabled: served; cleared when the export is taken away, see dafsd_open_add()
 * @whole_fs: the tree is a whole file system, so everything in it is inside
 * @subtree_check: it is not, and files are traced to the tree too, see vfs/fh.c
 * @raw_names: names of objects need not be UTF-8
 * @number: position in pseudo directories, not used twice
 * @lane: its share of the workers
 * @closing: opens in it that were taken from their clients, to be closed by @closer
 * @closer: likewise; holds a reference while queued
 * @wb_err: how many errors of writing back the write verifier has told, see data/stable.c
 * @rcu: frees it
 */
struct dafsd_export {
	struct kref ref;
	struct list_head node;
	struct hlist_node handle_node;
	char *name;
	struct path path;
	u8 fshandle[DAFS_FSHANDLE_SIZE];
	bool read_only;
	bool root_squash;
	bool all_squash;
	kuid_t anon_uid;
	kgid_t anon_gid;
	const struct cred *anon_cred;
	bool enabled;
	bool whole_fs;
	bool subtree_check;
	bool raw_names;
	u64 number;
	struct dafsd_lane lane;
	struct llist_head closing;
	struct work_struct closer;
	errseq_t wb_err;
	struct rcu_head rcu;
};

/**
 * struct dafsd_export_ops - what the layers above do about exports
 * @served: one is about to be enabled
 * @withdrawn: one is disabled; end the state in it
 */
struct dafsd_export_ops {
	void (*served)(struct dafsd_export *exp);
	void (*withdrawn)(struct dafsd_export *exp);
};

int dafsd_exports_init(const struct dafsd_export_ops *ops);
void dafsd_exports_exit(void);
struct dafsd_export *dafsd_export_find(const u8 *fshandle);
struct dafsd_export *dafsd_export_find_name(const struct dafs_str *name);
struct dafsd_export *dafsd_export_nth(u64 n);
void dafsd_export_put(struct dafsd_export *exp);

/* vfs/fh.c: filehandles */

/**
 * struct dafsd_fh - a filehandle resolved
 * @exp: its export, NULL for a pseudo directory
 * @dentry: the object, NULL for a pseudo directory
 * @below: of a pseudo directory but the root: an export to which it leads
 * @len: bytes of its path, with which the name of @below begins
 * @wants_write: mnt_want_write() is held
 */
struct dafsd_fh {
	struct dafsd_export *exp;
	struct dentry *dentry;
	struct dafsd_export *below;
	u32 len;
	bool wants_write;
};

u32 dafsd_fh_get(struct dafsd_rqst *rq, const struct dafs_fh *wire, struct dafsd_fh *fh);
void dafsd_fh_put(struct dafsd_fh *fh);
u32 dafsd_fh_use(struct dafsd_rqst *rq, const struct dafs_fh *wire,
		 u32 (*run)(struct dafsd_rqst *rq, struct dafsd_fh *fh));
u32 dafsd_fh_compose(struct dafsd_export *exp, struct dentry *dentry, struct dafs_fh *wire);
u32 dafsd_fh_want_write(struct dafsd_fh *fh);
void dafsd_fh_drop_write(struct dafsd_fh *fh);
bool dafsd_fh_is_pseudo(const struct dafsd_fh *fh);

/* cred.c: whom a request acts for */
int dafsd_creds_init(void);
void dafsd_creds_exit(void);
const struct cred *dafsd_cred_make_anon(const struct dafsd_export *exp);
u32 dafsd_cred_register(struct dafsd_session *ses, struct dafs_stream *in,
			const struct dafs_register_cred_args *args, u8 *handle);
u32 dafsd_cred_release(struct dafsd_session *ses, const u8 *handle);
void dafsd_cred_drop(struct dafsd_client *client, const struct cred *cred);
u32 dafsd_cred_find(struct dafsd_session *ses, const u8 *handle, const struct cred **cred);
const struct cred *dafsd_cred_squash(const struct dafsd_export *exp, const struct cred *cred);

/* state/share.c: records of inodes */
int dafsd_files_init(void);
void dafsd_files_exit(void);

/* state/state.c: opens and their state-ids */
void dafsd_opens_exit(void);
void dafsd_opens_release_client(struct dafsd_client *client);
void dafsd_opens_expire_client(struct dafsd_client *client);
void dafsd_opens_revoke_client(struct dafsd_client *client);
void dafsd_opens_init_export(struct dafsd_export *exp);

/* data/stable.c */
void dafsd_verifier_change(void);

/* the boot instance: part of client-ids, session-ids and state-ids */
extern u32 dafsd_boot_instance;

/* handlers, named after their procedures; proc/session.c */
u32 dafsd_proc_client_connect(struct dafsd_rqst *rq);
u32 dafsd_proc_client_connect_auth(struct dafsd_rqst *rq);
u32 dafsd_proc_client_auth(struct dafsd_rqst *rq);
u32 dafsd_proc_connect_bind(struct dafsd_rqst *rq);
u32 dafsd_prepare_disconnect(struct dafsd_rqst *rq);
u32 dafsd_proc_disconnect(struct dafsd_rqst *rq);
u32 dafsd_proc_server_auth(struct dafsd_rqst *rq);
u32 dafsd_proc_secinfo(struct dafsd_rqst *rq);
u32 dafsd_proc_null(struct dafsd_rqst *rq);
u32 dafsd_proc_register_cred(struct dafsd_rqst *rq);
u32 dafsd_proc_release_cred(struct dafsd_rqst *rq);

/* proc/name.c */
u32 dafsd_proc_get_root_handle(struct dafsd_rqst *rq);
u32 dafsd_proc_lookup(struct dafsd_rqst *rq);
u32 dafsd_proc_lookupp(struct dafsd_rqst *rq);
u32 dafsd_proc_create(struct dafsd_rqst *rq);
u32 dafsd_proc_remove(struct dafsd_rqst *rq);
u32 dafsd_proc_rename(struct dafsd_rqst *rq);

/* proc/link.c */
u32 dafsd_proc_link(struct dafsd_rqst *rq);

/* proc/readdir.c */
u32 dafsd_proc_readdir_inline(struct dafsd_rqst *rq);
u32 dafsd_proc_readdir_direct(struct dafsd_rqst *rq);

/* proc/direct.c */
u32 dafsd_proc_getattr_direct(struct dafsd_rqst *rq);
u32 dafsd_prepare_setattr_direct(struct dafsd_rqst *rq);
u32 dafsd_proc_setattr_direct(struct dafsd_rqst *rq);
u32 dafsd_proc_readlink_direct(struct dafsd_rqst *rq);

/* proc/attr.c */
u32 dafsd_proc_access(struct dafsd_rqst *rq);
u32 dafsd_proc_getattr_inline(struct dafsd_rqst *rq);
u32 dafsd_proc_setattr_inline(struct dafsd_rqst *rq);
u32 dafsd_proc_get_fsattr(struct dafsd_rqst *rq);
u32 dafsd_proc_readlink_inline(struct dafsd_rqst *rq);

/* proc/verify.c */
u32 dafsd_proc_nverify(struct dafsd_rqst *rq);
u32 dafsd_proc_verify(struct dafsd_rqst *rq);

/* proc/open.c */
u32 dafsd_proc_open(struct dafsd_rqst *rq);
u32 dafsd_proc_close(struct dafsd_rqst *rq);
u32 dafsd_proc_open_downgrade(struct dafsd_rqst *rq);
u32 dafsd_proc_delegpurge(struct dafsd_rqst *rq);
u32 dafsd_proc_delegreturn(struct dafsd_rqst *rq);

/* proc/append.c */
u32 dafsd_proc_append_inline(struct dafsd_rqst *rq);
u32 dafsd_prepare_append_direct(struct dafsd_rqst *rq);
u32 dafsd_proc_append_direct(struct dafsd_rqst *rq);

/* proc/rw.c */
u32 dafsd_proc_cache_hint(struct dafsd_rqst *rq);
u32 dafsd_proc_read_inline(struct dafsd_rqst *rq);
u32 dafsd_proc_read_direct(struct dafsd_rqst *rq);
u32 dafsd_proc_write_inline(struct dafsd_rqst *rq);
u32 dafsd_prepare_write_direct(struct dafsd_rqst *rq);
u32 dafsd_proc_write_direct(struct dafsd_rqst *rq);
u32 dafsd_proc_commit(struct dafsd_rqst *rq);

#endif /* _DAFSD_H */
