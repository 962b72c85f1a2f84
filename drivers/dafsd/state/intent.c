// SPDX-License-Identifier: GPL-2.0
/*
 * Changes that are executed exactly once, although the server may crash (5.2.4).
 *
 * The file system and the store cannot be changed together.  So the store has the intent before the
 * change is executed, with what is needed to find out afterwards whether it was: a witness.  And it
 * has the outcome before the response is sent.  What a crash leaves without one is settled by
 * looking at the file system, see settle.c.
 *
 *  1. The intent is durable before the change is begun.
 *  2. The outcome is durable before the response, and before any other request changes these
 *     names: so nothing but the change itself can have made what is found.  Programs of the
 *     server do not wait.
 *  3. A request that fails has changed nothing, so it needs no outcome: its intent is dropped,
 *     and if that comes back after a crash it is found not to be executed.
 *
 * Recorded are CREATE, REMOVE, RENAME, LINK and appends.  The others are repeated after a crash,
 * which changes nothing once more, or are about state that is gone with the server.
 */
#include <linux/crc32c.h>
#include <linux/namei.h>
#include <linux/slab.h>
#include <linux/stringhash.h>
#include <linux/uio.h>
#include "../request/request.h"
#include "../session/respcache.h"
#include "../session/server.h"
#include "../session/session.h"
#include "../store/store.h"
#include "../vfs/fh.h"
#include "intent_impl.h"

/* Changed by tests */
enum dafsd_crash dafsd_intent_crash;

/**
 * dafsd_intents_init_export() - initialize the locks of the names in an export
 * @exp: the export, not yet served
 *
 * Context: any.
 */
void dafsd_intents_init_export(struct dafsd_export *exp)
{
	unsigned int n;

	for (n = 0; n < ARRAY_SIZE(exp->names); n++)
		mutex_init(&exp->names[n]);
}

static unsigned int dafsd_intent_hash(const struct dafsd_fh *dir, const struct dafs_str *name)
{
	return full_name_hash(dafsd_fh_inode(dir), name->data, name->len) % DAFSD_EXPORT_NAMES;
}

/* In the order of their number */
static void dafsd_intent_lock(struct dafsd_intent *intent)
{
	struct mutex *names = intent->dir->exp->names;
	unsigned int first = dafsd_intent_hash(intent->dir, intent->name), second = first;

	if (intent->to)
		second = dafsd_intent_hash(intent->to, intent->to_name);
	intent->locked[intent->nr++] = min(first, second);
	if (second != first)
		intent->locked[intent->nr++] = max(first, second);
	mutex_lock(&names[intent->locked[0]]);
	if (intent->nr > 1)
		mutex_lock_nested(&names[intent->locked[1]], SINGLE_DEPTH_NESTING);
}

static void dafsd_intent_unlock(struct dafsd_intent *intent)
{
	while (intent->nr)
		mutex_unlock(&intent->dir->exp->names[intent->locked[--intent->nr]]);
}

/* Is its outcome to be known after a crash? */
static bool dafsd_intent_wanted(const struct dafsd_rqst *rq)
{
	return rq->response && rq->ses->respcache->owner;
}

static struct dafsd_witness *dafsd_witness_alloc(u32 name_len, u32 to_len)
{
	struct dafsd_witness *w = kzalloc(struct_size(w, names, name_len + to_len), GFP_KERNEL);

	if (!w)
		return NULL;
	w->name_len = cpu_to_le16(name_len);
	w->to_len = cpu_to_le16(to_len);
	return w;
}

static u32 dafsd_witness_size(const struct dafsd_witness *w)
{
	return struct_size(w, names, le16_to_cpu(w->name_len) + le16_to_cpu(w->to_len));
}

/*
 * The outcome.  If it cannot be written, the intent stays, and what became of it is found in the
 * file system as long as nobody changes that.
 */
static void dafsd_intent_settle(struct dafsd_rqst *rq, dafs_status_t status)
{
	struct dafsd_respcache *cache = rq->ses->respcache;
	enum dafsd_crash crash = READ_ONCE(dafsd_intent_crash);

	if (!crash && status) {
		dafsd_response_unrecord(cache, rq->response);
		dafsd_response_set_witness(rq->response, NULL, 0);
		return;
	}
	if (!crash || crash == DAFSD_CRASH_RECORDED) {
		dafsd_response_record(cache, rq->response, DAFSD_RESPONSE_EXECUTED);
		dafsd_store_sync(dafsd_server.store);
	}
	if (crash)
		dafsd_response_set_witness(rq->response, NULL, 0);
}

/* The response takes over the witness.  Return: OK; RESOURCE; or IO: it must not be executed. */
static dafs_status_t dafsd_intent_record(struct dafsd_rqst *rq, struct dafsd_witness *w)
{
	struct dafsd_response *response = rq->response;

	dafs_status_t status = DAFS_STATUS_OK;

	dafsd_response_set_witness(response, w, dafsd_witness_size(w));
	if (dafsd_response_record(rq->ses->respcache, response, DAFSD_RESPONSE_INTENT))
		status = DAFSERR_RESOURCE;
	else if (dafsd_store_sync(dafsd_server.store) ||
		 READ_ONCE(dafsd_intent_crash) == DAFSD_CRASH_INTENDED)
		status = DAFSERR_IO;
	if (status)
		dafsd_intent_settle(rq, status);
	return status;
}

/* What a name stands for; NULL if for nothing.  The caller may search the directory. */
static struct dentry *dafsd_intent_lookup(const struct dafsd_fh *dir, const struct dafs_str *name)
{
	struct dentry *dentry = lookup_one_unlocked(&nop_mnt_idmap, (const char *)name->data,
						    dir->dentry, name->len);

	if (IS_ERR(dentry) || d_really_is_positive(dentry))
		return dentry;
	dput(dentry);
	return NULL;
}

/*
 * Fill in what tells later whether the name was changed.
 *
 * Return: false if the request fails anyway, or changes nothing.
 */
static bool dafsd_intent_look(const struct dafsd_intent *intent, struct dafsd_witness *w)
{
	struct dentry *dentry = dafsd_intent_lookup(intent->dir, intent->name);
	bool made = intent->rq->base.hdr.procedure == DAFS_PROC_CREATE || intent->source;
	bool good = false;

	if (IS_ERR(dentry))
		return false;
	if (made)
		good = !dentry && (!intent->source ||
				   dafsd_persist_identify(dafsd_fh_inode(intent->source),
							  &w->object));
	else
		good = dentry && dafsd_persist_identify(d_inode(dentry), &w->object);
	dput(dentry);
	return good;
}

/* Two names of one object: RENAME does nothing. */
static bool dafsd_intent_is_void(const struct dafsd_intent *intent, const struct dafsd_witness *w)
{
	struct dafsd_persist_file there;
	struct dentry *dentry;
	bool same;

	if (!intent->to)
		return false;
	dentry = dafsd_intent_lookup(intent->to, intent->to_name);
	if (IS_ERR_OR_NULL(dentry))
		return IS_ERR(dentry);
	same = !dafsd_persist_identify(d_inode(dentry), &there) ||
	       !memcmp(&there, &w->object, sizeof(there));
	dput(dentry);
	return same;
}

static struct dafsd_witness *dafsd_intent_describe(const struct dafsd_intent *intent)
{
	u32 to_len = intent->to ? intent->to_name->len : 0;
	struct dafsd_witness *w = dafsd_witness_alloc(intent->name->len, to_len);

	if (!w)
		return NULL;
	memcpy(w->names, intent->name->data, intent->name->len);
	if (intent->to)
		memcpy(w->names + intent->name->len, intent->to_name->data, to_len);
	return w;
}

static dafs_status_t dafsd_intent_make(struct dafsd_intent *intent)
{
	struct dafsd_witness *w = dafsd_intent_describe(intent);
	dafs_status_t status;

	if (!w)
		return DAFSERR_RESOURCE;
	if (!dafsd_persist_identify(dafsd_fh_inode(intent->dir), &w->dir) ||
	    (intent->to && !dafsd_persist_identify(dafsd_fh_inode(intent->to), &w->to)) ||
	    !dafsd_intent_look(intent, w) || dafsd_intent_is_void(intent, w)) {
		kfree(w);
		return DAFS_STATUS_OK;
	}
	status = dafsd_intent_record(intent->rq, w);
	intent->recorded = !status;
	return status;
}

/**
 * dafsd_intent_begin() - names are about to be changed
 * @intent: which, and how
 *
 * Requests of clients that have not asked for it wait as well while there are others.
 *
 * Context: may sleep, also for the store; acts for the caller.
 * Return: OK, and dafsd_intent_end() is to be called; RESOURCE, or IO if the store cannot be
 * written: nothing is to be changed.
 */
dafs_status_t dafsd_intent_begin(struct dafsd_intent *intent)
{
	dafs_status_t status;

	/* what is about a pseudo directory fails */
	if (!READ_ONCE(dafsd_server.stable_streams) || dafsd_fh_is_pseudo(intent->dir))
		return DAFS_STATUS_OK;
	dafsd_intent_lock(intent);
	if (!dafsd_intent_wanted(intent->rq) ||
	    !dafsd_persist_possible(dafsd_fh_inode(intent->dir)))
		return DAFS_STATUS_OK;
	status = dafsd_intent_make(intent);
	if (status)
		dafsd_intent_unlock(intent);
	return status;
}

/**
 * dafsd_intent_end() - names were changed, and that is durable; or they were not
 * @intent: from dafsd_intent_begin()
 * @status: OK, or why not
 *
 * Gives up write access to the directories: the store may be in the same file system, and who
 * freezes that waits for it.
 *
 * Context: may sleep for the store.
 */
void dafsd_intent_end(struct dafsd_intent *intent, dafs_status_t status)
{
	if (intent->recorded) {
		dafsd_fh_drop_write(intent->dir);
		if (intent->to)
			dafsd_fh_drop_write(intent->to);
		dafsd_intent_settle(intent->rq, status);
	}
	dafsd_intent_unlock(intent);
}

/* Return: false without memory. */
static bool dafsd_intent_sum(const struct iov_iter *data, __le32 *crc)
{
	struct iov_iter iter = *data;
	u8 *part = kmalloc(PAGE_SIZE, GFP_KERNEL);
	u32 sum = 0;
	size_t n;

	if (!part)
		return false;
	while ((n = copy_from_iter(part, PAGE_SIZE, &iter)))
		sum = crc32c(sum, part, n);
	kfree(part);
	*crc = cpu_to_le32(sum);
	return true;
}

/**
 * dafsd_intent_append() - data is about to be appended
 * @rq: the request
 * @inode: the file
 * @data: what
 *
 * Context: may sleep for the store; holds dafsd_file.append exclusively, so that no other client
 * changes the size.
 * Return: OK, and dafsd_intent_appended() is to be called; RESOURCE, or IO if the store cannot be
 * written: nothing is to be appended.
 */
dafs_status_t dafsd_intent_append(struct dafsd_rqst *rq, struct inode *inode,
				  const struct iov_iter *data)
{
	struct dafsd_witness *w;

	if (!dafsd_intent_wanted(rq) || !dafsd_persist_possible(inode))
		return DAFS_STATUS_OK;
	w = dafsd_witness_alloc(0, 0);
	if (!w)
		return DAFSERR_RESOURCE;
	w->offset = cpu_to_le64(i_size_read(inode));
	w->length = cpu_to_le32(iov_iter_count(data));
	if (!dafsd_persist_identify(inode, &w->dir) || !dafsd_intent_sum(data, &w->crc)) {
		kfree(w);
		return DAFSERR_RESOURCE;
	}
	return dafsd_intent_record(rq, w);
}

/**
 * dafsd_intent_appended() - data was appended, and is stable; or none of it is in the file
 * @rq: the request, after dafsd_intent_append()
 * @status: OK, or why not
 * @offset: where it is
 *
 * Context: may sleep for the store.
 */
void dafsd_intent_appended(struct dafsd_rqst *rq, dafs_status_t status, u64 offset)
{
	struct dafsd_witness *w;

	if (!rq->response || !rq->response->witness)
		return;
	w = rq->response->witness;
	/* a program of the server may have come first */
	w->offset = cpu_to_le64(offset);
	dafsd_intent_settle(rq, status);
}
