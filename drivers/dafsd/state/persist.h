/* SPDX-License-Identifier: GPL-2.0 */
/* PERSIST locks: what is left of a lock when its owner is gone (4.4.1.3). */
#ifndef _DAFSD_STATE_PERSIST_H
#define _DAFSD_STATE_PERSIST_H

#include <linux/atomic.h>
#include <linux/types.h>
#include <linux/dafs/msg.h>

struct dafsd_client;
struct dafsd_export;
struct dafsd_rqst;
struct dafsd_store;
struct dafsd_use;
struct inode;

/* persist_range.c */
extern atomic_t dafsd_persist_broken;

/* persist_look.c */
dafs_status_t dafsd_persist_check(const struct inode *inode, bool special, u64 offset, u64 length);
bool dafsd_persist_any(struct inode *inode);

/* persist_end.c */
void dafsd_persist_removed(struct inode *inode);
void dafsd_persist_replaced(const struct dafsd_client *client);
void dafsd_persist_served(struct dafsd_export *exp);

/* persist_record.c */
int dafsd_persist_load(struct dafsd_store *store);
void dafsd_persist_unload(void);

/**
 * dafsd_persist_io() - may bytes of a file be read or written, or cut off?
 * @inode: the file
 * @special: without an open (E-79)
 * @offset: first byte
 * @length: bytes
 *
 * Costs nothing unless a lock is broken somewhere.
 *
 * Context: may sleep.
 * Return: as dafsd_persist_check().
 */
static inline dafs_status_t dafsd_persist_io(const struct inode *inode, bool special, u64 offset,
					     u64 length)
{
	if (likely(!atomic_read(&dafsd_persist_broken)))
		return DAFS_STATUS_OK;
	return dafsd_persist_check(inode, special, offset, length);
}

#endif /* _DAFSD_STATE_PERSIST_H */
