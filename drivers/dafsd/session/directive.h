/* SPDX-License-Identifier: GPL-2.0 */
/* Directives: what the server asks of a client, on a back-control channel of it (6.6). */
#ifndef _DAFSD_SESSION_DIRECTIVE_H
#define _DAFSD_SESSION_DIRECTIVE_H

#include <linux/types.h>

struct dafs_call;
struct dafsd_client;
struct dafsd_session;

/**
 * struct dafsd_directive - a request to a client
 * @client: the client; whoever sends it has a reference until @done has returned
 * @proc: DAFS_PROC_BC_*
 * @args: needed until dafsd_direct() has returned
 * @done: called once if dafsd_direct() has succeeded, with the response in the call, or an
 *	error there; may be called before that returns, and in softirq context
 */
struct dafsd_directive {
	struct dafsd_client *client;
	u32 proc;
	void *args;
	void (*done)(struct dafsd_directive *dir, const struct dafs_call *call);
};

bool dafsd_session_takes_directives(struct dafsd_session *ses);
int dafsd_direct(struct dafsd_directive *dir);

#endif /* _DAFSD_SESSION_DIRECTIVE_H */
