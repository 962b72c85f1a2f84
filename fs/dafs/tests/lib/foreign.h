/* SPDX-License-Identifier: GPL-2.0 */
/* A server of another implementation, and tasks that use a mount of it. */
#ifndef _DAFS_TEST_FOREIGN_H
#define _DAFS_TEST_FOREIGN_H

#include <linux/completion.h>
#include <linux/fs.h>
#include <linux/mm_types.h>
#include <linux/mount.h>

#include "../../data/data.h"
#include "../../rpc/rpc_impl.h"
#include "raw.h"

#define FOREIGN_SIZE	10000

/* Offset of direct writes */
#define FOREIGN_DIRECT	(PAGE_SIZE + 1000)

/* Bytes of a read or write that bypasses the page cache */
#define FOREIGN_AIO	512

/* More attempts than the client makes for a refused append. */
#define FOREIGN_FORGETS	5

/* Its objects: the root of the name space, the export, and the entries of that. */
enum {
	FOREIGN_ROOT,
	FOREIGN_EXPORT,
	FOREIGN_FILE,
	FOREIGN_DIR,
	FOREIGN_DEEP,
	FOREIGN_OBJECTS,
};

/**
 * struct foreign_object - an object of this server
 * @parent: its directory
 * @name: its name there
 * @dir: it is a directory itself
 */
struct foreign_object {
	int parent;
	const char *name;
	bool dir;
};

extern const struct foreign_object foreign_objects[FOREIGN_OBJECTS];

/* What it tells of a request whose response was lost: nothing, whether it was executed, or DELAY */
enum foreign_tells {
	FOREIGN_TELLS_NOTHING,
	FOREIGN_TELLS_EXECUTED,
	FOREIGN_TELLS_LOST,
	FOREIGN_TELLS_LATER,
};

/**
 * struct foreign - the server, which executes one request at a time
 * @test: the test
 * @srv: its listener and connections
 * @fh: handles of its objects
 * @current_fh: current object of the chain
 * @broken: the chain has failed
 * @opens: number of OPENs so far
 * @closes: number of CLOSEs so far
 * @access: share_access of the last open; 0 after its CLOSE
 * @deny: likewise, its share_deny
 * @downgrades: number of OPEN_DOWNGRADEs so far
 * @state_id: its state-id
 * @delegates: what each OPEN delegates, DAFS_OPEN_DELEGATE_*
 * @claimed: what the last CLAIM_PREVIOUS has claimed, likewise
 * @recalls: it says that this is recalled already
 * @deleg_id: state-id of the last delegation
 * @returns: number of DELEGRETURNs of it so far
 * @locks: number of LOCKs so far
 * @unlocks: number of LOCKUs so far
 * @teases: a LOCK that may wait is granted, any other is denied
 * @strangers: reads and writes with another state-id
 * @forgets: number of READs, SETATTRs and appends whose state-id is reported as unknown
 * @lies: an OPEN by name leads to another file
 * @same: a reclaim returns the same state-id
 * @denies: the next OPEN fails
 * @garbles: the response to the next OPEN is successful but truncated
 * @unstable: unstable writes are not stable before COMMIT
 * @verifier: of writes
 * @refuses: procedure that is refused; 0 for none
 * @refusal: status of the refusal
 * @refused: number of refusals so far
 * @keeps: procedure whose next response is kept; 0 for none
 * @hangs_up: procedure to which the next response is replaced by a disconnect; no
 *	connections are accepted then; 0 for none
 * @tells: what it tells of the last request whose response was kept, or replaced
 * @asked: number of CHECK_RESPONSEs for it so far
 * @came: completed when either has happened
 * @from: connection of the request whose response is kept, or replaced
 * @kept: its header
 * @kept_status: its status
 * @kept_res: the response
 * @args: of the present request
 * @res: results of it
 * @entries: those of READDIR
 * @change: of all objects
 * @size: of all files
 * @data: of all files
 * @mm: of a program of this client
 * @user: its memory
 */
struct foreign {
	struct kunit *test;
	struct raw_server *srv;
	struct dafs_fh fh[FOREIGN_OBJECTS];
	int current_fh;
	bool broken;
	unsigned int opens;
	unsigned int closes;
	u32 access;
	u32 deny;
	unsigned int downgrades;
	struct dafs_state_id state_id;
	u32 delegates;
	u32 claimed;
	bool recalls;
	struct dafs_state_id deleg_id;
	unsigned int returns;
	unsigned int locks;
	unsigned int unlocks;
	bool teases;
	unsigned int strangers;
	unsigned int forgets;
	bool lies;
	bool same;
	bool denies;
	bool garbles;
	bool unstable;
	struct dafs_verifier verifier;
	u32 refuses;
	dafs_status_t refusal;
	unsigned int refused;
	u32 keeps;
	u32 hangs_up;
	enum foreign_tells tells;
	unsigned int asked;
	struct completion came;
	struct raw_conn *from;
	struct dafs_req_hdr kept;
	dafs_status_t kept_status;
	union dafs_res kept_res;
	union dafs_args args;
	union dafs_res res;
	struct dafs_direntry entries[FOREIGN_OBJECTS];
	u64 change;
	u64 size;
	u8 data[FOREIGN_SIZE];
	struct mm_struct *mm;
	unsigned long user;
};

/**
 * struct foreign_task - a task that can be killed
 * @task: the task
 * @work: what it does
 * @f: the server
 * @mnt: the mount
 * @file: a file of it, or NULL
 * @err: its result
 * @ended: completed at the end
 */
struct foreign_task {
	struct task_struct *task;
	int (*work)(struct foreign_task *ft);
	struct foreign *f;
	struct vfsmount *mnt;
	struct file *file;
	int err;
	struct completion ended;
};

/* More work items than a workqueue executes at a time. */
#define FOREIGN_CROWD	300

/* Waits for the request that f->keeps or f->hangs_up names. */
bool foreign_has_come(struct foreign *f);
/* Sends the response that was kept. */
void foreign_release(struct foreign *f);
/* All of these end with the test; so does a mount that is not unmounted before. */
struct foreign *foreign_server(struct kunit *test);
void foreign_unmount(void *mnt);
struct vfsmount *foreign_mount(struct foreign *f);
/* The same of any server. */
struct vfsmount *foreign_mount_from(struct kunit *test, const struct sockaddr_storage *from);
/* And as a client that others do not share. */
struct vfsmount *foreign_mount_as(struct kunit *test, const struct sockaddr_storage *from,
				  const char *client_id);
struct file *foreign_file(struct kunit *test, struct vfsmount *mnt, const char *name,
			  int flags);
/* Waits for the CLOSE, which a work item sends. */
bool foreign_closed(const struct foreign *f);
/* Waits until the task ends. */
bool foreign_task_ends(struct foreign_task *ft);
struct foreign_task *foreign_task(struct foreign *f, struct vfsmount *mnt,
				  struct file *file,
				  int (*work)(struct foreign_task *ft));
/* Return: true if the task ends. */
bool foreign_kill(struct foreign_task *ft);
/* Waits until *counter is at least nr. */
bool foreign_reaches(const unsigned int *counter, unsigned int nr);
/* Return: true if the queue still executes what is queued. */
bool foreign_queue_works(struct workqueue_struct *wq);
/* Waits until the session has no connection. */
bool foreign_lost(struct dafs_client *clnt);
/* Work of a task: opens "file", and closes it. */
int foreign_open_file(struct foreign_task *ft);
/* Locks all of a file until it is closed, as F_RDLCK or F_WRLCK, or unlocks it. */
int foreign_lock_all(struct file *file, int type, unsigned int flags);
int foreign_lock_bytes(struct file *file, int type, loff_t start, loff_t end);
/* The same of all of it, with DAFS_LOCK_* */
int foreign_lock_with(struct file *file, int type, u32 options);
/* Work of a task: reads ten bytes. */
int foreign_read_ten(struct foreign_task *ft);
/* Work of a task: gives the file the size FOREIGN_SIZE. */
int foreign_truncate(struct foreign_task *ft);
/* Work of a task: asks the server for attributes of the root. */
int foreign_stat_root(struct foreign_task *ft);
/* The server denies the lock that it is just asked for. */
void foreign_deny(struct foreign *f);
/* Writes a byte through the page cache, and waits for write-back, but not for COMMIT. */
void foreign_store(struct kunit *test, struct file *file, loff_t pos, char byte);
/* Writes ten digits into the page cache. */
void foreign_make_dirty(struct kunit *test, struct file *file);

#endif /* _DAFS_TEST_FOREIGN_H */
