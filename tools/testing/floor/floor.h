/* SPDX-License-Identifier: GPL-2.0 */
/* Common declarations of dafs_floor. */
#ifndef _DAFS_FLOOR_H
#define _DAFS_FLOOR_H

#include <linux/ktime.h>
#include <linux/sizes.h>
#include <linux/socket.h>

#define FLOOR_MAX_SIZE		SZ_1M
#define FLOOR_MAX_DEPTH		64
#define FLOOR_MAX_MS		60000
#define FLOOR_CM_MS		5000	/* a step of connecting */

enum floor_op {
	FLOOR_NULL,		/* a NULL of DAFS, by a task that waits for it */
	FLOOR_READ,		/* an RDMA read */
	FLOOR_WRITE,		/* an RDMA write */
	FLOOR_PINGPONG,		/* a small message, answered by one of the size */
};

/**
 * struct floor_job - one measurement
 * @op: what to do
 * @size: bytes of each
 * @depth: how many at a time
 * @ms: for how long
 * @done: how many were done
 * @ns: how long it took, to the end of the last
 */
struct floor_job {
	enum floor_op op;
	u32 size;
	u32 depth;
	u32 ms;
	u64 done;
	s64 ns;
};

int floor_verbs_run(struct floor_job *job, struct sockaddr *addr);
int floor_null_run(struct floor_job *job, struct sockaddr *addr);

#endif /* _DAFS_FLOOR_H */
