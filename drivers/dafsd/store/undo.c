// SPDX-License-Identifier: GPL-2.0
/*
 * Files of before-images; see undo.h.
 *
 * A file ends where an entry is missing or incomplete: that one was being written when the
 * power failed, and nothing had been changed yet.  If there is an entry behind it that was
 * written when this one was durable, the disk has lost it: such a file is damaged.
 *
 * What is behind dafsd_undo.end in a file, after an error, does no harm: all that was ever
 * written for a lock was in the locked file before its first change.  For the same reason all
 * of it is of use still when the owner of the lock has had its changes undone.
 */
#include <linux/bitmap.h>
#include <linux/crc32c.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <net/ipv6.h>
#include "log.h"
#include "store.h"
#include "undo.h"

unsigned int dafsd_undo_max = 1024;
module_param_named(max_undo, dafsd_undo_max, uint, 0644);
MODULE_PARM_DESC(max_undo,
		 "MiB of the state directory for what AUTORECOVERY locks may have to undo, a quarter of it for one lock, half for one address (default 1024)");

/* Slots in use, changed by atomic operations */
static DECLARE_BITMAP(dafsd_undo_slots, DAFSD_UNDO_SLOTS);
static atomic_t dafsd_undo_nr = ATOMIC_INIT(0);

/* Guards what follows, and changes of dafsd_undo.bytes */
static DEFINE_SPINLOCK(dafsd_undo_space);
static LIST_HEAD(dafsd_undo_all);
static u64 dafsd_undo_bytes;	/* of all of them */

struct dafsd_undo_name {
	char buf[16];
};

static const char *dafsd_undo_name(struct dafsd_undo_name *name, u32 slot)
{
	snprintf(name->buf, sizeof(name->buf), "undo.%u", slot);
	return name->buf;
}

/* An entry and its data, to be written or read */
struct dafsd_undo_buf {
	union {
		struct dafsd_undo_entry entry;
		u8 head[DAFSD_UNDO_ALIGN];
	};
	u8 data[DAFSD_UNDO_DATA];
};

static struct dafsd_undo *dafsd_undo_alloc(u32 slot, u64 id, const struct in6_addr *addr)
{
	struct dafsd_undo *undo = kzalloc(sizeof(*undo), GFP_KERNEL);

	if (!undo)
		return NULL;
	refcount_set(&undo->ref, 1);
	INIT_LIST_HEAD(&undo->link);
	undo->slot = slot;
	undo->id = id;
	mutex_init(&undo->lock);
	xa_init(&undo->saved);
	undo->addr = *addr;
	spin_lock(&dafsd_undo_space);
	list_add(&undo->all, &dafsd_undo_all);
	spin_unlock(&dafsd_undo_space);
	atomic_inc(&dafsd_undo_nr);
	return undo;
}

/**
 * dafsd_undo_count() - how many locks have before-images
 *
 * Context: any.
 * Return: up to DAFSD_UNDO_SLOTS.
 */
unsigned int dafsd_undo_count(void)
{
	return atomic_read(&dafsd_undo_nr);
}

/**
 * dafsd_undo_put() - drop a reference to before-images; their file stays
 * @undo: the before-images
 *
 * Context: may sleep.
 */
void dafsd_undo_put(struct dafsd_undo *undo)
{
	if (!refcount_dec_and_test(&undo->ref))
		return;
	if (undo->filp)
		__fput_sync(undo->filp);
	xa_destroy(&undo->saved);
	spin_lock(&dafsd_undo_space);
	list_del(&undo->all);
	dafsd_undo_bytes -= undo->bytes;
	spin_unlock(&dafsd_undo_space);
	clear_bit(undo->slot, dafsd_undo_slots);
	atomic_dec(&dafsd_undo_nr);
	kfree(undo);
}

/**
 * dafsd_undo_known() - before-images that a record of the store has told of
 * @slot: see struct dafsd_undo
 * @id: likewise
 * @addr: likewise
 *
 * Their file is opened when it is needed.
 *
 * Context: may sleep for memory; the store is being loaded.
 * Return: a reference; or an ERR_PTR: -ENOMEM; -EUCLEAN for a wrong @slot.
 */
struct dafsd_undo *dafsd_undo_known(u32 slot, u64 id, const struct in6_addr *addr)
{
	struct dafsd_undo *undo;

	if (slot >= DAFSD_UNDO_SLOTS || test_and_set_bit(slot, dafsd_undo_slots))
		return ERR_PTR(-EUCLEAN);
	undo = dafsd_undo_alloc(slot, id, addr);
	if (undo)
		return undo;
	clear_bit(slot, dafsd_undo_slots);
	return ERR_PTR(-ENOMEM);
}

static int dafsd_undo_take_slot(void)
{
	unsigned int slot;

	do {
		slot = find_first_zero_bit(dafsd_undo_slots, DAFSD_UNDO_SLOTS);
		if (slot >= DAFSD_UNDO_SLOTS)
			return -ENOSPC;
	} while (test_and_set_bit(slot, dafsd_undo_slots));
	return slot;
}

static int dafsd_undo_open(struct dafsd_store *store, struct dafsd_undo *undo, int flags)
{
	struct dafsd_undo_name name;
	struct file *filp;

	filp = file_open_root(dafsd_store_dir(store), dafsd_undo_name(&name, undo->slot),
			      O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_LARGEFILE | flags, 0600);
	if (IS_ERR(filp))
		return PTR_ERR(filp);
	if (!S_ISREG(file_inode(filp)->i_mode)) {
		fput(filp);
		return -EUCLEAN;
	}
	undo->filp = filp;
	return 0;
}

/**
 * dafsd_undo_create() - make a file for the before-images of a lock
 * @store: the store in whose directory it is to be
 * @addr: where the client of the lock comes from, see struct dafsd_peer
 *
 * Its name is durable; there is nothing in it.
 *
 * Context: may sleep; with the credential of the server.
 * Return: a reference; or an ERR_PTR: -ENOMEM; -ENOSPC if there are too many; or an error of the
 * file system.
 */
struct dafsd_undo *dafsd_undo_create(struct dafsd_store *store, const struct in6_addr *addr)
{
	int slot = dafsd_undo_take_slot(), err;
	struct dafsd_undo *undo;

	if (slot < 0)
		return ERR_PTR(slot);
	undo = dafsd_undo_alloc(slot, get_random_u64(), addr);
	if (!undo) {
		clear_bit(slot, dafsd_undo_slots);
		return ERR_PTR(-ENOMEM);
	}
	err = dafsd_undo_open(store, undo, O_CREAT | O_TRUNC);
	if (!err)
		err = dafsd_log_sync(undo->filp) ?: dafsd_sync_dir(dafsd_store_dir(store));
	if (!err)
		return undo;
	dafsd_undo_put(undo);
	return ERR_PTR(err);
}

/* Return: 0; -ENOENT if there is no such file; or another negative errno. */
static int dafsd_unlink_in_locked(const struct path *dir, const char *name)
{
	struct mnt_idmap *idmap = mnt_idmap(dir->mnt);
	struct dentry *dentry = lookup_one(idmap, name, dir->dentry, strlen(name));
	int err = -ENOENT;

	if (IS_ERR(dentry))
		return PTR_ERR(dentry);
	if (d_is_positive(dentry))
		err = vfs_unlink(idmap, d_inode(dir->dentry), dentry, NULL);
	dput(dentry);
	return err;
}

/* It need not be durable: dafsd_undo_clean() does it again. */
static int dafsd_undo_unlink(struct dafsd_store *store, u32 slot)
{
	const struct path *dir = dafsd_store_dir(store);
	struct dafsd_undo_name name;
	int err = mnt_want_write(dir->mnt);

	if (err)
		return err;
	inode_lock_nested(d_inode(dir->dentry), I_MUTEX_PARENT);
	err = dafsd_unlink_in_locked(dir, dafsd_undo_name(&name, slot));
	inode_unlock(d_inode(dir->dentry));
	mnt_drop_write(dir->mnt);
	return err;
}

/**
 * dafsd_undo_delete() - before-images are not needed any more
 * @store: the store
 * @undo: the before-images; the reference of the caller is dropped
 *
 * Context: may sleep; with the credential of the server.
 */
void dafsd_undo_delete(struct dafsd_store *store, struct dafsd_undo *undo)
{
	int err = dafsd_undo_unlink(store, undo->slot);

	if (err && err != -ENOENT)
		pr_warn_ratelimited("dafsd: undo.%u stays in the state directory: %pe\n",
				    undo->slot, ERR_PTR(err));
	dafsd_undo_put(undo);
}

/**
 * dafsd_undo_clean() - delete files that a crash has left behind
 * @store: the store; all records of it have told of their before-images
 *
 * A crash leaves a few at most; there are more if the administrator has removed a damaged log.
 *
 * Context: may sleep; with the credential of the server.
 */
void dafsd_undo_clean(struct dafsd_store *store)
{
	unsigned int deleted = 0;
	int err = 0;
	u32 slot;

	for (slot = 0; slot < DAFSD_UNDO_SLOTS; slot++) {
		if (test_bit(slot, dafsd_undo_slots))
			continue;
		err = dafsd_undo_unlink(store, slot);
		if (err && err != -ENOENT)
			break;
		deleted += !err;
	}
	if (deleted)
		pr_notice("dafsd: %u files of before-images were without a lock, and are deleted\n",
			  deleted);
}

static void dafsd_undo_account(struct dafsd_undo *undo)
{
	spin_lock(&dafsd_undo_space);
	dafsd_undo_bytes += undo->end - undo->bytes;
	undo->bytes = undo->end;
	spin_unlock(&dafsd_undo_space);
}

/* What a file takes that has not been read yet; nothing if it is missing, which is told later */
static void dafsd_undo_measure(struct dafsd_store *store, struct dafsd_undo *undo)
{
	guard(mutex)(&undo->lock);
	if (undo->filp || dafsd_undo_open(store, undo, 0))
		return;
	undo->end = i_size_read(file_inode(undo->filp));
	dafsd_undo_account(undo);
	__fput_sync(undo->filp);
	undo->filp = NULL;
}

/**
 * dafsd_undo_measure_all() - count the space of before-images that were there before the restart
 * @store: the store; all records of it have told of their before-images
 *
 * Context: may sleep; with the credential of the server; the store is being loaded, so that there
 * are no others, and none goes.
 */
void dafsd_undo_measure_all(struct dafsd_store *store)
{
	struct dafsd_undo *undo;

	list_for_each_entry(undo, &dafsd_undo_all, all)
		dafsd_undo_measure(store, undo);
}

static u32 dafsd_undo_entry_crc(const struct dafsd_undo_entry *entry)
{
	const void *begin = &entry->len;

	return crc32c(~0, begin, (const void *)(entry + 1) - begin);
}

/* The length of an entry whose header is in @buf, at @pos of the file; 0 if it is none */
static u32 dafsd_undo_entry_bytes(const struct dafsd_undo *undo, const struct dafsd_undo_buf *buf,
				  loff_t pos)
{
	u32 len = le32_to_cpu(buf->entry.len);

	if (memcmp(buf->entry.magic, DAFSD_UNDO_MAGIC, sizeof(buf->entry.magic)) ||
	    le32_to_cpu(buf->entry.crc) != dafsd_undo_entry_crc(&buf->entry) ||
	    le64_to_cpu(buf->entry.id) != undo->id || len > DAFSD_UNDO_DATA || !len != !pos)
		return 0;
	return DAFSD_UNDO_ALIGN + round_up(len, DAFSD_UNDO_ALIGN);
}

/* Read up to @len bytes.  Return: how many there are, or -errno */
static ssize_t dafsd_undo_pread(struct file *filp, void *buf, size_t len, loff_t pos)
{
	size_t done = 0;
	ssize_t n;

	/* an error may be told by a short read, and then by the next one */
	do {
		n = kernel_read(filp, buf + done, len - done, &pos);
		done += max(n, 0);
	} while (n > 0 && done < len);
	return n < 0 ? n : done;
}

/* Read an entry.  Return: its bytes in the file; 0 if there is none, or not all of it; -errno */
static ssize_t dafsd_undo_read(struct dafsd_undo *undo, struct dafsd_undo_buf *buf, loff_t pos)
{
	ssize_t n, bytes;

	n = dafsd_undo_pread(undo->filp, buf->head, sizeof(buf->head), pos);
	if (n < (ssize_t)sizeof(buf->head))
		return min(n, 0);
	bytes = dafsd_undo_entry_bytes(undo, buf, pos);
	if (bytes <= DAFSD_UNDO_ALIGN)
		return bytes;
	n = dafsd_undo_pread(undo->filp, buf->data, bytes - DAFSD_UNDO_ALIGN,
			     pos + DAFSD_UNDO_ALIGN);
	if (n < bytes - DAFSD_UNDO_ALIGN)
		return min(n, 0);
	return crc32c(~0, buf->data, le32_to_cpu(buf->entry.len)) ==
	       le32_to_cpu(buf->entry.data_crc) ? bytes : 0;
}

/* No entry could be read at dafsd_undo.end: is there one behind that had been written later? */
static int dafsd_undo_check_end(struct dafsd_undo *undo, struct dafsd_undo_buf *buf)
{
	loff_t size = i_size_read(file_inode(undo->filp)), pos;
	ssize_t n;

	for (pos = undo->end + DAFSD_UNDO_ALIGN; pos < size; pos += DAFSD_UNDO_ALIGN) {
		n = dafsd_undo_pread(undo->filp, buf->head, sizeof(buf->head), pos);
		if (n < 0)
			return n;
		if (n == sizeof(buf->head) && dafsd_undo_entry_bytes(undo, buf, pos) &&
		    le64_to_cpu(buf->entry.durable) > undo->end)
			return -EUCLEAN;
		cond_resched();
	}
	return 0;
}

static u64 dafsd_undo_limit(void)
{
	return (u64)READ_ONCE(dafsd_undo_max) << 20;
}

static unsigned long dafsd_undo_block(loff_t pos)
{
	return pos / DAFSD_UNDO_BLOCK;
}

/* Blocks that end behind @end do so at the end of the file. */
static int dafsd_undo_mark(struct dafsd_undo *undo, loff_t start, loff_t end)
{
	unsigned long n;
	int err = 0;

	for (n = dafsd_undo_block(start); n <= dafsd_undo_block(end - 1) && !err; n++)
		err = xa_err(xa_store(&undo->saved, n, xa_mk_value(1), GFP_KERNEL));
	return err;
}

/* What dafsd_undo_scan() does with an entry, whose bytes are within the size of the file */
typedef int (*dafsd_undo_fn)(struct dafsd_undo *undo, const struct dafsd_undo_buf *buf,
			     loff_t offset, u32 len, struct file *filp);

static int dafsd_undo_scan_one(struct dafsd_undo *undo, const struct dafsd_undo_buf *buf,
			       dafsd_undo_fn fn, struct file *filp)
{
	u64 offset = le64_to_cpu(buf->entry.offset);
	u32 len = le32_to_cpu(buf->entry.len);

	if (offset > MAX_LFS_FILESIZE)
		return -EUCLEAN;
	if (!len) {
		undo->size = offset;
		undo->armed = true;
		return 0;
	}
	if (offset > undo->size || len > undo->size - offset)
		return -EUCLEAN;
	return fn(undo, buf, offset, len, filp);
}

/* Go through the file from its begin; sets dafsd_undo.end. */
static int dafsd_undo_scan(struct dafsd_undo *undo, dafsd_undo_fn fn, struct file *filp)
{
	struct dafsd_undo_buf *buf = kvmalloc(sizeof(*buf), GFP_KERNEL);
	ssize_t n;
	int err = 0;

	if (!buf)
		return -ENOMEM;
	undo->end = 0;
	while (!err && (n = dafsd_undo_read(undo, buf, undo->end)) > 0) {
		err = dafsd_undo_scan_one(undo, buf, fn, filp);
		undo->end += n;
		cond_resched();
	}
	if (!err)
		err = n ?: dafsd_undo_check_end(undo, buf);
	kvfree(buf);
	return err;
}

static int dafsd_undo_load_entry(struct dafsd_undo *undo, const struct dafsd_undo_buf *buf,
				 loff_t offset, u32 len, struct file *filp)
{
	return dafsd_undo_mark(undo, offset, offset + len);
}

/* After a restart; also after an error, so that the file is read again. */
static int dafsd_undo_load(struct dafsd_store *store, struct dafsd_undo *undo)
{
	int err;

	lockdep_assert_held(&undo->lock);
	if (undo->filp)
		return 0;
	err = dafsd_undo_open(store, undo, 0);
	if (err)
		return err;
	err = dafsd_undo_scan(undo, dafsd_undo_load_entry, NULL);
	/* what was read may be in memory only, if it was written before the module was loaded */
	if (!err)
		err = dafsd_log_sync(undo->filp);
	if (!err) {
		dafsd_undo_account(undo);
		return 0;
	}
	fput(undo->filp);
	undo->filp = NULL;
	xa_destroy(&undo->saved);
	return err;
}

/* @buf: with the data.  Return: bytes in the file, or -errno */
static int dafsd_undo_write(struct dafsd_undo *undo, struct dafsd_undo_buf *buf, loff_t pos,
			    u64 offset, u32 len)
{
	u32 bytes = DAFSD_UNDO_ALIGN + round_up(len, DAFSD_UNDO_ALIGN);
	int err;

	memset(buf->head, 0, sizeof(buf->head));
	memset(buf->data + len, 0, bytes - DAFSD_UNDO_ALIGN - len);
	buf->entry = (struct dafsd_undo_entry) {
		.magic = DAFSD_UNDO_MAGIC,
		.len = cpu_to_le32(len),
		.id = cpu_to_le64(undo->id),
		.durable = cpu_to_le64(undo->end),
		.offset = cpu_to_le64(offset),
		.data_crc = cpu_to_le32(crc32c(~0, buf->data, len)),
	};
	buf->entry.crc = cpu_to_le32(dafsd_undo_entry_crc(&buf->entry));
	err = dafsd_log_pwrite(undo->filp, buf, bytes, pos);
	return err ?: bytes;
}

/**
 * dafsd_undo_arm() - remember the size of a file that was locked, unless that was done
 * @store: the store
 * @undo: its before-images
 * @size: its size
 *
 * Context: may sleep; with the credential of the server.  The caller keeps others from
 * changing the file.
 * Return: 0; -ENOMEM; or an error of the file system, or of dafsd_undo_restore().
 */
int dafsd_undo_arm(struct dafsd_store *store, struct dafsd_undo *undo, loff_t size)
{
	struct dafsd_undo_buf *buf;
	int ret;

	guard(mutex)(&undo->lock);
	ret = dafsd_undo_load(store, undo);
	if (ret || undo->armed)
		return ret;
	buf = kvmalloc(sizeof(*buf), GFP_KERNEL);
	if (!buf)
		return -ENOMEM;
	ret = dafsd_undo_write(undo, buf, 0, size, 0);
	kvfree(buf);
	if (ret > 0)
		ret = dafsd_log_sync(undo->filp) ?: ret;
	if (ret < 0)
		return ret;
	undo->size = size;
	undo->end = ret;
	undo->armed = true;
	dafsd_undo_account(undo);
	return 0;
}

/* The next bytes in [@start, @end) that were not saved.  Return: how many, for one entry */
static u32 dafsd_undo_next(struct dafsd_undo *undo, loff_t *start, loff_t end)
{
	loff_t pos = *start;

	while (pos < end && xa_load(&undo->saved, dafsd_undo_block(pos)))
		pos += DAFSD_UNDO_BLOCK;
	*start = pos;
	while (pos < end && pos - *start < DAFSD_UNDO_DATA &&
	       !xa_load(&undo->saved, dafsd_undo_block(pos)))
		pos += DAFSD_UNDO_BLOCK;
	return max(min(pos, end) - *start, 0);
}

/* What a local program has cut off meanwhile is saved as zeros. */
static int dafsd_undo_fetch(struct dafsd_undo_buf *buf, struct file *from, loff_t pos, u32 len)
{
	ssize_t n = dafsd_undo_pread(from, buf->data, len, pos);

	if (n < 0)
		return n;
	memset(buf->data + n, 0, len - n);
	return 0;
}

/* What it takes to save the bytes of a range that are not saved yet */
static u64 dafsd_undo_needs(struct dafsd_undo *undo, loff_t start, loff_t end)
{
	u64 bytes = 0;
	u32 len;

	for (; (len = dafsd_undo_next(undo, &start, end)); start += len)
		bytes += DAFSD_UNDO_ALIGN + round_up(len, DAFSD_UNDO_ALIGN);
	return bytes;
}

/* What all locks of an address take */
static u64 dafsd_undo_bytes_of(const struct in6_addr *addr)
{
	const struct dafsd_undo *undo;
	u64 bytes = 0;

	lockdep_assert_held(&dafsd_undo_space);
	list_for_each_entry(undo, &dafsd_undo_all, all)
		if (ipv6_addr_equal(&undo->addr, addr))
			bytes += undo->bytes;
	return bytes;
}

/* A lock has a quarter of the space, an address half of it: the other half is for others. */
static bool dafsd_undo_has_room(const struct dafsd_undo *undo, u64 more)
{
	u64 limit = dafsd_undo_limit();

	lockdep_assert_held(&dafsd_undo_space);
	if (undo->bytes + more > limit / 4 || dafsd_undo_bytes + more > limit)
		return false;
	/* mostly all of them together have not more than the share of one */
	return dafsd_undo_bytes + more <= limit / 2 ||
	       dafsd_undo_bytes_of(&undo->addr) + more <= limit / 2;
}

static int dafsd_undo_reserve(struct dafsd_undo *undo, u64 more)
{
	bool fits;

	spin_lock(&dafsd_undo_space);
	fits = dafsd_undo_has_room(undo, more);
	if (fits) {
		dafsd_undo_bytes += more;
		undo->bytes += more;
	}
	spin_unlock(&dafsd_undo_space);
	return fits ? 0 : -ENOSPC;
}

/* Save what is not saved yet.  @to: set to the end of what was written */
static int dafsd_undo_copy(struct dafsd_undo *undo, struct dafsd_undo_buf *buf, struct file *from,
			   loff_t start, loff_t end, loff_t *to)
{
	loff_t pos = undo->end;
	int ret = 0;
	u32 len;

	while (ret >= 0 && (len = dafsd_undo_next(undo, &start, end))) {
		ret = dafsd_undo_fetch(buf, from, start, len) ?:
		      dafsd_undo_write(undo, buf, pos, start, len);
		pos += max(ret, 0);
		start += len;
		cond_resched();
	}
	*to = pos;
	return min(ret, 0);
}

/* Those that were just copied; what is not marked is copied again before it is changed. */
static int dafsd_undo_mark_new(struct dafsd_undo *undo, loff_t start, loff_t end)
{
	int err = 0;
	u32 len;

	while (!err && (len = dafsd_undo_next(undo, &start, end))) {
		err = dafsd_undo_mark(undo, start, start + len);
		start += len;
	}
	return err;
}

/* O_NONBLOCK: leases of local programs are broken, but not waited for. */
static int dafsd_undo_copy_from(struct dafsd_undo *undo, const struct path *from, loff_t start,
				loff_t end, loff_t *to)
{
	struct dafsd_undo_buf *buf = kvmalloc(sizeof(*buf), GFP_KERNEL);
	struct file *filp;
	int err;

	if (!buf)
		return -ENOMEM;
	filp = dentry_open(from, O_RDONLY | O_LARGEFILE | O_NONBLOCK, current_cred());
	err = PTR_ERR_OR_ZERO(filp);
	if (!err) {
		err = dafsd_undo_copy(undo, buf, filp, start, end, to);
		__fput_sync(filp);
	}
	kvfree(buf);
	return err ?: dafsd_log_sync(undo->filp);
}

static int dafsd_undo_save_locked(struct dafsd_undo *undo, const struct path *from, loff_t start,
				  loff_t end)
{
	loff_t to = undo->end;
	u64 needs;
	int err;

	if (start >= end)
		return 0;
	/* more than there is room for, whatever was saved: its holes need not be looked at */
	if (end - start > undo->bytes + dafsd_undo_limit() / 4)
		return -ENOSPC;
	needs = dafsd_undo_needs(undo, start, end);
	if (!needs)
		return 0;
	err = dafsd_undo_reserve(undo, needs);
	if (err)
		return err;
	err = dafsd_undo_copy_from(undo, from, start, end, &to);
	if (!err) {
		undo->end = to;
		return dafsd_undo_mark_new(undo, start, end);
	}
	/* it takes no space that is not counted; nor does it matter if that fails, but for this */
	vfs_truncate(&undo->filp->f_path, undo->end);
	dafsd_undo_account(undo);
	return err;
}

/**
 * dafsd_undo_save() - bytes of a locked file are about to be changed
 * @store: the store
 * @undo: its before-images
 * @from: the file
 * @start: first byte
 * @end: behind the last one
 *
 * Context: may sleep; with the credential of the server.
 * Return: 0, and what was there is durable; -EAGAIN before dafsd_undo_arm(), or while a local
 * program has a lease; -ENOMEM; -ENOSPC
 * also if there is too much, of the lock, its address or in all; or an error of the file system.
 */
int dafsd_undo_save(struct dafsd_store *store, struct dafsd_undo *undo, const struct path *from,
		    loff_t start, loff_t end)
{
	int err;

	guard(mutex)(&undo->lock);
	err = dafsd_undo_load(store, undo);
	if (err)
		return err;
	if (!undo->armed)
		return -EAGAIN;
	start = round_down(start, DAFSD_UNDO_BLOCK);
	end = min_t(u64, round_up((u64)end, DAFSD_UNDO_BLOCK), undo->size);
	return dafsd_undo_save_locked(undo, from, start, end);
}

static int dafsd_undo_restore_entry(struct dafsd_undo *undo, const struct dafsd_undo_buf *buf,
				    loff_t offset, u32 len, struct file *to)
{
	return dafsd_log_pwrite(to, buf->data, len, offset);
}

static int dafsd_undo_restore_size(struct dafsd_undo *undo, struct file *to)
{
	if (i_size_read(file_inode(to)) == undo->size)
		return 0;
	return vfs_truncate(&to->f_path, undo->size);
}

/**
 * dafsd_undo_restore() - undo all changes of a locked file
 * @store: the store
 * @undo: its before-images
 * @to: the file, open for writing
 *
 * May be done again, after an error or a crash.  The size comes first: what was written behind
 * the former end gives back the space that what was cut off, or punched out, may need.
 *
 * Context: may sleep; with the credential of the server.  The caller keeps others from
 * changing the file.
 * Return: 0, and the file is as it was, durably; -ENOENT if the before-images are missing;
 * -EUCLEAN if they are damaged; -ENOMEM; or an error of the file system, as -ENOSPC if others have
 * taken the space that the changes have freed.
 */
int dafsd_undo_restore(struct dafsd_store *store, struct dafsd_undo *undo, struct file *to)
{
	loff_t end;
	int err;

	guard(mutex)(&undo->lock);
	/* the whole of it is looked at before the first byte is changed */
	err = dafsd_undo_load(store, undo);
	if (err || !undo->armed)
		return err;
	err = dafsd_undo_restore_size(undo, to);
	if (err)
		return err;
	end = undo->end;
	err = dafsd_undo_scan(undo, dafsd_undo_restore_entry, to);
	/* what a save that has failed has left behind is there, too */
	if (!err && undo->end < end)
		err = -EUCLEAN;
	undo->end = end;
	return err ?: vfs_fsync(to, 0);
}
