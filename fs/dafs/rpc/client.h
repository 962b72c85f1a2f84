/* SPDX-License-Identifier: GPL-2.0 */
/* A client of a server: what the server knows by one client-id (2.4.3). */
#ifndef _FS_DAFS_RPC_CLIENT_H
#define _FS_DAFS_RPC_CLIENT_H

#include <linux/in.h>
#include <linux/in6.h>
#include <linux/kref.h>
#include <linux/socket.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/dafs/msg.h>
#include <linux/dafs/stats.h>

struct dafs_conn;
struct dafs_cred_cache;
struct dafs_session;

/* What the server is asked about requests whose connection was lost */
enum dafs_respcache {
	DAFS_RESPCACHE_NONE,
	DAFS_RESPCACHE_VOLATILE,	/* what it has executed since it was started */
	DAFS_RESPCACHE_STABLE,		/* also before, if it can tell */
};

/* Paths that a client has at most, and addresses of its server beside the first */
#define DAFS_MAX_PATHS		16
#define DAFS_MORE_ADDRS		4

/* An address without the padding of struct sockaddr_storage */
union dafs_addr {
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

static inline struct sockaddr_storage dafs_addr_storage(const union dafs_addr *addr)
{
	struct sockaddr_storage storage = {};

	memcpy(&storage, addr, sizeof(*addr));
	return storage;
}

/**
 * struct dafs_client_params - where to and how
 * @net: network namespace; the client takes its own reference
 * @dst: server
 * @more: further addresses of it
 * @nr_more: how many
 * @nconnect: paths to it; 0 for one to each address
 * @src: local address, family AF_UNSPEC for any
 * @soft: fail calls after @timeo_ms * (@retrans + 1) instead of waiting for ever
 * @timeo_ms: time after which a connection that gives no sign of life is given up
 * @retrans: connection attempts on a soft mount before its calls fail
 * @cksum: ask for checksums
 * @swab: use the byte order that is not this machine's (tests)
 * @back_control: ask for and bind the back-control channel
 * @rdma_read: ask for and bind the RDMA-read channel
 * @auth_type: DAFS_AUTH_NONE or DAFS_AUTH_DEFAULT
 * @respcache: whether to ask the server what it has executed before a request is sent again
 * @max_requests: slots to have at most
 * @max_credentials: credential handles to ask for; 0 for as many as the server likes
 * @msg_size: largest message to ask for, both ways, in bytes
 * @inline_header: inline_write_header_size to ask for, 0 for no padded writes (tests)
 * @client_id: client-id-string; empty for the host's own
 */
struct dafs_client_params {
	struct net *net;
	struct sockaddr_storage dst;
	union dafs_addr more[DAFS_MORE_ADDRS];
	unsigned int nr_more;
	unsigned int nconnect;
	struct sockaddr_storage src;
	bool soft;
	unsigned int timeo_ms;
	unsigned int retrans;
	bool cksum;
	bool swab;
	bool back_control;
	bool rdma_read;
	u32 auth_type;
	enum dafs_respcache respcache;
	u16 max_requests;
	u32 max_credentials;
	u32 msg_size;
	u32 inline_header;
	char client_id[128];
};

bool dafs_addr_equal(const struct sockaddr_storage *a, const struct sockaddr_storage *b);

/**
 * dafs_params_paths() - by how many paths is a server reached?
 * @params: of the client
 *
 * Return: 1 to DAFS_MAX_PATHS.
 */
static inline unsigned int dafs_params_paths(const struct dafs_client_params *params)
{
	return READ_ONCE(params->nconnect) ?: 1 + params->nr_more;
}

/**
 * struct dafs_client - a client of a server, for the mounts that share it
 * @params: where to and how; constant but for soft, timeo_ms and retrans, see
 *	dafs_client_set_timeouts(), and nconnect, see dafs_client_set_paths()
 * @ref: one of each super block that uses it
 * @ses: what it has with the server; only rpc/ looks into it
 * @dead: shut down for good
 * @lock: guards @client_id and @recoverers, and orders the tasks that change @params
 * @client_id: what the server keeps for this client, it keeps under this id
 * @recoverers: mounts that have state at the server, see recover.c
 * @recovered: for a change of what recovers
 * @purge_due: DELEGPURGE has not reached the server that knows this client as @purge_id
 * @purge_id: likewise; both guarded by @lock
 * @verifier: client_verifier
 * @instance: names this client in discriminators (E-124)
 * @creds: credential handles, shared with other mounts that have the same client-id
 * @lease: of the client at the server, in seconds
 * @last_null: jiffies when the last NULL was sent to renew it
 * @hurry: one is due now
 * @keeping: @keep is initialized
 * @renewed: when the last NULL or reclaim was sent that has been answered, in the time of
 *	ktime_get_coarse_boottime()
 * @leased_since: when the first of those was sent since the lease has run out; what was promised
 *	before is not relied on
 * @keep: renews the lease, returns credits, see lease.c
 * @relocated: asks anew which servers take over if this one fails
 * @relocated_wait: after the server has told to do so, in jiffies
 * @relocated_at: when that was done last, in jiffies
 * @retry_wq: sends again what was not answered, gets opens back and closes them; waits
 *	for slots, regions and responses, but not for a connection, nor until a server that
 *	asks for patience has had it: nothing in it waits for what is behind it
 * @end_wq: completes I/O; may wait for @retry_wq, not for a connection.  COMMITs, which do,
 *	have @commit_wq, so an unmount does not wait for those of others
 * @put_wq: evicts inodes, and so waits for all I/O on them, which may wait for the above
 * @lock_wq: releases locks in the background, after the file was written and committed
 * @reserve_wq: asks for share reservations, and drops what relied on lost ones; waits for
 *	@lock_wq, by which delegations are returned, so it is another one: items that wait for
 *	one of their own queue may fill it
 * @commit_wq: waits for whole operations, and so for the server, however long it is away
 * @stats: what became of the calls on all its connections
 * @begun: when it was made, in jiffies
 * @reconnects: connections made after the first one; changed under the lock of the session
 *
 * It has work queues of its own, so that a server that is away delays nothing of others.
 * Memory reclaim may depend on all but @put_wq, @lock_wq and @reserve_wq.
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
	bool purge_due;
	struct dafs_client_id purge_id;
	struct dafs_verifier verifier;
	u8 instance[4];
	struct dafs_cred_cache *creds;
	u32 lease;
	unsigned long last_null;
	bool hurry;
	bool keeping;
	ktime_t renewed;
	ktime_t leased_since;
	struct delayed_work keep;
	struct delayed_work relocated;
	unsigned long relocated_wait;
	unsigned long relocated_at;
	struct workqueue_struct *retry_wq;
	struct workqueue_struct *end_wq;
	struct workqueue_struct *put_wq;
	struct workqueue_struct *lock_wq;
	struct workqueue_struct *reserve_wq;
	struct workqueue_struct *commit_wq;
	struct dafs_stats __percpu *stats;
	unsigned long begun;
	unsigned int reconnects;
};

/**
 * struct dafs_recoverer - a mount that has state at the server
 * @link: in the client's list; empty before and after
 * @node: in the list of all of this machine
 * @recover: called when the server has given a connection another client-id: what the
 *	client had at the server is gone.  Runs where memory is not reclaimed from file
 *	systems, and sends by dafs_op_run_on() only.  An error means that the connection
 *	is lost; then it is called again on the next one.
 * @lapsed: called when the lease of the client had run out, and runs again: the server may have
 *	given to others what the client had, and know it all the same.  May not sleep; or NULL.
 * @clnt: the client, while in its list; this and all below is recover.c's, guarded by its lock
 * @work: calls @recover
 * @conn: to be given to @recover, with a reference, or NULL
 * @on: the connection on which @recover has been called and has not returned, or NULL
 * @slow: it is not waited for
 * @err: what it returned
 * @client_id: the client-id under which the server has all of its state; also read with the
 *	lock of the list of all, which guards the rest
 * @complete: set before @recover is called, which clears it if the server may yet give
 *	something back
 * @group: the same for all mounts of a server
 * @serves: returns 0 if the server of a connection has the file system, or a negative errno.
 *	Called before any recover() if that server may not be the one of before; sends by
 *	dafs_op_run_on() only
 * @relocated: called when what the server has told of its alternates has changed, and again later
 *	if it returns an error; may sleep, but does not wait for a connection; or NULL
 * @visits: @serves and @relocated that are being called; guarded by the lock of the list of all
 * @has_alternates: the server has told which servers have the file system if it fails; there may be
 *	no such server
 * @alternates: the addresses of those
 * @nr_alternates: how many
 */
struct dafs_recoverer {
	struct list_head link;
	struct list_head node;
	int (*recover)(struct dafs_recoverer *who, struct dafs_client *clnt,
		       struct dafs_conn *conn);
	void (*lapsed)(struct dafs_recoverer *who);
	struct dafs_client *clnt;
	struct work_struct work;
	struct dafs_conn *conn;
	struct dafs_conn *on;
	bool slow;
	int err;
	struct dafs_client_id client_id;
	bool complete;
	u64 group;
	int (*serves)(struct dafs_recoverer *who, struct dafs_client *clnt,
		      struct dafs_conn *conn);
	int (*relocated)(struct dafs_recoverer *who);
	unsigned int visits;
	bool has_alternates;
	struct sockaddr_storage alternates[DAFS_MORE_ADDRS];
	unsigned int nr_alternates;
};

void dafs_recover_slowly(struct dafs_recoverer *who);
void dafs_client_add_recoverer(struct dafs_client *clnt, struct dafs_recoverer *who);
void dafs_client_del_recoverer(struct dafs_client *clnt, struct dafs_recoverer *who);
void dafs_client_relocate(struct dafs_client *clnt);
void dafs_client_set_alternates(struct dafs_client *clnt, struct dafs_recoverer *who,
				const struct sockaddr_storage *addrs, unsigned int nr);

/**
 * struct dafs_back_ops - what is done about the directives of a server
 * @recall: BC_RECALL: begin to return a delegation that the server keeps under a client-id;
 *	does not sleep
 * @getattr: BC_GETATTR: what is not written yet of a file that is delegated for writing; does
 *	not sleep
 * @lapsed: the lease had run out, and runs again; what was delegated before must be returned
 */
struct dafs_back_ops {
	dafs_status_t (*recall)(const struct dafs_client_id *client_id,
				const struct dafs_bc_recall_args *args);
	dafs_status_t (*getattr)(const struct dafs_client_id *client_id,
				 const struct dafs_getattr_args *args, struct dafs_fattr *attr);
	void (*lapsed)(struct dafs_client *clnt);
};

void dafs_back_init(const struct dafs_back_ops *ops);

/* for main.c */
/*
 * Asks whether a server still has the locks of a file.  I/O waits for that, and by that items of
 * all queues of a client, while it waits for none of them but retry_wq.  There is one for all
 * clients, because the thread of a rescuer is much for what is so rare.
 */
extern struct workqueue_struct *dafs_probe_wq;

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
void dafs_client_set_paths(struct dafs_client *clnt, unsigned int nr);
void dafs_client_set_lease(struct dafs_client *clnt, u32 seconds);
ktime_t dafs_client_lease_from(const struct dafs_client *clnt, ktime_t at);
ktime_t dafs_client_lease_end(const struct dafs_client *clnt);
void dafs_client_renewed(struct dafs_client *clnt, ktime_t at);
bool dafs_client_in_last_lease(const struct dafs_client *clnt, ktime_t at);
bool dafs_client_leased_since(const struct dafs_client *clnt, ktime_t at);
bool dafs_client_has_lease(const struct dafs_client *clnt);
bool dafs_client_busy(struct dafs_client *clnt);
bool dafs_client_gives_up(const struct dafs_client *clnt, unsigned int *lost);
bool dafs_client_is(struct dafs_client *clnt, const struct dafs_client_id *client_id);
const char *dafs_client_state_name(const struct dafs_client *clnt);

/**
 * struct dafs_path_info - what can be said of a path at a moment
 * @at: where it leads to
 * @up: it has a connection
 * @reconnects: connections made after the first one
 * @outstanding: requests on their way
 * @credits: requests that may be
 */
struct dafs_path_info {
	struct sockaddr_storage at;
	bool up;
	unsigned int reconnects;
	u16 outstanding;
	u16 credits;
};

bool dafs_client_path_info(const struct dafs_client *clnt, unsigned int nr,
			   struct dafs_path_info *info);

#endif /* _FS_DAFS_RPC_CLIENT_H */
