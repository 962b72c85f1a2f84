// SPDX-License-Identifier: GPL-2.0
/*
 * Mount options: parsing them, checking them, showing them again.
 *
 * The source is "server:/export" or "[v6addr]:/export".  The server is given
 * by its address: the kernel resolves no names.
 */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/inet.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include "vfs.h"

#define DAFS_DEF_TIMEO		600		/* deciseconds */
#define DAFS_DEF_RETRANS	3
#define DAFS_DEF_MAX_CREDENTIALS	1024
#define DAFS_DEF_MSG_SIZE	SZ_16K
#define DAFS_DEF_ACREGMIN	3		/* seconds, as are the next three */
#define DAFS_DEF_ACREGMAX	60
#define DAFS_DEF_ACDIRMIN	30
#define DAFS_DEF_ACDIRMAX	60

enum {
	Opt_port, Opt_rsize, Opt_wsize, Opt_timeo, Opt_retrans, Opt_soft, Opt_hard,
	Opt_sec, Opt_cksum, Opt_acregmin, Opt_acregmax, Opt_acdirmin, Opt_acdirmax,
	Opt_actimeo, Opt_ac, Opt_cto, Opt_cache, Opt_lookupcache, Opt_srcaddr,
	Opt_max_requests, Opt_msgsize, Opt_backchannel, Opt_rdmaread, Opt_clientid,
	Opt_sharecache, Opt_local_lock, Opt_share_key, Opt_respcache,
	Opt_addr, Opt_nconnect,
};

/* Names for what ac and cto make together. */
enum {
	DAFS_CACHE_NONE,	/* noac */
	DAFS_CACHE_STRICT,	/* ac, cto: the default */
	DAFS_CACHE_LOOSE,	/* ac, nocto */
};

static const struct constant_table dafs_param_sec[] = {
	{ "none",	DAFS_AUTH_NONE },
	{ "default",	DAFS_AUTH_DEFAULT },
	{}
};

static const struct constant_table dafs_param_cache[] = {
	{ "loose",	DAFS_CACHE_LOOSE },
	{ "none",	DAFS_CACHE_NONE },
	{ "strict",	DAFS_CACHE_STRICT },
	{}
};

static const struct constant_table dafs_param_lookupcache[] = {
	{ "all",	DAFS_LOOKUPCACHE_ALL },
	{ "none",	DAFS_LOOKUPCACHE_NONE },
	{ "pos",	DAFS_LOOKUPCACHE_POSITIVE },
	{ "positive",	DAFS_LOOKUPCACHE_POSITIVE },
	{}
};

/* What the server is asked about requests whose connection was lost */
static const struct constant_table dafs_param_respcache[] = {
	{ "none",	DAFS_RESPCACHE_NONE },
	{ "volatile",	DAFS_RESPCACHE_VOLATILE },
	{ "stable",	DAFS_RESPCACHE_STABLE },
	{}
};

/* Which locks are not sent to the server, as nfs(5) names them */
enum {
	DAFS_LOCAL_LOCK_NONE,
	DAFS_LOCAL_LOCK_FLOCK,
	DAFS_LOCAL_LOCK_POSIX,
	DAFS_LOCAL_LOCK_ALL,
};

static const struct constant_table dafs_param_local_lock[] = {
	{ "all",	DAFS_LOCAL_LOCK_ALL },
	{ "flock",	DAFS_LOCAL_LOCK_FLOCK },
	{ "none",	DAFS_LOCAL_LOCK_NONE },
	{ "posix",	DAFS_LOCAL_LOCK_POSIX },
	{}
};

const struct fs_parameter_spec dafs_fs_parameters[] = {
	fsparam_u32("port", Opt_port),
	fsparam_u32("rsize", Opt_rsize),
	fsparam_u32("wsize", Opt_wsize),
	fsparam_u32("timeo", Opt_timeo),
	fsparam_u32("retrans", Opt_retrans),
	fsparam_flag("soft", Opt_soft),
	fsparam_flag("hard", Opt_hard),
	fsparam_enum("sec", Opt_sec, dafs_param_sec),
	fsparam_flag_no("cksum", Opt_cksum),
	fsparam_u32("acregmin", Opt_acregmin),
	fsparam_u32("acregmax", Opt_acregmax),
	fsparam_u32("acdirmin", Opt_acdirmin),
	fsparam_u32("acdirmax", Opt_acdirmax),
	fsparam_u32("actimeo", Opt_actimeo),
	fsparam_flag_no("ac", Opt_ac),
	fsparam_flag_no("cto", Opt_cto),
	fsparam_enum("cache", Opt_cache, dafs_param_cache),
	fsparam_enum("lookupcache", Opt_lookupcache, dafs_param_lookupcache),
	fsparam_string("srcaddr", Opt_srcaddr),
	fsparam_u32("max_requests", Opt_max_requests),
	fsparam_u32("msgsize", Opt_msgsize),
	fsparam_flag_no("backchannel", Opt_backchannel),
	fsparam_flag_no("rdmaread", Opt_rdmaread),
	fsparam_string("clientid", Opt_clientid),
	fsparam_flag_no("sharecache", Opt_sharecache),
	fsparam_enum("local_lock", Opt_local_lock, dafs_param_local_lock),
	fsparam_u64("share_key", Opt_share_key),
	fsparam_enum("respcache", Opt_respcache, dafs_param_respcache),
	fsparam_string("addr", Opt_addr),
	fsparam_u32("nconnect", Opt_nconnect),
	{}
};

/**
 * dafs_options_init() - the values that hold where no option says otherwise
 * @ctx: the mount in the making
 */
void dafs_options_init(struct dafs_fs_context *ctx)
{
	ctx->params = (struct dafs_client_params) {
		.timeo_ms = DAFS_DEF_TIMEO * 100,
		.retrans = DAFS_DEF_RETRANS,
		.back_control = true,
		.auth_type = DAFS_AUTH_NONE,
		.respcache = DAFS_RESPCACHE_VOLATILE,
		.max_requests = DAFS_DEF_MAX_REQUESTS,
		.max_credentials = DAFS_DEF_MAX_CREDENTIALS,
		.msg_size = DAFS_DEF_MSG_SIZE,
	};
	ctx->opts = (struct dafs_options) {
		.acregmin = DAFS_DEF_ACREGMIN * HZ,
		.acregmax = DAFS_DEF_ACREGMAX * HZ,
		.acdirmin = DAFS_DEF_ACDIRMIN * HZ,
		.acdirmax = DAFS_DEF_ACDIRMAX * HZ,
	};
}

static int dafs_param_range(struct fs_context *fc, const char *name, u32 value,
			    u32 min, u32 max)
{
	if (value < min || value > max)
		return invalf(fc, "dafs: %s=%u is not between %u and %u", name,
			      value, min, max);
	return 0;
}

/* In whole pages, so that no folio of one page is split. */
static int dafs_param_io_size(struct fs_context *fc, const char *name, u32 value,
			      u32 *size)
{
	int err = dafs_param_range(fc, name, value, PAGE_SIZE, DAFS_MAX_IO_SIZE);

	if (!err)
		*size = round_down(value, PAGE_SIZE);
	return err;
}

static int dafs_param_seconds(struct fs_context *fc, const char *name, u32 value,
			      unsigned long *timeo)
{
	int err = dafs_param_range(fc, name, value, 0, 24 * 60 * 60);

	if (!err)
		*timeo = (unsigned long)value * HZ;
	return err;
}

static int dafs_param_actimeo(struct fs_context *fc, u32 value,
			      struct dafs_options *opts)
{
	int err = dafs_param_seconds(fc, "actimeo", value, &opts->acregmin);

	if (err)
		return err;
	opts->acregmax = opts->acregmin;
	opts->acdirmin = opts->acregmin;
	opts->acdirmax = opts->acregmin;
	return 0;
}

static int dafs_param_clientid(struct fs_context *fc, const char *id,
			       struct dafs_client_params *params)
{
	if (!*id || strscpy(params->client_id, id, sizeof(params->client_id)) < 0)
		return invalf(fc, "dafs: clientid must have 1 to %zu characters",
			      sizeof(params->client_id) - 1);
	return 0;
}

/* Options that are numbers. */
static int dafs_parse_number(struct fs_context *fc, int opt, const char *name, u32 value)
{
	struct dafs_fs_context *ctx = fc->fs_private;
	struct dafs_options *opts = &ctx->opts;
	int err = 0;

	switch (opt) {
	case Opt_port:
		err = dafs_param_range(fc, name, value, 1, U16_MAX);
		ctx->port = value;
		break;
	case Opt_rsize:
		return dafs_param_io_size(fc, name, value, &opts->rsize_asked);
	case Opt_wsize:
		return dafs_param_io_size(fc, name, value, &opts->wsize_asked);
	case Opt_timeo:
		err = dafs_param_range(fc, name, value, 1, 36000);
		ctx->params.timeo_ms = value * 100;
		break;
	case Opt_retrans:
		err = dafs_param_range(fc, name, value, 1, 1000);
		ctx->params.retrans = value;
		break;
	case Opt_acregmin:
		return dafs_param_seconds(fc, name, value, &opts->acregmin);
	case Opt_acregmax:
		return dafs_param_seconds(fc, name, value, &opts->acregmax);
	case Opt_acdirmin:
		return dafs_param_seconds(fc, name, value, &opts->acdirmin);
	case Opt_acdirmax:
		return dafs_param_seconds(fc, name, value, &opts->acdirmax);
	case Opt_actimeo:
		return dafs_param_actimeo(fc, value, opts);
	case Opt_max_requests:
		err = dafs_param_range(fc, name, value, 1, DAFS_MAX_NREQ);
		ctx->params.max_requests = value;
		break;
	case Opt_nconnect:
		err = dafs_param_range(fc, name, value, 1, DAFS_MAX_PATHS);
		ctx->params.nconnect = value;
		break;
	case Opt_msgsize:
		err = dafs_param_range(fc, name, value, DAFS_MIN_MSG_SIZE,
				       DAFS_MAX_MSG_SIZE);
		ctx->params.msg_size = round_down(value, 8);
		break;
	}
	return err;
}

/**
 * dafs_free_addrs() - forget the values of addr=
 * @ctx: the mount in the making
 */
void dafs_free_addrs(struct dafs_fs_context *ctx)
{
	while (ctx->nr_addrs)
		kfree(ctx->addrs[--ctx->nr_addrs]);
}

static int dafs_param_addr(struct fs_context *fc, struct fs_parameter *param)
{
	struct dafs_fs_context *ctx = fc->fs_private;

	if (ctx->nr_addrs == ARRAY_SIZE(ctx->addrs))
		return invalf(fc, "dafs: more than %zu times addr", ARRAY_SIZE(ctx->addrs));
	ctx->addrs[ctx->nr_addrs++] = param->string;
	param->string = NULL;
	return 0;
}

/* What is believed without asking. */
static void dafs_parse_trust(struct dafs_options *opts, int opt,
			     const struct fs_parse_result *result)
{
	switch (opt) {
	case Opt_ac:
		opts->noac = result->negated;
		break;
	case Opt_cto:
		opts->nocto = result->negated;
		break;
	case Opt_cache:
		opts->noac = result->uint_32 == DAFS_CACHE_NONE;
		opts->nocto = result->uint_32 == DAFS_CACHE_LOOSE;
		break;
	case Opt_lookupcache:
		opts->lookupcache = result->uint_32;
		break;
	}
}

static int dafs_parse_local_lock(struct dafs_options *opts, unsigned int which)
{
	opts->local_flock = which == DAFS_LOCAL_LOCK_FLOCK || which == DAFS_LOCAL_LOCK_ALL;
	opts->local_posix = which == DAFS_LOCAL_LOCK_POSIX || which == DAFS_LOCAL_LOCK_ALL;
	return 0;
}

/**
 * dafs_parse_param() - take one mount option
 * @fc: fs context with a struct dafs_fs_context
 * @param: the option
 *
 * Return: 0, -ENOPARAM for an option that is not known, or -EINVAL with a
 * message in the log of @fc.
 */
int dafs_parse_param(struct fs_context *fc, struct fs_parameter *param)
{
	struct dafs_fs_context *ctx = fc->fs_private;
	struct dafs_client_params *params = &ctx->params;
	struct fs_parse_result result;
	int opt;

	opt = fs_parse(fc, dafs_fs_parameters, param, &result);
	if (opt < 0)
		return opt;
	switch (opt) {
	case Opt_soft:
		params->soft = true;
		return 0;
	case Opt_hard:
		params->soft = false;
		return 0;
	case Opt_sec:
		params->auth_type = result.uint_32;
		return 0;
	case Opt_cksum:
		params->cksum = !result.negated;
		return 0;
	case Opt_ac:
	case Opt_cto:
	case Opt_cache:
	case Opt_lookupcache:
		dafs_parse_trust(&ctx->opts, opt, &result);
		return 0;
	case Opt_sharecache:
		ctx->opts.nosharecache = result.negated;
		return 0;
	case Opt_local_lock:
		return dafs_parse_local_lock(&ctx->opts, result.uint_32);
	case Opt_share_key:
		ctx->opts.keyed = true;
		ctx->opts.share_key = result.uint_64;
		return 0;
	case Opt_backchannel:
		params->back_control = !result.negated;
		return 0;
	case Opt_rdmaread:
		params->rdma_read = !result.negated;
		return 0;
	case Opt_respcache:
		params->respcache = result.uint_32;
		return 0;
	case Opt_srcaddr:
		kfree(ctx->srcaddr);
		ctx->srcaddr = param->string;
		param->string = NULL;
		return 0;
	case Opt_addr:
		return dafs_param_addr(fc, param);
	case Opt_clientid:
		return dafs_param_clientid(fc, param->string, params);
	}
	return dafs_parse_number(fc, opt, param->key, result.uint_32);
}

/* Where the server's name ends: at the ':' that the path follows. */
static const char *dafs_source_host_end(const char *source)
{
	const char *end = source;

	if (*source == '[') {
		end = strchr(source, ']');
		if (!end)
			return NULL;
	}
	return strstr(end, ":/");
}

/* An address, with or without brackets.  Return: 0, -EINVAL or -ENOMEM. */
static int dafs_parse_addr(struct net *net, const char *host, size_t len, const char *port,
			   struct sockaddr_storage *to)
{
	bool brackets = len >= 2 && host[0] == '[' && host[len - 1] == ']';
	char *addr = kstrndup(host + brackets, len - 2 * brackets, GFP_KERNEL);
	int err;

	if (!addr)
		return -ENOMEM;
	err = inet_pton_with_scope(net, AF_UNSPEC, addr, port, to);
	kfree(addr);
	return err ? -EINVAL : 0;
}

static int dafs_parse_host(struct fs_context *fc, const char *host, size_t len,
			   struct sockaddr_storage *to)
{
	struct dafs_fs_context *ctx = fc->fs_private;
	char port[sizeof("65535")];
	int err;

	snprintf(port, sizeof(port), "%u", ctx->port ?: DAFS_DEFAULT_PORT);
	err = dafs_parse_addr(fc->net_ns, host, len, port, to);
	if (err == -EINVAL)
		errorf(fc, "dafs: '%.*s' is not an IPv4 or IPv6 address", (int)len, host);
	return err;
}

/* Each address is used. */
static int dafs_check_paths(struct fs_context *fc, const struct dafs_client_params *params)
{
	if (params->nconnect && params->nconnect <= params->nr_more)
		return invalf(fc, "dafs: nconnect=%u is less than the %u addresses",
			      params->nconnect, params->nr_more + 1);
	/* a request could be executed on one path after its repetition on another */
	if (params->respcache == DAFS_RESPCACHE_NONE && dafs_params_paths(params) > 1)
		return invalf(fc, "dafs: respcache=none needs nconnect=1, and no addr");
	return 0;
}

static int dafs_parse_addrs(struct fs_context *fc)
{
	struct dafs_fs_context *ctx = fc->fs_private;
	struct dafs_client_params *params = &ctx->params;
	struct sockaddr_storage addr;
	unsigned int i;
	int err;

	/* a remount may give each of them twice */
	if (ctx->nr_addrs > DAFS_MORE_ADDRS)
		return invalf(fc, "dafs: more than %u times addr", DAFS_MORE_ADDRS);
	params->nr_more = ctx->nr_addrs;
	for (i = 0; i < ctx->nr_addrs; i++) {
		memset(&addr, 0, sizeof(addr));
		err = dafs_parse_host(fc, ctx->addrs[i], strlen(ctx->addrs[i]), &addr);
		if (err)
			return err;
		memcpy(&params->more[i], &addr, sizeof(params->more[i]));
	}
	return dafs_check_paths(fc, params);
}

/* Does an address of the server have another family than that of the client? */
static bool dafs_families_differ(const struct dafs_client_params *params)
{
	unsigned int i;

	for (i = 0; i < params->nr_more; i++)
		if (params->more[i].in.sin_family != params->src.ss_family)
			return true;
	return params->dst.ss_family != params->src.ss_family;
}

static int dafs_parse_srcaddr(struct fs_context *fc)
{
	struct dafs_fs_context *ctx = fc->fs_private;

	if (!ctx->srcaddr)
		return 0;
	if (inet_pton_with_scope(fc->net_ns, AF_UNSPEC, ctx->srcaddr, NULL,
				 &ctx->params.src))
		return invalf(fc, "dafs: srcaddr '%s' is not an IPv4 or IPv6 address",
			      ctx->srcaddr);
	if (dafs_families_differ(&ctx->params))
		return invalf(fc, "dafs: srcaddr is not of the server's address family");
	return 0;
}

static int dafs_check_times(struct fs_context *fc, const struct dafs_options *opts)
{
	if (opts->acregmin > opts->acregmax || opts->acdirmin > opts->acdirmax)
		return invalf(fc, "dafs: acregmin exceeds acregmax, or acdirmin exceeds acdirmax");
	return 0;
}

/**
 * dafs_parse_source() - take the source apart and check what depends on it
 * @fc: fs context with all options parsed
 *
 * Return: 0, -ENOMEM, or -EINVAL with a message in the log of @fc.
 */
int dafs_parse_source(struct fs_context *fc)
{
	struct dafs_fs_context *ctx = fc->fs_private;
	const char *end;
	int err;

	if (!fc->source)
		return invalf(fc, "dafs: no server and export given");
	end = dafs_source_host_end(fc->source);
	if (!end || end == fc->source)
		return invalf(fc, "dafs: source must be server:/export or [address]:/export");
	ctx->export = kstrdup(end + 1, GFP_KERNEL);
	if (!ctx->export)
		return -ENOMEM;
	err = dafs_parse_host(fc, fc->source, end - fc->source, &ctx->params.dst) ?:
	      dafs_parse_addrs(fc);
	if (err)
		return err;
	ctx->params.net = fc->net_ns;
	err = dafs_parse_srcaddr(fc);
	return err ?: dafs_check_times(fc, &ctx->opts);
}

/* Options that a remount would change and may not; NULL if there are none. */
static const char *dafs_params_differ(const struct dafs_client_params *a,
				      const struct dafs_client_params *b)
{
	if (a->cksum != b->cksum)
		return "cksum";
	if (a->back_control != b->back_control)
		return "backchannel";
	if (a->rdma_read != b->rdma_read)
		return "rdmaread";
	if (a->auth_type != b->auth_type)
		return "sec";
	if (a->respcache != b->respcache)
		return "respcache";
	if (a->max_requests != b->max_requests)
		return "max_requests";
	if (a->msg_size != b->msg_size)
		return "msgsize";
	if (strcmp(a->client_id, b->client_id))
		return "clientid";
	return NULL;
}

static u16 dafs_params_port(const struct dafs_client_params *params)
{
	if (params->dst.ss_family == AF_INET)
		return ntohs(((const struct sockaddr_in *)&params->dst)->sin_port);
	return ntohs(((const struct sockaddr_in6 *)&params->dst)->sin6_port);
}

/* mount(8) repeats on a remount what it sees in /proc/mounts, or in fstab. */
static bool dafs_srcaddr_same(const struct dafs_fs_context *ctx,
			      const struct dafs_client_params *params)
{
	struct sockaddr_storage addr = {};

	return !ctx->srcaddr ||
	       (!inet_pton_with_scope(params->net, AF_UNSPEC, ctx->srcaddr, NULL, &addr) &&
		dafs_addr_equal(&addr, &params->src));
}

/* Return: which of those beside that in the source an address is, as bits; 0 for none. */
static unsigned long dafs_addr_bits(const struct dafs_client_params *params, const char *text)
{
	struct sockaddr_storage addr = {}, more;
	unsigned long bits = 0;
	unsigned int i;

	if (dafs_parse_addr(params->net, text, strlen(text), NULL, &addr))
		return 0;
	for (i = 0; i < params->nr_more; i++) {
		more = dafs_addr_storage(&params->more[i]);
		if (dafs_addr_equal(&addr, &more))
			bits |= BIT(i);
	}
	return bits;
}

/* Likewise; mount(8) may give them twice, once as they are shown. */
static bool dafs_addrs_same(const struct dafs_fs_context *ctx,
			    const struct dafs_client_params *params)
{
	unsigned long given = 0, bits;
	unsigned int i;

	for (i = 0; i < ctx->nr_addrs; i++) {
		bits = dafs_addr_bits(params, ctx->addrs[i]);
		if (!bits)
			return false;
		given |= bits;
	}
	return !i || given == BIT(params->nr_more) - 1;
}

/* What /proc/mounts shows is as good as what fstab says, if the limit made one of the other. */
static bool dafs_io_size_same(u32 asked, u32 was_asked, u32 granted)
{
	bool limited = !was_asked || was_asked > granted;

	return asked == was_asked || asked == granted || (asked > granted && limited);
}

static const char *dafs_options_differ(const struct dafs_fs_context *ctx,
				       const struct dafs_sb_info *sbi)
{
	const struct dafs_options *new = &ctx->opts, *old = &sbi->opts;

	if (ctx->port && ctx->port != dafs_params_port(&sbi->params))
		return "port";
	if (!dafs_srcaddr_same(ctx, &sbi->params))
		return "srcaddr";
	if (!dafs_addrs_same(ctx, &sbi->params))
		return "addr";
	if (!dafs_io_size_same(new->rsize_asked, old->rsize_asked, old->rsize))
		return "rsize";
	if (!dafs_io_size_same(new->wsize_asked, old->wsize_asked, old->wsize))
		return "wsize";
	if (new->nosharecache != old->nosharecache)
		return "sharecache";
	if (new->local_posix != old->local_posix || new->local_flock != old->local_flock)
		return "local_lock";
	if (new->keyed != old->keyed || new->share_key != old->share_key)
		return "share_key";
	return dafs_params_differ(&ctx->params, &sbi->params);
}

static bool dafs_params_addrs_same(const struct dafs_client_params *a,
				   const struct dafs_client_params *b)
{
	struct sockaddr_storage more_a, more_b;
	unsigned int i;

	for (i = 0; i < a->nr_more && i < b->nr_more; i++) {
		more_a = dafs_addr_storage(&a->more[i]);
		more_b = dafs_addr_storage(&b->more[i]);
		if (!dafs_addr_equal(&more_a, &more_b))
			return false;
	}
	return a->nr_more == b->nr_more && dafs_addr_equal(&a->dst, &b->dst);
}

/**
 * dafs_params_same() - would two mounts make the same client?
 * @a: of one that is mounted, and may be remounted meanwhile
 * @b: of the one to come
 *
 * Context: any.
 * Return: true if so.
 */
bool dafs_params_same(const struct dafs_client_params *a, const struct dafs_client_params *b)
{
	return a->net == b->net && dafs_params_addrs_same(a, b) &&
	       dafs_params_port(a) == dafs_params_port(b) &&
	       dafs_params_paths(a) == dafs_params_paths(b) &&
	       dafs_addr_equal(&a->src, &b->src) && READ_ONCE(a->soft) == b->soft &&
	       READ_ONCE(a->timeo_ms) == b->timeo_ms && READ_ONCE(a->retrans) == b->retrans &&
	       !dafs_params_differ(a, b);
}

/**
 * dafs_options_same() - do two mounts have the same options, but for the client's?
 * @a: of one that is mounted, and may be remounted meanwhile
 * @b: of the one to come
 *
 * Context: any.
 * Return: true if so.
 */
bool dafs_options_same(const struct dafs_options *a, const struct dafs_options *b)
{
	return a->rsize_asked == b->rsize_asked && a->wsize_asked == b->wsize_asked &&
	       READ_ONCE(a->acregmin) == b->acregmin && READ_ONCE(a->acregmax) == b->acregmax &&
	       READ_ONCE(a->acdirmin) == b->acdirmin && READ_ONCE(a->acdirmax) == b->acdirmax &&
	       READ_ONCE(a->noac) == b->noac && READ_ONCE(a->nocto) == b->nocto &&
	       READ_ONCE(a->lookupcache) == b->lookupcache &&
	       a->local_posix == b->local_posix && a->local_flock == b->local_flock &&
	       a->keyed == b->keyed && a->share_key == b->share_key &&
	       a->nosharecache == b->nosharecache;
}

/* Others read them without a lock.  rsize and wsize are the same. */
static void dafs_options_adopt(struct dafs_options *opts, const struct dafs_options *from)
{
	WRITE_ONCE(opts->acregmin, from->acregmin);
	WRITE_ONCE(opts->acregmax, from->acregmax);
	WRITE_ONCE(opts->acdirmin, from->acdirmin);
	WRITE_ONCE(opts->acdirmax, from->acdirmax);
	WRITE_ONCE(opts->noac, from->noac);
	WRITE_ONCE(opts->nocto, from->nocto);
	WRITE_ONCE(opts->lookupcache, from->lookupcache);
}

/**
 * dafs_options_reconfigure() - apply the options of a remount
 * @fc: fs context
 * @sbi: the mount
 *
 * Only what the client decides alone can change: what it believes without
 * asking, how long it waits, and by how many paths.  The rest is agreed with the server when the
 * session begins.
 *
 * Context: may sleep.
 * Return: 0, or -EINVAL with a message in the log of @fc.
 */
int dafs_options_reconfigure(struct fs_context *fc, struct dafs_sb_info *sbi)
{
	struct dafs_fs_context *ctx = fc->fs_private;
	const struct dafs_client_params *params = &ctx->params;
	const char *name = dafs_options_differ(ctx, sbi);
	int err;

	if (name)
		return invalf(fc, "dafs: %s cannot change by remounting", name);
	err = dafs_check_paths(fc, params) ?: dafs_check_times(fc, &ctx->opts);
	if (err)
		return err;
	dafs_options_adopt(&sbi->opts, &ctx->opts);
	WRITE_ONCE(sbi->params.soft, params->soft);
	WRITE_ONCE(sbi->params.timeo_ms, params->timeo_ms);
	WRITE_ONCE(sbi->params.retrans, params->retrans);
	dafs_client_set_timeouts(sbi->clnt, params->soft, params->timeo_ms, params->retrans);
	/* another mount that shares the client may have changed it: then it stays so */
	if (params->nconnect != sbi->params.nconnect) {
		WRITE_ONCE(sbi->params.nconnect, params->nconnect);
		dafs_client_set_paths(sbi->clnt, dafs_params_paths(params));
	}
	return 0;
}

/* As a remount reads it: %pIS would put brackets around an address with a scope. */
static void dafs_show_addr(struct seq_file *m, const char *name,
			   const struct sockaddr_storage *addr)
{
	const struct sockaddr_in6 *addr6 = (const struct sockaddr_in6 *)addr;

	seq_printf(m, ",%s=%pISc", name, addr);
	if (addr->ss_family == AF_INET6 && addr6->sin6_scope_id)
		seq_printf(m, "%%%u", addr6->sin6_scope_id);
}

static void dafs_show_paths(struct seq_file *m, const struct dafs_client_params *params)
{
	unsigned int i, nconnect = READ_ONCE(params->nconnect);
	struct sockaddr_storage addr;

	for (i = 0; i < params->nr_more; i++) {
		addr = dafs_addr_storage(&params->more[i]);
		dafs_show_addr(m, "addr", &addr);
	}
	if (nconnect)
		seq_printf(m, ",nconnect=%u", nconnect);
}

static void dafs_show_session(struct seq_file *m, const struct dafs_client_params *params)
{
	static const char * const respcaches[] = {
		[DAFS_RESPCACHE_NONE] = "none",
		[DAFS_RESPCACHE_VOLATILE] = "volatile",
		[DAFS_RESPCACHE_STABLE] = "stable",
	};

	seq_printf(m, ",port=%u", dafs_params_port(params));
	seq_printf(m, ",timeo=%u,retrans=%u", READ_ONCE(params->timeo_ms) / 100,
		   READ_ONCE(params->retrans));
	seq_puts(m, READ_ONCE(params->soft) ? ",soft" : ",hard");
	seq_puts(m, params->auth_type == DAFS_AUTH_DEFAULT ?
		    ",sec=default" : ",sec=none");
	seq_puts(m, params->cksum ? ",cksum" : ",nocksum");
	seq_printf(m, ",max_requests=%u,msgsize=%u", params->max_requests,
		   params->msg_size);
	seq_puts(m, params->back_control ? ",backchannel" : ",nobackchannel");
	seq_puts(m, params->rdma_read ? ",rdmaread" : ",nordmaread");
	seq_printf(m, ",respcache=%s", respcaches[params->respcache]);
	if (params->src.ss_family != AF_UNSPEC)
		dafs_show_addr(m, "srcaddr", &params->src);
	dafs_show_paths(m, params);
	if (params->client_id[0])
		seq_show_option(m, "clientid", params->client_id);
}

static const char *dafs_local_lock_name(const struct dafs_options *opts)
{
	if (opts->local_posix)
		return opts->local_flock ? "all" : "posix";
	return opts->local_flock ? "flock" : "none";
}

/**
 * dafs_show_options() - the options as /proc/mounts shows them
 * @m: where to
 * @root: root of the mount
 *
 * Return: 0.
 */
int dafs_show_options(struct seq_file *m, struct dentry *root)
{
	const struct dafs_sb_info *sbi = DAFS_SB(root->d_sb);
	const struct dafs_options *opts = &sbi->opts;

	seq_printf(m, ",rsize=%u,wsize=%u", opts->rsize, opts->wsize);
	dafs_show_session(m, &sbi->params);
	if (opts->nosharecache)
		seq_puts(m, ",nosharecache");
	if (opts->local_posix || opts->local_flock)
		seq_printf(m, ",local_lock=%s", dafs_local_lock_name(opts));
	if (opts->keyed)
		seq_printf(m, ",share_key=%llu", opts->share_key);
	if (opts->nocto)
		seq_puts(m, ",nocto");
	if (opts->lookupcache == DAFS_LOOKUPCACHE_POSITIVE)
		seq_puts(m, ",lookupcache=positive");
	else if (opts->lookupcache == DAFS_LOOKUPCACHE_NONE)
		seq_puts(m, ",lookupcache=none");
	if (opts->noac) {
		seq_puts(m, ",noac");
		return 0;
	}
	seq_printf(m, ",acregmin=%lu,acregmax=%lu", opts->acregmin / HZ,
		   opts->acregmax / HZ);
	seq_printf(m, ",acdirmin=%lu,acdirmax=%lu", opts->acdirmin / HZ,
		   opts->acdirmax / HZ);
	return 0;
}
