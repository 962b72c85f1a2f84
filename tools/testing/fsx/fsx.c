// SPDX-License-Identifier: GPL-2.0
/*
 * fsx: random operations on one file, each compared with a model in memory.
 *
 *	fsx [-s SEED] [-n OPERATIONS] [-t SECONDS] [-u END] [-l BYTES] [-a ALIGNMENT]
 *	    [-o COPY] [-b BACKING] [-f append|all|disk] [-d FAULTS] [-w WITNESS] [-L]
 *	    FILE [FILE]
 *
 * The file is open by several descriptors of every kind at once: cached, direct,
 * synchronous and appending ones, and a shared mapping.  Each is closed and opened
 * again now and then, on its own.  All of them must agree at any time.
 *
 * Attributes are not requested without need, because this updates the client's
 * state and hides missing updates.  For the same reason the kinds of operations
 * change: a run consists of epochs of some hundred operations, and each of these
 * draws its own mix.
 *
 * Two names are one file as two clients see it.  Only one of them writes at a time:
 * now and then the descriptors for writing are closed here and opened there, which
 * must see all data, as must descriptors and a mapping for reading that stay open
 * on either side.
 *
 * Data made stable by fsync(2), close(2), O_SYNC, O_DIRECT or O_APPEND must be
 * in BACKING, the same file at its server.
 *
 * With -f operations may fail, those that append or all: then the bytes in flight are
 * unknown until they are written again, or until the file, closed everywhere and
 * forgotten by the client, has been read again.  After errors of the disk this is not
 * enough, because a server may still have data in memory that is not on the disk;
 * stable data is compared with the disk itself.
 *
 * FAULTS is a file that grows by one byte before the disk fails, and by another when
 * the server uses the repaired disk.  Reads meanwhile are not compared; then
 * everything is closed, dropped and compared.
 *
 * With -L the files are on a file system of this machine, mounted with -o sync.
 *
 * With -u it goes on until there is a file named END, and there are no faults then.
 *
 * The same seed gives the same operations.  After a difference the last of them are
 * printed, and the output of the command WITNESS for COPY and the first and the last of
 * the bytes.  -a aligns O_DIRECT, -o writes the expected contents to COPY.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include "files.h"
#include "model.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define NR_AIO		4

static aio_context_t aio;
static size_t span;		/* of the part that is used at present */
static size_t focus;		/* position of the last operation */
static size_t alignment = 512;

static void fill(size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		buffer[i] = draw();
}

/* Conflicts need operations on the same bytes, so often reuse the last position. */
static size_t draw_position(size_t end)
{
	size_t pos = below(end < span ? end : span);

	if (below(2))
		pos = focus - focus % PAGE + below(2 * PAGE);
	if (!below(4))
		pos -= pos % PAGE;
	focus = pos < end ? pos : below(end);
	return focus;
}

/* The model is zero beyond the end, so a range beyond the end reads so. */
static void draw_range(size_t end, size_t *pos, size_t *len)
{
	*pos = draw_position(end);
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

/* Operations */

static void read_by(int fd, const char *how, size_t pos, size_t len)
{
	size_t want = readable(pos, len);
	ssize_t got;

	note("%s read %#zx + %#zx, size %#zx", how, pos, len, size);
	got = pread(fd, buffer, len, pos);
	if (failing(got < 0, may_fail, "read"))
		return;
	check_read(got, want);
	check_data(buffer, pos, want);
}

static void op_read(void)
{
	int how = below(4) ? CACHED : SYNC;
	size_t pos, len;

	draw_range(size + PAGE, &pos, &len);
	read_by(fds[how], fd_names[how], pos, len);
}

static void op_direct_read(void)
{
	size_t pos, len;

	draw_range(size + PAGE, &pos, &len);
	align_range(&pos, &len);
	read_by(fds[DIRECT], "direct", pos, len);
}

/* By a descriptor that has been open since before the writes. */
static void op_reader(void)
{
	size_t pos, len;

	draw_range(size, &pos, &len);
	if (!size || below(2)) {
		read_by(readers[here], "old", pos, len);
		return;
	}
	note("old mapped read %#zx + %#zx, size %#zx", pos, len, size);
	if (map_copy(buffer, reader_maps[here] + pos, len))
		check_data(buffer, pos, len);
}

/* Through a pipe, with pages of the page cache. */
static void op_splice(void)
{
	size_t pos, len, want;
	loff_t offset;
	int pipes[2];

	draw_range(size, &pos, &len);
	if (len > 15 * PAGE)
		len = 15 * PAGE;
	want = readable(pos, len);
	note("splice %#zx + %#zx", pos, want);
	check(!pipe(pipes), "pipe");
	while (want) {
		ssize_t part;

		offset = pos;
		part = splice(fds[CACHED], &offset, pipes[1], NULL, want, 0);
		if (failing(part < 0, may_fail, "splice"))
			break;
		if (!part && undisturbed())
			fail("splice: nothing");
		if (!part)
			break;
		check_count(read(pipes[0], buffer, part), part, "read of the pipe");
		check_data(buffer, pos, part);
		pos += part;
		want -= part;
	}
	close(pipes[0]);
	close(pipes[1]);
}

/* Repeats short writes. */
static void write_all(int which, size_t pos, size_t len, int flags)
{
	bool safe = which != CACHED && which != OTHER;
	bool append = which == APPEND || which == DIRECT_APPEND || (flags & RWF_APPEND);
	size_t part = 0;
	ssize_t n;

	while (part < len) {
		struct iovec iov = { .iov_base = buffer + part, .iov_len = len - part };

		n = pwritev2(fds[which], &iov, 1, append ? 0 : pos + part, flags);
		if (failing(n < 0, may_fail || (append && append_may_fail && errno == EIO),
			    "write")) {
			if (append) {
				appended = len - part;
				return;
			}
			/* it may be the error of what was written before */
			if (may_fail)
				model_unsafe_fail();
			model_fail(pos + part, len - part);
			return;
		}
		if (!n)
			fail("write: nothing");
		model_write(append ? size : pos + part, buffer + part, n, safe || append || flags);
		part += n;
	}
}

static void write_by(int which, size_t pos, size_t len)
{
	int flags = !below(12) && which < SYNC ? RWF_DSYNC : 0;

	note("%s%s write %#zx + %#zx, size %#zx", fd_names[which], flags ? " RWF_DSYNC" : "",
	     pos, len, size);
	fill(len);
	write_all(which, pos, len, flags);
}

static void op_write(void)
{
	size_t pos, len;

	draw_range(limit, &pos, &len);
	write_by(below(2) ? CACHED : OTHER, pos, len);
}

/* A few bytes within the file: the bytes around them must not change. */
static void op_write_few(void)
{
	size_t pos = draw_position(size), len = 1 + below(64);

	if (pos + len <= size)
		write_by(below(2) ? CACHED : OTHER, pos, len);
}

/* Near the end of the file. */
static void op_write_end(void)
{
	size_t pos = size + below(3 * PAGE), len = draw_length();

	pos -= pos < PAGE ? pos : PAGE;
	if (pos + len <= limit)
		write_by(CACHED, pos, len);
}

static void op_writev(void)
{
	struct iovec iov[3];
	size_t pos, len;
	ssize_t n;

	draw_range(limit, &pos, &len);
	note("cached writev %#zx + %#zx, size %#zx", pos, len, size);
	fill(len);
	iov[0] = (struct iovec){ .iov_base = buffer, .iov_len = len / 3 };
	iov[1] = (struct iovec){ .iov_base = buffer + len / 3, .iov_len = len / 5 };
	iov[2].iov_base = buffer + len / 3 + len / 5;
	iov[2].iov_len = len - len / 3 - len / 5;
	n = pwritev(fds[CACHED], iov, 3, pos);
	if (failing(n < 0, may_fail, "writev")) {
		model_fail(pos, len);
		return;
	}
	check_count(n, len, "writev");
	model_write(pos, buffer, len, false);
}

static void op_sync_write(void)
{
	size_t pos, len;

	draw_range(limit, &pos, &len);
	write_by(SYNC, pos, len);
}

static void op_direct_write(void)
{
	size_t pos, len;

	draw_range(limit - alignment, &pos, &len);
	align_range(&pos, &len);
	write_by(below(4) ? DIRECT : DIRECT_SYNC, pos, len);
}

/* Most direct writers stay within a file that has its size. */
static void op_direct_within(void)
{
	size_t pos, len;

	draw_range(size, &pos, &len);
	align_range(&pos, &len);
	if (pos + len > size)
		len -= alignment;
	if (len)
		write_by(DIRECT, pos, len);
}

static void op_append(void)
{
	size_t len = draw_length();

	if (size + len > limit)
		return;
	note("append %#zx, size %#zx", len, size);
	fill(len);
	write_all(APPEND, 0, len, 0);
}

/* By a descriptor without O_APPEND. */
static void op_rwf_append(void)
{
	int which = below(2) ? CACHED : DIRECT;
	size_t len = draw_length(), none = 0;

	if (which == DIRECT)
		align_range(&none, &len);
	if (size + len > limit || (which == DIRECT && size % alignment))
		return;
	note("%s RWF_APPEND %#zx, size %#zx", fd_names[which], len, size);
	fill(len);
	write_all(which, 0, len, RWF_APPEND);
}

static void op_direct_append(void)
{
	size_t len = draw_length(), none = 0;

	align_range(&none, &len);
	if (size % alignment || size + len > limit)
		return;
	note("direct append %#zx, size %#zx", len, size);
	fill(len);
	write_all(DIRECT_APPEND, 0, len, 0);
}

static void aio_prepare(struct iocb *cb, bool write, size_t pos, size_t len)
{
	*cb = (struct iocb){
		.aio_fildes = fds[DIRECT],
		.aio_lio_opcode = write ? IOCB_CMD_PWRITE : IOCB_CMD_PREAD,
		.aio_buf = (uintptr_t)(buffer + pos),
		.aio_nbytes = len,
		.aio_offset = pos,
	};
}

static void aio_ended(const struct io_event *event)
{
	const struct iocb *cb = (const struct iocb *)(uintptr_t)event->obj;
	bool write = cb->aio_lio_opcode == IOCB_CMD_PWRITE;
	size_t pos = cb->aio_offset, len = cb->aio_nbytes;
	long n = event->res;

	if (n < 0) {
		errno = -n;
		failing(true, may_fail, "asynchronous I/O");
		if (write)
			model_fail(pos, len);
		return;
	}
	if (write) {
		check_count(n, len, "asynchronous I/O");
		model_write(pos, buffer + pos, len, true);
	} else {
		check_read(n, readable(pos, len));
		check_data(buffer + pos, pos, n);
	}
}

static void aio_note(const struct iocb *cbs, int nr)
{
	int i;

	note("asynchronous, size %#zx:", size);
	for (i = 0; i < nr; i++)
		note_more(" %s %#llx + %#llx",
			  cbs[i].aio_lio_opcode == IOCB_CMD_PWRITE ? "write" : "read",
			  (unsigned long long)cbs[i].aio_offset,
			  (unsigned long long)cbs[i].aio_nbytes);
}

/* Several at once, each of its own part of the file. */
static void op_aio(void)
{
	size_t part = limit / NR_AIO, pos, len, end;
	struct io_event events[NR_AIO];
	struct iocb cbs[NR_AIO], *list[NR_AIO];
	int i, nr = 0;

	for (i = 0; i < NR_AIO; i++) {
		end = below(2) && size < (i + 1) * part ? size : (i + 1) * part;
		if (end <= i * part)
			continue;
		draw_range(end - i * part, &pos, &len);
		align_range(&pos, &len);
		if (pos + len > part)
			continue;
		pos += i * part;
		memset(buffer + pos, draw(), len);
		aio_prepare(&cbs[nr], below(3), pos, len);
		list[nr] = &cbs[nr];
		nr++;
	}
	/* results of reads must not depend on which write extends the file first */
	for (i = 0; i < nr; i++)
		if (cbs[i].aio_lio_opcode == IOCB_CMD_PREAD &&
		    cbs[i].aio_offset + cbs[i].aio_nbytes > size)
			cbs[i].aio_lio_opcode = IOCB_CMD_PWRITE;
	aio_note(cbs, nr);
	if (!nr)
		return;
	check(syscall(SYS_io_submit, aio, nr, list) == nr, "io_submit");
	check(syscall(SYS_io_getevents, aio, nr, nr, events, NULL) == nr, "io_getevents");
	for (i = 0; i < nr; i++)
		aio_ended(&events[i]);
}

static void resize(size_t new)
{
	int ret;

	note("truncate from %#zx to %#zx", size, new);
	ret = below(2) ? ftruncate(fds[CACHED], new) : truncate(names[here], new);
	if (failing(ret || promise(fds[CACHED]), may_fail, "truncate")) {
		model_unsafe_fail();
		if (new < size)
			model_mark(new, size - new, UNKNOWN);
		return;
	}
	model_resize(new);
}

static void op_truncate(void)
{
	resize(below(4) ? below(span) : below(size + 1));
}

/* Truncates to nothing or a few pages, and extends again: a file with a hole. */
static void op_truncate_hole(void)
{
	size_t to = below(span);

	if (below(2))
		to += PAGE - to % PAGE;
	resize(below(3) ? 0 : below(4) * PAGE);
	if (!failed)
		resize(to < size ? size : to);
}

/* Like databases create their files. */
static void op_hole_direct(void)
{
	op_truncate_hole();
	if (!failed)
		op_direct_within();
}

/* The rest of the last page is mapped, and must be zero. */
static void op_map_read(void)
{
	size_t pos, len, end = (size + PAGE - 1) / PAGE * PAGE;

	draw_range(size, &pos, &len);
	if (below(2))
		len = end - pos;
	if (!size)
		return;
	note("mapped read %#zx + %#zx, size %#zx", pos, len, size);
	if (map_copy(buffer, map + pos, len))
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
	if (map_copy(map + pos, buffer, len))
		model_write(pos, buffer, len, false);
	else
		model_fail(pos, len);
}

/*
 * Data stored beyond the end is not in the file, even if it is extended later.  ext4
 * keeps it if its blocks are smaller than pages.
 */
static void op_map_beyond(void)
{
	size_t end = (size + PAGE - 1) / PAGE * PAGE;

	if (end == size || local)
		return;
	note("mapped write beyond the end, size %#zx", size);
	memset(buffer, 0xbb, end - size);
	if (!map_copy(map + size, buffer, end - size))
		return;
	if (below(2))
		resize(size + below(limit - size));
	else if (end < limit)
		write_by(CACHED, end, 1 + below(PAGE / 2));
	memset(buffer, 0, end);
	if (!failed && size < end)
		map_copy(map + size, buffer, end - size);
}

static void op_remap(void)
{
	note("munmap and mmap");
	map_close();
	map_open();
}

static void synced(int ret, const char *what)
{
	if (failing(ret, may_fail, what)) {
		model_unsafe_fail();
		return;
	}
	model_safe();
	check_backing(true);
}

static void op_fsync(void)
{
	int which = below(NR_FDS);

	note("fsync of %s", fd_names[which]);
	synced(below(2) ? fsync(fds[which]) : fdatasync(fds[which]), "fsync");
}

static void op_msync(void)
{
	note("msync");
	synced(msync(map, limit, MS_SYNC), "msync");
}

/* Written back to the server, but not committed. */
static void op_write_back(void)
{
	note("sync_file_range");
	if (failing(sync_file_range(fds[CACHED], 0, 0, SYNC_FILE_RANGE_WRITE |
				    SYNC_FILE_RANGE_WAIT_AFTER), may_fail, "sync_file_range"))
		model_unsafe_fail();
}

/* Drops clean pages, so that the next read is sent to the server. */
static void op_forget(void)
{
	note("forget");
	check(!posix_fadvise(fds[CACHED], 0, 0, POSIX_FADV_DONTNEED), "fadvise");
}

static void op_stat(void)
{
	struct stat st;

	note("fstat");
	if (failing(fstat(fds[CACHED], &st), may_fail, "fstat"))
		return;
	if ((size_t)st.st_size != size && undisturbed())
		fail("the size is %#llx instead of %#zx", (long long)st.st_size, size);
}

static void op_seek(void)
{
	off_t end;

	note("lseek");
	end = lseek(fds[OTHER], 0, SEEK_END);
	if (failing(end < 0, may_fail, "lseek"))
		return;
	if ((size_t)end != size && undisturbed())
		fail("the end is at %#llx instead of %#zx", (long long)end, size);
}

static void op_server(void)
{
	note("the server's file");
	check_backing(false);
}

static void op_reopen(void)
{
	int which = below(NR_FDS);

	note("close and open %s", fd_names[which]);
	if (fd_close(which))
		fd_open(which);
}

static void op_reopen_all(void)
{
	note("close and open all");
	file_close();
	if (!failed)
		check_backing(true);
	file_open();
}

static void op_switch(void)
{
	if (nr_names < 2)
		return;
	note("close, and open by the other name");
	file_close();
	if (failed)
		return;
	here = 1 - here;
	file_open();
}

static const struct op {
	void (*run)(void);
	unsigned int weight;
	bool always;		/* is in the mix of every epoch */
} ops[] = {
	{ op_read, 12 },
	{ op_direct_read, 8 },
	{ op_reader, 4 },
	{ op_splice, 3 },
	{ op_write, 12 },
	{ op_write_few, 12 },
	{ op_write_end, 8 },
	{ op_writev, 4 },
	{ op_sync_write, 3 },
	{ op_direct_write, 8 },
	{ op_direct_within, 8 },
	{ op_append, 5 },
	{ op_rwf_append, 3 },
	{ op_direct_append, 3 },
	{ op_aio, 4 },
	{ op_truncate, 6 },
	{ op_truncate_hole, 6 },
	{ op_hole_direct, 8 },
	{ op_map_read, 8 },
	{ op_map_write, 10 },
	{ op_map_beyond, 2 },
	{ op_remap, 1 },
	{ op_fsync, 4 },
	{ op_msync, 2 },
	{ op_write_back, 4 },
	{ op_forget, 3 },
	{ op_stat, 2 },
	{ op_seek, 2 },
	{ op_server, 4 },
	{ op_reopen, 4 },
	{ op_reopen_all, 1, true },
	{ op_switch, 2, true },
};

static unsigned int weights[ARRAY_SIZE(ops)], weight_sum;
static unsigned long epoch_ends;

/* A random selection of operations with random weights. */
static void epoch_begin(void)
{
	unsigned int i, most = 2 + below(6);

	weight_sum = 0;
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		weights[i] = ops[i].always ? 1 : below(most) ? 0 : below(2 * ops[i].weight);
		weight_sum += weights[i];
	}
	epoch_ends = done + 10 + below(100);
	span = (size_t)PAGE << below(12);
	if (span > limit)
		span = limit;
}

static void run_one(void)
{
	unsigned int i, at;

	if (done >= epoch_ends)
		epoch_begin();
	at = below(weight_sum);
	for (i = 0; at >= weights[i]; i++)
		at -= weights[i];
	note("nothing");
	ops[i].run();
	while (failed || fault_over())
		recover();
}

static void check_all(void)
{
	ssize_t got;

	note("the whole file is read");
	got = pread(fds[CACHED], buffer, limit, 0);
	if (failing(got < 0, may_fail, "read"))
		return;
	check_read(got, size);
	check_data(buffer, 0, size);
	op_stat();
}

/* Writes all unknown bytes, so that all are known. */
static void write_unknown(void)
{
	note("the whole file is written");
	memcpy(buffer, model, size);
	write_all(CACHED, 0, size, 0);
	op_fsync();
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
	fputs("usage: fsx [-s SEED] [-n OPERATIONS] [-t SECONDS] [-u END] [-l BYTES]\n"
	      "           [-a ALIGNMENT] [-o COPY] [-b BACKING] [-f append|all|disk]\n"
	      "           [-d FAULTS] [-w WITNESS] [-L] FILE [FILE]\n", stderr);
	exit(2);
}

static void parse_failing(const char *what)
{
	disk_may_fail = !strcmp(what, "disk");
	may_fail = disk_may_fail || !strcmp(what, "all");
	append_may_fail = true;
	if (!may_fail && strcmp(what, "append"))
		help();
}

static void begin(void)
{
	int fd;

	limit = (limit + PAGE - 1) / PAGE * PAGE;
	model = calloc(1, limit + 2 * PAGE);
	known = calloc(1, limit + 2 * PAGE);
	writer = calloc(limit + 2 * PAGE, sizeof(*writer));
	buffer = aligned_alloc(PAGE, limit + 32 * PAGE);
	if (!model || !known || !writer || !buffer || !alignment || PAGE % alignment)
		help();
	random_state = seed * 0x9e3779b97f4a7c15ULL + 1;
	setvbuf(stdout, NULL, _IOLBF, 0);
	check(!syscall(SYS_io_setup, NR_AIO, &aio), "io_setup");
	signal(SIGBUS, on_sigbus);
	fd = open(names[0], O_WRONLY | O_CREAT | O_TRUNC, 0600);
	check(fd >= 0, "create");
	check(!close(fd), "close");
	readers_open();
	file_open();
}

/* Repeats @what until it succeeds. */
static void insist(void (*what)(void))
{
	for (what(); failed; what())
		while (failed)
			recover();
}

static void finish(void)
{
	int i;

	if (may_fail)
		recover();
	may_fail = may_fail && !disk_may_fail;
	append_may_fail = false;
	for (i = 0; i < nr_names; i++) {
		insist(check_all);
		insist(op_switch);
	}
	if (disk_may_fail)
		write_unknown();
	file_close();
	check_backing(true);
	readers_close();
	check(!syscall(SYS_io_destroy, aio), "io_destroy");
	if (copy)
		write_copy();
}

static bool going_on(time_t start, time_t seconds, unsigned long most, const char *end)
{
	if (end)
		return access(end, F_OK);
	return seconds ? time(NULL) - start < seconds : done < most;
}

int main(int argc, char **argv)
{
	unsigned long most = 1000, seconds = 0;
	const char *end = NULL;
	time_t start = time(NULL);
	int c, i;

	while ((c = getopt(argc, argv, "s:n:t:u:l:a:o:b:f:d:w:L")) != -1) {
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
		case 'u':
			end = optarg;
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
		case 'b':
			backing = optarg;
			break;
		case 'd':
			faults = optarg;
			break;
		case 'L':
			local = true;
			break;
		case 'w':
			witness = optarg;
			break;
		case 'f':
			parse_failing(optarg);
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
	while (going_on(start, seconds, most, end)) {
		run_one();
		done++;
	}
	finish();
	printf("seed %llu: %lu operations in %ld s, %lu failures\n", (unsigned long long)seed,
	       done, (long)(time(NULL) - start), failures);
	return 0;
}
