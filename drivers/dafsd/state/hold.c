// SPDX-License-Identifier: GPL-2.0
/*
 * Names, bytes and attributes that a request changes, and that no other may change until its
 * outcome is durable: see intent.c.
 *
 * Each is waited for by itself: a file system that hangs must not keep what is in others.  Who
 * holds one thing and waits for another takes them in the order of dafsd_hold_cmp(); that is two
 * names.  Who takes bytes takes nothing else, and takes them before a lock of the file.
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
 * @lock: protects @held
 * @held: dafsd_hold.link; no two of them meet
 * @left: something has left @held
 */
static struct dafsd_holds {
	spinlock_t lock;	/* see above */
	struct hlist_head held;
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
		INIT_HLIST_HEAD(&holds->held);
		init_waitqueue_head(&holds->left);
	}
}

static struct dafsd_holds *dafsd_holds_of(const struct dafsd_hold *hold)
{
	return &dafsd_holds[hash_ptr(hold->inode, DAFSD_HOLDS_BITS)];
}

/**
 * dafsd_hold_cmp() - compare two things
 * @a: one
 * @b: the other
 *
 * Context: any.
 * Return: 0 if they meet, as two names of a directory with one hash do; otherwise their order.
 */
int dafsd_hold_cmp(const struct dafsd_hold *a, const struct dafsd_hold *b)
{
	if (a->inode != b->inode)
		return a->inode < b->inode ? -1 : 1;
	if (a->last < b->first)
		return -1;
	return a->first > b->last;
}

static bool dafsd_hold_is_busy(const struct dafsd_holds *holds, const struct dafsd_hold *hold)
{
	const struct dafsd_hold *other;

	lockdep_assert_held(&holds->lock);
	hlist_for_each_entry(other, &holds->held, link)
		if (!dafsd_hold_cmp(other, hold))
			return true;
	return false;
}

/**
 * dafsd_hold_try() - hold something, if no other request does
 * @hold: what
 *
 * Context: any but interrupt.
 * Return: true if it is held, and dafsd_hold_end() is to be called.
 */
bool dafsd_hold_try(struct dafsd_hold *hold)
{
	struct dafsd_holds *holds = dafsd_holds_of(hold);
	bool taken;

	spin_lock(&holds->lock);
	taken = !dafsd_hold_is_busy(holds, hold);
	if (taken)
		hlist_add_head(&hold->link, &holds->held);
	spin_unlock(&holds->lock);
	return taken;
}

/**
 * dafsd_hold_take() - hold something
 * @hold: what; dafsd_hold_end() is to be called
 *
 * Context: may sleep, for as long as others hold it.
 */
void dafsd_hold_take(struct dafsd_hold *hold)
{
	wait_event(dafsd_holds_of(hold)->left, dafsd_hold_try(hold));
}

/**
 * dafsd_hold_wait() - wait until no request holds something
 * @hold: what; it is not held then either
 *
 * Context: may sleep, for as long as others hold it.
 */
void dafsd_hold_wait(struct dafsd_hold *hold)
{
	dafsd_hold_take(hold);
	dafsd_hold_end(hold);
}

/**
 * dafsd_hold_end() - others may change it
 * @hold: what is held, if anything
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
	hlist_del(&hold->link);
	spin_unlock(&holds->lock);
	hold->inode = NULL;
	wake_up_all(&holds->left);
}
