// SPDX-License-Identifier: GPL-2.0
/*
 * The server and other users of its machine: fanotify, differences between file
 * systems, changes of open files by root, and unmounting.
 *
 * Missing file systems and programs are simulated by replaced operations of the
 * real ones.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/exportfs.h>
#include <linux/mount.h>
#include <linux/pagemap.h>
#include <linux/workqueue.h>
#include <linux/xattr.h>
#include "../../../../drivers/dafsd/session/server.h"
#include "../../../../drivers/dafsd/session/client.h"
#include "../../../../drivers/dafsd/session/session.h"
#include "../../../../drivers/dafsd/export/export.h"
#include "../../rpc/rpc_impl.h"
#include "../lib/open_test.h"
#include "../lib/raw.h"

/**
 * struct host_fops - an inode whose files have other operations during a test
 * @path: the inode
 * @real: its own operations
 * @fops: the replacement
 * @calls: number of calls of the replacement
 * @begun: completed by the first call of a slow operation
 * @go: the operation waits for this
 */
struct host_fops {
	struct path path;
	const struct file_operations *real;
	struct file_operations fops;
	atomic_t calls;
	struct completion begun;
	struct completion go;
};

/* Operations have no pointer to private data, so there are two at most. */
static struct host_fops host_dir, host_file;

static void host_restore_fops(void *data)
{
	struct host_fops *h = data;

	complete_all(&h->go);
	d_inode(h->path.dentry)->i_fop = h->real;
	path_put(&h->path);
}

static void host_watch(struct kunit *test, struct dafs_fixture *fix, const char *name,
		       struct host_fops *h)
{
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_path(fix, name, &h->path));
	init_completion(&h->begun);
	init_completion(&h->go);
	atomic_set(&h->calls, 0);
	h->real = d_inode(h->path.dentry)->i_fop;
	h->fops = *h->real;
	/* a file may stay open after the test */
	h->fops.owner = THIS_MODULE;
}

/* Call this after changing h->fops */
static void host_replace(struct kunit *test, struct host_fops *h)
{
	d_inode(h->path.dentry)->i_fop = &h->fops;
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, host_restore_fops, h));
}

/* Like a fanotify program that is slow to give permission */
static int host_slow_open(struct inode *inode, struct file *filp)
{
	complete_all(&host_file.begun);
	wait_for_completion(&host_file.go);
	return host_file.real->open(inode, filp);
}

/**
 * struct host_call - an asynchronous request
 * @work: sends it
 * @test: the test
 * @clnt: the client
 * @dir: the directory
 * @rename: RENAME another file over "file", instead of REMOVE
 * @status: of OPEN
 * @err: of the others
 */
struct host_call {
	struct work_struct work;
	struct kunit *test;
	struct dafs_client *clnt;
	struct dafs_fh dir;
	bool rename;
	dafs_status_t status;
	int err;
};

static struct host_call *host_call(struct kunit *test, struct dafs_client *clnt,
				   const struct dafs_fh *dir, work_func_t func)
{
	struct host_call *call = kunit_kzalloc(test, sizeof(*call), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, call);
	INIT_WORK(&call->work, func);
	call->test = test;
	call->clnt = clnt;
	call->dir = *dir;
	return call;
}

static void host_open(struct work_struct *work)
{
	struct host_call *call = container_of(work, struct host_call, work);
	struct dafs_open_args args = dafs_test_open_args("slow", DAFS_RD, 0);
	struct dafs_open_res res = {};

	call->status = dafs_test_open(call->test, call->clnt, dafs_test_me(), &call->dir, "file",
				      &args, &res);
}

static void host_unlink(struct work_struct *work)
{
	struct host_call *call = container_of(work, struct host_call, work);
	struct qstr name = dafs_test_qstr("file"), other = dafs_test_qstr("other");
	struct dafs_change_info change;
	struct dafs_rename_res res;

	if (call->rename)
		call->err = dafs_rename(call->clnt, dafs_test_me(), &call->dir, &other,
					&call->dir, &name, &res);
	else
		call->err = dafs_remove(call->clnt, dafs_test_me(), &call->dir, &name,
					DAFS_REMOVE_UNCHECKED, &change);
}

static bool host_ends(struct host_call *call)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);

	while (work_busy(&call->work) && time_before(jiffies, end))
		msleep(20);
	return !work_busy(&call->work);
}

static void host_unlink_during_open(struct kunit *test, struct dafs_fixture *fix,
				    struct dafs_client *other, bool rename)
{
	struct host_call *open = host_call(test, fix->clnt, &fix->dir, host_open);
	struct host_call *unlink = host_call(test, other, &fix->dir, host_unlink);
	unsigned long patience = msecs_to_jiffies(RAW_WAIT_MS);

	dafs_backing_write(test, fix, "file", "data", 4);
	dafs_backing_write(test, fix, "other", "more", 4);
	unlink->rename = rename;
	host_watch(test, fix, "file", &host_file);
	host_file.fops.open = host_slow_open;
	host_replace(test, &host_file);
	queue_work(system_unbound_wq, &open->work);
	KUNIT_EXPECT_GT_MSG(test, wait_for_completion_timeout(&host_file.begun, patience), 0,
			    "no open comes to the file system");
	queue_work(system_unbound_wq, &unlink->work);
	KUNIT_EXPECT_TRUE_MSG(test, host_ends(unlink), "the directory waits for an open");
	kunit_release_action(test, host_restore_fops, &host_file);
	flush_work(&open->work);
	flush_work(&unlink->work);
	KUNIT_EXPECT_EQ(test, 0, unlink->err);
	DAFS_EXPECT_STATUS(test, rename ? DAFS_STATUS_OK : DAFSERR_NOENT, open->status);
}

/*
 * A program that is asked for permission to open a file (fanotify) may change the
 * directory before it answers.  OPEN must use the new contents of the directory.
 */
static void dafs_host_slow_open_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_client *other = dafs_other_client(test, fix);

	host_unlink_during_open(test, fix, other, false);
	host_unlink_during_open(test, fix, other, true);
}

static struct export_operations host_exports;
static const struct export_operations *host_real_exports;

static void host_restore_exports(void *sb)
{
	((struct super_block *)sb)->s_export_op = host_real_exports;
}

static void host_no_commit_metadata(struct kunit *test, struct super_block *sb)
{
	host_real_exports = sb->s_export_op;
	host_exports = *host_real_exports;
	host_exports.commit_metadata = NULL;
	sb->s_export_op = &host_exports;
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, host_restore_exports, sb));
}

static int host_dir_fsync(struct file *filp, loff_t start, loff_t end, int datasync)
{
	atomic_inc(&host_dir.calls);
	return host_dir.real->fsync(filp, start, end, datasync);
}

static int host_file_fsync(struct file *filp, loff_t start, loff_t end, int datasync)
{
	atomic_inc(&host_file.calls);
	return host_file.real->fsync(filp, start, end, datasync);
}

static void host_expect_synced(struct kunit *test, struct host_fops *h, const char *what)
{
	KUNIT_EXPECT_GT_MSG(test, atomic_xchg(&h->calls, 0), 0, "%s is not stable", what);
}

static void host_change_names(struct kunit *test, struct dafs_fixture *fix)
{
	struct dafs_open_args args = dafs_create_open_args(DAFS_CREATE_GUARDED);
	struct qstr one = dafs_test_qstr("one"), two = dafs_test_qstr("two");
	struct dafs_fh fh = dafs_test_lookup(test, fix, "file");
	struct dafs_node node = { .type = DAFS_TYPE_FIFO };
	struct dafs_change_info change;
	struct dafs_rename_res res;
	struct dafs_open_res open;
	struct dafs_fh made;

	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_try_open(test, fix, "new", &args, &open));
	host_expect_synced(test, &host_dir, "a new file");
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &open));
	KUNIT_EXPECT_EQ(test, 0, dafs_create(fix->clnt, dafs_test_me(), &fix->dir, &one, &node,
					     &made, &change));
	host_expect_synced(test, &host_dir, "a new node");
	KUNIT_EXPECT_EQ(test, 0, dafs_rename(fix->clnt, dafs_test_me(), &fix->dir, &one, &fix->dir,
					     &two, &res));
	host_expect_synced(test, &host_dir, "a new name");
	KUNIT_EXPECT_EQ(test, 0, dafs_remove(fix->clnt, dafs_test_me(), &fix->dir, &two,
					     DAFS_REMOVE_UNCHECKED, &change));
	host_expect_synced(test, &host_dir, "a removal");
	KUNIT_EXPECT_EQ(test, 0, dafs_link(fix->clnt, dafs_test_me(), &fh, &fix->dir, &one,
					   &change));
	host_expect_synced(test, &host_dir, "a link");
	host_expect_synced(test, &host_file, "the number of links");
}

static dafs_status_t host_setattr(struct kunit *test, struct dafs_fixture *fix,
				  const struct dafs_fh *fh, const struct dafs_state_id *state_id,
				  const struct dafs_fattr *attr)
{
	struct dafs_setattr_inline_args args = {
		.filehandle = *fh,
		.state_id = *state_id,
		.obj_attributes = *attr,
	};
	struct dafs_setattr_res res = {};

	return dafs_test_call(test, fix->clnt, dafs_test_me(), DAFS_PROC_SETATTR_INLINE, &args,
			      &res);
}

static void host_change_attrs(struct kunit *test, struct dafs_fixture *fix)
{
	static const struct dafs_state_id none;
	struct dafs_fattr attr = {
		.included = DAFS_FATTR_MODE,
		.valid = DAFS_FATTR_MODE,
		.mode = 0640,
	};
	struct dafs_open_args args = dafs_create_open_args(DAFS_CREATE_UNCHECKED);
	struct dafs_fh fh = dafs_test_lookup(test, fix, "file");
	struct dafs_open_res open;

	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, host_setattr(test, fix, &fh, &none, &attr));
	host_expect_synced(test, &host_file, "a mode");
	args.createattrs.included = DAFS_FATTR_OBJECT_SIZE;
	args.createattrs.valid = DAFS_FATTR_OBJECT_SIZE;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_try_open(test, fix, "file", &args, &open));
	host_expect_synced(test, &host_file, "a size");
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &open));
}

/*
 * Results are stable when they are sent, also on file systems without an export
 * operation for that (btrfs, overlayfs, f2fs).  There the server uses fsync.
 */
static void dafs_host_commit_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct super_block *sb = fix->path.mnt->mnt_sb;

	dafs_backing_write(test, fix, "file", "data", 4);
	host_watch(test, fix, ".", &host_dir);
	host_dir.fops.fsync = host_dir_fsync;
	host_replace(test, &host_dir);
	host_watch(test, fix, "file", &host_file);
	host_file.fops.fsync = host_file_fsync;
	host_replace(test, &host_file);
	host_no_commit_metadata(test, sb);
	host_change_names(test, fix);
	host_change_attrs(test, fix);
}

static struct super_operations host_super;
static const struct super_operations *host_real_super;
static atomic_t host_commits;

static void host_restore_super(void *sb)
{
	((struct super_block *)sb)->s_op = host_real_super;
}

static int host_sync_fs(struct super_block *sb, int wait)
{
	if (wait)
		atomic_inc(&host_commits);
	return host_real_super->sync_fs(sb, wait);
}

static void host_watch_super(struct kunit *test, struct super_block *sb)
{
	host_real_super = sb->s_op;
	host_super = *host_real_super;
	host_super.sync_fs = host_sync_fs;
	sb->s_op = &host_super;
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, host_restore_super, sb));
}

static void host_put_path(void *path)
{
	path_put(path);
}

/* A file with dirty data in memory whose blocks are allocated */
static struct inode *host_dirty_file(struct kunit *test, struct dafs_fixture *fix,
				     struct path *path)
{
	struct file *file = dafs_backing_open(fix, "busy", O_CREAT | O_WRONLY, 0644);
	loff_t pos = 0;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, file);
	KUNIT_EXPECT_EQ(test, 4, kernel_write(file, "data", 4, &pos));
	KUNIT_EXPECT_EQ(test, 0, vfs_fsync(file, 0));
	pos = 0;
	KUNIT_EXPECT_EQ(test, 4, kernel_write(file, "more", 4, &pos));
	dafs_backing_close(file);
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_path(fix, "busy", path));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, host_put_path, path));
	return d_inode(path->dentry);
}

/* As if a local program had a lease on the file */
static int host_refuse_open(struct inode *inode, struct file *filp)
{
	return -EWOULDBLOCK;
}

static void host_expect_committed(struct kunit *test, const struct inode *busy, const char *what)
{
	KUNIT_EXPECT_GT_MSG(test, atomic_xchg(&host_commits, 0), 0, "%s is not stable", what);
	KUNIT_EXPECT_TRUE_MSG(test, mapping_tagged(busy->i_mapping, PAGECACHE_TAG_DIRTY),
			      "%s has data of others written", what);
}

/* A file that cannot be opened is made stable too, without writing the data of others. */
static void dafs_host_unopened_test(struct kunit *test)
{
	static const struct dafs_state_id none;
	struct dafs_fattr attr = {
		.included = DAFS_FATTR_MODE,
		.valid = DAFS_FATTR_MODE,
		.mode = 0640,
	};
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_node fifo = { .type = DAFS_TYPE_FIFO };
	struct dafs_node link = { .type = DAFS_TYPE_LNK, .link = dafs_test_str("target") };
	struct qstr one = dafs_test_qstr("one"), two = dafs_test_qstr("two");
	struct path *path = kunit_kzalloc(test, sizeof(*path), GFP_KERNEL);
	struct super_block *sb = fix->path.mnt->mnt_sb;
	struct dafs_change_info change;
	struct inode *busy;
	struct dafs_fh fh;

	KUNIT_ASSERT_NOT_NULL(test, path);
	dafs_backing_write(test, fix, "file", "data", 4);
	busy = host_dirty_file(test, fix, path);
	host_no_commit_metadata(test, sb);
	host_watch_super(test, sb);
	atomic_set(&host_commits, 0);
	KUNIT_EXPECT_EQ(test, 0, dafs_create(fix->clnt, dafs_test_me(), &fix->dir, &one, &fifo,
					     &fh, &change));
	host_expect_committed(test, busy, "a FIFO");
	KUNIT_EXPECT_EQ(test, 0, dafs_create(fix->clnt, dafs_test_me(), &fix->dir, &two, &link,
					     &fh, &change));
	host_expect_committed(test, busy, "a symbolic link");
	fh = dafs_test_lookup(test, fix, "file");
	host_watch(test, fix, "file", &host_file);
	host_file.fops.open = host_refuse_open;
	host_replace(test, &host_file);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, host_setattr(test, fix, &fh, &none, &attr));
	host_expect_committed(test, busy, "a mode");
}

static void host_withdraw(void *exp)
{
	dafsd_export_withdraw(exp);
}

static struct dafsd_export *host_serve(struct kunit *test, struct dafs_fixture *fix,
				       const char *name, const struct dafsd_export_conf *conf)
{
	struct dafsd_export *exp;

	dafs_backing_mkdir(test, fix, name, 0777);
	exp = dafs_fixture_serve(test, fix, name, name, conf);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, exp);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, host_withdraw, exp));
	return exp;
}

static void host_mkdir(struct work_struct *work)
{
	struct host_call *call = container_of(work, struct host_call, work);
	struct qstr name = dafs_test_qstr("dir");
	struct dafs_node node = { .type = DAFS_TYPE_DIR };
	struct dafs_change_info change;
	struct dafs_fh fh;

	call->err = dafs_create(call->clnt, dafs_test_me(), &call->dir, &name, &node, &fh,
				&change);
}

static void host_thaw(void *sb)
{
	thaw_super(sb, FREEZE_HOLDER_KERNEL);
}

static struct super_block *host_frozen;

static void host_thaw_later(struct work_struct *work)
{
	host_thaw(host_frozen);
}

static DECLARE_DELAYED_WORK(host_thaw_work, host_thaw_later);

/* After an export is disabled nothing is executed in it. */
static void dafs_host_withdraw_test(struct kunit *test)
{
	const struct dafsd_export_conf conf = { .subtree_check = true };
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafsd_export *exp = host_serve(test, fix, "busy", &conf);
	struct dafs_fh dir = dafs_test_lookup(test, fix, "busy");
	struct host_call *call = host_call(test, fix->clnt, &dir, host_mkdir);
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	struct kstat stat;

	KUNIT_ASSERT_MEMEQ(test, exp->fshandle, dir.fshandle, sizeof(dir.fshandle));
	host_frozen = fix->path.mnt->mnt_sb;
	KUNIT_ASSERT_EQ(test, 0, freeze_super(host_frozen, FREEZE_HOLDER_KERNEL));
	queue_work(system_unbound_wq, &call->work);
	/* until the request waits: one reference for its place and one for its filehandle */
	while (kref_read(&exp->ref) < 3 && time_before(jiffies, end))
		msleep(20);
	schedule_delayed_work(&host_thaw_work, HZ / 2);
	kunit_release_action(test, host_withdraw, exp);
	KUNIT_EXPECT_EQ(test, 0, dafs_backing_stat(fix, "busy/dir", &stat));
	flush_delayed_work(&host_thaw_work);
	flush_work(&call->work);
	KUNIT_EXPECT_EQ(test, 0, call->err);
}

/* E-48: the default user is the anonymous user of the export that the request is in. */
static void dafs_host_anonymous_test(struct kunit *test)
{
	const struct dafsd_export_conf conf = { .anon_uid = 1234, .anon_gid = 4321 };
	static const u8 none[4];
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct raw_login login = {};
	struct raw_conn *conn = raw_session(test, NULL, &login);
	struct dafs_register_cred_args named = {
		.cred_type = DAFS_CRED_NAME,
		.name = dafs_test_str("0"),
	};
	struct dafs_register_cred_res res = {};
	struct dafs_fh dir;
	u8 user[4];

	host_serve(test, fix, "anon", &conf);
	dir = dafs_test_lookup(test, fix, "anon");
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   raw_call(conn, DAFS_PROC_REGISTER_CRED, &named, &res));
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_register(conn, 77, 78, user));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_mkdir(conn, none, &dir, "none"));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   raw_mkdir(conn, res.cred_handle, &dir, "named"));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_mkdir(conn, user, &dir, "user"));
	dafs_backing_expect_owner(test, fix, "anon/none", 1234, 4321);
	dafs_backing_expect_owner(test, fix, "anon/named", 0, 4321);
	dafs_backing_expect_owner(test, fix, "anon/user", 77, 78);
}

static void host_expect_shared(struct kunit *test, const struct dafsd_export *exp,
			       const struct cred *cred)
{
	const struct cred *a = dafsd_cred_squash(exp, cred), *b = dafsd_cred_squash(exp, cred);

	KUNIT_EXPECT_NOT_NULL(test, a);
	KUNIT_EXPECT_PTR_EQ(test, a, b);
	put_cred(a);
	put_cred(b);
}

/* Requests of the anonymous user and of squashed root share one struct cred. */
static void dafs_host_shared_cred_test(struct kunit *test)
{
	const struct dafsd_export_conf conf = { .root_squash = true };
	static const gid_t root_group[] = { 0 };
	static const u8 none[4];
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafsd_export *exp = host_serve(test, fix, "shared", &conf);
	struct dafs_conn *conn = dafs_conn_get(fix->clnt);
	const struct cred *a = NULL, *b = NULL;
	struct dafsd_session *ses;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, conn);
	ses = dafsd_session_find(&dafsd_server, &conn->session_id);
	dafs_conn_put(conn);
	KUNIT_ASSERT_NOT_NULL(test, ses);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafsd_cred_find(ses, none, &a));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafsd_cred_find(ses, none, &b));
	KUNIT_EXPECT_PTR_EQ(test, a, b);
	dafsd_session_put(ses);
	if (a)
		host_expect_shared(test, exp, a);
	put_cred(a);
	put_cred(b);
	host_expect_shared(test, exp, dafs_fixture_member(test, 0, 0, root_group, 1));
}

/* Expects @write of a WRITE by an open for writing, and @commit of a COMMIT. */
static void host_write_and_commit(struct kunit *test, struct dafs_fixture *fix,
				  const struct dafs_open_res *open, dafs_status_t write, int commit)
{
	struct dafs_verifier verf;

	DAFS_EXPECT_STATUS(test, write,
			   dafs_try_write(test, fix->clnt, &open->filehandle, &open->state_id));
	KUNIT_EXPECT_EQ(test, commit, dafs_commit(fix->clnt, dafs_test_me(), &open->filehandle,
						  0, 0, &verf));
}

/* An open stays when the export becomes read-only.  Data written by it is not lost. */
static void dafs_host_read_only_test(struct kunit *test)
{
	struct dafsd_export_conf conf = {};
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_open_args args = dafs_test_open_args("owner", DAFS_RW, 0);
	struct dafsd_export *exp = host_serve(test, fix, "rights", &conf);
	struct dafs_fh dir = dafs_test_lookup(test, fix, "rights");
	struct dafs_open_res open = {};

	dafs_backing_write(test, fix, "rights/file", "data", 4);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   dafs_test_open(test, fix->clnt, dafs_test_me(), &dir, "file", &args,
					  &open));
	host_write_and_commit(test, fix, &open, DAFS_STATUS_OK, 0);
	conf.read_only = true;
	KUNIT_ASSERT_EQ(test, 0, dafsd_export_change(exp, &conf));
	host_write_and_commit(test, fix, &open, DAFSERR_ROFS, 0);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_try_read(test, fix->clnt, &open.filehandle, &open.state_id));
	conf.read_only = false;
	KUNIT_ASSERT_EQ(test, 0, dafsd_export_change(exp, &conf));
	host_write_and_commit(test, fix, &open, DAFS_STATUS_OK, 0);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &open));
	conf.read_only = true;
	KUNIT_ASSERT_EQ(test, 0, dafsd_export_change(exp, &conf));
	host_write_and_commit(test, fix, &open, DAFSERR_ROFS, -EROFS);
	dafs_expect_content(test, fix, "rights/file", "wata");
}

/* A directory whose export becomes read-only when a file has been created in it */
static struct inode_operations host_iops;
static const struct inode_operations *host_real_iops;
static struct dafsd_export *host_iops_export;

static int host_create(struct mnt_idmap *idmap, struct inode *dir, struct dentry *dentry,
		       umode_t mode, bool excl)
{
	int err = host_real_iops->create(idmap, dir, dentry, mode, excl);

	WRITE_ONCE(host_iops_export->read_only, true);
	return err;
}

static void host_restore_iops(void *inode)
{
	((struct inode *)inode)->i_op = host_real_iops;
}

static void host_watch_create(struct kunit *test, struct dafsd_export *exp)
{
	struct inode *inode = d_inode(exp->path.dentry);

	host_iops_export = exp;
	host_real_iops = inode->i_op;
	host_iops = *host_real_iops;
	host_iops.create = host_create;
	inode->i_op = &host_iops;
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, host_restore_iops, inode));
}

/* An OPEN that denies something to others does not fail after it has created the file. */
static void dafs_host_read_only_create_test(struct kunit *test)
{
	struct dafsd_export_conf conf = {};
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_open_args args = dafs_create_open_args(DAFS_CREATE_GUARDED);
	struct dafsd_export *exp = host_serve(test, fix, "rights", &conf);
	struct dafs_fh dir = dafs_test_lookup(test, fix, "rights");
	struct dafs_open_res open = {};

	args.share_deny = DAFS_OPEN_SHARE_DENY_WRITE;
	host_watch_create(test, exp);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   dafs_test_open(test, fix->clnt, dafs_test_me(), &dir, "new", &args,
					  &open));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &open));
	DAFS_EXPECT_STATUS(test, DAFSERR_ROFS,
			   dafs_test_open(test, fix->clnt, dafs_test_me(), &dir, "newer", &args,
					  &open));
}

static const struct cred *host_expect_user(struct kunit *test, const struct dafsd_export *exp,
					   const struct cred *cred, u32 uid, u32 gid)
{
	const struct cred *as = dafsd_cred_squash(exp, cred);

	KUNIT_ASSERT_NOT_NULL(test, as);
	KUNIT_EXPECT_EQ(test, uid, __kuid_val(as->fsuid));
	KUNIT_EXPECT_EQ(test, gid, __kgid_val(as->fsgid));
	return as;
}

/* The settings of squashing change at once; a running request keeps its credentials. */
static void dafs_host_squash_test(struct kunit *test)
{
	struct dafsd_export_conf conf = { .root_squash = true, .anon_uid = 1, .anon_gid = 2 };
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	const struct cred *root = dafs_fixture_user(test, 0, 0);
	const struct cred *user = dafs_fixture_user(test, 77, 0);
	struct dafsd_export *exp = host_serve(test, fix, "rights", &conf);
	const struct cred *before = host_expect_user(test, exp, root, 1, 2);

	put_cred(host_expect_user(test, exp, user, 77, 2));
	conf = (struct dafsd_export_conf){ .all_squash = true, .anon_uid = 3, .anon_gid = 4 };
	KUNIT_EXPECT_EQ(test, 0, dafsd_export_change(exp, &conf));
	put_cred(host_expect_user(test, exp, root, 3, 4));
	put_cred(host_expect_user(test, exp, user, 3, 4));
	conf.all_squash = false;
	KUNIT_EXPECT_EQ(test, 0, dafsd_export_change(exp, &conf));
	put_cred(host_expect_user(test, exp, root, 0, 0));
	conf.anon_uid = -1;
	conf.all_squash = true;
	KUNIT_EXPECT_EQ(test, -EINVAL, dafsd_export_change(exp, &conf));
	put_cred(host_expect_user(test, exp, user, 77, 0));
	KUNIT_EXPECT_EQ(test, 1, __kuid_val(before->fsuid));
	put_cred(before);
}

static int host_set_caps(struct path *path)
{
	struct vfs_cap_data caps = {
		.magic_etc = cpu_to_le32(VFS_CAP_REVISION_2),
		.data[0].permitted = cpu_to_le32(1),
	};
	int err = mnt_want_write(path->mnt);

	if (err)
		return err;
	err = vfs_setxattr(&nop_mnt_idmap, path->dentry, XATTR_NAME_CAPS, &caps,
			   XATTR_CAPS_SZ_2, 0);
	mnt_drop_write(path->mnt);
	return err;
}

static ssize_t host_get_caps(const struct path *path)
{
	return __vfs_getxattr(path->dentry, d_inode(path->dentry), XATTR_NAME_CAPS, NULL, 0);
}

static dafs_status_t host_truncate(struct kunit *test, struct dafs_fixture *fix,
				   const struct dafs_fh *fh, const struct dafs_state_id *state_id)
{
	struct dafs_fattr attr = {
		.included = DAFS_FATTR_OBJECT_SIZE,
		.valid = DAFS_FATTR_OBJECT_SIZE,
		.object_size = 2,
	};

	return host_setattr(test, fix, fh, state_id, &attr);
}

/* Truncating a program removes its file capabilities, as a local truncate(2) does. */
static void dafs_host_caps_test(struct kunit *test)
{
	static const struct dafs_state_id none;
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct path path;
	struct dafs_fh fh;

	dafs_backing_write(test, fix, "file", "data", 4);
	fh = dafs_test_lookup(test, fix, "file");
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_path(fix, "file", &path));
	KUNIT_EXPECT_EQ(test, 0, host_set_caps(&path));
	KUNIT_EXPECT_EQ(test, XATTR_CAPS_SZ_2, host_get_caps(&path));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, host_truncate(test, fix, &fh, &none));
	KUNIT_EXPECT_EQ(test, -ENODATA, host_get_caps(&path));
	path_put(&path);
}

/* chattr +a applies to a file that is open already, too, as for ftruncate(2). */
static void dafs_host_append_only_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_open_args args = dafs_test_open_args("owner", DAFS_WR, 0);
	struct dafs_open_res open;
	struct path path;

	dafs_backing_write(test, fix, "file", "data", 4);
	open = dafs_must_open(test, fix, "file", &args);
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_path(fix, "file", &path));
	inode_set_flags(d_inode(path.dentry), S_APPEND, S_APPEND);
	DAFS_EXPECT_STATUS(test, DAFSERR_PERM,
			   host_truncate(test, fix, &open.filehandle, &open.state_id));
	dafs_expect_content(test, fix, "file", "data");
	inode_set_flags(d_inode(path.dentry), 0, S_APPEND);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   host_truncate(test, fix, &open.filehandle, &open.state_id));
	path_put(&path);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &open));
}

/**
 * struct host_sync - one fsync of a file
 * @begun: completed when it waits
 * @go: it waits for this
 * @start: first byte of the range
 * @err: errno to return, 0 for the real result
 */
struct host_sync {
	struct completion begun;
	struct completion go;
	loff_t start;
	int err;
};

static struct host_sync host_syncs[2];

static int host_slow_fsync(struct file *filp, loff_t start, loff_t end, int datasync)
{
	unsigned int nr = atomic_inc_return(&host_file.calls) - 1;

	if (nr < ARRAY_SIZE(host_syncs)) {
		struct host_sync *sync = &host_syncs[nr];

		sync->start = start;
		complete_all(&sync->begun);
		wait_for_completion(&sync->go);
		if (sync->err)
			return sync->err;
	}
	return host_file.real->fsync(filp, start, end, datasync);
}

static void host_syncs_go(void *unused)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(host_syncs); i++)
		complete_all(&host_syncs[i].go);
}

static void host_slow_disk(struct kunit *test, struct dafs_fixture *fix)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(host_syncs); i++) {
		init_completion(&host_syncs[i].begun);
		init_completion(&host_syncs[i].go);
		host_syncs[i].err = 0;
	}
	dafs_backing_write(test, fix, "file", "", 0);
	host_watch(test, fix, "file", &host_file);
	host_file.fops.fsync = host_slow_fsync;
	host_replace(test, &host_file);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, host_syncs_go, NULL));
}

/**
 * struct host_appender - a client that appends
 * @conn: its connection
 * @cred: root there
 * @fh: the file
 */
struct host_appender {
	struct raw_conn *conn;
	u8 cred[4];
	struct dafs_fh fh;
};

static struct host_appender host_appender(struct kunit *test, struct dafs_fixture *fix)
{
	struct host_appender a = { .fh = dafs_test_lookup(test, fix, "file") };
	struct raw_login login = {};

	a.conn = raw_session(test, NULL, &login);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_register(a.conn, 0, 0, a.cred));
	return a;
}

/* Does not wait for the answer. */
static void host_append(struct host_appender *a, const char *text)
{
	struct dafs_append_inline_args args = {
		.filehandle = a->fh,
		.stable_how = DAFS_DATA_SYNC,
		.byte_count = strlen(text),
		.data = (const u8 *)text,
	};
	struct dafs_req_hdr hdr = raw_hdr(a->conn, DAFS_PROC_APPEND_INLINE);

	memcpy(hdr.cred_handle, a->cred, sizeof(hdr.cred_handle));
	raw_ask(a->conn, &hdr, &args);
}

static void host_expect_begun(struct kunit *test, struct host_sync *sync)
{
	KUNIT_ASSERT_GT_MSG(test, wait_for_completion_timeout(&sync->begun,
							      msecs_to_jiffies(RAW_WAIT_MS)),
			    0, "the append does not come to the disk");
}

static void host_expect_file(struct kunit *test, struct dafs_fixture *fix, const char *text)
{
	char got[32] = {};

	KUNIT_EXPECT_EQ(test, (ssize_t)strlen(text),
			dafs_backing_read(fix, "file", got, sizeof(got) - 1, 0));
	KUNIT_EXPECT_STREQ(test, text, got);
}

/* Starts two appends, one behind the other, that wait for the disk */
static void host_append_two(struct kunit *test, struct dafs_fixture *fix,
			    struct host_appender *one, struct host_appender *two)
{
	host_slow_disk(test, fix);
	*one = host_appender(test, fix);
	*two = host_appender(test, fix);
	host_append(one, "first");
	host_expect_begun(test, &host_syncs[0]);
	host_append(two, "second");
	host_expect_begun(test, &host_syncs[1]);
}

/*
 * An append also syncs the appends before it: otherwise a failure of an earlier one
 * would truncate acknowledged data.
 */
static void dafs_host_append_behind_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct host_appender one, two;

	host_append_two(test, fix, &one, &two);
	KUNIT_EXPECT_EQ(test, 0, host_syncs[1].start);
	complete_all(&host_syncs[1].go);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_status(two.conn));
	host_syncs[0].err = -EIO;
	complete_all(&host_syncs[0].go);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_status(one.conn));
	host_expect_file(test, fix, "firstsecond");
}

/* After a failure new appends get DELAY until those that still wait have failed too. */
static void dafs_host_append_failed_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct host_appender one, two;

	host_append_two(test, fix, &one, &two);
	host_syncs[0].err = -EIO;
	complete_all(&host_syncs[0].go);
	DAFS_EXPECT_STATUS(test, DAFSERR_IO, raw_status(one.conn));
	host_append(&one, "third");
	DAFS_EXPECT_STATUS(test, DAFSERR_DELAY, raw_status(one.conn));
	complete_all(&host_syncs[1].go);
	DAFS_EXPECT_STATUS(test, DAFSERR_IO, raw_status(two.conn));
	host_expect_file(test, fix, "");
	host_append(&one, "third");
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_status(one.conn));
	host_expect_file(test, fix, "third");
}

static struct kunit_case dafs_host_cases[] = {
	KUNIT_CASE_SLOW(dafs_host_slow_open_test),
	KUNIT_CASE(dafs_host_commit_test),
	KUNIT_CASE(dafs_host_unopened_test),
	KUNIT_CASE(dafs_host_withdraw_test),
	KUNIT_CASE(dafs_host_anonymous_test),
	KUNIT_CASE(dafs_host_shared_cred_test),
	KUNIT_CASE(dafs_host_read_only_test),
	KUNIT_CASE(dafs_host_read_only_create_test),
	KUNIT_CASE(dafs_host_squash_test),
	KUNIT_CASE(dafs_host_caps_test),
	KUNIT_CASE(dafs_host_append_only_test),
	KUNIT_CASE(dafs_host_append_behind_test),
	KUNIT_CASE(dafs_host_append_failed_test),
	{}
};

static struct kunit_suite dafs_host_suite = {
	.name = "dafs_host",
	.test_cases = dafs_host_cases,
};

kunit_test_suite(dafs_host_suite);
