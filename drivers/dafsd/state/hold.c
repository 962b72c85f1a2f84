// SPDX-License-Identifier: GPL-2.0
/*
 * Names, bytes and attributes that a request changes, and that no other may change until its
 * outcome is durable: see intent.c.
 *
 * Each is waited for by itself: a file system that hangs must not keep what is in others.
 *
 *  1. Who comes first gets it first: otherwise SETATTR, which needs all of a file, would wait for
 *     ever while others write here and there.  So does an append; but its entry is for the bytes
 *     behind the end of the file as it was when it last looked, so requests that make the file
 *     longer beyond these do not wait for it.
 *  2. A task waits for a second hold only if both are names (RENAME), and takes them in the order
 *     of dafsd_hold_cmp().  It does not wait for those that wait: one of them may wait for its
 *     first one.
 *  3. A task waits for bytes before it takes dafsd_file.append, or write access to the file
 *     system, and after dafsd_file.gate; with these it never waits.  Where a file ends is certain
 *     only with dafsd_file.append: an append gives that up to wait, takes it again with what it
 *     holds, and if the end has moved, so does its entry, see dafsd_intent_try_append().
 */
#include <linux/hash.h>
#include <linux/list.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include "hold.h"

#define DAFSD_HOLDS_BITS	8

/**
 * struct dafsd_holds - what is held of some inodes
 * @lock: protects what follows
 * @all: dafsd_hold.link, in the order of arrival; no two that are held overlap
 * @left: woken when an entry of @all was removed, or moved
 */
static struct dafsd_holds {
	spinlock_t lock;	/* see above */
	struct list_head all;
	wait_queue_head_t left;
} dafsd_holds[1 << DAFSD_HOLDS_BITS];

/**
 * dafsd_holds_init() - initialize the lists
 *
 * Context: module initialization.
 */
void dafsd_holds_init(void)
{
	struct dafsd_holds *holds;

	for (holds = dafsd_holds; holds < dafsd_holds + ARRAY_SIZE(dafsd_holds); holds++) {
		spin_lock_init(&holds->lock);
		INIT_LIST_HEAD(&holds->all);
		init_waitqueue_head(&holds->left);
	}
}

static struct dafsd_holds *dafsd_holds_of(const struct dafsd_hold *hold)
{
	return &dafsd_holds[hash_ptr(hold->inode, DAFSD_HOLDS_BITS)];
}

/**
 * dafsd_hold_cmp() - do two holds overlap, and if not, which is first?
 * @a: one
 * @b: the other
 *
 * Context: any.
 * Return: 0 if they overlap, as two names of a directory with one hash do; otherwise their order.
 */
int dafsd_hold_cmp(const struct dafsd_hold *a, const struct dafsd_hold *b)
{
	if (a->inode != b->inode)
		return a->inode < b->inode ? -1 : 1;
	if (a->last < b->first)
		return -1;
	return a->first > b->last;
}

/*
 * Is something else in the way?
 *
 * @behind: those that wait, and came before, are
 */
static bool dafsd_hold_is_busy(const struct dafsd_holds *holds, const struct dafsd_hold *hold,
			       bool behind)
{
	const struct dafsd_hold *other;

	lockdep_assert_held(&holds->lock);
	list_for_each_entry(other, &holds->all, link) {
		if (other == hold)
			behind = false;
		else if ((other->held || behind) && !dafsd_hold_cmp(other, hold))
			return true;
	}
	return false;
}

static bool dafsd_hold_grant(struct dafsd_holds *holds, struct dafsd_hold *hold, bool behind)
{
	spin_lock(&holds->lock);
	hold->held = !dafsd_hold_is_busy(holds, hold, behind);
	spin_unlock(&holds->lock);
	return hold->held;
}

/**
 * dafsd_hold_queue() - take a place among those who want to hold something
 * @hold: what; dafsd_hold_end() is to be called
 *
 * Context: any but interrupt.
 * Return: true if it is held; otherwise dafsd_hold_await() waits for that.
 */
bool dafsd_hold_queue(struct dafsd_hold *hold)
{
	struct dafsd_holds *holds = dafsd_holds_of(hold);

	spin_lock(&holds->lock);
	list_add_tail(&hold->link, &holds->all);
	hold->held = !dafsd_hold_is_busy(holds, hold, true);
	spin_unlock(&holds->lock);
	return hold->held;
}

/**
 * dafsd_hold_move() - change what is to be held of the inode; the place in the list stays
 * @hold: from dafsd_hold_queue(), held or not
 * @first: of what is to be held
 * @last: likewise
 *
 * Context: any but interrupt.
 * Return: as dafsd_hold_queue(); if false, what was held before is not held any more.
 */
bool dafsd_hold_move(struct dafsd_hold *hold, u64 first, u64 last)
{
	struct dafsd_holds *holds = dafsd_holds_of(hold);

	spin_lock(&holds->lock);
	hold->first = first;
	hold->last = last;
	hold->held = !dafsd_hold_is_busy(holds, hold, true);
	spin_unlock(&holds->lock);
	wake_up_all(&holds->left);
	return hold->held;
}

/**
 * dafsd_hold_await() - wait for what was not held at once
 * @hold: what
 *
 * Context: may sleep, for as long as others hold it, or waited for it before; holds nothing.
 */
void dafsd_hold_await(struct dafsd_hold *hold)
{
	struct dafsd_holds *holds = dafsd_holds_of(hold);

	wait_event(holds->left, dafsd_hold_grant(holds, hold, true));
}

/**
 * dafsd_hold_take() - hold something
 * @hold: what; dafsd_hold_end() is to be called
 *
 * Context: as dafsd_hold_await().
 */
void dafsd_hold_take(struct dafsd_hold *hold)
{
	if (!dafsd_hold_queue(hold))
		dafsd_hold_await(hold);
}

/**
 * dafsd_hold_take_second() - hold something more
 * @hold: what; behind what is held already in the order of dafsd_hold_cmp()
 *
 * Context: may sleep, for as long as others hold it.
 */
void dafsd_hold_take_second(struct dafsd_hold *hold)
{
	struct dafsd_holds *holds = dafsd_holds_of(hold);

	if (!dafsd_hold_queue(hold))
		wait_event(holds->left, dafsd_hold_grant(holds, hold, false));
}

/**
 * dafsd_hold_end() - end a hold, and wake those who wait for it
 * @hold: what is held or waited for, if anything
 *
 * Context: any but interrupt.
 */
void dafsd_hold_end(struct dafsd_hold *hold)
{
	struct dafsd_holds *holds;

	if (!hold->inode)
		return;
	holds = dafsd_holds_of(hold);
	spin_lock(&holds->lock);
	list_del(&hold->link);
	spin_unlock(&holds->lock);
	*hold = (struct dafsd_hold){};
	wake_up_all(&holds->left);
}
