// SPDX-License-Identifier: GPL-2.0
/*
 * GETATTR_DIRECT, SETATTR_DIRECT and READLINK_DIRECT: like the inline procedures, but
 * the data is in the client's buffers instead of the message (6.5.14, 6.5.32, 6.5.36).
 */
#include <linux/slab.h>
#include "../request/io.h"
#include "../request/request.h"
#include "../vfs/fh.h"
#include "../vfs/vfs.h"
#include "proc.h"

/**
 * struct dafsd_direct_attrs - attributes in transfer
 * @attr: the attributes
 * @names: strings of an object's attributes, which @attr points to
 */
struct dafsd_direct_attrs {
	struct dafs_fattr attr;
	struct dafsd_fattr_names names;
};

/* The attributes are freed when the response has been encoded. */
static struct dafsd_direct_attrs *dafsd_direct_attrs(struct dafsd_rqst *rq)
{
	struct dafsd_direct_attrs *a = kvzalloc(sizeof(*a), GFP_KERNEL);

	rq->scratch = a;
	return a;
}

static dafs_status_t dafsd_direct_getattr(struct dafsd_rqst *rq, struct dafsd_fh *fh)
{
	struct dafs_getattr_direct_args *args = &rq->args.getattr_direct;
	struct dafs_seq bufs = dafsd_meta_buf(&args->data_buffer);
	struct dafsd_direct_attrs *a = dafsd_direct_attrs(rq);
	struct dafs_buf buf;
	dafs_status_t status;

	if (!a)
		return DAFSERR_RESOURCE;
	status = dafsd_getattr_latest(rq, fh, args->attr_request_bitmap, &a->attr, &a->names);
	if (!status)
		status = dafsd_meta_begin(rq, &buf, dafs_fattr_size(&a->attr));
	if (status)
		return status;
	return dafsd_meta_push(rq, &bufs, &buf, dafs_encode_fattr(&buf, &a->attr),
			       &rq->res.direct.direct_checksum);
}

/**
 * dafsd_proc_getattr_direct() - GETATTR_DIRECT (6.5.14)
 * @rq: request; the attributes leave ahead of the response
 *
 * Context: process context under the caller's credential; may sleep.
 * Return: DAFS status.
 */
dafs_status_t dafsd_proc_getattr_direct(struct dafsd_rqst *rq)
{
	return dafsd_fh_use(rq, &rq->args.getattr_direct.filehandle, dafsd_direct_getattr);
}

static dafs_status_t dafsd_direct_setattr_pull(struct dafsd_rqst *rq, struct dafsd_fh *fh)
{
	struct dafs_seq bufs = dafsd_meta_buf(&rq->args.setattr_direct.obj_attributes);

	return dafsd_meta_pull(rq, &bufs);
}

/**
 * dafsd_prepare_setattr_direct() - SETATTR_DIRECT: fetch the attributes
 * @rq: request
 *
 * The bitmap of what was set is returned in any case.
 *
 * Context: process context under the caller's credential; may sleep.
 * Return: DAFS status.
 */
dafs_status_t dafsd_prepare_setattr_direct(struct dafsd_rqst *rq)
{
	rq->body = true;
	return dafsd_fh_use(rq, &rq->args.setattr_direct.filehandle, dafsd_direct_setattr_pull);
}

static dafs_status_t dafsd_direct_setattr(struct dafsd_rqst *rq, struct dafsd_fh *fh)
{
	struct dafs_setattr_direct_args *args = &rq->args.setattr_direct;
	struct dafsd_direct_attrs *a = dafsd_direct_attrs(rq);
	struct dafs_buf buf;
	dafs_status_t status;

	if (!a)
		return DAFSERR_RESOURCE;
	status = dafsd_meta_pulled(rq, DAFS_PROC_SETATTR_DIRECT, &args->direct_checksum, &buf);
	if (!status && dafs_decode_fattr(&buf, &a->attr))
		status = DAFSERR_INVAL;
	if (!status)
		status = dafsd_setattr(rq, fh, &args->state_id, &a->attr);
	dafsd_meta_end(rq, &buf);
	return status;
}

/**
 * dafsd_proc_setattr_direct() - SETATTR_DIRECT (6.5.36)
 * @rq: request; the attributes were fetched from the client
 *
 * Context: process context under the caller's credential; may sleep.
 * Return: DAFS status.
 */
dafs_status_t dafsd_proc_setattr_direct(struct dafsd_rqst *rq)
{
	return dafsd_fh_use(rq, &rq->args.setattr_direct.filehandle, dafsd_direct_setattr);
}

static dafs_status_t dafsd_direct_readlink(struct dafsd_rqst *rq, struct dafsd_fh *fh)
{
	struct dafs_seq bufs = dafsd_meta_buf(&rq->args.readlink_direct.buffer);
	struct dafs_buf buf;
	struct dafs_str link;
	dafs_status_t status;

	status = dafsd_readlink(rq, fh, &link);
	if (!status)
		status = dafsd_meta_begin(rq, &buf, sizeof(u32) + link.len);
	if (status)
		return status;
	return dafsd_meta_push(rq, &bufs, &buf, dafs_encode_link(&buf, &link),
			       &rq->res.direct.direct_checksum);
}

/**
 * dafsd_proc_readlink_direct() - READLINK_DIRECT (6.5.32)
 * @rq: request; the text leaves ahead of the response
 *
 * Context: process context under the caller's credential; may sleep.
 * Return: DAFS status.
 */
dafs_status_t dafsd_proc_readlink_direct(struct dafsd_rqst *rq)
{
	return dafsd_fh_use(rq, &rq->args.readlink_direct.filehandle, dafsd_direct_readlink);
}
