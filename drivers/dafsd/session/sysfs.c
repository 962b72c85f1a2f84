// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/fs/dafsd/<number>: a folder for each session of an authenticated client.
 *
 * The number is that of the operation channel in the trace points.  Removing the folder
 * waits for the tasks that read its files.  It is the first step when a session is torn
 * down, so that no task reads a partly freed session.
 */
#include <linux/kobject.h>
#include <linux/sysfs.h>
#include "server.h"
#include "client.h"
#include "conn.h"
#include "session.h"

#define DAFSD_SHOWN_ID	128	/* bytes of a client's id */

/**
 * struct dafsd_session_attr - a file of a session
 * @attr: its name and mode
 * @show: fills the page
 */
struct dafsd_session_attr {
	struct attribute attr;
	ssize_t (*show)(struct dafsd_session *ses, char *buf);
};

#define DAFSD_SESSION_ATTR(_name)					\
static struct dafsd_session_attr dafsd_session_attr_##_name = {		\
	.attr = { .name = __stringify(_name), .mode = 0444 },		\
	.show = dafsd_session_show_##_name,				\
}

static ssize_t dafsd_session_show_peer(struct dafsd_session *ses, char *buf)
{
	return sysfs_emit(buf, "%pISpc\n", &ses->op->chan->peer);
}
DAFSD_SESSION_ATTR(peer);

/* The client chooses its id: unprintable characters are escaped. */
static ssize_t dafsd_session_show_client(struct dafsd_session *ses, char *buf)
{
	const struct dafsd_client *client = ses->client;

	return sysfs_emit(buf, "%*pE\n", min_t(int, client->id_len, DAFSD_SHOWN_ID),
			  client->id);
}
DAFSD_SESSION_ATTR(client);

static ssize_t dafsd_session_show_client_id(struct dafsd_session *ses, char *buf)
{
	return sysfs_emit(buf, "%*phN\n", (int)sizeof(ses->client->client_id),
			  &ses->client->client_id);
}
DAFSD_SESSION_ATTR(client_id);

static ssize_t dafsd_session_show_state(struct dafsd_session *ses, char *buf)
{
	bool ready = READ_ONCE(ses->op->state) == DAFSD_CONN_READY;

	return sysfs_emit(buf, "%s\n", ready ? "ready" : "closing");
}
DAFSD_SESSION_ATTR(state);

static ssize_t dafsd_session_show_channels(struct dafsd_session *ses, char *buf)
{
	bool rr, bc;

	spin_lock(&ses->lock);
	rr = ses->rr;
	bc = ses->bc;
	spin_unlock(&ses->lock);
	return sysfs_emit(buf, "operation%s%s\n", rr ? " rdma-read" : "",
			  bc ? " back-control" : "");
}
DAFSD_SESSION_ATTR(channels);

static ssize_t dafsd_session_show_credits(struct dafsd_session *ses, char *buf)
{
	return sysfs_emit(buf, "%u\n", dafs_responder_nreq(ses->op->responder));
}
DAFSD_SESSION_ATTR(credits);

static ssize_t dafsd_session_show_outstanding(struct dafsd_session *ses, char *buf)
{
	/* one count is for the channel itself */
	return sysfs_emit(buf, "%d\n", atomic_read(&ses->op->busy) - 1);
}
DAFSD_SESSION_ATTR(outstanding);

static ssize_t dafsd_session_show_waiting(struct dafsd_session *ses, char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(ses->op->waiting));
}
DAFSD_SESSION_ATTR(waiting);

static ssize_t dafsd_session_show_opens(struct dafsd_session *ses, char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(ses->client->nr_opens));
}
DAFSD_SESSION_ATTR(opens);

static ssize_t dafsd_session_show_locks(struct dafsd_session *ses, char *buf)
{
	return sysfs_emit(buf, "%d\n", atomic_read(&ses->client->nr_locks));
}
DAFSD_SESSION_ATTR(locks);

#define DAFSD_SESSION_COUNTER(_name, _counter)						\
static ssize_t dafsd_session_show_##_name(struct dafsd_session *ses, char *buf)		\
{											\
	return sysfs_emit(buf, "%lld\n", atomic64_read(_counter));			\
}											\
DAFSD_SESSION_ATTR(_name)

DAFSD_SESSION_COUNTER(requests, &ses->requests);
DAFSD_SESSION_COUNTER(errors, &ses->errors);
DAFSD_SESSION_COUNTER(bytes_read, &ses->bytes_read);
DAFSD_SESSION_COUNTER(bytes_borrowed, &ses->bytes_borrowed);
DAFSD_SESSION_COUNTER(bytes_written, &ses->bytes_written);

static struct attribute *dafsd_session_attrs[] = {
	&dafsd_session_attr_peer.attr,
	&dafsd_session_attr_client.attr,
	&dafsd_session_attr_client_id.attr,
	&dafsd_session_attr_state.attr,
	&dafsd_session_attr_channels.attr,
	&dafsd_session_attr_credits.attr,
	&dafsd_session_attr_outstanding.attr,
	&dafsd_session_attr_waiting.attr,
	&dafsd_session_attr_opens.attr,
	&dafsd_session_attr_locks.attr,
	NULL
};

static const struct attribute_group dafsd_session_group = {
	.attrs = dafsd_session_attrs,
};

static struct attribute *dafsd_session_counter_attrs[] = {
	&dafsd_session_attr_requests.attr,
	&dafsd_session_attr_errors.attr,
	&dafsd_session_attr_bytes_read.attr,
	&dafsd_session_attr_bytes_borrowed.attr,
	&dafsd_session_attr_bytes_written.attr,
	NULL
};

static const struct attribute_group dafsd_session_counter_group = {
	.name = "statistics",
	.attrs = dafsd_session_counter_attrs,
};

static const struct attribute_group *dafsd_session_groups[] = {
	&dafsd_session_group,
	&dafsd_session_counter_group,
	NULL
};

static ssize_t dafsd_session_attr_show(struct kobject *kobj, struct attribute *attr, char *buf)
{
	struct dafsd_session_attr *sa = container_of(attr, struct dafsd_session_attr, attr);

	return sa->show(container_of(kobj, struct dafsd_session, kobj), buf);
}

static const struct sysfs_ops dafsd_session_sysfs_ops = {
	.show = dafsd_session_attr_show,
};

/* The session counts other references, and waits for this one. */
static void dafsd_session_kobj_release(struct kobject *kobj)
{
	complete(&container_of(kobj, struct dafsd_session, kobj)->kobj_gone);
}

static const struct kobj_type dafsd_session_ktype = {
	.release	= dafsd_session_kobj_release,
	.sysfs_ops	= &dafsd_session_sysfs_ops,
	.default_groups	= dafsd_session_groups,
};

static void dafsd_session_drop_kobj(struct dafsd_session *ses)
{
	kobject_put(&ses->kobj);
	wait_for_completion(&ses->kobj_gone);
}

/**
 * dafsd_session_show_in_sysfs() - make the folder of a session
 * @ses: the session, authenticated
 *
 * A session works without its folder, so an error is ignored.
 *
 * Context: may sleep; dafsd_conn.setup of its operation channel held.
 */
void dafsd_session_show_in_sysfs(struct dafsd_session *ses)
{
	lockdep_assert_held(&ses->op->setup);
	init_completion(&ses->kobj_gone);
	ses->kobj.kset = ses->op->server->kset;
	if (kobject_init_and_add(&ses->kobj, &dafsd_session_ktype, NULL, "%u",
				 ses->op->chan->debug_id))
		dafsd_session_drop_kobj(ses);
	else
		ses->in_sysfs = true;
}

/**
 * dafsd_session_hide_from_sysfs() - remove the folder of a session, if any
 * @ses: the session; its operation channel is in state CLOSING
 *
 * Context: may sleep; no task reads its files when this returns.
 */
void dafsd_session_hide_from_sysfs(struct dafsd_session *ses)
{
	/*
	 * A worker that was making the folder has finished when the lock is taken; in
	 * this state no worker starts to make it.
	 */
	mutex_lock(&ses->op->setup);
	if (ses->in_sysfs) {
		ses->in_sysfs = false;
		kobject_del(&ses->kobj);
		dafsd_session_drop_kobj(ses);
	}
	mutex_unlock(&ses->op->setup);
}

/**
 * dafsd_sysfs_init() - make /sys/fs/dafsd
 * @server: the server
 *
 * Return: 0 or -ENOMEM.
 */
int __init dafsd_sysfs_init(struct dafsd_server *server)
{
	server->kset = kset_create_and_add("dafsd", NULL, fs_kobj);
	return server->kset ? 0 : -ENOMEM;
}

/**
 * dafsd_sysfs_exit() - remove /sys/fs/dafsd
 * @server: the server
 *
 * Context: may sleep; no sessions exist.
 */
void dafsd_sysfs_exit(struct dafsd_server *server)
{
	kset_unregister(server->kset);
}
