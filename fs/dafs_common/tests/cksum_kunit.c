// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the checksum of section 3.2.5 against vectors and against the
 * draft's definition, word by word.
 */
#include <kunit/test.h>
#include <linux/prandom.h>
#include <linux/string.h>
#include <linux/unaligned.h>
#include <linux/dafs/cksum.h>
#include <linux/dafs/codec.h>

#define LARGE	65536

/* the four bytes of the field */
static void cksum_final(const struct dafs_cksum_state *state, u8 field[4])
{
	struct dafs_cksum sums;

	dafs_cksum_final_host(state, false, &sums);
	put_unaligned(sums.s2, (u16 *)field);
	put_unaligned(sums.s1, (u16 *)(field + 2));
}

/* the same for @len bytes of data */
static void cksum_of(const void *data, size_t len, u8 field[4])
{
	struct dafs_cksum_state state;

	dafs_cksum_init(&state);
	dafs_cksum_update(&state, data, len);
	cksum_final(&state, field);
}

/* the definition, with big-endian words */
static void cksum_reference(const u8 *data, size_t len, u8 field[4])
{
	u32 s1 = 0x0101, s2 = 0;
	size_t i;

	for (i = 0; i < len; i += 2) {
		s1 += data[i] << 8 | (i + 1 < len ? data[i + 1] : 0);
		if (s1 > 65535)
			s1 -= 65535;
		s2 += s1;
		if (s2 > 65535)
			s2 -= 65535;
	}
	field[0] = s2 >> 8;
	field[1] = s2;
	field[2] = s1 >> 8;
	field[3] = s1;
}

static void expect_field(struct kunit *test, const void *data, size_t len, u32 want,
			 const char *name)
{
	u8 field[4], reference[4];
	u8 bytes[4] = { want >> 24, want >> 16, want >> 8, want };

	cksum_of(data, len, field);
	KUNIT_EXPECT_MEMEQ_MSG(test, field, bytes, 4, "%s", name);
	cksum_reference(data, len, reference);
	KUNIT_EXPECT_MEMEQ_MSG(test, reference, bytes, 4, "%s", name);
}

static u8 *large_buffer(struct kunit *test)
{
	u8 *p = kunit_kzalloc(test, LARGE, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, p);
	return p;
}

/* R-3.2.5-09: S1 of "abcdef" is 2b 2e; R-3.2.5-12: S2 comes first */
static void cksum_short_vectors(struct kunit *test)
{
	expect_field(test, "", 0, 0x00000101, "empty");
	expect_field(test, "\x01", 1, 0x02010201, "01");
	expect_field(test, "abcdef", 6, 0x53592b2e, "abcdef");
	expect_field(test, "\xff\xff", 2, 0x01010101, "ff ff");
	expect_field(test, "\xfe\xfe", 2, 0xffffffff, "fe fe");
	expect_field(test, "\x01\x02\x03", 3, 0x07060503, "01 02 03");
	expect_field(test, "abcdefgh", 8, 0xe5ef9296, "abcdefgh");
}

/* R-3.2.5-10: 1024 zero bytes give S2 0x0202 */
static void cksum_long_vectors(struct kunit *test)
{
	u8 *p = large_buffer(test);
	u32 i;

	expect_field(test, p, 1024, 0x02020101, "1024 zeros");
	for (i = 0; i < LARGE; i++)
		p[i] = i % 251;
	expect_field(test, p, LARGE, 0x8f2e6dfd, "i mod 251");
	memset(p, 0xff, LARGE);
	expect_field(test, p, LARGE, 0x80800101, "64k of ff");
}

/* R-3.2.5-11: data of odd length is padded with a zero byte */
static void cksum_odd_length(struct kunit *test)
{
	expect_field(test, "abcde", 5, 0x52f32ac8, "abcde");
	expect_field(test, "abcde\0", 6, 0x52f32ac8, "abcde and zero");
}

/* pieces of any length, also odd, give the checksum of the whole */
static void cksum_segments(struct kunit *test)
{
	u8 *p = large_buffer(test);
	struct dafs_cksum_state state;
	u8 field[4], whole[4];
	struct rnd_state rnd;
	u32 round, at, len, n;

	prandom_seed_state(&rnd, 325);
	prandom_bytes_state(&rnd, p, LARGE);
	for (round = 0; round < 300; round++) {
		len = prandom_u32_state(&rnd) % (round % 10 ? 600 : LARGE);
		dafs_cksum_init(&state);
		for (at = 0; at < len; at += n) {
			n = prandom_u32_state(&rnd) % (round % 3 ? 12 : 4000);
			n = min(n, len - at);
			dafs_cksum_update(&state, p + at, n);
		}
		cksum_final(&state, field);
		cksum_reference(p, len, whole);
		KUNIT_EXPECT_MEMEQ_MSG(test, field, whole, 4, "round %u, %u bytes", round, len);
	}
}

/* every length and alignment around the block size of the implementation */
static void cksum_lengths(struct kunit *test)
{
	u8 *p = large_buffer(test);
	u8 field[4], want[4];
	u32 at, len;

	memset(p, 0xff, LARGE);
	for (at = 0; at < 9; at++)
		p[97 * at] = at;
	for (at = 0; at < 9; at++) {
		for (len = 0; len < 40; len++) {
			cksum_of(p + at, len, field);
			cksum_reference(p + at, len, want);
			KUNIT_EXPECT_MEMEQ_MSG(test, field, want, 4, "%u at %u", len, at);
			cksum_of(p + at, 2030 + len, field);
			cksum_reference(p + at, 2030 + len, want);
			KUNIT_EXPECT_MEMEQ_MSG(test, field, want, 4, "%u at %u", 2030 + len, at);
		}
	}
}

/*
 * R-3.2.5-08: a direct_checksum that went through the codec has the same bytes
 * in both orders, and is recognized when it comes back.
 */
static void cksum_through_codec(struct kunit *test)
{
	static const u8 want[4] = { 0x53, 0x59, 0x2b, 0x2e };
	u8 *msg = kunit_kzalloc(test, DAFS_HDR_SIZE + 4, GFP_KERNEL);
	struct dafs_buf buf = { msg, DAFS_HDR_SIZE + 4 };
	struct dafs_cksum_state state;
	struct dafs_direct_res res, back;
	int swab;

	KUNIT_ASSERT_NOT_NULL(test, msg);
	dafs_cksum_init(&state);
	dafs_cksum_update(&state, "abcdef", 6);
	for (swab = 0; swab < 2; swab++) {
		buf.swab = swab;
		dafs_cksum_final_host(&state, swab, &res.direct_checksum);
		KUNIT_ASSERT_EQ(test, dafs_encode_res(&buf, DAFS_PROC_GETATTR_DIRECT, &res),
				buf.len);
		KUNIT_EXPECT_MEMEQ(test, msg + DAFS_HDR_SIZE, want, 4);
		KUNIT_ASSERT_EQ(test, dafs_decode_res(&buf, DAFS_PROC_GETATTR_DIRECT, &back), 0);
		KUNIT_EXPECT_TRUE(test, dafs_cksum_equal(&res.direct_checksum,
							 &back.direct_checksum));
		back.direct_checksum.s1 ^= 1;
		KUNIT_EXPECT_FALSE(test, dafs_cksum_equal(&res.direct_checksum,
							  &back.direct_checksum));
	}
}

/* a message shorter than a header has no checksum */
static void cksum_short_messages(struct kunit *test)
{
	u8 msg[DAFS_HDR_SIZE] = {};

	dafs_msg_cksum(msg, DAFS_HDR_SIZE - 1);
	KUNIT_EXPECT_NULL(test, memchr_inv(msg, 0, sizeof(msg)));
	KUNIT_EXPECT_FALSE(test, dafs_msg_cksum_ok(msg, 0));
	KUNIT_EXPECT_FALSE(test, dafs_msg_cksum_ok(msg, DAFS_HDR_SIZE - 1));
	dafs_msg_cksum(msg, DAFS_HDR_SIZE);
	KUNIT_EXPECT_TRUE(test, dafs_msg_cksum_ok(msg, DAFS_HDR_SIZE));
}

static struct kunit_case cksum_cases[] = {
	KUNIT_CASE(cksum_short_vectors),
	KUNIT_CASE(cksum_long_vectors),
	KUNIT_CASE(cksum_odd_length),
	KUNIT_CASE(cksum_segments),
	KUNIT_CASE(cksum_lengths),
	KUNIT_CASE(cksum_through_codec),
	KUNIT_CASE(cksum_short_messages),
	{}
};

static struct kunit_suite cksum_suite = {
	.name = "dafs_cksum",
	.test_cases = cksum_cases,
};

kunit_test_suite(cksum_suite);
