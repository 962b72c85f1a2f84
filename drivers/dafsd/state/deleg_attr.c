// SPDX-License-Identifier: GPL-2.0
/*
 * BC_GETATTR (6.6.3): what a client that may write without the server has not written yet.
 *
 * A GETATTR, VERIFY or NVERIFY by another client asks the delegate, and waits without a worker
 * until it has answered, for a second at most.  Without an answer, what the file system knows must
 * do.
 *
 * A struct dafsd_attr_wait has one reference of its request, until that is answered, and one of
 * the directive while it is under way.
 */
#include <linux/slab.h>
#include <linux/dafs/requester.h>
#include "../session/client.h"
#include "../session/server.h"
#include "../request/request.h"
#include "../vfs/fh.h"
#include "deleg_impl.h"

/* How long a delegate is waited for, in ms */
#define DAFSD_ATTR_WAIT_MS	1000

/* What a delegate may change */
#define DAFSD_DELEGATED_ATTRS	(DAFS_FATTR_CHANGE | DAFS_FATTR_OBJECT_SIZE |	\
				 DAFS_FATTR_TIME_MODIFY)

/**
 * struct dafsd_attr_wait - a request that waits for a delegate
 * @base: what it waits by
 * @ref: see above
 * @dir: BC_GETATTR; its client has a reference
 * @state_id: the delegation
 * @args: its arguments
 * @res: its result; valid with @answered
 * @answered: the delegate has answered
 * @timer: ends the wait
 */
struct dafsd_attr_wait {
	struct dafsd_wait base;
	refcount_t ref;
	struct dafsd_directive dir;
	struct dafs_state_id state_id;
	struct dafs_getattr_args args;
	struct dafs_getattr_res res;
	bool answered;
	struct delayed_work timer;
};

static struct dafsd_attr_wait *dafsd_attr_wait_of(struct dafsd_wait *base)
{
	return container_of(base, struct dafsd_attr_wait, base);
}

static void dafsd_attr_wait_put(struct dafsd_attr_wait *wait)
{
	if (!refcount_dec_and_test(&wait->ref))
		return;
	dafsd_client_put(wait->dir.client);
	kfree(wait);
}

static void dafsd_attr_wait_over(struct work_struct *work)
{
	dafsd_wait_ready(&container_of(to_delayed_work(work), struct dafsd_attr_wait,
				       timer)->base);
}

static void dafsd_attr_wait_end(struct dafsd_wait *base)
{
	struct dafsd_attr_wait *wait = dafsd_attr_wait_of(base);

	cancel_delayed_work_sync(&wait->timer);
	dafsd_attr_wait_put(wait);
}

static void dafsd_attr_answered(struct dafsd_directive *dir, const struct dafs_call *call)
{
	struct dafsd_attr_wait *wait = container_of(dir, struct dafsd_attr_wait, dir);
	struct dafs_buf buf = call->buf;

	if (!call->error && !call->status &&
	    !dafs_decode_res(&buf, DAFS_PROC_BC_GETATTR, &wait->res)) {
		/* pairs with dafsd_deleg_answer() */
		smp_store_release(&wait->answered, true);
	}
	dafsd_wait_ready(&wait->base);
	dafsd_attr_wait_put(wait);
}

/* Takes over a reference to @client. */
static struct dafsd_attr_wait *dafsd_attr_wait_new(struct dafsd_client *client,
						   const struct dafs_fh *fh, u64 bitmap)
{
	struct dafsd_attr_wait *wait = kzalloc(sizeof(*wait), GFP_KERNEL);

	if (!wait) {
		dafsd_client_put(client);
		return NULL;
	}
	wait->base.what = "for a delegate";
	wait->base.end = dafsd_attr_wait_end;
	INIT_LIST_HEAD(&wait->base.queue);
	refcount_set(&wait->ref, 1);
	INIT_DELAYED_WORK(&wait->timer, dafsd_attr_wait_over);
	wait->args = (struct dafs_getattr_args){
		.filehandle = *fh,
		.attr_request_bitmap = bitmap,
	};
	wait->dir = (struct dafsd_directive){
		.client = client,
		.proc = DAFS_PROC_BC_GETATTR,
		.args = &wait->args,
		.done = dafsd_attr_answered,
	};
	return wait;
}

/* Return: true if the delegate was asked. */
static bool dafsd_attr_wait_begin(struct dafsd_attr_wait *wait)
{
	dafsd_wait_begin(&wait->base);
	refcount_inc(&wait->ref);
	if (dafsd_direct(&wait->dir)) {
		dafsd_attr_wait_put(wait);
		return false;
	}
	queue_delayed_work(dafsd_timer_wq, &wait->timer, msecs_to_jiffies(DAFSD_ATTR_WAIT_MS));
	wait->base.pending = true;
	return true;
}

/**
 * dafsd_deleg_ask() - the attributes of an object are wanted: does a client know them better?
 * @rq: the request, which has not changed anything
 * @fh: the object
 * @wanted: DAFS_FATTR_*
 *
 * Context: may sleep.
 * Return: OK: dafsd_deleg_answer() may tell more; DELAY: the request waits for an answer, and
 * is then handled anew.
 */
dafs_status_t dafsd_deleg_ask(struct dafsd_rqst *rq, const struct dafsd_fh *fh, u64 wanted)
{
	struct dafsd_attr_wait *wait;
	struct dafs_state_id state_id;
	struct dafsd_client *client;
	struct dafs_fh wire;

	if (rq->wait || !(wanted & DAFSD_DELEGATED_ATTRS) || dafsd_fh_is_pseudo(fh))
		return DAFS_STATUS_OK;
	client = dafsd_deleg_writer(dafsd_fh_inode(fh), &wire, &state_id);
	if (!client)
		return DAFS_STATUS_OK;
	wait = dafsd_attr_wait_new(client, &wire, wanted & DAFSD_DELEGATED_ATTRS);
	if (!wait)
		return DAFSERR_RESOURCE;
	wait->state_id = state_id;
	rq->wait = &wait->base;
	return dafsd_attr_wait_begin(wait) ? DAFSERR_DELAY : DAFS_STATUS_OK;
}

/**
 * dafsd_deleg_answer() - put what a delegate has told into attributes
 * @rq: the request of dafsd_deleg_ask()
 * @attr: as the file system has them
 *
 * The delegate may have written, and returned the delegation, since it has answered.  Then the
 * file system knows better.
 *
 * Context: process.
 */
void dafsd_deleg_answer(const struct dafsd_rqst *rq, struct dafs_fattr *attr)
{
	const struct dafsd_attr_wait *wait = rq->wait ? dafsd_attr_wait_of(rq->wait) : NULL;
	const struct dafs_fattr *told;
	u64 which;

	/* pairs with dafsd_attr_answered() */
	if (!wait || !smp_load_acquire(&wait->answered) ||
	    !dafsd_deleg_lives(wait->dir.client, &wait->state_id))
		return;
	told = &wait->res.obj_attributes;
	which = told->included & told->valid & attr->included & attr->valid;
	if (which & DAFS_FATTR_CHANGE)
		attr->change = max(attr->change, told->change);
	if (which & DAFS_FATTR_OBJECT_SIZE)
		attr->object_size = told->object_size;
	if (which & DAFS_FATTR_TIME_MODIFY)
		attr->time_modify = told->time_modify;
}
