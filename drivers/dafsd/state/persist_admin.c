// SPDX-License-Identifier: GPL-2.0
/*
 * PERSIST locks for the administrator: a list of them, and how to forget one that was not
 * repaired; see persist.c.
 */
#include <linux/filelock.h>
#include <linux/fs.h>
#include <uapi/linux/dafsd_netlink.h>
#include "../session/server.h"
#include "../store/store.h"
#include "persist_impl.h"

/* dafsd_persist_view.state has the numbers of the interface. */
static_assert((int)DAFSD_PERSIST_HELD == (int)DAFSD_PERSIST_STATE_HELD);
static_assert((int)DAFSD_PERSIST_LEFT == (int)DAFSD_PERSIST_STATE_LEFT);
static_assert((int)DAFSD_PERSIST_BROKEN == (int)DAFSD_PERSIST_STATE_BROKEN);
static_assert((int)DAFSD_PERSIST_UNDOING == (int)DAFSD_PERSIST_STATE_UNDOING);

/* Where the first lock begins that does so at @from or behind it; or -1 */
static loff_t dafsd_persist_start(const struct dafsd_persist *persist, loff_t from)
{
	loff_t start = -1;
	unsigned int n;

	for (n = 0; n < persist->nr; n++)
		if (persist->ranges[n].start >= from &&
		    (start < 0 || persist->ranges[n].start < start))
			start = persist->ranges[n].start;
	return start;
}

static void dafsd_persist_view(const struct dafsd_persist *persist,
			       const struct dafsd_persist_range *range,
			       struct dafsd_persist_view *view)
{
	*view = (struct dafsd_persist_view) {
		.number = persist->number,
		.state = range->state,
		.client = { .len = persist->id_len, .data = persist->names },
		.addr = &persist->addr,
		.owner = { .len = persist->owner_len, .data = persist->names + persist->id_len },
		.fs = &persist->file.fs,
		.handle_type = persist->file.type,
		.handle = {
			.len = persist->file.words * sizeof(u32),
			.data = (const u8 *)persist->file.fid,
		},
		.persists = persist->persists,
		.undoes = dafsd_persist_undo_of(persist),
		.write = range->type == F_WRLCK,
		.start = range->start,
		.end = range->end,
	};
}

/* Those that begin at @start: one that is broken, and another one, may be locks for reading. */
static int dafsd_persist_show_at(const struct dafsd_persist *persist, loff_t start,
				 int (*show)(const struct dafsd_persist_view *view, void *arg),
				 void *arg)
{
	struct dafsd_persist_view view;
	unsigned int n;
	int err = 0;

	for (n = 0; n < persist->nr && !err; n++) {
		if (persist->ranges[n].start != start)
			continue;
		dafsd_persist_view(persist, &persist->ranges[n], &view);
		err = show(&view, arg);
	}
	return err;
}

/* Some may be shown again, after an error. */
static int dafsd_persist_show(const struct dafsd_persist *persist, loff_t *from,
			      int (*show)(const struct dafsd_persist_view *view, void *arg),
			      void *arg)
{
	loff_t start;
	int err = 0;

	while (!err && *from >= 0 && (start = dafsd_persist_start(persist, *from)) >= 0) {
		err = dafsd_persist_show_at(persist, start, show, arg);
		if (!err)
			*from = start == OFFSET_MAX ? -1 : start + 1;
	}
	return err;
}

/**
 * dafsd_persist_list() - look at all PERSIST locks
 * @place: where to go on; zeroed at first
 * @show: called for each lock, under dafsd_persist_sem; an error ends the list before it
 * @arg: passed to @show
 *
 * Context: may sleep.
 * Return: 0 after the last one, or the error of @show.
 */
int dafsd_persist_list(struct dafsd_persist_place *place,
		       int (*show)(const struct dafsd_persist_view *view, void *arg), void *arg)
{
	const struct dafsd_persist *persist;
	unsigned int nofs;
	int err = 0;

	do {
		nofs = dafsd_persist_read_lock();
		persist = dafsd_persist_next(place);
		if (persist)
			err = dafsd_persist_show(persist, &place->from, show, arg);
		if (persist && !err)
			dafsd_persist_seen(place, persist);
		dafsd_persist_read_unlock(nofs);
		cond_resched();
	} while (persist && !err);
	return err;
}

static struct dafsd_persist *dafsd_persist_numbered(u64 number)
{
	struct dafsd_persist_place place = {};
	struct dafsd_persist *persist;

	while ((persist = dafsd_persist_next(&place)) && persist->number != number)
		dafsd_persist_seen(&place, persist);
	return persist;
}

/* Is there anything to be forgotten: 0, -ENOENT, or -EBUSY if all is HELD */
static int dafsd_persist_check_left(const struct dafsd_persist *persist)
{
	unsigned int n;

	for (n = 0; n < persist->nr; n++)
		if (persist->ranges[n].state != DAFSD_PERSIST_HELD)
			return 0;
	return persist->nr ? -EBUSY : -ENOENT;
}

/* Nothing is forgotten that cannot be written: write once more what there is. */
static int dafsd_persist_write_number(u64 number)
{
	unsigned int nofs = dafsd_persist_write_lock();
	struct dafsd_persist *persist = dafsd_persist_numbered(number);
	int err = persist ? dafsd_persist_check_left(persist) : -ENOENT;

	if (!err)
		err = dafsd_persist_save(persist);
	dafsd_persist_write_unlock(nofs);
	return err ?: dafsd_store_sync(dafsd_server.store);
}

/* @file: set to that which the record is about; @stamp: to dafsd_persist_stamp after that */
static int dafsd_persist_forget_number(u64 number, struct dafsd_persist_file *file,
				       unsigned long *stamp)
{
	unsigned int nofs = dafsd_persist_write_lock();
	struct dafsd_persist *persist = dafsd_persist_numbered(number);
	int err = persist ? dafsd_persist_forget_left(persist) : -ENOENT;

	if (!err)
		*file = persist->file;
	*stamp = dafsd_persist_stamp;
	dafsd_persist_write_unlock(nofs);
	return err;
}

/**
 * dafsd_persist_forget() - forget those locks of an owner in a file that are not HELD
 * @number: of the record
 *
 * What is LEFT cannot be reclaimed any more, what is BROKEN is used as if it were whole, and of
 * what is UNDOING the changes stay as they are.
 *
 * Context: may sleep for the store.
 * Return: 0; -ENOENT if there is no such record; -EBUSY if its owner has all of them; -ENOMEM,
 * -ENOSPC, or the error of the store: then nothing is forgotten, unless the store has failed at
 * this very moment.  In that case they are forgotten, but may be there again after a restart.
 */
int dafsd_persist_forget(u64 number)
{
	struct dafsd_persist_file file;
	unsigned long stamp;
	int err;

	/* they are just being loaded */
	if (!READ_ONCE(dafsd_server.store))
		return -ENOENT;
	err = dafsd_persist_write_number(number) ?:
	      dafsd_persist_forget_number(number, &file, &stamp);
	if (err)
		return err;
	pr_notice("dafsd: the administrator forgets what was locked, record %llu\n", number);
	return dafsd_persist_sync(&file, stamp);
}
