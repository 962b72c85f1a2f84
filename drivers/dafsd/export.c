// SPDX-License-Identifier: GPL-2.0
/*
 * Exports: the directory trees that clients may reach (4.1.4).
 *
 * What is configured and what is served are two objects.  This file has what is
 * served: a struct dafsd_export is made from settings, does not change while
 * clients use it, and lives until the last of them lets go.  The settings are
 * in export_config.c.
 */
#include <linux/exportfs.h>
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/rculist.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include "vfs.h"

/* Guards changes of the list. */
static DEFINE_MUTEX(dafsd_exports_lock);

/* What is served, in the order of dafsd_export.number.  Read under RCU. */
static LIST_HEAD(dafsd_exports);
static u64 dafsd_export_numbers;

/* CHANGE of the pseudo root: the time of its last change in nanoseconds. */
static atomic64_t dafsd_exports_changed;

/**
 * dafsd_exports_touch() - the pseudo root changes
 *
 * Context: changes do not come at the same time.
 */
void dafsd_exports_touch(void)
{
	s64 last = atomic64_read(&dafsd_exports_changed);

	atomic64_set(&dafsd_exports_changed, max_t(s64, last + 1, ktime_get_real_ns()));
}

/**
 * dafsd_exports_change() - CHANGE of the pseudo root
 *
 * Context: any.
 * Return: the time of its last change, nanoseconds since 1970.
 */
u64 dafsd_exports_change(void)
{
	return atomic64_read(&dafsd_exports_changed);
}

static void dafsd_export_free_rcu(struct rcu_head *rcu)
{
	struct dafsd_export *exp = container_of(rcu, struct dafsd_export, rcu);

	kfree(exp->name);
	kfree(exp);
}

static void dafsd_export_release(struct kref *ref)
{
	struct dafsd_export *exp = container_of(ref, struct dafsd_export, ref);

	path_put(&exp->path);
	call_rcu(&exp->rcu, dafsd_export_free_rcu);
}

/**
 * dafsd_export_put() - drop a reference to an export
 * @exp: export
 *
 * Context: may sleep: the last reference keeps the file system mounted.
 */
void dafsd_export_put(struct dafsd_export *exp)
{
	kref_put(&exp->ref, dafsd_export_release);
}

/**
 * dafsd_export_find() - find an export by its fshandle
 * @fshandle: first 16 bytes of a filehandle
 *
 * Context: any but under a lock that dafsd_export_put() could want.
 * Return: a reference, or NULL.
 */
struct dafsd_export *dafsd_export_find(const u8 *fshandle)
{
	struct dafsd_export *exp;

	rcu_read_lock();
	list_for_each_entry_rcu(exp, &dafsd_exports, node) {
		if (memcmp(exp->fshandle, fshandle, DAFS_FSHANDLE_SIZE))
			continue;
		if (!kref_get_unless_zero(&exp->ref))
			continue;
		rcu_read_unlock();
		return exp;
	}
	rcu_read_unlock();
	return NULL;
}

/**
 * dafsd_export_find_name() - find an export by its name in the pseudo root
 * @name: the name
 *
 * Context: as dafsd_export_find().
 * Return: a reference, or NULL.
 */
struct dafsd_export *dafsd_export_find_name(const struct dafs_str *name)
{
	struct dafsd_export *exp;

	rcu_read_lock();
	list_for_each_entry_rcu(exp, &dafsd_exports, node) {
		if (strlen(exp->name) != name->len || memcmp(exp->name, name->data, name->len))
			continue;
		if (!kref_get_unless_zero(&exp->ref))
			continue;
		rcu_read_unlock();
		return exp;
	}
	rcu_read_unlock();
	return NULL;
}

/**
 * dafsd_export_find_path() - find the export of a directory
 * @path: the directory
 *
 * Context: as dafsd_export_find().
 * Return: a reference, or NULL if that directory is not exported by itself.
 */
struct dafsd_export *dafsd_export_find_path(const struct path *path)
{
	struct dafsd_export *exp;

	rcu_read_lock();
	list_for_each_entry_rcu(exp, &dafsd_exports, node) {
		if (!path_equal(&exp->path, path) || !kref_get_unless_zero(&exp->ref))
			continue;
		rcu_read_unlock();
		return exp;
	}
	rcu_read_unlock();
	return NULL;
}

/**
 * dafsd_export_nth() - go through the exports
 * @n: number to begin from
 *
 * Numbers are not used again while the module is loaded, so they are cookies
 * that survive changes of the list.
 *
 * Context: as dafsd_export_find().
 * Return: a reference to the export with the smallest number not below @n, or
 * NULL.
 */
struct dafsd_export *dafsd_export_nth(u64 n)
{
	struct dafsd_export *exp;

	rcu_read_lock();
	list_for_each_entry_rcu(exp, &dafsd_exports, node) {
		if (exp->number < n || !kref_get_unless_zero(&exp->ref))
			continue;
		rcu_read_unlock();
		return exp;
	}
	rcu_read_unlock();
	return NULL;
}

/*
 * The fshandle must be the same after a restart and differ between exports,
 * also between two exports of one directory.  It is a hash of the export's name
 * and of what names its file system: the uuid and the number of the root inode,
 * or the configured path and the magic number where there is no uuid.
 */
static void dafsd_export_hash(struct dafsd_export *exp, const char *conf_path)
{
	static const siphash_key_t keys[2] = {
		{ { 0x4441465320667368ULL, 0x616e646c65203a30ULL } },
		{ { 0x4441465320667368ULL, 0x616e646c65203a31ULL } },
	};
	const struct super_block *sb = exp->path.dentry->d_sb;
	bool has_uuid = !uuid_is_null(&sb->s_uuid);
	u64 part[5];
	u64 half;
	int i;

	for (i = 0; i < 2; i++) {
		part[0] = has_uuid;
		part[1] = siphash(exp->name, strlen(exp->name), &keys[i]);
		part[2] = has_uuid ? d_inode(exp->path.dentry)->i_ino : sb->s_magic;
		part[3] = has_uuid ? siphash(&sb->s_uuid, sizeof(sb->s_uuid), &keys[i]) :
				     siphash(conf_path, strlen(conf_path), &keys[i]);
		part[4] = i;
		half = siphash(part, sizeof(part), &keys[i]);
		memcpy(exp->fshandle + i * sizeof(half), &half, sizeof(half));
	}
}

/*
 * Ids of clients are those of the machine, so a mount that maps ids cannot be
 * exported.  A file system whose files cannot be traced to their directory can
 * be exported only as a whole.
 */
static int dafsd_export_check(const struct path *path)
{
	const struct export_operations *ops = path->dentry->d_sb->s_export_op;

	if (!exportfs_can_decode_fh(ops) || dafsd_fh_encodable(path))
		return -EINVAL;
	if (is_idmapped_mnt(path->mnt))
		return -EINVAL;
	if ((ops->flags & EXPORT_OP_NOSUBTREECHK) &&
	    path->dentry != path->dentry->d_sb->s_root)
		return -EINVAL;
	return 0;
}

static int dafsd_export_fill(struct dafsd_export *exp, const char *name,
			     const struct dafsd_export_conf *conf)
{
	exp->name = kstrdup(name, GFP_KERNEL);
	if (!exp->name)
		return -ENOMEM;
	kref_init(&exp->ref);
	exp->read_only = conf->read_only;
	exp->root_squash = conf->root_squash;
	exp->all_squash = conf->all_squash;
	exp->anon_uid = make_kuid(&init_user_ns, conf->anon_uid);
	exp->anon_gid = make_kgid(&init_user_ns, conf->anon_gid);
	if (!uid_valid(exp->anon_uid) || !gid_valid(exp->anon_gid))
		return -EINVAL;
	exp->whole_fs = exp->path.dentry == exp->path.dentry->d_sb->s_root;
	dafsd_export_hash(exp, conf->path);
	return 0;
}

static int dafsd_export_publish(struct dafsd_export *exp)
{
	struct dafsd_export *other;

	guard(mutex)(&dafsd_exports_lock);
	list_for_each_entry(other, &dafsd_exports, node)
		if (!memcmp(other->fshandle, exp->fshandle, DAFS_FSHANDLE_SIZE))
			return -EEXIST;
	exp->number = dafsd_export_numbers++;
	exp->enabled = true;
	list_add_tail_rcu(&exp->node, &dafsd_exports);
	dafsd_exports_touch();
	return 0;
}

/**
 * dafsd_export_serve() - let clients reach a directory tree
 * @name: its name in the pseudo root
 * @conf: what and how
 *
 * Context: may sleep; looks the path up as the caller sees it.
 * Return: what dafsd_export_withdraw() ends, or an ERR_PTR: -EINVAL if there is
 * no path or the file system cannot be exported, -EEXIST, or what looking up
 * the path said.
 */
struct dafsd_export *dafsd_export_serve(const char *name, const struct dafsd_export_conf *conf)
{
	struct dafsd_export *exp;
	int err;

	if (!conf->path)
		return ERR_PTR(-EINVAL);
	exp = kzalloc(sizeof(*exp), GFP_KERNEL);
	if (!exp)
		return ERR_PTR(-ENOMEM);
	err = kern_path(conf->path, LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &exp->path);
	if (err)
		goto free;
	err = dafsd_export_check(&exp->path) ?: dafsd_export_fill(exp, name, conf);
	if (!err)
		err = dafsd_export_publish(exp);
	if (!err)
		return exp;
	path_put(&exp->path);
free:
	kfree(exp->name);
	kfree(exp);
	return ERR_PTR(err);
}

/**
 * dafsd_export_withdraw() - take an export away from clients
 * @exp: from dafsd_export_serve()
 *
 * Requests in progress finish on the references they hold; the files that
 * clients have open are closed, so that the file system can be unmounted.
 *
 * Context: may sleep.
 */
void dafsd_export_withdraw(struct dafsd_export *exp)
{
	mutex_lock(&dafsd_exports_lock);
	list_del_rcu(&exp->node);
	dafsd_exports_touch();
	WRITE_ONCE(exp->enabled, false);
	mutex_unlock(&dafsd_exports_lock);
	dafsd_opens_release_export(exp);
	dafsd_export_put(exp);
}
