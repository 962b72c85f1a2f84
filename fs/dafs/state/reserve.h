/* SPDX-License-Identifier: GPL-2.0 */
/* Share reservations of open files (4.4.1.2, 4.4.2). */
#ifndef _FS_DAFS_STATE_RESERVE_H
#define _FS_DAFS_STATE_RESERVE_H

#include "state.h"

struct dafs_open_how;
struct dafs_opened;

int dafs_reserve(struct dafs_open_state *os, const void *holder, u32 access,
		 const struct dafs_reserved *what);
void dafs_reserve_end(struct dafs_open_state *os, const void *holder, bool wait);
bool dafs_reserve_pass(struct dafs_open_state *os, const void *holder, const void *heir);
bool dafs_reserves(const struct dafs_open_state *os, const struct dafs_reserved *what);
bool dafs_reserve_lost(struct dafs_open_state *os, const void *holder);
int dafs_reserve_reclaimed(struct dafs_open_state *os, struct dafs_conn *conn,
			   const struct dafs_open_how *how, const struct dafs_opened *opened,
			   dafs_status_t *status);

#endif /* _FS_DAFS_STATE_RESERVE_H */
