// SPDX-License-Identifier: GPL-2.0
/*
 * What clients hold, for the administrator, and how to take it from them: generic netlink,
 * see Documentation/netlink/specs/dafsd.yaml.
 *
 * A list may be longer than a message.  Where to go on is remembered as an id that is never
 * used again, not as a pointer, so nothing is locked or referred to between messages.  State
 * is looked at without the lock of its file: a file system that is slow does not delay a
 * list.
 */
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/slab.h>
#include "../session/server.h"
#include "../session/peer.h"
#include "../session/client.h"
#include "../session/courtesy.h"
#include "../export/export.h"
#include "../state/file.h"
#include "../state/lock.h"
#include "../state/persist.h"
#include "../state/state.h"
#include "admin.h"
#include "netlink_gen.h"

/* Longer names and paths are left out, so that any state fits into the smallest message. */
#define DAFSD_NL_NAME	SZ_1K

/* Locks that are looked at together */
#define DAFSD_NL_LOCKS	256

static_assert(DAFS_OPEN_SHARE_ACCESS_READ == DAFSD_ACCESS_READ);
static_assert(DAFS_OPEN_SHARE_ACCESS_WRITE == DAFSD_ACCESS_WRITE);
static_assert(DAFS_OPEN_SHARE_DENY_READ == DAFSD_ACCESS_READ);
static_assert(DAFS_OPEN_SHARE_DENY_WRITE == DAFSD_ACCESS_WRITE);
static_assert(sizeof(struct dafs_client_id) == DAFSD_ID_LEN);
static_assert(sizeof(struct dafs_state_id) == DAFSD_ID_LEN);

/**
 * struct dafsd_nl_cursor - where a list goes on; in netlink_callback.ctx
 * @id: a number of a client or of state
 * @from: of locks only, the first byte of what is left of this state
 */
struct dafsd_nl_cursor {
	unsigned long id;
	loff_t from;
};

static struct dafsd_nl_cursor *dafsd_nl_cursor_of(struct netlink_callback *cb)
{
	static_assert(sizeof(struct dafsd_nl_cursor) <= sizeof_field(struct netlink_callback, ctx));
	return (struct dafsd_nl_cursor *)cb->ctx;
}

/**
 * struct dafsd_nl_list - a message that is filled
 * @skb: the message
 * @info: the request
 */
struct dafsd_nl_list {
	struct sk_buff *skb;
	const struct genl_info *info;
};

static bool dafsd_nl_put_flag(struct sk_buff *skb, int attr, bool set)
{
	return !set || !nla_put_flag(skb, attr);
}

static bool dafsd_nl_put_client(struct sk_buff *skb, struct dafsd_client *client)
{
	unsigned long renewed = READ_ONCE(client->renewed), now = jiffies;
	unsigned long silent = time_after(now, renewed) ? now - renewed : 0;

	return !nla_put(skb, DAFSD_A_CLIENT_CLIENT_ID, DAFSD_ID_LEN, client->client_id.b) &&
	       !nla_put(skb, DAFSD_A_CLIENT_NAME, client->id_len, client->id) &&
	       !nla_put_in6_addr(skb, DAFSD_A_CLIENT_ADDRESS, &client->addr) &&
	       !nla_put_uint(skb, DAFSD_A_CLIENT_SILENT, jiffies_to_msecs(silent)) &&
	       !nla_put_u32(skb, DAFSD_A_CLIENT_SESSIONS, list_count_nodes(&client->sessions)) &&
	       !nla_put_u32(skb, DAFSD_A_CLIENT_CREDENTIALS, READ_ONCE(client->nr_creds)) &&
	       !nla_put_u32(skb, DAFSD_A_CLIENT_OPENS, READ_ONCE(client->nr_opens)) &&
	       !nla_put_u32(skb, DAFSD_A_CLIENT_DELEGATIONS, atomic_read(&client->nr_delegs)) &&
	       !nla_put_u32(skb, DAFSD_A_CLIENT_LOCKS, atomic_read(&client->nr_locks)) &&
	       dafsd_nl_put_flag(skb, DAFSD_A_CLIENT_COURTEOUS, dafsd_courtesy_has(client));
}

/* Finish an entry, or take it back if it did not fit. */
static int dafsd_nl_end(struct sk_buff *skb, void *hdr, bool fits)
{
	if (fits) {
		genlmsg_end(skb, hdr);
		return 0;
	}
	genlmsg_cancel(skb, hdr);
	return -EMSGSIZE;
}

static int dafsd_nl_show_client(struct dafsd_client *client, void *arg)
{
	const struct dafsd_nl_list *list = arg;
	void *hdr = genlmsg_iput(list->skb, list->info);

	if (!hdr)
		return -EMSGSIZE;
	return dafsd_nl_end(list->skb, hdr, dafsd_nl_put_client(list->skb, client));
}

/**
 * dafsd_nl_client_get_dumpit() - list the clients
 * @skb: message to fill
 * @cb: what was asked for, and where to go on
 *
 * Context: may sleep.
 * Return: 0 after the last one, or -EMSGSIZE.
 */
int dafsd_nl_client_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct dafsd_nl_cursor *cursor = dafsd_nl_cursor_of(cb);
	struct dafsd_nl_list list = { .skb = skb, .info = genl_info_dump(cb) };
	u32 number = cursor->id;
	int err;

	err = dafsd_clients_walk(&dafsd_server, &number, dafsd_nl_show_client, &list);
	cursor->id = number;
	return err;
}

/**
 * dafsd_nl_client_expire_doit() - end a client as if its lease had run out
 * @skb: the request
 * @info: its attributes
 *
 * That is done in the background: it may wait for a disk, which would hold up generic netlink as
 * a whole.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL if the request has no client-id; -ENOENT if no client has this one.
 */
int dafsd_nl_client_expire_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct dafs_client_id client_id;

	if (GENL_REQ_ATTR_CHECK(info, DAFSD_A_CLIENT_CLIENT_ID))
		return -EINVAL;
	nla_memcpy(client_id.b, info->attrs[DAFSD_A_CLIENT_CLIENT_ID], DAFSD_ID_LEN);
	return dafsd_client_end_id(&dafsd_server, &client_id);
}

/* Is this a name of the file, and can it be told as one below the export? */
static bool dafsd_nl_is_name(const struct dafsd_export *exp, struct dentry *dentry)
{
	/* found by its handle: the kernel has not looked for its names */
	if (dentry->d_flags & DCACHE_DISCONNECTED)
		return false;
	return !d_unlinked(dentry) && is_subdir(dentry, exp->path.dentry);
}

/* A name of the file, or NULL if none is known or fits into @buf. */
static const char *dafsd_nl_path(const struct dafsd_state *st, char *buf)
{
	struct path path = {
		.mnt = st->exp->path.mnt,
		.dentry = d_find_alias(st->file->inode),
	};
	const char *name = NULL;

	if (!path.dentry)
		return NULL;
	if (dafsd_nl_is_name(st->exp, path.dentry))
		name = d_path(&path, buf, DAFSD_NL_NAME);
	dput(path.dentry);
	return IS_ERR(name) ? NULL : name;
}

static bool dafsd_nl_put_ids(struct sk_buff *skb, int state_attr, int client_attr,
			     const struct dafsd_state *st)
{
	struct dafs_state_id id;

	dafsd_state_id(st, &id);
	return !nla_put(skb, state_attr, sizeof(id), id.b) &&
	       !nla_put(skb, client_attr, DAFSD_ID_LEN, st->client->client_id.b);
}

static bool dafsd_nl_put_file(struct sk_buff *skb, const struct dafsd_state *st, char *buf)
{
	const char *path = dafsd_nl_path(st, buf);
	bool named = strlen(st->exp->name) < DAFSD_NL_NAME;

	return (!named || !nla_put_string(skb, DAFSD_A_STATE_EXPORT, st->exp->name)) &&
	       !nla_put_uint(skb, DAFSD_A_STATE_INO, st->file->inode->i_ino) &&
	       (!path || !nla_put_string(skb, DAFSD_A_STATE_PATH, path));
}

static bool dafsd_nl_put_open(struct sk_buff *skb, const struct dafsd_state_view *view)
{
	return !nla_put_u32(skb, DAFSD_A_STATE_DENY, view->deny) &&
	       dafsd_nl_put_flag(skb, DAFSD_A_STATE_DENY_DELETE, view->deny_delete) &&
	       !nla_put(skb, DAFSD_A_STATE_OWNER, view->owner.len, view->owner.data);
}

static bool dafsd_nl_put_state(struct sk_buff *skb, struct dafsd_state *st, char *buf)
{
	struct dafsd_state_view view = {};

	st->type->view(st, &view);
	return dafsd_nl_put_ids(skb, DAFSD_A_STATE_STATE_ID, DAFSD_A_STATE_CLIENT_ID, st) &&
	       !nla_put_u32(skb, DAFSD_A_STATE_KIND,
			    view.open ? DAFSD_STATE_KIND_OPEN : DAFSD_STATE_KIND_DELEGATION) &&
	       dafsd_nl_put_file(skb, st, buf) &&
	       !nla_put_u32(skb, DAFSD_A_STATE_ACCESS, view.access) &&
	       dafsd_nl_put_flag(skb, DAFSD_A_STATE_RECALLED, view.recalled) &&
	       (!view.open || dafsd_nl_put_open(skb, &view));
}

static int dafsd_nl_show_state(const struct dafsd_nl_list *list, struct dafsd_state *st, char *buf)
{
	void *hdr = genlmsg_iput(list->skb, list->info);

	if (!hdr)
		return -EMSGSIZE;
	return dafsd_nl_end(list->skb, hdr, dafsd_nl_put_state(list->skb, st, buf));
}

/* Is it of the client that was asked for, or were those of all? */
static bool dafsd_nl_wanted(const struct dafsd_state *st, const struct nlattr *client_id)
{
	return !READ_ONCE(st->dead) &&
	       (!client_id || !nla_memcmp(client_id, st->client->client_id.b, DAFSD_ID_LEN));
}

/**
 * dafsd_nl_state_get_dumpit() - list opens and delegations
 * @skb: message to fill
 * @cb: what was asked for, and where to go on
 *
 * Context: may sleep.
 * Return: 0 after the last one, -EMSGSIZE, or -ENOMEM.
 */
int dafsd_nl_state_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct dafsd_nl_cursor *cursor = dafsd_nl_cursor_of(cb);
	struct dafsd_nl_list list = { .skb = skb, .info = genl_info_dump(cb) };
	const struct nlattr *client_id = list.info->attrs[DAFSD_A_STATE_CLIENT_ID];
	struct dafsd_state *st;
	int err = 0;

	char *buf __free(kfree) = kmalloc(DAFSD_NL_NAME, GFP_KERNEL);
	if (!buf)
		return -ENOMEM;
	for (; !err && (st = dafsd_state_next(&cursor->id)); cursor->id += !err) {
		if (dafsd_nl_wanted(st, client_id))
			err = dafsd_nl_show_state(&list, st, buf);
		dafsd_state_put_later(st);
	}
	return err;
}

/**
 * dafsd_nl_state_revoke_doit() - take an open or a delegation from its client
 * @skb: the request
 * @info: its attributes
 *
 * Context: may sleep.
 * Return: 0; -EINVAL if the request has no state-id; -ENOENT if no state has this one.
 */
int dafsd_nl_state_revoke_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct dafs_state_id state_id;
	struct dafsd_state *st;
	bool ends;

	if (GENL_REQ_ATTR_CHECK(info, DAFSD_A_STATE_STATE_ID))
		return -EINVAL;
	nla_memcpy(state_id.b, info->attrs[DAFSD_A_STATE_STATE_ID], DAFSD_ID_LEN);
	st = dafsd_state_get(&state_id);
	if (!st)
		return -ENOENT;
	ends = st->type->withdraw(st);
	if (ends)
		pr_notice("dafsd: the administrator ends state %*phN of client %*phN, of inode %lu\n",
			  DAFSD_ID_LEN, state_id.b, DAFSD_ID_LEN, st->client->client_id.b,
			  st->file->inode->i_ino);
	dafsd_state_put_later(st);
	return ends ? 0 : -ENOENT;
}

static bool dafsd_nl_put_lock(struct sk_buff *skb, const struct dafsd_state *st,
			      const struct dafsd_range *range)
{
	return dafsd_nl_put_ids(skb, DAFSD_A_LOCK_STATE_ID, DAFSD_A_LOCK_CLIENT_ID, st) &&
	       dafsd_nl_put_flag(skb, DAFSD_A_LOCK_WRITE, range->type == F_WRLCK) &&
	       !nla_put_uint(skb, DAFSD_A_LOCK_START, range->start) &&
	       !nla_put_uint(skb, DAFSD_A_LOCK_END, range->end);
}

static int dafsd_nl_show_lock(const struct dafsd_nl_list *list, const struct dafsd_state *st,
			      const struct dafsd_range *range)
{
	void *hdr = genlmsg_iput(list->skb, list->info);

	if (!hdr)
		return -EMSGSIZE;
	return dafsd_nl_end(list->skb, hdr, dafsd_nl_put_lock(list->skb, st, range));
}

/* The locks of an open; none are left if @from is negative. */
static int dafsd_nl_show_locks(const struct dafsd_nl_list *list, struct dafsd_state *st,
			       loff_t *from, struct dafsd_range *ranges)
{
	struct dafsd_state_view view = {};
	unsigned int n, i;
	int err;

	st->type->view(st, &view);
	while (view.open && *from >= 0) {
		n = dafsd_lock_list(view.open, *from, ranges, DAFSD_NL_LOCKS);
		for (i = 0; i < n; i++) {
			err = dafsd_nl_show_lock(list, st, &ranges[i]);
			if (err)
				return err;
			*from = ranges[i].end == OFFSET_MAX ? -1 : ranges[i].end + 1;
		}
		if (n < DAFSD_NL_LOCKS)
			break;
	}
	return 0;
}

/* Go on with state; with all its locks, unless it is where the last message ended. */
static struct dafsd_state *dafsd_nl_next(struct dafsd_nl_cursor *cursor)
{
	unsigned long id = cursor->id;
	struct dafsd_state *st = dafsd_state_next(&cursor->id);

	if (cursor->id != id)
		cursor->from = 0;
	return st;
}

/**
 * dafsd_nl_lock_get_dumpit() - list byte-range locks
 * @skb: message to fill
 * @cb: what was asked for, and where to go on
 *
 * Context: may sleep.
 * Return: 0 after the last one, -EMSGSIZE, or -ENOMEM.
 */
int dafsd_nl_lock_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct dafsd_nl_cursor *cursor = dafsd_nl_cursor_of(cb);
	struct dafsd_nl_list list = { .skb = skb, .info = genl_info_dump(cb) };
	const struct nlattr *client_id = list.info->attrs[DAFSD_A_LOCK_CLIENT_ID];
	struct dafsd_state *st;
	int err = 0;

	struct dafsd_range *ranges __free(kfree) = kmalloc_array(DAFSD_NL_LOCKS, sizeof(*ranges),
								 GFP_KERNEL);
	if (!ranges)
		return -ENOMEM;
	while (!err && (st = dafsd_nl_next(cursor))) {
		if (dafsd_nl_wanted(st, client_id))
			err = dafsd_nl_show_locks(&list, st, &cursor->from, ranges);
		dafsd_state_put_later(st);
		if (!err) {
			cursor->id++;
			cursor->from = 0;
		}
	}
	return err;
}

static bool dafsd_nl_put_str(struct sk_buff *skb, int attr, const struct dafs_str *str)
{
	return !nla_put(skb, attr, str->len, str->data);
}

static u32 dafsd_nl_persist_kind(const struct dafsd_persist_view *view)
{
	return (view->persists ? DAFSD_PERSIST_KIND_PERSIST : 0) |
	       (view->undoes ? DAFSD_PERSIST_KIND_AUTORECOVERY : 0);
}

static bool dafsd_nl_put_persist(struct sk_buff *skb, const struct dafsd_persist_view *view)
{
	return !nla_put_uint(skb, DAFSD_A_PERSIST_ID, view->number) &&
	       !nla_put_u32(skb, DAFSD_A_PERSIST_STATE, view->state) &&
	       dafsd_nl_put_str(skb, DAFSD_A_PERSIST_CLIENT, &view->client) &&
	       !nla_put_in6_addr(skb, DAFSD_A_PERSIST_ADDRESS, view->addr) &&
	       dafsd_nl_put_str(skb, DAFSD_A_PERSIST_OWNER, &view->owner) &&
	       !nla_put(skb, DAFSD_A_PERSIST_FS, sizeof(*view->fs), view->fs) &&
	       !nla_put_u32(skb, DAFSD_A_PERSIST_HANDLE_TYPE, view->handle_type) &&
	       dafsd_nl_put_str(skb, DAFSD_A_PERSIST_HANDLE, &view->handle) &&
	       dafsd_nl_put_flag(skb, DAFSD_A_PERSIST_WRITE, view->write) &&
	       !nla_put_uint(skb, DAFSD_A_PERSIST_START, view->start) &&
	       !nla_put_uint(skb, DAFSD_A_PERSIST_END, view->end) &&
	       !nla_put_u32(skb, DAFSD_A_PERSIST_KIND, dafsd_nl_persist_kind(view));
}

static int dafsd_nl_show_persist(const struct dafsd_persist_view *view, void *arg)
{
	const struct dafsd_nl_list *list = arg;
	void *hdr = genlmsg_iput(list->skb, list->info);

	if (!hdr)
		return -EMSGSIZE;
	return dafsd_nl_end(list->skb, hdr, dafsd_nl_put_persist(list->skb, view));
}

/**
 * dafsd_nl_persist_get_dumpit() - list the locks that are to survive their owners
 * @skb: message to fill
 * @cb: what was asked for, and where to go on
 *
 * Context: may sleep.
 * Return: 0 after the last one, or -EMSGSIZE.
 */
int dafsd_nl_persist_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct dafsd_nl_list list = { .skb = skb, .info = genl_info_dump(cb) };
	struct dafsd_persist_place *place = (struct dafsd_persist_place *)cb->ctx;

	static_assert(sizeof(*place) <= sizeof(cb->ctx));
	return dafsd_persist_list(place, dafsd_nl_show_persist, &list);
}

/**
 * dafsd_nl_persist_forget_doit() - forget PERSIST and AUTORECOVERY locks whose owner is gone
 * @skb: the request
 * @info: its attributes
 *
 * Context: may sleep for the store.
 * Return: 0; -EINVAL if the request has no id; or the error of dafsd_persist_forget().
 */
int dafsd_nl_persist_forget_doit(struct sk_buff *skb, struct genl_info *info)
{
	if (GENL_REQ_ATTR_CHECK(info, DAFSD_A_PERSIST_ID))
		return -EINVAL;
	return dafsd_persist_forget(nla_get_uint(info->attrs[DAFSD_A_PERSIST_ID]));
}

/**
 * dafsd_admin_init() - begin to answer the administrator
 *
 * Context: module initialization; may sleep.
 * Return: 0 or an error.
 */
int __init dafsd_admin_init(void)
{
	/* there is one server, of the first network namespace */
	dafsd_nl_family.netnsok = false;
	return genl_register_family(&dafsd_nl_family);
}

/**
 * dafsd_admin_exit() - end that
 *
 * Context: may sleep; no list is read any more, because that would use the module.
 */
void dafsd_admin_exit(void)
{
	genl_unregister_family(&dafsd_nl_family);
}
