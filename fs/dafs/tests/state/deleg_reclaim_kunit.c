// SPDX-License-Identifier: GPL-2.0
/*
 * Delegations of a mount that are reclaimed from a server that has restarted (4.4.1.6, 6.5.24):
 * from one that the test plays, and from the real one.
 */
#include <linux/delay.h>
#include <linux/file.h>
#include <linux/filelock.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/writeback.h>
#include <linux/dafs/stats.h>
#include "../../../../drivers/dafsd/session/client.h"
#include "../../../../drivers/dafsd/session/grace.h"
#include "../../../../drivers/dafsd/session/server.h"
#include "../../../../drivers/dafsd/state/deleg.h"
#include "../../../../drivers/dafsd/store/store.h"
#include "../lib/foreign.h"
#include "../lib/open_test.h"

/* Seconds: longer than any lease */
#define RECLAIM_LONG	7200

/* Seconds: a lease that is to run out, but not by accident */
#define RECLAIM_SHORT	3

/**
 * struct reclaim - a mount
 * @test: the test
 * @f: the server that the test plays; or NULL
 * @fix: otherwise, another client of the real server
 * @mnt: the mount
 * @clnt: its client
 * @nth: which connection that @f has accepted is its operation channel
 */
struct reclaim {
	struct kunit *test;
	struct foreign *f;
	struct dafs_fixture *fix;
	struct vfsmount *mnt;
	struct dafs_client *clnt;
	unsigned int nth;
};

/* How often the mount has sent a request */
static u64 reclaim_calls(const struct reclaim *r, u32 proc)
{
	u64 sums[DAFS_NR_STATS];

	dafs_stats_read(r->clnt->stats, proc, sums);
	return sums[DAFS_STAT_CALLS];
}

/* What needs the session waits until everything is reclaimed. */
static void reclaim_wait(struct reclaim *r)
{
	const struct path root = { .mnt = r->mnt, .dentry = r->mnt->mnt_root };
	struct kstat stat;

	KUNIT_EXPECT_EQ(r->test, 0, vfs_getattr(&root, &stat, STATX_MTIME, AT_STATX_FORCE_SYNC));
}

static void reclaim_expect(struct reclaim *r, struct file *file, const void *data, size_t len)
{
	loff_t pos = 0;
	u8 buf[10];

	KUNIT_EXPECT_EQ(r->test, len, kernel_read(file, buf, len, &pos));
	KUNIT_EXPECT_MEMEQ(r->test, buf, data, len);
}

/* A server that the test plays, and that delegates */
static struct reclaim reclaim_serve(struct kunit *test, u32 type)
{
	struct reclaim r = { .test = test, .f = foreign_server(test) };

	r.f->srv->opts.use_back_control_channel = 1;
	r.f->delegates = type;
	r.mnt = foreign_mount(r.f);
	r.clnt = DAFS_SB(r.mnt->mnt_sb)->clnt;
	return r;
}

static struct file *reclaim_open(struct reclaim *r, int flags)
{
	return foreign_file(r->test, r->mnt, "file", flags);
}

/* It has forgotten the client, and the connection is lost. */
static void reclaim_restart(struct reclaim *r)
{
	struct raw_conn *conn = raw_accepted(r->f->srv, r->nth);

	KUNIT_ASSERT_NOT_NULL(r->test, conn);
	get_random_bytes(&r->f->srv->client_id, sizeof(r->f->srv->client_id));
	raw_hang_up(conn);
	/* with the back-control channel */
	r->nth += 2;
}

static dafs_status_t reclaim_recall(struct reclaim *r)
{
	struct raw_conn *bc = raw_accepted(r->f->srv, r->nth + 1);
	struct dafs_bc_recall_args args = {
		.filehandle = r->f->fh[FOREIGN_FILE],
		.state_id = r->f->deleg_id,
	};

	KUNIT_ASSERT_NOT_NULL(r->test, bc);
	return raw_call(bc, DAFS_PROC_BC_RECALL, &args, NULL);
}

/* Closes it: what has read ahead keeps it open until it has ended, which nothing waits for. */
static void reclaim_close_file(struct reclaim *r, struct file *file)
{
	struct dafs_open_state *os = file->private_data;
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);

	__fput_sync(file);
	/* that of the delegation */
	while (refcount_read(&os->ref) != 1 && time_before(jiffies, end))
		msleep(20);
	KUNIT_EXPECT_EQ(r->test, 1, refcount_read(&os->ref));
}

/* A file that was read, and that no program has open */
static struct reclaim reclaim_reader(struct kunit *test)
{
	struct reclaim r = reclaim_serve(test, DAFS_OPEN_DELEGATE_READ);
	struct file *file = reclaim_open(&r, O_RDONLY);

	reclaim_expect(&r, file, r.f->data, 10);
	reclaim_close_file(&r, file);
	KUNIT_ASSERT_EQ(test, 1, r.f->opens);
	return r;
}

/* A file that a program has open, and to which it has written what the server does not have */
static struct file *reclaim_writer(struct reclaim *r)
{
	struct file *file = reclaim_open(r, O_RDWR);
	loff_t pos = 0;

	KUNIT_EXPECT_EQ(r->test, 10, kernel_write(file, "0123456789", 10, &pos));
	KUNIT_EXPECT_NE(r->test, 0, memcmp(r->f->data, "0123456789", 10));
	return file;
}

/* The file is opened and read again; @opens and @reads: what the server is asked for */
static void reclaim_again(struct reclaim *r, unsigned int opens, bool reads)
{
	u64 before = reclaim_calls(r, DAFS_PROC_READ_INLINE);
	unsigned int opened = r->f->opens;
	struct file *file = reclaim_open(r, O_RDONLY);

	reclaim_expect(r, file, r->f->data, 10);
	KUNIT_EXPECT_EQ(r->test, opened + opens, r->f->opens);
	KUNIT_EXPECT_EQ(r->test, reads, reclaim_calls(r, DAFS_PROC_READ_INLINE) != before);
	__fput_sync(file);
}

/* It is given back, although no program has the file open, and what was read is still good. */
static void dafs_deleg_reclaim_read_test(struct kunit *test)
{
	struct reclaim r = reclaim_reader(test);

	reclaim_restart(&r);
	reclaim_wait(&r);
	KUNIT_EXPECT_EQ(test, 2, r.f->opens);
	KUNIT_EXPECT_EQ(test, DAFS_OPEN_DELEGATE_READ, r.f->claimed);
	reclaim_again(&r, 0, false);
	/* and recalled by its new state-id */
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, reclaim_recall(&r));
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&r.f->returns, 1));
	KUNIT_EXPECT_TRUE(test, foreign_closed(r.f));
	KUNIT_EXPECT_EQ(test, 0, r.f->strangers);
}

/* It is given back, but programs of the server have changed the file meanwhile. */
static void dafs_deleg_reclaim_changed_test(struct kunit *test)
{
	struct reclaim r = reclaim_reader(test);

	r.f->data[0]++;
	r.f->change++;
	reclaim_restart(&r);
	reclaim_wait(&r);
	reclaim_again(&r, 0, true);
	reclaim_again(&r, 0, false);
}

/* It is not given back: the file is as one that was not delegated. */
static void dafs_deleg_reclaim_lost_test(struct kunit *test)
{
	struct reclaim r = reclaim_reader(test);

	r.f->delegates = DAFS_OPEN_DELEGATE_NONE;
	reclaim_restart(&r);
	reclaim_wait(&r);
	KUNIT_EXPECT_EQ(test, DAFS_OPEN_DELEGATE_READ, r.f->claimed);
	/* nor is it kept open then */
	KUNIT_EXPECT_TRUE(test, foreign_closed(r.f));
	r.f->data[0]++;
	r.f->change++;
	reclaim_again(&r, 1, true);
	KUNIT_EXPECT_EQ(test, 0, r.f->returns);
}

/* Likewise one for writing: what was written is kept, and reaches the server. */
static void dafs_deleg_reclaim_lost_write_test(struct kunit *test)
{
	struct reclaim r = reclaim_serve(test, DAFS_OPEN_DELEGATE_WRITE);
	struct file *file = reclaim_writer(&r);

	r.f->delegates = DAFS_OPEN_DELEGATE_NONE;
	reclaim_restart(&r);
	reclaim_wait(&r);
	KUNIT_EXPECT_EQ(test, DAFS_OPEN_DELEGATE_WRITE, r.f->claimed);
	reclaim_expect(&r, file, "0123456789", 10);
	KUNIT_EXPECT_EQ(test, 0, vfs_fsync(file, 0));
	KUNIT_EXPECT_MEMEQ(test, r.f->data, "0123456789", 10);
	/* what others have done is not told from own changes, so it is read anew */
	reclaim_again(&r, 1, true);
	KUNIT_EXPECT_EQ(test, 0, r.f->returns);
	__fput_sync(file);
}

/* It is given back to be returned: what was written is written before. */
static void dafs_deleg_reclaim_recalled_test(struct kunit *test)
{
	struct reclaim r = reclaim_serve(test, DAFS_OPEN_DELEGATE_WRITE);
	struct file *file = reclaim_writer(&r);

	r.f->recalls = true;
	reclaim_restart(&r);
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&r.f->returns, 1));
	KUNIT_EXPECT_MEMEQ(test, r.f->data, "0123456789", 10);
	r.f->delegates = DAFS_OPEN_DELEGATE_NONE;
	reclaim_again(&r, 1, true);
	__fput_sync(file);
}

/* It is recalled before the client knows that it has it again. */
static void dafs_deleg_reclaim_early_test(struct kunit *test)
{
	struct reclaim r = reclaim_serve(test, DAFS_OPEN_DELEGATE_WRITE);
	struct file *file = reclaim_writer(&r);

	r.f->keeps = DAFS_PROC_OPEN;
	reclaim_restart(&r);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(r.f));
	DAFS_EXPECT_STATUS(test, DAFSERR_BADHANDLE, reclaim_recall(&r));
	foreign_release(r.f);
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&r.f->returns, 1));
	KUNIT_EXPECT_MEMEQ(test, r.f->data, "0123456789", 10);
	__fput_sync(file);
}

/* @proc: during which the connection is lost; @restarts: because the server restarts once more */
static void reclaim_broken(struct kunit *test, u32 proc, bool restarts)
{
	struct reclaim r = reclaim_reader(test);

	r.f->hangs_up = proc;
	reclaim_restart(&r);
	KUNIT_ASSERT_TRUE(test, foreign_has_come(r.f));
	if (restarts)
		get_random_bytes(&r.f->srv->client_id, sizeof(r.f->srv->client_id));
	r.f->srv->refuse = false;
	reclaim_wait(&r);
	KUNIT_EXPECT_EQ(test, 3, r.f->opens);
	KUNIT_EXPECT_EQ(test, DAFS_OPEN_DELEGATE_READ, r.f->claimed);
	reclaim_again(&r, 0, false);
	KUNIT_EXPECT_EQ(test, 0, r.f->returns);
}

/* A recovery that fails half-way is repeated, also if the server has restarted meanwhile. */
static void dafs_deleg_reclaim_again_test(struct kunit *test)
{
	reclaim_broken(test, DAFS_PROC_OPEN, false);
	reclaim_broken(test, DAFS_PROC_GETATTR_INLINE, false);
	reclaim_broken(test, DAFS_PROC_OPEN, true);
	reclaim_broken(test, DAFS_PROC_GETATTR_INLINE, true);
}

/* All of the file, as @type */
static void reclaim_set_lock(struct reclaim *r, struct file *file, int type)
{
	KUNIT_ASSERT_EQ(r->test, 0, foreign_lock_all(file, type, 0));
}

/* Work of a task */
static int reclaim_unlock(struct foreign_task *ft)
{
	return foreign_lock_all(ft->file, F_UNLCK, 0);
}

/* For reading, until it is closed */
static void reclaim_lock(struct reclaim *r, struct file *file)
{
	reclaim_set_lock(r, file, F_RDLCK);
}

/*
 * What is written to the file was written under a lock that only the delegation knew of; and the
 * server will be in a grace period when it has restarted.
 */
static struct file *reclaim_debtor(struct reclaim *r)
{
	struct file *file = reclaim_writer(r);

	reclaim_set_lock(r, file, F_WRLCK);
	reclaim_set_lock(r, file, F_UNLCK);
	KUNIT_EXPECT_EQ(r->test, 0, r->f->locks);
	r->f->refuses = DAFS_PROC_LOCKT;
	r->f->refusal = DAFSERR_GRACE;
	return file;
}

static void reclaim_renew(void *clnt)
{
	enable_delayed_work(&((struct dafs_client *)clnt)->keep);
}

/* No NULL renews the lease during the test. */
static void reclaim_stop_renewing(struct reclaim *r)
{
	disable_delayed_work_sync(&r->clnt->keep);
	KUNIT_ASSERT_EQ(r->test, 0, kunit_add_action_or_reset(r->test, reclaim_renew, r->clnt));
}

/* Nor is it renewed before, and it runs out in some seconds. */
static void reclaim_shorten(struct reclaim *r, unsigned int seconds)
{
	ktime_t now = ktime_get_coarse_boottime();

	reclaim_stop_renewing(r);
	WRITE_ONCE(r->clnt->renewed, ktime_sub(now, ktime_set(r->clnt->lease - seconds, 0)));
}

static void reclaim_lapse(struct reclaim *r)
{
	WRITE_ONCE(r->clnt->renewed, ktime_sub(r->clnt->renewed, ktime_set(RECLAIM_LONG, 0)));
}

/* The file is delegated again, and that is lost with the lease: what was written is, too. */
static void dafs_deleg_reclaim_owed_test(struct kunit *test)
{
	struct reclaim r = reclaim_serve(test, DAFS_OPEN_DELEGATE_WRITE);
	struct file *file = reclaim_debtor(&r);

	reclaim_restart(&r);
	reclaim_wait(&r);
	KUNIT_EXPECT_EQ(test, DAFS_OPEN_DELEGATE_WRITE, r.f->claimed);
	KUNIT_EXPECT_EQ(test, 1, r.f->refused);
	reclaim_lapse(&r);
	KUNIT_EXPECT_EQ(test, -EIO, vfs_fsync(file, 0));
	KUNIT_EXPECT_NE(test, 0, memcmp(r.f->data, "0123456789", 10));
	__fput_sync(file);
}

/*
 * The server was away for longer than the lease, and gives all back.  Then the lease runs out once
 * more, before anything but that has renewed it: this is not taken for the first time.
 */
static void dafs_deleg_reclaim_owed_twice_test(struct kunit *test)
{
	struct reclaim r = reclaim_serve(test, DAFS_OPEN_DELEGATE_WRITE);
	struct file *file = reclaim_debtor(&r);

	reclaim_stop_renewing(&r);
	r.f->srv->refuse = true;
	reclaim_restart(&r);
	KUNIT_ASSERT_TRUE(test, foreign_lost(r.clnt));
	reclaim_lapse(&r);
	r.f->srv->refuse = false;
	reclaim_wait(&r);
	KUNIT_EXPECT_EQ(test, DAFS_OPEN_DELEGATE_WRITE, r.f->claimed);
	KUNIT_EXPECT_TRUE(test, dafs_client_has_lease(r.clnt));
	msleep(50);
	reclaim_lapse(&r);
	dafs_client_renewed(r.clnt, ktime_get_coarse_boottime());
	KUNIT_EXPECT_EQ(test, -EIO, vfs_fsync(file, 0));
	KUNIT_EXPECT_NE(test, 0, memcmp(r.f->data, "0123456789", 10));
	__fput_sync(file);
}

/*
 * A lock that the server knows is released there while the file is delegated.  What was written
 * under it stays here, and is lost with the delegation: others may have locked and written.
 */
static void dafs_deleg_reclaim_released_test(struct kunit *test)
{
	struct reclaim r = reclaim_serve(test, DAFS_OPEN_DELEGATE_NONE);
	struct file *locker = reclaim_open(&r, O_RDONLY), *file;

	reclaim_set_lock(&r, locker, F_RDLCK);
	KUNIT_EXPECT_EQ(test, 1, r.f->locks);
	r.f->delegates = DAFS_OPEN_DELEGATE_WRITE;
	file = reclaim_writer(&r);
	reclaim_set_lock(&r, locker, F_UNLCK);
	KUNIT_EXPECT_EQ(test, 1, r.f->unlocks);
	KUNIT_EXPECT_NE(test, 0, memcmp(r.f->data, "0123456789", 10));
	reclaim_lapse(&r);
	KUNIT_EXPECT_EQ(test, -EIO, vfs_fsync(file, 0));
	KUNIT_EXPECT_NE(test, 0, memcmp(r.f->data, "0123456789", 10));
	__fput_sync(file);
	__fput_sync(locker);
}

/* It is not delegated again: the client does not end the grace period before all is written. */
static void dafs_deleg_reclaim_due_test(struct kunit *test)
{
	struct reclaim r = reclaim_serve(test, DAFS_OPEN_DELEGATE_WRITE);
	struct file *file = reclaim_debtor(&r);
	u64 purges = reclaim_calls(&r, DAFS_PROC_DELEGPURGE);

	r.f->delegates = DAFS_OPEN_DELEGATE_NONE;
	r.f->keeps = DAFS_PROC_WRITE_INLINE;
	reclaim_restart(&r);
	reclaim_wait(&r);
	KUNIT_ASSERT_TRUE(test, foreign_has_come(r.f));
	KUNIT_EXPECT_EQ(test, purges, reclaim_calls(&r, DAFS_PROC_DELEGPURGE));
	foreign_release(r.f);
	/* then it does */
	flush_work(&DAFS_SB(r.mnt->mnt_sb)->recoverer.work);
	KUNIT_EXPECT_MEMEQ(test, r.f->data, "0123456789", 10);
	KUNIT_EXPECT_EQ(test, purges + 1, reclaim_calls(&r, DAFS_PROC_DELEGPURGE));
	/* the next time it has nothing to write */
	reclaim_restart(&r);
	reclaim_wait(&r);
	flush_work(&DAFS_SB(r.mnt->mnt_sb)->recoverer.work);
	KUNIT_EXPECT_EQ(test, purges + 2, reclaim_calls(&r, DAFS_PROC_DELEGPURGE));
	__fput_sync(file);
}

/*
 * It is given back only to be returned, and the server was away for longer than the lease: nothing
 * is lost.
 */
static void dafs_deleg_reclaim_owed_late_test(struct kunit *test)
{
	struct reclaim r = reclaim_serve(test, DAFS_OPEN_DELEGATE_WRITE);
	struct file *file = reclaim_debtor(&r);

	r.f->recalls = true;
	r.f->srv->refuse = true;
	reclaim_restart(&r);
	KUNIT_ASSERT_TRUE(test, foreign_lost(r.clnt));
	reclaim_lapse(&r);
	r.f->srv->refuse = false;
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&r.f->returns, 1));
	KUNIT_EXPECT_MEMEQ(test, r.f->data, "0123456789", 10);
	KUNIT_EXPECT_EQ(test, 0, vfs_fsync(file, 0));
	__fput_sync(file);
}

/* What is delegated before the server has back what it had delegated is returned, too. */
static void dafs_deleg_reclaim_leaving_test(struct kunit *test)
{
	struct reclaim r = reclaim_reader(test);
	struct file *file;

	r.f->keeps = DAFS_PROC_DELEGRETURN;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, reclaim_recall(&r));
	KUNIT_EXPECT_TRUE(test, foreign_has_come(r.f));
	file = reclaim_open(&r, O_RDONLY);
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&r.f->returns, 2));
	foreign_release(r.f);
	__fput_sync(file);
}

/* The connection is lost after the server has refused a lock: the open is not lost, too. */
static void dafs_deleg_reclaim_refused_test(struct kunit *test)
{
	struct reclaim r = reclaim_reader(test);
	struct file *file = reclaim_open(&r, O_RDONLY);

	reclaim_lock(&r, file);
	/* a lock has it read anew */
	reclaim_expect(&r, file, r.f->data, 10);
	r.f->refuses = DAFS_PROC_LOCK;
	r.f->refusal = DAFSERR_DENIED;
	r.f->hangs_up = DAFS_PROC_GETATTR_INLINE;
	reclaim_restart(&r);
	KUNIT_ASSERT_TRUE(test, foreign_has_come(r.f));
	KUNIT_EXPECT_EQ(test, 1, r.f->refused);
	r.f->srv->refuse = false;
	reclaim_wait(&r);
	KUNIT_EXPECT_EQ(test, 3, r.f->opens);
	__fput_sync(file);
	/* it has lost what it had locked, so others may have written that */
	reclaim_again(&r, 0, true);
	KUNIT_EXPECT_EQ(test, 0, r.f->returns);
}

/*
 * It is given back, but then a lock is not, for no reason that lasts.  The client does without the
 * delegation, and returns it; the rest is reclaimed when the file is used.
 */
static void dafs_deleg_reclaim_left_test(struct kunit *test)
{
	struct reclaim r = reclaim_serve(test, DAFS_OPEN_DELEGATE_WRITE);
	struct file *file = reclaim_open(&r, O_RDWR);

	reclaim_set_lock(&r, file, F_WRLCK);
	r.f->refuses = DAFS_PROC_LOCK;
	r.f->refusal = DAFSERR_IO;
	reclaim_restart(&r);
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&r.f->returns, 1));
	WRITE_ONCE(r.f->refuses, 0);
	reclaim_expect(&r, file, r.f->data, 10);
	KUNIT_EXPECT_EQ(test, DAFS_OPEN_DELEGATE_NONE, r.f->claimed);
	KUNIT_EXPECT_EQ(test, 1, r.f->returns);
	__fput_sync(file);
	KUNIT_EXPECT_TRUE(test, foreign_closed(r.f));
}

static void reclaim_run_out(struct reclaim *r)
{
	while (dafs_client_has_lease(r->clnt))
		msleep(100);
}

/*
 * The lease would have run out just when everything is reclaimed, and is renewed by that: neither
 * the delegation nor what is owed for it is lost.
 */
static void dafs_deleg_reclaim_renew_test(struct kunit *test)
{
	struct reclaim r = reclaim_serve(test, DAFS_OPEN_DELEGATE_WRITE);
	struct file *file = reclaim_debtor(&r);
	ktime_t end;

	reclaim_shorten(&r, RECLAIM_SHORT);
	end = dafs_client_lease_end(r.clnt);
	reclaim_restart(&r);
	reclaim_wait(&r);
	while (!ktime_after(ktime_get_coarse_boottime(), end))
		msleep(100);
	KUNIT_EXPECT_EQ(test, 0, vfs_fsync(file, 0));
	KUNIT_EXPECT_MEMEQ(test, r.f->data, "0123456789", 10);
	KUNIT_EXPECT_EQ(test, 0, r.f->returns);
	__fput_sync(file);
}

/*
 * The server restarts while it is told of a lock before the delegation is returned, and is away
 * until it could have revoked that: the lock is reclaimed, and what was written under it, too.
 */
static void dafs_deleg_reclaim_push_test(struct kunit *test)
{
	struct reclaim r = reclaim_serve(test, DAFS_OPEN_DELEGATE_WRITE);
	struct file *file = reclaim_writer(&r);

	reclaim_set_lock(&r, file, F_WRLCK);
	r.f->refuses = DAFS_PROC_LOCKT;
	r.f->refusal = DAFSERR_GRACE;
	r.f->keeps = DAFS_PROC_LOCK;
	reclaim_shorten(&r, RECLAIM_SHORT);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, reclaim_recall(&r));
	KUNIT_ASSERT_TRUE(test, foreign_has_come(r.f));
	r.f->srv->refuse = true;
	reclaim_restart(&r);
	reclaim_run_out(&r);
	r.f->srv->refuse = false;
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&r.f->returns, 1));
	reclaim_expect(&r, file, "0123456789", 10);
	KUNIT_EXPECT_MEMEQ(test, r.f->data, "0123456789", 10);
	KUNIT_EXPECT_EQ(test, 0, vfs_fsync(file, 0));
	__fput_sync(file);
}

/* A lock that only the delegation knew of is unlocked while it is reclaimed: at the server, too. */
static void dafs_deleg_reclaim_unlock_test(struct kunit *test)
{
	struct reclaim r = reclaim_serve(test, DAFS_OPEN_DELEGATE_WRITE);
	struct file *file = reclaim_open(&r, O_RDWR);
	struct foreign_task *ft;

	reclaim_set_lock(&r, file, F_WRLCK);
	KUNIT_EXPECT_EQ(test, 0, r.f->locks);
	r.f->keeps = DAFS_PROC_LOCK;
	reclaim_restart(&r);
	KUNIT_ASSERT_TRUE(test, foreign_has_come(r.f));
	ft = foreign_task(r.f, r.mnt, file, reclaim_unlock);
	foreign_release(r.f);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	KUNIT_EXPECT_EQ(test, 0, ft->err);
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&r.f->unlocks, 1));
	__fput_sync(file);
}

/* The server has restarted twice, and gives back what it has given back before. */
static void dafs_deleg_reclaim_twice_test(struct kunit *test)
{
	struct reclaim r = reclaim_reader(test);

	reclaim_restart(&r);
	reclaim_wait(&r);
	reclaim_restart(&r);
	reclaim_wait(&r);
	KUNIT_EXPECT_EQ(test, 3, r.f->opens);
	KUNIT_EXPECT_EQ(test, DAFS_OPEN_DELEGATE_READ, r.f->claimed);
	reclaim_again(&r, 0, false);
}

/* The server was away for longer than the lease. */
static void dafs_deleg_reclaim_late_test(struct kunit *test)
{
	struct reclaim r = reclaim_reader(test);
	ktime_t since = r.clnt->leased_since;
	unsigned long end;

	r.f->srv->refuse = true;
	reclaim_restart(&r);
	KUNIT_ASSERT_TRUE(test, foreign_lost(r.clnt));
	WRITE_ONCE(r.clnt->renewed, ktime_sub(r.clnt->renewed, ktime_set(RECLAIM_LONG, 0)));
	r.f->srv->refuse = false;
	reclaim_wait(&r);
	end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	while (READ_ONCE(r.clnt->leased_since) == since && time_before(jiffies, end))
		msleep(20);
	KUNIT_EXPECT_GT(test, r.clnt->leased_since, since);
	reclaim_again(&r, 0, false);
	KUNIT_EXPECT_EQ(test, 0, r.f->returns);
}

/* The mount ends while the server is away. */
static void dafs_deleg_reclaim_unmount_test(struct kunit *test)
{
	struct reclaim r = reclaim_reader(test);

	r.f->keeps = DAFS_PROC_OPEN;
	reclaim_restart(&r);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(r.f));
	r.f->srv->refuse = true;
	raw_hang_up(r.f->from);
	kunit_release_action(test, foreign_unmount, r.mnt);
	KUNIT_EXPECT_EQ(test, 2, r.f->opens);
}

/* Does the server know a client, or still execute something for it? */
static bool reclaim_known(const struct dafs_client_id *client_id)
{
	const struct dafsd_client *client;

	guard(mutex)(&dafsd_server.clients_lock);
	list_for_each_entry(client, &dafsd_server.clients, node)
		if (dafs_opaque64_equal(&client->client_id, client_id))
			return true;
	return false;
}

/*
 * The server ends the client of the mount.  When this returns the client has no record, and no
 * file is open for it: one that is open is not delegated.
 */
static void reclaim_end(struct reclaim *r, const struct dafs_client_id *client_id)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);

	KUNIT_ASSERT_EQ(r->test, 0, dafsd_client_end_id(&dafsd_server, client_id));
	while (reclaim_known(client_id) && time_before(jiffies, end))
		msleep(20);
	KUNIT_ASSERT_FALSE(r->test, reclaim_known(client_id));
	flush_workqueue(dafsd_timer_wq);
	flush_workqueue(dafsd_close_wq);
}

/*
 * A mount of the real server, which delegates.  It is a client of its own: one whose record another
 * suite has deleted has none as long as the server knows it, and another one with the same id could
 * end the grace period by its DELEGPURGE.
 */
static struct reclaim reclaim_mount(struct kunit *test)
{
	struct reclaim r = { .test = test, .fix = dafs_fixture(test, NULL) };
	static unsigned int nr;
	char client_id[32];

	KUNIT_ASSERT_NOT_NULL(test, dafsd_server.store);
	dafs_fixture_server_param(test, &dafsd_max_delegations, 100);
	dafs_fixture_server_param(test, &dafsd_deleg_rest_seconds, 0);
	dafs_fixture_server_param(test, &dafsd_recall_wait_ms, 1);
	/* nothing is written back for an hour, unless it has to be */
	dafs_fixture_server_param(test, &dirty_writeback_interval, 3600 * 100);
	dafs_backing_write(test, r.fix, "file", "content", 7);
	snprintf(client_id, sizeof(client_id), "client that reclaims %u", ++nr);
	r.mnt = foreign_mount_as(test, &r.fix->params.dst, client_id);
	r.clnt = DAFS_SB(r.mnt->mnt_sb)->clnt;
	return r;
}

static void reclaim_fput(void *file)
{
	__fput_sync(file);
}

/* Closed by reclaim_close(), or at the end of the test */
static struct file *reclaim_file(struct reclaim *r, int flags)
{
	struct file *file;
	char path[64];

	snprintf(path, sizeof(path), "%s/file", r->fix->name);
	file = foreign_file(r->test, r->mnt, path, flags);
	KUNIT_ASSERT_EQ(r->test, 0, kunit_add_action_or_reset(r->test, reclaim_fput, file));
	return file;
}

static void reclaim_close(struct reclaim *r, struct file *file)
{
	kunit_release_action(r->test, reclaim_fput, file);
}

/* Does the server have a delegation of the mount? */
static bool reclaim_delegated(struct reclaim *r)
{
	struct dafs_client_id client_id = dafs_test_client_id(r->test, r->clnt);
	const struct dafsd_client *client;

	guard(mutex)(&dafsd_server.clients_lock);
	list_for_each_entry(client, &dafsd_server.clients, node)
		if (dafs_opaque64_equal(&client->client_id, &client_id))
			return atomic_read(&client->nr_delegs);
	return false;
}

/*
 * Reads the file again and again until it is delegated: it is not before it was used before, nor
 * as long as the server is closing it for others.
 */
static void reclaim_use(struct reclaim *r, int flags, const void *data, size_t len)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	struct file *file;

	do {
		file = reclaim_file(r, flags);
		reclaim_expect(r, file, data, len);
		reclaim_close(r, file);
		msleep(20);
	} while (!reclaim_delegated(r) && time_before(jiffies, end));
	KUNIT_ASSERT_TRUE(r->test, reclaim_delegated(r));
}

/* The record of the client of a mount; those of others are deleted */
struct reclaim_record {
	u8 id[128];
	u32 id_len;
	struct dafsd_client_record value;
	bool found;
};

static void reclaim_find(struct reclaim_record *rec, const struct dafs_client_id *client_id)
{
	const struct dafsd_client *client;

	mutex_lock(&dafsd_server.clients_lock);
	list_for_each_entry(client, &dafsd_server.clients, node)
		if (dafs_opaque64_equal(&client->client_id, client_id)) {
			rec->id_len = min_t(u32, client->id_len, sizeof(rec->id));
			memcpy(rec->id, client->id, rec->id_len);
		}
	mutex_unlock(&dafsd_server.clients_lock);
}

static int reclaim_keep(void *priv, const struct dafsd_key *key, const void *value, u32 len)
{
	struct reclaim_record *rec = priv;

	if (key->len == rec->id_len && !memcmp(key->data, rec->id, key->len) &&
	    len == sizeof(rec->value)) {
		rec->found = true;
		memcpy(&rec->value, value, len);
	}
	dafsd_store_delete(dafsd_server.store, key);
	return 0;
}

static void reclaim_grace_ends(void *server)
{
	dafsd_grace_exit(server);
}

static void reclaim_connect(void *ses)
{
	struct dafs_session *session = ses;

	enable_delayed_work(&session->paths[0].reconnect);
	queue_delayed_work(system_unbound_wq, &session->paths[0].reconnect, 0);
}

/* The client of the mount has lost its session, and does not come back before reclaim_return(). */
static void reclaim_leave(struct reclaim *r, struct reclaim_record *rec)
{
	struct dafs_client_id client_id = dafs_test_client_id(r->test, r->clnt);

	*rec = (struct reclaim_record){};
	reclaim_find(rec, &client_id);
	disable_delayed_work_sync(&r->clnt->ses->paths[0].reconnect);
	KUNIT_ASSERT_EQ(r->test, 0,
			kunit_add_action_or_reset(r->test, reclaim_connect, r->clnt->ses));
	KUNIT_ASSERT_NE(r->test, 0, rec->id_len);
	dafsd_store_for_each(dafsd_server.store, DAFSD_RECORD_CLIENT, reclaim_keep, rec);
	KUNIT_ASSERT_TRUE(r->test, rec->found);
	reclaim_end(r, &client_id);
	KUNIT_ASSERT_TRUE(r->test, foreign_lost(r->clnt));
}

/* The server seems to have restarted, and to know the client. */
static void reclaim_return(struct reclaim *r, const struct reclaim_record *rec)
{
	struct dafsd_key key = { DAFSD_RECORD_CLIENT, rec->id_len, rec->id };

	KUNIT_ASSERT_EQ(r->test, 0, dafsd_store_put(dafsd_server.store, &key, &rec->value,
						    sizeof(rec->value)));
	KUNIT_ASSERT_EQ(r->test, 0,
			kunit_add_action_or_reset(r->test, reclaim_grace_ends, &dafsd_server));
	KUNIT_ASSERT_EQ(r->test, 0, dafsd_grace_load(&dafsd_server, dafsd_server.store));
	dafsd_grace_begin(&dafsd_server);
	kunit_release_action(r->test, reclaim_connect, r->clnt->ses);
	reclaim_wait(r);
}

/* DELEGPURGE ends the grace period. */
static void reclaim_grace_over(struct kunit *test)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);

	while (dafsd_in_grace(&dafsd_server) && time_before(jiffies, end))
		msleep(20);
	KUNIT_ASSERT_FALSE(test, dafsd_in_grace(&dafsd_server));
}

/*
 * R-6.5.24-19: a file keeps its write delegation over a restart of the server, and what is
 * written there is not at the server until another client opens it.
 */
static void dafs_deleg_reclaim_real_test(struct kunit *test)
{
	const struct dafs_opener who = { .owner = "other", .share_access = DAFS_RD };
	struct reclaim r = reclaim_mount(test);
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	struct reclaim_record rec;
	struct dafs_open_res res;
	dafs_status_t status;
	struct file *file, *again;
	loff_t pos = 0;
	u64 opens;

	reclaim_use(&r, O_RDWR, "content", 7);
	file = reclaim_file(&r, O_RDWR);
	KUNIT_EXPECT_EQ(test, 7, kernel_write(file, "CONTENT", 7, &pos));
	reclaim_leave(&r, &rec);
	reclaim_return(&r, &rec);
	reclaim_grace_over(test);
	opens = reclaim_calls(&r, DAFS_PROC_OPEN);
	again = reclaim_file(&r, O_RDONLY);
	reclaim_expect(&r, again, "CONTENT", 7);
	reclaim_close(&r, again);
	KUNIT_EXPECT_EQ(test, opens, reclaim_calls(&r, DAFS_PROC_OPEN));
	KUNIT_EXPECT_EQ(test, 0, reclaim_calls(&r, DAFS_PROC_WRITE_INLINE) +
				 reclaim_calls(&r, DAFS_PROC_WRITE_DIRECT));
	KUNIT_EXPECT_EQ(test, 0, reclaim_calls(&r, DAFS_PROC_DELEGRETURN));
	do {
		status = dafs_share(test, r.fix, &who, &res);
		msleep(20);
	} while (status == DAFSERR_DELAY && time_before(jiffies, end));
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, status);
	dafs_expect_content(test, r.fix, "file", "CONTENT");
	KUNIT_EXPECT_EQ(test, 1, reclaim_calls(&r, DAFS_PROC_DELEGRETURN));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_close(test, r.fix->clnt, &res));
}

/* What a program of the server has written while the client was away is read. */
static void dafs_deleg_reclaim_local_test(struct kunit *test)
{
	struct reclaim r = reclaim_mount(test);
	struct reclaim_record rec;
	u64 opens;

	reclaim_use(&r, O_RDONLY, "content", 7);
	reclaim_leave(&r, &rec);
	dafs_backing_write(test, r.fix, "file", "CHANGED", 7);
	reclaim_return(&r, &rec);
	opens = reclaim_calls(&r, DAFS_PROC_OPEN);
	reclaim_use(&r, O_RDONLY, "CHANGED", 7);
	KUNIT_EXPECT_EQ(test, opens, reclaim_calls(&r, DAFS_PROC_OPEN));
}

static struct kunit_case dafs_deleg_reclaim_cases[] = {
	KUNIT_CASE(dafs_deleg_reclaim_read_test),
	KUNIT_CASE(dafs_deleg_reclaim_changed_test),
	KUNIT_CASE(dafs_deleg_reclaim_lost_test),
	KUNIT_CASE(dafs_deleg_reclaim_lost_write_test),
	KUNIT_CASE(dafs_deleg_reclaim_recalled_test),
	KUNIT_CASE(dafs_deleg_reclaim_early_test),
	KUNIT_CASE(dafs_deleg_reclaim_again_test),
	KUNIT_CASE(dafs_deleg_reclaim_refused_test),
	KUNIT_CASE(dafs_deleg_reclaim_owed_test),
	KUNIT_CASE(dafs_deleg_reclaim_owed_twice_test),
	KUNIT_CASE(dafs_deleg_reclaim_released_test),
	KUNIT_CASE(dafs_deleg_reclaim_due_test),
	KUNIT_CASE(dafs_deleg_reclaim_owed_late_test),
	KUNIT_CASE(dafs_deleg_reclaim_leaving_test),
	KUNIT_CASE(dafs_deleg_reclaim_left_test),
	KUNIT_CASE(dafs_deleg_reclaim_renew_test),
	KUNIT_CASE(dafs_deleg_reclaim_push_test),
	KUNIT_CASE(dafs_deleg_reclaim_unlock_test),
	KUNIT_CASE(dafs_deleg_reclaim_twice_test),
	KUNIT_CASE(dafs_deleg_reclaim_late_test),
	KUNIT_CASE(dafs_deleg_reclaim_unmount_test),
	KUNIT_CASE(dafs_deleg_reclaim_real_test),
	KUNIT_CASE(dafs_deleg_reclaim_local_test),
	{}
};

static struct kunit_suite dafs_deleg_reclaim_suite = {
	.name = "dafs_deleg_reclaim",
	.test_cases = dafs_deleg_reclaim_cases,
};

kunit_test_suite(dafs_deleg_reclaim_suite);
