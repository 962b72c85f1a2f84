# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# The decoders survive 20 seconds of fuzzing.
# bed: host
# timeout: 300

# shellcheck source=tools/testing/bed/tap.sh
. "$BED/tap.sh"

tap_run "fuzzer" make -C "$REPO/tools/testing/fuzz" run SECONDS=20
tap_done
