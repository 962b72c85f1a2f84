// SPDX-License-Identifier: GPL-2.0
/*
 * Recalling delegations (6.6.4, E-90).
 *
 * A lease that is broken (deleg.c) begins a recall, or an administrator does.  BC_RECALL is sent
 * until the client has answered that it knows; then the client writes back what it has, and
 * sends DELEGRETURN.  If it does not do so within a lease period the delegation is revoked
 * (E-90); and if it denies for some seconds that it has it.  A client that could not be told for a
 * lease period, but lives, would rely on what it has not any more: it is ended as if it were
 * dead, and learns of that when it connects again.
 *
 *  1. A recall has one reference to the delegation: from dafsd_recall_begin() on, which
 *     happens once, until its work item finds that the delegation is dead or revokes it, or
 *     dafsd_recall_ended() cancels the work item.
 *  2. A directive has another one while it is under way; there is one at a time
 *     (DAFSD_DELEG_TELLING).
 *  3. A delegation dies before dafsd_recall_ended() looks for a work item that is queued, and
 *     a work item that has queued itself looks afterwards whether the delegation has died.
 *     So none stays queued for long after that.
 *  4. The last reference may end here, but files are closed by the work item of their export.
 */
#include <linux/jiffies.h>
#include <linux/random.h>
#include <linux/dafs/requester.h>
#include "../session/server.h"
#include "../session/client.h"
#include "../session/courtesy.h"
#include "../session/trace.h"
#include "deleg_impl.h"

/* How soon a client is told once more that could not be told, at first and at last */
#define DAFSD_RECALL_RETRY	(HZ / 20)
#define DAFSD_RECALL_LATER	HZ

/*
 * A client that answers that it has no such delegation may not have got the response of the
 * OPEN yet; after this time it never will.
 */
#define DAFSD_RECALL_UNKNOWN	(5U * HZ)

static unsigned long dafsd_recall_unknown_for(void)
{
	return min(DAFSD_RECALL_UNKNOWN, dafsd_lease_seconds * HZ / 2);
}

static void dafsd_recall_end(struct dafsd_deleg *deleg)
{
	dafsd_state_put_later(&deleg->state);
}

/* Invariant 3; after queueing it, nothing but RCU keeps @deleg. */
static void dafsd_recall_requeue(struct dafsd_deleg *deleg, unsigned long delay)
{
	guard(rcu)();
	queue_delayed_work(dafsd_timer_wq, &deleg->recall, delay);
	/* pairs with dafsd_recall_ended() */
	smp_mb();
	if (READ_ONCE(deleg->state.dead) && cancel_delayed_work(&deleg->recall))
		queue_delayed_work(dafsd_timer_wq, &deleg->recall, 0);
}

static unsigned long dafsd_recall_left(const struct dafsd_deleg *deleg)
{
	unsigned long end = READ_ONCE(deleg->since) + dafsd_lease_seconds * HZ;

	if (test_bit(DAFSD_DELEG_DISOWNED, &deleg->flags))
		return 0;
	return time_before(jiffies, end) ? end - jiffies : 0;
}

static bool dafsd_recall_unknown(const struct dafs_call *call)
{
	return !call->error &&
	       (call->status == DAFSERR_BADHANDLE || call->status == DAFSERR_BAD_STATEID);
}

/* The client has answered, or cannot any more. */
static void dafsd_recall_answered(struct dafsd_directive *dir, const struct dafs_call *call)
{
	struct dafsd_deleg *deleg = container_of(dir, struct dafsd_deleg, dir);

	if (!call->error && !call->status) {
		/* a lease period from now on, and not only until that of the client ends */
		WRITE_ONCE(deleg->since, jiffies);
		/* pairs with dafsd_recall_finish(), as who sees it sees the time, too */
		smp_mb__before_atomic();
		set_bit(DAFSD_DELEG_TOLD, &deleg->flags);
	} else if (dafsd_recall_unknown(call) &&
		   time_after(jiffies, deleg->since + dafsd_recall_unknown_for())) {
		set_bit(DAFSD_DELEG_DISOWNED, &deleg->flags);
	}
	clear_bit_unlock(DAFSD_DELEG_TELLING, &deleg->flags);
	dafsd_state_put_later(&deleg->state);
}

static void dafsd_recall_tell(struct dafsd_deleg *deleg)
{
	struct dafs_bc_recall_args args = { .filehandle = deleg->wire };
	int err;

	if (test_bit(DAFSD_DELEG_TOLD, &deleg->flags) ||
	    test_and_set_bit_lock(DAFSD_DELEG_TELLING, &deleg->flags))
		return;
	dafsd_state_id(&deleg->state, &args.state_id);
	deleg->dir.args = &args;
	refcount_inc(&deleg->state.ref);
	err = dafsd_direct(&deleg->dir);
	assign_bit(DAFSD_DELEG_QUEUED, &deleg->flags, err == -EAGAIN);
	if (!err)
		return;
	clear_bit_unlock(DAFSD_DELEG_TELLING, &deleg->flags);
	dafsd_state_put_later(&deleg->state);
}

/*
 * When to look again.  Many delegations of one client are told one after the other, so those
 * that wait for others must not all try at the same times.
 */
static unsigned long dafsd_recall_delay(struct dafsd_deleg *deleg)
{
	if (test_bit(DAFSD_DELEG_QUEUED, &deleg->flags))
		return get_random_u32_inclusive(DAFSD_RECALL_RETRY, DAFSD_RECALL_LATER);
	deleg->delay = clamp(2 * deleg->delay, DAFSD_RECALL_RETRY, DAFSD_RECALL_LATER);
	return deleg->delay;
}

/* Does the client know that it is to return the delegation, or deny that it has it? */
static bool dafsd_recall_is_known(const struct dafsd_deleg *deleg)
{
	return test_bit(DAFSD_DELEG_TOLD, &deleg->flags) ||
	       test_bit(DAFSD_DELEG_DISOWNED, &deleg->flags);
}

/* Is there no reason to end its client, as one that could not be told? */
static bool dafsd_recall_is_moot(const void *arg)
{
	const struct dafsd_deleg *deleg = arg;

	return READ_ONCE(deleg->state.dead) || dafsd_recall_is_known(deleg);
}

static bool dafsd_recall_revoke(struct dafsd_deleg *deleg)
{
	trace_dafsd_delegation(deleg->state.id, deleg->state.client,
			       deleg->state.file->inode->i_ino, "revoked");
	if (dafsd_state_revoke(&deleg->state) && test_bit(DAFSD_DELEG_TOLD, &deleg->flags))
		dafsd_deleg_kept(deleg->state.client);
	return true;
}

/*
 * The delegation is taken from its client if the time for that has come.  A client that could not
 * be told until now is asked once more: it may have come back just in time.  If it knows by now it
 * has as much time as others.
 *
 * Return: true if there is nothing to wait for any more.
 */
static bool dafsd_recall_finish(struct dafsd_deleg *deleg)
{
	bool known = dafsd_recall_is_known(deleg);

	/* before the time is looked at, see dafsd_recall_answered() */
	smp_rmb();
	if (READ_ONCE(deleg->state.dead))
		return true;
	if (dafsd_recall_left(deleg))
		return false;
	if (known)
		return dafsd_recall_revoke(deleg);
	if (!test_and_set_bit(DAFSD_DELEG_LAST, &deleg->flags))
		return false;
	/* it loses this one with all others, and its sessions */
	return dafsd_client_end(deleg->state.client, "could not be told of a recall",
				dafsd_recall_is_moot, deleg) || READ_ONCE(deleg->state.dead);
}

static void dafsd_recall_work(struct work_struct *work)
{
	struct dafsd_deleg *deleg = container_of(to_delayed_work(work), struct dafsd_deleg,
						 recall);
	unsigned long delay, left;

	if (dafsd_recall_finish(deleg)) {
		dafsd_recall_end(deleg);
		return;
	}
	dafsd_recall_tell(deleg);
	delay = dafsd_recall_delay(deleg);
	left = dafsd_recall_left(deleg);
	dafsd_recall_requeue(deleg, left ? min(delay, left) : delay);
}

/**
 * dafsd_recall_init() - initialize the recall of a delegation
 * @deleg: the delegation, with its client
 */
void dafsd_recall_init(struct dafsd_deleg *deleg)
{
	INIT_DELAYED_WORK(&deleg->recall, dafsd_recall_work);
	deleg->dir = (struct dafsd_directive) {
		.client = deleg->state.client,
		.proc = DAFS_PROC_BC_RECALL,
		.done = dafsd_recall_answered,
	};
}

/* Invariant 1 */
static void dafsd_recall_start(struct dafsd_deleg *deleg)
{
	if (READ_ONCE(deleg->state.dead) ||
	    test_and_set_bit(DAFSD_DELEG_RECALLED, &deleg->flags))
		return;
	trace_dafsd_delegation(deleg->state.id, deleg->state.client,
			       deleg->state.file->inode->i_ino, "recalled");
	refcount_inc(&deleg->state.ref);
	queue_delayed_work(dafsd_timer_wq, &deleg->recall, 0);
}

/**
 * dafsd_recall_begin() - take a delegation back from its client; later calls do nothing
 * @deleg: the delegation; the caller has a reference, or its lease, or it was not published yet
 *
 * Context: any but interrupt; does not sleep.
 */
void dafsd_recall_begin(struct dafsd_deleg *deleg)
{
	if (test_and_set_bit(DAFSD_DELEG_ENDING, &deleg->flags))
		return;
	atomic_inc(&deleg->state.client->nr_recalls);
	WRITE_ONCE(deleg->since, jiffies);
	/* who sees DAFSD_DELEG_BROKEN sees the time, too */
	smp_mb__before_atomic();
	set_bit(DAFSD_DELEG_BROKEN, &deleg->flags);
	/* pairs with dafsd_recall_published() */
	smp_mb__after_atomic();
	/* who will not return it is not asked */
	dafsd_courtesy_end(deleg->state.client);
	dafsd_recall_start(deleg);
}

/**
 * dafsd_recall_published() - a delegation has a state-id that its client may return
 * @deleg: the delegation, which may have been broken before
 *
 * Context: any but interrupt; holds the lock of the file, so that it is not freed.
 */
void dafsd_recall_published(struct dafsd_deleg *deleg)
{
	/* pairs with dafsd_recall_begin() */
	smp_mb();
	if (test_bit(DAFSD_DELEG_BROKEN, &deleg->flags))
		dafsd_recall_start(deleg);
}

/**
 * dafsd_recall_ended() - a delegation was claimed
 * @deleg: the delegation; the caller has a reference
 *
 * Context: any but interrupt.
 */
void dafsd_recall_ended(struct dafsd_deleg *deleg)
{
	/* pairs with dafsd_recall_requeue() */
	smp_mb();
	if (cancel_delayed_work(&deleg->recall))
		dafsd_recall_end(deleg);
}
