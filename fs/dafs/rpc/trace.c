// SPDX-License-Identifier: GPL-2.0
/* The trace points of the client: see trace.h. */
#include "rpc_impl.h"

#define CREATE_TRACE_POINTS
#include "trace.h"
