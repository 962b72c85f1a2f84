/* SPDX-License-Identifier: GPL-2.0 */
/* What all of the server shares: limits, module parameters, work queues, the boot instance. */
#ifndef _DAFSD_SESSION_SERVER_H
#define _DAFSD_SESSION_SERVER_H

#include <linux/sizes.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#define DAFSD_DEFAULT_MAX_REQUESTS	32
#define DAFSD_DEFAULT_MSG_SIZE		SZ_8K
#define DAFSD_MAX_CREDENTIALS		1024
#define DAFSD_DEFAULT_MAX_CLIENTS	16384
#define DAFSD_DEFAULT_MAX_SESSIONS	4096
#define DAFSD_DEFAULT_MAX_OPENS		65536
#define DAFSD_LEASE_SECONDS		90

/* Requests that are executed at a time: what a work queue can do at most */
#define DAFSD_WORKERS			WQ_MAX_ACTIVE

/* module parameters */
extern unsigned int dafsd_max_requests;
extern unsigned int dafsd_msg_size;
extern unsigned int dafsd_lease_seconds;
extern unsigned int dafsd_max_sessions;
extern unsigned int dafsd_max_opens;
extern bool dafsd_auth_none;

/* of requests; what ends; what looks at the time */
int dafsd_wqs_create(void);
void dafsd_wqs_destroy(void);
extern struct workqueue_struct *dafsd_wq;
extern struct workqueue_struct *dafsd_least_wq;
extern struct workqueue_struct *dafsd_end_wq;
/* of files, one work item for each export: a dead disk may keep its worker */
extern struct workqueue_struct *dafsd_close_wq;
extern struct workqueue_struct *dafsd_timer_wq;

/* the boot instance: part of client-ids, session-ids and state-ids */
extern u32 dafsd_boot_instance;

#endif /* _DAFSD_SESSION_SERVER_H */
