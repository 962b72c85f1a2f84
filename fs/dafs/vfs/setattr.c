// SPDX-License-Identifier: GPL-2.0
/* Changing attributes: chmod, chown, utimes, truncate. */
#include <linux/pagemap.h>
#include <linux/slab.h>
#include "../data/data.h"
#include "../state/lock.h"
#include "vfs.h"
#include "../data/netfs_compat.h"

#define DAFS_ID_LEN	12	/* a decimal u32 */

/* The two owner strings that a SETATTR may carry. */
struct dafs_id_strings {
	char uid[DAFS_ID_LEN];
	char gid[DAFS_ID_LEN];
};

static void dafs_fattr_add(struct dafs_fattr *attr, u64 bit)
{
	attr->included |= bit;
	attr->valid |= bit;
}

static void dafs_fattr_time(struct dafs_fattr *attr, u64 bit, struct dafs_settime *to,
			    const struct timespec64 *ts, bool given)
{
	dafs_fattr_add(attr, bit);
	to->how = given ? DAFS_SET_TO_CLIENT_TIME : DAFS_SET_TO_SERVER_TIME;
	if (given) {
		to->client_time.seconds = ts->tv_sec;
		to->client_time.nseconds = ts->tv_nsec;
	}
}

static struct dafs_str dafs_id_str(char *buf, u32 id)
{
	return (struct dafs_str){
		.len = snprintf(buf, DAFS_ID_LEN, "%u", id),
		.data = (u8 *)buf,
	};
}

static void dafs_fattr_owners(struct inode *inode, const struct iattr *iattr,
			      struct dafs_fattr *attr, struct dafs_id_strings *ids)
{
	struct user_namespace *ns = inode->i_sb->s_user_ns;

	if (iattr->ia_valid & ATTR_UID) {
		dafs_fattr_add(attr, DAFS_FATTR_OWNER);
		attr->owner = dafs_id_str(ids->uid, from_kuid(ns, iattr->ia_uid));
	}
	if (iattr->ia_valid & ATTR_GID) {
		dafs_fattr_add(attr, DAFS_FATTR_OWNER_GROUP);
		attr->owner_group = dafs_id_str(ids->gid, from_kgid(ns, iattr->ia_gid));
	}
}

/*
 * Set-id bits go when a file is written to, gets another size (both of which
 * the VFS forces) or another owner.  The server sees to that in each case, for
 * every user who may do it, while only the owner may ask for another mode.
 */
static bool dafs_mode_implied(unsigned int valid)
{
	return (valid & (ATTR_KILL_SUID | ATTR_KILL_SGID)) &&
	       (valid & (ATTR_FORCE | ATTR_UID | ATTR_GID));
}

static void dafs_fattr_fill(struct inode *inode, const struct iattr *iattr,
			    struct dafs_fattr *attr, struct dafs_id_strings *ids)
{
	unsigned int valid = iattr->ia_valid;

	if ((valid & ATTR_MODE) && !dafs_mode_implied(valid))
		dafs_fattr_mode(attr, iattr->ia_mode);
	if (valid & ATTR_SIZE) {
		dafs_fattr_add(attr, DAFS_FATTR_OBJECT_SIZE);
		attr->object_size = iattr->ia_size;
	}
	dafs_fattr_owners(inode, iattr, attr, ids);
	if (valid & ATTR_ATIME)
		dafs_fattr_time(attr, DAFS_FATTR_TIME_ACCESS_SET, &attr->time_access_set,
				&iattr->ia_atime, valid & ATTR_ATIME_SET);
	/* A new size sets the time by itself, at the same moment. */
	if ((valid & ATTR_SIZE) && iattr->ia_size != i_size_read(inode) &&
	    !(valid & ATTR_MTIME_SET))
		return;
	if (valid & ATTR_MTIME)
		dafs_fattr_time(attr, DAFS_FATTR_TIME_MODIFY_SET, &attr->time_modify_set,
				&iattr->ia_mtime, valid & ATTR_MTIME_SET);
}

/* An open for writing that the new size may refer to (6.5.35, E-115). */
static struct dafs_open_state *dafs_setattr_open(struct inode *inode,
						 const struct iattr *iattr,
						 const struct cred *cred)
{
	struct dafs_open_state *os;

	if (!(iattr->ia_valid & ATTR_SIZE))
		return NULL;
	if (iattr->ia_valid & ATTR_FILE) {
		os = iattr->ia_file->private_data;
		if (os->access & DAFS_OPEN_SHARE_ACCESS_WRITE) {
			dafs_open_state_hold(os);
			return os;
		}
	}
	return dafs_open_state_find_free(DAFS_I(inode), DAFS_OPEN_SHARE_ACCESS_WRITE, cred);
}

/* A new size may rely on locks, as I/O does. */
static int dafs_setattr_look(struct dafs_op *op, struct dafs_call *call)
{
	return dafs_locks_look(op->priv, op->conn);
}

/*
 * The task was killed.  What was done under a lock is waited for before that is unlocked, see
 * dafs_direct_await().
 */
static void dafs_setattr_left(void *priv)
{
	struct inode *inode = priv;

	/* cannot fail, the caller has the inode */
	dafs_inode_hold(inode);
	atomic_inc(&DAFS_I(inode)->left_writes);
}

static void dafs_setattr_ended(void *priv)
{
	struct inode *inode = priv;

	/* the file may have another size, and nobody else tells of it if it is delegated */
	dafs_cache_doubt(DAFS_I(inode));
	dafs_write_ended(DAFS_I(inode));
	dafs_inode_put_later(inode);
}

static int dafs_setattr_send(struct inode *inode, const struct cred *cred,
			     struct dafs_open_state *os, const struct dafs_fattr *attr)
{
	bool size = attr->included & DAFS_FATTR_OBJECT_SIZE;
	struct dafs_state_id state_id = {};
	const struct dafs_setattr_how how = {
		.cred = cred,
		.fh = &DAFS_I(inode)->fh,
		.state_id = &state_id,
		.attr = attr,
		.prepare = size ? dafs_setattr_look : NULL,
		.leave = &DAFS_SB(inode->i_sb)->leaving,
		.left = size ? dafs_setattr_left : NULL,
		.ended = dafs_setattr_ended,
		.priv = inode,
	};
	unsigned int delay_ms = 0;
	dafs_status_t status;
	int err;

	do {
		err = os ? dafs_open_state_id(os, &state_id) : 0;
		if (err)
			return err;
		err = dafs_setattr_when(dafs_inode_clnt(inode), &how, &status);
		if (err == -EINPROGRESS) {
			err = dafs_locks_await_answer(inode, &delay_ms);
			continue;
		}
		if (!os || dafs_status_action(status) != DAFS_ACT_OPEN)
			return err;
		if (dafs_open_state_broken(os, &state_id, status))
			return -EOWNERDEAD;
		err = dafs_open_state_recover_retry(os, &state_id, &delay_ms);
	} while (!err);
	return err;
}

/*
 * The server has the new size; make the page cache agree.  The caller holds
 * i_rwsem, so no task is in read(2) or write(2), and wb_lock, so that nothing
 * is written back.  An answer that is being applied now, and is older, comes
 * before the new size.
 */
static void dafs_set_size(struct inode *inode, loff_t old, loff_t size)
{
	struct dafs_inode *di = DAFS_I(inode);

	spin_lock(&di->lock);
	spin_lock(&inode->i_lock);
	i_size_write(inode, size);
	WRITE_ONCE(di->netfs.zero_point, size);
	WRITE_ONCE(di->netfs.remote_i_size, size);
	spin_unlock(&inode->i_lock);
	spin_unlock(&di->lock);
	if (size > old)
		dafs_netfs_extended(inode, old, size);
	else
		truncate_pagecache(inode, size);
}

/*
 * Data written before must not arrive, nor be sent again, after the
 * attributes have changed: it would set the times, or a size that is no more.
 * An error of writing is left to the program that wrote; a full file system
 * must not keep a file from being truncated.
 */
static int dafs_setattr_prepare(struct inode *inode, const struct iattr *iattr)
{
	bool size = iattr->ia_valid & ATTR_SIZE;
	int err;

	if (!S_ISREG(inode->i_mode))
		return size ? -EISDIR : 0;
	if (size) {
		err = inode_newsize_ok(inode, iattr->ia_size);
		if (err)
			return err;
		inode_dio_wait(inode);
	}
	/* The little that a new file holds is committed on the way. */
	atomic_inc(&DAFS_I(inode)->flushing);
	filemap_fdatawrite(inode->i_mapping);
	filemap_fdatawait_keep_errors(inode->i_mapping);
	atomic_dec(&DAFS_I(inode)->flushing);
	return size || (iattr->ia_valid & ATTR_MTIME_SET) ? dafs_commit_inode(inode) : 0;
}

static void dafs_setattr_local(struct inode *inode, const struct iattr *iattr)
{
	struct dafs_inode *di = DAFS_I(inode);

	spin_lock(&di->lock);
	setattr_copy(&nop_mnt_idmap, inode, iattr);
	dafs_access_zap_locked(di);
	spin_unlock(&di->lock);
}

static void dafs_setattr_done(struct inode *inode, const struct iattr *iattr,
			      loff_t old_size)
{
	/* An answer that is on its way must not bring the old ones back. */
	dafs_own_change(DAFS_I(inode));
	if (iattr->ia_valid & ATTR_SIZE)
		dafs_set_size(inode, old_size, iattr->ia_size);
	dafs_setattr_local(inode, iattr);
}

/**
 * dafs_size_lock() - write nothing back while a file is cut, or changes of it are undone
 * @inode: a regular file
 *
 * A mapping may bring dirty data at any time.  Were it on its way to the server
 * when the file is cut, it could arrive afterwards and make the file as long as it
 * was; were it unstable, it could be sent again.  So nothing is written back until
 * the size is set on both sides, and what was before is stable.
 *
 * Context: may sleep; holds i_rwsem; a fatal signal ends it.
 * Return: 0 with wb_lock of the netfs library held; or a negative errno.
 */
int dafs_size_lock(struct inode *inode)
{
	struct dafs_inode *di = DAFS_I(inode);
	int err;

	dafs_unstable_stop(inode);
	for (;;) {
		err = mutex_lock_killable(&di->netfs.wb_lock) ? -ERESTARTSYS : 0;
		if (err)
			break;
		filemap_fdatawait_keep_errors(inode->i_mapping);
		if (!READ_ONCE(di->unstable_bytes))
			break;
		mutex_unlock(&di->netfs.wb_lock);
		err = dafs_commit_inode(inode);
		if (err)
			break;
	}
	dafs_unstable_go_on(inode);
	return err;
}

static int dafs_setattr_both(struct dentry *dentry, struct iattr *iattr,
			     struct dafs_open_state *os, const struct cred *cred,
			     const struct dafs_fattr *attr)
{
	struct inode *inode = d_inode(dentry);
	bool size = S_ISREG(inode->i_mode) && (iattr->ia_valid & ATTR_SIZE);
	loff_t old_size = i_size_read(inode);
	unsigned int flags;
	int err;

	err = size ? dafs_size_lock(inode) : 0;
	if (err)
		return err;
	flags = memalloc_nofs_save();
	err = dafs_setattr_send(inode, cred, os, attr);
	/* The server would have checked the caller's rights. */
	if (dafs_gone(inode, err))
		err = setattr_prepare(&nop_mnt_idmap, dentry, iattr);
	if (!err)
		dafs_setattr_done(inode, iattr, old_size);
	memalloc_nofs_restore(flags);
	if (size)
		mutex_unlock(&netfs_inode(inode)->wb_lock);
	return err;
}

/* A write is going to take set-id bits away, at the server too. */
static bool dafs_setattr_by_write(unsigned int valid)
{
	return dafs_mode_implied(valid) && !(valid & (ATTR_SIZE | ATTR_UID | ATTR_GID));
}

/**
 * dafs_setid_remove() - a task that may not keep set-id bits is going to write
 * @file: what it writes to
 *
 * Who opened the file is who writes, for the server.  Where he may keep them, it
 * has to be told that this task may not.
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dafs_setid_remove(struct file *file)
{
	struct inode *inode = file_inode(file);
	struct dafs_state_id state_id = {};
	struct dafs_fattr attr = {};
	umode_t mode = inode->i_mode;
	int kill;

	if (!is_sxid(mode) || !cap_raised(file->f_cred->cap_effective, CAP_FSETID))
		return 0;
	kill = setattr_should_drop_suidgid(&nop_mnt_idmap, inode);
	if (!kill)
		return 0;
	if (kill & ATTR_KILL_SUID)
		mode &= ~S_ISUID;
	if (kill & ATTR_KILL_SGID)
		mode &= ~S_ISGID;
	dafs_fattr_mode(&attr, mode);
	return dafs_setattr(dafs_inode_clnt(inode), file->f_cred, &DAFS_I(inode)->fh, &state_id,
			    &attr);
}

/**
 * dafs_vfs_setattr() - change attributes
 * @idmap: not used, id-mapped mounts are not supported
 * @dentry: of the object
 * @iattr: the attributes
 *
 * Who may do so is for the server to say.
 *
 * Context: may sleep; i_rwsem held exclusively.
 * Return: 0 or a negative errno.
 */
int dafs_vfs_setattr(struct mnt_idmap *idmap, struct dentry *dentry, struct iattr *iattr)
{
	struct inode *inode = d_inode(dentry);
	const struct cred *cred = current_cred();
	struct dafs_id_strings ids;
	struct dafs_open_state *os;
	struct dafs_fattr *attr;
	int err;

	if (dafs_setattr_by_write(iattr->ia_valid)) {
		dafs_setattr_local(inode, iattr);
		return 0;
	}
	err = dafs_setattr_prepare(inode, iattr);
	if (err)
		return err;
	attr = kzalloc(sizeof(*attr), GFP_KERNEL);
	if (!attr)
		return -ENOMEM;
	dafs_fattr_fill(inode, iattr, attr, &ids);
	if (!attr->valid)
		goto out;
	os = dafs_setattr_open(inode, iattr, cred);
	err = dafs_setattr_both(dentry, iattr, os, os ? os->cred : cred, attr);
	if (os)
		dafs_open_state_put(os, true);
	dafs_own_metadata(inode, cred);
out:
	kfree(attr);
	return err;
}

/**
 * dafs_own_metadata() - this client has changed attributes or names of a file
 * @inode: the file
 * @cred: whom to ask the server for
 *
 * If the file is open for writing, close(2) will read the new attributes.
 *
 * Context: may sleep.
 */
void dafs_own_metadata(struct inode *inode, const struct cred *cred)
{
	struct dafs_inode *di = DAFS_I(inode);
	struct dafs_open_state *os;

	dafs_own_change(di);
	os = dafs_open_state_find(di, DAFS_OPEN_SHARE_ACCESS_WRITE, NULL);
	if (os)
		dafs_open_state_put(os, true);
	else
		dafs_own_change_settle(inode, cred);
}
