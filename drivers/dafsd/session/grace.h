/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Clients that are known across restarts of the server, and the time in which they alone get
 * opens and locks back (4.4.1.2, 4.4.1.6).
 */
#ifndef _DAFSD_SESSION_GRACE_H
#define _DAFSD_SESSION_GRACE_H

#include <linux/hashtable.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/dafs/msg.h>

struct dafsd_client;
struct dafsd_principal;
struct dafsd_server;
struct dafsd_store;

/**
 * struct dafsd_grace - the grace period, if there is one
 * @lock: guards what follows
 * @on: requests that may conflict with what others will reclaim are answered GRACE; read
 *	without the lock
 * @ending: nothing can be reclaimed any more
 * @hurry: the administrator has ended it
 * @until: when it ends, in jiffies
 * @latest: when it ends at the latest
 * @reclaimed: when something was reclaimed the last time; written without the lock
 * @formers: struct dafsd_former.node by client-id-string
 * @nr_awaited: those of which another reclaim may come, and whose lease was not over
 * @lease: the longest lease that any of them relies on, in seconds
 * @end_work: ends it
 */
struct dafsd_grace {
	spinlock_t lock;	/* see above */
	bool on;
	bool ending;
	bool hurry;
	unsigned long until;
	unsigned long latest;
	unsigned long reclaimed;
	DECLARE_HASHTABLE(formers, 10);
	unsigned int nr_awaited;
	u32 lease;
	struct delayed_work end_work;
};

/* grace.c */
void dafsd_grace_init(struct dafsd_server *server);
int dafsd_grace_load(struct dafsd_server *server, struct dafsd_store *store);
void dafsd_grace_begin(struct dafsd_server *server);
void dafsd_grace_exit(struct dafsd_server *server);
bool dafsd_in_grace(const struct dafsd_server *server);
dafs_status_t dafsd_grace_check(const struct dafsd_server *server);
unsigned int dafsd_grace_left(const struct dafsd_server *server);
bool dafsd_grace_reclaims(struct dafsd_client *client);
bool dafsd_grace_owned_by_other(struct dafsd_client *client,
				const struct dafsd_principal *principal);
void dafsd_grace_came_back(struct dafsd_client *client);
void dafsd_grace_given(struct dafsd_client *client, bool given);
void dafsd_grace_complete(struct dafsd_client *client);
void dafsd_grace_lost(struct dafsd_client *client);

/* record.c */

/**
 * struct dafsd_client_record - value of a DAFSD_RECORD_CLIENT; its key is the client-id-string
 * @verifier: client_verifier
 * @auth_type: of its principal
 * @lease: the server's lease when it was written, in seconds; 0 if that of the client was over
 */
struct dafsd_client_record {
	struct dafs_verifier verifier;
	__le32 auth_type;
	__le32 lease;
} __packed;

int dafsd_records_open(struct dafsd_server *server, bool optional);
void dafsd_records_close(struct dafsd_server *server);
dafs_status_t dafsd_client_record(struct dafsd_client *client);
dafs_status_t dafsd_client_may_get(const struct dafsd_client *client);
void dafsd_client_rerecord(struct dafsd_client *client);
void dafsd_client_unrecord(struct dafsd_client *client);
void dafsd_client_sync_record(struct dafsd_client *client);

#endif /* _DAFSD_SESSION_GRACE_H */
