/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The data of files: reads and writes through the page cache and around it, appends, and
 * what is written but not yet stable.
 */
#ifndef _FS_DAFS_DATA_H
#define _FS_DAFS_DATA_H

#include "../state/state.h"

/* Largest folio; a folio is filled by one read, see dafs_prepare_read(). */
#define DAFS_MAX_FOLIO_SIZE	SZ_256K

struct dafs_io_wait;

/**
 * struct dafs_io - one contiguous read or write, in as many calls as needed
 * @done_work: processes a response
 * @retry_work: sends the next call
 * @sbi: the mount
 * @di: the file; the caller holds a reference
 * @open: the open whose state-id is used, or NULL for the anonymous state-id (E-79)
 * @cred: whom to act for
 * @write: direction
 * @force_inline: do not use RDMA for this I/O
 * @stable: stability of a write, DAFS_UNSTABLE ...
 * @iter: the memory of the whole I/O; never advanced
 * @pos: offset in the file
 * @len: bytes
 * @done: bytes moved so far
 * @eof: a read met the end of the file
 * @committed: weakest commitment of all calls of a write
 * @verf: write verifier of the first call
 * @verf_set: @verf is valid
 * @verf_mixed: a later call returned another verifier
 * @complete: called once at the end, in process context unless @anywhere
 * @anywhere: on success, @complete may be called in softirq, or where it must not wait
 *	for other I/O
 * @priv: for @complete
 * @wait: the waiting task of dafs_io_run(), or NULL
 * @park: parks it while there is no connection
 * @reclaim: waits for @open to be reclaimed; its err is from the last reclaim
 * @conn: connection of the call in progress
 * @conn_number: dafs_conn_number() before it was sent
 * @call: the call in progress
 * @mem: memory of the call in progress
 * @direct: the call in progress moves its data by RDMA
 * @part: bytes of the call in progress
 * @max_part: upper limit for @part, 0 for none
 * @state_id: state-id that the call in progress was sent with
 * @recover: the server did not know @state_id
 * @tries: failed attempts since data was moved the last time
 * @forced: sbi->forced at its start
 * @args: arguments of the call in progress
 */
struct dafs_io {
	struct work_struct done_work;
	struct delayed_work retry_work;
	struct dafs_sb_info *sbi;
	struct dafs_inode *di;
	struct dafs_open_state *open;
	const struct cred *cred;
	bool write;
	bool force_inline;
	u32 stable;
	struct iov_iter iter;
	u64 pos;
	size_t len;
	size_t done;
	bool eof;
	u32 committed;
	struct dafs_verifier verf;
	bool verf_set;
	bool verf_mixed;
	void (*complete)(struct dafs_io *io, int err);
	bool anywhere;
	void *priv;
	struct dafs_io_wait *wait;
	struct dafs_park park;
	struct dafs_reclaim reclaim;
	struct dafs_conn *conn;
	unsigned int conn_number;
	struct dafs_call *call;
	struct dafs_mem mem;
	bool direct;
	size_t part;
	size_t max_part;
	struct dafs_state_id state_id;
	bool recover;
	struct dafs_tries tries;
	unsigned int forced;
	union {
		struct dafs_read_inline_args read_inline;
		struct dafs_read_direct_args read_direct;
		struct dafs_write_inline_args write_inline;
		struct dafs_write_direct_args write_direct;
	} args;
};

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

/* io.c */
void dafs_io_start(struct dafs_io *io);
int dafs_io_run(struct dafs_io *io);

/* rdma.c */
extern unsigned int dafs_inline_max;
unsigned int dafs_conn_number(const struct dafs_client *clnt);
void dafs_rdma_refuse(struct dafs_sb_info *sbi, enum dafs_rdma_use use, unsigned int number);
bool dafs_rdma_refused(const struct dafs_sb_info *sbi, enum dafs_rdma_use use);

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

/* unstable.c */
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

#endif /* _FS_DAFS_DATA_H */
