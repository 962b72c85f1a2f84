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
#include <kunit/visibility.h>
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

	dafsd_lane_exit(&exp->lane);
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

/* The first export that matches, with a reference, or NULL. */
static struct dafsd_export *
dafsd_export_search(bool (*match)(const struct dafsd_export *exp, const void *key), const void *key)
{
	struct dafsd_export *exp;

	guard(rcu)();
	list_for_each_entry_rcu(exp, &dafsd_exports, node)
		if (match(exp, key) && kref_get_unless_zero(&exp->ref))
			return exp;
	return NULL;
}

static bool dafsd_export_has_fshandle(const struct dafsd_export *exp, const void *fshandle)
{
	return !memcmp(exp->fshandle, fshandle, DAFS_FSHANDLE_SIZE);
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
	return dafsd_export_search(dafsd_export_has_fshandle, fshandle);
}

static bool dafsd_export_has_name(const struct dafsd_export *exp, const void *key)
{
	const struct dafs_str *name = key;

	return strlen(exp->name) == name->len && !memcmp(exp->name, name->data, name->len);
}

/**
 * dafsd_export_find_name() - find an export by its name
 * @name: a path in the name space, without a slash at either end
 *
 * Context: as dafsd_export_find().
 * Return: a reference, or NULL.
 */
struct dafsd_export *dafsd_export_find_name(const struct dafs_str *name)
{
	return dafsd_export_search(dafsd_export_has_name, name);
}

/**
 * dafsd_export_rest() - the part of an export's name that follows a path
 * @exp: export
 * @path: as in dafsd_export_find_name(), empty for the root
 *
 * Context: any.
 * Return: the components behind @path, or NULL if the export is not below it.
 */
const char *dafsd_export_rest(const struct dafsd_export *exp, const struct dafs_str *path)
{
	if (!path->len)
		return exp->name;
	if (strncmp(exp->name, (const char *)path->data, path->len) ||
	    exp->name[path->len] != '/')
		return NULL;
	return exp->name + path->len + 1;
}

static bool dafsd_export_is_below(const struct dafsd_export *exp, const void *path)
{
	return dafsd_export_rest(exp, path);
}

/**
 * dafsd_export_find_below() - find an export whose name goes on from a path
 * @path: as in dafsd_export_rest()
 *
 * Context: as dafsd_export_find().
 * Return: a reference, or NULL.
 */
struct dafsd_export *dafsd_export_find_below(const struct dafs_str *path)
{
	return dafsd_export_search(dafsd_export_is_below, path);
}

/**
 * dafsd_export_leads() - do names of exports go on from a path?
 * @path: as in dafsd_export_rest()
 *
 * Context: any.
 * Return: true if so.
 */
bool dafsd_export_leads(const struct dafs_str *path)
{
	struct dafsd_export *exp;

	guard(rcu)();
	list_for_each_entry_rcu(exp, &dafsd_exports, node)
		if (dafsd_export_rest(exp, path))
			return true;
	return false;
}

/**
 * dafsd_export_outer() - the export that a path of the name space is in
 * @path: as in dafsd_export_rest(); an export of this very name does not count
 *
 * Context: under RCU or dafsd_exports_lock, and so is what is returned.
 * Return: the export with the longest name that leads to @path, or NULL.
 */
struct dafsd_export *dafsd_export_outer(const struct dafs_str *path)
{
	struct dafsd_export *exp, *outer = NULL;
	size_t len, longest = 0;

	list_for_each_entry_rcu(exp, &dafsd_exports, node,
				lockdep_is_held(&dafsd_exports_lock)) {
		len = strlen(exp->name);
		if (len <= longest || len >= path->len || path->data[len] != '/' ||
		    memcmp(exp->name, path->data, len))
			continue;
		longest = len;
		outer = exp;
	}
	return outer;
}

/**
 * dafsd_export_is_first() - is this the first export of a directory's entry?
 * @exp: an export below @path
 * @path: as in dafsd_export_rest()
 * @len: bytes of the first component behind @path
 *
 * Context: any.
 * Return: false if an export before @exp has the same entry in its name.
 */
bool dafsd_export_is_first(const struct dafsd_export *exp, const struct dafs_str *path, size_t len)
{
	const char *name = dafsd_export_rest(exp, path);
	struct dafsd_export *other;
	const char *rest;
	bool first = true;

	rcu_read_lock();
	list_for_each_entry_rcu(other, &dafsd_exports, node) {
		if (other->number >= exp->number)
			break;
		rest = dafsd_export_rest(other, path);
		if (rest && strcspn(rest, "/") == len && !memcmp(rest, name, len))
			first = false;
	}
	rcu_read_unlock();
	return first;
}

static bool dafsd_export_has_path(const struct dafsd_export *exp, const void *path)
{
	return path_equal(&exp->path, path);
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
	return dafsd_export_search(dafsd_export_has_path, path);
}

/**
 * dafsd_export_needs() - does the name of an export end at a path, or go on from it?
 * @path: as in dafsd_export_rest()
 *
 * Context: any.
 * Return: true if so.
 */
bool dafsd_export_needs(const struct dafs_str *path)
{
	struct dafsd_export *exp;

	guard(rcu)();
	list_for_each_entry_rcu(exp, &dafsd_exports, node)
		if (dafsd_export_has_name(exp, path) || dafsd_export_rest(exp, path))
			return true;
	return false;
}

/**
 * dafsd_export_is_root() - is a directory the root of an export?
 * @dir: the directory, by whatever mount
 *
 * Context: any.
 * Return: true if so.
 */
bool dafsd_export_is_root(const struct dentry *dir)
{
	struct dafsd_export *exp;

	guard(rcu)();
	list_for_each_entry_rcu(exp, &dafsd_exports, node)
		if (exp->path.dentry == dir)
			return true;
	return false;
}

static bool dafsd_export_is_from(const struct dafsd_export *exp, const void *n)
{
	return exp->number >= *(const u64 *)n;
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
	return dafsd_export_search(dafsd_export_is_from, &n);
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
 * exported.  Where files are traced to their directory the file system must be
 * able to.
 */
static int dafsd_export_check(const struct path *path, const struct dafsd_export_conf *conf)
{
	const struct export_operations *ops = path->dentry->d_sb->s_export_op;

	if (!exportfs_can_decode_fh(ops) || dafsd_fh_encodable(path))
		return -EINVAL;
	if (is_idmapped_mnt(path->mnt))
		return -EINVAL;
	if (conf->subtree_check && (ops->flags & EXPORT_OP_NOSUBTREECHK) &&
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
	exp->subtree_check = conf->subtree_check && !exp->whole_fs;
	exp->wb_err = errseq_sample(&exp->path.dentry->d_sb->s_wb_err);
	dafsd_export_hash(exp, conf->path);
	return 0;
}

/* Where the name of an export leads into another one, a directory must be. */
static int dafsd_export_check_inside(const struct dafsd_export *outer,
				     const struct dafsd_export *inner)
{
	const struct dafs_str path = dafsd_export_path(outer);
	struct path dir;
	int err;

	err = vfs_path_lookup(outer->path.dentry, outer->path.mnt,
			      dafsd_export_rest(inner, &path),
			      LOOKUP_DIRECTORY | LOOKUP_NO_SYMLINKS, &dir);
	if (!err)
		path_put(&dir);
	return err;
}

/* Without it there would be exports that no LOOKUP leads to (R-4.1.4-07). */
static int dafsd_export_check_place(const struct dafsd_export *exp)
{
	const struct dafs_str name = dafsd_export_path(exp);
	const struct dafsd_export *outer, *other;
	struct dafs_str path;
	int err = 0;

	lockdep_assert_held(&dafsd_exports_lock);
	outer = dafsd_export_outer(&name);
	if (outer)
		err = dafsd_export_check_inside(outer, exp);
	list_for_each_entry(other, &dafsd_exports, node) {
		if (err)
			break;
		if (!dafsd_export_rest(other, &name))
			continue;
		path = dafsd_export_path(other);
		outer = dafsd_export_outer(&path);
		/* one in between hides it from @exp */
		if (!outer || strlen(outer->name) < name.len)
			err = dafsd_export_check_inside(exp, other);
	}
	return err;
}

static int dafsd_export_publish(struct dafsd_export *exp)
{
	struct dafsd_export *other;
	int err;

	guard(mutex)(&dafsd_exports_lock);
	list_for_each_entry(other, &dafsd_exports, node)
		if (!strcmp(other->name, exp->name))
			return -EEXIST;
	err = dafsd_export_check_place(exp);
	if (err)
		return err;
	dafsd_lane_init(&exp->lane);
	dafsd_opens_init_export(exp);
	exp->number = dafsd_export_numbers++;
	exp->enabled = true;
	list_add_tail_rcu(&exp->node, &dafsd_exports);
	dafsd_exports_touch();
	return 0;
}

/**
 * dafsd_export_serve() - let clients reach a directory tree
 * @name: its name, a path in the name space
 * @conf: what and how
 *
 * Context: may sleep; looks the path up as the caller sees it.
 * Return: what dafsd_export_withdraw() ends, or an ERR_PTR: -EINVAL if there is
 * no path or the file system cannot be exported, -EEXIST if the name is taken,
 * or what looking up the path, or the name inside another export, said.
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
	err = dafsd_export_check(&exp->path, conf) ?: dafsd_export_fill(exp, name, conf);
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
EXPORT_SYMBOL_IF_KUNIT(dafsd_export_serve);

/**
 * dafsd_export_withdraw() - take an export away from clients
 * @exp: from dafsd_export_serve()
 *
 * Requests in progress finish on the references they hold; the files that
 * clients have open are closed, so that the file system can be unmounted.  What
 * becomes of unstable data from now on is not watched.
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
	dafsd_verifier_change();
	dafsd_export_put(exp);
}
EXPORT_SYMBOL_IF_KUNIT(dafsd_export_withdraw);
