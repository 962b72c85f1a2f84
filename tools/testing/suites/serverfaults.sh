# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Allocations of the work queues fail, once each: the server's, and the client's.
# bed: um
# timeout: 400
#
# serverfaults:CASE has every one of its allocations fail, serverfaults:all every one
# of all cases, which takes long.

# shellcheck source=tools/testing/faults/guest.sh
. "$BED/../faults/guest.sh"

# shellcheck disable=SC2086,SC2154 # lists of words, from there
case "$*" in
"")
	fail slab $names $data $sessions
	fail page readdir $data $sessions ;;
all)
	fail_all slab $names $data $sessions
	fail_all page $names $data $sessions ;;
*)
	fail_all slab "$@"
	fail_all page "$@" ;;
esac
! mountpoint -q /mnt/dafs || umount -R /mnt/dafs
tap_done
