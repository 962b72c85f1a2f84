// SPDX-License-Identifier: GPL-2.0
/* The headers of requests (6.1.2) and responses (6.1.3). */
#include "cursor.h"

/**
 * dafs_probe_order() - find out the byte order of a session (E-01)
 * @msg: first bytes of the first message received
 * @len: number of bytes received
 * @magic: DAFS_REQUEST_MAGIC or DAFS_RESPONSE_MAGIC
 * @swab: set to true if the sender's order is not this machine's
 *
 * Return: 0, or -EBADMSG if no DAFS message begins like this.
 */
int dafs_probe_order(const void *msg, u32 len, u32 magic, bool *swab)
{
	u32 seen;

	if (len < sizeof(seen))
		return -EBADMSG;
	seen = dafs_get32(msg, false);
	if (seen != magic && seen != swab32(magic))
		return -EBADMSG;
	*swab = seen != magic;
	return 0;
}

static void dafs_x_req_hdr(struct dafs_xdr *x, struct dafs_req_hdr *hdr, u32 *magic)
{
	struct dafs_cksum none = {};

	dafs_x_u32(x, magic);
	dafs_x_u32(x, &hdr->version);
	dafs_x_u16(x, &hdr->desired_nreq);
	dafs_x_u16(x, &hdr->chain_flags);
	dafs_x_u16(x, &hdr->stream_id);
	dafs_x_u16(x, &hdr->seq_number);
	dafs_x_opaque(x, hdr->analyzer, 8, sizeof(hdr->analyzer));
	dafs_x_cksum(x, &none);
	dafs_x_opaque32(x, hdr->cred_handle);
	dafs_x_u32(x, &hdr->procedure);
	dafs_x_u32(x, &hdr->len);
}

static void dafs_x_res_hdr(struct dafs_xdr *x, struct dafs_res_hdr *hdr, u32 *magic)
{
	struct dafs_cksum none = {};
	u32 reserved = 0;

	dafs_x_u32(x, magic);
	dafs_x_u32(x, &hdr->version);
	dafs_x_u16(x, &hdr->target_nreq);
	dafs_x_u16(x, &hdr->spec_cond);
	dafs_x_u16(x, &hdr->stream_id);
	dafs_x_u16(x, &hdr->seq_number);
	dafs_x_opaque(x, hdr->analyzer, 8, sizeof(hdr->analyzer));
	dafs_x_cksum(x, &none);
	dafs_x_status(x, &hdr->status);
	dafs_x_u32(x, &hdr->len);
	dafs_x_u32(x, &reserved);
}

/* also checks the fields of a header that was decoded without error */
static int dafs_check_hdr(const struct dafs_xdr *x, u32 magic, u32 want, u32 len)
{
	if (x->err)
		return x->err;
	if (magic != want || len < DAFS_HDR_SIZE || len > x->lim)
		return -EBADMSG;
	return 0;
}

/**
 * dafs_put_req_hdr() - write a request header, checksum zero (6.1.2)
 * @buf: buffer of at least DAFS_HDR_SIZE bytes
 * @hdr: the header
 */
void dafs_put_req_hdr(const struct dafs_buf *buf, const struct dafs_req_hdr *hdr)
{
	u32 magic = DAFS_REQUEST_MAGIC;
	struct dafs_xdr x;

	if (!dafs_x_init(&x, buf, true, 0))
		dafs_x_req_hdr(&x, (struct dafs_req_hdr *)hdr, &magic);
}

/**
 * dafs_get_req_hdr() - read a request header (6.1.2)
 * @buf: the bytes received
 * @hdr: filled
 *
 * Return: 0, or -EBADMSG if this is not a request in the order of the buffer or
 * its length is not between DAFS_HDR_SIZE and the bytes received (E-12).
 */
int dafs_get_req_hdr(const struct dafs_buf *buf, struct dafs_req_hdr *hdr)
{
	struct dafs_xdr x;
	u32 magic = 0;

	memset(hdr, 0, sizeof(*hdr));
	if (!dafs_x_init(&x, buf, false, 0))
		dafs_x_req_hdr(&x, hdr, &magic);
	return dafs_check_hdr(&x, magic, DAFS_REQUEST_MAGIC, hdr->len);
}

/**
 * dafs_put_res_hdr() - write a response header, checksum zero (6.1.3)
 * @buf: buffer of at least DAFS_HDR_SIZE bytes
 * @hdr: the header
 */
void dafs_put_res_hdr(const struct dafs_buf *buf, const struct dafs_res_hdr *hdr)
{
	u32 magic = DAFS_RESPONSE_MAGIC;
	struct dafs_xdr x;

	if (!dafs_x_init(&x, buf, true, 0))
		dafs_x_res_hdr(&x, (struct dafs_res_hdr *)hdr, &magic);
}

/**
 * dafs_get_res_hdr() - read a response header (6.1.3)
 * @buf: the bytes received
 * @hdr: filled
 *
 * Return: 0, or -EBADMSG if this is not a response in the order of the buffer or
 * its length is not between DAFS_HDR_SIZE and the bytes received (E-12).
 */
int dafs_get_res_hdr(const struct dafs_buf *buf, struct dafs_res_hdr *hdr)
{
	struct dafs_xdr x;
	u32 magic = 0;

	memset(hdr, 0, sizeof(*hdr));
	if (!dafs_x_init(&x, buf, false, 0))
		dafs_x_res_hdr(&x, hdr, &magic);
	return dafs_check_hdr(&x, magic, DAFS_RESPONSE_MAGIC, hdr->len);
}
