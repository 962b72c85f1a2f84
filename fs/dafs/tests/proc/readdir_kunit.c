// SPDX-License-Identifier: GPL-2.0
/* READDIR_INLINE: every entry once, for all sizes of the replies. */
#include <linux/bitmap.h>
#include <linux/kstrtox.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include "../lib/fixture.h"

/**
 * struct dafs_rd - a directory being read
 * @test: the test
 * @fix: its fixture
 * @cred: credentials of the reader
 * @args: the next request
 * @op: the last one
 * @res: its results
 * @entry: called for each entry, or NULL
 * @priv: for @entry
 * @seen: entries with a name of dafs_rd_name()
 * @total: entries in all replies
 * @count: entries of the last reply
 * @len: bytes of its results
 * @eof: the end of the directory was reached
 */
struct dafs_rd {
	struct kunit *test;
	struct dafs_fixture *fix;
	const struct cred *cred;
	struct dafs_readdir_args args;
	struct dafs_op op;
	struct dafs_readdir_inline_res res;
	void (*entry)(struct dafs_rd *rd, const struct dafs_direntry *entry);
	void *priv;
	unsigned long *seen;
	u32 total;
	u32 count;
	u32 len;
	bool eof;
};

#define DAFS_RD_MANY	2000

static struct dafs_rd *dafs_rd_alloc(struct kunit *test, struct dafs_fixture *fix, u64 bitmap)
{
	struct dafs_rd *rd = kunit_kzalloc(test, sizeof(*rd), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, rd);
	rd->seen = kunit_kcalloc(test, BITS_TO_LONGS(DAFS_RD_MANY), sizeof(long), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, rd->seen);
	rd->test = test;
	rd->fix = fix;
	rd->cred = dafs_test_me();
	rd->args.filehandle = fix->dir;
	rd->args.attr_request_bitmap = bitmap;
	return rd;
}

static void dafs_rd_rewind(struct dafs_rd *rd)
{
	rd->args.cookie = 0;
	memset(&rd->args.cookieverf, 0, sizeof(rd->args.cookieverf));
	bitmap_zero(rd->seen, DAFS_RD_MANY);
	rd->total = 0;
	rd->eof = false;
}

static bool dafs_rd_is(const struct dafs_direntry *entry, const char *name)
{
	return entry->name.len == strlen(name) && !memcmp(entry->name.data, name, strlen(name));
}

/* Name of entry @n of dafs_rd_fill(). */
static void dafs_rd_name(unsigned int n, char *name, size_t size)
{
	snprintf(name, size, "e%04u", n);
}

static void dafs_rd_fill(struct dafs_rd *rd, unsigned int nr)
{
	char name[8];

	while (nr--) {
		dafs_rd_name(nr, name, sizeof(name));
		dafs_backing_mknod(rd->test, rd->fix, name, S_IFREG | 0600, 0);
	}
}

static void dafs_rd_mark(struct dafs_rd *rd, const struct dafs_direntry *entry)
{
	char name[8] = {};
	unsigned int n;

	if (entry->name.len != 5 || entry->name.data[0] != 'e')
		return;
	memcpy(name, entry->name.data, 5);
	if (kstrtouint(name + 1, 10, &n) || n >= DAFS_RD_MANY)
		return;
	KUNIT_EXPECT_FALSE_MSG(rd->test, test_bit(n, rd->seen), "%s twice", name);
	__set_bit(n, rd->seen);
}

/* R-6.5.29-02 R-6.5.29-03 R-6.5.29-09: checks that apply to every entry. */
static void dafs_rd_take(struct dafs_rd *rd, const struct dafs_direntry *entry)
{
	KUNIT_EXPECT_GT(rd->test, entry->cookie, 2);
	KUNIT_EXPECT_GT(rd->test, entry->name.len, 0);
	KUNIT_EXPECT_FALSE(rd->test, dafs_rd_is(entry, "."));
	KUNIT_EXPECT_FALSE(rd->test, dafs_rd_is(entry, ".."));
	KUNIT_EXPECT_EQ(rd->test, rd->args.attr_request_bitmap & DAFS_FATTR_ALL,
			entry->attrs.included);
	dafs_rd_mark(rd, entry);
	if (rd->entry)
		rd->entry(rd, entry);
	rd->args.cookie = entry->cookie;
	rd->total++;
}

static void dafs_rd_take_all(struct dafs_rd *rd)
{
	struct dafs_direntry_iter iter;
	struct dafs_direntry entry;
	int got;

	rd->len = rd->op.call->hdr.len - DAFS_HDR_SIZE;
	rd->eof = rd->res.eof;
	rd->count = rd->res.entries.count;
	rd->args.cookieverf = rd->res.cookieverf;
	dafs_direntry_start(&rd->op.call->buf, &rd->res.entries, &iter);
	while ((got = dafs_direntry_next(&rd->op.call->buf, &iter, &entry)) > 0)
		dafs_rd_take(rd, &entry);
	KUNIT_EXPECT_EQ(rd->test, 0, got);
	/* E-27: an empty reply without EOF would make the client loop */
	KUNIT_EXPECT_TRUE(rd->test, rd->count || rd->eof);
}

static void dafs_rd_end_op(void *op)
{
	dafs_op_end(op);
}

/*
 * One request; prepares rd->args for the next one. rd->entry may end the test,
 * so an action of the test frees the response.
 */
static dafs_status_t dafs_rd_page(struct dafs_rd *rd)
{
	dafs_status_t status;

	memset(&rd->res, 0, sizeof(rd->res));
	rd->op = (struct dafs_op) {
		.cred = rd->cred,
		.proc = DAFS_PROC_READDIR_INLINE,
		.args = &rd->args,
		.res = &rd->res,
	};
	status = dafs_test_op(rd->test, rd->fix->clnt, &rd->op);
	rd->count = 0;
	KUNIT_ASSERT_EQ(rd->test, 0, kunit_add_action_or_reset(rd->test, dafs_rd_end_op, &rd->op));
	if (!status && rd->op.call)
		dafs_rd_take_all(rd);
	kunit_release_action(rd->test, dafs_rd_end_op, &rd->op);
	return status;
}

/* All entries from rd->args.cookie on. */
static void dafs_rd_rest(struct dafs_rd *rd)
{
	unsigned int pages;

	for (pages = 0; !rd->eof && pages < 2 * DAFS_RD_MANY; pages++) {
		DAFS_ASSERT_STATUS(rd->test, DAFS_STATUS_OK, dafs_rd_page(rd));
		if (rd->args.maxcount)
			KUNIT_EXPECT_LE(rd->test, rd->len, rd->args.maxcount);
	}
	KUNIT_EXPECT_TRUE(rd->test, rd->eof);
}

static void dafs_rd_all(struct dafs_rd *rd)
{
	dafs_rd_rewind(rd);
	dafs_rd_rest(rd);
}

static void dafs_rd_expect_marked(struct dafs_rd *rd, unsigned int nr)
{
	KUNIT_EXPECT_EQ(rd->test, nr, bitmap_weight(rd->seen, DAFS_RD_MANY));
	KUNIT_EXPECT_EQ(rd->test, nr, find_first_zero_bit(rd->seen, DAFS_RD_MANY));
}

static void dafs_rd_check_attrs(struct dafs_rd *rd, const struct dafs_direntry *entry)
{
	const struct dafs_fattr *attr = &entry->attrs;
	char name[16] = {}, owner[16] = {};
	struct dafs_fh fh;
	struct kstat stat;

	KUNIT_ASSERT_LT(rd->test, entry->name.len, sizeof(name));
	memcpy(name, entry->name.data, entry->name.len);
	fh = dafs_test_lookup(rd->test, rd->fix, name);
	KUNIT_ASSERT_EQ(rd->test, 0, dafs_backing_stat(rd->fix, name, &stat));
	KUNIT_EXPECT_EQ(rd->test, stat.ino, attr->file_id);
	KUNIT_EXPECT_EQ(rd->test, stat.mode & 07777, attr->mode);
	KUNIT_EXPECT_EQ(rd->test, stat.size, attr->object_size);
	KUNIT_EXPECT_EQ(rd->test, stat.nlink, attr->num_links);
	KUNIT_EXPECT_EQ(rd->test, stat.mtime.tv_sec, attr->time_modify.seconds);
	KUNIT_EXPECT_EQ(rd->test, stat.mtime.tv_nsec, attr->time_modify.nseconds);
	KUNIT_EXPECT_MEMEQ(rd->test, &fh, &attr->filehandle, sizeof(fh));
	KUNIT_EXPECT_EQ(rd->test, 0, attr->valid & ~attr->included);
	KUNIT_ASSERT_LT(rd->test, attr->owner.len, sizeof(owner));
	memcpy(owner, attr->owner.data, attr->owner.len);
	KUNIT_EXPECT_STREQ(rd->test, "0", owner);
}

/* R-6.5.29-01 R-6.5.29-03 R-6.5.29-09: names, and the attributes that stat() returns. */
static void dafs_readdir_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_rd *rd = dafs_rd_alloc(test, fix, DAFS_FATTR_ALL);

	dafs_rd_fill(rd, 20);
	dafs_backing_mkdir(test, fix, "dir", 0751);
	dafs_backing_symlink(test, fix, "link", "e0000");
	dafs_backing_mknod(test, fix, "fifo", S_IFIFO | 0600, 0);
	dafs_backing_write(test, fix, "data", "data", 4);
	dafs_backing_link(test, fix, "data", "more");
	rd->entry = dafs_rd_check_attrs;
	dafs_rd_all(rd);
	KUNIT_EXPECT_EQ(test, 25, rd->total);
	dafs_rd_expect_marked(rd, 20);
	rd->entry = NULL;
	rd->args.attr_request_bitmap = 0;
	dafs_rd_all(rd);
	KUNIT_EXPECT_EQ(test, 25, rd->total);
	rd->args.attr_request_bitmap = U64_MAX;
	dafs_rd_all(rd);
	KUNIT_EXPECT_EQ(test, 25, rd->total);
}

static void dafs_rd_check_id(struct dafs_rd *rd, const struct dafs_direntry *entry)
{
	struct xarray *ids = rd->priv;

	KUNIT_EXPECT_EQ(rd->test, 0, xa_insert(ids, entry->attrs.file_id, xa_mk_value(1),
					       GFP_KERNEL));
}

static void dafs_rd_free_ids(void *ids)
{
	xa_destroy(ids);
}

/*
 * R-6.1.5-12 R-6.5.29-01: 2,000 entries, in replies of maximum size and in
 * small ones; each file has a unique id.
 */
static void dafs_readdir_many_test(struct kunit *test)
{
	static const u32 maxcounts[] = { 0, 4096, 333 };
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_rd *rd = dafs_rd_alloc(test, fix, DAFS_FATTR_FILE_ID);
	struct xarray *ids = kunit_kzalloc(test, sizeof(*ids), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, ids);
	xa_init(ids);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, dafs_rd_free_ids, ids));
	dafs_rd_fill(rd, DAFS_RD_MANY);
	for (i = 0; i < ARRAY_SIZE(maxcounts); i++) {
		rd->args.maxcount = maxcounts[i];
		dafs_rd_all(rd);
		KUNIT_EXPECT_EQ(test, DAFS_RD_MANY, rd->total);
		dafs_rd_expect_marked(rd, DAFS_RD_MANY);
	}
	rd->args.maxcount = 0;
	rd->entry = dafs_rd_check_id;
	rd->priv = ids;
	dafs_rd_all(rd);
}

/* The cookies of a directory in the order in which they are returned. */
struct dafs_rd_cookies {
	u64 cookie[64];
	unsigned int nr;
};

static void dafs_rd_keep_cookie(struct dafs_rd *rd, const struct dafs_direntry *entry)
{
	struct dafs_rd_cookies *list = rd->priv;

	if (list->nr < ARRAY_SIZE(list->cookie))
		list->cookie[list->nr++] = entry->cookie;
}

/* R-6.5.29-01: reading resumes at each cookie, also in a new session. */
static void dafs_readdir_resume_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_rd *rd = dafs_rd_alloc(test, fix, DAFS_FATTR_OBJECT_TYPE);
	struct dafs_rd_cookies list = {};
	unsigned int i;

	dafs_rd_fill(rd, 30);
	rd->entry = dafs_rd_keep_cookie;
	rd->priv = &list;
	dafs_rd_all(rd);
	KUNIT_EXPECT_EQ(test, 30, list.nr);
	rd->entry = NULL;
	fix->clnt = dafs_fixture_client(test, &fix->params);
	for (i = 0; i < list.nr; i++) {
		dafs_rd_rewind(rd);
		rd->args.cookie = list.cookie[i];
		dafs_rd_rest(rd);
		KUNIT_EXPECT_EQ(test, 29 - i, rd->total);
		KUNIT_EXPECT_EQ(test, list.cookie[29], rd->args.cookie);
	}
}

/* One reply to a request with @maxcount, from the beginning. */
static dafs_status_t dafs_rd_first(struct dafs_rd *rd, u32 maxcount)
{
	dafs_rd_rewind(rd);
	rd->args.maxcount = maxcount;
	return dafs_rd_page(rd);
}

/* R-6.5.29-06 R-6.5.29-07: no reply exceeds maxcount, and replies are as large as it allows. */
static void dafs_readdir_maxcount_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_rd *rd = dafs_rd_alloc(test, fix, DAFS_FATTR_OWNER | DAFS_FATTR_FILE_ID);
	u32 full, max, last = 0;

	dafs_rd_fill(rd, 5);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, dafs_rd_first(rd, 0));
	KUNIT_EXPECT_EQ(test, 5, rd->count);
	KUNIT_EXPECT_TRUE(test, rd->eof);
	full = rd->len;
	for (max = 1; max <= full; max++) {
		dafs_status_t status = dafs_rd_first(rd, max);

		if (status) {
			DAFS_EXPECT_STATUS(test, DAFSERR_READDIR_NOSPC, status);
			KUNIT_EXPECT_EQ(test, 0, last);
			continue;
		}
		KUNIT_EXPECT_LE(test, rd->len, max);
		KUNIT_EXPECT_GE(test, rd->count, last);
		KUNIT_EXPECT_EQ(test, max == full, rd->count == 5);
		KUNIT_EXPECT_EQ(test, max == full, rd->eof);
		last = rd->count;
	}
	KUNIT_EXPECT_EQ(test, 5, last);
	DAFS_EXPECT_STATUS(test, DAFSERR_READDIR_NOSPC, dafs_rd_first(rd, 16));
}

/* A session with the smallest responses: they are used to the limit. */
static void dafs_readdir_small_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_rd *rd = dafs_rd_alloc(test, fix, DAFS_FATTR_ALL);

	dafs_rd_fill(rd, 40);
	fix->params.msg_size = DAFS_MIN_MSG_SIZE;
	fix->clnt = dafs_fixture_client(test, &fix->params);
	while (!rd->eof) {
		DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, dafs_rd_page(rd));
		KUNIT_EXPECT_LE(test, rd->len + DAFS_HDR_SIZE, DAFS_MIN_MSG_SIZE);
		KUNIT_EXPECT_GE(test, rd->count, 2);
	}
	dafs_rd_expect_marked(rd, 40);
}

/* R-6.5.29-08: dircount is a hint, at least one entry is returned; 0 means no hint. */
static void dafs_readdir_dircount_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_rd *rd = dafs_rd_alloc(test, fix, 0);

	dafs_rd_fill(rd, 10);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, dafs_rd_first(rd, 0));
	KUNIT_EXPECT_EQ(test, 10, rd->count);
	rd->args.dircount = 1;
	dafs_rd_all(rd);
	dafs_rd_expect_marked(rd, 10);
	rd->args.dircount = 3 * (8 + 4 + 5);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, dafs_rd_first(rd, 0));
	KUNIT_EXPECT_EQ(test, 3, rd->count);
	KUNIT_EXPECT_FALSE(test, rd->eof);
	rd->args.dircount = U32_MAX;
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, dafs_rd_first(rd, 0));
	KUNIT_EXPECT_EQ(test, 10, rd->count);
}

/* An empty directory, one entry, and the position behind the last entry. */
static void dafs_readdir_eof_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_rd *rd = dafs_rd_alloc(test, fix, 0);

	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_rd_first(rd, 0));
	KUNIT_EXPECT_EQ(test, 0, rd->count);
	KUNIT_EXPECT_TRUE(test, rd->eof);
	dafs_rd_fill(rd, 1);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_rd_first(rd, 0));
	KUNIT_EXPECT_EQ(test, 1, rd->count);
	KUNIT_EXPECT_TRUE(test, rd->eof);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_rd_page(rd));
	KUNIT_EXPECT_EQ(test, 0, rd->count);
	KUNIT_EXPECT_TRUE(test, rd->eof);
}

static void dafs_rd_check_long(struct dafs_rd *rd, const struct dafs_direntry *entry)
{
	const char *last = rd->priv;

	KUNIT_EXPECT_EQ(rd->test, NAME_MAX, entry->name.len);
	KUNIT_EXPECT_MEMEQ(rd->test, last, entry->name.data, NAME_MAX - 1);
}

/* Names of maximum length. */
static void dafs_readdir_long_names_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_rd *rd = dafs_rd_alloc(test, fix, DAFS_FATTR_FILEHANDLE);
	char *name = kunit_kzalloc(test, NAME_MAX + 1, GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, name);
	memset(name, 'n', NAME_MAX);
	for (i = 0; i < 50; i++) {
		name[NAME_MAX - 1] = 'A' + i;
		dafs_backing_mknod(test, fix, name, S_IFREG | 0600, 0);
	}
	rd->entry = dafs_rd_check_long;
	rd->priv = name;
	dafs_rd_all(rd);
	KUNIT_EXPECT_EQ(test, 50, rd->total);
	rd->args.maxcount = 16 + 8 + 16 + 80 + 4 + NAME_MAX;
	dafs_rd_all(rd);
	KUNIT_EXPECT_EQ(test, 50, rd->total);
	KUNIT_EXPECT_EQ(test, rd->args.maxcount, rd->len);
	rd->args.maxcount--;
	DAFS_EXPECT_STATUS(test, DAFSERR_READDIR_NOSPC, dafs_rd_first(rd, rd->args.maxcount));
}

static void dafs_rd_remove_next(struct dafs_rd *rd, const struct dafs_direntry *entry)
{
	char name[8] = {};

	memcpy(name, entry->name.data, min(entry->name.len, 5U));
	dafs_backing_remove(rd->fix, name);
}

/* No entry is skipped if they are removed while the directory is read (as rm -r does). */
static void dafs_readdir_removing_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_rd *rd = dafs_rd_alloc(test, fix, DAFS_FATTR_OBJECT_TYPE);

	dafs_rd_fill(rd, 200);
	rd->entry = dafs_rd_remove_next;
	rd->args.maxcount = 500;
	dafs_rd_all(rd);
	dafs_rd_expect_marked(rd, 200);
	rd->entry = NULL;
	dafs_rd_all(rd);
	KUNIT_EXPECT_EQ(test, 0, rd->total);
}

/* R-6.5.29-05 and cookies that were never returned. */
static void dafs_readdir_cookie_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_rd *rd = dafs_rd_alloc(test, fix, 0);
	dafs_status_t status;

	dafs_rd_fill(rd, 10);
	rd->args.cookie = 1;
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_COOKIE, dafs_rd_page(rd));
	rd->args.cookie = 2;
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_COOKIE, dafs_rd_page(rd));
	rd->args.cookie = U64_MAX;
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_COOKIE, dafs_rd_page(rd));
	rd->args.dircount = 1;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_rd_first(rd, 0));
	KUNIT_EXPECT_EQ(test, 1, rd->count);
	rd->args.dircount = 0;
	rd->args.cookieverf.b[3] ^= 0x10;
	status = dafs_rd_page(rd);
	if (status)
		DAFS_EXPECT_STATUS(test, DAFSERR_BAD_COOKIE, status);
	else
		dafs_rd_expect_marked(rd, 10);
}

/* R-6.5.29-12: objects that are not directories, and removed directories. */
static void dafs_readdir_not_dir_test(struct kunit *test)
{
	static const char *const names[] = { "file", "link", "fifo" };
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_rd *rd = dafs_rd_alloc(test, fix, 0);
	int i;

	dafs_backing_write(test, fix, "file", "x", 1);
	dafs_backing_symlink(test, fix, "link", ".");
	dafs_backing_mknod(test, fix, "fifo", S_IFIFO | 0600, 0);
	dafs_backing_mkdir(test, fix, "dir", 0700);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		rd->args.filehandle = dafs_test_lookup(test, fix, names[i]);
		DAFS_EXPECT_STATUS(test, DAFSERR_NOTDIR, dafs_rd_page(rd));
	}
	rd->args.filehandle = dafs_test_lookup(test, fix, "dir");
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_rd_page(rd));
	dafs_backing_remove(fix, "dir");
	DAFS_EXPECT_STATUS(test, DAFSERR_STALE, dafs_rd_page(rd));
}

static void dafs_rd_check_no_attrs(struct dafs_rd *rd, const struct dafs_direntry *entry)
{
	KUNIT_EXPECT_EQ(rd->test, 0, entry->attrs.valid);
}

/* R-6.5.29-10: without search permission only the names are returned. */
static void dafs_readdir_access_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_rd *rd = dafs_rd_alloc(test, fix, DAFS_FATTR_MODE | DAFS_FATTR_OWNER);

	dafs_backing_mkdir(test, fix, "dir", 0711);
	dafs_backing_write(test, fix, "dir/e0000", "x", 1);
	dafs_backing_write(test, fix, "dir/e0001", "x", 1);
	rd->args.filehandle = dafs_test_lookup(test, fix, "dir");
	rd->cred = dafs_fixture_user(test, 1000, 1000);
	DAFS_EXPECT_STATUS(test, DAFSERR_ACCES, dafs_rd_page(rd));
	dafs_backing_chmod(test, fix, "dir", 0744);
	rd->entry = dafs_rd_check_no_attrs;
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, dafs_rd_page(rd));
	dafs_rd_expect_marked(rd, 2);
}

static void dafs_rd_check_export(struct dafs_rd *rd, const struct dafs_direntry *entry)
{
	struct dafs_fh *root = rd->priv, fh = {};

	KUNIT_EXPECT_EQ(rd->test, 0, dafs_lookup_path(rd->fix->clnt, dafs_test_me(), root,
						      &entry->name, 1, &fh));
	KUNIT_EXPECT_MEMEQ(rd->test, &fh, &entry->attrs.filehandle, sizeof(fh));
	KUNIT_EXPECT_EQ(rd->test, DAFS_TYPE_DIR, entry->attrs.object_type);
}

/* R-4.1.4-02: the pseudo root contains the exports and is read like a directory. */
static void dafs_readdir_root_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_rd *rd = dafs_rd_alloc(test, fix,
					   DAFS_FATTR_OBJECT_TYPE | DAFS_FATTR_FILEHANDLE);
	struct dafs_fh root;
	u32 all;

	KUNIT_ASSERT_EQ(test, 0, dafs_get_root_handle(fix->clnt, dafs_test_me(), &root));
	rd->args.filehandle = root;
	rd->entry = dafs_rd_check_export;
	rd->priv = &root;
	dafs_rd_all(rd);
	all = rd->total;
	KUNIT_EXPECT_GE(test, all, 3);
	rd->args.dircount = 1;
	dafs_rd_all(rd);
	KUNIT_EXPECT_EQ(test, all, rd->total);
	rd->args.dircount = 0;
	DAFS_EXPECT_STATUS(test, DAFSERR_READDIR_NOSPC, dafs_rd_first(rd, 16));
	rd->args.cookie = 2;
	DAFS_EXPECT_STATUS(test, DAFSERR_BAD_COOKIE, dafs_rd_page(rd));
}

static void dafs_rd_check_crossing(struct dafs_rd *rd, const struct dafs_direntry *entry)
{
	struct dafs_fh *ro = rd->priv;

	if (dafs_rd_is(entry, "ro"))
		KUNIT_EXPECT_MEMEQ(rd->test, ro, &entry->attrs.filehandle, sizeof(*ro));
	else
		KUNIT_EXPECT_MEMEQ(rd->test, rd->fix->export.fshandle,
				   entry->attrs.filehandle.fshandle, DAFS_FSHANDLE_SIZE);
}

/* READDIR returns the same attributes of a mount point as LOOKUP. */
static void dafs_readdir_crossing_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_rd *rd = dafs_rd_alloc(test, fix, DAFS_FATTR_FILEHANDLE);
	struct dafs_str name = dafs_test_str("ro");
	struct dafs_fh root, ro;

	KUNIT_ASSERT_TRUE_MSG(test, dafs_fixture_nested(),
			      "the read-only export is not mounted in the writable one");
	KUNIT_ASSERT_EQ(test, 0, dafs_get_root_handle(fix->clnt, dafs_test_me(), &root));
	KUNIT_ASSERT_EQ(test, 0, dafs_lookup_path(fix->clnt, dafs_test_me(), &root, &name, 1, &ro));
	rd->args.filehandle = fix->export;
	rd->entry = dafs_rd_check_crossing;
	rd->priv = &ro;
	dafs_rd_all(rd);
	KUNIT_EXPECT_GE(test, rd->total, 2);
}

static bool dafs_rd_seven(void *priv, const struct dafs_direntry *entry)
{
	unsigned int *seen = priv;

	if (*seen % 8 == 7) {
		*seen += 1;
		return false;
	}
	*seen += 1;
	return true;
}

/* The client's READDIR loop, with an actor that stops several times. */
static void dafs_readdir_stub_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct dafs_rd *rd = dafs_rd_alloc(test, fix, 0);
	struct dafs_readdir_pos pos = {};
	unsigned int seen = 0, calls = 0;

	dafs_rd_fill(rd, 21);
	do {
		KUNIT_ASSERT_EQ(test, 0, dafs_readdir(fix->clnt, dafs_test_me(), &fix->dir,
						      DAFS_FATTR_FILE_ID, &pos, dafs_rd_seven,
						      &seen));
	} while (!pos.eof && ++calls < 10);
	/* it stopped before entries 8 and 15, which are returned again */
	KUNIT_EXPECT_EQ(test, 21 + 2, seen);
	KUNIT_EXPECT_EQ(test, 2, calls);
}

static struct kunit_case dafs_readdir_cases[] = {
	KUNIT_CASE_PARAM(dafs_readdir_test, dafs_flavours_gen),
	KUNIT_CASE_SLOW(dafs_readdir_many_test),
	KUNIT_CASE_PARAM(dafs_readdir_resume_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_readdir_maxcount_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_readdir_small_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_readdir_dircount_test),
	KUNIT_CASE_PARAM(dafs_readdir_eof_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_readdir_long_names_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_readdir_removing_test),
	KUNIT_CASE(dafs_readdir_cookie_test),
	KUNIT_CASE(dafs_readdir_not_dir_test),
	KUNIT_CASE(dafs_readdir_access_test),
	KUNIT_CASE_PARAM(dafs_readdir_root_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_readdir_crossing_test),
	KUNIT_CASE_PARAM(dafs_readdir_stub_test, dafs_flavours_gen),
	{}
};

static struct kunit_suite dafs_readdir_suite = {
	.name = "dafs_readdir",
	.test_cases = dafs_readdir_cases,
};

kunit_test_suite(dafs_readdir_suite);
