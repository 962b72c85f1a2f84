# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Half of the KUnit suites of the modules, the first in the alphabet, or those that match a pattern.
# bed: um
# timeout: 900
# may-skip: dafs_chain: dafs_chain_checksum_test: * order
# may-skip: dafs_channel: dafs_chan_write_cksum_test: * order
# may-skip: dafs_data: data_write_cksum_test: * order
# may-skip: dafs_append: append_cksum_test: * order

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

# kunit2 has the others: one kernel cannot keep the call traces of all of them for KASAN.
FIRST_HALF='dafs_[a-g]*'
results=/sys/kernel/debug/kunit

# run_module MODULE: loads it, which runs its suites, and copies their results.
run_module()
{
	before=$(ls $results)
	tap_run "$1 loads" modprobe "$1" || return
	for suite in $results/*; do
		[ -e "$suite" ] &&
			! echo "$before" | grep -qx "$(basename "$suite")" ||
			continue
		cat "$suite/results" >>"$RESULTS"
		found=$((found + 1))
	done
}

# The kernel takes one pattern, and does not strip a newline.
run_like()
{
	printf %s "$1" >/sys/module/kunit/parameters/filter_glob
	for module in dafs_common_kunit dafs_kunit; do
		# rmmod, because modprobe -r would unload the server, too
		[ ! -d /sys/module/$module ] || rmmod $module
		found=0
		run_module $module
		[ "$1" = "$FIRST_HALF" ] || continue
		tap_run "$module has suites" [ $found -gt 0 ]
	done
	tap_run "there is a test like $1" ls $results/*/results
}

# The set-up for dafs_kunit: see fs/dafs/tests/lib/fixture.c.
setup_rxe
make_backing /srv/data 512
make_backing /srv/data/ro 128
enable_quota /srv/data/ro
ln -s data/ro /srv/ro
mkdir /srv/ro/squash /srv/squash
chmod 1777 /srv/ro/squash
mount --bind /srv/ro/squash /srv/squash
load_modules "/srv/data:no_root_squash,/srv/ro:ro:no_root_squash,/srv/squash:subtree_check"
# What a suite leaves behind must not be in the way of the next one, but only in that of courtesy.
echo 0 >/sys/module/dafsd/parameters/courtesy

[ $# -gt 0 ] || set -- "$FIRST_HALF"
for pattern; do
	run_like "$pattern"
done
tap_done
