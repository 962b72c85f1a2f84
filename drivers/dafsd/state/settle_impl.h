/* SPDX-License-Identifier: GPL-2.0 */
/* Finding out after a crash what became of requests: shared by settle*.c. */
#ifndef _DAFSD_STATE_SETTLE_IMPL_H
#define _DAFSD_STATE_SETTLE_IMPL_H

#include "intent_impl.h"

struct dafsd_export;
struct dafsd_respcache;
struct dafsd_response;
struct dentry;
struct file;

/**
 * struct dafsd_settling - an export whose requests are being settled
 * @exp: the export
 * @cache: of the request that is looked at now
 * @response: that request
 * @witness: its witness
 * @err: it cannot be found out: a negative errno of the file system
 * @later: nor can it be told that it cannot: -ENOMEM, or -ENOSPC if the store is full
 * @cut: a part of an append was removed
 */
struct dafsd_settling {
	struct dafsd_export *exp;
	struct dafsd_respcache *cache;
	struct dafsd_response *response;
	const struct dafsd_witness *witness;
	int err;
	int later;
	bool cut;
};

/**
 * dafsd_settle_failed() - has it failed to find out what became of a request?
 * @s: the request
 *
 * Return: true if so.
 */
static inline bool dafsd_settle_failed(const struct dafsd_settling *s)
{
	return s->err || s->later;
}

/**
 * struct dafsd_settle_found - what is in a file where something was to be written
 * @whole: all of it
 * @strange: something else, that is not zeros
 */
struct dafsd_settle_found {
	bool whole;
	bool strange;
};

/* settle.c */
const struct dafsd_witness *dafsd_settle_witness(const struct dafsd_export *exp,
						 const struct dafsd_response *response);
void dafsd_settle_fail(struct dafsd_settling *s, int err);
struct dentry *dafsd_settle_find(struct dafsd_settling *s, const struct dafsd_persist_file *at);
void dafsd_settle_done(struct dafsd_settling *s, struct dentry *dir, struct dentry *there);
bool dafsd_settle_gone(const struct dafsd_settling *s);
void dafsd_settle_not_done(const struct dafsd_settling *s);

/* settle_append.c */
void dafsd_settle_append_look(struct dafsd_settling *s);
void dafsd_settle_append_judge(struct dafsd_settling *s);
void dafsd_settle_append_cut(struct dafsd_settling *s);
void dafsd_settle_append(struct dafsd_settling *s);

/* settle_data.c */
struct file *dafsd_settle_open(struct dafsd_settling *s);
struct file *dafsd_settle_find_data(struct dafsd_settling *s, struct dafsd_settle_found *found);
void dafsd_settle_write(struct dafsd_settling *s);
int dafsd_settle_attrs(const struct dafsd_witness *w, struct dafs_fattr *attr);
void dafsd_settle_setattr(struct dafsd_settling *s);

#endif /* _DAFSD_STATE_SETTLE_IMPL_H */
