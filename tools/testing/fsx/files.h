/* SPDX-License-Identifier: GPL-2.0 */
/* The descriptors and mappings of fsx, and how they are opened again after a failure. */
#ifndef _FSX_FILES_H
#define _FSX_FILES_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "model.h"

/* Kinds of descriptors; all of them are open nearly all the time. */
enum { CACHED, OTHER, DIRECT, SYNC, DIRECT_SYNC, APPEND, DIRECT_APPEND, NR_FDS };

static const int fd_flags[NR_FDS] = {
	[CACHED] = O_RDWR,
	[OTHER] = O_RDWR,
	[DIRECT] = O_RDWR | O_DIRECT,
	[SYNC] = O_RDWR | O_SYNC,
	[DIRECT_SYNC] = O_RDWR | O_DIRECT | O_DSYNC,
	[APPEND] = O_WRONLY | O_APPEND,
	[DIRECT_APPEND] = O_WRONLY | O_APPEND | O_DIRECT,
};

static const char *const fd_names[NR_FDS] = {
	[CACHED] = "cached",
	[OTHER] = "cached (2)",
	[DIRECT] = "direct",
	[SYNC] = "O_SYNC",
	[DIRECT_SYNC] = "direct O_DSYNC",
	[APPEND] = "O_APPEND",
	[DIRECT_APPEND] = "direct O_APPEND",
};

static const char *names[2];
static int nr_names;
static int fds[NR_FDS];
static unsigned char *map;
static int readers[2] = { -1, -1 };	/* one of each name, which stays open */
static const unsigned char *reader_maps[2];

static bool fd_open(int which)
{
	fds[which] = open(names[here], fd_flags[which]);
	return !failing(fds[which] < 0, may_fail, "open");
}

/* DAFS makes the data stable by itself, a local file system needs fsync(2). */
static int promise(int fd)
{
	return local ? fsync(fd) : 0;
}

/* Closing a descriptor of a writer makes all data written before stable. */
static bool fd_close(int which)
{
	int fd = fds[which];

	fds[which] = -1;
	if (fd < 0)
		return true;
	if (failing(promise(fd) | close(fd), may_fail, "close")) {
		model_unsafe_fail();
		return false;
	}
	model_safe();
	return true;
}

static void map_open(void)
{
	if (fds[CACHED] < 0)
		return;
	map = mmap(NULL, limit, PROT_READ | PROT_WRITE, MAP_SHARED, fds[CACHED], 0);
	check(map != MAP_FAILED, "mmap");
}

static void map_close(void)
{
	if (map)
		check(!munmap(map, limit), "munmap");
	map = NULL;
}

static void file_open(void)
{
	int i;

	for (i = 0; i < NR_FDS; i++)
		fd_open(i);
	map_open();
}

static void file_close(void)
{
	int i;

	map_close();
	for (i = 0; i < NR_FDS; i++)
		fd_close(i);
}

static bool reader_open(int i)
{
	readers[i] = open(names[i], O_RDONLY);
	return readers[i] >= 0;
}

static void readers_open(void)
{
	int i;

	for (i = 0; i < nr_names; i++) {
		check_again(reader_open, i, "open for reading");
		reader_maps[i] = mmap(NULL, limit, PROT_READ, MAP_SHARED, readers[i], 0);
		check(reader_maps[i] != MAP_FAILED, "mmap for reading");
	}
}

static void readers_close(void)
{
	int i;

	for (i = 0; i < nr_names; i++) {
		check(!munmap((void *)reader_maps[i], limit), "munmap");
		close(readers[i]);
	}
}

static void forget_all(void)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY);

	if (fd < 0)
		return;
	check(write(fd, "3", 1) == 1, "drop_caches");
	check(!close(fd), "drop_caches");
}

static struct stat found;	/* after a failure */

/* Reads the whole file in one call: it may be lost again before it is known. */
static bool find_file(int direct)
{
	int fd = open(names[here], O_RDONLY | direct);
	bool ok;

	if (fd < 0)
		return false;
	ok = !fstat(fd, &found) && pread(fd, buffer, limit, 0) == found.st_size;
	close(fd);
	return ok;
}

/* After a failure the size on the disk may differ from that in the server's memory. */
static bool promise_size(int flags)
{
	int fd = open(names[here], O_WRONLY | flags);
	bool ok;

	if (fd < 0)
		return false;
	ok = !ftruncate(fd, size) &&
	     (!size || pwrite(fd, model + size - 1, 1, size - 1) == 1);
	return !close(fd) && ok;
}

/* A file system may assume zeros on the disk beyond the end. */
static void settle_size(void)
{
	check_again(promise_size, O_SYNC, "size after a failure");
	if (size)
		model_write(size - 1, model + size - 1, 1, true);
	model_mark(size, -size % PAGE, UNKNOWN);
}

/* Sets an unknown size to the current one, if that is possible. */
static void recover_size(size_t new)
{
	size_t before = size;

	if (new == size)
		return;
	if (!size_unknown && new != size + appended)
		fail("after a failure the size is %#zx instead of %#zx", new, size);
	if (new > limit)
		fail("after a failure the size is %#zx", new);
	model_resize(new);
	if (new > before)
		model_mark(before, new - before, UNKNOWN);
}

/*
 * The server keeps its present data, but not after errors of its disk: it may
 * drop data that it could not write, and has reported the error.
 */
static void recover_data(void)
{
	size_t pos;

	check_data(buffer, 0, size);
	if (disk_may_fail)
		return;
	for (pos = 0; pos < size; pos++)
		if (known[pos] & UNKNOWN)
			model[pos] = buffer[pos];
	memset(known, 0, limit);
}

/* Nothing may be open, so that a local file system can be unmounted. */
static void await_disk(void)
{
	while (fault_state() % 2)
		usleep(100000);
	calm = fault_state();
}

/*
 * After a failure: close everything, drop the client's caches, and replace unknown
 * data by the present data.  Faults end, so this succeeds at last.
 */
static void recover(void)
{
	file_close();
	readers_close();
	do {
		await_disk();
		forget_all();
		check_again(find_file, O_DIRECT, "read after a failure");
	} while (!undisturbed());
	recover_size(found.st_size);
	recover_data();
	if (disk_may_fail)
		settle_size();
	failed = false;
	size_unknown = false;
	appended = 0;
	check_backing(true);
	readers_open();
	file_open();
	if (failed)
		usleep(100000);
}

#endif /* _FSX_FILES_H */
