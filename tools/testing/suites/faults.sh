# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Every allocation of a system call fails once: an error or none, and it goes on.
# bed: um
# timeout: 400

# shellcheck source=tools/testing/faults/guest.sh
. "$BED/../faults/guest.sh"

# shellcheck disable=SC2086,SC2154 # lists of words, from there
if [ $# != 0 ]; then
	FAULT_ALL=1 fail client "$@"
else
	fail client $names $data sysfs configfs umount remount mount
fi
umount -R /mnt/dafs
unload_modules
[ $# != 0 ] || fail client modules
tap_done
