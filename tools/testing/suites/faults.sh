# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Allocations of system calls fail, one at a time: the result is true, the next call works.
# bed: um
# timeout: 400
#
# faults:CASE makes each allocation of a case fail, faults:all those of all
# cases, which takes long.

# shellcheck source=tools/testing/faults/guest.sh
. "$BED/../faults/guest.sh"

# shellcheck disable=SC2086,SC2154 # lists of words, from there
case "$*" in
"") fail client $names $data sysfs configfs umount remount mount ;;
all) fail_all client $names $data sysfs configfs umount remount mount ;;
*) fail_all client "$@" ;;
esac
umount -R /mnt/dafs
unload_modules
case "$*" in
"") fail client modules ;;
all) fail_all client modules ;;
esac
tap_done
