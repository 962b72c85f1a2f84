// SPDX-License-Identifier: GPL-2.0
/*
 * The response cache (5.2): what became of the requests that a client had outstanding when its
 * session was lost, so that it sends none of them twice.
 *
 * A stream has one request at a time, so the last one of each stream is enough; a client that
 * uses a stream again has had the response before.  Remembered are requests that change
 * something, and those that ask for it (E-58).
 *
 *	DONE ------------> NONE		dafsd_response_begin(): the client uses the stream again;
 *					or it is removed: dafsd_respcache_expire(), when the client
 *					must have the response (5.2.2)
 *	NONE ------------> EXECUTING	likewise: a worker is about to execute it
 *	EXECUTING -------> DONE		its results are encoded, whether or not they can be sent
 *	EXECUTING -------> NONE		it was refused: its channel is closed, or it has to wait
 *
 * Called by request/cached.c for each request, and by proc/respcache.c for those that ask.  Of a
 * session of this run:
 *
 *  1. A request is EXECUTING before its worker looks whether the channel is open.  A query is
 *     answered when the channel is not.  So what is not EXECUTING then never will be.
 *  2. Until it is known what becomes of an EXECUTING one, the query is answered DELAY.
 *  3. A response changes no more once its session is over: the last request was answered.
 *
 * The cache outlives its session, unless that was ended by DISCONNECT: until the client discards
 * it, or is discarded itself, or has lost DAFSD_RESPCACHES more sessions, as long as there is room
 * for it.  Another instance of the client inherits it (5.2.5).  One of a session that has asked for
 * it outlives a crash of the server, too: see respcache_record.c.
 */
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/unaligned.h>
#include "client.h"
#include "conn.h"
#include "peer.h"
#include "respcache.h"
#include "server.h"
#include "session.h"

enum dafsd_respcache_kind dafsd_respcache_kind = DAFSD_RESPCACHE_VOLATILE;

static const char *const dafsd_respcache_kinds[] = {
	[DAFSD_RESPCACHE_NONE] = "none",
	[DAFSD_RESPCACHE_VOLATILE] = "volatile",
	[DAFSD_RESPCACHE_STABLE] = "stable",
};

static int dafsd_respcache_set(const char *val, const struct kernel_param *kp)
{
	int kind = sysfs_match_string(dafsd_respcache_kinds, val);

	if (kind < 0)
		return kind;
	WRITE_ONCE(dafsd_respcache_kind, kind);
	return 0;
}

static int dafsd_respcache_show(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%s\n", dafsd_respcache_kinds[READ_ONCE(dafsd_respcache_kind)]);
}

static const struct kernel_param_ops dafsd_respcache_ops = {
	.set = dafsd_respcache_set,
	.get = dafsd_respcache_show,
};

module_param_cb(respcache, &dafsd_respcache_ops, NULL, 0644);
MODULE_PARM_DESC(respcache,
		 "what clients that lose a connection can ask about their requests: volatile (default): until the server restarts; stable: also after a crash, if they have asked for that; none");

static u64 dafsd_respcache_hash(const struct dafs_session_id *session_id)
{
	return get_unaligned((const u64 *)session_id->b);
}

/**
 * dafsd_respcache_alloc() - make a response cache, in no table yet
 * @server: the server
 * @session_id: of its session
 * @streams: of that
 *
 * Context: may sleep.
 * Return: the cache, for dafsd_respcache_put(); NULL without memory.
 */
struct dafsd_respcache *dafsd_respcache_alloc(struct dafsd_server *server,
					      const struct dafs_session_id *session_id,
					      unsigned int streams)
{
	struct dafsd_respcache *cache;

	cache = kzalloc(struct_size(cache, responses, streams), GFP_KERNEL);
	if (!cache)
		return NULL;
	kref_init(&cache->ref);
	INIT_LIST_HEAD(&cache->client_link);
	cache->server = server;
	cache->session_id = *session_id;
	cache->nr = streams;
	cache->streams = streams;
	init_llist_head(&cache->expired);
	return cache;
}

/**
 * dafsd_respcache_add() - let a response cache be found
 * @cache: the cache
 *
 * Context: holds dafsd_server.sessions_lock.
 */
void dafsd_respcache_add(struct dafsd_respcache *cache)
{
	lockdep_assert_held(&cache->server->sessions_lock);
	hash_add(cache->server->respcaches, &cache->id_node,
		 dafsd_respcache_hash(&cache->session_id));
}

/**
 * dafsd_respcache_create() - make the response cache of a session
 * @ses: the session, which has an id and a client
 * @streams: how many requests it may ever have outstanding
 *
 * Context: may sleep.
 * Return: the cache, for dafsd_respcache_retire(); NULL without memory.
 */
struct dafsd_respcache *dafsd_respcache_create(struct dafsd_session *ses, unsigned int streams)
{
	struct dafsd_server *server = ses->op->server;
	struct dafsd_respcache *cache = dafsd_respcache_alloc(server, &ses->session_id, streams);

	if (!cache)
		return NULL;
	cache->op = ses->op;
	cache->client = ses->client;
	cache->swab = ses->op->chan->swab;
	spin_lock(&server->sessions_lock);
	dafsd_respcache_add(cache);
	spin_unlock(&server->sessions_lock);
	return cache;
}

static void dafsd_response_free(struct dafsd_response *response)
{
	if (!response)
		return;
	kvfree(response->more);
	kfree(response->witness);
	kfree(response);
}

static void dafsd_responses_free(struct llist_node *expired)
{
	struct dafsd_response *response, *next;

	llist_for_each_entry_safe(response, next, expired, expired)
		dafsd_response_free(response);
}

/**
 * dafsd_respcache_expire() - forget what was answered on streams that were taken back (5.2.2)
 * @cache: the cache of a session
 * @streams: how many there still are; the client has all responses on higher ones
 *
 * What has a record stays: the next request of the stream replaces that.
 *
 * Context: any; holds the lock of the responder of its operation channel, so that no request of
 * these streams is executed, or begins.
 */
void dafsd_respcache_expire(struct dafsd_respcache *cache, unsigned int streams)
{
	struct dafsd_response *response;
	unsigned int n;

	for (n = streams; n < cache->streams; n++) {
		response = cache->responses[n];
		if (!response || response->recorded)
			continue;
		WRITE_ONCE(cache->responses[n], NULL);
		llist_add(&response->expired, &cache->expired);
	}
	cache->streams = min(streams, cache->nr);
}

/**
 * dafsd_respcache_reap() - free what dafsd_respcache_expire() has removed
 * @cache: the cache of a session
 *
 * A query that found it may still read it, but queries are answered only once the channel is
 * closed: so nothing is freed then until the cache is.
 *
 * Context: may sleep.
 */
void dafsd_respcache_reap(struct dafsd_respcache *cache)
{
	struct llist_node *expired = NULL;

	if (llist_empty(&cache->expired))
		return;
	spin_lock(&cache->server->sessions_lock);
	if (cache->op && dafs_chan_is_open(cache->op->chan))
		expired = llist_del_all(&cache->expired);
	spin_unlock(&cache->server->sessions_lock);
	dafsd_responses_free(expired);
}

static void dafsd_respcache_free(struct kref *ref)
{
	struct dafsd_respcache *cache = container_of(ref, struct dafsd_respcache, ref);
	unsigned int n;

	dafsd_respcache_give_up(cache);
	for (n = 0; n < cache->nr; n++)
		dafsd_response_free(cache->responses[n]);
	dafsd_responses_free(llist_del_all(&cache->expired));
	kfree(cache);
}

/**
 * dafsd_respcache_put() - drop a reference
 * @cache: the cache
 *
 * Context: may sleep.
 */
void dafsd_respcache_put(struct dafsd_respcache *cache)
{
	kref_put(&cache->ref, dafsd_respcache_free);
}

/**
 * dafsd_respcache_drop() - take a response cache out of the tables
 * @cache: the cache
 *
 * Context: holds dafsd_server.sessions_lock.
 * Return: true if it was in a list, whose reference is the caller's now.
 */
bool dafsd_respcache_drop(struct dafsd_respcache *cache)
{
	struct dafsd_client *client = cache->client;

	lockdep_assert_held(&cache->server->sessions_lock);
	if (cache->dropped)
		return false;
	cache->dropped = true;
	hash_del(&cache->id_node);
	if (list_empty(&cache->client_link))
		return false;
	list_del_init(&cache->client_link);
	if (!client)
		return true;
	client->nr_respcaches--;
	client->peer->respcaches--;
	client->server->nr_respcaches--;
	return true;
}

/* The same, and its records are not needed any more */
static bool dafsd_respcache_forget(struct dafsd_respcache *cache)
{
	cache->forgotten = true;
	return dafsd_respcache_drop(cache);
}

/* More than there may be sessions, or for one address than its share of them */
static bool dafsd_respcaches_many(const struct dafsd_client *client)
{
	unsigned int most = READ_ONCE(dafsd_max_sessions);

	lockdep_assert_held(&client->server->sessions_lock);
	return client->server->nr_respcaches > most ||
	       client->peer->respcaches > dafsd_peer_share(most);
}

/* The client's oldest one, if it has too many; or if there are too @many in all */
static struct dafsd_respcache *dafsd_respcache_excess(struct dafsd_client *client, bool many)
{
	struct dafsd_respcache *oldest;

	lockdep_assert_held(&client->server->sessions_lock);
	if (client->nr_respcaches <= DAFSD_RESPCACHES && !many)
		return NULL;
	oldest = list_first_entry(&client->respcaches, struct dafsd_respcache, client_link);
	dafsd_respcache_forget(oldest);
	return oldest;
}

static void dafsd_respcache_give(struct dafsd_client *client, struct dafsd_respcache *cache)
{
	lockdep_assert_held(&client->server->sessions_lock);
	cache->client = client;
	list_add_tail(&cache->client_link, &client->respcaches);
	client->nr_respcaches++;
	client->peer->respcaches++;
	client->server->nr_respcaches++;
}

/* Keep what the last client of a session may ask for.  Return: a cache to be put, or NULL */
static struct dafsd_respcache *dafsd_respcache_bequeath(struct dafsd_session *ses,
							struct dafsd_respcache *cache,
							struct dafsd_client *client)
{
	bool over = test_bit(DAFSD_SESSION_ENDED, &ses->leaving);

	lockdep_assert_held(&cache->server->sessions_lock);
	cache->op = NULL;
	/* nothing is outstanding after DISCONNECT */
	if (!client || over || !ses->principal || dafsd_client_is_discarded(client)) {
		/* the server that ends is asked when it is back */
		cache->forgotten = over || !cache->server->stopping;
		dafsd_respcache_drop(cache);
		return cache;
	}
	if (cache->dropped)
		return cache;
	dafsd_respcache_give(client, cache);
	return dafsd_respcache_excess(client, dafsd_respcaches_many(client));
}

/**
 * dafsd_respcache_retire() - a session is over: keep what its client may ask for
 * @ses: the session, which has no request any more; drops its reference to its cache
 *
 * If its client was replaced, the present instance may ask.
 *
 * Context: may sleep.
 */
void dafsd_respcache_retire(struct dafsd_session *ses)
{
	struct dafsd_respcache *cache = ses->respcache, *excess;
	struct dafsd_client *client = ses->client, *next = NULL;

	if (!cache)
		return;
	ses->respcache = NULL;
	if (dafsd_client_is_discarded(client)) {
		next = dafsd_client_successor(client);
		client = next;
	}
	spin_lock(&cache->server->sessions_lock);
	excess = dafsd_respcache_bequeath(ses, cache, client);
	spin_unlock(&cache->server->sessions_lock);
	if (excess)
		dafsd_respcache_put(excess);
	if (next)
		dafsd_client_put(next);
}

/**
 * dafsd_respcaches_drop() - a client was discarded: it asks for nothing any more
 * @client: the client
 *
 * Context: may sleep.
 */
void dafsd_respcaches_drop(struct dafsd_client *client)
{
	struct dafsd_respcache *cache, *next;
	LIST_HEAD(dropped);

	spin_lock(&client->server->sessions_lock);
	list_for_each_entry_safe(cache, next, &client->respcaches, client_link)
		if (dafsd_respcache_drop(cache)) {
			cache->forgotten = !client->server->stopping;
			list_add(&cache->client_link, &dropped);
		}
	spin_unlock(&client->server->sessions_lock);
	list_for_each_entry_safe(cache, next, &dropped, client_link)
		dafsd_respcache_put(cache);
}

/**
 * dafsd_respcaches_inherit() - another instance of a client may ask what became of its requests
 * @heir: the instance, which has authenticated as the same principal
 * @client: the client, which is discarded
 *
 * Sessions that are not over yet follow when they are.
 *
 * Context: any but interrupt.
 */
void dafsd_respcaches_inherit(struct dafsd_client *heir, struct dafsd_client *client)
{
	struct dafsd_respcache *cache, *next;
	LIST_HEAD(excess);

	spin_lock(&client->server->sessions_lock);
	list_for_each_entry_safe(cache, next, &client->respcaches, client_link) {
		list_del_init(&cache->client_link);
		client->nr_respcaches--;
		client->peer->respcaches--;
		client->server->nr_respcaches--;
		dafsd_respcache_give(heir, cache);
	}
	while ((cache = dafsd_respcache_excess(heir, false)))
		list_add(&cache->client_link, &excess);
	spin_unlock(&client->server->sessions_lock);
	list_for_each_entry_safe(cache, next, &excess, client_link)
		dafsd_respcache_put(cache);
}

/**
 * dafsd_respcache_lookup() - the response cache of a session
 * @server: the server
 * @session_id: of the session
 *
 * Context: holds dafsd_server.sessions_lock.
 * Return: the cache, or NULL.
 */
struct dafsd_respcache *dafsd_respcache_lookup(struct dafsd_server *server,
					       const struct dafs_session_id *session_id)
{
	struct dafsd_respcache *cache;

	lockdep_assert_held(&server->sessions_lock);
	hash_for_each_possible(server->respcaches, cache, id_node,
			       dafsd_respcache_hash(session_id))
		if (dafs_opaque64_equal(&cache->session_id, session_id))
			return cache;
	return NULL;
}

/* May the store, which is read when the first export is enabled, still tell of a former run? */
static bool dafsd_respcaches_unread(const struct dafsd_server *server)
{
	return !READ_ONCE(server->store) && !READ_ONCE(server->storeless) &&
	       time_before(jiffies, server->revived_at + dafsd_lease_seconds * HZ);
}

/*
 * Return: OK; UNKNOWN_SESSION; DELAY if that is not certain yet; NOT_AUTHORIZED; BAD_SESSION if it
 * is still connected (E-56).
 */
static dafs_status_t dafsd_respcache_check(const struct dafsd_session *asker,
					   const struct dafs_session_id *session_id,
					   const struct dafsd_respcache *cache)
{
	lockdep_assert_held(&asker->client->server->sessions_lock);
	/* of a session without a cache nothing is known, but its requests end first */
	if (!cache && dafsd_session_is_there(asker->client, session_id))
		return DAFSERR_BAD_SESSION;
	/* those of a former run are there before all is */
	if ((!cache || !cache->client) && dafsd_respcaches_unread(asker->client->server))
		return DAFSERR_DELAY;
	if (!cache)
		return DAFSERR_UNKNOWN_SESSION;
	if (!dafsd_respcache_is_of(cache, asker->client))
		return DAFSERR_NOT_AUTHORIZED;
	return cache->op && dafs_chan_is_open(cache->op->chan) ? DAFSERR_BAD_SESSION :
								 DAFS_STATUS_OK;
}

/* The cache of a session that was lost, with a reference.  Return: as dafsd_respcache_check() */
static dafs_status_t dafsd_respcache_find(const struct dafsd_session *asker,
					  const struct dafs_session_id *session_id,
					  struct dafsd_respcache **found)
{
	struct dafsd_server *server = asker->client->server;
	struct dafsd_respcache *cache;
	dafs_status_t status;

	spin_lock(&server->sessions_lock);
	cache = dafsd_respcache_lookup(server, session_id);
	status = dafsd_respcache_check(asker, session_id, cache);
	if (!status)
		kref_get(&cache->ref);
	spin_unlock(&server->sessions_lock);
	/* what is not EXECUTING now will not be: pairs with dafsd_response_begin() */
	smp_mb();
	*found = cache;
	return status;
}

/**
 * dafsd_respcache_discard() - a client has asked all that it wants to know
 * @asker: a session of it
 * @session_id: of the session that was lost
 *
 * Context: may sleep.
 * Return: OK; UNKNOWN_SESSION; DELAY; NOT_AUTHORIZED; BAD_SESSION if it is still connected (E-56).
 */
dafs_status_t dafsd_respcache_discard(const struct dafsd_session *asker,
				      const struct dafs_session_id *session_id)
{
	struct dafsd_client *client = asker->client;
	struct dafsd_respcache *cache;
	dafs_status_t status;
	bool put = false;

	spin_lock(&client->server->sessions_lock);
	cache = dafsd_respcache_lookup(client->server, session_id);
	status = dafsd_respcache_check(asker, session_id, cache);
	if (!status)
		put = dafsd_respcache_forget(cache);
	spin_unlock(&client->server->sessions_lock);
	if (put)
		dafsd_respcache_put(cache);
	return status;
}

/* A former run may have executed what it does not record. */
static dafs_status_t dafsd_response_absent(const struct dafsd_respcache *cache, u32 proc)
{
	return cache->client || dafsd_response_is_recorded(proc) ? DAFSERR_NOXID_MATCH :
								   DAFSERR_UNKNOWN_SESSION;
}

/*
 * Return: OK; NOXID_MATCH; DELAY if the request is being executed; UNKNOWN_SESSION if what became
 * of it in a former run will never be known.
 */
static dafs_status_t dafsd_response_find(const struct dafsd_respcache *cache,
					 const struct dafs_check_response_args *args,
					 const struct dafsd_response **found)
{
	const struct dafsd_response *response;
	enum dafsd_response_state state;
	bool match;

	if (args->xid_stream >= cache->nr)
		return dafsd_response_absent(cache, args->procedure);
	/* pairs with dafsd_response_begin() */
	response = smp_load_acquire(&cache->responses[args->xid_stream]);
	if (!response)
		return dafsd_response_absent(cache, args->procedure);
	/* pairs with dafsd_response_move() */
	state = smp_load_acquire(&response->state);
	match = READ_ONCE(response->seq) == args->xid_seq &&
		(!args->procedure || READ_ONCE(response->proc) == args->procedure);
	/* another request may be about to be refused on that stream: dafsd_response_begin() */
	smp_rmb();
	if (READ_ONCE(response->state) != state)
		return DAFSERR_DELAY;
	if (state == DAFSD_RESPONSE_NONE || !match)
		return dafsd_response_absent(cache, args->procedure);
	if (state == DAFSD_RESPONSE_EXECUTING && dafsd_response_is_unknown(cache, response))
		return DAFSERR_UNKNOWN_SESSION;
	*found = response;
	return state == DAFSD_RESPONSE_DONE ? DAFS_STATUS_OK : DAFSERR_DELAY;
}

/**
 * dafsd_respcache_query() - what became of a request of a session that was lost?
 * @asker: another session of the same client
 * @args: which request; procedure 0 is any
 * @cache: set if the request was executed, with a reference of the caller's; otherwise undefined
 * @response: likewise; valid as long as the caller has that
 *
 * Context: may sleep.
 * Return: OK; NOXID_MATCH if it was not executed, and will not be; DELAY while it is being
 * executed; UNKNOWN_SESSION; NOT_AUTHORIZED; BAD_SESSION if the session is still connected (E-56).
 */
dafs_status_t dafsd_respcache_query(const struct dafsd_session *asker,
				    const struct dafs_check_response_args *args,
				    struct dafsd_respcache **cache,
				    const struct dafsd_response **response)
{
	dafs_status_t status;

	status = dafsd_respcache_find(asker, &args->session_id, cache);
	if (status)
		return status;
	status = dafsd_response_find(*cache, args, response);
	if (status)
		dafsd_respcache_put(*cache);
	return status;
}

static const u8 dafsd_response_next[] = {
	[DAFSD_RESPONSE_NONE]		= BIT(DAFSD_RESPONSE_EXECUTING),
	[DAFSD_RESPONSE_EXECUTING]	= BIT(DAFSD_RESPONSE_DONE) | BIT(DAFSD_RESPONSE_NONE),
	[DAFSD_RESPONSE_DONE]		= BIT(DAFSD_RESPONSE_NONE),
};

/* Others that see the new state see what was written before. */
static void dafsd_response_move(struct dafsd_response *response, enum dafsd_response_state next)
{
	WARN_ON_ONCE(!(dafsd_response_next[response->state] & BIT(next)));
	/* pairs with dafsd_response_find() */
	smp_store_release(&response->state, next);
}

/**
 * dafsd_response_slot() - what is remembered of a stream
 * @cache: the cache
 * @stream: its stream; no other task uses it
 *
 * Context: may sleep.
 * Return: that; or NULL without memory.
 */
struct dafsd_response *dafsd_response_slot(struct dafsd_respcache *cache, u16 stream)
{
	struct dafsd_response *response = cache->responses[stream];

	if (response)
		return response;
	response = kzalloc(sizeof(*response), GFP_KERNEL);
	if (!response)
		return NULL;
	response->stream = stream;
	/* pairs with dafsd_response_find() */
	smp_store_release(&cache->responses[stream], response);
	return response;
}

/**
 * dafsd_response_set_witness() - by what it is found whether a request was executed
 * @response: the request, which is being executed
 * @witness: that, which kfree() frees; or NULL
 * @len: bytes of it
 *
 * Context: any.
 */
void dafsd_response_set_witness(struct dafsd_response *response, void *witness, u32 len)
{
	kfree(response->witness);
	response->witness = witness;
	response->witness_len = len;
}

/**
 * dafsd_response_begin() - a request is about to be executed
 * @cache: of its session
 * @stream: the stream that it came on; no other request of it is executed
 * @seq: its sequence number
 * @proc: DAFS_PROC_*
 *
 * The caller looks afterwards whether the channel is open.
 *
 * Context: may sleep.
 * Return: to be passed to dafsd_response_done() or dafsd_response_undone(); NULL without memory.
 */
struct dafsd_response *dafsd_response_begin(struct dafsd_respcache *cache, u16 stream, u16 seq,
					    u32 proc)
{
	struct dafsd_response *response = dafsd_response_slot(cache, stream);

	if (!response)
		return NULL;
	/*
	 * Of a request whose response the client has had.  It may be asked for all the same: the
	 * channel may be closed, and then its results stay as they are, see dafsd_response_done().
	 */
	if (response->state == DAFSD_RESPONSE_DONE)
		dafsd_response_move(response, DAFSD_RESPONSE_NONE);
	/* a query that sees the new number sees that, too: pairs with dafsd_response_find() */
	smp_wmb();
	dafsd_response_set_witness(response, NULL, 0);
	/* it would be taken for this one, if that has the same number */
	if (!dafsd_response_is_recorded(proc))
		dafsd_response_unrecord(cache, response);
	response->intended = false;
	WRITE_ONCE(response->seq, seq);
	WRITE_ONCE(response->proc, proc);
	dafsd_response_move(response, DAFSD_RESPONSE_EXECUTING);
	/* before the look at the channel: pairs with dafsd_respcache_find() */
	smp_mb();
	return response;
}

/**
 * dafsd_response_done() - a request was executed
 * @response: of dafsd_response_begin()
 * @status: what it is answered
 * @results: encoded, without the header
 * @len: their bytes
 *
 * Context: may sleep.
 */
void dafsd_response_done(struct dafsd_response *response, dafs_status_t status,
			 const void *results, u32 len)
{
	void *to = response->results;

	/* the channel was open after @response was EXECUTING: no query reads the former ones */
	kvfree(response->more);
	response->more = NULL;
	if (len > sizeof(response->results)) {
		/* it was executed: that must not be forgotten now */
		response->more = kvmalloc(len, GFP_KERNEL | __GFP_NOFAIL);
		to = response->more;
	}
	memcpy(to, results, len);
	response->status = status;
	response->len = len;
	dafsd_response_move(response, DAFSD_RESPONSE_DONE);
}

/**
 * dafsd_response_undone() - a request was refused, and has changed nothing
 * @response: of dafsd_response_begin()
 *
 * Context: any.
 */
void dafsd_response_undone(struct dafsd_response *response)
{
	dafsd_response_move(response, DAFSD_RESPONSE_NONE);
}
