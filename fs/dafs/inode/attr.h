/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Attributes of inodes: how old they are, and what makes them stale; inodes by handle.
 */
#ifndef _FS_DAFS_INODE_ATTR_H
#define _FS_DAFS_INODE_ATTR_H

#include "sb.h"

struct dafs_inode;

/**
 * struct dafs_asked - when a request was sent whose response has attributes
 * @clock: sbi->clock, to compare with other requests and with changes; DAFS_ASKED_NEVER
 *	for attributes that were not read from the server
 * @at: jiffies, from when on the attributes are valid
 * @sent: the same in the time of ktime_get_coarse_boottime(), which goes on during a suspend
 */
struct dafs_asked {
	long clock;
	unsigned long at;
	ktime_t sent;
};

#define DAFS_ASKED_NEVER	(-1L)

static inline struct dafs_asked dafs_asked_never(void)
{
	return (struct dafs_asked){ .clock = DAFS_ASKED_NEVER };
}

/* attr.c, iget.c */
#define DAFS_INODE_ATTRS						\
	(DAFS_FATTR_OBJECT_TYPE | DAFS_FATTR_MODE | DAFS_FATTR_NUM_LINKS | \
	 DAFS_FATTR_CHANGE | DAFS_FATTR_OBJECT_SIZE | DAFS_FATTR_FILE_ID | \
	 DAFS_FATTR_SPACE_USED | DAFS_FATTR_TIME_ACCESS |		\
	 DAFS_FATTR_TIME_CREATE | DAFS_FATTR_TIME_METADATA |		\
	 DAFS_FATTR_TIME_MODIFY | DAFS_FATTR_RAW_DEV |			\
	 DAFS_FATTR_OWNER | DAFS_FATTR_OWNER_GROUP)
/* Attributes that an inode cannot do without */
#define DAFS_INODE_NEEDS						\
	(DAFS_FATTR_OBJECT_TYPE | DAFS_FATTR_CHANGE |			\
	 DAFS_FATTR_OBJECT_SIZE | DAFS_FATTR_FILE_ID)

void dafs_inode_init_once(void *data);
void dafs_inode_reset(struct dafs_inode *di);
void dafs_inode_release(struct dafs_inode *di);
umode_t dafs_type_mode(u32 type);
void dafs_inode_apply(struct dafs_inode *di, const struct dafs_fattr *attr,
		      const struct dafs_ids *ids, struct dafs_asked asked);
int dafs_check_attrs(const struct dafs_fattr *attr);

long dafs_clock_next(const struct super_block *sb);
struct dafs_asked dafs_asked_now(const struct super_block *sb);
void dafs_attr_outdate(struct dafs_inode *di);
bool dafs_attr_outdated(const struct dafs_inode *di, struct dafs_asked asked);
void dafs_own_change(struct dafs_inode *di);
void dafs_own_write(struct dafs_inode *di);
void dafs_own_change_settle(struct inode *inode, const struct cred *cred);
struct inode *dafs_iget_created(struct inode *dir, const struct cred *cred,
				const struct dafs_fh *fh, umode_t mode);
struct inode *dafs_iget(struct super_block *sb, const struct cred *cred,
			const struct dafs_fh *fh);
struct inode *dafs_iget_known(struct super_block *sb, const struct dafs_fh *fh,
			      const struct dafs_fattr *attr, const struct dafs_ids *ids,
			      struct dafs_asked asked);
void dafs_attr_times(const struct inode *inode, unsigned long *least, unsigned long *most);
void dafs_attr_uncertain(struct inode *inode);
void dafs_attr_guessed(struct inode *inode);
void dafs_attrs_doubt(struct dafs_inode *di);
void dafs_cache_doubt(struct dafs_inode *di);
void dafs_attrs_were_ours(struct dafs_inode *di);
bool dafs_attrs_applied(struct dafs_inode *di, struct dafs_asked asked);
bool dafs_attrs_seal(struct dafs_inode *di, struct dafs_asked asked);
bool dafs_inode_delegated(const struct dafs_inode *di);
bool dafs_inode_delegated_to_write(const struct dafs_inode *di);
bool dafs_attrs_aged(const struct dafs_inode *di);
bool dafs_attrs_fresh(const struct dafs_inode *di);
bool dafs_size_unknown(const struct dafs_inode *di);
int dafs_refresh(struct inode *inode, const struct dafs_fattr *attr,
		 const struct dafs_ids *ids, struct dafs_asked asked);
bool dafs_gone(const struct inode *inode, int err);
int dafs_revalidate(struct inode *inode, const struct cred *cred, bool force);

#endif /* _FS_DAFS_INODE_ATTR_H */
