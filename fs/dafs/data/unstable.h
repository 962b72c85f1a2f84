/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is written but not yet stable at the server.
 */
#ifndef _FS_DAFS_DATA_UNSTABLE_H
#define _FS_DAFS_DATA_UNSTABLE_H

#include "../state/state.h"

struct dafs_io;

/**
 * struct dafs_extent - a range written unstably, and the folios it came from
 * @link: link in di->unstable
 * @pos: offset in the file
 * @len: bytes
 * @verf: write verifier; only a COMMIT that returns the same one makes this stable
 * @lost: its calls returned different verifiers
 * @open: the open that was used for the write, with a reference, or NULL
 * @cred: who wrote it, with a reference
 * @counted: the inode whose counters include it, see dafs_extent_count(), or NULL
 * @nr: number of @bv
 * @bv: the memory, with a reference on each folio
 */
struct dafs_extent {
	struct list_head link;
	u64 pos;
	size_t len;
	struct dafs_verifier verf;
	bool lost;
	struct dafs_open_state *open;
	const struct cred *cred;
	struct inode *counted;
	unsigned int nr;
	struct bio_vec bv[] __counted_by(nr);
};

struct dafs_extent *dafs_extent_create(const struct dafs_io *io);
void dafs_extent_free(struct dafs_extent *extent);
bool dafs_unstable_full(struct dafs_inode *di);
unsigned long dafs_unstable_most(void);
void dafs_unstable_stop(struct inode *inode);
void dafs_unstable_go_on(struct inode *inode);
bool dafs_release_folio(struct folio *folio, gfp_t gfp);
unsigned long dafs_unstable_pages(const struct dafs_sb_info *sbi);
void dafs_unstable_hurry(struct dafs_sb_info *sbi);
void dafs_unstable_add(struct inode *inode, struct dafs_extent *extent);
bool dafs_unstable_overlaps(struct inode *inode, u64 pos, size_t len);
void dafs_unstable_drop(struct dafs_inode *di);
int dafs_commit_inode(struct inode *inode);
void dafs_commit_all(struct dafs_sb_info *sbi);
void dafs_unstable_sb_init(struct dafs_sb_info *sbi);
void dafs_unstable_sb_exit(struct dafs_sb_info *sbi);
void dafs_commit_work(struct work_struct *work);

#endif /* _FS_DAFS_DATA_UNSTABLE_H */
