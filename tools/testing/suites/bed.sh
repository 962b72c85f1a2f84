# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# The test bed itself: what it takes for a failure, and what it leaves behind.
# bed: host
# timeout: 120
# needs: style

# shellcheck source=tools/testing/bed/tap.sh
. "$BED/tap.sh"

exec python3 -B "$BED/tests/all.py"
