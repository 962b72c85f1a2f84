// SPDX-License-Identifier: GPL-2.0
#include <linux/cred.h>
#include <linux/inet.h>
#include <linux/module.h>
#include <linux/namei.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <rdma/ib_verbs.h>
#include "../../../../drivers/dafsd/session/courtesy.h"
#include "../../../../drivers/dafsd/session/server.h"
#include "../../../../drivers/dafsd/session/session.h"
#include "../../../../drivers/dafsd/export/export.h"
#include "../../rpc/rpc_impl.h"
#include "fixture.h"

static char *addr4 = "10.9.0.1";
module_param(addr4, charp, 0444);
MODULE_PARM_DESC(addr4, "IPv4 address of the server, this machine");

static char *addr6 = "fd09::1";
module_param(addr6, charp, 0444);
MODULE_PARM_DESC(addr6, "IPv6 address of the server, this machine");

static char *port = "20050";
module_param(port, charp, 0444);
MODULE_PARM_DESC(port, "port of the server");

static char *export = "data";
module_param(export, charp, 0444);
MODULE_PARM_DESC(export, "name of a writable export without root squash, a whole file system");

static char *backing = "/srv/data";
module_param(backing, charp, 0444);
MODULE_PARM_DESC(backing, "its path on this machine");

static char *export_ro = "ro";
module_param(export_ro, charp, 0444);
MODULE_PARM_DESC(export_ro, "name of a read-only export of another file system");

static char *backing_ro = "/srv/ro";
module_param(backing_ro, charp, 0444);
MODULE_PARM_DESC(backing_ro, "its path on this machine, writable here");

static char *export_squash = "squash";
module_param(export_squash, charp, 0444);
MODULE_PARM_DESC(export_squash,
		 "name of a writable export with root squash and subtree_check, a directory of the read-only one's file system");

static char *backing_squash = "/srv/squash";
module_param(backing_squash, charp, 0444);
MODULE_PARM_DESC(backing_squash, "its path on this machine");

/* Indexed by enum dafs_test_export. */
static const struct {
	char **name;
	char **backing;
} dafs_test_exports[] = {
	[DAFS_TEST_DATA] = { &export, &backing },
	[DAFS_TEST_RO] = { &export_ro, &backing_ro },
	[DAFS_TEST_SQUASH] = { &export_squash, &backing_squash },
};

const char *dafs_fixture_export_name(enum dafs_test_export where)
{
	return *dafs_test_exports[where].name;
}

static const struct dafs_flavour dafs_flavours[] = {
	{ .name = "native order" },
	{ .name = "swapped order", .swab = true },
	{ .name = "swapped order, checksums, IPv6", .swab = true, .cksum = true, .ipv6 = true },
	{ .name = "checksums, RDMA-read and back-control channels", .cksum = true,
	  .rdma_read = true, .back_control = true },
};

const void *dafs_flavours_gen(const void *prev, char *desc)
{
	const struct dafs_flavour *next = prev ? (const struct dafs_flavour *)prev + 1 :
					  dafs_flavours;

	if (next >= dafs_flavours + ARRAY_SIZE(dafs_flavours))
		return NULL;
	strscpy(desc, next->name, KUNIT_PARAM_DESC_SIZE);
	return next;
}

void dafs_fixture_params(const struct dafs_flavour *flavour, struct dafs_client_params *params)
{
	if (!flavour)
		flavour = &dafs_flavours[0];
	*params = (struct dafs_client_params) {
		.net = &init_net,
		.timeo_ms = 30000,
		.retrans = 5,
		.soft = true,
		.cksum = flavour->cksum,
		.swab = flavour->swab,
		.back_control = flavour->back_control,
		.rdma_read = flavour->rdma_read,
		.auth_type = DAFS_AUTH_NONE,
		.respcache = DAFS_RESPCACHE_VOLATILE,
		.max_requests = 16,
		.msg_size = SZ_8K,
	};
	WARN_ON(inet_pton_with_scope(&init_net, flavour->ipv6 ? AF_INET6 : AF_INET,
				     flavour->ipv6 ? addr6 : addr4, port, &params->dst));
}

void dafs_fixture_client_params(const struct dafs_flavour *flavour,
				struct dafs_client_params *params, const char *fmt, ...)
{
	va_list args;

	dafs_fixture_params(flavour, params);
	va_start(args, fmt);
	vsnprintf(params->client_id, sizeof(params->client_id), fmt, args);
	va_end(args);
}

static void dafs_fixture_destroy_session(void *clnt)
{
	dafs_client_put(clnt);
}

struct dafs_client *dafs_fixture_client(struct kunit *test,
					const struct dafs_client_params *params)
{
	struct dafs_client *clnt = dafs_client_create(params);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, clnt);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, dafs_fixture_destroy_session,
							   clnt));
	return clnt;
}

void dafs_fixture_end_client(struct kunit *test, struct dafs_client *clnt)
{
	kunit_release_action(test, dafs_fixture_destroy_session, clnt);
}

static void dafs_fixture_put_session(void *ses)
{
	dafsd_session_put(ses);
}

struct dafsd_session *dafs_fixture_at_server(struct kunit *test,
					     const struct dafs_session_id *session_id)
{
	struct dafsd_session *ses = dafsd_session_find(&dafsd_server, session_id);

	KUNIT_ASSERT_NOT_NULL(test, ses);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, dafs_fixture_put_session, ses));
	return ses;
}

/* Removal through the server's own file system. */

struct dafs_name {
	struct list_head node;
	unsigned int type;
	char name[];
};

struct dafs_name_ctx {
	struct dir_context ctx;
	struct list_head names;
};

static bool dafs_collect(struct dir_context *ctx, const char *name, int len, loff_t pos, u64 ino,
			 unsigned int type)
{
	struct dafs_name_ctx *c = container_of(ctx, struct dafs_name_ctx, ctx);
	struct dafs_name *n;

	if (!strncmp(name, ".", len) || !strncmp(name, "..", len))
		return true;
	n = kzalloc(sizeof(*n) + len + 1, GFP_KERNEL);
	if (!n)
		return false;
	memcpy(n->name, name, len);
	list_add(&n->node, &c->names);
	return true;
}

static void dafs_backing_unlink(const struct path *dir, const char *name);

static void dafs_backing_empty(const struct path *dir)
{
	struct dafs_name_ctx c = { .ctx.actor = dafs_collect };
	struct dafs_name *n, *next;
	struct file *file;

	INIT_LIST_HEAD(&c.names);
	file = dentry_open(dir, O_RDONLY | O_DIRECTORY, current_cred());
	if (IS_ERR(file))
		return;
	iterate_dir(file, &c.ctx);
	dafs_backing_close(file);
	list_for_each_entry_safe(n, next, &c.names, node) {
		dafs_backing_unlink(dir, n->name);
		kfree(n);
	}
}

static void dafs_backing_unlink(const struct path *dir, const char *name)
{
	struct inode *inode = d_inode(dir->dentry);
	struct path path = { .mnt = dir->mnt };
	bool is_dir;

	path.dentry = lookup_one_len_unlocked(name, dir->dentry, strlen(name));
	if (IS_ERR(path.dentry))
		return;
	is_dir = d_is_dir(path.dentry);
	if (is_dir)
		dafs_backing_empty(&path);
	inode_lock_nested(inode, I_MUTEX_PARENT);
	if (d_is_positive(path.dentry)) {
		if (is_dir)
			vfs_rmdir(&nop_mnt_idmap, inode, path.dentry);
		else
			vfs_unlink(&nop_mnt_idmap, inode, path.dentry, NULL);
	}
	inode_unlock(inode);
	dput(path.dentry);
}

static void dafs_fixture_cleanup(void *data)
{
	struct dafs_fixture *fix = data;
	struct path root;

	path_put(&fix->path);
	if (kern_path(*dafs_test_exports[fix->where].backing, LOOKUP_FOLLOW | LOOKUP_DIRECTORY,
		      &root))
		return;
	dafs_backing_unlink(&root, fix->name);
	path_put(&root);
}

static int dafs_backing_change(struct dentry *dentry, struct iattr *ia)
{
	struct inode *inode = d_inode(dentry);
	int err;

	ia->ia_valid |= ATTR_CTIME;
	inode_lock(inode);
	err = notify_change(&nop_mnt_idmap, dentry, ia, NULL);
	inode_unlock(inode);
	return err;
}

/* With exactly this mode; the umask of this thread is ignored. */
static struct dentry *dafs_backing_make_dir(const struct path *parent, const char *name,
					    umode_t mode)
{
	struct iattr ia = { .ia_valid = ATTR_MODE, .ia_mode = S_IFDIR | mode };
	struct inode *inode = d_inode(parent->dentry);
	struct dentry *dentry;
	int err;

	inode_lock_nested(inode, I_MUTEX_PARENT);
	dentry = lookup_one_len(name, parent->dentry, strlen(name));
	if (!IS_ERR(dentry)) {
		err = vfs_mkdir(&nop_mnt_idmap, inode, dentry, mode) ?:
		      dafs_backing_change(dentry, &ia);
		if (err) {
			dput(dentry);
			dentry = ERR_PTR(err);
		}
	}
	inode_unlock(inode);
	return dentry;
}

static void dafs_fixture_make_dir(struct kunit *test, struct dafs_fixture *fix)
{
	static atomic_t nr = ATOMIC_INIT(0);
	struct dentry *dentry;
	struct path root;

	snprintf(fix->name, sizeof(fix->name), "kunit.%d", atomic_inc_return(&nr));
	KUNIT_ASSERT_EQ(test, 0, kern_path(*dafs_test_exports[fix->where].backing,
					   LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &root));
	dafs_backing_unlink(&root, fix->name);
	dentry = dafs_backing_make_dir(&root, fix->name, 0777);
	if (!IS_ERR(dentry)) {
		fix->path.mnt = mntget(root.mnt);
		fix->path.dentry = dentry;
	}
	path_put(&root);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, dentry);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, dafs_fixture_cleanup, fix));
}

u64 dafs_test_rnr_naks(struct ib_device *dev)
{
	struct rdma_hw_stats *stats = dev->ops.alloc_hw_port_stats(dev, 1);
	u64 naks = U64_MAX;
	int i;

	if (!stats)
		return naks;
	dev->ops.get_hw_stats(dev, stats, 1, 0);
	for (i = 0; i < stats->num_counters; i++)
		if (!strcmp(stats->descs[i].name, "rcvd_rnr_err"))
			naks = stats->value[i];
	rdma_free_hw_stats_struct(stats);
	return naks;
}

struct dafs_client_id dafs_test_client_id(struct kunit *test, struct dafs_client *clnt)
{
	struct dafs_conn *conn = dafs_conn_get(clnt);
	struct dafs_client_id id;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, conn);
	id = conn->client_id;
	dafs_conn_put(conn);
	return id;
}

static void dafs_fixture_expect_credit(void *data)
{
	struct dafs_fixture *fix = data;

	KUNIT_EXPECT_EQ(fix->test, fix->rnr_naks, dafs_test_rnr_naks(fix->dev));
}

/* No message of the test may arrive where no receive is posted (3.2.6.2). */
static void dafs_fixture_watch_credit(struct kunit *test, struct dafs_fixture *fix)
{
	struct dafs_conn *conn = dafs_conn_get(fix->clnt);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, conn);
	fix->test = test;
	fix->dev = conn->op->id->device;
	dafs_conn_put(conn);
	fix->rnr_naks = dafs_test_rnr_naks(fix->dev);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, dafs_fixture_expect_credit, fix));
}

struct dafs_fixture *dafs_fixture_in(struct kunit *test, const struct dafs_flavour *flavour,
				     enum dafs_test_export where)
{
	struct dafs_fixture *fix = kunit_kzalloc(test, sizeof(*fix), GFP_KERNEL);
	struct dafs_str name = dafs_test_str(*dafs_test_exports[where].name);
	struct dafs_fh root;

	KUNIT_ASSERT_NOT_NULL(test, fix);
	fix->where = where;
	/* most tests are not about what a client keeps after CLOSE, or after its lease */
	dafs_fixture_server_param(test, &dafsd_max_delegations, 0);
	dafs_fixture_server_param(test, &dafsd_courtesy_seconds, 0);
	dafs_fixture_params(flavour, &fix->params);
	dafs_fixture_make_dir(test, fix);
	fix->clnt = dafs_fixture_client(test, &fix->params);
	dafs_fixture_watch_credit(test, fix);
	KUNIT_ASSERT_EQ(test, 0, dafs_get_root_handle(fix->clnt, dafs_test_me(), &root));
	KUNIT_ASSERT_EQ(test, 0, dafs_lookup_path(fix->clnt, dafs_test_me(), &root, &name, 1,
						  &fix->export));
	name = dafs_test_str(fix->name);
	KUNIT_ASSERT_EQ(test, 0, dafs_lookup_path(fix->clnt, dafs_test_me(), &fix->export, &name,
						  1, &fix->dir));
	return fix;
}

struct dafs_fixture *dafs_fixture(struct kunit *test, const struct dafs_flavour *flavour)
{
	return dafs_fixture_in(test, flavour, DAFS_TEST_DATA);
}

struct dafsd_export *dafs_fixture_serve(struct kunit *test, struct dafs_fixture *fix,
					const char *name, const char *dir,
					const struct dafsd_export_conf *conf)
{
	struct dafsd_export_conf own = *conf;
	char *buf = kunit_kzalloc(test, PATH_MAX, GFP_KERNEL);
	struct path path;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_path(fix, dir, &path));
	own.path = d_path(&path, buf, PATH_MAX);
	path_put(&path);
	return dafsd_export_serve(name, &own);
}

bool dafs_fixture_nested(void)
{
	char *inside = kasprintf(GFP_KERNEL, "%s/%s", backing, export_ro);
	struct path a, b;
	bool nested = false;

	if (!inside || kern_path(inside, LOOKUP_FOLLOW, &a))
		goto free;
	if (!kern_path(backing_ro, LOOKUP_FOLLOW, &b)) {
		nested = path_equal(&a, &b);
		path_put(&b);
	}
	path_put(&a);
free:
	kfree(inside);
	return nested;
}

/**
 * struct dafs_fixture_param - a server parameter to be restored
 * @param: the parameter
 * @value: its previous value
 */
struct dafs_fixture_param {
	unsigned int *param;
	unsigned int value;
};

static void dafs_fixture_restore_param(void *data)
{
	struct dafs_fixture_param *old = data;

	WRITE_ONCE(*old->param, old->value);
}

void dafs_fixture_server_param(struct kunit *test, unsigned int *param, unsigned int value)
{
	struct dafs_fixture_param *old = kunit_kzalloc(test, sizeof(*old), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, old);
	old->param = param;
	old->value = *param;
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action(test, dafs_fixture_restore_param, old));
	WRITE_ONCE(*param, value);
}

static void dafs_fixture_thaw_sb(void *sb)
{
	thaw_super(sb, FREEZE_HOLDER_KERNEL);
}

void dafs_fixture_freeze(struct kunit *test, struct dafs_fixture *fix)
{
	struct super_block *sb = fix->path.mnt->mnt_sb;

	KUNIT_ASSERT_EQ(test, 0, freeze_super(sb, FREEZE_HOLDER_KERNEL));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, dafs_fixture_thaw_sb, sb));
}

void dafs_fixture_thaw(struct kunit *test, struct dafs_fixture *fix)
{
	kunit_release_action(test, dafs_fixture_thaw_sb, fix->path.mnt->mnt_sb);
}

void dafs_fixture_lease(struct kunit *test, struct dafs_fixture *fix, unsigned int seconds)
{
	dafs_client_set_lease(fix->clnt, seconds);
	dafs_fixture_server_param(test, &dafsd_lease_seconds, seconds);
}

dafs_status_t dafs_test_op(struct kunit *test, struct dafs_client *clnt, struct dafs_op *op)
{
	int err = dafs_op_run(clnt, op);

	if (err && (!op->status || err != dafs_status_to_errno(op->status)))
		KUNIT_FAIL(test, "%s: no response: %d", dafs_proc_name(op->proc), err);
	return op->status;
}

dafs_status_t dafs_test_call(struct kunit *test, struct dafs_client *clnt, const struct cred *cred,
			     u32 proc, void *args, void *res)
{
	struct dafs_op op = { .cred = cred, .proc = proc, .args = args, .res = res };
	dafs_status_t status = dafs_test_op(test, clnt, &op);

	dafs_op_end(&op);
	return status;
}

unsigned int dafs_test_split(const char *path, struct dafs_str *names, unsigned int max)
{
	unsigned int nr;

	for (nr = 0; *path && nr < max; nr++) {
		names[nr].data = (const u8 *)path;
		names[nr].len = strcspn(path, "/");
		path += names[nr].len;
		path += *path == '/';
	}
	return nr;
}

struct dafs_fh dafs_test_lookup(struct kunit *test, struct dafs_fixture *fix, const char *path)
{
	struct dafs_str names[DAFS_TEST_NAMES];
	unsigned int nr = dafs_test_split(path, names, ARRAY_SIZE(names));
	struct dafs_fh fh = {};

	KUNIT_ASSERT_EQ(test, 0, dafs_lookup_path(fix->clnt, dafs_test_me(), &fix->dir, names, nr,
						  &fh));
	return fh;
}

struct dafs_open_args dafs_test_open_args(const char *owner, u32 access, u32 deny)
{
	return (struct dafs_open_args) {
		.claim_type = DAFS_CLAIM_NULL,
		.owner = dafs_test_str(owner),
		.share_access = access,
		.share_deny = deny,
	};
}

dafs_status_t dafs_test_open(struct kunit *test, struct dafs_client *clnt, const struct cred *cred,
			     const struct dafs_fh *dir, const char *path,
			     const struct dafs_open_args *args, struct dafs_open_res *res)
{
	struct dafs_str names[DAFS_TEST_NAMES];
	struct dafs_open_args copy = *args;

	copy.dir_handle = *dir;
	copy.pathname.count = dafs_test_split(path, names, ARRAY_SIZE(names));
	copy.pathname.elems = names;
	return dafs_test_call(test, clnt, cred, DAFS_PROC_OPEN, &copy, res);
}

dafs_status_t dafs_test_close(struct kunit *test, struct dafs_client *clnt,
			      const struct dafs_open_res *open)
{
	struct dafs_close_args args = {
		.filehandle = open->filehandle,
		.state_id = open->state_id,
	};

	return dafs_test_call(test, clnt, dafs_test_me(), DAFS_PROC_CLOSE, &args, NULL);
}

dafs_status_t dafs_test_read(struct kunit *test, struct dafs_client *clnt, const struct cred *cred,
			     const struct dafs_read_inline_args *args, void *buf,
			     struct dafs_read_inline_res *res)
{
	struct dafs_read_inline_args copy = *args;
	struct dafs_op op = {
		.cred = cred,
		.proc = DAFS_PROC_READ_INLINE,
		.args = &copy,
		.res = res,
	};
	dafs_status_t status;

	memset(res, 0, sizeof(*res));
	status = dafs_test_op(test, clnt, &op);
	KUNIT_EXPECT_LE(test, res->bytes_read, args->byte_count);
	if (!status && res->bytes_read <= args->byte_count)
		memcpy(buf, res->read_data, res->bytes_read);
	dafs_op_end(&op);
	return status;
}

dafs_status_t dafs_test_write(struct kunit *test, struct dafs_client *clnt, const struct cred *cred,
			      const struct dafs_write_inline_args *args, struct dafs_write_res *res)
{
	struct dafs_write_inline_args copy = *args;

	return dafs_test_call(test, clnt, cred, DAFS_PROC_WRITE_INLINE, &copy, res);
}

void dafs_test_pattern(void *buf, size_t len, u32 seed)
{
	u8 *p = buf;

	while (len--) {
		seed = seed * 1103515245 + 12345;
		*p++ = seed >> 16;
	}
}

struct file *dafs_backing_open(struct dafs_fixture *fix, const char *name, int flags,
			       umode_t mode)
{
	return file_open_root(&fix->path, name, flags | O_LARGEFILE, mode);
}

/* Synchronous: fput() would defer it to a work item and leave the file open meanwhile. */
void dafs_backing_close(struct file *file)
{
	__fput_sync(file);
}

void dafs_backing_write(struct kunit *test, struct dafs_fixture *fix, const char *name,
			const void *data, size_t len)
{
	struct file *file = dafs_backing_open(fix, name, O_CREAT | O_TRUNC | O_WRONLY, 0644);
	loff_t pos = 0;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, file);
	KUNIT_EXPECT_EQ(test, (ssize_t)len, kernel_write(file, data, len, &pos));
	dafs_backing_close(file);
}

ssize_t dafs_backing_read(struct dafs_fixture *fix, const char *name, void *data, size_t len,
			  loff_t pos)
{
	struct file *file = dafs_backing_open(fix, name, O_RDONLY, 0);
	ssize_t n;

	if (IS_ERR(file))
		return PTR_ERR(file);
	n = kernel_read(file, data, len, &pos);
	dafs_backing_close(file);
	return n;
}

int dafs_backing_stat(struct dafs_fixture *fix, const char *name, struct kstat *stat)
{
	struct path path;
	int err;

	err = dafs_backing_path(fix, name, &path);
	if (err)
		return err;
	err = vfs_getattr(&path, stat, STATX_BASIC_STATS | STATX_BTIME, 0);
	path_put(&path);
	return err;
}

void dafs_backing_expect_owner(struct kunit *test, struct dafs_fixture *fix, const char *name,
			       u32 uid, u32 gid)
{
	struct kstat stat = {};

	KUNIT_EXPECT_EQ(test, 0, dafs_backing_stat(fix, name, &stat));
	KUNIT_EXPECT_EQ(test, uid, __kuid_val(stat.uid));
	KUNIT_EXPECT_EQ(test, gid, __kgid_val(stat.gid));
}

int dafs_backing_path(struct dafs_fixture *fix, const char *name, struct path *path)
{
	return vfs_path_lookup(fix->path.dentry, fix->path.mnt, name, 0, path);
}

void dafs_backing_setattr(struct kunit *test, struct dafs_fixture *fix, const char *name,
			  struct iattr *ia)
{
	struct path path;

	KUNIT_ASSERT_EQ(test, 0, dafs_backing_path(fix, name, &path));
	KUNIT_EXPECT_EQ(test, 0, dafs_backing_change(path.dentry, ia));
	path_put(&path);
}

void dafs_backing_chmod(struct kunit *test, struct dafs_fixture *fix, const char *name,
			umode_t mode)
{
	struct iattr ia = { .ia_valid = ATTR_MODE };
	struct kstat stat;

	KUNIT_ASSERT_EQ(test, 0, dafs_backing_stat(fix, name, &stat));
	ia.ia_mode = (stat.mode & S_IFMT) | mode;
	dafs_backing_setattr(test, fix, name, &ia);
}

void dafs_backing_chown(struct kunit *test, struct dafs_fixture *fix, const char *name, uid_t uid,
			gid_t gid)
{
	struct iattr ia = {
		.ia_valid = ATTR_UID | ATTR_GID,
		.ia_vfsuid = VFSUIDT_INIT(make_kuid(&init_user_ns, uid)),
		.ia_vfsgid = VFSGIDT_INIT(make_kgid(&init_user_ns, gid)),
	};

	dafs_backing_setattr(test, fix, name, &ia);
}

/**
 * struct dafs_backing_new - a name that is about to be created
 * @dir: its directory, locked
 * @dentry: the name in it
 */
struct dafs_backing_new {
	struct path dir;
	struct dentry *dentry;
};

static int dafs_backing_parent(struct dafs_fixture *fix, const char *name, struct path *dir)
{
	const char *slash = strrchr(name, '/');
	char *parent;
	int err;

	if (!slash) {
		*dir = fix->path;
		path_get(dir);
		return 0;
	}
	parent = kstrndup(name, slash - name, GFP_KERNEL);
	if (!parent)
		return -ENOMEM;
	err = dafs_backing_path(fix, parent, dir);
	kfree(parent);
	return err;
}

static const char *dafs_backing_last(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash ? slash + 1 : name;
}

void dafs_backing_remove(struct dafs_fixture *fix, const char *name)
{
	struct path dir;

	if (dafs_backing_parent(fix, name, &dir))
		return;
	dafs_backing_unlink(&dir, dafs_backing_last(name));
	path_put(&dir);
}

/* The caller calls dafs_backing_made() afterwards. */
static int dafs_backing_begin(struct dafs_fixture *fix, const char *name,
			      struct dafs_backing_new *new)
{
	const char *last = dafs_backing_last(name);
	int err = dafs_backing_parent(fix, name, &new->dir);

	new->dentry = NULL;
	if (err)
		return err;
	inode_lock_nested(d_inode(new->dir.dentry), I_MUTEX_PARENT);
	new->dentry = lookup_one_len(last, new->dir.dentry, strlen(last));
	return PTR_ERR_OR_ZERO(new->dentry);
}

static void dafs_backing_made(struct kunit *test, struct dafs_backing_new *new, int err)
{
	if (new->dentry) {
		inode_unlock(d_inode(new->dir.dentry));
		if (!IS_ERR(new->dentry))
			dput(new->dentry);
		path_put(&new->dir);
	}
	KUNIT_ASSERT_EQ(test, 0, err);
}

void dafs_backing_mkdir(struct kunit *test, struct dafs_fixture *fix, const char *name,
			umode_t mode)
{
	struct iattr ia = { .ia_valid = ATTR_MODE, .ia_mode = S_IFDIR | mode };
	struct dafs_backing_new new;
	int err = dafs_backing_begin(fix, name, &new);

	if (!err)
		err = vfs_mkdir(&nop_mnt_idmap, d_inode(new.dir.dentry), new.dentry, mode);
	if (!err)
		err = dafs_backing_change(new.dentry, &ia);
	dafs_backing_made(test, &new, err);
}

void dafs_backing_symlink(struct kunit *test, struct dafs_fixture *fix, const char *name,
			  const char *target)
{
	struct dafs_backing_new new;
	int err = dafs_backing_begin(fix, name, &new);

	if (!err)
		err = vfs_symlink(&nop_mnt_idmap, d_inode(new.dir.dentry), new.dentry, target);
	dafs_backing_made(test, &new, err);
}

void dafs_backing_mknod(struct kunit *test, struct dafs_fixture *fix, const char *name,
			umode_t mode, dev_t dev)
{
	struct dafs_backing_new new;
	int err = dafs_backing_begin(fix, name, &new);

	if (!err)
		err = vfs_mknod(&nop_mnt_idmap, d_inode(new.dir.dentry), new.dentry, mode, dev);
	dafs_backing_made(test, &new, err);
}

void dafs_backing_link(struct kunit *test, struct dafs_fixture *fix, const char *old,
		       const char *name)
{
	struct dafs_backing_new new = {};
	struct path path;
	int err;

	KUNIT_ASSERT_EQ(test, 0, dafs_backing_path(fix, old, &path));
	err = dafs_backing_begin(fix, name, &new);
	if (!err)
		err = vfs_link(path.dentry, &nop_mnt_idmap, d_inode(new.dir.dentry), new.dentry,
			       NULL);
	path_put(&path);
	dafs_backing_made(test, &new, err);
}

static void dafs_fixture_put_cred(void *cred)
{
	put_cred(cred);
}

static void dafs_fixture_set_groups(struct kunit *test, struct cred *cred, const gid_t *gids,
				    unsigned int nr)
{
	struct group_info *groups = groups_alloc(nr);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, groups);
	for (i = 0; i < nr; i++)
		groups->gid[i] = make_kgid(&init_user_ns, gids[i]);
	groups_sort(groups);
	set_groups(cred, groups);
	put_group_info(groups);
}

const struct cred *dafs_fixture_member(struct kunit *test, uid_t uid, gid_t gid,
				       const gid_t *gids, unsigned int nr)
{
	struct cred *cred = prepare_creds();

	KUNIT_ASSERT_NOT_NULL(test, cred);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, dafs_fixture_put_cred, cred));
	cred->uid = make_kuid(&init_user_ns, uid);
	cred->euid = cred->uid;
	cred->suid = cred->uid;
	cred->fsuid = cred->uid;
	cred->gid = make_kgid(&init_user_ns, gid);
	cred->egid = cred->gid;
	cred->sgid = cred->gid;
	cred->fsgid = cred->gid;
	cap_clear(cred->cap_effective);
	dafs_fixture_set_groups(test, cred, gids, nr);
	return cred;
}

const struct cred *dafs_fixture_user(struct kunit *test, uid_t uid, gid_t gid)
{
	return dafs_fixture_member(test, uid, gid, NULL, 0);
}
