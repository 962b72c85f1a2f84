/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Exports: the directory trees that clients may reach, which names they take, and whom
 * users act as there.
 */
#ifndef _DAFSD_EXPORT_EXPORT_H
#define _DAFSD_EXPORT_EXPORT_H

#include <linux/cred.h>
#include <linux/errseq.h>
#include <linux/kref.h>
#include <linux/llist.h>
#include <linux/path.h>
#include <linux/string.h>
#include <linux/workqueue.h>
#include <linux/dafs/msg.h>
#include "lane.h"

/**
 * struct dafsd_squash - which users act as the anonymous user in an export
 * @root: uid 0 and gid 0 act as @uid and @gid
 * @all: all users do
 * @uid: see above; also of callers without credentials
 * @gid: likewise; also of users who came without a group
 * @anon: a user of these
 */
struct dafsd_squash {
	bool root;
	bool all;
	kuid_t uid;
	kgid_t gid;
	const struct cred *anon;
};

/**
 * struct dafsd_export - a directory tree that clients may reach
 * @ref: one of configfs, one of each filehandle in use
 * @node: in the list of exports
 * @handle_node: in the table of exports by @fshandle
 * @name: its name, a path in the name space without a slash at either end
 * @path: the tree
 * @fshandle: first 16 bytes of all its filehandles
 * @read_only: refuse changes with ROFS; may change at any time
 * @squash: read under RCU, replaced as a whole by dafsd_export_change()
 * @enabled: served; cleared when the export is taken away, see dafsd_state_publish()
 * @whole_fs: the tree is a whole file system, so everything in it is inside
 * @subtree_check: it is not, and files are traced to the tree too, see vfs/fh.c
 * @raw_names: names of objects need not be UTF-8
 * @place: where else it is, with a reference
 * @number: position in pseudo directories, not used twice
 * @lane: its share of the workers
 * @nr_delegs: files of it that are delegated, see state/deleg.c
 * @closing: state in it that was taken from its client, to be dismantled by @closer
 * @closer: likewise; holds a reference while queued
 * @undoer: undoes in the background what was written in it under AUTORECOVERY locks, see
 *	state/persist_undo.c; holds a reference while queued
 * @wb_err: how many errors of writing back the write verifier has told, see data/stable.c
 * @rcu: frees it
 */
struct dafsd_export {
	struct kref ref;
	struct list_head node;
	struct hlist_node handle_node;
	char *name;
	struct path path;
	u8 fshandle[DAFS_FSHANDLE_SIZE];
	bool read_only;
	struct dafsd_squash __rcu *squash;
	bool enabled;
	bool whole_fs;
	bool subtree_check;
	bool raw_names;
	struct dafsd_place *place;
	u64 number;
	struct dafsd_lane lane;
	atomic_t nr_delegs;
	struct llist_head closing;
	struct work_struct closer;
	struct work_struct undoer;
	errseq_t wb_err;
	struct rcu_head rcu;
};

/**
 * struct dafsd_export_ops - what the folders above do about exports
 * @prepare: one may be about to be enabled; uses its file system, perhaps more than once.  Returns
 *	a negative errno if it must not be
 * @served: one is about to be enabled
 * @withdrawn: one is disabled; end the state in it
 * @changed: clients may not do any more in it what they could
 */
struct dafsd_export_ops {
	int (*prepare)(struct dafsd_export *exp);
	void (*served)(struct dafsd_export *exp);
	void (*withdrawn)(struct dafsd_export *exp);
	void (*changed)(const struct dafsd_export *exp);
};

/**
 * struct dafsd_export_conf - settings of an export
 * @name: see struct dafsd_export
 * @path: directory, or NULL
 * @read_only: see struct dafsd_export
 * @root_squash: see struct dafsd_squash
 * @all_squash: see struct dafsd_squash
 * @anon_uid: see struct dafsd_squash
 * @anon_gid: see struct dafsd_squash
 * @subtree_check: unless the tree is a whole file system, see struct dafsd_export
 * @raw_names: see struct dafsd_export
 * @place: likewise; fixed
 */
struct dafsd_export_conf {
	char *name;
	char *path;
	bool read_only;
	bool root_squash;
	bool all_squash;
	u32 anon_uid;
	u32 anon_gid;
	bool subtree_check;
	bool raw_names;
	struct dafsd_place *place;
};

extern unsigned int dafsd_withdraw_seconds;

void dafsd_exports_begin(const struct dafsd_export_ops *ops);
void dafsd_exports_end(void);
struct dafsd_export *dafsd_export_serve(const char *name, const struct dafsd_export_conf *conf);
int dafsd_export_change(struct dafsd_export *exp, const struct dafsd_export_conf *conf);
void dafsd_export_withdraw(struct dafsd_export *exp);
struct dafsd_export *dafsd_export_find(const u8 *fshandle);
struct dafsd_export *dafsd_export_find_name(const struct dafs_str *name);
struct dafsd_export *dafsd_export_find_path(const struct path *path);
struct dafsd_export *dafsd_export_find_below(const struct dafs_str *path);
struct dafsd_export *dafsd_export_nth(u64 n);
dafs_status_t dafsd_export_get(const u8 *fshandle, struct dafsd_export **exp);
void dafsd_export_put(struct dafsd_export *exp);
bool dafsd_export_needs(const struct dafs_str *path);
bool dafsd_export_is_root(const struct dentry *dir);
bool dafsd_export_leads(const struct dafs_str *path);
struct dafsd_export *dafsd_export_outer(const struct dafs_str *path);
const char *dafsd_export_rest(const struct dafsd_export *exp, const struct dafs_str *path);
bool dafsd_export_is_first(const struct dafsd_export *exp, const struct dafs_str *path, size_t len);
dafs_status_t dafsd_exports_missing(void);
u64 dafsd_exports_change(void);

/**
 * dafsd_export_path() - where in the name space an export is
 * @exp: the export
 *
 * Return: its name, which lives as long as @exp.
 */
static inline struct dafs_str dafsd_export_path(const struct dafsd_export *exp)
{
	return (struct dafs_str){ .len = strlen(exp->name), .data = (const u8 *)exp->name };
}

/* config.c */

/* The user of anonymous requests, and of squashed ones unless configured. */
#define DAFSD_ANON_ID		65534

int dafsd_exports_init(const struct dafsd_export_ops *ops);
void dafsd_exports_exit(void);

/* name.c: which names an export takes */
dafs_status_t dafsd_name_check(const struct dafsd_export *exp, const struct dafs_str *name);
dafs_status_t dafsd_name_check_change(const struct dafsd_export *exp, const struct dafs_str *name);
bool dafsd_name_is_dots(const struct dafs_str *name);

/* squash.c: whom a user acts as there */
struct dafsd_squash *dafsd_squash_make(kuid_t uid, kgid_t gid);
void dafsd_squash_free(struct dafsd_squash *squash);
const struct cred *dafsd_cred_squash(const struct dafsd_export *exp, const struct cred *cred);

#endif /* _DAFSD_EXPORT_EXPORT_H */
