// SPDX-License-Identifier: GPL-2.0
/*
 * What became of WRITEs and SETATTRs that were being executed when the server crashed, see
 * settle.c: they were executed if the file has that data, and the object these attributes.  If it
 * had them before, that makes no difference.
 */
#include <linux/crc32c.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/mount.h>
#include <linux/slab.h>
#include <linux/time64.h>
#include <linux/unaligned.h>
#include "../export/export.h"
#include "../session/respcache.h"
#include "../vfs/fh.h"
#include "../vfs/vfs.h"
#include "settle_impl.h"

/* A page of the file: @n bytes of it are there, of @len that were to be appended */
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
	u8 *page = kmalloc(PAGE_SIZE, GFP_KERNEL);
	const u8 *sum = w->names;
	ssize_t n = 0;
	size_t len;

	if (!page)
		return -ENOMEM;
	/* it may be of a machine with pages of another size */
	if (DIV_ROUND_UP(offset_in_page(pos) + left, PAGE_SIZE) * sizeof(__le32) !=
	    le16_to_cpu(w->name_len)) {
		kfree(page);
		return -EINVAL;
	}
	*found = (struct dafsd_settle_found){ .whole = true };
	for (; left; left -= len) {
		len = min_t(u32, left, PAGE_SIZE - offset_in_page(pos));
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

	path.dentry = dafsd_settle_find(s, &s->witness->dir);
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
		.base = (u8 *)w->names,
		.len = le16_to_cpu(w->name_len),
		.swab = IS_ENABLED(CONFIG_CPU_BIG_ENDIAN),
	};

	return dafs_decode_fattr(&buf, attr);
}

/* The time that was asked for, as the file system has it; nothing if it was the server's. */
static u64 dafsd_settle_time(const struct inode *inode, const struct dafs_settime *set,
			     struct dafs_time *time, u64 bit)
{
	struct timespec64 ts = {
		.tv_sec = set->client_time.seconds,
		.tv_nsec = set->client_time.nseconds,
	};

	if (set->how == DAFS_SET_TO_SERVER_TIME)
		return 0;
	ts = timestamp_truncate(ts, (struct inode *)inode);
	time->seconds = ts.tv_sec;
	time->nseconds = ts.tv_nsec;
	return bit;
}

/* Make of attributes that were to be set those that are there if they were.  Return: which. */
static u64 dafsd_settle_wanted(const struct inode *inode, struct dafs_fattr *attr)
{
	u64 which = attr->included;

	if (which & DAFS_FATTR_TIME_ACCESS_SET)
		which |= dafsd_settle_time(inode, &attr->time_access_set, &attr->time_access,
					   DAFS_FATTR_TIME_ACCESS);
	if (which & DAFS_FATTR_TIME_MODIFY_SET)
		which |= dafsd_settle_time(inode, &attr->time_modify_set, &attr->time_modify,
					   DAFS_FATTR_TIME_MODIFY);
	attr->mode &= S_IALLUGO;
	return which & ~(DAFS_FATTR_TIME_ACCESS_SET | DAFS_FATTR_TIME_MODIFY_SET);
}

/* Has the object changed since before? */
static bool dafsd_settle_has_changed(const struct dafsd_settling *s, const struct inode *inode)
{
	const struct timespec64 ctime = inode_get_ctime(inode);

	return timespec64_to_ns(&ctime) != le64_to_cpu(s->witness->offset);
}

/* Does the object have the attributes that were to be set? */
static bool dafsd_settle_has_attrs(struct dafsd_settling *s, struct dentry *dentry,
				   struct dafs_fattr *attr)
{
	const struct dafsd_fh fh = { .exp = s->exp, .dentry = dentry };
	u64 which = dafsd_settle_wanted(d_inode(dentry), attr);
	struct dafsd_fattr_names *names;
	struct dafs_fattr *has;
	dafs_status_t status;
	bool same = false;

	/* only times of the server */
	if (!which)
		return dafsd_settle_has_changed(s, d_inode(dentry));
	has = kzalloc(sizeof(*has), GFP_KERNEL | __GFP_NOFAIL);
	names = kvzalloc(sizeof(*names), GFP_KERNEL);
	status = names ? dafsd_fattr_get(&fh, which, has, names) : DAFSERR_RESOURCE;
	if (status)
		dafsd_settle_fail(s, status == DAFSERR_RESOURCE ? -ENOMEM : -EIO);
	else
		same = dafsd_fattr_same(attr, has, which);
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
	dentry = executed ? NULL : dafsd_settle_find(s, &s->witness->dir);
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
