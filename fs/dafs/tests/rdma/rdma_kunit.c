// SPDX-License-Identifier: GPL-2.0
/*
 * Work requests that client and server post on the queue pairs of a session,
 * recorded by a replacement of the device's post_send (3.2.3, appendix E); and the
 * channel on which the server reads the client's memory (3.1.2.3.5).
 */
#include <linux/delay.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include "../../../../drivers/dafsd/session/conn.h"
#include "../../../../drivers/dafsd/session/session.h"
#include "../../../../drivers/dafsd/request/io.h"
#include "../../rpc/rpc_impl.h"
#include "../lib/io_test.h"

enum spy_who {
	SPY_CLIENT_OP,
	SPY_CLIENT_RR,
	SPY_CLIENT_BC,
	SPY_SERVER_OP,
	SPY_SERVER_RR,
	SPY_SERVER_BC,
	SPY_QPS,
};

/**
 * struct spied - a work request as it was posted
 * @who: the queue pair
 * @post: number of its post
 * @opcode: IB_WR_*
 * @flags: IB_SEND_*
 * @access: IB_ACCESS_* of a registration
 * @key: key registered, invalidated or used
 */
struct spied {
	enum spy_who who;
	unsigned int post;
	enum ib_wr_opcode opcode;
	int flags;
	int access;
	u32 key;
};

#define SPY_MAX	400

/**
 * struct spy - records work requests; there is only one
 * @dev: the device, or NULL
 * @post_send: the replaced operation; kept after the end, for callers still in it
 * @lock: guards the members below
 * @qp: queue pairs to record
 * @posts: number of posts so far
 * @nr: number of work requests in them
 * @seen: the first work requests
 * @refuse: queue pair on which the last of several work requests fails, or NULL
 * @ses: server session with the queue pair @refuse
 * @sq_avail: its sq_avail when the queue pair is about to be drained
 * @sq_avail_later: the same, a moment later
 */
struct spy {
	struct ib_device *dev;
	int (*post_send)(struct ib_qp *qp, const struct ib_send_wr *wr,
			 const struct ib_send_wr **bad);
	spinlock_t lock;	/* see above */
	const struct ib_qp *qp[SPY_QPS];
	unsigned int posts;
	unsigned int nr;
	struct spied seen[SPY_MAX];
	const struct ib_qp *refuse;
	struct dafsd_session *ses;
	int sq_avail;
	int sq_avail_later;
};

static struct spy spy = {
	.lock = __SPIN_LOCK_UNLOCKED(spy.lock),
};

static void spy_look(struct spied *seen, const struct ib_send_wr *wr)
{
	seen->opcode = wr->opcode;
	seen->flags = wr->send_flags;
	seen->access = 0;
	seen->key = 0;
	switch (wr->opcode) {
	case IB_WR_REG_MR:
		seen->access = reg_wr(wr)->access;
		seen->key = reg_wr(wr)->key;
		break;
	case IB_WR_RDMA_READ:
	case IB_WR_RDMA_WRITE:
		seen->key = rdma_wr(wr)->rkey;
		break;
	case IB_WR_LOCAL_INV:
		seen->key = wr->ex.invalidate_rkey;
		break;
	default:
		break;
	}
}

static void spy_note(enum spy_who who, const struct ib_send_wr *wr)
{
	lockdep_assert_held(&spy.lock);
	for (; wr; wr = wr->next, spy.nr++) {
		if (spy.nr >= SPY_MAX)
			continue;
		spy_look(&spy.seen[spy.nr], wr);
		spy.seen[spy.nr].who = who;
		spy.seen[spy.nr].post = spy.posts;
	}
	spy.posts++;
}

/* Posts all but the last, like a device whose queue is full. */
static int spy_post_in_part(struct ib_qp *qp, const struct ib_send_wr *first,
			    const struct ib_send_wr **bad)
{
	struct ib_send_wr *wr = (struct ib_send_wr *)first, *last;
	int err;

	while (wr->next->next)
		wr = wr->next;
	last = wr->next;
	wr->next = NULL;
	err = spy.post_send(qp, first, bad);
	wr->next = last;
	*bad = last;
	return err ?: -ENOMEM;
}

static int spy_post_send(struct ib_qp *qp, const struct ib_send_wr *wr,
			 const struct ib_send_wr **bad)
{
	unsigned long flags;
	unsigned int i;

	spin_lock_irqsave(&spy.lock, flags);
	for (i = 0; i < SPY_QPS; i++)
		if (spy.qp[i] == qp)
			spy_note(i, wr);
	spin_unlock_irqrestore(&spy.lock, flags);
	if (wr->next && qp == READ_ONCE(spy.refuse))
		return spy_post_in_part(qp, wr, bad);
	return spy.post_send(qp, wr, bad);
}

/* Called before the queue is drained: its entries must not be reused yet. */
static void spy_drain_sq(struct ib_qp *qp)
{
	if (qp == spy.refuse)
		spy.sq_avail = atomic_read(&spy.ses->op->sq_avail);
	/* time for a caller that does not wait for the drain */
	msleep(20);
	if (qp == spy.refuse)
		spy.sq_avail_later = atomic_read(&spy.ses->op->sq_avail);
	WRITE_ONCE(spy.dev->ops.drain_sq, NULL);
	ib_drain_sq(qp);
}

static void spy_end(void *data)
{
	if (!spy.dev)
		return;
	WRITE_ONCE(spy.dev->ops.post_send, spy.post_send);
	WRITE_ONCE(spy.dev->ops.drain_sq, NULL);
	spy.refuse = NULL;
	spy.dev = NULL;
	synchronize_rcu();
}

static void spy_begin(struct kunit *test, const struct ib_qp **qp, struct ib_device *dev)
{
	memcpy(spy.qp, qp, sizeof(spy.qp));
	spy.nr = 0;
	spy.posts = 0;
	spy.dev = dev;
	spy.post_send = dev->ops.post_send;
	WRITE_ONCE(dev->ops.post_send, spy_post_send);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, spy_end, NULL));
}

/* A session from both sides */

/**
 * struct rdma_pair - the two ends of a session
 * @fix: the fixture
 * @conn: connection of the client
 * @ses: session of the server
 */
struct rdma_pair {
	struct dafs_fixture *fix;
	struct dafs_conn *conn;
	struct dafsd_session *ses;
};

static void rdma_put_conn(void *conn)
{
	dafs_conn_put(conn);
}

static void rdma_unhold(void *conn)
{
	dafsd_conn_put(conn);
}

static struct rdma_pair rdma_pair(struct kunit *test, const struct dafs_flavour *flavour)
{
	struct rdma_pair pair = { .fix = dafs_fixture(test, flavour) };

	pair.conn = dafs_conn_get(pair.fix->clnt);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, pair.conn);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, rdma_put_conn, pair.conn));
	pair.ses = dafs_fixture_at_server(test, &pair.conn->session_id);
	return pair;
}

static const struct ib_qp *rdma_chan_qp(const struct dafs_chan *chan)
{
	return chan ? chan->qp : NULL;
}

/* Indexed by enum spy_who; NULL if there is no such channel. */
static void rdma_qps(const struct rdma_pair *pair, const struct ib_qp **qp)
{
	qp[SPY_CLIENT_OP] = rdma_chan_qp(pair->conn->op);
	qp[SPY_CLIENT_RR] = rdma_chan_qp(pair->conn->rr);
	qp[SPY_CLIENT_BC] = rdma_chan_qp(pair->conn->bc);
	qp[SPY_SERVER_OP] = rdma_chan_qp(pair->ses->op->chan);
	qp[SPY_SERVER_RR] = pair->ses->rr ? rdma_chan_qp(pair->ses->rr->chan) : NULL;
	qp[SPY_SERVER_BC] = pair->ses->bc ? rdma_chan_qp(pair->ses->bc->chan) : NULL;
}

#define RDMA_LEN	100000	/* reads of this size use the page cache, smaller ones copy */

static dafs_status_t rdma_append(struct kunit *test, struct rdma_pair *pair,
				 const struct dafs_fh *fh, const void *data, size_t len)
{
	struct dafs_append append = {
		.fh = *fh,
		.stable = DAFS_DATA_SYNC,
		.data = data,
		.len = len,
	};
	struct dafs_append_res res;
	dafs_status_t status = DAFS_NO_STATUS;

	dafs_append(pair->fix->clnt, dafs_test_me(), &append, &res, &status);
	return status;
}

static dafs_status_t rdma_chmod(struct rdma_pair *pair, const struct dafs_fh *fh)
{
	static const struct dafs_state_id no_state;
	struct dafs_fattr attr = {
		.included = DAFS_FATTR_MODE,
		.valid = DAFS_FATTR_MODE,
		.mode = 0640,
	};
	dafs_status_t status = DAFS_NO_STATUS;

	dafs_setattr_direct(pair->fix->clnt, dafs_test_me(), fh, &no_state, &attr, &status);
	return status;
}

static bool rdma_see(void *seen, const struct dafs_direntry *entry)
{
	++*(unsigned int *)seen;
	return true;
}

/* Data and metadata that the server writes to the client's memory */
static void rdma_expect_reads(struct kunit *test, struct rdma_pair *pair, const struct dafs_fh *fh,
			      const u8 *data, u8 *buf)
{
	struct dafs_test_file *file = dafs_test_file(test, pair->fix->clnt, fh);
	struct dafs_fattr *attr = kunit_kzalloc(test, sizeof(*attr), GFP_KERNEL);
	struct dafs_readdir_pos pos = {};
	unsigned int seen = 0;
	struct dafs_ids ids;

	KUNIT_ASSERT_NOT_NULL(test, attr);
	memset(buf, 0, RDMA_LEN);
	KUNIT_EXPECT_EQ(test, 0, dafs_test_file_read(file, buf, RDMA_LEN, 0));
	KUNIT_EXPECT_EQ(test, RDMA_LEN, file->io.done);
	KUNIT_EXPECT_TRUE(test, !memcmp(data, buf, RDMA_LEN));
	KUNIT_EXPECT_EQ(test, 0, dafs_test_file_read(file, buf, 10000, 5));
	KUNIT_EXPECT_FALSE(test, dafs_rdma_refused(&file->sbi, DAFS_RDMA_READ));
	KUNIT_EXPECT_EQ(test, 0, dafs_getattr_direct(pair->fix->clnt, dafs_test_me(), fh,
						     DAFS_FATTR_OBJECT_SIZE, attr, &ids));
	KUNIT_EXPECT_GE(test, attr->object_size, RDMA_LEN);
	KUNIT_EXPECT_EQ(test, 0, dafs_readdir_direct(pair->fix->clnt, dafs_test_me(),
						     &pair->fix->dir, 0, buf, 2000, &pos,
						     rdma_see, &seen));
	KUNIT_EXPECT_EQ(test, 1, seen);
}

static void rdma_expect_link(struct kunit *test, struct rdma_pair *pair)
{
	char text[8] = {};
	struct dafs_fh fh;

	dafs_backing_symlink(test, pair->fix, "dir/link", "target");
	fh = dafs_test_lookup(test, pair->fix, "dir/link");
	KUNIT_EXPECT_EQ(test, 6, dafs_readlink_direct(pair->fix->clnt, dafs_test_me(), &fh, text,
						      sizeof(text)));
	KUNIT_EXPECT_STREQ(test, "target", text);
}

/* All uses of RDMA */
static void rdma_traffic(struct kunit *test, struct rdma_pair *pair)
{
	u8 *data = kunit_kzalloc(test, RDMA_LEN, GFP_KERNEL);
	u8 *buf = kunit_kzalloc(test, RDMA_LEN, GFP_KERNEL);
	struct dafs_test_file *file;
	struct dafs_fh fh;

	KUNIT_ASSERT_NOT_NULL(test, data);
	KUNIT_ASSERT_NOT_NULL(test, buf);
	dafs_test_pattern(data, RDMA_LEN, 11);
	dafs_backing_write(test, pair->fix, "file", "", 0);
	fh = dafs_test_lookup(test, pair->fix, "file");
	file = dafs_test_file(test, pair->fix->clnt, &fh);
	KUNIT_EXPECT_EQ(test, 0, dafs_test_file_write(file, data, RDMA_LEN, 0));
	KUNIT_EXPECT_FALSE(test, dafs_rdma_refused(&file->sbi, DAFS_RDMA_WRITE));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, rdma_append(test, pair, &fh, data, 5000));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, rdma_chmod(pair, &fh));
	rdma_expect_reads(test, pair, &fh, data, buf);
	dafs_backing_mkdir(test, pair->fix, "dir", 0777);
	rdma_expect_link(test, pair);
	KUNIT_EXPECT_EQ(test, 0, dafs_null(pair->fix->clnt, dafs_test_me()));
}

/* Which work requests may be posted on which queue pair */

static bool spied_by_server(const struct spied *s)
{
	return s->who >= SPY_SERVER_OP;
}

/* The next work request of the same post, or NULL. */
static const struct spied *spied_next(const struct spied *s)
{
	const struct spied *next = s + 1;

	return next < spy.seen + spy.nr && next->post == s->post ? next : NULL;
}

/* Return: true if the key of @s is registered and has not been invalidated. */
static bool spied_registered(const struct spied *s)
{
	const struct spied *r;
	bool registered = false;

	for (r = spy.seen; r < s; r++)
		if (r->key == s->key)
			registered = r->opcode == IB_WR_REG_MR ||
				     (registered && r->opcode != IB_WR_LOCAL_INV);
	return registered;
}

/* R-E.7-01 R-E.7-02 R-E.7-03: plain sends, reads and writes, and never an event */
static void spied_expect_kind(struct kunit *test, const struct spied *s)
{
	bool known = s->opcode == IB_WR_SEND;

	if (spied_by_server(s))
		known |= s->opcode == IB_WR_RDMA_READ || s->opcode == IB_WR_RDMA_WRITE;
	else
		known |= s->opcode == IB_WR_REG_MR || s->opcode == IB_WR_LOCAL_INV;
	KUNIT_EXPECT_TRUE_MSG(test, known, "opcode %d on %d", s->opcode, s->who);
	KUNIT_EXPECT_EQ(test, 0, s->flags & IB_SEND_SOLICITED);
}

/* Memory has one of two access modes, and is registered ahead of the request that names it. */
static void spied_expect_memory(struct kunit *test, const struct spied *s)
{
	const struct spied *next = spied_next(s);

	KUNIT_EXPECT_EQ(test, SPY_CLIENT_OP, s->who);
	KUNIT_EXPECT_TRUE_MSG(test, s->access == IB_ACCESS_REMOTE_READ ||
			      s->access == (IB_ACCESS_REMOTE_WRITE | IB_ACCESS_LOCAL_WRITE),
			      "access %x", s->access);
	KUNIT_EXPECT_TRUE(test, next && (next->opcode == IB_WR_REG_MR ||
					 next->opcode == IB_WR_SEND));
}

/* The write of no bytes behind the RDMA READs on soft-RoCE */
static bool spied_is_proof(const struct spied *s)
{
	return !s->key && s > spy.seen && s[-1].post == s->post &&
	       s[-1].opcode == IB_WR_RDMA_READ;
}

/* The data is posted ahead of the response, in one post on the same queue pair. */
static void spied_expect_write(struct kunit *test, const struct spied *s)
{
	const struct spied *next = spied_next(s);

	if (spied_is_proof(s))
		return;
	KUNIT_EXPECT_EQ(test, SPY_SERVER_OP, s->who);
	KUNIT_EXPECT_TRUE(test, spied_registered(s));
	KUNIT_EXPECT_TRUE(test, next && (next->opcode == IB_WR_RDMA_WRITE ||
					 next->opcode == IB_WR_SEND));
}

static void spied_expect(struct kunit *test, const struct spied *s, bool rdma_read)
{
	spied_expect_kind(test, s);
	switch (s->opcode) {
	case IB_WR_REG_MR:
		spied_expect_memory(test, s);
		break;
	case IB_WR_RDMA_WRITE:
		spied_expect_write(test, s);
		break;
	case IB_WR_RDMA_READ:
		KUNIT_EXPECT_EQ(test, rdma_read ? SPY_SERVER_RR : SPY_SERVER_OP, s->who);
		KUNIT_EXPECT_TRUE(test, spied_registered(s));
		break;
	default:
		/* no messages on the RDMA-read channel */
		KUNIT_EXPECT_NE(test, SPY_SERVER_RR, s->who);
		KUNIT_EXPECT_NE(test, SPY_CLIENT_RR, s->who);
	}
}

static unsigned int spied_count(enum ib_wr_opcode opcode)
{
	unsigned int i, count = 0;

	for (i = 0; i < spy.nr; i++)
		count += spy.seen[i].opcode == opcode;
	return count;
}

/*
 * R-3.2.3-01 R-D.4.3-01: only the server issues RDMA, and it offers no memory;
 * R-4.2.2.1-01 R-E.6.1-01 R-E.6.1-02: memory is registered before the request that
 * names it, with no other access; R-2.3.3-03: RDMA writes are posted ahead of the
 * response; R-4.2.2.3-01: metadata as well as data; R-3.1.2.3.4-04 R-3.1.2.3.5-01
 * R-3.2.3.2.1-02: RDMA reads use the RDMA-read channel if there is one, which is
 * used for nothing else
 */
static void dafs_rdma_posted_test(struct kunit *test)
{
	const struct dafs_flavour *flavour = test->param_value;
	struct rdma_pair pair = rdma_pair(test, flavour);
	const struct ib_qp *qp[SPY_QPS];
	unsigned int i;

	KUNIT_EXPECT_EQ(test, flavour->rdma_read, pair.conn->opts.use_rdma_read_channel);
	KUNIT_EXPECT_EQ(test, flavour->rdma_read, !!pair.ses->rr);
	rdma_qps(&pair, qp);
	spy_begin(test, qp, pair.conn->op->id->device);
	rdma_traffic(test, &pair);
	spy_end(NULL);
	KUNIT_ASSERT_LE(test, spy.nr, SPY_MAX);
	for (i = 0; i < spy.nr; i++)
		spied_expect(test, &spy.seen[i], flavour->rdma_read);
	/* at least one for each of the calls above, or they were not recorded */
	KUNIT_EXPECT_GE(test, spied_count(IB_WR_RDMA_READ), 3);
	KUNIT_EXPECT_GE(test, spied_count(IB_WR_RDMA_WRITE), 5);
	KUNIT_EXPECT_GE(test, spied_count(IB_WR_REG_MR), 8);
	KUNIT_EXPECT_EQ(test, spied_count(IB_WR_REG_MR), spied_count(IB_WR_LOCAL_INV));
}

/* On which channel the server may read */

static const struct dafs_flavour rdma_ways[] = {
	{ .name = "operation channel" },
	{ .name = "RDMA-read channel", .rdma_read = true },
	{ .name = "RDMA-read channel, swapped", .rdma_read = true, .swab = true },
};

KUNIT_ARRAY_PARAM_DESC(rdma_ways, rdma_ways, name);

/* Writes that the client sends by RDMA if it can, and the status of hand-built ones. */
static void rdma_expect_writes(struct kunit *test, struct rdma_pair *pair,
			       const struct dafs_fh *fh, const u8 *data, dafs_status_t status)
{
	struct dafs_test_file *file = dafs_test_file(test, pair->fix->clnt, fh);

	KUNIT_EXPECT_EQ(test, 0, dafs_test_file_write(file, data, 5000, 0));
	KUNIT_EXPECT_EQ(test, status != DAFS_STATUS_OK,
			dafs_rdma_refused(&file->sbi, DAFS_RDMA_WRITE));
	DAFS_EXPECT_STATUS(test, status, rdma_append(test, pair, fh, data, 5000));
	DAFS_EXPECT_STATUS(test, status, rdma_chmod(pair, fh));
}

static void rdma_forbid(struct dafs_chan *chan, u8 *depth)
{
	*depth = chan->limits.initiator_depth;
	chan->limits.initiator_depth = 0;
}

/*
 * R-7-05 R-6.5.4-02 R-3.1.2.3.4-03 R-3.1.2.3.2-07: if it may not read, only
 * procedures that need RDMA reads are refused; neither channel replaces the other
 * (E-55, E-126)
 */
static void dafs_rdma_read_channel_test(struct kunit *test)
{
	const struct dafs_flavour *way = test->param_value;
	struct rdma_pair pair = rdma_pair(test, way);
	u8 *data = kunit_kzalloc(test, RDMA_LEN, GFP_KERNEL);
	u8 *buf = kunit_kzalloc(test, RDMA_LEN, GFP_KERNEL);
	struct dafs_fh fh;
	u8 op, rr;

	KUNIT_ASSERT_NOT_NULL(test, data);
	KUNIT_ASSERT_NOT_NULL(test, buf);
	dafs_test_pattern(data, RDMA_LEN, 12);
	dafs_backing_write(test, pair.fix, "file", data, RDMA_LEN);
	fh = dafs_test_lookup(test, pair.fix, "file");
	rdma_expect_writes(test, &pair, &fh, data, DAFS_STATUS_OK);
	rdma_forbid(pair.ses->op->chan, &op);
	rdma_expect_writes(test, &pair, &fh, data, way->rdma_read ? DAFS_STATUS_OK :
			   DAFSERR_RDMA_READ_CHANNEL_UNUSABLE);
	rdma_expect_reads(test, &pair, &fh, data, buf);
	pair.ses->op->chan->limits.initiator_depth = op;
	if (!way->rdma_read)
		return;
	rdma_forbid(pair.ses->rr->chan, &rr);
	rdma_expect_writes(test, &pair, &fh, data, DAFSERR_RDMA_READ_CHANNEL_UNUSABLE);
	rdma_expect_reads(test, &pair, &fh, data, buf);
	pair.ses->rr->chan->limits.initiator_depth = rr;
	rdma_expect_writes(test, &pair, &fh, data, DAFS_STATUS_OK);
}

/*
 * After the server has refused direct writes the client writes inline, until the next
 * connection.
 */
static void dafs_rdma_refusal_ends_test(struct kunit *test)
{
	struct rdma_pair pair = rdma_pair(test, &rdma_ways[0]);
	u8 *data = kunit_kzalloc(test, RDMA_LEN, GFP_KERNEL);
	struct dafs_test_file *file;
	unsigned int tries;
	struct dafs_fh fh;
	u8 op;

	KUNIT_ASSERT_NOT_NULL(test, data);
	dafs_backing_write(test, pair.fix, "file", data, RDMA_LEN);
	fh = dafs_test_lookup(test, pair.fix, "file");
	file = dafs_test_file(test, pair.fix->clnt, &fh);
	rdma_forbid(pair.ses->op->chan, &op);
	KUNIT_EXPECT_EQ(test, 0, dafs_test_file_write(file, data, 5000, 0));
	pair.ses->op->chan->limits.initiator_depth = op;
	KUNIT_EXPECT_EQ(test, 0, dafs_test_file_write(file, data, 5000, 0));
	KUNIT_EXPECT_FALSE(test, file->io.direct);
	dafs_conn_failed(pair.conn);
	for (tries = 0; tries < 500 && dafs_rdma_refused(&file->sbi, DAFS_RDMA_WRITE); tries++)
		msleep(20);
	KUNIT_EXPECT_EQ(test, 0, dafs_test_file_write(file, data, 5000, 0));
	KUNIT_EXPECT_TRUE(test, file->io.direct);
}

/* Queue pairs */

static int rdma_qp_access(struct kunit *test, const struct dafs_chan *chan)
{
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr = {};

	KUNIT_EXPECT_EQ(test, 0, ib_query_qp(chan->qp, &attr, IB_QP_ACCESS_FLAGS, &init));
	return attr.qp_access_flags & (IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE);
}

static u16 rdma_pkey(const struct dafs_chan *chan)
{
	return ib_addr_get_pkey(&chan->id->route.addr.dev_addr);
}

/*
 * R-2.3.3-01 R-E.5.3.1.3-01 R-E.5.3.1.3-02 R-E.5.3.1.1-02: reliable connections in one
 * partition with the access rights that the server needs; as far as this can be seen
 * on a device with one partition
 */
static void dafs_rdma_qp_test(struct kunit *test)
{
	struct dafs_flavour all = { .rdma_read = true, .back_control = true };
	struct rdma_pair pair = rdma_pair(test, &all);
	const struct ib_qp *qp[SPY_QPS];
	unsigned int i;

	rdma_qps(&pair, qp);
	for (i = 0; i < SPY_QPS; i++) {
		KUNIT_ASSERT_NOT_NULL(test, qp[i]);
		KUNIT_EXPECT_EQ(test, IB_QPT_RC, qp[i]->qp_type);
	}
	KUNIT_EXPECT_EQ(test, IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE,
			rdma_qp_access(test, pair.conn->op));
	KUNIT_EXPECT_TRUE(test, rdma_qp_access(test, pair.conn->rr) & IB_ACCESS_REMOTE_READ);
	KUNIT_EXPECT_EQ(test, rdma_pkey(pair.conn->op), rdma_pkey(pair.conn->rr));
	KUNIT_EXPECT_EQ(test, rdma_pkey(pair.conn->op), rdma_pkey(pair.conn->bc));
}

/**
 * struct rdma_early - whether new queue pairs have a receive posted when they become RTR
 * @dev: the device, or NULL
 * @modify_qp: the replaced operation; kept after the end, for callers still in it
 * @post_recv: likewise
 * @lock: guards what follows
 * @qp: queue pairs on which a receive was posted
 * @posted: number of these
 * @late: number that became RTR without a receive
 * @ready: number that became RTR with one
 */
struct rdma_early {
	struct ib_device *dev;
	int (*modify_qp)(struct ib_qp *qp, struct ib_qp_attr *attr, int mask,
			 struct ib_udata *udata);
	int (*post_recv)(struct ib_qp *qp, const struct ib_recv_wr *wr,
			 const struct ib_recv_wr **bad);
	spinlock_t lock;	/* see above */
	const struct ib_qp *qp[2 * SPY_QPS];
	unsigned int posted;
	unsigned int late;
	unsigned int ready;
};

static struct rdma_early rdma_early = {
	.lock = __SPIN_LOCK_UNLOCKED(rdma_early.lock),
};

/* Return: its index in rdma_early.qp, or rdma_early.posted. */
static unsigned int rdma_early_find(const struct ib_qp *qp)
{
	unsigned int i = 0;

	lockdep_assert_held(&rdma_early.lock);
	while (i < rdma_early.posted && rdma_early.qp[i] != qp)
		i++;
	return i;
}

static int rdma_early_post_recv(struct ib_qp *qp, const struct ib_recv_wr *wr,
				const struct ib_recv_wr **bad)
{
	unsigned long flags;

	spin_lock_irqsave(&rdma_early.lock, flags);
	if (rdma_early_find(qp) == rdma_early.posted &&
	    rdma_early.posted < ARRAY_SIZE(rdma_early.qp))
		rdma_early.qp[rdma_early.posted++] = qp;
	spin_unlock_irqrestore(&rdma_early.lock, flags);
	return rdma_early.post_recv(qp, wr, bad);
}

static int rdma_early_modify_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask,
				struct ib_udata *udata)
{
	unsigned long flags;

	if ((mask & IB_QP_STATE) && attr->qp_state == IB_QPS_RTR) {
		spin_lock_irqsave(&rdma_early.lock, flags);
		if (rdma_early_find(qp) < rdma_early.posted)
			rdma_early.ready++;
		else
			rdma_early.late++;
		spin_unlock_irqrestore(&rdma_early.lock, flags);
	}
	return rdma_early.modify_qp(qp, attr, mask, udata);
}

static void rdma_early_end(void *data)
{
	struct ib_device *dev = rdma_early.dev;

	WRITE_ONCE(dev->ops.post_recv, rdma_early.post_recv);
	WRITE_ONCE(dev->ops.modify_qp, rdma_early.modify_qp);
	synchronize_rcu();
}

static void rdma_early_begin(struct kunit *test, struct ib_device *dev)
{
	rdma_early.dev = dev;
	rdma_early.posted = 0;
	rdma_early.late = 0;
	rdma_early.ready = 0;
	rdma_early.modify_qp = dev->ops.modify_qp;
	rdma_early.post_recv = dev->ops.post_recv;
	WRITE_ONCE(dev->ops.modify_qp, rdma_early_modify_qp);
	WRITE_ONCE(dev->ops.post_recv, rdma_early_post_recv);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, rdma_early_end, NULL));
}

/*
 * R-D.4.4-01 R-E.5.3.2.1-01: each end of the three connections has posted a receive
 * when its queue pair becomes RTR, which is before the peer is told
 */
static void dafs_rdma_early_test(struct kunit *test)
{
	struct dafs_flavour all = { .rdma_read = true, .back_control = true };
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_client_params params;

	dafs_fixture_params(&all, &params);
	params.back_control = true;
	rdma_early_begin(test, fix->dev);
	dafs_fixture_client(test, &params);
	KUNIT_EXPECT_EQ(test, 0, rdma_early.late);
	KUNIT_EXPECT_EQ(test, SPY_QPS, rdma_early.ready);
}

struct rdma_refused {
	const char *name;
	bool write;
};

static const struct rdma_refused rdma_refused[] = {
	{ "read", false },
	{ "write", true },
};

KUNIT_ARRAY_PARAM_DESC(rdma_refused, rdma_refused, name);

/*
 * Work requests that the device accepted before it refused one of the same post are
 * still executed: their memory is freed when the queue pair is drained, not before.
 */
static void dafs_rdma_refused_test(struct kunit *test)
{
	const struct rdma_refused *way = test->param_value;
	struct rdma_pair pair = rdma_pair(test, NULL);
	u8 *data = kunit_kzalloc(test, RDMA_LEN, GFP_KERNEL);
	struct kvec pieces[] = { { data, 50001 }, { data + 50008, RDMA_LEN - 50008 } };
	const struct ib_qp *qp[SPY_QPS];
	struct dafs_test_file *file;
	struct dafs_fh fh;
	int all;

	KUNIT_ASSERT_NOT_NULL(test, data);
	dafs_test_pattern(data, RDMA_LEN, 8);
	dafs_backing_write(test, pair.fix, "file", data, RDMA_LEN);
	fh = dafs_test_lookup(test, pair.fix, "file");
	file = dafs_test_file(test, pair.fix->clnt, &fh);
	rdma_qps(&pair, qp);
	all = atomic_read(&pair.ses->op->sq_avail);
	spy.ses = pair.ses;
	spy.sq_avail = all;
	spy.sq_avail_later = all;
	spy_begin(test, qp, pair.ses->op->chan->id->device);
	WRITE_ONCE(spy.refuse, qp[SPY_SERVER_OP]);
	WRITE_ONCE(spy.dev->ops.drain_sq, spy_drain_sq);
	/* the client reconnects, and the call succeeds */
	KUNIT_EXPECT_EQ(test, 0, way->write ? dafs_test_file_writev(file, pieces, 2, 0) :
					      dafs_test_file_read(file, data, RDMA_LEN, 0));
	KUNIT_EXPECT_EQ(test, way->write ? RDMA_LEN - 7 : RDMA_LEN, file->io.done);
	KUNIT_EXPECT_FALSE(test, dafs_chan_is_open(pair.ses->op->chan));
	KUNIT_EXPECT_LT(test, spy.sq_avail, all);
	KUNIT_EXPECT_LT(test, spy.sq_avail_later, all);
	spy_end(NULL);
}

/* Memory regions of the server */

static void rdma_no_regions(void *data)
{
	struct ib_device *dev = data;

	dev->attrs.max_sgl_rd = 0;
}

/* As on a device that needs memory regions to read into several pieces of memory */
static void rdma_want_regions(struct kunit *test, struct ib_device *dev)
{
	KUNIT_ASSERT_EQ(test, 0, dev->attrs.max_sgl_rd);
	dev->attrs.max_sgl_rd = 1;
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, rdma_no_regions, dev));
}

static bool rdma_has_regions(const struct dafs_chan *chan)
{
	return chan->nr_rw_mrs || !list_empty(&chan->qp->rdma_mrs);
}

static struct dafsd_conn *rdma_hold(struct kunit *test, struct dafsd_conn *conn)
{
	KUNIT_ASSERT_NOT_NULL(test, conn);
	kref_get(&conn->ref);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, rdma_unhold, conn));
	return conn;
}

static unsigned int rdma_registrations(enum spy_who who)
{
	unsigned int i, nr = 0;

	for (i = 0; i < min(spy.nr, SPY_MAX); i++)
		if (spy.seen[i].who == who && spy.seen[i].opcode == IB_WR_REG_MR)
			nr++;
	return nr;
}

/*
 * The server's channels have no memory regions until they need them; a back-control
 * channel, which moves no data, has no send queue entries for RDMA.
 */
static void dafs_rdma_regions_test(struct kunit *test)
{
	struct dafs_flavour all = { .rdma_read = true, .back_control = true };
	struct ib_device *dev = rdma_pair(test, NULL).ses->op->chan->id->device;
	u8 *data = kunit_kzalloc(test, RDMA_LEN, GFP_KERNEL);
	u8 *now = kunit_kzalloc(test, RDMA_LEN + 1, GFP_KERNEL);
	const struct ib_qp *qp[SPY_QPS];
	struct dafs_test_file *file;
	struct dafsd_conn *rr;
	struct rdma_pair pair;
	struct dafs_chan *bc;
	struct dafs_fh fh;

	KUNIT_ASSERT_NOT_NULL(test, data);
	KUNIT_ASSERT_NOT_NULL(test, now);
	rdma_want_regions(test, dev);
	pair = rdma_pair(test, &all);
	rr = rdma_hold(test, pair.ses->rr);
	bc = rdma_hold(test, pair.ses->bc)->chan;
	KUNIT_EXPECT_FALSE(test, rdma_has_regions(pair.ses->op->chan));
	KUNIT_EXPECT_FALSE(test, rdma_has_regions(rr->chan));
	KUNIT_EXPECT_EQ(test, 0, bc->limits.rdma_wrs);
	KUNIT_EXPECT_EQ(test, 0, bc->limits.initiator_depth);
	KUNIT_EXPECT_EQ(test, -ENOSPC, dafs_chan_add_mr(bc));

	/* one is used, and its send queue entries are given back */
	KUNIT_EXPECT_EQ(test, 0, dafs_chan_add_mr(rr->chan));
	dafs_test_pattern(data, RDMA_LEN, 15);
	dafs_backing_write(test, pair.fix, "file", data, 1);
	fh = dafs_test_lookup(test, pair.fix, "file");
	file = dafs_test_file(test, pair.fix->clnt, &fh);
	rdma_qps(&pair, qp);
	spy_begin(test, qp, dev);
	KUNIT_EXPECT_EQ(test, 0, dafs_test_file_write(file, data, RDMA_LEN, 0));
	spy_end(NULL);
	KUNIT_EXPECT_EQ(test, 1, rdma_registrations(SPY_SERVER_RR));
	KUNIT_EXPECT_EQ(test, (ssize_t)RDMA_LEN,
			dafs_backing_read(pair.fix, "file", now, RDMA_LEN + 1, 0));
	KUNIT_EXPECT_TRUE(test, !memcmp(data, now, RDMA_LEN));
	KUNIT_EXPECT_EQ(test, 1, rr->chan->nr_rw_mrs);
	KUNIT_EXPECT_FALSE(test, list_empty(&rr->chan->qp->rdma_mrs));
	KUNIT_EXPECT_EQ(test, rr->chan->limits.rdma_wrs, atomic_read(&rr->sq_avail));
	KUNIT_EXPECT_FALSE(test, rdma_has_regions(pair.ses->op->chan));

	/* it is freed, and another one is made when needed */
	dafs_chan_trim_mrs(rr->chan);
	KUNIT_EXPECT_FALSE(test, rdma_has_regions(rr->chan));
	KUNIT_EXPECT_EQ(test, 0, dafs_test_file_write(file, data, RDMA_LEN, 0));
}

static struct kunit_case dafs_rdma_cases[] = {
	KUNIT_CASE(dafs_rdma_regions_test),
	KUNIT_CASE_PARAM(dafs_rdma_refused_test, rdma_refused_gen_params),
	KUNIT_CASE_PARAM(dafs_rdma_posted_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_rdma_read_channel_test, rdma_ways_gen_params),
	KUNIT_CASE(dafs_rdma_refusal_ends_test),
	KUNIT_CASE(dafs_rdma_qp_test),
	KUNIT_CASE(dafs_rdma_early_test),
	{}
};

static struct kunit_suite dafs_rdma_suite = {
	.name = "dafs_rdma",
	.test_cases = dafs_rdma_cases,
};

kunit_test_suite(dafs_rdma_suite);
