# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# The page of tested requirements is up to date, and the list of faults to try.
# bed: host
# timeout: 120

# shellcheck source=tools/testing/bed/tap.sh
. "$BED/tap.sh"

check=$REPO/tools/testing/conformance
if [ -x "$check" ]; then
	tap_run "the conformance page is up to date" "$check" --check
else
	tap_skip "the conformance page is up to date" "no such tool"
fi
tap_run "the faults to try stand in the source" \
	python3 -B "$REPO/tools/testing/mutate/mutate.py" --check
tap_done
