// SPDX-License-Identifier: GPL-2.0
/*
 * A mount of a server of another implementation: opaque filehandles, only mandatory
 * attributes, and no direct I/O.
 */
#include <linux/delay.h>
#include <linux/file.h>
#include <linux/fadvise.h>
#include <linux/fs_context.h>
#include <linux/kthread.h>
#include <linux/mman.h>
#include <linux/mount.h>
#include <linux/module.h>
#include <linux/pagemap.h>
#include <linux/random.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include "../../inode/inode.h"
#include "../../rpc/rpc_impl.h"
#include "../lib/raw.h"

#define FOREIGN_FATTRS							\
	(DAFS_FATTR_OBJECT_TYPE | DAFS_FATTR_CHANGE | DAFS_FATTR_OBJECT_SIZE | \
	 DAFS_FATTR_FILE_ID | DAFS_FATTR_FILEHANDLE)
#define FOREIGN_FSATTRS							\
	(DAFS_FSATTR_LINK_SUPPORT | DAFS_FSATTR_SYMLINK_SUPPORT |	\
	 DAFS_FSATTR_LEASE_TIME | DAFS_FSATTR_RD_ATTR_ERROR |		\
	 DAFS_FSATTR_SUPPORTED_FATTR | DAFS_FSATTR_SUPPORTED_FSATTR |	\
	 DAFS_FSATTR_FSHANDLE | DAFS_FSATTR_MAX_APPEND)

#define FOREIGN_SIZE	10000

/* Where direct writes go */
#define FOREIGN_DIRECT	(PAGE_SIZE + 1000)

/* What is read or written around the page cache */
#define FOREIGN_AIO	512

/* More attempts than the client makes for an append that is refused. */
#define FOREIGN_FORGETS	5

/* Its objects: the root of the name space, the export, and what is in that. */
enum {
	FOREIGN_ROOT,
	FOREIGN_EXPORT,
	FOREIGN_FILE,
	FOREIGN_DIR,
	FOREIGN_DEEP,
	FOREIGN_OBJECTS,
};

/**
 * struct foreign_object - what this server has
 * @parent: its directory
 * @name: its name there
 * @dir: it is one itself
 */
struct foreign_object {
	int parent;
	const char *name;
	bool dir;
};

static const struct foreign_object foreign_objects[] = {
	[FOREIGN_ROOT]		= { -1, "", true },
	[FOREIGN_EXPORT]	= { FOREIGN_ROOT, "data", true },
	[FOREIGN_FILE]		= { FOREIGN_EXPORT, "file", false },
	[FOREIGN_DIR]		= { FOREIGN_EXPORT, "dir", true },
	[FOREIGN_DEEP]		= { FOREIGN_DIR, "deep", false },
};

/**
 * struct foreign - the server, which does one thing at a time
 * @test: the test
 * @srv: it
 * @fh: handles of its objects
 * @current_fh: the object that the chain has come to
 * @broken: the chain has failed
 * @opens: so many opens there have been
 * @closes: and so many CLOSEs
 * @access: share_access of the last open; 0 after its CLOSE
 * @state_id: its state-id
 * @strangers: reads and writes with another state-id
 * @forgets: so often it does not know the state-id of a READ, a SETATTR or an append
 * @lies: an OPEN by name leads to another file
 * @same: the state-id stays what it was
 * @denies: the next OPEN fails
 * @garbles: the response to the next OPEN tells of success and is cut short
 * @unstable: what need not be stable is not before COMMIT
 * @verifier: of writes
 * @refuses: procedure that is refused; 0 for none
 * @refusal: with that status
 * @refused: so often it was
 * @keeps: procedure whose next response is kept; 0 for none
 * @hangs_up: procedure instead of whose next response the connection ends, and none is
 *	accepted any more; 0 for none
 * @came: completed by either
 * @from: where the request came from whose response is kept
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
	struct dafs_opaque64 state_id;
	unsigned int strangers;
	unsigned int forgets;
	bool lies;
	bool same;
	bool denies;
	bool garbles;
	bool unstable;
	struct dafs_opaque64 verifier;
	u32 refuses;
	u32 refusal;
	unsigned int refused;
	u32 keeps;
	u32 hangs_up;
	struct completion came;
	struct raw_conn *from;
	struct dafs_req_hdr kept;
	u32 kept_status;
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
static int foreign_walk(const struct dafs_stream *s, int dir, const struct dafs_seq *path)
{
	struct dafs_path_iter iter;
	struct dafs_str name;

	dafs_path_start(path, &iter);
	while (dir >= 0 && dafs_path_next(s, &iter, &name))
		dir = foreign_find_name(dir, &name);
	return dir;
}

static u32 foreign_lookup(struct foreign *f, const struct dafs_stream *s, int dir)
{
	f->current_fh = foreign_walk(s, dir, &f->args.lookup.path);
	if (f->current_fh < 0)
		return DAFSERR_NOENT;
	f->res.lookup.filehandle = f->fh[f->current_fh];
	f->res.lookup.component_count = f->args.lookup.path.count;
	return DAFS_STATUS_OK;
}

static u32 foreign_open(struct foreign *f, const struct dafs_stream *s, int nr)
{
	f->current_fh = foreign_walk(s, nr, &f->args.open.pathname);
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
	if (!f->same)
		get_random_bytes(&f->state_id, sizeof(f->state_id));
	f->res.open.filehandle = f->fh[f->current_fh];
	f->res.open.state_id = f->state_id;
	f->res.open.component_count = f->args.open.pathname.count;
	return DAFS_STATUS_OK;
}

static void foreign_use(struct foreign *f, const struct dafs_opaque64 *state_id, u32 access)
{
	if (!(f->access & access) || memcmp(state_id, &f->state_id, sizeof(*state_id)))
		f->strangers++;
}

/* What a server says that does not know an open any more. */
static const u32 foreign_forgotten[] = {
	DAFSERR_STALE_STATEID, DAFSERR_BAD_STATEID, DAFSERR_OLD_STATEID, DAFSERR_EXPIRED,
};

/* Return: DAFS status; what it is given is a state-id that it knows, or soon will. */
static u32 foreign_remember(struct foreign *f, const struct dafs_opaque64 *state_id, u32 access)
{
	foreign_use(f, state_id, access);
	if (!f->forgets)
		return DAFS_STATUS_OK;
	f->forgets--;
	return foreign_forgotten[f->forgets % ARRAY_SIZE(foreign_forgotten)];
}

static u32 foreign_read(struct foreign *f)
{
	const struct dafs_read_inline_args *args = &f->args.read_inline;
	u64 offset = min_t(u64, args->offset, f->size);
	u32 count = min_t(u64, args->byte_count, f->size - offset);
	u32 status = foreign_remember(f, &args->state_id, DAFS_OPEN_SHARE_ACCESS_READ);

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

static u32 foreign_write(struct foreign *f)
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

static u32 foreign_append(struct foreign *f)
{
	u32 status = foreign_remember(f, &f->args.append_inline.state_id,
				      DAFS_OPEN_SHARE_ACCESS_WRITE);

	if (!status)
		f->res.append = (struct dafs_append_res) {
			.offset = f->size,
			.committed = DAFS_FILE_SYNC,
		};
	return status;
}

static u32 foreign_readdir(struct foreign *f, int dir)
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

/* Return: DAFS status. */
static u32 foreign_run(struct foreign *f, const struct dafs_stream *s,
		       const struct dafs_req_hdr *hdr)
{
	int nr;

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
	switch (hdr->procedure) {
	case DAFS_PROC_LOOKUP:
		return foreign_lookup(f, s, nr);
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
		return foreign_open(f, s, nr);
	case DAFS_PROC_CLOSE:
		foreign_use(f, &f->args.close.state_id, f->access);
		f->access = 0;
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

/* Return: true if the response is not to be sent, not now at least. */
static bool foreign_withholds(struct foreign *f, struct raw_conn *conn,
			      const struct dafs_req_hdr *hdr, u32 status)
{
	if (hdr->procedure == READ_ONCE(f->keeps)) {
		f->keeps = 0;
		f->from = conn;
		f->kept = *hdr;
		f->kept_status = status;
		f->kept_res = f->res;
	} else if (hdr->procedure == READ_ONCE(f->hangs_up)) {
		f->hangs_up = 0;
		f->srv->refuse = true;
		raw_hang_up(conn);
	} else {
		return false;
	}
	complete(&f->came);
	return true;
}

static bool foreign_has_come(struct foreign *f)
{
	return wait_for_completion_timeout(&f->came, msecs_to_jiffies(RAW_WAIT_MS));
}

/* What was kept goes out. */
static void foreign_release(struct foreign *f)
{
	raw_answer(f->from, &f->kept, f->kept_status, f->srv->opts.max_requests,
		   f->kept_status ? NULL : &f->kept_res);
}

/* Success, but most of the results are missing. */
static void foreign_garble(struct foreign *f, struct raw_conn *conn,
			   const struct dafs_req_hdr *hdr)
{
	struct dafs_stream s = { .len = RAW_RECV_SIZE, .swab = conn->swab };
	struct dafs_res_hdr res;
	u8 *buf = kzalloc(RAW_RECV_SIZE, GFP_KERNEL);

	KUNIT_EXPECT_NOT_NULL(f->test, buf);
	if (!buf)
		return;
	raw_encode_res(conn, hdr, DAFS_STATUS_OK, f->srv->opts.max_requests, &f->res, buf);
	s.base = buf;
	KUNIT_EXPECT_EQ(f->test, 0, dafs_get_res_hdr(&s, &res));
	res.len = DAFS_HDR_SIZE + 16;
	dafs_put_res_hdr(&s, &res);
	raw_send(conn, buf, res.len);
	kfree(buf);
}

static void foreign_request(struct raw_conn *conn, struct raw_msg *msg)
{
	struct foreign *f = conn->srv->priv;
	struct dafs_stream s = { .base = msg->data, .len = msg->len, .swab = conn->swab };
	struct dafs_req_hdr hdr;
	u32 status = DAFSERR_CHAIN_BROKEN;

	KUNIT_EXPECT_EQ(f->test, 0, raw_get_hdr(conn, msg, &hdr));
	/* those of sessions, and what names no object */
	if (hdr.procedure < DAFS_PROC_ACCESS || hdr.procedure == DAFS_PROC_NULL) {
		raw_serve_request(conn, msg);
		return;
	}
	if (!(hdr.chain_flags & DAFS_CHF_BACK))
		f->broken = false;
	memset(&f->args, 0, sizeof(f->args));
	memset(&f->res, 0, sizeof(f->res));
	if (!f->broken)
		status = dafs_decode_args(&s, hdr.procedure, &f->args) ? DAFSERR_INVAL :
			 foreign_run(f, &s, &hdr);
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

static struct foreign *foreign_server(struct kunit *test)
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

static int foreign_parse(struct fs_context *fc, struct raw_server *srv)
{
	const struct sockaddr_in *dst = (struct sockaddr_in *)&srv->params.dst;
	char source[64], port[8];
	int err;

	snprintf(source, sizeof(source), "%pIS:/data", dst);
	snprintf(port, sizeof(port), "%u", ntohs(dst->sin_port));
	err = vfs_parse_fs_string(fc, "source", source, strlen(source));
	return err ?: vfs_parse_fs_string(fc, "port", port, strlen(port));
}

static void foreign_unmount(void *mnt)
{
	kern_unmount(mnt);
}

static struct vfsmount *foreign_mount(struct foreign *f)
{
	struct file_system_type *type = get_fs_type("dafs");
	struct kunit *test = f->test;
	struct fs_context *fc;
	struct vfsmount *mnt;
	int err;

	KUNIT_ASSERT_NOT_NULL(test, type);
	/* unmounted at once, and not by a work item */
	fc = fs_context_for_mount(type, SB_KERNMOUNT);
	module_put(type->owner);
	KUNIT_ASSERT_FALSE(test, IS_ERR(fc));
	err = foreign_parse(fc, f->srv);
	mnt = err ? ERR_PTR(err) : fc_mount(fc);
	put_fs_context(fc);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mnt);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, foreign_unmount, mnt));
	return mnt;
}

static struct file *foreign_file(struct kunit *test, struct vfsmount *mnt, const char *name,
				 int flags)
{
	const struct path root = { .mnt = mnt, .dentry = mnt->mnt_root };
	struct file *file = file_open_root(&root, name, flags, 0);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, file);
	return file;
}

/**
 * struct foreign_names - what a directory lists
 * @ctx: for iterate_dir()
 * @seen: bit of each object that was listed
 * @others: names that are not known, but for the dots
 */
struct foreign_names {
	struct dir_context ctx;
	unsigned long seen;
	unsigned int others;
};

static bool foreign_listed(struct dir_context *ctx, const char *name, int len, loff_t pos,
			   u64 ino, unsigned int type)
{
	struct foreign_names *names = container_of(ctx, struct foreign_names, ctx);
	int nr = ino - 1000;

	if (len <= 2 && name[0] == '.')
		return true;
	if (nr < 0 || nr >= FOREIGN_OBJECTS || strlen(foreign_objects[nr].name) != len ||
	    memcmp(foreign_objects[nr].name, name, len) ||
	    type != (foreign_objects[nr].dir ? DT_DIR : DT_REG))
		names->others++;
	else
		names->seen |= BIT(nr);
	return true;
}

static unsigned long foreign_list(struct kunit *test, struct vfsmount *mnt, const char *name)
{
	struct foreign_names names = { .ctx.actor = foreign_listed };
	struct file *dir = foreign_file(test, mnt, name, O_RDONLY | O_DIRECTORY);

	KUNIT_EXPECT_EQ(test, 0, iterate_dir(dir, &names.ctx));
	__fput_sync(dir);
	KUNIT_EXPECT_EQ(test, 0, names.others);
	return names.seen;
}

/* R-6.1.5-02 R-4.1.4-09 R-4.1.4-13: mounted, listed, looked at */
static void dafs_foreign_names_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct kstat stat = {};
	struct file *file;

	KUNIT_EXPECT_EQ(test, BIT(FOREIGN_FILE) | BIT(FOREIGN_DIR), foreign_list(test, mnt, "."));
	KUNIT_EXPECT_EQ(test, BIT(FOREIGN_DEEP), foreign_list(test, mnt, "dir"));
	file = foreign_file(test, mnt, "dir/deep", O_RDONLY);
	KUNIT_EXPECT_EQ(test, 0, vfs_getattr(&file->f_path, &stat, STATX_BASIC_STATS, 0));
	KUNIT_EXPECT_EQ(test, 1000 + FOREIGN_DEEP, stat.ino);
	KUNIT_EXPECT_EQ(test, FOREIGN_SIZE, stat.size);
	KUNIT_EXPECT_TRUE(test, S_ISREG(stat.mode));
	__fput_sync(file);
	file = file_open_root(&(struct path){ .mnt = mnt, .dentry = mnt->mnt_root }, "none",
			      O_RDONLY, 0);
	KUNIT_EXPECT_PTR_EQ(test, ERR_PTR(-ENOENT), file);
}

/* CLOSE is sent by a work item. */
static bool foreign_closed(const struct foreign *f)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);

	while (READ_ONCE(f->access) && time_before(jiffies, end))
		msleep(20);
	return !READ_ONCE(f->access);
}

/*
 * R-6.1.5-02 R-4.1.4-09 R-4.1.4-13: read and written; R-4.4.1.2-29: by an open for
 * that, each of them, which ends with the last descriptor
 */
static void dafs_foreign_data_test(struct kunit *test)
{
	static const int flags[] = { O_RDONLY, O_WRONLY, O_RDWR };
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	u8 *buf = kunit_kzalloc(test, FOREIGN_SIZE, GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		struct file *file = foreign_file(test, mnt, "file", flags[i]);
		loff_t pos = 0;

		KUNIT_EXPECT_EQ(test, i + 1, f->opens);
		if (flags[i] != O_WRONLY) {
			KUNIT_EXPECT_EQ(test, FOREIGN_SIZE,
					kernel_read(file, buf, FOREIGN_SIZE, &pos));
			KUNIT_EXPECT_MEMEQ(test, f->data, buf, FOREIGN_SIZE);
		}
		pos = 100;
		if (flags[i] != O_RDONLY) {
			memset(buf, 'A' + i, 5000);
			KUNIT_EXPECT_EQ(test, 5000, kernel_write(file, buf, 5000, &pos));
			KUNIT_EXPECT_EQ(test, 0, vfs_fsync(file, 0));
			KUNIT_EXPECT_MEMEQ(test, buf, f->data + 100, 5000);
		}
		__fput_sync(file);
		KUNIT_EXPECT_EQ(test, i + 1, f->opens);
		KUNIT_EXPECT_TRUE(test, foreign_closed(f));
	}
	KUNIT_EXPECT_EQ(test, 0, f->strangers);
}

/* A server that restarts, and again as soon as it has given back what was open. */
static void dafs_foreign_forgets_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *file = foreign_file(test, mnt, "file", O_WRONLY | O_APPEND);
	loff_t pos = 0;

	f->forgets = FOREIGN_FORGETS;
	KUNIT_EXPECT_EQ(test, 0, vfs_truncate(&file->f_path, FOREIGN_SIZE));
	KUNIT_EXPECT_EQ(test, 0, f->forgets);
	KUNIT_EXPECT_EQ(test, 1 + FOREIGN_FORGETS, f->opens);
	f->forgets = FOREIGN_FORGETS;
	KUNIT_EXPECT_EQ(test, 10, kernel_write(file, f->data, 10, &pos));
	KUNIT_EXPECT_EQ(test, 0, f->forgets);
	KUNIT_EXPECT_EQ(test, 1 + 2 * FOREIGN_FORGETS, f->opens);
	KUNIT_EXPECT_EQ(test, 0, f->strangers);
	__fput_sync(file);
}

/**
 * struct foreign_task - a task that can be killed
 * @task: it
 * @work: what it does
 * @f: the server
 * @mnt: the mount
 * @file: a file of it, or NULL
 * @err: what came of it
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

static int foreign_task_run(void *data)
{
	struct foreign_task *ft = data;

	allow_signal(SIGKILL);
	ft->err = ft->work(ft);
	complete_all(&ft->ended);
	return 0;
}

static bool foreign_task_ends(struct foreign_task *ft)
{
	return wait_for_completion_timeout(&ft->ended, msecs_to_jiffies(RAW_WAIT_MS));
}

/* Whatever went wrong, it is over before the mount is. */
static void foreign_task_end(void *data)
{
	struct foreign_task *ft = data;

	if (!foreign_task_ends(ft)) {
		dafs_session_shutdown(DAFS_SB(ft->mnt->mnt_sb)->ses);
		wait_for_completion(&ft->ended);
	}
	put_task_struct(ft->task);
}

static struct foreign_task *foreign_task(struct foreign *f, struct vfsmount *mnt,
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

static bool foreign_kill(struct foreign_task *ft)
{
	send_sig(SIGKILL, ft->task, 1);
	return foreign_task_ends(ft);
}

static int foreign_truncate(struct foreign_task *ft)
{
	return vfs_truncate(&ft->file->f_path, FOREIGN_SIZE);
}

/* Until the client has the state-id that the server gave last. */
static bool foreign_agreed(const struct foreign *f, struct dafs_open_state *os)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	struct dafs_opaque64 state_id;

	do {
		msleep(20);
		dafs_open_state_id(os, &state_id);
	} while (memcmp(&state_id, &f->state_id, sizeof(state_id)) && time_before(jiffies, end));
	return !memcmp(&state_id, &f->state_id, sizeof(state_id));
}

/* Who is killed while an open is reclaimed leaves it to the others who share it. */
static void dafs_foreign_killed_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *file = foreign_file(test, mnt, "file", O_RDWR);
	struct foreign_task *ft;
	loff_t pos = 0;

	f->forgets = 1;
	f->keeps = DAFS_PROC_OPEN;
	ft = foreign_task(f, mnt, file, foreign_truncate);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	KUNIT_EXPECT_TRUE(test, foreign_kill(ft));
	KUNIT_EXPECT_NE(test, 0, ft->err);
	foreign_release(f);
	KUNIT_EXPECT_TRUE(test, foreign_agreed(f, file->private_data));
	KUNIT_EXPECT_EQ(test, 10, kernel_write(file, f->data, 10, &pos));
	KUNIT_EXPECT_EQ(test, 0, vfs_fsync(file, 0));
	KUNIT_EXPECT_EQ(test, 2, f->opens);
	KUNIT_EXPECT_EQ(test, 0, f->strangers);
	__fput_sync(file);
	KUNIT_EXPECT_TRUE(test, foreign_closed(f));
}

static int foreign_close_file(struct foreign_task *ft)
{
	__fput_sync(ft->file);
	return 0;
}

/* Nor does the last user wait for a reclaim, which then closes what it has opened. */
static void dafs_foreign_closed_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *file = foreign_file(test, mnt, "file", O_RDWR);
	struct foreign_task *ft;

	f->forgets = 1;
	f->keeps = DAFS_PROC_OPEN;
	ft = foreign_task(f, mnt, file, foreign_truncate);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	KUNIT_EXPECT_TRUE(test, foreign_kill(ft));
	ft = foreign_task(f, mnt, file, foreign_close_file);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	KUNIT_EXPECT_NE(test, 0, f->access);
	foreign_release(f);
	KUNIT_EXPECT_TRUE(test, foreign_closed(f));
	KUNIT_EXPECT_EQ(test, 2, f->opens);
	KUNIT_EXPECT_EQ(test, 0, f->strangers);
}

/* More than a queue works on at a time. */
#define FOREIGN_CROWD	300

/**
 * struct foreign_reads - reads without a task
 * @left: so many have not ended
 * @ended: completed when none is left
 * @err: what the last one that failed ended with
 * @io: they
 * @kvec: where all of them read to
 * @data: the same
 */
struct foreign_reads {
	atomic_t left;
	struct completion ended;
	int err;
	struct dafs_io io[FOREIGN_CROWD];
	struct kvec kvec;
	u8 data[FOREIGN_SIZE];
};

static void foreign_read_ended(struct dafs_io *io, int err)
{
	struct foreign_reads *reads = io->priv;

	if (err)
		reads->err = err;
	if (atomic_dec_and_test(&reads->left))
		complete_all(&reads->ended);
}

static void foreign_reads_free(void *reads)
{
	kvfree(reads);
}

static bool foreign_reads_end(struct foreign_reads *reads)
{
	return wait_for_completion_timeout(&reads->ended, msecs_to_jiffies(RAW_WAIT_MS));
}

/* Begins @nr reads of @len bytes each, by an open each.  Without, the server does not mind. */
static struct foreign_reads *foreign_read_by(struct kunit *test, struct inode *inode,
					     struct dafs_open_state **opens, unsigned int nr,
					     size_t len)
{
	struct foreign_reads *reads = kvzalloc(sizeof(*reads), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, reads);
	reads->kvec = (struct kvec){ .iov_base = reads->data, .iov_len = len };
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, foreign_reads_free, reads));
	init_completion(&reads->ended);
	atomic_set(&reads->left, nr);
	for (i = 0; i < nr; i++) {
		struct dafs_io *io = &reads->io[i];

		io->sbi = DAFS_SB(inode->i_sb);
		io->di = DAFS_I(inode);
		io->open = opens ? opens[i] : NULL;
		io->cred = current_cred();
		io->len = len;
		iov_iter_kvec(&io->iter, ITER_DEST, &reads->kvec, 1, len);
		io->complete = foreign_read_ended;
		io->priv = reads;
		dafs_io_start(io);
	}
	return reads;
}

/* By one open, or none. */
static struct foreign_reads *foreign_read_many(struct kunit *test, struct file *file,
					       struct dafs_open_state *open, unsigned int nr,
					       size_t len)
{
	struct dafs_open_state **opens = NULL;

	if (open) {
		opens = kunit_kmalloc_array(test, nr, sizeof(*opens), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, opens);
		memset_p((void **)opens, open, nr);
	}
	return foreign_read_by(test, file_inode(file), opens, nr, len);
}

/* All who use an open wait for one reclaim, and what does not use it goes on. */
static void dafs_foreign_crowd_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *file = foreign_file(test, mnt, "file", O_RDONLY);
	struct foreign_reads *reads, *others;

	f->forgets = FOREIGN_CROWD;
	f->keeps = DAFS_PROC_OPEN;
	reads = foreign_read_many(test, file, file->private_data, FOREIGN_CROWD, 10);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	/* in several parts, so that a work item is needed between them */
	others = foreign_read_many(test, file, NULL, 1, FOREIGN_SIZE);
	KUNIT_EXPECT_TRUE(test, foreign_reads_end(others));
	KUNIT_EXPECT_EQ(test, 0, others->err);
	KUNIT_EXPECT_EQ(test, 0, f->forgets);
	KUNIT_EXPECT_EQ(test, FOREIGN_CROWD, atomic_read(&reads->left));
	foreign_release(f);
	KUNIT_EXPECT_TRUE(test, foreign_reads_end(reads));
	KUNIT_EXPECT_TRUE(test, foreign_reads_end(others));
	KUNIT_EXPECT_EQ(test, 0, reads->err);
	KUNIT_EXPECT_EQ(test, 2, f->opens);
	__fput_sync(file);
	KUNIT_EXPECT_TRUE(test, foreign_closed(f));
}

/* A server that gives an open back under the state-id that it had: it is tried again. */
static void dafs_foreign_same_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *file = foreign_file(test, mnt, "file", O_RDONLY);
	struct foreign_reads *reads;

	f->forgets = FOREIGN_FORGETS;
	f->same = true;
	reads = foreign_read_many(test, file, file->private_data, 1, 10);
	KUNIT_EXPECT_TRUE(test, foreign_reads_end(reads));
	KUNIT_EXPECT_EQ(test, 0, f->forgets);
	KUNIT_EXPECT_EQ(test, 1 + FOREIGN_FORGETS, f->opens);
	f->same = false;
	KUNIT_EXPECT_TRUE(test, foreign_reads_end(reads));
	KUNIT_EXPECT_EQ(test, 0, reads->err);
	__fput_sync(file);
}

static bool foreign_reaches(const unsigned int *counter, unsigned int nr)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);

	while (READ_ONCE(*counter) < nr && time_before(jiffies, end))
		msleep(20);
	return READ_ONCE(*counter) >= nr;
}

/**
 * struct foreign_opens - opens of one file, none of them shared
 * @os: they
 * @inode: the file, a reference by each
 */
struct foreign_opens {
	struct dafs_open_state *os[FOREIGN_CROWD];
	struct inode *inode;
};

static struct foreign_opens *foreign_open_many(struct foreign *f, struct vfsmount *mnt)
{
	struct foreign_opens *opens = kunit_kzalloc(f->test, sizeof(*opens), GFP_KERNEL);
	const struct qstr name = QSTR_INIT("file", 4);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(f->test, opens);
	f->same = true;
	for (i = 0; i < FOREIGN_CROWD; i++) {
		opens->os[i] = dafs_open_state_named(d_inode(mnt->mnt_root), &name,
						     DAFS_OPEN_SHARE_ACCESS_READ,
						     current_cred(), &opens->inode);
		KUNIT_ASSERT_FALSE(f->test, IS_ERR(opens->os[i]));
	}
	return opens;
}

static void foreign_close_many(struct foreign_opens *opens)
{
	unsigned int i;

	for (i = 0; i < FOREIGN_CROWD; i++) {
		dafs_open_state_put(opens->os[i], true);
		if (i)
			iput(opens->inode);
	}
}

/**
 * struct foreign_probe - does a queue get to what comes last?
 * @work: that
 * @ran: it did
 */
struct foreign_probe {
	struct work_struct work;
	struct completion ran;
};

static void foreign_probe_work(struct work_struct *work)
{
	complete(&container_of(work, struct foreign_probe, work)->ran);
}

static bool foreign_queue_works(struct workqueue_struct *wq)
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

/*
 * Many opens that are reclaimed do not delay other work, however long the server asks for
 * patience with them, and however long it is away then.
 */
static void dafs_foreign_patient_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct foreign_opens *opens = foreign_open_many(f, mnt);
	struct dafs_session *ses = DAFS_SB(mnt->mnt_sb)->ses;
	struct foreign_reads *reads, *others;

	f->refusal = DAFSERR_DELAY;
	f->refuses = DAFS_PROC_OPEN;
	f->forgets = FOREIGN_CROWD;
	reads = foreign_read_by(test, opens->inode, opens->os, FOREIGN_CROWD, 10);
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&f->refused, FOREIGN_CROWD));
	/* in several parts, so that a work item is needed between them */
	others = foreign_read_by(test, opens->inode, NULL, 1, FOREIGN_SIZE);
	KUNIT_EXPECT_TRUE(test, foreign_reads_end(others));
	KUNIT_EXPECT_EQ(test, 0, others->err);
	KUNIT_EXPECT_EQ(test, FOREIGN_CROWD, atomic_read(&reads->left));

	f->hangs_up = DAFS_PROC_OPEN;
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	KUNIT_EXPECT_TRUE(test, foreign_queue_works(ses->retry_wq));
	f->refuses = 0;
	f->srv->refuse = false;
	KUNIT_EXPECT_TRUE(test, foreign_reads_end(reads));
	KUNIT_EXPECT_TRUE(test, foreign_reads_end(others));
	KUNIT_EXPECT_EQ(test, 0, reads->err);
	/* some of the last connection may be executed, and have no response */
	KUNIT_EXPECT_GE(test, f->opens, 2 * FOREIGN_CROWD);
	foreign_close_many(opens);
	KUNIT_EXPECT_EQ(test, FOREIGN_CROWD, f->closes);
	iput(opens->inode);
}

static bool foreign_lost(struct dafs_session *ses)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);

	while (!dafs_session_busy(ses) && time_before(jiffies, end))
		msleep(20);
	return dafs_session_busy(ses);
}

/* Nor do opens that are left to be closed while the server is away. */
static void dafs_foreign_left_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct foreign_opens *opens = foreign_open_many(f, mnt);
	struct dafs_session *ses = DAFS_SB(mnt->mnt_sb)->ses;
	struct foreign_reads *reads;

	f->hangs_up = DAFS_PROC_READ_INLINE;
	reads = foreign_read_by(test, opens->inode, NULL, 1, 10);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	KUNIT_EXPECT_TRUE(test, foreign_lost(ses));
	foreign_close_many(opens);
	KUNIT_EXPECT_TRUE(test, foreign_queue_works(dafs_session_commit_wq(ses)));
	KUNIT_EXPECT_TRUE(test, foreign_queue_works(ses->retry_wq));
	KUNIT_EXPECT_EQ(test, 0, f->closes);
	f->srv->refuse = false;
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&f->closes, FOREIGN_CROWD));
	KUNIT_EXPECT_TRUE(test, foreign_reads_end(reads));
	KUNIT_EXPECT_EQ(test, 0, reads->err);
	iput(opens->inode);
}

/*
 * Nor is one left open whose reclaim the server has executed, if the response is lost with
 * the connection, and the last user goes before there is another one.
 */
static void dafs_foreign_unanswered_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *file = foreign_file(test, mnt, "file", O_RDWR);
	struct foreign_task *ft;

	f->forgets = 1;
	f->hangs_up = DAFS_PROC_OPEN;
	ft = foreign_task(f, mnt, file, foreign_truncate);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	KUNIT_EXPECT_TRUE(test, foreign_lost(DAFS_SB(mnt->mnt_sb)->ses));
	KUNIT_EXPECT_TRUE(test, foreign_kill(ft));
	ft = foreign_task(f, mnt, file, foreign_close_file);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	KUNIT_EXPECT_NE(test, 0, f->access);
	f->srv->refuse = false;
	KUNIT_EXPECT_TRUE(test, foreign_closed(f));
	KUNIT_EXPECT_EQ(test, 3, f->opens);
}

static int foreign_open_file(struct foreign_task *ft)
{
	const struct path root = { .mnt = ft->mnt, .dentry = ft->mnt->mnt_root };
	struct file *file = file_open_root(&root, "file", O_RDONLY, 0);

	if (IS_ERR(file))
		return PTR_ERR(file);
	__fput_sync(file);
	return 0;
}

/* Nor does one that is killed leave open what it did not want to open. */
static void dafs_foreign_lies_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct foreign_task *ft;

	/* the client knows the file */
	__fput_sync(foreign_file(test, mnt, "file", O_RDONLY));
	KUNIT_EXPECT_TRUE(test, foreign_closed(f));
	f->lies = true;
	f->hangs_up = DAFS_PROC_CLOSE;
	ft = foreign_task(f, mnt, NULL, foreign_open_file);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	/* it was not executed */
	f->access = DAFS_OPEN_SHARE_ACCESS_READ;
	KUNIT_EXPECT_TRUE(test, foreign_kill(ft));
	f->srv->refuse = false;
	KUNIT_EXPECT_TRUE(test, foreign_closed(f));
}

/*
 * Nor what the server has opened without the response getting here: the connection
 * ends before the task is killed, or after it.
 */
static void dafs_foreign_lost_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct foreign_task *ft;

	f->hangs_up = DAFS_PROC_OPEN;
	ft = foreign_task(f, mnt, NULL, foreign_open_file);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	KUNIT_EXPECT_TRUE(test, foreign_kill(ft));
	KUNIT_EXPECT_NE(test, 0, ft->err);
	KUNIT_EXPECT_NE(test, 0, f->access);
	f->srv->refuse = false;
	KUNIT_EXPECT_TRUE(test, foreign_closed(f));

	f->keeps = DAFS_PROC_OPEN;
	ft = foreign_task(f, mnt, NULL, foreign_open_file);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	KUNIT_EXPECT_TRUE(test, foreign_kill(ft));
	KUNIT_EXPECT_NE(test, 0, f->access);
	raw_hang_up(f->from);
	KUNIT_EXPECT_TRUE(test, foreign_closed(f));
	KUNIT_EXPECT_EQ(test, 0, f->strangers);
}

/* Nor what an earlier attempt has opened, if the last one is refused. */
static void dafs_foreign_denied_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct foreign_task *ft;

	f->hangs_up = DAFS_PROC_OPEN;
	ft = foreign_task(f, mnt, NULL, foreign_open_file);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	f->denies = true;
	f->keeps = DAFS_PROC_OPEN;
	f->srv->refuse = false;
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	KUNIT_EXPECT_TRUE(test, foreign_kill(ft));
	KUNIT_EXPECT_EQ(test, 1, f->opens);
	foreign_release(f);
	KUNIT_EXPECT_TRUE(test, foreign_closed(f));
	KUNIT_EXPECT_EQ(test, 2, f->opens);
	KUNIT_EXPECT_EQ(test, 0, f->strangers);
}

/* Nor what the server has opened without saying as what. */
static void dafs_foreign_garbled_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct foreign_task *ft;

	f->garbles = true;
	ft = foreign_task(f, mnt, NULL, foreign_open_file);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	KUNIT_EXPECT_EQ(test, -EIO, ft->err);
	KUNIT_EXPECT_TRUE(test, foreign_closed(f));
	KUNIT_EXPECT_EQ(test, 2, f->opens);
	KUNIT_EXPECT_EQ(test, 0, f->strangers);
}

static int foreign_unmount_by(struct foreign_task *ft)
{
	kern_unmount(ft->mnt);
	return 0;
}

/* A server that goes while a read reclaims its open does not hold umount up. */
static void dafs_foreign_gone_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *file = foreign_file(test, mnt, "file", O_RDONLY);
	struct foreign_task *ft;

	f->forgets = 1;
	f->hangs_up = DAFS_PROC_OPEN;
	KUNIT_EXPECT_EQ(test, 0, vfs_fadvise(file, 0, FOREIGN_SIZE, POSIX_FADV_WILLNEED));
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	__fput_sync(file);
	kunit_remove_action(test, foreign_unmount, mnt);
	ft = foreign_task(f, mnt, NULL, foreign_unmount_by);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
}

static int foreign_write_direct(struct foreign_task *ft)
{
	loff_t pos = FOREIGN_DIRECT;

	return kernel_write(ft->file, "direct", 6, &pos);
}

static int foreign_append_some(struct foreign_task *ft)
{
	loff_t pos = 0;

	return kernel_write(ft->file, "more", 4, &pos);
}

/* A program stores a byte through a mapping, and has the file written back. */
static void foreign_store(struct kunit *test, struct file *file, loff_t pos, char byte)
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

/*
 * What is stored while a direct write waits for COMMIT is stable before that sets out,
 * or would be sent again over it when the server restarts.
 */
static void dafs_foreign_direct_commits_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *direct = foreign_file(test, mnt, "file", O_RDWR | O_DIRECT);
	struct foreign_task *ft;

	f->unstable = true;
	foreign_store(test, direct, 0, 's');
	f->keeps = DAFS_PROC_COMMIT;
	ft = foreign_task(f, mnt, direct, foreign_write_direct);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	foreign_store(test, direct, PAGE_SIZE, 's');
	foreign_release(f);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	KUNIT_EXPECT_EQ(test, 6, ft->err);
	get_random_bytes(&f->verifier, sizeof(f->verifier));
	KUNIT_EXPECT_EQ(test, 0, vfs_fsync(direct, 0));
	KUNIT_EXPECT_EQ(test, 's', f->data[0]);
	KUNIT_EXPECT_EQ(test, 's', f->data[PAGE_SIZE]);
	KUNIT_EXPECT_MEMEQ(test, "direct", f->data + FOREIGN_DIRECT, 6);
	__fput_sync(direct);
}

/* What is not stable when a direct write ends cannot be dropped then, but soon. */
static void dafs_foreign_direct_drops_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *direct = foreign_file(test, mnt, "file", O_RDWR | O_DIRECT);
	struct file *file = foreign_file(test, mnt, "file", O_RDWR);
	loff_t pos = FOREIGN_DIRECT;
	struct foreign_task *ft;
	char before[6], got[6];

	memcpy(before, f->data + pos, sizeof(before));
	f->unstable = true;
	f->keeps = DAFS_PROC_WRITE_INLINE;
	ft = foreign_task(f, mnt, direct, foreign_write_direct);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	/* as if the server came to it after what is stored now */
	memcpy(f->data + pos, before, sizeof(before));
	foreign_store(test, file, PAGE_SIZE, 's');
	memcpy(f->data + pos, "direct", sizeof(got));
	foreign_release(f);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	KUNIT_EXPECT_EQ(test, 6, ft->err);
	KUNIT_EXPECT_EQ(test, 6, kernel_read(file, got, sizeof(got), &pos));
	KUNIT_EXPECT_MEMEQ(test, "direct", got, sizeof(got));
	__fput_sync(file);
	__fput_sync(direct);
}

/* Nor does a task that is killed after an append leave the former end of the file. */
static void dafs_foreign_append_killed_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *log = foreign_file(test, mnt, "file", O_RDWR | O_APPEND);
	loff_t pos = FOREIGN_SIZE - 1;
	struct foreign_task *ft;
	char got;

	f->unstable = true;
	f->keeps = DAFS_PROC_APPEND_INLINE;
	ft = foreign_task(f, mnt, log, foreign_append_some);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	foreign_store(test, log, pos, 's');
	f->keeps = DAFS_PROC_COMMIT;
	foreign_release(f);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	KUNIT_EXPECT_TRUE(test, foreign_kill(ft));
	foreign_release(f);
	f->data[pos] = 't';
	KUNIT_EXPECT_EQ(test, 1, kernel_read(log, &got, 1, &pos));
	KUNIT_EXPECT_EQ(test, 't', got);
	__fput_sync(log);
}

/**
 * struct foreign_refusal - what a server may say for ever
 * @name: for the report
 * @status: that
 */
struct foreign_refusal {
	const char *name;
	u32 status;
};

static const struct foreign_refusal foreign_refusals[] = {
	{ "later", DAFSERR_DELAY },
	{ "no memory", DAFSERR_RESOURCE },
};

KUNIT_ARRAY_PARAM_DESC(foreign_refusals, foreign_refusals, name);

static void foreign_refuse_reads(struct foreign *f)
{
	const struct foreign_refusal *refusal = f->test->param_value;

	f->refusal = refusal->status;
	f->refuses = DAFS_PROC_READ_INLINE;
}

/* umount does not wait for read-ahead to which the server answers DELAY for ever. */
static void dafs_foreign_unread_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *file = foreign_file(test, mnt, "file", O_RDONLY);
	struct foreign_task *ft;

	foreign_refuse_reads(f);
	KUNIT_EXPECT_EQ(test, 0, vfs_fadvise(file, 0, FOREIGN_SIZE, POSIX_FADV_WILLNEED));
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&f->refused, 1));
	__fput_sync(file);
	kunit_remove_action(test, foreign_unmount, mnt);
	ft = foreign_task(f, mnt, NULL, foreign_unmount_by);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
}

/**
 * struct foreign_aio - an asynchronous direct read or write
 * @iocb: it
 * @kvec: where to, or from
 * @ret: what it ended with
 * @ended: completed then
 */
struct foreign_aio {
	struct kiocb iocb;
	struct kvec kvec;
	long ret;
	struct completion ended;
};

static void foreign_aio_ended(struct kiocb *iocb, long ret)
{
	struct foreign_aio *aio = container_of(iocb, struct foreign_aio, iocb);

	aio->ret = ret;
	complete_all(&aio->ended);
}

static struct foreign_aio *foreign_aio(struct kunit *test, struct file *file, bool write)
{
	struct foreign_aio *aio = kunit_kzalloc(test, sizeof(*aio), GFP_KERNEL);
	const size_t len = FOREIGN_AIO;
	struct iov_iter iter;
	ssize_t ret;

	KUNIT_ASSERT_NOT_NULL(test, aio);
	aio->kvec.iov_base = kunit_kzalloc(test, len, GFP_KERNEL);
	aio->kvec.iov_len = len;
	KUNIT_ASSERT_NOT_NULL(test, aio->kvec.iov_base);
	init_completion(&aio->ended);
	init_sync_kiocb(&aio->iocb, file);
	aio->iocb.ki_complete = foreign_aio_ended;
	iov_iter_kvec(&iter, write ? ITER_SOURCE : ITER_DEST, &aio->kvec, 1, len);
	if (write)
		ret = file->f_op->write_iter(&aio->iocb, &iter);
	else
		ret = file->f_op->read_iter(&aio->iocb, &iter);
	KUNIT_EXPECT_EQ(test, -EIOCBQUEUED, ret);
	return aio;
}

static bool foreign_aio_ends(struct foreign_aio *aio)
{
	return wait_for_completion_timeout(&aio->ended, msecs_to_jiffies(RAW_WAIT_MS));
}

/*
 * A task that exits cannot be killed out of waiting for its asynchronous I/O, but
 * umount -f ends that, also where the session is used elsewhere and goes on.
 */
static void dafs_foreign_forced_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct dafs_session *ses = DAFS_SB(mnt->mnt_sb)->ses;
	struct file *file = foreign_file(test, mnt, "file", O_RDONLY | O_DIRECT);
	struct foreign_aio *aio;

	foreign_refuse_reads(f);
	aio = foreign_aio(test, file, false);
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&f->refused, 1));
	dafs_session_get(ses);
	mnt->mnt_sb->s_op->umount_begin(mnt->mnt_sb);
	KUNIT_EXPECT_TRUE(test, foreign_aio_ends(aio));
	f->refuses = 0;
	KUNIT_EXPECT_TRUE(test, foreign_aio_ends(aio));
	KUNIT_EXPECT_EQ(test, -EIO, aio->ret);
	aio = foreign_aio(test, file, false);
	KUNIT_EXPECT_TRUE(test, foreign_aio_ends(aio));
	KUNIT_EXPECT_EQ(test, FOREIGN_AIO, aio->ret);

	foreign_refuse_reads(f);
	f->refused = 0;
	aio = foreign_aio(test, file, false);
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&f->refused, 1));
	dafs_session_put(ses);
	mnt->mnt_sb->s_op->umount_begin(mnt->mnt_sb);
	KUNIT_EXPECT_TRUE(test, foreign_aio_ends(aio));
	KUNIT_EXPECT_EQ(test, -EIO, aio->ret);
	__fput_sync(file);
}

/**
 * struct foreign_sleeper - something that waits in a queue
 * @work: it
 * @wake: what for
 */
struct foreign_sleeper {
	struct work_struct work;
	struct completion *wake;
};

static void foreign_sleeper_work(struct work_struct *work)
{
	wait_for_completion(container_of(work, struct foreign_sleeper, work)->wake);
}

/* Commits that wait for a server do not hold up the end of what it has done. */
static void dafs_foreign_ends_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct workqueue_struct *wq = dafs_session_commit_wq(DAFS_SB(mnt->mnt_sb)->ses);
	struct file *file = foreign_file(test, mnt, "file", O_RDWR);
	struct file *direct = foreign_file(test, mnt, "file", O_RDWR | O_DIRECT);
	struct foreign_sleeper *sleepers = kunit_kcalloc(test, FOREIGN_CROWD, sizeof(*sleepers),
							 GFP_KERNEL);
	DECLARE_COMPLETION_ONSTACK(wake);
	struct foreign_aio *aio;
	unsigned int i;
	loff_t pos = 0;
	u8 *buf = kunit_kzalloc(test, FOREIGN_SIZE, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, sleepers);
	KUNIT_ASSERT_NOT_NULL(test, buf);
	/* with something cached the end of a write is not seen to in softirq */
	KUNIT_EXPECT_EQ(test, FOREIGN_SIZE, kernel_read(file, buf, FOREIGN_SIZE, &pos));
	for (i = 0; i < FOREIGN_CROWD; i++) {
		sleepers[i].wake = &wake;
		INIT_WORK(&sleepers[i].work, foreign_sleeper_work);
		queue_work(wq, &sleepers[i].work);
	}
	aio = foreign_aio(test, direct, true);
	KUNIT_EXPECT_TRUE(test, foreign_aio_ends(aio));
	complete_all(&wake);
	for (i = 0; i < FOREIGN_CROWD; i++)
		flush_work(&sleepers[i].work);
	KUNIT_EXPECT_TRUE(test, foreign_aio_ends(aio));
	KUNIT_EXPECT_EQ(test, FOREIGN_AIO, aio->ret);
	__fput_sync(direct);
	__fput_sync(file);
}

static void foreign_make_dirty(struct kunit *test, struct file *file)
{
	struct folio *folio = read_mapping_folio(file->f_mapping, 0, file);
	loff_t pos = 0;

	KUNIT_ASSERT_FALSE(test, IS_ERR(folio));
	KUNIT_EXPECT_EQ(test, PAGE_SIZE, folio_size(folio));
	folio_put(folio);
	KUNIT_EXPECT_EQ(test, 10, kernel_write(file, "0123456789", 10, &pos));
}

/* What is dirty may be that of another mount, and is not given up by umount -f of one. */
static void dafs_foreign_forced_dirty_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct dafs_session *ses = DAFS_SB(mnt->mnt_sb)->ses;
	struct file *file = foreign_file(test, mnt, "file", O_RDWR);

	f->refusal = DAFSERR_DELAY;
	f->refuses = DAFS_PROC_WRITE_INLINE;
	foreign_make_dirty(test, file);
	KUNIT_EXPECT_EQ(test, 0, filemap_fdatawrite(file->f_mapping));
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&f->refused, 1));
	dafs_session_get(ses);
	mnt->mnt_sb->s_op->umount_begin(mnt->mnt_sb);
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&f->refused, f->refused + 2));
	f->refuses = 0;
	KUNIT_EXPECT_EQ(test, 0, vfs_fsync(file, 0));
	KUNIT_EXPECT_MEMEQ(test, "0123456789", f->data, 10);
	dafs_session_put(ses);
	__fput_sync(file);
}

/*
 * A file that others make shorter keeps its size as long as there is data of ours that
 * the server has yet to get, and no longer.
 */
static void dafs_foreign_shorter_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *file = foreign_file(test, mnt, "file", O_RDWR);
	u8 *buf = kunit_kzalloc(test, FOREIGN_SIZE, GFP_KERNEL);
	struct kstat stat = {};
	loff_t pos = 0;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	foreign_make_dirty(test, file);
	f->size = PAGE_SIZE;
	f->change++;
	KUNIT_EXPECT_EQ(test, 0, vfs_getattr(&file->f_path, &stat, STATX_SIZE,
					     AT_STATX_FORCE_SYNC));
	KUNIT_EXPECT_EQ(test, FOREIGN_SIZE, stat.size);
	KUNIT_EXPECT_EQ(test, PAGE_SIZE, kernel_read(file, buf, FOREIGN_SIZE, &pos));
	KUNIT_EXPECT_MEMEQ(test, "0123456789", buf, 10);
	KUNIT_EXPECT_EQ(test, PAGE_SIZE, vfs_llseek(file, 0, SEEK_END));
	KUNIT_EXPECT_EQ(test, PAGE_SIZE, f->size);
	__fput_sync(file);
}

/**
 * struct foreign_step - what a file that was written takes to be closed
 * @name: for the report
 * @proc: the procedure
 */
struct foreign_step {
	const char *name;
	u32 proc;
};

static const struct foreign_step foreign_steps[] = {
	{ "COMMIT", DAFS_PROC_COMMIT },
	{ "GETATTR", DAFS_PROC_GETATTR_INLINE },
	{ "CLOSE", DAFS_PROC_CLOSE },
};

KUNIT_ARRAY_PARAM_DESC(foreign_steps, foreign_steps, name);

/* As a task does that exits: no signal ends what it waits for. */
static int foreign_exit(struct foreign_task *ft)
{
	int err;

	current->flags |= PF_EXITING;
	err = ft->file->f_op->flush(ft->file, NULL);
	__fput_sync(ft->file);
	current->flags &= ~PF_EXITING;
	return err;
}

/* A task that exits does not wait for a server that asks for patience for ever. */
static void dafs_foreign_exits_test(struct kunit *test)
{
	const struct foreign_step *step = test->param_value;
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *file = foreign_file(test, mnt, "file", O_RDWR);
	struct foreign_task *ft;

	f->unstable = true;
	foreign_store(test, file, 0, 's');
	f->refusal = DAFSERR_DELAY;
	f->refuses = step->proc;
	ft = foreign_task(f, mnt, file, foreign_exit);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	KUNIT_EXPECT_GE(test, f->refused, 1);
	f->refuses = 0;
	KUNIT_EXPECT_TRUE(test, foreign_closed(f));
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	KUNIT_EXPECT_EQ(test, 0, ft->err);
}

/* Nor for one that goes meanwhile. */
static void dafs_foreign_exits_lost_test(struct kunit *test)
{
	const struct foreign_step *step = test->param_value;
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *file = foreign_file(test, mnt, "file", O_RDWR);
	struct foreign_task *ft;

	f->unstable = true;
	foreign_store(test, file, 0, 's');
	f->hangs_up = step->proc;
	ft = foreign_task(f, mnt, file, foreign_exit);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	f->srv->refuse = false;
	KUNIT_EXPECT_TRUE(test, foreign_closed(f));
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	KUNIT_EXPECT_EQ(test, 0, ft->err);
}

static int foreign_look(struct foreign_task *ft)
{
	struct kstat stat = {};

	return vfs_getattr(&ft->file->f_path, &stat, STATX_SIZE, AT_STATX_FORCE_SYNC);
}

/* What it could not even begin to write is written before the open is closed. */
static void dafs_foreign_exits_unwritten_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct dafs_session *ses = DAFS_SB(mnt->mnt_sb)->ses;
	struct file *other = foreign_file(test, mnt, "file", O_RDONLY);
	struct file *file = foreign_file(test, mnt, "file", O_RDWR);
	struct inode *inode = file_inode(file);
	struct foreign_task *looks, *ft;

	foreign_make_dirty(test, file);
	f->hangs_up = DAFS_PROC_GETATTR_INLINE;
	looks = foreign_task(f, mnt, other, foreign_look);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	KUNIT_EXPECT_TRUE(test, foreign_lost(ses));
	/* as when data is sent again */
	mutex_lock(&netfs_inode(inode)->wb_lock);
	ft = foreign_task(f, mnt, file, foreign_exit);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	mutex_unlock(&netfs_inode(inode)->wb_lock);
	f->srv->refuse = false;
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(looks));
	KUNIT_EXPECT_TRUE(test, foreign_queue_works(dafs_session_end_wq(ses)));
	KUNIT_EXPECT_EQ(test, 0, f->closes);
	KUNIT_EXPECT_EQ(test, 0, filemap_fdatawrite(inode->i_mapping));
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&f->closes, 1));
	KUNIT_EXPECT_MEMEQ(test, "0123456789", f->data, 10);
	__fput_sync(other);
}

static int foreign_sync(struct foreign_task *ft)
{
	return vfs_fsync(ft->file, 0);
}

/* Nor for another task that waits for one. */
static void dafs_foreign_exits_behind_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *file = foreign_file(test, mnt, "file", O_RDWR);
	struct file *other = foreign_file(test, mnt, "file", O_RDWR);
	struct foreign_task *first, *ft;

	f->unstable = true;
	foreign_store(test, file, 0, 's');
	f->keeps = DAFS_PROC_COMMIT;
	first = foreign_task(f, mnt, file, foreign_sync);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	ft = foreign_task(f, mnt, other, foreign_exit);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	foreign_release(f);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(first));
	KUNIT_EXPECT_EQ(test, 0, first->err);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	__fput_sync(file);
	KUNIT_EXPECT_TRUE(test, foreign_closed(f));
}

static int foreign_unmount_exiting(struct foreign_task *ft)
{
	current->flags |= PF_EXITING;
	kern_unmount(ft->mnt);
	current->flags &= ~PF_EXITING;
	return 0;
}

/* Umount by the last task of a namespace waits: there is no background behind it. */
static void dafs_foreign_exits_unmounting_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *file = foreign_file(test, mnt, "file", O_RDWR);
	struct foreign_task *ft;

	f->unstable = true;
	foreign_store(test, file, 0, 's');
	f->refusal = DAFSERR_DELAY;
	f->refuses = DAFS_PROC_COMMIT;
	ft = foreign_task(f, mnt, file, foreign_exit);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	/* a server that restarts, and loses it */
	f->data[0] = 0;
	get_random_bytes(&f->verifier, sizeof(f->verifier));
	kunit_remove_action(test, foreign_unmount, mnt);
	ft = foreign_task(f, mnt, NULL, foreign_unmount_exiting);
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&f->refused, f->refused + 2));
	f->refuses = 0;
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	KUNIT_EXPECT_EQ(test, 's', f->data[0]);
}

static int foreign_unlink(struct foreign_task *ft)
{
	/* with a reference besides the file's, as unlink(2) has one */
	struct dentry *dentry = dget(file_dentry(ft->file));
	struct dentry *dir = dget_parent(dentry);
	int err;

	inode_lock_nested(d_inode(dir), I_MUTEX_PARENT);
	err = vfs_unlink(&nop_mnt_idmap, d_inode(dir), dentry, NULL);
	inode_unlock(d_inode(dir));
	dput(dir);
	dput(dentry);
	return err;
}

/*
 * That others have made a file shorter which this client has removed since is never known
 * better, and the server is not asked for it time and again.
 */
static void dafs_foreign_removed_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct dafs_options *opts = &DAFS_SB(mnt->mnt_sb)->opts;
	struct file *file = foreign_file(test, mnt, "file", O_RDWR);
	struct foreign_task ft = { .file = file };
	struct kstat stat = {};
	loff_t pos = 0;
	int i;
	u8 got;

	opts->acregmin = 3600 * HZ;
	opts->acregmax = 3600 * HZ;
	foreign_make_dirty(test, file);
	f->size = PAGE_SIZE;
	f->change++;
	KUNIT_EXPECT_EQ(test, 0, vfs_getattr(&file->f_path, &stat, STATX_SIZE,
					     AT_STATX_FORCE_SYNC));
	KUNIT_EXPECT_EQ(test, FOREIGN_SIZE, stat.size);
	KUNIT_EXPECT_EQ(test, 0, foreign_unlink(&ft));
	f->refusal = DAFSERR_STALE;
	f->refuses = DAFS_PROC_GETATTR_INLINE;
	KUNIT_EXPECT_EQ(test, 0, vfs_fsync(file, 0));
	KUNIT_EXPECT_EQ(test, 1, kernel_read(file, &got, 1, &pos));
	KUNIT_EXPECT_GE(test, f->refused, 1);
	f->refused = 0;
	for (i = 0; i < 5; i++)
		KUNIT_EXPECT_EQ(test, 1, kernel_read(file, &got, 1, &pos));
	KUNIT_EXPECT_EQ(test, 0, vfs_getattr(&file->f_path, &stat, STATX_SIZE, 0));
	KUNIT_EXPECT_EQ(test, 0, f->refused);
	__fput_sync(file);
}

/* But a file that others have removed is gone, even if this client tried just then. */
static void dafs_foreign_not_removed_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct dafs_options *opts = &DAFS_SB(mnt->mnt_sb)->opts;
	struct file *file = foreign_file(test, mnt, "file", O_RDONLY);
	struct foreign_task *ft;
	struct kstat stat = {};

	opts->acregmin = 3600 * HZ;
	opts->acregmax = 3600 * HZ;
	f->keeps = DAFS_PROC_REMOVE;
	ft = foreign_task(f, mnt, file, foreign_unlink);
	KUNIT_EXPECT_TRUE(test, foreign_has_come(f));
	f->refusal = DAFSERR_STALE;
	f->refuses = DAFS_PROC_GETATTR_INLINE;
	KUNIT_EXPECT_EQ(test, 0, vfs_getattr(&file->f_path, &stat, STATX_SIZE,
					     AT_STATX_FORCE_SYNC));
	f->kept_status = DAFSERR_NOENT;
	foreign_release(f);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	KUNIT_EXPECT_EQ(test, -ENOENT, ft->err);
	KUNIT_EXPECT_EQ(test, -ESTALE, vfs_getattr(&file->f_path, &stat, STATX_SIZE, 0));
	__fput_sync(file);
}

/* As a program does; in parts, for whose end the task waits. */
static int foreign_write_parts(struct foreign_task *ft)
{
	struct iov_iter iter;
	struct kiocb iocb;
	int ret;

	kthread_use_mm(ft->f->mm);
	init_sync_kiocb(&iocb, ft->file);
	iov_iter_ubuf(&iter, ITER_SOURCE, (void __user *)ft->f->user, 2 * PAGE_SIZE);
	ret = ft->file->f_op->write_iter(&iocb, &iter);
	kthread_unuse_mm(ft->f->mm);
	return ret;
}

/* Nor does umount wait for what a task that was killed has begun to write. */
static void dafs_foreign_unwritten_test(struct kunit *test)
{
	struct foreign *f = foreign_server(test);
	struct vfsmount *mnt = foreign_mount(f);
	struct file *file = foreign_file(test, mnt, "file", O_RDWR | O_DIRECT);
	struct foreign_task *ft;

	DAFS_SB(mnt->mnt_sb)->opts.wsize = PAGE_SIZE;
	f->user = kunit_vm_mmap(test, NULL, 0, 2 * PAGE_SIZE, PROT_READ | PROT_WRITE,
				MAP_ANONYMOUS | MAP_PRIVATE, 0);
	KUNIT_ASSERT_NE(test, 0, f->user);
	f->mm = current->mm;
	f->refusal = DAFSERR_DELAY;
	f->refuses = DAFS_PROC_WRITE_INLINE;
	ft = foreign_task(f, mnt, file, foreign_write_parts);
	KUNIT_EXPECT_TRUE(test, foreign_reaches(&f->refused, 2));
	KUNIT_EXPECT_TRUE(test, foreign_kill(ft));
	KUNIT_EXPECT_EQ(test, -ERESTARTSYS, ft->err);
	__fput_sync(file);
	kunit_remove_action(test, foreign_unmount, mnt);
	ft = foreign_task(f, mnt, NULL, foreign_unmount_by);
	KUNIT_EXPECT_TRUE(test, foreign_task_ends(ft));
	/* kunit_vm_mmap() attached it, and leaves it to the end of the task, which leaks it */
	kthread_unuse_mm(f->mm);
	mmput(f->mm);
}

static struct kunit_case dafs_foreign_cases[] = {
	KUNIT_CASE(dafs_foreign_names_test),
	KUNIT_CASE(dafs_foreign_data_test),
	KUNIT_CASE(dafs_foreign_forgets_test),
	KUNIT_CASE(dafs_foreign_killed_test),
	KUNIT_CASE(dafs_foreign_closed_test),
	KUNIT_CASE(dafs_foreign_same_test),
	KUNIT_CASE(dafs_foreign_crowd_test),
	KUNIT_CASE(dafs_foreign_lies_test),
	KUNIT_CASE(dafs_foreign_lost_test),
	KUNIT_CASE(dafs_foreign_denied_test),
	KUNIT_CASE(dafs_foreign_garbled_test),
	KUNIT_CASE(dafs_foreign_gone_test),
	KUNIT_CASE(dafs_foreign_direct_commits_test),
	KUNIT_CASE(dafs_foreign_direct_drops_test),
	KUNIT_CASE(dafs_foreign_append_killed_test),
	KUNIT_CASE_SLOW(dafs_foreign_patient_test),
	KUNIT_CASE(dafs_foreign_left_test),
	KUNIT_CASE(dafs_foreign_unanswered_test),
	KUNIT_CASE_PARAM(dafs_foreign_unread_test, foreign_refusals_gen_params),
	KUNIT_CASE_PARAM(dafs_foreign_forced_test, foreign_refusals_gen_params),
	KUNIT_CASE(dafs_foreign_forced_dirty_test),
	KUNIT_CASE(dafs_foreign_ends_test),
	KUNIT_CASE(dafs_foreign_shorter_test),
	KUNIT_CASE_PARAM(dafs_foreign_exits_test, foreign_steps_gen_params),
	KUNIT_CASE_PARAM(dafs_foreign_exits_lost_test, foreign_steps_gen_params),
	KUNIT_CASE(dafs_foreign_exits_unwritten_test),
	KUNIT_CASE(dafs_foreign_exits_behind_test),
	KUNIT_CASE(dafs_foreign_exits_unmounting_test),
	KUNIT_CASE(dafs_foreign_removed_test),
	KUNIT_CASE(dafs_foreign_not_removed_test),
	KUNIT_CASE(dafs_foreign_unwritten_test),
	{}
};

static struct kunit_suite dafs_foreign_suite = {
	.name = "dafs_foreign",
	.test_cases = dafs_foreign_cases,
};

kunit_test_suite(dafs_foreign_suite);
