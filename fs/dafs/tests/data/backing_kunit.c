// SPDX-License-Identifier: GPL-2.0
/*
 * How the server calls the file system of an export: the operations of one inode are
 * replaced by functions of the test.
 */
#include <linux/fs.h>
#include <linux/posix_acl.h>
#include <linux/sched.h>
#include "../lib/open_test.h"

/**
 * struct backing_hook - replaced operations of an inode
 * @inode: the inode; a reference
 * @fop: its file operations during the test
 * @iop: its inode operations during the test
 * @was_fop: its own file operations
 * @was_iop: its own inode operations
 * @writes: calls of ->write_iter
 * @throttled: those by a task that is throttled by the written disk only
 * @syncs: calls of ->fsync by a task without that flag
 * @acls: queries for the default ACL that were answered with an error
 */
struct backing_hook {
	struct inode *inode;
	struct file_operations fop;
	struct inode_operations iop;
	const struct file_operations *was_fop;
	const struct inode_operations *was_iop;
	unsigned int writes;
	unsigned int throttled;
	unsigned int syncs;
	unsigned int acls;
};

/* Operations have no pointer to private data. */
static struct backing_hook *backing_hook;

static void backing_unhook(void *data)
{
	struct backing_hook *hook = data;

	hook->inode->i_fop = hook->was_fop;
	hook->inode->i_op = hook->was_iop;
	iput(hook->inode);
	backing_hook = NULL;
}

static struct backing_hook *backing_hook_in(struct kunit *test, struct dafs_fixture *fix,
					    const char *name)
{
	struct backing_hook *hook = kunit_kzalloc(test, sizeof(*hook), GFP_KERNEL);
	struct path path;

	KUNIT_ASSERT_NOT_NULL(test, hook);
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_path(fix, name, &path));
	hook->inode = d_inode(path.dentry);
	ihold(hook->inode);
	path_put(&path);
	hook->was_fop = hook->inode->i_fop;
	hook->was_iop = hook->inode->i_op;
	hook->fop = *hook->was_fop;
	hook->iop = *hook->was_iop;
	backing_hook = hook;
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, backing_unhook, hook));
	return hook;
}

static ssize_t backing_write_iter(struct kiocb *iocb, struct iov_iter *from)
{
	backing_hook->writes++;
	if (current->flags & PF_LOCAL_THROTTLE)
		backing_hook->throttled++;
	return backing_hook->was_fop->write_iter(iocb, from);
}

static int backing_fsync(struct file *filp, loff_t start, loff_t end, int datasync)
{
	if (!(current->flags & PF_LOCAL_THROTTLE))
		backing_hook->syncs++;
	return backing_hook->was_fop->fsync(filp, start, end, datasync);
}

/*
 * Loopback: dirty pages of a client on this machine must not throttle the server's
 * writes.  The worker's flags are restored afterwards.
 */
static void dafs_backing_throttle_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_write_inline_args args = {
		.byte_count = 4,
		.stable_how = DAFS_FILE_SYNC,
		.data = "data",
	};
	struct dafs_write_res res;
	struct backing_hook *hook;

	dafs_backing_write(test, fix, "file", "", 0);
	hook = backing_hook_in(test, fix, "file");
	hook->fop.write_iter = backing_write_iter;
	hook->fop.fsync = backing_fsync;
	hook->inode->i_fop = &hook->fop;
	args.filehandle = dafs_test_lookup(test, fix, "file");
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_test_write(test, fix->clnt, dafs_test_me(), &args, &res));
	KUNIT_EXPECT_EQ(test, 1, hook->writes);
	KUNIT_EXPECT_EQ(test, 1, hook->throttled);
	KUNIT_EXPECT_EQ(test, 1, hook->syncs);
}

static bool backing_has(struct inode *dir, const char *name)
{
	struct qstr qstr = dafs_test_qstr(name);
	struct dentry *parent = d_find_alias(dir);
	struct dentry *child = d_hash_and_lookup(parent, &qstr);
	bool has = !IS_ERR_OR_NULL(child) && d_really_is_positive(child);

	if (!IS_ERR(child))
		dput(child);
	dput(parent);
	return has;
}

/* The file system itself gets "no default ACL"; later callers get an error. */
static struct posix_acl *backing_get_acl(struct inode *inode, int type, bool rcu)
{
	if (type != ACL_TYPE_DEFAULT)
		return backing_hook->was_iop->get_inode_acl(inode, type, rcu);
	if (rcu || !backing_has(inode, "new"))
		return NULL;
	backing_hook->acls++;
	return ERR_PTR(-EIO);
}

/* If the default ACL (so the mode of a new object) is unknown, nothing is created. */
static void dafs_backing_acl_test(struct kunit *test)
{
	struct dafs_open_args args = dafs_create_open_args(DAFS_CREATE_GUARDED);
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct backing_hook *hook;
	struct dafs_open_res res;
	struct kstat stat;

	args.createattrs.included = DAFS_FATTR_MODE;
	args.createattrs.valid = DAFS_FATTR_MODE;
	args.createattrs.mode = 0666;
	hook = backing_hook_in(test, fix, ".");
	if (!IS_POSIXACL(hook->inode))
		kunit_skip(test, "the file system has no ACLs");
	hook->iop.get_inode_acl = backing_get_acl;
	hook->inode->i_op = &hook->iop;
	/* do not cache it, so that each call asks again */
	WRITE_ONCE(hook->inode->i_default_acl, ACL_DONT_CACHE);
	DAFS_EXPECT_STATUS(test, DAFSERR_IO, dafs_try_open(test, fix, "new", &args, &res));
	KUNIT_EXPECT_EQ(test, 1, hook->acls);
	KUNIT_EXPECT_EQ(test, -ENOENT, dafs_backing_stat(fix, "new", &stat));
	WRITE_ONCE(hook->inode->i_default_acl, ACL_NOT_CACHED);
}

static struct kunit_case dafs_backing_cases[] = {
	KUNIT_CASE(dafs_backing_throttle_test),
	KUNIT_CASE(dafs_backing_acl_test),
	{}
};

static struct kunit_suite dafs_backing_suite = {
	.name = "dafs_backing",
	.test_cases = dafs_backing_cases,
};

kunit_test_suite(dafs_backing_suite);
