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
 *  2. The outcome is durable before the response, and before any other request changes the same:
 *     so nothing but the change itself can have made what is found.  To that end a request holds
 *     what it changes, see hold.c.  Programs of the server do not wait.
 *  3. That a request has failed is durable before the response, and before any other request
 *     changes the same, or writes where the data was to be appended.
 *
 * Recorded are CREATE, REMOVE, RENAME and LINK, here; appends, SETATTR, and WRITEs that are to be
 * stable, in intent_data.c.  dafsd_response_is_recorded() says which kinds always are.  Of the
 * others it is answered that nothing is known, and they are repeated after a crash: a WRITE that
 * was not stable may be gone with all others since the last COMMIT, COMMIT changes nothing once
 * more, and OPEN, LOCK and the like are about state that is gone with the server.
 */
#include <linux/minmax.h>
#include <linux/namei.h>
#include <linux/slab.h>
#include <linux/stringhash.h>
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

static void dafsd_name_set(struct dafsd_hold *to, const struct dafsd_fh *dir,
			   const struct dafs_str *name)
{
	to->inode = dafsd_fh_inode(dir);
	to->first = full_name_hash(to->inode, name->data, name->len);
	to->last = to->first;
}

/* Two in the order of dafsd_hold_cmp() */
static void dafsd_intent_lock(struct dafsd_intent *intent)
{
	struct dafsd_hold *names = intent->held;

	dafsd_name_set(&names[intent->nr++], intent->dir, intent->name);
	if (intent->to)
		dafsd_name_set(&names[1], intent->to, intent->to_name);
	if (intent->to && dafsd_hold_cmp(&names[0], &names[1])) {
		intent->nr++;
		if (dafsd_hold_cmp(&names[0], &names[1]) > 0)
			swap(names[0], names[1]);
	}
	dafsd_hold_take(&names[0]);
	if (intent->nr > 1)
		dafsd_hold_take_second(&names[1]);
}

static void dafsd_intent_unlock(struct dafsd_intent *intent)
{
	while (intent->nr)
		dafsd_hold_end(&intent->held[--intent->nr]);
}

/**
 * dafsd_intent_wanted() - is the outcome of a request to be known after a crash?
 * @rq: the request
 *
 * Context: any.
 * Return: true if so.
 */
bool dafsd_intent_wanted(const struct dafsd_rqst *rq)
{
	return rq->response && rq->ses->respcache->owner;
}

/**
 * dafsd_witness_alloc() - allocate a witness
 * @data_len: its data_len
 * @more_len: its more_len
 *
 * Context: may sleep.
 * Return: the witness, for dafsd_intent_record() or kfree(); NULL without memory.
 */
struct dafsd_witness *dafsd_witness_alloc(u32 data_len, u32 more_len)
{
	struct dafsd_witness *w = kzalloc(struct_size(w, data, data_len + more_len), GFP_KERNEL);

	if (!w)
		return NULL;
	w->data_len = cpu_to_le16(data_len);
	w->more_len = cpu_to_le16(more_len);
	return w;
}

static u32 dafsd_witness_size(const struct dafsd_witness *w)
{
	return struct_size(w, data, le16_to_cpu(w->data_len) + le16_to_cpu(w->more_len));
}

/* Bytes of results of a request that has failed, behind the header */
#define DAFSD_FAILED_MOST	16

/*
 * SETATTR has results also when it fails: the attributes that were set.
 *
 * @response: of the request; it is not DONE, so no task reads its results
 */
static void dafsd_intent_failed_body(struct dafsd_rqst *rq, struct dafsd_response *response)
{
	u8 data[DAFS_HDR_SIZE + DAFSD_FAILED_MOST] = {};
	struct dafs_buf buf = {
		.base = data,
		.len = sizeof(data),
		.swab = rq->ses->respcache->swab,
	};
	int len;

	/* of an earlier request */
	kvfree(response->more);
	response->more = NULL;
	response->len = 0;
	if (!rq->body)
		return;
	len = dafs_encode_res(&buf, rq->base.hdr.procedure, &rq->res);
	if (len < (int)DAFS_HDR_SIZE)
		return;
	response->len = len - DAFS_HDR_SIZE;
	memcpy(response->results, data + DAFS_HDR_SIZE, response->len);
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
	dafsd_intent_failed_body(rq, response);
	if (dafsd_status_puts_off(status) ||
	    dafsd_response_record(cache, response, DAFSD_RESPONSE_RESULTS))
		dafsd_response_unrecord(cache, response);
	dafsd_store_sync(dafsd_server.store);
	response->intended = false;
}

/**
 * dafsd_intent_record_outcome() - record the outcome of a request
 * @rq: the request, after dafsd_intent_record()
 * @status: OK, and what it has changed is durable; or why not
 *
 * If that cannot be written the intent stays, and what became of it is found in the file system
 * unless the same is changed once more.
 *
 * Context: may sleep for the store; has no write access to a file system.
 */
void dafsd_intent_record_outcome(struct dafsd_rqst *rq, dafs_status_t status)
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

/**
 * dafsd_intent_record() - record that a request is about to be executed
 * @rq: the request
 * @w: what tells later whether it was executed, which the response takes over; NULL if nothing
 *	does: then clients are told after a crash that it is not known
 *
 * Context: may sleep for the store; has no write access to a file system.
 * Return: OK; RESOURCE; or IO: it must not be executed.
 */
dafs_status_t dafsd_intent_record(struct dafsd_rqst *rq, struct dafsd_witness *w)
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
	u32 more_len = intent->to ? intent->to_name->len : 0;
	struct dafsd_witness *w = dafsd_witness_alloc(intent->name->len, more_len);

	if (!w)
		return NULL;
	memcpy(w->fshandle, intent->dir->exp->fshandle, sizeof(w->fshandle));
	memcpy(w->data, intent->name->data, intent->name->len);
	if (intent->to)
		memcpy(w->data + intent->name->len, intent->to_name->data, more_len);
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
	status = dafsd_intent_record(intent->rq, look == DAFSD_LOOK_GOOD ? w : NULL);
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
	if (!dafsd_intents_on() || dafsd_fh_is_pseudo(intent->dir))
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
		dafsd_intent_record_outcome(intent->rq, status);
	}
	dafsd_intent_unlock(intent);
}
