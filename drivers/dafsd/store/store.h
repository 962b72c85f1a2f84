/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the server must not forget when it restarts: records in memory, with a log of their
 * changes in the state directory.
 */
#ifndef _DAFSD_STORE_STORE_H
#define _DAFSD_STORE_STORE_H

#include <linux/types.h>

struct dafsd_store;
struct file;
struct path;

/* Kinds of records; what is in them is defined where they are used */
enum dafsd_record_kind {
	DAFSD_RECORD_CLIENT = 1,	/* session/record.c */
	DAFSD_RECORD_PERSIST = 2,	/* state/persist_record.c */
	DAFSD_RECORD_RESPONSE = 3,	/* session/respcache_record.c */
	DAFSD_RECORD_TEST = 0xffff,
};

#define DAFSD_RECORD_MAX_KEY	1024
#define DAFSD_RECORD_MAX_VALUE	65536

/**
 * struct dafsd_key - the name of a record
 * @kind: enum dafsd_record_kind
 * @len: bytes of @data, up to DAFSD_RECORD_MAX_KEY
 * @data: any bytes
 */
struct dafsd_key {
	u16 kind;
	u16 len;
	const void *data;
};

extern unsigned int dafsd_store_max;

struct dafsd_store *dafsd_store_open(struct file *dir);
void dafsd_store_close(struct dafsd_store *store);
int dafsd_store_put(struct dafsd_store *store, const struct dafsd_key *key, const void *value,
		    u32 value_len);
bool dafsd_store_delete(struct dafsd_store *store, const struct dafsd_key *key);
int dafsd_store_sync(struct dafsd_store *store);
const struct path *dafsd_store_dir(const struct dafsd_store *store);
bool dafsd_store_failed(const struct dafsd_store *store);
int dafsd_store_for_each(struct dafsd_store *store, u16 kind,
			 int (*fn)(void *priv, const struct dafsd_key *key, const void *value,
				   u32 value_len),
			 void *priv);

/* dir.c: the state directory */
extern char *dafsd_state_dir;
struct file *dafsd_state_dir_open(void);
int dafsd_sync_dir(const struct path *path);
int dafsd_rename_in(struct file *dir, const char *from, const char *to);

#endif /* _DAFSD_STORE_STORE_H */
