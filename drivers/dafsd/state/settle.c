// SPDX-License-Identifier: GPL-2.0
/*
 * What became of requests that were being executed when the server crashed: see the note in 5.2.4.
 * It is found in the file system, before any client uses that: see intent.c for why nothing but the
 * request itself can have made what is found.
 *
 * Several exports may have one file system, which is looked at when the first of them is enabled.
 * A response with a handle is made up by the export that the request was about.
 */
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
#include "../vfs/fh.h"
#include "../vfs/vfs.h"
#include "settle_impl.h"

/* Bytes of the largest response that is made up, with its header */
#define DAFSD_SETTLED_MOST	512

/**
 * dafsd_settle_fail() - what became of a request cannot be found out
 * @s: the request
 * @err: why not; some of them do not last
 *
 * Context: any.
 */
void dafsd_settle_fail(struct dafsd_settling *s, int err)
{
	switch (err) {
	case -ENOMEM:
	case -EINTR:
	case -ERESTARTSYS:
	case -EAGAIN:
	case -ENFILE:
		s->later = err;
		break;
	default:
		s->err = err;
	}
}

/**
 * dafsd_settle_find() - an object that a witness speaks of
 * @s: the request
 * @at: the object
 *
 * Context: may sleep for the file system.
 * Return: the object, with a reference; NULL if it does not exist, or dafsd_settle_failed().
 */
struct dentry *dafsd_settle_find(struct dafsd_settling *s, const struct dafsd_persist_file *at)
{
	struct dentry *dentry = dafsd_persist_lookup(s->exp, at);

	if (!IS_ERR_OR_NULL(dentry))
		return dentry;
	/* btrfs has ENOENT for an inode that was deleted */
	if (PTR_ERR(dentry) != -ESTALE && PTR_ERR(dentry) != -ENOENT)
		dafsd_settle_fail(s, PTR_ERR(dentry) ?: -EIO);
	return NULL;
}

/* What a name stands for, with a reference; NULL if for nothing, or dafsd_settle_failed(). */
static struct dentry *dafsd_settle_name(struct dafsd_settling *s, struct dentry *dir,
					const u8 *name, u32 len)
{
	struct dentry *dentry;

	if (!dir || !d_is_dir(dir))
		return NULL;
	dentry = lookup_one_unlocked(&nop_mnt_idmap, (const char *)name, dir, len);
	if (IS_ERR(dentry)) {
		dafsd_settle_fail(s, PTR_ERR(dentry));
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

/*
 * Was a change of names executed?  A directory that does not exist any more was empty, so the name
 * in it was removed.
 *
 * @there: what the first name stands for, or NULL
 */
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
	struct dafs_fattr attr = {};
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
	case DAFS_PROC_SETATTR_INLINE:
	case DAFS_PROC_SETATTR_DIRECT:
		dafsd_settle_attrs(s->witness, &attr);
		res->setattr.attr_request_bitmap = attr.included;
		break;
	case DAFS_PROC_WRITE_INLINE:
	case DAFS_PROC_WRITE_DIRECT:
		res->write.count = le32_to_cpu(s->witness->length);
		/* no verifier: the data is stable */
		res->write.committed = DAFS_FILE_SYNC;
		break;
	default:
		res->append.offset = le64_to_cpu(s->witness->offset);
		/* likewise */
		res->append.committed = DAFS_FILE_SYNC;
		break;
	}
}

/* If that fails it is tried again when the export is to be enabled the next time. */
static void dafsd_settle_record(struct dafsd_settling *s, enum dafsd_response_mark mark)
{
	s->later = dafsd_response_record(s->cache, s->response, mark);
	if (!s->later)
		s->response->mark = mark;
}

/* Its handle is one of another export, which is enabled later. */
static bool dafsd_settle_is_of_other(const struct dafsd_settling *s)
{
	return s->response->proc == DAFS_PROC_CREATE &&
	       memcmp(s->witness->fshandle, s->exp->fshandle, sizeof(s->exp->fshandle));
}

/* It was executed.  Clients may change the name before that other export is enabled. */
static void dafsd_settle_hand_on(struct dafsd_settling *s, struct dentry *there)
{
	struct dafsd_witness *w = s->response->witness;

	if (s->response->mark == DAFSD_RESPONSE_EXECUTED)
		return;
	if (!w->object.words && there)
		dafsd_persist_identify(d_inode(there), &w->object);
	dafsd_settle_record(s, DAFSD_RESPONSE_EXECUTED);
}

/**
 * dafsd_settle_done() - a request was executed: its results are made up, and recorded
 * @s: the request
 * @dir: of a change of names: the directory, or NULL if it does not exist any more
 * @there: likewise: what the first name stands for, or NULL
 *
 * Context: may sleep for the file system, and for memory.
 */
void dafsd_settle_done(struct dafsd_settling *s, struct dentry *dir, struct dentry *there)
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
	if (dafsd_settle_failed(s)) {
		kfree(data);
		return;
	}
	len = dafs_encode_res(&buf, s->response->proc, &res);
	dafsd_response_done(s->response, DAFS_STATUS_OK, data + DAFS_HDR_SIZE,
			    max(len, DAFS_HDR_SIZE) - DAFS_HDR_SIZE);
	dafsd_settle_record(s, DAFSD_RESPONSE_RESULTS);
	kfree(data);
}

/**
 * dafsd_settle_not_done() - a request was not executed: its record is removed
 * @s: the request
 *
 * Context: may sleep for memory.
 */
void dafsd_settle_not_done(const struct dafsd_settling *s)
{
	dafsd_response_undone(s->response);
	dafsd_response_unrecord(s->cache, s->response);
}

/**
 * dafsd_settle_gone() - is it certain that what was not found does not exist any more?
 * @s: the request
 *
 * Return: true if so.
 */
bool dafsd_settle_gone(const struct dafsd_settling *s)
{
	return dafsd_persist_is_removed(s->exp->path.mnt->mnt_sb, -ESTALE);
}

static void dafsd_settle_names(struct dafsd_settling *s)
{
	const struct dafsd_witness *w = s->witness;
	struct dentry *dir = dafsd_settle_find(s, &w->dir);
	struct dentry *there = dafsd_settle_name(s, dir, w->data, le16_to_cpu(w->data_len));
	bool executed = s->response->mark == DAFSD_RESPONSE_EXECUTED;

	if (!dafsd_settle_failed(s) && !executed) {
		executed = dafsd_settle_changed(s, there);
		/* a name was removed before its directory was */
		if (executed && !dir && !dafsd_settle_gone(s))
			dafsd_settle_fail(s, -ESTALE);
	}
	if (!dafsd_settle_failed(s) && !executed)
		dafsd_settle_not_done(s);
	else if (!dafsd_settle_failed(s) && dafsd_settle_is_of_other(s))
		dafsd_settle_hand_on(s, there);
	else if (!dafsd_settle_failed(s))
		dafsd_settle_done(s, dir, there);
	dput(there);
	dput(dir);
}

/**
 * dafsd_settle_witness() - the witness of a request that is to be settled
 * @exp: an export
 * @response: the request
 *
 * Context: any.
 * Return: the witness, or NULL if it is not in that file system, or is settled.
 */
const struct dafsd_witness *dafsd_settle_witness(const struct dafsd_export *exp,
						 const struct dafsd_response *response)
{
	const struct dafsd_witness *w = response->witness;
	const uuid_t *fs = &exp->path.mnt->mnt_sb->s_uuid;

	if (response->state != DAFSD_RESPONSE_EXECUTING ||
	    response->witness_len < sizeof(*w) ||
	    response->witness_len != struct_size(w, data, le16_to_cpu(w->data_len) +
						 le16_to_cpu(w->more_len)))
		return NULL;
	return uuid_equal(&w->dir.fs, fs) ? w : NULL;
}

static void dafsd_settle_act(struct dafsd_settling *s)
{
	switch (s->response->proc) {
	case DAFS_PROC_APPEND_INLINE:
	case DAFS_PROC_APPEND_DIRECT:
		dafsd_settle_append(s);
		break;
	case DAFS_PROC_WRITE_INLINE:
	case DAFS_PROC_WRITE_DIRECT:
		dafsd_settle_write(s);
		break;
	case DAFS_PROC_SETATTR_INLINE:
	case DAFS_PROC_SETATTR_DIRECT:
		dafsd_settle_setattr(s);
		break;
	default:
		dafsd_settle_names(s);
		break;
	}
}

/* The client is told that it is not known, and others go on. */
static void dafsd_settle_give_up(struct dafsd_settling *s)
{
	struct dafsd_response *response = s->response;
	void *witness = response->witness;
	u32 len = response->witness_len;

	pr_warn_ratelimited("dafsd: what became of a %s in %s before a crash is not known: error %d\n",
			    dafs_proc_name(response->proc), s->exp->name, s->err);
	response->witness = NULL;
	response->witness_len = 0;
	dafsd_settle_record(s, DAFSD_RESPONSE_INTENT);
	if (!s->later) {
		kfree(witness);
		return;
	}
	response->witness = witness;
	response->witness_len = len;
}

/**
 * struct dafsd_settle_pass - a step with all requests of an export that is being settled
 * @exp: the export
 * @step: what is done with each
 * @cut: a part of an append was removed
 * @err: the first error
 */
struct dafsd_settle_pass {
	struct dafsd_export *exp;
	void (*step)(struct dafsd_settling *s);
	bool cut;
	int err;
};

static void dafsd_settle_one(struct dafsd_respcache *cache, struct dafsd_response *response,
			     void *arg)
{
	struct dafsd_settle_pass *pass = arg;
	struct dafsd_settling s = { .exp = pass->exp, .cache = cache, .response = response };

	s.witness = dafsd_settle_witness(s.exp, response);
	if (s.witness)
		pass->step(&s);
	if (s.err)
		dafsd_settle_give_up(&s);
	pass->cut |= s.cut;
	if (!pass->err)
		pass->err = s.later;
}

/* What was found before, and could not be recorded. */
static void dafsd_settle_again(struct dafsd_respcache *cache, struct dafsd_response *response,
			       void *arg)
{
	struct dafsd_settle_pass *pass = arg;
	struct dafsd_settling s = { .exp = pass->exp, .cache = cache, .response = response };

	if (response->state == DAFSD_RESPONSE_DONE && response->mark != DAFSD_RESPONSE_RESULTS)
		dafsd_settle_record(&s, DAFSD_RESPONSE_RESULTS);
	if (!pass->err)
		pass->err = s.later;
}

/* Return: true if a part of an append was removed. */
static bool dafsd_settle_pass(struct dafsd_settle_pass *pass,
			      void (*step)(struct dafsd_settling *s))
{
	pass->step = step;
	pass->cut = false;
	if (!pass->err)
		dafsd_responses_revived(&dafsd_server, dafsd_settle_one, pass);
	return pass->cut;
}

static int dafsd_settle_all(struct dafsd_export *exp)
{
	struct dafsd_settle_pass pass = { .exp = exp };

	dafsd_responses_revived(&dafsd_server, dafsd_settle_again, &pass);
	dafsd_settle_pass(&pass, dafsd_settle_append_look);
	dafsd_settle_pass(&pass, dafsd_settle_append_judge);
	/* the last one in the file first: then the one before is the last one */
	while (dafsd_settle_pass(&pass, dafsd_settle_append_cut))
		;
	dafsd_settle_pass(&pass, dafsd_settle_act);
	/* what is found now is not looked for again, when clients may have changed it */
	return pass.err ?: dafsd_store_sync(dafsd_server.store);
}

/**
 * dafsd_intents_settle() - an export is about to be enabled
 * @exp: the export; it becomes known what became of requests in its file system
 *
 * What the file system fails to tell is not known then, and clients are told that.
 *
 * Context: may sleep for its file system, and the store.
 * Return: 0; or a negative errno: without memory, or room in the store, it is to be tried again.
 */
int dafsd_intents_settle(struct dafsd_export *exp)
{
	static DEFINE_MUTEX(one);	/* two exports may have one file system */
	const struct cred *saved;
	int err;

	if (!dafsd_server.store || uuid_is_null(&exp->path.mnt->mnt_sb->s_uuid))
		return 0;
	saved = dafsd_act_as_server();
	mutex_lock(&one);
	err = dafsd_settle_all(exp);
	mutex_unlock(&one);
	revert_creds(saved);
	return err;
}
