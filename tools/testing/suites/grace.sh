# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Opens and locks survive a restart of the server; nobody else gets them meanwhile.
# bed: um
# timeout: 300
# may-log: EXT4-fs error (device dm-0)

# shellcheck source=tools/testing/bed/guest-lib.sh
. "$BED/guest-lib.sh"

setup_rxe
make_backing /srv/data 128
modprobe dafs
A=/mnt/a B=/mnt/b D=/srv/data STATE=/tmp/dafs

start_server()
{
	modprobe dafsd exports=$D:no_root_squash "$@"
}

stop_server()
{
	end_server
}

start_server
tap_is "$(find $STATE -type f | sort | xargs -n1 basename | xargs)" "fh_key lock log.0 log.1" \
	"the state directory"
tap_run "one client" mount_dafs data $A clientid=one
tap_run "another client" mount_dafs data $B clientid=two

# No lock is granted twice and none is lost while the server restarts again and again.
RESTARTS=${GRACE_RESTARTS:-6}
cat >/tmp/count.py <<'PY'
"""count.py FILE STOP...: adds one to the number in FILE, under a lock, until STOP exists."""
import fcntl, os, sys
fd = os.open(sys.argv[1], os.O_RDWR)
done = 0
while not os.path.exists(sys.argv[2]):
    fcntl.lockf(fd, fcntl.LOCK_EX, 8, 8)
    number = int(os.pread(fd, 8, 8))
    os.pwrite(fd, b"%08d" % (number + 1), 8)
    fcntl.lockf(fd, fcntl.LOCK_UN, 8, 8)
    done += 1
print(done)
PY
printf '%016d' 0 >$D/count
pids=
for program in a/1 a/2 b/3 b/4; do
	python3 -B /tmp/count.py "/mnt/${program%/*}/count" /tmp/stop >"/tmp/counted.${program#*/}" &
	pids="$pids $!"
done
counts_on()
{
	[ "$(tail -c 8 $D/count)" != "$counted" ]
}
for restart in $(seq "$RESTARTS"); do
	stop_server
	start_server
	counted=$(tail -c 8 $D/count)
	tap_run "locks go on after restart $restart" eventually counts_on
done
touch /tmp/stop
for pid in $pids; do
	tap_run "a program that locks never fails" wait "$pid"
done
tap_is "$(tail -c 8 $D/count | sed 's/^0*//')" "$(cat /tmp/counted.* | paste -sd+ | bc)" \
	"every lock was exclusive"

# SQLite, with its rollback journal, by two clients at once, and a program that is killed in
# each restart: its journal is rolled back by the next one.
BANK=$BED/../posix/bank.py
BANK_RESTARTS=${GRACE_BANK_RESTARTS:-3}
rm /tmp/stop
mkdir /tmp/acks
python3 -B "$BANK" make $A/bank.db
# begin_bank CLIENT NAME: $! is the program
begin_bank()
{
	python3 -B "$BANK" work "/mnt/$1/bank.db" "$2" "/tmp/acks/$2" --until /tmp/stop &
}
begin_bank a one
one=$!
begin_bank b two
two=$!
begin_bank a three0
three=$!
# commits NAME NUMBER: has it committed more than that?
commits()
{
	[ "$(wc -l <"/tmp/acks/$1")" -gt "$2" ]
}
commit_on()
{
	for name in one two "$1"; do
		tap_run "SQLite: $name commits, restart $restart" eventually commits "$name" \
			"$(wc -l <"/tmp/acks/$name")"
	done
}
for name in one two three0; do
	eventually commits $name 0
done
for restart in $(seq "$BANK_RESTARTS"); do
	stop_server
	kill -9 $three
	start_server
	wait $three 2>/dev/null
	begin_bank a "three$restart"
	three=$!
	touch "/tmp/acks/three$restart"
	commit_on "three$restart"
done
touch /tmp/stop
tap_run "SQLite: no transaction of one client fails" wait $one
tap_run "nor of the other" wait $two
wait $three
tap_run "what was committed is there once, and the database is consistent" \
	python3 -B "$BANK" check $B/bank.db /tmp/acks/*

# R-4.4.1.6-03: a lock that is held over a restart is still held, also for a local program.
HOLD=$BED/../posix/hold.py
python3 -B "$HOLD" hold $A/held /tmp/ready /tmp/go &
holder=$!
eventually [ -e /tmp/ready ]
GRACE=/sys/module/dafsd/parameters/grace
over()
{
	[ "$(cat $GRACE)" = 0 ]
}
stop_server
start_server
stop_server
start_server
tap_run "the grace period ends when both clients have reclaimed" eventually over
tap_is "$(python3 -B "$HOLD" try $B/held)" locked "the other client finds it locked"
tap_is "$(python3 -B "$HOLD" try $D/held)" locked "and so does a program of the server"
touch /tmp/go
tap_run "its holder writes" wait $holder
tap_is "$(python3 -B "$HOLD" try $B/held)" free "then it is free"

# R-4.4.1.6-05: a client that does not come back loses its locks, after the grace period.
rm /tmp/ready /tmp/go
stop_server
start_server lease=3
tap_run "the lease is short now" stat -f $A $B
python3 -B "$HOLD" hold $A/held /tmp/ready /tmp/go &
holder=$!
eventually [ -e /tmp/ready ]
stop_server
kill $holder
umount -f $A
dmesg -C
start_server lease=3
tap_run "the grace period lasts" test "$(cat $GRACE)" -gt 0
tap_run "a client that waits gets the lock" python3 -B "$HOLD" hold $B/held /tmp/ready /dev/null
tap_run "after its end" over
# one or two: what is delegated to the other one may be given up if it comes too late
tap_run "the log tells of it" sh -c "dmesg | grep -q '[12] clients did not come back'"

# R-4.4.2-01: a cluster's share key keeps others out, also over a restart of the server.
umount $B
mount_dafs data $A clientid=one,share_key=0x1234
tap_is "$(grep -o 'share_key=[0-9]*' /proc/mounts)" "share_key=4660" "the key of a mount is shown"
tap_fails "which cannot be changed" mount -o remount,share_key=7 $A 2>/dev/null
exec 3<>$A/held
mount_dafs data $B clientid=two,share_key=99
keyed()
{
	cat $B/held 2>&1 | grep -c "Key was rejected"
}
tap_is "$(keyed)" 1 "an open with another key is refused"
stop_server
start_server
tap_is "$(keyed)" 1 "also after a restart"
umount $B
mount_dafs data $B clientid=two,share_key=4660
tap_is "$(cat $B/held)" held "one with the same key is not"
umount $B
mount_dafs data $B clientid=two
# R-4.4.2-03
tap_is "$(cat $B/held)" held "nor one without"
umount $B
mount_dafs data $B clientid=two,share_key=99
exec 3<&-
# R-4.4.2-04
tap_is "$(cat $B/held)" held "another key may be used when the file is not open"
umount $A $B
mount_dafs data $B clientid=two

# An administrator who knows that a client will not come back ends the period.
rm /tmp/ready /tmp/go 2>/dev/null
stop_server
start_server lease=3600
mount_dafs data $A clientid=one
python3 -B "$HOLD" hold $A/held /tmp/ready /tmp/go &
holder=$!
eventually [ -e /tmp/ready ]
stop_server
kill $holder
umount -f $A
start_server lease=3600
tap_fails "only 0 can be set" sh -c "echo 5 2>/dev/null >$GRACE"
tap_is "$(over && echo over)" "" "for an hour"
tap_run "the period is ended by hand" sh -c "echo 0 >$GRACE"
tap_run "then the lock is free" python3 -B "$HOLD" hold $B/held /tmp/ready /dev/null

# A server without what it knew: locks are lost, and that is told.
rm -f /tmp/ready /tmp/go
python3 -B "$HOLD" hold $B/held /tmp/ready /tmp/go 2>/dev/null &
holder=$!
eventually [ -e /tmp/ready ]
stop_server
rm $STATE/log.0 $STATE/log.1
start_server
tap_is "$(cat $GRACE)" 0 "without a log there is no grace period"
told()
{
	dmesg | grep -q 'does not give locks back'
}
tap_run "the client's log tells that a lock is lost" eventually told
touch /tmp/go
tap_fails "and I/O under it fails" wait $holder
umount $B

# A program of the server has locked the file while the server was not there.

mount_dafs data $B clientid=two
rm -f /tmp/ready /tmp/go /tmp/local
python3 -B "$HOLD" hold $B/held /tmp/ready /tmp/go 2>/dev/null &
holder=$!
eventually [ -e /tmp/ready ]
stop_server
python3 -B "$HOLD" hold $D/held /tmp/local /tmp/end &
local=$!
eventually [ -e /tmp/local ]
dmesg -C
start_server
tap_run "what a local program has locked meanwhile is lost" eventually told
touch /tmp/go /tmp/end
tap_fails "also for its holder" wait $holder
wait $local
umount $B

# A state directory that is not as it should be
stop_server
# refused WHAT WORDS [PARAMETER...]
refused()
{
	what=$1 words=$2
	shift 2
	dmesg -C
	tap_fails "$what: no server" start_server "$@"
	tap_is "$(dmesg | grep -c "state directory .*$words")" 1 "$what: the log says why"
}
cp -r $STATE /tmp/good
echo "something else" >$STATE/log.0
echo "something else" >$STATE/log.1
refused "damaged" "are damaged"
tap_run "and what to do" sh -c "dmesg | grep -q 'remove log.0 and log.1: then clients lose'"
rm $STATE/log.0 $STATE/log.1
tap_run "without the files it starts anew" start_server
stop_server
echo "something else" >$STATE/log.0
echo "something else" >$STATE/log.1
refused "damaged, with a key" "are damaged" fh_key="$(cat $STATE/fh_key)"
cp /tmp/good/log.? $STATE
exec 3<>$STATE/lock
flock -n 3
refused "in use" "another server uses it: is it on a shared disk?"
exec 3<&-
tap_run "when it is not in use any more" start_server
stop_server
mkdir /tmp/small
mount -t tmpfs -o size=64k none /tmp/small
refused "full" "No space left\|cannot be read or written (-28)" state_dir=/tmp/small
mount -o remount,size=4m /tmp/small
tap_run "when there is room" start_server state_dir=/tmp/small
stop_server
umount /tmp/small

# What a server executes when it is stopped is answered, so no client does it twice.
modprobe -q brd rd_nr=4 rd_size=16777216
make_slow_disk 16
mkdir /tmp/slow
mkfs.ext4 -q -F /dev/mapper/slow && mount /dev/mapper/slow /tmp/slow || tap_bail "no disk"
cat >/tmp/make.py <<'PY'
"""make.py FOLDER ACKS STOP: makes, renames and removes folders until STOP exists."""
import itertools, os, sys
folder, acks, stop = sys.argv[1:]
with open(acks, "w", buffering=1) as acks:
    for number in itertools.count():
        if os.path.exists(stop):
            break
        os.mkdir(f"{folder}/{number}")
        os.rename(f"{folder}/{number}", f"{folder}/{number}.new")
        os.rmdir(f"{folder}/{number}.new")
        print(number, file=acks)
PY
slow_server()
{
	modprobe dafsd exports=/tmp/slow:no_root_squash
}
slow_server
mount_dafs slow $A clientid=one
mkdir $A/1 $A/2
slow_disk 10 10
rm -f /tmp/stop /tmp/acks/*
# make_in FOLDER: $! is the program
make_in()
{
	python3 -B /tmp/make.py "$A/$1" "/tmp/acks/$1" /tmp/stop &
}
make_in 1
maker1=$!
make_in 2
maker2=$!
# twice: it has begun anew since then
both_commit()
{
	commits 1 "$acks1" && commits 2 "$acks2"
}
for restart in 1 2 3 4 5; do
	stop_server
	slow_server
	acks1=$(($(wc -l </tmp/acks/1) + 1)) acks2=$(($(wc -l </tmp/acks/2) + 1))
	tap_run "folders are made after restart $restart" eventually both_commit
done
touch /tmp/stop
tap_run "none of them twice" wait $maker1
tap_run "nor by the other program" wait $maker2
umount $A
stop_server
slow_disk 0 0

# A client keeps its locks while a server that stops waits for the disk of another one.
both_server()
{
	modprobe dafsd exports=/tmp/slow:no_root_squash,$D:no_root_squash lease=4
}
both_server
mount_dafs slow $A clientid=one
mount_dafs data $B clientid=two
rm -f /tmp/ready /tmp/go
python3 -B "$HOLD" hold $B/held /tmp/ready /tmp/go &
holder=$!
eventually [ -e /tmp/ready ]
dmsetup suspend --nolockfs slow
mkdir $A/hangs 2>/dev/null &
maker=$!
tap_run "a disk hangs" waits_for_server $maker
modprobe -r dafsd &
unload=$!
# longer than the lease
sleep 15
tap_run "so does the server that is unloaded" kill -0 $unload
dmsetup resume slow
tap_run "until the disk goes on" wait $unload
both_server
wait $maker
tap_run "the grace period ends" eventually over
tap_is "$(python3 -B "$HOLD" try $D/held)" locked "what is locked stays so longer than a lease"
touch /tmp/go
tap_run "and is unlocked" wait $holder
umount $A $B
stop_server

# A state directory whose disk does not answer, and then fails.
start_server state_dir=/tmp/slow
mount_dafs data $A clientid=one
mount_dafs data $B clientid=two
tap_is "$(cat $A/held)" held "a client that is known"
exec 3<>$A/held
slow_disk 0 3600000
python3 -c "open('$B/held')" &
opener=$!
sleep 2
tap_run "another one waits for the disk" kill -0 $opener
tap_is "$(timeout 60 cat $A/held)" held "but others can open the file and close it"
tap_is "$(timeout 60 python3 -B "$HOLD" try $A/held)" free "and lock it"
slow_disk 0 0
tap_run "until the disk answers" wait $opener
umount $B
slow_sectors_table="0 $slow_sectors error"
dmsetup suspend --noflush --nolockfs slow && dmsetup reload slow --table "$slow_sectors_table" &&
	dmsetup resume slow
mount_dafs data $B clientid=three
tap_is "$(cat $B/held 2>&1 | grep -c 'Input/output error')" 1 \
	"a client that cannot be recorded opens nothing"
tap_run "the log tells why" sh -c "dmesg | grep -q 'state directory cannot be written'"
tap_fails "and nobody gets a lock" python3 -B "$HOLD" try $A/held 2>/dev/null
tap_is "$(head -c 4 <&3)" held "files that are open are served"
exec 3<&-
umount $A $B
stop_server
umount /tmp/slow
dmsetup remove slow
tap_done
