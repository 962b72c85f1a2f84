// SPDX-License-Identifier: GPL-2.0
/*
 * NULL (6.5.1), the smallest request: a round trip through client and server,
 * without a file system.
 */
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <linux/dafs/chan.h>
#include <linux/dafs/msg.h>
#include <linux/dafs/requester.h>
#include <linux/dafs/status.h>
#include "floor.h"

/**
 * struct floor_session - a session with the server
 * @chan: its operation channel
 * @rq: sends the requests
 * @end: fails the calls when the channel fails
 * @call: those under way, oldest at @done modulo the depth
 */
struct floor_session {
	struct dafs_chan *chan;
	struct dafs_requester *rq;
	struct work_struct end;
	struct dafs_call *call[FLOOR_MAX_DEPTH];
};

static void floor_session_end(struct work_struct *work)
{
	struct floor_session *ses = container_of(work, struct floor_session, end);

	dafs_chan_quiesce(ses->chan);
	dafs_requester_abort(ses->rq, -ENOTCONN);
}

static void floor_chan_closed(struct dafs_chan *chan, enum dafs_close_reason reason)
{
	struct floor_session *ses = chan->priv;

	/* pairs with floor_in_session(): before that there is nothing to fail */
	if (smp_load_acquire(&ses->rq))
		schedule_work(&ses->end);
}

static const struct dafs_chan_ops floor_chan_ops = {
	.closed = floor_chan_closed,
};

static struct dafs_call *floor_call_start(struct floor_session *ses, u32 proc, void *args)
{
	struct dafs_call *call = dafs_call_alloc(GFP_KERNEL);
	int err;

	if (!call)
		return ERR_PTR(-ENOMEM);
	call->proc = proc;
	call->args = args;
	err = dafs_call_start(ses->rq, call);
	if (err) {
		dafs_call_put(call);
		return ERR_PTR(err);
	}
	return call;
}

static int floor_call_wait(struct dafs_call *call)
{
	return dafs_call_wait(call) ?: dafs_status_to_errno(call->status);
}

static int floor_login(struct floor_session *ses, u32 depth)
{
	struct dafs_client_connect_auth_args args = {
		.connect.opts = {
			.max_request_size = DAFS_FIRST_MSG_SIZE,
			.max_response_size = DAFS_FIRST_MSG_SIZE,
			.max_requests = depth,
		},
		.connect.client_id_string = {
			.len = strlen("dafs_floor"),
			.data = (const u8 *)"dafs_floor",
		},
		.auth_req.auth_type = DAFS_AUTH_NONE,
	};
	struct dafs_client_connect_auth_res res;
	struct dafs_call *call;
	int err;

	call = floor_call_start(ses, DAFS_PROC_CLIENT_CONNECT_AUTH, &args);
	if (IS_ERR(call))
		return PTR_ERR(call);
	err = floor_call_wait(call);
	if (!err && dafs_decode_res(&call->buf, call->proc, &res))
		err = -EPROTO;
	if (!err)
		dafs_requester_negotiated(ses->rq, res.connect.opts.max_requests);
	dafs_call_put(call);
	return err;
}

/* DISCONNECT, so that the server frees the session at once; errors do not matter. */
static void floor_logout(struct floor_session *ses)
{
	struct dafs_call *call = floor_call_start(ses, DAFS_PROC_DISCONNECT, NULL);

	if (IS_ERR(call))
		return;
	floor_call_wait(call);
	dafs_call_put(call);
}

static int floor_nulls(struct floor_session *ses, struct floor_job *job)
{
	ktime_t begin = ktime_get(), end = ktime_add_ms(begin, job->ms);
	struct dafs_call *call;
	u64 started = 0;
	int err = 0;

	for (;;) {
		while (!err && started - job->done < job->depth &&
		       ktime_before(ktime_get(), end)) {
			call = floor_call_start(ses, DAFS_PROC_NULL, NULL);
			if (IS_ERR(call))
				err = PTR_ERR(call);
			else
				ses->call[started++ % job->depth] = call;
		}
		if (started == job->done)
			break;
		call = ses->call[job->done++ % job->depth];
		err = floor_call_wait(call) ?: err;
		dafs_call_put(call);
	}
	job->ns = ktime_to_ns(ktime_sub(ktime_get(), begin));
	return err;
}

static int floor_in_session(struct floor_session *ses, struct floor_job *job)
{
	struct dafs_requester *rq;
	int err;

	rq = dafs_requester_create(ses->chan, 1, job->depth, FLOOR_CM_MS);
	if (IS_ERR(rq))
		return PTR_ERR(rq);
	/* pairs with floor_chan_closed() */
	smp_store_release(&ses->rq, rq);
	err = floor_login(ses, job->depth);
	if (!err) {
		err = floor_nulls(ses, job);
		floor_logout(ses);
	}
	dafs_chan_quiesce(ses->chan);
	cancel_work_sync(&ses->end);
	dafs_requester_destroy(rq);
	return err;
}

/**
 * floor_null_run() - measure NULL
 * @job: how many at a time and for how long; filled with the result
 * @addr: the server
 *
 * Context: may sleep.
 * Return: 0 or a negative errno, -ECONNREFUSED among them: no server.
 */
int floor_null_run(struct floor_job *job, struct sockaddr *addr)
{
	struct dafs_chan_params params = {
		.net = &init_net,
		.ops = &floor_chan_ops,
		.type = DAFS_CHANNEL_OPERATION,
		.send_size = DAFS_FIRST_MSG_SIZE,
		.recv_size = DAFS_FIRST_MSG_SIZE,
		.depth = job->depth,
	};
	struct floor_session *ses;
	int err;

	ses = kzalloc(sizeof(*ses), GFP_KERNEL);
	if (!ses)
		return -ENOMEM;
	INIT_WORK(&ses->end, floor_session_end);
	params.priv = ses;
	ses->chan = dafs_chan_connect(&params, addr, NULL, FLOOR_CM_MS);
	if (IS_ERR(ses->chan)) {
		err = PTR_ERR(ses->chan);
		goto free;
	}
	err = floor_in_session(ses, job);
	dafs_chan_destroy(ses->chan);
free:
	kfree(ses);
	return err;
}
