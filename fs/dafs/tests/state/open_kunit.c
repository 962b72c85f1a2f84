// SPDX-License-Identifier: GPL-2.0
/* OPEN and CLOSE: create modes, names, state-ids, permissions. */
#include <linux/filelock.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include "../../../../drivers/dafsd/session/server.h"
#include "../../../../drivers/dafsd/state/state.h"
#include "../lib/open_test.h"

static u64 dafs_dir_change(struct kunit *test, struct dafs_fixture *fix)
{
	struct dafs_getattr_res res = {};
	struct dafs_ids ids;

	KUNIT_EXPECT_EQ(test, 0, dafs_getattr(fix->clnt, dafs_test_me(), &fix->dir,
					      DAFS_FATTR_CHANGE, &res.obj_attributes, &ids));
	return res.obj_attributes.change;
}

static void dafs_expect_mode(struct kunit *test, struct dafs_fixture *fix, const char *name,
			     umode_t mode)
{
	struct kstat stat = {};

	KUNIT_EXPECT_EQ(test, 0, dafs_backing_stat(fix, name, &stat));
	KUNIT_EXPECT_EQ(test, mode, stat.mode);
}

/* R-6.5.24-01 R-6.5.24-20: an existing file, which does not change. */
static void dafs_open_nocreate_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_open_args args = dafs_test_open_args("owner", DAFS_RD, 0);
	struct dafs_open_res res;
	struct dafs_fh fh;

	DAFS_EXPECT_STATUS(test, DAFSERR_NOENT, dafs_try_open(test, fix, "file", &args, &res));
	dafs_backing_write(test, fix, "file", "content", 7);
	fh = dafs_test_lookup(test, fix, "file");
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_try_open(test, fix, "file", &args, &res));
	KUNIT_EXPECT_MEMEQ(test, &fh, &res.filehandle, sizeof(fh));
	KUNIT_EXPECT_EQ(test, 1, res.component_count);
	KUNIT_EXPECT_EQ(test, DAFS_OPEN_DELEGATE_NONE, res.delegation_type);
	KUNIT_EXPECT_TRUE(test, res.change_info.atomic);
	KUNIT_EXPECT_EQ(test, dafs_dir_change(test, fix), res.change_info.before);
	KUNIT_EXPECT_EQ(test, res.change_info.before, res.change_info.after);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_try_read(test, fix->clnt, &res.filehandle, &res.state_id));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &res));
	dafs_expect_content(test, fix, "file", "content");
}

/* A new file with the given attributes; the default mode is private. */
static void dafs_open_unchecked_new_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_open_args args = dafs_create_open_args(DAFS_CREATE_UNCHECKED);
	u64 before = dafs_dir_change(test, fix);
	struct dafs_open_res res;
	struct kstat stat;
	struct dafs_fh fh;

	res = dafs_must_open(test, fix, "plain", &args);
	fh = dafs_test_lookup(test, fix, "plain");
	KUNIT_EXPECT_MEMEQ(test, &fh, &res.filehandle, sizeof(fh));
	KUNIT_EXPECT_EQ(test, before, res.change_info.before);
	KUNIT_EXPECT_NE(test, before, res.change_info.after);
	KUNIT_EXPECT_EQ(test, dafs_dir_change(test, fix), res.change_info.after);
	KUNIT_EXPECT_TRUE(test, res.change_info.atomic);
	dafs_expect_mode(test, fix, "plain", S_IFREG | 0600);
	args.createattrs = (struct dafs_fattr) {
		.included = DAFS_FATTR_MODE | DAFS_FATTR_OBJECT_SIZE | DAFS_FATTR_OWNER,
		.valid = DAFS_FATTR_MODE | DAFS_FATTR_OBJECT_SIZE | DAFS_FATTR_OWNER,
		.mode = 04444,
		.object_size = 5,
		.owner = dafs_test_str("1000"),
	};
	res = dafs_must_open(test, fix, "dressed", &args);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_try_write(test, fix->clnt, &res.filehandle, &res.state_id));
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_stat(fix, "dressed", &stat));
	KUNIT_EXPECT_EQ(test, 5, stat.size);
	KUNIT_EXPECT_EQ(test, 0444, stat.mode & 0777);
	KUNIT_EXPECT_EQ(test, 1000, from_kuid(&init_user_ns, stat.uid));
}

/* R-6.5.24-02: an existing file does not change, except that size 0 truncates it. */
static void dafs_open_unchecked_existing_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_open_args args = dafs_create_open_args(DAFS_CREATE_UNCHECKED);
	struct dafs_open_res res;

	dafs_backing_write(test, fix, "file", "content", 7);
	args.createattrs = (struct dafs_fattr) {
		.included = DAFS_FATTR_MODE | DAFS_FATTR_OBJECT_SIZE,
		.valid = DAFS_FATTR_MODE | DAFS_FATTR_OBJECT_SIZE,
		.mode = 0777,
		.object_size = 3,
	};
	res = dafs_must_open(test, fix, "file", &args);
	KUNIT_EXPECT_EQ(test, res.change_info.before, res.change_info.after);
	dafs_expect_content(test, fix, "file", "content");
	dafs_expect_mode(test, fix, "file", S_IFREG | 0644);
	args.createattrs.object_size = 0;
	args.createattrs.valid = DAFS_FATTR_MODE;
	dafs_must_open(test, fix, "file", &args);
	dafs_expect_content(test, fix, "file", "content");
	args.createattrs.valid |= DAFS_FATTR_OBJECT_SIZE;
	dafs_must_open(test, fix, "file", &args);
	dafs_expect_content(test, fix, "file", "");
	dafs_expect_mode(test, fix, "file", S_IFREG | 0644);
}

/* R-6.5.24-03: GUARDED refuses existing names of all types. */
static void dafs_open_guarded_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_open_args args = dafs_create_open_args(DAFS_CREATE_GUARDED);
	struct dafs_open_res res;

	args.createattrs = (struct dafs_fattr) {
		.included = DAFS_FATTR_OBJECT_SIZE | DAFS_FATTR_MODE,
		.valid = DAFS_FATTR_OBJECT_SIZE | DAFS_FATTR_MODE,
		.mode = 0640,
	};
	dafs_backing_write(test, fix, "file", "content", 7);
	dafs_backing_mkdir(test, fix, "dir", 0755);
	dafs_backing_symlink(test, fix, "link", "nowhere");
	DAFS_EXPECT_STATUS(test, DAFSERR_EXIST, dafs_try_open(test, fix, "file", &args, &res));
	DAFS_EXPECT_STATUS(test, DAFSERR_EXIST, dafs_try_open(test, fix, "dir", &args, &res));
	DAFS_EXPECT_STATUS(test, DAFSERR_EXIST, dafs_try_open(test, fix, "link", &args, &res));
	dafs_expect_content(test, fix, "file", "content");
	dafs_expect_mode(test, fix, "file", S_IFREG | 0644);
	dafs_must_open(test, fix, "new", &args);
	dafs_expect_mode(test, fix, "new", S_IFREG | 0640);
}

/* R-6.5.24-04 R-6.5.24-06: the same verifier opens the file again, any other gets EXIST. */
static void dafs_open_exclusive_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_open_args args = dafs_create_open_args(DAFS_CREATE_EXCLUSIVE);
	struct dafs_open_res first, again;
	int bit;

	dafs_test_pattern(&args.create_verifier, sizeof(args.create_verifier), 7);
	first = dafs_must_open(test, fix, "file", &args);
	dafs_expect_mode(test, fix, "file", S_IFREG | 0600);
	again = dafs_must_open(test, fix, "file", &args);
	KUNIT_EXPECT_TRUE(test, dafs_same_state(&first, &again));
	KUNIT_EXPECT_MEMEQ(test, &first.filehandle, &again.filehandle, sizeof(struct dafs_fh));
	for (bit = 0; bit < 64; bit++) {
		args.create_verifier.b[bit / 8] ^= 1 << bit % 8;
		DAFS_EXPECT_STATUS_MSG(test, DAFSERR_EXIST, dafs_try_open(test, fix, "file", &args,
									  &again), "bit %d", bit);
		args.create_verifier.b[bit / 8] ^= 1 << bit % 8;
	}
	again = dafs_must_open(test, fix, "file", &args);
	KUNIT_EXPECT_TRUE(test, dafs_same_state(&first, &again));
}

/* R-6.5.24-04: files created in another mode, or changed since. */
static void dafs_open_exclusive_taken_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_open_args args = dafs_create_open_args(DAFS_CREATE_EXCLUSIVE);
	struct dafs_open_res res;

	dafs_backing_write(test, fix, "file", "", 0);
	dafs_backing_mkdir(test, fix, "dir", 0700);
	DAFS_EXPECT_STATUS(test, DAFSERR_EXIST, dafs_try_open(test, fix, "file", &args, &res));
	DAFS_EXPECT_STATUS(test, DAFSERR_EXIST, dafs_try_open(test, fix, "dir", &args, &res));
	dafs_test_pattern(&args.create_verifier, sizeof(args.create_verifier), 9);
	res = dafs_must_open(test, fix, "new", &args);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_try_write(test, fix->clnt, &res.filehandle, &res.state_id));
	DAFS_EXPECT_STATUS(test, DAFSERR_EXIST, dafs_try_open(test, fix, "new", &args, &res));
}

/* Makes the server read the inode from its file system again. */
static void dafs_evict(struct kunit *test, struct dafs_fixture *fix, const char *name)
{
	struct inode *inode;
	struct path path;
	u64 ino;

	KUNIT_ASSERT_EQ(test, 0, dafs_backing_path(fix, name, &path));
	inode = d_inode(path.dentry);
	ino = inode->i_ino;
	ihold(inode);
	path_put(&path);
	d_mark_dontcache(inode);
	d_prune_aliases(inode);
	iput(inode);
	inode = ilookup(fix->path.mnt->mnt_sb, ino);
	KUNIT_EXPECT_NULL(test, inode);
	iput(inode);
}

/* R-6.5.24-05: the verifier is stored in the file system, not in memory. */
static void dafs_open_exclusive_stored_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_open_args args = dafs_create_open_args(DAFS_CREATE_EXCLUSIVE);
	struct dafs_open_res res;

	dafs_test_pattern(&args.create_verifier, sizeof(args.create_verifier), 11);
	res = dafs_must_open(test, fix, "file", &args);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &res));
	dafs_evict(test, fix, "file");
	res = dafs_must_open(test, fix, "file", &args);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &res));
	dafs_evict(test, fix, "file");
	args.create_verifier.b[7] ^= 1;
	DAFS_EXPECT_STATUS(test, DAFSERR_EXIST, dafs_try_open(test, fix, "file", &args, &res));
}

/* R-6.5.24-18: by filehandle, with the rights of the user who opened the file (E-75, E-90). */
static void dafs_open_previous_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_open_args args = dafs_test_open_args("owner", DAFS_RW, 0);
	struct dafs_open_res res = {};
	int type;

	dafs_backing_write(test, fix, "file", "content", 7);
	args.claim_type = DAFS_CLAIM_PREVIOUS;
	args.dir_handle = dafs_test_lookup(test, fix, "file");
	for (type = DAFS_OPEN_DELEGATE_NONE; type <= DAFS_OPEN_DELEGATE_WRITE; type++) {
		args.delegate_type = type;
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
				   dafs_test_call(test, fix->clnt, dafs_test_me(), DAFS_PROC_OPEN,
						  &args, &res));
		KUNIT_EXPECT_MEMEQ(test, &args.dir_handle, &res.filehandle,
				   sizeof(struct dafs_fh));
		KUNIT_EXPECT_EQ(test, 0, res.change_info.before);
		KUNIT_EXPECT_EQ(test, 0, res.change_info.after);
		KUNIT_EXPECT_TRUE(test, res.change_info.atomic);
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
				   dafs_try_read(test, fix->clnt, &res.filehandle, &res.state_id));
	}
	args.delegate_type = DAFS_OPEN_DELEGATE_WRITE + 1;
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, dafs_test_call(test, fix->clnt, dafs_test_me(),
							       DAFS_PROC_OPEN, &args, &res));
}

/* Objects that cannot be reclaimed, and users who may not. */
static void dafs_open_previous_refused_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	const struct cred *owner = dafs_fixture_user(test, 1000, 1000);
	const struct cred *other = dafs_fixture_user(test, 1001, 1001);
	struct dafs_open_args args = dafs_test_open_args("owner", DAFS_RW, 0);
	struct dafs_open_res res;

	dafs_backing_write(test, fix, "file", "content", 7);
	dafs_backing_chown(test, fix, "file", 1000, 1000);
	dafs_backing_chmod(test, fix, "file", 0);
	dafs_backing_symlink(test, fix, "link", "file");
	dafs_backing_mknod(test, fix, "fifo", S_IFIFO | 0600, 0);
	args.claim_type = DAFS_CLAIM_PREVIOUS;
	args.dir_handle = fix->dir;
	DAFS_EXPECT_STATUS(test, DAFSERR_ISDIR, dafs_test_call(test, fix->clnt, dafs_test_me(),
							       DAFS_PROC_OPEN, &args, &res));
	args.dir_handle = dafs_test_lookup(test, fix, "link");
	DAFS_EXPECT_STATUS(test, DAFSERR_SYMLINK, dafs_test_call(test, fix->clnt, dafs_test_me(),
								 DAFS_PROC_OPEN, &args, &res));
	args.dir_handle = dafs_test_lookup(test, fix, "fifo");
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, dafs_test_call(test, fix->clnt, dafs_test_me(),
							       DAFS_PROC_OPEN, &args, &res));
	args.dir_handle = dafs_test_lookup(test, fix, "file");
	DAFS_EXPECT_STATUS(test, DAFSERR_ACCES, dafs_test_call(test, fix->clnt, other,
							       DAFS_PROC_OPEN, &args, &res));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_call(test, fix->clnt, owner,
								DAFS_PROC_OPEN, &args, &res));
	args.open_type = DAFS_OPEN_CREATE;
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, dafs_test_call(test, fix->clnt, owner,
							       DAFS_PROC_OPEN, &args, &res));
	KUNIT_ASSERT_EQ(test, 0, dafs_get_root_handle(fix->clnt, dafs_test_me(), &args.dir_handle));
	args.open_type = DAFS_OPEN_NOCREATE;
	DAFS_EXPECT_STATUS(test, DAFSERR_ISDIR, dafs_test_call(test, fix->clnt, dafs_test_me(),
							       DAFS_PROC_OPEN, &args, &res));
}

/* E-75: there are no delegations to claim; invalid claim types. */
static void dafs_open_claims_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_open_args args = dafs_test_open_args("owner", DAFS_RW, 0);
	struct dafs_open_res res;

	dafs_backing_write(test, fix, "file", "content", 7);
	args.claim_type = DAFS_CLAIM_DELEGATE_CUR;
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_STATEID,
			   dafs_try_open(test, fix, "file", &args, &res));
	args.open_type = DAFS_OPEN_CREATE;
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, dafs_try_open(test, fix, "file", &args, &res));
	args.claim_type = DAFS_CLAIM_DELEGATE_PREV;
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, dafs_try_open(test, fix, "file", &args, &res));
	args.open_type = DAFS_OPEN_NOCREATE;
	DAFS_EXPECT_STATUS(test, DAFSERR_NOTSUPP, dafs_try_open(test, fix, "file", &args, &res));
	args.claim_type = DAFS_CLAIM_CREATE_UNLINKED + 1;
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, dafs_try_open(test, fix, "file", &args, &res));
}

/**
 * struct dafs_open_bad - an invalid value of an argument
 * @what: for the report
 * @offset: of a u32 member of struct dafs_open_args
 * @value: the value
 */
struct dafs_open_bad {
	const char *what;
	size_t offset;
	u32 value;
};

#define DAFS_OPEN_BAD(member, value) \
	{ #member, offsetof(struct dafs_open_args, member), value }

/* R-6.5.24-08 R-6.5.24-10 E-75 E-92 */
static const struct dafs_open_bad dafs_open_bads[] = {
	DAFS_OPEN_BAD(share_access, 0),
	DAFS_OPEN_BAD(share_access, 4),
	DAFS_OPEN_BAD(share_access, U32_MAX),
	DAFS_OPEN_BAD(share_deny, 4),
	DAFS_OPEN_BAD(share_key_type, 1),
	DAFS_OPEN_BAD(share_key_type, 2),
	DAFS_OPEN_BAD(share_key_type, 4),
	DAFS_OPEN_BAD(delete_disp, 2),
	DAFS_OPEN_BAD(open_type, 2),
	DAFS_OPEN_BAD(createmode, 3),
	DAFS_OPEN_BAD(owner.len, 0),
};

static void dafs_open_bad_args_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	const struct dafs_open_bad *bad;
	struct dafs_open_args args;
	struct dafs_open_res res;
	struct kstat stat;

	for (bad = dafs_open_bads; bad < dafs_open_bads + ARRAY_SIZE(dafs_open_bads); bad++) {
		args = dafs_create_open_args(DAFS_CREATE_UNCHECKED);
		*(u32 *)((u8 *)&args + bad->offset) = bad->value;
		DAFS_EXPECT_STATUS_MSG(test, DAFSERR_INVAL,
				       dafs_try_open(test, fix, "new", &args, &res), "%s %u",
				       bad->what, bad->value);
		KUNIT_EXPECT_EQ(test, -ENOENT, dafs_backing_stat(fix, "new", &stat));
	}
	args = dafs_create_open_args(DAFS_CREATE_UNCHECKED);
	args.createattrs.included = DAFS_FATTR_FILE_ID;
	args.createattrs.valid = DAFS_FATTR_FILE_ID;
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, dafs_try_open(test, fix, "new", &args, &res));
	KUNIT_EXPECT_EQ(test, -ENOENT, dafs_backing_stat(fix, "new", &stat));
}

/* Owners of 1 to 1024 arbitrary bytes (E-82). */
static void dafs_open_owner_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_open_args args = dafs_create_open_args(DAFS_CREATE_UNCHECKED);
	u8 *owner = kunit_kzalloc(test, 1025, GFP_KERNEL);
	struct dafs_open_res one, full, other;

	KUNIT_ASSERT_NOT_NULL(test, owner);
	args.owner = (struct dafs_str){ .len = 1, .data = owner };
	one = dafs_must_open(test, fix, "file", &args);
	args.owner.len = 1024;
	full = dafs_must_open(test, fix, "file", &args);
	KUNIT_EXPECT_FALSE(test, dafs_same_state(&one, &full));
	owner[1023] = 1;
	other = dafs_must_open(test, fix, "file", &args);
	KUNIT_EXPECT_FALSE(test, dafs_same_state(&full, &other));
	args.owner.len = 1025;
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, dafs_try_open(test, fix, "file", &args, &other));
}

/* A client without opens. */
static struct dafs_client *dafs_open_limited(struct kunit *test, struct dafs_fixture *fix)
{
	struct dafs_client_params params = fix->params;
	static unsigned int nr;

	snprintf(params.client_id, sizeof(params.client_id), "limited %u", ++nr);
	return dafs_fixture_client(test, &params);
}

static dafs_status_t dafs_open_limited_file(struct kunit *test, struct dafs_fixture *fix,
					    struct dafs_client *clnt, const char *name,
					    struct dafs_open_res *res)
{
	struct dafs_open_args args = dafs_create_open_args(DAFS_CREATE_UNCHECKED);

	return dafs_test_open(test, clnt, dafs_test_me(), &fix->dir, name, &args, res);
}

static dafs_status_t dafs_open_limited_reclaim(struct kunit *test, struct dafs_fixture *fix,
					       struct dafs_client *clnt, const char *name)
{
	struct dafs_open_args args = dafs_test_open_args("owner", DAFS_RD, 0);
	struct dafs_open_res res;

	args.claim_type = DAFS_CLAIM_PREVIOUS;
	args.dir_handle = dafs_test_lookup(test, fix, name);
	return dafs_test_call(test, clnt, dafs_test_me(), DAFS_PROC_OPEN, &args, &res);
}

/*
 * A client at its limit of opens gets RESOURCE for another OPEN or reclaim
 * until it closes one.  A second OPEN of an owner counts once, a failed OPEN
 * does not count.
 */
static void dafs_open_limit_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_client *clnt = dafs_open_limited(test, fix);
	struct dafs_client *other = dafs_open_limited(test, fix);
	struct dafs_open_args guarded = dafs_create_open_args(DAFS_CREATE_GUARDED);
	struct dafs_open_res one, two, three;

	dafs_backing_write(test, fix, "three", "", 0);
	dafs_fixture_server_param(test, &dafsd_max_opens, 2);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_open_limited_file(test, fix, clnt, "one", &one));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_open_limited_file(test, fix, clnt, "one", &one));
	DAFS_EXPECT_STATUS(test, DAFSERR_EXIST,
			   dafs_test_open(test, clnt, dafs_test_me(), &fix->dir, "three", &guarded,
					  &three));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_open_limited_file(test, fix, clnt, "two", &two));
	DAFS_EXPECT_STATUS(test, DAFSERR_RESOURCE,
			   dafs_open_limited_file(test, fix, clnt, "three", &three));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_open_limited_file(test, fix, clnt, "two", &two));
	DAFS_EXPECT_STATUS(test, DAFSERR_RESOURCE,
			   dafs_open_limited_reclaim(test, fix, clnt, "three"));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_open_limited_file(test, fix, other, "three", &three));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, clnt, &one));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_open_limited_file(test, fix, clnt, "three", &three));
}

/* A file that is not opened because of the limit is neither truncated nor created. */
static void dafs_open_limit_keeps_test(struct kunit *test)
{
	struct dafs_open_args args = dafs_create_open_args(DAFS_CREATE_UNCHECKED);
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_client *clnt = dafs_open_limited(test, fix);
	struct dafs_open_res res;
	struct kstat stat;
	u32 mode;

	dafs_backing_write(test, fix, "full", "data", 4);
	dafs_fixture_server_param(test, &dafsd_max_opens, 1);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   dafs_open_limited_file(test, fix, clnt, "one", &res));
	args.createattrs.included = DAFS_FATTR_OBJECT_SIZE;
	args.createattrs.valid = DAFS_FATTR_OBJECT_SIZE;
	DAFS_EXPECT_STATUS(test, DAFSERR_RESOURCE,
			   dafs_test_open(test, clnt, dafs_test_me(), &fix->dir, "full", &args,
					  &res));
	dafs_expect_content(test, fix, "full", "data");
	for (mode = DAFS_CREATE_UNCHECKED; mode <= DAFS_CREATE_EXCLUSIVE; mode++) {
		args = dafs_create_open_args(mode);
		DAFS_EXPECT_STATUS(test, DAFSERR_RESOURCE,
				   dafs_test_open(test, clnt, dafs_test_me(), &fix->dir, "new",
						  &args, &res));
		KUNIT_EXPECT_EQ(test, -ENOENT, dafs_backing_stat(fix, "new", &stat));
	}
	/* EXIST has priority over RESOURCE */
	args = dafs_create_open_args(DAFS_CREATE_GUARDED);
	DAFS_EXPECT_STATUS(test, DAFSERR_EXIST,
			   dafs_test_open(test, clnt, dafs_test_me(), &fix->dir, "full", &args,
					  &res));
}

/**
 * struct dafs_open_path - a path that OPEN cannot resolve
 * @path: the path
 * @status: the answer
 * @count: components resolved
 * @resolved: their path, NULL if none
 */
struct dafs_open_path {
	const char *path;
	dafs_status_t status;
	u32 count;
	const char *resolved;
};

/* R-6.5.24-14 R-6.5.24-15 R-6.5.24-16 R-6.5.24-25 */
static const struct dafs_open_path dafs_open_paths[] = {
	{ "missing", DAFSERR_NOENT, 0, NULL },
	{ "a/missing", DAFSERR_NOENT, 1, "a" },
	{ "a/missing/f", DAFSERR_NOENT, 1, "a" },
	{ "missing/f", DAFSERR_NOENT, 0, NULL },
	{ "a/f/x", DAFSERR_NOTDIR, 2, "a/f" },
	{ "a/f/x/y", DAFSERR_NOTDIR, 2, "a/f" },
	{ "link", DAFSERR_SYMLINK, 0, NULL },
	{ "link/f", DAFSERR_NOTDIR, 1, "link" },
	{ "link/f/x", DAFSERR_NOTDIR, 1, "link" },
	{ "a", DAFSERR_ISDIR, 0, NULL },
	{ "a/..", DAFSERR_NOENT, 1, "a" },
	{ ".", DAFSERR_NOENT, 0, NULL },
	{ "a//f", DAFSERR_INVAL, 1, "a" },
	{ "", DAFSERR_INVAL, 0, NULL },
	{ "fifo", DAFSERR_INVAL, 0, NULL },
};

static void dafs_open_path_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_open_args args = dafs_test_open_args("owner", DAFS_RD, 0);
	static const struct dafs_fh none;
	const struct dafs_open_path *p;
	struct dafs_open_res res;
	struct dafs_fh fh;

	dafs_backing_mkdir(test, fix, "a", 0755);
	dafs_backing_write(test, fix, "a/f", "f", 1);
	dafs_backing_symlink(test, fix, "link", "a");
	dafs_backing_mknod(test, fix, "fifo", S_IFIFO | 0600, 0);
	for (p = dafs_open_paths; p < dafs_open_paths + ARRAY_SIZE(dafs_open_paths); p++) {
		dafs_status_t status = dafs_try_open(test, fix, p->path, &args, &res);

		DAFS_EXPECT_STATUS_MSG(test, p->status, status, "%s", p->path);
		KUNIT_EXPECT_EQ_MSG(test, p->count, res.component_count, "%s", p->path);
		fh = p->resolved ? dafs_test_lookup(test, fix, p->resolved) : none;
		KUNIT_EXPECT_MEMEQ(test, &fh, &res.filehandle, sizeof(fh));
	}
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_try_open(test, fix, "a/f", &args, &res));
	KUNIT_EXPECT_EQ(test, 2, res.component_count);
	fh = dafs_test_lookup(test, fix, "a/f");
	KUNIT_EXPECT_MEMEQ(test, &fh, &res.filehandle, sizeof(fh));
}

/* With creation the same paths fail, and links are not followed either. */
static void dafs_open_create_path_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_open_args args = dafs_create_open_args(DAFS_CREATE_UNCHECKED);
	struct dafs_open_res res;
	struct kstat stat;

	dafs_backing_mkdir(test, fix, "a", 0755);
	dafs_backing_symlink(test, fix, "link", "target");
	DAFS_EXPECT_STATUS(test, DAFSERR_SYMLINK, dafs_try_open(test, fix, "link", &args, &res));
	KUNIT_EXPECT_EQ(test, -ENOENT, dafs_backing_stat(fix, "target", &stat));
	DAFS_EXPECT_STATUS(test, DAFSERR_ISDIR, dafs_try_open(test, fix, "a", &args, &res));
	DAFS_EXPECT_STATUS(test, DAFSERR_NOTDIR,
			   dafs_try_open(test, fix, "link/new", &args, &res));
	DAFS_EXPECT_STATUS(test, DAFSERR_NOENT,
			   dafs_try_open(test, fix, "a/missing/new", &args, &res));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_try_open(test, fix, "a/new", &args, &res));
	KUNIT_EXPECT_EQ(test, 2, res.component_count);
	KUNIT_EXPECT_EQ(test, 0, dafs_backing_stat(fix, "a/new", &stat));
}

/* Invalid names and handles (E-97); 6.5.24, 6.5.7 */
static void dafs_open_name_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_open_args open = dafs_test_open_args("owner", DAFS_RD, 0);
	struct dafs_open_args create = dafs_create_open_args(DAFS_CREATE_UNCHECKED);
	char *name = kunit_kzalloc(test, NAME_MAX + 2, GFP_KERNEL);
	struct dafs_open_res res;

	KUNIT_ASSERT_NOT_NULL(test, name);
	memset(name, 'n', NAME_MAX + 1);
	DAFS_EXPECT_STATUS(test, DAFSERR_NAMETOOLONG, dafs_try_open(test, fix, name, &open, &res));
	DAFS_EXPECT_STATUS(test, DAFSERR_NAMETOOLONG,
			   dafs_try_open(test, fix, name, &create, &res));
	name[NAME_MAX] = 0;
	DAFS_EXPECT_STATUS(test, DAFSERR_NOENT, dafs_try_open(test, fix, name, &open, &res));
	res = dafs_must_open(test, fix, name, &create);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &res));
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, dafs_try_open(test, fix, "\xc0\x80", &open, &res));
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, dafs_try_open(test, fix, "\xff", &create, &res));
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, dafs_try_open(test, fix, "..", &create, &res));
}

/* OPEN in an object that is not a directory or is removed; CLOSE with such handles. */
static void dafs_open_handle_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_open_args args = dafs_create_open_args(DAFS_CREATE_UNCHECKED);
	struct dafs_open_res open, res;
	struct dafs_fh fh, gone;

	open = dafs_new_file(test, fix, "file");
	dafs_backing_mkdir(test, fix, "dir", 0755);
	gone = dafs_test_lookup(test, fix, "dir");
	dafs_backing_remove(fix, "dir");
	DAFS_EXPECT_STATUS(test, DAFSERR_STALE,
			   dafs_test_open(test, fix->clnt, dafs_test_me(), &gone, "new", &args,
					  &res));
	DAFS_EXPECT_STATUS(test, DAFSERR_NOTDIR,
			   dafs_test_open(test, fix->clnt, dafs_test_me(), &open.filehandle, "new",
					  &args, &res));
	memset(&fh, 0, sizeof(fh));
	DAFS_EXPECT_STATUS(test, DAFSERR_BADHANDLE,
			   dafs_test_open(test, fix->clnt, dafs_test_me(), &fh, "new", &args,
					  &res));
	res = open;
	res.filehandle = gone;
	DAFS_EXPECT_STATUS(test, DAFSERR_STALE, dafs_test_close(test, fix->clnt, &res));
	KUNIT_ASSERT_EQ(test, 0, dafs_get_root_handle(fix->clnt, dafs_test_me(), &res.filehandle));
	DAFS_EXPECT_STATUS(test, DAFSERR_ISDIR, dafs_test_close(test, fix->clnt, &res));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &open));
}

static void dafs_set_immutable(struct dafs_fixture *fix, const char *name, unsigned int flags)
{
	struct path path;

	if (dafs_backing_path(fix, name, &path))
		return;
	inode_lock(d_inode(path.dentry));
	inode_set_flags(d_inode(path.dentry), flags, S_IMMUTABLE | S_APPEND);
	inode_unlock(d_inode(path.dentry));
	path_put(&path);
}

/* Immutable and append-only files can be opened for reading. */
static void dafs_open_immutable_test(struct kunit *test)
{
	static const unsigned int flags[] = { S_IMMUTABLE, S_APPEND };
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_open_args args = dafs_test_open_args("owner", DAFS_WR, 0);
	struct dafs_open_res res;
	unsigned int i;

	dafs_backing_write(test, fix, "file", "content", 7);
	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		dafs_set_immutable(fix, "file", flags[i]);
		args.share_access = DAFS_WR;
		DAFS_EXPECT_STATUS(test, DAFSERR_PERM,
				   dafs_try_open(test, fix, "file", &args, &res));
		args.share_access = DAFS_RD;
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
				   dafs_try_open(test, fix, "file", &args, &res));
		dafs_set_immutable(fix, "file", 0);
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &res));
	}
}

/* R-6.5.7-01: CLOSE ends only its own open. */
static void dafs_close_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_opener a = { "a", DAFS_RW, 0 };
	struct dafs_opener b = { "b", DAFS_RW, 0 };
	struct dafs_open_res one, two;

	dafs_backing_write(test, fix, "file", "content", 7);
	one = dafs_must_share(test, fix, &a);
	two = dafs_must_share(test, fix, &b);
	KUNIT_EXPECT_FALSE(test, dafs_same_state(&one, &two));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &one));
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_STATEID,
			   dafs_try_read(test, fix->clnt, &one.filehandle, &one.state_id));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_try_read(test, fix->clnt, &two.filehandle, &two.state_id));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_try_write(test, fix->clnt, &two.filehandle, &two.state_id));
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_STATEID, dafs_test_close(test, fix->clnt, &one));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &two));
}

static void dafs_state_expect(struct kunit *test, struct dafs_fixture *fix,
			      const struct dafs_open_res *open, dafs_status_t status)
{
	DAFS_EXPECT_STATUS(test, status,
			   dafs_try_read(test, fix->clnt, &open->filehandle, &open->state_id));
	DAFS_EXPECT_STATUS(test, status,
			   dafs_try_write(test, fix->clnt, &open->filehandle, &open->state_id));
	DAFS_EXPECT_STATUS(test, status, dafs_test_close(test, fix->clnt, open));
}

/*
 * R-4.4.1.2-02 R-4.4.1.2-03 R-4.4.1.2-07: state-ids of another server instance,
 * of no open, of another file, and of a closed open.  The first half of a
 * state-id is the instance.
 */
static void dafs_state_id_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_open_res one, two, bad;
	int bit;

	one = dafs_new_file(test, fix, "one");
	two = dafs_new_file(test, fix, "two");
	for (bit = 0; bit < 64; bit += 7) {
		bad = dafs_forge_state(&one, bit);
		if (!dafs_same_state(&bad, &two))
			dafs_state_expect(test, fix, &bad, bit < 32 ? DAFSERR_STALE_STATEID :
								     DAFSERR_BAD_STATEID);
	}
	bad = one;
	bad.state_id = two.state_id;
	dafs_state_expect(test, fix, &bad, DAFSERR_BAD_STATEID);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &one));
	dafs_state_expect(test, fix, &one, DAFSERR_BAD_STATEID);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &two));
}

/* E-79: the special state-ids of zeros and ones close no open. */
static void dafs_close_special_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_opener args = { "owner", DAFS_RW, 0 };
	struct dafs_open_res open, bad;

	dafs_backing_write(test, fix, "file", "content", 7);
	open = dafs_must_share(test, fix, &args);
	bad = open;
	memset(&bad.state_id, 0, sizeof(bad.state_id));
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_STATEID, dafs_test_close(test, fix->clnt, &bad));
	memset(&bad.state_id, 0xff, sizeof(bad.state_id));
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_STATEID, dafs_test_close(test, fix->clnt, &bad));
	bad = open;
	bad.filehandle = fix->dir;
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_STATEID, dafs_test_close(test, fix->clnt, &bad));
	memset(&bad.filehandle, 0, sizeof(bad.filehandle));
	DAFS_EXPECT_STATUS(test, DAFSERR_BADHANDLE, dafs_test_close(test, fix->clnt, &bad));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_try_read(test, fix->clnt, &open.filehandle, &open.state_id));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &open));
}

/**
 * struct dafs_open_right - rights of user 1000, the owner of the file
 * @mode: of the file
 * @read: may open it for reading, which execute permission allows, too
 * @write: may open it for writing
 */
struct dafs_open_right {
	umode_t mode;
	bool read;
	bool write;
};

static const struct dafs_open_right dafs_open_rights[] = {
	{ 0000, false, false },
	{ 0400, true, false },
	{ 0200, false, true },
	{ 0100, true, false },
	{ 0077, false, false },
	{ 0600, true, true },
};

static dafs_status_t dafs_open_as(struct kunit *test, struct dafs_fixture *fix,
				  const struct cred *cred, const char *name,
				  const struct dafs_open_args *args)
{
	struct dafs_open_res res;
	dafs_status_t status = dafs_test_open(test, fix->clnt, cred, &fix->dir, name, args, &res);

	if (!status)
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &res));
	return status;
}

/* Permissions of the file, and of the directory for a new file. */
static void dafs_open_access_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	const struct cred *user = dafs_fixture_user(test, 1000, 1000);
	struct dafs_open_args args = dafs_test_open_args("owner", DAFS_RD, 0);
	const struct dafs_open_right *r;

	dafs_backing_write(test, fix, "file", "content", 7);
	dafs_backing_chown(test, fix, "file", 1000, 1000);
	for (r = dafs_open_rights; r < dafs_open_rights + ARRAY_SIZE(dafs_open_rights); r++) {
		dafs_backing_chmod(test, fix, "file", r->mode);
		args.share_access = DAFS_RD;
		DAFS_EXPECT_STATUS_MSG(test, r->read ? DAFS_STATUS_OK : DAFSERR_ACCES,
				       dafs_open_as(test, fix, user, "file", &args), "%o", r->mode);
		args.share_access = DAFS_WR;
		DAFS_EXPECT_STATUS_MSG(test, r->write ? DAFS_STATUS_OK : DAFSERR_ACCES,
				       dafs_open_as(test, fix, user, "file", &args), "%o", r->mode);
		args.share_access = DAFS_RW;
		DAFS_EXPECT_STATUS_MSG(test, r->read && r->write ? DAFS_STATUS_OK : DAFSERR_ACCES,
				       dafs_open_as(test, fix, user, "file", &args), "%o", r->mode);
	}
	args = dafs_create_open_args(DAFS_CREATE_UNCHECKED);
	dafs_backing_mkdir(test, fix, "dir", 0755);
	DAFS_EXPECT_STATUS(test, DAFSERR_ACCES, dafs_open_as(test, fix, user, "dir/new", &args));
	args.createattrs.included = DAFS_FATTR_OBJECT_SIZE;
	args.createattrs.valid = DAFS_FATTR_OBJECT_SIZE;
	args.share_access = DAFS_RD;
	dafs_backing_chmod(test, fix, "file", 0400);
	DAFS_EXPECT_STATUS(test, DAFSERR_ACCES, dafs_open_as(test, fix, user, "file", &args));
	dafs_expect_content(test, fix, "file", "content");
}

/* In a read-only export only existing files are opened, for reading. */
static void dafs_open_read_only_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture_in(test, NULL, DAFS_TEST_RO);
	struct dafs_open_args args = dafs_test_open_args("owner", DAFS_RD, 0);
	struct kstat stat;

	dafs_backing_write(test, fix, "file", "content", 7);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_open_as(test, fix, dafs_test_me(), "file", &args));
	args.share_access = DAFS_WR;
	DAFS_EXPECT_STATUS(test, DAFSERR_ROFS,
			   dafs_open_as(test, fix, dafs_test_me(), "file", &args));
	args = dafs_create_open_args(DAFS_CREATE_UNCHECKED);
	args.share_access = DAFS_RD;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_open_as(test, fix, dafs_test_me(), "file", &args));
	DAFS_EXPECT_STATUS(test, DAFSERR_ROFS,
			   dafs_open_as(test, fix, dafs_test_me(), "new", &args));
	args.createattrs.included = DAFS_FATTR_OBJECT_SIZE;
	args.createattrs.valid = DAFS_FATTR_OBJECT_SIZE;
	DAFS_EXPECT_STATUS(test, DAFSERR_ROFS,
			   dafs_open_as(test, fix, dafs_test_me(), "file", &args));
	dafs_expect_content(test, fix, "file", "content");
	KUNIT_EXPECT_EQ(test, -ENOENT, dafs_backing_stat(fix, "new", &stat));
}

/* Root is squashed, other users are not. */
static void dafs_open_squash_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture_in(test, test->param_value, DAFS_TEST_SQUASH);
	const struct cred *user = dafs_fixture_user(test, 1000, 1001);
	struct dafs_open_args args = dafs_create_open_args(DAFS_CREATE_UNCHECKED);
	struct kstat stat;

	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   dafs_open_as(test, fix, dafs_test_me(), "root", &args));
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_stat(fix, "root", &stat));
	KUNIT_EXPECT_EQ(test, 65534, from_kuid(&init_user_ns, stat.uid));
	KUNIT_EXPECT_EQ(test, 65534, from_kgid(&init_user_ns, stat.gid));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_open_as(test, fix, user, "user", &args));
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_stat(fix, "user", &stat));
	KUNIT_EXPECT_EQ(test, 1000, from_kuid(&init_user_ns, stat.uid));
	KUNIT_EXPECT_EQ(test, 1001, from_kgid(&init_user_ns, stat.gid));
	DAFS_EXPECT_STATUS(test, DAFSERR_ACCES,
			   dafs_open_as(test, fix, dafs_test_me(), "user", &args));
}

/* The stubs of the client, from the creation of a file to its last CLOSE. */
static void dafs_open_stub_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_fattr attr = {
		.included = DAFS_FATTR_MODE,
		.valid = DAFS_FATTR_MODE,
		.mode = 0640,
	};
	struct dafs_open_how how = {
		.owner = dafs_test_str("owner"),
		.access = DAFS_RW,
		.create = true,
		.mode = DAFS_CREATE_GUARDED,
		.attr = &attr,
	};
	struct qstr name = dafs_test_qstr("file");
	struct dafs_opened opened, again;

	KUNIT_EXPECT_EQ(test, 0, dafs_open(fix->clnt, dafs_test_me(), &fix->dir, &name, &how,
					   &opened));
	KUNIT_EXPECT_NE(test, opened.change.before, opened.change.after);
	dafs_expect_mode(test, fix, "file", S_IFREG | 0640);
	KUNIT_EXPECT_EQ(test, -EEXIST, dafs_open(fix->clnt, dafs_test_me(), &fix->dir, &name, &how,
						 &again));
	KUNIT_EXPECT_EQ(test, 0, dafs_open_reclaim(fix->clnt, NULL, dafs_test_me(), &opened.fh,
						   &how, &again));
	KUNIT_EXPECT_MEMEQ(test, &opened.state_id, &again.state_id, sizeof(again.state_id));
	KUNIT_EXPECT_EQ(test, 0, dafs_close(fix->clnt, dafs_test_me(), &opened.fh,
					    &opened.state_id));
	KUNIT_EXPECT_NE(test, 0, dafs_close(fix->clnt, dafs_test_me(), &opened.fh,
					    &opened.state_id));
}

/**
 * struct dafs_open_break - what is done when a lease is broken
 * @state_id: of the open that breaks it
 * @st: the same, with a reference
 * @file: that has the lease
 * @end: ends it, so that the next attempt to open the file succeeds
 */
struct dafs_open_break {
	struct dafs_state_id state_id;
	struct dafsd_state *st;
	struct file *file;
	struct work_struct end;
};

static void dafs_open_lease_end(struct work_struct *work)
{
	struct dafs_open_break *seen = container_of(work, struct dafs_open_break, end);
	void *owner = seen;

	kernel_setlease(seen->file, F_UNLCK, NULL, &owner);
}

/* As an administrator who lists opens at that moment */
static bool dafs_open_lease_break(struct file_lease *fl)
{
	struct dafs_open_break *seen = fl->c.flc_owner;

	seen->st = dafsd_state_get(&seen->state_id);
	schedule_work(&seen->end);
	return false;
}

static const struct lease_manager_operations dafs_open_lease_ops = {
	.lm_break = dafs_open_lease_break,
	.lm_change = lease_modify,
};

static void dafs_open_set_lease(struct kunit *test, struct dafs_open_break *seen)
{
	struct file_lease *fl = locks_alloc_lease();

	KUNIT_ASSERT_NOT_NULL(test, fl);
	fl->fl_lmops = &dafs_open_lease_ops;
	fl->c.flc_flags = FL_LEASE;
	fl->c.flc_type = F_RDLCK;
	fl->c.flc_owner = seen;
	fl->c.flc_pid = current->tgid;
	fl->c.flc_file = seen->file;
	KUNIT_EXPECT_EQ(test, 0, kernel_setlease(seen->file, F_RDLCK, &fl, NULL));
	if (fl)
		locks_free_lease(fl);
}

/* The id that the server gives to the state after @state_id */
static struct dafs_state_id dafs_next_state(const struct dafs_state_id *state_id)
{
	struct dafs_state_id next = *state_id;
	u32 id;

	memcpy(&id, next.b + sizeof(u32), sizeof(id));
	id++;
	memcpy(next.b + sizeof(u32), &id, sizeof(id));
	return next;
}

/* Two attempts to empty a file by opening it, the first of which fails */
static void dafs_open_empty(struct kunit *test, struct dafs_fixture *fix)
{
	struct dafs_open_args args = dafs_test_open_args("another", DAFS_RD, 0);

	args.open_type = DAFS_OPEN_CREATE;
	args.createmode = DAFS_CREATE_UNCHECKED;
	args.createattrs.included = DAFS_FATTR_OBJECT_SIZE;
	args.createattrs.valid = DAFS_FATTR_OBJECT_SIZE;
	dafs_must_open(test, fix, "file", &args);
}

/* OPEN fails at its last step, while another task has a reference to the open. */
static void dafs_open_failed_seen_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	const struct dafs_opener who = { .owner = "owner", .share_access = DAFS_RD };
	struct dafs_open_break seen = {};
	struct dafs_open_res first;

	dafs_backing_write(test, fix, "file", "content", 7);
	first = dafs_must_share(test, fix, &who);
	seen.state_id = dafs_next_state(&first.state_id);
	seen.file = dafs_backing_open(fix, "file", O_RDONLY, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(seen.file));
	INIT_WORK_ONSTACK(&seen.end, dafs_open_lease_end);
	dafs_open_set_lease(test, &seen);
	dafs_open_empty(test, fix);
	flush_work(&seen.end);
	destroy_work_on_stack(&seen.end);
	dafs_backing_close(seen.file);
	KUNIT_EXPECT_NOT_NULL(test, seen.st);
	/* the last reference */
	if (seen.st)
		dafsd_state_put_later(seen.st);
	flush_workqueue(dafsd_close_wq);
	KUNIT_EXPECT_PTR_EQ(test, NULL, dafsd_state_get(&seen.state_id));
	dafs_expect_content(test, fix, "file", "");
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, fix->clnt, &first));
}

static struct kunit_case dafs_open_cases[] = {
	KUNIT_CASE(dafs_open_failed_seen_test),
	KUNIT_CASE_PARAM(dafs_open_nocreate_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_open_unchecked_new_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_open_unchecked_existing_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_open_guarded_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_open_exclusive_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_open_exclusive_taken_test),
	KUNIT_CASE_PARAM(dafs_open_exclusive_stored_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_open_previous_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_open_previous_refused_test),
	KUNIT_CASE(dafs_open_claims_test),
	KUNIT_CASE(dafs_open_bad_args_test),
	KUNIT_CASE_PARAM(dafs_open_owner_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_open_limit_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_open_limit_keeps_test),
	KUNIT_CASE_PARAM(dafs_open_path_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_open_create_path_test),
	KUNIT_CASE_PARAM(dafs_close_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_state_id_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_close_special_test),
	KUNIT_CASE(dafs_open_access_test),
	KUNIT_CASE(dafs_open_read_only_test),
	KUNIT_CASE_PARAM(dafs_open_squash_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_open_stub_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_open_name_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_open_handle_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_open_immutable_test),
	{}
};

static struct kunit_suite dafs_open_suite = {
	.name = "dafs_open",
	.test_cases = dafs_open_cases,
};

kunit_test_suite(dafs_open_suite);
