/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What all folders above rpc/ know of a mount.
 */
#ifndef _FS_DAFS_SB_H
#define _FS_DAFS_SB_H

#include <linux/fs.h>
#include "../proc/proc.h"

/* Requests that a mount may have outstanding, unless max_requests= says otherwise */
#define DAFS_DEF_MAX_REQUESTS	64

enum dafs_lookupcache {
	DAFS_LOOKUPCACHE_ALL,
	DAFS_LOOKUPCACHE_POSITIVE,	/* negative dentries are revalidated */
	DAFS_LOOKUPCACHE_NONE,
};

/**
 * struct dafs_options - mount options that do not concern the client
 * @rsize: bytes of the largest read
 * @wsize: bytes of the largest write
 * @rsize_asked: value of the mount option, 0 for the server's maximum
 * @wsize_asked: likewise
 * @acregmin: minimum attribute cache time of files, in jiffies
 * @acregmax: maximum
 * @acdirmin: the same for directories
 * @acdirmax: the same for directories
 * @noac: trust no attributes and write synchronously
 * @nocto: no close-to-open consistency: open(2) uses cached attributes
 * @lookupcache: which cached names may be used, DAFS_LOOKUPCACHE_*
 * @local_posix: locks of fcntl(2) are not sent to the server
 * @local_flock: those of flock(2) are not
 * @nosharecache: do not share the super block, see vfs/share.c
 * @keyed: all opens have @share_key
 * @share_key: opens with another key are refused while a file is open (4.4.2)
 */
struct dafs_options {
	u32 rsize;
	u32 wsize;
	u32 rsize_asked;
	u32 wsize_asked;
	unsigned long acregmin;
	unsigned long acregmax;
	unsigned long acdirmin;
	unsigned long acdirmax;
	bool noac;
	bool nocto;
	enum dafs_lookupcache lookupcache;
	bool local_posix;
	bool local_flock;
	bool nosharecache;
	bool keyed;
	u64 share_key;
};

/* struct dafs_sb_info, flags */
#define DAFS_SB_CLOSING		0	/* all writes are stable from now on */
#define DAFS_SB_SHARED		1	/* mounted more than once, see share.c */
#define DAFS_SB_FORCED		2	/* the client was shut down, no mount may share it */

/* Operations that use RDMA unless the server refuses, see dafs_rdma_refuse() */
enum dafs_rdma_use {
	DAFS_RDMA_READ,
	DAFS_RDMA_WRITE,
	DAFS_RDMA_APPEND,
	DAFS_RDMA_READDIR,
	DAFS_RDMA_USES
};

/**
 * struct dafs_sb_info - one mount
 * @sb: its super block
 * @clnt: client of the server, shared with the mounts below
 * @params: parameters of the client, for show_options
 * @submount: set for a submount, which uses the client of its parent, see vfs/submount.c
 * @cred: credential of the mounter
 * @source: mount source, to build the sources of submounts
 * @opts: the other options, with the server's limits applied
 * @root: handle of the root of the mount
 * @attrs: DAFS_FATTR_* to request: those that are useful and that the server supports
 * @handles: READDIR of this server can return filehandles
 * @clock: logical clock: counts attribute requests and changes made by this client, for
 *	all objects, to order them
 * @evicted_change: @clock of the last change to an inode that was evicted since
 * @max_name: maximum length of a name, in bytes
 * @unique_handle: all names of an object have the same handle (6.1.6)
 * @max_append: maximum size of an append, in bytes
 * @flags: DAFS_SB_*
 * @rdma_refused: for each use: number of the connection on which the server refused it,
 *	from 1
 * @async: work items under way, see dafs_kill_sb()
 * @forced: counts umount -f: operations that wait because of DELAY give up when it
 *	changes
 * @leaving: the mount is ending and all its data is written: do not wait for a server
 *	that is down
 * @puts_lock: guards @puts
 * @puts: inodes that @puts_work will iput()
 * @puts_work: see dafs_inode_put_later()
 * @set_ops: sets the operations of a new inode; of an upper layer
 * @owner_seed: makes open owners unique among mounts (E-82)
 * @owner_next: makes them unique within the mount
 * @opens_lock: guards @opens
 * @opens: all struct dafs_open_state that are in use
 * @delegs: struct dafs_deleg, in the order of use; with @nr_delegs guarded by a lock of
 *	state/deleg.c
 * @nr_delegs: entries of @delegs
 * @delegs_client_id: what others than this were given under is not known to the server any
 *	more; valid with @delegs_forgotten, and guarded likewise
 * @delegs_forgotten: that has happened
 * @delegs_refused: the server has not given back one of those since
 * @recovery: counts the runs of dafs_opens_recover()
 * @recoverer: its callback at the client
 * @unstable_lock: guards @unstable
 * @unstable: struct dafs_unstable_link of inodes with unstable data, and of tasks that
 *	walk the list
 * @unstable_pages: number of pages kept until they are stable
 * @reclaim_at: from this time on memory reclaim may wait for COMMIT again, in jiffies
 * @commit_work: commits them after DAFS_UNSTABLE_DELAY
 * @rcu: frees it
 * @export: path of the export; empty for a submount
 */
struct dafs_sb_info {
	struct super_block *sb;
	struct dafs_client *clnt;
	struct dafs_client_params params;
	bool submount;
	const struct cred *cred;
	char *source;
	struct dafs_options opts;
	struct dafs_fh root;
	u64 attrs;
	bool handles;
	atomic_long_t clock;
	atomic_long_t evicted_change;
	u32 max_name;
	bool unique_handle;
	u32 max_append;
	unsigned long flags;
	unsigned int rdma_refused[DAFS_RDMA_USES];
	atomic_t async;
	unsigned int forced;
	bool leaving;
	spinlock_t puts_lock;	/* see above */
	struct list_head puts;
	struct work_struct puts_work;
	void (*set_ops)(struct inode *inode, const struct dafs_fattr *attr);
	u64 owner_seed;
	atomic64_t owner_next;
	spinlock_t opens_lock;	/* see above */
	struct list_head opens;
	struct list_head delegs;
	unsigned int nr_delegs;
	struct dafs_client_id delegs_client_id;
	bool delegs_forgotten;
	bool delegs_refused;
	unsigned int recovery;
	struct dafs_recoverer recoverer;
	spinlock_t unstable_lock;	/* see above */
	struct list_head unstable;
	atomic_long_t unstable_pages;
	unsigned long reclaim_at;
	struct delayed_work commit_work;
	struct rcu_head rcu;
	char export[];
};

static inline struct dafs_sb_info *DAFS_SB(const struct super_block *sb)
{
	return sb->s_fs_info;
}

static inline struct dafs_client *dafs_inode_clnt(const struct inode *inode)
{
	return DAFS_SB(inode->i_sb)->clnt;
}

#endif /* _FS_DAFS_SB_H */
