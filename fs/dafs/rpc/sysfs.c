// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/fs/dafs/<number>: a folder for each session with a server.
 *
 * It is there from the first connection on and goes before the session ends:
 * removing it waits for the tasks that read or write one of its files, so none
 * of them sees a session that is being taken apart.
 */
#include <linux/kobject.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include <linux/dafs/stats.h>
#include "rpc_impl.h"

static struct kset *dafs_kset;
static atomic_t dafs_session_numbers = ATOMIC_INIT(0);

/**
 * struct dafs_session_attr - a file of a session
 * @attr: its name and mode
 * @show: fills the page
 * @store: takes what was written, or NULL
 */
struct dafs_session_attr {
	struct attribute attr;
	ssize_t (*show)(struct dafs_session *ses, char *buf);
	ssize_t (*store)(struct dafs_session *ses, const char *buf, size_t len);
};

#define DAFS_SESSION_ATTR(_name)					\
static struct dafs_session_attr dafs_session_attr_##_name = {		\
	.attr = { .name = __stringify(_name), .mode = 0444 },		\
	.show = dafs_session_show_##_name,				\
}

static ssize_t dafs_session_show_server(struct dafs_session *ses, char *buf)
{
	return sysfs_emit(buf, "%pISpc\n", &ses->clnt->params.dst);
}
DAFS_SESSION_ATTR(server);

static ssize_t dafs_session_show_state(struct dafs_session *ses, char *buf)
{
	return sysfs_emit(buf, "%s\n", dafs_client_state_name(ses->clnt));
}
DAFS_SESSION_ATTR(state);

static ssize_t dafs_session_show_reconnects(struct dafs_session *ses, char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(ses->clnt->reconnects));
}
DAFS_SESSION_ATTR(reconnects);

static ssize_t dafs_session_show_channels(struct dafs_session *ses, char *buf)
{
	struct dafs_conn *conn = dafs_conn_try_get(ses);
	ssize_t len;

	if (IS_ERR_OR_NULL(conn))
		return sysfs_emit(buf, "\n");
	len = sysfs_emit(buf, "operation%s%s\n", conn->rr ? " rdma-read" : "",
			 conn->bc ? " back-control" : "");
	dafs_conn_put(conn);
	return len;
}
DAFS_SESSION_ATTR(channels);

/* What the requesters of the current connections say, together. */
static ssize_t dafs_session_emit_requests(struct dafs_session *ses, char *buf,
					  u16 (*ask)(struct dafs_requester *rq))
{
	unsigned int requests = 0, i;
	struct dafs_conn *conn;

	for (i = 0; i < READ_ONCE(ses->nr_paths); i++) {
		conn = dafs_path_try_get(&ses->paths[i]);
		if (!conn)
			continue;
		requests += ask(conn->rq);
		dafs_conn_put(conn);
	}
	return sysfs_emit(buf, "%u\n", requests);
}

static ssize_t dafs_session_show_credits(struct dafs_session *ses, char *buf)
{
	return dafs_session_emit_requests(ses, buf, dafs_requester_nreq);
}
DAFS_SESSION_ATTR(credits);

static ssize_t dafs_session_show_outstanding(struct dafs_session *ses, char *buf)
{
	return dafs_session_emit_requests(ses, buf, dafs_requester_outstanding);
}
DAFS_SESSION_ATTR(outstanding);

static ssize_t dafs_session_emit_stat(struct dafs_session *ses, char *buf, enum dafs_stat what)
{
	u64 sums[DAFS_NR_STATS];

	dafs_stats_total(ses->clnt->stats, sums);
	return sysfs_emit(buf, "%llu\n", sums[what]);
}

#define DAFS_SESSION_STAT(_name, _what)							\
static ssize_t dafs_session_show_##_name(struct dafs_session *ses, char *buf)		\
{											\
	return dafs_session_emit_stat(ses, buf, _what);					\
}											\
DAFS_SESSION_ATTR(_name)

DAFS_SESSION_STAT(calls, DAFS_STAT_CALLS);
DAFS_SESSION_STAT(errors, DAFS_STAT_ERRORS);
DAFS_SESSION_STAT(lost, DAFS_STAT_LOST);
DAFS_SESSION_STAT(bytes_sent, DAFS_STAT_SENT);
DAFS_SESSION_STAT(bytes_received, DAFS_STAT_RECEIVED);
DAFS_SESSION_STAT(bytes_direct, DAFS_STAT_DIRECT);
DAFS_SESSION_STAT(regions, DAFS_STAT_REGIONS);
DAFS_SESSION_STAT(posts, DAFS_STAT_POSTS);

static ssize_t dafs_session_show_shutdown(struct dafs_session *ses, char *buf)
{
	return sysfs_emit(buf, "%d\n", READ_ONCE(ses->clnt->dead));
}

/* For what umount -f does not reach any more; there is no way back. */
static ssize_t dafs_session_store_shutdown(struct dafs_session *ses, const char *buf,
					   size_t len)
{
	bool shutdown;
	int err = kstrtobool(buf, &shutdown);

	if (err)
		return err;
	if (!shutdown)
		return -EINVAL;
	pr_notice("dafs: server %pISpc: given up for good\n", &ses->clnt->params.dst);
	dafs_client_shutdown(ses->clnt);
	return len;
}

static struct dafs_session_attr dafs_session_attr_shutdown = {
	.attr = { .name = "shutdown", .mode = 0644 },
	.show = dafs_session_show_shutdown,
	.store = dafs_session_store_shutdown,
};

static struct attribute *dafs_session_attrs[] = {
	&dafs_session_attr_server.attr,
	&dafs_session_attr_state.attr,
	&dafs_session_attr_reconnects.attr,
	&dafs_session_attr_channels.attr,
	&dafs_session_attr_credits.attr,
	&dafs_session_attr_outstanding.attr,
	&dafs_session_attr_shutdown.attr,
	NULL
};

static const struct attribute_group dafs_session_group = {
	.attrs = dafs_session_attrs,
};

static struct attribute *dafs_session_stat_attrs[] = {
	&dafs_session_attr_calls.attr,
	&dafs_session_attr_errors.attr,
	&dafs_session_attr_lost.attr,
	&dafs_session_attr_bytes_sent.attr,
	&dafs_session_attr_bytes_received.attr,
	&dafs_session_attr_bytes_direct.attr,
	&dafs_session_attr_regions.attr,
	&dafs_session_attr_posts.attr,
	NULL
};

static const struct attribute_group dafs_session_stat_group = {
	.name = "statistics",
	.attrs = dafs_session_stat_attrs,
};

static const struct attribute_group *dafs_session_groups[] = {
	&dafs_session_group,
	&dafs_session_stat_group,
	NULL
};

static ssize_t dafs_session_attr_show(struct kobject *kobj, struct attribute *attr, char *buf)
{
	struct dafs_session_attr *sa = container_of(attr, struct dafs_session_attr, attr);

	return sa->show(container_of(kobj, struct dafs_session, kobj), buf);
}

static ssize_t dafs_session_attr_store(struct kobject *kobj, struct attribute *attr,
				       const char *buf, size_t len)
{
	struct dafs_session_attr *sa = container_of(attr, struct dafs_session_attr, attr);

	if (!sa->store)
		return -EIO;
	return sa->store(container_of(kobj, struct dafs_session, kobj), buf, len);
}

static const struct sysfs_ops dafs_session_sysfs_ops = {
	.show = dafs_session_attr_show,
	.store = dafs_session_attr_store,
};

/* The client frees the session, after dafs_session_hide_from_sysfs() has waited for this. */
static void dafs_session_kobj_release(struct kobject *kobj)
{
	complete(&container_of(kobj, struct dafs_session, kobj)->kobj_gone);
}

static const struct kobj_type dafs_session_ktype = {
	.release	= dafs_session_kobj_release,
	.sysfs_ops	= &dafs_session_sysfs_ops,
	.default_groups	= dafs_session_groups,
};

/**
 * dafs_session_show_in_sysfs() - make the folder of a session
 * @ses: the session, connected
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dafs_session_show_in_sysfs(struct dafs_session *ses)
{
	int err;

	init_completion(&ses->kobj_gone);
	ses->kobj.kset = dafs_kset;
	err = kobject_init_and_add(&ses->kobj, &dafs_session_ktype, NULL, "%u",
				   atomic_inc_return(&dafs_session_numbers));
	if (err) {
		kobject_put(&ses->kobj);
		wait_for_completion(&ses->kobj_gone);
	}
	return err;
}

/**
 * dafs_session_hide_from_sysfs() - undo dafs_session_show_in_sysfs()
 * @ses: the session
 *
 * Context: may sleep; no task reads or writes its files when this returns.
 */
void dafs_session_hide_from_sysfs(struct dafs_session *ses)
{
	kobject_del(&ses->kobj);
	kobject_put(&ses->kobj);
	wait_for_completion(&ses->kobj_gone);
}

/**
 * dafs_sysfs_init() - make /sys/fs/dafs
 *
 * Return: 0 or -ENOMEM.
 */
int __init dafs_sysfs_init(void)
{
	dafs_kset = kset_create_and_add("dafs", NULL, fs_kobj);
	return dafs_kset ? 0 : -ENOMEM;
}

/**
 * dafs_sysfs_exit() - remove /sys/fs/dafs
 */
void dafs_sysfs_exit(void)
{
	kset_unregister(dafs_kset);
}
