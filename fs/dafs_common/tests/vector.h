/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The form of the test vectors in vectors.h.
 */
#ifndef _DAFS_TESTS_VECTOR_H
#define _DAFS_TESTS_VECTOR_H

#include <linux/dafs/msg.h>

/**
 * enum dafs_vector_kind - kind of a vector
 * @DAFS_VECTOR_ARGS: a request
 * @DAFS_VECTOR_RES: a response
 * @DAFS_VECTOR_FATTR: a direct metadata buffer with attributes
 * @DAFS_VECTOR_DIRENTRIES: one with directory entries
 * @DAFS_VECTOR_LINK: one with the contents of a symbolic link
 */
enum dafs_vector_kind {
	DAFS_VECTOR_ARGS,
	DAFS_VECTOR_RES,
	DAFS_VECTOR_FATTR,
	DAFS_VECTOR_DIRENTRIES,
	DAFS_VECTOR_LINK,
};

/* the contents of a vector in host form */
union dafs_vector_host {
	union dafs_args args;
	union dafs_res res;
	struct dafs_fattr fattr;
	struct dafs_seq entries;
	struct dafs_str link;
};

/**
 * struct dafs_vector - a message in host form and on the wire
 * @name: procedure and arm
 * @proc: DAFS_PROC_*
 * @kind: what it is
 * @big: all bytes on a big-endian session, in hexadecimal, checksum zero
 * @big_cksum: its checksum field with checksums
 * @little: the same on a little-endian session
 * @little_cksum: its checksum field
 * @host: host form
 */
struct dafs_vector {
	const char *name;
	u32 proc;
	enum dafs_vector_kind kind;
	const char *big;
	u8 big_cksum[4];
	const char *little;
	u8 little_cksum[4];
	union dafs_vector_host host;
};

#define DAFS_VECTOR_STR(n, s)	{ .len = (n), .data = (const u8 *)(s) }

#endif /* _DAFS_TESTS_VECTOR_H */
