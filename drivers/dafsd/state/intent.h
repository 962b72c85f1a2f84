/* SPDX-License-Identifier: GPL-2.0 */
/* Changes of which it is known after a crash whether they were executed (5.2.4). */
#ifndef _DAFSD_STATE_INTENT_H
#define _DAFSD_STATE_INTENT_H

#include <linux/types.h>
#include <linux/dafs/msg.h>
#include "hold.h"

struct dafsd_export;
struct dafsd_fh;
struct dafsd_rqst;
struct inode;
struct iov_iter;

/* Tests: after what the server stops recording, as if it had crashed */
enum dafsd_crash {
	DAFSD_CRASH_NEVER,
	DAFSD_CRASH_INTENDED,	/* the intent; the change is not executed */
	DAFSD_CRASH_EXECUTED,	/* the change */
	DAFSD_CRASH_RECORDED,	/* the outcome; the results are not recorded */
};

extern enum dafsd_crash dafsd_intent_crash;

/**
 * struct dafsd_intent - a change of names that is about to be executed
 * @rq: the request; the caller sets this and what follows up to @source
 * @dir: the directory of @name
 * @name: what is to be made, removed or renamed
 * @to: RENAME: the directory of @to_name; otherwise NULL
 * @to_name: likewise, the new name
 * @source: LINK: the object that gets another name; otherwise NULL
 * @made: CREATE: what was made, for dafsd_intent_end(), or NULL
 * @held: the names, which others wait for
 * @nr: of @held
 * @recorded: it is in the store
 */
struct dafsd_intent {
	struct dafsd_rqst *rq;
	struct dafsd_fh *dir;
	const struct dafs_str *name;
	struct dafsd_fh *to;
	const struct dafs_str *to_name;
	const struct dafsd_fh *source;
	const struct inode *made;
	struct dafsd_hold held[2];
	unsigned int nr;
	bool recorded;
};

dafs_status_t dafsd_intent_begin(struct dafsd_intent *intent);
void dafsd_intent_end(struct dafsd_intent *intent, dafs_status_t status);

/* intent_data.c */
bool dafsd_intent_try_append(struct inode *inode, size_t len, struct dafsd_hold *hold);
dafs_status_t dafsd_intent_append(struct dafsd_rqst *rq, struct inode *inode,
				  const struct iov_iter *data);
void dafsd_intent_appended(struct dafsd_rqst *rq, dafs_status_t status, u64 offset);
dafs_status_t dafsd_intent_write(struct dafsd_rqst *rq, struct inode *inode, u64 offset,
				 const struct iov_iter *data, bool stable, struct dafsd_hold *hold);
void dafsd_intent_release(struct dafsd_rqst *rq, dafs_status_t status, struct dafsd_hold *hold);
void dafsd_intent_written(struct dafsd_rqst *rq, dafs_status_t status, u32 count,
			  struct dafsd_hold *hold);
dafs_status_t dafsd_intent_setattr(struct dafsd_rqst *rq, const struct dafsd_fh *fh,
				   const struct dafs_fattr *attr, u64 which,
				   struct dafsd_hold *hold);
void dafsd_intent_hold_all(const struct inode *inode, struct dafsd_hold *hold);

/* settle.c */
int dafsd_intents_settle(struct dafsd_export *exp);

#endif /* _DAFSD_STATE_INTENT_H */
