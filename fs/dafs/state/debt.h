/* SPDX-License-Identifier: GPL-2.0 */
/* What was written under a lock that only a delegation has known of. */
#ifndef _FS_DAFS_STATE_DEBT_H
#define _FS_DAFS_STATE_DEBT_H

#include "state.h"

/* enum dafs_debt - see debt.c */
enum dafs_debt {
	DAFS_DEBT_NONE,
	DAFS_DEBT_OWED,
	DAFS_DEBT_BREACHED,
};

void dafs_debt_owe(struct dafs_locks *locks);
void dafs_debt_delay(struct inode *inode);
void dafs_debt_pay(struct inode *inode);
void dafs_debt_paid(struct inode *inode);
void dafs_debt_lasts(struct inode *inode, ktime_t until);
void dafs_debt_expire(struct dafs_locks *locks, const struct dafs_conn *conn);
void dafs_debt_breach(struct inode *inode, const struct dafs_client_id *client_id);
bool dafs_debt_breached(const struct inode *inode);
void dafs_debt_dropped(struct inode *inode);
void dafs_debt_collect(struct dafs_open_state *os);
bool dafs_debt_is_due(struct dafs_open_state *os);
int dafs_debt_check(struct inode *inode, const struct dafs_conn *conn,
		    struct dafs_open_state **osp, struct dafs_state_id *state_id);
int dafs_debt_reclaimed(struct dafs_open_state *os, struct dafs_conn *conn,
			const struct dafs_open_how *how, dafs_status_t *status);

#endif /* _FS_DAFS_STATE_DEBT_H */
