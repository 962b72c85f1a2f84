/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The netfs library lost arguments of two functions within 6.12.y.  The
 * Makefile looks at the prototypes of the kernel that the module is built for
 * and defines
 *
 *   DAFS_NETFS_READ_ERROR	netfs_read_subreq_terminated() takes the error
 *   DAFS_NETFS_READ_ASYNC	... and whether the context is atomic
 *   DAFS_NETFS_WRITE_ASYNC	netfs_write_subrequest_terminated() does too
 *   DAFS_NETFS_CLEAR_STALE	netfs_clear_stale_post_isize() exists
 */
#ifndef _FS_DAFS_NETFS_COMPAT_H
#define _FS_DAFS_NETFS_COMPAT_H

#include <linux/netfs.h>

/**
 * dafs_netfs_read_done() - give a read subrequest back to the netfs library
 * @subreq: with transferred, error and flags set
 *
 * Context: process context.
 */
static inline void dafs_netfs_read_done(struct netfs_io_subrequest *subreq)
{
#if defined(DAFS_NETFS_READ_ERROR) && defined(DAFS_NETFS_READ_ASYNC)
	netfs_read_subreq_terminated(subreq, subreq->error, false);
#elif defined(DAFS_NETFS_READ_ERROR)
	netfs_read_subreq_terminated(subreq, subreq->error);
#elif defined(DAFS_NETFS_READ_ASYNC)
	netfs_read_subreq_terminated(subreq, false);
#else
	netfs_read_subreq_terminated(subreq);
#endif
}

/**
 * dafs_netfs_write_done() - give a write subrequest back to the netfs library
 * @subreq: the subrequest
 * @result: bytes written or a negative errno
 *
 * Context: process context.
 */
static inline void dafs_netfs_write_done(struct netfs_io_subrequest *subreq,
					 ssize_t result)
{
#ifdef DAFS_NETFS_WRITE_ASYNC
	netfs_write_subrequest_terminated(subreq, result, false);
#else
	netfs_write_subrequest_terminated(subreq, result);
#endif
}

/**
 * dafs_netfs_extended() - forget what was mapped beyond a former end of file
 * @inode: a file that has just become longer, or is going to; no other writer may
 *	come in between
 * @from: its former size in bytes
 * @to: its size in bytes
 *
 * A store through mmap beyond the end must not become content of the file.
 *
 * Context: may sleep.
 */
static inline void dafs_netfs_extended(struct inode *inode, u64 from, u64 to)
{
#ifdef DAFS_NETFS_CLEAR_STALE
	netfs_clear_stale_post_isize(inode, from, to);
#else
	truncate_pagecache(inode, from);
#endif
}

#endif /* _FS_DAFS_NETFS_COMPAT_H */
