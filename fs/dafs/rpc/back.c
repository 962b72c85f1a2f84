// SPDX-License-Identifier: GPL-2.0
/*
 * Directives that the server sends on the back-control channel (6.6).
 *
 * This client holds no delegations and submits no batches, so it can answer each
 * directive without doing anything.
 */
#include "rpc_impl.h"

static dafs_status_t dafs_back_status(const struct dafs_rqst *rqst)
{
	if (rqst->refuse)
		return rqst->refuse;
	if (rqst->hdr.chain_flags)
		return DAFSERR_CHAIN_FORM;
	switch (rqst->hdr.procedure) {
	case DAFS_PROC_BC_NULL:
	case DAFS_PROC_BC_BATCH_COMPLETION:	/* unknown ids are ignored, E-109 */
		return DAFS_STATUS_OK;
	case DAFS_PROC_BC_RECALL:
	case DAFS_PROC_BC_GETATTR:
		return DAFSERR_BAD_STATEID;
	default:
		return DAFSERR_NOTSUPP;		/* E-44 */
	}
}

static void dafs_back_work(struct work_struct *work)
{
	struct dafs_rqst *rqst = container_of(work, struct dafs_rqst, work);

	dafs_reply(rqst, dafs_back_status(rqst), DAFS_HDR_SIZE, NULL);
}

static void dafs_back_request(struct dafs_rqst *rqst)
{
	INIT_WORK(&rqst->work, dafs_back_work);
	queue_work(dafs_session_wq, &rqst->work);
}

static void dafs_back_sent(struct dafs_rqst *rqst)
{
}

const struct dafs_responder_ops dafs_back_ops = {
	.rqst_size = sizeof(struct dafs_rqst),
	.request = dafs_back_request,
	.sent = dafs_back_sent,
};
