# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Requests of the clients, by the tracepoint dafs_request.

tracing=/sys/kernel/tracing
mount -t tracefs tracefs $tracing 2>/dev/null
trace_file=/tmp/requests

# requests COMMAND...: runs it and records the requests in $trace_file, one
# procedure name a line.
requests()
{
	echo >$tracing/trace
	echo 1 >$tracing/events/dafs/dafs_request/enable
	"$@"
	requests_status=$?
	echo 0 >$tracing/events/dafs/dafs_request/enable
	sed -n 's/.*dafs_request: .* seq=[0-9]* \([A-Z_]*\) .*/\1/p' $tracing/trace |
		grep -v -e '^NULL$' -e REGISTER_CRED >$trace_file
	return $requests_status
}

# asked PATTERN: number of those that match.
asked()
{
	grep -c "$1" $trace_file
}

summary()
{
	sort $trace_file | uniq -c | tr -s ' \n' ' '
}
