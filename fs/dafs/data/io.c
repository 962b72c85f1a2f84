// SPDX-License-Identifier: GPL-2.0
/*
 * Moving file data: READ and WRITE until all is done.  What one call is like is in call.c.
 *
 * A struct dafs_io is one contiguous range of a file and the memory for it.
 * It is moved in as many calls as it takes, one after another: a region maps
 * less than asked, the server moves less than asked, the connection fails and
 * the call is sent again on the next one, the open is lost and reclaimed.  None
 * of this is seen by the starter, that is, the caller of dafs_io_start() or
 * dafs_io_run(), which is told the end, once.
 *
 *   dafs_io_send()	context of the starter, or clnt->retry_wq: may wait for
 *			slots and memory regions, but without a connection it is
 *			parked with the session
 *   dafs_io_called()	softirq: the response is there, or never will be
 *   dafs_io_answered()	looks at it, never waits: in dafs_done_wq; in the task
 *			that waits for the I/O; in softirq, if nothing is wrong
 *			and the starter allows it (dafs_io.anywhere)
 *   dafs_io_retry()	queues the next dafs_io_send()
 *
 * A task that waits for the end, in dafs_io_run(), does all of this itself.
 *
 * While a call is in progress the I/O holds a reference on its connection and
 * on the call; dafs_io_drop_call() gives both back.  The memory of the call is
 * unmapped by the requester before the response is reported.
 *
 * A hard mount gives up when the server refuses for good, or when the task that
 * waits for the I/O is killed.  What may go right next time is tried again for as
 * long as it takes: the data may be nowhere else.
 */
#include <linux/sched/mm.h>
#include "../state/lock.h"
#include "io_impl.h"

/* Before trying again what failed for want of a connection or memory, in ms. */
#define DAFS_IO_PAUSE	10

static void dafs_io_end(struct dafs_io *io, int err)
{
	dafs_xid_drop(&io->xid);
	io->complete(io, err);
}

/**
 * struct dafs_io_wait - a task that does an I/O itself
 * @again: dafs_io_resume() is to be called
 * @delay_ms: but not before
 * @ended: all is done
 * @err: the result then
 */
struct dafs_io_wait {
	bool again;
	unsigned int delay_ms;
	bool ended;
	int err;
};

static void dafs_io_retry(struct dafs_io *io, unsigned int delay_ms)
{
	if (io->wait) {
		io->wait->again = true;
		io->wait->delay_ms = delay_ms;
		return;
	}
	queue_delayed_work(io->sbi->clnt->retry_wq, &io->retry_work,
			   msecs_to_jiffies(delay_ms));
}

/* The server needs time: more and more of it. */
static void dafs_io_retry_later(struct dafs_io *io)
{
	io->tries.delay_ms = dafs_next_delay(io->tries.delay_ms);
	dafs_io_retry(io, io->tries.delay_ms);
}

/* An attempt has failed, @action is what follows, or its end with @err. */
static void dafs_io_again(struct dafs_io *io, enum dafs_action action, int err)
{
	bool hard = !READ_ONCE(io->sbi->clnt->params.soft);
	struct dafs_verdict verdict;

	verdict = dafs_retry(io->write ? DAFS_RETRY_WRITE : DAFS_RETRY_READ, action, hard,
			     &io->tries);
	switch (verdict.next) {
	case DAFS_NEXT_SEND:
		dafs_io_retry(io, 0);
		break;
	case DAFS_NEXT_PAUSE:
		dafs_io_retry_later(io);
		break;
	case DAFS_NEXT_REPORT:
		dafs_io_end(io, verdict.err ?: err);
		break;
	}
}

static void dafs_io_drop_call(struct dafs_io *io)
{
	dafs_call_put(io->call);
	dafs_conn_put(io->conn);
	io->call = NULL;
	io->conn = NULL;
}

/* The task that happens to send may be killed; the I/O is not its alone. */
static bool dafs_error_of_task(int err)
{
	return err == -EINTR || err == -ERESTARTSYS;
}

static void dafs_io_lost(struct dafs_io *io)
{
	if (dafs_client_gives_up(io->sbi->clnt, &io->tries.lost))
		dafs_io_end(io, -ETIMEDOUT);
	else
		dafs_io_retry(io, DAFS_IO_PAUSE);
}

static void dafs_io_unsent(struct dafs_io *io, struct dafs_conn *conn, int err)
{
	if (dafs_error_of_task(err) && io->wait) {
		dafs_io_end(io, -ERESTARTSYS);
	} else if (dafs_error_of_task(err)) {
		dafs_io_retry(io, 0);
	} else if (err == -ENOTCONN) {
		/* The client may not have noticed yet that it has lost @conn. */
		dafs_io_lost(io);
	} else if (err == -ENOMEM) {
		dafs_io_retry(io, DAFS_IO_PAUSE);
	} else if (err == -EBADMSG) {
		/* the credential does not arrive as it is sent */
		dafs_io_again(io, DAFS_ACT_CRED, -EIO);
	} else if (io->direct && !io->force_inline) {
		/* The device does not take this memory; copying always works. */
		io->force_inline = true;
		dafs_io_retry(io, 0);
	} else {
		dafs_io_end(io, err);
	}
	dafs_conn_put(conn);
}

static void dafs_io_unparked(struct dafs_park *park)
{
	dafs_io_retry(container_of(park, struct dafs_io, park), 0);
}

/* Return: a connection; NULL if the I/O is parked or has failed, and may be gone. */
static struct dafs_conn *dafs_io_conn(struct dafs_io *io)
{
	struct dafs_client *clnt = io->sbi->clnt;
	struct dafs_conn *conn;

	conn = io->wait ? dafs_conn_get(clnt) : dafs_conn_get_or_park(clnt, &io->park);
	if (!IS_ERR(conn))
		return conn;
	dafs_io_end(io, PTR_ERR(conn));
	return NULL;
}

/* What the locks are set by has been reclaimed, or not: dafs_io_relocked() goes on. */
static void dafs_io_locks_ended(struct dafs_reclaim *reclaim)
{
	dafs_io_retry(container_of(reclaim, struct dafs_io, reclaim), 0);
}

/* @err: as that of dafs_open_state_recover() */
static void dafs_io_relocked(struct dafs_io *io, struct dafs_open_state *os, int err)
{
	bool lost = READ_ONCE(os->lost);

	dafs_open_state_put(os, false);
	if (!err || lost)
		dafs_io_retry(io, 0);
	else if (err == -ERESTARTSYS)
		dafs_io_end(io, err);
	else
		dafs_io_again(io, DAFS_ACT_OPEN, err);
}

/*
 * By another open, or none, it would get to the server before the locks that it may rely on.
 * Takes over the reference to @os, by which they are set.
 */
static void dafs_io_relock(struct dafs_io *io, struct dafs_open_state *os,
			   const struct dafs_state_id *state_id)
{
	int err;

	if (io->wait) {
		dafs_io_relocked(io, os, dafs_open_state_recover(os, state_id));
		return;
	}
	io->locker = os;
	io->reclaim.ended = dafs_io_locks_ended;
	err = dafs_open_state_recover_start(os, state_id, &io->reclaim);
	/* the I/O may be gone */
	if (err == -EINPROGRESS)
		return;
	io->locker = NULL;
	dafs_io_relocked(io, os, err);
}

/*
 * Return: true if the I/O waits for the locks of the file to be reclaimed, or has failed, and may
 * be gone.
 */
static bool dafs_io_awaits_locks(struct dafs_io *io, const struct dafs_conn *conn)
{
	struct inode *inode = &io->di->netfs.inode;
	struct dafs_state_id state_id;
	struct dafs_open_state *os;
	int err;

	if (dafs_locks_suspected(inode)) {
		dafs_io_retry_later(io);
		return true;
	}
	os = dafs_locks_behind(inode, conn, &state_id);
	err = os ? -EINPROGRESS : 0;
	if (!os && io->cached)
		err = dafs_debt_check(inode, conn, &os, &state_id);
	if (err == -EINPROGRESS)
		dafs_io_relock(io, os, &state_id);
	else if (err)
		dafs_io_end(io, err);
	return err;
}

/*
 * The connection was lost while a write was under way: was it executed?  Otherwise what others have
 * written since would be overwritten.  Takes over the reference to @conn unless it is to be sent.
 *
 * Return: true to send it; otherwise the I/O may be gone.
 */
static bool dafs_io_ask(struct dafs_io *io, struct dafs_conn *conn)
{
	struct dafs_op op = {
		.proc = io->xid.proc,
		.xid = io->xid,
		.nowait = true,
	};
	int err = dafs_op_ask(io->sbi->clnt, &op);

	io->xid = op.xid;
	if (err == DAFS_OP_SEND)
		return true;
	if (err < 0) {
		dafs_io_unsent(io, conn, err);
		return false;
	}
	dafs_conn_put(conn);
	if (err == DAFS_OP_ASK_LATER) {
		dafs_io_retry_later(io);
		return false;
	}
	io->conn = op.conn;
	io->call = op.call;
	dafs_io_answered(io);
	return false;
}

static void dafs_io_send(struct dafs_io *io)
{
	int err = io->open ? READ_ONCE(io->open->lost) : 0;
	struct dafs_conn *conn;

	/* for that it needs no server, which may be away */
	if (err) {
		dafs_io_end(io, err);
		return;
	}
	conn = dafs_io_conn(io);
	if (!conn)
		return;
	if (io->xid.former && !dafs_io_ask(io, conn))
		return;
	if (dafs_io_awaits_locks(io, conn)) {
		dafs_conn_put(conn);
		return;
	}
	io->direct = false;
	memset(&io->state_id, 0, sizeof(io->state_id));
	err = io->open ? dafs_open_state_id(io->open, &io->state_id) : 0;
	/* others may have had the lock that it relies on */
	if (!err && dafs_locks_lost(&io->di->netfs.inode))
		err = -EIO;
	if (err) {
		dafs_conn_put(conn);
		dafs_io_end(io, err);
		return;
	}
	err = dafs_io_call(io, conn);
	if (err)
		dafs_io_unsent(io, conn, err);
}

/* It is tried, even with the same state-id: only if it is refused again there is a pause. */
static void dafs_io_reclaimed(struct dafs_reclaim *reclaim)
{
	struct dafs_io *io = container_of(reclaim, struct dafs_io, reclaim);

	io->recover = reclaim->err;
	dafs_io_retry(io, 0);
}

/* Return: as dafs_open_state_recover(), or -EINPROGRESS: the I/O waits, or may be gone. */
static int dafs_io_reclaim(struct dafs_io *io)
{
	int err = io->reclaim.err;

	if (io->wait)
		return dafs_open_state_recover(io->open, &io->state_id);
	io->reclaim.err = 0;
	io->reclaim.ended = dafs_io_reclaimed;
	if (err)
		return err;
	return dafs_open_state_recover_start(io->open, &io->state_id, &io->reclaim);
}

/* Get the open back.  One that is lost for good says so when it is used. */
static void dafs_io_recover(struct dafs_io *io)
{
	struct dafs_conn *conn = dafs_io_conn(io);
	int err;

	if (!conn)
		return;
	dafs_conn_put(conn);
	err = dafs_io_reclaim(io);
	if (err == -EINPROGRESS)
		return;
	if (err && !READ_ONCE(io->open->lost)) {
		dafs_io_again(io, DAFS_ACT_OPEN, err);
		return;
	}
	io->recover = false;
	dafs_io_send(io);
}

static void dafs_io_resume(struct dafs_io *io)
{
	struct dafs_open_state *os = io->locker;
	int err = io->reclaim.err;

	if (os) {
		io->locker = NULL;
		io->reclaim.err = 0;
		dafs_io_relocked(io, os, err);
		return;
	}
	/* an open that is lost is not got back: dafs_io_send() says so at once */
	if (io->recover && !READ_ONCE(io->open->lost))
		dafs_io_recover(io);
	else
		dafs_io_send(io);
}

/*
 * An unmount ends reads, and direct writes of killed tasks, that no task waits for.
 * umount -f also ends I/O whose task cannot get a signal.  Dirty cached data is not given
 * up: another mount may share it.
 */
static bool dafs_io_given_up(const struct dafs_io *io)
{
	const struct dafs_sb_info *sbi = io->sbi;

	if (io->write && !io->anywhere)
		return false;
	return READ_ONCE(sbi->leaving) ||
	       (io->tries.delay_ms && io->forced != READ_ONCE(sbi->forced));
}

static void dafs_io_give_up(struct dafs_io *io)
{
	if (io->locker)
		dafs_open_state_put(io->locker, false);
	io->locker = NULL;
	dafs_io_end(io, -EIO);
}

static void dafs_io_retry_work(struct work_struct *work)
{
	struct dafs_io *io = container_of(to_delayed_work(work), struct dafs_io, retry_work);
	unsigned int flags = memalloc_nofs_save();

	if (dafs_io_given_up(io))
		dafs_io_give_up(io);
	else
		dafs_io_resume(io);
	memalloc_nofs_restore(flags);
}

/* The server refused. */
static void dafs_io_refused(struct dafs_io *io)
{
	enum dafs_action action = dafs_call_action(io->conn, io->call);
	int err = dafs_status_to_errno(io->call->status);
	bool broken = io->open && dafs_open_state_broken(io->open, &io->state_id,
							 io->call->status);

	dafs_io_drop_call(io);
	if (broken)
		dafs_io_end(io, -EOWNERDEAD);
	else if (dafs_io_adapt(io, action))
		dafs_io_again(io, action, err);
	else
		dafs_io_end(io, err);
}

/* A call has been answered with success. */
static void dafs_io_advance(struct dafs_io *io)
{
	ssize_t moved = dafs_io_results(io);

	if (moved == -EPROTO)
		dafs_conn_failed(io->conn);
	dafs_io_drop_call(io);
	if (moved < 0) {
		/* -EBADMSG: the data did not match its checksum; read it again. */
		if (moved == -EBADMSG)
			dafs_io_again(io, DAFS_ACT_RESEND, -EIO);
		else
			dafs_io_end(io, -EIO);
		return;
	}
	io->done += moved;
	if (io->done == io->len || io->eof) {
		dafs_io_end(io, 0);
	} else if (moved) {
		dafs_tries_restart(&io->tries);
		dafs_io_retry(io, 0);
	} else {
		dafs_io_again(io, DAFS_ACT_EMPTY, -EIO);
	}
}

/**
 * dafs_io_answered() - look at a response, or at the error if no response came
 * @io: the I/O; may be gone afterwards
 *
 * Context: see the head of this file.
 */
void dafs_io_answered(struct dafs_io *io)
{
	int lost = io->call->error;

	if (lost == -ENOTCONN && io->write)
		dafs_xid_note(&io->xid, io->conn, io->call);
	if (lost)
		dafs_io_drop_call(io);
	if (lost == -ETIMEDOUT)
		dafs_io_end(io, lost);
	else if (lost)
		dafs_io_lost(io);
	else if (io->call->status != DAFS_STATUS_OK)
		dafs_io_refused(io);
	else
		dafs_io_advance(io);
}

static void dafs_io_done_work(struct work_struct *work)
{
	unsigned int flags = memalloc_nofs_save();

	dafs_io_answered(container_of(work, struct dafs_io, done_work));
	memalloc_nofs_restore(flags);
}

/**
 * dafs_io_start() - begin to move data
 * @io: sbi, di, open, cred, write, stable, iter, pos, len and complete set, and as
 *	needed force_inline, max_part, anywhere and priv; the rest zero.  iter is
 *	memory of the kernel, and like all the others stays good until complete is
 *	called.
 *
 * complete is called once, with 0 or a negative errno, from this function, from
 * a work queue or, if anywhere is set, also from softirq; a failed connection is
 * no error on a hard mount.
 *
 * Context: may sleep.
 */
void dafs_io_start(struct dafs_io *io)
{
	unsigned int flags = memalloc_nofs_save();

	INIT_WORK(&io->done_work, dafs_io_done_work);
	INIT_DELAYED_WORK(&io->retry_work, dafs_io_retry_work);
	io->park.resume = dafs_io_unparked;
	io->park.leave = &io->sbi->leaving;
	io->forced = READ_ONCE(io->sbi->forced);
	io->committed = DAFS_FILE_SYNC;
	dafs_io_send(io);
	memalloc_nofs_restore(flags);
}

static void dafs_io_ended(struct dafs_io *io, int err)
{
	io->wait->err = err;
	io->wait->ended = true;
}

/*
 * Nothing is under way: go on, as the work queue would.
 *
 * Return: 0, or -ERESTARTSYS if the task is killed.
 */
static int dafs_io_go_on(struct dafs_io *io, struct dafs_io_wait *wait)
{
	wait->again = false;
	if (wait->delay_ms)
		schedule_timeout_killable(msecs_to_jiffies(wait->delay_ms));
	if (fatal_signal_pending(current))
		return -ERESTARTSYS;
	dafs_io_resume(io);
	return 0;
}

/*
 * A call is under way.
 *
 * Return: 0, or -ERESTARTSYS if the task is killed; its memory is out of the
 * server's reach then.
 */
static int dafs_io_await(struct dafs_io *io)
{
	if (dafs_call_wait(io->call) == -ERESTARTSYS) {
		dafs_io_drop_call(io);
		return -ERESTARTSYS;
	}
	dafs_io_answered(io);
	return 0;
}

/**
 * dafs_io_run() - move data and wait for the end
 * @io: as for dafs_io_start(), without complete
 *
 * The caller does all of it itself, and so can be killed at any time.
 *
 * Context: may sleep; a fatal signal ends it.
 * Return: 0 or a negative errno; -ERESTARTSYS if the task is killed.
 */
int dafs_io_run(struct dafs_io *io)
{
	unsigned int flags = memalloc_nofs_save();
	struct dafs_io_wait wait = {};
	int err = 0;

	io->complete = dafs_io_ended;
	io->wait = &wait;
	dafs_io_start(io);
	while (!err && !wait.ended)
		err = wait.again ? dafs_io_go_on(io, &wait) : dafs_io_await(io);
	dafs_xid_drop(&io->xid);
	memalloc_nofs_restore(flags);
	return err ?: wait.err;
}
