/* SPDX-License-Identifier: GPL-2.0 */
/* What is in files: writing and appending, stable storage and the write verifier. */
#ifndef _DAFSD_DATA_DATA_H
#define _DAFSD_DATA_DATA_H

#include <linux/fs.h>
#include <linux/dafs/msg.h>

struct dafsd_export;
struct dafsd_rqst;
struct dafsd_use;

/* append.c: writing at an offset against appending */
void dafsd_write_begin(const struct dafsd_use *use);
void dafsd_write_end(const struct dafsd_use *use);
dafs_status_t dafsd_append(struct dafsd_rqst *rq, const struct dafsd_use *use,
			   struct iov_iter *iter, u32 stable_how, struct dafs_append_res *res);

/* stable.c: stable storage and the write verifier */
void dafsd_verifier_get(struct dafsd_export *exp, struct dafs_verifier *verifier);
void dafsd_verifier_change(void);
ssize_t dafsd_write_iter(const struct dafsd_use *use, struct iov_iter *iter, loff_t *pos,
			 rwf_t flags);
errseq_t dafsd_sync_begin(struct file *filp);
int dafsd_sync(struct file *filp, loff_t start, loff_t end, bool datasync, errseq_t since);

#endif /* _DAFSD_DATA_DATA_H */
