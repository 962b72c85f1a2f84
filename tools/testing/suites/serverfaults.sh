# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Allocations of the work queues fail, one at a time: the server's, and the client's.
# bed: um
# timeout: 400
# may-log: : Out of memory
#
# serverfaults:CASE makes each allocation of a case fail, serverfaults:all those of
# all cases, which takes long.

# shellcheck source=tools/testing/faults/guest.sh
. "$BED/../faults/guest.sh"

# shellcheck disable=SC2086,SC2154 # lists of words, from there
case "$*" in
"")
	fail slab $names $data $sessions grow
	fail page readdir $data $sessions ;;
all)
	fail_all slab $names $data $sessions grow
	fail_all page $names $data $sessions ;;
*)
	fail_all slab "$@"
	fail_all page "$@" ;;
esac
! mountpoint -q /mnt/dafs || umount -R /mnt/dafs
tap_done
