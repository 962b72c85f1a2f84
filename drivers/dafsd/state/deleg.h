/* SPDX-License-Identifier: GPL-2.0 */
/* Delegations: a client may use a file without asking, until it is told otherwise (6.5.24). */
#ifndef _DAFSD_STATE_DELEG_H
#define _DAFSD_STATE_DELEG_H

#include <linux/types.h>
#include <linux/dafs/msg.h>

struct dafsd_export;
struct dafsd_fh;
struct dafsd_file;
struct dafsd_rqst;
struct inode;

extern unsigned int dafsd_deleg_rest_seconds;

/* deleg.c */
void dafsd_deleg_offer(struct dafsd_rqst *rq, struct dafsd_fh *fh, unsigned int flags);
dafs_status_t dafsd_deleg_return(struct dafsd_rqst *rq, const struct dafs_state_id *state_id);
dafs_status_t dafsd_deleg_check(struct dafsd_rqst *rq, const struct dafs_state_id *state_id,
				const struct inode *inode);
bool dafsd_deleg_covers(const struct dafsd_rqst *rq);
dafs_status_t dafsd_deleg_conflict(struct dafsd_file *file, dafs_status_t status);
dafs_status_t dafsd_deleg_check_open(struct dafsd_file *file, u32 access, u32 deny);
dafs_status_t dafsd_deleg_recall_writer(struct inode *inode);
void dafsd_delegs_recall(const struct dafsd_export *exp);
void dafsd_delegs_wait(struct dafsd_export *exp);

/* recall_wait.c */
extern unsigned int dafsd_recall_wait_ms;
void dafsd_recall_met(struct dafsd_rqst *rq);

/* deleg_attr.c */
dafs_status_t dafsd_deleg_ask(struct dafsd_rqst *rq, const struct dafsd_fh *fh, u64 wanted);
void dafsd_deleg_answer(const struct dafsd_rqst *rq, struct dafs_fattr *attr);

#endif /* _DAFSD_STATE_DELEG_H */
