# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Appending by several writers on two clients, in every way, with disturbances.
# bed: um
# timeout: 300

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

setup_rxe
make_backing /srv/data 300
make_backing /srv/small 24
load_modules /srv/data:no_root_squash,/srv/small:no_root_squash
gcc -O1 -Wall -Werror -o /tmp/records "$BED/../append/records.c" ||
	tap_bail "records.c does not compile"
records=/tmp/records

# Two mounts that are two clients to the server.
mount_clients()
{
	mount_dafs data /mnt/a "clientid=one${1:+,$1}" &&
		mount_dafs data /mnt/b "clientid=two${1:+,$1}"
}

# write_blindly FILE COUNT: two writers on each mount, in the background: $writers
write_blindly()
{
	writers=
	: >"/mnt/a/$1"
	for w in 0 1 2 3; do
		mnt=$([ $((w % 2)) = 0 ] && echo a || echo b)
		$records write "/mnt/$mnt/$1" $w "$2" 3000 blind >"/tmp/$1.$w" &
		writers="$writers $!"
	done
}

acknowledged()
{
	cat "/tmp/$1".? | wc -l
}

# acknowledge FILE COUNT: waits until COUNT records are acknowledged
acknowledge()
{
	for _ in $(seq 3000); do
		[ "$(acknowledged "$1")" -lt "$2" ] || return 0
		sleep 0.05
	done
	return 1
}

umount_clients()
{
	umount /mnt/a && umount /mnt/b
}

# several FILE COUNT SIZE HOW...: one writer on each mount for each way, all at
# once; then the server's FILE must have all records.
several()
{
	file=$1 count=$2 size=$3 writer=0 pids=
	shift 3
	rm -f /tmp/ack.*
	: >"/mnt/a/$file"
	for how; do
		for mnt in a b; do
			$records write "/mnt/$mnt/$file" $writer "$count" "$size" "$how" \
				>/tmp/ack.$writer &
			pids="$pids $!"
			writer=$((writer + 1))
		done
	done
	# shellcheck disable=SC2086 # a list
	wait_all $pids || return
	$records check "/srv/data/$file" /tmp/ack.*
}

mount_clients
tap_run "small records, every way" several small 60 900 \
	write writev rwf direct dsync sync aio rwfdirect directaio
tap_is "$(wc -l </srv/data/small)" 1080 "all of them are there"
tap_run "records of many pages" several large 8 300000 write writev direct rwfdirect directaio
$records position /srv/data/local >/tmp/local.position
tap_is "$(wc -l </tmp/local.position)" 18 "all ways end on ext4"
tap_is "$($records position /mnt/a/position)" "$(cat /tmp/local.position)" \
	"and leave the file position where it is there"
tap_run "and the same file" cmp /srv/data/local /srv/data/position
umount_clients
mount_clients cksum,msgsize=4096
tap_run "with checksums" several cksum 40 9000 write direct rwfdirect
umount_clients
mount_clients rdmaread,wsize=16384
tap_run "with an RDMA-read channel" several rdmaread 40 9000 write rwf directaio
tap_is "$($records long /mnt/a/long 100000)" "16384 16384" \
	"a write beyond the largest append is short"
umount_clients

mount_clients
tap_is "$($records long /mnt/a/longest 4194304)" "1048576 1048576" \
	"so it is with the largest there is"
tap_is "$(stat -c %o /mnt/a/longest)" 1048576 "which st_blksize tells"
dd if=/dev/urandom of=/tmp/random bs=1M count=5 2>/dev/null
printf head >/mnt/a/dd
(printf head && cat /tmp/random) >/tmp/want
tap_run "a large file is appended" dd if=/tmp/random of=/mnt/a/dd bs=2500k \
	oflag=append conv=notrunc
tap_run "and is right" cmp /tmp/want /srv/data/dd
tap_run "for the other client, too" cmp /tmp/want /mnt/b/dd

# Cached data and appends, by one program and by two, as on a local file.
mixed()
{
	exec 3<>"$1/mixed" 4>>"$1/mixed"
	printf 0123456789 >&3
	printf abcdef >&4
	printf XY >&3
	cat "$1/mixed"
	head -c 5000 /tmp/random >&3
	printf tail >&4
	printf in >&3
	md5sum <"$1/mixed"
	truncate -s 4000 "$1/mixed"
	printf end >&4
	truncate -s 9000 "$1/mixed"
	printf END >&4
	exec 3>&- 4>&-
	md5sum <"$1/mixed"
}
mkdir /tmp/local
mixed /tmp/local >/tmp/want
tap_is "$(mixed /mnt/a)" "$(cat /tmp/want)" "among writes and truncation"
tap_run "the same at the server" cmp /tmp/local/mixed /srv/data/mixed

exec 5<>/mnt/a/other
printf one >&5
tap_is "$(cat /mnt/a/other)" one "what one client has cached"
sync /mnt/a/other
printf two >>/mnt/b/other
printf three >>/mnt/a/other
tap_is "$(cat /mnt/a/other)" onetwothree "does not hide what others have appended"
exec 5>&-
tap_is "$(python3 -c '
import os
fd = os.open("/mnt/a/other", os.O_RDWR | os.O_APPEND)
os.pread(fd, 20, 0)
theirs = os.open("/srv/data/other", os.O_RDWR)
os.pwrite(theirs, b"ONE", 0)
os.pwrite(theirs, b"four", 11)
os.write(fd, b"five")
print(os.pread(fd, 20, 0).decode())')" ONEtwothreefourfive "nor what they have changed before"
tap_is "$(python3 -c '
import os
fd = os.open("/mnt/a/pages", os.O_RDWR | os.O_CREAT | os.O_APPEND)
os.write(fd, b"old" + bytes(19997))
os.pread(fd, 20000, 0)
theirs = os.open("/srv/data/pages", os.O_RDWR)
os.pwrite(theirs, b"new", 0)
os.pwrite(theirs, b"more", 20000)
os.write(fd, b"end")
print(os.pread(fd, 3, 0).decode(), os.pread(fd, 20, 20000).decode())
os.ftruncate(theirs, 5)
os.write(fd, b"short")
print(os.pread(fd, 20007, 0))')" "new moreend
b'new\x00\x00short'" "in whatever page"
tap_run "with a mapping" sh -c "$records map /mnt/a/map >/tmp/want"
tap_run "its file is right" cmp /tmp/want /srv/data/map

# A page of the last folio is stored to all the time while others are appended.
cat >/tmp/beside.py <<'PY'
import mmap, os, sys
path, records = sys.argv[1], 400
fd = os.open(path, os.O_RDWR | os.O_CREAT)
os.pwrite(fd, b"h" * 4096, 0)
header = mmap.mmap(fd, 4096)
stores = os.fork()
if not stores:
    while True:
        header[0] = 104
end = os.open(path, os.O_RDWR | os.O_APPEND)
for _ in range(records):
    assert os.write(end, b"r" * 100) == 100
os.kill(stores, 9)
os.wait()
os.fsync(fd)
PY
tap_run "stores to a page beside what is appended" timeout 100 python3 /tmp/beside.py /mnt/a/beside
tap_is "$(tail -c +4097 /srv/data/beside | tr -d r | wc -c) $(stat -c %s /srv/data/beside)" \
	"0 44096" "take nothing away from it"

# A file that is truncated repeatedly always consists of whole records.
write_blindly cut 100
cuts=0 empty=
while more=$(($(acknowledged cut) + 5)) && [ $more -lt 300 ]; do
	# up to four may have been written before the truncation
	: >/mnt/a/cut
	more=$(($(acknowledged cut) + 5))
	[ $more -le 400 ] || break
	cuts=$((cuts + 1))
	acknowledge cut $more && [ -s /srv/data/cut ] || empty="$empty $more"
done
# shellcheck disable=SC2086 # a list
tap_run "all writers succeed" wait_all $writers
tap_is "$(acknowledged cut)" 400 "all is acknowledged"
tap_run "in spite of truncation" [ $cuts -ge 1 ]
tap_is "$empty" "" "after which there is always more"
tap_run "and whole records" $records check /srv/data/cut

# RLIMIT_FSIZE, and a full disk.
tap_fails "a limit holds" sh -c \
	"ulimit -f 8; trap '' XFSZ; dd if=/dev/zero of=/mnt/a/limit bs=3000 oflag=append count=3"
tap_is "$(stat -c %s /srv/data/limit)" 4096 "and what is below it is written"
mount_dafs small /mnt/small
dd if=/dev/zero of=/mnt/small/full bs=200k oflag=append 2>&1 | grep -q "No space left"
tap_is $? 0 "a full disk is reported"
tap_is "$(($(stat -c %s /srv/small/full) % 204800))" 0 "and leaves no part of a record"
umount /mnt/small

# The server restarts: no record is duplicated, no acknowledged one is missing.
write_blindly restart 400
for at in 200 700; do
	tap_run "$at records are acknowledged" acknowledge restart $at
	tap_run "and not yet all" [ "$(acknowledged restart)" -lt 1500 ]
	modprobe -r dafsd
	modprobe dafsd exports=/srv/data:no_root_squash,/srv/small:no_root_squash
done
# shellcheck disable=SC2086 # a list
tap_run "all writers succeed" wait_all $writers
# Each writer loses at most one record at each restart.
tap_run "nearly all is acknowledged" [ "$(acknowledged restart)" -ge 1592 ]
tap_run "exactly what was acknowledged, over restarts" \
	$records check /srv/data/restart /tmp/restart.?
echo "# acknowledged: $(acknowledged restart) of 1600"
umount_clients
tap_run "fsck of the export" sh -c \
	"modprobe -r dafsd; umount /srv/data /srv/small && e2fsck -f -n /dev/ram0"
tap_done
