// SPDX-License-Identifier: GPL-2.0
/*
 * Read-ahead of names and attributes.
 *
 * A program that looks at one file of a directory often looks at many: git status,
 * make, rsync.  Each name costs a LOOKUP and a GETATTR, another GETATTR when its
 * attributes have expired, and another LOOKUP after other clients have changed the
 * directory.  One READDIR returns hundreds of names with all attributes.  So a directory
 * in which names are looked up is listed in the background.
 *
 * Each lookup gives credit for a few entries, which cost about as much as the lookup
 * itself.  After DAFS_AHEAD_TRIAL entries, only listed names that are used give credit,
 * so that a few lookups in a huge directory do not list all of it.  At the end of the
 * directory the listing starts again: dentries may have been reclaimed, and attributes
 * expire.
 *
 * The background listing never waits for a connection and never retries.
 */
#include <linux/cred.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include "../data/data.h"
#include "vfs.h"

/* Lists what is not waited for; see dafs_init_workqueues() */
struct workqueue_struct *dafs_ahead_wq;

/* Entries that a name gives credit for: looked up at the server, or listed and used */
#define DAFS_AHEAD_ASKED	4
#define DAFS_AHEAD_USED		8

/* Smallest number of entries to request */
#define DAFS_AHEAD_LEAST	32

/* Entries that are listed before only used names give credit */
#define DAFS_AHEAD_TRIAL	1024

/* Typical size of an entry in bytes, and largest number of entries per request */
#define DAFS_AHEAD_ENTRY	256U
#define DAFS_AHEAD_MOST		256U

/* d_fsdata of dentries that no task has used yet */
#define DAFS_AHEAD_MARK		((void *)1)

/**
 * struct dafs_ahead - the background listing of a directory
 * @work: lists some entries
 * @dir: the directory; a reference is held while @work is queued
 * @cred: credential to use; a reference is held likewise
 * @pos: where to continue
 * @listed: entries listed so far
 *
 * Owned by the task that has set DAFS_INO_AHEAD of the directory, then by @work once it
 * is queued.
 */
struct dafs_ahead {
	struct work_struct work;
	struct dentry *dir;
	const struct cred *cred;
	struct dafs_readdir_pos pos;
	unsigned int listed;
};

/**
 * struct dafs_ahead_step - what dafs_ahead_entry() needs
 * @list: what was asked for
 * @count: entries that came
 */
struct dafs_ahead_step {
	struct dafs_listing list;
	unsigned int count;
};

static bool dafs_ahead_entry(void *priv, const struct dafs_direntry *entry)
{
	struct dafs_ahead_step *step = priv;

	if (!dafs_dirent_sane(entry))
		return false;
	dafs_prime(&step->list, entry);
	step->count++;
	return true;
}

/* Leaves the entries in the buffer until the directory is locked. */
static bool dafs_ahead_not_yet(void *priv, const struct dafs_direntry *entry)
{
	return false;
}

static int dafs_ahead_ask(struct dafs_ahead *ahead, struct dafs_listing *list, void *buf,
			  size_t size)
{
	struct inode *dir = d_inode(ahead->dir);

	dafs_listing_begin(list, dafs_listing_attrs(DAFS_SB(dir->i_sb)));
	ahead->pos.nowait = true;
	return dafs_readdir_direct(dafs_inode_clnt(dir), ahead->cred, &DAFS_I(dir)->fh,
				   list->wanted, buf, size, &ahead->pos, dafs_ahead_not_yet,
				   NULL);
}

/* Are the directory's names unchanged since the request? */
static bool dafs_ahead_holds(const struct inode *dir, const struct dafs_listing *list)
{
	return !IS_DEADDIR(dir) && list->gen == dafs_dir_gen(dir) &&
	       !dafs_attr_outdated(DAFS_I(dir), list->asked);
}

/*
 * Locks the directory only here, not during the request: a task that changes it must
 * not wait for our request.  Only tries the lock: its holder may wait for a server that
 * is down.
 */
static int dafs_ahead_take(struct dafs_ahead *ahead, struct dafs_ahead_step *step)
{
	struct inode *dir = d_inode(ahead->dir);
	int err = -EAGAIN;

	if (!inode_trylock_shared(dir))
		return err;
	if (dafs_ahead_holds(dir, &step->list))
		err = dafs_readdir_rest(&ahead->pos, dafs_ahead_entry, step);
	inode_unlock_shared(dir);
	return err;
}

/* Return: entries listed, or a negative errno. */
static int dafs_ahead_some(struct dafs_ahead *ahead, unsigned int credit)
{
	size_t size = min(credit, DAFS_AHEAD_MOST) * DAFS_AHEAD_ENTRY;
	struct dafs_ahead_step step = {
		.list.dir = ahead->dir,
		.list.mark = DAFS_AHEAD_MARK,
	};
	void *buf;
	int err;

	/* zeroed: the server may write nothing, and old memory must not be read as names */
	buf = kvzalloc(size, GFP_KERNEL | __GFP_NOWARN);
	if (!buf)
		return -ENOMEM;
	err = dafs_ahead_ask(ahead, &step.list, buf, size);
	if (!err)
		err = dafs_ahead_take(ahead, &step);
	ahead->pos.iter.left = 0;
	kvfree(buf);
	return err ?: step.count;
}

/* A request that failed counts as unused entries. */
static void dafs_ahead_run(struct dafs_ahead *ahead)
{
	struct dafs_inode *di = DAFS_I(d_inode(ahead->dir));
	struct dafs_sb_info *sbi = DAFS_SB(ahead->dir->d_sb);
	unsigned int number = dafs_conn_number(sbi->clnt);
	int ret = dafs_ahead_some(ahead, atomic_read(&di->ahead_credit));

	if (ret == -EOPNOTSUPP)
		dafs_rdma_refuse(sbi, DAFS_RDMA_READDIR, number);
	ahead->listed += ret > 0 ? ret : DAFS_AHEAD_LEAST;
	if (ahead->listed >= DAFS_AHEAD_TRIAL)
		set_bit(DAFS_INO_AHEAD_TRIED, &di->flags);
	if (ret > 0 && !ahead->pos.eof) {
		atomic_sub(ret, &di->ahead_credit);
		return;
	}
	atomic_set(&di->ahead_credit, 0);
	/* the entries could not be used now: request them again */
	if (ret != -EAGAIN)
		ahead->pos = (struct dafs_readdir_pos){};
}

static void dafs_ahead_work(struct work_struct *work)
{
	struct dafs_ahead *ahead = container_of(work, struct dafs_ahead, work);
	struct dafs_sb_info *sbi = DAFS_SB(ahead->dir->d_sb);
	const struct cred *cred = ahead->cred;
	struct dentry *dir = ahead->dir;

	dafs_ahead_run(ahead);
	/* from here on the next listing may start */
	clear_bit_unlock(DAFS_INO_AHEAD, &DAFS_I(d_inode(dir))->flags);
	put_cred(cred);
	dput(dir);
	dafs_async_end(sbi);
}

/* The caller has set DAFS_INO_AHEAD. */
static bool dafs_ahead_start(struct dafs_inode *di, struct dentry *dir)
{
	struct dafs_ahead *ahead = di->ahead;

	if (dafs_may(d_inode(dir), current_cred(), DAFS_ACCESS_READ))
		return false;
	if (!ahead) {
		ahead = kzalloc(sizeof(*ahead), GFP_KERNEL);
		if (!ahead)
			return false;
		INIT_WORK(&ahead->work, dafs_ahead_work);
		di->ahead = ahead;
	}
	ahead->dir = dget(dir);
	ahead->cred = get_current_cred();
	dafs_async_begin(DAFS_SB(dir->d_sb));
	queue_work(dafs_ahead_wq, &ahead->work);
	return true;
}

static bool dafs_ahead_wanted(const struct dafs_sb_info *sbi)
{
	return dafs_listing_attrs(sbi) &&
	       READ_ONCE(sbi->opts.lookupcache) != DAFS_LOOKUPCACHE_NONE &&
	       !dafs_rdma_refused(sbi, DAFS_RDMA_READDIR);
}

/**
 * dafs_ahead_asked() - a name was looked up at the server and exists
 * @dir: its directory
 *
 * Context: may sleep.
 */
void dafs_ahead_asked(struct dentry *dir)
{
	struct dafs_inode *di = DAFS_I(d_inode(dir));
	int credit = atomic_read(&di->ahead_credit);

	if (!dafs_ahead_wanted(DAFS_SB(dir->d_sb)))
		return;
	if (!test_bit(DAFS_INO_AHEAD_TRIED, &di->flags))
		credit = atomic_add_return(DAFS_AHEAD_ASKED, &di->ahead_credit);
	if (credit < DAFS_AHEAD_LEAST || test_and_set_bit_lock(DAFS_INO_AHEAD, &di->flags))
		return;
	/* a listing that has just ended may have used up the credit */
	if (atomic_read(&di->ahead_credit) < DAFS_AHEAD_LEAST || !dafs_ahead_start(di, dir))
		clear_bit_unlock(DAFS_INO_AHEAD, &di->flags);
}

/**
 * dafs_ahead_used() - a listed name is used
 * @dir: its directory
 * @dentry: the name
 *
 * Context: any, including RCU walk.
 */
void dafs_ahead_used(struct inode *dir, struct dentry *dentry)
{
	if (READ_ONCE(dentry->d_fsdata) == DAFS_AHEAD_MARK &&
	    xchg(&dentry->d_fsdata, NULL) == DAFS_AHEAD_MARK)
		atomic_add(DAFS_AHEAD_USED, &DAFS_I(dir)->ahead_credit);
}
