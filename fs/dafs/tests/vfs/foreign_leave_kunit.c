// SPDX-License-Identifier: GPL-2.0
/* What umount and exiting tasks wait for, and what they do not wait for. */
#include <linux/delay.h>
#include <linux/file.h>
#include <linux/fadvise.h>
#include <linux/filelock.h>
#include <linux/kthread.h>
#include <linux/mman.h>
#include <linux/mount.h>
#include <linux/pagemap.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include "../lib/foreign.h"

static int foreign_unmount_by(struct foreign_task *ft)
{
	kern_unmount(ft->mnt);
	return 0;
}

/* Umount does not wait for a server that goes away while a read reclaims its open. */
static void dafs_foreign_gone_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *file = foreign_file(test, mnt, "file", O_RDONLY);
	struct foreign_task *ft;

	f->forgets = 1;
	f->hangs_up = DAFS_PROC_OPEN;
	KUNIT_EXPECT_EQ(test, 0, vfs_fadvise(file, 0, FOREIGN_SIZE, POSIX_FADV_WILLNEED));
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	__fput_sync(file);
	kunit_remove_action(test, foreign_unmount, mnt);
	ft = foreign_task(f, mnt, NULL, foreign_unmount_by);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
}

/* A task that changes the size of a file was killed: what became of that is not known yet. */
static void foreign_leave_unknown(struct kunit *test, bool away)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *file = foreign_file(test, mnt, "file", O_RDWR);
	struct foreign_task *ft;

	f->tells = FOREIGN_TELLS_LATER;
	f->hangs_up = DAFS_PROC_SETATTR_INLINE;
	ft = foreign_task(f, mnt, file, foreign_truncate);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	/* a kernel thread that closes a file would wait for a connection that seems to be there */
	KUNIT_ASSERT_TRUE(test, foreign_lost(DAFS_SB(mnt->mnt_sb)->clnt));
	KUNIT_EXPECT_TRUE(test, foreign_kill(ft));
	f->srv->refuse = away;
	if (!away)
		KUNIT_EXPECT_TRUE(test, foreign_reaches(&f->asked, 2));
	__fput_sync(file);
	kunit_remove_action(test, foreign_unmount, mnt);
	ft = foreign_task(f, mnt, NULL, foreign_unmount_by);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
}

/* Umount waits neither for a server that is away, nor for one that does not know it yet. */
static void dafs_foreign_unknown_test(struct kunit *test)
{
	foreign_leave_unknown(test, true);
	foreign_leave_unknown(test, false);
}

/**
 * struct foreign_refusal - a refusal that never ends
 * @name: for the report
 * @status: status of the server
 */
struct foreign_refusal {
	const char *name;
	dafs_status_t status;
};

static const struct foreign_refusal foreign_refusals[] = {
	{ "later", DAFSERR_DELAY },
	{ "no memory", DAFSERR_RESOURCE },
};

KUNIT_ARRAY_PARAM_DESC(foreign_refusals, foreign_refusals, name);

static void foreign_refuse_reads(struct foreign *f)
{
	const struct foreign_refusal *refusal = f->test->param_value;

	f->refusal = refusal->status;
	f->refuses = DAFS_PROC_READ_INLINE;
}

/* umount does not wait for read-ahead to which the server answers DELAY for ever. */
static void dafs_foreign_unread_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *file = foreign_file(test, mnt, "file", O_RDONLY);
	struct foreign_task *ft;

	foreign_refuse_reads(f);
	KUNIT_EXPECT_EQ(test, 0, vfs_fadvise(file, 0, FOREIGN_SIZE, POSIX_FADV_WILLNEED));
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&f->refused, 1));
	__fput_sync(file);
	kunit_remove_action(test, foreign_unmount, mnt);
	ft = foreign_task(f, mnt, NULL, foreign_unmount_by);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
}

/**
 * struct foreign_aio - an asynchronous direct read or write
 * @iocb: the request
 * @kvec: its memory
 * @ret: its result
 * @ended: completed when it ends
 */
struct foreign_aio {
	struct kiocb iocb;
	struct kvec kvec;
	long ret;
	struct completion ended;
};

static void foreign_aio_ended(struct kiocb *iocb, long ret)
{
	struct foreign_aio *aio = container_of(iocb, struct foreign_aio, iocb);

	aio->ret = ret;
	complete_all(&aio->ended);
}

static struct foreign_aio *foreign_aio(struct kunit *test, struct file *file, bool write)
{
	struct foreign_aio *aio = kunit_kzalloc(test, sizeof(*aio), GFP_KERNEL);
	const size_t len = FOREIGN_AIO;
	struct iov_iter iter;
	ssize_t ret;

	KUNIT_ASSERT_NOT_NULL(test, aio);
	aio->kvec.iov_base = kunit_kzalloc(test, len, GFP_KERNEL);
	aio->kvec.iov_len = len;
	KUNIT_ASSERT_NOT_NULL(test, aio->kvec.iov_base);
	init_completion(&aio->ended);
	init_sync_kiocb(&aio->iocb, file);
	aio->iocb.ki_complete = foreign_aio_ended;
	iov_iter_kvec(&iter, write ? ITER_SOURCE : ITER_DEST, &aio->kvec, 1, len);
	if (write)
		ret = file->f_op->write_iter(&aio->iocb, &iter);
	else
		ret = file->f_op->read_iter(&aio->iocb, &iter);
	KUNIT_EXPECT_EQ(test, -EIOCBQUEUED, ret);
	return aio;
}

static bool foreign_aio_ends(struct foreign_aio *aio)
{
	return wait_for_completion_timeout(&aio->ended, msecs_to_jiffies(RAW_WAIT_MS));
}

static int foreign_unlock(struct foreign_task *ft)
{
	return foreign_lock_all(ft->file, F_UNLCK, 0);
}

static int foreign_unlock_exiting(struct foreign_task *ft)
{
	int err;

	current->flags |= PF_EXITING;
	err = foreign_unlock(ft);
	current->flags &= ~PF_EXITING;
	return err;
}

static bool foreign_task_waits(const struct foreign_task *ft)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);

	while (!(READ_ONCE(ft->task->__state) & TASK_WAKEKILL) && time_before(jiffies, end))
		msleep(20);
	return READ_ONCE(ft->task->__state) & TASK_WAKEKILL;
}

/* Asynchronous writes under a lock come before its release, but not those that begin later. */
static void dafs_foreign_unlock_aio_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *file = foreign_file(test, mnt, "file", O_RDWR | O_DIRECT);
	struct foreign_aio *aio, *later;
	struct foreign_task *ft;

	KUNIT_ASSERT_EQ(test, 0, foreign_lock_all(file, F_WRLCK, 0));
	f->keeps = DAFS_PROC_WRITE_INLINE;
	aio = foreign_aio(test, file, true);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	ft = foreign_task(f, mnt, file, foreign_unlock);
	KUNIT_EXPECT_TRUE(test, foreign_task_waits(ft));
	f->refusal = DAFSERR_DELAY;
	f->refuses = DAFS_PROC_WRITE_INLINE;
	later = foreign_aio(test, file, true);
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&f->refused, 1));
	KUNIT_EXPECT_EQ(test, 0, f->unlocks);
	KUNIT_EXPECT_FALSE(test, completion_done(&ft->ended));
	foreign_release(f);
	KUNIT_EXPECT_TRUE(test, foreign_aio_ends(aio));
	KUNIT_EXPECT_EQ(test, FOREIGN_AIO, aio->ret);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	KUNIT_EXPECT_EQ(test, 0, ft->err);
	KUNIT_EXPECT_EQ(test, 1, f->unlocks);
	WRITE_ONCE(f->refuses, 0);
	KUNIT_EXPECT_TRUE(test, foreign_aio_ends(later));
	__fput_sync(file);
	KUNIT_EXPECT_TRUE(test, foreign_closed(f));
}

/* So do those of a process that is killed, and does not wait for them. */
static void dafs_foreign_exits_aio_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *file = foreign_file(test, mnt, "file", O_RDWR | O_DIRECT);
	struct foreign_aio *aio;
	struct foreign_task *ft;

	KUNIT_ASSERT_EQ(test, 0, foreign_lock_all(file, F_WRLCK, 0));
	f->keeps = DAFS_PROC_WRITE_INLINE;
	aio = foreign_aio(test, file, true);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	ft = foreign_task(f, mnt, file, foreign_unlock_exiting);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	/* the background would have unlocked by now */
	msleep(500);
	KUNIT_EXPECT_EQ(test, 0, f->unlocks);
	foreign_release(f);
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&f->unlocks, 1));
	KUNIT_EXPECT_TRUE(test, foreign_aio_ends(aio));
	KUNIT_EXPECT_EQ(test, FOREIGN_AIO, aio->ret);
	__fput_sync(file);
	KUNIT_EXPECT_TRUE(test, foreign_closed(f));
}

/*
 * An exiting task that waits for its asynchronous I/O cannot be killed, but
 * umount -f ends the I/O, even if other mounts use the session.
 */
static void dafs_foreign_forced_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct dafs_client *clnt = DAFS_SB(mnt->mnt_sb)->clnt;
	struct file *file = foreign_file(test, mnt, "file", O_RDONLY | O_DIRECT);
	struct foreign_aio *aio;

	foreign_refuse_reads(f);
	aio = foreign_aio(test, file, false);
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&f->refused, 1));
	dafs_client_get(clnt);
	mnt->mnt_sb->s_op->umount_begin(mnt->mnt_sb);
	KUNIT_EXPECT_TRUE(test, foreign_aio_ends(aio));
	f->refuses = 0;
	KUNIT_EXPECT_TRUE(test, foreign_aio_ends(aio));
	KUNIT_EXPECT_EQ(test, -EIO, aio->ret);
	aio = foreign_aio(test, file, false);
	KUNIT_EXPECT_TRUE(test, foreign_aio_ends(aio));
	KUNIT_EXPECT_EQ(test, FOREIGN_AIO, aio->ret);

	foreign_refuse_reads(f);
	f->refused = 0;
	aio = foreign_aio(test, file, false);
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&f->refused, 1));
	dafs_client_put(clnt);
	mnt->mnt_sb->s_op->umount_begin(mnt->mnt_sb);
	KUNIT_EXPECT_TRUE(test, foreign_aio_ends(aio));
	KUNIT_EXPECT_EQ(test, -EIO, aio->ret);
	__fput_sync(file);
}

/**
 * struct foreign_sleeper - a work item that waits
 * @work: the work item
 * @wake: it waits for this
 */
struct foreign_sleeper {
	struct work_struct work;
	struct completion *wake;
};

static void foreign_sleeper_work(struct work_struct *work)
{
	wait_for_completion(container_of(work, struct foreign_sleeper, work)->wake);
}

/* COMMITs that wait for a server do not delay the completion of I/O. */
static void dafs_foreign_ends_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct workqueue_struct *wq = DAFS_SB(mnt->mnt_sb)->clnt->commit_wq;
	struct file *file = foreign_file(test, mnt, "file", O_RDWR);
	struct file *direct = foreign_file(test, mnt, "file", O_RDWR | O_DIRECT);
	struct foreign_sleeper *sleepers = kunit_kcalloc(test, FOREIGN_CROWD, sizeof(*sleepers),
							 GFP_KERNEL);
	DECLARE_COMPLETION_ONSTACK(wake);
	struct foreign_aio *aio;
	unsigned int i;
	loff_t pos = 0;
	u8 *buf = kunit_kzalloc(test, FOREIGN_SIZE, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, sleepers);
	KUNIT_ASSERT_NOT_NULL(test, buf);
	/* with cached data a write does not complete in softirq */
	KUNIT_EXPECT_EQ(test, FOREIGN_SIZE, kernel_read(file, buf, FOREIGN_SIZE, &pos));
	for (i = 0; i < FOREIGN_CROWD; i++) {
		sleepers[i].wake = &wake;
		INIT_WORK(&sleepers[i].work, foreign_sleeper_work);
		queue_work(wq, &sleepers[i].work);
	}
	aio = foreign_aio(test, direct, true);
	KUNIT_EXPECT_TRUE(test, foreign_aio_ends(aio));
	complete_all(&wake);
	for (i = 0; i < FOREIGN_CROWD; i++)
		flush_work(&sleepers[i].work);
	KUNIT_EXPECT_TRUE(test, foreign_aio_ends(aio));
	KUNIT_EXPECT_EQ(test, FOREIGN_AIO, aio->ret);
	__fput_sync(direct);
	__fput_sync(file);
}

/* Dirty data may belong to another mount, so umount -f of one does not drop it. */
static void dafs_foreign_forced_dirty_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct dafs_client *clnt = DAFS_SB(mnt->mnt_sb)->clnt;
	struct file *file = foreign_file(test, mnt, "file", O_RDWR);

	f->refusal = DAFSERR_DELAY;
	f->refuses = DAFS_PROC_WRITE_INLINE;
	foreign_make_dirty(test, file);
	KUNIT_EXPECT_EQ(test, 0, filemap_fdatawrite(file->f_mapping));
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&f->refused, 1));
	dafs_client_get(clnt);
	mnt->mnt_sb->s_op->umount_begin(mnt->mnt_sb);
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&f->refused, f->refused + 2));
	f->refuses = 0;
	KUNIT_EXPECT_EQ(test, 0, vfs_fsync(file, 0));
	KUNIT_EXPECT_MEMEQ(test, "0123456789", f->data, 10);
	dafs_client_put(clnt);
	__fput_sync(file);
}

/**
 * struct foreign_step - a procedure that closing a written file needs
 * @name: for the report
 * @proc: the procedure
 */
struct foreign_step {
	const char *name;
	u32 proc;
};

static const struct foreign_step foreign_steps[] = {
	{ "COMMIT", DAFS_PROC_COMMIT },
	{ "GETATTR", DAFS_PROC_GETATTR_INLINE },
	{ "CLOSE", DAFS_PROC_CLOSE },
};

KUNIT_ARRAY_PARAM_DESC(foreign_steps, foreign_steps, name);

/* Like an exiting task: signals do not interrupt its waits. */
static int foreign_exit(struct foreign_task *ft)
{
	int err;

	current->flags |= PF_EXITING;
	err = ft->file->f_op->flush(ft->file, NULL);
	__fput_sync(ft->file);
	current->flags &= ~PF_EXITING;
	return err;
}

/* An exiting task does not wait for a server that answers DELAY for ever. */
static void dafs_foreign_exits_test(struct kunit *test)
{
	const struct foreign_step *step = test->param_value;
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *file = foreign_file(test, mnt, "file", O_RDWR);
	struct foreign_task *ft;

	f->unstable = true;
	foreign_store(test, file, 0, 's');
	f->refusal = DAFSERR_DELAY;
	f->refuses = step->proc;
	ft = foreign_task(f, mnt, file, foreign_exit);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	KUNIT_EXPECT_GE(test, f->refused, 1);
	f->refuses = 0;
	KUNIT_EXPECT_TRUE(test, foreign_closed(f));
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	KUNIT_EXPECT_EQ(test, 0, ft->err);
}

/* Nor for a server that goes away meanwhile. */
static void dafs_foreign_exits_lost_test(struct kunit *test)
{
	const struct foreign_step *step = test->param_value;
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *file = foreign_file(test, mnt, "file", O_RDWR);
	struct foreign_task *ft;

	f->unstable = true;
	foreign_store(test, file, 0, 's');
	f->hangs_up = step->proc;
	ft = foreign_task(f, mnt, file, foreign_exit);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	f->srv->refuse = false;
	KUNIT_EXPECT_TRUE(test, foreign_closed(f));
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	KUNIT_EXPECT_EQ(test, 0, ft->err);
}

static int foreign_look(struct foreign_task *ft)
{
	struct kstat stat = {};

	return vfs_getattr(&ft->file->f_path, &stat, STATX_SIZE, AT_STATX_FORCE_SYNC);
}

/* Data whose write-back it could not start is written before the open is closed. */
static void dafs_foreign_exits_unwritten_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct dafs_client *clnt = DAFS_SB(mnt->mnt_sb)->clnt;
	struct file *other = foreign_file(test, mnt, "file", O_RDONLY);
	struct file *file = foreign_file(test, mnt, "file", O_RDWR);
	struct inode *inode = file_inode(file);
	struct foreign_task *looks, *ft;

	foreign_make_dirty(test, file);
	f->hangs_up = DAFS_PROC_GETATTR_INLINE;
	looks = foreign_task(f, mnt, other, foreign_look);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	KUNIT_EXPECT_TRUE(test, foreign_lost(clnt));
	/* as when data is sent again */
	mutex_lock(&netfs_inode(inode)->wb_lock);
	ft = foreign_task(f, mnt, file, foreign_exit);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	mutex_unlock(&netfs_inode(inode)->wb_lock);
	f->srv->refuse = false;
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(looks));
	KUNIT_EXPECT_TRUE(test, foreign_queue_works(clnt->end_wq));
	KUNIT_EXPECT_EQ(test, 0, f->closes);
	KUNIT_EXPECT_EQ(test, 0, filemap_fdatawrite(inode->i_mapping));
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&f->closes, 1));
	KUNIT_EXPECT_MEMEQ(test, "0123456789", f->data, 10);
	__fput_sync(other);
}

/* However many files of an open are left so, one work item waits for their data. */
static void dafs_foreign_exits_often_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct dafs_open_state *os;
	struct file *files[3];
	struct foreign_task *ft;
	unsigned int n, users;

	f->unstable = true;
	for (n = 0; n < ARRAY_SIZE(files); n++)
		files[n] = foreign_file(test, mnt, "file", O_RDWR);
	os = files[0]->private_data;
	for (n = 0; n < ARRAY_SIZE(files); n++)
		foreign_store(test, files[n], n, 't');
	f->refusal = DAFSERR_DELAY;
	f->refuses = DAFS_PROC_COMMIT;
	users = refcount_read(&os->ref);
	for (n = 0; n < ARRAY_SIZE(files); n++) {
		KUNIT_EXPECT_PTR_EQ(test, os, (struct dafs_open_state *)files[n]->private_data);
		ft = foreign_task(f, mnt, files[n], foreign_exit);
		KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	}
	KUNIT_EXPECT_EQ(test, users - 2, refcount_read(&os->ref));
	/* it looks again after a second */
	msleep(1500);
	KUNIT_EXPECT_EQ(test, 0, f->closes);
	f->refuses = 0;
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&f->closes, 1));
	KUNIT_EXPECT_MEMEQ(test, "ttt", f->data, 3);
}

/* A work item that looks at a file does not hold up umount when the server is away. */
static void dafs_foreign_leave_looking_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct dafs_sb_info *sbi = DAFS_SB(mnt->mnt_sb);
	struct file *file = foreign_file(test, mnt, "file", O_RDWR);
	struct foreign_task *ft;

	f->hangs_up = DAFS_PROC_GETATTR_INLINE;
	ft = foreign_task(f, mnt, file, foreign_look);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	KUNIT_EXPECT_TRUE(test, foreign_lost(sbi->clnt));
	WRITE_ONCE(sbi->leaving, true);
	dafs_client_look_again(sbi->clnt);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	KUNIT_EXPECT_GT(test, 0, ft->err);
	WRITE_ONCE(sbi->leaving, false);
	f->srv->refuse = false;
	__fput_sync(file);
	KUNIT_EXPECT_TRUE(test, foreign_closed(f));
}

static int foreign_sync(struct foreign_task *ft)
{
	return vfs_fsync(ft->file, 0);
}

/* Nor for another task that waits for a server. */
static void dafs_foreign_exits_behind_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *file = foreign_file(test, mnt, "file", O_RDWR);
	struct file *other = foreign_file(test, mnt, "file", O_RDWR);
	struct foreign_task *first, *ft;

	f->unstable = true;
	foreign_store(test, file, 0, 's');
	f->keeps = DAFS_PROC_COMMIT;
	first = foreign_task(f, mnt, file, foreign_sync);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	ft = foreign_task(f, mnt, other, foreign_exit);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	foreign_release(f);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(first));
	KUNIT_EXPECT_EQ(test, 0, first->err);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	__fput_sync(file);
	KUNIT_EXPECT_TRUE(test, foreign_closed(f));
}

static int foreign_unmount_exiting(struct foreign_task *ft)
{
	current->flags |= PF_EXITING;
	kern_unmount(ft->mnt);
	current->flags &= ~PF_EXITING;
	return 0;
}

/* Umount by the last task of a namespace waits: nothing would write the data afterwards. */
static void dafs_foreign_exits_unmounting_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *file = foreign_file(test, mnt, "file", O_RDWR);
	struct foreign_task *ft;

	f->unstable = true;
	foreign_store(test, file, 0, 's');
	f->refusal = DAFSERR_DELAY;
	f->refuses = DAFS_PROC_COMMIT;
	ft = foreign_task(f, mnt, file, foreign_exit);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	/* a server that restarts and loses the data */
	f->data[0] = 0;
	get_random_bytes(&f->verifier, sizeof(f->verifier));
	kunit_remove_action(test, foreign_unmount, mnt);
	ft = foreign_task(f, mnt, NULL, foreign_unmount_exiting);
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&f->refused, f->refused + 2));
	f->refuses = 0;
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	KUNIT_EXPECT_EQ(test, 's', f->data[0]);
}

/* Like a program: writes in parts, and waits for each. */
static int foreign_write_parts(struct foreign_task *ft)
{
	struct iov_iter iter;
	struct kiocb iocb;
	int ret;

	kthread_use_mm(ft->f->mm);
	init_sync_kiocb(&iocb, ft->file);
	iov_iter_ubuf(&iter, ITER_SOURCE, (void __user *)ft->f->user, 2 * PAGE_SIZE);
	ret = ft->file->f_op->write_iter(&iocb, &iter);
	kthread_unuse_mm(ft->f->mm);
	return ret;
}

/* Umount does not wait for the writes of a killed task either. */
static void dafs_foreign_unwritten_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *file = foreign_file(test, mnt, "file", O_RDWR | O_DIRECT);
	struct foreign_task *ft;

	DAFS_SB(mnt->mnt_sb)->opts.wsize = PAGE_SIZE;
	f->user = kunit_vm_mmap(test, NULL, 0, 2 * PAGE_SIZE, PROT_READ | PROT_WRITE,
				MAP_ANONYMOUS | MAP_PRIVATE, 0);
	KUNIT_ASSERT_NE(test, 0, f->user);
	f->mm = current->mm;
	f->refusal = DAFSERR_DELAY;
	f->refuses = DAFS_PROC_WRITE_INLINE;
	ft = foreign_task(f, mnt, file, foreign_write_parts);
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&f->refused, 2));
	KUNIT_EXPECT_TRUE(test, foreign_kill(ft));
	KUNIT_EXPECT_EQ(test, -ERESTARTSYS, ft->err);
	__fput_sync(file);
	kunit_remove_action(test, foreign_unmount, mnt);
	ft = foreign_task(f, mnt, NULL, foreign_unmount_by);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	/* kunit_vm_mmap() attached it, and detaches it only when the task ends, which leaks it */
	kthread_unuse_mm(f->mm);
	mmput(f->mm);
}

static struct kunit_case dafs_foreign_leave_cases[] = {
	KUNIT_CASE(dafs_foreign_gone_test),
	KUNIT_CASE(dafs_foreign_unknown_test),
	KUNIT_CASE_PARAM(dafs_foreign_unread_test, foreign_refusals_gen_params),
	KUNIT_CASE_PARAM(dafs_foreign_forced_test, foreign_refusals_gen_params),
	KUNIT_CASE(dafs_foreign_forced_dirty_test),
	KUNIT_CASE(dafs_foreign_ends_test),
	KUNIT_CASE_PARAM(dafs_foreign_exits_test, foreign_steps_gen_params),
	KUNIT_CASE_PARAM(dafs_foreign_exits_lost_test, foreign_steps_gen_params),
	KUNIT_CASE(dafs_foreign_exits_unwritten_test),
	KUNIT_CASE(dafs_foreign_exits_often_test),
	KUNIT_CASE(dafs_foreign_leave_looking_test),
	KUNIT_CASE(dafs_foreign_exits_behind_test),
	KUNIT_CASE(dafs_foreign_exits_unmounting_test),
	KUNIT_CASE(dafs_foreign_unlock_aio_test),
	KUNIT_CASE(dafs_foreign_exits_aio_test),
	KUNIT_CASE(dafs_foreign_unwritten_test),
	{}
};

static struct kunit_suite dafs_foreign_leave_suite = {
	.name = "dafs_foreign_leave",
	.test_cases = dafs_foreign_leave_cases,
};

kunit_test_suite(dafs_foreign_leave_suite);
