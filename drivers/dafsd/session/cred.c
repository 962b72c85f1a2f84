// SPDX-License-Identifier: GPL-2.0
/*
 * Credentials: the user that a request acts for (3.1.1.1.2, 6.2.8, 6.2.9).
 *
 * A client registers a user once and then refers to it by a handle.  The table of the
 * client holds a reference to each credential, and so does every request that uses one.
 * RELEASE_CRED drops the reference of the table, so requests in progress keep the user
 * that they began with (E-48).
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/ctype.h>
#include <linux/sched.h>
#include <linux/unaligned.h>
#include <linux/user_namespace.h>
#include "peer.h"
#include "client.h"
#include "session.h"

#define DAFSD_MAX_GROUPS	65536	/* E-118 */

/*
 * Only root has capabilities, and only those for file systems.  All other permissions of
 * remote users are checked by user and group ids.
 */
static void dafsd_cred_set_caps(struct cred *cred)
{
	cap_clear(cred->cap_effective);
	if (uid_eq(cred->fsuid, GLOBAL_ROOT_UID))
		cred->cap_effective = cap_raise_nfsd_set(cred->cap_effective,
							 cred->cap_permitted);
}

/**
 * dafsd_cred_make() - a user by numbers
 * @uid: acts for it
 * @gid: likewise
 * @groups: further groups
 *
 * Context: may sleep.
 * Return: a reference, or NULL when out of memory.
 */
const struct cred *dafsd_cred_make(kuid_t uid, kgid_t gid, struct group_info *groups)
{
	struct cred *cred = prepare_kernel_cred(&init_task);

	if (!cred)
		return NULL;
	cred->fsuid = uid;
	cred->fsgid = gid;
	set_groups(cred, groups);
	dafsd_cred_set_caps(cred);
	return cred;
}

/**
 * dafsd_cred_make_lone() - a user without further groups
 * @uid: see dafsd_cred_make()
 * @gid: likewise
 *
 * Context: may sleep.
 * Return: a reference, or NULL when out of memory.
 */
const struct cred *dafsd_cred_make_lone(kuid_t uid, kgid_t gid)
{
	struct group_info *groups = groups_alloc(0);
	const struct cred *cred;

	if (!groups)
		return NULL;
	cred = dafsd_cred_make(uid, gid, groups);
	put_group_info(groups);
	return cred;
}

static dafs_status_t dafsd_cred_groups(struct dafs_buf *in, const struct dafs_seq *seq,
				       struct group_info **groups)
{
	struct group_info *gi;
	u32 i;
	s32 v;

	if (seq->count > DAFSD_MAX_GROUPS)
		return DAFSERR_INVAL;
	gi = groups_alloc(seq->count);
	if (!gi)
		return DAFSERR_RESOURCE;
	for (i = 0; i < seq->count; i++) {
		if (dafs_get_s32(in, seq, i, &v) || v == -1)
			goto invalid;
		gi->gid[i] = make_kgid(&init_user_ns, v);
	}
	groups_sort(gi);
	*groups = gi;
	return DAFS_STATUS_OK;

invalid:
	put_group_info(gi);
	return DAFSERR_INVAL;
}

static dafs_status_t dafsd_cred_from_id(struct dafs_buf *in,
					const struct dafs_register_cred_args *args,
					const struct cred **cred)
{
	struct group_info *groups;
	dafs_status_t status;

	if (args->uid == -1 || args->gid == -1)
		return DAFSERR_INVAL;
	status = dafsd_cred_groups(in, &args->groups, &groups);
	if (status)
		return status;
	*cred = dafsd_cred_make(make_kuid(&init_user_ns, args->uid),
				make_kgid(&init_user_ns, args->gid), groups);
	put_group_info(groups);
	return *cred ? DAFS_STATUS_OK : DAFSERR_RESOURCE;
}

static dafs_status_t dafsd_cred_from_name(const struct dafs_str *name, const struct cred **cred)
{
	u32 uid;

	if (!dafsd_name_to_id(name, &uid))
		return DAFSERR_INVAL;
	/* without a valid group, exports use the group of their anonymous user */
	*cred = dafsd_cred_make_lone(make_kuid(&init_user_ns, uid), INVALID_GID);
	return *cred ? DAFS_STATUS_OK : DAFSERR_RESOURCE;
}

/* The anonymous user; dafsd_cred_squash() fills in the ids of the export. */
static const struct cred *dafsd_anon_cred;

/* The server itself: decodes filehandles independent of the caller's permissions. */
static const struct cred *dafsd_server_cred;

/**
 * dafsd_creds_init() - make the credentials of the anonymous user and of the server
 *
 * Context: module initialization.
 * Return: 0 or -ENOMEM.
 */
int dafsd_creds_init(void)
{
	dafsd_server_cred = prepare_kernel_cred(&init_task);
	if (!dafsd_server_cred)
		return -ENOMEM;
	dafsd_anon_cred = dafsd_cred_make_lone(INVALID_UID, INVALID_GID);
	if (dafsd_anon_cred)
		return 0;
	put_cred(dafsd_server_cred);
	return -ENOMEM;
}

/**
 * dafsd_creds_exit() - undo dafsd_creds_init()
 *
 * Context: module exit; no request is in progress.
 */
void dafsd_creds_exit(void)
{
	put_cred(dafsd_anon_cred);
	put_cred(dafsd_server_cred);
}

static dafs_status_t dafsd_cred_default(const struct cred **cred)
{
	*cred = get_cred(dafsd_anon_cred);
	return DAFS_STATUS_OK;
}

static dafs_status_t dafsd_cred_build(struct dafs_buf *in,
				      const struct dafs_register_cred_args *args,
				      const struct cred **cred)
{
	switch (args->cred_type) {
	case DAFS_CRED_NAME:
		return dafsd_cred_from_name(&args->name, cred);
	case DAFS_CRED_ID:
		return dafsd_cred_from_id(in, args, cred);
	case DAFS_CRED_GSS:
		return DAFSERR_NOTSUPP;
	case DAFS_CRED_DEFAULT:
		return dafsd_cred_default(cred);
	default:
		return DAFSERR_INVAL;
	}
}

/* Memory of a registered user; the groups take most of it. */
static size_t dafsd_cred_size(const struct cred *cred)
{
	return sizeof(*cred) + struct_size(cred->group_info, gid, cred->group_info->ngroups);
}

/**
 * dafsd_cred_erase() - remove a user from the table of a client
 * @client: the client
 * @id: its handle
 *
 * Context: any but interrupt.
 * Return: the user, for dafsd_cred_drop(); NULL if there is none.
 */
const struct cred *dafsd_cred_erase(struct dafsd_client *client, unsigned long id)
{
	const struct cred *cred;

	xa_lock(&client->creds);
	cred = __xa_erase(&client->creds, id);
	if (cred)
		client->nr_creds--;
	xa_unlock(&client->creds);
	return cred;
}

/**
 * dafsd_cred_drop() - release a user that was registered
 * @client: the client that had registered it
 * @cred: from dafsd_cred_erase(), or never in the client's table; the reference is dropped
 *
 * Context: any.
 */
void dafsd_cred_drop(struct dafsd_client *client, const struct cred *cred)
{
	dafsd_client_uncharge(client, dafsd_cred_size(cred));
	put_cred(cred);
}

/*
 * Ids are allocated cyclically, so that a handle that was just released is not soon
 * reused for another user.
 */
static dafs_status_t dafsd_cred_insert(struct dafsd_client *client, const struct cred *cred,
				       u32 *id)
{
	int err = -EBUSY;

	xa_lock(&client->creds);
	if (client->nr_creds >= client->max_credentials)
		goto unlock;
	/* counted first, because the lock is dropped to allocate memory */
	client->nr_creds++;
	err = __xa_alloc_cyclic(&client->creds, id, (void *)cred, xa_limit_32b,
				&client->next_cred, GFP_KERNEL);
	if (err < 0)
		client->nr_creds--;
unlock:
	xa_unlock(&client->creds);
	return err < 0 ? DAFSERR_RESOURCE : DAFS_STATUS_OK;
}

/**
 * dafsd_cred_register() - REGISTER_CRED (6.2.8)
 * @ses: session
 * @in: the request, which @args points into
 * @args: the user
 * @handle: set to the four bytes of the new handle
 * @room: set to the bytes that there was no room for, or to 0
 *
 * Context: may sleep.
 * Return: OK; NOT_AUTHORIZED on a session that is not trusted; INVAL; NOTSUPP
 * for a GSS name; RESOURCE if the client has registered as many users as were negotiated,
 * or if the state of its address takes too much memory.
 */
dafs_status_t dafsd_cred_register(struct dafsd_session *ses, struct dafs_buf *in,
				  const struct dafs_register_cred_args *args, u8 *handle,
				  size_t *room)
{
	const struct cred *cred;
	dafs_status_t status;
	u32 id;

	*room = 0;
	if (!ses->trusted)
		return DAFSERR_NOT_AUTHORIZED;
	status = dafsd_cred_build(in, args, &cred);
	if (status)
		return status;
	if (!dafsd_client_charge(ses->client, dafsd_cred_size(cred))) {
		*room = dafsd_cred_size(cred);
		put_cred(cred);
		return DAFSERR_RESOURCE;
	}
	status = dafsd_cred_insert(ses->client, cred, &id);
	if (status) {
		dafsd_cred_drop(ses->client, cred);
		return status;
	}
	put_unaligned(id, (u32 *)handle);
	return DAFS_STATUS_OK;
}

/**
 * dafsd_cred_release() - RELEASE_CRED (6.2.9)
 * @ses: session
 * @handle: from dafsd_cred_register()
 *
 * Context: may sleep.
 * Return: OK; NOT_AUTHORIZED on a session that is not trusted; NO_CREDS (E-48).
 */
dafs_status_t dafsd_cred_release(struct dafsd_session *ses, const u8 *handle)
{
	struct dafsd_client *client = ses->client;
	const struct cred *cred;

	if (!ses->trusted)
		return DAFSERR_NOT_AUTHORIZED;
	cred = dafsd_cred_erase(client, get_unaligned((u32 *)handle));
	if (!cred)
		return DAFSERR_NO_CREDS;
	dafsd_cred_drop(client, cred);
	return DAFS_STATUS_OK;
}

/**
 * dafsd_cred_find() - the credential that a request acts with (6.1.2)
 * @ses: session
 * @handle: cred_handle of the request
 * @cred: set to a reference
 *
 * The identity of a session itself is the default user, which is the anonymous user of
 * each export: this server has no table that maps the principal of a session to a user id
 * (E-48).
 *
 * Context: may sleep.
 * Return: OK; CRHAND_CONFLICT for a handle on a session that is not trusted;
 * NO_CREDS; RESOURCE.
 */
dafs_status_t dafsd_cred_find(struct dafsd_session *ses, const u8 *handle, const struct cred **cred)
{
	u32 id = get_unaligned((u32 *)handle);

	if (!id)
		return dafsd_cred_default(cred);
	if (!ses->trusted)
		return DAFSERR_CRHAND_CONFLICT;
	rcu_read_lock();
	*cred = xa_load(&ses->client->creds, id);
	if (*cred)
		*cred = get_cred_rcu(*cred);
	rcu_read_unlock();
	return *cred ? DAFS_STATUS_OK : DAFSERR_NO_CREDS;
}

/**
 * dafsd_name_to_id() - the numeric id of a user or group (E-117)
 * @name: name sent by the client
 * @id: set to the id
 *
 * The kernel does not know names of users; only decimal numbers are accepted.
 *
 * Context: any.
 * Return: false if @name is not a number, or is (u32)-1, which is not a valid id.
 */
bool dafsd_name_to_id(const struct dafs_str *name, u32 *id)
{
	char number[12];
	u32 i;

	if (!name->len || name->len >= sizeof(number))
		return false;
	for (i = 0; i < name->len; i++) {
		if (!isdigit(name->data[i]))
			return false;
		number[i] = name->data[i];
	}
	number[name->len] = 0;
	return !kstrtou32(number, 10, id) && *id != (u32)-1;
}

/**
 * dafsd_act_as_server() - use the credential of the server, not that of a user
 *
 * Context: process context.
 * Return: the previous credential, for revert_creds().
 */
const struct cred *dafsd_act_as_server(void)
{
	return override_creds(dafsd_server_cred);
}
