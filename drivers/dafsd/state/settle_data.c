// SPDX-License-Identifier: GPL-2.0
/*
 * What became of WRITEs and SETATTRs that were being executed when the server crashed, see
 * settle.c: they were executed if the file has that data, and the object these attributes.  If it
 * had them before, that makes no difference.
 */
#include <linux/crc32c.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/slab.h>
#include <linux/time64.h>
#include <linux/unaligned.h>
#include "../export/export.h"
#include "../session/respcache.h"
#include "../vfs/fh.h"
#include "../vfs/vfs.h"
#include "settle_impl.h"

/* A part of the file: @n bytes of it are there, of @len that were to be written */
static void dafsd_settle_page(const u8 *page, size_t n, size_t len, const u8 *sum,
			      struct dafsd_settle_found *found)
{
	if (n == len && crc32c(0, page, n) == get_unaligned_le32(sum))
		return;
	found->whole = false;
	found->strange |= n && memchr_inv(page, 0, n);
}

/* Return: 0 or a negative errno. */
static int dafsd_settle_compare(struct file *file, const struct dafsd_witness *w,
				struct dafsd_settle_found *found)
{
	u32 left = le32_to_cpu(w->length);
	loff_t pos = le64_to_cpu(w->offset);
	u8 *page = kmalloc(DAFSD_SUM_SIZE, GFP_KERNEL);
	const u8 *sum = w->data;
	ssize_t n = 0;
	size_t len;

	if (!page)
		return -ENOMEM;
	if (dafsd_witness_sums(pos, left) * sizeof(__le32) != le16_to_cpu(w->data_len)) {
		kfree(page);
		return -EINVAL;
	}
	*found = (struct dafsd_settle_found){ .whole = true };
	for (; left; left -= len) {
		len = min_t(u32, left, DAFSD_SUM_SIZE - dafsd_sum_offset(pos));
		n = kernel_read(file, page, len, &pos);
		if (n < 0)
			break;
		dafsd_settle_page(page, n, len, sum, found);
		if (n < (ssize_t)len)
			break;
		sum += sizeof(__le32);
	}
	kfree(page);
	return n < 0 ? n : 0;
}

/* What data or attributes were for.  Return: NULL if it is certainly gone, or if it failed. */
static struct dentry *dafsd_settle_find_object(struct dafsd_settling *s)
{
	struct dentry *dentry = dafsd_settle_find(s, &s->witness->dir);

	if (!dentry && !dafsd_settle_failed(s) && !dafsd_settle_gone(s))
		dafsd_settle_fail(s, -ESTALE);
	return dentry;
}

/**
 * dafsd_settle_open() - the file that data was to be written to
 * @s: the request
 *
 * Context: may sleep for the file system.
 * Return: the file, for fput(); NULL if it does not exist any more, or dafsd_settle_failed().
 */
struct file *dafsd_settle_open(struct dafsd_settling *s)
{
	struct path path = { .mnt = s->exp->path.mnt };
	struct file *file;

	path.dentry = dafsd_settle_find_object(s);
	if (!path.dentry)
		return NULL;
	file = dentry_open(&path, O_RDONLY | O_LARGEFILE, current_cred());
	dput(path.dentry);
	if (!IS_ERR(file))
		return file;
	dafsd_settle_fail(s, PTR_ERR(file));
	return NULL;
}

/**
 * dafsd_settle_find_data() - what is there of data that was to be written?
 * @s: the request
 * @found: set
 *
 * Context: may sleep for the file system.
 * Return: as dafsd_settle_open().
 */
struct file *dafsd_settle_find_data(struct dafsd_settling *s, struct dafsd_settle_found *found)
{
	struct file *file = dafsd_settle_open(s);
	int err;

	*found = (struct dafsd_settle_found){};
	if (!file)
		return NULL;
	err = dafsd_settle_compare(file, s->witness, found);
	/* it is said to be stable, and may be in the cache of the disk */
	if (!err && found->whole)
		err = vfs_fsync(file, 0);
	if (!err)
		return file;
	dafsd_settle_fail(s, err);
	fput(file);
	return NULL;
}

/**
 * dafsd_settle_write() - tell what became of a WRITE
 * @s: the request
 *
 * Context: may sleep for the file system.
 */
void dafsd_settle_write(struct dafsd_settling *s)
{
	bool executed = s->response->mark == DAFSD_RESPONSE_EXECUTED;
	struct dafsd_settle_found found;
	struct file *file;

	if (!executed) {
		file = dafsd_settle_find_data(s, &found);
		executed = found.whole;
		if (file)
			fput(file);
	}
	if (executed)
		dafsd_settle_done(s, NULL, NULL);
	else if (!dafsd_settle_failed(s))
		dafsd_settle_not_done(s);
}

/**
 * dafsd_settle_attrs() - what SETATTR was to set
 * @w: its witness
 * @attr: set; its strings are in @w
 *
 * Context: any.
 * Return: 0, or a negative errno if it does not make sense.
 */
int dafsd_settle_attrs(const struct dafsd_witness *w, struct dafs_fattr *attr)
{
	const struct dafs_buf buf = {
		.base = (u8 *)w->data,
		.len = le16_to_cpu(w->data_len),
		.swab = IS_ENABLED(CONFIG_CPU_BIG_ENDIAN),
	};

	return dafs_decode_fattr(&buf, attr);
}

/* Was the time of the server to be set?  Nothing tells then whether it was. */
static bool dafsd_settle_is_blind(const struct dafs_fattr *attr)
{
	return ((attr->included & DAFS_FATTR_TIME_ACCESS_SET) &&
		attr->time_access_set.how == DAFS_SET_TO_SERVER_TIME) ||
	       ((attr->included & DAFS_FATTR_TIME_MODIFY_SET) &&
		attr->time_modify_set.how == DAFS_SET_TO_SERVER_TIME);
}

/* The time that was asked for, as the file system has it */
static void dafsd_settle_time(struct inode *inode, const struct dafs_settime *set,
			      struct dafs_time *time)
{
	struct timespec64 ts = {
		.tv_sec = set->client_time.seconds,
		.tv_nsec = set->client_time.nseconds,
	};

	ts = timestamp_truncate(ts, inode);
	time->seconds = ts.tv_sec;
	time->nseconds = ts.tv_nsec;
}

/*
 * Turn TIME_*_SET into the times to be found, and drop bits of the mode that are not kept.
 *
 * Return: which attributes to compare.
 */
static u64 dafsd_settle_wanted(struct inode *inode, struct dafs_fattr *attr)
{
	u64 which = attr->included;

	dafsd_settle_time(inode, &attr->time_access_set, &attr->time_access);
	if (which & DAFS_FATTR_TIME_ACCESS_SET)
		which |= DAFS_FATTR_TIME_ACCESS;
	dafsd_settle_time(inode, &attr->time_modify_set, &attr->time_modify);
	if (which & DAFS_FATTR_TIME_MODIFY_SET)
		which |= DAFS_FATTR_TIME_MODIFY;
	attr->mode &= S_IALLUGO;
	return which & ~(DAFS_FATTR_TIME_ACCESS_SET | DAFS_FATTR_TIME_MODIFY_SET);
}

/*
 * What may differ though it was set: file systems drop set-id bits that the caller may not set, and
 * chown(2) does; and others read meanwhile.  Nothing may if the object has not changed since the
 * intent.  Bits that are there and were to be dropped are not forgiven.
 */
static void dafsd_settle_forgive(const struct dafsd_settling *s, const struct inode *inode,
				 struct dafs_fattr *attr, struct dafs_fattr *has)
{
	/* what was in memory only may be older than that again */
	if ((s64)le64_to_cpu(dafsd_witness_ctime(inode)) <= (s64)le64_to_cpu(s->witness->ctime))
		return;
	attr->mode &= has->mode | ~(S_ISUID | S_ISGID);
	has->time_access = attr->time_access;
}

/* Does the object have the attributes that were to be set? */
static bool dafsd_settle_has_attrs(struct dafsd_settling *s, struct dentry *dentry,
				   struct dafs_fattr *attr)
{
	const struct dafsd_fh fh = { .exp = s->exp, .dentry = dentry };
	u64 which = dafsd_settle_wanted(d_inode(dentry), attr);
	struct dafs_fattr *has = kzalloc(sizeof(*has), GFP_KERNEL | __GFP_NOFAIL);
	struct dafsd_fattr_names *names = kvzalloc(sizeof(*names), GFP_KERNEL);
	dafs_status_t status;
	bool same;

	status = names ? dafsd_fattr_get(&fh, which, has, names) : DAFSERR_RESOURCE;
	if (status)
		dafsd_settle_fail(s, status == DAFSERR_RESOURCE ? -ENOMEM : -EIO);
	else
		dafsd_settle_forgive(s, d_inode(dentry), attr, has);
	same = !status && dafsd_fattr_same(attr, has, which);
	kvfree(names);
	kfree(has);
	return same;
}

/**
 * dafsd_settle_setattr() - tell what became of a SETATTR
 * @s: the request
 *
 * Context: may sleep for the file system.
 */
void dafsd_settle_setattr(struct dafsd_settling *s)
{
	bool executed = s->response->mark == DAFSD_RESPONSE_EXECUTED;
	struct dafs_fattr attr = {};
	struct dentry *dentry;

	if (dafsd_settle_attrs(s->witness, &attr)) {
		dafsd_settle_fail(s, -EUCLEAN);
		return;
	}
	if (!executed && dafsd_settle_is_blind(&attr)) {
		dafsd_settle_fail(s, -ENODATA);
		return;
	}
	dentry = executed ? NULL : dafsd_settle_find_object(s);
	if (dentry)
		executed = dafsd_settle_has_attrs(s, dentry, &attr);
	dput(dentry);
	if (dafsd_settle_failed(s))
		return;
	if (executed)
		dafsd_settle_done(s, NULL, NULL);
	else
		dafsd_settle_not_done(s);
}
