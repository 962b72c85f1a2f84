/* SPDX-License-Identifier: GPL-2.0 */
/* The response cache: what became of the last request of each stream of a session (5.2). */
#ifndef _DAFSD_SESSION_RESPCACHE_H
#define _DAFSD_SESSION_RESPCACHE_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/dafs/codec.h>

struct dafsd_client;
struct dafsd_conn;
struct dafsd_peer;
struct dafsd_server;
struct dafsd_session;
struct dafsd_store;

/* Results that need no memory of their own: all but those with long names (E-58) */
#define DAFSD_RESPONSE_ROOM	160

/* Response caches of former sessions that a client has at most */
#define DAFSD_RESPCACHES	64

/* What a session's requests are remembered for; a module parameter */
enum dafsd_respcache_kind {
	DAFSD_RESPCACHE_NONE,
	DAFSD_RESPCACHE_VOLATILE,	/* until the server restarts */
	DAFSD_RESPCACHE_STABLE,		/* also after a crash, for clients that ask for it */
};

/* Streams of a session whose requests survive a crash */
#define DAFSD_MAX_STREAMS	256

extern enum dafsd_respcache_kind dafsd_respcache_kind;

/* What became of a request.  The worker that executes it changes this. */
enum dafsd_response_state {
	DAFSD_RESPONSE_NONE,		/* nothing was executed, nor will it be */
	DAFSD_RESPONSE_EXECUTING,	/* or about to be, or waiting for something */
	DAFSD_RESPONSE_DONE,
};

/* What is recorded of a request, see respcache_record.c */
enum dafsd_response_mark {
	DAFSD_RESPONSE_INTENT,
	DAFSD_RESPONSE_EXECUTED,
	DAFSD_RESPONSE_RESULTS,
};

/**
 * struct dafsd_response - the last request of a stream that is to be remembered
 * @state: see above; what follows is valid if it is DONE, @seq and @proc also if it is EXECUTING
 * @seq: its sequence number
 * @proc: DAFS_PROC_*
 * @status: what it was answered
 * @len: bytes of its results, which begin behind the header
 * @more: memory that they are in, or NULL
 * @results: likewise, if they fit
 * @stream: its stream
 * @recorded: there is a record of it
 * @intended: and it was made for this request, so that its outcome is to be recorded
 * @age: of a former run of the server: how many there were since
 * @mark: of a former run of the server: what that had recorded
 * @missing: of an append of a former run: not all of it is there, or of one before it
 * @witness_len: bytes of @witness
 * @witness: by which it is found whether it was executed, see state/intent.c, or NULL
 * @expired: in dafsd_respcache.expired
 */
struct dafsd_response {
	enum dafsd_response_state state;
	u16 seq;
	u32 proc;
	dafs_status_t status;
	u32 len;
	void *more;
	u8 results[DAFSD_RESPONSE_ROOM];
	u16 stream;
	bool recorded;
	bool intended;
	u8 age;
	enum dafsd_response_mark mark;
	bool missing;
	u32 witness_len;
	void *witness;
	struct llist_node expired;
};

/* Is it the answer to a request that was not executed, and that its client sends once more? */
static inline bool dafsd_status_puts_off(dafs_status_t status)
{
	return status == DAFSERR_DELAY || status == DAFSERR_NO_CREDS || status == DAFSERR_CHKSUM;
}

/**
 * struct dafsd_respcache_owner - whose session it was, as it is known after a restart
 * @auth_type: of its principal
 * @id_len: bytes of @id
 * @id: client-id-string
 */
struct dafsd_respcache_owner {
	u32 auth_type;
	u32 id_len;
	u8 id[] __counted_by(id_len);
};

/**
 * struct dafsd_respcache - the response cache of a session
 * @ref: one of its session, then one of its client, until it is dropped; one of each query
 * @id_node: in dafsd_server.respcaches until it is dropped; with what follows up to @dropped
 *	guarded by dafsd_server.sessions_lock
 * @client_link: in dafsd_client.respcaches, when the session is over; or in dafsd_server.revived
 * @op: the operation channel, until then; the session has a reference to it
 * @dropped: it is in no table any more
 * @session_id: of the session
 * @forgotten: its records are not needed any more
 * @server: the server
 * @client: whose session it is; or when it is over, whose @client_link is in; NULL if it is of a
 *	former run of the server
 * @owner: that as it is recorded; NULL if nothing is
 * @peer: the address that its streams are counted for then, a reference, or NULL
 * @number: in the order of dafsd_server.revived
 * @charged: its part of dafsd_server.stable_streams
 * @swab: the results are in the byte order of other machines
 * @recorded: there is a record of the session
 * @age: of a former run of the server: how many there were since
 * @streams: that there still are; guarded by the lock of the responder of @op
 * @expired: of others; freed while @op is open, so that no query reads them
 * @nr: streams of the session
 * @responses: by stream; NULL if it was not used yet
 */
struct dafsd_respcache {
	struct kref ref;
	struct hlist_node id_node;
	struct list_head client_link;
	struct dafsd_conn *op;
	bool dropped;
	bool forgotten;
	struct dafsd_server *server;
	struct dafs_session_id session_id;
	struct dafsd_client *client;
	struct dafsd_respcache_owner *owner;
	struct dafsd_peer *peer;
	u64 number;
	unsigned int charged;
	bool swab;
	bool recorded;
	u8 age;
	unsigned int streams;
	struct llist_head expired;
	unsigned int nr;
	struct dafsd_response *responses[] __counted_by(nr);
};

struct dafsd_respcache *dafsd_respcache_create(struct dafsd_session *ses, unsigned int streams);
struct dafsd_respcache *dafsd_respcache_alloc(struct dafsd_server *server,
					      const struct dafs_session_id *session_id,
					      unsigned int streams);
void dafsd_respcache_add(struct dafsd_respcache *cache);
bool dafsd_respcache_drop(struct dafsd_respcache *cache);
struct dafsd_respcache *dafsd_respcache_lookup(struct dafsd_server *server,
					       const struct dafs_session_id *session_id);
void dafsd_respcache_retire(struct dafsd_session *ses);
void dafsd_respcaches_drop(struct dafsd_client *client);
void dafsd_respcaches_inherit(struct dafsd_client *heir, struct dafsd_client *client);
void dafsd_respcache_put(struct dafsd_respcache *cache);
dafs_status_t dafsd_respcache_query(const struct dafsd_session *asker,
				    const struct dafs_check_response_args *args,
				    struct dafsd_respcache **cache,
				    const struct dafsd_response **response);
dafs_status_t dafsd_respcache_discard(const struct dafsd_session *asker,
				      const struct dafs_session_id *session_id);

void dafsd_respcache_expire(struct dafsd_respcache *cache, unsigned int streams);
void dafsd_respcache_reap(struct dafsd_respcache *cache);

struct dafsd_response *dafsd_response_slot(struct dafsd_respcache *cache, u16 stream);
struct dafsd_response *dafsd_response_begin(struct dafsd_respcache *cache, u16 stream, u16 seq,
					    u32 proc);
void dafsd_response_done(struct dafsd_response *response, dafs_status_t status,
			 const void *results, u32 len);
void dafsd_response_undone(struct dafsd_response *response);
void dafsd_response_set_witness(struct dafsd_response *response, void *witness, u32 len);

/* respcache_record.c */
bool dafsd_respcache_keep(struct dafsd_respcache *cache, struct dafsd_client *client);
void dafsd_respcache_give_up(struct dafsd_respcache *cache);
bool dafsd_respcache_is_of(const struct dafsd_respcache *cache, const struct dafsd_client *client);
bool dafsd_response_is_recorded(u32 proc);
void dafsd_respcache_announce(struct dafsd_respcache *cache, u32 auth_type);
int dafsd_response_record(struct dafsd_respcache *cache, struct dafsd_response *response,
			  enum dafsd_response_mark mark);
void dafsd_response_unrecord(struct dafsd_respcache *cache, struct dafsd_response *response);
int dafsd_respcaches_load(struct dafsd_server *server, struct dafsd_store *store);
void dafsd_respcaches_age(struct dafsd_server *server);
void dafsd_respcaches_unload(struct dafsd_server *server);
bool dafsd_response_is_unknown(const struct dafsd_respcache *cache,
			       const struct dafsd_response *response);
void dafsd_responses_revived(struct dafsd_server *server,
			     void (*fn)(struct dafsd_respcache *cache,
					struct dafsd_response *response, void *arg), void *arg);

#endif /* _DAFSD_SESSION_RESPCACHE_H */
