/* SPDX-License-Identifier: GPL-2.0 */
/*
 * READ and WRITE as procedures, inline and direct, with memory of the test.
 */
#ifndef _DAFS_TEST_RW_TEST_H
#define _DAFS_TEST_RW_TEST_H

#include "fixture.h"

/**
 * struct dafs_piece - a part of the memory of a direct I/O
 * @at: where it begins
 * @len: bytes
 */
struct dafs_piece {
	u32 at;
	u32 len;
};

/**
 * struct dafs_direct - one READ_DIRECT or WRITE_DIRECT
 * @data: memory of the test
 * @len: bytes of it that the server may access
 * @pieces: the buffers in the request, in this order
 * @nr: how many; 0 for one buffer of all bytes
 * @spoil: send a wrong first (1) or second (2) sum of the checksum
 * @mem: the memory while the call runs
 * @sum: checksum over what the server reads, in the session's order
 * @bufs: for the request
 */
struct dafs_direct {
	u8 *data;
	size_t len;
	const struct dafs_piece *pieces;
	unsigned int nr;
	unsigned int spoil;
	struct dafs_mem mem;
	struct dafs_cksum sum;
	struct dafs_direct_buf bufs[300];
};

/* Five buffers of odd lengths, not in the order of their addresses, and empty ones. */
#define DAFS_ODD_PIECES	7
#define DAFS_ODD_LEN	(1 + 333 + 4095 + 4096 + 57)
extern const struct dafs_piece dafs_odd_pieces[DAFS_ODD_PIECES];

/**
 * struct dafs_io_arg - arguments of an inline or direct I/O
 * @fh: the file
 * @state_id: the open
 * @offset: where
 * @count: bytes
 * @stable: DAFS_UNSTABLE ...
 * @cred: credentials, NULL for root
 */
struct dafs_io_arg {
	struct dafs_fh fh;
	struct dafs_state_id state_id;
	u64 offset;
	u32 count;
	u32 stable;
	const struct cred *cred;
};

struct dafs_io_got {
	u32 bytes;
	u32 eof;
};

/* Memory of zeros that is freed with the test. */
u8 *dafs_io_alloc(struct kunit *test, size_t len);

/* Memory for a direct read or write, freed with the test. */
struct dafs_direct *dafs_direct_alloc(struct kunit *test, size_t len);

/* Copies the pieces, one after the other. */
void dafs_gather(const struct dafs_direct *d, u8 *to);

/* READ_DIRECT, which checks the checksum, and WRITE_DIRECT; they return the status. */
dafs_status_t dafs_read_direct(struct kunit *test, struct dafs_client *clnt,
			       const struct cred *cred, const struct dafs_read_direct_args *args,
			       struct dafs_direct *d, struct dafs_read_direct_res *res);
dafs_status_t dafs_write_direct(struct kunit *test, struct dafs_client *clnt,
				const struct cred *cred, const struct dafs_write_direct_args *args,
				struct dafs_direct *d, struct dafs_write_res *res);

/* One interface for inline and direct I/O; they return the status. */
dafs_status_t dafs_do_read(struct kunit *test, struct dafs_fixture *fix, bool direct,
			   const struct dafs_io_arg *io, u8 *buf, struct dafs_io_got *got);
dafs_status_t dafs_do_write(struct kunit *test, struct dafs_fixture *fix, bool direct,
			    const struct dafs_io_arg *io, const u8 *buf,
			    struct dafs_write_res *res);

/* Opens an existing file of the fixture. */
struct dafs_io_arg dafs_io_open(struct kunit *test, struct dafs_fixture *fix, const char *name,
				u32 access);

/* Makes a file of @len bytes of a pattern and returns a copy of them. */
u8 *dafs_io_file(struct kunit *test, struct dafs_fixture *fix, const char *name, size_t len);

/* Expects that a file has these bytes at the server, and no more. */
void dafs_io_expect_file(struct kunit *test, struct dafs_fixture *fix, const char *name,
			 const u8 *data, size_t len);

#endif /* _DAFS_TEST_RW_TEST_H */
