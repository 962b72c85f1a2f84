// SPDX-License-Identifier: GPL-2.0
/* The trace points of channels, requesters and responders: see trace.h. */
#include "rdma_impl.h"

#define CREATE_TRACE_POINTS
#include "trace.h"
