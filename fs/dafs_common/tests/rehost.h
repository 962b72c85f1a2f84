/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Turns decoded messages into ones that can be encoded, for the tests and for
 * the fuzzer in tools/testing/fuzz.
 */
#ifndef _DAFS_TESTS_REHOST_H
#define _DAFS_TESTS_REHOST_H

#include <linux/dafs/codec.h>
#include "vector.h"

/**
 * struct dafs_arena - memory for the elements of arrays, freed all at once
 * @base: memory, 8-byte aligned
 * @size: bytes
 * @used: bytes taken
 */
struct dafs_arena {
	u8 *base;
	size_t size;
	size_t used;
};

int dafs_rehost(const struct dafs_buf *buf, const struct dafs_vector *what,
		union dafs_vector_host *host, struct dafs_arena *arena);

int dafs_vector_encode(const struct dafs_buf *buf, const struct dafs_vector *what,
		       union dafs_vector_host *host);
int dafs_vector_decode(const struct dafs_buf *buf, const struct dafs_vector *what,
		       union dafs_vector_host *host);

#endif /* _DAFS_TESTS_REHOST_H */
