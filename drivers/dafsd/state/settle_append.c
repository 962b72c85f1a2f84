// SPDX-License-Identifier: GPL-2.0
/*
 * What became of appends that were being executed when the server crashed, see settle.c.
 *
 * An append is in the file if its bytes are, as checksums of its pages tell.  File systems write
 * pages in any order, and the size before or after them.  Appends of several clients may be under
 * way in one file, each behind the other, so one is not there if one before it is not.  Hence all
 * of them are looked at before any is removed.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mount.h>
#include "../export/export.h"
#include "../session/respcache.h"
#include "../session/server.h"
#include "settle_impl.h"

static bool dafsd_settle_is_append(const struct dafsd_response *response)
{
	return response->proc == DAFS_PROC_APPEND_INLINE ||
	       response->proc == DAFS_PROC_APPEND_DIRECT;
}

/* Is it in doubt whether an append was executed? */
static bool dafsd_settle_doubts(const struct dafsd_response *response)
{
	return dafsd_settle_is_append(response) && response->mark != DAFSD_RESPONSE_EXECUTED;
}

/**
 * dafsd_settle_append_look() - what is there of an append?
 * @s: the request
 *
 * Context: may sleep for the file system.
 */
void dafsd_settle_append_look(struct dafsd_settling *s)
{
	struct dafsd_settle_found found;
	struct file *file;

	if (!dafsd_settle_doubts(s->response))
		return;
	file = dafsd_settle_find_data(s, &found);
	if (file)
		fput(file);
	s->response->missing = !found.whole;
}

/* Another append to the same file that is missing: is it before this one? */
static void dafsd_settle_append_judge_by(struct dafsd_respcache *cache,
					 struct dafsd_response *other, void *arg)
{
	struct dafsd_settling *s = arg;
	const struct dafsd_witness *w = dafsd_settle_witness(s->exp, other);

	if (w && other->missing && dafsd_settle_is_append(other) &&
	    !memcmp(&w->dir, &s->witness->dir, sizeof(w->dir)) &&
	    le64_to_cpu(w->offset) <= le64_to_cpu(s->witness->offset))
		s->response->missing = true;
}

/**
 * dafsd_settle_append_judge() - is an append missing because one before it is?
 * @s: the request
 *
 * Context: may sleep for the file system.
 */
void dafsd_settle_append_judge(struct dafsd_settling *s)
{
	if (dafsd_settle_doubts(s->response) && !s->response->missing)
		dafsd_responses_revived(&dafsd_server, dafsd_settle_append_judge_by, s);
}

static bool dafsd_settle_truncate(struct dafsd_settling *s, struct file *file)
{
	int err = vfs_truncate(&file->f_path, le64_to_cpu(s->witness->offset)) ?:
		  vfs_fsync(file, 0);

	if (err)
		dafsd_settle_fail(s, err);
	return !err;
}

/**
 * dafsd_settle_append_cut() - remove what is there of an append that was not executed
 * @s: the request; its cut is set if something was removed
 *
 * If it is all there is behind: what others may have written is left alone.
 *
 * Context: may sleep for the file system.
 */
void dafsd_settle_append_cut(struct dafsd_settling *s)
{
	loff_t begin = le64_to_cpu(s->witness->offset), size;
	struct dafsd_settle_found found;
	struct file *file;

	if (!dafsd_settle_doubts(s->response) || !s->response->missing ||
	    __mnt_is_readonly(s->exp->path.mnt))
		return;
	file = dafsd_settle_find_data(s, &found);
	if (!file)
		return;
	size = i_size_read(file_inode(file));
	if (size > begin && size - begin <= le32_to_cpu(s->witness->length) && !found.strange)
		s->cut = dafsd_settle_truncate(s, file);
	fput(file);
}

/* Is anything there behind where it was to begin?  False without a file, or if it failed. */
static bool dafsd_settle_left(struct dafsd_settling *s)
{
	struct file *file = dafsd_settle_open(s);
	bool left;

	if (!file)
		return false;
	left = i_size_read(file_inode(file)) > (loff_t)le64_to_cpu(s->witness->offset);
	fput(file);
	return left;
}

/* An append was not executed. */
static void dafsd_settle_missing(struct dafsd_settling *s)
{
	bool left = dafsd_settle_left(s);

	/* another export of the file system may remove what is there */
	if (dafsd_settle_failed(s) || (left && __mnt_is_readonly(s->exp->path.mnt)))
		return;
	if (left)
		pr_warn_ratelimited("dafsd: a file of %s may end with a part of an append that was not finished before a crash\n",
				    s->exp->name);
	dafsd_settle_not_done(s);
}

/**
 * dafsd_settle_append() - tell what became of an append
 * @s: the request
 *
 * Context: may sleep for the file system.
 */
void dafsd_settle_append(struct dafsd_settling *s)
{
	if (dafsd_settle_doubts(s->response) && s->response->missing)
		dafsd_settle_missing(s);
	else
		dafsd_settle_done(s, NULL, NULL);
}
