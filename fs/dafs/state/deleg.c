// SPDX-License-Identifier: GPL-2.0
/*
 * Delegations: files that this client may use without asking the server, until it is told
 * otherwise (6.5.24, 6.6.3, 6.6.4).
 *
 * While an inode has one (dafs_inode_delegated()) its attributes, access rights and data need
 * no revalidation, and the open that it came with stays open, so that programs which open the
 * file again share it.  With one for writing, the server need not know of locks.
 *
 * A delegation moves from one stage to the next, by dafs_deleg_move() alone:
 *
 *	NEW		OPEN has returned it
 *	USED		the inode has it
 *	FORMER		likewise, but the server has restarted since, or has forgotten the client:
 *			nothing relies on it until the server gives it back, and it is USED again
 *	LEAVING		one task has taken it away from there: because the server recalls it,
 *			the inode is evicted, there are too many, the mount ends, or the server
 *			does not give it back.  Opens and locks go to the server again, which
 *			does not count them as conflicts with it.
 *	RETURNED	the server has it back, or knows nothing of it
 *
 * The work item that returns it
 *
 *  1. tells programs that have leases (fcntl(2), F_SETLEASE), and has the server lock what is
 *     locked by the delegation alone, so that from then on what is written under locks is
 *     settled before they are released;
 *  2. waits until no program has a lease: the kernel takes it from those that do not release
 *     it; but not when the server may have revoked the delegation;
 *  3. makes what was written stable and reads the attributes, so that the next change is known
 *     to be one of others;
 *  4. closes the open, if no program uses it;
 *  5. sends DELEGRETURN, in one chain with that CLOSE.
 *
 * It tries the first step again if it fails, as long as the server cannot have revoked the
 * delegation: for a lease period after the last sign of life before it was taken away.  What is
 * not locked by then may have been others', and is lost; so is what was written under locks and is
 * not stable, see debt.c.  If the server restarts meanwhile, both are reclaimed with the opens of
 * the file, and that decides.
 *
 * A recall may come before the response of the OPEN.  Such recalls are remembered, and a
 * delegation that was recalled before it was known is returned instead of used.
 *
 * After a restart of the server a delegation is reclaimed by the OPEN that reclaims the open it
 * came with (6.5.24), which it has kept open, if no program has; and all locks are reclaimed as
 * if the server had known of them.  While the server was away its own programs may have changed
 * the file, so the attributes are read before anything relies on the delegation again: if they
 * are as before, so is what is cached.  What the server gives back to be recalled, or what
 * cannot be compared, is returned like others; without what it does not give back, the file is as
 * one that never was delegated.  So it is if what comes after that OPEN fails, and the delegation
 * is not claimed once more: then it is returned.
 *
 * If the lease has run out nothing is relied on any more that was delegated before
 * (dafs_client.leased_since), and all of it is returned; but a server that gives it back after a
 * restart has not given it to others: it would not know the client as one of before.
 */
#include <linux/filelock.h>
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/slab.h>
#include "../rpc/trace.h"
#include "deleg.h"
#include "lock.h"
#include "open_impl.h"

/* Delegations that a mount keeps of files that no program has open */
#define DAFS_DELEGS_IDLE	1000

/* How many are looked at to find one of those */
#define DAFS_DELEG_LOOKS	16

/* Recalls that are remembered */
#define DAFS_RECALLS		64

enum dafs_deleg_stage {
	DAFS_DELEG_NEW,
	DAFS_DELEG_USED,
	DAFS_DELEG_FORMER,
	DAFS_DELEG_LEAVING,
	DAFS_DELEG_RETURNED,
};

/**
 * struct dafs_deleg - a delegation
 * @stage: see above; guarded by dafs_delegs_lock
 * @node: in dafs_delegs while it is USED, FORMER or LEAVING
 * @link: in sbi->delegs while it is USED or FORMER, in the order of use; LEAVING: of the task
 *	that has taken it away
 * @sbi: the mount
 * @inode: the file; while USED or FORMER without a reference, then with one, or NULL
 * @os: the open that it came with, a user of it; or NULL
 * @fh: the file
 * @client_id: what the server keeps it under
 * @what: its type and state-id
 * @until: LEAVING: the server does not revoke it before that time of
 *	ktime_get_coarse_boottime(); 0 if it may have done so, and while it is USED
 * @idle: no program had the file open when it was taken away
 * @moot: LEAVING: what is written and not sent is of no use, because the file is truncated next
 * @stores: with @moot: dafs_inode.stores when it became so
 * @blurred: FORMER: changes of others since cannot be told from own ones
 * @delay_ms: between two attempts
 * @work: returns it
 */
struct dafs_deleg {
	enum dafs_deleg_stage stage;
	struct hlist_node node;
	struct list_head link;
	struct dafs_sb_info *sbi;
	struct inode *inode;
	struct dafs_open_state *os;
	struct dafs_fh fh;
	struct dafs_client_id client_id;
	struct dafs_delegation what;
	ktime_t until;
	bool idle;
	bool moot;
	int stores;
	bool blurred;
	unsigned int delay_ms;
	struct delayed_work work;
};

static const struct dafs_deleg_ops *dafs_deleg_ops;

/* Guards what follows, dafs_inode.deleg, sbi->delegs and sbi->nr_delegs */
static DEFINE_SPINLOCK(dafs_delegs_lock);

/* By filehandle: those of all mounts, because a recall may come by any session */
static DEFINE_HASHTABLE(dafs_delegs, 10);

/* The last recalls of what was not known, in a ring */
static struct dafs_state_id dafs_recalls[DAFS_RECALLS];
static unsigned int dafs_recalls_next;

/**
 * dafs_delegs_init() - set the callbacks to the layer that has data and attributes
 * @ops: the callbacks
 *
 * Context: module initialization.
 */
void dafs_delegs_init(const struct dafs_deleg_ops *ops)
{
	dafs_deleg_ops = ops;
}

/**
 * dafs_delegs_init_sb() - initialize the delegations of a mount
 * @sbi: the mount
 */
void dafs_delegs_init_sb(struct dafs_sb_info *sbi)
{
	INIT_LIST_HEAD(&sbi->delegs);
}

static u32 dafs_deleg_hash(const struct dafs_fh *fh)
{
	return jhash(fh, sizeof(*fh), 0);
}

static const u8 dafs_deleg_next[] = {
	[DAFS_DELEG_NEW]	= BIT(DAFS_DELEG_USED) | BIT(DAFS_DELEG_RETURNED),
	[DAFS_DELEG_USED]	= BIT(DAFS_DELEG_FORMER) | BIT(DAFS_DELEG_LEAVING),
	[DAFS_DELEG_FORMER]	= BIT(DAFS_DELEG_USED) | BIT(DAFS_DELEG_LEAVING),
	[DAFS_DELEG_LEAVING]	= BIT(DAFS_DELEG_RETURNED),
	[DAFS_DELEG_RETURNED]	= 0,
};

static void dafs_deleg_move(struct dafs_deleg *deleg, enum dafs_deleg_stage next)
{
	lockdep_assert_held(&dafs_delegs_lock);
	WARN_ON_ONCE(!(dafs_deleg_next[deleg->stage] & BIT(next)));
	deleg->stage = next;
}

/* From now on it is relied on.  @sent: when it was asked for */
static void dafs_deleg_use(struct dafs_deleg *deleg, ktime_t sent, const char *why)
{
	struct dafs_inode *di = DAFS_I(deleg->inode);

	dafs_deleg_move(deleg, DAFS_DELEG_USED);
	deleg->until = 0;
	di->deleg_at = jiffies;
	WRITE_ONCE(di->deleg_sent, sent);
	if (deleg->what.type == DAFS_OPEN_DELEGATE_WRITE)
		set_bit(DAFS_INO_DELEG_WRITE, &di->flags);
	/* who sees this sees attributes that are as new as the delegation */
	smp_mb__before_atomic();
	set_bit(DAFS_INO_DELEG, &di->flags);
	trace_dafs_delegation(deleg->inode, deleg->what.type, why);
}

static void dafs_deleg_list(struct dafs_deleg *deleg, ktime_t sent)
{
	hash_add(dafs_delegs, &deleg->node, dafs_deleg_hash(&deleg->fh));
	list_add_tail(&deleg->link, &deleg->sbi->delegs);
	deleg->sbi->nr_delegs++;
	DAFS_I(deleg->inode)->deleg = deleg;
	/* dafs_open_state_is_idle() looks at it */
	WRITE_ONCE(deleg->os->deleg, deleg);
	dafs_deleg_use(deleg, sent, "granted");
}

/* It is not relied on any more. */
static void dafs_deleg_hide(struct dafs_deleg *deleg, const char *why)
{
	struct dafs_inode *di = DAFS_I(deleg->inode);

	trace_dafs_delegation(deleg->inode, deleg->what.type, why);
	clear_bit(DAFS_INO_DELEG, &di->flags);
	clear_bit(DAFS_INO_DELEG_WRITE, &di->flags);
}

/* The caller has it from now on. */
static void dafs_deleg_unlist(struct dafs_deleg *deleg, const char *why)
{
	struct dafs_inode *di = DAFS_I(deleg->inode);

	dafs_deleg_move(deleg, DAFS_DELEG_LEAVING);
	/* if the lease has run out since it was granted, that time is over */
	if (dafs_client_in_last_lease(deleg->sbi->clnt, di->deleg_sent))
		deleg->until = max(deleg->until, dafs_client_lease_end(deleg->sbi->clnt));
	dafs_deleg_hide(deleg, why);
	set_bit(DAFS_INO_DELEG_LEAVING, &di->flags);
	di->deleg = NULL;
	WRITE_ONCE(deleg->os->deleg, NULL);
	list_del(&deleg->link);
	deleg->sbi->nr_delegs--;
}

/* Tells programs that have leases.  Return: 0 if none has one. */
static int dafs_deleg_break_leases(struct inode *inode)
{
	/* pairs with dafs_file_setlease() */
	smp_mb();
	return break_lease(inode, O_WRONLY | O_NONBLOCK);
}

/* May the server have revoked it? */
static bool dafs_deleg_has_run_out(const struct dafs_deleg *deleg)
{
	return ktime_after(ktime_get_coarse_boottime(), deleg->until);
}

/* May the server have revoked it, or has it forgotten it? */
static bool dafs_deleg_is_late(const struct dafs_deleg *deleg)
{
	const struct dafs_sb_info *sbi = deleg->sbi;
	bool forgotten;

	spin_lock(&dafs_delegs_lock);
	forgotten = sbi->delegs_forgotten &&
		    !dafs_opaque64_equal(&deleg->client_id, &sbi->delegs_client_id);
	spin_unlock(&dafs_delegs_lock);
	return forgotten || dafs_deleg_has_run_out(deleg);
}

/* Then others may have changed the file, which is not told from own changes. */
static void dafs_deleg_doubt_late(const struct dafs_deleg *deleg)
{
	if (dafs_deleg_is_late(deleg))
		set_bit(DAFS_INO_ZAP, &DAFS_I(deleg->inode)->flags);
}

/* What was written under locks is not written over what others may have written. */
static void dafs_deleg_breach_late(const struct dafs_deleg *deleg)
{
	if (dafs_deleg_has_run_out(deleg))
		dafs_debt_breach(deleg->inode, &deleg->client_id);
}

/* Steps 1 to 3.  Return: 0, or an error to try again. */
static int dafs_deleg_settle(struct dafs_deleg *deleg)
{
	bool leased = dafs_deleg_break_leases(deleg->inode);
	int err = 0;

	/* before cached data is dropped, which would write it */
	dafs_deleg_breach_late(deleg);
	/* now and when the data is written: cached data must not be used in between either */
	dafs_deleg_doubt_late(deleg);
	/* by one for reading nothing is locked */
	if (deleg->what.type == DAFS_OPEN_DELEGATE_WRITE)
		err = dafs_locks_push(deleg->inode, &deleg->client_id, deleg->until);
	if (err)
		return err;
	dafs_deleg_breach_late(deleg);
	/* a server that may have revoked it may have given the file to others since */
	if (deleg->moot && !dafs_deleg_is_late(deleg))
		dafs_deleg_ops->discard(deleg->inode, deleg->os->cred, deleg->stores);
	dafs_deleg_ops->settle(deleg->inode, deleg->os->cred, deleg->idle);
	/* in time: from now on all that is locked is locked at the server */
	if (deleg->what.type == DAFS_OPEN_DELEGATE_WRITE && !dafs_deleg_is_late(deleg))
		dafs_debt_paid(deleg->inode);
	if (leased && !dafs_deleg_is_late(deleg))
		return -EAGAIN;
	dafs_deleg_doubt_late(deleg);
	/* another client, or a program of the server, is going to change the file */
	dafs_attrs_doubt(DAFS_I(deleg->inode));
	return 0;
}

/* Steps 1 to 4, perhaps 5.  Return: 0, or an error to try again. */
static int dafs_deleg_hand_over(struct dafs_deleg *deleg, struct dafs_give_back *back)
{
	int err = 0;

	/* when the mount ends nothing is locked or written any more */
	if (!READ_ONCE(deleg->sbi->leaving))
		err = dafs_deleg_settle(deleg);
	if (!err)
		dafs_open_state_put_with(deleg->os, back);
	return err;
}

static void dafs_deleg_free(struct dafs_deleg *deleg)
{
	spin_lock(&dafs_delegs_lock);
	dafs_deleg_move(deleg, DAFS_DELEG_RETURNED);
	hash_del(&deleg->node);
	spin_unlock(&dafs_delegs_lock);
	if (deleg->inode) {
		clear_and_wake_up_bit(DAFS_INO_DELEG_LEAVING, &DAFS_I(deleg->inode)->flags);
		dafs_inode_put_later(deleg->inode);
	} else {
		dafs_async_end(deleg->sbi);
	}
	kfree(deleg);
}

static void dafs_deleg_work(struct work_struct *work)
{
	struct dafs_deleg *deleg = container_of(to_delayed_work(work), struct dafs_deleg, work);
	struct dafs_give_back back = { .state_id = deleg->what.state_id };
	struct dafs_sb_info *sbi = deleg->sbi;

	if (deleg->inode && dafs_deleg_hand_over(deleg, &back)) {
		deleg->delay_ms = dafs_next_delay(deleg->delay_ms);
		queue_delayed_work(sbi->clnt->lock_wq, &deleg->work,
				   msecs_to_jiffies(deleg->delay_ms));
		return;
	}
	/* the server may have forgotten it, or executed this before the connection was lost */
	if (!back.done)
		dafs_delegreturn(sbi->clnt, &deleg->what.state_id, &sbi->leaving);
	dafs_deleg_free(deleg);
}

/* Takes over the delegation, which is not in use any more, and a reference of the mount. */
static void dafs_deleg_return(struct dafs_deleg *deleg)
{
	INIT_DELAYED_WORK(&deleg->work, dafs_deleg_work);
	queue_delayed_work(deleg->sbi->clnt->lock_wq, &deleg->work, 0);
}

/*
 * Return: true if the caller has it now, with a reference to the inode.  Otherwise the inode is
 * being evicted, and that task returns it.
 */
static bool dafs_deleg_leave(struct dafs_deleg *deleg, const char *why)
{
	lockdep_assert_held(&dafs_delegs_lock);
	if (!dafs_inode_hold(deleg->inode))
		return false;
	dafs_deleg_unlist(deleg, why);
	return true;
}

/* The same of one that is in use, which it is not if another task has it. */
static bool dafs_deleg_claim(struct dafs_deleg *deleg, const char *why)
{
	return deleg->stage == DAFS_DELEG_USED && dafs_deleg_leave(deleg, why);
}

static bool dafs_recall_is_remembered(const struct dafs_state_id *state_id)
{
	unsigned int i;

	lockdep_assert_held(&dafs_delegs_lock);
	for (i = 0; i < DAFS_RECALLS; i++)
		if (dafs_opaque64_equal(&dafs_recalls[i], state_id))
			return true;
	return false;
}

static void dafs_recall_remember(const struct dafs_state_id *state_id)
{
	if (!dafs_recall_is_remembered(state_id))
		dafs_recalls[dafs_recalls_next++ % DAFS_RECALLS] = *state_id;
}

static bool dafs_deleg_is_of(const struct dafs_deleg *deleg,
			     const struct dafs_client_id *client_id, const struct dafs_fh *fh)
{
	return !memcmp(&deleg->fh, fh, sizeof(*fh)) &&
	       dafs_opaque64_equal(&deleg->client_id, client_id);
}

static struct dafs_deleg *dafs_deleg_find(const struct dafs_client_id *client_id,
					  const struct dafs_bc_recall_args *args,
					  dafs_status_t *status)
{
	struct dafs_deleg *deleg;

	lockdep_assert_held(&dafs_delegs_lock);
	*status = DAFSERR_BADHANDLE;
	hash_for_each_possible(dafs_delegs, deleg, node, dafs_deleg_hash(&args->filehandle)) {
		if (!dafs_deleg_is_of(deleg, client_id, &args->filehandle))
			continue;
		*status = DAFSERR_BAD_STATEID;
		if (dafs_opaque64_equal(&deleg->what.state_id, &args->state_id)) {
			*status = DAFS_STATUS_OK;
			return deleg;
		}
	}
	return NULL;
}

/*
 * The file is about to be truncated.  What programs store from now on is kept; but what they store
 * to pages that they have mapped already, or are just writing, would not be seen.
 */
static void dafs_deleg_make_moot(struct dafs_deleg *deleg)
{
	struct inode *inode = deleg->inode;

	deleg->stores = atomic_read(&DAFS_I(inode)->stores);
	/* pairs with dafs_writer_begin() */
	smp_rmb();
	deleg->moot = !atomic_read(&DAFS_I(inode)->writers) && !mapping_mapped(inode->i_mapping);
}

/* Then the server may revoke it, also if it was being returned before, so no more is written. */
static void dafs_deleg_recalled(struct dafs_deleg *deleg)
{
	/* one whose inode was evicted has nothing to write */
	if (deleg->what.type != DAFS_OPEN_DELEGATE_WRITE || !deleg->inode ||
	    !dafs_inode_hold(deleg->inode))
		return;
	dafs_debt_lasts(deleg->inode, dafs_client_lease_end(deleg->sbi->clnt));
	dafs_inode_put_later(deleg->inode);
}

/**
 * dafs_deleg_recall() - BC_RECALL (6.6.4)
 * @client_id: what the server has given it under
 * @args: the directive
 *
 * If the file is about to be truncated, what was written until now need not be.
 *
 * Context: any but interrupt; does not sleep.
 * Return: OK: it will be returned; BADHANDLE; or BAD_STATEID.
 */
dafs_status_t dafs_deleg_recall(const struct dafs_client_id *client_id,
				const struct dafs_bc_recall_args *args)
{
	struct dafs_deleg *deleg;
	dafs_status_t status;

	spin_lock(&dafs_delegs_lock);
	deleg = dafs_deleg_find(client_id, args, &status);
	if (deleg)
		dafs_deleg_recalled(deleg);
	else
		dafs_recall_remember(&args->state_id);
	if (deleg && !dafs_deleg_claim(deleg, "recalled"))
		deleg = NULL;
	if (deleg && args->truncate)
		dafs_deleg_make_moot(deleg);
	spin_unlock(&dafs_delegs_lock);
	if (deleg)
		dafs_deleg_return(deleg);
	return status;
}

/* Is there something that the server does not have yet? */
static bool dafs_deleg_is_dirty(const struct inode *inode)
{
	struct address_space *mapping = inode->i_mapping;

	return mapping_tagged(mapping, PAGECACHE_TAG_DIRTY) ||
	       mapping_tagged(mapping, PAGECACHE_TAG_WRITEBACK);
}

static void dafs_deleg_fill(const struct dafs_deleg *deleg, u64 which, struct dafs_fattr *attr)
{
	const struct inode *inode = deleg->inode;
	struct timespec64 now;

	ktime_get_coarse_real_ts64(&now);
	attr->included = which;
	attr->valid = which;
	/* the server's will be another one once it has the data */
	attr->change = READ_ONCE(DAFS_I(inode)->change) + 1;
	attr->object_size = i_size_read(inode);
	/* a write does not change the times here, but at the server */
	attr->time_modify = (struct dafs_time){
		.seconds = now.tv_sec,
		.nseconds = now.tv_nsec,
	};
}

/**
 * dafs_deleg_getattr() - BC_GETATTR (6.6.3)
 * @client_id: what the server has delegated the file under
 * @args: the directive
 * @attr: zeroed; filled with what the server cannot know, which may be nothing
 *
 * Context: any but interrupt; does not sleep.
 * Return: OK, or BADHANDLE if the file is not delegated for writing.
 */
dafs_status_t dafs_deleg_getattr(const struct dafs_client_id *client_id,
				 const struct dafs_getattr_args *args, struct dafs_fattr *attr)
{
	u64 which = args->attr_request_bitmap &
		    (DAFS_FATTR_CHANGE | DAFS_FATTR_OBJECT_SIZE | DAFS_FATTR_TIME_MODIFY);
	dafs_status_t status = DAFSERR_BADHANDLE;
	struct dafs_deleg *deleg;

	spin_lock(&dafs_delegs_lock);
	hash_for_each_possible(dafs_delegs, deleg, node, dafs_deleg_hash(&args->filehandle)) {
		if (!dafs_deleg_is_of(deleg, client_id, &args->filehandle) || !deleg->inode ||
		    deleg->what.type != DAFS_OPEN_DELEGATE_WRITE)
			continue;
		dafs_deleg_fill(deleg, dafs_deleg_is_dirty(deleg->inode) ? which : 0, attr);
		status = DAFS_STATUS_OK;
		break;
	}
	spin_unlock(&dafs_delegs_lock);
	return status;
}

/* The one that was used the longest time ago, of those whose file no program has open */
static struct dafs_deleg *dafs_deleg_excess(struct dafs_sb_info *sbi)
{
	unsigned int looks = DAFS_DELEG_LOOKS;
	struct dafs_deleg *deleg, *next;

	lockdep_assert_held(&dafs_delegs_lock);
	if (sbi->nr_delegs <= DAFS_DELEGS_IDLE)
		return NULL;
	list_for_each_entry_safe(deleg, next, &sbi->delegs, link) {
		if (!looks--)
			break;
		if (refcount_read(&deleg->os->ref) == 1 && dafs_deleg_claim(deleg, "returned"))
			return deleg;
		/* in use now; those behind it come before it the next time */
		list_move_tail(&deleg->link, &sbi->delegs);
	}
	return NULL;
}

static struct dafs_deleg *dafs_deleg_alloc(struct dafs_open_state *os,
					   const struct dafs_delegation *what)
{
	struct dafs_deleg *deleg = kzalloc(sizeof(*deleg), GFP_NOFS | __GFP_NOFAIL);

	INIT_HLIST_NODE(&deleg->node);
	INIT_LIST_HEAD(&deleg->link);
	deleg->sbi = os->sbi;
	deleg->what = *what;
	deleg->fh = os->fh;
	return deleg;
}

/*
 * What came with an open, for the caller to use or to return.  Another task may be reclaiming the
 * open already, so the client-id that belongs to it is told with it.
 */
static struct dafs_delegation dafs_open_state_granted(struct dafs_open_state *os,
						      struct dafs_client_id *client_id)
{
	struct dafs_delegation granted;

	spin_lock(&os->lock);
	granted = os->granted;
	os->granted = (struct dafs_delegation){};
	*client_id = os->client_id;
	spin_unlock(&os->lock);
	return granted;
}

/* Returns what the client has no use for. */
static void dafs_deleg_decline(struct dafs_open_state *os, struct dafs_delegation *what)
{
	struct dafs_deleg *deleg;

	if (!what->type)
		return;
	deleg = dafs_deleg_alloc(os, what);
	*what = (struct dafs_delegation){};
	dafs_async_begin(os->sbi);
	dafs_deleg_return(deleg);
}

/* The server may have forgotten it already, or the mount may be ending. */
static bool dafs_deleg_is_current(const struct dafs_deleg *deleg)
{
	const struct dafs_sb_info *sbi = deleg->sbi;

	lockdep_assert_held(&dafs_delegs_lock);
	return !READ_ONCE(sbi->leaving) &&
	       !dafs_recall_is_remembered(&deleg->what.state_id) &&
	       (!sbi->delegs_forgotten ||
		dafs_opaque64_equal(&deleg->client_id, &sbi->delegs_client_id));
}

static bool dafs_deleg_enlist(struct dafs_deleg *deleg, struct dafs_open_state *os,
			      struct dafs_asked asked, struct dafs_deleg **excess)
{
	bool good;

	spin_lock(&dafs_delegs_lock);
	/* one that is being returned would be taken for this one: what is locked by it, and owed */
	good = !os->di->deleg && !test_bit(DAFS_INO_DELEG_LEAVING, &os->di->flags) &&
	       dafs_client_in_last_lease(deleg->sbi->clnt, asked.sent) &&
	       dafs_deleg_is_current(deleg) && dafs_attrs_seal(os->di, asked);
	if (good) {
		dafs_open_state_hold(os);
		deleg->os = os;
		deleg->inode = &os->di->netfs.inode;
		dafs_deleg_list(deleg, asked.sent);
		*excess = dafs_deleg_excess(deleg->sbi);
	}
	spin_unlock(&dafs_delegs_lock);
	return good;
}

/**
 * dafs_deleg_take() - use what an OPEN has delegated, or return it
 * @os: the open, which others find if attributes came with it
 * @asked: dafs_asked_now() from before the OPEN, which the attributes came with; or
 *	DAFS_ASKED_NEVER: none did
 *
 * Context: may sleep.
 */
void dafs_deleg_take(struct dafs_open_state *os, struct dafs_asked asked)
{
	struct dafs_deleg *deleg, *excess = NULL;
	struct dafs_client_id client_id;
	struct dafs_delegation granted = dafs_open_state_granted(os, &client_id);

	if (!granted.type)
		return;
	deleg = dafs_deleg_alloc(os, &granted);
	deleg->client_id = client_id;
	/* what others may have changed before is not to be trusted from now on */
	if (asked.clock != DAFS_ASKED_NEVER)
		dafs_attr_guessed(&os->di->netfs.inode);
	if (asked.clock == DAFS_ASKED_NEVER || !dafs_deleg_enlist(deleg, os, asked, &excess)) {
		dafs_async_begin(os->sbi);
		dafs_deleg_return(deleg);
	}
	if (excess)
		dafs_deleg_return(excess);
}

/**
 * dafs_deleg_return_left() - return what has come with a reclaim that has failed
 * @os: the open, whose reclaim is the caller's
 *
 * Context: may sleep; what is to be done is done in the background.
 */
void dafs_deleg_return_left(struct dafs_open_state *os)
{
	dafs_deleg_decline(os, &os->left_deleg);
}

/**
 * dafs_deleg_used() - a program has opened a file
 * @di: the file
 *
 * Context: any but interrupt.
 */
void dafs_deleg_used(struct dafs_inode *di)
{
	if (!test_bit(DAFS_INO_DELEG, &di->flags))
		return;
	spin_lock(&dafs_delegs_lock);
	if (di->deleg)
		list_move_tail(&di->deleg->link, &di->deleg->sbi->delegs);
	spin_unlock(&dafs_delegs_lock);
}

/**
 * dafs_deleg_evict() - an inode is being evicted
 * @di: the inode, whose data is written, and which no program has open
 *
 * Context: may be in memory reclaim, so waits for nothing.
 */
void dafs_deleg_evict(struct dafs_inode *di)
{
	struct dafs_deleg *deleg;

	spin_lock(&dafs_delegs_lock);
	deleg = di->deleg;
	if (deleg) {
		dafs_deleg_unlist(deleg, "returned");
		deleg->inode = NULL;
	}
	spin_unlock(&dafs_delegs_lock);
	if (!deleg)
		return;
	dafs_async_begin(deleg->sbi);
	dafs_open_state_put(deleg->os, false);
	dafs_deleg_return(deleg);
}

/* Does no program have the file open, with this access or another, and for whatever user? */
static bool dafs_deleg_is_idle(const struct dafs_deleg *deleg)
{
	struct dafs_inode *di = DAFS_I(deleg->inode);
	bool idle;

	lockdep_assert_held(&dafs_delegs_lock);
	spin_lock(&di->lock);
	idle = list_is_singular(&di->opens) && refcount_read(&deleg->os->ref) == 1;
	spin_unlock(&di->lock);
	return idle;
}

/**
 * dafs_deleg_give_up() - a name of a file is about to be removed
 * @inode: the file
 *
 * The server could not free the space of a file that is open.  If programs have it open, the
 * delegation stays for them.
 *
 * Context: may sleep; a fatal signal ends it.  May hold the locks of directory and inode: what
 * is waited for needs neither.
 */
void dafs_deleg_give_up(struct inode *inode)
{
	struct dafs_inode *di = DAFS_I(inode);
	struct dafs_deleg *deleg;

	if (!test_bit(DAFS_INO_DELEG, &di->flags))
		return;
	spin_lock(&dafs_delegs_lock);
	deleg = di->deleg;
	if (deleg && (!dafs_deleg_is_idle(deleg) || !dafs_deleg_claim(deleg, "returned")))
		deleg = NULL;
	spin_unlock(&dafs_delegs_lock);
	if (!deleg)
		return;
	deleg->idle = true;
	dafs_deleg_return(deleg);
	wait_on_bit(&di->flags, DAFS_INO_DELEG_LEAVING, TASK_KILLABLE);
}

/**
 * dafs_deleg_give_back_later() - return a delegation, if there is one, in the background
 * @inode: the file, with a reference of the caller
 *
 * Context: any but interrupt.
 * Return: true if one is being returned.
 */
bool dafs_deleg_give_back_later(struct inode *inode)
{
	struct dafs_inode *di = DAFS_I(inode);
	struct dafs_deleg *deleg;

	spin_lock(&dafs_delegs_lock);
	deleg = di->deleg;
	if (deleg && !dafs_deleg_claim(deleg, "returned"))
		deleg = NULL;
	spin_unlock(&dafs_delegs_lock);
	if (deleg)
		dafs_deleg_return(deleg);
	return deleg || test_bit(DAFS_INO_DELEG_LEAVING, &di->flags);
}

/**
 * dafs_deleg_give_back() - an open that a delegation keeps may be in the way of others
 * @inode: the file, with a reference of the caller
 *
 * Context: may sleep until the server has it back; not for a task that can be killed.
 * Return: true if there was one.
 */
bool dafs_deleg_give_back(struct inode *inode)
{
	if (!dafs_deleg_give_back_later(inode))
		return false;
	wait_on_bit(&DAFS_I(inode)->flags, DAFS_INO_DELEG_LEAVING, TASK_KILLABLE);
	return true;
}

/* One of those in these stages, BIT(DAFS_DELEG_*) */
static struct dafs_deleg *dafs_deleg_take_away(struct dafs_sb_info *sbi, unsigned int stages,
					       const char *why)
{
	struct dafs_deleg *deleg, *found = NULL;

	spin_lock(&dafs_delegs_lock);
	list_for_each_entry(deleg, &sbi->delegs, link) {
		if (!(stages & BIT(deleg->stage)) || !dafs_deleg_leave(deleg, why))
			continue;
		found = deleg;
		break;
	}
	spin_unlock(&dafs_delegs_lock);
	return found;
}

static void dafs_deleg_suspend(struct dafs_deleg *deleg)
{
	struct dafs_inode *di = DAFS_I(deleg->inode);

	dafs_deleg_move(deleg, DAFS_DELEG_FORMER);
	dafs_deleg_hide(deleg, "former");
	deleg->blurred = deleg->what.type == DAFS_OPEN_DELEGATE_WRITE ||
			 test_bit(DAFS_INO_OWN_CHANGE, &di->flags);
	/* programs of the server may change the file until it is given back */
	dafs_attrs_doubt(di);
}

/**
 * dafs_delegs_forget() - the server does not know this client any more
 * @sbi: the mount
 * @conn: a new connection
 *
 * What is delegated is not relied on before it is reclaimed.  What was locked by a delegation is
 * reclaimed as if the server had locked it.
 *
 * Context: any but interrupt; before opens are reclaimed.
 */
void dafs_delegs_forget(struct dafs_sb_info *sbi, const struct dafs_conn *conn)
{
	struct dafs_deleg *deleg;

	spin_lock(&dafs_delegs_lock);
	sbi->delegs_client_id = conn->client_id;
	sbi->delegs_forgotten = true;
	WRITE_ONCE(sbi->delegs_refused, false);
	list_for_each_entry(deleg, &sbi->delegs, link)
		if (deleg->stage == DAFS_DELEG_USED &&
		    !dafs_opaque64_equal(&deleg->client_id, &conn->client_id))
			dafs_deleg_suspend(deleg);
	spin_unlock(&dafs_delegs_lock);
}

static struct dafs_deleg *dafs_deleg_former_of(const struct dafs_open_state *os)
{
	struct dafs_deleg *deleg = os->deleg;

	lockdep_assert_held(&dafs_delegs_lock);
	return deleg && deleg->stage == DAFS_DELEG_FORMER ? deleg : NULL;
}

/**
 * dafs_deleg_former() - what is to be reclaimed with an open?
 * @os: the open
 *
 * Context: any but interrupt.
 * Return: DAFS_OPEN_DELEGATE_* that came with it before the server was restarted.
 */
u32 dafs_deleg_former(const struct dafs_open_state *os)
{
	const struct dafs_deleg *deleg;
	u32 type;

	spin_lock(&dafs_delegs_lock);
	deleg = dafs_deleg_former_of(os);
	type = deleg ? deleg->what.type : DAFS_OPEN_DELEGATE_NONE;
	spin_unlock(&dafs_delegs_lock);
	return type;
}

/* The file of a FORMER delegation, with a reference; or NULL */
static struct inode *dafs_deleg_former_inode(const struct dafs_open_state *os)
{
	const struct dafs_deleg *deleg;
	struct inode *inode = NULL;

	spin_lock(&dafs_delegs_lock);
	deleg = dafs_deleg_former_of(os);
	if (deleg && dafs_inode_hold(deleg->inode))
		inode = deleg->inode;
	spin_unlock(&dafs_delegs_lock);
	return inode;
}

/* Reads the attributes, and sets @asked if they are as new as the delegation. */
static int dafs_deleg_ask(const struct dafs_open_state *os, struct inode *inode,
			  struct dafs_conn *conn, struct dafs_asked *asked)
{
	struct dafs_sb_info *sbi = os->sbi;
	struct dafs_inode *di = DAFS_I(inode);
	struct dafs_asked now = dafs_asked_now(inode->i_sb);
	struct dafs_fattr attr = {};
	struct dafs_ids ids;
	int err;

	err = dafs_getattr_on(sbi->clnt, conn, os->cred, &di->fh, sbi->attrs, &attr, &ids);
	if (err || dafs_refresh(inode, &attr, &ids, now) || !dafs_attrs_applied(di, now))
		return err;
	/* what others may have changed meanwhile is not to be trusted from now on */
	dafs_attr_guessed(inode);
	/* nor was anybody kept from opening the file, as programs with leases rely on */
	dafs_deleg_break_leases(inode);
	*asked = now;
	return 0;
}

/**
 * dafs_deleg_verify() - has anybody changed a file while the server was away?
 * @os: its open, which was reclaimed
 * @conn: on this connection
 * @opened: with this result
 * @asked: set to the time of the attributes that tell; or DAFS_ASKED_NEVER: they are not known,
 *	or do not matter
 *
 * If somebody has, what is cached is dropped before it is used.
 *
 * Context: may sleep.
 * Return: 0; or -ENOTCONN: the open must be reclaimed again.
 */
int dafs_deleg_verify(const struct dafs_open_state *os, struct dafs_conn *conn,
		      const struct dafs_opened *opened, struct dafs_asked *asked)
{
	struct inode *inode;
	int err = 0;

	*asked = dafs_asked_never();
	if (!opened->delegation.type || opened->delegation.recalled)
		return 0;
	inode = dafs_deleg_former_inode(os);
	if (!inode)
		return 0;
	/* what is recalled by another handle would not be found */
	if (!memcmp(&opened->fh, &DAFS_I(inode)->fh, sizeof(opened->fh)))
		err = dafs_deleg_ask(os, inode, conn, asked);
	dafs_inode_put_later(inode);
	return err == -ENOTCONN ? err : 0;
}

/*
 * A FORMER one is what the server has given back with its open, if it has.  Return: true if it is
 * USED.
 */
static bool dafs_deleg_resume(struct dafs_deleg *deleg, const struct dafs_delegation *given,
			      const struct dafs_client_id *client_id, struct dafs_asked asked,
			      ktime_t since)
{
	u32 type = deleg->what.type;

	if (!given->type)
		return false;
	deleg->what = *given;
	deleg->client_id = *client_id;
	/* it has a lease of its own, whatever became of that of before */
	deleg->until = dafs_client_lease_from(deleg->sbi->clnt, since);
	if (asked.clock == DAFS_ASKED_NEVER || deleg->what.recalled || deleg->what.type != type ||
	    !dafs_client_in_last_lease(deleg->sbi->clnt, since) ||
	    !dafs_deleg_is_current(deleg) || !dafs_attrs_seal(DAFS_I(deleg->inode), asked))
		return false;
	dafs_deleg_use(deleg, since, "reclaimed");
	return true;
}

/* Until it was given back, or since it was not, others may have changed the file. */
static void dafs_deleg_doubt(const struct dafs_deleg *deleg)
{
	struct dafs_inode *di = DAFS_I(deleg->inode);

	dafs_attrs_doubt(di);
	if (deleg->blurred)
		set_bit(DAFS_INO_ZAP, &di->flags);
}

/* Of one that was FORMER: the server does not have it. */
static void dafs_deleg_lose(struct dafs_deleg *deleg)
{
	dafs_deleg_doubt(deleg);
	dafs_deleg_break_leases(deleg->inode);
	dafs_debt_pay(deleg->inode);
	dafs_open_state_put(deleg->os, false);
	dafs_deleg_free(deleg);
}

/**
 * dafs_deleg_reclaimed() - an open was reclaimed: use what was delegated with it, or return it
 * @os: the open, with its new state-id
 * @asked: of dafs_deleg_verify()
 * @since: when the OPEN was sent, in the time of ktime_get_coarse_boottime()
 *
 * A file that the server does not delegate any more is as if it had never been delegated.
 *
 * Context: may sleep; the caller is the task that reclaims the open.
 */
void dafs_deleg_reclaimed(struct dafs_open_state *os, struct dafs_asked asked, ktime_t since)
{
	struct dafs_client_id client_id;
	struct dafs_delegation given = dafs_open_state_granted(os, &client_id);
	struct dafs_deleg *deleg;
	bool former;

	spin_lock(&dafs_delegs_lock);
	deleg = dafs_deleg_former_of(os);
	former = deleg;
	if (deleg && (dafs_deleg_resume(deleg, &given, &client_id, asked, since) ||
		      !dafs_deleg_leave(deleg, given.type ? "returned" : "lost")))
		deleg = NULL;
	spin_unlock(&dafs_delegs_lock);
	if (!former) {
		/* there is none any more, so the server gets back what it has given */
		dafs_deleg_decline(os, &given);
	} else if (deleg && given.type) {
		dafs_deleg_doubt(deleg);
		dafs_deleg_return(deleg);
	} else if (deleg) {
		WRITE_ONCE(os->sbi->delegs_refused, true);
		dafs_deleg_lose(deleg);
	}
}

/**
 * dafs_deleg_not_reclaimed() - an open is lost, and what was delegated with it
 * @os: the open
 *
 * Context: may sleep; the caller is the task that reclaims the open, which may have no user
 * any more afterwards.
 */
void dafs_deleg_not_reclaimed(struct dafs_open_state *os)
{
	struct dafs_deleg *deleg;

	spin_lock(&dafs_delegs_lock);
	deleg = dafs_deleg_former_of(os);
	if (deleg && !dafs_deleg_leave(deleg, "lost"))
		deleg = NULL;
	spin_unlock(&dafs_delegs_lock);
	if (deleg)
		dafs_deleg_lose(deleg);
}

/**
 * dafs_delegs_abandon() - nothing more is reclaimed
 * @sbi: the mount
 *
 * What is FORMER still, as its open was reclaimed before dafs_delegs_forget(), or could not be,
 * is lost.
 *
 * Context: may sleep.
 */
void dafs_delegs_abandon(struct dafs_sb_info *sbi)
{
	struct dafs_deleg *deleg;

	while ((deleg = dafs_deleg_take_away(sbi, BIT(DAFS_DELEG_FORMER), "lost")))
		dafs_deleg_lose(deleg);
}

/**
 * dafs_delegs_end() - a mount ends
 * @sbi: the mount, which is leaving, so that it gets no more delegations
 *
 * Context: may sleep; what is to be done is done in the background, see dafs_async_begin().
 */
void dafs_delegs_end(struct dafs_sb_info *sbi)
{
	struct dafs_deleg *deleg;

	while ((deleg = dafs_deleg_take_away(sbi, BIT(DAFS_DELEG_USED) | BIT(DAFS_DELEG_FORMER),
					     "returned")))
		dafs_deleg_return(deleg);
}

static bool dafs_deleg_has_lapsed(const struct dafs_deleg *deleg, const struct dafs_client *clnt)
{
	lockdep_assert_held(&dafs_delegs_lock);
	return deleg->sbi->clnt == clnt && deleg->stage == DAFS_DELEG_USED &&
	       !dafs_client_in_last_lease(clnt, DAFS_I(deleg->inode)->deleg_sent);
}

/**
 * dafs_delegs_lapsed() - the lease of a client had run out
 * @clnt: the client, which has a lease again
 *
 * The server may have given what was delegated to others, and kept the client-id.
 *
 * Context: may sleep; what is to be done is done in the background.
 */
void dafs_delegs_lapsed(struct dafs_client *clnt)
{
	struct dafs_deleg *deleg, *next;
	LIST_HEAD(lapsed);
	unsigned int i;

	spin_lock(&dafs_delegs_lock);
	hash_for_each(dafs_delegs, i, deleg, node)
		if (dafs_deleg_has_lapsed(deleg, clnt) && dafs_deleg_claim(deleg, "lapsed"))
			list_add_tail(&deleg->link, &lapsed);
	spin_unlock(&dafs_delegs_lock);
	list_for_each_entry_safe(deleg, next, &lapsed, link)
		dafs_deleg_return(deleg);
}
