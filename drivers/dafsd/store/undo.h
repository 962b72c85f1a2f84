/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Before-images: what was in a file before it was changed under an AUTORECOVERY lock (4.4.1.4).
 *
 * Those of one lock are in a file of the state directory, which begins with an entry that
 * tells the size of the locked file.  Each entry is a struct dafsd_undo_entry and its data.
 * An entry is durable before the bytes that it has are changed, and nothing is in two entries,
 * so it does not matter in which order they are written back, nor how often.  All numbers are
 * little-endian.
 */
#ifndef _DAFSD_STORE_UNDO_H
#define _DAFSD_STORE_UNDO_H

#include <linux/in6.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include <linux/xarray.h>

struct dafsd_store;
struct file;
struct path;

/* Files of before-images, at most */
#define DAFSD_UNDO_SLOTS	1024

#define DAFSD_UNDO_MAGIC	"DAFSUNDO"
/* What is saved at once, and where entries begin */
#define DAFSD_UNDO_BLOCK	4096
#define DAFSD_UNDO_ALIGN	512
/* Data of an entry, at most */
#define DAFSD_UNDO_DATA		SZ_64K

/**
 * struct dafsd_undo_entry - the first bytes of an entry, followed by zeros up to
 * DAFSD_UNDO_ALIGN
 * @magic: DAFSD_UNDO_MAGIC
 * @crc: crc32c of what follows
 * @len: bytes of data; 0 in the first entry
 * @id: dafsd_undo.id
 * @durable: up to here the log was durable when this was written
 * @offset: of the data in the locked file; in the first entry, the size of that
 * @data_crc: crc32c of the data
 * @zero: 0
 */
struct dafsd_undo_entry {
	u8 magic[8];
	__le32 crc;
	__le32 len;
	__le64 id;
	__le64 durable;
	__le64 offset;
	__le32 data_crc;
	__le32 zero;
} __packed;

/**
 * struct dafsd_undo - the before-images of a lock
 * @ref: of the lock, and of tasks that use them
 * @all: in the list of all of them
 * @addr: where the client of the lock came from
 * @link: in a list of those that are not needed any more, see state/persist_undo.c
 * @over: likewise: they will not be needed when a change of the record of the lock is durable;
 *	guarded by dafsd_persist_sem
 * @retry: jiffies until which it makes no sense to undo again; guarded by dafsd_file.append
 * @told: why they could not be undone, as the log has it; 0 if they could; guarded likewise
 * @slot: tells the name of the file
 * @id: random; tells the entries from those of others that had the name
 * @lock: guards what follows; held for input and output
 * @filp: the file; NULL after a restart until it is needed
 * @armed: @size is known, and durable; nothing was changed before
 * @size: of the locked file
 * @end: of the log
 * @bytes: of the log, as far as they count for dafsd_undo_max; changed under dafsd_undo_space, too
 * @saved: an entry for each block that was saved
 */
struct dafsd_undo {
	refcount_t ref;
	struct list_head all;
	struct in6_addr addr;
	struct list_head link;
	bool over;
	unsigned long retry;
	int told;
	u32 slot;
	u64 id;
	struct mutex lock;	/* see above */
	struct file *filp;
	bool armed;
	loff_t size;
	loff_t end;
	u64 bytes;
	struct xarray saved;
};

extern unsigned int dafsd_undo_max;

struct dafsd_undo *dafsd_undo_create(struct dafsd_store *store, const struct in6_addr *addr);
struct dafsd_undo *dafsd_undo_known(u32 slot, u64 id, const struct in6_addr *addr);
void dafsd_undo_put(struct dafsd_undo *undo);
void dafsd_undo_delete(struct dafsd_store *store, struct dafsd_undo *undo);
void dafsd_undo_clean(struct dafsd_store *store);
void dafsd_undo_measure_all(struct dafsd_store *store);
unsigned int dafsd_undo_count(void);
int dafsd_undo_arm(struct dafsd_store *store, struct dafsd_undo *undo, loff_t size);
int dafsd_undo_save(struct dafsd_store *store, struct dafsd_undo *undo, const struct path *from,
		    loff_t start, loff_t end);
int dafsd_undo_restore(struct dafsd_store *store, struct dafsd_undo *undo, struct file *to);

/**
 * dafsd_undo_get() - take a reference to before-images
 * @undo: the before-images
 *
 * Context: any.
 * Return: @undo.
 */
static inline struct dafsd_undo *dafsd_undo_get(struct dafsd_undo *undo)
{
	refcount_inc(&undo->ref);
	return undo;
}

#endif /* _DAFSD_STORE_UNDO_H */
