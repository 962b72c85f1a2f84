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
 *  3. That a request has failed is durable before the response, and before any other request
 *     changes these names, or writes where the data was to be appended.
 *
 * Recorded are CREATE, REMOVE, RENAME, LINK and appends: dafsd_response_is_recorded().  The others
 * are repeated after a crash, which changes nothing once more, or are about state that is gone with
 * the server.  Of these it is answered that nothing is known.  An append does
 * not keep other writers waiting: if one writes over it before it is answered, and the server
 * crashes then, it is not found, and appended again.
 */
#include <linux/crc32c.h>
#include <linux/minmax.h>
#include <linux/namei.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/stringhash.h>
#include <linux/uio.h>
#include <linux/unaligned.h>
#include <linux/wait.h>
#include <linux/dafs/status.h>
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
 * struct dafsd_names - names that are being changed, of all exports: two may have one directory
 * @lock: protects @busy
 * @busy: dafsd_intent_name.link; no name is there twice
 * @left: a name has left @busy
 *
 * Each name is waited for by itself: a file system that hangs must not keep names in others.
 */
static struct dafsd_names {
	spinlock_t lock;	/* see above */
	struct hlist_head busy;
	wait_queue_head_t left;
} dafsd_names[256];

/**
 * dafsd_intents_init() - initialize the lists of names
 *
 * Context: module initialization.
 */
void dafsd_intents_init(void)
{
	struct dafsd_names *names;

	for (names = dafsd_names; names < dafsd_names + ARRAY_SIZE(dafsd_names); names++) {
		spin_lock_init(&names->lock);
		INIT_HLIST_HEAD(&names->busy);
		init_waitqueue_head(&names->left);
	}
}

static struct dafsd_names *dafsd_names_of(const struct dafsd_intent_name *name)
{
	return &dafsd_names[name->hash % ARRAY_SIZE(dafsd_names)];
}

static void dafsd_name_set(struct dafsd_intent_name *to, const struct dafsd_fh *dir,
			   const struct dafs_str *name)
{
	to->dir = dafsd_fh_inode(dir);
	to->hash = full_name_hash(to->dir, name->data, name->len);
}

/* Return: 0 if they are the same, also for two names of a directory with one hash. */
static int dafsd_name_cmp(const struct dafsd_intent_name *a, const struct dafsd_intent_name *b)
{
	if (a->dir != b->dir)
		return a->dir < b->dir ? -1 : 1;
	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	return 0;
}

static bool dafsd_name_is_busy(const struct dafsd_names *names,
			       const struct dafsd_intent_name *name)
{
	const struct dafsd_intent_name *other;

	lockdep_assert_held(&names->lock);
	hlist_for_each_entry(other, &names->busy, link)
		if (!dafsd_name_cmp(other, name))
			return true;
	return false;
}

/* Return: false if another request changes it. */
static bool dafsd_name_take(struct dafsd_names *names, struct dafsd_intent_name *name)
{
	bool taken;

	spin_lock(&names->lock);
	taken = !dafsd_name_is_busy(names, name);
	if (taken)
		hlist_add_head(&name->link, &names->busy);
	spin_unlock(&names->lock);
	return taken;
}

static void dafsd_name_lock(struct dafsd_intent_name *name)
{
	struct dafsd_names *names = dafsd_names_of(name);

	wait_event(names->left, dafsd_name_take(names, name));
}

static void dafsd_name_unlock(struct dafsd_intent_name *name)
{
	struct dafsd_names *names = dafsd_names_of(name);

	spin_lock(&names->lock);
	hlist_del(&name->link);
	spin_unlock(&names->lock);
	wake_up_all(&names->left);
}

/* Two in the order of dafsd_name_cmp() */
static void dafsd_intent_lock(struct dafsd_intent *intent)
{
	struct dafsd_intent_name *names = intent->locked;

	dafsd_name_set(&names[intent->nr++], intent->dir, intent->name);
	if (intent->to)
		dafsd_name_set(&names[1], intent->to, intent->to_name);
	if (intent->to && dafsd_name_cmp(&names[0], &names[1])) {
		intent->nr++;
		if (dafsd_name_cmp(&names[0], &names[1]) > 0)
			swap(names[0], names[1]);
	}
	dafsd_name_lock(&names[0]);
	if (intent->nr > 1)
		dafsd_name_lock(&names[1]);
}

static void dafsd_intent_unlock(struct dafsd_intent *intent)
{
	while (intent->nr)
		dafsd_name_unlock(&intent->locked[--intent->nr]);
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
 * It has failed, and that is what the client is answered.  Durable before that, and before others
 * may change the same: what they do would be taken for it.
 */
static void dafsd_intent_failed(struct dafsd_rqst *rq, dafs_status_t status)
{
	struct dafsd_respcache *cache = rq->ses->respcache;
	struct dafsd_response *response = rq->response;

	response->status = status;
	response->len = 0;
	if (dafsd_status_puts_off(status) ||
	    dafsd_response_record(cache, response, DAFSD_RESPONSE_RESULTS))
		dafsd_response_unrecord(cache, response);
	dafsd_store_sync(dafsd_server.store);
	response->intended = false;
}

/*
 * The outcome.  If it cannot be written the intent stays, and what became of it is found in the
 * file system unless these names are changed once more.
 */
static void dafsd_intent_settle(struct dafsd_rqst *rq, dafs_status_t status)
{
	enum dafsd_crash crash = READ_ONCE(dafsd_intent_crash);

	if (!crash && status) {
		dafsd_intent_failed(rq, status);
		return;
	}
	if (!crash || crash == DAFSD_CRASH_RECORDED) {
		dafsd_response_record(rq->ses->respcache, rq->response, DAFSD_RESPONSE_EXECUTED);
		dafsd_store_sync(dafsd_server.store);
	}
	if (crash)
		rq->response->intended = false;
}

/*
 * @w: what tells later whether it was executed, which the response takes over; NULL if nothing does
 *
 * Return: OK; RESOURCE; or IO: it must not be executed.
 */
static dafs_status_t dafsd_intent_record(struct dafsd_rqst *rq, struct dafsd_witness *w)
{
	struct dafsd_response *response = rq->response;
	dafs_status_t status = DAFS_STATUS_OK;

	dafsd_response_set_witness(response, w, w ? dafsd_witness_size(w) : 0);
	if (dafsd_response_record(rq->ses->respcache, response, DAFSD_RESPONSE_INTENT))
		status = DAFSERR_RESOURCE;
	else if (dafsd_store_sync(dafsd_server.store) ||
		 READ_ONCE(dafsd_intent_crash) == DAFSD_CRASH_INTENDED)
		status = DAFSERR_IO;
	response->intended = !status;
	if (status && !READ_ONCE(dafsd_intent_crash))
		dafsd_response_unrecord(rq->ses->respcache, response);
	return status;
}

/* Nothing will tell after a crash whether it was executed: then that is what clients are told. */
static dafs_status_t dafsd_intent_unknown(struct dafsd_rqst *rq)
{
	return dafsd_intent_record(rq, NULL);
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

/* What is to be found out about names before they are changed */
enum dafsd_intent_look {
	DAFSD_LOOK_GOOD,	/* the witness tells */
	DAFSD_LOOK_VOID,	/* the request will fail, or changes nothing */
	DAFSD_LOOK_BLIND,	/* there is no witness */
};

/* Two names of one object: RENAME does nothing. */
static enum dafsd_intent_look dafsd_intent_look_to(const struct dafsd_intent *intent,
						   const struct dafsd_witness *w,
						   dafs_status_t *status)
{
	struct dentry *dentry = dafsd_intent_lookup(intent->to, intent->to_name);
	struct dafsd_persist_file there;
	bool same;

	if (IS_ERR(dentry))
		*status = dafs_errno_to_status(PTR_ERR(dentry));
	if (IS_ERR_OR_NULL(dentry))
		return DAFSD_LOOK_GOOD;
	same = dafsd_persist_identify(d_inode(dentry), &there) &&
	       !memcmp(&there, &w->object, sizeof(there));
	dput(dentry);
	return same ? DAFSD_LOOK_VOID : DAFSD_LOOK_GOOD;
}

/*
 * Fill in what tells later whether the name was changed.
 *
 * @status: set to why the name cannot be looked up, if so
 */
static enum dafsd_intent_look dafsd_intent_look(const struct dafsd_intent *intent,
						struct dafsd_witness *w, dafs_status_t *status)
{
	struct dentry *dentry = dafsd_intent_lookup(intent->dir, intent->name);
	bool makes = intent->rq->base.hdr.procedure == DAFS_PROC_CREATE || intent->source;
	const struct inode *object = intent->source ? dafsd_fh_inode(intent->source) : NULL;
	enum dafsd_intent_look look = DAFSD_LOOK_GOOD;

	if (IS_ERR(dentry)) {
		*status = dafs_errno_to_status(PTR_ERR(dentry));
		return DAFSD_LOOK_VOID;
	}
	if (!makes && dentry)
		object = d_inode(dentry);
	if (makes == !!dentry)
		look = DAFSD_LOOK_VOID;
	else if (object && !dafsd_persist_identify(object, &w->object))
		look = DAFSD_LOOK_BLIND;
	else if (intent->to)
		look = dafsd_intent_look_to(intent, w, status);
	dput(dentry);
	return look;
}

static struct dafsd_witness *dafsd_intent_describe(const struct dafsd_intent *intent)
{
	u32 to_len = intent->to ? intent->to_name->len : 0;
	struct dafsd_witness *w = dafsd_witness_alloc(intent->name->len, to_len);

	if (!w)
		return NULL;
	memcpy(w->fshandle, intent->dir->exp->fshandle, sizeof(w->fshandle));
	memcpy(w->names, intent->name->data, intent->name->len);
	if (intent->to)
		memcpy(w->names + intent->name->len, intent->to_name->data, to_len);
	return w;
}

static dafs_status_t dafsd_intent_make(struct dafsd_intent *intent)
{
	struct dafsd_witness *w = dafsd_intent_describe(intent);
	enum dafsd_intent_look look;
	dafs_status_t status = DAFS_STATUS_OK;

	if (!w)
		return DAFSERR_RESOURCE;
	look = dafsd_intent_look(intent, w, &status);
	if (!dafsd_persist_possible(dafsd_fh_inode(intent->dir)) ||
	    !dafsd_persist_identify(dafsd_fh_inode(intent->dir), &w->dir) ||
	    (intent->to && !dafsd_persist_identify(dafsd_fh_inode(intent->to), &w->to)))
		look = look == DAFSD_LOOK_VOID ? look : DAFSD_LOOK_BLIND;
	if (status || look != DAFSD_LOOK_GOOD)
		kfree(w);
	if (status || look == DAFSD_LOOK_VOID)
		return status;
	status = look == DAFSD_LOOK_GOOD ? dafsd_intent_record(intent->rq, w) :
					   dafsd_intent_unknown(intent->rq);
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
	/* an OPEN that makes a file is repeated after a crash, but others wait for it */
	if (!dafsd_intent_wanted(intent->rq) ||
	    intent->rq->base.hdr.procedure == DAFS_PROC_OPEN)
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
	struct dafsd_witness *w;

	if (intent->recorded) {
		dafsd_fh_drop_write(intent->dir);
		if (intent->to)
			dafsd_fh_drop_write(intent->to);
		w = intent->rq->response->witness;
		if (w && intent->made)
			dafsd_persist_identify(intent->made, &w->object);
		dafsd_intent_settle(intent->rq, status);
	}
	dafsd_intent_unlock(intent);
}

/* How many pages of the file does an append reach into? */
static u32 dafsd_append_pages(loff_t offset, size_t len)
{
	return DIV_ROUND_UP(offset_in_page(offset) + len, PAGE_SIZE);
}

/* Return: false without memory. */
static bool dafsd_intent_sum(struct dafsd_witness *w, const struct iov_iter *data)
{
	loff_t pos = le64_to_cpu(w->offset);
	struct iov_iter iter = *data;
	u8 *part = kmalloc(PAGE_SIZE, GFP_KERNEL);
	u8 *sum = w->names;
	size_t n;

	if (!part)
		return false;
	while ((n = copy_from_iter(part, PAGE_SIZE - offset_in_page(pos), &iter))) {
		put_unaligned_le32(crc32c(0, part, n), sum);
		sum += sizeof(__le32);
		pos += n;
	}
	kfree(part);
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
	loff_t size = i_size_read(inode);
	u32 pages = dafsd_append_pages(size, iov_iter_count(data));
	struct dafsd_witness *w;

	if (!dafsd_intent_wanted(rq))
		return DAFS_STATUS_OK;
	if (!dafsd_persist_possible(inode))
		return dafsd_intent_unknown(rq);
	w = dafsd_witness_alloc(pages * sizeof(__le32), 0);
	if (!w)
		return DAFSERR_RESOURCE;
	w->offset = cpu_to_le64(size);
	w->length = cpu_to_le32(iov_iter_count(data));
	if (!dafsd_persist_identify(inode, &w->dir) || !dafsd_intent_sum(w, data)) {
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
 * Context: may sleep for the store; without OK holds dafsd_file.append exclusively.
 */
void dafsd_intent_appended(struct dafsd_rqst *rq, dafs_status_t status, u64 offset)
{
	const struct dafsd_witness *w;

	if (!rq->response || !rq->response->intended)
		return;
	/* a program of the server has come first: nothing will be found where it was to be */
	w = rq->response->witness;
	if (!status && w && le64_to_cpu(w->offset) != offset)
		dafsd_response_set_witness(rq->response, NULL, 0);
	dafsd_intent_settle(rq, status);
}
