// SPDX-License-Identifier: GPL-2.0
/*
 * Where else an export is if this server fails (5.3): the attribute FAILOVER_LOCATIONS, and how
 * clients learn that it has changed.
 */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/slab.h>
#include "../../../../drivers/dafsd/export/export.h"
#include "../../../../drivers/dafsd/export/location.h"
#include "../../rpc/rpc_impl.h"
#include "../../proc/location.h"
#include "../lib/fixture.h"
#include "../lib/raw.h"

/**
 * struct failover - an export with alternates
 * @test: the test
 * @fix: where its files are
 * @exp: the export, with a reference
 */
struct failover {
	struct kunit *test;
	struct dafs_fixture *fix;
	struct dafsd_export *exp;
};

static void failover_end(void *failover)
{
	struct failover *f = failover;

	dafsd_place_set(f->exp->place, "", 0);
	dafsd_export_put(f->exp);
}

static struct failover *failover(struct kunit *test)
{
	struct failover *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	f->test = test;
	f->fix = dafs_fixture(test, test->param_value);
	f->exp = dafsd_export_find(f->fix->dir.fshandle);
	KUNIT_ASSERT_NOT_NULL(test, f->exp);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, failover_end, f));
	return f;
}

static int failover_set(struct failover *f, const char *text)
{
	return dafsd_place_set(f->exp->place, text, strlen(text));
}

/* Components with slashes before them */
static void failover_path(struct kunit *test, const struct dafs_buf *buf,
			  const struct dafs_seq *path, const char *want)
{
	struct dafs_path_iter iter;
	struct dafs_str part;
	char got[64] = {};

	dafs_path_start(path, &iter);
	while (dafs_path_next(buf, &iter, &part))
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "/%.*s", (int)part.len,
			 (const char *)part.data);
	KUNIT_EXPECT_STREQ(test, want, got);
}

static void failover_location(struct kunit *test, const struct dafs_buf *buf,
			      const struct dafs_seq *seq, u32 i, const char *server,
			      const char *path)
{
	struct dafs_fs_location loc = {};

	KUNIT_ASSERT_EQ(test, 0, dafs_get_fs_location(buf, seq, i, &loc));
	KUNIT_ASSERT_EQ(test, strlen(server), loc.server.len);
	KUNIT_EXPECT_MEMEQ(test, server, loc.server.data, loc.server.len);
	failover_path(test, buf, &loc.root_path, path);
}

/* R-5.3-01: an export has alternates, which the attribute tells; without any it has none. */
static void dafs_failover_list_test(struct kunit *test)
{
	struct failover *f = failover(test);
	struct dafs_getattr_args args = {
		.filehandle = f->fix->dir,
		.attr_request_bitmap = DAFS_FSATTR_FAILOVER_LOCATIONS,
	};
	struct dafs_get_fsattr_res res = {};
	struct dafs_op op = {
		.cred = dafs_test_me(),
		.proc = DAFS_PROC_GET_FSATTR,
		.args = &args,
		.res = &res,
	};
	const struct dafs_seq *seq = &res.obj_attributes.failover_locations;
	struct dafs_fs_locations locs = {};
	char name[32];

	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, dafs_test_op(test, f->fix->clnt, &op));
	KUNIT_EXPECT_EQ(test, DAFS_FSATTR_FAILOVER_LOCATIONS, res.obj_attributes.valid);
	KUNIT_EXPECT_EQ(test, 0, seq->count);
	dafs_op_end(&op);
	KUNIT_ASSERT_EQ(test, 0, failover_set(f, "10.1.2.3:/other/path,[fd00::7]:/six"));
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, dafs_test_op(test, f->fix->clnt, &op));
	KUNIT_ASSERT_EQ(test, 1, seq->count);
	KUNIT_ASSERT_EQ(test, 0, dafs_get_fs_locations(&op.call->buf, seq, 0, &locs));
	snprintf(name, sizeof(name), "/%s", dafs_fixture_export_name(DAFS_TEST_DATA));
	failover_path(test, &op.call->buf, &locs.fs_root, name);
	KUNIT_ASSERT_EQ(test, 2, locs.locations.count);
	failover_location(test, &op.call->buf, &locs.locations, 0, "10.1.2.3", "/other/path");
	failover_location(test, &op.call->buf, &locs.locations, 1, "fd00::7", "/six");
	dafs_op_end(&op);
}

/* The client takes the addresses, with the port of its server. */
static void dafs_failover_client_test(struct kunit *test)
{
	struct failover *f = failover(test);
	struct dafs_locations *locs = kunit_kzalloc(test, sizeof(*locs), GFP_KERNEL);
	const struct sockaddr_in *dst = (struct sockaddr_in *)&f->fix->params.dst;
	struct sockaddr_in *in;
	struct sockaddr_in6 *in6;

	KUNIT_ASSERT_NOT_NULL(test, locs);
	KUNIT_ASSERT_EQ(test, 0, failover_set(f, "10.1.2.3:/p,[fd00::7]:/six"));
	KUNIT_ASSERT_EQ(test, 0, dafs_get_locations(f->fix->clnt, NULL, &f->fix->dir, locs));
	KUNIT_ASSERT_EQ(test, 2, locs->nr);
	in = (struct sockaddr_in *)&locs->addrs[0];
	in6 = (struct sockaddr_in6 *)&locs->addrs[1];
	KUNIT_EXPECT_EQ(test, AF_INET, in->sin_family);
	KUNIT_EXPECT_EQ(test, 0x0a010203, ntohl(in->sin_addr.s_addr));
	KUNIT_EXPECT_EQ(test, AF_INET6, in6->sin6_family);
	KUNIT_EXPECT_EQ(test, 0xfd000000, ntohl(in6->sin6_addr.s6_addr32[0]));
	/* at the same offset for both families */
	KUNIT_EXPECT_EQ(test, ntohs(dst->sin_port), ntohs(in->sin_port));
	KUNIT_EXPECT_EQ(test, ntohs(dst->sin_port), ntohs(in6->sin6_port));
	/* a pseudo directory is no file system that fails */
	KUNIT_EXPECT_EQ(test, 0, dafs_get_root_handle(f->fix->clnt, dafs_test_me(),
						      &f->fix->export));
	KUNIT_EXPECT_EQ(test, -ENODATA,
			dafs_get_locations(f->fix->clnt, NULL, &f->fix->export, locs));
}

/* What makes no sense is refused, and what was there stays. */
static void dafs_failover_text_test(struct kunit *test)
{
	static const char * const wrong[] = {
		"10.1.2.3", "10.1.2.3:", "10.1.2.3:/", "host:/path", ":/path", "fd00::7",
		"[fd00::7:/path", "[fd00::7]/path", "10.1.2.3:/a,", ",10.1.2.3:/a",
		"10.1.2.3:/a,,b", "fd00::7:/a", "[10.1.2.3]:/a", "10.1.2.3://", "10.1.2.3:/a/",
		"10.1.2.3:/a//b", "[fe80::1%lo]:/a",
		"1.1.1.1:/,1.1.1.2:/a", "1.1.1.1:/a,1.1.1.2:/",
		/* nine */
		"[::]:/a,[::]:/b,[::]:/c,[::]:/d,[::]:/e,[::]:/f,[::]:/g,[::]:/h,[::]:/i",
	};
	struct failover *f = failover(test);
	char *page = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	char *text = kunit_kzalloc(test, DAFSD_LOCATIONS_LEN + 2, GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, page);
	KUNIT_ASSERT_NOT_NULL(test, text);
	KUNIT_ASSERT_EQ(test, 0, failover_set(f, "10.1.2.3:/right"));
	for (i = 0; i < ARRAY_SIZE(wrong); i++)
		KUNIT_EXPECT_EQ_MSG(test, -EINVAL, failover_set(f, wrong[i]), "%s", wrong[i]);
	memset(text, 'x', DAFSD_LOCATIONS_LEN + 1);
	memcpy(text, "10.1.2.3:/", 10);
	KUNIT_EXPECT_EQ(test, -EINVAL, failover_set(f, text));
	dafsd_place_show(f->exp->place, page);
	KUNIT_EXPECT_STREQ(test, "10.1.2.3:/right\n", page);
}

static int failover_get(struct failover *f, struct dafs_client *clnt, unsigned int *nr)
{
	struct dafs_locations *locs = kunit_kzalloc(f->test, sizeof(*locs), GFP_KERNEL);
	int err;

	KUNIT_ASSERT_NOT_NULL(f->test, locs);
	err = dafs_get_locations(clnt, NULL, &f->fix->dir, locs);
	*nr = locs->nr;
	return err;
}

/* What is not refused fits into a response of the smallest size, whatever the components. */
static void dafs_failover_longest_test(struct kunit *test)
{
	struct failover *f = failover(test);
	struct dafs_client_params params;
	char *text = kunit_kzalloc(test, DAFSD_LOCATIONS_LEN + 1, GFP_KERNEL);
	struct dafs_client *clnt;
	unsigned int nr, step;
	int len;

	KUNIT_ASSERT_NOT_NULL(test, text);
	dafs_fixture_client_params(NULL, &params, "longest");
	params.msg_size = DAFS_MIN_MSG_SIZE;
	clnt = dafs_fixture_client(test, &params);
	/* names of one byte, and one long name */
	for (step = 1; step < DAFSD_LOCATIONS_LEN; step += DAFSD_LOCATIONS_LEN - 2) {
		len = DAFSD_LOCATIONS_LEN;
		do {
			int i;

			memset(text, 'x', len);
			for (i = 10; i < len; i += step + 1)
				text[i - 1] = '/';
			memcpy(text, "10.1.2.3:/", 10);
			text[len] = 0;
		} while (failover_set(f, text) && --len > 10);
		kunit_info(test, "%d bytes, names of %u\n", len, step);
		KUNIT_EXPECT_EQ(test, 0, failover_get(f, clnt, &nr));
		KUNIT_EXPECT_EQ(test, 1, nr);
	}
}

/* The special conditions of the response to a request that has nothing to do with the export */
static u16 failover_cond(struct raw_conn *conn)
{
	struct dafs_req_hdr hdr = raw_hdr(conn, DAFS_PROC_NULL);
	struct dafs_res_hdr res = {};

	KUNIT_ASSERT_EQ(conn->test, 0, raw_call_hdr(conn, &hdr, NULL, &res, NULL));
	return res.spec_cond;
}

static void failover_ask(struct failover *f, struct raw_conn *conn)
{
	struct dafs_getattr_args args = {
		.filehandle = f->fix->dir,
		.attr_request_bitmap = DAFS_FSATTR_FAILOVER_LOCATIONS,
	};
	struct dafs_req_hdr hdr = raw_hdr(conn, DAFS_PROC_GET_FSATTR);
	struct dafs_res_hdr res = {};

	KUNIT_ASSERT_EQ(f->test, 0, raw_call_hdr(conn, &hdr, &args, &res, NULL));
	DAFS_EXPECT_STATUS(f->test, DAFS_STATUS_OK, res.status);
	KUNIT_EXPECT_EQ(f->test, 0, res.spec_cond);
}

/*
 * R-5.3.1-01, R-5.3.1-03: a client that was told what has changed sees that in every response on
 * all of its sessions, until it has asked again.  Who has never asked does not.
 */
static void dafs_failover_changed_test(struct kunit *test)
{
	struct failover *f = failover(test);
	struct raw_login login = { .verifier = 1 }, second, other = {};
	struct raw_conn *conn = raw_session(test, test->param_value, &login);
	struct raw_conn *conn2, *stranger = raw_session(test, test->param_value, &other);

	second = (struct raw_login){ .id = login.own_id, .verifier = 1 };
	conn2 = raw_session(test, test->param_value, &second);
	KUNIT_ASSERT_EQ(test, 0, failover_set(f, "10.1.2.3:/a"));
	KUNIT_EXPECT_EQ(test, 0, failover_cond(conn));
	failover_ask(f, conn);
	KUNIT_EXPECT_EQ(test, 0, failover_cond(conn));
	KUNIT_ASSERT_EQ(test, 0, failover_set(f, "10.1.2.3:/b"));
	KUNIT_EXPECT_EQ(test, DAFS_SPCOND_FAILOVER, failover_cond(conn));
	KUNIT_EXPECT_EQ(test, DAFS_SPCOND_FAILOVER, failover_cond(conn));
	KUNIT_EXPECT_EQ(test, DAFS_SPCOND_FAILOVER, failover_cond(conn2));
	KUNIT_EXPECT_EQ(test, 0, failover_cond(stranger));
	failover_ask(f, conn2);
	KUNIT_EXPECT_EQ(test, 0, failover_cond(conn));
	KUNIT_EXPECT_EQ(test, 0, failover_cond(conn2));
	/* while the export is not served nobody can ask; then it may have changed */
	dafsd_place_withdrawn(f->exp->place);
	KUNIT_EXPECT_EQ(test, 0, failover_set(f, "10.1.2.3:/c"));
	KUNIT_EXPECT_EQ(test, 0, failover_cond(conn));
	dafsd_place_served(f->exp->place);
	KUNIT_EXPECT_EQ(test, DAFS_SPCOND_FAILOVER, failover_cond(conn));
	dafsd_place_withdrawn(f->exp->place);
	KUNIT_EXPECT_EQ(test, 0, failover_cond(conn));
	dafsd_place_served(f->exp->place);
}

/**
 * struct failover_hook - a mount
 * @who: registered with the client
 * @clnt: the client
 * @f: where it is of
 * @locs: what it has been told
 * @asked: completed when it has asked
 * @fails: how often it cannot ask before that
 */
struct failover_hook {
	struct dafs_recoverer who;
	struct dafs_client *clnt;
	struct failover *f;
	struct dafs_locations locs;
	struct completion asked;
	unsigned int fails;
};

static int failover_relocated(struct dafs_recoverer *who)
{
	struct failover_hook *hook = container_of(who, struct failover_hook, who);

	if (hook->fails) {
		hook->fails--;
		return -ENOTCONN;
	}
	dafs_get_locations(hook->clnt, NULL, &hook->f->fix->dir, &hook->locs);
	complete(&hook->asked);
	return 0;
}

static void failover_unhook(void *hook)
{
	struct failover_hook *h = hook;

	dafs_client_del_recoverer(h->clnt, &h->who);
}

static struct failover_hook *failover_hook(struct failover *f, struct dafs_client *clnt)
{
	struct failover_hook *hook = kunit_kzalloc(f->test, sizeof(*hook), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(f->test, hook);
	hook->f = f;
	hook->clnt = clnt;
	hook->who.relocated = failover_relocated;
	init_completion(&hook->asked);
	dafs_client_add_recoverer(clnt, &hook->who);
	KUNIT_ASSERT_EQ(f->test, 0, kunit_add_action_or_reset(f->test, failover_unhook, hook));
	return hook;
}

static void failover_asked(struct failover_hook *hook)
{
	KUNIT_ASSERT_TRUE(hook->f->test,
			  wait_for_completion_timeout(&hook->asked,
						      msecs_to_jiffies(RAW_WAIT_MS)));
	KUNIT_EXPECT_EQ(hook->f->test, 1, hook->locs.nr);
}

/*
 * R-5.3.1-02, R-6.1.3-06: the client asks again for all of its mounts, also for those that have a
 * session of their own, which the server has not told; and not without end.
 */
static void dafs_failover_notice_test(struct kunit *test)
{
	struct failover *f = failover(test);
	struct failover_hook *first, *second, *other;
	struct dafs_client_params params;
	struct dafs_client *clnt;
	unsigned int nr;

	dafs_fixture_client_params(NULL, &params, "notice");
	clnt = dafs_fixture_client(test, &params);
	first = failover_hook(f, clnt);
	second = failover_hook(f, clnt);
	other = failover_hook(f, dafs_fixture_client(test, &params));
	/* it asks when it is connected again */
	other->fails = 1;
	KUNIT_ASSERT_EQ(test, 0, failover_get(f, clnt, &nr));
	KUNIT_EXPECT_EQ(test, 0, nr);
	KUNIT_ASSERT_EQ(test, 0, failover_set(f, "10.1.2.3:/a"));
	KUNIT_EXPECT_EQ(test, 0, dafs_null(clnt, NULL));
	failover_asked(first);
	failover_asked(second);
	failover_asked(other);
	/* by now all were asked once more, because of that one */
	reinit_completion(&first->asked);
	KUNIT_EXPECT_EQ(test, 0, dafs_null(clnt, NULL));
	KUNIT_EXPECT_FALSE(test, wait_for_completion_timeout(&first->asked, 3 * HZ / 2));
}

static struct kunit_case failover_cases[] = {
	KUNIT_CASE_PARAM(dafs_failover_list_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_failover_client_test),
	KUNIT_CASE(dafs_failover_text_test),
	KUNIT_CASE(dafs_failover_longest_test),
	KUNIT_CASE_PARAM(dafs_failover_changed_test, dafs_flavours_gen),
	KUNIT_CASE(dafs_failover_notice_test),
	{}
};

static struct kunit_suite failover_suite = {
	.name = "dafs_failover",
	.test_cases = failover_cases,
};

kunit_test_suite(failover_suite);
