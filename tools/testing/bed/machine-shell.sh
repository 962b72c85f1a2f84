# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
#
# machine-shell.sh NUMBER: runs on a machine of machine.py: a shell with
# commands from the serial line. Its soft-RoCE device is on the link to the
# other machine, with the addresses 10.9.0.NUMBER and fd09::NUMBER.

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

hostname "dafs-bed$1"
for module in virtio_net virtio_blk rdma_rxe; do
	modprobe -q $module
done
ip addr add "10.9.0.$1/24" dev eth0 &&
	ip addr add "fd09::$1/64" dev eth0 nodad &&
	ip link set eth0 up &&
	rdma link add rx0 type rxe netdev eth0 || exit
rdma link show

# Keeps the serial line open, because the first open discards its input.
exec 3<>"$RESULTS"
printf '\001%d\n' 0 >&3
# shellcheck source=/dev/null # what the suite says
. "$RESULTS"
