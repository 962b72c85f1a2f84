// SPDX-License-Identifier: GPL-2.0
/*
 * The table of PERSIST locks, and their records in the store, by which they survive a restart.
 *
 * There is one record for all PERSIST locks of an owner in a file, so that a change of them is
 * durable as a whole.  It tells BROKEN from the others; what somebody had when the server went
 * is LEFT to its owner when it is back.
 */
#include <linux/fs.h>
#include <linux/once.h>
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/siphash.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/unaligned.h>
#include <net/ipv6.h>
#include "../session/server.h"
#include "../session/client.h"
#include "../session/peer.h"
#include "../store/store.h"
#include "persist_impl.h"

/*
 * Clients may go and leave their locks behind, so there are limits for all records.  One address
 * may have a quarter of them, and what others store is left room for.
 */
unsigned int dafsd_persist_max = 16384;	/* less in tests */
#define DAFSD_PERSIST_MAX_BYTES		SZ_16M
#define DAFSD_PERSIST_MAX_FILE		1024
#define DAFSD_PERSIST_MAX_RANGES	1024
/* Of one owner in a file, when what it has was cut into pieces */
#define DAFSD_PERSIST_MAX_PIECES	2048

#define DAFSD_PERSIST_BITS		10

/* One lock for all: see persist.c */
DECLARE_RWSEM(dafsd_persist_sem);

/* Entries of the tables; guarded by dafsd_persist_sem, as the tables are */
unsigned int dafsd_persist_nr;

/* What they may take in the store */
static size_t dafsd_persist_total;

/* dafsd_persist.stamp of the last change */
unsigned long dafsd_persist_stamp;

static struct hlist_head dafsd_persist_files[1 << DAFSD_PERSIST_BITS];
static struct hlist_head dafsd_persist_clients[1 << DAFSD_PERSIST_BITS];

/* The last dafsd_persist.number that was used */
static u64 dafsd_persist_number;

#define DAFSD_RANGE_OWNED	0	/* HELD or LEFT */
#define DAFSD_RANGE_BROKEN	1
#define DAFSD_RANGE_UNDOING	2

#define DAFSD_PERSIST_UNDOES	BIT(0)	/* an AUTORECOVERY lock */
#define DAFSD_PERSIST_PASSES	BIT(1)	/* it is no PERSIST lock */

/**
 * struct dafsd_range_record - a struct dafsd_persist_range in the store
 * @start: first byte
 * @end: last byte
 * @type: DAFS_READ_LT or DAFS_WRITE_LT
 * @state: DAFSD_RANGE_*
 */
struct dafsd_range_record {
	__le64 start;
	__le64 end;
	__le32 type;
	__le32 state;
} __packed;

/**
 * struct dafsd_persist_record - value of a DAFSD_RECORD_PERSIST; its key is a __le64 number
 * @fs: see struct dafsd_persist_file, as what follows
 * @fid_type: likewise
 * @fid_words: likewise
 * @flags: DAFSD_PERSIST_UNDOES, DAFSD_PERSIST_PASSES
 * @reserved: zero
 * @fid: likewise, as the file system has made it
 * @client_id: see struct dafsd_persist
 * @addr: likewise
 * @verifier: likewise
 * @auth_type: likewise
 * @id_len: likewise
 * @owner_len: likewise
 * @nr: how many struct dafsd_range_record there are
 * @undo_slot: of the before-images of an AUTORECOVERY lock; else 0
 * @undo_id: likewise
 * @data: these, the client-id-string and the owner
 */
struct dafsd_persist_record {
	u8 fs[UUID_SIZE];
	u8 fid_type;
	u8 fid_words;
	u8 flags;
	u8 reserved;
	u8 fid[DAFSD_FID_WORDS * sizeof(u32)];
	struct dafs_client_id client_id;
	u8 addr[sizeof(struct in6_addr)];
	struct dafs_verifier verifier;
	__le32 auth_type;
	__le32 id_len;
	__le32 owner_len;
	__le32 nr;
	__le32 undo_slot;
	__le64 undo_id;
	u8 data[];
} __packed;

/* What a record can be at most, so that it is never too large for the store */
static_assert(sizeof(struct dafsd_persist_record) + 2 * DAFS_MAX_ID_STRING +
	      DAFSD_PERSIST_MAX_PIECES * sizeof(struct dafsd_range_record) <=
	      DAFSD_RECORD_MAX_VALUE);

static u32 dafsd_persist_hash(const void *data, size_t len)
{
	static siphash_key_t key __read_mostly;

	get_random_once(&key, sizeof(key));
	return siphash(data, len, &key) >> (64 - DAFSD_PERSIST_BITS);
}

static struct hlist_head *dafsd_persist_in_file(const struct dafsd_persist_file *file)
{
	lockdep_assert_held(&dafsd_persist_sem);
	return &dafsd_persist_files[dafsd_persist_hash(file, sizeof(*file))];
}

/* @persist, or the next one behind it that is in this file */
static struct dafsd_persist *dafsd_persist_from(struct dafsd_persist *persist,
						const struct dafsd_persist_file *file)
{
	hlist_for_each_entry_from(persist, file_link)
		if (!memcmp(&persist->file, file, sizeof(*file)))
			return persist;
	return NULL;
}

/**
 * dafsd_persist_first() - the PERSIST locks of all owners in a file
 * @file: the file
 *
 * Context: holds dafsd_persist_sem.
 * Return: those of one owner, to go on with dafsd_persist_follow(), or NULL.
 */
struct dafsd_persist *dafsd_persist_first(const struct dafsd_persist_file *file)
{
	struct hlist_head *list = dafsd_persist_in_file(file);

	return dafsd_persist_from(hlist_entry_safe(list->first, struct dafsd_persist, file_link),
				  file);
}

/**
 * dafsd_persist_follow() - the next ones of the same file
 * @persist: those of an owner
 *
 * Context: holds dafsd_persist_sem.
 * Return: those of another owner, or NULL.
 */
struct dafsd_persist *dafsd_persist_follow(const struct dafsd_persist *persist)
{
	lockdep_assert_held(&dafsd_persist_sem);
	return dafsd_persist_from(hlist_entry_safe(persist->file_link.next, struct dafsd_persist,
						   file_link), &persist->file);
}

/**
 * dafsd_persist_of_client() - where the PERSIST locks of a client are
 * @id: client-id-string
 * @len: its bytes
 *
 * Context: holds dafsd_persist_sem.
 * Return: a list of dafsd_persist.client_link, which has others in it, too.
 */
struct hlist_head *dafsd_persist_of_client(const void *id, u32 len)
{
	lockdep_assert_held(&dafsd_persist_sem);
	return &dafsd_persist_clients[dafsd_persist_hash(id, len)];
}

/**
 * dafsd_persist_is_of() - are these locks those of a client, in any of its instances?
 * @persist: the locks
 * @client: the client, authenticated
 *
 * Context: holds dafsd_persist_sem.
 * Return: true if so.
 */
bool dafsd_persist_is_of(const struct dafsd_persist *persist, const struct dafsd_client *client)
{
	return persist->id_len == client->id_len &&
	       persist->auth_type == client->principal->auth_type &&
	       !memcmp(persist->names, client->id, client->id_len);
}

/* The next one of a bucket, in the order of numbers */
static struct dafsd_persist *dafsd_persist_behind(const struct dafsd_persist_place *place)
{
	struct dafsd_persist *persist, *found = NULL;

	lockdep_assert_held(&dafsd_persist_sem);
	hlist_for_each_entry(persist, &dafsd_persist_files[place->bucket], file_link)
		if (persist->number > place->number &&
		    (!found || persist->number < found->number))
			found = persist;
	return found;
}

/**
 * dafsd_persist_next() - where a walk over all PERSIST locks has come to
 * @place: how far it has come
 *
 * Context: holds dafsd_persist_sem.
 * Return: those of an owner in a file, or NULL after the last ones.
 */
struct dafsd_persist *dafsd_persist_next(struct dafsd_persist_place *place)
{
	struct dafsd_persist *persist = NULL;

	while (place->bucket < ARRAY_SIZE(dafsd_persist_files)) {
		persist = dafsd_persist_behind(place);
		if (persist)
			break;
		place->bucket++;
		place->number = 0;
	}
	/* that which the last one ended in may be gone */
	if (persist && persist->number != place->next) {
		place->next = persist->number;
		place->from = 0;
	}
	return persist;
}

/**
 * dafsd_persist_seen() - a walk goes on behind these
 * @place: how far it has come
 * @persist: from dafsd_persist_next()
 *
 * Context: holds dafsd_persist_sem.
 */
void dafsd_persist_seen(struct dafsd_persist_place *place, const struct dafsd_persist *persist)
{
	place->number = persist->number;
}

/**
 * dafsd_persist_walk() - a walk over the files of a file system that have PERSIST locks
 * @place: zeroed before the first call
 * @fs: its UUID
 * @due: only those in which changes have to be undone
 * @file: set; the same one may come again
 *
 * Context: may sleep.
 * Return: false after the last one.
 */
bool dafsd_persist_walk(struct dafsd_persist_place *place, const uuid_t *fs, bool due,
			struct dafsd_persist_file *file)
{
	unsigned int nofs = dafsd_persist_read_lock();
	const struct dafsd_persist *persist;
	bool found = false;

	while (!found && (persist = dafsd_persist_next(place))) {
		dafsd_persist_seen(place, persist);
		*file = persist->file;
		found = uuid_equal(&file->fs, fs) &&
			(!due || (dafsd_persist_undo_of(persist) && dafsd_persist_is_due(persist)));
	}
	dafsd_persist_read_unlock(nofs);
	return found;
}

/**
 * dafsd_persist_read_lock() - nothing in the table changes
 *
 * Context: may sleep; no memory is to be waited for by file systems until the end.
 * Return: for dafsd_persist_read_unlock().
 */
unsigned int dafsd_persist_read_lock(void)
{
	down_read(&dafsd_persist_sem);
	return memalloc_nofs_save();
}

/**
 * dafsd_persist_read_unlock() - undo dafsd_persist_read_lock()
 * @nofs: what that has returned
 *
 * Context: any.
 */
void dafsd_persist_read_unlock(unsigned int nofs)
{
	memalloc_nofs_restore(nofs);
	up_read(&dafsd_persist_sem);
}

/**
 * dafsd_persist_write_lock() - nobody else uses the table
 *
 * Context: as dafsd_persist_read_lock().
 * Return: for dafsd_persist_write_unlock().
 */
unsigned int dafsd_persist_write_lock(void)
{
	down_write(&dafsd_persist_sem);
	return memalloc_nofs_save();
}

/**
 * dafsd_persist_write_unlock() - undo dafsd_persist_write_lock()
 * @nofs: what that has returned
 *
 * Context: any.
 */
void dafsd_persist_write_unlock(unsigned int nofs)
{
	memalloc_nofs_restore(nofs);
	up_write(&dafsd_persist_sem);
}

static size_t dafsd_persist_bytes(u32 nr, u32 id_len, u32 owner_len)
{
	return sizeof(struct dafsd_persist_record) + nr * sizeof(struct dafsd_range_record) +
	       id_len + owner_len;
}

/* What it may take in the store */
static size_t dafsd_persist_most(const struct dafsd_persist *persist)
{
	return dafsd_persist_bytes(persist->room, persist->id_len, persist->owner_len);
}

static struct dafsd_persist *dafsd_persist_alloc(u32 id_len, u32 owner_len)
{
	struct dafsd_persist *persist;

	persist = kzalloc(struct_size(persist, names, id_len + owner_len), GFP_KERNEL);
	if (!persist)
		return NULL;
	persist->persists = true;
	persist->id_len = id_len;
	persist->owner_len = owner_len;
	return persist;
}

static void dafsd_persist_free(struct dafsd_persist *persist)
{
	if (persist->undo)
		dafsd_undo_put(persist->undo);
	kvfree(persist->ranges);
	kfree(persist);
}

static void dafsd_persist_add(struct dafsd_persist *persist)
{
	lockdep_assert_held_write(&dafsd_persist_sem);
	hlist_add_head(&persist->file_link, dafsd_persist_in_file(&persist->file));
	hlist_add_head(&persist->client_link,
		       dafsd_persist_of_client(persist->names, persist->id_len));
	WRITE_ONCE(dafsd_persist_nr, dafsd_persist_nr + 1);
	dafsd_persist_total += dafsd_persist_most(persist);
}

/* Has one address more than its share of the records, or of what they take? */
static bool dafsd_persist_is_greedy(const struct in6_addr *addr)
{
	const struct dafsd_persist *persist;
	unsigned int nr = 0, n;
	size_t bytes = 0;

	/* all of them together have not */
	if (dafsd_persist_nr < dafsd_persist_max / 4 &&
	    dafsd_persist_total < DAFSD_PERSIST_MAX_BYTES / 4)
		return false;
	for (n = 0; n < ARRAY_SIZE(dafsd_persist_files); n++)
		hlist_for_each_entry(persist, &dafsd_persist_files[n], file_link) {
			if (!ipv6_addr_equal(&persist->addr, addr))
				continue;
			nr++;
			bytes += dafsd_persist_most(persist);
		}
	return nr >= dafsd_persist_max / 4 || bytes >= DAFSD_PERSIST_MAX_BYTES / 4;
}

static bool dafsd_persist_file_room(const struct dafsd_persist_file *file)
{
	const struct dafsd_persist *persist;
	unsigned int nr = 0;

	for (persist = dafsd_persist_first(file); persist; persist = dafsd_persist_follow(persist))
		nr++;
	return nr < DAFSD_PERSIST_MAX_FILE;
}

/**
 * dafsd_persist_new() - an owner is about to get its first PERSIST lock in a file
 * @file: the file
 * @locker: the owner
 *
 * Context: may sleep; holds dafsd_persist_sem exclusively.
 * Return: no locks yet, in the tables, but not in the store; NULL without memory, or if there
 * are too many, in the file, from the address of the client, or altogether.
 */
struct dafsd_persist *dafsd_persist_new(const struct dafsd_persist_file *file,
					const struct dafsd_locker *locker)
{
	const struct dafsd_client *client = locker->client;
	struct dafsd_persist *persist;

	if (dafsd_persist_nr >= dafsd_persist_max || !dafsd_persist_file_room(file) ||
	    dafsd_persist_total >= DAFSD_PERSIST_MAX_BYTES ||
	    dafsd_persist_is_greedy(&client->peer->addr))
		return NULL;
	persist = dafsd_persist_alloc(client->id_len, locker->owner_len);
	if (!persist)
		return NULL;
	persist->number = ++dafsd_persist_number;
	persist->file = *file;
	persist->client_id = client->client_id;
	persist->addr = client->peer->addr;
	persist->verifier = client->verifier;
	persist->auth_type = client->principal->auth_type;
	memcpy(persist->names, client->id, client->id_len);
	memcpy(persist->names + client->id_len, locker->owner, locker->owner_len);
	dafsd_persist_add(persist);
	return persist;
}

/* May an owner get more locks?  The first ones are part of what was admitted. */
static bool dafsd_persist_may_grow(const struct dafsd_persist *persist, unsigned int room)
{
	if (room > DAFSD_PERSIST_MAX_RANGES)
		return false;
	return !persist->nr || (dafsd_persist_total < DAFSD_PERSIST_MAX_BYTES &&
				!dafsd_persist_is_greedy(&persist->addr));
}

/**
 * dafsd_persist_reserve() - make room for more locks
 * @persist: the locks
 * @more: how many
 * @grows: the owner gets what it has not, so that limits apply; else they are what it has, in
 *	more pieces
 *
 * Context: may sleep; holds dafsd_persist_sem exclusively.
 * Return: OK; RESOURCE without memory, or if there are too many.
 */
dafs_status_t dafsd_persist_reserve(struct dafsd_persist *persist, unsigned int more, bool grows)
{
	unsigned int room = persist->nr + more;
	struct dafsd_persist_range *ranges;

	if (room <= persist->room)
		return DAFS_STATUS_OK;
	if (room > DAFSD_PERSIST_MAX_PIECES || (grows && !dafsd_persist_may_grow(persist, room)))
		return DAFSERR_RESOURCE;
	room = min(roundup_pow_of_two(room), DAFSD_PERSIST_MAX_PIECES);
	ranges = kvmalloc_array(room, sizeof(*ranges), GFP_KERNEL);
	if (!ranges)
		return DAFSERR_RESOURCE;
	if (persist->nr)
		memcpy(ranges, persist->ranges, persist->nr * sizeof(*ranges));
	kvfree(persist->ranges);
	if (!hlist_unhashed(&persist->file_link))
		dafsd_persist_total += (room - persist->room) * sizeof(struct dafsd_range_record);
	persist->ranges = ranges;
	persist->room = room;
	return DAFS_STATUS_OK;
}

/**
 * dafsd_persist_drop() - forget PERSIST locks, but not their record
 * @persist: the locks
 *
 * Context: holds dafsd_persist_sem exclusively.
 */
void dafsd_persist_drop(struct dafsd_persist *persist)
{
	lockdep_assert_held_write(&dafsd_persist_sem);
	hlist_del(&persist->file_link);
	hlist_del(&persist->client_link);
	WRITE_ONCE(dafsd_persist_nr, dafsd_persist_nr - 1);
	dafsd_persist_total -= dafsd_persist_most(persist);
	if (persist->undo && persist->undo->over) {
		dafsd_persist_orphan_undo(persist->undo);
		persist->undo = NULL;
	}
	dafsd_persist_free(persist);
}

/**
 * dafsd_persist_tidy() - forget those in a file who have no PERSIST locks any more
 * @file: the file
 * @stamp: dafsd_persist_stamp when changes were made
 * @durable: they are; else nothing is forgotten
 *
 * Until then they stay, so that others who get a lock in the file wait for that, too.
 *
 * Context: may sleep.
 */
void dafsd_persist_tidy(const struct dafsd_persist_file *file, unsigned long stamp, bool durable)
{
	unsigned int nofs = dafsd_persist_write_lock();
	struct dafsd_persist *persist, *next;
	LIST_HEAD(over);

	for (persist = dafsd_persist_first(file); persist && durable; persist = next) {
		next = dafsd_persist_follow(persist);
		dafsd_persist_take_over(persist, stamp, &over);
		if (!persist->nr && persist->stamp <= stamp)
			dafsd_persist_drop(persist);
	}
	dafsd_persist_write_unlock(nofs);
	dafsd_persist_reap(&over);
}

static u32 dafsd_persist_state_record(const struct dafsd_persist_range *range)
{
	switch (range->state) {
	case DAFSD_PERSIST_BROKEN:
		return DAFSD_RANGE_BROKEN;
	case DAFSD_PERSIST_UNDOING:
		return DAFSD_RANGE_UNDOING;
	default:
		return DAFSD_RANGE_OWNED;
	}
}

static void dafsd_persist_write_range(const struct dafsd_persist_range *range,
				      struct dafsd_range_record *rec)
{
	rec->start = cpu_to_le64(range->start);
	rec->end = cpu_to_le64(range->end);
	rec->type = cpu_to_le32(range->type == F_WRLCK ? DAFS_WRITE_LT : DAFS_READ_LT);
	rec->state = cpu_to_le32(dafsd_persist_state_record(range));
}

static void dafsd_persist_fill(const struct dafsd_persist *persist,
			       struct dafsd_persist_record *rec)
{
	const struct dafsd_undo *undo = dafsd_persist_undo_of(persist);
	struct dafsd_range_record *ranges = (struct dafsd_range_record *)rec->data;
	unsigned int n;

	export_uuid(rec->fs, &persist->file.fs);
	rec->fid_type = persist->file.type;
	rec->fid_words = persist->file.words;
	rec->flags = undo ? DAFSD_PERSIST_UNDOES : 0;
	if (!persist->persists)
		rec->flags |= DAFSD_PERSIST_PASSES;
	rec->reserved = 0;
	memcpy(rec->fid, persist->file.fid, sizeof(rec->fid));
	rec->client_id = persist->client_id;
	memcpy(rec->addr, &persist->addr, sizeof(rec->addr));
	rec->verifier = persist->verifier;
	rec->auth_type = cpu_to_le32(persist->auth_type);
	rec->id_len = cpu_to_le32(persist->id_len);
	rec->owner_len = cpu_to_le32(persist->owner_len);
	rec->nr = cpu_to_le32(persist->nr);
	rec->undo_slot = cpu_to_le32(undo ? undo->slot : 0);
	rec->undo_id = cpu_to_le64(undo ? undo->id : 0);
	for (n = 0; n < persist->nr; n++)
		dafsd_persist_write_range(&persist->ranges[n], &ranges[n]);
	memcpy(&ranges[persist->nr], persist->names, persist->id_len + persist->owner_len);
}

/**
 * dafsd_persist_save() - put PERSIST locks into the store as they are now
 * @persist: the locks; if there are none any more, their record is deleted
 *
 * They are durable after dafsd_store_sync().
 *
 * Context: may sleep for memory; holds dafsd_persist_sem.
 * Return: 0; -ENOMEM; -ENOSPC if the store is too large.
 */
int dafsd_persist_save(struct dafsd_persist *persist)
{
	struct dafsd_store *store = dafsd_server.store;
	__le64 number = cpu_to_le64(persist->number);
	struct dafsd_key key = { DAFSD_RECORD_PERSIST, sizeof(number), &number };
	size_t bytes = dafsd_persist_bytes(persist->nr, persist->id_len, persist->owner_len);
	struct dafsd_persist_record *rec;
	int err;

	if (!persist->nr)
		dafsd_persist_end_undo(persist);
	persist->stamp = ++dafsd_persist_stamp;
	if (!persist->nr) {
		dafsd_store_delete(store, &key);
		return 0;
	}
	persist->unsaved = true;
	rec = kvmalloc(bytes, GFP_KERNEL);
	if (!rec)
		return -ENOMEM;
	dafsd_persist_fill(persist, rec);
	err = dafsd_store_put(store, &key, rec, bytes);
	kvfree(rec);
	persist->unsaved = err;
	return err;
}

static bool dafsd_persist_read_range(const struct dafsd_range_record *rec,
				     struct dafsd_persist_range *range)
{
	u64 start = le64_to_cpu(rec->start), end = le64_to_cpu(rec->end);
	u32 type = le32_to_cpu(rec->type), state = le32_to_cpu(rec->state);
	static const u8 states[] = {
		[DAFSD_RANGE_OWNED] = DAFSD_PERSIST_LEFT,
		[DAFSD_RANGE_BROKEN] = DAFSD_PERSIST_BROKEN,
		[DAFSD_RANGE_UNDOING] = DAFSD_PERSIST_UNDOING,
	};

	if (state >= ARRAY_SIZE(states))
		return false;

	*range = (struct dafsd_persist_range) {
		.start = start,
		.end = end,
		.type = type == DAFS_WRITE_LT ? F_WRLCK : F_RDLCK,
		.state = states[state],
	};
	if (state != DAFSD_RANGE_OWNED)
		dafsd_persist_look_again();
	return start <= end && end <= OFFSET_MAX &&
	       (type == DAFS_READ_LT || type == DAFS_WRITE_LT);
}

static bool dafsd_persist_read(const struct dafsd_persist_record *rec, u32 nr,
			       struct dafsd_persist *persist)
{
	const struct dafsd_range_record *ranges = (const struct dafsd_range_record *)rec->data;
	bool sane = rec->fid_words && rec->fid_words <= DAFSD_FID_WORDS;

	import_uuid(&persist->file.fs, rec->fs);
	persist->file.type = rec->fid_type;
	persist->file.words = rec->fid_words;
	memcpy(persist->file.fid, rec->fid, sizeof(rec->fid));
	persist->client_id = rec->client_id;
	memcpy(&persist->addr, rec->addr, sizeof(rec->addr));
	persist->verifier = rec->verifier;
	persist->auth_type = le32_to_cpu(rec->auth_type);
	memcpy(persist->names, &ranges[nr], persist->id_len + persist->owner_len);
	for (; sane && persist->nr < nr; persist->nr++)
		sane = dafsd_persist_read_range(&ranges[persist->nr],
						&persist->ranges[persist->nr]);
	return sane;
}

/* Return: 0; -EUCLEAN if the flags do not fit what else is in the record; -ENOMEM */
static int dafsd_persist_read_undo(const struct dafsd_persist_record *rec,
				   struct dafsd_persist *persist)
{
	const struct dafsd_persist_range *range = &persist->ranges[0];
	struct dafsd_undo *undo;

	if (!rec->flags)
		return range->state == DAFSD_PERSIST_UNDOING ? -EUCLEAN : 0;
	if (!(rec->flags & DAFSD_PERSIST_UNDOES) || persist->nr != 1 || range->start ||
	    range->end != OFFSET_MAX || range->type != F_WRLCK ||
	    range->state == DAFSD_PERSIST_BROKEN)
		return -EUCLEAN;
	undo = dafsd_undo_known(le32_to_cpu(rec->undo_slot), le64_to_cpu(rec->undo_id),
				&persist->addr);
	if (IS_ERR(undo))
		return PTR_ERR(undo);
	persist->undo = undo;
	persist->persists = !(rec->flags & DAFSD_PERSIST_PASSES);
	dafsd_persist_look_again();
	return 0;
}

/* Are the lengths in a record of @bytes right? */
static bool dafsd_persist_is_sane(const struct dafsd_persist_record *rec, u32 bytes)
{
	u32 id_len, owner_len, nr;

	if (bytes < sizeof(*rec))
		return false;
	id_len = le32_to_cpu(rec->id_len);
	owner_len = le32_to_cpu(rec->owner_len);
	nr = le32_to_cpu(rec->nr);
	return id_len <= DAFS_MAX_ID_STRING && owner_len <= DAFS_MAX_ID_STRING && nr &&
	       nr <= DAFSD_PERSIST_MAX_PIECES &&
	       bytes == dafsd_persist_bytes(nr, id_len, owner_len);
}

static int dafsd_persist_load_one(void *priv, const struct dafsd_key *key, const void *value,
				  u32 value_len)
{
	const struct dafsd_persist_record *rec = value;
	struct dafsd_persist *persist;
	int err = 0;

	if (key->len != sizeof(__le64) || !dafsd_persist_is_sane(rec, value_len))
		return -EUCLEAN;
	persist = dafsd_persist_alloc(le32_to_cpu(rec->id_len), le32_to_cpu(rec->owner_len));
	if (!persist)
		return -ENOMEM;
	if (dafsd_persist_reserve(persist, le32_to_cpu(rec->nr), false))
		err = -ENOMEM;
	else if (!dafsd_persist_read(rec, le32_to_cpu(rec->nr), persist))
		err = -EUCLEAN;
	else
		err = dafsd_persist_read_undo(rec, persist);
	if (err) {
		dafsd_persist_free(persist);
		return err;
	}
	persist->number = get_unaligned_le64(key->data);
	dafsd_persist_number = max(dafsd_persist_number, persist->number);
	dafsd_persist_add(persist);
	return 0;
}

/**
 * dafsd_persist_load() - read the PERSIST locks of before the restart
 * @store: the store, which the server does not use yet
 *
 * Context: may sleep.
 * Return: 0, -ENOMEM, or -EUCLEAN if there is a record that is not understood; then none is
 * loaded.
 */
int dafsd_persist_load(struct dafsd_store *store)
{
	unsigned int nofs = dafsd_persist_write_lock();
	int err;

	dafsd_persist_undo_begin();
	err = dafsd_store_for_each(store, DAFSD_RECORD_PERSIST, dafsd_persist_load_one, NULL);
	dafsd_persist_write_unlock(nofs);
	if (err) {
		dafsd_persist_unload();
		return err;
	}
	dafsd_undo_measure_all(store);
	dafsd_undo_clean(store);
	return 0;
}

/**
 * dafsd_persist_unload() - forget all PERSIST locks; their records stay
 *
 * Context: may sleep; no client has state.
 */
void dafsd_persist_unload(void)
{
	struct dafsd_persist *persist;
	struct hlist_node *next;
	unsigned int nofs, n;

	nofs = dafsd_persist_write_lock();
	for (n = 0; n < ARRAY_SIZE(dafsd_persist_files); n++)
		hlist_for_each_entry_safe(persist, next, &dafsd_persist_files[n], file_link)
			dafsd_persist_drop(persist);
	dafsd_persist_write_unlock(nofs);
	dafsd_persist_undo_stop();
}
