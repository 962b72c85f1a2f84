// SPDX-License-Identifier: GPL-2.0
/*
 * The list of what the server has locked for this client in a file.
 *
 * The entries do not overlap.  Neighbours are not merged, unless the server does not know of
 * them: each is reclaimed as it was asked for.
 */
#include <linux/fs.h>
#include <linux/slab.h>
#include "state.h"
#include "lock.h"

/* A change of a range splits at most two entries, and makes a new one. */
#define DAFS_HELD_SPARES	3

/*
 * Those that the last change has not used come first: a program that locks and unlocks the same
 * bytes needs no others.
 */
static void dafs_held_alloc(struct dafs_locks *locks, struct list_head *spares)
{
	struct dafs_held *held;
	size_t nr;

	spin_lock(&locks->lock);
	list_splice_init(&locks->spares, spares);
	spin_unlock(&locks->lock);
	for (nr = list_count_nodes(spares); nr < DAFS_HELD_SPARES; nr++) {
		held = kzalloc(sizeof(*held), GFP_NOFS | __GFP_NOFAIL);
		list_add(&held->link, spares);
	}
}

/* Keeps as many as the next change may need. */
static void dafs_held_keep(struct dafs_locks *locks, struct list_head *spares)
{
	struct list_head *pos;
	unsigned int nr = 0;

	lockdep_assert_held(&locks->lock);
	if (!list_empty(&locks->spares))
		return;
	list_for_each(pos, spares)
		if (++nr == DAFS_HELD_SPARES)
			break;
	list_cut_position(&locks->spares, spares, list_is_head(pos, spares) ? spares->prev : pos);
}

static void dafs_held_free(struct list_head *list)
{
	struct dafs_held *held, *next;

	list_for_each_entry_safe(held, next, list, link)
		kfree(held);
}

/**
 * dafs_held_init() - nothing is locked yet
 * @locks: locks of a file
 *
 * Context: any.
 */
void dafs_held_init(struct dafs_locks *locks)
{
	spin_lock_init(&locks->lock);
	INIT_LIST_HEAD(&locks->held);
	INIT_LIST_HEAD(&locks->spares);
}

/**
 * dafs_held_exit() - nothing will be locked any more
 * @locks: locks of the file
 *
 * Context: any.
 */
void dafs_held_exit(struct dafs_locks *locks)
{
	dafs_held_free(&locks->held);
	dafs_held_free(&locks->spares);
}

static struct dafs_held *dafs_held_take(struct list_head *spares)
{
	struct dafs_held *held = list_first_entry(spares, struct dafs_held, link);

	list_del(&held->link);
	return held;
}

/* Make an entry end before @pos if it goes beyond. */
static void dafs_held_cut(struct dafs_locks *locks, loff_t pos, struct list_head *spares)
{
	struct dafs_held *held, *rest;

	list_for_each_entry(held, &locks->held, link) {
		if (held->start >= pos)
			return;
		if (held->end < pos)
			continue;
		rest = dafs_held_take(spares);
		rest->start = pos;
		rest->end = held->end;
		rest->type = held->type;
		rest->state = held->state;
		rest->local = held->local;
		rest->options = held->options;
		held->end = pos - 1;
		list_add(&rest->link, &held->link);
		return;
	}
}

/* Then no entry is partly in the range. */
static void dafs_held_cut_range(struct dafs_locks *locks, loff_t start, loff_t end,
				struct list_head *spares)
{
	dafs_held_cut(locks, start, spares);
	if (end < OFFSET_MAX)
		dafs_held_cut(locks, end + 1, spares);
}

/* Return: where an entry that begins at @start belongs: behind this. */
static struct list_head *dafs_held_cut_out(struct dafs_locks *locks, loff_t start, loff_t end,
					   struct list_head *spares)
{
	struct list_head *before = &locks->held;
	struct dafs_held *held, *next;

	dafs_held_cut_range(locks, start, end, spares);
	list_for_each_entry_safe(held, next, &locks->held, link) {
		if (held->end < start)
			before = &held->link;
		else if (held->start <= end)
			list_move(&held->link, spares);
	}
	return before;
}

static void dafs_held_count(struct dafs_locks *locks)
{
	const struct dafs_held *held;
	bool lost = false, recorded = false;

	list_for_each_entry(held, &locks->held, link) {
		lost |= held->state == DAFS_HELD_LOST;
		recorded |= held->options;
	}
	WRITE_ONCE(locks->lost, lost);
	WRITE_ONCE(locks->recorded, recorded);
}

/**
 * dafs_held_at() - how is a byte locked at the server?
 * @locks: locks of the file
 * @pos: offset of the byte
 * @end: set to the last byte behind it, or itself, of which the same is true
 *
 * Context: holds locks->lock.
 * Return: the entry, or NULL if it is not locked.
 */
const struct dafs_held *dafs_held_at(const struct dafs_locks *locks, loff_t pos, loff_t *end)
{
	const struct dafs_held *held;

	*end = OFFSET_MAX;
	list_for_each_entry(held, &locks->held, link) {
		if (held->end < pos)
			continue;
		if (held->start > pos) {
			*end = held->start - 1;
			return NULL;
		}
		*end = held->end;
		return held;
	}
	return NULL;
}

static bool dafs_held_joins(const struct dafs_held *held, const struct dafs_held *next)
{
	return held->local && next->local && held->type == next->type &&
	       held->end + 1 == next->start;
}

/*
 * The server knows nothing of them, so neighbours need not be kept apart; otherwise there could
 * be as many as a file has bytes.
 */
static void dafs_held_join(struct dafs_locks *locks, struct dafs_held *held,
			   struct list_head *spares)
{
	struct dafs_held *other = list_prev_entry(held, link);

	if (!list_entry_is_head(other, &locks->held, link) && dafs_held_joins(other, held)) {
		held->start = other->start;
		list_move(&other->link, spares);
	}
	other = list_next_entry(held, link);
	if (!list_entry_is_head(other, &locks->held, link) && dafs_held_joins(held, other)) {
		held->end = other->end;
		list_move(&other->link, spares);
	}
}

/* @new without a type: nothing is locked there. */
static void dafs_held_put(struct dafs_locks *locks, const struct dafs_held *new,
			  struct list_head *spares)
{
	struct list_head *before;
	struct dafs_held *held;

	lockdep_assert_held(&locks->lock);
	before = dafs_held_cut_out(locks, new->start, new->end, spares);
	if (new->type) {
		held = dafs_held_take(spares);
		*held = *new;
		list_add(&held->link, before);
		dafs_held_join(locks, held, spares);
	}
	dafs_held_count(locks);
}

static void dafs_held_replace(struct dafs_locks *locks, const struct dafs_held *new)
{
	LIST_HEAD(spares);

	dafs_held_alloc(locks, &spares);
	spin_lock(&locks->lock);
	dafs_held_put(locks, new, &spares);
	dafs_held_keep(locks, &spares);
	spin_unlock(&locks->lock);
	dafs_held_free(&spares);
}

/**
 * dafs_held_set() - bytes are locked at the server
 * @locks: locks of the file
 * @range: the bytes, and how the server was asked to lock them
 * @state: what is known of it
 *
 * Context: may sleep.
 */
void dafs_held_set(struct dafs_locks *locks, const struct dafs_lock_range *range,
		   enum dafs_held_state state)
{
	const struct dafs_held held = {
		.start = range->start,
		.end = range->end,
		.type = range->type,
		.state = state,
		.options = range->options & DAFS_HELD_OPTIONS,
	};

	dafs_held_replace(locks, &held);
}

/**
 * dafs_held_clear() - bytes are not locked at the server any more
 * @locks: locks of the file
 * @start: first byte
 * @end: last byte
 *
 * Context: may sleep.
 */
void dafs_held_clear(struct dafs_locks *locks, loff_t start, loff_t end)
{
	const struct dafs_held held = { .start = start, .end = end };

	dafs_held_replace(locks, &held);
}

/* Does the server know of any lock in a range, or may it? */
static bool dafs_held_is_remote(const struct dafs_locks *locks, loff_t start, loff_t end)
{
	const struct dafs_held *held;

	lockdep_assert_held(&locks->lock);
	list_for_each_entry(held, &locks->held, link)
		if (!held->local && held->start <= end && held->end >= start)
			return true;
	return false;
}

/**
 * dafs_held_set_local() - bytes are locked by a delegation, or not any more
 * @locks: locks of the file
 * @start: first byte
 * @end: last byte
 * @type: DAFS_READ_LT or DAFS_WRITE_LT; or 0: they are not locked any more
 *
 * What the server knows of, or is just told of because its open is reclaimed, must be changed
 * there.
 *
 * Context: may sleep.
 * Return: false if that is so for any of the bytes: nothing has changed.
 */
bool dafs_held_set_local(struct dafs_locks *locks, loff_t start, loff_t end, u32 type)
{
	const struct dafs_held held = {
		.start = start,
		.end = end,
		.type = type,
		.state = DAFS_HELD_SURE,
		.local = true,
	};
	LIST_HEAD(spares);
	bool local;

	dafs_held_alloc(locks, &spares);
	spin_lock(&locks->lock);
	local = !dafs_held_is_remote(locks, start, end);
	if (local)
		dafs_held_put(locks, &held, &spares);
	dafs_held_keep(locks, &spares);
	spin_unlock(&locks->lock);
	dafs_held_free(&spares);
	return local;
}

/**
 * dafs_held_lose_local() - what was locked by a delegation alone is lost
 * @locks: locks of the file
 *
 * Context: any but interrupt.
 * Return: true if there was any.
 */
bool dafs_held_lose_local(struct dafs_locks *locks)
{
	struct dafs_held *held;
	bool any = false;

	spin_lock(&locks->lock);
	list_for_each_entry(held, &locks->held, link) {
		if (!held->local)
			continue;
		held->local = false;
		held->state = DAFS_HELD_LOST;
		any = true;
	}
	dafs_held_count(locks);
	spin_unlock(&locks->lock);
	return any;
}

/**
 * dafs_held_lost() - are bytes of a range lost?
 * @locks: locks of the file
 * @start: first byte
 * @end: last byte
 *
 * Context: any but interrupt.
 * Return: true if any are.
 */
bool dafs_held_lost(struct dafs_locks *locks, loff_t start, loff_t end)
{
	const struct dafs_held *held;
	bool lost = false;

	spin_lock(&locks->lock);
	list_for_each_entry(held, &locks->held, link)
		lost |= held->state == DAFS_HELD_LOST && held->start <= end && held->end >= start;
	spin_unlock(&locks->lock);
	return lost;
}

/**
 * dafs_held_is_recorded() - has the server been asked for locks that it remembers without the open?
 * @locks: locks of the file
 * @start: first byte to look at
 * @end: last byte
 *
 * Context: any but interrupt.
 * Return: true if so.
 */
bool dafs_held_is_recorded(struct dafs_locks *locks, loff_t start, loff_t end)
{
	const struct dafs_held *held;
	bool recorded = false;

	if (!READ_ONCE(locks->recorded))
		return false;
	spin_lock(&locks->lock);
	list_for_each_entry(held, &locks->held, link)
		recorded |= held->options && held->start <= end && held->end >= start;
	spin_unlock(&locks->lock);
	return recorded;
}

/**
 * dafs_held_undoes() - how is the AUTORECOVERY lock of a file held?
 * @locks: locks of the file
 * @undoes: set to a copy of it
 *
 * Context: any but interrupt.
 * Return: false if there is none.
 */
bool dafs_held_undoes(struct dafs_locks *locks, struct dafs_held *undoes)
{
	const struct dafs_held *held;
	bool found = false;

	if (!READ_ONCE(locks->recorded))
		return false;
	spin_lock(&locks->lock);
	list_for_each_entry(held, &locks->held, link) {
		if (!(held->options & DAFS_LOCK_AUTORECOVERY))
			continue;
		*undoes = *held;
		found = true;
	}
	spin_unlock(&locks->lock);
	return found;
}

/**
 * dafs_held_unsure() - is it not known of any bytes of a file whether the server has locked them?
 * @locks: locks of the file
 *
 * Context: any but interrupt.
 * Return: true if so.
 */
bool dafs_held_unsure(struct dafs_locks *locks)
{
	const struct dafs_held *held;
	bool unsure = false;

	spin_lock(&locks->lock);
	list_for_each_entry(held, &locks->held, link)
		unsure |= held->state == DAFS_HELD_UNSURE;
	spin_unlock(&locks->lock);
	return unsure;
}

/* Of the bytes from @start on that are locked alike.  Return: the last one. */
static loff_t dafs_held_doubt_part(struct dafs_locks *locks, const struct dafs_lock_range *range,
				   loff_t start)
{
	struct dafs_held new = {
		.start = start,
		.type = range->type,
		.state = DAFS_HELD_UNSURE,
		.options = range->options & DAFS_HELD_OPTIONS,
	};
	const struct dafs_held *held;
	LIST_HEAD(spares);

	dafs_held_alloc(locks, &spares);
	spin_lock(&locks->lock);
	held = dafs_held_at(locks, start, &new.end);
	new.end = min(new.end, range->end);
	if (held) {
		new.type = max(new.type, held->type);
		new.options = held->options;
		if (held->state == DAFS_HELD_LOST)
			new.state = DAFS_HELD_LOST;
	}
	dafs_held_put(locks, &new, &spares);
	dafs_held_keep(locks, &spares);
	spin_unlock(&locks->lock);
	dafs_held_free(&spares);
	return new.end;
}

/**
 * dafs_held_doubt() - the server may have locked bytes
 * @locks: locks of the file
 * @range: the bytes, and how it was asked to
 *
 * What is lost stays lost, and what was to survive there is not forgotten.
 *
 * Context: may sleep.
 */
void dafs_held_doubt(struct dafs_locks *locks, const struct dafs_lock_range *range)
{
	loff_t start = range->start, end;

	for (;; start = end + 1) {
		end = dafs_held_doubt_part(locks, range, start);
		if (end == range->end)
			return;
	}
}

/**
 * dafs_held_mark() - what is known of locks at the server has changed
 * @locks: locks of the file
 * @start: first byte
 * @end: last byte
 * @state: the new state of what is locked in this range
 *
 * Context: may sleep.
 */
void dafs_held_mark(struct dafs_locks *locks, loff_t start, loff_t end,
		    enum dafs_held_state state)
{
	struct dafs_held *held;
	LIST_HEAD(spares);

	dafs_held_alloc(locks, &spares);
	spin_lock(&locks->lock);
	dafs_held_cut_range(locks, start, end, &spares);
	list_for_each_entry(held, &locks->held, link)
		if (held->start >= start && held->end <= end) {
			held->state = state;
			held->local = false;
		}
	dafs_held_count(locks);
	dafs_held_keep(locks, &spares);
	spin_unlock(&locks->lock);
	dafs_held_free(&spares);
}
