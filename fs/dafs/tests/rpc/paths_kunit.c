// SPDX-License-Identifier: GPL-2.0
/*
 * Several paths to a server (3.1.2): requests are spread over them, what was lost with one goes by
 * another, and the server that has the file system if this one fails is found (5.3).
 */
#include <linux/delay.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/kthread.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/dafs/stats.h>
#include "../../../../drivers/dafsd/session/client.h"
#include "../../../../drivers/dafsd/session/server.h"
#include "../../../../drivers/dafsd/session/session.h"
#include "../../rpc/rpc_impl.h"
#include "../lib/fixture.h"
#include "../lib/raw.h"

#define PATHS_MOST	4

/**
 * struct paths - a client with several paths
 * @test: the test
 * @fix: where its files are
 * @params: of the client
 * @clnt: the client
 * @dirs: names of directories
 */
struct paths {
	struct kunit *test;
	struct dafs_fixture *fix;
	struct dafs_client_params params;
	struct dafs_client *clnt;
	char dirs[PATHS_MOST][8];
};

static unsigned int paths_up(struct dafs_client *clnt)
{
	struct dafs_path_info info;
	unsigned int i, up = 0;

	for (i = 0; dafs_client_path_info(clnt, i, &info); i++)
		up += info.up;
	return up;
}

static void paths_await(struct kunit *test, struct dafs_client *clnt, unsigned int up)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);

	while (paths_up(clnt) != up && time_before(jiffies, end))
		msleep(20);
	KUNIT_ASSERT_EQ(test, up, paths_up(clnt));
}

/* Sessions that the server has with the client */
static unsigned int paths_at_server(struct paths *p)
{
	struct dafs_client_id client_id = dafs_test_client_id(p->test, p->clnt);
	struct dafsd_client *client;
	unsigned int nr = 0;

	mutex_lock(&dafsd_server.clients_lock);
	list_for_each_entry(client, &dafsd_server.clients, node)
		if (!memcmp(&client->client_id, &client_id, sizeof(client_id)))
			nr += list_count_nodes(&client->sessions);
	mutex_unlock(&dafsd_server.clients_lock);
	return nr;
}

static void paths_await_at_server(struct paths *p, unsigned int nr)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);

	while (paths_at_server(p) != nr && time_before(jiffies, end))
		msleep(20);
	KUNIT_EXPECT_EQ(p->test, nr, paths_at_server(p));
}

static struct paths *paths_make(struct kunit *test, const char *name)
{
	struct paths *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, p);
	p->test = test;
	p->fix = dafs_fixture_in(test, test->param_value, DAFS_TEST_SQUASH);
	dafs_backing_chmod(test, p->fix, ".", 0777);
	dafs_fixture_client_params(test->param_value, &p->params, "paths %s", name);
	p->params.soft = false;
	for (i = 0; i < PATHS_MOST; i++)
		snprintf(p->dirs[i], sizeof(p->dirs[i]), "d%u", i);
	return p;
}

static void paths_connect(struct paths *p, unsigned int nr)
{
	p->params.nconnect = nr;
	p->clnt = dafs_fixture_client(p->test, &p->params);
	paths_await(p->test, p->clnt, nr);
}

/**
 * struct paths_task - makes a directory, and removes it, by a task of its own
 * @p: where
 * @nr: number of the directory
 * @made: status of making it
 * @ended: it has done so
 */
struct paths_task {
	struct paths *p;
	unsigned int nr;
	dafs_status_t made;
	struct completion ended;
};

static dafs_status_t paths_mkdir(struct paths *p, const char *name)
{
	struct dafs_create_args args = {
		.filehandle = p->fix->dir,
		.component = dafs_test_str(name),
		.obj_type = DAFS_TYPE_DIR,
	};

	return dafs_test_call(p->test, p->clnt, dafs_test_me(), DAFS_PROC_CREATE, &args, NULL);
}

static dafs_status_t paths_rmdir(struct paths *p, const char *name)
{
	struct dafs_remove_args args = {
		.filehandle = p->fix->dir,
		.target = dafs_test_str(name),
	};

	return dafs_test_call(p->test, p->clnt, dafs_test_me(), DAFS_PROC_REMOVE, &args, NULL);
}

static int paths_task_run(void *priv)
{
	struct paths_task *t = priv;

	t->made = paths_mkdir(t->p, t->p->dirs[t->nr]);
	complete(&t->ended);
	return 0;
}

static struct paths_task *paths_task_begin(struct paths *p, unsigned int nr)
{
	struct paths_task *t = kunit_kzalloc(p->test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(p->test, t);
	*t = (struct paths_task){ .p = p, .nr = nr };
	init_completion(&t->ended);
	KUNIT_ASSERT_FALSE(p->test, IS_ERR(kthread_run(paths_task_run, t, "dafs_paths")));
	return t;
}

static void paths_task_end(struct paths_task *t)
{
	struct kunit *test = t->p->test;

	KUNIT_ASSERT_TRUE(test, wait_for_completion_timeout(&t->ended,
							    msecs_to_jiffies(RAW_WAIT_MS)));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, t->made);
}

static unsigned int paths_outstanding(struct dafs_client *clnt, unsigned int nr)
{
	struct dafs_path_info info = {};

	dafs_client_path_info(clnt, nr, &info);
	return info.outstanding;
}

/* Waits until so many requests are on their way. */
static void paths_await_outstanding(struct paths *p, unsigned int wanted)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	unsigned int i, found;

	do {
		msleep(20);
		for (i = 0, found = 0; i < p->params.nconnect; i++)
			found += paths_outstanding(p->clnt, i);
	} while (found < wanted && time_before(jiffies, end));
	KUNIT_EXPECT_EQ(p->test, wanted, found);
}

/*
 * R-2.4.3-01: a client has several sessions, with one client-id.  As many requests as there are
 * paths go one by each.
 */
static void dafs_paths_spread_test(struct kunit *test)
{
	struct paths *p = paths_make(test, "spread");
	struct paths_task *tasks[PATHS_MOST];
	unsigned int i;

	paths_connect(p, PATHS_MOST);
	KUNIT_EXPECT_EQ(test, PATHS_MOST, paths_at_server(p));
	/* so that the user is known */
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, paths_mkdir(p, "first"));
	dafs_fixture_freeze(test, p->fix);
	for (i = 0; i < PATHS_MOST; i++) {
		tasks[i] = paths_task_begin(p, i);
		/* before the next one is sent */
		paths_await_outstanding(p, i + 1);
	}
	for (i = 0; i < PATHS_MOST; i++)
		KUNIT_EXPECT_EQ(test, 1, paths_outstanding(p->clnt, i));
	dafs_fixture_thaw(test, p->fix);
	for (i = 0; i < PATHS_MOST; i++)
		paths_task_end(tasks[i]);
}

static void paths_break(struct dafs_client *clnt, unsigned int nr)
{
	struct dafs_conn *conn = dafs_path_try_get(&clnt->ses->paths[nr]);

	if (!conn)
		return;
	dafs_conn_failed(conn);
	dafs_conn_put(conn);
}

static void paths_await_reconnects(struct paths *p, unsigned int nr, unsigned int most)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	struct dafs_path_info info = {};

	while (info.reconnects < most && time_before(jiffies, end)) {
		msleep(20);
		dafs_client_path_info(p->clnt, nr, &info);
	}
	KUNIT_EXPECT_EQ(p->test, most, info.reconnects);
}

/* The path on which a request is being executed */
static struct dafs_path *paths_busy(struct paths *p)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	unsigned int i;

	do {
		for (i = 0; i < p->params.nconnect; i++)
			if (paths_outstanding(p->clnt, i))
				return &p->clnt->ses->paths[i];
		msleep(20);
	} while (time_before(jiffies, end));
	return NULL;
}

static u64 paths_calls(struct paths *p, u32 proc)
{
	u64 sums[DAFS_NR_STATS];

	dafs_stats_read(p->clnt->stats, proc, sums);
	return sums[DAFS_STAT_CALLS];
}

/* The last user of a session tells the server, which may be a moment after it has its response. */
static u64 paths_discards(struct paths *p)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);

	while (!paths_calls(p, DAFS_PROC_DISCARD_RESPONSES) && time_before(jiffies, end))
		msleep(20);
	return paths_calls(p, DAFS_PROC_DISCARD_RESPONSES);
}

/* Waits until no task uses a lost connection: until then the server keeps its session. */
static void paths_await_conns(struct paths *p, int nr)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	const struct dafs_session *ses = p->clnt->ses;

	while (atomic_read(&ses->nr_conns) != nr && time_before(jiffies, end))
		msleep(20);
	KUNIT_EXPECT_EQ(p->test, nr, atomic_read(&ses->nr_conns));
}

static void paths_let_reconnect(void *path)
{
	struct dafs_path *pa = path;

	enable_delayed_work(&pa->reconnect);
	queue_delayed_work(system_unbound_wq, &pa->reconnect, 0);
}

/*
 * The session that a request was sent on is lost and does not come back.  Another one of the client
 * is asked what became of it, and has the response.  R-5.2.5-06: then the server is told to forget
 * it.
 */
static void dafs_paths_lost_test(struct kunit *test)
{
	struct paths *p = paths_make(test, "lost");
	struct paths_task *task;
	struct dafs_path *path;

	paths_connect(p, 2);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, paths_mkdir(p, "first"));
	dafs_fixture_freeze(test, p->fix);
	task = paths_task_begin(p, 0);
	path = paths_busy(p);
	KUNIT_ASSERT_NOT_NULL(test, path);
	/* the server executes it */
	msleep(RAW_QUIET_MS);
	disable_delayed_work_sync(&path->reconnect);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, paths_let_reconnect, path));
	dafs_conn_failed(path->conn);
	paths_await(test, p->clnt, 1);
	paths_await_conns(p, 1);
	KUNIT_EXPECT_FALSE(test, completion_done(&task->ended));
	dafs_fixture_thaw(test, p->fix);
	paths_task_end(task);
	KUNIT_EXPECT_EQ(test, 1, paths_up(p->clnt));
	KUNIT_EXPECT_LE(test, 1, paths_calls(p, DAFS_PROC_CHECK_RESPONSE));
	KUNIT_EXPECT_EQ(test, 1, paths_calls(p, DAFS_PROC_FETCH_RESPONSE));
	KUNIT_EXPECT_EQ(test, 1, paths_discards(p));
	kunit_release_action(test, paths_let_reconnect, path);
	paths_await(test, p->clnt, 2);
}

static void paths_set_port(struct sockaddr_storage *addr, __be16 port)
{
	if (addr->ss_family == AF_INET)
		((struct sockaddr_in *)addr)->sin_port = port;
	else
		((struct sockaddr_in6 *)addr)->sin6_port = port;
}

/* The address of a path is dead: it goes by another one of the server's. */
static void dafs_paths_address_test(struct kunit *test)
{
	struct paths *p = paths_make(test, "address");
	struct dafs_path_info info;

	memcpy(&p->params.more[0], &p->params.dst, sizeof(p->params.more[0]));
	p->params.nr_more = 1;
	p->params.more[0].in.sin_port = htons(1);
	paths_connect(p, 2);
	dafs_client_path_info(p->clnt, 1, &info);
	KUNIT_EXPECT_NE(test, 1, ntohs(((struct sockaddr_in *)&info.at)->sin_port));
	paths_set_port(&p->clnt->params.dst, htons(2));
	memcpy(&p->clnt->params.more[0], &p->params.dst, sizeof(p->params.more[0]));
	paths_break(p->clnt, 0);
	paths_await_reconnects(p, 0, 1);
	dafs_client_path_info(p->clnt, 0, &info);
	KUNIT_EXPECT_EQ(test, ntohs(((struct sockaddr_in *)&p->params.dst)->sin_port),
			ntohs(((struct sockaddr_in *)&info.at)->sin_port));
	paths_await_at_server(p, 2);
}

/**
 * struct paths_breaker - breaks connections, and changes the number of paths
 * @clnt: of this client
 * @work: does so, and comes again
 * @breaks: how often
 */
struct paths_breaker {
	struct dafs_client *clnt;
	struct delayed_work work;
	unsigned int breaks;
};

static void paths_breaker_work(struct work_struct *work)
{
	struct paths_breaker *b = container_of(to_delayed_work(work), struct paths_breaker, work);

	paths_break(b->clnt, get_random_u32_below(PATHS_MOST));
	if (!(b->breaks++ % 8))
		dafs_client_set_paths(b->clnt, 1 + get_random_u32_below(PATHS_MOST));
	schedule_delayed_work(&b->work, msecs_to_jiffies(20 + get_random_u32_below(40)));
}

static void paths_break_no_more(void *breaker)
{
	struct paths_breaker *b = breaker;

	cancel_delayed_work_sync(&b->work);
}

static struct paths_breaker *paths_break_often(struct paths *p)
{
	struct paths_breaker *b = kunit_kzalloc(p->test, sizeof(*b), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(p->test, b);
	b->clnt = p->clnt;
	INIT_DELAYED_WORK(&b->work, paths_breaker_work);
	schedule_delayed_work(&b->work, 0);
	KUNIT_ASSERT_EQ(p->test, 0, kunit_add_action_or_reset(p->test, paths_break_no_more, b));
	return b;
}

/**
 * struct paths_changer - a task that makes directories and removes them, over and over
 * @p: where
 * @nr: number of the directory
 * @end: jiffies when it ends
 * @done: how often
 * @ended: it has
 */
struct paths_changer {
	struct paths *p;
	unsigned int nr;
	unsigned long end;
	unsigned int done;
	struct completion ended;
};

static int paths_change(void *priv)
{
	struct paths_changer *c = priv;
	const char *name = c->p->dirs[c->nr];

	do {
		DAFS_EXPECT_STATUS(c->p->test, DAFS_STATUS_OK, paths_mkdir(c->p, name));
		DAFS_EXPECT_STATUS(c->p->test, DAFS_STATUS_OK, paths_rmdir(c->p, name));
		c->done++;
	} while (time_before(jiffies, c->end));
	complete(&c->ended);
	return 0;
}

/*
 * R-4.3.4-01: whichever paths are lost, added or taken away, each change is executed once, for
 * several tasks at a time.
 */
static void dafs_paths_random_test(struct kunit *test)
{
	struct paths *p = paths_make(test, "random");
	struct paths_changer *changers = kunit_kcalloc(test, PATHS_MOST, sizeof(*changers),
						       GFP_KERNEL);
	struct paths_breaker *b;
	unsigned int i, done = 0;

	KUNIT_ASSERT_NOT_NULL(test, changers);
	paths_connect(p, PATHS_MOST);
	b = paths_break_often(p);
	for (i = 0; i < PATHS_MOST; i++) {
		changers[i] = (struct paths_changer){
			.p = p,
			.nr = i,
			.end = jiffies + 8 * HZ,
		};
		init_completion(&changers[i].ended);
		KUNIT_ASSERT_FALSE(test, IS_ERR(kthread_run(paths_change, &changers[i],
							    "dafs_paths")));
	}
	for (i = 0; i < PATHS_MOST; i++) {
		KUNIT_ASSERT_TRUE(test, wait_for_completion_timeout(&changers[i].ended, 60 * HZ));
		done += changers[i].done;
	}
	kunit_release_action(test, paths_break_no_more, b);
	kunit_info(test, "%u changes, %u connections lost\n", 2 * done, b->breaks);
	KUNIT_EXPECT_LT(test, 10, b->breaks);
	dafs_client_set_paths(p->clnt, 2);
	paths_await(test, p->clnt, 2);
	paths_await_at_server(p, 2);
}

/* Paths are added and taken away at run time; the server has no session too many. */
static void dafs_paths_number_test(struct kunit *test)
{
	struct paths *p = paths_make(test, "number");
	unsigned int caches;

	paths_connect(p, 1);
	dafs_client_set_paths(p->clnt, 3);
	paths_await(test, p->clnt, 3);
	paths_await_at_server(p, 3);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, paths_mkdir(p, "with three"));
	raw_settle();
	caches = READ_ONCE(dafsd_server.nr_respcaches);
	dafs_client_set_paths(p->clnt, 1);
	KUNIT_EXPECT_EQ(test, 1, paths_up(p->clnt));
	paths_await_at_server(p, 1);
	/* R-5.2.1-03: they have ended by DISCONNECT, so nothing of them is remembered */
	raw_settle();
	KUNIT_EXPECT_EQ(test, caches, READ_ONCE(dafsd_server.nr_respcaches));
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, paths_mkdir(p, "with one"));
}

/*
 * A path is taken away that has lost its connection, which the server may not have noticed: it
 * connects once more, so that the server ends the session that was lost.
 */
static void dafs_paths_leave_test(struct kunit *test)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	struct paths *p = paths_make(test, "leave");
	struct dafs_path *path;

	paths_connect(p, 2);
	path = &p->clnt->ses->paths[1];
	disable_delayed_work_sync(&path->reconnect);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, paths_let_reconnect, path));
	paths_break(p->clnt, 1);
	paths_await(test, p->clnt, 1);
	dafs_client_set_paths(p->clnt, 1);
	kunit_release_action(test, paths_let_reconnect, path);
	while (!paths_calls(p, DAFS_PROC_DISCONNECT) && time_before(jiffies, end))
		msleep(20);
	KUNIT_EXPECT_EQ(test, 1, paths_calls(p, DAFS_PROC_DISCONNECT));
	paths_await_at_server(p, 1);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, paths_mkdir(p, "with one"));
}

/**
 * struct paths_hook - a mount of the client
 * @who: registered with it
 * @clnt: the client
 * @recovers: calls of recover()
 * @early: the client went on by another path meanwhile
 * @task: started by recover(), or NULL
 * @proofs: calls of serves()
 * @serves: what that returns
 */
struct paths_hook {
	struct dafs_recoverer who;
	struct dafs_client *clnt;
	unsigned int recovers;
	bool early;
	struct paths_task *task;
	unsigned int proofs;
	int serves;
};

static int paths_recover(struct dafs_recoverer *who, struct dafs_client *clnt,
			 struct dafs_conn *conn)
{
	struct paths_hook *hook = container_of(who, struct paths_hook, who);

	hook->recovers++;
	hook->early |= paths_up(clnt) != 0;
	msleep(RAW_QUIET_MS);
	hook->early |= paths_up(clnt) != 0 || completion_done(&hook->task->ended);
	return 0;
}

static int paths_serves(struct dafs_recoverer *who, struct dafs_client *clnt,
			struct dafs_conn *conn)
{
	struct paths_hook *hook = container_of(who, struct paths_hook, who);

	WRITE_ONCE(hook->proofs, hook->proofs + 1);
	return READ_ONCE(hook->serves);
}

static void paths_unhook(void *hook)
{
	struct paths_hook *h = hook;

	dafs_client_del_recoverer(h->clnt, &h->who);
}

static struct paths_hook *paths_hook(struct paths *p)
{
	struct paths_hook *hook = kunit_kzalloc(p->test, sizeof(*hook), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(p->test, hook);
	hook->clnt = p->clnt;
	hook->who.recover = paths_recover;
	hook->who.serves = paths_serves;
	dafs_client_add_recoverer(p->clnt, &hook->who);
	KUNIT_ASSERT_EQ(p->test, 0, kunit_add_action_or_reset(p->test, paths_unhook, hook));
	return hook;
}

/* The server forgets the client, as another instance of it has come. */
static void paths_discard(struct paths *p)
{
	struct raw_login login = { .id = p->params.client_id, .verifier = get_random_u64() };

	raw_close(p->test, raw_session(p->test, NULL, &login));
}

/*
 * R-5.2.5-07: the server has forgotten the client.  What it had is got back once, by one path, and
 * nothing goes by the others meanwhile.
 */
static void dafs_paths_recover_test(struct kunit *test)
{
	struct paths *p = paths_make(test, "recover");
	struct paths_hook *hook;

	paths_connect(p, 3);
	hook = paths_hook(p);
	paths_discard(p);
	hook->task = paths_task_begin(p, 0);
	paths_task_end(hook->task);
	paths_await(test, p->clnt, 3);
	KUNIT_EXPECT_EQ(test, 1, hook->recovers);
	KUNIT_EXPECT_FALSE(test, hook->early);
}

/* Nobody listens any more where the server was, when the connection is lost. */
static void paths_lose_server(struct paths *p)
{
	paths_set_port(&p->clnt->params.dst, htons(1));
	paths_set_port(&p->clnt->ses->paths[0].at, htons(1));
	paths_set_port(&p->clnt->ses->served_by, htons(1));
}

static bool paths_lead_to(struct dafs_client *clnt, const struct sockaddr_storage *addr)
{
	struct dafs_path_info info;

	dafs_client_path_info(clnt, 0, &info);
	return dafs_addr_equal(&info.at, addr);
}

/*
 * R-5.3-03, R-2.2-02: a client that has lost its connection goes to the server first, and to an
 * alternate if that is not there.  One that not all mounts have is not tried.
 */
static void dafs_paths_alternate_test(struct kunit *test)
{
	const struct dafs_flavour flavour = { .ipv6 = true };
	struct paths *p = paths_make(test, "alternate");
	struct dafs_client_params there;
	struct paths_hook *hook, *other;

	dafs_fixture_params(&flavour, &there);
	paths_connect(p, 1);
	hook = paths_hook(p);
	other = paths_hook(p);
	KUNIT_EXPECT_EQ(test, 0, dafs_client_alternates(p->clnt));
	dafs_client_set_alternates(p->clnt, &hook->who, &there.dst, 1);
	KUNIT_EXPECT_EQ(test, 1, dafs_client_alternates(p->clnt));
	dafs_client_set_alternates(p->clnt, &other->who, &there.dst, 0);
	KUNIT_EXPECT_EQ(test, 0, dafs_client_alternates(p->clnt));
	dafs_client_set_alternates(p->clnt, &other->who, &there.dst, 1);
	paths_break(p->clnt, 0);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, paths_mkdir(p, "here"));
	KUNIT_EXPECT_TRUE(test, paths_lead_to(p->clnt, &p->params.dst));
	paths_lose_server(p);
	paths_break(p->clnt, 0);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, paths_mkdir(p, "there"));
	KUNIT_EXPECT_TRUE(test, paths_lead_to(p->clnt, &there.dst));
	/* the same client-id: it is the same server */
	KUNIT_EXPECT_EQ(test, 0, hook->proofs);
	KUNIT_EXPECT_EQ(test, 0, hook->recovers);
}

/* The connection is lost; where a server is then, the client has another id, and does not stay. */
static void paths_doubt(struct paths *p, struct paths_hook *hook, unsigned int nr)
{
	unsigned long end = jiffies + msecs_to_jiffies(RAW_WAIT_MS);
	struct kunit *test = p->test;

	hook->serves = -ESTALE;
	hook->proofs = 0;
	hook->recovers = 0;
	paths_discard(p);
	paths_break(p->clnt, 0);
	hook->task = paths_task_begin(p, nr);
	while (READ_ONCE(hook->proofs) < 2 && time_before(jiffies, end))
		msleep(20);
	KUNIT_EXPECT_LE(test, 2, READ_ONCE(hook->proofs));
	KUNIT_EXPECT_EQ(test, 0, hook->recovers);
	KUNIT_EXPECT_EQ(test, 0, paths_up(p->clnt));
	KUNIT_EXPECT_FALSE(test, completion_done(&hook->task->ended));
	WRITE_ONCE(hook->serves, 0);
	paths_task_end(hook->task);
	KUNIT_EXPECT_EQ(test, 1, hook->recovers);
	KUNIT_EXPECT_FALSE(test, hook->early);
}

/*
 * An alternate that does not know what is mounted is left alone, until it does; and so is the
 * server that was mounted when it comes back after that.
 */
static void dafs_paths_stranger_test(struct kunit *test)
{
	const struct dafs_flavour flavour = { .ipv6 = true };
	struct paths *p = paths_make(test, "stranger");
	struct dafs_session *ses;
	struct dafs_client_params there;
	struct paths_hook *hook;

	dafs_fixture_params(&flavour, &there);
	paths_connect(p, 1);
	ses = p->clnt->ses;
	hook = paths_hook(p);
	dafs_client_set_alternates(p->clnt, &hook->who, &there.dst, 1);
	paths_lose_server(p);
	paths_doubt(p, hook, 0);
	KUNIT_EXPECT_TRUE(test, paths_lead_to(p->clnt, &there.dst));
	dafs_client_set_alternates(p->clnt, &hook->who, &there.dst, 0);
	p->clnt->params.dst = p->params.dst;
	paths_set_port(&ses->paths[0].at, htons(1));
	paths_set_port(&ses->served_by, htons(1));
	paths_doubt(p, hook, 1);
	KUNIT_EXPECT_TRUE(test, paths_lead_to(p->clnt, &p->params.dst));
}

/*
 * Where the client was served before there is a server again, but it may have no disk: with others
 * that may have taken over, it has to prove that it has what is mounted.
 */
static void dafs_paths_known_test(struct kunit *test)
{
	const struct dafs_flavour flavour = { .ipv6 = true };
	struct paths *p = paths_make(test, "known");
	struct dafs_client_params there;
	struct paths_hook *hook;

	dafs_fixture_params(&flavour, &there);
	paths_connect(p, 1);
	hook = paths_hook(p);
	dafs_client_set_alternates(p->clnt, &hook->who, &there.dst, 1);
	paths_doubt(p, hook, 0);
}

/* The server has restarted without one of the mounts, and no alternate has it: the others go on. */
static void dafs_paths_partly_test(struct kunit *test)
{
	const struct dafs_flavour flavour = { .ipv6 = true };
	struct paths *p = paths_make(test, "partly");
	struct dafs_client_params there;
	struct paths_hook *gone, *hook;

	dafs_fixture_params(&flavour, &there);
	paths_connect(p, 1);
	gone = paths_hook(p);
	hook = paths_hook(p);
	gone->serves = -ESTALE;
	dafs_client_set_alternates(p->clnt, &gone->who, &there.dst, 1);
	dafs_client_set_alternates(p->clnt, &hook->who, &there.dst, 1);
	gone->task = paths_task_begin(p, 0);
	hook->task = gone->task;
	paths_task_end(gone->task);
	paths_discard(p);
	paths_break(p->clnt, 0);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, paths_mkdir(p, "other"));
	/* in the first round the whole is asked for */
	KUNIT_EXPECT_LE(test, 2, gone->proofs);
	KUNIT_EXPECT_EQ(test, 1, hook->recovers);
	KUNIT_EXPECT_EQ(test, 1, gone->recovers);
}

/* A client that has begun to move to another server, in vain, goes on with the one before. */
static void dafs_paths_return_test(struct kunit *test)
{
	struct paths *p = paths_make(test, "return");
	struct paths_hook *hook;

	paths_connect(p, 1);
	hook = paths_hook(p);
	hook->task = paths_task_begin(p, 0);
	paths_task_end(hook->task);
	spin_lock(&p->clnt->lock);
	hook->who.err = -ENOTCONN;
	spin_unlock(&p->clnt->lock);
	paths_break(p->clnt, 0);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, paths_mkdir(p, "again"));
	KUNIT_EXPECT_EQ(test, 1, hook->recovers);
}

static struct kunit_case paths_cases[] = {
	KUNIT_CASE_PARAM(dafs_paths_spread_test, dafs_flavours_gen),
	KUNIT_CASE_PARAM(dafs_paths_lost_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_paths_address_test),
	KUNIT_CASE(dafs_paths_random_test),
	KUNIT_CASE(dafs_paths_number_test),
	KUNIT_CASE(dafs_paths_leave_test),
	KUNIT_CASE(dafs_paths_recover_test),
	KUNIT_CASE(dafs_paths_alternate_test),
	KUNIT_CASE(dafs_paths_stranger_test),
	KUNIT_CASE(dafs_paths_known_test),
	KUNIT_CASE(dafs_paths_partly_test),
	KUNIT_CASE(dafs_paths_return_test),
	{}
};

static struct kunit_suite paths_suite = {
	.name = "dafs_paths",
	.test_cases = paths_cases,
};

kunit_test_suite(paths_suite);
