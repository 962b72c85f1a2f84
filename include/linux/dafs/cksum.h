/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The Fletcher-32 checksum of messages and of data moved by RDMA (3.2.5).
 *
 * Words are loaded, and the sums stored, in the order of this machine.  That
 * gives the same four bytes as doing both in the order of the session: to swap
 * the bytes of each word is to multiply it by 256 modulo 65535, which carries
 * over to both sums (ruling E-32).
 */
#ifndef _LINUX_DAFS_CKSUM_H
#define _LINUX_DAFS_CKSUM_H

#include <linux/dafs/msg.h>

/**
 * struct dafs_cksum_state - a checksum being computed
 * @s1: sum of words, 1..65535
 * @s2: sum of the values of @s1, 0..65535
 * @odd: the number of bytes so far is odd, @last has no pair yet
 * @last: the last byte
 */
struct dafs_cksum_state {
	u32 s1;
	u32 s2;
	bool odd;
	u8 last;
};

void dafs_cksum_init(struct dafs_cksum_state *state);
void dafs_cksum_update(struct dafs_cksum_state *state, const void *data, size_t len);
void dafs_cksum_final_host(const struct dafs_cksum_state *state, bool swab,
			   struct dafs_cksum *out);

void dafs_msg_cksum(void *msg, u32 len);
bool dafs_msg_cksum_ok(const void *msg, u32 len);

/**
 * dafs_cksum_equal() - compare a received checksum with a computed one
 * @a: as decoded from a message
 * @b: from dafs_cksum_final_host() with the order of that message's session
 *
 * Return: true if they are equal.
 */
static inline bool dafs_cksum_equal(const struct dafs_cksum *a, const struct dafs_cksum *b)
{
	return a->s1 == b->s1 && a->s2 == b->s2;
}

#endif /* _LINUX_DAFS_CKSUM_H */
