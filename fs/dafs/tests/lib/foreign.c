// SPDX-License-Identifier: GPL-2.0
/*
 * A server of another implementation: opaque filehandles, only mandatory attributes, and
 * no direct I/O.  It delays, refuses, forgets and loses what a test tells it to.
 */
#include <linux/delay.h>
#include <linux/file.h>
#include <linux/filelock.h>
#include <linux/fs_context.h>
#include <linux/kthread.h>
#include <linux/mount.h>
#include <linux/module.h>
#include <linux/pagemap.h>
#include <linux/random.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include "../../vfs/vfs.h"
#include "foreign.h"

#define FOREIGN_FATTRS							\
	(DAFS_FATTR_OBJECT_TYPE | DAFS_FATTR_CHANGE | DAFS_FATTR_OBJECT_SIZE | \
	 DAFS_FATTR_FILE_ID | DAFS_FATTR_FILEHANDLE)
#define FOREIGN_FSATTRS							\
	(DAFS_FSATTR_LINK_SUPPORT | DAFS_FSATTR_SYMLINK_SUPPORT |	\
	 DAFS_FSATTR_LEASE_TIME | DAFS_FSATTR_RD_ATTR_ERROR |		\
	 DAFS_FSATTR_SUPPORTED_FATTR | DAFS_FSATTR_SUPPORTED_FSATTR |	\
	 DAFS_FSATTR_FSHANDLE | DAFS_FSATTR_MAX_APPEND)

const struct foreign_object foreign_objects[FOREIGN_OBJECTS] = {
	[FOREIGN_ROOT]		= { -1, "", true },
	[FOREIGN_EXPORT]	= { FOREIGN_ROOT, "data", true },
	[FOREIGN_FILE]		= { FOREIGN_EXPORT, "file", false },
	[FOREIGN_DIR]		= { FOREIGN_EXPORT, "dir", true },
	[FOREIGN_DEEP]		= { FOREIGN_DIR, "deep", false },
};

static struct dafs_fattr foreign_attr(const struct foreign *f, int nr, u64 wanted)
{
	const struct foreign_object *o = &foreign_objects[nr];

	return (struct dafs_fattr) {
		.included = wanted,
		.valid = wanted & FOREIGN_FATTRS,
		.object_type = o->dir ? DAFS_TYPE_DIR : DAFS_TYPE_REG,
		.change = f->change,
		.object_size = o->dir ? 512 : f->size,
		.file_id = 1000 + nr,
		.filehandle = f->fh[nr],
	};
}

static struct dafs_fsattr foreign_fsattr(const struct foreign *f, u64 wanted)
{
	struct dafs_fsattr attr = {
		.included = wanted,
		.valid = wanted & FOREIGN_FSATTRS,
		.lease_time = 60,
		.supported_fattr = FOREIGN_FATTRS,
		.supported_fsattr = FOREIGN_FSATTRS,
		.max_append = SZ_64K,
	};

	memcpy(attr.fshandle, f->fh[FOREIGN_EXPORT].fshandle, sizeof(attr.fshandle));
	return attr;
}

/* Returns the object that a request names, or -1 if there is no such object. */
static int foreign_find(struct foreign *f, const struct dafs_req_hdr *hdr,
			const struct dafs_fh *fh)
{
	int nr;

	if (hdr->chain_flags & DAFS_CHF_FH)
		return f->current_fh;
	for (nr = 0; nr < FOREIGN_OBJECTS; nr++)
		if (!memcmp(fh, &f->fh[nr], sizeof(*fh)))
			return nr;
	return -1;
}

static int foreign_find_name(int dir, const struct dafs_str *name)
{
	int nr;

	for (nr = 0; nr < FOREIGN_OBJECTS; nr++) {
		const struct foreign_object *o = &foreign_objects[nr];

		if (o->parent == dir && strlen(o->name) == name->len &&
		    !memcmp(o->name, name->data, name->len))
			return nr;
	}
	return -1;
}

/* Return: the object, or -1. */
static int foreign_walk(const struct dafs_buf *buf, int dir, const struct dafs_seq *path)
{
	struct dafs_path_iter iter;
	struct dafs_str name;

	dafs_path_start(path, &iter);
	while (dir >= 0 && dafs_path_next(buf, &iter, &name))
		dir = foreign_find_name(dir, &name);
	return dir;
}

static dafs_status_t foreign_lookup(struct foreign *f, const struct dafs_buf *buf, int dir)
{
	f->current_fh = foreign_walk(buf, dir, &f->args.lookup.path);
	if (f->current_fh < 0)
		return DAFSERR_NOENT;
	f->res.lookup.filehandle = f->fh[f->current_fh];
	f->res.lookup.component_count = f->args.lookup.path.count;
	return DAFS_STATUS_OK;
}

static dafs_status_t foreign_open(struct foreign *f, const struct dafs_buf *buf, int nr)
{
	f->current_fh = foreign_walk(buf, nr, &f->args.open.pathname);
	if (f->current_fh < 0)
		return DAFSERR_NOENT;
	if (f->lies && f->args.open.pathname.count)
		f->current_fh = FOREIGN_DEEP;
	if (f->denies) {
		f->denies = false;
		return DAFSERR_ACCES;
	}
	f->opens++;
	f->access = f->args.open.share_access;
	f->deny = f->args.open.share_deny;
	if (!f->same)
		get_random_bytes(&f->state_id, sizeof(f->state_id));
	f->res.open.filehandle = f->fh[f->current_fh];
	f->res.open.state_id = f->state_id;
	f->res.open.component_count = f->args.open.pathname.count;
	return DAFS_STATUS_OK;
}

static dafs_status_t foreign_downgrade(struct foreign *f)
{
	f->access = f->args.open_downgrade.share_access;
	WRITE_ONCE(f->deny, f->args.open_downgrade.share_deny);
	WRITE_ONCE(f->downgrades, f->downgrades + 1);
	return DAFS_STATUS_OK;
}

static void foreign_use(struct foreign *f, const struct dafs_state_id *state_id, u32 access)
{
	if (!(f->access & access) || !dafs_opaque64_equal(state_id, &f->state_id))
		f->strangers++;
}

/*
 * Statuses of a server that does not know an open any more.  It would be STALE_STATEID after a
 * restart only, and then there would be another client-id.
 */
static const dafs_status_t foreign_forgotten[] = {
	DAFSERR_BAD_STATEID, DAFSERR_OLD_STATEID, DAFSERR_EXPIRED,
};

/* Return: DAFS status; the state-id is a known one, unless f->forgets. */
static dafs_status_t foreign_remember(struct foreign *f, const struct dafs_state_id *state_id,
				      u32 access)
{
	foreign_use(f, state_id, access);
	if (!f->forgets)
		return DAFS_STATUS_OK;
	f->forgets--;
	return foreign_forgotten[f->forgets % ARRAY_SIZE(foreign_forgotten)];
}

static dafs_status_t foreign_read(struct foreign *f)
{
	const struct dafs_read_inline_args *args = &f->args.read_inline;
	u64 offset = min_t(u64, args->offset, f->size);
	u32 count = min_t(u64, args->byte_count, f->size - offset);
	dafs_status_t status = foreign_remember(f, &args->state_id, DAFS_OPEN_SHARE_ACCESS_READ);

	if (status)
		return status;
	f->res.read_inline = (struct dafs_read_inline_res) {
		.eof = offset + count == f->size,
		.bytes_read = min_t(u32, count, SZ_4K),
		.read_data = f->data + offset,
	};
	f->res.read_inline.eof &= f->res.read_inline.bytes_read == count;
	return DAFS_STATUS_OK;
}

static dafs_status_t foreign_write(struct foreign *f)
{
	const struct dafs_write_inline_args *args = &f->args.write_inline;

	foreign_use(f, &args->state_id, DAFS_OPEN_SHARE_ACCESS_WRITE);
	if (args->offset > FOREIGN_SIZE || args->byte_count > FOREIGN_SIZE - args->offset)
		return DAFSERR_FBIG;
	memcpy(f->data + args->offset, args->data, args->byte_count);
	f->size = max(f->size, args->offset + args->byte_count);
	f->change++;
	f->res.write = (struct dafs_write_res) {
		.count = args->byte_count,
		.committed = f->unstable ? args->stable_how : DAFS_FILE_SYNC,
		.verifier = f->verifier,
	};
	return DAFS_STATUS_OK;
}

static dafs_status_t foreign_append(struct foreign *f)
{
	dafs_status_t status = foreign_remember(f, &f->args.append_inline.state_id,
						DAFS_OPEN_SHARE_ACCESS_WRITE);

	if (!status)
		f->res.append = (struct dafs_append_res) {
			.offset = f->size,
			.committed = DAFS_FILE_SYNC,
		};
	return status;
}

static dafs_status_t foreign_readdir(struct foreign *f, int dir)
{
	const struct dafs_readdir_args *args = &f->args.readdir;
	unsigned int count = 0;
	int nr;

	for (nr = args->cookie; nr < FOREIGN_OBJECTS; nr++) {
		if (foreign_objects[nr].parent != dir)
			continue;
		f->entries[count++] = (struct dafs_direntry) {
			.cookie = nr + 1,
			.name = dafs_test_str(foreign_objects[nr].name),
			.attrs = foreign_attr(f, nr, args->attr_request_bitmap),
		};
	}
	f->res.readdir_inline = (struct dafs_readdir_inline_res) {
		.eof = true,
		.entries = { .count = count, .elems = f->entries },
	};
	return DAFS_STATUS_OK;
}

static void foreign_delegate(struct foreign *f)
{
	const struct dafs_open_args *args = &f->args.open;
	bool claims = args->claim_type == DAFS_CLAIM_PREVIOUS;

	if (claims)
		f->claimed = args->delegate_type;
	if (!f->delegates || (claims && !f->claimed))
		return;
	get_random_bytes(&f->deleg_id, sizeof(f->deleg_id));
	f->res.open.delegation_type = f->delegates;
	f->res.open.deleg_state_id = f->deleg_id;
	f->res.open.recall = f->recalls;
	f->res.open.limitby = DAFS_LIMIT_SIZE;
}

static dafs_status_t foreign_take_back(struct foreign *f)
{
	if (!dafs_opaque64_equal(&f->args.delegreturn.state_id, &f->deleg_id))
		return DAFSERR_BAD_STATEID;
	WRITE_ONCE(f->returns, f->returns + 1);
	return DAFS_STATUS_OK;
}

static dafs_status_t foreign_set_lock(struct foreign *f)
{
	u32 type = f->args.lock.lock_type;

	WRITE_ONCE(f->locks, f->locks + 1);
	return READ_ONCE(f->teases) && type != DAFS_READW_LT && type != DAFS_WRITEW_LT ?
	       DAFSERR_DENIED : DAFS_STATUS_OK;
}

/* Most arguments begin with it. */
static const struct dafs_fh *foreign_fh(const struct foreign *f, u32 proc)
{
	switch (proc) {
	case DAFS_PROC_OPEN:
		return &f->args.open.dir_handle;
	case DAFS_PROC_WRITE_INLINE:
		return &f->args.write_inline.filehandle;
	case DAFS_PROC_APPEND_INLINE:
		return &f->args.append_inline.filehandle;
	case DAFS_PROC_SETATTR_INLINE:
		return &f->args.setattr_inline.filehandle;
	default:
		return &f->args.fh.filehandle;
	}
}

/* @nr: the object.  Return: DAFS status. */
static dafs_status_t foreign_execute(struct foreign *f, const struct dafs_buf *buf, u32 proc,
				     int nr)
{
	dafs_status_t status;

	switch (proc) {
	case DAFS_PROC_LOOKUP:
		return foreign_lookup(f, buf, nr);
	case DAFS_PROC_GETATTR_INLINE:
		f->res.getattr.obj_attributes =
			foreign_attr(f, nr, f->args.getattr.attr_request_bitmap);
		return DAFS_STATUS_OK;
	case DAFS_PROC_GET_FSATTR:
		f->res.get_fsattr.obj_attributes =
			foreign_fsattr(f, f->args.getattr.attr_request_bitmap);
		return DAFS_STATUS_OK;
	case DAFS_PROC_ACCESS:
		f->res.access.supported = f->args.access.access;
		f->res.access.access = f->args.access.access;
		return DAFS_STATUS_OK;
	case DAFS_PROC_OPEN:
		status = foreign_open(f, buf, nr);
		if (!status)
			foreign_delegate(f);
		return status;
	case DAFS_PROC_OPEN_DOWNGRADE:
		return foreign_downgrade(f);
	case DAFS_PROC_CLOSE:
		foreign_use(f, &f->args.close.state_id, f->access);
		f->access = 0;
		f->deny = 0;
		f->closes++;
		return DAFS_STATUS_OK;
	case DAFS_PROC_READ_INLINE:
		return foreign_read(f);
	case DAFS_PROC_WRITE_INLINE:
		return foreign_write(f);
	case DAFS_PROC_APPEND_INLINE:
		return foreign_append(f);
	case DAFS_PROC_SETATTR_INLINE:
		return foreign_remember(f, &f->args.setattr_inline.state_id,
					DAFS_OPEN_SHARE_ACCESS_WRITE);
	case DAFS_PROC_LOCK:
		return foreign_set_lock(f);
	case DAFS_PROC_LOCKU:
		WRITE_ONCE(f->unlocks, f->unlocks + 1);
		return DAFS_STATUS_OK;
	case DAFS_PROC_READDIR_INLINE:
		return foreign_readdir(f, nr);
	case DAFS_PROC_COMMIT:
		f->res.commit.writeverf = f->verifier;
		return DAFS_STATUS_OK;
	case DAFS_PROC_REMOVE:
		memset(&f->res, 0, sizeof(f->res));
		return DAFS_STATUS_OK;
	}
	return DAFSERR_NOTSUPP;
}

/* Return: DAFS status. */
static dafs_status_t foreign_run(struct foreign *f, const struct dafs_buf *buf,
				 const struct dafs_req_hdr *hdr)
{
	int nr;

	if (hdr->procedure == DAFS_PROC_DELEGRETURN)
		return foreign_take_back(f);
	if (hdr->procedure == DAFS_PROC_GET_ROOT_HANDLE) {
		f->current_fh = FOREIGN_ROOT;
		f->res.fh.filehandle = f->fh[FOREIGN_ROOT];
		return DAFS_STATUS_OK;
	}
	nr = foreign_find(f, hdr, foreign_fh(f, hdr->procedure));
	if (nr < 0)
		return DAFSERR_BADHANDLE;
	f->current_fh = nr;
	if (hdr->procedure == READ_ONCE(f->refuses)) {
		WRITE_ONCE(f->refused, f->refused + 1);
		return READ_ONCE(f->refusal);
	}
	return foreign_execute(f, buf, hdr->procedure, nr);
}

static void foreign_keep(struct foreign *f, struct raw_conn *conn,
			 const struct dafs_req_hdr *hdr, dafs_status_t status)
{
	f->from = conn;
	f->kept = *hdr;
	f->kept_status = status;
	f->kept_res = f->res;
}

/* Return: true if the response must not be sent now. */
static bool foreign_withholds(struct foreign *f, struct raw_conn *conn,
			      const struct dafs_req_hdr *hdr, dafs_status_t status)
{
	if (hdr->procedure == READ_ONCE(f->keeps)) {
		f->keeps = 0;
		foreign_keep(f, conn, hdr, status);
	} else if (hdr->procedure == READ_ONCE(f->hangs_up)) {
		f->hangs_up = 0;
		foreign_keep(f, conn, hdr, status);
		f->srv->refuse = true;
		raw_hang_up(conn);
	} else {
		return false;
	}
	complete(&f->came);
	return true;
}

/* Is it asked for the request whose response was kept? */
static bool foreign_is_kept(struct foreign *f, struct raw_conn *conn, struct raw_msg *msg)
{
	struct dafs_buf buf = { .base = msg->data, .len = msg->len, .swab = conn->swab };
	struct dafs_check_response_args args = {};

	KUNIT_EXPECT_EQ(f->test, 0, dafs_decode_args(&buf, DAFS_PROC_CHECK_RESPONSE, &args));
	return args.xid_stream == f->kept.stream_id && args.xid_seq == f->kept.seq_number &&
	       args.procedure == f->kept.procedure;
}

/* Tells what became of it.  Return: false if that is not what is asked for, or not known. */
static bool foreign_tell(struct foreign *f, struct raw_conn *conn, struct raw_msg *msg,
			 const struct dafs_req_hdr *hdr)
{
	static const dafs_status_t statuses[] = {
		[FOREIGN_TELLS_EXECUTED] = DAFS_STATUS_OK,
		[FOREIGN_TELLS_LOST] = DAFSERR_NOXID_MATCH,
		[FOREIGN_TELLS_LATER] = DAFSERR_DELAY,
	};
	bool fetch = hdr->procedure == DAFS_PROC_FETCH_RESPONSE;
	struct dafs_req_hdr answer = *hdr;
	dafs_status_t status = statuses[READ_ONCE(f->tells)];

	if (!fetch && hdr->procedure != DAFS_PROC_CHECK_RESPONSE)
		return false;
	if (!foreign_is_kept(f, conn, msg))
		return false;
	if (!fetch)
		WRITE_ONCE(f->asked, f->asked + 1);
	if (READ_ONCE(f->tells) == FOREIGN_TELLS_NOTHING)
		return false;
	/* its results */
	answer.procedure = f->kept.procedure;
	raw_answer(conn, &answer, status, f->srv->opts.max_requests,
		   fetch && !status ? &f->kept_res : NULL);
	return true;
}

bool foreign_has_come(struct foreign *f)
{
	return wait_for_completion_timeout(&f->came, msecs_to_jiffies(RAW_WAIT_MS));
}

/* Sends the response that was kept. */
void foreign_release(struct foreign *f)
{
	raw_answer(f->from, &f->kept, f->kept_status, f->srv->opts.max_requests,
		   f->kept_status ? NULL : &f->kept_res);
}

/* A successful response without most of its results. */
static void foreign_garble(struct foreign *f, struct raw_conn *conn,
			   const struct dafs_req_hdr *hdr)
{
	struct dafs_buf buf = { .len = RAW_RECV_SIZE, .swab = conn->swab };
	struct dafs_res_hdr res;
	u8 *data = kzalloc(RAW_RECV_SIZE, GFP_KERNEL);

	KUNIT_EXPECT_NOT_NULL(f->test, data);
	if (!data)
		return;
	raw_encode_res(conn, hdr, DAFS_STATUS_OK, f->srv->opts.max_requests, &f->res, data);
	buf.base = data;
	KUNIT_EXPECT_EQ(f->test, 0, dafs_get_res_hdr(&buf, &res));
	res.len = DAFS_HDR_SIZE + 16;
	dafs_put_res_hdr(&buf, &res);
	raw_send(conn, data, res.len);
	kfree(data);
}

static void foreign_request(struct raw_conn *conn, struct raw_msg *msg)
{
	struct foreign *f = conn->srv->priv;
	struct dafs_buf buf = { .base = msg->data, .len = msg->len, .swab = conn->swab };
	struct dafs_req_hdr hdr;
	dafs_status_t status = DAFSERR_CHAIN_BROKEN;

	KUNIT_EXPECT_EQ(f->test, 0, raw_get_hdr(conn, msg, &hdr));
	if (hdr.procedure == DAFS_PROC_NULL &&
	    foreign_withholds(f, conn, &hdr, DAFS_STATUS_OK))
		return;
	if (foreign_tell(f, conn, msg, &hdr))
		return;
	/* session procedures, and those without a filehandle */
	if (hdr.procedure < DAFS_PROC_ACCESS || hdr.procedure == DAFS_PROC_NULL) {
		raw_serve_request(conn, msg);
		return;
	}
	if (!(hdr.chain_flags & DAFS_CHF_BACK))
		f->broken = false;
	memset(&f->args, 0, sizeof(f->args));
	memset(&f->res, 0, sizeof(f->res));
	if (!f->broken)
		status = dafs_decode_args(&buf, hdr.procedure, &f->args) ? DAFSERR_INVAL :
			 foreign_run(f, &buf, &hdr);
	f->broken = status;
	if (foreign_withholds(f, conn, &hdr, status))
		return;
	if (f->garbles && hdr.procedure == DAFS_PROC_OPEN) {
		f->garbles = false;
		foreign_garble(f, conn, &hdr);
		return;
	}
	raw_answer(conn, &hdr, status, conn->srv->opts.max_requests, status ? NULL : &f->res);
}

struct foreign *foreign_server(struct kunit *test)
{
	struct foreign *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	int nr;

	KUNIT_ASSERT_NOT_NULL(test, f);
	f->test = test;
	f->change = 1;
	f->size = FOREIGN_SIZE;
	init_completion(&f->came);
	get_random_bytes(f->fh, sizeof(f->fh));
	/* one file system below the export */
	for (nr = FOREIGN_EXPORT + 1; nr < FOREIGN_OBJECTS; nr++)
		memcpy(f->fh[nr].fshandle, f->fh[FOREIGN_EXPORT].fshandle, DAFS_FSHANDLE_SIZE);
	dafs_test_pattern(f->data, sizeof(f->data), 21);
	f->srv = raw_server(test);
	f->srv->priv = f;
	f->srv->request = foreign_request;
	return f;
}

static int foreign_parse(struct fs_context *fc, const struct sockaddr_storage *from,
			 const char *client_id)
{
	const struct sockaddr_in *dst = (const struct sockaddr_in *)from;
	char source[64], port[8];
	int err;

	snprintf(source, sizeof(source), "%pIS:/data", dst);
	snprintf(port, sizeof(port), "%u", ntohs(dst->sin_port));
	err = vfs_parse_fs_string(fc, "source", source, strlen(source));
	err = err ?: vfs_parse_fs_string(fc, "port", port, strlen(port));
	if (!err && client_id)
		err = vfs_parse_fs_string(fc, "clientid", client_id, strlen(client_id));
	return err;
}

void foreign_unmount(void *mnt)
{
	kern_unmount(mnt);
}

struct vfsmount *foreign_mount_as(struct kunit *test, const struct sockaddr_storage *from,
				  const char *client_id)
{
	struct file_system_type *type = get_fs_type("dafs");
	struct fs_context *fc;
	struct vfsmount *mnt;
	int err;

	KUNIT_ASSERT_NOT_NULL(test, type);
	/* unmounted at once, and not by a work item */
	fc = fs_context_for_mount(type, SB_KERNMOUNT);
	module_put(type->owner);
	KUNIT_ASSERT_FALSE(test, IS_ERR(fc));
	err = foreign_parse(fc, from, client_id);
	mnt = err ? ERR_PTR(err) : fc_mount(fc);
	put_fs_context(fc);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mnt);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, foreign_unmount, mnt));
	return mnt;
}

struct vfsmount *foreign_mount_from(struct kunit *test, const struct sockaddr_storage *from)
{
	return foreign_mount_as(test, from, NULL);
}

struct vfsmount *foreign_mount(struct foreign *f)
{
	return foreign_mount_from(f->test, &f->srv->params.dst);
}

struct file *foreign_file(struct kunit *test, struct vfsmount *mnt, const char *name,
			  int flags)
{
	const struct path root = { .mnt = mnt, .dentry = mnt->mnt_root };
	struct file *file = file_open_root(&root, name, flags, 0);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, file);
	return file;
}

/* CLOSE is sent by a work item. */
bool foreign_closed(const struct foreign *f)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);

	while (READ_ONCE(f->access) && time_before(jiffies, end))
		msleep(20);
	return !READ_ONCE(f->access);
}

static int foreign_task_run(void *data)
{
	struct foreign_task *ft = data;

	allow_signal(SIGKILL);
	ft->err = ft->work(ft);
	complete_all(&ft->ended);
	return 0;
}

bool foreign_task_ends(struct foreign_task *ft)
{
	return wait_for_completion_timeout(&ft->ended, msecs_to_jiffies(RAW_WAIT_MS));
}

/* Also after a failure, the task ends before the mount does. */
static void foreign_task_end(void *data)
{
	struct foreign_task *ft = data;

	if (!foreign_task_ends(ft)) {
		dafs_client_shutdown(DAFS_SB(ft->mnt->mnt_sb)->clnt);
		wait_for_completion(&ft->ended);
	}
	put_task_struct(ft->task);
}

struct foreign_task *foreign_task(struct foreign *f, struct vfsmount *mnt,
				  struct file *file,
				  int (*work)(struct foreign_task *ft))
{
	struct kunit *test = f->test;
	struct foreign_task *ft = kunit_kzalloc(test, sizeof(*ft), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ft);
	ft->work = work;
	ft->f = f;
	ft->mnt = mnt;
	ft->file = file;
	init_completion(&ft->ended);
	ft->task = kthread_create(foreign_task_run, ft, "dafs_foreign");
	KUNIT_ASSERT_FALSE(test, IS_ERR(ft->task));
	get_task_struct(ft->task);
	wake_up_process(ft->task);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, foreign_task_end, ft));
	return ft;
}

bool foreign_kill(struct foreign_task *ft)
{
	send_sig(SIGKILL, ft->task, 1);
	return foreign_task_ends(ft);
}

bool foreign_reaches(const unsigned int *counter, unsigned int nr)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);

	while (READ_ONCE(*counter) < nr && time_before(jiffies, end))
		msleep(20);
	return READ_ONCE(*counter) >= nr;
}

/**
 * struct foreign_probe - tests whether a workqueue executes a new work item
 * @work: the work item
 * @ran: completed when it was executed
 */
struct foreign_probe {
	struct work_struct work;
	struct completion ran;
};

static void foreign_probe_work(struct work_struct *work)
{
	complete(&container_of(work, struct foreign_probe, work)->ran);
}

bool foreign_queue_works(struct workqueue_struct *wq)
{
	struct foreign_probe probe;
	bool ran;

	init_completion(&probe.ran);
	INIT_WORK_ONSTACK(&probe.work, foreign_probe_work);
	queue_work(wq, &probe.work);
	ran = wait_for_completion_timeout(&probe.ran, msecs_to_jiffies(RAW_WAIT_MS));
	cancel_work_sync(&probe.work);
	destroy_work_on_stack(&probe.work);
	return ran;
}

bool foreign_lost(struct dafs_client *clnt)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);

	while (!dafs_client_busy(clnt) && time_before(jiffies, end))
		msleep(20);
	return dafs_client_busy(clnt);
}

int foreign_open_file(struct foreign_task *ft)
{
	const struct path root = { .mnt = ft->mnt, .dentry = ft->mnt->mnt_root };
	struct file *file = file_open_root(&root, "file", O_RDONLY, 0);

	if (IS_ERR(file))
		return PTR_ERR(file);
	__fput_sync(file);
	return 0;
}

static void foreign_lock_init(struct file_lock *fl, struct file *file, int type, loff_t start,
			      loff_t end)
{
	locks_init_lock(fl);
	fl->c.flc_file = file;
	fl->c.flc_owner = file;
	fl->c.flc_flags = FL_POSIX | FL_OFDLCK;
	fl->c.flc_type = type;
	fl->fl_start = start;
	fl->fl_end = end;
}

int foreign_lock_all(struct file *file, int type, unsigned int flags)
{
	struct file_lock fl;

	foreign_lock_init(&fl, file, type, 0, OFFSET_MAX);
	fl.c.flc_flags |= flags;
	return vfs_lock_file(file, F_SETLK, &fl, NULL);
}

int foreign_lock_bytes(struct file *file, int type, loff_t start, loff_t end)
{
	struct file_lock fl;

	foreign_lock_init(&fl, file, type, start, end);
	return vfs_lock_file(file, F_SETLK, &fl, NULL);
}

int foreign_lock_with(struct file *file, int type, u32 options)
{
	struct file_lock fl;

	foreign_lock_init(&fl, file, type, 0, OFFSET_MAX);
	return dafs_file_lock_with(file, &fl, options);
}

int foreign_read_ten(struct foreign_task *ft)
{
	loff_t pos = 0;
	u8 data[10];

	return kernel_read(ft->file, data, sizeof(data), &pos);
}

int foreign_truncate(struct foreign_task *ft)
{
	return vfs_truncate(&ft->file->f_path, FOREIGN_SIZE);
}

int foreign_stat_root(struct foreign_task *ft)
{
	const struct path root = { .mnt = ft->mnt, .dentry = ft->mnt->mnt_root };
	struct kstat stat;

	return vfs_getattr(&root, &stat, STATX_BASIC_STATS, AT_STATX_FORCE_SYNC);
}

void foreign_deny(struct foreign *f)
{
	f->kept_status = DAFSERR_DENIED;
	foreign_release(f);
}

/* A program stores a byte through a mapping, and has the file written back. */
void foreign_store(struct kunit *test, struct file *file, loff_t pos, char byte)
{
	struct folio *folio = read_mapping_folio(file->f_mapping, pos >> PAGE_SHIFT, file);

	KUNIT_ASSERT_FALSE(test, IS_ERR(folio));
	folio_lock(folio);
	memcpy_to_folio(folio, offset_in_folio(folio, pos), &byte, 1);
	folio_mark_dirty(folio);
	folio_unlock(folio);
	folio_put(folio);
	KUNIT_EXPECT_EQ(test, 0, filemap_write_and_wait(file->f_mapping));
}

void foreign_make_dirty(struct kunit *test, struct file *file)
{
	struct folio *folio = read_mapping_folio(file->f_mapping, 0, file);
	loff_t pos = 0;

	KUNIT_ASSERT_FALSE(test, IS_ERR(folio));
	KUNIT_EXPECT_EQ(test, PAGE_SIZE, folio_size(folio));
	folio_put(folio);
	KUNIT_EXPECT_EQ(test, 10, kernel_write(file, "0123456789", 10, &pos));
}
