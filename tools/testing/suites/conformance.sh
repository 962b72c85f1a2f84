# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Conformance page, lists in the manual and fault lists are up to date.
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

# As the name of an entry, "one" or "one, another", or as ``one``
manual=$REPO/Documentation/filesystems/dafs
tap_is "$(for suite in "$REPO"/tools/testing/suites/*.sh; do
	name=$(basename "$suite" .sh)
	grep -Eq "^([a-z]+, )*$name(, [a-z]+)*$|\`\`(tools/testing/run )?$name\`\`" \
		"$manual/testing.rst" || echo "$name"
done)" "" "testing.rst has every suite"
tap_is "$(sed -n 's/^\t\[DAFS_CLOSE_[A-Z]*\].*"\(.*\)",$/\1/p' "$REPO/fs/dafs_common/rdma/chan.c" |
	while read -r reason; do
		grep -q "^$reason  " "$manual/mount-options.rst" || echo "$reason"
	done)" "closed here
lease expired" "mount-options.rst has every reason for which a client gives a connection up"
tap_done
