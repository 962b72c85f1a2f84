// SPDX-License-Identifier: GPL-2.0
/*
 * Delegations: granting them, and what ends them (6.5.10, 6.5.11, 6.5.24, E-90).
 *
 * A read delegation promises that nobody changes a file, a write delegation that nobody else
 * uses it, until the client was told so and has answered by DELEGRETURN.  The kernel keeps the
 * promise: each delegation has a lease (FL_DELEG).  An access that conflicts breaks the lease,
 * whether it comes from a local program, which waits, or from another client, whose request waits
 * for up to two seconds and is answered DELAY then, see recall_wait.c.  Breaking only begins a
 * recall, see recall.c; the lease ends with the delegation.
 *
 * The requests of its own client do not break a lease (dafsd_lease_is_own()).  As several
 * mounts of a machine may have the same client-id but not the same cache, a delegation belongs
 * to that of them which has opened the file, and to the export that it was opened in.
 *
 * It is for the server alone to decide what is delegated:
 *
 *  - a file that is opened for both, as by databases and virtual machines: for writing
 *  - a file that is opened for reading and was opened by the same client before: for reading
 *  - no new file, since most of them are not opened again soon
 *  - no file whose delegation was recalled a moment ago
 *  - none to a client that has not returned one in time, for a lease period, and for twice as long
 *    the next time: others have waited for it in vain
 *  - no file of a file system that has leases of its own, or names that may change without the
 *    kernel's knowledge: others of its nodes could change it without breaking the lease
 *
 * The number of opens of an inode, which the kernel counts, shows whether there are opens
 * other than those of the client, and for writing.  It is looked at before and after the lease
 * is set: an open in between is either counted or has broken the lease.
 */
#include <linux/exportfs.h>
#include <linux/filelock.h>
#include <linux/hash.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/statfs.h>
#include <linux/dafs/status.h>
#include "../session/server.h"
#include "../session/client.h"
#include "../session/peer.h"
#include "../session/conn.h"
#include "../session/session.h"
#include "../session/trace.h"
#include "../export/export.h"
#include "../request/request.h"
#include "../vfs/fh.h"
#include "deleg_impl.h"
#include "persist.h"
#include "open_impl.h"

#define DAFSD_RESTS	256

/* How often the time is doubled for which a client gets no delegation */
#define DAFSD_KEPT_MAX	8U

/* Attempts to set the lease of a delegation that was promised */
#define DAFSD_LEASE_TRIES	1000

/* Files of which the server remembers that a client has opened them; some twice as many */
#define DAFSD_SEEN_FILES	4096
#define DAFSD_SEEN_BITS		65536

unsigned int dafsd_deleg_rest_seconds = 10;
module_param_named(delegation_rest, dafsd_deleg_rest_seconds, uint, 0644);
MODULE_PARM_DESC(delegation_rest,
		 "seconds after a recall in which a file is not delegated again (default 10)");

/* When a file with a hash was recalled last, in seconds; has no lock */
static struct dafsd_rest {
	u32 hash;
	u32 at;
} dafsd_rests[DAFSD_RESTS];

/* Never 0; different files may have the same */
static u32 dafsd_inode_hash(const struct inode *inode)
{
	u64 id = ((u64)inode->i_sb->s_dev << 32) ^ inode->i_ino ^
		 ((u64)inode->i_generation << 16);

	return hash_64(id, 32) ?: 1;
}

static void dafsd_deleg_rest(const struct inode *inode)
{
	u32 hash = dafsd_inode_hash(inode);
	struct dafsd_rest *rest = &dafsd_rests[hash % DAFSD_RESTS];

	WRITE_ONCE(rest->at, ktime_get_boottime_seconds());
	WRITE_ONCE(rest->hash, hash);
}

static bool dafsd_deleg_rests(const struct inode *inode)
{
	u32 hash = dafsd_inode_hash(inode);
	const struct dafsd_rest *rest = &dafsd_rests[hash % DAFSD_RESTS];
	u32 now = ktime_get_boottime_seconds();

	return READ_ONCE(rest->hash) == hash &&
	       now - READ_ONCE(rest->at) < READ_ONCE(dafsd_deleg_rest_seconds);
}

/* Is a client given no delegation now, as it would keep it?  Under its lock. */
static bool dafsd_client_keeps(const struct dafsd_client *client)
{
	unsigned long rest = READ_ONCE(dafsd_lease_seconds) * HZ;

	lockdep_assert_held(&client->lock);
	if (!client->nr_kept)
		return false;
	return time_before(jiffies, client->kept +
				    (rest << min(client->nr_kept - 1, DAFSD_KEPT_MAX)));
}

/**
 * dafsd_deleg_kept() - a client has not returned a delegation in time, although it knew
 * @client: the client
 *
 * Those that are recalled at the same time count as one.
 *
 * Context: any but interrupt.
 */
void dafsd_deleg_kept(struct dafsd_client *client)
{
	spin_lock(&client->lock);
	if (!dafsd_client_keeps(client)) {
		client->nr_kept++;
		client->kept = jiffies;
	}
	spin_unlock(&client->lock);
}

static bool dafsd_deleg_distrusts(struct dafsd_client *client)
{
	bool keeps;

	spin_lock(&client->lock);
	keeps = dafsd_client_keeps(client);
	spin_unlock(&client->lock);
	return keeps;
}

/**
 * struct dafsd_seen - the last files that a client has opened, by their hashes
 * @bits: of the last DAFSD_SEEN_FILES files, and of as many before
 * @now: which of both is which
 * @nr: bits that are set in the first
 */
struct dafsd_seen {
	DECLARE_BITMAP(bits[2], DAFSD_SEEN_BITS);
	unsigned int now;
	unsigned int nr;
};

static_assert(sizeof(struct dafsd_seen) <= DAFSD_SEEN_BYTES);

/* From the first OPEN on that is of interest; freed with the client */
static struct dafsd_seen *dafsd_seen_get(struct dafsd_client *client)
{
	struct dafsd_seen *seen = READ_ONCE(client->seen), *other;

	if (seen)
		return seen;
	if (!dafsd_peer_charge(client->peer, DAFSD_CHARGE_STATE, DAFSD_SEEN_BYTES))
		return NULL;
	seen = kvzalloc(sizeof(*seen), GFP_KERNEL);
	other = seen ? cmpxchg(&client->seen, NULL, seen) : NULL;
	if (seen && !other)
		return seen;
	kvfree(seen);
	dafsd_peer_uncharge(client->peer, DAFSD_CHARGE_STATE, DAFSD_SEEN_BYTES);
	return other;
}

static void dafsd_seen_count(struct dafsd_seen *seen)
{
	if (++seen->nr < DAFSD_SEEN_FILES)
		return;
	seen->nr = 0;
	seen->now = !seen->now;
	bitmap_zero(seen->bits[seen->now], DAFSD_SEEN_BITS);
}

/* Has the client opened this file lately?  Perhaps not, but another one with the same hash. */
static bool dafsd_deleg_seen(struct dafsd_client *client, const struct inode *inode)
{
	struct dafsd_seen *seen = dafsd_seen_get(client);
	u32 bit = dafsd_inode_hash(inode) % DAFSD_SEEN_BITS;
	bool was;

	if (!seen)
		return false;
	spin_lock(&client->lock);
	was = test_bit(bit, seen->bits[0]) || test_bit(bit, seen->bits[1]);
	if (!__test_and_set_bit(bit, seen->bits[seen->now]))
		dafsd_seen_count(seen);
	spin_unlock(&client->lock);
	return was;
}

static struct dafsd_deleg *dafsd_deleg_of(struct dafsd_state *st)
{
	return container_of(st, struct dafsd_deleg, state);
}

/* Is a request one of the mount that has the delegation? */
static bool dafsd_deleg_is_own(const struct dafsd_deleg *deleg, const struct dafsd_rqst *rq)
{
	return rq->ses && rq->ses->client == deleg->state.client &&
	       READ_ONCE(rq->exp) == deleg->state.exp &&
	       dafsd_chan_origin(rq->base.chan) == deleg->origin;
}

static bool dafsd_lease_break(struct file_lease *fl)
{
	struct dafsd_deleg *deleg = fl->c.flc_owner;

	/* the kernel must not end it after a time of its own, while the client relies on it */
	fl->fl_break_time = 0;
	fl->fl_downgrade_time = 0;
	dafsd_deleg_rest(deleg->state.file->inode);
	dafsd_recall_begin(deleg);
	return false;
}

static int dafsd_lease_change(struct file_lease *fl, int type, struct list_head *dispose)
{
	return type == F_UNLCK ? lease_modify(fl, type, dispose) : -EAGAIN;
}

/* If it is in the way, the request may wait for its end. */
static void dafsd_deleg_meets(const struct dafsd_deleg *deleg, struct dafsd_rqst *rq)
{
	if (rq->met)
		return;
	dafsd_file_hold(deleg->state.file);
	rq->met = deleg->state.file;
}

static bool dafsd_lease_is_own(struct file_lease *fl)
{
	const struct dafsd_deleg *deleg = fl->c.flc_owner;
	struct dafsd_rqst *rq = dafsd_rqst_current();

	if (rq && dafsd_deleg_is_own(deleg, rq))
		return true;
	if (rq)
		dafsd_deleg_meets(deleg, rq);
	return false;
}

static const struct lease_manager_operations dafsd_lease_ops = {
	.lm_break = dafsd_lease_break,
	.lm_change = dafsd_lease_change,
	.lm_breaker_owns_lease = dafsd_lease_is_own,
};

static int dafsd_lease_set(struct dafsd_deleg *deleg)
{
	int type = deleg->type == DAFS_OPEN_DELEGATE_WRITE ? F_WRLCK : F_RDLCK;
	struct file_lease *fl = locks_alloc_lease();
	int err;

	if (!fl)
		return -ENOMEM;
	fl->fl_lmops = &dafsd_lease_ops;
	fl->c.flc_flags = FL_DELEG;
	fl->c.flc_type = type;
	fl->c.flc_owner = deleg;
	fl->c.flc_pid = current->tgid;
	fl->c.flc_file = deleg->filp;
	err = kernel_setlease(deleg->filp, type, &fl, NULL);
	if (fl)
		locks_free_lease(fl);
	if (!err)
		set_bit(DAFSD_DELEG_LEASED, &deleg->flags);
	return err;
}

static void dafsd_lease_end(struct dafsd_deleg *deleg)
{
	void *owner = deleg;

	if (test_and_clear_bit(DAFSD_DELEG_LEASED, &deleg->flags))
		kernel_setlease(deleg->filp, F_UNLCK, NULL, &owner);
}

/* Write delegations, so that most servers need not look for one */
static atomic_t dafsd_deleg_writers = ATOMIC_INIT(0);

static void dafsd_deleg_published(const struct dafsd_state *st)
{
	if (container_of(st, struct dafsd_deleg, state)->type == DAFS_OPEN_DELEGATE_WRITE)
		atomic_inc(&dafsd_deleg_writers);
	atomic_inc(&st->exp->nr_delegs);
	trace_dafsd_delegation(st->id, st->client, st->file->inode->i_ino, "granted");
}

static void dafsd_deleg_claimed(const struct dafsd_state *st)
{
	if (container_of(st, struct dafsd_deleg, state)->type == DAFS_OPEN_DELEGATE_WRITE)
		atomic_dec(&dafsd_deleg_writers);
	if (atomic_dec_and_test(&st->exp->nr_delegs))
		wake_up_var(&st->exp->nr_delegs);
	trace_dafsd_delegation(st->id, st->client, st->file->inode->i_ino, "over");
}

/* Whom it was in the way of goes on. */
static void dafsd_deleg_over(struct dafsd_deleg *deleg)
{
	dafsd_lease_end(deleg);
	dafsd_recall_wake(deleg);
}

static void dafsd_deleg_revoked(struct dafsd_state *st)
{
	dafsd_deleg_over(dafsd_deleg_of(st));
}

static void dafsd_deleg_ended(struct dafsd_state *st)
{
	/* a rest that began with the recall may be over */
	if (test_bit(DAFSD_DELEG_BROKEN, &dafsd_deleg_of(st)->flags))
		dafsd_deleg_rest(st->file->inode);
	dafsd_deleg_over(dafsd_deleg_of(st));
	dafsd_recall_ended(dafsd_deleg_of(st));
}

static void dafsd_deleg_detach(struct dafsd_state *st)
{
	list_del(&dafsd_deleg_of(st)->file_link);
}

static void dafsd_deleg_release(struct dafsd_state *st)
{
	if (test_bit(DAFSD_DELEG_ENDING, &dafsd_deleg_of(st)->flags))
		atomic_dec(&st->client->nr_recalls);
	atomic_dec(&st->client->nr_delegs);
	dafsd_open_done(dafsd_deleg_of(st)->filp);
}

static void dafsd_deleg_view(struct dafsd_state *st, struct dafsd_state_view *view)
{
	const struct dafsd_deleg *deleg = dafsd_deleg_of(st);

	view->access = deleg->type == DAFS_OPEN_DELEGATE_WRITE ? DAFS_OPEN_SHARE_ACCESS_BOTH :
		       DAFS_OPEN_SHARE_ACCESS_READ;
	view->recalled = test_bit(DAFSD_DELEG_BROKEN, &deleg->flags);
}

/* A client that did not know that it has lost a delegation would show its programs old data. */
static bool dafsd_deleg_withdraw(struct dafsd_state *st)
{
	if (READ_ONCE(st->dead))
		return false;
	dafsd_deleg_rest(st->file->inode);
	dafsd_recall_begin(dafsd_deleg_of(st));
	return true;
}

static const struct dafsd_state_type dafsd_deleg_type = {
	.published = dafsd_deleg_published,
	.claimed = dafsd_deleg_claimed,
	.revoked = dafsd_deleg_revoked,
	.ended = dafsd_deleg_ended,
	.detach = dafsd_deleg_detach,
	.release = dafsd_deleg_release,
	.view = dafsd_deleg_view,
	.withdraw = dafsd_deleg_withdraw,
};

/**
 * dafsd_delegs_recall() - recall all delegations of an export
 * @exp: the export; if it is not enabled any more no others are given
 *
 * Context: may sleep.
 */
void dafsd_delegs_recall(const struct dafsd_export *exp)
{
	struct dafsd_state *st;
	unsigned long id;

	if (!atomic_read(&exp->nr_delegs))
		return;
	for (id = 0; (st = dafsd_state_next(&id)); id++) {
		if (st->type == &dafsd_deleg_type && st->exp == exp)
			dafsd_deleg_withdraw(st);
		dafsd_state_put_later(st);
	}
}

static bool dafsd_deleg_is_dead(const void *st)
{
	return READ_ONCE(((const struct dafsd_state *)st)->dead);
}

/**
 * dafsd_delegs_wait() - wait until an export has no delegations any more
 * @exp: the export, which is not enabled any more; dafsd_delegs_recall() was called
 *
 * What clients have not returned in time is about to be taken from them, and they with it:
 * they would rely on it.
 *
 * Context: may sleep, for dafsd_withdraw_seconds at most.
 */
void dafsd_delegs_wait(struct dafsd_export *exp)
{
	struct dafsd_state *st;
	unsigned long id;

	if (wait_var_event_timeout(&exp->nr_delegs, !atomic_read(&exp->nr_delegs),
				   READ_ONCE(dafsd_withdraw_seconds) * HZ))
		return;
	for (id = 0; (st = dafsd_state_next(&id)); id++) {
		if (st->type == &dafsd_deleg_type && st->exp == exp)
			dafsd_client_end(st->client, "does not return what is delegated to it",
					 dafsd_deleg_is_dead, st);
		dafsd_state_put_later(st);
	}
}

/**
 * struct dafsd_offer - an OPEN that may get a delegation
 * @rq: the request
 * @fh: the file
 * @use: the open, and its file
 * @type: DAFS_OPEN_DELEGATE_*
 * @limit: how large the client may make the file before it writes
 * @reclaimed: the client had it before the server was restarted, and gets it back
 * @brief: likewise, and it is recalled at once: somebody has or had a PERSIST lock, and a
 *	delegate would not ask whether that is broken
 */
struct dafsd_offer {
	struct dafsd_rqst *rq;
	struct dafsd_fh *fh;
	struct dafsd_use use;
	u32 type;
	u64 limit;
	bool reclaimed;
	bool brief;
};

/* Are all nodes that can change the file bound by a lease? */
static bool dafsd_deleg_possible(const struct file *filp)
{
	const struct export_operations *ops = file_inode(filp)->i_sb->s_export_op;

	return !filp->f_op->setlease && !(ops && ops->flags & EXPORT_OP_REMOTE_FS) &&
	       !(file_dentry(filp)->d_flags & (DCACHE_OP_REVALIDATE | DCACHE_OP_WEAK_REVALIDATE));
}

static u32 dafsd_offer_type(struct dafsd_offer *offer, unsigned int flags)
{
	struct inode *inode = offer->use.file->inode;
	bool seen = dafsd_deleg_seen(offer->rq->ses->client, inode);
	u32 access = READ_ONCE(offer->use.open->access);

	if (offer->reclaimed) {
		offer->brief = dafsd_persist_any(inode);
		return offer->rq->args.open.delegate_type;
	}
	/* a delegate would not ask whether a lock is broken */
	if ((flags & DAFSD_OPEN_CREATED) || dafsd_deleg_rests(inode) || dafsd_persist_any(inode) ||
	    dafsd_grace_check(offer->rq->ses->client->server) ||
	    dafsd_deleg_distrusts(offer->rq->ses->client))
		return DAFS_OPEN_DELEGATE_NONE;
	if (access == DAFS_OPEN_SHARE_ACCESS_BOTH)
		return DAFS_OPEN_DELEGATE_WRITE;
	return seen && access == DAFS_OPEN_SHARE_ACCESS_READ ? DAFS_OPEN_DELEGATE_READ :
							       DAFS_OPEN_DELEGATE_NONE;
}

/*
 * Return: true if no open but those of the client conflicts with the delegation.  One for writing
 * may have a file of its own.
 */
static bool dafsd_offer_is_alone(const struct dafsd_offer *offer, const struct dafsd_deleg *deleg)
{
	const struct dafsd_file *file = offer->use.file;
	const struct dafsd_open *own = offer->use.open, *open;
	int readers = deleg->filp != offer->use.filp, writers = 0;

	lockdep_assert_held(&file->lock);
	if (offer->type == DAFS_OPEN_DELEGATE_READ)
		return !inode_is_open_for_write(file->inode);
	list_for_each_entry(open, &file->opens, file_link) {
		if (open->state.client != own->state.client ||
		    open->state.exp != own->state.exp || open->origin != own->origin)
			return false;
		if (dafsd_open_filp(open)->f_mode & FMODE_WRITE)
			writers++;
		else
			readers++;
	}
	return atomic_read(&file->inode->i_writecount) == writers &&
	       atomic_read(&file->inode->i_readcount) == readers;
}

/* The delegation that the mount has already, or NULL */
static const struct dafsd_deleg *dafsd_offer_present(const struct dafsd_offer *offer)
{
	const struct dafsd_deleg *deleg;

	lockdep_assert_held(&offer->use.file->lock);
	list_for_each_entry(deleg, &offer->use.file->delegs, file_link)
		if (!READ_ONCE(deleg->state.dead) && dafsd_deleg_is_own(deleg, offer->rq))
			return deleg;
	return NULL;
}

/* kernel_setlease() gives up if somebody has the inode locked just now. */
static bool dafsd_offer_set_lease(struct dafsd_offer *offer, struct dafsd_deleg *deleg)
{
	int tries = offer->reclaimed ? DAFSD_LEASE_TRIES : 1;

	while (dafsd_offer_is_alone(offer, deleg) && tries--) {
		if (!dafsd_lease_set(deleg))
			return true;
		cpu_relax();
	}
	return false;
}

/* A reclaimed one is given in any case, and recalled if it may not last (6.5.24). */
static bool dafsd_offer_lease(struct dafsd_offer *offer, struct dafsd_deleg *deleg)
{
	if (dafsd_offer_set_lease(offer, deleg)) {
		/* kernel_setlease() is ordered before this */
		if (dafsd_offer_is_alone(offer, deleg) && !offer->brief)
			return true;
		dafsd_lease_end(deleg);
	}
	if (offer->reclaimed)
		dafsd_recall_begin(deleg);
	return offer->reclaimed;
}

/*
 * The file to set the lease by.  It is closed some time after the lease has ended, and must not
 * count as open for writing then: a program that waited for the end may be going to execute the
 * file (ETXTBSY).
 */
static struct file *dafsd_offer_file(const struct dafsd_offer *offer)
{
	struct file *filp = NULL;

	if (offer->type == DAFS_OPEN_DELEGATE_WRITE)
		filp = dafsd_fh_open(offer->fh, DAFS_OPEN_SHARE_ACCESS_READ, current_cred());
	return IS_ERR_OR_NULL(filp) ? get_file(offer->use.filp) : filp;
}

static struct dafsd_deleg *dafsd_deleg_alloc(const struct dafsd_offer *offer)
{
	struct dafsd_client *client = offer->rq->ses->client;
	struct dafsd_deleg *deleg = kzalloc(sizeof(*deleg), GFP_KERNEL);

	if (!deleg)
		return NULL;
	if (atomic_inc_return(&client->nr_delegs) > READ_ONCE(dafsd_max_delegations) ||
	    dafsd_state_reserve(&deleg->state, &dafsd_deleg_type, client, sizeof(*deleg) + SZ_1K)) {
		atomic_dec(&client->nr_delegs);
		kfree(deleg);
		return NULL;
	}
	deleg->wire = offer->use.open->wire;
	deleg->type = offer->type;
	deleg->origin = offer->use.open->origin;
	deleg->filp = dafsd_offer_file(offer);
	dafsd_state_attach(&deleg->state, offer->use.file, offer->use.exp);
	dafsd_recall_init(deleg);
	return deleg;
}

/* A client may keep so much that the server would have room for, many times over. */
static u64 dafsd_deleg_limit(const struct file *filp)
{
	u64 size = i_size_read(file_inode(filp));
	struct kstatfs stat;

	if (vfs_statfs(&filp->f_path, &stat))
		return size;
	return size + (stat.f_bavail * stat.f_bsize) / 16;
}

static void dafsd_offer_accept(struct dafsd_offer *offer, const struct dafsd_deleg *deleg)
{
	struct dafs_open_res *res = &offer->rq->res.open;

	res->delegation_type = deleg->type;
	dafsd_state_id(&deleg->state, &res->deleg_state_id);
	res->recall = test_bit(DAFSD_DELEG_BROKEN, &deleg->flags);
	res->limitby = DAFS_LIMIT_SIZE;
	res->filesize = offer->limit;
	/* for nobody but who has opened it (E-90) */
	res->permissions_acetype = DAFS_ACE_ACCESS_ALLOWED_ACE_TYPE;
}

/*
 * The grace period may have ended since the OPEN has begun.  Then others may have had the file
 * before this client was alone with it, and what it has cached is not to be relied on.
 */
static bool dafsd_offer_is_late(const struct dafsd_offer *offer)
{
	lockdep_assert_held(&offer->use.file->lock);
	return offer->reclaimed && !dafsd_grace_reclaims(offer->rq->ses->client);
}

static bool dafsd_offer_make(struct dafsd_offer *offer, struct dafsd_deleg *deleg)
{
	const struct dafsd_deleg *present = dafsd_offer_present(offer);
	struct dafs_state_id state_id;

	/* who claims it again has not got the response, and would not know what is recalled */
	if (present && offer->reclaimed)
		dafsd_offer_accept(offer, present);
	if (present || dafsd_offer_is_late(offer) || !dafsd_offer_lease(offer, deleg))
		return false;
	if (dafsd_state_publish(&deleg->state, &state_id)) {
		dafsd_lease_end(deleg);
		return false;
	}
	list_add_tail(&deleg->file_link, &offer->use.file->delegs);
	dafsd_recall_published(deleg);
	dafsd_offer_accept(offer, deleg);
	return true;
}

static void dafsd_offer_run(struct dafsd_offer *offer)
{
	struct dafsd_deleg *deleg;
	bool made;

	/* before there is a lock: these may wait for the file system */
	offer->limit = dafsd_deleg_limit(offer->use.filp);
	deleg = dafsd_deleg_alloc(offer);
	if (!deleg)
		return;
	mutex_lock(&offer->use.file->lock);
	made = dafsd_offer_make(offer, deleg);
	mutex_unlock(&offer->use.file->lock);
	if (!made)
		dafsd_state_cancel(&deleg->state);
}

/* Most files that are opened again have a delegation already. */
static bool dafsd_offer_is_vain(const struct dafsd_offer *offer)
{
	struct dafsd_file *file = offer->use.file;
	bool vain;

	mutex_lock(&file->lock);
	vain = !offer->reclaimed && dafsd_offer_present(offer);
	mutex_unlock(&file->lock);
	return vain;
}

/**
 * dafsd_deleg_offer() - delegate a file that was opened, if that seems useful
 * @rq: OPEN that has succeeded; its result tells of the delegation
 * @fh: the file
 * @flags: DAFSD_OPEN_*
 *
 * Context: may sleep; acts for the caller.
 */
void dafsd_deleg_offer(struct dafsd_rqst *rq, struct dafsd_fh *fh, unsigned int flags)
{
	const struct dafs_open_args *args = &rq->args.open;
	struct dafsd_offer offer = {
		.rq = rq,
		.fh = fh,
		.use.exp = fh->exp,
		.reclaimed = args->claim_type == DAFS_CLAIM_PREVIOUS && args->delegate_type &&
			     dafsd_grace_reclaims(rq->ses->client),
	};

	/* who claims an open claims the delegation with it */
	if (args->claim_type == DAFS_CLAIM_PREVIOUS && !offer.reclaimed)
		return;
	if (!READ_ONCE(dafsd_max_delegations) || !dafsd_session_takes_directives(rq->ses) ||
	    dafsd_open_find(rq, fh, &rq->res.open.state_id, 0, &offer.use))
		return;
	offer.type = dafsd_offer_type(&offer, flags);
	if (offer.type && dafsd_deleg_possible(offer.use.filp) && !dafsd_offer_is_vain(&offer))
		dafsd_offer_run(&offer);
	dafsd_open_end(&offer.use);
}

/**
 * dafsd_deleg_return() - DELEGRETURN (6.5.11)
 * @rq: the request
 * @state_id: of the delegation
 *
 * Others that wait for its end go on at once; the file is closed later.
 *
 * Context: may sleep, but does not wait for a file system.
 * Return: OK, BAD_STATEID, STALE_STATEID or EXPIRED.
 */
dafs_status_t dafsd_deleg_return(struct dafsd_rqst *rq, const struct dafs_state_id *state_id)
{
	struct dafsd_state *st;
	dafs_status_t status;

	status = dafsd_state_claim(rq->ses->client, state_id, &dafsd_deleg_type, NULL, &st);
	if (!status)
		dafsd_state_discard(st);
	return status;
}

/**
 * dafsd_deleg_check() - is this the state-id of a delegation? (CLAIM_DELEGATE_CUR)
 * @rq: OPEN
 * @state_id: from the request
 * @inode: the file that it must be of, or NULL for any
 *
 * Context: any but interrupt.
 * Return: OK, BAD_STATEID, STALE_STATEID or EXPIRED.
 */
dafs_status_t dafsd_deleg_check(struct dafsd_rqst *rq, const struct dafs_state_id *state_id,
				const struct inode *inode)
{
	const struct dafsd_state *st;
	dafs_status_t status;

	guard(rcu)();
	st = dafsd_state_find(rq->ses->client, state_id, &dafsd_deleg_type, &status);
	if (st && inode && st->file->inode != inode)
		status = DAFSERR_BAD_STATEID;
	return status;
}

static bool dafsd_deleg_permits(const struct dafsd_deleg *deleg, const struct dafs_open_args *args)
{
	return deleg->type == DAFS_OPEN_DELEGATE_WRITE ||
	       (args->share_access == DAFS_OPEN_SHARE_ACCESS_READ &&
		!(args->share_deny & DAFS_OPEN_SHARE_DENY_READ) &&
		args->share_key_type == DAFS_OPEN_SHARE_KEY_NONE);
}

/**
 * dafsd_deleg_covers() - may a client have opened a file by its delegation alone?
 * @rq: OPEN with CLAIM_DELEGATE_CUR
 *
 * Others may read a file that is delegated for reading: it cannot be opened in a way that
 * conflicts with theirs, as by a key, without asking the server.
 *
 * Context: any but interrupt.
 * Return: false also if there is no such delegation.
 */
bool dafsd_deleg_covers(const struct dafsd_rqst *rq)
{
	const struct dafs_open_args *args = &rq->args.open;
	struct dafsd_state *st;
	dafs_status_t status;

	guard(rcu)();
	st = dafsd_state_find(rq->ses->client, &args->claimdelcur_stateid, &dafsd_deleg_type,
			      &status);
	return st && dafsd_deleg_permits(dafsd_deleg_of(st), args);
}

/*
 * A delegation of at least this type to another one than the client of the request that the
 * current task executes, or NULL
 */
static const struct dafsd_deleg *dafsd_file_delegated(const struct dafsd_file *file, u32 type)
{
	const struct dafsd_rqst *rq = dafsd_rqst_current();
	const struct dafsd_deleg *deleg;

	lockdep_assert_held(&file->lock);
	list_for_each_entry(deleg, &file->delegs, file_link)
		if (!READ_ONCE(deleg->state.dead) && deleg->type >= type &&
		    !(rq && dafsd_deleg_is_own(deleg, rq)))
			return deleg;
	return NULL;
}

/**
 * dafsd_deleg_conflict() - opens of others are in the way of a request
 * @file: the file
 * @status: what to answer if that is not to change
 *
 * A client that has a delegation keeps a file open which none of its programs uses any more.
 *
 * Context: holds file->lock.
 * Return: DELAY if others have delegations, which are recalled; or @status.
 */
dafs_status_t dafsd_deleg_conflict(struct dafsd_file *file, dafs_status_t status)
{
	if (!status || !dafsd_file_delegated(file, DAFS_OPEN_DELEGATE_READ))
		return status;
	break_lease(file->inode, O_WRONLY | O_NONBLOCK);
	return DAFSERR_DELAY;
}

/**
 * dafsd_deleg_check_open() - may a file be opened in spite of the delegations of others?
 * @file: the file
 * @access: DAFS_OPEN_SHARE_ACCESS_*
 * @deny: DAFS_OPEN_SHARE_DENY_*
 *
 * Opening the file itself breaks their leases.  This is about what that does not tell: a
 * delegate may have it open for reading without the server's knowledge, and one that has
 * reclaimed its delegation may have no lease.
 *
 * Context: holds file->lock.
 * Return: OK; DELAY if a delegation has to end first, which is recalled.
 */
dafs_status_t dafsd_deleg_check_open(struct dafsd_file *file, u32 access, u32 deny)
{
	u32 type = DAFS_OPEN_DELEGATE_WRITE;

	if ((access & DAFS_OPEN_SHARE_ACCESS_WRITE) || (deny & DAFS_OPEN_SHARE_DENY_READ))
		type = DAFS_OPEN_DELEGATE_READ;
	if (!dafsd_file_delegated(file, type))
		return DAFS_STATUS_OK;
	return dafsd_deleg_conflict(file, DAFSERR_DELAY);
}

/**
 * dafsd_deleg_writer() - does another client have a write delegation of a file?
 * @inode: the file
 * @wire: set to its filehandle, as that client knows it
 * @state_id: set to that of the delegation
 *
 * Context: may sleep.
 * Return: the client, with a reference; or NULL.
 */
struct dafsd_client *dafsd_deleg_writer(struct inode *inode, struct dafs_fh *wire,
					struct dafs_state_id *state_id)
{
	const struct dafsd_deleg *deleg;
	struct dafsd_client *client = NULL;
	struct dafsd_file *file = NULL;

	if (atomic_read(&dafsd_deleg_writers))
		file = dafsd_file_find(inode);
	if (!file)
		return NULL;
	mutex_lock(&file->lock);
	deleg = dafsd_file_delegated(file, DAFS_OPEN_DELEGATE_WRITE);
	if (deleg) {
		client = deleg->state.client;
		kref_get(&client->ref);
		*wire = deleg->wire;
		dafsd_state_id(&deleg->state, state_id);
	}
	mutex_unlock(&file->lock);
	dafsd_file_put(file);
	return client;
}

/**
 * dafsd_deleg_lives() - does a client still have a delegation?
 * @client: the client
 * @state_id: the delegation
 *
 * Context: any but interrupt.
 * Return: true if so.
 */
bool dafsd_deleg_lives(const struct dafsd_client *client, const struct dafs_state_id *state_id)
{
	const struct dafsd_state *st;
	dafs_status_t status;

	guard(rcu)();
	st = dafsd_state_find(client, state_id, &dafsd_deleg_type, &status);
	return st && !READ_ONCE(st->dead);
}

/**
 * dafsd_deleg_recall_writer() - a request asks for what a client may keep to itself
 * @inode: the file
 *
 * With a write delegation a client sets locks without the server.
 *
 * Context: may sleep.
 * Return: OK; DELAY if another client has one, which is recalled.
 */
dafs_status_t dafsd_deleg_recall_writer(struct inode *inode)
{
	struct dafs_fh wire;
	struct dafs_state_id id;
	struct dafsd_client *client = dafsd_deleg_writer(inode, &wire, &id);

	if (!client)
		return DAFS_STATUS_OK;
	dafsd_client_put(client);
	break_lease(inode, O_RDONLY | O_NONBLOCK);
	return DAFSERR_DELAY;
}
