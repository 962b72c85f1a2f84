// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the table between DAFS status and errno, chapter 7.
 */
#include <kunit/test.h>
#include <linux/errno.h>
#include <linux/string.h>
#include <linux/dafs/status.h>

/**
 * struct status_row - a status of chapter 7
 * @status: its number
 * @err: errno that the client sees
 * @back: status that the server sends for that errno
 */
struct status_row {
	dafs_status_t status;
	int err;
	dafs_status_t back;
};

#define SAME_BACK(s, e)	{ DAFSERR_##s, -(e), DAFSERR_##s }
#define OTHER(s, e, b)	{ DAFSERR_##s, -(e), DAFSERR_##b }

static const struct status_row rows[] = {
	{ DAFS_STATUS_OK, 0, DAFS_STATUS_OK },
	SAME_BACK(PERM, EPERM), SAME_BACK(NOENT, ENOENT), SAME_BACK(IO, EIO),
	SAME_BACK(NXIO, ENXIO), SAME_BACK(ACCES, EACCES), SAME_BACK(EXIST, EEXIST),
	SAME_BACK(XDEV, EXDEV), SAME_BACK(NODEV, ENODEV), SAME_BACK(NOTDIR, ENOTDIR),
	SAME_BACK(ISDIR, EISDIR), SAME_BACK(INVAL, EINVAL), SAME_BACK(FBIG, EFBIG),
	SAME_BACK(NOSPC, ENOSPC), SAME_BACK(ROFS, EROFS), SAME_BACK(MLINK, EMLINK),
	SAME_BACK(NAMETOOLONG, ENAMETOOLONG), SAME_BACK(NOTEMPTY, ENOTEMPTY),
	SAME_BACK(DQUOT, EDQUOT), SAME_BACK(STALE, ESTALE), SAME_BACK(NOTSUPP, EOPNOTSUPP),
	SAME_BACK(TOOSMALL, ETOOSMALL), SAME_BACK(RESOURCE, ENOMEM), SAME_BACK(SYMLINK, ELOOP),
	SAME_BACK(LOCK_BROKEN, EOWNERDEAD), SAME_BACK(DELAY, EAGAIN),
	OTHER(GRACE, EAGAIN, DELAY), OTHER(LOCKED, EAGAIN, DELAY),
	OTHER(WHOA_COWBOY, EAGAIN, DELAY), OTHER(BADHANDLE, ESTALE, STALE),
	OTHER(FHEXPIRED, ESTALE, STALE), OTHER(NOFILEHANDLE, EINVAL, INVAL),
	OTHER(MOVED, EREMOTE, SERVERFAULT), OTHER(LEASE_MOVED, EREMOTE, SERVERFAULT),
	OTHER(BAD_COOKIE, ENOENT, NOENT), OTHER(READDIR_NOSPC, ETOOSMALL, TOOSMALL),
	OTHER(BADTYPE, EPERM, PERM), OTHER(NOT_FOUND, ENOENT, NOENT),
	OTHER(NO_PARTIAL_INFO, EIO, IO), OTHER(DENIED, EACCES, ACCES),
	OTHER(SHARE_DENIED, EACCES, ACCES), OTHER(KEY_MISMATCH, EKEYREJECTED, PERM),
	OTHER(DENYDISP_CONFLICT, EBUSY, ACCES), OTHER(DENYDISP_NOTSUPP, EOPNOTSUPP, NOTSUPP),
	OTHER(LOCK_RANGE, EINVAL, INVAL), OTHER(BAD_STATEID, EBADF, ACCES),
	OTHER(OLD_STATEID, EBADF, ACCES), OTHER(EXPIRED, ETIME, SERVERFAULT),
	OTHER(STALE_STATEID, ENETRESET, SERVERFAULT),
	OTHER(STALE_CLIENTID, ENETRESET, SERVERFAULT), OTHER(SAME, ECANCELED, SERVERFAULT),
	OTHER(NOT_SAME, ECANCELED, SERVERFAULT), OTHER(CHAIN_BROKEN, ECANCELED, SERVERFAULT),
	OTHER(CHAIN_FORM, EPROTO, SERVERFAULT), OTHER(WRITE_TOOBIG, EMSGSIZE, TOOSMALL),
	OTHER(CHKSUM, EBADMSG, IO), OTHER(BATCH_REQUEST_NOT_FOUND, ENOENT, NOENT),
	OTHER(PREFETCH_NOT_SUPPORTED, EOPNOTSUPP, NOTSUPP), OTHER(WRONGSEC, EACCES, ACCES),
	OTHER(NOT_AUTHORIZED, EACCES, ACCES), OTHER(NOT_AUTHENTICATED, EACCES, ACCES),
	OTHER(NO_CREDS, EACCES, ACCES), OTHER(CRHAND_CONFLICT, EACCES, ACCES),
	OTHER(CLID_INUSE, EBUSY, ACCES), OTHER(GSS_CONTINUE_INIT, EINPROGRESS, SERVERFAULT),
	OTHER(UNKNOWN_SESSION, ENOTCONN, SERVERFAULT), OTHER(BAD_SESSION, EBUSY, ACCES),
	OTHER(NOXID_MATCH, ENOMSG, SERVERFAULT),
	OTHER(RDMA_READ_CHANNEL_UNUSABLE, ENOLINK, SERVERFAULT),
	OTHER(BACK_CHANNEL_UNUSABLE, ENOLINK, SERVERFAULT),
	OTHER(ILLEGAL_STATE, EPROTO, SERVERFAULT),
	OTHER(ILLEGAL_PROT, EPROTONOSUPPORT, SERVERFAULT),
	OTHER(VERS_MISMATCH, EPROTONOSUPPORT, SERVERFAULT),
	OTHER(MINOR_VERS_MISMATCH, EPROTONOSUPPORT, SERVERFAULT),
	OTHER(BAD_SEQID, EPROTO, SERVERFAULT),
	/* R-7-04: what the client does not understand becomes EIO */
	OTHER(SERVERFAULT, EIO, IO),
};

/* each status has an errno, and that errno a status (R-7-04) */
static void status_both_ways(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *name = dafs_status_name(rows[i].status);

		KUNIT_EXPECT_EQ_MSG(test, dafs_status_to_errno(rows[i].status), rows[i].err, "%s",
				    name);
		KUNIT_EXPECT_TRUE_MSG(test, dafs_errno_to_status(rows[i].err) == rows[i].back, "%s",
				      name);
	}
}

/* every number below 20000 is either one of the draft's or unknown */
static void status_all_numbers(struct kunit *test)
{
	unsigned int i, j, known = 0;
	bool found;

	for (i = 0; i < 20000; i++) {
		dafs_status_t status = DAFS_STATUS(i);

		for (j = 0, found = false; j < ARRAY_SIZE(rows) && !found; j++)
			found = rows[j].status == status;
		known += found;
		KUNIT_EXPECT_EQ_MSG(test, !strcmp(dafs_status_name(status), "unknown"), !found,
				    "%u", i);
		if (!found)
			KUNIT_EXPECT_EQ_MSG(test, dafs_status_to_errno(status), -EIO, "%u", i);
	}
	KUNIT_EXPECT_EQ(test, known, ARRAY_SIZE(rows));
	KUNIT_EXPECT_EQ(test, dafs_status_to_errno(DAFS_STATUS(U32_MAX)), -EIO);
}

static void status_names(struct kunit *test)
{
	KUNIT_EXPECT_STREQ(test, dafs_status_name(DAFS_STATUS_OK), "OK");
	KUNIT_EXPECT_STREQ(test, dafs_status_name(DAFSERR_WHOA_COWBOY), "WHOA_COWBOY");
	KUNIT_EXPECT_STREQ(test, dafs_status_name(DAFS_STATUS(15020)), "CHKSUM");
}

#define EXPECT_STATUS(test, err, want)							\
	KUNIT_EXPECT_STREQ(test, dafs_status_name(dafs_errno_to_status(err)),		\
			   dafs_status_name(want))

/* errors of file systems that have no status of their own */
static void status_of_file_systems(struct kunit *test)
{
	EXPECT_STATUS(test, -ENOTSUPP, DAFSERR_NOTSUPP);
	EXPECT_STATUS(test, -ENOTTY, DAFSERR_NOTSUPP);
	EXPECT_STATUS(test, -ETXTBSY, DAFSERR_ACCES);
	EXPECT_STATUS(test, -EMFILE, DAFSERR_RESOURCE);
	EXPECT_STATUS(test, -ENFILE, DAFSERR_RESOURCE);
	EXPECT_STATUS(test, -EWOULDBLOCK, DAFSERR_DELAY);
	EXPECT_STATUS(test, -ERESTARTSYS, DAFSERR_DELAY);
	EXPECT_STATUS(test, -EUCLEAN, DAFSERR_IO);
	EXPECT_STATUS(test, -EBADHANDLE, DAFSERR_BADHANDLE);
	EXPECT_STATUS(test, -EFAULT, DAFSERR_SERVERFAULT);
	EXPECT_STATUS(test, -4095, DAFSERR_SERVERFAULT);
}

static struct kunit_case status_cases[] = {
	KUNIT_CASE(status_both_ways),
	KUNIT_CASE(status_all_numbers),
	KUNIT_CASE(status_names),
	KUNIT_CASE(status_of_file_systems),
	{}
};

static struct kunit_suite status_suite = {
	.name = "dafs_status",
	.test_cases = status_cases,
};

kunit_test_suite(status_suite);

MODULE_DESCRIPTION("Tests of the DAFS codec, checksum and status table");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
