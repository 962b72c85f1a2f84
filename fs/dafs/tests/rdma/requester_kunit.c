// SPDX-License-Identifier: GPL-2.0
/*
 * The requester with a server that answers when the test says so, and on a
 * device that accepts a post only in part or reports completions late.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include "../../rpc/rpc_impl.h"
#include "../lib/raw.h"

#define HOLD_MAX	32

/**
 * struct hold - a server that answers when it is told to
 * @test: the test
 * @srv: the server
 * @clnt: client with it
 * @conn: its connection
 * @lock: guards @held, @nr and @came
 * @held: NULLs not yet answered, in order of arrival
 * @nr: how many
 * @came: number of NULLs so far
 * @from: connection of the latest
 * @wait: woken by each NULL
 */
struct hold {
	struct kunit *test;
	struct raw_server *srv;
	struct dafs_client *clnt;
	struct dafs_conn *conn;
	spinlock_t lock;	/* see above */
	struct dafs_req_hdr held[HOLD_MAX];
	unsigned int nr;
	unsigned int came;
	struct raw_conn *from;
	wait_queue_head_t wait;
};

static void hold_request(struct raw_conn *conn, struct raw_msg *msg)
{
	struct hold *hold = conn->srv->priv;
	struct dafs_req_hdr hdr;

	KUNIT_EXPECT_EQ(hold->test, 0, raw_get_hdr(conn, msg, &hdr));
	if (raw_serve_setup(conn, msg, &hdr))
		return;
	spin_lock(&hold->lock);
	hold->came++;
	hold->from = conn;
	if (hold->nr < HOLD_MAX)
		hold->held[hold->nr++] = hdr;
	spin_unlock(&hold->lock);
	wake_up_all(&hold->wait);
}

static bool hold_wait(struct hold *hold, unsigned int nr)
{
	return wait_event_timeout(hold->wait, READ_ONCE(hold->nr) >= nr,
				  msecs_to_jiffies(RAW_WAIT_MS));
}

/* Answers the oldest held request. */
static void hold_answer(struct hold *hold)
{
	struct dafs_req_hdr hdr;

	spin_lock(&hold->lock);
	hdr = hold->held[0];
	memmove(&hold->held[0], &hold->held[1], --hold->nr * sizeof(hdr));
	spin_unlock(&hold->lock);
	raw_answer(hold->from, &hdr, DAFS_STATUS_OK, hold->srv->opts.max_requests, NULL);
}

static void hold_end(void *data)
{
	struct hold *hold = data;

	dafs_client_shutdown(hold->clnt);
	dafs_conn_put(hold->conn);
}

static struct hold *hold_new(struct kunit *test, u16 nreq, unsigned int timeo_ms, bool soft)
{
	struct hold *hold = kunit_kzalloc(test, sizeof(*hold), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, hold);
	hold->test = test;
	spin_lock_init(&hold->lock);
	init_waitqueue_head(&hold->wait);
	hold->srv = raw_server(test);
	hold->srv->priv = hold;
	hold->srv->request = hold_request;
	hold->srv->opts.max_requests = nreq;
	hold->srv->params.soft = soft;
	hold->srv->params.timeo_ms = timeo_ms;
	hold->clnt = dafs_fixture_client(test, &hold->srv->params);
	hold->conn = dafs_conn_get(hold->clnt);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, hold->conn);
	/* no NULLs of the requester's own */
	dafs_requester_desire(hold->conn->rq, 0);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, hold_end, hold));
	return hold;
}

/**
 * struct hold_task - a task that sends a NULL, with or without memory
 * @hold: the server
 * @bulk: send it with memory
 * @task: the task
 * @buf: the memory
 * @mem: its registration
 * @err: the result
 * @ended: completed at the end
 */
struct hold_task {
	struct hold *hold;
	bool bulk;
	struct task_struct *task;
	u8 buf[64];
	struct dafs_mem mem;
	int err;
	struct completion ended;
};

static int hold_send(struct hold_task *ht, struct dafs_call *call)
{
	struct kvec kvec = { ht->buf, sizeof(ht->buf) };
	struct dafs_conn *conn = ht->hold->conn;
	struct iov_iter iter;
	ssize_t n = 0;
	int err;

	if (ht->bulk) {
		iov_iter_kvec(&iter, ITER_DEST, &kvec, 1, kvec.iov_len);
		n = dafs_mem_map(conn->op, &ht->mem, &iter, kvec.iov_len, DMA_FROM_DEVICE);
		if (n < 0)
			return n;
		call->mem = &ht->mem;
	}
	err = dafs_call_start(conn->rq, call);
	if (err && n)
		dafs_mem_unmap(&ht->mem);
	return err ?: dafs_call_wait(call);
}

static int hold_task_run(void *data)
{
	struct hold_task *ht = data;
	struct dafs_call *call = dafs_call_alloc(GFP_KERNEL);

	allow_signal(SIGKILL);
	if (call) {
		call->proc = DAFS_PROC_NULL;
		ht->err = hold_send(ht, call);
		dafs_call_put(call);
	}
	complete(&ht->ended);
	return 0;
}

static void hold_task_end(void *data)
{
	struct hold_task *ht = data;

	/* also after a failure the task must end before its memory is freed */
	if (!wait_for_completion_timeout(&ht->ended, msecs_to_jiffies(RAW_WAIT_MS))) {
		dafs_client_shutdown(ht->hold->clnt);
		wait_for_completion(&ht->ended);
	}
	put_task_struct(ht->task);
	kfree(ht);
}

static struct hold_task *hold_task(struct hold *hold, bool bulk)
{
	struct hold_task *ht = kzalloc(sizeof(*ht), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(hold->test, ht);
	ht->hold = hold;
	ht->bulk = bulk;
	ht->err = -ENOMEM;
	init_completion(&ht->ended);
	ht->task = kthread_create(hold_task_run, ht, "dafs_hold");
	if (IS_ERR(ht->task)) {
		kfree(ht);
		KUNIT_FAIL_AND_ABORT(hold->test, "no task");
	}
	get_task_struct(ht->task);
	wake_up_process(ht->task);
	KUNIT_ASSERT_EQ(hold->test, 0, kunit_add_action_or_reset(hold->test, hold_task_end, ht));
	return ht;
}

static bool hold_task_ends(struct hold_task *ht)
{
	bool ended = wait_for_completion_timeout(&ht->ended, msecs_to_jiffies(RAW_WAIT_MS));

	/* for hold_task_end() */
	if (ended)
		complete(&ht->ended);
	return ended;
}

/* Waits until the task sleeps, which it only does to wait for a slot or a response. */
static bool hold_task_sleeps(struct hold_task *ht)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);

	do {
		msleep(20);
	} while (task_is_running(ht->task) && time_before(jiffies, end));
	return !task_is_running(ht->task);
}

static unsigned int hold_conns(struct hold *hold)
{
	return READ_ONCE(hold->srv->nr_conns);
}

/* Expects a working connection with all slots free. */
static void hold_expect_good(struct hold *hold)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	struct kunit *test = hold->test;

	while (dafs_requester_outstanding(hold->conn->rq) && time_before(jiffies, end))
		msleep(20);
	KUNIT_EXPECT_EQ(test, 0, dafs_requester_outstanding(hold->conn->rq));
	KUNIT_EXPECT_TRUE(test, dafs_chan_is_open(hold->conn->op));
	hold->srv->request = raw_serve_request;
	KUNIT_EXPECT_EQ(test, 0, dafs_null(hold->clnt, NULL));
	KUNIT_EXPECT_EQ(test, 1, hold_conns(hold));
}

#define HOLD_TIMEO	1000	/* ms; a busy machine answers a probe in half of it */

/* Expects that no two held requests are the same. */
static void hold_expect_different(struct hold *hold)
{
	unsigned int i, j;

	spin_lock(&hold->lock);
	for (i = 0; i < hold->nr; i++)
		for (j = 0; j < i; j++)
			KUNIT_EXPECT_FALSE(hold->test,
					   hold->held[i].stream_id == hold->held[j].stream_id &&
					   hold->held[i].seq_number == hold->held[j].seq_number);
	spin_unlock(&hold->lock);
}

/*
 * R-5.1-01 R-5.1-02: a slow server does not make the client retransmit this or any
 * other request in flight; probes show that the connection is alive.
 */
static void dafs_requester_slow_test(struct kunit *test)
{
	struct hold *hold = hold_new(test, 4, HOLD_TIMEO, false);
	struct hold_task *task[3];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(task); i++)
		task[i] = hold_task(hold, i & 1);
	KUNIT_ASSERT_TRUE(test, hold_wait(hold, ARRAY_SIZE(task)));
	msleep(3 * HOLD_TIMEO);
	KUNIT_EXPECT_TRUE(test, dafs_chan_is_open(hold->conn->op));
	KUNIT_EXPECT_EQ(test, ARRAY_SIZE(task), hold->came);
	hold_expect_different(hold);
	for (i = 0; i < ARRAY_SIZE(task) && hold->nr; i++)
		hold_answer(hold);
	for (i = 0; i < ARRAY_SIZE(task); i++) {
		KUNIT_EXPECT_TRUE(test, hold_task_ends(task[i]));
		KUNIT_EXPECT_EQ(test, 0, task[i]->err);
	}
	KUNIT_EXPECT_EQ(test, ARRAY_SIZE(task), hold->came);
	hold_expect_good(hold);
}

/* R-5.1-02: a connection that is cut off does not answer probes and is lost. */
static void dafs_requester_cut_test(struct kunit *test)
{
	struct hold *hold = hold_new(test, 4, HOLD_TIMEO, false);
	struct hold_task *task = hold_task(hold, true);

	KUNIT_ASSERT_TRUE(test, hold_wait(hold, 1));
	raw_cut(test, hold->from);
	KUNIT_EXPECT_TRUE(test, hold_task_ends(task));
	KUNIT_EXPECT_EQ(test, -ENOTCONN, task->err);
	hold->srv->request = raw_serve_request;
	KUNIT_EXPECT_EQ(test, 0, dafs_null(hold->clnt, NULL));
	KUNIT_EXPECT_EQ(test, 2, hold_conns(hold));
}

/* On a soft session the call times out and is not retried. */
static void dafs_requester_soft_test(struct kunit *test)
{
	struct hold *hold = hold_new(test, 4, HOLD_TIMEO, true);

	KUNIT_EXPECT_EQ(test, -ETIMEDOUT, dafs_null(hold->clnt, NULL));
	KUNIT_EXPECT_EQ(test, 1, hold->came);
}

/* A task that is killed while it waits for a slot returns, and its memory is unmapped. */
static void dafs_requester_kill_waiting_test(struct kunit *test)
{
	struct hold *hold = hold_new(test, 1, 60000, false);
	struct hold_task *first = hold_task(hold, false), *next[2];

	KUNIT_ASSERT_TRUE(test, hold_wait(hold, 1));
	next[0] = hold_task(hold, true);
	KUNIT_EXPECT_TRUE(test, hold_task_sleeps(next[0]));
	next[1] = hold_task(hold, true);
	KUNIT_EXPECT_TRUE(test, hold_task_sleeps(next[1]));
	send_sig(SIGKILL, next[0]->task, 1);
	KUNIT_EXPECT_TRUE(test, hold_task_ends(next[0]));
	KUNIT_EXPECT_EQ(test, -ERESTARTSYS, next[0]->err);
	/* the next waiter still gets its slot */
	hold_answer(hold);
	KUNIT_EXPECT_TRUE(test, hold_wait(hold, 1));
	hold_answer(hold);
	KUNIT_EXPECT_TRUE(test, hold_task_ends(first));
	KUNIT_EXPECT_TRUE(test, hold_task_ends(next[1]));
	KUNIT_EXPECT_EQ(test, 0, next[1]->err);
	KUNIT_EXPECT_EQ(test, 2, hold->came);
	hold_expect_good(hold);
}

/* The same while the server has the task's memory; other tasks are not affected. */
static void dafs_requester_kill_sent_test(struct kunit *test)
{
	struct hold *hold = hold_new(test, 4, 60000, false);
	struct hold_task *task = hold_task(hold, true), *other;

	KUNIT_ASSERT_TRUE(test, hold_wait(hold, 1));
	other = hold_task(hold, true);
	KUNIT_ASSERT_TRUE(test, hold_wait(hold, 2));
	KUNIT_EXPECT_TRUE(test, hold_task_sleeps(task));
	send_sig(SIGKILL, task->task, 1);
	KUNIT_EXPECT_TRUE(test, hold_task_ends(task));
	KUNIT_EXPECT_EQ(test, -ERESTARTSYS, task->err);
	/* its stream is still in use */
	KUNIT_EXPECT_EQ(test, 2, dafs_requester_outstanding(hold->conn->rq));
	hold_answer(hold);
	hold_answer(hold);
	KUNIT_EXPECT_TRUE(test, hold_task_ends(other));
	KUNIT_EXPECT_EQ(test, 0, other->err);
	hold_expect_good(hold);
}

#define HOLD_CROWD	12

static unsigned long hold_switches(struct hold_task **task, unsigned int nr)
{
	unsigned long sum = 0;

	while (nr--)
		sum += task[nr]->task->nvcsw;
	return sum;
}

/* A freed slot wakes only the task that gets it. */
static void dafs_requester_herd_test(struct kunit *test)
{
	struct hold *hold = hold_new(test, 1, 60000, false);
	struct hold_task *task[HOLD_CROWD];
	unsigned long before;
	unsigned int i;

	for (i = 0; i < HOLD_CROWD; i++) {
		task[i] = hold_task(hold, true);
		KUNIT_ASSERT_TRUE(test, i ? hold_task_sleeps(task[i]) : hold_wait(hold, 1));
	}
	before = hold_switches(task, HOLD_CROWD);
	for (i = 0; i < 3; i++) {
		hold_answer(hold);
		KUNIT_ASSERT_TRUE(test, hold_wait(hold, 1));
		/* in FIFO order */
		KUNIT_EXPECT_TRUE(test, hold_task_ends(task[i]));
	}
	KUNIT_EXPECT_LE(test, hold_switches(task + 3, HOLD_CROWD - 3) +
			hold_switches(task, 3) - before, 4 * 3);
	for (; i < HOLD_CROWD; i++) {
		hold_answer(hold);
		KUNIT_EXPECT_TRUE(test, i == HOLD_CROWD - 1 || hold_wait(hold, 1));
	}
	for (i = 0; i < HOLD_CROWD; i++) {
		KUNIT_EXPECT_TRUE(test, hold_task_ends(task[i]));
		KUNIT_EXPECT_EQ(test, 0, task[i]->err);
	}
	hold_expect_good(hold);
}

/* Buffers are allocated when used and freed when idle, without sending anything. */
static void dafs_requester_trim_test(struct kunit *test)
{
	struct hold *hold = hold_new(test, 8, 60000, false);
	struct dafs_chan *chan = hold->conn->op;
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	struct hold_task *task[8];
	u32 idle = chan->nr_posted;
	unsigned int i;

	KUNIT_EXPECT_LT(test, idle, 8);
	for (i = 0; i < 8; i++)
		task[i] = hold_task(hold, i & 1);
	KUNIT_ASSERT_TRUE(test, hold_wait(hold, 8));
	KUNIT_EXPECT_EQ(test, 8, chan->nr_posted);
	for (i = 0; i < 8; i++)
		hold_answer(hold);
	for (i = 0; i < 8; i++)
		KUNIT_EXPECT_TRUE(test, hold_task_ends(task[i]));
	hold->srv->request = raw_serve_request;
	while (chan->nr_posted > idle && time_before(jiffies, end)) {
		dafs_requester_trim(hold->conn->rq);
		KUNIT_EXPECT_EQ(test, 0, dafs_null(hold->clnt, NULL));
		/* the completion of a send may come after the response */
		msleep(20);
	}
	KUNIT_EXPECT_EQ(test, idle, chan->nr_posted);
	KUNIT_EXPECT_EQ(test, 0, dafs_requester_surplus(hold->conn->rq));
	/* and again */
	hold->srv->request = hold_request;
	for (i = 0; i < 8; i++)
		task[i] = hold_task(hold, i & 1);
	KUNIT_ASSERT_TRUE(test, hold_wait(hold, 8));
	for (i = 0; i < 8; i++)
		hold_answer(hold);
	for (i = 0; i < 8; i++) {
		KUNIT_EXPECT_TRUE(test, hold_task_ends(task[i]));
		KUNIT_EXPECT_EQ(test, 0, task[i]->err);
	}
	hold_expect_good(hold);
}

/* A misbehaving device. */

/**
 * struct tap - a device that misbehaves on one queue pair
 * @dev: the device
 * @chan: the channel of the queue pair
 * @post_send: the device's own
 * @poll_cq: likewise
 * @most: maximum of work requests accepted in a post, 0 for no limit
 * @partly: a post was accepted only in part
 * @deaf: completions are not reported
 * @marked: the drain marker was posted
 * @late: number of posts after the marker
 */
static struct tap {
	struct ib_device *dev;
	struct dafs_chan *chan;
	int (*post_send)(struct ib_qp *qp, const struct ib_send_wr *wr,
			 const struct ib_send_wr **bad);
	int (*poll_cq)(struct ib_cq *cq, int num, struct ib_wc *wc);
	unsigned int most;
	bool partly;
	bool deaf;
	bool marked;
	unsigned int late;
} tap;

/* Posts only the first @tap.most of them. */
static int tap_post_part(struct ib_qp *qp, const struct ib_send_wr *first,
			 const struct ib_send_wr **bad)
{
	struct ib_send_wr *last = (struct ib_send_wr *)first;
	unsigned int i;
	int err;

	for (i = 1; i < tap.most && last->next; i++)
		last = last->next;
	if (!last->next)
		return tap.post_send(qp, first, bad);
	*bad = last->next;
	last->next = NULL;
	err = tap.post_send(qp, first, bad);
	last->next = (struct ib_send_wr *)*bad;
	tap.partly = true;
	return err ?: -ENOMEM;
}

static int tap_post_send(struct ib_qp *qp, const struct ib_send_wr *wr,
			 const struct ib_send_wr **bad)
{
	int err;

	if (!tap.chan || qp != tap.chan->qp)
		return tap.post_send(qp, wr, bad);
	if (tap.most)
		return tap_post_part(qp, wr, bad);
	if (tap.marked)
		tap.late++;
	err = tap.post_send(qp, wr, bad);
	if (wr->opcode == IB_WR_RDMA_WRITE && tap.chan->state >= DAFS_CHAN_CLOSING) {
		tap.marked = true;
		WRITE_ONCE(tap.deaf, false);
	}
	return err;
}

static int tap_poll_cq(struct ib_cq *cq, int num, struct ib_wc *wc)
{
	if (READ_ONCE(tap.deaf) && cq == tap.chan->cq)
		return 0;
	return tap.poll_cq(cq, num, wc);
}

static void tap_end(void *unused)
{
	WRITE_ONCE(tap.deaf, false);
	WRITE_ONCE(tap.chan, NULL);
	tap.dev->ops.post_send = tap.post_send;
	tap.dev->ops.poll_cq = tap.poll_cq;
}

static void tap_begin(struct kunit *test, struct dafs_chan *chan)
{
	struct ib_device *dev = chan->id->device;

	tap = (struct tap) {
		.dev = dev,
		.chan = chan,
		.post_send = dev->ops.post_send,
		.poll_cq = dev->ops.poll_cq,
	};
	dev->ops.post_send = tap_post_send;
	dev->ops.poll_cq = tap_poll_cq;
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, tap_end, NULL));
}

/**
 * struct tap_call - a call and its end
 * @call: the call
 * @mem: its registered memory
 * @buf: the memory
 * @state: of the channel, when the call ended
 * @ended: completed then
 */
struct tap_call {
	struct dafs_call *call;
	struct dafs_mem mem;
	u8 *buf;
	enum dafs_chan_state state;
	struct completion ended;
};

static void tap_call_done(struct dafs_call *call)
{
	struct tap_call *tc = call->priv;

	tc->state = call->chan->state;
	complete(&tc->ended);
}

static void tap_call_free(void *data)
{
	struct tap_call *tc = data;

	dafs_call_put(tc->call);
}

/* A NULL with memory, sent. */
static struct tap_call *tap_call(struct hold *hold)
{
	struct kunit *test = hold->test;
	struct tap_call *tc = kunit_kzalloc(test, sizeof(*tc), GFP_KERNEL);
	struct kvec kvec = { .iov_len = PAGE_SIZE };
	struct iov_iter iter;

	KUNIT_ASSERT_NOT_NULL(test, tc);
	tc->buf = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, tc->buf);
	init_completion(&tc->ended);
	tc->call = dafs_call_alloc(GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, tc->call);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, tap_call_free, tc));
	kvec.iov_base = tc->buf;
	iov_iter_kvec(&iter, ITER_DEST, &kvec, 1, PAGE_SIZE);
	KUNIT_ASSERT_EQ(test, (ssize_t)PAGE_SIZE,
			dafs_mem_map(hold->conn->op, &tc->mem, &iter, PAGE_SIZE,
				     DMA_FROM_DEVICE));
	tc->call->proc = DAFS_PROC_NULL;
	tc->call->mem = &tc->mem;
	tc->call->done = tap_call_done;
	tc->call->priv = tc;
	KUNIT_ASSERT_EQ(test, 0, dafs_call_start(hold->conn->rq, tc->call));
	return tc;
}

static void tap_expect_end(struct kunit *test, struct tap_call *tc)
{
	KUNIT_ASSERT_TRUE(test, wait_for_completion_timeout(&tc->ended,
							    msecs_to_jiffies(RAW_WAIT_MS)));
	/* the owner has its memory back, so no work request can be pending */
	KUNIT_EXPECT_EQ(test, DAFS_CHAN_CLOSED, tc->state);
}

/*
 * The registration of a call is posted, but not its request: the memory stays
 * mapped until the queue pair is drained.
 */
static void dafs_requester_partly_test(struct kunit *test)
{
	struct hold *hold = hold_new(test, 4, 60000, false);
	struct tap_call *tc;

	tap_begin(test, hold->conn->op);
	tap.most = 1;
	tc = tap_call(hold);
	KUNIT_EXPECT_TRUE(test, tap.partly);
	tap_expect_end(test, tc);
	KUNIT_EXPECT_EQ(test, -ENOTCONN, tc->call->error);
	hold->srv->request = raw_serve_request;
	KUNIT_EXPECT_EQ(test, 0, dafs_null(hold->clnt, NULL));
}

/*
 * The response is reported after the drain marker was posted: nothing is posted
 * behind the marker, because its completion could come after everything is freed.
 */
static void dafs_requester_drain_test(struct kunit *test)
{
	struct hold *hold = hold_new(test, 4, 60000, false);
	struct tap_call *tc;

	tap_begin(test, hold->conn->op);
	tc = tap_call(hold);
	KUNIT_ASSERT_TRUE(test, hold_wait(hold, 1));
	hold->srv->request = raw_serve_request;
	WRITE_ONCE(tap.deaf, true);
	hold_answer(hold);	/* the response arrives */
	dafs_conn_failed(hold->conn);
	tap_expect_end(test, tc);
	KUNIT_EXPECT_TRUE(test, tap.marked);
	KUNIT_EXPECT_EQ(test, 0, tap.late);
	KUNIT_EXPECT_EQ(test, 0, tc->call->error);
	KUNIT_EXPECT_EQ(test, 0, dafs_null(hold->clnt, NULL));
}

static struct kunit_case dafs_requester_cases[] = {
	KUNIT_CASE_SLOW(dafs_requester_slow_test),
	KUNIT_CASE(dafs_requester_cut_test),
	KUNIT_CASE_SLOW(dafs_requester_soft_test),
	KUNIT_CASE(dafs_requester_kill_waiting_test),
	KUNIT_CASE(dafs_requester_kill_sent_test),
	KUNIT_CASE(dafs_requester_herd_test),
	KUNIT_CASE(dafs_requester_trim_test),
	KUNIT_CASE(dafs_requester_partly_test),
	KUNIT_CASE(dafs_requester_drain_test),
	{}
};

static struct kunit_suite dafs_requester_suite = {
	.name = "dafs_requester",
	.test_cases = dafs_requester_cases,
};

kunit_test_suite(dafs_requester_suite);
