/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM dafs

#if !defined(_DAFS_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _DAFS_TRACE_H

#include <linux/tracepoint.h>
#include <linux/dafs/chan.h>
#include <linux/dafs/mem.h>
#include <linux/dafs/requester.h>
#include <linux/dafs/responder.h>
#include <rdma/rdma_cm.h>

TRACE_DEFINE_ENUM(DAFS_CHAN_NEW);
TRACE_DEFINE_ENUM(DAFS_CHAN_ADDR);
TRACE_DEFINE_ENUM(DAFS_CHAN_ROUTE);
TRACE_DEFINE_ENUM(DAFS_CHAN_CONNECTING);
TRACE_DEFINE_ENUM(DAFS_CHAN_OPEN);
TRACE_DEFINE_ENUM(DAFS_CHAN_CLOSING);
TRACE_DEFINE_ENUM(DAFS_CHAN_CLOSED);

#define DAFS_CHAN_STATES \
	{ DAFS_CHAN_NEW, "new" }, \
	{ DAFS_CHAN_ADDR, "addr" }, \
	{ DAFS_CHAN_ROUTE, "route" }, \
	{ DAFS_CHAN_CONNECTING, "connecting" }, \
	{ DAFS_CHAN_OPEN, "open" }, \
	{ DAFS_CHAN_CLOSING, "closing" }, \
	{ DAFS_CHAN_CLOSED, "closed" }

TRACE_EVENT(dafs_chan_state,
	TP_PROTO(const struct dafs_chan *chan, int next),
	TP_ARGS(chan, next),
	TP_STRUCT__entry(
		__field(u32, chan)
		__field(int, state)
		__field(int, next)
	),
	TP_fast_assign(
		__entry->chan = chan->debug_id;
		__entry->state = chan->state;
		__entry->next = next;
	),
	TP_printk("chan=%u %s -> %s", __entry->chan,
		  __print_symbolic(__entry->state, DAFS_CHAN_STATES),
		  __print_symbolic(__entry->next, DAFS_CHAN_STATES))
);

TRACE_EVENT(dafs_connect,
	TP_PROTO(const struct dafs_chan *chan),
	TP_ARGS(chan),
	TP_STRUCT__entry(
		__field(u32, chan)
		__field(u32, type)
		__field(bool, active)
		__field(u16, depth)
		__field(u32, send_size)
		__field(u32, recv_size)
		__array(u8, peer, sizeof(struct sockaddr_in6))
	),
	TP_fast_assign(
		__entry->chan = chan->debug_id;
		__entry->type = chan->active ? chan->type : chan->peer_type;
		__entry->active = chan->active;
		__entry->depth = chan->limits.depth;
		__entry->send_size = chan->limits.send_size;
		__entry->recv_size = chan->limits.recv_size;
		memcpy(__entry->peer, &chan->peer, sizeof(struct sockaddr_in6));
	),
	TP_printk("chan=%u type=%u %s peer=%pISpc depth=%u send_size=%u recv_size=%u",
		  __entry->chan, __entry->type, __entry->active ? "active" : "passive",
		  __entry->peer, __entry->depth, __entry->send_size, __entry->recv_size)
);

TRACE_EVENT(dafs_close,
	TP_PROTO(const struct dafs_chan *chan, enum dafs_close_reason reason),
	TP_ARGS(chan, reason),
	TP_STRUCT__entry(
		__field(u32, chan)
		__string(reason, dafs_close_reason_name(reason))
	),
	TP_fast_assign(
		__entry->chan = chan->debug_id;
		__assign_str(reason);
	),
	TP_printk("chan=%u %s", __entry->chan, __get_str(reason))
);

TRACE_EVENT(dafs_cm_event,
	TP_PROTO(const struct dafs_chan *chan, const struct rdma_cm_event *event),
	TP_ARGS(chan, event),
	TP_STRUCT__entry(
		__field(u32, chan)
		__field(int, status)
		__string(event, rdma_event_msg(event->event))
	),
	TP_fast_assign(
		__entry->chan = chan->debug_id;
		__entry->status = event->status;
		__assign_str(event);
	),
	TP_printk("chan=%u %s status=%d", __entry->chan, __get_str(event), __entry->status)
);

TRACE_EVENT(dafs_qp_event,
	TP_PROTO(const struct dafs_chan *chan, int event),
	TP_ARGS(chan, event),
	TP_STRUCT__entry(
		__field(u32, chan)
		__string(event, ib_event_msg(event))
	),
	TP_fast_assign(
		__entry->chan = chan->debug_id;
		__assign_str(event);
	),
	TP_printk("chan=%u %s", __entry->chan, __get_str(event))
);

TRACE_EVENT(dafs_wc_error,
	TP_PROTO(const struct dafs_chan *chan, const char *what, const struct ib_wc *wc),
	TP_ARGS(chan, what, wc),
	TP_STRUCT__entry(
		__field(u32, chan)
		__field(u32, vendor)
		__string(what, what)
		__string(status, ib_wc_status_msg(wc->status))
	),
	TP_fast_assign(
		__entry->chan = chan->debug_id;
		__entry->vendor = wc->vendor_err;
		__assign_str(what);
		__assign_str(status);
	),
	TP_printk("chan=%u %s: %s (vendor %#x)", __entry->chan, __get_str(what),
		  __get_str(status), __entry->vendor)
);

TRACE_EVENT(dafs_bad_message,
	TP_PROTO(const struct dafs_chan *chan, const void *data, u32 len),
	TP_ARGS(chan, data, len),
	TP_STRUCT__entry(
		__field(u32, chan)
		__field(u32, len)
		__field(u32, shown)
		__array(u8, data, DAFS_HDR_SIZE)
	),
	TP_fast_assign(
		__entry->chan = chan->debug_id;
		__entry->len = len;
		__entry->shown = min_t(u32, len, DAFS_HDR_SIZE);
		memcpy(__entry->data, data, __entry->shown);
	),
	TP_printk("chan=%u len=%u %s", __entry->chan, __entry->len,
		  __print_hex(__entry->data, __entry->shown))
);

TRACE_EVENT(dafs_request,
	TP_PROTO(const struct dafs_call *call),
	TP_ARGS(call),
	TP_STRUCT__entry(
		__field(u32, chan)
		__field(int, stream)
		__field(u16, seq)
		__field(u16, chain)
		__field(unsigned int, mrs)
		__string(proc, dafs_proc_name(call->proc))
	),
	TP_fast_assign(
		__entry->chan = call->chan->debug_id;
		__entry->stream = call->slot;
		__entry->seq = call->hdr.seq_number;
		__entry->chain = call->chain_flags;
		__entry->mrs = call->mem ? call->mem->nr : 0;
		__assign_str(proc);
	),
	TP_printk("chan=%u stream=%d seq=%u %s chain=%x regions=%u", __entry->chan,
		  __entry->stream, __entry->seq, __get_str(proc), __entry->chain,
		  __entry->mrs)
);

TRACE_EVENT(dafs_reply,
	TP_PROTO(const struct dafs_call *call),
	TP_ARGS(call),
	TP_STRUCT__entry(
		__field(u32, chan)
		__field(int, stream)
		__field(u16, seq)
		__field(u32, status)
		__field(int, error)
		__field(unsigned long, jiffies)
		__string(proc, dafs_proc_name(call->proc))
	),
	TP_fast_assign(
		__entry->chan = call->chan->debug_id;
		__entry->stream = call->slot;
		__entry->seq = call->hdr.seq_number;
		__entry->status = (__force u32)call->status;
		__entry->error = call->error;
		__entry->jiffies = jiffies - call->sent_at;
		__assign_str(proc);
	),
	TP_printk("chan=%u stream=%d seq=%u %s status=%u error=%d jiffies=%lu", __entry->chan,
		  __entry->stream, __entry->seq, __get_str(proc), __entry->status,
		  __entry->error, __entry->jiffies)
);

TRACE_EVENT(dafs_rqst,
	TP_PROTO(const struct dafs_rqst *rqst),
	TP_ARGS(rqst),
	TP_STRUCT__entry(
		__field(u32, chan)
		__field(u16, stream)
		__field(u16, seq)
		__field(u16, chain)
		__field(u32, refuse)
		__string(proc, dafs_proc_name(rqst->hdr.procedure))
	),
	TP_fast_assign(
		__entry->chan = rqst->chan->debug_id;
		__entry->stream = rqst->hdr.stream_id;
		__entry->seq = rqst->hdr.seq_number;
		__entry->chain = rqst->hdr.chain_flags;
		__entry->refuse = (__force u32)rqst->refuse;
		__assign_str(proc);
	),
	TP_printk("chan=%u stream=%u seq=%u %s chain=%x refuse=%u", __entry->chan,
		  __entry->stream, __entry->seq, __get_str(proc), __entry->chain,
		  __entry->refuse)
);

TRACE_EVENT(dafs_rqst_reply,
	TP_PROTO(const struct dafs_rqst *rqst, dafs_status_t status, u32 len),
	TP_ARGS(rqst, status, len),
	TP_STRUCT__entry(
		__field(u32, chan)
		__field(u16, stream)
		__field(u16, seq)
		__field(u32, status)
		__field(u32, len)
	),
	TP_fast_assign(
		__entry->chan = rqst->chan->debug_id;
		__entry->stream = rqst->hdr.stream_id;
		__entry->seq = rqst->hdr.seq_number;
		__entry->status = (__force u32)status;
		__entry->len = len;
	),
	TP_printk("chan=%u stream=%u seq=%u status=%u len=%u", __entry->chan,
		  __entry->stream, __entry->seq, __entry->status, __entry->len)
);

TRACE_EVENT(dafs_credit,
	TP_PROTO(const struct dafs_chan *chan, u16 from, u16 to, u16 target),
	TP_ARGS(chan, from, to, target),
	TP_STRUCT__entry(
		__field(u32, chan)
		__field(u16, from)
		__field(u16, to)
		__field(u16, target)
	),
	TP_fast_assign(
		__entry->chan = chan->debug_id;
		__entry->from = from;
		__entry->to = to;
		__entry->target = target;
	),
	TP_printk("chan=%u nreq %u -> %u target=%u", __entry->chan, __entry->from,
		  __entry->to, __entry->target)
);

DECLARE_EVENT_CLASS(dafs_mem_class,
	TP_PROTO(const struct dafs_mem *mem),
	TP_ARGS(mem),
	TP_STRUCT__entry(
		__field(u32, chan)
		__field(unsigned int, regions)
		__field(size_t, len)
		__field(u32, key)
		__field(int, dir)
	),
	TP_fast_assign(
		__entry->chan = mem->chan->debug_id;
		__entry->regions = mem->nr;
		__entry->len = mem->len;
		__entry->key = mem->nr ? mem->bufs[0].buffer_handle : 0;
		__entry->dir = mem->dir;
	),
	TP_printk("chan=%u regions=%u len=%zu key=%#x %s", __entry->chan, __entry->regions,
		  __entry->len, __entry->key,
		  __entry->dir == DMA_FROM_DEVICE ? "peer writes" : "peer reads")
);

DEFINE_EVENT(dafs_mem_class, dafs_mem_map,
	TP_PROTO(const struct dafs_mem *mem), TP_ARGS(mem));
DEFINE_EVENT(dafs_mem_class, dafs_mem_unmap,
	TP_PROTO(const struct dafs_mem *mem), TP_ARGS(mem));

#endif /* _DAFS_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
