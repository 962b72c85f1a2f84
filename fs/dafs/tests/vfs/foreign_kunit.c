// SPDX-License-Identifier: GPL-2.0
/* Names, data and attributes of a mount of a server of another implementation. */
#include <linux/file.h>
#include <linux/slab.h>
#include "../lib/foreign.h"

/**
 * struct foreign_names - entries of a directory
 * @ctx: for iterate_dir()
 * @seen: bit of each object that was listed
 * @others: number of unknown names, without "." and ".."
 */
struct foreign_names {
	struct dir_context ctx;
	unsigned long seen;
	unsigned int others;
};

static bool foreign_listed(struct dir_context *ctx, const char *name, int len, loff_t pos,
			   u64 ino, unsigned int type)
{
	struct foreign_names *names = container_of(ctx, struct foreign_names, ctx);
	int nr = ino - 1000;

	if (len <= 2 && name[0] == '.')
		return true;
	if (nr < 0 || nr >= FOREIGN_OBJECTS || strlen(foreign_objects[nr].name) != len ||
	    memcmp(foreign_objects[nr].name, name, len) ||
	    type != (foreign_objects[nr].dir ? DT_DIR : DT_REG))
		names->others++;
	else
		names->seen |= BIT(nr);
	return true;
}

static unsigned long foreign_list(struct kunit *test, struct vfsmount *mnt, const char *name)
{
	struct foreign_names names = { .ctx.actor = foreign_listed };
	struct file *dir = foreign_file(test, mnt, name, O_RDONLY | O_DIRECTORY);

	KUNIT_EXPECT_EQ(test, 0, iterate_dir(dir, &names.ctx));
	__fput_sync(dir);
	KUNIT_EXPECT_EQ(test, 0, names.others);
	return names.seen;
}

/* R-6.1.5-02 R-4.1.4-09 R-4.1.4-13: mount, list and stat */
static void dafs_foreign_names_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct kstat stat = {};
	struct file *file;

	KUNIT_EXPECT_EQ(test, BIT(FOREIGN_FILE) | BIT(FOREIGN_DIR), foreign_list(test, mnt, "."));
	KUNIT_EXPECT_EQ(test, BIT(FOREIGN_DEEP), foreign_list(test, mnt, "dir"));
	file = foreign_file(test, mnt, "dir/deep", O_RDONLY);
	KUNIT_EXPECT_EQ(test, 0, vfs_getattr(&file->f_path, &stat, STATX_BASIC_STATS, 0));
	KUNIT_EXPECT_EQ(test, 1000 + FOREIGN_DEEP, stat.ino);
	KUNIT_EXPECT_EQ(test, FOREIGN_SIZE, stat.size);
	KUNIT_EXPECT_TRUE(test, S_ISREG(stat.mode));
	__fput_sync(file);
	file = file_open_root(&(struct path){ .mnt = mnt, .dentry = mnt->mnt_root }, "none",
			      O_RDONLY, 0);
	KUNIT_EXPECT_PTR_EQ(test, ERR_PTR(-ENOENT), file);
}

/*
 * R-6.1.5-02 R-4.1.4-09 R-4.1.4-13: read and write; R-4.4.1.2-29: each with an
 * open of its own access, which ends with the last descriptor
 */
static void dafs_foreign_data_test(struct kunit *test)
{
	static const int flags[] = { O_RDONLY, O_WRONLY, O_RDWR };
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	u8 *buf = kunit_kzalloc(test, FOREIGN_SIZE, GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		struct file *file = foreign_file(test, mnt, "file", flags[i]);
		loff_t pos = 0;

		KUNIT_EXPECT_EQ(test, i + 1, f->opens);
		if (flags[i] != O_WRONLY) {
			KUNIT_EXPECT_EQ(test, FOREIGN_SIZE,
					kernel_read(file, buf, FOREIGN_SIZE, &pos));
			KUNIT_EXPECT_MEMEQ(test, f->data, buf, FOREIGN_SIZE);
		}
		pos = 100;
		if (flags[i] != O_RDONLY) {
			memset(buf, 'A' + i, 5000);
			KUNIT_EXPECT_EQ(test, 5000, kernel_write(file, buf, 5000, &pos));
			KUNIT_EXPECT_EQ(test, 0, vfs_fsync(file, 0));
			KUNIT_EXPECT_MEMEQ(test, buf, f->data + 100, 5000);
		}
		__fput_sync(file);
		KUNIT_EXPECT_EQ(test, i + 1, f->opens);
		KUNIT_EXPECT_TRUE(test, foreign_closed(f));
	}
	KUNIT_EXPECT_EQ(test, 0, f->strangers);
}

/* A killed task does not leave open a file that OPEN by name has opened by mistake. */
static void dafs_foreign_lies_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct foreign_task *ft;

	/* the client knows the file */
	__fput_sync(foreign_file(test, mnt, "file", O_RDONLY));
	KUNIT_EXPECT_TRUE(test, foreign_closed(f));
	f->lies = true;
	f->hangs_up = DAFS_PROC_CLOSE;
	ft = foreign_task(f, mnt, NULL, foreign_open_file);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	/* as if it was not executed */
	f->access = DAFS_OPEN_SHARE_ACCESS_READ;
	KUNIT_EXPECT_TRUE(test, foreign_kill(ft));
	f->srv->refuse = false;
	KUNIT_EXPECT_TRUE(test, foreign_closed(f));
}

/* Nor is a file left open that an earlier attempt has opened, if the last one is refused. */
static void dafs_foreign_denied_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct foreign_task *ft;

	f->hangs_up = DAFS_PROC_OPEN;
	ft = foreign_task(f, mnt, NULL, foreign_open_file);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	f->denies = true;
	f->keeps = DAFS_PROC_OPEN;
	f->srv->refuse = false;
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	KUNIT_EXPECT_TRUE(test, foreign_kill(ft));
	KUNIT_EXPECT_EQ(test, 1, f->opens);
	foreign_release(f);
	KUNIT_EXPECT_TRUE(test, foreign_closed(f));
	KUNIT_EXPECT_EQ(test, 2, f->opens);
	KUNIT_EXPECT_EQ(test, 0, f->strangers);
}

/* Nor is a file left open if the response to OPEN is truncated. */
static void dafs_foreign_garbled_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct foreign_task *ft;

	f->garbles = true;
	ft = foreign_task(f, mnt, NULL, foreign_open_file);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	KUNIT_EXPECT_EQ(test, -EIO, ft->err);
	KUNIT_EXPECT_TRUE(test, foreign_closed(f));
	KUNIT_EXPECT_EQ(test, 2, f->opens);
	KUNIT_EXPECT_EQ(test, 0, f->strangers);
}

/*
 * A file that others truncate keeps its size while this client has data to be written,
 * and no longer.
 */
static void dafs_foreign_shorter_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *file = foreign_file(test, mnt, "file", O_RDWR);
	u8 *buf = kunit_kzalloc(test, FOREIGN_SIZE, GFP_KERNEL);
	struct kstat stat = {};
	loff_t pos = 0;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	foreign_make_dirty(test, file);
	f->size = PAGE_SIZE;
	f->change++;
	KUNIT_EXPECT_EQ(test, 0, vfs_getattr(&file->f_path, &stat, STATX_SIZE,
					     AT_STATX_FORCE_SYNC));
	KUNIT_EXPECT_EQ(test, FOREIGN_SIZE, stat.size);
	KUNIT_EXPECT_EQ(test, PAGE_SIZE, kernel_read(file, buf, FOREIGN_SIZE, &pos));
	KUNIT_EXPECT_MEMEQ(test, "0123456789", buf, 10);
	KUNIT_EXPECT_EQ(test, PAGE_SIZE, vfs_llseek(file, 0, SEEK_END));
	KUNIT_EXPECT_EQ(test, PAGE_SIZE, f->size);
	__fput_sync(file);
}

static int foreign_unlink(struct foreign_task *ft)
{
	/* with an additional reference, like unlink(2) */
	struct dentry *dentry = dget(file_dentry(ft->file));
	struct dentry *dir = dget_parent(dentry);
	int err;

	inode_lock_nested(d_inode(dir), I_MUTEX_PARENT);
	err = vfs_unlink(&nop_mnt_idmap, d_inode(dir), dentry, NULL);
	inode_unlock(d_inode(dir));
	dput(dir);
	dput(dentry);
	return err;
}

/*
 * If others truncated a file that this client has removed since, the size cannot be
 * updated, and the server is not asked for it again and again.
 */
static void dafs_foreign_removed_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct dafs_options *opts = &DAFS_SB(mnt->mnt_sb)->opts;
	struct file *file = foreign_file(test, mnt, "file", O_RDWR);
	struct foreign_task ft = { .file = file };
	struct kstat stat = {};
	loff_t pos = 0;
	int i;
	u8 got;

	opts->acregmin = 3600 * HZ;
	opts->acregmax = 3600 * HZ;
	foreign_make_dirty(test, file);
	f->size = PAGE_SIZE;
	f->change++;
	KUNIT_EXPECT_EQ(test, 0, vfs_getattr(&file->f_path, &stat, STATX_SIZE,
					     AT_STATX_FORCE_SYNC));
	KUNIT_EXPECT_EQ(test, FOREIGN_SIZE, stat.size);
	KUNIT_EXPECT_EQ(test, 0, foreign_unlink(&ft));
	f->refusal = DAFSERR_STALE;
	f->refuses = DAFS_PROC_GETATTR_INLINE;
	KUNIT_EXPECT_EQ(test, 0, vfs_fsync(file, 0));
	KUNIT_EXPECT_EQ(test, 1, kernel_read(file, &got, 1, &pos));
	KUNIT_EXPECT_GE(test, f->refused, 1);
	f->refused = 0;
	for (i = 0; i < 5; i++)
		KUNIT_EXPECT_EQ(test, 1, kernel_read(file, &got, 1, &pos));
	KUNIT_EXPECT_EQ(test, 0, vfs_getattr(&file->f_path, &stat, STATX_SIZE, 0));
	KUNIT_EXPECT_EQ(test, 0, f->refused);
	__fput_sync(file);
}

/*
 * But a file that others have removed is stale, even if this client tried to remove it
 * at the same time.
 */
static void dafs_foreign_not_removed_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct dafs_options *opts = &DAFS_SB(mnt->mnt_sb)->opts;
	struct file *file = foreign_file(test, mnt, "file", O_RDONLY);
	struct foreign_task *ft;
	struct kstat stat = {};

	opts->acregmin = 3600 * HZ;
	opts->acregmax = 3600 * HZ;
	f->keeps = DAFS_PROC_REMOVE;
	ft = foreign_task(f, mnt, file, foreign_unlink);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	f->refusal = DAFSERR_STALE;
	f->refuses = DAFS_PROC_GETATTR_INLINE;
	KUNIT_EXPECT_EQ(test, 0, vfs_getattr(&file->f_path, &stat, STATX_SIZE,
					     AT_STATX_FORCE_SYNC));
	f->kept_status = DAFSERR_NOENT;
	foreign_release(f);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	KUNIT_EXPECT_EQ(test, -ENOENT, ft->err);
	KUNIT_EXPECT_EQ(test, -ESTALE, vfs_getattr(&file->f_path, &stat, STATX_SIZE, 0));
	__fput_sync(file);
}

static struct kunit_case dafs_foreign_cases[] = {
	KUNIT_CASE(dafs_foreign_names_test),
	KUNIT_CASE(dafs_foreign_data_test),
	KUNIT_CASE(dafs_foreign_lies_test),
	KUNIT_CASE(dafs_foreign_denied_test),
	KUNIT_CASE(dafs_foreign_garbled_test),
	KUNIT_CASE(dafs_foreign_shorter_test),
	KUNIT_CASE(dafs_foreign_removed_test),
	KUNIT_CASE(dafs_foreign_not_removed_test),
	{}
};

static struct kunit_suite dafs_foreign_suite = {
	.name = "dafs_foreign",
	.test_cases = dafs_foreign_cases,
};

kunit_test_suite(dafs_foreign_suite);
