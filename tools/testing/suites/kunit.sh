# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# All KUnit suites of the modules, or those whose names are given.
# bed: um
# timeout: 900
# may-skip: *: native order
# may-skip: *: swapped order

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

pattern=$*
# The kernel takes one pattern, and a line's end for a part of it.
if [ $# = 1 ]; then
	printf %s "$1" >/sys/module/kunit/parameters/filter_glob
elif [ $# -gt 1 ]; then
	tap_bail "one KUnit suite or all"
fi

# run_module MODULE: loads it, which runs its suites, and copies their results.
run_module()
{
	before=$(ls /sys/kernel/debug/kunit)
	found=0
	tap_run "$1 loads" modprobe "$1" || return
	for suite in /sys/kernel/debug/kunit/*; do
		[ -e "$suite" ] &&
			! echo "$before" | grep -qx "$(basename "$suite")" ||
			continue
		cat "$suite/results" >>"$RESULTS"
		found=$((found + 1))
	done
	[ "$pattern" ] || tap_run "$1 has suites" [ $found -gt 0 ]
}

run_module dafs_common_kunit

# What dafs_kunit wants to find: fs/dafs/tests/fixture.c.
setup_rxe
make_backing /srv/data 512
make_backing /srv/data/ro 128
enable_quota /srv/data/ro
ln -s data/ro /srv/ro
mkdir /srv/ro/squash /srv/squash
chmod 1777 /srv/ro/squash
mount --bind /srv/ro/squash /srv/squash
load_modules "/srv/data:no_root_squash,/srv/ro:ro:no_root_squash,/srv/squash:subtree_check"
run_module dafs_kunit
[ $# = 0 ] || tap_run "there is a test like $1" ls /sys/kernel/debug/kunit/*/results
tap_done
