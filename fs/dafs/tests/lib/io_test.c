// SPDX-License-Identifier: GPL-2.0
/* The client's own I/O, data/io.c, without a mount. */
#include <linux/uio.h>
#include "io_test.h"

struct dafs_test_file *dafs_test_file(struct kunit *test, struct dafs_client *clnt,
				      const struct dafs_fh *fh)
{
	struct dafs_test_file *file = kunit_kzalloc(test, sizeof(*file), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, file);
	file->sbi.clnt = clnt;
	file->di.fh = *fh;
	return file;
}

static int dafs_test_file_run(struct dafs_test_file *file, struct kvec *kvec,
			      unsigned int nr, u64 pos, bool write)
{
	struct dafs_io *io = &file->io;
	unsigned int i;

	memset(io, 0, sizeof(*io));
	io->sbi = &file->sbi;
	io->di = &file->di;
	io->cred = dafs_test_me();
	io->write = write;
	io->stable = DAFS_DATA_SYNC;
	io->pos = pos;
	for (i = 0; i < nr; i++)
		io->len += kvec[i].iov_len;
	iov_iter_kvec(&io->iter, write ? ITER_SOURCE : ITER_DEST, kvec, nr, io->len);
	return dafs_io_run(io);
}

int dafs_test_file_read(struct dafs_test_file *file, void *buf, size_t len, u64 pos)
{
	struct kvec kvec = { .iov_base = buf, .iov_len = len };

	return dafs_test_file_run(file, &kvec, 1, pos, false);
}

int dafs_test_file_write(struct dafs_test_file *file, const void *buf, size_t len, u64 pos)
{
	struct kvec kvec = { .iov_base = (void *)buf, .iov_len = len };

	return dafs_test_file_run(file, &kvec, 1, pos, true);
}

int dafs_test_file_writev(struct dafs_test_file *file, struct kvec *kvec, unsigned int nr, u64 pos)
{
	return dafs_test_file_run(file, kvec, nr, pos, true);
}
