/* SPDX-License-Identifier: GPL-2.0 */
/* What is recorded of a change before it is executed, for the files of intents and settling. */
#ifndef _DAFSD_STATE_INTENT_IMPL_H
#define _DAFSD_STATE_INTENT_IMPL_H

#include "intent.h"
#include "persist_impl.h"

/**
 * struct dafsd_witness - how to find out whether a change was executed
 * @dir: the directory of the name; otherwise the object itself
 * @to: RENAME: that of the new name
 * @object: what the name stands for before: REMOVE, RENAME; LINK: the object that gets it;
 *	CREATE: what was made, when it was
 * @fshandle: of the export; 0 if there is no name
 * @offset: of data: where it goes; SETATTR: the time of the last change before, in ns
 * @length: bytes of the data
 * @name_len: bytes of the name, which begins @names; of checksums; of attributes
 * @to_len: bytes of the new name, which follows
 * @names: these two; of data: the crc32c, __le32, of each page of the file that it reaches into;
 *	SETATTR: the attributes, as in a message of a little-endian machine
 */
struct dafsd_witness {
	struct dafsd_persist_file dir;
	struct dafsd_persist_file to;
	struct dafsd_persist_file object;
	u8 fshandle[DAFS_FSHANDLE_SIZE];
	__le64 offset;
	__le32 length;
	__le16 name_len;
	__le16 to_len;
	u8 names[];
};

bool dafsd_intent_wanted(const struct dafsd_rqst *rq);
struct dafsd_witness *dafsd_witness_alloc(u32 name_len, u32 to_len);
dafs_status_t dafsd_intent_record(struct dafsd_rqst *rq, struct dafsd_witness *w);
void dafsd_intent_settle(struct dafsd_rqst *rq, dafs_status_t status);

#endif /* _DAFSD_STATE_INTENT_IMPL_H */
