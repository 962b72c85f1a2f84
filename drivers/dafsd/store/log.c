// SPDX-License-Identifier: GPL-2.0
/*
 * One of the two log files of a store: reading it after a crash, and adding to it.  For the
 * format see log.h.
 *
 * A file ends where a batch is missing or incomplete: that one was being written when the
 * power failed, and no caller was told that it is durable.  If there is a whole batch behind
 * it, then it had been durable and the disk has lost it: such a file is damaged, and refused.
 */
#include <kunit/static_stub.h>
#include <linux/crc32c.h>
#include <linux/errno.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/namei.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/string.h>
#include "log.h"

/**
 * dafsd_log_pwrite() - write to a log file
 * @filp: the file
 * @buf: the data
 * @len: its bytes
 * @pos: offset in the file
 *
 * Context: may sleep.
 * Return: 0, -ENOSPC, or another error of the file system.
 */
int dafsd_log_pwrite(struct file *filp, const void *buf, size_t len, loff_t pos)
{
	ssize_t n;

	KUNIT_STATIC_STUB_REDIRECT(dafsd_log_pwrite, filp, buf, len, pos);
	while (len) {
		n = kernel_write(filp, buf, len, &pos);
		if (n <= 0)
			return n ?: -ENOSPC;
		buf += n;
		len -= n;
	}
	return 0;
}

/**
 * dafsd_log_sync() - wait until what was written to a log file is durable
 * @filp: the file
 *
 * Context: may sleep.
 * Return: 0 or an error of the file system.
 */
int dafsd_log_sync(struct file *filp)
{
	KUNIT_STATIC_STUB_REDIRECT(dafsd_log_sync, filp);
	return vfs_fsync(filp, 1);
}

/* Reads up to @len bytes; what is behind the end of the file is zero. */
static int dafsd_log_pread(const struct dafsd_log *log, void *buf, size_t len, loff_t pos)
{
	ssize_t n;

	while (len) {
		n = kernel_read(log->filp, buf, len, &pos);
		if (n < 0)
			return n;
		if (!n)
			break;
		buf += n;
		len -= n;
	}
	memset(buf, 0, len);
	return 0;
}

static u32 dafsd_log_crc(const void *begin, const void *end)
{
	return crc32c(~0, begin, end - begin);
}

static u32 dafsd_header_crc(const struct dafsd_log_header *header)
{
	return dafsd_log_crc(&header->version, header + 1);
}

/* Returns -EPROTONOSUPPORT for a file of another version. */
static int dafsd_header_parse(struct dafsd_log *log, const struct dafsd_log_header *header)
{
	log->blank = !memchr_inv(header, 0, DAFSD_LOG_BLOCK);
	if (memcmp(header->magic, DAFSD_LOG_MAGIC, sizeof(header->magic)) ||
	    le32_to_cpu(header->crc) != dafsd_header_crc(header))
		return 0;
	if (le32_to_cpu(header->version) != DAFSD_LOG_VERSION)
		return -EPROTONOSUPPORT;
	log->valid = true;
	log->retired = header->retired;
	log->id = header->id;
	log->generation = le64_to_cpu(header->generation);
	log->stamp = le64_to_cpu(header->stamp);
	log->snapshot = le32_to_cpu(header->snapshot);
	return 0;
}

/* The header is blank, but is the rest, too? */
static int dafsd_log_check_blank(struct dafsd_log *log, void *buf)
{
	loff_t pos;
	int err;

	for (pos = 0; log->blank && pos < log->size; pos += DAFSD_BATCH_MAX) {
		err = dafsd_log_pread(log, buf, DAFSD_BATCH_MAX, pos);
		if (err)
			return err;
		log->blank = !memchr_inv(buf, 0, DAFSD_BATCH_MAX);
		cond_resched();
	}
	return 0;
}

/**
 * dafsd_log_open() - open a log file, and read its header
 * @log: filled in; to be closed with dafsd_log_close() also after an error
 * @dir: the folder
 * @name: name of the file in it, which is created if missing
 * @buf: DAFSD_BATCH_MAX bytes to work with
 *
 * A file without a valid header is no error: a crash may have left it.
 *
 * Context: may sleep.
 * Return: 0; -EPROTONOSUPPORT if the file has another version; -EUCLEAN if it can be no log;
 * or an error of the file system.
 */
int dafsd_log_open(struct dafsd_log *log, const struct path *dir, const char *name, void *buf)
{
	int err;

	*log = (struct dafsd_log){};
	log->filp = file_open_root(dir, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0600);
	if (IS_ERR(log->filp))
		return PTR_ERR(log->filp);
	if (!S_ISREG(file_inode(log->filp)->i_mode))
		return -EUCLEAN;
	log->size = i_size_read(file_inode(log->filp));
	if (log->size > DAFSD_LOG_MAX)
		return -EUCLEAN;
	err = dafsd_log_pread(log, buf, DAFSD_LOG_BLOCK, 0);
	return err ?: dafsd_header_parse(log, buf) ?: dafsd_log_check_blank(log, buf);
}

/**
 * dafsd_log_close() - close a log file
 * @log: from dafsd_log_open(), or zeroed
 *
 * Context: may sleep.
 */
void dafsd_log_close(struct dafsd_log *log)
{
	if (!IS_ERR_OR_NULL(log->filp))
		fput(log->filp);
	log->filp = NULL;
}

/* Is this the beginning of a batch of the file?  @seq: set to its number. */
static bool dafsd_batch_begins(const struct dafsd_log *log, const struct dafsd_log_batch *batch,
			       u64 *seq)
{
	*seq = le64_to_cpu(batch->seq);
	return le32_to_cpu(batch->magic) == DAFSD_BATCH_MAGIC &&
	       !memcmp(&batch->id, &log->id, sizeof(batch->id)) &&
	       le64_to_cpu(batch->stamp) == log->stamp &&
	       le32_to_cpu(batch->len) <= DAFSD_BATCH_ROOM;
}

static bool dafsd_batch_is_whole(const struct dafsd_log_batch *batch)
{
	const void *end = (const void *)(batch + 1) + le32_to_cpu(batch->len);

	return le32_to_cpu(batch->crc) == dafsd_log_crc(&batch->id, end);
}

/* Reads the batch at @pos.  Sets @seq to its number, or to 0 if no whole batch begins there. */
static int dafsd_batch_read(const struct dafsd_log *log, void *buf, loff_t pos, u64 *seq)
{
	int err = dafsd_log_pread(log, buf, DAFSD_LOG_BLOCK, pos);
	size_t rest;

	if (err)
		return err;
	if (!dafsd_batch_begins(log, buf, seq)) {
		*seq = 0;
		return 0;
	}
	rest = sizeof(struct dafsd_log_batch) +
	       le32_to_cpu(((struct dafsd_log_batch *)buf)->len);
	if (rest > DAFSD_LOG_BLOCK)
		err = dafsd_log_pread(log, buf + DAFSD_LOG_BLOCK, rest - DAFSD_LOG_BLOCK,
				      pos + DAFSD_LOG_BLOCK);
	if (!err && !dafsd_batch_is_whole(buf))
		*seq = 0;
	return err;
}

static int dafsd_batch_apply(const struct dafsd_log_batch *batch, dafsd_log_apply_t apply,
			     void *priv)
{
	const void *at = batch + 1, *end = at + le32_to_cpu(batch->len);
	const struct dafsd_log_record *rec;
	u32 key_len, value_len;
	bool deleted;
	int err = 0;

	while (!err && at < end) {
		rec = at;
		if (end - at < sizeof(*rec))
			return -EUCLEAN;
		at = rec + 1;
		key_len = le16_to_cpu(rec->key_len);
		value_len = le32_to_cpu(rec->value_len);
		deleted = value_len == DAFSD_LOG_DELETED;
		if (deleted)
			value_len = 0;
		if (key_len > end - at || value_len > end - at - key_len)
			return -EUCLEAN;
		err = apply(priv, le16_to_cpu(rec->kind), at, key_len,
			    deleted ? NULL : at + key_len, value_len);
		at += key_len + value_len;
	}
	return err;
}

static loff_t dafsd_batch_bytes(size_t len)
{
	return round_up(sizeof(struct dafsd_log_batch) + len, DAFSD_LOG_BLOCK);
}

/* Is there a whole batch behind the end, although what is there is not? */
static int dafsd_log_check_end(const struct dafsd_log *log, void *buf)
{
	loff_t pos;
	u64 seq;
	int err;

	for (pos = log->pos + DAFSD_LOG_BLOCK; pos < log->size; pos += DAFSD_LOG_BLOCK) {
		err = dafsd_batch_read(log, buf, pos, &seq);
		if (err)
			return err;
		if (seq > log->seq)
			return -EUCLEAN;
		cond_resched();
	}
	return log->seq > log->snapshot ? 0 : -EUCLEAN;
}

/**
 * dafsd_log_replay() - read the records of a log file
 * @log: a valid one
 * @buf: DAFSD_BATCH_MAX bytes to work with
 * @apply: called for each record, in the order in which they were written
 * @priv: for @apply
 *
 * Context: may sleep.
 * Return: 0; -EUCLEAN if the file is damaged; an error of @apply or of the file system.
 */
int dafsd_log_replay(struct dafsd_log *log, void *buf, dafsd_log_apply_t apply, void *priv)
{
	const struct dafsd_log_batch *batch = buf;
	u64 seq;
	int err;

	log->seq = 1;
	log->pos = DAFSD_LOG_BLOCK;
	for (;;) {
		err = dafsd_batch_read(log, buf, log->pos, &seq);
		if (err)
			return err;
		if (seq != log->seq)
			return dafsd_log_check_end(log, buf);
		err = dafsd_batch_apply(batch, apply, priv);
		if (err)
			return err;
		log->seq++;
		log->pos += dafsd_batch_bytes(le32_to_cpu(batch->len));
	}
}

/*
 * Blocks that are allocated and written already are written again without a change of the
 * file system's own data, so that to make them durable is one flush of the disk.
 */
static int dafsd_log_extend(struct dafsd_log *log, loff_t size, void *buf)
{
	size_t part;
	int err;

	memset(buf, 0, DAFSD_BATCH_MAX);
	while (log->size < size) {
		part = min_t(loff_t, size - log->size, DAFSD_BATCH_MAX);
		err = dafsd_log_pwrite(log->filp, buf, part, log->size);
		if (err)
			return err;
		log->size += part;
	}
	return 0;
}

/**
 * dafsd_log_begin() - begin a snapshot in a log file
 * @log: the file; loses its contents, but for its header, which is not valid any more
 * @id: of the store
 * @generation: higher than that of any valid file
 * @size: bytes that the file is to have
 * @buf: DAFSD_BATCH_MAX bytes to work with
 *
 * Context: may sleep.
 * Return: 0 or an error of the file system.
 */
int dafsd_log_begin(struct dafsd_log *log, const struct dafsd_log_id *id, u64 generation,
		    loff_t size, void *buf)
{
	log->valid = false;
	log->retired = false;
	log->id = *id;
	log->generation = generation;
	log->stamp = get_random_u64();
	log->seq = 1;
	log->pos = DAFSD_LOG_BLOCK;
	return dafsd_log_extend(log, size, buf);
}

/**
 * dafsd_log_has_room() - does a batch fit into a log file?
 * @log: the file
 * @len: bytes of its records
 *
 * Context: any.
 * Return: true if so.
 */
bool dafsd_log_has_room(const struct dafsd_log *log, size_t len)
{
	return log->pos + dafsd_batch_bytes(len) <= log->size;
}

/**
 * dafsd_log_append() - write a batch, which is durable after dafsd_log_flush()
 * @log: the file; has room for it
 * @buf: DAFSD_BATCH_MAX bytes; the records are behind a struct dafsd_log_batch
 * @len: bytes of the records
 *
 * Context: may sleep.
 * Return: 0 or an error of the file system.
 */
int dafsd_log_append(struct dafsd_log *log, void *buf, size_t len)
{
	size_t bytes = dafsd_batch_bytes(len);
	struct dafsd_log_batch *batch = buf;
	void *end = (void *)(batch + 1) + len;
	int err;

	*batch = (struct dafsd_log_batch){
		.magic = cpu_to_le32(DAFSD_BATCH_MAGIC),
		.id = log->id,
		.stamp = cpu_to_le64(log->stamp),
		.seq = cpu_to_le64(log->seq),
		.len = cpu_to_le32(len),
	};
	batch->crc = cpu_to_le32(dafsd_log_crc(&batch->id, end));
	memset(end, 0, buf + bytes - end);
	err = dafsd_log_pwrite(log->filp, buf, bytes, log->pos);
	if (err)
		return err;
	log->seq++;
	log->pos += bytes;
	return 0;
}

/**
 * dafsd_log_flush() - wait until all that was written is durable
 * @log: the file
 *
 * Context: may sleep.
 * Return: 0 or an error of the file system.
 */
int dafsd_log_flush(struct dafsd_log *log)
{
	return dafsd_log_sync(log->filp);
}

static int dafsd_log_write_header(struct dafsd_log *log, void *buf)
{
	struct dafsd_log_header *header = buf;

	memset(buf, 0, DAFSD_LOG_BLOCK);
	*header = (struct dafsd_log_header){
		.magic = DAFSD_LOG_MAGIC,
		.version = cpu_to_le32(DAFSD_LOG_VERSION),
		.generation = cpu_to_le64(log->generation),
		.id = log->id,
		.stamp = cpu_to_le64(log->stamp),
		.snapshot = cpu_to_le32(log->snapshot),
		.retired = cpu_to_le32(log->retired),
	};
	header->crc = cpu_to_le32(dafsd_header_crc(header));
	return dafsd_log_pwrite(log->filp, buf, DAFSD_LOG_BLOCK, 0) ?: dafsd_log_flush(log);
}

/**
 * dafsd_log_complete() - the snapshot is written: make it valid and durable
 * @log: the file
 * @buf: DAFSD_BATCH_MAX bytes to work with
 *
 * The header may be on the disk before all of the snapshot is: it tells how much that is, and
 * the other file still counts then.
 *
 * Context: may sleep.
 * Return: 0 or an error of the file system.
 */
int dafsd_log_complete(struct dafsd_log *log, void *buf)
{
	int err;

	log->snapshot = log->seq - 1;
	err = dafsd_log_write_header(log, buf);
	log->valid = !err;
	return err;
}

/**
 * dafsd_log_retire() - the other file has taken the place of this one
 * @log: a valid one
 * @buf: DAFSD_BATCH_MAX bytes to work with
 *
 * Should the other file be damaged later, then this one is not taken for the truth again.
 *
 * Context: may sleep.
 * Return: 0 or an error of the file system.
 */
int dafsd_log_retire(struct dafsd_log *log, void *buf)
{
	log->retired = true;
	return dafsd_log_write_header(log, buf);
}
