// SPDX-License-Identifier: GPL-2.0
/*
 * Getting back what a server has forgotten (4.4.1.6).
 *
 * A connection with another client-id than before is not made the current one until
 * all users of the client have got back what they had, on that connection.  What
 * waits for the session waits for that too, so they must not wait for the session.
 *
 * Each does so in a work item of its own, in a queue that holds nothing else: what waits
 * for the session would be in front of it.  One whose file system does not answer, or
 * asks for patience, is waited for no longer than DAFS_RECOVER_WAIT: all others would
 * stand still with it.  It goes on in the background, beside what is used by then.
 *
 * When all of them have got back what they had, DELEGPURGE tells the server that nothing more
 * will be reclaimed, so that a grace period need not last until its end.  To the server all
 * mounts of this machine are one client, even if they reach it by different addresses.  Mounts
 * that have had the same client-id at some time make a group: it is not used twice.  If one of
 * them cannot get back all that it had, nothing is said.
 */
#include <linux/sched/mm.h>
#include "rpc_impl.h"
#include "trace.h"

#define DAFS_RECOVER_WAIT	(5 * HZ)
#define DAFS_RELOCATED_WAIT	((unsigned long)HZ)
#define DAFS_RELOCATED_MOST	(30UL * HZ)

static bool dafs_recoverer_is_at_it(const struct dafs_recoverer *who)
{
	return who->conn || who->on;
}

static bool dafs_client_recovering(struct dafs_client *clnt)
{
	struct dafs_recoverer *who;
	bool recovering = false;

	spin_lock(&clnt->lock);
	list_for_each_entry(who, &clnt->recoverers, link)
		recovering |= dafs_recoverer_is_at_it(who) && !who->slow;
	spin_unlock(&clnt->lock);
	return recovering;
}

static struct dafs_conn *dafs_recoverer_begin(struct dafs_recoverer *who)
{
	struct dafs_client *clnt = who->clnt;
	struct dafs_conn *conn;

	spin_lock(&clnt->lock);
	conn = who->conn;
	who->conn = NULL;
	who->on = conn;
	spin_unlock(&clnt->lock);
	return conn;
}

/*
 * All recoverers of this machine, by dafs_recoverer.node, and the number of groups.  The lock is
 * inside of the clients'.
 */
static LIST_HEAD(dafs_recoverers);
static u64 dafs_recoverer_groups;
static DECLARE_WAIT_QUEUE_HEAD(dafs_recoverers_left);	/* for the end of a visit */
static DEFINE_SPINLOCK(dafs_recoverers_lock);

/* Mounts with the same client-id are mounts of the same server. */
static void dafs_recoverer_regroup(const struct dafs_recoverer *who)
{
	struct dafs_recoverer *other, *member;

	lockdep_assert_held(&dafs_recoverers_lock);
	list_for_each_entry(other, &dafs_recoverers, node) {
		u64 group = other->group;

		if (group == who->group || !dafs_opaque64_equal(&other->client_id, &who->client_id))
			continue;
		list_for_each_entry(member, &dafs_recoverers, node)
			if (member->group == group)
				member->group = who->group;
	}
}

/* Does the server have all that its mounts had before it has restarted? */
static bool dafs_recoverer_group_complete(const struct dafs_recoverer *who)
{
	const struct dafs_recoverer *other;

	lockdep_assert_held(&dafs_recoverers_lock);
	list_for_each_entry(other, &dafs_recoverers, node)
		if (other->group == who->group &&
		    (!other->complete ||
		     !dafs_opaque64_equal(&other->client_id, &who->client_id)))
			return false;
	return true;
}

/* @who has got back what it had.  Return: true if it was the last one of its group. */
static bool dafs_recoverer_moved(struct dafs_recoverer *who, const struct dafs_client_id *to)
{
	bool last;

	lockdep_assert_held(&who->clnt->lock);
	spin_lock(&dafs_recoverers_lock);
	who->client_id = *to;
	dafs_recoverer_regroup(who);
	last = dafs_recoverer_group_complete(who);
	spin_unlock(&dafs_recoverers_lock);
	return last;
}

/* Return: true if it was the last one. */
static bool dafs_recoverer_end(struct dafs_recoverer *who, struct dafs_conn *conn, int err)
{
	struct dafs_client *clnt = who->clnt;
	bool last = false;

	spin_lock(&clnt->lock);
	who->on = NULL;
	who->err = err;
	if (!err)
		last = dafs_recoverer_moved(who, &conn->client_id);
	wake_up_all(&clnt->recovered);
	spin_unlock(&clnt->lock);
	return last;
}

/*
 * All of them have got back what they had.  If the connection is lost before the server knows
 * that, the next one tells it.
 */
static void dafs_client_purge(struct dafs_client *clnt, struct dafs_conn *conn)
{
	struct dafs_op op = { .proc = DAFS_PROC_DELEGPURGE };
	int err = dafs_op_run_on(clnt, conn, &op);

	dafs_op_end(&op);
	spin_lock(&clnt->lock);
	clnt->purge_due = err == -ENOTCONN || err == -ENOMEM;
	clnt->purge_id = conn->client_id;
	spin_unlock(&clnt->lock);
}

static bool dafs_client_owes_purge(struct dafs_client *clnt, const struct dafs_conn *conn)
{
	bool owes;

	spin_lock(&clnt->lock);
	owes = clnt->purge_due && dafs_opaque64_equal(&clnt->purge_id, &conn->client_id);
	spin_unlock(&clnt->lock);
	return owes;
}

/* Does it get everything back already, by another path to the same server? */
static bool dafs_recoverer_on_its_way(const struct dafs_recoverer *who,
				      const struct dafs_conn *conn)
{
	const struct dafs_conn *on = who->conn ?: who->on;

	lockdep_assert_held(&who->clnt->lock);
	return on && dafs_opaque64_equal(&on->client_id, &conn->client_id) &&
	       dafs_chan_is_open(on->op);
}

/* It may not even have begun with the last connection. */
static void dafs_recoverer_start(struct dafs_recoverer *who, struct dafs_conn *conn)
{
	lockdep_assert_held(&who->clnt->lock);
	if (dafs_recoverer_on_its_way(who, conn))
		return;
	if (who->conn)
		dafs_conn_put(who->conn);
	kref_get(&conn->ref);
	who->conn = conn;
	who->slow = false;
	who->err = 0;
	queue_work(dafs_recover_wq, &who->work);
}

/* Its connection was lost.  The client may have another one, and need no new one. */
static void dafs_recoverer_go_on(struct dafs_recoverer *who, const struct dafs_conn *lost)
{
	struct dafs_client *clnt = who->clnt;
	struct dafs_conn *conn;

	if (dafs_chan_is_open(lost->op))
		return;
	conn = dafs_conn_present(clnt);
	if (!conn)
		return;
	spin_lock(&clnt->lock);
	if (!list_empty(&who->link) && !dafs_recoverer_is_at_it(who) &&
	    dafs_opaque64_equal(&conn->client_id, &lost->client_id))
		dafs_recoverer_start(who, conn);
	spin_unlock(&clnt->lock);
	dafs_conn_put(conn);
}

static void dafs_recoverer_work(struct work_struct *work)
{
	struct dafs_recoverer *who = container_of(work, struct dafs_recoverer, work);
	struct dafs_conn *conn = dafs_recoverer_begin(who);
	unsigned int flags;
	int err;

	if (!conn)
		return;
	/* reclaim must not wait for write-back by this very session */
	flags = memalloc_nofs_save();
	who->complete = true;
	err = who->recover(who, who->clnt, conn);
	memalloc_nofs_restore(flags);
	trace_dafs_recovered(who->clnt, err);
	if (dafs_recoverer_end(who, conn, err))
		dafs_client_purge(who->clnt, conn);
	if (err)
		dafs_recoverer_go_on(who, conn);
	dafs_conn_put(conn);
}

static void dafs_recoverers_start(struct dafs_client *clnt, struct dafs_conn *conn)
{
	struct dafs_recoverer *who;

	spin_lock(&clnt->lock);
	list_for_each_entry(who, &clnt->recoverers, link) {
		/* also if it has begun to move to another server, and come back */
		if (who->err || !dafs_opaque64_equal(&who->client_id, &conn->client_id))
			dafs_recoverer_start(who, conn);
	}
	spin_unlock(&clnt->lock);
}

/* Those that were added since the others were started have nothing yet. */
static void dafs_recoverers_catch_up(struct dafs_client *clnt)
{
	struct dafs_recoverer *who;

	list_for_each_entry(who, &clnt->recoverers, link)
		if (!dafs_recoverer_is_at_it(who))
			dafs_recoverer_moved(who, &clnt->client_id);
}

/* Return: 0, or an error of one that has come to its end. */
static int dafs_recoverers_result(struct dafs_client *clnt, struct dafs_conn *conn)
{
	struct dafs_recoverer *who;
	int err = 0;

	spin_lock(&clnt->lock);
	list_for_each_entry(who, &clnt->recoverers, link) {
		if (!dafs_recoverer_is_at_it(who))
			err = err ?: who->err;
	}
	if (!err) {
		clnt->client_id = conn->client_id;
		dafs_recoverers_catch_up(clnt);
	}
	spin_unlock(&clnt->lock);
	return err;
}

/*
 * Return: the next one to visit after @who: of @clnt, or if that is NULL, of all clients that the
 * server knows by @id; or NULL.  It stays until it is given back likewise.
 */
static struct dafs_recoverer *dafs_recoverer_next(struct dafs_recoverer *who,
						  const struct dafs_client *clnt,
						  const struct dafs_client_id *id)
{
	struct dafs_recoverer *was = who;

	spin_lock(&dafs_recoverers_lock);
	who = list_prepare_entry(who, &dafs_recoverers, node);
	list_for_each_entry_continue(who, &dafs_recoverers, node)
		if (clnt ? who->clnt == clnt : dafs_opaque64_equal(&who->client_id, id))
			break;
	if (list_entry_is_head(who, &dafs_recoverers, node))
		who = NULL;
	else
		who->visits++;
	if (was && !--was->visits)
		wake_up_all(&dafs_recoverers_left);
	spin_unlock(&dafs_recoverers_lock);
	return who;
}

static void dafs_recoverer_leave(struct dafs_recoverer *who)
{
	spin_lock(&dafs_recoverers_lock);
	if (!--who->visits)
		wake_up_all(&dafs_recoverers_left);
	spin_unlock(&dafs_recoverers_lock);
}

/**
 * dafs_client_prove() - does a server have what the client has mounted?
 * @clnt: the client
 * @conn: a new connection, with another client-id
 * @any: one of the mounts is enough
 *
 * An alternate that has not taken over, or an address of some other server, is found out before
 * anything is given up for it.
 *
 * Context: may sleep.
 * Return: 0, -ESTALE without any mount, or an error of serves().
 */
int dafs_client_prove(struct dafs_client *clnt, struct dafs_conn *conn, bool any)
{
	struct dafs_recoverer *who = NULL;
	int err = -ESTALE;

	while ((who = dafs_recoverer_next(who, clnt, NULL))) {
		err = who->serves ? who->serves(who, clnt, conn) : 0;
		if (!err != any)
			continue;
		dafs_recoverer_leave(who);
		return err;
	}
	return err;
}

/*
 * What the server says may be about a file system that is not mounted any more, so that it goes on
 * saying it: it is asked less and less often.
 */
static void dafs_client_slow_down(struct dafs_client *clnt)
{
	unsigned long wait = clnt->relocated_wait;

	if (time_after(jiffies, clnt->relocated_at + 2 * wait))
		wait = DAFS_RELOCATED_WAIT;
	else
		wait = min(2 * wait, DAFS_RELOCATED_MOST);
	clnt->relocated_at = jiffies;
	WRITE_ONCE(clnt->relocated_wait, wait);
}

/**
 * dafs_client_relocate() - ask soon which servers take over if this one fails
 * @clnt: the client
 *
 * Context: any; not before dafs_client_watch().
 */
void dafs_client_relocate(struct dafs_client *clnt)
{
	queue_delayed_work(clnt->commit_wq, &clnt->relocated, READ_ONCE(clnt->relocated_wait));
}

/*
 * What the server has told of its alternates has changed (5.3.1).  It tells that once to all
 * clients of this machine that have one client-id.
 */
static void dafs_client_relocated(struct work_struct *work)
{
	struct dafs_client *clnt = container_of(to_delayed_work(work), struct dafs_client,
						relocated);
	struct dafs_recoverer *who = NULL;
	struct dafs_client_id id;
	bool failed = false;

	spin_lock(&clnt->lock);
	id = clnt->client_id;
	spin_unlock(&clnt->lock);
	while ((who = dafs_recoverer_next(who, NULL, &id)))
		failed |= who->relocated && who->relocated(who);
	/* responses that came before it was asked; what it says from now on, it will say again */
	cancel_delayed_work(&clnt->relocated);
	dafs_client_slow_down(clnt);
	if (failed)
		dafs_client_relocate(clnt);
}

/**
 * dafs_client_special() - a response has told of special conditions (6.1.3)
 * @chan: the operation channel that it came on
 * @spec_cond: DAFS_SPCOND_*
 *
 * Nothing is done about LMOVED: there is no migration.
 *
 * Context: any.
 */
void dafs_client_special(struct dafs_chan *chan, u16 spec_cond)
{
	const struct dafs_conn *conn = chan->priv;

	if (spec_cond & DAFS_SPCOND_FAILOVER)
		dafs_client_relocate(conn->ses->clnt);
}

/**
 * dafs_client_watch() - prepare a client for dafs_client_special()
 * @clnt: the client, not connected yet
 *
 * Context: any.
 */
void dafs_client_watch(struct dafs_client *clnt)
{
	INIT_DELAYED_WORK(&clnt->relocated, dafs_client_relocated);
	clnt->relocated_wait = DAFS_RELOCATED_WAIT;
	clnt->relocated_at = jiffies - 2 * DAFS_RELOCATED_WAIT - 1;
}

static bool dafs_recoverer_knows(const struct dafs_recoverer *who,
				 const struct sockaddr_storage *addr)
{
	unsigned int i;

	for (i = 0; i < who->nr_alternates; i++)
		if (dafs_addr_equal(&who->alternates[i], addr))
			return true;
	return !who->has_alternates;
}

/* May all mounts of the client be served there? */
static bool dafs_client_may_go(struct dafs_client *clnt, const struct sockaddr_storage *addr)
{
	const struct dafs_recoverer *who;

	lockdep_assert_held(&clnt->lock);
	list_for_each_entry(who, &clnt->recoverers, link)
		if (!dafs_recoverer_knows(who, addr))
			return false;
	return true;
}

/* The first one that knows any has them all. */
static const struct dafs_recoverer *dafs_client_guide(struct dafs_client *clnt)
{
	const struct dafs_recoverer *who;

	lockdep_assert_held(&clnt->lock);
	list_for_each_entry(who, &clnt->recoverers, link)
		if (who->has_alternates)
			return who;
	return NULL;
}

/* Return: the number of alternates, or @addr is set and it stops at number @nr. */
static unsigned int dafs_client_seek(struct dafs_client *clnt, unsigned int nr,
				     struct sockaddr_storage *addr)
{
	const struct dafs_recoverer *guide;
	unsigned int i, found = 0;

	spin_lock(&clnt->lock);
	guide = dafs_client_guide(clnt);
	for (i = 0; guide && i < guide->nr_alternates && found <= nr; i++) {
		if (!dafs_client_may_go(clnt, &guide->alternates[i]))
			continue;
		if (addr && found == nr)
			*addr = guide->alternates[i];
		found++;
	}
	spin_unlock(&clnt->lock);
	return found;
}

/**
 * dafs_client_alternates() - how many other servers may take over from the client's? (5.3)
 * @clnt: the client
 *
 * Those that have all of its file systems: all are served by one session.
 *
 * Context: any but interrupt.
 * Return: their number.
 */
unsigned int dafs_client_alternates(struct dafs_client *clnt)
{
	return dafs_client_seek(clnt, UINT_MAX - 1, NULL);
}

/**
 * dafs_client_alternate() - where another server is that may take over
 * @clnt: the client
 * @nr: less than dafs_client_alternates(), which may have changed
 * @addr: set
 *
 * Context: any but interrupt.
 * Return: false if there is none of this number.
 */
bool dafs_client_alternate(struct dafs_client *clnt, unsigned int nr,
			   struct sockaddr_storage *addr)
{
	return dafs_client_seek(clnt, nr, addr) > nr;
}

/**
 * dafs_client_set_alternates() - the server has told who has a file system if it fails
 * @clnt: the client
 * @who: of the mount of that file system
 * @addrs: where
 * @nr: how many; those above DAFS_MORE_ADDRS are not used
 *
 * Context: any but interrupt.
 */
void dafs_client_set_alternates(struct dafs_client *clnt, struct dafs_recoverer *who,
				const struct sockaddr_storage *addrs, unsigned int nr)
{
	spin_lock(&clnt->lock);
	who->has_alternates = true;
	who->nr_alternates = min_t(unsigned int, nr, DAFS_MORE_ADDRS);
	memcpy(who->alternates, addrs, who->nr_alternates * sizeof(*addrs));
	spin_unlock(&clnt->lock);
}

/**
 * dafs_client_recover() - have all that the server may have forgotten
 * @clnt: the client
 * @conn: a new connection that is not in use yet
 *
 * Context: may sleep; the reconnect work.
 * Return: 0, also if that goes on in the background, or a negative errno if the
 * connection is lost.
 */
int dafs_client_recover(struct dafs_client *clnt, struct dafs_conn *conn)
{
	if (dafs_client_owes_purge(clnt, conn))
		dafs_client_purge(clnt, conn);
	dafs_recoverers_start(clnt, conn);
	wait_event_timeout(clnt->recovered, !dafs_client_recovering(clnt), DAFS_RECOVER_WAIT);
	return dafs_recoverers_result(clnt, conn);
}

/**
 * dafs_client_recover_rest() - a connection is in use: go on there with what was lost meanwhile
 * @clnt: the client
 * @conn: the connection, after dafs_client_recover()
 *
 * A mount whose recovery ran on another path, which was lost meanwhile, did not find this one yet.
 *
 * Context: may sleep; the reconnect work.
 */
void dafs_client_recover_rest(struct dafs_client *clnt, struct dafs_conn *conn)
{
	dafs_recoverers_start(clnt, conn);
}

/**
 * dafs_recover_slowly() - what recovers has to wait, and others need not
 * @who: in its recover()
 *
 * Context: any but interrupt.
 */
void dafs_recover_slowly(struct dafs_recoverer *who)
{
	struct dafs_client *clnt = who->clnt;

	spin_lock(&clnt->lock);
	who->slow = true;
	wake_up_all(&clnt->recovered);
	spin_unlock(&clnt->lock);
}

/* Return: true if no other one of this machine can have anything to get back from the server. */
static bool dafs_recoverer_enlist(struct dafs_recoverer *who)
{
	const struct dafs_client *clnt = who->clnt;
	const struct dafs_recoverer *other;
	bool alone = true;

	lockdep_assert_held(&clnt->lock);
	who->client_id = clnt->client_id;
	who->complete = true;
	spin_lock(&dafs_recoverers_lock);
	who->group = ++dafs_recoverer_groups;
	list_for_each_entry(other, &dafs_recoverers, node)
		if (!strcmp(other->clnt->params.client_id, clnt->params.client_id))
			alone &= other->complete &&
				 dafs_opaque64_equal(&other->client_id, &who->client_id);
	list_add_tail(&who->node, &dafs_recoverers);
	dafs_recoverer_regroup(who);
	spin_unlock(&dafs_recoverers_lock);
	return alone;
}

/* What a mount had that does not exist any more will not be reclaimed. */
static void dafs_client_renounce(struct dafs_client *clnt, const struct dafs_client_id *client_id)
{
	struct dafs_conn *conn = dafs_conn_try_get(clnt->ses);

	if (IS_ERR_OR_NULL(conn))
		return;
	if (dafs_opaque64_equal(&conn->client_id, client_id))
		dafs_conn_notify(conn, DAFS_PROC_DELEGPURGE, NULL);
	dafs_conn_put(conn);
}

/**
 * dafs_client_add_recoverer() - from now on have state at the server
 * @clnt: the client
 * @who: called when the server has lost it
 *
 * Context: may sleep.
 */
void dafs_client_add_recoverer(struct dafs_client *clnt, struct dafs_recoverer *who)
{
	struct dafs_client_id client_id;
	bool alone;

	who->clnt = clnt;
	INIT_WORK(&who->work, dafs_recoverer_work);
	spin_lock(&clnt->lock);
	alone = dafs_recoverer_enlist(who);
	client_id = who->client_id;
	list_add_tail(&who->link, &clnt->recoverers);
	spin_unlock(&clnt->lock);
	if (alone)
		dafs_client_renounce(clnt, &client_id);
}

/**
 * dafs_recoverers_lapsed() - the lease of a client had run out, and runs again
 * @clnt: the client
 *
 * Context: any but interrupt.
 */
void dafs_recoverers_lapsed(struct dafs_client *clnt)
{
	struct dafs_recoverer *who;

	spin_lock(&clnt->lock);
	list_for_each_entry(who, &clnt->recoverers, link)
		if (who->lapsed)
			who->lapsed(who);
	spin_unlock(&clnt->lock);
}

/* Return: false if it is being visited, and stays in the list of all. */
static bool dafs_recoverer_delist(struct dafs_recoverer *who)
{
	bool free;

	spin_lock(&dafs_recoverers_lock);
	free = !who->visits;
	if (free)
		list_del(&who->node);
	spin_unlock(&dafs_recoverers_lock);
	return free;
}

/**
 * dafs_client_del_recoverer() - have no state at the server any more
 * @clnt: the client
 * @who: may never have been added
 *
 * Context: may sleep; waits for its recovery if that is under way.
 */
void dafs_client_del_recoverer(struct dafs_client *clnt, struct dafs_recoverer *who)
{
	struct dafs_conn *conn;

	if (!who->clnt)
		return;
	spin_lock(&clnt->lock);
	list_del_init(&who->link);
	spin_unlock(&clnt->lock);
	wait_event(dafs_recoverers_left, dafs_recoverer_delist(who));
	cancel_work_sync(&who->work);
	conn = dafs_recoverer_begin(who);
	if (conn) {
		dafs_recoverer_end(who, conn, 0);
		dafs_conn_put(conn);
	}
	/* it may be the last that was waited for */
	wake_up_all(&clnt->recovered);
}
