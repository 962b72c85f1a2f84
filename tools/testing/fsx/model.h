/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The model of fsx: expected contents of the file, which bytes are stable, the
 * last operations, and the comparison.
 */
#ifndef _FSX_MODEL_H
#define _FSX_MODEL_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE		4096
#define LOG_LINES	400
#define LOG_WIDTH	240
/* State of a byte. */
#define UNSAFE	1	/* written, but not stable */
#define UNKNOWN	2	/* unknown after a failure */

static int here;		/* index of the name that is used for writing */
static const char *backing;
static unsigned char *model;	/* expected contents */
static unsigned char *known;	/* UNSAFE, UNKNOWN of each byte */
static uint32_t *writer;	/* the operation that wrote it */
static unsigned char *buffer;	/* aligned to a page */
static size_t size;		/* expected size */
static size_t limit = 1 << 20;	/* maximum of the size */
static bool may_fail;		/* any operation may fail */
static bool append_may_fail;
static bool disk_may_fail;	/* the server's */
static bool local;		/* there is no server */
static const char *faults;	/* grows when the disk begins to fail, and when the failure ends */
static off_t calm;		/* its size when the file was last found right */
static const char *witness;	/* the command that shows where bytes differ */
static const char *copy;	/* expected contents are written there at the end */
static bool failed;		/* an operation has failed, see recover() */
static size_t appended;		/* by how much a failed append may have grown the file */
static bool size_unknown;

static uint64_t seed = 1;
static uint64_t random_state;
static unsigned long done;
static unsigned long failures;
static char lines[LOG_LINES][LOG_WIDTH];

static uint32_t draw(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (random_state * 0x2545f4914f6cdd1dULL) >> 32;
}

/* A random number below n; 0 if n is 0. */
static size_t below(size_t n)
{
	return n ? draw() % n : 0;
}

/* Small lengths are as likely as large ones. */
static size_t draw_length(void)
{
	return 1 + below((size_t)1 << (1 + below(17)));
}

/* End of the log line of this operation. */
static char *log_end(void)
{
	char *line = lines[done % LOG_LINES];

	return line + strlen(line);
}

static size_t log_room(void)
{
	return LOG_WIDTH - strlen(lines[done % LOG_LINES]);
}

static void log_begin(void)
{
	snprintf(lines[done % LOG_LINES], LOG_WIDTH, "%lu [%d] ", done, here);
}

static void log_print(void)
{
	unsigned long i = done < LOG_LINES ? 0 : done - LOG_LINES + 1;

	for (; i <= done; i++)
		puts(lines[i % LOG_LINES]);
	printf("FAILED with seed %llu: ", (unsigned long long)seed);
}

/* Adds to the log line of this operation. */
#define note_more(...)	snprintf(log_end(), log_room(), __VA_ARGS__)
#define note(...)	(log_begin(), note_more(__VA_ARGS__))

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

/* Number of beginnings and ends of failures of the disk. */
static off_t fault_state(void)
{
	struct stat st;

	return faults && !stat(faults, &st) ? st.st_size : 0;
}

/*
 * Reads are not compared while the disk fails.  ext4 treats a page that it could not
 * write as clean, and may drop it; then it is read from its place on the disk, which
 * still has old contents of other files, also around the bytes of a write to a hole.
 * The journal has the right data, for the next mount of the file system.  A client's
 * copies of such pages are not compared either.
 */
static bool undisturbed(void)
{
	return fault_state() == calm;
}

/* Return: true if the disk has failed and works again. */
static bool fault_over(void)
{
	off_t state = fault_state();

	return state != calm && state % 2 == 0;
}

/* Return: true if it went wrong and may; exits if it must not. */
static bool failing(bool wrong, bool may, const char *what)
{
	if (!wrong)
		return false;
	if (!may)
		fail("%s: %s", what, strerror(errno));
	note_more(" -> failed");
	failed = true;
	failures++;
	return true;
}

/* Retries until a fault is over, if faults are possible. */
static void check_again(bool (*does)(int arg), int arg, const char *what)
{
	while (!does(arg)) {
		if (!may_fail)
			fail("%s: %s", what, strerror(errno));
		usleep(100000);
	}
}

static sigjmp_buf map_fault;

static void on_sigbus(int sig)
{
	(void)sig;
	siglongjmp(map_fault, 1);
}

/* Copies from or to a mapping, which raises SIGBUS if a page cannot be read. */
static bool map_copy(void *to, const void *from, size_t len)
{
	if (sigsetjmp(map_fault, 1)) {
		errno = EFAULT;
		return !failing(true, may_fail, "access to the mapping");
	}
	memcpy(to, from, len);
	return true;
}

/* The model */

static void model_mark(size_t pos, size_t len, unsigned char what)
{
	memset(known + pos, what, len);
}

/* Pages that were read while the disk failed are written back with the new data. */
static void model_mark_pages(size_t pos, size_t len)
{
	size_t end = (pos + len + PAGE - 1) / PAGE * PAGE;

	pos -= pos % PAGE;
	model_mark(pos, end - pos, UNKNOWN);
}

/* Applies a write of @len bytes at @pos; @safe: it is stable. */
static void model_write(size_t pos, const void *data, size_t len, bool safe)
{
	size_t i;

	memmove(model + pos, data, len);
	if (!undisturbed())
		model_mark_pages(pos, len);
	model_mark(pos, len, safe ? 0 : UNSAFE);
	for (i = pos; i < pos + len; i++)
		writer[i] = done;
	if (pos + len > size)
		size = pos + len;
}

/* A write has failed: some of the data may be there, and the file may be longer. */
static void model_fail(size_t pos, size_t len)
{
	model_mark(pos, len, UNKNOWN);
	if (pos + len > size)
		size_unknown = true;
}

/*
 * Zeros that a file system writes into the last page at a truncation are on the disk
 * after the next sync, and visible when the file is extended again.
 */
static void model_cut(size_t end)
{
	if (disk_may_fail)
		model_mark(end, -end % PAGE, UNSAFE);
}

static void model_resize(size_t new)
{
	size_t i, from = new < size ? new : size, to = new < size ? size : new;

	memset(model + from, 0, to - from);
	for (i = from; i < to; i++)
		writer[i] = done;
	if (new < size) {
		model_mark(from, to - from, 0);
		model_cut(new);
	}
	size = new;
}

/* All written data is stable. */
static void model_safe(void)
{
	size_t i;

	for (i = 0; i < limit; i++)
		known[i] &= ~UNSAFE;
}

/* Making the written data stable has failed. */
static void model_unsafe_fail(void)
{
	size_t i;

	for (i = 0; i < limit; i++)
		if (known[i] & UNSAFE)
			known[i] |= UNKNOWN;
	size_unknown = true;
}

static void write_copy(void)
{
	int fd = open(copy, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, model, size) != (ssize_t)size || close(fd)) {
		perror(copy);
		exit(2);
	}
}

/* Must be called before anything changes. */
static void ask_witness(size_t first, size_t last)
{
	char command[PATH_MAX];

	if (!witness || !copy)
		return;
	write_copy();
	snprintf(command, sizeof(command), "%s %s %zu %zu", witness, copy, first, last);
	fflush(stdout);
	if (system(command))
		puts("no witness");
}

/* Bytes with a state in @skip are not compared. */
static void check_bytes(const unsigned char *got, size_t pos, size_t len,
			unsigned char skip, const char *who)
{
	size_t i, wrong = 0, last = 0, first = 0;

	if (!memcmp(got, model + pos, len))
		return;
	for (i = 0; i < len; i++) {
		if (got[i] == model[pos + i] || (known[pos + i] & skip))
			continue;
		if (!wrong++)
			first = i;
		last = i;
	}
	if (!wrong || !undisturbed())
		return;
	ask_witness(pos + first, pos + last);
	fail("%s: %zu bytes differ in %#zx..%#zx of %#zx; the first is %#x, not %#x of %u",
	     who, wrong, pos + first, pos + last, size, got[first],
	     model[pos + first], writer[pos + first]);
}

static void check_data(const unsigned char *got, size_t pos, size_t len)
{
	check_bytes(got, pos, len, UNKNOWN, "read");
}

static void check_count(ssize_t got, size_t want, const char *what)
{
	if ((size_t)got != want)
		fail("%s: %zd bytes instead of %zu", what, got, want);
}

static void check_read(ssize_t got, size_t want)
{
	if (undisturbed())
		check_count(got, want, "read");
}

/*
 * Compares the server's file: all stable data, and the size if all of it is stable.  A
 * server with faults may have nothing at the moment.  Data that is not on the disk is
 * not compared if the disk fails.
 */
static void check_backing(bool all)
{
	struct stat st;
	size_t len;
	int fd;

	if (!backing || failed)
		return;
	fd = open(backing, O_RDONLY);
	if (append_may_fail && fd < 0)
		return;
	if (disk_may_fail)
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	check(fd >= 0 && !fstat(fd, &st), backing);
	len = (size_t)st.st_size < size ? (size_t)st.st_size : size;
	check_read(pread(fd, buffer, len, 0), len);
	/* close first: the witness may wait until the disk is unmounted */
	check(!close(fd), backing);
	if (all && (size_t)st.st_size != size && undisturbed())
		fail("the server has %#llx bytes instead of %#zx", (long long)st.st_size, size);
	check_bytes(buffer, 0, len, UNKNOWN | UNSAFE, "at the server");
	memset(buffer, 0, size - len);
	check_bytes(buffer, len, size - len, UNKNOWN | UNSAFE, "beyond the end at the server");
}

#endif /* _FSX_MODEL_H */
