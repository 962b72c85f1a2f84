// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the codec: byte vectors made by an independent encoder, and
 * truncated, mutated and malicious messages.
 */
#include <kunit/test.h>
#include <linux/hex.h>
#include <linux/prandom.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <linux/dafs/cksum.h>
#include <linux/dafs/codec.h>
#include "rehost.h"
#include "vector.h"
#include "vectors.h"

#define ARENA_SIZE	SZ_1M
#define OUT_SIZE	SZ_64K
#define MUTATIONS	2000		/* of each vector in each order */

/**
 * struct codec_test - common data of all cases
 * @arena: for elements of arrays
 * @out: OUT_SIZE bytes to encode into
 * @again: OUT_SIZE bytes for a second encoding
 */
struct codec_test {
	struct dafs_arena arena;
	u8 *out;
	u8 *again;
};

static void codec_free(void *p)
{
	vfree(p);
}

static void *codec_alloc(struct kunit *test, size_t size)
{
	void *p = vmalloc(size);

	KUNIT_ASSERT_NOT_NULL(test, p);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, codec_free, p), 0);
	return p;
}

static int codec_init(struct kunit *test)
{
	struct codec_test *ct = kunit_kzalloc(test, sizeof(*ct), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ct);
	ct->arena.base = codec_alloc(test, ARENA_SIZE);
	ct->arena.size = ARENA_SIZE;
	ct->out = codec_alloc(test, OUT_SIZE);
	ct->again = codec_alloc(test, OUT_SIZE);
	test->priv = ct;
	return 0;
}

/* ---- vectors ---- */

/**
 * struct wire - the bytes of a vector in one order
 * @buf: buffer of exactly these bytes, so that KASAN reports any access beyond
 * @want: the same bytes, not modified
 * @len: bytes
 * @cksum: the checksum field
 */
struct wire {
	struct dafs_buf buf;
	u8 *want;
	u32 len;
	const u8 *cksum;
};

static bool host_is_big(void)
{
	return *(const u8 *)&(const u16){ 1 } == 0;
}

static void wire_get(struct kunit *test, const struct dafs_vector *v, bool big, struct wire *w)
{
	const char *hex = big ? v->big : v->little;

	w->len = strlen(hex) / 2;
	w->want = kunit_kmalloc(test, w->len, GFP_KERNEL);
	w->buf.base = kunit_kmalloc(test, w->len, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, w->want);
	KUNIT_ASSERT_NOT_NULL(test, w->buf.base);
	KUNIT_ASSERT_EQ(test, hex2bin(w->want, hex, w->len), 0);
	memcpy(w->buf.base, w->want, w->len);
	w->buf.len = w->len;
	w->buf.swab = big != host_is_big();
	w->cksum = big ? v->big_cksum : v->little_cksum;
}

static void wire_put(struct kunit *test, struct wire *w)
{
	kunit_kfree(test, w->want);
	kunit_kfree(test, w->buf.base);
}

static void vector_header(const struct dafs_buf *buf, const struct dafs_vector *v, u32 len)
{
	struct dafs_req_hdr req = {
		.desired_nreq = DAFS_VECTOR_NREQ,
		.stream_id = DAFS_VECTOR_STREAM,
		.seq_number = DAFS_VECTOR_SEQ,
		.analyzer = DAFS_VECTOR_ANALYZER,
		.cred_handle = DAFS_VECTOR_CRED,
		.version = DAFS_PROTOCOL_VERSION,
		.procedure = v->proc,
		.len = len,
	};
	struct dafs_res_hdr res = {
		.target_nreq = DAFS_VECTOR_NREQ,
		.stream_id = DAFS_VECTOR_STREAM,
		.seq_number = DAFS_VECTOR_SEQ,
		.analyzer = DAFS_VECTOR_ANALYZER,
		.version = DAFS_PROTOCOL_VERSION,
		.len = len,
	};

	if (v->kind == DAFS_VECTOR_ARGS)
		dafs_put_req_hdr(buf, &req);
	else if (v->kind == DAFS_VECTOR_RES)
		dafs_put_res_hdr(buf, &res);
}

static void expect_bytes(struct kunit *test, const struct dafs_vector *v, const struct wire *w,
			 const u8 *got, int len)
{
	KUNIT_EXPECT_EQ_MSG(test, len, w->len, "%s", v->name);
	if (len == w->len)
		KUNIT_EXPECT_MEMEQ_MSG(test, got, w->want, w->len, "%s, swab %d", v->name,
				       w->buf.swab);
}

static void vector_encode(struct kunit *test, const struct dafs_vector *v, const struct wire *w)
{
	struct codec_test *ct = test->priv;
	struct dafs_buf buf = { ct->out, OUT_SIZE, w->buf.swab };
	union dafs_vector_host host = v->host;
	int len;

	memset(ct->out, 0xa5, OUT_SIZE);
	len = dafs_vector_encode(&buf, v, &host);
	vector_header(&buf, v, len);
	expect_bytes(test, v, w, ct->out, len);
}

static void vector_recode(struct kunit *test, const struct dafs_vector *v, const struct wire *w)
{
	struct codec_test *ct = test->priv;
	struct dafs_buf buf = { ct->out, OUT_SIZE, w->buf.swab };
	union dafs_vector_host host;
	int len;

	KUNIT_EXPECT_EQ_MSG(test, dafs_vector_decode(&w->buf, v, &host), 0, "%s", v->name);
	ct->arena.used = 0;
	KUNIT_EXPECT_EQ_MSG(test, dafs_rehost(&w->buf, v, &host, &ct->arena), 0, "%s", v->name);
	memset(ct->out, 0xa5, OUT_SIZE);
	len = dafs_vector_encode(&buf, v, &host);
	vector_header(&buf, v, len);
	expect_bytes(test, v, w, ct->out, len);
}

typedef void (*vector_fn)(struct kunit *test, const struct dafs_vector *v, const struct wire *w);

static void with_vectors(struct kunit *test, vector_fn fn)
{
	struct wire w;
	unsigned int i;
	int big;

	for (i = 0; i < ARRAY_SIZE(dafs_vectors); i++) {
		for (big = 0; big < 2; big++) {
			wire_get(test, &dafs_vectors[i], big, &w);
			fn(test, &dafs_vectors[i], &w);
			wire_put(test, &w);
		}
		cond_resched();
	}
}

/*
 * Both byte orders give the bytes of the independent encoder.
 * R-6.1.1.1-01 R-6.1.1.1-02 R-6.1.1.1-04 R-6.1.1.1-05 R-6.1.1.1-06 R-6.1.1.1-07
 * R-6.1.1.2-01 R-6.1.1.2-02 R-6.1.1.2-04 R-6.1.1.2-05
 * R-6.1.1.3.1-01 R-6.1.1.3.1-02 R-6.1.1.3.1-03 R-6.1.1.3.1-04 R-6.1.1.3.2-01
 * R-6.1.1.4-01 R-6.1.1.4-02 R-6.1.1.4-03 R-6.1.1.4-04
 * R-6.1.2-01 R-6.1.3-01 R-6.1.3-08 R-6.1.4-01 R-6.1.5-04 R-6.1.7-01 R-6.1.9-01
 */
static void codec_encodes_vectors(struct kunit *test)
{
	with_vectors(test, vector_encode);
}

/* R-6.1.1.1-01 R-6.1.1.1-04 R-6.1.1.1-07 R-6.1.1.3.2-01: the way back */
static void codec_decodes_vectors(struct kunit *test)
{
	with_vectors(test, vector_recode);
}

static void vector_cksum(struct kunit *test, const struct dafs_vector *v, const struct wire *w)
{
	const u32 at = offsetof(struct dafs_wire_req_hdr, message_checksum);

	if (v->kind != DAFS_VECTOR_ARGS && v->kind != DAFS_VECTOR_RES)
		return;
	dafs_msg_cksum(w->buf.base, w->len);
	KUNIT_EXPECT_MEMEQ_MSG(test, w->buf.base + at, w->cksum, 4, "%s", v->name);
	KUNIT_EXPECT_TRUE(test, dafs_msg_cksum_ok(w->buf.base, w->len));
	KUNIT_EXPECT_MEMEQ(test, w->buf.base, w->want, at);
	w->buf.base[w->len - 1] ^= 0x40;
	KUNIT_EXPECT_FALSE(test, dafs_msg_cksum_ok(w->buf.base, w->len));
}

/* R-3.2.5-08 R-3.2.5-12: whole messages in both orders, the field as zero */
static void codec_checksums_vectors(struct kunit *test)
{
	with_vectors(test, vector_cksum);
}

static void vector_no_room(struct kunit *test, const struct dafs_vector *v, const struct wire *w)
{
	union dafs_vector_host host = v->host;
	struct dafs_buf buf = { .swab = w->buf.swab };
	int len;

	for (buf.len = 0; buf.len < w->len; buf.len++) {
		buf.base = kmalloc(max(buf.len, 1U), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, buf.base);
		len = dafs_vector_encode(&buf, v, &host);
		kfree(buf.base);
		KUNIT_EXPECT_EQ_MSG(test, len, -EMSGSIZE, "%s in %u", v->name, buf.len);
	}
}

/* every buffer that is too small is refused, and nothing beyond it is accessed */
static void codec_wants_room(struct kunit *test)
{
	with_vectors(test, vector_no_room);
}

/*
 * If a mutated or truncated message is decoded, the result can be walked and
 * encoded, and the encoded message decodes to the same.
 */
static void expect_stable(struct kunit *test, const struct dafs_vector *v,
			  const struct dafs_buf *in)
{
	struct codec_test *ct = test->priv;
	struct dafs_buf out = { ct->out, OUT_SIZE, in->swab };
	struct dafs_buf again = { ct->again, OUT_SIZE, in->swab };
	union dafs_vector_host host;
	int err = dafs_vector_decode(in, v, &host);
	int len;

	ct->arena.used = 0;
	if (err) {
		KUNIT_EXPECT_TRUE_MSG(test, err == -EBADMSG || err == -EINVAL, "%s", v->name);
		return;
	}
	KUNIT_EXPECT_EQ_MSG(test, dafs_rehost(in, v, &host, &ct->arena), 0, "%s", v->name);
	len = dafs_vector_encode(&out, v, &host);
	KUNIT_ASSERT_GE_MSG(test, len, 0, "%s", v->name);
	out.len = len;
	KUNIT_EXPECT_EQ_MSG(test, dafs_vector_decode(&out, v, &host), 0, "%s", v->name);
	KUNIT_EXPECT_EQ_MSG(test, dafs_rehost(&out, v, &host, &ct->arena), 0, "%s", v->name);
	KUNIT_EXPECT_EQ_MSG(test, dafs_vector_encode(&again, v, &host), len, "%s", v->name);
	if (v->kind == DAFS_VECTOR_ARGS || v->kind == DAFS_VECTOR_RES) {
		memset(ct->out, 0, DAFS_HDR_SIZE);
		memset(ct->again, 0, DAFS_HDR_SIZE);
	}
	KUNIT_EXPECT_MEMEQ_MSG(test, ct->out, ct->again, len, "%s", v->name);
}

static void vector_truncate(struct kunit *test, const struct dafs_vector *v, const struct wire *w)
{
	struct dafs_buf buf = { .swab = w->buf.swab };

	for (buf.len = 0; buf.len < w->len; buf.len++) {
		buf.base = kmemdup(w->want, max(buf.len, 1U), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, buf.base);
		expect_stable(test, v, &buf);
		kfree(buf.base);
	}
}

static void codec_survives_truncation(struct kunit *test)
{
	with_vectors(test, vector_truncate);
}

static u32 mutate_value(struct rnd_state *rnd, u32 len)
{
	static const u32 odd[] = {
		0, 1, 2, 7, 8, 9, 0x7fffffff, 0x80000000, 0xfffffff0, 0xfffffff8, 0xffffffff,
	};
	u32 kind = prandom_u32_state(rnd) % 4;

	if (kind == 0)
		return odd[prandom_u32_state(rnd) % ARRAY_SIZE(odd)];
	if (kind == 1)
		return (prandom_u32_state(rnd) % len) & ~7;
	if (kind == 2)
		return prandom_u32_state(rnd) % 16;
	return len - prandom_u32_state(rnd) % 16;
}

static void mutate(struct rnd_state *rnd, const struct dafs_buf *buf)
{
	u32 turns = 1 + prandom_u32_state(rnd) % 4;
	u32 at;

	while (turns--) {
		at = prandom_u32_state(rnd) % buf->len;
		if (prandom_u32_state(rnd) % 2)
			buf->base[at] ^= 1 << prandom_u32_state(rnd) % 8;
		else if (ALIGN_DOWN(at, 4) + 4 <= buf->len)
			dafs_put32(mutate_value(rnd, buf->len), buf->base + ALIGN_DOWN(at, 4),
				   buf->swab);
	}
}

static void vector_mutate(struct kunit *test, const struct dafs_vector *v, const struct wire *w)
{
	struct rnd_state rnd;
	u32 i;

	prandom_seed_state(&rnd, 0x44414653 + w->len);
	for (i = 0; i < MUTATIONS; i++) {
		memcpy(w->buf.base, w->want, w->len);
		mutate(&rnd, &w->buf);
		expect_stable(test, v, &w->buf);
	}
}

static void codec_survives_mutation(struct kunit *test)
{
	with_vectors(test, vector_mutate);
}

/* ---- hand-built messages ---- */

/* a request of @len zero bytes, native order */
static struct dafs_buf blank(struct kunit *test, u32 len)
{
	struct dafs_buf buf = { .len = len };

	buf.base = kunit_kzalloc(test, len, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, buf.base);
	return buf;
}

/* @at: offset in the fixed section, as in the draft */
static void put(struct dafs_buf *buf, u32 at, u32 value)
{
	dafs_put32(value, buf->base + DAFS_HDR_SIZE + at, buf->swab);
}

/* LOOKUP: a filehandle, the path offset at 64, the heap from 72 */
#define LOOKUP_PATH	64
#define LOOKUP_HEAP	72

static int decode_lookup(struct kunit *test, u32 len, u32 offset, u32 count, u32 first)
{
	struct dafs_buf buf = blank(test, len);
	struct dafs_lookup_args args;

	put(&buf, LOOKUP_PATH, offset);
	if (len >= DAFS_HDR_SIZE + LOOKUP_HEAP + 4)
		put(&buf, LOOKUP_HEAP, count);
	if (len >= DAFS_HDR_SIZE + LOOKUP_HEAP + 12)
		put(&buf, LOOKUP_HEAP + 8, first);
	return dafs_decode_args(&buf, DAFS_PROC_LOOKUP, &args);
}

/* R-6.1.1.1-02: offsets inside the fixed section or beyond the message (E-11) */
static void codec_refuses_offsets(struct kunit *test)
{
	static const u32 bad[] = {
		1, 4, 8, 64, LOOKUP_HEAP + 1, LOOKUP_HEAP + 4, LOOKUP_HEAP + 16, 0x7ffffff8,
		0x80000000, 0xfffffff8, 0xffffffff, (u32)-DAFS_HDR_SIZE,
	};
	u32 len = DAFS_HDR_SIZE + LOOKUP_HEAP + 16;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		KUNIT_EXPECT_EQ_MSG(test, decode_lookup(test, len, bad[i], 1, 4), -EBADMSG,
				    "offset %#x", bad[i]);
	KUNIT_EXPECT_EQ(test, decode_lookup(test, len, LOOKUP_HEAP, 1, 4), 0);
	KUNIT_EXPECT_EQ(test, decode_lookup(test, len, 0, 0xffffffff, 4), 0);
}

/* R-6.1.1.2-01: a count larger than the message is refused */
static void codec_refuses_counts(struct kunit *test)
{
	u32 len = DAFS_HDR_SIZE + LOOKUP_HEAP + 16;

	KUNIT_EXPECT_EQ(test, decode_lookup(test, len, LOOKUP_HEAP, 2, 4), -EBADMSG);
	KUNIT_EXPECT_EQ(test, decode_lookup(test, len, LOOKUP_HEAP, 1, 5), -EBADMSG);
	KUNIT_EXPECT_EQ(test, decode_lookup(test, len, LOOKUP_HEAP, 0xffffffff, 0), -EBADMSG);
	KUNIT_EXPECT_EQ(test, decode_lookup(test, len, LOOKUP_HEAP, 1, 0xffffffff), -EBADMSG);
	KUNIT_EXPECT_EQ(test, decode_lookup(test, len, LOOKUP_HEAP, 1, 0xfffffffc), -EBADMSG);
	KUNIT_EXPECT_EQ(test, decode_lookup(test, len, LOOKUP_HEAP, 0, 0xffffffff), 0);
}

/* position of an array's count, and counts for which size * count wraps */
static void codec_refuses_array_counts(struct kunit *test)
{
	static const struct { u32 proc; bool res; u32 offset_at, heap; } arrays[] = {
		{ DAFS_PROC_READ_DIRECT, false, 88, 96 },
		{ DAFS_PROC_BATCH_SUBMIT, false, 0, 16 },
		{ DAFS_PROC_BC_BATCH_COMPLETION, false, 0, 8 },
		{ DAFS_PROC_SECINFO, true, 0, 8 },
		{ DAFS_PROC_READDIR_INLINE, true, 12, 16 },
		{ DAFS_PROC_GET_FENCING_LIST, true, 0, 8 },
	};
	static const u32 counts[] = { 1, 0x02aaaaab, 0x10000000, 0x10000001, 0xffffffff };
	union dafs_vector_host host;
	struct dafs_buf buf;
	unsigned int i, j;
	int err;

	for (i = 0; i < ARRAY_SIZE(arrays); i++) {
		buf = blank(test, DAFS_HDR_SIZE + arrays[i].heap + 8);
		put(&buf, arrays[i].offset_at, arrays[i].heap);
		for (j = 0; j < ARRAY_SIZE(counts); j++) {
			put(&buf, arrays[i].heap, counts[j]);
			if (arrays[i].res)
				err = dafs_decode_res(&buf, arrays[i].proc, &host.res);
			else
				err = dafs_decode_args(&buf, arrays[i].proc, &host.args);
			KUNIT_EXPECT_EQ_MSG(test, err, -EBADMSG, "%s, count %#x",
					    dafs_proc_name(arrays[i].proc), counts[j]);
		}
	}
}

/*
 * A batch of @requests that all name one array of @chunks.  A correct sender
 * names each byte once; a small multiple is accepted, the product is not.
 */
static int decode_batch(struct kunit *test, u32 requests, u32 chunks)
{
	u32 array = 8 + requests * 96;
	struct dafs_buf buf = blank(test, DAFS_HDR_SIZE + 16 + array + 8 + chunks * 16);
	struct dafs_batch_submit_args args;
	u32 i;

	put(&buf, 0, 16);
	put(&buf, 16, requests);
	put(&buf, 16 + array, chunks);
	for (i = 0; i < requests; i++)
		put(&buf, 16 + 8 + i * 96 + 84, array);
	return dafs_decode_args(&buf, DAFS_PROC_BATCH_SUBMIT, &args);
}

static void codec_bounds_work(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, decode_batch(test, 1, 100), 0);
	KUNIT_EXPECT_EQ(test, decode_batch(test, 2, 100), 0);
	KUNIT_EXPECT_EQ(test, decode_batch(test, 100, 600), -EBADMSG);
}

/* RENAME: oldname at 128, newname at 132, heap from 136 */
static int decode_rename(struct kunit *test, u32 old, u32 new, struct dafs_rename_args *args)
{
	struct dafs_buf buf = blank(test, DAFS_HDR_SIZE + 136 + 16);

	put(&buf, 128, old);
	put(&buf, 132, new);
	put(&buf, 136, 1);
	buf.base[DAFS_HDR_SIZE + 140] = 'a';
	put(&buf, 144, 2);
	buf.base[DAFS_HDR_SIZE + 148] = 'b';
	return dafs_decode_args(&buf, DAFS_PROC_RENAME, args);
}

/* R-6.1.1.2-03: items in any order, even overlapping (E-11) */
static void codec_takes_any_order(struct kunit *test)
{
	struct dafs_rename_args args;

	KUNIT_ASSERT_EQ(test, decode_rename(test, 144, 136, &args), 0);
	KUNIT_EXPECT_EQ(test, args.oldname.len, 2);
	KUNIT_EXPECT_EQ(test, args.oldname.data[0], 'b');
	KUNIT_EXPECT_EQ(test, args.newname.len, 1);
	KUNIT_EXPECT_EQ(test, args.newname.data[0], 'a');
	KUNIT_ASSERT_EQ(test, decode_rename(test, 136, 136, &args), 0);
	KUNIT_EXPECT_EQ(test, args.oldname.len, 1);
	KUNIT_EXPECT_EQ(test, args.newname.len, 1);
	KUNIT_ASSERT_EQ(test, decode_rename(test, 0, 0, &args), 0);
	KUNIT_EXPECT_EQ(test, args.oldname.len, 0);
}

/* a fixed section without its trailing pad, and with up to seven extra bytes (E-12) */
static void codec_takes_pads(struct kunit *test)
{
	struct dafs_buf buf = blank(test, DAFS_HDR_SIZE + 72 + 7);
	struct dafs_access_args args;

	put(&buf, 64, 0x25);
	buf.len = DAFS_HDR_SIZE + 68;
	KUNIT_EXPECT_EQ(test, dafs_decode_args(&buf, DAFS_PROC_ACCESS, &args), 0);
	KUNIT_EXPECT_EQ(test, args.access, 0x25);
	buf.len--;
	KUNIT_EXPECT_EQ(test, dafs_decode_args(&buf, DAFS_PROC_ACCESS, &args), -EBADMSG);
	buf.len = DAFS_HDR_SIZE + 72 + 7;
	KUNIT_EXPECT_EQ(test, dafs_decode_args(&buf, DAFS_PROC_ACCESS, &args), 0);
	buf.len = DAFS_HDR_SIZE + 7;
	KUNIT_EXPECT_EQ(test, dafs_decode_args(&buf, DAFS_PROC_NULL, NULL), 0);
}

/* no pad behind an attribute structure or behind the count of an empty array (E-12) */
static void codec_takes_short_items(struct kunit *test)
{
	struct dafs_buf buf = blank(test, 24);
	struct dafs_lookup_args lookup;
	struct dafs_seq entries;
	struct dafs_fattr attr;

	dafs_put64(DAFS_FATTR_MODE, buf.base, false);
	dafs_put64(DAFS_FATTR_MODE, buf.base + 8, false);
	dafs_put32(0755, buf.base + 16, false);
	buf.len = 20;
	KUNIT_EXPECT_EQ(test, dafs_decode_fattr(&buf, &attr), 0);
	KUNIT_EXPECT_EQ(test, attr.mode, 0755);
	buf.len = 19;
	KUNIT_EXPECT_EQ(test, dafs_decode_fattr(&buf, &attr), -EBADMSG);

	buf = blank(test, 4);
	KUNIT_EXPECT_EQ(test, dafs_decode_direntries(&buf, &entries), 0);
	buf.len = 3;
	KUNIT_EXPECT_EQ(test, dafs_decode_direntries(&buf, &entries), -EBADMSG);

	buf = blank(test, DAFS_HDR_SIZE + LOOKUP_HEAP + 4);
	put(&buf, LOOKUP_PATH, LOOKUP_HEAP);
	KUNIT_EXPECT_EQ(test, dafs_decode_args(&buf, DAFS_PROC_LOOKUP, &lookup), 0);
}

/* R-6.1.1.4-02: of one byte or four, any nonzero value is TRUE (E-16) */
static void codec_takes_any_truth(struct kunit *test)
{
	struct dafs_buf buf = blank(test, DAFS_HDR_SIZE + 20);
	struct dafs_client_auth_res auth;
	struct dafs_read_inline_res read;

	buf.base[DAFS_HDR_SIZE + 16] = 0x80;
	KUNIT_ASSERT_EQ(test, dafs_decode_res(&buf, DAFS_PROC_CLIENT_AUTH, &auth), 0);
	KUNIT_EXPECT_EQ(test, auth.trusted, 1);
	buf.base[DAFS_HDR_SIZE + 16] = 0;
	buf.base[DAFS_HDR_SIZE + 17] = 1;
	KUNIT_ASSERT_EQ(test, dafs_decode_res(&buf, DAFS_PROC_CLIENT_AUTH, &auth), 0);
	KUNIT_EXPECT_EQ(test, auth.trusted, 0);
	put(&buf, 0, 0x100);
	KUNIT_ASSERT_EQ(test, dafs_decode_res(&buf, DAFS_PROC_READ_INLINE, &read), 0);
	KUNIT_EXPECT_EQ(test, read.eof, 1);
	read = (struct dafs_read_inline_res) { .eof = 0xff00 };
	KUNIT_ASSERT_GT(test, dafs_encode_res(&buf, DAFS_PROC_READ_INLINE, &read), 0);
	KUNIT_EXPECT_EQ(test, dafs_get32(buf.base + DAFS_HDR_SIZE, false), 1);
}

static bool proc_known(u32 proc)
{
	return strcmp(dafs_proc_name(proc), "unknown");
}

/* a response without its results reads as zeros (E-13, E-14) */
static void codec_takes_bare_responses(struct kunit *test)
{
	struct dafs_buf buf = blank(test, DAFS_HDR_SIZE);
	union dafs_res res;
	u32 proc;

	for (proc = DAFS_PROC_FIRST; proc <= DAFS_PROC_LAST; proc++) {
		if (!proc_known(proc))
			continue;
		memset(&res, 0xa5, sizeof(res));
		KUNIT_EXPECT_EQ(test, dafs_decode_res(&buf, proc, &res), 0);
	}
	memset(&res, 0xa5, sizeof(res));
	KUNIT_EXPECT_EQ(test, dafs_decode_res(&buf, DAFS_PROC_LOCK, &res), 0);
	KUNIT_EXPECT_NULL(test, memchr_inv(&res, 0, sizeof(res.lock)));
	KUNIT_EXPECT_EQ(test, dafs_decode_res(&buf, DAFS_PROC_NULL, NULL), 0);
	buf.len--;
	KUNIT_EXPECT_EQ(test, dafs_decode_res(&buf, DAFS_PROC_LOCK, &res), -EBADMSG);
}

/* E-20: unknown attributes have unknown sizes, so they are refused */
static void codec_refuses_unknown_attributes(struct kunit *test)
{
	struct dafs_buf buf = blank(test, 64);
	struct dafs_fattr attr;
	int bit;

	for (bit = 0; bit < 64; bit++) {
		dafs_put64(1ULL << bit, buf.base, false);
		KUNIT_EXPECT_EQ_MSG(test, dafs_decode_fattr(&buf, &attr),
				    bit >= 25 ? -EINVAL : bit == 20 ? -EBADMSG : 0, "bit %d", bit);
	}
	buf = blank(test, 80);
	dafs_put64(DAFS_FATTR_FILEHANDLE, buf.base, false);
	KUNIT_EXPECT_EQ(test, dafs_decode_fattr(&buf, &attr), 0);
}

/* E-21: file system attribute 31 is not assigned */
static void codec_refuses_fsattr_31(struct kunit *test)
{
	struct dafs_buf buf = blank(test, DAFS_HDR_SIZE + 8 + 16 + 8);
	struct dafs_get_fsattr_res res;

	put(&buf, 0, 8);
	dafs_put64(1ULL << 29, buf.base + DAFS_HDR_SIZE + 8, false);
	KUNIT_EXPECT_EQ(test, dafs_decode_res(&buf, DAFS_PROC_GET_FSATTR, &res), 0);
	dafs_put64(1ULL << 30, buf.base + DAFS_HDR_SIZE + 8, false);
	KUNIT_EXPECT_EQ(test, dafs_decode_res(&buf, DAFS_PROC_GET_FSATTR, &res), -EINVAL);
	dafs_put64(1ULL << 34, buf.base + DAFS_HDR_SIZE + 8, false);
	KUNIT_EXPECT_EQ(test, dafs_decode_res(&buf, DAFS_PROC_GET_FSATTR, &res), -EINVAL);
}

/* R-6.1.10-01: 57 procedures, and no more */
static void codec_knows_procedures(struct kunit *test)
{
	static const u32 bad[] = { 0, 99, 107, 120, 121, 154, 161, 0x80000064, 0xffffffff };
	struct dafs_buf buf = blank(test, 512);
	union dafs_vector_host host = {};
	unsigned int i, known = 0;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		KUNIT_EXPECT_STREQ(test, dafs_proc_name(bad[i]), "unknown");
		KUNIT_EXPECT_EQ(test, dafs_decode_args(&buf, bad[i], &host.args), -EOPNOTSUPP);
		KUNIT_EXPECT_EQ(test, dafs_decode_res(&buf, bad[i], &host.res), -EOPNOTSUPP);
		KUNIT_EXPECT_EQ(test, dafs_encode_args(&buf, bad[i], &host.args), -EOPNOTSUPP);
		KUNIT_EXPECT_EQ(test, dafs_encode_res(&buf, bad[i], &host.res), -EOPNOTSUPP);
	}
	for (i = 0; i < 1000; i++)
		known += proc_known(i);
	KUNIT_EXPECT_EQ(test, known, 57);
	KUNIT_EXPECT_STREQ(test, dafs_proc_name(DAFS_PROC_HURRY_UP), "HURRY_UP");
}

static void vector_get_header(struct kunit *test, const struct dafs_vector *v,
			      const struct wire *w)
{
	static const u8 analyzer[8] = DAFS_VECTOR_ANALYZER;
	struct dafs_req_hdr req;
	struct dafs_res_hdr res;

	if (v->kind == DAFS_VECTOR_ARGS) {
		KUNIT_ASSERT_EQ_MSG(test, dafs_get_req_hdr(&w->buf, &req), 0, "%s", v->name);
		KUNIT_EXPECT_EQ(test, req.procedure, v->proc);
		KUNIT_EXPECT_EQ(test, req.len, w->len);
		KUNIT_EXPECT_EQ(test, req.stream_id, DAFS_VECTOR_STREAM);
		KUNIT_EXPECT_MEMEQ(test, req.analyzer, analyzer, 8);
		KUNIT_EXPECT_EQ(test, dafs_get_res_hdr(&w->buf, &res), -EBADMSG);
	} else if (v->kind == DAFS_VECTOR_RES) {
		KUNIT_ASSERT_EQ_MSG(test, dafs_get_res_hdr(&w->buf, &res), 0, "%s", v->name);
		KUNIT_EXPECT_TRUE(test, res.status == DAFS_STATUS_OK);
		KUNIT_EXPECT_EQ(test, res.len, w->len);
		KUNIT_EXPECT_EQ(test, res.seq_number, DAFS_VECTOR_SEQ);
		KUNIT_EXPECT_MEMEQ(test, res.analyzer, analyzer, 8);
		KUNIT_EXPECT_EQ(test, dafs_get_req_hdr(&w->buf, &req), -EBADMSG);
	}
}

/* R-6.1.2-01 R-6.1.2-09 R-6.1.3-01 R-6.1.3-07 */
static void codec_reads_headers(struct kunit *test)
{
	with_vectors(test, vector_get_header);
}

#define REQ_LEN		offsetof(struct dafs_wire_req_hdr, request_len)

/* E-12: too short, too long, cut off, in the other order */
static void codec_refuses_headers(struct kunit *test)
{
	static const u32 bad[] = { 0, 39, 49, 0xffffffff };
	struct dafs_buf buf = blank(test, 48);
	struct dafs_req_hdr hdr = { .procedure = DAFS_PROC_NULL, .len = 48 };
	unsigned int i;

	dafs_put_req_hdr(&buf, &hdr);
	KUNIT_EXPECT_EQ(test, dafs_get_req_hdr(&buf, &hdr), 0);
	buf.swab = true;
	KUNIT_EXPECT_EQ(test, dafs_get_req_hdr(&buf, &hdr), -EBADMSG);
	buf.swab = false;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		dafs_put32(bad[i], buf.base + REQ_LEN, false);
		KUNIT_EXPECT_EQ(test, dafs_get_req_hdr(&buf, &hdr), -EBADMSG);
	}
	dafs_put32(40, buf.base + REQ_LEN, false);
	for (buf.len = 0; buf.len < DAFS_HDR_SIZE; buf.len++)
		KUNIT_EXPECT_EQ(test, dafs_get_req_hdr(&buf, &hdr), -EBADMSG);
}

/* R-6.1.2-01: 44 41 46 53 or 53 46 41 44 */
static void codec_probes_order(struct kunit *test)
{
	static const u8 big[] = "DAFS", little[] = "SFAD", res[] = "DAFR";
	bool swab;

	KUNIT_ASSERT_EQ(test, dafs_probe_order(big, 4, DAFS_REQUEST_MAGIC, &swab), 0);
	KUNIT_EXPECT_EQ(test, swab, !host_is_big());
	KUNIT_ASSERT_EQ(test, dafs_probe_order(little, 4, DAFS_REQUEST_MAGIC, &swab), 0);
	KUNIT_EXPECT_EQ(test, swab, host_is_big());
	KUNIT_EXPECT_EQ(test, dafs_probe_order(res, 4, DAFS_REQUEST_MAGIC, &swab), -EBADMSG);
	KUNIT_EXPECT_EQ(test, dafs_probe_order(big, 3, DAFS_REQUEST_MAGIC, &swab), -EBADMSG);
	KUNIT_EXPECT_EQ(test, dafs_probe_order(res, 4, DAFS_RESPONSE_MAGIC, &swab), 0);
}

static void vector_direct_len(struct kunit *test, const struct dafs_vector *v,
			      const struct wire *w)
{
	struct dafs_buf buf = blank(test, w->len + 100);

	if (v->kind == DAFS_VECTOR_ARGS || v->kind == DAFS_VECTOR_RES)
		return;
	buf.swab = w->buf.swab;
	memset(buf.base, 0xff, buf.len);
	memcpy(buf.base, w->want, w->len);
	KUNIT_EXPECT_EQ_MSG(test, dafs_direct_len(&buf, v->proc), w->len, "%s", v->name);
	KUNIT_EXPECT_EQ_MSG(test, dafs_direct_len(&w->buf, v->proc), w->len, "%s", v->name);
}

/* E-23: the length is derived from the contents */
static void codec_measures_direct_buffers(struct kunit *test)
{
	struct dafs_buf buf = blank(test, 64);

	with_vectors(test, vector_direct_len);
	KUNIT_EXPECT_EQ(test, dafs_direct_len(&buf, DAFS_PROC_READ_DIRECT), -EOPNOTSUPP);
}

static void vector_size(struct kunit *test, const struct dafs_vector *v, const struct wire *w)
{
	const struct dafs_direntry *entry = v->host.entries.elems;
	u32 i, size = 8;

	if (v->kind == DAFS_VECTOR_FATTR)
		KUNIT_EXPECT_EQ_MSG(test, dafs_fattr_size(&v->host.fattr), ALIGN(w->len, 8), "%s",
				    v->name);
	if (v->kind != DAFS_VECTOR_DIRENTRIES)
		return;
	for (i = 0; i < v->host.entries.count; i++)
		size += dafs_direntry_size(&entry[i]);
	KUNIT_EXPECT_EQ_MSG(test, size, ALIGN(w->len, 8), "%s", v->name);
}

/* the predicted sizes are those of the encoded attributes and entries */
static void codec_predicts_sizes(struct kunit *test)
{
	with_vectors(test, vector_size);
}

/* accessors check the index and the bounds of the array */
static void codec_refuses_elements(struct kunit *test)
{
	struct dafs_buf buf = blank(test, 64);
	struct dafs_seq seq = { .count = 3, .scope = 8 };
	struct dafs_direct_buf direct;

	KUNIT_EXPECT_EQ(test, dafs_get_direct_buf(&buf, &seq, 2, &direct), 0);
	KUNIT_EXPECT_EQ(test, dafs_get_direct_buf(&buf, &seq, 3, &direct), -ERANGE);
	seq.scope = 16;
	KUNIT_EXPECT_EQ(test, dafs_get_direct_buf(&buf, &seq, 0, &direct), -EBADMSG);
	seq.scope = 0xfffffff8;
	KUNIT_EXPECT_EQ(test, dafs_get_direct_buf(&buf, &seq, 0, &direct), -EBADMSG);
	seq.scope = 0;
	seq.count = 0x10000001;
	KUNIT_EXPECT_EQ(test, dafs_get_direct_buf(&buf, &seq, 0, &direct), -EBADMSG);
}

/* Entries that share one name of @len bytes; entry @bad has other offsets */
static int direntries_good(struct kunit *test, u32 nr, u32 len, u32 bad, u32 attrs, u32 name)
{
	struct dafs_buf buf = blank(test, 8 + nr * 16 + 24 + len);
	u32 heap = 8 + nr * 16, i;
	struct dafs_direntry_iter iter;
	struct dafs_direntry entry;
	struct dafs_seq entries;
	int good = 0, got;

	dafs_put32(nr, buf.base, false);
	dafs_put32(len, buf.base + heap + 16, false);
	for (i = 0; i < nr; i++) {
		dafs_put64(3 + i, buf.base + 8 + 16 * i, false);
		dafs_put32(i == bad ? attrs : heap, buf.base + 16 + 16 * i, false);
		dafs_put32(i == bad ? name : heap + 16, buf.base + 20 + 16 * i, false);
	}
	KUNIT_ASSERT_EQ(test, 0, dafs_decode_direntries(&buf, &entries));
	dafs_direntry_start(&buf, &entries, &iter);
	while ((got = dafs_direntry_next(&buf, &iter, &entry)) > 0) {
		KUNIT_EXPECT_EQ(test, 3 + good, entry.cookie);
		good++;
	}
	/* also after an error there are no more entries */
	KUNIT_EXPECT_EQ(test, 0, dafs_direntry_next(&buf, &iter, &entry));
	if (got < 0)
		KUNIT_EXPECT_EQ(test, got, dafs_direct_len(&buf, DAFS_PROC_READDIR_DIRECT));
	return got ?: good;
}

/*
 * R-6.1.1.2-01: an entry is checked when it is read.  A malformed entry is not
 * returned, nor is any entry behind it.
 */
static void codec_refuses_direntries(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, 0, direntries_good(test, 0, 0, 0, 0, 0));
	KUNIT_EXPECT_EQ(test, 3, direntries_good(test, 3, 9, 3, 0, 0));
	KUNIT_EXPECT_EQ(test, 3, direntries_good(test, 3, 9, 1, 0, 0));
	KUNIT_EXPECT_EQ(test, -EBADMSG, direntries_good(test, 3, 0, 1, 60, 0));
	KUNIT_EXPECT_EQ(test, -EBADMSG, direntries_good(test, 3, 0, 1, 48, 0));
	KUNIT_EXPECT_EQ(test, -EBADMSG, direntries_good(test, 3, 0, 1, 80, 0));
	KUNIT_EXPECT_EQ(test, -EBADMSG, direntries_good(test, 3, 0, 1, 0, 0xfffffff8));
	KUNIT_EXPECT_EQ(test, -EBADMSG, direntries_good(test, 3, 0, 2, 56, 80));
	/* too many entries share one name */
	KUNIT_EXPECT_EQ(test, -EBADMSG, direntries_good(test, 60, 1000, 60, 0, 0));
}

/* E-18: position of padded data, and how much may follow it */
static void codec_refuses_padded_writes(struct kunit *test)
{
	struct dafs_buf buf = blank(test, 256 + 16);
	struct dafs_write_inline_args args = { .inline_header = 256 };

	put(&buf, 80, 9);
	put(&buf, 88, 1);
	KUNIT_EXPECT_EQ(test, dafs_decode_args(&buf, DAFS_PROC_WRITE_INLINE, &args), 0);
	KUNIT_EXPECT_PTR_EQ(test, args.data, buf.base + 256);
	KUNIT_EXPECT_EQ(test, args.inline_header, 256);
	put(&buf, 80, 8);
	KUNIT_EXPECT_EQ(test, dafs_decode_args(&buf, DAFS_PROC_WRITE_INLINE, &args), -EBADMSG);
	put(&buf, 80, 17);
	KUNIT_EXPECT_EQ(test, dafs_decode_args(&buf, DAFS_PROC_WRITE_INLINE, &args), -EBADMSG);
	put(&buf, 80, 0xffffffff);
	KUNIT_EXPECT_EQ(test, dafs_decode_args(&buf, DAFS_PROC_WRITE_INLINE, &args), -EBADMSG);
	put(&buf, 80, 9);
	args.inline_header = 0;
	KUNIT_EXPECT_EQ(test, dafs_decode_args(&buf, DAFS_PROC_WRITE_INLINE, &args), -EBADMSG);
	args.inline_header = 128;
	KUNIT_EXPECT_EQ(test, dafs_decode_args(&buf, DAFS_PROC_WRITE_INLINE, &args), -EBADMSG);
	/* ends with the message, but begins inside the arguments */
	put(&buf, 80, 256 + 16 - 64);
	args.inline_header = 64;
	KUNIT_EXPECT_EQ(test, dafs_decode_args(&buf, DAFS_PROC_WRITE_INLINE, &args), -EBADMSG);
}

/* READ_INLINE data that the caller puts into the message itself */
static void codec_leaves_room(struct kunit *test)
{
	struct dafs_buf buf = blank(test, DAFS_READ_INLINE_DATA + 5);
	struct dafs_read_inline_res res = { .bytes_read = 5 };

	memcpy(buf.base + DAFS_READ_INLINE_DATA, "bytes", 5);
	KUNIT_EXPECT_EQ(test, dafs_encode_res(&buf, DAFS_PROC_READ_INLINE, &res), buf.len);
	KUNIT_ASSERT_EQ(test, dafs_decode_res(&buf, DAFS_PROC_READ_INLINE, &res), 0);
	KUNIT_EXPECT_MEMEQ(test, res.read_data, "bytes", 5);
	res.read_data = NULL;
	res.bytes_read = 6;
	KUNIT_EXPECT_EQ(test, dafs_encode_res(&buf, DAFS_PROC_READ_INLINE, &res), -EMSGSIZE);
}

static struct kunit_case codec_cases[] = {
	KUNIT_CASE(codec_encodes_vectors),
	KUNIT_CASE(codec_decodes_vectors),
	KUNIT_CASE(codec_checksums_vectors),
	KUNIT_CASE(codec_wants_room),
	KUNIT_CASE(codec_survives_truncation),
	KUNIT_CASE_SLOW(codec_survives_mutation),
	KUNIT_CASE(codec_refuses_offsets),
	KUNIT_CASE(codec_refuses_counts),
	KUNIT_CASE(codec_refuses_array_counts),
	KUNIT_CASE(codec_bounds_work),
	KUNIT_CASE(codec_takes_any_order),
	KUNIT_CASE(codec_takes_pads),
	KUNIT_CASE(codec_takes_short_items),
	KUNIT_CASE(codec_takes_any_truth),
	KUNIT_CASE(codec_takes_bare_responses),
	KUNIT_CASE(codec_refuses_unknown_attributes),
	KUNIT_CASE(codec_refuses_fsattr_31),
	KUNIT_CASE(codec_knows_procedures),
	KUNIT_CASE(codec_reads_headers),
	KUNIT_CASE(codec_refuses_headers),
	KUNIT_CASE(codec_probes_order),
	KUNIT_CASE(codec_measures_direct_buffers),
	KUNIT_CASE(codec_predicts_sizes),
	KUNIT_CASE(codec_refuses_elements),
	KUNIT_CASE(codec_refuses_direntries),
	KUNIT_CASE(codec_refuses_padded_writes),
	KUNIT_CASE(codec_leaves_room),
	{}
};

static struct kunit_suite codec_suite = {
	.name = "dafs_codec",
	.init = codec_init,
	.test_cases = codec_cases,
};

kunit_test_suite(codec_suite);
