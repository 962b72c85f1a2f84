// SPDX-License-Identifier: GPL-2.0
/*
 * What the client does about the status of a response (draft chapter 7), how often and
 * after which pause: the one place that decides it.
 */
#include <linux/kernel.h>
#include <linux/string.h>
#include "rpc_impl.h"
#include "trace.h"

#define DAFS_DELAY_MIN_MS	50U
#define DAFS_DELAY_MAX_MS	5000U

/**
 * dafs_status_action() - what a status asks of the client
 * @status: DAFS status of a response
 *
 * Context: any.
 * Return: DAFS_ACT_NONE if it is the result of the operation.
 */
enum dafs_action dafs_status_action(dafs_status_t status)
{
	switch (status) {
	case DAFSERR_DELAY:
	case DAFSERR_GRACE:
		return DAFS_ACT_LATER;
	case DAFSERR_RESOURCE:
		return DAFS_ACT_MEMORY;
	case DAFSERR_CHKSUM:
		return DAFS_ACT_RESEND;
	case DAFSERR_NO_CREDS:
		return DAFS_ACT_CRED;
	case DAFSERR_UNKNOWN_SESSION:
	case DAFSERR_BAD_SESSION:
	case DAFSERR_NOT_AUTHENTICATED:
	case DAFSERR_ILLEGAL_STATE:
	case DAFSERR_STALE_CLIENTID:
		return DAFS_ACT_SESSION;
	case DAFSERR_STALE_STATEID:
	case DAFSERR_BAD_STATEID:
	case DAFSERR_OLD_STATEID:
	case DAFSERR_EXPIRED:
		return DAFS_ACT_OPEN;
	case DAFSERR_NOTSUPP:
	case DAFSERR_RDMA_READ_CHANNEL_UNUSABLE:
		return DAFS_ACT_INLINE;
	case DAFSERR_WRITE_TOOBIG:
		return DAFS_ACT_SMALLER;
	case DAFSERR_CHAIN_BROKEN:
	case DAFSERR_CHAIN_FORM:
		return DAFS_ACT_ALONE;
	}
	return DAFS_ACT_NONE;
}

/**
 * dafs_status_refuses() - is it of no use to send the same request again?
 * @status: DAFS status of the response, or OK if there was none
 *
 * Context: any.
 * Return: true if so; false if the status says nothing about what was asked for.
 */
bool dafs_status_refuses(dafs_status_t status)
{
	switch (dafs_status_action(status)) {
	case DAFS_ACT_LATER:
	case DAFS_ACT_MEMORY:
	case DAFS_ACT_RESEND:
	case DAFS_ACT_CRED:
	case DAFS_ACT_SESSION:
		return false;
	default:
		return status && status != DAFSERR_IO && status != DAFSERR_SERVERFAULT;
	}
}

/**
 * dafs_call_action() - what a response asks of the client
 * @conn: the connection it came on; given up if the server has lost the session
 * @call: the call, answered; its credential handle is dropped if the server does not know it
 *
 * The connection after one that is given up has another session, and another client-id if
 * the server has discarded the client (E-84).
 *
 * Context: any but hard interrupts.
 * Return: as dafs_status_action().
 */
enum dafs_action dafs_call_action(struct dafs_conn *conn, const struct dafs_call *call)
{
	enum dafs_action action = dafs_status_action(call->status);

	if (action == DAFS_ACT_SESSION)
		dafs_chan_fail(conn->op, DAFS_CLOSE_STALE);
	if (action == DAFS_ACT_CRED)
		dafs_cred_forget(conn, call->cred);
	return action;
}

/**
 * dafs_next_delay() - how long to leave a server alone
 * @ms: how long it was the last time, 0 at first
 *
 * Context: any.
 * Return: how long it is now, in ms.
 */
unsigned int dafs_next_delay(unsigned int ms)
{
	return clamp(2 * ms, DAFS_DELAY_MIN_MS, DAFS_DELAY_MAX_MS);
}

/* More attempts than are counted */
#define DAFS_FOREVER	U8_MAX

/**
 * struct dafs_rule - how often an action is followed
 * @at_once: attempts that are followed by the next one without a pause
 * @soft: attempts before the operation fails on a soft mount; 0 or 1: it is not repeated
 * @hard: likewise where it is to be repeated for as long as that may help
 * @err: what it fails with, or 0 for the errno of the status
 */
struct dafs_rule {
	u8 at_once;
	u8 soft;
	u8 hard;
	int err;
};

/*
 * What is not listed is reported.  RESEND of a read is bounded on a hard mount as well:
 * data that never matches its checksum is damaged where it is stored.  That of a write
 * may be of data that a program changes while it is written.
 */
static const struct dafs_rule dafs_rules[DAFS_RETRY_KINDS][DAFS_ACTIONS] = {
	[DAFS_RETRY_CALL] = {
		[DAFS_ACT_LATER] = { 0, DAFS_FOREVER, DAFS_FOREVER },
		[DAFS_ACT_MEMORY] = { 0, 6, DAFS_FOREVER },
		[DAFS_ACT_RESEND] = { 0, 4, DAFS_FOREVER },
		[DAFS_ACT_CRED] = { 1, 2, DAFS_FOREVER },
		[DAFS_ACT_SESSION] = { 3, 4, DAFS_FOREVER, -EIO },
	},
	[DAFS_RETRY_READ] = {
		[DAFS_ACT_LATER] = { 0, DAFS_FOREVER, DAFS_FOREVER },
		[DAFS_ACT_MEMORY] = { 0, 4, DAFS_FOREVER },
		[DAFS_ACT_RESEND] = { 0, 4, 4, -EIO },
		[DAFS_ACT_CRED] = { 0, 4, DAFS_FOREVER, -EIO },
		[DAFS_ACT_SESSION] = { 0, 4, DAFS_FOREVER, -EIO },
		[DAFS_ACT_OPEN] = { 1, 4, DAFS_FOREVER },
		[DAFS_ACT_INLINE] = { DAFS_FOREVER },
		[DAFS_ACT_SMALLER] = { DAFS_FOREVER },
		[DAFS_ACT_EMPTY] = { 0, 4, 4, -EIO },
	},
	[DAFS_RETRY_WRITE] = {
		[DAFS_ACT_LATER] = { 0, DAFS_FOREVER, DAFS_FOREVER },
		[DAFS_ACT_MEMORY] = { 0, 4, DAFS_FOREVER },
		[DAFS_ACT_RESEND] = { 0, 4, DAFS_FOREVER, -EIO },
		[DAFS_ACT_CRED] = { 0, 4, DAFS_FOREVER, -EIO },
		[DAFS_ACT_SESSION] = { 0, 4, DAFS_FOREVER, -EIO },
		[DAFS_ACT_OPEN] = { 1, 4, DAFS_FOREVER },
		[DAFS_ACT_INLINE] = { DAFS_FOREVER },
		[DAFS_ACT_SMALLER] = { DAFS_FOREVER },
		[DAFS_ACT_EMPTY] = { 0, 4, 4, -EIO },
	},
};

static struct dafs_verdict dafs_rule_apply(const struct dafs_rule *rule, u8 count, bool forever)
{
	if (count <= rule->at_once)
		return (struct dafs_verdict){ DAFS_NEXT_SEND };
	if (count < (forever ? rule->hard : rule->soft))
		return (struct dafs_verdict){ DAFS_NEXT_PAUSE };
	return (struct dafs_verdict){ DAFS_NEXT_REPORT, rule->err };
}

/**
 * dafs_retry() - an attempt has failed: is there another one?
 * @kind: what is attempted
 * @action: what the server asks for
 * @forever: without a limit, where another attempt may help; as on a hard mount
 * @tries: counts this attempt
 *
 * Context: any.
 * Return: what comes next.
 */
struct dafs_verdict dafs_retry(enum dafs_retry_kind kind, enum dafs_action action, bool forever,
			       struct dafs_tries *tries)
{
	u8 *count = &tries->count[action];
	struct dafs_verdict verdict;

	if (*count < DAFS_FOREVER - 1)
		++*count;
	verdict = dafs_rule_apply(&dafs_rules[kind][action], *count, forever);
	if (action != DAFS_ACT_NONE)
		trace_dafs_retry(kind, action, *count, verdict.next);
	return verdict;
}

/**
 * dafs_tries_restart() - an attempt has achieved something
 * @tries: forgets all but the lost connections
 *
 * Context: any.
 */
void dafs_tries_restart(struct dafs_tries *tries)
{
	tries->delay_ms = 0;
	memset(tries->count, 0, sizeof(tries->count));
}
