/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/dafsd.yaml */
/* YNL-GEN kernel header */

#ifndef _LINUX_DAFSD_GEN_H
#define _LINUX_DAFSD_GEN_H

#include <net/netlink.h>
#include <net/genetlink.h>

#include <uapi/linux/dafsd_netlink.h>

int dafsd_nl_client_get_dumpit(struct sk_buff *skb,
			       struct netlink_callback *cb);
int dafsd_nl_client_expire_doit(struct sk_buff *skb, struct genl_info *info);
int dafsd_nl_state_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int dafsd_nl_state_revoke_doit(struct sk_buff *skb, struct genl_info *info);
int dafsd_nl_lock_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int dafsd_nl_persist_get_dumpit(struct sk_buff *skb,
				struct netlink_callback *cb);
int dafsd_nl_persist_forget_doit(struct sk_buff *skb, struct genl_info *info);

extern struct genl_family dafsd_nl_family;

#endif /* _LINUX_DAFSD_GEN_H */
