/* SPDX-License-Identifier: GPL-2.0 */
/* What a request has to know of its procedure: a row of the table that proc/ has. */
#ifndef _DAFSD_REQUEST_PROCEDURE_H
#define _DAFSD_REQUEST_PROCEDURE_H

#include <linux/bits.h>
#include <linux/types.h>
#include <linux/dafs_wire.h>

struct dafsd_rqst;

/* Chaining category of a procedure (4.3.1); those that change something come last */
enum dafsd_class {
	DAFSD_SPECIAL,
	DAFSD_SIMPLE,
	DAFSD_BULK_FETCH,
	DAFSD_FS_MODIFY,
	DAFSD_LOCK_MODIFY,
};

#define DAFSD_P_UNAUTH	BIT(0)	/* allowed before authentication (E-52) */
#define DAFSD_P_CRED	BIT(1)	/* acts with the caller's credential */
#define DAFSD_P_SETUP	BIT(2)	/* one at a time on a channel */
#define DAFSD_P_FIRST	BIT(3)	/* only as the first request on a channel */
#define DAFSD_P_INLINE	BIT(4)	/* inline data in the request (args need inline_header) */
#define DAFSD_P_DISCARDED BIT(5) /* allowed although the client was discarded (E-84) */
#define DAFSD_P_ALONE	BIT(6)	/* runs when all other requests have been answered */
#define DAFSD_P_REPEATABLE BIT(7) /* a change that may be done once more, later */
#define DAFSD_P_STORE	BIT(8)	/* names no file, but may wait for the state directory */

/**
 * struct dafsd_proc - a row of the procedure table
 * @class: chaining category
 * @flags: DAFSD_P_*
 * @run: the handler; process context under the caller's credential.  Returns a
 *	DAFS status.  A NULL handler answers NOTSUPP.
 * @prepare: what comes before something that has to be waited for, or NULL: the
 *	RDMA reads that it maps, or that the request is the only one.  Then @run is
 *	called, perhaps by another worker; nothing but @rq may be held in between.
 * @fh: the handle that a chain replaces (E-62), as what follows: its offset in union
 *	dafs_args, plus 1; or 0
 * @state_id: likewise the state-id (E-63)
 * @new_fh: the handle that the chain goes on with, its offset in union dafs_res; 0 for @fh
 * @new_state_id: likewise the state-id
 * @read: bytes that were read from a file, a u32 in union dafs_res
 * @written: bytes that were written, likewise
 * @appended: bytes that were appended, a u32 in union dafs_args
 */
struct dafsd_proc {
	enum dafsd_class class;
	unsigned int flags;
	dafs_status_t (*run)(struct dafsd_rqst *rq);
	dafs_status_t (*prepare)(struct dafsd_rqst *rq);
	u16 fh;
	u16 state_id;
	u16 new_fh;
	u16 new_state_id;
	u16 read;
	u16 written;
	u16 appended;
};

#endif /* _DAFSD_REQUEST_PROCEDURE_H */
