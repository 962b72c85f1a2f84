// SPDX-License-Identifier: GPL-2.0
/*
 * File attributes (6.1.5) and file system attributes (6.1.6).
 *
 * An attribute structure begins with two bitmaps: the attributes that are included, and
 * those that are valid.  The attributes follow in the order of their numbers.  An attribute
 * that is included but not valid takes its space: zero when sent, ignored when received.
 */
#include <linux/bitops.h>
#include <linux/export.h>
#include "cursor.h"

static void dafs_x_ace(struct dafs_xdr *x, void *p)
{
	struct dafs_ace *ace = p;

	dafs_x_u32(x, &ace->type);
	dafs_x_u32(x, &ace->flag);
	dafs_x_u32(x, &ace->access_mask);
	dafs_x_str(x, &ace->who);
}

const struct dafs_elem_type dafs_elem_ace = {
	.filter = dafs_x_ace,
	.host = sizeof(struct dafs_ace),
	.wire = 16,
	.head = 4,
	.deep = true,
};

static void dafs_x_fs_location(struct dafs_xdr *x, void *p)
{
	struct dafs_fs_location *loc = p;

	dafs_x_str(x, &loc->server);
	dafs_x_path(x, &loc->root_path);
}

const struct dafs_elem_type dafs_elem_fs_location = {
	.filter = dafs_x_fs_location,
	.host = sizeof(struct dafs_fs_location),
	.wire = 8,
	.head = 4,
	.deep = true,
};

static void dafs_x_fs_locations(struct dafs_xdr *x, void *p)
{
	struct dafs_fs_locations *locs = p;

	dafs_x_path(x, &locs->fs_root);
	dafs_x_seq(x, &locs->locations, &dafs_elem_fs_location);
}

const struct dafs_elem_type dafs_elem_fs_locations = {
	.filter = dafs_x_fs_locations,
	.host = sizeof(struct dafs_fs_locations),
	.wire = 8,
	.head = 4,
	.deep = true,
};

/**
 * dafs_get_fs_locations() - where a part of a file system is
 * @buf: buffer that @seq was decoded from
 * @seq: the attribute FAILOVER_LOCATIONS
 * @i: index
 * @locs: filled
 *
 * Return: 0, or -ERANGE if there is no element @i.
 */
int dafs_get_fs_locations(const struct dafs_buf *buf, const struct dafs_seq *seq, u32 i,
			  struct dafs_fs_locations *locs)
{
	return dafs_x_element(buf, seq, i, &dafs_elem_fs_locations, locs);
}
EXPORT_SYMBOL_GPL(dafs_get_fs_locations);

/**
 * dafs_get_fs_location() - one of the servers that have it
 * @buf: buffer that @seq was decoded from
 * @seq: locations of a struct dafs_fs_locations
 * @i: index
 * @loc: filled; points into the buffer
 *
 * Return: 0, or -ERANGE if there is no element @i.
 */
int dafs_get_fs_location(const struct dafs_buf *buf, const struct dafs_seq *seq, u32 i,
			 struct dafs_fs_location *loc)
{
	return dafs_x_element(buf, seq, i, &dafs_elem_fs_location, loc);
}
EXPORT_SYMBOL_GPL(dafs_get_fs_location);

static void dafs_x_time(struct dafs_xdr *x, struct dafs_time *t)
{
	u8 *p = dafs_x_span(x, 8, 12);

	if (!p)
		return;
	if (x->encode) {
		dafs_put64(t->seconds, p, x->swab);
		dafs_put32(t->nseconds, p + 8, x->swab);
	} else {
		t->seconds = dafs_get64(p, x->swab);
		t->nseconds = dafs_get32(p + 8, x->swab);
	}
}

static void dafs_x_settime(struct dafs_xdr *x, struct dafs_settime *t)
{
	dafs_x_time(x, &t->client_time);
	dafs_x_align(x, 8);
	dafs_x_u32(x, &t->how);
}

/* Consecutive attributes of one size, so that the size of a structure takes few steps. */
struct dafs_attr_run {
	u64 mask;
	u32 size;
};

static const struct dafs_attr_run dafs_fattr_runs[] = {
	{ GENMASK_ULL(3, 0), 1 },	/* NAMED_ATTR to SYSTEM */
	{ GENMASK_ULL(6, 4), 4 },	/* OBJECT_TYPE to NUM_LINKS */
	{ GENMASK_ULL(10, 7), 8 },	/* CHANGE to SPACE_USED */
	{ DAFS_FATTR_TIME_ACCESS, 16 },
	{ DAFS_FATTR_TIME_ACCESS_SET, 24 },
	{ GENMASK_ULL(17, 13), 16 },	/* TIME_BACKUP to TIME_MODIFY */
	{ DAFS_FATTR_TIME_MODIFY_SET, 24 },
	{ DAFS_FATTR_RAW_DEV, 16 },
	{ DAFS_FATTR_FILEHANDLE, 64 },
	{ GENMASK_ULL(24, 21), 4 },	/* ACL to OWNER_GROUP */
	{}
};

/* Number 30 is not assigned (E-21). */
static const struct dafs_attr_run dafs_fsattr_runs[] = {
	{ GENMASK_ULL(8, 0), 1 },	/* LINK_SUPPORT to UNIQUE_HANDLE */
	{ GENMASK_ULL(13, 9), 4 },	/* LEASE_TIME to MAX_NAME */
	{ GENMASK_ULL(27, 14), 8 },	/* SUPPORTED_FATTR to SPACE_TOTAL */
	{ DAFS_FSATTR_FSHANDLE, 16 },
	{ DAFS_FSATTR_FAILOVER_LOCATIONS, 4 },
	{ GENMASK_ULL(32, 31), 8 },	/* MAX_APPEND PREF_IO_SIZE */
	{ DAFS_FSATTR_FH_EXPIRE_TYPE, 4 },
	{}
};

/* Bytes that an attribute takes; it is aligned to that, but to 8 at most. */
static u32 dafs_attr_size(const struct dafs_attr_run *run, u64 mask)
{
	while (!(run->mask & mask))
		run++;
	return run->size;
}

/* bytes of an attribute structure without the items it refers to */
static u32 dafs_attr_fixed(const struct dafs_attr_run *run, u64 included)
{
	u32 end = 2 * sizeof(u64);

	for (; run->mask; run++)
		if (included & run->mask)
			end = ALIGN(end, min(run->size, 8U)) +
			      hweight64(included & run->mask) * run->size;
	return ALIGN(end, 8);
}

/* common state of the attribute filters below */
struct dafs_attrs {
	const struct dafs_attr_run *runs;
	u64 included;
	u64 valid;
};

/*
 * Return: true if the attribute of @mask is to be processed.  If it is included but not
 * valid, its space is skipped.
 */
static __always_inline bool dafs_x_attr(struct dafs_xdr *x, const struct dafs_attrs *a, u64 mask)
{
	u32 size;

	if (!(a->included & mask))
		return false;
	if (a->valid & mask)
		return true;
	size = dafs_attr_size(a->runs, mask);
	dafs_x_skip(x, min(size, 8U), size);
	return false;
}

static void dafs_x_attr_bool(struct dafs_xdr *x, const struct dafs_attrs *a, u64 mask, u8 *v)
{
	if (dafs_x_attr(x, a, mask))
		dafs_x_bool8(x, v);
}

static void dafs_x_attr_u32(struct dafs_xdr *x, const struct dafs_attrs *a, u64 mask, u32 *v)
{
	if (dafs_x_attr(x, a, mask))
		dafs_x_u32(x, v);
}

static void dafs_x_attr_u64(struct dafs_xdr *x, const struct dafs_attrs *a, u64 mask, u64 *v)
{
	if (dafs_x_attr(x, a, mask))
		dafs_x_u64(x, v);
}

static void dafs_x_attr_time(struct dafs_xdr *x, const struct dafs_attrs *a, u64 mask,
			     struct dafs_time *t)
{
	if (dafs_x_attr(x, a, mask)) {
		dafs_x_time(x, t);
		dafs_x_align(x, 8);
	}
}

static void dafs_x_attr_settime(struct dafs_xdr *x, const struct dafs_attrs *a, u64 mask,
				struct dafs_settime *t)
{
	if (dafs_x_attr(x, a, mask)) {
		dafs_x_settime(x, t);
		dafs_x_align(x, 8);
	}
}

static void dafs_x_attr_str(struct dafs_xdr *x, const struct dafs_attrs *a, u64 mask,
			    struct dafs_str *str)
{
	if (dafs_x_attr(x, a, mask))
		dafs_x_str(x, str);
}

/* The bitmaps; unknown attributes have unknown sizes, so refuse them (E-20). */
static void dafs_x_bitmaps(struct dafs_xdr *x, struct dafs_attrs *a, u64 known)
{
	dafs_x_u64(x, &a->included);
	dafs_x_u64(x, &a->valid);
	/* not malformed, but the next attribute cannot be found (E-20) */
	if (a->included & ~known && !x->encode && !x->err)
		x->err = -EINVAL;
	a->included &= known;
	a->valid &= a->included;
}

/*
 * The beginning of an attribute structure at the cursor.  @a holds the bitmaps
 * to be sent, or is given those received.
 */
static void dafs_x_attrs_enter(struct dafs_xdr *x, struct dafs_outer *outer,
			       struct dafs_attrs *a, u64 known)
{
	u32 start = x->pos;
	u32 fixed, end;

	if (x->encode) {
		a->included &= known;
		a->valid &= a->included;
		fixed = dafs_attr_fixed(a->runs, a->included);
		dafs_x_item(x, fixed);
	}
	dafs_x_bitmaps(x, a, known);
	end = x->pos;
	x->pos = start;
	if (!x->encode) {
		fixed = dafs_attr_fixed(a->runs, a->included);
		dafs_x_item_short(x, fixed);
	}
	dafs_x_enter(x, outer, fixed);
	x->pos = end;
}

static void dafs_x_fattr_scalars(struct dafs_xdr *x, const struct dafs_attrs *a,
				 struct dafs_fattr *f)
{
	dafs_x_attr_bool(x, a, DAFS_FATTR_NAMED_ATTR, &f->named_attr);
	dafs_x_attr_bool(x, a, DAFS_FATTR_ARCHIVE, &f->archive);
	dafs_x_attr_bool(x, a, DAFS_FATTR_HIDDEN, &f->hidden);
	dafs_x_attr_bool(x, a, DAFS_FATTR_SYSTEM, &f->system);
	dafs_x_attr_u32(x, a, DAFS_FATTR_OBJECT_TYPE, &f->object_type);
	dafs_x_attr_u32(x, a, DAFS_FATTR_MODE, &f->mode);
	dafs_x_attr_u32(x, a, DAFS_FATTR_NUM_LINKS, &f->num_links);
	dafs_x_attr_u64(x, a, DAFS_FATTR_CHANGE, &f->change);
	dafs_x_attr_u64(x, a, DAFS_FATTR_OBJECT_SIZE, &f->object_size);
	dafs_x_attr_u64(x, a, DAFS_FATTR_FILE_ID, &f->file_id);
	dafs_x_attr_u64(x, a, DAFS_FATTR_SPACE_USED, &f->space_used);
}

static void dafs_x_fattr_times(struct dafs_xdr *x, const struct dafs_attrs *a,
			       struct dafs_fattr *f)
{
	dafs_x_attr_time(x, a, DAFS_FATTR_TIME_ACCESS, &f->time_access);
	dafs_x_attr_settime(x, a, DAFS_FATTR_TIME_ACCESS_SET, &f->time_access_set);
	dafs_x_attr_time(x, a, DAFS_FATTR_TIME_BACKUP, &f->time_backup);
	dafs_x_attr_time(x, a, DAFS_FATTR_TIME_CREATE, &f->time_create);
	dafs_x_attr_time(x, a, DAFS_FATTR_TIME_DELTA, &f->time_delta);
	dafs_x_attr_time(x, a, DAFS_FATTR_TIME_METADATA, &f->time_metadata);
	dafs_x_attr_time(x, a, DAFS_FATTR_TIME_MODIFY, &f->time_modify);
	dafs_x_attr_settime(x, a, DAFS_FATTR_TIME_MODIFY_SET, &f->time_modify_set);
}

static void dafs_x_fattr_rest(struct dafs_xdr *x, const struct dafs_attrs *a,
			      struct dafs_fattr *f)
{
	if (dafs_x_attr(x, a, DAFS_FATTR_RAW_DEV))
		dafs_x_specdata(x, &f->raw_dev);
	if (dafs_x_attr(x, a, DAFS_FATTR_FILEHANDLE))
		dafs_x_fh(x, &f->filehandle);
	if (dafs_x_attr(x, a, DAFS_FATTR_ACL))
		dafs_x_seq(x, &f->acl, &dafs_elem_ace);
	dafs_x_attr_str(x, a, DAFS_FATTR_MIME_TYPE, &f->mime_type);
	dafs_x_attr_str(x, a, DAFS_FATTR_OWNER, &f->owner);
	dafs_x_attr_str(x, a, DAFS_FATTR_OWNER_GROUP, &f->owner_group);
}

/**
 * dafs_x_fattr_here() - dafs_file_attr_type at the cursor, 6.1.5
 * @x: cursor
 * @attr: the attributes
 */
void dafs_x_fattr_here(struct dafs_xdr *x, struct dafs_fattr *attr)
{
	struct dafs_attrs a = { dafs_fattr_runs, attr->included, attr->valid };
	struct dafs_outer outer;

	dafs_x_attrs_enter(x, &outer, &a, DAFS_FATTR_ALL);
	if (!x->encode) {
		attr->included = a.included;
		attr->valid = a.valid;
	}
	dafs_x_fattr_scalars(x, &a, attr);
	dafs_x_fattr_times(x, &a, attr);
	dafs_x_fattr_rest(x, &a, attr);
	dafs_x_leave(x, &outer);
}

/**
 * dafs_x_fattr() - dafs_file_attr_type behind an offset (E-06)
 * @x: cursor, at the offset field
 * @attr: the attributes
 */
void dafs_x_fattr(struct dafs_xdr *x, struct dafs_fattr *attr)
{
	u32 resume;

	if (dafs_x_follow(x, &resume))
		dafs_x_fattr_here(x, attr);
	x->pos = resume;
}

static void dafs_x_fsattr_nature(struct dafs_xdr *x, const struct dafs_attrs *a,
				 struct dafs_fsattr *f)
{
	dafs_x_attr_bool(x, a, DAFS_FSATTR_LINK_SUPPORT, &f->link_support);
	dafs_x_attr_bool(x, a, DAFS_FSATTR_SYMLINK_SUPPORT, &f->symlink_support);
	dafs_x_attr_bool(x, a, DAFS_FSATTR_CAN_SET_TIME, &f->can_set_time);
	dafs_x_attr_bool(x, a, DAFS_FSATTR_CASE_INSENSITIVE, &f->case_insensitive);
	dafs_x_attr_bool(x, a, DAFS_FSATTR_CASE_PRESERVING, &f->case_preserving);
	dafs_x_attr_bool(x, a, DAFS_FSATTR_CHOWN_RESTRICTED, &f->chown_restricted);
	dafs_x_attr_bool(x, a, DAFS_FSATTR_HOMOGENEOUS, &f->homogeneous);
	dafs_x_attr_bool(x, a, DAFS_FSATTR_NO_TRUNC, &f->no_trunc);
	dafs_x_attr_bool(x, a, DAFS_FSATTR_UNIQUE_HANDLE, &f->unique_handle);
	dafs_x_attr_u32(x, a, DAFS_FSATTR_LEASE_TIME, &f->lease_time);
	dafs_x_attr_u32(x, a, DAFS_FSATTR_RD_ATTR_ERROR, &f->rd_attr_error);
	dafs_x_attr_u32(x, a, DAFS_FSATTR_ACL_SUPPORT, &f->acl_support);
	dafs_x_attr_u32(x, a, DAFS_FSATTR_MAX_LINK, &f->max_link);
	dafs_x_attr_u32(x, a, DAFS_FSATTR_MAX_NAME, &f->max_name);
	dafs_x_attr_u64(x, a, DAFS_FSATTR_SUPPORTED_FATTR, &f->supported_fattr);
	dafs_x_attr_u64(x, a, DAFS_FSATTR_SUPPORTED_FSATTR, &f->supported_fsattr);
}

static void dafs_x_fsattr_space(struct dafs_xdr *x, const struct dafs_attrs *a,
				struct dafs_fsattr *f)
{
	dafs_x_attr_u64(x, a, DAFS_FSATTR_FILES_AVAILABLE, &f->files_available);
	dafs_x_attr_u64(x, a, DAFS_FSATTR_FILES_FREE, &f->files_free);
	dafs_x_attr_u64(x, a, DAFS_FSATTR_FILES_TOTAL, &f->files_total);
	dafs_x_attr_u64(x, a, DAFS_FSATTR_MAX_FILE_SIZE, &f->max_file_size);
	dafs_x_attr_u64(x, a, DAFS_FSATTR_MAX_READ, &f->max_read);
	dafs_x_attr_u64(x, a, DAFS_FSATTR_MAX_WRITE, &f->max_write);
	dafs_x_attr_u64(x, a, DAFS_FSATTR_QUOTA_HARD, &f->quota_hard);
	dafs_x_attr_u64(x, a, DAFS_FSATTR_QUOTA_SOFT, &f->quota_soft);
	dafs_x_attr_u64(x, a, DAFS_FSATTR_QUOTA_USED, &f->quota_used);
	dafs_x_attr_u64(x, a, DAFS_FSATTR_SPACE_AVAILABLE, &f->space_available);
	dafs_x_attr_u64(x, a, DAFS_FSATTR_SPACE_FREE, &f->space_free);
	dafs_x_attr_u64(x, a, DAFS_FSATTR_SPACE_TOTAL, &f->space_total);
}

static void dafs_x_fsattr_rest(struct dafs_xdr *x, const struct dafs_attrs *a,
			       struct dafs_fsattr *f)
{
	if (dafs_x_attr(x, a, DAFS_FSATTR_FSHANDLE))
		dafs_x_opaque(x, f->fshandle, 8, sizeof(f->fshandle));
	if (dafs_x_attr(x, a, DAFS_FSATTR_FAILOVER_LOCATIONS))
		dafs_x_seq(x, &f->failover_locations, &dafs_elem_fs_locations);
	dafs_x_attr_u64(x, a, DAFS_FSATTR_MAX_APPEND, &f->max_append);
	dafs_x_attr_u64(x, a, DAFS_FSATTR_PREF_IO_SIZE, &f->pref_io_size);
	dafs_x_attr_u32(x, a, DAFS_FSATTR_FH_EXPIRE_TYPE, &f->fh_expire_type);
}

static void dafs_x_fsattr_here(struct dafs_xdr *x, struct dafs_fsattr *attr)
{
	struct dafs_attrs a = { dafs_fsattr_runs, attr->included, attr->valid };
	struct dafs_outer outer;

	dafs_x_attrs_enter(x, &outer, &a, DAFS_FSATTR_ALL);
	if (!x->encode) {
		attr->included = a.included;
		attr->valid = a.valid;
	}
	dafs_x_fsattr_nature(x, &a, attr);
	dafs_x_fsattr_space(x, &a, attr);
	dafs_x_fsattr_rest(x, &a, attr);
	dafs_x_leave(x, &outer);
}

/**
 * dafs_x_fsattr() - dafs_filesys_attr_type behind an offset, 6.1.6
 * @x: cursor, at the offset field
 * @attr: the attributes
 */
void dafs_x_fsattr(struct dafs_xdr *x, struct dafs_fsattr *attr)
{
	u32 resume;

	if (dafs_x_follow(x, &resume))
		dafs_x_fsattr_here(x, attr);
	x->pos = resume;
}

static void dafs_x_direntry(struct dafs_xdr *x, void *p)
{
	struct dafs_direntry *entry = p;

	dafs_x_u64(x, &entry->cookie);
	dafs_x_fattr(x, &entry->attrs);
	dafs_x_str(x, &entry->name);
}

/* Not checked with the array: there are many entries, and each is decoded only once. */
const struct dafs_elem_type dafs_elem_direntry = {
	.filter = dafs_x_direntry,
	.host = sizeof(struct dafs_direntry),
	.wire = 16,
	.head = 8,
};

/* bytes of a string on the heap, with the pad that an item behind it needs */
static u32 dafs_str_size(const struct dafs_str *str)
{
	return ALIGN(sizeof(u32) + str->len, 8);
}

static u32 dafs_acl_size(const struct dafs_seq *acl)
{
	const struct dafs_ace *ace = acl->elems;
	u32 size = ALIGN(dafs_elem_ace.head + acl->count * dafs_elem_ace.wire, 8);
	u32 i;

	for (i = 0; i < acl->count; i++)
		size += dafs_str_size(&ace[i].who);
	return size;
}

/**
 * dafs_fattr_size() - space that attributes take in a message (6.1.5)
 * @attr: attributes to be encoded
 *
 * Return: bytes, a multiple of 8, with everything they refer to.
 */
u32 dafs_fattr_size(const struct dafs_fattr *attr)
{
	u64 included = attr->included & DAFS_FATTR_ALL;
	u64 heap = included & attr->valid;
	u32 size = dafs_attr_fixed(dafs_fattr_runs, included);

	if (heap & DAFS_FATTR_ACL)
		size += dafs_acl_size(&attr->acl);
	if (heap & DAFS_FATTR_MIME_TYPE)
		size += dafs_str_size(&attr->mime_type);
	if (heap & DAFS_FATTR_OWNER)
		size += dafs_str_size(&attr->owner);
	if (heap & DAFS_FATTR_OWNER_GROUP)
		size += dafs_str_size(&attr->owner_group);
	return size;
}
EXPORT_SYMBOL_GPL(dafs_fattr_size);

/**
 * dafs_direntry_size() - space that one more entry takes (6.5.29)
 * @entry: entry to be encoded
 *
 * An array of entries takes 8 bytes and this for each entry, less the pad of
 * up to 7 bytes behind the last name.
 *
 * Return: bytes, a multiple of 8.
 */
u32 dafs_direntry_size(const struct dafs_direntry *entry)
{
	return dafs_elem_direntry.wire + dafs_fattr_size(&entry->attrs) +
	       dafs_str_size(&entry->name);
}
EXPORT_SYMBOL_GPL(dafs_direntry_size);

/**
 * dafs_direntry_start() - begin to walk the entries of a READDIR
 * @buf: buffer that @entries was decoded from
 * @entries: decoded array
 * @iter: set to its first entry
 */
void dafs_direntry_start(const struct dafs_buf *buf, const struct dafs_seq *entries,
			 struct dafs_direntry_iter *iter)
{
	u32 size = dafs_elem_direntry.head + entries->count * dafs_elem_direntry.wire;

	*iter = (struct dafs_direntry_iter) {
		.scope = entries->scope,
		.first = entries->scope + size,
		.next = entries->scope + dafs_elem_direntry.head,
		.left = entries->count,
		.heap = entries->scope + size,
		.budget = (u64)buf->len * DAFS_DECODE_WORK - size,
	};
}
EXPORT_SYMBOL_GPL(dafs_direntry_start);

/**
 * dafs_direntry_next() - decode the next entry of a READDIR
 * @buf: buffer that the entries were decoded from
 * @iter: from dafs_direntry_start()
 * @entry: filled; refers to @buf
 *
 * Return: 1; 0 when there are no more; -EBADMSG if the entry is malformed, or
 * -EINVAL if it has attributes that this version does not know (E-20): then the entries
 * behind it cannot be decoded.
 */
int dafs_direntry_next(const struct dafs_buf *buf, struct dafs_direntry_iter *iter,
		       struct dafs_direntry *entry)
{
	struct dafs_xdr x;

	if (!iter->left)
		return 0;
	if (dafs_x_init(&x, buf, false, iter->scope))
		return x.err;
	memset(entry, 0, sizeof(*entry));
	x.pos = iter->next;
	x.first = iter->first;
	x.heap = iter->heap;
	x.budget = iter->budget;
	dafs_x_direntry(&x, entry);
	iter->next = x.pos;
	iter->heap = x.heap;
	iter->budget = x.budget;
	iter->left = x.err ? 0 : iter->left - 1;
	return x.err ?: 1;
}
EXPORT_SYMBOL_GPL(dafs_direntry_next);
