/* SPDX-License-Identifier: GPL-2.0 */
/* What a connection remembers of its chains (4.3); request/chain.c sees to them. */
#ifndef _DAFSD_SESSION_CHAIN_H
#define _DAFSD_SESSION_CHAIN_H

#include <linux/spinlock.h>
#include <linux/dafs/msg.h>

struct dafsd_rqst;

/**
 * struct dafsd_chain - what a chain has come to and hands on (4.3)
 * @failed: a request of it did, so those that follow are not executed
 * @fetched: a bulk fetch was among its requests
 * @has_fh: @fh is valid
 * @has_state_id: @state_id is
 * @fh: current filehandle (E-62)
 * @state_id: current state-id (E-63)
 */
struct dafsd_chain {
	bool failed;
	bool fetched;
	bool has_fh;
	bool has_state_id;
	struct dafs_fh fh;
	struct dafs_state_id state_id;
};

/* What the request that arrived last has announced */
enum dafsd_chain_next {
	DAFSD_CHAIN_END,	/* nothing that belongs to it */
	DAFSD_CHAIN_MORE,	/* one of the same chain */
	DAFSD_CHAIN_UNSURE,	/* it did not match its checksum: who knows (E-33) */
};

/**
 * struct dafsd_chains - the chains of a connection, see request/chain.c
 * @next: read and changed where requests arrive, one at a time
 * @lock: guards @last, @parked, and dafsd_rqst.next
 * @last: the request that arrived last, if it has announced another one and is
 *	not done yet
 * @parked: what the chain without an end hands on, while none of it is executed
 */
struct dafsd_chains {
	enum dafsd_chain_next next;
	spinlock_t lock;	/* see above */
	struct dafsd_rqst *last;
	struct dafsd_chain parked;
};

#endif /* _DAFSD_SESSION_CHAIN_H */
