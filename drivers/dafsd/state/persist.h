/* SPDX-License-Identifier: GPL-2.0 */
/* PERSIST locks: what is left of a lock when its owner is gone (4.4.1.3). */
#ifndef _DAFSD_STATE_PERSIST_H
#define _DAFSD_STATE_PERSIST_H

#include <linux/in6.h>
#include <linux/types.h>
#include <linux/uuid.h>
#include <linux/dafs/msg.h>
#include "file.h"
#include "open.h"

struct dafsd_client;
struct dafsd_export;
struct dafsd_rqst;
struct dafsd_store;
struct inode;
struct path;

/* persist_range.c */
extern unsigned long dafsd_persist_breaks;

/* persist_look.c */
dafs_status_t dafsd_persist_check(struct dafsd_file *file, const struct path *path, bool special,
				  u64 offset, u64 length);
bool dafsd_persist_any(const struct inode *inode);

/**
 * struct dafsd_persist_view - a PERSIST lock, as an administrator sees it
 * @number: of its record
 * @state: enum dafsd_persist_state of the generic netlink family
 * @client: client-id-string of its owner
 * @addr: where that came from
 * @owner: the owner
 * @fs: UUID of the file system
 * @handle_type: of the file in it
 * @handle: likewise
 * @persists: it is a PERSIST lock
 * @undoes: it is an AUTORECOVERY lock
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
	u32 handle_type;
	struct dafs_str handle;
	bool persists;
	bool undoes;
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
bool dafsd_persist_binds(const struct dafsd_client *client);
void dafsd_persist_serve(const struct dafsd_export *exp);

/* persist_undo.c */
dafs_status_t dafsd_persist_undo(struct dafsd_file *file, const struct path *path);
void dafsd_persist_init_export(struct dafsd_export *exp);
void dafsd_persist_undo_later(void);
void dafsd_persist_undo_halt(void);
dafs_status_t dafsd_persist_check_write(const struct dafsd_use *use, u64 offset, u64 length);
dafs_status_t dafsd_persist_truncate(struct dafsd_file *file);
dafs_status_t dafsd_persist_append(const struct dafsd_use *use, u64 length);

/* persist_record.c */
int dafsd_persist_load(struct dafsd_store *store);
void dafsd_persist_unload(void);

/**
 * dafsd_persist_quiet() - is there no lock in a file that I/O would have to look at?
 * @file: the file
 *
 * Costs nothing unless a lock of some file has been broken, or needs before-images, since this
 * one was looked at.
 *
 * Context: any.
 * Return: true if so; else dafsd_persist_check() and dafsd_persist_check_write() know.
 */
static inline bool dafsd_persist_quiet(const struct dafsd_file *file)
{
	return likely(READ_ONCE(file->unbroken) == READ_ONCE(dafsd_persist_breaks));
}

/**
 * dafsd_persist_io() - may bytes of a file be read or written, or cut off?
 * @use: the file
 * @offset: first byte
 * @length: bytes
 *
 * What has to be undone in the file is undone first.
 *
 * Context: may sleep; does not hold dafsd_file.append.
 * Return: as dafsd_persist_check().
 */
static inline dafs_status_t dafsd_persist_io(const struct dafsd_use *use, u64 offset, u64 length)
{
	if (dafsd_persist_quiet(use->file))
		return DAFS_STATUS_OK;
	return dafsd_persist_check(use->file, &use->filp->f_path, !use->open, offset, length);
}

/**
 * dafsd_persist_write() - bytes of a file are about to be changed; save them if necessary
 * @use: the file
 * @offset: first byte
 * @length: bytes
 *
 * Context: as dafsd_persist_check_write(); holds dafsd_file.append until they were changed.
 * Return: likewise.
 */
static inline dafs_status_t dafsd_persist_write(const struct dafsd_use *use, u64 offset,
						u64 length)
{
	if (dafsd_persist_quiet(use->file))
		return DAFS_STATUS_OK;
	return dafsd_persist_check_write(use, offset, length);
}

#endif /* _DAFSD_STATE_PERSIST_H */
