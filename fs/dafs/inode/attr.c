// SPDX-License-Identifier: GPL-2.0
/*
 * Inodes: attributes from the server, and how long they are cached.
 *
 * Attributes are cached for a time that doubles as long as they do not change.  The
 * change attribute decides whether cached data and names are still valid. open(2)
 * always revalidates and close(2) writes everything back, so an open after a close on
 * another client sees its data.
 *
 * Our own changes change the change attribute too.  Responses do not return the new
 * value, so the first value read after our change is taken as ours
 * (DAFS_INO_OWN_CHANGE).  A change by another client in between would be missed.  To
 * make that unlikely, the value is read when a written file is closed, and at once if
 * it is not open for writing (dafs_own_change_settle()).  While this client keeps
 * writing it can still happen (DAFS_INO_UNCERTAIN), so cached data is then dropped at
 * open(2), and after the maximum attribute cache time.
 */
#include <linux/hash.h>
#include <linux/highuid.h>
#include <linux/namei.h>
#include <linux/pagemap.h>
#include <linux/slab.h>
#include <linux/writeback.h>
#include "../rpc/trace.h"
#include "inode.h"

/* Raises *last to @now, unless it is later already. */
static void dafs_clock_raise(atomic_long_t *last, long now)
{
	long seen = atomic_long_read(last);

	while (seen < now && !atomic_long_try_cmpxchg(last, &seen, now))
		;
}

/**
 * dafs_inode_release() - release resources of an inode
 * @di: inode being evicted
 */
void dafs_inode_release(struct dafs_inode *di)
{
	dafs_clock_raise(&DAFS_SB(di->netfs.inode.i_sb)->evicted_change,
			 atomic_long_read(&di->own_change));
	spin_lock(&di->lock);
	dafs_access_zap_locked(di);
	spin_unlock(&di->lock);
	put_cred(di->writer);
	di->writer = NULL;
	kfree(di->ahead);
	di->ahead = NULL;
}

/**
 * dafs_clock_next() - advance the clock of a mount
 * @sb: the mount
 *
 * There is one clock for all objects, because READDIR returns attributes of objects
 * that the caller does not know when it sends the request.
 *
 * Context: any.
 * Return: a value later than all before.
 */
long dafs_clock_next(const struct super_block *sb)
{
	return atomic_long_inc_return(&DAFS_SB(sb)->clock);
}

/**
 * dafs_asked_now() - the time of a request for attributes that is sent next
 * @sb: the mount
 *
 * Context: any.
 * Return: the time, for dafs_refresh() or dafs_iget_known() when the response is there.
 */
struct dafs_asked dafs_asked_now(const struct super_block *sb)
{
	struct dafs_asked now = { .at = jiffies, .sent = ktime_get_coarse_boottime() };

	now.clock = dafs_clock_next(sb);
	return now;
}

/**
 * dafs_attr_outdate() - attributes requested before now are stale
 * @di: the object that this client has changed
 *
 * Context: any.
 */
void dafs_attr_outdate(struct dafs_inode *di)
{
	long now = atomic_long_inc_return(&DAFS_SB(di->netfs.inode.i_sb)->clock);

	dafs_clock_raise(&di->own_change, now);
}

/**
 * dafs_attr_outdated() - has this client changed an object in the meantime?
 * @di: the object
 * @asked: dafs_asked_now() from before the request
 *
 * Context: any.
 * Return: true if so: the answer is stale.
 */
bool dafs_attr_outdated(const struct dafs_inode *di, struct dafs_asked asked)
{
	return asked.clock < atomic_long_read(&di->own_change);
}

static void dafs_mark_own_change(struct dafs_inode *di)
{
	set_bit(DAFS_INO_OWN_CHANGE, &di->flags);
	set_bit(DAFS_INO_STALE, &di->flags);
}

/**
 * dafs_own_change() - this client has changed a file on the server
 * @di: the file
 *
 * Attributes requested before this are stale.  Until new ones are read, changes by
 * other clients are taken for ours; if data may be cached, the caller, or the task that
 * closes the file after writing, reads them soon: dafs_own_change_settle().
 *
 * Context: any.
 */
void dafs_own_change(struct dafs_inode *di)
{
	dafs_attr_outdate(di);
	dafs_mark_own_change(di);
}

/**
 * dafs_own_write() - this client has written to a file on the server
 * @di: the file
 *
 * As dafs_own_change(), but cached data stays valid: only stat(2) needs new attributes
 * at once.  Until then a change by another client cannot be told from ours, so new ones
 * are read soon, see dafs_attrs_fresh().
 *
 * Context: any.
 */
void dafs_own_write(struct dafs_inode *di)
{
	dafs_attr_outdate(di);
	set_bit(DAFS_INO_OWN_CHANGE, &di->flags);
	set_bit(DAFS_INO_STALE_STAT, &di->flags);
}

/**
 * dafs_attr_times() - attribute cache times of an object
 * @inode: the object
 * @least: filled with the initial time, in jiffies, also used for access rights
 * @most: filled with the maximum, reached while they do not change
 *
 * Context: any; takes no lock, so that RCU walk can use it.
 */
void dafs_attr_times(const struct inode *inode, unsigned long *least, unsigned long *most)
{
	const struct dafs_options *opts = &DAFS_SB(inode->i_sb)->opts;
	bool dir = S_ISDIR(inode->i_mode);

	*most = READ_ONCE(opts->noac) ? 0 : READ_ONCE(*(dir ? &opts->acdirmax : &opts->acregmax));
	*least = min(READ_ONCE(*(dir ? &opts->acdirmin : &opts->acregmin)), *most);
}

static void dafs_attr_sure(struct dafs_inode *di, unsigned long at)
{
	lockdep_assert_held(&di->lock);
	clear_bit(DAFS_INO_UNCERTAIN, &di->flags);
	di->sure_at = at;
}

/*
 * Our change happened within the attribute cache time, so changes by others in between
 * need not be detected, unless the file is delegated to us later: see dafs_attr_guessed().
 */
static void dafs_own_change_settled(struct dafs_inode *di)
{
	unsigned long least, most;

	dafs_attr_times(&di->netfs.inode, &least, &most);
	spin_lock(&di->lock);
	if (time_before(di->attr_at, di->sure_at + least)) {
		if (test_bit(DAFS_INO_UNCERTAIN, &di->flags))
			set_bit(DAFS_INO_GUESSED, &di->flags);
		dafs_attr_sure(di, di->attr_at);
	}
	spin_unlock(&di->lock);
}

/**
 * dafs_own_change_settle() - read the attributes after our own changes
 * @inode: the object
 * @cred: whom to ask the server for
 *
 * From here on a new change attribute means a change by another client.  Costs a round
 * trip if data is cached.
 *
 * Context: may sleep.
 */
void dafs_own_change_settle(struct inode *inode, const struct cred *cred)
{
	struct dafs_inode *di = DAFS_I(inode);

	if (!test_bit(DAFS_INO_OWN_CHANGE, &di->flags))
		return;
	if (inode->i_mapping->nrpages) {
		if (!dafs_revalidate(inode, cred, true)) {
			dafs_own_change_settled(di);
			return;
		}
		set_bit(DAFS_INO_ZAP, &di->flags);
	}
	clear_bit(DAFS_INO_OWN_CHANGE, &di->flags);
}

/**
 * dafs_type_mode() - the file type of an object
 * @type: DAFS_TYPE_*
 *
 * Context: any.
 * Return: S_IF*, or 0 for a type that is not known.
 */
umode_t dafs_type_mode(u32 type)
{
	switch (type) {
	case DAFS_TYPE_REG:
	case DAFS_TYPE_NAMEDATTR:
		return S_IFREG;
	case DAFS_TYPE_DIR:
	case DAFS_TYPE_ATTRDIR:
		return S_IFDIR;
	case DAFS_TYPE_BLK:
		return S_IFBLK;
	case DAFS_TYPE_CHR:
		return S_IFCHR;
	case DAFS_TYPE_LNK:
		return S_IFLNK;
	case DAFS_TYPE_SOCK:
		return S_IFSOCK;
	case DAFS_TYPE_FIFO:
		return S_IFIFO;
	}
	return 0;
}

static struct timespec64 dafs_timespec(const struct dafs_time *time)
{
	return (struct timespec64){
		.tv_sec = time->seconds,
		.tv_nsec = min_t(u32, time->nseconds, NSEC_PER_SEC - 1),
	};
}

/*
 * Is there, or may there be soon, data of ours that the server has yet to get?  It is
 * looked for along the way that it goes, so as not to be missed when it moves on
 * meanwhile: a writer makes folios dirty, these are under write-back before they are
 * clean, and counted as unstable before that ends.  A mapping may make one dirty again
 * that has come that far, so that is looked for last once more.
 */
static bool dafs_size_ours(const struct dafs_inode *di)
{
	const struct inode *inode = &di->netfs.inode;
	struct address_space *mapping = inode->i_mapping;

	if (!S_ISREG(inode->i_mode))
		return false;
	if (atomic_read(&di->writers))
		return true;
	/* pairs with dafs_writer_end() */
	smp_rmb();
	if (mapping_tagged(mapping, PAGECACHE_TAG_DIRTY))
		return true;
	/* both tags change under the lock of the mapping, one before the other */
	smp_rmb();
	if (mapping_tagged(mapping, PAGECACHE_TAG_WRITEBACK))
		return true;
	/* pairs with dafs_unstable_add() */
	smp_rmb();
	return READ_ONCE(di->unstable_bytes) || mapping_tagged(mapping, PAGECACHE_TAG_DIRTY);
}

/**
 * dafs_size_unknown() - must the file size be read from the server?
 * @di: the file
 *
 * Another client truncated the file while we had unwritten data.  Now the server has
 * all of that data, and its size is right.
 *
 * Context: any; takes no lock, so that RCU walk can use it.
 * Return: true if so.
 */
bool dafs_size_unknown(const struct dafs_inode *di)
{
	return test_bit(DAFS_INO_LONGER, &di->flags) && !dafs_size_ours(di);
}

/*
 * The size as the server has it.  Data that is not yet written back, or may have to be
 * sent again, may make the file larger than the server knows, and an active writer
 * relies on the size it saw.  The client does not record where that data is; so while
 * there is any, a file that another client has truncated keeps its size here and ends
 * in zeroes.  Its size is read again later, when needed: dafs_size_unknown().
 *
 * What was stable at once may have left no trace but that this client has changed the
 * file since @asked, which is recorded before write-back ends.  Then this size is of no
 * use any more, and the caller has it asked for again.
 */
static void dafs_apply_size(struct inode *inode, u64 size, struct dafs_asked asked)
{
	struct dafs_inode *di = DAFS_I(inode);
	struct netfs_inode *ictx = &di->netfs;
	bool busy;

	if (size > LLONG_MAX)
		size = LLONG_MAX;
	spin_lock(&inode->i_lock);
	busy = dafs_size_ours(di);
	/* after that look; pairs with dafs_written() */
	smp_rmb();
	if (dafs_attr_outdated(di, asked))
		goto unlock;
	if (!busy || size >= i_size_read(inode))
		clear_bit(DAFS_INO_LONGER, &di->flags);
	else if (size < ictx->remote_i_size)
		set_bit(DAFS_INO_LONGER, &di->flags);
	if (!busy && size < i_size_read(inode))
		set_bit(DAFS_INO_ZAP, &di->flags);
	if (S_ISREG(inode->i_mode)) {
		/*
		 * Data written by others must not be read as zeroes: readers take no
		 * lock, and a reader that sees the new size must see this, too.
		 */
		dafs_zero_point_raise(ictx, size);
		WRITE_ONCE(ictx->remote_i_size, size);
	}
	if (!busy || size > i_size_read(inode))
		i_size_write(inode, size);
unlock:
	spin_unlock(&inode->i_lock);
}

/**
 * dafs_attr_uncertain() - check for changes by others that were taken for ours
 * @inode: a regular file
 *
 * The change attribute does not tell who made a change.  If this client has written
 * since DAFS_INO_UNCERTAIN was last clear, cached data is used for at most the maximum
 * attribute cache time, and dropped when the file is opened.
 *
 * Context: may sleep.
 */
void dafs_attr_uncertain(struct inode *inode)
{
	struct dafs_inode *di = DAFS_I(inode);

	if (!test_bit(DAFS_INO_UNCERTAIN, &di->flags))
		return;
	spin_lock(&di->lock);
	set_bit(DAFS_INO_ZAP, &di->flags);
	clear_bit(DAFS_INO_GUESSED, &di->flags);
	dafs_attr_sure(di, di->attr_at);
	spin_unlock(&di->lock);
}

/**
 * dafs_attr_guessed() - what is cached of a file is about to be trusted without asking
 * @inode: a regular file
 *
 * Locks and leases of programs rely on a delegation, so what has been guessed about the changes
 * of others does not do any more.
 *
 * Context: may sleep.
 */
void dafs_attr_guessed(struct inode *inode)
{
	struct dafs_inode *di = DAFS_I(inode);

	dafs_attr_uncertain(inode);
	if (!test_bit(DAFS_INO_GUESSED, &di->flags))
		return;
	spin_lock(&di->lock);
	set_bit(DAFS_INO_ZAP, &di->flags);
	clear_bit(DAFS_INO_GUESSED, &di->flags);
	spin_unlock(&di->lock);
}

/*
 * The data may have been changed by our own writes only, or by others as well: this
 * cannot be told.  That is tolerated for a while, see dafs_attr_uncertain().
 *
 * Return: true if cached data must be dropped.
 */
static bool dafs_apply_data(struct dafs_inode *di, bool ours, unsigned long at)
{
	unsigned long least, most;

	lockdep_assert_held(&di->lock);
	if (dafs_inode_delegated(di) || (ours && !di->netfs.inode.i_mapping->nrpages)) {
		dafs_attr_sure(di, at);
		return false;
	}
	dafs_attr_times(&di->netfs.inode, &least, &most);
	if (ours && time_before(at, di->sure_at + most)) {
		set_bit(DAFS_INO_UNCERTAIN, &di->flags);
		return false;
	}
	set_bit(DAFS_INO_ZAP, &di->flags);
	dafs_attr_sure(di, at);
	return true;
}

/* As above, if the change attribute has not changed. */
static bool dafs_apply_same(struct dafs_inode *di, unsigned long at)
{
	if (test_bit(DAFS_INO_UNCERTAIN, &di->flags))
		return dafs_apply_data(di, true, at);
	dafs_attr_sure(di, at);
	return false;
}

/*
 * A size that our own writes cannot explain means a change by others.  The server may
 * have executed some of the write-back in progress.
 *
 * Return: true if others changed the object.
 */
static bool dafs_apply_change(struct dafs_inode *di, const struct dafs_fattr *attr,
			      unsigned long at)
{
	struct inode *inode = &di->netfs.inode;
	bool writing = mapping_tagged(inode->i_mapping, PAGECACHE_TAG_WRITEBACK);
	bool ours = test_and_clear_bit(DAFS_INO_OWN_CHANGE, &di->flags) || writing;
	u64 least = READ_ONCE(di->netfs.remote_i_size);
	u64 most = writing ? max_t(u64, least, i_size_read(inode)) : least;

	if (attr->change == di->change)
		return dafs_apply_same(di, at);
	if (attr->object_size < least || attr->object_size > most)
		ours = false;
	trace_dafs_changed(inode, attr->change, ours);
	di->change = attr->change;
	if (S_ISDIR(inode->i_mode)) {
		WRITE_ONCE(di->dir_gen, dafs_clock_next(inode->i_sb));
		return true;
	}
	return dafs_apply_data(di, ours, at);
}

static void dafs_apply_owner(struct dafs_inode *di, u64 valid,
			     const struct dafs_ids *ids)
{
	struct inode *inode = &di->netfs.inode;
	uid_t uid = ids->uid == DAFS_NO_ID ? (uid_t)overflowuid : ids->uid;
	gid_t gid = ids->gid == DAFS_NO_ID ? (gid_t)overflowgid : ids->gid;

	if ((valid & DAFS_FATTR_OWNER) && uid != i_uid_read(inode)) {
		i_uid_write(inode, uid);
		dafs_access_zap_locked(di);
	}
	if ((valid & DAFS_FATTR_OWNER_GROUP) && gid != i_gid_read(inode)) {
		i_gid_write(inode, gid);
		dafs_access_zap_locked(di);
	}
}

static void dafs_apply_mode(struct dafs_inode *di, u32 mode)
{
	struct inode *inode = &di->netfs.inode;
	umode_t new = (inode->i_mode & S_IFMT) | (mode & S_IALLUGO);

	if (new == inode->i_mode)
		return;
	inode->i_mode = new;
	dafs_access_zap_locked(di);
}

static void dafs_apply_times(struct dafs_inode *di, const struct dafs_fattr *attr)
{
	struct inode *inode = &di->netfs.inode;

	if (attr->valid & DAFS_FATTR_TIME_ACCESS)
		inode_set_atime_to_ts(inode, dafs_timespec(&attr->time_access));
	if (attr->valid & DAFS_FATTR_TIME_MODIFY)
		inode_set_mtime_to_ts(inode, dafs_timespec(&attr->time_modify));
	if (attr->valid & DAFS_FATTR_TIME_METADATA)
		inode_set_ctime_to_ts(inode, dafs_timespec(&attr->time_metadata));
	if (attr->valid & DAFS_FATTR_TIME_CREATE)
		di->btime = dafs_timespec(&attr->time_create);
}

/* Sets how long the attributes just read are valid. */
static void dafs_apply_timeout(struct dafs_inode *di, struct dafs_asked asked, bool changed)
{
	unsigned long least, most;

	lockdep_assert_held(&di->lock);
	dafs_attr_times(&di->netfs.inode, &least, &most);
	di->attr_timeo = changed ? least : clamp(di->attr_timeo * 2, least, most);
	di->attr_at = asked.at;
	di->attr_sent = asked.sent;
}

/* Applies attributes that are newer than our last change. */
static bool dafs_apply_current(struct dafs_inode *di, const struct dafs_fattr *attr,
			       const struct dafs_ids *ids, struct dafs_asked asked)
{
	struct inode *inode = &di->netfs.inode;
	bool changed;

	if (attr->valid & DAFS_FATTR_MODE)
		dafs_apply_mode(di, attr->mode);
	dafs_apply_owner(di, attr->valid, ids);
	if (attr->valid & DAFS_FATTR_NUM_LINKS)
		set_nlink(inode, attr->num_links);
	changed = dafs_apply_change(di, attr, asked.at);
	dafs_apply_size(inode, attr->object_size, asked);
	clear_bit(DAFS_INO_STALE, &di->flags);
	clear_bit(DAFS_INO_STALE_STAT, &di->flags);
	/* our own change may have just set the flags that were cleared here */
	smp_mb__after_atomic();
	if (dafs_attr_outdated(di, asked))
		dafs_mark_own_change(di);
	return changed;
}

/*
 * Applies an answer older than our own write: have others changed the file?
 * DAFS_INO_OWN_CHANGE stays set for a later answer.
 */
static void dafs_apply_outdated(struct dafs_inode *di, const struct dafs_fattr *attr,
				unsigned long at)
{
	if (!S_ISREG(di->netfs.inode.i_mode))
		return;
	if (attr->change == di->change) {
		dafs_apply_same(di, at);
		return;
	}
	di->change = attr->change;
	dafs_apply_data(di, test_bit(DAFS_INO_OWN_CHANGE, &di->flags), at);
}

/**
 * dafs_inode_apply() - take attributes from a response
 * @di: the inode
 * @attr: its attributes
 * @ids: its owner and group
 * @asked: dafs_asked_now() from before they were requested
 *
 * Context: any but interrupt.
 */
void dafs_inode_apply(struct dafs_inode *di, const struct dafs_fattr *attr,
		      const struct dafs_ids *ids, struct dafs_asked asked)
{
	struct inode *inode = &di->netfs.inode;
	bool changed = true;

	spin_lock(&di->lock);
	if (asked.clock < di->asked)
		goto out;
	di->asked = asked.clock;
	/* An object created here has no inode number until its attributes are read. */
	if (!inode->i_ino)
		inode->i_ino = attr->file_id;
	dafs_apply_times(di, attr);
	if (attr->valid & DAFS_FATTR_SPACE_USED)
		inode->i_blocks = (attr->space_used + 511) >> 9;
	if (dafs_attr_outdated(di, asked))
		dafs_apply_outdated(di, attr, asked.at);
	else
		changed = dafs_apply_current(di, attr, ids, asked);
	dafs_apply_timeout(di, asked, changed);
out:
	spin_unlock(&di->lock);
}

/**
 * dafs_check_attrs() - can an inode be made from attributes?
 * @attr: from the server
 *
 * Context: any.
 * Return: 0, or -EIO if not.
 */
int dafs_check_attrs(const struct dafs_fattr *attr)
{
	if ((attr->valid & DAFS_INODE_NEEDS) != DAFS_INODE_NEEDS ||
	    !dafs_type_mode(attr->object_type))
		return -EIO;
	return 0;
}

/* Requests for attributes that a task sends while their answers are doubted */
#define DAFS_DOUBTS	5

/* Attributes that are invalid at any age */
static bool dafs_attrs_wrong(const struct dafs_inode *di)
{
	return test_bit(DAFS_INO_STALE, &di->flags) || dafs_size_unknown(di);
}

/*
 * Has the client had its lease since then?  The time of a lease goes on while the machine is
 * suspended, that of jiffies does not.
 */
static bool dafs_leased_since(const struct dafs_inode *di, const ktime_t *sent)
{
	return dafs_client_leased_since(dafs_inode_clnt(&di->netfs.inode), READ_ONCE(*sent));
}

/**
 * dafs_inode_delegated() - does no one else change a file?
 * @di: the inode
 *
 * Context: any; takes no lock, so that RCU walk can use it.
 * Return: true if the server has delegated it to this client, which has had its lease ever
 * since.
 */
bool dafs_inode_delegated(const struct dafs_inode *di)
{
	return test_bit(DAFS_INO_DELEG, &di->flags) && dafs_leased_since(di, &di->deleg_sent);
}

/**
 * dafs_attrs_doubt() - others may have changed an object until now
 * @di: the object
 *
 * Its attributes must be read again.  An answer to a request that was sent before now would tell
 * nothing newer, so it is ignored.
 *
 * Context: any but interrupt.
 */
void dafs_attrs_doubt(struct dafs_inode *di)
{
	spin_lock(&di->lock);
	di->asked = dafs_clock_next(di->netfs.inode.i_sb);
	set_bit(DAFS_INO_STALE, &di->flags);
	spin_unlock(&di->lock);
}

/**
 * dafs_cache_doubt() - others may have changed a file until now, in a way that attributes hide
 * @di: the file
 *
 * What is cached of it is dropped before it is used.
 *
 * Context: any but interrupt.
 */
void dafs_cache_doubt(struct dafs_inode *di)
{
	set_bit(DAFS_INO_ZAP, &di->flags);
	dafs_attrs_doubt(di);
}

/**
 * dafs_attrs_were_ours() - until now no one else could change a file
 * @di: the file
 *
 * Context: any but interrupt.
 */
void dafs_attrs_were_ours(struct dafs_inode *di)
{
	spin_lock(&di->lock);
	dafs_attr_sure(di, jiffies);
	spin_unlock(&di->lock);
}

static bool dafs_attrs_are(const struct dafs_inode *di, struct dafs_asked asked)
{
	lockdep_assert_held(&di->lock);
	return di->asked == asked.clock && !dafs_attr_outdated(di, asked);
}

/**
 * dafs_attrs_applied() - are the attributes those of a certain response?
 * @di: the inode
 * @asked: dafs_asked_now() from before the request
 *
 * Context: any but interrupt.
 * Return: false if the response was ignored, in whole or in part: a request that was sent later,
 * but may have been executed before, was answered before.
 */
bool dafs_attrs_applied(struct dafs_inode *di, struct dafs_asked asked)
{
	bool applied;

	spin_lock(&di->lock);
	applied = dafs_attrs_are(di, asked);
	spin_unlock(&di->lock);
	return applied;
}

/**
 * dafs_attrs_seal() - if the attributes are those of a response, older ones are ignored
 * @di: the inode
 * @asked: dafs_asked_now() from before the request
 *
 * Answers to requests that were sent by now are ignored from now on.
 *
 * Context: any but interrupt.
 * Return: false if the response was ignored, in whole or in part.
 */
bool dafs_attrs_seal(struct dafs_inode *di, struct dafs_asked asked)
{
	bool newest;

	spin_lock(&di->lock);
	newest = dafs_attrs_are(di, asked);
	if (newest)
		di->asked = dafs_clock_next(di->netfs.inode.i_sb);
	spin_unlock(&di->lock);
	return newest;
}

/**
 * dafs_inode_delegated_to_write() - does no one else use a file?
 * @di: the inode
 *
 * Context: any; takes no lock.
 * Return: true if the server has delegated it to this client for writing.
 */
bool dafs_inode_delegated_to_write(const struct dafs_inode *di)
{
	return test_bit(DAFS_INO_DELEG_WRITE, &di->flags) && dafs_inode_delegated(di);
}

/**
 * dafs_attrs_fresh() - are the cached attributes still valid?
 * @di: inode
 *
 * After our own changes that no answer has shown yet, they are valid for the minimum
 * time only; but if the file is delegated, until it is recalled.  Without a lease nothing is
 * valid: what is locked may be locked by others, too (4.4.1.2).
 *
 * Context: any; takes no lock, so that RCU walk can use it.
 * Return: true if so.
 */
bool dafs_attrs_fresh(const struct dafs_inode *di)
{
	unsigned long least, most, timeo;

	if (dafs_attrs_wrong(di))
		return false;
	if (!dafs_leased_since(di, &di->attr_sent))
		return false;
	if (dafs_inode_delegated(di))
		return true;
	/* a remount may have lowered it */
	dafs_attr_times(&di->netfs.inode, &least, &most);
	timeo = min(READ_ONCE(di->attr_timeo),
		    test_bit(DAFS_INO_OWN_CHANGE, &di->flags) ? least : most);
	return timeo &&
	       time_in_range_open(jiffies, READ_ONCE(di->attr_at),
				  READ_ONCE(di->attr_at) + timeo);
}

/**
 * dafs_attrs_aged() - has the cache time of attributes passed, and nothing else?
 * @di: the inode
 *
 * Context: any.
 * Return: true if so.
 */
bool dafs_attrs_aged(const struct dafs_inode *di)
{
	unsigned long least, most;

	dafs_attr_times(&di->netfs.inode, &least, &most);
	return !dafs_attrs_wrong(di) && most && READ_ONCE(di->attr_timeo) &&
	       !dafs_attrs_fresh(di);
}

/**
 * dafs_refresh() - apply attributes to an inode
 * @inode: inode
 * @attr: its attributes
 * @ids: its owner and group
 * @asked: dafs_asked_now() from before they were asked for
 *
 * Context: may sleep.
 * Return: 0, -ESTALE if this is another object, -EIO if @attr lacks required
 * attributes.
 */
int dafs_refresh(struct inode *inode, const struct dafs_fattr *attr,
		 const struct dafs_ids *ids, struct dafs_asked asked)
{
	int err = dafs_check_attrs(attr);

	if (err)
		return err;
	if (inode_wrong_type(inode, dafs_type_mode(attr->object_type)))
		return -ESTALE;
	dafs_inode_apply(DAFS_I(inode), attr, ids, asked);
	return 0;
}

/**
 * dafs_gone() - has the server lost an object because this client removed its name?
 * @inode: the object
 * @err: what the server answered
 *
 * It stays usable here for tasks that have it open or have just looked it up, with the
 * cached attributes.
 *
 * Context: any.
 * Return: true if so.
 */
bool dafs_gone(const struct inode *inode, int err)
{
	return err == -ESTALE && test_bit(DAFS_INO_REMOVED, &DAFS_I(inode)->flags);
}

/*
 * No answer will ever tell more, so what is known is as good as if it were new; unless
 * this client has changed the object since, or has found that it was not its own removal.
 */
static void dafs_attrs_last(struct dafs_inode *di, struct dafs_asked asked)
{
	clear_bit(DAFS_INO_LONGER, &di->flags);
	clear_bit(DAFS_INO_STALE, &di->flags);
	clear_bit(DAFS_INO_STALE_STAT, &di->flags);
	/* either may have just set the flags that were cleared here; see dafs_not_removed() */
	smp_mb__after_atomic();
	if (dafs_attr_outdated(di, asked) || !test_bit(DAFS_INO_REMOVED, &di->flags))
		set_bit(DAFS_INO_STALE, &di->flags);
	spin_lock(&di->lock);
	dafs_apply_timeout(di, asked, false);
	spin_unlock(&di->lock);
}

/* The answer was ignored, because others may have changed the object since the request. */
static bool dafs_attrs_doubted(struct dafs_inode *di, struct dafs_asked asked)
{
	bool doubted;

	spin_lock(&di->lock);
	doubted = asked.clock < di->asked && test_bit(DAFS_INO_STALE, &di->flags);
	spin_unlock(&di->lock);
	return doubted;
}

static int dafs_ask_attrs(struct inode *inode, const struct cred *cred, bool *doubted)
{
	struct dafs_sb_info *sbi = DAFS_SB(inode->i_sb);
	struct dafs_inode *di = DAFS_I(inode);
	struct dafs_fattr attr = {};
	struct dafs_ids ids;
	struct dafs_asked asked;
	bool gone;
	int err;

	asked = dafs_asked_now(inode->i_sb);
	err = dafs_getattr_unless(sbi->clnt, cred, &di->fh, sbi->attrs, &attr, &ids,
				  &sbi->leaving);
	gone = dafs_gone(inode, err);
	if (gone)
		dafs_attrs_last(di, asked);
	else if (!err)
		err = dafs_refresh(inode, &attr, &ids, asked);
	/* the inode of a new file has no number before */
	trace_dafs_revalidate(inode, err);
	*doubted = !gone && !err && dafs_attrs_doubted(di, asked);
	return gone ? 0 : err;
}

/**
 * dafs_revalidate() - make sure that the cached attributes are valid
 * @inode: inode
 * @cred: whom to ask the server for
 * @force: read them in any case
 *
 * Context: may sleep.
 * Return: 0, -ESTALE if others have removed the object, or another negative errno.
 */
int dafs_revalidate(struct inode *inode, const struct cred *cred, bool force)
{
	unsigned int tries = DAFS_DOUBTS;
	bool doubted;
	int err;

	if (!force && dafs_attrs_fresh(DAFS_I(inode)))
		return 0;
	do {
		err = dafs_ask_attrs(inode, cred, &doubted);
	} while (doubted && --tries);
	return err;
}
