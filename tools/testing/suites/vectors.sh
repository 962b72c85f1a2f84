# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# The test vectors of the wire format are up to date with their generator.
# bed: host
# timeout: 120

# shellcheck source=tools/testing/bed/tap.sh
. "$BED/tap.sh"

tap_run "vectors are up to date" \
	python3 -B "$REPO/tools/testing/vectors/gen.py" --check
tap_done
