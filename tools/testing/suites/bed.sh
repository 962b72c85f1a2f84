# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# The test bed itself: which results are failures, and that nothing is left running.
# bed: host
# timeout: 120
# needs: style

# shellcheck source=tools/testing/bed/tap.sh
. "$BED/tap.sh"

exec python3 -B "$BED/tests/all.py"
