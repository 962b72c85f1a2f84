// SPDX-License-Identifier: GPL-2.0
/*
 * VERIFY and NVERIFY: compare the attributes of an object with values from the client
 * (6.5.23, 6.5.37).
 */
#include <linux/slab.h>
#include "../request/request.h"
#include "../vfs/fh.h"
#include "../vfs/vfs.h"
#include "proc.h"

/* Attributes that can be set but not read, so that there is no value to compare (E-112). */
#define DAFSD_FATTR_WRITE_ONLY	(DAFS_FATTR_TIME_ACCESS_SET | DAFS_FATTR_TIME_MODIFY_SET)

/**
 * struct dafsd_verify - an object's attributes, and their strings
 * @attr: as the object has them
 * @names: what @attr points to
 */
struct dafsd_verify {
	struct dafs_fattr attr;
	struct dafsd_fattr_names names;
};

/* Return: SAME or NOT_SAME, or the reason why the attributes cannot be compared. */
static dafs_status_t dafsd_verify_fh(struct dafsd_rqst *rq, struct dafsd_fh *fh)
{
	const struct dafs_fattr *attr = &rq->args.verify.obj_attributes;
	u64 which = attr->included & attr->valid;
	struct dafsd_verify *v;
	dafs_status_t status;

	if (which & DAFSD_FATTR_WRITE_ONLY)
		return DAFSERR_INVAL;
	v = kvzalloc(sizeof(*v), GFP_KERNEL);
	if (!v)
		return DAFSERR_RESOURCE;
	rq->scratch = v;
	status = dafsd_getattr_latest(rq, fh, which, &v->attr, &v->names);
	if (status)
		return status;
	if (which & ~v->attr.valid)
		return DAFSERR_NOTSUPP;
	return dafsd_fattr_same(attr, &v->attr, which) ? DAFSERR_SAME : DAFSERR_NOT_SAME;
}

/* @good: the result, SAME or NOT_SAME, that is a success for the procedure. */
static dafs_status_t dafsd_verify(struct dafsd_rqst *rq, dafs_status_t good)
{
	dafs_status_t status = dafsd_fh_use(rq, &rq->args.verify.filehandle, dafsd_verify_fh);

	return status == good ? DAFS_STATUS_OK : status;
}

/**
 * dafsd_proc_nverify() - NVERIFY (6.5.23)
 * @rq: request
 *
 * Attributes that are included and not valid have no value to compare.  A client that may write
 * without the server is asked, as by GETATTR.
 *
 * Context: process context under the caller's credential; may sleep.
 * Return: DAFS status, SAME if all attributes have the values given.
 */
dafs_status_t dafsd_proc_nverify(struct dafsd_rqst *rq)
{
	return dafsd_verify(rq, DAFSERR_NOT_SAME);
}

/**
 * dafsd_proc_verify() - VERIFY (6.5.37)
 * @rq: request
 *
 * Context: process context under the caller's credential; may sleep.
 * Return: DAFS status, NOT_SAME if an attribute has another value.
 */
dafs_status_t dafsd_proc_verify(struct dafsd_rqst *rq)
{
	return dafsd_verify(rq, DAFSERR_SAME);
}
