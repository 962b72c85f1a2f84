/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The data of files: reads and writes through the page cache and around it, appends, and
 * what is written but not yet stable.
 */
#ifndef _FS_DAFS_DATA_H
#define _FS_DAFS_DATA_H

#include "io.h"
#include "unstable.h"

/* Largest folio; a folio is filled by one read, see dafs_prepare_read(). */
#define DAFS_MAX_FOLIO_SIZE	SZ_256K

/* netfs.c */
extern const struct netfs_request_ops dafs_request_ops;
extern const struct address_space_operations dafs_file_aops;
int dafs_data_init(void);
void dafs_data_exit(void);
extern struct workqueue_struct *dafs_done_wq;	/* made by main.c */

/* mapping.c */
void dafs_write_back(struct inode *inode);
bool dafs_mapping_zapped(const struct dafs_inode *di);
int dafs_zap_mapping(struct inode *inode);
void dafs_discard(struct inode *inode, int stores);
int dafs_revalidate_mapping(struct inode *inode, const struct cred *cred);
int dafs_invalidate_lock(struct inode *inode, loff_t start, loff_t end);
int dafs_drop_range(struct inode *inode, loff_t start, loff_t end);

/* writer.c */
int dafs_writer_claim(struct inode *inode, const struct cred *cred);
const struct cred *dafs_writer_get(struct dafs_inode *di);
vm_fault_t dafs_page_mkwrite(struct vm_fault *vmf);

/* append.c */
ssize_t dafs_append_iter(struct kiocb *iocb, struct iov_iter *from);

/* direct.c */
ssize_t dafs_direct_read(struct kiocb *iocb, struct iov_iter *to);
ssize_t dafs_direct_write(struct kiocb *iocb, struct iov_iter *from);
int dafs_direct_await(struct inode *inode);
void dafs_write_ended(struct dafs_inode *di);
void dafs_write_part_ways(struct dafs_inode *di, atomic_t *parted);

#endif /* _FS_DAFS_DATA_H */
