# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# The page that says which requirements are tested is up to date.
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
tap_done
