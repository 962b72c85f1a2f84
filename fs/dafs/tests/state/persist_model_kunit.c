// SPDX-License-Identifier: GPL-2.0
/*
 * PERSIST locks compared with a model: random requests of three clients, which are lost and come
 * back, of a server that restarts.
 *
 * The model knows of each byte how each client has locked it, and which PERSIST lock of it that
 * belongs to.  It is a second implementation, for files of a few bytes, with nothing in common
 * with the server's but the draft.
 */
#include <linux/prandom.h>
#include "../lib/holder.h"

#define MODEL_CLIENTS	3
#define MODEL_LOCKS	512
#define MODEL_STEPS	400

enum model_state { MODEL_HELD, MODEL_LEFT, MODEL_BROKEN };

/**
 * struct model_lock - a PERSIST lock
 * @client: whose it is
 * @type: DAFS_READ_LT or DAFS_WRITE_LT
 * @state: what has become of it
 * @bytes: a bit for each of its bytes, once it is broken
 */
struct model_lock {
	unsigned int client;
	u32 type;
	enum model_state state;
	u32 bytes;
};

static_assert(sizeof(u32) * BITS_PER_BYTE >= FILE_BYTES);

/**
 * struct model - what the server should know
 * @rnd: the random numbers
 * @kernel: how each client has locked each byte: 0, DAFS_READ_LT or DAFS_WRITE_LT
 * @lock: which PERSIST lock of the client it belongs to, unless that is broken: an index of
 *	@locks, or 0 for none
 * @locks: the locks
 * @nr: how many
 */
struct model {
	struct rnd_state rnd;
	u32 kernel[MODEL_CLIENTS][FILE_BYTES];
	unsigned int lock[MODEL_CLIENTS][FILE_BYTES];
	struct model_lock locks[MODEL_LOCKS];
	unsigned int nr;
};

/* What is asked for */
struct model_range {
	unsigned int first;
	unsigned int last;
	u32 type;
};

static unsigned int model_random(struct model *m, unsigned int ceil)
{
	return prandom_u32_state(&m->rnd) % ceil;
}

static bool model_conflict(u32 a, u32 b)
{
	return a && b && (a == DAFS_WRITE_LT || b == DAFS_WRITE_LT);
}

/* Locks that are not in one piece any more are several. */
static void model_split(struct model *m, unsigned int client)
{
	unsigned int byte, last = 0, *lock = m->lock[client];
	bool seen[MODEL_LOCKS] = {};

	for (byte = 0; byte < FILE_BYTES; byte++) {
		unsigned int was = lock[byte];

		if (was && was != last && seen[was]) {
			m->locks[m->nr] = m->locks[was];
			for (; byte < FILE_BYTES && lock[byte] == was; byte++)
				lock[byte] = m->nr;
			byte--;
			m->nr++;
		}
		if (was)
			seen[was] = true;
		last = was;
	}
}

static void model_cut(struct model *m, unsigned int client, const struct model_range *range,
		      bool held)
{
	unsigned int byte, *lock = m->lock[client];

	for (byte = range->first; byte <= range->last; byte++)
		if (!held || m->locks[lock[byte]].state == MODEL_HELD)
			lock[byte] = 0;
	model_split(m, client);
}

/* With neighbours of the same type it is one lock. */
static void model_hold(struct model *m, unsigned int client, const struct model_range *range)
{
	unsigned int byte, *lock = m->lock[client], first = range->first, last = range->last;
	const struct model_lock new = { .client = client, .type = range->type };

	while (first && lock[first - 1] && m->locks[lock[first - 1]].state == MODEL_HELD &&
	       m->locks[lock[first - 1]].type == range->type)
		first--;
	while (last < FILE_BYTES - 1 && lock[last + 1] &&
	       m->locks[lock[last + 1]].state == MODEL_HELD &&
	       m->locks[lock[last + 1]].type == range->type)
		last++;
	m->locks[m->nr] = new;
	for (byte = first; byte <= last; byte++)
		lock[byte] = m->nr;
	m->nr++;
}

static void model_break(struct model *m, unsigned int lock)
{
	unsigned int client = m->locks[lock].client, byte;

	m->locks[lock].state = MODEL_BROKEN;
	for (byte = 0; byte < FILE_BYTES; byte++)
		if (m->lock[client][byte] == lock) {
			m->lock[client][byte] = 0;
			m->locks[lock].bytes |= BIT(byte);
		}
}

/* Is a lock that is left in the way of this client? */
static bool model_meets_left(const struct model *m, const struct model_range *range,
			     unsigned int except)
{
	unsigned int client, byte;

	for (client = 0; client < MODEL_CLIENTS; client++)
		for (byte = range->first; byte <= range->last; byte++) {
			const struct model_lock *lock = &m->locks[m->lock[client][byte]];

			if (client != except && m->lock[client][byte] &&
			    lock->state == MODEL_LEFT && model_conflict(lock->type, range->type))
				return true;
		}
	return false;
}

static void model_break_left(struct model *m, const struct model_range *range, unsigned int except)
{
	unsigned int client, byte;

	for (client = 0; client < MODEL_CLIENTS; client++)
		for (byte = range->first; byte <= range->last; byte++) {
			unsigned int lock = m->lock[client][byte];

			if (client != except && lock && m->locks[lock].state == MODEL_LEFT &&
			    model_conflict(m->locks[lock].type, range->type))
				model_break(m, lock);
		}
}

static u32 model_bytes(const struct model_range *range)
{
	return GENMASK(range->last, range->first);
}

static bool model_meets_broken(const struct model *m, const struct model_range *range)
{
	unsigned int lock;

	for (lock = 1; lock < m->nr; lock++)
		if (m->locks[lock].bytes & model_bytes(range))
			return true;
	return false;
}

/* Does a broken lock reach beyond the range that it is to be repaired by? */
static bool model_exceeds(const struct model *m, const struct model_range *range)
{
	unsigned int lock;

	for (lock = 1; lock < m->nr; lock++)
		if (m->locks[lock].bytes & model_bytes(range) &&
		    m->locks[lock].bytes & ~model_bytes(range))
			return true;
	return false;
}

static void model_repair(struct model *m, const struct model_range *range)
{
	unsigned int lock;

	for (lock = 1; lock < m->nr; lock++)
		m->locks[lock].bytes &= ~model_bytes(range);
}

static bool model_was_left(const struct model *m, unsigned int client,
			   const struct model_range *range)
{
	unsigned int byte;

	for (byte = range->first; byte <= range->last; byte++) {
		const struct model_lock *lock = &m->locks[m->lock[client][byte]];

		if (!m->lock[client][byte] || lock->type < range->type)
			return false;
	}
	return true;
}

static bool model_meets_kernel(const struct model *m, unsigned int client,
			       const struct model_range *range)
{
	unsigned int other, byte;

	for (other = 0; other < MODEL_CLIENTS; other++)
		for (byte = range->first; byte <= range->last; byte++)
			if (other != client && model_conflict(m->kernel[other][byte], range->type))
				return true;
	return false;
}

static dafs_status_t model_admit(struct model *m, unsigned int client, u32 options,
				 const struct model_range *range)
{
	bool left = model_meets_left(m, range, client);

	if (options & RECLAIM) {
		if (model_meets_broken(m, range))
			return DAFSERR_LOCK_BROKEN;
		return left || !model_was_left(m, client, range) ? DAFSERR_DENIED : DAFS_STATUS_OK;
	}
	if (left) {
		model_break_left(m, range, client);
		return DAFSERR_LOCK_BROKEN;
	}
	if (options & REPAIR)
		return model_exceeds(m, range) ? DAFSERR_LOCK_RANGE : DAFS_STATUS_OK;
	return model_meets_broken(m, range) ? DAFSERR_LOCK_BROKEN : DAFS_STATUS_OK;
}

static dafs_status_t model_lock(struct model *m, unsigned int client, u32 options,
				const struct model_range *range)
{
	dafs_status_t status = model_admit(m, client, options, range);
	unsigned int byte;

	if (!status && model_meets_kernel(m, client, range))
		status = DAFSERR_DENIED;
	if (status)
		return status;
	for (byte = range->first; byte <= range->last; byte++)
		m->kernel[client][byte] = range->type;
	if (options & REPAIR && !(options & RECLAIM))
		model_repair(m, range);
	model_cut(m, client, range, false);
	if (options & PERSIST)
		model_hold(m, client, range);
	return DAFS_STATUS_OK;
}

static void model_unlock(struct model *m, unsigned int client, const struct model_range *range,
			 bool held)
{
	unsigned int byte;

	for (byte = range->first; byte <= range->last; byte++)
		m->kernel[client][byte] = 0;
	model_cut(m, client, range, held);
}

static void model_expire(struct model *m, unsigned int client)
{
	unsigned int byte;

	for (byte = 0; byte < FILE_BYTES; byte++) {
		m->kernel[client][byte] = 0;
		if (m->lock[client][byte])
			m->locks[m->lock[client][byte]].state = MODEL_LEFT;
	}
}

static void model_reboot(struct model *m, unsigned int client)
{
	unsigned int byte;

	model_expire(m, client);
	for (byte = 0; byte < FILE_BYTES; byte++)
		if (m->lock[client][byte])
			model_break(m, m->lock[client][byte]);
}

static void model_range(struct model *m, struct model_range *range)
{
	/* often the same ones, so that they meet */
	range->first = model_random(m, 8) * 4;
	range->last = range->first + (model_random(m, 4) ? 3 : model_random(m, 12));
	range->last = min(range->last, FILE_BYTES - 1U);
	range->type = model_random(m, 3) ? DAFS_WRITE_LT : DAFS_READ_LT;
}

/**
 * struct model_run - a test
 * @m: what should be
 * @h: the clients
 * @step: for messages
 * @seed: likewise
 */
struct model_run {
	struct model m;
	struct holder *h[MODEL_CLIENTS];
	unsigned int step;
	u32 seed;
};

static void run_lock(struct kunit *test, struct model_run *run, unsigned int client)
{
	static const u32 options[] = { 0, PERSIST, PERSIST, PERSIST | RECLAIM, RECLAIM, REPAIR,
				       REPAIR | PERSIST, REPAIR | RECLAIM };
	u32 option = options[model_random(&run->m, ARRAY_SIZE(options))];
	dafs_status_t expected, status;
	struct model_range range;

	model_range(&run->m, &range);
	expected = model_lock(&run->m, client, option, &range);
	status = holder_lock(run->h[client], range.type, option, range.first,
			     range.last - range.first + 1);
	DAFS_EXPECT_STATUS_MSG(test, expected, status,
			       "seed %u step %u: client %u, bytes %u-%u, type %u, options %u",
			       run->seed, run->step, client, range.first, range.last, range.type,
			       option);
}

static void run_unlock(struct kunit *test, struct model_run *run, unsigned int client)
{
	struct model_range range;

	model_range(&run->m, &range);
	model_unlock(&run->m, client, &range, false);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK,
			   holder_unlock(run->h[client], range.first,
					 range.last - range.first + 1));
}

static void run_close(struct kunit *test, struct model_run *run, unsigned int client)
{
	const struct model_range all = { .last = FILE_BYTES - 1 };

	model_unlock(&run->m, client, &all, true);
	DAFS_EXPECT_STATUS(test, DAFS_STATUS_OK, holder_close(run->h[client]));
	DAFS_ASSERT_STATUS(test, DAFS_STATUS_OK, holder_open(run->h[client]));
}

static void run_expire(struct kunit *test, struct model_run *run, unsigned int client)
{
	model_expire(&run->m, client);
	holder_expire(test, run->h[client]);
	holder_return(test, run->h[client]);
}

static void run_reboot(struct kunit *test, struct model_run *run, unsigned int client)
{
	model_reboot(&run->m, client);
	holder_reboot(test, run->h[client]);
}

static void run_restart(struct kunit *test, struct model_run *run, unsigned int client)
{
	for (client = 0; client < MODEL_CLIENTS; client++) {
		model_expire(&run->m, client);
		holder_expire(test, run->h[client]);
	}
	persist_restart(test);
	for (client = 0; client < MODEL_CLIENTS; client++)
		holder_return(test, run->h[client]);
}

/* A byte is read without an open, unless it is broken. */
static void run_look(struct kunit *test, struct model_run *run, unsigned int client)
{
	struct model_range range = { .type = DAFS_WRITE_LT };
	bool broken;

	range.first = model_random(&run->m, FILE_BYTES);
	range.last = range.first;
	broken = model_meets_broken(&run->m, &range);
	DAFS_EXPECT_STATUS_MSG(test, broken ? DAFSERR_LOCKED : DAFS_STATUS_OK,
			       holder_read(run->h[client], false, range.first, 1),
			       "seed %u step %u: byte %u", run->seed, run->step, range.first);
}

static void (*const run_steps[])(struct kunit *test, struct model_run *run, unsigned int client) = {
	run_lock, run_lock, run_lock, run_lock, run_lock, run_lock, run_lock, run_lock,
	run_lock, run_lock, run_lock, run_lock, run_unlock, run_unlock, run_look, run_look,
	run_look, run_close, run_expire, run_expire, run_reboot, run_restart,
};

static void dafs_persist_model_test(struct kunit *test)
{
	struct model_run *run = kunit_kzalloc(test, sizeof(*run), GFP_KERNEL);
	struct dafs_fixture *fix = persist_fixture(test);
	unsigned int n;

	KUNIT_ASSERT_NOT_NULL(test, run);
	run->seed = get_random_u32();
	kunit_info(test, "seed %u\n", run->seed);
	prandom_seed_state(&run->m.rnd, run->seed);
	/* 0 is none */
	run->m.nr = 1;
	for (n = 0; n < MODEL_CLIENTS; n++)
		run->h[n] = holder(test, fix);
	for (; run->step < MODEL_STEPS && run->m.nr < MODEL_LOCKS - FILE_BYTES; run->step++) {
		n = model_random(&run->m, ARRAY_SIZE(run_steps));
		run_steps[n](test, run, model_random(&run->m, MODEL_CLIENTS));
		/* all that follows would fail as well */
		if (test->status == KUNIT_FAILURE)
			return;
	}
}

static struct kunit_case persist_model_cases[] = {
	KUNIT_CASE_SLOW(dafs_persist_model_test),
	KUNIT_CASE_SLOW(dafs_persist_model_test),
	{}
};

static struct kunit_suite persist_model_suite = {
	.name = "dafs_persist_model",
	.test_cases = persist_model_cases,
};

kunit_test_suite(persist_model_suite);
