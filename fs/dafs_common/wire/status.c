// SPDX-License-Identifier: GPL-2.0
/*
 * One table between DAFS status and Linux errno, draft chapter 7.
 *
 * The client uses the status itself where the protocol requires an action, such as
 * recovering a state-id or sending a request again.  The errno is for errors that the
 * client cannot handle and returns to its callers, up to the system call.
 */
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/dafs/status.h>

/**
 * struct dafs_status_row - a status
 * @status: DAFSERR_*
 * @err: errno, positive
 * @back: if true, this errno of a file system is sent as this status
 * @name: the draft's name without its prefix
 */
struct dafs_status_row {
	dafs_status_t status;
	u16 err;
	bool back;
	const char *name;
};

#define BOTH(name, err)		{ DAFSERR_##name, err, true, #name }
#define GIVES(name, err)	{ DAFSERR_##name, err, false, #name }

static const struct dafs_status_row dafs_status_rows[] = {
	{ DAFS_STATUS_OK, 0, true, "OK" },
	BOTH(PERM, EPERM),
	BOTH(NOENT, ENOENT),
	BOTH(IO, EIO),
	BOTH(NXIO, ENXIO),
	BOTH(ACCES, EACCES),
	BOTH(EXIST, EEXIST),
	BOTH(XDEV, EXDEV),
	BOTH(NODEV, ENODEV),
	BOTH(NOTDIR, ENOTDIR),
	BOTH(ISDIR, EISDIR),
	BOTH(INVAL, EINVAL),
	BOTH(FBIG, EFBIG),
	BOTH(NOSPC, ENOSPC),
	BOTH(ROFS, EROFS),
	BOTH(MLINK, EMLINK),
	BOTH(NAMETOOLONG, ENAMETOOLONG),
	BOTH(NOTEMPTY, ENOTEMPTY),
	BOTH(DQUOT, EDQUOT),
	BOTH(STALE, ESTALE),
	BOTH(NOTSUPP, EOPNOTSUPP),
	BOTH(TOOSMALL, ETOOSMALL),
	BOTH(RESOURCE, ENOMEM),
	/* the final component of an open, or the start of a walk, is a link */
	BOTH(SYMLINK, ELOOP),
	/* as for a robust mutex whose owner has died */
	BOTH(LOCK_BROKEN, EOWNERDEAD),

	/* try again */
	BOTH(DELAY, EAGAIN),
	GIVES(GRACE, EAGAIN),
	GIVES(LOCKED, EAGAIN),
	GIVES(WHOA_COWBOY, EAGAIN),

	/* filehandles */
	GIVES(BADHANDLE, ESTALE),
	GIVES(FHEXPIRED, ESTALE),
	GIVES(NOFILEHANDLE, EINVAL),
	GIVES(MOVED, EREMOTE),
	GIVES(LEASE_MOVED, EREMOTE),

	/* directories; readdir(3) returns ENOENT for an invalid position */
	GIVES(BAD_COOKIE, ENOENT),
	GIVES(READDIR_NOSPC, ETOOSMALL),
	/* mknod(2) returns EPERM for a type that the file system does not support */
	GIVES(BADTYPE, EPERM),
	GIVES(NOT_FOUND, ENOENT),
	GIVES(NO_PARTIAL_INFO, EIO),

	/* shares, locks and delegations */
	GIVES(DENIED, EACCES),
	GIVES(SHARE_DENIED, EACCES),
	GIVES(KEY_MISMATCH, EKEYREJECTED),
	GIVES(DENYDISP_CONFLICT, EBUSY),
	GIVES(DENYDISP_NOTSUPP, EOPNOTSUPP),
	GIVES(LOCK_RANGE, EINVAL),

	/*
	 * State that the server does not know: one errno for each reason, so
	 * that a log or a test can tell them apart.  The state-id is wrong, its lease
	 * has expired, or the server has restarted.
	 */
	GIVES(BAD_STATEID, EBADF),
	GIVES(OLD_STATEID, EBADF),
	GIVES(EXPIRED, ETIME),
	GIVES(STALE_STATEID, ENETRESET),
	GIVES(STALE_CLIENTID, ENETRESET),

	/* VERIFY and NVERIFY end a chain; the requests behind them are not executed */
	GIVES(SAME, ECANCELED),
	GIVES(NOT_SAME, ECANCELED),
	GIVES(CHAIN_BROKEN, ECANCELED),
	GIVES(CHAIN_FORM, EPROTO),

	/* data */
	GIVES(WRITE_TOOBIG, EMSGSIZE),
	GIVES(CHKSUM, EBADMSG),
	GIVES(BATCH_REQUEST_NOT_FOUND, ENOENT),
	GIVES(PREFETCH_NOT_SUPPORTED, EOPNOTSUPP),

	/* identities */
	GIVES(WRONGSEC, EACCES),
	GIVES(NOT_AUTHORIZED, EACCES),
	GIVES(NOT_AUTHENTICATED, EACCES),
	GIVES(NO_CREDS, EACCES),
	GIVES(CRHAND_CONFLICT, EACCES),
	GIVES(CLID_INUSE, EBUSY),
	GIVES(GSS_CONTINUE_INIT, EINPROGRESS),

	/* sessions */
	GIVES(UNKNOWN_SESSION, ENOTCONN),
	GIVES(BAD_SESSION, EBUSY),
	GIVES(NOXID_MATCH, ENOMSG),
	GIVES(RDMA_READ_CHANNEL_UNUSABLE, ENOLINK),
	GIVES(BACK_CHANNEL_UNUSABLE, ENOLINK),
	GIVES(ILLEGAL_STATE, EPROTO),
	GIVES(ILLEGAL_PROT, EPROTONOSUPPORT),
	GIVES(VERS_MISMATCH, EPROTONOSUPPORT),
	GIVES(MINOR_VERS_MISMATCH, EPROTONOSUPPORT),
	GIVES(BAD_SEQID, EPROTO),

	/* the draft's own proposal for UNIX */
	GIVES(SERVERFAULT, EIO),
};

/**
 * struct dafs_errno_row - an errno of file systems that has no status of the same name
 * @err: errno, positive
 * @status: the nearest DAFSERR_*
 */
struct dafs_errno_row {
	u16 err;
	dafs_status_t status;
};

static const struct dafs_errno_row dafs_errno_rows[] = {
	{ ENOTSUPP, DAFSERR_NOTSUPP },
	{ ENOTTY, DAFSERR_NOTSUPP },

	/* a response longer than the session allows; chapter 7: buffer size is too small */
	{ EMSGSIZE, DAFSERR_TOOSMALL },
	{ ERANGE, DAFSERR_TOOSMALL },

	{ ENFILE, DAFSERR_RESOURCE },
	{ EMFILE, DAFSERR_RESOURCE },
	{ ENOBUFS, DAFSERR_RESOURCE },
	{ ENOLCK, DAFSERR_RESOURCE },

	/* temporary: a retry may succeed */
	{ ETIMEDOUT, DAFSERR_DELAY },
	{ EINTR, DAFSERR_DELAY },
	{ ERESTARTSYS, DAFSERR_DELAY },
	{ EJUKEBOX, DAFSERR_DELAY },

	/* not temporary: a mount point, a running program, a read-only open */
	{ EBUSY, DAFSERR_ACCES },
	{ ETXTBSY, DAFSERR_ACCES },
	{ EBADF, DAFSERR_ACCES },
	{ ENOKEY, DAFSERR_PERM },
	{ EKEYREJECTED, DAFSERR_PERM },

	{ EOPENSTALE, DAFSERR_STALE },
	{ EBADHANDLE, DAFSERR_BADHANDLE },
	{ EBADCOOKIE, DAFSERR_BAD_COOKIE },
	{ EBADTYPE, DAFSERR_BADTYPE },
	{ EDEADLK, DAFSERR_DENIED },
	{ EOVERFLOW, DAFSERR_FBIG },

	{ EILSEQ, DAFSERR_INVAL },

	/* file systems return the first two for "bad checksum" and "corrupted" */
	{ EBADMSG, DAFSERR_IO },
	{ EUCLEAN, DAFSERR_IO },
	{ EREMOTEIO, DAFSERR_IO },
	{ ENODATA, DAFSERR_IO },
	{ EHWPOISON, DAFSERR_IO },
};

static const struct dafs_status_row *dafs_find_status(dafs_status_t status)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(dafs_status_rows); i++)
		if (dafs_status_rows[i].status == status)
			return &dafs_status_rows[i];
	return NULL;
}

/**
 * dafs_status_to_errno() - errno for the status of a response (chapter 7)
 * @status: from the header of a response
 *
 * Return: 0 for DAFS_STATUS_OK, else a negative errno; -EIO for a status that
 * the draft does not know.
 */
int dafs_status_to_errno(dafs_status_t status)
{
	const struct dafs_status_row *row;

	if (status == DAFS_STATUS_OK)
		return 0;
	row = dafs_find_status(status);
	return row ? -row->err : -EIO;
}
EXPORT_SYMBOL_GPL(dafs_status_to_errno);

/**
 * dafs_errno_to_status() - status for an error of a file system (chapter 7)
 * @err: 0 or a negative errno of a file system
 *
 * Not for -EBADMSG of the codec, which is DAFSERR_INVAL: a file system returns -EBADMSG
 * for a bad block.
 *
 * Return: DAFS_STATUS_OK for 0, else a DAFSERR_*; DAFSERR_SERVERFAULT if there
 * is no matching status.
 */
dafs_status_t dafs_errno_to_status(int err)
{
	unsigned int i;

	if (!err)
		return DAFS_STATUS_OK;
	for (i = 0; i < ARRAY_SIZE(dafs_status_rows); i++)
		if (dafs_status_rows[i].back && dafs_status_rows[i].err == -err)
			return dafs_status_rows[i].status;
	for (i = 0; i < ARRAY_SIZE(dafs_errno_rows); i++)
		if (dafs_errno_rows[i].err == -err)
			return dafs_errno_rows[i].status;
	return DAFSERR_SERVERFAULT;
}
EXPORT_SYMBOL_GPL(dafs_errno_to_status);

/**
 * dafs_status_name() - name of a status, for log messages
 * @status: any number
 *
 * Return: the draft's name without DAFSERR_, or "unknown".
 */
const char *dafs_status_name(dafs_status_t status)
{
	const struct dafs_status_row *row = dafs_find_status(status);

	return row ? row->name : "unknown";
}
EXPORT_SYMBOL_GPL(dafs_status_name);
