// SPDX-License-Identifier: GPL-2.0
/* Metadata by RDMA: GETATTR, SETATTR, READDIR and READLINK with buffers. */
#include <linux/sizes.h>
#include "../lib/fixture.h"

#define META_SIZE	SZ_8K

/**
 * struct dafs_meta - one operation and its memory
 * @fix: the test's session and directory
 * @op: the operation; ends with dafs_meta_call()
 * @mem: of @op
 * @data: the memory, META_SIZE bytes
 * @size: bytes of it that the request describes
 * @pieces: READDIR_DIRECT: number of buffers
 * @bufs: the buffers
 * @len: length of the response
 * @received: the received contents of the memory, if any
 */
struct dafs_meta {
	struct dafs_fixture *fix;
	struct dafs_op op;
	struct dafs_op_mem mem;
	u8 *data;
	u32 size;
	unsigned int pieces;
	struct dafs_direct_buf bufs[4];
	u32 len;
	struct dafs_buf received;
};

static struct dafs_meta *dafs_meta(struct kunit *test)
{
	struct dafs_meta *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, m);
	m->fix = dafs_fixture(test, test->param_value);
	m->data = kunit_kzalloc(test, META_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, m->data);
	m->size = META_SIZE;
	m->pieces = 1;
	return m;
}

/* All of the memory is one region; the request describes the first m->size bytes of it. */
static struct dafs_direct_buf dafs_meta_buf(struct dafs_op *op)
{
	struct dafs_meta *m = op->priv;
	struct dafs_direct_buf buf = op->mem->map.bufs[0];

	buf.buffer_byte_count = m->size;
	return buf;
}

static int dafs_meta_describe_getattr(struct dafs_op *op, struct dafs_call *call)
{
	struct dafs_getattr_direct_args *args = op->args;

	args->data_buffer = dafs_meta_buf(op);
	return 0;
}

static int dafs_meta_describe_setattr(struct dafs_op *op, struct dafs_call *call)
{
	struct dafs_setattr_direct_args *args = op->args;

	args->obj_attributes = dafs_meta_buf(op);
	return 0;
}

static int dafs_meta_describe_readlink(struct dafs_op *op, struct dafs_call *call)
{
	struct dafs_readlink_direct_args *args = op->args;

	args->buffer = dafs_meta_buf(op);
	return 0;
}

/* Pieces of 7, 14, 21 ... bytes, and the rest. */
static int dafs_meta_describe_readdir(struct dafs_op *op, struct dafs_call *call)
{
	struct dafs_readdir_args *args = op->args;
	struct dafs_meta *m = op->priv;
	u32 at = 0, n;
	unsigned int i;

	for (i = 0; i < m->pieces; i++) {
		n = i + 1 < m->pieces ? min(7 * (i + 1), m->size - at) : m->size - at;
		m->bufs[i] = (struct dafs_direct_buf) {
			.buffer_address = op->mem->map.bufs[0].buffer_address + at,
			.buffer_byte_count = n,
			.buffer_handle = op->mem->map.bufs[0].buffer_handle,
		};
		at += n;
	}
	args->readdir_data_buffers.count = m->pieces;
	args->readdir_data_buffers.elems = m->bufs;
	return 0;
}

static dafs_status_t dafs_meta_call(struct kunit *test, struct dafs_meta *m, u32 proc, void *args,
				    void *res, const struct dafs_cksum *cksum)
{
	dafs_status_t status;

	m->mem = (struct dafs_op_mem) {
		.data = m->data,
		.size = META_SIZE,
		.dir = proc == DAFS_PROC_SETATTR_DIRECT ? DMA_TO_DEVICE : DMA_FROM_DEVICE,
	};
	m->op = (struct dafs_op) {
		.cred = dafs_test_me(),
		.proc = proc,
		.args = args,
		.res = res,
		.priv = m,
		.mem = &m->mem,
		.prepare = proc == DAFS_PROC_SETATTR_DIRECT ? dafs_meta_describe_setattr :
			   proc == DAFS_PROC_GETATTR_DIRECT ? dafs_meta_describe_getattr :
			   proc == DAFS_PROC_READDIR_DIRECT ? dafs_meta_describe_readdir :
			   dafs_meta_describe_readlink,
	};
	status = dafs_test_op(test, m->fix->clnt, &m->op);
	if (m->op.call)
		m->len = m->op.call->buf.len;
	if (!status && cksum)
		KUNIT_EXPECT_EQ(test, 0, dafs_proc_received(&m->op, cksum, &m->received));
	dafs_op_end(&m->op);
	return status;
}

static dafs_status_t dafs_meta_getattr(struct kunit *test, struct dafs_meta *m,
				       const struct dafs_fh *fh, u64 bitmap)
{
	struct dafs_getattr_direct_args args = {
		.filehandle = *fh,
		.attr_request_bitmap = bitmap,
	};
	struct dafs_direct_res res = {};

	return dafs_meta_call(test, m, DAFS_PROC_GETATTR_DIRECT, &args, &res,
			      &res.direct_checksum);
}

/* Bytes that the attributes take in a message and in a buffer. */
static u32 dafs_meta_fattr_bytes(struct kunit *test, struct dafs_meta *m,
				 const struct dafs_fh *fh, u64 bitmap, u8 *bytes, u32 size)
{
	struct dafs_getattr_args args = { .filehandle = *fh, .attr_request_bitmap = bitmap };
	struct dafs_getattr_res *res = kunit_kzalloc(test, sizeof(*res), GFP_KERNEL);
	struct dafs_op op = {
		.cred = dafs_test_me(),
		.proc = DAFS_PROC_GETATTR_INLINE,
		.args = &args,
		.res = res,
	};
	struct dafs_buf buf = { .base = bytes, .len = size, .swab = m->fix->params.swab };
	int len = -EIO;

	KUNIT_ASSERT_NOT_NULL(test, res);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_test_op(test, m->fix->clnt, &op));
	len = dafs_encode_fattr(&buf, &res->obj_attributes);
	dafs_op_end(&op);
	KUNIT_ASSERT_GT(test, len, 0);
	return len;
}

/* R-6.5.14-01: all attributes of each type of object are the same bytes as in a message. */
static void dafs_meta_getattr_test(struct kunit *test)
{
	static const char *const names[] = { "file", "dir", "link", "chr" };
	struct dafs_meta *m = dafs_meta(test);
	u8 *inl = kunit_kzalloc(test, SZ_1K, GFP_KERNEL);
	struct dafs_fh fh[ARRAY_SIZE(names) + 1];
	u32 len;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, inl);
	dafs_backing_write(test, m->fix, "file", "file", 4);
	dafs_backing_chown(test, m->fix, "file", 1001, 4294967293U);
	dafs_backing_mkdir(test, m->fix, "dir", 02751);
	dafs_backing_symlink(test, m->fix, "link", "nowhere");
	dafs_backing_mknod(test, m->fix, "chr", S_IFCHR | 0600, MKDEV(5, 70000));
	for (i = 0; i < ARRAY_SIZE(names); i++)
		fh[i] = dafs_test_lookup(test, m->fix, names[i]);
	KUNIT_ASSERT_EQ(test, 0, dafs_get_root_handle(m->fix->clnt, dafs_test_me(), &fh[i]));
	for (i = 0; i < ARRAY_SIZE(fh); i++) {
		memset(m->data, 0xa5, META_SIZE);
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
				   dafs_meta_getattr(test, m, &fh[i], DAFS_FATTR_ALL));
		KUNIT_EXPECT_EQ(test, 44, m->len);
		len = dafs_meta_fattr_bytes(test, m, &fh[i], DAFS_FATTR_ALL, inl, SZ_1K);
		KUNIT_EXPECT_MEMEQ(test, inl, m->data, len);
		/* and not one byte more */
		KUNIT_EXPECT_EQ(test, 0xa5, m->data[len]);
	}
}

/* The client's function and all its results. */
static void dafs_meta_getattr_stub_test(struct kunit *test)
{
	const u64 which = DAFS_FATTR_MODE | DAFS_FATTR_OBJECT_SIZE | DAFS_FATTR_OWNER |
			  DAFS_FATTR_OWNER_GROUP | DAFS_FATTR_TIME_BACKUP;
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_fattr *attr = kunit_kzalloc(test, sizeof(*attr), GFP_KERNEL);
	struct dafs_ids ids;
	struct dafs_fh fh;

	KUNIT_ASSERT_NOT_NULL(test, attr);
	dafs_backing_write(test, fix, "file", "file", 4);
	dafs_backing_chown(test, fix, "file", 1001, 1002);
	dafs_backing_chmod(test, fix, "file", 0640);
	fh = dafs_test_lookup(test, fix, "file");
	KUNIT_ASSERT_EQ(test, 0, dafs_getattr_direct(fix->clnt, dafs_test_me(), &fh, which, attr,
						     &ids));
	KUNIT_EXPECT_EQ(test, which & ~DAFS_FATTR_TIME_BACKUP, attr->valid);
	KUNIT_EXPECT_EQ(test, 0640, attr->mode);
	KUNIT_EXPECT_EQ(test, 4, attr->object_size);
	KUNIT_EXPECT_EQ(test, 1001, ids.uid);
	KUNIT_EXPECT_EQ(test, 1002, ids.gid);
	memset(&fh, 0xa5, sizeof(fh));
	KUNIT_EXPECT_EQ(test, -ESTALE, dafs_getattr_direct(fix->clnt, dafs_test_me(), &fh, which,
							   attr, &ids));
}

/* E-23: buffers that are just large enough, and too small ones. */
static void dafs_meta_getattr_small_test(struct kunit *test)
{
	const u64 which = DAFS_FATTR_MODE | DAFS_FATTR_OWNER;
	struct dafs_meta *m = dafs_meta(test);
	u32 len = dafs_meta_fattr_bytes(test, m, &m->fix->dir, which, m->data, META_SIZE);

	m->size = len;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_meta_getattr(test, m, &m->fix->dir, which));
	m->size = len - 1;
	DAFS_EXPECT_STATUS(test, DAFSERR_TOOSMALL,
			   dafs_meta_getattr(test, m, &m->fix->dir, which));
	m->size = 0;
	DAFS_EXPECT_STATUS(test, DAFSERR_TOOSMALL,
			   dafs_meta_getattr(test, m, &m->fix->dir, which));
}

static dafs_status_t dafs_meta_readlink(struct kunit *test, struct dafs_meta *m,
					const struct dafs_fh *fh)
{
	struct dafs_readlink_direct_args args = { .filehandle = *fh };
	struct dafs_direct_res res = {};

	return dafs_meta_call(test, m, DAFS_PROC_READLINK_DIRECT, &args, &res,
			      &res.direct_checksum);
}

/* R-6.5.32-01: a length and the target, only for symbolic links. */
static void dafs_meta_readlink_test(struct kunit *test)
{
	static const char target[] = "/\x01 odd/../\xff\xfe\n//end/";
	struct dafs_meta *m = dafs_meta(test);
	struct dafs_fh fh;

	dafs_backing_symlink(test, m->fix, "link", target);
	dafs_backing_write(test, m->fix, "file", "file", 4);
	fh = dafs_test_lookup(test, m->fix, "link");
	memset(m->data, 0xa5, META_SIZE);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_meta_readlink(test, m, &fh));
	KUNIT_EXPECT_EQ(test, 44, m->len);
	KUNIT_EXPECT_EQ(test, strlen(target), dafs_get32(m->data, m->fix->params.swab));
	KUNIT_EXPECT_MEMEQ(test, target, m->data + 4, strlen(target));
	KUNIT_EXPECT_EQ(test, 0xa5, m->data[4 + strlen(target)]);
	m->size = 4 + strlen(target);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_meta_readlink(test, m, &fh));
	m->size--;
	DAFS_EXPECT_STATUS(test, DAFSERR_TOOSMALL, dafs_meta_readlink(test, m, &fh));
	fh = dafs_test_lookup(test, m->fix, "file");
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, dafs_meta_readlink(test, m, &fh));
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, dafs_meta_readlink(test, m, &m->fix->dir));
	memset(&fh, 0xa5, sizeof(fh));
	DAFS_EXPECT_STATUS(test, DAFSERR_BADHANDLE, dafs_meta_readlink(test, m, &fh));
}

/*
 * The longest target, which CREATE takes too: by both stubs, and in a session
 * whose messages are too small for it.
 */
static void dafs_meta_readlink_long_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_client_params small = fix->params;
	char *text = kunit_kzalloc(test, PATH_MAX, GFP_KERNEL);
	char *buf = kunit_kzalloc(test, PATH_MAX, GFP_KERNEL);
	struct qstr name = dafs_test_qstr("long");
	struct dafs_change_info change;
	struct dafs_client *clnt;
	struct dafs_node node = { .type = DAFS_TYPE_LNK };
	struct dafs_fh fh;

	KUNIT_ASSERT_NOT_NULL(test, text);
	KUNIT_ASSERT_NOT_NULL(test, buf);
	memset(text, 'l', PATH_MAX - 1);
	node.link = dafs_test_str(text);
	KUNIT_ASSERT_EQ(test, 0, dafs_create(fix->clnt, dafs_test_me(), &fix->dir, &name, &node,
					     &fh, &change));
	KUNIT_EXPECT_EQ(test, PATH_MAX - 1, dafs_readlink_direct(fix->clnt, dafs_test_me(), &fh,
								 buf, PATH_MAX));
	KUNIT_EXPECT_STREQ(test, text, buf);
	KUNIT_EXPECT_EQ(test, -ETOOSMALL, dafs_readlink_direct(fix->clnt, dafs_test_me(), &fh, buf,
							       PATH_MAX - 2));
	small.msg_size = DAFS_MIN_MSG_SIZE;
	clnt = dafs_fixture_client(test, &small);
	memset(buf, 0, PATH_MAX);
	KUNIT_EXPECT_EQ(test, PATH_MAX - 1, dafs_readlink(clnt, dafs_test_me(), &fh, buf,
							  PATH_MAX));
	KUNIT_EXPECT_STREQ(test, text, buf);
	KUNIT_EXPECT_EQ(test, -EMSGSIZE, dafs_create(clnt, dafs_test_me(), &fix->dir, &name, &node,
						     &fh, &change));
}

/* Puts attributes into the memory. */
static struct dafs_setattr_direct_args dafs_meta_setattr_args(struct kunit *test,
							      struct dafs_meta *m,
							      const struct dafs_fh *fh,
							      struct dafs_fattr *attr)
{
	struct dafs_setattr_direct_args args = { .filehandle = *fh };
	struct dafs_buf buf = {
		.base = m->data,
		.len = META_SIZE,
		.swab = m->fix->params.swab,
	};
	struct dafs_cksum_state state;
	int len = dafs_encode_fattr(&buf, attr);

	KUNIT_EXPECT_GT(test, len, 0);
	if (m->fix->params.cksum && len > 0) {
		dafs_cksum_init(&state);
		dafs_cksum_update(&state, m->data, len);
		dafs_cksum_final_host(&state, buf.swab, &args.direct_checksum);
	}
	m->size = len;
	return args;
}

static struct dafs_fattr dafs_meta_mode(umode_t mode)
{
	return (struct dafs_fattr) {
		.included = DAFS_FATTR_MODE,
		.valid = DAFS_FATTR_MODE,
		.mode = mode,
	};
}

static void dafs_meta_expect_mode(struct kunit *test, struct dafs_meta *m, umode_t mode)
{
	struct kstat stat = {};

	KUNIT_EXPECT_EQ(test, 0, dafs_backing_stat(m->fix, "file", &stat));
	KUNIT_EXPECT_EQ(test, S_IFREG | mode, stat.mode);
}

static dafs_status_t dafs_meta_setattr(struct kunit *test, struct dafs_meta *m,
				       struct dafs_setattr_direct_args *args, u64 *done)
{
	struct dafs_setattr_res res = {};
	dafs_status_t status = dafs_meta_call(test, m, DAFS_PROC_SETATTR_DIRECT, args, &res, NULL);

	*done = res.attr_request_bitmap;
	return status;
}

/* R-6.5.36-01: the attributes are fetched and set, also from a larger buffer. */
static void dafs_meta_setattr_test(struct kunit *test)
{
	struct dafs_meta *m = dafs_meta(test);
	struct dafs_fattr attr = dafs_meta_mode(0751);
	struct dafs_setattr_direct_args args;
	struct kstat stat;
	struct dafs_fh fh;
	u64 done;

	dafs_backing_write(test, m->fix, "file", "file", 4);
	fh = dafs_test_lookup(test, m->fix, "file");
	attr.included |= DAFS_FATTR_OWNER | DAFS_FATTR_OWNER_GROUP | DAFS_FATTR_OBJECT_SIZE;
	attr.valid = attr.included;
	attr.object_size = 3;
	attr.owner = dafs_test_str("1001");
	attr.owner_group = dafs_test_str("1002");
	args = dafs_meta_setattr_args(test, m, &fh, &attr);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_meta_setattr(test, m, &args, &done));
	KUNIT_EXPECT_EQ(test, attr.valid, done);
	KUNIT_EXPECT_EQ(test, 48, m->len);
	dafs_meta_expect_mode(test, m, 0751);
	KUNIT_ASSERT_EQ(test, 0, dafs_backing_stat(m->fix, "file", &stat));
	KUNIT_EXPECT_EQ(test, 3, stat.size);
	KUNIT_EXPECT_EQ(test, 1001, from_kuid(&init_user_ns, stat.uid));
	KUNIT_EXPECT_EQ(test, 1002, from_kgid(&init_user_ns, stat.gid));
	/* bytes behind the attributes are ignored */
	attr = dafs_meta_mode(0640);
	args = dafs_meta_setattr_args(test, m, &fh, &attr);
	m->size = META_SIZE;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_meta_setattr(test, m, &args, &done));
	dafs_meta_expect_mode(test, m, 0640);
}

/* The client's function, and the errors that it shares with SETATTR_INLINE. */
static void dafs_meta_setattr_stub_test(struct kunit *test)
{
	struct dafs_meta *m = dafs_meta(test);
	struct dafs_fattr attr = dafs_meta_mode(0711);
	const struct dafs_state_id none = {};
	struct dafs_fixture *fix = m->fix;
	struct dafs_fh fh;
	dafs_status_t status;

	dafs_backing_write(test, fix, "file", "file", 4);
	fh = dafs_test_lookup(test, fix, "file");
	KUNIT_EXPECT_EQ(test, 0, dafs_setattr_direct(fix->clnt, dafs_test_me(), &fh, &none, &attr,
						     &status));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, status);
	dafs_meta_expect_mode(test, m, 0711);
	attr = dafs_meta_mode(0700);
	KUNIT_EXPECT_EQ(test, -EPERM,
			dafs_setattr_direct(fix->clnt, dafs_fixture_user(test, 1000, 2000), &fh,
					    &none, &attr, &status));
	DAFS_EXPECT_STATUS(test, DAFSERR_PERM, status);
	attr.included |= DAFS_FATTR_NUM_LINKS;
	attr.valid |= DAFS_FATTR_NUM_LINKS;
	KUNIT_EXPECT_EQ(test, -EINVAL, dafs_setattr_direct(fix->clnt, dafs_test_me(), &fh, &none,
							   &attr, &status));
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, status);
	dafs_meta_expect_mode(test, m, 0711);
}

/* E-20 E-23: invalid, truncated or damaged attributes change nothing. */
static void dafs_meta_setattr_spoilt_test(struct kunit *test)
{
	struct dafs_meta *m = dafs_meta(test);
	struct dafs_fattr attr = dafs_meta_mode(0600);
	struct dafs_setattr_direct_args args;
	struct dafs_fh fh;
	u64 done;

	dafs_backing_write(test, m->fix, "file", "file", 4);
	dafs_backing_chmod(test, m->fix, "file", 0755);
	fh = dafs_test_lookup(test, m->fix, "file");
	args = dafs_meta_setattr_args(test, m, &fh, &attr);
	m->size = 16;
	DAFS_EXPECT_STATUS(test, DAFSERR_CHKSUM, dafs_meta_setattr(test, m, &args, &done));
	m->size = 0;
	DAFS_EXPECT_STATUS(test, DAFSERR_CHKSUM, dafs_meta_setattr(test, m, &args, &done));
	m->size = META_SIZE;
	dafs_put64(1ULL << 40 | DAFS_FATTR_MODE, m->data, m->fix->params.swab);
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, dafs_meta_setattr(test, m, &args, &done));
	KUNIT_EXPECT_EQ(test, 0, done);
	if (m->fix->params.cksum) {
		args = dafs_meta_setattr_args(test, m, &fh, &attr);
		args.direct_checksum.s2 ^= 0x40;
		DAFS_EXPECT_STATUS(test, DAFSERR_CHKSUM, dafs_meta_setattr(test, m, &args, &done));
	}
	dafs_meta_expect_mode(test, m, 0755);
}

#define META_ENTRIES	100

static void dafs_meta_make_entries(struct kunit *test, struct dafs_fixture *fix)
{
	char name[16];
	int i;

	for (i = 0; i < META_ENTRIES; i++) {
		snprintf(name, sizeof(name), "entry.%d", i);
		dafs_backing_mknod(test, fix, name, S_IFIFO | 0600, 0);
	}
}

/* Entries seen by READDIR, and how often each. */
struct dafs_meta_seen {
	unsigned int count;
	u8 times[META_ENTRIES];
};

static bool dafs_meta_see(void *priv, const struct dafs_direntry *entry)
{
	struct dafs_meta_seen *seen = priv;
	char name[16] = {};
	unsigned int i;

	memcpy(name, entry->name.data, min_t(u32, entry->name.len, sizeof(name) - 1));
	seen->count++;
	if (sscanf(name, "entry.%u", &i) == 1 && i < META_ENTRIES)
		seen->times[i]++;
	return true;
}

static void dafs_meta_expect_all(struct kunit *test, const struct dafs_meta_seen *seen)
{
	int i;

	KUNIT_EXPECT_EQ(test, META_ENTRIES, seen->count);
	for (i = 0; i < META_ENTRIES; i++)
		KUNIT_EXPECT_EQ_MSG(test, 1, seen->times[i], "entry.%d", i);
}

static dafs_status_t dafs_meta_readdir(struct kunit *test, struct dafs_meta *m,
				       struct dafs_readdir_args *args,
				       struct dafs_readdir_direct_res *res,
				       struct dafs_meta_seen *seen)
{
	struct dafs_direntry *entry = kunit_kzalloc(test, sizeof(*entry), GFP_KERNEL);
	struct dafs_direntry_iter iter;
	struct dafs_seq entries;
	dafs_status_t status;
	int got;

	KUNIT_ASSERT_NOT_NULL(test, entry);
	args->filehandle = m->fix->dir;
	memset(res, 0, sizeof(*res));
	status = dafs_meta_call(test, m, DAFS_PROC_READDIR_DIRECT, args, res,
				&res->direct_checksum);
	if (!status) {
		KUNIT_ASSERT_EQ(test, 0, dafs_decode_direntries(&m->received, &entries));
		dafs_direntry_start(&m->received, &entries, &iter);
		while ((got = dafs_direntry_next(&m->received, &iter, entry)) > 0) {
			dafs_meta_see(seen, entry);
			args->cookie = entry->cookie;
		}
		KUNIT_ASSERT_EQ(test, 0, got);
	}
	kunit_kfree(test, entry);
	return status;
}

/* R-6.5.30-01: every entry once, with any layout of the buffers; the response has 56 bytes. */
static void dafs_meta_readdir_test(struct kunit *test)
{
	struct dafs_meta *m = dafs_meta(test);
	struct dafs_readdir_direct_res res;
	unsigned int calls = 0;

	dafs_meta_make_entries(test, m->fix);
	for (m->pieces = 1; m->pieces <= ARRAY_SIZE(m->bufs); m->pieces++) {
		struct dafs_readdir_args args = { .attr_request_bitmap = DAFS_FATTR_FILE_ID };
		struct dafs_meta_seen *seen = kunit_kzalloc(test, sizeof(*seen), GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, seen);
		m->size = 2000 + m->pieces;
		do {
			DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
					   dafs_meta_readdir(test, m, &args, &res, seen));
			KUNIT_EXPECT_EQ(test, 56, m->len);
		} while (!res.eof && ++calls < 100);
		dafs_meta_expect_all(test, seen);
	}
	KUNIT_EXPECT_GE(test, calls, 8);
}

/* E-27: the status depends on which limit is too small; an empty directory needs little. */
static void dafs_meta_readdir_small_test(struct kunit *test)
{
	struct dafs_meta *m = dafs_meta(test);
	struct dafs_readdir_direct_res res;
	struct dafs_readdir_args args = {};
	struct dafs_meta_seen seen = {};

	m->size = 8;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_meta_readdir(test, m, &args, &res, &seen));
	KUNIT_EXPECT_TRUE(test, res.eof);
	KUNIT_EXPECT_EQ(test, 0, seen.count);
	m->size = 3;
	DAFS_EXPECT_STATUS(test, DAFSERR_TOOSMALL, dafs_meta_readdir(test, m, &args, &res, &seen));
	dafs_backing_mkdir(test, m->fix, "entry.1", 0700);
	/* array head 8, entry 16, attributes 16, name 4 + 7 */
	m->size = 51;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_meta_readdir(test, m, &args, &res, &seen));
	KUNIT_EXPECT_TRUE(test, res.eof);
	KUNIT_EXPECT_EQ(test, 1, seen.count);
	args.cookie = 0;
	m->size = 50;
	DAFS_EXPECT_STATUS(test, DAFSERR_TOOSMALL, dafs_meta_readdir(test, m, &args, &res, &seen));
	m->size = META_SIZE;
	args.maxcount = 50;
	DAFS_EXPECT_STATUS(test, DAFSERR_READDIR_NOSPC,
			   dafs_meta_readdir(test, m, &args, &res, &seen));
	args.maxcount = 51;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_meta_readdir(test, m, &args, &res, &seen));
	args.cookie = 1;
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_COOKIE,
			   dafs_meta_readdir(test, m, &args, &res, &seen));
}

/* R-6.5.29-11: cookies are valid for both procedures; the two stubs alternate. */
static void dafs_meta_readdir_stub_test(struct kunit *test)
{
	struct dafs_meta *m = dafs_meta(test);
	struct dafs_meta_seen *seen = kunit_kzalloc(test, sizeof(*seen), GFP_KERNEL);
	struct dafs_client_params small = m->fix->params;
	struct dafs_readdir_pos pos = {};
	struct dafs_client *clnt;
	int turn = 0;

	KUNIT_ASSERT_NOT_NULL(test, seen);
	small.msg_size = DAFS_MIN_MSG_SIZE;
	clnt = dafs_fixture_client(test, &small);
	dafs_meta_make_entries(test, m->fix);
	while (!pos.eof && turn < 100) {
		if (turn++ & 1)
			KUNIT_ASSERT_EQ(test, 0, dafs_readdir(clnt, dafs_test_me(), &m->fix->dir, 0,
							      &pos, dafs_meta_see, seen));
		else
			KUNIT_ASSERT_EQ(test, 0,
					dafs_readdir_direct(clnt, dafs_test_me(), &m->fix->dir, 0,
							    m->data, 1000, &pos, dafs_meta_see,
							    seen));
	}
	dafs_meta_expect_all(test, seen);
	KUNIT_EXPECT_GT(test, turn, 4);
}

/* Entries that a reader with little room accepts, and the room that is left. */
struct dafs_meta_reader {
	struct dafs_meta_seen seen;
	int room;
};

static bool dafs_meta_see_some(void *priv, const struct dafs_direntry *entry)
{
	struct dafs_meta_reader *reader = priv;

	return reader->room-- > 0 && dafs_meta_see(&reader->seen, entry);
}

/* Entries that the reader refused are returned again, and the end is found. */
static void dafs_meta_readdir_rest_test(struct kunit *test)
{
	struct dafs_meta *m = dafs_meta(test);
	struct dafs_meta_reader *reader = kunit_kzalloc(test, sizeof(*reader), GFP_KERNEL);
	struct dafs_readdir_pos pos = {};
	int turns = 0;

	KUNIT_ASSERT_NOT_NULL(test, reader);
	dafs_meta_make_entries(test, m->fix);
	KUNIT_ASSERT_EQ(test, 0, dafs_readdir_direct(m->fix->clnt, dafs_test_me(), &m->fix->dir, 0,
						     m->data, m->size, &pos, dafs_meta_see_some,
						     reader));
	KUNIT_EXPECT_EQ(test, META_ENTRIES, pos.iter.left);
	while (pos.iter.left && ++turns < META_ENTRIES) {
		KUNIT_EXPECT_FALSE(test, pos.eof);
		reader->room = 7;
		KUNIT_ASSERT_EQ(test, 0, dafs_readdir_rest(&pos, dafs_meta_see_some, reader));
	}
	KUNIT_EXPECT_TRUE(test, pos.eof);
	KUNIT_EXPECT_EQ(test, DIV_ROUND_UP(META_ENTRIES, 7), turns);
	dafs_meta_expect_all(test, &reader->seen);
}

static struct kunit_case dafs_meta_cases[] = {
	KUNIT_CASE_PARAM(dafs_meta_getattr_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_meta_getattr_stub_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_meta_getattr_small_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_meta_readlink_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_meta_readlink_long_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_meta_setattr_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_meta_setattr_stub_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_meta_setattr_spoilt_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_meta_readdir_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_meta_readdir_small_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_meta_readdir_stub_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_meta_readdir_rest_test, dafs_flavours_gen),
	{}
};

static struct kunit_suite dafs_meta_suite = {
	.name = "dafs_meta",
	.test_cases = dafs_meta_cases,
};

kunit_test_suite(dafs_meta_suite);
