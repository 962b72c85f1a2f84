// SPDX-License-Identifier: GPL-2.0
/*
 * What is on stable storage, and how clients hear of what is not (6.5.8, 6.5.38).
 *
 * An error of writing back concerns data that was acknowledged as UNSTABLE.  It
 * is told once to each open file, so only the first that asks hears of it: a
 * stable write by the same open, or a program of this machine.  COMMIT must not
 * depend on being the first.  Therefore each export has a cursor of its own in
 * the errors of its file system.  An error behind it changes the write verifier
 * before any client is told a verifier again.  A client compares the verifier
 * of COMMIT with that of the write, and sends the data again if they differ.
 *
 * The cursor is that of the file system and not of the file because data may be
 * committed by another open than it was written by, or when none is left.
 */
#include <linux/pagemap.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/seqlock.h>
#include "../export/export.h"
#include "../state/state.h"
#include "data.h"

/* Guards dafsd_write_verifier and dafsd_export.wb_err. */
static DEFINE_SEQLOCK(dafsd_verifier_lock);

static struct dafs_opaque64 dafsd_write_verifier;

/**
 * dafsd_verifier_change() - tell all clients that unstable data may be lost
 *
 * Context: any.
 */
void dafsd_verifier_change(void)
{
	struct dafs_opaque64 verifier;

	get_random_bytes(&verifier, sizeof(verifier));
	write_seqlock(&dafsd_verifier_lock);
	dafsd_write_verifier = verifier;
	write_sequnlock(&dafsd_verifier_lock);
}

/* The errors of the export's file system so far are told by a new verifier. */
static void dafsd_verifier_advance(struct dafsd_export *exp)
{
	struct dafs_opaque64 verifier;
	int err;

	get_random_bytes(&verifier, sizeof(verifier));
	write_seqlock(&dafsd_verifier_lock);
	err = errseq_check_and_advance(&exp->path.mnt->mnt_sb->s_wb_err, &exp->wb_err);
	if (err)
		dafsd_write_verifier = verifier;
	write_sequnlock(&dafsd_verifier_lock);
	if (err)
		pr_warn_ratelimited("dafsd: writing data back in export %s has failed: %d\n",
				    exp->name, err);
}

/**
 * dafsd_verifier_get() - the write verifier (6.5.38)
 * @exp: the export that the answer is about
 * @verifier: set; differs from all that were returned before the last error of
 *	writing back to the export's file system
 *
 * For a write it is taken before the data is there, for COMMIT after the data
 * was written back.
 *
 * Context: any but interrupt.
 */
void dafsd_verifier_get(struct dafsd_export *exp, struct dafs_opaque64 *verifier)
{
	errseq_t *errors = &exp->path.mnt->mnt_sb->s_wb_err;
	unsigned int seq;

	do {
		seq = read_seqbegin(&dafsd_verifier_lock);
		*verifier = dafsd_write_verifier;
		/* dafsd_verifier_advance() changes both in one section */
		if (errseq_check(errors, READ_ONCE(exp->wb_err))) {
			dafsd_verifier_advance(exp);
			continue;
		}
	} while (read_seqretry(&dafsd_verifier_lock, seq));
}

/**
 * dafsd_write_iter() - write to a file
 * @use: the file
 * @iter: the data
 * @pos: where; moved on
 * @flags: RWF_*
 *
 * What a client on this machine has dirty must not keep the server from writing it:
 * then only the disk that is written to counts.
 *
 * Context: may sleep.
 * Return: as vfs_iter_write().
 */
ssize_t dafsd_write_iter(const struct dafsd_use *use, struct iov_iter *iter, loff_t *pos,
			 rwf_t flags)
{
	unsigned int saved = current->flags;
	ssize_t n;

	if (use->local)
		current->flags |= PF_LOCAL_THROTTLE;
	n = vfs_iter_write(use->filp, iter, pos, flags);
	current_restore_flags(saved, PF_LOCAL_THROTTLE);
	return n;
}

/**
 * dafsd_sync_begin() - before writing to a file
 * @filp: the file
 *
 * Errors of earlier data are none of what is written now, nor of a COMMIT, which
 * would make a client give up data that it still has: the verifier tells of them.
 * It is to be taken after this.
 *
 * Context: may sleep.
 * Return: for dafsd_sync(), if what is written has to be stable.
 */
errseq_t dafsd_sync_begin(struct file *filp)
{
	if (file_check_and_advance_wb_err(filp))
		dafsd_verifier_change();
	return filemap_sample_wb_err(filp->f_mapping);
}

/**
 * dafsd_sync() - make stable what was written
 * @filp: the file
 * @start: first byte
 * @end: last byte
 * @datasync: only what it takes to read the data
 * @since: from dafsd_sync_begin()
 *
 * The error of this data may have been told to another request by the same
 * open, so it is not enough to ask for those that are new to the open.
 *
 * Context: may sleep, for as long as the disk takes.
 * Return: 0, or a negative errno; then the verifier has changed, because the
 * error may concern earlier data, too.
 */
int dafsd_sync(struct file *filp, loff_t start, loff_t end, bool datasync, errseq_t since)
{
	int err = vfs_fsync_range(filp, start, end, datasync);

	if (!err)
		err = filemap_check_wb_err(filp->f_mapping, since);
	if (err)
		dafsd_verifier_change();
	return err;
}
