/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Common base of the KUnit suites: sessions with the real server of this machine
 * over soft-RoCE, and the exported directory as seen through the server's own file
 * system.
 */
#ifndef _DAFS_TEST_FIXTURE_H
#define _DAFS_TEST_FIXTURE_H

#include <kunit/test.h>
#include <linux/cred.h>
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/path.h>
#include "stubs.h"
#include "../../rpc/rpc.h"

/**
 * struct dafs_flavour - options of a session; test cases run once for each
 * @name: for the report
 * @ipv6: connect to the IPv6 address
 * @swab: use the byte order that is not this machine's
 * @cksum: with checksums
 * @rdma_read: with the RDMA-read channel
 * @back_control: with the back-control channel
 */
struct dafs_flavour {
	const char *name;
	bool ipv6;
	bool swab;
	bool cksum;
	bool rdma_read;
	bool back_control;
};

/* For KUNIT_CASE_PARAM(): both byte orders, both families, both channels. */
const void *dafs_flavours_gen(const void *prev, char *desc);

struct dafsd_export;
struct dafsd_export_conf;

/* The exports that the machine was set up with, see the module parameters in fixture.c. */
enum dafs_test_export {
	DAFS_TEST_DATA,		/* writable, no root squash */
	DAFS_TEST_RO,		/* read-only */
	DAFS_TEST_SQUASH,	/* writable, root squash, a directory, subtree_check */
};

/**
 * struct dafs_fixture - a test's session and its own directory on the server
 * @test: the test
 * @where: the export
 * @params: of the session
 * @clnt: the client
 * @dev: its device
 * @rnr_naks: device's count of messages without a receive when the test began
 * @export: root of the export
 * @dir: a new directory in it, removed with its contents after the test
 * @name: its name in the export
 * @path: the same directory in the server's file system
 */
struct dafs_fixture {
	struct kunit *test;
	enum dafs_test_export where;
	struct dafs_client_params params;
	struct dafs_client *clnt;
	struct ib_device *dev;
	u64 rnr_naks;
	struct dafs_fh export;
	struct dafs_fh dir;
	char name[32];
	struct path path;
};

/* Default @params for @flavour; the suite changes what it needs. */
void dafs_fixture_params(const struct dafs_flavour *flavour, struct dafs_client_params *params);

/* The same for a separate client, by its client-id string. */
void dafs_fixture_client_params(const struct dafs_flavour *flavour,
				struct dafs_client_params *params, const char *fmt, ...)
	__printf(3, 4);

/* Makes a fixture for the test; NULL @flavour means the first one.  Freed with the test. */
struct dafs_fixture *dafs_fixture(struct kunit *test, const struct dafs_flavour *flavour);
struct dafs_fixture *dafs_fixture_in(struct kunit *test, const struct dafs_flavour *flavour,
				     enum dafs_test_export where);

/* Is the read-only export's file system mounted in the writable export, under its name? */
bool dafs_fixture_nested(void);

/* The name of an export. */
const char *dafs_fixture_export_name(enum dafs_test_export where);

/* Another session of the test, destroyed with it unless destroyed before. */
struct dafs_client *dafs_fixture_client(struct kunit *test,
					const struct dafs_client_params *params);
void dafs_fixture_end_client(struct kunit *test, struct dafs_client *clnt);

/* The client-id that the server has given to the client of a session. */
struct dafs_client_id dafs_test_client_id(struct kunit *test, struct dafs_client *clnt);

/* The server's side of a session; the reference is held until the test ends. */
struct dafsd_session *dafs_fixture_at_server(struct kunit *test,
					     const struct dafs_session_id *session_id);

/*
 * Makes the server export @dir of the test's directory with the options in @conf except
 * the path; returns an ERR_PTR if the server refuses.
 */
struct dafsd_export *dafs_fixture_serve(struct kunit *test, struct dafs_fixture *fix,
					const char *name, const char *dir,
					const struct dafsd_export_conf *conf);

/* Number of messages of this machine that found no receive, from the device counters */
u64 dafs_test_rnr_naks(struct ib_device *dev);

/* Sets a parameter of the server, such as dafsd_lease_seconds, until the test ends. */
void dafs_fixture_server_param(struct kunit *test, unsigned int *param, unsigned int value);

/* Freezes the file system of the fixture until it is thawed or the test ends. */
void dafs_fixture_freeze(struct kunit *test, struct dafs_fixture *fix);
void dafs_fixture_thaw(struct kunit *test, struct dafs_fixture *fix);

/* Sets the lease time in seconds; the test's own client is kept alive. */
void dafs_fixture_lease(struct kunit *test, struct dafs_fixture *fix, unsigned int seconds);

/*
 * Calls any procedure and returns its DAFS status (the stubs return only an errno).
 * Pointers into the response are valid until dafs_op_end() in the first form, and
 * not at all in the second.
 */
dafs_status_t dafs_test_op(struct kunit *test, struct dafs_client *clnt, struct dafs_op *op);
dafs_status_t dafs_test_call(struct kunit *test, struct dafs_client *clnt, const struct cred *cred,
			     u32 proc, void *args, void *res);

/* Where a status is expected but no response came */
#define DAFS_NO_STATUS	DAFS_STATUS(~0U)

/* Expects a status, and prints the names of both if they differ. */
#define DAFS_CHECK_STATUS(check, test, expected, actual, fmt, ...)			\
do {											\
	dafs_status_t want_ = (expected), got_ = (actual);				\
											\
	check(test, (__force u32)want_, (__force u32)got_, "%s instead of %s " fmt,	\
	      dafs_status_name(got_), dafs_status_name(want_), ##__VA_ARGS__);		\
} while (0)

#define DAFS_EXPECT_STATUS_MSG(test, expected, actual, fmt, ...)				\
	DAFS_CHECK_STATUS(KUNIT_EXPECT_EQ_MSG, test, expected, actual, fmt, ##__VA_ARGS__)
#define DAFS_EXPECT_STATUS(test, expected, actual)					\
	DAFS_EXPECT_STATUS_MSG(test, expected, actual, "")
#define DAFS_ASSERT_STATUS_MSG(test, expected, actual, fmt, ...)				\
	DAFS_CHECK_STATUS(KUNIT_ASSERT_EQ_MSG, test, expected, actual, fmt, ##__VA_ARGS__)
#define DAFS_ASSERT_STATUS(test, expected, actual)					\
	DAFS_ASSERT_STATUS_MSG(test, expected, actual, "")

/* Splits a path of names and single slashes into components, which point into it. */
#define DAFS_TEST_NAMES	8
unsigned int dafs_test_split(const char *path, struct dafs_str *names, unsigned int max);

/* LOOKUP of an existing path from the test's directory. */
struct dafs_fh dafs_test_lookup(struct kunit *test, struct dafs_fixture *fix, const char *path);

/*
 * Procedures that most suites need; they return the status: OPEN by a path from
 * @dir with the other arguments from @args, CLOSE, and inline I/O.
 */
struct dafs_open_args dafs_test_open_args(const char *owner, u32 access, u32 deny);
dafs_status_t dafs_test_open(struct kunit *test, struct dafs_client *clnt, const struct cred *cred,
			     const struct dafs_fh *dir, const char *path,
			     const struct dafs_open_args *args, struct dafs_open_res *res);
dafs_status_t dafs_test_close(struct kunit *test, struct dafs_client *clnt,
			      const struct dafs_open_res *open);
dafs_status_t dafs_test_read(struct kunit *test, struct dafs_client *clnt, const struct cred *cred,
			     const struct dafs_read_inline_args *args, void *buf,
			     struct dafs_read_inline_res *res);
dafs_status_t dafs_test_write(struct kunit *test, struct dafs_client *clnt, const struct cred *cred,
			      const struct dafs_write_inline_args *args,
			      struct dafs_write_res *res);

/* A pattern with a long period, the same for the same @seed. */
void dafs_test_pattern(void *buf, size_t len, u32 seed);

/* The server's local view: files below the test's directory, without DAFS. */
struct file *dafs_backing_open(struct dafs_fixture *fix, const char *name, int flags,
			       umode_t mode);
void dafs_backing_close(struct file *file);
void dafs_backing_write(struct kunit *test, struct dafs_fixture *fix, const char *name,
			const void *data, size_t len);
ssize_t dafs_backing_read(struct dafs_fixture *fix, const char *name, void *data, size_t len,
			  loff_t pos);
int dafs_backing_stat(struct dafs_fixture *fix, const char *name, struct kstat *stat);
void dafs_backing_mkdir(struct kunit *test, struct dafs_fixture *fix, const char *name,
			umode_t mode);
void dafs_backing_symlink(struct kunit *test, struct dafs_fixture *fix, const char *name,
			  const char *target);
void dafs_backing_mknod(struct kunit *test, struct dafs_fixture *fix, const char *name,
			umode_t mode, dev_t dev);
void dafs_backing_link(struct kunit *test, struct dafs_fixture *fix, const char *old,
		       const char *name);
void dafs_backing_remove(struct dafs_fixture *fix, const char *name);
void dafs_backing_expect_owner(struct kunit *test, struct dafs_fixture *fix, const char *name,
			       u32 uid, u32 gid);
int dafs_backing_path(struct dafs_fixture *fix, const char *name, struct path *path);
void dafs_backing_setattr(struct kunit *test, struct dafs_fixture *fix, const char *name,
			  struct iattr *ia);
void dafs_backing_chmod(struct kunit *test, struct dafs_fixture *fix, const char *name,
			umode_t mode);
void dafs_backing_chown(struct kunit *test, struct dafs_fixture *fix, const char *name, uid_t uid,
			gid_t gid);

/* Credentials of the test thread: root.  A function, because macros print their arguments. */
static inline const struct cred *dafs_test_me(void)
{
	return current_cred();
}

/* A user other than root, without or with supplementary groups, freed with the test. */
const struct cred *dafs_fixture_user(struct kunit *test, uid_t uid, gid_t gid);
const struct cred *dafs_fixture_member(struct kunit *test, uid_t uid, gid_t gid,
				       const gid_t *gids, unsigned int nr);

static inline struct dafs_str dafs_test_str(const char *s)
{
	return (struct dafs_str) { .len = strlen(s), .data = (const u8 *)s };
}

static inline struct qstr dafs_test_qstr(const char *s)
{
	return (struct qstr)QSTR_INIT(s, strlen(s));
}

#endif /* _DAFS_TEST_FIXTURE_H */
