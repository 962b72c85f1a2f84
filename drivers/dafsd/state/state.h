/* SPDX-License-Identifier: GPL-2.0 */
/* State-ids, and the table of all opens behind them. */
#ifndef _DAFSD_STATE_STATE_H
#define _DAFSD_STATE_STATE_H

#include <linux/types.h>
#include <linux/dafs/msg.h>

struct dafsd_client;
struct dafsd_export;
struct dafsd_open;
struct inode;

u32 dafsd_state_reserve(struct dafsd_open *open);
void dafsd_state_cancel(struct dafsd_open *open);
bool dafsd_state_retract(struct dafsd_open *open);
void dafsd_state_end(struct dafsd_open *open);
u32 dafsd_state_publish(struct dafsd_open *open, struct dafs_state_id *state_id);
u32 dafsd_state_split(const struct dafs_state_id *state_id, u32 *id);
void dafsd_state_of(const struct dafsd_open *open, struct dafs_state_id *state_id);
struct dafsd_open *dafsd_state_load(const struct dafsd_client *client,
				    const struct dafs_state_id *state_id, u32 *status);
u32 dafsd_state_claim(const struct dafsd_client *client, const struct dafs_state_id *state_id,
		      const struct inode *inode, struct dafsd_open **found);
bool dafsd_state_is_special(const struct dafs_state_id *state_id);
void dafsd_opens_exit(void);
void dafsd_opens_release_client(struct dafsd_client *client);
void dafsd_opens_expire_client(struct dafsd_client *client);
void dafsd_opens_revoke_client(struct dafsd_client *client);
void dafsd_opens_init_export(struct dafsd_export *exp);
void dafsd_opens_release_export(struct dafsd_export *exp);

#endif /* _DAFSD_STATE_STATE_H */
