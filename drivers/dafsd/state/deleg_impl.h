/* SPDX-License-Identifier: GPL-2.0 */
/* What the files about delegations know of each other. */
#ifndef _DAFSD_STATE_DELEG_IMPL_H
#define _DAFSD_STATE_DELEG_IMPL_H

#include <linux/workqueue.h>
#include "../session/directive.h"
#include "deleg.h"
#include "file.h"
#include "state.h"

/* struct dafsd_deleg, flags */
#define DAFSD_DELEG_LEASED	0	/* the kernel has its lease */
#define DAFSD_DELEG_BROKEN	1	/* it has to end; dafsd_deleg.since is valid */
#define DAFSD_DELEG_RECALLED	2	/* its work item was started, after it was published */
#define DAFSD_DELEG_TELLING	3	/* BC_RECALL is under way */
#define DAFSD_DELEG_TOLD	4	/* the client knows */
#define DAFSD_DELEG_DISOWNED	5	/* the client does not have it */
#define DAFSD_DELEG_ENDING	6	/* a task sets DAFSD_DELEG_BROKEN, or has set it */
#define DAFSD_DELEG_QUEUED	7	/* as many directives as the client takes are under way */
#define DAFSD_DELEG_LAST	8	/* its client was asked once more at the deadline */
#define DAFSD_DELEG_OVER	9	/* its lease has ended */

/**
 * struct dafsd_deleg - the delegation of a file to a client
 * @state: what it has in common with other state
 * @file_link: in dafsd_file.delegs; guarded by the file's lock
 * @wire: filehandle that OPEN returned
 * @type: DAFS_OPEN_DELEGATE_READ or DAFS_OPEN_DELEGATE_WRITE
 * @origin: which of the mounts that share a client-id has it, see dafsd_chan_origin()
 * @filp: the open file that the lease is set by; a reference.  One of its own, for reading, if the
 *	delegation is for writing.
 * @flags: DAFSD_DELEG_*
 * @since: when it was broken, or the client was told, in jiffies; valid with
 *	DAFSD_DELEG_BROKEN
 * @delay: of @recall, in jiffies
 * @recall: tells the client, and revokes the delegation in the end; see recall.c
 * @dir: BC_RECALL
 */
struct dafsd_deleg {
	struct dafsd_state state;
	struct list_head file_link;
	struct dafs_fh wire;
	u32 type;
	u64 origin;
	struct file *filp;
	unsigned long flags;
	unsigned long since;
	unsigned long delay;
	struct delayed_work recall;
	struct dafsd_directive dir;
};

/* it is freed by its header */
static_assert(!offsetof(struct dafsd_deleg, state));

/* deleg.c */
void dafsd_deleg_kept(struct dafsd_client *client);
struct dafsd_client *dafsd_deleg_writer(struct inode *inode, struct dafs_fh *wire,
					struct dafs_state_id *state_id);
bool dafsd_deleg_lives(const struct dafsd_client *client, const struct dafs_state_id *state_id);

/* recall_wait.c */
void dafsd_recall_wake(struct dafsd_deleg *deleg);

/* recall.c */
void dafsd_recall_init(struct dafsd_deleg *deleg);
void dafsd_recall_begin(struct dafsd_deleg *deleg);
void dafsd_recall_published(struct dafsd_deleg *deleg);
void dafsd_recall_ended(struct dafsd_deleg *deleg);

#endif /* _DAFSD_STATE_DELEG_IMPL_H */
