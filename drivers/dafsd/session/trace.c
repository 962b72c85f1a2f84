// SPDX-License-Identifier: GPL-2.0
/* The trace points of the server: see trace.h. */
#include "session.h"

#define CREATE_TRACE_POINTS
#include "trace.h"
