// SPDX-License-Identifier: GPL-2.0
/*
 * A mount whose server delegates files: what it answers to directives, and what it does about
 * them (6.6.3, 6.6.4).
 */
#include <linux/file.h>
#include <linux/filelock.h>
#include <linux/dafs/stats.h>
#include "../lib/foreign.h"

/* Seconds: longer than any lease */
#define DELEG_LONG	7200

/* A server that delegates, and the channel by which it calls the client */
struct deleg_server {
	struct foreign *f;
	struct vfsmount *mnt;
	struct raw_conn *bc;
};

static void deleg_serve(struct kunit *test, struct deleg_server *ds, u32 type)
{
	ds->f = foreign_server(test);
	ds->f->srv->opts.use_back_control_channel = 1;
	ds->f->delegates = type;
	ds->mnt = foreign_mount(ds->f);
	ds->bc = raw_accepted(ds->f->srv, 1);
	KUNIT_ASSERT_NOT_NULL(test, ds->bc);
}

static dafs_status_t deleg_recall(struct deleg_server *ds, const struct dafs_fh *fh,
				  const struct dafs_state_id *state_id)
{
	struct dafs_bc_recall_args args = { .filehandle = *fh, .state_id = *state_id };

	return raw_call(ds->bc, DAFS_PROC_BC_RECALL, &args, NULL);
}

/* The file is recalled; @truncate: because it is about to be truncated */
static void deleg_recall_to(struct kunit *test, struct deleg_server *ds, bool truncate)
{
	struct dafs_bc_recall_args args = {
		.filehandle = ds->f->fh[FOREIGN_FILE],
		.state_id = ds->f->deleg_id,
		.truncate = truncate,
	};

	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   raw_call(ds->bc, DAFS_PROC_BC_RECALL, &args, NULL));
}

/* How often the mount has sent data */
static u64 deleg_writes(const struct deleg_server *ds)
{
	u64 sums[DAFS_NR_STATS];

	dafs_stats_read(DAFS_SB(ds->mnt->mnt_sb)->clnt->stats, DAFS_PROC_WRITE_INLINE, sums);
	return sums[DAFS_STAT_CALLS];
}

static void deleg_write(struct kunit *test, struct file *file, const char *data, loff_t pos)
{
	KUNIT_EXPECT_EQ(test, strlen(data), kernel_write(file, data, strlen(data), &pos));
}

static dafs_status_t deleg_getattr(struct deleg_server *ds, const struct dafs_fh *fh,
				   struct dafs_fattr *attr)
{
	struct dafs_getattr_args args = {
		.filehandle = *fh,
		.attr_request_bitmap = DAFS_FATTR_OBJECT_SIZE | DAFS_FATTR_TIME_MODIFY |
				       DAFS_FATTR_CHANGE | DAFS_FATTR_MODE,
	};
	struct dafs_getattr_res res = {};
	dafs_status_t status = raw_call(ds->bc, DAFS_PROC_BC_GETATTR, &args, &res);

	*attr = res.obj_attributes;
	return status;
}

/*
 * R-6.5.24-21 R-6.6.3-01 R-6.6.3-02: a file that is delegated for writing is opened once more
 * without the server, which can ask for what is not written yet, and for nothing else.
 */
static void dafs_foreign_deleg_getattr_test(struct kunit *test)
{
	struct deleg_server ds;
	struct dafs_fattr attr;
	struct file *file, *again;
	time64_t before = ktime_get_real_seconds();
	loff_t pos = FOREIGN_SIZE;

	deleg_serve(test, &ds, DAFS_OPEN_DELEGATE_WRITE);
	file = foreign_file(test, ds.mnt, "file", O_RDWR);
	again = foreign_file(test, ds.mnt, "file", O_RDONLY);
	KUNIT_EXPECT_EQ(test, 1, ds.f->opens);
	__fput_sync(again);
	/* nothing that the server does not know */
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   deleg_getattr(&ds, &ds.f->fh[FOREIGN_FILE], &attr));
	KUNIT_EXPECT_EQ(test, 0, attr.valid);
	KUNIT_EXPECT_EQ(test, 10, kernel_write(file, ds.f->data, 10, &pos));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   deleg_getattr(&ds, &ds.f->fh[FOREIGN_FILE], &attr));
	KUNIT_EXPECT_EQ(test, DAFS_FATTR_OBJECT_SIZE | DAFS_FATTR_TIME_MODIFY |
			DAFS_FATTR_CHANGE, attr.valid);
	KUNIT_EXPECT_EQ(test, FOREIGN_SIZE + 10, attr.object_size);
	KUNIT_EXPECT_GE(test, attr.time_modify.seconds, before);
	KUNIT_EXPECT_LE(test, attr.time_modify.seconds, ktime_get_real_seconds());
	KUNIT_EXPECT_NE(test, ds.f->change, attr.change);
	KUNIT_EXPECT_EQ(test, FOREIGN_SIZE, ds.f->size);
	DAFS_EXPECT_STATUS(test, DAFSERR_BADHANDLE,
			   deleg_getattr(&ds, &ds.f->fh[FOREIGN_DIR], &attr));
	__fput_sync(file);
	KUNIT_EXPECT_EQ(test, 0, ds.f->strangers);
	KUNIT_EXPECT_EQ(test, 0, ds.f->returns);
}

/* R-6.6.3-02: nor of a file that is delegated for reading */
static void dafs_foreign_deleg_reader_test(struct kunit *test)
{
	struct deleg_server ds;
	struct dafs_fattr attr;
	struct file *file;

	deleg_serve(test, &ds, DAFS_OPEN_DELEGATE_READ);
	file = foreign_file(test, ds.mnt, "file", O_RDONLY);
	DAFS_EXPECT_STATUS(test, DAFSERR_BADHANDLE,
			   deleg_getattr(&ds, &ds.f->fh[FOREIGN_FILE], &attr));
	__fput_sync(file);
}

/*
 * R-6.6.4-01 R-6.6.4-02: a recall is answered at once, and the delegation is returned when what
 * was written is at the server; of something else it is refused.
 */
static void dafs_foreign_deleg_recall_test(struct kunit *test)
{
	const struct dafs_state_id other = { .b = { 1, 2, 3, 4, 5, 6, 7, 8 } };
	struct deleg_server ds;
	struct dafs_fattr attr;
	struct file *file;
	loff_t pos = 0;

	deleg_serve(test, &ds, DAFS_OPEN_DELEGATE_WRITE);
	file = foreign_file(test, ds.mnt, "file", O_RDWR);
	KUNIT_EXPECT_EQ(test, 10, kernel_write(file, ds.f->data, 10, &pos));
	DAFS_EXPECT_STATUS(test, DAFSERR_BADHANDLE,
			   deleg_recall(&ds, &ds.f->fh[FOREIGN_DIR], &ds.f->deleg_id));
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_STATEID,
			   deleg_recall(&ds, &ds.f->fh[FOREIGN_FILE], &other));
	ds.f->keeps = DAFS_PROC_WRITE_INLINE;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   deleg_recall(&ds, &ds.f->fh[FOREIGN_FILE], &ds.f->deleg_id));
	KUNIT_EXPECT_TRUE(test, foreign_has_come(ds.f));
	KUNIT_EXPECT_EQ(test, 0, ds.f->returns);
	/* once more, while it is being returned */
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   deleg_recall(&ds, &ds.f->fh[FOREIGN_FILE], &ds.f->deleg_id));
	foreign_release(ds.f);
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&ds.f->returns, 1));
	DAFS_EXPECT_STATUS(test, DAFSERR_BADHANDLE,
			   deleg_getattr(&ds, &ds.f->fh[FOREIGN_FILE], &attr));
	__fput_sync(file);
	KUNIT_EXPECT_TRUE(test, foreign_closed(ds.f));
	KUNIT_EXPECT_EQ(test, 1, ds.f->returns);
}

/*
 * R-6.6.4-03: what was written to a file that is about to be truncated is not sent.  Until the
 * server has truncated it, it is as it was at the server.
 */
static void dafs_foreign_deleg_truncate_test(struct kunit *test)
{
	struct deleg_server ds;
	struct kstat stat = {};
	struct file *file;
	u8 buf[10];
	loff_t pos = 0;

	deleg_serve(test, &ds, DAFS_OPEN_DELEGATE_WRITE);
	file = foreign_file(test, ds.mnt, "file", O_RDWR);
	deleg_write(test, file, "0123456789", 0);
	deleg_write(test, file, "0123456789", FOREIGN_SIZE);
	ds.f->delegates = DAFS_OPEN_DELEGATE_NONE;
	deleg_recall_to(test, &ds, true);
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&ds.f->returns, 1));
	KUNIT_EXPECT_EQ(test, 0, deleg_writes(&ds));
	KUNIT_EXPECT_EQ(test, 0, vfs_getattr(&file->f_path, &stat, STATX_SIZE,
					     AT_STATX_SYNC_AS_STAT));
	KUNIT_EXPECT_EQ(test, FOREIGN_SIZE, stat.size);
	KUNIT_EXPECT_EQ(test, 10, kernel_read(file, buf, 10, &pos));
	KUNIT_EXPECT_MEMEQ(test, buf, ds.f->data, 10);
	ds.f->size = 0;
	ds.f->change++;
	KUNIT_EXPECT_EQ(test, 0, vfs_getattr(&file->f_path, &stat, STATX_SIZE,
					     AT_STATX_FORCE_SYNC));
	KUNIT_EXPECT_EQ(test, 0, stat.size);
	/* it is used as any other */
	deleg_write(test, file, "abc", 0);
	KUNIT_EXPECT_EQ(test, 0, vfs_fsync(file, 0));
	KUNIT_EXPECT_MEMEQ(test, ds.f->data, "abc", 3);
	KUNIT_EXPECT_EQ(test, 3, ds.f->size);
	__fput_sync(file);
}

/* What is not about to be truncated is sent before the delegation is returned. */
static void dafs_foreign_deleg_keep_test(struct kunit *test)
{
	struct deleg_server ds;
	struct file *file;

	deleg_serve(test, &ds, DAFS_OPEN_DELEGATE_WRITE);
	file = foreign_file(test, ds.mnt, "file", O_RDWR);
	deleg_write(test, file, "0123456789", 0);
	ds.f->delegates = DAFS_OPEN_DELEGATE_NONE;
	deleg_recall_to(test, &ds, false);
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&ds.f->returns, 1));
	KUNIT_EXPECT_NE(test, 0, deleg_writes(&ds));
	KUNIT_EXPECT_MEMEQ(test, ds.f->data, "0123456789", 10);
	__fput_sync(file);
}

static int deleg_write_more(struct foreign_task *ft)
{
	loff_t pos = PAGE_SIZE;

	return kernel_write(ft->file, "abcdefghij", 10, &pos);
}

/* Nothing is lost that is written after such a recall, nor what was before, then. */
static void dafs_foreign_deleg_since_test(struct kunit *test)
{
	struct foreign_task *writer;
	struct deleg_server ds;
	struct dafs_inode *di;
	struct file *file;

	deleg_serve(test, &ds, DAFS_OPEN_DELEGATE_WRITE);
	file = foreign_file(test, ds.mnt, "file", O_RDWR);
	di = DAFS_I(file_inode(file));
	deleg_write(test, file, "0123456789", 0);
	ds.f->delegates = DAFS_OPEN_DELEGATE_NONE;
	/* the delegation is not returned before; another task writes, for the order of locks */
	mutex_lock(&di->zap_lock);
	deleg_recall_to(test, &ds, true);
	writer = foreign_task(ds.f, ds.mnt, file, deleg_write_more);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(writer));
	KUNIT_EXPECT_EQ(test, 10, writer->err);
	mutex_unlock(&di->zap_lock);
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&ds.f->returns, 1));
	KUNIT_EXPECT_MEMEQ(test, ds.f->data, "0123456789", 10);
	KUNIT_EXPECT_MEMEQ(test, ds.f->data + PAGE_SIZE, "abcdefghij", 10);
	__fput_sync(file);
}

/* What a program waits for to be stable is sent. */
static void dafs_foreign_deleg_fsync_test(struct kunit *test)
{
	struct deleg_server ds;
	struct dafs_inode *di;
	struct file *file;

	deleg_serve(test, &ds, DAFS_OPEN_DELEGATE_WRITE);
	file = foreign_file(test, ds.mnt, "file", O_RDWR);
	di = DAFS_I(file_inode(file));
	deleg_write(test, file, "0123456789", 0);
	ds.f->delegates = DAFS_OPEN_DELEGATE_NONE;
	/* as fsync(2) does until all has been sent: one of two tasks has returned */
	atomic_add(2, &di->flushing);
	atomic_dec(&di->flushing);
	deleg_recall_to(test, &ds, true);
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&ds.f->returns, 1));
	KUNIT_EXPECT_MEMEQ(test, ds.f->data, "0123456789", 10);
	atomic_dec(&di->flushing);
	__fput_sync(file);
}

static int deleg_append(struct foreign_task *ft)
{
	loff_t pos = 0;

	return kernel_write(ft->file, "more", 4, &pos);
}

/* Of an append whose task was killed the client knows only that it may be executed. */
static void dafs_foreign_deleg_append_test(struct kunit *test)
{
	struct deleg_server ds;
	struct foreign_task *ft;
	struct kstat stat;
	struct file *file;

	deleg_serve(test, &ds, DAFS_OPEN_DELEGATE_WRITE);
	file = foreign_file(test, ds.mnt, "file", O_RDWR | O_APPEND);
	ds.f->keeps = DAFS_PROC_APPEND_INLINE;
	ft = foreign_task(ds.f, ds.mnt, file, deleg_append);
	KUNIT_ASSERT_TRUE(test, foreign_has_come(ds.f));
	KUNIT_EXPECT_TRUE(test, foreign_kill(ft));
	KUNIT_EXPECT_EQ(test, -ERESTARTSYS, ft->err);
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&ds.f->returns, 1));
	/* it is executed late */
	ds.f->size += 4;
	ds.f->change++;
	foreign_release(ds.f);
	wait_on_bit(&DAFS_I(file_inode(file))->flags, DAFS_INO_DELEG_LEAVING, TASK_KILLABLE);
	KUNIT_EXPECT_EQ(test, 0, vfs_getattr(&file->f_path, &stat, STATX_SIZE,
					     AT_STATX_FORCE_SYNC));
	KUNIT_EXPECT_EQ(test, FOREIGN_SIZE + 4, stat.size);
	__fput_sync(file);
}

/* A recall that comes before the response of the OPEN: the delegation is not used. */
static void dafs_foreign_deleg_early_test(struct kunit *test)
{
	struct deleg_server ds;
	struct foreign_task *ft;
	struct file *file;

	deleg_serve(test, &ds, DAFS_OPEN_DELEGATE_READ);
	ds.f->keeps = DAFS_PROC_OPEN;
	ft = foreign_task(ds.f, ds.mnt, NULL, foreign_open_file);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(ds.f));
	DAFS_EXPECT_STATUS(test, DAFSERR_BADHANDLE,
			   deleg_recall(&ds, &ds.f->fh[FOREIGN_FILE], &ds.f->deleg_id));
	foreign_release(ds.f);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	KUNIT_EXPECT_EQ(test, 0, ft->err);
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&ds.f->returns, 1));
	file = foreign_file(test, ds.mnt, "file", O_RDONLY);
	KUNIT_EXPECT_EQ(test, 2, ds.f->opens);
	__fput_sync(file);
}

/* What is recalled in the response of the OPEN is returned at once. */
static void dafs_foreign_deleg_recalled_test(struct kunit *test)
{
	struct deleg_server ds;
	struct file *file;

	deleg_serve(test, &ds, DAFS_OPEN_DELEGATE_WRITE);
	ds.f->recalls = true;
	file = foreign_file(test, ds.mnt, "file", O_RDWR);
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&ds.f->returns, 1));
	__fput_sync(file);
	KUNIT_EXPECT_TRUE(test, foreign_closed(ds.f));
}

/* A task that is killed during its OPEN leaves neither an open nor a delegation. */
static void dafs_foreign_deleg_killed_test(struct kunit *test)
{
	struct deleg_server ds;
	struct foreign_task *ft;

	deleg_serve(test, &ds, DAFS_OPEN_DELEGATE_WRITE);
	ds.f->keeps = DAFS_PROC_OPEN;
	ft = foreign_task(ds.f, ds.mnt, NULL, foreign_open_file);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(ds.f));
	KUNIT_EXPECT_TRUE(test, foreign_kill(ft));
	foreign_release(ds.f);
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&ds.f->returns, 1));
	KUNIT_EXPECT_TRUE(test, foreign_closed(ds.f));
}

/* The end of the mount returns what it has, and closes the file. */
static void dafs_foreign_deleg_unmount_test(struct kunit *test)
{
	struct deleg_server ds;
	struct file *file;

	deleg_serve(test, &ds, DAFS_OPEN_DELEGATE_READ);
	file = foreign_file(test, ds.mnt, "file", O_RDONLY);
	__fput_sync(file);
	KUNIT_EXPECT_NE(test, 0, ds.f->access);
	kunit_release_action(test, foreign_unmount, ds.mnt);
	KUNIT_EXPECT_EQ(test, 1, ds.f->returns);
	KUNIT_EXPECT_EQ(test, 0, ds.f->access);
}

static int deleg_stat_now(struct foreign_task *ft)
{
	struct kstat stat;

	return vfs_getattr(&ft->file->f_path, &stat, STATX_SIZE, AT_STATX_FORCE_SYNC);
}

/*
 * An answer that was asked for before the delegation ended tells nothing of what others have
 * done since.
 */
static void dafs_foreign_deleg_late_test(struct kunit *test)
{
	struct deleg_server ds;
	struct foreign_task *ft;
	struct kstat stat = {};
	struct file *file;

	deleg_serve(test, &ds, DAFS_OPEN_DELEGATE_READ);
	file = foreign_file(test, ds.mnt, "file", O_RDONLY);
	ds.f->keeps = DAFS_PROC_GETATTR_INLINE;
	ft = foreign_task(ds.f, ds.mnt, file, deleg_stat_now);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(ds.f));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   deleg_recall(&ds, &ds.f->fh[FOREIGN_FILE], &ds.f->deleg_id));
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&ds.f->returns, 1));
	ds.f->size--;
	ds.f->change++;
	foreign_release(ds.f);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	KUNIT_EXPECT_EQ(test, 0, vfs_getattr(&file->f_path, &stat, STATX_SIZE,
					     AT_STATX_SYNC_AS_STAT));
	KUNIT_EXPECT_EQ(test, FOREIGN_SIZE - 1, stat.size);
	__fput_sync(file);
}

/* Work of a task */
static int deleg_lock(struct foreign_task *ft)
{
	return foreign_lock_all(ft->file, F_WRLCK, 0);
}

/*
 * The lease has run out, and the server does not say whether it still grants a lock that only the
 * delegation knew of: a direct write does not rely on it.
 */
static void dafs_foreign_deleg_lapse_test(struct kunit *test)
{
	struct deleg_server ds;
	struct foreign_task *ft;
	struct dafs_client *clnt;
	struct file *file;
	loff_t pos = 0;

	deleg_serve(test, &ds, DAFS_OPEN_DELEGATE_WRITE);
	clnt = DAFS_SB(ds.mnt->mnt_sb)->clnt;
	file = foreign_file(test, ds.mnt, "file", O_RDWR | O_DIRECT);
	ft = foreign_task(ds.f, ds.mnt, file, deleg_lock);
	KUNIT_ASSERT_TRUE(test, foreign_task_ends(ft));
	KUNIT_EXPECT_EQ(test, 0, ft->err);
	KUNIT_EXPECT_EQ(test, 0, ds.f->locks);
	KUNIT_EXPECT_EQ(test, 10, kernel_write(file, "0123456789", 10, &pos));
	KUNIT_EXPECT_MEMEQ(test, ds.f->data, "0123456789", 10);
	ds.f->refusal = DAFSERR_DELAY;
	WRITE_ONCE(ds.f->refuses, DAFS_PROC_LOCK);
	WRITE_ONCE(clnt->renewed, ktime_sub(clnt->renewed, ktime_set(DELEG_LONG, 0)));
	pos = 0;
	KUNIT_EXPECT_EQ(test, -EIO, kernel_write(file, "abcdefghij", 10, &pos));
	KUNIT_EXPECT_MEMEQ(test, ds.f->data, "0123456789", 10);
	WRITE_ONCE(ds.f->refuses, 0);
	__fput_sync(file);
}

/*
 * A lock that its open does not allow: the server does not say whether it is in its grace period,
 * or does not open the file for more, until the delegation is returned, which waits for nothing.
 */
static void dafs_foreign_deleg_lock_test(struct kunit *test)
{
	static const u32 procs[] = { DAFS_PROC_LOCKT, DAFS_PROC_OPEN };
	struct deleg_server ds;
	struct foreign_task *ft;
	struct file *file;
	unsigned int i;

	deleg_serve(test, &ds, DAFS_OPEN_DELEGATE_WRITE);
	ds.f->refusal = DAFSERR_DELAY;
	for (i = 0; i < ARRAY_SIZE(procs); i++) {
		file = foreign_file(test, ds.mnt, "file", O_RDONLY);
		ds.f->refused = 0;
		ds.f->returns = 0;
		WRITE_ONCE(ds.f->refuses, procs[i]);
		ft = foreign_task(ds.f, ds.mnt, file, deleg_lock);
		KUNIT_EXPECT_TRUE(test, foreign_reaches(&ds.f->refused, 2));
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
				   deleg_recall(&ds, &ds.f->fh[FOREIGN_FILE], &ds.f->deleg_id));
		KUNIT_EXPECT_TRUE(test, foreign_reaches(&ds.f->returns, 1));
		ds.f->delegates = DAFS_OPEN_DELEGATE_NONE;
		WRITE_ONCE(ds.f->refuses, 0);
		KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
		KUNIT_EXPECT_EQ(test, 0, ft->err);
		KUNIT_EXPECT_EQ(test, i + 1, ds.f->locks);
		ds.f->delegates = DAFS_OPEN_DELEGATE_WRITE;
		__fput_sync(file);
		KUNIT_EXPECT_TRUE(test, foreign_closed(ds.f));
	}
}

static struct kunit_case dafs_foreign_deleg_cases[] = {
	KUNIT_CASE(dafs_foreign_deleg_getattr_test),
	KUNIT_CASE(dafs_foreign_deleg_reader_test),
	KUNIT_CASE(dafs_foreign_deleg_recall_test),
	KUNIT_CASE(dafs_foreign_deleg_truncate_test),
	KUNIT_CASE(dafs_foreign_deleg_keep_test),
	KUNIT_CASE(dafs_foreign_deleg_since_test),
	KUNIT_CASE(dafs_foreign_deleg_fsync_test),
	KUNIT_CASE(dafs_foreign_deleg_append_test),
	KUNIT_CASE(dafs_foreign_deleg_early_test),
	KUNIT_CASE(dafs_foreign_deleg_recalled_test),
	KUNIT_CASE(dafs_foreign_deleg_killed_test),
	KUNIT_CASE(dafs_foreign_deleg_unmount_test),
	KUNIT_CASE(dafs_foreign_deleg_late_test),
	KUNIT_CASE(dafs_foreign_deleg_lapse_test),
	KUNIT_CASE(dafs_foreign_deleg_lock_test),
	{}
};

static struct kunit_suite dafs_foreign_deleg_suite = {
	.name = "dafs_foreign_deleg",
	.test_cases = dafs_foreign_deleg_cases,
};

kunit_test_suite(dafs_foreign_deleg_suite);
