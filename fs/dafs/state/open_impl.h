/* SPDX-License-Identifier: GPL-2.0 */
/* What the files about opens know of each other. */
#ifndef _FS_DAFS_STATE_OPEN_IMPL_H
#define _FS_DAFS_STATE_OPEN_IMPL_H

#include "state.h"

/* work.c */
struct dafs_open_state *dafs_open_state_alloc(struct dafs_sb_info *sbi, u32 access,
					      const struct cred *cred);
void dafs_open_state_free(struct kref *kref);
void dafs_open_state_start(struct dafs_open_state *os);
void dafs_open_state_finish(struct dafs_open_state *os);
int dafs_open_state_step(struct dafs_open_state *os,
			 int (*step)(struct dafs_open_state *os, struct dafs_conn *conn,
				     dafs_status_t *status));

/* users.c */
void dafs_open_state_publish(struct dafs_inode *di, struct dafs_open_state *os);
bool dafs_open_state_is_of(struct dafs_open_state *os, const struct dafs_client_id *client_id);
struct dafs_open_state *dafs_open_state_join(struct dafs_inode *di, u32 access,
					     const struct cred *cred, bool alike);
void dafs_open_state_close(struct dafs_open_state *os, bool wait,
			   struct dafs_give_back *back);
void dafs_open_state_close_on(struct dafs_open_state *os);

/* open.c */
int dafs_open_state_reopen(struct dafs_open_state *os, struct dafs_conn *conn, bool nodelay,
			   dafs_status_t *status);

/* reclaim.c */
void dafs_open_state_close_left(struct dafs_open_state *os);
void dafs_open_state_reclaim_on(struct dafs_open_state *os);

#endif /* _FS_DAFS_STATE_OPEN_IMPL_H */
