# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Every allocation of the work queues fails once, while names and data change.
# bed: um
# timeout: 400

# shellcheck source=tools/testing/faults/guest.sh
. "$BED/../faults/guest.sh"

if [ $# != 0 ]; then
	FAULT_ALL=1 fail slab "$@"
	FAULT_ALL=1 fail page "$@"
else
	fail slab mkdir mknod symlink link rename lookup write write_large write_sync \
		write_close commit direct direct_large append append_large
	fail page write_large direct_large
fi
umount -R /mnt/dafs
tap_done
