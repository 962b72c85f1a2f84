// SPDX-License-Identifier: GPL-2.0
/*
 * Directives that the server sends on the back-control channel (6.6).
 *
 * This client submits no batches, so it answers BC_BATCH_COMPLETION without doing anything.
 */
#include "rpc_impl.h"

static const struct dafs_back_ops *dafs_back_upper;

/**
 * dafs_back_init() - set the callbacks to the layer that has delegations
 * @ops: the callbacks
 *
 * Context: module initialization.
 */
void dafs_back_init(const struct dafs_back_ops *ops)
{
	dafs_back_upper = ops;
}

/**
 * dafs_back_lapsed() - the lease of a client had run out, and runs again
 * @clnt: the client
 *
 * Context: may sleep, but does not wait for the server.
 */
void dafs_back_lapsed(struct dafs_client *clnt)
{
	dafs_back_upper->lapsed(clnt);
}

static dafs_status_t dafs_back_getattr(const struct dafs_rqst *rqst,
				       const struct dafs_getattr_args *args, u32 *len)
{
	const struct dafs_conn *conn = rqst->chan->priv;
	struct dafs_getattr_res res = {};
	struct dafs_buf out = rqst->out;
	dafs_status_t status;
	int err;

	status = dafs_back_upper->getattr(&conn->client_id, args, &res.obj_attributes);
	if (status)
		return status;
	err = dafs_encode_res(&out, DAFS_PROC_BC_GETATTR, &res);
	if (err < 0)
		return DAFSERR_RESOURCE;
	*len = err;
	return DAFS_STATUS_OK;
}

static dafs_status_t dafs_back_run(const struct dafs_rqst *rqst, u32 *len)
{
	const struct dafs_conn *conn = rqst->chan->priv;
	struct dafs_buf in = rqst->in;
	union dafs_args args;

	switch (rqst->hdr.procedure) {
	case DAFS_PROC_BC_NULL:
	case DAFS_PROC_BC_BATCH_COMPLETION:	/* unknown ids are ignored, E-109 */
		return DAFS_STATUS_OK;
	case DAFS_PROC_BC_RECALL:
	case DAFS_PROC_BC_GETATTR:
		break;
	default:
		return DAFSERR_NOTSUPP;		/* E-44 */
	}
	if (dafs_decode_args(&in, rqst->hdr.procedure, &args))
		return DAFSERR_INVAL;
	if (rqst->hdr.procedure == DAFS_PROC_BC_GETATTR)
		return dafs_back_getattr(rqst, &args.getattr, len);
	return dafs_back_upper->recall(&conn->client_id, &args.bc_recall);
}

static dafs_status_t dafs_back_status(const struct dafs_rqst *rqst, u32 *len)
{
	if (rqst->refuse)
		return rqst->refuse;
	if (rqst->hdr.chain_flags)
		return DAFSERR_CHAIN_FORM;
	return dafs_back_run(rqst, len);
}

static void dafs_back_work(struct work_struct *work)
{
	struct dafs_rqst *rqst = container_of(work, struct dafs_rqst, work);
	u32 len = DAFS_HDR_SIZE;
	dafs_status_t status;

	status = dafs_back_status(rqst, &len);
	dafs_reply(rqst, status, len, NULL);
}

static void dafs_back_request(struct dafs_rqst *rqst)
{
	INIT_WORK(&rqst->work, dafs_back_work);
	queue_work(dafs_session_wq, &rqst->work);
}

static void dafs_back_sent(struct dafs_rqst *rqst)
{
}

const struct dafs_responder_ops dafs_back_responder = {
	.rqst_size = sizeof(struct dafs_rqst),
	.request = dafs_back_request,
	.sent = dafs_back_sent,
};
