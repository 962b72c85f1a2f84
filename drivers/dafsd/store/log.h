/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One of the two log files of a store, and its format.
 *
 * A file has a block with a header, and batches of records behind it; each batch begins with
 * a block.  A block that holds durable records is never written again, so a torn write
 * damages nothing else.  A batch is written only after the one before it is durable, unless
 * they belong to the snapshot, which counts only if all of it is there.
 *
 *	header: struct dafsd_log_header, zeros up to the end of the block
 *	batch: struct dafsd_log_batch, its records, zeros up to the end of the block
 *	record: struct dafsd_log_record, key, value
 *
 * All numbers are little-endian.
 */
#ifndef _DAFSD_STORE_LOG_H
#define _DAFSD_STORE_LOG_H

#include <linux/sizes.h>
#include <linux/types.h>

struct file;
struct path;

#define DAFSD_LOG_BLOCK		4096
#define DAFSD_LOG_MAGIC		"DAFSDLOG"
#define DAFSD_LOG_VERSION	1
#define DAFSD_BATCH_MAGIC	0x62736644
#define DAFSD_BATCH_MAX		SZ_128K
#define DAFSD_LOG_MAX		SZ_1G

/**
 * struct dafsd_log_id - which store a file belongs to
 * @b: random; also keeps clients, which choose keys and values, from making batches
 */
struct dafsd_log_id {
	u8 b[16];
};

/**
 * struct dafsd_log_header - the first bytes of a file
 * @magic: DAFSD_LOG_MAGIC
 * @crc: crc32c of what follows
 * @version: DAFSD_LOG_VERSION
 * @generation: the file of a store with the higher one counts
 * @id: of the store
 * @stamp: random for each snapshot, so that batches of an earlier one that was not completed,
 *	perhaps of the same generation, are not taken for its own
 * @snapshot: batches from the first one on that hold all records of that time
 * @retired: the other file has taken its place
 */
struct dafsd_log_header {
	u8 magic[8];
	__le32 crc;
	__le32 version;
	__le64 generation;
	struct dafsd_log_id id;
	__le64 stamp;
	__le32 snapshot;
	__le32 retired;
} __packed;

/**
 * struct dafsd_log_batch - the first bytes of a batch
 * @magic: DAFSD_BATCH_MAGIC
 * @crc: crc32c of what follows, up to the last record
 * @id: of the store
 * @stamp: of the file
 * @seq: number of the batch in the file, from 1
 * @len: bytes of its records
 * @zero: 0
 */
struct dafsd_log_batch {
	__le32 magic;
	__le32 crc;
	struct dafsd_log_id id;
	__le64 stamp;
	__le64 seq;
	__le32 len;
	__le32 zero;
} __packed;

/**
 * struct dafsd_log_record - the first bytes of a record
 * @kind: enum dafsd_record_kind
 * @key_len: bytes of the key
 * @value_len: bytes of the value; DAFSD_LOG_DELETED for none: the record is deleted
 */
struct dafsd_log_record {
	__le16 kind;
	__le16 key_len;
	__le32 value_len;
} __packed;

#define DAFSD_LOG_DELETED	((u32)-1)

/* Bytes of records that a batch has room for */
#define DAFSD_BATCH_ROOM	(DAFSD_BATCH_MAX - sizeof(struct dafsd_log_batch))

/**
 * struct dafsd_log - an open log file
 * @filp: the file
 * @valid: it has a header that can be read; the other members are meaningless without
 * @blank: there is nothing in it but zeros
 * @retired: as in the header
 * @id: likewise
 * @generation: likewise
 * @stamp: likewise
 * @snapshot: likewise
 * @seq: number of the next batch
 * @pos: its place
 * @size: bytes of the file that are allocated and written
 */
struct dafsd_log {
	struct file *filp;
	bool valid;
	bool blank;
	bool retired;
	struct dafsd_log_id id;
	u64 generation;
	u64 stamp;
	u32 snapshot;
	u64 seq;
	loff_t pos;
	loff_t size;
};

/**
 * typedef dafsd_log_apply_t - takes a record of a log
 * @priv: of the caller
 * @kind: kind
 * @key: key
 * @key_len: its bytes
 * @value: value, or NULL if the record is deleted
 * @value_len: its bytes
 *
 * Returns 0 or a negative errno, which ends the replay.
 */
typedef int (*dafsd_log_apply_t)(void *priv, u16 kind, const void *key, u16 key_len,
				 const void *value, u32 value_len);

int dafsd_log_open(struct dafsd_log *log, const struct path *dir, const char *name, void *buf);
void dafsd_log_close(struct dafsd_log *log);
int dafsd_log_replay(struct dafsd_log *log, void *buf, dafsd_log_apply_t apply, void *priv);
int dafsd_log_begin(struct dafsd_log *log, const struct dafsd_log_id *id, u64 generation,
		    loff_t size, void *buf);
bool dafsd_log_has_room(const struct dafsd_log *log, size_t len);
int dafsd_log_append(struct dafsd_log *log, void *buf, size_t len);
int dafsd_log_flush(struct dafsd_log *log);
int dafsd_log_complete(struct dafsd_log *log, void *buf);
int dafsd_log_retire(struct dafsd_log *log, void *buf);

/* store.c */
extern size_t dafsd_log_min;

/* the only two ways by which a log changes what is on the disk */
int dafsd_log_pwrite(struct file *filp, const void *buf, size_t len, loff_t pos);
int dafsd_log_sync(struct file *filp);

#endif /* _DAFSD_STORE_LOG_H */
