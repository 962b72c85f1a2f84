/* SPDX-License-Identifier: GPL-2.0 */
/* PERSIST locks: what is left of a lock when its owner is gone (4.4.1.3). */
#ifndef _DAFSD_STATE_PERSIST_H
#define _DAFSD_STATE_PERSIST_H

#include <linux/in6.h>
#include <linux/types.h>
#include <linux/uuid.h>
#include <linux/dafs/msg.h>
#include "file.h"

struct dafsd_client;
struct dafsd_export;
struct dafsd_rqst;
struct dafsd_store;
struct inode;

/* persist_range.c */
extern unsigned long dafsd_persist_breaks;

/* persist_look.c */
dafs_status_t dafsd_persist_check(struct dafsd_file *file, bool special, u64 offset, u64 length);
bool dafsd_persist_any(struct inode *inode);

/**
 * struct dafsd_persist_view - a PERSIST lock, as an administrator sees it
 * @number: of its record
 * @state: enum dafsd_persist_state
 * @client: client-id-string of its owner
 * @addr: where that came from
 * @owner: the owner
 * @fs: UUID of the file system
 * @handle: of the file in it
 * @write: it is exclusive
 * @start: first byte
 * @end: last byte
 */
struct dafsd_persist_view {
	u64 number;
	u32 state;
	struct dafs_str client;
	const struct in6_addr *addr;
	struct dafs_str owner;
	const uuid_t *fs;
	struct dafs_str handle;
	bool write;
	loff_t start;
	loff_t end;
};

/**
 * struct dafsd_persist_place - how far a walk over the table has come; zeroed before
 * @bucket: of the table by file
 * @number: that of the last record of it, or 0
 * @next: the next record
 * @from: of that, locks that begin here or later
 */
struct dafsd_persist_place {
	unsigned int bucket;
	u64 number;
	u64 next;
	loff_t from;
};

/* persist_admin.c */
int dafsd_persist_list(struct dafsd_persist_place *place,
		       int (*show)(const struct dafsd_persist_view *view, void *arg), void *arg);
int dafsd_persist_forget(u64 number);

/* persist_end.c */
void dafsd_persist_removed(struct inode *inode);
void dafsd_persist_replaced(const struct dafsd_client *client);
void dafsd_persist_serve(const struct dafsd_export *exp);

/* persist_record.c */
int dafsd_persist_load(struct dafsd_store *store);
void dafsd_persist_unload(void);

/**
 * dafsd_persist_io() - may bytes of a file be read or written, or cut off?
 * @file: the file
 * @special: without an open (E-79)
 * @offset: first byte
 * @length: bytes
 *
 * Costs nothing unless a lock of some file has been broken since this one was looked at.
 *
 * Context: may sleep.
 * Return: as dafsd_persist_check().
 */
static inline dafs_status_t dafsd_persist_io(struct dafsd_file *file, bool special, u64 offset,
					     u64 length)
{
	if (likely(READ_ONCE(file->unbroken) == READ_ONCE(dafsd_persist_breaks)))
		return DAFS_STATUS_OK;
	return dafsd_persist_check(file, special, offset, length);
}

#endif /* _DAFSD_STATE_PERSIST_H */
