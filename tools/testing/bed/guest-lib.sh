# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
#
# What the script of a suite in a guest starts with:	. "$BED/guest-lib.sh"

# shellcheck source=tools/testing/bed/tap.sh
. "$BED/tap.sh"

ADDR4=10.9.0.1
ADDR6=fd09::1

# One soft-RoCE device, rx0, with ADDR4 and ADDR6. On a dummy interface: the
# RDMA core refuses loopback's addresses.
setup_rxe()
{
	modprobe -q dummy numdummies=0
	modprobe -q rdma_rxe
	ip link add dum0 type dummy &&
	ip addr add $ADDR4/24 dev dum0 &&
	ip addr add $ADDR6/64 dev dum0 nodad &&
	ip link set dum0 mtu 9000 up &&
	rdma link add rx0 type rxe netdev dum0 ||
		tap_bail "no soft-RoCE device"
	rdma link show
}

# make_backing DIR MEGABYTES: mounts a new ext4 on a RAM disk, the first call
# on /dev/ram0, the next on /dev/ram1, ...
make_backing()
{
	modprobe -q brd rd_nr=4 rd_size=16777216
	backing_disk=/dev/ram${BACKING_NEXT:-0}
	BACKING_NEXT=$((${BACKING_NEXT:-0} + 1))
	mkdir -p "$1"
	mkfs.ext4 -q -F -I 256 "$backing_disk" "$2M" &&
	mount -t ext4 "$backing_disk" "$1" ||
		tap_bail "no ext4 for the exports"
}

# enable_quota DIR: quotas of users, on what make_backing has just made there.
enable_quota()
{
	umount "$1" &&
	tune2fs -O quota "$backing_disk" &&
	mount -t ext4 -o usrquota "$backing_disk" "$1" ||
		tap_bail "no quotas"
}

# load_modules [EXPORTS]: both ends; EXPORTS as in modprobe dafsd exports=.
load_modules()
{
	modprobe dafsd ${1:+"exports=$1"} && modprobe dafs ||
		tap_bail "the modules do not load"
}

unload_modules()
{
	modprobe -r dafs && modprobe -r dafsd
}

# mount_dafs NAME DIR [OPTIONS]: this machine's export of that name.
mount_dafs()
{
	mkdir -p "$2"
	mount -t dafs ${3:+-o "$3"} "$ADDR4:/$1" "$2"
}

# counted PROCEDURE COLUMN: one number that mountstats has of /mnt/dafs
counted()
{
	awk -v "proc=$1:" -v "column=$2" '
		/^device / { ours = $5 == "/mnt/dafs" }
		ours && $1 == proc { print $(column + 1) }' /proc/self/mountstats
}
