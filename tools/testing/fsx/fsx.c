// SPDX-License-Identifier: GPL-2.0
/*
 * fsx: random operations on one file, each compared with a model in memory.
 *
 *	fsx [-s SEED] [-n OPERATIONS] [-t SECONDS] [-l BYTES] [-a ALIGNMENT]
 *	    [-o COPY] FILE [FILE]
 *
 * Two names are one file as two clients see it.  Only one of them has it open
 * at a time: every now and then it is closed here and opened there, which must
 * show all that was written.  While it is open it is read and written cached,
 * with O_DIRECT, by appending and through one mapping, all of which must agree
 * at any time.
 *
 * The same seed gives the same operations.  After a difference the last of
 * them are printed.  -a aligns what is done with O_DIRECT, -o leaves what the
 * file should hold in COPY.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define LOG_LINES	400
#define LOG_WIDTH	100
#define PAGE		4096

/* How the file can be open; all of them are, all the time. */
enum { CACHED, DIRECT, APPEND, DIRECT_APPEND, NR_FDS };

static const int fd_flags[NR_FDS] = {
	[CACHED] = O_RDWR,
	[DIRECT] = O_RDWR | O_DIRECT,
	[APPEND] = O_WRONLY | O_APPEND,
	[DIRECT_APPEND] = O_WRONLY | O_APPEND | O_DIRECT,
};

static const char *names[2];
static int nr_names;
static int here;		/* which of the names is open */
static int fds[NR_FDS];
static unsigned char *map;

static unsigned char *model;	/* what the file should hold */
static unsigned char *buffer;	/* aligned to a page */
static size_t size;		/* what its size should be */
static size_t limit = 1 << 20;	/* which it does not exceed */
static size_t alignment = 512;

static uint64_t seed = 1;
static uint64_t random_state;
static unsigned long done;
static char lines[LOG_LINES][LOG_WIDTH + 40];

static uint32_t draw(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (random_state * 0x2545f4914f6cdd1dULL) >> 32;
}

/* Less than n, and 0 if n is. */
static size_t below(size_t n)
{
	return n ? draw() % n : 0;
}

/* Small ones are as likely as large ones. */
static size_t draw_length(void)
{
	return 1 + below((size_t)1 << (1 + below(17)));
}

static char *log_line(void)
{
	char *line = lines[done % LOG_LINES];

	return line + sprintf(line, "%lu [%d] ", done, here);
}

static void log_print(void)
{
	unsigned long i = done < LOG_LINES ? 0 : done - LOG_LINES + 1;

	for (; i <= done; i++)
		puts(lines[i % LOG_LINES]);
	printf("FAILED with seed %llu: ", (unsigned long long)seed);
}

/* What is done now, for the log. */
#define note(...)	snprintf(log_line(), LOG_WIDTH, __VA_ARGS__)

#define fail(...)				\
	do {					\
		log_print();			\
		printf(__VA_ARGS__);		\
		putchar('\n');			\
		exit(1);			\
	} while (0)

static void check(bool right, const char *what)
{
	if (!right)
		fail("%s: %s", what, strerror(errno));
}

static void check_count(ssize_t got, size_t want, const char *what)
{
	if (got < 0)
		fail("%s: %s", what, strerror(errno));
	if ((size_t)got != want)
		fail("%s: %zd bytes instead of %zu", what, got, want);
}

static void check_data(const unsigned char *got, size_t pos, size_t len)
{
	size_t i, wrong = 0, last = 0, first = 0;

	if (!memcmp(got, model + pos, len))
		return;
	for (i = 0; i < len; i++) {
		if (got[i] == model[pos + i])
			continue;
		if (!wrong++)
			first = i;
		last = i;
	}
	fail("%zu bytes differ in %#zx..%#zx; at the first %#x instead of %#x", wrong,
	     pos + first, pos + last, got[first], model[pos + first]);
}

static void check_size(void)
{
	struct stat st;

	check(!fstat(fds[CACHED], &st), "fstat");
	if ((size_t)st.st_size != size)
		fail("the size is %#llx instead of %#zx", (long long)st.st_size, size);
}

static void file_open(void)
{
	int i;

	for (i = 0; i < NR_FDS; i++) {
		fds[i] = open(names[here], fd_flags[i]);
		check(fds[i] >= 0, "open");
	}
	map = mmap(NULL, limit, PROT_READ | PROT_WRITE, MAP_SHARED, fds[CACHED], 0);
	check(map != MAP_FAILED, "mmap");
	check_size();
}

static void file_close(void)
{
	int i;

	check(!munmap(map, limit), "munmap");
	for (i = 0; i < NR_FDS; i++)
		check(!close(fds[i]), "close");
}

/* What a write of len bytes at pos does to the model. */
static void model_write(size_t pos, const void *data, size_t len)
{
	memcpy(model + pos, data, len);
	if (pos + len > size)
		size = pos + len;
}

static void fill(size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		buffer[i] = draw();
}

/* The model is zero beyond the end, so a range beyond the end reads so. */
static void draw_range(size_t end, size_t *pos, size_t *len)
{
	*pos = below(end);
	*len = draw_length();
	if (*len > end - *pos)
		*len = end - *pos;
}

static void align_range(size_t *pos, size_t *len)
{
	*pos -= *pos % alignment;
	*len += alignment - 1;
	*len -= *len % alignment;
}

static size_t readable(size_t pos, size_t len)
{
	size_t left = pos < size ? size - pos : 0;

	return len < left ? len : left;
}

static void read_by(int how, size_t pos, size_t len)
{
	size_t want = readable(pos, len);

	note("%s read %#zx + %#zx", how == DIRECT ? "direct" : "cached", pos, len);
	check_count(pread(fds[how], buffer, len, pos), want, "read");
	check_data(buffer, pos, want);
}

static void op_read(void)
{
	size_t pos, len;

	draw_range(size + PAGE, &pos, &len);
	read_by(CACHED, pos, len);
}

static void op_direct_read(void)
{
	size_t pos, len;

	draw_range(size + PAGE, &pos, &len);
	align_range(&pos, &len);
	read_by(DIRECT, pos, len);
}

/* By a pipe, whose pages are those of the page cache. */
static void op_splice(void)
{
	size_t pos, len, want;
	loff_t offset;
	int pipes[2];

	draw_range(size, &pos, &len);
	if (len > 15 * PAGE)
		len = 15 * PAGE;
	want = readable(pos, len);
	if (!want)
		return;
	note("splice %#zx + %#zx", pos, want);
	check(!pipe(pipes), "pipe");
	while (want) {
		ssize_t part;

		offset = pos;
		part = splice(fds[CACHED], &offset, pipes[1], NULL, want, 0);
		if (part <= 0)
			fail("splice: %zd, %s", part, strerror(errno));
		check_count(read(pipes[0], buffer, part), part, "read of the pipe");
		check_data(buffer, pos, part);
		pos += part;
		want -= part;
	}
	close(pipes[0]);
	close(pipes[1]);
}

static void op_write(void)
{
	size_t pos, len;

	draw_range(limit, &pos, &len);
	note("cached write %#zx + %#zx, size %#zx", pos, len, size);
	fill(len);
	check_count(pwrite(fds[CACHED], buffer, len, pos), len, "write");
	model_write(pos, buffer, len);
}

/* Near the end, where sizes meet pages. */
static void op_write_end(void)
{
	size_t pos = size + below(3 * PAGE), len = draw_length();

	pos -= pos < PAGE ? pos : PAGE;
	if (pos + len > limit)
		return;
	note("cached write near the end %#zx + %#zx, size %#zx", pos, len, size);
	fill(len);
	check_count(pwrite(fds[CACHED], buffer, len, pos), len, "write");
	model_write(pos, buffer, len);
}

static void op_writev(void)
{
	struct iovec iov[3];
	size_t pos, len;

	draw_range(limit, &pos, &len);
	note("cached writev %#zx + %#zx, size %#zx", pos, len, size);
	fill(len);
	iov[0] = (struct iovec){ .iov_base = buffer, .iov_len = len / 3 };
	iov[1] = (struct iovec){ .iov_base = buffer + len / 3, .iov_len = len / 5 };
	iov[2].iov_base = buffer + len / 3 + len / 5;
	iov[2].iov_len = len - len / 3 - len / 5;
	check_count(pwritev(fds[CACHED], iov, 3, pos), len, "writev");
	model_write(pos, buffer, len);
}

static void op_direct_write(void)
{
	size_t pos, len;

	draw_range(limit - alignment, &pos, &len);
	align_range(&pos, &len);
	note("direct write %#zx + %#zx, size %#zx", pos, len, size);
	fill(len);
	check_count(pwrite(fds[DIRECT], buffer, len, pos), len, "direct write");
	model_write(pos, buffer, len);
}

/* What is more than a request may carry is appended by more than one write. */
static void append_all(int fd, size_t len, const char *what)
{
	size_t done = 0;
	ssize_t n;

	while (done < len) {
		n = write(fd, buffer + done, len - done);
		check(n > 0, what);
		done += n;
	}
	model_write(size, buffer, len);
}

static void op_append(void)
{
	size_t len = draw_length();

	if (size + len > limit)
		return;
	note("append %#zx, size %#zx", len, size);
	fill(len);
	append_all(fds[APPEND], len, "append");
}

static void op_direct_append(void)
{
	size_t len = draw_length(), none = 0;

	align_range(&none, &len);
	if (size % alignment || size + len > limit)
		return;
	note("direct append %#zx, size %#zx", len, size);
	fill(len);
	append_all(fds[DIRECT_APPEND], len, "direct append");
}

static void op_truncate(void)
{
	size_t new = below(4) ? below(limit) : below(size + 1);

	note("truncate from %#zx to %#zx", size, new);
	if (below(2))
		check(!ftruncate(fds[CACHED], new), "ftruncate");
	else
		check(!truncate(names[here], new), "truncate");
	if (new < size)
		memset(model + new, 0, size - new);
	size = new;
}

/* The rest of the last page is there, and must be zero. */
static void op_map_read(void)
{
	size_t pos, len, end = (size + PAGE - 1) / PAGE * PAGE;

	draw_range(size, &pos, &len);
	if (below(2))
		len = end - pos;
	if (!size)
		return;
	note("mapped read %#zx + %#zx, size %#zx", pos, len, size);
	memcpy(buffer, map + pos, len);
	check_data(buffer, pos, len);
}

static void op_map_write(void)
{
	size_t pos, len;

	draw_range(size, &pos, &len);
	if (!len)
		return;
	note("mapped write %#zx + %#zx, size %#zx", pos, len, size);
	fill(len);
	memcpy(map + pos, buffer, len);
	model_write(pos, buffer, len);
}

static void op_fsync(void)
{
	note("fsync");
	check(!fsync(fds[below(NR_FDS)]), "fsync");
}

static void op_msync(void)
{
	note("msync");
	check(!msync(map, limit, MS_SYNC), "msync");
}

/* Clean pages go, so that the next read asks the server. */
static void op_forget(void)
{
	note("forget");
	check(!posix_fadvise(fds[CACHED], 0, 0, POSIX_FADV_DONTNEED), "fadvise");
}

static void op_reopen(void)
{
	note("close and open");
	file_close();
	file_open();
}

static void op_switch(void)
{
	note("close, and open by the other name");
	file_close();
	here = (here + 1) % nr_names;
	file_open();
}

static const struct {
	void (*run)(void);
	unsigned int weight;
} ops[] = {
	{ op_read, 12 },
	{ op_direct_read, 8 },
	{ op_splice, 4 },
	{ op_write, 12 },
	{ op_write_end, 8 },
	{ op_writev, 4 },
	{ op_direct_write, 8 },
	{ op_append, 6 },
	{ op_direct_append, 4 },
	{ op_truncate, 8 },
	{ op_map_read, 8 },
	{ op_map_write, 10 },
	{ op_fsync, 3 },
	{ op_msync, 2 },
	{ op_forget, 3 },
	{ op_reopen, 2 },
	{ op_switch, 4 },
};

static void run_one(void)
{
	unsigned int i, sum = 0, at;

	for (i = 0; i < ARRAY_SIZE(ops); i++)
		sum += ops[i].weight;
	at = below(sum);
	for (i = 0; at >= ops[i].weight; i++)
		at -= ops[i].weight;
	note("nothing");
	ops[i].run();
	check_size();
}

static void check_all(void)
{
	note("the whole file is read");
	check_count(pread(fds[CACHED], buffer, limit, 0), size, "read");
	check_data(buffer, 0, size);
}

static void write_copy(const char *name)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, model, size) != (ssize_t)size || close(fd)) {
		perror(name);
		exit(2);
	}
}

static unsigned long parse(const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 0);

	if (*end || end == text) {
		fprintf(stderr, "fsx: not a number: %s\n", text);
		exit(2);
	}
	return n;
}

static void help(void)
{
	fputs("usage: fsx [-s SEED] [-n OPERATIONS] [-t SECONDS] [-l BYTES] [-a ALIGNMENT]\n"
	      "           [-o COPY] FILE [FILE]\n", stderr);
	exit(2);
}

static void begin(void)
{
	int fd;

	limit = (limit + PAGE - 1) / PAGE * PAGE;
	model = calloc(1, limit + 2 * PAGE);
	buffer = aligned_alloc(PAGE, limit + 32 * PAGE);
	if (!model || !buffer || !alignment || PAGE % alignment)
		help();
	random_state = seed * 0x9e3779b97f4a7c15ULL + 1;
	setvbuf(stdout, NULL, _IOLBF, 0);
	fd = open(names[0], O_WRONLY | O_CREAT | O_TRUNC, 0600);
	check(fd >= 0, "create");
	check(!close(fd), "close");
	file_open();
}

int main(int argc, char **argv)
{
	unsigned long most = 1000, seconds = 0;
	const char *copy = NULL;
	time_t start = time(NULL);
	int c, i;

	while ((c = getopt(argc, argv, "s:n:t:l:a:o:")) != -1) {
		switch (c) {
		case 's':
			seed = parse(optarg);
			break;
		case 'n':
			most = parse(optarg);
			break;
		case 't':
			seconds = parse(optarg);
			break;
		case 'l':
			limit = parse(optarg);
			break;
		case 'a':
			alignment = parse(optarg);
			break;
		case 'o':
			copy = optarg;
			break;
		default:
			help();
		}
	}
	nr_names = argc - optind;
	if (nr_names < 1 || nr_names > 2)
		help();
	for (i = 0; i < nr_names; i++)
		names[i] = argv[optind + i];
	begin();
	while (seconds ? time(NULL) - start < (time_t)seconds : done < most) {
		run_one();
		done++;
	}
	for (i = 0; i < nr_names; i++) {
		check_all();
		op_switch();
	}
	file_close();
	if (copy)
		write_copy(copy);
	printf("seed %llu: %lu operations in %ld s\n", (unsigned long long)seed, done,
	       (long)(time(NULL) - start));
	return 0;
}
