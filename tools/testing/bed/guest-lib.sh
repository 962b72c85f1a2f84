# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
#
# Functions for suites in a guest, which begin with . "$BED/guest-lib.sh"

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

# make_slow_disk MEGABYTES [DEVICE]: /dev/mapper/slow, as fast as the device until
# slow_disk is called.  A RAM disk has no cache to flush, so without DEVICE it is on a
# file in memory.
make_slow_disk()
{
	modprobe -q loop
	modprobe -q dm-delay
	slow_on=${2:-}
	if [ -z "$slow_on" ]; then
		truncate -s "$1M" /run/slow &&
			slow_on=$(losetup --find --show /run/slow) || tap_bail "no loop device"
	fi
	slow_sectors=$(($1 * 2048))
	dmsetup create slow --table "$(slow_table 0 0)" || tap_bail "no slow disk"
}

slow_table()
{
	echo "0 $slow_sectors delay $slow_on 0 0 $slow_on 0 $1 $slow_on 0 $2"
}

# slow_disk WRITE FLUSH: milliseconds that each takes; pending ones end now.
slow_disk()
{
	dmsetup suspend --nolockfs slow &&
		dmsetup reload slow --table "$(slow_table "$1" "$2")" &&
		dmsetup resume slow
}

# remove_slow_disk: its file system must be unmounted.
remove_slow_disk()
{
	dmsetup remove slow
	[ ! -e /run/slow ] || losetup -d "$slow_on"
}

# disk_table TABLE: replaces the table of the mapped device "disk"; earlier requests
# use the old table.
disk_table()
{
	dmsetup suspend --noflush --nolockfs disk &&
		echo "$1" | dmsetup load disk &&
		dmsetup resume disk
}

# enable_quota DIR: user quotas, on the file system that make_backing has just made there.
enable_quota()
{
	umount "$1" &&
	tune2fs -O quota "$backing_disk" &&
	mount -t ext4 -o usrquota "$backing_disk" "$1" ||
		tap_bail "no quotas"
}

# load_modules [EXPORTS]: client and server; EXPORTS as in modprobe dafsd exports=.
load_modules()
{
	modprobe dafsd ${1:+"exports=$1"} && modprobe dafs ||
		tap_bail "the modules do not load"
}

unload_modules()
{
	modprobe -r dafs && modprobe -r dafsd
}

# start_server [OPTION...]: of modprobe dafsd; without any, those of the last time
start_server()
{
	[ $# = 0 ] || server_options=$*
	# shellcheck disable=SC2086 # words
	modprobe dafsd $server_options
}

# end_server: without that, a restart would prove nothing
end_server()
{
	modprobe -r dafsd || tap_bail "the server does not end"
}

restart_server()
{
	end_server
	start_server "$@"
}

# grace_is_over: whether the server waits for nobody of before its restart
grace_is_over()
{
	grep -qx 0 /sys/module/dafsd/parameters/grace
}

# client NAME: the id of the client whose name has that in it
client()
{
	dafsdctl clients | grep " name=\"[^\"]*$1\"\| name=[^ ]*$1 " |
		grep -oE "(^| )client=[^ ]+" | cut -d = -f 2
}

# is_back NAME FORMER: the client with that name has another client-id than FORMER
is_back()
{
	id=$(client "$1")
	[ -n "$id" ] && [ "$id" != "$2" ]
}

# cut_off: no client reaches the server any more, until reconnect
cut_off()
{
	ip link set dum0 down
}

reconnect()
{
	ip link set dum0 up
	ip addr add $ADDR6/64 dev dum0 nodad 2>/dev/null
	rdma link delete rx0
	rdma link add rx0 type rxe netdev dum0
}

# crash DIR: the machine that has DIR mounted, and runs what hold has started, crashes, as far as
# the server can see
crash()
{
	cut_off
	kill_held
	wait $holder 2>/dev/null
	umount -f -l "$1"
}

# mount_dafs NAME DIR [OPTIONS]: mounts this machine's export of that name.
mount_dafs()
{
	mkdir -p "$2"
	mount -t dafs ${3:+-o "$3"} "$ADDR4:/$1" "$2"
}

# eventually COMMAND...: retries until it succeeds, also on a slow machine.
eventually()
{
	patience=$(($(date +%s) + 300))
	until "$@"; do
		[ "$(date +%s)" -lt $patience ] || return 1
		sleep 0.1
	done
}

# reconnects: how often the mount /mnt/dafs has connected again, by all paths
reconnects()
{
	sed -n '/ on \/mnt\/dafs /,/^device/s/.*session:.*,reconnects=\([0-9]*\).*/\1/p' \
		/proc/self/mountstats
}

# lose_connections EVERY: at each stage of a request, the connection of one of so many is lost; some
# are late.  Clients come back soon.
lose_connections()
{
	echo 1 >/sys/module/dafs/parameters/reconnect_min_delay_ms
	echo 20 >/sys/module/dafs/parameters/reconnect_max_delay_ms
	mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug
	for stage in send arrived executed answered delay; do
		(cd /sys/kernel/debug/fail_dafs/$stage && echo "$1" >interval && echo 0 >verbose &&
			echo "-1" >"times" && echo 100 >probability) || return
	done
}

# keep_connections: no more are lost
keep_connections()
{
	for stage in /sys/kernel/debug/fail_dafs/*/probability; do
		echo 0 >"$stage"
	done
}

# gone PID: whether a process has ended.
gone()
{
	! kill -0 "$1" 2>/dev/null
}

# waits_for_server PID: waits until it stays in state D, in which only a fatal signal
# wakes it; fails if it ends or does not get there in time.
waits_for_server()
{
	asleep=0
	patience=$(($(date +%s) + 300))
	while [ $asleep -lt 3 ]; do
		[ "$(date +%s)" -lt $patience ] || return 1
		case $(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$1/status") in
		D) asleep=$((asleep + 1)) ;;
		Z | "") return 1 ;;
		*) asleep=0 ;;
		esac
		sleep 0.1
	done
}

# said COMMAND...: what it prints, and its exit status
said()
{
	"$@" 2>&1
	echo $?
}

# hold_after BEFORE COMMAND...: runs COMMAND, which takes another command to run as its last
# arguments and holds something meanwhile, in the background ($holder), until release; inside it,
# BEFORE has been done
hold_after()
{
	rm -f /tmp/held
	held_before=$1
	shift
	"$@" sh -c "$held_before; : >/tmp/held; while [ -e /tmp/held ]; do sleep 0.1; done" &
	holder=$!
	eventually [ -e /tmp/held ]
}

# hold COMMAND...
hold()
{
	hold_after : "$@"
}

release()
{
	rm /tmp/held
	wait $holder
}

# kill_held: what has it inside of COMMAND
kill_held()
{
	pkill -9 -f /tmp/held
}

# wait_all PID...: waits for these jobs; $failed is the number of those that failed.
wait_all()
{
	failed=0
	for pid; do
		wait "$pid" || failed=$((failed + 1))
	done
	[ $failed = 0 ]
}

# KiB under write-back on a mount, with uncommitted data
under_writeback()
{
	sed -n 's/^BdiWriteback: *\([0-9]*\) kB/\1/p' /sys/kernel/debug/bdi/dafs-*/stats
}

# counted PROCEDURE COLUMN [DIR]: one number of a mount's mountstats, /mnt/dafs
counted()
{
	awk -v "proc=$1:" -v "column=$2" -v "dir=${3:-/mnt/dafs}" '
		/^device / { ours = $5 == dir }
		ours && $1 == proc { print $(column + 1) }' /proc/self/mountstats
}

# unstable kept|most [DIR]: number or maximum of a mount's bytes that are not stable
unstable()
{
	awk -v "field=$1" -v "dir=${2:-/mnt/dafs}" '
		/^device / { ours = $5 == dir }
		ours && $1 == "unstable:" {
			split($2, pair, /[=,]/)
			print pair[1] == field ? pair[2] : pair[4]
		}' /proc/self/mountstats
}

# keeps_most [DIR]: whether a mount keeps as much as it may, and nothing is being written.
keeps_most()
{
	before=${written:-}
	written=$(counted WRITE_DIRECT 6 "${1:-/mnt/dafs}")
	kept=$(unstable kept "$1") most=$(unstable most "$1")
	[ "$kept" -ge "$most" ] && [ "$written" = "$before" ] && return
	sleep 5
	return 1
}

# is_bounded [DIR]: whether a mount keeps at most what it may, plus requests in flight,
# of which up to 45 MiB were seen.
is_bounded()
{
	kept=$(unstable kept "$1") most=$(unstable most "$1")
	echo "kept $kept, bound $most"
	[ "$kept" -lt $((most + 83886080)) ]
}
