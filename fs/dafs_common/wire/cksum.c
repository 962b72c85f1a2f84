// SPDX-License-Identifier: GPL-2.0
/*
 * Fletcher-32 as section 3.2.5 of the draft defines it.
 *
 * The draft reduces both sums modulo 65535 after each word, by subtracting
 * 65535 only when a sum exceeds it.  A sum that is not zero thus stays in
 * 1..65535.  Adding the carries back in ("folding") ends in that same range,
 * and may be put off until just before an accumulator could overflow.
 */
#include <linux/build_bug.h>
#include <linux/export.h>
#include <linux/minmax.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/swab.h>
#include <linux/unaligned.h>
#include <linux/dafs/cksum.h>

/*
 * Words are added four at a time in the 32-bit lanes of 64-bit accumulators.
 * A lane of the weighted sums reaches 65535 * n * (n + 1) / 2 after n steps,
 * which n = 256 keeps below 2^32.
 */
#define CKSUM_STEP		8
#define CKSUM_BLOCK_STEPS	256
#define CKSUM_LANES		0x0000ffff0000ffffULL

/* position in a step of the word in lane @n; lane 0 has bit 0 */
#ifdef __BIG_ENDIAN
#define CKSUM_PLACE(n)		(3 - (n))
#else
#define CKSUM_PLACE(n)		(n)
#endif

static u32 cksum_fold(u64 sum)
{
	u32 v;

	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffffffff) + (sum >> 32);
	v = (sum & 0xffff) + (sum >> 16);
	return (v & 0xffff) + (v >> 16);
}

static void cksum_word(struct dafs_cksum_state *state, u16 word)
{
	state->s1 = cksum_fold(state->s1 + word);
	state->s2 = cksum_fold(state->s2 + state->s1);
}

/* what lane @lane of @sum and of its weighted sum @wsum contribute to s2 */
static u64 cksum_weigh(u64 sum, u64 wsum, unsigned int shift, unsigned int place)
{
	return 4 * (u64)(u32)(wsum >> shift) - place * (u64)(u32)(sum >> shift);
}

/*
 * With n = 4 * @steps words w[0..n-1], s1 grows by their sum and s2 by
 * n * s1 + n * w[0] + (n - 1) * w[1] + ... + w[n-1].  The weighted sums count a
 * word of step j (steps - j) times; four times that, less the place of the word
 * in its step, is its weight.
 */
static void cksum_block(struct dafs_cksum_state *state, const u8 *p, u32 steps)
{
	u64 even = 0, odd = 0, weven = 0, wodd = 0;
	u64 s1 = state->s1;
	u64 s2 = state->s2 + 4 * steps * s1;
	u64 v;
	u32 i;

	for (i = 0; i < steps; i++, p += CKSUM_STEP) {
		v = get_unaligned((const u64 *)p);
		even += v & CKSUM_LANES;
		odd += (v >> 16) & CKSUM_LANES;
		weven += even;
		wodd += odd;
	}
	s1 += (u32)even + (even >> 32) + (u32)odd + (odd >> 32);
	s2 += cksum_weigh(even, weven, 0, CKSUM_PLACE(0));
	s2 += cksum_weigh(odd, wodd, 0, CKSUM_PLACE(1));
	s2 += cksum_weigh(even, weven, 32, CKSUM_PLACE(2));
	s2 += cksum_weigh(odd, wodd, 32, CKSUM_PLACE(3));
	state->s1 = cksum_fold(s1);
	state->s2 = cksum_fold(s2);
}

/* the word that two consecutive bytes form */
static u16 cksum_pair(u8 first, u8 second)
{
	u8 pair[2] = { first, second };

	return get_unaligned((const u16 *)pair);
}

/**
 * dafs_cksum_init() - begin a checksum
 * @state: set up
 */
void dafs_cksum_init(struct dafs_cksum_state *state)
{
	*state = (struct dafs_cksum_state) { .s1 = 0x0101 };
}
EXPORT_SYMBOL_GPL(dafs_cksum_init);

/**
 * dafs_cksum_update() - add bytes to a checksum (3.2.5)
 * @state: the checksum
 * @data: bytes
 * @len: how many; odd pieces are not padded but joined with the next
 *
 * Context: any.
 */
void dafs_cksum_update(struct dafs_cksum_state *state, const void *data, size_t len)
{
	const u8 *p = data;
	u32 steps;

	if (state->odd && len) {
		cksum_word(state, cksum_pair(state->last, *p++));
		state->odd = false;
		len--;
	}
	while (len >= CKSUM_STEP) {
		steps = min_t(size_t, len / CKSUM_STEP, CKSUM_BLOCK_STEPS);
		cksum_block(state, p, steps);
		p += steps * CKSUM_STEP;
		len -= steps * CKSUM_STEP;
	}
	for (; len >= 2; p += 2, len -= 2)
		cksum_word(state, get_unaligned((const u16 *)p));
	if (len) {
		state->odd = true;
		state->last = *p;
	}
}
EXPORT_SYMBOL_GPL(dafs_cksum_update);

/* the sums, in the order of this machine, with the pad of an odd length added */
static struct dafs_cksum cksum_sums(const struct dafs_cksum_state *state)
{
	struct dafs_cksum_state s = *state;

	if (s.odd)
		cksum_word(&s, cksum_pair(s.last, 0));
	return (struct dafs_cksum) { .s2 = s.s2, .s1 = s.s1 };
}

/**
 * dafs_cksum_final_host() - a checksum for a direct_checksum field
 * @state: the checksum; may be updated further
 * @swab: the session's byte order is not this machine's
 * @out: set to the integers that the codec sends, or has received, in such a
 *	session
 */
void dafs_cksum_final_host(const struct dafs_cksum_state *state, bool swab, struct dafs_cksum *out)
{
	*out = cksum_sums(state);
	if (swab) {
		out->s2 = swab16(out->s2);
		out->s1 = swab16(out->s1);
	}
}
EXPORT_SYMBOL_GPL(dafs_cksum_final_host);

/* where the field is in both headers */
#define CKSUM_AT		offsetof(struct dafs_wire_req_hdr, message_checksum)

/* over @len bytes of a message with its checksum field taken as zero */
static struct dafs_cksum cksum_msg(const void *msg, u32 len)
{
	static const u8 zero[sizeof(struct dafs_wire_cksum)];
	struct dafs_cksum_state state;

	BUILD_BUG_ON(offsetof(struct dafs_wire_res_hdr, message_checksum) != CKSUM_AT);
	dafs_cksum_init(&state);
	dafs_cksum_update(&state, msg, CKSUM_AT);
	dafs_cksum_update(&state, zero, sizeof(zero));
	dafs_cksum_update(&state, msg + CKSUM_AT + sizeof(zero), len - CKSUM_AT - sizeof(zero));
	return cksum_sums(&state);
}

/**
 * dafs_msg_cksum() - put the checksum into a finished message (3.2.5)
 * @msg: the message
 * @len: its length in bytes; shorter ones than a header are left alone
 */
void dafs_msg_cksum(void *msg, u32 len)
{
	struct dafs_wire_req_hdr *hdr = msg;
	struct dafs_cksum sums;

	if (len < DAFS_HDR_SIZE)
		return;
	sums = cksum_msg(msg, len);
	put_unaligned((__force dafs_w16)sums.s2, &hdr->message_checksum.s2);
	put_unaligned((__force dafs_w16)sums.s1, &hdr->message_checksum.s1);
}

/**
 * dafs_msg_cksum_ok() - verify the checksum of a received message (3.2.5)
 * @msg: the message
 * @len: its length from the header, at most the bytes received
 *
 * Return: true if it is right.
 */
bool dafs_msg_cksum_ok(const void *msg, u32 len)
{
	const struct dafs_wire_req_hdr *hdr = msg;
	struct dafs_cksum sums;

	if (len < DAFS_HDR_SIZE)
		return false;
	sums = cksum_msg(msg, len);
	return (__force u16)get_unaligned(&hdr->message_checksum.s2) == sums.s2 &&
	       (__force u16)get_unaligned(&hdr->message_checksum.s1) == sums.s1;
}
EXPORT_SYMBOL_GPL(dafs_msg_cksum_ok);
