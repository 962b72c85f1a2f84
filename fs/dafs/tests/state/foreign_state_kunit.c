// SPDX-License-Identifier: GPL-2.0
/* Reclaims and CLOSEs at a server that forgets opens, answers DELAY or goes away. */
#include <linux/delay.h>
#include <linux/file.h>
#include <linux/filelock.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include "../lib/foreign.h"
#include "../../vfs/vfs.h"

/* A server that restarts, and once more as soon as the opens are reclaimed. */
static void dafs_foreign_forgets_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *file = foreign_file(test, mnt, "file", O_WRONLY | O_APPEND);
	loff_t pos = 0;

	f->forgets = FOREIGN_FORGETS;
	KUNIT_EXPECT_EQ(test, 0, vfs_truncate(&file->f_path, FOREIGN_SIZE));
	KUNIT_EXPECT_EQ(test, 0, f->forgets);
	KUNIT_EXPECT_EQ(test, 1 + FOREIGN_FORGETS, f->opens);
	f->forgets = FOREIGN_FORGETS;
	KUNIT_EXPECT_EQ(test, 10, kernel_write(file, f->data, 10, &pos));
	KUNIT_EXPECT_EQ(test, 0, f->forgets);
	KUNIT_EXPECT_EQ(test, 1 + 2 * FOREIGN_FORGETS, f->opens);
	KUNIT_EXPECT_EQ(test, 0, f->strangers);
	__fput_sync(file);
}

/* Waits until the client has the latest state-id of the server. */
static bool foreign_agreed(const struct foreign *f, struct dafs_open_state *os)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	struct dafs_state_id state_id;

	do {
		msleep(20);
		dafs_open_state_id(os, &state_id);
	} while (!dafs_opaque64_equal(&state_id, &f->state_id) && time_before(jiffies, end));
	return dafs_opaque64_equal(&state_id, &f->state_id);
}

/*
 * A task that is killed while it waits for a reclaim does not disturb the reclaim
 * for other users of the open.
 */
static void dafs_foreign_killed_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *file = foreign_file(test, mnt, "file", O_RDWR);
	struct foreign_task *ft;
	loff_t pos = 0;

	f->forgets = 1;
	f->keeps = DAFS_PROC_OPEN;
	ft = foreign_task(f, mnt, file, foreign_truncate);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	KUNIT_EXPECT_TRUE(test, foreign_kill(ft));
	KUNIT_EXPECT_NE(test, 0, ft->err);
	foreign_release(f);
	KUNIT_EXPECT_TRUE(test, foreign_agreed(f, file->private_data));
	KUNIT_EXPECT_EQ(test, 10, kernel_write(file, f->data, 10, &pos));
	KUNIT_EXPECT_EQ(test, 0, vfs_fsync(file, 0));
	KUNIT_EXPECT_EQ(test, 2, f->opens);
	KUNIT_EXPECT_EQ(test, 0, f->strangers);
	__fput_sync(file);
	KUNIT_EXPECT_TRUE(test, foreign_closed(f));
}

static int foreign_close_file(struct foreign_task *ft)
{
	__fput_sync(ft->file);
	return 0;
}

/* The last user does not wait for a reclaim, which then closes what it has opened. */
static void dafs_foreign_closed_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *file = foreign_file(test, mnt, "file", O_RDWR);
	struct foreign_task *ft;

	f->forgets = 1;
	f->keeps = DAFS_PROC_OPEN;
	ft = foreign_task(f, mnt, file, foreign_truncate);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	KUNIT_EXPECT_TRUE(test, foreign_kill(ft));
	ft = foreign_task(f, mnt, file, foreign_close_file);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	KUNIT_EXPECT_NE(test, 0, f->access);
	foreign_release(f);
	KUNIT_EXPECT_TRUE(test, foreign_closed(f));
	KUNIT_EXPECT_EQ(test, 2, f->opens);
	KUNIT_EXPECT_EQ(test, 0, f->strangers);
}

/**
 * struct foreign_reads - reads without a task
 * @left: number of reads that have not ended
 * @ended: completed when none is left
 * @err: errno of the last failed read
 * @io: the reads
 * @kvec: memory of all reads
 * @data: the memory
 */
struct foreign_reads {
	atomic_t left;
	struct completion ended;
	int err;
	struct dafs_io io[FOREIGN_CROWD];
	struct kvec kvec;
	u8 data[FOREIGN_SIZE];
};

static void foreign_read_ended(struct dafs_io *io, int err)
{
	struct foreign_reads *reads = io->priv;

	if (err)
		reads->err = err;
	if (atomic_dec_and_test(&reads->left))
		complete_all(&reads->ended);
}

static void foreign_reads_free(void *reads)
{
	kvfree(reads);
}

static bool foreign_reads_end(struct foreign_reads *reads)
{
	return wait_for_completion_timeout(&reads->ended, msecs_to_jiffies(RAW_WAIT_MS));
}

/* Starts @nr reads of @len bytes, each with a different open, or without if @opens is NULL. */
static struct foreign_reads *foreign_read_by(struct kunit *test, struct inode *inode,
					     struct dafs_open_state **opens, unsigned int nr,
					     size_t len)
{
	struct foreign_reads *reads = kvzalloc(sizeof(*reads), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, reads);
	reads->kvec = (struct kvec){ .iov_base = reads->data, .iov_len = len };
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, foreign_reads_free, reads));
	init_completion(&reads->ended);
	atomic_set(&reads->left, nr);
	for (i = 0; i < nr; i++) {
		struct dafs_io *io = &reads->io[i];

		io->sbi = DAFS_SB(inode->i_sb);
		io->di = DAFS_I(inode);
		io->open = opens ? opens[i] : NULL;
		io->cred = current_cred();
		io->len = len;
		iov_iter_kvec(&io->iter, ITER_DEST, &reads->kvec, 1, len);
		io->complete = foreign_read_ended;
		io->priv = reads;
		dafs_io_start(io);
	}
	return reads;
}

/* With one open, or none. */
static struct foreign_reads *foreign_read_many(struct kunit *test, struct file *file,
					       struct dafs_open_state *open, unsigned int nr,
					       size_t len)
{
	struct dafs_open_state **opens = NULL;

	if (open) {
		opens = kunit_kmalloc_array(test, nr, sizeof(*opens), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, opens);
		memset_p((void **)opens, open, nr);
	}
	return foreign_read_by(test, file_inode(file), opens, nr, len);
}

/* All users of an open wait for a single reclaim; I/O without the open is not delayed. */
static void dafs_foreign_crowd_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *file = foreign_file(test, mnt, "file", O_RDONLY);
	struct foreign_reads *reads, *others;

	f->forgets = FOREIGN_CROWD;
	f->keeps = DAFS_PROC_OPEN;
	reads = foreign_read_many(test, file, file->private_data, FOREIGN_CROWD, 10);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	/* in several parts, so that a work item is needed between them */
	others = foreign_read_many(test, file, NULL, 1, FOREIGN_SIZE);
	KUNIT_EXPECT_TRUE(test, foreign_reads_end(others));
	KUNIT_EXPECT_EQ(test, 0, others->err);
	KUNIT_EXPECT_EQ(test, 0, f->forgets);
	KUNIT_EXPECT_EQ(test, FOREIGN_CROWD, atomic_read(&reads->left));
	foreign_release(f);
	KUNIT_EXPECT_TRUE(test, foreign_reads_end(reads));
	KUNIT_EXPECT_TRUE(test, foreign_reads_end(others));
	KUNIT_EXPECT_EQ(test, 0, reads->err);
	KUNIT_EXPECT_EQ(test, 2, f->opens);
	__fput_sync(file);
	KUNIT_EXPECT_TRUE(test, foreign_closed(f));
}

/* A reclaim returns the old state-id: the I/O is retried with it. */
static void dafs_foreign_same_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *file = foreign_file(test, mnt, "file", O_RDONLY);
	struct foreign_reads *reads;

	f->forgets = FOREIGN_FORGETS;
	f->same = true;
	reads = foreign_read_many(test, file, file->private_data, 1, 10);
	KUNIT_EXPECT_TRUE(test, foreign_reads_end(reads));
	KUNIT_EXPECT_EQ(test, 0, f->forgets);
	KUNIT_EXPECT_EQ(test, 1 + FOREIGN_FORGETS, f->opens);
	f->same = false;
	KUNIT_EXPECT_TRUE(test, foreign_reads_end(reads));
	KUNIT_EXPECT_EQ(test, 0, reads->err);
	__fput_sync(file);
}

/*
 * R-4.4.1.3-05: a server that has not restarted says STALE_STATEID where a lock is broken: to
 * reclaim the open is of no use, and would never end.
 */
static void dafs_foreign_broken_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *file = foreign_file(test, mnt, "file", O_RDONLY);
	struct foreign_reads *reads;

	f->refusal = DAFSERR_STALE_STATEID;
	f->refuses = DAFS_PROC_READ_INLINE;
	reads = foreign_read_many(test, file, file->private_data, 1, 10);
	KUNIT_EXPECT_TRUE(test, foreign_reads_end(reads));
	KUNIT_EXPECT_EQ(test, -EOWNERDEAD, reads->err);
	KUNIT_EXPECT_EQ(test, 1, f->refused);
	KUNIT_EXPECT_EQ(test, 1, f->opens);
	__fput_sync(file);
}

/**
 * struct foreign_opens - separate opens of one file
 * @os: the opens
 * @inode: the file; each open has a reference
 */
struct foreign_opens {
	struct dafs_open_state *os[FOREIGN_CROWD];
	struct inode *inode;
};

static struct foreign_opens *foreign_open_many(struct foreign *f, struct vfsmount *mnt)
{
	struct foreign_opens *opens = kunit_kzalloc(f->test, sizeof(*opens), GFP_KERNEL);
	const struct qstr name = QSTR_INIT("file", 4);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(f->test, opens);
	f->same = true;
	for (i = 0; i < FOREIGN_CROWD; i++) {
		opens->os[i] = dafs_open_state_named(d_inode(mnt->mnt_root), &name,
						     DAFS_OPEN_SHARE_ACCESS_READ,
						     current_cred(), &opens->inode);
		KUNIT_ASSERT_FALSE(f->test, IS_ERR(opens->os[i]));
	}
	return opens;
}

static void foreign_close_many(struct foreign_opens *opens)
{
	unsigned int i;

	for (i = 0; i < FOREIGN_CROWD; i++) {
		dafs_open_state_leave(opens->os[i], DAFS_OPEN_SHARE_ACCESS_READ);
		dafs_open_state_put(opens->os[i], true);
		if (i)
			iput(opens->inode);
	}
}

/*
 * Reclaims of many opens do not delay other work, however long the server answers DELAY
 * and however long it is away afterwards.
 */
static void dafs_foreign_patient_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct foreign_opens *opens = foreign_open_many(f, mnt);
	struct dafs_client *clnt = DAFS_SB(mnt->mnt_sb)->clnt;
	struct foreign_reads *reads, *others;

	f->refusal = DAFSERR_DELAY;
	f->refuses = DAFS_PROC_OPEN;
	f->forgets = FOREIGN_CROWD;
	reads = foreign_read_by(test, opens->inode, opens->os, FOREIGN_CROWD, 10);
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&f->refused, FOREIGN_CROWD));
	/* in several parts, so that a work item is needed between them */
	others = foreign_read_by(test, opens->inode, NULL, 1, FOREIGN_SIZE);
	KUNIT_EXPECT_TRUE(test, foreign_reads_end(others));
	KUNIT_EXPECT_EQ(test, 0, others->err);
	KUNIT_EXPECT_EQ(test, FOREIGN_CROWD, atomic_read(&reads->left));

	f->hangs_up = DAFS_PROC_OPEN;
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	KUNIT_EXPECT_TRUE(test, foreign_queue_works(clnt->retry_wq));
	f->refuses = 0;
	f->srv->refuse = false;
	KUNIT_EXPECT_TRUE(test, foreign_reads_end(reads));
	KUNIT_EXPECT_TRUE(test, foreign_reads_end(others));
	KUNIT_EXPECT_EQ(test, 0, reads->err);
	/* some may be executed twice, because the response was lost with the connection */
	KUNIT_EXPECT_GE(test, f->opens, 2 * FOREIGN_CROWD);
	foreign_close_many(opens);
	KUNIT_EXPECT_EQ(test, FOREIGN_CROWD, f->closes);
	iput(opens->inode);
}

/* Pending CLOSEs do not delay other work either while the server is away. */
static void dafs_foreign_left_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct foreign_opens *opens = foreign_open_many(f, mnt);
	struct dafs_client *clnt = DAFS_SB(mnt->mnt_sb)->clnt;
	struct foreign_reads *reads;

	f->hangs_up = DAFS_PROC_READ_INLINE;
	reads = foreign_read_by(test, opens->inode, NULL, 1, 10);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	KUNIT_EXPECT_TRUE(test, foreign_lost(clnt));
	foreign_close_many(opens);
	KUNIT_EXPECT_TRUE(test, foreign_queue_works(clnt->commit_wq));
	KUNIT_EXPECT_TRUE(test, foreign_queue_works(clnt->retry_wq));
	KUNIT_EXPECT_EQ(test, 0, f->closes);
	f->srv->refuse = false;
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&f->closes, FOREIGN_CROWD));
	KUNIT_EXPECT_TRUE(test, foreign_reads_end(reads));
	KUNIT_EXPECT_EQ(test, 0, reads->err);
	iput(opens->inode);
}

/*
 * A reclaimed open is closed even if the response to the reclaim is lost with the
 * connection and the last user closes the file before the next connection.
 */
static void dafs_foreign_unanswered_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *file = foreign_file(test, mnt, "file", O_RDWR);
	struct foreign_task *ft;

	f->forgets = 1;
	f->hangs_up = DAFS_PROC_OPEN;
	ft = foreign_task(f, mnt, file, foreign_truncate);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	KUNIT_EXPECT_TRUE(test, foreign_lost(DAFS_SB(mnt->mnt_sb)->clnt));
	KUNIT_EXPECT_TRUE(test, foreign_kill(ft));
	ft = foreign_task(f, mnt, file, foreign_close_file);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	KUNIT_EXPECT_NE(test, 0, f->access);
	f->srv->refuse = false;
	KUNIT_EXPECT_TRUE(test, foreign_closed(f));
	KUNIT_EXPECT_EQ(test, 3, f->opens);
}

/* The connection of an OPEN ends before its task is killed, or after that. */
static void foreign_lose_open(struct kunit *test, struct foreign *f, struct vfsmount *mnt,
			      bool before)
{
	struct foreign_task *ft;

	if (before)
		f->hangs_up = DAFS_PROC_OPEN;
	else
		f->keeps = DAFS_PROC_OPEN;
	ft = foreign_task(f, mnt, NULL, foreign_open_file);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	KUNIT_EXPECT_TRUE(test, foreign_kill(ft));
	KUNIT_EXPECT_NE(test, 0, ft->err);
	KUNIT_EXPECT_NE(test, 0, f->access);
	if (before)
		f->srv->refuse = false;
	else
		raw_hang_up(f->from);
}

/* An open whose response is lost is closed, too, after so many OPENs. */
static void foreign_close_lost(struct kunit *test, enum foreign_tells tells, unsigned int opens)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	unsigned int turn;

	f->tells = tells;
	for (turn = 1; turn <= 2; turn++) {
		foreign_lose_open(test, f, mnt, turn == 1);
		KUNIT_EXPECT_TRUE(test, foreign_closed(f));
		KUNIT_EXPECT_EQ(test, turn, f->asked);
		KUNIT_EXPECT_EQ(test, opens * turn, f->opens);
		KUNIT_EXPECT_EQ(test, turn, f->closes);
	}
	KUNIT_EXPECT_EQ(test, 0, f->strangers);
}

/* If the server cannot tell what became of an OPEN, the file is opened again. */
static void dafs_foreign_lost_test(struct kunit *test)
{
	foreign_close_lost(test, FOREIGN_TELLS_NOTHING, 2);
}

/* R-5.3-04: if the server knows what became of it, that open is closed. */
static void dafs_foreign_lost_known_test(struct kunit *test)
{
	foreign_close_lost(test, FOREIGN_TELLS_EXECUTED, 1);
}

/* R-5.3-04: what was not executed is left at that. */
static void dafs_foreign_lost_unsent_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	unsigned int turn;

	f->tells = FOREIGN_TELLS_LOST;
	for (turn = 1; turn <= 2; turn++) {
		foreign_lose_open(test, f, mnt, turn == 1);
		KUNIT_EXPECT_TRUE(test, foreign_reaches(&f->asked, turn));
		flush_workqueue(DAFS_SB(mnt->mnt_sb)->clnt->commit_wq);
		KUNIT_EXPECT_EQ(test, turn, f->asked);
		KUNIT_EXPECT_EQ(test, turn, f->opens);
		KUNIT_EXPECT_EQ(test, 0, f->closes);
	}
}

/* For reading */
static void foreign_lock(struct kunit *test, struct file *file)
{
	KUNIT_ASSERT_EQ(test, 0, foreign_lock_all(file, F_RDLCK, 0));
}

/*
 * The server does not know an open of a file; whether it knows the other one, by
 * which the file is locked, is asked before I/O by the first goes on.
 */
static void dafs_foreign_suspect_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *locker = foreign_file(test, mnt, "file", O_RDWR);
	struct file *reader = foreign_file(test, mnt, "file", O_RDONLY);
	struct foreign_task *ft;

	foreign_lock(test, locker);
	f->forgets = 1;
	f->keeps = DAFS_PROC_LOCK;
	ft = foreign_task(f, mnt, reader, foreign_read_ten);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	KUNIT_EXPECT_EQ(test, 0, f->forgets);
	foreign_deny(f);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	KUNIT_EXPECT_EQ(test, -EIO, ft->err);
	__fput_sync(reader);
	__fput_sync(locker);
}

/**
 * struct foreign_returns - stands for all the work items that the queue of locks has room for
 * @work: one, while the queue executes one at a time
 * @end: completed when it may end
 */
struct foreign_returns {
	struct work_struct work;
	struct completion end;
};

static void foreign_returns_work(struct work_struct *work)
{
	wait_for_completion(&container_of(work, struct foreign_returns, work)->end);
}

/*
 * It is asked although delegations fill the queue in which they are returned: they may wait for
 * I/O, which waits for that.
 */
static void dafs_foreign_suspect_crowd_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct workqueue_struct *wq = DAFS_SB(mnt->mnt_sb)->clnt->lock_wq;
	struct file *locker = foreign_file(test, mnt, "file", O_RDWR);
	struct file *reader = foreign_file(test, mnt, "file", O_RDONLY);
	struct foreign_returns returns;
	struct foreign_task *ft;

	foreign_lock(test, locker);
	workqueue_set_max_active(wq, 1);
	init_completion(&returns.end);
	INIT_WORK_ONSTACK(&returns.work, foreign_returns_work);
	queue_work(wq, &returns.work);
	f->forgets = 1;
	ft = foreign_task(f, mnt, reader, foreign_read_ten);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	KUNIT_EXPECT_EQ(test, 0, f->forgets);
	KUNIT_EXPECT_EQ(test, 2, f->locks);
	/* also after a failure */
	complete(&returns.end);
	workqueue_set_max_active(wq, WQ_DFL_ACTIVE);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	KUNIT_EXPECT_EQ(test, 10, ft->err);
	flush_work(&returns.work);
	destroy_work_on_stack(&returns.work);
	__fput_sync(reader);
	__fput_sync(locker);
}

/*
 * The server has restarted, and does not answer the reclaim of a lock for longer than the client
 * waits before it goes on: I/O by an open that was reclaimed, and has locked nothing, waits for
 * that all the same.
 */
static void dafs_foreign_slow_lock_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *locker = foreign_file(test, mnt, "file", O_RDWR);
	struct file *reader = foreign_file(test, mnt, "file", O_RDONLY);
	struct foreign_reads *reads;
	struct foreign_task *ft, *stat;

	foreign_lock(test, locker);
	f->hangs_up = DAFS_PROC_READ_INLINE;
	reads = foreign_read_many(test, reader, reader->private_data, 1, 10);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	KUNIT_EXPECT_TRUE(test, foreign_lost(DAFS_SB(mnt->mnt_sb)->clnt));
	get_random_bytes(&f->srv->client_id, sizeof(f->srv->client_id));
	f->keeps = DAFS_PROC_LOCK;
	f->srv->refuse = false;
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	KUNIT_EXPECT_EQ(test, 4, f->opens);
	/* others go on, and would have read by now */
	stat = foreign_task(f, mnt, NULL, foreign_stat_root);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(stat));
	KUNIT_EXPECT_EQ(test, 0, stat->err);
	ft = foreign_task(f, mnt, reader, foreign_read_ten);
	msleep(500);
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&reads->left));
	KUNIT_EXPECT_FALSE(test, completion_done(&ft->ended));
	foreign_deny(f);
	KUNIT_EXPECT_TRUE(test, foreign_reads_end(reads));
	KUNIT_EXPECT_EQ(test, -EIO, reads->err);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	KUNIT_EXPECT_EQ(test, -EIO, ft->err);
	__fput_sync(reader);
	__fput_sync(locker);
}

/* So does a new size, by no open: the request that was under way is not sent again before. */
static void dafs_foreign_slow_lock_truncate_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *locker = foreign_file(test, mnt, "file", O_RDONLY);
	struct foreign_task *ft, *stat;

	foreign_lock(test, locker);
	f->hangs_up = DAFS_PROC_SETATTR_INLINE;
	ft = foreign_task(f, mnt, locker, foreign_truncate);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	KUNIT_EXPECT_TRUE(test, foreign_lost(DAFS_SB(mnt->mnt_sb)->clnt));
	get_random_bytes(&f->srv->client_id, sizeof(f->srv->client_id));
	f->keeps = DAFS_PROC_LOCK;
	f->srv->refuse = false;
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	/* others go on, and it would have been sent by now */
	stat = foreign_task(f, mnt, NULL, foreign_stat_root);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(stat));
	KUNIT_EXPECT_EQ(test, 0, stat->err);
	msleep(500);
	KUNIT_EXPECT_FALSE(test, completion_done(&ft->ended));
	foreign_deny(f);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	KUNIT_EXPECT_EQ(test, -EIO, ft->err);
	__fput_sync(locker);
}

/* And by an open that the server did not know, until it has told whether it has the locks. */
static void dafs_foreign_suspect_truncate_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *locker = foreign_file(test, mnt, "file", O_RDONLY);
	struct file *writer = foreign_file(test, mnt, "file", O_RDWR);
	struct foreign_task *ft;

	foreign_lock(test, locker);
	f->forgets = 1;
	f->keeps = DAFS_PROC_LOCK;
	ft = foreign_task(f, mnt, writer, foreign_truncate);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	msleep(500);
	KUNIT_EXPECT_FALSE(test, completion_done(&ft->ended));
	foreign_release(f);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	KUNIT_EXPECT_EQ(test, 0, ft->err);
	__fput_sync(writer);
	__fput_sync(locker);
}

static int foreign_lock_waiting(struct foreign_task *ft)
{
	return foreign_lock_all(ft->file, F_RDLCK, FL_SLEEP);
}

static int foreign_lock_once(struct foreign_task *ft)
{
	return foreign_lock_all(ft->file, F_RDLCK, 0);
}

/* Without pauses there would be hundreds. */
static void foreign_expect_patience(struct kunit *test, const struct foreign *f)
{
	unsigned int before = READ_ONCE(f->locks);

	msleep(2000);
	KUNIT_EXPECT_LT(test, READ_ONCE(f->locks) - before, 50);
}

/*
 * R-4.4.1.2-10: a server that says that a lock is free, and then denies it, is asked over and over,
 * but with pauses.
 */
static void dafs_foreign_tease_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *file = foreign_file(test, mnt, "file", O_RDWR);
	struct foreign_task *ft;

	f->teases = true;
	ft = foreign_task(f, mnt, file, foreign_lock_waiting);
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&f->locks, 4));
	foreign_expect_patience(test, f);
	KUNIT_EXPECT_TRUE(test, foreign_kill(ft));
	KUNIT_EXPECT_EQ(test, -ERESTARTSYS, ft->err);
	ft = foreign_task(f, mnt, file, foreign_lock_waiting);
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&f->locks, f->locks + 4));
	WRITE_ONCE(f->teases, false);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	KUNIT_EXPECT_EQ(test, 0, ft->err);
	__fput_sync(file);
	KUNIT_EXPECT_TRUE(test, foreign_closed(f));
}

/* So is one that grants locks while the open that they are set by is reclaimed for long. */
static void dafs_foreign_lock_anew_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *file = foreign_file(test, mnt, "file", O_RDONLY);
	struct foreign_reads *reads;
	struct foreign_task *ft;

	f->refusal = DAFSERR_DELAY;
	f->refuses = DAFS_PROC_OPEN;
	f->forgets = 1;
	reads = foreign_read_many(test, file, file->private_data, 1, 10);
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&f->refused, 1));
	ft = foreign_task(f, mnt, file, foreign_lock_once);
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&f->locks, 4));
	foreign_expect_patience(test, f);
	KUNIT_EXPECT_TRUE(test, foreign_kill(ft));
	KUNIT_EXPECT_EQ(test, -ERESTARTSYS, ft->err);
	ft = foreign_task(f, mnt, file, foreign_lock_once);
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&f->locks, f->locks + 2));
	WRITE_ONCE(f->refuses, 0);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	KUNIT_EXPECT_EQ(test, 0, ft->err);
	KUNIT_EXPECT_TRUE(test, foreign_reads_end(reads));
	KUNIT_EXPECT_EQ(test, 0, reads->err);
	__fput_sync(file);
	KUNIT_EXPECT_TRUE(test, foreign_closed(f));
}

/* A soft mount does not wait for a server that is away, but closes its files when that is back. */
static void dafs_foreign_soft_close_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct dafs_client *clnt = DAFS_SB(mnt->mnt_sb)->clnt;
	struct file *file = foreign_file(test, mnt, "file", O_RDONLY);

	WRITE_ONCE(clnt->params.retrans, 0);
	WRITE_ONCE(clnt->params.soft, true);
	f->srv->refuse = true;
	raw_hang_up(raw_accepted(f->srv, 0));
	KUNIT_ASSERT_TRUE(test, foreign_lost(clnt));
	__fput_sync(file);
	KUNIT_EXPECT_EQ(test, 0, f->closes);
	f->srv->refuse = false;
	KUNIT_EXPECT_TRUE(test, foreign_closed(f));
}

/* R-4.4.1.2-20: a server in its grace period is asked again after pauses, which become longer. */
static void dafs_foreign_grace_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct foreign_task *ft;

	f->refusal = DAFSERR_GRACE;
	f->refuses = DAFS_PROC_OPEN;
	ft = foreign_task(f, mnt, NULL, foreign_open_file);
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&f->refused, 1));
	msleep(6000);
	KUNIT_EXPECT_LT(test, READ_ONCE(f->refused), 10);
	KUNIT_EXPECT_FALSE(test, completion_done(&ft->ended));
	WRITE_ONCE(f->refuses, 0);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	KUNIT_EXPECT_EQ(test, 0, ft->err);
	KUNIT_EXPECT_TRUE(test, foreign_closed(f));
}

static int foreign_test_lock(struct foreign_task *ft)
{
	struct file_lock fl;

	locks_init_lock(&fl);
	fl.c.flc_file = ft->file;
	fl.c.flc_owner = ft->file;
	fl.c.flc_flags = FL_POSIX | FL_OFDLCK;
	fl.c.flc_type = F_WRLCK;
	return vfs_test_lock(ft->file, &fl);
}

/* The response to a LOCK of @fn says that the open is not known, and OPEN is answered DELAY. */
static void foreign_expect_shared(struct foreign *f, struct vfsmount *mnt, struct file *file,
				  int (*fn)(struct foreign_task *ft))
{
	struct kunit *test = f->test;
	struct foreign_task *ft, *other;

	f->keeps = DAFS_PROC_LOCK;
	ft = foreign_task(f, mnt, file, fn);
	KUNIT_ASSERT_TRUE(test, foreign_has_come(f));
	f->refusal = DAFSERR_DELAY;
	f->refuses = DAFS_PROC_OPEN;
	f->kept_status = DAFSERR_BAD_STATEID;
	foreign_release(f);
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&f->refused, 1));
	other = foreign_task(f, mnt, file, foreign_test_lock);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(other));
	KUNIT_EXPECT_FALSE(test, completion_done(&ft->ended));
	WRITE_ONCE(f->refuses, 0);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	KUNIT_EXPECT_EQ(test, 0, ft->err);
	__fput_sync(file);
	KUNIT_EXPECT_TRUE(test, foreign_closed(f));
}

/*
 * The server does not know the open by which a lock is set, and wants time before it gives that
 * back: other tasks do not wait for the one that wants the lock.
 */
static void dafs_foreign_lock_delay_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *file = foreign_file(test, mnt, "file", O_RDONLY);

	foreign_expect_shared(f, mnt, file, foreign_lock_once);
}

static int foreign_abort(struct foreign_task *ft)
{
	return dafs_file_abort(ft->file);
}

/* As dafs_foreign_lock_delay_test(), but it is ABORT that finds that the open is not known. */
static void dafs_foreign_abort_delay_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *file = foreign_file(test, mnt, "file", O_RDWR);

	KUNIT_ASSERT_EQ(test, 0, foreign_lock_with(file, F_WRLCK, DAFS_LOCK_AUTORECOVERY));
	foreign_expect_shared(f, mnt, file, foreign_abort);
}

static struct kunit_case dafs_foreign_state_cases[] = {
	KUNIT_CASE(dafs_foreign_forgets_test),
	KUNIT_CASE(dafs_foreign_killed_test),
	KUNIT_CASE(dafs_foreign_closed_test),
	KUNIT_CASE(dafs_foreign_same_test),
	KUNIT_CASE(dafs_foreign_broken_test),
	KUNIT_CASE(dafs_foreign_crowd_test),
	KUNIT_CASE(dafs_foreign_lost_test),
	KUNIT_CASE(dafs_foreign_lost_known_test),
	KUNIT_CASE(dafs_foreign_lost_unsent_test),
	KUNIT_CASE_SLOW(dafs_foreign_patient_test),
	KUNIT_CASE(dafs_foreign_left_test),
	KUNIT_CASE(dafs_foreign_unanswered_test),
	KUNIT_CASE(dafs_foreign_suspect_test),
	KUNIT_CASE(dafs_foreign_suspect_crowd_test),
	KUNIT_CASE_SLOW(dafs_foreign_slow_lock_test),
	KUNIT_CASE_SLOW(dafs_foreign_slow_lock_truncate_test),
	KUNIT_CASE_SLOW(dafs_foreign_suspect_truncate_test),
	KUNIT_CASE_SLOW(dafs_foreign_tease_test),
	KUNIT_CASE_SLOW(dafs_foreign_lock_anew_test),
	KUNIT_CASE_SLOW(dafs_foreign_grace_test),
	KUNIT_CASE(dafs_foreign_lock_delay_test),
	KUNIT_CASE(dafs_foreign_abort_delay_test),
	KUNIT_CASE(dafs_foreign_soft_close_test),
	{}
};

static struct kunit_suite dafs_foreign_state_suite = {
	.name = "dafs_foreign_state",
	.test_cases = dafs_foreign_state_cases,
};

kunit_test_suite(dafs_foreign_state_suite);
