# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# The decoders survive 20 seconds of fuzzing.
# bed: host
# timeout: 300
# needs: fuzz

# shellcheck source=tools/testing/bed/tap.sh
. "$BED/tap.sh"

tap_run "codec" make -s -C "$REPO/tools/testing/fuzz" run SECONDS=20 \
	BUILD="${DAFS_CACHE:-/var/cache/dafs}/fuzz"
tap_done
