// SPDX-License-Identifier: GPL-2.0
/* What mounting says when the server answers the connect request by a status. */
#include <linux/fs_context.h>
#include <linux/module.h>
#include <linux/slab.h>
#include "raw.h"

struct mount_status {
	const char *name;
	u32 status;
	int err;
	const char *words;
};

static const struct mount_status mount_statuses[] = {
	{ "another version", DAFSERR_ILLEGAL_PROT, -EPROTONOSUPPORT,
	  "the server speaks another version of the protocol" },
	{ "not authorized", DAFSERR_NOT_AUTHORIZED, -EACCES,
	  "the server does not let this client in" },
	{ "somebody else's id", DAFSERR_CLID_INUSE, -EBUSY,
	  "another client has this clientid" },
};

KUNIT_ARRAY_PARAM_DESC(mount_status, mount_statuses, name);

static void mount_serve_status(struct raw_conn *conn, struct raw_msg *msg)
{
	const struct mount_status *ms = conn->srv->priv;
	struct dafs_req_hdr hdr;

	if (!raw_get_hdr(conn, msg, &hdr))
		raw_answer(conn, &hdr, ms->status, 1, NULL);
}

/* A context as fsopen(2) makes it: with a log. */
static struct fs_context *mount_context(struct kunit *test)
{
	struct file_system_type *type = get_fs_type("dafs");
	struct fs_context *fc;

	KUNIT_ASSERT_NOT_NULL(test, type);
	fc = fs_context_for_mount(type, 0);
	module_put(type->owner);
	KUNIT_ASSERT_FALSE(test, IS_ERR(fc));
	fc->log.log = kzalloc(sizeof(*fc->log.log), GFP_KERNEL);
	if (fc->log.log)
		refcount_set(&fc->log.log->usage, 1);
	return fc;
}

static int mount_from(struct fs_context *fc, const struct sockaddr_storage *dst)
{
	u16 port = ntohs(((const struct sockaddr_in *)dst)->sin_port);
	char source[64], number[8];
	int err;

	snprintf(source, sizeof(source), "%pIS:/data", dst);
	snprintf(number, sizeof(number), "%u", port);
	err = vfs_parse_fs_string(fc, "source", source, strlen(source));
	if (!err)
		err = vfs_parse_fs_string(fc, "port", number, strlen(number));
	return err ?: vfs_get_tree(fc);
}

/* R-7-04: each status has an errno, and words in the log of the context */
static void dafs_mount_status_test(struct kunit *test)
{
	const struct mount_status *ms = test->param_value;
	struct raw_server *srv = raw_server(test);
	struct fs_context *fc = mount_context(test);
	struct fc_log *log = fc->log.log;

	srv->priv = (void *)ms;
	srv->request = mount_serve_status;
	KUNIT_EXPECT_EQ(test, ms->err, mount_from(fc, &srv->params.dst));
	if (log && log->head) {
		KUNIT_EXPECT_EQ(test, 'e', log->buffer[0][0]);
		KUNIT_EXPECT_NOT_NULL_MSG(test, strstr(log->buffer[0], ms->words), "%s",
					  log->buffer[0]);
	} else {
		KUNIT_FAIL(test, "nothing was said");
	}
	put_fs_context(fc);
}

static struct kunit_case dafs_mount_cases[] = {
	KUNIT_CASE_PARAM(dafs_mount_status_test, mount_status_gen_params),
	{}
};

static struct kunit_suite dafs_mount_suite = {
	.name = "dafs_mount",
	.test_cases = dafs_mount_cases,
};

kunit_test_suite(dafs_mount_suite);
