// SPDX-License-Identifier: GPL-2.0
/*
 * The bytes of PERSIST locks, and the states of them; see persist.c.
 */
#include <linux/filelock.h>
#include <linux/fs.h>
#include "persist_impl.h"

/*
 * How often a lock of any file has been found broken, or to need before-images; changed under
 * dafsd_persist_sem
 */
unsigned long dafsd_persist_breaks;

/**
 * dafsd_persist_meets() - has a lock bytes in common with a range?
 * @range: the lock
 * @other: the range
 *
 * Context: holds dafsd_persist_sem.
 * Return: true if so.
 */
bool dafsd_persist_meets(const struct dafsd_persist_range *range, const struct dafsd_range *other)
{
	return dafsd_ranges_meet(range->start, range->end, other->start, other->end);
}

/**
 * dafsd_persist_conflicts() - is a lock in the way of another owner's?
 * @range: the lock
 * @other: what is to be locked, and how
 *
 * Context: holds dafsd_persist_sem.
 * Return: true if so.
 */
bool dafsd_persist_conflicts(const struct dafsd_persist_range *range,
			     const struct dafsd_range *other)
{
	return dafsd_persist_meets(range, other) &&
	       (range->type == F_WRLCK || other->type == F_WRLCK);
}

/**
 * dafsd_persist_covers() - is a lock inside of a range?
 * @start: first byte of the range
 * @end: its last byte
 * @range: the lock
 *
 * Context: holds dafsd_persist_sem.
 * Return: true if all of it is.
 */
bool dafsd_persist_covers(loff_t start, loff_t end, const struct dafsd_persist_range *range)
{
	return start <= range->start && end >= range->end;
}

/**
 * dafsd_persist_move() - the only place where the state of a lock changes
 * @range: the lock
 * @to: its new state
 *
 * Context: holds dafsd_persist_sem exclusively.
 */
void dafsd_persist_move(struct dafsd_persist_range *range, enum dafsd_persist_phase to)
{
	/* what is reclaimed is cut out of what was LEFT, and added */
	static const bool legal[4][4] = {
		[DAFSD_PERSIST_HELD][DAFSD_PERSIST_LEFT] = true,
		[DAFSD_PERSIST_HELD][DAFSD_PERSIST_BROKEN] = true,
		[DAFSD_PERSIST_HELD][DAFSD_PERSIST_UNDOING] = true,
		[DAFSD_PERSIST_LEFT][DAFSD_PERSIST_BROKEN] = true,
		[DAFSD_PERSIST_LEFT][DAFSD_PERSIST_UNDOING] = true,
		[DAFSD_PERSIST_UNDOING][DAFSD_PERSIST_BROKEN] = true,
	};

	lockdep_assert_held_write(&dafsd_persist_sem);
	WARN_ON_ONCE(!legal[range->state][to]);
	range->state = to;
	if (to == DAFSD_PERSIST_BROKEN || to == DAFSD_PERSIST_UNDOING)
		dafsd_persist_look_again();
}

/**
 * dafsd_persist_look_again() - the next I/O of any file looks at the locks in it
 *
 * Context: holds dafsd_persist_sem exclusively.
 */
void dafsd_persist_look_again(void)
{
	lockdep_assert_held_write(&dafsd_persist_sem);
	WRITE_ONCE(dafsd_persist_breaks, dafsd_persist_breaks + 1);
}

/**
 * dafsd_persist_take_out() - remove a lock; another one may take its place
 * @persist: the locks of an owner in a file
 * @n: which of them
 *
 * Context: holds dafsd_persist_sem exclusively.
 */
void dafsd_persist_take_out(struct dafsd_persist *persist, unsigned int n)
{
	persist->ranges[n] = persist->ranges[--persist->nr];
}

/* Does it belong to its owner still? */
static bool dafsd_persist_is_owned(const struct dafsd_persist_range *range)
{
	return range->state == DAFSD_PERSIST_HELD || range->state == DAFSD_PERSIST_LEFT;
}

/*
 * Take bytes out of one of the locks; there is room for one more.  Return: true if it is gone
 * altogether, so that another one is in its place.
 */
static bool dafsd_persist_cut_one(struct dafsd_persist *persist, unsigned int n, loff_t start,
				  loff_t end)
{
	struct dafsd_persist_range *range = &persist->ranges[n], *rest;

	if (dafsd_persist_covers(start, end, range)) {
		dafsd_persist_take_out(persist, n);
		return true;
	}
	if (range->start < start && range->end > end) {
		rest = &persist->ranges[persist->nr++];
		*rest = *range;
		rest->start = end + 1;
		range->end = start - 1;
	} else if (range->start < start) {
		range->end = start - 1;
	} else {
		range->start = end + 1;
	}
	return false;
}

/**
 * dafsd_persist_cut() - take bytes out of the locks that are not broken
 * @persist: the locks of an owner in a file, with room for one more
 * @start: first byte
 * @end: last byte
 * @held: only of those that are HELD
 *
 * Context: holds dafsd_persist_sem exclusively.
 * Return: true if any of them were locked.
 */
bool dafsd_persist_cut(struct dafsd_persist *persist, loff_t start, loff_t end, bool held)
{
	struct dafsd_persist_range *range;
	unsigned int n = 0, nr = persist->nr;
	bool cut = false;

	while (n < min(nr, persist->nr)) {
		range = &persist->ranges[n];
		if (!dafsd_persist_is_owned(range) ||
		    (held && range->state != DAFSD_PERSIST_HELD) ||
		    !dafsd_ranges_meet(range->start, range->end, start, end)) {
			n++;
			continue;
		}
		cut = true;
		if (!dafsd_persist_cut_one(persist, n, start, end))
			n++;
	}
	return cut;
}

static bool dafsd_persist_joins(const struct dafsd_persist_range *a,
				const struct dafsd_persist_range *b)
{
	return a->end < OFFSET_MAX && a->end + 1 == b->start;
}

/**
 * dafsd_persist_hold() - add a lock that is HELD
 * @persist: the locks of an owner in a file, with room for one more
 * @range: what is locked; it was cut out of the others
 *
 * Context: holds dafsd_persist_sem exclusively.
 */
void dafsd_persist_hold(struct dafsd_persist *persist, const struct dafsd_range *range)
{
	struct dafsd_persist_range new = {
		.start = range->start,
		.end = range->end,
		.type = range->type,
		.state = DAFSD_PERSIST_HELD,
	};
	const struct dafsd_persist_range *old;
	unsigned int n = 0;

	/* as the kernel does, so that there are not as many as there were requests */
	while (n < persist->nr) {
		old = &persist->ranges[n];
		if (old->state != new.state || old->type != new.type ||
		    (!dafsd_persist_joins(old, &new) && !dafsd_persist_joins(&new, old))) {
			n++;
			continue;
		}
		new.start = min(new.start, old->start);
		new.end = max(new.end, old->end);
		dafsd_persist_take_out(persist, n);
		n = 0;
	}
	persist->ranges[persist->nr++] = new;
}

/**
 * dafsd_persist_holds_any() - is any lock HELD?
 * @persist: the locks of an owner in a file
 *
 * Context: holds dafsd_persist_sem.
 * Return: true if so.
 */
bool dafsd_persist_holds_any(const struct dafsd_persist *persist)
{
	unsigned int n;

	for (n = 0; n < persist->nr; n++)
		if (persist->ranges[n].state == DAFSD_PERSIST_HELD)
			return true;
	return false;
}

/**
 * dafsd_persist_splits() - would dafsd_persist_cut() make two locks of one?
 * @persist: the locks of an owner in a file
 * @start: first byte
 * @end: last byte
 *
 * Context: holds dafsd_persist_sem.
 * Return: true if so.
 */
bool dafsd_persist_splits(const struct dafsd_persist *persist, loff_t start, loff_t end)
{
	const struct dafsd_persist_range *range;
	unsigned int n;

	for (n = 0; n < persist->nr; n++) {
		range = &persist->ranges[n];
		if (dafsd_persist_is_owned(range) && range->start < start &&
		    range->end > end)
			return true;
	}
	return false;
}

/* Are all bytes of a range the owner's still, and locked so?  @type: or F_RDLCK for any way */
static bool dafsd_persist_is_whole(const struct dafsd_persist *own, const struct dafsd_range *range,
				   unsigned char type)
{
	loff_t start = range->start;
	unsigned int n = 0;

	while (own && n < own->nr) {
		const struct dafsd_persist_range *its = &own->ranges[n++];

		if (!dafsd_persist_is_owned(its) || its->start > start || its->end < start ||
		    (type == F_WRLCK && its->type != F_WRLCK))
			continue;
		if (its->end >= range->end)
			return true;
		start = its->end + 1;
		n = 0;
	}
	return false;
}

/**
 * dafsd_persist_has() - does an owner have all bytes of a range already?
 * @own: its locks in the file, or NULL
 * @range: the range
 *
 * Context: holds dafsd_persist_sem.
 * Return: true if so, in whatever way they are locked.
 */
bool dafsd_persist_has(const struct dafsd_persist *own, const struct dafsd_range *range)
{
	return dafsd_persist_is_whole(own, range, F_RDLCK);
}

/**
 * dafsd_persist_was_left() - does all that is to be reclaimed belong to its owner still?
 * @own: its locks in the file, or NULL
 * @range: what is to be reclaimed
 *
 * It was LEFT, and locked as strongly.  A part may be HELD, if a response was lost.
 *
 * Context: holds dafsd_persist_sem.
 * Return: true if so.
 */
bool dafsd_persist_was_left(const struct dafsd_persist *own, const struct dafsd_range *range)
{
	return dafsd_persist_is_whole(own, range, range->type);
}
