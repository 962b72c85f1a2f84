# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# All KUnit suites of the modules.
# bed: um
# timeout: 300

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

setup_rxe
for module in dafs_common_kunit dafs_kunit; do
	before=$(ls /sys/kernel/debug/kunit)
	tap_run "$module loads" modprobe $module || continue
	for suite in /sys/kernel/debug/kunit/*; do
		echo "$before" | grep -qx "$(basename "$suite")" ||
			cat "$suite/results" >>"$RESULTS"
	done
done
tap_done
