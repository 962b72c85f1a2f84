/* SPDX-License-Identifier: GPL-2.0 */
/* What the client does about the status of a response, see verdict.c. */
#ifndef _FS_DAFS_RPC_RETRY_H
#define _FS_DAFS_RPC_RETRY_H

#include <linux/types.h>
#include <linux/dafs/requester.h>
#include <linux/dafs/status.h>

struct dafs_conn;

/**
 * enum dafs_action - what the status of a response asks of the client
 * @DAFS_ACT_NONE: nothing; the status is the result
 * @DAFS_ACT_LATER: send the request again later
 * @DAFS_ACT_MEMORY: likewise; the server lacks memory
 * @DAFS_ACT_RESEND: send it again: it did not match its checksum and was not executed
 * @DAFS_ACT_CRED: send it with another credential handle
 * @DAFS_ACT_SESSION: send it on another connection: the server does not know the
 *	session, or the client it belongs to, any more (E-84)
 * @DAFS_ACT_OPEN: reclaim the open: the server does not know the state-id (E-84)
 * @DAFS_ACT_INLINE: send it without RDMA, if it had any
 * @DAFS_ACT_SMALLER: send less at once
 * @DAFS_ACT_ALONE: send it outside of its chain, which ended before it
 * @DAFS_ACT_EMPTY: not a status: an I/O succeeded and has moved no byte; send it again
 * @DAFS_ACTIONS: how many there are
 */
enum dafs_action {
	DAFS_ACT_NONE,
	DAFS_ACT_LATER,
	DAFS_ACT_MEMORY,
	DAFS_ACT_RESEND,
	DAFS_ACT_CRED,
	DAFS_ACT_SESSION,
	DAFS_ACT_OPEN,
	DAFS_ACT_INLINE,
	DAFS_ACT_SMALLER,
	DAFS_ACT_ALONE,
	DAFS_ACT_EMPTY,
	DAFS_ACTIONS,
};

/**
 * enum dafs_retry_kind - what is repeated; the limits differ
 * @DAFS_RETRY_CALL: an operation, struct dafs_op
 * @DAFS_RETRY_READ: READ
 * @DAFS_RETRY_WRITE: WRITE; the data may be nowhere else
 * @DAFS_RETRY_KINDS: how many there are
 */
enum dafs_retry_kind {
	DAFS_RETRY_CALL,
	DAFS_RETRY_READ,
	DAFS_RETRY_WRITE,
	DAFS_RETRY_KINDS,
};

/**
 * struct dafs_tries - what the attempts at one operation have met so far
 * @delay_ms: the last pause, for a server that asks for time
 * @lost: connections that ended without an answer, see dafs_client_gives_up()
 * @count: attempts that ended with each action; stays at its maximum
 */
struct dafs_tries {
	unsigned int delay_ms;
	unsigned int lost;
	u8 count[DAFS_ACTIONS];
};

/**
 * enum dafs_next - what comes after an attempt
 * @DAFS_NEXT_REPORT: its result is the result of the operation
 * @DAFS_NEXT_SEND: the next attempt, at once
 * @DAFS_NEXT_PAUSE: the next attempt, after a pause
 */
enum dafs_next {
	DAFS_NEXT_REPORT,
	DAFS_NEXT_SEND,
	DAFS_NEXT_PAUSE,
};

/**
 * struct dafs_verdict - see dafs_retry()
 * @next: what comes after the attempt
 * @err: with DAFS_NEXT_REPORT, the errno to report, or 0 for that of the status
 */
struct dafs_verdict {
	enum dafs_next next;
	int err;
};

struct dafs_verdict dafs_retry(enum dafs_retry_kind kind, enum dafs_action action, bool forever,
			       struct dafs_tries *tries);
void dafs_tries_restart(struct dafs_tries *tries);
enum dafs_action dafs_status_action(dafs_status_t status);
bool dafs_status_refuses(dafs_status_t status);
enum dafs_action dafs_call_action(struct dafs_conn *conn, const struct dafs_call *call);
unsigned int dafs_next_delay(unsigned int ms);

#endif /* _FS_DAFS_RPC_RETRY_H */
