// SPDX-License-Identifier: GPL-2.0
/*
 * What the client does about the status of a response (draft chapter 7): the one
 * place that decides it.  How often, and for how long, is for the caller to say.
 */
#include <linux/kernel.h>
#include "rpc.h"

#define DAFS_DELAY_MIN_MS	50U
#define DAFS_DELAY_MAX_MS	5000U

/**
 * dafs_status_action() - what a status asks of the client
 * @status: DAFS status of a response
 *
 * Context: any.
 * Return: DAFS_ACT_NONE if it is the result of the operation.
 */
enum dafs_action dafs_status_action(u32 status)
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
