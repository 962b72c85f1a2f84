/* SPDX-License-Identifier: GPL-2.0 */
/* What clients hold by a state-id, whatever it is, and the table of it. */
#ifndef _DAFSD_STATE_STATE_H
#define _DAFSD_STATE_STATE_H

#include <linux/list.h>
#include <linux/llist.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include <linux/dafs/msg.h>

struct dafsd_client;
struct dafsd_export;
struct dafsd_file;
struct dafsd_open;
struct dafsd_state;
struct delayed_work;
struct inode;

/**
 * struct dafsd_state_view - some state, as an administrator sees it
 * @open: the open; NULL for a delegation
 * @access: DAFS_OPEN_SHARE_ACCESS_*
 * @deny: DAFS_OPEN_SHARE_DENY_*
 * @deny_delete: names of the file are not removed
 * @owner: of the open; lives as long as the state
 * @recalled: the client is to return it
 */
struct dafsd_state_view {
	struct dafsd_open *open;
	u32 access;
	u32 deny;
	bool deny_delete;
	struct dafs_str owner;
	bool recalled;
};

/**
 * struct dafsd_state_type - a kind of state, such as opens
 * @published: the state is in the table from now on; under the lock of the table
 * @claimed: it is not in the table any more; under the lock of the table
 * @revoked: it was claimed because its client or export has ended: give up what others may
 *	wait for, unless that may take long; may sleep
 * @ended: it was claimed: give up all that is not guarded by the file's lock; may sleep
 * @detach: take the state, with what it reserves, off its file; holds the file's lock
 * @release: the last reference is gone, so free what the type has put into the state but
 *	not the state itself; may sleep
 * @view: tell what it is at the moment; the view is zeroed
 * @withdraw: an administrator wants it to end: true, unless it is over already; may sleep
 */
struct dafsd_state_type {
	void (*published)(const struct dafsd_state *st);
	void (*claimed)(const struct dafsd_state *st);
	void (*revoked)(struct dafsd_state *st);
	void (*ended)(struct dafsd_state *st);
	void (*detach)(struct dafsd_state *st);
	void (*release)(struct dafsd_state *st);
	void (*view)(struct dafsd_state *st, struct dafsd_state_view *view);
	bool (*withdraw)(struct dafsd_state *st);
};

/**
 * struct dafsd_state - header of anything that a client holds by a state-id
 * @rcu: frees the structure that it is the first member of
 * @type: what it is
 * @ref: see state.c for who holds references
 * @id: second half of the state-id, which never changes (E-81)
 * @dead: not published yet or claimed; guarded by the lock of the table
 * @bytes: memory that is counted for the address of @client
 * @client: whose it is; holds a reference
 * @client_link: in client->states or client->expired; guarded by client->lock
 * @closing: in exp->closing, when it was taken from its client, or is to be freed
 * @over: it was dismantled
 * @file: holds a reference; NULL while only reserved
 * @exp: the export of @file; holds a reference; NULL while only reserved
 */
struct dafsd_state {
	struct rcu_head rcu;
	const struct dafsd_state_type *type;
	refcount_t ref;
	u32 id;
	bool dead;
	size_t bytes;
	struct dafsd_client *client;
	struct list_head client_link;
	struct llist_node closing;
	bool over;
	struct dafsd_file *file;
	struct dafsd_export *exp;
};

extern unsigned int dafsd_states_expired;
extern unsigned int dafsd_states_max_expired;
extern struct delayed_work dafsd_states_forget_work;

dafs_status_t dafsd_state_reserve(struct dafsd_state *st, const struct dafsd_state_type *type,
				  struct dafsd_client *client, size_t bytes);
void dafsd_state_cancel(struct dafsd_state *st);
void dafsd_state_attach(struct dafsd_state *st, struct dafsd_file *file, struct dafsd_export *exp);
dafs_status_t dafsd_state_publish(struct dafsd_state *st, struct dafs_state_id *state_id);
bool dafsd_state_retract(struct dafsd_state *st);
dafs_status_t dafsd_state_claim(const struct dafsd_client *client,
				const struct dafs_state_id *state_id,
				const struct dafsd_state_type *type, const struct inode *inode,
				struct dafsd_state **found);
void dafsd_state_dismantle(struct dafsd_state *st);
void dafsd_state_free(struct dafsd_state *st);
void dafsd_state_put(struct dafsd_state *st);
struct dafsd_state *dafsd_state_find(const struct dafsd_client *client,
				     const struct dafs_state_id *state_id,
				     const struct dafsd_state_type *type, dafs_status_t *status);
bool dafsd_state_is_special(const struct dafs_state_id *state_id);
dafs_status_t dafsd_state_split(const struct dafs_state_id *state_id, u32 *id);
void dafsd_state_id(const struct dafsd_state *st, struct dafs_state_id *state_id);
bool dafsd_state_revoke_one(struct dafsd_state *st);
struct dafsd_state *dafsd_state_revoke_expired(struct dafsd_client *client);
struct dafsd_state *dafsd_state_get(const struct dafs_state_id *state_id);
struct dafsd_state *dafsd_state_next(unsigned long *id);
struct dafsd_state *dafsd_state_revoke_in(const struct dafsd_export *exp, unsigned long *id);
void dafsd_states_settle(void);
void dafsd_states_exit(void);

/* revoke.c: what clients do not give back in time; clients and exports that end */
void dafsd_state_discard(struct dafsd_state *st);
void dafsd_state_put_later(struct dafsd_state *st);
bool dafsd_state_revoke(struct dafsd_state *st);
void dafsd_states_expire_client(struct dafsd_client *client);
void dafsd_states_revoke_client(struct dafsd_client *client);
void dafsd_states_release_client(struct dafsd_client *client);
void dafsd_states_init_export(struct dafsd_export *exp);
void dafsd_states_release_export(struct dafsd_export *exp);

/* courtesy.c: what clients have beyond their leases */
bool dafsd_states_may_stay(struct dafsd_client *client);
bool dafsd_state_hinders(struct dafsd_client *client);
dafs_status_t dafsd_state_make_room(struct dafsd_client *client, size_t bytes);

#endif /* _DAFSD_STATE_STATE_H */
