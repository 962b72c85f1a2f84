// SPDX-License-Identifier: GPL-2.0
/*
 * Which servers have a file system if this one fails (5.3): the attribute FAILOVER_LOCATIONS.
 *
 * An alternate has the file system by the same filehandles, so the path that it has there does not
 * matter.  The server is given by its address: the kernel resolves no names.
 */
#include <linux/inet.h>
#include <net/ipv6.h>
#include "attr.h"
#include "location.h"

/* The alternate listens where the server does. */
static void dafs_location_set_port(const struct dafs_client *clnt, struct sockaddr_storage *addr)
{
	const struct sockaddr_storage *dst = &clnt->params.dst;
	__be16 port = dst->ss_family == AF_INET ? ((const struct sockaddr_in *)dst)->sin_port :
						  ((const struct sockaddr_in6 *)dst)->sin6_port;

	if (addr->ss_family == AF_INET)
		((struct sockaddr_in *)addr)->sin_port = port;
	else
		((struct sockaddr_in6 *)addr)->sin6_port = port;
}

/* Return: false if it is no address, or cannot be reached from the one of this client. */
static bool dafs_location_parse(const struct dafs_client *clnt, const struct dafs_str *server,
				struct sockaddr_storage *addr)
{
	const struct dafs_client_params *params = &clnt->params;
	char text[INET6_ADDRSTRLEN + 2] = {};
	size_t len = server->len;
	const u8 *at = server->data;

	if (len >= 2 && at[0] == '[' && at[len - 1] == ']') {
		at++;
		len -= 2;
	}
	if (!len || len >= sizeof(text))
		return false;
	memcpy(text, at, len);
	/* the interface is compared, too, which is not always set */
	memset(addr, 0, sizeof(*addr));
	if (inet_pton_with_scope(params->net, AF_UNSPEC, text, NULL, addr))
		return false;
	dafs_location_set_port(clnt, addr);
	return params->src.ss_family == AF_UNSPEC || params->src.ss_family == addr->ss_family;
}

/* Adds the servers of one part of the name space. */
static void dafs_locations_add(const struct dafs_client *clnt, const struct dafs_buf *buf,
			       const struct dafs_seq *seq, struct dafs_locations *to)
{
	struct dafs_fs_location loc;
	u32 i;

	for (i = 0; to->nr < ARRAY_SIZE(to->addrs); i++) {
		if (dafs_get_fs_location(buf, seq, i, &loc))
			return;
		if (dafs_location_parse(clnt, &loc.server, &to->addrs[to->nr]))
			to->nr++;
		else
			pr_notice_ratelimited("dafs: server %pISpc: %.*s is no address of a server that could take over\n",
					      &clnt->params.dst, (int)min(loc.server.len, 64U),
					      (const char *)loc.server.data);
	}
}

/* Return: -ENODATA if the server does not tell. */
static int dafs_locations_read(struct dafs_client *clnt, const struct dafs_op *op,
			       const struct dafs_fsattr *attr, struct dafs_locations *to)
{
	struct dafs_fs_locations locs;
	u32 i;

	if (!(attr->valid & attr->included & DAFS_FSATTR_FAILOVER_LOCATIONS))
		return -ENODATA;
	for (i = 0; !dafs_get_fs_locations(&op->call->buf, &attr->failover_locations, i, &locs);
	     i++)
		dafs_locations_add(clnt, &op->call->buf, &locs.locations, to);
	return 0;
}

/**
 * dafs_get_locations() - which servers have a file system if this one fails?
 * @clnt: client
 * @conn: its new connection that is not in use yet; or NULL for the current one
 * @fh: any object in the file system
 * @to: filled
 *
 * Does not wait for a connection or a slot, nor long for the response.  Needs no rights.
 *
 * Context: may sleep.
 * Return: 0; -ENODATA if the server does not tell; or another negative errno.
 */
int dafs_get_locations(struct dafs_client *clnt, struct dafs_conn *conn, const struct dafs_fh *fh,
		       struct dafs_locations *to)
{
	struct dafs_getattr_args args = {
		.filehandle = *fh,
		.attr_request_bitmap = DAFS_FSATTR_FAILOVER_LOCATIONS,
	};
	struct dafs_get_fsattr_res res = {};
	struct dafs_op op = {
		.proc = DAFS_PROC_GET_FSATTR,
		.args = &args,
		.res = &res,
		.nowait = true,
		.brief = true,
	};
	int err = conn ? dafs_op_run_on(clnt, conn, &op) : dafs_op_run(clnt, &op);

	to->nr = 0;
	if (!err)
		err = dafs_locations_read(clnt, &op, &res.obj_attributes, to);
	dafs_op_end(&op);
	return err;
}
