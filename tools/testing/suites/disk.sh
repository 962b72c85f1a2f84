# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# A disk of the server that fails writes and flushes under load, and one whose power fails.
# bed: um
# timeout: 300
# may-log: EXT4-fs error (device dm-0)

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

disk=/dev/mapper/disk
acked="python3 -B $BED/../disk/acked.py"
file=/srv/data/file
slots=40
bytes=$((slots * 16384))

# Position of the file's data, which is contiguous: first sector and number of sectors.
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

# Waits until each of the five writers has stable data.
each_stable()
{
	[ "$(find /tmp -maxdepth 1 -name 'ledger.*.stable' | wc -l)" = 5 ]
}

# Only writes to the data of this file fail, which write-back reports soon; the
# file system itself works.  R-6.5.38-02
echo 2 >/proc/sys/vm/dirty_writeback_centisecs
echo 1 >/proc/sys/vm/dirty_expire_centisecs
fail_data()
{
	tap_run "each writer begins" eventually each_stable
	for _ in 1 2 3 4 5 6 7 8; do
		disk_table "$good"
		sleep 0.5
		disk_table "$bad"
		sleep 0.5
	done
}
mount_dafs data /mnt/dafs
# it ends while the disk fails, because later writes would hide missing data
load fail_data
disk_table "$good"
umount /mnt/dafs
withdraw
serve
tap_run "what was acknowledged is there after errors" $acked check $file /tmp/ledger

# Appends of several clients wait for a disk that then fails: none of them is in the
# file, in any order of the errors.  R-6.5.3-02
log=/srv/data/log
# room FILE: makes a file with one block of zeros, and blocks behind it that can
# be made to fail
room()
{
	head -c 4096 /dev/zero >"$1"
	fallocate -n -o 4096 -l 65536 "$1"
	sync
	extent=$(filefrag -b512 -v "$1" | awk -F '[ .:]+' '$2 == 1 { print $5, $7 }')
	tap_run "there is room behind $1" [ "${extent#* }" -ge 24 ]
}
# fail_room: pending writes to it fail
fail_room()
{
	behind=$((${extent% *} + ${extent#* }))
	echo "0 ${extent% *} linear /dev/ram0 0
${extent% *} ${extent#* } flakey /dev/ram0 ${extent% *} 0 1 1 error_writes
$behind $((sectors - behind)) linear /dev/ram0 $behind" | dmsetup load disk
	dmsetup resume disk
}
# has_size FILE BYTES
has_size()
{
	[ "$(stat -c %s "$1")" = "$2" ]
}
room $log
for i in 4 5 6; do
	mount_dafs data /mnt/append$i clientid=append$i
done
exec 4>>/mnt/append4/log 5>>/mnt/append5/log 6>>/mnt/append6/log
dmsetup suspend --noflush --nolockfs disk
appenders=
for i in 4 5 6; do
	head -c 4096 /dev/zero >&"$i" &
	appenders="$appenders $!"
done
tap_run "three appends wait for the disk" eventually has_size $log 16384
fail_room
# shellcheck disable=SC2086 # a list
wait_all $appenders
tap_is $failed 3 "which fails: all of them do"
tap_is "$(stat -c %s $log)" 4096 "and none is in the file"
disk_table "$whole"
echo end >&5
tap_is "$(tail -c +4097 $log)" end "the next one is where they were"
exec 4>&- 5>&- 6>&-

# Data of a local program of the server between two appends stays when they fail.
room /srv/data/between
exec 4>>/mnt/append4/between 5>>/mnt/append5/between
dmsetup suspend --noflush --nolockfs disk
head -c 4096 /dev/zero >&4 &
appenders=$!
tap_run "an append waits for the disk" eventually has_size /srv/data/between 8192
seq 100 999 >>/srv/data/between
head -c 4096 /dev/zero >&5 &
appenders="$appenders $!"
sleep 1
fail_room
# shellcheck disable=SC2086 # a list
wait_all $appenders
disk_table "$whole"
tap_is "$(tail -c +8193 /srv/data/between | head -c 3600 | cksum)" "$(seq 100 999 | cksum)" \
	"what came between two appends that fail stays"
exec 4>&- 5>&-
umount /mnt/append4 /mnt/append5 /mnt/append6

# All writes and flushes fail, until the file system shuts down.
fail_all()
{
	tap_run "each writer has begun" eventually each_stable
	sleep 1
	disk_table "0 $sectors flakey /dev/ram0 0 0 1 1 error_writes"
	sleep 2
}
# the ledgers also begin with zeros
dd if=/dev/zero of=$file bs=$bytes count=1 conv=fsync,notrunc 2>/dev/null
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

# Power failure directly after the response to an operation: the disk is copied below
# the device of the file system, before background write-back.
dmsetup create power --table "0 $((32 * 2048)) linear /dev/ram1 0"
mkfs.ext4 -q -F -I 256 /dev/mapper/power
mkdir -p /srv/power /srv/copy /srv/over
mount -t ext4 -o commit=600 /dev/mapper/power /srv/power || tap_bail "no ext4"
echo 360000 >/proc/sys/vm/dirty_writeback_centisecs
head -c 2097152 /dev/urandom >/tmp/random

# survives NAME OPERATION CHECK: OPERATION on the mount, then CHECK on a copy of the disk
survives()
{
	(cd /mnt/power && eval "$2") &&
		dd if=/dev/ram1 of=/dev/ram2 bs=1M count=32 iflag=direct oflag=direct 2>/dev/null &&
		mount -t ext4 /dev/ram2 /srv/copy || tap_bail "no copy of the disk"
	tap_run "$fs: power fails after $1" sh -c "cd /srv/copy/$fs && $3"
	umount /srv/copy
}

# all_survive NAME: all operations on an export with its data in the folder NAME
all_survive()
{
	fs=$1
	survives "nothing that was answered" "echo local >/srv/power/local$fs" "! [ -e ../local$fs ]"
	survives "O_CREAT" ": >file" "[ -e file ]"
	# R-6.5.38-01 R-6.5.38-02: data of O_SYNC and O_DSYNC writes, its size, and the
	# times
	survives "O_DSYNC" "dd if=/tmp/random of=file bs=5000 count=3 oflag=dsync" \
		"[ \$(stat -c %s file) = 15000 ] && cmp -n 15000 file /tmp/random"
	survives "O_SYNC" "sleep 1; echo text | dd of=file conv=notrunc oflag=sync" \
		"[ \$(head -n 1 file) = text ] &&
		[ \"\$(stat -c '%y %z' file)\" = \"\$(stat -c '%y %z' /srv/power/$fs/file)\" ]"
	survives "O_APPEND" "echo end >>file" "[ \$(tail -n 1 file | tail -c 4) = end ]"
	# R-6.5.8-01: data that was UNSTABLE until COMMIT, and its metadata
	survives "fsync" "dd if=/tmp/random of=large bs=1M conv=fsync" "cmp large /tmp/random"
	survives "truncate" "truncate -s 1000 large" "[ \$(stat -c %s large) = 1000 ]"
	survives "chmod" "chmod 642 large" "[ \$(stat -c %a large) = 642 ]"
	survives "chown" "chown 12:34 large" "[ \$(stat -c %u:%g large) = 12:34 ]"
	survives "utimes" "touch -m -d @1000000000 large" "[ \$(stat -c %Y large) = 1000000000 ]"
	survives "mkdir" "mkdir dir" "[ -d dir ]"
	survives "symlink" "ln -s target link" "[ \$(readlink link) = target ]"
	survives "mknod" "mkfifo fifo" "[ -p fifo ]"
	survives "link" "ln large dir/hard" "[ dir/hard -ef large ]"
	survives "rename" "mv file dir/moved" "[ -e dir/moved ] && ! [ -e file ]"
	survives "rename over a file" "mv dir/moved dir/hard" "[ \$(stat -c %h large) = 1 ]"
	survives "unlink" "rm large" "! [ -e large ]"
	survives "rmdir" "rm dir/hard && rmdir dir" "! [ -e dir ]"
}

# An overlayfs has no export operation to commit metadata.
modprobe -q overlay
(cd /srv/power && mkdir ext4 lower overlay work)
mount -t overlay -o index=on,nfs_export=on,lowerdir=/srv/power/lower \
	-o upperdir=/srv/power/overlay,workdir=/srv/power/work over /srv/over ||
	tap_bail "no overlayfs"
sync
modprobe dafsd \
	exports=/srv/power/ext4:no_root_squash:name=ext4,/srv/over:no_root_squash:name=overlay
for name in ext4 overlay; do
	mount_dafs $name /mnt/power
	all_survive $name
	umount /mnt/power
done
modprobe -r dafsd
umount /srv/over /srv/power
dmsetup remove power
tap_done
