/* SPDX-License-Identifier: GPL-2.0 */
/* The client's own I/O, data/io.c, without a mount. */
#ifndef _DAFS_TEST_IO_TEST_H
#define _DAFS_TEST_IO_TEST_H

#include "fixture.h"
#include "../../data/data.h"

/**
 * struct dafs_test_file - the parts of a mount and an inode that I/O uses
 * @sbi: the mount
 * @di: the file
 * @io: the last I/O
 */
struct dafs_test_file {
	struct dafs_sb_info sbi;
	struct dafs_inode di;
	struct dafs_io io;
};

/* Ends with the test.  I/O is sent without an open (E-79), as root. */
struct dafs_test_file *dafs_test_file(struct kunit *test, struct dafs_client *clnt,
				      const struct dafs_fh *fh);

/* Return: 0 or a negative errno; file->io tells the rest. */
int dafs_test_file_read(struct dafs_test_file *file, void *buf, size_t len, u64 pos);
int dafs_test_file_write(struct dafs_test_file *file, const void *buf, size_t len, u64 pos);
/* One buffer for each piece, if they do not meet at page boundaries. */
int dafs_test_file_writev(struct dafs_test_file *file, struct kvec *kvec, unsigned int nr,
			  u64 pos);

#endif /* _DAFS_TEST_IO_TEST_H */
