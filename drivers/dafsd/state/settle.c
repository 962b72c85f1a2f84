// SPDX-License-Identifier: GPL-2.0
/*
 * What became of requests that were being executed when the server crashed (5.2.4): the note that
 * the draft makes there.  It is found in the file system, before any client uses that: see
 * intent.c for why nothing but the request itself can have made what is found.
 *
 * An append is in the file if its bytes are.  Appends of several clients may be under way in one
 * file, each behind the other, so one is not there if one before it is not.
 */
#include <linux/crc32c.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/slab.h>
#include <linux/unaligned.h>
#include "../export/export.h"
#include "../export/handle.h"
#include "../session/client.h"
#include "../session/respcache.h"
#include "../session/server.h"
#include "../store/store.h"
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
 * @err: it cannot be found out: a negative errno
 */
struct dafsd_settling {
	struct dafsd_export *exp;
	struct dafsd_respcache *cache;
	struct dafsd_response *response;
	const struct dafsd_witness *witness;
	struct file *file;
	bool good;
	int err;
};

/* Return: an object with a reference; NULL if it does not exist, or with s->err. */
static struct dentry *dafsd_settle_find(struct dafsd_settling *s,
					const struct dafsd_persist_file *at)
{
	struct dentry *dentry = dafsd_persist_lookup(s->exp, at);

	if (!IS_ERR_OR_NULL(dentry))
		return dentry;
	if (PTR_ERR(dentry) != -ESTALE)
		s->err = PTR_ERR(dentry) ?: -EIO;
	return NULL;
}

/* What a name stands for, with a reference; NULL if for nothing, or with s->err. */
static struct dentry *dafsd_settle_name(struct dafsd_settling *s, struct dentry *dir,
					const u8 *name, u32 len)
{
	struct dentry *dentry;

	if (!dir || !d_is_dir(dir))
		return NULL;
	dentry = lookup_one_unlocked(&nop_mnt_idmap, (const char *)name, dir, len);
	if (IS_ERR(dentry)) {
		s->err = PTR_ERR(dentry);
		return NULL;
	}
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

/* Was a change of names executed?  @there: what the first name stands for, or NULL */
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

/* The change attribute from before is not known. */
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

/* What was made may have another name since, and the name stand for something else. */
static void dafsd_settle_handle(struct dafsd_settling *s, struct dentry *there, struct dafs_fh *fh)
{
	struct dentry *made = NULL;

	if (s->witness->object.words)
		made = dafsd_settle_find(s, &s->witness->object);
	if (made || (there && !s->witness->object.words))
		dafsd_fh_compose(s->exp, made ?: there, fh);
	dput(made);
}

static void dafsd_settle_results(struct dafsd_settling *s, struct dentry *dir,
				 struct dentry *there, union dafs_res *res)
{
	struct dentry *to;

	switch (s->response->proc) {
	case DAFS_PROC_CREATE:
		dafsd_settle_handle(s, there, &res->create.filehandle);
		dafsd_settle_change(s, dir, &res->create.change_info);
		break;
	case DAFS_PROC_RENAME:
		dafsd_settle_change(s, dir, &res->rename.source);
		to = dafsd_settle_find(s, &s->witness->to);
		dafsd_settle_change(s, to, &res->rename.target);
		dput(to);
		break;
	case DAFS_PROC_REMOVE:
	case DAFS_PROC_LINK:
		dafsd_settle_change(s, dir, &res->change.change_info);
		break;
	default:
		res->append.offset = le64_to_cpu(s->witness->offset);
		/* the verifier is for what is less stable */
		res->append.committed = DAFS_FILE_SYNC;
		break;
	}
}

/* If that fails it is tried again when the export is to be enabled the next time. */
static void dafsd_settle_record(struct dafsd_settling *s)
{
	s->err = dafsd_response_record(s->cache, s->response, DAFSD_RESPONSE_RESULTS);
	if (!s->err)
		s->response->mark = DAFSD_RESPONSE_RESULTS;
}

static void dafsd_settle_done(struct dafsd_settling *s, struct dentry *dir, struct dentry *there)
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
	if (s->err) {
		kfree(data);
		return;
	}
	len = dafs_encode_res(&buf, s->response->proc, &res);
	dafsd_response_done(s->response, DAFS_STATUS_OK, data + DAFS_HDR_SIZE,
			    max(len, DAFS_HDR_SIZE) - DAFS_HDR_SIZE);
	dafsd_settle_record(s);
	kfree(data);
}

static void dafsd_settle_not_done(const struct dafsd_settling *s)
{
	dafsd_response_undone(s->response);
	dafsd_response_unrecord(s->cache, s->response);
}

static void dafsd_settle_names(struct dafsd_settling *s)
{
	const struct dafsd_witness *w = s->witness;
	struct dentry *dir = dafsd_settle_find(s, &w->dir);
	struct dentry *there = dafsd_settle_name(s, dir, w->names, le16_to_cpu(w->name_len));

	if (!s->err && (s->response->mark == DAFSD_RESPONSE_EXECUTED ||
			(dir && dafsd_settle_changed(s, there))))
		dafsd_settle_done(s, dir, there);
	else if (!s->err)
		dafsd_settle_not_done(s);
	dput(there);
	dput(dir);
}

/*
 * How much of an append is in the file, as its checksums tell?  Up to a page that is not there, or
 * not as it was written.  Return: bytes, or a negative errno.
 */
static ssize_t dafsd_settle_has(struct file *file, const struct dafsd_witness *w)
{
	u32 length = le32_to_cpu(w->length), has = 0;
	loff_t pos = le64_to_cpu(w->offset);
	u8 *part = kmalloc(PAGE_SIZE, GFP_KERNEL);
	const u8 *sum = w->names;
	ssize_t n = part ? 0 : -ENOMEM;
	size_t len;

	while (!n && has < length) {
		len = min_t(u32, length - has, PAGE_SIZE - offset_in_page(pos));
		n = kernel_read(file, part, len, &pos);
		if (n != (ssize_t)len || crc32c(0, part, len) != get_unaligned_le32(sum))
			break;
		sum += sizeof(__le32);
		has += len;
		n = 0;
	}
	kfree(part);
	return n < 0 ? n : has;
}

static bool dafsd_settle_is_append(const struct dafsd_response *response)
{
	return response->proc == DAFS_PROC_APPEND_INLINE ||
	       response->proc == DAFS_PROC_APPEND_DIRECT;
}

/* Return: the witness of a request of this file system that is to be settled, or NULL. */
static const struct dafsd_witness *dafsd_settle_witness(const struct dafsd_settling *s,
							const struct dafsd_response *response)
{
	const struct dafsd_witness *w = response->witness;
	const uuid_t *fs = &s->exp->path.mnt->mnt_sb->s_uuid;

	if (response->state != DAFSD_RESPONSE_EXECUTING ||
	    response->witness_len < sizeof(*w) ||
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
	ssize_t has;

	if (!w || !dafsd_settle_is_append(response) ||
	    memcmp(&w->dir, &s->witness->dir, sizeof(w->dir)) ||
	    le64_to_cpu(w->offset) > le64_to_cpu(s->witness->offset) ||
	    response->mark == DAFSD_RESPONSE_EXECUTED)
		return;
	has = dafsd_settle_has(s->file, w);
	if (has < 0)
		s->err = has;
	if (has != le32_to_cpu(w->length))
		s->good = false;
}

/*
 * What is there of an append that is not executed is removed, if it is all there is behind: a part
 * of it, which ends with a page.  What others may have written is left alone.
 */
static void dafsd_settle_cut(struct dafsd_settling *s)
{
	loff_t size = i_size_read(file_inode(s->file)), begin = le64_to_cpu(s->witness->offset);
	ssize_t has = dafsd_settle_has(s->file, s->witness);

	if (size <= begin)
		return;
	if (has < 0)
		s->err = has;
	else if (begin + has == size)
		s->err = vfs_truncate(&s->file->f_path, begin) ?: vfs_fsync(s->file, 0);
	else
		pr_warn("dafsd: inode %lu of %s may end with a part of an append that was not finished before a crash\n",
			file_inode(s->file)->i_ino, s->exp->path.mnt->mnt_sb->s_id);
}

static struct file *dafsd_settle_open(struct dafsd_settling *s)
{
	struct path path = { .mnt = s->exp->path.mnt };
	struct file *file;

	path.dentry = dafsd_settle_find(s, &s->witness->dir);
	if (!path.dentry)
		return NULL;
	file = dentry_open(&path, O_RDONLY | O_LARGEFILE, current_cred());
	dput(path.dentry);
	if (!IS_ERR(file))
		return file;
	s->err = PTR_ERR(file);
	return NULL;
}

/* @file: NULL if it does not exist any more */
static void dafsd_settle_append_in(struct dafsd_settling *s)
{
	bool executed = s->response->mark == DAFSD_RESPONSE_EXECUTED;

	s->good = s->file;
	if (s->file && !executed)
		dafsd_responses_revived(&dafsd_server, dafsd_settle_other, s);
	if (!s->err && s->file && !s->good)
		dafsd_settle_cut(s);
	if (s->err)
		return;
	if (s->good || executed)
		dafsd_settle_done(s, NULL, NULL);
	else
		dafsd_settle_not_done(s);
}

static void dafsd_settle_append(struct dafsd_settling *s)
{
	s->file = dafsd_settle_open(s);
	if (!s->err)
		dafsd_settle_append_in(s);
	if (s->file)
		fput(s->file);
}

/* An export that is being settled, and the first error */
struct dafsd_settle_all {
	struct dafsd_export *exp;
	int err;
};

static void dafsd_settle_one(struct dafsd_respcache *cache, struct dafsd_response *response,
			     void *arg)
{
	struct dafsd_settle_all *all = arg;
	struct dafsd_settling s = { .exp = all->exp, .cache = cache, .response = response };

	s.witness = dafsd_settle_witness(&s, response);
	if (response->state == DAFSD_RESPONSE_DONE && response->mark != DAFSD_RESPONSE_RESULTS)
		dafsd_settle_record(&s);
	else if (s.witness && dafsd_settle_is_append(response))
		dafsd_settle_append(&s);
	else if (s.witness)
		dafsd_settle_names(&s);
	if (!all->err)
		all->err = s.err;
}

/**
 * dafsd_intents_settle() - an export is about to be enabled
 * @exp: the export; it becomes known what became of requests in its file system
 *
 * Context: may sleep for its file system, and the store.
 * Return: 0; or a negative errno: what could not be found out is looked for again when the export
 * is to be enabled the next time.
 */
int dafsd_intents_settle(struct dafsd_export *exp)
{
	static DEFINE_MUTEX(one);	/* two exports may have one file system */
	struct dafsd_settle_all all = { .exp = exp };
	const struct cred *saved;

	if (!dafsd_server.store || uuid_is_null(&exp->path.mnt->mnt_sb->s_uuid))
		return 0;
	saved = dafsd_act_as_server();
	mutex_lock(&one);
	dafsd_responses_revived(&dafsd_server, dafsd_settle_one, &all);
	/* what is found now is not looked for again, when clients may have changed it */
	if (!all.err)
		all.err = dafsd_store_sync(dafsd_server.store);
	mutex_unlock(&one);
	revert_creds(saved);
	return all.err;
}
