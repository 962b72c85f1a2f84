# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
#
# Test results of a suite, as TAP, on the results channel. They are shown in the
# log, too.

TAP_COUNT=0
TAP_FAILED=0

tap_line()
{
	echo "$*" >>"$RESULTS"
	echo "$*"
}

# tap_result STATUS NAME: a test that passed if STATUS is 0.
tap_result()
{
	TAP_COUNT=$((TAP_COUNT + 1))
	if [ "$1" = 0 ]; then
		tap_line "ok $TAP_COUNT - $2"
	else
		TAP_FAILED=$((TAP_FAILED + 1))
		tap_line "not ok $TAP_COUNT - $2"
	fi
}

tap_ok()
{
	tap_result 0 "$1"
}

tap_not_ok()
{
	tap_result 1 "$1"
}

# tap_skip NAME REASON
tap_skip()
{
	tap_ok "$1 # SKIP $2"
}

# tap_is GOT WANT NAME
tap_is()
{
	if [ "$1" = "$2" ]; then
		tap_result 0 "$3"
	else
		tap_result 1 "$3"
		tap_line "# got:  $1"
		tap_line "# want: $2"
	fi
}

# tap_run NAME COMMAND...: passes if COMMAND succeeds, and returns its status.
tap_run()
{
	tap_name=$1
	shift
	tap_status=0
	"$@" || tap_status=$?
	tap_result $tap_status "$tap_name"
	[ $tap_status = 0 ] || tap_line "# exit status $tap_status of: $*"
	return $tap_status
}

# tap_fails NAME COMMAND...: passes if COMMAND fails.
tap_fails()
{
	tap_name=$1
	shift
	if "$@"; then
		tap_result 1 "$tap_name"
		tap_line "# succeeded: $*"
	else
		tap_result 0 "$tap_name"
	fi
}

# tap_silent NAME COMMAND...: passes if COMMAND succeeds and prints nothing.
tap_silent()
{
	tap_name=$1
	shift
	tap_status=0
	tap_said=$("$@" 2>&1) || tap_status=$?
	[ -z "$tap_said" ] || tap_status=1
	tap_result $tap_status "$tap_name"
	[ -z "$tap_said" ] || tap_line "$(echo "$tap_said" | sed 's/^/# /')"
	return $tap_status
}

# tap_done: the plan; ends the script.
tap_done()
{
	tap_line "1..$TAP_COUNT"
	[ $TAP_FAILED = 0 ]
	exit
}

# tap_bail REASON: ends the suite, because the rest cannot work.
tap_bail()
{
	tap_line "Bail out! $*"
	exit 1
}
