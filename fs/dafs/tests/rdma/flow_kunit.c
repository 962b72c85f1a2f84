// SPDX-License-Identifier: GPL-2.0
/*
 * Flow control (3.2.6) and streams (5.2): the client with a server that
 * controls its answers, and the server with a client that uses all its credits
 * at once.
 */
#include <linux/kthread.h>
#include <linux/prandom.h>
#include <linux/slab.h>
#include "../../../../drivers/dafsd/session/conn.h"
#include "../../../../drivers/dafsd/session/session.h"
#include "../../rpc/rpc_impl.h"
#include "../lib/raw.h"

/* The client's side. */

#define FLOW_CALLERS	24
#define FLOW_SLOTS	16

/**
 * struct flow_held - a request not yet answered
 * @conn: where it came from
 * @hdr: its header
 */
struct flow_held {
	struct raw_conn *conn;
	struct dafs_req_hdr hdr;
};

/**
 * struct flow - what the server holds back
 * @test: the test
 * @srv: the server
 * @clnt: client with it
 * @lock: guards all members below
 * @held: NULLs not yet answered, in order of arrival
 * @nr: how many
 * @window: maximum of @nr
 * @arrived: number of NULLs so far
 * @seq: next seq_number of each stream
 * @known: streams with a seq_number known
 * @wait: woken by each arrival
 * @desired: desired_nreq of the latest
 * @stuck: only NULLs are answered, at once
 */
struct flow {
	struct kunit *test;
	struct raw_server *srv;
	struct dafs_client *clnt;
	spinlock_t lock;	/* see above */
	struct flow_held held[FLOW_CALLERS];
	unsigned int nr;
	unsigned int window;
	unsigned int arrived;
	u16 seq[FLOW_SLOTS];
	DECLARE_BITMAP(known, FLOW_SLOTS);
	wait_queue_head_t wait;
	u16 desired;
	bool stuck;
};

static bool flow_stream_busy(const struct flow *flow, u16 stream)
{
	unsigned int i;

	for (i = 0; i < flow->nr; i++)
		if (flow->held[i].hdr.stream_id == stream)
			return true;
	return false;
}

/* Checks each request that the server receives. */
static void flow_check(struct flow *flow, const struct dafs_req_hdr *hdr)
{
	struct kunit *test = flow->test;
	u16 stream = hdr->stream_id;

	KUNIT_EXPECT_LT(test, flow->nr, flow->window);
	KUNIT_EXPECT_LT(test, stream, flow->window);
	KUNIT_EXPECT_FALSE(test, flow_stream_busy(flow, stream));
	if (stream >= FLOW_SLOTS)
		return;
	if (test_bit(stream, flow->known))
		KUNIT_EXPECT_EQ(test, flow->seq[stream], hdr->seq_number);
	__set_bit(stream, flow->known);
	flow->seq[stream] = hdr->seq_number + 1;
}

/* Grants what the client asks for, up to the window. */
static void flow_answer_null(struct flow *flow, struct raw_conn *conn,
			     const struct dafs_req_hdr *hdr)
{
	u16 target = min_t(u32, hdr->desired_nreq, flow->srv->opts.max_requests);

	spin_lock(&flow->lock);
	flow_check(flow, hdr);
	flow->window = max_t(unsigned int, flow->window - 1, target);
	spin_unlock(&flow->lock);
	raw_answer(conn, hdr, DAFS_STATUS_OK, target, NULL);
}

static void flow_request(struct raw_conn *conn, struct raw_msg *msg)
{
	struct flow *flow = conn->srv->priv;
	struct dafs_req_hdr hdr;

	KUNIT_EXPECT_EQ(flow->test, 0, raw_get_hdr(conn, msg, &hdr));
	if (raw_serve_setup(conn, msg, &hdr))
		return;
	if (READ_ONCE(flow->stuck) && hdr.procedure == DAFS_PROC_NULL) {
		flow_answer_null(flow, conn, &hdr);
		return;
	}
	spin_lock(&flow->lock);
	flow_check(flow, &hdr);
	flow->arrived++;
	flow->desired = hdr.desired_nreq;
	if (flow->nr < FLOW_CALLERS)
		flow->held[flow->nr++] = (struct flow_held) { conn, hdr };
	spin_unlock(&flow->lock);
	wake_up_all(&flow->wait);
}

/* Answers held request @nth; then the client's window is as in 3.2.6.4.2. */
static void flow_answer(struct flow *flow, unsigned int nth, u16 target)
{
	struct flow_held held;

	spin_lock(&flow->lock);
	held = flow->held[nth];
	flow->nr--;
	memmove(&flow->held[nth], &flow->held[nth + 1], (flow->nr - nth) * sizeof(held));
	flow->window = max_t(unsigned int, flow->window - 1, max_t(u16, target, 1));
	spin_unlock(&flow->lock);
	raw_answer(held.conn, &held.hdr, DAFS_STATUS_OK, target, NULL);
}

/* Answers the held request on @stream, which must exist. */
static void flow_answer_stream(struct flow *flow, u16 stream, u16 target)
{
	unsigned int i;

	for (i = 0; i < flow->nr; i++) {
		if (flow->held[i].hdr.stream_id == stream) {
			flow_answer(flow, i, target);
			return;
		}
	}
	KUNIT_FAIL(flow->test, "no request on stream %u", stream);
}

/* Waits until @nr are held, and a moment longer to detect one too many. */
static void flow_expect_held(struct flow *flow, unsigned int nr)
{
	wait_event_timeout(flow->wait, READ_ONCE(flow->nr) >= nr, msecs_to_jiffies(RAW_WAIT_MS));
	schedule_timeout_uninterruptible(msecs_to_jiffies(30));
	KUNIT_EXPECT_EQ(flow->test, nr, READ_ONCE(flow->nr));
}

struct flow_load;

struct flow_caller {
	struct work_struct work;
	struct flow_load *load;
	int err;
};

/**
 * struct flow_load - concurrent callers
 * @wq: where they run
 * @clnt: client that they use
 * @proc: the procedure they call
 * @ended: number that have returned
 * @caller: the callers
 */
struct flow_load {
	struct workqueue_struct *wq;
	struct dafs_client *clnt;
	u32 proc;
	atomic_t ended;
	struct flow_caller caller[FLOW_CALLERS];
};

static void flow_call(struct work_struct *work)
{
	struct flow_caller *caller = container_of(work, struct flow_caller, work);
	struct flow_load *load = caller->load;
	struct dafs_op op = { .proc = load->proc };

	caller->err = dafs_op_run(load->clnt, &op);
	dafs_op_end(&op);
	atomic_inc(&load->ended);
}

static void flow_load_end(void *p)
{
	struct flow_load *load = p;

	destroy_workqueue(load->wq);
	kfree(load);
}

static struct flow_load *flow_load_by(struct kunit *test, struct dafs_client *clnt,
				      unsigned int nr, u32 proc)
{
	struct flow_load *load = kzalloc(sizeof(*load), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, load);
	load->clnt = clnt;
	load->proc = proc;
	load->wq = alloc_workqueue("dafs_flow", WQ_UNBOUND, FLOW_CALLERS);
	if (!load->wq) {
		kfree(load);
		KUNIT_FAIL_AND_ABORT(test, "no workqueue");
	}
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, flow_load_end, load));
	for (i = 0; i < nr; i++) {
		load->caller[i].load = load;
		INIT_WORK(&load->caller[i].work, flow_call);
		queue_work(load->wq, &load->caller[i].work);
	}
	return load;
}

static struct flow_load *flow_load(struct kunit *test, struct dafs_client *clnt, unsigned int nr)
{
	return flow_load_by(test, clnt, nr, DAFS_PROC_NULL);
}

static void flow_drain(struct flow *flow, struct flow_load *load, unsigned int nr)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	unsigned int i;

	while (atomic_read(&load->ended) < nr || flow->nr) {
		if (!wait_event_timeout(flow->wait, READ_ONCE(flow->nr), HZ / 10) &&
		    time_after(jiffies, end))
			break;
		if (flow->nr)
			flow_answer(flow, 0, flow->srv->opts.max_requests);
	}
	flush_workqueue(load->wq);
	for (i = 0; i < nr; i++)
		KUNIT_EXPECT_EQ(flow->test, 0, load->caller[i].err);
}

/* When the test gives up, answer everything, so that no caller waits for ever. */
static void flow_end(void *p)
{
	struct flow *flow = p;

	dafs_client_shutdown(flow->clnt);
}

/* A client that may ask for more credits. */
static struct flow *flow_new_asking(struct kunit *test, u16 nreq)
{
	struct flow *flow = kunit_kzalloc(test, sizeof(*flow), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, flow);
	flow->test = test;
	flow->window = nreq;
	spin_lock_init(&flow->lock);
	init_waitqueue_head(&flow->wait);
	flow->srv = raw_server(test);
	flow->srv->priv = flow;
	flow->srv->request = flow_request;
	flow->srv->opts.max_requests = nreq;
	flow->srv->params.max_requests = FLOW_SLOTS;
	flow->clnt = dafs_fixture_client(test, &flow->srv->params);
	return flow;
}

static void flow_desire(struct flow *flow, u16 nreq)
{
	struct dafs_conn *conn = dafs_conn_get(flow->clnt);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(flow->test, conn);
	dafs_requester_desire(conn->rq, nreq);
	dafs_conn_put(conn);
}

/* A client that does not ask for more credits. */
static struct flow *flow_new(struct kunit *test, u16 nreq)
{
	struct flow *flow = flow_new_asking(test, nreq);

	flow_desire(flow, 0);
	return flow;
}

/* R-2.4-02 R-3.2.6.3-10 R-3.2.6.3-11 R-6.1.2-04 R-6.1.2-05 R-5.2.1-04 R-5.2.1-06 R-6.1.2-06 */
static void dafs_flow_window_test(struct kunit *test)
{
	struct flow *flow = flow_new(test, 6);
	struct flow_load *load = flow_load(test, flow->clnt, FLOW_CALLERS);
	unsigned int i;

	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, flow_end, flow));
	flow_expect_held(flow, 6);
	for (i = 0; i < 5; i++) {
		/* in any order */
		flow_answer(flow, (5 * i) % 6, 6);
		flow_expect_held(flow, 6);
	}
	flow_drain(flow, load, FLOW_CALLERS);
}

/* R-3.2.6.3-11: one at a time */
static void dafs_flow_one_test(struct kunit *test)
{
	struct flow *flow = flow_new(test, 1);
	struct flow_load *load = flow_load(test, flow->clnt, 8);
	unsigned int i;

	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, flow_end, flow));
	for (i = 0; i < 4; i++) {
		flow_expect_held(flow, 1);
		KUNIT_ASSERT_EQ(test, i + 1, flow->arrived);
		flow_answer(flow, 0, 1);
	}
	flow_drain(flow, load, 8);
}

/*
 * R-3.2.6.4.2-04 R-3.2.6.4.2-05 R-5.2.2-01 R-5.2.2-02 R-5.2.2-03: the window shrinks
 * from 8 to 4; while expired streams have requests outstanding, other requests wait
 */
static void dafs_flow_shrink_test(struct kunit *test)
{
	struct flow *flow = flow_new(test, 8);
	struct flow_load *load = flow_load(test, flow->clnt, FLOW_CALLERS);
	unsigned int i;

	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, flow_end, flow));
	flow_expect_held(flow, 8);
	for (i = 0; i < 4; i++) {
		flow_answer_stream(flow, i, 4);
		flow_expect_held(flow, 7 - i);
		KUNIT_EXPECT_EQ(test, 7 - i, flow->window);
	}
	KUNIT_EXPECT_EQ(test, 8, flow->arrived);
	/* streams 4 to 7 are in use; each answer there allows a request on a lower one */
	for (i = 4; i < 8; i++) {
		flow_answer_stream(flow, i, 4);
		flow_expect_held(flow, 4);
		KUNIT_EXPECT_LT(test, flow->held[3].hdr.stream_id, 4);
	}
	flow->srv->opts.max_requests = 4;
	flow_drain(flow, load, FLOW_CALLERS);
}

/* R-3.2.6.4.2-03 and the growing half of R-3.2.6.4.2-05: at once */
static void dafs_flow_grow_test(struct kunit *test)
{
	struct flow *flow = flow_new(test, 3);
	struct flow_load *load;

	flow_desire(flow, 11);
	load = flow_load(test, flow->clnt, FLOW_CALLERS);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, flow_end, flow));
	/* R-3.2.6.4.2-01: it asks, but does not exceed its window */
	flow_expect_held(flow, 3);
	KUNIT_EXPECT_EQ(test, 11, flow->desired);
	flow_answer(flow, 1, 3);
	flow_expect_held(flow, 3);
	flow_answer(flow, 0, 11);
	flow_expect_held(flow, 11);
	/* a target above the client's own limit is clamped */
	flow_answer(flow, 0, 0xffff);
	flow_expect_held(flow, FLOW_SLOTS);
	flow->srv->opts.max_requests = 0xffff;
	flow_drain(flow, load, FLOW_CALLERS);
}

/*
 * R-3.2.6.4.2-01: the client asks for more when it has many requests, and for less when it
 * has few.
 */
static void dafs_flow_wish_test(struct kunit *test)
{
	struct flow *flow = flow_new_asking(test, 8);
	struct flow_load *load = flow_load(test, flow->clnt, FLOW_CALLERS);
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	u16 target = 8;

	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, flow_end, flow));
	flow_expect_held(flow, 8);
	KUNIT_EXPECT_EQ(test, 16, flow->desired);
	flow->srv->opts.max_requests = 16;
	flow_drain(flow, load, FLOW_CALLERS);
	/* housekeeping sends NULLs with the lower wish, until the window has shrunk */
	while (flow->window > 8 && time_before(jiffies, end)) {
		if (!wait_event_timeout(flow->wait, READ_ONCE(flow->nr), HZ))
			continue;
		KUNIT_EXPECT_EQ(test, 1, flow->nr);
		target = flow->desired;
		flow_answer(flow, 0, target);
	}
	KUNIT_EXPECT_EQ(test, 8, target);
	KUNIT_EXPECT_EQ(test, 8, flow->window);
}

/*
 * R-3.2.6.4.2-01: the window grows even if only NULLs are answered; and if it cannot
 * grow, the client uses all of it.
 */
static void dafs_flow_stuck_test(struct kunit *test)
{
	static const u16 most[] = { FLOW_SLOTS, 6 };
	struct flow_load *load;
	struct flow *flow;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(most); i++) {
		flow = flow_new_asking(test, min(most[i], DAFS_IDLE_REQUESTS));
		flow->srv->opts.max_requests = most[i];
		flow->stuck = true;
		load = flow_load_by(test, flow->clnt, FLOW_CALLERS, DAFS_PROC_GET_ROOT_HANDLE);
		KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, flow_end, flow));
		flow_expect_held(flow, most[i]);
		WRITE_ONCE(flow->stuck, false);
		flow_drain(flow, load, FLOW_CALLERS);
	}
}

/* A caller that may not sleep gets "busy": the last slot is reserved for the NULL. */
static void dafs_flow_busy_test(struct kunit *test)
{
	struct flow *flow = flow_new_asking(test, 8);
	struct flow_load *load;

	KUNIT_EXPECT_FALSE(test, dafs_client_busy(flow->clnt));
	load = flow_load_by(test, flow->clnt, 7, DAFS_PROC_GET_ROOT_HANDLE);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, flow_end, flow));
	flow_expect_held(flow, 7);
	KUNIT_EXPECT_TRUE(test, dafs_client_busy(flow->clnt));
	flow_drain(flow, load, 7);
	KUNIT_EXPECT_FALSE(test, dafs_client_busy(flow->clnt));
}

/* E-40: a target of 0 is treated as 1 */
static void dafs_flow_zero_test(struct kunit *test)
{
	struct flow *flow = flow_new(test, 4);
	struct flow_load *load = flow_load(test, flow->clnt, 12);
	unsigned int i;

	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, flow_end, flow));
	flow_expect_held(flow, 4);
	for (i = 0; i < 6; i++) {
		flow_answer(flow, flow->nr - 1, 0);
		flow_expect_held(flow, max(3 - (int)i, 1));
	}
	flow->srv->opts.max_requests = 1;
	flow_drain(flow, load, 12);
}

/* R-3.2.6.4.2-04: a server that changes its target at random */
static void dafs_flow_random_test(struct kunit *test)
{
	struct flow *flow = flow_new(test, 5);
	struct rnd_state rnd;
	struct flow_load *load;
	unsigned int i;

	prandom_seed_state(&rnd, 3264);
	for (i = 0; i < 6; i++) {
		flow->arrived = 0;
		load = flow_load(test, flow->clnt, FLOW_CALLERS);
		while (flow->arrived < FLOW_CALLERS || flow->nr) {
			unsigned int left = FLOW_CALLERS - flow->arrived;
			unsigned int room = max_t(int, flow->window - flow->nr, 0);
			unsigned int want = flow->nr + min3(left, room, FLOW_SLOTS - flow->nr);

			KUNIT_ASSERT_TRUE(test,
					  wait_event_timeout(flow->wait,
							     READ_ONCE(flow->nr) >= want,
							     msecs_to_jiffies(RAW_WAIT_MS)));
			flow_answer(flow, prandom_u32_state(&rnd) % flow->nr,
				    prandom_u32_state(&rnd) % 13);
		}
		flush_workqueue(load->wq);
	}
}

static bool flow_nulls_come(struct raw_server *srv, int nr, unsigned int ms)
{
	unsigned long end = jiffies + msecs_to_jiffies(ms);

	while (atomic_read(&srv->nulls) < nr && time_before(jiffies, end))
		schedule_timeout_uninterruptible(HZ / 20);
	return atomic_read(&srv->nulls) >= nr;
}

/* R-3.2.6.4.2-08: from 8 to 5 takes one response and two NULLs */
static void dafs_flow_surplus_test(struct kunit *test)
{
	struct raw_server *srv = raw_server(test);
	struct dafs_client *clnt = dafs_fixture_client(test, &srv->params);
	struct dafs_conn *conn;

	srv->opts.max_requests = 5;
	KUNIT_ASSERT_EQ(test, 0, dafs_null(clnt, NULL));
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&srv->nulls));
	KUNIT_EXPECT_TRUE(test, flow_nulls_come(srv, 3, RAW_WAIT_MS));
	KUNIT_EXPECT_FALSE(test, flow_nulls_come(srv, 4, RAW_QUIET_MS));
	conn = dafs_conn_get(clnt);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, conn);
	KUNIT_EXPECT_EQ(test, 5, dafs_requester_nreq(conn->rq));
	KUNIT_EXPECT_EQ(test, 0, dafs_requester_surplus(conn->rq));
	dafs_conn_put(conn);
}

/* The server's side. */

static struct dafs_req_hdr flow_hdr(u32 proc, u16 stream, u16 seq)
{
	return (struct dafs_req_hdr) {
		.version = DAFS_PROTOCOL_VERSION,
		.procedure = proc,
		.stream_id = stream,
		.seq_number = seq,
	};
}

static int flow_send_null(struct raw_conn *conn, u16 stream, u16 desired)
{
	struct dafs_req_hdr hdr = flow_hdr(DAFS_PROC_NULL, stream, conn->seq++);
	u8 msg[DAFS_HDR_SIZE];

	hdr.desired_nreq = desired;
	return raw_send(conn, msg, raw_encode(conn, &hdr, NULL, msg));
}

/* @nr requests at once, of @len bytes each, and all the responses. */
static void flow_burst(struct kunit *test, struct raw_conn *conn, const u8 *msg, u32 len,
		       unsigned int nr, dafs_status_t want)
{
	u8 *buf = kunit_kzalloc(test, len, GFP_KERNEL);
	struct dafs_res_hdr res;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	memcpy(buf, msg, len);
	for (i = 0; i < nr; i++) {
		dafs_put16(i, buf + 12, conn->swab);
		if (conn->cksum)
			dafs_msg_cksum(buf, len);
		KUNIT_ASSERT_EQ(test, 0, raw_send(conn, buf, len));
	}
	for (i = 0; i < nr; i++) {
		DAFS_ASSERT_STATUS(test, want, raw_recv_status(conn, RAW_WAIT_MS, &res));
		KUNIT_EXPECT_GT(test, res.target_nreq, 0);
	}
	kunit_kfree(test, buf);
}

/* A request that the server cannot answer before the lock of the directory is released. */
static int flow_send_stuck(struct kunit *test, struct dafs_fixture *fix, struct raw_conn *conn,
			   u16 stream)
{
	static const char * const names[] = { "0", "1", "2", "3" };
	u8 *buf = kunit_kzalloc(test, RAW_RECV_SIZE, GFP_KERNEL);
	struct dafs_create_args args = {
		.filehandle = fix->dir,
		.component = dafs_test_str(names[stream % ARRAY_SIZE(names)]),
		.obj_type = DAFS_TYPE_DIR,
	};
	struct dafs_req_hdr hdr = flow_hdr(DAFS_PROC_CREATE, stream, conn->seq++);

	return raw_send(conn, buf, raw_encode(conn, &hdr, &args, buf));
}

static void flow_unlock(void *fix)
{
	inode_unlock(d_inode(((struct dafs_fixture *)fix)->path.dentry));
}

static void flow_lock(struct kunit *test, struct dafs_fixture *fix)
{
	inode_lock(d_inode(fix->path.dentry));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, flow_unlock, fix));
}

/* Fills the window while no request can be answered. */
static void flow_fill(struct kunit *test, struct dafs_fixture *fix, struct raw_conn *conn,
		      unsigned int nr)
{
	struct dafs_res_hdr res;
	unsigned int i;

	flow_lock(test, fix);
	for (i = 0; i < nr; i++)
		KUNIT_EXPECT_EQ(test, 0, flow_send_stuck(test, fix, conn, i));
	KUNIT_EXPECT_EQ(test, fix->rnr_naks, dafs_test_rnr_naks(fix->dev));
	kunit_release_action(test, flow_unlock, fix);
	for (i = 0; i < nr; i++)
		KUNIT_ASSERT_TRUE(test, raw_recv_status(conn, RAW_WAIT_MS, &res) != DAFS_NO_STATUS);
}

/*
 * R-3.2.6.3-08 R-3.2.6.3-09 R-3.2.3.1-01 R-3.1.2.2-04 R-3.2.6.3-06: all credits at
 * once with the largest requests, many times.  A message without a receive would be
 * repeated by the hardware, but the fixture counts these.
 */
static void dafs_flow_burst_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	u8 *buf = kunit_kzalloc(test, RAW_RECV_SIZE, GFP_KERNEL);
	u8 *name = kunit_kzalloc(test, RAW_RECV_SIZE, GFP_KERNEL);
	struct raw_login login = {};
	struct raw_conn *conn = raw_session(test, test->param_value, &login);
	const struct dafs_connect_opts *o = &login.res.connect.opts;
	struct dafs_req_hdr hdr = flow_hdr(DAFS_PROC_LOOKUP, 0, 0);
	struct dafs_str component = { .data = name };
	struct dafs_lookup_args args = { .path = { .count = 1, .elems = &component } };
	struct dafs_fh_res root;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	KUNIT_ASSERT_NOT_NULL(test, name);
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK,
			   raw_call(conn, DAFS_PROC_GET_ROOT_HANDLE, NULL, &root));
	args.directory = root.filehandle;
	memset(name, 'n', RAW_RECV_SIZE);
	component.len = o->max_request_size - (DAFS_HDR_SIZE + 72 + 8 + 4);
	KUNIT_ASSERT_EQ(test, o->max_request_size, raw_encode(conn, &hdr, &args, buf));
	for (i = 0; i < 4; i++)
		flow_burst(test, conn, buf, o->max_request_size, o->max_requests,
			   DAFSERR_NAMETOOLONG);
	flow_fill(test, fix, conn, o->max_requests);
}

/* R-3.2.6.4.2-01 R-3.2.6.4.2-06: a requested increase is granted and usable at once */
static void dafs_flow_server_grow_test(struct kunit *test)
{
	struct raw_login login = { .opts.max_requests = 4 };
	struct raw_conn *conn = raw_session(test, test->param_value, &login);
	struct dafs_req_hdr hdr = flow_hdr(DAFS_PROC_NULL, 0, 0);
	struct dafs_res_hdr res;
	u8 msg[DAFS_HDR_SIZE];

	KUNIT_ASSERT_EQ(test, 4, login.res.connect.opts.max_requests);
	raw_encode(conn, &hdr, NULL, msg);
	flow_burst(test, conn, msg, sizeof(msg), 4, DAFS_STATUS_OK);
	KUNIT_ASSERT_EQ(test, 0, flow_send_null(conn, 0, 20));
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_recv_status(conn, RAW_WAIT_MS, &res));
	KUNIT_EXPECT_EQ(test, 20, res.target_nreq);
	flow_burst(test, conn, msg, sizeof(msg), 20, DAFS_STATUS_OK);
	/* there is a limit, and 0 is not a request (E-40) */
	KUNIT_ASSERT_EQ(test, 0, flow_send_null(conn, 0, 0xffff));
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_recv_status(conn, RAW_WAIT_MS, &res));
	KUNIT_EXPECT_EQ(test, 32, res.target_nreq);
	flow_burst(test, conn, msg, sizeof(msg), 32, DAFS_STATUS_OK);
	KUNIT_ASSERT_EQ(test, 0, flow_send_null(conn, 0, 0));
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_recv_status(conn, RAW_WAIT_MS, &res));
	KUNIT_EXPECT_EQ(test, 32, res.target_nreq);
}

/* R-3.2.6.4.2-02 R-3.2.6.3-04: each response takes away one credit, never more */
static void dafs_flow_server_shrink_test(struct kunit *test)
{
	struct raw_login login = { .opts.max_requests = 8 };
	struct raw_conn *conn = raw_session(test, test->param_value, &login);
	struct dafs_res_hdr res;
	u16 window, i;

	for (window = 8; window > 1; window--) {
		/* on the highest stream, which the response takes away */
		KUNIT_ASSERT_EQ(test, 0, flow_send_null(conn, window - 1, 1));
		DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_recv_status(conn, RAW_WAIT_MS, &res));
		KUNIT_EXPECT_EQ(test, 1, res.target_nreq);
	}
	for (i = 0; i < 4; i++) {
		KUNIT_ASSERT_EQ(test, 0, flow_send_null(conn, 0, 0));
		DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_recv_status(conn, RAW_WAIT_MS, &res));
		KUNIT_EXPECT_EQ(test, 1, res.target_nreq);
	}
}

/* Return: target_nreq of the answer to a NULL. */
static u16 flow_target(struct kunit *test, struct raw_conn *conn)
{
	struct dafs_res_hdr res = {};

	KUNIT_ASSERT_EQ(test, 0, flow_send_null(conn, 0, 0));
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_recv_status(conn, RAW_WAIT_MS, &res));
	return res.target_nreq;
}

/* R-2.2-04: one client is throttled; other clients and its other session are not */
static void dafs_flow_throttle_test(struct kunit *test)
{
	struct raw_login one = { .id = "throttled", .opts.max_requests = 8 }, two = one;
	struct raw_login other = { .opts.max_requests = 8 };
	struct raw_conn *a = raw_session(test, test->param_value, &one);
	struct raw_conn *b = raw_session(test, test->param_value, &two);
	struct raw_conn *c = raw_session(test, test->param_value, &other);
	struct dafsd_session *ses = dafs_fixture_at_server(test, &one.res.connect.session_id);

	KUNIT_EXPECT_EQ(test, 8, flow_target(test, a));
	dafs_responder_set_target(ses->op->responder, 3);
	KUNIT_EXPECT_EQ(test, 3, flow_target(test, a));
	KUNIT_EXPECT_EQ(test, 8, flow_target(test, b));
	KUNIT_EXPECT_EQ(test, 8, flow_target(test, c));
	dafs_responder_set_target(ses->op->responder, 8);
	KUNIT_EXPECT_EQ(test, 8, flow_target(test, a));
}

/*
 * R-3.2.6.4.2-07 E-42: withdrawn receives are gone; messages above the window find none,
 * are counted, and finally break the connection
 */
static void dafs_flow_server_withdrawn_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct raw_login login = { .opts.max_requests = 5 };
	struct raw_conn *conn = raw_session(test, NULL, &login);
	struct dafs_res_hdr res;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		KUNIT_ASSERT_EQ(test, 0, flow_send_null(conn, 0, 2));
		DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_recv_status(conn, RAW_WAIT_MS, &res));
	}
	flow_lock(test, fix);
	KUNIT_EXPECT_EQ(test, 0, flow_send_stuck(test, fix, conn, 0));
	KUNIT_EXPECT_EQ(test, 0, flow_send_stuck(test, fix, conn, 1));
	KUNIT_EXPECT_EQ(test, -EIO, flow_send_null(conn, 2, 0));
	kunit_release_action(test, flow_unlock, fix);
	KUNIT_EXPECT_TRUE(test, raw_closed(conn, RAW_WAIT_MS));
	KUNIT_EXPECT_GT(test, dafs_test_rnr_naks(fix->dev), fix->rnr_naks);
	fix->rnr_naks = dafs_test_rnr_naks(fix->dev);
}

/* Requests that the server cannot answer, and one behind them that it can */
static void flow_fill_short(struct kunit *test, struct dafs_fixture *fix, struct raw_conn *conn)
{
	unsigned int i;

	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, 0, flow_send_stuck(test, fix, conn, i));
	KUNIT_EXPECT_EQ(test, 0, flow_send_null(conn, i, 0));
	KUNIT_EXPECT_NULL(test, raw_recv(conn, RAW_QUIET_MS));
}

/* Without memory for another request the allocation is retried, even if no request ends. */
static void dafs_flow_server_short_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct raw_login logins[] = { { .opts.max_requests = 4 }, { .opts.max_requests = 4 } };
	struct raw_conn *conn = raw_session(test, NULL, &logins[0]);
	struct raw_conn *gone = raw_session(test, NULL, &logins[1]);
	unsigned int enough = dafs_responder_most, i;
	struct dafs_res_hdr res = {};

	dafs_fixture_server_param(test, &dafs_responder_most, 1);
	flow_lock(test, fix);
	flow_fill_short(test, fix, conn);
	flow_fill_short(test, fix, gone);
	raw_close(test, gone);
	dafs_fixture_server_param(test, &dafs_responder_most, enough);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_recv_status(conn, RAW_WAIT_MS, &res));
	KUNIT_EXPECT_EQ(test, 3, res.stream_id);
	kunit_release_action(test, flow_unlock, fix);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_TRUE(test, raw_recv_status(conn, RAW_WAIT_MS, &res) != DAFS_NO_STATUS);
}

/* R-6.1.2-04 E-41: a stream that does not exist, or is in use */
static void dafs_flow_bad_stream_test(struct kunit *test)
{
	static const u16 streams[] = { 8, 9, 255, 256, 0x7fff, 0xffff };
	struct dafs_fixture *fix = dafs_fixture(test, test->param_value);
	struct raw_login login = { .opts.max_requests = 8 };
	struct raw_conn *conn = raw_session(test, test->param_value, &login);
	struct dafs_res_hdr res;
	struct kstat stat;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(streams); i++) {
		KUNIT_ASSERT_EQ(test, 0, flow_send_stuck(test, fix, conn, streams[i]));
		DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, raw_recv_status(conn, RAW_WAIT_MS, &res));
		KUNIT_EXPECT_EQ(test, streams[i], res.stream_id);
	}
	KUNIT_EXPECT_EQ(test, -ENOENT, dafs_backing_stat(fix, "0", &stat));
	KUNIT_EXPECT_EQ(test, -ENOENT, dafs_backing_stat(fix, "1", &stat));

	flow_lock(test, fix);
	KUNIT_ASSERT_EQ(test, 0, flow_send_stuck(test, fix, conn, 3));
	KUNIT_ASSERT_EQ(test, 0, flow_send_null(conn, 3, 0));
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, raw_recv_status(conn, RAW_WAIT_MS, &res));
	/* the refused request did not free the stream */
	KUNIT_ASSERT_EQ(test, 0, flow_send_null(conn, 3, 0));
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, raw_recv_status(conn, RAW_WAIT_MS, &res));
	kunit_release_action(test, flow_unlock, fix);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_recv_status(conn, RAW_WAIT_MS, &res));
	KUNIT_EXPECT_EQ(test, 0, dafs_backing_stat(fix, "3", &stat));
	KUNIT_ASSERT_EQ(test, 0, flow_send_null(conn, 3, 0));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_recv_status(conn, RAW_WAIT_MS, &res));
}

/* E-41: after a reduction old streams are valid until the client must know about it */
static void dafs_flow_expired_stream_test(struct kunit *test)
{
	struct raw_login login = { .opts.max_requests = 4 };
	struct raw_conn *conn = raw_session(test, test->param_value, &login);
	struct dafs_res_hdr res;
	unsigned int i;

	KUNIT_ASSERT_EQ(test, 0, flow_send_null(conn, 0, 2));
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_recv_status(conn, RAW_WAIT_MS, &res));
	/* may have been sent before the response arrived */
	KUNIT_ASSERT_EQ(test, 0, flow_send_null(conn, 3, 2));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_recv_status(conn, RAW_WAIT_MS, &res));
	for (i = 0; i < 8; i++) {
		KUNIT_ASSERT_EQ(test, 0, flow_send_null(conn, 0, 2));
		DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, raw_recv_status(conn, RAW_WAIT_MS, &res));
	}
	KUNIT_ASSERT_EQ(test, 0, flow_send_null(conn, 3, 2));
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, raw_recv_status(conn, RAW_WAIT_MS, &res));
	KUNIT_ASSERT_EQ(test, 0, flow_send_null(conn, 2, 2));
	DAFS_EXPECT_STATUS(test, DAFSERR_INVAL, raw_recv_status(conn, RAW_WAIT_MS, &res));
	KUNIT_ASSERT_EQ(test, 0, flow_send_null(conn, 1, 2));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_recv_status(conn, RAW_WAIT_MS, &res));
}

/* R-6.1.2-06 is the client's duty; the server does not check it (E-41) */
static void dafs_flow_seq_test(struct kunit *test)
{
	static const u16 seqs[] = { 0xfffe, 0xffff, 0, 7, 7, 3 };
	struct raw_login login = {};
	struct raw_conn *conn = raw_session(test, test->param_value, &login);
	struct dafs_res_hdr res;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(seqs); i++) {
		conn->seq = seqs[i];
		KUNIT_ASSERT_EQ(test, 0, flow_send_null(conn, 0, 0));
		DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, raw_recv_status(conn, RAW_WAIT_MS, &res));
		KUNIT_EXPECT_EQ(test, seqs[i], res.seq_number);
	}
}

/* Both sides. */

#define FLOW_ROUNDS	100

static void flow_rounds(struct work_struct *work)
{
	struct flow_caller *caller = container_of(work, struct flow_caller, work);
	unsigned int i;

	for (i = 0; i < FLOW_ROUNDS && !caller->err; i++)
		caller->err = dafs_null(caller->load->clnt, NULL);
}

/*
 * R-3.2.6.2-01 R-3.2.3.1-02: many callers while the window grows and shrinks.  One
 * message without a receive would end the connection.
 */
static void dafs_flow_stress_test(struct kunit *test)
{
	static const u16 wishes[] = { 2, 32, 1, 16, 3, 24, 8 };
	struct flow_load *load;
	struct dafs_client_params params;
	struct dafs_client *clnt;
	struct dafs_conn *conn;
	unsigned int i;

	dafs_fixture_params(test->param_value, &params);
	params.max_requests = 32;
	clnt = dafs_fixture_client(test, &params);
	conn = dafs_conn_get(clnt);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, conn);
	load = flow_load(test, clnt, 0);
	for (i = 0; i < FLOW_CALLERS; i++) {
		load->caller[i].load = load;
		INIT_WORK(&load->caller[i].work, flow_rounds);
		queue_work(load->wq, &load->caller[i].work);
	}
	for (i = 0; i < 4 * ARRAY_SIZE(wishes); i++) {
		dafs_requester_desire(conn->rq, wishes[i % ARRAY_SIZE(wishes)]);
		schedule_timeout_uninterruptible(msecs_to_jiffies(20));
	}
	flush_workqueue(load->wq);
	for (i = 0; i < FLOW_CALLERS; i++)
		KUNIT_EXPECT_EQ(test, 0, load->caller[i].err);
	KUNIT_EXPECT_TRUE(test, dafs_chan_is_open(conn->op));
	dafs_conn_put(conn);
}

#define FLOW_IDLE_MS	40000	/* rounds of housekeeping, also on a busy machine */

static unsigned int flow_msgs(struct dafs_chan *chan)
{
	unsigned int nr;

	spin_lock_irq(&chan->lock);
	nr = list_count_nodes(&chan->msgs);
	spin_unlock_irq(&chan->lock);
	return nr;
}

/* FLOW_CALLERS concurrent calls, until the server has 32 receives. */
static void flow_make_grow(struct kunit *test, struct dafs_client *clnt,
			   struct dafsd_session *at_server)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	struct flow_load *load = flow_load(test, clnt, 0);
	unsigned int i;

	do {
		for (i = 0; i < FLOW_CALLERS; i++) {
			load->caller[i].load = load;
			INIT_WORK(&load->caller[i].work, flow_rounds);
			queue_work(load->wq, &load->caller[i].work);
		}
		flush_workqueue(load->wq);
	} while (dafs_responder_nreq(at_server->op->responder) < 32 && time_before(jiffies, end));
	for (i = 0; i < FLOW_CALLERS; i++)
		KUNIT_EXPECT_EQ(test, 0, load->caller[i].err);
}

/* Buffers of both sides: few, more while there are many requests, then few again. */
static void dafs_flow_idle_test(struct kunit *test)
{
	unsigned long end = jiffies + msecs_to_jiffies(FLOW_IDLE_MS);
	struct dafs_client_params params;
	struct dafsd_session *at_server;
	unsigned int client, server = DAFS_IDLE_REQUESTS + 2;
	struct dafs_client *clnt;
	struct dafs_conn *conn;

	dafs_fixture_params(NULL, &params);
	params.max_requests = 32;
	clnt = dafs_fixture_client(test, &params);
	conn = dafs_conn_get(clnt);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, conn);
	at_server = dafs_fixture_at_server(test, &conn->session_id);
	KUNIT_EXPECT_EQ(test, DAFS_IDLE_REQUESTS, at_server->op->chan->nr_posted);
	client = flow_msgs(conn->op);
	KUNIT_EXPECT_LE(test, client, 4);
	KUNIT_EXPECT_LE(test, flow_msgs(at_server->op->chan), server);

	flow_make_grow(test, clnt, at_server);
	KUNIT_EXPECT_EQ(test, 32, dafs_responder_nreq(at_server->op->responder));
	KUNIT_EXPECT_GE(test, flow_msgs(at_server->op->chan), 32);
	KUNIT_EXPECT_GT(test, flow_msgs(conn->op), client);

	while ((flow_msgs(at_server->op->chan) > server || flow_msgs(conn->op) > client) &&
	       time_before(jiffies, end))
		schedule_timeout_uninterruptible(HZ / 20);
	KUNIT_EXPECT_LE(test, flow_msgs(conn->op), client);
	KUNIT_EXPECT_LE(test, flow_msgs(at_server->op->chan), server);
	KUNIT_EXPECT_EQ(test, DAFS_IDLE_REQUESTS, dafs_responder_nreq(at_server->op->responder));
	dafs_conn_put(conn);
}

static struct kunit_case dafs_flow_cases[] = {
	KUNIT_CASE(dafs_flow_window_test),
	KUNIT_CASE(dafs_flow_one_test),
	KUNIT_CASE(dafs_flow_shrink_test),
	KUNIT_CASE(dafs_flow_grow_test),
	KUNIT_CASE(dafs_flow_zero_test),
	KUNIT_CASE_SLOW(dafs_flow_wish_test),
	KUNIT_CASE(dafs_flow_stuck_test),
	KUNIT_CASE(dafs_flow_busy_test),
	KUNIT_CASE(dafs_flow_random_test),
	KUNIT_CASE_SLOW(dafs_flow_surplus_test),
	KUNIT_CASE_SLOW(dafs_flow_idle_test),
	KUNIT_CASE_PARAM(dafs_flow_burst_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_flow_server_grow_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_flow_server_shrink_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_flow_throttle_test, dafs_flavours_gen),
	KUNIT_CASE_SLOW(dafs_flow_server_withdrawn_test),
	KUNIT_CASE(dafs_flow_server_short_test),
	KUNIT_CASE_PARAM(dafs_flow_bad_stream_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_flow_expired_stream_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_flow_seq_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_flow_stress_test, dafs_flavours_gen),
	{}
};

static struct kunit_suite dafs_flow_suite = {
	.name = "dafs_flow",
	.test_cases = dafs_flow_cases,
};

kunit_test_suite(dafs_flow_suite);
