// SPDX-License-Identifier: GPL-2.0
/*
 * READDIR_INLINE (6.5.29) and READDIR_DIRECT (6.5.30).
 *
 * The names are read from the file system into a page of raw entries, because no name
 * may be looked up while the directory is being read.  Then the attributes of each entry
 * are added, its size is calculated, and it is kept if it still fits.  The next entry is
 * always fetched before the reply is complete, so that eof is exact.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/namei.h>
#include <linux/slab.h>
#include <linux/dafs/status.h>
#include "../session/session.h"
#include "../export/export.h"
#include "../request/io.h"
#include "../request/request.h"
#include "../vfs/fh.h"
#include "../vfs/vfs.h"
#include "proc.h"

/*
 * A cookie is the position behind its entry, unchanged: file systems use all 63 bits, up
 * to the last value.  6.5.29 reserves the cookies 0, 1 and 2, so these positions are
 * mapped to values that neither a hash of a name nor a count of entries reaches.
 */
#define DAFSD_FIRST_COOKIE	3
#define DAFSD_SMALL_COOKIES	0x7ffffffffffffff0ULL

static u64 dafsd_cookie(loff_t pos)
{
	return pos < DAFSD_FIRST_COOKIE ? DAFSD_SMALL_COOKIES + pos : pos;
}

static loff_t dafsd_cookie_pos(u64 cookie)
{
	if (cookie >= DAFSD_SMALL_COOKIES && cookie < DAFSD_SMALL_COOKIES + DAFSD_FIRST_COOKIE)
		return cookie - DAFSD_SMALL_COOKIES;
	return cookie;
}

/* Bytes of the results before the first entry: in a message, and in the client's buffers */
#define DAFSD_READDIR_FIXED	(16 + 8)
#define DAFSD_READDIR_HEAD	8

/**
 * struct dafsd_raw - an entry as read from the file system
 * @pos: its position
 * @len: bytes of @name
 * @name: not terminated
 */
struct dafsd_raw {
	loff_t pos;
	u32 len;
	char name[];
};

/**
 * struct dafsd_readdir - a READDIR in progress
 * @ctx: for iterate_dir()
 * @rq: request
 * @fh: directory
 * @filp: the same, opened; NULL for a pseudo directory
 * @raw: a page of raw entries
 * @used: bytes in @raw
 * @at: offset of the next entry in @raw
 * @end: position behind the last entry in @raw
 * @full: @raw had no room for another entry
 * @next: pseudo directory: number of the next export
 * @wanted: attributes
 * @limit: upper limit of the size of the results in bytes
 * @size: bytes of the results so far
 * @dirbytes: bytes that count for dircount
 * @count: entries kept
 * @max: room in @entries and @names
 * @entries: entries
 * @names: strings of their attributes, @names_size bytes for each
 * @names_size: without a MIME type if none is wanted
 * @text: their names
 * @text_left: bytes left there
 */
struct dafsd_readdir {
	struct dir_context ctx;
	struct dafsd_rqst *rq;
	struct dafsd_fh fh;
	struct file *filp;
	u8 *raw;
	size_t used;
	size_t at;
	loff_t end;
	bool full;
	u64 next;
	u64 wanted;
	u32 limit;
	u32 size;
	u64 dirbytes;
	u32 count;
	u32 max;
	struct dafs_direntry *entries;
	void *names;
	size_t names_size;
	u8 *text;
	u32 text_left;
};

static bool dafsd_filldir(struct dir_context *ctx, const char *name, int len, loff_t pos,
			  u64 ino, unsigned int type)
{
	struct dafsd_readdir *rd = container_of(ctx, struct dafsd_readdir, ctx);
	size_t size = ALIGN(sizeof(struct dafsd_raw) + len, sizeof(u64));
	struct dafsd_raw *raw = (struct dafsd_raw *)(rd->raw + rd->used);

	if (rd->used + size > PAGE_SIZE) {
		rd->full = true;
		return false;
	}
	raw->pos = pos;
	raw->len = len;
	memcpy(raw->name, name, len);
	rd->used += size;
	return true;
}

static int dafsd_readdir_fill(struct dafsd_readdir *rd)
{
	int err;

	rd->at = 0;
	rd->used = 0;
	rd->full = false;
	err = iterate_dir(rd->filp, &rd->ctx);
	if (err < 0 && !rd->full)
		return err;
	rd->end = vfs_llseek(rd->filp, 0, SEEK_CUR);
	return rd->end < 0 ? rd->end : 0;
}

static u64 dafsd_readdir_cookie(const struct dafsd_readdir *rd)
{
	const struct dafsd_raw *raw = (const struct dafsd_raw *)(rd->raw + rd->at);
	loff_t pos = rd->at < rd->used ? raw->pos : rd->end;

	return dafsd_cookie(pos);
}

/* The next entry, without "." and ".."; an empty name at the end of the directory. */
static dafs_status_t dafsd_readdir_next(struct dafsd_readdir *rd, struct dafs_direntry *entry)
{
	const struct dafsd_raw *raw;
	int err;

	do {
		entry->name.len = 0;
		if (rd->at == rd->used) {
			err = dafsd_readdir_fill(rd);
			if (err)
				return dafs_errno_to_status(err);
			if (!rd->used)
				return DAFS_STATUS_OK;
		}
		raw = (const struct dafsd_raw *)(rd->raw + rd->at);
		rd->at += ALIGN(sizeof(*raw) + raw->len, sizeof(u64));
		entry->name.data = raw->name;
		entry->name.len = raw->len;
		entry->cookie = dafsd_readdir_cookie(rd);
	} while (dafsd_name_is_dots(&entry->name));
	return DAFS_STATUS_OK;
}

/* Room for the strings of the current entry */
static struct dafsd_fattr_names *dafsd_readdir_names(const struct dafsd_readdir *rd)
{
	return rd->names + rd->count * rd->names_size;
}

/*
 * If the attributes of an entry cannot be read, the entry is returned without them (E-21);
 * if the entry has just been removed, it is not returned.
 */
static dafs_status_t dafsd_readdir_attrs(struct dafsd_readdir *rd, struct dafs_direntry *entry)
{
	struct dafsd_fh fh = { .exp = rd->fh.exp };
	dafs_status_t status;

	memset(&entry->attrs, 0, sizeof(entry->attrs));
	entry->attrs.included = rd->wanted;
	if (!rd->wanted)
		return DAFS_STATUS_OK;
	fh.dentry = lookup_one_positive_unlocked(&nop_mnt_idmap, (const char *)entry->name.data,
						 rd->fh.dentry, entry->name.len);
	if (fh.dentry == ERR_PTR(-ENOENT))
		return DAFSERR_NOENT;
	if (IS_ERR(fh.dentry))
		return DAFS_STATUS_OK;
	kref_get(&fh.exp->ref);
	status = dafsd_fh_cross(NULL, &fh);
	if (!status && fh.exp == rd->fh.exp)
		dafsd_fattr_get(&fh, rd->wanted, &entry->attrs, dafsd_readdir_names(rd));
	else if (!status)
		dafsd_fattr_peek(&fh, rd->wanted, &entry->attrs, dafsd_readdir_names(rd));
	dafsd_fh_put(&fh);
	return DAFS_STATUS_OK;
}

/* Does @entry, of @size bytes, fit?  The padding behind the last name is not sent. */
static bool dafsd_readdir_fits(const struct dafsd_readdir *rd, const struct dafs_direntry *entry,
			       u32 size)
{
	u32 pad = round_up(sizeof(u32) + entry->name.len, 8) - sizeof(u32) - entry->name.len;
	u32 dircount = rd->rq->args.readdir.dircount;

	if (rd->count && dircount &&
	    rd->dirbytes + sizeof(u64) + sizeof(u32) + entry->name.len > dircount)
		return false;
	return rd->count < rd->max && entry->name.len <= rd->text_left &&
	       rd->size + size - pad <= rd->limit;
}

/*
 * Takes @entry if it fits.  The raw page is filled again before the reply is
 * encoded, so its name is copied.
 */
static bool dafsd_readdir_keep(struct dafsd_readdir *rd, struct dafs_direntry *entry)
{
	u32 size = dafs_direntry_size(entry);

	if (!dafsd_readdir_fits(rd, entry, size))
		return false;
	memcpy(rd->text, entry->name.data, entry->name.len);
	entry->name.data = rd->text;
	rd->text += entry->name.len;
	rd->text_left -= entry->name.len;
	rd->size += size;
	rd->dirbytes += sizeof(u64) + sizeof(u32) + entry->name.len;
	rd->count++;
	return true;
}

/* Nothing fits: the client asked for too little, or the session allows too little. */
static dafs_status_t dafsd_readdir_no_room(const struct dafsd_readdir *rd)
{
	u32 maxcount = rd->rq->args.readdir.maxcount;

	return maxcount && maxcount == rd->limit ? DAFSERR_READDIR_NOSPC : DAFSERR_TOOSMALL;
}

static dafs_status_t dafsd_readdir_entries(struct dafsd_readdir *rd, bool *eof)
{
	struct dafs_direntry *entry;
	dafs_status_t status;

	for (;;) {
		entry = &rd->entries[rd->count];
		status = dafsd_readdir_next(rd, entry);
		if (status || !entry->name.len)
			break;
		if (dafsd_readdir_attrs(rd, entry) == DAFSERR_NOENT)
			continue;
		if (!dafsd_readdir_keep(rd, entry))
			return rd->count ? DAFS_STATUS_OK : dafsd_readdir_no_room(rd);
	}
	*eof = !status;
	/* return the entries before the error; the client's next request finds the error */
	return rd->count ? DAFS_STATUS_OK : status;
}

/*
 * Several exports may lead to the same entry: it is returned with the first of them.
 * Return: false if @exp is not in this directory or not the first.
 */
static bool dafsd_readdir_pseudo_name(const struct dafsd_readdir *rd,
				      const struct dafsd_export *exp, struct dafs_str *name)
{
	const struct dafs_str path = dafsd_pseudo_path(&rd->fh);
	const char *rest = dafsd_export_rest(exp, &path);

	if (!rest)
		return false;
	name->data = (const u8 *)rest;
	name->len = strcspn(rest, "/");
	return dafsd_export_is_first(exp, &path, name->len);
}

/* Return: OK; NOENT if @exp makes no entry; TOOSMALL if there is no room; RESOURCE. */
static dafs_status_t dafsd_readdir_pseudo_entry(struct dafsd_readdir *rd,
						const struct dafsd_export *exp)
{
	struct dafs_direntry *entry = &rd->entries[rd->count];
	struct dafsd_fh fh = rd->fh;
	dafs_status_t status;

	if (!dafsd_readdir_pseudo_name(rd, exp, &entry->name))
		return DAFSERR_NOENT;
	if (fh.below)
		kref_get(&fh.below->ref);
	entry->cookie = dafsd_cookie(exp->number + 1);
	status = dafsd_pseudo_lookup(NULL, &fh, &entry->name);
	if (!status) {
		dafsd_fattr_peek(&fh, rd->wanted, &entry->attrs, dafsd_readdir_names(rd));
		if (!dafsd_readdir_keep(rd, entry))
			status = DAFSERR_TOOSMALL;
	}
	dafsd_fh_put(&fh);
	return status;
}

static dafs_status_t dafsd_readdir_pseudo(struct dafsd_readdir *rd, bool *eof)
{
	struct dafsd_export *exp;
	dafs_status_t status;

	while ((exp = dafsd_export_nth(rd->next))) {
		rd->next = exp->number + 1;
		status = dafsd_readdir_pseudo_entry(rd, exp);
		dafsd_export_put(exp);
		if (status == DAFSERR_TOOSMALL)
			return rd->count ? DAFS_STATUS_OK : dafsd_readdir_no_room(rd);
		if (status == DAFSERR_RESOURCE)
			return status;
	}
	*eof = true;
	return DAFS_STATUS_OK;
}

static dafs_status_t dafsd_readdir_open(struct dafsd_readdir *rd, u64 cookie)
{
	loff_t pos = dafsd_cookie_pos(cookie);
	struct path path = dafsd_fh_path(&rd->fh);
	int err;

	err = inode_permission(&nop_mnt_idmap, dafsd_fh_inode(&rd->fh), MAY_READ);
	if (err)
		return dafs_errno_to_status(err);
	rd->filp = dentry_open(&path, O_RDONLY | O_DIRECTORY | O_LARGEFILE, current_cred());
	if (IS_ERR(rd->filp)) {
		err = PTR_ERR(rd->filp);
		rd->filp = NULL;
		return dafs_errno_to_status(err);
	}
	/* 64-bit positions, whatever the ABI of the current task is */
	rd->filp->f_mode |= FMODE_64BITHASH;
	return vfs_llseek(rd->filp, pos, SEEK_SET) < 0 ? DAFSERR_BAD_COOKIE : DAFS_STATUS_OK;
}

/*
 * Allocate room for as many entries as the limit or the memory allows, for one more that
 * may turn out not to fit, for their strings, and for a page of raw entries.
 */
static dafs_status_t dafsd_readdir_alloc(struct dafsd_readdir *rd)
{
	struct dafs_direntry least = {
		.attrs.included = rd->wanted,
		.name.len = 1,
	};
	size_t head = PAGE_SIZE + rd->limit;
	size_t each;

	rd->names_size = rd->wanted & DAFS_FATTR_MIME_TYPE ?
			 sizeof(struct dafsd_fattr_names) :
			 offsetof(struct dafsd_fattr_names, mime_type);
	each = sizeof(*rd->entries) + rd->names_size;
	rd->max = min(rd->limit / dafs_direntry_size(&least) + 1,
		      (u32)((DAFSD_AREA_MAX - head) / each) - 1);
	rd->raw = dafsd_area_alloc(head + (rd->max + 1) * each);
	if (!rd->raw)
		return DAFSERR_RESOURCE;
	rd->rq->area = rd->raw;
	rd->entries = (struct dafs_direntry *)(rd->raw + PAGE_SIZE);
	rd->names = rd->entries + rd->max + 1;
	rd->text = rd->names + (rd->max + 1) * rd->names_size;
	rd->text_left = rd->limit;
	return DAFS_STATUS_OK;
}

/* @size: bytes before the first entry, @room: bytes for all of the results */
static void dafsd_readdir_init(struct dafsd_readdir *rd, struct dafsd_rqst *rq, u32 size,
			       u32 room)
{
	struct dafs_readdir_args *args = &rq->args.readdir;

	memset(rd, 0, sizeof(*rd));
	rd->ctx.actor = dafsd_filldir;
	rd->rq = rq;
	rd->wanted = args->attr_request_bitmap & DAFS_FATTR_ALL;
	rd->size = size;
	rd->limit = min(room, DAFSD_META_MAX);
	if (args->maxcount)
		rd->limit = min(rd->limit, args->maxcount);
}

static dafs_status_t dafsd_readdir(struct dafsd_readdir *rd, u64 cookie, bool *eof)
{
	dafs_status_t status;

	if (cookie && cookie < DAFSD_FIRST_COOKIE)
		return DAFSERR_BAD_COOKIE;
	status = dafsd_readdir_alloc(rd);
	if (status)
		return status;
	if (dafsd_fh_is_pseudo(&rd->fh)) {
		rd->next = dafsd_cookie_pos(cookie);
		return dafsd_readdir_pseudo(rd, eof);
	}
	status = dafsd_readdir_open(rd, cookie);
	return status ?: dafsd_readdir_entries(rd, eof);
}

/* The entries of the directory that the request names; rd->entries holds them. */
static dafs_status_t dafsd_readdir_run(struct dafsd_readdir *rd, bool *eof)
{
	struct dafs_readdir_args *args = &rd->rq->args.readdir;
	dafs_status_t status;

	*eof = false;
	status = dafsd_fh_get_dir(rd->rq, &args->filehandle, &rd->fh);
	if (!status)
		status = dafsd_readdir(rd, args->cookie, eof);
	if (rd->filp)
		__fput_sync(rd->filp);
	dafsd_fh_put(&rd->fh);
	return status;
}

static u32 dafsd_readdir_inline_room(const struct dafsd_rqst *rq)
{
	return min(rq->base.out.len, rq->ses->opts.max_response_size) - DAFS_HDR_SIZE;
}

/**
 * dafsd_proc_readdir_inline() - READDIR_INLINE (6.5.29, E-27)
 * @rq: request
 *
 * Cookies do not expire, so their verifier is zero and not checked.
 *
 * Context: process context under the caller's credential; may sleep.
 * Return: DAFS status.
 */
dafs_status_t dafsd_proc_readdir_inline(struct dafsd_rqst *rq)
{
	struct dafs_readdir_inline_res *res = &rq->res.readdir_inline;
	struct dafsd_readdir rd;
	dafs_status_t status;
	bool eof;

	dafsd_readdir_init(&rd, rq, DAFSD_READDIR_FIXED, dafsd_readdir_inline_room(rq));
	status = dafsd_readdir_run(&rd, &eof);
	res->eof = eof;
	res->entries.count = rd.count;
	res->entries.elems = rd.entries;
	return status;
}

static dafs_status_t dafsd_readdir_push(struct dafsd_readdir *rd)
{
	struct dafs_readdir_direct_res *res = &rd->rq->res.readdir_direct;
	struct dafs_seq entries = { .count = rd->count, .elems = rd->entries };
	struct dafs_buf buf;
	dafs_status_t status;

	status = dafsd_meta_begin(rd->rq, &buf, rd->limit);
	if (status)
		return status;
	return dafsd_meta_push(rd->rq, &rd->rq->args.readdir.readdir_data_buffers, &buf,
			       dafs_encode_direntries(&buf, &entries), &res->direct_checksum);
}

/**
 * dafsd_proc_readdir_direct() - READDIR_DIRECT (6.5.30, E-27)
 * @rq: request; the entries leave ahead of the response
 *
 * Context: process context under the caller's credential; may sleep.
 * Return: DAFS status.
 */
dafs_status_t dafsd_proc_readdir_direct(struct dafsd_rqst *rq)
{
	struct dafsd_readdir rd;
	dafs_status_t status;
	u64 room;
	bool eof;

	status = dafsd_io_room(rq, &rq->args.readdir.readdir_data_buffers, &room);
	if (status)
		return status;
	dafsd_readdir_init(&rd, rq, DAFSD_READDIR_HEAD, min_t(u64, room, DAFSD_META_MAX));
	status = dafsd_readdir_run(&rd, &eof);
	rq->res.readdir_direct.eof = eof;
	return status ?: dafsd_readdir_push(&rd);
}
