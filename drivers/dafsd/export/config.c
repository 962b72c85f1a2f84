// SPDX-License-Identifier: GPL-2.0
/*
 * The settings of exports.  The administrator creates exports in configfs,
 *
 *	/sys/kernel/config/dafsd/exports/NAME/{name,path,enable,...}
 *
 * or lists them in the module parameter "exports".  Exports of the parameter appear in
 * configfs too, where they can be disabled and changed but not removed.
 */
#include <linux/configfs.h>
#include <linux/module.h>
#include <linux/slab.h>
#include "../session/server.h"
#include "export.h"
#include "handle.h"
#include "location.h"

/**
 * struct dafsd_export_item - an export as configured
 * @group: in configfs
 * @node: in dafsd_param_items, if the export is from the module parameter
 * @lock: protects @conf and @exp; held while the export is enabled or disabled, which may
 *	wait for its file system, so each export has a lock of its own
 * @conf: the settings
 * @exp: the served export, or NULL while disabled
 */
struct dafsd_export_item {
	struct config_group group;
	struct list_head node;
	struct mutex lock;	/* see above */
	struct dafsd_export_conf conf;
	struct dafsd_export *exp;
};

static char *dafsd_exports_param;
module_param_named(exports, dafsd_exports_param, charp, 0444);
MODULE_PARM_DESC(exports,
		 "Directories to export: PATH[:OPTION]...[,PATH[:OPTION]...]... where OPTION is ro, rw, root_squash (default), no_root_squash, all_squash, anonuid=UID, anongid=GID, subtree_check, no_subtree_check (default), raw_names, no_raw_names (default) or name=NAME (default: last component of PATH; may be a path itself). Example: exports=/srv/data,/home:ro:name=homes");

/* Changed when the module is loaded and unloaded. */
static LIST_HEAD(dafsd_param_items);

static int dafsd_export_enable(struct dafsd_export_item *item)
{
	struct dafsd_export *exp;

	guard(mutex)(&item->lock);
	if (item->exp)
		return 0;
	exp = dafsd_export_serve(item->conf.name, &item->conf);
	if (IS_ERR(exp))
		return PTR_ERR(exp);
	WRITE_ONCE(item->exp, exp);
	dafsd_place_served(exp->place);
	return 0;
}

static void dafsd_export_disable(struct dafsd_export_item *item)
{
	guard(mutex)(&item->lock);
	if (item->exp)
		dafsd_export_withdraw(item->exp);
	WRITE_ONCE(item->exp, NULL);
	dafsd_place_withdrawn(item->conf.place);
}

static struct dafsd_export_item *to_export_item(struct config_item *item)
{
	return container_of(to_config_group(item), struct dafsd_export_item, group);
}

/* What clients see of an export is fixed while they may rely on it. */
static ssize_t dafsd_export_set_form(struct config_item *ci, bool *setting, const char *page,
				     size_t len)
{
	struct dafsd_export_item *item = to_export_item(ci);
	bool v;

	if (kstrtobool(page, &v))
		return -EINVAL;
	guard(mutex)(&item->lock);
	if (item->exp)
		return -EBUSY;
	*setting = v;
	return len;
}

/* What they may do is changed in the export that is served, too; @setting is part of @conf. */
static int dafsd_export_change_setting(struct config_item *ci, void *setting, const void *value,
				       size_t size)
{
	struct dafsd_export_item *item = to_export_item(ci);
	struct dafsd_export_conf conf;
	int err = 0;

	guard(mutex)(&item->lock);
	conf = item->conf;
	memcpy((void *)&conf + (setting - (void *)&item->conf), value, size);
	if (item->exp)
		err = dafsd_export_change(item->exp, &conf);
	if (!err)
		item->conf = conf;
	return err;
}

static ssize_t dafsd_export_set_right(struct config_item *ci, bool *setting, const char *page,
				      size_t len)
{
	bool v;

	if (kstrtobool(page, &v))
		return -EINVAL;
	return dafsd_export_change_setting(ci, setting, &v, sizeof(v)) ?: len;
}

static ssize_t dafsd_export_set_id(struct config_item *ci, u32 *setting, const char *page,
				   size_t len)
{
	u32 v;

	if (kstrtou32(page, 0, &v) || v == (u32)-1)
		return -EINVAL;
	return dafsd_export_change_setting(ci, setting, &v, sizeof(v)) ?: len;
}

#define DAFSD_EXPORT_ATTR(_name, _set, _fmt)						\
static ssize_t dafsd_export_##_name##_show(struct config_item *ci, char *page)		\
{											\
	struct dafsd_export_item *item = to_export_item(ci);				\
											\
	guard(mutex)(&item->lock);							\
	return sysfs_emit(page, _fmt, item->conf._name);				\
}											\
											\
static ssize_t dafsd_export_##_name##_store(struct config_item *ci, const char *page,	\
					    size_t len)					\
{											\
	return _set(ci, &to_export_item(ci)->conf._name, page, len);			\
}											\
CONFIGFS_ATTR(dafsd_export_, _name)

DAFSD_EXPORT_ATTR(read_only, dafsd_export_set_right, "%d\n");
DAFSD_EXPORT_ATTR(root_squash, dafsd_export_set_right, "%d\n");
DAFSD_EXPORT_ATTR(all_squash, dafsd_export_set_right, "%d\n");
DAFSD_EXPORT_ATTR(anon_uid, dafsd_export_set_id, "%u\n");
DAFSD_EXPORT_ATTR(anon_gid, dafsd_export_set_id, "%u\n");
DAFSD_EXPORT_ATTR(subtree_check, dafsd_export_set_form, "%d\n");
DAFSD_EXPORT_ATTR(raw_names, dafsd_export_set_form, "%d\n");

/* Takes over @text, a copy of the first line that was written. */
static ssize_t dafsd_export_set_text(struct config_item *ci, char **setting, char *text,
				     size_t len)
{
	struct dafsd_export_item *item = to_export_item(ci);

	guard(mutex)(&item->lock);
	if (item->exp) {
		kfree(text);
		return -EBUSY;
	}
	kfree(*setting);
	*setting = text;
	return len;
}

static ssize_t dafsd_export_path_show(struct config_item *ci, char *page)
{
	struct dafsd_export_item *item = to_export_item(ci);

	guard(mutex)(&item->lock);
	return scnprintf(page, PAGE_SIZE, "%s\n", item->conf.path ?: "");
}

static ssize_t dafsd_export_path_store(struct config_item *ci, const char *page, size_t len)
{
	size_t used = strcspn(page, "\n");
	char *path;

	if (!used)
		return -EINVAL;
	path = kstrndup(page, used, GFP_KERNEL);
	if (!path)
		return -ENOMEM;
	return dafsd_export_set_text(ci, &to_export_item(ci)->conf.path, path, len);
}
CONFIGFS_ATTR(dafsd_export_, path);

/* Names of objects with single slashes between them, not too long for a path. */
static bool dafsd_export_name_ok(const char *name)
{
	const char *at = name;
	struct dafs_str part;

	if (strlen(name) >= PATH_MAX)
		return false;
	for (;;) {
		part = (struct dafs_str){ .len = strcspn(at, "/"), .data = (const u8 *)at };
		if (dafsd_name_check_change(NULL, &part))
			return false;
		if (!at[part.len])
			return true;
		at += part.len + 1;
	}
}

static ssize_t dafsd_export_name_show(struct config_item *ci, char *page)
{
	struct dafsd_export_item *item = to_export_item(ci);

	guard(mutex)(&item->lock);
	return scnprintf(page, PAGE_SIZE, "%s\n", item->conf.name);
}

static ssize_t dafsd_export_name_store(struct config_item *ci, const char *page, size_t len)
{
	char *name = kstrndup(page, strcspn(page, "\n"), GFP_KERNEL);

	if (!name)
		return -ENOMEM;
	if (!dafsd_export_name_ok(name)) {
		kfree(name);
		return -EINVAL;
	}
	return dafsd_export_set_text(ci, &to_export_item(ci)->conf.name, name, len);
}
CONFIGFS_ATTR(dafsd_export_, name);

/* Clients learn of it when they are next answered; what they do is not affected. */
static ssize_t dafsd_export_failover_locations_show(struct config_item *ci, char *page)
{
	return dafsd_place_show(to_export_item(ci)->conf.place, page);
}

static ssize_t dafsd_export_failover_locations_store(struct config_item *ci, const char *page,
						     size_t len)
{
	return dafsd_place_set(to_export_item(ci)->conf.place, page, strcspn(page, "\n")) ?: len;
}
CONFIGFS_ATTR(dafsd_export_, failover_locations);

/* Without the lock: it would wait for a file system that hangs while the export is disabled. */
static ssize_t dafsd_export_enable_show(struct config_item *ci, char *page)
{
	return sysfs_emit(page, "%d\n", !!READ_ONCE(to_export_item(ci)->exp));
}

static ssize_t dafsd_export_enable_store(struct config_item *ci, const char *page, size_t len)
{
	struct dafsd_export_item *item = to_export_item(ci);
	bool v;

	if (kstrtobool(page, &v))
		return -EINVAL;
	if (v)
		return dafsd_export_enable(item) ?: len;
	dafsd_export_disable(item);
	return len;
}
CONFIGFS_ATTR(dafsd_export_, enable);

static struct configfs_attribute *dafsd_export_attrs[] = {
	&dafsd_export_attr_name,
	&dafsd_export_attr_path,
	&dafsd_export_attr_read_only,
	&dafsd_export_attr_root_squash,
	&dafsd_export_attr_all_squash,
	&dafsd_export_attr_anon_uid,
	&dafsd_export_attr_anon_gid,
	&dafsd_export_attr_subtree_check,
	&dafsd_export_attr_raw_names,
	&dafsd_export_attr_failover_locations,
	&dafsd_export_attr_enable,
	NULL,
};

static void dafsd_export_item_release(struct config_item *ci)
{
	struct dafsd_export_item *item = to_export_item(ci);

	kfree(item->conf.name);
	kfree(item->conf.path);
	dafsd_place_put(item->conf.place);
	kfree(item);
}

static struct configfs_item_operations dafsd_export_item_ops = {
	.release = dafsd_export_item_release,
};

static const struct config_item_type dafsd_export_type = {
	.ct_item_ops = &dafsd_export_item_ops,
	.ct_attrs = dafsd_export_attrs,
	.ct_owner = THIS_MODULE,
};

/* In configfs a slash is an exclamation mark, as in the names of block devices. */
static struct dafsd_export_item *dafsd_export_item_new(const char *name)
{
	struct dafsd_export_item *item;
	char *dir;

	if (!dafsd_export_name_ok(name))
		return ERR_PTR(-EINVAL);
	item = kzalloc(sizeof(*item), GFP_KERNEL);
	if (!item)
		return ERR_PTR(-ENOMEM);
	item->conf.name = kstrdup(name, GFP_KERNEL);
	item->conf.place = dafsd_place_new();
	dir = kstrdup(name, GFP_KERNEL);
	if (!item->conf.name || !item->conf.place || !dir) {
		kfree(dir);
		dafsd_place_put(item->conf.place);
		kfree(item->conf.name);
		kfree(item);
		return ERR_PTR(-ENOMEM);
	}
	INIT_LIST_HEAD(&item->node);
	mutex_init(&item->lock);
	item->conf.root_squash = true;
	item->conf.anon_uid = DAFSD_ANON_ID;
	item->conf.anon_gid = DAFSD_ANON_ID;
	config_group_init_type_name(&item->group, strreplace(dir, '/', '!'), &dafsd_export_type);
	kfree(dir);
	/* memory is allocated for a long name, but the call above returns no error */
	if (!config_item_name(&item->group.cg_item)) {
		config_group_put(&item->group);
		return ERR_PTR(-ENOMEM);
	}
	return item;
}

static struct config_group *dafsd_exports_make_group(struct config_group *parent,
						     const char *name)
{
	struct dafsd_export_item *item = dafsd_export_item_new(name);

	return IS_ERR(item) ? ERR_CAST(item) : &item->group;
}

static void dafsd_exports_drop_item(struct config_group *parent, struct config_item *ci)
{
	dafsd_export_disable(to_export_item(ci));
	dafsd_place_gone(to_export_item(ci)->conf.place);
	config_item_put(ci);
}

static struct configfs_group_operations dafsd_exports_group_ops = {
	.make_group = dafsd_exports_make_group,
	.drop_item = dafsd_exports_drop_item,
};

static const struct config_item_type dafsd_exports_type = {
	.ct_group_ops = &dafsd_exports_group_ops,
	.ct_owner = THIS_MODULE,
};

static const struct config_item_type dafsd_root_type = {
	.ct_owner = THIS_MODULE,
};

static struct config_group dafsd_exports_group;

static struct configfs_subsystem dafsd_subsys = {
	.su_group = {
		.cg_item = {
			.ci_namebuf = "dafsd",
			.ci_type = &dafsd_root_type,
		},
	},
	.su_mutex = __MUTEX_INITIALIZER(dafsd_subsys.su_mutex),
};

static int dafsd_param_id(const char *digits, u32 *id)
{
	/* all ones is no id */
	return kstrtou32(digits, 10, id) ?: *id == (u32)-1 ? -EINVAL : 0;
}

static int dafsd_param_option(struct dafsd_export_item *item, const char *opt)
{
	if (!strcmp(opt, "ro"))
		item->conf.read_only = true;
	else if (!strcmp(opt, "rw"))
		item->conf.read_only = false;
	else if (!strcmp(opt, "root_squash"))
		item->conf.root_squash = true;
	else if (!strcmp(opt, "no_root_squash"))
		item->conf.root_squash = false;
	else if (!strcmp(opt, "all_squash"))
		item->conf.all_squash = true;
	else if (!strcmp(opt, "subtree_check"))
		item->conf.subtree_check = true;
	else if (!strcmp(opt, "no_subtree_check"))
		item->conf.subtree_check = false;
	else if (!strcmp(opt, "raw_names"))
		item->conf.raw_names = true;
	else if (!strcmp(opt, "no_raw_names"))
		item->conf.raw_names = false;
	else if (strstarts(opt, "anonuid="))
		return dafsd_param_id(opt + strlen("anonuid="), &item->conf.anon_uid);
	else if (strstarts(opt, "anongid="))
		return dafsd_param_id(opt + strlen("anongid="), &item->conf.anon_gid);
	else if (!strstarts(opt, "name="))
		return -EINVAL;
	return 0;
}

/* The name may be the last option, but it is needed first, to make the item. */
static const char *dafsd_param_name(const char *path, const char *opts)
{
	static const char key[] = ":name=";
	const char *name = opts ? strstr(opts, key) : NULL;
	size_t len = strlen(path);
	const char *end;

	if (name) {
		name += strlen(key);
		return kstrndup(name, strcspn(name, ":"), GFP_KERNEL);
	}
	while (len > 1 && path[len - 1] == '/')
		len--;
	for (end = path + len; len && path[len - 1] != '/'; len--)
		;
	return kstrndup(path + len, end - (path + len), GFP_KERNEL);
}

static int dafsd_param_options(struct dafsd_export_item *item, char *opts)
{
	char *opt;
	int err;

	while ((opt = strsep(&opts, ":"))) {
		err = dafsd_param_option(item, opt);
		if (err) {
			pr_err("dafsd: option %s of %s is wrong\n", opt, item->conf.path);
			return err;
		}
	}
	return 0;
}

/* Cuts off the options from @spec. */
static struct dafsd_export_item *dafsd_param_parse(char *spec)
{
	char *opts = strchr(spec, ':');
	struct dafsd_export_item *item;
	const char *name;
	char *path;
	int err;

	path = kstrndup(spec, strcspn(spec, ":"), GFP_KERNEL);
	name = path ? dafsd_param_name(path, opts) : NULL;
	item = name ? dafsd_export_item_new(name) : ERR_PTR(-ENOMEM);
	kfree(name);
	if (IS_ERR(item)) {
		kfree(path);
		return item;
	}
	item->conf.path = path;
	if (opts)
		*opts++ = '\0';
	err = dafsd_param_options(item, opts);
	if (!err)
		return item;
	config_group_put(&item->group);
	return ERR_PTR(err);
}

static int dafsd_param_add(char *spec)
{
	struct dafsd_export_item *item;
	int err;

	item = dafsd_param_parse(spec);
	if (IS_ERR(item))
		return PTR_ERR(item);
	err = configfs_register_group(&dafsd_exports_group, &item->group);
	if (err) {
		config_group_put(&item->group);
		return err;
	}
	list_add_tail(&item->node, &dafsd_param_items);
	return dafsd_export_enable(item);
}

static void dafsd_param_remove_all(void)
{
	struct dafsd_export_item *item, *next;

	list_for_each_entry_safe(item, next, &dafsd_param_items, node) {
		list_del(&item->node);
		/* so that the administrator cannot enable it again */
		configfs_unregister_group(&item->group);
		dafsd_export_disable(item);
		config_group_put(&item->group);
	}
}

static int dafsd_param_add_all(const char *param)
{
	char *list = kstrdup(param, GFP_KERNEL);
	char *rest = list;
	char *spec;
	int err = 0;

	if (!list)
		return -ENOMEM;
	while (!err && (spec = strsep(&rest, ","))) {
		if (!*spec)
			continue;
		err = dafsd_param_add(spec);
		if (err)
			pr_err("dafsd: cannot export %s: %pe\n", spec, ERR_PTR(err));
	}
	kfree(list);
	return err;
}

/**
 * dafsd_exports_init() - let the administrator export directories
 * @ops: called for each export
 *
 * Enables the exports of the module parameter.
 *
 * Context: module initialization.
 * Return: 0, or a negative errno after everything has been undone.
 */
int dafsd_exports_init(const struct dafsd_export_ops *ops)
{
	int err;

	err = dafsd_fh_key_init();
	if (err)
		return err;
	dafsd_exports_begin(ops);
	config_group_init(&dafsd_subsys.su_group);
	config_group_init_type_name(&dafsd_exports_group, "exports", &dafsd_exports_type);
	configfs_add_default_group(&dafsd_exports_group, &dafsd_subsys.su_group);
	err = configfs_register_subsystem(&dafsd_subsys);
	if (err)
		goto exit_fh;
	if (!dafsd_exports_param)
		return 0;
	err = dafsd_param_add_all(dafsd_exports_param);
	if (err)
		goto remove;
	return 0;

remove:
	dafsd_param_remove_all();
	configfs_unregister_subsystem(&dafsd_subsys);
exit_fh:
	rcu_barrier();
	dafsd_exports_end();
	dafsd_fh_key_exit();
	return err;
}

/**
 * dafsd_exports_exit() - undo dafsd_exports_init()
 *
 * Context: module exit, when no session is left and before dafsd_states_exit().
 */
void dafsd_exports_exit(void)
{
	dafsd_param_remove_all();
	configfs_unregister_subsystem(&dafsd_subsys);
	/* files that are still being closed hold references to their exports */
	flush_workqueue(dafsd_close_wq);
	/* exports are freed by RCU callbacks of this module */
	rcu_barrier();
	dafsd_exports_end();
	dafsd_fh_key_exit();
}
