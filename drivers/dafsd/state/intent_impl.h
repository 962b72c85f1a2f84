/* SPDX-License-Identifier: GPL-2.0 */
/* What is recorded of a change before it is executed, for intent.c and settle.c. */
#ifndef _DAFSD_STATE_INTENT_IMPL_H
#define _DAFSD_STATE_INTENT_IMPL_H

#include "intent.h"
#include "persist_impl.h"

/**
 * struct dafsd_witness - how to find out whether a change was executed
 * @dir: the directory of the name; APPEND: the file
 * @to: RENAME: that of the new name
 * @object: what the name stands for before: REMOVE, RENAME; LINK: the object that gets it;
 *	CREATE: what was made, when it was
 * @fshandle: of the export; APPEND: 0
 * @offset: APPEND: where the data goes
 * @length: bytes of that
 * @name_len: bytes of the name, which begins @names; APPEND: of the checksums
 * @to_len: bytes of the new name, which follows
 * @names: these two; APPEND: the crc32c, __le32, of each page of the file that it reaches into
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

#endif /* _DAFSD_STATE_INTENT_IMPL_H */
