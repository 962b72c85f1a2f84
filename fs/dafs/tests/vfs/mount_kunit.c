// SPDX-License-Identifier: GPL-2.0
/*
 * Errors of mount if the server answers the connect request with a status, with
 * an invalid response or not at all; and on a device that does not support DAFS.
 */
#include <linux/fs_context.h>
#include <linux/module.h>
#include <linux/slab.h>
#include "../../rpc/rpc_impl.h"
#include "../lib/raw.h"

struct mount_status {
	const char *name;
	dafs_status_t status;
	int err;
	const char *words;
};

static const struct mount_status mount_statuses[] = {
	{ "another version", DAFSERR_ILLEGAL_PROT, -EPROTONOSUPPORT,
	  "the server speaks another version of the protocol" },
	{ "not authorized", DAFSERR_NOT_AUTHORIZED, -EACCES,
	  "the server refuses this client" },
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

/* A context with a log, as of fsopen(2). */
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

/* @timeo: tenths of a second for a server that does not answer */
static int mount_from(struct fs_context *fc, const struct sockaddr_storage *dst,
		      const char *timeo)
{
	u16 port = ntohs(((const struct sockaddr_in *)dst)->sin_port);
	char source[64], number[8];
	int err;

	snprintf(source, sizeof(source), "%pIS:/data", dst);
	snprintf(number, sizeof(number), "%u", port);
	err = vfs_parse_fs_string(fc, "source", source, strlen(source));
	if (!err)
		err = vfs_parse_fs_string(fc, "port", number, strlen(number));
	if (!err)
		err = vfs_parse_fs_string(fc, "timeo", timeo, strlen(timeo));
	return err ?: vfs_get_tree(fc);
}

/* Mounting from @dst fails with @want and logs @words.  Only a silent server makes it wait. */
static void mount_fails(struct kunit *test, const struct sockaddr_storage *dst, int want,
			const char *words)
{
	struct fs_context *fc = mount_context(test);
	struct fc_log *log = fc->log.log;

	KUNIT_EXPECT_EQ(test, want, mount_from(fc, dst, want == -ETIMEDOUT ? "5" : "600"));
	if (log && log->head) {
		KUNIT_EXPECT_EQ(test, 'e', log->buffer[0][0]);
		KUNIT_EXPECT_NOT_NULL_MSG(test, strstr(log->buffer[0], words), "%s",
					  log->buffer[0]);
	} else {
		KUNIT_FAIL(test, "nothing was said");
	}
	put_fs_context(fc);
}

/* R-7-04: each status has an errno and a message in the log of the context */
static void dafs_mount_status_test(struct kunit *test)
{
	const struct mount_status *ms = test->param_value;
	struct raw_server *srv = raw_server(test);

	srv->priv = (void *)ms;
	srv->request = mount_serve_status;
	mount_fails(test, &srv->params.dst, ms->err, ms->words);
}

static void mount_serve_hang_up(struct raw_conn *conn, struct raw_msg *msg)
{
	raw_hang_up(conn);
}

static void mount_serve_garbage(struct raw_conn *conn, struct raw_msg *msg)
{
	u8 garbage[200];

	memset(garbage, 0x5a, sizeof(garbage));
	raw_send(conn, garbage, sizeof(garbage));
}

struct mount_behaviour {
	const char *name;
	void (*request)(struct raw_conn *conn, struct raw_msg *msg);
	int err;
	const char *words;
};

static const struct mount_behaviour mount_behaviours[] = {
	{ "silent", NULL, -ETIMEDOUT, "the server does not answer" },
	{ "hangs up", mount_serve_hang_up, -ECONNRESET, "the server ended the connection" },
	{ "garbage", mount_serve_garbage, -EPROTO, "does not answer as a DAFS server" },
};

KUNIT_ARRAY_PARAM_DESC(mount_behaviour, mount_behaviours, name);

static void dafs_mount_behaviour_test(struct kunit *test)
{
	const struct mount_behaviour *mb = test->param_value;
	struct raw_server *srv = raw_server(test);

	srv->request = mb->request;
	mount_fails(test, &srv->params.dst, mb->err, mb->words);
}

/* R-6.2.1-08: an invalid answer, such as 0 requests */
static void dafs_mount_nonsense_test(struct kunit *test)
{
	struct raw_server *srv = raw_server(test);

	srv->opts.max_requests = 0;
	mount_fails(test, &srv->params.dst, -EPROTO, "does not answer as a DAFS server");
}

/* Returns only the type of the export's root. */
static void mount_serve_little(struct raw_conn *conn, struct raw_msg *msg)
{
	union dafs_res *res = kzalloc(sizeof(*res), GFP_KERNEL);
	struct dafs_fattr *attr = &res->getattr.obj_attributes;
	struct dafs_req_hdr hdr;

	if (!res || raw_get_hdr(conn, msg, &hdr))
		goto free;
	switch (hdr.procedure) {
	case DAFS_PROC_LOOKUP:
		res->lookup.component_count = 1;
		break;
	case DAFS_PROC_GETATTR_INLINE:
		attr->included = DAFS_FATTR_OBJECT_TYPE;
		attr->valid = DAFS_FATTR_OBJECT_TYPE;
		attr->object_type = DAFS_TYPE_DIR;
		break;
	case DAFS_PROC_GET_ROOT_HANDLE:
	case DAFS_PROC_GET_FSATTR:
		break;
	default:
		raw_serve_request(conn, msg);
		goto free;
	}
	raw_answer(conn, &hdr, DAFS_STATUS_OK, conn->srv->opts.max_requests, res);
free:
	kfree(res);
}

/* No inode is made without FILE_ID, size or CHANGE. */
static void dafs_mount_little_test(struct kunit *test)
{
	struct raw_server *srv = raw_server(test);

	srv->request = mount_serve_little;
	mount_fails(test, &srv->params.dst, -EIO, "cannot read the root of the export");
}

/* A device without the memory registration that DAFS needs. */
static void dafs_mount_device_test(struct kunit *test)
{
	struct dafs_fixture *fix = dafs_fixture(test, NULL);
	struct dafs_conn *conn = dafs_conn_get(fix->clnt);
	struct ib_device_attr *attrs;

	KUNIT_ASSERT_FALSE(test, IS_ERR(conn));
	attrs = &conn->op->id->device->attrs;
	attrs->device_cap_flags &= ~IB_DEVICE_MEM_MGT_EXTENSIONS;
	mount_fails(test, &fix->params.dst, -EOPNOTSUPP,
		    "the RDMA device does not register memory");
	attrs->device_cap_flags |= IB_DEVICE_MEM_MGT_EXTENSIONS;
	dafs_conn_put(conn);
}

static struct kunit_case dafs_mount_cases[] = {
	KUNIT_CASE_PARAM(dafs_mount_status_test, mount_status_gen_params),
	KUNIT_CASE_PARAM(dafs_mount_behaviour_test, mount_behaviour_gen_params),
	KUNIT_CASE(dafs_mount_nonsense_test),
	KUNIT_CASE(dafs_mount_little_test),
	KUNIT_CASE(dafs_mount_device_test),
	{}
};

static struct kunit_suite dafs_mount_suite = {
	.name = "dafs_mount",
	.test_cases = dafs_mount_cases,
};

kunit_test_suite(dafs_mount_suite);
