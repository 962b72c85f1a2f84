// SPDX-License-Identifier: GPL-2.0
/*
 * Records at the end of a file: writes them in one of several ways, and checks
 * a file that several writers have appended to.
 *
 *	records write FILE WRITER COUNT SIZE HOW	prints the acknowledged ones
 *	records check FILE [ACKNOWLEDGED...]
 *	records long FILE SIZE				one write, prints its result
 *	records map FILE				with a mapping of the same file
 *	records position FILE				prints the file position for each way
 *
 * A record is "writer seq length:", as many letters as it takes, and a newline.
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
#include <sys/uio.h>
#include <unistd.h>

#define WRITERS	64
#define HEAD	64
#define MAP	65536
#define BLOCK	4096

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static int record(char *buf, int writer, int seq, int size)
{
	int len = HEAD + (seq * 977 + writer * 131) % size;
	int n = sprintf(buf, "%d %d %d:", writer, seq, len);

	memset(buf + n, 'a' + (writer + seq) % 26, len - n - 1);
	buf[len - 1] = '\n';
	return len;
}

static aio_context_t ctx;

/* Before exit: see "Asynchronous I/O" in bed/README.md. */
static void end_aio(void)
{
	if (ctx && syscall(SYS_io_destroy, ctx))
		fail("io_destroy");
}

static ssize_t by_aio(int fd, char *buf, int len)
{
	struct iocb cb = {
		.aio_fildes = fd,
		.aio_lio_opcode = IOCB_CMD_PWRITE,
		.aio_buf = (unsigned long)buf,
		.aio_nbytes = len,
	}, *cbs = &cb;
	struct io_event ev;

	if (!ctx && syscall(SYS_io_setup, 1, &ctx))
		fail("io_setup");
	if (syscall(SYS_io_submit, ctx, 1, &cbs) != 1 ||
	    syscall(SYS_io_getevents, ctx, 1, 1, &ev, NULL) != 1)
		return -1;
	if (ev.res >= 0)
		return ev.res;
	errno = -ev.res;
	return -1;
}

static int starts(const char *how, const char *with)
{
	return !strncmp(how, with, strlen(with));
}

static ssize_t put(int fd, char *buf, int len, const char *how)
{
	struct iovec iov[] = { { buf, len / 3 }, { buf + len / 3, len - len / 3 } };

	if (strstr(how, "aio"))
		return by_aio(fd, buf, len);
	/* -1 is the file position, which RWF_APPEND then advances */
	if (starts(how, "rwf"))
		return pwritev2(fd, iov, 2, -1, RWF_APPEND);
	if (!strcmp(how, "writev"))
		return writev(fd, iov, 2);
	return write(fd, buf, len);
}

static int flags(const char *how)
{
	int flags = O_RDWR | O_CREAT;

	if (!starts(how, "rwf"))
		flags |= O_APPEND;
	if (strstr(how, "direct"))
		flags |= O_DIRECT;
	if (!strcmp(how, "dsync"))
		flags |= O_DSYNC;
	if (!strcmp(how, "sync"))
		flags |= O_SYNC;
	return flags;
}

/* Reads back the data that was written, at the position returned. */
static void look(int fd, const char *buf, int len, char *got)
{
	off_t end = lseek(fd, 0, SEEK_CUR);

	if (end < len || pread(fd, got, len, end - len) != len || memcmp(buf, got, len)) {
		fprintf(stderr, "%d bytes are not before %ld\n", len, (long)end);
		exit(1);
	}
}

/* Ways after which the file position is behind the record; "blind" may be truncated. */
static int has_position(const char *how)
{
	return !strstr(how, "aio") && strcmp(how, "blind");
}

static int do_write(const char *file, int writer, int count, int size, const char *how)
{
	char *buf = malloc(size + HEAD), *got = malloc(size + HEAD);
	int fd = open(file, flags(how), 0666);
	int seq, len;
	ssize_t n;

	if (fd < 0 || !buf || !got)
		fail(file);
	/* other processes count them at the same time */
	setlinebuf(stdout);
	for (seq = 0; seq < count; seq++) {
		len = record(buf, writer, seq, size);
		n = put(fd, buf, len, how);
		/* it may be there or not */
		if (n < 0 && errno == EIO && !strcmp(how, "blind"))
			continue;
		if (n != len)
			fail(how);
		printf("%d %d\n", writer, seq);
		if (has_position(how))
			look(fd, buf, len, got);
	}
	end_aio();
	return close(fd) ? 1 : 0;
}

/* Prints the file position after a write of a block; the next block differs. */
static void tell(int fd, char *buf, const char *how, ssize_t n)
{
	if (n < 0)
		fail(how);
	printf("%s %zd %ld\n", how, n, (long)lseek(fd, 0, SEEK_CUR));
	buf[0]++;
}

/*
 * RWF_APPEND with an offset ignores the offset and does not change the position,
 * like O_APPEND with pwrite(2).  Writes whole blocks, because O_DIRECT allows
 * them on all file systems.
 */
static int do_position(const char *file)
{
	char *buf = aligned_alloc(BLOCK, BLOCK);
	struct iovec iov = { buf, BLOCK };
	int direct, fd;

	if (!buf)
		fail("memory");
	memset(buf, 'A', BLOCK);
	for (direct = 0; direct < 2; direct++) {
		fd = open(file, O_RDWR | O_CREAT | O_TRUNC | (direct ? O_DIRECT : 0), 0666);
		if (fd < 0)
			fail(file);
		tell(fd, buf, "write", write(fd, buf, BLOCK));
		tell(fd, buf, "behind", pwrite(fd, buf, BLOCK, 2 * BLOCK));
		tell(fd, buf, "at the position", pwritev2(fd, &iov, 1, -1, RWF_APPEND));
		tell(fd, buf, "elsewhere", pwritev2(fd, &iov, 1, BLOCK, RWF_APPEND));
		tell(fd, buf, "write again", write(fd, buf, BLOCK));
		if (fcntl(fd, F_SETFL, O_APPEND | (direct ? O_DIRECT : 0)))
			fail("F_SETFL");
		tell(fd, buf, "pwrite", pwrite(fd, buf, BLOCK, 0));
		tell(fd, buf, "append", write(fd, buf, BLOCK));
		tell(fd, buf, "both", pwritev2(fd, &iov, 1, -1, RWF_APPEND));
		printf("size %ld\n", (long)lseek(fd, 0, SEEK_END));
		close(fd);
	}
	return 0;
}

static int last_seq[WRITERS];
static char *present[WRITERS];

/* Returns how many there are; all of them are in the file that was checked. */
static int load_acknowledged(const char *file)
{
	FILE *f = fopen(file, "r");
	int writer, seq, missing = 0, nr;

	if (!f)
		fail(file);
	for (nr = 0; fscanf(f, "%d %d", &writer, &seq) == 2; nr++)
		missing += !present[writer][seq];
	fclose(f);
	if (missing) {
		fprintf(stderr, "%s: %d records are missing\n", file, missing);
		exit(1);
	}
	return nr;
}

static void take(FILE *f, int writer, int seq, int len, int size)
{
	long at = ftell(f);
	char *buf = malloc(len), *want = malloc(len + 1);
	int n = sprintf(want, "%d %d %d:", writer, seq, len);

	memset(want + n, 'a' + (writer + seq) % 26, len - n - 1);
	want[len - 1] = '\n';
	if ((int)fread(buf, 1, len - n, f) != len - n || memcmp(buf, want + n, len - n) ||
	    seq <= last_seq[writer] || seq >= size) {
		fprintf(stderr, "record %d of writer %d at %ld is torn or twice\n", seq, writer,
			at);
		exit(1);
	}
	last_seq[writer] = seq;
	present[writer][seq] = 1;
	free(want);
	free(buf);
}

static int do_check(char **names)
{
	FILE *f = fopen(*names, "r");
	int writer, seq, len, i, n, size = 1 << 20, acknowledged = 0;

	if (!f)
		fail(*names);
	for (i = 0; i < WRITERS; i++) {
		last_seq[i] = -1;
		present[i] = calloc(size, 1);
	}
	/* no conversion takes the blanks or letters behind the colon */
	while ((n = fscanf(f, "%d %d %d%*1[:]", &writer, &seq, &len)) == 3 &&
	       writer >= 0 && writer < WRITERS && len >= HEAD) {
		take(f, writer, seq, len, size);
		n = EOF;
	}
	if (n != EOF || !feof(f)) {
		fprintf(stderr, "%s: no record at %ld\n", *names, ftell(f));
		return 1;
	}
	if (!names[1])
		return 0;
	while (*++names)
		acknowledged += load_acknowledged(*names);
	if (!acknowledged)
		fprintf(stderr, "no record is acknowledged\n");
	return !acknowledged;
}

static int do_long(const char *file, int size)
{
	int fd = open(file, O_WRONLY | O_APPEND | O_CREAT, 0666);
	char *buf = malloc(size);
	ssize_t n;

	if (fd < 0 || !buf)
		fail(file);
	memset(buf, 'x', size);
	n = write(fd, buf, size);
	printf("%zd %ld\n", n, (long)lseek(fd, 0, SEEK_CUR));
	return 0;
}

/* Data stored through a mapping, and appended data, is all in the file. */
static int do_map(const char *file)
{
	int fd = open(file, O_RDWR | O_CREAT | O_APPEND, 0666);
	char want[MAP] = "", buf[1000];
	int size = 0, i;
	char *map;

	map = mmap(NULL, MAP, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd < 0 || map == MAP_FAILED)
		fail(file);
	for (i = 1; size + sizeof(buf) <= MAP; i++) {
		memset(buf, 'a' + i % 26, sizeof(buf));
		if (write(fd, buf, i * 7) != i * 7)
			fail("write");
		memcpy(want + size, buf, i * 7);
		size += i * 7;
		map[size - 1] = 'M';
		want[size - 1] = 'M';
		map[size / 2] = 'H';
		want[size / 2] = 'H';
		if (memcmp(map, want, size)) {
			fprintf(stderr, "the mapping is wrong at %d\n", size);
			return 1;
		}
	}
	fwrite(want, 1, size, stdout);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 7 && !strcmp(argv[1], "write"))
		return do_write(argv[2], atoi(argv[3]), atoi(argv[4]), atoi(argv[5]), argv[6]);
	if (argc > 2 && !strcmp(argv[1], "check"))
		return do_check(argv + 2);
	if (argc == 4 && !strcmp(argv[1], "long"))
		return do_long(argv[2], atoi(argv[3]));
	if (argc == 3 && !strcmp(argv[1], "map"))
		return do_map(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "position"))
		return do_position(argv[2]);
	fprintf(stderr, "usage: see the beginning of records.c\n");
	return 2;
}
