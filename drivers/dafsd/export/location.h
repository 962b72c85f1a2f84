/* SPDX-License-Identifier: GPL-2.0 */
/* Where else a file system is, if this server fails (5.3). */
#ifndef _DAFSD_EXPORT_LOCATION_H
#define _DAFSD_EXPORT_LOCATION_H

#include <linux/dafs/msg.h>

struct dafsd_client;
struct dafsd_place;

/* Bytes of the text, and of it in a message: what fits into a response of the smallest size */
#define DAFSD_LOCATIONS_LEN	512

struct dafsd_place *dafsd_place_new(void);
struct dafsd_place *dafsd_place_get(struct dafsd_place *place);
void dafsd_place_put(struct dafsd_place *place);
int dafsd_place_set(struct dafsd_place *place, const char *text, size_t len);
ssize_t dafsd_place_show(struct dafsd_place *place, char *page);
void dafsd_place_served(struct dafsd_place *place);
void dafsd_place_withdrawn(struct dafsd_place *place);
void dafsd_place_gone(const struct dafsd_place *place);
void *dafsd_place_locations(struct dafsd_place *place, const char *name,
			    struct dafsd_client *client, struct dafs_seq *seq);

#endif /* _DAFSD_EXPORT_LOCATION_H */
