# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# The disk of the server's state directory is full, or fails, while clients have locks, or rely on
# the server to know after a crash what it has executed.
# bed: um
# timeout: 200

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

D=/srv/data A=/mnt/a B=/mnt/b STATE=/mnt/state
sectors=$((16 * 2048))
whole="0 $sectors linear /dev/ram1 0"

start_server()
{
	modprobe dafsd exports=$D:no_root_squash lease=30 state_dir=$STATE/dafs \
		respcache=stable
}

# said COMMAND...: what it prints, and its exit status
said()
{
	"$@" 2>&1
	echo $?
}

setup_rxe
make_backing $D 64
dmsetup create disk --table "$whole" && mkfs.ext4 -q -F -b 4096 -m 0 /dev/mapper/disk &&
	mkdir $STATE && mount /dev/mapper/disk $STATE || tap_bail "no disk for the state directory"
start_server && modprobe dafs || tap_bail "the modules do not load"
tap_run "one client" mount_dafs data $A clientid=one,respcache=stable
tap_run "another client" mount_dafs data $B clientid=two
seq 1 20000 >$D/file
seq 1 100 >$D/locked
sum=$(sha256sum <$D/file)

tap_run "what is changed is recorded" sh -c "mkdir $A/dir && mv $A/dir $A/moved && rmdir $A/moved &&
	ln $A/file $A/name && rm $A/name && echo more >>$A/log"
tap_is "$(cat $D/log)" more "and done"

# --- full ---

# writes under the lock, waits for the disk to be full, and writes elsewhere
cat >/tmp/change.py <<'PY'
import os, sys, time
fd = os.open(sys.argv[1], os.O_RDWR)
def write(at):
    try:
        os.pwrite(fd, b"changed", at)
        os.fsync(fd)
        print("written")
    except OSError as error:
        print(error.strerror)
write(10)
open("/tmp/held", "w").close()
while not os.path.exists("/tmp/full"):
    time.sleep(0.1)
write(50000)
os.pwrite(fd, b"again", 12)
os.fsync(fd)
sys.exit(1)
PY
timeout 100 dafslock --autorecover $A/file python3 -B /tmp/change.py $A/file >/tmp/said 2>&1 &
holder=$!
eventually [ -e /tmp/held ]
dd if=/dev/zero of=$STATE/rest bs=4096 2>/dev/null
tap_is "$(said dafslock --persist $B/locked true)" 0 "a full disk has room for a lock"
: >/tmp/full
wait $holder
tap_is "$? $(cat /tmp/said)" "2 written
No space left on device
dafslock: $A/file: No space left on device" "but not for what may have to be undone"
tap_is "$(sha256sum <$D/file)" "$sum" "so that it can be undone"

# two records for each, until the log is full and the other one has no room
uses_up()
{
	for _ in $(seq 1 100); do
		dafslock --persist $B/locked true 2>/tmp/why || return 0
	done
	return 1
}
exec 3<$A/locked
tap_run "in the end there is none for a lock" uses_up
tap_is "$(cut -d : -f 3 </tmp/why | cut -c -26)" " the server cannot record " "which is told"
tap_is "$(said timeout 60 dafslock $A/file true | tail -1)" 2 "nor for those that do not survive"
tap_is "$(head -c 1 <&3)" 1 "what is open can be read"
exec 3<&-
rm $STATE/rest
tap_run "until there is room again" eventually dafslock --persist $B/locked true
tap_is "$(dafsdctl persist)" "" "and nothing is left of what failed"

# --- errors ---

# Writes to the blocks of the two logs fail; the file system works.
log_extents()
{
	sync
	for log in $STATE/dafs/log.0 $STATE/dafs/log.1; do
		filefrag -b512 -v $log | awk -F '[ .:]+' '$2 ~ /^[0-9]+$/ && NF > 6 { print $5, $7 }'
	done | sort -n
}
bad_table()
{
	at=0
	log_extents | {
		while read -r start length; do
			[ "$start" -eq $at ] || echo "$at $((start - at)) linear /dev/ram1 $at"
			echo "$start $length flakey /dev/ram1 $start 0 1 1 error_writes"
			at=$((start + length))
		done
		echo "$at $((sectors - at)) linear /dev/ram1 $at"
	}
}
tap_run "both logs are on the disk" [ "$(log_extents | wc -l)" -ge 2 ]
rm -f /tmp/held
dafslock --persist --length 100 $A/locked sh -c ': >/tmp/held
	while [ -e /tmp/held ]; do sleep 0.1; done' &
holder=$!
eventually [ -e /tmp/held ]
exec 4>>$A/log
echo data >$A/data
python3 -c "import os, time
file = os.open('$A/data', os.O_WRONLY)
open('/tmp/opened', 'w').close()
while not os.path.exists('/tmp/write'):
    time.sleep(0.1)
os.write(file, bytes(4096))
os.fsync(file)" &
writer=$!
eventually [ -e /tmp/opened ]
disk_table "$(bad_table)"
tap_is "$(said timeout 60 dafslock --persist --start 100 $B/locked true)" \
	"dafslock: $B/locked: the server cannot record the lock, or this machine has lost one of the file
2" "a lock that cannot be recorded is not given"
tap_is "$(said timeout 60 dafslock --autorecover $B/file true | tail -1)" 2 \
	"nor one that undoes"
tap_is "$(said timeout 60 mkdir $A/dir | grep -c 'Input/output error'; ls -d $D/dir 2>/dev/null)" 1 \
	"what cannot be recorded is not done"
tap_is "$(said sh -c 'echo more >&4' | tail -1; cat $D/log)" "1
more" "nor appended"
tap_is "$(said timeout 60 chmod 600 $A/data | grep -c 'Input/output error'; stat -c %a $D/data)" \
	"1
644" "nor are attributes set"
# shellcheck disable=SC2188 # makes the file
>/tmp/write
tap_run "but data is written, of which it would not be known after a crash whether it was" \
	wait $writer
tap_is "$(stat -c %s $D/data)" 4096 "all of it"
exec 4>&-
tap_is "$(said timeout 60 mkdir $B/dir)" 0 "others do not mind"
disk_table "$whole"
tap_is "$(said timeout 60 dafslock --persist --start 100 $B/locked true)" 0 \
	"until the disk works again"
tap_run "and names are made" rmdir $A/dir

persists()
{
	dafsdctl persist | grep -oE '(^| )(state|start|end)=[a-z0-9-]+' | xargs
}
tap_is "$(persists)" "state=held start=0 end=99" "and the one that was given before is there"
modprobe -r dafsd
umount $STATE
mount /dev/mapper/disk $STATE
tap_run "the server restarts" start_server
tap_is "$(said timeout 100 dafslock --nonblock $B/locked true)" 1 "nobody else gets what is locked"
rm /tmp/held
tap_run "until it is unlocked" wait $holder
tap_is "$(said timeout 100 dafslock $B/locked true)" 0 "then it is free"

tap_run "umount" umount $A $B
tap_run "unload" modprobe -r dafs dafsd
umount $STATE
dmsetup remove disk
tap_done
