# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# A disk of the server that fails writes and flushes under load.
# bed: um
# timeout: 300

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

disk=/dev/mapper/disk
acked="python3 -B $BED/../disk/acked.py"
file=/srv/data/file
slots=40
bytes=$((slots * 16384))

# disk_table TABLE: what the disk is from now on; what was sent to it fails or not
# as it was before.
disk_table()
{
	dmsetup suspend --noflush --nolockfs disk &&
		echo "$1" | dmsetup load disk &&
		dmsetup resume disk
}

# Where the file's data is, which is in one piece: first sector and number of them.
find_data()
{
	filefrag -b512 -v $file | awk -F '[ .:]+' '$2 == 0 { print $5, $7 }'
}

serve()
{
	mount -t ext4 $disk /srv/data &&
		modprobe dafsd exports=/srv/data:no_root_squash
}

withdraw()
{
	modprobe -r dafsd
	umount /srv/data
}

# load SECONDS COMMAND...: writers while COMMAND runs
load()
{
	rm -f /tmp/ledger*
	$acked write /mnt/dafs/file /tmp/ledger &
	writers=$!
	"$@"
	touch /tmp/ledger.stop
	tap_run "the writers end" wait $writers
}

setup_rxe
modprobe -q brd rd_nr=4 rd_size=16777216
sectors=$((128 * 2048))
whole="0 $sectors linear /dev/ram0 0"
dmsetup create disk --table "$whole" || tap_bail "no device mapper"
mkfs.ext4 -q -F $disk || tap_bail "no ext4"
mkdir -p /srv/data
modprobe dafs
serve || tap_bail "no server"
dd if=/dev/zero of=$file bs=$bytes count=1 conv=fsync 2>/dev/null

# shellcheck disable=SC2046 # two words
set -- $(find_data)
tap_is "$2" $((bytes / 512)) "the file is in one piece"
behind=$(($1 + $2))
good="0 $1 linear /dev/ram0 0
$1 $2 linear /dev/ram0 $1
$behind $((sectors - behind)) linear /dev/ram0 $behind"
bad="0 $1 linear /dev/ram0 0
$1 $2 flakey /dev/ram0 $1 0 1 1 error_writes
$behind $((sectors - behind)) linear /dev/ram0 $behind"

# The file system works, and only the data of this file fails to be written, which
# the kernel notices soon.  R-6.5.38-01 R-6.5.38-02 R-6.5.8-01 R-6.5.8-02
echo 2 >/proc/sys/vm/dirty_writeback_centisecs
echo 1 >/proc/sys/vm/dirty_expire_centisecs
fail_data()
{
	for _ in 1 2 3 4 5 6 7 8; do
		disk_table "$good"
		sleep 0.5
		disk_table "$bad"
		sleep 0.5
	done
}
mount_dafs data /mnt/dafs
# it ends while the disk fails, because later writes would cover what is missing
load fail_data
disk_table "$good"
umount /mnt/dafs
withdraw
serve
tap_run "what was acknowledged is there after errors" $acked check $file /tmp/ledger

# All of it fails, flushes too, until the file system gives up.
fail_all()
{
	sleep 2
	disk_table "0 $sectors flakey /dev/ram0 0 0 1 1 error_writes"
	sleep 2
}
mount_dafs data /mnt/dafs
load fail_all
umount /mnt/dafs
withdraw
disk_table "$whole"
serve
tap_run "and after the whole disk failed" $acked check $file /tmp/ledger
withdraw
tap_run "e2fsck repairs what was not acknowledged" sh -c "e2fsck -f -y $disk; [ \$? -le 1 ]"
dmsetup remove disk
tap_done
