# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# What the clients ask for, by the tracepoint dafs_request.

tracing=/sys/kernel/tracing
mount -t tracefs tracefs $tracing 2>/dev/null
trace_file=/tmp/requests

# requests COMMAND...: what the clients send meanwhile is in $trace_file then,
# one name of a procedure a line.
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

# asked PATTERN: how many of them there were.
asked()
{
	grep -c "$1" $trace_file
}

summary()
{
	sort $trace_file | uniq -c | tr -s ' \n' ' '
}
