// SPDX-License-Identifier: GPL-2.0
/*
 * VERIFY and NVERIFY: compare the attributes of an object with values from the client
 * (6.5.23, 6.5.37).
 */
#include <linux/slab.h>
#include "../session/client.h"
#include "../request/request.h"
#include "../vfs/fh.h"
#include "../vfs/vfs.h"
#include "proc.h"

/* Attributes that can be set but not read, so that there is no value to compare (E-112). */
#define DAFSD_FATTR_WRITE_ONLY	(DAFS_FATTR_TIME_ACCESS_SET | DAFS_FATTR_TIME_MODIFY_SET)

/**
 * struct dafsd_verify - an object's attributes, and their strings
 * @attr: as the object has them
 * @names: what @attr points to
 */
struct dafsd_verify {
	struct dafs_fattr attr;
	struct dafsd_fattr_names names;
};

#define ROW(bit, member)	\
	{ DAFS_FATTR_##bit, offsetof(struct dafs_fattr, member),	\
	  sizeof_field(struct dafs_fattr, member) }
/* without the padding at the end */
#define TIME_ROW(bit, member)	\
	{ DAFS_FATTR_##bit, offsetof(struct dafs_fattr, member),	\
	  offsetofend(struct dafs_time, nseconds) }

/* Attributes that are equal if their bytes are. */
static const struct dafsd_verify_row {
	u64 bit;
	size_t at;
	size_t size;
} dafsd_verify_rows[] = {
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

static bool dafsd_verify_bytes(const struct dafs_fattr *a, const struct dafs_fattr *b, u64 which)
{
	const struct dafsd_verify_row *row;

	for (row = dafsd_verify_rows;
	     row < dafsd_verify_rows + ARRAY_SIZE(dafsd_verify_rows); row++)
		if ((which & row->bit) &&
		    memcmp((const u8 *)a + row->at, (const u8 *)b + row->at, row->size))
			return false;
	return true;
}

/* Owners are compared as numbers; a name matches no owner (E-117). */
static bool dafsd_verify_owner(const struct dafs_str *a, const struct dafs_str *b)
{
	u32 id_a, id_b;

	return dafsd_name_to_id(a, &id_a) && dafsd_name_to_id(b, &id_b) && id_a == id_b;
}

static bool dafsd_verify_str(const struct dafs_str *a, const struct dafs_str *b)
{
	return a->len == b->len && !(a->len && memcmp(a->data, b->data, a->len));
}

static bool dafsd_verify_same(const struct dafs_fattr *a, const struct dafs_fattr *b, u64 which)
{
	if (!dafsd_verify_bytes(a, b, which))
		return false;
	if ((which & DAFS_FATTR_MIME_TYPE) && !dafsd_verify_str(&a->mime_type, &b->mime_type))
		return false;
	if ((which & DAFS_FATTR_OWNER) && !dafsd_verify_owner(&a->owner, &b->owner))
		return false;
	return !(which & DAFS_FATTR_OWNER_GROUP) ||
	       dafsd_verify_owner(&a->owner_group, &b->owner_group);
}

/* Return: SAME or NOT_SAME, or the reason why the attributes cannot be compared. */
static dafs_status_t dafsd_verify_fh(struct dafsd_rqst *rq, struct dafsd_fh *fh)
{
	const struct dafs_fattr *attr = &rq->args.verify.obj_attributes;
	u64 which = attr->included & attr->valid;
	struct dafsd_verify *v;
	dafs_status_t status;

	if (which & DAFSD_FATTR_WRITE_ONLY)
		return DAFSERR_INVAL;
	v = kvzalloc(sizeof(*v), GFP_KERNEL);
	if (!v)
		return DAFSERR_RESOURCE;
	rq->scratch = v;
	status = dafsd_getattr_latest(rq, fh, which, &v->attr, &v->names);
	if (status)
		return status;
	if (which & ~v->attr.valid)
		return DAFSERR_NOTSUPP;
	return dafsd_verify_same(attr, &v->attr, which) ? DAFSERR_SAME : DAFSERR_NOT_SAME;
}

/* @good: the result, SAME or NOT_SAME, that is a success for the procedure. */
static dafs_status_t dafsd_verify(struct dafsd_rqst *rq, dafs_status_t good)
{
	dafs_status_t status = dafsd_fh_use(rq, &rq->args.verify.filehandle, dafsd_verify_fh);

	return status == good ? DAFS_STATUS_OK : status;
}

/**
 * dafsd_proc_nverify() - NVERIFY (6.5.23)
 * @rq: request
 *
 * Attributes that are included and not valid have no value to compare.  A client that may write
 * without the server is asked, as by GETATTR.
 *
 * Context: process context under the caller's credential; may sleep.
 * Return: DAFS status, SAME if all attributes have the values given.
 */
dafs_status_t dafsd_proc_nverify(struct dafsd_rqst *rq)
{
	return dafsd_verify(rq, DAFSERR_NOT_SAME);
}

/**
 * dafsd_proc_verify() - VERIFY (6.5.37)
 * @rq: request
 *
 * Context: process context under the caller's credential; may sleep.
 * Return: DAFS status, NOT_SAME if an attribute has another value.
 */
dafs_status_t dafsd_proc_verify(struct dafsd_rqst *rq)
{
	return dafsd_verify(rq, DAFSERR_SAME);
}
