/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What fsx knows: the bytes that the file should hold, which of them somebody has
 * promised to keep, what was done last, and how all of that is compared.
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
/* What is known of a byte. */
#define UNSAFE	1	/* written, and nobody has promised to keep it */
#define UNKNOWN	2	/* a failure met it */

static int here;		/* by which of the names it is written */
static const char *backing;
static unsigned char *model;	/* what the file should hold */
static unsigned char *known;	/* UNSAFE, UNKNOWN of each byte */
static uint32_t *writer;	/* the operation that wrote it */
static unsigned char *buffer;	/* aligned to a page */
static size_t size;		/* what its size should be */
static size_t limit = 1 << 20;	/* which it does not exceed */
static bool may_fail;		/* any operation may */
static bool append_may_fail;
static bool disk_may_fail;	/* the server's */
static bool local;		/* there is no server */
static const char *faults;	/* grows when the disk begins to fail, and when it has ended */
static off_t calm;		/* how long it was when all was found right */
static const char *witness;	/* the command that says who has other bytes */
static const char *copy;	/* what the file should hold, when it ends */
static bool failed;		/* an operation has, see recover() */
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

/* Where the line of this operation goes on, and how long that may be. */
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

/* What is done now, for the log. */
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

/* How often the disk has begun to fail or ended to. */
static off_t fault_state(void)
{
	struct stat st;

	return faults && !stat(faults, &st) ? st.st_size : 0;
}

/*
 * While the disk fails reading tells nothing.  A page that ext4 could not write is clean
 * for it, and may go; then it is read again from where it belongs on the disk, where
 * there still is what other files had there, around the bytes of a write, too, where
 * a hole was.  The journal has it as it should be, for who mounts the file system again.
 * What a client has of such pages tells nothing either.
 */
static bool undisturbed(void)
{
	return fault_state() == calm;
}

/* Has the disk failed, and does not any more? */
static bool fault_over(void)
{
	off_t state = fault_state();

	return state != calm && state % 2 == 0;
}

/* Did it go wrong where it may? */
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

/* Until a fault is over, where there may be any. */
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

/* From or to a mapping, which ends with SIGBUS where a page cannot be read. */
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

/* Pages read while the disk failed go back to it as they are, around what is written. */
static void model_mark_pages(size_t pos, size_t len)
{
	size_t end = (pos + len + PAGE - 1) / PAGE * PAGE;

	pos -= pos % PAGE;
	model_mark(pos, end - pos, UNKNOWN);
}

/* What a write of @len bytes at @pos does; @safe: it has been promised to keep it. */
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

/* A write has failed: some of it may be there, and the file may be longer. */
static void model_fail(size_t pos, size_t len)
{
	model_mark(pos, len, UNKNOWN);
	if (pos + len > size)
		size_unknown = true;
}

/*
 * Zeros that a file system writes into the last page, when it is cut, are on the disk
 * with the next promise, and seen as soon as the file is longer again.
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

/* All that has been written is promised. */
static void model_safe(void)
{
	size_t i;

	for (i = 0; i < limit; i++)
		known[i] &= ~UNSAFE;
}

/* It was to be promised, and was not. */
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

/* Before anything changes. */
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

/* Bytes of which one of @skip is known do not count. */
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
 * What the server has: all that was promised, and the size if all of it was.  A
 * server with faults may have nothing at the moment.  What is not on the disk does not
 * count where that fails.
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
	/* who looks at a difference may have to wait until the disk is unmounted */
	check(!close(fd), backing);
	if (all && (size_t)st.st_size != size && undisturbed())
		fail("the server has %#llx bytes instead of %#zx", (long long)st.st_size, size);
	check_bytes(buffer, 0, len, UNKNOWN | UNSAFE, "at the server");
	memset(buffer, 0, size - len);
	check_bytes(buffer, len, size - len, UNKNOWN | UNSAFE, "beyond the end at the server");
}

#endif /* _FSX_MODEL_H */
