/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The VFS half of the client: mounts, inodes, open files and their data.
 *
 * Locks, outermost first:
 *
 *   di->write_lock	one buffered writer, or appender, at a time
 *   di->zap_lock	one invalidation of the page cache at a time
 *   inode->i_rwsem	as the VFS and netfs_start_io_*() take it
 *   di->claim_lock	one task at a time changes di->writer; a page
 *				fault only tries it
 *   di->commit_lock	one COMMIT at a time
 *   netfs->wb_lock	no new write-back while lost data is sent again
 *   di->unstable_lock	data that is written but not yet stable
 *   sbi->unstable_lock	list of inodes with such data
 *   di->lock		attributes, access rights and opens
 *   sbi->opens_lock	all opens
 *   os->lock		the state-id of one open, and its reclaim
 *   inode->i_lock	sizes
 */
#ifndef _FS_DAFS_FS_H
#define _FS_DAFS_FS_H

#include <linux/fs.h>
#include <linux/fs_context.h>
#include <linux/fs_parser.h>
#include <linux/netfs.h>
#include "../proc/proc.h"

#define DAFS_SUPER_MAGIC	0x44414653	/* "DAFS" */

#define DAFS_DEF_TIMEO		600		/* deciseconds */
#define DAFS_DEF_RETRANS	3
#define DAFS_DEF_MAX_REQUESTS	64
#define DAFS_DEF_MAX_CREDENTIALS	1024
#define DAFS_DEF_MSG_SIZE	SZ_16K
#define DAFS_DEF_ACREGMIN	3		/* seconds, as are the next three */
#define DAFS_DEF_ACREGMAX	60
#define DAFS_DEF_ACDIRMIN	30
#define DAFS_DEF_ACDIRMAX	60

/* Smallest max_append that a server may have (6.1.6) */
#define DAFS_LEAST_MAX_APPEND	SZ_64K

/* Largest folio; a folio is filled by one read, see dafs_prepare_read(). */
#define DAFS_MAX_FOLIO_SIZE	SZ_256K

/* Unstable data of one inode: start COMMIT at SOFT, write stably at HARD. */
#define DAFS_UNSTABLE_SOFT	SZ_32M
#define DAFS_UNSTABLE_HARD	SZ_128M
#define DAFS_UNSTABLE_DELAY	(5 * HZ)

/* Bounds of the limit for a mount, see dafs_unstable_most(). */
#define DAFS_UNSTABLE_LEAST	SZ_4M
#define DAFS_UNSTABLE_MOST	SZ_1G

enum dafs_lookupcache {
	DAFS_LOOKUPCACHE_ALL,
	DAFS_LOOKUPCACHE_POSITIVE,	/* negative dentries are revalidated */
	DAFS_LOOKUPCACHE_NONE,
};

/**
 * struct dafs_options - mount options that do not concern the session
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
 * @nosharecache: do not share the super block, see vfs/share.c
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
	bool nosharecache;
};

/* struct dafs_sb_info, flags */
#define DAFS_SB_CLOSING		0	/* all writes are stable from now on */
#define DAFS_SB_SHARED		1	/* mounted more than once, see share.c */
#define DAFS_SB_FORCED		2	/* the session was ended, no mount may share it */

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
 * @ses: session with the server
 * @params: parameters of the session, for show_options
 * @submount: set for a submount, which uses the session of its parent, see vfs/submount.c
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
 * @recovery: counts the runs of dafs_opens_recover()
 * @recoverer: its callback at the session
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
	struct dafs_session *ses;
	struct dafs_session_params params;
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

#define DAFS_ACCESS_CACHE	4

/**
 * struct dafs_access_entry - what the server granted a user
 * @cred: the user with a reference, or NULL
 * @granted: DAFS_ACCESS_*
 * @at: time of the request, in jiffies
 */
struct dafs_access_entry {
	const struct cred *cred;
	u32 granted;
	unsigned long at;
};

/**
 * struct dafs_unstable_link - a place in sbi->unstable
 * @link: in it
 * @inode: the inode, or NULL for a marker of dafs_unstable_for_each()
 */
struct dafs_unstable_link {
	struct list_head link;
	struct inode *inode;
};

/* struct dafs_inode, flags */
#define DAFS_INO_STALE		0	/* the attributes must be read again */
#define DAFS_INO_STALE_STAT	1	/* likewise for stat(2); the change attribute is valid */
#define DAFS_INO_ZAP		2	/* the page cache is out of date */
#define DAFS_INO_OWN_CHANGE	3	/* the next new change attribute is due to our own change */
#define DAFS_INO_FLUSHING	4	/* COMMIT follows the write-back */
#define DAFS_INO_LISTED		5	/* the directory has been listed once */
#define DAFS_INO_NAMES_USED	6	/* names in it were used since the last listing */
#define DAFS_INO_LOOK_FIRST	7	/* a file to be created in it existed: LOOKUP first */
#define DAFS_INO_AHEAD		8	/* di->ahead is in use */
#define DAFS_INO_AHEAD_TRIED	9	/* trial over: only used names give credit */
#define DAFS_INO_REMOVED	10	/* this client removes or has removed its last name */
#define DAFS_INO_ZAPPING	11	/* the page cache is being dropped */
#define DAFS_INO_UNCERTAIN	12	/* others' changes may look like ours */
#define DAFS_INO_LONGER		13	/* larger than at the server, see dafs_apply_size() */

/**
 * struct dafs_inode - one object of the server
 * @netfs: the inode; must come first
 * @fh: its filehandle
 * @flags: DAFS_INO_*
 * @lock: guards what follows up to @opens
 * @change: change attribute
 * @asked: sbi->clock of the latest request that was answered; answers to older requests
 *	are ignored
 * @attr_at: when the attributes were read, in jiffies
 * @attr_timeo: how long they are valid, in jiffies
 * @sure_at: last time when DAFS_INO_UNCERTAIN was clear, in jiffies
 * @own_change: sbi->clock of the last change made by this client; answers to older
 *	requests are stale; written without @lock
 * @access: access rights, latest first
 * @opens: struct dafs_open_state
 * @dir_gen: sbi->clock when a change of the directory by other clients was seen, so
 *	unique among directories; written under @lock, read by dafs_d_revalidate()
 *	without
 * @ahead_credit: number of entries that read-ahead may list, see vfs/ahead.c
 * @ahead: the read-ahead, or NULL; guarded by DAFS_INO_AHEAD
 * @btime: time of creation
 * @writers: buffered writes in progress; raised under i_lock
 * @writer: user who owns the dirty folios, see data/writer.c, or NULL; guarded by @lock, and
 *	changed under @claim_lock and netfs.wb_lock
 * @writer_leaves: another user waits for the write-back of these folios; guarded by
 *	@lock
 * @write_lock: serializes buffered writers and appenders, see
 *	dafs_buffered_write() and dafs_append_iter()
 * @claim_lock: serializes dafs_writer_claim() and the copy of write(2) after it, see
 *	data/writer.c
 * @zap_lock: serializes dafs_zap_mapping()
 * @unstable_lock: guards @unstable, @committing, @unstable_bytes and @unstable_pinned
 * @unstable: struct dafs_extent
 * @committing: extents covered by a COMMIT in progress; a holder of @commit_lock may
 *	read it without @unstable_lock
 * @unstable_bytes: number of bytes in @unstable and @committing
 * @unstable_stops: write-back is stable while this is not 0, see dafs_unstable_stop()
 * @unstable_pinned: an inode reference is held while @unstable is not empty
 * @unstable_link: in sbi->unstable if @unstable_pinned
 * @put_link: in sbi->puts
 * @commit_lock: one COMMIT at a time
 * @commit_ends: counts completed COMMITs, including resends; incremented under
 *	@commit_lock, waited for by dafs_commit_inode()
 * @commit_work: commits in the background; holds an inode reference
 */
struct dafs_inode {
	struct netfs_inode netfs;
	struct dafs_fh fh;
	unsigned long flags;
	spinlock_t lock;	/* see above */
	u64 change;
	long asked;
	unsigned long attr_at;
	unsigned long attr_timeo;
	unsigned long sure_at;
	atomic_long_t own_change;
	struct dafs_access_entry access[DAFS_ACCESS_CACHE];
	struct list_head opens;
	unsigned long dir_gen;
	struct dafs_ahead *ahead;
	struct timespec64 btime;
	atomic_t ahead_credit;
	atomic_t writers;
	const struct cred *writer;
	bool writer_leaves;
	struct mutex write_lock;	/* see above */
	struct mutex claim_lock;	/* see above */
	struct mutex zap_lock;	/* see above */
	spinlock_t unstable_lock;	/* see above */
	struct list_head unstable;
	struct list_head committing;
	size_t unstable_bytes;
	atomic_t unstable_stops;
	bool unstable_pinned;
	struct dafs_unstable_link unstable_link;
	struct list_head put_link;
	struct mutex commit_lock;	/* see above */
	atomic_t commit_ends;
	struct work_struct commit_work;
};

/**
 * struct dafs_open_state - one OPEN at the server (4.4.1.2)
 * @ref: users: one for each open file, one for each I/O request that uses it
 * @kref: one for all users together, one for the recovery while it looks at it
 * @link: link in di->opens until the last user is gone
 * @all_link: link in sbi->opens, for the same time
 * @recovery: number of the dafs_opens_recover() run that has visited it; guarded by
 *	sbi->opens_lock
 * @di: the inode; valid until @link is removed
 * @sbi: the mount
 * @fh: the file
 * @ino: its inode number, for the log
 * @cred: credential of the opener
 * @access: DAFS_OPEN_SHARE_ACCESS_*
 * @owner: the open owner's name
 * @lock: guards @state_id, @client_id, @lost, @reclaiming, @reclaims and @closing
 * @state_id: from the server
 * @client_id: client-id that the open belongs to
 * @lost: errno for the users, if the server refused the reclaim
 * @reclaiming: a reclaim is under way: by @work, or the recovery of the session
 * @reclaims: struct dafs_reclaim that wait for the end of the reclaim
 * @closing: no users are left: no new reclaim starts, and @work closes it after a
 *	reclaim in progress
 * @work: does one step of a reclaim, or of a CLOSE that the last user may not wait for;
 *	holds a reference of @kref and of the mount until the last step
 * @park: parks it while there is no connection
 * @delay_ms: delay before the last step
 * @gone: connections lost before the response
 * @nomem: steps that failed for want of memory
 * @unanswered: the connection was lost before the response to the last reclaim; the
 *	server may have executed it
 * @forced: sbi->forced at the first step
 */
struct dafs_open_state {
	refcount_t ref;
	struct kref kref;
	struct list_head link;
	struct list_head all_link;
	unsigned int recovery;
	struct dafs_inode *di;
	struct dafs_sb_info *sbi;
	struct dafs_fh fh;
	u64 ino;
	const struct cred *cred;
	u32 access;
	char owner[40];
	spinlock_t lock;	/* see above */
	struct dafs_opaque64 state_id;
	struct dafs_opaque64 client_id;
	int lost;
	bool reclaiming;
	struct list_head reclaims;
	bool closing;
	struct delayed_work work;
	struct dafs_park park;
	unsigned int delay_ms;
	unsigned int gone;
	unsigned int nomem;
	bool unanswered;
	unsigned int forced;
};

/**
 * struct dafs_reclaim - a task or an I/O that waits for an open to be reclaimed
 * @link: in os->reclaims; guarded by os->lock
 * @ended: called once at the end, with @err set and os->lock held
 * @err: the result
 */
struct dafs_reclaim {
	struct list_head link;
	void (*ended)(struct dafs_reclaim *reclaim);
	int err;
};

struct dafs_io_wait;

/**
 * struct dafs_io - one contiguous read or write, in as many calls as needed
 * @done_work: processes a response
 * @retry_work: sends the next call
 * @sbi: the mount
 * @di: the file; the caller holds a reference
 * @open: the open whose state-id is used, or NULL for the anonymous state-id (E-79)
 * @cred: whom to act for
 * @write: direction
 * @force_inline: do not use RDMA for this I/O
 * @stable: stability of a write, DAFS_UNSTABLE ...
 * @iter: the memory of the whole I/O; never advanced
 * @pos: offset in the file
 * @len: bytes
 * @done: bytes moved so far
 * @eof: a read met the end of the file
 * @committed: weakest commitment of all calls of a write
 * @verf: write verifier of the first call
 * @verf_set: @verf is valid
 * @verf_mixed: a later call returned another verifier
 * @complete: called once at the end, in process context unless @anywhere
 * @anywhere: on success, @complete may be called in softirq, or where it must not wait
 *	for other I/O
 * @priv: for @complete
 * @wait: the waiting task of dafs_io_run(), or NULL
 * @park: parks it while there is no connection
 * @reclaim: waits for @open to be reclaimed; its err is from the last reclaim
 * @conn: connection of the call in progress
 * @conn_number: dafs_conn_number() before it was sent
 * @call: the call in progress
 * @mem: memory of the call in progress
 * @direct: the call in progress moves its data by RDMA
 * @part: bytes of the call in progress
 * @max_part: upper limit for @part, 0 for none
 * @state_id: state-id that the call in progress was sent with
 * @recover: the server did not know @state_id
 * @tries: failed attempts since data was moved the last time
 * @forced: sbi->forced at its start
 * @args: arguments of the call in progress
 */
struct dafs_io {
	struct work_struct done_work;
	struct delayed_work retry_work;
	struct dafs_sb_info *sbi;
	struct dafs_inode *di;
	struct dafs_open_state *open;
	const struct cred *cred;
	bool write;
	bool force_inline;
	u32 stable;
	struct iov_iter iter;
	u64 pos;
	size_t len;
	size_t done;
	bool eof;
	u32 committed;
	struct dafs_opaque64 verf;
	bool verf_set;
	bool verf_mixed;
	void (*complete)(struct dafs_io *io, int err);
	bool anywhere;
	void *priv;
	struct dafs_io_wait *wait;
	struct dafs_park park;
	struct dafs_reclaim reclaim;
	struct dafs_conn *conn;
	unsigned int conn_number;
	struct dafs_call *call;
	struct dafs_mem mem;
	bool direct;
	size_t part;
	size_t max_part;
	struct dafs_opaque64 state_id;
	bool recover;
	struct dafs_tries tries;
	unsigned int forced;
	union {
		struct dafs_read_inline_args read_inline;
		struct dafs_read_direct_args read_direct;
		struct dafs_write_inline_args write_inline;
		struct dafs_write_direct_args write_direct;
	} args;
};

/**
 * struct dafs_extent - a range written unstably, and the folios it came from
 * @link: link in di->unstable
 * @pos: offset in the file
 * @len: bytes
 * @verf: write verifier; only a COMMIT that returns the same one makes this stable
 * @lost: its calls returned different verifiers
 * @open: the open that was used for the write, with a reference, or NULL
 * @cred: who wrote it, with a reference
 * @counted: the inode whose counters include it, see dafs_extent_count(), or NULL
 * @nr: number of @bv
 * @bv: the memory, with a reference on each folio
 */
struct dafs_extent {
	struct list_head link;
	u64 pos;
	size_t len;
	struct dafs_opaque64 verf;
	bool lost;
	struct dafs_open_state *open;
	const struct cred *cred;
	struct inode *counted;
	unsigned int nr;
	struct bio_vec bv[] __counted_by(nr);
};

static inline struct dafs_inode *DAFS_I(const struct inode *inode)
{
	return container_of(inode, struct dafs_inode, netfs.inode);
}

static inline struct dafs_sb_info *DAFS_SB(const struct super_block *sb)
{
	return sb->s_fs_info;
}

static inline struct dafs_session *dafs_inode_ses(const struct inode *inode)
{
	return DAFS_SB(inode->i_sb)->ses;
}

/* vfs/options.c */

/**
 * struct dafs_fs_context - a mount being set up
 * @params: session parameters
 * @opts: other options
 * @export: path of the export on the server
 * @port: port= as given, or 0
 * @srcaddr: srcaddr= as given, or NULL
 * @parent: of a submount: the parent mount
 * @root: of a submount: handle of its root
 */
struct dafs_fs_context {
	struct dafs_session_params params;
	struct dafs_options opts;
	char *export;
	u16 port;
	char *srcaddr;
	struct dafs_sb_info *parent;
	struct dafs_fh root;
};

extern const struct fs_parameter_spec dafs_fs_parameters[];

void dafs_options_init(struct dafs_fs_context *ctx);
int dafs_parse_param(struct fs_context *fc, struct fs_parameter *param);
int dafs_parse_source(struct fs_context *fc);
int dafs_options_reconfigure(struct fs_context *fc, struct dafs_sb_info *sbi);
int dafs_show_options(struct seq_file *m, struct dentry *root);
bool dafs_options_same(const struct dafs_options *a, const struct dafs_options *b);
bool dafs_params_same(const struct dafs_session_params *a, const struct dafs_session_params *b);

/* attr.c, iget.c */
#define DAFS_INODE_ATTRS						\
	(DAFS_FATTR_OBJECT_TYPE | DAFS_FATTR_MODE | DAFS_FATTR_NUM_LINKS | \
	 DAFS_FATTR_CHANGE | DAFS_FATTR_OBJECT_SIZE | DAFS_FATTR_FILE_ID | \
	 DAFS_FATTR_SPACE_USED | DAFS_FATTR_TIME_ACCESS |		\
	 DAFS_FATTR_TIME_CREATE | DAFS_FATTR_TIME_METADATA |		\
	 DAFS_FATTR_TIME_MODIFY | DAFS_FATTR_RAW_DEV |			\
	 DAFS_FATTR_OWNER | DAFS_FATTR_OWNER_GROUP)
/* Attributes that an inode cannot do without */
#define DAFS_INODE_NEEDS						\
	(DAFS_FATTR_OBJECT_TYPE | DAFS_FATTR_CHANGE |			\
	 DAFS_FATTR_OBJECT_SIZE | DAFS_FATTR_FILE_ID)

void dafs_inode_init_once(void *data);
void dafs_inode_reset(struct dafs_inode *di);
void dafs_inode_release(struct dafs_inode *di);
umode_t dafs_type_mode(u32 type);
void dafs_inode_apply(struct dafs_inode *di, const struct dafs_fattr *attr,
		      const struct dafs_ids *ids, long asked, unsigned long at);
int dafs_check_attrs(const struct dafs_fattr *attr);

/* Request time of attributes that were not read from the server */
#define DAFS_ASKED_NEVER	(-1L)

long dafs_attr_begin(const struct super_block *sb);
void dafs_attr_outdate(struct dafs_inode *di);
bool dafs_attr_outdated(const struct dafs_inode *di, long asked);
void dafs_own_change(struct dafs_inode *di);
void dafs_own_write(struct dafs_inode *di);
void dafs_own_change_settle(struct inode *inode, const struct cred *cred);
void dafs_own_metadata(struct inode *inode, const struct cred *cred);
struct inode *dafs_iget_created(struct inode *dir, const struct cred *cred,
				const struct dafs_fh *fh, umode_t mode);
struct inode *dafs_iget(struct super_block *sb, const struct cred *cred,
			const struct dafs_fh *fh);
struct inode *dafs_iget_known(struct super_block *sb, const struct dafs_fh *fh,
			      const struct dafs_fattr *attr, const struct dafs_ids *ids,
			      long asked, unsigned long at);
void dafs_attr_times(const struct inode *inode, unsigned long *least, unsigned long *most);
void dafs_attr_uncertain(struct inode *inode);
bool dafs_attrs_aged(const struct dafs_inode *di);
bool dafs_attrs_fresh(const struct dafs_inode *di);
bool dafs_size_unknown(const struct dafs_inode *di);
int dafs_refresh(struct inode *inode, const struct dafs_fattr *attr,
		 const struct dafs_ids *ids, long asked, unsigned long at);
bool dafs_gone(const struct inode *inode, int err);
int dafs_revalidate(struct inode *inode, const struct cred *cred, bool force);
int dafs_vfs_getattr(struct mnt_idmap *idmap, const struct path *path,
		     struct kstat *stat, u32 request_mask, unsigned int flags);

/* data/mapping.c */
void dafs_write_back(struct inode *inode);
bool dafs_mapping_zapped(const struct dafs_inode *di);
int dafs_zap_mapping(struct inode *inode);
int dafs_revalidate_mapping(struct inode *inode, const struct cred *cred);
int dafs_invalidate_lock(struct inode *inode, loff_t start, loff_t end);
int dafs_drop_range(struct inode *inode, loff_t start, loff_t end);

/* vfs/setattr.c */
int dafs_vfs_setattr(struct mnt_idmap *idmap, struct dentry *dentry,
		     struct iattr *iattr);
int dafs_setid_remove(struct file *file);

/* access.c */
void dafs_access_zap_locked(struct dafs_inode *di);
bool dafs_access_cached(struct dafs_inode *di, const struct cred *cred, u32 *granted);
int dafs_access_granted(struct inode *inode, const struct cred *cred, u32 *granted);
int dafs_may(struct inode *inode, const struct cred *cred, u32 want);
int dafs_vfs_permission(struct mnt_idmap *idmap, struct inode *inode, int mask);

/* vfs/dir.c, vfs/lookup.c */
extern const struct inode_operations dafs_dir_iops;
extern const struct dentry_operations dafs_dentry_ops;
unsigned long dafs_dir_gen(const struct inode *dir);
struct dentry *dafs_splice(struct inode *inode, struct dentry *dentry, unsigned long gen);

/* vfs/readdir.c */
extern const struct file_operations dafs_dir_fops;

/* vfs/prime.c */

/**
 * struct dafs_listing - the READDIR request that returned some entries
 * @dir: the directory
 * @wanted: attributes requested
 * @gen: dafs_dir_gen() before the request was sent
 * @asked: dafs_attr_begin() of the same moment
 * @at: jiffies of the same moment
 * @mark: d_fsdata of the dentries made from it
 */
struct dafs_listing {
	struct dentry *dir;
	u64 wanted;
	unsigned long gen;
	long asked;
	unsigned long at;
	void *mark;
};

void dafs_listing_begin(struct dafs_listing *list, u64 wanted);
u64 dafs_listing_attrs(const struct dafs_sb_info *sbi);
bool dafs_dirent_sane(const struct dafs_direntry *entry);
void dafs_prime(const struct dafs_listing *list, const struct dafs_direntry *entry);

/* vfs/ahead.c */
void dafs_ahead_asked(struct dentry *dir);
void dafs_ahead_used(struct inode *dir, struct dentry *dentry);

/* state/open.c */
struct dafs_open_state *dafs_open_state_get(struct inode *inode,
					    struct dentry *dentry, u32 access,
					    const struct cred *cred, bool checked, bool *fresh);

/**
 * struct dafs_new_file - how to create a file
 * @mode: its mode
 * @access: DAFS_OPEN_SHARE_ACCESS_* to open it for
 * @excl: create it EXCLUSIVE, so that the request may be sent again (6.5.24)
 */
struct dafs_new_file {
	umode_t mode;
	u32 access;
	bool excl;
};

struct dafs_open_state *dafs_open_state_create(struct inode *dir,
					       const struct qstr *name,
					       const struct dafs_new_file *how,
					       const struct cred *cred,
					       struct inode **inodep);
struct dafs_open_state *dafs_open_state_named(struct inode *dir, const struct qstr *name,
					      u32 access, const struct cred *cred,
					      struct inode **inodep);
struct dafs_open_state *dafs_open_state_find(struct dafs_inode *di, u32 access,
					     const struct cred *cred);
void dafs_open_state_hold(struct dafs_open_state *os);
void dafs_open_state_put(struct dafs_open_state *os, bool wait);
int dafs_open_state_id(struct dafs_open_state *os, struct dafs_opaque64 *state_id);
int dafs_open_state_recover_start(struct dafs_open_state *os, const struct dafs_opaque64 *lost,
				  struct dafs_reclaim *reclaim);
int dafs_open_state_recover(struct dafs_open_state *os,
			    const struct dafs_opaque64 *lost);
int dafs_open_state_recover_retry(struct dafs_open_state *os, const struct dafs_opaque64 *lost,
				  unsigned int *delay_ms);
int dafs_opens_recover(struct dafs_sb_info *sbi, struct dafs_conn *conn);

/* names.c */
void dafs_dir_changed(struct inode *dir, const struct dafs_change_info *change);

/* vfs/file.c */
extern const struct file_operations dafs_file_fops;
int dafs_file_opened(struct inode *inode, struct file *file);

/* data/writer.c */
int dafs_writer_claim(struct inode *inode, const struct cred *cred);
const struct cred *dafs_writer_get(struct dafs_inode *di);
vm_fault_t dafs_page_mkwrite(struct vm_fault *vmf);

/* data/append.c */
ssize_t dafs_append_iter(struct kiocb *iocb, struct iov_iter *from);

/* data/io.c */
extern unsigned int dafs_inline_max;
void dafs_io_start(struct dafs_io *io);
int dafs_io_run(struct dafs_io *io);
unsigned int dafs_conn_number(const struct dafs_session *ses);
void dafs_rdma_refuse(struct dafs_sb_info *sbi, enum dafs_rdma_use use, unsigned int number);
bool dafs_rdma_refused(const struct dafs_sb_info *sbi, enum dafs_rdma_use use);

/* data/netfs.c */
extern const struct netfs_request_ops dafs_request_ops;
extern const struct address_space_operations dafs_file_aops;
void dafs_remote_size_raise(struct netfs_inode *ictx, u64 end);
void dafs_zero_point_raise(struct netfs_inode *ictx, u64 end);
void dafs_file_raise_size(struct inode *inode, u64 end);
int dafs_data_init(void);
void dafs_data_exit(void);

/* data/direct.c */
ssize_t dafs_direct_read(struct kiocb *iocb, struct iov_iter *to);
ssize_t dafs_direct_write(struct kiocb *iocb, struct iov_iter *from);

/* data/unstable.c */
struct dafs_extent *dafs_extent_create(const struct dafs_io *io);
void dafs_extent_free(struct dafs_extent *extent);
bool dafs_unstable_full(struct dafs_inode *di);
unsigned long dafs_unstable_most(void);
void dafs_unstable_stop(struct inode *inode);
void dafs_unstable_go_on(struct inode *inode);
bool dafs_release_folio(struct folio *folio, gfp_t gfp);
unsigned long dafs_unstable_pages(const struct dafs_sb_info *sbi);
void dafs_unstable_hurry(struct dafs_sb_info *sbi);
void dafs_unstable_add(struct inode *inode, struct dafs_extent *extent);
bool dafs_unstable_overlaps(struct inode *inode, u64 pos, size_t len);
void dafs_unstable_drop(struct dafs_inode *di);
int dafs_commit_inode(struct inode *inode);
void dafs_commit_all(struct dafs_sb_info *sbi);
void dafs_unstable_sb_init(struct dafs_sb_info *sbi);
void dafs_unstable_sb_exit(struct dafs_sb_info *sbi);
void dafs_commit_work(struct work_struct *work);

/* vfs/stats.c */
int dafs_show_stats(struct seq_file *m, struct dentry *root);

/* vfs/submount.c */
extern const struct inode_operations dafs_crossing_iops;
bool dafs_is_crossing(const struct super_block *sb, const struct dafs_fh *fh);
unsigned long dafs_crossing_ino(const struct dafs_fh *fh);
struct vfsmount *dafs_d_automount(struct path *path);
int dafs_submount_test(struct super_block *sb, struct fs_context *fc);
void dafs_submounts_exit(void);

/* vfs/export.c */
extern const struct export_operations dafs_export_ops;

/* vfs/share.c */
int dafs_share_test(struct super_block *sb, struct fs_context *fc);

/* hold.c */
void dafs_async_begin(struct dafs_sb_info *sbi);
void dafs_async_end(struct dafs_sb_info *sbi);
bool dafs_inode_hold(struct inode *inode);
void dafs_inode_put_later(struct inode *inode);
void dafs_inode_puts(struct work_struct *work);

/* vfs/getattr.c */
void dafs_set_inode_ops(struct inode *inode, const struct dafs_fattr *attr);

/* work queues, see dafs_init_workqueues() */
extern struct workqueue_struct *dafs_done_wq;
extern struct workqueue_struct *dafs_ahead_wq;

#endif /* _FS_DAFS_FS_H */
