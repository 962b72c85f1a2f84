// SPDX-License-Identifier: GPL-2.0
/*
 * Each request that changes something, with its connection lost at each stage of it: before it was
 * sent, when it has arrived, when it was executed, and when it was answered.  It is executed once.
 */
#include <linux/slab.h>
#include <linux/dafs/fault.h>
#include <linux/dafs/stats.h>
#include "../lib/io_test.h"

/**
 * struct exactly - a request, and what it is about
 * @test: the test
 * @fix: where its file is
 * @clnt: a client that waits for its server
 * @file: the file, "data"
 * @open: it is open, by an open that is there before
 * @args: of the request
 * @mem: memory that the server reads, for one by RDMA
 * @data: what is there
 */
struct exactly {
	struct kunit *test;
	struct dafs_fixture *fix;
	struct dafs_client *clnt;
	struct dafs_fh file;
	struct dafs_open_res open;
	union dafs_args args;
	struct dafs_op_mem mem;
	char data[4];
};

static void exactly_create(struct exactly *e)
{
	e->args.create = (struct dafs_create_args){
		.filehandle = e->fix->dir,
		.component = dafs_test_str("new"),
		.obj_type = DAFS_TYPE_DIR,
	};
}

static void exactly_remove(struct exactly *e)
{
	e->args.remove = (struct dafs_remove_args){
		.filehandle = e->fix->dir,
		.target = dafs_test_str("file"),
	};
}

static void exactly_rename(struct exactly *e)
{
	e->args.rename = (struct dafs_rename_args){
		.sourcedir = e->fix->dir,
		.targetdir = e->fix->dir,
		.oldname = dafs_test_str("file"),
		.newname = dafs_test_str("new"),
	};
}

static void exactly_link(struct exactly *e)
{
	e->args.link = (struct dafs_link_args){
		.source_object = e->file,
		.destination_object = e->fix->dir,
		.newname = dafs_test_str("new"),
	};
}

static void exactly_append(struct exactly *e)
{
	e->args.append_inline = (struct dafs_append_inline_args){
		.filehandle = e->file,
		.byte_count = 4,
		.stable_how = DAFS_FILE_SYNC,
		.data = "more",
	};
}

static void exactly_write(struct exactly *e)
{
	e->args.write_inline = (struct dafs_write_inline_args){
		.filehandle = e->file,
		.offset = 4,
		.byte_count = 4,
		.stable_how = DAFS_FILE_SYNC,
		.data = "more",
	};
}

static void exactly_use_memory(struct exactly *e)
{
	memcpy(e->data, "more", sizeof(e->data));
	e->mem = (struct dafs_op_mem){
		.data = e->data,
		.size = sizeof(e->data),
		.dir = DMA_TO_DEVICE,
	};
}

static void exactly_append_direct(struct exactly *e)
{
	exactly_use_memory(e);
	e->args.append_direct = (struct dafs_append_direct_args){
		.filehandle = e->file,
		.stable_how = DAFS_FILE_SYNC,
		.byte_count = sizeof(e->data),
	};
}

static void exactly_write_direct(struct exactly *e)
{
	exactly_use_memory(e);
	e->args.write_direct = (struct dafs_write_direct_args){
		.filehandle = e->file,
		.offset = 4,
		.stable_how = DAFS_FILE_SYNC,
		.byte_count = sizeof(e->data),
	};
}

/* It is somewhere else in each attempt. */
static int exactly_describe(struct dafs_op *op, struct dafs_call *call)
{
	struct exactly *e = op->priv;

	if (op->proc == DAFS_PROC_APPEND_DIRECT)
		e->args.append_direct.write_data_buffer = e->mem.map.bufs[0];
	else
		e->args.write_direct.write_data_buffers = dafs_xfer_buffers(&e->mem.map);
	return 0;
}

static void exactly_setattr(struct exactly *e)
{
	e->args.setattr_inline = (struct dafs_setattr_inline_args){
		.filehandle = e->file,
		.obj_attributes = {
			.included = DAFS_FATTR_OBJECT_SIZE,
			.valid = DAFS_FATTR_OBJECT_SIZE,
			.object_size = 8,
		},
	};
}

static void exactly_open(struct exactly *e)
{
	static struct dafs_str name;

	name = dafs_test_str("file");
	e->args.open = dafs_test_open_args("second", DAFS_OPEN_SHARE_ACCESS_READ,
					   DAFS_OPEN_SHARE_DENY_NONE);
	e->args.open.dir_handle = e->fix->dir;
	e->args.open.pathname = (struct dafs_seq){ .count = 1, .elems = &name };
}

static void exactly_downgrade(struct exactly *e)
{
	e->args.open_downgrade = (struct dafs_open_downgrade_args){
		.filehandle = e->file,
		.state_id = e->open.state_id,
		.share_access = DAFS_OPEN_SHARE_ACCESS_READ,
	};
}

static void exactly_close(struct exactly *e)
{
	e->args.close = (struct dafs_close_args){
		.filehandle = e->file,
		.state_id = e->open.state_id,
	};
}

static void exactly_lock(struct exactly *e)
{
	e->args.lock = (struct dafs_lock_args){
		.filehandle = e->file,
		.lock_type = DAFS_WRITE_LT,
		.state_id = e->open.state_id,
		.length = 4,
	};
}

static void exactly_lockt(struct exactly *e)
{
	e->args.lockt = (struct dafs_lockt_args){
		.filehandle = e->file,
		.lock_type = DAFS_WRITE_LT,
		.owner = dafs_test_str("third"),
		.length = 4,
	};
}

static void exactly_unlock(struct exactly *e)
{
	exactly_lock(e);
	DAFS_ASSERT_STATUS(e->test, DAFS_STATUS_OK,
			   dafs_test_call(e->test, e->clnt, dafs_test_me(), DAFS_PROC_LOCK,
					  &e->args, NULL));
	e->args.locku = (struct dafs_locku_args){
		.filehandle = e->file,
		.lock_type = DAFS_WRITE_LT,
		.state_id = e->open.state_id,
		.length = 4,
	};
}

static void exactly_commit(struct exactly *e)
{
	e->args.commit = (struct dafs_commit_args){ .filehandle = e->file };
}

static void exactly_purge(struct exactly *e)
{
}

/*
 * What the client asks for by CHECK_RESPONSE; but for SETATTR_DIRECT, which it does not send,
 * DELEGRETURN, and what the server does not have.
 */
static const struct exactly_proc {
	u32 proc;
	void (*make)(struct exactly *e);
} exactly_procs[] = {
	{ DAFS_PROC_APPEND_DIRECT, exactly_append_direct },
	{ DAFS_PROC_APPEND_INLINE, exactly_append },
	{ DAFS_PROC_CLOSE, exactly_close },
	{ DAFS_PROC_COMMIT, exactly_commit },
	{ DAFS_PROC_CREATE, exactly_create },
	{ DAFS_PROC_DELEGPURGE, exactly_purge },
	{ DAFS_PROC_LINK, exactly_link },
	{ DAFS_PROC_LOCK, exactly_lock },
	{ DAFS_PROC_LOCKT, exactly_lockt },
	{ DAFS_PROC_LOCKU, exactly_unlock },
	{ DAFS_PROC_OPEN, exactly_open },
	{ DAFS_PROC_OPEN_DOWNGRADE, exactly_downgrade },
	{ DAFS_PROC_REMOVE, exactly_remove },
	{ DAFS_PROC_RENAME, exactly_rename },
	{ DAFS_PROC_SETATTR_INLINE, exactly_setattr },
	{ DAFS_PROC_WRITE_DIRECT, exactly_write_direct },
	{ DAFS_PROC_WRITE_INLINE, exactly_write },
};

static const enum dafs_fault exactly_stages[] = {
	DAFS_FAULT_SEND, DAFS_FAULT_ARRIVED, DAFS_FAULT_EXECUTED, DAFS_FAULT_ANSWERED,
};

static const char * const exactly_stage_names[] = { "not sent", "arrived", "executed", "answered" };

/* A parameter is the number of a procedure times the stages, and the number of one, from 1. */
static const void *exactly_gen(const void *prev, char *desc)
{
	unsigned long n = (unsigned long)prev, proc = n / ARRAY_SIZE(exactly_stages);

	if (proc == ARRAY_SIZE(exactly_procs))
		return NULL;
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s %s", dafs_proc_name(exactly_procs[proc].proc),
		 exactly_stage_names[n % ARRAY_SIZE(exactly_stages)]);
	return (void *)(n + 1);
}

static struct exactly *exactly_prepare_as(struct kunit *test, enum dafs_respcache respcache)
{
	struct dafs_open_args args = dafs_test_open_args("first", DAFS_OPEN_SHARE_ACCESS_BOTH,
							 DAFS_OPEN_SHARE_DENY_NONE);
	struct exactly *e = kunit_kzalloc(test, sizeof(*e), GFP_KERNEL);
	struct dafs_client_params params;

	KUNIT_ASSERT_NOT_NULL(test, e);
	e->test = test;
	e->fix = dafs_fixture(test, NULL);
	dafs_fixture_client_params(NULL, &params, "exactly %lx", (unsigned long)test->param_value);
	params.soft = false;
	params.respcache = respcache;
	e->clnt = dafs_fixture_client(test, &params);
	dafs_backing_write(test, e->fix, "file", "data", 4);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   dafs_test_open(test, e->clnt, dafs_test_me(), &e->fix->dir, "file",
					  &args, &e->open));
	e->file = e->open.filehandle;
	return e;
}

static struct exactly *exactly_prepare(struct kunit *test)
{
	return exactly_prepare_as(test, DAFS_RESPCACHE_VOLATILE);
}

static void exactly_expect(struct kunit *test, struct dafs_fixture *fix, const char *name,
			   bool there, u64 size)
{
	struct kstat stat;
	int err = dafs_backing_stat(fix, name, &stat);

	KUNIT_EXPECT_EQ_MSG(test, there ? 0 : -ENOENT, err, "%s", name);
	if (!err && size)
		KUNIT_EXPECT_EQ(test, size, stat.size);
}

/* What is there then; what was executed twice has failed, or has another size. */
static void exactly_result(struct exactly *e, u32 proc)
{
	bool makes = proc == DAFS_PROC_CREATE || proc == DAFS_PROC_LINK || proc == DAFS_PROC_RENAME;
	bool takes = proc == DAFS_PROC_REMOVE || proc == DAFS_PROC_RENAME;
	bool grows = proc == DAFS_PROC_APPEND_INLINE || proc == DAFS_PROC_APPEND_DIRECT ||
		     proc == DAFS_PROC_WRITE_INLINE || proc == DAFS_PROC_WRITE_DIRECT ||
		     proc == DAFS_PROC_SETATTR_INLINE;

	exactly_expect(e->test, e->fix, "new", makes, 0);
	exactly_expect(e->test, e->fix, "file", !takes, grows ? 8 : 4);
}

static u64 exactly_calls(struct exactly *e, u32 proc)
{
	u64 sums[DAFS_NR_STATS];

	dafs_stats_read(e->clnt->stats, proc, sums);
	return sums[DAFS_STAT_CALLS];
}

/*
 * R-5.1-03, R-4.3.4-01, R-5.2.5-01: the request succeeds, and has its effect once.  It is sent
 * again only if the server has not executed it.
 */
static void dafs_exactly_once_test(struct kunit *test)
{
	unsigned long n = (unsigned long)test->param_value - 1;
	const struct exactly_proc *p = &exactly_procs[n / ARRAY_SIZE(exactly_stages)];
	enum dafs_fault stage = exactly_stages[n % ARRAY_SIZE(exactly_stages)];
	struct exactly *e = exactly_prepare(test);
	struct dafs_op op = {
		.cred = dafs_test_me(),
		.proc = p->proc,
		.args = &e->args,
		.no_replay = true,
	};
	bool executed = stage == DAFS_FAULT_EXECUTED || stage == DAFS_FAULT_ANSWERED;
	u64 before;

	p->make(e);
	if (e->mem.data) {
		op.mem = &e->mem;
		op.prepare = exactly_describe;
		op.priv = e;
	}
	before = exactly_calls(e, p->proc);
	dafs_fault_once(stage, p->proc);
	KUNIT_EXPECT_EQ(test, 0, dafs_op_run(e->clnt, &op));
	KUNIT_EXPECT_TRUE(test, dafs_fault_happened(stage));
	dafs_op_end(&op);
	KUNIT_EXPECT_GE(test, executed ? 1 : 2, exactly_calls(e, p->proc) - before);
	exactly_result(e, p->proc);
}

static const enum dafs_fault exactly_seen[] = { DAFS_FAULT_ARRIVED, DAFS_FAULT_EXECUTED };

static void exactly_describe_seen(const enum dafs_fault *stage, char *desc)
{
	strscpy(desc, *stage == DAFS_FAULT_ARRIVED ? "arrived" : "executed",
		KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(exactly_seen, exactly_seen, exactly_describe_seen);

/* A client that does not ask sends nothing again that must not be executed twice. */
static void dafs_exactly_unasked_test(struct kunit *test)
{
	enum dafs_fault stage = *(const enum dafs_fault *)test->param_value;
	struct exactly *e = exactly_prepare_as(test, DAFS_RESPCACHE_NONE);
	struct dafs_op op = {
		.cred = dafs_test_me(),
		.proc = DAFS_PROC_APPEND_INLINE,
		.args = &e->args,
		.no_replay = true,
	};
	u64 before = exactly_calls(e, op.proc);

	exactly_append(e);
	dafs_fault_once(stage, op.proc);
	KUNIT_EXPECT_EQ(test, -EREMOTEIO, dafs_op_run(e->clnt, &op));
	KUNIT_EXPECT_TRUE(test, dafs_fault_happened(stage));
	dafs_op_end(&op);
	KUNIT_EXPECT_GE(test, 1, exactly_calls(e, op.proc) - before);
	exactly_expect(test, e->fix, "file", true, stage == DAFS_FAULT_EXECUTED ? 8 : 4);
}

static struct kunit_case exactly_cases[] = {
	KUNIT_CASE_PARAM(dafs_exactly_unasked_test, exactly_seen_gen_params),
	KUNIT_CASE_PARAM(dafs_exactly_once_test, exactly_gen),
	{}
};

static struct kunit_suite exactly_suite = {
	.name = "dafs_exactly",
	.test_cases = exactly_cases,
};

kunit_test_suite(exactly_suite);
