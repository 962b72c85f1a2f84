// SPDX-License-Identifier: GPL-2.0
/*
 * Exports: the directory trees that clients may reach (4.1.4).
 *
 * A configured export and a served export are two objects.  This file implements served
 * exports: a struct dafsd_export is made from the settings, is freed with its last
 * reference, and changes meanwhile only in what clients may do.  The settings are in
 * config.c.
 */
#include <linux/exportfs.h>
#include <linux/hashtable.h>
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/rculist.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include <linux/unaligned.h>
#include "../session/server.h"
#include "lane.h"
#include "export.h"
#include "handle.h"
#include "location.h"

/* Seconds that dafsd_export_withdraw() waits for requests and closes; shorter in tests */
unsigned int dafsd_withdraw_seconds = 10;

static const struct dafsd_export_ops *dafsd_export_ops;

/* Protects changes of the lists; no file system operation is done under it. */
static DEFINE_MUTEX(dafsd_exports_lock);

/* The served exports, in the order of dafsd_export.number.  Read under RCU. */
static LIST_HEAD(dafsd_exports);

/* The same exports, hashed by dafsd_export.fshandle, which most requests contain */
static DEFINE_HASHTABLE(dafsd_exports_by_handle, 8);
static u64 dafsd_export_numbers;

/* CHANGE of the pseudo root: the time of its last change in nanoseconds. */
static atomic64_t dafsd_exports_changed;

/**
 * struct dafsd_export_mark - an export that has been served since the server started
 * @node: in dafsd_export_marks
 * @fshandle: see struct dafsd_export
 */
struct dafsd_export_mark {
	struct list_head node;
	u8 fshandle[DAFS_FSHANDLE_SIZE];
};

/*
 * One mark for each export that was served, kept until the module is unloaded.  A missing
 * export with a mark has been disabled; one without a mark may still be configured.  Marks
 * are added under dafsd_exports_lock, and read under RCU.
 */
static LIST_HEAD(dafsd_export_marks);

/* Woken when a reference to an export is dropped; see dafsd_export_wait(). */
static DECLARE_WAIT_QUEUE_HEAD(dafsd_exports_idle);

/* An export has been disabled, and pseudo directories may have disappeared with it. */
static bool dafsd_exports_withdrawn;

/* When the server started, in seconds since boot */
static time64_t dafsd_exports_since;

/* Update CHANGE of the pseudo root; callers are serialized. */
static void dafsd_exports_touch(void)
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
	dafsd_squash_free(rcu_dereference_protected(exp->squash, true));
	dafsd_place_put(exp->place);
	path_put(&exp->path);
	call_rcu(&exp->rcu, dafsd_export_free_rcu);
}

/**
 * dafsd_export_put() - drop a reference to an export
 * @exp: export
 *
 * Context: may sleep: dropping the last reference releases the mount of the file system.
 */
void dafsd_export_put(struct dafsd_export *exp)
{
	kref_put(&exp->ref, dafsd_export_release);
	if (wq_has_sleeper(&dafsd_exports_idle))
		wake_up_all(&dafsd_exports_idle);
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

/* The fshandle is a hash itself. */
static u32 dafsd_fshandle_hash(const u8 *fshandle)
{
	return get_unaligned((const u32 *)fshandle);
}

/**
 * dafsd_export_find() - find an export by its fshandle
 * @fshandle: first 16 bytes of a filehandle
 *
 * Context: any, but not under a lock that dafsd_export_put() may take.
 * Return: a reference, or NULL.
 */
struct dafsd_export *dafsd_export_find(const u8 *fshandle)
{
	struct dafsd_export *exp;

	guard(rcu)();
	hash_for_each_possible_rcu(dafsd_exports_by_handle, exp, handle_node,
				   dafsd_fshandle_hash(fshandle))
		if (!memcmp(exp->fshandle, fshandle, DAFS_FSHANDLE_SIZE) &&
		    kref_get_unless_zero(&exp->ref))
			return exp;
	return NULL;
}

static bool dafsd_export_was_served(const u8 *fshandle)
{
	struct dafsd_export_mark *mark;

	guard(rcu)();
	list_for_each_entry_rcu(mark, &dafsd_export_marks, node)
		if (!memcmp(mark->fshandle, fshandle, DAFS_FSHANDLE_SIZE))
			return true;
	return false;
}

/* Return: false while exports of the former instance may still have to be configured. */
static bool dafsd_exports_settled(void)
{
	return ktime_get_boottime_seconds() - dafsd_exports_since > dafsd_lease_seconds;
}

/**
 * dafsd_export_get() - the export of a filehandle that the server has made
 * @fshandle: first 16 bytes of the filehandle, which is genuine
 * @exp: set to a reference, or NULL
 *
 * A server with exports in configfs accepts connections before the exports are configured.
 * Clients of its former instance that reconnect at once must not lose their opens and
 * unstable data.  So for the time of a lease a missing export is answered DELAY, unless it
 * was served by this instance and has been disabled.
 *
 * Context: as dafsd_export_find().
 * Return: OK, DELAY or STALE.
 */
dafs_status_t dafsd_export_get(const u8 *fshandle, struct dafsd_export **exp)
{
	bool served;

	*exp = dafsd_export_find(fshandle);
	if (*exp)
		return DAFS_STATUS_OK;
	if (dafsd_exports_settled())
		return DAFSERR_STALE;
	served = dafsd_export_was_served(fshandle);
	/* it may have been added since; it is marked after it is added to the hash table */
	*exp = dafsd_export_find(fshandle);
	if (*exp)
		return DAFS_STATUS_OK;
	return served ? DAFSERR_STALE : DAFSERR_DELAY;
}

/**
 * dafsd_exports_missing() - the status for a pseudo directory without exports below it
 *
 * Context: any.
 * Return: STALE, or DELAY if the exports may not have been configured yet.
 */
dafs_status_t dafsd_exports_missing(void)
{
	if (dafsd_exports_settled() || READ_ONCE(dafsd_exports_withdrawn))
		return DAFSERR_STALE;
	return DAFSERR_DELAY;
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
 * dafsd_export_find_below() - find an export whose name begins with a path
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
 * dafsd_export_leads() - is there an export whose name begins with a path?
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
 * @path: as in dafsd_export_rest(); an export with exactly this name does not count
 *
 * Context: under RCU; the result is valid in the same RCU section.
 * Return: the export with the longest name that @path is below, or NULL.
 */
struct dafsd_export *dafsd_export_outer(const struct dafs_str *path)
{
	struct dafsd_export *exp, *outer = NULL;
	size_t len, longest = 0;

	list_for_each_entry_rcu(exp, &dafsd_exports, node) {
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
 * dafsd_export_is_first() - is this the first of the exports that make a directory entry?
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
 * Return: a reference, or NULL if the directory is not the root of an export.
 */
struct dafsd_export *dafsd_export_find_path(const struct path *path)
{
	return dafsd_export_search(dafsd_export_has_path, path);
}

/**
 * dafsd_export_needs() - is a path the name of an export, or the beginning of one?
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
 * @dir: the directory; its mount does not matter
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
 * Numbers are not reused while the module is loaded, so they can be used as cookies, which
 * stay valid when the list changes.
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
 * The fshandle must be the same after a restart, and different for each export, also for
 * two exports of one directory.  It is a hash of the export's name and of the identity of
 * its file system: the UUID and the inode number of the export's root, or, if there is no
 * UUID, the configured path and the magic number.
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

/* Tell the administrator why an export is not served. */
static int dafsd_export_refuse(const char *name, const char *why, int err)
{
	pr_err("dafsd: export %s: %s (%pe)\n", name, why, ERR_PTR(err));
	return err;
}

/*
 * User and group ids of clients are used as they are, so an idmapped mount cannot be
 * exported.  With subtree_check the file system must be able to find the directory of a
 * file.
 */
static int dafsd_export_check(const char *name, const struct path *path,
			      const struct dafsd_export_conf *conf)
{
	const struct export_operations *ops = path->dentry->d_sb->s_export_op;

	if (!exportfs_can_decode_fh(ops) || dafsd_fh_encodable(path))
		return dafsd_export_refuse(name, "the file system has no filehandles", -EINVAL);
	if (is_idmapped_mnt(path->mnt))
		return dafsd_export_refuse(name, "the mount is id-mapped", -EINVAL);
	if (conf->subtree_check && (ops->flags & EXPORT_OP_NOSUBTREECHK) &&
	    path->dentry != path->dentry->d_sb->s_root)
		return dafsd_export_refuse(name, "the file system has no subtree_check", -EINVAL);
	return 0;
}

static struct dafsd_squash *dafsd_export_squash(const struct dafsd_export_conf *conf)
{
	kuid_t uid = make_kuid(&init_user_ns, conf->anon_uid);
	kgid_t gid = make_kgid(&init_user_ns, conf->anon_gid);
	struct dafsd_squash *squash;

	if (!uid_valid(uid) || !gid_valid(gid))
		return ERR_PTR(-EINVAL);
	squash = dafsd_squash_make(uid, gid);
	if (!squash)
		return ERR_PTR(-ENOMEM);
	squash->root = conf->root_squash;
	squash->all = conf->all_squash;
	return squash;
}

static int dafsd_export_fill(struct dafsd_export *exp, const char *name,
			     const struct dafsd_export_conf *conf)
{
	struct dafsd_squash *squash;

	exp->name = kstrdup(name, GFP_KERNEL);
	if (!exp->name)
		return -ENOMEM;
	kref_init(&exp->ref);
	squash = dafsd_export_squash(conf);
	if (IS_ERR(squash))
		return PTR_ERR(squash);
	RCU_INIT_POINTER(exp->squash, squash);
	exp->read_only = conf->read_only;
	exp->whole_fs = exp->path.dentry == exp->path.dentry->d_sb->s_root;
	exp->subtree_check = conf->subtree_check && !exp->whole_fs;
	exp->raw_names = conf->raw_names;
	exp->place = dafsd_place_get(conf->place);
	exp->wb_err = errseq_sample(&exp->path.dentry->d_sb->s_wb_err);
	dafsd_export_hash(exp, conf->path);
	return 0;
}

/* If the name of an export is below that of another one, it must be a directory there. */
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

static struct dafsd_export *dafsd_export_outer_get(const struct dafs_str *path)
{
	struct dafsd_export *outer;

	guard(rcu)();
	outer = dafsd_export_outer(path);
	return outer && kref_get_unless_zero(&outer->ref) ? outer : NULL;
}

/* If @other is below @exp, it must be visible there, unless an export between hides it. */
static int dafsd_export_check_other(const struct dafsd_export *exp,
				    const struct dafsd_export *other)
{
	const struct dafs_str name = dafsd_export_path(exp);
	const struct dafs_str path = dafsd_export_path(other);
	struct dafsd_export *outer;
	int err = 0;

	if (!dafsd_export_rest(other, &name))
		return 0;
	outer = dafsd_export_outer_get(&path);
	if (!outer || strlen(outer->name) < name.len)
		err = dafsd_export_check_inside(exp, other);
	if (outer)
		dafsd_export_put(outer);
	return err;
}

/* Without this check there could be exports that LOOKUP cannot reach (4.1.4). */
static int dafsd_export_check_place(const struct dafsd_export *exp)
{
	const struct dafs_str name = dafsd_export_path(exp);
	struct dafsd_export *other = dafsd_export_outer_get(&name);
	int err = 0;
	u64 n = 0;

	if (other) {
		err = dafsd_export_check_inside(other, exp);
		dafsd_export_put(other);
	}
	while (!err && (other = dafsd_export_nth(n))) {
		n = other->number + 1;
		err = dafsd_export_check_other(exp, other);
		dafsd_export_put(other);
	}
	return err;
}

/* Takes over @mark. */
static void dafsd_export_mark(const struct dafsd_export *exp, struct dafsd_export_mark *mark)
{
	lockdep_assert_held(&dafsd_exports_lock);
	if (dafsd_export_was_served(exp->fshandle)) {
		kfree(mark);
		return;
	}
	memcpy(mark->fshandle, exp->fshandle, sizeof(mark->fshandle));
	list_add_tail_rcu(&mark->node, &dafsd_export_marks);
}

/* Return: 0, or -EAGAIN if the set of exports has changed after @since. */
static int dafsd_export_try_publish(struct dafsd_export *exp, struct dafsd_export_mark *mark,
				    u64 since)
{
	guard(mutex)(&dafsd_exports_lock);
	if (dafsd_exports_change() != since)
		return -EAGAIN;
	dafsd_lane_init(&exp->lane);
	dafsd_export_ops->served(exp);
	exp->number = dafsd_export_numbers++;
	exp->enabled = true;
	list_add_tail_rcu(&exp->node, &dafsd_exports);
	hash_add_rcu(dafsd_exports_by_handle, &exp->handle_node,
		     dafsd_fshandle_hash(exp->fshandle));
	dafsd_export_mark(exp, mark);
	dafsd_exports_touch();
	return 0;
}

/*
 * The checks use file systems and may take long, so they are done without the lock, and
 * repeated if other exports were added or removed in the meantime.
 */
static int dafsd_export_publish(struct dafsd_export *exp, struct dafsd_export_mark *mark)
{
	const struct dafs_str name = dafsd_export_path(exp);
	struct dafsd_export *other;
	u64 since;
	int err;

	do {
		since = dafsd_exports_change();
		other = dafsd_export_find_name(&name);
		if (other) {
			dafsd_export_put(other);
			return dafsd_export_refuse(exp->name, "another one has this name", -EEXIST);
		}
		err = dafsd_export_check_place(exp);
		if (err)
			return dafsd_export_refuse(exp->name, "an outer export lacks the directory",
						   err);
		err = dafsd_export_ops->prepare(exp);
		if (err)
			return dafsd_export_refuse(exp->name,
						   "what clients have done before a crash cannot be found out",
						   err);
		err = dafsd_export_try_publish(exp, mark, since);
	} while (err == -EAGAIN);
	return err;
}

/**
 * dafsd_export_serve() - let clients reach a directory tree
 * @name: its name, a path in the name space
 * @conf: the settings
 *
 * If it is not served the log tells why.
 *
 * Context: may sleep; looks the path up in the caller's mount namespace.
 * Return: the export, to be ended with dafsd_export_withdraw(), or an ERR_PTR: -EINVAL if
 * there is no path or the file system cannot be exported, -EEXIST if the name is taken,
 * an error of looking up the path, or the name inside another export; or an error of
 * dafsd_fh_key_get().
 */
struct dafsd_export *dafsd_export_serve(const char *name, const struct dafsd_export_conf *conf)
{
	struct dafsd_export_mark *mark;
	struct dafsd_export *exp;
	int err;

	if (!conf->path)
		return ERR_PTR(dafsd_export_refuse(name, "path is not set", -EINVAL));
	err = dafsd_fh_key_get();
	if (err)
		return ERR_PTR(err);
	exp = kzalloc(sizeof(*exp), GFP_KERNEL);
	mark = kzalloc(sizeof(*mark), GFP_KERNEL);
	err = exp && mark ? 0 : -ENOMEM;
	if (err)
		goto free;
	err = kern_path(conf->path, LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &exp->path);
	if (err) {
		dafsd_export_refuse(name, "path leads to no directory", err);
		goto free;
	}
	err = dafsd_export_check(name, &exp->path, conf) ?: dafsd_export_fill(exp, name, conf);
	if (!err)
		err = dafsd_export_publish(exp, mark);
	if (!err)
		return exp;
	path_put(&exp->path);
	dafsd_squash_free(rcu_dereference_protected(exp->squash, true));
	dafsd_place_put(exp->place);
	kfree(exp->name);
free:
	kfree(mark);
	kfree(exp);
	return ERR_PTR(err);
}

/**
 * dafsd_export_change() - change what clients may do in an export
 * @exp: from dafsd_export_serve(); not changed by others at the same time
 * @conf: settings as there but for read_only, and for who is squashed and to whom
 *
 * Opens stay.  Delegations are recalled: while a client has one it does not ask the server
 * whether an access is allowed.
 * Requests in progress may end as if there had been no change; those that
 * come from now on find all of it.  Either read_only or the rest may differ from the
 * settings in force, not both: a request in progress could combine old and new.
 *
 * Context: may sleep.
 * Return: 0, -EINVAL or -ENOMEM.
 */
int dafsd_export_change(struct dafsd_export *exp, const struct dafsd_export_conf *conf)
{
	struct dafsd_squash *squash = dafsd_export_squash(conf);

	if (IS_ERR(squash))
		return PTR_ERR(squash);
	WRITE_ONCE(exp->read_only, conf->read_only);
	squash = rcu_replace_pointer(exp->squash, squash, true);
	synchronize_rcu();
	dafsd_squash_free(squash);
	dafsd_export_ops->changed(exp);
	return 0;
}

/*
 * Wait for requests in progress, and for files that are being closed, but not for ever:
 * they do not complete while the file system hangs.
 */
static void dafsd_export_wait(struct dafsd_export *exp)
{
	if (!wait_event_timeout(dafsd_exports_idle, kref_read(&exp->ref) == 1,
				READ_ONCE(dafsd_withdraw_seconds) * HZ))
		pr_warn("dafsd: requests are still executed, or files closed, in export %s\n",
			exp->name);
}

/**
 * dafsd_export_withdraw() - stop serving an export
 * @exp: from dafsd_export_serve()
 *
 * Requests in progress complete with the references they hold, and files that clients have
 * open are closed.  This function waits for both, so that the file system can be unmounted,
 * but not for ever: if the file system hangs, they continue in the background.
 * Write-back errors of unstable data are not reported any more.
 *
 * Context: may sleep, up to dafsd_withdraw_seconds if the file system hangs.
 */
void dafsd_export_withdraw(struct dafsd_export *exp)
{
	mutex_lock(&dafsd_exports_lock);
	list_del_rcu(&exp->node);
	hash_del_rcu(&exp->handle_node);
	dafsd_exports_touch();
	WRITE_ONCE(exp->enabled, false);
	WRITE_ONCE(dafsd_exports_withdrawn, true);
	mutex_unlock(&dafsd_exports_lock);
	dafsd_export_ops->withdrawn(exp);
	dafsd_export_wait(exp);
	dafsd_export_put(exp);
}

/**
 * dafsd_exports_begin() - the server starts, without exports
 * @ops: called for each export
 *
 * Context: module initialization.
 */
void dafsd_exports_begin(const struct dafsd_export_ops *ops)
{
	dafsd_export_ops = ops;
	dafsd_exports_since = ktime_get_boottime_seconds();
	dafsd_exports_touch();
}

/**
 * dafsd_exports_end() - forget which exports there have been
 *
 * Context: module exit; no request is in progress.
 */
void dafsd_exports_end(void)
{
	struct dafsd_export_mark *mark, *next;

	list_for_each_entry_safe(mark, next, &dafsd_export_marks, node)
		kfree(mark);
}
