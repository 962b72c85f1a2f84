# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# The power of the server's disk fails after any write and any flush: what it was told stays.
# bed: um
# timeout: 300
# needs: replay
#
# Two clients, and one after them, work while dm-log-writes records the disk that has the state
# directory and the exported files; then a server starts on each disk that a power failure may
# have left.  replay:all tries all of them instead of a choice, and more kinds of file systems;
# replay:7 has other random numbers.

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

all=
seed=1
for word; do
	case $word in
	all) all=yes ;;
	*) seed=$word ;;
	esac
done
here=$BED/../replay
dir=/run/replay
mkdir $dir
modprobe -q loop
setup_rxe
modprobe dafs && modprobe dafsd && modprobe -r dafsd || tap_bail "the modules do not load"
module=$(modinfo -n dafsd)

# Where the file systems are: of the state directory, and of the exported files
state=/mnt/state
data=/mnt/data
mkdir -p $state $data

# format DEVICE TYPE: small ones, for which mkfs.xfs has to be told that it is a test
format()
{
	case $2 in
	ext4) mkfs.ext4 -q -F -b 4096 -J size=4 -E lazy_itable_init=0,lazy_journal_init=0 "$1" ;;
	xfs) mkfs.xfs -q -f --unsupported "$1" ;;
	esac
}

# slice NAME MEGABYTES FROM: a part of the recorded disk
slice()
{
	dmsetup create "$1" --table "0 $(($2 * 2048)) linear /dev/mapper/record $(($3 * 2048))"
}

# part MEGABYTES FROM: a device with this part of the disk to be written
part()
{
	losetup --find --show --offset $(($2 << 20)) --sizelimit $(($1 << 20)) $dir/disk
}

# record STEPS: the work of the clients
record()
{
	rm -f $dir/history
	python3 -B "$here/load.py" $dir/history "$seed" "$1" $data/data $state/state
}

# replay OPTION...: a server on each disk
replay()
{
	# shellcheck disable=SC2086 # a list
	python3 -B "$here/replay.py" "$@" --seed "$seed" "$module" $dir/base $dir/log \
		$dir/history $dir/disk $parts
}

# make_disk MEGABYTES: recorded, empty
make_disk()
{
	truncate -s "$1M" $dir/recorded $dir/disk
	truncate -s 1G $dir/log
	under=$(losetup --find --show $dir/recorded)
	log=$(losetup --find --show $dir/log)
}

start_recording()
{
	cp --sparse=always $dir/recorded $dir/base
	dmsetup create record --table \
		"0 $(blockdev --getsz "$under") log-writes $under $log"
}

remove_disk()
{
	losetup -d "$under" "$log" "$@"
	rm $dir/*
}

# one TYPE STEPS OPTION...: all is on one file system
one()
{
	state=$data
	make_disk 24
	format "$under" "$1" && mount "$under" $data && mkdir $data/data && umount $data ||
		tap_bail "no $1"
	start_recording && mount /dev/mapper/record $data || tap_bail "nothing is recorded"
	tap_run "$1: clients work while the disk is recorded" record "$2"
	umount $data
	dmsetup remove record
	loop=$(part 24 0)
	parts=$loop:$1:$data
	name=$1
	shift 2
	check "$name" "$@"
	remove_disk "$loop"
	state=/mnt/state
}

# apart TYPE TYPE STEPS OPTION...: of the state directory, and of the exported files
apart()
{
	make_disk 40
	dmsetup create record --table "0 $((40 * 2048)) linear $under 0"
	slice state 20 0 && slice data 20 20
	format /dev/mapper/state "$1" && format /dev/mapper/data "$2" &&
		mount /dev/mapper/data $data && mkdir $data/data && umount $data ||
		tap_bail "no $1 and $2"
	dmsetup remove state && dmsetup remove data && dmsetup remove record
	start_recording && slice state 20 0 && slice data 20 20 &&
		mount /dev/mapper/state $state && mount /dev/mapper/data $data ||
		tap_bail "nothing is recorded"
	tap_run "$1 and $2: clients work while the disk is recorded" record "$3"
	umount $data $state
	dmsetup remove state && dmsetup remove data && dmsetup remove record
	first=$(part 20 0) second=$(part 20 20)
	parts="$first:$1:$state $second:$2:$data"
	name="$1 and $2"
	shift 3
	check "$name" "$@"
	remove_disk "$first" "$second"
}

# check NAME OPTION...
check()
{
	name=$1
	shift
	tap_run "$name: a server on each disk" replay "$@"
	tap_run "$name: a disk that loses what it has flushed is noticed" replay --lies --ends 8
}

# R-4.4.1-01 R-4.4.1.6-05
if [ $all ]; then
	one ext4 8 --all
	apart xfs ext4 3 --all
	one xfs 2 --all
else
	one ext4 2 --more 20
	apart xfs ext4 2 --ends 8 --more 4
fi
modprobe -r dafs
tap_done
