// SPDX-License-Identifier: GPL-2.0
/*
 * A small store of records that survive a crash.
 *
 * All records are in memory.  A change is made there, and is durable after the next
 * dafsd_store_sync(), which writes all changes so far as one batch and flushes the disk
 * once: while one task does that, the changes of others gather for the next batch.
 *
 * There are two files, see log.c.  Batches are added to the current one until it is full.
 * Then, and whenever a write or a flush has failed, so that nobody knows what is on the
 * disk, a snapshot of all records is written to the other file, which becomes the current
 * one (a checkpoint).  Nothing that is only in the new file is acknowledged before the old
 * one is marked as retired:
 *
 *  1. A file that is valid, and not retired, has everything that was acknowledged; or there
 *     is another one of a higher generation that has, and that is whole.
 *  2. If no file is valid, but for retired ones, then the store is damaged; unless there is
 *     nothing but zeros in both, which is a store that was just being made.
 */
#include <linux/file.h>
#include <linux/filelock.h>
#include <linux/fs.h>
#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/once.h>
#include <linux/path.h>
#include <linux/random.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include "log.h"
#include "store.h"

#define DAFSD_LOCK_FILE		"lock"

/* Bytes of a log file, at least; a power of two; changed by tests */
size_t dafsd_log_min = SZ_256K;
/* Bytes of all records, at most; less in tests */
unsigned int dafsd_store_max = SZ_64M;

/**
 * struct dafsd_record - a record, or one that was deleted
 * @node: in the table, unless it is deleted
 * @live: in dafsd_store.live, likewise; or a place in that list
 * @pending: in dafsd_store.pending while the change is not written
 * @kind: enum dafsd_record_kind; 0 for a place in the list
 * @key_len: bytes of the key
 * @value_len: bytes of the value; DAFSD_LOG_DELETED: the record is deleted
 * @data: key and value
 */
struct dafsd_record {
	struct hlist_node node;
	struct list_head live;
	struct list_head pending;
	u16 kind;
	u16 key_len;
	u32 value_len;
	u8 data[];
};

/**
 * struct dafsd_store - the store
 * @lock: guards the members up to @bytes, and the records
 * @table: dafsd_record.node by key
 * @live: dafsd_record.live
 * @pending: dafsd_record.pending, in the order of the changes
 * @changes: number of changes
 * @bytes: what the present records take in a log
 * @io_lock: guards what follows; held for input and output
 * @durable: value of @changes up to which all is durable; read without the lock
 * @unknown: an error has occurred since the last checkpoint; read without the lock
 * @log: the two files
 * @current_log: the one that batches are added to
 * @buf: DAFSD_BATCH_MAX bytes
 * @exclusive: the file that is locked as long as the store is open
 * @dir: the directory; a reference
 */
struct dafsd_store {
	spinlock_t lock;	/* see above */
	DECLARE_HASHTABLE(table, 10);
	struct list_head live;
	struct list_head pending;
	u64 changes;
	size_t bytes;
	struct mutex io_lock;	/* see above */
	u64 durable;
	bool unknown;
	struct dafsd_log log[2];
	struct dafsd_log *current_log;
	void *buf;
	struct file *exclusive;
	struct path dir;
};

/* Clients choose keys, so the hash is a keyed one. */
static u32 dafsd_key_hash(const struct dafsd_key *key)
{
	static siphash_key_t secret __read_mostly;

	get_random_once(&secret, sizeof(secret));
	return siphash(key->data, key->len, &secret);
}

static size_t dafsd_record_bytes(u32 key_len, u32 value_len)
{
	return sizeof(struct dafsd_log_record) + key_len +
	       (value_len == DAFSD_LOG_DELETED ? 0 : value_len);
}

static struct dafsd_record *dafsd_record_find(const struct dafsd_store *store,
					      const struct dafsd_key *key)
{
	struct dafsd_record *rec;

	hash_for_each_possible(store->table, rec, node, dafsd_key_hash(key))
		if (rec->kind == key->kind && rec->key_len == key->len &&
		    !memcmp(rec->data, key->data, key->len))
			return rec;
	return NULL;
}

/* Take a record out of what is there. */
static void dafsd_record_unlink(struct dafsd_store *store, struct dafsd_record *rec)
{
	lockdep_assert_held(&store->lock);
	hash_del(&rec->node);
	list_del_init(&rec->live);
	store->bytes -= dafsd_record_bytes(rec->key_len, rec->value_len);
}

static void dafsd_record_link(struct dafsd_store *store, struct dafsd_record *rec,
			      const struct dafsd_key *key, struct list_head *before)
{
	lockdep_assert_held(&store->lock);
	hash_add(store->table, &rec->node, dafsd_key_hash(key));
	list_add(&rec->live, before);
	store->bytes += dafsd_record_bytes(rec->key_len, rec->value_len);
}

static struct dafsd_record *dafsd_record_alloc(const struct dafsd_key *key, const void *value,
					       u32 value_len)
{
	struct dafsd_record *rec;

	rec = kvmalloc(sizeof(*rec) + key->len + value_len, GFP_KERNEL);
	if (!rec)
		return NULL;
	INIT_LIST_HEAD(&rec->pending);
	rec->kind = key->kind;
	rec->key_len = key->len;
	rec->value_len = value_len;
	memcpy(rec->data, key->data, key->len);
	memcpy(rec->data + key->len, value, value_len);
	return rec;
}

/*
 * Replaces a record of the same key.  Returns the one that was replaced, to be freed.
 *
 * The new one has its place in the list: a snapshot that was begun before, and has not come by
 * yet, must have one of both, because the old file is going to be retired.
 */
static struct dafsd_record *dafsd_record_replace(struct dafsd_store *store,
						 struct dafsd_record *rec,
						 const struct dafsd_key *key)
{
	struct dafsd_record *old = dafsd_record_find(store, key);

	dafsd_record_link(store, rec, key, old ? &old->live : store->live.prev);
	if (old) {
		dafsd_record_unlink(store, old);
		list_del(&old->pending);
	}
	return old;
}

static bool dafsd_key_valid(const struct dafsd_key *key, u32 value_len)
{
	return key->kind && key->len <= DAFSD_RECORD_MAX_KEY &&
	       value_len <= DAFSD_RECORD_MAX_VALUE;
}

/* Is there room for a record, in the place of one that it replaces? */
static bool dafsd_store_has_room(const struct dafsd_store *store, const struct dafsd_record *rec,
				 const struct dafsd_key *key)
{
	const struct dafsd_record *old = dafsd_record_find(store, key);
	size_t bytes = store->bytes + dafsd_record_bytes(rec->key_len, rec->value_len);

	if (old)
		bytes -= dafsd_record_bytes(old->key_len, old->value_len);
	return bytes <= READ_ONCE(dafsd_store_max);
}

/* @most: refuse what the store has no room for */
static int dafsd_store_add(struct dafsd_store *store, const struct dafsd_key *key,
			   const void *value, u32 value_len, bool most)
{
	struct dafsd_record *rec = dafsd_record_alloc(key, value, value_len), *old = NULL;
	bool room;

	if (!rec)
		return -ENOMEM;
	spin_lock(&store->lock);
	room = !most || dafsd_store_has_room(store, rec, key);
	if (room) {
		old = dafsd_record_replace(store, rec, key);
		list_add_tail(&rec->pending, &store->pending);
		store->changes++;
	}
	spin_unlock(&store->lock);
	kvfree(room ? old : rec);
	return room ? 0 : -ENOSPC;
}

/**
 * dafsd_store_put() - add a record, or replace the one of the same key
 * @store: the store
 * @key: its key
 * @value: its value
 * @value_len: bytes of @value, up to DAFSD_RECORD_MAX_VALUE
 *
 * It is durable after dafsd_store_sync().
 *
 * Context: may sleep for memory.
 * Return: 0; -ENOMEM; -ENOSPC if the store is too large; -EINVAL if key or value are.
 */
int dafsd_store_put(struct dafsd_store *store, const struct dafsd_key *key, const void *value,
		    u32 value_len)
{
	if (!dafsd_key_valid(key, value_len))
		return -EINVAL;
	return dafsd_store_add(store, key, value, value_len, true);
}

/**
 * dafsd_store_delete() - delete a record, if it is there
 * @store: the store
 * @key: its key
 *
 * It is durable after dafsd_store_sync().
 *
 * Context: any but interrupt; needs no memory.
 * Return: true if it was there.
 */
bool dafsd_store_delete(struct dafsd_store *store, const struct dafsd_key *key)
{
	struct dafsd_record *rec;

	spin_lock(&store->lock);
	rec = dafsd_record_find(store, key);
	if (rec) {
		dafsd_record_unlink(store, rec);
		rec->value_len = DAFSD_LOG_DELETED;
		list_move_tail(&rec->pending, &store->pending);
		store->changes++;
	}
	spin_unlock(&store->lock);
	return rec;
}

/**
 * struct dafsd_store_walk - a walk over the records that there are when it begins
 * @place: in dafsd_store.live, how far it has come
 * @end: likewise, behind the last one
 */
struct dafsd_store_walk {
	struct dafsd_record place;
	struct dafsd_record end;
};

/* The next record of a walk, or NULL. */
static struct dafsd_record *dafsd_store_next(struct dafsd_store *store,
					     struct dafsd_store_walk *walk)
{
	struct dafsd_record *rec = &walk->place;

	lockdep_assert_held(&store->lock);
	list_for_each_entry_continue(rec, &store->live, live) {
		if (rec == &walk->end)
			break;
		if (!rec->kind)
			continue;
		list_move(&walk->place.live, &rec->live);
		return rec;
	}
	return NULL;
}

static void dafsd_store_start(struct dafsd_store *store, struct dafsd_store_walk *walk)
{
	walk->place.kind = 0;
	walk->end.kind = 0;
	spin_lock(&store->lock);
	list_add(&walk->place.live, &store->live);
	list_add_tail(&walk->end.live, &store->live);
	spin_unlock(&store->lock);
}

static void dafsd_store_stop(struct dafsd_store *store, struct dafsd_store_walk *walk)
{
	spin_lock(&store->lock);
	list_del(&walk->place.live);
	list_del(&walk->end.live);
	spin_unlock(&store->lock);
}

/* Copies the next record of a kind.  Return: false after the last one. */
static bool dafsd_store_copy_next(struct dafsd_store *store, struct dafsd_store_walk *walk,
				  u16 kind, struct dafsd_record *copy)
{
	struct dafsd_record *rec;

	spin_lock(&store->lock);
	do {
		rec = dafsd_store_next(store, walk);
	} while (rec && rec->kind != kind);
	if (rec)
		memcpy(copy, rec, struct_size(rec, data, rec->key_len + rec->value_len));
	spin_unlock(&store->lock);
	return rec;
}

/**
 * dafsd_store_for_each() - call a function for each record of a kind
 * @store: the store
 * @kind: enum dafsd_record_kind
 * @fn: the function; may sleep, and may change the record.  Returns 0, or what the walk ends
 *	with.
 * @priv: for @fn
 *
 * Records that are added meanwhile are left out.
 *
 * Context: may sleep.
 * Return: 0, -ENOMEM, or what @fn has returned.
 */
int dafsd_store_for_each(struct dafsd_store *store, u16 kind,
			 int (*fn)(void *priv, const struct dafsd_key *key, const void *value,
				   u32 value_len),
			 void *priv)
{
	struct dafsd_store_walk walk;
	struct dafsd_record *rec;
	struct dafsd_key key;
	int err = 0;

	rec = kvmalloc(struct_size(rec, data, DAFSD_RECORD_MAX_KEY + DAFSD_RECORD_MAX_VALUE),
		       GFP_KERNEL);
	if (!rec)
		return -ENOMEM;
	dafsd_store_start(store, &walk);
	while (!err && dafsd_store_copy_next(store, &walk, kind, rec)) {
		key = (struct dafsd_key){ rec->kind, rec->key_len, rec->data };
		err = fn(priv, &key, rec->data + rec->key_len, rec->value_len);
		cond_resched();
	}
	dafsd_store_stop(store, &walk);
	kvfree(rec);
	return err;
}

/* Adds a record to a batch of @len bytes.  Return: false if there is no room. */
static bool dafsd_record_encode(const struct dafsd_record *rec, void *buf, size_t *len)
{
	size_t bytes = dafsd_record_bytes(rec->key_len, rec->value_len);
	struct dafsd_log_record *out = buf + sizeof(struct dafsd_log_batch) + *len;

	if (*len + bytes > DAFSD_BATCH_ROOM)
		return false;
	out->kind = cpu_to_le16(rec->kind);
	out->key_len = cpu_to_le16(rec->key_len);
	out->value_len = cpu_to_le32(rec->value_len);
	memcpy(out + 1, rec->data, bytes - sizeof(*out));
	*len += bytes;
	return true;
}

/* The change of a record is being written: take it off the list, and to @dead if deleted. */
static void dafsd_record_settle(struct dafsd_record *rec, struct list_head *dead)
{
	list_del_init(&rec->pending);
	if (rec->value_len == DAFSD_LOG_DELETED)
		list_add(&rec->pending, dead);
}

static void dafsd_records_free(struct list_head *dead)
{
	struct dafsd_record *rec, *next;

	list_for_each_entry_safe(rec, next, dead, pending)
		kvfree(rec);
}

/*
 * Moves pending changes to a batch, as many as it has room for.  Returns the bytes of its
 * records, and sets @changes to how many changes have been written when it is.
 */
static size_t dafsd_store_gather(struct dafsd_store *store, u64 *changes)
{
	struct dafsd_record *rec, *next;
	LIST_HEAD(dead);
	size_t len = 0;

	spin_lock(&store->lock);
	list_for_each_entry_safe(rec, next, &store->pending, pending) {
		if (!dafsd_record_encode(rec, store->buf, &len))
			break;
		dafsd_record_settle(rec, &dead);
	}
	*changes = list_empty(&store->pending) ? store->changes : store->durable;
	spin_unlock(&store->lock);
	dafsd_records_free(&dead);
	return len;
}

/* A snapshot has all changes so far.  Returns how many. */
static u64 dafsd_store_settle_all(struct dafsd_store *store)
{
	struct dafsd_record *rec, *next;
	LIST_HEAD(dead);
	u64 changes;

	spin_lock(&store->lock);
	list_for_each_entry_safe(rec, next, &store->pending, pending)
		dafsd_record_settle(rec, &dead);
	changes = store->changes;
	spin_unlock(&store->lock);
	dafsd_records_free(&dead);
	return changes;
}

/* Fills the next batch of a snapshot. */
static size_t dafsd_store_gather_live(struct dafsd_store *store, struct dafsd_store_walk *walk)
{
	struct dafsd_record *rec;
	size_t len = 0;

	spin_lock(&store->lock);
	while ((rec = dafsd_store_next(store, walk)))
		if (!dafsd_record_encode(rec, store->buf, &len)) {
			/* it is the first one of the next batch */
			list_move_tail(&walk->place.live, &rec->live);
			break;
		}
	spin_unlock(&store->lock);
	return len;
}

/*
 * Records that change meanwhile are in the snapshot as they are or as they were, those that are
 * added or deleted may be: all these changes are in a later batch.
 */
static int dafsd_store_write_snapshot(struct dafsd_store *store, struct dafsd_log *log)
{
	struct dafsd_store_walk walk;
	int err = 0;
	size_t len;

	dafsd_store_start(store, &walk);
	while (!err && (len = dafsd_store_gather_live(store, &walk))) {
		err = dafsd_log_has_room(log, len) ? dafsd_log_append(log, store->buf, len) :
						     -ENOSPC;
		cond_resched();
	}
	dafsd_store_stop(store, &walk);
	return err;
}

/* Room for all records, and as much again for changes; batches are not quite full. */
static loff_t dafsd_store_log_size(struct dafsd_store *store)
{
	size_t bytes;

	spin_lock(&store->lock);
	bytes = store->bytes;
	spin_unlock(&store->lock);
	return roundup_pow_of_two(max_t(size_t, 4 * bytes, dafsd_log_min));
}

/* Writes a snapshot to the other file, which takes the place of the current one. */
static int dafsd_store_switch(struct dafsd_store *store)
{
	struct dafsd_log *old = store->current_log;
	struct dafsd_log *new = old == &store->log[0] ? &store->log[1] : &store->log[0];
	u64 generation = max(store->log[0].generation, store->log[1].generation) + 1;
	int err;

	err = dafsd_log_begin(new, &old->id, generation, dafsd_store_log_size(store), store->buf);
	err = err ?: dafsd_store_write_snapshot(store, new);
	err = err ?: dafsd_log_complete(new, store->buf);
	if (err)
		return err;
	store->current_log = new;
	return dafsd_log_retire(old, store->buf);
}

static int dafsd_store_checkpoint(struct dafsd_store *store)
{
	u64 changes = dafsd_store_settle_all(store);
	int err = dafsd_store_switch(store);

	lockdep_assert_held(&store->io_lock);
	/* not before: while it is written, nothing has failed */
	WRITE_ONCE(store->unknown, err);
	if (!err)
		WRITE_ONCE(store->durable, changes);
	return err;
}

/* Returns -EAGAIN if a checkpoint is needed. */
static int dafsd_store_write_batch(struct dafsd_store *store)
{
	u64 changes;
	size_t len;
	int err;

	len = dafsd_store_gather(store, &changes);
	/* what was gathered is in the snapshot, too */
	if (!dafsd_log_has_room(store->current_log, len))
		return -EAGAIN;
	err = dafsd_log_append(store->current_log, store->buf, len) ?:
	      dafsd_log_flush(store->current_log);
	if (err) {
		WRITE_ONCE(store->unknown, true);
		return -EAGAIN;
	}
	WRITE_ONCE(store->durable, changes);
	return 0;
}

/**
 * dafsd_store_failed() - can changes not be made durable at the moment?
 * @store: the store
 *
 * Context: any.
 * Return: true since an error, until a dafsd_store_sync() has succeeded.
 */
bool dafsd_store_failed(const struct dafsd_store *store)
{
	return READ_ONCE(store->unknown);
}

/**
 * dafsd_store_sync() - make all changes so far durable
 * @store: the store
 *
 * After an error the changes are kept in memory, and the next call tries it again.
 *
 * Context: may sleep for input and output.
 * Return: 0, or the error of the file system.
 */
int dafsd_store_sync(struct dafsd_store *store)
{
	const struct cred *saved;
	u64 changes;
	int err = 0;

	spin_lock(&store->lock);
	changes = store->changes;
	spin_unlock(&store->lock);
	if (READ_ONCE(store->durable) >= changes)
		return 0;
	saved = override_creds(store->exclusive->f_cred);
	mutex_lock(&store->io_lock);
	/* after an error, there are changes that are not durable */
	while (!err && store->durable < changes) {
		err = store->unknown ? -EAGAIN : dafsd_store_write_batch(store);
		if (err == -EAGAIN)
			err = dafsd_store_checkpoint(store);
	}
	mutex_unlock(&store->io_lock);
	revert_creds(saved);
	if (err)
		pr_err_ratelimited("dafsd: the state directory cannot be written (%pe): no client can open or lock a file until it can\n",
				   ERR_PTR(err));
	return err;
}

/* Takes a record from a log, under no lock: nobody else has the store yet. */
static int dafsd_store_apply(void *priv, u16 kind, const void *key_data, u16 key_len,
			     const void *value, u32 value_len)
{
	struct dafsd_key key = { kind, key_len, key_data };
	struct dafsd_store *store = priv;

	if (!dafsd_key_valid(&key, value_len))
		return -EUCLEAN;
	if (value)
		return dafsd_store_add(store, &key, value, value_len, false);
	dafsd_store_delete(store, &key);
	return 0;
}

static void dafsd_store_forget(struct dafsd_store *store)
{
	struct dafsd_record *rec, *next;
	LIST_HEAD(dead);

	dafsd_store_settle_all(store);
	spin_lock(&store->lock);
	list_for_each_entry_safe(rec, next, &store->live, live) {
		dafsd_record_unlink(store, rec);
		list_add(&rec->pending, &dead);
	}
	spin_unlock(&store->lock);
	dafsd_records_free(&dead);
}

static bool dafsd_log_usable(const struct dafsd_log *log)
{
	return log->valid && !log->retired;
}

static int dafsd_store_load_from(struct dafsd_store *store, struct dafsd_log *log)
{
	int err = dafsd_log_replay(log, store->buf, dafsd_store_apply, store);

	store->current_log = log;
	return err;
}

/* Reads the file that has everything, see invariant 1. */
static int dafsd_store_load(struct dafsd_store *store)
{
	struct dafsd_log *newer = &store->log[0], *older = &store->log[1];
	int err = -EUCLEAN;

	if (newer->blank && older->blank)
		return -ENODATA;
	if (newer->valid && older->valid && memcmp(&newer->id, &older->id, sizeof(newer->id)))
		return -EUCLEAN;
	if (newer->generation < older->generation)
		swap(newer, older);
	if (dafsd_log_usable(newer))
		err = dafsd_store_load_from(store, newer);
	if (err != -EUCLEAN || !dafsd_log_usable(older))
		return err;
	dafsd_store_forget(store);
	return dafsd_store_load_from(store, older);
}

/* The first checkpoint makes the first file of a new store. */
static void dafsd_store_make(struct dafsd_store *store)
{
	get_random_bytes(&store->log[1].id, sizeof(store->log[1].id));
	store->current_log = &store->log[1];
}

static int dafsd_store_open_logs(struct dafsd_store *store, struct file *dir)
{
	int err;

	err = dafsd_log_open(&store->log[0], &dir->f_path, "log.0", store->buf) ?:
	      dafsd_log_open(&store->log[1], &dir->f_path, "log.1", store->buf);
	if (err)
		return err;
	err = dafsd_store_load(store);
	if (err == -ENODATA)
		dafsd_store_make(store);
	else if (err)
		return err;
	/* the names of files that were just made */
	err = vfs_fsync(dir, 0);
	if (err)
		return err;
	mutex_lock(&store->io_lock);
	err = dafsd_store_checkpoint(store);
	mutex_unlock(&store->io_lock);
	return err;
}

static int dafsd_store_flock(struct file *filp, struct file_lock *fl)
{
	if (filp->f_op->flock)
		return filp->f_op->flock(filp, F_SETLK, fl);
	return locks_lock_file_wait(filp, fl);
}

/* As flock(2), so that the lock ends with the last reference to the file. */
static int dafsd_store_exclude(struct dafsd_store *store, struct file *dir)
{
	struct file_lock fl;
	int err;

	store->exclusive = file_open_root(&dir->f_path, DAFSD_LOCK_FILE,
					  O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0600);
	if (IS_ERR(store->exclusive))
		return PTR_ERR(store->exclusive);
	locks_init_lock(&fl);
	fl.c.flc_owner = store->exclusive;
	fl.c.flc_pid = current->tgid;
	fl.c.flc_file = store->exclusive;
	fl.c.flc_flags = FL_FLOCK;
	fl.c.flc_type = F_WRLCK;
	fl.fl_end = OFFSET_MAX;
	err = dafsd_store_flock(store->exclusive, &fl);
	return err == -EAGAIN ? -EBUSY : err;
}

static void dafsd_store_free(struct dafsd_store *store)
{
	dafsd_store_forget(store);
	dafsd_log_close(&store->log[1]);
	dafsd_log_close(&store->log[0]);
	/* at once, because another server may be about to open the store */
	if (!IS_ERR_OR_NULL(store->exclusive))
		__fput_sync(store->exclusive);
	path_put(&store->dir);
	kvfree(store->buf);
	kfree(store);
}

static struct dafsd_store *dafsd_store_alloc(void)
{
	struct dafsd_store *store = kzalloc(sizeof(*store), GFP_KERNEL);

	if (!store)
		return NULL;
	store->buf = kvmalloc(DAFSD_BATCH_MAX, GFP_KERNEL);
	if (!store->buf) {
		kfree(store);
		return NULL;
	}
	spin_lock_init(&store->lock);
	mutex_init(&store->io_lock);
	hash_init(store->table);
	INIT_LIST_HEAD(&store->live);
	INIT_LIST_HEAD(&store->pending);
	return store;
}

/**
 * dafsd_store_open() - open the store in a directory, which is made if there is none
 * @dir: the directory
 *
 * Context: may sleep; with the credential that the files are to belong to.
 * Return: the store, or an ERR_PTR: -EBUSY if another server uses it; -EUCLEAN if it is
 * damaged; -EPROTONOSUPPORT if it has another format; -ENOMEM; or an error of the file
 * system.
 */
struct dafsd_store *dafsd_store_open(struct file *dir)
{
	struct dafsd_store *store = dafsd_store_alloc();
	int err;

	if (!store)
		return ERR_PTR(-ENOMEM);
	store->dir = dir->f_path;
	path_get(&store->dir);
	err = dafsd_store_exclude(store, dir) ?: dafsd_store_open_logs(store, dir);
	if (!err)
		return store;
	dafsd_store_free(store);
	return ERR_PTR(err);
}

/**
 * dafsd_store_dir() - the directory of a store
 * @store: the store
 *
 * Context: any.
 * Return: a borrowed reference.
 */
const struct path *dafsd_store_dir(const struct dafsd_store *store)
{
	return &store->dir;
}

/**
 * dafsd_store_close() - make all changes durable, and close the store
 * @store: the store, which no other task uses
 *
 * Context: may sleep.
 */
void dafsd_store_close(struct dafsd_store *store)
{
	dafsd_store_sync(store);
	dafsd_store_free(store);
}
