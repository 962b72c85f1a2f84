// SPDX-License-Identifier: GPL-2.0
/*
 * What became of requests that were being executed when the server crashed (5.2.4): the note that
 * the draft makes there.  It is found in the file system, before any client uses that: see
 * intent.c for why nothing but the request itself can have made what is found.
 *
 * An append is in the file if its bytes are.  Appends of several clients may be under way in one
 * file, each behind the other, so one is not there if one before it is not; then the file is
 * truncated to where that began.
 */
#include <linux/crc32c.h>
#include <linux/exportfs.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/slab.h>
#include "../export/export.h"
#include "../export/handle.h"
#include "../session/client.h"
#include "../session/respcache.h"
#include "../session/server.h"
#include "../store/store.h"
#include "../data/data.h"
#include "../vfs/fh.h"
#include "../vfs/vfs.h"
#include "intent_impl.h"

/* Bytes of the largest response that is made up, with its header */
#define DAFSD_SETTLED_MOST	512

/**
 * struct dafsd_settling - an export whose requests are being settled
 * @exp: the export
 * @cache: of the request that is looked at now
 * @response: that request
 * @witness: its witness
 * @file: of an append: the file, or NULL
 * @good: of an append: no other one before it is missing
 * @most: of an append: how far they all reach
 */
struct dafsd_settling {
	struct dafsd_export *exp;
	struct dafsd_respcache *cache;
	struct dafsd_response *response;
	const struct dafsd_witness *witness;
	struct file *file;
	bool good;
	loff_t most;
};

static int dafsd_settle_any(void *context, struct dentry *dentry)
{
	return true;
}

/* Return: an object with a reference, or NULL if it does not exist. */
static struct dentry *dafsd_settle_find(const struct dafsd_export *exp,
					const struct dafsd_persist_file *at)
{
	struct dentry *dentry;

	dentry = exportfs_decode_fh_raw(exp->path.mnt, (struct fid *)at->fid, at->words, at->type,
					0, dafsd_settle_any, NULL);
	return IS_ERR(dentry) ? NULL : dentry;
}

/* What a name stands for, with a reference; NULL if for nothing, or it cannot be found. */
static struct dentry *dafsd_settle_name(struct dentry *dir, const u8 *name, u32 len)
{
	struct dentry *dentry;

	if (!dir || !d_is_dir(dir))
		return NULL;
	dentry = lookup_one_unlocked(&nop_mnt_idmap, (const char *)name, dir, len);
	if (IS_ERR(dentry))
		return NULL;
	if (d_really_is_positive(dentry))
		return dentry;
	dput(dentry);
	return NULL;
}

static bool dafsd_settle_is(struct dentry *dentry, const struct dafsd_persist_file *object)
{
	struct dafsd_persist_file is;

	return dentry && dafsd_persist_identify(d_inode(dentry), &is) &&
	       !memcmp(&is, object, sizeof(is));
}

/* Was a change of names executed?  @there: what the (first) name stands for now, or NULL */
static bool dafsd_settle_changed(const struct dafsd_settling *s, struct dentry *there)
{
	switch (s->response->proc) {
	case DAFS_PROC_CREATE:
		return there;
	case DAFS_PROC_LINK:
		return dafsd_settle_is(there, &s->witness->object);
	default:
		return !dafsd_settle_is(there, &s->witness->object);
	}
}

/* Nobody knows the change attribute from before. */
static void dafsd_settle_change(const struct dafsd_settling *s, struct dentry *dir,
				struct dafs_change_info *info)
{
	const struct dafsd_fh fh = { .exp = s->exp, .dentry = dir };

	*info = (struct dafs_change_info){};
	if (!dir)
		return;
	dafsd_change_after(&fh, info);
	info->atomic = false;
}

static void dafsd_settle_results(const struct dafsd_settling *s, struct dentry *dir,
				 struct dentry *there, union dafs_res *res)
{
	struct dentry *to;

	switch (s->response->proc) {
	case DAFS_PROC_CREATE:
		if (there)
			dafsd_fh_compose(s->exp, there, &res->create.filehandle);
		dafsd_settle_change(s, dir, &res->create.change_info);
		break;
	case DAFS_PROC_RENAME:
		dafsd_settle_change(s, dir, &res->rename.source);
		to = dafsd_settle_find(s->exp, &s->witness->to);
		dafsd_settle_change(s, to, &res->rename.target);
		dput(to);
		break;
	case DAFS_PROC_REMOVE:
	case DAFS_PROC_LINK:
		dafsd_settle_change(s, dir, &res->change.change_info);
		break;
	default:
		res->append.offset = le64_to_cpu(s->witness->offset);
		res->append.committed = DAFS_FILE_SYNC;
		dafsd_verifier_get(s->exp, &res->append.verifier);
		break;
	}
}

static void dafsd_settle_done(const struct dafsd_settling *s, struct dentry *dir,
			      struct dentry *there)
{
	u8 *data = kzalloc(DAFSD_SETTLED_MOST, GFP_KERNEL | __GFP_NOFAIL);
	struct dafs_buf buf = {
		.base = data,
		.len = DAFSD_SETTLED_MOST,
		.swab = s->cache->swab,
	};
	union dafs_res res = {};
	int len;

	dafsd_settle_results(s, dir, there, &res);
	len = dafs_encode_res(&buf, s->response->proc, &res);
	dafsd_response_done(s->response, DAFS_STATUS_OK, data + DAFS_HDR_SIZE,
			    max(len, DAFS_HDR_SIZE) - DAFS_HDR_SIZE);
	dafsd_response_record(s->cache, s->response, DAFSD_RESPONSE_RESULTS);
	kfree(data);
}

static void dafsd_settle_not_done(const struct dafsd_settling *s)
{
	dafsd_response_undone(s->response);
	dafsd_response_unrecord(s->cache, s->response);
}

static void dafsd_settle_names(const struct dafsd_settling *s)
{
	const struct dafsd_witness *w = s->witness;
	struct dentry *dir = dafsd_settle_find(s->exp, &w->dir);
	struct dentry *there = dafsd_settle_name(dir, w->names, le16_to_cpu(w->name_len));

	if (s->response->mark == DAFSD_RESPONSE_EXECUTED ||
	    (dir && dafsd_settle_changed(s, there)))
		dafsd_settle_done(s, dir, there);
	else
		dafsd_settle_not_done(s);
	dput(there);
	dput(dir);
}

/* Are the bytes of an append in the file? */
static bool dafsd_settle_has(struct file *file, const struct dafsd_witness *w)
{
	u32 left = le32_to_cpu(w->length), crc = 0;
	loff_t pos = le64_to_cpu(w->offset);
	u8 *part = kmalloc(PAGE_SIZE, GFP_KERNEL | __GFP_NOFAIL);
	ssize_t n = 0;

	while (left) {
		n = kernel_read(file, part, min_t(u32, left, PAGE_SIZE), &pos);
		if (n <= 0)
			break;
		crc = crc32c(crc, part, n);
		left -= n;
	}
	kfree(part);
	return !left && crc == le32_to_cpu(w->crc);
}

static bool dafsd_settle_is_append(const struct dafsd_response *response)
{
	return response->proc == DAFS_PROC_APPEND_INLINE ||
	       response->proc == DAFS_PROC_APPEND_DIRECT;
}

static const struct dafsd_witness *dafsd_settle_witness(const struct dafsd_settling *s,
							const struct dafsd_response *response)
{
	const struct dafsd_witness *w = response->witness;
	const uuid_t *fs = &s->exp->path.mnt->mnt_sb->s_uuid;

	if (response->witness_len < sizeof(*w) ||
	    response->witness_len != struct_size(w, names, le16_to_cpu(w->name_len) +
						 le16_to_cpu(w->to_len)))
		return NULL;
	return uuid_equal(&w->dir.fs, fs) ? w : NULL;
}

/* Another append to the same file: is it missing, and before this one? */
static void dafsd_settle_other(struct dafsd_respcache *cache, struct dafsd_response *response,
			       void *arg)
{
	struct dafsd_settling *s = arg;
	const struct dafsd_witness *w = dafsd_settle_witness(s, response);
	u64 offset;

	if (!w || !dafsd_settle_is_append(response) ||
	    memcmp(&w->dir, &s->witness->dir, sizeof(w->dir)))
		return;
	offset = le64_to_cpu(w->offset);
	s->most = max_t(loff_t, s->most, offset + le32_to_cpu(w->length));
	if (offset <= le64_to_cpu(s->witness->offset) &&
	    response->mark != DAFSD_RESPONSE_EXECUTED && !dafsd_settle_has(s->file, w))
		s->good = false;
}

/* What is there of an append that is not, and of those behind it, is removed. */
static void dafsd_settle_cut(const struct dafsd_settling *s)
{
	loff_t size = i_size_read(file_inode(s->file)), begin = le64_to_cpu(s->witness->offset);
	int err;

	/* others have written behind it */
	if (size <= begin || size > s->most)
		return;
	err = vfs_truncate(&s->file->f_path, begin) ?: vfs_fsync(s->file, 0);
	if (err)
		pr_warn("dafsd: part of an append stays in inode %lu of %s: %pe\n",
			file_inode(s->file)->i_ino, s->exp->path.mnt->mnt_sb->s_id, ERR_PTR(err));
}

static struct file *dafsd_settle_open(const struct dafsd_settling *s)
{
	struct path path = { .mnt = s->exp->path.mnt };
	struct file *file;

	path.dentry = dafsd_settle_find(s->exp, &s->witness->dir);
	if (!path.dentry)
		return NULL;
	file = dentry_open(&path, O_RDONLY | O_LARGEFILE, current_cred());
	dput(path.dentry);
	return IS_ERR(file) ? NULL : file;
}

static void dafsd_settle_append(struct dafsd_settling *s)
{
	s->file = dafsd_settle_open(s);
	s->good = s->file;
	s->most = 0;
	if (s->file && s->response->mark != DAFSD_RESPONSE_EXECUTED)
		dafsd_responses_settle(&dafsd_server, dafsd_settle_other, s);
	if (s->file && !s->good)
		dafsd_settle_cut(s);
	if (s->good || s->response->mark == DAFSD_RESPONSE_EXECUTED)
		dafsd_settle_done(s, NULL, NULL);
	else
		dafsd_settle_not_done(s);
	if (s->file)
		fput(s->file);
}

static void dafsd_settle_one(struct dafsd_respcache *cache, struct dafsd_response *response,
			     void *arg)
{
	struct dafsd_settling s = { .exp = arg, .cache = cache, .response = response };

	s.witness = dafsd_settle_witness(&s, response);
	if (!s.witness)
		return;
	if (dafsd_settle_is_append(response))
		dafsd_settle_append(&s);
	else
		dafsd_settle_names(&s);
}

/**
 * dafsd_intents_settle() - an export is about to be enabled
 * @exp: the export; it becomes known what became of requests in its file system
 *
 * Context: may sleep for its file system.
 */
void dafsd_intents_settle(struct dafsd_export *exp)
{
	const struct cred *saved;

	if (uuid_is_null(&exp->path.mnt->mnt_sb->s_uuid))
		return;
	saved = dafsd_act_as_server();
	dafsd_responses_settle(&dafsd_server, dafsd_settle_one, exp);
	revert_creds(saved);
	/* what is found now is not looked for again, when clients may have changed it */
	if (dafsd_server.store)
		dafsd_store_sync(dafsd_server.store);
}
