// SPDX-License-Identifier: GPL-2.0
/*
 * Asynchronous O_DIRECT I/O with conflicting pages.
 *
 *	mapped read FILE OTHER ROUNDS	into pages of OTHER's mapping, which are
 *					written back while the data is on its way
 *	mapped write FILE ROUNDS	while the same part of FILE is being read
 *					into the page cache
 *
 * What was read must be in the mapping and, after fsync(2), in OTHER; what was
 * written must be what is read, also from the page cache.
 *
 * Two more arguments are commands: after HOLD the server stops the direct I/O,
 * until RELEASE.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BLOCK	4096
/* half of the requests of a session, so that some are left for other calls */
#define BLOCKS	16
#define SIZE	(BLOCK * BLOCKS)

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* Puts the round and the number of the block into it. */
static void fill(char *block, int round, int nr)
{
	int i;

	for (i = 0; i < BLOCK; i++)
		block[i] = round * 31 + nr * 7 + i % 251;
}

static void check(const char *got, int round, const char *where)
{
	char want[BLOCK];
	int nr;

	for (nr = 0; nr < BLOCKS; nr++, got += BLOCK) {
		fill(want, round, nr);
		if (!memcmp(got, want, BLOCK))
			continue;
		fill(want, round - 1, nr);
		fprintf(stderr, "round %d: block %d has %s data %s\n", round, nr,
			memcmp(got, want, BLOCK) ? "wrong" : "the former", where);
		exit(1);
	}
}

static char *map(int fd)
{
	char *mem = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
			 fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd, 0);

	if (mem == MAP_FAILED)
		fail("mmap");
	return mem;
}

static int open_file(const char *file, int flags)
{
	int fd = open(file, O_RDWR | O_CREAT | flags, 0666);

	if (fd < 0)
		fail(file);
	return fd;
}

/* A synchronous direct write. */
static void put(int fd, char *mem, int round)
{
	int nr;

	for (nr = 0; nr < BLOCKS; nr++)
		fill(mem + nr * BLOCK, round, nr);
	if (pwrite(fd, mem, SIZE, 0) != SIZE)
		fail("pwrite");
}

static const char *hold, *release;

static void command(const char *line)
{
	if (line && system(line)) {
		fprintf(stderr, "%s: failed\n", line);
		exit(1);
	}
}

/* By page faults, which wait for the pages, but not for direct I/O. */
static void read_mapped(int fd)
{
	char *mem = map(fd);

	if (madvise(mem, SIZE, MADV_POPULATE_READ))
		fail("madvise");
	munmap(mem, SIZE);
}

static void submit(aio_context_t ctx, int fd, int opcode, char *mem)
{
	static struct iocb cb[BLOCKS];
	struct iocb *cbs[BLOCKS];
	int nr;

	for (nr = 0; nr < BLOCKS; nr++) {
		cb[nr] = (struct iocb) {
			.aio_fildes = fd,
			.aio_lio_opcode = opcode,
			.aio_buf = (unsigned long)(mem + nr * BLOCK),
			.aio_nbytes = BLOCK,
			.aio_offset = nr * BLOCK,
		};
		cbs[nr] = &cb[nr];
	}
	if (syscall(SYS_io_submit, ctx, BLOCKS, cbs) != BLOCKS)
		fail("io_submit");
}

static void reap(aio_context_t ctx)
{
	struct io_event ev[BLOCKS];
	int got = 0, nr, i;

	while (got < BLOCKS) {
		nr = syscall(SYS_io_getevents, ctx, 1, BLOCKS, ev, NULL);
		if (nr < 1)
			fail("io_getevents");
		for (i = 0; i < nr; i++) {
			if (ev[i].res == BLOCK)
				continue;
			fprintf(stderr, "a block ended with %lld\n", (long long)ev[i].res);
			exit(1);
		}
		got += nr;
	}
}

/* Checks the stored file after its pages are dropped. */
static void check_kept(const char *file, char *mem, int round)
{
	int fd = open_file(file, O_DIRECT);

	if (fsync(fd))
		fail("fsync");
	if (pread(fd, mem, SIZE, 0) != SIZE)
		fail("pread");
	check(mem, round, "in the file");
	close(fd);
}

static int do_read(aio_context_t ctx, const char *file, const char *other, int rounds)
{
	int fd = open_file(file, O_DIRECT), to = open_file(other, 0);
	char *data = map(-1), *mem;
	int round;

	if (write(to, data, SIZE) != SIZE || fsync(to))
		fail(other);
	for (round = 1; round <= rounds; round++) {
		put(fd, data, round);
		mem = map(to);
		command(hold);
		submit(ctx, fd, IOCB_CMD_PREAD, mem);
		/* cleans the pages, and makes their mappings read-only */
		if (fdatasync(to))
			fail("fdatasync");
		command(release);
		reap(ctx);
		check(mem, round, "in the mapping");
		munmap(mem, SIZE);
		check_kept(other, data, round);
	}
	return 0;
}

static int do_write(aio_context_t ctx, const char *file, int rounds)
{
	int fd = open_file(file, O_DIRECT), plain = open_file(file, 0);
	char *data = map(-1), *got = map(-1);
	int round, nr;

	put(fd, data, 0);
	for (round = 1; round <= rounds; round++) {
		posix_fadvise(plain, 0, 0, POSIX_FADV_DONTNEED);
		for (nr = 0; nr < BLOCKS; nr++)
			fill(data + nr * BLOCK, round, nr);
		command(hold);
		submit(ctx, fd, IOCB_CMD_PWRITE, data);
		/* read(2) would wait for the direct I/O, readahead does not */
		posix_fadvise(plain, 0, SIZE, POSIX_FADV_WILLNEED);
		if (hold)
			read_mapped(plain);
		command(release);
		reap(ctx);
		if (pread(plain, got, SIZE, 0) != SIZE)
			fail("pread");
		check(got, round, "in the page cache");
		check_kept(file, got, round);
	}
	return 0;
}

static int run(aio_context_t ctx, int argc, char **argv)
{
	int most = argc > 1 && !strcmp(argv[1], "read") ? 7 : 6;

	if (argc == most) {
		release = argv[--argc];
		hold = argv[--argc];
	}
	if (argc == 5 && !strcmp(argv[1], "read"))
		return do_read(ctx, argv[2], argv[3], atoi(argv[4]));
	if (argc == 4 && !strcmp(argv[1], "write"))
		return do_write(ctx, argv[2], atoi(argv[3]));
	fprintf(stderr, "usage: see the beginning of mapped.c\n");
	return 2;
}

int main(int argc, char **argv)
{
	aio_context_t ctx = 0;
	int ret;

	if (syscall(SYS_io_setup, BLOCKS, &ctx))
		fail("io_setup");
	ret = run(ctx, argc, argv);
	/* before exit: see "Asynchronous I/O" in bed/README.md */
	if (syscall(SYS_io_destroy, ctx))
		fail("io_destroy");
	return ret;
}
