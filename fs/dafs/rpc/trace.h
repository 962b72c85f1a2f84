/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The trace points of the client, above those of channels and calls in dafs_common.  All
 * folders use them, so those about inodes take nothing that rpc/ does not know.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM dafs

#if !defined(_DAFS_CLIENT_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _DAFS_CLIENT_TRACE_H

#include <linux/fs.h>
#include <linux/tracepoint.h>
#include <linux/dafs/codec.h>
#include "rpc_impl.h"

TRACE_DEFINE_ENUM(DAFS_SES_DOWN);
TRACE_DEFINE_ENUM(DAFS_SES_UP);
TRACE_DEFINE_ENUM(DAFS_SES_DEAD);
TRACE_DEFINE_ENUM(DAFS_RETRY_CALL);
TRACE_DEFINE_ENUM(DAFS_RETRY_READ);
TRACE_DEFINE_ENUM(DAFS_RETRY_WRITE);
TRACE_DEFINE_ENUM(DAFS_ACT_NONE);
TRACE_DEFINE_ENUM(DAFS_ACT_LATER);
TRACE_DEFINE_ENUM(DAFS_ACT_MEMORY);
TRACE_DEFINE_ENUM(DAFS_ACT_RESEND);
TRACE_DEFINE_ENUM(DAFS_ACT_CRED);
TRACE_DEFINE_ENUM(DAFS_ACT_SESSION);
TRACE_DEFINE_ENUM(DAFS_ACT_OPEN);
TRACE_DEFINE_ENUM(DAFS_ACT_INLINE);
TRACE_DEFINE_ENUM(DAFS_ACT_SMALLER);
TRACE_DEFINE_ENUM(DAFS_ACT_ALONE);
TRACE_DEFINE_ENUM(DAFS_ACT_EMPTY);
TRACE_DEFINE_ENUM(DAFS_NEXT_REPORT);
TRACE_DEFINE_ENUM(DAFS_NEXT_SEND);
TRACE_DEFINE_ENUM(DAFS_NEXT_PAUSE);

#define DAFS_SES_STATES \
	{ DAFS_SES_DOWN, "down" }, \
	{ DAFS_SES_UP, "up" }, \
	{ DAFS_SES_DEAD, "dead" }

#define DAFS_RETRY_NAMES \
	{ DAFS_RETRY_CALL, "call" }, \
	{ DAFS_RETRY_READ, "read" }, \
	{ DAFS_RETRY_WRITE, "write" }

#define DAFS_ACTION_NAMES \
	{ DAFS_ACT_NONE, "none" }, \
	{ DAFS_ACT_LATER, "server asks for time" }, \
	{ DAFS_ACT_MEMORY, "no memory" }, \
	{ DAFS_ACT_RESEND, "checksum" }, \
	{ DAFS_ACT_CRED, "credential unknown" }, \
	{ DAFS_ACT_SESSION, "session unknown" }, \
	{ DAFS_ACT_OPEN, "open unknown" }, \
	{ DAFS_ACT_INLINE, "no RDMA" }, \
	{ DAFS_ACT_SMALLER, "too large" }, \
	{ DAFS_ACT_ALONE, "chain broken" }, \
	{ DAFS_ACT_EMPTY, "no data moved" }

#define DAFS_NEXT_NAMES \
	{ DAFS_NEXT_REPORT, "report" }, \
	{ DAFS_NEXT_SEND, "send again" }, \
	{ DAFS_NEXT_PAUSE, "pause, send again" }

/* The result of an operation, after all its attempts */
TRACE_EVENT(dafs_op_asked,
	TP_PROTO(const struct dafs_op *op, int err),
	TP_ARGS(op, err),
	TP_STRUCT__entry(
		__field(int, err)
		__string(proc, dafs_proc_name(op->proc))
	),
	TP_fast_assign(
		__entry->err = err;
		__assign_str(proc);
	),
	TP_printk("%s %s err=%d", __get_str(proc),
		  __entry->err == 1 ? "not executed" : __entry->err ? "not known" : "executed",
		  __entry->err)
);

TRACE_EVENT(dafs_op_result,
	TP_PROTO(const struct dafs_op *op, int err),
	TP_ARGS(op, err),
	TP_STRUCT__entry(
		__field(u32, status)
		__field(int, err)
		__string(proc, dafs_proc_name(op->proc))
	),
	TP_fast_assign(
		__entry->status = (__force u32)op->status;
		__entry->err = err;
		__assign_str(proc);
	),
	TP_printk("%s status=%u err=%d", __get_str(proc), __entry->status, __entry->err)
);

/* An attempt has failed: why, and what comes next */
TRACE_EVENT(dafs_retry,
	TP_PROTO(enum dafs_retry_kind kind, enum dafs_action action, unsigned int count,
		 enum dafs_next next),
	TP_ARGS(kind, action, count, next),
	TP_STRUCT__entry(
		__field(int, kind)
		__field(int, action)
		__field(unsigned int, count)
		__field(int, next)
	),
	TP_fast_assign(
		__entry->kind = kind;
		__entry->action = action;
		__entry->count = count;
		__entry->next = next;
	),
	TP_printk("%s attempt=%u %s: %s", __print_symbolic(__entry->kind, DAFS_RETRY_NAMES),
		  __entry->count, __print_symbolic(__entry->action, DAFS_ACTION_NAMES),
		  __print_symbolic(__entry->next, DAFS_NEXT_NAMES))
);

TRACE_EVENT(dafs_session_state,
	TP_PROTO(const struct dafs_session *ses, int next),
	TP_ARGS(ses, next),
	TP_STRUCT__entry(
		__field(int, state)
		__field(int, next)
		__array(u8, server, sizeof(struct sockaddr_in6))
	),
	TP_fast_assign(
		__entry->state = ses->state;
		__entry->next = next;
		memcpy(__entry->server, &ses->clnt->params.dst, sizeof(struct sockaddr_in6));
	),
	TP_printk("server=%pISpc %s -> %s", __entry->server,
		  __print_symbolic(__entry->state, DAFS_SES_STATES),
		  __print_symbolic(__entry->next, DAFS_SES_STATES))
);

/* The server has lost what a mount had there; @err: the mount's recovery has ended with it */
TRACE_EVENT(dafs_recovered,
	TP_PROTO(const struct dafs_client *clnt, int err),
	TP_ARGS(clnt, err),
	TP_STRUCT__entry(
		__field(int, err)
		__array(u8, server, sizeof(struct sockaddr_in6))
	),
	TP_fast_assign(
		__entry->err = err;
		memcpy(__entry->server, &clnt->params.dst, sizeof(struct sockaddr_in6));
	),
	TP_printk("server=%pISpc err=%d", __entry->server, __entry->err)
);

DECLARE_EVENT_CLASS(dafs_inode_class,
	TP_PROTO(const struct inode *inode, int err),
	TP_ARGS(inode, err),
	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, ino)
		__field(int, err)
	),
	TP_fast_assign(
		__entry->dev = inode->i_sb->s_dev;
		__entry->ino = inode->i_ino;
		__entry->err = err;
	),
	TP_printk("dev=%u:%u ino=%llu err=%d", MAJOR(__entry->dev), MINOR(__entry->dev),
		  __entry->ino, __entry->err)
);

/* The server was asked for attributes, because those cached had timed out or were stale */
DEFINE_EVENT(dafs_inode_class, dafs_revalidate,
	TP_PROTO(const struct inode *inode, int err), TP_ARGS(inode, err));
/* The page cache of a file was out of date, and was dropped */
DEFINE_EVENT(dafs_inode_class, dafs_zap,
	TP_PROTO(const struct inode *inode, int err), TP_ARGS(inode, err));

/* Attributes show that an object has changed */
TRACE_EVENT(dafs_changed,
	TP_PROTO(const struct inode *inode, u64 change, bool ours),
	TP_ARGS(inode, change, ours),
	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, ino)
		__field(u64, change)
		__field(bool, ours)
	),
	TP_fast_assign(
		__entry->dev = inode->i_sb->s_dev;
		__entry->ino = inode->i_ino;
		__entry->change = change;
		__entry->ours = ours;
	),
	TP_printk("dev=%u:%u ino=%llu change=%llu by %s", MAJOR(__entry->dev),
		  MINOR(__entry->dev), __entry->ino, __entry->change,
		  __entry->ours ? "this client" : "others")
);

/* An open that the server did not know any more was reclaimed, or could not be */
TRACE_EVENT(dafs_reclaim,
	TP_PROTO(dev_t dev, u64 ino, int err),
	TP_ARGS(dev, ino, err),
	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, ino)
		__field(int, err)
	),
	TP_fast_assign(
		__entry->dev = dev;
		__entry->ino = ino;
		__entry->err = err;
	),
	TP_printk("dev=%u:%u ino=%llu err=%d", MAJOR(__entry->dev), MINOR(__entry->dev),
		  __entry->ino, __entry->err)
);

/* A file is delegated to this client, by DAFS_OPEN_DELEGATE_*; or not any more, and why */
TRACE_EVENT(dafs_delegation,
	TP_PROTO(const struct inode *inode, u32 type, const char *what),
	TP_ARGS(inode, type, what),
	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, ino)
		__field(u32, type)
		__string(what, what)
	),
	TP_fast_assign(
		__entry->dev = inode->i_sb->s_dev;
		__entry->ino = inode->i_ino;
		__entry->type = type;
		__assign_str(what);
	),
	TP_printk("dev=%u:%u ino=%llu type=%u %s", MAJOR(__entry->dev), MINOR(__entry->dev),
		  __entry->ino, __entry->type, __get_str(what))
);

#endif /* _DAFS_CLIENT_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
