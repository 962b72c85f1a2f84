// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: the codec of the kernel modules with arbitrary input.
 *
 * An input begins with three bytes that describe the rest:
 *
 *	bit 0: little-endian; from bit 1: enum dafs_vector_kind
 *	procedure, less 100
 *	parameter of the decoder: inline_write_header_size / 8, or the auth_type
 *	of SERVER_AUTH
 *
 * Requests and responses follow without their 40-byte header.  A decoded
 * message is read with every accessor, encoded into a buffer of exact size, and
 * must then decode and encode to the same bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <linux/errno.h>
#include <linux/string.h>
#include <linux/dafs/cksum.h>
#include <linux/dafs/codec.h>
#include "rehost.h"

#define SELECT		3
#define ARENA_SIZE	(4 * 1024 * 1024)
#define OUT_SIZE	(1024 * 1024)

static u64 arena_memory[ARENA_SIZE / 8];
static u8 out_memory[OUT_SIZE];

#define MUST(cond)								\
do {										\
	if (!(cond)) {								\
		fprintf(stderr, "finding: %s does not hold\n", #cond);		\
		abort();							\
	}									\
} while (0)

static struct dafs_arena new_arena(void)
{
	return (struct dafs_arena) { (u8 *)arena_memory, ARENA_SIZE, 0 };
}

static bool is_message(const struct dafs_vector *what)
{
	return what->kind == DAFS_VECTOR_ARGS || what->kind == DAFS_VECTOR_RES;
}

static void select_what(struct dafs_vector *what, const u8 *select)
{
	memset(what, 0, sizeof(*what));
	what->kind = (select[0] >> 1) % (DAFS_VECTOR_LINK + 1);
	what->proc = DAFS_PROC_FIRST + select[1];
	if (what->kind == DAFS_VECTOR_RES)
		what->host.res.server_auth.auth_type = select[2];
	else if (what->proc == DAFS_PROC_WRITE_INLINE)
		what->host.args.write_inline.inline_header = select[2] * 8;
	else if (what->proc == DAFS_PROC_APPEND_INLINE)
		what->host.args.append_inline.inline_header = select[2] * 8;
}

/* the bytes of the input in a buffer of exact size */
static struct dafs_buf make_buf(const struct dafs_vector *what, const u8 *data, size_t size,
				bool little)
{
	u32 head = is_message(what) ? DAFS_HDR_SIZE : 0;
	struct dafs_buf buf = {
		.base = malloc(head + size),
		.len = head + size,
		.swab = little == (*(const u8 *)&(const u16){ 1 } == 0),
	};

	MUST(buf.base);
	memset(buf.base, 0, head);
	memcpy(buf.base + head, data, size);
	return buf;
}

/* encode @host again, into a buffer of exact size and into one byte less */
static struct dafs_buf encode_exactly(const struct dafs_vector *what,
				      union dafs_vector_host *host, bool swab)
{
	struct dafs_buf buf = { out_memory, OUT_SIZE, swab };
	int len = dafs_vector_encode(&buf, what, host);

	MUST(len >= 0);
	buf.len = len - 1;
	buf.base = malloc(len);
	MUST(buf.base);
	MUST(dafs_vector_encode(&buf, what, host) == -EMSGSIZE);
	buf.len = len;
	memset(buf.base, 0, len);
	MUST(dafs_vector_encode(&buf, what, host) == len);
	return buf;
}

/* the used part of a direct metadata buffer decodes to the same */
static void check_direct_len(const struct dafs_vector *what, const struct dafs_buf *buf)
{
	struct dafs_buf used = *buf;
	union dafs_vector_host host;
	int len;

	if (is_message(what))
		return;
	len = dafs_direct_len(buf, what->kind == DAFS_VECTOR_FATTR ? DAFS_PROC_GETATTR_DIRECT :
			      what->kind == DAFS_VECTOR_LINK ? DAFS_PROC_READLINK_DIRECT :
			      DAFS_PROC_READDIR_DIRECT);
	MUST(len > 0 && (u32)len <= buf->len);
	used.len = len;
	MUST(dafs_vector_decode(&used, what, &host) == 0);
}

static void check_codec(const struct dafs_vector *what, const struct dafs_buf *in)
{
	struct dafs_arena arena = new_arena();
	union dafs_vector_host host;
	struct dafs_buf first, second;
	int err = dafs_vector_decode(in, what, &host);

	MUST(err == 0 || err == -EBADMSG || err == -EINVAL ||
	     (err == -EOPNOTSUPP && !strcmp(dafs_proc_name(what->proc), "unknown")));
	if (err)
		return;
	check_direct_len(what, in);
	MUST(dafs_rehost(in, what, &host, &arena) == 0);
	first = encode_exactly(what, &host, in->swab);
	/* overlapping items are encoded several times, but limited by DAFS_DECODE_WORK */
	MUST(first.len <= 16 * in->len + 1024);
	MUST(dafs_vector_decode(&first, what, &host) == 0);
	arena = new_arena();
	MUST(dafs_rehost(&first, what, &host, &arena) == 0);
	second = encode_exactly(what, &host, in->swab);
	MUST(first.len == second.len && !memcmp(first.base, second.base, first.len));
	free(first.base);
	free(second.base);
}

static void check_headers(const struct dafs_buf *buf)
{
	struct dafs_req_hdr req;
	struct dafs_res_hdr res;
	bool swab;

	dafs_probe_order(buf->base, buf->len, DAFS_REQUEST_MAGIC, &swab);
	if (!dafs_get_req_hdr(buf, &req))
		MUST(req.len >= DAFS_HDR_SIZE && req.len <= buf->len);
	if (!dafs_get_res_hdr(buf, &res))
		MUST(res.len >= DAFS_HDR_SIZE && res.len <= buf->len);
}

static void check_cksum(const struct dafs_buf *buf, u32 split)
{
	struct dafs_cksum_state state;
	struct dafs_cksum whole, parts;

	split = buf->len ? split % buf->len : 0;
	dafs_cksum_init(&state);
	dafs_cksum_update(&state, buf->base, buf->len);
	dafs_cksum_final_host(&state, false, &whole);
	dafs_cksum_init(&state);
	dafs_cksum_update(&state, buf->base, split);
	dafs_cksum_update(&state, buf->base + split, buf->len - split);
	dafs_cksum_final_host(&state, false, &parts);
	MUST(!memcmp(&whole, &parts, sizeof(whole)));
	dafs_msg_cksum(buf->base, buf->len);
	MUST(buf->len < DAFS_HDR_SIZE || dafs_msg_cksum_ok(buf->base, buf->len));
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct dafs_vector what;
	struct dafs_buf buf;

	if (size < SELECT)
		return 0;
	select_what(&what, data);
	buf = make_buf(&what, data + SELECT, size - SELECT, data[0] & 1);
	check_codec(&what, &buf);
	free(buf.base);

	what.kind = DAFS_VECTOR_LINK;
	buf = make_buf(&what, data + SELECT, size - SELECT, data[0] & 1);
	check_headers(&buf);
	check_cksum(&buf, data[1] * 7 + data[2]);
	free(buf.base);
	return 0;
}
