/* SPDX-License-Identifier: GPL-2.0 */
/* What one request changes, and no other meanwhile. */
#ifndef _DAFSD_STATE_HOLD_H
#define _DAFSD_STATE_HOLD_H

#include <linux/types.h>

struct inode;

/**
 * struct dafsd_hold - a part of an inode
 * @link: in the list of what is held, or waited for
 * @held: it is held
 * @inode: a directory, of which these are hashes of names; or another object, of which these are
 *	bytes; NULL if nothing is held or waited for
 * @first: the first one
 * @last: the last one; U64_MAX stands for the attributes, as no byte and no hash of a name has that
 *	number
 */
struct dafsd_hold {
	struct list_head link;
	bool held;
	const struct inode *inode;
	u64 first;
	u64 last;
};

void dafsd_holds_init(void);
int dafsd_hold_cmp(const struct dafsd_hold *a, const struct dafsd_hold *b);
bool dafsd_hold_queue(struct dafsd_hold *hold);
bool dafsd_hold_move(struct dafsd_hold *hold, u64 first, u64 last);
void dafsd_hold_await(struct dafsd_hold *hold);
void dafsd_hold_take(struct dafsd_hold *hold);
void dafsd_hold_take_second(struct dafsd_hold *hold);
void dafsd_hold_end(struct dafsd_hold *hold);

#endif /* _DAFSD_STATE_HOLD_H */
