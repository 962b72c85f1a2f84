// SPDX-License-Identifier: GPL-2.0
/*
 * Response caches that survive a crash of the server (5.2.4): a record for each stream of a
 * session whose client has asked for that, and has been answered use_response_cache TRUE.
 *
 *	INTENT		a change is about to be executed; what is needed to find out later whether
 *			it was, its witness, is with it.  Durable before the change.
 *	EXECUTED	it was.  Durable before the response.
 *	DONE		likewise, with the results.  Need not be durable: they can be made up.
 *
 * And one for the session itself, durable before it is used: so that of a request without a record
 * it is known that it was not executed, also after a second crash.
 *
 * What they mean to the file system, and what is waited for, is in state/intent.c.  When the
 * server has restarted, INTENT and EXECUTED are settled before the export is used: see
 * state/settle.c.  Until then the client that asks is answered DELAY.
 */
#include <linux/slab.h>
#include <linux/unaligned.h>
#include <linux/workqueue.h>
#include "../store/store.h"
#include "client.h"
#include "peer.h"
#include "respcache.h"
#include "server.h"
#include "session.h"

#define DAFSD_RESPONSE_VERSION	3

/* Runs of the server after which a request that was not asked for is forgotten */
#define DAFSD_RESPONSE_RUNS	16

/* How long a client may stay away after a crash; as long as there is courtesy to clients */
#define DAFSD_REVIVED_HOURS	24

/* In the place of a stream: the record is of the session */
#define DAFSD_SESSION_STREAM	U16_MAX

/* Streams of all sessions that have records; of one address, its share of them */
#define DAFSD_STABLE_STREAMS	8192

/**
 * struct dafsd_response_key - the key of a record
 * @session_id: the session
 * @stream: its stream
 */
struct dafsd_response_key {
	struct dafs_session_id session_id;
	__le16 stream;
} __packed;

/**
 * struct dafsd_response_record - its value
 * @version: DAFSD_RESPONSE_VERSION
 * @mark: enum dafsd_response_mark
 * @swab: the results are in the byte order of other machines
 * @age: how many runs of the server it has survived without being asked for
 * @seq: sequence number of the request
 * @id_len: bytes of the client-id-string
 * @proc: DAFS_PROC_*
 * @status: what it was answered, if DONE
 * @auth_type: of the principal of its client
 * @witness_len: bytes of the witness
 * @len: bytes of the results
 * @data: the id, the witness, the results
 */
struct dafsd_response_record {
	u8 version;
	u8 mark;
	u8 swab;
	u8 age;
	__le16 seq;
	__le16 id_len;
	__le32 proc;
	__le32 status;
	__le32 auth_type;
	__le32 witness_len;
	__le32 len;
	u8 data[];
};

static void dafsd_response_make_key(const struct dafsd_respcache *cache, u16 stream,
				    struct dafsd_response_key *buf, struct dafsd_key *key)
{
	buf->session_id = cache->session_id;
	buf->stream = cpu_to_le16(stream);
	*key = (struct dafsd_key){
		.kind = DAFSD_RECORD_RESPONSE,
		.len = sizeof(*buf),
		.data = buf,
	};
}

static void *dafsd_response_copy(void *to, const void *from, u32 len)
{
	memcpy(to, from, len);
	return to + len;
}

/* Return: what is recorded of it, for kvfree(), or NULL without memory. */
static struct dafsd_response_record *
dafsd_response_describe(const struct dafsd_respcache *cache, const struct dafsd_response *response,
			enum dafsd_response_mark mark, size_t *bytes)
{
	const struct dafsd_respcache_owner *owner = cache->owner;
	bool done = mark == DAFSD_RESPONSE_RESULTS;
	u32 witness_len = done ? 0 : response->witness_len;
	u32 len = done ? response->len : 0;
	struct dafsd_response_record *rec;
	void *data;

	*bytes = sizeof(*rec) + owner->id_len + witness_len + len;
	if (*bytes > DAFSD_RECORD_MAX_VALUE)
		return NULL;
	rec = kvzalloc(*bytes, GFP_KERNEL);
	if (!rec)
		return NULL;
	rec->version = DAFSD_RESPONSE_VERSION;
	rec->mark = mark;
	rec->swab = cache->swab;
	rec->age = response->age;
	rec->seq = cpu_to_le16(response->seq);
	rec->id_len = cpu_to_le16(owner->id_len);
	rec->proc = cpu_to_le32(response->proc);
	rec->status = cpu_to_le32(done ? (__force u32)response->status : 0);
	rec->auth_type = cpu_to_le32(owner->auth_type);
	rec->witness_len = cpu_to_le32(witness_len);
	rec->len = cpu_to_le32(len);
	data = dafsd_response_copy(rec->data, owner->id, owner->id_len);
	data = dafsd_response_copy(data, response->witness, witness_len);
	dafsd_response_copy(data, response->more ?: response->results, len);
	return rec;
}

/**
 * dafsd_response_is_recorded() - do all requests of a kind have records?
 * @proc: DAFS_PROC_*
 *
 * Context: any.
 * Return: false if it may have been executed in a former run though there is no record.
 */
bool dafsd_response_is_recorded(u32 proc)
{
	switch (proc) {
	case DAFS_PROC_APPEND_DIRECT:
	case DAFS_PROC_APPEND_INLINE:
	case DAFS_PROC_CREATE:
	case DAFS_PROC_LINK:
	case DAFS_PROC_REMOVE:
	case DAFS_PROC_RENAME:
	case DAFS_PROC_SETATTR_DIRECT:
	case DAFS_PROC_SETATTR_INLINE:
		return true;
	default:
		return false;
	}
}

/**
 * dafsd_response_record() - record what is known of a request
 * @cache: of its session, with records
 * @response: the request
 * @mark: what is known: with DAFSD_RESPONSE_RESULTS it is DONE, else response->witness is set
 *
 * Context: may sleep for memory.
 * Return: 0; -ENOMEM; or -ENOSPC if the store is full.  Then what was recorded before stays.
 */
int dafsd_response_record(struct dafsd_respcache *cache, struct dafsd_response *response,
			  enum dafsd_response_mark mark)
{
	struct dafsd_response_record *rec;
	struct dafsd_response_key buf;
	struct dafsd_key key;
	size_t bytes;
	int err;

	rec = dafsd_response_describe(cache, response, mark, &bytes);
	if (!rec)
		return -ENOMEM;
	dafsd_response_make_key(cache, response->stream, &buf, &key);
	err = dafsd_store_put(cache->server->store, &key, rec, bytes);
	if (!err)
		response->recorded = true;
	kvfree(rec);
	return err;
}

/**
 * dafsd_response_unrecord() - nothing is to be known any more of a request
 * @cache: of its session
 * @response: the request
 *
 * Need not be durable: at worst the server remembers it after a crash.
 *
 * Context: may sleep for memory.
 */
void dafsd_response_unrecord(struct dafsd_respcache *cache, struct dafsd_response *response)
{
	struct dafsd_response_key buf;
	struct dafsd_key key;

	if (!response->recorded)
		return;
	dafsd_response_make_key(cache, response->stream, &buf, &key);
	dafsd_store_delete(cache->server->store, &key);
	response->recorded = false;
}

/* Return: 0; -ENOMEM; or -ENOSPC if the store is full. */
static int dafsd_respcache_record(struct dafsd_respcache *cache)
{
	struct dafsd_response none = { .stream = DAFSD_SESSION_STREAM, .age = cache->age };
	int err = dafsd_response_record(cache, &none, DAFSD_RESPONSE_RESULTS);

	if (!err)
		cache->recorded = true;
	return err;
}

static void dafsd_respcache_unrecord(struct dafsd_respcache *cache)
{
	struct dafsd_response none = {
		.stream = DAFSD_SESSION_STREAM,
		.recorded = cache->recorded,
	};

	dafsd_response_unrecord(cache, &none);
	cache->recorded = false;
}

static bool dafsd_streams_charge(struct dafsd_server *server, struct dafsd_peer *peer,
				 unsigned int streams)
{
	lockdep_assert_held(&server->sessions_lock);
	if (server->stable_streams + streams > DAFSD_STABLE_STREAMS ||
	    peer->stable_streams + streams > dafsd_peer_share(DAFSD_STABLE_STREAMS))
		return false;
	WRITE_ONCE(server->stable_streams, server->stable_streams + streams);
	peer->stable_streams += streams;
	return true;
}

static struct dafsd_respcache_owner *dafsd_owner_alloc(const void *id, u32 id_len, u32 auth_type)
{
	struct dafsd_respcache_owner *owner = kmalloc(struct_size(owner, id, id_len), GFP_KERNEL);

	if (!owner)
		return NULL;
	owner->auth_type = auth_type;
	owner->id_len = id_len;
	memcpy(owner->id, id, id_len);
	return owner;
}

/**
 * dafsd_respcache_keep() - have records of what a session does
 * @cache: of the session, not used yet
 * @client: its client
 *
 * Context: may sleep.
 * Return: false if there is no state directory, or no room for more of them.
 */
bool dafsd_respcache_keep(struct dafsd_respcache *cache, struct dafsd_client *client)
{
	struct dafsd_server *server = client->server;
	bool kept;

	if (!READ_ONCE(server->store) || cache->nr > DAFSD_MAX_STREAMS)
		return false;
	/* nothing is executed before it has authenticated */
	cache->owner = dafsd_owner_alloc(client->id, client->id_len, DAFS_AUTH_NONE);
	if (!cache->owner)
		return false;
	spin_lock(&server->sessions_lock);
	kept = dafsd_streams_charge(server, client->peer, cache->nr);
	spin_unlock(&server->sessions_lock);
	if (!kept) {
		kfree(cache->owner);
		cache->owner = NULL;
		return false;
	}
	cache->peer = dafsd_peer_get(client->peer);
	cache->charged = cache->nr;
	return true;
}

/**
 * dafsd_respcache_give_up() - a response cache is about to be freed
 * @cache: the cache, in no table any more
 *
 * Context: may sleep for memory.
 */
void dafsd_respcache_give_up(struct dafsd_respcache *cache)
{
	struct dafsd_server *server = cache->server;
	unsigned int n;

	if (!cache->owner)
		return;
	for (n = 0; cache->forgotten && n < cache->nr; n++)
		if (cache->responses[n])
			dafsd_response_unrecord(cache, cache->responses[n]);
	if (cache->forgotten)
		dafsd_respcache_unrecord(cache);
	kfree(cache->owner);
	spin_lock(&server->sessions_lock);
	WRITE_ONCE(server->stable_streams, server->stable_streams - cache->charged);
	if (cache->peer)
		cache->peer->stable_streams -= cache->charged;
	spin_unlock(&server->sessions_lock);
	if (cache->peer)
		dafsd_peer_put(cache->peer);
}

/**
 * dafsd_respcache_announce() - have the session known after a crash
 * @cache: of the session, which has authenticated; or NULL
 * @auth_type: of its principal
 *
 * If that cannot be written, the session may be unknown then.
 *
 * Context: may sleep for the store.
 */
void dafsd_respcache_announce(struct dafsd_respcache *cache, u32 auth_type)
{
	if (!cache || !cache->owner)
		return;
	cache->owner->auth_type = auth_type;
	if (!dafsd_respcache_record(cache))
		dafsd_store_sync(cache->server->store);
}

/* Does a former session, which the server has read of, belong to this client? */
static bool dafsd_owner_is(const struct dafsd_respcache_owner *owner,
			   const struct dafsd_client *client)
{
	return client->principal && owner->auth_type == client->principal->auth_type &&
	       owner->id_len == client->id_len && !memcmp(owner->id, client->id, client->id_len);
}

/**
 * dafsd_respcache_is_of() - may a client ask for what a response cache remembers? (E-56)
 * @cache: the cache
 * @client: the client
 *
 * Context: holds dafsd_server.sessions_lock.
 * Return: true if it is its own, or that of another instance of it.
 */
bool dafsd_respcache_is_of(const struct dafsd_respcache *cache, const struct dafsd_client *client)
{
	lockdep_assert_held(&cache->server->sessions_lock);
	if (!cache->client)
		return dafsd_owner_is(cache->owner, client);
	return cache->client == client || dafsd_client_is_instance(cache->client, client);
}

/* Is it as this server writes them? */
static bool dafsd_response_sound(const struct dafsd_key *key,
				 const struct dafsd_response_record *rec, u32 bytes)
{
	u64 most = sizeof(*rec);

	if (key->len != sizeof(struct dafsd_response_key) || bytes < sizeof(*rec) ||
	    rec->mark > DAFSD_RESPONSE_RESULTS)
		return false;
	most += le16_to_cpu(rec->id_len);
	most += le32_to_cpu(rec->witness_len);
	most += le32_to_cpu(rec->len);
	return most == bytes;
}

static int dafsd_response_restore(struct dafsd_respcache *cache, u16 stream,
				  const struct dafsd_response_record *rec)
{
	const u8 *witness = rec->data + le16_to_cpu(rec->id_len);
	struct dafsd_response *response;
	u32 witness_len = le32_to_cpu(rec->witness_len);
	u32 len = le32_to_cpu(rec->len);
	void *to;

	response = dafsd_response_slot(cache, stream);
	if (!response)
		return -ENOMEM;
	response->seq = le16_to_cpu(rec->seq);
	response->proc = le32_to_cpu(rec->proc);
	if (!response->recorded) {
		spin_lock(&cache->server->sessions_lock);
		WRITE_ONCE(cache->server->stable_streams, cache->server->stable_streams + 1);
		cache->charged++;
		spin_unlock(&cache->server->sessions_lock);
	}
	response->recorded = true;
	response->age = rec->age < U8_MAX ? rec->age + 1 : U8_MAX;
	response->mark = rec->mark;
	dafsd_response_set_witness(response, kmemdup(witness, witness_len, GFP_KERNEL),
				   witness_len);
	response->state = rec->mark == DAFSD_RESPONSE_RESULTS ? DAFSD_RESPONSE_DONE :
								DAFSD_RESPONSE_EXECUTING;
	response->status = (__force dafs_status_t)le32_to_cpu(rec->status);
	response->len = len;
	if (len > sizeof(response->results))
		response->more = kvmalloc(len, GFP_KERNEL);
	to = response->more ?: response->results;
	if (!response->witness || (len > sizeof(response->results) && !response->more))
		return -ENOMEM;
	memcpy(to, witness + witness_len, len);
	return 0;
}

static struct dafsd_respcache *dafsd_respcache_revive(struct dafsd_server *server,
						      const struct dafs_session_id *session_id,
						      const struct dafsd_response_record *rec)
{
	u16 id_len = le16_to_cpu(rec->id_len);
	struct dafsd_respcache *cache;

	cache = dafsd_respcache_alloc(server, session_id, DAFSD_MAX_STREAMS);
	if (!cache)
		return NULL;
	cache->owner = dafsd_owner_alloc(rec->data, id_len, le32_to_cpu(rec->auth_type));
	if (!cache->owner) {
		dafsd_respcache_put(cache);
		return NULL;
	}
	cache->swab = rec->swab;
	spin_lock(&server->sessions_lock);
	cache->number = ++server->respcache_count;
	dafsd_respcache_add(cache);
	list_add_tail(&cache->client_link, &server->revived);
	spin_unlock(&server->sessions_lock);
	return cache;
}

/**
 * struct dafsd_response_loading - a store that is being read
 * @server: the server
 * @store: the store
 */
struct dafsd_response_loading {
	struct dafsd_server *server;
	struct dafsd_store *store;
};

static int dafsd_response_load(void *priv, const struct dafsd_key *key, const void *value,
			       u32 bytes)
{
	const struct dafsd_response_record *rec = value;
	const struct dafsd_response_key *at = key->data;
	struct dafsd_response_loading *loading = priv;
	struct dafsd_server *server = loading->server;
	struct dafsd_respcache *cache;
	u16 stream;

	/* of another version: clients are told that nothing is known */
	if (bytes && rec->version != DAFSD_RESPONSE_VERSION) {
		dafsd_store_delete(loading->store, key);
		return 0;
	}
	if (!dafsd_response_sound(key, rec, bytes))
		return -EUCLEAN;
	stream = le16_to_cpu(at->stream);
	if (stream >= DAFSD_MAX_STREAMS && stream != DAFSD_SESSION_STREAM)
		return -EUCLEAN;
	spin_lock(&server->sessions_lock);
	cache = dafsd_respcache_lookup(server, &at->session_id);
	spin_unlock(&server->sessions_lock);
	if (!cache)
		cache = dafsd_respcache_revive(server, &at->session_id, rec);
	if (!cache)
		return -ENOMEM;
	if (stream != DAFSD_SESSION_STREAM)
		return dafsd_response_restore(cache, stream, rec);
	cache->recorded = true;
	cache->age = rec->age < U8_MAX ? rec->age + 1 : U8_MAX;
	return 0;
}

/* Forget all of a former run; with their records if they are not to come back */
static void dafsd_revived_drop(struct dafsd_server *server, bool forget)
{
	struct dafsd_respcache *cache, *next;
	LIST_HEAD(all);

	spin_lock(&server->sessions_lock);
	list_for_each_entry_safe(cache, next, &server->revived, client_link) {
		cache->forgotten = forget;
		if (dafsd_respcache_drop(cache))
			list_add(&cache->client_link, &all);
	}
	spin_unlock(&server->sessions_lock);
	list_for_each_entry_safe(cache, next, &all, client_link)
		dafsd_respcache_put(cache);
}

/* Their clients have not come back. */
static void dafsd_revived_work_fn(struct work_struct *work)
{
	dafsd_revived_drop(&dafsd_server, true);
}

static DECLARE_DELAYED_WORK(dafsd_revived_work, dafsd_revived_work_fn);

/* A request that was not asked for in many runs is forgotten; the others have become older. */
static void dafsd_revived_age(struct dafsd_respcache *cache, struct dafsd_response *response,
			      void *unused)
{
	if (response->age > DAFSD_RESPONSE_RUNS)
		dafsd_response_unrecord(cache, response);
	else
		dafsd_response_record(cache, response, response->mark);
}

static struct dafsd_respcache *dafsd_respcache_revived(struct dafsd_server *server, u64 after)
{
	struct dafsd_respcache *cache, *found = NULL;

	spin_lock(&server->sessions_lock);
	list_for_each_entry(cache, &server->revived, client_link) {
		if (cache->number <= after)
			continue;
		found = cache;
		kref_get(&cache->ref);
		break;
	}
	spin_unlock(&server->sessions_lock);
	return found;
}

/**
 * dafsd_responses_revived() - all requests of a former run of the server
 * @server: the server
 * @fn: called for each
 * @arg: for it
 *
 * Context: may sleep.
 */
void dafsd_responses_revived(struct dafsd_server *server,
			     void (*fn)(struct dafsd_respcache *cache,
					struct dafsd_response *response, void *arg), void *arg)
{
	struct dafsd_respcache *cache;
	u64 number = 0;
	unsigned int n;

	while ((cache = dafsd_respcache_revived(server, number))) {
		number = cache->number;
		for (n = 0; n < cache->nr; n++)
			if (cache->responses[n])
				fn(cache, cache->responses[n], arg);
		dafsd_respcache_put(cache);
	}
}

/**
 * dafsd_response_is_unknown() - will it never be known what became of a request?
 * @cache: of its session
 * @response: the request, being executed, or of a former run
 *
 * Context: any.
 * Return: true if there is no witness, or its export has not been enabled in the time of a lease.
 */
bool dafsd_response_is_unknown(const struct dafsd_respcache *cache,
			       const struct dafsd_response *response)
{
	/* the session of this run has a client */
	if (cache->client)
		return false;
	return !response->witness_len ||
	       time_after(jiffies, cache->server->revived_at + dafsd_lease_seconds * HZ);
}

/**
 * dafsd_respcaches_load() - read what a former run of the server remembers
 * @server: the server; no session has records yet
 * @store: the store
 *
 * Context: may sleep.
 * Return: 0; -ENOMEM; or -EUCLEAN if it does not make sense.
 */
int dafsd_respcaches_load(struct dafsd_server *server, struct dafsd_store *store)
{
	struct dafsd_response_loading loading = { .server = server, .store = store };
	int err;

	err = dafsd_store_for_each(store, DAFSD_RECORD_RESPONSE, dafsd_response_load, &loading);
	if (err)
		return err;
	server->revived_at = jiffies;
	schedule_delayed_work(&dafsd_revived_work, DAFSD_REVIVED_HOURS * 3600 * HZ);
	return 0;
}

/**
 * dafsd_respcaches_age() - what a former run remembers has survived one more
 * @server: the server, with its store
 *
 * Context: may sleep for memory.
 */
void dafsd_respcaches_age(struct dafsd_server *server)
{
	struct dafsd_respcache *cache;
	u64 number = 0;

	dafsd_responses_revived(server, dafsd_revived_age, NULL);
	while ((cache = dafsd_respcache_revived(server, number))) {
		number = cache->number;
		if (cache->age > DAFSD_RESPONSE_RUNS)
			dafsd_respcache_unrecord(cache);
		else
			dafsd_respcache_record(cache);
		dafsd_respcache_put(cache);
	}
}

/**
 * dafsd_respcaches_unload() - forget them; the records stay
 * @server: the server, which has no session any more
 *
 * Context: may sleep.
 */
void dafsd_respcaches_unload(struct dafsd_server *server)
{
	cancel_delayed_work_sync(&dafsd_revived_work);
	dafsd_revived_drop(server, false);
}
