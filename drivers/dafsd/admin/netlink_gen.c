// SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/dafsd.yaml */
/* YNL-GEN kernel source */

#include <net/netlink.h>
#include <net/genetlink.h>

#include "netlink_gen.h"

#include <uapi/linux/dafsd_netlink.h>

/* DAFSD_CMD_CLIENT_EXPIRE - do */
static const struct nla_policy dafsd_client_expire_nl_policy[DAFSD_A_CLIENT_CLIENT_ID + 1] = {
	[DAFSD_A_CLIENT_CLIENT_ID] = NLA_POLICY_EXACT_LEN(DAFSD_ID_LEN),
};

/* DAFSD_CMD_STATE_GET - dump */
static const struct nla_policy dafsd_state_get_nl_policy[DAFSD_A_STATE_CLIENT_ID + 1] = {
	[DAFSD_A_STATE_CLIENT_ID] = NLA_POLICY_EXACT_LEN(DAFSD_ID_LEN),
};

/* DAFSD_CMD_STATE_REVOKE - do */
static const struct nla_policy dafsd_state_revoke_nl_policy[DAFSD_A_STATE_STATE_ID + 1] = {
	[DAFSD_A_STATE_STATE_ID] = NLA_POLICY_EXACT_LEN(DAFSD_ID_LEN),
};

/* DAFSD_CMD_LOCK_GET - dump */
static const struct nla_policy dafsd_lock_get_nl_policy[DAFSD_A_LOCK_CLIENT_ID + 1] = {
	[DAFSD_A_LOCK_CLIENT_ID] = NLA_POLICY_EXACT_LEN(DAFSD_ID_LEN),
};

/* DAFSD_CMD_PERSIST_FORGET - do */
static const struct nla_policy dafsd_persist_forget_nl_policy[DAFSD_A_PERSIST_ID + 1] = {
	[DAFSD_A_PERSIST_ID] = { .type = NLA_UINT, },
};

/* Ops table for dafsd */
static const struct genl_split_ops dafsd_nl_ops[] = {
	{
		.cmd	= DAFSD_CMD_CLIENT_GET,
		.dumpit	= dafsd_nl_client_get_dumpit,
		.flags	= GENL_ADMIN_PERM | GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= DAFSD_CMD_CLIENT_EXPIRE,
		.doit		= dafsd_nl_client_expire_doit,
		.policy		= dafsd_client_expire_nl_policy,
		.maxattr	= DAFSD_A_CLIENT_CLIENT_ID,
		.flags		= GENL_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= DAFSD_CMD_STATE_GET,
		.dumpit		= dafsd_nl_state_get_dumpit,
		.policy		= dafsd_state_get_nl_policy,
		.maxattr	= DAFSD_A_STATE_CLIENT_ID,
		.flags		= GENL_ADMIN_PERM | GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= DAFSD_CMD_STATE_REVOKE,
		.doit		= dafsd_nl_state_revoke_doit,
		.policy		= dafsd_state_revoke_nl_policy,
		.maxattr	= DAFSD_A_STATE_STATE_ID,
		.flags		= GENL_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= DAFSD_CMD_LOCK_GET,
		.dumpit		= dafsd_nl_lock_get_dumpit,
		.policy		= dafsd_lock_get_nl_policy,
		.maxattr	= DAFSD_A_LOCK_CLIENT_ID,
		.flags		= GENL_ADMIN_PERM | GENL_CMD_CAP_DUMP,
	},
	{
		.cmd	= DAFSD_CMD_PERSIST_GET,
		.dumpit	= dafsd_nl_persist_get_dumpit,
		.flags	= GENL_ADMIN_PERM | GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= DAFSD_CMD_PERSIST_FORGET,
		.doit		= dafsd_nl_persist_forget_doit,
		.policy		= dafsd_persist_forget_nl_policy,
		.maxattr	= DAFSD_A_PERSIST_ID,
		.flags		= GENL_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
};

struct genl_family dafsd_nl_family __ro_after_init = {
	.name		= DAFSD_FAMILY_NAME,
	.version	= DAFSD_FAMILY_VERSION,
	.netnsok	= true,
	.parallel_ops	= true,
	.module		= THIS_MODULE,
	.split_ops	= dafsd_nl_ops,
	.n_split_ops	= ARRAY_SIZE(dafsd_nl_ops),
};
