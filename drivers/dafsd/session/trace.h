/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The trace points of the server, beside those of channels, requests and responses in
 * dafs_common.  All folders use them, so those about opens take plain numbers.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM dafsd

#if !defined(_DAFSD_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _DAFSD_TRACE_H

#include <linux/tracepoint.h>
#include <linux/dafs/codec.h>
#include "client.h"
#include "conn.h"

TRACE_DEFINE_ENUM(DAFSD_CONN_NEW);
TRACE_DEFINE_ENUM(DAFSD_CONN_CONNECTED);
TRACE_DEFINE_ENUM(DAFSD_CONN_READY);
TRACE_DEFINE_ENUM(DAFSD_CONN_BOUND);
TRACE_DEFINE_ENUM(DAFSD_CONN_CLOSING);

#define DAFSD_CONN_STATES \
	{ DAFSD_CONN_NEW, "new" }, \
	{ DAFSD_CONN_CONNECTED, "connected" }, \
	{ DAFSD_CONN_READY, "ready" }, \
	{ DAFSD_CONN_BOUND, "bound" }, \
	{ DAFSD_CONN_CLOSING, "closing" }

TRACE_EVENT(dafsd_conn_state,
	TP_PROTO(const struct dafsd_conn *conn, int next),
	TP_ARGS(conn, next),
	TP_STRUCT__entry(
		__field(u32, chan)
		__field(int, state)
		__field(int, next)
	),
	TP_fast_assign(
		__entry->chan = conn->chan->debug_id;
		__entry->state = conn->state;
		__entry->next = next;
	),
	TP_printk("chan=%u %s -> %s", __entry->chan,
		  __print_symbolic(__entry->state, DAFSD_CONN_STATES),
		  __print_symbolic(__entry->next, DAFSD_CONN_STATES))
);

DECLARE_EVENT_CLASS(dafsd_rqst_class,
	TP_PROTO(const struct dafs_rqst *rqst, const char *what),
	TP_ARGS(rqst, what),
	TP_STRUCT__entry(
		__field(u32, chan)
		__field(u16, stream)
		__field(u16, seq)
		__string(proc, dafs_proc_name(rqst->hdr.procedure))
		__string(what, what)
	),
	TP_fast_assign(
		__entry->chan = rqst->chan->debug_id;
		__entry->stream = rqst->hdr.stream_id;
		__entry->seq = rqst->hdr.seq_number;
		__assign_str(proc);
		__assign_str(what);
	),
	TP_printk("chan=%u stream=%u seq=%u %s %s", __entry->chan, __entry->stream,
		  __entry->seq, __get_str(proc), __get_str(what))
);

/* A handler is called: to prepare RDMA, or for the procedure itself */
DEFINE_EVENT(dafsd_rqst_class, dafsd_execute,
	TP_PROTO(const struct dafs_rqst *rqst, const char *what), TP_ARGS(rqst, what));
/* A request has to wait, and what for */
DEFINE_EVENT(dafsd_rqst_class, dafsd_wait,
	TP_PROTO(const struct dafs_rqst *rqst, const char *what), TP_ARGS(rqst, what));
/* It is queued for a worker again */
DEFINE_EVENT(dafsd_rqst_class, dafsd_resume,
	TP_PROTO(const struct dafs_rqst *rqst, const char *what), TP_ARGS(rqst, what));

/* A handler has returned; dafs_rqst_reply follows when the response is sent */
TRACE_EVENT(dafsd_executed,
	TP_PROTO(const struct dafs_rqst *rqst, dafs_status_t status),
	TP_ARGS(rqst, status),
	TP_STRUCT__entry(
		__field(u32, chan)
		__field(u16, stream)
		__field(u16, seq)
		__field(u32, status)
	),
	TP_fast_assign(
		__entry->chan = rqst->chan->debug_id;
		__entry->stream = rqst->hdr.stream_id;
		__entry->seq = rqst->hdr.seq_number;
		__entry->status = (__force u32)status;
	),
	TP_printk("chan=%u stream=%u seq=%u status=%u", __entry->chan, __entry->stream,
		  __entry->seq, __entry->status)
);

/* What becomes of a client: confirmed, expired; and enum dafsd_client_life */
TRACE_EVENT(dafsd_client,
	TP_PROTO(const struct dafsd_client *client, const char *what),
	TP_ARGS(client, what),
	TP_STRUCT__entry(
		__field(u64, client)
		__field(unsigned int, opens)
		__string(what, what)
	),
	TP_fast_assign(
		memcpy(&__entry->client, client->client_id.b, sizeof(__entry->client));
		__entry->opens = client->nr_opens;
		__assign_str(what);
	),
	TP_printk("client=%016llx opens=%u %s", __entry->client, __entry->opens,
		  __get_str(what))
);

/* A grace period begins, for so many clients; or is over, and so many did not come back */
TRACE_EVENT(dafsd_grace,
	TP_PROTO(const char *what, unsigned int clients),
	TP_ARGS(what, clients),
	TP_STRUCT__entry(
		__field(unsigned int, clients)
		__string(what, what)
	),
	TP_fast_assign(
		__entry->clients = clients;
		__assign_str(what);
	),
	TP_printk("%s clients=%u", __get_str(what), __entry->clients)
);

DECLARE_EVENT_CLASS(dafsd_open_class,
	TP_PROTO(u32 id, const struct dafsd_client *client, u64 ino),
	TP_ARGS(id, client, ino),
	TP_STRUCT__entry(
		__field(u64, client)
		__field(u64, ino)
		__field(u32, id)
	),
	TP_fast_assign(
		memcpy(&__entry->client, client->client_id.b, sizeof(__entry->client));
		__entry->ino = ino;
		__entry->id = id;
	),
	TP_printk("client=%016llx open=%u ino=%llu", __entry->client, __entry->id,
		  __entry->ino)
);

/* A client has opened a file */
DEFINE_EVENT(dafsd_open_class, dafsd_opened,
	TP_PROTO(u32 id, const struct dafsd_client *client, u64 ino), TP_ARGS(id, client, ino));
/* It has closed it, or the open was taken from it */
DEFINE_EVENT(dafsd_open_class, dafsd_closed,
	TP_PROTO(u32 id, const struct dafsd_client *client, u64 ino), TP_ARGS(id, client, ino));

/* A client has got a delegation of a file; or has been asked for it, or it has ended */
TRACE_EVENT(dafsd_delegation,
	TP_PROTO(u32 id, const struct dafsd_client *client, u64 ino, const char *what),
	TP_ARGS(id, client, ino, what),
	TP_STRUCT__entry(
		__field(u64, client)
		__field(u64, ino)
		__field(u32, id)
		__string(what, what)
	),
	TP_fast_assign(
		memcpy(&__entry->client, client->client_id.b, sizeof(__entry->client));
		__entry->ino = ino;
		__entry->id = id;
		__assign_str(what);
	),
	TP_printk("client=%016llx delegation=%u ino=%llu %s", __entry->client, __entry->id,
		  __entry->ino, __get_str(what))
);

/* A PERSIST lock has lost its owner, or is broken, or its file was removed */
TRACE_EVENT(dafsd_persist,
	TP_PROTO(u64 number, const char *what),
	TP_ARGS(number, what),
	TP_STRUCT__entry(
		__field(u64, number)
		__string(what, what)
	),
	TP_fast_assign(
		__entry->number = number;
		__assign_str(what);
	),
	TP_printk("record=%llu %s", __entry->number, __get_str(what))
);

/* LOCK or LOCKU: what is locked, and with which result */
TRACE_EVENT(dafsd_lock,
	TP_PROTO(u32 id, const struct dafsd_client *client, int type, loff_t start, loff_t end,
		 dafs_status_t status),
	TP_ARGS(id, client, type, start, end, status),
	TP_STRUCT__entry(
		__field(u64, client)
		__field(u32, id)
		__field(int, type)
		__field(loff_t, start)
		__field(loff_t, end)
		__field(u32, status)
	),
	TP_fast_assign(
		memcpy(&__entry->client, client->client_id.b, sizeof(__entry->client));
		__entry->id = id;
		__entry->type = type;
		__entry->start = start;
		__entry->end = end;
		__entry->status = (__force u32)status;
	),
	TP_printk("client=%016llx open=%u %s %lld-%lld status=%u", __entry->client, __entry->id,
		  __entry->type == F_UNLCK ? "unlock" :
		  __entry->type == F_WRLCK ? "write" : "read",
		  __entry->start, __entry->end, __entry->status)
);

#endif /* _DAFSD_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
