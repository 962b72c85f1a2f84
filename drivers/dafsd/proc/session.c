// SPDX-License-Identifier: GPL-2.0
/* Session procedures (6.2): connect, authenticate, bind, disconnect, credentials. */
#include <linux/slab.h>
#include <linux/dafs/requester.h>
#include "../session/server.h"
#include "../session/client.h"
#include "../session/conn.h"
#include "../session/respcache.h"
#include "../session/session.h"
#include "../request/request.h"
#include "../state/state.h"
#include "proc.h"

#define DAFSD_AUTH_TRIES	3	/* E-52 */
#define DAFSD_AUTH_SECONDS	30	/* E-45 */
#define DAFSD_HANG_UP_SECONDS	5	/* E-51 */
#define DAFSD_DIRECTIVE_MS	1000U	/* a client has at least so long to answer one */

/* A size as the draft requires: a default for 0, a multiple of 8, within limits (E-38). */
static u32 dafsd_negotiate_size(u32 asked, u32 most)
{
	if (!asked)
		return most;
	return clamp_t(u32, round_up(min(asked, most), 8), DAFS_MIN_MSG_SIZE, most);
}

/* Offset of the data in a padded write; 0: padded writes are not used (E-18). */
static u32 dafsd_negotiate_header(u32 asked, u32 max_request_size)
{
	if (!asked)
		return 0;
	return clamp_t(u32, round_up(min(asked, max_request_size), 8), DAFS_WRITE_INLINE_DATA,
		       max_request_size - 8);
}

static void dafsd_negotiate(const struct dafs_chan_limits *lim,
			    const struct dafs_connect_opts *asked, struct dafs_connect_opts *opts)
{
	u32 most_requests = lim->depth;

	*opts = (struct dafs_connect_opts) {
		.use_checksums = !!asked->use_checksums,	/* E-35 */
		.max_credentials = clamp_t(u32, asked->max_credentials ?: 64, 1,
					   DAFSD_MAX_CREDENTIALS),
		.max_request_size = dafsd_negotiate_size(asked->max_request_size, lim->recv_size),
		.max_response_size = dafsd_negotiate_size(asked->max_response_size,
							  lim->send_size),
		.max_requests = clamp_t(u32, asked->max_requests ?: most_requests, 1,
					most_requests),
		.use_back_control_channel = !!asked->use_back_control_channel,
		.use_rdma_read_channel = !!asked->use_rdma_read_channel,
	};
	opts->inline_write_header_size = dafsd_negotiate_header(asked->inline_write_header_size,
								opts->max_request_size);
}

static dafs_status_t dafsd_connect_check(const struct dafs_client_connect_args *args)
{
	if (!args->client_id_string.len || args->client_id_string.len > DAFS_MAX_ID_STRING ||
	    args->fence_id_string.len > DAFS_MAX_ID_STRING)
		return DAFSERR_INVAL;
	return DAFS_STATUS_OK;
}

static dafs_status_t dafsd_keep_fence_id(struct dafsd_session *ses, const struct dafs_str *id)
{
	if (!id->len)
		return DAFS_STATUS_OK;
	ses->fence_id.data = kmemdup(id->data, id->len, GFP_KERNEL);
	ses->fence_id.len = id->len;
	return ses->fence_id.data ? DAFS_STATUS_OK : DAFSERR_RESOURCE;
}

/* E-59: TRUE is answered if it survives a crash of the server. */
static dafs_status_t dafsd_connect_respcache(struct dafsd_session *ses, bool asked)
{
	enum dafsd_respcache_kind kind = READ_ONCE(dafsd_respcache_kind);

	if (kind == DAFSD_RESPCACHE_NONE)
		return DAFS_STATUS_OK;
	ses->respcache = dafsd_respcache_create(ses, ses->op->chan->limits.depth);
	if (!ses->respcache)
		return DAFSERR_RESOURCE;
	if (asked && kind == DAFSD_RESPCACHE_STABLE)
		ses->opts.use_response_cache = dafsd_respcache_keep(ses->respcache, ses->client);
	return DAFS_STATUS_OK;
}

/* Set the options and the client, and post the receives that the options promise (E-37). */
static dafs_status_t dafsd_connect_session(struct dafsd_session *ses,
					   const struct dafs_client_connect_args *args)
{
	struct dafsd_conn *op = ses->op;

	if (dafsd_keep_fence_id(ses, &args->fence_id_string))
		return DAFSERR_RESOURCE;
	dafsd_negotiate(&op->chan->limits, &args->opts, &ses->opts);
	ses->client = dafsd_client_get(op->peer, &args->client_id_string, &args->client_verifier,
				       ses->opts.max_credentials);
	if (!ses->client)
		return DAFSERR_RESOURCE;
	ses->opts.max_credentials = ses->client->max_credentials;
	if (dafsd_connect_respcache(ses, args->opts.use_response_cache))
		return DAFSERR_RESOURCE;
	return dafs_responder_open(op->responder, ses->opts.max_requests) ? DAFSERR_RESOURCE :
									    DAFS_STATUS_OK;
}

/* CLIENT_CONNECT without the change of state: make the session. */
static dafs_status_t dafsd_connect(struct dafsd_rqst *rq,
				   const struct dafs_client_connect_args *args,
				   struct dafs_client_connect_res *res)
{
	u32 type = rq->base.chan->peer_type;
	dafs_status_t status;

	if (type && type != DAFS_CHANNEL_OPERATION)
		return DAFSERR_INVAL;
	status = dafsd_connect_check(args);
	if (status)
		return status;
	rq->ses = dafsd_session_create(rq->conn);
	if (!rq->ses)
		return DAFSERR_RESOURCE;
	status = dafsd_connect_session(rq->ses, args);
	if (status)
		return status;
	res->session_id = rq->ses->session_id;
	rq->ses->client_id = rq->ses->client->client_id;
	res->client_id = rq->ses->client_id;
	res->opts = rq->ses->opts;
	return DAFS_STATUS_OK;
}

/* After a failure the connection is as it was (E-45). */
static dafs_status_t dafsd_connected(struct dafsd_rqst *rq, dafs_status_t status)
{
	if (!status) {
		/* checksums begin with the message after the connect response (E-33) */
		rq->base.chan->cksum = rq->ses->opts.use_checksums;
	} else if (rq->ses) {
		dafsd_session_end(rq->ses);
		rq->ses = NULL;
	}
	return status;
}

/*
 * NONE and DEFAULT have one principal each (E-45).  This server accepts no others, and
 * SECINFO lists no others.
 */
static dafs_status_t dafsd_authenticate(const struct dafs_auth_req *req,
					const struct dafsd_principal **principal)
{
	static const struct dafsd_principal none = { DAFS_AUTH_NONE, .trusted = true };
	static const struct dafsd_principal anonymous = { DAFS_AUTH_DEFAULT };

	switch (req->auth_type) {
	case DAFS_AUTH_NONE:
		*principal = &none;
		return READ_ONCE(dafsd_auth_none) ? DAFS_STATUS_OK : DAFSERR_NOT_AUTHORIZED;
	case DAFS_AUTH_DEFAULT:
		*principal = &anonymous;
		return DAFS_STATUS_OK;
	case DAFS_AUTH_TEXT:
	case DAFS_AUTH_GSS:
		return DAFSERR_NOTSUPP;
	default:
		return DAFSERR_INVAL;
	}
}

static dafs_status_t dafsd_auth(struct dafsd_session *ses, const struct dafs_auth_req *req,
				struct dafs_auth_res *res, u8 *trusted)
{
	const struct dafsd_principal *principal;
	dafs_status_t status;

	status = dafsd_authenticate(req, &principal);
	if (!status)
		status = dafsd_client_confirm(ses, principal);
	if (status)
		return status;
	ses->principal = principal;
	ses->trusted = principal->trusted;
	dafsd_respcache_announce(ses->respcache, principal->auth_type);
	res->auth_type = req->auth_type;
	*trusted = ses->trusted;
	if (!dafsd_conn_set_state(ses->op, DAFSD_CONN_READY, ses))
		return DAFSERR_ILLEGAL_STATE;
	dafsd_conn_reap_in(ses->op, dafsd_lease_seconds);
	dafsd_session_show_in_sysfs(ses);
	return DAFS_STATUS_OK;
}

/**
 * dafsd_proc_client_connect() - CLIENT_CONNECT, 6.2.1
 * @rq: the request
 *
 * Return: DAFS status.
 */
dafs_status_t dafsd_proc_client_connect(struct dafsd_rqst *rq)
{
	dafs_status_t status;

	status = dafsd_connect(rq, &rq->args.client_connect, &rq->res.client_connect);
	if (!status && !dafsd_conn_set_state(rq->conn, DAFSD_CONN_CONNECTED, rq->ses))
		status = DAFSERR_ILLEGAL_STATE;
	if (!status)
		dafsd_conn_reap_in(rq->conn, DAFSD_AUTH_SECONDS);
	return dafsd_connected(rq, status);
}

/**
 * dafsd_proc_client_connect_auth() - CLIENT_CONNECT_AUTH, 6.2.4
 * @rq: the request
 *
 * Return: DAFS status.
 */
dafs_status_t dafsd_proc_client_connect_auth(struct dafsd_rqst *rq)
{
	struct dafs_client_connect_auth_args *args = &rq->args.client_connect_auth;
	struct dafs_client_connect_auth_res *res = &rq->res.client_connect_auth;
	dafs_status_t status;

	status = dafsd_connect(rq, &args->connect, &res->connect) ?:
		 dafsd_auth(rq->ses, &args->auth_req, &res->auth_res, &res->trusted);
	return dafsd_connected(rq, status);
}

/**
 * dafsd_proc_client_auth() - CLIENT_AUTH, 6.2.2
 * @rq: the request
 *
 * Return: DAFS status.
 */
dafs_status_t dafsd_proc_client_auth(struct dafsd_rqst *rq)
{
	struct dafs_client_auth_res *res = &rq->res.client_auth;
	dafs_status_t status;

	if (READ_ONCE(rq->conn->state) != DAFSD_CONN_CONNECTED)
		return DAFSERR_ILLEGAL_STATE;
	status = dafsd_auth(rq->ses, &rq->args.client_auth.auth_req, &res->auth_res,
			    &res->trusted);
	if (status && ++rq->conn->auth_failures >= DAFSD_AUTH_TRIES)
		rq->hang_up = true;
	return status;
}

/**
 * dafsd_proc_server_auth() - SERVER_AUTH, 6.2.3
 * @rq: the request
 *
 * With NONE and DEFAULT there is nothing to prove: the result is void.
 *
 * Return: DAFS status.
 */
dafs_status_t dafsd_proc_server_auth(struct dafsd_rqst *rq)
{
	u32 type = rq->args.server_auth.auth_type;

	if (type != rq->ses->principal->auth_type)
		return DAFSERR_INVAL;		/* E-50 */
	rq->res.server_auth.auth_type = type;
	return DAFS_STATUS_OK;
}

static dafs_status_t dafsd_bind_check(const struct dafsd_conn *bound,
				      const struct dafsd_session *ses,
				      const struct dafs_connect_bind_args *args)
{
	bool bc = args->channel_use == DAFS_BACK_CONTROL_CHANNEL;
	u32 type = bc ? DAFS_CHANNEL_BACK_CONTROL : DAFS_CHANNEL_RDMA_READ;

	if (!bc && args->channel_use != DAFS_RDMA_READ_CHANNEL)
		return DAFSERR_INVAL;
	if (bound->chan->peer_type && bound->chan->peer_type != type)
		return DAFSERR_INVAL;
	switch (smp_load_acquire(&ses->op->state)) {	/* pairs with dafsd_conn_set_state() */
	case DAFSD_CONN_READY:
		break;
	case DAFSD_CONN_NEW:
	case DAFSD_CONN_CONNECTED:
		return DAFSERR_NOT_AUTHENTICATED;
	default:
		return DAFSERR_UNKNOWN_SESSION;
	}
	if (bc ? !ses->opts.use_back_control_channel : !ses->opts.use_rdma_read_channel)
		return DAFSERR_NOTSUPP;
	if (args->auth_req.auth_type != ses->principal->auth_type)
		return DAFSERR_NOT_AUTHORIZED;
	if (bc && (!args->max_requests || !args->max_request_size || !args->max_response_size))
		return DAFSERR_INVAL;		/* E-43 */
	return DAFS_STATUS_OK;
}

/* The server's answers are not larger than what the client has buffers for (E-43). */
static void dafsd_bind_answer(const struct dafsd_conn *bound, const struct dafsd_session *ses,
			      const struct dafs_connect_bind_args *args,
			      struct dafs_connect_bind_res *res)
{
	const struct dafs_chan_limits *lim = &bound->chan->limits;

	res->max_requests = args->max_requests;
	res->max_request_size = args->max_request_size;
	res->max_response_size = args->max_response_size;
	if (args->channel_use == DAFS_BACK_CONTROL_CHANNEL) {
		res->max_requests = min_t(u32, args->max_requests, lim->depth);
		res->max_request_size = clamp_t(u32, args->max_request_size, DAFS_MIN_MSG_SIZE,
						lim->send_size);
		res->max_response_size = clamp_t(u32, args->max_response_size, DAFS_MIN_MSG_SIZE,
						 lim->recv_size);
	}
	res->auth_res.auth_type = ses->principal->auth_type;
	res->trusted = ses->trusted;
}

static dafs_status_t dafsd_bind_requester(struct dafsd_conn *bound, u16 nreq)
{
	struct dafs_requester *rq;

	/* a quarter of the lease: so that there is time to tell the client by another channel */
	rq = dafs_requester_create(bound->chan, nreq, nreq,
				   max(250 * dafsd_lease_seconds, DAFSD_DIRECTIVE_MS));
	if (IS_ERR(rq))
		return DAFSERR_RESOURCE;
	bound->requester = rq;
	return DAFS_STATUS_OK;
}

/*
 * Attach the channel to the session.  It may replace one that has closed (E-53), even if
 * dafsd_session_unbind() has not been called for that one yet.
 */
static dafs_status_t dafsd_bind_attach(struct dafsd_conn *bound, struct dafsd_session *ses,
				       u16 channel_use)
{
	struct dafsd_conn **where;
	dafs_status_t status = DAFS_STATUS_OK;

	where = channel_use == DAFS_BACK_CONTROL_CHANNEL ? &ses->bc : &ses->rr;
	spin_lock(&ses->lock);
	/* dafsd_session_close() takes the lock after this has changed */
	if (READ_ONCE(ses->op->state) != DAFSD_CONN_READY)
		status = DAFSERR_UNKNOWN_SESSION;
	else if (*where && dafs_chan_is_open((*where)->chan))
		status = DAFSERR_ILLEGAL_STATE;
	else
		*where = bound;
	spin_unlock(&ses->lock);
	if (!status)
		bound->bound_to = dafsd_session_get(ses);
	return status;
}

static dafs_status_t dafsd_bind(struct dafsd_rqst *rq, struct dafsd_session *ses)
{
	const struct dafs_connect_bind_args *args = &rq->args.connect_bind;
	struct dafs_connect_bind_res *res = &rq->res.connect_bind;
	struct dafsd_conn *bound = rq->conn;
	dafs_status_t status;

	/* all channels of a session use the same byte order (6.1.1.5, E-01) */
	if (bound->chan->swab != ses->op->chan->swab) {
		rq->hang_up = true;
		return DAFSERR_INVAL;
	}
	/* only now is it known whether the request carries a checksum (E-33) */
	rq->base.cksum = ses->opts.use_checksums;
	if (rq->base.cksum && !dafs_msg_cksum_ok(rq->base.in.base, rq->base.in.len))
		return DAFSERR_CHKSUM;
	status = dafsd_bind_check(bound, ses, args);
	if (status)
		return status;
	dafsd_bind_answer(bound, ses, args, res);
	if (args->channel_use == DAFS_BACK_CONTROL_CHANNEL && !bound->requester)
		status = dafsd_bind_requester(bound, res->max_requests);
	if (!status)
		status = dafsd_bind_attach(bound, ses, args->channel_use);
	if (status)
		return status;
	bound->chan->cksum = rq->base.cksum;
	return dafsd_conn_set_state(bound, DAFSD_CONN_BOUND, NULL) ? DAFS_STATUS_OK :
								     DAFSERR_ILLEGAL_STATE;
}

/* No such session, or one of another address: the number of attempts is limited. */
static dafs_status_t dafsd_bind_unknown(struct dafsd_rqst *rq)
{
	if (++rq->conn->auth_failures >= DAFSD_AUTH_TRIES)
		rq->hang_up = true;
	return DAFSERR_UNKNOWN_SESSION;
}

/**
 * dafsd_proc_connect_bind() - CONNECT_BIND, 6.2.5
 * @rq: the first request on a new channel
 *
 * Return: DAFS status.
 */
dafs_status_t dafsd_proc_connect_bind(struct dafsd_rqst *rq)
{
	struct dafsd_session *ses;
	dafs_status_t status;

	ses = dafsd_session_find(rq->conn->server, &rq->args.connect_bind.session_id);
	if (!ses)
		return dafsd_bind_unknown(rq);
	if (ses->op->peer == rq->conn->peer)
		status = dafsd_bind(rq, ses);
	else
		status = dafsd_bind_unknown(rq);
	dafsd_session_put(ses);
	return status;
}

/**
 * dafsd_prepare_disconnect() - DISCONNECT: wait until all other requests have completed
 * @rq: the request
 *
 * Return: DAFS_STATUS_OK, or DAFSERR_ILLEGAL_STATE for a second DISCONNECT: the two would
 * wait for each other.
 */
dafs_status_t dafsd_prepare_disconnect(struct dafsd_rqst *rq)
{
	return test_and_set_bit(DAFSD_SESSION_LEAVING, &rq->ses->leaving) ?
	       DAFSERR_ILLEGAL_STATE : DAFS_STATUS_OK;
}

/**
 * dafsd_proc_disconnect() - DISCONNECT, 6.2.6
 * @rq: the request, the only one that has not been answered
 *
 * The client hangs up after the response; if it does not, the server does.
 *
 * Return: DAFS_STATUS_OK.
 */
dafs_status_t dafsd_proc_disconnect(struct dafsd_rqst *rq)
{
	set_bit(DAFSD_SESSION_ENDED, &rq->ses->leaving);
	dafsd_conn_set_state(rq->conn, DAFSD_CONN_CLOSING, NULL);
	dafsd_conn_reap_in(rq->conn, DAFSD_HANG_UP_SECONDS);
	return DAFS_STATUS_OK;
}

/**
 * dafsd_proc_secinfo() - SECINFO, 6.2.7
 * @rq: the request
 *
 * Return: DAFS_STATUS_OK.
 */
dafs_status_t dafsd_proc_secinfo(struct dafsd_rqst *rq)
{
	static const struct dafs_authtype types[] = {
		{ .auth_type = DAFS_AUTH_DEFAULT },
		{ .auth_type = DAFS_AUTH_NONE },
	};

	rq->res.secinfo.secinfo = (struct dafs_seq) {
		.count = READ_ONCE(dafsd_auth_none) ? 2 : 1,
		.elems = types,
	};
	return DAFS_STATUS_OK;
}

/**
 * dafsd_proc_null() - NULL, 6.5.1: proves that both are alive
 * @rq: the request
 *
 * Return: DAFS_STATUS_OK.
 */
dafs_status_t dafsd_proc_null(struct dafsd_rqst *rq)
{
	return DAFS_STATUS_OK;
}

/**
 * dafsd_proc_register_cred() - REGISTER_CRED, 6.2.8
 * @rq: the request
 *
 * Return: DAFS status.
 */
dafs_status_t dafsd_proc_register_cred(struct dafsd_rqst *rq)
{
	dafs_status_t status;
	size_t room;

	status = dafsd_cred_register(rq->ses, &rq->base.in, &rq->args.register_cred,
				     rq->res.register_cred.cred_handle, &room);
	return room ? dafsd_state_make_room(rq->ses->client, room) : status;
}

/**
 * dafsd_proc_release_cred() - RELEASE_CRED, 6.2.9
 * @rq: the request
 *
 * Return: DAFS status.
 */
dafs_status_t dafsd_proc_release_cred(struct dafsd_rqst *rq)
{
	return dafsd_cred_release(rq->ses, rq->args.release_cred.cred_handle);
}
