# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Allocations of system calls fail, one at a time: an error or none, and it goes on.
# bed: um
# timeout: 400
#
# faults:CASE has every one of its allocations fail, faults:all every one of all
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
