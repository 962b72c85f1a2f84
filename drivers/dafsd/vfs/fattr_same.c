// SPDX-License-Identifier: GPL-2.0
/* Comparing attributes, for VERIFY and NVERIFY (6.5.37, 6.5.23), and whether they were set. */
#include <linux/string.h>
#include "../session/client.h"
#include "vfs.h"

#define ROW(bit, member)	\
	{ DAFS_FATTR_##bit, offsetof(struct dafs_fattr, member),	\
	  sizeof_field(struct dafs_fattr, member) }
/* without the padding at the end */
#define TIME_ROW(bit, member)	\
	{ DAFS_FATTR_##bit, offsetof(struct dafs_fattr, member),	\
	  offsetofend(struct dafs_time, nseconds) }

/* Attributes that are equal if their bytes are. */
static const struct dafsd_same_row {
	u64 bit;
	size_t at;
	size_t size;
} dafsd_same_rows[] = {
	ROW(NAMED_ATTR, named_attr),
	ROW(OBJECT_TYPE, object_type),
	ROW(MODE, mode),
	ROW(NUM_LINKS, num_links),
	ROW(CHANGE, change),
	ROW(OBJECT_SIZE, object_size),
	ROW(FILE_ID, file_id),
	ROW(SPACE_USED, space_used),
	TIME_ROW(TIME_ACCESS, time_access),
	TIME_ROW(TIME_CREATE, time_create),
	TIME_ROW(TIME_DELTA, time_delta),
	TIME_ROW(TIME_METADATA, time_metadata),
	TIME_ROW(TIME_MODIFY, time_modify),
	ROW(RAW_DEV, raw_dev),
	ROW(FILEHANDLE, filehandle),
};

static bool dafsd_same_bytes(const struct dafs_fattr *a, const struct dafs_fattr *b, u64 which)
{
	const struct dafsd_same_row *row;

	for (row = dafsd_same_rows;
	     row < dafsd_same_rows + ARRAY_SIZE(dafsd_same_rows); row++)
		if ((which & row->bit) &&
		    memcmp((const u8 *)a + row->at, (const u8 *)b + row->at, row->size))
			return false;
	return true;
}

/* Owners are compared as numbers; a name matches no owner (E-117). */
static bool dafsd_same_owner(const struct dafs_str *a, const struct dafs_str *b)
{
	u32 id_a, id_b;

	return dafsd_name_to_id(a, &id_a) && dafsd_name_to_id(b, &id_b) && id_a == id_b;
}

static bool dafsd_same_str(const struct dafs_str *a, const struct dafs_str *b)
{
	return a->len == b->len && !(a->len && memcmp(a->data, b->data, a->len));
}

/**
 * dafsd_fattr_same() - are attributes equal?
 * @a: some
 * @b: others
 * @which: DAFS_FATTR_*: those that are compared, if they are listed above; both have them
 *
 * Context: any.
 * Return: true if all of them are.
 */
bool dafsd_fattr_same(const struct dafs_fattr *a, const struct dafs_fattr *b, u64 which)
{
	if (!dafsd_same_bytes(a, b, which))
		return false;
	if ((which & DAFS_FATTR_MIME_TYPE) && !dafsd_same_str(&a->mime_type, &b->mime_type))
		return false;
	if ((which & DAFS_FATTR_OWNER) && !dafsd_same_owner(&a->owner, &b->owner))
		return false;
	return !(which & DAFS_FATTR_OWNER_GROUP) ||
	       dafsd_same_owner(&a->owner_group, &b->owner_group);
}
