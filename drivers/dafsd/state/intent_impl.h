/* SPDX-License-Identifier: GPL-2.0 */
/* What is recorded of a change before it is executed, for the files of intents and settling. */
#ifndef _DAFSD_STATE_INTENT_IMPL_H
#define _DAFSD_STATE_INTENT_IMPL_H

#include <linux/fs.h>
#include <linux/math.h>
#include <linux/time64.h>
#include "../session/respcache.h"
#include "../session/server.h"
#include "intent.h"
#include "persist_impl.h"

/**
 * struct dafsd_witness - how to find out whether a change was executed
 * @dir: the directory of the name; otherwise the object itself
 * @to: RENAME: that of the new name
 * @object: what the name stands for before: REMOVE, RENAME; LINK: the object that gets it;
 *	CREATE: what was made, when it was
 * @fshandle: of the export; 0 if there is no name
 * @offset: appends and WRITE: where their data goes
 * @ctime: SETATTR: when the object was last changed before, in ns
 * @length: appends and WRITE: bytes of their data; when it is EXECUTED, of what was written
 * @data_len: bytes of @data; RENAME: of the old name
 * @more_len: RENAME: bytes of the new name, which follows the old one
 * @data: the name, or names; appends and WRITE: the crc32c, __le32, of what is in each
 *	DAFSD_SUM_SIZE bytes of the file; SETATTR: the attributes, as in a message of a
 *	little-endian machine
 */
struct dafsd_witness {
	struct dafsd_persist_file dir;
	struct dafsd_persist_file to;
	struct dafsd_persist_file object;
	u8 fshandle[DAFS_FSHANDLE_SIZE];
	union {
		__le64 offset;
		__le64 ctime;
	};
	__le32 length;
	__le16 data_len;
	__le16 more_len;
	u8 data[];
};

/**
 * dafsd_witness_ctime() - when an object was last changed
 * @inode: the object
 *
 * Return: that, as in dafsd_witness.ctime.
 */
static inline __le64 dafsd_witness_ctime(const struct inode *inode)
{
	const struct timespec64 ctime = inode_get_ctime(inode);

	return cpu_to_le64(timespec64_to_ns(&ctime));
}

/* A checksum is of at most so many bytes, which begin at a multiple of that, on all machines. */
#define DAFSD_SUM_SIZE	4096

/**
 * dafsd_sum_offset() - where in the part that has a checksum is a byte of a file?
 * @pos: the byte
 *
 * Return: bytes from the begin of that part.
 */
static inline unsigned int dafsd_sum_offset(loff_t pos)
{
	return pos & (DAFSD_SUM_SIZE - 1);
}

/**
 * dafsd_witness_sums() - how many checksums does data have?
 * @offset: where it is in its file
 * @len: bytes of it
 *
 * Return: their number.
 */
static inline u32 dafsd_witness_sums(loff_t offset, size_t len)
{
	return DIV_ROUND_UP(dafsd_sum_offset(offset) + len, DAFSD_SUM_SIZE);
}

/**
 * dafsd_intents_on() - may there be clients whose changes are executed once?
 *
 * Return: true if so: then all requests hold what they change.
 */
static inline bool dafsd_intents_on(void)
{
	return READ_ONCE(dafsd_respcache_kind) == DAFSD_RESPCACHE_STABLE ||
	       READ_ONCE(dafsd_server.stable_streams);
}

bool dafsd_intent_wanted(const struct dafsd_rqst *rq);
struct dafsd_witness *dafsd_witness_alloc(u32 data_len, u32 more_len);
dafs_status_t dafsd_intent_record(struct dafsd_rqst *rq, struct dafsd_witness *w);
void dafsd_intent_record_outcome(struct dafsd_rqst *rq, dafs_status_t status);

#endif /* _DAFSD_STATE_INTENT_IMPL_H */
