// SPDX-License-Identifier: GPL-2.0
/*
 * Stable storage, and how clients learn of data that is lost (6.5.8, 6.5.38).
 *
 * A write-back error concerns data that was acknowledged as UNSTABLE.  The kernel reports
 * it once for each open file, so only the first caller sees it: a stable write by the same
 * open, for example.  COMMIT must not depend on being the first caller.  Therefore each
 * export has its own errseq_t cursor for the errors of its file system.  If there is a new
 * error, the write verifier changes before a verifier is sent to any client again.  A
 * client compares the verifier of COMMIT with that of the write, and sends the data again
 * if they differ.
 *
 * The cursor is for the file system and not for the file, because data may be committed by
 * another open than it was written by, or after all opens are closed.
 */
#include <linux/pagemap.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/seqlock.h>
#include "../export/export.h"
#include "../state/open.h"
#include "data.h"

/* Protects dafsd_write_verifier and dafsd_export.wb_err. */
static DEFINE_SEQLOCK(dafsd_verifier_lock);

static struct dafs_verifier dafsd_write_verifier;

/**
 * dafsd_verifier_change() - tell all clients that unstable data may be lost
 *
 * Context: any.
 */
void dafsd_verifier_change(void)
{
	struct dafs_verifier verifier;

	get_random_bytes(&verifier, sizeof(verifier));
	write_seqlock(&dafsd_verifier_lock);
	dafsd_write_verifier = verifier;
	write_sequnlock(&dafsd_verifier_lock);
}

/* Change the verifier if the file system of the export has had an error. */
static void dafsd_verifier_advance(struct dafsd_export *exp)
{
	struct dafs_verifier verifier;
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
 * @exp: the export of the file
 * @verifier: set; differs from all verifiers that were returned before the last write-back
 *	error of the export's file system
 *
 * A write reads it before the data is written, COMMIT after the data was written back.
 *
 * Context: any but interrupt.
 */
void dafsd_verifier_get(struct dafsd_export *exp, struct dafs_verifier *verifier)
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
 * @pos: file position; updated
 * @flags: RWF_*
 *
 * Dirty pages of a client on this machine must not throttle the server that writes them:
 * with PF_LOCAL_THROTTLE only the dirty pages of the file system's own device count.
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
 * dafsd_sync_begin() - to be called before writing to a file
 * @filp: the file
 *
 * Errors of earlier data must fail neither this write nor a later COMMIT, which would make
 * the client drop data that it still has.  Instead the verifier is changed.  The caller
 * must read the verifier after this.
 *
 * Context: may sleep.
 * Return: the value for dafsd_sync(), to be called if the write has to be stable.
 */
errseq_t dafsd_sync_begin(struct file *filp)
{
	if (file_check_and_advance_wb_err(filp))
		dafsd_verifier_change();
	return filemap_sample_wb_err(filp->f_mapping);
}

/**
 * dafsd_sync() - make written data stable
 * @filp: the file
 * @start: first byte
 * @end: last byte
 * @datasync: write only the metadata that is needed to read the data
 * @since: from dafsd_sync_begin()
 *
 * An error of this data may have been reported to another request of the same open, so it
 * is not sufficient to check for errors that are new to the open.
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
