/* SPDX-License-Identifier: GPL-2.0 */
/* Delegations: files that this client may use without asking the server (6.5.24). */
#ifndef _FS_DAFS_STATE_DELEG_H
#define _FS_DAFS_STATE_DELEG_H

#include "../inode/inode.h"

struct dafs_client;
struct dafs_conn;
struct dafs_open_state;

/**
 * struct dafs_deleg_ops - what upper layers do before a delegation is returned
 * @settle: make what was written stable, and read the attributes after that; @idle: no program
 *	writes, and the inode may be locked
 * @discard: before that, drop what was written, but not what was since dafs_inode.stores was
 *	@stores, because the file is about to be truncated
 */
struct dafs_deleg_ops {
	void (*settle)(struct inode *inode, const struct cred *cred, bool idle);
	void (*discard)(struct inode *inode, const struct cred *cred, int stores);
};

void dafs_delegs_init(const struct dafs_deleg_ops *ops);
void dafs_delegs_init_sb(struct dafs_sb_info *sbi);
void dafs_deleg_take(struct dafs_open_state *os, struct dafs_asked asked);
dafs_status_t dafs_deleg_recall(const struct dafs_client_id *client_id,
				const struct dafs_bc_recall_args *args);
dafs_status_t dafs_deleg_getattr(const struct dafs_client_id *client_id,
				 const struct dafs_getattr_args *args, struct dafs_fattr *attr);
void dafs_deleg_return_left(struct dafs_open_state *os);
void dafs_deleg_used(struct dafs_inode *di);
void dafs_deleg_give_up(struct inode *inode);
bool dafs_deleg_give_back(struct inode *inode);
bool dafs_deleg_give_back_later(struct inode *inode);
void dafs_deleg_evict(struct dafs_inode *di);
void dafs_delegs_forget(struct dafs_sb_info *sbi, const struct dafs_conn *conn);
u32 dafs_deleg_former(const struct dafs_open_state *os);
int dafs_deleg_verify(const struct dafs_open_state *os, struct dafs_conn *conn,
		      const struct dafs_opened *opened, struct dafs_asked *asked);
void dafs_deleg_reclaimed(struct dafs_open_state *os, struct dafs_asked asked, ktime_t since);
void dafs_deleg_not_reclaimed(struct dafs_open_state *os);
void dafs_delegs_abandon(struct dafs_sb_info *sbi);
void dafs_delegs_end(struct dafs_sb_info *sbi);
void dafs_delegs_lapsed(struct dafs_client *clnt);

#endif /* _FS_DAFS_STATE_DELEG_H */
